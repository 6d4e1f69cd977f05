/* tagger.h - what explanations and pictures see of a tagger. */
#ifndef TRELLIS_TAGGER_TAGGER_H
#define TRELLIS_TAGGER_TAGGER_H

#include "model/model.h"

/* What the last search left behind, until the next one. */
struct tr_found {
    const trellis_model *model;
    struct tr_lattice *lattice; // with the scores of the sequence
    const struct tr_steps *steps;
    const struct tr_graph *graph;
    const uint16_t *path; // [length] the best labels; NULL where none were found
};
struct tr_found tr_tagger_found(trellis_tagger *tagger);

/* Finds the marginals of the sequence at hand, unless that was done. */
trellis_status tr_tagger_sum_up(trellis_tagger *tagger, trellis_error *error);

#endif
