/* lbfgs.c - L-BFGS and OWL-QN, by liblbfgs.
 *
 *     w_{k+1} = w_k - t_k H_k g_k
 *
 * H_k is the inverse Hessian as the last few changes of w and g show it. With an l1 penalty g is the
 * pseudo-gradient and a step stays in its orthant (OWL-QN). liblbfgs does the arithmetic; this file is
 * the bridge to it. Its own stopping rules are off: the watcher's hold.
 *
 * What liblbfgs leaves open is settled here:
 *
 *   - Its callback cannot fail. After a failed evaluation, and for a value that is not finite, the
 *     trial is *refused*: it is shown a value that no line search takes, so the step shrinks, and after
 *     a failure no more is evaluated until liblbfgs gives up and goes back to the last good w.
 *   - OWL-QN tests the decrease along the projected step, which may point uphill where some weights
 *     are not penalised. A trial above the last F is refused, so F never rises.
 *   - A line search may fail far from the optimum, over a history that has become useless. Then it
 *     begins afresh from the w it has reached, with plain backtracking for the line search.
 *
 * liblbfgs may be built for SSE, which wants its own aligned and padded memory: w is copied into it.
 */
#include "optim/methods.h"

#include <lbfgs.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* A run that failed is followed by another if it lowered F by more than this share of it. */
static const double worth_another = 1e-8;
static const unsigned longest_history = 100000;

struct bridge {
    struct tr_watcher *watcher;
    double *gradient;      // [size] where a run begins
    double smooth;         // f, there
    bool begun;            // liblbfgs has been given these two
    double value;          // F of the last trial
    trellis_status status; // of the evaluations
};

/* Of the Moré-Thuente search: a trial just above the start, without a slope, has it try a third of the
 * step next. Infinity would leave it with NaN. Backtracking, which OWL-QN always does, halves the step
 * whatever it is. */
static double refuse(const struct bridge *bridge, double *gradient)
{
    size_t size = bridge->watcher->objective->size;
    memset(gradient, 0, size * sizeof *gradient);
    return tr_watcher_penalised(bridge->watcher) ? INFINITY
                                                 : nextafter(bridge->watcher->value, INFINITY);
}

static double on_evaluate(void *user, const double *w, double *gradient, int size, double step)
{
    (void)step;
    struct bridge *bridge = user;
    if (!bridge->begun) {
        bridge->begun = true;
        memcpy(gradient, bridge->gradient, (size_t)size * sizeof *gradient);
        return bridge->smooth;
    }
    double smooth = INFINITY;
    if (bridge->status == TRELLIS_OK) {
        bridge->status = tr_watcher_evaluate(bridge->watcher, w, gradient, &smooth);
    }
    bridge->value = smooth + tr_watcher_penalty(bridge->watcher, w);
    bool uphill = tr_watcher_penalised(bridge->watcher) && bridge->value > bridge->watcher->value;
    return smooth < INFINITY && !uphill ? smooth : refuse(bridge, gradient);
}

/* The trial that was accepted is the last one that was evaluated. */
static int on_progress(void *user, const double *w, const double *gradient, double value,
                       double weight_norm, double gradient_norm, double step, int size,
                       int iteration, int trials)
{
    (void)gradient, (void)value, (void)size, (void)iteration, (void)trials;
    struct bridge *bridge = user;
    struct tr_optim_report report = {
        .value = bridge->value,
        .gradient_norm = gradient_norm,
        .weight_norm = weight_norm,
        .step = step,
    };
    return tr_watcher_step(bridge->watcher, w, report) ? 0 : LBFGS_STOP;
}

static lbfgs_parameter_t parameters_of(const struct tr_watcher *watcher)
{
    const struct tr_optim_settings *settings = watcher->settings;
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.m = settings->history ? (int)settings->history : 6;
    parameters.epsilon = 0;
    parameters.past = 0;
    parameters.max_iterations = 0;
    parameters.linesearch = LBFGS_LINESEARCH_MORETHUENTE;
    if (tr_watcher_penalised(watcher)) {
        parameters.orthantwise_c = settings->l1;
        parameters.orthantwise_start = 0;
        parameters.orthantwise_end = (int)settings->l1_size;
        parameters.linesearch = LBFGS_LINESEARCH_BACKTRACKING;
    }
    return parameters;
}

static bool is_line_search_failure(int code)
{
    switch (code) {
    case LBFGSERR_OUTOFINTERVAL:
    case LBFGSERR_INCORRECT_TMINMAX:
    case LBFGSERR_ROUNDING_ERROR:
    case LBFGSERR_MINIMUMSTEP:
    case LBFGSERR_MAXIMUMSTEP:
    case LBFGSERR_MAXIMUMLINESEARCH:
    case LBFGSERR_WIDTHTOOSMALL:
    case LBFGSERR_INVALIDPARAMETERS:
    case LBFGSERR_INCREASEGRADIENT:
        return true;
    default:
        return false;
    }
}

/* One run of liblbfgs. TRELLIS_OK without a stop: its line search failed. */
static trellis_status run_once(struct bridge *bridge, double *w, lbfgs_parameter_t *parameters)
{
    struct tr_watcher *watcher = bridge->watcher;
    bridge->begun = false;
    int code = lbfgs((int)watcher->objective->size, w, NULL, on_evaluate, on_progress, bridge,
                     parameters);
    if (bridge->status != TRELLIS_OK || watcher->stop != TR_STOP_NONE) {
        return bridge->status;
    }
    if (code == LBFGSERR_OUTOFMEMORY) {
        return tr_fail_memory(watcher->error);
    }
    if (code == LBFGS_SUCCESS || code == LBFGS_ALREADY_MINIMIZED) {
        watcher->stop = TR_STOP_GRADIENT; // |g| / |w| is 0
        return TRELLIS_OK;
    }
    if (!is_line_search_failure(code)) {
        return tr_fail(watcher->error, TRELLIS_OPTION, "liblbfgs refused its settings (code %d)",
                       code);
    }
    return TRELLIS_OK;
}

/* Runs until a rule holds or another run would not help. */
static trellis_status run(struct bridge *bridge, double *w)
{
    struct tr_watcher *watcher = bridge->watcher;
    lbfgs_parameter_t parameters = parameters_of(watcher);
    for (;;) {
        double before = watcher->value;
        trellis_status status = run_once(bridge, w, &parameters);
        if (status != TRELLIS_OK || watcher->stop != TR_STOP_NONE) {
            return status;
        }
        bool lowered = before - watcher->value > worth_another * fabs(watcher->value);
        if (!lowered && parameters.linesearch == LBFGS_LINESEARCH_BACKTRACKING) {
            watcher->stop = TR_STOP_PRECISION;
            return TRELLIS_OK;
        }
        parameters.linesearch = LBFGS_LINESEARCH_BACKTRACKING;
        status = tr_watcher_evaluate(watcher, w, bridge->gradient, &bridge->smooth);
        if (status != TRELLIS_OK) {
            return status;
        }
    }
}

trellis_status tr_lbfgs(struct tr_watcher *watcher, double *w, double *gradient)
{
    size_t size = watcher->objective->size;
    if (size > INT_MAX - 16) {
        return tr_fail(watcher->error, TRELLIS_LIMIT, "%zu weights are more than L-BFGS can count",
                       size);
    }
    if (watcher->settings->history > longest_history) {
        return tr_fail(watcher->error, TRELLIS_LIMIT, "a history of %u is too long for L-BFGS",
                       watcher->settings->history);
    }
    double *copy = lbfgs_malloc((int)size);
    if (!copy) {
        return tr_fail_memory(watcher->error);
    }
    memcpy(copy, w, size * sizeof *w);
    struct bridge bridge = {.watcher = watcher, .gradient = gradient, .smooth = watcher->smooth};
    trellis_status status = run(&bridge, copy);
    memcpy(w, copy, size * sizeof *w);
    lbfgs_free(copy);
    return status;
}
