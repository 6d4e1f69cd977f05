/* general_forward_backward.c - log Z and marginals of general graphs, in single precision with
 * scaling.
 *
 * As in forward_backward.c, but over states. From the states of a fan f, which have one label c', a
 * label c leads to one state f(c), so the steps of a fan are a matrix M(z', c). With F_i(c',c) =
 * exp(edge_i(c',c) - its largest) where there are edge scores,
 *
 *   alpha_i(z) = psi_i(c) / s_{i-1} * sum over fans f with f(c) = z of
 *                F_i(c',c) sum over z' in f of alpha_{i-1}(z') M(z',c)
 *   beta_{i-1}(z') = sum_c M(z',c) to_i(f(c)) F_i(c',c)
 *
 * and, with the factors of the ends, s_n = sum_z alpha_n(z) end(z) and beta_n(z) = end(z) / s_n.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

/* psi_i by label, kept in the row of marginals until those are computed; returns its logarithm's
 * shift. */
static float node_factors(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i)
{
    size_t width = lattice->graph->width;
    float *psi = lattice->marginal.node.at + i * width;
    memcpy(psi, tr_node_at(lattice, i), width * sizeof *psi);
    if (i == 0) {
        lattice->kernels->add(psi, steps->score.start, width);
    }
    return lattice->kernels->exp_row(psi, psi, width);
}

/* F_i; returns its logarithm's shift. */
static float pair_factors(struct tr_lattice *lattice, size_t i)
{
    const struct tr_graph *graph = lattice->graph;
    size_t size = (size_t)graph->labels * graph->width;
    float *pair = lattice->fast.pair.at + i * size;
    memcpy(pair, tr_edges_at(lattice, i), size * sizeof *pair);
    for (size_t row = 0; row < graph->labels; row++) {
        for (size_t j = graph->labels; j < graph->width; j++) {
            pair[row * graph->width + j] = -INFINITY;
        }
    }
    return lattice->kernels->exp_row(pair, pair, size);
}

/* F_i, NULL where there are no edge scores. */
static const float *pair_at(const struct tr_lattice *lattice, size_t i)
{
    size_t size = (size_t)lattice->graph->labels * lattice->graph->width;
    return lattice->scores.has_edges ? lattice->fast.pair.at + i * size : NULL;
}

/* In a locally normalised model: the factors 1 / N, kept in the row of `to` until that is computed,
 * are multiplied into alpha_i. Returns their logarithm's shift. */
static float normaliser_factors(struct tr_lattice *lattice, size_t i)
{
    float *factor = lattice->fast.to.at + i * lattice->stride;
    float shift = lattice->kernels->exp_row(factor, tr_normalisers_at(lattice, i), lattice->stride);
    lattice->kernels->multiply(lattice->fast.alpha.at + i * lattice->stride, factor,
                               lattice->stride);
    return shift;
}

static void start_row(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    memset(lattice->fast.alpha.at, 0, lattice->stride * sizeof *lattice->fast.alpha.at);
    for (uint32_t c = 0; c < lattice->graph->labels; c++) {
        if (steps->start_state[c] != TR_NO_STATE) {
            lattice->fast.alpha.at[steps->start_state[c]] = lattice->marginal.node.at[c];
        }
    }
}

static void forward_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width;
    const float *before = lattice->fast.alpha.at + (i - 1) * lattice->stride;
    const float *psi = lattice->marginal.node.at + i * width, *pair = pair_at(lattice, i);
    float *alpha = lattice->fast.alpha.at + i * lattice->stride, *sums = lattice->scratch.row;
    memset(alpha, 0, lattice->stride * sizeof *alpha);
    for (uint32_t fan = 0; fan < graph->fan_count; fan++) {
        size_t first = graph->fan_begin[fan], rows = graph->fan_begin[fan + 1] - first;
        lattice->kernels->vector_matrix(sums, before + first,
                                        steps->of.general.factor + first * width, rows, width);
        if (pair) {
            lattice->kernels->multiply(sums, pair + graph->label[first] * width, width);
        }
        for (uint32_t k = steps->of.general.fan_begin[fan];
             k < steps->of.general.fan_begin[fan + 1]; k++) {
            alpha[steps->of.general.fan_to[k]] += sums[steps->of.general.fan_label[k]];
        }
    }
    for (uint32_t fan = 0; fan < graph->fan_count; fan++) { // the states of a fan have one label
        float factor = psi[graph->label[graph->fan_begin[fan]]] * lattice->fast.inverse.at[i - 1];
        for (uint32_t z = graph->fan_begin[fan]; z < graph->fan_begin[fan + 1]; z++) {
            alpha[z] *= factor;
        }
    }
}

static bool forward(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    struct tr_log_product z = {(double)steps->of.general.end_shift, 1};
    for (size_t i = 0; i < lattice->length; i++) {
        float *alpha = lattice->fast.alpha.at + i * lattice->stride;
        z.log += (double)node_factors(lattice, steps, i);
        if (i == 0) {
            start_row(lattice, steps);
        } else {
            z.log += (double)(lattice->scores.has_edges ? pair_factors(lattice, i) : 0);
            z.log += (double)steps->shift;
            forward_row(lattice, steps, i);
        }
        z.log += (double)(lattice->scores.has_normalisers ? normaliser_factors(lattice, i) : 0);
        if (i + 1 == lattice->length) {
            memcpy(lattice->scratch.row, alpha, lattice->stride * sizeof *alpha);
            alpha = lattice->scratch.row;
            lattice->kernels->multiply(alpha, steps->of.general.end_factor, lattice->stride);
        }
        float sum = lattice->kernels->sum(alpha, lattice->stride);
        if (!(sum > 0 && sum < INFINITY) || tr_interrupted(lattice->interruption)) {
            return false;
        }
        lattice->fast.inverse.at[i] = 1 / sum;
        tr_multiply_in(&z, (double)sum);
    }
    lattice->log_z = z.log + log(z.product);
    return isfinite(lattice->log_z);
}

/* Turns beta_i into P(c at i) and to_i. */
static void finish_row(struct tr_lattice *lattice, size_t i, const float *beta)
{
    const struct tr_graph *graph = lattice->graph;
    const float *alpha = lattice->fast.alpha.at + i * lattice->stride;
    float *to = lattice->fast.to.at + i * lattice->stride;
    float *marginal = lattice->marginal.node.at + i * graph->width;
    float inverse = i > 0 ? lattice->fast.inverse.at[i - 1] : 1;
    float *sums = lattice->scratch.second_row; // psi is in the marginals until these take its place
    memset(sums, 0, graph->width * sizeof *sums);
    for (uint32_t fan = 0; fan < graph->fan_count; fan++) {
        uint32_t first = graph->fan_begin[fan], end = graph->fan_begin[fan + 1];
        uint16_t label = graph->label[first];
        float factor = marginal[label] * inverse, sum = 0;
        for (uint32_t z = first; z < end; z++) {
            float normaliser = lattice->scores.has_normalisers ? to[z] : 1;
            to[z] = beta[z] * factor * normaliser;
            sum += alpha[z] * beta[z];
        }
        sums[label] += sum;
    }
    memcpy(marginal, sums, graph->width * sizeof *marginal);
}

void tr_general_fan_row(const struct tr_lattice *lattice, const struct tr_steps *steps,
                        size_t position, uint32_t fan, float *row)
{
    const struct tr_graph *graph = lattice->graph;
    size_t first = graph->fan_begin[fan];
    const float *to = lattice->fast.to.at + position * lattice->stride,
                *pair = pair_at(lattice, position);
    memset(row, 0, graph->width * sizeof *row);
    for (uint32_t k = steps->of.general.fan_begin[fan]; k < steps->of.general.fan_begin[fan + 1];
         k++) {
        row[steps->of.general.fan_label[k]] = to[steps->of.general.fan_to[k]];
    }
    if (pair) {
        lattice->kernels->multiply(row, pair + graph->label[first] * graph->width, graph->width);
    }
}

static void backward_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                         float *beta)
{
    const struct tr_graph *graph = lattice->graph;
    for (uint32_t fan = 0; fan < graph->fan_count; fan++) {
        size_t first = graph->fan_begin[fan], rows = graph->fan_begin[fan + 1] - first;
        tr_general_fan_row(lattice, steps, i, fan, lattice->scratch.second_row);
        lattice->kernels->matrix_vector(beta + first,
                                        steps->of.general.factor + first * graph->width,
                                        lattice->scratch.second_row, rows, graph->width);
    }
}

float tr_general_normaliser_sums(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 size_t position, float *out)
{
    const struct tr_graph *graph = lattice->graph;
    bool last = position + 1 == lattice->length;
    float *to = lattice->fast.to.at + position * lattice->stride;
    const float *psi = lattice->marginal.node.at + position * graph->width;
    float shift = node_factors(lattice, steps, position) + steps->shift;
    shift += last ? steps->of.general.end_shift : 0;
    shift += lattice->scores.has_edges ? pair_factors(lattice, position) : 0;
    for (uint32_t z = 0; z < graph->states; z++) {
        to[z] = psi[graph->label[z]] * (last ? steps->of.general.end_factor[z] : 1);
    }
    backward_row(lattice, steps, position, out);
    return shift;
}

static bool backward(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    const struct tr_graph *graph = lattice->graph;
    float *beta = lattice->scratch.row;
    memset(beta, 0, lattice->stride * sizeof *beta);
    for (uint32_t z = 0; z < graph->states; z++) {
        beta[z] = steps->of.general.end_factor[z] * lattice->fast.inverse.at[lattice->length - 1];
    }
    for (size_t i = lattice->length; i-- > 0;) {
        if (!(lattice->kernels->sum(beta, lattice->stride) <= tr_max_beta(steps)) ||
            tr_interrupted(lattice->interruption)) {
            return false;
        }
        finish_row(lattice, i, beta);
        if (i % TR_POSITIONS_BETWEEN_REPAIRS == 0) {
            tr_lattice_repair(lattice, i);
        }
        if (i > 0) {
            backward_row(lattice, steps, i, beta);
        }
    }
    return true;
}

bool tr_general_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    return forward(lattice, steps) && backward(lattice, steps);
}
