/* likelihood.h - the negative log-likelihood of a CRF or MEMM and its gradient: the sum over the
 * data.
 *
 *     f(w) = sum_s weight_s (-log P(Z_s | X_s))
 *
 *     CRF    -log P(Z | X) = log Z(X) - score(X, Z)
 *     MEMM   -log P(Z | X) = sum_i log N_i(z_{i-1}) - s_i(z_{i-1}, z_i)    (src/lattice/lattice.h)
 *
 * Penalties are not part of it (objective.h). w is the list of features without gaps, in double
 * precision: node pairs, edge pairs, transitions.
 */
#ifndef TRELLIS_TRAIN_LIKELIHOOD_H
#define TRELLIS_TRAIN_LIKELIHOOD_H

#include "train/pass.h"

struct tr_likelihood {
    struct tr_training *training;
    size_t node, edge, size; // features: node pairs, edge pairs, all
    struct tr_iterate at;    // where it is summed: w spread for scoring
    struct tr_pass *pass;
    struct tr_steps *steps;     // of the pass
    double *observed_steps;     // [step_size] weighted counts in the gold labels
    double *gradient;           // [size] where the blocks are added up
    struct tr_bundles *bundles; // of the training data; NULL: none
};

trellis_status tr_likelihood_create(struct tr_training *training,
                                    struct tr_likelihood **ret_likelihood, trellis_error *error);
/* Prepares for many sums: bundles the attributes of the training data, where that pays. Unless they
 * are to stay, the attributes of the tokens are then forgotten: nothing else reads them. */
trellis_status tr_likelihood_bundle(struct tr_likelihood *likelihood, bool stay,
                                    trellis_error *error);
void tr_likelihood_destroy(struct tr_likelihood *likelihood);
/* gradient = df/dw at likelihood->at, and *ret_value = f there; infinite where scores overflow. */
trellis_status tr_likelihood_sum(struct tr_likelihood *likelihood, double *gradient,
                                 double *ret_value, trellis_error *error);
/* About how curved f is along each feature, for L-BFGS to begin with; above 0. */
trellis_status tr_likelihood_curvature(const struct tr_likelihood *likelihood, double *curvature,
                                       trellis_error *error);

/* For a sequence whose scores are in the lattice: -log P(Z | X), and in the lattice the marginals
 * and expected counts whose difference to those of Z is its gradient. Where labels are partial, log
 * Z(X) instead. Steps and lattice are those of the training's graph. */
trellis_status tr_likelihood_of(const struct tr_training *training, size_t sequence,
                                const struct tr_steps *steps, struct tr_lattice *lattice,
                                double *ret_loss, trellis_error *error);

#endif
