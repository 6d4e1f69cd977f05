/* optim.c - checks the settings and calls the method. */
#include "optim/optim.h"

#include "base/memory.h"
#include "optim/methods.h"

#include <math.h>

static const char *const meanings[] = {
    [TR_STOP_NONE] = "still running",
    [TR_STOP_GRADIENT] = "converged: gradient norm below --epsilon",
    [TR_STOP_CHANGE] = "converged: relative change below --delta",
    [TR_STOP_ITERATIONS] = "maximum number of iterations reached",
    [TR_STOP_CALLER] = "interrupted",
    [TR_STOP_PRECISION] = "line search found no further improvement",
};

const char *tr_stop_meaning(enum tr_stop stop)
{
    return (size_t)stop < TR_COUNT(meanings) ? meanings[stop] : "unknown reason";
}

typedef trellis_status minimise(struct tr_monitor *monitor, double *w, double *gradient);

static minimise *const methods[] = {
    [TR_LBFGS] = tr_quasi_newton,
    [TR_CONJUGATE_GRADIENT] = tr_conjugate_gradient,
    [TR_GRADIENT_DESCENT] = tr_gradient_descent,
};

/* False for NaN too. */
static bool is_amount(double number)
{
    return number >= 0 && number < INFINITY;
}

static trellis_status check(const struct tr_objective *objective,
                            const struct tr_optim_settings *settings, trellis_error *error)
{
    if ((size_t)settings->method >= TR_COUNT(methods)) {
        return tr_fail(error, TRELLIS_OPTION, "there is no optimisation method number %d",
                       (int)settings->method);
    }
    if (!is_amount(settings->l1) || !is_amount(settings->epsilon) || !is_amount(settings->delta)) {
        return tr_fail(error, TRELLIS_OPTION,
                       "l1 (%g), epsilon (%g) and delta (%g) must be finite and not negative",
                       settings->l1, settings->epsilon, settings->delta);
    }
    if (settings->l1_size > objective->size) {
        return tr_fail(error, TRELLIS_OPTION, "l1 is asked for %zu weights where there are %zu",
                       settings->l1_size, objective->size);
    }
    if (settings->l1 > 0 && settings->l1_size && settings->method != TR_LBFGS) {
        return tr_fail(error, TRELLIS_OPTION, "of the batch methods only L-BFGS supports l1");
    }
    if (settings->slices && (settings->method != TR_LBFGS || settings->l1 > 0 ||
                             settings->registry || settings->slices->held != objective->size)) {
        return tr_fail(error, TRELLIS_OPTION, "these weights cannot be shared by ranks");
    }
    return TRELLIS_OK;
}

trellis_status tr_optimise(const struct tr_objective *objective,
                           const struct tr_optim_settings *settings, double *w,
                           enum tr_stop *ret_stop, trellis_error *error)
{
    *ret_stop = TR_STOP_NONE;
    trellis_status status = check(objective, settings, error);
    if (status != TRELLIS_OK) {
        return status;
    }
    struct tr_monitor monitor;
    double *gradient = tr_alloc_aligned(objective->size, sizeof *gradient);
    status = tr_monitor_open(&monitor, objective, settings, error);
    if (!status && !gradient) {
        status = tr_fail_memory(error);
    }
    if (settings->slices && settings->slices->ranks) {
        status = tr_ranks_agree(settings->slices->ranks, status, error);
    }
    if (!status) {
        status = methods[settings->method](&monitor, w, gradient);
    }
    if (!status) {
        *ret_stop = monitor.stop;
    }
    tr_registry_clear(settings->registry);
    tr_monitor_close(&monitor);
    free(gradient);
    return status;
}
