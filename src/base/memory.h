/* memory.h - checked allocation and growing arrays.
 *
 * Memory comes zeroed, every size is a checked product, and a growing array is a pointer, a size
 * and a capacity:
 *
 *     TR_ARRAY(uint32_t) ids = {0};
 *     if (!tr_push(&ids, 42)) ...;             // false: out of memory, the array is unchanged
 *     ... ids.at[i], ids.size ...
 *     free(ids.at);
 */
#ifndef TRELLIS_BASE_MEMORY_H
#define TRELLIS_BASE_MEMORY_H

#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ < 8
#error "Trellis needs a 64-bit target: sizes and offsets of its files have 64 bits, and are size_t"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* count * size zeroed bytes; NULL if the product overflows or on allocation failure. A count of 0
 * also gives a valid pointer. */
void *tr_alloc(size_t count, size_t size);

/* The same, aligned to 64 bytes, for arrays used with vector instructions. Freed with free(). */
void *tr_alloc_aligned(size_t count, size_t size);

/* A copy with a terminating zero byte. */
char *tr_copy_text(const char *data, size_t size);

/* Enlarges an array to at least `need` elements and returns it; new elements are zeroed. On failure
 * it returns the array unchanged, and *capacity stays below `need`. */
void *tr_grow(void *at, size_t *capacity, size_t need, size_t element);
/* The same, but what is new is not cleared: memory that is never written is never taken from the
 * system. */
void *tr_grow_raw(void *at, size_t *capacity, size_t need, size_t element);

/* Makes room for `need` elements in the array `at`; false on allocation failure. The arguments are
 * evaluated more than once. */
#define tr_make_room(at, capacity, need)                                                           \
    ((need) <= (capacity) ||                                                                       \
     ((at) = tr_grow((at), &(capacity), (need), sizeof *(at)), (need) <= (capacity)))

#define TR_ARRAY(type)                                                                             \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t size, capacity;                                                                     \
    }

#define tr_reserve(array, need) tr_make_room((array)->at, (array)->capacity, (need))

#define tr_push(array, ...)                                                                        \
    (tr_reserve((array), (array)->size + 1) ? ((array)->at[(array)->size++] = __VA_ARGS__, true)   \
                                            : false)

#define TR_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
