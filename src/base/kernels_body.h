/* kernels_body.h - the kernels, once for every instruction set.
 *
 * A file that includes this defines KERNELS (the table), KERNELS_NAME and LANES (floats of a
 * vector). Loops run over vectors of that many floats (vectors.h).
 *
 * Small blocks of columns are held in registers: a block is a loop over a constant number of
 * vectors that the compiler unrolls.
 */
#include "base/kernels.h"
#include "base/vectors.h"

#include <math.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

static void add(float *sum, const float *row, size_t width)
{
    for (size_t j = 0; j < width; j += LANES) {
        store(sum + j, load(sum + j) + load(row + j));
    }
}

static void add_scaled(float *sum, const float *row, float scale, size_t width)
{
    vector factor = all(scale);
    for (size_t j = 0; j < width; j += LANES) {
        store(sum + j, fused(factor, load(row + j), load(sum + j)));
    }
}

/* Rows of floats, or of whole numbers that count units. */
struct listed {
    const float *floats;
    const int16_t *shorts; // or NULL
    float unit;
    const uint32_t *begin;
    size_t count;
};

/* The `columns` vectors from `first` on, which stay in registers. */
INLINE void add_listed_block(float *sum, const struct listed *rows, size_t first, const int columns)
{
    vector x[6];
#pragma GCC unroll 6
    for (int c = 0; c < columns; c++) {
        x[c] = rows->shorts ? all(0) : load(sum + first + c * LANES);
    }
    for (size_t k = 0; k < rows->count; k++) {
        size_t at = rows->begin[k] + first;
#pragma GCC unroll 6
        for (int c = 0; c < columns; c++) {
            x[c] += rows->shorts ? load_shorts(rows->shorts + at + c * LANES)
                                 : load_loose(rows->floats + at + c * LANES);
        }
    }
#pragma GCC unroll 6
    for (int c = 0; c < columns; c++) {
        float *to = sum + first + c * LANES;
        store(to, rows->shorts ? load(to) + x[c] * rows->unit : x[c]);
    }
}

INLINE void add_listed_any(float *sum, const struct listed *rows, size_t width)
{
    size_t b = 0;
    for (; b + 6 * LANES <= width; b += 6 * LANES) {
        add_listed_block(sum, rows, b, 6);
    }
    switch ((width - b) / LANES) {
    case 5:
        add_listed_block(sum, rows, b, 5);
        break;
    case 4:
        add_listed_block(sum, rows, b, 4);
        break;
    case 3:
        add_listed_block(sum, rows, b, 3);
        break;
    case 2:
        add_listed_block(sum, rows, b, 2);
        break;
    case 1:
        add_listed_block(sum, rows, b, 1);
        break;
    default:
        break;
    }
}

static void add_listed(float *sum, const float *rows, const uint32_t *begin, size_t count,
                       size_t width)
{
    add_listed_any(sum, &(struct listed){rows, NULL, 1, begin, count}, width);
}

static void add_listed_shorts(float *sum, const int16_t *rows, const uint32_t *begin, size_t count,
                              float unit, size_t width)
{
    add_listed_any(sum, &(struct listed){NULL, rows, unit, begin, count}, width);
}

static float row_sum(const float *row, size_t width)
{
    vector sum = {0};
    for (size_t j = 0; j < width; j += LANES) {
        sum += load(row + j);
    }
    return across_sum(sum);
}

static float maximum(const float *row, size_t width)
{
    vector largest = load(row);
    for (size_t j = LANES; j < width; j += LANES) {
        largest = larger(load(row + j), largest);
    }
    return across_largest(largest);
}

static void row_scale(float *row, float factor, size_t width)
{
    for (size_t j = 0; j < width; j += LANES) {
        store(row + j, load(row + j) * factor);
    }
}

static void multiply(float *product, const float *factor, size_t width)
{
    for (size_t j = 0; j < width; j += LANES) {
        store(product + j, load(product + j) * load(factor + j));
    }
}

/* The lowest j of the largest from[j] + column[j]; column may be NULL, for 0. The maximum is found
 * first, and then its index. */
INLINE size_t place_of_largest(const float *from, const float *column, size_t width)
{
    vector largest = all(-INFINITY);
    for (size_t j = 0; j < width; j += LANES) {
        largest = larger(column ? load(from + j) + load(column + j) : load(from + j), largest);
    }
    float max = across_largest(largest);
    if (!(max > -INFINITY)) {
        return 0; // not the padding, which is minus infinity too
    }
    vector goal = all(max);
    for (size_t j = 0; j < width; j += LANES) {
        vector x = column ? load(from + j) + load(column + j) : load(from + j);
        int lane = first_lane(x == goal);
        if (lane < LANES) {
            return j + (size_t)lane;
        }
    }
    return 0;
}

static size_t argmax(const float *row, size_t width)
{
    return place_of_largest(row, NULL, width);
}

static size_t argmax_plus(const float *from, const float *column, size_t width)
{
    return place_of_largest(from, column, width);
}

/* ---- the exponential ------------------------------------------------------------------------- */

static void row_exp(float *out, const float *in, size_t width)
{
    for (size_t j = 0; j < width; j += LANES) {
        store(out + j, exponential(load(in + j)));
    }
}

static float exp_row(float *out, const float *in, size_t width)
{
    float max = maximum(in, width);
    for (size_t j = 0; j < width; j += LANES) {
        store(out + j, exponential(load(in + j) - max));
    }
    return max;
}

/* ---- rows of the trellis --------------------------------------------------------------------- */

static float forward_row(float *alpha, const float *psi, float factor, size_t width)
{
    vector sum = {0};
    for (size_t j = 0; j < width; j += LANES) {
        vector x = load(alpha + j) * (load(psi + j) * factor);
        store(alpha + j, x);
        sum += x;
    }
    return across_sum(sum);
}

static float backward_row(float *marginal, float *to, const float *alpha, const float *beta,
                          float factor, size_t width)
{
    vector sum = {0};
    for (size_t j = 0; j < width; j += LANES) {
        vector b = load(beta + j);
        store(marginal + j, load(alpha + j) * b);
        store(to + j, load(to + j) * (b * factor));
        sum += b;
    }
    return across_sum(sum);
}

/* ---- matrices: blocks of columns, several rows at a time so that sums do not wait for each other
 * -- */

/* out[b] = sum_a from[a] * matrix[a][b] for `columns` vectors of b */
INLINE void vector_matrix_block(float *out, const float *from, const float *matrix, size_t rows,
                                size_t width, const int columns)
{
    vector even[4] = {{0}}, odd[4] = {{0}};
    size_t a = 0;
    for (; a + 1 < rows; a += 2) {
        vector x = all(from[a]), y = all(from[a + 1]);
#pragma GCC unroll 4
        for (int c = 0; c < columns; c++) {
            even[c] = fused(x, load(matrix + a * width + c * LANES), even[c]);
            odd[c] = fused(y, load(matrix + (a + 1) * width + c * LANES), odd[c]);
        }
    }
    if (a < rows) {
#pragma GCC unroll 4
        for (int c = 0; c < columns; c++) {
            even[c] = fused(all(from[a]), load(matrix + a * width + c * LANES), even[c]);
        }
    }
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
        store(out + c * LANES, even[c] + odd[c]);
    }
}

static void vector_matrix(float *out, const float *from, const float *matrix, size_t rows,
                          size_t width)
{
    size_t b = 0;
    for (; b + 4 * LANES <= width; b += 4 * LANES) {
        vector_matrix_block(out + b, from, matrix + b, rows, width, 4);
    }
    switch ((width - b) / LANES) {
    case 3:
        vector_matrix_block(out + b, from, matrix + b, rows, width, 3);
        break;
    case 2:
        vector_matrix_block(out + b, from, matrix + b, rows, width, 2);
        break;
    case 1:
        vector_matrix_block(out + b, from, matrix + b, rows, width, 1);
        break;
    default:
        break;
    }
}

/* ---- several rows of the trellis ------------------------------------------------------------- */

enum { NARROW = 4 * LANES }; // rows that are held in registers

INLINE float exp_narrow(float *out, const float *in, const int columns)
{
    vector x[4], largest = load(in);
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
        x[c] = load(in + c * LANES);
        largest = larger(x[c], largest);
    }
    float max = across_largest(largest);
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
        store(out + c * LANES, exponential(x[c] - max));
    }
    return max;
}

INLINE double exp_narrow_rows(float *out, const float *in, size_t positions, const int columns)
{
    double sum = 0;
    for (size_t i = 0; i < positions; i++, in += columns * LANES, out += columns * LANES) {
        sum += (double)exp_narrow(out, in, columns);
    }
    return sum;
}

static double exp_rows(float *out, const float *in, size_t positions, size_t width)
{
    double sum = 0;
    switch (width <= NARROW ? width / LANES : 0) {
    case 1:
        return exp_narrow_rows(out, in, positions, 1);
    case 2:
        return exp_narrow_rows(out, in, positions, 2);
    case 3:
        return exp_narrow_rows(out, in, positions, 3);
    case 4:
        return exp_narrow_rows(out, in, positions, 4);
    default:
        for (size_t i = 0; i < positions; i++) {
            sum += (double)exp_row(out + i * width, in + i * width, width);
        }
        return sum;
    }
}

/* x[b] = sum_a from[a] * matrix[a][b], in four sums each that do not wait for each other */
INLINE void multiply_narrow(vector *x, const float *from, const float *matrix, size_t rows,
                            const int columns)
{
    const size_t width = (size_t)columns * LANES;
    vector sum[4][4] = {{{0}}};
    size_t a = 0;
    for (; a + 4 <= rows; a += 4) {
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++) {
            vector factor = all(from[a + k]);
#pragma GCC unroll 4
            for (int c = 0; c < columns; c++) {
                sum[k][c] = fused(factor, load(matrix + (a + k) * width + c * LANES), sum[k][c]);
            }
        }
    }
    for (; a < rows; a++) {
        vector factor = all(from[a]);
#pragma GCC unroll 4
        for (int c = 0; c < columns; c++) {
            sum[0][c] = fused(factor, load(matrix + a * width + c * LANES), sum[0][c]);
        }
    }
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
        x[c] = (sum[0][c] + sum[1][c]) + (sum[2][c] + sum[3][c]);
    }
}

INLINE void forward_narrow(float *alpha, const float *psi, float *inverse, size_t positions,
                           const float *matrix, size_t rows, const int columns)
{
    const size_t width = (size_t)columns * LANES;
    for (size_t i = 1; i < positions; i++) {
        vector x[4], sum = {0};
        multiply_narrow(x, alpha + (i - 1) * width, matrix, rows, columns);
#pragma GCC unroll 4
        for (int c = 0; c < columns; c++) {
            x[c] *= load(psi + i * width + c * LANES) * inverse[i - 1];
            store(alpha + i * width + c * LANES, x[c]);
            sum += x[c];
        }
        inverse[i] = 1 / across_sum(sum);
    }
}

static void forward_rows(float *alpha, const float *psi, float *inverse, size_t positions,
                         const float *matrix, size_t rows, size_t width)
{
    switch (width <= NARROW ? width / LANES : 0) {
    case 1:
        forward_narrow(alpha, psi, inverse, positions, matrix, rows, 1);
        break;
    case 2:
        forward_narrow(alpha, psi, inverse, positions, matrix, rows, 2);
        break;
    case 3:
        forward_narrow(alpha, psi, inverse, positions, matrix, rows, 3);
        break;
    case 4:
        forward_narrow(alpha, psi, inverse, positions, matrix, rows, 4);
        break;
    default:
        for (size_t i = 1; i < positions; i++) {
            float *row = alpha + i * width;
            vector_matrix(row, row - width, matrix, rows, width);
            inverse[i] = 1 / forward_row(row, psi + i * width, inverse[i - 1], width);
        }
    }
}

INLINE float backward_narrow(float *marginal, float *to, const float *alpha, float *beta,
                             const float *inverse, size_t positions, const float *matrix,
                             size_t rows, const int columns)
{
    const size_t width = (size_t)columns * LANES;
    float most = 0;
    vector x[4];
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
        x[c] = load(beta + c * LANES);
    }
    for (size_t i = positions; i-- > 1;) {
        vector total = {0};
#pragma GCC unroll 4
        for (int c = 0; c < columns; c++) {
            size_t at = i * width + (size_t)(c * LANES);
            store(marginal + at, load(alpha + at) * x[c]);
            store(to + at, load(to + at) * (x[c] * inverse[i - 1]));
            total += x[c];
        }
        float sum = across_sum(total);
        most = sum <= most ? most : sum;
        multiply_narrow(x, to + i * width, matrix, rows, columns);
    }
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
        store(beta + c * LANES, x[c]);
    }
    return most;
}

static float backward_rows(float *marginal, float *to, const float *alpha, float *beta,
                           const float *inverse, size_t positions, const float *matrix, size_t rows,
                           size_t width)
{
    float most = 0;
    switch (width <= NARROW ? width / LANES : 0) {
    case 1:
        return backward_narrow(marginal, to, alpha, beta, inverse, positions, matrix, rows, 1);
    case 2:
        return backward_narrow(marginal, to, alpha, beta, inverse, positions, matrix, rows, 2);
    case 3:
        return backward_narrow(marginal, to, alpha, beta, inverse, positions, matrix, rows, 3);
    case 4:
        return backward_narrow(marginal, to, alpha, beta, inverse, positions, matrix, rows, 4);
    default:
        for (size_t i = positions; i-- > 1;) {
            float sum = backward_row(marginal + i * width, to + i * width, alpha + i * width, beta,
                                     inverse[i - 1], width);
            most = sum <= most ? most : sum;
            vector_matrix(beta, to + i * width, matrix, rows, width);
        }
        return most;
    }
}

#if LANES == 8 && defined(__AVX2__)
/* Eight rows at a time: eight sums across vectors cost little more than one. */
INLINE size_t matrix_vector_by_eights(float *out, const float *matrix, const float *to, size_t rows,
                                      size_t width)
{
    size_t a = 0;
    for (; a + 8 <= rows; a += 8) {
        __m256 x[8] = {0};
        for (size_t j = 0; j < width; j += LANES) {
#pragma GCC unroll 8
            for (size_t k = 0; k < 8; k++) {
                x[k] = _mm256_fmadd_ps(_mm256_load_ps(matrix + (a + k) * width + j),
                                       _mm256_load_ps(to + j), x[k]);
            }
        }
        __m256 low = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
        __m256 high = _mm256_hadd_ps(_mm256_hadd_ps(x[4], x[5]), _mm256_hadd_ps(x[6], x[7]));
        _mm256_storeu_ps(out + a, _mm256_add_ps(_mm256_permute2f128_ps(low, high, 0x20),
                                                _mm256_permute2f128_ps(low, high, 0x31)));
    }
    return a;
}
#endif

static void matrix_vector(float *out, const float *matrix, const float *to, size_t rows,
                          size_t width)
{
    size_t a = 0;
#if LANES == 8 && defined(__AVX2__)
    a = matrix_vector_by_eights(out, matrix, to, rows, width);
#endif
    for (; a < rows; a++) {
        vector sum = {0};
        for (size_t j = 0; j < width; j += LANES) {
            sum = fused(load(matrix + a * width + j), load(to + j), sum);
        }
        out[a] = across_sum(sum);
    }
}

/* out[b] = max_a from[a] + matrix[a][b] for `columns` vectors of b */
INLINE void max_plus_block(float *out, const float *from, const float *matrix, size_t rows,
                           size_t width, const int columns)
{
    vector best[4];
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
        best[c] = all(-INFINITY);
    }
    for (size_t a = 0; a < rows; a++) {
        vector x = all(from[a]);
#pragma GCC unroll 4
        for (int c = 0; c < columns; c++) {
            best[c] = larger(x + load(matrix + a * width + c * LANES), best[c]);
        }
    }
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
        store(out + c * LANES, best[c]);
    }
}

static void max_plus(float *out, const float *from, const float *matrix, size_t rows, size_t width)
{
    size_t b = 0;
    for (; b + 4 * LANES <= width; b += 4 * LANES) {
        max_plus_block(out + b, from, matrix + b, rows, width, 4);
    }
    switch ((width - b) / LANES) {
    case 3:
        max_plus_block(out + b, from, matrix + b, rows, width, 3);
        break;
    case 2:
        max_plus_block(out + b, from, matrix + b, rows, width, 2);
        break;
    case 1:
        max_plus_block(out + b, from, matrix + b, rows, width, 1);
        break;
    default:
        break;
    }
}

/* ---- several rows of Viterbi's recursion ----------------------------------------------------- */

/* x[b] = max_a from[a] + matrix[a][b], in four maxima each that do not wait for each other */
INLINE void raise_narrow(vector *x, const float *from, const float *matrix, size_t rows,
                         const int columns)
{
    const size_t width = (size_t)columns * LANES;
    vector max[4][4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
#pragma GCC unroll 4
        for (int c = 0; c < columns; c++) {
            max[k][c] = all(-INFINITY);
        }
    }
    size_t a = 0;
    for (; a + 4 <= rows; a += 4) {
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++) {
            vector score = all(from[a + k]);
#pragma GCC unroll 4
            for (int c = 0; c < columns; c++) {
                const float *to = matrix + (a + k) * width + c * LANES;
                max[k][c] = larger(score + load(to), max[k][c]);
            }
        }
    }
    for (; a < rows; a++) {
        vector score = all(from[a]);
#pragma GCC unroll 4
        for (int c = 0; c < columns; c++) {
            max[0][c] = larger(score + load(matrix + a * width + c * LANES), max[0][c]);
        }
    }
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
        x[c] = larger(larger(max[0][c], max[1][c]), larger(max[2][c], max[3][c]));
    }
}

INLINE void best_narrow(float *delta, float *best, const float *node, size_t positions,
                        const float *matrix, size_t rows, const int columns)
{
    const size_t width = (size_t)columns * LANES;
    for (size_t i = 1; i < positions; i++) {
        vector x[4];
        raise_narrow(x, delta + (i - 1) * width, matrix, rows, columns);
#pragma GCC unroll 4
        for (int c = 0; c < columns; c++) {
            size_t at = i * width + (size_t)(c * LANES);
            store(best + at, x[c]);
            store(delta + at, x[c] + load(node + at));
        }
    }
}

static void best_rows(float *delta, float *best, const float *node, size_t positions,
                      const float *matrix, size_t rows, size_t width)
{
    switch (width <= NARROW ? width / LANES : 0) {
    case 1:
        best_narrow(delta, best, node, positions, matrix, rows, 1);
        break;
    case 2:
        best_narrow(delta, best, node, positions, matrix, rows, 2);
        break;
    case 3:
        best_narrow(delta, best, node, positions, matrix, rows, 3);
        break;
    case 4:
        best_narrow(delta, best, node, positions, matrix, rows, 4);
        break;
    default:
        for (size_t at = width; at < positions * width; at += width) {
            max_plus(best + at, delta + at - width, matrix, rows, width);
            memcpy(delta + at, best + at, width * sizeof *delta);
            add(delta + at, node + at, width);
        }
    }
}

/* The lowest a with from[a] + column[a] = sum, 0 where there is none: in a narrow row, without a
 * branch. */
INLINE size_t equal_narrow(const float *from, const float *column, float sum, const int columns)
{
    uint32_t bits = 0;
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
        vector x = load(from + c * LANES) + load(column + c * LANES);
        bits |= (uint32_t)lane_bits(x == all(sum)) << (c * LANES);
    }
    return bits ? (size_t)__builtin_ctz(bits) : 0;
}

INLINE size_t equal_wide(const float *from, const float *column, float sum, size_t width)
{
    for (size_t j = 0; j < width; j += LANES) {
        int lane = first_lane(load(from + j) + load(column + j) == all(sum));
        if (lane < LANES) {
            return j + (size_t)lane;
        }
    }
    return 0;
}

INLINE void trace_any(uint16_t *path, const float *delta, const float *best, const float *by_to,
                      size_t positions, size_t width, const int columns)
{
    for (size_t i = positions; i-- > 1;) {
        size_t to = path[i];
        const float *from = delta + (i - 1) * width, *column = by_to + to * width;
        float sum = best[i * width + to];
        path[i - 1] = (uint16_t)(columns ? equal_narrow(from, column, sum, columns)
                                         : equal_wide(from, column, sum, width));
    }
}

static void trace_back(uint16_t *path, const float *delta, const float *best, const float *by_to,
                       size_t positions, size_t width)
{
    switch (width <= NARROW ? width / LANES : 0) {
    case 1:
        trace_any(path, delta, best, by_to, positions, LANES, 1);
        break;
    case 2:
        trace_any(path, delta, best, by_to, positions, 2 * LANES, 2);
        break;
    case 3:
        trace_any(path, delta, best, by_to, positions, 3 * LANES, 3);
        break;
    case 4:
        trace_any(path, delta, best, by_to, positions, 4 * LANES, 4);
        break;
    default:
        trace_any(path, delta, best, by_to, positions, width, 0);
    }
}

struct wide {
    doubles low, high;
};

INLINE struct wide widened(vector x)
{
    struct wide wide = {{0}, {0}};
#if LANES == 8 && defined(__AVX2__)
    wide.low = (doubles)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x));
    wide.high = (doubles)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1));
#else
    for (int i = 0; i < LANES / 2; i++) {
        wide.low[i] = x[i];
        wide.high[i] = x[i + LANES / 2];
    }
#endif
    return wide;
}

static void raise_row(float *out, const float *row, float plus, size_t width)
{
    for (size_t j = 0; j < width; j += LANES) {
        store(out + j, larger(load(row + j) + plus, load(out + j)));
    }
}

static float least_above(const float *row, const float *minus, const float *node, size_t count)
{
    vector max = all(-INFINITY); // of minus what is asked for
    size_t j = 0;
    for (; j + LANES <= count; j += LANES) {
        vector x = load(minus + j) - load(row + j);
        max = larger(choose(load(node + j) > -INFINITY, x, max), max);
    }
    float least = -across_largest(max);
    for (; j < count; j++) {
        float x = row[j] - minus[j];
        least = node[j] > -INFINITY && x < least ? x : least;
    }
    return least;
}

static size_t list_above(uint32_t *index, const float *row, const float *plus, float limit,
                         size_t width)
{
    size_t count = 0;
    for (size_t j = 0; j < width; j += LANES) {
        unsigned bits = lane_bits(load(row + j) + load(plus + j) > limit);
        for (; bits; bits &= bits - 1) {
            index[count++] = (uint32_t)j + (uint32_t)__builtin_ctz(bits);
        }
    }
    return count;
}

/* sum[j] += scale * x[j], widened to double */
INLINE void add_widened(double *sum, vector x, double scale)
{
    doubles *low = (doubles *)sum, *high = low + 1;
    struct wide wide = widened(x);
    *low += wide.low * scale;
    *high += wide.high * scale;
}

/* In single precision over DOT_RUN numbers at a time: the sum then loses about as much as the
 * numbers have lost by rounding themselves. */
enum { DOT_RUN = 512 };

static double dot(const float *a, const float *b, size_t count)
{
    double sum = 0;
    size_t j = 0;
    while (j + 4 * LANES <= count) {
        vector chain[4] = {{0}}; // so that sums wait less for each other
        size_t end = j + DOT_RUN < count ? j + DOT_RUN : count;
        for (; j + 4 * LANES <= end; j += 4 * LANES) {
            for (size_t k = 0; k < 4; k++) {
                chain[k] += load_loose(a + j + k * LANES) * load_loose(b + j + k * LANES);
            }
        }
        vector lanes = (chain[0] + chain[1]) + (chain[2] + chain[3]);
        for (int i = 0; i < LANES; i++) {
            sum += (double)lanes[i];
        }
    }
    for (; j < count; j++) {
        sum += (double)a[j] * (double)b[j];
    }
    return sum;
}

static void add_two(double *sum, const float *a, double by_a, const float *b, double by_b,
                    size_t count)
{
    typedef double loose __attribute__((vector_size(4 * LANES), aligned(8)));
    size_t j = 0;
    for (; j + LANES <= count; j += LANES) {
        struct wide x = widened(load_loose(a + j)), y = widened(load_loose(b + j));
        loose *low = (loose *)(sum + j), *high = low + 1;
        *low += x.low * by_a + y.low * by_b;
        *high += x.high * by_a + y.high * by_b;
    }
    for (; j < count; j++) {
        sum[j] += by_a * (double)a[j] + by_b * (double)b[j];
    }
}

/* A tile of up to 4 rows a and 3 vectors of b: sum[a][b] += scale * sum_i from[i][a] * to[i][b] */
INLINE void outer_sum_tile(double *sum, const float *from, size_t stride, const float *to,
                           size_t positions, double scale, size_t width, const int rows,
                           const int columns)
{
    vector tile[4][3] = {{{0}}};
    for (size_t i = 0; i < positions; i++) {
#pragma GCC unroll 4
        for (int a = 0; a < rows; a++) {
            vector x = all(from[i * stride + a]);
#pragma GCC unroll 3
            for (int c = 0; c < columns; c++) {
                tile[a][c] = fused(x, load(to + i * width + c * LANES), tile[a][c]);
            }
        }
    }
#pragma GCC unroll 4
    for (int a = 0; a < rows; a++) {
#pragma GCC unroll 3
        for (int c = 0; c < columns; c++) {
            add_widened(sum + a * width + c * LANES, tile[a][c], scale);
        }
    }
}

/* The tiles of some rows, all columns. */
INLINE void outer_sum_rows(double *sum, const float *from, size_t stride, const float *to,
                           size_t positions, double scale, size_t width, const int rows)
{
    size_t b = 0;
    for (; b + 3 * LANES <= width; b += 3 * LANES) {
        outer_sum_tile(sum + b, from, stride, to + b, positions, scale, width, rows, 3);
    }
    if (width - b == 2 * LANES) {
        outer_sum_tile(sum + b, from, stride, to + b, positions, scale, width, rows, 2);
    } else if (width - b == LANES) {
        outer_sum_tile(sum + b, from, stride, to + b, positions, scale, width, rows, 1);
    }
}

/* Tiles are summed in single precision over at most this many positions, and then in double. */
#define POSITIONS_AT_ONCE 128

static void outer_sum(double *sum, const float *from, size_t stride, const float *to,
                      size_t positions, double scale, size_t rows, size_t width)
{
    for (size_t begin = 0; begin < positions; begin += POSITIONS_AT_ONCE) {
        size_t left = positions - begin,
               count = left < POSITIONS_AT_ONCE ? left : POSITIONS_AT_ONCE;
        const float *x = from + begin * stride, *y = to + begin * width;
        size_t a = 0;
        for (; a + 4 <= rows; a += 4) {
            outer_sum_rows(sum + a * width, x + a, stride, y, count, scale, width, 4);
        }
        if (rows - a >= 2) {
            outer_sum_rows(sum + a * width, x + a, stride, y, count, scale, width, 2);
            a += 2;
        }
        if (rows > a) {
            outer_sum_rows(sum + a * width, x + a, stride, y, count, scale, width, 1);
        }
    }
}

static void listed_products(double *sum, const float *rows, const uint32_t *index, size_t count,
                            const float *row, double scale, size_t width)
{
    for (size_t k = 0; k < count; k++) {
        const float *other = rows + index[k] * width;
        vector products = {0};
        for (size_t j = 0; j < width; j += LANES) {
            products = fused(load(other + j), load(row + j), products);
        }
        sum[k] += scale * (double)across_sum(products);
    }
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static double widen(double *out, const float *row, size_t width)
{
    doubles low = {0}, high = {0};
    double sum = 0;
    for (size_t j = 0; j < width; j += LANES) {
        struct wide wide = widened(load(row + j));
        *(doubles *)(out + j) = wide.low;
        *(doubles *)(out + j + LANES / 2) = wide.high;
        low += wide.low;
        high += wide.high;
    }
    low += high;
    for (int i = 0; i < LANES / 2; i++) {
        sum += low[i];
    }
    return sum;
}

/* Two tiles at a time, so that sums do not wait for each other. */
static float tiled_sums(float *out, const double *wide, const float *row, double whole,
                        const uint32_t *begin, const uint32_t *other, const float *factor,
                        size_t blocks)
{
    enum { VECTORS = TR_LANES / LANES };
    vector least = all(-INFINITY); // of minus out
    for (size_t block = 0; block < blocks; block++) {
        vector even[VECTORS] = {{0}}, odd[VECTORS] = {{0}};
        double even_instead = 0, odd_instead = 0;
        uint32_t k = begin[block], end = begin[block + 1];
        for (; k + 1 < end; k += 2) {
            uint32_t a = other[k], b = other[k + 1];
            even_instead += wide[a];
            odd_instead += wide[b];
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; v++) {
                const float *tile = factor + (size_t)k * TR_LANES + v * LANES;
                even[v] = fused(all(row[a]), load(tile), even[v]);
                odd[v] = fused(all(row[b]), load(tile + TR_LANES), odd[v]);
            }
        }
        if (k < end) {
            even_instead += wide[other[k]];
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; v++) {
                const float *tile = factor + (size_t)k * TR_LANES + v * LANES;
                even[v] = fused(all(row[other[k]]), load(tile), even[v]);
            }
        }
        double rest = whole - (even_instead + odd_instead);
        vector unlisted = all(rest > 0 ? (float)rest : 0);
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++) {
            vector sum = even[v] + odd[v] + unlisted;
            store(out + block * TR_LANES + v * LANES, sum);
            least = larger(-sum, least);
        }
    }
    return -across_largest(least);
}

const struct tr_kernels KERNELS = {
    .name = KERNELS_NAME,
    .add = add,
    .add_scaled = add_scaled,
    .add_listed = add_listed,
    .add_listed_shorts = add_listed_shorts,
    .exp = row_exp,
    .sum = row_sum,
    .maximum = maximum,
    .argmax = argmax,
    .scale = row_scale,
    .multiply = multiply,
    .vector_matrix = vector_matrix,
    .matrix_vector = matrix_vector,
    .outer_sum = outer_sum,
    .listed_products = listed_products,
    .widen = widen,
    .dot = dot,
    .add_two = add_two,
    .tiled_sums = tiled_sums,
    .max_plus = max_plus,
    .raise = raise_row,
    .least_above = least_above,
    .list_above = list_above,
    .argmax_plus = argmax_plus,
    .exp_row = exp_row,
    .forward_row = forward_row,
    .backward_row = backward_row,
    .exp_rows = exp_rows,
    .forward_rows = forward_rows,
    .backward_rows = backward_rows,
    .best_rows = best_rows,
    .trace_back = trace_back,
};
