/* tagging.h - labels the sequences of some files, in one thread or in several. */
#ifndef TRELLIS_CLI_TAGGING_H
#define TRELLIS_CLI_TAGGING_H

#include "arguments.h"
#include "tag_result.h"

struct tagging {
    const trellis_model *model;
    const trellis_options *options;
    const char *const *paths; // [path_count]
    size_t path_count;
    size_t nbest;               // labellings wanted of each sequence; 0 and 1 are the same
    bool marginals;             // whether the probability of each label is wanted
    bool all_marginals;         // and those of all labels that were not found
    bool likelihood;            // and that of the labels of the input
    bool log_z;                 // and that of the input itself, under an HMM
    bool known;                 // whether to tell known words,
    const trellis_words *words; // which are these, or where it is NULL those of the model
    bool check;                 // whether to tell if labels are those of an exact search
    /* Called for each sequence in the order of the input, by the thread that calls tagging_run();
     * anything but TRELLIS_OK stops. */
    trellis_status (*tagged)(void *user, const trellis_sequence *sequence,
                             const struct finding *finding, trellis_error *error);
    void *user;
};

/* Complains of costs that would be read and not used. */
int check_cost(const struct arguments *arguments);

trellis_status tagging_run(const struct tagging *tagging, unsigned threads, trellis_error *error);

#endif
