/* batch.c - copies of sequences that outlive the reader's next step.
 *
 * All that a batch points to is cut from a chain of chunks, which are never moved and are used again
 * after a reset. The rows of a sequence mostly lie side by side, and cells and labels within them: they are
 * copied in one piece, and what pointed into them points into the copy.
 */
#include "batch.h"

#include <stdalign.h>
#include <stdint.h>
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

/* Bytes that were copied in one piece. */
struct piece {
    uintptr_t begin, size;
    const char *copy;
};

static bool copy_rows_in_one(struct batch *batch, const trellis_sequence *sequence,
                             struct piece *ret_piece)
{
    enum { LINE_END = 2 };
    const void *first = NULL;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    size_t bytes = 0;
    *ret_piece = (struct piece){0};
    for (size_t i = 0; sequence->rows && i < sequence->row_count; i++) {
        trellis_text row = sequence->rows[i];
        uintptr_t at = (uintptr_t)row.data;
        first = at < begin ? row.data : first;
        begin = at < begin ? at : begin;
        end = at + row.size > end ? at + row.size : end;
        bytes += row.size;
    }
    if (bytes == 0 || end - begin > bytes + LINE_END * sequence->row_count) {
        return true; // there are none, or they lie elsewhere each
    }
    bool copied = copy_array(batch, &first, end - begin, 1);
    *ret_piece = (struct piece){begin, end - begin, first};
    return copied;
}

/* The texts and their bytes, but for those that the piece has. */
static bool copy_texts(struct batch *batch, const struct piece *piece, const trellis_text **texts,
                       size_t count)
{
    const void *array = *texts;
    if (!copy_array(batch, &array, count, sizeof **texts)) {
        return false;
    }
    *texts = array;
    for (size_t i = 0; array && i < count; i++) {
        trellis_text *text = (trellis_text *)array + i;
        uintptr_t from = (uintptr_t)text->data - piece->begin;
        if (from < piece->size && text->size <= piece->size - from) {
            text->data = piece->copy + from;
        } else if (!batch_copy(batch, text)) {
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
    struct piece piece;
    if (!copy_rows_in_one(batch, sequence, &piece) ||
        !copy_texts(batch, &piece, &copy.cells, copy.length * copy.columns) ||
        !copy_texts(batch, &piece, &copy.labels, copy.length) || !copy_attributes(batch, &copy) ||
        !copy_texts(batch, &piece, &copy.rows, copy.row_count) ||
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
