/* kernels.h - the inner loops over rows of floats, chosen for the processor at run time.
 *
 * Each is written once, in kernels_body.h, with the compiler's vector types, and compiled for the
 * baseline, for AVX2 and for AVX-512. Widths are multiples of TR_LANES floats and rows are aligned
 * to 32 bytes; a matrix [rows][width] is stored row by row. The caller pads the columns beyond the
 * labels: with 0 for sums, with minus infinity for maxima.
 */
#ifndef TRELLIS_BASE_KERNELS_H
#define TRELLIS_BASE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TR_LANES 8 // floats that rows are padded to a multiple of

/* The length of a row of `count` floats with its padding. */
static inline size_t tr_padded(size_t count)
{
    return (count + TR_LANES - 1) / TR_LANES * TR_LANES;
}

struct tr_kernels {
    const char *name; // "baseline", "avx2", "avx512"
    /* sum[j] += row[j], and sum[j] += scale * row[j] */
    void (*add)(float *sum, const float *row, size_t width);
    void (*add_scaled)(float *sum, const float *row, float scale, size_t width);
    /* sum[j] += sum_k rows[begin[k] + j], k below count; those rows may begin anywhere */
    void (*add_listed)(float *sum, const float *rows, const uint32_t *begin, size_t count,
                       size_t width);
    /* sum[j] += unit * sum_k rows[begin[k] + j], the same for rows of whole numbers */
    void (*add_listed_shorts)(float *sum, const int16_t *rows, const uint32_t *begin, size_t count,
                              float unit, size_t width);
    /* out[j] = exp(in[j]), within 2 units in the last place; 0 below -86.5, where a float would be
     * subnormal, infinity above 88.73. out may be in. */
    void (*exp)(float *out, const float *in, size_t width);
    float (*sum)(const float *row, size_t width);
    float (*maximum)(const float *row, size_t width);
    size_t (*argmax)(const float *row, size_t width); // the lowest j of the largest row[j]
    void (*scale)(float *row, float factor, size_t width);
    void (*multiply)(float *product, const float *factor, size_t width); // product[j] *= factor[j]
    /* out[b] = sum_a from[a] * matrix[a][b]; matrix [rows][width] */
    void (*vector_matrix)(float *out, const float *from, const float *matrix, size_t rows,
                          size_t width);
    /* out[a] = sum_b matrix[a][b] * to[b] */
    void (*matrix_vector)(float *out, const float *matrix, const float *to, size_t rows,
                          size_t width);
    /* sum[a][b] += scale * sum_i from[i][a] * to[i][b]; from [positions][stride], to
     * [positions][width], sum [rows][width] */
    void (*outer_sum)(double *sum, const float *from, size_t stride, const float *to,
                      size_t positions, double scale, size_t rows, size_t width);
    /* sum[k] += scale * sum_j rows[index[k]][j] * row[j], k below count; rows [..][width] */
    void (*listed_products)(double *sum, const float *rows, const uint32_t *index, size_t count,
                            const float *row, double scale, size_t width);
    /* wide[j] = row[j]; returns the sum */
    double (*widen)(double *wide, const float *row, size_t width);
    /* sum_j a[j] * b[j], and sum[j] += by_a * a[j] + by_b * b[j], in double; these may begin and
     * end anywhere */
    double (*dot)(const float *a, const float *b, size_t count);
    void (*add_two)(double *sum, const float *a, double by_a, const float *b, double by_b,
                    size_t count);
    /* With the tiles k = begin[i] .. begin[i+1]-1 of block i, each TR_LANES factors of one
     * row[other[k]]: out[i][j] = sum_k row[other[k]] * factor[k][j] + all - sum_k wide[other[k]],
     * the difference being at least 0. Returns the least out. */
    float (*tiled_sums)(float *out, const double *wide, const float *row, double all,
                        const uint32_t *begin, const uint32_t *other, const float *factor,
                        size_t blocks);
    /* out[b] = max_a from[a] + matrix[a][b] */
    void (*max_plus)(float *out, const float *from, const float *matrix, size_t rows, size_t width);
    /* out[j] = max(out[j], row[j] + plus) */
    void (*raise)(float *out, const float *row, float plus, size_t width);
    /* The least row[j] - minus[j] of those j below count whose node[j] is above minus infinity;
     * plus infinity where there is none. */
    float (*least_above)(const float *row, const float *minus, const float *node, size_t count);
    /* Lists the j with row[j] + plus[j] > limit, ascending, in index [width]; returns how many. */
    size_t (*list_above)(uint32_t *index, const float *row, const float *plus, float limit,
                         size_t width);
    /* The lowest a of the largest from[a] + column[a]. */
    size_t (*argmax_plus)(const float *from, const float *column, size_t width);

    /* Rows of the trellis (src/lattice/forward_backward.c). */
    /* max = max_j in[j], out[j] = exp(in[j] - max); returns max. out may be in. */
    float (*exp_row)(float *out, const float *in, size_t width);
    /* alpha[j] *= psi[j] * factor; returns the sum of alpha */
    float (*forward_row)(float *alpha, const float *psi, float factor, size_t width);
    /* marginal[j] = alpha[j] * beta[j], to[j] *= beta[j] * factor; returns the sum of beta */
    float (*backward_row)(float *marginal, float *to, const float *alpha, const float *beta,
                          float factor, size_t width);
    /* Several rows at once, so that what one waits for does not hold up the next:
     * out[i][j] = exp(in[i][j] - max_i) for i below `positions`; returns the sum of the max_i. */
    double (*exp_rows)(float *out, const float *in, size_t positions, size_t width);
    /* For i = 1 .. positions-1, alpha[0] and inverse[0] given:
     * alpha[i][b] = psi[i][b] * inverse[i-1] * sum_a alpha[i-1][a] * matrix[a][b],
     * inverse[i] = 1 / sum_b alpha[i][b]; matrix [rows][width] */
    void (*forward_rows)(float *alpha, const float *psi, float *inverse, size_t positions,
                         const float *matrix, size_t rows, size_t width);
    /* For i = positions-1 .. 1, beta that of the last: marginal[i][j] = alpha[i][j] * beta[j],
     * to[i][j] *= beta[j] * inverse[i-1], then beta[b] = sum_a to[i][a] * matrix[a][b]. Returns the
     * largest sum of a beta before it is replaced, NaN if the last of them is. */
    float (*backward_rows)(float *marginal, float *to, const float *alpha, float *beta,
                           const float *inverse, size_t positions, const float *matrix, size_t rows,
                           size_t width);
    /* For i = 1 .. positions-1, delta[0] given: best[i][b] = max_a delta[i-1][a] + matrix[a][b],
     * delta[i][b] = best[i][b] + node[i][b]; matrix [rows][width] */
    void (*best_rows)(float *delta, float *best, const float *node, size_t positions,
                      const float *matrix, size_t rows, size_t width);
    /* For i = positions-1 .. 1, path[positions-1] given: path[i-1] is the lowest a with
     * delta[i-1][a] + by_to[path[i]][a] = best[i][path[i]], 0 where there is none. */
    void (*trace_back)(uint16_t *path, const float *delta, const float *best, const float *by_to,
                       size_t positions, size_t width);
};

/* The best set for this processor; the environment is not consulted. */
const struct tr_kernels *tr_kernels(void);
/* The sets that this processor can run, best first; NULL after the last. For tests. */
const struct tr_kernels *tr_kernels_at(size_t index);

/* The sets themselves; only kernels.c asks for them by name. */
extern const struct tr_kernels tr_kernels_baseline;
#if defined(__x86_64__)
extern const struct tr_kernels tr_kernels_avx2;
extern const struct tr_kernels tr_kernels_avx512;
#endif

#endif
