/* row_kernels_body.h - the row kernels, once for every instruction set.
 *
 * A file that includes this defines ROW_KERNELS. A narrow dense row is held in vectors of 8 floats,
 * so that the scores of a token stay in registers while its rows are added. The next tokens are
 * prefetched: the index of an attribute's pairs two tokens early, the pairs one.
 */
#include <math.h>
#include <string.h>

#include "base/ranks.h"
#include "dataset/row_kernels.h"

#define INLINE static inline __attribute__((always_inline))

typedef float vector __attribute__((vector_size(32), aligned(32)));
typedef float loose __attribute__((vector_size(32), aligned(4)));
typedef int32_t lanes __attribute__((vector_size(32)));

enum { LANES = 8, MAX_VECTORS = 8 };

INLINE void fetch_token(const struct tr_rows *rows, const float *weights,
                        const struct tr_tokens *tokens, size_t i)
{
    if (i + 2 < tokens->n) {
        for (uint32_t k = tokens->begin[i + 2]; k < tokens->begin[i + 3]; k++) {
            __builtin_prefetch(&rows->begin[tokens->attribute[k]]);
        }
    }
    if (i + 1 < tokens->n) {
        for (uint32_t k = tokens->begin[i + 1]; k < tokens->begin[i + 2]; k++) {
            uint32_t a = tokens->attribute[k];
            const float *at = weights + tr_rows_at(rows, a);
            __builtin_prefetch(at);
            if (a < rows->dense) {
                __builtin_prefetch(at + 16);
            } else {
                __builtin_prefetch(&rows->outcome[rows->begin[a]]);
            }
        }
    }
}

/* Dense rows of a constant number of vectors; returns the first attribute that is not dense. */
INLINE uint32_t score_dense(const struct tr_rows *rows, const float *weights,
                            const struct tr_tokens *tokens, uint32_t k, uint32_t end, float *scores,
                            size_t vectors)
{
    vector sum[MAX_VECTORS];
    for (size_t v = 0; v < vectors; v++) {
        sum[v] = *(const vector *)(scores + v * LANES);
    }
    for (; k < end && tokens->attribute[k] < rows->dense; k++) {
        const vector *row = (const vector *)(weights + tokens->attribute[k] * vectors * LANES);
        for (size_t v = 0; v < vectors; v++) {
            sum[v] += tokens->value ? row[v] * tokens->value[k] : row[v];
        }
    }
    for (size_t v = 0; v < vectors; v++) {
        *(vector *)(scores + v * LANES) = sum[v];
    }
    return k;
}

/* The same for any width, through memory. */
INLINE uint32_t score_wide(const struct tr_rows *rows, const float *weights,
                           const struct tr_tokens *tokens, uint32_t k, uint32_t end, float *scores)
{
    size_t width = rows->width;
    for (; k < end && tokens->attribute[k] < rows->dense; k++) {
        const float *row = weights + tokens->attribute[k] * width;
        float value = tokens->value ? tokens->value[k] : 1.0f;
        for (size_t j = 0; j < width; j += LANES) {
            *(vector *)(scores + j) += *(const vector *)(row + j) * value;
        }
    }
    return k;
}

INLINE uint32_t score_rows(const struct tr_rows *rows, const float *weights,
                           const struct tr_tokens *tokens, uint32_t k, uint32_t end, float *scores)
{
    switch (rows->width / LANES) {
    case 1:
        return score_dense(rows, weights, tokens, k, end, scores, 1);
    case 2:
        return score_dense(rows, weights, tokens, k, end, scores, 2);
    case 3:
        return score_dense(rows, weights, tokens, k, end, scores, 3);
    case 4:
        return score_dense(rows, weights, tokens, k, end, scores, 4);
    case 6:
        return score_dense(rows, weights, tokens, k, end, scores, 6);
    default:
        return score_wide(rows, weights, tokens, k, end, scores);
    }
}

static void score(const struct tr_rows *rows, const float *weights, const struct tr_tokens *tokens,
                  float *scores, size_t stride)
{
    for (size_t i = 0; i < tokens->n; i++, scores += stride) {
        uint32_t k = tokens->begin[i], end = tokens->begin[i + 1];
        fetch_token(rows, weights, tokens, i);
        k = score_rows(rows, weights, tokens, k, end, scores);
        for (; k < end; k++) {
            uint32_t a = tokens->attribute[k];
            const float *pair = weights + tr_rows_at(rows, a);
            const uint32_t *outcome = rows->outcome + rows->begin[a];
            size_t pairs = rows->begin[a + 1] - rows->begin[a];
            float value = tokens->value ? tokens->value[k] : 1.0f;
            for (size_t j = 0; j < pairs; j++) {
                scores[outcome[j]] += value * pair[j];
            }
        }
    }
}

static void collect(const struct tr_rows *rows, float *weights, const struct tr_tokens *tokens,
                    const float *amounts, size_t stride)
{
    size_t width = rows->width;
    for (size_t i = 0; i < tokens->n; i++, amounts += stride) {
        uint32_t k = tokens->begin[i], end = tokens->begin[i + 1];
        fetch_token(rows, weights, tokens, i);
        for (; k < end && tokens->attribute[k] < rows->dense; k++) {
            float *row = weights + tokens->attribute[k] * width;
            if (tokens->value) {
                for (size_t j = 0; j < width; j += LANES) {
                    *(vector *)(row + j) += *(const vector *)(amounts + j) * tokens->value[k];
                }
            } else {
                for (size_t j = 0; j < width; j += LANES) {
                    *(vector *)(row + j) += *(const vector *)(amounts + j);
                }
            }
        }
        for (; k < end; k++) {
            uint32_t a = tokens->attribute[k];
            float *pair = weights + tr_rows_at(rows, a);
            const uint32_t *outcome = rows->outcome + rows->begin[a];
            size_t pairs = rows->begin[a + 1] - rows->begin[a];
            float value = tokens->value ? tokens->value[k] : 1.0f;
            for (size_t j = 0; j < pairs; j++) {
                pair[j] += value * amounts[outcome[j]];
            }
        }
    }
}

/* ---- stochastic steps ------------------------------------------------------------------------ */

INLINE void fetch_moved(const struct tr_rows *rows, const struct tr_move *move,
                        const struct tr_tokens *tokens, size_t i)
{
    for (uint32_t k = move->from[i * move->stride]; k < move->end[i * move->stride]; k++) {
        uint32_t a = tokens->attribute[k];
        size_t at = tr_rows_at(rows, a);
        size_t row = a < rows->dense ? a : at - (size_t)rows->dense * (rows->width - 1);
        if (rows->multiplicity) {
            __builtin_prefetch(&rows->multiplicity[row]);
        }
        __builtin_prefetch(&move->weights[at], 1);
        __builtin_prefetch(&move->weights[at + 16], 1);
        if (move->average) {
            __builtin_prefetch(&move->average[at], 1);
            __builtin_prefetch(&move->average[at + 16], 1);
        }
    }
}

INLINE void move_dense(const struct tr_rows *rows, const struct tr_move *move, uint32_t a,
                       const float *amounts, float rate)
{
    const lanes bit = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint64_t *mask = rows->mask + a * rows->mask_words;
    size_t at = (size_t)a * rows->width;
    for (size_t j = 0; j < rows->width; j += LANES) {
        lanes there = ((int32_t)(mask[j / 64] >> (j % 64) & 255) & bit) == bit;
        vector d = (vector)(there & (lanes)(*(const loose *)(amounts + j) * rate));
        *(vector *)(move->weights + at + j) += d;
        if (move->average) {
            *(vector *)(move->average + at + j) -= move->fraction * d;
        }
    }
}

INLINE void move_pairs(const struct tr_rows *rows, const struct tr_move *move, uint32_t a,
                       const float *amounts, float rate)
{
    const uint32_t *outcome = rows->outcome + rows->begin[a];
    size_t at = tr_rows_at(rows, a), count = rows->begin[a + 1] - rows->begin[a];
    for (size_t j = 0; j < count; j++) {
        float d = rate * amounts[outcome[j]];
        move->weights[at + j] += d;
        if (move->average) {
            move->average[at + j] -= move->fraction * d;
        }
    }
}

static void move_rows(const struct tr_rows *rows, const struct tr_move *move,
                      const struct tr_tokens *tokens, const float *amounts, size_t stride)
{
    for (size_t i = 0; i < tokens->n; i++, amounts += stride) {
        uint32_t end = move->end[i * move->stride];
        if (i + 1 < tokens->n) {
            fetch_moved(rows, move, tokens, i + 1);
        }
        for (uint32_t k = move->from[i * move->stride]; k < end; k++) {
            uint32_t a = tokens->attribute[k];
            float rate = move->rate * tr_rows_multiplicity(rows, a);
            rate = tokens->value ? rate * tokens->value[k] : rate;
            if (a < rows->dense) {
                move_dense(rows, move, a, amounts, rate);
            } else {
                move_pairs(rows, move, a, amounts, rate);
            }
        }
    }
}

/* ---- bundles --------------------------------------------------------------------------------- */

/* Where the sums of bundles begin, and where dense rows would if they were numbered from 0 on: as
 * numbers, so that a row is found without a branch, which would often be guessed wrong. */
struct bases {
    uintptr_t at[2];
    uint32_t bundles;
};

INLINE struct bases bases_of(const struct tr_bundled_tokens *tokens, const float *sums,
                             const float *weights)
{
    size_t skipped = (size_t)tokens->bundles * tokens->width * sizeof *weights;
    return (struct bases){{(uintptr_t)sums, (uintptr_t)weights - skipped}, tokens->bundles};
}

INLINE float *bundled_row(const struct bases *bases, uint32_t row, size_t width)
{
    return (float *)(bases->at[row >= bases->bundles] + row * width * sizeof(float));
}

INLINE void fetch_row(const struct bases *bases, uint32_t listed, size_t width)
{
    const float *at = bundled_row(bases, listed % TR_LISTED_ROWS, width);
    __builtin_prefetch(at);
    __builtin_prefetch(at + 16);
}

/* The tokens first .. end-1 of all, at most TR_LISTED_TOKENS. */
struct token_run {
    size_t first, end;
};

/* Which token of the run one is whose number ends in these bits. */
INLINE size_t token_in_run(const struct tr_bundled_tokens *tokens, struct token_run run,
                           uint32_t bits)
{
    return (bits - (uint32_t)(tokens->first + run.first)) % TR_LISTED_TOKENS;
}

/* Rows of a constant number of vectors. The sum of a token stays in registers: what was added up so
 * far goes on where the token is the same and gives way to its scores where it is another. */
INLINE void score_narrow(const struct tr_bundled_tokens *tokens, const struct bases *bases,
                         struct token_run run, float *scores, size_t stride, const size_t vectors)
{
    static const float zeros[MAX_VECTORS * LANES] __attribute__((aligned(32)));
    vector sum[MAX_VECTORS] = {{0}};
    size_t last = TR_LISTED_TOKENS;
    for (uint32_t k = tokens->row_begin[run.first]; k < tokens->row_begin[run.end]; k++) {
        uint32_t listed = tokens->row[k];
        size_t token = token_in_run(tokens, run, listed / TR_LISTED_ROWS);
        const float *row = bundled_row(bases, listed % TR_LISTED_ROWS, vectors * LANES);
        fetch_row(bases, tokens->row[k + TR_ROWS_AHEAD], vectors * LANES);
        float *to = scores + token * stride;
        uintptr_t same = -(uintptr_t)(token == last);
        const float *from = (const float *)(((uintptr_t)to & ~same) | ((uintptr_t)zeros & same));
        const lanes keep = (lanes){0} + (int32_t)same;
        for (size_t v = 0; v < vectors; v++) {
            vector begin = *(const vector *)(from + v * LANES);
            sum[v] = (vector)((lanes)sum[v] & keep);
            sum[v] += begin + *(const vector *)(row + v * LANES);
            *(vector *)(to + v * LANES) = sum[v];
        }
        last = token;
    }
}

INLINE void score_any(const struct tr_bundled_tokens *tokens, const struct bases *bases,
                      struct token_run run, float *scores, size_t stride)
{
    size_t width = tokens->width;
    for (uint32_t k = tokens->row_begin[run.first]; k < tokens->row_begin[run.end]; k++) {
        uint32_t listed = tokens->row[k];
        float *to = scores + token_in_run(tokens, run, listed / TR_LISTED_ROWS) * stride;
        const float *row = bundled_row(bases, listed % TR_LISTED_ROWS, width);
        fetch_row(bases, tokens->row[k + TR_ROWS_AHEAD], width);
        for (size_t j = 0; j < width; j += LANES) {
            *(vector *)(to + j) += *(const vector *)(row + j);
        }
    }
}

static void score_run(const struct tr_bundled_tokens *tokens, const struct bases *bases,
                      struct token_run run, const float *weights, float *scores, size_t stride)
{
    switch (tokens->width / LANES) {
    case 1:
        score_narrow(tokens, bases, run, scores, stride, 1);
        break;
    case 2:
        score_narrow(tokens, bases, run, scores, stride, 2);
        break;
    case 3:
        score_narrow(tokens, bases, run, scores, stride, 3);
        break;
    case 4:
        score_narrow(tokens, bases, run, scores, stride, 4);
        break;
    default:
        score_any(tokens, bases, run, scores, stride);
    }
    for (uint32_t k = tokens->pair_begin[run.first]; k < tokens->pair_begin[run.end]; k++) {
        size_t token = token_in_run(tokens, run, tokens->outcome[k] >> 8);
        __builtin_prefetch(&weights[tokens->pair[k + TR_PAIRS_AHEAD]]);
        scores[token * stride + tokens->outcome[k] % 256] += weights[tokens->pair[k]];
    }
}

static void score_bundled(const struct tr_bundled_tokens *tokens, const float *sums,
                          const float *weights, float *scores, size_t stride)
{
    const struct bases bases = bases_of(tokens, sums, weights);
    for (struct token_run run = {0}; run.first < tokens->n; run.first = run.end) {
        size_t left = tokens->n - run.first;
        run.end = run.first + (left < TR_LISTED_TOKENS ? left : TR_LISTED_TOKENS);
        score_run(tokens, &bases, run, weights, scores + run.first * stride, stride);
    }
}

INLINE void collect_rows(const struct tr_bundled_tokens *tokens, const struct bases *bases,
                         struct token_run run, const float *amounts, size_t stride, size_t width)
{
    for (uint32_t k = tokens->row_begin[run.first]; k < tokens->row_begin[run.end]; k++) {
        uint32_t listed = tokens->row[k];
        const float *from = amounts + token_in_run(tokens, run, listed / TR_LISTED_ROWS) * stride;
        float *row = bundled_row(bases, listed % TR_LISTED_ROWS, width);
        fetch_row(bases, tokens->row[k + TR_ROWS_AHEAD], width);
        for (size_t j = 0; j < width; j += LANES) {
            *(vector *)(row + j) += *(const vector *)(from + j);
        }
    }
}

static void collect_run(const struct tr_bundled_tokens *tokens, const struct bases *bases,
                        struct token_run run, float *weights, const float *amounts, size_t stride)
{
    switch (tokens->width / LANES) {
    case 1:
        collect_rows(tokens, bases, run, amounts, stride, LANES);
        break;
    case 2:
        collect_rows(tokens, bases, run, amounts, stride, 2 * LANES);
        break;
    case 3:
        collect_rows(tokens, bases, run, amounts, stride, 3 * LANES);
        break;
    default:
        collect_rows(tokens, bases, run, amounts, stride, tokens->width);
    }
    for (uint32_t k = tokens->pair_begin[run.first]; k < tokens->pair_begin[run.end]; k++) {
        size_t token = token_in_run(tokens, run, tokens->outcome[k] >> 8);
        __builtin_prefetch(&weights[tokens->pair[k + TR_PAIRS_AHEAD]]);
        weights[tokens->pair[k]] += amounts[token * stride + tokens->outcome[k] % 256];
    }
}

static void collect_bundled(const struct tr_bundled_tokens *tokens, float *sums, float *weights,
                            const float *amounts, size_t stride)
{
    const struct bases bases = bases_of(tokens, sums, weights);
    for (struct token_run run = {0}; run.first < tokens->n; run.first = run.end) {
        size_t left = tokens->n - run.first;
        run.end = run.first + (left < TR_LISTED_TOKENS ? left : TR_LISTED_TOKENS);
        collect_run(tokens, &bases, run, weights, amounts + run.first * stride, stride);
    }
}

/* ---- parts of segments ----------------------------------------------------------------------- */

static void spread(const float *part, size_t n, size_t longest, size_t width, float *scores)
{
    const float *end = part + n * width;
    for (size_t e = 0; e < n; e++, end += width, scores += longest * width) {
        for (size_t d = 1; d <= longest && d <= e + 1; d++) {
            const float *start = part + (e + 1 - d) * width;
            for (size_t j = 0; j < width; j += LANES) {
                *(vector *)(scores + (d - 1) * width + j) = *(const vector *)(start + j) +
                                                            *(const vector *)(end + j);
            }
        }
    }
}

static void gather(const float *amounts, size_t n, size_t longest, size_t width, float *part)
{
    float *end = part + n * width;
    memset(part, 0, 2 * n * width * sizeof *part);
    for (size_t e = 0; e < n; e++, end += width, amounts += longest * width) {
        for (size_t d = 1; d <= longest && d <= e + 1; d++) {
            float *start = part + (e + 1 - d) * width;
            for (size_t j = 0; j < width; j += LANES) {
                vector p = *(const vector *)(amounts + (d - 1) * width + j);
                *(vector *)(start + j) += p;
                *(vector *)(end + j) += p;
            }
        }
    }
}

/* ---- from the weights of a block to features ------------------------------------------------- */

static void take(double *restrict sum, float *restrict value, double root, double grid,
                 size_t count)
{
    for (size_t j = 0; j < count; j++) {
        sum[j] += tr_on_grid(root * (double)value[j], grid);
        value[j] = 0;
    }
}

static void take_shared(double *restrict sum, float *restrict value,
                        const float *restrict multiplicity, double grid, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        sum[j] += tr_on_grid(sqrt((double)multiplicity[j]) * (double)value[j], grid);
        value[j] = 0;
    }
}

const struct tr_row_kernels ROW_KERNELS = {
    score, collect, move_rows, score_bundled, collect_bundled, spread, gather, take, take_shared};
