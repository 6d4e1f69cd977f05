/* tagger.h - the type Tagger, for the files that have its methods: tagger.c and annotate.c */
#ifndef TRELLIS_PYTHON_TAGGER_H
#define TRELLIS_PYTHON_TAGGER_H

#include "extension.h"

enum { MAX_BATCH = 64, BATCH_TOKENS = 2000 };

/* What the sequences of a batch get, one after the other. */
typedef struct answers {
    int32_t *numbers; // labels, as numbers of the model; -1: a text of its own, the next one
    size_t number_count, number_room;
    tpy_bytes texts;  // of these labels: a size_t, then the bytes
    tpy_bytes floats; // marginals
} answers;

typedef struct tpy_tagger {
    PyObject_HEAD PyObject *model;
    trellis_tagger *tagger;
    tpy_items batch[MAX_BATCH]; // the first one is the sequence tagged last
    tpy_items labels;           // given labels
    answers answers;
    size_t length; // of the sequence tagged last
    size_t label_count;
    PyObject **names;       // [label_count] of the labels, as str
    const char **name_data; // [label_count] of the labels in the model
    double token_seconds;   // what a token took last; 0: not known
    long patience;          // see interpreter_lock.c
    tpy_lock lock;
} tpy_tagger;

/* Converts and tags one sequence: its labels, or its marginals in an array by make(length), unless
 * that is NULL. The caller has the tagger's lock. NULL with an exception. */
PyObject *tpy_tagger_answer(tpy_tagger *tagger, PyObject *sequence, PyObject *columns,
                            PyObject *make);

/* Methods in annotate.c. */
PyObject *tpy_tagger_annotate(PyObject *self, PyObject *args);
PyObject *tpy_tagger_draw(PyObject *self, PyObject *args);
PyObject *tpy_tagger_sample(PyObject *self, PyObject *args);
PyObject *tpy_tagger_entropy(PyObject *self, PyObject *args);

#endif
