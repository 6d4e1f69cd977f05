/* sparse.c - first-order lattices whose graph lists only the transitions that have a weight or are
 * forbidden; all others are free: they score their label's prior.
 *
 * Lists replace matrices. The factor of a listed transition is exp(score - unlisted[to]), beside 1
 * for one that is not, and unlisted[to] is counted among the node scores. For expected counts only
 * the listed elements of sum_i alpha_{i-1}(a) to_i(b) are needed: alpha and `to` are transposed,
 * positions along the rows, and each element is a product of two rows.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

/* ---- steps ----------------------------------------------------------------------------------- */

static bool make_lists(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    struct tr_sparse_steps *sparse = &steps->of.sparse;
    size_t labels = graph->labels, count = graph->step_count;
    sparse->words = (labels + 63) / 64;
    sparse->out_begin = tr_alloc(labels + 1, sizeof *sparse->out_begin);
    sparse->out_to = tr_alloc(count, sizeof *sparse->out_to);
    sparse->out_place = tr_alloc(count, sizeof *sparse->out_place);
    sparse->out_step = tr_alloc(count, sizeof *sparse->out_step);
    sparse->out_score = tr_alloc(count, sizeof *sparse->out_score);
    sparse->factor = tr_alloc_aligned(tr_padded(count), sizeof *sparse->factor);
    sparse->out_max = tr_alloc(labels, sizeof *sparse->out_max);
    sparse->out_gain = tr_steps_forbidden_row(graph->width);
    sparse->bits_row = tr_alloc(labels, sizeof *sparse->bits_row);
    return sparse->out_begin && sparse->out_to && sparse->out_place && sparse->out_step &&
           sparse->out_score && sparse->factor && sparse->out_max && sparse->out_gain &&
           sparse->bits_row && tr_tiles_make(&sparse->into, graph, false) &&
           tr_tiles_make(&sparse->out_of, graph, true) &&
           tr_group_lists_make(&sparse->group, graph);
}

/* The listed transitions by where they come from, and a bit for each. */
static bool fill_lists(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    struct tr_sparse_steps *sparse = &steps->of.sparse;
    uint32_t labels = graph->labels, rows = 0;
    for (uint32_t a = 0; a < graph->step_count; a++) {
        if (graph->from[a] != TR_NO_STATE) {
            sparse->out_begin[graph->from[a] + 1]++;
        }
    }
    for (uint32_t z = 0; z < labels; z++) {
        sparse->bits_row[z] = sparse->out_begin[z + 1] ? rows++ : TR_NO_STATE;
        sparse->out_begin[z + 1] += sparse->out_begin[z];
    }
    sparse->bits = tr_alloc(rows, sparse->words * sizeof *sparse->bits);
    if (!sparse->bits) {
        return false;
    }
    for (uint32_t a = 0; a < graph->step_count; a++) {
        uint32_t from = graph->from[a], to = graph->to[a];
        if (from != TR_NO_STATE) {
            sparse->out_place[a] = sparse->out_begin[from]++;
            sparse->out_to[sparse->out_place[a]] = to;
            sparse->out_step[sparse->out_place[a]] = a;
            sparse->bits[sparse->bits_row[from] * sparse->words + to / 64] |= UINT64_C(1)
                                                                              << to % 64;
        }
    }
    for (uint32_t z = labels; z > 0; z--) {
        sparse->out_begin[z] = sparse->out_begin[z - 1];
    }
    sparse->out_begin[0] = 0;
    return true;
}

static bool make_steps(struct tr_steps *steps)
{
    bool made = make_lists(steps) && fill_lists(steps) && tr_listed_make_steps(steps);
    steps->offset = steps->score.unlisted;
    return made;
}

static void free_steps(struct tr_steps *steps)
{
    struct tr_sparse_steps *sparse = &steps->of.sparse;
    free(sparse->factor);
    free(sparse->out_begin);
    free(sparse->out_to);
    free(sparse->out_place);
    free(sparse->out_step);
    free(sparse->out_score);
    free(sparse->out_max);
    free(sparse->out_gain);
    free(sparse->bits_row);
    free(sparse->bits);
    tr_tiles_free(&sparse->into);
    tr_tiles_free(&sparse->out_of);
    tr_group_lists_free(&sparse->group);
}

/* Copies the score and the factor of a listed transition to where it stands among those out of a
 * label. */
static void copy_out(struct tr_steps *steps, uint32_t step)
{
    struct tr_sparse_steps *sparse = &steps->of.sparse;
    float factor = sparse->factor[step];
    if (steps->graph->from[step] != TR_NO_STATE) {
        sparse->out_score[sparse->out_place[step]] = steps->score.step[step];
        sparse->into.factor[sparse->into.place[step]] = factor;
        sparse->out_of.factor[sparse->out_of.place[step]] = factor;
        tr_group_lists_set(&sparse->group, step, factor);
        steps->max_factor = fmaxf(steps->max_factor, factor);
    }
}

static void refresh_maxima(struct tr_steps *steps, uint32_t from)
{
    struct tr_sparse_steps *sparse = &steps->of.sparse;
    float largest = -INFINITY, gain = 0;
    for (uint32_t p = sparse->out_begin[from]; p < sparse->out_begin[from + 1]; p++) {
        float score = sparse->out_score[p];
        float above = score - steps->score.unlisted[sparse->out_to[p]];
        largest = score > largest ? score : largest;
        gain = above > gain ? above : gain;
    }
    sparse->out_max[from] = largest;
    sparse->out_gain[from] = gain;
}

static void refresh(struct tr_steps *steps)
{
    const struct tr_graph *graph = steps->graph;
    float *factor = steps->of.sparse.factor;
    for (uint32_t a = 0; a < graph->step_count; a++) {
        factor[a] = steps->score.step[a] - steps->score.unlisted[graph->to[a]];
    }
    steps->kernels->exp(factor, factor, tr_padded(graph->step_count));
    for (uint32_t a = 0; a < graph->step_count; a++) {
        copy_out(steps, a);
    }
    for (uint32_t z = 0; z < graph->labels; z++) {
        refresh_maxima(steps, z);
    }
}

/* Factors here are not relative to a shift, so any score will do. */
static bool change_step(struct tr_steps *steps, uint32_t step)
{
    const struct tr_graph *graph = steps->graph;
    steps->of.sparse.factor[step] = expf(steps->score.step[step] -
                                         steps->score.unlisted[graph->to[step]]);
    copy_out(steps, step);
    if (graph->from[step] != TR_NO_STATE) {
        refresh_maxima(steps, graph->from[step]);
    }
    return true;
}

/* The factors of the listed transitions into the label are relative to it. */
static bool change_unlisted(struct tr_steps *steps, uint32_t label)
{
    const struct tr_graph *graph = steps->graph;
    for (uint32_t a = graph->in_begin[label]; a < graph->in_begin[label + 1]; a++) {
        change_step(steps, a);
    }
    return true;
}

static const float *out_scores(const struct tr_steps *steps, uint32_t from, float *row)
{
    const struct tr_sparse_steps *sparse = &steps->of.sparse;
    memcpy(row, steps->score.unlisted, steps->graph->width * sizeof *row);
    for (uint32_t p = sparse->out_begin[from]; p < sparse->out_begin[from + 1]; p++) {
        row[sparse->out_to[p]] = sparse->out_score[p];
    }
    return row;
}

/* ---- lattices -------------------------------------------------------------------------------- */

static bool make(struct tr_lattice *lattice)
{
    struct tr_sparse_lattice *sparse = &lattice->of.sparse;
    size_t labels = lattice->graph->labels;
    sparse->identity = tr_alloc(labels, sizeof *sparse->identity);
    sparse->listed = tr_alloc(lattice->graph->width, sizeof *sparse->listed);
    sparse->open = tr_alloc((labels + 63) / 64, sizeof *sparse->open);
    for (uint32_t c = 0; sparse->identity && c < labels; c++) {
        sparse->identity[c] = c;
    }
    return sparse->identity && sparse->listed && sparse->open;
}

static void free_lattice(struct tr_lattice *lattice)
{
    free(lattice->of.sparse.identity);
    free(lattice->of.sparse.listed);
    free(lattice->of.sparse.open);
    free(lattice->of.sparse.transposed.at);
}

static struct tr_arrivals arrivals(struct tr_lattice *lattice, const struct tr_steps *steps,
                                   uint32_t to)
{
    const struct tr_graph *graph = lattice->graph;
    float *score = lattice->scratch.row, *residual = lattice->scratch.second_row;
    bool has_residuals = steps->residual.step;
    for (uint32_t from = 0; from < graph->labels; from++) {
        score[from] = steps->score.unlisted[to];
        residual[from] = has_residuals ? steps->residual.unlisted[to] : 0;
    }
    for (uint32_t a = graph->in_begin[to]; a < tr_steps_in_end(graph, to); a++) {
        score[graph->from[a]] = steps->score.step[a];
        residual[graph->from[a]] = has_residuals ? steps->residual.step[a] : 0;
    }
    return (struct tr_arrivals){lattice->of.sparse.identity, score, has_residuals ? residual : NULL,
                                graph->labels};
}

static void sum_forward(struct tr_lattice *lattice, const struct tr_steps *steps, const float *row,
                        float *out)
{
    tr_tiles_sum(lattice, &steps->of.sparse.into, row, out);
}

static void sum_backward(struct tr_lattice *lattice, const struct tr_steps *steps, const float *row,
                         float *out)
{
    tr_tiles_sum(lattice, &steps->of.sparse.out_of, row, out);
}

/* ---- maxima ---------------------------------------------------------------------------------- */

static bool viterbi_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                        const float *delta, float *out)
{
    if (lattice->scores.has_edges) {
        return tr_first_order_edge_viterbi_row(lattice, steps, position, delta, out);
    }
    tr_sparse_viterbi_row(lattice, steps, position, delta, out);
    lattice->kernels->add(out, tr_node_at(lattice, position), lattice->graph->width);
    return true;
}

static uint32_t came_from(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                          const float *delta, uint32_t z)
{
    const struct tr_graph *graph = lattice->graph;
    float *column = lattice->scratch.row;
    for (uint32_t from = 0; from < graph->labels; from++) {
        column[from] = steps->score.unlisted[z];
    }
    for (uint32_t a = graph->in_begin[z]; a < tr_steps_in_end(graph, z); a++) {
        column[graph->from[a]] = steps->score.step[a];
    }
    tr_first_order_add_edges(lattice, position, z, column);
    return (uint32_t)lattice->kernels->argmax_plus(delta, column, graph->width);
}

/* Open labels that `from` reaches by an unlisted transition get their score from it. Returns
 * whether any are still open. */
static bool resolve_from(struct tr_lattice *lattice, const struct tr_steps *steps, uint32_t from,
                         double before, double *out)
{
    const struct tr_sparse_steps *sparse = &steps->of.sparse;
    uint64_t *open = lattice->of.sparse.open, left = 0;
    uint32_t row = sparse->bits_row[from];
    for (size_t w = 0; w < sparse->words; w++) {
        uint64_t listed = row == TR_NO_STATE ? 0 : sparse->bits[row * sparse->words + w];
        for (uint64_t now = open[w] & ~listed; now; now &= now - 1) {
            size_t c = w * 64 + (size_t)__builtin_ctzll(now);
            out[c] = before + (double)steps->score.unlisted[c];
        }
        open[w] &= listed;
        left |= open[w];
    }
    return left;
}

/* out[c] = unlisted[c] + the largest before[z] of the z whose transition to c is not listed: the z
 * are taken from the best down until every c has one. left [L] is scratch. */
static void max_over_unlisted(struct tr_lattice *lattice, const struct tr_steps *steps,
                              double *left, const double *before, double *out)
{
    uint32_t labels = lattice->graph->labels;
    for (size_t w = 0; w < steps->of.sparse.words; w++) {
        size_t bits = labels - w * 64;
        lattice->of.sparse.open[w] = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    }
    memcpy(left, before, labels * sizeof *before);
    for (;;) {
        uint32_t from = tr_best_of(left, labels);
        double score = left[from];
        if (!(score > -INFINITY) || !resolve_from(lattice, steps, from, score, out)) {
            return;
        }
        left[from] = -INFINITY;
    }
}

/* A listed transition matters where it beats the best unlisted one; labels whose best listed
 * transition cannot beat the worst of those are skipped. */
static void max_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t position,
                    struct tr_max_rows *rows, const double *before, double *out)
{
    const struct tr_sparse_steps *sparse = &steps->of.sparse;
    uint32_t labels = lattice->graph->labels;
    if (lattice->scores.has_edges) {
        tr_first_order_edge_max_row(lattice, steps, position, rows, before, out);
        return;
    }
    max_over_unlisted(lattice, steps, rows->left, before, out);
    double lowest = tr_lowest_of(out, labels);
    for (uint32_t from = 0; from < labels; from++) {
        if (!(before[from] + (double)sparse->out_max[from] > lowest)) {
            continue;
        }
        for (uint32_t p = sparse->out_begin[from]; p < sparse->out_begin[from + 1]; p++) {
            double score = before[from] + (double)sparse->out_score[p];
            double *best = &out[sparse->out_to[p]];
            *best = score > *best ? score : *best;
        }
    }
    tr_first_order_add_states(lattice, position, out);
}

/* ---- expectations ---------------------------------------------------------------------------- */

static bool edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps,
                           float *marginals)
{
    const struct tr_graph *graph = lattice->graph;
    size_t size = (size_t)graph->labels * graph->width;
    float *matrix = lattice->scores.has_edges ? NULL : tr_lattice_matrix(lattice);
    if (!lattice->scores.has_edges && !matrix) {
        return false;
    }
    for (size_t j = 0; matrix && j < size; j++) {
        matrix[j] = 1;
    }
    for (uint32_t a = 0; matrix && a < graph->step_count; a++) {
        if (graph->from[a] != TR_NO_STATE) {
            matrix[(size_t)graph->from[a] * graph->width + graph->to[a]] =
                steps->of.sparse.factor[a];
        }
    }
    tr_first_order_edge_marginals(lattice, matrix, marginals);
    return true;
}

/* outer [step_count] is of listed transitions. */
static bool make_counts(struct tr_lattice *lattice)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_expected_counts *counts = &lattice->counts;
    bool has_priors = graph->free_begin[graph->labels] > 0;
    counts->outer = tr_alloc_aligned(graph->step_count, sizeof *counts->outer);
    counts->unlisted = has_priors ? tr_alloc(graph->width, sizeof *counts->unlisted) : NULL;
    return counts->outer && (counts->unlisted || !has_priors);
}

/* out[c][i] = rows[i][c], with zeros after the last position; out [L][padded] */
static void transpose(float *out, const float *rows, size_t positions, size_t padded,
                      const struct tr_graph *graph)
{
    for (size_t c = 0; c < graph->labels; c++) {
        for (size_t i = 0; i < padded; i++) {
            out[c * padded + i] = i < positions ? rows[i * graph->width + c] : 0;
        }
    }
}

/* outer[a] += scale * sum_i alpha_{i-1}(from) to_i(to) for listed transitions */
static bool collect_listed(struct tr_lattice *lattice, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_floats *transposed = &lattice->of.sparse.transposed;
    if (!tr_floats_room(transposed, 2 * (size_t)graph->labels, TR_POSITIONS_AT_ONCE)) {
        return false;
    }
    for (size_t begin = 1; begin < lattice->length; begin += TR_POSITIONS_AT_ONCE) {
        size_t left = lattice->length - begin;
        size_t count = left < TR_POSITIONS_AT_ONCE ? left : TR_POSITIONS_AT_ONCE;
        size_t padded = tr_padded(count);
        float *alpha = transposed->at, *to = alpha + graph->labels * padded;
        transpose(alpha, lattice->fast.alpha.at + (begin - 1) * graph->width, count, padded, graph);
        transpose(to, lattice->fast.to.at + begin * graph->width, count, padded, graph);
        for (uint32_t c = 0; c < graph->labels; c++) {
            uint32_t first = graph->in_begin[c], end = tr_steps_in_end(graph, c);
            lattice->kernels->listed_products(lattice->counts.outer + first, alpha,
                                              graph->from + first, end - first, to + c * padded,
                                              scale, padded);
        }
    }
    return true;
}

static bool collect(struct tr_lattice *lattice, const struct tr_steps *steps, double scale)
{
    (void)steps;
    tr_collect_ends(lattice, NULL, scale);
    if (lattice->scores.has_edges) {
        tr_first_order_collect_edges(lattice, scale);
        return true;
    }
    return collect_listed(lattice, scale);
}

/* Transitions that are not listed fire label priors only, which collect_labels() counts. */
static void collect_local(struct tr_lattice *lattice, const struct tr_steps *steps, uint32_t from,
                          const float *p, double scale)
{
    const struct tr_sparse_steps *sparse = &steps->of.sparse;
    for (uint32_t k = sparse->out_begin[from]; k < sparse->out_begin[from + 1]; k++) {
        lattice->counts.step[sparse->out_step[k]] += scale * (double)p[sparse->out_to[k]];
    }
}

/* Label priors, of listed and unlisted transitions together. */
static void flush_priors(struct tr_lattice *lattice, float *expected)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_expected_counts *counts = &lattice->counts;
    for (uint32_t c = 0; counts->unlisted && c < graph->labels; c++) {
        counts->unlisted[c] += counts->start[c];
        tr_flush_count(&counts->unlisted[c], graph->free_feature + graph->free_begin[c],
                       graph->free_begin[c + 1] - graph->free_begin[c], expected);
    }
}

/* The factor of a listed transition without a count may be anything, even infinite. */
static void flush(struct tr_lattice *lattice, const struct tr_steps *steps, float *expected)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_expected_counts *counts = &lattice->counts;
    for (uint32_t a = 0; a < graph->step_count; a++) {
        uint32_t begin = graph->feature_begin[a], end = graph->feature_begin[a + 1],
                 to = graph->to[a];
        float factor = steps->of.sparse.factor[a];
        if (graph->from[a] == TR_NO_STATE) {
            counts->step[a] = counts->start[to];
        } else if (factor > 0 && counts->outer[a] != 0) {
            counts->step[a] += (double)factor * counts->outer[a];
        }
        if (end > begin) { // label priors are left to flush_priors()
            end -= graph->free_begin[to + 1] - graph->free_begin[to];
        }
        tr_flush_count(&counts->step[a], graph->feature + begin, end - begin, expected);
    }
    flush_priors(lattice, expected);
    memset(counts->outer, 0, graph->step_count * sizeof *counts->outer);
    tr_listed_flush_ends(lattice, expected);
}

const struct tr_lattice_kind tr_sparse_kind = {
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
    .change_unlisted = change_unlisted,
    .refresh = refresh,
    .out_scores = out_scores,
    .out_states = tr_first_order_out_states,
    .arrivals = arrivals,
    .fast_forward_backward = tr_first_order_forward_backward,
    .sum_forward = sum_forward,
    .sum_backward = sum_backward,
    .normaliser_sums = tr_first_order_normaliser_sums,
    .viterbi_row = viterbi_row,
    .came_from = came_from,
    .max_row = max_row,
    .make_counts = make_counts,
    .collect_local = collect_local,
};
