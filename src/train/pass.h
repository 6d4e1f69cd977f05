/* pass.h - one pass over a corpus in blocks of sequences, whose sums do not depend on the threads.
 *
 * The corpus is cut into a fixed number of blocks of about equal size. A thread adds up a block in
 * single precision, in its own copy of the weights' layout; the copies are then added in double
 * precision, in block order. So the sum is the same for any number of threads, and no sum in single
 * precision is longer than a block.
 */
#ifndef TRELLIS_TRAIN_PASS_H
#define TRELLIS_TRAIN_PASS_H

#include "train/hmm_gaussian.h"
#include "train/train.h"

/* What a thread works with. */
struct tr_pass_worker {
    struct tr_lattice *lattice;
    float *sums;     // [training->size] of the block at hand, laid out like w
    double *moments; // [training->emissions->moment_count] of the block, NULL where there are none
    const uint64_t *node_marks, *edge_marks; // what the block at hand has to do with
    TR_ARRAY(uint16_t) path;                 // room for labels, for the visit to use
};

/* What is done with the sequences: `visit` adds to the worker's sums (those of step features may wait in
 * its lattice) and to *value; `gather` takes the sums of a block, in block order. A `thorough` one leaves 0
 * behind; it is for passes over the training data alone. */
struct tr_pass_plan {
    trellis_status (*visit)(void *user, struct tr_pass_worker *worker, size_t sequence,
                            double *value, trellis_error *error);
    void (*gather)(void *user, const struct tr_pass_worker *worker);
    void *user;
    bool thorough;
};

struct tr_pass;
trellis_status tr_pass_create(struct tr_training *training, struct tr_pass **ret_pass,
                              trellis_error *error);
void tr_pass_destroy(struct tr_pass *pass);
/* The steps of the training's graph, which the sequences of a pass are scored with. */
struct tr_steps *tr_pass_steps(struct tr_pass *pass);
/* Visits all sequences of a dataset; *ret_value is the sum of their values. Where visits fail it is the
 * first failure, in block order. */
trellis_status tr_pass_run(struct tr_pass *pass, const struct tr_dataset *data,
                           const struct tr_pass_plan *plan, double *ret_value,
                           trellis_error *error);

/* Adds weight * E[Phi] of what is in the worker's lattice to its sums; or, with gold labels given, weight *
 * (E[Phi] - Phi(gold)) for node and edge features. The marginals of the lattice are used up. */
trellis_status tr_pass_collect(struct tr_pass *pass, struct tr_pass_worker *worker,
                               const struct tr_dataset *data, size_t sequence, double weight,
                               const uint16_t *gold, trellis_error *error);

/* How much a sequence counts. */
static inline double tr_sequence_weight(const struct tr_dataset *data, size_t sequence)
{
    return data->weight.size ? (double)data->weight.at[sequence] : 1.0;
}

#endif
