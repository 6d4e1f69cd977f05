/* problems.h - functions whose minimum is known, and a watch kept over their minimisation. */
#ifndef TESTS_OPTIM_PROBLEMS_H
#define TESTS_OPTIM_PROBLEMS_H

#include "base/error.h"
#include "base/memory.h"
#include "optim/optim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { LARGEST = 200 };

static const enum tr_method all_methods[] = {TR_LBFGS, TR_CONJUGATE_GRADIENT, TR_GRADIENT_DESCENT};

/* What a function is made of, and what happened to it. */
struct problem {
    struct tr_objective objective;
    double (*function)(const struct problem *problem, const double *w, double *gradient);
    double scale[LARGEST];  // of each dimension
    double centre[LARGEST]; // the minimum, or what else the function needs
    uint64_t evaluations;
    uint64_t not_finite; // how many evaluations were
    uint64_t fail_at;    // this evaluation fails; 0: none
    double stop_below;   // the report function says stop below this F
    uint64_t reports;
    double last_value; // F of the last report, or of the start
    double last_w[LARGEST];
    struct tr_optim_report last;
    bool rose; // F rose from one report to the next
};

static trellis_status problem_evaluate(void *user, const double *w, double *gradient,
                                       double *ret_value, trellis_error *error)
{
    struct problem *problem = user;
    problem->evaluations++;
    assert_true(!problem->fail_at || problem->evaluations <= problem->fail_at);
    if (problem->evaluations == problem->fail_at) {
        return tr_fail(error, TRELLIS_FORMAT, "evaluation %d broke", (int)problem->evaluations);
    }
    for (size_t j = 0; j < problem->objective.size; j++) {
        assert_true(isfinite(w[j]));
    }
    *ret_value = problem->function(problem, w, gradient);
    problem->not_finite += !isfinite(*ret_value);
    return TRELLIS_OK;
}

static bool problem_report(void *user, const struct tr_optim_report *report, const double *w)
{
    struct problem *problem = user;
    problem->reports++;
    assert_int_equal(report->iteration, problem->reports);
    assert_true(report->evaluations <= problem->evaluations);
    if (problem->reports > 1 && report->value > problem->last_value) {
        problem->rose = true;
    }
    problem->last_value = report->value;
    problem->last = *report;
    memcpy(problem->last_w, w, problem->objective.size * sizeof *w);
    return !(report->value < problem->stop_below);
}

/* sum_j scale_j (w_j - centre_j)^2 / 2 */
static inline double quadratic(const struct problem *problem, const double *w, double *gradient)
{
    double sum = 0;
    for (size_t j = 0; j < problem->objective.size; j++) {
        double d = w[j] - problem->centre[j];
        gradient[j] = problem->scale[j] * d;
        sum += problem->scale[j] * d * d / 2;
    }
    return sum;
}

/* sum_j 100 (w_{j+1} - w_j^2)^2 + (1 - w_j)^2, whose minimum is at 1, ..., 1 */
static inline double rosenbrock(const struct problem *problem, const double *w, double *gradient)
{
    size_t size = problem->objective.size;
    memset(gradient, 0, size * sizeof *gradient);
    double sum = 0;
    for (size_t j = 0; j + 1 < size; j++) {
        double a = w[j + 1] - w[j] * w[j], b = 1 - w[j];
        sum += 100 * a * a + b * b;
        gradient[j] += -400 * a * w[j] - 2 * b;
        gradient[j + 1] += 200 * a;
    }
    return sum;
}

/* sum_j scale_j w_j - log w_j, whose minimum is at 1 / scale_j; NaN for negative w */
static inline double barrier(const struct problem *problem, const double *w, double *gradient)
{
    double sum = 0;
    for (size_t j = 0; j < problem->objective.size; j++) {
        sum += problem->scale[j] * w[j] - log(w[j]);
        gradient[j] = problem->scale[j] - 1 / w[j];
    }
    return sum;
}

/* sum_j |w_j - centre_j|, which has no gradient at its minimum */
static inline double kinks(const struct problem *problem, const double *w, double *gradient)
{
    double sum = 0;
    for (size_t j = 0; j < problem->objective.size; j++) {
        double d = w[j] - problem->centre[j];
        gradient[j] = d > 0 ? 1 : d < 0 ? -1 : 0;
        sum += fabs(d);
    }
    return sum;
}

/* Logistic regression: of 8 with x = 0, 2 are positive; of 8 with x = 1, 6 are. The minimum gives
 * each group its share: w_0 = log(2/6), w_0 + w_1 = log(6/2). */
static inline double logistic(const struct problem *problem, const double *w, double *gradient)
{
    (void)problem;
    const double positive[2] = {2, 6}, all = 8;
    double sum = 0;
    gradient[0] = gradient[1] = 0;
    for (int x = 0; x < 2; x++) {
        double score = w[0] + x * w[1];
        double p = 1 / (1 + exp(-score));
        sum += all * log1p(exp(score)) - positive[x] * score;
        gradient[0] += all * p - positive[x];
        gradient[1] += x * (all * p - positive[x]);
    }
    return sum;
}

static inline struct problem *make_problem(size_t size,
                                           double (*function)(const struct problem *problem,
                                                              const double *w, double *gradient))
{
    assert_true(size <= LARGEST);
    struct problem *problem = tr_alloc(1, sizeof *problem);
    assert_non_null(problem);
    problem->objective = (struct tr_objective){
        .size = size, .evaluate = problem_evaluate, .user = problem};
    problem->function = function;
    problem->stop_below = -INFINITY;
    for (size_t j = 0; j < size; j++) {
        problem->scale[j] = 1 + (double)(j % 7);
        problem->centre[j] = (double)(j % 5) - 1.5;
    }
    return problem;
}

/* Minimises from w; watches that F never rises and that the last reported w is the one returned. */
static inline trellis_status minimise(struct problem *problem, struct tr_optim_settings settings,
                                      double *w, enum tr_stop *ret_stop, trellis_error *error)
{
    settings.report = problem_report;
    settings.user = problem;
    problem->reports = problem->evaluations = 0;
    problem->rose = false;
    trellis_status status = tr_optimise(&problem->objective, &settings, w, ret_stop, error);
    assert_false(problem->rose);
    if (problem->reports) {
        assert_memory_equal(w, problem->last_w, problem->objective.size * sizeof *w);
    }
    return status;
}

static inline void assert_near(const double *w, const double *expected, size_t size,
                               double tolerance)
{
    for (size_t j = 0; j < size; j++) {
        if (!(fabs(w[j] - expected[j]) <= tolerance)) {
            fail_msg("w[%zu] is %.17g, not %.17g", j, w[j], expected[j]);
        }
    }
}

#endif
