/* pass.h - one pass over a corpus in fixed blocks of sequences, shared by threads and ranks.
 *
 * All sums over data are made here: the gradient of a CRF or MEMM, the expected counts of EM, the
 * counts of an HMM, the objective of an SSVM, the labels of the dev data. The corpus is cut into
 * blocks of about equal size, whose number depends on the corpus alone. Every rank visits its share
 * of them. A thread adds up a block in its own sums, and those are gathered in double precision, and
 * then summed over the ranks. So no sum in single precision is longer than a block.
 *
 * The result is the same for any number of threads and ranks, because the sum of a block is rounded
 * to a grid before it is added (tr_pass_set_grids): the additions that follow are exact, and their order
 * does not matter. The grid is 2^-52 of what could be counted at all, far finer than the single precision
 * that the sum of a block has.
 *
 * The weight of a sequence is applied here to its value, and passed to the visit for its sums.
 */
#ifndef TRELLIS_TRAIN_PASS_H
#define TRELLIS_TRAIN_PASS_H

#include "dataset/bundles.h"
#include "train/train.h"

/* What each thread needs. */
struct tr_pass_room {
    bool lattice;   // of the training's graph
    size_t floats;  // sums in single precision
    size_t doubles; // sums in double precision
};

/* What a thread works with. */
struct tr_pass_worker {
    unsigned thread;
    struct tr_lattice *lattice;              // NULL where the room has none
    float *floats;                           // [room.floats] sums of the current block
    double *doubles;                         // [room.doubles] and in double precision
    float *bundles;                          // [bundles][width] sums of the current block; or NULL
    const uint64_t *node_marks, *edge_marks; // which weights the current block touches
    const uint64_t *bundle_marks;            // and which bundles
    TR_ARRAY(uint16_t) path;                 // room for labels, for the visit to use
};

/* `visit` adds weight times what it sees in a sequence to the worker's sums (those of transition
 * features may wait in its lattice), and returns a value, which the pass multiplies by the weight.
 * Empty sequences and those of weight 0 are not visited. `gather` takes the sums of a block, on the
 * grid, as blocks are done in any order (but see `in_turns`); it may be NULL. Where there is a
 * `merge`, it may run in several threads at once, each for its own sums, and `merge` adds these up
 * after all blocks. Where there is a `visit_run`, it takes the place of `visit` for several sequences
 * of a block at once, empty ones and those of weight 0 included, and returns the sum of their values
 * times their weights. */
enum { TR_RUN_SEQUENCES = 128, TR_RUN_TOKENS = 3072 };
struct tr_pass_plan {
    trellis_status (*visit)(void *user, struct tr_pass_worker *worker, size_t sequence,
                            double weight, double *ret_value, trellis_error *error);
    /* The sequences first .. end-1: one, or up to TR_RUN_SEQUENCES with up to TR_RUN_TOKENS. */
    trellis_status (*visit_run)(void *user, struct tr_pass_worker *worker, size_t first, size_t end,
                                double *ret_value, trellis_error *error);
    void (*gather)(void *user, const struct tr_pass_worker *worker);
    void (*merge)(void *user);
    void *user;
    double *sums;     // [sum_count] what `gather` adds to, on the grid; 0 before the pass
    size_t sum_count; // and summed over the ranks after it; 0: the caller does that
    bool clears; // gather leaves 0 behind, by the marks; for passes over the training data alone
    bool unweighted; // every sequence is visited with the weight 1
    bool whole;      // every rank visits all sequences
    bool in_turns;   // `gather` is called in block order, for sums that are on no grid
    bool at_once;    // no rank has failed since they last agreed, so they need not agree again
    double *count;   // a number of this rank, replaced by the sum over all; NULL: none
};

/* For tr_on_grid(): fine enough for what single precision can tell, coarse enough for sums over all
 * training data to be exact. Once it was read: sets training->grid, and for the squares of values,
 * which no weight multiplies, training->square_grid. */
trellis_status tr_pass_set_grids(struct tr_training *training, trellis_error *error);

struct tr_pass;
trellis_status tr_pass_create(struct tr_training *training, struct tr_pass_room room,
                              struct tr_pass **ret_pass, trellis_error *error);
void tr_pass_destroy(struct tr_pass *pass);
/* From now on node attributes are collected by these bundles of the training data, in the sums of
 * bundles where there is one. */
trellis_status tr_pass_bundle(struct tr_pass *pass, const struct tr_bundles *bundles,
                              trellis_error *error);
/* The steps of the training's graph, which the sequences of a pass are scored with; NULL where the
 * room has no lattice. */
struct tr_steps *tr_pass_steps(struct tr_pass *pass);
/* Visits the sequences of a dataset; *ret_value is the sum of their values, each times its weight.
 * Where visits fail it is the first failure, in block order. */
trellis_status tr_pass_run(struct tr_pass *pass, const struct tr_dataset *data,
                           const struct tr_pass_plan *plan, double *ret_value,
                           trellis_error *error);

/* The sequences of a dataset that this rank visits: *ret_first .. *ret_end - 1, numbered among those of
 * all ranks. */
void tr_pass_share(const struct tr_training *training, const struct tr_dataset *data, unsigned rank,
                   size_t *ret_first, size_t *ret_end);

/* For rooms with a lattice and floats laid out like w: adds weight * E[Phi] of what is in the
 * worker's lattice to its floats; or, with gold labels given, weight * (E[Phi] - Phi(gold)) for
 * node and edge features. The marginals of the lattice are used up. */
trellis_status tr_pass_collect(struct tr_pass *pass, struct tr_pass_worker *worker,
                               const struct tr_dataset *data, size_t sequence, double weight,
                               const uint16_t *gold, trellis_error *error);

/* The part of that for the node attributes of the tokens first, first + 1, ... of the training data:
 * adds amounts [tokens][width] to their rows. */
void tr_pass_collect_nodes(const struct tr_pass *pass, struct tr_pass_worker *worker, size_t first,
                           const struct tr_tokens *tokens, const float *amounts);

/* How much a sequence counts. */
static inline double tr_sequence_weight(const struct tr_dataset *data, size_t sequence)
{
    return data->weight.size ? (double)data->weight.at[sequence] : 1.0;
}

static inline size_t tr_sequence_length(const struct tr_dataset *data, size_t sequence)
{
    return data->sequence.at[sequence + 1] - data->sequence.at[sequence];
}

#endif
