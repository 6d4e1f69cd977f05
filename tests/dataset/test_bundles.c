/* test_bundles.c - bundles of attributes against the plain tokens that they stand for.
 *
 * All numbers are small multiples of 1/2, so that sums are exact in any order and can be compared
 * with ==.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "dataset/bundles.h"

enum { TOKENS = 1200, VALUES = 4, SLOTS = 12, ATTRIBUTES = 700 };

struct corpus {
    struct tr_occurrences occurrences;
    struct tr_rows *rows;
    float *weights; // [rows->size]
    uint32_t outcomes;
};

static int ascending(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The attributes of a token as templates would make them from five cells: each alone, pairs and
 * triples of neighbours, and some that nothing implies; now and then one twice, or many. */
static uint32_t draw_token(struct tr_random *random, uint32_t *cell, uint32_t *attribute)
{
    uint32_t n = 0, base = 0;
    memmove(cell, cell + 1, 4 * sizeof *cell);
    cell[4] = (uint32_t)tr_random_below(random, VALUES);
    for (uint32_t i = 0; i < 5; i++, base += VALUES) {
        attribute[n++] = base + cell[i];
    }
    for (uint32_t i = 0; i < 4; i++, base += VALUES * VALUES) {
        attribute[n++] = base + cell[i] * VALUES + cell[i + 1];
    }
    for (uint32_t i = 0; i < 3; i++, base += VALUES * VALUES * VALUES) {
        attribute[n++] = base + (cell[i] * VALUES + cell[i + 1]) * VALUES + cell[i + 2];
    }
    uint64_t more = tr_random_below(random, 40) == 0 ? 90 : tr_random_below(random, 4);
    for (uint64_t i = 0; i < more; i++) {
        attribute[n++] = base + (uint32_t)tr_random_below(random, ATTRIBUTES - base);
    }
    if (tr_random_below(random, 10) == 0) {
        attribute[n] = attribute[tr_random_below(random, n)];
        n++;
    }
    return n;
}

/* Some tokens have nothing, some of them one after the other. */
static struct tr_occurrences draw_occurrences(struct tr_random *random)
{
    struct tr_occurrences o = {0};
    uint32_t cell[5] = {0}, attribute[SLOTS + 100], number[ATTRIBUTES];
    for (uint32_t a = 0; a < ATTRIBUTES; a++) {
        number[a] = a;
    }
    tr_random_shuffle(random, number, ATTRIBUTES); // dense and sparse everywhere
    assert_true(tr_push(&o.begin, 0));
    for (size_t t = 0; t < TOKENS; t++) {
        bool empty = (t >= 500 && t < 800) || tr_random_below(random, 50) == 0;
        uint32_t n = empty ? 0 : draw_token(random, cell, attribute);
        for (uint32_t k = 0; k < n; k++) {
            attribute[k] = number[attribute[k]];
        }
        qsort(attribute, n, sizeof *attribute, ascending);
        for (uint32_t k = 0; k < n; k++) {
            assert_true(tr_push(&o.attribute, attribute[k]));
        }
        assert_true(tr_push(&o.begin, (uint32_t)o.attribute.size));
    }
    return o;
}

/* Rows of which the first third are dense; every other sparse one has one pair or none. */
static struct tr_rows *draw_rows(struct tr_random *random, uint32_t outcomes)
{
    struct tr_rows *rows;
    trellis_error error = {0};
    uint64_t *begin = tr_alloc(ATTRIBUTES + 1, sizeof *begin);
    uint32_t *outcome = tr_alloc((size_t)ATTRIBUTES * outcomes, sizeof *outcome);
    for (uint32_t a = 0; a < ATTRIBUTES; a++) {
        begin[a + 1] = begin[a];
        for (uint32_t o = 0; o < outcomes; o++) {
            if (a < ATTRIBUTES / 3 ? tr_random_below(random, 4) > 0
                                   : tr_random_below(random, outcomes) == 0) {
                outcome[begin[a + 1]++] = o;
            }
        }
    }
    assert_int_equal(
        tr_rows_create(outcomes, ATTRIBUTES, ATTRIBUTES / 3, begin, outcome, &rows, &error),
        TRELLIS_OK);
    uint32_t shared = 5, *shared_with = tr_alloc(shared, sizeof *shared_with);
    for (uint32_t i = 0; i < shared; i++) { // four times, so that roots are exact
        shared_with[i] = i < 3 ? 7 : 0;
    }
    shared_with[3] = shared_with[4] = ATTRIBUTES / 2;
    shared = outcomes % 2 ? 3 : 0;
    assert_int_equal(tr_rows_share(rows, shared, shared_with, &error), TRELLIS_OK);
    return rows;
}

static void fill(struct tr_random *random, float *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        numbers[i] = (float)tr_random_below(random, 17) / 2 - 4;
    }
}

static struct corpus draw_corpus(struct tr_random *random, uint32_t outcomes)
{
    struct corpus c = {draw_occurrences(random), draw_rows(random, outcomes), NULL, outcomes};
    c.weights = tr_alloc_aligned(c.rows->size, sizeof *c.weights);
    fill(random, c.weights, c.rows->size);
    return c;
}

static void corpus_free(struct corpus *c)
{
    free(c->occurrences.begin.at);
    free(c->occurrences.attribute.at);
    free(c->occurrences.value.at);
    tr_rows_destroy(c->rows);
    free(c->weights);
}

static struct tr_bundles *bundle(const struct corpus *c)
{
    struct tr_bundles *bundles;
    trellis_error error = {0};
    assert_int_equal(tr_bundles_create(&c->occurrences, TOKENS, c->rows, &bundles, &error),
                     TRELLIS_OK);
    return bundles;
}

/* Each attribute that a token has must be there once, in a bundle or single. */
static void check_token(const struct corpus *c, const struct tr_bundles *b, size_t t)
{
    int count[ATTRIBUTES] = {0};
    int *weights = tr_alloc(c->rows->size, sizeof *weights);
    for (uint32_t k = c->occurrences.begin.at[t]; k < c->occurrences.begin.at[t + 1]; k++) {
        count[c->occurrences.attribute.at[k]]++;
    }
    for (uint32_t k = b->row_begin[t]; k < b->row_begin[t + 1]; k++) {
        uint32_t row = b->row[k] % TR_LISTED_ROWS;
        if (row >= b->count) {
            count[row - b->count]--;
            continue;
        }
        for (uint32_t i = b->member_begin[row]; i < b->member_begin[row + 1]; i++) {
            count[b->member[i]]--;
        }
    }
    for (uint32_t k = b->pair_begin[t]; k < b->pair_begin[t + 1]; k++) {
        weights[b->pair[k]]++;
    }
    for (uint32_t a = 0; a < ATTRIBUTES; a++) {
        uint64_t begin = c->rows->begin[a], end = c->rows->begin[a + 1];
        assert_true(count[a] == 0 || a >= c->rows->dense);
        for (uint64_t i = begin; a >= c->rows->dense && i < end; i++) {
            assert_int_equal(weights[tr_rows_at(c->rows, a) + (i - begin)], count[a]);
        }
    }
    free(weights);
}

static void check_scores(const struct corpus *c, struct tr_bundles *b, struct tr_pool *pool)
{
    size_t width = c->rows->width, first = 100, n = TOKENS - first;
    float *wanted = tr_alloc_aligned(n * width, sizeof *wanted);
    float *got = tr_alloc_aligned(n * width, sizeof *got);
    struct tr_tokens tokens = {c->occurrences.begin.at + first, c->occurrences.attribute.at, NULL,
                               n};
    tr_row_kernels_baseline.score(c->rows, c->weights, &tokens, wanted, width);
    tr_bundles_add_up(b, tr_row_kernels(), c->weights, pool);
    for (size_t k = 0; tr_kernels_at(k); k++) {
        struct tr_bundled_tokens bundled = tr_bundles_tokens(b, first, TOKENS);
        memset(got, 0, n * width * sizeof *got);
        tr_row_kernels_like(tr_kernels_at(k))
            ->score_bundled(&bundled, b->sum, c->weights, got, width);
        for (size_t i = 0; i < n * width; i++) {
            assert_true(i % width >= c->outcomes || got[i] == wanted[i]);
        }
    }
    free(wanted);
    free(got);
}

/* Nothing must be left of a block's gradient. */
static void check_taken(const struct corpus *c, const float *gradient)
{
    for (size_t i = 0; i < c->rows->size; i++) {
        assert_true(gradient[i] == 0);
    }
}

/* Gradients in two blocks. */
static void check_gradient(struct tr_random *random, const struct corpus *c, struct tr_bundles *b,
                           const struct tr_row_kernels *kernels, struct tr_pool *pool)
{
    size_t width = c->rows->width, features = tr_rows_pairs(c->rows), middle = TOKENS / 3;
    float *amounts = tr_alloc_aligned(TOKENS * width, sizeof *amounts);
    float *plain = tr_alloc_aligned(c->rows->size, sizeof *plain);
    float *single = tr_alloc_aligned(c->rows->size, sizeof *single);
    float *sums = tr_alloc_aligned(b->count * width, sizeof *sums);
    double *wanted = tr_alloc(features, sizeof *wanted), *got = tr_alloc(features, sizeof *got);
    fill(random, amounts, TOKENS * width);
    struct tr_tokens tokens = {c->occurrences.begin.at, c->occurrences.attribute.at, NULL, TOKENS};
    tr_row_kernels_baseline.collect(c->rows, plain, &tokens, amounts, width);
    tr_rows_gather(c->rows, plain, wanted); // divides by roots, where taking multiplies
    for (size_t block = 0; block < 2; block++) {
        size_t first = block ? middle : 0, end = block ? TOKENS : middle;
        uint64_t *marks = tr_alloc(tr_bundles_mark_words(b), sizeof *marks);
        uint64_t *row_marks = tr_alloc(tr_rows_mark_words(c->rows), sizeof *row_marks);
        struct tr_bundled_tokens bundled = tr_bundles_tokens(b, first, end);
        kernels->collect_bundled(&bundled, sums, single, amounts + first * width, width);
        tr_bundles_mark(b, first, end, marks, row_marks);
        tr_bundles_take_marked(b, marks, sums, 0, b->gradient);
        tr_rows_take_marked(c->rows, row_marks, single, 0, got);
        for (size_t i = 0; i < b->count * width; i++) {
            assert_true(sums[i] == 0);
        }
        check_taken(c, single);
        free(marks);
        free(row_marks);
    }
    size_t all = tr_rows_pairs(c->rows), some = all / 3;
    tr_bundles_hand_down(b, pool);
    tr_bundles_inherit(b, 0, some, got, pool);
    tr_bundles_inherit(b, some, all, got, pool);
    tr_bundles_hand_down(b, pool); // nothing is left
    tr_bundles_inherit(b, 0, all, got, pool);
    for (uint32_t a = 0; a < ATTRIBUTES; a++) {
        for (uint64_t i = c->rows->begin[a]; i < c->rows->begin[a + 1]; i++) {
            assert_true(got[i] == wanted[i] * (double)tr_rows_multiplicity(c->rows, a));
        }
    }
    free(amounts);
    free(plain);
    free(single);
    free(sums);
    free(wanted);
    free(got);
}

static void stands_for_the_tokens(void **state)
{
    (void)state;
    static const uint32_t outcomes[] = {3, 9, 22, 31, 40, 250};
    struct tr_random random;
    struct tr_pool *pool;
    trellis_error error = {0};
    tr_random_seed(&random, 23);
    assert_int_equal(tr_pool_create(2, &pool, &error), TRELLIS_OK);
    for (size_t i = 0; i < 3 * TR_COUNT(outcomes); i++) {
        struct corpus c = draw_corpus(&random, outcomes[i % TR_COUNT(outcomes)]);
        struct tr_bundles *b = bundle(&c);
        assert_non_null(b);
        assert_true(b->count > 20);
        assert_true(b->row_begin[TOKENS] < c.occurrences.attribute.size / 2);
        for (size_t t = 0; t < TOKENS; t++) {
            check_token(&c, b, t);
        }
        check_scores(&c, b, i % 2 ? pool : NULL);
        for (size_t k = 0; tr_kernels_at(k); k++) {
            check_gradient(&random, &c, b, tr_row_kernels_like(tr_kernels_at(k)),
                           i % 2 ? pool : NULL);
        }
        tr_bundles_destroy(b);
        corpus_free(&c);
    }
    tr_pool_destroy(pool);
}

/* Every row and pair by itself. */
static void lists_what_is_not_bundled(void **state)
{
    (void)state;
    static const uint32_t outcomes[] = {9, 22, 40};
    struct tr_random random;
    trellis_error error = {0};
    tr_random_seed(&random, 29);
    for (size_t i = 0; i < TR_COUNT(outcomes); i++) {
        struct corpus c = draw_corpus(&random, outcomes[i]);
        struct tr_bundles *b;
        assert_int_equal(tr_bundles_list(&c.occurrences, TOKENS, c.rows, NULL, &b, &error),
                         TRELLIS_OK);
        assert_non_null(b);
        assert_int_equal(b->count, 0);
        for (size_t t = 0; t < TOKENS; t++) {
            check_token(&c, b, t);
        }
        check_scores(&c, b, NULL);
        tr_bundles_destroy(b);
        uint32_t dense = c.rows->dense;
        c.rows->dense = 0; // too many pairs
        assert_int_equal(tr_bundles_list(&c.occurrences, TOKENS, c.rows, NULL, &b, &error),
                         TRELLIS_OK);
        assert_null(b);
        c.rows->dense = dense;
        assert_true(tr_push(&c.occurrences.value, 1));
        assert_int_equal(tr_bundles_list(&c.occurrences, TOKENS, c.rows, NULL, &b, &error),
                         TRELLIS_OK);
        assert_null(b);
        corpus_free(&c);
    }
}

/* Values other than 1, wide rows, and rows of many pairs, which would be listed for each token. */
static void gives_up_where_it_does_not_pay(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 5);
    struct corpus c = draw_corpus(&random, 22);
    assert_true(tr_push(&c.occurrences.value, 1));
    assert_null(bundle(&c));
    c.occurrences.value.size = 0;
    size_t size = c.occurrences.attribute.size;
    c.occurrences.attribute.size = 0;
    assert_null(bundle(&c));
    c.occurrences.attribute.size = size;
    c.rows->dense = 0; // all that was dense is now pairs
    assert_null(bundle(&c));
    c.rows->dense = ATTRIBUTES / 3;
    corpus_free(&c);
    c = draw_corpus(&random, 257);
    assert_null(bundle(&c));
    corpus_free(&c);
    tr_bundles_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_for_the_tokens),
        cmocka_unit_test(lists_what_is_not_bundled),
        cmocka_unit_test(gives_up_where_it_does_not_pay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
