/* em.c - hidden Markov models without labels, by expectation-maximisation (Baum and Welch).
 *
 *     E-step   counts_k = sum_s weight_s E[Phi_k | X_s; w]
 *     M-step   w = the logarithms of the probabilities that the counts give, by hmm.c
 *
 * where the expectation is over all state sequences that agree with what is known of the labels and with the
 * tag dictionary. Hard EM (-a viterbi) takes the counts of the one best sequence instead. What neither lets
 * fall is
 *
 *     F(w) = sum_s weight_s log P(X_s; w)  +  alpha sum log theta      theta: all probabilities
 *
 * with log P(X_s, Z_s; w) of the best path in the place of log P(X_s; w) for hard EM: counts + alpha is what
 * maximises it where theta has a Dirichlet prior with all parameters 1 + alpha.
 *
 * F has many maxima, so where EM begins matters: at the model of --from; at the counts of the sequences whose
 * labels are known, where there are any; else at the expected counts under random weights of the words, which
 * the tag dictionary and what is known of the labels pull to their side. The random start may be tried
 * several times (--restarts).
 */
#include "train/em.h"

#include <math.h>

#include "model/model.h"
#include "train/hmm.h"
#include "train/normals.h"
#include "train/pass.h"
#include "train/states.h"

enum { EPOCHS = 100 }; // unless the user says otherwise

/* Added to the counts that EM begins with, so that what was not seen there can still be learned. */
static const double least_alpha_of_start = 0.1;

struct tr_em {
    struct tr_training *training;
    bool hard, counting; // counting: sums are wanted, not only the likelihood
    double alpha;
    double weighted_tokens; // of the training data
    struct tr_pass *pass;
    const struct tr_dataset *data; // of the pass at hand
    double *counts, *w;            // [training->size]
    double *moments;               // [moment_count] of real-valued columns
    size_t moment_count;
    float *weights; // [training->size] w in single precision

    /* The best of the starts. */
    float *kept;          // [training->size]
    double *kept_normals; // [normals_size] laid out like normals->best
    size_t normals_size;
    double kept_score;
    trellis_progress kept_figures;
    const char *kept_reason; // why it ended there
};

const float *tr_em_weights(const struct tr_em *em)
{
    return em->weights;
}

const double *tr_em_counts(const struct tr_em *em)
{
    return em->counts;
}

/* ---- the E-step ---------------------------------------------------------------------------------- */

static void count_path(const struct tr_em *em, struct tr_pass_worker *worker, size_t s,
                       const uint16_t *path, float weight)
{
    const struct tr_training *t = em->training;
    const struct tr_rows *rows = t->vocabulary.node.rows;
    struct tr_tokens tokens = tr_training_tokens(em->data, false, s);
    uint32_t state = TR_NO_STATE;
    for (size_t i = 0; i <= tokens.n; i++) {
        uint32_t next = i < tokens.n ? tr_graph_next(t->graph, state, path[i]) : TR_NO_STATE;
        const uint32_t *features;
        size_t count = tr_steps_features(tr_pass_steps(em->pass), state, next, &features);
        for (size_t k = 0; k < count; k++) {
            worker->sums[t->node_size + t->edge_size + features[k]] += weight;
        }
        for (uint32_t k = i < tokens.n ? tokens.begin[i] : 0;
             i < tokens.n && k < tokens.begin[i + 1]; k++) {
            worker->sums[tr_rows_find(rows, tokens.attribute[k], path[i])] += weight;
        }
        state = next;
    }
}

static const double *reals_of(const struct tr_dataset *data, size_t s)
{
    return data->real.at + data->sequence.at[s] * data->reals;
}

static trellis_status visit_best_path(struct tr_em *em, struct tr_pass_worker *worker, size_t s,
                                      double weight, double *value, trellis_error *error)
{
    size_t n = em->data->sequence.at[s + 1] - em->data->sequence.at[s];
    double score;
    if (!tr_reserve(&worker->path, n)) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_lattice_viterbi(worker->lattice, tr_pass_steps(em->pass),
                                               worker->path.at, &score, error);
    if (!status) {
        *value += weight * score;
        if (em->counting) {
            count_path(em, worker, s, worker->path.at, (float)weight);
        }
        if (em->counting && em->training->normals) {
            tr_normals_count(em->training->normals, reals_of(em->data, s), n, worker->path.at,
                             weight, worker->moments);
        }
    }
    return status;
}

static trellis_status visit_all_paths(struct tr_em *em, struct tr_pass_worker *worker, size_t s,
                                      double weight, double *value, trellis_error *error)
{
    size_t n = em->data->sequence.at[s + 1] - em->data->sequence.at[s];
    double log_z;
    trellis_status status = tr_lattice_forward_backward(worker->lattice, tr_pass_steps(em->pass),
                                                        &log_z, error);
    if (!status) {
        *value += weight * log_z;
        if (em->counting && em->training->normals) {
            tr_normals_expect(em->training->normals, reals_of(em->data, s), n,
                              tr_lattice_node_marginals(worker->lattice),
                              em->training->graph->width, weight, worker->moments);
        }
        if (em->counting) {
            status = tr_pass_collect(em->pass, worker, em->data, s, weight, NULL, error);
        }
    }
    return status;
}

static trellis_status visit(void *user, struct tr_pass_worker *worker, size_t s, double *value,
                            trellis_error *error)
{
    struct tr_em *em = user;
    double weight = tr_sequence_weight(em->data, s);
    if (em->data->sequence.at[s + 1] == em->data->sequence.at[s] || weight == 0) {
        return TRELLIS_OK;
    }
    trellis_status status = tr_training_scores(em->training, em->data, s, em->weights,
                                               worker->lattice, error);
    if (!status) {
        status = tr_training_reveal(em->data, s, worker->lattice, error);
    }
    if (!status) {
        status = (em->hard ? visit_best_path : visit_all_paths)(em, worker, s, weight, value,
                                                                error);
    }
    return status == TRELLIS_DATA ? tr_fail(error, TRELLIS_DATA,
                                            "sequence %zu has probability 0: no sequence of states "
                                            "can have made it; --alpha above 0 prevents that",
                                            s + 1)
                                  : status;
}

static void gather(void *user, const struct tr_pass_worker *worker)
{
    struct tr_em *em = user;
    for (size_t j = 0; em->counting && j < em->training->size; j++) {
        em->counts[j] += (double)worker->sums[j];
    }
    for (size_t j = 0; em->counting && j < em->moment_count; j++) {
        em->moments[j] += worker->moments[j];
    }
}

static trellis_status run_pass(struct tr_em *em, const struct tr_dataset *data, bool counting,
                               double *ret_value, trellis_error *error)
{
    struct tr_training *t = em->training;
    struct tr_pass_plan plan = {visit, gather, em};
    em->data = data;
    em->counting = counting;
    tr_steps_set(tr_pass_steps(em->pass), em->weights + t->node_size + t->edge_size);
    if (counting) {
        memset(em->counts, 0, t->size * sizeof *em->counts);
        memset(em->moments, 0, em->moment_count * sizeof *em->moments);
    }
    return tr_pass_run(em->pass, data, &plan, ret_value, error);
}

/* The weight of a label alone, which is part of the probability of each word that it emits. */
static void add_labels_alone(const struct tr_em *em, double *alone)
{
    const struct tr_training *t = em->training;
    for (size_t i = 0; i < t->plan.gram_count; i++) {
        if (t->grams[i].length == 1) {
            alone[t->grams[i].label[0]] = em->w[t->node_size + t->edge_size + i];
        }
    }
}

/* sum log theta: of all steps, all words in all states, and one unknown word in each. */
static trellis_status log_prior(const struct tr_em *em, double *ret_sum, trellis_error *error)
{
    const struct tr_training *t = em->training;
    const struct tr_rows *rows = t->vocabulary.node.rows;
    *ret_sum = 0;
    if (em->alpha == 0) {
        return TRELLIS_OK;
    }
    double *alone = tr_alloc(t->plan.labels, sizeof *alone), sum = 0;
    if (!alone) {
        return tr_fail_memory(error);
    }
    add_labels_alone(em, alone);
    for (size_t i = 0; i < t->plan.gram_count; i++) {
        sum += em->w[t->node_size + t->edge_size + i];
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
    trellis_status status = run_pass(em, &em->training->data, true, ret_likelihood, error);
    if (!status) {
        status = log_prior(em, &prior, error);
    }
    if (!status) {
        *ret_value = *ret_likelihood + prior;
    }
    return status;
}

/* ---- the M-step ---------------------------------------------------------------------------------- */

static trellis_status estimate(struct tr_em *em, double alpha, trellis_error *error)
{
    trellis_status status = tr_hmm_estimate(em->training, em->counts, alpha, em->w, error);
    for (size_t j = 0; !status && j < em->training->size; j++) {
        em->weights[j] = (float)em->w[j];
    }
    return status;
}

trellis_status tr_em_maximise(struct tr_em *em, trellis_error *error)
{
    if (em->training->normals) {
        tr_normals_estimate(em->training->normals, em->moments);
    }
    return estimate(em, em->alpha, error);
}

/* ---- where it begins ----------------------------------------------------------------------------- */

static bool has_labelled(const struct tr_dataset *data)
{
    for (size_t s = 0; s < data->sequences; s++) {
        if (data->sequence.at[s] < data->sequence.at[s + 1] && tr_sequence_weight(data, s) > 0 &&
            !tr_dataset_is_partial(data, s)) {
            return true;
        }
    }
    return false;
}

static bool begins_by_chance(const struct tr_em *em)
{
    return !*tr_option_text(em->training->options, "from") && !has_labelled(&em->training->data);
}

/* Real-valued columns are cut into clusters, as if these were the labels. */
static trellis_status begin_with_clusters(struct tr_em *em, trellis_error *error)
{
    struct tr_training *t = em->training;
    struct tr_dataset *data = &t->data, as_read = *data;
    uint16_t *labels = tr_alloc(data->tokens, sizeof *labels);
    if (!labels) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_normals_cluster(t->normals, data, &t->random, labels, error);
    memset(em->counts, 0, t->size * sizeof *em->counts);
    data->gold.at = labels; // while they are counted
    data->open_begin.size = 0;
    if (!status) {
        status = tr_hmm_count(t, em->counts, error);
    }
    if (!status) {
        status = tr_normals_learn(t->normals, data, error);
    }
    *data = as_read;
    free(labels);
    return status ? status : estimate(em, fmax(em->alpha, least_alpha_of_start), error);
}

/* The words are drawn to states by chance: log of an exponential variable, so that the shares of the states
 * in a word are uniform over all shares. All steps are alike. */
static trellis_status begin_by_chance(struct tr_em *em, trellis_error *error)
{
    struct tr_training *t = em->training;
    const struct tr_rows *rows = t->vocabulary.node.rows;
    double likelihood;
    if (t->normals) {
        return begin_with_clusters(em, error);
    }
    memset(em->weights, 0, t->size * sizeof *em->weights);
    for (uint32_t a = 0; a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            double share = -log(1 - tr_random_real(&t->random));
            em->weights[tr_rows_find(rows, a, rows->outcome[i])] = (float)log(share + 1e-6);
        }
    }
    bool hard = em->hard;
    em->hard = false;
    trellis_status status = run_pass(em, &t->data, true, &likelihood, error);
    em->hard = hard;
    return status ? status : estimate(em, em->alpha, error);
}

/* Counts in the proportions of the model's probabilities. What the model does not list has probability 0,
 * or, where its words have weights on top of the weight of a label alone, that of an unknown word. */
static void counts_of_model(struct tr_em *em, const double *alone, bool with_alone)
{
    const struct tr_training *t = em->training;
    const struct tr_rows *rows = t->vocabulary.node.rows;
    double mass = (double)t->data.tokens / t->plan.labels;
    size_t first_step = t->node_size + t->edge_size;
    memset(em->counts, 0, t->size * sizeof *em->counts);
    for (uint32_t a = 0; a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            size_t at = tr_rows_find(rows, a, rows->outcome[i]);
            double unlisted = with_alone ? 0 : -INFINITY;
            double w = isnan(em->weights[at]) ? unlisted : (double)em->weights[at];
            em->counts[at] = mass * exp(w + alone[rows->outcome[i]]);
        }
    }
    for (size_t i = 0; i < t->plan.gram_count; i++) {
        double w = (double)em->weights[first_step + i];
        em->counts[first_step + i] = isnan(w) ? 0 : mass * exp(w);
    }
}

static trellis_status begin_with_model(struct tr_em *em, trellis_error *error)
{
    struct tr_training *t = em->training;
    bool with_alone = false;
    double *alone = tr_alloc(t->plan.labels, sizeof *alone);
    if (!alone) {
        return tr_fail_memory(error);
    }
    for (size_t j = 0; j < t->size; j++) {
        em->weights[j] = NAN;
    }
    trellis_status status = tr_training_warm(t, em->weights, error);
    for (size_t i = 0; !status && i < t->plan.gram_count; i++) {
        float w = em->weights[t->node_size + t->edge_size + i];
        if (t->grams[i].length == 1 && !isnan(w)) {
            alone[t->grams[i].label[0]] = (double)w;
            with_alone = with_alone || w != 0;
        }
    }
    if (!status) {
        counts_of_model(em, alone, with_alone);
        status = estimate(em, fmax(em->alpha, 1e-6), error);
    }
    if (!status && t->normals) {
        status = tr_normals_from(t->normals, t, error);
    }
    free(alone);
    return status;
}

trellis_status tr_em_begin(struct tr_em *em, trellis_error *error)
{
    if (*tr_option_text(em->training->options, "from")) {
        return begin_with_model(em, error);
    }
    if (begins_by_chance(em)) {
        return begin_by_chance(em, error);
    }
    memset(em->counts, 0, em->training->size * sizeof *em->counts);
    trellis_status status = tr_hmm_count(em->training, em->counts, error);
    if (!status && em->training->normals) {
        status = tr_normals_learn(em->training->normals, &em->training->data, error);
    }
    return status ? status : estimate(em, fmax(em->alpha, least_alpha_of_start), error);
}

/* ---- the learner --------------------------------------------------------------------------------- */

static double tokens_by_weight(const struct tr_dataset *data)
{
    double tokens = 0;
    for (size_t s = 0; s < data->sequences; s++) {
        tokens += tr_sequence_weight(data, s) *
                  (double)(data->sequence.at[s + 1] - data->sequence.at[s]);
    }
    return fmax(tokens, 1e-9);
}

trellis_status tr_em_create(struct tr_training *t, struct tr_em **ret_em, trellis_error *error)
{
    struct tr_em *em = tr_alloc(1, sizeof *em);
    *ret_em = em;
    if (!em) {
        return tr_fail_memory(error);
    }
    em->training = t;
    em->hard = strcmp(t->algorithm, "viterbi") == 0;
    em->weighted_tokens = tokens_by_weight(&t->data);
    em->alpha = tr_option_real(t->options, "alpha");
    em->counts = tr_alloc(t->size, sizeof *em->counts);
    em->w = tr_alloc(t->size, sizeof *em->w);
    em->moment_count = t->normals ? t->normals->moment_count : 0;
    em->moments = tr_alloc(em->moment_count, sizeof *em->moments);
    em->weights = tr_alloc_aligned(t->size, sizeof *em->weights);
    trellis_status status = em->counts && em->w && em->weights && em->moments
                                ? tr_pass_create(t, &em->pass, error)
                                : tr_fail_memory(error);
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
        free(em->weights);
        free(em->kept);
        free(em->kept_normals);
        free(em);
    }
}

/* log P of the dev data by token; minus infinity where some of it cannot be. */
static trellis_status dev_likelihood(struct tr_em *em, double *ret_value, trellis_error *error)
{
    const struct tr_dataset *dev = &em->training->dev;
    trellis_error failure;
    bool hard = em->hard;
    em->hard = false;
    trellis_status status = run_pass(em, dev, false, ret_value, &failure);
    em->hard = hard;
    *ret_value = status ? -INFINITY : *ret_value / tokens_by_weight(dev);
    return status && status != TRELLIS_DATA ? tr_fail(error, status, "%s", failure.message)
                                            : TRELLIS_OK;
}

/* What a start has been through. */
struct course {
    uint64_t first, last; // iterations
    TR_ARRAY(double) value;
    const char *reason;
    double seconds;
};

/* Whether F rose by less than --delta of itself over --period iterations. */
static bool has_settled(const struct tr_em *em, const struct course *course)
{
    const trellis_options *options = em->training->options;
    size_t period = (size_t)tr_option_integer(options, "period"), count = course->value.size;
    double delta = tr_option_real(options, "delta");
    if (delta == 0 || count <= period) {
        return false;
    }
    double now = course->value.at[count - 1], before = course->value.at[count - 1 - period];
    return now - before < delta * fabs(now);
}

/* After an E-step: reports, and finds out whether there is a reason to stop. */
static trellis_status end_iteration(struct tr_em *em, struct course *course, double value,
                                    double likelihood, trellis_error *error)
{
    struct tr_training *t = em->training;
    trellis_progress figures = tr_training_figures(t);
    uint64_t most = (uint64_t)tr_option_integer(t->options, "epochs");
    double now = tr_training_seconds(t);
    bool stop = false;
    most = most ? most : EPOCHS;
    figures.iteration = course->first + course->value.size;
    figures.iterations = course->last;
    figures.fraction = 1;
    figures.objective = -value;
    figures.likelihood = likelihood / em->weighted_tokens;
    figures.tokens_per_second = (double)t->data.tokens / (now - course->seconds + 1e-9);
    course->seconds = now;
    if (!tr_push(&course->value, value)) {
        return tr_fail_memory(error);
    }
    trellis_status status = TRELLIS_OK;
    if (t->dev.sequences && tr_states_dev_likelihood(t)) {
        status = dev_likelihood(em, &figures.dev_likelihood, error);
    }
    if (!status) {
        status = tr_training_iteration(t, &figures, em->weights, &stop, error);
    }
    course->reason = stop && t->stopped           ? "it was interrupted"
                     : stop                       ? "the score on --dev does not rise"
                     : has_settled(em, course)    ? "the likelihood hardly rises"
                     : course->value.size >= most ? "the number of iterations is reached"
                                                  : NULL;
    return status;
}

/* EM from one start, until there is a reason to stop. */
static trellis_status climb(struct tr_em *em, struct course *course, trellis_error *error)
{
    double likelihood, value;
    trellis_status status = tr_em_begin(em, error);
    em->training->has_best = false;
    em->training->since_best = 0;
    while (!status) {
        status = tr_em_expect(em, &likelihood, &value, error);
        if (!status) {
            status = end_iteration(em, course, value, likelihood, error);
        }
        if (status || course->reason) {
            break;
        }
        status = tr_em_maximise(em, error);
    }
    return status;
}

/* Keeps the best iterate of this start where it is better than those of the starts before. */
static void keep(struct tr_em *em, const char *reason, bool first)
{
    struct tr_training *t = em->training;
    double score = t->dev.sequences ? t->best_score : -t->figures.objective;
    if (first || score > em->kept_score) {
        memcpy(em->kept, t->best, t->size * sizeof *em->kept);
        if (t->normals) {
            memcpy(em->kept_normals, t->normals->best, em->normals_size * sizeof *em->kept_normals);
        }
        em->kept_score = score;
        em->kept_figures = t->figures;
        em->kept_reason = reason;
    }
}

static trellis_status start_again_and_again(struct tr_em *em, uint64_t starts, trellis_error *error)
{
    struct tr_training *t = em->training;
    uint64_t most = (uint64_t)tr_option_integer(t->options, "epochs");
    struct course course = {.seconds = tr_training_seconds(t)};
    trellis_status status = TRELLIS_OK;
    for (uint64_t i = 0; !status && !t->stopped && i < starts; i++) {
        course.first += course.value.size + (i == 0);
        course.last = course.first - 1 + (most ? most : EPOCHS);
        course.value.size = 0;
        status = climb(em, &course, error);
        if (!status) {
            tr_training_note(t,
                             "start %llu of %llu: %.6f nats a token after %zu iterations; "
                             "stopped because %s",
                             (unsigned long long)i + 1, (unsigned long long)starts,
                             t->figures.likelihood, course.value.size, course.reason);
            keep(em, course.reason, i == 0);
        }
    }
    free(course.value.at);
    return status;
}

/* What EM cannot do. */
static trellis_status check(const struct tr_training *t, trellis_error *error)
{
    if (t->plan.order != 1 || t->plan.count_cap) {
        return tr_fail(error, TRELLIS_OPTION, "-a em and -a viterbi are for --order 1");
    }
    return tr_hmm_check(t, error);
}

trellis_status tr_train_em(struct tr_training *t, trellis_error *error)
{
    struct tr_em *em = NULL;
    uint64_t starts = (uint64_t)tr_option_integer(t->options, "restarts");
    trellis_status status = check(t, error);
    if (!status) {
        status = tr_em_create(t, &em, error);
    }
    if (!status) {
        em->normals_size = t->normals ? 2 * (size_t)t->normals->labels * t->normals->columns : 0;
        em->kept = tr_alloc_aligned(t->size, sizeof *em->kept);
        em->kept_normals = tr_alloc(em->normals_size, sizeof *em->kept_normals);
        status = em->kept && em->kept_normals ? TRELLIS_OK : tr_fail_memory(error);
    }
    if (!status && starts > 1 && !begins_by_chance(em)) {
        status = tr_fail(error, TRELLIS_OPTION,
                         "--restarts is for random starts, but this training begins with %s",
                         *tr_option_text(t->options, "from") ? "the model of --from"
                                                             : "the labels that are known");
    }
    if (!status) {
        status = start_again_and_again(em, starts, error);
    }
    if (!status) {
        memcpy(t->best, em->kept, t->size * sizeof *t->best);
        if (t->normals) {
            memcpy(t->normals->best, em->kept_normals, em->normals_size * sizeof *em->kept_normals);
        }
        t->has_best = true;
        t->figures = em->kept_figures;
        tr_note_text(&t->notes, "stopped-because", em->kept_reason);
        tr_note_format(&t->notes, "log-likelihood", "%.10g", t->figures.likelihood);
    }
    tr_em_destroy(em);
    return status;
}
