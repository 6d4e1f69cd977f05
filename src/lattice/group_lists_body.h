/* group_lists_body.h - sums and counts of groups over the lists of group_lists.h; a part of
 * group_kernels_body.h.
 */

/* ---- sums ------------------------------------------------------------------------------------ */

/* Below this share of what a sum begins with, its rounding errors are no longer negligible. */
static const float CANCELLED = 1.0f / 32;

/* Of the labels first .. end-1. */
INLINE vector total(const float *row, size_t first, size_t end)
{
    vector sum[4] = {{0}};
    size_t a = first;
    for (; a + 4 <= end; a += 4) {
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; j++) {
            sum[j] += load(row + (a + j) * GROUP);
        }
    }
    for (; a < end; a++) {
        sum[0] += load(row + a * GROUP);
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* whole + sum_p row(other[p]) less[p], p = begin .. end-1 */
INLINE vector listed_sum(vector whole, const float *row, const struct tr_group_sums *sums,
                         size_t begin, size_t end)
{
    vector even = whole, odd = {0};
    for (size_t p = begin; p < end; p += 4) {
        const uint32_t *other = sums->other + p;
        const float *less = sums->less + p;
        even = fused(load(row + other[0]), all(less[0]), even);
        odd = fused(load(row + other[1]), all(less[1]), odd);
        even = fused(load(row + other[2]), all(less[2]), even);
        odd = fused(load(row + other[3]), all(less[3]), odd);
    }
    return even + odd;
}

/* The sum into order[k] term by term; the terms of the matrix are given. */
static vector exact_sum(vector sum, const float *row, const struct tr_group_sums *sums, size_t k,
                        size_t labels, size_t dense)
{
    size_t p = sums->begin[k], end = sums->begin[k + 1];
    for (size_t a = sums->order[k] < dense ? dense : 0; a < labels; a++) {
        bool listed = p < end && sums->other[p] == a * GROUP;
        sum = fused(load(row + a * GROUP), all(listed ? sums->factor[p] : 1), sum);
        p += listed;
    }
    return sum;
}

INLINE bool any_above_zero(vector x)
{
#if LANES == 16
    return _mm512_cmp_ps_mask((__m512)x, _mm512_setzero_ps(), _CMP_GT_OQ) != 0;
#else
    return lane_bits(x > 0) != 0;
#endif
}

/* out(b) = sum_a row(a) M(a,b) in one vector of lanes */
static void add_up(float *out, const float *row, const struct tr_group_sums *sums, size_t labels,
                   size_t dense)
{
    vector tail = total(row, dense, labels), whole = total(row, 0, dense) + tail;
    vector lacking[2] = {all(-INFINITY), all(-INFINITY)};
    float matrix[TR_GROUP_MATRIX * GROUP] __attribute__((aligned(64)));
    for (size_t b = 0; b < dense; b += AT_ONCE) {
        multiply_block(matrix + b * GROUP, row, sums->matrix + b, dense, dense, AT_ONCE);
    }
    for (size_t k = 0; k < labels; k++) {
        size_t b = sums->order[k];
        bool inside = k < dense;
        vector begin = inside ? tail : whole;
        vector x = listed_sum(begin, row, sums, sums->begin[k], sums->begin[k + 1]);
        x = inside ? x + load(matrix + b * GROUP) : x;
        store(out + b * GROUP, x);
        lacking[inside] = larger(begin * CANCELLED - x, lacking[inside]); // above 0: an x too small
    }
    for (size_t k = any_above_zero(lacking[1]) ? 0 : dense;
         k < (any_above_zero(lacking[0]) ? labels : dense); k++) {
        size_t b = sums->order[k];
        vector least = (k < dense ? tail : whole) * CANCELLED, x = load(out + b * GROUP);
        if (any_above_zero(least - x)) {
            vector inside = k < dense ? load(matrix + b * GROUP) : (vector){0};
            vector exact = exact_sum(inside, row, sums, k, labels, dense);
            store(out + b * GROUP,
                  choose(x < least, exact, x)); // lanes do not depend on each other
        }
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* sum[4 j + l] += the sum of every fourth lane of x[j], from lane l on; x [4][GROUP / LANES] */
INLINE void add_every_fourth(float *sum, vector (*x)[GROUP / LANES])
{
#if LANES == 16
    __m512 a = (__m512)x[0][0], b = (__m512)x[1][0], c = (__m512)x[2][0], d = (__m512)x[3][0];
    __m512 ab = _mm512_shuffle_f32x4(a, b, 0x44) + _mm512_shuffle_f32x4(a, b, 0xee);
    __m512 cd = _mm512_shuffle_f32x4(c, d, 0x44) + _mm512_shuffle_f32x4(c, d, 0xee);
    __m512 all = _mm512_shuffle_f32x4(ab, cd, 0x88) + _mm512_shuffle_f32x4(ab, cd, 0xdd);
    store(sum, load(sum) + (vector)all);
#elif LANES == 8 && defined(__AVX2__)
    for (int j = 0; j < 4; j += 2) {
        __m256 a = (__m256)(x[j][0] + x[j][1]), b = (__m256)(x[j + 1][0] + x[j + 1][1]);
        __m256 ab = _mm256_permute2f128_ps(a, b, 0x20) + _mm256_permute2f128_ps(a, b, 0x31);
        store(sum + 4 * j, load(sum + 4 * j) + (vector)ab);
    }
#else
    for (int j = 0; j < 4; j++) {
        vector a = (x[j][0] + x[j][2]) + (x[j][1] + x[j][3]);
        store(sum + 4 * j, load(sum + 4 * j) + a);
    }
#endif
}

/* counted[p] += sum_i,k alpha_{i-1}(from)[k] to_i(to)[k] for `count` positions from i = first on */
INLINE void count_positions(const struct tr_group_lanes *group, size_t first, const size_t count)
{
    enum { VECTORS = GROUP / LANES };
    const struct tr_group_sums *sums = &group->lists->into;
    size_t step = group->labels * GROUP;
    const float *alpha = group->alpha + (first - 1) * step, *to = group->to + first * step;
    for (size_t k = 0; k < group->labels; k++) {
        vector y[2][VECTORS];
        for (size_t i = 0; i < count; i++) {
            for (size_t v = 0; v < VECTORS; v++) {
                y[i][v] = load(to + i * step + sums->order[k] * (size_t)GROUP + v * LANES);
            }
        }
        for (size_t p = sums->begin[k]; p < sums->begin[k + 1]; p += 4) {
            vector x[4][VECTORS];
#pragma GCC unroll 4
            for (size_t j = 0; j < 4; j++) {
                const float *from = alpha + sums->other[p + j];
#pragma GCC unroll 4
                for (size_t v = 0; v < VECTORS; v++) {
                    x[j][v] = y[0][v] * load(from + v * LANES);
                    if (count > 1) {
                        x[j][v] = fused(y[1][v], load(from + step + v * LANES), x[j][v]);
                    }
                }
            }
            add_every_fourth(group->counted + p * 4, x);
        }
    }
}

/* Of position i, in the backward pass, and the one after it: positions are counted in pairs. */
INLINE void count_lists(const struct tr_group_lanes *group, size_t i)
{
    if (i % 2 == 1 && i + 1 < group->positions) {
        count_positions(group, i, 2);
    } else if (i % 2 == 1) {
        count_positions(group, i, 1);
    }
}
