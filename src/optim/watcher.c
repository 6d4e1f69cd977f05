/* watcher.c - the stopping rules, in the order in which they are asked.
 *
 *     gradient    |g| < epsilon max(1, |w|), or |g| = 0
 *     change      F_{k-period} - F_k < delta |F_k|
 *     caller      the report function returned false
 *     most        k = most_iterations
 *     precision   F is the same to the last bit for `still_most` iterations
 *
 * Where l1 > 0, g is the pseudo-gradient of F, the subgradient that is nearest to 0:
 *
 *     g_j = f'_j + l1 sign(w_j)                   where w_j != 0
 *     g_j = sign(f'_j) max(0, |f'_j| - l1)        where w_j = 0
 *
 * Andrew and Gao, Scalable training of L1-regularized log-linear models, 2007.
 */
#include "optim/watcher.h"

#include "base/memory.h"
#include "optim/vector.h"

enum { still_most = 5 };

trellis_status tr_watcher_open(struct tr_watcher *watcher, const struct tr_objective *objective,
                               const struct tr_optim_settings *settings, trellis_error *error)
{
    *watcher = (struct tr_watcher){.objective = objective, .settings = settings, .error = error};
    watcher->period = settings->period ? settings->period : 10;
    watcher->past = tr_alloc(watcher->period, sizeof *watcher->past);
    return watcher->past ? TRELLIS_OK : tr_fail_memory(error);
}

void tr_watcher_close(struct tr_watcher *watcher)
{
    free(watcher->past);
    watcher->past = NULL;
}

bool tr_watcher_penalised(const struct tr_watcher *watcher)
{
    return watcher->settings->l1 > 0 && watcher->settings->l1_size > 0;
}

double tr_watcher_penalty(const struct tr_watcher *watcher, const double *w)
{
    if (!tr_watcher_penalised(watcher)) {
        return 0;
    }
    double sum = 0;
    for (size_t j = 0; j < watcher->settings->l1_size; j++) {
        sum += fabs(w[j]);
    }
    return watcher->settings->l1 * sum;
}

trellis_status tr_watcher_evaluate(struct tr_watcher *watcher, const double *w, double *gradient,
                                   double *ret_smooth)
{
    const struct tr_objective *objective = watcher->objective;
    watcher->smooth = *ret_smooth = INFINITY;
    watcher->evaluations++;
    double smooth = 0;
    trellis_status status = objective->evaluate(objective->user, w, gradient, &smooth,
                                                watcher->error);
    if (status != TRELLIS_OK) {
        return status;
    }
    if (isfinite(smooth)) {
        watcher->smooth = *ret_smooth = smooth;
    }
    return TRELLIS_OK;
}

double tr_watcher_slope(const struct tr_watcher *watcher, const double *w, const double *gradient)
{
    size_t size = watcher->objective->size;
    size_t penalised = tr_watcher_penalised(watcher) ? watcher->settings->l1_size : 0;
    double l1 = watcher->settings->l1;
    double sum = tr_dot(watcher->settings->pool, gradient + penalised, gradient + penalised,
                        size - penalised);
    for (size_t j = 0; j < penalised; j++) {
        double g = w[j] != 0 ? gradient[j] + copysign(l1, w[j]) : fmax(0, fabs(gradient[j]) - l1);
        sum += g * g;
    }
    return sqrt(sum);
}

static bool gradient_is_small(const struct tr_watcher *watcher, double g_norm, double w_norm)
{
    return g_norm == 0 || g_norm < watcher->settings->epsilon * fmax(1, w_norm);
}

trellis_status tr_watcher_start(struct tr_watcher *watcher, const double *w, double *gradient)
{
    double smooth = INFINITY;
    struct tr_pool *pool = watcher->settings->pool;
    size_t size = watcher->objective->size;
    trellis_status status = tr_all_finite(pool, w, size)
                                ? tr_watcher_evaluate(watcher, w, gradient, &smooth)
                                : TRELLIS_OK;
    if (status != TRELLIS_OK) {
        return status;
    }
    watcher->value = smooth + tr_watcher_penalty(watcher, w);
    if (!isfinite(watcher->value) || !tr_all_finite(pool, gradient, size)) {
        return tr_fail(watcher->error, TRELLIS_DATA,
                       "the objective or its gradient is not a finite number where the "
                       "optimisation begins");
    }
    watcher->past[0] = watcher->value;
    double w_norm = tr_norm(pool, w, size);
    if (gradient_is_small(watcher, tr_watcher_slope(watcher, w, gradient), w_norm)) {
        watcher->stop = TR_STOP_GRADIENT;
    }
    return TRELLIS_OK;
}

trellis_status tr_watcher_begin(struct tr_watcher *watcher, double *w, double *gradient)
{
    struct tr_keeper *keeper = watcher->settings->keeper;
    size_t size = watcher->objective->size;
    bool loaded;
    tr_keep_doubles(keeper, "WGHT", w, size);
    tr_keep_doubles(keeper, "GRAD", gradient, size);
    tr_keep_doubles(keeper, "VALU", &watcher->value, 1);
    tr_keep_doubles(keeper, "PAST", watcher->past, watcher->period);
    tr_keep_whole(keeper, "ITER", &watcher->iteration, 1, UINT64_MAX);
    tr_keep_whole(keeper, "EVAL", &watcher->evaluations, 1, UINT64_MAX);
    tr_keep_whole(keeper, "STIL", &watcher->still, 1, still_most - 1);
    trellis_status status = tr_keeper_load(keeper, &loaded, watcher->error);
    if (status || !loaded) {
        return status ? status : tr_watcher_start(watcher, w, gradient);
    }
    uint64_t most = watcher->settings->most_iterations;
    if (most && watcher->iteration >= most) {
        watcher->stop = TR_STOP_MOST;
    }
    return TRELLIS_OK;
}

static bool change_is_small(struct tr_watcher *watcher, double value)
{
    double *past = &watcher->past[watcher->iteration % watcher->period];
    double change = *past - value;
    *past = value;
    return watcher->iteration >= watcher->period && change < watcher->settings->delta * fabs(value);
}

static bool caller_stops(const struct tr_watcher *watcher, const double *w,
                         struct tr_optim_report *report)
{
    const struct tr_optim_settings *settings = watcher->settings;
    if (!settings->report) {
        return false;
    }
    report->iteration = watcher->iteration;
    report->evaluations = watcher->evaluations;
    return !settings->report(settings->user, report, w);
}

bool tr_watcher_step(struct tr_watcher *watcher, const double *w, struct tr_optim_report report)
{
    watcher->iteration++;
    watcher->still = report.value < watcher->value ? 0 : watcher->still + 1;
    watcher->value = report.value;
    bool caller = caller_stops(watcher, w, &report);
    bool change = change_is_small(watcher, report.value);

    if (gradient_is_small(watcher, report.gradient_norm, report.weight_norm)) {
        watcher->stop = TR_STOP_GRADIENT;
    } else if (change) {
        watcher->stop = TR_STOP_CHANGE;
    } else if (caller) {
        watcher->stop = TR_STOP_CALLER;
    } else if (watcher->iteration == watcher->settings->most_iterations) {
        watcher->stop = TR_STOP_MOST;
    } else if (watcher->still == still_most) {
        watcher->stop = TR_STOP_PRECISION;
    }
    return watcher->stop == TR_STOP_NONE;
}
