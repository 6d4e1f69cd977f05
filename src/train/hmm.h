/* hmm.h - the hidden Markov model: a weight vector of logarithms of probabilities.
 *
 *     P(X, Z) = product over i of  T(z_{i-1}, z_i) O(z_i, x_i),   times T(z_n, end)
 *
 * so w . Phi(X, Z) = log P(X, Z) where the weight of a step is log T and that of a word is log O (Wu 2013,
 * equation 7). All that labelled training and the M-step of EM need is to turn counts, whole or expected,
 * into such weights. Counts and weights are laid out like w: node, edge (none here), step.
 */
#ifndef TRELLIS_TRAIN_HMM_H
#define TRELLIS_TRAIN_HMM_H

#include "train/train.h"

/* Whether the data is what an HMM can be made of: one attribute at each token, none of label pairs. */
trellis_status tr_hmm_check(const struct tr_training *training, trellis_error *error);

/* counts[j] += how often feature j fires in the sequences whose labels are all known, each times its
 * weight; counts [training->size]. */
trellis_status tr_hmm_count(const struct tr_training *training, double *counts,
                            trellis_error *error);

/* w [training->size] = logarithms of (count + alpha) / (sum of the counts + alpha * ways), minus infinity
 * for 0; where all counts of a state are 0, and alpha too, each way is as likely as any other. */
trellis_status tr_hmm_estimate(const struct tr_training *training, const double *counts,
                               double alpha, double *w, trellis_error *error);

#endif
