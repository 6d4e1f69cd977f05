/* test_brute.c - every kernel against all paths, on tiny random chains of every kind of graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lattice/trial.h"

/* ---- comparisons ----------------------------------------------------------------------------- */

static void check_viterbi(struct trial *trial)
{
    const struct brute_answer *answer = &trial->answer;
    uint16_t labels[BRUTE_LENGTH] = {0};
    double score;
    trellis_status status = tr_lattice_viterbi(trial->lattice, trial->steps, labels, &score, NULL);
    if (answer->best == -INFINITY) {
        expect(trial, status == TRELLIS_DATA, "Viterbi finds a path where there is none");
        return;
    }
    double tolerance = slack(trial, answer->best);
    expect(trial, status == TRELLIS_OK, "Viterbi fails");
    expect(trial, fabs(score - answer->best) <= tolerance, "best score %.9g, not %.9g", score,
           answer->best);
    expect(trial, fabs(score - brute_score(&trial->chain, labels)) <= slack(trial, score),
           "the best score is not that of the path");
    if (answer->best - answer->second > tolerance) {
        expect(trial, memcmp(labels, answer->labels, trial->chain.length * sizeof *labels) == 0,
               "not the best path");
    }
}

static void check_path_score(struct trial *trial)
{
    struct tr_random random;
    uint16_t labels[BRUTE_LENGTH];
    tr_random_seed(&random, trial->seed);
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < trial->chain.length; i++) {
            labels[i] = (uint16_t)tr_random_below(&random, trial->plan.labels);
        }
        double score = tr_lattice_path_score(trial->lattice, trial->steps, labels);
        double right = brute_score(&trial->chain, labels);
        right = trial->chain.length ? right : 0;
        expect(trial, score == right || fabs(score - right) <= slack(trial, right),
               "path score %.9g, not %.9g", score, right);
    }
}

static void check_marginals(struct trial *trial, double tolerance)
{
    const struct brute_answer *answer = &trial->answer;
    uint32_t labels = trial->plan.labels, width = trial->graph->width;
    const float *node = tr_lattice_node_marginals(trial->lattice);
    const float *edge = tr_lattice_edge_marginals(trial->lattice, trial->steps);
    uint16_t posterior[BRUTE_LENGTH];
    tr_lattice_posterior(trial->lattice, posterior);
    for (size_t i = 0; i < trial->chain.length; i++) {
        for (uint32_t c = 0; c < width; c++) {
            double right = c < labels ? answer->node[i][c] : 0;
            expect(trial, fabs((double)node[i * width + c] - right) <= tolerance,
                   "P(%u at %zu) is %.9g, not %.9g", c, i, (double)node[i * width + c], right);
            expect(trial, c >= labels || right <= answer->node[i][posterior[i]] + 2 * tolerance,
                   "posterior at %zu", i);
        }
        for (uint32_t c = 0; c < labels; c++) {
            for (uint32_t d = 0; d < width; d++) {
                double p = (double)edge[(i * labels + c) * width + d];
                double right = d < labels ? answer->edge[i][c][d] : 0;
                expect(trial, fabs(p - right) <= tolerance, "P(%u %u at %zu) is %.9g, not %.9g", c,
                       d, i, p, right);
            }
        }
    }
}

/* Twice with different scales, to check that sums accumulate and are cleared. */
static void check_counts(struct trial *trial, double tolerance)
{
    float expected[BRUTE_FEATURES] = {0};
    assert_true(tr_lattice_collect_steps(trial->lattice, trial->steps, 0.5));
    assert_true(tr_lattice_collect_steps(trial->lattice, trial->steps, 0.25));
    tr_lattice_flush_transition_counts(trial->lattice, trial->steps, expected);
    assert_true(tr_lattice_expect_steps(trial->lattice, trial->steps, -1.75, expected));
    for (size_t g = 0; trial->chain.length && g < trial->plan.gram_count; g++) {
        double right = -trial->answer.expected[g];
        expect(trial, fabs((double)expected[g] - right) <= 8 * tolerance,
               "E[feature %zu] is %.9g, not %.9g", g, -(double)expected[g], -right);
    }
}

static void check_sums(struct trial *trial, bool restricted)
{
    const struct brute_answer *answer = &trial->answer;
    bool reference = trial->lattice->use_reference;
    double log_z, right = trial->chain.length ? answer->log_z : 0;
    trellis_status status = tr_lattice_forward_backward(trial->lattice, trial->steps, &log_z, NULL);
    if (right == -INFINITY) {
        expect(trial, status == TRELLIS_DATA, "log Z where there is no path");
        expect(trial, !tr_lattice_node_marginals(trial->lattice),
               "marginals where there is no path");
        return;
    }
    expect(trial, status == TRELLIS_OK, "log Z fails");
    double tolerance = (reference ? 1e-9 : 1e-5) * (1 + fabs(right)) + slack(trial, right);
    double exact = (reference ? 1e-6 : 1e-5) + (trial->chain.local ? slack(trial, right) : 0);
    expect(trial, fabs(log_z - right) <= tolerance, "log Z is %.12g, not %.12g", log_z, right);
    if (trial->chain.local && !restricted && trial->plan.forbidden_count == 0) {
        expect(trial, fabs(log_z) <= tolerance, "all paths have exp(%.9g) together, not 1", log_z);
    }
    check_marginals(trial, exact);
    check_counts(trial, exact);
}

/* One configuration of the lattice: in double precision or not, restricted or not, locally
 * normalised or not. */
static void check_choice(struct trial *trial, bool reference, bool restricted, bool local)
{
    struct brute_chain whole = trial->chain;
    const struct tr_kernels *kernels;
    for (size_t k = 0; (kernels = tr_kernels_at(k)); k++) {
        trial->lattice->kernels = trial->steps->kernels = kernels;
        tr_steps_set(trial->steps, trial->weights);
        tr_lattice_use_reference(trial->lattice, reference);
        fill_lattice(trial, restricted);
        if (local) {
            normalise(trial);
        }
        if (k == 0) {
            brute_solve(&trial->chain, &trial->answer);
        }
        check_path_score(trial);
        check_viterbi(trial);
        check_sums(trial, restricted);
    }
    trial->chain = whole;
}

static void check_kind(enum kind kind)
{
    static struct trial trial;
    for (unsigned seed = 1; seed <= 150; seed++) {
        make_trial(&trial, kind, seed);
        for (int choice = 0; choice < 4; choice++) {
            check_choice(&trial, choice & 1, choice & 2, kind < PRUNED_1 && seed % 3 == 0);
        }
        free_trial(&trial);
    }
}

TEST_EVERY_KIND(check_kind)
/* With a threshold of 0 nothing is pruned. */
TEST_KIND(check_kind, pruned_1, PRUNED_1)
TEST_KIND(check_kind, pruned_2, PRUNED_2)
TEST_KIND(check_kind, pruned_3, PRUNED_3)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TESTS_OF_EVERY_KIND,
        cmocka_unit_test(pruned_1),
        cmocka_unit_test(pruned_2),
        cmocka_unit_test(pruned_3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
