/* batch.c - copies of sequences that outlive the reader's next call.
 *
 * Everything a batch points to is allocated from a chain of chunks, which never move and are reused
 * after a reset. The rows of a sequence are usually adjacent in memory and contain its cells and
 * labels: they are copied as one block, and pointers into them are redirected to the copy.
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
    struct chunk *chunk = size <= SIZE_MAX / 2 ? malloc(sizeof *chunk + size) : NULL;
    if (chunk) {
        *chunk = (struct chunk){.size = size};
    }
    return chunk;
}

void *batch_alloc(struct batch *batch, size_t size)
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

/* *ret_copy is NULL where `array` is; false on allocation failure. */
static bool copy_array(struct batch *batch, const void *array, size_t count, size_t size,
                       void **ret_copy)
{
    *ret_copy = array ? batch_alloc(batch, count * size) : NULL;
    if (*ret_copy && count) {
        memcpy(*ret_copy, array, count * size);
    }
    return *ret_copy || !array;
}

bool batch_copy(struct batch *batch, trellis_text *text)
{
    void *copy;
    bool copied = copy_array(batch, text->data, text->size, 1, &copy);
    text->data = copy;
    return copied;
}

/* Bytes copied as one block. */
struct block {
    uintptr_t begin, size;
    const char *copy;
};

static bool copy_rows_in_one(struct batch *batch, const trellis_sequence *sequence,
                             struct block *ret_block)
{
    enum { LINE_END = 2 };
    const char *first = NULL;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    size_t bytes = 0;
    *ret_block = (struct block){0};
    for (size_t i = 0; sequence->rows && i < sequence->row_count; i++) {
        trellis_text row = sequence->rows[i];
        uintptr_t at = (uintptr_t)row.data;
        first = at < begin ? row.data : first;
        begin = at < begin ? at : begin;
        end = at + row.size > end ? at + row.size : end;
        bytes += row.size;
    }
    if (bytes == 0 || end - begin > bytes + LINE_END * sequence->row_count) {
        return true; // there are none, or they are not adjacent
    }
    void *copy;
    bool copied = copy_array(batch, first, end - begin, 1, &copy);
    *ret_block = (struct block){begin, end - begin, copy};
    return copied;
}

/* Copies the texts, and their bytes unless the block has them. */
static bool copy_texts(struct batch *batch, const struct block *block, const trellis_text **texts,
                       size_t count)
{
    void *array;
    if (!copy_array(batch, *texts, count, sizeof **texts, &array)) {
        return false;
    }
    trellis_text *copies = array;
    *texts = copies;
    for (size_t i = 0; copies && i < count; i++) {
        trellis_text *text = &copies[i];
        uintptr_t from = (uintptr_t)text->data - block->begin;
        if (from < block->size && text->size <= block->size - from) {
            text->data = block->copy + from;
        } else if (!batch_copy(batch, text)) {
            return false;
        }
    }
    return true;
}

static bool copy_numbers(struct batch *batch, const size_t **numbers, size_t count)
{
    void *array;
    bool copied = copy_array(batch, *numbers, count, sizeof **numbers, &array);
    *numbers = array;
    return copied;
}

static bool copy_attributes(struct batch *batch, trellis_sequence *sequence)
{
    if (!sequence->attributes || !sequence->attribute_begin) {
        return true;
    }
    size_t count = sequence->attribute_begin[sequence->length];
    void *array;
    if (!copy_numbers(batch, &sequence->attribute_begin, sequence->length + 1) ||
        !copy_array(batch, sequence->attributes, count, sizeof *sequence->attributes, &array)) {
        return false;
    }
    trellis_attribute *copies = array;
    sequence->attributes = copies;
    for (size_t i = 0; i < count; i++) {
        if (!batch_copy(batch, &copies[i].name)) {
            return false;
        }
    }
    return true;
}

static bool copy_context(struct batch *batch, trellis_sequence *sequence)
{
    void *array;
    struct block none = {0};
    bool copied = copy_array(batch, sequence->writing, sequence->length, sizeof *sequence->writing,
                             &array);
    sequence->writing = array;
    return copied &&
           copy_texts(batch, &none, &sequence->elsewhere, sequence->length * sequence->columns);
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
    struct block block;
    if (!copy_rows_in_one(batch, sequence, &block) ||
        !copy_texts(batch, &block, &copy.cells, copy.length * copy.columns) ||
        !copy_texts(batch, &block, &copy.labels, copy.length) || !copy_attributes(batch, &copy) ||
        !copy_texts(batch, &block, &copy.rows, copy.row_count) ||
        !copy_numbers(batch, &copy.row_token, copy.row_count) || !copy_context(batch, &copy)) {
        return false;
    }
    batch->items[batch->count++] = (struct batch_item){.sequence = copy};
    batch->tokens += copy.length;
    return true;
}

bool batch_write(struct batch *batch, const char *data, size_t size)
{
    size_t need;
    if (__builtin_add_overflow(batch->text_size, size, &need) || need > SIZE_MAX / 2) {
        return false;
    }
    if (need > batch->text_capacity) {
        char *text = realloc(batch->text, 2 * need);
        if (!text) {
            return false;
        }
        batch->text = text;
        batch->text_capacity = 2 * need;
    }
    if (size) { // else there may be no text yet
        memcpy(batch->text + batch->text_size, data, size);
    }
    batch->text_size = need;
    return true;
}

void batch_forget(struct batch *batch)
{
    for (struct chunk *chunk = batch->first_chunk; chunk; chunk = chunk->next) {
        chunk->used = 0;
    }
    batch->chunk = batch->first_chunk;
    batch->count = batch->tokens = batch->tagged = 0;
}

void batch_reset(struct batch *batch)
{
    batch_forget(batch);
    batch->text_size = 0;
    batch->status = batch->reading = TRELLIS_OK;
    batch->done = batch->unread = false;
}

void batch_free(struct batch *batch)
{
    for (struct chunk *chunk = batch->first_chunk; chunk;) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(batch->items);
    free(batch->text);
    *batch = (struct batch){0};
}
