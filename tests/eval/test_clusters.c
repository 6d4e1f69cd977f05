/* test_clusters.c - states against labels: the best assignment against all permutations, the
 * figures against values worked out by hand and against their definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "base/random.h"
#include "eval/clusters.h"

enum { MAX_LABELS = 7 };

/* Adds `count` tokens with a label "gG" in a state "fF". */
static void add(trellis_evaluation *evaluation, unsigned f, unsigned g, unsigned count)
{
    char gold[16], predicted[16];
    snprintf(gold, sizeof gold, "g%u", g);
    snprintf(predicted, sizeof predicted, "f%u", f);
    trellis_text gold_text = tr_text(gold), found_text = tr_text(predicted);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(trellis_evaluation_add(evaluation, &gold_text, &found_text, 1, NULL),
                         TRELLIS_OK);
    }
}

/* The maximum number of matching tokens over all assignments of free labels to the states from `f`
 * on. */
static uint64_t brute(const struct tr_contingency *table, size_t f, unsigned taken)
{
    if (f == table->states) {
        return 0;
    }
    uint64_t best = brute(table, f + 1, taken); // left over
    for (size_t g = 0; g < table->labels; g++) {
        if (!(taken >> g & 1)) {
            uint64_t here = table->count[f * table->labels + g] +
                            brute(table, f + 1, taken | 1u << g);
            best = here > best ? here : best;
        }
    }
    return best;
}

static void check_assignment(const struct tr_contingency *table)
{
    size_t label_of[MAX_LABELS];
    uint64_t tokens, sum = 0;
    unsigned taken = 0, given = 0;
    assert_int_equal(tr_contingency_assign(table, label_of, &tokens, NULL), TRELLIS_OK);
    for (size_t f = 0; f < table->states; f++) {
        if (label_of[f] != SIZE_MAX) {
            assert_true(label_of[f] < table->labels);
            assert_false(taken >> label_of[f] & 1);
            taken |= 1u << label_of[f];
            given++;
            sum += table->count[f * table->labels + label_of[f]];
        }
    }
    assert_int_equal(given, table->states < table->labels ? table->states : table->labels);
    assert_int_equal(sum, tokens);
    assert_int_equal(tokens, brute(table, 0, 0));
}

static void test_assignment_is_the_best(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 7);
    for (int trial = 0; trial < 400; trial++) {
        trellis_evaluation *evaluation;
        struct tr_contingency table;
        unsigned states = 1 + (unsigned)tr_random_below(&random, MAX_LABELS);
        unsigned labels = 1 + (unsigned)tr_random_below(&random, MAX_LABELS);
        unsigned limit = trial % 3 ? 9 : 2; // small counts make ties
        assert_int_equal(trellis_evaluation_create(NULL, &evaluation, NULL), TRELLIS_OK);
        for (unsigned f = 0; f < states; f++) {
            for (unsigned g = 0; g < labels; g++) {
                add(evaluation, f, g, (unsigned)tr_random_below(&random, limit));
            }
        }
        assert_int_equal(tr_contingency_make(evaluation, &table, NULL), TRELLIS_OK);
        check_assignment(&table);
        tr_contingency_free(&table);
        trellis_evaluation_destroy(evaluation);
    }
}

/* States and labels that have names in common: token by token, pairs are counted where they
 * belong. */
static void test_counts_are_in_their_places(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 11);
    for (int trial = 0; trial < 200; trial++) {
        uint64_t counts[MAX_LABELS][MAX_LABELS] = {{0}}; // [state][label]
        trellis_evaluation *evaluation;
        struct tr_contingency table;
        assert_int_equal(trellis_evaluation_create(NULL, &evaluation, NULL), TRELLIS_OK);
        for (int i = 0; i < 30; i++) {
            unsigned f = (unsigned)tr_random_below(&random, MAX_LABELS);
            unsigned g = (unsigned)tr_random_below(&random, MAX_LABELS - 2) + 1;
            char names[2][2] = {{(char)('a' + g)}, {(char)('a' + f)}};
            trellis_text gold = tr_text(names[0]), predicted = tr_text(names[1]);
            assert_int_equal(trellis_evaluation_add(evaluation, &gold, &predicted, 1, NULL),
                             TRELLIS_OK);
            counts[f][g]++;
        }
        assert_int_equal(tr_contingency_make(evaluation, &table, NULL), TRELLIS_OK);
        for (size_t i = 0; i < table.states * table.labels; i++) {
            uint32_t f = table.state[i / table.labels], g = table.label[i % table.labels];
            int state_name = tr_intern_text(&evaluation->labels.names, f).data[0] - 'a';
            int label_name = tr_intern_text(&evaluation->labels.names, g).data[0] - 'a';
            assert_int_equal(table.count[i], counts[state_name][label_name]);
        }
        assert_int_equal(table.tokens, 30);
        tr_contingency_free(&table);
        trellis_evaluation_destroy(evaluation);
    }
}

static trellis_cluster_scores scores_of(const unsigned counts[3][3])
{
    trellis_evaluation *evaluation;
    trellis_cluster_scores scores = {.struct_size = sizeof scores};
    assert_int_equal(trellis_evaluation_create(NULL, &evaluation, NULL), TRELLIS_OK);
    for (unsigned f = 0; f < 3; f++) {
        for (unsigned g = 0; g < 3; g++) {
            add(evaluation, f, g, counts[f][g]);
        }
    }
    assert_int_equal(trellis_evaluation_clusters(evaluation, &scores, NULL), TRELLIS_OK);
    trellis_evaluation_destroy(evaluation);
    return scores;
}

static void wants(double value, double wanted)
{
    assert_true(fabs(value - wanted) < 1e-12);
}

static void test_perfect_states(void **state)
{
    (void)state;
    trellis_cluster_scores scores = scores_of(
        (const unsigned[3][3]){{0, 3, 0}, {0, 0, 5}, {2, 0, 0}});
    wants(scores.many_to_one, 1);
    wants(scores.one_to_one, 1);
    wants(scores.variation, 0);
    wants(scores.v_measure, 1);
}

static void test_independent_states(void **state)
{
    (void)state;
    /* Two states and two labels, all four pairs alike: nothing is known, each has one bit. */
    trellis_cluster_scores scores = scores_of((const unsigned[3][3]){{4, 4, 0}, {4, 4, 0}, {0}});
    assert_int_equal(scores.states, 2);
    assert_int_equal(scores.labels, 2);
    wants(scores.many_to_one, 0.5);
    wants(scores.one_to_one, 0.5);
    wants(scores.variation, 2);
    wants(scores.homogeneity, 0);
    wants(scores.completeness, 0);
    wants(scores.v_measure, 0);
}

static void test_worked_example(void **state)
{
    (void)state;
    /* f0: 4 g0; f1: 2 g0, 2 g1. Many-to-one: f0 is g0 and f1 is g0 (4 + 2); one-to-one: g0, g1 (4 +
     * 2). H(G) with 6 and 2 of 8; H(F) = 1; H(G|F) = 1/2 * 1; H(F|G) = 6/8 * H(4/6). */
    trellis_cluster_scores scores = scores_of((const unsigned[3][3]){{4, 0, 0}, {2, 2, 0}, {0}});
    double third = -(2.0 / 3 * log2(2.0 / 3) + 1.0 / 3 * log2(1.0 / 3));
    double labels = -(0.75 * log2(0.75) + 0.25 * log2(0.25));
    double h = 1 - 0.5 / labels, c = 1 - 0.75 * third;
    wants(scores.many_to_one, 0.75);
    wants(scores.one_to_one, 0.75);
    wants(scores.variation, 0.5 + 0.75 * third);
    wants(scores.homogeneity, h);
    wants(scores.completeness, c);
    wants(scores.v_measure, 2 * h * c / (h + c));
}

static void test_one_state_and_nothing(void **state)
{
    (void)state;
    trellis_cluster_scores scores = scores_of((const unsigned[3][3]){{3, 1, 0}, {0}, {0}});
    wants(scores.many_to_one, 0.75);
    wants(scores.one_to_one, 0.75);
    wants(scores.homogeneity, 0);
    wants(scores.completeness, 1);
    scores = scores_of((const unsigned[3][3]){{0}});
    assert_int_equal(scores.tokens, 0);
    wants(scores.many_to_one, 0);
    wants(scores.variation, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_in_their_places),
        cmocka_unit_test(test_assignment_is_the_best),
        cmocka_unit_test(test_perfect_states),
        cmocka_unit_test(test_independent_states),
        cmocka_unit_test(test_worked_example),
        cmocka_unit_test(test_one_state_and_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
