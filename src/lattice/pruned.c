/* pruned.c - search among what a coarser model has left over (Mueller, Schmid and Schuetze 2013).
 *
 * A model of order K is seen as K + 1 models (src/graph/histories.c): level 0 knows what is seen at each
 * position and nothing of steps, level k steps that look back k labels. With the threshold t,
 *
 *   level 0    P_i(c) = exp(node_i(c) + prior(c)) / sum            keeps the labels with P_i(c) >= t
 *   level k    forward and backward over the states of level k whose shorter history (that of level k - 1)
 *              was kept                                            keeps the states with P_i(z) >= t
 *
 * and the best of each position, whatever its probability. What is asked for is found at level K, over what
 * level K - 1 has kept: exactly, and with t = 0 over everything. At most 1/t states of a position survive,
 * mostly one or two, so that a position costs a few steps and not L^(K+1) of them.
 *
 * Prohibitions can leave no way through what was kept. Then all begins anew with a tenth of the threshold,
 * and at last with none.
 *
 * In double precision and log space: states are few.
 */
#include "lattice/pruned.h"

#include <string.h>

#define LEAST_THRESHOLD 1e-8

bool tr_pruning_create(struct tr_lattice *lattice)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_pruning *p = lattice->pruning = tr_alloc(1, sizeof *p);
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

void tr_pruning_destroy(struct tr_pruning *p)
{
    if (!p) {
        return;
    }
    free(p->kept.at);
    free(p->kept_begin.at);
    free(p->cells.at);
    free(p->cell_begin.at);
    free(p->arcs.at);
    free(p->arc_begin.at);
    free(p->labels.at);
    free(p->place);
    free(p->open);
    free(p->prior);
    free(p->count);
    free(p->is_collected);
    free(p->collected.at);
    free(p);
}

void tr_pruning_begin(struct tr_pruning *p)
{
    p->level = TR_NO_LEVEL;
    p->hold = p->is_done = false;
}

bool tr_pruning_is_done(const struct tr_pruning *p)
{
    return p->is_done;
}

void tr_pruning_hold(struct tr_pruning *p, bool hold)
{
    p->hold = hold;
    p->level = TR_NO_LEVEL;
}

/* ---- level 0 ------------------------------------------------------------------------------------- */

/* P_i(c) of all positions, into the marginals. */
static trellis_status look_at_labels(struct tr_lattice *lattice, const struct tr_steps *steps,
                                     trellis_error *error)
{
    struct tr_pruning *p = lattice->pruning;
    size_t width = lattice->graph->width;
    lattice->log_z = 0;
    tr_lattice_seal(lattice);
    for (size_t i = 0; i < lattice->length; i++) {
        float *row = lattice->marginal.at + i * width;
        memcpy(row, tr_node_at(lattice, i), width * sizeof *row);
        for (uint32_t c = 0; p->has_priors && c < lattice->graph->labels; c++) {
            row[c] += p->prior[c] == UINT32_MAX
                          ? 0
                          : (float)(steps->scale * (double)steps->seen[p->prior[c]]);
        }
        float most = lattice->kernels->exp_row(row, row, width);
        float sum = lattice->kernels->sum(row, width);
        if (!isfinite(most) || !isfinite(sum)) {
            return most == -INFINITY
                       ? tr_fail(error, TRELLIS_DATA, "no sequence of labels is allowed")
                       : tr_fail(error, TRELLIS_DATA, "a score is not a number or not finite");
        }
        lattice->kernels->scale(row, 1 / sum, width);
        lattice->log_z += (double)most + log((double)sum);
    }
    p->level = 0;
    return TRELLIS_OK;
}

/* The labels of level 0 that are kept at a position. */
static bool keep_labels(struct tr_lattice *lattice, size_t i, double threshold)
{
    struct tr_pruning *p = lattice->pruning;
    const struct tr_graph *graph = lattice->graph;
    const float *row = lattice->marginal.at + i * graph->width, *node = tr_node_at(lattice, i);
    size_t best = lattice->kernels->argmax(row, graph->width);
    bool fine = true;
    for (uint32_t c = 0; fine && c < graph->labels; c++) {
        if (c == best || ((double)row[c] >= threshold && node[c] > -INFINITY)) {
            fine = tr_push(&p->kept, c);
        }
    }
    return fine;
}

/* ---- one level ----------------------------------------------------------------------------------- */

/* Opens the states that were kept at a position, and lists their labels. */
static bool open_states(struct tr_lattice *lattice, size_t i)
{
    struct tr_pruning *p = lattice->pruning;
    const uint16_t *label = lattice->graph->label;
    bool fine = true;
    p->labels.size = 0;
    for (size_t k = p->kept_begin.at[i]; fine && k < p->kept_begin.at[i + 1]; k++) {
        uint16_t c = label[p->kept.at[k]];
        p->open[p->kept.at[k]] = true;
        if (p->place[c] == 0) { // until the cells are placed it says which labels are listed
            p->place[c] = 1;
            fine = tr_push(&p->labels, c);
        }
    }
    for (size_t k = 0; k < p->labels.size; k++) {
        p->place[p->labels.at[k]] = 0;
    }
    return fine;
}

static void close_states(struct tr_pruning *p, size_t i)
{
    for (size_t k = p->kept_begin.at[i]; k < p->kept_begin.at[i + 1]; k++) {
        p->open[p->kept.at[k]] = false;
    }
    for (size_t k = p->cell_begin.at[i]; k < p->cells.size; k++) {
        p->place[p->cells.at[k].state] = 0;
    }
}

static double sum_of_weights(const struct tr_steps *steps, const struct tr_reading *reading)
{
    double sum = 0;
    for (uint32_t k = 0; k < reading->count; k++) {
        sum += (double)steps->seen[reading->feature[k]];
    }
    return reading->count ? steps->scale * sum : 0;
}

/* The score of a label behind a state, with the end where it is the last; minus infinity where it cannot
 * be. */
static double read_label(const struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                         uint32_t from, uint16_t label, uint32_t level, uint32_t *ret_next)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_reading reading = tr_graph_read(graph, from, label, level);
    const float *edges = i > 0 && level > 0 ? tr_edges_at(lattice, i) : NULL;
    *ret_next = reading.next;
    if (reading.next == TR_NO_STATE && level > 0) {
        return -INFINITY;
    }
    double score = (double)tr_node_at(lattice, i)[label] + sum_of_weights(steps, &reading);
    if (edges) {
        score += (double)edges[graph->label[from] * graph->width + label];
    }
    if (i + 1 == lattice->length && level > 0) {
        reading = tr_graph_read(graph, *ret_next, graph->labels + 1, level);
        score = reading.next == TR_NO_STATE ? -INFINITY : score + sum_of_weights(steps, &reading);
    }
    return score;
}

/* All steps from a state, or from the start, to the labels of a position. */
static bool add_arcs(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                     uint32_t level, uint32_t from_cell, uint32_t from)
{
    struct tr_pruning *p = lattice->pruning;
    for (size_t k = 0; k < p->labels.size; k++) {
        uint32_t next;
        double score = read_label(lattice, steps, i, from, p->labels.at[k], level, &next);
        if (score == -INFINITY ||
            !p->open[tr_graph_shorten(lattice->graph, next, level > 1 ? level - 1 : 1)]) {
            continue;
        }
        if (!p->place[next]) {
            if (p->cells.size >= UINT32_MAX - 1 ||
                !tr_push(&p->cells, (struct tr_cell){.state = next})) {
                return false;
            }
            p->place[next] = (uint32_t)p->cells.size; // its cell + 1
        }
        if (!tr_push(&p->arcs, (struct tr_arc){from_cell, p->place[next] - 1, score})) {
            return false;
        }
    }
    return true;
}

/* The cells and arcs of a level, over what was kept; TRELLIS_DATA where there is no way through. */
static trellis_status make_level(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 uint32_t level, trellis_error *error)
{
    struct tr_pruning *p = lattice->pruning;
    trellis_status status = TRELLIS_OK;
    p->cells.size = p->arcs.size = 0;
    p->cell_begin.at[0] = p->arc_begin.at[0] = 0;
    for (size_t i = 0; !status && i < lattice->length; i++) {
        size_t begin = p->cell_begin.at[i];
        bool fine = open_states(lattice, i);
        if (i == 0) {
            fine = fine && add_arcs(lattice, steps, 0, level, TR_NO_CELL, TR_NO_STATE);
        }
        for (size_t k = i ? p->cell_begin.at[i - 1] : begin; fine && k < begin; k++) {
            fine = add_arcs(lattice, steps, i, level, (uint32_t)k, p->cells.at[k].state);
        }
        close_states(p, i);
        p->cell_begin.at[i + 1] = p->cells.size;
        p->arc_begin.at[i + 1] = p->arcs.size;
        if (!fine) {
            status = tr_fail_memory(error);
        } else if (p->cells.size == begin) {
            status = tr_fail(error, TRELLIS_DATA, "no sequence of labels is allowed");
        }
    }
    p->level = status ? TR_NO_LEVEL : level;
    return status;
}

/* ---- sums ---------------------------------------------------------------------------------------- */

static double alpha_before(const struct tr_pruning *p, const struct tr_arc *arc)
{
    return arc->from == TR_NO_CELL ? 0 : p->cells.at[arc->from].alpha;
}

/* A(z) = log sum over the arcs to z of exp(A(z') + score) */
static void forward(struct tr_pruning *p, size_t i)
{
    for (size_t k = p->cell_begin.at[i]; k < p->cell_begin.at[i + 1]; k++) {
        p->cells.at[k].alpha = -INFINITY;
        p->cells.at[k].sum = 0;
    }
    for (size_t a = p->arc_begin.at[i]; a < p->arc_begin.at[i + 1]; a++) {
        struct tr_cell *to = &p->cells.at[p->arcs.at[a].to];
        to->alpha = fmax(to->alpha, alpha_before(p, &p->arcs.at[a]) + p->arcs.at[a].score);
    }
    for (size_t a = p->arc_begin.at[i]; a < p->arc_begin.at[i + 1]; a++) {
        struct tr_cell *to = &p->cells.at[p->arcs.at[a].to];
        to->sum += exp(alpha_before(p, &p->arcs.at[a]) + p->arcs.at[a].score - to->alpha);
    }
    for (size_t k = p->cell_begin.at[i]; k < p->cell_begin.at[i + 1]; k++) {
        p->cells.at[k].alpha += log(p->cells.at[k].sum);
    }
}

/* B(z') = log sum over the arcs from z' of exp(score + B(z)), from position i to the one before; a cell
 * that leads nowhere has minus infinity. */
static void backward(struct tr_pruning *p, size_t i)
{
    for (size_t k = p->cell_begin.at[i - 1]; k < p->cell_begin.at[i]; k++) {
        p->cells.at[k].beta = -INFINITY;
        p->cells.at[k].sum = 0;
    }
    for (size_t a = p->arc_begin.at[i]; a < p->arc_begin.at[i + 1]; a++) {
        const struct tr_arc *arc = &p->arcs.at[a];
        struct tr_cell *from = &p->cells.at[arc->from];
        from->beta = fmax(from->beta, arc->score + p->cells.at[arc->to].beta);
    }
    for (size_t a = p->arc_begin.at[i]; a < p->arc_begin.at[i + 1]; a++) {
        const struct tr_arc *arc = &p->arcs.at[a];
        struct tr_cell *from = &p->cells.at[arc->from];
        if (from->beta > -INFINITY) {
            from->sum += exp(arc->score + p->cells.at[arc->to].beta - from->beta);
        }
    }
    for (size_t k = p->cell_begin.at[i - 1]; k < p->cell_begin.at[i]; k++) {
        struct tr_cell *cell = &p->cells.at[k];
        cell->beta += cell->beta > -INFINITY ? log(cell->sum) : 0;
    }
}

static double log_sum_last(const struct tr_pruning *p, size_t n)
{
    double most = -INFINITY, sum = 0;
    for (size_t k = p->cell_begin.at[n - 1]; k < p->cell_begin.at[n]; k++) {
        most = fmax(most, p->cells.at[k].alpha);
    }
    for (size_t k = p->cell_begin.at[n - 1]; k < p->cell_begin.at[n]; k++) {
        sum += exp(p->cells.at[k].alpha - most);
    }
    return most + log(sum);
}

static trellis_status sum_level(struct tr_lattice *lattice, trellis_error *error)
{
    struct tr_pruning *p = lattice->pruning;
    size_t n = lattice->length;
    for (size_t i = 0; i < n; i++) {
        forward(p, i);
    }
    lattice->log_z = log_sum_last(p, n);
    for (size_t k = p->cell_begin.at[n - 1]; k < p->cell_begin.at[n]; k++) {
        p->cells.at[k].beta = 0;
    }
    for (size_t i = n - 1; i > 0; i--) {
        backward(p, i);
    }
    return isfinite(lattice->log_z)
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_DATA, "a score is not a number or not finite");
}

/* ---- what is kept -------------------------------------------------------------------------------- */

static bool keep_cells(struct tr_lattice *lattice, size_t i, double threshold)
{
    struct tr_pruning *p = lattice->pruning;
    size_t begin = p->cell_begin.at[i], end = p->cell_begin.at[i + 1], best = begin;
    bool fine = true;
    for (size_t k = begin; k < end; k++) {
        const struct tr_cell *cell = &p->cells.at[k], *most = &p->cells.at[best];
        best = cell->alpha + cell->beta > most->alpha + most->beta ? k : best;
    }
    for (size_t k = begin; fine && k < end; k++) {
        if (k == best || tr_cell_probability(lattice, k) >= threshold) {
            fine = tr_push(&p->kept, p->cells.at[k].state);
        }
    }
    return fine;
}

static bool keep(struct tr_lattice *lattice, double threshold)
{
    struct tr_pruning *p = lattice->pruning;
    bool fine = true;
    p->kept.size = 0;
    p->kept_begin.at[0] = 0;
    for (size_t i = 0; fine && i < lattice->length; i++) {
        fine = p->level == 0 ? keep_labels(lattice, i, threshold)
                             : keep_cells(lattice, i, threshold);
        p->kept_begin.at[i + 1] = p->kept.size;
    }
    return fine;
}

/* Whether the states of some labels at the level at hand were all kept. */
static bool has_path(const struct tr_lattice *lattice, const uint16_t *labels)
{
    const struct tr_pruning *p = lattice->pruning;
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

/* ---- all levels ---------------------------------------------------------------------------------- */

/* With gold labels, up to the last level that has them. `sums`: of the last level as well. */
static trellis_status search_levels(struct tr_lattice *lattice, const struct tr_steps *steps,
                                    const uint16_t *gold, bool sums, double threshold,
                                    trellis_error *error)
{
    uint32_t order = lattice->graph->order;
    trellis_status status = look_at_labels(lattice, steps, error);
    for (uint32_t level = 1; !status && level <= order; level++) {
        if (!keep(lattice, threshold)) {
            return tr_fail_memory(error);
        }
        if (gold && !has_path(lattice, gold)) {
            break;
        }
        status = make_level(lattice, steps, level, error);
        if (!status && (level < order || sums)) {
            status = sum_level(lattice, error);
        }
    }
    return status;
}

static bool make_room(struct tr_lattice *lattice)
{
    struct tr_pruning *p = lattice->pruning;
    size_t n = lattice->length;
    return tr_floats_room(&lattice->marginal, n, lattice->graph->width) &&
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
    if (lattice->pruning->hold) {
        trellis_status status = make_level(lattice, steps, lattice->graph->order, error);
        return status ? status : sum_level(lattice, error);
    }
    trellis_status status = search_levels(lattice, steps, gold, sums, threshold, error);
    while (status == TRELLIS_DATA && threshold > 0) {
        threshold = threshold > LEAST_THRESHOLD ? threshold / 10 : 0;
        status = search_levels(lattice, steps, gold, sums, threshold, error);
    }
    lattice->pruning->is_done = !status && !gold;
    return status;
}

static void node_marginals(struct tr_lattice *lattice)
{
    const struct tr_pruning *p = lattice->pruning;
    const struct tr_graph *graph = lattice->graph;
    memset(lattice->marginal.at, 0, lattice->length * graph->width * sizeof(float));
    for (size_t i = 0; i < lattice->length; i++) {
        float *row = lattice->marginal.at + i * graph->width;
        for (size_t k = p->cell_begin.at[i]; k < p->cell_begin.at[i + 1]; k++) {
            row[graph->label[p->cells.at[k].state]] += (float)tr_cell_probability(lattice, k);
        }
    }
}

trellis_status tr_pruned_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                          const uint16_t *gold, trellis_error *error)
{
    trellis_status status = search(lattice, steps, gold, true, error);
    if (!status && lattice->pruning->level > 0) {
        node_marginals(lattice);
    }
    lattice->computed = status ? TR_NOTHING : TR_PRUNED;
    return status;
}

/* Of equally good ways to a state the one that was found first is taken. */
static void best_arrivals(struct tr_pruning *p, size_t i)
{
    for (size_t k = p->cell_begin.at[i]; k < p->cell_begin.at[i + 1]; k++) {
        p->cells.at[k].alpha = -INFINITY;
    }
    for (size_t a = p->arc_begin.at[i]; a < p->arc_begin.at[i + 1]; a++) {
        const struct tr_arc *arc = &p->arcs.at[a];
        struct tr_cell *to = &p->cells.at[arc->to];
        double score = alpha_before(p, arc) + arc->score;
        if (score > to->alpha) {
            to->alpha = score;
            to->back = arc->from;
        }
    }
}

trellis_status tr_pruned_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 uint16_t *labels, trellis_error *error)
{
    struct tr_pruning *p = lattice->pruning;
    size_t n = lattice->length;
    trellis_status status = search(lattice, steps, NULL, false, error);
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

/* ---- the score of a path ------------------------------------------------------------------------- */

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
    const struct tr_pruning *p = lattice->pruning;
    uint32_t level = p->level == TR_NO_LEVEL ? lattice->graph->order : p->level;
    uint32_t state = TR_NO_STATE;
    double score = 0;
    for (size_t i = 0; i < lattice->length && score > -INFINITY; i++) {
        score += read_label(lattice, steps, i, state, labels[i], level, &state);
        if (p->level != TR_NO_LEVEL && level > 0 && !has_cell(p, i, state)) {
            score = -INFINITY;
        }
    }
    return score;
}
