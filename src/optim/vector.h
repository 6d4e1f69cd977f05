/* vector.h - the few operations on whole weight vectors, in pieces that the threads share.
 *
 * A dot product is summed in eight lanes, which the compiler keeps in vector registers, and lanes
 * and pieces in a fixed order: the same numbers give the same sum on every machine and for any
 * number of threads. The pool may be NULL.
 */
#ifndef TRELLIS_OPTIM_VECTOR_H
#define TRELLIS_OPTIM_VECTOR_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/slices.h"

double tr_dot(struct tr_pool *pool, const double *a, const double *b, size_t size);
double tr_norm(struct tr_pool *pool, const double *a, size_t size); // |a|
/* sum = a + t b; false where one of it is infinite or NaN. */
bool tr_add_scaled(struct tr_pool *pool, double *sum, const double *a, double t, const double *b,
                   size_t size);
void tr_copy(struct tr_pool *pool, double *to, const double *from, size_t size);

/* The same of vectors that ranks share: each rank has its slice of all of them, and all get the same
 * answer. */
trellis_status tr_shared_dot(struct tr_slices *slices, struct tr_pool *pool, const double *a,
                             const double *b, double *ret_dot, trellis_error *error);
trellis_status tr_shared_add_scaled(struct tr_slices *slices, struct tr_pool *pool, double *sum,
                                    const double *a, double t, const double *b, bool *ret_finite,
                                    trellis_error *error);
/* Whether no number is infinite or NaN. */
trellis_status tr_shared_finite(struct tr_slices *slices, struct tr_pool *pool, const double *a,
                                bool *ret_finite, trellis_error *error);

#endif
