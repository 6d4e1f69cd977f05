/* spans.h - the spans encoded by a sequence of labels. */
#ifndef TRELLIS_EVAL_SPANS_H
#define TRELLIS_EVAL_SPANS_H

#include "base/memory.h"
#include "base/text.h"

/* How a label is read. */
struct tr_span_label {
    char letter;   // B, I, E, S or O
    bool in_spans; // false: a label such as NN, not a part of spans
    uint32_t type; // number of the type
};

struct tr_span {
    size_t begin, end; // tokens begin .. end-1
    uint32_t type;
};

struct tr_spans {
    TR_ARRAY(struct tr_span) list;
};

/* The letter and type of a label; false where it is not a part of spans. Beside what
 * tr_label_split() knows, a bare B, I, E or S is a part of a span without a type, as in
 * conlleval. */
bool tr_span_label_read(trellis_text label, char *letter, trellis_text *type);

/* Whether a span ends between two labels or one begins at the second; that is, whether the span of
 * `before` does not continue. */
bool tr_span_cut(struct tr_span_label before, struct tr_span_label after);

/* Finds the spans of one sequence by the rules of conlleval, and where `strict` is a scheme keeps
 * only those that are legal in it. `labels` [length] are numbers into `readings`. False on
 * allocation failure. */
bool tr_spans_find(struct tr_spans *spans, const uint32_t *labels, size_t length,
                   const struct tr_span_label *readings, trellis_scheme strict);

#endif
