/* scores.c - from what is seen in a sequence to the scores of its lattice.
 *
 * Looking up a key and reading its row are two cache misses. All keys of the sequence are known, so the
 * misses are made to overlap with work on the tokens before:
 *
 *     buckets of token i + 2 are fetched -> rows of token i + 1 are found and fetched -> those of i are added
 */
#include <math.h>

#include "tagger/tagger_internal.h"

/* Floats for the scores of label pairs at all positions: 4 GB. */
#define MAX_EDGE_SCORES ((size_t)1 << 30)

static void fetch_buckets(const struct tr_table *table, const struct tr_seen *seen, size_t token)
{
    for (size_t k = seen->begin[token]; k < seen->begin[token + 1]; k++) {
        __builtin_prefetch(&table->buckets[tr_table_home(table, seen->low[k])]);
    }
}

/* Finds the rows of what is seen at one token, and fetches them. Dense ones are listed in tagger->rows,
 * others in tagger->sparse; which a row is cannot be foretold, so there is no branch for it. */
static void find_rows(trellis_tagger *tagger, const struct tr_table *table,
                      const struct tr_seen *seen, size_t token)
{
    const struct tr_table here = *table; // so that nothing is loaded again behind a store
    uint32_t *dense = tagger->rows.at, *sparse = tagger->sparse.at;
    size_t dense_count = 0, sparse_count = 0;
    for (size_t k = seen->begin[token]; k < seen->begin[token + 1]; k++) {
        uint32_t row = tr_table_find(&here, seen->low[k]);
        bool known = row < here.word_count;
        dense[dense_count] = sparse[sparse_count] = row;
        dense_count += row + (uint64_t)here.width <= here.dense_words;
        sparse_count += known && row >= here.dense_words;
        __builtin_prefetch(tr_table_place(&here, known ? row : 0));
    }
    tagger->rows.size = dense_count;
    tagger->sparse.size = sparse_count;
}

/* Adds the rows that were found to the scores of a token: dense ones together, in registers. */
static void add_rows(const trellis_tagger *tagger, const struct tr_table *table, float *scores)
{
    if (table->shorts) {
        tagger->kernels->add_listed_shorts(scores, (const int16_t *)table->shorts, tagger->rows.at,
                                           tagger->rows.size, table->unit, table->width);
    } else {
        tagger->kernels->add_listed(scores, (const float *)table->words, tagger->rows.at,
                                    tagger->rows.size, table->width);
    }
    for (size_t k = 0; k < tagger->sparse.size; k++) {
        tr_table_add(table, tagger->sparse.at[k], 1, scores);
    }
}

/* The same for attributes with values. */
static void add_valued(const struct tr_table *table, const struct tr_seen *seen, size_t token,
                       float *scores)
{
    for (size_t k = seen->begin[token]; k < seen->begin[token + 1]; k++) {
        tr_table_add(table, tr_table_find(table, seen->low[k]), seen->value[k], scores);
    }
}

/* Adds the weights of what is seen at the tokens from..n-1 to scores [n][stride]. */
static bool add_seen(trellis_tagger *tagger, const struct tr_table *table,
                     const struct tr_seen *seen, size_t from, size_t n, float *scores,
                     size_t stride)
{
    size_t most = n ? seen->begin[n] : 0;
    if (!tr_reserve(&tagger->rows, most) || !tr_reserve(&tagger->sparse, most)) {
        return false;
    }
    for (size_t i = from; i < n + 2; i++) {
        if (i < n) {
            fetch_buckets(table, seen, i);
        }
        if (seen->value && i >= from + 2) {
            add_valued(table, seen, i - 2, scores + (i - 2) * stride);
        } else if (i >= from + 2) {
            add_rows(tagger, table, scores + (i - 2) * stride);
        }
        if (!seen->value && i > from && i <= n) {
            find_rows(tagger, table, seen, i - 1);
        }
    }
    return true;
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
    bool fine = tr_lattice_make_residuals(tagger->lattice) && tr_reserve(&tagger->exact, width);
    float *high = tr_lattice_nodes(tagger->lattice),
          *residual = tr_lattice_residuals(tagger->lattice);
    bool guess = model->unknown && tagger->word_column < sequence->columns;
    for (size_t i = 0; fine && i < sequence->length; i++) {
        double *scores = tagger->exact.at;
        memset(scores, 0, width * sizeof *scores);
        fetch_buckets(&model->node, seen, i);
        for (size_t k = seen->begin[i]; k < seen->begin[i + 1]; k++) {
            tr_table_add_exact(&model->node, tr_table_find(&model->node, seen->low[k]),
                               seen->value ? seen->value[k] : 1.0f, scores);
        }
        bool unknown = guess &&
                       tr_tag_dictionary_find(
                           &model->tag_dictionary,
                           sequence->cells[i * sequence->columns + tagger->word_column]) == TR_NONE;
        double shift = unknown ? excess(model, scores) : 0;
        for (uint32_t c = 0; c < model->label_count; c++) {
            double score = scores[c] - shift;
            high[i * width + c] = (float)score;
            residual[i * width + c] = isfinite(score) ? (float)(score - (double)(float)score) : 0;
        }
    }
    if (fine && model->gaussian.columns) {
        tr_gaussian_score(&model->gaussian, tagger->reals.at, sequence->length, high, residual,
                          width);
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
    bool exact = model->step_low;
    bool fine = exact ? fill_exact(tagger, sequence, &observation->node)
                      : add_seen(tagger, &model->node, &observation->node, 0, n, scores, width);
    if (!exact && model->gaussian.columns) {
        tr_gaussian_score(&model->gaussian, tagger->reals.at, n, scores, NULL, width);
    }
    if (fine && n > 1 && model->edge.record_count > 0 && tr_features_has_edges(model->features)) {
        if (n > MAX_EDGE_SCORES / (model->graph->labels * width)) {
            return tr_fail(error, TRELLIS_LIMIT,
                           "weights for pairs of %u labels take too much memory over %zu tokens",
                           model->graph->labels, n);
        }
        fine = tr_lattice_make_edges(tagger->lattice) &&
               add_seen(tagger, &model->edge, &observation->edge, 1, n,
                        tr_lattice_edges(tagger->lattice), model->graph->labels * width);
    }
    return fine ? TRELLIS_OK : tr_fail_memory(error);
}
