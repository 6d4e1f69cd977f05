/* local.c - locally normalised models: a decision at each position (McCallum, Freitag, Pereira
 * 2000).
 *
 *   P(c | z', X) = exp(s_i(z', c)) / N_i(z') s_i(z', c) = node_i(c) + step(z', z) +
 *   edge_i(label(z'), c), z = next(z', c), and end(z) where i = n
 *
 * The length is known in advance, so the end's score is part of the last decision.
 *
 * To decode, -log N_{i+1}(z) is added to the score of z at i; then a path scores log P(Z | X), and
 * the recursion of Viterbi is pi_i(z) = max_z' pi_{i-1}(z') P(z | z', X) in logarithms. All N of a
 * position are one step of the backward pass, from a beta of 1, in single precision; where that
 * under- or overflows, the row of the state is summed in double precision.
 *
 * For training only the states of the given labels are needed: one row of L scores per token.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

#define LEAST_SUM 1e-28f // single precision has lost nothing that counts from a sum above

/* s_i(from, c) for all c, padded with minus infinity; [width], may be the lattice's scratch row. */
static void decision_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                         uint32_t from, float *row)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width;
    const float *edges = tr_edges_at(lattice, i);
    const float *step = from == TR_NO_STATE ? steps->score.start
                                            : lattice->kind->out_scores(steps, from, row);
    if (step != row) {
        memcpy(row, step, width * sizeof *row);
    }
    lattice->kernels->add(row, tr_node_at(lattice, i), width);
    if (edges && from != TR_NO_STATE) {
        lattice->kernels->add(row, edges + graph->label[from] * width, width);
    }
    if (i + 1 == lattice->length) {
        const uint32_t *next = lattice->kind->out_states(lattice, steps, from);
        for (uint32_t c = 0; c < graph->labels; c++) {
            row[c] += row[c] > -INFINITY ? steps->score.end[next[c]] : 0;
        }
    }
    for (size_t c = graph->labels; c < width; c++) {
        row[c] = -INFINITY;
    }
}

/* ---- decoding -------------------------------------------------------------------------------- */

/* log N_i(from), in double; minus infinity where nothing may follow. */
static double log_normaliser(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                             uint32_t from)
{
    float *row = lattice->scratch.second_row;
    decision_row(lattice, steps, i, from, row);
    float largest = lattice->kernels->maximum(row, lattice->graph->width);
    double sum = 0;
    if (!isfinite(largest)) {
        return (double)largest;
    }
    for (uint32_t c = 0; c < lattice->graph->labels; c++) {
        sum += exp((double)row[c] - (double)largest);
    }
    return (double)largest + log(sum);
}

/* -log N_i(z) of all states, at the position before. A state that nothing may follow is a dead
 * end. */
static void normaliser_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i)
{
    const struct tr_graph *graph = lattice->graph;
    float *sums = lattice->scratch.row,
          *row = lattice->scores.normaliser.at + (i - 1) * lattice->stride;
    bool fast = !lattice->use_reference;
    double shift = 0;
    if (fast) {
        shift = (double)lattice->kind->normaliser_sums(lattice, steps, i, sums);
    }
    for (uint32_t z = 0; z < graph->states; z++) {
        double normaliser = fast && sums[z] > LEAST_SUM && sums[z] < INFINITY && isfinite(shift)
                                ? shift + log((double)sums[z])
                                : log_normaliser(lattice, steps, i, z);
        row[z] = normaliser > -INFINITY ? (float)-normaliser : -INFINITY;
    }
    for (size_t z = graph->states; z < lattice->stride; z++) {
        row[z] = -INFINITY;
    }
}

trellis_status tr_lattice_normalise(struct tr_lattice *lattice, const struct tr_steps *steps,
                                    trellis_error *error)
{
    size_t n = lattice->length, width = lattice->graph->width;
    size_t pairs = lattice->scores.has_edges ? lattice->graph->labels * width : 0;
    lattice->computed = TR_NOTHING;
    if (n == 0) {
        return TRELLIS_OK;
    }
    if (!tr_floats_room(&lattice->scores.normaliser, n, lattice->stride) ||
        !tr_floats_room(&lattice->fast.to, n, lattice->stride) ||
        !tr_floats_room(&lattice->marginal.node, n, width) ||
        !tr_floats_room(&lattice->fast.pair, n, pairs)) {
        return tr_fail_memory(error);
    }
    tr_lattice_pad_nodes(lattice);
    for (size_t i = 1; i < n; i++) {
        normaliser_row(lattice, steps, i);
    }
    for (size_t z = 0; z < lattice->stride; z++) {
        lattice->scores.normaliser.at[(n - 1) * lattice->stride + z] = z < lattice->graph->states
                                                                           ? 0
                                                                           : -INFINITY;
    }
    double first = log_normaliser(lattice, steps, 0, TR_NO_STATE); // the same for all paths
    for (size_t c = 0; isfinite(first) && c < width; c++) {
        lattice->scores.node.at[c] = (float)((double)lattice->scores.node.at[c] - first);
    }
    lattice->scores.has_normalisers = true;
    return TRELLIS_OK;
}

double tr_lattice_normaliser_score(const struct tr_lattice *lattice, size_t position,
                                   uint32_t state)
{
    const float *leaves = tr_normalisers_at(lattice, position);
    return leaves ? (double)leaves[state] : 0;
}

/* ---- learning -------------------------------------------------------------------------------- */

trellis_status tr_lattice_local_likelihood(struct tr_lattice *lattice, const struct tr_steps *steps,
                                           const uint16_t *labels, double *ret_loss,
                                           trellis_error *error)
{
    const struct tr_graph *graph = lattice->graph;
    size_t n = lattice->length, width = graph->width;
    uint32_t state = TR_NO_STATE;
    *ret_loss = 0;
    lattice->computed = TR_NOTHING;
    if (!tr_floats_room(&lattice->marginal.node, n, width) ||
        !tr_indices_room(&lattice->decided_in, n, 1)) {
        return tr_fail_memory(error);
    }
    tr_lattice_pad_nodes(lattice);
    for (size_t i = 0; i < n; i++) {
        float *p = lattice->marginal.node.at + i * width;
        decision_row(lattice, steps, i, state, p);
        double gold = (double)p[labels[i]];
        double largest = (double)lattice->kernels->exp_row(p, p, width);
        float sum = lattice->kernels->sum(p, width);
        double loss = largest + log((double)sum) - gold;
        if (!isfinite(loss)) {
            return gold == -INFINITY
                       ? tr_fail(error, TRELLIS_DATA, "the sequence of labels is not allowed")
                       : tr_fail(error, TRELLIS_DATA, "a score is not a number or not finite");
        }
        lattice->kernels->scale(p, 1 / sum, width);
        lattice->decided_in.at[i] = state;
        *ret_loss += loss;
        state = tr_graph_next(graph, state, labels[i]);
    }
    lattice->computed = TR_LOCAL;
    return TRELLIS_OK;
}

void tr_local_collect(struct tr_lattice *lattice, const struct tr_steps *steps, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    size_t last = lattice->length - 1;
    for (size_t i = 1; i <= last; i++) {
        const float *p = lattice->marginal.node.at + i * graph->width;
        lattice->kind->collect_local(lattice, steps, lattice->decided_in.at[i], p, scale);
    }
    const uint32_t *next = lattice->kind->out_states(lattice, steps, lattice->decided_in.at[last]);
    for (uint32_t c = 0; c < graph->labels; c++) {
        if (next[c] != TR_NO_STATE) {
            double p = (double)lattice->marginal.node.at[last * graph->width + c];
            lattice->counts.end[next[c]] += scale * p;
        }
    }
}
