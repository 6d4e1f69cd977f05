/* attribute_index.c - attributes numbered by their keys, with their texts for inspection. */
#include "dataset/attribute_index.h"

enum { AHEAD = 16 }; // entries whose slots are prefetched

static size_t home(uint64_t low, size_t slot_count)
{
    return (low ^ (low >> 32)) & (slot_count - 1);
}

/* Makes a table of this many slots from the entries. */
static bool rebuild(struct tr_attribute_index *index, size_t slot_count)
{
    uint32_t *slots = tr_alloc(slot_count, sizeof *slots);
    if (!slots) {
        return false;
    }
    size_t count = index->entries.size;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            __builtin_prefetch(&slots[home(index->entries.at[i + AHEAD].key, slot_count)], 1);
        }
        size_t slot = home(index->entries.at[i].key, slot_count);
        while (slots[slot]) {
            slot = (slot + 1) & (slot_count - 1);
        }
        slots[slot] = (uint32_t)i + 1;
    }
    free(index->slots);
    index->slots = slots;
    index->slot_count = slot_count;
    return true;
}

/* The slot of a key, or the empty one where it belongs. */
static size_t find_slot(const struct tr_attribute_index *index, uint64_t low)
{
    size_t slot = home(low, index->slot_count);
    while (index->slots[slot] && index->entries.at[index->slots[slot] - 1].key != low) {
        slot = (slot + 1) & (index->slot_count - 1);
    }
    return slot;
}

void tr_attribute_index_prefetch(const struct tr_attribute_index *index, const uint64_t *low,
                                 size_t count)
{
    for (size_t k = 0; index->slot_count && k < count; k++) {
        __builtin_prefetch(&index->slots[home(low[k], index->slot_count)]);
    }
}

void tr_attribute_index_prefetch_entries(const struct tr_attribute_index *index,
                                         const uint64_t *low, size_t count)
{
    for (size_t k = 0; index->slot_count && k < count; k++) {
        uint32_t found = index->slots[home(low[k], index->slot_count)];
        __builtin_prefetch(&index->entries.at[found - (found > 0)]);
    }
}

uint32_t tr_attribute_index_find(const struct tr_attribute_index *index, uint64_t low)
{
    if (index->slot_count == 0) {
        return TR_NONE;
    }
    uint32_t found = index->slots[find_slot(index, low)];
    return found ? found - 1 : TR_NONE;
}

uint32_t tr_attribute_index_add(struct tr_attribute_index *index, struct tr_key key, bool *ret_new,
                                bool *ret_clash)
{
    size_t count = index->entries.size;
    *ret_new = false;
    if (count * 2 >= index->slot_count &&
        !rebuild(index, index->slot_count ? index->slot_count * 2 : 1024)) {
        return TR_NONE;
    }
    size_t slot = find_slot(index, key.low);
    if (index->slots[slot]) {
        uint32_t number = index->slots[slot] - 1;
        struct tr_entry *entry = &index->entries.at[number];
        if (index->high.at[number] == 0) {
            index->high.at[number] = key.high;
        }
        *ret_clash = *ret_clash || index->high.at[number] != key.high;
        entry->count += entry->count < UINT32_MAX;
        return number;
    }
    if (count >= TR_NONE - 1 || !tr_reserve(&index->high, count + 1) ||
        !tr_push(&index->entries, (struct tr_entry){.key = key.low, .count = 1})) {
        return TR_NONE;
    }
    index->high.at[index->high.size++] = key.high;
    index->slots[slot] = (uint32_t)count + 1;
    *ret_new = true;
    return (uint32_t)count;
}

bool tr_attribute_index_name(struct tr_attribute_index *index, uint32_t number, trellis_text text)
{
    struct tr_entry *entry = &index->entries.at[number];
    if (text.size > UINT32_MAX || !tr_reserve(&index->bytes, index->bytes.size + text.size)) {
        return false;
    }
    entry->text = index->bytes.size;
    entry->text_size = (uint32_t)text.size;
    if (text.size) {
        memcpy(index->bytes.at + index->bytes.size, text.data, text.size);
    }
    index->bytes.size += text.size;
    return true;
}

trellis_text tr_attribute_index_text(const struct tr_attribute_index *index, uint32_t number)
{
    const struct tr_entry *entry = &index->entries.at[number];
    return entry->text_size ? (trellis_text){index->bytes.at + entry->text, entry->text_size}
                            : (trellis_text){"", 0};
}

bool tr_attribute_index_fill(struct tr_attribute_index *index, const uint64_t *low, size_t count)
{
    size_t slot_count = 1024;
    while (slot_count < 2 * count) {
        slot_count *= 2;
    }
    if (count >= TR_NONE - 1 || !tr_reserve(&index->entries, count)) {
        return false;
    }
    index->entries.size = count;
    for (size_t i = 0; i < count; i++) {
        index->entries.at[i] = (struct tr_entry){.key = low[i], .text = TR_ELSEWHERE};
    }
    return rebuild(index, slot_count);
}

bool tr_attribute_index_adopt(struct tr_attribute_index *index, uint64_t low, trellis_text text)
{
    bool is_new, clash = false;
    uint32_t number = tr_attribute_index_add(index, (struct tr_key){low, 0}, &is_new, &clash);
    return number != TR_NONE && is_new && tr_attribute_index_name(index, number, text);
}

/* The last added goes first, so that no other key was placed behind it in its slots. */
void tr_attribute_index_truncate(struct tr_attribute_index *index, size_t count)
{
    while (index->entries.size > count) {
        const struct tr_entry *last = &index->entries.at[index->entries.size - 1];
        index->slots[find_slot(index, last->key)] = 0;
        index->bytes.size = last->text_size ? last->text : index->bytes.size;
        index->entries.size = index->high.size = index->entries.size - 1;
    }
}

bool tr_attribute_index_renumber(struct tr_attribute_index *index, const uint32_t *to,
                                 uint32_t count)
{
    struct tr_entry *entries = tr_alloc(count, sizeof *entries);
    if (!entries) {
        return false;
    }
    for (size_t i = 0; i < index->entries.size; i++) {
        if (to[i] != TR_NONE) {
            entries[to[i]] = index->entries.at[i];
        }
    }
    free(index->entries.at);
    index->entries.at = entries;
    index->entries.size = index->entries.capacity = count;
    free(index->high.at);
    memset(&index->high, 0, sizeof index->high);
    return !index->slots || rebuild(index, index->slot_count);
}

void tr_attribute_index_close(struct tr_attribute_index *index)
{
    free(index->slots);
    free(index->high.at);
    memset(&index->high, 0, sizeof index->high);
    index->slots = NULL;
    index->slot_count = 0;
}

void tr_attribute_index_free(struct tr_attribute_index *index)
{
    tr_attribute_index_close(index);
    free(index->entries.at);
    free(index->bytes.at);
    free(index->packed.at);
    *index = (struct tr_attribute_index){0};
}
