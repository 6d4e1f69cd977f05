/* monitor.h - what stands between an objective and the method that minimises it.
 *
 * All methods evaluate through the monitor and report each iteration to it; it counts, reports to
 * the caller and is the one place where the stopping rules are. A method reads
 *
 *     name what it has to know from one iteration to the next to settings->registry
 *     tr_monitor_begin(monitor, w, gradient)
 *     while (it has not stopped) {
 *         tr_registry_save(settings->registry)
 *         find a step that makes F smaller; where there is none, monitor->stop = TR_STOP_PRECISION
 *         if (!tr_monitor_step(monitor, w, report)) break;
 *     }
 */
#ifndef TRELLIS_OPTIM_MONITOR_H
#define TRELLIS_OPTIM_MONITOR_H

#include "optim/optim.h"

struct tr_monitor {
    const struct tr_objective *objective;
    const struct tr_optim_settings *settings;
    trellis_error *error;
    struct tr_slices *slices; // of w: the caller's, or
    struct tr_slices whole;   // one, where the caller has none
    enum tr_stop stop;        // TR_STOP_NONE while it runs
    uint64_t iteration;
    uint64_t evaluations;
    double smooth; // f of the w that was evaluated last
    double value;  // F of the last iteration, or of the start
    double *past;  // [period] F of iteration k at k % period
    unsigned period;
    uint64_t still; // iterations in a row that left F as it was
};

trellis_status tr_monitor_open(struct tr_monitor *monitor, const struct tr_objective *objective,
                               const struct tr_optim_settings *settings, trellis_error *error);
void tr_monitor_close(struct tr_monitor *monitor);

/* Whether the l1 term is there at all. */
bool tr_monitor_penalised(const struct tr_monitor *monitor);
/* l1 * sum_{j < l1_size} |w_j| */
double tr_monitor_penalty(const struct tr_monitor *monitor, const double *w);

/* |g| of the pseudo-gradient, where there is an l1 term. */
double tr_monitor_slope(const struct tr_monitor *monitor, const double *w, const double *gradient);

/* f and its gradient at a finite w; f is infinite where it is not finite. Whether the gradient is
 * finite, the slope along a direction shows, which methods compute anyway. */
trellis_status tr_monitor_evaluate(struct tr_monitor *monitor, const double *w, double *gradient,
                                   double *ret_smooth);

/* Evaluates where the run begins; stops at once where the gradient is small already. */
trellis_status tr_monitor_start(struct tr_monitor *monitor, const double *w, double *gradient);
/* The same, or from where an earlier run was interrupted: then w, its gradient and what the method
 * has named are as they were. To be called when the method has its room. */
trellis_status tr_monitor_begin(struct tr_monitor *monitor, double *w, double *gradient);

/* After an iteration: `report` comes with value, norms and step, the rest is filled in. False where
 * a rule held or the caller wants to stop; then monitor->stop says which. */
bool tr_monitor_step(struct tr_monitor *monitor, const double *w, struct tr_optim_report report);

#endif
