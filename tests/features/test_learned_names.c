/* test_learned_names.c - learned(): the types of names, counted again from a random corpus, without
 * the block of a training sequence and, when training has ended, over all of it. */
#include "features/helper.h"

#include "base/random.h"

enum { SEQUENCES = 130, BLOCK = 13, LENGTH = 6, MAX = 3, WORDS = 4, TYPES = 2 };

static const char *const words[WORDS] = {"a", "b", "c", "d"};
static const char *const types[TYPES] = {"X", "Y"};

/* Words by number, and where segments begin: their length, 0 for none, and their type. */
struct corpus {
    int word[SEQUENCES][LENGTH];
    int length[SEQUENCES][LENGTH], type[SEQUENCES][LENGTH];
};

static void make_corpus(struct corpus *corpus)
{
    struct tr_random random;
    tr_random_seed(&random, 3);
    memset(corpus, 0, sizeof *corpus);
    for (int s = 0; s < SEQUENCES; s++) {
        for (int i = 0; i < LENGTH; i++) {
            corpus->word[s][i] = (int)tr_random_below(&random, WORDS);
        }
        for (int i = 0; i < LENGTH;) {
            int d = (int)tr_random_below(&random, MAX + 1);
            if (tr_random_below(&random, 4) == 0 && d > 0 && i + d <= LENGTH) {
                corpus->length[s][i] = d;
                corpus->type[s][i] = (int)tr_random_below(&random, TYPES);
                i += d;
            } else {
                i++;
            }
        }
    }
}

static bool same_words(const struct corpus *corpus, int s, int i, int t, int j, int d)
{
    return memcmp(&corpus->word[s][i], &corpus->word[t][j], (size_t)d * sizeof(int)) == 0;
}

/* The answer by its definition: counts over the whole corpus but one block; -1: all of it. */
static void expect(const struct corpus *corpus, int s, int i, int d, int without, char *text)
{
    int count[TYPES] = {0}, places = 0;
    for (int t = 0; t < SEQUENCES; t++) {
        for (int j = 0; j + d <= LENGTH && t / BLOCK != without; j++) {
            if (same_words(corpus, s, i, t, j, d)) {
                places++;
                count[corpus->type[t][j]] += corpus->length[t][j] == d;
            }
        }
    }
    int best = count[1] > count[0];
    strcpy(text, "");
    if (count[best]) {
        const char *mark = 2 * count[best] < places ? ":rarely" : count[best] == 1 ? ":once" : "";
        sprintf(text, "segment learned(word)=%s%s", types[best], mark);
    }
}

static void fill_table(const struct corpus *corpus, int s, struct table *table)
{
    *table = (struct table){.sequence = {.weight = 1, .line = 1, .cells = table->cells}};
    table->sequence.columns = 1;
    table->sequence.length = LENGTH;
    for (int i = 0; i < LENGTH; i++) {
        table->cells[i] = tr_text(words[corpus->word[s][i]]);
    }
}

/* The two passes of training. */
static void learn(trellis_features *features, struct tr_extractor *extractor,
                  const struct corpus *corpus, struct table *table)
{
    trellis_error error = {0};
    assert_true(tr_features_learns(features));
    for (int pass = 0; pass < 2; pass++) {
        for (int s = 0; s < SEQUENCES; s++) {
            fill_table(corpus, s, table);
            tr_extractor_set_sequence(extractor, (size_t)s);
            run(extractor, &table->sequence);
            for (int i = 0; pass == 0 && i < LENGTH; i++) {
                int d = corpus->length[s][i];
                assert_false(d &&
                             tr_features_learn_segment(features, extractor, &table->sequence,
                                                       (size_t)i, (size_t)(i + d - 1),
                                                       tr_text(types[corpus->type[s][i]]), &error));
            }
            assert_false(pass == 1 &&
                         tr_features_learn_places(features, extractor, &table->sequence, &error));
        }
        if (pass == 0) {
            tr_features_end_segments(features, SEQUENCES);
        }
    }
    assert_false(tr_features_end_places(features, &error));
    assert_false(tr_features_learns(features));
}

/* Compares the answers for all segments; returns how many there are. */
static size_t check_answers(struct tr_extractor *extractor, const struct corpus *corpus,
                            struct table *table, bool training)
{
    size_t found = 0;
    for (int s = 0; s < SEQUENCES; s++) {
        fill_table(corpus, s, table);
        tr_extractor_set_sequence(extractor, (size_t)s);
        const struct tr_seen *seen = &run(extractor, &table->sequence)->segment;
        for (int e = 0; e < LENGTH; e++) {
            for (int d = 1; d <= MAX && d <= e + 1; d++) {
                char expected[100];
                size_t number = (size_t)(e * MAX + d - 1);
                struct tr_buffer text = {0};
                expect(corpus, s, e + 1 - d, d, training ? s / BLOCK : -1, expected);
                for (size_t k = seen->begin[number]; k < seen->begin[number + 1]; k++) {
                    tr_extractor_text(extractor, &table->sequence, TR_SEGMENT_ATTRIBUTE, number, k,
                                      &text);
                    found++;
                }
                tr_buffer_add(&text, "", 1);
                assert_string_equal(text.data, expected);
                tr_buffer_free(&text);
            }
        }
    }
    return found;
}

static void test_blocks(void **state)
{
    (void)state;
    static struct corpus corpus;
    static struct table table;
    trellis_error error = {0};
    make_corpus(&corpus);
    corpus.length[0][0] = 1, corpus.type[0][0] = 0; // the first type comes first
    trellis_features *features = templates("columns word\nsegment learned(word)\nstep\n");
    struct tr_extractor *extractor = extractor_for(features, true);
    tr_extractor_set_segments(extractor, MAX);
    learn(features, extractor, &corpus, &table);
    assert_true(check_answers(extractor, &corpus, &table, true) > 500);
    assert_false(tr_features_end_training(features, &error));
    assert_true(check_answers(extractor, &corpus, &table, false) > 500);

    // what a model has of it
    struct tr_buffer block = {0};
    trellis_features *stored;
    assert_false(tr_features_write(features, &block, &error));
    assert_false(tr_features_read(block.data, block.size, &stored, &error));
    assert_false(tr_features_learns(stored));
    struct tr_extractor *other = extractor_for(stored, true);
    tr_extractor_set_segments(other, MAX);
    assert_true(check_answers(other, &corpus, &table, false) > 500);
    tr_extractor_destroy(other);
    trellis_features_destroy(stored);
    tr_buffer_free(&block);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
