/* sample.c - label sequences drawn from P(Z | X), and the entropy of that distribution.
 *
 * Seen from its end a path is a Markov chain, given by the forward sums A:
 *
 *   P(z_n) = exp(A_n(z_n) + end(z_n)) / Z
 *   P(z_{i-1} | z_i) = exp(A_{i-1}(z_{i-1}) + step_i(z_{i-1}, z_i)) / sum over z_{i-1}
 *
 * A sample is drawn from the end to the start. With H_i(z) the entropy of the labels before z at i,
 *
 *   H_1(z) = 0        H_i(z) = sum_z' P(z' | z) (H_{i-1}(z') - log P(z' | z))
 *   H(Z | X) = sum_z P(z_n = z) (H_n(z) - log P(z_n = z))
 *
 * (Hernando, Crespi and Cybenko 2005), which equals log Z - E[score] without subtracting large
 * numbers. A graph is deterministic, so a path is a label sequence.
 */
#include "base/random.h"
#include "lattice/pruned.h"

/* The first place where the sum of probabilities passes u, and never one of probability 0. */
size_t tr_draw(struct tr_random *random, const double *log_p, size_t count)
{
    double u = tr_random_real(random);
    size_t drawn = 0;
    for (size_t k = 0; k < count && u >= 0; k++) {
        double p = tr_exp_below(log_p[k]);
        drawn = p > 0 ? k : drawn;
        u -= p;
    }
    return drawn;
}

/* p (H - log p): what a way of probability p adds, behind which the entropy is H */
double tr_entropy_term(double log_p, double entropy)
{
    double p = tr_exp_below(log_p);
    return p > 0 ? p * (entropy - log_p) : 0;
}

static trellis_status fail_no_path(trellis_error *error)
{
    return tr_fail(error, TRELLIS_DATA,
                   "no sequence of labels is allowed, or a score is not a number");
}

/* ---- graphs that list their states ----------------------------------------------------------- */

/* Room for log P(z_n) and log P(z_{i-1} | z_i). */
struct rows {
    double *last, *before; // [S]
};

static trellis_status begin_rows(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 struct rows *rows, trellis_error *error)
{
    size_t states = lattice->graph->states;
    rows->last = tr_alloc(states, sizeof *rows->last);
    rows->before = tr_alloc(states, sizeof *rows->before);
    trellis_status status = rows->last && rows->before ? tr_reference_forward(lattice, steps, error)
                                                       : tr_fail_memory(error);
    return status || tr_reference_last_states(lattice, steps, rows->last) ? status
                                                                          : fail_no_path(error);
}

static void free_rows(struct rows *rows)
{
    free(rows->last);
    free(rows->before);
}

trellis_status tr_listed_sample(struct tr_lattice *lattice, const struct tr_steps *steps,
                                struct tr_random *random, size_t count, uint16_t *labels,
                                trellis_error *error)
{
    const struct tr_graph *graph = lattice->graph;
    size_t n = lattice->length;
    struct rows rows;
    trellis_status status = begin_rows(lattice, steps, &rows, error);
    for (size_t k = 0; !status && k < count; k++) {
        uint32_t z = (uint32_t)tr_draw(random, rows.last, graph->states);
        labels[k * n + n - 1] = graph->label[z];
        for (size_t i = n - 1; i > 0; i--) {
            const uint32_t *from;
            size_t arrivals = tr_reference_states_before(lattice, steps, i, z, &from, rows.before);
            z = from[tr_draw(random, rows.before, arrivals)];
            labels[k * n + i - 1] = graph->label[z];
        }
    }
    free_rows(&rows);
    return status;
}

/* H_i of all states from those of the position before; out [S]. */
static void entropy_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                        double *log_p, const double *before, double *out)
{
    const struct tr_graph *graph = lattice->graph;
    const double *alpha = lattice->log_space.alpha.at + i * graph->states;
    for (uint32_t z = 0; z < graph->states; z++) {
        const uint32_t *from;
        size_t count = alpha[z] > -INFINITY
                           ? tr_reference_states_before(lattice, steps, i, z, &from, log_p)
                           : 0; // no path leads here
        out[z] = 0;
        for (size_t k = 0; k < count; k++) {
            out[z] += tr_entropy_term(log_p[k], before[from[k]]);
        }
    }
}

trellis_status tr_listed_entropy(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 double *ret_entropy, trellis_error *error)
{
    size_t states = lattice->graph->states;
    struct rows rows;
    double *here = tr_alloc(states, sizeof *here), *next = tr_alloc(states, sizeof *next);
    trellis_status status = begin_rows(lattice, steps, &rows, error);
    if (!status && !(here && next)) {
        status = tr_fail_memory(error);
    }
    for (size_t i = 1; !status && i < lattice->length; i++) {
        entropy_row(lattice, steps, i, rows.before, here, next);
        double *kept = here;
        here = next;
        next = kept;
    }
    for (size_t z = 0; !status && z < states; z++) {
        *ret_entropy += tr_entropy_term(rows.last[z], here[z]);
    }
    free(here);
    free(next);
    free_rows(&rows);
    return status;
}

/* ---- pruned graphs: over what has survived --------------------------------------------------- */

/* log P(arc | the cell it leads to) */
static double arc_log_p(const struct tr_pruning *p, const struct tr_arc *arc)
{
    return tr_alpha_before(p, arc) + arc->score - p->cells.at[arc->to].alpha;
}

/* Draws the cell before one at a position. */
static size_t draw_before(struct tr_random *random, const struct tr_pruning *p, size_t i,
                          size_t cell)
{
    double u = tr_random_real(random);
    size_t drawn = TR_NO_CELL;
    for (size_t a = p->arc_begin.at[i]; a < p->arc_begin.at[i + 1] && u >= 0; a++) {
        const struct tr_arc *arc = &p->arcs.at[a];
        double probability = arc->to == cell ? tr_exp_below(arc_log_p(p, arc)) : 0;
        drawn = probability > 0 ? arc->from : drawn;
        u -= probability;
    }
    return drawn;
}

/* log P(z_n) of the last cells, to be freed; NULL on allocation failure. */
static double *last_cells(const struct tr_lattice *lattice)
{
    const struct tr_pruning *p = lattice->of.pruning;
    size_t begin = p->cell_begin.at[lattice->length - 1], end = p->cell_begin.at[lattice->length];
    double *last = tr_alloc(end - begin, sizeof *last);
    for (size_t k = begin; last && k < end; k++) {
        last[k - begin] = p->cells.at[k].alpha - lattice->log_z;
    }
    return last;
}

trellis_status tr_pruned_sample(struct tr_lattice *lattice, const struct tr_steps *steps,
                                struct tr_random *random, size_t count, uint16_t *labels,
                                trellis_error *error)
{
    const struct tr_pruning *p = lattice->of.pruning;
    size_t n = lattice->length;
    trellis_status status = tr_pruned_forward_backward(lattice, steps, NULL, error);
    double *last = status ? NULL : last_cells(lattice);
    if (!status && !last) {
        status = tr_fail_memory(error);
    }
    for (size_t k = 0; !status && k < count; k++) {
        size_t first = p->cell_begin.at[n - 1], cells = p->cell_begin.at[n] - first;
        size_t cell = first + tr_draw(random, last, cells);
        for (size_t i = n; i-- > 0;) {
            labels[k * n + i] = lattice->graph->label[p->cells.at[cell].state];
            cell = i > 0 ? draw_before(random, p, i, cell) : cell;
        }
    }
    free(last);
    return status;
}

trellis_status tr_pruned_entropy(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 double *ret_entropy, trellis_error *error)
{
    struct tr_pruning *p = lattice->of.pruning;
    size_t n = lattice->length;
    trellis_status status = tr_pruned_forward_backward(lattice, steps, NULL, error);
    if (status) {
        return status;
    }
    for (size_t k = 0; k < p->cells.size; k++) {
        p->cells.at[k].sum = 0; // becomes H_i
    }
    for (size_t a = p->arc_begin.at[1]; a < p->arcs.size; a++) {
        const struct tr_arc *arc = &p->arcs.at[a];
        p->cells.at[arc->to].sum += tr_entropy_term(arc_log_p(p, arc), p->cells.at[arc->from].sum);
    }
    for (size_t k = p->cell_begin.at[n - 1]; k < p->cell_begin.at[n]; k++) {
        *ret_entropy += tr_entropy_term(p->cells.at[k].alpha - lattice->log_z, p->cells.at[k].sum);
    }
    return TRELLIS_OK;
}

/* ---- of any kind ----------------------------------------------------------------------------- */

trellis_status tr_lattice_sample(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 struct tr_random *random, size_t count, uint16_t *labels,
                                 trellis_error *error)
{
    return lattice->length ? lattice->kind->sample(lattice, steps, random, count, labels, error)
                           : TRELLIS_OK;
}

trellis_status tr_lattice_entropy(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  double *ret_entropy, trellis_error *error)
{
    *ret_entropy = 0;
    return lattice->length ? lattice->kind->entropy(lattice, steps, ret_entropy, error)
                           : TRELLIS_OK;
}
