/* resample.h - totals and bootstrap intervals over sequences. */
#ifndef TRELLIS_EVAL_RESAMPLE_H
#define TRELLIS_EVAL_RESAMPLE_H

#include "eval/evaluation.h"

/* The counts of some sequences together. */
struct tr_totals {
    uint64_t sequences, sequences_correct, tokens, tokens_correct;
    struct tr_tally spans;
};
void tr_totals_add(struct tr_totals *totals, const struct tr_outcome *outcome);
double tr_totals_measure(const struct tr_totals *totals, trellis_measure measure);

/* The intervals of the measures of the first, or where there is a second one, on the same
 * sequences, of what its measures exceed those of the first by. NaN without samples or
 * sequences. */
trellis_status tr_bootstrap(const trellis_evaluation *first, const trellis_evaluation *second,
                            size_t samples, trellis_interval ret_intervals[TR_MEASURES],
                            trellis_error *error);

#endif
