/* pruned_counts.c - training with a pruned lattice: the loss, and expected counts of features.
 *
 * If the gold labels do not survive a level, the update is made at that level (an early update), so
 * that they survive it next time; longer grams are not updated from such a sequence.
 */
#include "lattice/pruned.h"

static double arc_probability(const struct tr_lattice *lattice, const struct tr_arc *arc)
{
    const struct tr_cell *cells = lattice->of.pruning->cells.at;
    double before = tr_alpha_before(lattice->of.pruning, arc);
    return exp(before + arc->score + cells[arc->to].beta - lattice->log_z);
}

bool tr_pruned_edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps,
                              float *marginals)
{
    (void)steps;
    const struct tr_pruning *p = lattice->of.pruning;
    const struct tr_graph *graph = lattice->graph;
    for (size_t i = 1; p->level > 0 && i < lattice->length; i++) {
        float *matrix = marginals + i * graph->labels * graph->width;
        for (size_t a = p->arc_begin.at[i]; a < p->arc_begin.at[i + 1]; a++) {
            const struct tr_arc *arc = &p->arcs.at[a];
            size_t from = graph->label[p->cells.at[arc->from].state];
            matrix[from * graph->width + graph->label[p->cells.at[arc->to].state]] += (float)
                arc_probability(lattice, arc);
        }
    }
    return true;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static bool add_count(struct tr_pruning *p, uint32_t feature, double amount)
{
    if (!p->is_collected[feature]) {
        if (!tr_push(&p->collected, feature)) {
            return false;
        }
        p->is_collected[feature] = true;
    }
    p->count[feature] += amount;
    return true;
}

/* The features fired by reading a label in a state at the current level. */
static bool add_reading(struct tr_lattice *lattice, uint32_t state, uint32_t label, double amount,
                        uint32_t *ret_next)
{
    struct tr_pruning *p = lattice->of.pruning;
    struct tr_reading reading = tr_graph_read(lattice->graph, state, label, p->level);
    bool ok = true;
    for (uint32_t k = 0; ok && k < reading.count; k++) {
        ok = add_count(p, reading.feature[k], amount);
    }
    *ret_next = reading.next;
    return ok;
}

static bool collect_priors(struct tr_lattice *lattice, double scale)
{
    const struct tr_graph *graph = lattice->graph;
    struct tr_pruning *p = lattice->of.pruning;
    bool ok = true;
    for (uint32_t c = 0; p->has_priors && ok && c < graph->labels; c++) {
        double sum = 0;
        for (size_t i = 0; i < lattice->length; i++) {
            sum += (double)lattice->marginal.node.at[i * graph->width + c];
        }
        ok = p->prior[c] == UINT32_MAX || add_count(p, p->prior[c], scale * sum);
    }
    return ok;
}

bool tr_pruned_collect(struct tr_lattice *lattice, const struct tr_steps *steps, double scale)
{
    (void)steps;
    struct tr_pruning *p = lattice->of.pruning;
    const struct tr_graph *graph = lattice->graph;
    size_t n = lattice->length;
    bool ok = p->level > 0 || collect_priors(lattice, scale);
    for (size_t i = 0; p->level > 0 && i < n; i++) {
        for (size_t a = p->arc_begin.at[i]; ok && a < p->arc_begin.at[i + 1]; a++) {
            const struct tr_arc *arc = &p->arcs.at[a];
            uint32_t to = p->cells.at[arc->to].state, next;
            uint32_t from = arc->from == TR_NO_CELL ? TR_NO_STATE : p->cells.at[arc->from].state;
            double amount = scale * arc_probability(lattice, arc);
            ok = add_reading(lattice, from, graph->label[to], amount, &next) &&
                 (i + 1 < n || add_reading(lattice, to, graph->labels + 1, amount, &next));
        }
    }
    return ok;
}

bool tr_lattice_collect_path(struct tr_lattice *lattice, const uint16_t *gold, double scale)
{
    uint32_t state = TR_NO_STATE;
    bool ok = true;
    for (size_t i = 0; ok && i < lattice->length; i++) {
        ok = add_reading(lattice, state, gold[i], scale, &state);
    }
    return ok && (lattice->length == 0 || lattice->of.pruning->level == 0 ||
                  add_reading(lattice, state, lattice->graph->labels + 1, scale, &state));
}

const uint32_t *tr_lattice_collected(const struct tr_lattice *lattice, size_t *ret_count)
{
    *ret_count = lattice->of.pruning->collected.size;
    return lattice->of.pruning->collected.at;
}

void tr_pruned_flush(struct tr_lattice *lattice, const struct tr_steps *steps, float *expected)
{
    (void)steps;
    struct tr_pruning *p = lattice->of.pruning;
    for (size_t k = 0; k < p->collected.size; k++) {
        uint32_t feature = p->collected.at[k];
        expected[feature] += (float)p->count[feature];
        p->count[feature] = 0;
        p->is_collected[feature] = false;
    }
    p->collected.size = 0;
}

/* ---- the loss -------------------------------------------------------------------------------- */

trellis_status tr_lattice_pruned_likelihood(struct tr_lattice *lattice,
                                            const struct tr_steps *steps, const uint16_t *gold,
                                            double *ret_loss, trellis_error *error)
{
    *ret_loss = 0;
    if (lattice->length == 0) {
        lattice->computed = TR_PRUNED;
        lattice->of.pruning->level = 0;
        return TRELLIS_OK;
    }
    trellis_status status = tr_pruned_forward_backward(lattice, steps, gold, error);
    if (!status) {
        *ret_loss = lattice->log_z - tr_pruned_path_score(lattice, steps, gold);
        status = isfinite(*ret_loss)
                     ? TRELLIS_OK
                     : tr_fail(error, TRELLIS_DATA, "the labels to learn from are not allowed");
    }
    return status;
}

uint32_t tr_lattice_level(const struct tr_lattice *lattice)
{
    return lattice->of.pruning->level;
}
