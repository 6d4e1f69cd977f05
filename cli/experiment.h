/* experiment.h - learns from some data, labels other data, and tells how good the labels are. */
#ifndef TRELLIS_CLI_EXPERIMENT_H
#define TRELLIS_CLI_EXPERIMENT_H

#include "arguments.h"

struct experiment {
    const trellis_options *options; // of learning, reading and running
    const char *const *train;       // [train_count] files,
    size_t train_count;
    const char *train_part;  // of which this part is learned from; "" is all
    const char *const *test; // [test_count] files,
    size_t test_count;
    const char *test_part; // of which this part is labelled; "" is all
    unsigned threads;
};

/* What came of it. */
struct figures {
    trellis_scores scores;
    double unknown_accuracy; // of words not seen in training; NaN where there are none
    double train_seconds, tag_seconds;
    uint64_t features;
};

/* Counts the labels in `evaluation` as well as in figures of its own; it may be NULL. */
trellis_status experiment_run(const struct experiment *experiment, trellis_evaluation *evaluation,
                              struct figures *ret_figures, trellis_error *error);

/* What one number says about it: F1 where the labels are spans, else the accuracy. */
double figures_score(const struct figures *figures);

/* The number of --folds, `usual` where it was not given; says what is wrong and returns EXIT_USAGE. */
int parse_folds(const struct arguments *arguments, size_t usual, size_t *ret_folds);

/* A file that is read more than once must not be standard input; says so and returns EXIT_USAGE. */
int check_files(const struct arguments *arguments, const char *const *paths, size_t count);

#endif
