/* objective.h - the negative log-likelihood of a CRF or MEMM, and its gradient, over blocks of sequences.
 *
 *     f(w) = sum_s weight_s (-log P(Z_s | X_s)) + l2 |w|^2
 *
 *     CRF    -log P(Z | X) = log Z(X) - score(X, Z)
 *     MEMM   -log P(Z | X) = sum_i log N_i(z_{i-1}) - s_i(z_{i-1}, z_i)    (src/lattice/lattice.h)
 *
 * w here is the list of features without gaps, in double precision: node pairs, edge pairs, steps.
 */
#ifndef TRELLIS_TRAIN_OBJECTIVE_H
#define TRELLIS_TRAIN_OBJECTIVE_H

#include "optim/optim.h"
#include "train/train.h"

struct tr_likelihood;
trellis_status tr_likelihood_create(struct tr_training *training, double l2,
                                    struct tr_likelihood **ret_likelihood, trellis_error *error);
void tr_likelihood_destroy(struct tr_likelihood *likelihood);
/* The number of features. */
size_t tr_likelihood_size(const struct tr_likelihood *likelihood);
/* For tr_objective; `user` is the likelihood. */
trellis_status tr_likelihood_evaluate(void *user, const double *w, double *gradient,
                                      double *ret_value, trellis_error *error);
/* About how curved the objective is along each feature, for L-BFGS to begin with; above 0. */
trellis_status tr_likelihood_curvature(const struct tr_likelihood *likelihood, double *curvature,
                                       trellis_error *error);
/* Where it spreads w before it evaluates, [training->size]; between evaluations anybody may use it. */
float *tr_likelihood_weights(struct tr_likelihood *likelihood);
/* Features to weights [training->size] and back. */
void tr_likelihood_spread(const struct tr_likelihood *likelihood, const double *w, float *weights);
void tr_likelihood_gather(const struct tr_likelihood *likelihood, const float *weights, double *w);

/* For a sequence whose scores are in the lattice: -log P(Z | X), and in the lattice the marginals and
 * expected counts whose difference to those of Z is its gradient. Where labels are open, log Z(X) instead.
 * Steps and lattice are those of the training's graph. */
trellis_status tr_likelihood_of(const struct tr_training *training, size_t sequence,
                                const struct tr_steps *steps, struct tr_lattice *lattice,
                                double *ret_loss, trellis_error *error);

/* First weights by a few epochs of stochastic steps: a batch method that begins there needs far fewer
 * iterations. */
trellis_status tr_sgd_warm_up(struct tr_training *training, double l2, uint64_t epochs,
                              float *weights, trellis_error *error);
/* The same objective by stochastic steps. */
trellis_status tr_train_crf_sgd(struct tr_training *training, double l2, trellis_error *error);

#endif
