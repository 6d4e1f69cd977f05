/* tagging.h - tags the sequences of some files, in one thread or in several. */
#ifndef TRELLIS_CLI_TAGGING_H
#define TRELLIS_CLI_TAGGING_H

#include "arguments.h"
#include "tag_result.h"

struct tagging {
    const trellis_model *model;
    struct chain *chain; // models that run before it; NULL: there are none
    const trellis_options *options;
    const char *const *paths; // [path_count]
    size_t path_count;
    size_t nbest;               // labellings of each sequence; 0 and 1 are the same
    bool marginals;             // compute the probability of each predicted label
    bool all_marginals;         // and of all other labels
    bool spans;                 // find the spans of the best labelling, and their probabilities
    bool likelihood;            // and of the gold labels
    bool log_z;                 // and of the input itself, under an HMM
    bool known;                 // mark in-vocabulary words,
    const trellis_words *words; // of this vocabulary, or if NULL that of the model
    bool check;                 // compare with exact search
    /* Called for each sequence in the order of the input, by one thread at a time; any status other
     * than TRELLIS_OK stops. */
    trellis_status (*tagged)(void *user, const trellis_sequence *sequence,
                             const struct tag_result *result, trellis_error *error);
    void *user;
    /* NULL, or what several threads call in place of `tagged`: each makes text of what it has
     * tagged, and the text is written in the order of the input. */
    const struct formatter *formatter;
};

/* Each thread has a context of its own. */
struct formatter {
    /* Called before the threads start. The context writes to a sink with the `batch` that it was
     * last given. */
    trellis_status (*create)(void *user, void **ret_context, trellis_error *error);
    trellis_status (*format)(void *context, struct batch *batch, const trellis_sequence *sequence,
                             const struct tag_result *result, trellis_error *error);
    /* No more sequences are added to the batch. */
    trellis_status (*finish)(void *context, struct batch *batch, trellis_error *error);
    /* Called after the threads have ended. */
    void (*destroy)(void *user, void *context);
    trellis_status (*write)(void *user, const char *data, size_t size);
};

/* Rejects --cost without --decode risk, which would ignore it. */
int check_cost(const struct arguments *arguments);

/* Opens a file, through the models that run before. Close with close_input(). */
trellis_status open_input(const struct tagging *tagging, const char *path,
                          trellis_reader **ret_reader, trellis_error *error);
void close_input(const struct tagging *tagging, trellis_reader *reader);
/* Checks the first sequence of a file; with a chain that was done when it was opened. */
trellis_status check_first(const struct tagging *tagging, const char *path,
                           const trellis_sequence *sequence, trellis_error *error);

trellis_status tagging_run(const struct tagging *tagging, unsigned threads, trellis_error *error);

#endif
