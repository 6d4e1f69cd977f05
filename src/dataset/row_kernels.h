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
};

extern const struct tr_row_kernels tr_row_kernels_baseline;
#if defined(__x86_64__)
extern const struct tr_row_kernels tr_row_kernels_avx2;
extern const struct tr_row_kernels tr_row_kernels_avx512;
#endif

/* Those for this processor. */
const struct tr_row_kernels *tr_row_kernels(void);

#endif
