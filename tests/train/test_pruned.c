/* test_pruned.c - the objective of a pruned CRF: exact where nothing is pruned, and its gradient
 * where much is. */
#include "train/judge.h"

static struct problem *make_pruned(size_t kind, size_t variant, size_t sequences, double threshold)
{
    struct recipe recipe = {.kind = &kinds[kind],
                            .templates = templates[variant % TR_COUNT(templates)],
                            .sequences = sequences,
                            .words = 4,
                            .weights = variant & 1,
                            .all_features = variant & 2,
                            .priors = variant & 1,
                            .forbid = variant & 4,
                            .seed = (unsigned)(1 + 100 * variant + kind)};
    struct problem *p = make_problem(&recipe);
    struct tr_training *t = &p->training;
    trellis_error error = {0};
    tr_graph_destroy(t->layout.graph);
    t->layout.plan.pruned = true;
    t->layout.plan.threshold = threshold;
    assert_ok(tr_graph_create(&t->layout.plan, &t->layout.graph, &error), error);
    return p;
}

/* Order 1, 2 and 3 of the kinds. */
static const size_t orders[] = {1, 3, 4};

/* With a threshold of 0 value and gradient are those of all label sequences. */
static void test_nothing_is_pruned(void **state)
{
    (void)state;
    for (size_t k = 0; k < TR_COUNT(orders); k++) {
        for (size_t variant = 0; variant < 8; variant++) {
            char name[80];
            snprintf(name, sizeof name, "pruned, %s, variant %zu", kinds[orders[k]].name, variant);
            struct problem *p = make_pruned(orders[k], variant, 20, 0);
            write_out(p);
            compare(p, name, 0, 0);
            compare(p, name, 1, 0);
            compare(p, name, 2, 0.75);
            compare(p, name, 30, 0);
            problem_free(p);
        }
    }
}

/* df/dw by central differences. Where something that was kept on one side is pruned on the other,
 * the value jumps; these are few, and are passed over. */
static void check_differences(struct problem *p, size_t *checked, size_t *jumps)
{
    const double h = 1.0 / 128;
    double *w = tr_alloc(p->size, sizeof *w);
    double *gradient = tr_alloc(p->size, sizeof *w), *ignored = tr_alloc(p->size, sizeof *w);
    assert_true(w && gradient && ignored);
    draw_weights(&p->training.random, 1, w, p->size);
    double value = evaluate(p, 1, 0.1, w, gradient);
    for (size_t j = 0; j < p->size; j++) {
        double kept = w[j];
        w[j] = kept + h;
        double above = evaluate(p, 1, 0.1, w, ignored);
        w[j] = kept - h;
        double below = evaluate(p, 1, 0.1, w, ignored);
        w[j] = kept;
        bool jump = fabs(above - 2 * value + below) > 0.02;
        double slope = (above - below) / (2 * h);
        if (!jump && !(fabs(slope - gradient[j]) < 0.02 * (1 + fabs(slope)))) {
            fail_msg("df/dw[%zu] is %.6g, by differences %.6g (%zu node, %zu edge)", j, gradient[j],
                     slope, p->node, p->edge);
        }
        ++*checked;
        *jumps += jump;
    }
    free(w);
    free(gradient);
    free(ignored);
}

static void test_gradient(void **state)
{
    (void)state;
    size_t checked = 0, jumps = 0;
    for (size_t k = 0; k < TR_COUNT(orders); k++) {
        for (size_t variant = 0; variant < 6; variant++) {
            struct problem *p = make_pruned(orders[k], variant, 10, variant % 2 ? 0.05 : 0.2);
            check_differences(p, &checked, &jumps);
            problem_free(p);
        }
    }
    assert_true(jumps < checked / 5);
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    for (size_t k = 0; k < TR_COUNT(orders); k++) {
        struct problem *p = make_pruned(orders[k], 5, 150, 0.1);
        compare_threads(p);
        problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_pruned),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
