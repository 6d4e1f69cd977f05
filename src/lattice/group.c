/* group.c - sequences of about the same length side by side. */
#include "lattice/group.h"

#include "lattice/group_kernels.h"
#include "lattice/lattice_internal.h"

#include <string.h>

bool tr_lattice_can_group(const struct tr_graph *graph)
{
    _Static_assert((int)TR_GROUP_MAX == (int)TR_LANES_OF_GROUP, "a lane for each");
    const struct tr_lattice_kind *kind = tr_lattice_kind_of(graph);
    return (kind == &tr_dense_kind && graph->width <= TR_WIDEST_OF_GROUP) ||
           (kind == &tr_sparse_kind && graph->labels <= TR_GROUP_LABELS);
}

bool tr_lattice_group_pays(const struct tr_graph *graph, const struct tr_group_member *member,
                           size_t count)
{
    size_t tokens = 0, times_as_fast = graph->free_steps ? 4 : 2;
    for (size_t k = 0; k < count; k++) {
        tokens += member[k].length;
    }
    return count > 0 && times_as_fast * tokens > TR_GROUP_MAX * member[0].length;
}

/* Rounded up to a multiple of the lanes, to which vectors are aligned. */
static size_t whole_lanes(size_t count)
{
    return (count + TR_LANES_OF_GROUP - 1) / TR_LANES_OF_GROUP * TR_LANES_OF_GROUP;
}

/* Scores of labels in the order of the lanes. */
static const float *placed(float *row, const float *score, const struct tr_group_lists *lists)
{
    for (uint32_t c = 0; c < lists->labels; c++) {
        row[lists->place[c]] = score[c];
    }
    return row;
}

/* What lanes have with lists, in the scratch behind the row that there is always. */
static void use_lists(struct tr_group_lanes *lanes, const struct tr_steps *steps)
{
    const struct tr_group_lists *lists = &steps->of.sparse.group;
    float *row = lanes->no_row;
    lanes->lists = lists;
    lanes->start = placed(row + lanes->width, steps->score.start, lists);
    lanes->end = placed(row + 2 * lanes->width, steps->score.end, lists);
    lanes->offset = placed(row + 3 * lanes->width, steps->offset, lists);
    lanes->counted = row + whole_lanes(4 * lanes->width);
    memset(lanes->counted, 0, 4 * (size_t)lists->into.begin[lists->labels] * sizeof(float));
}

/* Room for the group in the arrays of the fast kernels; false on allocation failure. */
static bool make_lanes(struct tr_lattice *lattice, const struct tr_steps *steps,
                       const struct tr_group_member *member, size_t count,
                       struct tr_group_lanes *lanes)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_scaled_sums *fast = &lattice->fast;
    bool listed = lattice->kind == &tr_sparse_kind;
    size_t positions = member[0].length, each = (size_t)graph->labels * TR_LANES_OF_GROUP;
    size_t two = 2 * (size_t)graph->width * TR_LANES_OF_GROUP,
           rows = whole_lanes(4 * (size_t)graph->width);
    size_t listed_counts = listed ? 4 * (size_t)steps->of.sparse.group.into.begin[graph->labels]
                                  : 0;
    if (!tr_floats_room(&fast->alpha, positions, each) ||
        !tr_floats_room(&fast->to, positions, each) ||
        !tr_floats_room(&fast->inverse, positions, TR_LANES_OF_GROUP) ||
        !tr_floats_room(&fast->pair, 1, two + rows + listed_counts) ||
        !tr_lattice_make_counts(lattice)) {
        return false;
    }
    *lanes = (struct tr_group_lanes){.positions = positions,
                                     .labels = graph->labels,
                                     .width = graph->width,
                                     .start = steps->score.start,
                                     .end = steps->score.end,
                                     .alpha = fast->alpha.at,
                                     .to = fast->to.at,
                                     .inverse = fast->inverse.at,
                                     .scratch = fast->pair.at,
                                     .no_row = fast->pair.at + two};
    memset(lanes->no_row, 0, graph->width * sizeof(float));
    if (listed) {
        use_lists(lanes, steps);
    } else {
        lanes->factor = steps->of.dense.factor;
        lanes->factor_by_to = steps->of.dense.factor_by_to;
    }
    for (size_t k = 0; k < count; k++) {
        lanes->length[k] = member[k].length;
        lanes->row[k] = member[k].row;
    }
    return true;
}

/* `from` may be the start, which comes after the labels. */
static float step_score(const struct tr_graph *graph, const struct tr_steps *steps, uint32_t from,
                        uint32_t to)
{
    if (!graph->free_steps) {
        return steps->score.step[graph->in_begin[to] + from];
    }
    uint32_t step = tr_graph_step(graph, from < graph->labels ? from : TR_NO_STATE, to);
    return step == TR_NO_STEP ? steps->score.unlisted[to] : steps->score.step[step];
}

/* start(z_1) + sum_i node[i][z_i] + step(z_{i-1}, z_i) + end(z_n) */
static double gold_score(const struct tr_graph *graph, const struct tr_steps *steps,
                         const struct tr_group_member *member)
{
    uint32_t from = graph->labels;
    double score = 0;
    for (size_t i = 0; i < member->length; i++) {
        uint32_t to = member->gold[i];
        score += (double)step_score(graph, steps, from, to);
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

/* First and last labels, and label priors; the transitions are counted in one go. */
static void count_ends(struct tr_lattice *lattice, const struct tr_group_member *member)
{
    const float *last = member->row + (member->length - 1) * lattice->graph->width;
    for (uint32_t c = 0; c < lattice->graph->labels; c++) {
        lattice->counts.start[c] += (double)member->row[c];
        lattice->counts.end[c] += (double)last[c];
    }
    for (size_t i = 1; lattice->counts.unlisted && i < member->length; i++) {
        for (uint32_t c = 0; c < lattice->graph->labels; c++) {
            lattice->counts.unlisted[c] += (double)member->row[i * lattice->graph->width + c];
        }
    }
}

/* Listed transitions, from the matrix and from what the backward pass has counted; false on allocation
 * failure. */
static bool count_listed(struct tr_lattice *lattice, const struct tr_group_kernels *kernels,
                         const struct tr_group_lanes *lanes)
{
    const struct tr_group_lists *lists = lanes->lists;
    size_t dense = lists->dense, in_matrix = dense * dense;
    double *outer = lattice->counts.outer;
    struct tr_doubles *matrix = &lattice->log_space.alpha;
    if (!tr_doubles_room(matrix, dense, dense)) {
        return false;
    }
    memset(matrix->at, 0, in_matrix * sizeof *matrix->at);
    kernels->count(lanes, dense, matrix->at, dense);
    for (uint32_t a = 0; a < lattice->graph->step_count; a++) {
        if (lattice->graph->from[a] == TR_NO_STATE) {
            continue;
        }
        if (lists->into.at[a] < in_matrix) {
            outer[a] += matrix->at[lists->out_of.at[a]];
        } else {
            const float *sums = lanes->counted + 4 * (lists->into.at[a] - in_matrix);
            outer[a] += (double)((sums[0] + sums[2]) + (sums[1] + sums[3]));
        }
    }
    return true;
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
    if (*ret_done && !lanes.lists) {
        kernels->count(&lanes, lanes.labels, lattice->counts.outer, lanes.width);
    } else if (*ret_done && !count_listed(lattice, kernels, &lanes)) {
        return tr_fail_memory(error);
    }
    for (size_t k = 0; *ret_done && k < count; k++) {
        count_ends(lattice, &member[k]);
    }
    return TRELLIS_OK;
}
