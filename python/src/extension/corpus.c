/* corpus.c - the type Corpus: sequences in memory */
#include "extension.h"

#include <stdlib.h>

static PyObject *corpus_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    if (!PyArg_ParseTuple(args, "")) {
        return NULL;
    }
    tpy_corpus *self = tpy_allocate(type);
    trellis_error error = {0};
    trellis_status status = self ? trellis_corpus_create(&self->corpus, &error) : TRELLIS_OK;
    if (status) {
        Py_DECREF((PyObject *)self);
        return tpy_raise(status, &error, NULL);
    }
    return (PyObject *)self;
}

static void corpus_dealloc(PyObject *self)
{
    tpy_corpus *corpus = (tpy_corpus *)self;
    trellis_corpus_destroy(corpus->corpus);
    tpy_items_free(&corpus->items);
    tpy_free(self);
}

static PyObject *corpus_add(PyObject *self, PyObject *args)
{
    PyObject *sequence, *labels = Py_None, *columns = Py_None;
    unsigned int group = 0;
    double weight = 1;
    int no_zeros = 0;
    tpy_corpus *corpus = (tpy_corpus *)self;
    if (!PyArg_ParseTuple(args, "O|OOIdp", &sequence, &labels, &columns, &group, &weight,
                          &no_zeros) ||
        !tpy_lock_take(&corpus->lock, "the corpus")) {
        return NULL;
    }
    corpus->items.number = trellis_corpus_sequences(corpus->corpus);
    int failed = tpy_items_convert(&corpus->items, sequence, labels, columns);
    if (!failed && no_zeros) {
        failed = tpy_items_refuse_zeros(&corpus->items);
    }
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (!failed) {
        corpus->items.sequence.group = group;
        corpus->items.sequence.weight = weight;
        status = trellis_corpus_add(corpus->corpus, &corpus->items.sequence, &error);
    }
    tpy_lock_give(&corpus->lock); // held in converting, which may run Python code
    if (failed) {
        return NULL;
    }
    if (status) {
        return tpy_raise(status, &error, NULL);
    }
    Py_RETURN_NONE;
}

static PyObject *corpus_read(PyObject *self, PyObject *args)
{
    const char *path;
    PyObject *settings;
    tpy_corpus *corpus = (tpy_corpus *)self;
    if (!PyArg_ParseTuple(args, "sO!", &path, &PyDict_Type, &settings) ||
        !tpy_lock_take(&corpus->lock, "the corpus")) {
        return NULL;
    }
    trellis_options *options = tpy_options(settings);
    trellis_error error = {0};
    trellis_source source = {.struct_size = sizeof source, .path = path};
    trellis_status status = TRELLIS_OK;
    if (options) {
        Py_BEGIN_ALLOW_THREADS;
        status = trellis_corpus_read(corpus->corpus, &source, options, &error);
        Py_END_ALLOW_THREADS;
    }
    tpy_lock_give(&corpus->lock);
    if (!options) {
        return NULL;
    }
    trellis_options_destroy(options);
    if (status) {
        return tpy_raise(status, &error, path);
    }
    Py_RETURN_NONE;
}

static PyObject *corpus_name_columns(PyObject *self, PyObject *args)
{
    PyObject *columns;
    tpy_corpus *corpus = (tpy_corpus *)self;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &columns) ||
        !tpy_lock_take(&corpus->lock, "the corpus")) {
        return NULL;
    }
    size_t count;
    const char **names = tpy_names(columns, &count);
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (names) {
        status = trellis_corpus_name_columns(corpus->corpus, names, count, &error);
    }
    tpy_lock_give(&corpus->lock);
    if (!names) {
        return NULL;
    }
    free(names);
    if (status) {
        return tpy_raise(status, &error, NULL);
    }
    Py_RETURN_NONE;
}

static PyObject *corpus_sizes(PyObject *self, PyObject *unused)
{
    const trellis_corpus *corpus = ((tpy_corpus *)self)->corpus;
    (void)unused;
    return Py_BuildValue("(nnn)", (Py_ssize_t)trellis_corpus_sequences(corpus),
                         (Py_ssize_t)trellis_corpus_tokens(corpus),
                         (Py_ssize_t)trellis_corpus_bytes(corpus));
}

static PyMethodDef corpus_methods[] = {
    {"add", corpus_add, METH_VARARGS,
     "add(items, labels=None, columns=None, group=0, weight=1.0, no_zeros=False)"},
    {"read", corpus_read, METH_VARARGS, "read(path, options)"},
    {"name_columns", corpus_name_columns, METH_VARARGS, "name_columns(names)"},
    {"sizes", corpus_sizes, METH_NOARGS, "Sequences, tokens and bytes."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot corpus_slots[] = {{Py_tp_new, corpus_new},
                                     {Py_tp_dealloc, corpus_dealloc},
                                     {Py_tp_methods, corpus_methods},
                                     {Py_tp_doc, "Sequences in memory."},
                                     {0, NULL}};
PyType_Spec tpy_corpus_spec = {.name = "trellis._trellis.Corpus",
                               .basicsize = sizeof(tpy_corpus),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = corpus_slots};
