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
    size_t length;
    double log_z;        // once tr_tagger_sum_up() was called
    const double *reals; // [length][model->gaussian.columns]
};
struct tr_found tr_tagger_found(trellis_tagger *tagger);

/* Finds log Z and the marginals of the sequence at hand, unless that was done; `rank` is the labelling that is
 * asked about, which must have been found. */
trellis_status tr_tagger_sum_up(trellis_tagger *tagger, size_t rank, trellis_error *error);

/* How the labels of a model spell spans, for the probabilities of spans (span_probability.c). */
struct tr_span_rules;
trellis_status tr_span_rules_create(const trellis_model *model, struct tr_span_rules **ret_rules,
                                    trellis_error *error);
void tr_span_rules_destroy(struct tr_span_rules *rules);
/* Whether all labels of the model are about spans. */
bool tr_span_rules_apply(const struct tr_span_rules *rules);

/* The probability that positions begin .. end-1 have the labels of a path, and are a whole span where they
 * are one on that path: what stands before and behind them does not belong to it. */
trellis_status tr_span_probability(struct tr_span_rules *rules, const struct tr_found *found,
                                   const uint16_t *path, size_t begin, size_t end,
                                   double *ret_probability, trellis_error *error);

/* Marks the tokens [length] of the path whose span is less probable than that, or, where labels are not
 * about spans, whose label is. */
trellis_status tr_mark_improbable(struct tr_span_rules *rules, const struct tr_found *found,
                                  double threshold, bool *marks, trellis_error *error);

#endif
