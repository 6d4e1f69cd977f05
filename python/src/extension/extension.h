/* extension.h - what the files of the extension share: errors, items, and the types of the module.
 *
 * The extension uses the public header of the library and the stable ABI of CPython 3.10; setup.py
 * defines Py_LIMITED_API, except for free-threaded interpreters, which have no stable ABI yet.
 */
#ifndef TRELLIS_PYTHON_EXTENSION_H
#define TRELLIS_PYTHON_EXTENSION_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdatomic.h>

#include <trellis.h>

/* Py_buffer entered the limited API with 3.11. The struct and both functions are the same in 3.10. */
#ifdef Py_LIMITED_API
typedef struct tpy_buffer {
    void *buf;
    PyObject *obj;
    Py_ssize_t len;
    Py_ssize_t itemsize;
    int readonly;
    int ndim;
    char *format;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    Py_ssize_t *suboffsets;
    void *internal;
} tpy_buffer;
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *object, tpy_buffer *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(tpy_buffer *view);
#else
typedef Py_buffer tpy_buffer;
#endif
enum { TPY_CONTIGUOUS = 0, TPY_WRITABLE = 0x1, TPY_FORMAT = 0x4, TPY_STRIDED = 0x8 | 0x10 };

/* ---- errors (errors.c) ---------------------------------------------------------------------------- */

/* Raises what a status means in Python, with the library's message. `path`, if not NULL, is the file
 * that was asked for. Always returns NULL. */
PyObject *tpy_raise(trellis_status status, const trellis_error *error, const char *path);
/* Options from a dict of str to str, or None. NULL with an exception on failure. */
trellis_options *tpy_options(PyObject *dict);
/* A str; bytes that are not UTF-8 become lone surrogates, as in file names. */
PyObject *tpy_str(trellis_text text);

/* A sink that collects bytes, for the functions that write. */
typedef struct tpy_bytes {
    char *at;
    size_t size, room;
} tpy_bytes;
trellis_status tpy_collect(void *user, const char *data, size_t size);
/* What was collected as bytes, or the exception of a failure; the storage is freed. */
PyObject *tpy_take_bytes(trellis_status status, const trellis_error *error, tpy_bytes *bytes);

/* A new object of a type, all 0; NULL with an exception. tpy_free() ends its deallocation. */
void *tpy_allocate(PyTypeObject *type);
void tpy_free(PyObject *self);

/* An object that one thread uses at a time. Without a lock that waits: a second thread is told so by
 * a RuntimeError, since waiting with the interpreter lock held would never end. */
typedef struct tpy_lock {
    atomic_int users; // -1: one thread changes the object; otherwise how many read it
} tpy_lock;
/* `what` is for the message, such as "the tagger". False with an exception. */
bool tpy_lock_take(tpy_lock *lock, const char *what);
void tpy_lock_give(tpy_lock *lock);
/* For any number of readers. */
bool tpy_lock_share(tpy_lock *lock, const char *what);
void tpy_lock_unshare(tpy_lock *lock);

/* The interpreter lock (interpreter_lock.c), given up for a short time: between the two calls no Python
 * object may be used. *patience belongs to the caller and begins as 0. */
PyThreadState *tpy_unlock(void);
void tpy_relock(PyThreadState *state, long *patience);

/* Names [*ret_count] from a tuple of str, to be freed; they live as long as the tuple. NULL with an
 * exception on failure. */
const char **tpy_names(PyObject *tuple, size_t *ret_count);
/* A reader of nothing whose columns have these names, for the functions that bind columns by name;
 * NULL in *ret_reader for None and for no names. May leave an exception. */
trellis_status tpy_column_reader(PyObject *columns, trellis_reader **ret_reader,
                                 trellis_error *error);

/* ---- items (items.c) ------------------------------------------------------------------------------ */

/* A sequence of items as the library takes it. The storage is reused; start with all 0. */
typedef struct tpy_items {
    char *bytes; // of all names, cells and labels, one after the other
    size_t byte_count, byte_room;
    char *prefix; // of the names inside a nested dict, list or set
    size_t prefix_size, prefix_room;
    trellis_attribute *attributes;
    size_t attribute_count, attribute_room;
    size_t *begin; // [length + 1]
    size_t begin_room;
    trellis_text *texts; // cells, then labels
    size_t text_count, text_room;
    size_t number;   // of the sequence, for messages; SIZE_MAX: it has none
    size_t position; // being converted, for messages
    bool any_size;   // numbers may be too large for single precision, which models have
    PyObject *key;   // being converted, borrowed, for messages; or NULL
    trellis_sequence sequence;
} tpy_items;

/* Converts items and labels (None: none) to items->sequence, which is valid until the next call and
 * refers to no Python object. `columns` is None for items with attributes; otherwise a tuple of names,
 * perhaps empty, and the items are cells: a str, a list or tuple of str, or a dict by these names.
 * Returns -1 with an exception that names sequence, position and key. */
int tpy_items_convert(tpy_items *items, PyObject *sequence, PyObject *labels, PyObject *columns);
/* Converts labels alone: items->texts [*ret_length]. */
int tpy_items_labels(tpy_items *items, PyObject *labels, size_t *ret_length);
void tpy_items_free(tpy_items *items);
/* The sequence of an object of the type Items, which it belongs to; NULL for any other object. */
const trellis_sequence *tpy_items_converted(PyObject *object);
/* 0 if no attribute of a sequence has a zero byte in its name, which CRFsuite's model files cannot
 * hold; otherwise -1 with an exception. */
int tpy_items_refuse_zeros(tpy_items *items);

/* ---- types ---------------------------------------------------------------------------------------- */

typedef struct tpy_corpus {
    PyObject_HEAD trellis_corpus *corpus;
    tpy_items items;
    tpy_lock lock; // shared by the trainings that read it now
} tpy_corpus;

typedef struct tpy_model {
    PyObject_HEAD trellis_model *model;
} tpy_model;

extern PyType_Spec tpy_corpus_spec, tpy_model_spec, tpy_tagger_spec, tpy_weights_spec,
    tpy_chain_spec, tpy_online_spec, tpy_evaluation_spec, tpy_reader_spec, tpy_writer_spec,
    tpy_explainer_spec, tpy_items_spec;

/* The types that other files create or check; set when the module is loaded. */
typedef struct tpy_types {
    PyTypeObject *corpus, *model, *tagger, *weights, *chain, *online, *evaluation, *reader, *writer,
        *explainer, *items;
    PyObject *item_error; // ItemError
} tpy_types;
extern tpy_types tpy_module_types;

/* A new Model that owns `model`; NULL with an exception on failure, `model` then is closed. */
PyObject *tpy_model_wrap(trellis_model *model);
PyObject *tpy_train(PyObject *module, PyObject *args, PyObject *keywords);

#endif
