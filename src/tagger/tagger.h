/* tagger.h - the result of tagging, as explanations and pictures see it. */
#ifndef TRELLIS_TAGGER_TAGGER_H
#define TRELLIS_TAGGER_TAGGER_H

#include "model/model.h"

/* The result of tagging a sequence, valid until the next one is tagged. */
struct tr_tagging_result {
    const trellis_model *model;
    struct tr_lattice *lattice; // with the scores of the sequence
    const struct tr_steps *steps;
    const struct tr_graph *graph;
    const uint16_t *path; // [length] the best labels; NULL where there are none
    size_t length;
    double log_z;        // after tr_tagger_compute_marginals()
    const double *reals; // [length][model->gaussian.columns]
};
struct tr_tagging_result tr_tagger_result(trellis_tagger *tagger);

/* Computes log Z and the marginals of the last sequence, unless that was done. `rank` is the number
 * of a labelling, which must exist. */
trellis_status tr_tagger_compute_marginals(trellis_tagger *tagger, size_t rank,
                                           trellis_error *error);

/* How the labels of a model are read as parts of spans (span_probability.c). */
struct tr_span_rules;
trellis_status tr_span_rules_create(const trellis_model *model, struct tr_span_rules **ret_rules,
                                    trellis_error *error);
void tr_span_rules_destroy(struct tr_span_rules *rules);
/* Whether all labels of the model can be read as parts of spans. */
bool tr_span_rules_apply(const struct tr_span_rules *rules);

/* The probability that positions begin .. end-1 have the labels of result->path and, where these
 * are a span on that path, that the span does not extend further to either side. */
trellis_status tr_span_probability(struct tr_span_rules *rules,
                                   const struct tr_tagging_result *result, size_t begin, size_t end,
                                   double *ret_probability, trellis_error *error);

/* Marks the tokens [length] of the path whose span, or label where labels are not parts of spans,
 * has a probability below the threshold. */
trellis_status tr_mark_improbable(struct tr_span_rules *rules,
                                  const struct tr_tagging_result *result, double threshold,
                                  bool *marks, trellis_error *error);

#endif
