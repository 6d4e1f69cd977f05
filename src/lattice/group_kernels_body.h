/* group_kernels_body.h - the kernels of groups, once for every instruction set.
 *
 * A file that includes this defines GROUP_KERNELS (the table) and LANES (vectors.h). The lanes of a
 * group are as many vectors as hold them, which are taken one after the other.
 */
#include <string.h>

#include "base/vectors.h"
#include "lattice/group_kernels.h"
#include "lattice/lattice_internal.h"

enum { GROUP = TR_LANES_OF_GROUP, AT_ONCE = 8 };

/* How many sequences have the position i. */
INLINE size_t active_at(const struct tr_group_lanes *group, size_t i)
{
    size_t active = 0;
    while (active < GROUP && group->length[active] > i) {
        active++;
    }
    return active;
}

/* The lanes first .. end-1 of the group, of the vector that begins with lane `at`. */
INLINE integers lanes_between(size_t first, size_t end, size_t at)
{
    integers number = {0};
    for (int lane = 0; lane < LANES; lane++) {
        number[lane] = lane;
    }
    number += (int32_t)at;
    return (number >= (int32_t)first) & (number < (int32_t)end);
}

/* ---- from rows to lanes, and back ------------------------------------------------------------ */

#if defined(__AVX2__)
INLINE void transpose_eight(__m256 *x)
{
    __m256 y[8];
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        y[2 * k] = _mm256_unpacklo_ps(x[2 * k], x[2 * k + 1]);
        y[2 * k + 1] = _mm256_unpackhi_ps(x[2 * k], x[2 * k + 1]);
    }
#pragma GCC unroll 2
    for (int k = 0; k < 8; k += 4) {
        x[k] = _mm256_shuffle_ps(y[k], y[k + 2], 0x44);
        x[k + 1] = _mm256_shuffle_ps(y[k], y[k + 2], 0xee);
        x[k + 2] = _mm256_shuffle_ps(y[k + 1], y[k + 3], 0x44);
        x[k + 3] = _mm256_shuffle_ps(y[k + 1], y[k + 3], 0xee);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        y[k] = _mm256_permute2f128_ps(x[k], x[k + 4], 0x20);
        y[k + 4] = _mm256_permute2f128_ps(x[k], x[k + 4], 0x31);
    }
    memcpy(x, y, sizeof y);
}
#endif

/* to[j][r] = from[r][j] for eight rows and eight columns */
INLINE void transpose(float *const *to, const float *const *from)
{
#if defined(__AVX2__)
    __m256 x[8];
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) {
        x[k] = _mm256_loadu_ps(from[k]);
    }
    transpose_eight(x);
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) {
        _mm256_storeu_ps(to[k], x[k]);
    }
#else
    for (int r = 0; r < 8; r++) {
        for (int j = 0; j < 8; j++) {
            to[j][r] = from[r][j];
        }
    }
#endif
}

/* Where a label stands among the lanes. */
INLINE size_t place_of(const struct tr_group_lanes *group, size_t label)
{
    return group->lists ? group->lists->place[label] : label;
}

/* lanes[place of c][k] = row[k][c], c below the width */
INLINE void spread(float *lanes, float *const *row, const struct tr_group_lanes *group)
{
    for (size_t c = 0; c < group->width; c += 8) {
        for (size_t k = 0; k < GROUP; k += 8) {
            const float *from[8];
            float *to[8];
            for (size_t j = 0; j < 8; j++) {
                from[j] = row[k + j] + c;
                to[j] = lanes + place_of(group, c + j) * GROUP + k;
            }
            transpose(to, from);
        }
    }
}

/* row[k][c] = lanes[place of c][k] */
INLINE void gather(float *const *row, const float *lanes, const struct tr_group_lanes *group)
{
    for (size_t c = 0; c < group->width; c += 8) {
        for (size_t k = 0; k < GROUP; k += 8) {
            const float *from[8];
            float *to[8];
            for (size_t j = 0; j < 8; j++) {
                from[j] = lanes + place_of(group, c + j) * GROUP + k;
                to[j] = row[k + j] + c;
            }
            transpose(to, from);
        }
    }
}

/* The rows of a position; lanes that have no such position share one. */
INLINE void rows_at(float **row, const struct tr_group_lanes *group, size_t i, size_t active)
{
    for (size_t k = 0; k < GROUP; k++) {
        row[k] = k < active ? group->row[k] + i * group->width : group->no_row;
    }
}

/* ---- products -------------------------------------------------------------------------------- */

/* out[b] = sum_a from[a] * matrix[a][b] in one vector of lanes, for `columns` of b */
INLINE void multiply_block(float *out, const float *from, const float *matrix, size_t labels,
                           size_t width, const size_t columns)
{
    vector sum[AT_ONCE] = {{0}};
    for (size_t a = 0; a < labels; a++) {
        vector x = load(from + a * GROUP);
#pragma GCC unroll 8
        for (size_t b = 0; b < columns; b++) {
            sum[b] = fused(x, all(matrix[a * width + b]), sum[b]);
        }
    }
#pragma GCC unroll 8
    for (size_t b = 0; b < columns; b++) {
        store(out + b * GROUP, sum[b]);
    }
}

static void multiply(float *out, const float *from, const float *matrix, size_t labels,
                     size_t width)
{
    size_t b = 0;
    for (; b + AT_ONCE <= labels; b += AT_ONCE) {
        multiply_block(out + b * GROUP, from, matrix + b, labels, width, AT_ONCE);
    }
    out += b * GROUP;
    matrix += b;
    switch (labels - b) {
    case 7:
        multiply_block(out, from, matrix, labels, width, 7);
        break;
    case 6:
        multiply_block(out, from, matrix, labels, width, 6);
        break;
    case 5:
        multiply_block(out, from, matrix, labels, width, 5);
        break;
    case 4:
        multiply_block(out, from, matrix, labels, width, 4);
        break;
    case 3:
        multiply_block(out, from, matrix, labels, width, 3);
        break;
    case 2:
        multiply_block(out, from, matrix, labels, width, 2);
        break;
    case 1:
        multiply_block(out, from, matrix, labels, width, 1);
        break;
    default:
        break;
    }
}

#include "lattice/group_lists_body.h"

/* ---- forward --------------------------------------------------------------------------------- */

/* One position of one vector of lanes: the scores of `labels` labels into psi; returns m_i. The start
 * counts at position 0, the offset at the others, the end in the lanes that end here. */
INLINE vector factors(const struct tr_group_lanes *group, size_t i, bool any_ends, integers ends,
                      float *score, float *psi)
{
    vector largest = all(-INFINITY);
    const float *plus = i == 0 ? group->start : group->offset;
    for (size_t c = 0; c < group->labels; c++) {
        vector x = load(score + c * GROUP);
        x = plus ? x + plus[c] : x;
        x = any_ends ? choose(ends, x + group->end[c], x) : x;
        store(score + c * GROUP, x);
        largest = larger(x, largest);
    }
    for (size_t c = 0; c < group->labels; c++) {
        store(psi + c * GROUP, exponential(load(score + c * GROUP) - largest));
    }
    return largest;
}

/* The sum of a row, one label after the other where there are few. */
INLINE vector row_total(const struct tr_group_lanes *group, const float *row)
{
    vector sum = {0};
    if (group->lists) {
        return total(row, 0, group->labels);
    }
    for (size_t c = 0; c < group->labels; c++) {
        sum += load(row + c * GROUP);
    }
    return sum;
}

/* alpha_i from alpha_{i-1}, which stands before it; returns s_i. */
INLINE vector next_alpha(const struct tr_group_lanes *group, size_t i, size_t at)
{
    const float *psi = group->to + i * group->labels * GROUP + at;
    float *alpha = group->alpha + i * group->labels * GROUP + at;
    vector inverse = all(1);
    if (i > 0) {
        inverse = load(group->inverse + (i - 1) * GROUP + at);
        const float *before = alpha - group->labels * GROUP;
        if (group->lists) {
            add_up(alpha, before, &group->lists->into, group->labels, group->lists->dense);
        } else {
            multiply(alpha, before, group->factor, group->labels, group->width);
        }
    }
    for (size_t c = 0; c < group->labels; c++) {
        vector x = load(psi + c * GROUP) * inverse;
        x = i > 0 ? load(alpha + c * GROUP) * x : x;
        store(alpha + c * GROUP, x);
    }
    return row_total(group, alpha);
}

static void forward(const struct tr_group_lanes *group, double *sums)
{
    float *score = group->scratch, *row[GROUP];
    memset(sums, 0, GROUP * sizeof *sums);
    for (size_t i = 0; i < group->positions; i++) {
        size_t active = active_at(group, i), going_on = active_at(group, i + 1);
        rows_at(row, group, i, active);
        spread(score, row, group);
        for (size_t at = 0; at < GROUP; at += LANES) {
            vector m = factors(group, i, going_on < active, lanes_between(going_on, active, at),
                               score + at, group->to + i * group->labels * GROUP + at);
            vector s = next_alpha(group, i, at);
            store(group->inverse + i * GROUP + at,
                  choose(lanes_between(0, active, at), 1 / s, (vector){0}));
            for (int lane = 0; lane < LANES; lane++) {
                sums[at + (size_t)lane] += at + (size_t)lane < active ? (double)m[lane] : 0;
            }
        }
    }
}

/* ---- backward -------------------------------------------------------------------------------- */

/* One position of one vector of lanes: the marginals, `to`, and beta of the position before. Returns
 * the sum of beta. */
INLINE vector step_back(const struct tr_group_lanes *group, size_t i, size_t at, float *marginal,
                        float *beta)
{
    const float *alpha = group->alpha + i * group->labels * GROUP + at;
    float *to = group->to + i * group->labels * GROUP + at;
    vector factor = i > 0 ? load(group->inverse + (i - 1) * GROUP + at) : all(1);
    vector sum = row_total(group, beta);
    for (size_t c = 0; c < group->labels; c++) {
        vector b = load(beta + c * GROUP);
        store(marginal + c * GROUP, load(alpha + c * GROUP) * b);
        store(to + c * GROUP, load(to + c * GROUP) * (b * factor));
    }
    if (i % TR_POSITIONS_BETWEEN_REPAIRS == 0) {
        vector whole = row_total(group, marginal), repair = choose(whole > 0, 1 / whole, all(1));
        for (size_t c = 0; c < group->labels; c++) {
            store(marginal + c * GROUP, load(marginal + c * GROUP) * repair);
            store(to + c * GROUP, load(to + c * GROUP) * repair);
        }
    }
    if (i > 0 && group->lists) {
        add_up(beta, to, &group->lists->out_of, group->labels, group->lists->dense);
    } else if (i > 0) {
        multiply(beta, to, group->factor_by_to, group->labels, group->width);
    }
    return sum;
}

/* At the last position of a sequence beta is 1 / s. */
INLINE void begin_lanes(const struct tr_group_lanes *group, size_t i, size_t at, integers ends,
                        float *beta)
{
    vector last = load(group->inverse + i * GROUP + at);
    for (size_t c = 0; c < group->labels; c++) {
        store(beta + c * GROUP, choose(ends, last, load(beta + c * GROUP)));
    }
}

static float backward(const struct tr_group_lanes *group)
{
    float *beta = group->scratch, *marginal = beta + group->width * GROUP, *row[GROUP], most = 0;
    vector largest = {0};
    memset(beta, 0, 2 * group->width * GROUP * sizeof *beta);
    for (size_t i = group->positions; i-- > 0;) {
        size_t active = active_at(group, i), going_on = active_at(group, i + 1);
        for (size_t at = 0; at < GROUP; at += LANES) {
            if (going_on < active) {
                begin_lanes(group, i, at, lanes_between(going_on, active, at), beta + at);
            }
            vector sum = step_back(group, i, at, marginal + at, beta + at);
            largest = choose(sum <= largest, largest, sum);
        }
        rows_at(row, group, i, active);
        gather(row, marginal, group);
        if (group->lists) {
            count_lists(group, i);
        }
    }
    for (int lane = 0; lane < LANES; lane++) {
        most = isnan(most) || largest[lane] <= most ? most : largest[lane];
    }
    return most;
}

/* ---- counts ---------------------------------------------------------------------------------- */

enum { ROWS = 4, COLUMNS = 4 };

/* sum[a][b] += sum_i,k to_i(a)[k] alpha_{i-1}(b)[k] for some rows a and columns b */
INLINE void count_tile(double *sum, const struct tr_group_lanes *group, size_t width, size_t a,
                       size_t b, const size_t rows, const size_t columns)
{
    size_t step = group->labels * GROUP;
    vector all_lanes[ROWS][COLUMNS] = {{{0}}};
    for (size_t at = 0; at < GROUP; at += LANES) {
        const float *to = group->to + step + a * GROUP + at, *alpha = group->alpha + b * GROUP + at;
        vector tile[ROWS][COLUMNS] = {{{0}}};
        for (size_t i = 1; i < group->positions; i++, to += step, alpha += step) {
#pragma GCC unroll 4
            for (size_t r = 0; r < rows; r++) {
                vector x = load(to + r * GROUP);
#pragma GCC unroll 4
                for (size_t c = 0; c < columns; c++) {
                    tile[r][c] = fused(x, load(alpha + c * GROUP), tile[r][c]);
                }
            }
        }
        for (size_t r = 0; r < rows; r++) {
            for (size_t c = 0; c < columns; c++) {
                all_lanes[r][c] += tile[r][c];
            }
        }
    }
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            sum[(a + r) * width + b + c] += (double)across_sum(all_lanes[r][c]);
        }
    }
}

/* All columns of some rows. */
INLINE void count_rows(double *sum, const struct tr_group_lanes *group, size_t labels, size_t width,
                       size_t a, const size_t rows)
{
    size_t b = 0;
    for (; b + COLUMNS <= labels; b += COLUMNS) {
        count_tile(sum, group, width, a, b, rows, COLUMNS);
    }
    switch (labels - b) {
    case 3:
        count_tile(sum, group, width, a, b, rows, 3);
        break;
    case 2:
        count_tile(sum, group, width, a, b, rows, 2);
        break;
    case 1:
        count_tile(sum, group, width, a, b, rows, 1);
        break;
    default:
        break;
    }
}

static void count(const struct tr_group_lanes *group, size_t labels, double *sum, size_t width)
{
    size_t a = 0;
    for (; a + ROWS <= labels; a += ROWS) {
        count_rows(sum, group, labels, width, a, ROWS);
    }
    switch (labels - a) {
    case 3:
        count_rows(sum, group, labels, width, a, 3);
        break;
    case 2:
        count_rows(sum, group, labels, width, a, 2);
        break;
    case 1:
        count_rows(sum, group, labels, width, a, 1);
        break;
    default:
        break;
    }
}

const struct tr_group_kernels GROUP_KERNELS = {
    .forward = forward, .backward = backward, .count = count};
