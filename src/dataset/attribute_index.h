/* attribute_index.h - attributes numbered by their keys, with their texts for inspection.
 *
 * An attribute is found by the low half of its key. The high half detects a collision of two
 * attributes in the low half, which is an error (it takes billions of attributes to see one).
 */
#ifndef TRELLIS_DATASET_ATTRIBUTE_INDEX_H
#define TRELLIS_DATASET_ATTRIBUTE_INDEX_H

#include "base/hash.h"
#include "base/intern.h"

#define TR_ELSEWHERE UINT64_MAX

struct tr_entry {
    uint64_t key;  // the low half
    uint64_t text; // where its text begins in `bytes`; TR_ELSEWHERE: another rank has it
    uint32_t text_size;
    uint32_t count; // occurrences, saturating
};

struct tr_packed {
    char *at;
    size_t size, capacity;
};

struct tr_attribute_index {
    TR_ARRAY(struct tr_entry) entries;
    TR_ARRAY(uint64_t) high; // [entries] the high halves, 0: not known; empty after renumbering
    TR_ARRAY(char) bytes;
    uint32_t *slots; // [slot_count] number + 1, or 0
    size_t slot_count;
    struct tr_packed packed; // entries and texts, while those have a size but no place
};

/* Prefetch the slots of keys that will soon be looked up and, when those are in the cache, their
 * entries. */
void tr_attribute_index_prefetch(const struct tr_attribute_index *index, const uint64_t *low,
                                 size_t count);
void tr_attribute_index_prefetch_entries(const struct tr_attribute_index *index,
                                         const uint64_t *low, size_t count);
/* The number of a key, TR_NONE if it is not there. */
uint32_t tr_attribute_index_find(const struct tr_attribute_index *index, uint64_t low);

/* Finds or adds an attribute and counts it. *ret_new says whether it is new; then its text is set
 * by tr_attribute_index_name(), so that texts are built for new attributes only. TR_NONE on
 * allocation failure or if there are too many. *ret_clash is set to true on a collision of keys. */
uint32_t tr_attribute_index_add(struct tr_attribute_index *index, struct tr_key key, bool *ret_new,
                                bool *ret_clash);
bool tr_attribute_index_name(struct tr_attribute_index *index, uint32_t number, trellis_text text);
trellis_text tr_attribute_index_text(const struct tr_attribute_index *index, uint32_t number);

/* Fills an empty index with these keys, each of which is another, numbered in their order. Their
 * texts are elsewhere until they are set. Nothing can be added afterwards. */
bool tr_attribute_index_fill(struct tr_attribute_index *index, const uint64_t *low, size_t count);

/* Adds an attribute of which only the lower half of the key is known, with its text; the upper half
 * is that of its first occurrence. False on allocation failure, or where the key is there
 * already. */
bool tr_attribute_index_adopt(struct tr_attribute_index *index, uint64_t low, trellis_text text);
/* Forgets all attributes but the first `count`. */
void tr_attribute_index_truncate(struct tr_attribute_index *index, size_t count);

/* Renumbers the entries: entry i becomes to[i], or is dropped if that is TR_NONE. Nothing can be
 * added afterwards. */
bool tr_attribute_index_renumber(struct tr_attribute_index *index, const uint32_t *to,
                                 uint32_t count);

/* Frees what only lookups need; numbers, keys and texts stay. */
void tr_attribute_index_close(struct tr_attribute_index *index);
/* The same, and compresses keys and texts until they are unpacked, if there is memory for it: nothing
 * can be asked before. unpack() does nothing where nothing is packed; false on allocation failure. */
void tr_attribute_index_pack(struct tr_attribute_index *index);
bool tr_attribute_index_unpack(struct tr_attribute_index *index);
void tr_attribute_index_free(struct tr_attribute_index *index);

#endif
