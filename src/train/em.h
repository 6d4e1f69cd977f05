/* em.h - hidden Markov models without labels, by expectation-maximisation. */
#ifndef TRELLIS_TRAIN_EM_H
#define TRELLIS_TRAIN_EM_H

#include "train/pass.h"
#include "train/train.h"

struct tr_em {
    struct tr_training *training;
    bool hard;
    bool counting; // sums are wanted, not only the likelihood
    double alpha;
    double weighted_tokens; // of the training data
    struct tr_pass *pass;
    const struct tr_dataset *data; // of the current pass
    struct tr_iterate now;
    double *counts, *w; // [now.size] expected counts, and exact weights
    double *moments;    // [moment_count] of real-valued columns
    size_t moment_count;
};

/* Hard EM takes the best path in the place of all paths. */
trellis_status tr_em_create(struct tr_training *training, bool hard, struct tr_em **ret_em,
                            trellis_error *error);
void tr_em_destroy(struct tr_em *em);

/* Whether the initial weights are random. */
bool tr_em_starts_at_random(const struct tr_em *em);
/* Initial weights: of --from, of the known labels, or random ones. */
trellis_status tr_em_begin(struct tr_em *em, trellis_error *error);

/* The E-step: expected counts under the current weights, and what never falls from one E-step to
 * the next: log P(X) (of the best paths for -a viterbi) + log of the prior that --alpha is. */
trellis_status tr_em_expect(struct tr_em *em, double *ret_likelihood, double *ret_value,
                            trellis_error *error);
/* The M-step: the weights that are best for these counts. */
trellis_status tr_em_maximise(struct tr_em *em, trellis_error *error);

/* Their parts: one pass over some data, which fills the counts where `counting`, ... */
trellis_status tr_em_pass(struct tr_em *em, const struct tr_dataset *data, bool counting,
                          double *ret_value, trellis_error *error);
/* ... and weights from counts with this much smoothing. */
trellis_status tr_em_estimate(struct tr_em *em, double alpha, trellis_error *error);

/* Tokens, those of each sequence times its weight; above 0. */
double tr_tokens_by_weight(const struct tr_dataset *data);

#endif
