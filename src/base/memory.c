/* memory.c - checked allocation and growing arrays. */
#include "base/memory.h"

#include <string.h>

void *tr_alloc(size_t count, size_t size)
{
    return calloc(count ? count : 1, size ? size : 1);
}

void *tr_alloc_aligned(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 128) {
        return NULL;
    }
    bytes = (bytes + 64) & ~(size_t)63;
    void *memory = aligned_alloc(64, bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

char *tr_copy_text(const char *data, size_t size)
{
    char *copy = size < SIZE_MAX ? tr_alloc(size + 1, 1) : NULL;
    if (copy && size) {
        memcpy(copy, data, size);
    }
    return copy;
}

void *tr_grow_raw(void *at, size_t *capacity, size_t need, size_t element)
{
    size_t larger = *capacity + *capacity / 2 + 16, bytes;
    if (larger < need) {
        larger = need;
    }
    if (need <= *capacity || __builtin_mul_overflow(larger, element, &bytes)) {
        return at;
    }
    void *memory = realloc(at, bytes);
    if (!memory) {
        return at;
    }
    *capacity = larger;
    return memory;
}

void *tr_grow(void *at, size_t *capacity, size_t need, size_t element)
{
    size_t before = *capacity;
    char *memory = tr_grow_raw(at, capacity, need, element);
    if (*capacity > before) {
        memset(memory + before * element, 0, (*capacity - before) * element);
    }
    return memory;
}
