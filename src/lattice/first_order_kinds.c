/* first_order_kinds.c - what the dense and the sparse kind share: the state is the label. */
#include "lattice/lattice_internal.h"

#include <string.h>

const uint32_t *tr_first_order_out_states(struct tr_lattice *lattice, const struct tr_steps *steps,
                                          uint32_t from)
{
    (void)steps, (void)from;
    uint32_t *next = lattice->scratch.next;
    for (uint32_t c = 0; c < lattice->graph->labels; c++) {
        next[c] = c;
    }
    return next;
}

/* ---- edge scores ----------------------------------------------------------------------------- */

const float *tr_first_order_edge_scores(struct tr_lattice *lattice, const struct tr_steps *steps,
                                        size_t position)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width;
    const float *edges = tr_edges_at(lattice, position);
    float *matrix = tr_lattice_matrix(lattice);
    for (uint32_t from = 0; matrix && from < graph->labels; from++) {
        float *row = matrix + from * width;
        const float *scores = lattice->kind->out_scores(steps, from, row);
        if (scores != row) {
            memcpy(row, scores, width * sizeof *row);
        }
        for (size_t to = 0; to < graph->labels; to++) {
            row[to] += edges[from * width + to];
        }
    }
    return matrix;
}

void tr_first_order_add_edges(const struct tr_lattice *lattice, size_t position, uint32_t to,
                              float *column)
{
    size_t width = lattice->graph->width;
    const float *edges = tr_edges_at(lattice, position);
    for (size_t from = 0; edges && from < lattice->graph->labels; from++) {
        column[from] += edges[from * width + to];
    }
}

bool tr_first_order_edge_viterbi_row(struct tr_lattice *lattice, const struct tr_steps *steps,
                                     size_t position, const float *delta, float *out)
{
    const struct tr_graph *graph = lattice->graph;
    const float *scores = tr_first_order_edge_scores(lattice, steps, position);
    if (!scores) {
        return false;
    }
    lattice->kernels->max_plus(out, delta, scores, graph->labels, graph->width);
    lattice->kernels->add(out, tr_node_at(lattice, position), graph->width);
    return true;
}

/* out[c] = max(out[c], before + row[c] + here[c] + edge[c]) */
static void max_plus_rows(double *restrict out, double before, const float *restrict row,
                          const double *restrict here, const float *restrict edge, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        double score = before + (double)row[c] + here[c] + (double)edge[c];
        out[c] = score > out[c] ? score : out[c];
    }
}

void tr_first_order_edge_max_row(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 size_t position, struct tr_max_rows *rows, const double *before,
                                 double *out)
{
    const struct tr_graph *graph = lattice->graph;
    const float *edges = tr_edges_at(lattice, position);
    for (uint32_t c = 0; c < graph->labels; c++) {
        rows->left[c] = tr_state_score(lattice, position, c);
    }
    for (uint32_t from = 0; from < graph->labels; from++) {
        const float *row = lattice->kind->out_scores(steps, from, lattice->scratch.row);
        if (before[from] > -INFINITY) {
            max_plus_rows(out, before[from], row, rows->left, edges + from * (size_t)graph->width,
                          graph->labels);
        }
    }
}

void tr_first_order_add_states(const struct tr_lattice *lattice, size_t position, double *out)
{
    for (uint32_t c = 0; c < lattice->graph->labels; c++) {
        out[c] += tr_state_score(lattice, position, c);
    }
}

/* ---- expectations ---------------------------------------------------------------------------- */

void tr_first_order_edge_marginals(struct tr_lattice *lattice, const float *factor,
                                   float *marginals)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width, size = (size_t)graph->labels * width;
    for (size_t i = 1; i < lattice->length; i++) {
        const float *factors = lattice->scores.has_edges ? lattice->fast.pair.at + i * size
                                                         : factor;
        const float *alpha = lattice->fast.alpha.at + (i - 1) * width;
        const float *to = lattice->fast.to.at + i * width;
        for (size_t a = 0; a < graph->labels; a++) {
            float *row = marginals + i * size + a * width;
            memcpy(row, factors + a * width, width * sizeof *row);
            lattice->kernels->multiply(row, to, width);
            lattice->kernels->scale(row, alpha[a], width);
        }
    }
}

void tr_first_order_collect_edges(struct tr_lattice *lattice, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width;
    for (size_t i = 1; i < lattice->length; i++) {
        const float *pair = lattice->fast.pair.at + i * graph->labels * width;
        const float *alpha = lattice->fast.alpha.at + (i - 1) * width;
        const float *to = lattice->fast.to.at + i * width;
        for (uint32_t a = 0; a < graph->step_count; a++) {
            uint32_t from = graph->from[a];
            if (from != TR_NO_STATE) {
                float p = alpha[from] * pair[from * width + graph->to[a]] * to[graph->to[a]];
                lattice->counts.step[a] += scale * (double)p;
            }
        }
    }
}
