/* explainer.c - the type Explainer: why each token of a sequence got its label */
#include "extension.h"

#include <stdlib.h>

typedef struct tpy_explainer {
    PyObject_HEAD PyObject *model;
    trellis_explainer *explainer;
    tpy_items items;
    tpy_lock lock;
} tpy_explainer;

static trellis_status create(tpy_explainer *self, const trellis_options *options, PyObject *columns,
                             trellis_error *error)
{
    trellis_reader *reader = NULL;
    trellis_status status = trellis_explainer_create(((tpy_model *)self->model)->model, options,
                                                     &self->explainer, error);
    if (!status) {
        status = tpy_column_reader(columns, &reader, error);
    }
    if (!status && reader) {
        status = trellis_explainer_bind(self->explainer, reader, error);
    }
    trellis_reader_close(reader);
    return status;
}

/* Explainer(model, options, columns) */
static PyObject *explainer_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *model, *settings, *columns;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "O!O!O", tpy_module_types.model, &model, &PyDict_Type, &settings,
                          &columns)) {
        return NULL;
    }
    trellis_options *options = tpy_options(settings);
    tpy_explainer *self = options ? tpy_allocate(type) : NULL;
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (self) {
        Py_INCREF(model);
        self->model = model;
        self->items.number = SIZE_MAX;
        status = create(self, options, columns, &error);
    }
    trellis_options_destroy(options);
    if (self && (status || PyErr_Occurred())) {
        Py_DECREF((PyObject *)self);
        return PyErr_Occurred() ? NULL : tpy_raise(status, &error, NULL);
    }
    return (PyObject *)self;
}

static void explainer_dealloc(PyObject *self)
{
    tpy_explainer *explainer = (tpy_explainer *)self;
    trellis_explainer_destroy(explainer->explainer);
    tpy_items_free(&explainer->items);
    Py_XDECREF(explainer->model);
    tpy_free(self);
}

/* Appends a new reference, which is taken; -1 with an exception. */
static int append(PyObject *list, PyObject *element)
{
    int failed = element ? PyList_Append(list, element) : -1;
    Py_XDECREF(element);
    return failed;
}

/* A contribution as (position, attribute or None, labels, predicted, runner_up). */
static PyObject *describe_contribution(const trellis_contribution *c)
{
    PyObject *labels = PyList_New(0);
    for (size_t k = 0; labels && k < c->label_count; k++) {
        if (append(labels, tpy_str(c->labels[k]))) {
            Py_CLEAR(labels);
        }
    }
    PyObject *attribute = labels ? tpy_str(c->attribute) : NULL;
    PyObject *row = attribute ? Py_BuildValue("(nOOdd)", (Py_ssize_t)c->position,
                                              c->label_count ? Py_None : attribute, labels,
                                              c->predicted, c->runner_up)
                              : NULL;
    Py_XDECREF(attribute);
    Py_XDECREF(labels);
    return row;
}

/* An explanation as (predicted, runner_up, margin, their posteriors or NaN, contributions). */
static PyObject *describe(const trellis_explanation *e)
{
    PyObject *rows = PyList_New(0), *predicted = tpy_str(e->predicted);
    PyObject *runner_up = tpy_str(e->runner_up), *result = NULL;
    bool ok = rows && predicted && runner_up;
    for (size_t k = 0; ok && k < e->contribution_count; k++) {
        ok = !append(rows, describe_contribution(&e->contributions[k]));
    }
    if (ok) {
        result = Py_BuildValue("(OOdddO)", predicted, e->runner_up.size ? runner_up : Py_None,
                               e->margin, e->predicted_probability, e->runner_up_probability, rows);
    }
    Py_XDECREF(runner_up);
    Py_XDECREF(predicted);
    Py_XDECREF(rows);
    return result;
}

/* explain(items, columns): an explanation for each token. */
static PyObject *explainer_explain(PyObject *self, PyObject *args)
{
    PyObject *sequence, *columns, *result = NULL;
    tpy_explainer *explainer = (tpy_explainer *)self;
    if (!PyArg_ParseTuple(args, "OO", &sequence, &columns) ||
        !tpy_lock_take(&explainer->lock, "the explainer")) {
        return NULL;
    }
    const trellis_sequence *s = &explainer->items.sequence;
    const trellis_explanation *found = NULL;
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (!tpy_items_convert(&explainer->items, sequence, Py_None, columns)) {
        if (s->length) {
            Py_BEGIN_ALLOW_THREADS;
            status = trellis_explainer_run(explainer->explainer, s, &found, &error);
            Py_END_ALLOW_THREADS;
        }
        result = status ? tpy_raise(status, &error, NULL) : PyList_New(0);
        for (size_t i = 0; result && i < s->length; i++) {
            if (append(result, describe(&found[i]))) {
                Py_CLEAR(result);
            }
        }
    }
    tpy_lock_give(&explainer->lock);
    return result;
}

static PyMethodDef explainer_methods[] = {
    {"explain", explainer_explain, METH_VARARGS, "explain(items, columns)"}, {NULL, NULL, 0, NULL}};

static PyType_Slot explainer_slots[] = {{Py_tp_new, explainer_new},
                                        {Py_tp_dealloc, explainer_dealloc},
                                        {Py_tp_methods, explainer_methods},
                                        {Py_tp_doc, "Explainer(model, options, columns)"},
                                        {0, NULL}};
PyType_Spec tpy_explainer_spec = {.name = "trellis._trellis.Explainer",
                                  .basicsize = sizeof(tpy_explainer),
                                  .flags = Py_TPFLAGS_DEFAULT,
                                  .slots = explainer_slots};
