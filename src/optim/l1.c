/* l1.c - steps of L-BFGS where some weights are penalised by l1: in an orthant, and by a model.
 *
 * OWL-QN (Andrew and Gao 2007) goes along -H g with the pseudo-gradient g, keeps to the orthant in
 * which it begins a step, and searches by halving. Once few weights are free to move, d is instead
 * where the quadratic model of the history plus the penalty is least (Scheinberg and Tang 2016;
 * proximal.c): it knows in which orthant that is.
 */
#include <string.h>

#include "optim/quasi_newton.h"

enum { ROUNDS = 20 }; // of coordinate descent, at most

/* ---- OWL-QN ---------------------------------------------------------------------------------- */

/* The pseudo-gradient, the subgradient nearest to 0 (see monitor.c). */
void tr_l1_slope(struct tr_quasi_newton_run *q)
{
    const struct tr_line *line = &q->line;
    size_t penalised = tr_monitor_penalised(q->monitor) ? q->monitor->settings->l1_size : 0;
    double l1 = q->monitor->settings->l1;
    for (size_t j = 0; j < penalised; j++) {
        double g = line->gradient[j];
        q->slope[j] = line->w[j] != 0 ? g + copysign(l1, line->w[j])
                      : fabs(g) > l1  ? g - copysign(l1, g)
                                      : 0;
    }
    if (q->slope != line->gradient) {
        memcpy(q->slope + penalised, line->gradient + penalised,
               (q->size - penalised) * sizeof *q->slope);
    }
}

/* A component of d that would not go down is not taken. */
void tr_l1_align(struct tr_quasi_newton_run *q)
{
    size_t penalised = q->monitor->settings->l1_size;
    double *d = q->line.direction;
    for (size_t j = 0; j < penalised; j++) {
        if (d[j] * q->slope[j] >= 0) {
            d[j] = 0;
        }
    }
}

/* next_w = w + t d, where a penalised weight that would change its sign becomes 0; the fall that
 * the slope promises for it, 0 where next_w is not finite. */
static double project(struct tr_quasi_newton_run *q, double t)
{
    const struct tr_line *line = &q->line;
    size_t penalised = q->monitor->settings->l1_size;
    double promised = 0;
    if (!tr_add_scaled(tr_line_pool(line), line->next_w, line->w, t, line->direction, q->size)) {
        return 0;
    }
    for (size_t j = 0; j < penalised; j++) {
        double sign = line->w[j] != 0 ? line->w[j] : -q->slope[j];
        if (line->next_w[j] * sign <= 0) {
            line->next_w[j] = 0;
        }
    }
    for (size_t j = 0; j < q->size; j++) {
        promised += q->slope[j] * (line->next_w[j] - line->w[j]);
    }
    return promised;
}

/* The slope of F at next_w along the way from w to it; the penalty is linear in an orthant. */
static double slope_behind(const struct tr_quasi_newton_run *q)
{
    const struct tr_line *line = &q->line;
    double sum = tr_monitor_penalty(q->monitor, line->next_w) -
                 tr_monitor_penalty(q->monitor, line->w);
    for (size_t j = 0; j < q->size; j++) {
        sum += line->next_gradient[j] * (line->next_w[j] - line->w[j]);
    }
    return sum;
}

/* F and its slope at next_w. */
static trellis_status evaluate_at(struct tr_quasi_newton_run *q, double t,
                                  struct tr_point *ret_point)
{
    const struct tr_line *line = &q->line;
    double smooth;
    trellis_status status = tr_monitor_evaluate(q->monitor, line->next_w, line->next_gradient,
                                                &smooth);
    if (status) {
        return status;
    }
    *ret_point = (struct tr_point){t, smooth + tr_monitor_penalty(q->monitor, line->next_w),
                                   slope_behind(q) / t};
    if (!isfinite(ret_point->slope)) {
        *ret_point = (struct tr_point){.step = t, .value = INFINITY};
    }
    return TRELLIS_OK;
}

trellis_status tr_l1_search_orthant(struct tr_quasi_newton_run *q, double trial,
                                    struct tr_point *ret_found)
{
    struct tr_monitor *monitor = q->monitor;
    double t = trial;
    for (int i = 0; i < 50; i++) {
        double promised = project(q, t);
        struct tr_point start = {.value = monitor->value, .slope = promised / t}, point = start;
        trellis_status status = promised < 0 ? evaluate_at(q, t, &point) : TRELLIS_OK;
        if (status) {
            return status;
        }
        if (promised < 0 && tr_line_falls(monitor, start, point)) {
            *ret_found = point;
            return TRELLIS_OK;
        }
        t /= 2;
    }
    *ret_found = (struct tr_point){.value = monitor->value};
    return TRELLIS_OK;
}

/* ---- the model with l1 ----------------------------------------------------------------------- */

/* N^{-1} of the compact form (Nocedal and Wright 2006, theorem 7.4) of the Hessian that belongs to
 * the history, oldest pair first:
 *
 *     B = sigma I - Q N Q^T,     Q = [sigma S, Y],     N^{-1} = [ sigma S^T S   L  ]     L_ij = s_i·y_j, i > j
 *                                                               [ L^T          -E  ]     E = diag(s_i·y_i)
 */
static void fill_model(struct tr_quasi_newton_run *q)
{
    struct tr_proximal *p = &q->proximal;
    size_t m = q->count, r = 2 * m;
    p->rank = r;
    p->sigma = 1 / q->gamma;
    memset(p->n.at, 0, r * r * sizeof *p->n.at);
    for (size_t i = 0; i < m; i++) {
        size_t a = tr_pair_at(q, (unsigned)(m - 1 - i)) * q->capacity;
        for (size_t j = 0; j < m; j++) {
            size_t b = tr_pair_at(q, (unsigned)(m - 1 - j));
            p->n.at[i * r + j] = p->sigma * q->ss[a + b];
            if (i > j) {
                p->n.at[i * r + m + j] = p->n.at[(m + j) * r + i] = q->sy[a + b];
            } else if (i == j) {
                p->n.at[(m + i) * r + m + i] = -q->sy[a + b];
            }
        }
    }
}

static bool is_free(const struct tr_quasi_newton_run *q, size_t j)
{
    return q->line.w[j] != 0 || q->slope[j] != 0;
}

/* While many weights are free, OWL-QN is faster to most of what can be gained; then the model
 * is. */
static bool are_few_free(const struct tr_quasi_newton_run *q)
{
    size_t count = 0, few = 1000 + q->size / 10;
    for (size_t j = 0; j < q->size && count <= few; j++) {
        count += is_free(q, j);
    }
    return count <= few;
}

/* The weights that are not 0, or will not stay so; scaled by D^{1/2} as the history is. */
static bool gather_free(struct tr_quasi_newton_run *q)
{
    struct tr_proximal *p = &q->proximal;
    const struct tr_optim_settings *settings = q->monitor->settings;
    p->weights.size = p->q.size = 0;
    for (size_t j = 0; j < q->size; j++) {
        double w = q->line.w[j], r = 1 / tr_unit(q, j);
        if (!is_free(q, j)) {
            continue;
        }
        struct tr_free_weight weight = {.at = j,
                                        .g = q->line.gradient[j] / r,
                                        .x = w * r,
                                        .l1 = j < settings->l1_size ? settings->l1 / r : 0};
        if (!tr_push(&p->weights, weight) || !tr_reserve(&p->q, p->q.size + p->rank)) {
            return false;
        }
        for (unsigned age = q->count; age-- > 0;) {
            size_t at = tr_pair_at(q, age) * q->size + j;
            p->q.at[p->q.size + q->count - 1 - age] = (float)(p->sigma * (double)q->s[at]);
            p->q.at[p->q.size + p->rank - 1 - age] = q->y[at];
        }
        p->q.size += p->rank;
    }
    return true;
}

/* d from w to the bottom of the model; false where there is none. */
trellis_status tr_l1_model(struct tr_quasi_newton_run *q, bool *ret_found)
{
    struct tr_proximal *p = &q->proximal;
    size_t rank = 2 * (size_t)q->count;
    *ret_found = false;
    if (!are_few_free(q)) {
        return TRELLIS_OK;
    }
    if (!tr_reserve(&p->n, 2 * rank * rank + 2 * rank)) {
        return tr_fail_memory(q->monitor->error);
    }
    fill_model(q);
    if (!tr_proximal_invert(p)) {
        return TRELLIS_OK;
    }
    if (!gather_free(q)) {
        return tr_fail_memory(q->monitor->error);
    }
    tr_proximal_solve(p, ROUNDS);
    memset(q->line.direction, 0, q->size * sizeof *q->line.direction);
    for (size_t i = 0; i < p->weights.size; i++) {
        const struct tr_free_weight *w = &p->weights.at[i];
        q->line.direction[w->at] = w->d == -w->x ? -q->line.w[w->at] : w->d * tr_unit(q, w->at);
    }
    *ret_found = true;
    return TRELLIS_OK;
}

/* Goes along d by halves. F is convex, so it is below what its slope and the penalty at w + d
 * promise. */
trellis_status tr_l1_search_model(struct tr_quasi_newton_run *q, struct tr_point *ret_found)
{
    struct tr_monitor *monitor = q->monitor;
    struct tr_line *line = &q->line;
    if (!tr_add_scaled(tr_line_pool(line), line->next_w, line->w, 1, line->direction, q->size)) {
        *ret_found = (struct tr_point){.value = monitor->value};
        return TRELLIS_OK;
    }
    double promised = tr_dot(tr_line_pool(line), line->gradient, line->direction, q->size) +
                      tr_monitor_penalty(monitor, line->next_w) -
                      tr_monitor_penalty(monitor, line->w);
    struct tr_point start = {.value = monitor->value, .slope = promised};
    *ret_found = start;
    ret_found->slope = 0;
    double t = 1;
    for (int i = 0; promised < 0 && i < 20; i++) {
        struct tr_point point;
        tr_add_scaled(tr_line_pool(line), line->next_w, line->w, t, line->direction, q->size);
        trellis_status status = evaluate_at(q, t, &point);
        if (status) {
            return status;
        }
        if (tr_line_falls(monitor, start, point)) {
            *ret_found = point;
            return TRELLIS_OK;
        }
        t /= 2;
    }
    return TRELLIS_OK;
}
