/* errors.c - exceptions, options, texts and locks: between the library's C and Python's objects */
#include "extension.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

PyObject *tpy_raise(trellis_status status, const trellis_error *error, const char *path)
{
    PyObject *type = PyExc_ValueError;
    switch (status) {
    case TRELLIS_MEMORY:
        return PyErr_NoMemory();
    case TRELLIS_IO:
        type = path && access(path, F_OK) != 0 ? PyExc_FileNotFoundError : PyExc_OSError;
        break;
    default:
        break;
    }
    const char *message = error->message[0] ? error->message : trellis_status_meaning(status);
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    if (text) {
        PyErr_SetObject(type, text);
        Py_DECREF(text);
    }
    return NULL;
}

trellis_options *tpy_options(PyObject *dict)
{
    trellis_error error = {0};
    trellis_options *options = NULL;
    trellis_status status = trellis_options_create(&options, &error);
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (!status && dict != Py_None && PyDict_Next(dict, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        const char *text = name ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
        if (!text) {
            trellis_options_destroy(options);
            return NULL;
        }
        status = trellis_options_set(options, name, text, &error);
    }
    if (status) {
        trellis_options_destroy(options);
        tpy_raise(status, &error, NULL);
        return NULL;
    }
    return options;
}

PyObject *tpy_str(trellis_text text)
{
    return PyUnicode_DecodeUTF8(text.data ? text.data : "", (Py_ssize_t)text.size,
                                "surrogateescape");
}

trellis_status tpy_collect(void *user, const char *data, size_t size)
{
    tpy_bytes *bytes = user;
    if (size > bytes->room - bytes->size) {
        size_t room = bytes->room < 4096 ? 4096 : bytes->room;
        while (room - bytes->size < size) {
            if (__builtin_mul_overflow(room, 2, &room)) {
                return TRELLIS_MEMORY;
            }
        }
        char *at = realloc(bytes->at, room);
        if (!at) {
            return TRELLIS_MEMORY;
        }
        bytes->at = at;
        bytes->room = room;
    }
    memcpy(bytes->at + bytes->size, data, size);
    bytes->size += size;
    return TRELLIS_OK;
}

PyObject *tpy_take_bytes(trellis_status status, const trellis_error *error, tpy_bytes *bytes)
{
    PyObject *result = status ? tpy_raise(status, error, NULL)
                              : PyBytes_FromStringAndSize(bytes->at, (Py_ssize_t)bytes->size);
    free(bytes->at);
    *bytes = (tpy_bytes){0};
    return result;
}

void *tpy_allocate(PyTypeObject *type)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

void tpy_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static bool refuse(const char *what)
{
    PyErr_Format(PyExc_RuntimeError, "%s is in use by another thread", what);
    return false;
}

bool tpy_lock_take(tpy_lock *lock, const char *what)
{
    int nobody = 0;
    return atomic_compare_exchange_strong(&lock->users, &nobody, -1) || refuse(what);
}

void tpy_lock_give(tpy_lock *lock)
{
    atomic_store(&lock->users, 0);
}

bool tpy_lock_share(tpy_lock *lock, const char *what)
{
    int users = atomic_load(&lock->users);
    while (users >= 0) {
        if (atomic_compare_exchange_weak(&lock->users, &users, users + 1)) {
            return true;
        }
    }
    return refuse(what);
}

void tpy_lock_unshare(tpy_lock *lock)
{
    atomic_fetch_sub(&lock->users, 1);
}

const char **tpy_names(PyObject *tuple, size_t *ret_count)
{
    size_t count = (size_t)PyTuple_Size(tuple);
    const char **names = calloc(count + 1, sizeof *names);
    if (!names) {
        PyErr_NoMemory();
        return NULL;
    }
    for (size_t c = 0; c < count; c++) {
        names[c] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, (Py_ssize_t)c), NULL);
        if (!names[c]) {
            free(names);
            return NULL;
        }
    }
    *ret_count = count;
    return names;
}

static trellis_status no_sequence(void *user, const trellis_sequence **ret_sequence,
                                  trellis_error *error)
{
    (void)user;
    (void)ret_sequence;
    (void)error;
    return TRELLIS_END;
}

trellis_status tpy_column_reader(PyObject *columns, trellis_reader **ret_reader,
                                 trellis_error *error)
{
    *ret_reader = NULL;
    if (columns == Py_None || PyTuple_Size(columns) <= 0) {
        return TRELLIS_OK;
    }
    size_t count;
    const char **names = tpy_names(columns, &count);
    if (!names) {
        return TRELLIS_OPTION;
    }
    trellis_source source = {.struct_size = sizeof source,
                             .next = no_sequence,
                             .column_names = names,
                             .column_count = count};
    trellis_status status = trellis_reader_open_source(&source, NULL, ret_reader, error);
    free(names);
    return status;
}
