/* quasi_newton.h - the state of L-BFGS, shared by its steps with and without l1. */
#ifndef TRELLIS_OPTIM_QUASI_NEWTON_H
#define TRELLIS_OPTIM_QUASI_NEWTON_H

#include "base/kernels.h"
#include "optim/line_search.h"
#include "optim/proximal.h"
#include "optim/vector.h"

struct tr_quasi_newton_run {
    struct tr_monitor *monitor;
    struct tr_line line;
    size_t size;                                               // of the vectors of this process
    struct tr_slices *slices;                                  // of all ranks
    void (*work)(struct tr_quasi_newton_run *q, size_t block); // on each block of a pass
    uint64_t capacity, count, newest; // pairs: room for, held, the place of the last
    const float *unit;                // [size] D^{-1/2}, NULL where it is the identity
    float *s, *y;                     // [capacity][size] scaled
    double *sy, *yy, *ss;             // [capacity][capacity] s_i·y_j, y_i·y_j and s_i·s_j
    struct tr_proximal proximal;      // the model along the weights that are free, with l1
    double *sg, *yg;                  // [capacity] products with the scaled gradient
    double *for_s, *for_y;            // [capacity] the coefficients of d
    double gamma;
    double
        *partial;  // [blocks][SUMS capacity + 2] sums of one pass: for each pair, and |g|^2, |w|^2
    double *sums;  // [blocks][2] d·g and |d|^2
    double w_norm; // |w|, infinite while it is unknown
    bool has_products; // partial has those with the slope
    const struct tr_kernels *kernels;
    double *slope; // [size] the pseudo-gradient; the gradient itself where nothing is penalised
};

/* The place of a pair: 0 is the newest. */
static inline uint64_t tr_pair_at(const struct tr_quasi_newton_run *q, uint64_t age)
{
    return (q->newest + q->capacity - age) % q->capacity;
}

/* D^{-1/2} of one weight: a step that is 1 long when scaled. */
static inline double tr_unit(const struct tr_quasi_newton_run *q, size_t j)
{
    return q->unit ? (double)q->unit[j] : 1;
}

/* The slope of F where it is: the gradient, or with l1 the pseudo-gradient, the subgradient nearest
 * to 0 (see monitor.c). */
void tr_l1_slope(struct tr_quasi_newton_run *q);
/* OWL-QN: the direction, only where it goes down; and a search along it that stays in the
 * orthant. */
void tr_l1_align(struct tr_quasi_newton_run *q);
trellis_status tr_l1_search_orthant(struct tr_quasi_newton_run *q, double trial,
                                    struct tr_point *ret_found);
/* The direction to the bottom of the model with l1; *ret_found false where it is too early for
 * that, or where there is none. */
trellis_status tr_l1_model(struct tr_quasi_newton_run *q, bool *ret_found);
trellis_status tr_l1_search_model(struct tr_quasi_newton_run *q, struct tr_point *ret_found);

#endif
