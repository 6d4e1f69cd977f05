/* scores.c - from what is seen in a sequence to the scores of its lattice.
 *
 * Looking up a key and reading its row are two cache misses. The keys of a token are known together,
 * so the misses are made to overlap: first all buckets are fetched, then all rows, then they are added.
 */
#include <math.h>

#include "tagger/inside.h"

/* Floats for the scores of label pairs at all positions: 4 GB. */
#define MOST_EDGE_SCORES ((size_t)1 << 30)

/* Finds the rows of what is seen at one token, in tagger->rows; how many the model knows, SIZE_MAX where
 * memory is out. */
static size_t find_rows(trellis_tagger *tagger, const struct tr_table *table,
                        const struct tr_seen *seen, size_t token)
{
    size_t begin = seen->begin[token], count = seen->begin[token + 1] - begin, known = 0;
    if (!tr_reserve(&tagger->rows, count)) {
        return SIZE_MAX;
    }
    const uint64_t *keys = seen->low + begin;
    uint32_t *rows = tagger->rows.at;
    for (size_t k = 0; k < count; k++) {
        __builtin_prefetch(&table->buckets[tr_table_home(table, keys[k])]);
    }
    for (size_t k = 0; k < count; k++) {
        rows[k] = tr_table_find(table, keys[k]);
        if (rows[k] < table->word_count) {
            __builtin_prefetch(&table->words[rows[k]]);
            known++;
        }
    }
    return known;
}

/* Adds the weights of what is seen at one token to its scores. */
static bool add_seen(trellis_tagger *tagger, const struct tr_table *table,
                     const struct tr_seen *seen, size_t token, float *scores)
{
    size_t begin = seen->begin[token], count = seen->begin[token + 1] - begin;
    size_t known = find_rows(tagger, table, seen, token);
    for (size_t k = 0; known && known != SIZE_MAX && k < count; k++) {
        if (tagger->rows.at[k] != TR_NONE) {
            tr_table_add(table, tagger->rows.at[k], seen->value ? seen->value[begin + k] : 1.0f,
                         scores);
        }
    }
    return known != SIZE_MAX;
}

/* ---- all digits, for an HMM ----------------------------------------------------------------------- */

/* What an unknown word has too much of in all its scores, given by weights that are right but for a factor:
 * log u = log sum_z P(z) P(word | z), u the share of unknown words. */
static double excess(const trellis_model *model, const double *scores)
{
    double most = -INFINITY, sum = 0;
    for (uint32_t c = 0; c < model->label_count; c++) {
        most = fmax(most, scores[c] + model->unknown[1 + c]);
    }
    for (uint32_t c = 0; isfinite(most) && c < model->label_count; c++) {
        sum += exp(scores[c] + model->unknown[1 + c] - most);
    }
    return isfinite(most) ? most + log(sum) - model->unknown[0] : 0;
}

/* Node scores in two floats each: the score, and what it leaves over. */
static bool fill_exact(trellis_tagger *tagger, const trellis_sequence *sequence,
                       const struct tr_seen *seen)
{
    const trellis_model *model = tagger->model;
    size_t width = model->graph->width;
    float *high = tr_lattice_nodes(tagger->lattice), *low = tr_lattice_low(tagger->lattice);
    bool guess = model->unknown && tagger->word_column < sequence->columns;
    bool fine = low && tr_reserve(&tagger->exact, width);
    for (size_t i = 0; fine && i < sequence->length; i++) {
        double *scores = tagger->exact.at;
        size_t begin = seen->begin[i], count = seen->begin[i + 1] - begin;
        memset(scores, 0, width * sizeof *scores);
        fine = find_rows(tagger, &model->node, seen, i) != SIZE_MAX;
        for (size_t k = 0; fine && k < count; k++) {
            tr_table_add_exact(&model->node, tagger->rows.at[k],
                               seen->value ? seen->value[begin + k] : 1.0f, scores);
        }
        bool unknown = guess &&
                       tr_lexicon_find(
                           &model->lexicon,
                           sequence->cells[i * sequence->columns + tagger->word_column]) == TR_NONE;
        double shift = unknown ? excess(model, scores) : 0;
        for (uint32_t c = 0; c < model->label_count; c++) {
            double score = scores[c] - shift;
            high[i * width + c] = (float)score;
            low[i * width + c] = isfinite(score) ? (float)(score - (double)(float)score) : 0;
        }
    }
    if (fine && model->gaussian.columns) {
        tr_gaussian_score(&model->gaussian, tagger->reals.at, sequence->length, high, low, width);
    }
    return fine;
}

/* ---- scores -------------------------------------------------------------------------------------- */

trellis_status tr_tagger_fill_scores(trellis_tagger *tagger, const trellis_sequence *sequence,
                                     const struct tr_observation *observation, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    size_t n = observation->length, width = model->graph->width;
    trellis_status status = tr_lattice_begin(tagger->lattice, n, error);
    if (status) {
        return status;
    }
    float *scores = tr_lattice_nodes(tagger->lattice);
    bool exact = model->step_low, fine = !exact || fill_exact(tagger, sequence, &observation->node);
    for (size_t i = 0; !exact && fine && i < n; i++) {
        fine = add_seen(tagger, &model->node, &observation->node, i, scores + i * width);
    }
    if (!exact && model->gaussian.columns) {
        tr_gaussian_score(&model->gaussian, tagger->reals.at, n, scores, NULL, width);
    }
    if (fine && n > 1 && model->edge.record_count > 0 && tr_features_has_edges(model->features)) {
        if (n > MOST_EDGE_SCORES / (model->graph->labels * width)) {
            return tr_fail(error, TRELLIS_LIMIT,
                           "weights for pairs of %u labels take too much memory over %zu tokens",
                           model->graph->labels, n);
        }
        scores = tr_lattice_edges(tagger->lattice);
        fine = scores != NULL;
        for (size_t i = 1; fine && i < n; i++) {
            fine = add_seen(tagger, &model->edge, &observation->edge, i,
                            scores + i * model->graph->labels * width);
        }
    }
    return fine ? TRELLIS_OK : tr_fail_memory(error);
}
