/* setting.h - random chains too large to enumerate, and the fast kernels against the reference on
 * them.
 *
 * To be included after cmocka.h.
 */
#ifndef TRELLIS_TESTS_SETTING_H
#define TRELLIS_TESTS_SETTING_H

#include "base/random.h"
#include "graph/path.h"
#include "lattice/lattice_internal.h"

#include <string.h>

static struct tr_random dice;
static unsigned long about; // the seed of the chain, for messages

#define expect_near(what, found, wanted, slack)                                                    \
    do {                                                                                           \
        if (!(fabs((double)(found) - (double)(wanted)) <= (double)(slack))) {                      \
            fail_msg("chain %lu, %s: %s is %.9g, not %.9g", about,                                 \
                     setting->lattice->kernels->name, what, (double)(found), (double)(wanted));    \
        }                                                                                          \
    } while (0)

/* A graph, its steps with random weights, and a workspace. */
struct setting {
    struct tr_gram *grams;
    struct tr_graph_plan plan;
    float *weights;
    struct tr_graph *graph;
    struct tr_steps *steps;
    struct tr_lattice *lattice;
};

static float uniform(double max)
{
    return (float)((2 * tr_random_real(&dice) - 1) * max);
}

/* `pairs` of the label pairs, all starts and ends; with order 2 as many triples, with order 3 some
 * of four; with order 0 label priors alone. */
static void list_grams(struct setting *setting, size_t pairs)
{
    uint32_t labels = setting->plan.labels, order = setting->plan.order;
    size_t all = (size_t)labels * labels, count = 0, left = pairs;
    setting->grams = tr_alloc(2 * pairs + 2 * (size_t)labels, sizeof *setting->grams);
    assert_non_null(setting->grams);
    for (size_t p = 0; p < all; p++) {
        if (tr_random_below(&dice, all - p) < left) {
            uint16_t a = (uint16_t)(p / labels), b = (uint16_t)(p % labels);
            setting->grams[count++] = (struct tr_gram){2, {a, b}};
            if (order >= 2) {
                uint16_t c = (uint16_t)tr_random_below(&dice, labels);
                setting->grams[count++] = order == 2 || p % 2 ? (struct tr_gram){3, {c, a, b}}
                                                              : (struct tr_gram){4, {b, c, a, b}};
            }
            left--;
        }
    }
    for (uint16_t c = 0; c < labels; c++) {
        if (order == 0) {
            setting->grams[count++] = (struct tr_gram){1, {c}};
        } else {
            setting->grams[count++] = (struct tr_gram){2, {(uint16_t)labels, c}};
            setting->grams[count++] = (struct tr_gram){2, {c, (uint16_t)(labels + 1)}};
        }
    }
    setting->plan.grams = setting->grams;
    setting->plan.gram_count = count;
}

static void make_graph(struct setting *setting, enum tr_listing listing)
{
    assert_int_equal(tr_graph_create_listing(&setting->plan, listing, &setting->graph, NULL),
                     TRELLIS_OK);
    assert_int_equal(tr_steps_create(setting->graph, NULL, &setting->steps, NULL), TRELLIS_OK);
    assert_int_equal(tr_lattice_create(setting->graph, &setting->lattice, NULL), TRELLIS_OK);
    tr_steps_set(setting->steps, setting->weights);
}

static void make(struct setting *setting, uint32_t labels, uint32_t order, size_t pairs,
                 double size, enum tr_listing listing)
{
    memset(setting, 0, sizeof *setting);
    setting->plan = (struct tr_graph_plan){
        .labels = labels, .order = order, .observed_states = order > 1};
    list_grams(setting, pairs);
    setting->weights = tr_alloc(setting->plan.gram_count, sizeof *setting->weights);
    for (size_t g = 0; g < setting->plan.gram_count; g++) {
        setting->weights[g] = uniform(size);
    }
    make_graph(setting, listing);
}

static void clear_graph(struct setting *setting)
{
    tr_lattice_destroy(setting->lattice);
    tr_steps_destroy(setting->steps);
    tr_graph_destroy(setting->graph);
}

static void clear(struct setting *setting)
{
    clear_graph(setting);
    free(setting->grams);
    free(setting->weights);
}

static void begin(struct setting *setting, size_t length, double size)
{
    uint32_t labels = setting->graph->labels, width = setting->graph->width;
    assert_int_equal(tr_lattice_begin(setting->lattice, length, NULL), TRELLIS_OK);
    float *node = tr_lattice_nodes(setting->lattice);
    for (size_t i = 0; i < length; i++) {
        for (uint32_t c = 0; c < labels; c++) {
            node[i * width + c] = uniform(size);
        }
    }
}

/* ---- against the reference ------------------------------------------------------------------- */

struct answer {
    double log_z, score;
    float *marginal, *expected; // [length][width], [features]
    int computed;               // TR_FAST, or TR_REFERENCE where single precision does not do
};

static struct answer ask(struct setting *setting, bool reference)
{
    size_t length = setting->lattice->length, features = setting->graph->features;
    struct answer answer = {.marginal = tr_alloc(length * setting->graph->width, sizeof(float)),
                            .expected = tr_alloc(features, sizeof(float))};
    uint16_t *labels = tr_alloc(length, sizeof *labels);
    assert_true(answer.marginal && answer.expected && labels);
    tr_lattice_use_reference(setting->lattice, reference);
    assert_int_equal(
        tr_lattice_viterbi(setting->lattice, setting->steps, labels, &answer.score, NULL),
        TRELLIS_OK);
    assert_int_equal(
        tr_lattice_forward_backward(setting->lattice, setting->steps, &answer.log_z, NULL),
        TRELLIS_OK);
    answer.computed = setting->lattice->computed;
    memcpy(answer.marginal, tr_lattice_node_marginals(setting->lattice),
           length * setting->graph->width * sizeof(float));
    assert_true(tr_lattice_expect_steps(setting->lattice, setting->steps, 1, answer.expected));
    free(labels);
    return answer;
}

/* The sum of the largest node scores, which single precision rounds: they may cancel in log Z. */
static double magnitude(const struct setting *setting)
{
    size_t width = setting->graph->width;
    double sum = 0;
    for (size_t i = 0; i < setting->lattice->length; i++) {
        float most = 0;
        for (uint32_t c = 0; c < setting->graph->labels; c++) {
            float score = fabsf(tr_lattice_nodes(setting->lattice)[i * width + c]);
            most = isfinite(score) && score > most ? score : most;
        }
        sum += (double)most;
    }
    return sum;
}

/* All kernels against the reference; returns whether each was fast. */
static bool compare(struct setting *setting)
{
    bool all_fast = true;
    size_t length = setting->lattice->length, width = setting->graph->width;
    struct answer right = ask(setting, true);
    const struct tr_kernels *kernels;
    for (size_t k = 0; (kernels = tr_kernels_at(k)); k++) {
        setting->lattice->kernels = setting->steps->kernels = kernels;
        tr_steps_set(setting->steps, setting->weights);
        struct answer fast = ask(setting, false);
        all_fast = all_fast && fast.computed == TR_FAST;
        double rounding = 1e-5 + 6e-8 * (magnitude(setting) + 2 * (double)length); // of each factor
        expect_near("log Z", fast.log_z, right.log_z, rounding + 1e-6 * fabs(right.log_z));
        expect_near("score", fast.score, right.score, rounding + 1e-6 * fabs(right.score));
        for (size_t j = 0; j < length * width; j++) {
            expect_near("a marginal", fast.marginal[j], right.marginal[j], 2e-5);
        }
        for (size_t f = 0; f < setting->graph->features; f++) {
            expect_near("an expectation", fast.expected[f], right.expected[f],
                        2e-5f * (1 + right.expected[f]));
        }
        free(fast.marginal);
        free(fast.expected);
    }
    free(right.marginal);
    free(right.expected);
    return all_fast;
}

#endif
