/* test_share.c - attributes that always occur together: finding them, and the meaning of their
 * shared row. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "dataset/row_kernels.h"
#include "dataset/share.h"
#include "support/near.h"

enum { TOKENS = 40, ATTRIBUTES = 60 };

/* How often each attribute is at each token. */
struct naive {
    int count[TOKENS][ATTRIBUTES];
};

static bool are_alike(const struct naive *naive, uint32_t a, uint32_t b)
{
    bool alike = true;
    for (size_t t = 0; t < TOKENS; t++) {
        alike = alike && naive->count[t][a] == naive->count[t][b];
    }
    return alike;
}

/* A third of the attributes are copies of others; a token may have one twice. */
static void draw(struct tr_random *random, struct naive *naive)
{
    memset(naive, 0, sizeof *naive);
    for (uint32_t a = 0; a < ATTRIBUTES; a++) {
        uint64_t model = tr_random_below(random, 3) == 0 ? tr_random_below(random, a + 1) : a;
        uint64_t often = tr_random_below(random, 3) == 0 ? 3 : 40;
        for (size_t t = 0; t < TOKENS; t++) {
            naive->count[t][a] = model < a ? naive->count[t][model]
                                           : (tr_random_below(random, often) == 0) *
                                                 (1 + (tr_random_below(random, 9) == 0));
        }
    }
}

static struct tr_occurrences occurrences_of(const struct naive *naive)
{
    struct tr_occurrences occurrences = {0};
    assert_true(tr_push(&occurrences.begin, 0));
    for (size_t t = 0; t < TOKENS; t++) {
        for (uint32_t a = 0; a < ATTRIBUTES; a++) {
            for (int k = 0; k < naive->count[t][a]; k++) {
                assert_true(tr_push(&occurrences.attribute, a));
            }
        }
        assert_true(tr_push(&occurrences.begin, (uint32_t)occurrences.attribute.size));
    }
    return occurrences;
}

static void finds_attributes_that_occur_together(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 5);
    size_t shared = 0;
    for (int round = 0; round < 200; round++) {
        struct naive naive;
        draw(&random, &naive);
        struct tr_occurrences occurrences = occurrences_of(&naive);
        uint32_t *first = tr_share_find(&occurrences, TOKENS, ATTRIBUTES, NULL);
        assert_non_null(first);
        for (uint32_t a = 0; a < ATTRIBUTES; a++) {
            uint32_t expected = 0;
            while (!are_alike(&naive, expected, a)) {
                expected++;
            }
            assert_int_equal(first[a], expected);
            shared += expected < a;
        }
        tr_share_drop(&occurrences, TOKENS, first);
        for (size_t t = 0, k = 0; t < TOKENS; t++) {
            for (uint32_t a = 0; a < ATTRIBUTES; a++) {
                for (int i = 0; first[a] == a && i < naive.count[t][a]; i++) {
                    assert_int_equal(occurrences.attribute.at[k++], a);
                }
            }
            assert_int_equal(occurrences.begin.at[t + 1], k);
        }
        free(first);
        free(occurrences.begin.at);
        free(occurrences.attribute.at);
    }
    assert_true(shared > 1000);
}

/* Attributes 0 and 1 are dense, 2 has two pairs, 3 none, 4 one. 0 is shared by two others, 2 and 3
 * by one each. */
enum { OUTCOMES = 5, OWN = 5, SHARED = 4, PAIRS = 5 + 4 + 2 + 0 + 1 };

static struct tr_rows *make_rows(void)
{
    static const uint64_t begin[OWN + 1] = {0, 5, 9, 11, 11, 12};
    static const uint32_t outcome[PAIRS] = {0, 1, 2, 3, 4, 0, 1, 3, 4, 2, 3, 1};
    static const uint32_t shared_with[SHARED] = {0, 2, 0, 3};
    uint64_t *own_begin = tr_alloc(OWN + 1, sizeof *own_begin);
    uint32_t *own_outcome = tr_alloc(PAIRS, sizeof *own_outcome);
    uint32_t *own_shared_with = tr_alloc(SHARED, sizeof *own_shared_with);
    memcpy(own_begin, begin, sizeof begin);
    memcpy(own_outcome, outcome, sizeof outcome);
    memcpy(own_shared_with, shared_with, sizeof shared_with);
    struct tr_rows *rows;
    assert_int_equal(tr_rows_create(OUTCOMES, OWN, 2, own_begin, own_outcome, &rows, NULL),
                     TRELLIS_OK);
    assert_int_equal(tr_rows_share(rows, SHARED, own_shared_with, NULL), TRELLIS_OK);
    return rows;
}

static void counts_multiplicity(void **state)
{
    (void)state;
    struct tr_rows *rows = make_rows();
    static const float multiplicity[OWN] = {3, 1, 2, 2, 1};
    for (uint32_t a = 0; a < OWN; a++) {
        if (a != 3) { // which has no pairs that could be shared
            assert_true(tr_rows_multiplicity(rows, a) == multiplicity[a]);
        }
        assert_int_equal(tr_rows_owner(rows, a), a);
    }
    assert_int_equal(tr_rows_owner(rows, 5), 0);
    assert_int_equal(tr_rows_owner(rows, 6), 2);
    assert_int_equal(tr_rows_attributes(rows), OWN + SHARED);
    assert_int_equal(tr_rows_pairs(rows), PAIRS);
    assert_int_equal(tr_rows_features(rows), PAIRS + 5 + 2 + 5);
    tr_rows_destroy(rows);
}

/* The weight w of one attribute, the feature sqrt(k) w, and the sum k w. */
static void a_row_is_the_sum_of_its_attributes(void **state)
{
    (void)state;
    struct tr_rows *rows = make_rows();
    float *weights = tr_alloc_aligned(rows->size, sizeof *weights);
    double features[PAIRS], back[PAIRS] = {0}, norm = 0;
    for (size_t i = 0; i < PAIRS; i++) {
        double multiplicity = i < 5 ? 3 : i >= 9 && i < 11 ? 2 : 1, w = (double)i - 3.5;
        features[i] = sqrt(multiplicity) * w;
        norm += multiplicity * w * w;
    }
    tr_rows_spread(rows, features, 0, OWN, weights);
    assert_near(weights[tr_rows_find(rows, 0, 4)], 3 * 0.5, 1e-6);
    assert_near(weights[tr_rows_find(rows, 1, 0)], 1.5, 1e-6);
    assert_near(weights[tr_rows_find(rows, 2, 3)], 2 * 6.5, 1e-6);
    assert_near(weights[tr_rows_find(rows, 4, 1)], 7.5, 1e-6);
    assert_near(tr_rows_norm(rows, weights), norm, 1e-4);
    assert_int_equal(tr_rows_active(rows, weights, 0, OWN), PAIRS + 5 + 2 + 5);
    float values[PAIRS], *placed = tr_alloc_aligned(rows->size, sizeof *placed);
    size_t active = tr_rows_round(rows, features, 0, 3, values); // the slices cut the first row
    active += tr_rows_round(rows, features + 3, 3, PAIRS, values + 3);
    assert_int_equal(active, PAIRS + 5 + 2 + 5);
    tr_rows_place(rows, values, 0, OWN, placed);
    assert_memory_equal(placed, weights, rows->size * sizeof *placed);
    free(placed);
    tr_rows_gather(rows, weights, back);
    for (size_t i = 0; i < PAIRS; i++) {
        assert_near(back[i], features[i], 1e-6);
    }
    tr_rows_divide_shared(rows, weights);
    assert_near(weights[tr_rows_find(rows, 0, 4)], 0.5, 1e-6);
    assert_near(weights[tr_rows_find(rows, 2, 3)], 6.5, 1e-6);
    free(weights);
    tr_rows_destroy(rows);
}

/* dF/du = sqrt(k) dF/dv, where v = sqrt(k) u. */
static void gradients_scale_with_the_root(void **state)
{
    (void)state;
    struct tr_rows *rows = make_rows();
    float *slopes = tr_alloc_aligned(rows->size, sizeof *slopes);
    double features[PAIRS] = {0};
    uint64_t marks[1] = {0};
    uint32_t all[OWN] = {0, 1, 2, 3, 4};
    assert_int_equal(tr_rows_mark_words(rows), 1);
    tr_rows_mark(rows, all, OWN, marks);
    slopes[tr_rows_find(rows, 0, 2)] = 2;
    slopes[tr_rows_find(rows, 1, 3)] = 3;
    slopes[tr_rows_find(rows, 2, 2)] = 5;
    tr_rows_take_marked(rows, marks, slopes, 0, features);
    assert_near(features[2], 2 * sqrt(3), 1e-6);
    assert_near(features[7], 3, 1e-6);
    assert_near(features[9], 5 * sqrt(2), 1e-6);
    assert_near(features[10], 0, 0);
    for (size_t j = 0; j < rows->size; j++) {
        assert_true(slopes[j] == 0);
    }
    free(slopes);
    tr_rows_destroy(rows);
}

/* A stochastic step changes every attribute by d, so the row by k d. */
static void steps_change_every_attribute(void **state)
{
    (void)state;
    struct tr_rows *rows = make_rows();
    float *weights = tr_alloc_aligned(rows->size, sizeof *weights);
    float amounts[8] = {1, 2, 3, 4, 5, 0, 0, 0};
    static const uint32_t begin[] = {0, 3}, attribute[] = {0, 1, 2};
    struct tr_tokens tokens = {begin, attribute, NULL, 1};
    struct tr_move move = {
        .weights = weights, .rate = 0.5f, .from = begin, .end = begin + 1, .stride = 1};
    tr_row_kernels()->move(rows, &move, &tokens, amounts, 8);
    assert_true(weights[tr_rows_find(rows, 0, 1)] == 3 * 0.5f * 2);
    assert_true(weights[tr_rows_find(rows, 1, 1)] == 0.5f * 2);
    assert_true(weights[tr_rows_find(rows, 2, 3)] == 2 * 0.5f * 4);
    assert_true(weights[tr_rows_find(rows, 4, 1)] == 0);
    free(weights);
    tr_rows_destroy(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_attributes_that_occur_together),
        cmocka_unit_test(counts_multiplicity),
        cmocka_unit_test(a_row_is_the_sum_of_its_attributes),
        cmocka_unit_test(gradients_scale_with_the_root),
        cmocka_unit_test(steps_change_every_attribute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
