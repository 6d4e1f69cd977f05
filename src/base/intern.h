/* intern.h - strings numbered in the order of their first occurrence. */
#ifndef TRELLIS_BASE_INTERN_H
#define TRELLIS_BASE_INTERN_H

#include "base/memory.h"
#include "base/text.h"

#define TR_NONE UINT32_MAX

/* Half of a text's hash saves most comparisons with other texts. */
struct tr_intern_slot {
    uint32_t hash;
    uint32_t number; // + 1; 0: empty
};

struct tr_intern {
    TR_ARRAY(char) bytes;     // all texts, each with a terminating zero byte
    TR_ARRAY(uint64_t) begin; // of each text in bytes
    TR_ARRAY(uint32_t) length;
    struct tr_intern_slot *slots; // [slot_count] open addressing
    size_t slot_count;
};

/* The number of a text, which is added if it is new; TR_NONE on allocation failure or if there are
 * too many. */
uint32_t tr_intern_add(struct tr_intern *intern, trellis_text text);
/* The numbers of `count` texts that lie `stride` bytes apart, in numbers [count]; false on
 * allocation failure or if there are too many. Faster than one by one: memory is fetched ahead. */
bool tr_intern_add_all(struct tr_intern *intern, const void *texts, size_t stride, size_t count,
                       uint32_t *numbers);
/* The number of a text, TR_NONE if it is not there. */
uint32_t tr_intern_find(const struct tr_intern *intern, trellis_text text);
/* The text of a number, valid until the next add. */
trellis_text tr_intern_text(const struct tr_intern *intern, uint32_t number);
size_t tr_intern_count(const struct tr_intern *intern);
/* Forgets all texts but the first `count`. */
void tr_intern_truncate(struct tr_intern *intern, size_t count);
/* Bytes allocated. */
size_t tr_intern_bytes(const struct tr_intern *intern);
void tr_intern_free(struct tr_intern *intern);

#endif
