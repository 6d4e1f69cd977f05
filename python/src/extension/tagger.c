/* tagger.c - the type Tagger: a decoder, for one thread at a time */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

typedef struct tpy_tagger {
    PyObject_HEAD PyObject *model;
    trellis_tagger *tagger;
    tpy_items items;  // the sequence tagged last
    tpy_items labels; // given labels
    size_t length;    // of the sequence tagged last
    size_t label_count;
    PyObject **names; // [label_count] of the labels, as str
    tpy_lock lock;
} tpy_tagger;

static PyObject *tagger_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *model, *settings, *columns;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "O!O!O", tpy_module_types.model, &model, &PyDict_Type, &settings,
                          &columns)) {
        return NULL;
    }
    tpy_tagger *self = tpy_allocate(type);
    trellis_options *options = self ? tpy_options(settings) : NULL;
    if (!options) {
        Py_XDECREF((PyObject *)self);
        return NULL;
    }
    Py_INCREF(model);
    self->model = model;
    self->items.number = self->labels.number = SIZE_MAX;
    const trellis_model *m = ((tpy_model *)model)->model;
    trellis_error error = {0};
    trellis_status status = trellis_tagger_create(m, options, &self->tagger, &error);
    trellis_options_destroy(options);
    if (!status && columns != Py_None && PyTuple_Size(columns) > 0) {
        size_t count;
        const char **names = tpy_names(columns, &count);
        if (names) {
            status = trellis_tagger_bind_columns(self->tagger, names, count, &error);
        }
        free(names);
    }
    self->label_count = status ? 0 : trellis_model_label_count(m);
    self->names = calloc(self->label_count + 1, sizeof *self->names);
    for (size_t k = 0; self->names && !PyErr_Occurred() && k < self->label_count; k++) {
        self->names[k] = tpy_str(trellis_model_label(m, k));
    }
    if (status) {
        tpy_raise(status, &error, NULL);
    } else if (!self->names) {
        PyErr_NoMemory();
    }
    if (PyErr_Occurred()) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void tagger_dealloc(PyObject *self)
{
    tpy_tagger *tagger = (tpy_tagger *)self;
    trellis_tagger_destroy(tagger->tagger);
    for (size_t k = 0; tagger->names && k < tagger->label_count; k++) {
        Py_XDECREF(tagger->names[k]);
    }
    free(tagger->names);
    tpy_items_free(&tagger->items);
    tpy_items_free(&tagger->labels);
    Py_XDECREF(tagger->model);
    tpy_free(self);
}

/* A list of the labels of a rank of the sequence tagged last. */
static PyObject *labels_of(tpy_tagger *tagger, size_t rank, const trellis_text *labels)
{
    const trellis_model *model = ((tpy_model *)tagger->model)->model;
    size_t length = tagger->items.sequence.length;
    const int32_t *numbers = length ? trellis_tagger_nth_numbers(tagger->tagger, rank) : NULL;
    PyObject *list = PyList_New((Py_ssize_t)length);
    for (size_t i = 0; list && i < length; i++) {
        PyObject *label;
        size_t number = numbers ? (size_t)numbers[i] : SIZE_MAX;
        // With --train-scheme, the labels inside the model are not those of the output.
        if (number < tagger->label_count &&
            trellis_model_label(model, number).data == labels[i].data) {
            label = tagger->names[number];
            Py_INCREF(label);
        } else {
            label = tpy_str(labels[i]);
        }
        if (!label || PyList_SetItem(list, (Py_ssize_t)i, label)) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* tag(items, columns, number): number -1 if the sequence has none. */
static PyObject *tagger_tag(PyObject *self, PyObject *args)
{
    PyObject *sequence, *columns = Py_None, *result = NULL;
    Py_ssize_t number = -1;
    tpy_tagger *tagger = (tpy_tagger *)self;
    if (!PyArg_ParseTuple(args, "O|On", &sequence, &columns, &number) ||
        !tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    tagger->items.number = number < 0 ? SIZE_MAX : (size_t)number;
    if (!tpy_items_convert(&tagger->items, sequence, Py_None, columns)) {
        trellis_error error = {0};
        const trellis_text *labels = NULL;
        trellis_status status = TRELLIS_OK;
        if (tagger->items.sequence.length) {
            Py_BEGIN_ALLOW_THREADS;
            status = trellis_tagger_tag(tagger->tagger, &tagger->items.sequence, &labels, &error);
            Py_END_ALLOW_THREADS;
        }
        result = status ? tpy_raise(status, &error, NULL) : labels_of(tagger, 0, labels);
    }
    tagger->length = result ? tagger->items.sequence.length : 0;
    tpy_lock_give(&tagger->lock);
    return result;
}

/* nbest(items, n, columns): a list of (labels, score, probability or None). */
static PyObject *tagger_nbest(PyObject *self, PyObject *args)
{
    PyObject *sequence, *columns = Py_None, *result = NULL;
    Py_ssize_t n;
    tpy_tagger *tagger = (tpy_tagger *)self;
    if (!PyArg_ParseTuple(args, "On|O", &sequence, &n, &columns)) {
        return NULL;
    }
    if (n < 1) {
        PyErr_SetString(PyExc_ValueError, "n must be at least 1");
        return NULL;
    }
    if (!tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    tagger->items.number = SIZE_MAX;
    if (!tpy_items_convert(&tagger->items, sequence, Py_None, columns)) {
        trellis_error error = {0};
        trellis_status status = TRELLIS_OK;
        size_t count = 0;
        if (tagger->items.sequence.length) {
            Py_BEGIN_ALLOW_THREADS;
            status = trellis_tagger_nbest(tagger->tagger, &tagger->items.sequence, (size_t)n,
                                          &count, &error);
            Py_END_ALLOW_THREADS;
        }
        result = status ? tpy_raise(status, &error, NULL) : PyList_New(0);
        for (size_t rank = 0; result && rank < count; rank++) {
            const trellis_text *texts = trellis_tagger_nth_labels(tagger->tagger, rank);
            PyObject *labels = texts ? labels_of(tagger, rank, texts) : PyErr_NoMemory();
            double p = trellis_tagger_nth_probability(tagger->tagger, rank);
            double score = trellis_tagger_nth_score(tagger->tagger, rank);
            PyObject *row = !labels  ? NULL
                            : p == p ? Py_BuildValue("(Odd)", labels, score, p)
                                     : Py_BuildValue("(OdO)", labels, score, Py_None);
            Py_XDECREF(labels);
            if (!row || PyList_Append(result, row)) {
                Py_CLEAR(result);
            }
            Py_XDECREF(row);
        }
    }
    tagger->length = result ? tagger->items.sequence.length : 0;
    tpy_lock_give(&tagger->lock);
    return result;
}

/* The posteriors of the sequence tagged last: floats [length][labels], in a bytearray. */
static PyObject *tagger_marginals(PyObject *self, PyObject *unused)
{
    tpy_tagger *tagger = (tpy_tagger *)self;
    const float *marginals = NULL;
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    (void)unused;
    if (!tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    if (tagger->length) {
        Py_BEGIN_ALLOW_THREADS;
        status = trellis_tagger_marginals(tagger->tagger, &marginals, &error);
        Py_END_ALLOW_THREADS;
    }
    PyObject *result = status ? tpy_raise(status, &error, NULL)
                              : PyByteArray_FromStringAndSize(
                                    (const char *)marginals,
                                    (Py_ssize_t)(tagger->length * tagger->label_count *
                                                 sizeof *marginals));
    tpy_lock_give(&tagger->lock);
    return result;
}

/* log P(labels | sequence) of given labels for the sequence tagged last. */
static PyObject *tagger_log_probability(PyObject *self, PyObject *labels)
{
    tpy_tagger *tagger = (tpy_tagger *)self;
    size_t length;
    double p = 0;
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (!tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    int failed = tpy_items_labels(&tagger->labels, labels, &length);
    if (!failed && length != tagger->length) {
        failed = -1;
        PyErr_Format(PyExc_ValueError, "the numbers of items (%zu) and labels (%zu) differ",
                     tagger->length, length);
    }
    if (!failed && length) {
        Py_BEGIN_ALLOW_THREADS;
        status = trellis_tagger_log_probability(tagger->tagger, tagger->labels.texts, &p, &error);
        Py_END_ALLOW_THREADS;
    }
    tpy_lock_give(&tagger->lock);
    if (failed) {
        return NULL;
    }
    return status ? tpy_raise(status, &error, NULL) : PyFloat_FromDouble(p);
}

static PyObject *tagger_score(PyObject *self, PyObject *unused)
{
    tpy_tagger *tagger = (tpy_tagger *)self;
    (void)unused;
    if (!tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    double score = tagger->length ? trellis_tagger_score(tagger->tagger) : 0;
    tpy_lock_give(&tagger->lock);
    return PyFloat_FromDouble(score);
}

static PyMethodDef tagger_methods[] = {
    {"tag", tagger_tag, METH_VARARGS, "tag(items, columns=None, number=-1): the labels"},
    {"nbest", tagger_nbest, METH_VARARGS, "nbest(items, n, columns=None)"},
    {"marginals", tagger_marginals, METH_NOARGS, "Posteriors of the sequence tagged last."},
    {"log_probability", tagger_log_probability, METH_O, "Of labels for the sequence tagged last."},
    {"score", tagger_score, METH_NOARGS, "The score of the last prediction."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot tagger_slots[] = {
    {Py_tp_new, tagger_new},
    {Py_tp_dealloc, tagger_dealloc},
    {Py_tp_methods, tagger_methods},
    {Py_tp_doc, "Tagger(model, options, columns): a decoder, for one thread at a time."},
    {0, NULL}};
PyType_Spec tpy_tagger_spec = {.name = "trellis._trellis.Tagger",
                               .basicsize = sizeof(tpy_tagger),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = tagger_slots};
