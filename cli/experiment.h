/* experiment.h - trains on some data, tags other data and scores the predictions. */
#ifndef TRELLIS_CLI_EXPERIMENT_H
#define TRELLIS_CLI_EXPERIMENT_H

#include "arguments.h"

struct experiment {
    const trellis_options *options; // of training, reading and running
    const char *const *train;       // [train_count] files,
    size_t train_count;
    const char *train_part;  // the part of it to train on; "" is all
    const char *const *test; // [test_count] files,
    size_t test_count;
    const char *test_part; // the part of it to tag; "" is all
    unsigned threads;
};

/* The results. */
struct figures {
    trellis_scores scores;
    double oov_accuracy; // of words not seen in training; NaN if there are none
    double train_seconds, tag_seconds;
    uint64_t features;
    char type[32], algorithm[32], templates[256]; // what the model was trained with
};

/* The predictions are also added to `evaluation`, which may be NULL. */
trellis_status experiment_run(const struct experiment *experiment, trellis_evaluation *evaluation,
                              struct figures *ret_figures, trellis_error *error);

/* The main score: F1 for span labels, otherwise accuracy. */
double figures_score(const struct figures *figures);

/* The number of --folds. Prints an error and returns EXIT_USAGE if it is not valid. */
int parse_folds(const struct arguments *arguments, size_t default_folds, size_t *ret_folds);

/* Prints an error and returns EXIT_USAGE if a path is standard input, which cannot be read
 * twice. */
int check_files(const struct arguments *arguments, const char *const *paths, size_t count);

#endif
