/* test_sample.c - drawn label sequences and the entropy against all sequences, on tiny random
 * chains of every kind of graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lattice/trial.h"

#define MAX_PATHS 4096 // BRUTE_LABELS to the power of BRUTE_LENGTH
#define DRAWN 3000

/* The labels of a sequence from its number; false beyond the last. */
static bool labels_of(const struct trial *trial, size_t number, uint16_t *labels)
{
    for (size_t i = 0; i < trial->chain.length; i++) {
        labels[i] = (uint16_t)(number % trial->plan.labels);
        number /= trial->plan.labels;
    }
    return number == 0;
}

static size_t number_of(const struct trial *trial, const uint16_t *labels)
{
    size_t number = 0;
    for (size_t i = trial->chain.length; i-- > 0;) {
        assert_in_range(labels[i], 0, trial->plan.labels - 1);
        number = number * trial->plan.labels + labels[i];
    }
    return number;
}

/* P(z) of all sequences; how many there are, 0 where all are forbidden. */
static size_t all_probabilities(const struct trial *trial, double *probability)
{
    uint16_t labels[BRUTE_LENGTH];
    double largest = -INFINITY, sum = 0;
    size_t count = 0;
    for (; labels_of(trial, count, labels); count++) {
        probability[count] = trial->chain.length ? brute_score(&trial->chain, labels) : 0;
        largest = fmax(largest, probability[count]);
    }
    for (size_t k = 0; k < count; k++) {
        probability[k] = exp(probability[k] - largest);
        sum += probability[k];
    }
    for (size_t k = 0; k < count; k++) {
        probability[k] /= sum;
    }
    return largest > -INFINITY ? count : 0;
}

static void check_entropy(struct trial *trial, const double *probability, size_t count)
{
    double entropy, exact = 0;
    trellis_status status = tr_lattice_entropy(trial->lattice, trial->steps, &entropy, NULL);
    expect(trial, status == (count ? TRELLIS_OK : TRELLIS_DATA), "entropy: status %d", status);
    for (size_t k = 0; k < count; k++) {
        exact -= probability[k] > 0 ? probability[k] * log(probability[k]) : 0;
    }
    expect(trial, !count || fabs(entropy - exact) <= 1e-9 + 40 * slack(trial, 0),
           "the entropy is %.12g, not %.12g", entropy, exact);
}

/* Each sequence is drawn as often as it is probable, up to six standard deviations. */
static void check_samples(struct trial *trial, const double *probability, size_t count)
{
    static uint16_t labels[DRAWN * BRUTE_LENGTH], again[DRAWN * BRUTE_LENGTH];
    size_t times[MAX_PATHS] = {0}, n = trial->chain.length;
    struct tr_random random;
    tr_random_seed(&random, trial->seed);
    trellis_status status = tr_lattice_sample(trial->lattice, trial->steps, &random, DRAWN, labels,
                                              NULL);
    expect(trial, status == (count ? TRELLIS_OK : TRELLIS_DATA), "samples: status %d", status);
    for (size_t k = 0; count && k < DRAWN; k++) {
        times[number_of(trial, labels + k * n)]++;
    }
    for (size_t k = 0; k < count; k++) {
        double p = probability[k], sigma = sqrt(DRAWN * p * (1 - p));
        expect(trial, fabs((double)times[k] - DRAWN * p) <= 6 * sigma + 6 * (p > 0) + 0.01,
               "sequence %zu was drawn %zu times, not %.1f", k, times[k], DRAWN * p);
    }
    tr_random_seed(&random, trial->seed);
    tr_lattice_sample(trial->lattice, trial->steps, &random, DRAWN, again, NULL);
    expect(trial, !count || memcmp(labels, again, DRAWN * n * sizeof *labels) == 0,
           "other samples by the same random numbers");
}

static void check_kind(enum kind kind)
{
    static struct trial trial;
    static double probability[MAX_PATHS];
    for (unsigned seed = 1; seed <= 60; seed++) {
        make_trial(&trial, kind, seed);
        tr_steps_set(trial.steps, trial.weights);
        for (int restricted = 0; restricted < 2; restricted++) {
            fill_lattice(&trial, restricted);
            if (kind < PRUNED_1 && seed % 3 == 0) {
                normalise(&trial);
            }
            size_t count = all_probabilities(&trial, probability);
            check_entropy(&trial, probability, count);
            check_samples(&trial, probability, count);
        }
        free_trial(&trial);
    }
}

TEST_EVERY_KIND(check_kind)
TEST_KIND(check_kind, pruned_1, PRUNED_1)
TEST_KIND(check_kind, pruned_2, PRUNED_2)
TEST_KIND(check_kind, pruned_3, PRUNED_3)

/* Both leave what forward and backward have found as it was. */
static void leaves_marginals(void **state)
{
    static struct trial trial;
    (void)state;
    size_t checked = 0;
    for (unsigned seed = 1; seed <= 20; seed++) {
        make_trial(&trial, seed % KINDS, seed);
        tr_steps_set(trial.steps, trial.weights);
        fill_lattice(&trial, false);
        struct tr_random random;
        uint16_t labels[BRUTE_LENGTH];
        double log_z, entropy;
        float before[BRUTE_LENGTH * 64];
        size_t size = trial.chain.length * trial.graph->width * sizeof *before;
        assert_true(size <= sizeof before);
        tr_random_seed(&random, 1);
        if (!tr_lattice_forward_backward(trial.lattice, trial.steps, &log_z, NULL) && size) {
            memcpy(before, tr_lattice_node_marginals(trial.lattice), size);
            tr_lattice_sample(trial.lattice, trial.steps, &random, 1, labels, NULL);
            tr_lattice_entropy(trial.lattice, trial.steps, &entropy, NULL);
            assert_memory_equal(before, tr_lattice_node_marginals(trial.lattice), size);
            checked++;
        }
        free_trial(&trial);
    }
    assert_true(checked > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TESTS_OF_EVERY_KIND, cmocka_unit_test(pruned_1),
                                       cmocka_unit_test(pruned_2), cmocka_unit_test(pruned_3),
                                       cmocka_unit_test(leaves_marginals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
