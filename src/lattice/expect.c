/* expect.c - what forward and backward are asked for: marginals, and expected counts of step features.
 *
 *   P(c', c at i-1, i) = sum over steps a from z' (label c') to z (label c) of
 *                        alpha_{i-1}(z') M_i(a) to_i(z)
 *   E[feature] = sum over the steps that fire it of sum_i P(step at i)
 *
 * Where the factor M(a,b) does not depend on the position, sum_i P(a, b at i-1, i) =
 * M(a,b) sum_i alpha_{i-1}(a) to_i(b): a product of two matrices, which is summed up over many sequences
 * before M is multiplied in and features are looked at. With free steps only the listed elements of that
 * product are wanted: alpha and `to` are turned round, positions along the rows, and each element is a
 * product of two rows. In general graphs there is one such product for each fan.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

#define POSITIONS_AT_ONCE 128 // that are turned round

/* ---- log Z --------------------------------------------------------------------------------------- */

/* The room of the fast kernels. Doing without them where there is none would give other digits. */
static bool make_room(struct tr_lattice *lattice)
{
    const struct tr_graph *graph = lattice->graph;
    size_t n = lattice->length, width = graph->width;
    size_t across = graph->first_order ? width : lattice->stride;
    size_t pairs = lattice->has_edges ? graph->labels * width : 0;
    return tr_floats_room(&lattice->alpha, n, across) && tr_floats_room(&lattice->to, n, across) &&
           tr_floats_room(&lattice->marginal, n, width) &&
           tr_floats_room(&lattice->inverse, n, 1) && tr_floats_room(&lattice->pair, n, pairs);
}

trellis_status tr_lattice_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                           double *ret_log_z, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    *ret_log_z = lattice->log_z = 0;
    lattice->computed = TR_FAST;
    if (lattice->length == 0) {
        return TRELLIS_OK;
    }
    if (lattice->pruning) {
        status = tr_pruned_forward_backward(lattice, steps, NULL, error);
        *ret_log_z = status ? 0 : lattice->log_z;
        return status;
    }
    bool fast = !lattice->reference && !lattice->has_residuals;
    if (fast && !make_room(lattice)) {
        lattice->computed = TR_NOTHING;
        return tr_fail_memory(error);
    }
    if (fast) {
        tr_lattice_seal(lattice);
    }
    bool done = fast &&
                (lattice->graph->first_order ? tr_first_order_forward_backward(lattice, steps)
                                             : tr_general_forward_backward(lattice, steps));
    if (!done) {
        status = tr_reference_forward_backward(lattice, steps, error);
        lattice->computed = status ? TR_NOTHING : TR_REFERENCE;
    }
    *ret_log_z = status ? 0 : lattice->log_z;
    return status;
}

/* ---- marginals ----------------------------------------------------------------------------------- */

const float *tr_lattice_node_marginals(const struct tr_lattice *lattice)
{
    return lattice->computed == TR_NOTHING ? NULL : lattice->marginal.at;
}

float *tr_lattice_take_node_marginals(struct tr_lattice *lattice)
{
    float *marginals = lattice->computed == TR_NOTHING ? NULL : lattice->marginal.at;
    lattice->computed = TR_NOTHING;
    return marginals;
}

void tr_lattice_posterior(struct tr_lattice *lattice, uint16_t *labels)
{
    size_t width = lattice->graph->width;
    for (size_t i = 0; lattice->computed != TR_NOTHING && i < lattice->length; i++) {
        labels[i] = (uint16_t)lattice->kernels->argmax(lattice->marginal.at + i * width, width);
    }
}

/* The factors of the steps to position i of a first-order graph, [L][width]: with edge scores they are
 * there already; with free steps the matrix is 1 but for the listed ones. */
static const float *factors_at(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i)
{
    const struct tr_graph *graph = lattice->graph;
    size_t size = (size_t)graph->labels * graph->width;
    if (lattice->has_edges) {
        return lattice->pair.at + i * size;
    }
    if (!graph->free_steps) {
        return steps->factor;
    }
    float *matrix = tr_lattice_matrix(lattice);
    for (size_t j = 0; matrix && i == 1 && j < size; j++) {
        matrix[j] = 1;
    }
    for (uint32_t a = 0; matrix && i == 1 && a < graph->step_count; a++) {
        if (graph->from[a] != TR_NO_STATE) {
            matrix[(size_t)graph->from[a] * graph->width + graph->to[a]] = steps->step_factor[a];
        }
    }
    return matrix;
}

static bool first_order_edges(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width, size = (size_t)graph->labels * width;
    for (size_t i = 1; i < lattice->length; i++) {
        const float *factors = factors_at(lattice, steps, i);
        const float *alpha = lattice->alpha.at + (i - 1) * width, *to = lattice->to.at + i * width;
        if (!factors) {
            return false;
        }
        for (size_t a = 0; a < graph->labels; a++) {
            float *row = lattice->edge_marginal.at + i * size + a * width;
            memcpy(row, factors + a * width, width * sizeof *row);
            lattice->kernels->multiply(row, to, width);
            lattice->kernels->scale(row, alpha[a], width);
        }
    }
    return true;
}

/* Fan by fan: sum over z' in f of alpha_{i-1}(z') M(z',c), times to_i(f(c)) */
static void general_edges(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width;
    for (size_t i = 1; i < lattice->length; i++) {
        float *marginal = lattice->edge_marginal.at + i * graph->labels * width;
        const float *alpha = lattice->alpha.at + (i - 1) * lattice->stride;
        for (uint32_t fan = 0; fan < graph->fan_count; fan++) {
            size_t first = graph->fan_begin[fan], rows = graph->fan_begin[fan + 1] - first;
            tr_general_fan_row(lattice, steps, i, fan, lattice->row);
            lattice->kernels->vector_matrix(lattice->second_row, alpha + first,
                                            steps->row_factor + first * width, rows, width);
            lattice->kernels->multiply(lattice->row, lattice->second_row, width);
            lattice->kernels->add(marginal + graph->label[first] * width, lattice->row, width);
        }
    }
}

/* Only what follows the label that was decided on before is possible. */
static void decided_edges(struct tr_lattice *lattice)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width;
    for (size_t i = 1; i < lattice->length; i++) {
        uint32_t from = graph->label[lattice->history.at[i]];
        memcpy(lattice->edge_marginal.at + (i * graph->labels + from) * width,
               lattice->marginal.at + i * width, width * sizeof(float));
    }
}

float *tr_lattice_edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    size_t size = (size_t)lattice->graph->labels * lattice->graph->width;
    if (lattice->computed == TR_NOTHING ||
        !tr_floats_room(&lattice->edge_marginal, lattice->length, size)) {
        return NULL;
    }
    float *marginals = lattice->edge_marginal.at;
    memset(marginals, 0, lattice->length * size * sizeof *marginals);
    if (lattice->computed == TR_DECISIONS) {
        decided_edges(lattice);
    } else if (lattice->computed == TR_PRUNED) {
        tr_pruned_edge_marginals(lattice, marginals);
    } else if (lattice->computed == TR_REFERENCE) {
        tr_reference_edge_marginals(lattice, steps, marginals);
    } else if (!lattice->graph->first_order) {
        general_edges(lattice, steps);
    } else if (!first_order_edges(lattice, steps)) {
        return NULL;
    }
    return marginals;
}

/* ---- expected counts: collecting ----------------------------------------------------------------- */

static size_t outer_size(const struct tr_graph *graph)
{
    return graph->free_steps ? graph->step_count : (size_t)graph->states * graph->width;
}

static bool make_counts(struct tr_lattice *lattice)
{
    const struct tr_graph *graph = lattice->graph;
    if (lattice->start_count) {
        return true;
    }
    double *outer = tr_alloc_aligned(outer_size(graph), sizeof *outer);
    double *step_count = tr_alloc(graph->step_count, sizeof *step_count);
    double *end_count = tr_alloc(graph->states, sizeof *end_count);
    double *free_count = tr_alloc(graph->width, sizeof *free_count);
    double *start_count = tr_alloc(graph->width, sizeof *start_count);
    if (!outer || !step_count || !end_count || !free_count || !start_count) {
        free(outer);
        free(step_count);
        free(end_count);
        free(free_count);
        free(start_count);
        return false;
    }
    lattice->outer = outer;
    lattice->step_count = step_count;
    lattice->end_count = end_count;
    lattice->free_count = free_count;
    lattice->start_count = start_count;
    return true;
}

/* First order with edge scores: the factors are of the position. */
static void collect_pairs(struct tr_lattice *lattice, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width;
    for (size_t i = 1; i < lattice->length; i++) {
        const float *pair = lattice->pair.at + i * graph->labels * width;
        const float *alpha = lattice->alpha.at + (i - 1) * width, *to = lattice->to.at + i * width;
        for (uint32_t a = 0; a < graph->step_count; a++) {
            uint32_t from = graph->from[a];
            if (from != TR_NO_STATE) {
                float p = alpha[from] * pair[from * width + graph->to[a]] * to[graph->to[a]];
                lattice->step_count[a] += scale * (double)p;
            }
        }
    }
}

/* out[c][i] = rows[i][c], with zeros behind the last position; out [L][width of positions] */
static void turn_round(float *out, const float *rows, size_t positions, size_t padded,
                       const struct tr_graph *graph)
{
    for (size_t c = 0; c < graph->labels; c++) {
        for (size_t i = 0; i < padded; i++) {
            out[c * padded + i] = i < positions ? rows[i * graph->width + c] : 0;
        }
    }
}

/* outer[a] += scale * sum_i alpha_{i-1}(from) to_i(to) for listed steps */
static bool collect_free(struct tr_lattice *lattice, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    if (!tr_floats_room(&lattice->turned, 2 * (size_t)graph->labels, POSITIONS_AT_ONCE)) {
        return false;
    }
    for (size_t begin = 1; begin < lattice->length; begin += POSITIONS_AT_ONCE) {
        size_t left = lattice->length - begin;
        size_t count = left < POSITIONS_AT_ONCE ? left : POSITIONS_AT_ONCE;
        size_t padded = tr_padded(count);
        float *alpha = lattice->turned.at, *to = alpha + graph->labels * padded;
        turn_round(alpha, lattice->alpha.at + (begin - 1) * graph->width, count, padded, graph);
        turn_round(to, lattice->to.at + begin * graph->width, count, padded, graph);
        for (uint32_t c = 0; c < graph->labels; c++) {
            uint32_t first = graph->in_begin[c], end = tr_steps_in_end(graph, c);
            lattice->kernels->listed_products(lattice->outer + first, alpha, graph->from + first,
                                              end - first, to + c * padded, scale, padded);
        }
    }
    return true;
}

/* outer[z'][c] += scale * sum_i alpha_{i-1}(z') to_i(f(c)), fan by fan */
static bool collect_fans(struct tr_lattice *lattice, const struct tr_steps *steps, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    size_t width = graph->width;
    if (!tr_floats_room(&lattice->turned, POSITIONS_AT_ONCE, width)) {
        return false;
    }
    for (size_t begin = 1; begin < lattice->length; begin += POSITIONS_AT_ONCE) {
        size_t left = lattice->length - begin;
        size_t count = left < POSITIONS_AT_ONCE ? left : POSITIONS_AT_ONCE;
        const float *alpha = lattice->alpha.at + (begin - 1) * lattice->stride;
        for (uint32_t fan = 0; fan < graph->fan_count; fan++) {
            size_t first = graph->fan_begin[fan], rows = graph->fan_begin[fan + 1] - first;
            for (size_t i = 0; i < count; i++) {
                tr_general_fan_row(lattice, steps, begin + i, fan, lattice->turned.at + i * width);
            }
            lattice->kernels->outer_sum(lattice->outer + first * width, alpha + first,
                                        lattice->stride, lattice->turned.at, count, scale, rows,
                                        width);
        }
    }
    return true;
}

/* alpha_n(z) beta_n(z); in first order the end's factor is part of alpha_n. */
static void collect_ends(struct tr_lattice *lattice, const struct tr_steps *steps, double scale)
{
    size_t last = lattice->length - 1;
    const float *alpha = lattice->alpha.at + last * lattice->stride;
    scale *= (double)lattice->inverse.at[last];
    for (size_t z = 0; z < lattice->graph->states; z++) {
        float end = lattice->graph->first_order ? 1 : steps->end_factor[z];
        lattice->end_count[z] += scale * (double)(alpha[z] * end);
    }
}

static void collect_labels(struct tr_lattice *lattice, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    for (size_t c = 0; c < graph->labels; c++) {
        lattice->start_count[c] += scale * (double)lattice->marginal.at[c];
    }
    if (!graph->free_steps || graph->free_begin[graph->labels] == 0) {
        return;
    }
    for (size_t i = 1; i < lattice->length; i++) {
        for (size_t c = 0; c < graph->labels; c++) {
            lattice->free_count[c] += scale * (double)lattice->marginal.at[i * graph->width + c];
        }
    }
}

bool tr_lattice_collect_steps(struct tr_lattice *lattice, const struct tr_steps *steps,
                              double scale)
{
    const struct tr_graph *graph = lattice->graph;
    if (lattice->computed == TR_NOTHING || (!lattice->pruning && !make_counts(lattice))) {
        return false;
    }
    if (lattice->length == 0) {
        return true;
    }
    if (lattice->pruning) {
        return tr_pruned_collect(lattice, scale);
    }
    bool done = true;
    collect_labels(lattice, scale);
    if (lattice->computed == TR_REFERENCE || lattice->computed == TR_DECISIONS) {
        (lattice->computed == TR_REFERENCE ? tr_reference_collect
                                           : tr_decisions_collect)(lattice, steps, scale);
        return true;
    }
    collect_ends(lattice, steps, scale);
    if (!graph->first_order) {
        done = collect_fans(lattice, steps, scale);
    } else if (lattice->has_edges) {
        collect_pairs(lattice, scale);
    } else if (graph->free_steps) {
        done = collect_free(lattice, scale);
    } else {
        lattice->kernels->outer_sum(lattice->outer, lattice->to.at + graph->width, graph->width,
                                    lattice->alpha.at, lattice->length - 1, scale, graph->labels,
                                    graph->width);
    }
    return done;
}

/* ---- expected counts: handing over --------------------------------------------------------------- */

static void hand_over(double *count, const uint32_t *features, size_t number, float *expected)
{
    for (size_t i = 0; i < number; i++) {
        expected[features[i]] += (float)*count;
    }
    *count = 0;
}

/* Brings together what was collected of a listed step; where nothing was, its factor may be anything. */
static double *count_of_step(struct tr_lattice *lattice, const struct tr_steps *steps, uint32_t a)
{
    const struct tr_graph *graph = lattice->graph;
    uint32_t from = graph->from[a], label = graph->label[graph->to[a]];
    double *count = &lattice->step_count[a];
    if (from == TR_NO_STATE) {
        *count = lattice->start_count[label];
        return count;
    }
    size_t place = graph->free_steps ? a : (size_t)from * graph->width + label;
    float factor = (graph->free_steps ? steps->step_factor : steps->row_factor)[place];
    if (factor > 0 && lattice->outer[place] != 0) {
        *count += (double)factor * lattice->outer[place];
    }
    return count;
}

static void hand_over_listed(struct tr_lattice *lattice, const struct tr_steps *steps,
                             float *expected)
{
    const struct tr_graph *graph = lattice->graph;
    for (uint32_t a = 0; a < graph->step_count; a++) {
        uint32_t begin = graph->feature_begin[a], end = graph->feature_begin[a + 1],
                 to = graph->to[a];
        if (graph->free_steps && end > begin) { // label priors are left to hand_over_labels()
            end -= graph->free_begin[to + 1] - graph->free_begin[to];
        }
        hand_over(count_of_step(lattice, steps, a), graph->feature + begin, end - begin, expected);
    }
}

/* The same for a whole matrix, where it matters: with few labels a learner may want the counts of each
 * sequence at once. */
static void hand_over_matrix(struct tr_lattice *lattice, const struct tr_steps *steps,
                             float *expected)
{
    const struct tr_graph *graph = lattice->graph;
    const uint32_t *feature = graph->feature;
    for (uint32_t to = 0, a = 0; to < graph->labels; to++) {
        const float *factor = steps->factor_by_to + (size_t)to * graph->width;
        const double *outer = lattice->outer + (size_t)to * graph->width;
        for (uint32_t from = 0; from <= graph->labels; from++, a++) {
            double count = lattice->step_count[a];
            if (from == graph->labels) {
                count = lattice->start_count[to];
            } else if (factor[from] > 0) {
                count += (double)factor[from] * outer[from];
            }
            for (uint32_t left = graph->feature_begin[a + 1] - graph->feature_begin[a]; left;
                 left--) {
                expected[*feature++] += (float)count;
            }
        }
    }
    memset(lattice->step_count, 0, graph->step_count * sizeof *lattice->step_count);
}

/* With free steps: label priors, of listed and unlisted steps together. */
static void hand_over_labels(struct tr_lattice *lattice, float *expected)
{
    const struct tr_graph *graph = lattice->graph;
    for (uint32_t c = 0; c < graph->labels; c++) {
        lattice->free_count[c] += lattice->start_count[c];
        hand_over(&lattice->free_count[c], graph->free_feature + graph->free_begin[c],
                  graph->free_begin[c + 1] - graph->free_begin[c], expected);
    }
}

void tr_lattice_flush_transition_counts(struct tr_lattice *lattice, const struct tr_steps *steps,
                                        float *expected)
{
    const struct tr_graph *graph = lattice->graph;
    if (lattice->pruning) {
        tr_pruned_hand_over(lattice, expected);
        return;
    }
    if (!lattice->start_count) {
        return;
    }
    if (steps->factor_by_to) {
        hand_over_matrix(lattice, steps, expected);
    } else {
        hand_over_listed(lattice, steps, expected);
    }
    for (uint32_t z = 0; z < graph->states; z++) {
        hand_over(&lattice->end_count[z], graph->end_feature + graph->end_begin[z],
                  graph->end_begin[z + 1] - graph->end_begin[z], expected);
    }
    if (graph->free_steps) {
        hand_over_labels(lattice, expected);
    }
    memset(lattice->start_count, 0, graph->width * sizeof *lattice->start_count);
    memset(lattice->outer, 0, outer_size(graph) * sizeof *lattice->outer);
}

bool tr_lattice_expect_steps(struct tr_lattice *lattice, const struct tr_steps *steps, double scale,
                             float *expected)
{
    bool collected = tr_lattice_collect_steps(lattice, steps, scale);
    tr_lattice_flush_transition_counts(lattice, steps, expected);
    return collected;
}
