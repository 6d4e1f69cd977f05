/* conjugate_gradient.c - Polak-Ribiere+.
 *
 *     d_0     = -g_0
 *     w_{k+1} = w_k + t_k d_k                              t_k by a strong-Wolfe line search
 *     beta    = max(0, g_{k+1}·(g_{k+1} - g_k) / g_k·g_k)
 *     d_{k+1} = -g_{k+1} + beta d_k
 *
 * The plus is the max: a beta of 0 starts afresh from the gradient. So does a direction that does
 * not descend, and one along which no step was found; where the gradient itself gives none, F is as
 * low as the arithmetic allows.
 *
 * Nocedal and Wright, Numerical Optimization, 2006, section 5.2; section 3.5 for the first trial
 *
 *     t = t_{k-1} phi'_{k-1}(0) / phi'_k(0)
 */
#include "optim/methods.h"

#include "optim/line_search.h"
#include "optim/vector.h"

/* From d_k to d_{k+1}, with the line search just done. */
static void turn(struct tr_line *line)
{
    const double *g = line->next_gradient, *old = line->gradient;
    double change = tr_dot(tr_line_pool(line), g, g, line->size) -
                    tr_dot(tr_line_pool(line), g, old, line->size);
    double beta = fmax(0, change / tr_dot(tr_line_pool(line), old, old, line->size));
    for (size_t j = 0; j < line->size; j++) {
        line->direction[j] = beta * line->direction[j] - g[j];
    }
}

static double slope_of(const struct tr_line *line)
{
    return tr_dot(tr_line_pool(line), line->direction, line->gradient, line->size);
}

/* One search along the direction; a found step of 0 where there is none. */
static trellis_status search(struct tr_line *line, double reach, struct tr_point *ret_found)
{
    struct tr_point start = {.value = line->monitor->value, .slope = slope_of(line)};
    if (!(start.slope < 0)) {
        *ret_found = start;
        return TRELLIS_OK;
    }
    double trial = reach < 0 ? reach / start.slope
                             : 1 / tr_norm(tr_line_pool(line), line->direction, line->size);
    double c2 = 0.1; // below 1/2, or the next direction may not descend
    return tr_search_strong_wolfe(line, start, c2, trial, ret_found);
}

static trellis_status run(struct tr_line *line)
{
    struct tr_monitor *monitor = line->monitor;
    struct tr_state_registry *registry = monitor->settings->registry;
    double reach = 0;   // t phi'(0) of the last iteration; 0: unknown
    uint64_t fresh = 1; // the direction is -g for want of a better one
    tr_keep_doubles(registry, "REAC", &reach, 1);
    tr_keep_doubles(registry, "DIRE", line->direction, line->size);
    tr_keep_whole(registry, "FRES", &fresh, 1, 1);
    trellis_status status = tr_monitor_begin(monitor, line->w, line->gradient);
    if (!status && fresh) {
        tr_line_down(line);
    }
    while (!status && monitor->stop == TR_STOP_NONE) {
        struct tr_point found;
        status = tr_registry_save(registry, monitor->error);
        if (!status) {
            status = search(line, reach, &found);
        }
        if (status) {
            return status;
        }
        if (found.step > 0) {
            fresh = 0;
            reach = found.step * slope_of(line);
            turn(line);
            tr_line_advance(line, found);
        } else if (!fresh) {
            fresh = 1;
            reach = 0;
            tr_line_down(line);
        } else {
            monitor->stop = TR_STOP_PRECISION;
        }
    }
    return status;
}

trellis_status tr_conjugate_gradient(struct tr_monitor *monitor, double *w, double *gradient)
{
    return tr_line_run(monitor, w, gradient, run);
}
