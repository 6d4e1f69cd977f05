/* scores.c - node and edge scores of a lattice, from the attributes of a sequence.
 *
 * Looking up a key and reading its row are two cache misses. All keys of the sequence are known, so
 * the misses are made to overlap with work on the tokens before. Tokens are taken in groups with
 * enough attributes to have many misses under way:
 *
 *     buckets of group g + 2 are fetched -> rows of g + 1 are found and fetched -> those of g added
 */
#include <math.h>

#include "tagger/tagger_internal.h"

/* Floats for the scores of label pairs at all positions: 4 GB. */
#define MAX_EDGE_SCORES ((size_t)1 << 30)

/* The attributes that a group of tokens has at least, unless the sequence ends. */
enum { GROUP_ATTRIBUTES = 32 };

/* The first token after a group that begins at a token. */
static size_t group_end(const struct tr_seen *seen, size_t begin, size_t n)
{
    size_t end = begin;
    while (end < n && seen->begin[end] - seen->begin[begin] < GROUP_ATTRIBUTES) {
        end++;
    }
    return end;
}

static void fetch_buckets(const struct tr_table *table, const struct tr_seen *seen, size_t begin,
                          size_t end)
{
    for (size_t k = seen->begin[begin]; k < seen->begin[end]; k++) {
        __builtin_prefetch(&table->buckets[tr_table_home(table, seen->low[k])]);
    }
}

/* Finds the rows of the attributes at some tokens, and prefetches them. Dense and sparse rows are
 * listed apart; which a row is cannot be predicted, so there is no branch for it. */
static void find_rows(struct tr_tagger_scoring *scoring, const struct tr_table *table,
                      const struct tr_seen *seen, size_t begin, size_t end)
{
    const struct tr_table here = *table; // so that nothing is loaded again after a store
    uint32_t *dense = scoring->dense.at, *sparse = scoring->sparse.at;
    size_t dense_count = 0, sparse_count = 0;
    for (size_t i = begin; i < end; i++) {
        for (size_t k = seen->begin[i]; k < seen->begin[i + 1]; k++) {
            uint32_t row = tr_table_find(&here, seen->low[k]);
            bool known = row < here.word_count;
            dense[dense_count] = sparse[sparse_count] = row;
            dense_count += row + (uint64_t)here.width <= here.dense_words;
            sparse_count += known && row >= here.dense_words;
            __builtin_prefetch(tr_table_place(&here, known ? row : 0));
        }
        scoring->ends.at[i] = (struct tr_row_ends){(uint32_t)dense_count, (uint32_t)sparse_count};
    }
}

/* Adds the rows listed by find_rows() to the scores of the tokens: dense ones together, in
 * registers. */
static void add_rows(const struct tr_tagger_scoring *scoring, const struct tr_table *table,
                     size_t begin, size_t end, float *scores, size_t stride)
{
    struct tr_row_ends from = {0, 0};
    for (size_t i = begin; i < end; i++) {
        struct tr_row_ends to = scoring->ends.at[i];
        const uint32_t *dense = scoring->dense.at + from.dense;
        float *sums = scores + i * stride;
        if (table->shorts) {
            scoring->kernels->add_listed_shorts(sums, (const int16_t *)table->shorts, dense,
                                                to.dense - from.dense, table->unit, table->width);
        } else {
            scoring->kernels->add_listed(sums, (const float *)table->words, dense,
                                         to.dense - from.dense, table->width);
        }
        for (size_t k = from.sparse; k < to.sparse; k++) {
            tr_table_add(table, scoring->sparse.at[k], 1, sums);
        }
        from = to;
    }
}

/* The same for attributes with values. */
static void add_valued(const struct tr_table *table, const struct tr_seen *seen, size_t begin,
                       size_t end, float *scores, size_t stride)
{
    for (size_t i = begin; i < end; i++) {
        for (size_t k = seen->begin[i]; k < seen->begin[i + 1]; k++) {
            tr_table_add(table, tr_table_find(table, seen->low[k]), seen->value[k],
                         scores + i * stride);
        }
    }
}

/* Adds the weights of the attributes at the tokens from..n-1 to scores [n][stride]. */
static bool add_attributes(trellis_tagger *tagger, const struct tr_table *table,
                           const struct tr_seen *seen, size_t from, size_t n, float *scores,
                           size_t stride)
{
    struct tr_tagger_scoring *scoring = &tagger->scoring;
    size_t max = n ? seen->begin[n] : 0;
    if (!tr_reserve(&scoring->dense, max) || !tr_reserve(&scoring->sparse, max) ||
        !tr_reserve(&scoring->ends, n)) {
        return false;
    }
    /* The groups begin .. middle, middle .. end and end .. last. */
    for (size_t begin = from, middle = from, end = from; begin < n;) {
        size_t last = group_end(seen, end, n);
        fetch_buckets(table, seen, end, last);
        if (seen->value) {
            add_valued(table, seen, begin, middle, scores, stride);
        } else {
            add_rows(scoring, table, begin, middle, scores, stride);
            find_rows(scoring, table, seen, middle, end);
        }
        begin = middle;
        middle = end;
        end = last;
    }
    return true;
}

/* ---- double precision, for an HMM ------------------------------------------------------------ */

/* The scores of an unknown word are correct up to a constant, which is returned: afterwards
 * log u = log sum_z P(z) P(word | z), with u the probability of an unknown word. */
static double unknown_offset(const trellis_model *model, const double *scores)
{
    double max = -INFINITY, sum = 0;
    for (uint32_t c = 0; c < model->label_count; c++) {
        max = fmax(max, scores[c] + model->unknown[1 + c]);
    }
    for (uint32_t c = 0; isfinite(max) && c < model->label_count; c++) {
        sum += exp(scores[c] + model->unknown[1 + c] - max);
    }
    return isfinite(max) ? max + log(sum) - model->unknown[0] : 0;
}

/* Node scores in two floats each: the rounded score and the residual. */
static bool fill_exact(trellis_tagger *tagger, const trellis_sequence *sequence,
                       const struct tr_seen *seen)
{
    const trellis_model *model = tagger->model;
    size_t width = model->graph->width;
    bool ok = tr_lattice_make_residuals(tagger->decoder.lattice) &&
              tr_reserve(&tagger->scoring.exact, width);
    float *high = tr_lattice_nodes(tagger->decoder.lattice),
          *residuals = tr_lattice_residuals(tagger->decoder.lattice);
    bool guess = model->unknown && tagger->input.word_column < sequence->columns;
    for (size_t i = 0; ok && i < sequence->length; i++) {
        double *scores = tagger->scoring.exact.at;
        memset(scores, 0, width * sizeof *scores);
        fetch_buckets(&model->node, seen, i, i + 1);
        for (size_t k = seen->begin[i]; k < seen->begin[i + 1]; k++) {
            tr_table_add_exact(&model->node, tr_table_find(&model->node, seen->low[k]),
                               seen->value ? seen->value[k] : 1.0f, scores);
        }
        bool unknown = guess &&
                       tr_tag_dictionary_find(
                           &model->tag_dictionary,
                           sequence->cells[i * sequence->columns + tagger->input.word_column]) ==
                           TR_NONE;
        double shift = unknown ? unknown_offset(model, scores) : 0;
        for (uint32_t c = 0; c < model->label_count; c++) {
            double score = scores[c] - shift;
            high[i * width + c] = (float)score;
            residuals[i * width + c] = isfinite(score) ? (float)(score - (double)(float)score) : 0;
        }
    }
    if (ok && model->gaussian.columns) {
        tr_gaussian_score(&model->gaussian, tagger->input.reals.at, sequence->length, high,
                          residuals, width);
    }
    return ok;
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* Compares what is about to be read of the tables with its checksums, until that was done for the
 * whole file. */
static trellis_status verify_read(const trellis_model *model,
                                  const struct tr_observation *observation, trellis_error *error)
{
    struct tr_integrity *integrity = model->integrity;
    if (tr_integrity_done(integrity)) {
        return TRELLIS_OK;
    }
    const struct tr_seen *node = &observation->node, *edge = &observation->edge;
    size_t n = observation->length;
    trellis_status status = tr_integrity_advance(integrity, error);
    if (!status && n) {
        status = tr_table_verify(&model->node, integrity, node->low, node->begin[n], error);
    }
    return status || !n || !edge->begin
               ? status
               : tr_table_verify(&model->edge, integrity, edge->low, edge->begin[n], error);
}

trellis_status tr_tagger_fill_scores(trellis_tagger *tagger, const trellis_sequence *sequence,
                                     const struct tr_observation *observation, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    size_t n = observation->length, width = model->graph->width;
    trellis_status status = verify_read(model, observation, error);
    if (!status) {
        status = tr_lattice_begin(tagger->decoder.lattice, n, error);
    }
    if (status) {
        return status;
    }
    float *scores = tr_lattice_nodes(tagger->decoder.lattice);
    if (tagger->scoring.contexts) {
        status = tr_context_cache_add(tagger->scoring.contexts, tagger->input.extractor, n, scores,
                                      error);
    }
    if (status) {
        return status;
    }
    bool exact = model->step_residuals;
    bool ok = exact ? fill_exact(tagger, sequence, &observation->node)
                    : add_attributes(tagger, &model->node, &observation->node, 0, n, scores, width);
    if (!exact && model->gaussian.columns) {
        tr_gaussian_score(&model->gaussian, tagger->input.reals.at, n, scores, NULL, width);
    }
    if (ok && observation->max_segment && n > 0) {
        size_t segments = n * observation->max_segment;
        if (n > MAX_EDGE_SCORES / (observation->max_segment * width)) {
            return tr_fail(error, TRELLIS_LIMIT,
                           "scores of segments take too much memory over %zu tokens", n);
        }
        ok = tr_lattice_make_segments(tagger->decoder.lattice) &&
             add_attributes(tagger, &model->node, &observation->segment, 0, segments,
                            tr_lattice_segments(tagger->decoder.lattice), width);
    }
    if (ok && n > 1 && model->edge.record_count > 0 && tr_features_has_edges(model->features)) {
        if (n > MAX_EDGE_SCORES / (model->graph->labels * width)) {
            return tr_fail(error, TRELLIS_LIMIT,
                           "weights for pairs of %u labels take too much memory over %zu tokens",
                           model->graph->labels, n);
        }
        ok = tr_lattice_make_edges(tagger->decoder.lattice) &&
             add_attributes(tagger, &model->edge, &observation->edge, 1, n,
                            tr_lattice_edges(tagger->decoder.lattice),
                            model->graph->labels * width);
    }
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}
