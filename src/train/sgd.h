/* sgd.h - a stochastic step on a batch of sequences, and what it moves (see sgd.c). */
#ifndef TRELLIS_TRAIN_SGD_H
#define TRELLIS_TRAIN_SGD_H

#include "train/dropout.h"
#include "train/train.h"

/* One sequence of the batch. */
struct tr_sgd_slot {
    struct tr_lattice *lattice;
    size_t sequence; // its number among those of all ranks, and
    size_t at;       // where it is in the data, if this rank has it
    double weight;
    struct tr_tokens tokens[TR_ATTRIBUTE_KINDS]; // its attributes, or what dropout left of them
    struct tr_dropout dropout[TR_ATTRIBUTE_KINDS];
    double loss;
    float rate;                  // how far the weights go against its gradient:
    const float *node_change;    // [n][width] marginals, minus 1 at the gold labels
    const float *edge_change;    // [n][labels][width]; NULL where there are no edge attributes
    const float *segment_change; // [n][max_segment][width]; NULL where there are no segments
    float *steps;             // [step_size] expected counts less those seen, zero between batches
    TR_ARRAY(uint32_t) fired; // of a pruned graph: where they are not zero
    /* Where the shares of its tokens' attributes begin and end, [n][shares + 1], in a batch of
     * several. */
    TR_ARRAY(uint32_t) node_cuts;
    TR_ARRAY(uint32_t) edge_cuts;
    TR_ARRAY(uint32_t) segment_cuts; // [n][max_segment][shares + 1]
    TR_ARRAY(float) segments;        // as nodes and edges
    TR_ARRAY(float) nodes;           // what node_change points to where labels are open; else they
    TR_ARRAY(float) edges;           // are the lattice's own marginals
    trellis_status status;
    trellis_error error;
};

/* What the ranks tell each other of a batch (sgd_exchange.c). */
struct tr_sgd_exchange {
    size_t *first; // [ranks + 1] the first sequence of each
    size_t *begin; // [ranks + 1] where the bytes of each begin, in
    TR_ARRAY(char) bytes;
    struct tr_sgd_announcement *announced; // [ranks]
    size_t *announced_begin;               // [ranks + 1] in bytes
    size_t fired;                          // room in every slot
};

struct tr_sgd {
    struct tr_training *training;
    struct tr_sgd_exchange *exchange; // NULL where this rank computes all gradients
    double lambda, eta0;
    double t;            // sequences seen, in units of N
    struct tr_iterate v; // its weights are v
    float *first; // [size] the initial weights: 0, or those of --from; not of a growing corpus
    float *a;     // [size] see sgd.c
    double scale, fraction, divisor;
    bool averaging;
    double averaged;          // iterates in the average
    struct tr_iterate result; // what is reported; not of a growing corpus
    float *step_weights;      // [step_size] scale * v of the transitions
    struct tr_steps *steps;
    struct tr_sgd_slot *slots; // [slot_count], at least as many as any step needs
    size_t slot_count;
    size_t batch, count; // the largest number of sequences of a step, and those of this one
    size_t *mine;        // [batch] the slots whose gradients this rank computes, and
    size_t mine_count;   // behind them the others
    size_t shares;       // of the attributes, each moved by one thread
    uint32_t *node_cuts; // [shares + 1] the first attribute of each
    uint32_t *edge_cuts; // [shares + 1]
    uint32_t *order;     // [sequences]; with a growing corpus [batch]
    double loss;         // of this epoch
};

/* A step of rate eta on `count` sequences, at most the batch: all threads compute gradients, and
 * then all move the weights, each its own share of the attributes. So the result does not depend on
 * how many there are. */
trellis_status tr_sgd_step(struct tr_sgd *sgd, const uint32_t *sequences, size_t count, double eta,
                           trellis_error *error);
/* Where ranks share the sequences of a batch: who computes which gradients of this step; ... */
void tr_sgd_divide_batch(struct tr_sgd *sgd);
/* ... gives all ranks the gradients of all sequences, or what failed; ... */
trellis_status tr_sgd_exchange(struct tr_sgd *sgd, trellis_error *error);
/* ... for sequences of this training from now on; to be called once. */
trellis_status tr_sgd_share_batches(struct tr_sgd *sgd, trellis_error *error);
void tr_sgd_exchange_destroy(struct tr_sgd_exchange *exchange);
/* Whether ranks share batches of so many sequences. */
bool tr_sgd_is_shared(const struct tr_ranks *ranks, size_t batch);
/* The batch of a warm-up on so many sequences. */
size_t tr_sgd_warm_up_batch(size_t sequences);

/* Cuts the attributes into shares; to be called once. */
trellis_status tr_sgd_cut_shares(struct tr_sgd *sgd, trellis_error *error);
/* Makes the steps and `count` slots for the graph of the training, in the place of those there are;
 * on failure nothing changes. */
trellis_status tr_sgd_make_slots(struct tr_sgd *sgd, const struct tr_training *training,
                                 size_t count, trellis_error *error);
void tr_sgd_free(struct tr_sgd *sgd);
/* The average of a weight so far, or w. */
float tr_sgd_average(const struct tr_sgd *sgd, size_t at);
/* Multiplies the factors out: v = w and a = the average. */
void tr_sgd_normalise(struct tr_sgd *sgd);

#endif
