/* batch.c - copies of sequences that outlive the reader's next step.
 *
 * All that a batch points to is cut from a chain of chunks, which are never moved and are used again
 * after a reset.
 */
#include "batch.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_SIZE = 1 << 18 };

struct chunk {
    struct chunk *next;
    size_t size, used;
    alignas(max_align_t) char bytes[];
};

static struct chunk *chunk_create(size_t size)
{
    size = size > CHUNK_SIZE ? size : CHUNK_SIZE;
    struct chunk *chunk = malloc(sizeof *chunk + size);
    if (chunk) {
        *chunk = (struct chunk){.size = size};
    }
    return chunk;
}

void *batch_take(struct batch *batch, size_t size)
{
    size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    struct chunk *chunk = batch->chunk;
    while (!chunk || chunk->size - chunk->used < size) {
        struct chunk **next = chunk ? &chunk->next : &batch->first_chunk;
        if (!*next && !(*next = chunk_create(size))) {
            return NULL;
        }
        chunk = *next;
    }
    batch->chunk = chunk;
    void *memory = chunk->bytes + chunk->used;
    chunk->used += size;
    return memory;
}

static bool copy_array(struct batch *batch, const void **array, size_t count, size_t size)
{
    if (!*array) {
        return true;
    }
    void *copy = batch_take(batch, count * size);
    if (copy && count) {
        memcpy(copy, *array, count * size);
    }
    *array = copy;
    return copy;
}

bool batch_copy(struct batch *batch, trellis_text *text)
{
    const void *data = text->data;
    bool copied = copy_array(batch, &data, text->size, 1);
    text->data = data;
    return copied;
}

/* The texts and their bytes. */
static bool copy_texts(struct batch *batch, const trellis_text **texts, size_t count)
{
    const void *array = *texts;
    if (!copy_array(batch, &array, count, sizeof **texts)) {
        return false;
    }
    *texts = array;
    for (size_t i = 0; array && i < count; i++) {
        if (!batch_copy(batch, (trellis_text *)array + i)) {
            return false;
        }
    }
    return true;
}

static bool copy_numbers(struct batch *batch, const size_t **numbers, size_t count)
{
    const void *array = *numbers;
    bool copied = copy_array(batch, &array, count, sizeof **numbers);
    *numbers = array;
    return copied;
}

static bool copy_attributes(struct batch *batch, trellis_sequence *sequence)
{
    if (!sequence->attributes || !sequence->attribute_begin) {
        return true;
    }
    size_t count = sequence->attribute_begin[sequence->length];
    const void *array = sequence->attributes;
    if (!copy_numbers(batch, &sequence->attribute_begin, sequence->length + 1) ||
        !copy_array(batch, &array, count, sizeof *sequence->attributes)) {
        return false;
    }
    sequence->attributes = array;
    for (size_t i = 0; i < count; i++) {
        if (!batch_copy(batch, &((trellis_attribute *)array)[i].name)) {
            return false;
        }
    }
    return true;
}

bool batch_add(struct batch *batch, const trellis_sequence *sequence)
{
    if (batch->count == batch->capacity) {
        size_t wider = batch->capacity ? 2 * batch->capacity : 64;
        struct batch_item *items = realloc(batch->items, wider * sizeof *items);
        if (!items) {
            return false;
        }
        batch->items = items;
        batch->capacity = wider;
    }
    trellis_sequence copy = *sequence;
    if (!copy_texts(batch, &copy.cells, copy.length * copy.columns) ||
        !copy_texts(batch, &copy.labels, copy.length) || !copy_attributes(batch, &copy) ||
        !copy_texts(batch, &copy.rows, copy.row_count) ||
        !copy_numbers(batch, &copy.row_token, copy.row_count)) {
        return false;
    }
    batch->items[batch->count++] = (struct batch_item){.sequence = copy};
    batch->tokens += copy.length;
    return true;
}

void batch_reset(struct batch *batch)
{
    for (struct chunk *chunk = batch->first_chunk; chunk; chunk = chunk->next) {
        chunk->used = 0;
    }
    batch->chunk = batch->first_chunk;
    batch->count = batch->tokens = batch->labelled = 0;
    batch->status = TRELLIS_OK;
    batch->done = false;
}

void batch_free(struct batch *batch)
{
    for (struct chunk *chunk = batch->first_chunk; chunk;) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(batch->items);
    *batch = (struct batch){0};
}
