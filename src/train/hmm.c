/* hmm.c - the hidden Markov model, by counting.
 *
 *     T(z, z') = (count(z, z') + alpha) / (count(z) + alpha K)        K = labels, and the end
 *     O(z, x)  = (count(z, x) + alpha) / (count(z) + alpha (V + 1))   V words, and one for all others
 *
 * A linear model has no weight for a word that a label was never seen with, and what has no weight costs
 * nothing. So with alpha > 0 the part of log O that does not depend on the word,
 *
 *     log alpha - log(count(z) + alpha (V + 1)),
 *
 * is the weight of the label by itself (a gram of one label, which every step into it fires), and the word
 * has what is left, log(count(z, x) + alpha) - log alpha: 0 for all words that are not listed. With alpha = 0
 * the tag dictionary keeps words to the labels they were seen with.
 */
#include "train/hmm.h"

#include <math.h>

#include "train/em.h"
#include "train/states.h"

trellis_status tr_hmm_check(const struct tr_training *training, trellis_error *error)
{
    const struct tr_dataset *data = &training->data;
    const uint32_t *begin = data->node.begin.at;
    if (training->plan.order != 1 || training->plan.count_cap) {
        return tr_fail(error, TRELLIS_OPTION, "an HMM is of --order 1, without --counted");
    }
    if (data->edge.attribute.size) {
        return tr_fail(error, TRELLIS_TEMPLATE,
                       "an HMM has no weights for label pairs with an observation: leave out the "
                       "'edge' templates");
    }
    for (size_t t = 0; t < data->tokens; t++) {
        if (begin[t + 1] - begin[t] != 1) {
            return tr_fail(error, TRELLIS_TEMPLATE,
                           "an HMM emits one thing at each token, and the templates see %u at "
                           "token %zu of the training data; the templates 'id' suit it",
                           begin[t + 1] - begin[t], t + 1);
        }
    }
    return TRELLIS_OK;
}

/* ---- counting ------------------------------------------------------------------------------------ */

static void count_step(const struct tr_training *training, const struct tr_steps *steps,
                       uint32_t from, uint32_t to, double weight, double *counts)
{
    const uint32_t *features;
    size_t n = tr_steps_features(steps, from, to, &features);
    for (size_t k = 0; k < n; k++) {
        counts[training->node_size + training->edge_size + features[k]] += weight;
    }
}

static void count_sequence(const struct tr_training *training, const struct tr_steps *steps,
                           size_t s, double *counts)
{
    const struct tr_dataset *data = &training->data;
    const struct tr_rows *rows = training->vocabulary.node.rows;
    size_t first = data->sequence.at[s], end = data->sequence.at[s + 1];
    double weight = data->weight.size ? (double)data->weight.at[s] : 1;
    uint32_t state = TR_NO_STATE;
    for (size_t t = first; t < end; t++) {
        uint16_t label = data->gold.at[t];
        uint32_t next = tr_graph_next(training->graph, state, label);
        count_step(training, steps, state, next, weight, counts);
        state = next;
        for (uint32_t k = data->node.begin.at[t]; k < data->node.begin.at[t + 1]; k++) {
            size_t at = tr_rows_find(rows, data->node.attribute.at[k], label);
            if (at != SIZE_MAX) {
                counts[at] += weight;
            }
        }
    }
    if (end > first) {
        count_step(training, steps, state, TR_NO_STATE, weight, counts);
    }
}

trellis_status tr_hmm_count(const struct tr_training *training, double *counts,
                            trellis_error *error)
{
    struct tr_steps *steps;
    trellis_status status = tr_steps_create(training->graph, &steps, error);
    for (size_t s = 0; !status && s < training->data.sequences; s++) {
        if (!tr_dataset_is_partial(&training->data, s)) {
            count_sequence(training, steps, s, counts);
        }
    }
    tr_steps_destroy(steps);
    return status;
}

/* ---- from counts to logarithms of probabilities -------------------------------------------------- */

/* Of the ways out of each state: how many, and the sum of their counts. */
struct sums {
    double *total, *ways; // [labels + 1], the start last
};

static double log_share(double count, double total, double ways, double alpha)
{
    double all = total + alpha * ways;
    return all > 0 ? log((count + alpha) / all) : -log(ways);
}

static void estimate_steps(const struct tr_training *training, const double *counts, double alpha,
                           struct sums sums, double *w)
{
    const struct tr_gram *grams = training->grams;
    size_t gram_count = training->plan.gram_count;
    for (size_t i = 0; i < gram_count; i++) {
        if (grams[i].length == 2) {
            sums.total[grams[i].label[0]] += counts[i];
            sums.ways[grams[i].label[0]]++;
        }
    }
    for (size_t i = 0; i < gram_count; i++) {
        uint16_t from = grams[i].label[0];
        if (grams[i].length == 2) {
            w[i] = log_share(counts[i], sums.total[from], sums.ways[from], alpha);
        }
    }
}

static void estimate_words(const struct tr_training *training, const double *counts, double alpha,
                           struct sums sums, double *w)
{
    const struct tr_rows *rows = training->vocabulary.node.rows;
    const struct tr_gram *grams = training->grams;
    double *steps = w + training->node_size + training->edge_size;
    for (uint32_t a = 0; a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            sums.total[rows->outcome[i]] += counts[tr_rows_find(rows, a, rows->outcome[i])];
        }
    }
    for (uint32_t a = 0; a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            uint32_t label = rows->outcome[i];
            size_t at = tr_rows_find(rows, a, label);
            w[at] = alpha > 0 ? log(counts[at] + alpha) - log(alpha)
                              : log_share(counts[at], sums.total[label], rows->attributes, 0);
        }
    }
    for (size_t i = 0; alpha > 0 && i < training->plan.gram_count; i++) {
        if (grams[i].length == 1) {
            steps[i] = log_share(0, sums.total[grams[i].label[0]], rows->attributes + 1.0, alpha);
        }
    }
}

trellis_status tr_hmm_estimate(const struct tr_training *training, const double *counts,
                               double alpha, double *w, trellis_error *error)
{
    size_t before = training->node_size + training->edge_size, labels = training->plan.labels;
    double *room = tr_alloc(4 * (labels + 1), sizeof *room);
    if (!room) {
        return tr_fail_memory(error);
    }
    struct sums of_steps = {room, room + labels + 1};
    struct sums of_words = {room + 2 * (labels + 1), room + 3 * (labels + 1)};
    memset(w, 0, training->size * sizeof *w);
    estimate_steps(training, counts + before, alpha, of_steps, w + before);
    estimate_words(training, counts, alpha, of_words, w);
    free(room);
    return TRELLIS_OK;
}

/* ---- the learner --------------------------------------------------------------------------------- */

trellis_status tr_train_hmm(struct tr_training *training, trellis_error *error)
{
    if (tr_training_is_em(training)) {
        return tr_train_em(training, error);
    }
    double *counts = tr_alloc(training->size, sizeof *counts);
    double *w = tr_alloc(training->size, sizeof *w);
    float *weights = tr_alloc(training->size, sizeof *weights);
    bool stop;
    trellis_status status = counts && w && weights ? tr_hmm_check(training, error)
                                                   : tr_fail_memory(error);
    if (!status) {
        status = tr_hmm_count(training, counts, error);
    }
    if (!status) {
        double alpha = tr_option_real(training->options, "alpha");
        status = tr_hmm_estimate(training, counts, alpha, w, error);
    }
    if (!status) {
        trellis_progress figures = tr_training_figures(training);
        figures.iteration = 1;
        figures.fraction = 1;
        for (size_t j = 0; j < training->size; j++) {
            weights[j] = (float)w[j];
        }
        status = tr_training_iteration(training, &figures, weights, &stop, error);
    }
    free(counts);
    free(w);
    free(weights);
    return status;
}
