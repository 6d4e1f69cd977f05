/* expect.c - marginals and expected counts of step features, from forward and backward.
 *
 *   P(c', c at i-1, i) = sum over transitions a from z' (label c') to z (label c) of
 *                        alpha_{i-1}(z') M_i(a) to_i(z)
 *   E[feature] = sum over the transitions that fire it of sum_i P(transition at i)
 *
 * Where the factor M(a,b) does not depend on the position, sum_i P(a, b at i-1, i) = M(a,b) sum_i
 * alpha_{i-1}(a) to_i(b): a product of two matrices, which is summed over many sequences before M
 * is multiplied in and features are looked up. How it is summed is up to the kind of lattice.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

/* ---- log Z ----------------------------------------------------------------------------------- */

/* Allocates for the fast kernels. A failure is an error: the reference would give slightly
 * different digits. */
static bool make_room(struct tr_lattice *lattice)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_scaled_sums *fast = &lattice->fast;
    size_t n = lattice->length, width = graph->width;
    size_t pairs = lattice->scores.has_edges ? graph->labels * width : 0;
    return tr_floats_room(&fast->alpha, n, lattice->stride) &&
           tr_floats_room(&fast->to, n, lattice->stride) &&
           tr_floats_room(&lattice->marginal.node, n, width) &&
           tr_floats_room(&fast->inverse, n, 1) && tr_floats_room(&fast->pair, n, pairs) &&
           (pairs == 0 || tr_lattice_matrix(lattice));
}

trellis_status tr_listed_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                          trellis_error *error)
{
    bool fast = !lattice->use_reference && !lattice->scores.has_residuals;
    if (fast && !make_room(lattice)) {
        return tr_fail_memory(error);
    }
    if (fast) {
        tr_lattice_pad_nodes(lattice);
        if (lattice->kind->fast_forward_backward(lattice, steps)) {
            lattice->computed = TR_FAST;
            return TRELLIS_OK;
        }
    }
    trellis_status status = tr_reference_forward_backward(lattice, steps, error);
    lattice->computed = status ? TR_NOTHING : TR_REFERENCE;
    return status;
}

trellis_status tr_lattice_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                           double *ret_log_z, trellis_error *error)
{
    *ret_log_z = lattice->log_z = 0;
    lattice->computed = lattice->length == 0 ? TR_FAST : TR_NOTHING;
    if (lattice->length == 0) {
        return TRELLIS_OK;
    }
    trellis_status status = lattice->kind->forward_backward(lattice, steps, error);
    *ret_log_z = status ? 0 : lattice->log_z;
    return status;
}

/* ---- marginals ------------------------------------------------------------------------------- */

const float *tr_lattice_node_marginals(const struct tr_lattice *lattice)
{
    return lattice->computed == TR_NOTHING ? NULL : lattice->marginal.node.at;
}

float *tr_lattice_take_node_marginals(struct tr_lattice *lattice)
{
    float *marginals = lattice->computed == TR_NOTHING ? NULL : lattice->marginal.node.at;
    lattice->computed = TR_NOTHING;
    return marginals;
}

void tr_lattice_posterior(struct tr_lattice *lattice, uint16_t *labels)
{
    size_t width = lattice->graph->width;
    for (size_t i = 0; lattice->computed != TR_NOTHING && i < lattice->length; i++) {
        labels[i] = (uint16_t)lattice->kernels->argmax(lattice->marginal.node.at + i * width,
                                                       width);
    }
}

/* Only labels that may follow the label chosen before are considered. */
static void local_edge_marginals(struct tr_lattice *lattice, float *marginals)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width;
    for (size_t i = 1; i < lattice->length; i++) {
        uint32_t from = graph->label[lattice->decided_in.at[i]];
        memcpy(marginals + (i * graph->labels + from) * width,
               lattice->marginal.node.at + i * width, width * sizeof *marginals);
    }
}

float *tr_lattice_edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    size_t size = (size_t)lattice->graph->labels * lattice->graph->width;
    if (lattice->computed == TR_NOTHING ||
        !tr_floats_room(&lattice->marginal.edge, lattice->length, size)) {
        return NULL;
    }
    float *marginals = lattice->marginal.edge.at;
    memset(marginals, 0, lattice->length * size * sizeof *marginals);
    if (lattice->computed == TR_LOCAL) {
        local_edge_marginals(lattice, marginals);
    } else if (lattice->computed == TR_REFERENCE) {
        tr_reference_edge_marginals(lattice, steps, marginals);
    } else if (!lattice->kind->edge_marginals(lattice, steps, marginals)) {
        return NULL;
    }
    return marginals;
}

/* ---- expected counts ------------------------------------------------------------------------- */

void tr_free_counts(struct tr_expected_counts *counts)
{
    free(counts->outer);
    free(counts->step);
    free(counts->start);
    free(counts->end);
    free(counts->unlisted);
    *counts = (struct tr_expected_counts){0};
}

/* A kind that counts differently has no make_counts(). */
bool tr_lattice_make_counts(struct tr_lattice *lattice)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_expected_counts *counts = &lattice->counts;
    if (counts->outer || !lattice->kind->make_counts) {
        return true;
    }
    counts->step = tr_alloc(graph->step_count, sizeof *counts->step);
    counts->end = tr_alloc(graph->states, sizeof *counts->end);
    counts->start = tr_alloc(graph->width, sizeof *counts->start);
    bool made = counts->step && counts->end && counts->start && lattice->kind->make_counts(lattice);
    if (!made) {
        tr_free_counts(counts);
    }
    return made;
}

void tr_collect_ends(struct tr_lattice *lattice, const float *end_factor, double scale)
{
    size_t last = lattice->length - 1;
    const float *alpha = lattice->fast.alpha.at + last * lattice->stride;
    scale *= (double)lattice->fast.inverse.at[last];
    for (size_t z = 0; z < lattice->graph->states; z++) {
        float end = end_factor ? end_factor[z] : 1;
        lattice->counts.end[z] += scale * (double)(alpha[z] * end);
    }
}

/* First labels, and all others where they are wanted. */
static void collect_labels(struct tr_lattice *lattice, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_expected_counts *counts = &lattice->counts;
    const float *marginal = lattice->marginal.node.at;
    for (size_t c = 0; c < graph->labels; c++) {
        counts->start[c] += scale * (double)marginal[c];
    }
    for (size_t i = 1; counts->unlisted && i < lattice->length; i++) {
        for (size_t c = 0; c < graph->labels; c++) {
            counts->unlisted[c] += scale * (double)marginal[i * graph->width + c];
        }
    }
}

bool tr_lattice_collect_steps(struct tr_lattice *lattice, const struct tr_steps *steps,
                              double scale)
{
    if (lattice->computed == TR_NOTHING || !tr_lattice_make_counts(lattice)) {
        return false;
    }
    if (lattice->length == 0) {
        return true;
    }
    if (lattice->computed != TR_PRUNED) {
        collect_labels(lattice, scale);
    }
    if (lattice->computed == TR_REFERENCE) {
        tr_reference_collect(lattice, steps, scale);
    } else if (lattice->computed == TR_LOCAL) {
        tr_local_collect(lattice, steps, scale);
    } else {
        return lattice->kind->collect(lattice, steps, scale);
    }
    return true;
}

void tr_flush_count(double *count, const uint32_t *features, size_t number, float *expected)
{
    for (size_t i = 0; i < number; i++) {
        expected[features[i]] += (float)*count;
    }
    *count = 0;
}

void tr_listed_flush_ends(struct tr_lattice *lattice, float *expected)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_expected_counts *counts = &lattice->counts;
    for (uint32_t z = 0; z < graph->states; z++) {
        tr_flush_count(&counts->end[z], graph->end_feature + graph->end_begin[z],
                       graph->end_begin[z + 1] - graph->end_begin[z], expected);
    }
    memset(counts->start, 0, graph->width * sizeof *counts->start);
}

void tr_lattice_flush_transition_counts(struct tr_lattice *lattice, const struct tr_steps *steps,
                                        float *expected)
{
    if (lattice->counts.outer || !lattice->kind->make_counts) {
        lattice->kind->flush(lattice, steps, expected);
    }
}

bool tr_lattice_expect_steps(struct tr_lattice *lattice, const struct tr_steps *steps, double scale,
                             float *expected)
{
    bool collected = tr_lattice_collect_steps(lattice, steps, scale);
    tr_lattice_flush_transition_counts(lattice, steps, expected);
    return collected;
}
