/* tagger.c - what is asked: the best labels of a sequence, under a model.
 *
 *     cells -> keys -> rows of weights -> node scores -> best path -> labels
 *
 * Looking up a key and reading its row are two cache misses. The keys of a token are known together,
 * so the misses are made to overlap: first all buckets are fetched, then all rows, then they are added.
 */
#include "base/options.h"
#include "graph/constraint.h"
#include "model/model.h"

/* Floats for the scores of label pairs at all positions: 4 GB. */
#define MOST_EDGE_SCORES ((size_t)1 << 30)

struct trellis_tagger {
    const trellis_model *model;
    struct tr_extractor *extractor;
    enum { UNBOUND, BOUND, MISBOUND } binding; // MISBOUND: the input lacks a column
    bool posterior;
    struct tr_graph *graph; // with steps forbidden on top of the model's; NULL where there are none
    struct tr_steps *own_steps;
    const struct tr_steps *steps; // the tagger's own, or the model's
    struct tr_lattice *lattice;
    double score;
    TR_ARRAY(uint16_t) path;
    TR_ARRAY(trellis_text) labels;
    TR_ARRAY(uint32_t) rows; // of the attributes of one token
    trellis_scheme_storage *storage;
};

/* A graph with more steps forbidden than the model's has. */
static trellis_status constrain(trellis_tagger *tagger, const char *rule, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    uint16_t(*more)[2] = NULL, (*all)[2] = NULL;
    size_t count = 0, had = model->plan.forbidden_count;
    trellis_status status =
        tr_constraint_steps(rule, model->labels, model->label_count, &more, &count, error);
    if (!status && !(all = tr_alloc(had + count, sizeof *all))) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        struct tr_graph_plan plan = model->plan;
        memcpy(all, model->forbidden, had * sizeof *all);
        if (count) {
            memcpy(all + had, more, count * sizeof *all);
        }
        plan.forbidden = (const uint16_t(*)[2])all;
        plan.forbidden_count = had + count;
        status = tr_graph_create(&plan, &tagger->graph, error);
    }
    if (!status) {
        status = tr_steps_create(tagger->graph, &tagger->own_steps, error);
    }
    if (!status) {
        tr_steps_set(tagger->own_steps, model->step_weights);
        tagger->steps = tagger->own_steps;
    }
    free(more);
    free(all);
    return status;
}

trellis_status trellis_tagger_create(const trellis_model *model, const trellis_options *options,
                                     trellis_tagger **ret_tagger, trellis_error *error)
{
    *ret_tagger = NULL;
    trellis_tagger *tagger = tr_alloc(1, sizeof *tagger);
    if (!tagger) {
        return tr_fail_memory(error);
    }
    tagger->model = model;
    tagger->posterior = tr_option_is(options, "decode", "posterior");
    tagger->steps = model->steps;
    trellis_status status = tr_extractor_create(model->features, false, &tagger->extractor, error);
    if (!status && !tr_option_is(options, "constrain", "none")) {
        status = constrain(tagger, tr_option_text(options, "constrain"), error);
    }
    if (!status) {
        status = tr_lattice_create(tagger->graph ? tagger->graph : model->graph, &tagger->lattice,
                                   error);
    }
    if (status) {
        trellis_tagger_destroy(tagger);
        return status;
    }
    *ret_tagger = tagger;
    return TRELLIS_OK;
}

void trellis_tagger_destroy(trellis_tagger *tagger)
{
    if (!tagger) {
        return;
    }
    tr_extractor_destroy(tagger->extractor);
    tr_lattice_destroy(tagger->lattice);
    tr_steps_destroy(tagger->own_steps);
    tr_graph_destroy(tagger->graph);
    trellis_scheme_storage_destroy(tagger->storage);
    free(tagger->path.at);
    free(tagger->labels.at);
    free(tagger->rows.at);
    free(tagger);
}

trellis_status trellis_tagger_bind(trellis_tagger *tagger, const trellis_reader *reader,
                                   trellis_error *error)
{
    trellis_status status = tr_extractor_bind(tagger->extractor, reader, SIZE_MAX, error);
    tagger->binding = status ? MISBOUND : BOUND;
    return status;
}

/* Adds the weights of what is seen at one token to its scores. */
static bool add_seen(trellis_tagger *tagger, const struct tr_table *table,
                     const struct tr_seen *seen, size_t token, float *scores)
{
    size_t begin = seen->begin[token], count = seen->begin[token + 1] - begin;
    if (!tr_reserve(&tagger->rows, count)) {
        return false;
    }
    const uint64_t *keys = seen->low + begin;
    uint32_t *rows = tagger->rows.at;
    for (size_t k = 0; k < count; k++) {
        __builtin_prefetch(&table->buckets[tr_table_home(table, keys[k])]);
    }
    size_t known = 0;
    for (size_t k = 0; k < count; k++) {
        rows[k] = tr_table_find(table, keys[k]);
        if (rows[k] < table->word_count) {
            __builtin_prefetch(&table->words[rows[k]]);
            known++;
        }
    }
    for (size_t k = 0; known && k < count; k++) {
        if (rows[k] != TR_NONE) {
            tr_table_add(table, rows[k], seen->value ? seen->value[begin + k] : 1.0f, scores);
        }
    }
    return true;
}

static trellis_status fill_scores(trellis_tagger *tagger, const struct tr_observation *observation,
                                  trellis_error *error)
{
    const trellis_model *model = tagger->model;
    size_t n = observation->length, width = model->graph->width;
    trellis_status status = tr_lattice_begin(tagger->lattice, n, error);
    if (status) {
        return status;
    }
    float *scores = tr_lattice_nodes(tagger->lattice);
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        fine = add_seen(tagger, &model->node, &observation->node, i, scores + i * width);
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

static trellis_status decode(trellis_tagger *tagger, trellis_error *error)
{
    const struct tr_steps *steps = tagger->steps;
    if (!tagger->posterior) {
        return tr_lattice_viterbi(tagger->lattice, steps, tagger->path.at, &tagger->score, error);
    }
    double log_z;
    trellis_status status = tr_lattice_forward_backward(tagger->lattice, steps, &log_z, error);
    if (!status) {
        tr_lattice_posterior(tagger->lattice, tagger->path.at);
        tagger->score = tr_lattice_path_score(tagger->lattice, steps, tagger->path.at);
    }
    return status;
}

trellis_status trellis_tagger_tag(trellis_tagger *tagger, const trellis_sequence *sequence,
                                  const trellis_text **ret_labels, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    size_t n = sequence->length;
    const struct tr_observation *observation;
    trellis_status status = TRELLIS_OK;
    *ret_labels = NULL;
    if (tagger->binding == UNBOUND) {
        status = trellis_tagger_bind(tagger, NULL, error);
    } else if (tagger->binding == MISBOUND) {
        status = tr_fail(error, TRELLIS_TEMPLATE, "the input lacks a column of the templates");
    }
    if (!tr_reserve(&tagger->path, n) || !tr_reserve(&tagger->labels, n)) {
        return tr_fail_memory(error);
    }
    if (!status) {
        status = tr_extractor_run(tagger->extractor, sequence, &observation, error);
    }
    if (!status) {
        status = fill_scores(tagger, observation, error);
    }
    if (!status) {
        status = decode(tagger, error);
    }
    if (status) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        tagger->labels.at[i] = model->labels[tagger->path.at[i]];
    }
    const trellis_text *labels = tagger->labels.at;
    if (model->inside != TRELLIS_NO_SCHEME && model->outside != TRELLIS_NO_SCHEME) {
        status = trellis_scheme_convert(model->inside, model->outside, tagger->labels.at, n,
                                        &tagger->storage, &labels, error);
    }
    *ret_labels = status ? NULL : labels;
    return status;
}

double trellis_tagger_score(const trellis_tagger *tagger)
{
    return tagger->score;
}
