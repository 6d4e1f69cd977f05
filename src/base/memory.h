/* memory.h - checked allocation and growing arrays.
 *
 * Memory comes zeroed, every size is a checked product, and a growing array is a pointer, a size and
 * a capacity:
 *
 *     TR_ARRAY(uint32_t) ids = {0};
 *     if (!tr_push(&ids, 42)) goto memory;     // false: out of memory, the array is unchanged
 *     ... ids.at[i], ids.size ...
 *     free(ids.at);
 */
#ifndef TRELLIS_BASE_MEMORY_H
#define TRELLIS_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* count * size zeroed bytes, NULL where the product overflows or memory is out; a count of 0 gives
 * a valid pointer too. */
void *tr_alloc(size_t count, size_t size);

/* The same, aligned to 64 bytes, for arrays that vector instructions run over. Freed with free(). */
void *tr_alloc_aligned(size_t count, size_t size);

/* A copy ended by a zero byte. */
char *tr_copy_text(const char *data, size_t size);

/* Makes room for `need` elements in all; new elements are zeroed. */
bool tr_grow(void **at, size_t *capacity, size_t need, size_t element);

#define TR_ARRAY(type)                                                                             \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t size, capacity;                                                                     \
    }

#define tr_reserve(array, need)                                                                    \
    ((need) <= (array)->capacity ||                                                                \
     tr_grow((void **)&(array)->at, &(array)->capacity, (need), sizeof *(array)->at))

#define tr_push(array, ...)                                                                        \
    (tr_reserve((array), (array)->size + 1) ? ((array)->at[(array)->size++] = __VA_ARGS__, true)   \
                                            : false)

#define TR_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
