/* segment_reference.c - log Z and marginals of a segment lattice, in double precision and log space.
 *
 * With the cells and arcs of segment.h, A over the ways to a cell and B over those from it:
 *
 *   A(v) = log sum over arcs u -> v of exp(A(u) + score)        log Z = log sum_c exp(A(end(n, c)) + end(c))
 *   B(u) = log sum over arcs u -> v of exp(score + B(v))        P(arc) = exp(A(u) + score + B(v) - log Z)
 *
 * The probability of an arc is that of a segment, of a transition between two segments, or of a
 * token of a long one; tr_segment_count() makes marginals of labels of it.
 */
#include <string.h>

#include "lattice/segment.h"

static double log_sum(const double *x, size_t count)
{
    double max = -INFINITY, sum = 0;
    for (size_t k = 0; k < count; k++) {
        max = x[k] > max || isnan(x[k]) ? x[k] : max;
    }
    if (!isfinite(max)) {
        return max;
    }
    for (size_t k = 0; k < count; k++) {
        sum += tr_exp_below(x[k] - max);
    }
    return max + log(sum);
}

static inline double log_add(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a;
    return low == -INFINITY ? high : high + log1p(tr_exp_below(low - high));
}

/* A(end(n, c)) + end(c), of every label, in log_p. */
static void last_scores(const struct tr_lattice *lattice, const struct tr_steps *steps)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_segment_lattice *segment = lattice->of.segment;
    for (size_t c = 0; c < graph->labels; c++) {
        segment->log_p[c] = segment->alpha.at[tr_cell_end(graph, lattice->length - 1, c)] +
                            (double)steps->score.end[c];
    }
}

trellis_status tr_segment_forward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  trellis_error *error)
{
    struct tr_segment_lattice *segment = lattice->of.segment;
    size_t cells = tr_segment_cells(lattice->graph);
    if (!tr_doubles_room(&segment->alpha, lattice->length, cells)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < lattice->length; i++) {
        for (size_t k = 0; k < cells; k++) {
            size_t count = tr_segment_arcs(lattice, steps, i, k);
            for (size_t a = 0; a < count; a++) {
                size_t from = segment->arcs[a].from;
                segment->log_p[a] = segment->arcs[a].score +
                                    (from == TR_FROM_START ? 0 : segment->alpha.at[from]);
            }
            segment->alpha.at[i * cells + k] = log_sum(segment->log_p, count);
        }
    }
    last_scores(lattice, steps);
    lattice->log_z = log_sum(segment->log_p, lattice->graph->labels);
    return isfinite(lattice->log_z)
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_DATA,
                         "no sequence of labels is allowed, or a score is not a number");
}

/* Of label pairs at the tokens of a segment of d tokens up to i, of type x. */
static void add_edges(const struct tr_graph *graph, float *edges, size_t i, size_t d,
                      const struct tr_segment_type *x, bool goes_on, float p)
{
    size_t width = graph->width, size = graph->labels * width, s = i + 1 - d;
    for (size_t k = s + 1; k <= i; k++) {
        size_t from = k == s + 1 ? x->first : x->inside;
        size_t to = k == i && !goes_on ? x->last : x->inside;
        edges[k * size + from * width + to] += p;
    }
}

/* A token of a long segment: it continues it at i, or ends it. */
static void count_long(struct tr_lattice *lattice, size_t i, size_t t, bool goes_on, float p,
                       float *edges)
{
    const struct tr_graph *graph = lattice->graph;
    const struct tr_segment_type *x = &graph->segments->type[t];
    size_t width = graph->width, label = goes_on ? x->inside : x->last;
    lattice->marginal.node.at[i * width + label] += p;
    lattice->of.segment->pair[x->inside * width + label] += (double)p;
    if (edges) {
        edges[(i * graph->labels + x->inside) * width + label] += p;
    }
}

/* Adds the probability of an arc into cell k of position i to what it is about. */
static void count_arc(struct tr_lattice *lattice, size_t i, size_t k,
                      const struct tr_segment_arc *arc, float p, float *edges)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_segment_lattice *segment = lattice->of.segment;
    size_t labels = graph->labels, width = graph->width;
    bool goes_on = k >= 2 * labels;
    size_t c = k - labels, t = goes_on      ? k - 2 * labels
                               : k < labels ? 0
                                            : graph->segments->type_of[c];
    if (k < labels && arc->from != TR_FROM_START) {
        size_t a = arc->from % tr_segment_cells(graph) - labels;
        segment->pair[a * width + k] += (double)p;
        if (edges) {
            edges[(i * labels + a) * width + k] += p;
        }
    } else if (arc->length == 1) {
        lattice->marginal.node.at[i * width + c] += p;
        if (segment->has_scores && t != TR_NO_LABEL) {
            size_t row = i * graph->segments->max_length;
            segment->marginal.at[row * width + graph->segments->type[t].head] += p;
        }
    } else if (arc->length) {
        tr_segment_count(lattice, i, arc->length, t, goes_on, p);
        if (edges) {
            add_edges(graph, edges, i, arc->length, &graph->segments->type[t], goes_on, p);
        }
    } else if (k >= labels) {
        count_long(lattice, i, t, goes_on, p, edges);
    }
}

static void backward_cell(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                          size_t k, float *edges)
{
    struct tr_segment_lattice *segment = lattice->of.segment;
    double beta = segment->beta.at[i * tr_segment_cells(lattice->graph) + k];
    size_t count = beta > -INFINITY ? tr_segment_arcs(lattice, steps, i, k) : 0;
    for (size_t a = 0; a < count; a++) {
        const struct tr_segment_arc *arc = &segment->arcs[a];
        bool start = arc->from == TR_FROM_START;
        double onwards = arc->score + beta, before = start ? 0 : segment->alpha.at[arc->from];
        if (!start) {
            segment->beta.at[arc->from] = log_add(segment->beta.at[arc->from], onwards);
        }
        count_arc(lattice, i, k, arc, (float)tr_exp_below(before + onwards - lattice->log_z),
                  edges);
    }
}

trellis_status tr_segment_reference_sums(struct tr_lattice *lattice, const struct tr_steps *steps,
                                         float *edges, trellis_error *error)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_segment_lattice *segment = lattice->of.segment;
    size_t n = lattice->length, cells = tr_segment_cells(graph);
    trellis_status status = tr_segment_forward(lattice, steps, error);
    if (!status && !tr_doubles_room(&segment->beta, n, cells)) {
        status = tr_fail_memory(error);
    }
    if (status) {
        return status;
    }
    for (size_t v = 0; v < n * cells; v++) {
        segment->beta.at[v] = -INFINITY;
    }
    for (size_t c = 0; c < graph->labels; c++) {
        segment->end[c] = tr_exp_below(segment->log_p[c] - lattice->log_z);
        segment->beta.at[tr_cell_end(graph, n - 1, c)] = (double)steps->score.end[c];
    }
    for (size_t i = n; i-- > 0;) { // long(), end(), begin(): against the order of the arcs
        for (size_t k = cells; k-- > 0;) {
            backward_cell(lattice, steps, i, k, edges);
        }
    }
    tr_segment_add_inner(lattice);
    return TRELLIS_OK;
}
