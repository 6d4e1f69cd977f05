/* hash.h - 64-bit keys of texts, and how they are combined.
 *
 * A column value is hashed once (XXH3, 128 bits); an attribute's key mixes the hashes of its parts.
 * Models store the low half alone; training also compares the high half, so that a collision of two
 * attributes in the low half is detected (docs/design.md, decision 1).
 */
#ifndef TRELLIS_BASE_HASH_H
#define TRELLIS_BASE_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trellis.h"

struct tr_key {
    uint64_t low, high;
};

static inline struct tr_key tr_hash(trellis_text text)
{
    XXH128_hash_t h = XXH3_128bits(text.data, text.size);
    return (struct tr_key){h.low64, h.high64};
}

static inline uint64_t tr_hash64(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}

static inline uint64_t tr_fold(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Combines two keys: depends on the order, has no neutral element. */
static inline struct tr_key tr_mix(struct tr_key so_far, struct tr_key next)
{
    return (struct tr_key){
        tr_fold(so_far.low ^ 0x9E3779B97F4A7C15u, next.low ^ 0xD6E8FEB86659FD93u) + so_far.low,
        tr_fold(so_far.high ^ 0xA0761D6478BD642Fu, next.high ^ 0xE7037ED1A0B428DBu) + so_far.high};
}

/* Keys of strings that are put together from pieces. With p = 2^61 - 1 and a base B,
 *
 *     H(s) = sum over i of (s_i + 1) B^(n - 1 - i)  mod p,     span(s) = B^n  mod p
 *     H(st) = H(s) span(t) + H(t)
 *
 * so that the key of a string follows from those of its pieces, wherever it is divided. The two
 * halves of a key have different bases.
 */
struct tr_string_key {
    struct tr_key hash, span;
};

#define TR_STRING_PRIME ((UINT64_C(1) << 61) - 1)
#define TR_STRING_BASE_LOW UINT64_C(0x1B873593CC9E2D51)
#define TR_STRING_BASE_HIGH UINT64_C(0x0D6E8FEB86659FD9)

/* a b + c mod p, for a, b, c below p. */
static inline uint64_t tr_string_step(uint64_t a, uint64_t b, uint64_t c)
{
    __uint128_t product = (__uint128_t)a * b + c;
    uint64_t sum = ((uint64_t)product & TR_STRING_PRIME) + (uint64_t)(product >> 61);
    return sum >= TR_STRING_PRIME ? sum - TR_STRING_PRIME : sum;
}

static inline struct tr_key tr_string_join(struct tr_key so_far, struct tr_string_key next)
{
    return (struct tr_key){tr_string_step(so_far.low, next.span.low, next.hash.low),
                           tr_string_step(so_far.high, next.span.high, next.hash.high)};
}

static inline struct tr_string_key tr_string_key(trellis_text text)
{
    struct tr_string_key key = {{0, 0}, {1, 1}};
    for (size_t i = 0; i < text.size; i++) {
        uint64_t next = (uint64_t)(unsigned char)text.data[i] + 1;
        key.hash.low = tr_string_step(key.hash.low, TR_STRING_BASE_LOW, next);
        key.hash.high = tr_string_step(key.hash.high, TR_STRING_BASE_HIGH, next);
        key.span.low = tr_string_step(key.span.low, TR_STRING_BASE_LOW, 0);
        key.span.high = tr_string_step(key.span.high, TR_STRING_BASE_HIGH, 0);
    }
    return key;
}

#endif
