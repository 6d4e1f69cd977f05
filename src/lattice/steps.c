/* steps.c - the transitions of a graph with weights applied.
 *
 *   score(transition) = sum of the weights of the features it fires, minus infinity where it is
 *   forbidden
 *
 * The kind of lattice decides how they are stored (matrices, lists, factors). Exponentials are of
 * score - shift, where shift is the largest score when the weights were set, so that they neither
 * overflow nor all vanish.
 *
 * A few changed weights touch only the places that fire them.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

/* ---- where a feature is fired ---------------------------------------------------------------- */

/* The labels that unlisted transitions lead to. */
static uint32_t unlisted_labels(const struct tr_graph *graph)
{
    return graph->free_steps ? graph->labels : 0;
}

/* Called for every place of the graph, with the features that are fired there. */
static void count_or_place(struct tr_steps *steps, uint32_t place, const uint32_t *features,
                           uint32_t count, bool placing)
{
    for (uint32_t i = 0; i < count; i++) {
        if (placing) {
            steps->fired.place[steps->fired.begin[features[i]]++] = place;
        } else {
            steps->fired.begin[features[i] + 1]++;
        }
    }
}

static void visit_places(struct tr_steps *steps, bool placing)
{
    const struct tr_graph *graph = steps->graph;
    uint32_t place = 0;
    for (uint32_t a = 0; a < graph->step_count; a++, place++) {
        count_or_place(steps, place, graph->feature + graph->feature_begin[a],
                       graph->feature_begin[a + 1] - graph->feature_begin[a], placing);
    }
    for (uint32_t z = 0; z < graph->states; z++, place++) {
        count_or_place(steps, place, graph->end_feature + graph->end_begin[z],
                       graph->end_begin[z + 1] - graph->end_begin[z], placing);
    }
    for (uint32_t c = 0; c < unlisted_labels(graph); c++, place++) {
        count_or_place(steps, place, graph->free_feature + graph->free_begin[c],
                       graph->free_begin[c + 1] - graph->free_begin[c], placing);
    }
}

trellis_status tr_steps_index(struct tr_steps *steps, trellis_error *error)
{
    uint32_t features = steps->graph->features;
    steps->fired.begin = tr_alloc((size_t)features + 1, sizeof *steps->fired.begin);
    if (!steps->fired.begin) {
        return tr_fail_memory(error);
    }
    visit_places(steps, false);
    for (uint32_t f = 0; f < features; f++) {
        steps->fired.begin[f + 1] += steps->fired.begin[f];
    }
    steps->fired.place = tr_alloc(steps->fired.begin[features], sizeof *steps->fired.place);
    if (!steps->fired.place) {
        return tr_fail_memory(error);
    }
    visit_places(steps, true);
    for (uint32_t f = features; f > 0; f--) {
        steps->fired.begin[f] = steps->fired.begin[f - 1];
    }
    steps->fired.begin[0] = 0;
    return TRELLIS_OK;
}

/* ---- making ---------------------------------------------------------------------------------- */

float *tr_steps_forbidden_row(size_t count)
{
    float *row = tr_alloc_aligned(tr_padded(count), sizeof *row);
    for (size_t j = 0; row && j < tr_padded(count); j++) {
        row[j] = -INFINITY;
    }
    return row;
}

trellis_status tr_steps_create(const struct tr_graph *graph, const float *weights,
                               struct tr_steps **ret_steps, trellis_error *error)
{
    *ret_steps = NULL;
    struct tr_steps *steps = tr_alloc(1, sizeof *steps);
    if (!steps) {
        return tr_fail_memory(error);
    }
    steps->graph = graph;
    steps->kind = tr_lattice_kind_of(graph);
    steps->kernels = tr_kernels();
    steps->weight = tr_alloc(graph->features, sizeof *steps->weight);
    if (!steps->weight || (steps->kind->make_steps && !steps->kind->make_steps(steps))) {
        tr_steps_destroy(steps);
        return tr_fail_memory(error);
    }
    tr_steps_set(steps, weights);
    *ret_steps = steps;
    return TRELLIS_OK;
}

bool tr_listed_make_steps(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    steps->score.step = tr_steps_forbidden_row(graph->step_count);
    steps->score.start = tr_steps_forbidden_row(graph->width);
    steps->score.end = tr_steps_forbidden_row(graph->states);
    steps->score.unlisted = tr_steps_forbidden_row(graph->width);
    steps->start_state = tr_alloc(graph->labels, sizeof *steps->start_state);
    bool made = steps->score.step && steps->score.start && steps->score.end &&
                steps->score.unlisted && steps->start_state;
    for (uint32_t c = 0; made && c < graph->labels; c++) {
        steps->start_state[c] = tr_graph_next(graph, TR_NO_STATE, (uint16_t)c);
    }
    return made;
}

static void free_scores(struct tr_step_scores *scores)
{
    free(scores->step);
    free(scores->start);
    free(scores->end);
    free(scores->unlisted);
    *scores = (struct tr_step_scores){0};
}

void tr_steps_destroy(struct tr_steps *steps)
{
    if (!steps) {
        return;
    }
    if (steps->kind->free_steps) {
        steps->kind->free_steps(steps);
    }
    free(steps->weight);
    free(steps->fired.begin);
    free(steps->fired.place);
    free_scores(&steps->score);
    free_scores(&steps->residual);
    free(steps->start_state);
    free(steps);
}

/* ---- scores ---------------------------------------------------------------------------------- */

static float sum_of_weights(const struct tr_steps *steps, const uint32_t *features, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += (double)steps->weight[features[i]];
    }
    return (float)sum;
}

static float step_score(const struct tr_steps *steps, uint32_t a)
{
    const struct tr_graph *graph = steps->graph;
    uint32_t begin = graph->feature_begin[a];
    return graph->forbidden[a]
               ? -INFINITY
               : sum_of_weights(steps, graph->feature + begin, graph->feature_begin[a + 1] - begin);
}

static float end_score(const struct tr_steps *steps, uint32_t z)
{
    const struct tr_graph *graph = steps->graph;
    uint32_t begin = graph->end_begin[z];
    return graph->end_forbidden[z]
               ? -INFINITY
               : sum_of_weights(steps, graph->end_feature + begin, graph->end_begin[z + 1] - begin);
}

static float unlisted_score(const struct tr_steps *steps, uint32_t c)
{
    const struct tr_graph *graph = steps->graph;
    uint32_t begin = graph->free_begin[c];
    return sum_of_weights(steps, graph->free_feature + begin, graph->free_begin[c + 1] - begin);
}

static void set_scores(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    for (uint32_t c = 0; c < unlisted_labels(graph); c++) {
        steps->score.start[c] = steps->score.unlisted[c] = unlisted_score(steps, c);
    }
    for (uint32_t a = 0; a < graph->step_count; a++) {
        steps->score.step[a] = step_score(steps, a);
        if (graph->from[a] == TR_NO_STATE) {
            steps->score.start[graph->label[graph->to[a]]] = steps->score.step[a];
        }
    }
    for (uint32_t z = 0; z < graph->states; z++) {
        steps->score.end[z] = end_score(steps, z);
    }
}

/* ---- factors --------------------------------------------------------------------------------- */

float tr_steps_largest(const float *scores, size_t count)
{
    float largest = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        largest = scores[i] > largest ? scores[i] : largest;
    }
    return isfinite(largest) ? largest : 0;
}

void tr_steps_set_factors(const struct tr_steps *steps, float *factor, const float *score,
                          float shift, size_t count)
{
    for (size_t i = 0; i < tr_padded(count); i++) {
        factor[i] = score[i] - shift;
    }
    steps->kernels->exp(factor, factor, tr_padded(count));
}

static void refresh(struct tr_steps *steps)
{
    steps->max_factor = 1;
    steps->kind->refresh(steps);
}

/* ---- setting --------------------------------------------------------------------------------- */

void tr_listed_set_weights(struct tr_steps *steps)
{
    set_scores(steps);
    refresh(steps);
}

void tr_steps_set(struct tr_steps *steps, const float *weights)
{
    free_scores(&steps->residual);
    for (uint32_t f = 0; f < steps->graph->features; f++) {
        steps->weight[f] = weights ? weights[f] : 0;
    }
    steps->kind->set_weights(steps);
}

/* The residual of a score: the exact sum of weights minus its float. */
static float residual_of(const struct tr_steps *steps, const float *residual, float score,
                         const uint32_t *features, uint32_t count)
{
    double sum = -(double)score;
    for (uint32_t i = 0; i < count; i++) {
        sum += (double)steps->weight[features[i]] + (double)residual[features[i]];
    }
    return isfinite(sum) ? (float)sum : 0;
}

trellis_status tr_steps_set_residuals(struct tr_steps *steps, const float *residual,
                                      trellis_error *error)
{
    const struct tr_graph *graph = steps->graph;
    free_scores(&steps->residual);
    steps->residual.step = tr_alloc(graph->step_count, sizeof(float));
    steps->residual.start = tr_alloc(graph->width, sizeof(float));
    steps->residual.end = tr_alloc(graph->states, sizeof(float));
    steps->residual.unlisted = tr_alloc(graph->width, sizeof(float));
    if (!steps->residual.step || !steps->residual.start || !steps->residual.end ||
        !steps->residual.unlisted) {
        free_scores(&steps->residual);
        return tr_fail_memory(error);
    }
    for (uint32_t c = 0; c < unlisted_labels(graph); c++) {
        uint32_t begin = graph->free_begin[c];
        steps->residual.start[c] = steps->residual.unlisted[c] = residual_of(
            steps, residual, steps->score.unlisted[c], graph->free_feature + begin,
            graph->free_begin[c + 1] - begin);
    }
    for (uint32_t a = 0; a < graph->step_count; a++) {
        uint32_t begin = graph->feature_begin[a];
        steps->residual.step[a] = residual_of(steps, residual, steps->score.step[a],
                                              graph->feature + begin,
                                              graph->feature_begin[a + 1] - begin);
        if (graph->from[a] == TR_NO_STATE) {
            steps->residual.start[graph->label[graph->to[a]]] = steps->residual.step[a];
        }
    }
    for (uint32_t z = 0; z < graph->states; z++) {
        uint32_t begin = graph->end_begin[z];
        steps->residual.end[z] = residual_of(steps, residual, steps->score.end[z],
                                             graph->end_feature + begin,
                                             graph->end_begin[z + 1] - begin);
    }
    return TRELLIS_OK;
}

/* ---- a few changes --------------------------------------------------------------------------- */

/* These return false where the score is so far above the shift that all factors must be computed
 * again. */
static bool change_step(struct tr_steps *steps, uint32_t a)
{
    const struct tr_graph *graph = steps->graph;
    steps->score.step[a] = step_score(steps, a);
    if (graph->from[a] == TR_NO_STATE) {
        steps->score.start[graph->label[graph->to[a]]] = steps->score.step[a];
    }
    return steps->kind->change_step(steps, a);
}

static bool change_end(struct tr_steps *steps, uint32_t z)
{
    steps->score.end[z] = end_score(steps, z);
    return !steps->kind->change_end || steps->kind->change_end(steps, z);
}

static bool change_unlisted(struct tr_steps *steps, uint32_t c)
{
    steps->score.unlisted[c] = unlisted_score(steps, c);
    if (tr_graph_step(steps->graph, TR_NO_STATE, c) == TR_NO_STEP) {
        steps->score.start[c] = steps->score.unlisted[c];
    }
    return steps->kind->change_unlisted(steps, c);
}

void tr_steps_change(struct tr_steps *steps, uint32_t feature, float weight)
{
    uint32_t ends = steps->graph->step_count, unlisted = ends + steps->graph->states;
    bool near = true;
    steps->weight[feature] = weight;
    for (uint32_t i = steps->fired.begin[feature]; i < steps->fired.begin[feature + 1]; i++) {
        uint32_t place = steps->fired.place[i];
        near &= place < ends       ? change_step(steps, place)
                : place < unlisted ? change_end(steps, place - ends)
                                   : change_unlisted(steps, place - unlisted);
    }
    if (!near) {
        refresh(steps);
    }
}
