/* em.c - hidden Markov models without labels, by expectation-maximisation (Baum and Welch).
 *
 *     E-step   counts_k = sum_s weight_s E[Phi_k | X_s; w]
 *     M-step   w = the logarithms of the probabilities that the counts give, by hmm.c
 *
 * where the expectation is over all state sequences that agree with what is known of the labels and
 * with the tag dictionary. Hard EM (-a viterbi) takes the counts of the one best sequence instead.
 * What neither lets fall is
 *
 *     F(w) = sum_s weight_s log P(X_s; w)  +  alpha sum log theta      theta: all probabilities
 *
 * with log P(X_s, Z_s; w) of the best path in the place of log P(X_s; w) for hard EM: counts +
 * alpha is what maximises it where theta has a Dirichlet prior with all parameters 1 + alpha.
 */
#include "train/em.h"

#include <math.h>

#include "graph/path.h"
#include "train/hmm.h"
#include "train/hmm_gaussian.h"

/* ---- the E-step ------------------------------------------------------------------------------ */

static void count_path(const struct tr_em *em, struct tr_pass_worker *worker, size_t s,
                       const uint16_t *path, float weight)
{
    const struct tr_training *t = em->training;
    const struct tr_rows *rows = t->data.vocabulary.node.rows;
    struct tr_tokens tokens = tr_training_tokens(em->data, false, s);
    struct tr_path_walk walk = tr_path_walk(t->layout.graph, path, tokens.n);
    while (tr_path_next(&walk)) {
        for (size_t k = 0; k < walk.count; k++) {
            worker->floats[t->layout.step_begin + walk.feature[k]] += weight;
        }
    }
    for (size_t i = 0; i < tokens.n; i++) {
        for (uint32_t k = tokens.begin[i]; k < tokens.begin[i + 1]; k++) {
            worker->floats[tr_rows_find(rows, tokens.attribute[k], path[i])] += weight;
        }
    }
}

static const double *reals_of(const struct tr_dataset *data, size_t s)
{
    return data->real.at + data->sequence.at[s] * data->reals;
}

static trellis_status visit_best_path(struct tr_em *em, struct tr_pass_worker *worker, size_t s,
                                      double weight, double *ret_value, trellis_error *error)
{
    size_t n = em->data->sequence.at[s + 1] - em->data->sequence.at[s];
    double score;
    if (!tr_reserve(&worker->path, n)) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_lattice_viterbi(worker->lattice, tr_pass_steps(em->pass),
                                               worker->path.at, &score, error);
    if (!status) {
        *ret_value = score;
        if (em->counting) {
            count_path(em, worker, s, worker->path.at, (float)weight);
        }
        if (em->counting && em->training->gaussian) {
            tr_hmm_gaussian_count(em->training->gaussian, reals_of(em->data, s), n, worker->path.at,
                                  weight, worker->doubles);
        }
    }
    return status;
}

static trellis_status visit_all_paths(struct tr_em *em, struct tr_pass_worker *worker, size_t s,
                                      double weight, double *ret_value, trellis_error *error)
{
    size_t n = em->data->sequence.at[s + 1] - em->data->sequence.at[s];
    double log_z;
    trellis_status status = tr_lattice_forward_backward(worker->lattice, tr_pass_steps(em->pass),
                                                        &log_z, error);
    if (!status) {
        *ret_value = log_z;
        if (em->counting && em->training->gaussian) {
            tr_hmm_gaussian_expect(em->training->gaussian, reals_of(em->data, s), n,
                                   tr_lattice_node_marginals(worker->lattice),
                                   em->training->layout.graph->width, weight, worker->doubles);
        }
        if (em->counting) {
            status = tr_pass_collect(em->pass, worker, em->data, s, weight, NULL, error);
        }
    }
    return status;
}

static trellis_status visit(void *user, struct tr_pass_worker *worker, size_t s, double weight,
                            double *ret_value, trellis_error *error)
{
    struct tr_em *em = user;
    trellis_status status = tr_training_scores(em->training, em->data, s, &em->now, worker->lattice,
                                               error);
    if (!status) {
        status = tr_constrain_to_partial(em->data, s, worker->lattice, error);
    }
    if (!status) {
        status = (em->hard ? visit_best_path : visit_all_paths)(em, worker, s, weight, ret_value,
                                                                error);
    }
    return status == TRELLIS_DATA
               ? tr_fail(error, TRELLIS_DATA,
                         "sequence %zu has probability 0 under every sequence of "
                         "states; --alpha above 0 prevents that",
                         s + 1)
               : status;
}

static void gather(void *user, const struct tr_pass_worker *worker)
{
    struct tr_em *em = user;
    for (size_t j = 0; em->counting && j < em->training->layout.size; j++) {
        em->counts[j] += tr_on_grid((double)worker->floats[j], em->training->grid);
    }
    for (size_t j = 0; em->counting && j < em->moment_count; j++) {
        em->moments[j] += worker->doubles[j];
    }
}

trellis_status tr_em_pass(struct tr_em *em, const struct tr_dataset *data, bool counting,
                          double *ret_value, trellis_error *error)
{
    struct tr_training *t = em->training;
    struct tr_pass_plan plan = {.visit = visit,
                                .gather = gather,
                                .user = em,
                                .sums = em->counts,
                                .sum_count = counting ? t->layout.size : 0,
                                .whole = t->gaussian, // moments are on no grid
                                .in_turns = t->gaussian};
    em->data = data;
    em->counting = counting;
    tr_steps_set(tr_pass_steps(em->pass), em->now.weights + t->layout.step_begin);
    if (counting) {
        memset(em->counts, 0, t->layout.size * sizeof *em->counts);
        memset(em->moments, 0, em->moment_count * sizeof *em->moments);
    }
    return tr_pass_run(em->pass, data, &plan, ret_value, error);
}

/* The weight of a label alone, which is part of the probability of each word that it emits. */
static void add_labels_alone(const struct tr_em *em, double *alone)
{
    const struct tr_training *t = em->training;
    for (size_t i = 0; i < t->layout.plan.gram_count; i++) {
        if (t->layout.grams[i].length == 1) {
            alone[t->layout.grams[i].label[0]] = em->w[t->layout.step_begin + i];
        }
    }
}

/* sum log theta: of all steps, all words in all states, and one unknown word in each. */
static trellis_status log_prior(const struct tr_em *em, double *ret_sum, trellis_error *error)
{
    const struct tr_training *t = em->training;
    const struct tr_rows *rows = t->data.vocabulary.node.rows;
    *ret_sum = 0;
    if (em->alpha == 0) {
        return TRELLIS_OK;
    }
    double *alone = tr_alloc(t->layout.plan.labels, sizeof *alone), sum = 0;
    if (!alone) {
        return tr_fail_memory(error);
    }
    add_labels_alone(em, alone);
    for (size_t i = 0; i < t->layout.plan.gram_count; i++) {
        sum += em->w[t->layout.step_begin + i];
    }
    for (uint32_t a = 0; a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            uint32_t z = rows->outcome[i];
            sum += em->w[tr_rows_find(rows, a, z)] + alone[z];
        }
    }
    free(alone);
    *ret_sum = em->alpha * sum;
    return TRELLIS_OK;
}

trellis_status tr_em_expect(struct tr_em *em, double *ret_likelihood, double *ret_value,
                            trellis_error *error)
{
    double prior;
    trellis_status status = tr_em_pass(em, &em->training->data.train, true, ret_likelihood, error);
    if (!status) {
        status = log_prior(em, &prior, error);
    }
    if (!status) {
        *ret_value = *ret_likelihood + prior;
    }
    return status;
}

/* ---- the M-step ------------------------------------------------------------------------------ */

trellis_status tr_em_estimate(struct tr_em *em, double alpha, trellis_error *error)
{
    return tr_hmm_estimate(em->training, em->counts, alpha, em->w, &em->now, error);
}

trellis_status tr_em_maximise(struct tr_em *em, trellis_error *error)
{
    if (em->training->gaussian) {
        tr_hmm_gaussian_estimate(em->training->gaussian, em->moments, em->now.emissions);
    }
    return tr_em_estimate(em, em->alpha, error);
}

/* ---- create and destroy ---------------------------------------------------------------------- */

double tr_tokens_by_weight(const struct tr_dataset *data)
{
    double tokens = 0;
    for (size_t s = 0; s < data->sequences; s++) {
        tokens += tr_sequence_weight(data, s) * (double)tr_sequence_length(data, s);
    }
    return fmax(tokens, 1e-9);
}

trellis_status tr_em_create(struct tr_training *t, bool hard, struct tr_em **ret_em,
                            trellis_error *error)
{
    struct tr_em *em = tr_alloc(1, sizeof *em);
    *ret_em = em;
    if (!em) {
        return tr_fail_memory(error);
    }
    em->training = t;
    em->hard = hard;
    em->weighted_tokens = tr_tokens_by_weight(&t->data.train);
    em->alpha = t->settings.alpha;
    em->counts = tr_alloc(t->layout.size, sizeof *em->counts);
    em->w = tr_alloc(t->layout.size, sizeof *em->w);
    em->moment_count = t->gaussian ? t->gaussian->moment_count : 0;
    em->moments = tr_alloc(em->moment_count, sizeof *em->moments);
    trellis_status status = em->counts && em->w && em->moments
                                ? tr_iterate_create(t, &em->now, error)
                                : tr_fail_memory(error);
    if (!status) {
        struct tr_pass_room room = {
            .lattice = true, .floats = t->layout.size, .doubles = em->moment_count};
        status = tr_pass_create(t, room, &em->pass, error);
    }
    if (status) {
        tr_em_destroy(em);
        *ret_em = NULL;
    }
    return status;
}

void tr_em_destroy(struct tr_em *em)
{
    if (em) {
        tr_pass_destroy(em->pass);
        free(em->counts);
        free(em->w);
        free(em->moments);
        tr_iterate_free(&em->now);
        free(em);
    }
}
