/* training.c - train(), with its progress, signals and exceptions */
#include "extension.h"

#include <stdlib.h>

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

/* The scores on the dev data: a dict of counts, with a dict {label: (gold, predicted, correct)}. */
static PyObject *describe_dev(const trellis_evaluation *dev)
{
    trellis_scores scores = {.struct_size = sizeof scores};
    trellis_row row = {.struct_size = sizeof row};
    trellis_evaluation_scores(dev, &scores);
    PyObject *labels = PyDict_New();
    for (size_t k = 0; labels && trellis_evaluation_row(dev, TRELLIS_BY_LABEL, k, &row); k++) {
        PyObject *name = tpy_str(row.name);
        PyObject *counts = Py_BuildValue("(KKK)", (unsigned long long)row.gold,
                                         (unsigned long long)row.predicted,
                                         (unsigned long long)row.correct);
        if (!name || !counts || PyDict_SetItem(labels, name, counts)) {
            Py_CLEAR(labels);
        }
        Py_XDECREF(name);
        Py_XDECREF(counts);
    }
    if (!labels) {
        return NULL;
    }
    return Py_BuildValue("{sKsKsKsKsN}", "sequences", (unsigned long long)scores.sequences,
                         "sequences_correct", (unsigned long long)scores.sequences_correct,
                         "tokens", (unsigned long long)scores.tokens, "tokens_correct",
                         (unsigned long long)scores.tokens_correct, "labels", labels);
}

static PyObject *describe(const trellis_progress *p)
{
    PyObject *dict = Py_BuildValue(
        "{sssKsKsKsKsK}", "phase", trellis_phase_name(p->phase), "iteration",
        (unsigned long long)p->iteration, "max_iterations", (unsigned long long)p->max_iterations,
        "active_features", (unsigned long long)p->active_features, "line_search_trials",
        (unsigned long long)p->line_search_trials, "features", (unsigned long long)p->features);
    if (dict && p->dev) {
        PyObject *dev = describe_dev(p->dev);
        if (!dev || PyDict_SetItemString(dict, "dev", dev)) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(dev);
    }
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
                   {"loss", p->loss},
                   {"line_search_step", p->line_search_step},
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

/* Ends the sharing of the corpora of the first `count` sources. */
static void unshare_corpora(PyObject *tuple, Py_ssize_t count)
{
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *source = PyTuple_GetItem(tuple, k);
        if (PyTuple_Check(source)) {
            tpy_lock_unshare(&((tpy_corpus *)PyTuple_GetItem(source, 0))->lock);
        }
    }
}

/* Nobody may add to the corpora of these sources, which were checked, until unshare_corpora(). */
static bool share(PyObject *tuple)
{
    for (Py_ssize_t k = 0; k < PyTuple_Size(tuple); k++) {
        PyObject *source = PyTuple_GetItem(tuple, k);
        if (PyTuple_Check(source) &&
            !tpy_lock_share(&((tpy_corpus *)PyTuple_GetItem(source, 0))->lock, "the corpus")) {
            unshare_corpora(tuple, k);
            return false;
        }
    }
    return true;
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
    bool ready = !PyErr_Occurred() && share(train);
    if (ready && !share(dev)) {
        unshare_corpora(train, PyTuple_Size(train));
        ready = false;
    }
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
        Py_BEGIN_ALLOW_THREADS;
        status = trellis_train(options, &training, &model, &error);
        Py_END_ALLOW_THREADS;
        unshare_corpora(train, PyTuple_Size(train));
        unshare_corpora(dev, PyTuple_Size(dev));
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
