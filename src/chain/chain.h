/* chain.h - what a chain over given scores is made of; for the files of src/chain. */
#ifndef TRELLIS_CHAIN_CHAIN_H
#define TRELLIS_CHAIN_CHAIN_H

#include "base/memory.h"
#include "base/pool.h"
#include "lattice/lattice.h"

/* What a thread works with. */
struct tr_chain_worker {
    struct tr_lattice *lattice;
    float *expected;         // [features] counts of one block
    TR_ARRAY(uint16_t) path; // labels as the lattice has them
    TR_ARRAY(double) scores; // of the n best paths
};

struct trellis_chain {
    uint32_t labels; // L
    struct tr_graph *graph;
    struct tr_steps *steps;
    struct tr_pool *pool;
    size_t features;                 // L * L transitions, then L starts, then L ends
    float *weights;                  // [features]
    float *costs;                    // [L][L], NULL: 1 for a wrong label
    struct tr_chain_worker *workers; // [threads]
};

/* Where the scores of starts and ends stand among the features. */
static inline size_t tr_chain_start(const struct trellis_chain *chain)
{
    return (size_t)chain->labels * chain->labels;
}

static inline size_t tr_chain_end(const struct trellis_chain *chain)
{
    return tr_chain_start(chain) + chain->labels;
}

/* An array with the strides that it is meant to have; `inner` and `outer` are the sizes of its last
 * and last but one dimension. */
trellis_floats tr_strided(trellis_floats array, size_t dimensions, size_t inner, size_t outer);

/* Answers the questions about one sequence. With `counts` its part of the gradient of transitions
 * is left in the worker's lattice, but for the labels themselves where they are all known. */
trellis_status tr_chain_answer(trellis_chain *chain, struct tr_chain_worker *worker,
                               unsigned questions, bool counts, trellis_chain_sequence *sequence,
                               trellis_error *error);

#endif
