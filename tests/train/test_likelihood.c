/* test_likelihood.c - the objectives of a CRF and of an MEMM against all that can be chosen. */
#include "train/judge.h"

/* The kinds of training that the bits of a variant ask for. */
static struct problem *make_variant(const struct kind *kind, size_t variant, size_t sequences,
                                    bool local, bool loss)
{
    bool dictionary = local && variant >= 6;
    struct recipe recipe = {.kind = kind,
                            .templates = templates[variant % TR_COUNT(templates)],
                            .sequences = sequences,
                            .words = dictionary ? 40 : 4,
                            .weights = variant & 1,
                            .dictionary = dictionary,
                            .all_features = variant & 2,
                            .priors = variant & 1 || kind->order == 0,
                            .forbid = variant & 4,
                            .local = local,
                            .loss = loss,
                            .seed = (unsigned)(1 + 100 * variant + (size_t)(kind - kinds))};
    struct problem *p = make_problem(&recipe);
    assert_int_equal(p->training.data.train.label_count, LABELS);
    assert_true(!dictionary || p->training.data.tag_dictionary.words > 0);
    assert_int_equal(p->training.layout.graph->free_steps,
                     kind->free_steps || p->training.layout.graph->step_count == 0);
    return p;
}

/* All kinds of graph by all kinds of features, with small weights and with such that single
 * precision must give up. */
static void check_value_and_gradient(bool local, bool loss)
{
    for (size_t kind = 0; kind < TR_COUNT(kinds); kind++) {
        for (size_t variant = 0; variant < 8; variant++) {
            char name[80];
            snprintf(name, sizeof name, "%s%s, variant %zu", local ? "local, " : "",
                     kinds[kind].name, variant);
            struct problem *p = make_variant(&kinds[kind], variant, 20, local, loss);
            write_out(p);
            if (variant < TR_COUNT(templates)) {
                judge_the_judge(p, name);
            }
            compare(p, name, 0, 0);
            compare(p, name, 1, 0);
            compare(p, name, 2, 0.75);
            compare(p, name, 30, 0);
            compare(p, name, 300, 0.01);
            problem_free(p);
        }
    }
}

static void test_sequences(void **state)
{
    (void)state;
    check_value_and_gradient(false, false);
}

/* So many sequences that some are summed side by side (lattice/group.h), beside others that have a
 * weight, and with weights that are too large for that. */
static void test_groups(void **state)
{
    (void)state;
    static const double scales[] = {0, 1, 30, 300};
    for (size_t variant = 0; variant < 8; variant++) {
        struct problem *p = make_variant(&kinds[1], variant, 400, false, false);
        write_out(p);
        p->bundled = variant >= 4;
        for (size_t i = 0; i < TR_COUNT(scales); i++) {
            compare(p, "groups", scales[i], 0.5);
        }
        problem_free(p);
    }
}

/* Softmax-margin. */
static void test_with_loss(void **state)
{
    (void)state;
    check_value_and_gradient(false, true);
    check_value_and_gradient(true, true);
}

static void test_decisions(void **state)
{
    (void)state;
    check_value_and_gradient(true, false);
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < TR_COUNT(kinds); kind++) {
        for (int local = 0; local < 2; local++) {
            struct problem *p = make_variant(&kinds[kind], 5, 150, local, false);
            compare_threads(p);
            problem_free(p);
            p = make_variant(&kinds[kind], 0, 150, local, false);
            p->bundled = true;
            compare_threads(p);
            assert_true(p->bundles > 0);
            problem_free(p);
        }
    }
}

/* Features to weights and back. */
static void test_spread_and_gather(void **state)
{
    (void)state;
    struct problem *p = make_variant(&kinds[3], 2, 20, false, false);
    struct tr_likelihood *likelihood;
    trellis_error error = {0};
    assert_ok(tr_pool_create(1, &p->training.pool, &error), error);
    assert_ok(tr_likelihood_create(&p->training, &likelihood, &error), error);
    double *w = tr_alloc(p->size, sizeof *w), *back = tr_alloc(p->size, sizeof *w);
    float *weights = tr_alloc_aligned(p->training.layout.size, sizeof *weights);
    assert_true(w && back && weights);
    draw_weights(&p->training.random, 3, w, p->size);
    tr_features_to_weights(likelihood, w, weights);
    tr_weights_to_features(likelihood, weights, back);
    assert_memory_equal(w, back, p->size * sizeof *w);
    free(w);
    free(back);
    free(weights);
    tr_likelihood_destroy(likelihood);
    problem_free(p);
}

/* Gold labels that the graph forbids cannot be learned: the value says so, and nothing crashes. */
static void test_forbidden_gold(void **state)
{
    (void)state;
    static const uint16_t all[][2] = {{LABELS, 0}, {LABELS, 1}};
    for (int local = 0; local < 2; local++) {
        struct problem *p = make_variant(&kinds[1], 0, 20, local, false);
        struct tr_training *t = &p->training;
        trellis_error error = {0};
        tr_graph_destroy(t->layout.graph);
        t->layout.plan.forbidden = all;
        t->layout.plan.forbidden_count = TR_COUNT(all);
        assert_ok(tr_graph_create(&t->layout.plan, &t->layout.graph, &error), error);
        double *w = tr_alloc(p->size, sizeof *w), *gradient = tr_alloc(p->size, sizeof *w);
        assert_true(w && gradient);
        assert_true(isinf(evaluate(p, 1, 0, w, gradient)));
        free(w);
        free(gradient);
        problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_with_loss),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_spread_and_gather),
        cmocka_unit_test(test_forbidden_gold),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
