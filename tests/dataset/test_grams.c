/* test_grams.c - the label grams of small corpora, worked out by hand, and of random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "dataset/dataset.h"

static const struct tr_step_choice between = {.between = true}, start = {.start = true},
                                   end = {.end = true}, nothing = {0},
                                   from_start = {.between = true, .start = true},
                                   to_end = {.between = true, .end = true},
                                   everything = {true, true, true, false},
                                   priors = {true, true, true, true};

/* A corpus of labels alone: one letter each, sequences separated by blanks. */
static struct tr_dataset corpus(const char *letters, uint32_t labels)
{
    struct tr_dataset dataset = {.label_count = labels};
    assert_true(tr_push(&dataset.sequence, 0));
    for (const char *at = letters; *at; at++) {
        if (*at != ' ') {
            assert_true(tr_push(&dataset.gold, (uint16_t)(*at - 'a')));
            dataset.tokens++;
        }
        if (at[1] == ' ' || at[1] == '\0') {
            assert_true(tr_push(&dataset.sequence, (uint32_t)dataset.tokens));
            dataset.sequences++;
        }
    }
    return dataset;
}

static struct tr_gram *grams_of(const struct tr_dataset *dataset, const struct tr_graph_plan *plan,
                                struct tr_step_choice choice, uint32_t all_up_to, size_t *count)
{
    struct tr_gram *grams;
    trellis_error error = {0};
    if (tr_dataset_grams(dataset, plan, choice, all_up_to, NULL, &grams, count, &error)) {
        fail_msg("%s", error.message);
    }
    assert_non_null(grams);
    return grams;
}

/* Grams as letters, ^ for the start and $ for the end, in their order. */
static void expect_plan(const char *letters, const struct tr_graph_plan *plan,
                        struct tr_step_choice choice, uint32_t all_up_to, const char *expected)
{
    const uint32_t labels = plan->labels;
    struct tr_dataset dataset = corpus(letters, labels);
    size_t count;
    struct tr_gram *grams = grams_of(&dataset, plan, choice, all_up_to, &count);
    struct tr_buffer shown = {0};
    for (size_t i = 0; i < count; i++) {
        tr_buffer_string(&shown, i ? " " : "");
        for (uint8_t k = 0; k < grams[i].length; k++) {
            uint16_t label = grams[i].label[k];
            assert_true(label <= labels + 1);
            tr_buffer_char(&shown, (char)(label == labels       ? '^'
                                          : label == labels + 1 ? '$'
                                                                : 'a' + label));
        }
        for (uint32_t k = grams[i].length; k <= TR_MAX_ORDER; k++) {
            assert_int_equal(grams[i].label[k], 0);
        }
    }
    tr_buffer_char(&shown, '\0');
    assert_string_equal(shown.data, expected);
    tr_buffer_free(&shown);
    free(grams);
    tr_dataset_free(&dataset);
}

static void expect_grams(const char *letters, uint32_t labels, uint32_t order,
                         struct tr_step_choice choice, uint32_t all_up_to, const char *expected)
{
    struct tr_graph_plan plan = {.labels = labels, .order = order};
    expect_plan(letters, &plan, choice, all_up_to, expected);
}

/* Runs of one label and what follows, up to `cap` labels long without it. */
static void expect_counted(const char *letters, uint32_t labels, uint32_t cap,
                           struct tr_step_choice choice, uint32_t all_up_to, const char *expected)
{
    struct tr_graph_plan plan = {.labels = labels, .order = 1, .count_cap = cap};
    expect_plan(letters, &plan, choice, all_up_to, expected);
}

static void first_order(void **state)
{
    (void)state;
    expect_grams("ab bba", 2, 1, between, 0, "ab ba bb");
    expect_grams("ab bba", 2, 1, from_start, 0, "ab ba bb ^a ^b");
    expect_grams("ab bba", 2, 1, to_end, 0, "ab a$ ba bb b$");
    expect_grams("ab bba", 2, 1, everything, 0, "ab a$ ba bb b$ ^a ^b");
    expect_grams("ab bba", 2, 1, start, 0, "^a ^b");
    expect_grams("ab bba", 2, 1, end, 0, "a$ b$");
    expect_grams("ab bba", 2, 1, nothing, 0, "");
    expect_grams("c ab", 3, 1, everything, 0, "ab b$ c$ ^a ^c");
    expect_grams("c ab", 4, 1, priors, 0, "a b c d ab a$ b$ c$ d$ ^a ^b ^c ^d");
}

static void second_order(void **state)
{
    (void)state;
    expect_grams("ab bba", 2, 2, between, 0, "ab ba bb bba");
    expect_grams("ab bba", 2, 2, from_start, 0, "ab ba bb ^a ^b bba ^ab ^bb");
    expect_grams("ab bba", 2, 2, to_end, 0, "ab a$ ba bb b$ ab$ ba$ bba");
    expect_grams("ab bba", 2, 2, everything, 0, "ab a$ ba bb b$ ^a ^b ab$ ba$ bba ^ab ^bb");
}

static void third_order(void **state)
{
    (void)state;
    expect_grams("ab bba", 2, 3, between, 0, "ab ba bb bba");
    expect_grams("ab bba", 2, 3, everything, 0,
                 "ab a$ ba bb b$ ^a ^b ab$ ba$ bba ^ab ^bb bba$ ^ab$ ^bba");
    expect_grams("aabb", 2, 3, between, 0, "aa ab bb aab abb aabb");
}

static void sequences_of_one(void **state)
{
    (void)state;
    expect_grams("a", 1, 1, everything, 0, "a$ ^a");
    expect_grams("a", 1, 2, everything, 0, "a$ ^a ^a$");
    expect_grams("a", 1, 8, everything, 0, "a$ ^a ^a$");
    expect_grams("a", 1, 1, between, 0, "");
}

static void order_zero_has_none(void **state)
{
    (void)state;
    expect_grams("ab bba", 2, 0, everything, 0, "");
    expect_grams("ab bba", 2, 0, everything, 2, "");
}

static void no_sequences_have_none(void **state)
{
    (void)state;
    expect_grams("", 0, 2, everything, 0, "");
    expect_grams("", 2, 1, everything, 2, "aa ab a$ ba bb b$ ^a ^b");
}

/* Transitions that do not occur are included; longer grams only where they occur. */
static void all_steps(void **state)
{
    (void)state;
    expect_grams("ab", 2, 1, between, 2, "aa ab ba bb");
    expect_grams("ab", 2, 1, from_start, 2, "aa ab ba bb ^a ^b");
    expect_grams("ab", 2, 1, to_end, 2, "aa ab a$ ba bb b$");
    expect_grams("ab", 2, 1, everything, 2, "aa ab a$ ba bb b$ ^a ^b");
    expect_grams("ab", 2, 1, start, 2, "^a ^b");
    expect_grams("ab", 2, 1, nothing, 2, "");
    expect_grams("ab", 2, 2, everything, 2, "aa ab a$ ba bb b$ ^a ^b ab$ ^ab");
    expect_grams("abc", 3, 2, between, 2, "aa ab ac ba bb bc ca cb cc abc");
    expect_grams("", 2, 2, everything, 3,
                 "aa ab a$ ba bb b$ ^a ^b "
                 "aaa aab aa$ aba abb ab$ baa bab ba$ bba bbb bb$ ^aa ^ab ^a$ ^ba ^bb ^b$");
    expect_grams("", 1, 2, priors, 3, "a aa a$ ^a aaa aa$ ^aa ^a$");
}

static void counted_states(void **state)
{
    (void)state;
    expect_counted("aaab", 2, 2, between, 0, "aa ab aaa aab");
    expect_counted("aaab", 2, 3, between, 0, "aa ab aaa aab aaab");
    expect_counted("aaab", 2, 8, between, 0, "aa ab aaa aab aaab");
    expect_counted("abab", 2, 3, between, 0, "ab ba");
    expect_counted("baab", 2, 3, between, 0, "aa ab ba aab");
    expect_counted("aaab", 2, 2, everything, 0, "aa ab b$ ^a aaa aab");
    expect_counted("abb", 2, 2, to_end, 0, "ab bb b$ bb$");
    expect_counted("abb", 2, 3, everything, 2, "aa ab a$ ba bb b$ ^a ^b bb$");
}

/* More distinct grams than are gathered before duplicates are dropped (65,536), each many times. */
static void many_labels(void **state)
{
    (void)state;
    enum { LABELS = 400, TOKENS = 400000 };
    static bool seen[LABELS][LABELS];
    struct tr_random random;
    tr_random_seed(&random, 17);
    struct tr_dataset dataset = {.label_count = LABELS, .tokens = TOKENS, .sequences = 1};
    assert_true(tr_push(&dataset.sequence, 0) && tr_push(&dataset.sequence, TOKENS));
    size_t expected = 0;
    for (size_t i = 0; i < TOKENS; i++) {
        uint16_t label = (uint16_t)tr_random_below(&random, LABELS);
        assert_true(tr_push(&dataset.gold, label));
        if (i > 0 && !seen[dataset.gold.at[i - 1]][label]) {
            seen[dataset.gold.at[i - 1]][label] = true;
            expected++;
        }
    }
    assert_true(expected > 2 * 65536);
    size_t count;
    struct tr_graph_plan plan = {.labels = LABELS, .order = 1};
    struct tr_gram *grams = grams_of(&dataset, &plan, between, 0, &count);
    assert_int_equal(count, expected);
    for (size_t i = 0; i < count; i++) {
        uint16_t a = grams[i].label[0], b = grams[i].label[1];
        assert_int_equal(grams[i].length, 2);
        assert_true(seen[a][b]);
        assert_true(i == 0 || grams[i - 1].label[0] < a ||
                    (grams[i - 1].label[0] == a && grams[i - 1].label[1] < b));
    }
    free(grams);
    tr_dataset_free(&dataset);
}

/* The highest label numbers, as long grams as fit. */
static void large_label_numbers(void **state)
{
    (void)state;
    struct tr_dataset dataset = {.label_count = TR_MAX_LABELS, .tokens = 3, .sequences = 1};
    assert_true(tr_push(&dataset.sequence, 0) && tr_push(&dataset.sequence, 3));
    for (uint16_t i = 0; i < 3; i++) {
        assert_true(tr_push(&dataset.gold, (uint16_t)(TR_MAX_LABELS - 1 - i)));
    }
    size_t count;
    struct tr_graph_plan plan = {.labels = TR_MAX_LABELS, .order = 4};
    struct tr_gram *grams = grams_of(&dataset, &plan, everything, 0, &count);
    assert_int_equal(count, 4 + 3 + 2 + 1); // of the five ^ 59999 59998 59997 $
    static const uint16_t longest[] = {60000, 59999, 59998, 59997, 60001};
    assert_int_equal(grams[count - 1].length, 5);
    assert_memory_equal(grams[count - 1].label, longest, sizeof longest);
    free(grams);
    trellis_error error = {0};
    grams = (struct tr_gram *)(uintptr_t)1;
    plan.order = 8;
    assert_int_equal(
        tr_dataset_grams(&dataset, &plan, everything, false, NULL, &grams, &count, &error),
        TRELLIS_LIMIT);
    assert_null(grams);
    assert_int_equal(count, 0);
    assert_non_null(strstr(error.message, "order 8"));
    tr_dataset_free(&dataset);
}

static void frequent_grams(void **state)
{
    (void)state;
    struct tr_dataset dataset = corpus("ab bba abb", 2); // ab twice, bb twice, ba once
    struct tr_graph_plan plan = {.labels = 2, .order = 1};
    size_t count;
    struct tr_gram *grams = grams_of(&dataset, &plan, everything, 2, &count);
    trellis_error error = {0};
    assert_int_equal(tr_dataset_frequent_grams(&dataset, 1.5, grams, &count, &error), TRELLIS_OK);
    static const uint16_t expected[][2] = {{0, 1}, {1, 1}, {1, 3}, {2, 0}}; // ab bb b$ ^a
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(grams[i].length, 2);
        assert_memory_equal(grams[i].label, expected[i], sizeof expected[i]);
    }
    free(grams);
    tr_dataset_free(&dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_order),         cmocka_unit_test(second_order),
        cmocka_unit_test(third_order),         cmocka_unit_test(sequences_of_one),
        cmocka_unit_test(order_zero_has_none), cmocka_unit_test(no_sequences_have_none),
        cmocka_unit_test(all_steps),           cmocka_unit_test(counted_states),
        cmocka_unit_test(many_labels),         cmocka_unit_test(large_label_numbers),
        cmocka_unit_test(frequent_grams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
