/* foreign_strings.h - what the models of CRF++ and Wapiti have in common.
 *
 * Both store their templates and, for each string that those made of the training data, a weight
 * for each label or for each pair of labels. Pair (a, b) is number a * labels + b of a string's
 * weights.
 */
#ifndef TRELLIS_MODEL_FOREIGN_STRINGS_H
#define TRELLIS_MODEL_FOREIGN_STRINGS_H

#include "model/foreign.h"

struct tr_string_part {
    struct tr_attribute_index index;
    TR_ARRAY(uint64_t) begin; // [attributes] into the arrays below
    TR_ARRAY(uint32_t) outcome;
    TR_ARRAY(float) weights;
};

/* A weight of a transition, from an edge template that sees nothing. */
struct tr_string_step {
    uint32_t pair; // a * labels + b
    float weight;
};

struct tr_string_model {
    const struct tr_foreign_format *format;
    const char *path; // for messages, or NULL
    trellis_error *error;
    bool local; // normalised locally
    bool cells; // strings come from the input, not from templates
    struct tr_intern labels;
    struct tr_buffer source;           // templates, after the line that says they make strings
    TR_ARRAY(trellis_text) plain;      // edge templates that see nothing
    TR_ARRAY(trellis_text) beginnings; // of the other edge templates
    struct tr_string_part node, edge;
    TR_ARRAY(struct tr_string_step) steps;
    uint32_t times; // how often the string that is being read stands among `plain`
    bool kept;      // whether it can be made by another edge template
};

trellis_status tr_string_damaged(const struct tr_string_model *model, const char *what);

/* Labels, then templates, then strings. */
trellis_status tr_string_add_label(struct tr_string_model *model, trellis_text label);
/* Templates that begin with B, b or * see pairs of labels. Texts must outlive the model. */
trellis_status tr_string_add_template(struct tr_string_model *model, trellis_text text);
/* Begins a string; its weights follow, by ascending numbers. */
trellis_status tr_string_begin(struct tr_string_model *model, bool edge, trellis_text text);
trellis_status tr_string_weight(struct tr_string_model *model, bool edge, uint64_t number,
                                double weight);

trellis_status tr_string_build(struct tr_string_model *model, trellis_model **ret_model);
void tr_string_free(struct tr_string_model *model);

#endif
