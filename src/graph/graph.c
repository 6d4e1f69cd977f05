/* graph.c - checks a plan, builds its graph, and looks up transitions.
 *
 * A plan may come out of a model file, so every number in it is checked before it is used.
 */
#include "graph/graph.h"

#include "base/kernels.h"
#include "base/memory.h"
#include "graph/build.h"

/* ---- the plan -------------------------------------------------------------------------------- */

static trellis_status check_sizes(const struct tr_graph_plan *plan, trellis_error *error)
{
    if (plan->labels == 0) {
        return tr_fail(error, TRELLIS_DATA, "there are no labels");
    }
    if (plan->labels > TR_MAX_LABELS) {
        return tr_fail(error, TRELLIS_LIMIT, "%u labels are more than %u", plan->labels,
                       TR_MAX_LABELS);
    }
    if (plan->order > TR_MAX_ORDER) {
        return tr_fail(error, TRELLIS_LIMIT, "order %u is more than %u", plan->order, TR_MAX_ORDER);
    }
    if (plan->count_cap > TR_MAX_ORDER) {
        return tr_fail(error, TRELLIS_LIMIT, "labels can be counted up to %u, not %u", TR_MAX_ORDER,
                       plan->count_cap);
    }
    if (plan->count_cap > 1 && plan->order != 1) {
        return tr_fail(error, TRELLIS_OPTION, "counted states go with order 1, not %u",
                       plan->order);
    }
    if (plan->pruned && (plan->order < 1 || plan->count_cap > 1)) {
        return tr_fail(error, TRELLIS_OPTION,
                       "pruning is for order 1 and more, without counted states");
    }
    if (plan->pruned && !(plan->threshold >= 0 && plan->threshold <= 1)) {
        return tr_fail(error, TRELLIS_OPTION, "--prune must be between 0 and 1");
    }
    if (plan->segments && (plan->order != 1 || plan->count_cap > 1 || plan->pruned ||
                           plan->segments->labels != plan->labels)) {
        return tr_fail(error, TRELLIS_OPTION,
                       "segments go with order 1, without counted states and pruning");
    }
    if (plan->gram_count >= UINT32_MAX) {
        return tr_fail(error, TRELLIS_LIMIT, "there are too many transition features");
    }
    return TRELLIS_OK;
}

/* The start may only be the first of several labels, the end only the last. */
static bool gram_is_sound(const struct tr_gram *gram, uint32_t labels, uint32_t max_length)
{
    if (gram->length == 0 || gram->length > max_length) {
        return false;
    }
    for (uint32_t i = 0; i < gram->length; i++) {
        bool first = i == 0, last = i + 1u == gram->length;
        uint32_t c = gram->label[i];
        if (c > labels + 1 || (c == labels && (!first || last)) || (c == labels + 1 && !last)) {
            return false;
        }
    }
    return true;
}

static trellis_status check_plan(const struct tr_graph_plan *plan, trellis_error *error)
{
    trellis_status status = check_sizes(plan, error);
    if (status) {
        return status;
    }
    for (size_t i = 0; i < plan->gram_count; i++) {
        if (!gram_is_sound(&plan->grams[i], plan->labels, tr_graph_longest(plan))) {
            return tr_fail(error, TRELLIS_MODEL,
                           "transition feature %zu is not a label gram of order %u", i,
                           plan->order);
        }
    }
    for (size_t i = 0; i < plan->forbidden_count; i++) {
        uint32_t from = plan->forbidden[i][0], to = plan->forbidden[i][1];
        if (from > plan->labels || to > plan->labels + 1 || to == plan->labels) {
            return tr_fail(error, TRELLIS_MODEL, "forbidden transition %zu is not between labels",
                           i);
        }
    }
    return TRELLIS_OK;
}

/* ---- building -------------------------------------------------------------------------------- */

bool tr_graph_make_states(struct tr_graph *graph, uint32_t states)
{
    graph->states = states;
    graph->label = tr_alloc(states, sizeof *graph->label);
    graph->in_begin = tr_alloc((size_t)states + 1, sizeof *graph->in_begin);
    graph->end_begin = tr_alloc((size_t)states + 1, sizeof *graph->end_begin);
    graph->end_forbidden = tr_alloc(states, sizeof *graph->end_forbidden);
    return graph->label && graph->in_begin && graph->end_begin && graph->end_forbidden;
}

bool tr_graph_make_steps(struct tr_graph *graph, size_t steps, size_t features)
{
    graph->step_count = (uint32_t)steps;
    graph->from = tr_alloc(steps, sizeof *graph->from);
    graph->to = tr_alloc(steps, sizeof *graph->to);
    graph->forbidden = tr_alloc(steps, sizeof *graph->forbidden);
    graph->feature_begin = tr_alloc(steps + 1, sizeof *graph->feature_begin);
    graph->feature = tr_alloc(features, sizeof *graph->feature);
    return graph->from && graph->to && graph->forbidden && graph->feature_begin && graph->feature;
}

void tr_graph_sum_counts(uint32_t *begin, size_t keys)
{
    for (size_t k = 0; k < keys; k++) {
        begin[k + 1] += begin[k];
    }
}

void tr_graph_shift_back(uint32_t *begin, size_t keys)
{
    for (size_t k = keys; k > 0; k--) {
        begin[k] = begin[k - 1];
    }
    begin[0] = 0;
}

trellis_status tr_graph_too_large(const struct tr_graph_plan *plan, trellis_error *error)
{
    return tr_fail(
        error, TRELLIS_LIMIT,
        "the graph would have more than %zu transitions; use fewer labels, a lower order or "
        "observed states",
        tr_graph_max_steps(plan));
}

trellis_status tr_graph_create_listing(const struct tr_graph_plan *plan, enum tr_listing listing,
                                       struct tr_graph **ret_graph, trellis_error *error)
{
    *ret_graph = NULL;
    trellis_status status = check_plan(plan, error);
    if (status) {
        return status;
    }
    struct tr_graph *graph = tr_alloc(1, sizeof *graph);
    if (!graph) {
        return tr_fail_memory(error);
    }
    graph->labels = plan->labels;
    graph->width = (uint32_t)tr_padded(plan->labels);
    graph->features = (uint32_t)plan->gram_count;
    graph->segments = plan->segments;
    graph->first_order = !plan->pruned && plan->order <= 1 && plan->count_cap <= 1;
    status = plan->pruned         ? tr_graph_build_histories(graph, plan, error)
             : graph->first_order ? tr_graph_build_first_order(graph, plan, listing, error)
                                  : tr_graph_build_automaton(graph, plan, error);
    if (status) {
        tr_graph_destroy(graph);
        return status;
    }
    *ret_graph = graph;
    return TRELLIS_OK;
}

trellis_status tr_graph_create(const struct tr_graph_plan *plan, struct tr_graph **ret_graph,
                               trellis_error *error)
{
    return tr_graph_create_listing(plan, plan->segments ? TR_LIST_ALL : TR_LIST_BY_SIZE, ret_graph,
                                   error);
}

void tr_graph_destroy(struct tr_graph *graph)
{
    if (!graph) {
        return;
    }
    free(graph->label);
    free(graph->in_begin);
    free(graph->from);
    free(graph->to);
    free(graph->forbidden);
    free(graph->feature_begin);
    free(graph->feature);
    free(graph->step_at);
    free(graph->fan_begin);
    free(graph->free_begin);
    free(graph->free_feature);
    free(graph->end_begin);
    free(graph->end_feature);
    free(graph->end_forbidden);
    tr_histories_destroy(graph->histories);
    free(graph);
}

/* ---- walking --------------------------------------------------------------------------------- */

/* Steps into a state are sorted by the state they come from; the start, the largest number, is
 * last. */
static uint32_t find_step(const struct tr_graph *graph, uint32_t from, uint32_t to)
{
    uint32_t low = graph->in_begin[to], high = graph->in_begin[to + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (graph->from[middle] < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < graph->in_begin[to + 1] && graph->from[low] == from ? low : TR_NO_STEP;
}

uint32_t tr_graph_step(const struct tr_graph *graph, uint32_t from, uint32_t to)
{
    if (graph->step_at) {
        size_t row = from == TR_NO_STATE ? graph->states : from;
        uint32_t step = graph->step_at[row * graph->labels + graph->label[to]];
        return step != TR_NO_STEP && graph->to[step] == to ? step : TR_NO_STEP;
    }
    if (graph->free_steps) {
        return find_step(graph, from, to);
    }
    return graph->in_begin[to] + (from == TR_NO_STATE ? graph->labels : from);
}

uint32_t tr_graph_next(const struct tr_graph *graph, uint32_t state, uint16_t label)
{
    if (graph->pruned) {
        return tr_graph_read(graph, state, label, graph->order).next;
    }
    if (graph->step_at) {
        size_t row = state == TR_NO_STATE ? graph->states : state;
        uint32_t step = graph->step_at[row * graph->labels + label];
        return step == TR_NO_STEP ? TR_NO_STATE : graph->to[step];
    }
    uint32_t step = tr_graph_step(graph, state, label);
    return step != TR_NO_STEP && graph->forbidden[step] ? TR_NO_STATE : label;
}
