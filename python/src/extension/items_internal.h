/* items_internal.h - storing attributes and cells, for items.c and plain_items.c */
#ifndef TRELLIS_PYTHON_ITEMS_INTERNAL_H
#define TRELLIS_PYTHON_ITEMS_INTERNAL_H

#include "extension.h"

#include <string.h>

/* Makes an array larger; false with MemoryError. */
bool tpy_grow(void *array_pointer, size_t *room, size_t count, size_t more, size_t size);

/* Room for `more` elements after `count`; false with MemoryError. */
static inline bool reserve(void *array_pointer, size_t *room, size_t count, size_t more,
                           size_t size)
{
    return more <= *room - count || tpy_grow(array_pointer, room, count, more, size);
}

/* memcpy() for texts, most of which have at most 16 bytes: moves that overlap, without a call. */
static inline void copy_text(char *to, const char *data, size_t size)
{
    if (size > 16) {
        memcpy(to, data, size);
    } else if (size >= 8) {
        memcpy(to, data, 8);
        memcpy(to + size - 8, data + size - 8, 8);
    } else if (size >= 4) {
        memcpy(to, data, 4);
        memcpy(to + size - 4, data + size - 4, 4);
    } else if (size) {
        to[0] = data[0];
        to[size / 2] = data[size / 2];
        to[size - 1] = data[size - 1];
    }
}

/* Adds a text that has room; its data is set at the end of the conversion. */
static inline void put(tpy_items *items, const char *data, size_t size)
{
    copy_text(items->bytes + items->byte_count, data, size);
    items->byte_count += size;
}

/* Adds an attribute whose bytes were put; there must be room for it. */
static inline void put_attribute(tpy_items *items, size_t size, double value)
{
    items->attributes[items->attribute_count++] = (trellis_attribute){.name.size = size,
                                                                      .value = value};
}

static inline int add_text(tpy_items *items, const char *data, size_t size)
{
    if (!reserve(&items->bytes, &items->byte_room, items->byte_count, size, 1) ||
        !reserve(&items->texts, &items->text_room, items->text_count, 1, sizeof *items->texts)) {
        return -1;
    }
    put(items, data, size);
    items->texts[items->text_count++] = (trellis_text){NULL, size};
    return 0;
}

/* Begins the next item. */
static inline int begin_item(tpy_items *items)
{
    if (!reserve(&items->begin, &items->begin_room, items->position, 2, sizeof *items->begin)) {
        return -1;
    }
    items->begin[items->position] = items->attribute_count;
    return 0;
}

/* Adds any item; `columns` is None for attributes. */
typedef int (*tpy_item_function)(tpy_items *items, PyObject *item, PyObject *columns);

/* Adds the items of an exact list (plain_items.c), by `add` those that are not plain. Without an
 * interpreter lock it must not be called. */
int tpy_plain_items(tpy_items *items, PyObject *list, PyObject *columns, tpy_item_function add);

#endif
