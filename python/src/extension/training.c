/* training.c - the type Corpus, and train() */
#include "extension.h"

#include <stdlib.h>

/* ---- corpora -------------------------------------------------------------------------------------- */

static PyObject *corpus_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    if (!PyArg_ParseTuple(args, "")) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    tpy_corpus *self = (tpy_corpus *)allocate(type, 0);
    trellis_error error = {0};
    trellis_status status = self ? trellis_corpus_create(&self->corpus, &error) : TRELLIS_OK;
    if (status) {
        Py_DECREF((PyObject *)self);
        return tpy_raise(status, &error, NULL);
    }
    return (PyObject *)self;
}

static void corpus_dealloc(PyObject *self)
{
    tpy_corpus *corpus = (tpy_corpus *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    trellis_corpus_destroy(corpus->corpus);
    tpy_items_free(&corpus->items);
    release(self);
    Py_DECREF(type);
}

/* False with an exception while a training reads the corpus without the interpreter lock. */
static bool may_change(const tpy_corpus *corpus)
{
    if (corpus->users > 0) {
        PyErr_SetString(PyExc_RuntimeError, "the corpus is in use by a training");
        return false;
    }
    return true;
}

static PyObject *corpus_add(PyObject *self, PyObject *args)
{
    PyObject *sequence, *labels = Py_None, *columns = Py_None;
    unsigned int group = 0;
    double weight = 1;
    tpy_corpus *corpus = (tpy_corpus *)self;
    if (!PyArg_ParseTuple(args, "O|OOId", &sequence, &labels, &columns, &group, &weight) ||
        !may_change(corpus)) {
        return NULL;
    }
    corpus->items.number = trellis_corpus_sequences(corpus->corpus);
    corpus->users++; // converting may run Python code, which must not add to this corpus
    int failed = tpy_items_convert(&corpus->items, sequence, labels, columns);
    corpus->users--;
    if (failed) {
        return NULL;
    }
    corpus->items.sequence.group = group;
    corpus->items.sequence.weight = weight;
    trellis_error error = {0};
    trellis_status status = trellis_corpus_add(corpus->corpus, &corpus->items.sequence, &error);
    if (status) {
        return tpy_raise(status, &error, NULL);
    }
    Py_RETURN_NONE;
}

static PyObject *corpus_read(PyObject *self, PyObject *args)
{
    const char *path;
    PyObject *settings;
    tpy_corpus *corpus = (tpy_corpus *)self;
    if (!PyArg_ParseTuple(args, "sO!", &path, &PyDict_Type, &settings) || !may_change(corpus)) {
        return NULL;
    }
    trellis_options *options = tpy_options(settings);
    if (!options) {
        return NULL;
    }
    trellis_error error = {0};
    trellis_source source = {.struct_size = sizeof source, .path = path};
    trellis_status status;
    corpus->users++;
    Py_BEGIN_ALLOW_THREADS;
    status = trellis_corpus_read(corpus->corpus, &source, options, &error);
    Py_END_ALLOW_THREADS;
    corpus->users--;
    trellis_options_destroy(options);
    if (status) {
        return tpy_raise(status, &error, path);
    }
    Py_RETURN_NONE;
}

static PyObject *corpus_name_columns(PyObject *self, PyObject *args)
{
    PyObject *columns;
    tpy_corpus *corpus = (tpy_corpus *)self;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &columns) || !may_change(corpus)) {
        return NULL;
    }
    size_t count = (size_t)PyTuple_Size(columns);
    const char **names = calloc(count + 1, sizeof *names);
    if (!names) {
        return PyErr_NoMemory();
    }
    for (size_t c = 0; c < count && !PyErr_Occurred(); c++) {
        names[c] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(columns, (Py_ssize_t)c), NULL);
    }
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    if (!PyErr_Occurred()) {
        status = trellis_corpus_name_columns(corpus->corpus, names, count, &error);
    }
    free(names);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (status) {
        return tpy_raise(status, &error, NULL);
    }
    Py_RETURN_NONE;
}

static PyObject *corpus_sizes(PyObject *self, PyObject *unused)
{
    const trellis_corpus *corpus = ((tpy_corpus *)self)->corpus;
    (void)unused;
    return Py_BuildValue("(nnn)", (Py_ssize_t)trellis_corpus_sequences(corpus),
                         (Py_ssize_t)trellis_corpus_tokens(corpus),
                         (Py_ssize_t)trellis_corpus_bytes(corpus));
}

static PyMethodDef corpus_methods[] = {
    {"add", corpus_add, METH_VARARGS, "add(items, labels=None, columns=None, group=0, weight=1.0)"},
    {"read", corpus_read, METH_VARARGS, "read(path, options)"},
    {"name_columns", corpus_name_columns, METH_VARARGS, "name_columns(names)"},
    {"sizes", corpus_sizes, METH_NOARGS, "Sequences, tokens and bytes."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot corpus_slots[] = {{Py_tp_new, corpus_new},
                                     {Py_tp_dealloc, corpus_dealloc},
                                     {Py_tp_methods, corpus_methods},
                                     {Py_tp_doc, "Sequences in memory."},
                                     {0, NULL}};
PyType_Spec tpy_corpus_spec = {.name = "trellis._trellis.Corpus",
                               .basicsize = sizeof(tpy_corpus),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = corpus_slots};

/* ---- training ------------------------------------------------------------------------------------- */

typedef struct observer {
    PyObject *callback;                 // or None
    PyObject *type, *value, *traceback; // the exception that ended the training, or NULL
} observer;

/* Sets a member of a dict to a number; one that is not known is left out. */
static int set_number(PyObject *dict, const char *name, double number)
{
    if (number != number) {
        return 0;
    }
    PyObject *value = PyFloat_FromDouble(number);
    int failed = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return failed;
}

static PyObject *describe(const trellis_progress *p)
{
    PyObject *dict = Py_BuildValue("{sssKsKsK}", "phase", trellis_phase_name(p->phase), "iteration",
                                   (unsigned long long)p->iteration, "max_iterations",
                                   (unsigned long long)p->max_iterations, "active_features",
                                   (unsigned long long)p->active_features);
    if (dict && p->message) {
        PyObject *message = PyUnicode_FromString(p->message);
        if (!message || PyDict_SetItemString(dict, "message", message)) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(message);
    }
    const struct {
        const char *name;
        double number;
    } numbers[] = {{"fraction", p->fraction},
                   {"objective", p->objective},
                   {"gradient_norm", p->gradient_norm},
                   {"feature_norm", p->feature_norm},
                   {"error_rate", p->error_rate},
                   {"dev_accuracy", p->dev_accuracy},
                   {"dev_f1", p->dev_f1},
                   {"likelihood", p->likelihood},
                   {"dev_likelihood", p->dev_likelihood},
                   {"seconds", p->seconds},
                   {"tokens_per_second", p->tokens_per_second}};
    for (size_t k = 0; dict && k < sizeof numbers / sizeof *numbers; k++) {
        if (set_number(dict, numbers[k].name, numbers[k].number)) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

/* Called without the interpreter lock: looks for signals, such as Ctrl-C, and calls the callback. */
static bool on_progress(void *user, const trellis_progress *progress)
{
    observer *o = user;
    bool more = true;
    PyGILState_STATE state = PyGILState_Ensure();
    if (o->type || PyErr_CheckSignals()) {
        more = false;
    } else if (o->callback != Py_None) {
        PyObject *figures = describe(progress);
        PyObject *answer = figures ? PyObject_CallFunctionObjArgs(o->callback, figures, NULL)
                                   : NULL;
        more = answer && answer != Py_False;
        Py_XDECREF(answer);
        Py_XDECREF(figures);
    }
    if (PyErr_Occurred()) {
        PyErr_Fetch(&o->type, &o->value, &o->traceback);
    }
    PyGILState_Release(state);
    return more;
}

/* A source from a path, or from a tuple (corpus, rule, group). */
static int fill_source(trellis_source *source, PyObject *object)
{
    *source = (trellis_source){.struct_size = sizeof *source};
    if (PyUnicode_Check(object)) {
        source->path = PyUnicode_AsUTF8AndSize(object, NULL);
        return source->path ? 0 : -1;
    }
    PyObject *corpus;
    int rule;
    unsigned int group;
    if (!PyArg_ParseTuple(object, "O!iI", tpy_module_types.corpus, &corpus, &rule, &group)) {
        return -1;
    }
    source->corpus = ((tpy_corpus *)corpus)->corpus;
    source->groups = (trellis_group_rule)rule;
    source->group = group;
    return 0;
}

/* Sources from a list, or NULL: with an exception, or if it is empty. */
static trellis_source *fill_sources(PyObject *tuple)
{
    size_t count = (size_t)PyTuple_Size(tuple);
    trellis_source *sources = count ? calloc(count, sizeof *sources) : NULL;
    if (count && !sources) {
        PyErr_NoMemory();
    }
    for (size_t k = 0; sources && k < count; k++) {
        if (fill_source(&sources[k], PyTuple_GetItem(tuple, (Py_ssize_t)k))) {
            free(sources);
            sources = NULL;
        }
    }
    return sources;
}

/* Marks the corpora of some sources as in use, or no longer. */
static void count_users(PyObject *tuple, int change)
{
    for (Py_ssize_t k = 0; k < PyTuple_Size(tuple); k++) {
        PyObject *source = PyTuple_GetItem(tuple, k);
        if (PyTuple_Check(source)) {
            ((tpy_corpus *)PyTuple_GetItem(source, 0))->users += change;
        }
    }
}

/* train(options, train, dev, init, templates, progress): the model, or None if there is none yet, and the
 * exception that ended the training, or None. */
PyObject *tpy_train(PyObject *module, PyObject *args, PyObject *keywords)
{
    PyObject *settings, *train, *dev, *init;
    const char *templates;
    observer o = {0};
    (void)module;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "O!O!O!OzO", &PyDict_Type, &settings, &PyTuple_Type, &train,
                          &PyTuple_Type, &dev, &init, &templates, &o.callback)) {
        return NULL;
    }
    if (init != Py_None && Py_TYPE(init) != tpy_module_types.model) {
        PyErr_SetString(PyExc_TypeError, "init must be a model");
        return NULL;
    }
    trellis_error error = {0};
    trellis_model *model = NULL;
    trellis_status status = TRELLIS_OK;
    trellis_options *options = tpy_options(settings);
    trellis_source *train_sources = options ? fill_sources(train) : NULL;
    trellis_source *dev_sources = !PyErr_Occurred() ? fill_sources(dev) : NULL;
    bool ready = !PyErr_Occurred();
    if (ready) {
        trellis_training training = {.struct_size = sizeof training,
                                     .train = train_sources,
                                     .train_count = (size_t)PyTuple_Size(train),
                                     .dev = dev_sources,
                                     .dev_count = (size_t)PyTuple_Size(dev),
                                     .from = init == Py_None ? NULL : ((tpy_model *)init)->model,
                                     .templates = templates,
                                     .progress = on_progress,
                                     .user = &o};
        count_users(train, 1);
        count_users(dev, 1);
        Py_BEGIN_ALLOW_THREADS;
        status = trellis_train(options, &training, &model, &error);
        Py_END_ALLOW_THREADS;
        count_users(train, -1);
        count_users(dev, -1);
    }
    trellis_options_destroy(options);
    free(train_sources);
    free(dev_sources);
    if (!ready) {
        return NULL;
    }
    if (status && status != TRELLIS_INTERRUPTED && !o.type) {
        return tpy_raise(status, &error, NULL);
    }
    PyErr_NormalizeException(&o.type, &o.value, &o.traceback);
    if (o.traceback) {
        PyException_SetTraceback(o.value, o.traceback);
    }
    PyObject *wrapped = Py_None;
    Py_INCREF(wrapped);
    if (model) {
        Py_DECREF(wrapped);
        wrapped = tpy_model_wrap(model);
    }
    PyObject *result = wrapped ? Py_BuildValue("(OO)", wrapped, o.value ? o.value : Py_None) : NULL;
    Py_XDECREF(wrapped);
    Py_XDECREF(o.type);
    Py_XDECREF(o.value);
    Py_XDECREF(o.traceback);
    return result;
}
