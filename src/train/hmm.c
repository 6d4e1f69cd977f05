/* hmm.c - the hidden Markov model, by counting.
 *
 *     T(z, z') = (count(z, z') + alpha) / (count(z) + alpha K)        K = labels, and the end
 *     O(z, x)  = (count(z, x) + alpha) / (count(z) + alpha (V + 1))   V words, and one for all others
 *
 * where z is the last two labels at order 2 (for EM; what is counted is interpolated there),
 * or T by interpolation (interpolation.c), and where the templates tell of unknown words, O for the V words
 * alone, times the share of known words; the rest is unknown.c's, and counts of rare words are raised (rare.c).
 *
 * A linear model has no weight for a word that a label was never seen with, and what has no weight costs
 * nothing. So with alpha > 0 the part of log O that does not depend on the word,
 *
 *     log alpha - log(count(z) + alpha (V + 1)),
 *
 * is the weight of the label by itself (a gram of one label, which every step into it fires), and the word
 * has what is left, log(count(z, x) + alpha) - log alpha: 0 for all words that are not listed. With alpha = 0
 * every pair is listed, and some weights are minus infinity.
 */
#include "train/hmm.h"

#include <math.h>

#include "graph/path.h"
#include "train/em.h"
#include "train/hmm_gaussian.h"
#include "train/unsupervised.h"

double tr_hmm_alpha(const struct tr_training *training)
{
    bool given = trellis_options_given(training->options, "alpha") || tr_training_is_em(training);
    return given ? tr_option_real(training->options, "alpha") : 1e-9;
}

bool tr_hmm_interpolates(const struct tr_training *training)
{
    const trellis_options *options = training->options;
    if (tr_training_is_em(training)) {
        return false;
    }
    if (tr_option_is(options, "smoothing", "auto")) {
        return training->plan.order > 1 || !trellis_options_given(options, "alpha");
    }
    return tr_option_is(options, "smoothing", "interpolated");
}

/* ---- what is seen -------------------------------------------------------------------------------- */

/* The template of an attribute that tells of unknown words, TR_NONE where it does not. */
static uint32_t unknown_template(const struct tr_training *training, uint32_t attribute)
{
    const trellis_features *features = training->features;
    trellis_text text = tr_attribute_index_text(&training->vocabulary.node.index, attribute);
    size_t template = tr_features_template_of(features, false, text);
    return template != SIZE_MAX && tr_features_for_unknown(features, template) ? (uint32_t) template
                                                                               : TR_NONE;
}

/* Those that tell of an unknown word without a value, such as its case, come first in their chains: every
 * label has a share of them. */
trellis_status tr_hmm_whole(const struct tr_training *training, bool **ret_whole,
                            trellis_error *error)
{
    const struct tr_attribute_index *dictionary = &training->vocabulary.node.index;
    size_t count = dictionary->entries.size;
    *ret_whole = NULL;
    if (!tr_features_has_unknown(training->features)) {
        return TRELLIS_OK;
    }
    bool *whole = tr_alloc(count, sizeof *whole);
    for (uint32_t a = 0; whole && a < count; a++) {
        trellis_text text = tr_attribute_index_text(dictionary, a);
        whole[a] = !memchr(text.data, '=', text.size) && unknown_template(training, a) != TR_NONE;
    }
    *ret_whole = whole;
    return whole ? TRELLIS_OK : tr_fail_memory(error);
}

trellis_status tr_hmm_rank(const struct tr_training *training, uint32_t **ret_rank,
                           trellis_error *error)
{
    const struct tr_attribute_index *dictionary = &training->vocabulary.node.index;
    size_t count = dictionary->entries.size;
    *ret_rank = NULL;
    if (!tr_features_has_unknown(training->features)) {
        return TRELLIS_OK;
    }
    uint32_t *rank = tr_alloc(count, sizeof *rank);
    for (uint32_t a = 0; rank && a < count; a++) {
        rank[a] = unknown_template(training, a);
    }
    *ret_rank = rank;
    return rank ? TRELLIS_OK : tr_fail_memory(error);
}

/* How many words there are at a token; there should be one. */
static uint32_t words_at(const struct tr_dataset *data, const uint32_t *rank, size_t token)
{
    uint32_t count = 0;
    for (uint32_t k = data->node.begin.at[token]; k < data->node.begin.at[token + 1]; k++) {
        count += !rank || rank[data->node.attribute.at[k]] == TR_NONE;
    }
    return count;
}

trellis_status tr_hmm_check_plan(const struct tr_training *training, trellis_error *error)
{
    const struct tr_graph_plan *plan = &training->plan;
    if (plan->order < 1 || plan->order > 2 || plan->count_cap) {
        return tr_fail(error, TRELLIS_OPTION, "an HMM is of --order 1 or 2, without --counted");
    }
    if (plan->order == 2 && !tr_hmm_interpolates(training) && !tr_training_is_em(training)) {
        return tr_fail(error, TRELLIS_OPTION, "--smoothing add goes with --order 1");
    }
    if (training->data.edge.attribute.size) {
        return tr_fail(error, TRELLIS_TEMPLATE,
                       "an HMM has no weights for label pairs with an observation: leave out the "
                       "'edge' templates");
    }
    return TRELLIS_OK;
}

trellis_status tr_hmm_check(const struct tr_training *training, trellis_error *error)
{
    const struct tr_dataset *data = &training->data;
    uint32_t *rank = NULL;
    trellis_status status = tr_hmm_rank(training, &rank, error);
    for (size_t t = 0; !status && t < data->tokens; t++) {
        uint32_t count = words_at(data, rank, t);
        if (count != 1 && !(count == 0 && data->reals)) {
            status = tr_fail(error, TRELLIS_TEMPLATE,
                             "an HMM emits one thing at each token, and the templates see %u at "
                             "token %zu of the training data; the templates 'hmm', 'classes' and "
                             "'id' suit it",
                             count, t + 1);
        }
    }
    free(rank);
    return status;
}

/* ---- counting ------------------------------------------------------------------------------------ */

static double weight_of(const struct tr_dataset *data, size_t sequence)
{
    return data->weight.size ? (double)data->weight.at[sequence] : 1;
}

static void count_steps(const struct tr_training *training, size_t s, double *counts)
{
    const struct tr_dataset *data = &training->data;
    size_t first = data->sequence.at[s], end = data->sequence.at[s + 1];
    struct tr_path_walk walk = tr_path_walk(training->graph, data->gold.at + first, end - first);
    counts += training->node_size + training->edge_size;
    while (tr_path_next(&walk)) {
        for (size_t k = 0; k < walk.count; k++) {
            counts[walk.feature[k]] += weight_of(data, s);
        }
    }
}

static void count_token(const struct tr_training *training, size_t t, double weight, double *counts)
{
    const struct tr_occurrences *node = &training->data.node;
    for (uint32_t k = node->begin.at[t]; k < node->begin.at[t + 1]; k++) {
        size_t at = tr_rows_find(training->vocabulary.node.rows, node->attribute.at[k],
                                 training->data.gold.at[t]);
        if (at != SIZE_MAX) {
            counts[at] += weight;
        }
    }
}

void tr_hmm_count_words(const struct tr_training *training, double *counts)
{
    const struct tr_dataset *data = &training->data;
    for (size_t s = 0; s < data->sequences; s++) {
        size_t end = tr_dataset_is_partial(data, s) ? data->sequence.at[s]
                                                    : data->sequence.at[s + 1];
        for (size_t t = data->sequence.at[s]; t < end; t++) {
            count_token(training, t, weight_of(data, s), counts);
        }
    }
}

void tr_hmm_count(const struct tr_training *training, double *counts)
{
    for (size_t s = 0; s < training->data.sequences; s++) {
        if (!tr_dataset_is_partial(&training->data, s)) {
            count_steps(training, s, counts);
        }
    }
    tr_hmm_count_words(training, counts);
}

/* ---- from counts to logarithms of probabilities -------------------------------------------------- */

/* Of the ways out of each history: how many, and the sum of their counts. */
struct sums {
    double *total, *ways; // [(labels + 1)^order]
};

/* The number of the history that a gram is a whole step out of, SIZE_MAX where it is a part of one. Short
 * ones are filled up with the start. */
static size_t history_of(const struct tr_training *training, const struct tr_gram *gram)
{
    uint32_t order = training->plan.order, labels = training->plan.labels;
    uint32_t before = gram->length - 1u;
    if (before == 0 || (before < order && gram->label[0] != labels)) {
        return SIZE_MAX;
    }
    size_t number = 0;
    for (uint32_t k = 0; k < order; k++) {
        number = number * (labels + 1) +
                 (k + before < order ? labels : gram->label[k + before - order]);
    }
    return number;
}

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
        size_t from = history_of(training, &grams[i]);
        if (from != SIZE_MAX) {
            sums.total[from] += counts[i];
            sums.ways[from]++;
        }
    }
    for (size_t i = 0; i < gram_count; i++) {
        size_t from = history_of(training, &grams[i]);
        if (from != SIZE_MAX) {
            w[i] = log_share(counts[i], sums.total[from], sums.ways[from], alpha);
        }
    }
}

/* Calls back for every pair of a word and a label. */
typedef void (*pair_function)(struct tr_hmm_words *words, uint32_t label, double count, double *w,
                              double alpha);

static void each_pair(const struct tr_training *training, struct tr_hmm_words *words,
                      const double *counts, double alpha, double *w, pair_function function)
{
    const struct tr_rows *rows = training->vocabulary.node.rows;
    for (uint32_t a = 0; a < rows->attributes; a++) {
        bool is_word = !words->rank || words->rank[a] == TR_NONE;
        uint32_t ending = words->guesses ? tr_hmm_ending(words->guesses, a) : TR_NONE;
        if (is_word && ending != TR_NONE) {
            tr_guess(words->guesses, ending, words->p);
        }
        for (uint64_t i = rows->begin[a]; is_word && i < rows->begin[a + 1]; i++) {
            uint32_t label = rows->outcome[i];
            size_t at = tr_rows_find(rows, a, label);
            double more = ending == TR_NONE ? 0 : words->p[label];
            function(words, label, counts[at] + more, &w[at], alpha);
        }
    }
}

static void sum_pair(struct tr_hmm_words *words, uint32_t label, double count, double *w,
                     double alpha)
{
    (void)w, (void)alpha;
    words->count[label] += count;
}

static void weigh_pair(struct tr_hmm_words *words, uint32_t label, double count, double *w,
                       double alpha)
{
    *w = (alpha > 0 ? log(count + alpha) - log(alpha)
                    : log_share(count, words->count[label], words->words, 0)) +
         log1p(-words->unknown);
}

double tr_hmm_share(const struct tr_training *training, const uint32_t *rank, const double *counts,
                    double *share)
{
    const struct tr_rows *rows = training->vocabulary.node.rows;
    double tokens = 0;
    for (uint32_t a = 0; a < rows->attributes; a++) {
        bool is_word = !rank || rank[a] == TR_NONE;
        for (uint64_t i = rows->begin[a]; is_word && i < rows->begin[a + 1]; i++) {
            double count = counts[tr_rows_find(rows, a, rows->outcome[i])];
            share[rows->outcome[i]] += count;
            tokens += count;
        }
    }
    for (uint32_t z = 0; z < training->data.label_count; z++) {
        share[z] = tokens > 0 ? share[z] / tokens : 0;
    }
    return tokens;
}

/* The share of tokens that are words never seen before: about that of the words seen once (Good 1953). */
static double unknown_share(const struct tr_training *training, const struct tr_hmm_words *words)
{
    const struct tr_attribute_index *dictionary = &training->vocabulary.node.index;
    double once = 0;
    for (uint32_t a = 0; words->rank && a < dictionary->entries.size; a++) {
        once += words->rank[a] == TR_NONE && dictionary->entries.at[a].count == 1;
    }
    return words->rank ? (once + 0.5) / (words->tokens + 1) : 0;
}

static void estimate_words(const struct tr_training *training, const double *counts, double alpha,
                           struct tr_hmm_words *words, double *w)
{
    const struct tr_rows *rows = training->vocabulary.node.rows;
    const struct tr_gram *grams = training->grams;
    double *steps = w + training->node_size + training->edge_size;
    for (uint32_t a = 0; a < rows->attributes; a++) {
        words->words += !words->rank || words->rank[a] == TR_NONE;
    }
    each_pair(training, words, counts, alpha, w, sum_pair);
    words->unknown = unknown_share(training, words);
    each_pair(training, words, counts, alpha, w, weigh_pair);
    double ways = words->words + (words->rank ? 0 : 1); // one for all unknown words
    for (uint32_t z = 0; alpha > 0 && z < training->plan.labels; z++) {
        words->alone[z] = log_share(0, words->count[z], ways, alpha);
    }
    for (size_t i = 0; i < training->plan.gram_count; i++) {
        steps[i] += grams[i].length == 1 ? words->alone[grams[i].label[0]] : 0;
    }
}

trellis_status tr_hmm_make_unknown(struct tr_training *training, trellis_error *error)
{
    size_t count = 1 + (size_t)training->plan.labels;
    if (training->unknown || !tr_features_has_unknown(training->features)) {
        return TRELLIS_OK;
    }
    training->unknown = tr_alloc(2 * count, sizeof *training->unknown);
    if (!training->unknown) {
        return tr_fail_memory(error);
    }
    training->best_unknown = training->unknown + count;
    return TRELLIS_OK;
}

/* What the tagger has to know to make guesses about unknown words probabilities. */
static trellis_status keep_unknown(struct tr_training *training, const struct tr_hmm_words *words,
                                   trellis_error *error)
{
    uint32_t labels = training->plan.labels;
    trellis_status status = tr_hmm_make_unknown(training, error);
    if (status) {
        return status;
    }
    training->unknown[0] = log(words->unknown);
    for (uint32_t z = 0; z < labels; z++) {
        training->unknown[1 + z] = log(words->share[z]) + words->alone[z];
    }
    return TRELLIS_OK;
}

/* O, with the guesses about unknown words where the templates tell of them. */
static trellis_status estimate_emissions(struct tr_training *training, const double *counts,
                                         double alpha, struct tr_hmm_words *words, double *w,
                                         trellis_error *error)
{
    struct tr_guesses guesses = {0};
    trellis_status status = TRELLIS_OK;
    words->tokens = tr_hmm_share(training, words->rank, counts, words->share);
    if (words->rank) {
        status = tr_guesses_create(training, words->rank, counts, words->share, &guesses, error);
        words->guesses = tr_hmm_smooths_words(training) ? &guesses : NULL;
    }
    if (!status) {
        estimate_words(training, counts, alpha, words, w);
    }
    if (!status && words->rank) {
        status = tr_hmm_guess(&guesses, words, w, error);
    }
    if (!status && words->rank) {
        status = keep_unknown(training, words, error);
    }
    words->guesses = NULL;
    tr_guesses_free(&guesses);
    return status;
}

trellis_status tr_hmm_estimate(struct tr_training *training, const double *counts, double alpha,
                               double *w, trellis_error *error)
{
    size_t before = training->node_size + training->edge_size, labels = training->plan.labels + 1;
    size_t histories = tr_hmm_interpolates(training) ? 0
                       : training->plan.order == 2   ? labels * labels
                                                     : labels;
    double *room = tr_alloc(4 * labels + 2 * histories, sizeof *room);
    uint32_t *rank = NULL;
    trellis_status status = room ? tr_hmm_rank(training, &rank, error) : tr_fail_memory(error);
    if (!status) {
        memset(w, 0, training->size * sizeof *w);
        if (tr_hmm_interpolates(training)) {
            status = tr_hmm_interpolate(training, counts + before, alpha, w + before, error);
        } else {
            struct sums sums = {room + 4 * labels, room + 4 * labels + histories};
            estimate_steps(training, counts + before, alpha, sums, w + before);
        }
    }
    if (!status) {
        struct tr_hmm_words words = {.rank = rank,
                                     .count = room,
                                     .alone = room + labels,
                                     .share = room + 2 * labels,
                                     .p = room + 3 * labels};
        status = estimate_emissions(training, counts, alpha, &words, w, error);
    }
    free(rank);
    free(room);
    return status;
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
        tr_hmm_count(training, counts);
        status = tr_hmm_estimate(training, counts, tr_hmm_alpha(training), w, error);
    }
    if (!status && training->emissions) {
        status = tr_hmm_gaussian_learn(training->emissions, &training->data, error);
    }
    if (!status) {
        trellis_progress figures = tr_training_figures(training);
        figures.iteration = 1;
        figures.fraction = 1;
        for (size_t j = 0; j < training->size; j++) {
            weights[j] = (float)w[j];
        }
        training->exact = w;
        status = tr_training_iteration(training, &figures, weights, &stop, error);
        training->exact = NULL;
    }
    free(counts);
    free(w);
    free(weights);
    return status;
}
