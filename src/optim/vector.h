/* vector.h - the few operations on whole weight vectors.
 *
 * A dot product is summed in eight lanes, which the compiler keeps in vector registers, and the lanes
 * in a fixed order: the same numbers give the same sum on every machine.
 */
#ifndef TRELLIS_OPTIM_VECTOR_H
#define TRELLIS_OPTIM_VECTOR_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* sum_j a_j b_j */
static inline double tr_dot(const double *a, const double *b, size_t size)
{
    double lane[8] = {0};
    size_t j = 0;
    for (; j + 8 <= size; j += 8) {
        for (size_t k = 0; k < 8; k++) {
            lane[k] += a[j + k] * b[j + k];
        }
    }
    for (; j < size; j++) {
        lane[j % 8] += a[j] * b[j];
    }
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* |a| */
static inline double tr_norm(const double *a, size_t size)
{
    return sqrt(tr_dot(a, a, size));
}

/* sum = a + t b */
static inline void tr_add_scaled(double *sum, const double *a, double t, const double *b,
                                 size_t size)
{
    for (size_t j = 0; j < size; j++) {
        sum[j] = a[j] + t * b[j];
    }
}

/* Whether no number is infinite or NaN: 0 * a_j is 0 for all others. */
static inline bool tr_all_finite(const double *a, size_t size)
{
    double lane[8] = {0};
    size_t j = 0;
    for (; j + 8 <= size; j += 8) {
        for (size_t k = 0; k < 8; k++) {
            lane[k] += 0.0 * a[j + k];
        }
    }
    for (; j < size; j++) {
        lane[j % 8] += 0.0 * a[j];
    }
    double sum = 0;
    for (size_t k = 0; k < 8; k++) {
        sum += lane[k];
    }
    return sum == 0;
}

#endif
