/* evaluation.c - the type Evaluation: predictions scored against gold labels, and compared */
#include "extension.h"

#include <stdlib.h>

typedef struct tpy_evaluation {
    PyObject_HEAD trellis_evaluation *evaluation;
    tpy_items gold, predicted;
    size_t sequences;
    tpy_lock lock;
} tpy_evaluation;

static PyObject *evaluation_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *settings;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "O!", &PyDict_Type, &settings)) {
        return NULL;
    }
    trellis_options *options = tpy_options(settings);
    tpy_evaluation *self = options ? tpy_allocate(type) : NULL;
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (self) {
        status = trellis_evaluation_create(options, &self->evaluation, &error);
    }
    trellis_options_destroy(options);
    if (status) {
        Py_DECREF((PyObject *)self);
        return tpy_raise(status, &error, NULL);
    }
    return (PyObject *)self;
}

static void evaluation_dealloc(PyObject *self)
{
    tpy_evaluation *evaluation = (tpy_evaluation *)self;
    trellis_evaluation_destroy(evaluation->evaluation);
    tpy_items_free(&evaluation->gold);
    tpy_items_free(&evaluation->predicted);
    tpy_free(self);
}

/* Gold and predicted labels of a sequence; -1 with an exception. */
static int add_labels(tpy_evaluation *e, PyObject *gold, PyObject *predicted)
{
    size_t gold_length, predicted_length;
    e->gold.number = e->predicted.number = e->sequences;
    if (tpy_items_labels(&e->gold, gold, &gold_length) ||
        tpy_items_labels(&e->predicted, predicted, &predicted_length)) {
        return -1;
    }
    if (gold_length != predicted_length) {
        PyErr_Format(PyExc_ValueError,
                     "sequence %zu: the numbers of gold labels (%zu) and of predicted ones (%zu) "
                     "differ",
                     e->sequences, gold_length, predicted_length);
        return -1;
    }
    trellis_error error = {0};
    trellis_status status = trellis_evaluation_add(e->evaluation, e->gold.texts, e->predicted.texts,
                                                   gold_length, &error);
    if (status) {
        tpy_raise(status, &error, NULL);
        return -1;
    }
    e->sequences++;
    return 0;
}

static PyObject *evaluation_add(PyObject *self, PyObject *args)
{
    PyObject *gold, *predicted;
    tpy_evaluation *evaluation = (tpy_evaluation *)self;
    if (!PyArg_ParseTuple(args, "OO", &gold, &predicted) ||
        !tpy_lock_take(&evaluation->lock, "the evaluation")) {
        return NULL;
    }
    int failed = add_labels(evaluation, gold, predicted);
    tpy_lock_give(&evaluation->lock);
    if (failed) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* report(form): a trellis_report_form, in bytes. */
static PyObject *evaluation_report(PyObject *self, PyObject *args)
{
    int form;
    tpy_evaluation *evaluation = (tpy_evaluation *)self;
    if (!PyArg_ParseTuple(args, "i", &form) ||
        !tpy_lock_take(&evaluation->lock, "the evaluation")) {
        return NULL;
    }
    tpy_bytes bytes = {0};
    trellis_error error = {0};
    trellis_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = trellis_evaluation_report(evaluation->evaluation, (trellis_report_form)form,
                                       tpy_collect, &bytes, &error);
    Py_END_ALLOW_THREADS;
    tpy_lock_give(&evaluation->lock);
    return tpy_take_bytes(status, &error, &bytes);
}

/* The comparison of two evaluations, as a report. */
static trellis_status compare(const trellis_evaluation *first, const trellis_evaluation *second,
                              int form, tpy_bytes *bytes, trellis_error *error)
{
    trellis_comparison *comparison = NULL;
    trellis_status status = trellis_evaluation_compare(first, second, &comparison, error);
    if (!status) {
        status = trellis_comparison_report(comparison, (trellis_report_form)form, tpy_collect,
                                           bytes, error);
    }
    trellis_comparison_destroy(comparison);
    return status;
}

/* compare(other, form): a report on both, in bytes. */
static PyObject *evaluation_compare(PyObject *self, PyObject *args)
{
    PyObject *other;
    int form;
    if (!PyArg_ParseTuple(args, "O!i", tpy_module_types.evaluation, &other, &form)) {
        return NULL;
    }
    tpy_evaluation *first = (tpy_evaluation *)self, *second = (tpy_evaluation *)other;
    if (!tpy_lock_take(&first->lock, "the evaluation")) {
        return NULL;
    }
    if (other != self && !tpy_lock_take(&second->lock, "the evaluation")) {
        tpy_lock_give(&first->lock);
        return NULL;
    }
    tpy_bytes bytes = {0};
    trellis_error error = {0};
    trellis_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = compare(first->evaluation, second->evaluation, form, &bytes, &error);
    Py_END_ALLOW_THREADS;
    tpy_lock_give(&second->lock);
    tpy_lock_give(&first->lock);
    return tpy_take_bytes(status, &error, &bytes);
}

static PyObject *evaluation_confusion(PyObject *self, PyObject *args)
{
    trellis_text gold, predicted;
    Py_ssize_t gold_size, predicted_size;
    tpy_evaluation *evaluation = (tpy_evaluation *)self;
    if (!PyArg_ParseTuple(args, "s#s#", &gold.data, &gold_size, &predicted.data, &predicted_size)) {
        return NULL;
    }
    gold.size = (size_t)gold_size;
    predicted.size = (size_t)predicted_size;
    return PyLong_FromUnsignedLongLong(
        trellis_evaluation_confusion(evaluation->evaluation, gold, predicted));
}

static PyMethodDef evaluation_methods[] = {
    {"add", evaluation_add, METH_VARARGS, "add(gold, predicted): the labels of a sequence"},
    {"report", evaluation_report, METH_VARARGS, "report(form), in bytes"},
    {"compare", evaluation_compare, METH_VARARGS, "compare(other, form), in bytes"},
    {"confusion", evaluation_confusion, METH_VARARGS, "confusion(gold, predicted): tokens"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot evaluation_slots[] = {{Py_tp_new, evaluation_new},
                                         {Py_tp_dealloc, evaluation_dealloc},
                                         {Py_tp_methods, evaluation_methods},
                                         {Py_tp_doc, "Evaluation(options)"},
                                         {0, NULL}};
PyType_Spec tpy_evaluation_spec = {.name = "trellis._trellis.Evaluation",
                                   .basicsize = sizeof(tpy_evaluation),
                                   .flags = Py_TPFLAGS_DEFAULT,
                                   .slots = evaluation_slots};
