/* evaluation.h - what an evaluation has counted, shared by the counting and the report. */
#ifndef TRELLIS_EVAL_EVALUATION_H
#define TRELLIS_EVAL_EVALUATION_H

#include "base/intern.h"
#include "eval/spans.h"

/* In the gold labels, in the labels found, and in both at the same place. */
struct tr_tally {
    uint64_t gold, found, right;
};

struct trellis_evaluation {
    trellis_scheme strict; // spans must be legal in it; TRELLIS_NO_SCHEME: conlleval's reading
    bool clusters;         // --clusters: what is found are states, and the report says so
    bool has_spans;        // every gold label so far can be read as a part of spans
    struct tr_tally sequences, tokens, spans;

    struct tr_intern labels;
    TR_ARRAY(struct tr_span_label) readings; // [labels] how each is read
    TR_ARRAY(struct tr_tally) by_label;      // [labels] of tokens
    struct tr_intern types;
    TR_ARRAY(struct tr_tally) by_type; // [types] of spans
    struct tr_intern mistakes;         // (gold, found) of the tokens that are wrong, 4 bytes each
    TR_ARRAY(uint64_t) mistake_counts; // [mistakes]

    /* Of the sequence at hand. */
    TR_ARRAY(uint32_t) gold, found; // [length] numbers of labels
    struct tr_spans gold_spans, found_spans;
};

/* Shares from 0 to 1; 0 where there is nothing to share. */
struct tr_rates {
    double precision, recall, f1;
};
double tr_ratio(uint64_t part, uint64_t whole);
struct tr_rates tr_rates(struct tr_tally tally);

#endif
