/* decode.h - from a sequence to its best labels: scores, restrictions, search, and what to do where
 * no labelling is possible.
 *
 * The tagger and the scoring of dev data decode alike; they differ in where the scores come from,
 * the tables of a model or the rows of a training, so these are callbacks.
 */
#ifndef TRELLIS_LATTICE_DECODE_H
#define TRELLIS_LATTICE_DECODE_H

#include "lattice/lattice.h"

/* What one sequence needs; `user` is the caller's. */
struct tr_decode_calls {
    /* Begins the lattice and fills in the scores. */
    trellis_status (*fill)(void *user, struct tr_lattice *lattice, trellis_error *error);
    /* Restricts words of the tag dictionary to their labels; NULL: there is none. */
    trellis_status (*restrict_words)(void *user, struct tr_lattice *lattice, trellis_error *error);
    /* Restricts positions to labels that are given; NULL: none are. */
    trellis_status (*restrict_given)(void *user, struct tr_lattice *lattice, trellis_error *error);
    /* Finds the best labels; TRELLIS_DATA where there are none. */
    trellis_status (*search)(void *user, struct tr_lattice *lattice, const struct tr_steps *steps,
                             trellis_error *error);
};

struct tr_decoder {
    struct tr_lattice *lattice;
    const struct tr_graph *graph;
    const struct tr_steps *steps;
    const float *step_weights; // [graph->features] of the steps, for `generative`
    bool local;                // a locally normalised model
    bool generative;           // its weights may be minus infinity
    struct tr_steps *relaxed;  // where nothing is impossible; once they are needed
};

/* Decodes a sequence of `length`. Where no labelling is possible it is decoded again without the
 * tag dictionary, and under a generative model once more with all that is impossible made merely
 * very improbable: then *ret_impossible, and the labelling takes the fewest impossible things, and
 * is the most probable of those; decoder->relaxed are the steps it was found with. */
trellis_status tr_decode(struct tr_decoder *decoder, size_t length,
                         const struct tr_decode_calls *calls, void *user, bool *ret_impossible,
                         trellis_error *error);
/* Frees what decoding has made; the rest is the caller's. */
void tr_decoder_free(struct tr_decoder *decoder);

#endif
