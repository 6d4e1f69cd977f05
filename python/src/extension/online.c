/* online.c - the type Online: a learner that takes sequences as they come */
#include "extension.h"

#include <stdlib.h>

typedef struct tpy_online {
    PyObject_HEAD trellis_online *online;
    tpy_lock lock;
} tpy_online;

/* Templates from a text; NULL in *ret_features for NULL. */
static trellis_status parse_templates(const char *text, Py_ssize_t size,
                                      trellis_features **ret_features, trellis_error *error)
{
    *ret_features = NULL;
    if (!text) {
        return TRELLIS_OK;
    }
    return trellis_features_parse((trellis_text){text, (size_t)size}, NULL, NULL, 0, ret_features,
                                  error);
}

static trellis_status bind_columns(trellis_online *online, PyObject *columns, trellis_error *error)
{
    trellis_reader *reader = NULL;
    trellis_status status = tpy_column_reader(columns, &reader, error);
    if (!status && reader) {
        status = trellis_online_bind(online, reader, error);
    }
    trellis_reader_close(reader);
    return status;
}

/* Online(options, init, templates, columns): init is a model or None, templates a text or None. */
static PyObject *online_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *settings, *init, *columns;
    const char *text;
    Py_ssize_t size;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "O!Oz#O", &PyDict_Type, &settings, &init, &text, &size, &columns)) {
        return NULL;
    }
    if (init != Py_None && Py_TYPE(init) != tpy_module_types.model) {
        PyErr_SetString(PyExc_TypeError, "init must be a model");
        return NULL;
    }
    trellis_options *options = tpy_options(settings);
    tpy_online *self = options ? tpy_allocate(type) : NULL;
    trellis_features *features = NULL;
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (self) {
        status = parse_templates(text, size, &features, &error);
    }
    if (self && !status) {
        const trellis_model *from = init == Py_None ? NULL : ((tpy_model *)init)->model;
        status = trellis_online_create(options, from, features, &self->online, &error);
    }
    if (self && !status) {
        status = bind_columns(self->online, columns, &error);
    }
    trellis_features_destroy(features);
    trellis_options_destroy(options);
    if (self && (status || PyErr_Occurred())) {
        Py_DECREF((PyObject *)self);
        return PyErr_Occurred() ? NULL : tpy_raise(status, &error, NULL);
    }
    return (PyObject *)self;
}

static PyObject *online_restore(PyObject *unused, PyObject *args)
{
    PyObject *bytes, *columns;
    char *data;
    Py_ssize_t size;
    (void)unused;
    if (!PyArg_ParseTuple(args, "OO", &bytes, &columns) ||
        PyBytes_AsStringAndSize(bytes, &data, &size)) {
        return NULL;
    }
    tpy_online *self = tpy_allocate(tpy_module_types.online);
    if (!self) {
        return NULL;
    }
    trellis_error error = {0};
    trellis_status status = trellis_online_restore(data, (size_t)size, &self->online, &error);
    if (!status) {
        status = bind_columns(self->online, columns, &error);
    }
    if (status || PyErr_Occurred()) {
        Py_DECREF((PyObject *)self);
        return PyErr_Occurred() ? NULL : tpy_raise(status, &error, NULL);
    }
    return (PyObject *)self;
}

static void online_dealloc(PyObject *self)
{
    trellis_online_destroy(((tpy_online *)self)->online);
    tpy_free(self);
}

/* A batch of sequences, converted one by one and learned together. */
typedef struct batch {
    tpy_items *items;            // [count]
    trellis_sequence *sequences; // [count]
    size_t count;
} batch;

static void free_batch(batch *b)
{
    for (size_t k = 0; b->items && k < b->count; k++) {
        tpy_items_free(&b->items[k]);
    }
    free(b->items);
    free(b->sequences);
}

/* Sequence k of the lists; -1 with an exception. */
static int convert(batch *b, size_t k, PyObject *lists[3], PyObject *columns)
{
    PyObject *items = PySequence_GetItem(lists[0], (Py_ssize_t)k);
    PyObject *labels = items ? PySequence_GetItem(lists[1], (Py_ssize_t)k) : NULL;
    PyObject *weight = NULL;
    b->items[k].number = k;
    int failed = labels ? tpy_items_convert(&b->items[k], items, labels, columns) : -1;
    if (!failed) {
        b->sequences[k] = b->items[k].sequence;
    }
    if (!failed && lists[2] != Py_None) {
        weight = PySequence_GetItem(lists[2], (Py_ssize_t)k);
        b->sequences[k].weight = weight ? PyFloat_AsDouble(weight) : 0;
        failed = PyErr_Occurred() ? -1 : 0;
    }
    Py_XDECREF(weight);
    Py_XDECREF(labels);
    Py_XDECREF(items);
    return failed;
}

static int convert_all(batch *b, PyObject *lists[3], PyObject *columns)
{
    Py_ssize_t count = PySequence_Size(lists[0]);
    Py_ssize_t labels = count < 0 ? -1 : PySequence_Size(lists[1]);
    Py_ssize_t weights = labels < 0 || lists[2] == Py_None ? labels : PySequence_Size(lists[2]);
    if (weights < 0) {
        return -1;
    }
    if (labels != count || weights != count) {
        PyErr_Format(PyExc_ValueError,
                     "the numbers of sequences (%zd), of their labels (%zd) and of their "
                     "weights (%zd) differ",
                     count, labels, weights);
        return -1;
    }
    b->items = calloc((size_t)count + 1, sizeof *b->items);
    b->sequences = calloc((size_t)count + 1, sizeof *b->sequences);
    if (!b->items || !b->sequences) {
        PyErr_NoMemory();
        return -1;
    }
    b->count = (size_t)count;
    int failed = 0;
    for (size_t k = 0; !failed && k < b->count; k++) {
        failed = convert(b, k, lists, columns);
    }
    return failed;
}

/* learn(X, y, weights, columns): X, y and weights (or None) are lists or tuples. */
static PyObject *online_learn(PyObject *self, PyObject *args)
{
    PyObject *lists[3], *columns;
    tpy_online *online = (tpy_online *)self;
    if (!PyArg_ParseTuple(args, "OOOO", &lists[0], &lists[1], &lists[2], &columns) ||
        !tpy_lock_take(&online->lock, "the learner")) {
        return NULL;
    }
    batch b = {0};
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    int failed = convert_all(&b, lists, columns);
    if (!failed && b.count) {
        Py_BEGIN_ALLOW_THREADS;
        status = trellis_online_learn(online->online, b.sequences, b.count, &error);
        Py_END_ALLOW_THREADS;
    }
    free_batch(&b);
    tpy_lock_give(&online->lock);
    if (failed) {
        return NULL;
    }
    if (status) {
        return tpy_raise(status, &error, NULL);
    }
    Py_RETURN_NONE;
}

static PyObject *online_model(PyObject *self, PyObject *unused)
{
    tpy_online *online = (tpy_online *)self;
    trellis_error error = {0};
    trellis_model *model = NULL;
    trellis_status status;
    (void)unused;
    if (!tpy_lock_take(&online->lock, "the learner")) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = trellis_online_model(online->online, &model, &error);
    Py_END_ALLOW_THREADS;
    tpy_lock_give(&online->lock);
    return status ? tpy_raise(status, &error, NULL) : tpy_model_wrap(model);
}

static PyObject *online_save(PyObject *self, PyObject *unused)
{
    tpy_online *online = (tpy_online *)self;
    trellis_error error = {0};
    tpy_bytes bytes = {0};
    trellis_status status;
    (void)unused;
    if (!tpy_lock_take(&online->lock, "the learner")) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = trellis_online_save(online->online, tpy_collect, &bytes, &error);
    Py_END_ALLOW_THREADS;
    tpy_lock_give(&online->lock);
    return tpy_take_bytes(status, &error, &bytes);
}

static PyObject *online_sequences(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(trellis_online_sequences(((tpy_online *)self)->online));
}

static PyMethodDef online_methods[] = {
    {"restore", online_restore, METH_VARARGS | METH_STATIC, "restore(state, columns)"},
    {"learn", online_learn, METH_VARARGS, "learn(X, y, weights, columns)"},
    {"model", online_model, METH_NOARGS, "The model of what was learned so far."},
    {"save", online_save, METH_NOARGS, "The whole state, in bytes."},
    {"sequences", online_sequences, METH_NOARGS, "How many sequences were learned from."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot online_slots[] = {
    {Py_tp_new, online_new},
    {Py_tp_dealloc, online_dealloc},
    {Py_tp_methods, online_methods},
    {Py_tp_doc, "Online(options, init, templates, columns): an online learner."},
    {0, NULL}};
PyType_Spec tpy_online_spec = {.name = "trellis._trellis.Online",
                               .basicsize = sizeof(tpy_online),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = online_slots};
