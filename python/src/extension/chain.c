/* chain.c - the type Chain: the trellis by itself, over buffers of floats */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BUFFERS = 6 }; // of one sequence or of what all share

/* The buffers of a call, released at its end. */
typedef struct buffers {
    tpy_buffer *at;
    size_t count;
} buffers;

static void release(buffers *held)
{
    for (size_t k = 0; k < held->count; k++) {
        PyBuffer_Release(&held->at[k]);
    }
    free(held->at);
}

static bool make_room(buffers *held, size_t count)
{
    held->at = calloc(count + 1, sizeof *held->at);
    if (!held->at) {
        PyErr_NoMemory();
    }
    return held->at;
}

/* Takes a buffer of this format and shape, which the caller gave under `name`. */
static tpy_buffer *take(buffers *held, PyObject *object, const char *name, char format,
                        int dimensions, const Py_ssize_t *shape, bool writable)
{
    tpy_buffer *view = &held->at[held->count];
    if (PyObject_GetBuffer(object, view,
                           TPY_STRIDED | TPY_FORMAT | (writable ? TPY_WRITABLE : 0))) {
        return NULL;
    }
    held->count++;
    bool ok = view->format && view->format[0] == format && !view->format[1];
    if (!ok) {
        PyErr_Format(PyExc_TypeError, "%s: the elements must be of format '%c', not '%s'", name,
                     format, view->format ? view->format : "B");
        return NULL;
    }
    ok = view->ndim == dimensions;
    for (int d = 0; ok && d < dimensions; d++) {
        ok = view->shape[d] == shape[d];
    }
    if (!ok) {
        PyErr_Format(PyExc_ValueError,
                     dimensions == 1 ? "%s: the shape must be (%zd)"
                                     : "%s: the shape must be (%zd, %zd)",
                     name, shape[0], dimensions > 1 ? shape[1] : 0);
        return NULL;
    }
    return view;
}

/* Floats that may be strided; None leaves *ret_floats as it is. */
static int take_floats(buffers *held, PyObject *object, const char *name, int dimensions,
                       const Py_ssize_t *shape, bool writable, trellis_floats *ret_floats)
{
    if (object == Py_None) {
        return 0;
    }
    tpy_buffer *view = take(held, object, name, 'f', dimensions, shape, writable);
    if (!view) {
        return -1;
    }
    ret_floats->at = view->buf;
    for (int d = 0; d < dimensions; d++) {
        if (view->strides[d] % (Py_ssize_t)sizeof(float)) {
            PyErr_Format(PyExc_ValueError, "%s: the elements are not aligned", name);
            return -1;
        }
        ret_floats->stride[d] = view->strides[d] / (Py_ssize_t)sizeof(float);
    }
    return 0;
}

/* An array without gaps; None gives NULL. */
static int take_array(buffers *held, PyObject *object, const char *name, char format,
                      int dimensions, const Py_ssize_t *shape, bool writable, void **ret_array)
{
    *ret_array = NULL;
    if (object == Py_None) {
        return 0;
    }
    tpy_buffer *view = take(held, object, name, format, dimensions, shape, writable);
    if (!view) {
        return -1;
    }
    Py_ssize_t step = view->itemsize;
    for (int d = dimensions - 1; d >= 0; d--) {
        if (view->shape[d] > 1 && view->strides[d] != step) {
            PyErr_Format(PyExc_ValueError, "%s: the array must be contiguous", name);
            return -1;
        }
        step *= view->shape[d];
    }
    *ret_array = view->buf;
    return 0;
}

typedef struct tpy_chain {
    PyObject_HEAD trellis_chain *chain;
    Py_ssize_t labels;
    tpy_lock lock;
} tpy_chain;

static PyObject *chain_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    Py_ssize_t labels;
    PyObject *settings;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "nO!", &labels, &PyDict_Type, &settings)) {
        return NULL;
    }
    trellis_options *options = tpy_options(settings);
    if (!options) {
        return NULL;
    }
    tpy_chain *self = tpy_allocate(type);
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (self) {
        self->labels = labels;
        status = trellis_chain_create(labels < 0 ? 0 : (size_t)labels, options, &self->chain,
                                      &error);
    }
    trellis_options_destroy(options);
    if (status) {
        Py_DECREF((PyObject *)self);
        return tpy_raise(status, &error, NULL);
    }
    return (PyObject *)self;
}

static void chain_dealloc(PyObject *self)
{
    trellis_chain_destroy(((tpy_chain *)self)->chain);
    tpy_free(self);
}

/* set(transitions, start, end, allowed): each None or an array. */
static PyObject *chain_set(PyObject *self, PyObject *args)
{
    PyObject *transitions, *first, *last, *allowed;
    tpy_chain *chain = (tpy_chain *)self;
    buffers held = {0};
    if (!PyArg_ParseTuple(args, "OOOO", &transitions, &first, &last, &allowed) ||
        !tpy_lock_take(&chain->lock, "the chain")) {
        return NULL;
    }
    Py_ssize_t square[2] = {chain->labels, chain->labels};
    trellis_chain_scores scores = {.struct_size = sizeof scores};
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    void *mask = NULL;
    bool ready = make_room(&held, MAX_BUFFERS) &&
                 !take_floats(&held, transitions, "transitions", 2, square, false,
                              &scores.transitions) &&
                 !take_floats(&held, first, "start", 1, square, false, &scores.start) &&
                 !take_floats(&held, last, "end", 1, square, false, &scores.end) &&
                 !take_array(&held, allowed, "allowed", 'B', 2, square, false, &mask);
    if (ready) {
        scores.allowed = mask;
        status = trellis_chain_set(chain->chain, &scores, &error);
    }
    release(&held);
    tpy_lock_give(&chain->lock);
    if (!ready) {
        return NULL;
    }
    if (status) {
        return tpy_raise(status, &error, NULL);
    }
    Py_RETURN_NONE;
}

/* A sequence from a tuple (nodes, labels, best, node_marginals, node_gradient, weight). */
static int fill_sequence(const tpy_chain *chain, buffers *held, PyObject *tuple,
                         trellis_chain_sequence *s)
{
    PyObject *nodes, *labels, *best, *marginals, *gradient;
    double weight;
    if (!PyArg_ParseTuple(tuple, "OOOOOd", &nodes, &labels, &best, &marginals, &gradient,
                          &weight)) {
        return -1;
    }
    Py_ssize_t length = PyObject_Size(nodes);
    if (length < 0) {
        return -1;
    }
    Py_ssize_t shape[2] = {length, chain->labels};
    void *gold, *found;
    *s = (trellis_chain_sequence){.struct_size = sizeof *s,
                                  .length = (size_t)length,
                                  .weight = weight,
                                  .nbest = 1,
                                  .samples = 1};
    if (take_floats(held, nodes, "nodes", 2, shape, false, &s->nodes) ||
        take_array(held, labels, "labels", 'i', 1, shape, false, &gold) ||
        take_array(held, best, "best", 'i', 1, shape, true, &found) ||
        take_floats(held, marginals, "node_marginals", 2, shape, true, &s->node_marginals) ||
        take_floats(held, gradient, "node_gradient", 2, shape, true, &s->node_gradient)) {
        return -1;
    }
    s->labels = gold;
    s->best = found;
    return 0;
}

/* run(questions, sequences, gradient): the sequences are tuples of fill_sequence(), the gradient is a
 * tuple (transitions, start, end) or None. A list of (best_score, log_z, loss). */
static PyObject *chain_run(PyObject *self, PyObject *args)
{
    unsigned int questions;
    PyObject *tuple, *gradient, *shared[3] = {Py_None, Py_None, Py_None};
    tpy_chain *chain = (tpy_chain *)self;
    if (!PyArg_ParseTuple(args, "IO!O", &questions, &PyTuple_Type, &tuple, &gradient) ||
        (gradient != Py_None &&
         !PyArg_ParseTuple(gradient, "OOO", &shared[0], &shared[1], &shared[2])) ||
        !tpy_lock_take(&chain->lock, "the chain")) {
        return NULL;
    }
    size_t count = (size_t)PyTuple_Size(tuple);
    Py_ssize_t square[2] = {chain->labels, chain->labels};
    buffers held = {0};
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    trellis_chain_gradient wanted = {.struct_size = sizeof wanted};
    trellis_chain_sequence *sequences = calloc(count + 1, sizeof *sequences);
    if (!sequences) {
        PyErr_NoMemory();
    }
    bool ready = sequences && make_room(&held, MAX_BUFFERS * (count + 1)) &&
                 !take_floats(&held, shared[0], "transitions", 2, square, true,
                              &wanted.transitions) &&
                 !take_floats(&held, shared[1], "start", 1, square, true, &wanted.start) &&
                 !take_floats(&held, shared[2], "end", 1, square, true, &wanted.end);
    for (size_t k = 0; ready && k < count; k++) {
        ready = !fill_sequence(chain, &held, PyTuple_GetItem(tuple, (Py_ssize_t)k), &sequences[k]);
    }
    if (ready) {
        Py_BEGIN_ALLOW_THREADS;
        status = trellis_chain_run(chain->chain, questions, sequences, count,
                                   gradient == Py_None ? NULL : &wanted, &error);
        Py_END_ALLOW_THREADS;
    }
    release(&held);
    tpy_lock_give(&chain->lock);
    PyObject *result = NULL;
    if (ready) {
        result = status ? tpy_raise(status, &error, NULL) : PyList_New(0);
    }
    for (size_t k = 0; result && k < count; k++) {
        PyObject *row = Py_BuildValue("(ddd)", sequences[k].best_score, sequences[k].log_z,
                                      sequences[k].loss);
        if (!row || PyList_Append(result, row)) {
            Py_CLEAR(result);
        }
        Py_XDECREF(row);
    }
    free(sequences);
    return result;
}

static PyMethodDef chain_methods[] = {
    {"set", chain_set, METH_VARARGS, "set(transitions, start, end, allowed)"},
    {"run", chain_run, METH_VARARGS, "run(questions, sequences, gradient)"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot chain_slots[] = {
    {Py_tp_new, chain_new},
    {Py_tp_dealloc, chain_dealloc},
    {Py_tp_methods, chain_methods},
    {Py_tp_doc, "Chain(labels, options): a linear chain over scores."},
    {0, NULL}};
PyType_Spec tpy_chain_spec = {.name = "trellis._trellis.Chain",
                              .basicsize = sizeof(tpy_chain),
                              .flags = Py_TPFLAGS_DEFAULT,
                              .slots = chain_slots};
