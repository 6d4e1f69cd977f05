/* scores.c - node and edge scores of a lattice, from the attributes of a sequence.
 *
 * Looking up a key and reading its row are two cache misses. All keys of the sequence are known, so
 * the misses are made to overlap with other work: buckets are prefetched some keys early, and tokens
 * are taken in groups with enough attributes to have many misses under way:
 *
 *     rows of group g + 1 are found and fetched -> those of g are added
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

/* Prefetches the bucket of a key some keys after number k, of `count` in all. */
static void fetch_later(const struct tr_table *table, const struct tr_seen *seen, size_t k,
                        size_t count)
{
    if (k + TR_HOMES_AHEAD < count) {
        __builtin_prefetch(&table->buckets[tr_table_home(table, seen->low[k + TR_HOMES_AHEAD])]);
    }
}

/* Adds the weights of attributes with values at the tokens begin .. end-1. */
static void add_valued(const struct tr_table *table, const struct tr_seen *seen, size_t begin,
                       size_t end, float *scores, size_t stride)
{
    for (size_t i = begin; i < end; i++) {
        for (size_t k = seen->begin[i]; k < seen->begin[i + 1]; k++) {
            fetch_later(table, seen, k, seen->begin[end]);
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
    if (seen->value) {
        add_valued(table, seen, from, n, scores, stride);
        return true;
    }
    if (!tr_reserve(&scoring->rows, max) || !tr_reserve(&scoring->dense, max + TR_FOUND_ROOM) ||
        !tr_reserve(&scoring->sparse, max + TR_FOUND_ROOM) || !tr_reserve(&scoring->ends, n) ||
        !tr_reserve(&scoring->homes, max + TR_HOMES_AHEAD)) {
        return false;
    }
    const struct tr_table_kernels *kernels = scoring->table_kernels;
    kernels->homes(scoring->homes.at, table, seen->low, max);
    /* The groups begin .. middle and middle .. end. */
    for (size_t begin = from, middle = from; begin < n;) {
        size_t end = group_end(seen, middle, n);
        struct tr_found_rows found = {scoring->rows.at, scoring->dense.at, scoring->sparse.at,
                                      scoring->ends.at};
        kernels->add(scores + begin * stride, stride, table, &found, middle - begin);
        kernels->find(&found, table, seen->low, scoring->homes.at, seen->begin + middle,
                      end - middle);
        begin = middle;
        middle = end;
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
        for (size_t k = seen->begin[i]; k < seen->begin[i + 1]; k++) {
            fetch_later(&model->node, seen, k, seen->begin[sequence->length]);
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
