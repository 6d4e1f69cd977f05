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

#endif
