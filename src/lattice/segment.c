/* segment.c - lattices of semi-Markov models: scores of whole segments beside those of tokens and
 * transitions (see segment.h). */
#include "lattice/segment.h"

#include <string.h>

/* ---- the workspace --------------------------------------------------------------------------- */

/* Which lengths of which types are seen. */
static bool make_masks(const struct tr_graph *graph, struct tr_segment_lattice *segment)
{
    const struct tr_segments *segments = graph->segments;
    size_t lanes = segment->lanes, rows = (size_t)segments->max_length + 1;
    segment->seen = tr_alloc_aligned(rows * lanes, sizeof *segment->seen);
    segment->longer = tr_alloc_aligned(rows * lanes, sizeof *segment->longer);
    segment->counted = tr_alloc_aligned(rows * lanes, sizeof *segment->counted);
    segment->begins = tr_alloc_aligned(graph->width, sizeof *segment->begins);
    segment->alone = tr_alloc_aligned(graph->width, sizeof *segment->alone);
    if (!segment->seen || !segment->longer || !segment->counted || !segment->begins ||
        !segment->alone) {
        return false;
    }
    for (size_t d = 1; d <= rows; d++) {
        for (size_t t = 0; t < segments->types; t++) {
            size_t longest = segments->type[t].max_length, at = (d - 1) * lanes + t;
            segment->seen[at] = d <= longest;
            segment->longer[at] = d == longest + 1;
            segment->counted[at] = d <= longest + 1;
        }
    }
    for (size_t c = 0; c < graph->labels; c++) {
        segment->begins[c] = segments->begins[c];
        segment->alone[c] = segments->type_of[c] == TR_NO_LABEL;
    }
    return true;
}

/* What is there once for each type. */
static bool make_types(struct tr_segment_lattice *segment)
{
    float **const floats[] = {&segment->in_progress, &segment->direct, &segment->enter,
                              &segment->stay, &segment->leave};
    bool ok = true;
    for (size_t k = 0; ok && k < TR_COUNT(floats); k++) {
        *floats[k] = tr_alloc_aligned(segment->lanes, sizeof(float));
        ok = *floats[k];
    }
    for (size_t k = 0; ok && k < TR_WITHIN_SEGMENTS; k++) {
        segment->within[k] = tr_alloc_aligned(segment->lanes, sizeof(double));
        ok = segment->within[k];
    }
    return ok;
}

static bool make(struct tr_lattice *lattice)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_segment_lattice *segment = lattice->of.segment = tr_alloc(1, sizeof *segment);
    if (!segment) {
        return false;
    }
    size_t max_arcs = graph->labels + (size_t)graph->segments->max_length + 3;
    segment->lanes = (graph->segments->types + 3) / 4 * 4;
    segment->pair = tr_alloc((size_t)graph->labels * graph->width, sizeof *segment->pair);
    segment->end = tr_alloc(graph->labels, sizeof *segment->end);
    segment->arcs = tr_alloc(max_arcs, sizeof *segment->arcs);
    segment->log_p = tr_alloc(max_arcs, sizeof *segment->log_p);
    return segment->pair && segment->end && segment->arcs && segment->log_p &&
           make_types(segment) && make_masks(graph, segment);
}

static void destroy(struct tr_lattice *lattice)
{
    struct tr_segment_lattice *segment = lattice->of.segment;
    if (segment) {
        free(segment->score.at);
        free(segment->marginal.at);
        free(segment->part.at);
        free(segment->pair);
        free(segment->end);
        free(segment->inner.at);
        free(segment->alpha.at);
        free(segment->beta.at);
        free(segment->arcs);
        free(segment->log_p);
        free(segment->factor.at);
        free(segment->begin.at);
        free(segment->onwards.at);
        free(segment->back.at);
        free(segment->opened.at);
        free(segment->passed.at);
        free(segment->to_first.at);
        free(segment->whole.at);
        free(segment->in_progress);
        free(segment->direct);
        free(segment->enter);
        free(segment->stay);
        free(segment->leave);
        for (int k = 0; k < TR_WITHIN_SEGMENTS; k++) {
            free(segment->within[k]);
        }
        free(segment->seen);
        free(segment->longer);
        free(segment->counted);
        free(segment->begins);
        free(segment->alone);
        free(segment);
    }
}

static void begin(struct tr_lattice *lattice)
{
    lattice->of.segment->has_scores = false;
}

static size_t row_size(const struct tr_lattice *lattice)
{
    return (size_t)lattice->graph->segments->max_length * lattice->graph->width;
}

bool tr_lattice_make_segments(struct tr_lattice *lattice)
{
    struct tr_segment_lattice *segment = lattice->of.segment;
    size_t size = row_size(lattice);
    if (!tr_floats_room(&segment->score, lattice->length, size) ||
        !tr_floats_room(&segment->marginal, lattice->length, size) ||
        !tr_floats_room(&segment->part, 2 * lattice->length, lattice->graph->width)) {
        return false;
    }
    memset(segment->score.at, 0, lattice->length * size * sizeof(float));
    segment->has_scores = true;
    return true;
}

float *tr_lattice_segments(struct tr_lattice *lattice)
{
    return lattice->graph->segments && lattice->of.segment->has_scores
               ? lattice->of.segment->score.at
               : NULL;
}

float *tr_lattice_segment_parts(struct tr_lattice *lattice)
{
    return lattice->of.segment->part.at;
}

float *tr_lattice_segment_marginals(struct tr_lattice *lattice)
{
    return tr_lattice_segments(lattice) ? lattice->of.segment->marginal.at : NULL;
}

/* ---- arcs ------------------------------------------------------------------------------------ */

/* Of the transition from label a at i - 1 to label b at i. */
static inline double step_score(const struct tr_lattice *lattice, const struct tr_steps *steps,
                                size_t i, size_t a, size_t b)
{
    size_t width = lattice->graph->width;
    double score = (double)steps->of.dense.score[a * width + b];
    return lattice->scores.has_edges ? score + (double)tr_edges_at(lattice, i)[a * width + b]
                                     : score;
}

static inline double node_score(const struct tr_lattice *lattice, size_t i, size_t c)
{
    return (double)tr_node_at(lattice, i)[c];
}

static size_t arcs_to_begin(const struct tr_lattice *lattice, const struct tr_steps *steps,
                            size_t i, size_t c, struct tr_segment_arc *arcs)
{
    const struct tr_graph *graph = lattice->graph;
    size_t count = 0;
    if (!graph->segments->begins[c]) {
        return 0;
    }
    if (i == 0) {
        arcs[count++] = (struct tr_segment_arc){TR_FROM_START, (double)steps->score.start[c], 0};
    }
    for (size_t a = 0; i > 0 && a < graph->labels; a++) {
        double score = step_score(lattice, steps, i, a, c);
        if (score > -INFINITY) {
            arcs[count++] = (struct tr_segment_arc){tr_cell_end(graph, i - 1, a), score, 0};
        }
    }
    return count;
}

/* Segments of several tokens that end at i; `tail` is the score from the token after the first
 * on. */
static size_t arcs_of_type(const struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                           const struct tr_segment_type *x, struct tr_segment_arc *arcs)
{
    const struct tr_graph *graph = lattice->graph;
    size_t count = 0, longest = (size_t)x->max_length + 1;
    longest = x->inside == TR_NO_LABEL ? 2 : longest < i + 1 ? longest : i + 1;
    double tail = node_score(lattice, i, x->last);
    for (size_t d = 2; d <= longest && i > 0; d++) {
        size_t s = i + 1 - d;
        if (d > 2) { // one more token inside, at s + 1
            tail += step_score(lattice, steps, s + 2, x->inside, d == 3 ? x->last : x->inside) +
                    node_score(lattice, s + 1, x->inside);
        }
        double score = node_score(lattice, s, x->first) +
                       step_score(lattice, steps, s + 1, x->first, d == 2 ? x->last : x->inside) +
                       tail + tr_segment_score(lattice, i, d, x);
        arcs[count++] = (struct tr_segment_arc){tr_cell_begin(graph, s, x->first), score,
                                                (uint32_t)d};
    }
    return count;
}

static size_t arcs_to_end(const struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                          size_t c, struct tr_segment_arc *arcs)
{
    const struct tr_graph *graph = lattice->graph;
    const struct tr_segments *segments = graph->segments;
    uint16_t t = segments->type_of[c];
    const struct tr_segment_type *x = t == TR_NO_LABEL ? NULL : &segments->type[t];
    size_t count = 0;
    if (!x || c == x->single) {
        double score = node_score(lattice, i, c) + (x ? tr_segment_score(lattice, i, 1, x) : 0);
        arcs[count++] = (struct tr_segment_arc){tr_cell_begin(graph, i, c), score, 1};
    }
    if (x && c == x->last && x->first != TR_NO_LABEL) {
        count += arcs_of_type(lattice, steps, i, x, arcs + count);
        if (x->inside != TR_NO_LABEL && i > x->max_length) {
            double score = step_score(lattice, steps, i, x->inside, c) + node_score(lattice, i, c);
            arcs[count++] = (struct tr_segment_arc){tr_cell_long(graph, i - 1, t), score, 0};
        }
    }
    return count;
}

static size_t arcs_to_long(const struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                           size_t t, struct tr_segment_arc *arcs)
{
    const struct tr_graph *graph = lattice->graph;
    const struct tr_segment_type *x = &graph->segments->type[t];
    size_t d = (size_t)x->max_length + 1, count = 0;
    if (x->first == TR_NO_LABEL || x->inside == TR_NO_LABEL || i + 1 < d) {
        return 0;
    }
    size_t s = i + 1 - d;
    double score = node_score(lattice, s, x->first);
    for (size_t k = s + 1; k <= i; k++) {
        score += step_score(lattice, steps, k, k == s + 1 ? x->first : x->inside, x->inside) +
                 node_score(lattice, k, x->inside);
    }
    arcs[count++] = (struct tr_segment_arc){tr_cell_begin(graph, s, x->first), score, (uint32_t)d};
    if (i >= d) {
        score = step_score(lattice, steps, i, x->inside, x->inside) +
                node_score(lattice, i, x->inside);
        arcs[count++] = (struct tr_segment_arc){tr_cell_long(graph, i - 1, t), score, 0};
    }
    return count;
}

size_t tr_segment_arcs(const struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                       size_t k)
{
    struct tr_segment_arc *arcs = lattice->of.segment->arcs;
    size_t labels = lattice->graph->labels;
    return k < labels       ? arcs_to_begin(lattice, steps, i, k, arcs)
           : k < 2 * labels ? arcs_to_end(lattice, steps, i, k - labels, arcs)
                            : arcs_to_long(lattice, steps, i, k - 2 * labels, arcs);
}

size_t tr_segment_write(const struct tr_graph *graph, size_t i, size_t k,
                        const struct tr_segment_arc *arc, uint16_t *labels)
{
    bool goes_on = k >= 2 * (size_t)graph->labels;
    if (k < graph->labels) {
        return i - 1; // to end(i - 1)
    }
    uint16_t c = (uint16_t)(k - graph->labels);
    uint16_t t = goes_on ? (uint16_t)(k - 2 * (size_t)graph->labels) : graph->segments->type_of[c];
    const struct tr_segment_type *x = t == TR_NO_LABEL ? NULL : &graph->segments->type[t];
    labels[i] = goes_on ? x->inside : c;
    if (arc->length == 0) {
        return i - 1; // to long(i - 1)
    }
    for (size_t d = 2; d <= arc->length; d++) {
        labels[i + 1 - d] = d == arc->length ? x->first : x->inside;
    }
    return i + 1 - arc->length;
}

/* ---- results --------------------------------------------------------------------------------- */

bool tr_segment_clear_results(struct tr_lattice *lattice)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_segment_lattice *segment = lattice->of.segment;
    size_t n = lattice->length;
    if (!tr_floats_room(&lattice->marginal.node, n, graph->width) ||
        !tr_doubles_room(&segment->inner, n + 1, segment->lanes)) {
        return false;
    }
    memset(lattice->marginal.node.at, 0, n * graph->width * sizeof(float));
    memset(segment->inner.at, 0, (n + 1) * segment->lanes * sizeof(double));
    memset(segment->pair, 0, (size_t)graph->labels * graph->width * sizeof(double));
    memset(segment->end, 0, graph->labels * sizeof(double));
    if (segment->has_scores) {
        memset(segment->marginal.at, 0, n * row_size(lattice) * sizeof(float));
    }
    return true;
}

void tr_segment_count(struct tr_lattice *lattice, size_t i, size_t d, size_t t, bool goes_on,
                      float p)
{
    const struct tr_graph *graph = lattice->graph;
    const struct tr_segment_type *x = &graph->segments->type[t];
    struct tr_segment_lattice *segment = lattice->of.segment;
    size_t width = graph->width, s = i + 1 - d;
    size_t inside = goes_on ? d - 1 : d - 2; // tokens labelled so, from s + 1 on
    double q = (double)p;
    lattice->marginal.node.at[s * width + x->first] += p;
    if (!goes_on) {
        lattice->marginal.node.at[i * width + x->last] += p;
        segment->pair[(inside ? x->inside : x->first) * width + x->last] += q;
    }
    if (inside) {
        segment->inner.at[(s + 1) * segment->lanes + t] += q;
        segment->inner.at[(s + 1 + inside) * segment->lanes + t] -= q;
        segment->pair[x->first * width + x->inside] += q;
        segment->pair[x->inside * width + x->inside] += q * (double)(inside - 1);
    }
    if (segment->has_scores && !goes_on && d <= x->max_length) {
        segment->marginal.at[(i * graph->segments->max_length + d - 1) * width + x->head] += p;
    }
}

void tr_segment_add_inner(struct tr_lattice *lattice)
{
    const struct tr_graph *graph = lattice->graph;
    double *inner = lattice->of.segment->inner.at;
    size_t lanes = lattice->of.segment->lanes;
    for (size_t i = 0; i < lattice->length; i++, inner += lanes) {
        for (size_t t = 0; t < graph->segments->types; t++) {
            uint16_t inside = graph->segments->type[t].inside;
            if (inside != TR_NO_LABEL) {
                lattice->marginal.node.at[i * graph->width + inside] += (float)fmax(inner[t], 0);
            }
            inner[lanes + t] += inner[t];
        }
    }
}

/* ---- the questions of lattice.h -------------------------------------------------------------- */

/* Edge scores are rare with segments: the kernel in double precision serves them. */
static trellis_status forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                       trellis_error *error)
{
    bool fast = !lattice->use_reference && !lattice->scores.has_edges;
    if (!tr_segment_clear_results(lattice) || (fast && !tr_segment_make_room(lattice))) {
        return tr_fail_memory(error);
    }
    trellis_status status = TRELLIS_OK;
    lattice->of.segment->is_fast = fast && tr_segment_fast_sums(lattice, steps);
    if (!lattice->of.segment->is_fast) {
        status = tr_segment_clear_results(lattice)
                     ? tr_segment_reference_sums(lattice, steps, NULL, error)
                     : tr_fail_memory(error);
    }
    lattice->computed = status ? TR_NOTHING : TR_FAST;
    return status;
}

static double path_score(const struct tr_lattice *lattice, const struct tr_steps *steps,
                         const uint16_t *labels)
{
    const struct tr_segments *segments = lattice->graph->segments;
    double score = tr_listed_path_score(lattice, steps, labels);
    for (size_t begin = 0; begin < lattice->length;) {
        struct tr_segment found = tr_segment_at(segments, labels, lattice->length, begin);
        size_t d = found.end - found.begin;
        if (found.type != TR_NO_LABEL) {
            score += tr_segment_score(lattice, found.end - 1, d, &segments->type[found.type]);
        }
        begin = found.end;
    }
    return score;
}

static trellis_status beam(struct tr_lattice *lattice, const struct tr_steps *steps, size_t width,
                           uint16_t *labels, double *ret_score, trellis_error *error)
{
    (void)lattice, (void)steps, (void)width, (void)labels, (void)ret_score;
    return tr_fail(error, TRELLIS_OPTION, "beam search does not work with segments");
}

static bool edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps,
                           float *marginals)
{
    trellis_error ignored;
    lattice->of.segment->is_fast = false;
    return tr_segment_clear_results(lattice) &&
           !tr_segment_reference_sums(lattice, steps, marginals, &ignored);
}

/* The fast kernel leaves transitions between segments to be summed here, with the factors of steps
 * multiplied in when they are flushed. */
static bool collect(struct tr_lattice *lattice, const struct tr_steps *steps, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    const struct tr_segment_lattice *segment = lattice->of.segment;
    (void)steps;
    if (segment->is_fast) {
        lattice->kernels->outer_sum(lattice->counts.outer, lattice->fast.to.at + graph->width,
                                    graph->width, lattice->fast.alpha.at, lattice->length - 1,
                                    scale, graph->labels, graph->width);
    }
    for (size_t to = 0; to < graph->labels; to++) {
        double *count = lattice->counts.step + graph->in_begin[to];
        for (size_t from = 0; from < graph->labels; from++) {
            count[from] += scale * segment->pair[from * graph->width + to];
        }
        lattice->counts.end[to] += scale * segment->end[to];
    }
    return true;
}

const struct tr_lattice_kind tr_segment_kind = {
    .make_steps = tr_dense_make_steps,
    .free_steps = tr_dense_free_steps,
    .set_weights = tr_listed_set_weights,
    .make = make,
    .free = destroy,
    .begin = begin,
    .forward_backward = forward_backward,
    .viterbi = tr_segment_viterbi,
    .nbest = tr_segment_nbest,
    .beam = beam,
    .sample = tr_segment_sample,
    .entropy = tr_segment_entropy,
    .path_score = path_score,
    .edge_marginals = edge_marginals,
    .collect = collect,
    .flush = tr_dense_flush,
    .change_step = tr_dense_change_step,
    .refresh = tr_dense_refresh,
    .make_counts = tr_dense_make_counts,
};
