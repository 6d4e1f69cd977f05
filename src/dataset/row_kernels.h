/* row_kernels.h - sums over rows of weights, and updates of them: where training spends its time.
 *
 * Written once, in row_kernels_body.h, and compiled for the same instruction sets as
 * base/kernels.h.
 */
#ifndef TRELLIS_DATASET_ROW_KERNELS_H
#define TRELLIS_DATASET_ROW_KERNELS_H

#include "base/kernels.h"
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
enum { TR_ROWS_AHEAD = 32, TR_PAIRS_AHEAD = 64 };

/* The rows of n tokens, row[row_begin[i]] .. row[row_begin[i+1]-1] those of token i, and their
 * weights pair[pair_begin[i]] .. pair[pair_begin[i+1]-1] for an outcome each (bundles.h). A row below
 * `bundles` is one of sums, the others are dense rows of the weights. Rows and outcomes stand beside
 * the number of their token, so that one loop takes those of many tokens: how many a token has would
 * often be guessed wrong. */
struct tr_bundled_tokens {
    const uint32_t *row_begin;  // [n + 1]
    const uint32_t *row;        // tr_listed_row()
    const uint32_t *pair_begin; // [n + 1]
    const uint32_t *pair;
    const uint16_t *outcome; // tr_listed_outcome()
    size_t n, first;         // the number of the first token
    uint32_t bundles, width;
};

/* Of the number of a token the last eight bits are kept: enough for a loop over as many tokens. */
enum { TR_LISTED_TOKENS = 256, TR_LISTED_ROWS = 1 << 24 };

static inline uint32_t tr_listed_row(size_t token, uint32_t row)
{
    return (uint32_t)(token % TR_LISTED_TOKENS) << 24 | row;
}

static inline uint16_t tr_listed_outcome(size_t token, uint32_t outcome)
{
    return (uint16_t)(token % TR_LISTED_TOKENS << 8 | outcome);
}

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

/* Those for this processor, and those for the same instruction set as other kernels. */
const struct tr_row_kernels *tr_row_kernels(void);
const struct tr_row_kernels *tr_row_kernels_like(const struct tr_kernels *kernels);

#endif
