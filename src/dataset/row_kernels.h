/* row_kernels.h - sums over rows of weights, and updates of them: where training spends its time.
 *
 * Written once, in row_kernels_body.h, and compiled for the same instruction sets as
 * base/kernels.h.
 */
#ifndef TRELLIS_DATASET_ROW_KERNELS_H
#define TRELLIS_DATASET_ROW_KERNELS_H

#include "dataset/rows.h"

/* The attributes of n tokens: those of token i are attribute[begin[i]] .. attribute[begin[i+1]-1],
 * the dense ones first. */
struct tr_tokens {
    const uint32_t *begin; // [n + 1]
    const uint32_t *attribute;
    const float *value; // beside attribute, or NULL where all are 1
    size_t n;
};

/* How many rows and weights early those of bundled tokens are prefetched: so many numbers may be
 * read beyond those of the last token. */
enum { TR_ROWS_AHEAD = 12 };

/* The rows of n tokens: those of token i are row[row_begin[i]] .. row[row_begin[i+1]-1], a number
 * below `bundles` a row of sums, the others dense rows of the weights; and weight pair[k] for
 * outcome[k] with k from pair_begin[i] to pair_begin[i+1]-1 (bundles.h). */
struct tr_bundled_tokens {
    const uint32_t *row_begin; // [n + 1]
    const uint32_t *row;
    const uint32_t *pair_begin; // [n + 1]
    const uint32_t *pair;
    const uint16_t *outcome;
    size_t n;
    uint32_t bundles, width;
    /* Where most tokens have a row or two: the token of each row and pair, from those of the first
     * on, so that one loop takes all of them. NULL: tokens are taken one by one. */
    const uint32_t *row_token, *pair_token;
    uint32_t first; // the number of the first token there
};

/* A step against a gradient, of some attributes of each token: of token i those at from[i * stride]
 * .. end[i * stride] - 1 of all that the tokens have. */
struct tr_move {
    float *weights, *average; // average may be NULL
    float rate, fraction;
    const uint32_t *from, *end;
    size_t stride;
};

struct tr_row_kernels {
    /* scores[i * stride + outcome] += the weights of token i's attributes, times their values. */
    void (*score)(const struct tr_rows *rows, const float *weights, const struct tr_tokens *tokens,
                  float *scores, size_t stride);
    /* The weights of token i's attributes += amounts[i * stride + outcome], times their values. */
    void (*collect)(const struct tr_rows *rows, float *weights, const struct tr_tokens *tokens,
                    const float *amounts, size_t stride);
    /* With d = rate * amounts[i * stride + outcome] * value, times the attributes that share the
     * row: the weights of token i's attributes += d, and their averages -= fraction * d. Only pairs
     * change. */
    void (*move)(const struct tr_rows *rows, const struct tr_move *move,
                 const struct tr_tokens *tokens, const float *amounts, size_t stride);
    /* scores[i * stride + outcome] += the rows and weights of token i; sums [bundles][width]. */
    void (*score_bundled)(const struct tr_bundled_tokens *tokens, const float *sums,
                          const float *weights, float *scores, size_t stride);
    /* The rows and weights of token i += amounts[i * stride + outcome]. */
    void (*collect_bundled)(const struct tr_bundled_tokens *tokens, float *sums, float *weights,
                            const float *amounts, size_t stride);
    /* Segments of up to L tokens of a sequence of n (segment_parts.h), [n][L][width]: with part
     * [2][n][width], score[e][d - 1] = part[0][e + 1 - d] + part[1][e]. */
    void (*spread)(const float *part, size_t n, size_t longest, size_t width, float *scores);
    /* The other way: part[0][s] = the sum of amounts[s + d - 1][d - 1], part[1][e] = that of
     * amounts[e][d - 1], over d. */
    void (*gather)(const float *amounts, size_t n, size_t longest, size_t width, float *part);
    /* sum[j] += root * value[j] on a grid (tr_on_grid), then value[j] = 0. */
    void (*take)(double *sum, float *value, double root, double grid, size_t count);
    /* The same, the root that of a multiplicity each. */
    void (*take_shared)(double *sum, float *value, const float *multiplicity, double grid,
                        size_t count);
};

extern const struct tr_row_kernels tr_row_kernels_baseline;
#if defined(__x86_64__)
extern const struct tr_row_kernels tr_row_kernels_avx2;
extern const struct tr_row_kernels tr_row_kernels_avx512;
#endif

/* Those for this processor. */
const struct tr_row_kernels *tr_row_kernels(void);

#endif
