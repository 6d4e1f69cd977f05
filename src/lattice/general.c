/* general.c - lattices of any other automaton: higher orders, observed and counted states.
 *
 * From the states of a fan, which have one label, each label leads to one state; so the transitions
 * of a fan are a matrix by state and label read, and sums and maxima are taken fan by fan.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

/* ---- steps ----------------------------------------------------------------------------------- */

static bool make_fans(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    struct tr_general_steps *general = &steps->of.general;
    size_t max = (size_t)graph->fan_count * graph->labels, count = 0;
    general->fan_begin = tr_alloc((size_t)graph->fan_count + 1, sizeof *general->fan_begin);
    general->fan_label = tr_alloc(max, sizeof *general->fan_label);
    general->fan_to = tr_alloc(max, sizeof *general->fan_to);
    if (!general->fan_begin || !general->fan_label || !general->fan_to) {
        return false;
    }
    for (uint32_t fan = 0; fan < graph->fan_count; fan++) {
        const uint32_t *step = graph->step_at + (size_t)graph->fan_begin[fan] * graph->labels;
        for (uint32_t c = 0; c < graph->labels; c++) {
            if (step[c] != TR_NO_STEP) {
                general->fan_label[count] = (uint16_t)c;
                general->fan_to[count++] = graph->to[step[c]];
            }
        }
        general->fan_begin[fan + 1] = (uint32_t)count;
    }
    return true;
}

static bool make_steps(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    struct tr_general_steps *general = &steps->of.general;
    size_t size = (size_t)graph->states * graph->width;
    general->score = tr_steps_forbidden_row(size);
    general->factor = tr_alloc_aligned(size, sizeof(float));
    general->end_factor = tr_alloc_aligned(tr_padded(graph->states), sizeof(float));
    return general->score && general->factor && general->end_factor && make_fans(steps) &&
           tr_listed_make_steps(steps);
}

static void free_steps(struct tr_steps *steps)
{
    free(steps->of.general.score);
    free(steps->of.general.factor);
    free(steps->of.general.end_factor);
    free(steps->of.general.fan_begin);
    free(steps->of.general.fan_label);
    free(steps->of.general.fan_to);
}

/* The index of a transition in the rows by state and label. */
static size_t row_place(const struct tr_graph *graph, uint32_t step)
{
    return (size_t)graph->from[step] * graph->width + graph->label[graph->to[step]];
}

static void refresh(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    struct tr_general_steps *general = &steps->of.general;
    size_t size = (size_t)graph->states * graph->width;
    for (uint32_t a = 0; a < graph->step_count; a++) {
        if (graph->from[a] != TR_NO_STATE) {
            general->score[row_place(graph, a)] = steps->score.step[a];
        }
    }
    steps->shift = tr_steps_largest(general->score, size);
    general->end_shift = tr_steps_largest(steps->score.end, graph->states);
    tr_steps_set_factors(steps, general->factor, general->score, steps->shift, size);
    tr_steps_set_factors(steps, general->end_factor, steps->score.end, general->end_shift,
                         graph->states);
}

static bool change_step(struct tr_steps *steps, uint32_t step)
{
    const struct tr_graph *graph = steps->graph;
    float score = steps->score.step[step], factor = expf(score - steps->shift);
    if (graph->from[step] == TR_NO_STATE) {
        return true;
    }
    steps->max_factor = fmaxf(steps->max_factor, factor);
    steps->of.general.score[row_place(graph, step)] = score;
    steps->of.general.factor[row_place(graph, step)] = factor;
    return tr_steps_near_shift(score, steps->shift);
}

static bool change_end(struct tr_steps *steps, uint32_t state)
{
    struct tr_general_steps *general = &steps->of.general;
    float score = steps->score.end[state];
    general->end_factor[state] = expf(score - general->end_shift);
    return tr_steps_near_shift(score, general->end_shift);
}

static const float *out_scores(const struct tr_steps *steps, uint32_t from, float *row)
{
    (void)row;
    return steps->of.general.score + (size_t)from * steps->graph->width;
}

/* ---- lattices -------------------------------------------------------------------------------- */

static bool make(struct tr_lattice *lattice)
{
    struct tr_general_lattice *general = &lattice->of.general;
    general->allowed = tr_alloc((size_t)lattice->graph->labels + 1, sizeof *general->allowed);
    return general->allowed;
}

static void free_lattice(struct tr_lattice *lattice)
{
    free(lattice->of.general.allowed);
    free(lattice->of.general.fan_rows.at);
}

static const uint32_t *out_states(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  uint32_t from)
{
    const struct tr_graph *graph = lattice->graph;
    uint32_t *next = lattice->scratch.next;
    if (from == TR_NO_STATE) {
        return steps->start_state;
    }
    const uint32_t *step = graph->step_at + (size_t)from * graph->labels;
    for (uint32_t c = 0; c < graph->labels; c++) {
        next[c] = step[c] == TR_NO_STEP ? TR_NO_STATE : graph->to[step[c]];
    }
    return next;
}

/* ---- maxima ---------------------------------------------------------------------------------- */

/* Whether no path leads to any of these states, as is common with a tag dictionary. */
static bool is_unreachable(const float *delta, size_t states)
{
    size_t z = 0;
    while (z < states && !(delta[z] > -INFINITY)) {
        z++;
    }
    return z == states;
}

/* Lists the labels that a position is restricted to in lattice->of.general.allowed; returns how
 * many, or 0 where they are so many that all labels are used. */
static size_t few_labels(struct tr_lattice *lattice, size_t position)
{
    const struct tr_graph *graph = lattice->graph;
    const float *node = tr_node_at(lattice, position);
    size_t count = 0, max = graph->labels / 8;
    for (uint32_t c = 0; c < graph->labels && count <= max; c++) {
        if (node[c] > -INFINITY) {
            lattice->of.general.allowed[count++] = c;
        }
    }
    return count <= max ? count : 0;
}

/* best(c) = max over the states of the fan of delta(z) + step(z, c), with edge scores, for the
 * labels of few_labels(); into the scratch row. */
static void max_for_labels(const struct tr_lattice *lattice, const float *delta,
                           const float *scores, const float *edge, size_t rows, size_t count)
{
    size_t width = lattice->graph->width;
    float *best = lattice->scratch.row;
    for (size_t k = 0; k < count; k++) {
        uint32_t c = lattice->of.general.allowed[k];
        best[c] = -INFINITY;
        for (size_t r = 0; r < rows; r++) {
            float score = delta[r] + scores[r * width + c];
            best[c] = score > best[c] ? score : best[c];
        }
        best[c] += edge ? edge[c] : 0;
    }
}

/* Fan by fan, the best transition for each label read, and then the best of those that lead to the
 * same state. */
static bool viterbi_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                        const float *delta, float *out)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width, few = few_labels(lattice, position);
    const float *node = tr_node_at(lattice, position), *edges = tr_edges_at(lattice, position);
    float *best = lattice->scratch.row;
    for (uint32_t z = 0; z < graph->states; z++) {
        out[z] = -INFINITY;
    }
    for (uint32_t fan = 0; fan < graph->fan_count; fan++) {
        size_t first = graph->fan_begin[fan], rows = graph->fan_begin[fan + 1] - first;
        const float *scores = steps->of.general.score + first * width;
        const float *edge = edges ? edges + graph->label[first] * width : NULL;
        if (is_unreachable(delta + first, rows)) {
            continue;
        }
        if (few) {
            max_for_labels(lattice, delta + first, scores, edge, rows, few);
        } else {
            lattice->kernels->max_plus(best, delta + first, scores, rows, width);
            if (edge) {
                lattice->kernels->add(best, edge, width);
            }
        }
        for (size_t k = 0; k < (few ? few : graph->labels); k++) {
            size_t c = few ? lattice->of.general.allowed[k] : k;
            uint32_t step = graph->step_at[first * graph->labels + c];
            if (step != TR_NO_STEP && best[c] > out[graph->to[step]]) {
                out[graph->to[step]] = best[c];
            }
        }
    }
    for (uint32_t z = 0; z < graph->states; z++) {
        out[z] += node[graph->label[z]];
    }
    return true;
}

static uint32_t came_from(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                          const float *delta, uint32_t z)
{
    const struct tr_graph *graph = lattice->graph;
    const float *edges = tr_edges_at(lattice, position);
    float best = -INFINITY;
    uint32_t best_from = 0;
    for (uint32_t a = graph->in_begin[z]; a < tr_steps_in_end(graph, z); a++) {
        uint32_t from = graph->from[a];
        float score = delta[from] + steps->score.step[a];
        if (edges) {
            score += edges[graph->label[from] * graph->width + graph->label[z]];
        }
        if (score > best) {
            best = score;
            best_from = from;
        }
    }
    return best_from;
}

/* The same in double precision. All states of a fan have one label, so edge scores may be added
 * after the maximum. */
static void max_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                    struct tr_max_rows *rows, const double *before, double *out)
{
    const struct tr_graph *graph = lattice->graph;
    const float *edges = tr_edges_at(lattice, position);
    double *best = rows->best;
    for (uint32_t fan = 0; fan < graph->fan_count; fan++) {
        uint32_t first = graph->fan_begin[fan];
        for (uint32_t c = 0; c < graph->labels; c++) {
            best[c] = -INFINITY;
        }
        for (uint32_t z = first; z < graph->fan_begin[fan + 1]; z++) {
            if (before[z] > -INFINITY) {
                tr_max_plus_row(best, before[z], steps->of.general.score + z * (size_t)graph->width,
                                graph->labels);
            }
        }
        const float *edge = edges ? edges + graph->label[first] * (size_t)graph->width : NULL;
        for (uint32_t c = 0; c < graph->labels; c++) {
            uint32_t step = graph->step_at[first * (size_t)graph->labels + c];
            if (step == TR_NO_STEP) {
                continue;
            }
            double score = best[c] + tr_state_score(lattice, position, graph->to[step]) +
                           (edge ? (double)edge[c] : 0);
            if (score > out[graph->to[step]]) {
                out[graph->to[step]] = score;
            }
        }
    }
}

/* ---- expectations ---------------------------------------------------------------------------- */

/* Fan by fan: sum over z' in f of alpha_{i-1}(z') M(z',c), times to_i(f(c)) */
static bool edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps,
                           float *marginals)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width;
    for (size_t i = 1; i < lattice->length; i++) {
        float *marginal = marginals + i * graph->labels * width;
        const float *alpha = lattice->fast.alpha.at + (i - 1) * lattice->stride;
        for (uint32_t fan = 0; fan < graph->fan_count; fan++) {
            size_t first = graph->fan_begin[fan], rows = graph->fan_begin[fan + 1] - first;
            tr_general_fan_row(lattice, steps, i, fan, lattice->scratch.row);
            lattice->kernels->vector_matrix(lattice->scratch.second_row, alpha + first,
                                            steps->of.general.factor + first * width, rows, width);
            lattice->kernels->multiply(lattice->scratch.row, lattice->scratch.second_row, width);
            lattice->kernels->add(marginal + graph->label[first] * width, lattice->scratch.row,
                                  width);
        }
    }
    return true;
}

/* outer [S][width] is by state and label read. */
static bool make_counts(struct tr_lattice *lattice)
{
    lattice->counts.outer = tr_alloc_aligned((size_t)lattice->graph->states * lattice->graph->width,
                                             sizeof *lattice->counts.outer);
    return lattice->counts.outer;
}

/* outer[z'][c] += scale * sum_i alpha_{i-1}(z') to_i(f(c)), fan by fan */
static bool collect(struct tr_lattice *lattice, const struct tr_steps *steps, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width;
    tr_collect_ends(lattice, steps->of.general.end_factor, scale);
    if (!tr_floats_room(&lattice->of.general.fan_rows, TR_POSITIONS_AT_ONCE, width)) {
        return false;
    }
    for (size_t begin = 1; begin < lattice->length && !tr_interrupted(lattice->interruption);
         begin += TR_POSITIONS_AT_ONCE) {
        size_t left = lattice->length - begin;
        size_t count = left < TR_POSITIONS_AT_ONCE ? left : TR_POSITIONS_AT_ONCE;
        const float *alpha = lattice->fast.alpha.at + (begin - 1) * lattice->stride;
        for (uint32_t fan = 0; fan < graph->fan_count; fan++) {
            size_t first = graph->fan_begin[fan], rows = graph->fan_begin[fan + 1] - first;
            for (size_t i = 0; i < count; i++) {
                tr_general_fan_row(lattice, steps, begin + i, fan,
                                   lattice->of.general.fan_rows.at + i * width);
            }
            lattice->kernels->outer_sum(lattice->counts.outer + first * width, alpha + first,
                                        lattice->stride, lattice->of.general.fan_rows.at, count,
                                        scale, rows, width);
        }
    }
    return true;
}

/* The factor of a transition without a count may be anything, even infinite. */
static void flush(struct tr_lattice *lattice, const struct tr_steps *steps, float *expected)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_expected_counts *counts = &lattice->counts;
    for (uint32_t a = 0; a < graph->step_count; a++) {
        uint32_t begin = graph->feature_begin[a], end = graph->feature_begin[a + 1];
        if (graph->from[a] == TR_NO_STATE) {
            counts->step[a] = counts->start[graph->label[graph->to[a]]];
        } else {
            size_t place = row_place(graph, a);
            float factor = steps->of.general.factor[place];
            if (factor > 0 && counts->outer[place] != 0) {
                counts->step[a] += (double)factor * counts->outer[place];
            }
        }
        tr_flush_count(&counts->step[a], graph->feature + begin, end - begin, expected);
    }
    memset(counts->outer, 0, (size_t)graph->states * graph->width * sizeof *counts->outer);
    tr_listed_flush_ends(lattice, expected);
}

static void collect_local(struct tr_lattice *lattice, const struct tr_steps *steps, uint32_t from,
                          const float *p, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    const uint32_t *step = graph->step_at + (size_t)from * graph->labels;
    (void)steps;
    for (uint32_t c = 0; c < graph->labels; c++) {
        if (step[c] != TR_NO_STEP) {
            lattice->counts.step[step[c]] += scale * (double)p[c];
        }
    }
}

const struct tr_lattice_kind tr_general_kind = {
    .make_steps = make_steps,
    .free_steps = free_steps,
    .set_weights = tr_listed_set_weights,
    .make = make,
    .free = free_lattice,
    .forward_backward = tr_listed_forward_backward,
    .viterbi = tr_listed_viterbi,
    .nbest = tr_listed_nbest,
    .beam = tr_listed_beam,
    .sample = tr_listed_sample,
    .entropy = tr_listed_entropy,
    .path_score = tr_listed_path_score,
    .edge_marginals = edge_marginals,
    .collect = collect,
    .flush = flush,
    .change_step = change_step,
    .change_end = change_end,
    .refresh = refresh,
    .out_scores = out_scores,
    .out_states = out_states,
    .arrivals = tr_listed_arrivals,
    .fast_forward_backward = tr_general_forward_backward,
    .normaliser_sums = tr_general_normaliser_sums,
    .viterbi_row = viterbi_row,
    .came_from = came_from,
    .max_row = max_row,
    .make_counts = make_counts,
    .collect_local = collect_local,
};
