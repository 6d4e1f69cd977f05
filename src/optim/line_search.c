/* line_search.c - bracket and close in.
 *
 * The strong-Wolfe search keeps two points: `low`, the lowest that falls enough, and `high`, the
 * other end of an interval that holds a good step; until one is known it is at infinity and the
 * step grows.
 *
 *     does not fall enough, or is above low           -> high
 *     falls enough, and slopes down away from high    -> low, and the old low is the new high
 *     falls enough, and slopes down towards high      -> low
 *
 * Next comes the bottom of the cubic through both ends, kept away from them. Near the optimum the
 * fall of F drowns in rounding, and Armijo's condition is replaced by the one of Hager and Zhang
 * (2005), which a parabola fulfils with it and which reads slopes, as they are far more exact:
 *
 *     phi(t) <= phi(0) + noise   and   phi'(t) <= (2 c1 - 1) phi'(0)
 *
 * where the noise is what the caller says about F, or next to nothing.
 */
#include "optim/line_search.h"

#include "base/memory.h"
#include "optim/vector.h"

#include <float.h>

static const double c1 = 1e-4;
static const double least_noise = 1e-10; // a change of F by this share of it may be rounding
static const int max_trials = 60;

trellis_status tr_line_open(struct tr_line *line, struct tr_monitor *monitor, double *w,
                            double *gradient)
{
    size_t size = monitor->objective->size;
    *line = (struct tr_line){.monitor = monitor, .size = size, .w = w, .gradient = gradient};
    line->direction = tr_alloc_aligned(size, sizeof *line->direction);
    line->next_w = tr_alloc_aligned(size, sizeof *line->next_w);
    line->next_gradient = tr_alloc_aligned(size, sizeof *line->next_gradient);
    bool complete = line->direction && line->next_w && line->next_gradient;
    return complete ? TRELLIS_OK : tr_fail_memory(monitor->error);
}

void tr_line_close(struct tr_line *line)
{
    free(line->direction);
    free(line->next_w);
    free(line->next_gradient);
}

trellis_status tr_line_run(struct tr_monitor *monitor, double *w, double *gradient,
                           trellis_status (*method)(struct tr_line *line))
{
    struct tr_line line;
    trellis_status status = tr_line_open(&line, monitor, w, gradient);
    if (status == TRELLIS_OK) {
        status = method(&line);
    }
    tr_line_close(&line);
    return status;
}

void tr_line_down(struct tr_line *line)
{
    for (size_t j = 0; j < line->size; j++) {
        line->direction[j] = -line->gradient[j];
    }
}

void tr_line_advance(struct tr_line *line, struct tr_point found)
{
    struct tr_pool *pool = tr_line_pool(line);
    tr_copy(pool, line->w, line->next_w, line->size);
    tr_copy(pool, line->gradient, line->next_gradient, line->size);
    tr_line_report(line, found, tr_norm(pool, line->gradient, line->size),
                   tr_norm(pool, line->w, line->size));
}

void tr_line_report(struct tr_line *line, struct tr_point found, double gradient_norm,
                    double weight_norm)
{
    struct tr_optim_report report = {
        .value = found.value,
        .gradient_norm = gradient_norm,
        .weight_norm = weight_norm,
        .step = found.step,
    };
    tr_monitor_step(line->monitor, line->w, report);
}

static trellis_status evaluate_at(struct tr_line *line, double step, struct tr_point *ret_point)
{
    struct tr_monitor *monitor = line->monitor;
    struct tr_slices *slices = monitor->slices;
    struct tr_pool *pool = tr_line_pool(line);
    bool finite = step <= line->finite;
    trellis_status status = TRELLIS_OK;
    *ret_point = (struct tr_point){.step = step, .value = INFINITY, .slope = 0};
    if (finite) { // so that ranks need not tell each other
        tr_add_scaled(pool, line->next_w, line->w, step, line->direction, line->size);
    } else {
        status = tr_shared_add_scaled(slices, pool, line->next_w, line->w, step, line->direction,
                                      &finite, monitor->error);
    }
    if (status || !finite) {
        return status;
    }
    status = tr_monitor_evaluate(monitor, line->next_w, line->next_gradient, &ret_point->value);
    if (status == TRELLIS_OK && ret_point->value < INFINITY) {
        status = tr_shared_dot(slices, pool, line->direction, line->next_gradient,
                               &ret_point->slope, monitor->error);
    }
    /* 0 times an infinite number is none, so a dot product tells of every one that is not
     * finite. */
    if (!isfinite(ret_point->slope)) {
        *ret_point = (struct tr_point){.step = step, .value = INFINITY};
    }
    return status;
}

bool tr_line_falls(const struct tr_monitor *monitor, struct tr_point start, struct tr_point point)
{
    double noise = monitor->settings->noise, change = point.value - start.value;
    double rise = noise * fabs(start.value), fall = fmax(noise, least_noise) * fabs(start.value);
    bool rounds = change <= rise && -change <= fall;
    return change <= c1 * point.step * start.slope ||
           (rounds && point.slope <= (2 * c1 - 1) * start.slope);
}

/* A step so short that F would not fall by its last bit: none shorter is worth a trial. */
static bool is_too_short(struct tr_point start, double step)
{
    return -start.slope * step < DBL_EPSILON / 4 * fabs(start.value);
}

static double within(double number, double lowest, double highest)
{
    return fmin(fmax(number, lowest), highest); // and `lowest` for NaN
}

/* The bottom of the parabola through phi(0), phi'(0) and phi(t), within [t/10, t/2]. */
static double shorter(struct tr_point start, struct tr_point point)
{
    double t = point.step;
    if (!(point.value < INFINITY)) {
        return t / 4;
    }
    double bottom = -start.slope * t * t / (2 * (point.value - start.value - start.slope * t));
    return within(bottom, t / 10, t / 2);
}

trellis_status tr_search_armijo(struct tr_line *line, struct tr_point start, double trial,
                                struct tr_point *ret_found)
{
    double t = trial;
    for (int i = 0; i < max_trials && (i == 0 || !is_too_short(start, t)); i++) {
        trellis_status status = evaluate_at(line, t, ret_found);
        if (status != TRELLIS_OK || tr_line_falls(line->monitor, start, *ret_found)) {
            return status;
        }
        t = shorter(start, *ret_found);
    }
    *ret_found = start;
    return TRELLIS_OK;
}

/* With a and b the ends of the interval, the bottom of the cubic through their values and slopes:
 *
 *     d = a' + b' - 3 (phi_a - phi_b) / (a - b)
 *     e = sign(b - a) sqrt(d^2 - a' b')
 *     t = b - (b - a) (b' + e - d) / (b' - a' + 2 e)
 */
static double bottom_of_cubic(struct tr_point a, struct tr_point b)
{
    double d = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step);
    double e = copysign(sqrt(fmax(0, d * d - a.slope * b.slope)), b.step - a.step);
    return b.step - (b.step - a.step) * (b.slope + e - d) / (b.slope - a.slope + 2 * e);
}

/* 0 where nothing is left between them. */
static double between(struct tr_point start, struct tr_point low, struct tr_point high)
{
    double width = high.step - low.step, share = 0.25;
    if (high.value < INFINITY) {
        share = within((bottom_of_cubic(low, high) - low.step) / width, 0.1, 0.9);
    }
    double t = low.step + share * width;
    bool exhausted = t == low.step || t == high.step || is_too_short(start, t);
    return exhausted ? 0 : t;
}

/* Where the slope would be 0 if it went on changing as from `before` to `now`: 2 to 10 times as
 * far. */
static double beyond(struct tr_point before, struct tr_point now)
{
    double rise = (now.slope - before.slope) / (now.step - before.step);
    double bottom = rise > 0 ? now.step - now.slope / rise : INFINITY;
    return within(bottom, 2 * now.step, 10 * now.step);
}

/* The lowest point that falls enough, which must be evaluated again unless it was the last one. */
static trellis_status settle_for(struct tr_line *line, struct tr_point low, struct tr_point last,
                                 struct tr_point *ret_found)
{
    *ret_found = low;
    if (low.step == 0 || low.step == last.step) {
        return TRELLIS_OK;
    }
    return evaluate_at(line, low.step, ret_found);
}

trellis_status tr_search_strong_wolfe(struct tr_line *line, struct tr_point start, double c2,
                                      double trial, struct tr_point *ret_found)
{
    struct tr_point low = start, high = {.step = INFINITY}, point = start;
    double t = trial;
    for (int i = 0; i < max_trials && t > 0; i++) {
        trellis_status status = evaluate_at(line, t, &point);
        if (status != TRELLIS_OK) {
            return status;
        }
        bool enough = tr_line_falls(line->monitor, start, point);
        if (enough && fabs(point.slope) <= -c2 * start.slope) {
            *ret_found = point;
            return TRELLIS_OK;
        }
        struct tr_point before = low;
        if (!enough || point.value > low.value) {
            high = point;
        } else {
            if (point.slope * (high.step - low.step) >= 0) {
                high = low;
            }
            low = point;
        }
        t = high.step < INFINITY ? between(start, low, high) : beyond(before, low);
    }
    return settle_for(line, low, point, ret_found);
}
