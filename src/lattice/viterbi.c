/* viterbi.c - the best path.
 *
 *   delta_1(z) = start(z) + node_1(z)
 *   delta_i(z) = node_i(z) + max_z' delta_{i-1}(z') + step_i(z', z)
 *
 * with the end's score added to delta_n. No back pointers are kept: a maximum alone is half the
 * work of a maximum with its index, and the index is needed for one state of each position only.
 * Backtracking finds z' again, with the same sums in the same precision, and takes the lowest of
 * equal ones; so every kernel finds the same path.
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

static trellis_status fast_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                   uint16_t *labels, trellis_error *error)
{
    size_t n = lattice->length;
    if (!tr_floats_room(&lattice->fast.alpha, n, lattice->stride)) {
        return tr_fail_memory(error);
    }
    tr_lattice_pad_nodes(lattice);
    start_row(lattice, steps);
    for (size_t i = 1; i < n; i++) {
        if (!advance(lattice, steps, i)) {
            return tr_fail_memory(error);
        }
        rescale_row(lattice, i);
    }
    const float *delta = lattice->fast.alpha.at + (n - 1) * lattice->stride;
    uint32_t z = (uint32_t)lattice->kernels->argmax_plus(delta, steps->score.end, lattice->stride);
    for (size_t i = n; i-- > 0;) {
        labels[i] = lattice->graph->label[z];
        if (i > 0) {
            delta -= lattice->stride;
            z = lattice->kind->came_from(lattice, steps, i, delta, z);
        }
    }
    return TRELLIS_OK;
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
