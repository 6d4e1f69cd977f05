/* plain_items.c - the common case of items.c: lists, tuples and dicts of str, exactly of that type
 *
 * Much of the time of a conversion is spent waiting for the strings, which lie anywhere in memory. So
 * the pointers of an item are gathered first and their objects prefetched, those of a list while the
 * item before it is converted.
 *
 * No Python code runs in between, so that nothing can change a gathered item; after an item of another
 * kind, whose conversion may run some, the next one is gathered again. Without an interpreter lock
 * another thread could change it, and this way is not taken.
 */
#include "items_internal.h"

enum { MAX_GATHERED = 64 };

typedef struct gathered {
    Py_ssize_t count; // -1: the item is of another kind
    bool dict;
    PyObject *keys[MAX_GATHERED], *values[MAX_GATHERED]; // of a list, values only
} gathered;

/* ---- gathering ------------------------------------------------------------------------------------ */

static inline void gather_value(gathered *g, PyObject *value)
{
    __builtin_prefetch(value);
    __builtin_prefetch((const char *)value + 64); // the text of a str that begins in the next line
    g->values[g->count++] = value;
}

static inline void gather_list(gathered *g, PyObject *item, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        gather_value(g, PyList_GetItem(item, i));
    }
}

static void gather(gathered *g, PyObject *item)
{
    Py_ssize_t at = 0;
    g->count = -1;
    g->dict = false;
    if (PyList_CheckExact(item) && PyList_Size(item) <= MAX_GATHERED) {
        g->count = 0;
        gather_list(g, item, PyList_Size(item));
    } else if (PyTuple_CheckExact(item) && PyTuple_Size(item) <= MAX_GATHERED) {
        g->count = 0;
        while (g->count < PyTuple_Size(item)) {
            gather_value(g, PyTuple_GetItem(item, g->count));
        }
    } else if (PyDict_CheckExact(item) && PyDict_Size(item) <= MAX_GATHERED) {
        PyObject *value;
        g->count = 0;
        g->dict = true;
        while (g->count < MAX_GATHERED && PyDict_Next(item, &at, &g->keys[g->count], &value)) {
            gather_value(g, value);
        }
    }
}

/* ---- converting ----------------------------------------------------------------------------------- */

static inline bool all_str(PyObject *const *objects, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (Py_TYPE(objects[i]) != &PyUnicode_Type) {
            return false;
        }
    }
    return true;
}

static bool reserve_attributes(tpy_items *items, const gathered *g)
{
    return reserve(&items->attributes, &items->attribute_room, items->attribute_count,
                   (size_t)g->count, sizeof *items->attributes);
}

/* The attributes of a list of str: 1; 0 and nothing for anything else; -1. */
static int add_list(tpy_items *items, const gathered *g)
{
    if (!all_str(g->values, g->count)) {
        return 0;
    }
    if (!reserve_attributes(items, g)) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < g->count; i++) {
        Py_ssize_t size;
        const char *name = PyUnicode_AsUTF8AndSize(g->values[i], &size);
        if (!name ||
            !reserve(&items->bytes, &items->byte_room, items->byte_count, (size_t)size, 1)) {
            return -1;
        }
        put(items, name, (size_t)size);
        put_attribute(items, (size_t)size, 1);
    }
    return 1;
}

/* The same for a dict from str to str. */
static int add_dict(tpy_items *items, const gathered *g)
{
    if (!all_str(g->keys, g->count) || !all_str(g->values, g->count)) {
        return 0;
    }
    if (!reserve_attributes(items, g)) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < g->count; i++) {
        Py_ssize_t size, end_size;
        const char *name = PyUnicode_AsUTF8AndSize(g->keys[i], &size);
        const char *end = name ? PyUnicode_AsUTF8AndSize(g->values[i], &end_size) : NULL;
        size_t total = end ? (size_t)size + 1 + (size_t)end_size : 0;
        if (!end || !reserve(&items->bytes, &items->byte_room, items->byte_count, total, 1)) {
            return -1;
        }
        put(items, name, (size_t)size);
        items->bytes[items->byte_count++] = ':';
        put(items, end, (size_t)end_size);
        put_attribute(items, total, 1);
    }
    return 1;
}

/* The same for the cells of a list or tuple, if there are as many as there should be. */
static int add_cells(tpy_items *items, const gathered *g)
{
    if (g->dict || (size_t)g->count != items->sequence.columns || !all_str(g->values, g->count)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < g->count; i++) {
        Py_ssize_t size;
        const char *data = PyUnicode_AsUTF8AndSize(g->values[i], &size);
        if (!data || add_text(items, data, (size_t)size)) {
            return -1;
        }
    }
    return 1;
}

/* An item that was gathered, if it is a plain one: 1; 0 if not; -1. */
static int add_plain(tpy_items *items, const gathered *g, bool cells)
{
    if (g->count < 0) {
        return 0;
    }
    if (begin_item(items)) {
        return -1;
    }
    int plain = cells ? add_cells(items, g) : g->dict ? add_dict(items, g) : add_list(items, g);
    items->position += plain > 0;
    return plain;
}

int tpy_plain_items(tpy_items *items, PyObject *list, PyObject *columns, tpy_item_function add)
{
    gathered g[2];
    bool ready = false; // the next item is gathered
    int plain = 1;
    for (Py_ssize_t i = 0; plain >= 0 && i < PyList_Size(list); i++) {
        PyObject *item = PyList_GetItem(list, i);
        PyObject *next = i + 1 < PyList_Size(list) ? PyList_GetItem(list, i + 1) : NULL;
        if (!ready) {
            gather(&g[i % 2], item);
        }
        ready = next && PyList_CheckExact(next);
        if (ready) {
            gather(&g[(i + 1) % 2], next);
        }
        plain = add_plain(items, &g[i % 2], columns != Py_None);
        if (plain == 0) {
            Py_INCREF(item);
            plain = add(items, item, columns) ? -1 : 0;
            Py_DECREF(item);
            ready = false; // it may have changed
        }
    }
    return plain < 0 ? -1 : 0;
}
