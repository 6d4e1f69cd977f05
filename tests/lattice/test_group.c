/* test_group.c - groups of sequences side by side against the reference, one sequence at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lattice/group.h"
#include "lattice/group_kernels.h"
#include "lattice/setting.h"

/* Sequences of a setting, longest first, and what they come to one by one. */
struct group {
    struct setting *setting;
    size_t count, size, begin[TR_GROUP_MAX + 1]; // in floats
    float *scores, *rows, *marginals;            // [size] and 8 more
    float *expected;                             // [features]
    double loss[TR_GROUP_MAX], rounding;
    uint16_t gold[TR_GROUP_MAX * TR_GROUP_LONGEST];
    struct tr_group_member member[TR_GROUP_MAX];
};

static void draw_lengths(struct group *g, size_t longest)
{
    size_t width = g->setting->graph->width, length = longest;
    for (size_t k = 0; k < g->count; k++) {
        g->member[k].length = length;
        g->begin[k + 1] = g->begin[k] + length * width;
        length -= tr_random_below(&dice, 3) < 2 ? 0 : tr_random_below(&dice, length);
    }
    g->size = g->begin[g->count];
}

/* The reference, whose scores are copied. */
static void judge(struct group *g, double size)
{
    struct setting *setting = g->setting;
    uint32_t labels = setting->graph->labels;
    for (size_t k = 0; k < g->count; k++) {
        size_t length = g->member[k].length, bytes = length * setting->graph->width * sizeof(float);
        uint16_t *gold = g->gold + k * TR_GROUP_LONGEST;
        begin(setting, length, size);
        for (size_t i = 0; i < length; i++) {
            gold[i] = (uint16_t)tr_random_below(&dice, labels);
            float *node = tr_lattice_nodes(setting->lattice) + i * setting->graph->width;
            if (labels > 2 && tr_random_below(&dice, 9) == 0) {
                node[tr_random_below(&dice, labels - 1) + 1] = -INFINITY;
                gold[i] = 0;
            }
        }
        g->rounding += 1e-5 + 6e-8 * (magnitude(setting) + 2 * (double)length);
        memcpy(g->scores + g->begin[k], tr_lattice_nodes(setting->lattice), bytes);
        struct answer right = ask(setting, true);
        g->loss[k] = right.log_z - tr_lattice_path_score(setting->lattice, setting->steps, gold);
        memcpy(g->marginals + g->begin[k], right.marginal, bytes);
        for (size_t f = 0; f < setting->graph->features; f++) {
            g->expected[f] += right.expected[f];
        }
        free(right.marginal);
        free(right.expected);
    }
}

static void make_group(struct group *g, struct setting *setting, size_t count, size_t longest,
                       double size)
{
    memset(g, 0, sizeof *g);
    g->setting = setting;
    g->count = count;
    draw_lengths(g, longest);
    g->scores = tr_alloc_aligned(g->size + 8, sizeof *g->scores);
    g->rows = tr_alloc_aligned(g->size + 8, sizeof *g->rows);
    g->marginals = tr_alloc_aligned(g->size + 8, sizeof *g->marginals);
    g->expected = tr_alloc(setting->graph->features, sizeof *g->expected);
    assert_true(g->scores && g->rows && g->marginals && g->expected);
    g->scores[g->size] = 77; // nothing of the group
    judge(g, size);
}

static void free_group(struct group *g)
{
    free(g->scores);
    free(g->rows);
    free(g->marginals);
    free(g->expected);
}

/* Sets the rows to the scores, with anything after the labels, and sums them with these kernels; NULL:
 * with the steps as they are. */
static bool run(struct group *g, const struct tr_kernels *kernels)
{
    struct setting *setting = g->setting;
    size_t width = setting->graph->width;
    memcpy(g->rows, g->scores, (g->size + 8) * sizeof *g->rows);
    for (size_t k = 0; k < g->count; k++) {
        g->member[k].row = g->rows + g->begin[k];
        g->member[k].gold = g->gold + k * TR_GROUP_LONGEST;
        g->member[k].loss = NAN;
        for (size_t i = 0; i < g->member[k].length; i++) {
            for (size_t c = setting->graph->labels; c < width; c++) {
                g->member[k].row[i * width + c] = 5;
            }
        }
    }
    if (kernels) {
        setting->lattice->kernels = setting->steps->kernels = kernels;
        tr_steps_set(setting->steps, setting->weights);
    }
    bool done;
    assert_int_equal(
        tr_lattice_group(setting->lattice, setting->steps, g->member, g->count, &done, NULL),
        TRELLIS_OK);
    return done;
}

static void check(struct group *g, const float *expected)
{
    struct setting *setting = g->setting;
    for (size_t k = 0; k < g->count; k++) {
        if (isfinite(g->loss[k])) {
            expect_near("a loss", g->member[k].loss, g->loss[k],
                        g->rounding + 1e-6 * fabs(g->loss[k]));
        } else { // a gold transition is forbidden
            assert_true(isinf(g->member[k].loss) && g->member[k].loss > 0);
        }
    }
    for (size_t j = 0; j < g->size; j++) {
        expect_near("a marginal", g->rows[j], g->marginals[j], 2e-5);
    }
    assert_true(g->rows[g->size] == 77);
    for (size_t f = 0; f < setting->graph->features; f++) {
        expect_near("an expectation", expected[f], g->expected[f], 2e-5f * (1 + g->expected[f]));
    }
}

/* With all kernels; two runs are collected together. Those of AVX-512 and AVX2 agree to the bit. */
static void check_kernels(struct group *g)
{
    size_t features = g->setting->graph->features;
    float *expected = tr_alloc(features, sizeof *expected), *rows = NULL;
    const struct tr_kernels *kernels;
    for (size_t k = 0; (kernels = tr_kernels_at(k)); k++) {
        assert_true(run(g, kernels) && run(g, kernels));
        memset(expected, 0, features * sizeof *expected);
        tr_lattice_flush_transition_counts(g->setting->lattice, g->setting->steps, expected);
        for (size_t f = 0; f < features; f++) {
            expected[f] /= 2;
        }
        check(g, expected);
        if (rows && kernels != &tr_kernels_baseline) {
            assert_memory_equal(rows, g->rows, g->size * sizeof *rows);
        }
        free(rows);
        rows = tr_alloc(g->size, sizeof *rows);
        memcpy(rows, g->rows, g->size * sizeof *rows);
    }
    free(rows);
    free(expected);
}

static void test_against_reference(void **state)
{
    (void)state;
    for (about = 1; about <= 3 * TR_WIDEST_OF_GROUP; about++) {
        struct setting setting;
        struct group g;
        uint32_t labels = 1 + (uint32_t)about % TR_WIDEST_OF_GROUP;
        tr_random_seed(&dice, about);
        make(&setting, labels, 1, (size_t)labels * labels, 2, TR_LIST_ALL);
        assert_true(tr_lattice_can_group(setting.graph));
        make_group(&g, &setting, 1 + tr_random_below(&dice, TR_GROUP_MAX),
                   about % 7 == 0 ? TR_GROUP_LONGEST : 1 + tr_random_below(&dice, 40),
                   about % 3 == 0 ? 20 : 3);
        check_kernels(&g);
        free_group(&g);
        clear(&setting);
    }
}

/* Transitions that are forbidden, and out of a label all but one. */
static void test_forbidden(void **state)
{
    (void)state;
    for (about = 1; about <= 20; about++) {
        struct setting setting;
        struct group g;
        tr_random_seed(&dice, about);
        make(&setting, 9, 1, 81, 1, TR_LIST_ALL);
        for (size_t f = 0; f < 81; f++) { // not those of the start and the end
            bool into_first = setting.grams[f].label[1] == 0;
            setting.weights[f] = !into_first && (f % 4 == 0 || setting.grams[f].label[0] == 3)
                                     ? -INFINITY
                                     : setting.weights[f];
        }
        tr_steps_set(setting.steps, setting.weights);
        make_group(&g, &setting, TR_GROUP_MAX, 12, 1);
        const struct tr_kernels *kernels;
        for (size_t k = 0; (kernels = tr_kernels_at(k)); k++) {
            assert_true(run(&g, kernels));
            for (size_t j = 0; j < g.size; j++) {
                assert_true(fabsf(g.rows[j] - g.marginals[j]) <= 2e-5f);
            }
        }
        free_group(&g);
        clear(&setting);
    }
}

/* Where single precision is not enough, or a score is NaN, nothing is collected. */
static void test_gives_up(void **state)
{
    (void)state;
    struct setting setting;
    struct group g;
    const struct tr_kernels *kernels;
    tr_random_seed(&dice, 1);
    make(&setting, 5, 1, 25, 300, TR_LIST_ALL);
    make_group(&g, &setting, 12, 10, 300);
    begin(&setting, 10, 300);
    assert_false(compare(&setting)); // nor is it for a sequence alone
    for (size_t k = 0; (kernels = tr_kernels_at(k)); k++) {
        assert_false(run(&g, kernels));
    }
    free_group(&g);
    for (size_t f = 0; f < setting.graph->features; f++) {
        setting.weights[f] = uniform(1);
    }
    tr_steps_set(setting.steps, setting.weights);
    make_group(&g, &setting, 12, 10, 1);
    for (size_t k = 0; (kernels = tr_kernels_at(k)); k++) {
        float *expected = tr_alloc(setting.graph->features, sizeof *expected);
        float was = g.scores[g.begin[3] + 1];
        g.scores[g.begin[3] + 1] = NAN;
        assert_false(run(&g, kernels));
        g.scores[g.begin[3] + 1] = was;
        assert_true(run(&g, kernels));
        tr_lattice_flush_transition_counts(setting.lattice, setting.steps, expected);
        check(&g, expected);
        free(expected);
    }
    free_group(&g);
    clear(&setting);
}

static void test_what_pays(void **state)
{
    (void)state;
    struct tr_group_member member[TR_GROUP_MAX] = {{.length = 10}};
    struct tr_graph all = {.free_steps = false}, listed = {.free_steps = true};
    assert_false(tr_lattice_group_pays(&all, member, 0));
    assert_false(tr_lattice_group_pays(&all, member, 1));
    for (size_t k = 1; k < 8; k++) {
        assert_false(tr_lattice_group_pays(&listed, member, k < 4 ? k : 4)); // just a quarter
        member[k].length = 10;
    }
    assert_true(tr_lattice_group_pays(&listed, member, 5));
    assert_false(tr_lattice_group_pays(&all, member, 8)); // just half of the lanes
    member[8].length = 1;
    assert_true(tr_lattice_group_pays(&all, member, 9));
}

/* As in text: nearly all transitions among `frequent` labels, one in twenty of the others. */
static void make_frequent(struct setting *setting, uint32_t labels, uint32_t frequent)
{
    memset(setting, 0, sizeof *setting);
    setting->plan = (struct tr_graph_plan){.labels = labels, .order = 1};
    list_grams(setting, (size_t)labels * labels);
    size_t pairs = (size_t)labels * labels, count = 0;
    for (size_t f = 0; f < setting->plan.gram_count; f++) {
        const uint16_t *label = setting->grams[f].label;
        bool inside = label[0] % 3 == 1 && label[0] / 3 < frequent && label[1] % 3 == 1 &&
                      label[1] / 3 < frequent;
        if (f >= pairs || (tr_random_below(&dice, 20) == 0) != inside) {
            setting->grams[count++] = setting->grams[f];
        }
    }
    setting->plan.gram_count = count;
    setting->weights = tr_alloc(count, sizeof *setting->weights);
    assert_non_null(setting->weights);
    for (size_t f = 0; f < count; f++) {
        setting->weights[f] = uniform(2);
    }
    make_graph(setting, TR_LIST_FREE);
}

/* Some are forbidden; with `small`, most have so small a factor that sums cancel. */
static void change_weights(struct setting *setting, bool small)
{
    for (size_t f = 0; f < setting->graph->features; f++) {
        const struct tr_gram *gram = &setting->grams[f];
        bool pair = gram->label[0] < setting->graph->labels &&
                    gram->label[1] < setting->graph->labels;
        if (pair && small && tr_random_below(&dice, 9) > 0) {
            setting->weights[f] -= 8;
        } else if (pair && gram->label[1] > 0 && tr_random_below(&dice, 20) == 0) {
            setting->weights[f] = -INFINITY;
        }
    }
    tr_steps_set(setting->steps, setting->weights);
}

/* From hardly any listed transitions to nearly all, and with frequent labels. */
static void test_lists(void **state)
{
    (void)state;
    for (about = 1; about <= 150; about++) {
        struct setting setting;
        struct group g;
        tr_random_seed(&dice, about);
        uint32_t labels = 1 + (uint32_t)tr_random_below(&dice, about % 10 == 0 ? 300 : 60);
        if (about % 3 == 0) {
            labels += 50;
            make_frequent(&setting, labels, (uint32_t)tr_random_below(&dice, labels / 3));
        } else {
            size_t pairs = 1 + tr_random_below(&dice, (size_t)labels * labels);
            make(&setting, labels, 1, about % 5 == 0 ? pairs : (pairs + 7) / 8, 2, TR_LIST_FREE);
        }
        change_weights(&setting, about % 4 == 0);
        assert_true(tr_lattice_can_group(setting.graph));
        make_group(&g, &setting, 1 + tr_random_below(&dice, TR_GROUP_MAX),
                   1 + tr_random_below(&dice, about % 10 == 0 ? 9 : 30), about % 7 == 0 ? 12 : 3);
        check_kernels(&g);
        free_group(&g);
        clear(&setting);
    }
}

/* All transitions are listed and score about -9: what a sum begins with is ten thousand times as large
 * as what it ends with. */
static void test_cancellation(void **state)
{
    (void)state;
    struct setting setting;
    struct group g;
    tr_random_seed(&dice, about = 1);
    make(&setting, 30, 1, 900, 2, TR_LIST_FREE);
    for (size_t f = 0; f < 900; f++) {
        setting.weights[f] -= 9;
    }
    tr_steps_set(setting.steps, setting.weights);
    make_group(&g, &setting, TR_GROUP_MAX, 12, 3);
    check_kernels(&g);
    free_group(&g);
    clear(&setting);
}

/* Label priors are counted, too. */
static void test_priors(void **state)
{
    (void)state;
    struct setting setting;
    struct group g;
    tr_random_seed(&dice, about = 1);
    memset(&setting, 0, sizeof setting);
    setting.plan = (struct tr_graph_plan){.labels = 20, .order = 1};
    list_grams(&setting, 60);
    for (uint16_t c = 0; c < 20; c++) { // instead of the ends
        setting.grams[60 + 2 * c + 1] = (struct tr_gram){1, {c}};
    }
    setting.weights = tr_alloc(setting.plan.gram_count, sizeof *setting.weights);
    for (size_t f = 0; f < setting.plan.gram_count; f++) {
        setting.weights[f] = uniform(2);
    }
    make_graph(&setting, TR_LIST_FREE);
    make_group(&g, &setting, TR_GROUP_MAX, 12, 3);
    check_kernels(&g);
    free_group(&g);
    clear(&setting);
}

/* Weights of single transitions that change, as in a stochastic step. */
static void test_changes(void **state)
{
    (void)state;
    struct setting setting;
    struct group g;
    tr_random_seed(&dice, about = 1);
    make_frequent(&setting, 90, 20);
    assert_int_equal(tr_steps_index(setting.steps, NULL), TRELLIS_OK);
    for (size_t f = 0; f < setting.graph->features; f += 3) {
        tr_steps_change(setting.steps, (uint32_t)f, uniform(2));
    }
    make_group(&g, &setting, 9, 12, 3);
    float *expected = tr_alloc(setting.graph->features, sizeof *expected);
    assert_true(expected && run(&g, NULL));
    tr_lattice_flush_transition_counts(setting.lattice, setting.steps, expected);
    check(&g, expected);
    free(expected);
    free_group(&g);
    clear(&setting);
}

/* Only graphs of the first order: with few labels, all of whose transitions are listed, or with lists. */
static void test_what_can_be_grouped(void **state)
{
    (void)state;
    static const struct {
        uint32_t labels, order;
        enum tr_listing listing;
        bool can;
    } cases[] = {{32, 1, TR_LIST_ALL, true},
                 {33, 1, TR_LIST_ALL, false},
                 {9, 1, TR_LIST_FREE, true},
                 {TR_GROUP_LABELS, 1, TR_LIST_FREE, true},
                 {TR_GROUP_LABELS + 1, 1, TR_LIST_FREE, false},
                 {4, 2, TR_LIST_ALL, false}};
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        struct setting setting;
        tr_random_seed(&dice, 1);
        make(&setting, cases[i].labels, cases[i].order, cases[i].labels, 1, cases[i].listing);
        assert_int_equal(tr_lattice_can_group(setting.graph), cases[i].can);
        clear(&setting);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_forbidden),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_cancellation),
        cmocka_unit_test(test_priors),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_gives_up),
        cmocka_unit_test(test_what_pays),
        cmocka_unit_test(test_what_can_be_grouped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
