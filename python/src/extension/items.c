/* items.c - Python's items as sequences of the library: attributes or cells, and labels
 *
 * An item with attributes is a dict or an iterable of keys. A key is a str or bytes. In a dict, a str or
 * bytes as value makes the attribute key:value, a number is the value of the attribute, and a dict, list
 * or set makes attributes that begin with "key:". All texts are copied, so that the interpreter lock may
 * be released afterwards.
 */
#include "items_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

bool tpy_grow(void *array_pointer, size_t *room, size_t count, size_t more, size_t size)
{
    size_t wanted = *room < 16 ? 16 : *room, bytes;
    void *old, *grown = NULL;
    while (wanted - count < more && wanted <= SIZE_MAX / 2) {
        wanted *= 2;
    }
    memcpy(&old, array_pointer, sizeof old);
    if (wanted - count >= more && !__builtin_mul_overflow(wanted, size, &bytes)) {
        grown = realloc(old, bytes);
    }
    if (!grown) {
        PyErr_NoMemory();
        return false;
    }
    memcpy(array_pointer, &grown, sizeof grown);
    *room = wanted;
    return true;
}

/* Raises "sequence 3, position 2, key 'x': ..."; always -1. The message is one of PyUnicode_FromFormat. */
static int fail(const tpy_items *items, PyObject *type, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyObject *message = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    PyObject *where = NULL;
    if (message && items->number != SIZE_MAX) {
        where = PyUnicode_FromFormat("sequence %zu, position %zu", items->number, items->position);
    } else if (message) {
        where = PyUnicode_FromFormat("position %zu", items->position);
    }
    if (where && items->key) {
        PyErr_Format(type, "%U, key %R: %U", where, items->key, message);
    } else if (where) {
        PyErr_Format(type, "%U: %U", where, message);
    }
    Py_XDECREF(where);
    Py_XDECREF(message);
    return -1;
}

static PyObject *type_name(PyObject *object)
{
    return PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
}

/* Raises an ItemError whose message is `before`, the name of the object's type, `after`. */
static int fail_type(const tpy_items *items, PyObject *object, const char *before,
                     const char *after)
{
    PyObject *name = type_name(object);
    if (name) {
        fail(items, tpy_module_types.item_error, "%s%U%s", before, name, after);
        Py_DECREF(name);
    }
    return -1;
}

/* The bytes of a str (as UTF-8) or of bytes: 1; 0 for any other type; -1 with an exception. */
static int text_of(PyObject *object, const char **ret_data, size_t *ret_size)
{
    Py_ssize_t size;
    if (PyUnicode_Check(object)) {
        *ret_data = PyUnicode_AsUTF8AndSize(object, &size);
        *ret_size = (size_t)size;
        return *ret_data ? 1 : -1;
    }
    char *data;
    if (PyBytes_Check(object)) {
        if (PyBytes_AsStringAndSize(object, &data, &size)) {
            return -1;
        }
    } else if (PyByteArray_Check(object)) {
        data = PyByteArray_AsString(object);
        size = PyByteArray_Size(object);
    } else {
        return 0;
    }
    *ret_data = data;
    *ret_size = (size_t)size;
    return 1;
}

/* Adds the attribute prefix + name [+ ":" + end]. */
static int add_attribute(tpy_items *items, const char *name, size_t name_size, const char *end,
                         size_t end_size, double value)
{
    size_t size = items->prefix_size + name_size + (end ? end_size + 1 : 0);
    if (!reserve(&items->bytes, &items->byte_room, items->byte_count, size, 1) ||
        !reserve(&items->attributes, &items->attribute_room, items->attribute_count, 1,
                 sizeof *items->attributes)) {
        return -1;
    }
    put(items, items->prefix, items->prefix_size);
    put(items, name, name_size);
    if (end) {
        put(items, ":", 1);
        put(items, end, end_size);
    }
    put_attribute(items, size, value);
    return 0;
}

/* Without an interpreter lock another thread may change a list or dict that is being read. */
#ifdef Py_GIL_DISABLED
static const bool locked = false;
#else
static const bool locked = true;
#endif
#ifndef Py_BEGIN_CRITICAL_SECTION
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

/* ---- any item ------------------------------------------------------------------------------------- */

/* Calls `each` for the elements of an iterable until it fails. */
static int for_each(tpy_items *items, PyObject *iterable, tpy_item_function each, PyObject *context)
{
    int failed = 0;
    if (locked && PyList_CheckExact(iterable)) {
        for (Py_ssize_t i = 0; !failed && i < PyList_Size(iterable); i++) {
            PyObject *element = PyList_GetItem(iterable, i);
            Py_XINCREF(element);
            failed = element ? each(items, element, context) : -1;
            Py_XDECREF(element);
        }
        return failed;
    }
    PyObject *iterator = PyObject_GetIter(iterable), *element;
    if (!iterator) {
        return -1;
    }
    while (!failed && (element = PyIter_Next(iterator))) {
        failed = each(items, element, context);
        Py_DECREF(element);
    }
    Py_DECREF(iterator);
    return failed || PyErr_Occurred() ? -1 : 0;
}

static int add_key(tpy_items *items, PyObject *key, PyObject *unused)
{
    const char *data;
    size_t size;
    (void)unused;
    int kind = text_of(key, &data, &size);
    if (kind == 0) {
        return fail_type(items, key, "an attribute must be str or bytes, not ", "");
    }
    return kind < 0 ? -1 : add_attribute(items, data, size, NULL, 0, 1);
}

static int add_dict(tpy_items *items, PyObject *dict);

/* The elements of a dict, list or set under a key. */
static int add_nested(tpy_items *items, const char *key, size_t key_size, PyObject *value)
{
    size_t before = items->prefix_size;
    if (Py_EnterRecursiveCall(" while converting an item")) {
        return -1;
    }
    int failed = -1;
    if (reserve(&items->prefix, &items->prefix_room, before, key_size + 1, 1)) {
        memcpy(items->prefix + before, key, key_size);
        items->prefix[before + key_size] = ':';
        items->prefix_size = before + key_size + 1;
        failed = PyDict_Check(value) ? add_dict(items, value)
                                     : for_each(items, value, add_key, NULL);
        items->prefix_size = before;
    }
    Py_LeaveRecursiveCall();
    return failed;
}

static int add_pair(tpy_items *items, PyObject *key, PyObject *value)
{
    const char *name, *end;
    size_t name_size, end_size;
    int kind = text_of(key, &name, &name_size);
    if (kind <= 0) {
        return kind < 0 ? -1 : fail_type(items, key, "a key must be str or bytes, not ", "");
    }
    kind = PyFloat_CheckExact(value) ? 0 : text_of(value, &end, &end_size);
    if (kind) {
        return kind < 0 ? -1 : add_attribute(items, name, name_size, end, end_size, 1);
    }
    if (PyDict_Check(value) || PyList_Check(value) || PyAnySet_Check(value)) {
        return add_nested(items, name, name_size, value);
    }
    double number = PyFloat_AsDouble(value);
    if (number == -1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            fail_type(items, value, "a value must be a number, str, bytes, dict, list or set, not ",
                      "");
        }
        return -1;
    }
    if (!isfinite(number) || (!items->any_size && !isfinite((float)number))) {
        return fail(items, PyExc_ValueError,
                    isfinite(number) ? "a value must be at most 3.4e38 in size, not %R"
                                     : "a value must be finite, not %R",
                    value);
    }
    return add_attribute(items, name, name_size, NULL, 0, number);
}

static int add_dict(tpy_items *items, PyObject *dict)
{
    PyObject *key, *value, *outer = items->key;
    Py_ssize_t at = 0;
    int failed = 0;
    Py_BEGIN_CRITICAL_SECTION(dict);
    while (!failed && PyDict_Next(dict, &at, &key, &value)) {
        Py_INCREF(key);
        Py_INCREF(value);
        items->key = key;
        failed = add_pair(items, key, value);
        items->key = outer;
        Py_DECREF(value);
        Py_DECREF(key);
    }
    Py_END_CRITICAL_SECTION();
    return failed;
}

static int add_item(tpy_items *items, PyObject *item, PyObject *unused)
{
    int failed;
    (void)unused;
    if (begin_item(items)) {
        return -1;
    }
    if (PyDict_Check(item)) {
        failed = add_dict(items, item);
    } else if (PyUnicode_Check(item) || PyBytes_Check(item)) {
        failed = fail_type(items, item, "an item must be a dict or a list of attributes, not ",
                           "; tokens need columns=");
    } else if (!PyList_Check(item) && PyObject_Size(item) < 0) {
        PyErr_Clear();
        failed = fail_type(items, item, "an item must be a dict or a list of attributes, not ", "");
    } else {
        failed = for_each(items, item, add_key, NULL);
    }
    items->position++;
    return failed;
}

static int add_cell(tpy_items *items, PyObject *cell, PyObject *unused)
{
    const char *data;
    size_t size;
    (void)unused;
    int kind = text_of(cell, &data, &size);
    if (kind == 0) {
        return fail_type(items, cell, "a cell must be str or bytes, not ", "");
    }
    return kind < 0 ? -1 : add_text(items, data, size);
}

/* The cells of a dict, in the order of the names of the columns. */
static int add_named_cells(tpy_items *items, PyObject *item, PyObject *columns)
{
    int failed = 0;
    for (Py_ssize_t c = 0; !failed && c < PyTuple_Size(columns); c++) {
        items->key = PyTuple_GetItem(columns, c);
        PyObject *cell = PyDict_GetItemWithError(item, items->key);
        Py_XINCREF(cell);
        if (cell) {
            failed = add_cell(items, cell, NULL);
        } else {
            failed = PyErr_Occurred() ? -1
                                      : fail(items, PyExc_ValueError, "there is no such column");
        }
        Py_XDECREF(cell);
        items->key = NULL;
    }
    return failed;
}

static int add_row(tpy_items *items, PyObject *item, PyObject *columns)
{
    size_t before = items->text_count, wanted = items->sequence.columns;
    int failed;
    if (begin_item(items)) {
        return -1;
    }
    if (PyUnicode_Check(item) || PyBytes_Check(item)) {
        failed = add_cell(items, item, NULL);
    } else if (PyDict_Check(item)) {
        failed = add_named_cells(items, item, columns);
    } else if (PyList_Check(item) || PyTuple_Check(item)) {
        failed = for_each(items, item, add_cell, NULL);
    } else {
        failed = fail_type(items, item,
                           "a token must be str, or a list, tuple or dict of columns, not ", "");
    }
    size_t found = items->text_count - before;
    if (!failed && wanted == 0) {
        wanted = items->sequence.columns = found;
    }
    if (!failed && (found == 0 || found != wanted)) {
        failed = fail(items, PyExc_ValueError, "%zu columns, expected %zu", found,
                      wanted ? wanted : 1);
    }
    items->position++;
    return failed;
}

static int add_label(tpy_items *items, PyObject *label, PyObject *unused)
{
    const char *data;
    size_t size;
    (void)unused;
    int kind = text_of(label, &data, &size);
    if (kind == 0) {
        return fail_type(items, label, "a label must be str or bytes, not ", "");
    }
    if (kind > 0 && memchr(data, 0, size)) { // ends a label in a model file
        return fail(items, PyExc_ValueError, "a label must not have a zero byte: %R", label);
    }
    items->position++;
    return kind < 0 ? -1 : add_text(items, data, size);
}

/* All items of a sequence. */
static int add_items(tpy_items *items, PyObject *sequence, PyObject *columns)
{
    tpy_item_function add = columns != Py_None ? add_row : add_item;
    return locked && PyList_CheckExact(sequence) ? tpy_plain_items(items, sequence, columns, add)
                                                 : for_each(items, sequence, add, columns);
}

/* Texts were counted in the order in which their bytes were stored. */
static void finish(tpy_items *items)
{
    const char *at = items->bytes ? items->bytes : "";
    for (size_t k = 0; k < items->attribute_count; k++) {
        items->attributes[k].name.data = at;
        at += items->attributes[k].name.size;
    }
    for (size_t k = 0; k < items->text_count; k++) {
        items->texts[k].data = at;
        at += items->texts[k].size;
    }
}

static void start(tpy_items *items)
{
    items->byte_count = items->prefix_size = items->attribute_count = items->text_count = 0;
    items->position = 0;
    items->key = NULL;
}

/* Not an iterable: an ItemError instead of Python's TypeError. */
static PyObject *iterate(PyObject *sequence)
{
    bool text = PyUnicode_Check(sequence) || PyBytes_Check(sequence);
    PyObject *iterator = text ? NULL : PyObject_GetIter(sequence);
    if (text || (!iterator && PyErr_ExceptionMatches(PyExc_TypeError))) {
        PyErr_Clear();
        PyObject *name = type_name(sequence);
        PyErr_Format(tpy_module_types.item_error, "a sequence must be a list of items, not %V",
                     name, "this");
        Py_XDECREF(name);
    }
    return iterator;
}

/* The items of a sequence; -1 with an exception. */
static int convert_items(tpy_items *items, PyObject *sequence, PyObject *columns)
{
    if (PyList_CheckExact(sequence)) {
        return add_items(items, sequence, columns);
    }
    PyObject *iterator = iterate(sequence);
    int failed = iterator ? add_items(items, iterator, columns) : -1;
    Py_XDECREF(iterator);
    return failed;
}

int tpy_items_refuse_zeros(tpy_items *items)
{
    const trellis_sequence *s = &items->sequence;
    size_t count = s->attribute_begin ? s->attribute_begin[s->length] : 0;
    const char *begin = count ? s->attributes[0].name.data : NULL;
    const trellis_text *last = count ? &s->attributes[count - 1].name : NULL;
    if (!count || !memchr(begin, 0, (size_t)(last->data + last->size - begin))) {
        return 0;
    }
    for (items->position = 0; s->attribute_begin[items->position + 1] < count; items->position++) {
        const trellis_text *next = &s->attributes[s->attribute_begin[items->position + 1]].name;
        if (memchr(begin, 0, (size_t)(next->data - begin))) {
            break;
        }
    }
    return fail(items, PyExc_ValueError,
                "an attribute contains a zero byte, which CRFsuite's models cannot hold");
}

int tpy_items_convert(tpy_items *items, PyObject *sequence, PyObject *labels, PyObject *columns)
{
    static const trellis_attribute nothing = {{"", 0}, 0}; // items without attributes have an array
    bool cells = columns != Py_None;
    start(items);
    items->sequence = (trellis_sequence){.struct_size = sizeof items->sequence, .weight = 1};
    if (cells && !PyTuple_Check(columns)) {
        PyErr_SetString(PyExc_TypeError, "columns must be a tuple or None");
        return -1;
    }
    if (cells) {
        items->sequence.columns = (size_t)PyTuple_Size(columns);
    }
    const trellis_sequence *converted = cells ? NULL : tpy_items_converted(sequence);
    if (!converted && (convert_items(items, sequence, columns) || begin_item(items))) {
        return -1;
    }
    items->position = converted ? converted->length : items->position;
    size_t length = items->position, cell_count = items->text_count;
    if (labels != Py_None) {
        items->position = 0;
        if (for_each(items, labels, add_label, NULL)) {
            return -1;
        }
        if (items->position != length) {
            items->position = length < items->position ? length : items->position;
            return fail(items, PyExc_ValueError,
                        "the numbers of items (%zu) and labels (%zu) differ", length,
                        items->text_count - cell_count);
        }
    }
    finish(items);
    items->sequence.length = length;
    if (cells) {
        items->sequence.cells = items->texts;
    } else {
        const trellis_attribute *own = items->attributes ? items->attributes : &nothing;
        items->sequence.attributes = converted ? converted->attributes : own;
        items->sequence.attribute_begin = converted ? converted->attribute_begin : items->begin;
    }
    if (labels != Py_None && length) {
        items->sequence.labels = items->texts + cell_count;
    }
    return 0;
}

int tpy_items_labels(tpy_items *items, PyObject *labels, size_t *ret_length)
{
    start(items);
    if (for_each(items, labels, add_label, NULL)) {
        return -1;
    }
    finish(items);
    *ret_length = items->text_count;
    return 0;
}

void tpy_items_free(tpy_items *items)
{
    free(items->bytes);
    free(items->prefix);
    free(items->attributes);
    free(items->begin);
    free(items->texts);
}
