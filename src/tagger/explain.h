/* explain.h - an explainer, for its contributions and its report. */
#ifndef TRELLIS_TAGGER_EXPLAIN_H
#define TRELLIS_TAGGER_EXPLAIN_H

#include "tagger/tagger.h"

/* An attribute of the model, or a real-valued column, at a token. */
struct tr_attribute {
    bool edge, real;
    uint32_t row;     // of its table, or the real-valued column
    double value;     // its value
    size_t text;      // where its text begins in `texts`,
    size_t text_size; // and how long it is
};

struct trellis_explainer {
    const trellis_model *model;
    trellis_tagger *tagger;
    struct tr_extractor *extractor; // which knows the texts
    bool bound;

    /* Of the current sequence. */
    size_t length;
    TR_ARRAY(size_t) begin; // [length + 1] into attributes
    /* [length][max_length of segments] + 1, into attributes; empty without segments */
    TR_ARRAY(size_t) segment_begin;
    TR_ARRAY(struct tr_attribute) attributes;
    struct tr_buffer texts;
    TR_ARRAY(float) marginals;          // [length][width]; empty where there are none
    TR_ARRAY(uint16_t) path, runner_up; // [length]
    TR_ARRAY(trellis_explanation) explanations;
    TR_ARRAY(trellis_contribution) contributions; // of all tokens, one after the other
    TR_ARRAY(trellis_text) names;                 // of steps
    TR_ARRAY(trellis_text) runner_up_labels;      // [length][length]
};

#endif
