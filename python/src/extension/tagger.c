/* tagger.c - the type Tagger: a decoder, for one thread at a time
 *
 * Sequences are converted with the interpreter lock and tagged without it. Many of them are taken by
 * batches of about a millisecond, so that another thread converts its batch while this one is tagged.
 * What takes less time than giving the lock up and taking it again is tagged with the lock.
 */
#include "tagger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Makes a str for each label, which all answers share; leaves an exception on failure. */
static void name_labels(tpy_tagger *tagger, const trellis_model *model)
{
    tagger->names = calloc(tagger->label_count + 1, sizeof *tagger->names);
    tagger->name_data = calloc(tagger->label_count + 1, sizeof *tagger->name_data);
    if (!tagger->names || !tagger->name_data) {
        PyErr_NoMemory();
        return;
    }
    for (size_t k = 0; !PyErr_Occurred() && k < tagger->label_count; k++) {
        tagger->names[k] = tpy_str(trellis_model_label(model, k));
        tagger->name_data[k] = trellis_model_label(model, k).data;
    }
}

static PyObject *tagger_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *model, *settings, *columns;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "O!O!O", tpy_module_types.model, &model, &PyDict_Type, &settings,
                          &columns)) {
        return NULL;
    }
    tpy_tagger *self = tpy_allocate(type);
    trellis_options *options = self ? tpy_options(settings) : NULL;
    if (!options) {
        Py_XDECREF((PyObject *)self);
        return NULL;
    }
    Py_INCREF(model);
    self->model = model;
    self->labels.number = SIZE_MAX;
    const trellis_model *m = ((tpy_model *)model)->model;
    trellis_error error = {0};
    trellis_status status = trellis_tagger_create(m, options, &self->tagger, &error);
    trellis_options_destroy(options);
    if (!status && columns != Py_None && PyTuple_Size(columns) > 0) {
        size_t count;
        const char **names = tpy_names(columns, &count);
        if (names) {
            status = trellis_tagger_bind_columns(self->tagger, names, count, &error);
        }
        free(names);
    }
    self->label_count = status ? 0 : trellis_model_label_count(m);
    if (status) {
        tpy_raise(status, &error, NULL);
    } else if (!PyErr_Occurred()) {
        name_labels(self, m);
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
    free(tagger->name_data);
    free(tagger->answers.numbers);
    free(tagger->answers.texts.at);
    free(tagger->answers.floats.at);
    for (size_t k = 0; k < MAX_BATCH; k++) {
        tpy_items_free(&tagger->batch[k]);
    }
    tpy_items_free(&tagger->labels);
    Py_XDECREF(tagger->model);
    tpy_free(self);
}

/* ---- without the interpreter lock ------------------------------------------------------------------ */

static void clear_answers(answers *a)
{
    a->number_count = a->texts.size = a->floats.size = 0;
}

static trellis_status add_number(answers *a, int32_t number)
{
    if (a->number_count == a->number_room) {
        size_t room = a->number_room ? 2 * a->number_room : 4096;
        int32_t *numbers = realloc(a->numbers, room * sizeof *numbers);
        if (!numbers) {
            return TRELLIS_MEMORY;
        }
        a->numbers = numbers;
        a->number_room = room;
    }
    a->numbers[a->number_count++] = number;
    return TRELLIS_OK;
}

/* With --train-scheme, the labels inside the model are not those of the output. */
static trellis_status add_label(tpy_tagger *tagger, int32_t number, trellis_text label)
{
    answers *a = &tagger->answers;
    if (number >= 0 && (size_t)number < tagger->label_count &&
        tagger->name_data[number] == label.data) {
        return add_number(a, number);
    }
    trellis_status status = add_number(a, -1);
    if (!status) {
        status = tpy_collect(&a->texts, (const char *)&label.size, sizeof label.size);
    }
    return status ? status : tpy_collect(&a->texts, label.data, label.size);
}

/* The labels of a rank of the sequence tagged last. */
static trellis_status add_labels(tpy_tagger *tagger, size_t length, size_t rank,
                                 const trellis_text *labels)
{
    const int32_t *numbers = trellis_tagger_nth_numbers(tagger->tagger, rank);
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < length; i++) {
        status = add_label(tagger, numbers ? numbers[i] : -1, labels[i]);
    }
    return status;
}

static trellis_status add_marginals(tpy_tagger *tagger, size_t length, trellis_error *error)
{
    const float *marginals = NULL;
    trellis_status status = trellis_tagger_marginals(tagger->tagger, &marginals, error);
    size_t size = length * tagger->label_count * sizeof *marginals;
    return status ? status : tpy_collect(&tagger->answers.floats, (const char *)marginals, size);
}

/* Tags the sequences of a batch: labels, or marginals instead. Stops at the first that fails. */
static trellis_status tag_batch(tpy_tagger *tagger, size_t count, bool marginals,
                                size_t *ret_failed, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    clear_answers(&tagger->answers);
    for (size_t k = 0; !status && k < count; k++) {
        const trellis_sequence *sequence = &tagger->batch[k].sequence;
        const trellis_text *labels = NULL;
        if (sequence->length) {
            *ret_failed = k;
            status = trellis_tagger_tag(tagger->tagger, sequence, &labels, error);
            status = status      ? status
                     : marginals ? add_marginals(tagger, sequence->length, error)
                                 : add_labels(tagger, sequence->length, 0, labels);
        }
    }
    return status;
}

/* ---- with it ---------------------------------------------------------------------------------------- */

/* Where the answers of the next sequence of a batch begin. */
typedef struct place {
    size_t number, text, byte;
} place;

static PyObject *take_text(const tpy_bytes *texts, size_t *at)
{
    size_t size;
    memcpy(&size, texts->at + *at, sizeof size);
    const char *data = texts->at + *at + sizeof size;
    *at += sizeof size + size;
    return tpy_str((trellis_text){data, size});
}

/* The next labels as a list. */
static PyObject *take_labels(const tpy_tagger *tagger, size_t length, place *at)
{
    const answers *a = &tagger->answers;
    PyObject *list = PyList_New((Py_ssize_t)length);
    for (size_t i = 0; list && i < length; i++) {
        int32_t number = a->numbers[at->number++];
        PyObject *label = number < 0 ? take_text(&a->texts, &at->text) : tagger->names[number];
        if (number >= 0) {
            Py_INCREF(label);
        }
        if (!label || PyList_SetItem(list, (Py_ssize_t)i, label)) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* The next marginals: what make(length) returns, an array of floats [length][labels], filled. */
static PyObject *take_marginals(const tpy_tagger *tagger, PyObject *make, size_t length, place *at)
{
    tpy_buffer view;
    size_t size = length * tagger->label_count * sizeof(float);
    PyObject *array = PyObject_CallFunction(make, "n", (Py_ssize_t)length);
    if (!array || size == 0) {
        return array;
    }
    if (PyObject_GetBuffer(array, &view, TPY_CONTIGUOUS | TPY_WRITABLE)) {
        Py_DECREF(array);
        return NULL;
    }
    bool fits = (size_t)view.len == size;
    if (fits) {
        memcpy(view.buf, tagger->answers.floats.at + at->byte, size);
    } else {
        PyErr_SetString(PyExc_ValueError, "the array for marginals has another size");
        Py_CLEAR(array);
    }
    PyBuffer_Release(&view);
    at->byte += size;
    return array;
}

/* Raises why a sequence could not be tagged; `number` is SIZE_MAX if it has none. */
static void raise_for(trellis_status status, const trellis_error *error, size_t number)
{
    trellis_error numbered = *error;
    if (number != SIZE_MAX && error->message[0]) {
        snprintf(numbered.message, sizeof numbered.message, "sequence %zu: %.900s", number,
                 error->message);
    }
    tpy_raise(status, &numbered, NULL);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* tag_batch(), without the interpreter lock if it takes long enough. */
static trellis_status tag_unlocked(tpy_tagger *tagger, size_t count, bool marginals,
                                   size_t *ret_failed, trellis_error *error)
{
    static const double worthwhile = 2e-6;
    size_t tokens = 0;
    trellis_status status;
    for (size_t k = 0; k < count; k++) {
        tokens += tagger->batch[k].sequence.length;
    }
    double estimate = tagger->token_seconds * (double)tokens, began = now();
    if (estimate > 0 && estimate < worthwhile) {
        status = tag_batch(tagger, count, marginals, ret_failed, error);
    } else {
        PyThreadState *state = tpy_unlock();
        status = tag_batch(tagger, count, marginals, ret_failed, error);
        tpy_relock(state, &tagger->patience);
    }
    tagger->token_seconds = tokens ? (now() - began) / (double)tokens : 0;
    return status;
}

/* Labels, or marginals where there is a function that makes their arrays: else NULL. */
static PyObject *maker(PyObject *make)
{
    return make == Py_None ? NULL : make;
}

/* Tags the sequences of a batch and appends what they get to a list; -1 with an exception. */
static int answer_batch(tpy_tagger *tagger, size_t count, PyObject *make, PyObject *list)
{
    trellis_error error = {0};
    size_t failed = 0;
    place at = {0};
    trellis_status status = tag_unlocked(tagger, count, make, &failed, &error);
    if (status) {
        raise_for(status, &error, tagger->batch[failed].number);
        return -1;
    }
    int bad = 0;
    for (size_t k = 0; !bad && k < count; k++) {
        size_t length = tagger->batch[k].sequence.length;
        PyObject *answer = make ? take_marginals(tagger, make, length, &at)
                                : take_labels(tagger, length, &at);
        bad = !answer || PyList_Append(list, answer);
        Py_XDECREF(answer);
    }
    return bad ? -1 : 0;
}

/* Converts sequences until a batch is full or there are no more; the number of them, or -1. */
static Py_ssize_t fill_batch(tpy_tagger *tagger, PyObject *iterator, PyObject *columns,
                             size_t first)
{
    size_t count = 0, tokens = 0;
    int failed = 0;
    PyObject *sequence;
    while (!failed && count < MAX_BATCH && tokens < BATCH_TOKENS &&
           (sequence = PyIter_Next(iterator))) {
        tpy_items *items = &tagger->batch[count++];
        items->number = first + count - 1;
        failed = tpy_items_convert(items, sequence, Py_None, columns);
        tokens += items->sequence.length;
        Py_DECREF(sequence);
    }
    return failed || PyErr_Occurred() ? -1 : (Py_ssize_t)count;
}

/* tag_many(sequences, columns, make): a list of lists of labels, or of marginals. */
static PyObject *tagger_tag_many(PyObject *self, PyObject *args)
{
    PyObject *sequences, *columns, *make;
    tpy_tagger *tagger = (tpy_tagger *)self;
    if (!PyArg_ParseTuple(args, "OOO", &sequences, &columns, &make)) {
        return NULL;
    }
    PyObject *iterator = PyObject_GetIter(sequences);
    PyObject *list = iterator ? PyList_New(0) : NULL;
    if (!list || !tpy_lock_take(&tagger->lock, "the tagger")) {
        Py_XDECREF(iterator);
        Py_XDECREF(list);
        return NULL;
    }
    size_t done = 0;
    Py_ssize_t count;
    while ((count = fill_batch(tagger, iterator, columns, done)) > 0) {
        count = answer_batch(tagger, (size_t)count, maker(make), list) ? -1 : count;
        if (count < 0) {
            break;
        }
        done += (size_t)count;
    }
    tagger->length = 0;
    tpy_lock_give(&tagger->lock);
    Py_DECREF(iterator);
    if (count < 0) {
        Py_CLEAR(list);
    }
    return list;
}

PyObject *tpy_tagger_answer(tpy_tagger *tagger, PyObject *sequence, PyObject *columns,
                            PyObject *make)
{
    PyObject *list = PyList_New(0), *answer = NULL;
    tagger->batch[0].number = SIZE_MAX;
    if (list && !tpy_items_convert(&tagger->batch[0], sequence, Py_None, columns) &&
        !answer_batch(tagger, 1, make, list)) {
        answer = PyList_GetItem(list, 0);
        Py_XINCREF(answer);
    }
    Py_XDECREF(list);
    tagger->length = answer ? tagger->batch[0].sequence.length : 0;
    return answer;
}

/* tag(items, columns, make): the labels, or the marginals. */
static PyObject *tagger_tag(PyObject *self, PyObject *args)
{
    PyObject *sequence, *columns = Py_None, *make = Py_None;
    tpy_tagger *tagger = (tpy_tagger *)self;
    if (!PyArg_ParseTuple(args, "O|OO", &sequence, &columns, &make) ||
        !tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    PyObject *answer = tpy_tagger_answer(tagger, sequence, columns, maker(make));
    tpy_lock_give(&tagger->lock);
    return answer;
}

/* A labelling as (labels, score, probability or None). */
static PyObject *describe_rank(tpy_tagger *tagger, size_t rank)
{
    size_t length = tagger->batch[0].sequence.length;
    place at = {0};
    const trellis_text *texts = trellis_tagger_nth_labels(tagger->tagger, rank);
    clear_answers(&tagger->answers);
    if (!texts || add_labels(tagger, length, rank, texts)) {
        return PyErr_NoMemory();
    }
    PyObject *labels = take_labels(tagger, length, &at);
    double p = trellis_tagger_nth_probability(tagger->tagger, rank);
    double score = trellis_tagger_nth_score(tagger->tagger, rank);
    if (!labels) {
        return NULL;
    }
    return p == p ? Py_BuildValue("(Ndd)", labels, score, p)
                  : Py_BuildValue("(NdO)", labels, score, Py_None);
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
    if (!tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    tpy_items *items = &tagger->batch[0];
    items->number = SIZE_MAX;
    if (!tpy_items_convert(items, sequence, Py_None, columns)) {
        trellis_error error = {0};
        trellis_status status = TRELLIS_OK;
        size_t count = 0;
        if (items->sequence.length) {
            Py_BEGIN_ALLOW_THREADS;
            status = trellis_tagger_nbest(tagger->tagger, &items->sequence, (size_t)n, &count,
                                          &error);
            Py_END_ALLOW_THREADS;
        }
        result = status ? tpy_raise(status, &error, NULL) : PyList_New(0);
        for (size_t rank = 0; result && rank < count; rank++) {
            PyObject *row = describe_rank(tagger, rank);
            if (!row || PyList_Append(result, row)) {
                Py_CLEAR(result);
            }
            Py_XDECREF(row);
        }
    }
    tagger->length = result ? items->sequence.length : 0;
    tpy_lock_give(&tagger->lock);
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
    if (!tpy_lock_take(&tagger->lock, "the tagger")) {
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
    tpy_lock_give(&tagger->lock);
    if (failed) {
        return NULL;
    }
    return status ? tpy_raise(status, &error, NULL) : PyFloat_FromDouble(p);
}

static PyObject *tagger_score(PyObject *self, PyObject *unused)
{
    tpy_tagger *tagger = (tpy_tagger *)self;
    (void)unused;
    if (!tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    double score = tagger->length ? trellis_tagger_score(tagger->tagger) : 0;
    tpy_lock_give(&tagger->lock);
    return PyFloat_FromDouble(score);
}

/* The marginals of the sequence tagged last, as a bytearray. */
static PyObject *tagger_last_marginals(PyObject *self, PyObject *unused)
{
    tpy_tagger *tagger = (tpy_tagger *)self;
    const float *marginals = NULL;
    trellis_error error = {0};
    (void)unused;
    if (!tpy_lock_take(&tagger->lock, "the tagger")) {
        return NULL;
    }
    trellis_status status = TRELLIS_OK;
    if (tagger->length) {
        Py_BEGIN_ALLOW_THREADS;
        status = trellis_tagger_marginals(tagger->tagger, &marginals, &error);
        Py_END_ALLOW_THREADS;
    }
    size_t size = tagger->length * tagger->label_count * sizeof *marginals;
    PyObject *result = status ? tpy_raise(status, &error, NULL)
                              : PyByteArray_FromStringAndSize((const char *)marginals,
                                                              (Py_ssize_t)size);
    tpy_lock_give(&tagger->lock);
    return result;
}

static PyMethodDef tagger_methods[] = {
    {"tag", tagger_tag, METH_VARARGS, "tag(items, columns=None, make=None)"},
    {"tag_many", tagger_tag_many, METH_VARARGS, "tag_many(sequences, columns, make)"},
    {"nbest", tagger_nbest, METH_VARARGS, "nbest(items, n, columns=None)"},
    {"log_probability", tagger_log_probability, METH_O, "Of labels for the sequence tagged last."},
    {"last_marginals", tagger_last_marginals, METH_NOARGS, "Of the sequence tagged last."},
    {"score", tagger_score, METH_NOARGS, "The score of the last prediction."},
    {"annotate", tpy_tagger_annotate, METH_VARARGS, "annotate(items, columns)"},
    {"draw", tpy_tagger_draw, METH_VARARGS, "draw(items, columns, max_labels): SVG, in bytes"},
    {"sample", tpy_tagger_sample, METH_VARARGS, "sample(items, columns, seed, count)"},
    {"entropy", tpy_tagger_entropy, METH_VARARGS, "entropy(items, columns), in nats"},
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
