/* test_lattice.c - the fast kernels against the reference on chains too large to enumerate, extreme
 * scores, chains without a path, changed weights, and reuse of the workspace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lattice/setting.h"
#include "support/patience.h"

static void compare_chain(uint32_t labels, uint32_t order, size_t pairs, size_t length, double size,
                          enum tr_listing listing)
{
    struct setting setting;
    make(&setting, labels, order, pairs, 2, listing);
    begin(&setting, length, size);
    assert_true(compare(&setting));
    clear(&setting);
}

static void against_reference(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 30, 1000};
    for (size_t i = 0; i < TR_COUNT(lengths); i++) {
        compare_chain(22, 1, 22 * 22, lengths[i], 3, TR_LIST_BY_SIZE);
        compare_chain(50, 1, 50 * 50, lengths[i], 3, TR_LIST_BY_SIZE);
        compare_chain(50, 1, 200, lengths[i], 3, TR_LIST_FREE);
        compare_chain(6, 2, 30, lengths[i], 3, TR_LIST_BY_SIZE);
        compare_chain(10, 0, 0, lengths[i], 3, TR_LIST_BY_SIZE);
    }
    compare_chain(472, 1, 7763, 1, 8, TR_LIST_BY_SIZE);
    compare_chain(472, 1, 7763, 12, 8, TR_LIST_BY_SIZE);
    compare_chain(472, 1, 7763, 4, 8, TR_LIST_ALL);
}

/* Node scores as a trained model gives them: most labels near 0, one or a few far above. */
static void begin_peaked(struct setting *setting, size_t length, bool restricted)
{
    uint32_t labels = setting->graph->labels, width = setting->graph->width;
    begin(setting, length, 0.5);
    for (size_t i = 0; i < length; i++) {
        uint16_t likely[4];
        for (size_t k = 0; k < TR_COUNT(likely); k++) {
            likely[k] = (uint16_t)tr_random_below(&dice, labels);
            tr_lattice_nodes(setting->lattice)[i * width + likely[k]] = (float)(12 - 3 * k);
        }
        if (restricted && i % 3 == 0) {
            assert_int_equal(
                tr_lattice_restrict(setting->lattice, i, likely, TR_COUNT(likely), NULL),
                TRELLIS_OK);
        }
    }
}

/* The best path under a graph that lists all steps equals that under one that lists only those with
 * weights, where Viterbi skips steps that cannot matter. */
static void compare_paths(uint32_t labels, size_t pairs, double size, bool priors, bool forbidding)
{
    enum { LENGTH = 60 };
    struct setting setting[2];
    uint16_t path[2][LENGTH];
    struct tr_random start;
    static uint16_t forbidden[3][2] = {{1, 2}, {3, 0}, {2, 2}};
    for (int round = 0; round < 6; round++) {
        start = dice;
        for (int k = 0; k < 2; k++) {
            double score;
            dice = start;
            make(&setting[k], labels, 1, pairs, size, TR_LIST_ALL);
            clear_graph(&setting[k]);
            for (uint16_t c = 0; priors && c < labels; c++) { // in place of the ends
                setting[k].grams[setting[k].plan.gram_count - 1 - 2 * c] = (struct tr_gram){1, {c}};
            }
            setting[k].plan.forbidden = (const uint16_t(*)[2])forbidden;
            setting[k].plan.forbidden_count = forbidding ? TR_COUNT(forbidden) : 0;
            make_graph(&setting[k], k ? TR_LIST_FREE : TR_LIST_ALL);
            begin_peaked(&setting[k], LENGTH, round % 2);
            assert_int_equal(setting[k].graph->free_steps, k == 1);
            assert_int_equal(
                tr_lattice_viterbi(setting[k].lattice, setting[k].steps, path[k], &score, NULL),
                TRELLIS_OK);
        }
        assert_memory_equal(path[0], path[1], sizeof path[0]);
        clear(&setting[0]);
        clear(&setting[1]);
    }
}

static void same_paths(void **state)
{
    (void)state;
    for (int with = 0; with < 4; with++) {
        compare_paths(20, 90, 2, with & 1, with & 2);
        compare_paths(100, 1500, 3, with & 1, with & 2);
        compare_paths(472, 7763, 4, with & 1, with & 2);
    }
}

/* Second-order chains with a few of many labels at each position, as a tag dictionary leaves them: up
 * to an eighth of all, whose maxima are taken label by label, or some more. */
static void few_of_many_labels(void **state)
{
    (void)state;
    enum { LABELS = 40, LENGTH = 12 };
    for (int round = 0; round < 8; round++) {
        struct setting setting;
        make(&setting, LABELS, 2, 1200, 2, TR_LIST_BY_SIZE);
        begin(&setting, LENGTH, 2);
        for (size_t i = 0; i < LENGTH; i++) {
            uint16_t labels[12];
            size_t count = 1 + tr_random_below(&dice, TR_COUNT(labels));
            for (size_t k = 0; k < count; k++) {
                labels[k] = (uint16_t)tr_random_below(&dice, LABELS);
            }
            assert_int_equal(tr_lattice_restrict(setting.lattice, i, labels, count, NULL),
                             TRELLIS_OK);
        }
        assert_true(compare(&setting));
        clear(&setting);
    }
}

static void long_chains(void **state)
{
    (void)state;
    compare_chain(5, 1, 25, 100000, 3, TR_LIST_ALL);
    compare_chain(5, 1, 8, 20000, 3, TR_LIST_FREE);
    compare_chain(3, 2, 6, 20000, 3, TR_LIST_BY_SIZE);
}

static void a_million_positions(void **state)
{
    (void)state;
    struct setting setting;
    make(&setting, 4, 1, 16, 2, TR_LIST_ALL);
    begin(&setting, 1000000, 3);
    struct answer answer = ask(&setting, false);
    double total = 0;
    for (size_t i = 0; i < 1000000; i++) {
        double sum = 0;
        for (uint32_t c = 0; c < 4; c++) {
            sum += (double)answer.marginal[i * 8 + c];
        }
        assert_true(fabs(sum - 1) < 1e-4);
    }
    for (size_t g = 0; g < setting.plan.gram_count; g++) {
        bool step = setting.grams[g].label[0] < 4 && setting.grams[g].label[1] < 4;
        total += step ? (double)answer.expected[g] : 0;
    }
    assert_true(fabs(total - 999999) < 5);
    assert_true(answer.log_z > answer.score);
    free(answer.marginal);
    free(answer.expected);
    clear(&setting);
}

/* The fast kernel copes with scores of +-10,000: compare() checks that it was used. */
static void extreme_scores(void **state)
{
    (void)state;
    compare_chain(22, 1, 22 * 22, 100, 1e4, TR_LIST_ALL);
    compare_chain(50, 1, 200, 100, 1e4, TR_LIST_FREE);
    compare_chain(6, 2, 30, 100, 1e4, TR_LIST_BY_SIZE);
}

/* ---- where single precision fails ------------------------------------------------------------ */

/* 0 -> 1 costs 100, all other transitions into or out of 1 are forbidden, and from position 10 on
 * label 1 gains 20 per position: the path that underflows at first has all the probability. */
static void falls_back(void **state)
{
    (void)state;
    static const struct tr_gram grams[] = {{2, {0, 1}}};
    static const uint16_t forbidden[][2] = {{2, 1}};
    struct tr_graph_plan plan = {.labels = 2, .order = 1, .grams = grams, .gram_count = 1};
    plan.forbidden = forbidden;
    plan.forbidden_count = 1;
    const float weight = -100;
    for (int listing = TR_LIST_FREE; listing <= TR_LIST_ALL; listing++) {
        struct tr_graph *graph;
        struct tr_steps *steps;
        struct tr_lattice *lattice;
        double log_z;
        assert_int_equal(tr_graph_create_listing(&plan, listing, &graph, NULL), TRELLIS_OK);
        assert_int_equal(tr_steps_create(graph, NULL, &steps, NULL), TRELLIS_OK);
        assert_int_equal(tr_lattice_create(graph, &lattice, NULL), TRELLIS_OK);
        tr_steps_set(steps, &weight);
        assert_int_equal(tr_lattice_begin(lattice, 30, NULL), TRELLIS_OK);
        for (size_t i = 10; i < 30; i++) {
            tr_lattice_nodes(lattice)[i * 8 + 1] = 20;
        }
        assert_int_equal(tr_lattice_forward_backward(lattice, steps, &log_z, NULL), TRELLIS_OK);
        assert_int_equal(lattice->computed, TR_REFERENCE);
        assert_true(fabs(log_z - (300 + log(10))) <
                    1e-3); // nine ways to enter 1 early and one at 10
        assert_true(tr_lattice_node_marginals(lattice)[29 * 8 + 1] > 0.99f);
        tr_lattice_destroy(lattice);
        tr_steps_destroy(steps);
        tr_graph_destroy(graph);
    }
}

/* The same just within the range of a float: the lost path has one eighth of all probability. */
static void falls_back_in_time(void **state)
{
    (void)state;
    static const struct tr_gram grams[] = {{2, {0, 1}}};
    static const uint16_t forbidden[][2] = {{2, 1}, {1, 0}};
    struct tr_graph_plan plan = {.labels = 2, .order = 1, .grams = grams, .gram_count = 1};
    plan.forbidden = forbidden;
    plan.forbidden_count = 2;
    const float weight = -90;
    for (int listing = TR_LIST_FREE; listing <= TR_LIST_ALL; listing++) {
        struct tr_graph *graph;
        struct tr_steps *steps;
        struct tr_lattice *lattice;
        double log_z;
        assert_int_equal(tr_graph_create_listing(&plan, listing, &graph, NULL), TRELLIS_OK);
        assert_int_equal(tr_steps_create(graph, NULL, &steps, NULL), TRELLIS_OK);
        assert_int_equal(tr_lattice_create(graph, &lattice, NULL), TRELLIS_OK);
        tr_steps_set(steps, &weight);
        assert_int_equal(tr_lattice_begin(lattice, 23, NULL), TRELLIS_OK);
        for (size_t i = 1; i < 23; i++) {
            tr_lattice_nodes(lattice)[i * 8 + 1] = 4;
        }
        assert_int_equal(tr_lattice_forward_backward(lattice, steps, &log_z, NULL), TRELLIS_OK);
        double sum = 1;
        for (int positions = 1; positions <= 22; positions++) {
            sum += exp(4 * positions - 90);
        }
        assert_true(fabs(log_z - log(sum)) < 1e-5);
        tr_lattice_destroy(lattice);
        tr_steps_destroy(steps);
        tr_graph_destroy(graph);
    }
}

/* A forbidden labelling and a score that is not a number have messages of their own. */
static void local_failures_have_reasons(void **state)
{
    (void)state;
    static const uint16_t forbidden[][2] = {{0, 1}}, bad[] = {0, 1}, good[] = {1, 1};
    struct tr_graph_plan plan = {
        .labels = 2, .order = 1, .forbidden = forbidden, .forbidden_count = 1};
    struct tr_graph *graph;
    struct tr_steps *steps;
    struct tr_lattice *lattice;
    trellis_error error = {0};
    double loss;
    assert_int_equal(tr_graph_create(&plan, &graph, NULL), TRELLIS_OK);
    assert_int_equal(tr_steps_create(graph, NULL, &steps, NULL), TRELLIS_OK);
    assert_int_equal(tr_lattice_create(graph, &lattice, NULL), TRELLIS_OK);
    tr_steps_set(steps, NULL);
    for (int broken = 0; broken < 2; broken++) {
        assert_int_equal(tr_lattice_begin(lattice, 2, NULL), TRELLIS_OK);
        memset(tr_lattice_nodes(lattice), 0, 2 * graph->width * sizeof(float));
        tr_lattice_nodes(lattice)[1] = broken ? NAN : 0;
        assert_int_equal(
            tr_lattice_local_likelihood(lattice, steps, broken ? good : bad, &loss, &error),
            TRELLIS_DATA);
        assert_string_equal(error.message, broken ? "a score is not a number or not finite"
                                                  : "the sequence of labels is not allowed");
    }
    tr_lattice_destroy(lattice);
    tr_steps_destroy(steps);
    tr_graph_destroy(graph);
}

/* Free steps where nearly all of the sum is forbidden: label 0 has all but 1e-12 of the first
 * position, and may not be followed or preceded by anything but itself. */
static void cancelling_sums(void **state)
{
    (void)state;
    struct setting setting;
    static uint16_t forbidden[80][2];
    for (uint16_t c = 0; c < 40; c++) {
        forbidden[2 * c][0] = forbidden[2 * c + 1][1] = 0;
        forbidden[2 * c][1] = forbidden[2 * c + 1][0] = c;
    }
    memset(&setting, 0, sizeof setting);
    setting.plan = (struct tr_graph_plan){.labels = 40, .order = 1};
    list_grams(&setting, 100);
    setting.plan.forbidden = (const uint16_t(*)[2])forbidden;
    setting.plan.forbidden_count = 80;
    setting.weights = tr_alloc(setting.plan.gram_count, sizeof *setting.weights);
    make_graph(&setting, TR_LIST_FREE);
    begin(&setting, 3, 1);
    tr_lattice_nodes(setting.lattice)[0] = 30;
    tr_lattice_nodes(setting.lattice)[2 * setting.graph->width] = 30;
    assert_true(compare(&setting));
    clear(&setting);
}

static void large_step_weights(void **state)
{
    (void)state;
    for (int listing = TR_LIST_FREE; listing <= TR_LIST_ALL; listing++) {
        struct setting setting;
        double fast, right;
        make(&setting, 7, 1, 30, 1000, listing);
        begin(&setting, 40, 10);
        assert_int_equal(tr_lattice_forward_backward(setting.lattice, setting.steps, &fast, NULL),
                         TRELLIS_OK);
        tr_lattice_use_reference(setting.lattice, true);
        assert_int_equal(tr_lattice_forward_backward(setting.lattice, setting.steps, &right, NULL),
                         TRELLIS_OK);
        assert_true(fabs(fast - right) <= 1e-5 * fabs(right));
        clear(&setting);
    }
}

/* ---- no path, empty sequences, bad scores ---------------------------------------------------- */

static void assert_no_path(struct setting *setting)
{
    uint16_t labels[8];
    double value;
    trellis_error error = {0};
    for (int reference = 0; reference < 2; reference++) {
        tr_lattice_use_reference(setting->lattice, reference);
        assert_int_equal(
            tr_lattice_viterbi(setting->lattice, setting->steps, labels, &value, &error),
            TRELLIS_DATA);
        assert_true(error.message[0] != 0);
        assert_int_equal(
            tr_lattice_forward_backward(setting->lattice, setting->steps, &value, &error),
            TRELLIS_DATA);
        assert_null(tr_lattice_node_marginals(setting->lattice));
        assert_null(tr_lattice_edge_marginals(setting->lattice, setting->steps));
        assert_false(tr_lattice_collect_steps(setting->lattice, setting->steps, 1));
    }
}

static void no_path(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct setting setting;
        make(&setting, 4, kind == 2 ? 2 : 1, 9, 1, kind ? TR_LIST_FREE : TR_LIST_ALL);
        begin(&setting, 5, 1);
        assert_int_equal(tr_lattice_restrict(setting.lattice, 2, NULL, 0, NULL), TRELLIS_OK);
        assert_no_path(&setting);
        begin(&setting, 5, 1);
        tr_lattice_nodes(setting.lattice)[2 * 8] = NAN;
        double log_z;
        assert_int_equal(tr_lattice_forward_backward(setting.lattice, setting.steps, &log_z, NULL),
                         TRELLIS_DATA);
        begin(&setting, 1, 1);
        for (size_t g = 0; g < setting.plan.gram_count; g++) { // no end is allowed
            bool end = setting.grams[g].label[setting.grams[g].length - 1] == 5;
            setting.weights[g] = end ? -INFINITY : 1;
        }
        tr_steps_set(setting.steps, setting.weights);
        assert_no_path(&setting);
        clear(&setting);
    }
}

static void no_positions(void **state)
{
    (void)state;
    static const uint16_t forbidden[][2] = {{3, 4}, {3, 0}, {3, 1}, {3, 2}};
    struct setting setting = {.plan = {.labels = 3, .order = 1}};
    setting.plan.forbidden = forbidden;
    setting.plan.forbidden_count = 4;
    assert_int_equal(tr_graph_create(&setting.plan, &setting.graph, NULL), TRELLIS_OK);
    assert_int_equal(tr_steps_create(setting.graph, NULL, &setting.steps, NULL), TRELLIS_OK);
    assert_int_equal(tr_lattice_create(setting.graph, &setting.lattice, NULL), TRELLIS_OK);
    double value = 1;
    float expected[1] = {0};
    assert_int_equal(tr_lattice_begin(setting.lattice, 0, NULL), TRELLIS_OK);
    assert_non_null(tr_lattice_nodes(setting.lattice));
    assert_true(tr_lattice_make_edges(setting.lattice));
    assert_int_equal(tr_lattice_viterbi(setting.lattice, setting.steps, NULL, &value, NULL),
                     TRELLIS_OK);
    assert_true(value == 0);
    value = 1;
    assert_int_equal(tr_lattice_forward_backward(setting.lattice, setting.steps, &value, NULL),
                     TRELLIS_OK);
    assert_true(value == 0);
    assert_true(tr_lattice_path_score(setting.lattice, setting.steps, NULL) == 0);
    assert_true(tr_lattice_expect_steps(setting.lattice, setting.steps, 1, expected));
    tr_lattice_posterior(setting.lattice, NULL);
    begin(&setting, 1, 1);
    assert_no_path(&setting);
    clear(&setting);
    tr_lattice_destroy(NULL);
    tr_steps_destroy(NULL);
}

static void restrictions(void **state)
{
    (void)state;
    struct setting setting;
    make(&setting, 5, 1, 25, 1, TR_LIST_ALL);
    begin(&setting, 6, 1);
    uint16_t forced[6] = {4, 0, 3, 3, 1, 2}, labels[6];
    double score, log_z;
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(tr_lattice_restrict(setting.lattice, i, &forced[i], 1, NULL), TRELLIS_OK);
    }
    assert_int_equal(tr_lattice_viterbi(setting.lattice, setting.steps, labels, &score, NULL),
                     TRELLIS_OK);
    assert_memory_equal(labels, forced, sizeof labels);
    assert_int_equal(tr_lattice_forward_backward(setting.lattice, setting.steps, &log_z, NULL),
                     TRELLIS_OK);
    assert_true(fabs(log_z - score) < 1e-5);
    assert_int_equal(tr_lattice_restrict(setting.lattice, 6, forced, 1, NULL), TRELLIS_DATA);
    forced[0] = 5;
    assert_int_equal(tr_lattice_restrict(setting.lattice, 0, forced, 1, NULL), TRELLIS_DATA);
    clear(&setting);
}

/* ---- ties ------------------------------------------------------------------------------------ */

/* With scores from a few integers nearly everything ties; all kernels take the same path. */
static void ties_are_broken_in_the_same_way(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct setting all, free_steps;
        uint16_t labels[3][40];
        double score;
        make(&all, 37, 1, 300, 1, TR_LIST_ALL);
        assert_int_equal(tr_graph_create_listing(&all.plan, TR_LIST_FREE, &free_steps.graph, NULL),
                         TRELLIS_OK);
        assert_int_equal(tr_steps_create(free_steps.graph, NULL, &free_steps.steps, NULL),
                         TRELLIS_OK);
        assert_int_equal(tr_lattice_create(free_steps.graph, &free_steps.lattice, NULL),
                         TRELLIS_OK);
        for (size_t g = 0; g < all.plan.gram_count; g++) {
            all.weights[g] = (float)tr_random_below(&dice, 3) - 1;
        }
        tr_steps_set(all.steps, all.weights);
        tr_steps_set(free_steps.steps, all.weights);
        assert_int_equal(tr_lattice_begin(all.lattice, 40, NULL), TRELLIS_OK);
        assert_int_equal(tr_lattice_begin(free_steps.lattice, 40, NULL), TRELLIS_OK);
        for (size_t i = 0; i < 40 * (size_t)all.graph->width; i++) {
            tr_lattice_nodes(all.lattice)[i] = tr_lattice_nodes(
                free_steps.lattice)[i] = (float)tr_random_below(&dice, 2);
        }
        const struct tr_kernels *kernels;
        for (size_t k = 0; (kernels = tr_kernels_at(k)); k++) {
            all.lattice->kernels = free_steps.lattice->kernels = kernels;
            tr_lattice_use_reference(all.lattice, false);
            tr_lattice_viterbi(all.lattice, all.steps, labels[0], &score, NULL);
            tr_lattice_viterbi(free_steps.lattice, free_steps.steps, labels[1], &score, NULL);
            tr_lattice_use_reference(all.lattice, true);
            tr_lattice_viterbi(all.lattice, all.steps, labels[2], &score, NULL);
            assert_memory_equal(labels[0], labels[1], sizeof labels[0]);
            assert_memory_equal(labels[0], labels[2], sizeof labels[0]);
        }
        tr_lattice_destroy(free_steps.lattice);
        tr_steps_destroy(free_steps.steps);
        tr_graph_destroy(free_steps.graph);
        clear(&all);
    }
}

static void ties_in_higher_orders(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct setting setting;
        uint16_t fast[40], right[40];
        double score;
        make(&setting, 6, 2, 20, 1, TR_LIST_BY_SIZE);
        for (size_t g = 0; g < setting.plan.gram_count; g++) {
            setting.weights[g] = (float)tr_random_below(&dice, 3) - 1;
        }
        tr_steps_set(setting.steps, setting.weights);
        begin(&setting, 40, 0);
        tr_lattice_viterbi(setting.lattice, setting.steps, fast, &score, NULL);
        tr_lattice_use_reference(setting.lattice, true);
        tr_lattice_viterbi(setting.lattice, setting.steps, right, &score, NULL);
        assert_memory_equal(fast, right, sizeof fast);
        clear(&setting);
    }
}

/* ---- changing weights ------------------------------------------------------------------------ */

static void assert_same_steps(const struct tr_steps *a, const struct tr_steps *b, uint32_t labels)
{
    const struct tr_graph *graph = a->graph;
    assert_memory_equal(a->score.start, b->score.start, labels * sizeof(float));
    assert_memory_equal(a->score.end, b->score.end, graph->states * sizeof(float));
    for (uint32_t s = 0; s < graph->step_count; s++) {
        assert_true(a->score.step[s] == b->score.step[s]);
    }
    const struct tr_dense_steps *x = &a->of.dense, *y = &b->of.dense;
    for (size_t i = 0; a->kind == &tr_dense_kind && i < (size_t)labels * graph->width; i++) {
        assert_true(x->score[i] == y->score[i] && x->score_by_to[i] == y->score_by_to[i]);
    }
    for (uint32_t z = 0; a->kind == &tr_sparse_kind && z < labels; z++) {
        assert_true(a->of.sparse.out_max[z] == b->of.sparse.out_max[z]);
        assert_true(a->of.sparse.out_gain[z] == b->of.sparse.out_gain[z]);
    }
}

/* Changing one weight after the other equals setting all at once, even far above the initial
 * weights. */
static void changes(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct setting one, two;
        double changed, set;
        float marginal[12 * 8];
        make(&one, 6, kind == 3 ? 2 : 1, 20, 1, kind ? TR_LIST_FREE : TR_LIST_ALL);
        one.grams[0] = (struct tr_gram){1, {2}}; // a label prior
        if (kind == 2) {
            one.grams[1] = (struct tr_gram){1, {7}}; // and one of the end
        }
        two = one;
        tr_lattice_destroy(one.lattice);
        tr_steps_destroy(one.steps);
        tr_graph_destroy(one.graph);
        assert_int_equal(
            tr_graph_create_listing(&one.plan, kind ? TR_LIST_FREE : TR_LIST_ALL, &one.graph, NULL),
            TRELLIS_OK);
        two.graph = one.graph;
        assert_int_equal(tr_steps_create(one.graph, NULL, &one.steps, NULL), TRELLIS_OK);
        assert_int_equal(tr_steps_index(one.steps, NULL), TRELLIS_OK);
        assert_int_equal(tr_steps_create(one.graph, NULL, &two.steps, NULL), TRELLIS_OK);
        assert_int_equal(tr_lattice_create(one.graph, &one.lattice, NULL), TRELLIS_OK);
        for (int round = 0; round < 40; round++) {
            for (int i = 0; i < 5; i++) {
                size_t g = tr_random_below(&dice, one.plan.gram_count);
                one.weights[g] = uniform(1 + round);
                tr_steps_change(one.steps, (uint32_t)g, one.weights[g]);
            }
            if (round == 0) {
                for (size_t g = 0; g < one.plan.gram_count; g++) {
                    tr_steps_change(one.steps, (uint32_t)g, one.weights[g]);
                }
            }
            tr_steps_set(two.steps, one.weights);
            assert_same_steps(one.steps, two.steps, 6);
            begin(&one, 12, 3);
            assert_int_equal(tr_lattice_forward_backward(one.lattice, one.steps, &changed, NULL),
                             TRELLIS_OK);
            memcpy(marginal, tr_lattice_node_marginals(one.lattice), sizeof marginal);
            assert_int_equal(tr_lattice_forward_backward(one.lattice, two.steps, &set, NULL),
                             TRELLIS_OK);
            assert_true(fabs(changed - set) <= 1e-5 * (1 + fabs(set)));
            for (size_t j = 0; j < TR_COUNT(marginal); j++) {
                assert_true(fabsf(marginal[j] - tr_lattice_node_marginals(one.lattice)[j]) < 1e-5f);
            }
        }
        tr_steps_destroy(two.steps);
        clear(&one);
    }
}

/* The weights of the features that a path fires sum to its score. */
static void fired_features(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct setting setting;
        make(&setting, 5, kind == 2 ? 2 : 1, 12, 1, kind ? TR_LIST_FREE : TR_LIST_ALL);
        begin(&setting, 9, 0);
        uint16_t labels[9];
        double sum = 0;
        for (size_t i = 0; i < 9; i++) {
            labels[i] = (uint16_t)tr_random_below(&dice, 5);
        }
        struct tr_path_walk walk = tr_path_walk(setting.graph, labels, 9);
        while (tr_path_next(&walk)) {
            for (size_t k = 0; k < walk.count; k++) {
                sum += (double)setting.weights[walk.feature[k]];
            }
        }
        double score = tr_lattice_path_score(setting.lattice, setting.steps, labels);
        assert_true(fabs(score - sum) < 1e-5);
        clear(&setting);
    }
}

/* Wherever log Z is interrupted there is none; afterwards it is the same as ever. */
static void log_z_can_be_interrupted(void **state)
{
    (void)state;
    enum { LENGTH = 30 };
    struct setting setting;
    make(&setting, 4, 3, 12, 1, TR_LIST_ALL);
    begin(&setting, LENGTH, 1);
    for (int reference = 0; reference < 2; reference++) {
        double log_z, whole;
        tr_lattice_use_reference(setting.lattice, reference);
        assert_int_equal(tr_lattice_forward_backward(setting.lattice, setting.steps, &whole, NULL),
                         TRELLIS_OK);
        struct patience patience = {0};
        trellis_status status = TRELLIS_INTERRUPTED;
        for (; status; patience = (struct patience){.most = patience.most + 1}) {
            trellis_error error = {0};
            tr_lattice_interrupt_by(setting.lattice, &(struct tr_interruption){is_over, &patience});
            status = tr_lattice_forward_backward(setting.lattice, setting.steps, &log_z, &error);
            assert_int_equal(status, log_z == 0 ? TRELLIS_INTERRUPTED : TRELLIS_OK);
            assert_string_equal(error.message, status ? "interrupted" : "");
            assert_true(!status == (tr_lattice_node_marginals(setting.lattice) != NULL));
        }
        assert_true(log_z == whole);
        assert_true(patience.most > 2 * (LENGTH - 1)); // forward and backward
        tr_lattice_interrupt_by(setting.lattice, NULL);
    }
    clear(&setting);
}

int main(void)
{
    tr_random_seed(&dice, 3);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_reference),
        cmocka_unit_test(same_paths),
        cmocka_unit_test(few_of_many_labels),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(a_million_positions),
        cmocka_unit_test(extreme_scores),
        cmocka_unit_test(falls_back),
        cmocka_unit_test(falls_back_in_time),
        cmocka_unit_test(cancelling_sums),
        cmocka_unit_test(large_step_weights),
        cmocka_unit_test(no_path),
        cmocka_unit_test(no_positions),
        cmocka_unit_test(local_failures_have_reasons),
        cmocka_unit_test(restrictions),
        cmocka_unit_test(ties_are_broken_in_the_same_way),
        cmocka_unit_test(ties_in_higher_orders),
        cmocka_unit_test(changes),
        cmocka_unit_test(fired_features),
        cmocka_unit_test(log_z_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
