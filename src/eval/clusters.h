/* clusters.h - agreement of states learned without labels with gold labels. */
#ifndef TRELLIS_EVAL_CLUSTERS_H
#define TRELLIS_EVAL_CLUSTERS_H

#include "eval/evaluation.h"

/* How often each state was predicted for each label, without those that never occur. */
struct tr_contingency {
    size_t states, labels;
    uint32_t *state, *label; // [states], [labels] their numbers in the evaluation
    uint64_t *count;         // [states][labels]
    uint64_t *state_count;   // [states]
    uint64_t *label_count;   // [labels]
    uint64_t tokens;
};
trellis_status tr_contingency_make(const trellis_evaluation *evaluation,
                                   struct tr_contingency *ret_table, trellis_error *error);
void tr_contingency_free(struct tr_contingency *table);

/* The most frequent label of a state, as an index of the table; the first of equal ones. */
size_t tr_contingency_majority(const struct tr_contingency *table, size_t state);

/* The assignment of states to labels, no label to two states, with the most tokens: label_of
 * [states], SIZE_MAX for states without a label; and the number of these tokens. */
trellis_status tr_contingency_assign(const struct tr_contingency *table, size_t *label_of,
                                     uint64_t *ret_tokens, trellis_error *error);

trellis_cluster_scores tr_contingency_scores(const struct tr_contingency *table,
                                             uint64_t assigned_tokens);

/* The two reports of --clusters. */
trellis_status tr_clusters_report(const trellis_evaluation *evaluation, bool json,
                                  struct tr_buffer *out, trellis_error *error);

#endif
