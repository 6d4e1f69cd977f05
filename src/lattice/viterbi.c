/* viterbi.c - the best path.
 *
 *   delta_1(z) = start(z) + node_1(z)
 *   delta_i(z) = node_i(z) + max_z' delta_{i-1}(z') + step_i(z', z)
 *
 * with the end's score added to delta_n. No back pointers are kept: the maximum alone is half the work
 * of a maximum with its place, and the place is wanted for one state of each position only. The way
 * back asks again which z' it was, with the same sums in the same precision, and of equal ones takes
 * the lowest; so every kernel finds the same path.
 *
 * In single precision sums over a long sequence would lose their last digits: every few positions the
 * largest delta is subtracted from all.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

#define POSITIONS_BETWEEN_SHIFTS 16

/* ---- one position forward ------------------------------------------------------------------------ */

/* Whether no path leads to any of these states, as in most of them where a tag dictionary rules. */
static bool is_dead(const float *delta, size_t states)
{
    size_t z = 0;
    while (z < states && !(delta[z] > -INFINITY)) {
        z++;
    }
    return z == states;
}

/* The labels that a position is restricted to, in lattice->live; how many, or 0 where they are so many that
 * it is as well to look at all. */
static size_t few_labels(struct tr_lattice *lattice, size_t position)
{
    const struct tr_graph *graph = lattice->graph;
    const float *node = tr_node_at(lattice, position);
    size_t count = 0, most = graph->labels / 8;
    for (uint32_t c = 0; c < graph->labels && count <= most; c++) {
        if (node[c] > -INFINITY) {
            lattice->live[count++] = c;
        }
    }
    return count <= most ? count : 0;
}

/* best(c) = max over the states of the fan of delta(z) + step(z, c), for the labels of few_labels(). */
static void max_for_labels(const struct tr_lattice *lattice, const float *delta,
                           const float *scores, const float *edge, size_t rows, size_t count,
                           float *best)
{
    size_t width = lattice->graph->width;
    for (size_t k = 0; k < count; k++) {
        uint32_t c = lattice->live[k];
        best[c] = -INFINITY;
        for (size_t r = 0; r < rows; r++) {
            float score = delta[r] + scores[r * width + c];
            best[c] = score > best[c] ? score : best[c];
        }
        best[c] += edge ? edge[c] : 0;
    }
}

/* Any other graph: fan by fan, the best step for each label read, and then the best of those that lead
 * to the same state. */
static void max_over_fans(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                          const float *delta, float *out)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width, few = few_labels(lattice, position);
    const float *node = tr_node_at(lattice, position), *edges = tr_edges_at(lattice, position);
    float *best = lattice->row;
    for (uint32_t z = 0; z < graph->states; z++) {
        out[z] = -INFINITY;
    }
    for (uint32_t fan = 0; fan < graph->fan_count; fan++) {
        size_t first = graph->fan_begin[fan], rows = graph->fan_begin[fan + 1] - first;
        const float *scores = steps->row_score + first * width;
        const float *edge = edges ? edges + graph->label[first] * width : NULL;
        if (is_dead(delta + first, rows)) {
            continue;
        }
        if (few) {
            max_for_labels(lattice, delta + first, scores, edge, rows, few, best);
        } else {
            lattice->kernels->max_plus(best, delta + first, scores, rows, width);
            if (edge) {
                lattice->kernels->add(best, edge, width);
            }
        }
        for (size_t k = 0; k < (few ? few : graph->labels); k++) {
            size_t c = few ? lattice->live[k] : k;
            uint32_t step = graph->step_at[first * graph->labels + c];
            if (step != TR_NO_STEP && best[c] > out[graph->to[step]]) {
                out[graph->to[step]] = best[c];
            }
        }
    }
    for (uint32_t z = 0; z < graph->states; z++) {
        out[z] += node[graph->label[z]];
    }
}

/* Adds the scores of leaving the states of a position, where there are any. */
static void add_leaves(struct tr_lattice *lattice, size_t position)
{
    if (lattice->has_leaves) {
        lattice->kernels->add(lattice->alpha.at + position * lattice->stride,
                              tr_leaves_at(lattice, position), lattice->stride);
    }
}

static bool advance(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position)
{
    const struct tr_graph *graph = lattice->graph;
    const float *delta = lattice->alpha.at + (position - 1) * lattice->stride;
    float *out = lattice->alpha.at + position * lattice->stride;
    if (!graph->first_order) {
        max_over_fans(lattice, steps, position, delta, out);
        add_leaves(lattice, position);
        return true;
    }
    if (graph->free_steps && !lattice->has_edges) {
        tr_free_viterbi_row(lattice, steps, position, delta, out);
    } else {
        const float *scores = tr_lattice_scores_at(lattice, steps, position);
        if (!scores) {
            return false;
        }
        lattice->kernels->max_plus(out, delta, scores, graph->labels, graph->width);
    }
    lattice->kernels->add(out, tr_node_at(lattice, position), graph->width);
    add_leaves(lattice, position);
    return true;
}

/* ---- the whole sequence -------------------------------------------------------------------------- */

static void start_row(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    const struct tr_graph *graph = lattice->graph;
    const float *node = tr_node_at(lattice, 0);
    for (size_t z = 0; z < lattice->stride; z++) {
        lattice->alpha.at[z] = -INFINITY;
    }
    for (uint32_t c = 0; c < graph->labels; c++) {
        uint32_t z = graph->first_order ? c : steps->start_state[c];
        if (z != TR_NO_STATE) {
            lattice->alpha.at[z] = node[c] + steps->start[c];
        }
    }
    add_leaves(lattice, 0);
}

/* Pads a row of states and, now and then, makes its largest score 0. */
static void settle_row(struct tr_lattice *lattice, size_t position)
{
    float *row = lattice->alpha.at + position * lattice->stride;
    for (size_t z = lattice->graph->states; z < lattice->stride; z++) {
        row[z] = -INFINITY;
    }
    if (position % POSITIONS_BETWEEN_SHIFTS == POSITIONS_BETWEEN_SHIFTS - 1) {
        float most = lattice->kernels->maximum(row, lattice->stride);
        for (size_t z = 0; isfinite(most) && z < lattice->stride; z++) {
            row[z] -= most;
        }
    }
}

/* The lowest z' of the largest delta(z') + step(z', z). */
static uint32_t came_from(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                          uint32_t z)
{
    const struct tr_graph *graph = lattice->graph;
    const float *delta = lattice->alpha.at + (position - 1) * lattice->stride;
    if (graph->first_order) {
        const float *column = tr_lattice_column_at(lattice, steps, position, z);
        return (uint32_t)lattice->kernels->argmax_plus(delta, column, graph->width);
    }
    const float *edges = tr_edges_at(lattice, position);
    float best = -INFINITY;
    uint32_t best_from = 0;
    for (uint32_t a = graph->in_begin[z]; a < tr_steps_in_end(graph, z); a++) {
        uint32_t from = graph->from[a];
        float score = delta[from] + steps->score[a];
        if (edges) {
            score += edges[graph->label[from] * graph->width + graph->label[z]];
        }
        if (score > best) {
            best = score;
            best_from = from;
        }
    }
    return best_from;
}

static trellis_status fast_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                   uint16_t *labels, trellis_error *error)
{
    size_t n = lattice->length;
    if (!tr_floats_room(&lattice->alpha, n, lattice->stride)) {
        return tr_fail_memory(error);
    }
    tr_lattice_seal(lattice);
    start_row(lattice, steps);
    for (size_t i = 1; i < n; i++) {
        if (!advance(lattice, steps, i)) {
            return tr_fail_memory(error);
        }
        settle_row(lattice, i);
    }
    const float *last = lattice->alpha.at + (n - 1) * lattice->stride;
    uint32_t z = (uint32_t)lattice->kernels->argmax_plus(last, steps->end, lattice->stride);
    for (size_t i = n; i-- > 0;) {
        labels[i] = lattice->graph->label[z];
        z = i > 0 ? came_from(lattice, steps, i, z) : z;
    }
    return TRELLIS_OK;
}

trellis_status tr_lattice_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  uint16_t *labels, double *ret_score, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    lattice->computed = TR_NOTHING;
    *ret_score = 0;
    if (lattice->length == 0) {
        return TRELLIS_OK;
    }
    status = lattice->pruning     ? tr_pruned_viterbi(lattice, steps, labels, error)
             : lattice->reference ? tr_reference_viterbi(lattice, steps, labels, error)
                                  : fast_viterbi(lattice, steps, labels, error);
    if (status) {
        return status;
    }
    *ret_score = tr_lattice_path_score(lattice, steps, labels);
    if (!isfinite(*ret_score)) {
        return tr_fail(error, TRELLIS_DATA, "no sequence of labels has a finite score");
    }
    return TRELLIS_OK;
}
