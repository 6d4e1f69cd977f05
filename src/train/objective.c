/* objective.c - the likelihood of a CRF and its gradient (Wu 2013, equations 36 and 42), and of an MEMM.
 *
 *     df/dw_k = sum_s weight_s (E[Phi_k | X_s] - Phi_k(X_s, Z_s)) + 2 l2 w_k
 *
 * The expectation is over all label sequences for a CRF. For an MEMM it is a sum over positions, each an
 * expectation over the labels that may follow the gold ones: the same code adds up either.
 *
 * Where labels are not known (--partial), the probability of all label sequences C_s that agree with
 * what is known takes the place of that of Z_s (Tsuboi et al. 2008):
 *
 *     f(w)    = sum_s weight_s (log Z(X_s) - log Z(X_s, C_s)) + l2 |w|^2
 *     df/dw_k = sum_s weight_s (E[Phi_k | X_s] - E[Phi_k | X_s, C_s]) + 2 l2 w_k
 *
 * which is the same where C_s has but one member.
 *
 * With a pruned graph P is that of the level of the model that Z_s survives to (src/lattice/pruned.c).
 *
 * With a loss (softmax-margin; Gimpel and Smith 2010) log Z and E[] are taken with L(Z_s, Z) added to the
 * score of every Z, which is 0 for Z_s.
 */
#include "train/objective.h"

#include <math.h>

#include "graph/path.h"
#include "train/pass.h"

struct tr_likelihood {
    struct tr_training *training;
    double l2;
    size_t node, edge, size; // features: node pairs, edge pairs, all
    float *weights;          // [training->size]
    struct tr_pass *pass;
    struct tr_steps *steps; // of the pass
    double *observed_steps; // [step_size] weighted counts in the gold labels
    double *gradient;       // where the blocks are added up
};

/* A sequence with open labels: the lattice holds log Z(X), and is then narrowed to log Z(X, C). */
static trellis_status add_partial(struct tr_likelihood *l, struct tr_pass_worker *worker, size_t s,
                                  double weight, double log_z, double *value, trellis_error *error)
{
    double log_z_known;
    trellis_status status = tr_pass_collect(l->pass, worker, &l->training->data, s, weight, NULL,
                                            error);
    if (!status) {
        status = tr_constrain_to_partial(&l->training->data, s, worker->lattice, error);
    }
    if (!status) {
        status = tr_lattice_forward_backward(worker->lattice, l->steps, &log_z_known, error);
    }
    if (status) {
        return status;
    }
    *value += weight * (log_z - log_z_known);
    return tr_pass_collect(l->pass, worker, &l->training->data, s, -weight, NULL, error);
}

trellis_status tr_likelihood_of(const struct tr_training *training, size_t sequence,
                                const struct tr_steps *steps, struct tr_lattice *lattice,
                                double *ret_loss, trellis_error *error)
{
    const struct tr_dataset *data = &training->data;
    const uint16_t *gold = data->gold.at + data->sequence.at[sequence];
    tr_training_add_loss(training, sequence, lattice);
    if (training->graph->pruned) {
        return tr_lattice_pruned_likelihood(lattice, steps, gold, ret_loss, error);
    }
    if (training->local) {
        return tr_lattice_local_likelihood(lattice, steps, gold, ret_loss, error);
    }
    trellis_status status = tr_lattice_forward_backward(lattice, steps, ret_loss, error);
    if (!status && !tr_dataset_is_partial(data, sequence)) {
        *ret_loss -= tr_lattice_path_score(lattice, steps, gold);
    }
    return status;
}

static trellis_status add_sequence(void *user, struct tr_pass_worker *worker, size_t s,
                                   double *value, trellis_error *error)
{
    struct tr_likelihood *l = user;
    struct tr_training *t = l->training;
    size_t first = t->data.sequence.at[s], n = t->data.sequence.at[s + 1] - first;
    double weight = tr_sequence_weight(&t->data, s), loss;
    if (n == 0 || weight == 0) {
        return TRELLIS_OK;
    }
    trellis_status status = tr_training_scores(t, &t->data, s, l->weights, worker->lattice, error);
    if (!status) {
        status = tr_likelihood_of(t, s, l->steps, worker->lattice, &loss, error);
    }
    if (status) {
        return status;
    }
    if (tr_dataset_is_partial(&t->data, s)) {
        return add_partial(l, worker, s, weight, loss, value, error);
    }
    *value += weight * loss;
    return tr_pass_collect(l->pass, worker, &t->data, s, weight, t->data.gold.at + first, error);
}

/* w to where scores look for it; with a gradient also
 *
 *     gradient = 2 l2 w     and     l2 |w|^2
 */
struct spreading {
    const struct tr_rows *rows;
    const double *w;
    float *weights;
    double *gradient; // or NULL
    double l2;
};

static double penalise(const double *w, double l2, double *gradient, size_t begin, size_t end)
{
    double sum = 0;
    for (size_t k = begin; k < end; k++) {
        sum += w[k] * w[k];
        gradient[k] = 2 * l2 * w[k];
    }
    return l2 * sum;
}

static double spread_piece(void *user, size_t begin, size_t end)
{
    enum { STEP = 64 }; // attributes whose weights are still at hand for the penalty
    const struct spreading *x = user;
    double sum = 0;
    for (size_t a = begin; a < end; a += STEP) {
        size_t last = a + STEP < end ? a + STEP : end;
        tr_rows_spread(x->rows, x->w, (uint32_t)a, (uint32_t)last, x->weights);
        if (x->gradient) {
            sum += penalise(x->w, x->l2, x->gradient, x->rows->begin[a], x->rows->begin[last]);
        }
    }
    return sum;
}

static double spread(const struct tr_likelihood *l, const double *w, float *weights,
                     double *gradient)
{
    const struct tr_training *t = l->training;
    size_t steps = l->node + l->edge;
    struct spreading node = {t->vocabulary.node.rows, w, weights, gradient, l->l2};
    struct spreading edge = {t->vocabulary.edge.rows, w + l->node, weights + t->node_size,
                             gradient ? gradient + l->node : NULL, l->l2};
    double sum = tr_pool_sum(t->pool, node.rows->attributes, spread_piece, &node) +
                 tr_pool_sum(t->pool, edge.rows->attributes, spread_piece, &edge);
    for (size_t j = 0; j < t->step_size; j++) {
        weights[t->node_size + t->edge_size + j] = (float)w[steps + j];
    }
    return gradient ? sum + penalise(w, l->l2, gradient, steps, l->size) : 0;
}

void tr_likelihood_spread(const struct tr_likelihood *l, const double *w, float *weights)
{
    spread(l, w, weights, NULL);
}

void tr_likelihood_gather(const struct tr_likelihood *l, const float *weights, double *w)
{
    const struct tr_training *t = l->training;
    tr_rows_gather(t->vocabulary.node.rows, weights, w);
    tr_rows_gather(t->vocabulary.edge.rows, weights + t->node_size, w + l->node);
    for (size_t j = 0; j < t->step_size; j++) {
        w[l->node + l->edge + j] += (double)weights[t->node_size + t->edge_size + j];
    }
}

static void gather_block(void *user, const struct tr_pass_worker *worker)
{
    struct tr_likelihood *l = user;
    const struct tr_training *t = l->training;
    float *steps = worker->sums + t->node_size + t->edge_size;
    tr_rows_take_marked(t->vocabulary.node.rows, worker->node_marks, worker->sums, l->gradient);
    tr_rows_take_marked(t->vocabulary.edge.rows, worker->edge_marks, worker->sums + t->node_size,
                        l->gradient + l->node);
    for (size_t j = 0; j < t->step_size; j++) {
        l->gradient[l->node + l->edge + j] += (double)steps[j];
        steps[j] = 0;
    }
}

trellis_status tr_likelihood_evaluate(void *user, const double *w, double *gradient,
                                      double *ret_value, trellis_error *error)
{
    struct tr_likelihood *l = user;
    struct tr_training *t = l->training;
    double penalties = spread(l, w, l->weights, gradient), value;
    tr_steps_set(l->steps, l->weights + t->node_size + t->edge_size);
    l->gradient = gradient;
    struct tr_pass_plan plan = {add_sequence, gather_block, l, .thorough = true};
    trellis_error failure;
    trellis_status status = tr_pass_run(l->pass, &t->data, &plan, &value, &failure);
    if (status == TRELLIS_DATA) { // scores beyond all numbers: w went too far
        *ret_value = INFINITY;
        return TRELLIS_OK;
    }
    if (status) {
        return tr_fail(error, status, "%s", failure.message);
    }
    for (size_t j = 0; j < t->step_size; j++) {
        gradient[l->node + l->edge + j] -= l->observed_steps[j];
    }
    *ret_value = value + penalties;
    return TRELLIS_OK;
}

/* How often each step feature is fired by the gold labels, where they are known. In a pruned graph that
 * depends on the level that they survive to, so there it is counted with what is expected. */
static void count_steps(struct tr_likelihood *l)
{
    struct tr_training *t = l->training;
    const struct tr_dataset *data = &t->data;
    for (size_t s = 0; !t->graph->pruned && s < data->sequences; s++) {
        size_t first = data->sequence.at[s];
        size_t n = tr_dataset_is_partial(data, s) ? 0 : data->sequence.at[s + 1] - first;
        struct tr_path_walk walk = tr_path_walk(t->graph, data->gold.at + first, n);
        while (tr_path_next(&walk)) {
            for (size_t k = 0; k < walk.count; k++) {
                l->observed_steps[walk.feature[k]] += tr_sequence_weight(data, s);
            }
        }
    }
}

trellis_status tr_likelihood_create(struct tr_training *t, double l2,
                                    struct tr_likelihood **ret_likelihood, trellis_error *error)
{
    struct tr_likelihood *l = tr_alloc(1, sizeof *l);
    *ret_likelihood = l;
    if (!l) {
        return tr_fail_memory(error);
    }
    l->training = t;
    l->l2 = l2;
    l->node = tr_rows_pairs(t->vocabulary.node.rows);
    l->edge = tr_rows_pairs(t->vocabulary.edge.rows);
    l->size = l->node + l->edge + t->step_size;
    l->weights = tr_alloc_aligned(t->size, sizeof *l->weights);
    l->observed_steps = tr_alloc(t->step_size, sizeof *l->observed_steps);
    trellis_status status = l->weights && l->observed_steps ? tr_pass_create(t, &l->pass, error)
                                                            : tr_fail_memory(error);
    if (status) {
        tr_likelihood_destroy(l);
        *ret_likelihood = NULL;
        return status;
    }
    l->steps = tr_pass_steps(l->pass);
    count_steps(l);
    return TRELLIS_OK;
}

void tr_likelihood_destroy(struct tr_likelihood *l)
{
    if (!l) {
        return;
    }
    tr_pass_destroy(l->pass);
    free(l->observed_steps);
    free(l->weights);
    free(l);
}

float *tr_likelihood_weights(struct tr_likelihood *l)
{
    return l->weights;
}

size_t tr_likelihood_size(const struct tr_likelihood *l)
{
    return l->size;
}

/* Where a pair stands among the features of its rows, SIZE_MAX where it is none. */
static size_t feature_of(const struct tr_rows *rows, uint32_t attribute, uint32_t outcome)
{
    for (uint64_t i = rows->begin[attribute]; i < rows->begin[attribute + 1]; i++) {
        if (rows->outcome[i] == outcome) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* An attribute that is seen with weight n, a share p of it with the outcome, is taken to have the
 * variance n p (1 - p) there. The square root of that, half-way between all alike and the estimate
 * itself, took the fewest iterations in practice (docs/results.md). */
static trellis_status curvature_of(const struct tr_dataset *data, bool edge,
                                   const struct tr_rows *rows, size_t width, double *curvature,
                                   trellis_error *error)
{
    const struct tr_occurrences *occurrences = edge ? &data->edge : &data->node;
    double *seen = tr_alloc(rows->attributes, sizeof *seen);
    if (!seen) {
        return tr_fail_memory(error);
    }
    for (size_t t = 0; t < data->tokens; t++) {
        for (uint32_t k = occurrences->begin.at[t]; k < occurrences->begin.at[t + 1]; k++) {
            double value = occurrences->value.size ? (double)occurrences->value.at[k] : 1;
            uint32_t a = occurrences->attribute.at[k], gold = data->gold.at[t];
            size_t i = feature_of(rows, a,
                                  edge ? data->gold.at[t - 1] * (uint32_t)width + gold : gold);
            seen[a] += value * value;
            if (i != SIZE_MAX) {
                curvature[i] += value * value;
            }
        }
    }
    for (uint32_t a = 0; a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            double share = (curvature[i] + 0.5) / (seen[a] + 1);
            curvature[i] = sqrt(seen[a] * share * (1 - share) + 2);
        }
    }
    free(seen);
    return TRELLIS_OK;
}

trellis_status tr_likelihood_curvature(const struct tr_likelihood *l, double *curvature,
                                       trellis_error *error)
{
    const struct tr_training *t = l->training;
    trellis_status status = curvature_of(&t->data, false, t->vocabulary.node.rows, t->graph->width,
                                         curvature, error);
    if (!status) {
        status = curvature_of(&t->data, true, t->vocabulary.edge.rows, t->graph->width,
                              curvature + l->node, error);
    }
    double step = sqrt(2 * (double)t->data.tokens / ((double)t->step_size + 1) + 2); // all alike
    for (size_t j = 0; j < t->step_size; j++) {
        curvature[l->node + l->edge + j] = step;
    }
    return status;
}
