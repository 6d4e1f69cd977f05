/* test_referee.c - our L-BFGS and OWL-QN against liblbfgs, on a random logistic regression.
 *
 *     f(w) = sum_i log(1 + exp(-y_i w·x_i)) + 0.01 |w|^2
 *
 * Both must reach the same value; with a guess of the curvature, and on several threads, too.
 */
#include "optim/problems.h"

#include <lbfgs.h>

#include "base/random.h"

enum { ROWS = 300, COLUMNS = 9000 }; // several blocks of the vector work

struct regression {
    double x[ROWS][20];
    unsigned column[ROWS][20];
    double y[ROWS];
    float unit[COLUMNS];
};

static struct regression *make_regression(void)
{
    struct regression *r = tr_alloc(1, sizeof *r);
    struct tr_random random;
    tr_random_seed(&random, 7);
    double curvature[COLUMNS];
    for (size_t j = 0; j < COLUMNS; j++) {
        curvature[j] = 0.1;
    }
    for (size_t i = 0; i < ROWS; i++) {
        r->y[i] = tr_random_real(&random) < 0.5 ? -1 : 1;
        for (size_t k = 0; k < 20; k++) {
            /* frequent columns and rare ones, as words have it */
            double u = tr_random_real(&random);
            r->column[i][k] = (unsigned)(u * u * u * COLUMNS);
            r->x[i][k] = 1 + r->y[i] * (r->column[i][k] % 3 ? 0.2 : 0.9) * tr_random_real(&random);
            curvature[r->column[i][k]] += 0.25;
        }
    }
    for (size_t j = 0; j < COLUMNS; j++) {
        r->unit[j] = (float)(1 / sqrt(curvature[j]));
    }
    return r;
}

static double value_of(const struct regression *r, const double *w, double *gradient)
{
    double value = 0;
    for (size_t j = 0; j < COLUMNS; j++) {
        value += 0.01 * w[j] * w[j];
        gradient[j] = 0.02 * w[j];
    }
    for (size_t i = 0; i < ROWS; i++) {
        double margin = 0;
        for (size_t k = 0; k < 20; k++) {
            margin += r->x[i][k] * w[r->column[i][k]];
        }
        margin *= r->y[i];
        value += margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
        for (size_t k = 0; k < 20; k++) {
            gradient[r->column[i][k]] -= r->y[i] * r->x[i][k] / (1 + exp(margin));
        }
    }
    return value;
}

static trellis_status evaluate(void *user, const double *w, double *gradient, double *ret_value,
                               trellis_error *error)
{
    (void)error;
    *ret_value = value_of(user, w, gradient);
    return TRELLIS_OK;
}

static lbfgsfloatval_t evaluate_for_referee(void *user, const lbfgsfloatval_t *w,
                                            lbfgsfloatval_t *gradient, const int n,
                                            const lbfgsfloatval_t step)
{
    (void)n;
    (void)step;
    return value_of(user, w, gradient);
}

static double penalised(const struct regression *r, const double *w, double l1)
{
    static double gradient[COLUMNS];
    double value = value_of(r, w, gradient);
    for (size_t j = 0; j < COLUMNS; j++) {
        value += l1 * fabs(w[j]);
    }
    return value;
}

static double referee(struct regression *r, double l1)
{
    lbfgs_parameter_t parameter;
    lbfgs_parameter_init(&parameter);
    parameter.epsilon = 1e-7;
    parameter.orthantwise_c = l1;
    parameter.linesearch = l1 > 0 ? LBFGS_LINESEARCH_BACKTRACKING : LBFGS_LINESEARCH_MORETHUENTE;
    lbfgsfloatval_t *w = lbfgs_malloc(COLUMNS), value;
    memset(w, 0, COLUMNS * sizeof *w);
    lbfgs(COLUMNS, w, &value, evaluate_for_referee, NULL, r, &parameter);
    value = penalised(r, w, l1);
    lbfgs_free(w);
    return value;
}

static void values_agree(void **state)
{
    (void)state;
    const double penalties[] = {0, 0.05, 0.5, 2};
    struct regression *r = make_regression();
    double *w = tr_alloc(COLUMNS, sizeof *w), *first = tr_alloc(COLUMNS, sizeof *first);
    for (size_t p = 0; p < TR_COUNT(penalties); p++) {
        double expected = referee(r, penalties[p]);
        for (unsigned variant = 0; variant < 4; variant++) {
            struct tr_pool *pool = NULL;
            assert_int_equal(tr_pool_create(variant, &pool, NULL), TRELLIS_OK);
            struct tr_objective objective = {COLUMNS, evaluate, r};
            struct tr_optim_settings settings = {.l1 = penalties[p],
                                                 .l1_size = COLUMNS,
                                                 .epsilon = 1e-7,
                                                 .unit = variant ? r->unit : NULL,
                                                 .pool = variant ? pool : NULL};
            enum tr_stop stop;
            memset(w, 0, COLUMNS * sizeof *w);
            assert_int_equal(tr_optimise(&objective, &settings, w, &stop, NULL), TRELLIS_OK);
            double found = penalised(r, w, penalties[p]);
            assert_true(fabs(found - expected) < 1e-5 * expected);
            if (variant == 1) {
                memcpy(first, w, COLUMNS * sizeof *w);
            } else if (variant > 1) { // threads make no difference, to the last bit
                assert_memory_equal(first, w, COLUMNS * sizeof *w);
            }
            tr_pool_destroy(pool);
        }
    }
    free(first);
    free(w);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
