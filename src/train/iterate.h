/* iterate.h - one point that a learner has reached: all that a model is made of, and how good it
 * is.
 *
 * Learners move one, the pipeline keeps a copy of the best one, EM that of the best restart, and a
 * checkpoint holds them.
 */
#ifndef TRELLIS_TRAIN_ITERATE_H
#define TRELLIS_TRAIN_ITERATE_H

#include "base/pool.h"
#include "base/state_registry.h"

struct tr_bundles;
struct tr_training;

struct tr_iterate {
    size_t size;
    float *weights; // [size]
    /* Of the training data, with their sums under the weights, where a batch method has added them
     * up; not its own. NULL: there are none. */
    const struct tr_bundles *bundles;
    /* Of an HMM; NULL for the others. */
    float *residual;   // [size] exact weights minus their floats
    double *emissions; // [2][labels][columns] of --gaussian: means, then variances
    double *unknown;   // [1 + labels] of the model's section UNKN
    size_t emission_count, unknown_count;

    bool known;   // false: nothing was copied to it yet
    bool partial; // ranks share the weights, and this one has a part of them; figures count all
    double score; // on the dev data; 0 where there is none
    trellis_progress figures;
};

/* Weights of 0, and for --gaussian the mean and variance of the whole data for all labels. */
trellis_status tr_iterate_create(const struct tr_training *training, struct tr_iterate *ret_iterate,
                                 trellis_error *error);
void tr_iterate_free(struct tr_iterate *iterate);
/* Both were created for the same training. `pool` may be NULL. */
void tr_iterate_copy(struct tr_iterate *to, const struct tr_iterate *from, struct tr_pool *pool);
void tr_iterate_swap(struct tr_iterate *a, struct tr_iterate *b);
/* weights = w [size] in single precision, and their residuals, where there are any. */
void tr_iterate_set(struct tr_iterate *iterate, const double *w);
/* Names what an HMM has beside the weights to a registry; each name begins with the letter. */
void tr_iterate_name(const struct tr_iterate *iterate, struct tr_state_registry *registry,
                     char letter);

#endif
