/* forward_backward.c - log Z and marginals of first-order graphs, in single precision with scaling.
 *
 * With psi_i(c) = exp(node_i(c) - m_i), m_i the largest node score of the position, and M(a,b) =
 * exp(step(a,b) - shift), the start's and the end's scores counted among the node scores of the
 * first and last position,
 *
 *   alpha_1(c) = psi_1(c)                   alpha_i(b) = psi_i(b) / s_{i-1} * sum_a alpha_{i-1}(a)
 *                                           M(a,b)
 *   s_i = sum_c alpha_i(c)
 *   beta_n(c) = 1 / s_n                     beta_{i-1}(a) = sum_b M(a,b) to_i(b)
 *   to_i(b) = psi_i(b) beta_i(b) / s_{i-1}
 *
 * and from these
 *
 *   log Z = sum_i (m_i + log s_i) + (n - 1) shift
 *   P(c at i) = alpha_i(c) beta_i(c)        P(a, b at i-1, i) = alpha_{i-1}(a) M(a,b) to_i(b)
 *
 * When is single precision enough? Where a factor or an alpha_i(b) underflows, less than 1e-38
 * times the largest M is lost from alpha_i(b), and paths of beta_i(b) times that probability with
 * it; beta_i(b) does not depend on what was lost. So nothing significant is lost while all beta
 * stay below 1e30 / the largest M. What a beta loses by underflow is multiplied by an alpha of at
 * most about 1. Where a beta is larger, or anything is not finite, the result is discarded and the
 * reference kernel is used.
 *
 * In a locally normalised model -log N is counted among the node scores as well.
 *
 * The marginals of a position sum to 1 but for rounding, which adds up along the way back; every
 * few positions it is corrected.
 *
 * In the sparse kind M is relative to the scores of unlisted transitions, which are counted among
 * the node scores (steps->offset), and the sums are those of tiles.c.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

/* ---- sums over steps ------------------------------------------------------------------------- */

static const float *pair_at(const struct tr_lattice *lattice, size_t i)
{
    return lattice->fast.pair.at + i * lattice->graph->labels * lattice->graph->width;
}

static void step_forward(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                         const float *from, float *out)
{
    const struct tr_graph *graph = lattice->graph;
    if (lattice->scores.has_edges) {
        lattice->kernels->vector_matrix(out, from, pair_at(lattice, i), graph->labels,
                                        graph->width);
    } else {
        lattice->kind->sum_forward(lattice, steps, from, out);
    }
}

static void step_backward(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                          const float *to, float *out)
{
    const struct tr_graph *graph = lattice->graph;
    if (lattice->scores.has_edges) {
        lattice->kernels->matrix_vector(out, pair_at(lattice, i), to, graph->labels, graph->width);
    } else {
        lattice->kind->sum_backward(lattice, steps, to, out);
    }
}

/* ---- factors of a position ------------------------------------------------------------------- */

/* psi_i into the row of `to`; returns m_i. */
static float node_factors(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i)
{
    size_t width = lattice->graph->width;
    float *psi = lattice->fast.to.at + i * width;
    const float *node = tr_node_at(lattice, i);
    bool first = i == 0, last = i + 1 == lattice->length;
    const float *offset = first                       ? steps->score.start
                          : lattice->scores.has_edges ? NULL
                                                      : steps->offset;
    if (offset || last || lattice->scores.has_normalisers) {
        memcpy(psi, node, width * sizeof *psi);
        if (offset) {
            lattice->kernels->add(psi, offset, width);
        }
        if (last) {
            lattice->kernels->add(psi, steps->score.end, width);
        }
        if (lattice->scores.has_normalisers) {
            lattice->kernels->add(psi, tr_normalisers_at(lattice, i), width);
        }
        node = psi;
    }
    return lattice->kernels->exp_row(psi, node, width);
}

/* With edge scores, the factors of all steps to a position: exp(step + edge - m), m the largest,
 * which is returned; NAN on allocation failure. */
static float pair_factors(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i)
{
    size_t size = (size_t)lattice->graph->labels * lattice->graph->width;
    const float *scores = tr_first_order_edge_scores(lattice, steps, i);
    return scores ? lattice->kernels->exp_row(lattice->fast.pair.at + i * size, scores, size) : NAN;
}

float tr_first_order_normaliser_sums(struct tr_lattice *lattice, const struct tr_steps *steps,
                                     size_t position, float *out)
{
    float shift = node_factors(lattice, steps, position);
    shift += lattice->scores.has_edges ? pair_factors(lattice, steps, position) : steps->shift;
    step_backward(lattice, steps, position, lattice->fast.to.at + position * lattice->graph->width,
                  out);
    return shift;
}

/* ---- the passes ------------------------------------------------------------------------------ */

static bool forward(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    size_t width = lattice->graph->width;
    struct tr_log_product z = {0, 1};
    float before = 1;
    for (size_t i = 0; i < lattice->length; i++) {
        float *alpha = lattice->fast.alpha.at + i * width;
        float *psi = lattice->fast.to.at + i * width;
        z.log += (double)node_factors(lattice, steps, i);
        if (i == 0) {
            memcpy(alpha, psi, width * sizeof *alpha);
            before = lattice->kernels->sum(alpha, width);
        } else {
            z.log += (double)(lattice->scores.has_edges ? pair_factors(lattice, steps, i)
                                                        : steps->shift);
            step_forward(lattice, steps, i, alpha - width, alpha);
            before = lattice->kernels->forward_row(alpha, psi, lattice->fast.inverse.at[i - 1],
                                                   width);
        }
        if (!(before > 0 && before < INFINITY)) {
            return false;
        }
        lattice->fast.inverse.at[i] = 1 / before;
        tr_multiply_in(&z, (double)before);
    }
    lattice->log_z = z.log + log(z.product);
    return isfinite(lattice->log_z);
}

static bool backward(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    size_t width = lattice->graph->width;
    float *beta = lattice->scratch.row;
    for (size_t c = 0; c < width; c++) {
        beta[c] = c < lattice->graph->labels ? lattice->fast.inverse.at[lattice->length - 1] : 0;
    }
    for (size_t i = lattice->length; i-- > 0;) {
        float *to = lattice->fast.to.at + i * width;
        float factor = i > 0 ? lattice->fast.inverse.at[i - 1] : 1;
        float sum = lattice->kernels->backward_row(lattice->marginal.node.at + i * width, to,
                                                   lattice->fast.alpha.at + i * width, beta, factor,
                                                   width);
        if (!(sum <= tr_max_beta(steps))) {
            return false;
        }
        if (i % TR_POSITIONS_BETWEEN_REPAIRS == 0) {
            tr_lattice_repair(lattice, i);
        }
        if (i > 0) {
            step_backward(lattice, steps, i, to, beta);
        }
    }
    return true;
}

/* ---- the same with one dense matrix of factors for all steps --------------------------------- */

static bool forward_dense(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    size_t width = lattice->graph->width, n = lattice->length;
    float *alpha = lattice->fast.alpha.at, *psi = lattice->fast.to.at;
    float *inverse = lattice->fast.inverse.at;
    struct tr_log_product scales = {0, 1};
    double sum = (double)node_factors(lattice, steps, 0);
    if (n > 1) {
        sum += lattice->kernels->exp_rows(psi + width, tr_node_at(lattice, 1), n - 2, width);
        sum += (double)node_factors(lattice, steps, n - 1);
        sum += (double)(n - 1) * (double)steps->shift;
    }
    memcpy(alpha, psi, width * sizeof *alpha);
    inverse[0] = 1 / lattice->kernels->sum(alpha, width);
    lattice->kernels->forward_rows(alpha, psi, inverse, n, steps->of.dense.factor,
                                   lattice->graph->labels, width);
    for (size_t i = 0; i < n; i++) {
        if (!(inverse[i] > 0 && inverse[i] < INFINITY)) {
            return false;
        }
        tr_multiply_in(&scales, (double)inverse[i]);
    }
    lattice->log_z = sum - (scales.log + log(scales.product));
    return isfinite(lattice->log_z);
}

/* From one repair to the next. */
static bool backward_dense(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    size_t width = lattice->graph->width, end = lattice->length;
    float *beta = lattice->scratch.row, *to = lattice->fast.to.at, *alpha = lattice->fast.alpha.at,
          *inverse = lattice->fast.inverse.at, *marginal = lattice->marginal.node.at;
    for (size_t c = 0; c < width; c++) {
        beta[c] = c < lattice->graph->labels ? inverse[end - 1] : 0;
    }
    while (end > 0) {
        size_t first = (end - 1) / TR_POSITIONS_BETWEEN_REPAIRS * TR_POSITIONS_BETWEEN_REPAIRS;
        size_t at = first * width;
        float most = lattice->kernels->backward_rows(
            marginal + at, to + at, alpha + at, beta, inverse + first, end - first,
            steps->of.dense.factor_by_to, lattice->graph->labels, width);
        float sum = lattice->kernels->backward_row(marginal + at, to + at, alpha + at, beta,
                                                   first > 0 ? inverse[first - 1] : 1, width);
        if (!(most <= tr_max_beta(steps) && sum <= tr_max_beta(steps))) {
            return false;
        }
        tr_lattice_repair(lattice, first);
        if (first > 0) {
            lattice->kernels->vector_matrix(beta, to + at, steps->of.dense.factor_by_to,
                                            lattice->graph->labels, width);
        }
        end = first;
    }
    return true;
}

bool tr_first_order_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    return tr_has_one_matrix(lattice)
               ? forward_dense(lattice, steps) && backward_dense(lattice, steps)
               : forward(lattice, steps) && backward(lattice, steps);
}
