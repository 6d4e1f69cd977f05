/* random.h - seeded random numbers: xoshiro256** by Blackman and Vigna, started by splitmix64.
 *
 * The same seed gives the same numbers on every machine; there is no other source of randomness.
 */
#ifndef TRELLIS_BASE_RANDOM_H
#define TRELLIS_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct tr_random {
    uint64_t state[4];
};

static inline uint64_t tr_random_bits(struct tr_random *random)
{
    uint64_t *s = random->state;
    uint64_t times5 = s[1] * 5, result = ((times5 << 7) | (times5 >> 57)) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

static inline void tr_random_seed(struct tr_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        random->state[i] = z ^ (z >> 31);
    }
}

/* Uniform in [0, 1). */
static inline double tr_random_real(struct tr_random *random)
{
    return (double)(tr_random_bits(random) >> 11) * 0x1p-53;
}

/* Uniform in 0 .. n-1, for n > 0; the bias is at most n / 2^64. */
static inline uint64_t tr_random_below(struct tr_random *random, uint64_t n)
{
    return (uint64_t)(((__uint128_t)tr_random_bits(random) * n) >> 64);
}

/* Fisher-Yates. */
static inline void tr_random_shuffle(struct tr_random *random, uint32_t *order, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = tr_random_below(random, i);
        uint32_t kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

#endif
