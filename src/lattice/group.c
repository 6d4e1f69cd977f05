/* group.c - sequences of about the same length side by side. */
#include "lattice/group.h"

#include "lattice/group_kernels.h"
#include "lattice/lattice_internal.h"

bool tr_lattice_can_group(const struct tr_graph *graph)
{
    _Static_assert((int)TR_GROUP_MAX == (int)TR_LANES_OF_GROUP, "a lane for each");
    return tr_lattice_kind_of(graph) == &tr_dense_kind && graph->width <= TR_WIDEST_OF_GROUP;
}

bool tr_lattice_group_pays(const struct tr_group_member *member, size_t count)
{
    size_t tokens = 0;
    for (size_t k = 0; k < count; k++) {
        tokens += member[k].length;
    }
    return count > 0 && 2 * tokens > TR_GROUP_MAX * member[0].length;
}

/* Room for the group in the arrays of the fast kernels; false on allocation failure. */
static bool make_lanes(struct tr_lattice *lattice, const struct tr_steps *steps,
                       const struct tr_group_member *member, size_t count,
                       struct tr_group_lanes *lanes)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_scaled_sums *fast = &lattice->fast;
    size_t positions = member[0].length, each = (size_t)graph->labels * TR_LANES_OF_GROUP;
    if (!tr_floats_room(&fast->alpha, positions, each) ||
        !tr_floats_room(&fast->to, positions, each) ||
        !tr_floats_room(&fast->inverse, positions, TR_LANES_OF_GROUP) ||
        !tr_lattice_make_counts(lattice)) {
        return false;
    }
    *lanes = (struct tr_group_lanes){.positions = positions,
                                     .labels = graph->labels,
                                     .width = graph->width,
                                     .start = steps->score.start,
                                     .end = steps->score.end,
                                     .factor = steps->of.dense.factor,
                                     .factor_by_to = steps->of.dense.factor_by_to,
                                     .alpha = fast->alpha.at,
                                     .to = fast->to.at,
                                     .inverse = fast->inverse.at};
    for (size_t k = 0; k < count; k++) {
        lanes->length[k] = member[k].length;
        lanes->row[k] = member[k].row;
    }
    return true;
}

/* start(z_1) + sum_i node[i][z_i] + step(z_{i-1}, z_i) + end(z_n) */
static double gold_score(const struct tr_graph *graph, const struct tr_steps *steps,
                         const struct tr_group_member *member)
{
    uint32_t from = graph->labels; // the start comes after the labels
    double score = 0;
    for (size_t i = 0; i < member->length; i++) {
        uint32_t to = member->gold[i];
        score += (double)steps->score.step[graph->in_begin[to] + from];
        score += (double)member->row[i * graph->width + to];
        from = to;
    }
    return score + (double)steps->score.end[from];
}

/* log Z of a lane, given the sum of its m_i; not finite where a scale is not. */
static double lane_log_z(const struct tr_group_lanes *lanes, const struct tr_steps *steps, size_t k,
                         double sum)
{
    struct tr_log_product scales = {0, 1};
    for (size_t i = 0; i < lanes->length[k]; i++) {
        float inverse = lanes->inverse[i * TR_LANES_OF_GROUP + k];
        if (!(inverse > 0 && inverse < INFINITY)) {
            return NAN;
        }
        tr_multiply_in(&scales, (double)inverse);
    }
    return sum + (double)(lanes->length[k] - 1) * (double)steps->shift -
           (scales.log + log(scales.product));
}

/* First and last labels; the transitions are the kernel's. */
static void count_ends(struct tr_lattice *lattice, const struct tr_group_member *member)
{
    const float *last = member->row + (member->length - 1) * lattice->graph->width;
    for (uint32_t c = 0; c < lattice->graph->labels; c++) {
        lattice->counts.start[c] += (double)member->row[c];
        lattice->counts.end[c] += (double)last[c];
    }
}

/* Forward and the losses; false where a scale is not finite. */
static bool go_forward(const struct tr_lattice *lattice, const struct tr_steps *steps,
                       const struct tr_group_kernels *kernels, const struct tr_group_lanes *lanes,
                       struct tr_group_member *member, size_t count)
{
    double sums[TR_LANES_OF_GROUP];
    bool ok = true;
    kernels->forward(lanes, sums);
    for (size_t k = 0; ok && k < count; k++) {
        double log_z = lane_log_z(lanes, steps, k, sums[k]);
        member[k].loss = log_z - gold_score(lattice->graph, steps, &member[k]);
        ok = isfinite(log_z);
    }
    return ok;
}

trellis_status tr_lattice_group(struct tr_lattice *lattice, const struct tr_steps *steps,
                                struct tr_group_member *member, size_t count, bool *ret_done,
                                trellis_error *error)
{
    const struct tr_group_kernels *kernels = tr_group_kernels_like(lattice->kernels);
    struct tr_group_lanes lanes;
    lattice->computed = TR_NOTHING;
    if (!make_lanes(lattice, steps, member, count, &lanes)) {
        return tr_fail_memory(error);
    }
    *ret_done = go_forward(lattice, steps, kernels, &lanes, member, count) &&
                kernels->backward(&lanes) <= tr_max_beta(steps);
    if (*ret_done) {
        kernels->count(&lanes, lattice->counts.outer);
    }
    for (size_t k = 0; *ret_done && k < count; k++) {
        count_ends(lattice, &member[k]);
    }
    return TRELLIS_OK;
}
