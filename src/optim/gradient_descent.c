/* gradient_descent.c - steepest descent with Armijo's backtracking.
 *
 *     w_{k+1} = w_k - t_k D^{-1} g_k
 *
 * D is the diagonal that tells how curved the objective is along each weight, the identity where
 * the caller does not say: with it this is plain descent in the weights D^{1/2} w. The first trial
 * is a step of length 1, later ones are Barzilai and Borwein's (1988), which read the curvature
 * along the step just made, s = w_{k+1} - w_k = -t_k D^{-1} g_k, from y = g_{k+1} - g_k:
 *
 *     t = s·D s / s·y = t_k <g_k, g_k> / (<g_k, g_k> - <g_k, g_{k+1}>),       <a, b> = a·D^{-1} b
 *
 * at most ten times the last one.
 */
#include "optim/methods.h"

#include "optim/line_search.h"
#include "optim/vector.h"

static double next_trial(const struct tr_line *line, double step)
{
    const double *g = line->next_gradient, *old = line->gradient;
    double old_old = -tr_dot(tr_line_pool(line), line->direction, old, line->size);
    double curvature = (old_old + tr_dot(tr_line_pool(line), line->direction, g, line->size)) /
                       old_old; // s·y / s·Ds * t_k
    return step / fmax(curvature, 0.1);
}

/* d = -D^{-1} g */
static void find_direction(struct tr_line *line)
{
    const float *unit = line->monitor->settings->unit;
    tr_line_down(line);
    for (size_t j = 0; unit && j < line->size; j++) {
        line->direction[j] *= (double)unit[j] * (double)unit[j];
    }
}

static trellis_status run(struct tr_line *line)
{
    struct tr_monitor *monitor = line->monitor;
    double trial = 0; // unknown
    tr_keep_doubles(monitor->settings->registry, "TRIA", &trial, 1);
    trellis_status status = tr_monitor_begin(monitor, line->w, line->gradient);
    while (!status && monitor->stop == TR_STOP_NONE) {
        status = tr_registry_save(monitor->settings->registry, monitor->error);
        if (status) {
            return status;
        }
        find_direction(line);
        double slope = tr_dot(tr_line_pool(line), line->gradient, line->direction, line->size);
        trial = trial > 0 ? trial : 1 / tr_norm(tr_line_pool(line), line->direction, line->size);
        struct tr_point start = {.value = monitor->value, .slope = slope}, found;
        status = tr_search_armijo(line, start, trial, &found);
        if (status != TRELLIS_OK) {
            return status;
        }
        if (found.step == 0) {
            monitor->stop = TR_STOP_PRECISION;
            return TRELLIS_OK;
        }
        trial = next_trial(line, found.step);
        tr_line_advance(line, found);
    }
    return status;
}

trellis_status tr_gradient_descent(struct tr_monitor *monitor, double *w, double *gradient)
{
    return tr_line_run(monitor, w, gradient, run);
}
