/* tables.h - the numbers in the tables of resources, little-endian and unaligned, and how they are
 * searched. */
#ifndef TRELLIS_FEATURES_TABLES_H
#define TRELLIS_FEATURES_TABLES_H

#include <endian.h>
#include <string.h>

#include "base/text.h"

static inline uint64_t tr_u64_at(const char *bytes, size_t index)
{
    uint64_t value;
    memcpy(&value, bytes + index * sizeof value, sizeof value);
    return le64toh(value);
}

static inline uint32_t tr_u32_at(const char *bytes, size_t index)
{
    uint32_t value;
    memcpy(&value, bytes + index * sizeof value, sizeof value);
    return le32toh(value);
}

static inline void tr_put_u32(struct tr_buffer *buffer, uint32_t value)
{
    value = htole32(value);
    tr_buffer_add(buffer, (const char *)&value, sizeof value);
}

static inline void tr_put_u64(struct tr_buffer *buffer, uint64_t value)
{
    value = htole64(value);
    tr_buffer_add(buffer, (const char *)&value, sizeof value);
}

/* The index of a hash among `count` sorted ones, or `count`. In an unsorted table it may not be
 * found, but no memory outside is read. */
static inline size_t tr_find_hash(const char *hashes, size_t count, uint64_t hash)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tr_u64_at(hashes, middle) < hash) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && tr_u64_at(hashes, low) == hash ? low : count;
}

#endif
