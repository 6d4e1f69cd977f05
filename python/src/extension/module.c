/* module.c - the module trellis._trellis: its types and functions */
#include "extension.h"

tpy_types tpy_module_types;

/* A list of (name, type, default, choices, help) of all options of the library. */
static PyObject *list_options(PyObject *module, PyObject *unused)
{
    static const char *const types[] = {"flag", "integer", "real", "choice", "string"};
    PyObject *list = PyList_New(0);
    (void)module;
    (void)unused;
    for (size_t k = 0; list && k < trellis_option_count(); k++) {
        const trellis_option *option = trellis_option_at(k);
        PyObject *row = Py_BuildValue("(sszzsI)", option->name, types[option->type],
                                      option->default_value, option->choices, option->help,
                                      option->groups);
        if (!row || PyList_Append(list, row)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
    }
    return list;
}

/* A dict from the name of each learner, a value of the option `type`, to a sentence about it. */
static PyObject *list_learners(PyObject *module, PyObject *unused)
{
    PyObject *dict = PyDict_New();
    (void)module;
    (void)unused;
    for (size_t k = 0; dict && trellis_learner_name(k); k++) {
        PyObject *help = PyUnicode_FromString(trellis_learner_help(k));
        if (!help || PyDict_SetItemString(dict, trellis_learner_name(k), help)) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(help);
    }
    return dict;
}

/* The option whose name is nearest to one that does not exist, or None. */
static PyObject *suggest(PyObject *module, PyObject *args)
{
    const char *asked;
    (void)module;
    if (!PyArg_ParseTuple(args, "s", &asked)) {
        return NULL;
    }
    trellis_suggestion suggestion = {.struct_size = sizeof suggestion, .asked = asked};
    for (size_t k = 0; k < trellis_option_count(); k++) {
        trellis_suggest(&suggestion, trellis_option_at(k)->name);
    }
    return Py_BuildValue("z", suggestion.nearest);
}

static PyMethodDef functions[] = {
    {"train", (PyCFunction)(void (*)(void))tpy_train, METH_VARARGS | METH_KEYWORDS,
     "train(options, train, dev, init, templates, progress)"},
    {"options", list_options, METH_NOARGS, "All options of the library."},
    {"learners", list_learners, METH_NOARGS, "All learners, with a sentence each."},
    {"suggest", suggest, METH_VARARGS, "The name of an option nearest to another name."},
    {NULL, NULL, 0, NULL}};

static int add_type(PyObject *module, PyType_Spec *spec, const char *name, PyTypeObject **ret_type)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (!type || PyModule_AddObjectRef(module, name, type)) {
        Py_XDECREF(type);
        return -1;
    }
    *ret_type = (PyTypeObject *)type; // kept for as long as the process runs
    return 0;
}

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "trellis._trellis",
                                        .m_doc = "The library, for the package trellis.",
                                        .m_size = -1,
                                        .m_methods = functions};

/* An item or label of a wrong type: a TypeError, and a ValueError as users of python-crfsuite expect. */
static int add_item_error(PyObject *module)
{
    PyObject *bases = PyTuple_Pack(2, PyExc_TypeError, PyExc_ValueError);
    PyObject *type =
        bases ? PyErr_NewExceptionWithDoc(
                    "trellis.ItemError",
                    "An item, label or sequence of a wrong type; the message says where.", bases,
                    NULL)
              : NULL;
    Py_XDECREF(bases);
    tpy_module_types.item_error = type; // kept for as long as the process runs
    return type ? PyModule_AddObjectRef(module, "ItemError", type) : -1;
}

PyMODINIT_FUNC PyInit__trellis(void)
{
    PyObject *module = PyModule_Create(&definition);
    tpy_types *types = &tpy_module_types;
    if (!module || add_type(module, &tpy_corpus_spec, "Corpus", &types->corpus) ||
        add_type(module, &tpy_model_spec, "Model", &types->model) ||
        add_type(module, &tpy_tagger_spec, "Tagger", &types->tagger) ||
        add_type(module, &tpy_weights_spec, "Weights", &types->weights) ||
        add_type(module, &tpy_chain_spec, "Chain", &types->chain) ||
        add_type(module, &tpy_online_spec, "Online", &types->online) ||
        add_type(module, &tpy_evaluation_spec, "Evaluation", &types->evaluation) ||
        add_type(module, &tpy_reader_spec, "Reader", &types->reader) ||
        add_type(module, &tpy_writer_spec, "Writer", &types->writer) ||
        add_type(module, &tpy_explainer_spec, "Explainer", &types->explainer) ||
        add_type(module, &tpy_items_spec, "Items", &types->items) || add_item_error(module) ||
        PyModule_AddStringConstant(module, "version", trellis_version())) {
        Py_XDECREF(module);
        return NULL;
    }
#ifdef Py_GIL_DISABLED
    PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
    return module;
}
