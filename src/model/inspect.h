/* inspect.h - an inspection, for its ranking and its report. */
#ifndef TRELLIS_MODEL_INSPECT_H
#define TRELLIS_MODEL_INSPECT_H

#include "model/model.h"

/* How many there are of trellis_ranking. */
#define TR_RANKINGS (TRELLIS_TRANSITIONS_LOWEST + 1)

/* The weight of a plain step between two labels. */
struct tr_pair_weight {
    uint16_t from, to;
    double weight;
};

struct trellis_inspection {
    const trellis_model *model;
    size_t lists;               // (labels + 1) * TR_RANKINGS; the last label is the end
    size_t *begin;              // [lists + 1] into weighted
    trellis_weighted *weighted; // [begin[lists]]
    trellis_text *names;        // of the labels that `weighted` names
    TR_ARRAY(trellis_template_usage) templates;
    TR_ARRAY(struct tr_pair_weight) pairs; // sorted by from, then by to
};

#endif
