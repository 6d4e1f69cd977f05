/* proximal.h - the bottom of a quadratic model plus an l1 penalty.
 *
 *     m(d) = g·d + 1/2 d·B d + sum_j l1_j |x_j + d_j|,        B = sigma I - Q N Q^T
 *
 * which is the model that L-BFGS has of an objective, over the weights that are free to move.
 */
#ifndef TRELLIS_OPTIM_PROXIMAL_H
#define TRELLIS_OPTIM_PROXIMAL_H

#include "base/memory.h"

/* A weight that is free to move. */
struct tr_free_weight {
    size_t at; // among all weights
    double g, x, l1;
    double curvature; // B_jj, found by the solver
    double d;         // found by the solver
};

struct tr_proximal {
    TR_ARRAY(struct tr_free_weight) weights;
    TR_ARRAY(float) q; // [weights][rank]
    size_t rank;       // columns of Q
    double sigma;
    TR_ARRAY(double) n; // [rank][rank] symmetric; room for as much again and two rows behind it
};

/* Finds d by coordinate descent, which ends where a round over all weights moves them a hundredth
 * as much as the first one did, or after `rounds`. */
void tr_proximal_solve(struct tr_proximal *proximal, int rounds);
/* n = n^{-1}; false where it has none. */
bool tr_proximal_invert(struct tr_proximal *proximal);
void tr_proximal_free(struct tr_proximal *proximal);

#endif
