/* hmm.c - the hidden Markov model, by counting.
 *
 *     T(z, z') = (count(z, z') + alpha) / (count(z) + alpha K)        K = labels, and the end
 *     O(z, x)  = (count(z, x) + alpha) / (count(z) + alpha (V + 1))   V words, and one for all others
 *
 * where z is the last two labels at order 2 (for EM; what is counted is interpolated there), or T
 * by interpolation (hmm_interpolation.c), and where templates describe unknown words, O for the V
 * words alone, times the share of known words; the rest is for unknown words (hmm_unknown_words.c),
 * and counts of rare words are raised (hmm_rare_words.c).
 *
 * A linear model has no weight for a word that a label was never seen with, and what has no weight
 * costs nothing. So with alpha > 0 the part of log O that does not depend on the word,
 *
 *     log alpha - log(count(z) + alpha (V + 1)),
 *
 * is the weight of the label by itself (a gram of one label, which every step into it fires), and
 * the word has the rest, log(count(z, x) + alpha) - log alpha: 0 for all words that are not listed.
 * With alpha = 0 every pair is listed, and some weights are minus infinity.
 */
#include "train/hmm.h"

#include <math.h>

#include "graph/path.h"
#include "train/hmm_gaussian.h"
#include "train/pass.h"

/* ---- what is seen ---------------------------------------------------------------------------- */

/* The template of an attribute that describes unknown words, TR_NONE where it does not. */
uint32_t tr_hmm_unknown_template(const struct tr_training *training, uint32_t attribute)
{
    const trellis_features *features = training->data.features;
    trellis_text text = tr_attribute_index_text(&training->data.vocabulary.node.index, attribute);
    size_t template = tr_features_template_of(features, false, text);
    return template != SIZE_MAX && tr_features_for_unknown(features, template) ? (uint32_t) template
                                                                               : TR_NONE;
}

trellis_status tr_hmm_rank(const struct tr_training *training, uint32_t **ret_rank,
                           trellis_error *error)
{
    const struct tr_attribute_index *dictionary = &training->data.vocabulary.node.index;
    size_t count = dictionary->entries.size;
    *ret_rank = NULL;
    if (!tr_features_has_unknown(training->data.features)) {
        return TRELLIS_OK;
    }
    uint32_t *rank = tr_alloc(count, sizeof *rank);
    for (uint32_t a = 0; rank && a < count; a++) {
        rank[a] = tr_hmm_unknown_template(training, a);
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

trellis_status tr_hmm_check(const struct tr_training *training, trellis_error *error)
{
    const struct tr_dataset *data = &training->data.train;
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

/* ---- counting -------------------------------------------------------------------------------- */

struct hmm_counting {
    const struct tr_training *training;
    const struct tr_dataset *data;
    bool transitions; // beside the words
    double *counts;   // [size]
    size_t size;
};

static void count_transitions(const struct hmm_counting *c, size_t s, double weight, double *counts)
{
    const struct tr_layout *layout = &c->training->layout;
    struct tr_path_walk walk = tr_path_walk(
        layout->graph, c->data->gold.at + c->data->sequence.at[s], tr_sequence_length(c->data, s));
    while (tr_path_next(&walk)) {
        for (size_t k = 0; k < walk.count; k++) {
            counts[layout->step_begin + walk.feature[k]] += weight;
        }
    }
}

static void count_token(const struct hmm_counting *c, size_t t, double weight, double *counts)
{
    const struct tr_rows *rows = c->training->data.vocabulary.node.rows;
    const struct tr_occurrences *node = &c->data->node;
    for (uint32_t k = node->begin.at[t]; k < node->begin.at[t + 1]; k++) {
        size_t at = tr_rows_find(rows, node->attribute.at[k], c->data->gold.at[t]);
        if (at != SIZE_MAX) {
            counts[at] += weight;
        }
    }
}

static trellis_status count_sequence(void *user, struct tr_pass_worker *worker, size_t s,
                                     double weight, double *ret_value, trellis_error *error)
{
    (void)ret_value, (void)error;
    const struct hmm_counting *c = user;
    if (tr_dataset_is_partial(c->data, s)) {
        return TRELLIS_OK;
    }
    if (c->transitions) {
        count_transitions(c, s, weight, worker->doubles);
    }
    for (size_t t = c->data->sequence.at[s]; t < c->data->sequence.at[s + 1]; t++) {
        count_token(c, t, weight, worker->doubles);
    }
    return TRELLIS_OK;
}

static void gather_counts(void *user, const struct tr_pass_worker *worker)
{
    const struct hmm_counting *c = user;
    for (size_t j = 0; j < c->size; j++) {
        c->counts[j] += tr_on_grid(worker->doubles[j], c->training->grid);
    }
}

static trellis_status count(struct tr_training *training, struct hmm_counting *c,
                            trellis_error *error)
{
    struct tr_pass_plan plan = {.visit = count_sequence,
                                .gather = gather_counts,
                                .user = c,
                                .sums = c->counts,
                                .sum_count = c->size};
    struct tr_pass *pass;
    double ignored;
    trellis_status status = tr_pass_create(training, (struct tr_pass_room){.doubles = c->size},
                                           &pass, error);
    if (!status) {
        status = tr_pass_run(pass, c->data, &plan, &ignored, error);
    }
    tr_pass_destroy(pass);
    return status;
}

trellis_status tr_hmm_count_words(struct tr_training *training, double *counts,
                                  trellis_error *error)
{
    struct hmm_counting c = {.training = training,
                             .data = &training->data.train,
                             .counts = counts,
                             .size = training->data.vocabulary.node.rows->size};
    return count(training, &c, error);
}

trellis_status tr_hmm_count(struct tr_training *training, const struct tr_dataset *data,
                            double *counts, trellis_error *error)
{
    struct hmm_counting c = {.training = training,
                             .data = data,
                             .transitions = true,
                             .counts = counts,
                             .size = training->layout.size};
    return count(training, &c, error);
}

/* ---- from counts to logarithms of probabilities ---------------------------------------------- */

/* Of the ways out of each history: how many, and the sum of their counts. */
struct sums {
    double *total, *ways; // [(labels + 1)^order]
};

/* The number of the history that a gram is a whole step out of, SIZE_MAX where it is a part of one.
 * Short ones are filled up with the start. */
static size_t history_of(const struct tr_training *training, const struct tr_gram *gram)
{
    uint32_t order = training->layout.plan.order, labels = training->layout.plan.labels;
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
    const struct tr_gram *grams = training->layout.grams;
    size_t gram_count = training->layout.plan.gram_count;
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
    const struct tr_rows *rows = training->data.vocabulary.node.rows;
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

static void log_pair(struct tr_hmm_words *words, uint32_t label, double count, double *w,
                     double alpha)
{
    *w = (alpha > 0 ? log(count + alpha) - log(alpha)
                    : log_share(count, words->count[label], words->words, 0)) +
         log1p(-words->unknown);
}

double tr_hmm_share(const struct tr_training *training, const uint32_t *rank, const double *counts,
                    double *share)
{
    const struct tr_rows *rows = training->data.vocabulary.node.rows;
    double tokens = 0;
    for (uint32_t a = 0; a < rows->attributes; a++) {
        bool is_word = !rank || rank[a] == TR_NONE;
        for (uint64_t i = rows->begin[a]; is_word && i < rows->begin[a + 1]; i++) {
            double count = counts[tr_rows_find(rows, a, rows->outcome[i])];
            share[rows->outcome[i]] += count;
            tokens += count;
        }
    }
    for (uint32_t z = 0; z < training->data.train.label_count; z++) {
        share[z] = tokens > 0 ? share[z] / tokens : 0;
    }
    return tokens;
}

/* The share of tokens that are words never seen before: about that of the words seen once (Good
 * 1953). */
static double unknown_share(const struct tr_training *training, const struct tr_hmm_words *words)
{
    const struct tr_attribute_index *dictionary = &training->data.vocabulary.node.index;
    double once = 0;
    for (uint32_t a = 0; words->rank && a < dictionary->entries.size; a++) {
        once += words->rank[a] == TR_NONE && dictionary->entries.at[a].count == 1;
    }
    return words->rank ? (once + 0.5) / (words->tokens + 1) : 0;
}

static void estimate_words(const struct tr_training *training, const double *counts, double alpha,
                           struct tr_hmm_words *words, double *w)
{
    const struct tr_rows *rows = training->data.vocabulary.node.rows;
    const struct tr_gram *grams = training->layout.grams;
    double *steps = w + training->layout.step_begin;
    for (uint32_t a = 0; a < rows->attributes; a++) {
        words->words += !words->rank || words->rank[a] == TR_NONE;
    }
    each_pair(training, words, counts, alpha, w, sum_pair);
    words->unknown = unknown_share(training, words);
    each_pair(training, words, counts, alpha, w, log_pair);
    double ways = words->words + (words->rank ? 0 : 1); // one for all unknown words
    for (uint32_t z = 0; alpha > 0 && z < training->layout.plan.labels; z++) {
        words->alone[z] = log_share(0, words->count[z], ways, alpha);
    }
    for (size_t i = 0; i < training->layout.plan.gram_count; i++) {
        steps[i] += grams[i].length == 1 ? words->alone[grams[i].label[0]] : 0;
    }
}

/* What the tagger needs to turn guesses about unknown words into probabilities. */
static void set_unknown(const struct tr_hmm_words *words, uint32_t labels,
                        struct tr_iterate *iterate)
{
    iterate->unknown[0] = log(words->unknown);
    for (uint32_t z = 0; z < labels; z++) {
        iterate->unknown[1 + z] = log(words->share[z]) + words->alone[z];
    }
}

/* O, with the guesses about unknown words where templates describe them. */
static trellis_status estimate_emissions(const struct tr_training *training, const double *counts,
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
    words->guesses = NULL;
    tr_guesses_free(&guesses);
    return status;
}

trellis_status tr_hmm_estimate(const struct tr_training *training, const double *counts,
                               double alpha, double *w, struct tr_iterate *iterate,
                               trellis_error *error)
{
    size_t before = training->layout.step_begin, labels = training->layout.plan.labels + 1;
    size_t histories = training->settings.interpolate     ? 0
                       : training->layout.plan.order == 2 ? labels * labels
                                                          : labels;
    double *room = tr_alloc(4 * labels + 2 * histories, sizeof *room);
    uint32_t *rank = NULL;
    trellis_status status = room ? tr_hmm_rank(training, &rank, error) : tr_fail_memory(error);
    if (!status) {
        memset(w, 0, training->layout.size * sizeof *w);
        if (training->settings.interpolate) {
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
        if (!status && rank) {
            set_unknown(&words, training->layout.plan.labels, iterate);
        }
    }
    if (!status) {
        tr_iterate_set(iterate, w);
    }
    free(rank);
    free(room);
    return status;
}

/* ---- the learner ----------------------------------------------------------------------------- */

trellis_status tr_train_hmm_counts(struct tr_training *training, trellis_error *error)
{
    const struct tr_dataset *data = &training->data.train;
    struct tr_iterate now = {0};
    double *counts = tr_alloc(training->layout.size, sizeof *counts);
    double *w = tr_alloc(training->layout.size, sizeof *w);
    bool stop;
    trellis_status status = counts && w ? tr_hmm_check(training, error) : tr_fail_memory(error);
    if (!status) {
        status = tr_iterate_create(training, &now, error);
    }
    if (!status) {
        status = tr_hmm_count(training, data, counts, error);
    }
    if (!status) {
        status = tr_hmm_estimate(training, counts, training->settings.alpha, w, &now, error);
    }
    if (!status && training->gaussian) {
        status = tr_hmm_gaussian_learn(training->gaussian, data, now.emissions, error);
    }
    if (!status) {
        now.figures.iteration = 1;
        now.figures.fraction = 1;
        status = tr_training_iteration(training, &now, &stop, error);
    }
    tr_iterate_free(&now);
    free(counts);
    free(w);
    return status;
}
