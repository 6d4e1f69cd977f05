/* em_start.c - the initial weights of EM.
 *
 * The likelihood has many maxima, so they matter: the model of --from; the counts of the sequences
 * whose labels are known, where there are any; the clusters of real-valued columns; else the
 * expected counts under random weights of the words, restricted by the tag dictionary and the known
 * labels. Random starts may be repeated (--restarts).
 */
#include <math.h>

#include "model/model.h"
#include "train/em.h"
#include "train/hmm.h"
#include "train/hmm_gaussian.h"

/* Added to the counts that EM begins with, so that what was not seen there can still be learned. */
static const double min_initial_alpha = 0.1;

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

bool tr_em_starts_at_random(const struct tr_em *em)
{
    return !em->training->sources.from && !has_labelled(&em->training->data.train);
}

/* Real-valued columns are cut into clusters, as if these were the labels. */
static trellis_status begin_with_clusters(struct tr_em *em, trellis_error *error)
{
    struct tr_training *t = em->training;
    const struct tr_dataset *data = &t->data.train;
    struct tr_dataset clustered = *data; // a view with other labels
    uint16_t *labels = tr_alloc(data->tokens, sizeof *labels);
    if (!labels) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_hmm_gaussian_cluster(t->gaussian, data, &t->random, labels, error);
    memset(em->counts, 0, t->layout.size * sizeof *em->counts);
    clustered.gold.at = labels;
    clustered.open_begin.size = 0;
    if (!status) {
        status = tr_hmm_count(t, &clustered, em->counts, error);
    }
    if (!status) {
        status = tr_hmm_gaussian_learn(t->gaussian, &clustered, em->now.emissions, error);
    }
    free(labels);
    return status ? status : tr_em_estimate(em, fmax(em->alpha, min_initial_alpha), error);
}

/* Words are assigned to states at random: log of an exponential variable, so that the shares of the
 * states in a word are uniform over all shares. All transitions are equal. */
static trellis_status begin_at_random(struct tr_em *em, trellis_error *error)
{
    struct tr_training *t = em->training;
    const struct tr_rows *rows = t->data.vocabulary.node.rows;
    double likelihood;
    if (t->gaussian) {
        return begin_with_clusters(em, error);
    }
    memset(em->now.weights, 0, t->layout.size * sizeof *em->now.weights);
    for (uint32_t a = 0; a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            double share = -log(1 - tr_random_real(&t->random));
            em->now.weights[tr_rows_find(rows, a, rows->outcome[i])] = (float)log(share + 1e-6);
        }
    }
    bool hard = em->hard;
    em->hard = false;
    trellis_status status = tr_em_pass(em, &t->data.train, true, &likelihood, error);
    em->hard = hard;
    return status ? status : tr_em_estimate(em, em->alpha, error);
}

/* log T of a step: all its grams that the model has, but for the label by itself. A model of a
 * shorter history can initialise one of a longer. */
static double step_of_model(const struct tr_em *em, const struct tr_gram *gram)
{
    const struct tr_training *t = em->training;
    double sum = 0;
    bool any = false;
    for (uint8_t length = 2; length <= gram->length; length++) {
        struct tr_gram part = {.length = length};
        memcpy(part.label, gram->label + gram->length - length, length * sizeof *part.label);
        size_t at = tr_gram_find(t->layout.grams, t->layout.plan.gram_count, &part);
        double w = at == SIZE_MAX ? NAN : (double)em->now.weights[t->layout.step_begin + at];
        sum += isnan(w) ? 0 : w;
        any = any || !isnan(w);
    }
    return any ? sum : -INFINITY;
}

/* Counts in the proportions of the model's probabilities. What the model does not list has
 * probability 0, or, where its words have weights on top of the weight of a label alone, that of an
 * unknown word. */
static void counts_of_model(struct tr_em *em, const double *alone, bool with_alone)
{
    const struct tr_training *t = em->training;
    const struct tr_rows *rows = t->data.vocabulary.node.rows;
    double mass = (double)t->data.train.tokens / t->layout.plan.labels;
    size_t first_step = t->layout.step_begin;
    memset(em->counts, 0, t->layout.size * sizeof *em->counts);
    for (uint32_t a = 0; a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            size_t at = tr_rows_find(rows, a, rows->outcome[i]);
            double unlisted = with_alone ? 0 : -INFINITY;
            double w = isnan(em->now.weights[at]) ? unlisted : (double)em->now.weights[at];
            em->counts[at] = mass * exp(w + alone[rows->outcome[i]]);
        }
    }
    for (size_t i = 0; i < t->layout.plan.gram_count; i++) {
        em->counts[first_step + i] = mass * exp(step_of_model(em, &t->layout.grams[i]));
    }
}

static trellis_status begin_with_model(struct tr_em *em, trellis_error *error)
{
    struct tr_training *t = em->training;
    bool with_alone = false;
    double *alone = tr_alloc(t->layout.plan.labels, sizeof *alone);
    if (!alone) {
        return tr_fail_memory(error);
    }
    for (size_t j = 0; j < t->layout.size; j++) {
        em->now.weights[j] = NAN;
    }
    trellis_status status = tr_training_initial_weights(t, em->now.weights, error);
    for (size_t i = 0; !status && i < t->layout.plan.gram_count; i++) {
        float w = em->now.weights[t->layout.step_begin + i];
        if (t->layout.grams[i].length == 1 && !isnan(w)) {
            alone[t->layout.grams[i].label[0]] = (double)w;
            with_alone = with_alone || w != 0;
        }
    }
    if (!status) {
        counts_of_model(em, alone, with_alone);
        status = tr_em_estimate(em, fmax(em->alpha, 1e-6), error);
    }
    if (!status && t->gaussian) {
        status = tr_hmm_gaussian_from(t->gaussian, t, em->now.emissions, error);
    }
    free(alone);
    return status;
}

trellis_status tr_em_begin(struct tr_em *em, trellis_error *error)
{
    if (em->training->sources.from) {
        return begin_with_model(em, error);
    }
    if (tr_em_starts_at_random(em)) {
        return begin_at_random(em, error);
    }
    memset(em->counts, 0, em->training->layout.size * sizeof *em->counts);
    trellis_status status = tr_hmm_count(em->training, &em->training->data.train, em->counts,
                                         error);
    if (!status && em->training->gaussian) {
        status = tr_hmm_gaussian_learn(em->training->gaussian, &em->training->data.train,
                                       em->now.emissions, error);
    }
    return status ? status : tr_em_estimate(em, fmax(em->alpha, min_initial_alpha), error);
}
