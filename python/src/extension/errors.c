/* errors.c - exceptions, options and texts: between the library's C and Python's objects */
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
