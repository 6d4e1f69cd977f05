/* intern.c - strings numbered in the order of their first occurrence. */
#include "base/intern.h"

#include "base/hash.h"

size_t tr_intern_count(const struct tr_intern *intern)
{
    return intern->begin.size;
}

trellis_text tr_intern_text(const struct tr_intern *intern, uint32_t number)
{
    return (trellis_text){intern->bytes.at + intern->begin.at[number], intern->length.at[number]};
}

/* The slot that holds the text, or the empty one where it would go. */
static size_t find_slot(const struct tr_intern *intern, trellis_text text)
{
    size_t mask = intern->slot_count - 1;
    size_t slot = tr_hash64(text.data, text.size) & mask;
    while (intern->slots[slot] &&
           !tr_text_equal(tr_intern_text(intern, intern->slots[slot] - 1), text)) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static bool grow(struct tr_intern *intern)
{
    size_t slot_count = intern->slot_count ? intern->slot_count * 2 : 64;
    uint32_t *slots = tr_alloc(slot_count, sizeof *slots);
    if (!slots) {
        return false;
    }
    free(intern->slots);
    intern->slots = slots;
    intern->slot_count = slot_count;
    for (uint32_t i = 0; i < tr_intern_count(intern); i++) {
        trellis_text text = tr_intern_text(intern, i);
        size_t slot = tr_hash64(text.data, text.size) & (slot_count - 1);
        while (slots[slot]) {
            slot = (slot + 1) & (slot_count - 1);
        }
        slots[slot] = i + 1;
    }
    return true;
}

uint32_t tr_intern_find(const struct tr_intern *intern, trellis_text text)
{
    if (intern->slot_count == 0) {
        return TR_NONE;
    }
    uint32_t found = intern->slots[find_slot(intern, text)];
    return found ? found - 1 : TR_NONE;
}

uint32_t tr_intern_add(struct tr_intern *intern, trellis_text text)
{
    size_t count = tr_intern_count(intern);
    if (count * 2 >= intern->slot_count && !grow(intern)) {
        return TR_NONE;
    }
    size_t slot = find_slot(intern, text);
    if (intern->slots[slot]) {
        return intern->slots[slot] - 1;
    }
    if (count >= TR_NONE - 1 || text.size >= UINT32_MAX ||
        !tr_reserve(&intern->bytes, intern->bytes.size + text.size + 1) ||
        !tr_reserve(&intern->begin, count + 1) || !tr_reserve(&intern->length, count + 1)) {
        return TR_NONE;
    }
    intern->begin.at[intern->begin.size++] = intern->bytes.size;
    intern->length.at[intern->length.size++] = (uint32_t)text.size;
    if (text.size) {
        memcpy(intern->bytes.at + intern->bytes.size, text.data, text.size);
    }
    intern->bytes.size += text.size;
    intern->bytes.at[intern->bytes.size++] = '\0';
    intern->slots[slot] = (uint32_t)count + 1;
    return (uint32_t)count;
}

void tr_intern_free(struct tr_intern *intern)
{
    free(intern->bytes.at);
    free(intern->begin.at);
    free(intern->length.at);
    free(intern->slots);
    *intern = (struct tr_intern){0};
}
