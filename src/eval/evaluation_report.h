/* evaluation_report.h - the forms of a report, each in a file of its own. */
#ifndef TRELLIS_EVAL_EVALUATION_REPORT_H
#define TRELLIS_EVAL_EVALUATION_REPORT_H

#include "eval/evaluation.h"

/* A gold label that was predicted as another. */
struct tr_confusion {
    trellis_text gold, predicted;
    uint64_t count;
};
/* All such pairs, the most frequent first, to be freed; NULL on allocation failure. */
struct tr_confusion *tr_sorted_confusions(const trellis_evaluation *evaluation);

/* Whether a breakdown has rows that apply to these labels. */
bool tr_breakdown_applies(const trellis_evaluation *evaluation, trellis_breakdown breakdown);

/* Each adds to the buffer, whose `failed` is set on allocation failure. `intervals` may be NULL. */
void tr_report_details(struct tr_buffer *out, const trellis_evaluation *evaluation);
void tr_report_json(struct tr_buffer *out, const trellis_evaluation *evaluation,
                    const trellis_interval *intervals);

#endif
