/* reference.c - forward, backward and Viterbi in double precision and log space, for every listed
 * graph.
 *
 *   A_1(z) = start(z) + node_1(z)          A_i(z) = node_i(z) + log sum_z' exp(A_{i-1}(z') +
 *                                          step_i(z', z))
 *   B_n(z) = end(z)                        B_i(z') = log sum_z exp(step_{i+1}(z', z) +
 *                                          node_{i+1}(z) + B_{i+1}(z))
 *
 *   log Z = log sum_z exp(A_n(z) + B_n(z))
 *
 * Nothing can over- or underflow here, so the fast kernels fall back to this, and the tests compare
 * them with it. It is slow: one exponential for every step at every position.
 */
#include "lattice/lattice_internal.h"

/* The transitions into a state at a position, but the first. */
struct arrivals {
    struct tr_arrivals of;
    const float *edge; // edge[label(from) * width] is added; NULL where there are no edge scores
};

static struct arrivals arrivals_at(struct tr_lattice *lattice, const struct tr_steps *steps,
                                   size_t position, uint32_t z)
{
    const float *edges = tr_edges_at(lattice, position);
    return (struct arrivals){lattice->kind->arrivals(lattice, steps, z),
                             edges ? edges + lattice->graph->label[z] : NULL};
}

struct tr_arrivals tr_listed_arrivals(struct tr_lattice *lattice, const struct tr_steps *steps,
                                      uint32_t to)
{
    const struct tr_graph *graph = lattice->graph;
    uint32_t begin = graph->in_begin[to];
    return (struct tr_arrivals){graph->from + begin, steps->score.step + begin,
                                steps->residual.step ? steps->residual.step + begin : NULL,
                                tr_steps_in_end(graph, to) - begin};
}

static double arrival_score(const struct tr_graph *graph, const struct arrivals *arrivals, size_t k)
{
    double score = tr_exact(arrivals->of.score, arrivals->of.residual, k);
    return arrivals->edge
               ? score + (double)arrivals->edge[graph->label[arrivals->of.from[k]] * graph->width]
               : score;
}

/* ---- forward --------------------------------------------------------------------------------- */

static void start_row(const struct tr_lattice *lattice, const struct tr_steps *steps, double *row)
{
    const struct tr_graph *graph = lattice->graph;
    for (uint32_t z = 0; z < graph->states; z++) {
        row[z] = -INFINITY;
    }
    for (uint32_t c = 0; c < graph->labels; c++) {
        uint32_t z = steps->start_state[c];
        if (z != TR_NO_STATE) {
            row[z] = tr_exact(steps->score.start, steps->residual.start, c) +
                     tr_state_score(lattice, 0, z);
        }
    }
}

/* max_k before[from_k] + score_k, and the first k that reaches it */
static double largest_arrival(const struct tr_graph *graph, const struct arrivals *arrivals,
                              const double *before, size_t *ret_place)
{
    double largest = -INFINITY;
    *ret_place = 0;
    for (size_t k = 0; k < arrivals->of.count; k++) {
        double score = before[arrivals->of.from[k]] + arrival_score(graph, arrivals, k);
        if (score > largest || isnan(score)) {
            largest = score;
            *ret_place = k;
        }
    }
    return largest;
}

/* log sum_k exp(before[from_k] + score_k) */
static double log_sum_arrivals(const struct tr_graph *graph, const struct arrivals *arrivals,
                               const double *before)
{
    size_t place;
    double largest = largest_arrival(graph, arrivals, before, &place), sum = 0;
    if (!isfinite(largest)) {
        return largest;
    }
    for (size_t k = 0; k < arrivals->of.count; k++) {
        sum += tr_exp_below(before[arrivals->of.from[k]] + arrival_score(graph, arrivals, k) -
                            largest);
    }
    return largest + log(sum);
}

static void forward(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    const struct tr_graph *graph = lattice->graph;
    size_t states = graph->states;
    start_row(lattice, steps, lattice->log_space.alpha.at);
    for (size_t i = 1; i < lattice->length && !tr_interrupted(lattice->interruption); i++) {
        const double *before = lattice->log_space.alpha.at + (i - 1) * states;
        for (uint32_t z = 0; z < states; z++) {
            double here = tr_state_score(lattice, i, z),
                   *alpha = lattice->log_space.alpha.at + i * states;
            alpha[z] = here;
            if (here != -INFINITY) { // most labels are ruled out where there is a tag dictionary
                struct arrivals arrivals = arrivals_at(lattice, steps, i, z);
                alpha[z] += log_sum_arrivals(graph, &arrivals, before);
            }
        }
    }
}

trellis_status tr_reference_forward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                    trellis_error *error)
{
    if (!tr_doubles_room(&lattice->log_space.alpha, lattice->length, lattice->graph->states)) {
        return tr_fail_memory(error);
    }
    forward(lattice, steps);
    return TRELLIS_OK;
}

/* log P(z) = A_n(z) + end(z) - log Z */
bool tr_reference_last_states(const struct tr_lattice *lattice, const struct tr_steps *steps,
                              double *log_p)
{
    size_t states = lattice->graph->states;
    const double *alpha = lattice->log_space.alpha.at + (lattice->length - 1) * states;
    double largest = -INFINITY, sum = 0;
    for (size_t z = 0; z < states; z++) {
        log_p[z] = alpha[z] + tr_exact(steps->score.end, steps->residual.end, z);
        largest = log_p[z] > largest || isnan(log_p[z]) ? log_p[z] : largest;
    }
    for (size_t z = 0; z < states; z++) {
        sum += tr_exp_below(log_p[z] - largest);
    }
    for (size_t z = 0; z < states; z++) {
        log_p[z] -= largest + log(sum);
    }
    return isfinite(largest);
}

/* log P(z' | z) = A_{i-1}(z') + step_i(z', z) - (A_i(z) - node_i(z)): the sum that A_i has in it */
size_t tr_reference_states_before(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  size_t i, uint32_t z, const uint32_t **ret_from, double *log_p)
{
    const struct tr_graph *graph = lattice->graph;
    const double *before = lattice->log_space.alpha.at + (i - 1) * graph->states;
    double log_sum = before[graph->states + z] - tr_state_score(lattice, i, z);
    struct arrivals arrivals = arrivals_at(lattice, steps, i, z);
    for (size_t k = 0; k < arrivals.of.count; k++) {
        log_p[k] = before[arrivals.of.from[k]] + arrival_score(graph, &arrivals, k) - log_sum;
    }
    *ret_from = arrivals.of.from;
    return arrivals.of.count;
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Steps are listed by the state they lead to, so a row takes two passes over all of them: first the
 * largest term of each z', then the sums relative to it. largest is scratch [S]. States that no
 * path from the start reaches are skipped and get minus infinity: with a tag dictionary, nearly
 * all. */
static void backward_row(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                         double *beta, double *largest)
{
    const struct tr_graph *graph = lattice->graph;
    const double *after = beta + graph->states,
                 *alpha = lattice->log_space.alpha.at + i * graph->states;
    for (uint32_t z = 0; z < graph->states; z++) {
        beta[z] = 0;
        largest[z] = -INFINITY;
    }
    for (int summing = 0; summing < 2; summing++) {
        for (uint32_t z = 0; z < graph->states; z++) {
            double here = after[z] + tr_state_score(lattice, i + 1, z);
            if (here == -INFINITY || alpha[graph->states + z] == -INFINITY) {
                continue;
            }
            struct arrivals arrivals = arrivals_at(lattice, steps, i + 1, z);
            for (size_t k = 0; k < arrivals.of.count; k++) {
                uint32_t from = arrivals.of.from[k];
                if (alpha[from] == -INFINITY) {
                    continue;
                }
                double score = here + arrival_score(graph, &arrivals, k);
                if (summing && isfinite(largest[from])) {
                    beta[from] += tr_exp_below(score - largest[from]);
                } else if (!summing && score > largest[from]) {
                    largest[from] = score;
                }
            }
        }
    }
    for (uint32_t z = 0; z < graph->states; z++) {
        beta[z] = isfinite(largest[z]) ? largest[z] + log(beta[z]) : largest[z];
    }
}

static void backward(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    size_t states = lattice->graph->states;
    double *beta = lattice->log_space.beta.at;
    for (uint32_t z = 0; z < states; z++) {
        beta[(lattice->length - 1) * states + z] = tr_exact(steps->score.end, steps->residual.end,
                                                            z);
    }
    for (size_t i = lattice->length - 1; i-- > 0 && !tr_interrupted(lattice->interruption);) {
        backward_row(lattice, steps, i, beta + i * states, lattice->scratch.double_row);
    }
}

/* ---- what they give -------------------------------------------------------------------------- */

static double log_z(const struct tr_lattice *lattice)
{
    size_t states = lattice->graph->states, last = (lattice->length - 1) * states;
    double largest = -INFINITY, sum = 0;
    for (size_t z = 0; z < states; z++) {
        double score = lattice->log_space.alpha.at[last + z] + lattice->log_space.beta.at[last + z];
        largest = score > largest || isnan(score) ? score : largest;
    }
    if (!isfinite(largest)) {
        return largest;
    }
    for (size_t z = 0; z < states; z++) {
        sum += tr_exp_below(lattice->log_space.alpha.at[last + z] +
                            lattice->log_space.beta.at[last + z] - largest);
    }
    return largest + log(sum);
}

/* P(label c at i) = sum over z with label c of exp(A_i(z) + B_i(z) - log Z) */
static void node_marginals(struct tr_lattice *lattice)
{
    const struct tr_graph *graph = lattice->graph;
    for (size_t i = 0; i < lattice->length; i++) {
        float *marginal = lattice->marginal.node.at + i * graph->width;
        const double *alpha = lattice->log_space.alpha.at + i * graph->states;
        const double *beta = lattice->log_space.beta.at + i * graph->states;
        for (uint32_t c = 0; c < graph->width; c++) {
            marginal[c] = 0;
        }
        for (uint32_t z = 0; z < graph->states; z++) {
            if (alpha[z] != -INFINITY) {
                marginal[graph->label[z]] += (float)exp(alpha[z] + beta[z] - lattice->log_z);
            }
        }
    }
}

trellis_status tr_reference_forward_backward(struct tr_lattice *lattice,
                                             const struct tr_steps *steps, trellis_error *error)
{
    size_t states = lattice->graph->states;
    if (!tr_doubles_room(&lattice->log_space.alpha, lattice->length, states) ||
        !tr_doubles_room(&lattice->log_space.beta, lattice->length, states) ||
        !tr_floats_room(&lattice->marginal.node, lattice->length, lattice->graph->width)) {
        return tr_fail_memory(error);
    }
    forward(lattice, steps);
    backward(lattice, steps);
    if (tr_interrupted(lattice->interruption)) {
        return tr_fail(error, TRELLIS_INTERRUPTED, "interrupted");
    }
    lattice->log_z = log_z(lattice);
    if (!isfinite(lattice->log_z)) {
        return lattice->log_z < 0
                   ? tr_fail(error, TRELLIS_DATA, "no sequence of labels is allowed")
                   : tr_fail(error, TRELLIS_DATA, "a score is not a number or not finite");
    }
    node_marginals(lattice);
    return TRELLIS_OK;
}

/* Calls visit for every step that can be taken to position i, with P(z', z at i - 1, i). `step` is
 * TR_NO_STEP for one that is not listed. */
typedef void (*visitor)(struct tr_lattice *lattice, uint32_t step, uint32_t from, uint32_t to,
                        double probability, void *user);

static void visit_steps(struct tr_lattice *lattice, const struct tr_steps *steps, size_t i,
                        visitor visit, void *user)
{
    const struct tr_graph *graph = lattice->graph;
    const double *before = lattice->log_space.alpha.at + (i - 1) * graph->states;
    for (uint32_t z = 0; z < graph->states; z++) {
        struct arrivals arrivals = arrivals_at(lattice, steps, i, z);
        uint32_t listed = graph->in_begin[z], end = tr_steps_in_end(graph, z);
        double here = tr_state_score(lattice, i, z) +
                      lattice->log_space.beta.at[i * graph->states + z] - lattice->log_z;
        for (size_t k = 0; k < arrivals.of.count; k++) {
            uint32_t from = arrivals.of.from[k];
            double x = before[from] + arrival_score(graph, &arrivals, k) + here;
            bool is_listed = listed < end && graph->from[listed] == from;
            visit(lattice, is_listed ? listed++ : TR_NO_STEP, from, z, exp(x), user);
        }
    }
}

static void count_step(struct tr_lattice *lattice, uint32_t step, uint32_t from, uint32_t to,
                       double probability, void *user)
{
    (void)from, (void)to;
    if (step != TR_NO_STEP) {
        lattice->counts.step[step] += *(const double *)user * probability;
    }
}

void tr_reference_collect(struct tr_lattice *lattice, const struct tr_steps *steps, double scale)
{
    for (size_t i = 1; i < lattice->length && !tr_interrupted(lattice->interruption); i++) {
        visit_steps(lattice, steps, i, count_step, &scale);
    }
    size_t states = lattice->graph->states, last = (lattice->length - 1) * states;
    for (size_t z = 0; z < states; z++) {
        double x = lattice->log_space.alpha.at[last + z] + lattice->log_space.beta.at[last + z];
        lattice->counts.end[z] += scale * exp(x - lattice->log_z);
    }
}

static void add_edge(struct tr_lattice *lattice, uint32_t step, uint32_t from, uint32_t to,
                     double probability, void *user)
{
    const struct tr_graph *graph = lattice->graph;
    (void)step;
    ((float *)user)[graph->label[from] * graph->width + graph->label[to]] += (float)probability;
}

void tr_reference_edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 float *marginals)
{
    size_t size = (size_t)lattice->graph->labels * lattice->graph->width;
    for (size_t i = 1; i < lattice->length; i++) {
        visit_steps(lattice, steps, i, add_edge, marginals + i * size);
    }
}

/* ---- the best path --------------------------------------------------------------------------- */

trellis_status tr_reference_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                    uint16_t *labels, trellis_error *error)
{
    const struct tr_graph *graph = lattice->graph;
    size_t states = graph->states, n = lattice->length, place;
    if (!tr_doubles_room(&lattice->log_space.alpha, n, states)) {
        return tr_fail_memory(error);
    }
    double *delta = lattice->log_space.alpha.at;
    start_row(lattice, steps, delta);
    for (size_t i = 1; i < n; i++) {
        for (uint32_t z = 0; z < states; z++) {
            struct arrivals arrivals = arrivals_at(lattice, steps, i, z);
            delta[i * states + z] = largest_arrival(graph, &arrivals, delta + (i - 1) * states,
                                                    &place) +
                                    tr_state_score(lattice, i, z);
        }
    }
    uint32_t best = 0;
    for (uint32_t z = 0; z < states; z++) {
        double *score = &delta[(n - 1) * states + z];
        *score += tr_exact(steps->score.end, steps->residual.end, z);
        best = *score > delta[(n - 1) * states + best] ? z : best;
    }
    for (size_t i = n; i-- > 0;) {
        labels[i] = graph->label[best];
        if (i > 0) {
            struct arrivals arrivals = arrivals_at(lattice, steps, i, best);
            largest_arrival(graph, &arrivals, delta + (i - 1) * states, &place);
            best = arrivals.of.count ? arrivals.of.from[place] : 0;
        }
    }
    return TRELLIS_OK;
}
