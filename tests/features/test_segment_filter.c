/* test_segment_filter.c - --filter: which segments are described, by the shares of the roles of words
 * counted again from a random corpus, and what a model has of it. */
#include "features/helper.h"

#include "base/random.h"

enum { SEQUENCES = 60, LENGTH = 5, MAX = 4, WORDS = 9, MIN_SEEN = 5 };

/* Frequent words in front, rare ones of three kinds behind. */
static const char *const words[WORDS] = {"the",  "of",  "Rio", ",",  "Lima",
                                         "Oslo", "sea", "7",   "Ulm"};

struct corpus {
    int word[SEQUENCES][LENGTH];
    int length[SEQUENCES][LENGTH]; // of the segment that begins there; 0: none
};

static void make_corpus(struct corpus *corpus)
{
    struct tr_random random;
    tr_random_seed(&random, 8);
    memset(corpus, 0, sizeof *corpus);
    for (int s = 0; s < SEQUENCES; s++) {
        for (int i = 0; i < LENGTH; i++) {
            bool rare = tr_random_below(&random, 40) == 0;
            corpus->word[s][i] = (int)(rare ? 4 + tr_random_below(&random, 5)
                                            : tr_random_below(&random, 4));
        }
        for (int i = 0; i < LENGTH;) {
            int d = 1 + (int)tr_random_below(&random, MAX);
            bool likely = corpus->word[s][i] == 2 || tr_random_below(&random, 8) == 0;
            if (likely && i + d <= LENGTH) {
                corpus->length[s][i] = d;
            }
            i += likely && i + d <= LENGTH ? d : 1;
        }
    }
}

static char kind_of(const char *word)
{
    return *word >= 'A' && *word <= 'Z' ? 'X' : *word >= 'a' && *word <= 'z' ? 'x' : *word;
}

/* Counts the places of a word, or of all rare words of its kind: seen, begins, continues, ends. */
static void count(const struct corpus *corpus, const int *seen, int word, double *counts)
{
    bool rare = seen[word] < MIN_SEEN;
    memset(counts, 0, 4 * sizeof *counts);
    for (int s = 0; s < SEQUENCES; s++) {
        int begin = 0, end = -1; // of the segment at hand
        for (int i = 0; i < LENGTH; i++) {
            int other = corpus->word[s][i];
            if (corpus->length[s][i]) {
                begin = i, end = i + corpus->length[s][i] - 1;
            }
            if (other == word ||
                (rare && seen[other] < MIN_SEEN && kind_of(words[other]) == kind_of(words[word]))) {
                counts[0]++;
                counts[1] += i <= end && i == begin;
                counts[2] += i < end && i > begin;
                counts[3] += i == end;
            }
        }
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

static void make_filter(trellis_features *features, const struct corpus *corpus,
                        struct table *table, double least)
{
    trellis_error error = {0};
    struct tr_extractor *extractor = extractor_for(features, true);
    tr_extractor_set_segments(extractor, MAX);
    assert_false(tr_features_begin_filter(features, &error));
    for (int s = 0; s < SEQUENCES; s++) {
        fill_table(corpus, s, table);
        run(extractor, &table->sequence);
        assert_false(tr_features_filter_sequence(features, extractor, &table->sequence, &error));
        for (int i = 0; i < LENGTH; i++) {
            int d = corpus->length[s][i];
            assert_false(d && tr_features_filter_segment(features, extractor, &table->sequence,
                                                         (size_t)i, (size_t)(i + d - 1), &error));
        }
    }
    assert_false(tr_features_end_filter(features, least, &error));
    tr_extractor_destroy(extractor);
}

/* Returns how many segments are described. */
static size_t check_filter(const trellis_features *features, const struct corpus *corpus,
                           struct table *table, double least)
{
    int seen[WORDS] = {0};
    size_t described = 0;
    for (int s = 0; s < SEQUENCES; s++) {
        for (int i = 0; i < LENGTH; i++) {
            seen[corpus->word[s][i]]++;
        }
    }
    struct tr_extractor *extractor = extractor_for(features, false);
    tr_extractor_set_segments(extractor, MAX);
    for (int s = 0; s < SEQUENCES; s++) {
        fill_table(corpus, s, table);
        const struct tr_seen *found = &run(extractor, &table->sequence)->segment;
        for (int e = 0; e < LENGTH; e++) {
            bool inside = true;
            for (int b = e; b >= 0 && e - b < MAX; b--) {
                double first[4], last[4], middle[4];
                count(corpus, seen, corpus->word[s][b], first);
                count(corpus, seen, corpus->word[s][e], last);
                if (b + 1 < e) {
                    count(corpus, seen, corpus->word[s][b + 1], middle);
                    inside = inside && middle[2] >= least * middle[0];
                }
                bool expected = inside && first[1] >= least * first[0] &&
                                last[3] >= least * last[0];
                size_t number = (size_t)(e * MAX + e - b);
                assert_int_equal(tr_extractor_describes(extractor, (size_t)b, (size_t)e), expected);
                assert_int_equal(found->begin[number + 1] > found->begin[number], expected);
                described += expected;
            }
        }
    }
    tr_extractor_destroy(extractor);
    return described;
}

static void test_shares(void **state)
{
    (void)state;
    static struct corpus corpus;
    static struct table table;
    const double shares[] = {1e-9, 0.1, 0.3};
    size_t all = SEQUENCES * (5 + 4 + 3 + 2), before = all;
    make_corpus(&corpus);
    for (size_t k = 0; k < TR_COUNT(shares); k++) {
        trellis_error error = {0};
        trellis_features *features = templates("columns word\nsegment size\nstep\n"), *stored;
        make_filter(features, &corpus, &table, shares[k]);
        size_t described = check_filter(features, &corpus, &table, shares[k]);
        assert_true(described > 0 && (k == 0 || described < before));
        before = described;
        struct tr_buffer block = {0};
        assert_false(tr_features_write(features, &block, &error));
        assert_false(tr_features_read(block.data, block.size, &stored, &error));
        assert_int_equal(check_filter(stored, &corpus, &table, shares[k]), described);
        trellis_features_destroy(stored);
        trellis_features_destroy(features);
        tr_buffer_free(&block);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
