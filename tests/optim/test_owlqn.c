/* test_owlqn.c - l1: against soft thresholding, against coordinate descent, and exact zeros. */
#include "optim/problems.h"

static double soft(double b, double threshold)
{
    return b > threshold ? b - threshold : b < -threshold ? b + threshold : 0;
}

static size_t count_active(const double *w, size_t size)
{
    size_t active = 0;
    for (size_t j = 0; j < size; j++) {
        active += w[j] != 0;
    }
    return active;
}

/* Of sum_j s_j (w_j - b_j)^2 / 2 + l1 |w|_1 the minimum is w_j = soft(b_j, l1 / s_j). */
static void a_separable_quadratic_is_thresholded(void **state)
{
    (void)state;
    const double penalties[] = {0.1, 1, 2, 5, 100};
    for (size_t p = 0; p < TR_COUNT(penalties); p++) {
        for (size_t penalised = 1; penalised <= 40; penalised += 13) {
            struct problem *problem = make_problem(40, quadratic);
            double w[40], expected[40];
            for (size_t j = 0; j < 40; j++) {
                w[j] = j % 3 ? 0 : 2.5;
                problem->centre[j] = sin(3.0 * (double)j) * 3;
                double l1 = j < penalised ? penalties[p] : 0;
                expected[j] = soft(problem->centre[j], l1 / problem->scale[j]);
            }
            enum tr_stop stop;
            struct tr_optim_settings settings = {
                .l1 = penalties[p], .l1_size = penalised, .epsilon = 1e-8};
            assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
            assert_true(stop == TR_STOP_GRADIENT || stop == TR_STOP_PRECISION);
            assert_near(w, expected, 40, 1e-6);
            for (size_t j = 0; j < 40; j++) {
                assert_true(expected[j] != 0 || w[j] == 0);
            }
            assert_int_equal(count_active(w, 40), count_active(expected, 40));
            free(problem);
        }
    }
}

/* Least squares |A w - y|^2 / 2 with rows that overlap. */
enum { ROWS = 30, COLUMNS = 12 };

static double entry(size_t i, size_t j)
{
    return cos(1.7 * (double)(i * COLUMNS + j)) + (i % COLUMNS == j);
}

static double target(size_t i)
{
    return 2 * entry(i, 0) - 1.5 * entry(i, 3) + 0.3 * sin((double)i);
}

static double least_squares(const struct problem *problem, const double *w, double *gradient)
{
    (void)problem;
    memset(gradient, 0, COLUMNS * sizeof *gradient);
    double sum = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double r = -target(i);
        for (size_t j = 0; j < COLUMNS; j++) {
            r += entry(i, j) * w[j];
        }
        for (size_t j = 0; j < COLUMNS; j++) {
            gradient[j] += r * entry(i, j);
        }
        sum += r * r / 2;
    }
    return sum;
}

/* w_j = soft(sum_i a_ij (y_i - sum_{k != j} a_ik w_k), l1) / sum_i a_ij^2, over and over */
static void coordinate_descent(double l1, size_t penalised, double *w)
{
    for (int round = 0; round < 2000; round++) {
        for (size_t j = 0; j < COLUMNS; j++) {
            double product = 0, square = 0;
            for (size_t i = 0; i < ROWS; i++) {
                double r = target(i);
                for (size_t k = 0; k < COLUMNS; k++) {
                    r -= k == j ? 0 : entry(i, k) * w[k];
                }
                product += entry(i, j) * r;
                square += entry(i, j) * entry(i, j);
            }
            w[j] = soft(product, j < penalised ? l1 : 0) / square;
        }
    }
}

static void the_lasso_agrees_with_coordinate_descent(void **state)
{
    (void)state;
    const double penalties[] = {0.01, 0.5, 3, 20};
    for (size_t p = 0; p < TR_COUNT(penalties); p++) {
        for (size_t penalised = COLUMNS - 2; penalised <= COLUMNS; penalised += 2) {
            double expected[COLUMNS] = {0}, w[COLUMNS] = {0};
            coordinate_descent(penalties[p], penalised, expected);
            struct problem *problem = make_problem(COLUMNS, least_squares);
            enum tr_stop stop;
            struct tr_optim_settings settings = {
                .l1 = penalties[p], .l1_size = penalised, .epsilon = 1e-9};
            assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
            assert_near(w, expected, COLUMNS, 1e-6);
            for (size_t j = 0; j < COLUMNS; j++) {
                assert_true((expected[j] == 0) == (w[j] == 0));
            }
            free(problem);
        }
    }
}

/* A penalty beyond every slope leaves all weights at 0: nothing to do. */
static void a_large_penalty_keeps_zeros(void **state)
{
    (void)state;
    struct problem *problem = make_problem(20, quadratic);
    double w[20] = {0}, zeros[20] = {0};
    enum tr_stop stop;
    struct tr_optim_settings settings = {.l1 = 1e6, .l1_size = 20};
    assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
    assert_int_equal(stop, TR_STOP_GRADIENT);
    assert_int_equal(problem->evaluations, 1);
    assert_memory_equal(w, zeros, sizeof w);
    free(problem);
}

/* With all rules off it ends in the last bits, not in NaN. */
static void precision_ends_it(void **state)
{
    (void)state;
    struct problem *problem = make_problem(COLUMNS, least_squares);
    double expected[COLUMNS] = {0}, w[COLUMNS] = {0};
    coordinate_descent(3, COLUMNS, expected);
    enum tr_stop stop;
    struct tr_optim_settings settings = {.l1 = 3, .l1_size = COLUMNS};
    assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
    assert_true(stop == TR_STOP_PRECISION || stop == TR_STOP_GRADIENT);
    assert_near(w, expected, COLUMNS, 1e-6);
    assert_true(problem->evaluations < 1000);
    free(problem);
}

static void not_a_number_on_the_way(void **state)
{
    (void)state;
    struct problem *problem = make_problem(10, barrier);
    double w[10], expected[10];
    for (size_t j = 0; j < 10; j++) {
        w[j] = 0.5 + 3 * (double)j;
        expected[j] = 1 / (problem->scale[j] + 0.5);
    }
    enum tr_stop stop;
    struct tr_optim_settings settings = {.l1 = 0.5, .l1_size = 10, .epsilon = 1e-7};
    assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
    assert_near(w, expected, 10, 1e-5);
    assert_true(problem->not_finite > 0);
    free(problem);
}

/* From the fourth evaluation on the value is that of the third and more, however short the step,
 * though the gradient promises a fall. */
static double least_squares_that_rise(const struct problem *problem, const double *w,
                                      double *gradient)
{
    double value = least_squares(problem, w, gradient);
    return problem->evaluations > 3 ? 1e6 + (double)problem->evaluations : value;
}

/* A search that cannot succeed ends: it tries 20 steps along the model and 50 in the orthant, and
 * the same once more without the history. */
static void a_search_without_success_ends(void **state)
{
    (void)state;
    struct problem *problem = make_problem(COLUMNS, least_squares_that_rise);
    double w[COLUMNS] = {0};
    enum tr_stop stop;
    struct tr_optim_settings settings = {.l1 = 3, .l1_size = COLUMNS};
    problem->fail_at = 3 + 2 * (20 + 50) + 1;
    assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
    assert_int_equal(stop, TR_STOP_PRECISION);
    assert_true(problem->evaluations > 3 + 20);
    free(problem);
}

/* An l1 over no weights is none. */
static void an_l1_over_nothing_is_plain(void **state)
{
    (void)state;
    struct problem *problem = make_problem(10, quadratic);
    double w[10] = {0};
    enum tr_stop stop;
    struct tr_optim_settings settings = {.l1 = 5, .l1_size = 0, .epsilon = 1e-9};
    assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
    assert_near(w, problem->centre, 10, 1e-8);
    free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_separable_quadratic_is_thresholded),
        cmocka_unit_test(the_lasso_agrees_with_coordinate_descent),
        cmocka_unit_test(a_large_penalty_keeps_zeros),
        cmocka_unit_test(precision_ends_it),
        cmocka_unit_test(not_a_number_on_the_way),
        cmocka_unit_test(a_search_without_success_ends),
        cmocka_unit_test(an_l1_over_nothing_is_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
