/* trial.h - tiny random chains of every kind of graph, for tests against all paths.
 *
 * To be included after cmocka.h.
 */
#ifndef TRELLIS_TESTS_TRIAL_H
#define TRELLIS_TESTS_TRIAL_H

#include "base/random.h"
#include "lattice/lattice_internal.h"
#include "support/brute.h"

#include <stdio.h>
#include <string.h>

enum kind {
    ORDER_0,
    ORDER_1,
    FREE_STEPS,
    ORDER_2,
    ORDER_3,
    OBSERVED_2,
    OBSERVED_3,
    COUNTED,
    PRUNED_1,
    PRUNED_2,
    PRUNED_3,
    KINDS
};

static const char *const kind_name[KINDS] = {"order 0",  "order 1",    "free steps", "order 2",
                                             "order 3",  "observed 2", "observed 3", "counted",
                                             "pruned 1", "pruned 2",   "pruned 3"};

/* A test for every kind that lists its steps, which calls check(kind); TESTS_OF_EVERY_KIND lists
 * them for cmocka. */
#define TEST_KIND(check, name, kind)                                                               \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        check(kind);                                                                               \
    }
#define TEST_EVERY_KIND(check)                                                                     \
    TEST_KIND(check, order_0, ORDER_0)                                                             \
    TEST_KIND(check, order_1, ORDER_1)                                                             \
    TEST_KIND(check, free_steps, FREE_STEPS)                                                       \
    TEST_KIND(check, order_2, ORDER_2)                                                             \
    TEST_KIND(check, order_3, ORDER_3)                                                             \
    TEST_KIND(check, observed_2, OBSERVED_2)                                                       \
    TEST_KIND(check, observed_3, OBSERVED_3)                                                       \
    TEST_KIND(check, counted, COUNTED)
#define TESTS_OF_EVERY_KIND                                                                        \
    cmocka_unit_test(order_0), cmocka_unit_test(order_1), cmocka_unit_test(free_steps),            \
        cmocka_unit_test(order_2), cmocka_unit_test(order_3), cmocka_unit_test(observed_2),        \
        cmocka_unit_test(observed_3), cmocka_unit_test(counted)

/* One random chain and everything it is made of. */
struct trial {
    enum kind kind;
    unsigned seed;
    struct tr_gram grams[BRUTE_FEATURES];
    uint16_t forbidden[32][2];
    struct tr_graph_plan plan;
    float weights[BRUTE_FEATURES];
    struct brute_chain chain;
    bool with_edges;
    struct brute_answer answer;

    struct tr_graph *graph;
    struct tr_steps *steps;
    struct tr_lattice *lattice;
};

#define expect(trial, condition, ...)                                                              \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("%s, seed %u, kernels %s%s: ", kind_name[(trial)->kind], (trial)->seed,    \
                        (trial)->lattice->kernels->name,                                           \
                        (trial)->lattice->use_reference ? ", reference" : "");                     \
            print_error(__VA_ARGS__);                                                              \
            print_error("\n");                                                                     \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

static double uniform(struct tr_random *random, double low, double high)
{
    return low + (high - low) * tr_random_real(random);
}

/* ---- random chains --------------------------------------------------------------------------- */

static bool has_gram(const struct tr_graph_plan *plan, const struct tr_gram *gram)
{
    for (size_t i = 0; i < plan->gram_count; i++) {
        if (plan->grams[i].length == gram->length &&
            memcmp(plan->grams[i].label, gram->label, gram->length * sizeof(uint16_t)) == 0) {
            return true;
        }
    }
    return false;
}

static struct tr_gram random_gram(struct tr_random *random, const struct tr_graph_plan *plan)
{
    uint32_t labels = plan->labels;
    uint32_t max = plan->count_cap ? plan->count_cap : plan->order;
    struct tr_gram gram = {.length = (uint8_t)(1 + tr_random_below(random, max + 1))};
    for (uint32_t i = 0; i < gram.length; i++) {
        gram.label[i] = (uint16_t)tr_random_below(random, labels);
        if (plan->count_cap && i > 0 && i + 1u < gram.length) {
            gram.label[i] = gram.label[0];
        }
    }
    bool repeats = plan->count_cap && gram.length > 2;
    if (gram.length > 1 && !repeats && tr_random_below(random, 5) == 0) {
        gram.label[0] = (uint16_t)labels;
    }
    if ((gram.length > 1 || plan->order > 0) && tr_random_below(random, 6) == 0) {
        gram.label[gram.length - 1] = (uint16_t)(labels + 1);
    }
    return gram;
}

static void make_plan(struct trial *trial, struct tr_random *random)
{
    static const uint32_t order[KINDS] = {0, 1, 1, 2, 3, 2, 3, 1, 1, 2, 3};
    struct tr_graph_plan *plan = &trial->plan;
    *plan = (struct tr_graph_plan){
        .labels = 1 + (uint32_t)tr_random_below(random, BRUTE_LABELS),
        .order = order[trial->kind],
        .count_cap = trial->kind == COUNTED ? 2 + (uint32_t)tr_random_below(random, 3) : 0,
        .observed_states = trial->kind == OBSERVED_2 || trial->kind == OBSERVED_3,
        .pruned = trial->kind >= PRUNED_1,
        .grams = trial->grams,
        .forbidden = (const uint16_t(*)[2])trial->forbidden};
    for (size_t tries = tr_random_below(random, 60); tries > 0; tries--) {
        struct tr_gram gram = random_gram(random, plan);
        if (!has_gram(plan, &gram)) {
            trial->grams[plan->gram_count++] = gram;
        }
    }
    size_t forbidden = tr_random_below(random, 3) ? 0 : tr_random_below(random, 6);
    for (size_t i = 0; i < forbidden; i++) {
        trial->forbidden[i][0] = (uint16_t)tr_random_below(random, plan->labels + 1);
        uint16_t to = (uint16_t)tr_random_below(random, plan->labels + 1);
        trial->forbidden[i][1] = to == plan->labels ? (uint16_t)(to + 1) : to;
    }
    plan->forbidden_count = forbidden;
}

/* Scores are small, large, or both; some are equal, so that ties are met. All are multiples of
 * 1/64, so that sums of a few are exact in single precision. */
static float random_score(struct tr_random *random, unsigned seed)
{
    static const double size[] = {1, 3, 30, 200, 1e4};
    double max = size[seed % 5];
    if (seed % 7 == 0) {
        return (float)tr_random_below(random, 3) - 1;
    }
    return (float)(round(uniform(random, -max, max) * 64) / 64);
}

static void make_chain(struct trial *trial, struct tr_random *random)
{
    struct brute_chain *chain = &trial->chain;
    uint32_t labels = trial->plan.labels;
    *chain = (struct brute_chain){.plan = &trial->plan,
                                  .weights = trial->weights,
                                  .length = tr_random_below(random, BRUTE_LENGTH + 1)};
    if (trial->kind == ORDER_3 && chain->length > 5) {
        chain->length = 5;
    }
    trial->with_edges = tr_random_below(random, 3) == 0;
    for (size_t g = 0; g < trial->plan.gram_count; g++) {
        trial->weights[g] = random_score(random, trial->seed / 5);
    }
    for (size_t i = 0; i < chain->length; i++) {
        for (uint32_t c = 0; c < labels; c++) {
            chain->node[i][c] = random_score(random, trial->seed);
            for (uint32_t d = 0; trial->with_edges && d < labels; d++) {
                chain->edge[i][c][d] = random_score(random, trial->seed / 3);
            }
        }
    }
}

static void make_trial(struct trial *trial, enum kind kind, unsigned seed)
{
    struct tr_random random;
    memset(trial, 0, sizeof *trial);
    tr_random_seed(&random, seed * PRUNED_1 + kind);
    trial->kind = kind;
    trial->seed = seed;
    make_plan(trial, &random);
    make_chain(trial, &random);
    assert_int_equal(tr_graph_create_listing(&trial->plan,
                                             kind == FREE_STEPS ? TR_LIST_FREE : TR_LIST_BY_SIZE,
                                             &trial->graph, NULL),
                     TRELLIS_OK);
    assert_int_equal(tr_steps_create(trial->graph, NULL, &trial->steps, NULL), TRELLIS_OK);
    assert_int_equal(tr_lattice_create(trial->graph, &trial->lattice, NULL), TRELLIS_OK);
}

static void free_trial(struct trial *trial)
{
    tr_lattice_destroy(trial->lattice);
    tr_steps_destroy(trial->steps);
    tr_graph_destroy(trial->graph);
}

/* Gives the lattice the chain's scores, with garbage beyond the labels; and restricts some
 * positions, in the lattice and in the chain. */
static void fill_lattice(struct trial *trial, bool restricted)
{
    struct tr_random random;
    uint32_t labels = trial->plan.labels, width = trial->graph->width;
    tr_random_seed(&random, trial->seed);
    assert_int_equal(tr_lattice_begin(trial->lattice, trial->chain.length, NULL), TRELLIS_OK);
    float *node = tr_lattice_nodes(trial->lattice);
    float *edge = NULL;
    if (trial->with_edges) {
        assert_true(tr_lattice_make_edges(trial->lattice));
        edge = tr_lattice_edges(trial->lattice);
    }
    for (size_t i = 0; i < trial->chain.length; i++) {
        for (uint32_t c = 0; c < width; c++) {
            node[i * width + c] = c < labels ? trial->chain.node[i][c] : 1e6f;
        }
        for (uint32_t c = 0; edge && c < labels; c++) {
            for (uint32_t d = 0; d < width; d++) {
                edge[(i * labels + c) * width + d] = d < labels ? trial->chain.edge[i][c][d] : 1e6f;
            }
        }
        if (restricted && tr_random_below(&random, 3) == 0) {
            uint16_t kept[BRUTE_LABELS];
            size_t count = 0;
            for (uint32_t c = 0; c < labels; c++) {
                if (tr_random_below(&random, 2)) {
                    kept[count++] = (uint16_t)c;
                } else {
                    trial->chain.node[i][c] = -INFINITY;
                }
            }
            assert_int_equal(tr_lattice_restrict(trial->lattice, i, kept, count, NULL), TRELLIS_OK);
        }
    }
}

/* Makes a locally normalised model of the chain and of the lattice that was filled with it. */
static inline void normalise(struct trial *trial)
{
    trial->chain.local = true;
    assert_int_equal(tr_lattice_normalise(trial->lattice, trial->steps, NULL), TRELLIS_OK);
}

/* How far a score may be off. Normalising sums in single precision, and rounds what it subtracts to
 * it. */
static inline double slack(const struct trial *trial, double score)
{
    const struct brute_chain *chain = &trial->chain;
    double max_node = 0, max_edge = 0, max_weight = 0;
    if (!chain->local) {
        return 1e-9 * (1 + fabs(score));
    }
    for (size_t i = 0; i < BRUTE_LENGTH; i++) {
        for (size_t c = 0; c < BRUTE_LABELS; c++) {
            float node = chain->node[i][c];
            max_node = fmax(max_node, isfinite(node) ? fabs((double)node) : 0);
            for (size_t d = 0; d < BRUTE_LABELS; d++) {
                max_edge = fmax(max_edge, fabs((double)chain->edge[i][c][d]));
            }
        }
    }
    for (size_t g = 0; g < trial->plan.gram_count; g++) {
        max_weight = fmax(max_weight, fabs((double)trial->weights[g]));
    }
    return 2e-6 + 1e-7 * BRUTE_LENGTH * (max_node + max_edge + 4 * max_weight);
}

#endif
