/* test_nbest.c - the m best paths against all paths, on tiny random chains of every kind of graph;
 * on long and large ones, against Viterbi and against each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lattice/trial.h"

#define MAX_PATHS 4096 // BRUTE_LABELS to the power of BRUTE_LENGTH

/* ---- against all paths ----------------------------------------------------------------------- */

static int by_falling_score(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The scores of all allowed sequences, best first; returns how many. */
static size_t all_scores(const struct trial *trial, double *scores)
{
    uint16_t labels[BRUTE_LENGTH] = {0};
    size_t n = trial->chain.length, count = 0;
    for (;;) {
        double score = n ? brute_score(&trial->chain, labels) : 0;
        if (score > -INFINITY) {
            scores[count++] = score;
        }
        size_t i = 0;
        while (i < n && ++labels[i] == trial->plan.labels) {
            labels[i++] = 0;
        }
        if (i == n) {
            break;
        }
    }
    qsort(scores, count, sizeof *scores, by_falling_score);
    return count;
}

/* A sequence as a number, to detect duplicates. */
static size_t number_of(const struct trial *trial, const uint16_t *labels)
{
    size_t number = 0;
    for (size_t i = 0; i < trial->chain.length; i++) {
        assert_in_range(labels[i], 0, trial->plan.labels - 1);
        number = number * BRUTE_LABELS + labels[i];
    }
    return number;
}

static void check_nbest(struct trial *trial, size_t m, const double *right, size_t right_count)
{
    static uint16_t labels[(MAX_PATHS + 1) * BRUTE_LENGTH];
    static double scores[MAX_PATHS + 1];
    bool seen[MAX_PATHS] = {false};
    size_t n = trial->chain.length, count = 99, expected = m < right_count ? m : right_count;
    trellis_status status = tr_lattice_nbest(trial->lattice, trial->steps, m, labels, scores,
                                             &count, NULL);
    expect(trial, status == (right_count ? TRELLIS_OK : TRELLIS_DATA), "m %zu: status %d", m,
           status);
    expect(trial, count == expected, "m %zu: %zu paths, not %zu", m, count, expected);
    for (size_t k = 0; k < count; k++) {
        const uint16_t *path = labels + k * n;
        expect(trial, fabs(scores[k] - right[k]) <= slack(trial, right[k]),
               "m %zu: score %zu is %.9g, not %.9g", m, k, scores[k], right[k]);
        expect(trial, scores[k] == tr_lattice_path_score(trial->lattice, trial->steps, path),
               "m %zu: score %zu is not that of the path", m, k);
        expect(trial, k == 0 || scores[k] <= scores[k - 1], "m %zu: order at %zu", m, k);
        expect(trial, !seen[number_of(trial, path)], "m %zu: path %zu is there twice", m, k);
        seen[number_of(trial, path)] = true;
    }
}

/* The first few do not depend on how many were asked for, even where scores are equal. */
static void check_prefix(struct trial *trial, size_t m)
{
    uint16_t some[16 * BRUTE_LENGTH], more[16 * BRUTE_LENGTH];
    double some_scores[16], more_scores[16];
    size_t some_count, more_count;
    tr_lattice_nbest(trial->lattice, trial->steps, m, some, some_scores, &some_count, NULL);
    tr_lattice_nbest(trial->lattice, trial->steps, 16, more, more_scores, &more_count, NULL);
    expect(trial, some_count <= more_count, "fewer paths where more were asked for");
    for (size_t k = 0; k < some_count; k++) {
        expect(trial, some_scores[k] == more_scores[k], "m %zu and 16 differ at %zu", m, k);
        expect(trial,
               memcmp(some + k * trial->chain.length, more + k * trial->chain.length,
                      trial->chain.length * sizeof *some) == 0,
               "path %zu of m %zu and 16", k, m);
    }
}

static void check_kind(enum kind kind)
{
    static struct trial trial;
    static double right[MAX_PATHS];
    static const size_t m[] = {1, 2, 3, 5, 17, 300, MAX_PATHS + 1};
    for (unsigned seed = 1; seed <= 150; seed++) {
        make_trial(&trial, kind, seed);
        tr_steps_set(trial.steps, trial.weights);
        for (int restricted = 0; restricted < 2; restricted++) {
            fill_lattice(&trial, restricted);
            if (seed % 3 == 0) {
                normalise(&trial);
            }
            size_t count = all_scores(&trial, right);
            for (size_t k = 0; k < TR_COUNT(m); k++) {
                check_nbest(&trial, m[k], right, count);
            }
            check_prefix(&trial, 1 + seed % 5);
        }
        free_trial(&trial);
    }
}

TEST_EVERY_KIND(check_kind)

/* ---- long and large -------------------------------------------------------------------------- */

/* A first-order graph with a share of its steps listed. */
struct large {
    struct tr_gram *grams;
    float *weights;
    struct tr_graph *graph;
    struct tr_steps *steps;
    struct tr_lattice *lattice;
};

static void make_large(struct large *large, uint32_t labels, size_t one_in, size_t length,
                       enum tr_listing listing)
{
    struct tr_random random;
    struct tr_graph_plan plan = {.labels = labels, .order = 1};
    tr_random_seed(&random, labels);
    large->grams = tr_alloc((size_t)labels * labels, sizeof *large->grams);
    large->weights = tr_alloc((size_t)labels * labels, sizeof *large->weights);
    for (uint32_t a = 0; a < labels; a++) {
        for (uint32_t b = 0; b < labels; b++) {
            if (tr_random_below(&random, one_in) == 0) {
                large->weights[plan.gram_count] = (float)uniform(&random, -1, 3);
                large->grams[plan.gram_count++] = (struct tr_gram){
                    .length = 2, .label = {(uint16_t)a, (uint16_t)b}};
            }
        }
    }
    plan.grams = large->grams;
    assert_int_equal(tr_graph_create_listing(&plan, listing, &large->graph, NULL), TRELLIS_OK);
    assert_int_equal(tr_steps_create(large->graph, NULL, &large->steps, NULL), TRELLIS_OK);
    assert_int_equal(tr_lattice_create(large->graph, &large->lattice, NULL), TRELLIS_OK);
    tr_steps_set(large->steps, large->weights);
    assert_int_equal(tr_lattice_begin(large->lattice, length, NULL), TRELLIS_OK);
    for (size_t i = 0; i < length * large->graph->width; i++) {
        tr_lattice_nodes(large->lattice)[i] = (float)uniform(&random, -4, 4);
    }
}

static void free_large(struct large *large)
{
    tr_lattice_destroy(large->lattice);
    tr_steps_destroy(large->steps);
    tr_graph_destroy(large->graph);
    free(large->weights);
    free(large->grams);
}

/* The best is Viterbi's, the others are no better and all are different. */
static void check_large(struct large *large, size_t m)
{
    size_t n = large->lattice->length, count;
    uint16_t *labels = tr_alloc(m * n, sizeof *labels), *best = tr_alloc(n, sizeof *best);
    double *scores = tr_alloc(m, sizeof *scores), score;
    assert_int_equal(
        tr_lattice_nbest(large->lattice, large->steps, m, labels, scores, &count, NULL),
        TRELLIS_OK);
    assert_int_equal(count, m);
    assert_int_equal(tr_lattice_viterbi(large->lattice, large->steps, best, &score, NULL),
                     TRELLIS_OK);
    assert_true(scores[0] >= score);
    assert_true(scores[0] - score <= 1e-6 * fabs(score));
    for (size_t k = 0; k < m; k++) {
        assert_true(scores[k] ==
                    tr_lattice_path_score(large->lattice, large->steps, labels + k * n));
        assert_true(k == 0 || scores[k] <= scores[k - 1]);
        for (size_t j = 0; j < k; j++) {
            assert_int_not_equal(memcmp(labels + k * n, labels + j * n, n * sizeof *labels), 0);
        }
    }
    free(labels);
    free(best);
    free(scores);
}

static void long_sequence(void **state)
{
    struct large large;
    (void)state;
    make_large(&large, 5, 1, 100000, TR_LIST_ALL);
    check_large(&large, 5);
    free_large(&large);
}

/* The same steps, all listed or not, give the same paths. */
static void many_labels(void **state)
{
    enum { LABELS = 472, LENGTH = 60, M = 20 };
    static uint16_t labels[2][M * LENGTH];
    static double scores[2][M];
    struct large large;
    size_t count;
    (void)state;
    for (int k = 0; k < 2; k++) {
        make_large(&large, LABELS, 30, LENGTH, k ? TR_LIST_ALL : TR_LIST_FREE);
        assert_int_equal(large.graph->free_steps, k == 0);
        check_large(&large, M);
        assert_int_equal(
            tr_lattice_nbest(large.lattice, large.steps, M, labels[k], scores[k], &count, NULL),
            TRELLIS_OK);
        free_large(&large);
    }
    assert_memory_equal(labels[0], labels[1], sizeof labels[0]);
    assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
}

static void unusual_requests(void **state)
{
    struct large large;
    uint16_t labels[6];
    double scores[6];
    size_t count;
    (void)state;
    make_large(&large, 3, 1, 0, TR_LIST_ALL);
    /* nothing asked for; an empty sequence; one label; scores that are not numbers */
    assert_int_equal(tr_lattice_nbest(large.lattice, large.steps, 0, NULL, NULL, &count, NULL),
                     TRELLIS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(tr_lattice_nbest(large.lattice, large.steps, 2, labels, scores, &count, NULL),
                     TRELLIS_OK);
    assert_int_equal(count, 1);
    assert_true(scores[0] == 0);
    assert_int_equal(tr_lattice_begin(large.lattice, 1, NULL), TRELLIS_OK);
    tr_lattice_nodes(large.lattice)[1] = 2;
    assert_int_equal(tr_lattice_nbest(large.lattice, large.steps, 6, labels, scores, &count, NULL),
                     TRELLIS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(labels[0], 1);
    assert_int_equal(labels[1], 0);
    assert_int_equal(labels[2], 2);
    for (uint32_t c = 0; c < 3; c++) {
        tr_lattice_nodes(large.lattice)[c] = NAN;
    }
    assert_int_equal(tr_lattice_nbest(large.lattice, large.steps, 6, labels, scores, &count, NULL),
                     TRELLIS_DATA);
    assert_int_equal(count, 0);
    free_large(&large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TESTS_OF_EVERY_KIND,
        cmocka_unit_test(long_sequence),
        cmocka_unit_test(many_labels),
        cmocka_unit_test(unusual_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
