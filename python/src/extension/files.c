/* files.c - the types Reader and Writer: corpora in every format, as Python's objects */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

/* ---- readers -------------------------------------------------------------------------------------- */

typedef struct tpy_reader {
    PyObject_HEAD trellis_reader *reader;
    PyObject *data; // the bytes that are read, or NULL
    tpy_lock lock;
} tpy_reader;

/* Reader(path or bytes, options) */
static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *from, *settings;
    trellis_source source = {.struct_size = sizeof source};
    (void)keywords;
    if (!PyArg_ParseTuple(args, "OO!", &from, &PyDict_Type, &settings)) {
        return NULL;
    }
    if (PyBytes_Check(from)) {
        source.data = PyBytes_AsString(from);
        source.data_size = (size_t)PyBytes_Size(from);
    } else {
        source.path = PyUnicode_AsUTF8AndSize(from, NULL);
        if (!source.path) {
            return NULL;
        }
    }
    trellis_options *options = tpy_options(settings);
    tpy_reader *self = options ? tpy_allocate(type) : NULL;
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (self) {
        Py_INCREF(from);
        self->data = from;
        status = trellis_reader_open_source(&source, options, &self->reader, &error);
    }
    trellis_options_destroy(options);
    if (status) {
        Py_DECREF((PyObject *)self);
        return tpy_raise(status, &error, source.path);
    }
    return (PyObject *)self;
}

static void reader_dealloc(PyObject *self)
{
    tpy_reader *reader = (tpy_reader *)self;
    trellis_reader_close(reader->reader);
    Py_XDECREF(reader->data);
    tpy_free(self);
}

/* A tuple of `count` str; None for NULL. */
static PyObject *texts_of(const trellis_text *texts, size_t count)
{
    if (!texts) {
        Py_RETURN_NONE;
    }
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t k = 0; tuple && k < count; k++) {
        PyObject *text = tpy_str(texts[k]);
        if (!text || PyTuple_SetItem(tuple, (Py_ssize_t)k, text)) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

/* The attributes of a token as a dict from names to values; those of the same name add up. */
static PyObject *attributes_of(const trellis_attribute *attributes, size_t count)
{
    PyObject *dict = PyDict_New();
    for (size_t k = 0; dict && k < count; k++) {
        PyObject *name = tpy_str(attributes[k].name);
        PyObject *before = name ? PyDict_GetItemWithError(dict, name) : NULL;
        double sum = attributes[k].value + (before ? PyFloat_AsDouble(before) : 0);
        PyObject *value = name && !PyErr_Occurred() ? PyFloat_FromDouble(sum) : NULL;
        if (!value || PyDict_SetItem(dict, name, value)) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(value);
        Py_XDECREF(name);
    }
    return dict;
}

/* The tokens of a sequence: dicts of attributes, or tuples of cells. */
static PyObject *tokens_of(const trellis_sequence *s)
{
    PyObject *list = PyList_New((Py_ssize_t)s->length);
    for (size_t i = 0; list && i < s->length; i++) {
        PyObject *token;
        if (s->attributes) {
            size_t begin = s->attribute_begin[i];
            token = attributes_of(s->attributes + begin, s->attribute_begin[i + 1] - begin);
        } else {
            token = texts_of(s->cells ? s->cells + i * s->columns : NULL, s->columns);
        }
        if (!token || PyList_SetItem(list, (Py_ssize_t)i, token)) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* The next (tokens, labels or None, weight, line). */
static PyObject *reader_next(PyObject *self)
{
    tpy_reader *reader = (tpy_reader *)self;
    const trellis_sequence *sequence = NULL;
    trellis_error error = {0};
    trellis_status status;
    if (!tpy_lock_take(&reader->lock, "the reader")) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = trellis_reader_next(reader->reader, &sequence, &error);
    Py_END_ALLOW_THREADS;
    PyObject *result = NULL;
    if (!status) {
        PyObject *tokens = tokens_of(sequence);
        PyObject *labels = tokens ? texts_of(sequence->labels, sequence->length) : NULL;
        result = labels ? Py_BuildValue("(OOdK)", tokens, labels, sequence->weight,
                                        (unsigned long long)sequence->line)
                        : NULL;
        Py_XDECREF(tokens);
        Py_XDECREF(labels);
    }
    tpy_lock_give(&reader->lock);
    return !status || status == TRELLIS_END ? result : tpy_raise(status, &error, NULL);
}

/* The names of the first `count` columns, None for one without a name. */
static PyObject *reader_columns(PyObject *self, PyObject *args)
{
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "n", &count)) {
        return NULL;
    }
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t c = 0; tuple && c < count; c++) {
        const char *name = trellis_reader_column_name(((tpy_reader *)self)->reader, (size_t)c);
        PyObject *value = Py_BuildValue("z", name);
        if (!value || PyTuple_SetItem(tuple, c, value)) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

static PyMethodDef reader_methods[] = {
    {"columns", reader_columns, METH_VARARGS, "columns(count): names of the first columns"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot reader_slots[] = {{Py_tp_new, reader_new},
                                     {Py_tp_dealloc, reader_dealloc},
                                     {Py_tp_iter, PyObject_SelfIter},
                                     {Py_tp_iternext, reader_next},
                                     {Py_tp_methods, reader_methods},
                                     {Py_tp_doc, "Reader(path or bytes, options)"},
                                     {0, NULL}};
PyType_Spec tpy_reader_spec = {.name = "trellis._trellis.Reader",
                               .basicsize = sizeof(tpy_reader),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = reader_slots};

/* ---- writers -------------------------------------------------------------------------------------- */

typedef struct tpy_writer {
    PyObject_HEAD trellis_writer *writer;
    tpy_items items;
    tpy_bytes written;
    size_t sequences;
    tpy_lock lock;
} tpy_writer;

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *settings;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "O!", &PyDict_Type, &settings)) {
        return NULL;
    }
    trellis_options *options = tpy_options(settings);
    tpy_writer *self = options ? tpy_allocate(type) : NULL;
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (self) {
        status = trellis_writer_create(options, tpy_collect, &self->written, &self->writer, &error);
    }
    trellis_options_destroy(options);
    if (status) {
        Py_DECREF((PyObject *)self);
        return tpy_raise(status, &error, NULL);
    }
    return (PyObject *)self;
}

static void writer_dealloc(PyObject *self)
{
    tpy_writer *writer = (tpy_writer *)self;
    trellis_writer_destroy(writer->writer);
    tpy_items_free(&writer->items);
    free(writer->written.at);
    tpy_free(self);
}

/* put(items, labels, columns): labels or None; columns as for a Corpus. */
static PyObject *writer_put(PyObject *self, PyObject *args)
{
    PyObject *sequence, *labels, *columns;
    tpy_writer *writer = (tpy_writer *)self;
    if (!PyArg_ParseTuple(args, "OOO", &sequence, &labels, &columns) ||
        !tpy_lock_take(&writer->lock, "the writer")) {
        return NULL;
    }
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    writer->items.number = writer->sequences;
    int failed = tpy_items_convert(&writer->items, sequence, labels, columns);
    if (!failed) {
        trellis_sequence *s = &writer->items.sequence;
        const trellis_text *texts = s->labels;
        s->labels = s->attributes ? texts : NULL; // of cells, the label becomes the last column
        status = trellis_writer_put(writer->writer, s, texts, &error);
        writer->sequences++;
    }
    tpy_lock_give(&writer->lock);
    if (failed) {
        return NULL;
    }
    if (status) {
        return tpy_raise(status, &error, NULL);
    }
    Py_RETURN_NONE;
}

/* take(): what was written since the last call, in bytes. */
static PyObject *writer_take(PyObject *self, PyObject *unused)
{
    tpy_writer *writer = (tpy_writer *)self;
    trellis_error error = {0};
    (void)unused;
    if (!tpy_lock_take(&writer->lock, "the writer")) {
        return NULL;
    }
    trellis_status status = trellis_writer_finish(writer->writer, &error);
    PyObject *result = tpy_take_bytes(status, &error, &writer->written);
    tpy_lock_give(&writer->lock);
    return result;
}

static PyMethodDef writer_methods[] = {
    {"put", writer_put, METH_VARARGS, "put(items, labels, columns)"},
    {"take", writer_take, METH_NOARGS, "What was written since the last call."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot writer_slots[] = {{Py_tp_new, writer_new},
                                     {Py_tp_dealloc, writer_dealloc},
                                     {Py_tp_methods, writer_methods},
                                     {Py_tp_doc, "Writer(options)"},
                                     {0, NULL}};
PyType_Spec tpy_writer_spec = {.name = "trellis._trellis.Writer",
                               .basicsize = sizeof(tpy_writer),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = writer_slots};
