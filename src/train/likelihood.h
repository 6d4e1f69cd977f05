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
 *
 * Ranks may share w and the gradient as well (tr_likelihood_split): then both are this rank's slice,
 * and likelihood->at has the weights of the features that its own sequences touch.
 */
#ifndef TRELLIS_TRAIN_LIKELIHOOD_H
#define TRELLIS_TRAIN_LIKELIHOOD_H

#include "base/slices.h"
#include "train/pass.h"

/* What one thread has added up. The first has the gradient itself, the others are added to it. */
struct tr_block_sums {
    double *features; // [size]
    double *bundles;  // [bundles][width]
    float *rows;      // [TR_RUN_TOKENS][width] node scores and marginals of a run; NULL: no runs
};

struct tr_likelihood {
    struct tr_training *training;
    size_t node, edge, size; // features: node pairs, edge pairs, all
    struct tr_iterate at;    // where it is summed: w spread for scoring
    struct tr_pass *pass;
    struct tr_steps *steps;        // of the pass
    double *observed_steps;        // [step_size] weighted counts in the gold labels
    struct tr_block_sums *sums_of; // [threads] where each adds up its blocks
    bool runs;                     // many sequences are visited at once (likelihood_runs.c)
    struct tr_bundles *bundles;    // of the training data; NULL: none
    struct tr_slices whole;        // w as one slice
    /* Where there are several ranks: their slices of w, and once it is bundled, the features that each
     * rank touches, and those it touches through bundles. */
    struct tr_slices slices;
    struct tr_touched touched, inherited;
    /* Once it is split: */
    bool split;
    double *sums;  // [size] the gradient over the sequences of this rank
    float *values; // [size] weights in the order of the features
    double active; // weights of the slice that are not 0; after a sum over the data, of all slices
};

trellis_status tr_likelihood_create(struct tr_training *training,
                                    struct tr_likelihood **ret_likelihood, trellis_error *error);
/* Prepares for many sums: bundles the attributes of the training data, where that pays, and tells the
 * ranks which of them each has. Unless they are to stay, the attributes of the tokens are then
 * forgotten: nothing else reads them. `beside`, unless NULL, is called once while the data is searched,
 * by another thread where there are several, or before that; it may read the training data. */
trellis_status tr_likelihood_bundle(struct tr_likelihood *likelihood, bool stay,
                                    trellis_status (*beside)(void *user, trellis_error *error),
                                    void *user, trellis_error *error);
void tr_likelihood_destroy(struct tr_likelihood *likelihood);
/* After that, where there are several ranks: from now on each has its slice of w and gradient alone. */
trellis_status tr_likelihood_split(struct tr_likelihood *likelihood, trellis_error *error);
/* Sets likelihood->at from the slices of w: the weights that this rank needs, or all of them. No rank
 * may have failed since they last agreed. */
trellis_status tr_likelihood_pull(struct tr_likelihood *likelihood, const double *w, bool all,
                                  trellis_error *error);
/* gradient = df/dw at likelihood->at, and *ret_value = f there; infinite where scores overflow. */
trellis_status tr_likelihood_sum(struct tr_likelihood *likelihood, double *gradient,
                                 double *ret_value, trellis_error *error);
/* About how curved f is along each feature, for L-BFGS to begin with; above 0. */
trellis_status tr_likelihood_curvature(const struct tr_likelihood *likelihood, double *curvature,
                                       trellis_error *error);

/* What the functions above are made of: the ranks are told what each touches; and the sums over all
 * ranks, of which each gets those of its slice. */
trellis_status tr_likelihood_touch(struct tr_likelihood *likelihood, trellis_error *error);
trellis_status tr_likelihood_add_ranks(struct tr_likelihood *likelihood, double *sums,
                                       trellis_error *error);

/* Of the visits that a sum is made of: one sequence; and several, where that is possible, for which
 * there must be room. */
trellis_status tr_likelihood_add_sequence(void *user, struct tr_pass_worker *worker,
                                          size_t sequence, double weight, double *ret_value,
                                          trellis_error *error);
bool tr_likelihood_can_run(const struct tr_likelihood *likelihood);
trellis_status tr_likelihood_add_run(void *user, struct tr_pass_worker *worker, size_t first,
                                     size_t end, double *ret_value, trellis_error *error);

/* For a sequence whose scores are in the lattice: -log P(Z | X), and in the lattice the marginals
 * and expected counts whose difference to those of Z is its gradient. Where labels are partial, log
 * Z(X) instead. Steps and lattice are those of the training's graph. */
trellis_status tr_likelihood_of(const struct tr_training *training, size_t sequence,
                                const struct tr_steps *steps, struct tr_lattice *lattice,
                                double *ret_loss, trellis_error *error);

#endif
