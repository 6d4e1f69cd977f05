/* vectors.h - vectors of LANES floats, for kernels that are written once and compiled for several
 * instruction sets.
 *
 * A file that includes this defines LANES: 4, 8 or, with AVX-512, 16. These are the vector types of GCC
 * and Clang; the few operations that they lack (fused multiply-add, maximum, sums across a vector) are
 * defined here, with intrinsics where the instruction set has them.
 */
#ifndef TRELLIS_BASE_VECTORS_H
#define TRELLIS_BASE_VECTORS_H

#include <math.h>
#include <stdint.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

typedef float vector __attribute__((vector_size(4 * LANES)));
typedef int32_t integers __attribute__((vector_size(4 * LANES)));
typedef double doubles __attribute__((vector_size(4 * LANES))); // half as many lanes

/* ---- what the vector types lack -------------------------------------------------------------- */

INLINE vector all(float x)
{
    return x - (vector){0};
}

INLINE vector load(const float *row)
{
    return *(const vector *)row; // a vector may alias its elements
}

/* An unaligned load. */
INLINE vector load_loose(const float *row)
{
    typedef float loose __attribute__((vector_size(4 * LANES), aligned(4)));
    return *(const loose *)row;
}

INLINE vector load_shorts(const int16_t *row)
{
#if LANES == 8 && defined(__AVX2__)
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)row);
    return (vector)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(x));
#elif LANES == 4 && defined(__SSE2__)
    __m128i x = _mm_loadl_epi64((const __m128i *)(const void *)row);
    return (vector)_mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(x, x), 16));
#else
    vector x = {0};
    for (int i = 0; i < LANES; i++) {
        x[i] = row[i];
    }
    return x;
#endif
}

INLINE void store(float *row, vector x)
{
    *(vector *)row = x;
}

/* a * b + c, rounded once where the processor can. */
INLINE vector fused(vector a, vector b, vector c)
{
#if LANES == 8 && defined(__FMA__)
    return (vector)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif LANES == 16
    return (vector)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#else
    return a * b + c;
#endif
}

INLINE vector choose(integers mask, vector yes, vector no)
{
    return (vector)((mask & (integers)yes) | (~mask & (integers)no));
}

/* a > b ? a : b, so b where one is NaN. */
INLINE vector larger(vector a, vector b)
{
#if LANES == 8 && defined(__AVX2__)
    return (vector)_mm256_max_ps((__m256)a, (__m256)b);
#elif LANES == 16
    return (vector)_mm512_max_ps((__m512)a, (__m512)b);
#elif LANES == 4 && defined(__SSE2__)
    return (vector)_mm_max_ps((__m128)a, (__m128)b);
#else
    return choose(a > b, a, b);
#endif
}

#if defined(__AVX2__)
INLINE float sum_of_eight(__m256 x)
{
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
}
#endif

/* Of 16 lanes: that of the sums of lanes 0 and 8, 1 and 9 and so on. */
INLINE float across_sum(vector x)
{
#if LANES == 8 && defined(__AVX2__)
    return sum_of_eight((__m256)x);
#elif LANES == 16
    __m512d all = (__m512d)x;
    return sum_of_eight((__m256)_mm512_castpd512_pd256(all) +
                        (__m256)_mm512_extractf64x4_pd(all, 1));
#else
    float sum = 0;
    for (int i = 0; i < LANES; i++) {
        sum += x[i];
    }
    return sum;
#endif
}

INLINE float across_largest(vector x)
{
#if LANES == 8 && defined(__AVX2__)
    __m128 half = _mm_max_ps(_mm256_castps256_ps128((__m256)x),
                             _mm256_extractf128_ps((__m256)x, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_shuffle_ps(half, half, 1)));
#else
    float largest = x[0];
    for (int i = 1; i < LANES; i++) {
        largest = x[i] > largest ? x[i] : largest;
    }
    return largest;
#endif
}

/* A bit for each lane that is set. */
INLINE unsigned lane_bits(integers mask)
{
#if LANES == 8 && defined(__AVX2__)
    return (unsigned)_mm256_movemask_ps((__m256)(vector)mask);
#elif LANES == 4 && defined(__SSE2__)
    return (unsigned)_mm_movemask_ps((__m128)(vector)mask);
#else
    unsigned bits = 0;
    for (int i = 0; i < LANES; i++) {
        bits |= (mask[i] ? 1u : 0u) << i;
    }
    return bits;
#endif
}

/* The first lane that is set, LANES where none is. */
INLINE int first_lane(integers mask)
{
    return __builtin_ctz(lane_bits(mask) | 1u << LANES);
}

/* ---- the exponential ------------------------------------------------------------------------- */

/* exp(x) = 2^n exp(r) with n = round(x / log 2) and r = x - n log 2 in [-0.35, 0.35]; log 2 is
 * taken in two parts so that r keeps its digits, and exp(r) is the polynomial of Cephes' expf. 2^n
 * is made as 2 * 2^(n-1), which reaches the largest floats. */
INLINE vector exponential(vector x)
{
    const float rounder = 12582912.0f; // 1.5 * 2^23: adding it leaves an integer in the low bits
    vector limited = larger(all(-87.0f), x);
    limited = -larger(all(-89.0f), -limited);
    vector shifted = fused(limited, all(1.44269504088896341f), all(rounder));
    vector n = shifted - rounder;
    vector r = fused(n, all(-0.693359375f), limited);
    r = fused(n, all(2.12194440e-4f), r);

    vector p = all(1.9875691500e-4f);
    p = fused(p, r, all(1.3981999507e-3f));
    p = fused(p, r, all(8.3334519073e-3f));
    p = fused(p, r, all(4.1665795894e-2f));
    p = fused(p, r, all(1.6666665459e-1f));
    p = fused(p, r, all(5.0000001201e-1f));
    p = fused(p, r * r, r) + 1.0f;

    integers power = ((integers)shifted - (0x4B400000 - 126)) << 23; // 2^(n-1)
    vector result = (p + p) * (vector)power;
    return choose(x < -86.5f, (vector){0}, result);
}

#endif
