/* dense.c - first-order lattices whose graph lists all transitions: matrices of scores and
 * factors. */
#include "lattice/lattice_internal.h"

#include <string.h>

/* ---- steps ----------------------------------------------------------------------------------- */

bool tr_dense_make_steps(struct tr_steps *steps)
{
    struct tr_dense_steps *dense = &steps->of.dense;
    size_t size = (size_t)steps->graph->labels * steps->graph->width;
    dense->score = tr_steps_forbidden_row(size);
    dense->score_by_to = tr_steps_forbidden_row(size);
    dense->factor = tr_alloc_aligned(size, sizeof(float));
    dense->factor_by_to = tr_alloc_aligned(size, sizeof(float));
    return dense->score && dense->score_by_to && dense->factor && dense->factor_by_to &&
           tr_listed_make_steps(steps);
}

void tr_dense_free_steps(struct tr_steps *steps)
{
    free(steps->of.dense.score);
    free(steps->of.dense.score_by_to);
    free(steps->of.dense.factor);
    free(steps->of.dense.factor_by_to);
}

static void transpose(float *by_from, const float *by_to, size_t labels, size_t width)
{
    for (size_t to = 0; to < labels; to++) {
        for (size_t from = 0; from < labels; from++) {
            by_from[from * width + to] = by_to[to * width + from];
        }
    }
}

void tr_dense_refresh(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    struct tr_dense_steps *dense = &steps->of.dense;
    size_t labels = graph->labels, width = graph->width;
    for (size_t to = 0; to < labels; to++) {
        memcpy(dense->score_by_to + to * width, steps->score.step + graph->in_begin[to],
               labels * sizeof(float));
    }
    steps->shift = tr_steps_largest(dense->score_by_to, labels * width);
    tr_steps_set_factors(steps, dense->factor_by_to, dense->score_by_to, steps->shift,
                         labels * width);
    transpose(dense->score, dense->score_by_to, labels, width);
    transpose(dense->factor, dense->factor_by_to, labels, width);
}

bool tr_dense_change_step(struct tr_steps *steps, uint32_t step)
{
    struct tr_dense_steps *dense = &steps->of.dense;
    size_t from = steps->graph->from[step], to = steps->graph->to[step],
           width = steps->graph->width;
    float score = steps->score.step[step], factor = expf(score - steps->shift);
    if (from == TR_NO_STATE) {
        return true;
    }
    steps->max_factor = fmaxf(steps->max_factor, factor);
    dense->score[from * width + to] = dense->score_by_to[to * width + from] = score;
    dense->factor[from * width + to] = dense->factor_by_to[to * width + from] = factor;
    return tr_steps_near_shift(score, steps->shift);
}

static const float *out_scores(const struct tr_steps *steps, uint32_t from, float *row)
{
    (void)row;
    return steps->of.dense.score + (size_t)from * steps->graph->width;
}

/* ---- sums and maxima ------------------------------------------------------------------------- */

static void sum_forward(struct tr_lattice *lattice, const struct tr_steps *steps, const float *row,
                        float *out)
{
    lattice->kernels->vector_matrix(out, row, steps->of.dense.factor, lattice->graph->labels,
                                    lattice->graph->width);
}

static void sum_backward(struct tr_lattice *lattice, const struct tr_steps *steps, const float *row,
                         float *out)
{
    lattice->kernels->vector_matrix(out, row, steps->of.dense.factor_by_to, lattice->graph->labels,
                                    lattice->graph->width);
}

static bool viterbi_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                        const float *delta, float *out)
{
    const struct tr_graph *graph = lattice->graph;
    if (lattice->scores.has_edges) {
        return tr_first_order_edge_viterbi_row(lattice, steps, position, delta, out);
    }
    lattice->kernels->max_plus(out, delta, steps->of.dense.score, graph->labels, graph->width);
    lattice->kernels->add(out, tr_node_at(lattice, position), graph->width);
    return true;
}

static uint32_t came_from(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                          const float *delta, uint32_t z)
{
    size_t width = lattice->graph->width;
    const float *column = steps->of.dense.score_by_to + z * width;
    if (lattice->scores.has_edges) {
        float *sums = lattice->scratch.row;
        memcpy(sums, column, width * sizeof *sums);
        tr_first_order_add_edges(lattice, position, z, sums);
        column = sums;
    }
    return (uint32_t)lattice->kernels->argmax_plus(delta, column, width);
}

/* The best label comes first; labels whose best transition cannot beat the worst of its transitions
 * are skipped: nearly all where the best label is clear. */
static void max_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                    struct tr_max_rows *rows, const double *before, double *out)
{
    const float *matrix = steps->of.dense.score;
    uint32_t labels = lattice->graph->labels;
    size_t width = lattice->graph->width;
    if (lattice->scores.has_edges) {
        tr_first_order_edge_max_row(lattice, steps, position, rows, before, out);
        return;
    }
    for (size_t z = 0; position == 1 && z < labels; z++) {
        rows->max_out[z] = (double)lattice->kernels->maximum(matrix + z * width, width);
    }
    uint32_t best = tr_best_of(before, labels);
    tr_max_plus_row(out, before[best], matrix + best * width, labels);
    double lowest = tr_lowest_of(out, labels);
    for (uint32_t from = 0; from < labels; from++) {
        if (before[from] + rows->max_out[from] > lowest) {
            tr_max_plus_row(out, before[from], matrix + from * width, labels);
        }
    }
    tr_first_order_add_states(lattice, position, out);
}

/* tr_listed_path_score() where a transition stands at a place of its own and the state is the label. */
static double path_score(const struct tr_lattice *lattice, const struct tr_steps *steps,
                         const uint16_t *labels)
{
    const struct tr_graph *graph = lattice->graph;
    uint32_t from = graph->labels; // the start comes after the labels
    double score = 0;
    if (lattice->scores.has_edges || lattice->length == 0) {
        return tr_listed_path_score(lattice, steps, labels);
    }
    for (size_t i = 0; i < lattice->length; i++) {
        uint32_t to = labels[i];
        score += tr_exact(steps->score.step, steps->residual.step, graph->in_begin[to] + from);
        score += tr_state_score(lattice, i, to);
        from = to;
    }
    return score + tr_exact(steps->score.end, steps->residual.end, from);
}

/* ---- expectations ---------------------------------------------------------------------------- */

static bool edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps,
                           float *marginals)
{
    tr_first_order_edge_marginals(lattice, steps->of.dense.factor, marginals);
    return true;
}

/* outer [L][width] is by (to, from). */
bool tr_dense_make_counts(struct tr_lattice *lattice)
{
    lattice->counts.outer = tr_alloc_aligned((size_t)lattice->graph->labels * lattice->graph->width,
                                             sizeof *lattice->counts.outer);
    return lattice->counts.outer;
}

static bool collect(struct tr_lattice *lattice, const struct tr_steps *steps, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    (void)steps;
    tr_collect_ends(lattice, NULL, scale);
    if (lattice->scores.has_edges) {
        tr_first_order_collect_edges(lattice, scale);
    } else {
        lattice->kernels->outer_sum(lattice->counts.outer, lattice->fast.to.at + graph->width,
                                    graph->width, lattice->fast.alpha.at, lattice->length - 1,
                                    scale, graph->labels, graph->width);
    }
    return true;
}

/* With few labels a learner may flush the counts after each sequence, so this must be fast. */
void tr_dense_flush(struct tr_lattice *lattice, const struct tr_steps *steps, float *expected)
{
    const struct tr_graph *graph = lattice->graph;
    const struct tr_expected_counts *counts = &lattice->counts;
    const uint32_t *feature = graph->feature;
    for (uint32_t to = 0, a = 0; to < graph->labels; to++) {
        const float *factor = steps->of.dense.factor_by_to + (size_t)to * graph->width;
        const double *outer = counts->outer + (size_t)to * graph->width;
        for (uint32_t from = 0; from <= graph->labels; from++, a++) {
            double count = counts->step[a];
            if (from == graph->labels) {
                count = counts->start[to];
            } else if (factor[from] > 0) {
                count += (double)factor[from] * outer[from];
            }
            for (uint32_t left = graph->feature_begin[a + 1] - graph->feature_begin[a]; left;
                 left--) {
                expected[*feature++] += (float)count;
            }
        }
    }
    memset(counts->step, 0, graph->step_count * sizeof *counts->step);
    memset(counts->outer, 0, (size_t)graph->labels * graph->width * sizeof *counts->outer);
    tr_listed_flush_ends(lattice, expected);
}

/* All transitions are listed, those from the labels 0, 1, 2, ... in this order. */
static void collect_local(struct tr_lattice *lattice, const struct tr_steps *steps, uint32_t from,
                          const float *p, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    (void)steps;
    for (uint32_t c = 0; c < graph->labels; c++) {
        lattice->counts.step[graph->in_begin[c] + from] += scale * (double)p[c];
    }
}

const struct tr_lattice_kind tr_dense_kind = {
    .make_steps = tr_dense_make_steps,
    .free_steps = tr_dense_free_steps,
    .set_weights = tr_listed_set_weights,
    .forward_backward = tr_listed_forward_backward,
    .viterbi = tr_listed_viterbi,
    .nbest = tr_listed_nbest,
    .beam = tr_listed_beam,
    .sample = tr_listed_sample,
    .entropy = tr_listed_entropy,
    .path_score = path_score,
    .edge_marginals = edge_marginals,
    .collect = collect,
    .flush = tr_dense_flush,
    .change_step = tr_dense_change_step,
    .refresh = tr_dense_refresh,
    .out_scores = out_scores,
    .out_states = tr_first_order_out_states,
    .arrivals = tr_listed_arrivals,
    .fast_forward_backward = tr_first_order_forward_backward,
    .sum_forward = sum_forward,
    .sum_backward = sum_backward,
    .normaliser_sums = tr_first_order_normaliser_sums,
    .viterbi_row = viterbi_row,
    .came_from = came_from,
    .max_row = max_row,
    .make_counts = tr_dense_make_counts,
    .collect_local = collect_local,
};
