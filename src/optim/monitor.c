/* monitor.c - the stopping rules, in the order in which they are asked.
 *
 *     gradient    |g| < epsilon max(1, |w|), or |g| = 0
 *     change      F_{k-period} - F_k < delta |F_k|
 *     caller      the report function returned false
 *     iterations  k = max_iterations
 *     precision   F is the same to the last bit for `max_still` iterations
 *
 * Where l1 > 0, g is the pseudo-gradient of F, the subgradient that is nearest to 0:
 *
 *     g_j = f'_j + l1 sign(w_j)                   where w_j != 0
 *     g_j = sign(f'_j) max(0, |f'_j| - l1)        where w_j = 0
 *
 * Andrew and Gao, Scalable training of L1-regularized log-linear models, 2007.
 */
#include "optim/monitor.h"

#include "base/memory.h"
#include "optim/vector.h"

enum { max_still = 5 };

trellis_status tr_monitor_open(struct tr_monitor *monitor, const struct tr_objective *objective,
                               const struct tr_optim_settings *settings, trellis_error *error)
{
    *monitor = (struct tr_monitor){.objective = objective, .settings = settings, .error = error};
    monitor->period = settings->period ? settings->period : 10;
    monitor->past = tr_alloc(monitor->period, sizeof *monitor->past);
    monitor->slices = settings->slices ? settings->slices : &monitor->whole;
    if (!monitor->past) {
        return tr_fail_memory(error);
    }
    return settings->slices ? TRELLIS_OK
                            : tr_slices_create(&monitor->whole, NULL, objective->size, error);
}

void tr_monitor_close(struct tr_monitor *monitor)
{
    free(monitor->past);
    monitor->past = NULL;
    tr_slices_free(&monitor->whole);
}

bool tr_monitor_penalised(const struct tr_monitor *monitor)
{
    return monitor->settings->l1 > 0 && monitor->settings->l1_size > 0;
}

double tr_monitor_penalty(const struct tr_monitor *monitor, const double *w)
{
    if (!tr_monitor_penalised(monitor)) {
        return 0;
    }
    double sum = 0;
    for (size_t j = 0; j < monitor->settings->l1_size; j++) {
        sum += fabs(w[j]);
    }
    return monitor->settings->l1 * sum;
}

trellis_status tr_monitor_evaluate(struct tr_monitor *monitor, const double *w, double *gradient,
                                   double *ret_smooth)
{
    const struct tr_objective *objective = monitor->objective;
    monitor->smooth = *ret_smooth = INFINITY;
    monitor->evaluations++;
    double smooth = 0;
    trellis_status status = objective->evaluate(objective->user, w, gradient, &smooth,
                                                monitor->error);
    if (status != TRELLIS_OK) {
        return status;
    }
    if (isfinite(smooth)) {
        monitor->smooth = *ret_smooth = smooth;
    }
    return TRELLIS_OK;
}

double tr_monitor_slope(const struct tr_monitor *monitor, const double *w, const double *gradient)
{
    size_t size = monitor->objective->size;
    size_t penalised = monitor->settings->l1_size;
    double l1 = monitor->settings->l1;
    double sum = tr_dot(monitor->settings->pool, gradient + penalised, gradient + penalised,
                        size - penalised);
    for (size_t j = 0; j < penalised; j++) {
        double g = w[j] != 0 ? gradient[j] + copysign(l1, w[j]) : fmax(0, fabs(gradient[j]) - l1);
        sum += g * g;
    }
    return sqrt(sum);
}

static bool gradient_is_small(const struct tr_monitor *monitor, double g_norm, double w_norm)
{
    return g_norm == 0 || g_norm < monitor->settings->epsilon * fmax(1, w_norm);
}

/* The squares of |w| and of |g|, and whether g is finite. */
static trellis_status measure_start(struct tr_monitor *monitor, const double *w,
                                    const double *gradient, double *ret_w, double *ret_g,
                                    bool *ret_finite)
{
    struct tr_pool *pool = monitor->settings->pool;
    trellis_error *error = monitor->error;
    trellis_status status = tr_shared_finite(monitor->slices, pool, gradient, ret_finite, error);
    status = status ? status : tr_shared_dot(monitor->slices, pool, w, w, ret_w, error);
    return status ? status : tr_shared_dot(monitor->slices, pool, gradient, gradient, ret_g, error);
}

trellis_status tr_monitor_start(struct tr_monitor *monitor, const double *w, double *gradient)
{
    double smooth = INFINITY, w_square = 0, g_square = 0;
    bool finite = false;
    trellis_status status = tr_shared_finite(monitor->slices, monitor->settings->pool, w, &finite,
                                             monitor->error);
    if (!status && finite) {
        status = tr_monitor_evaluate(monitor, w, gradient, &smooth);
    }
    if (!status) {
        status = measure_start(monitor, w, gradient, &w_square, &g_square, &finite);
    }
    if (status) {
        return status;
    }
    monitor->value = smooth + tr_monitor_penalty(monitor, w);
    if (!isfinite(monitor->value) || !finite) {
        return tr_fail(monitor->error, TRELLIS_DATA,
                       "the objective or its gradient is not a finite number where the "
                       "optimisation begins");
    }
    monitor->past[0] = monitor->value;
    double g_norm = tr_monitor_penalised(monitor) ? tr_monitor_slope(monitor, w, gradient)
                                                  : sqrt(g_square);
    if (gradient_is_small(monitor, g_norm, sqrt(w_square))) {
        monitor->stop = TR_STOP_GRADIENT;
    }
    return TRELLIS_OK;
}

trellis_status tr_monitor_begin(struct tr_monitor *monitor, double *w, double *gradient)
{
    struct tr_state_registry *registry = monitor->settings->registry;
    size_t size = monitor->objective->size;
    bool loaded;
    tr_keep_doubles(registry, "WGHT", w, size);
    tr_keep_doubles(registry, "GRAD", gradient, size);
    tr_keep_doubles(registry, "VALU", &monitor->value, 1);
    tr_keep_doubles(registry, "PAST", monitor->past, monitor->period);
    tr_keep_whole(registry, "ITER", &monitor->iteration, 1, UINT64_MAX);
    tr_keep_whole(registry, "EVAL", &monitor->evaluations, 1, UINT64_MAX);
    tr_keep_whole(registry, "STIL", &monitor->still, 1, max_still - 1);
    trellis_status status = tr_registry_load(registry, &loaded, monitor->error);
    if (status || !loaded) {
        return status ? status : tr_monitor_start(monitor, w, gradient);
    }
    uint64_t max = monitor->settings->max_iterations;
    if (max && monitor->iteration >= max) {
        monitor->stop = TR_STOP_ITERATIONS;
    }
    return TRELLIS_OK;
}

static bool change_is_small(struct tr_monitor *monitor, double value)
{
    double *past = &monitor->past[monitor->iteration % monitor->period];
    double change = *past - value;
    *past = value;
    return monitor->iteration >= monitor->period && change < monitor->settings->delta * fabs(value);
}

static bool caller_stops(const struct tr_monitor *monitor, const double *w,
                         struct tr_optim_report *report)
{
    const struct tr_optim_settings *settings = monitor->settings;
    if (!settings->report) {
        return false;
    }
    report->iteration = monitor->iteration;
    report->evaluations = monitor->evaluations;
    return !settings->report(settings->user, report, w);
}

bool tr_monitor_step(struct tr_monitor *monitor, const double *w, struct tr_optim_report report)
{
    monitor->iteration++;
    monitor->still = report.value < monitor->value ? 0 : monitor->still + 1;
    monitor->value = report.value;
    bool caller = caller_stops(monitor, w, &report);
    bool change = change_is_small(monitor, report.value);

    if (gradient_is_small(monitor, report.gradient_norm, report.weight_norm)) {
        monitor->stop = TR_STOP_GRADIENT;
    } else if (change) {
        monitor->stop = TR_STOP_CHANGE;
    } else if (caller) {
        monitor->stop = TR_STOP_CALLER;
    } else if (monitor->iteration == monitor->settings->max_iterations) {
        monitor->stop = TR_STOP_ITERATIONS;
    } else if (monitor->still == max_still) {
        monitor->stop = TR_STOP_PRECISION;
    }
    return monitor->stop == TR_STOP_NONE;
}
