/* attribute_index.h - attributes numbered, with their texts kept for people.
 *
 * An attribute is known by the low half of its key; the high half tells two attributes apart that
 * share the low one, which then is an error (it takes billions of attributes to see one).
 */
#ifndef TRELLIS_DATASET_ATTRIBUTE_INDEX_H
#define TRELLIS_DATASET_ATTRIBUTE_INDEX_H

#include "base/hash.h"
#include "base/intern.h"

struct tr_entry {
    uint64_t key;  // the low half
    uint64_t text; // where its text begins in `bytes`
    uint32_t text_size;
    uint32_t count; // how often it was seen; stays at the highest number there is
};

struct tr_attribute_index {
    TR_ARRAY(struct tr_entry) entries;
    TR_ARRAY(uint64_t) high; // [entries] the high halves; empty once it is renumbered
    TR_ARRAY(char) bytes;
    uint32_t *slots; // [slot_count] number + 1, or 0
    size_t slot_count;
};

/* For keys that will soon be looked for: has their slots fetched, and when those are there, their entries. */
void tr_attribute_index_fetch(const struct tr_attribute_index *dictionary, const uint64_t *low,
                              size_t count);
void tr_attribute_index_fetch_entries(const struct tr_attribute_index *dictionary,
                                      const uint64_t *low, size_t count);
/* The number of a key, TR_NONE where it is not there. */
uint32_t tr_attribute_index_find(const struct tr_attribute_index *dictionary, uint64_t low);

/* Adds an attribute; its text is set afterwards by tr_attribute_index_name(), as it is built only for new
 * ones: *ret_new says so. TR_NONE where memory or numbers are out. A collision of keys sets
 * *ret_clash. */
uint32_t tr_attribute_index_add(struct tr_attribute_index *dictionary, struct tr_key key,
                                bool *ret_new, bool *ret_clash);
bool tr_attribute_index_name(struct tr_attribute_index *dictionary, uint32_t number,
                             trellis_text text);
trellis_text tr_attribute_index_text(const struct tr_attribute_index *dictionary, uint32_t number);

/* Puts the entries into a new order and drops those with to[i] == TR_NONE: entry i becomes to[i]. Nothing
 * can be added any more. */
bool tr_attribute_index_renumber(struct tr_attribute_index *dictionary, const uint32_t *to,
                                 uint32_t count);

/* Frees what finding and adding need; numbers, keys and texts stay. */
void tr_attribute_index_close(struct tr_attribute_index *dictionary);
void tr_attribute_index_free(struct tr_attribute_index *dictionary);

#endif
