/* attribute_index.c - attributes numbered, with their texts kept for people. */
#include "dataset/attribute_index.h"

enum { AHEAD = 16 }; // entries whose slots are fetched early

static size_t home(uint64_t low, size_t slot_count)
{
    return (low ^ (low >> 32)) & (slot_count - 1);
}

/* Fills a table of this many slots from the entries. */
static bool rebuild(struct tr_attribute_index *dictionary, size_t slot_count)
{
    uint32_t *slots = tr_alloc(slot_count, sizeof *slots);
    if (!slots) {
        return false;
    }
    size_t count = dictionary->entries.size;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            __builtin_prefetch(&slots[home(dictionary->entries.at[i + AHEAD].key, slot_count)], 1);
        }
        size_t slot = home(dictionary->entries.at[i].key, slot_count);
        while (slots[slot]) {
            slot = (slot + 1) & (slot_count - 1);
        }
        slots[slot] = (uint32_t)i + 1;
    }
    free(dictionary->slots);
    dictionary->slots = slots;
    dictionary->slot_count = slot_count;
    return true;
}

/* The slot of the key, or the empty one where it would go. */
static size_t find_slot(const struct tr_attribute_index *dictionary, uint64_t low)
{
    size_t slot = home(low, dictionary->slot_count);
    while (dictionary->slots[slot] &&
           dictionary->entries.at[dictionary->slots[slot] - 1].key != low) {
        slot = (slot + 1) & (dictionary->slot_count - 1);
    }
    return slot;
}

void tr_attribute_index_fetch(const struct tr_attribute_index *dictionary, const uint64_t *low,
                              size_t count)
{
    for (size_t k = 0; dictionary->slot_count && k < count; k++) {
        __builtin_prefetch(&dictionary->slots[home(low[k], dictionary->slot_count)]);
    }
}

void tr_attribute_index_fetch_entries(const struct tr_attribute_index *dictionary,
                                      const uint64_t *low, size_t count)
{
    for (size_t k = 0; dictionary->slot_count && k < count; k++) {
        uint32_t found = dictionary->slots[home(low[k], dictionary->slot_count)];
        __builtin_prefetch(&dictionary->entries.at[found - (found > 0)]);
    }
}

uint32_t tr_attribute_index_find(const struct tr_attribute_index *dictionary, uint64_t low)
{
    if (dictionary->slot_count == 0) {
        return TR_NONE;
    }
    uint32_t found = dictionary->slots[find_slot(dictionary, low)];
    return found ? found - 1 : TR_NONE;
}

uint32_t tr_attribute_index_add(struct tr_attribute_index *dictionary, struct tr_key key,
                                bool *ret_new, bool *ret_clash)
{
    size_t count = dictionary->entries.size;
    *ret_new = false;
    if (count * 2 >= dictionary->slot_count &&
        !rebuild(dictionary, dictionary->slot_count ? dictionary->slot_count * 2 : 1024)) {
        return TR_NONE;
    }
    size_t slot = find_slot(dictionary, key.low);
    if (dictionary->slots[slot]) {
        uint32_t number = dictionary->slots[slot] - 1;
        struct tr_entry *entry = &dictionary->entries.at[number];
        *ret_clash = *ret_clash || dictionary->high.at[number] != key.high;
        entry->count += entry->count < UINT32_MAX;
        return number;
    }
    if (count >= TR_NONE - 1 || !tr_reserve(&dictionary->high, count + 1) ||
        !tr_push(&dictionary->entries, (struct tr_entry){.key = key.low, .count = 1})) {
        return TR_NONE;
    }
    dictionary->high.at[dictionary->high.size++] = key.high;
    dictionary->slots[slot] = (uint32_t)count + 1;
    *ret_new = true;
    return (uint32_t)count;
}

bool tr_attribute_index_name(struct tr_attribute_index *dictionary, uint32_t number,
                             trellis_text text)
{
    struct tr_entry *entry = &dictionary->entries.at[number];
    if (text.size > UINT32_MAX ||
        !tr_reserve(&dictionary->bytes, dictionary->bytes.size + text.size)) {
        return false;
    }
    entry->text = dictionary->bytes.size;
    entry->text_size = (uint32_t)text.size;
    if (text.size) {
        memcpy(dictionary->bytes.at + dictionary->bytes.size, text.data, text.size);
    }
    dictionary->bytes.size += text.size;
    return true;
}

trellis_text tr_attribute_index_text(const struct tr_attribute_index *dictionary, uint32_t number)
{
    const struct tr_entry *entry = &dictionary->entries.at[number];
    return (trellis_text){dictionary->bytes.at + entry->text, entry->text_size};
}

bool tr_attribute_index_renumber(struct tr_attribute_index *dictionary, const uint32_t *to,
                                 uint32_t count)
{
    struct tr_entry *entries = tr_alloc(count, sizeof *entries);
    if (!entries) {
        return false;
    }
    for (size_t i = 0; i < dictionary->entries.size; i++) {
        if (to[i] != TR_NONE) {
            entries[to[i]] = dictionary->entries.at[i];
        }
    }
    free(dictionary->entries.at);
    dictionary->entries.at = entries;
    dictionary->entries.size = dictionary->entries.capacity = count;
    free(dictionary->high.at);
    memset(&dictionary->high, 0, sizeof dictionary->high);
    return !dictionary->slots || rebuild(dictionary, dictionary->slot_count);
}

void tr_attribute_index_close(struct tr_attribute_index *dictionary)
{
    free(dictionary->slots);
    free(dictionary->high.at);
    memset(&dictionary->high, 0, sizeof dictionary->high);
    dictionary->slots = NULL;
    dictionary->slot_count = 0;
}

void tr_attribute_index_free(struct tr_attribute_index *dictionary)
{
    tr_attribute_index_close(dictionary);
    free(dictionary->entries.at);
    free(dictionary->bytes.at);
    *dictionary = (struct tr_attribute_index){0};
}
