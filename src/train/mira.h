/* mira.h - the small quadratic problem of MIRA, which its test solves as well. */
#ifndef TRELLIS_TRAIN_MIRA_H
#define TRELLIS_TRAIN_MIRA_H

#include <stddef.h>

/* Finds the tau [count] of the largest
 *
 *     sum_k tau_k b_k - 1/2 sum_jk tau_j tau_k A_jk        with 0 <= tau_k <= C
 *
 * by Hildreth's algorithm, one tau at a time; A [count][count] = d_j . d_k. Ends where no tau is
 * off its optimum by more than rounding, or after a fixed number of rounds. */
void tr_mira_solve(const double *a, const double *b, size_t count, double c, double *tau);

#endif
