/* test_part.c - parts of a corpus: they cover it and are disjoint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

#include "corpus/part.h"

enum { SEQUENCES = 103 };

/* Which of the sequences are taken, and how many. */
static size_t take(const char *text, uint64_t seed, bool taken[SEQUENCES])
{
    struct tr_corpus_parts parts = {0};
    trellis_error error = {0};
    size_t count = 0;
    assert_int_equal(tr_corpus_parts_parse(&parts, text, seed, &error), TRELLIS_OK);
    for (size_t i = 0; i < SEQUENCES; i++) {
        taken[i] = tr_corpus_parts_take(&parts);
        count += taken[i];
    }
    tr_corpus_parts_free(&parts);
    return count;
}

static void parts_are_disjoint_and_complete(void **state)
{
    (void)state;
    for (unsigned of = 1; of <= 12; of++) {
        unsigned times[SEQUENCES] = {0};
        for (unsigned k = 1; k <= of; k++) {
            bool taken[SEQUENCES], others[SEQUENCES];
            char text[16], without[16];
            snprintf(text, sizeof text, "%u/%u", k, of);
            snprintf(without, sizeof without, "!%u/%u", k, of);
            size_t count = take(text, 7, taken);
            assert_true(count == SEQUENCES / of || count == SEQUENCES / of + 1);
            assert_int_equal(take(without, 7, others), SEQUENCES - count);
            for (size_t i = 0; i < SEQUENCES; i++) {
                assert_true(taken[i] != others[i]);
                times[i] += taken[i];
            }
        }
        for (size_t i = 0; i < SEQUENCES; i++) {
            assert_int_equal(times[i], 1);
        }
    }
}

static void the_seed_selects(void **state)
{
    (void)state;
    bool a[SEQUENCES], b[SEQUENCES], c[SEQUENCES];
    take("1/5", 1, a);
    take("1/5", 1, b);
    take("1/5", 2, c);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, c, sizeof a);
}

/* A part of a part: a third of the four fifths that are left. */
static void parts_can_be_divided(void **state)
{
    (void)state;
    bool rest[SEQUENCES], third[SEQUENCES];
    size_t left = take("!2/5", 1, rest), count = take("!2/5,1/3", 1, third);
    assert_true(count == left / 3 || count == left / 3 + 1);
    for (size_t i = 0; i < SEQUENCES; i++) {
        assert_true(rest[i] || !third[i]);
    }
    assert_int_equal(take("", 1, rest), SEQUENCES);
}

static void other_text_is_an_error(void **state)
{
    (void)state;
    static const char *const texts[] = {"3", "0/4",  "5/4",          "/",    "1/",    "/3",
                                        "!", "-1/3", "1/1000000000", "1/3;", "1/3,,", "a/b"};
    for (size_t i = 0; i < TR_COUNT(texts); i++) {
        struct tr_corpus_parts parts = {0};
        trellis_error error = {0};
        if (tr_corpus_parts_parse(&parts, texts[i], 1, &error) != TRELLIS_OPTION) {
            fail_msg("'%s' is taken", texts[i]);
        }
        tr_corpus_parts_free(&parts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_disjoint_and_complete),
        cmocka_unit_test(the_seed_selects),
        cmocka_unit_test(parts_can_be_divided),
        cmocka_unit_test(other_text_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
