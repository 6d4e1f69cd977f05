/* em.h - hidden Markov models without labels, by expectation-maximisation. */
#ifndef TRELLIS_TRAIN_EM_H
#define TRELLIS_TRAIN_EM_H

#include "train/train.h"

/* -t hmm with -a em or -a viterbi. */
trellis_status tr_train_em(struct tr_training *training, trellis_error *error);

/* The two steps, for the learner and for tests. */
struct tr_em;
trellis_status tr_em_create(struct tr_training *training, struct tr_em **ret_em,
                            trellis_error *error);
void tr_em_destroy(struct tr_em *em);
/* First weights: of --from, of the labels that are known, or random ones. */
trellis_status tr_em_begin(struct tr_em *em, trellis_error *error);
/* The E-step: expected counts under the weights at hand, and what never falls from one E-step to the next:
 * log P(X) (of the best paths for -a viterbi) + log of the prior that --alpha is. */
trellis_status tr_em_expect(struct tr_em *em, double *ret_likelihood, double *ret_value,
                            trellis_error *error);
/* The M-step: the weights that are best for these counts. */
trellis_status tr_em_maximise(struct tr_em *em, trellis_error *error);
/* The weights [training->size], and the expected counts of the last E-step, laid out like them. */
const float *tr_em_weights(const struct tr_em *em);
const double *tr_em_counts(const struct tr_em *em);

#endif
