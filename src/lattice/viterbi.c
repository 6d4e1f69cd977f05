/* viterbi.c - the best path.
 *
 *   delta_1(z) = start(z) + node_1(z)
 *   delta_i(z) = node_i(z) + max_z' delta_{i-1}(z') + step_i(z', z)
 *
 * with the end's score added to delta_n. No back pointers are kept: a maximum alone is half the
 * work of a maximum with its index, and the index is needed for one state of each position only.
 * Backtracking finds z' again, with the same sums in the same precision, and takes the lowest of
 * equal ones; so every kernel finds the same path. With one dense matrix of scores for all positions
 * the maxima are kept, so that z' is found without looking for the maximum again.
 *
 * In single precision sums over a long sequence would lose their last digits: every few positions
 * the largest delta is subtracted from all.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

#define POSITIONS_BETWEEN_SHIFTS 16

/* ---- one position forward -------------------------------------------------------------------- */

/* Adds -log N of the states of a position where the lattice is normalised. */
static void add_normalisers(struct tr_lattice *lattice, size_t position)
{
    if (lattice->scores.has_normalisers) {
        lattice->kernels->add(lattice->fast.alpha.at + position * lattice->stride,
                              tr_normalisers_at(lattice, position), lattice->stride);
    }
}

static bool advance(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position)
{
    const float *delta = lattice->fast.alpha.at + (position - 1) * lattice->stride;
    float *out = lattice->fast.alpha.at + position * lattice->stride;
    if (!lattice->kind->viterbi_row(lattice, steps, position, delta, out)) {
        return false;
    }
    add_normalisers(lattice, position);
    return true;
}

/* ---- the whole sequence ---------------------------------------------------------------------- */

static void start_row(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    const struct tr_graph *graph = lattice->graph;
    const float *node = tr_node_at(lattice, 0);
    for (size_t z = 0; z < lattice->stride; z++) {
        lattice->fast.alpha.at[z] = -INFINITY;
    }
    for (uint32_t c = 0; c < graph->labels; c++) {
        uint32_t z = steps->start_state[c];
        if (z != TR_NO_STATE) {
            lattice->fast.alpha.at[z] = node[c] + steps->score.start[c];
        }
    }
    add_normalisers(lattice, 0);
}

/* Pads a row of states and, every few positions, shifts its largest score to 0. */
static void rescale_row(struct tr_lattice *lattice, size_t position)
{
    float *row = lattice->fast.alpha.at + position * lattice->stride;
    for (size_t z = lattice->graph->states; z < lattice->stride; z++) {
        row[z] = -INFINITY;
    }
    if (position % POSITIONS_BETWEEN_SHIFTS == POSITIONS_BETWEEN_SHIFTS - 1) {
        float largest = lattice->kernels->maximum(row, lattice->stride);
        for (size_t z = 0; isfinite(largest) && z < lattice->stride; z++) {
            row[z] -= largest;
        }
    }
}

static trellis_status fast_rows(struct tr_lattice *lattice, const struct tr_steps *steps,
                                trellis_error *error)
{
    for (size_t i = 1; i < lattice->length; i++) {
        if (!advance(lattice, steps, i)) {
            return tr_fail_memory(error);
        }
        rescale_row(lattice, i);
    }
    return TRELLIS_OK;
}

/* The same with one dense matrix, from one shift to the next; the maxima are kept in `to`. */
static void dense_rows(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    size_t n = lattice->length, width = lattice->graph->width;
    for (size_t begin = 0; begin + 1 < n;) {
        size_t left = POSITIONS_BETWEEN_SHIFTS - 1 - begin % POSITIONS_BETWEEN_SHIFTS;
        size_t last = begin + (left > 0 ? left : POSITIONS_BETWEEN_SHIFTS), at = begin * width;
        last = last < n ? last : n - 1;
        lattice->kernels->best_rows(lattice->fast.alpha.at + at, lattice->fast.to.at + at,
                                    lattice->scores.node.at + at, last - begin + 1,
                                    steps->of.dense.score, lattice->graph->labels, width);
        rescale_row(lattice, last);
        begin = last;
    }
}

/* The path that ends in state z. */
static void backtrack(struct tr_lattice *lattice, const struct tr_steps *steps, uint32_t z,
                      uint16_t *labels)
{
    size_t n = lattice->length;
    if (tr_has_one_matrix(lattice)) {
        labels[n - 1] = (uint16_t)z;
        lattice->kernels->trace_back(labels, lattice->fast.alpha.at, lattice->fast.to.at,
                                     steps->of.dense.score_by_to, n, lattice->stride);
        return;
    }
    for (size_t i = n; i-- > 0;) {
        labels[i] = lattice->graph->label[z];
        if (i > 0) {
            z = lattice->kind->came_from(lattice, steps, i,
                                         lattice->fast.alpha.at + (i - 1) * lattice->stride, z);
        }
    }
}

static trellis_status fast_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                   uint16_t *labels, trellis_error *error)
{
    size_t n = lattice->length;
    bool dense = tr_has_one_matrix(lattice);
    if (!tr_floats_room(&lattice->fast.alpha, n, lattice->stride) ||
        !tr_floats_room(&lattice->fast.to, dense ? n : 0, lattice->stride)) {
        return tr_fail_memory(error);
    }
    tr_lattice_pad_nodes(lattice);
    start_row(lattice, steps);
    trellis_status status = TRELLIS_OK;
    if (dense) {
        dense_rows(lattice, steps);
    } else {
        status = fast_rows(lattice, steps, error);
    }
    if (!status) {
        const float *delta = lattice->fast.alpha.at + (n - 1) * lattice->stride;
        backtrack(lattice, steps,
                  (uint32_t)lattice->kernels->argmax_plus(delta, steps->score.end, lattice->stride),
                  labels);
    }
    return status;
}

trellis_status tr_listed_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 uint16_t *labels, trellis_error *error)
{
    return lattice->use_reference ? tr_reference_viterbi(lattice, steps, labels, error)
                                  : fast_viterbi(lattice, steps, labels, error);
}

trellis_status tr_lattice_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  uint16_t *labels, double *ret_score, trellis_error *error)
{
    lattice->computed = TR_NOTHING;
    *ret_score = 0;
    if (lattice->length == 0) {
        return TRELLIS_OK;
    }
    trellis_status status = lattice->kind->viterbi(lattice, steps, labels, error);
    if (status) {
        return status;
    }
    *ret_score = tr_lattice_path_score(lattice, steps, labels);
    if (!isfinite(*ret_score)) {
        return tr_fail(error, TRELLIS_DATA, "no sequence of labels has a finite score");
    }
    return TRELLIS_OK;
}
