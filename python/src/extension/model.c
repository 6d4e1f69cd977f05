/* model.c - the types Model and Weights: a trained model, and an iterator over its weights */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

/* ---- models --------------------------------------------------------------------------------------- */

PyObject *tpy_model_wrap(trellis_model *model)
{
    tpy_model *self = tpy_allocate(tpy_module_types.model);
    if (!self) {
        trellis_model_close(model);
        return NULL;
    }
    self->model = model;
    return (PyObject *)self;
}

static void model_dealloc(PyObject *self)
{
    trellis_model_close(((tpy_model *)self)->model);
    tpy_free(self);
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
    return tpy_take_bytes(status, &error, &bytes);
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

/* Those of single labels, by their number. */
static PyObject *model_attributes(PyObject *self, PyObject *unused)
{
    const trellis_model *model = ((tpy_model *)self)->model;
    size_t count = trellis_model_attribute_count(model, false);
    PyObject *list = PyList_New((Py_ssize_t)count);
    (void)unused;
    for (size_t k = 0; list && k < count; k++) {
        PyObject *name = tpy_str(trellis_model_attribute(model, false, k));
        if (!name || PyList_SetItem(list, (Py_ssize_t)k, name)) {
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

static PyObject *model_has_spans(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(trellis_model_has_spans(((tpy_model *)self)->model));
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
    {"attributes", model_attributes, METH_NOARGS, "The attributes in their order."},
    {"has_probabilities", model_has_probabilities, METH_NOARGS, "Whether it is probabilistic."},
    {"has_spans", model_has_spans, METH_NOARGS, "Whether the labels mark spans."},
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
    tpy_weights *weights = tpy_allocate(tpy_module_types.weights);
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
    tpy_free(self);
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
