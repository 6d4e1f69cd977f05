/* lattice_internal.h - what steps and workspaces are made of; for the files of src/lattice and for tests.
 *
 * Rows of floats are padded to a multiple of TR_LANES: scores with minus infinity, factors and
 * probabilities with 0. A row of states is `stride` long, which in first order is the width.
 */
#ifndef TRELLIS_LATTICE_LATTICE_INTERNAL_H
#define TRELLIS_LATTICE_LATTICE_INTERNAL_H

#include "base/kernels.h"
#include "base/memory.h"
#include "lattice/lattice.h"

#include <math.h>

/* The listed steps between labels as tiles of TR_LANES factors (see tiles.c). */
struct tr_tiles {
    uint32_t blocks;
    uint32_t *begin; // [blocks + 1] the tiles of each block of labels that is summed into
    uint32_t *other; // [tiles] the label at the other end; ascending in a block
    float *factor;   // [tiles][TR_LANES] 1 where the step is not listed
    uint32_t *place; // [step_count] where the factor of a step stands; not of those from the start
};

struct tr_steps {
    const struct tr_graph *graph;
    const struct tr_kernels *kernels;
    float *weight; // [features]

    /* Where a feature is fired. Places are the listed steps, then the ends of the states, then, with
     * free steps, the steps into each label that are not listed. */
    uint32_t *fired_begin; // [features + 1] into fired
    uint32_t *fired;

    /* Scores: sums of weights, minus infinity where forbidden. */
    float *score; // [step_count]
    float *start; // [width] of the first step, by label
    float *end;   // [stride]
    float *free;  // [width] free steps: of the steps that are not listed, by the label they lead to

    /* What the floats above leave over, for exact scores; all NULL where nobody asked for it. */
    float *residual_score; // [step_count]
    float *residual_start; // [width]
    float *residual_end;   // [S]
    float *residual_free;  // [width]

    float shift;       // factors are exp(score - shift)
    float most_factor; // no factor is larger; at least 1

    /* First order, all steps listed. */
    float *matrix, *matrix_by_to; // [L][width] scores by (from, to) and by (to, from)
    float *factor, *factor_by_to; // [L][width] factors

    /* First order, free steps: the listed ones but the first, by the label they come from. */
    uint32_t *out_begin; // [L + 1]
    uint32_t *out_to;    // [out_begin[L]]
    uint32_t *out_place; // [step_count] where a step stands in the out_ arrays
    uint32_t *out_step;  // [out_begin[L]] and the step that stands there
    float *out_score;    // [out_begin[L]]
    float *out_most;     // [L] the largest out_score of a label
    float *out_gain;     // [width] the largest out_score(c) - free(c) of a label; at least 0
    uint32_t *bits_row;  // [L] the label's row in bits, TR_NO_STATE where none is listed
    uint64_t *bits;      // [rows][words] whether the step from -> to is listed
    size_t words;
    struct tr_tiles into, out_of; // blocks of the labels that steps lead to, that they come from

    float *step_factor; // [step_count] exp(score - free[to])

    /* Any other graph. */
    float *row_score, *row_factor; // [S][width] by the state it comes from and the label it reads
    float *end_factor;             // [stride] exp(end - end_shift)
    float end_shift;
    uint32_t *fan_begin;   // [fans + 1] the steps of a fan, one for each label that it may read:
    uint16_t *fan_label;   //   that label
    uint32_t *fan_to;      //   the state it leads to
    uint32_t *start_state; // [L] the state after the first label, TR_NO_STATE where forbidden

    /* A pruned graph, which needs nothing else: weights are scale * seen. */
    const float *seen; // [features]
    double scale;
};

/* Arrays that grow with the sequence; what was in them is lost when they do. */
struct tr_floats {
    float *at;
    size_t capacity;
};
struct tr_doubles {
    double *at;
    size_t capacity;
};
struct tr_indices {
    uint32_t *at;
    size_t capacity;
};

struct tr_lattice {
    const struct tr_graph *graph;
    const struct tr_kernels *kernels;
    size_t stride;             // of rows of states
    bool reference;            // asked for by tr_lattice_use_reference()
    size_t length;             // n
    struct tr_floats node;     // [n][width]
    struct tr_floats edge;     // [n][L][width]
    struct tr_floats residual; // [n][width] of node
    bool has_edges, has_residuals;
    /* Of a locally normalised model: what a path gains that is in a state and goes on. */
    struct tr_floats leave; // [n][stride], the last row 0
    bool has_leaves;

    /* What tr_lattice_forward_backward() left behind, or tr_lattice_local_likelihood(). */
    enum { TR_NOTHING, TR_FAST, TR_REFERENCE, TR_DECISIONS, TR_PRUNED } computed;
    double log_z;
    struct tr_floats alpha;                // [n][stride], Viterbi's best scores as well
    struct tr_floats to;                   // [n][stride] psi * beta, scaled
    struct tr_floats marginal;             // [n][width]
    struct tr_floats inverse;              // [n] 1 / sum of alpha
    struct tr_floats pair;                 // [n][L][width] factors of steps with edge scores
    struct tr_floats edge_marginal;        // [n][L][width]
    struct tr_floats turned;               // scratch of some positions, see expect.c
    struct tr_doubles log_alpha, log_beta; // [n][S] of the reference
    struct tr_indices history;             // [n] decisions: the state that each is made in

    /* Expected counts, summed over sequences until they are handed over. */
    double *outer;       // of steps, still without the step's factor: [step_count] with free steps;
                         // [L][width] by (to, from) in first order; else [S][width] as row_factor
    double *step_count;  // [step_count] of listed steps
    double *start_count; // [width] of first labels
    double *end_count;   // [S] of last states
    double *free_count;  // [width] of labels but the first; only where there are label priors

    float *row, *second_row; // [stride] scratch
    float *matrix;           // [L][width] scratch; made when first needed
    double *double_row;      // [stride] scratch
    uint32_t *identity;      // [L] 0, 1, 2, ...
    uint32_t *live;          // [L] scratch: labels
    uint64_t *open;          // [words] scratch of Viterbi with free steps
    uint32_t *listed;        // [width] scratch of the same

    struct tr_pruning *pruning; // of a pruned graph; else NULL
};

/* Room for count * each elements; false on allocation failure. */
bool tr_floats_room(struct tr_floats *floats, size_t count, size_t each);
bool tr_doubles_room(struct tr_doubles *doubles, size_t count, size_t each);
bool tr_indices_room(struct tr_indices *indices, size_t count, size_t each);
/* The scratch matrix, NULL on allocation failure. */
float *tr_lattice_matrix(struct tr_lattice *lattice);
/* Pads the node scores with minus infinity. */
void tr_lattice_seal(struct tr_lattice *lattice);

/* The scores of all steps of a first-order graph with the edge scores of a position: [L][width], either
 * the steps' own matrix or the scratch one. NULL on allocation failure. */
const float *tr_lattice_scores_at(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  size_t position);
/* A column of it: the scores of all steps into a label, [width]. */
const float *tr_lattice_column_at(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  size_t position, uint32_t to);

static inline const float *tr_node_at(const struct tr_lattice *lattice, size_t position)
{
    return lattice->node.at + position * lattice->graph->width;
}

/* The edge scores of a position, NULL where there are none. */
static inline const float *tr_edges_at(const struct tr_lattice *lattice, size_t position)
{
    size_t size = (size_t)lattice->graph->labels * lattice->graph->width;
    return lattice->has_edges ? lattice->edge.at + position * size : NULL;
}

/* What leaving the states of a position scores, [stride]; NULL where there are no such scores. */
static inline const float *tr_leaves_at(const struct tr_lattice *lattice, size_t position)
{
    return lattice->has_leaves ? lattice->leave.at + position * lattice->stride : NULL;
}

/* The score of being in a state at a position: of its label there, and of leaving it. */
static inline double tr_state_score(const struct tr_lattice *lattice, size_t position,
                                    uint32_t state)
{
    uint32_t label = lattice->graph->label[state];
    double score = (double)tr_node_at(lattice, position)[label];
    if (lattice->has_residuals) {
        score += (double)lattice->residual.at[position * lattice->graph->width + label];
    }
    return lattice->has_leaves ? score + (double)tr_leaves_at(lattice, position)[state] : score;
}

/* A score with what its float left over; `residual` may be NULL. */
static inline double tr_exact(const float *score, const float *residual, size_t at)
{
    return residual ? (double)score[at] + (double)residual[at] : (double)score[at];
}

/* One behind the last step into a state that does not come from the start. */
static inline uint32_t tr_steps_in_end(const struct tr_graph *graph, uint32_t state)
{
    uint32_t end = graph->in_begin[state + 1];
    return end > graph->in_begin[state] && graph->from[end - 1] == TR_NO_STATE ? end - 1 : end;
}

/* The logarithm of a product of many factors, taken only now and then. */
struct tr_log_product {
    double log, product; // begin with 0, 1
};

static inline void tr_multiply_in(struct tr_log_product *z, double factor)
{
    z->product *= factor;
    if (!(z->product > 1e-200 && z->product < 1e200)) {
        z->log += log(z->product);
        z->product = 1;
    }
}

/* Single precision did while the sums of beta are no larger (see forward_backward.c). */
static inline float tr_most_beta(const struct tr_steps *steps)
{
    return 1e30f / steps->most_factor;
}

/* On the way back: makes the marginals of a position sum to 1 again, and `to` with them. */
#define TR_POSITIONS_BETWEEN_REPAIRS 16
static inline void tr_lattice_repair(struct tr_lattice *lattice, size_t position)
{
    size_t width = lattice->graph->width;
    float *marginal = lattice->marginal.at + position * width;
    float factor = 1 / lattice->kernels->sum(marginal, width);
    lattice->kernels->scale(marginal, factor, width);
    lattice->kernels->scale(lattice->to.at + position * lattice->stride, factor, lattice->stride);
}

/* General graphs: the row of a fan at a position, by label read: to_i of the state it leads to, with the
 * factor of edge scores where there are any; [width] */
void tr_general_fan_row(const struct tr_lattice *lattice, const struct tr_steps *steps,
                        size_t position, uint32_t fan, float *row);

/* Free steps: out(c) = max_z delta(z) + step(z, c), [width]. What it gives for labels that may not stand at
 * the position is no more than that. */
void tr_free_viterbi_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                         const float *delta, float *out);

/* turned: the blocks are of the labels that steps come from. False on allocation failure. */
bool tr_tiles_make(struct tr_tiles *tiles, const struct tr_graph *graph, bool turned);
void tr_tiles_free(struct tr_tiles *tiles);
/* out(b) = sum_a row(a) M(a,b), with 0 behind the labels; or, with turned tiles, out(a) =
 * sum_b M(a,b) row(b). */
void tr_tiles_sum(const struct tr_lattice *lattice, const struct tr_tiles *tiles, const float *row,
                  float *out);

/* For each state the sum, over all labels that may follow it at a position but the first, of the factors of
 * step, label, edge and, at the last position, end; into out [stride]. Returns the logarithm of what the sums
 * are to be multiplied by. There must be room in `to`, `marginal` and, with edge scores, `pair`. */
float tr_first_order_leaving(struct tr_lattice *lattice, const struct tr_steps *steps,
                             size_t position, float *out);
float tr_general_leaving(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                         float *out);
/* The part of tr_lattice_collect_steps() that differs for decisions (local.c). */
void tr_decisions_collect(struct tr_lattice *lattice, const struct tr_steps *steps, double scale);

/* The kernels. The fast ones return false where single precision did not do. */
bool tr_first_order_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps);
bool tr_general_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps);
trellis_status tr_reference_forward_backward(struct tr_lattice *lattice,
                                             const struct tr_steps *steps, trellis_error *error);
trellis_status tr_reference_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                    uint16_t *labels, trellis_error *error);
void tr_reference_collect(struct tr_lattice *lattice, const struct tr_steps *steps, double scale);
void tr_reference_edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 float *marginals);

/* Pruned graphs (pruned.c): the same questions. With gold labels, what is found is of the highest level
 * that has them. */
bool tr_pruning_create(struct tr_lattice *lattice);
void tr_pruning_destroy(struct tr_pruning *pruning);
/* A new sequence begins. */
void tr_pruning_begin(struct tr_pruning *pruning);
/* Whether it was searched. */
bool tr_pruning_is_done(const struct tr_pruning *pruning);
/* While this is on, sums are taken over what had survived before, whatever the scores are now. */
void tr_pruning_hold(struct tr_pruning *pruning, bool hold);
trellis_status tr_pruned_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                          const uint16_t *gold, trellis_error *error);
trellis_status tr_pruned_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 uint16_t *labels, trellis_error *error);
trellis_status tr_pruned_nbest(struct tr_lattice *lattice, const struct tr_steps *steps, size_t m,
                               uint16_t *labels, double *scores, size_t *ret_count,
                               trellis_error *error);
void tr_pruned_edge_marginals(struct tr_lattice *lattice, float *marginals);
bool tr_pruned_collect(struct tr_lattice *lattice, double scale);
void tr_pruned_hand_over(struct tr_lattice *lattice, float *expected);
/* Of the level at hand; minus infinity where a state was pruned. */
double tr_pruned_path_score(const struct tr_lattice *lattice, const struct tr_steps *steps,
                            const uint16_t *labels);

/* For the m best paths and for beams: one way to reach a state, the rank-th best of those that come from
 * the state `from`. A way is better than another where its score is larger; of equal scores, where it comes
 * from the lower state; then by rank. */
struct tr_way {
    double score;
    uint32_t from, rank;
};
bool tr_way_better(const struct tr_way *a, const struct tr_way *b);
/* Adds a way to the `most` best of those offered so far, kept[0 .. *count - 1] in no particular order. */
void tr_ways_offer(struct tr_way *kept, size_t *count, size_t most, struct tr_way way);
/* First order: the scores of the steps from a label, without edge scores; `row` [width] is scratch. */
const float *tr_steps_row(const struct tr_steps *steps, uint32_t from, float *row);

#endif
