/* test_stop.c - each reason to stop, and each way to fail. */
#include "optim/problems.h"

/* Rosenbrock's function from its usual start. */
static enum tr_stop stop_of(struct tr_optim_settings settings, double stop_below,
                            struct tr_optim_report *ret_last)
{
    struct problem *problem = make_problem(10, rosenbrock);
    problem->stop_below = stop_below;
    double w[10], gradient[10];
    for (size_t j = 0; j < 10; j++) {
        w[j] = j % 2 ? 1 : -1.2;
    }
    enum tr_stop stop;
    assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
    assert_true(rosenbrock(problem, w, gradient) == problem->last_value);
    *ret_last = problem->last;
    free(problem);
    return stop;
}

static void a_small_gradient_stops(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct tr_optim_settings settings = {.method = all_methods[m], .epsilon = 1e-3};
        struct tr_optim_report last;
        assert_int_equal(stop_of(settings, -INFINITY, &last), TR_STOP_GRADIENT);
        assert_true(last.gradient_norm < 1e-3 * fmax(1, last.weight_norm));
    }
}

static void a_small_change_stops(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct tr_optim_settings settings = {.method = all_methods[m], .delta = 1e10, .period = 7};
        struct tr_optim_report last;
        assert_int_equal(stop_of(settings, -INFINITY, &last), TR_STOP_CHANGE);
        assert_int_equal(last.iteration, 7);
        settings.period = 0;
        assert_int_equal(stop_of(settings, -INFINITY, &last), TR_STOP_CHANGE);
        assert_int_equal(last.iteration, 10);
    }
}

static void the_max_iterations_stop(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        for (uint64_t largest = 1; largest < 6; largest += 4) {
            struct tr_optim_settings settings = {.method = all_methods[m],
                                                 .max_iterations = largest};
            struct tr_optim_report last;
            assert_int_equal(stop_of(settings, -INFINITY, &last), TR_STOP_ITERATIONS);
            assert_int_equal(last.iteration, largest);
        }
    }
}

/* stop_of() sees to it that w is the best. */
static void the_caller_stops(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct tr_optim_settings settings = {.method = all_methods[m]};
        struct tr_optim_report last;
        assert_int_equal(stop_of(settings, 1e9, &last), TR_STOP_CALLER);
        assert_int_equal(last.iteration, 1);
        assert_int_equal(stop_of(settings, 100, &last), TR_STOP_CALLER);
        assert_true(last.iteration > 1 && last.value < 100);
    }
}

static void precision_stops(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct problem *problem = make_problem(2, logistic);
        double w[2] = {0}, expected[2] = {-log(3), 2 * log(3)};
        enum tr_stop stop;
        struct tr_optim_settings settings = {.method = all_methods[m]};
        assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
        assert_true(stop == TR_STOP_PRECISION || problem->last.gradient_norm == 0);
        assert_near(w, expected, 2, 1e-6);
        assert_true(problem->reports < 200 && problem->evaluations < 500);
        free(problem);
    }
}

static void a_start_at_the_minimum_stops_at_once(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct problem *problem = make_problem(5, quadratic);
        double w[5];
        memcpy(w, problem->centre, sizeof w);
        enum tr_stop stop;
        struct tr_optim_settings settings = {.method = all_methods[m]};
        assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_OK);
        assert_int_equal(stop, TR_STOP_GRADIENT);
        assert_int_equal(problem->reports, 0);
        assert_int_equal(problem->evaluations, 1);
        assert_memory_equal(w, problem->centre, sizeof w);
        free(problem);
    }
}

/* minimise() sees to it that w is the one that was reported last. */
static void a_failed_evaluation_is_passed_on(void **state)
{
    (void)state;
    for (size_t m = 0; m <= TR_COUNT(all_methods); m++) {
        for (uint64_t at = 1; at < 30; at++) {
            struct problem *problem = make_problem(8, rosenbrock);
            problem->fail_at = at;
            double w[8] = {-1.2, 1};
            enum tr_stop stop;
            trellis_error error = {0};
            struct tr_optim_settings settings = {.method = TR_LBFGS, .l1 = 0.1, .l1_size = 8};
            if (m < TR_COUNT(all_methods)) {
                settings = (struct tr_optim_settings){.method = all_methods[m]};
            }
            char message[40];
            snprintf(message, sizeof message, "evaluation %d broke", (int)at);
            assert_int_equal(minimise(problem, settings, w, &stop, &error), TRELLIS_FORMAT);
            assert_int_equal(stop, TR_STOP_NONE);
            assert_int_equal(error.status, TRELLIS_FORMAT);
            assert_string_equal(error.message, message);
            assert_int_equal(problem->evaluations, at);
            free(problem);
        }
    }
}

static trellis_status walk_over_kinks(struct problem *problem, enum tr_method method)
{
    double w[10];
    for (size_t j = 0; j < 10; j++) {
        w[j] = 3 + 0.37 * (double)j;
    }
    enum tr_stop stop;
    struct tr_optim_settings settings = {.method = method, .max_iterations = 500};
    return minimise(problem, settings, w, &stop, NULL);
}

/* Over kinks line searches fail and L-BFGS begins afresh: a failure there is passed on too. */
static void a_failure_is_passed_on_wherever_it_is(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct problem *problem = make_problem(10, kinks);
        assert_int_equal(walk_over_kinks(problem, all_methods[m]), TRELLIS_OK);
        uint64_t all = problem->evaluations;
        for (uint64_t at = 1; at <= all; at++) {
            problem->fail_at = at;
            assert_int_equal(walk_over_kinks(problem, all_methods[m]), TRELLIS_FORMAT);
            assert_int_equal(problem->evaluations, at);
        }
        free(problem);
    }
}

static void reports_and_errors_may_be_null(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        struct problem *problem = make_problem(10, quadratic);
        double w[10] = {0};
        enum tr_stop stop;
        struct tr_optim_settings settings = {.method = all_methods[m], .epsilon = 1e-9};
        assert_int_equal(tr_optimise(&problem->objective, &settings, w, &stop, NULL), TRELLIS_OK);
        assert_near(w, problem->centre, 10, 1e-8);
        w[3] = NAN;
        assert_int_equal(tr_optimise(&problem->objective, &settings, w, &stop, NULL), TRELLIS_DATA);
        free(problem);
    }
}

static void a_start_that_is_not_finite_fails(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(all_methods); m++) {
        const double starts[] = {-1, 0, NAN};
        for (size_t s = 0; s < TR_COUNT(starts); s++) {
            struct problem *problem = make_problem(1, barrier);
            double w[1] = {starts[s]};
            enum tr_stop stop;
            trellis_error error = {0};
            struct tr_optim_settings settings = {.method = all_methods[m]};
            assert_int_equal(minimise(problem, settings, w, &stop, &error), TRELLIS_DATA);
            assert_true(strlen(error.message) > 20);
            assert_int_equal(problem->reports, 0);
            free(problem);
        }
    }
}

static void bad_settings_fail(void **state)
{
    (void)state;
    const struct tr_optim_settings bad[] = {
        {.method = (enum tr_method)17},
        {.l1 = -1},
        {.l1 = NAN},
        {.epsilon = -1},
        {.delta = INFINITY},
        {.l1 = 1, .l1_size = 4},
        {.method = TR_CONJUGATE_GRADIENT, .l1 = 1, .l1_size = 3},
        {.method = TR_GRADIENT_DESCENT, .l1 = 1, .l1_size = 1},
    };
    struct problem *problem = make_problem(3, quadratic);
    for (size_t i = 0; i < TR_COUNT(bad); i++) {
        double w[3] = {0};
        enum tr_stop stop;
        trellis_error error = {0};
        assert_int_equal(minimise(problem, bad[i], w, &stop, &error), TRELLIS_OPTION);
        assert_true(error.message[0] != 0);
        assert_int_equal(problem->evaluations, 0);
    }
    double w[3] = {0};
    enum tr_stop stop;
    struct tr_optim_settings settings = {.history = 4000000000u};
    assert_int_equal(minimise(problem, settings, w, &stop, NULL), TRELLIS_LIMIT);
    free(problem);
}

static void every_stop_has_a_meaning(void **state)
{
    (void)state;
    for (int stop = TR_STOP_NONE; stop <= TR_STOP_PRECISION; stop++) {
        assert_true(strlen(tr_stop_meaning((enum tr_stop)stop)) > 5);
    }
    assert_string_equal(tr_stop_meaning(TR_STOP_GRADIENT),
                        "converged: gradient norm below --epsilon");
    assert_string_equal(tr_stop_meaning((enum tr_stop)99), "unknown reason");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_gradient_stops),
        cmocka_unit_test(a_small_change_stops),
        cmocka_unit_test(the_max_iterations_stop),
        cmocka_unit_test(the_caller_stops),
        cmocka_unit_test(precision_stops),
        cmocka_unit_test(a_start_at_the_minimum_stops_at_once),
        cmocka_unit_test(a_failed_evaluation_is_passed_on),
        cmocka_unit_test(a_failure_is_passed_on_wherever_it_is),
        cmocka_unit_test(reports_and_errors_may_be_null),
        cmocka_unit_test(a_start_that_is_not_finite_fails),
        cmocka_unit_test(bad_settings_fail),
        cmocka_unit_test(every_stop_has_a_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
