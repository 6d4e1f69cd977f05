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
static struct tr_intern_slot *find_slot(const struct tr_intern *intern, trellis_text text,
                                        uint64_t hash)
{
    size_t mask = intern->slot_count - 1, slot = hash & mask;
    uint32_t half = (uint32_t)(hash >> 32);
    while (intern->slots[slot].number &&
           (intern->slots[slot].hash != half ||
            !tr_text_equal(tr_intern_text(intern, intern->slots[slot].number - 1), text))) {
        slot = (slot + 1) & mask;
    }
    return &intern->slots[slot];
}

static uint64_t hash_of(trellis_text text)
{
    return tr_hash64(text.data, text.size);
}

static bool grow(struct tr_intern *intern)
{
    size_t slot_count = intern->slot_count ? intern->slot_count * 2 : 64;
    struct tr_intern_slot *slots = tr_alloc(slot_count, sizeof *slots);
    if (!slots) {
        return false;
    }
    free(intern->slots);
    intern->slots = slots;
    intern->slot_count = slot_count;
    for (uint32_t i = 0; i < tr_intern_count(intern); i++) {
        uint64_t hash = hash_of(tr_intern_text(intern, i));
        size_t slot = hash & (slot_count - 1);
        while (slots[slot].number) {
            slot = (slot + 1) & (slot_count - 1);
        }
        slots[slot] = (struct tr_intern_slot){(uint32_t)(hash >> 32), i + 1};
    }
    return true;
}

uint32_t tr_intern_find(const struct tr_intern *intern, trellis_text text)
{
    if (intern->slot_count == 0) {
        return TR_NONE;
    }
    uint32_t number = find_slot(intern, text, hash_of(text))->number;
    return number ? number - 1 : TR_NONE;
}

/* The last added goes first, so that no other text was placed behind it in its slots. */
void tr_intern_truncate(struct tr_intern *intern, size_t count)
{
    while (tr_intern_count(intern) > count) {
        size_t last = tr_intern_count(intern) - 1;
        trellis_text text = tr_intern_text(intern, (uint32_t)last);
        *find_slot(intern, text, hash_of(text)) = (struct tr_intern_slot){0};
        intern->bytes.size = intern->begin.at[last];
        intern->begin.size = intern->length.size = last;
    }
}

static uint32_t add(struct tr_intern *intern, trellis_text text, uint64_t hash)
{
    size_t count = tr_intern_count(intern);
    if (count * 2 >= intern->slot_count && !grow(intern)) {
        return TR_NONE;
    }
    struct tr_intern_slot *slot = find_slot(intern, text, hash);
    if (slot->number) {
        return slot->number - 1;
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
    *slot = (struct tr_intern_slot){(uint32_t)(hash >> 32), (uint32_t)count + 1};
    return (uint32_t)count;
}

uint32_t tr_intern_add(struct tr_intern *intern, trellis_text text)
{
    return add(intern, text, hash_of(text));
}

enum { AHEAD = 32 };

/* Fetches what finding these texts will read, each stage once the one before has arrived. */
static void fetch(const struct tr_intern *intern, const uint64_t *hash, size_t count)
{
    size_t mask = intern->slot_count - 1;
    for (size_t k = 0; k < count; k++) {
        uint32_t number = intern->slots[hash[k] & mask].number;
        if (number) {
            __builtin_prefetch(&intern->begin.at[number - 1]);
            __builtin_prefetch(&intern->length.at[number - 1]);
        }
    }
    for (size_t k = 0; k < count; k++) {
        uint32_t number = intern->slots[hash[k] & mask].number;
        if (number) {
            __builtin_prefetch(intern->bytes.at + intern->begin.at[number - 1]);
        }
    }
}

bool tr_intern_add_all(struct tr_intern *intern, const void *texts, size_t stride, size_t count,
                       uint32_t *numbers)
{
    const char *next = texts;
    for (size_t done = 0; done < count;) {
        trellis_text text[AHEAD];
        uint64_t hash[AHEAD];
        size_t n = count - done < AHEAD ? count - done : AHEAD;
        for (size_t k = 0; k < n; k++, next += stride) {
            memcpy(&text[k], next, sizeof text[k]);
            hash[k] = hash_of(text[k]);
            if (intern->slot_count) {
                __builtin_prefetch(&intern->slots[hash[k] & (intern->slot_count - 1)]);
            }
        }
        if (intern->slot_count) {
            fetch(intern, hash, n);
        }
        for (size_t k = 0; k < n; k++) {
            numbers[done + k] = add(intern, text[k], hash[k]);
            if (numbers[done + k] == TR_NONE) {
                return false;
            }
        }
        done += n;
    }
    return true;
}

size_t tr_intern_bytes(const struct tr_intern *intern)
{
    return intern->bytes.capacity + intern->begin.capacity * sizeof *intern->begin.at +
           intern->length.capacity * sizeof *intern->length.at +
           intern->slot_count * sizeof *intern->slots;
}

void tr_intern_free(struct tr_intern *intern)
{
    free(intern->bytes.at);
    free(intern->begin.at);
    free(intern->length.at);
    free(intern->slots);
    *intern = (struct tr_intern){0};
}
