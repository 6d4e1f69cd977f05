/* kernels.h - the inner loops over rows of floats, chosen for the processor at run time.
 *
 * Each is written once, in kernels_body.h, with the compiler's vector types, and compiled for the
 * baseline, for AVX2 and for AVX-512. Widths are multiples of 16 floats, rows are aligned to 64 bytes.
 */
#ifndef TRELLIS_BASE_KERNELS_H
#define TRELLIS_BASE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

struct tr_kernels {
    const char *name; // "baseline", "avx2", "avx512"
    /* sum[j] += row[j], and sum[j] += scale * row[j] */
    void (*add)(float *sum, const float *row, size_t width);
    void (*add_scaled)(float *sum, const float *row, float scale, size_t width);
    /* out[j] = exp(in[j]); within 2 units in the last place, 0 for minus infinity */
    void (*exp)(float *out, const float *in, size_t width);
    float (*sum)(const float *row, size_t width);
    float (*maximum)(const float *row, size_t width);
    void (*scale)(float *row, float factor, size_t width);
    void (*multiply)(float *product, const float *factor, size_t width); // product[j] *= factor[j]
    /* out[b] = sum_a from[a] * matrix[a][b]; matrix [rows][width] */
    void (*vector_matrix)(float *out, const float *from, const float *matrix, size_t rows,
                          size_t width);
    /* out[a] = sum_b matrix[a][b] * to[b] */
    void (*matrix_vector)(float *out, const float *matrix, const float *to, size_t rows,
                          size_t width);
    /* sum[a][b] += from[a] * to[b] * matrix[a][b] */
    void (*outer)(float *sum, const float *from, const float *to, const float *matrix, size_t rows,
                  size_t width);
    /* out[b] = max_a from[a] + matrix[a][b], back[b] = the lowest such a */
    void (*max_plus)(float *out, uint16_t *back, const float *from, const float *matrix,
                     size_t rows, size_t width);
};

/* The best set for this processor; the environment is not consulted. */
const struct tr_kernels *tr_kernels(void);
/* The sets that this processor can run, best first; NULL behind the last. For tests. */
const struct tr_kernels *tr_kernels_at(size_t index);

#endif
