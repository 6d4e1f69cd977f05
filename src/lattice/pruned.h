/* pruned.h - the states and transitions that survive pruning; for the files pruned*.c. */
#ifndef TRELLIS_LATTICE_PRUNED_H
#define TRELLIS_LATTICE_PRUNED_H

#include "lattice/lattice_internal.h"

#define TR_NO_LEVEL UINT32_MAX
#define TR_NO_CELL UINT32_MAX

/* A state at a position. */
struct tr_cell {
    uint32_t state, back; // back: the cell that the best path comes from
    double alpha, beta;   // logarithms of sums over the ways to it and from it
    double sum;           // while those are summed up
};

/* A step between cells, or from the start (TR_NO_CELL). Its score includes the node score of the
 * label it leads to and, at the last position, the score of the end. */
struct tr_arc {
    uint32_t from, to;
    double score;
};

/* A state that may be kept. */
struct tr_candidate {
    double probability;
    uint32_t place, state; // place: in the order of finding
};

struct tr_pruning {
    uint32_t level; // of what is at hand; TR_NO_LEVEL: nothing is. Level 0 is in the marginals
    TR_ARRAY(uint32_t) kept;     // the states that the level before has kept
    TR_ARRAY(size_t) kept_begin; // [n + 1] those of each position
    TR_ARRAY(struct tr_cell) cells;
    TR_ARRAY(size_t) cell_begin; // [n + 1]
    TR_ARRAY(struct tr_arc) arcs;
    TR_ARRAY(size_t) arc_begin; // [n + 1] those to each position
    bool is_searched;           // what was kept last is for the last level, without gold labels
    bool reuse;                 // sums are over what was kept before, whatever the scores

    TR_ARRAY(struct tr_candidate) candidates; // of a position

    /* Scratch of a position, all 0 in between. */
    TR_ARRAY(uint16_t) labels; // of the states that were kept
    bool *open;                // [S] states that were kept
    uint32_t *place;           // [S] the cell of a state + 1

    uint32_t *prior; // [L] the feature of a label alone, UINT32_MAX where it has none
    bool has_priors;

    /* Counts of features that were not flushed yet. */
    double *count;                // [features]
    bool *is_collected;           // [features]
    TR_ARRAY(uint32_t) collected; // the features that are
};

static inline double tr_alpha_before(const struct tr_pruning *p, const struct tr_arc *arc)
{
    return arc->from == TR_NO_CELL ? 0 : p->cells.at[arc->from].alpha;
}

/* Level 0: P_i(c) of all positions, into the marginals, and log Z. */
trellis_status tr_pruned_label_posteriors(struct tr_lattice *lattice, const struct tr_steps *steps,
                                          trellis_error *error);
/* The cells and arcs of a level, over the states kept; TRELLIS_DATA where there is no path. */
trellis_status tr_pruned_make_level(struct tr_lattice *lattice, const struct tr_steps *steps,
                                    uint32_t level, trellis_error *error);
/* The alpha and beta of its cells, and log Z. */
trellis_status tr_pruned_sum_level(struct tr_lattice *lattice, trellis_error *error);
/* The score of reading a label in a state at a position and level, with the end's at the last
 * position; minus infinity where it is forbidden. */
double tr_pruned_read_label(const struct tr_lattice *lattice, const struct tr_steps *steps,
                            size_t i, uint32_t from, uint16_t label, uint32_t level,
                            uint32_t *ret_next);

/* Forward and backward over all levels; with gold labels, up to the highest level that has them. */
trellis_status tr_pruned_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                          const uint16_t *gold, trellis_error *error);
/* All levels, without the sums of the last. */
trellis_status tr_pruned_search(struct tr_lattice *lattice, const struct tr_steps *steps,
                                trellis_error *error);

/* Operations of the kind. The score is of the level at hand, minus infinity where a state was
 * pruned. */
double tr_pruned_path_score(const struct tr_lattice *lattice, const struct tr_steps *steps,
                            const uint16_t *labels);
trellis_status tr_pruned_nbest(struct tr_lattice *lattice, const struct tr_steps *steps, size_t m,
                               uint16_t *labels, double *scores, size_t *ret_count,
                               trellis_error *error);
trellis_status tr_pruned_sample(struct tr_lattice *lattice, const struct tr_steps *steps,
                                struct tr_random *random, size_t count, uint16_t *labels,
                                trellis_error *error);
trellis_status tr_pruned_entropy(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 double *ret_entropy, trellis_error *error);
bool tr_pruned_edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps,
                              float *marginals);
bool tr_pruned_collect(struct tr_lattice *lattice, const struct tr_steps *steps, double scale);
void tr_pruned_flush(struct tr_lattice *lattice, const struct tr_steps *steps, float *expected);

/* P(cell | X) */
static inline double tr_cell_probability(const struct tr_lattice *lattice, size_t cell)
{
    const struct tr_cell *c = &lattice->of.pruning->cells.at[cell];
    return exp(c->alpha + c->beta - lattice->log_z);
}

#endif
