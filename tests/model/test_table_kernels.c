/* test_table_kernels.c - rows found and added many at a time, against one at a time.
 *
 * Buckets, rows and pairs are drawn at random, sound ones and others: keys twice, rows that begin
 * anywhere, counts and outcomes that are too large. All arrays end where they must not be read
 * beyond.
 */
#include "test_model.h"

#include "base/random.h"
#include "model/table_kernels.h"

enum { BUCKETS = 8, WORDS = 600, TOKENS = 40, MAX_KEYS = 70, MAX_WIDTH = 104, UNITS = 4 };

struct drawn {
    struct tr_table table;
    struct tr_bucket *buckets;
    uint32_t *words;
    int16_t *shorts;
    size_t begin[TOKENS + 1];
    uint64_t *keys;
};

static uint32_t bits_of(float weight)
{
    uint32_t bits;
    memcpy(&bits, &weight, sizeof bits);
    return bits;
}

/* A word of a dense row or a weight of a pair. */
static void put_weight(struct drawn *drawn, struct tr_random *random, size_t at)
{
    int halves = (int)tr_random_below(random, 41) - 20;
    drawn->words[at] = bits_of((float)halves / 2);
    drawn->shorts[at] = (int16_t)(halves * UNITS / 2);
}

static void put_number(struct drawn *drawn, size_t at, uint32_t number)
{
    drawn->words[at] = number;
    drawn->shorts[at] = (int16_t)number;
}

/* Pairs of all sizes one behind the other; now and then a count or an outcome is too large. */
static void draw_pairs(struct drawn *drawn, struct tr_random *random, size_t from)
{
    uint32_t outcomes = drawn->table.outcomes;
    for (size_t at = from; at < WORDS;) {
        uint32_t count = (uint32_t)tr_random_below(random, tr_random_below(random, 4) ? 4 : 12);
        put_number(drawn, at++, tr_random_below(random, 30) ? count : 30000);
        for (uint32_t j = 0; j < count && at + 2 <= WORDS; j++) {
            bool sound = tr_random_below(random, 20);
            put_number(drawn, at,
                       (uint32_t)(sound ? tr_random_below(random, outcomes)
                                        : outcomes + tr_random_below(random, 20)));
            put_weight(drawn, random, at + 1);
            at += 2;
        }
    }
}

static uint32_t draw_row(struct drawn *drawn, struct tr_random *random)
{
    const struct tr_table *table = &drawn->table;
    size_t dense = table->dense_words / table->width;
    switch (tr_random_below(random, 8)) {
    case 0:
        return (uint32_t)tr_random_below(random, WORDS + 20);
    case 1:
        return UINT32_MAX - (uint32_t)tr_random_below(random, 3);
    case 2:
    case 3:
        return (uint32_t)(table->word_count - 1 - tr_random_below(random, 12));
    case 4:
    case 5:
        if (dense) {
            return (uint32_t)(tr_random_below(random, dense) * table->width);
        } // fall through
    default:
        return (uint32_t)(table->dense_words +
                          tr_random_below(random, table->word_count - table->dense_words));
    }
}

static void draw_buckets(struct drawn *drawn, struct tr_random *random)
{
    drawn->buckets = malloc(BUCKETS * sizeof *drawn->buckets);
    for (size_t b = 0; b < BUCKETS; b++) {
        struct tr_bucket *bucket = &drawn->buckets[b];
        for (size_t i = 0; i < TR_BUCKET_KEYS; i++) {
            bucket->key[i] = tr_random_below(random, 6 * BUCKETS);
            bucket->row[i] = draw_row(drawn, random);
        }
        bucket->used = (uint32_t)tr_random_below(random, 8) |
                       (tr_random_below(random, 2) ? TR_BUCKET_FULL : 0);
    }
    drawn->table.buckets = drawn->buckets;
    drawn->table.bucket_count = BUCKETS;
    drawn->table.probes = (uint32_t)tr_random_below(random, 4);
}

static void draw_keys(struct drawn *drawn, struct tr_random *random)
{
    drawn->begin[0] = tr_random_below(random, 3);
    for (size_t i = 0; i < TOKENS; i++) {
        size_t limit = tr_random_below(random, 6) ? 24 : MAX_KEYS;
        drawn->begin[i + 1] = drawn->begin[i] + tr_random_below(random, limit);
    }
    drawn->keys = malloc(drawn->begin[TOKENS] * sizeof *drawn->keys + 1);
    for (size_t k = 0; k < drawn->begin[TOKENS]; k++) {
        drawn->keys[k] = tr_random_below(random, 6 * BUCKETS);
    }
}

static void draw(struct drawn *drawn, struct tr_random *random, bool shorts)
{
    static const uint32_t outcomes[] = {1, 2, 3, 8, 9, 15, 16, 17, 22, 24, 31, 32, 33, 40, 100};
    size_t width, rows;
    drawn->table = (struct tr_table){
        .outcomes = outcomes[tr_random_below(random, sizeof outcomes / sizeof *outcomes)]};
    width = drawn->table.width = tr_row_width(drawn->table.outcomes);
    rows = tr_random_below(random, 4);
    drawn->words = malloc(WORDS * sizeof *drawn->words);
    drawn->shorts = malloc(WORDS * sizeof *drawn->shorts);
    for (size_t at = 0; at < rows * width; at++) {
        put_weight(drawn, random, at);
    }
    draw_pairs(drawn, random, rows * width);
    drawn->table.word_count = WORDS;
    drawn->table.dense_words = rows * width - (rows ? tr_random_below(random, 3) : 0);
    drawn->table.words = shorts ? NULL : drawn->words;
    drawn->table.shorts = shorts ? (const uint16_t *)drawn->shorts : NULL;
    drawn->table.unit = 1.0f / UNITS;
    draw_buckets(drawn, random);
    draw_keys(drawn, random);
}

static void free_drawn(struct drawn *drawn)
{
    free(drawn->buckets);
    free(drawn->words);
    free(drawn->shorts);
    free(drawn->keys);
}

/* The rows of the tokens one by one, and their sums [TOKENS][width], dense rows first. */
struct expected {
    struct tr_found_rows found;
    float *scores;
};

static struct expected expect(const struct drawn *drawn)
{
    const struct tr_table *table = &drawn->table;
    size_t keys = drawn->begin[TOKENS];
    struct expected expected = {.found = {.dense = malloc(keys * sizeof(uint32_t) + 1),
                                          .sparse = malloc(keys * sizeof(uint32_t) + 1),
                                          .ends = malloc(TOKENS * sizeof(struct tr_row_ends))},
                                .scores = calloc(TOKENS * table->width, sizeof(float))};
    struct tr_row_ends ends = {0, 0};
    for (size_t i = 0; i < TOKENS; i++) {
        for (size_t k = drawn->begin[i]; k < drawn->begin[i + 1]; k++) {
            uint32_t row = tr_table_find(table, drawn->keys[k]);
            if (row < table->dense_words && table->dense_words - row >= table->width) {
                expected.found.dense[ends.dense++] = row;
            } else if (row >= table->dense_words && row < table->word_count) {
                expected.found.sparse[ends.sparse++] = row;
            }
        }
        for (uint32_t k = i ? expected.found.ends[i - 1].dense : 0; k < ends.dense; k++) {
            tr_table_add(table, expected.found.dense[k], 1, expected.scores + i * table->width);
        }
        for (uint32_t k = i ? expected.found.ends[i - 1].sparse : 0; k < ends.sparse; k++) {
            tr_table_add(table, expected.found.sparse[k], 1, expected.scores + i * table->width);
        }
        expected.found.ends[i] = ends;
    }
    return expected;
}

static void free_found(struct tr_found_rows *found)
{
    free(found->row);
    free(found->dense);
    free(found->sparse);
    free(found->ends);
}

/* The stride is wider than a row, to see whether anything is written behind one. */
static void expect_same(const struct tr_table_kernels *kernels, const struct drawn *drawn,
                        const struct expected *expected)
{
    const struct tr_table *table = &drawn->table;
    size_t keys = drawn->begin[TOKENS], stride = table->width + TR_LANES;
    struct tr_found_rows found = {.row = malloc(keys * sizeof(uint32_t) + 1),
                                  .dense = malloc((keys + TR_FOUND_ROOM) * sizeof(uint32_t)),
                                  .sparse = malloc((keys + TR_FOUND_ROOM) * sizeof(uint32_t)),
                                  .ends = malloc(TOKENS * sizeof(struct tr_row_ends))};
    uint64_t *home = malloc((keys + TR_HOMES_AHEAD) * sizeof *home);
    float *scores = tr_alloc_aligned(TOKENS * stride, sizeof *scores);
    kernels->homes(home, table, drawn->keys, keys);
    for (size_t k = 0; k < keys; k++) {
        assert_true(home[k] == tr_table_home(table, drawn->keys[k]) * sizeof(struct tr_bucket));
    }
    for (size_t k = keys; k < keys + TR_HOMES_AHEAD; k++) {
        assert_true(home[k] == 0);
    }
    kernels->find(&found, table, drawn->keys, home, drawn->begin, TOKENS);
    struct tr_row_ends ends = expected->found.ends[TOKENS - 1];
    assert_memory_equal(found.ends, expected->found.ends, TOKENS * sizeof *found.ends);
    assert_memory_equal(found.dense, expected->found.dense, ends.dense * sizeof(uint32_t));
    assert_memory_equal(found.sparse, expected->found.sparse, ends.sparse * sizeof(uint32_t));
    kernels->add(scores, stride, table, &found, TOKENS);
    for (size_t i = 0; i < TOKENS; i++) {
        for (size_t j = 0; j < stride; j++) {
            float sum = j < table->width ? expected->scores[i * table->width + j] : 0;
            assert_true(scores[i * stride + j] == sum);
        }
    }
    free(home);
    free(scores);
    free_found(&found);
}

static void many_are_as_one_by_one(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 20);
    for (int round = 0; round < 400; round++) {
        struct drawn drawn;
        draw(&drawn, &random, round % 4 == 3);
        struct expected expected = expect(&drawn);
        for (size_t k = 0; tr_kernels_at(k); k++) {
            expect_same(tr_table_kernels_like(tr_kernels_at(k)), &drawn, &expected);
        }
        free_found(&expected.found);
        free(expected.scores);
        free_drawn(&drawn);
    }
}

/* No keys at all, and tokens without any. */
static void nothing_is_found_of_nothing(void **state)
{
    (void)state;
    struct tr_bucket bucket = {.used = 0};
    struct tr_table table = {.buckets = &bucket, .bucket_count = 1, .outcomes = 3, .width = 8};
    for (size_t k = 0; tr_kernels_at(k); k++) {
        const struct tr_table_kernels *kernels = tr_table_kernels_like(tr_kernels_at(k));
        uint64_t home[TR_HOMES_AHEAD];
        size_t begin[3] = {0, 0, 0};
        struct tr_row_ends ends[2] = {{7, 7}, {7, 7}};
        struct tr_found_rows found = {.ends = ends};
        kernels->homes(home, &table, NULL, 0);
        kernels->find(&found, &table, NULL, home, begin, 2);
        assert_int_equal(ends[0].dense + ends[0].sparse + ends[1].dense + ends[1].sparse, 0);
        kernels->add(NULL, 8, &table, &found, 0);
        assert_non_null(kernels->name);
    }
    assert_ptr_equal(tr_table_kernels(), tr_table_kernels_like(tr_kernels()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_are_as_one_by_one),
        cmocka_unit_test(nothing_is_found_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
