/* tag_result.h - what was found for a sequence: one labelling or several, and how good they are. */
#ifndef TRELLIS_CLI_TAG_RESULT_H
#define TRELLIS_CLI_TAG_RESULT_H

#include "trellis.h"

struct finding {
    size_t count;                // labellings, best first
    const trellis_text *labels;  // [count][length]
    const double *scores;        // [count]
    const double *probabilities; // [count], NULL unless there are several and the model has any
    const float *marginals;      // [count][length], NULL unless asked for
    const float *all_marginals;  // [length][labels of the model], NULL unless asked for
    const bool *known;           // [length], NULL unless asked for and known
    const double *likelihood;    // log P of the labels of the input, NULL unless asked for
    const double *log_z;         // under an HMM, log P of the input; NULL unless asked for
    bool exact;                  // where that is checked: nothing better was to be found
};

struct tagging;
struct batch;

/* Everything is copied into `memory`. */
trellis_status find_labels(const struct tagging *tagging, trellis_tagger *tagger,
                           const trellis_sequence *sequence, struct batch *memory,
                           struct finding *ret_finding, trellis_error *error);

/* What was found beside the labels of the input; TRELLIS_DATA where it has none. */
trellis_status compare_finding(const trellis_sequence *sequence, const struct finding *finding,
                               trellis_labelled *ret_labelled, trellis_error *error);

#endif
