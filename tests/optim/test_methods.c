/* test_methods.c - every method finds the minimum that is known, whatever the function does. */
#include "optim/problems.h"

static void quadratic_is_solved_by_all(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct problem *problem = make_problem(50, quadratic);
        double w[50] = {0};
        enum tr_stop stop;
        struct tr_optim_settings settings = {.method = all_methods[m], .epsilon = 1e-9};
        assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
        assert_int_equal(stop, TR_STOP_GRADIENT);
        assert_near(w, problem->centre, 50, 1e-8);
        assert_true(problem->reports < 100);
        free(problem);
    }
}

static void solve_rosenbrock(enum tr_method method, size_t size, double tolerance)
{
    struct problem *problem = make_problem(size, rosenbrock);
    double w[100], ones[100];
    for (size_t j = 0; j < size; j++) {
        w[j] = j % 2 ? 1 : -1.2;
        ones[j] = 1;
    }
    enum tr_stop stop;
    struct tr_optim_settings settings = {
        .method = method, .epsilon = 1e-6, .max_iterations = 100000};
    assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
    assert_int_equal(stop, TR_STOP_GRADIENT);
    if (fabs(w[0] + 1) >
        0.1) { // from 4 dimensions on there is a second, local minimum near w_0 = -1
        assert_near(w, ones, size, tolerance);
    } else {
        assert_true(size > 3 && problem->last_value < 4);
    }
    free(problem);
}

static void rosenbrock_is_solved_by_all(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        solve_rosenbrock(all_methods[m], 2, 1e-4);
        solve_rosenbrock(all_methods[m], 100, 1e-3);
    }
}

static void logistic_regression_gives_the_shares(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct problem *problem = make_problem(2, logistic);
        double w[2] = {0}, expected[2] = {-log(3), 2 * log(3)};
        enum tr_stop stop;
        struct tr_optim_settings settings = {.method = all_methods[m], .epsilon = 1e-7};
        assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
        assert_int_equal(stop, TR_STOP_GRADIENT);
        assert_near(w, expected, 2, 1e-6);
        free(problem);
    }
}

/* Values that are not finite in the line search make the step shorter. */
static void not_a_number_on_the_way(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct problem *problem = make_problem(20, barrier);
        double w[20], expected[20];
        for (size_t j = 0; j < 20; j++) {
            w[j] = 0.5 + (double)j;
            expected[j] = 1 / problem->scale[j];
        }
        enum tr_stop stop;
        struct tr_optim_settings settings = {.method = all_methods[m], .epsilon = 1e-7};
        assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
        assert_int_equal(stop, TR_STOP_GRADIENT);
        assert_near(w, expected, 20, 1e-5);
        assert_true(problem->not_finite > 0);
        free(problem);
    }
}

static void scales_do_not_matter(void **state)
{
    (void)state;
    const double factors[] = {1e-12, 1e-6, 1e6, 1e12};
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        for (size_t f = 0; f < TR_COUNT(factors); f++) {
            struct problem *problem = make_problem(10, quadratic);
            for (size_t j = 0; j < 10; j++) {
                problem->scale[j] *= factors[f];
            }
            double w[10] = {1000};
            enum tr_stop stop;
            struct tr_optim_settings settings = {.method = all_methods[m],
                                                 .epsilon = 1e-7 * factors[f]};
            assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
            assert_int_equal(stop, TR_STOP_GRADIENT);
            assert_near(w, problem->centre, 10, 1e-5);
            free(problem);
        }
    }
}

/* Where no line search can succeed, the run still ends well, with what it has. */
static void kinks_end_well(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct problem *problem = make_problem(10, kinks);
        double w[10], gradient[10];
        for (size_t j = 0; j < 10; j++) {
            w[j] = 3 + 0.37 * (double)j;
        }
        double before = kinks(problem, w, gradient);
        enum tr_stop stop;
        struct tr_optim_settings settings = {.method = all_methods[m], .max_iterations = 10000};
        assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
        assert_true(stop != TR_STOP_NONE);
        assert_true(kinks(problem, w, gradient) < before / 2);
        free(problem);
    }
}

static void sizes_0_and_1(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct tr_optim_settings settings = {.method = all_methods[m], .epsilon = 1e-9};
        enum tr_stop stop;
        struct problem *none = make_problem(0, quadratic);
        double w[1] = {7};
        assert_int_equal(minimise(none, settings, w, &stop, NULL), TRELLIS_OK);
        assert_int_equal(stop, TR_STOP_GRADIENT);
        assert_int_equal(none->reports, 0);
        assert_true(w[0] == 7);
        free(none);
        struct problem *one = make_problem(1, quadratic);
        assert_int_equal(minimise(one, settings, w, &stop, NULL), TRELLIS_OK);
        assert_int_equal(stop, TR_STOP_GRADIENT);
        assert_near(w, one->centre, 1, 1e-8);
        free(one);
    }
}

static void runs_are_repeatable(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct problem *problem = make_problem(30, rosenbrock);
        double a[30] = {0}, b[30] = {0};
        enum tr_stop stop;
        struct tr_optim_settings settings = {.method = all_methods[m], .max_iterations = 40};
        assert_int_equal(minimise(problem, settings, a, &stop, NULL), TRELLIS_OK);
        assert_int_equal(minimise(problem, settings, b, &stop, NULL), TRELLIS_OK);
        assert_memory_equal(a, b, sizeof a);
        free(problem);
    }
}

static void a_history_of_one_and_of_many(void **state)
{
    (void)state;
    const unsigned histories[] = {1, 3, 500};
    for (size_t h = 0; h < TR_COUNT(histories); h++) {
        struct problem *problem = make_problem(50, quadratic);
        double w[50] = {0};
        enum tr_stop stop;
        struct tr_optim_settings settings = {.epsilon = 1e-9, .history = histories[h]};
        assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
        assert_near(w, problem->centre, 50, 1e-8);
        free(problem);
    }
}

/* sum_j scale_j (sqrt(1 + (w_j - j % 5)^2) - 1) over more variables than a block of a vector has,
 * with scales from 1 to 1,000 that come again every 4 variables. */
enum { MANY = 10000 };

static trellis_status evaluate_many(void *user, const double *w, double *gradient,
                                    double *ret_value, trellis_error *error)
{
    (void)error;
    size_t size = *(const size_t *)user;
    *ret_value = 0;
    for (size_t j = 0; j < size; j++) {
        double scale = pow(10, (double)(j % 4)), d = w[j] - (double)(j % 5);
        double root = sqrt(1 + d * d);
        *ret_value += scale * (root - 1);
        gradient[j] = scale * d / root;
    }
    return TRELLIS_OK;
}

static bool count_reports(void *user, const struct tr_optim_report *report, const double *w)
{
    (void)w;
    *(uint64_t *)user = report->iteration;
    return true;
}

/* The iterations until the minimum is found. */
static uint64_t iterations_of_many(size_t size, const float *unit)
{
    double *w = tr_alloc(size, sizeof *w);
    uint64_t iterations = 0;
    struct tr_objective objective = {.size = size, .evaluate = evaluate_many, .user = &size};
    struct tr_optim_settings settings = {.method = TR_LBFGS,
                                         .epsilon = 1e-9,
                                         .max_iterations = 1000,
                                         .unit = unit,
                                         .report = count_reports,
                                         .user = &iterations};
    enum tr_stop stop;
    assert_non_null(w);
    assert_int_equal(tr_optimise(&objective, &settings, w, &stop, NULL), TRELLIS_OK);
    for (size_t j = 0; j < size; j++) {
        assert_true(fabs(w[j] - (double)(j % 5)) < 1e-5);
    }
    free(w);
    return iterations;
}

/* With the curvature known as it is at the minimum, the scales do not make the way longer, in
 * vectors of one block and of several. */
static void many_variables_and_scales(void **state)
{
    (void)state;
    float *unit = tr_alloc(MANY, sizeof *unit);
    assert_non_null(unit);
    for (size_t j = 0; j < MANY; j++) {
        unit[j] = (float)pow(10, -0.5 * (double)(j % 4));
    }
    assert_true(iterations_of_many(60, unit) < 20);
    assert_true(iterations_of_many(MANY, unit) < 20);
    assert_true(iterations_of_many(60, NULL) > 40);
    free(unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quadratic_is_solved_by_all),
        cmocka_unit_test(rosenbrock_is_solved_by_all),
        cmocka_unit_test(logistic_regression_gives_the_shares),
        cmocka_unit_test(not_a_number_on_the_way),
        cmocka_unit_test(scales_do_not_matter),
        cmocka_unit_test(kinks_end_well),
        cmocka_unit_test(sizes_0_and_1),
        cmocka_unit_test(runs_are_repeatable),
        cmocka_unit_test(a_history_of_one_and_of_many),
        cmocka_unit_test(many_variables_and_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
