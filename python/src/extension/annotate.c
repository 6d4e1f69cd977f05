/* annotate.c - what a tagger knows about one sequence: spans, probabilities, samples, its picture */
#include "tagger.h"

#include <stdlib.h>

/* A number, or None for NaN. */
static PyObject *number_or_none(double number)
{
    if (number != number) {
        Py_RETURN_NONE;
    }
    return PyFloat_FromDouble(number);
}

/* The posterior of each label of the best labelling, as a list. */
static PyObject *label_marginals(const tpy_tagger *tagger)
{
    const float *marginals = NULL;
    trellis_error error = {0};
    trellis_status status = trellis_tagger_nth_marginals(tagger->tagger, 0, &marginals, &error);
    if (status) {
        return tpy_raise(status, &error, NULL);
    }
    PyObject *list = PyList_New((Py_ssize_t)tagger->length);
    for (size_t i = 0; list && i < tagger->length; i++) {
        PyObject *value = PyFloat_FromDouble((double)marginals[i]);
        if (!value || PyList_SetItem(list, (Py_ssize_t)i, value)) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* A span as (begin, end, type, probability or None). */
static PyObject *describe_span(const tpy_tagger *tagger, const trellis_span *span, bool probable)
{
    double p = 0;
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (probable) {
        status = trellis_tagger_nth_span_probability(tagger->tagger, 0, span->begin, span->end, &p,
                                                     &error);
    }
    if (status) {
        return tpy_raise(status, &error, NULL);
    }
    PyObject *type = tpy_str(span->type), *probability = probable ? PyFloat_FromDouble(p) : Py_None;
    PyObject *row = type && probability ? Py_BuildValue("(nnOO)", (Py_ssize_t)span->begin,
                                                        (Py_ssize_t)span->end, type, probability)
                                        : NULL;
    Py_XDECREF(type);
    if (probable) {
        Py_XDECREF(probability);
    }
    return row;
}

/* The spans of the best labelling. */
static PyObject *list_spans(tpy_tagger *tagger, bool probable)
{
    const trellis_text *labels = trellis_tagger_nth_labels(tagger->tagger, 0);
    trellis_span *spans = calloc(tagger->length + 1, sizeof *spans);
    PyObject *list = labels && spans ? PyList_New(0) : PyErr_NoMemory();
    size_t count = list ? trellis_spans_find(labels, tagger->length, spans) : 0;
    for (size_t k = 0; list && k < count; k++) {
        PyObject *row = describe_span(tagger, &spans[k], probable);
        if (!row || PyList_Append(list, row)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
    }
    free(spans);
    return list;
}

/* What is known of the sequence tagged last, which has these labels. */
static PyObject *describe(tpy_tagger *tagger, PyObject *labels)
{
    const trellis_model *model = ((tpy_model *)tagger->model)->model;
    bool probable = trellis_model_has_probabilities(model);
    if (tagger->length == 0) {
        return Py_BuildValue("(OdO[][])", labels, 0.0, Py_None);
    }
    PyObject *marginals = probable ? label_marginals(tagger) : PyList_New(0);
    PyObject *spans = marginals ? list_spans(tagger, probable) : NULL;
    PyObject *p = spans ? number_or_none(trellis_tagger_nth_probability(tagger->tagger, 0)) : NULL;
    PyObject *row = p ? Py_BuildValue("(OdOOO)", labels, trellis_tagger_score(tagger->tagger), p,
                                      marginals, spans)
                      : NULL;
    Py_XDECREF(p);
    Py_XDECREF(spans);
    Py_XDECREF(marginals);
    return row;
}

/* annotate(items, columns): (labels, score, probability or None, [posterior of each label, if there
 * are any], [(begin, end, type, probability or None)]). */
PyObject *tpy_tagger_annotate(PyObject *self, PyObject *args)
{
    PyObject *sequence, *columns;
    tpy_tagger *tagger = (tpy_tagger *)self;
    if (!PyArg_ParseTuple(args, "OO", &sequence, &columns) ||
        !tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    PyObject *labels = tpy_tagger_answer(tagger, sequence, columns, NULL);
    PyObject *result = labels ? describe(tagger, labels) : NULL;
    Py_XDECREF(labels);
    tpy_lock_give(&tagger->lock);
    return result;
}

PyObject *tpy_tagger_draw(PyObject *self, PyObject *args)
{
    PyObject *sequence, *columns;
    Py_ssize_t max_labels;
    tpy_tagger *tagger = (tpy_tagger *)self;
    if (!PyArg_ParseTuple(args, "OOn", &sequence, &columns, &max_labels) ||
        !tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    tpy_items *items = &tagger->batch[0];
    tpy_bytes bytes = {0};
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    items->number = SIZE_MAX;
    tagger->length = 0;
    int failed = tpy_items_convert(items, sequence, Py_None, columns);
    if (!failed) {
        Py_BEGIN_ALLOW_THREADS;
        status = trellis_draw(tagger->tagger, &items->sequence,
                              max_labels < 0 ? 0 : (size_t)max_labels, tpy_collect, &bytes, &error);
        Py_END_ALLOW_THREADS;
    }
    tpy_lock_give(&tagger->lock);
    return failed ? NULL : tpy_take_bytes(status, &error, &bytes);
}

/* `count` samples of labels for the sequence tagged last. */
static PyObject *draw_samples(const tpy_tagger *tagger, unsigned long long seed, size_t count)
{
    const int32_t *numbers = NULL;
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (tagger->length) {
        status = trellis_tagger_sample(tagger->tagger, seed, count, &numbers, &error);
    }
    PyObject *list = status ? tpy_raise(status, &error, NULL) : PyList_New((Py_ssize_t)count);
    for (size_t k = 0; list && k < count; k++) {
        PyObject *row = PyList_New((Py_ssize_t)tagger->length);
        for (size_t i = 0; row && i < tagger->length; i++) {
            PyObject *name = tagger->names[numbers[k * tagger->length + i]];
            Py_INCREF(name);
            PyList_SetItem(row, (Py_ssize_t)i, name);
        }
        if (!row || PyList_SetItem(list, (Py_ssize_t)k, row)) {
            Py_CLEAR(list);
        }
    }
    return list;
}

PyObject *tpy_tagger_sample(PyObject *self, PyObject *args)
{
    PyObject *sequence, *columns, *result = NULL;
    unsigned long long seed;
    Py_ssize_t count;
    tpy_tagger *tagger = (tpy_tagger *)self;
    if (!PyArg_ParseTuple(args, "OOKn", &sequence, &columns, &seed, &count)) {
        return NULL;
    }
    if (count < 1 || count > 1000000) {
        PyErr_SetString(PyExc_ValueError, "the number of samples must be from 1 to 1000000");
        return NULL;
    }
    if (!tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    PyObject *labels = tpy_tagger_answer(tagger, sequence, columns, NULL);
    if (labels) {
        result = draw_samples(tagger, seed, (size_t)count);
    }
    Py_XDECREF(labels);
    tpy_lock_give(&tagger->lock);
    return result;
}

PyObject *tpy_tagger_entropy(PyObject *self, PyObject *args)
{
    PyObject *sequence, *columns;
    double entropy = 0;
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    tpy_tagger *tagger = (tpy_tagger *)self;
    if (!PyArg_ParseTuple(args, "OO", &sequence, &columns) ||
        !tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    PyObject *labels = tpy_tagger_answer(tagger, sequence, columns, NULL);
    if (labels && tagger->length) {
        status = trellis_tagger_entropy(tagger->tagger, &entropy, &error);
    }
    tpy_lock_give(&tagger->lock);
    if (!labels) {
        return NULL;
    }
    Py_DECREF(labels);
    return status ? tpy_raise(status, &error, NULL) : PyFloat_FromDouble(entropy);
}
