/* test_learned_names.c - learned(): the types of names and words, counted again from a random corpus,
 * without the block of a training sequence and, when training has ended, over all of it. */
#include "features/helper.h"

#include "base/random.h"

enum { SEQUENCES = 130, BLOCK = 13, LENGTH = 6, MAX = 3, TYPES = 2, FEW = 5, DAMAGED = 2000 };
enum { FREQUENT = 4, WORDS = 40 }; // the others are seen a few times or never

static const char *const types[TYPES] = {"X", "Y"};

/* Words by number, and where segments begin: their length, 0 for none, and their type; and which
 * labels are not known. */
struct corpus {
    int word[SEQUENCES][LENGTH];
    int length[SEQUENCES][LENGTH], type[SEQUENCES][LENGTH];
    bool open[SEQUENCES][LENGTH];
};

static void make_corpus(struct corpus *corpus)
{
    struct tr_random random;
    tr_random_seed(&random, 3);
    memset(corpus, 0, sizeof *corpus);
    for (int s = 0; s < SEQUENCES; s++) {
        for (int i = 0; i < LENGTH; i++) {
            corpus->word[s][i] = (int)tr_random_below(
                &random, tr_random_below(&random, 8) ? FREQUENT : WORDS);
        }
        for (int i = 0; i < LENGTH;) {
            int d = (int)tr_random_below(&random, MAX + 1);
            if (tr_random_below(&random, 4) == 0 && d > 0 && i + d <= LENGTH) {
                corpus->length[s][i] = d;
                corpus->type[s][i] = (int)tr_random_below(&random, TYPES);
                i += d;
            } else {
                corpus->open[s][i++] = tr_random_below(&random, 10) == 0;
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

enum role { INSIDE, FIRST, LAST, ROLES };

/* The number of the type of the span in which a word has a role, -1 where it has not. */
static int type_in_role(const struct corpus *corpus, int t, int j, enum role role)
{
    for (int k = 0; k <= j; k++) {
        int last = k + corpus->length[t][k] - 1;
        if (last >= j && (role != FIRST || k == j) && (role != LAST || last == j)) {
            return corpus->type[t][k];
        }
    }
    return -1;
}

/* The same for a word in a role. */
static void expect_word(const struct corpus *corpus, int s, int i, enum role role, int without,
                        char *text)
{
    static const char *const names[ROLES] = {"inside", "first", "last"};
    int count[TYPES] = {0}, places = 0;
    for (int t = 0; t < SEQUENCES; t++) {
        for (int j = 0; j < LENGTH && t / BLOCK != without; j++) {
            if (corpus->word[t][j] == corpus->word[s][i] && !corpus->open[t][j]) {
                int type = type_in_role(corpus, t, j, role);
                places++;
                count[type < 0 ? 0 : type] += type >= 0;
            }
        }
    }
    int best = count[1] > count[0];
    if (count[best]) {
        const char *mark = 2 * count[best] < places ? ":rarely" : count[best] == 1 ? ":once" : "";
        sprintf(text, "learned(word[0],%s)=%s%s;", names[role], types[best], mark);
    } else if (role == INSIDE) {
        sprintf(text, "learned(word[0],inside)=:%s;",
                places == 0    ? "new"
                : places == 1  ? "outside:once"
                : places < FEW ? "outside:few"
                               : "outside");
    }
}

static void fill_table(const struct corpus *corpus, int s, struct table *table)
{
    static char words[LENGTH][8];
    static trellis_text labels[LENGTH];
    *table = (struct table){
        .sequence = {.weight = 1, .line = 1, .cells = table->cells, .labels = labels}};
    table->sequence.columns = 1;
    table->sequence.length = LENGTH;
    for (int i = 0; i < LENGTH; i++) {
        snprintf(words[i], sizeof words[i], "w%d", corpus->word[s][i]);
        table->cells[i] = tr_text(words[i]);
        labels[i] = tr_text(corpus->open[s][i] ? "_" : "some");
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
            assert_false(pass == 1 && tr_features_learn_places(features, extractor,
                                                               &table->sequence, true, &error));
        }
        if (pass == 0) {
            tr_features_end_segments(features, SEQUENCES);
        }
    }
    assert_false(tr_features_end_places(features, &error));
    assert_false(tr_features_learns(features));
}

/* Compares the answers for all words; returns which kinds of answers there are, as bits. */
static unsigned check_words(struct tr_extractor *extractor, const struct corpus *corpus,
                            struct table *table, bool training)
{
    static const char *const answers[] = {":new;",   "outside;", "once;", "few;",
                                          "rarely;", "=X;",      "first", "last"};
    unsigned found = 0;
    for (int s = 0; s < SEQUENCES; s++) {
        fill_table(corpus, s, table);
        tr_extractor_set_sequence(extractor, (size_t)s);
        const struct tr_seen *seen = &run(extractor, &table->sequence)->node;
        for (int i = 0; i < LENGTH; i++) {
            char expected[300] = "";
            struct tr_buffer text = {0};
            for (enum role role = INSIDE; role < ROLES; role++) {
                expect_word(corpus, s, i, role, training ? s / BLOCK : -1,
                            expected + strlen(expected));
            }
            for (size_t k = seen->begin[i]; k < seen->begin[i + 1]; k++) {
                tr_extractor_text(extractor, &table->sequence, TR_NODE_ATTRIBUTE, (size_t)i, k,
                                  &text);
                tr_buffer_char(&text, ';');
            }
            tr_buffer_add(&text, "", 1);
            assert_string_equal(text.data, expected);
            for (size_t k = 0; k < TR_COUNT(answers); k++) {
                found |= (unsigned)(strstr(expected, answers[k]) != NULL) << k;
            }
            tr_buffer_free(&text);
        }
    }
    return found;
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

/* A block of a model with a byte changed: refused, or usable. */
static void try_damaged(const struct tr_buffer *block, struct table *table)
{
    struct tr_random random;
    size_t refused = 0, usable = 0;
    tr_random_seed(&random, 5);
    for (int k = 0; k < DAMAGED; k++) {
        char *data = tr_copy_text(block->data, block->size);
        data[tr_random_below(&random, block->size)] ^= (char)(1 + tr_random_below(&random, 255));
        trellis_features *features;
        trellis_error error = {0};
        if (tr_features_read(data, block->size, &features, &error)) {
            refused++;
        } else {
            struct tr_extractor *extractor = extractor_for(features, true);
            const struct tr_observation *observation;
            usable += tr_extractor_run(extractor, &table->sequence, &observation, &error) == 0;
            tr_extractor_destroy(extractor);
            trellis_features_destroy(features);
        }
        free(data);
    }
    assert_true(refused > 0 && usable > 0);
}

static void test_blocks(void **state)
{
    (void)state;
    static struct corpus corpus;
    static struct table table;
    trellis_error error = {0};
    make_corpus(&corpus);
    corpus.length[0][0] = 1, corpus.type[0][0] = 0; // the first type comes first
    trellis_features *features = templates("columns word\nnode learned(word,inside first last)\n"
                                           "segment learned(word)\nstep\n");
    struct tr_extractor *extractor = extractor_for(features, true);
    tr_extractor_set_segments(extractor, MAX);
    learn(features, extractor, &corpus, &table);
    assert_true(check_answers(extractor, &corpus, &table, true) > 500);
    assert_int_equal(check_words(extractor, &corpus, &table, true), 0xFF);
    assert_false(tr_features_end_training(features, &error));
    assert_true(check_answers(extractor, &corpus, &table, false) > 500);
    assert_int_equal(check_words(extractor, &corpus, &table, false), 0xFF);

    // what a model has of it
    struct tr_buffer block = {0};
    trellis_features *stored;
    assert_false(tr_features_write(features, &block, &error));
    assert_false(tr_features_read(block.data, block.size, &stored, &error));
    assert_false(tr_features_learns(stored));
    struct tr_extractor *other = extractor_for(stored, true);
    tr_extractor_set_segments(other, MAX);
    assert_true(check_answers(other, &corpus, &table, false) > 500);
    assert_int_equal(check_words(other, &corpus, &table, false), 0xFF);
    try_damaged(&block, &table);
    tr_extractor_destroy(other);
    trellis_features_destroy(stored);
    tr_buffer_free(&block);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

/* A word that training has not seen, and templates that have learned nothing. */
static void test_words_by_hand(void **state)
{
    (void)state;
    check("columns word\nnode learned(word,inside)\n", "a", 0, "");
    check_refused("columns word\nnode learned(word)\n", 2, 18, "expected ','");
    check_refused("columns word\nnode learned(word,outside)\n", 2, 19, "expected 'inside'");
    check_refused("columns word\nnode learned(elsewhere(word),first)\n", 2, 14,
                  "cannot be applied to elsewhere()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_words_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
