/* tag_result.h - the result of tagging a sequence: one labelling or the n best, and their
 * scores. */
#ifndef TRELLIS_CLI_TAG_RESULT_H
#define TRELLIS_CLI_TAG_RESULT_H

#include "trellis.h"

/* What was not asked for, or is not available, is NULL. */
struct tag_result {
    size_t count;                // labellings, best first
    trellis_labelled labelled;   // predicted and marginals are [count][length]; gold of the input
    const double *scores;        // [count]
    const double *probabilities; // [count], for n-best lists of models that have probabilities
    const float *all_marginals;  // [length][labels of the model]
    const trellis_span *spans;   // [span_count] of the best labelling,
    size_t span_count;
    const double *span_probabilities; // [span_count], if the model has probabilities
    bool exact;                       // if checked: exact search has no better score
};

struct tagging;
struct batch;

/* Everything but the gold labels, which belong to the sequence, is copied into `memory`. */
trellis_status tag_sequence(const struct tagging *tagging, trellis_tagger *tagger,
                            const trellis_sequence *sequence, struct batch *memory,
                            struct tag_result *ret_result, trellis_error *error);

/* TRELLIS_DATA if the sequence has no gold labels to score against. */
trellis_status require_gold(const trellis_sequence *sequence, trellis_error *error);

#endif
