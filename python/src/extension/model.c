/* model.c - the types Model, Tagger and Weights of the extension */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

/* ---- models --------------------------------------------------------------------------------------- */

PyObject *tpy_model_wrap(trellis_model *model)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(tpy_module_types.model, Py_tp_alloc);
    tpy_model *self = (tpy_model *)allocate(tpy_module_types.model, 0);
    if (!self) {
        trellis_model_close(model);
        return NULL;
    }
    self->model = model;
    return (PyObject *)self;
}

static void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static void model_dealloc(PyObject *self)
{
    trellis_model_close(((tpy_model *)self)->model);
    free_object(self);
}

static PyObject *model_open(PyObject *unused, PyObject *args)
{
    const char *path;
    int text_form = 0;
    (void)unused;
    if (!PyArg_ParseTuple(args, "s|p", &path, &text_form)) {
        return NULL;
    }
    trellis_error error = {0};
    trellis_model *model = NULL;
    trellis_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = text_form ? trellis_model_import(path, &model, &error)
                       : trellis_model_open(path, &model, &error);
    Py_END_ALLOW_THREADS;
    return status ? tpy_raise(status, &error, path) : tpy_model_wrap(model);
}

static PyObject *model_from_bytes(PyObject *unused, PyObject *args)
{
    PyObject *bytes;
    int text_form = 0;
    char *data;
    Py_ssize_t size;
    (void)unused;
    if (!PyArg_ParseTuple(args, "O|p", &bytes, &text_form) ||
        PyBytes_AsStringAndSize(bytes, &data, &size)) {
        return NULL;
    }
    trellis_error error = {0};
    trellis_model *model = NULL;
    trellis_status status;
    Py_BEGIN_ALLOW_THREADS; // `args` holds the bytes
    status = text_form ? trellis_model_import_bytes(data, (size_t)size, NULL, &model, &error)
                       : trellis_model_open_bytes(data, (size_t)size, TRELLIS_COPY, &model, &error);
    Py_END_ALLOW_THREADS;
    return status ? tpy_raise(status, &error, NULL) : tpy_model_wrap(model);
}

static PyObject *model_save(PyObject *self, PyObject *args)
{
    const char *path;
    if (!PyArg_ParseTuple(args, "s", &path)) {
        return NULL;
    }
    trellis_error error = {0};
    trellis_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = trellis_model_save(((tpy_model *)self)->model, path, &error);
    Py_END_ALLOW_THREADS;
    if (status) {
        return tpy_raise(status, &error, NULL);
    }
    Py_RETURN_NONE;
}

/* What a model writes about itself. */
typedef enum written { WRITE_FILE, WRITE_INFO, WRITE_TEXT, WRITE_CRFSUITE } written;

static PyObject *model_write(PyObject *self, written what)
{
    const trellis_model *model = ((tpy_model *)self)->model;
    trellis_error error = {0};
    tpy_bytes bytes = {0};
    trellis_status status;
    Py_BEGIN_ALLOW_THREADS;
    switch (what) {
    case WRITE_FILE:
        status = trellis_model_write(model, tpy_collect, &bytes, &error);
        break;
    case WRITE_INFO:
        status = trellis_model_info(model, true, tpy_collect, &bytes, &error);
        break;
    case WRITE_CRFSUITE:
        status = trellis_model_write_crfsuite(model, tpy_collect, &bytes, &error);
        break;
    default:
        status = trellis_model_export(model, false, tpy_collect, &bytes, &error);
        break;
    }
    Py_END_ALLOW_THREADS;
    PyObject *result = status ? tpy_raise(status, &error, NULL)
                              : PyBytes_FromStringAndSize(bytes.at, (Py_ssize_t)bytes.size);
    free(bytes.at);
    return result;
}

static PyObject *model_to_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    return model_write(self, WRITE_FILE);
}

static PyObject *model_info(PyObject *self, PyObject *unused)
{
    (void)unused;
    return model_write(self, WRITE_INFO);
}

static PyObject *model_to_text(PyObject *self, PyObject *unused)
{
    (void)unused;
    return model_write(self, WRITE_TEXT);
}

static PyObject *model_to_crfsuite(PyObject *self, PyObject *unused)
{
    (void)unused;
    return model_write(self, WRITE_CRFSUITE);
}

static PyObject *model_labels(PyObject *self, PyObject *unused)
{
    const trellis_model *model = ((tpy_model *)self)->model;
    size_t count = trellis_model_label_count(model);
    PyObject *list = PyList_New((Py_ssize_t)count);
    (void)unused;
    for (size_t k = 0; list && k < count; k++) {
        PyObject *label = tpy_str(trellis_model_label(model, k));
        if (!label || PyList_SetItem(list, (Py_ssize_t)k, label)) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *model_has_probabilities(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(trellis_model_has_probabilities(((tpy_model *)self)->model));
}

static PyObject *model_weights(PyObject *self, PyObject *unused);

static PyMethodDef model_methods[] = {
    {"open", model_open, METH_VARARGS | METH_STATIC, "open(path, text=False): a model file"},
    {"from_bytes", model_from_bytes, METH_VARARGS | METH_STATIC, "from_bytes(data, text=False)"},
    {"save", model_save, METH_VARARGS, "save(path)"},
    {"to_bytes", model_to_bytes, METH_NOARGS, "The bytes of the model file."},
    {"to_text", model_to_text, METH_NOARGS, "The model as text, in bytes."},
    {"to_crfsuite", model_to_crfsuite, METH_NOARGS, "The bytes of a model file of CRFsuite."},
    {"info", model_info, METH_NOARGS, "A description as JSON, in bytes."},
    {"labels", model_labels, METH_NOARGS, "The labels in their order."},
    {"has_probabilities", model_has_probabilities, METH_NOARGS, "Whether it is probabilistic."},
    {"weights", model_weights, METH_NOARGS, "An iterator over (kind, attribute, labels, weight)."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot model_slots[] = {{Py_tp_dealloc, model_dealloc},
                                    {Py_tp_methods, model_methods},
                                    {Py_tp_doc, "A trained model."},
                                    {0, NULL}};
PyType_Spec tpy_model_spec = {.name = "trellis._trellis.Model",
                              .basicsize = sizeof(tpy_model),
                              .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                              .slots = model_slots};

/* ---- weights -------------------------------------------------------------------------------------- */

typedef struct tpy_weights {
    PyObject_HEAD PyObject *model;
    trellis_weight_iterator *iterator;
    size_t labels;
} tpy_weights;

static PyObject *model_weights(PyObject *self, PyObject *unused)
{
    trellis_error error = {0};
    allocfunc allocate = (allocfunc)PyType_GetSlot(tpy_module_types.weights, Py_tp_alloc);
    tpy_weights *weights = (tpy_weights *)allocate(tpy_module_types.weights, 0);
    (void)unused;
    if (!weights) {
        return NULL;
    }
    const trellis_model *model = ((tpy_model *)self)->model;
    trellis_status status = trellis_weight_iterator_create(model, &weights->iterator, &error);
    if (status) {
        Py_DECREF((PyObject *)weights);
        return tpy_raise(status, &error, NULL);
    }
    Py_INCREF(self);
    weights->model = self;
    weights->labels = trellis_model_label_count(model);
    return (PyObject *)weights;
}

static void weights_dealloc(PyObject *self)
{
    tpy_weights *weights = (tpy_weights *)self;
    trellis_weight_iterator_destroy(weights->iterator);
    Py_XDECREF(weights->model);
    free_object(self);
}

static PyObject *weights_next(PyObject *self)
{
    static const char *const kinds[] = {"node", "edge", "transition"};
    tpy_weights *weights = (tpy_weights *)self;
    const trellis_weight *w = trellis_weight_iterator_next(weights->iterator);
    if (!w) {
        return NULL;
    }
    PyObject *labels = PyTuple_New((Py_ssize_t)w->label_count);
    for (size_t k = 0; labels && k < w->label_count; k++) {
        PyObject *label;
        if (w->numbers[k] < 0 || (size_t)w->numbers[k] >= weights->labels) {
            label = Py_None; // the start or the end of a sequence
            Py_INCREF(label);
        } else {
            label = tpy_str(w->labels[k]);
        }
        if (!label || PyTuple_SetItem(labels, (Py_ssize_t)k, label)) {
            Py_CLEAR(labels);
        }
    }
    PyObject *attribute = labels ? tpy_str(w->attribute) : NULL;
    PyObject *row = NULL;
    if (attribute) {
        row = Py_BuildValue("(sOOd)", kinds[w->kind],
                            w->kind == TRELLIS_TRANSITION_WEIGHT ? Py_None : attribute, labels,
                            w->weight);
    }
    Py_XDECREF(attribute);
    Py_XDECREF(labels);
    return row;
}

static PyType_Slot weights_slots[] = {{Py_tp_dealloc, weights_dealloc},
                                      {Py_tp_iter, PyObject_SelfIter},
                                      {Py_tp_iternext, weights_next},
                                      {0, NULL}};
PyType_Spec tpy_weights_spec = {.name = "trellis._trellis.Weights",
                                .basicsize = sizeof(tpy_weights),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = weights_slots};

/* ---- taggers -------------------------------------------------------------------------------------- */

typedef struct tpy_tagger {
    PyObject_HEAD PyObject *model;
    trellis_tagger *tagger;
    tpy_items items;  // the sequence tagged last
    tpy_items labels; // given labels
    size_t length;    // of the sequence tagged last
    size_t label_count;
    PyObject **names; // [label_count] of the labels, as str
    bool busy;        // a thread is using it
} tpy_tagger;

static PyObject *tagger_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *model, *settings, *columns;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "O!O!O", tpy_module_types.model, &model, &PyDict_Type, &settings,
                          &columns)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    tpy_tagger *self = (tpy_tagger *)allocate(type, 0);
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
        size_t count = (size_t)PyTuple_Size(columns);
        const char **names = calloc(count, sizeof *names);
        for (size_t c = 0; names && c < count; c++) {
            names[c] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(columns, (Py_ssize_t)c), NULL);
        }
        if (!PyErr_Occurred()) {
            status = names ? trellis_tagger_bind_columns(self->tagger, names, count, &error)
                           : TRELLIS_MEMORY;
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
    free_object(self);
}

/* Marks the tagger as used by this thread; false with an exception if another one is using it. */
static bool enter(tpy_tagger *tagger)
{
    if (tagger->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the tagger is in use by another thread");
        return false;
    }
    return tagger->busy = true;
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
    if (!PyArg_ParseTuple(args, "O|On", &sequence, &columns, &number) || !enter(tagger)) {
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
    tagger->busy = false;
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
    if (!enter(tagger)) {
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
    tagger->busy = false;
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
    if (!enter(tagger)) {
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
    tagger->busy = false;
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
    if (!enter(tagger)) {
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
    tagger->busy = false;
    if (failed) {
        return NULL;
    }
    return status ? tpy_raise(status, &error, NULL) : PyFloat_FromDouble(p);
}

static PyObject *tagger_score(PyObject *self, PyObject *unused)
{
    tpy_tagger *tagger = (tpy_tagger *)self;
    (void)unused;
    if (!enter(tagger)) {
        return NULL;
    }
    double score = tagger->length ? trellis_tagger_score(tagger->tagger) : 0;
    tagger->busy = false;
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
