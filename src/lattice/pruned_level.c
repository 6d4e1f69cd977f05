/* pruned_level.c - one level of a pruned search: labels alone, or histories among the survivors
 * (see pruned.c).
 *
 *   level 0   P_i(c) = exp(node_i(c) + prior(c)) / sum
 *   level k   A_i(z) = log sum over the arcs from z' to z of exp(A_{i-1}(z') + score)
 *             B_{i-1}(z') = log sum over the arcs from z' to z of exp(score + B_i(z))
 *
 * In double precision and log space from level 1 on: states are few.
 */
#include "lattice/pruned.h"

#include <string.h>

#define MAX_ARCS ((size_t)1 << 26) // of a sequence: 1 GB

/* ---- level 0 --------------------------------------------------------------------------------- */

trellis_status tr_pruned_label_posteriors(struct tr_lattice *lattice, const struct tr_steps *steps,
                                          trellis_error *error)
{
    struct tr_pruning *p = lattice->of.pruning;
    size_t width = lattice->graph->width;
    lattice->log_z = 0;
    tr_lattice_pad_nodes(lattice);
    for (size_t i = 0; i < lattice->length; i++) {
        float *row = lattice->marginal.node.at + i * width;
        memcpy(row, tr_node_at(lattice, i), width * sizeof *row);
        for (uint32_t c = 0; p->has_priors && c < lattice->graph->labels; c++) {
            row[c] += p->prior[c] == UINT32_MAX
                          ? 0
                          : (float)(steps->of.pruned.scale *
                                    (double)steps->of.pruned.weight[p->prior[c]]);
        }
        float largest = lattice->kernels->exp_row(row, row, width);
        float sum = lattice->kernels->sum(row, width);
        if (!isfinite(largest) || !isfinite(sum)) {
            return largest == -INFINITY
                       ? tr_fail(error, TRELLIS_DATA, "no sequence of labels is allowed")
                       : tr_fail(error, TRELLIS_DATA, "a score is not a number or not finite");
        }
        lattice->kernels->scale(row, 1 / sum, width);
        lattice->log_z += (double)largest + log((double)sum);
    }
    p->level = 0;
    return TRELLIS_OK;
}

/* ---- one level ------------------------------------------------------------------------------- */

/* Marks the states that were kept at a position, and lists their labels. */
static bool open_states(struct tr_lattice *lattice, size_t i)
{
    struct tr_pruning *p = lattice->of.pruning;
    const uint16_t *label = lattice->graph->label;
    bool ok = true;
    p->labels.size = 0;
    for (size_t k = p->kept_begin.at[i]; ok && k < p->kept_begin.at[i + 1]; k++) {
        uint16_t c = label[p->kept.at[k]];
        p->open[p->kept.at[k]] = true;
        if (p->place[c] == 0) { // until the cells are placed it says which labels are listed
            p->place[c] = 1;
            ok = tr_push(&p->labels, c);
        }
    }
    for (size_t k = 0; k < p->labels.size; k++) {
        p->place[p->labels.at[k]] = 0;
    }
    return ok;
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
        sum += (double)steps->of.pruned.weight[reading->feature[k]];
    }
    return reading->count ? steps->of.pruned.scale * sum : 0;
}

double tr_pruned_read_label(const struct tr_lattice *lattice, const struct tr_steps *steps,
                            size_t i, uint32_t from, uint16_t label, uint32_t level,
                            uint32_t *ret_next)
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
    struct tr_pruning *p = lattice->of.pruning;
    for (size_t k = 0; k < p->labels.size; k++) {
        uint32_t next;
        double score = tr_pruned_read_label(lattice, steps, i, from, p->labels.at[k], level, &next);
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
        if (p->arcs.size >= MAX_ARCS ||
            !tr_push(&p->arcs, (struct tr_arc){from_cell, p->place[next] - 1, score})) {
            return false;
        }
    }
    return true;
}

trellis_status tr_pruned_make_level(struct tr_lattice *lattice, const struct tr_steps *steps,
                                    uint32_t level, trellis_error *error)
{
    struct tr_pruning *p = lattice->of.pruning;
    trellis_status status = TRELLIS_OK;
    p->cells.size = p->arcs.size = 0;
    p->cell_begin.at[0] = p->arc_begin.at[0] = 0;
    for (size_t i = 0; !status && i < lattice->length; i++) {
        size_t begin = p->cell_begin.at[i];
        bool ok = open_states(lattice, i);
        if (i == 0) {
            ok = ok && add_arcs(lattice, steps, 0, level, TR_NO_CELL, TR_NO_STATE);
        }
        for (size_t k = i ? p->cell_begin.at[i - 1] : begin; ok && k < begin; k++) {
            ok = add_arcs(lattice, steps, i, level, (uint32_t)k, p->cells.at[k].state);
        }
        close_states(p, i);
        p->cell_begin.at[i + 1] = p->cells.size;
        p->arc_begin.at[i + 1] = p->arcs.size;
        if (!ok) {
            status = p->arcs.size < MAX_ARCS
                         ? tr_fail_memory(error)
                         : tr_fail(error, TRELLIS_LIMIT,
                                   "a sequence has too many transitions left; prune more");
        } else if (p->cells.size == begin) {
            status = tr_fail(error, TRELLIS_DATA, "no sequence of labels is allowed");
        }
    }
    p->level = status ? TR_NO_LEVEL : level;
    return status;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* A(z) = log sum over the arcs to z of exp(A(z') + score) */
static void forward(struct tr_pruning *p, size_t i)
{
    for (size_t k = p->cell_begin.at[i]; k < p->cell_begin.at[i + 1]; k++) {
        p->cells.at[k].alpha = -INFINITY;
        p->cells.at[k].sum = 0;
    }
    for (size_t a = p->arc_begin.at[i]; a < p->arc_begin.at[i + 1]; a++) {
        struct tr_cell *to = &p->cells.at[p->arcs.at[a].to];
        to->alpha = fmax(to->alpha, tr_alpha_before(p, &p->arcs.at[a]) + p->arcs.at[a].score);
    }
    for (size_t a = p->arc_begin.at[i]; a < p->arc_begin.at[i + 1]; a++) {
        struct tr_cell *to = &p->cells.at[p->arcs.at[a].to];
        to->sum += exp(tr_alpha_before(p, &p->arcs.at[a]) + p->arcs.at[a].score - to->alpha);
    }
    for (size_t k = p->cell_begin.at[i]; k < p->cell_begin.at[i + 1]; k++) {
        p->cells.at[k].alpha += log(p->cells.at[k].sum);
    }
}

/* B(z') = log sum over the arcs from z' of exp(score + B(z)), from position i to the one before;
 * minus infinity for a cell from which the end cannot be reached. */
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
    double largest = -INFINITY, sum = 0;
    for (size_t k = p->cell_begin.at[n - 1]; k < p->cell_begin.at[n]; k++) {
        largest = fmax(largest, p->cells.at[k].alpha);
    }
    if (largest == -INFINITY) {
        return largest;
    }
    for (size_t k = p->cell_begin.at[n - 1]; k < p->cell_begin.at[n]; k++) {
        sum += exp(p->cells.at[k].alpha - largest);
    }
    return largest + log(sum);
}

trellis_status tr_pruned_sum_level(struct tr_lattice *lattice, trellis_error *error)
{
    struct tr_pruning *p = lattice->of.pruning;
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
