/* line_search.h - how far to go along a direction d.
 *
 * Along the line phi(t) = F(w + t d), with phi'(t) = d·g(w + t d), a step t > 0 is searched for
 * with
 *
 *     Armijo        phi(t) <= phi(0) + c1 t phi'(0)             F falls enough
 *     strong Wolfe  Armijo and |phi'(t)| <= c2 |phi'(0)|        and the bottom is near
 *
 * Nocedal and Wright, Numerical Optimization, 2006, chapter 3.
 */
#ifndef TRELLIS_OPTIM_LINE_SEARCH_H
#define TRELLIS_OPTIM_LINE_SEARCH_H

#include "optim/monitor.h"

/* The point of a method, its direction and the last trial. */
struct tr_line {
    struct tr_monitor *monitor;
    size_t size;
    double *w;             // [size] the caller's
    double *gradient;      // [size] at w, the caller's
    double *direction;     // [size] d
    double *next_w;        // [size] w + t d
    double *next_gradient; // [size]
    double finite;         // all steps up to this one are known to give finite weights
};

/* A point of the line. */
struct tr_point {
    double step;  // t
    double value; // phi(t), infinite where it is not finite
    double slope; // phi'(t)
};

/* Takes over w and its gradient, which it does not own. close() is due on failure too. */
trellis_status tr_line_open(struct tr_line *line, struct tr_monitor *monitor, double *w,
                            double *gradient);
void tr_line_close(struct tr_line *line);
/* A method that needs only a line: opens it, runs the method and closes it. */
trellis_status tr_line_run(struct tr_monitor *monitor, double *w, double *gradient,
                           trellis_status (*method)(struct tr_line *line));

/* The threads for work on whole vectors, or NULL. */
static inline struct tr_pool *tr_line_pool(const struct tr_line *line)
{
    return line->monitor->settings->pool;
}

/* d = -g */
void tr_line_down(struct tr_line *line);
/* Moves w and its gradient to the point that was found and reports to the monitor. */
void tr_line_advance(struct tr_line *line, struct tr_point found);
/* Tells the monitor where w has been moved to already; the norms of gradient and w are known. */
void tr_line_report(struct tr_line *line, struct tr_point found, double gradient_norm,
                    double weight_norm);

/* Whether F falls enough from `start` to a point; or where the change is no more than noise,
 * whether the slopes say so. */
bool tr_line_falls(const struct tr_monitor *monitor, struct tr_point start, struct tr_point point);

/* Both search from `start`, where the step is 0 and the slope is below 0, with `trial` as the first
 * step. A found step of 0 means that none was good; next_w and next_gradient are undefined then.
 * The value of a point that was found is never above that of the start, but for noise. */
trellis_status tr_search_armijo(struct tr_line *line, struct tr_point start, double trial,
                                struct tr_point *ret_found);
trellis_status tr_search_strong_wolfe(struct tr_line *line, struct tr_point start, double c2,
                                      double trial, struct tr_point *ret_found);

#endif
