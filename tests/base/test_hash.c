/* test_hash.c - keys: pinned, because model files hold them; and well spread. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/text.h"

static void expect_key(struct tr_key key, uint64_t low, uint64_t high)
{
    assert_true(key.low == low && key.high == high);
}

/* XXH3 is specified; the mix is ours and was worked out by hand with big integers. */
static void keys_never_change(void **state)
{
    (void)state;
    expect_key(tr_hash(TR_TEXT("")), 0x6001c324468d497f, 0x99aa06d3014798d8);
    expect_key(tr_hash((trellis_text){NULL, 0}), 0x6001c324468d497f, 0x99aa06d3014798d8);
    expect_key(tr_hash(TR_TEXT("the")), 0xcb1283631cf33d7d, 0x51608b049bbdaeb3);
    assert_true(tr_hash64("", 0) == 0x2d06800538d394c2);
    struct tr_key a = {0x0123456789abcdef, 0xfedcba9876543210};
    struct tr_key b = {0x1111111122222222, 0x3333333344444444};
    expect_key(tr_mix(a, b), 0x4671137d37606597, 0x3a235c88537f5ee3);
}

static void order_and_grouping_matter(void **state)
{
    (void)state;
    struct tr_key a = tr_hash(TR_TEXT("a")), b = tr_hash(TR_TEXT("b")), c = tr_hash(TR_TEXT("c"));
    struct tr_key zero = {0, 0}, nothing = tr_hash(TR_TEXT(""));
    assert_true(tr_mix(a, b).low != tr_mix(b, a).low);
    assert_true(tr_mix(a, b).high != tr_mix(b, a).high);
    assert_true(tr_mix(tr_mix(a, b), c).low != tr_mix(a, tr_mix(b, c)).low);
    assert_true(tr_mix(tr_mix(a, b), c).low != tr_mix(tr_mix(a, c), b).low);
    assert_true(tr_mix(a, a).low != a.low && tr_mix(a, a).low != 0);
    const struct tr_key neutral[] = {zero, nothing};
    for (size_t i = 0; i < 2; i++) {
        assert_true(tr_mix(a, neutral[i]).low != a.low);
        assert_true(tr_mix(neutral[i], a).low != a.low);
        assert_true(tr_mix(a, neutral[i]).high != a.high);
        assert_true(tr_mix(neutral[i], a).high != a.high);
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

enum { SIDE = 1000, KEYS = SIDE * SIDE, CELLS = 1 << 12 };

/* No duplicates, every bit set half the time, and the low and the high bits fill tables evenly. */
static void expect_spread(uint64_t *keys)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        size_t set = 0;
        for (size_t i = 0; i < KEYS; i++) {
            set += keys[i] >> bit & 1;
        }
        assert_true(fabs((double)set / KEYS - 0.5) < 0.005); // ten standard deviations
    }
    for (unsigned shift = 0; shift <= 52; shift += 13) {
        static size_t filled[CELLS];
        memset(filled, 0, sizeof filled);
        for (size_t i = 0; i < KEYS; i++) {
            filled[keys[i] >> shift & (CELLS - 1)]++;
        }
        double expected = (double)KEYS / CELLS, chi = 0;
        for (size_t i = 0; i < CELLS; i++) {
            chi += ((double)filled[i] - expected) * ((double)filled[i] - expected) / expected;
        }
        assert_true(fabs(chi - CELLS) < 8 * sqrt(2.0 * CELLS));
    }
    qsort(keys, KEYS, sizeof *keys, by_value);
    for (size_t i = 1; i < KEYS; i++) {
        assert_true(keys[i] != keys[i - 1]);
    }
}

static void a_million_mixed_keys_are_distinct(void **state)
{
    (void)state;
    uint64_t *low = tr_alloc(KEYS, sizeof *low), *high = tr_alloc(KEYS, sizeof *high);
    struct tr_key *piece = tr_alloc(SIDE, sizeof *piece);
    for (size_t i = 0; i < SIDE; i++) {
        char text[20];
        snprintf(text, sizeof text, "w%zu", i);
        piece[i] = tr_hash(tr_text(text));
    }
    for (size_t i = 0; i < KEYS; i++) {
        struct tr_key key = tr_mix(piece[i / SIDE], piece[i % SIDE]);
        low[i] = key.low;
        high[i] = key.high;
    }
    expect_spread(low);
    expect_spread(high);
    free(piece);
    free(high);
    free(low);
}

/* Mostly hashes are mixed, but also template numbers: small numbers must not collide. */
static void small_numbers_do_not_collide(void **state)
{
    (void)state;
    enum { SMALL = 300 };
    uint64_t *low = tr_alloc(SMALL * SMALL, sizeof *low);
    for (uint64_t i = 0; i < SMALL * SMALL; i++) {
        struct tr_key a = {i / SMALL, i / SMALL}, b = {i % SMALL, i % SMALL};
        low[i] = tr_mix(a, b).low;
    }
    qsort(low, SMALL * SMALL, sizeof *low, by_value);
    for (size_t i = 1; i < SMALL * SMALL; i++) {
        assert_true(low[i] != low[i - 1]);
    }
    free(low);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_never_change),
        cmocka_unit_test(order_and_grouping_matter),
        cmocka_unit_test(a_million_mixed_keys_are_distinct),
        cmocka_unit_test(small_numbers_do_not_collide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
