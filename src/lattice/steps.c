/* steps.c - the steps of a graph with weights applied.
 *
 *   score(step) = sum of the weights of the features it fires, minus infinity where it is forbidden
 *
 * and what the kernels make of the scores: matrices and their exponentials for a first-order graph that
 * lists all steps, corrections to "everything" where unlisted steps are free, factors by step for all
 * other graphs. Exponentials are taken of score - shift, the largest score at the time of setting, so
 * that they neither overflow nor all vanish.
 *
 * A few changed weights touch only the places that fire them.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

#define SHIFT_SLACK 16.0f // how far a changed score may rise above the shift

/* ---- where a feature is fired -------------------------------------------------------------------- */

/* Calls of count_or_place() for every (place, feature) of the graph. */
static void count_or_place(struct tr_steps *steps, uint32_t place, const uint32_t *features,
                           uint32_t count, bool placing)
{
    for (uint32_t i = 0; i < count; i++) {
        if (placing) {
            steps->fired[steps->fired_begin[features[i]]++] = place;
        } else {
            steps->fired_begin[features[i] + 1]++;
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
    for (uint32_t c = 0; graph->free_steps && c < graph->labels; c++, place++) {
        count_or_place(steps, place, graph->free_feature + graph->free_begin[c],
                       graph->free_begin[c + 1] - graph->free_begin[c], placing);
    }
}

static bool index_places(struct tr_steps *steps)
{
    uint32_t features = steps->graph->features;
    steps->fired_begin = tr_alloc((size_t)features + 1, sizeof *steps->fired_begin);
    if (!steps->fired_begin) {
        return false;
    }
    visit_places(steps, false);
    for (uint32_t f = 0; f < features; f++) {
        steps->fired_begin[f + 1] += steps->fired_begin[f];
    }
    steps->fired = tr_alloc(steps->fired_begin[features], sizeof *steps->fired);
    if (!steps->fired) {
        return false;
    }
    visit_places(steps, true);
    for (uint32_t f = features; f > 0; f--) {
        steps->fired_begin[f] = steps->fired_begin[f - 1];
    }
    steps->fired_begin[0] = 0;
    return true;
}

/* ---- making -------------------------------------------------------------------------------------- */

/* A row of minus infinity; NULL on allocation failure. */
static float *forbidden_row(size_t count)
{
    float *row = tr_alloc_aligned(tr_padded(count), sizeof *row);
    for (size_t j = 0; row && j < tr_padded(count); j++) {
        row[j] = -INFINITY;
    }
    return row;
}

static bool make_matrices(struct tr_steps *steps)
{
    size_t size = (size_t)steps->graph->labels * steps->graph->width;
    steps->matrix = forbidden_row(size);
    steps->matrix_by_to = forbidden_row(size);
    steps->factor = tr_alloc_aligned(size, sizeof(float));
    steps->factor_by_to = tr_alloc_aligned(size, sizeof(float));
    return steps->matrix && steps->matrix_by_to && steps->factor && steps->factor_by_to;
}

/* The listed steps by where they come from, and a bit for each. */
static bool make_free_steps(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    uint32_t labels = graph->labels, rows = 0;
    steps->words = ((size_t)labels + 63) / 64;
    steps->out_begin = tr_alloc((size_t)labels + 1, sizeof *steps->out_begin);
    steps->out_to = tr_alloc(graph->step_count, sizeof *steps->out_to);
    steps->out_place = tr_alloc(graph->step_count, sizeof *steps->out_place);
    steps->out_step = tr_alloc(graph->step_count, sizeof *steps->out_step);
    steps->out_score = tr_alloc(graph->step_count, sizeof *steps->out_score);
    steps->step_factor = tr_alloc_aligned(tr_padded(graph->step_count), sizeof(float));
    steps->out_most = tr_alloc(labels, sizeof *steps->out_most);
    steps->out_gain = forbidden_row(graph->width);
    steps->bits_row = tr_alloc(labels, sizeof *steps->bits_row);
    if (!steps->out_begin || !steps->out_to || !steps->out_place || !steps->out_step ||
        !steps->out_score || !steps->step_factor || !steps->out_most || !steps->out_gain ||
        !steps->bits_row || !tr_tiles_make(&steps->into, graph, false) ||
        !tr_tiles_make(&steps->out_of, graph, true)) {
        return false;
    }
    for (uint32_t a = 0; a < graph->step_count; a++) {
        if (graph->from[a] != TR_NO_STATE) {
            steps->out_begin[graph->from[a] + 1]++;
        }
    }
    for (uint32_t z = 0; z < labels; z++) {
        steps->bits_row[z] = steps->out_begin[z + 1] ? rows++ : TR_NO_STATE;
        steps->out_begin[z + 1] += steps->out_begin[z];
    }
    steps->bits = tr_alloc(rows, steps->words * sizeof *steps->bits);
    if (!steps->bits) {
        return false;
    }
    for (uint32_t a = 0; a < graph->step_count; a++) {
        uint32_t from = graph->from[a], to = graph->to[a];
        if (from != TR_NO_STATE) {
            steps->out_place[a] = steps->out_begin[from]++;
            steps->out_to[steps->out_place[a]] = to;
            steps->out_step[steps->out_place[a]] = a;
            steps->bits[steps->bits_row[from] * steps->words + to / 64] |= UINT64_C(1) << to % 64;
        }
    }
    for (uint32_t z = labels; z > 0; z--) {
        steps->out_begin[z] = steps->out_begin[z - 1];
    }
    steps->out_begin[0] = 0;
    return true;
}

static bool make_fans(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    size_t most = (size_t)graph->fan_count * graph->labels, count = 0;
    steps->fan_begin = tr_alloc((size_t)graph->fan_count + 1, sizeof *steps->fan_begin);
    steps->fan_label = tr_alloc(most, sizeof *steps->fan_label);
    steps->fan_to = tr_alloc(most, sizeof *steps->fan_to);
    if (!steps->fan_begin || !steps->fan_label || !steps->fan_to) {
        return false;
    }
    for (uint32_t fan = 0; fan < graph->fan_count; fan++) {
        const uint32_t *step = graph->step_at + (size_t)graph->fan_begin[fan] * graph->labels;
        for (uint32_t c = 0; c < graph->labels; c++) {
            if (step[c] != TR_NO_STEP) {
                steps->fan_label[count] = (uint16_t)c;
                steps->fan_to[count++] = graph->to[step[c]];
            }
        }
        steps->fan_begin[fan + 1] = (uint32_t)count;
    }
    return true;
}

static bool make_general(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    size_t size = (size_t)graph->states * graph->width;
    steps->row_score = forbidden_row(size);
    steps->row_factor = tr_alloc_aligned(size, sizeof(float));
    steps->end_factor = tr_alloc_aligned(tr_padded(graph->states), sizeof(float));
    steps->start_state = tr_alloc(graph->labels, sizeof *steps->start_state);
    if (!steps->row_score || !steps->row_factor || !steps->end_factor || !steps->start_state ||
        !make_fans(steps)) {
        return false;
    }
    for (uint32_t c = 0; c < graph->labels; c++) {
        steps->start_state[c] = tr_graph_next(graph, TR_NO_STATE, (uint16_t)c);
    }
    return true;
}

trellis_status tr_steps_create(const struct tr_graph *graph, struct tr_steps **ret_steps,
                               trellis_error *error)
{
    *ret_steps = NULL;
    struct tr_steps *steps = tr_alloc(1, sizeof *steps);
    if (!steps) {
        return tr_fail_memory(error);
    }
    steps->graph = graph;
    steps->kernels = tr_kernels();
    steps->weight = tr_alloc(graph->features, sizeof *steps->weight);
    if (graph->pruned && steps->weight) {
        tr_steps_set(steps, NULL);
        *ret_steps = steps;
        return TRELLIS_OK;
    }
    steps->score = forbidden_row(graph->step_count);
    steps->start = forbidden_row(graph->width);
    steps->end = forbidden_row(graph->states);
    steps->free = forbidden_row(graph->width);
    if (!steps->weight || !steps->score || !steps->start || !steps->end || !steps->free ||
        !index_places(steps) ||
        !(graph->free_steps    ? make_free_steps(steps)
          : graph->first_order ? make_matrices(steps)
                               : make_general(steps))) {
        tr_steps_destroy(steps);
        return tr_fail_memory(error);
    }
    tr_steps_set(steps, NULL);
    *ret_steps = steps;
    return TRELLIS_OK;
}

static void drop_residuals(struct tr_steps *steps)
{
    free(steps->residual_score);
    free(steps->residual_start);
    free(steps->residual_end);
    free(steps->residual_free);
    steps->residual_score = steps->residual_start = steps->residual_end = steps->residual_free =
        NULL;
}

void tr_steps_destroy(struct tr_steps *steps)
{
    if (!steps) {
        return;
    }
    free(steps->weight);
    free(steps->fired_begin);
    free(steps->fired);
    drop_residuals(steps);
    free(steps->score);
    free(steps->start);
    free(steps->end);
    free(steps->free);
    free(steps->matrix);
    free(steps->matrix_by_to);
    free(steps->factor);
    free(steps->factor_by_to);
    free(steps->out_begin);
    free(steps->out_to);
    free(steps->out_place);
    free(steps->out_step);
    free(steps->out_score);
    free(steps->out_most);
    free(steps->out_gain);
    free(steps->bits_row);
    free(steps->bits);
    tr_tiles_free(&steps->into);
    tr_tiles_free(&steps->out_of);
    free(steps->step_factor);
    free(steps->row_score);
    free(steps->row_factor);
    free(steps->end_factor);
    free(steps->start_state);
    free(steps->fan_begin);
    free(steps->fan_label);
    free(steps->fan_to);
    free(steps);
}

/* ---- scores -------------------------------------------------------------------------------------- */

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

static float free_score(const struct tr_steps *steps, uint32_t c)
{
    const struct tr_graph *graph = steps->graph;
    uint32_t begin = graph->free_begin[c];
    return sum_of_weights(steps, graph->free_feature + begin, graph->free_begin[c + 1] - begin);
}

static void set_scores(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    for (uint32_t c = 0; graph->free_steps && c < graph->labels; c++) {
        steps->start[c] = steps->free[c] = free_score(steps, c);
    }
    for (uint32_t a = 0; a < graph->step_count; a++) {
        steps->score[a] = step_score(steps, a);
        if (graph->from[a] == TR_NO_STATE) {
            steps->start[graph->label[graph->to[a]]] = steps->score[a];
        }
    }
    for (uint32_t z = 0; z < graph->states; z++) {
        steps->end[z] = end_score(steps, z);
    }
}

/* ---- what the kernels make of them --------------------------------------------------------------- */

/* The largest of some scores, 0 where none is finite. */
static float largest_score(const float *scores, size_t count)
{
    float most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        most = scores[i] > most ? scores[i] : most;
    }
    return isfinite(most) ? most : 0;
}

/* factor[i] = exp(score[i] - shift), padded arrays */
static void set_factors(const struct tr_steps *steps, float *factor, const float *score,
                        float shift, size_t count)
{
    for (size_t i = 0; i < tr_padded(count); i++) {
        factor[i] = score[i] - shift;
    }
    steps->kernels->exp(factor, factor, tr_padded(count));
}

static void transpose(float *by_from, const float *by_to, size_t labels, size_t width)
{
    for (size_t to = 0; to < labels; to++) {
        for (size_t from = 0; from < labels; from++) {
            by_from[from * width + to] = by_to[to * width + from];
        }
    }
}

static void refresh_matrices(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    size_t labels = graph->labels, width = graph->width;
    for (size_t to = 0; to < labels; to++) {
        memcpy(steps->matrix_by_to + to * width, steps->score + graph->in_begin[to],
               labels * sizeof(float));
    }
    steps->shift = largest_score(steps->matrix_by_to, labels * width);
    set_factors(steps, steps->factor_by_to, steps->matrix_by_to, steps->shift, labels * width);
    transpose(steps->matrix, steps->matrix_by_to, labels, width);
    transpose(steps->factor, steps->factor_by_to, labels, width);
}

/* Where a step of a general graph stands in the rows by state and label. */
static size_t row_place(const struct tr_graph *graph, uint32_t a)
{
    return (size_t)graph->from[a] * graph->width + graph->label[graph->to[a]];
}

static void refresh_general(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    size_t size = (size_t)graph->states * graph->width;
    for (uint32_t a = 0; a < graph->step_count; a++) {
        if (graph->from[a] != TR_NO_STATE) {
            steps->row_score[row_place(graph, a)] = steps->score[a];
        }
    }
    steps->shift = largest_score(steps->row_score, size);
    steps->end_shift = largest_score(steps->end, graph->states);
    set_factors(steps, steps->row_factor, steps->row_score, steps->shift, size);
    set_factors(steps, steps->end_factor, steps->end, steps->end_shift, graph->states);
}

/* Copies what is known of a listed step to where it stands among those out of a label. */
static void copy_out(struct tr_steps *steps, uint32_t a)
{
    if (steps->graph->from[a] != TR_NO_STATE) {
        steps->out_score[steps->out_place[a]] = steps->score[a];
        steps->into.factor[steps->into.place[a]] = steps->step_factor[a];
        steps->out_of.factor[steps->out_of.place[a]] = steps->step_factor[a];
        steps->most_factor = fmaxf(steps->most_factor, steps->step_factor[a]);
    }
}

/* factor = exp(score - free[to]): how much a listed step weighs beside one that is not. */
static void refresh_free_step(struct tr_steps *steps, uint32_t a)
{
    steps->step_factor[a] = expf(steps->score[a] - steps->free[steps->graph->to[a]]);
    copy_out(steps, a);
}

static void refresh_out_most(struct tr_steps *steps, uint32_t from)
{
    float most = -INFINITY, gain = 0;
    for (uint32_t p = steps->out_begin[from]; p < steps->out_begin[from + 1]; p++) {
        float score = steps->out_score[p], above = score - steps->free[steps->out_to[p]];
        most = score > most ? score : most;
        gain = above > gain ? above : gain;
    }
    steps->out_most[from] = most;
    steps->out_gain[from] = gain;
}

static void refresh_free(struct tr_steps *steps)
{
    uint32_t count = steps->graph->step_count;
    for (uint32_t a = 0; a < count; a++) {
        steps->step_factor[a] = steps->score[a] - steps->free[steps->graph->to[a]];
    }
    steps->kernels->exp(steps->step_factor, steps->step_factor, tr_padded(count));
    for (uint32_t a = 0; a < count; a++) {
        copy_out(steps, a);
    }
    for (uint32_t z = 0; z < steps->graph->labels; z++) {
        refresh_out_most(steps, z);
    }
}

static void refresh(struct tr_steps *steps)
{
    steps->most_factor = 1;
    if (steps->graph->free_steps) {
        refresh_free(steps);
    } else if (steps->graph->first_order) {
        refresh_matrices(steps);
    } else {
        refresh_general(steps);
    }
}

/* What a score lacks of the sum of whole weights. */
static float left_over(const struct tr_steps *steps, const float *residual, float score,
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
    drop_residuals(steps);
    steps->residual_score = tr_alloc(graph->step_count, sizeof(float));
    steps->residual_start = tr_alloc(graph->width, sizeof(float));
    steps->residual_end = tr_alloc(graph->states, sizeof(float));
    steps->residual_free = tr_alloc(graph->width, sizeof(float));
    if (!steps->residual_score || !steps->residual_start || !steps->residual_end ||
        !steps->residual_free) {
        drop_residuals(steps);
        return tr_fail_memory(error);
    }
    for (uint32_t c = 0; graph->free_steps && c < graph->labels; c++) {
        uint32_t begin = graph->free_begin[c];
        steps->residual_start[c] = steps->residual_free[c] = left_over(
            steps, residual, steps->free[c], graph->free_feature + begin,
            graph->free_begin[c + 1] - begin);
    }
    for (uint32_t a = 0; a < graph->step_count; a++) {
        uint32_t begin = graph->feature_begin[a];
        steps->residual_score[a] = left_over(steps, residual, steps->score[a],
                                             graph->feature + begin,
                                             graph->feature_begin[a + 1] - begin);
        if (graph->from[a] == TR_NO_STATE) {
            steps->residual_start[graph->label[graph->to[a]]] = steps->residual_score[a];
        }
    }
    for (uint32_t z = 0; z < graph->states; z++) {
        uint32_t begin = graph->end_begin[z];
        steps->residual_end[z] = left_over(steps, residual, steps->end[z],
                                           graph->end_feature + begin,
                                           graph->end_begin[z + 1] - begin);
    }
    return TRELLIS_OK;
}

void tr_steps_set(struct tr_steps *steps, const float *weights)
{
    drop_residuals(steps);
    for (uint32_t f = 0; f < steps->graph->features; f++) {
        steps->weight[f] = weights ? weights[f] : 0;
    }
    tr_steps_share(steps, steps->weight, 1);
    if (!steps->graph->pruned) {
        set_scores(steps);
        refresh(steps);
    }
}

void tr_steps_share(struct tr_steps *steps, const float *weights, double scale)
{
    steps->seen = weights;
    steps->scale = scale;
}

/* ---- a few changes ------------------------------------------------------------------------------- */

/* Brings the factor of a listed step up to its score. These return false where the score rose so far
 * above the shift that all factors must be taken anew. */
static bool change_factor(struct tr_steps *steps, uint32_t a)
{
    const struct tr_graph *graph = steps->graph;
    uint32_t from = graph->from[a], to = graph->to[a];
    float score = steps->score[a];
    if (from == TR_NO_STATE) {
        return true;
    }
    float factor = expf(score - steps->shift);
    steps->most_factor = fmaxf(steps->most_factor, factor);
    if (graph->first_order) {
        size_t at = from * (size_t)graph->width + to, at_by_to = to * (size_t)graph->width + from;
        steps->matrix[at] = steps->matrix_by_to[at_by_to] = score;
        steps->factor[at] = steps->factor_by_to[at_by_to] = factor;
    } else {
        steps->row_score[row_place(graph, a)] = score;
        steps->row_factor[row_place(graph, a)] = factor;
    }
    return score - steps->shift <= SHIFT_SLACK;
}

static bool change_step(struct tr_steps *steps, uint32_t a)
{
    const struct tr_graph *graph = steps->graph;
    uint32_t from = graph->from[a];
    steps->score[a] = step_score(steps, a);
    if (from == TR_NO_STATE) {
        steps->start[graph->label[graph->to[a]]] = steps->score[a];
    }
    if (!graph->free_steps) {
        return change_factor(steps, a);
    }
    refresh_free_step(steps, a);
    if (from != TR_NO_STATE) {
        refresh_out_most(steps, from);
    }
    return true;
}

static bool change_end(struct tr_steps *steps, uint32_t z)
{
    steps->end[z] = end_score(steps, z);
    if (steps->graph->first_order) {
        return true;
    }
    steps->end_factor[z] = expf(steps->end[z] - steps->end_shift);
    return steps->end[z] - steps->end_shift <= SHIFT_SLACK;
}

/* The listed steps into the label were changed before, but not what they are measured against. */
static bool change_free(struct tr_steps *steps, uint32_t c)
{
    steps->free[c] = free_score(steps, c);
    if (tr_graph_step(steps->graph, TR_NO_STATE, c) == TR_NO_STEP) {
        steps->start[c] = steps->free[c];
    }
    for (uint32_t a = steps->graph->in_begin[c]; a < steps->graph->in_begin[c + 1]; a++) {
        refresh_free_step(steps, a);
        if (steps->graph->from[a] != TR_NO_STATE) {
            refresh_out_most(steps, steps->graph->from[a]);
        }
    }
    return true;
}

void tr_steps_change(struct tr_steps *steps, uint32_t feature, float weight)
{
    uint32_t ends = steps->graph->step_count, frees = ends + steps->graph->states;
    bool fits = true;
    steps->weight[feature] = weight;
    for (uint32_t i = steps->fired_begin[feature]; i < steps->fired_begin[feature + 1]; i++) {
        uint32_t place = steps->fired[i];
        fits &= place < ends    ? change_step(steps, place)
                : place < frees ? change_end(steps, place - ends)
                                : change_free(steps, place - frees);
    }
    if (!fits) {
        refresh(steps);
    }
}
