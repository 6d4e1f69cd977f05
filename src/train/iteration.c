/* iteration.c - what happens after each pass: score the dev data, keep the best iterate, report,
 * stop.
 *
 * A single dev score is noisy, so iterates are compared by their smoothed score
 *
 *     m_1 = s_1,   m_k = (s_k + m_{k-1}) / 2
 *
 * and of iterates that the dev data cannot tell apart the last one is kept, as without dev data:
 * the best so far, b, is the last k with m_k >= max_j m_j - e / 2. Here e is the standard error of
 * a share m of n things, sqrt(m (1 - m) / n), and n counts gold spans or tokens. The patience grows
 * with the number of iterations: training stops at the k with k - b >= max(patience, b / 2). An
 * iteration of a batch method moves the weights less than an epoch of stochastic steps, so its
 * patience is four times as long, and as its scores vary less, e / 4 is enough to tell them apart.
 *
 * Scores of EM are compared as they are: they fall before they rise, and --patience says how long.
 */
#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "train/dev_score.h"
#include "train/train.h"

/* The learning curve, for reports: the model keeps the figures that do not depend on the machine,
 * with a dash for those that are not known. */
static void note_iteration(struct tr_training *training, const trellis_progress *figures)
{
    enum { MAX_NOTED = 1000 };
    const double known[] = {figures->objective, figures->error_rate, figures->dev_accuracy,
                            figures->dev_f1};
    char text[120];
    int used = snprintf(text, sizeof text, "%llu", (unsigned long long)figures->iteration);
    for (size_t k = 0; k < TR_COUNT(known); k++) {
        used += isfinite(known[k])
                    ? snprintf(text + used, sizeof text - (size_t)used, " %.7g", known[k])
                    : snprintf(text + used, sizeof text - (size_t)used, " -");
    }
    if (figures->iteration <= MAX_NOTED) {
        tr_note_text(&training->notes, TR_CURVE, text);
    }
}

/* How many weights are not 0. */
struct active_rows {
    const struct tr_rows *rows;
    const float *w;
};

static double active_piece(void *user, size_t begin, size_t end)
{
    const struct active_rows *x = user;
    return (double)tr_rows_active(x->rows, x->w, (uint32_t)begin, (uint32_t)end);
}

uint64_t tr_training_active(const struct tr_training *t, const float *w)
{
    struct active_rows node = {t->data.vocabulary.node.rows, w};
    struct active_rows edge = {t->data.vocabulary.edge.rows, w + t->layout.node_size};
    double active = tr_pool_sum(t->pool, node.rows->attributes, active_piece, &node) +
                    tr_pool_sum(t->pool, edge.rows->attributes, active_piece, &edge);
    for (size_t j = t->layout.step_begin; j < t->layout.size; j++) {
        active += w[j] != 0;
    }
    return (uint64_t)active;
}

static double count_nonfinite(void *user, size_t begin, size_t end)
{
    const float *w = user;
    uint32_t count = 0;
    for (size_t j = begin; j < end; j++) {
        uint32_t bits;
        memcpy(&bits, &w[j], sizeof bits);
        count += (bits & 0x7F800000) == 0x7F800000;
    }
    return count;
}

/* The score that iterates are compared by, higher is better; 0 without dev data. */
static trellis_status find_score(struct tr_training *training, struct tr_iterate *now,
                                 trellis_error *error)
{
    trellis_progress *figures = &now->figures;
    trellis_status status = TRELLIS_OK;
    now->score = 0;
    if (training->data.dev.sequences && !isnan(figures->dev_likelihood)) {
        now->score = figures->dev_likelihood;
    } else if (training->data.dev.sequences) {
        status = tr_dev_score(training, now, figures, error);
        now->score = isfinite(figures->dev_f1) ? figures->dev_f1 : figures->dev_accuracy;
    }
    return status;
}

static bool is_batch(const struct tr_training *training)
{
    return training->settings.algorithm->epochs == 0; // by default, until it converges
}

/* Half a standard error of a dev score; a quarter for batch methods. */
static double tolerance_of(const struct tr_training *training, const struct tr_iterate *now)
{
    trellis_scores scores = {.struct_size = sizeof scores};
    double m = training->highest, n = (double)training->data.dev.tokens;
    if (now->figures.dev && isfinite(now->figures.dev_f1)) {
        trellis_evaluation_scores(now->figures.dev, &scores);
        n = (double)scores.spans_gold;
    }
    return n > 0 && m > 0 && m < 1 ? sqrt(m * (1 - m) / n) / (is_batch(training) ? 4 : 2) : 0;
}

/* Whether to keep an iterate as the best so far; smooths its score first. */
static bool is_best(struct tr_training *training, struct tr_iterate *now, bool selects)
{
    const struct tr_iterate *best = &training->best;
    if (tr_training_can(training, TR_HIDDEN_LABELS)) {
        return !best->known || !selects || now->score > best->score;
    }
    if (best->known) {
        now->score = (now->score + training->smoothed) / 2;
    }
    training->smoothed = now->score;
    if (!best->known || now->score > training->highest) {
        training->highest = now->score;
    }
    return !selects || now->score >= training->highest - tolerance_of(training, now);
}

static bool is_out_of_patience(const struct tr_training *training)
{
    const struct tr_settings *settings = &training->settings;
    uint64_t patience = is_batch(training) ? 4 * settings->patience : settings->patience;
    uint64_t grown = training->best.figures.iteration / 2;
    if (grown > patience && !(settings->abilities & TR_HIDDEN_LABELS)) {
        patience = grown;
    }
    return settings->patience && training->since_best >= patience;
}

trellis_status tr_training_iteration(struct tr_training *training, struct tr_iterate *now,
                                     bool *ret_stop, trellis_error *error)
{
    struct tr_iterate *best = &training->best;
    trellis_progress *figures = &now->figures;
    bool selects = training->data.dev.sequences > 0 && !training->settings.keep_last;
    trellis_status status = TRELLIS_OK;
    training->done = figures->iteration;
    figures->dev_accuracy = figures->dev_f1 = NAN;
    if (!now->partial) {
        figures->active_features = tr_training_active(training, now->weights);
    }
    if (!tr_training_can(training, TR_GENERATIVE) && // there log 0 is a weight
        tr_pool_sum(training->pool, now->size, count_nonfinite, now->weights) > 0) {
        status = tr_fail(error, TRELLIS_DATA,
                         "a weight became infinite or NaN: the values of the attributes are too "
                         "large");
    }
    status = status ? status : find_score(training, now, error);
    if (status) { // of a partial iterate it may be that this rank alone knows
        return now->partial ? tr_training_agree_to_stop(training, status, true, error) : status;
    }
    if (is_best(training, now, selects)) {
        tr_iterate_copy(best, now, training->pool);
        training->since_best = 0;
    } else {
        training->since_best++;
    }
    note_iteration(training, figures);
    tr_training_tick(training, figures);
    figures->dev = best->figures.dev = NULL; // valid within the callback only
    status = tr_training_agree_to_stop(training, status, now->partial, error);
    *ret_stop = training->report.interrupted || (selects && is_out_of_patience(training));
    return status;
}
