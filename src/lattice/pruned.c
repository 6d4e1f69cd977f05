/* pruned.c - coarse-to-fine pruning: search among the survivors of a lower order (Mueller, Schmid
 * and Schuetze 2013).
 *
 * A model of order K is used as K + 1 models (src/graph/histories.c): level 0 has node scores only,
 * level k adds transitions that look back k labels. With the threshold t,
 *
 *   level 0    P_i(c) = exp(node_i(c) + prior(c)) / sum            keeps the labels with P_i(c) >= t
 *   level k    forward and backward over the states of level k whose shorter history (that of level
 *              k - 1)
 *              was kept                                            keeps the states with P_i(z) >= t
 *
 * and the best of each position, whatever its probability; with t > 0 at most the MAX_KEPT best,
 * since an untrained model finds everything equally probable. The result is exact at level K over
 * the states kept at level K - 1, and with t = 0 over all states. Usually one or two states survive
 * at a position, so a position costs a few steps instead of L^(K+1).
 *
 * Forbidden transitions can leave no path through the survivors. The search is then repeated with a
 * tenth of the threshold, and finally with 0.
 */
#include "lattice/pruned.h"

#include <string.h>

#define LEAST_THRESHOLD 1e-8
#define MAX_KEPT 32

static bool make(struct tr_lattice *lattice)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_pruning *p = lattice->of.pruning = tr_alloc(1, sizeof *p);
    if (!p) {
        return false;
    }
    p->level = TR_NO_LEVEL;
    p->place = tr_alloc(graph->states, sizeof *p->place);
    p->open = tr_alloc(graph->states, sizeof *p->open);
    p->prior = tr_alloc(graph->labels, sizeof *p->prior);
    p->count = tr_alloc(graph->features, sizeof *p->count);
    p->is_collected = tr_alloc(graph->features, sizeof *p->is_collected);
    for (uint32_t c = 0; p->prior && c < graph->labels; c++) {
        struct tr_reading reading = tr_graph_read(graph, TR_NO_STATE, c, 0);
        p->prior[c] = reading.count ? reading.feature[0] : UINT32_MAX;
        p->has_priors = p->has_priors || reading.count;
    }
    return p->place && p->open && p->prior && p->count && p->is_collected;
}

static void free_lattice(struct tr_lattice *lattice)
{
    struct tr_pruning *p = lattice->of.pruning;
    if (!p) {
        return;
    }
    free(p->kept.at);
    free(p->kept_begin.at);
    free(p->cells.at);
    free(p->cell_begin.at);
    free(p->arcs.at);
    free(p->arc_begin.at);
    free(p->candidates.at);
    free(p->labels.at);
    free(p->place);
    free(p->open);
    free(p->prior);
    free(p->count);
    free(p->is_collected);
    free(p->collected.at);
    free(p);
}

static void begin(struct tr_lattice *lattice)
{
    lattice->of.pruning->level = TR_NO_LEVEL;
    lattice->of.pruning->reuse = lattice->of.pruning->is_searched = false;
}

static trellis_status begin_restricted(struct tr_lattice *lattice, const struct tr_steps *steps,
                                       trellis_error *error)
{
    double log_z;
    trellis_status status = lattice->of.pruning->is_searched
                                ? TRELLIS_OK
                                : tr_lattice_forward_backward(lattice, steps, &log_z, error);
    lattice->of.pruning->reuse = !status;
    lattice->of.pruning->level = TR_NO_LEVEL;
    return status;
}

static void end_restricted(struct tr_lattice *lattice)
{
    lattice->of.pruning->reuse = false;
    lattice->of.pruning->level = TR_NO_LEVEL;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void set_weights(struct tr_steps *steps)
{
    tr_steps_share(steps, steps->weight, 1);
}

void tr_steps_share(struct tr_steps *steps, const float *weights, double scale)
{
    steps->of.pruned = (struct tr_pruned_steps){weights, scale};
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* The labels of level 0 that may be kept at a position. */
static bool offer_labels(struct tr_lattice *lattice, size_t i, double threshold)
{
    struct tr_pruning *p = lattice->of.pruning;
    const struct tr_graph *graph = lattice->graph;
    const float *row = lattice->marginal.node.at + i * graph->width, *node = tr_node_at(lattice, i);
    size_t best = lattice->kernels->argmax(row, graph->width);
    bool ok = true;
    for (uint32_t c = 0; ok && c < graph->labels; c++) {
        if (c == best || ((double)row[c] >= threshold && node[c] > -INFINITY)) {
            ok = tr_push(&p->candidates, (struct tr_candidate){(double)row[c], c, c});
        }
    }
    return ok;
}

static bool offer_cells(struct tr_lattice *lattice, size_t i, double threshold)
{
    struct tr_pruning *p = lattice->of.pruning;
    size_t begin = p->cell_begin.at[i], end = p->cell_begin.at[i + 1], best = begin;
    bool ok = true;
    for (size_t k = begin; k < end; k++) {
        const struct tr_cell *cell = &p->cells.at[k], *first = &p->cells.at[best];
        best = cell->alpha + cell->beta > first->alpha + first->beta ? k : best;
    }
    for (size_t k = begin; ok && k < end; k++) {
        double probability = tr_cell_probability(lattice, k);
        if (k == best || probability >= threshold) {
            ok = tr_push(&p->candidates,
                         (struct tr_candidate){probability, (uint32_t)k, p->cells.at[k].state});
        }
    }
    return ok;
}

/* The most probable first; ties in the order of finding. */
static int by_probability(const void *a, const void *b)
{
    const struct tr_candidate *x = a, *y = b;
    int difference = (x->probability < y->probability) - (x->probability > y->probability);
    return difference ? difference : (x->place > y->place) - (x->place < y->place);
}

static bool keep_candidates(struct tr_pruning *p, double threshold)
{
    bool ok = true;
    if (threshold > 0 && p->candidates.size > MAX_KEPT) {
        qsort(p->candidates.at, p->candidates.size, sizeof *p->candidates.at, by_probability);
        p->candidates.size = MAX_KEPT;
    }
    for (size_t k = 0; ok && k < p->candidates.size; k++) {
        ok = tr_push(&p->kept, p->candidates.at[k].state);
    }
    return ok;
}

static bool keep(struct tr_lattice *lattice, double threshold)
{
    struct tr_pruning *p = lattice->of.pruning;
    bool ok = true;
    p->kept.size = 0;
    p->kept_begin.at[0] = 0;
    for (size_t i = 0; ok && i < lattice->length; i++) {
        p->candidates.size = 0;
        ok = p->level == 0 ? offer_labels(lattice, i, threshold)
                           : offer_cells(lattice, i, threshold);
        ok = ok && keep_candidates(p, threshold);
        p->kept_begin.at[i + 1] = p->kept.size;
    }
    return ok;
}

/* Whether the states of some labels at the level at hand were all kept. */
static bool has_path(const struct tr_lattice *lattice, const uint16_t *labels)
{
    const struct tr_pruning *p = lattice->of.pruning;
    uint32_t level = p->level > 1 ? p->level : 1, state = TR_NO_STATE;
    bool kept = true;
    for (size_t i = 0; kept && i < lattice->length; i++) {
        state = tr_graph_read(lattice->graph, state, labels[i], level).next;
        kept = false;
        for (size_t k = p->kept_begin.at[i]; !kept && k < p->kept_begin.at[i + 1]; k++) {
            kept = p->kept.at[k] == state;
        }
    }
    return kept;
}

/* ---- all levels ------------------------------------------------------------------------------ */

/* With gold labels, up to the last level that has them. `sums`: of the last level as well. */
static trellis_status search_levels(struct tr_lattice *lattice, const struct tr_steps *steps,
                                    const uint16_t *gold, bool sums, double threshold,
                                    trellis_error *error)
{
    uint32_t order = lattice->graph->order;
    trellis_status status = tr_pruned_label_posteriors(lattice, steps, error);
    for (uint32_t level = 1; !status && level <= order; level++) {
        if (!keep(lattice, threshold)) {
            return tr_fail_memory(error);
        }
        if (gold && !has_path(lattice, gold)) {
            break;
        }
        status = tr_pruned_make_level(lattice, steps, level, error);
        if (!status && (level < order || sums)) {
            status = tr_pruned_sum_level(lattice, error);
        }
    }
    return status;
}

static bool make_room(struct tr_lattice *lattice)
{
    struct tr_pruning *p = lattice->of.pruning;
    size_t n = lattice->length;
    return tr_floats_room(&lattice->marginal.node, n, lattice->graph->width) &&
           tr_reserve(&p->kept_begin, n + 1) && tr_reserve(&p->cell_begin, n + 1) &&
           tr_reserve(&p->arc_begin, n + 1);
}

static trellis_status search(struct tr_lattice *lattice, const struct tr_steps *steps,
                             const uint16_t *gold, bool sums, trellis_error *error)
{
    double threshold = lattice->graph->threshold;
    if (!make_room(lattice)) {
        return tr_fail_memory(error);
    }
    if (lattice->of.pruning->reuse) {
        trellis_status status = tr_pruned_make_level(lattice, steps, lattice->graph->order, error);
        return status ? status : tr_pruned_sum_level(lattice, error);
    }
    trellis_status status = search_levels(lattice, steps, gold, sums, threshold, error);
    while (status == TRELLIS_DATA && threshold > 0) {
        threshold = threshold > LEAST_THRESHOLD ? threshold / 10 : 0;
        status = search_levels(lattice, steps, gold, sums, threshold, error);
    }
    lattice->of.pruning->is_searched = !status && !gold;
    return status;
}

trellis_status tr_pruned_search(struct tr_lattice *lattice, const struct tr_steps *steps,
                                trellis_error *error)
{
    return search(lattice, steps, NULL, false, error);
}

static void node_marginals(struct tr_lattice *lattice)
{
    const struct tr_pruning *p = lattice->of.pruning;
    const struct tr_graph *graph = lattice->graph;
    memset(lattice->marginal.node.at, 0, lattice->length * graph->width * sizeof(float));
    for (size_t i = 0; i < lattice->length; i++) {
        float *row = lattice->marginal.node.at + i * graph->width;
        for (size_t k = p->cell_begin.at[i]; k < p->cell_begin.at[i + 1]; k++) {
            row[graph->label[p->cells.at[k].state]] += (float)tr_cell_probability(lattice, k);
        }
    }
}

trellis_status tr_pruned_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                          const uint16_t *gold, trellis_error *error)
{
    trellis_status status = search(lattice, steps, gold, true, error);
    if (!status && lattice->of.pruning->level > 0) {
        node_marginals(lattice);
    }
    lattice->computed = status ? TR_NOTHING : TR_PRUNED;
    return status;
}

/* Ties between ways to a state go to the one found first. */
static void best_arrivals(struct tr_pruning *p, size_t i)
{
    for (size_t k = p->cell_begin.at[i]; k < p->cell_begin.at[i + 1]; k++) {
        p->cells.at[k].alpha = -INFINITY;
    }
    for (size_t a = p->arc_begin.at[i]; a < p->arc_begin.at[i + 1]; a++) {
        const struct tr_arc *arc = &p->arcs.at[a];
        struct tr_cell *to = &p->cells.at[arc->to];
        double score = tr_alpha_before(p, arc) + arc->score;
        if (score > to->alpha) {
            to->alpha = score;
            to->back = arc->from;
        }
    }
}

static trellis_status viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                              uint16_t *labels, trellis_error *error)
{
    struct tr_pruning *p = lattice->of.pruning;
    size_t n = lattice->length;
    trellis_status status = tr_pruned_search(lattice, steps, error);
    if (status) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        best_arrivals(p, i);
    }
    size_t best = p->cell_begin.at[n - 1];
    for (size_t k = best; k < p->cell_begin.at[n]; k++) {
        best = p->cells.at[k].alpha > p->cells.at[best].alpha ? k : best;
    }
    for (size_t i = n; i-- > 0;) {
        labels[i] = lattice->graph->label[p->cells.at[best].state];
        best = p->cells.at[best].back;
    }
    return TRELLIS_OK;
}

/* ---- the score of a path --------------------------------------------------------------------- */

static bool has_cell(const struct tr_pruning *p, size_t i, uint32_t state)
{
    bool found = false;
    for (size_t k = p->cell_begin.at[i]; !found && k < p->cell_begin.at[i + 1]; k++) {
        found = p->cells.at[k].state == state;
    }
    return found;
}

double tr_pruned_path_score(const struct tr_lattice *lattice, const struct tr_steps *steps,
                            const uint16_t *labels)
{
    const struct tr_pruning *p = lattice->of.pruning;
    uint32_t level = p->level == TR_NO_LEVEL ? lattice->graph->order : p->level;
    uint32_t state = TR_NO_STATE;
    double score = 0;
    for (size_t i = 0; i < lattice->length && score > -INFINITY; i++) {
        score += tr_pruned_read_label(lattice, steps, i, state, labels[i], level, &state);
        if (p->level != TR_NO_LEVEL && level > 0 && !has_cell(p, i, state)) {
            score = -INFINITY;
        }
    }
    return score;
}

/* ---- the kind -------------------------------------------------------------------------------- */

static trellis_status forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                       trellis_error *error)
{
    return tr_pruned_forward_backward(lattice, steps, NULL, error);
}

static trellis_status beam(struct tr_lattice *lattice, const struct tr_steps *steps, size_t width,
                           uint16_t *labels, double *ret_score, trellis_error *error)
{
    (void)lattice, (void)steps, (void)width, (void)labels, (void)ret_score;
    return tr_fail(error, TRELLIS_OPTION, "a search is pruned or keeps to a beam, not both");
}

const struct tr_lattice_kind tr_pruned_kind = {
    .set_weights = set_weights,
    .make = make,
    .free = free_lattice,
    .begin = begin,
    .forward_backward = forward_backward,
    .begin_restricted = begin_restricted,
    .end_restricted = end_restricted,
    .viterbi = viterbi,
    .nbest = tr_pruned_nbest,
    .beam = beam,
    .sample = tr_pruned_sample,
    .entropy = tr_pruned_entropy,
    .path_score = tr_pruned_path_score,
    .edge_marginals = tr_pruned_edge_marginals,
    .collect = tr_pruned_collect,
    .flush = tr_pruned_flush,
};
