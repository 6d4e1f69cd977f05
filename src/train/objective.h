/* objective.h - what a CRF or MEMM minimises: the likelihood of the data plus a penalty.
 *
 *     F(w) = f(w) + l2 |w|^2         f: likelihood.h; l1 is the optimiser's (optim/optim.h)
 *
 * The penalty is not a sum over data: where the data is spread over several machines, f and its
 * gradient are summed over them, and the penalty is added once.
 */
#ifndef TRELLIS_TRAIN_OBJECTIVE_H
#define TRELLIS_TRAIN_OBJECTIVE_H

#include "optim/optim.h"
#include "train/likelihood.h"

struct tr_crf_objective {
    struct tr_likelihood *likelihood;
    double l2;
};

/* For tr_objective; `user` is a tr_crf_objective. */
trellis_status tr_crf_evaluate(void *user, const double *w, double *gradient, double *ret_value,
                               trellis_error *error);
/* Features w [likelihood->size] to weights [layout.size] for scoring, and back. */
void tr_features_to_weights(const struct tr_likelihood *likelihood, const double *w,
                            float *weights);
void tr_weights_to_features(const struct tr_likelihood *likelihood, const float *weights,
                            double *w);

/* Initial weights by a few epochs of stochastic steps: a batch method that begins there needs far
 * fewer iterations. */
trellis_status tr_sgd_warm_up(struct tr_training *training, double l2, uint64_t epochs,
                              float *weights, trellis_error *error);
/* The same objective by stochastic steps. */
trellis_status tr_sgd_minimise(struct tr_training *training, double l2, trellis_error *error);

#endif
