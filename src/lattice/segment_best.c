/* segment_best.c - the best segmentation, the m best, samples and entropy, over the cells and arcs of
 * segment.h in double precision.
 *
 *   delta(v) = max over arcs u -> v of delta(u) + score
 *
 * For the m best, each cell keeps its m best ways, each an arc and the rank of a way to where it
 * comes from; ways are offered in the order of the arcs, and of equal ones the first is kept. A
 * sample is drawn from the end to the start, P(u | v) = exp(A(u) + score - A(v)); the entropy is
 * that of src/lattice/sample.c.
 */
#include <string.h>

#include "base/random.h"
#include "lattice/segment.h"

/* ---- the m best ------------------------------------------------------------------------------ */

/* A way to a cell. */
struct way {
    double score;
    uint32_t arc, rank;
};

struct best_search {
    struct tr_lattice *lattice;
    const struct tr_steps *steps;
    size_t m, cells;
    struct way *ways; // [n][cells][m] best first
    uint32_t *count;  // [n][cells]
};

/* Keeps the m best of the ways offered, in falling order, the first of equal ones first. */
static void offer(struct way *ways, uint32_t *count, size_t m, struct way way)
{
    size_t at = *count;
    if (at == m && way.score <= ways[m - 1].score) {
        return;
    }
    at = at == m ? m - 1 : (*count)++;
    for (; at > 0 && ways[at - 1].score < way.score; at--) {
        ways[at] = ways[at - 1];
    }
    ways[at] = way;
}

static void search_cell(struct best_search *x, size_t i, size_t k)
{
    const struct tr_segment_arc *arcs = x->lattice->of.segment->arcs;
    size_t v = i * x->cells + k, found = tr_segment_arcs(x->lattice, x->steps, i, k);
    for (uint32_t a = 0; a < found; a++) {
        size_t from = arcs[a].from;
        uint32_t ranks = from == TR_FROM_START ? 1 : x->count[from];
        for (uint32_t r = 0; r < ranks; r++) {
            double before = from == TR_FROM_START ? 0 : x->ways[from * x->m + r].score;
            double score = before + arcs[a].score;
            if (score > -INFINITY) {
                offer(x->ways + v * x->m, &x->count[v], x->m, (struct way){score, a, r});
            }
        }
    }
}

/* The labels of a way to a cell of the last position, back to the start. */
static void follow(const struct best_search *x, size_t k, size_t rank, uint16_t *labels)
{
    size_t i = x->lattice->length - 1;
    while (i != SIZE_MAX) {
        const struct way *way = &x->ways[(i * x->cells + k) * x->m + rank];
        tr_segment_arcs(x->lattice, x->steps, i, k);
        const struct tr_segment_arc *arc = &x->lattice->of.segment->arcs[way->arc];
        size_t before = tr_segment_write(x->lattice->graph, i, k, arc, labels);
        if (arc->from == TR_FROM_START) {
            return;
        }
        k = arc->from % x->cells;
        rank = way->rank;
        i = before;
    }
}

/* The m best ways to the end, in `last`; returns how many. */
static uint32_t search_all(struct best_search *x, struct way *last)
{
    const struct tr_graph *graph = x->lattice->graph;
    size_t n = x->lattice->length;
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < x->cells; k++) {
            search_cell(x, i, k);
        }
    }
    for (uint32_t c = 0; c < graph->labels; c++) {
        size_t v = tr_cell_end(graph, n - 1, c);
        for (uint32_t r = 0; r < x->count[v]; r++) {
            double score = x->ways[v * x->m + r].score + (double)x->steps->score.end[c];
            if (score > -INFINITY) {
                offer(last, &count, x->m, (struct way){score, c, r});
            }
        }
    }
    return count;
}

/* Scores as tr_lattice_path_score() has them may differ in their last bits, and so the order. */
static void put_in_order(const struct best_search *x, size_t count, uint16_t *labels,
                         double *scores)
{
    size_t n = x->lattice->length;
    for (size_t r = 0; r < count; r++) {
        scores[r] = tr_lattice_path_score(x->lattice, x->steps, labels + r * n);
        for (size_t at = r; at > 0 && scores[at - 1] < scores[at]; at--) {
            double score = scores[at];
            scores[at] = scores[at - 1];
            scores[at - 1] = score;
            for (size_t i = 0; i < n; i++) {
                uint16_t label = labels[at * n + i];
                labels[at * n + i] = labels[(at - 1) * n + i];
                labels[(at - 1) * n + i] = label;
            }
        }
    }
}

trellis_status tr_segment_nbest(struct tr_lattice *lattice, const struct tr_steps *steps, size_t m,
                                uint16_t *labels, double *scores, size_t *ret_count,
                                trellis_error *error)
{
    size_t n = lattice->length, cells = tr_segment_cells(lattice->graph), room;
    struct best_search x = {.lattice = lattice, .steps = steps, .m = m, .cells = cells};
    bool fits = !__builtin_mul_overflow(n * cells, m, &room);
    x.ways = fits ? tr_alloc(room, sizeof *x.ways) : NULL;
    x.count = tr_alloc(n * cells, sizeof *x.count);
    struct way *last = tr_alloc(m, sizeof *last);
    trellis_status status = x.ways && x.count && last ? TRELLIS_OK : tr_fail_memory(error);
    if (!status) {
        *ret_count = search_all(&x, last);
        for (size_t r = 0; r < *ret_count; r++) {
            follow(&x, lattice->graph->labels + last[r].arc, last[r].rank, labels + r * n);
        }
        put_in_order(&x, *ret_count, labels, scores);
        status = *ret_count
                     ? TRELLIS_OK
                     : tr_fail(error, TRELLIS_DATA, "no sequence of labels has a finite score");
    }
    free(x.ways);
    free(x.count);
    free(last);
    return status;
}

/* ---- the best -------------------------------------------------------------------------------- */

/* delta of all cells, in alpha. */
static void max_cells(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    struct tr_segment_lattice *segment = lattice->of.segment;
    size_t cells = tr_segment_cells(lattice->graph);
    for (size_t i = 0; i < lattice->length; i++) {
        for (size_t k = 0; k < cells; k++) {
            size_t count = tr_segment_arcs(lattice, steps, i, k);
            double best = -INFINITY;
            for (size_t a = 0; a < count; a++) {
                size_t from = segment->arcs[a].from;
                double score = segment->arcs[a].score +
                               (from == TR_FROM_START ? 0 : segment->alpha.at[from]);
                best = score > best ? score : best;
            }
            segment->alpha.at[i * cells + k] = best;
        }
    }
}

/* The first arc into a cell whose sum is delta of the cell, found again. */
static const struct tr_segment_arc *best_arc(struct tr_lattice *lattice,
                                             const struct tr_steps *steps, size_t i, size_t k)
{
    const struct tr_segment_lattice *segment = lattice->of.segment;
    double best = segment->alpha.at[i * tr_segment_cells(lattice->graph) + k];
    size_t count = tr_segment_arcs(lattice, steps, i, k);
    for (size_t a = 0; a < count; a++) {
        size_t from = segment->arcs[a].from;
        if (segment->arcs[a].score + (from == TR_FROM_START ? 0 : segment->alpha.at[from]) ==
            best) {
            return &segment->arcs[a];
        }
    }
    return NULL;
}

trellis_status tr_segment_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  uint16_t *labels, trellis_error *error)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_segment_lattice *segment = lattice->of.segment;
    size_t n = lattice->length, cells = tr_segment_cells(graph);
    if (!tr_doubles_room(&segment->alpha, n, cells)) {
        return tr_fail_memory(error);
    }
    max_cells(lattice, steps);
    const double *last = segment->alpha.at + tr_cell_end(graph, n - 1, 0);
    size_t best = 0;
    for (size_t c = 1; c < graph->labels; c++) {
        best = last[c] + (double)steps->score.end[c] > last[best] + (double)steps->score.end[best]
                   ? c
                   : best;
    }
    if (!isfinite(last[best] + (double)steps->score.end[best])) {
        return tr_fail(error, TRELLIS_DATA, "no sequence of labels has a finite score");
    }
    const struct tr_segment_arc *arc;
    for (size_t i = n - 1, k = graph->labels + best; (arc = best_arc(lattice, steps, i, k));) {
        i = tr_segment_write(graph, i, k, arc, labels);
        if (arc->from == TR_FROM_START) {
            return TRELLIS_OK;
        }
        k = arc->from % cells;
    }
    return tr_fail(error, TRELLIS_DATA, "a score is not a number");
}

/* ---- samples and entropy --------------------------------------------------------------------- */

/* log P(arc | the cell it leads to) of the arcs into a cell, in log_p; returns how many. */
static size_t arc_probabilities(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                                size_t k)
{
    struct tr_segment_lattice *segment = lattice->of.segment;
    double alpha = segment->alpha.at[i * tr_segment_cells(lattice->graph) + k];
    size_t count = alpha > -INFINITY ? tr_segment_arcs(lattice, steps, i, k) : 0;
    for (size_t a = 0; a < count; a++) {
        size_t from = segment->arcs[a].from;
        segment->log_p[a] = segment->arcs[a].score - alpha +
                            (from == TR_FROM_START ? 0 : segment->alpha.at[from]);
    }
    return count;
}

trellis_status tr_segment_sample(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 struct tr_random *random, size_t count, uint16_t *labels,
                                 trellis_error *error)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_segment_lattice *segment = lattice->of.segment;
    size_t n = lattice->length, cells = tr_segment_cells(graph);
    trellis_status status = tr_segment_forward(lattice, steps, error);
    for (size_t sample = 0; !status && sample < count; sample++, labels += n) {
        size_t i = n - 1;
        for (size_t c = 0; c < graph->labels; c++) {
            segment->log_p[c] = segment->alpha.at[tr_cell_end(graph, i, c)] +
                                (double)steps->score.end[c] - lattice->log_z;
        }
        size_t k = graph->labels + tr_draw(random, segment->log_p, graph->labels);
        for (size_t from = 0; from != TR_FROM_START; k = from % cells) {
            size_t arcs = arc_probabilities(lattice, steps, i, k);
            const struct tr_segment_arc *arc =
                &segment->arcs[tr_draw(random, segment->log_p, arcs)];
            i = tr_segment_write(graph, i, k, arc, labels);
            from = arc->from;
        }
    }
    return status;
}

trellis_status tr_segment_entropy(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  double *ret_entropy, trellis_error *error)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_segment_lattice *segment = lattice->of.segment;
    size_t n = lattice->length, cells = tr_segment_cells(graph);
    trellis_status status = tr_segment_forward(lattice, steps, error);
    if (!status && !tr_doubles_room(&segment->beta, n, cells)) {
        status = tr_fail_memory(error);
    }
    double *entropy = segment->beta.at; // of the ways to each cell
    for (size_t i = 0; !status && i < n; i++) {
        for (size_t k = 0; k < cells; k++) {
            size_t count = arc_probabilities(lattice, steps, i, k);
            double sum = 0;
            for (size_t a = 0; a < count; a++) {
                size_t from = segment->arcs[a].from;
                sum += tr_entropy_term(segment->log_p[a],
                                       from == TR_FROM_START ? 0 : entropy[from]);
            }
            entropy[i * cells + k] = sum;
        }
    }
    for (size_t c = 0; !status && c < graph->labels; c++) {
        size_t v = tr_cell_end(graph, n - 1, c);
        *ret_entropy += tr_entropy_term(
            segment->alpha.at[v] + (double)steps->score.end[c] - lattice->log_z, entropy[v]);
    }
    return status;
}
