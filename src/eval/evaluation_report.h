/* evaluation_report.h - the forms of a report, each in a file of its own. */
#ifndef TRELLIS_EVAL_EVALUATION_REPORT_H
#define TRELLIS_EVAL_EVALUATION_REPORT_H

#include "eval/evaluation.h"

/* One kind of mistake. */
struct tr_mistake {
    trellis_text gold, predicted;
    uint64_t count;
};
/* All kinds of mistakes, the most frequent first, to be freed; NULL on allocation failure. */
struct tr_mistake *tr_sorted_mistakes(const trellis_evaluation *evaluation);

/* Whether rows of a breakdown say something about these labels. */
bool tr_breakdown_applies(const trellis_evaluation *evaluation, trellis_breakdown breakdown);

/* Each adds to the buffer, which notes on allocation failure. `intervals` is NULL where there are none. */
void tr_report_details(struct tr_buffer *out, const trellis_evaluation *evaluation);
void tr_report_json(struct tr_buffer *out, const trellis_evaluation *evaluation,
                    const trellis_interval *intervals);

#endif
