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

#include "base/pool.h"

double tr_dot(struct tr_pool *pool, const double *a, const double *b, size_t size);
double tr_norm(struct tr_pool *pool, const double *a, size_t size); // |a|
/* sum = a + t b; false where one of it is infinite or NaN. */
bool tr_add_scaled(struct tr_pool *pool, double *sum, const double *a, double t, const double *b,
                   size_t size);
void tr_copy(struct tr_pool *pool, double *to, const double *from, size_t size);
/* Whether no number is infinite or NaN. */
bool tr_all_finite(struct tr_pool *pool, const double *a, size_t size);

#endif
