/* test_table.c - rows and texts at the ends of their arrays. */
#include "test_model.h"

#include "model/table.h"

enum { OUTCOMES = 5, WIDTH = 8 };

static float sum_of(const struct tr_table *table, uint32_t row)
{
    float *scores = calloc(WIDTH, sizeof *scores), sum = 0;
    tr_table_add(table, row, 2, scores);
    for (int j = 0; j < WIDTH; j++) {
        sum += scores[j];
    }
    free(scores);
    return sum;
}

static void add_weight(void *user, uint32_t outcome, float weight)
{
    assert_true(outcome < OUTCOMES);
    *(float *)user += weight;
}

static float walk(const struct tr_table *table, uint32_t row)
{
    struct tr_text_record record = {.row = row};
    float sum = 0;
    tr_table_each(table, &record, add_weight, &sum);
    return sum;
}

/* One dense row of ones, read from each offset. */
static void test_dense_rows(void **state)
{
    (void)state;
    float *words = malloc(WIDTH * sizeof *words);
    for (int j = 0; j < WIDTH; j++) {
        words[j] = j < OUTCOMES ? 1 : 0;
    }
    struct tr_table table = {.outcomes = OUTCOMES,
                             .width = WIDTH,
                             .words = (const uint32_t *)words,
                             .word_count = WIDTH,
                             .dense_words = WIDTH};
    assert_true(sum_of(&table, 0) == 2 * OUTCOMES);
    assert_true(walk(&table, 0) == OUTCOMES);
    for (uint32_t row = 1; row < WIDTH + 3; row++) { // no room for a whole row any more
        assert_true(sum_of(&table, row) == 0);
        walk(&table, row);
    }
    assert_true(sum_of(&table, UINT32_MAX) == 0);
    assert_true(walk(&table, UINT32_MAX) == 0);
    free(words);
}

/* A sparse row that claims more pairs than fit, and outcomes that do not exist. */
static void test_sparse_rows(void **state)
{
    (void)state;
    static const uint32_t claims[] = {0, 1, 2, 3, 4, 1000, UINT32_MAX};
    static const uint32_t outcomes[] = {0, OUTCOMES - 1, OUTCOMES, WIDTH, UINT32_MAX};
    const float weight = 4;
    for (size_t c = 0; c < TR_COUNT(claims); c++) {
        for (size_t o = 0; o < TR_COUNT(outcomes); o++) {
            uint32_t *words = calloc(6, sizeof *words); // the count, two pairs and half a pair
            words[0] = claims[c];
            for (int pair = 0; pair < 2; pair++) {
                words[1 + 2 * pair] = outcomes[o];
                memcpy(&words[2 + 2 * pair], &weight, sizeof weight);
            }
            struct tr_table table = {
                .outcomes = OUTCOMES, .width = WIDTH, .words = words, .word_count = 6};
            float expected = outcomes[o] < OUTCOMES ? weight * (claims[c] < 2 ? claims[c] : 2) : 0;
            assert_true(sum_of(&table, 0) == 2 * expected);
            assert_true(walk(&table, 0) == expected);
            for (uint32_t row = 1; row < 8; row++) {
                sum_of(&table, row);
                walk(&table, row);
            }
            free(words);
        }
    }
}

static void test_texts(void **state)
{
    (void)state;
    char *bytes = malloc(4);
    memcpy(bytes, "abcd", 4);
    struct tr_table table = {.bytes = bytes, .byte_count = 4};
    static const struct {
        uint64_t text;
        uint32_t size;
        const char *expected;
    } cases[] = {
        {0, 4, "abcd"}, {1, 2, "bc"}, {4, 0, ""},          {3, 2, ""},
        {5, 0, ""},     {0, 5, ""},   {UINT64_MAX, 1, ""}, {UINT64_MAX - 1, UINT32_MAX, ""}};
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        struct tr_text_record record = {.text = cases[i].text, .text_size = cases[i].size};
        trellis_text text = tr_table_text(&table, &record);
        char copy[8] = "";
        memcpy(copy, text.data, text.size);
        assert_string_equal(copy, cases[i].expected);
    }
    free(bytes);
}

/* Buckets that all claim to be full, or to hold more keys than they can. */
static void test_buckets(void **state)
{
    (void)state;
    enum { BUCKETS = 4 };
    struct tr_bucket *buckets = calloc(BUCKETS, sizeof *buckets);
    for (int i = 0; i < BUCKETS; i++) {
        for (int k = 0; k < TR_BUCKET_KEYS; k++) {
            buckets[i].key[k] = (uint64_t)(100 + 10 * i + k);
            buckets[i].row[k] = (uint32_t)(10 * i + k);
        }
        buckets[i].used = UINT32_MAX;
    }
    struct tr_table table = {.buckets = buckets, .bucket_count = BUCKETS, .probes = TR_MAX_PROBES};
    assert_int_equal(tr_table_find(&table, 7), TR_NONE); // and comes to an end
    assert_int_equal(tr_table_find(&table, 134), 34);
    buckets[3].used = 4;
    table.probes = 0;
    assert_int_equal(tr_table_find(&table, 123), TR_NONE); // hashes to bucket 3, stored in 2
    for (int i = 0; i < BUCKETS; i++) {
        buckets[i].used = 0;
    }
    table.probes = TR_MAX_PROBES;
    assert_int_equal(tr_table_find(&table, 100), TR_NONE); // in an empty bucket there is no key
    free(buckets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense_rows),
        cmocka_unit_test(test_sparse_rows),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_buckets),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
