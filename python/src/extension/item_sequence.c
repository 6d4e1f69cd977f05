/* item_sequence.c - the type Items: a sequence of items that was converted once, to be used often */
#include "extension.h"

typedef struct tpy_item_sequence {
    PyObject_HEAD tpy_items items;
} tpy_item_sequence;

static PyObject *items_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *sequence;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "O", &sequence)) {
        return NULL;
    }
    tpy_item_sequence *self = tpy_allocate(type);
    if (self) {
        self->items.number = SIZE_MAX;
        self->items.any_size = true;
        if (tpy_items_convert(&self->items, sequence, Py_None, Py_None)) {
            Py_DECREF((PyObject *)self);
            return NULL;
        }
    }
    return (PyObject *)self;
}

static void items_dealloc(PyObject *self)
{
    tpy_items_free(&((tpy_item_sequence *)self)->items);
    tpy_free(self);
}

static Py_ssize_t items_length(PyObject *self)
{
    return (Py_ssize_t)((tpy_item_sequence *)self)->items.sequence.length;
}

/* The attributes first .. end-1 as {name: value}; of a name that occurs twice, the sum. */
static PyObject *attributes_dict(const trellis_attribute *attributes, size_t first, size_t end)
{
    PyObject *dict = PyDict_New();
    for (size_t k = first; dict && k < end; k++) {
        PyObject *name = tpy_str(attributes[k].name);
        PyObject *before = name ? PyDict_GetItemWithError(dict, name) : NULL;
        double sum = attributes[k].value + (before ? PyFloat_AsDouble(before) : 0);
        PyObject *value = PyErr_Occurred() ? NULL : PyFloat_FromDouble(sum);
        if (!name || !value || PyDict_SetItem(dict, name, value)) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *items_items(PyObject *self, PyObject *unused)
{
    const trellis_sequence *sequence = &((tpy_item_sequence *)self)->items.sequence;
    PyObject *list = PyList_New((Py_ssize_t)sequence->length);
    (void)unused;
    for (size_t i = 0; list && i < sequence->length; i++) {
        PyObject *dict = attributes_dict(sequence->attributes, sequence->attribute_begin[i],
                                         sequence->attribute_begin[i + 1]);
        if (!dict || PyList_SetItem(list, (Py_ssize_t)i, dict)) {
            Py_CLEAR(list);
        }
    }
    return list;
}

const trellis_sequence *tpy_items_converted(PyObject *object)
{
    return PyObject_TypeCheck(object, tpy_module_types.items)
               ? &((tpy_item_sequence *)object)->items.sequence
               : NULL;
}

static PyMethodDef items_methods[] = {
    {"items", items_items, METH_NOARGS, "A list of {attribute: value}."}, {NULL, NULL, 0, NULL}};

static PyType_Slot items_slots[] = {{Py_tp_new, items_new},
                                    {Py_tp_dealloc, items_dealloc},
                                    {Py_tp_methods, items_methods},
                                    {Py_sq_length, items_length},
                                    {Py_tp_doc, "Items(sequence): a sequence converted once."},
                                    {0, NULL}};
PyType_Spec tpy_items_spec = {.name = "trellis._trellis.Items",
                              .basicsize = sizeof(tpy_item_sequence),
                              .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                              .slots = items_slots};
