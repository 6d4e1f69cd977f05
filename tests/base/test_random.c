/* test_random.c - pinned values, because a seed must always give the same result; and
 * uniformity. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"

/* The reference values of both generators, as their authors' programs print them. */
static void matches_the_reference_values(void **state)
{
    (void)state;
    static const uint64_t splitmix[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f,
                                        0xf88bb8a8724c81ec};
    static const uint64_t xoshiro[] = {11520,
                                       0,
                                       1509978240,
                                       1215971899390074240,
                                       1216172134540287360,
                                       607988272756665600,
                                       16172922978634559625u,
                                       8476171486693032832,
                                       10595114339597558777u,
                                       2904607092377533576};
    struct tr_random random;
    tr_random_seed(&random, 0);
    assert_memory_equal(random.state, splitmix, sizeof splitmix);
    random = (struct tr_random){{1, 2, 3, 4}};
    for (size_t i = 0; i < TR_COUNT(xoshiro); i++) {
        assert_true(tr_random_bits(&random) == xoshiro[i]);
    }
}

static void seed_one_is_pinned(void **state)
{
    (void)state;
    static const uint64_t bits[] = {0xb3f2af6d0fc710c5, 0x853b559647364cea, 0x92f89756082a4514,
                                    0x642e1c7bc266a3a7, 0xb27a48e29a233673, 0x24c123126ffda722,
                                    0x123004ef8df510e6, 0x61954dcc47b1e89d};
    static const uint64_t dice[] = {4, 3, 3, 2, 4, 0, 0, 2, 5, 3, 5, 5, 5, 4, 3, 5, 0, 2, 0, 0};
    static const double reals[] = {0.7029218331588505, 0.5204366199388569, 0.5741057000197225};
    static const uint32_t shuffled[] = {3, 6, 1, 5, 0, 9, 2, 8, 4, 7};
    struct tr_random random;
    tr_random_seed(&random, 1);
    for (size_t i = 0; i < TR_COUNT(bits); i++) {
        assert_true(tr_random_bits(&random) == bits[i]);
    }
    tr_random_seed(&random, 1);
    for (size_t i = 0; i < TR_COUNT(dice); i++) {
        assert_true(tr_random_below(&random, 6) == dice[i]);
    }
    tr_random_seed(&random, 1);
    for (size_t i = 0; i < TR_COUNT(reals); i++) {
        assert_true(tr_random_real(&random) == reals[i]);
    }
    uint32_t order[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    tr_random_seed(&random, 1);
    tr_random_shuffle(&random, order, 10);
    assert_memory_equal(order, shuffled, sizeof order);
}

static void seeds_differ(void **state)
{
    (void)state;
    struct tr_random a, b;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        tr_random_seed(&a, seed);
        tr_random_seed(&b, seed + 1);
        assert_true(tr_random_bits(&a) != tr_random_bits(&b));
    }
    tr_random_seed(&a, UINT64_MAX);
    assert_true(a.state[0] | a.state[1] | a.state[2] | a.state[3]); // all 0 would stay 0
}

/* Within 6 standard deviations of the expectation. */
static void expect_uniform(const size_t *counts, size_t cells, double draws)
{
    double expected = draws / (double)cells, chi = 0;
    for (size_t i = 0; i < cells; i++) {
        chi += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    }
    assert_true(fabs(chi - (double)(cells - 1)) < 6 * sqrt(2.0 * (double)(cells - 1)));
}

enum { DRAWS = 200000 };

static void reals_are_uniform(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 42);
    size_t counts[100] = {0};
    double sum = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        double x = tr_random_real(&random);
        assert_true(x >= 0 && x < 1);
        counts[(size_t)(x * 100)]++;
        sum += x;
    }
    assert_true(fabs(sum / DRAWS - 0.5) < 0.005);
    expect_uniform(counts, 100, DRAWS);
}

static void whole_numbers_are_uniform(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 42);
    for (uint64_t n = 1; n < 40; n += 3) {
        size_t counts[40] = {0};
        for (size_t i = 0; i < DRAWS; i++) {
            uint64_t x = tr_random_below(&random, n);
            assert_true(x < n);
            counts[x]++;
        }
        if (n > 1) {
            expect_uniform(counts, n, DRAWS);
        }
    }
    const uint64_t large = (uint64_t)3 << 62; // a remainder would favour the lower third
    size_t upper = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        uint64_t x = tr_random_below(&random, large);
        assert_true(x < large);
        upper += x >= (uint64_t)1 << 62;
    }
    assert_true(fabs((double)upper / DRAWS - 2.0 / 3) < 0.01);
}

static void shuffles_are_permutations(void **state)
{
    (void)state;
    enum { MAX_SIZE = 2000 };
    struct tr_random random;
    tr_random_seed(&random, 7);
    for (uint32_t n = 0; n < MAX_SIZE; n = n * 2 + 1) {
        uint32_t order[MAX_SIZE];
        char seen[MAX_SIZE] = {0};
        size_t moved = 0;
        for (uint32_t i = 0; i < n; i++) {
            order[i] = i;
        }
        tr_random_shuffle(&random, order, n);
        for (uint32_t i = 0; i < n; i++) {
            assert_true(order[i] < n);
            assert_int_equal(seen[order[i]]++, 0);
            moved += order[i] != i;
        }
        assert_true(n < 100 || moved > n * 9 / 10);
    }
}

/* All 24 orders of four, equally often. */
static void shuffles_are_fair(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 7);
    size_t counts[256] = {0}, orders[24], found = 0;
    for (size_t i = 0; i < 48000; i++) {
        uint32_t order[4] = {0, 1, 2, 3};
        tr_random_shuffle(&random, order, 4);
        counts[order[0] * 64 + order[1] * 16 + order[2] * 4 + order[3]]++;
    }
    for (size_t i = 0; i < 256; i++) {
        if (counts[i]) {
            assert_true(found < 24);
            orders[found++] = counts[i];
        }
    }
    assert_int_equal(found, 24);
    expect_uniform(orders, 24, 48000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_the_reference_values),
        cmocka_unit_test(seed_one_is_pinned),
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(reals_are_uniform),
        cmocka_unit_test(whole_numbers_are_uniform),
        cmocka_unit_test(shuffles_are_permutations),
        cmocka_unit_test(shuffles_are_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
