/* lattice_internal.h - what steps and lattices are made of; for the files of src/lattice and for
 * tests.
 *
 * There are five kinds of lattice, after the graph:
 *
 *   dense      first order, all transitions listed: matrices of scores and factors          dense.c
 *   sparse     first order, unlisted transitions are free: lists, and tiles of factors      sparse.c
 *   general    any other automaton: a matrix for each fan of states                         general.c
 *   pruned     transitions are looked up among the few states that survive pruning          pruned.c
 *   segment    first order, all transitions listed, and scores of whole segments            segment.c
 *
 * A kind is a table of operations, chosen once when steps or a lattice are created, and a part of
 * its own in both. The first three list all states, so they share the algorithms of the other files
 * (Viterbi, m best paths, beams, local normalisation, the reference), which ask the table for what
 * differs.
 *
 * Rows of floats are padded to a multiple of TR_LANES: scores with minus infinity, factors and
 * probabilities with 0. A row of states is `stride` long, which in first order is the width.
 */
#ifndef TRELLIS_LATTICE_LATTICE_INTERNAL_H
#define TRELLIS_LATTICE_LATTICE_INTERNAL_H

#include "base/kernels.h"
#include "base/memory.h"
#include "lattice/group_lists.h"
#include "lattice/lattice.h"

#include <math.h>

/* ---- steps ----------------------------------------------------------------------------------- */

/* Scores of transitions: sums of weights, minus infinity where forbidden. */
struct tr_step_scores {
    float *step;  // [step_count]
    float *start; // [width] of the first transition, by label
    float *end;   // [stride]
    float
        *unlisted; // [width] sparse: of transitions that are not listed, by the label they lead to
};

/* Where a feature is fired. Places are the listed transitions, then the ends of the states, then,
 * in the sparse kind, the transitions into each label that are not listed. */
struct tr_fired {
    uint32_t *begin; // [features + 1] into place
    uint32_t *place;
};

/* Factors are exp(score - shift). */
struct tr_dense_steps {
    float *score, *score_by_to;   // [L][width] by (from, to) and by (to, from)
    float *factor, *factor_by_to; // [L][width]
};

/* The listed transitions between labels, as tiles of TR_LANES factors (see tiles.c). */
struct tr_tiles {
    uint32_t blocks;
    uint32_t *begin; // [blocks + 1] the tiles of each block of labels that is summed into
    uint32_t *other; // [tiles] the label at the other end; ascending in a block
    float *factor;   // [tiles][TR_LANES] 1 where the transition is not listed
    uint32_t
        *place; // [step_count] where the factor of a listed one stands; not of those from the start
};

/* Factors are exp(score - unlisted[to]): 1 for an unlisted transition. Listed transitions other
 * than those from the start are also stored by the label they come from. */
struct tr_sparse_steps {
    float *factor;       // [step_count]
    uint32_t *out_begin; // [L + 1]
    uint32_t *out_to;    // [out_begin[L]]
    uint32_t *out_place; // [step_count] where a transition stands in the out_ arrays
    uint32_t *out_step;  // [out_begin[L]] and the one that stands there
    float *out_score;    // [out_begin[L]]
    float *out_max;      // [L] the largest out_score of a label
    float *out_gain;     // [width] the largest out_score(c) - unlisted(c) of a label; at least 0
    uint32_t *bits_row;  // [L] the label's row in bits, TR_NO_STATE where none is listed
    uint64_t *bits;      // [rows][words] whether the transition from -> to is listed
    size_t words;
    struct tr_tiles into,
        out_of; // blocks of the labels that transitions lead to, that they come from
    struct tr_group_lists group;
};

/* Factors are exp(score - shift), those of ends exp(end - end_shift). */
struct tr_general_steps {
    float *score, *factor; // [S][width] by the state it comes from and the label it reads
    float *end_factor;     // [stride]
    float end_shift;
    uint32_t
        *fan_begin; // [fans + 1] the transitions of a fan, one for each label that it may read:
    uint16_t *fan_label; //   that label
    uint32_t *fan_to;    //   the state it leads to
};

/* Scores are summed where they are needed. */
struct tr_pruned_steps {
    const float *weight; // [features]
    double scale;        // that the weights are multiplied by
};

struct tr_lattice_kind;

struct tr_steps {
    const struct tr_graph *graph;
    const struct tr_lattice_kind *kind;
    const struct tr_kernels *kernels;
    float *weight; // [features]
    struct tr_fired fired;
    struct tr_step_scores score;
    struct tr_step_scores residual; // what those floats lack of exact scores; all NULL: not known
    uint32_t *start_state; // [L] the state after the first label, TR_NO_STATE where forbidden
    float shift;
    float max_factor; // no factor is larger; at least 1
    const float
        *offset; // [width] first order: what factors lack of scores, by label; NULL: nothing
    union {
        struct tr_dense_steps dense;
        struct tr_sparse_steps sparse;
        struct tr_general_steps general;
        struct tr_pruned_steps pruned;
    } of;
};

/* A row of minus infinity, padded; NULL on allocation failure. */
float *tr_steps_forbidden_row(size_t count);
/* The largest of some scores, 0 where none is finite. */
float tr_steps_largest(const float *scores, size_t count);
/* factor = exp(score - shift) */
void tr_steps_set_factors(const struct tr_steps *steps, float *factor, const float *score,
                          float shift, size_t count);
/* Whether a changed score is near enough to the shift; otherwise all factors are computed again. */
static inline bool tr_steps_near_shift(float score, float shift)
{
    return score - shift <= 16;
}
/* The end of the transitions into a state that do not come from the start. */
static inline uint32_t tr_steps_in_end(const struct tr_graph *graph, uint32_t state)
{
    uint32_t end = graph->in_begin[state + 1];
    return end > graph->in_begin[state] && graph->from[end - 1] == TR_NO_STATE ? end - 1 : end;
}

/* ---- lattices -------------------------------------------------------------------------------- */

/* Arrays that grow with the sequence; growing loses their contents. */
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
/* Room for count * each elements; false on allocation failure. */
bool tr_floats_room(struct tr_floats *floats, size_t count, size_t each);
bool tr_doubles_room(struct tr_doubles *doubles, size_t count, size_t each);
bool tr_indices_room(struct tr_indices *indices, size_t count, size_t each);

/* What the caller fills in, and what tr_lattice_normalise() adds to it. */
struct tr_lattice_scores {
    struct tr_floats node;       // [n][width]
    struct tr_floats edge;       // [n][L][width]
    struct tr_floats residual;   // [n][width] of node
    struct tr_floats normaliser; // [n][stride] -log N of the next position; the last row 0
    bool has_edges, has_residuals, has_normalisers;
};

/* Forward and backward in single precision with scaling; Viterbi's best scores are in alpha as
 * well. */
struct tr_scaled_sums {
    struct tr_floats alpha;   // [n][stride]
    struct tr_floats to;      // [n][stride] psi * beta
    struct tr_floats inverse; // [n] 1 / sum of alpha
    struct tr_floats pair;    // [n][L][width] factors of transitions with edge scores
};

/* The same of the reference; the m best paths have their best scores in alpha. */
struct tr_log_sums {
    struct tr_doubles alpha, beta; // [n][S]
};

struct tr_marginals {
    struct tr_floats node; // [n][width]
    struct tr_floats edge; // [n][L][width]
};

/* Expected counts, summed over sequences until they are flushed. All NULL until the first. */
struct tr_expected_counts {
    double *outer;    // of transitions, still without their factors; its shape is that of the kind
    double *step;     // [step_count] of listed transitions
    double *start;    // [width] of first labels
    double *end;      // [S] of last states
    double *unlisted; // [width] sparse, where there are label priors: of labels but the first
};

struct tr_scratch {
    float *row, *second_row; // [stride]
    double *double_row;      // [stride]
    float *matrix;           // [L][width]; made when first needed
    uint32_t *next;          // [L]
};

struct tr_sparse_lattice {
    uint32_t *identity;          // [L] 0, 1, 2, ...
    uint64_t *open;              // [words] labels that no unlisted transition was found for yet
    uint32_t *listed;            // [width] labels whose listed transitions count
    struct tr_floats transposed; // [2][L][positions]
};

struct tr_general_lattice {
    uint32_t *allowed;         // [L + 1] labels that a position is restricted to
    struct tr_floats fan_rows; // [positions][width]
};

struct tr_lattice {
    const struct tr_graph *graph;
    const struct tr_lattice_kind *kind;
    const struct tr_kernels *kernels;
    size_t stride;                              // of rows of states
    bool use_reference;                         // asked for by tr_lattice_use_reference()
    const struct tr_interruption *interruption; // of tr_lattice_interrupt_by()
    size_t length;                              // n
    struct tr_lattice_scores scores;
    /* How the marginals and log Z were computed. */
    enum { TR_NOTHING, TR_FAST, TR_REFERENCE, TR_LOCAL, TR_PRUNED } computed;
    double log_z;
    struct tr_scaled_sums fast;
    struct tr_log_sums log_space;
    struct tr_marginals marginal;
    struct tr_indices decided_in; // [n] TR_LOCAL: the state that each label is chosen in
    struct tr_expected_counts counts;
    struct tr_scratch scratch;
    union {
        struct tr_sparse_lattice sparse;
        struct tr_general_lattice general;
        struct tr_pruning *pruning;
        struct tr_segment_lattice *segment;
    } of;
};

/* ---- kinds ----------------------------------------------------------------------------------- */

/* The transitions into a state, but the first. */
struct tr_arrivals {
    const uint32_t *from;  // [count] ascending
    const float *score;    // [count]
    const float *residual; // [count] or NULL
    size_t count;
};

/* Scratch of the recursion for the m best paths. */
struct tr_max_rows {
    double *best, *left; // [width]
    double *max_out;     // [width] dense: the largest score of a transition out of each label
};

/* An operation is NULL where a kind has nothing to do. */
struct tr_lattice_kind {
    /* ---- steps ---- */
    /* Allocates the part of the kind; false on allocation failure. Freeing accepts a partly
     * allocated one. */
    bool (*make_steps)(struct tr_steps *steps);
    void (*free_steps)(struct tr_steps *steps);
    /* All weights were set. */
    void (*set_weights)(struct tr_steps *steps);

    /* ---- lattices ---- */
    bool (*make)(struct tr_lattice *lattice);
    void (*free)(struct tr_lattice *lattice);
    /* A new sequence begins. */
    void (*begin)(struct tr_lattice *lattice);
    /* The functions of lattice.h, for a sequence that is not empty. */
    trellis_status (*forward_backward)(struct tr_lattice *lattice, const struct tr_steps *steps,
                                       trellis_error *error);
    /* Between the two calls forward_backward() sums over the states that survived before. */
    trellis_status (*begin_restricted)(struct tr_lattice *lattice, const struct tr_steps *steps,
                                       trellis_error *error);
    void (*end_restricted)(struct tr_lattice *lattice);
    trellis_status (*viterbi)(struct tr_lattice *lattice, const struct tr_steps *steps,
                              uint16_t *labels, trellis_error *error);
    trellis_status (*nbest)(struct tr_lattice *lattice, const struct tr_steps *steps, size_t m,
                            uint16_t *labels, double *scores, size_t *ret_count,
                            trellis_error *error);
    trellis_status (*beam)(struct tr_lattice *lattice, const struct tr_steps *steps, size_t width,
                           uint16_t *labels, double *ret_score, trellis_error *error);
    trellis_status (*sample)(struct tr_lattice *lattice, const struct tr_steps *steps,
                             struct tr_random *random, size_t count, uint16_t *labels,
                             trellis_error *error);
    trellis_status (*entropy)(struct tr_lattice *lattice, const struct tr_steps *steps,
                              double *ret_entropy, trellis_error *error);
    double (*path_score)(const struct tr_lattice *lattice, const struct tr_steps *steps,
                         const uint16_t *labels);
    /* Of TR_FAST and TR_PRUNED; marginals [n][L][width] are 0. False on allocation failure. */
    bool (*edge_marginals)(struct tr_lattice *lattice, const struct tr_steps *steps,
                           float *marginals);
    bool (*collect)(struct tr_lattice *lattice, const struct tr_steps *steps, double scale);
    void (*flush)(struct tr_lattice *lattice, const struct tr_steps *steps, float *expected);

    /* ---- what the shared algorithms ask for; not of the pruned kind ---- */
    /* The score of a transition, an end or, in the sparse kind, the unlisted transitions into a
     * label has changed. False where it is too far above the shift. */
    bool (*change_step)(struct tr_steps *steps, uint32_t step);
    bool (*change_end)(struct tr_steps *steps, uint32_t state);
    bool (*change_unlisted)(struct tr_steps *steps, uint32_t label);
    /* Computes all factors from the scores. */
    void (*refresh)(struct tr_steps *steps);
    /* Of the transitions out of a state by label: their scores [width], in place or in `row`,
     * without edge scores; and the states they lead to [L], in place or in lattice->scratch.next,
     * TR_NO_STATE where there is none. In first order a forbidden transition has a state and scores
     * minus infinity. */
    const float *(*out_scores)(const struct tr_steps *steps, uint32_t from, float *row);
    const uint32_t *(*out_states)(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  uint32_t from);
    /* May be in the scratch rows. */
    struct tr_arrivals (*arrivals)(struct tr_lattice *lattice, const struct tr_steps *steps,
                                   uint32_t to);
    /* False where single precision is not enough. */
    bool (*fast_forward_backward)(struct tr_lattice *lattice, const struct tr_steps *steps);
    /* First order: out(b) = sum_a row(a) M(a,b), and out(a) = sum_b M(a,b) row(b); [width]. */
    void (*sum_forward)(struct tr_lattice *lattice, const struct tr_steps *steps, const float *row,
                        float *out);
    void (*sum_backward)(struct tr_lattice *lattice, const struct tr_steps *steps, const float *row,
                         float *out);
    /* For each state the sum, over all labels that may follow it at a position but the first, of
     * the factors of transition, label, edge and, at the last position, end; into out [stride].
     * Returns the logarithm of what the sums are to be multiplied by. There must be room in `to`,
     * `marginal` and, with edge scores, `pair`. */
    float (*normaliser_sums)(struct tr_lattice *lattice, const struct tr_steps *steps,
                             size_t position, float *out);
    /* out(z) = max_z' delta(z') + step(z', z), with node and edge scores of the position, [stride].
     * False on allocation failure. */
    bool (*viterbi_row)(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                        const float *delta, float *out);
    /* The lowest z' of the largest delta(z') + step(z', z). */
    uint32_t (*came_from)(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                          const float *delta, uint32_t z);
    /* The recursion of Viterbi in double precision, with all scores of the position; out [S] is
     * minus infinity. */
    void (*max_row)(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                    struct tr_max_rows *rows, const double *before, double *out);
    bool (*make_counts)(struct tr_lattice *lattice);
    /* TR_LOCAL: counts.step += scale * p [width] of the transitions out of a state. */
    void (*collect_local)(struct tr_lattice *lattice, const struct tr_steps *steps, uint32_t from,
                          const float *p, double scale);
};

extern const struct tr_lattice_kind tr_dense_kind, tr_sparse_kind, tr_general_kind, tr_pruned_kind,
    tr_segment_kind;
const struct tr_lattice_kind *tr_lattice_kind_of(const struct tr_graph *graph);

/* The operations that the kinds other than the pruned one share. */
bool tr_listed_make_steps(struct tr_steps *steps);
void tr_listed_set_weights(struct tr_steps *steps);
trellis_status tr_listed_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                          trellis_error *error);
trellis_status tr_listed_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 uint16_t *labels, trellis_error *error);
trellis_status tr_listed_nbest(struct tr_lattice *lattice, const struct tr_steps *steps, size_t m,
                               uint16_t *labels, double *scores, size_t *ret_count,
                               trellis_error *error);
trellis_status tr_listed_beam(struct tr_lattice *lattice, const struct tr_steps *steps,
                              size_t width, uint16_t *labels, double *ret_score,
                              trellis_error *error);
trellis_status tr_listed_sample(struct tr_lattice *lattice, const struct tr_steps *steps,
                                struct tr_random *random, size_t count, uint16_t *labels,
                                trellis_error *error);
trellis_status tr_listed_entropy(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 double *ret_entropy, trellis_error *error);
double tr_listed_path_score(const struct tr_lattice *lattice, const struct tr_steps *steps,
                            const uint16_t *labels);
struct tr_arrivals tr_listed_arrivals(struct tr_lattice *lattice, const struct tr_steps *steps,
                                      uint32_t to);

/* Those of the dense kind that the segment kind shares (dense.c). */
bool tr_dense_make_steps(struct tr_steps *steps);
void tr_dense_free_steps(struct tr_steps *steps);
void tr_dense_refresh(struct tr_steps *steps);
bool tr_dense_change_step(struct tr_steps *steps, uint32_t step);
bool tr_dense_make_counts(struct tr_lattice *lattice);
void tr_dense_flush(struct tr_lattice *lattice, const struct tr_steps *steps, float *expected);

/* Those that both first-order kinds share (first_order_kinds.c, forward_backward.c). */
const uint32_t *tr_first_order_out_states(struct tr_lattice *lattice, const struct tr_steps *steps,
                                          uint32_t from);
bool tr_first_order_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps);
float tr_first_order_normaliser_sums(struct tr_lattice *lattice, const struct tr_steps *steps,
                                     size_t position, float *out);
/* The scores of all transitions with the edge scores of a position: [L][width], in the scratch
 * matrix. NULL on allocation failure. */
const float *tr_first_order_edge_scores(struct tr_lattice *lattice, const struct tr_steps *steps,
                                        size_t position);
/* Adds the edge scores of a position, where there are any, to a column of transitions into a
 * label. */
void tr_first_order_add_edges(const struct tr_lattice *lattice, size_t position, uint32_t to,
                              float *column);
bool tr_first_order_edge_viterbi_row(struct tr_lattice *lattice, const struct tr_steps *steps,
                                     size_t position, const float *delta, float *out);
void tr_first_order_edge_max_row(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 size_t position, struct tr_max_rows *rows, const double *before,
                                 double *out);
/* Adds the scores of the states at a position to out [L]. */
void tr_first_order_add_states(const struct tr_lattice *lattice, size_t position, double *out);
/* factor [L][width]: of all transitions at every position; with edge scores they are in `pair`. */
void tr_first_order_edge_marginals(struct tr_lattice *lattice, const float *factor,
                                   float *marginals);
/* counts.step += scale * the expected counts of a sequence with edge scores. */
void tr_first_order_collect_edges(struct tr_lattice *lattice, double scale);

/* ---- pieces of algorithms -------------------------------------------------------------------- */

/* The scratch matrix, NULL on allocation failure. */
float *tr_lattice_matrix(struct tr_lattice *lattice);
/* Pads the node scores with minus infinity. */
void tr_lattice_pad_nodes(struct tr_lattice *lattice);

static inline const float *tr_node_at(const struct tr_lattice *lattice, size_t position)
{
    return lattice->scores.node.at + position * lattice->graph->width;
}

/* The edge scores of a position, NULL where there are none. */
static inline const float *tr_edges_at(const struct tr_lattice *lattice, size_t position)
{
    size_t size = (size_t)lattice->graph->labels * lattice->graph->width;
    return lattice->scores.has_edges ? lattice->scores.edge.at + position * size : NULL;
}

/* -log N of the states of a position, [stride]; NULL where the lattice is not normalised. */
static inline const float *tr_normalisers_at(const struct tr_lattice *lattice, size_t position)
{
    return lattice->scores.has_normalisers
               ? lattice->scores.normaliser.at + position * lattice->stride
               : NULL;
}

/* Whether all positions but the first share one dense matrix of transitions. */
static inline bool tr_has_one_matrix(const struct tr_lattice *lattice)
{
    return lattice->kind == &tr_dense_kind && !lattice->scores.has_edges &&
           !lattice->scores.has_normalisers;
}

/* The score of a state at a position: its label's node score, and -log N. */
static inline double tr_state_score(const struct tr_lattice *lattice, size_t position,
                                    uint32_t state)
{
    const struct tr_lattice_scores *scores = &lattice->scores;
    uint32_t label = lattice->graph->label[state];
    double score = (double)tr_node_at(lattice, position)[label];
    if (scores->has_residuals) {
        score += (double)scores->residual.at[position * lattice->graph->width + label];
    }
    return scores->has_normalisers ? score + (double)tr_normalisers_at(lattice, position)[state]
                                   : score;
}

/* A score with its residual; `residual` may be NULL. */
static inline double tr_exact(const float *score, const float *residual, size_t at)
{
    return residual ? (double)score[at] + (double)residual[at] : (double)score[at];
}

/* exp(x), without the call where it is nothing beside 1 */
static inline double tr_exp_below(double x)
{
    return x < -60 ? 0 : exp(x);
}

/* The logarithm of a product of many factors; log() is called only now and then. */
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

/* Single precision is enough while the sums of beta are no larger (see forward_backward.c). */
static inline float tr_max_beta(const struct tr_steps *steps)
{
    return 1e30f / steps->max_factor;
}

/* In the backward pass: rescales the marginals of a position to sum to 1, and `to` with them. */
#define TR_POSITIONS_BETWEEN_REPAIRS 16
static inline void tr_lattice_repair(struct tr_lattice *lattice, size_t position)
{
    size_t width = lattice->graph->width;
    float *marginal = lattice->marginal.node.at + position * width;
    float factor = 1 / lattice->kernels->sum(marginal, width);
    lattice->kernels->scale(marginal, factor, width);
    lattice->kernels->scale(lattice->fast.to.at + position * lattice->stride, factor,
                            lattice->stride);
}

/* Room for expected counts; false on allocation failure. */
bool tr_lattice_make_counts(struct tr_lattice *lattice);
void tr_free_counts(struct tr_expected_counts *counts);
/* counts.end += scale * alpha_n(z) beta_n(z); end_factor NULL: it is part of alpha_n. */
void tr_collect_ends(struct tr_lattice *lattice, const float *end_factor, double scale);
/* Adds a count to the features of its place, and clears it. */
void tr_flush_count(double *count, const uint32_t *features, size_t number, float *expected);
/* Flushes the ends, and clears what the transitions left. */
void tr_listed_flush_ends(struct tr_lattice *lattice, float *expected);
/* Sums are taken over a block of positions at a time. */
enum { TR_POSITIONS_AT_ONCE = 128 };

/* General: forward and backward (general_forward_backward.c), and the row of a fan at a position,
 * by label read: to_i of the state it leads to, with the factor of edge scores where there are any;
 * [width] */
bool tr_general_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps);
float tr_general_normaliser_sums(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 size_t position, float *out);
void tr_general_fan_row(const struct tr_lattice *lattice, const struct tr_steps *steps,
                        size_t position, uint32_t fan, float *row);

/* Sparse: out(c) = max_z delta(z) + step(z, c), [width]; for labels ruled out at the position, a
 * lower bound of that. */
void tr_sparse_viterbi_row(struct tr_lattice *lattice, const struct tr_steps *steps,
                           size_t position, const float *delta, float *out);

/* transposed: the blocks are of the labels that transitions come from. False on allocation
 * failure. */
bool tr_tiles_make(struct tr_tiles *tiles, const struct tr_graph *graph, bool transposed);
void tr_tiles_free(struct tr_tiles *tiles);
/* out(b) = sum_a row(a) M(a,b), with 0 after the labels; or, with transposed tiles, out(a) =
 * sum_b M(a,b) row(b). */
void tr_tiles_sum(const struct tr_lattice *lattice, const struct tr_tiles *tiles, const float *row,
                  float *out);

/* TR_LOCAL: the part of tr_lattice_collect_steps() that differs (local.c). */
void tr_local_collect(struct tr_lattice *lattice, const struct tr_steps *steps, double scale);

/* The reference: double precision in log space, for all kinds but the pruned one. */
trellis_status tr_reference_forward_backward(struct tr_lattice *lattice,
                                             const struct tr_steps *steps, trellis_error *error);
trellis_status tr_reference_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                    uint16_t *labels, trellis_error *error);
/* The forward sums alone. */
trellis_status tr_reference_forward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                    trellis_error *error);
/* After that: log P(z_n) of the last states [S]; false where there is no path or a score is NaN. */
bool tr_reference_last_states(const struct tr_lattice *lattice, const struct tr_steps *steps,
                              double *log_p);
/* And log P(z_{i-1} | z_i) of the states that lead to z at position i > 0, which has a path: their
 * number, *ret_from, until the next call, and log_p, with room for [S]. */
size_t tr_reference_states_before(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  size_t i, uint32_t z, const uint32_t **ret_from, double *log_p);
void tr_reference_collect(struct tr_lattice *lattice, const struct tr_steps *steps, double scale);
void tr_reference_edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 float *marginals);

/* For samples: the first place where the sum of probabilities passes a random number, never one of
 * probability 0. */
size_t tr_draw(struct tr_random *random, const double *log_p, size_t count);
/* p (H - log p): what a way of probability p adds, behind which the entropy is H */
double tr_entropy_term(double log_p, double entropy);

/* For the m best paths and for beams: one way to reach a state, the rank-th best of those from the
 * state `from`. Ways are ordered by score, then by the lower `from`, then by rank. */
struct tr_way {
    double score;
    uint32_t from, rank;
};
bool tr_way_better(const struct tr_way *a, const struct tr_way *b);
/* Adds a way to the `max` best of those offered so far, kept[0 .. *count - 1] in no particular
 * order. */
void tr_ways_offer(struct tr_way *kept, size_t *count, size_t max, struct tr_way way);

/* out[c] = max(out[c], before + row[c]) */
static inline void tr_max_plus_row(double *restrict out, double before, const float *restrict row,
                                   size_t count)
{
    for (size_t c = 0; c < count; c++) {
        double score = before + (double)row[c];
        out[c] = score > out[c] ? score : out[c];
    }
}

/* The index of the largest number, the first of equal ones; and the smallest number. */
static inline uint32_t tr_best_of(const double *row, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t z = 1; z < count; z++) {
        best = row[z] > row[best] ? z : best;
    }
    return best;
}

static inline double tr_lowest_of(const double *row, uint32_t count)
{
    double lowest = INFINITY;
    for (uint32_t c = 0; c < count; c++) {
        lowest = row[c] < lowest ? row[c] : lowest;
    }
    return lowest;
}

#endif
