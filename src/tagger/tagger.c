/* tagger.c - the best labels of a sequence under a model.
 *
 *     cells -> keys -> rows of weights -> node scores -> best path -> labels
 */
#include <math.h>

#include "base/options.h"
#include "corpus/corpus.h"
#include "lattice/loss.h"
#include "base/limits.h"
#include "graph/constraint.h"
#include "tagger/tagger_internal.h"

/* The transitions forbidden by the model and by --constrain; to be freed. */
static trellis_status list_forbidden(const trellis_model *model, const trellis_options *options,
                                     uint16_t (**ret_all)[2], size_t *ret_count,
                                     trellis_error *error)
{
    uint16_t(*more)[2] = NULL, (*all)[2] = NULL;
    size_t count = 0, had = model->plan.forbidden_count;
    trellis_status status = tr_constraint_steps(tr_option_text(options, "constrain"), options,
                                                model->labels, model->label_count, &more, &count,
                                                error);
    if (!status && !(all = tr_alloc(had + count, sizeof *all))) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        memcpy(all, model->forbidden, had * sizeof *all);
        if (count) {
            memcpy(all + had, more, count * sizeof *all);
        }
    }
    free(more);
    *ret_all = all;
    *ret_count = had + count;
    return status;
}

static trellis_status set_pruning(const trellis_model *model, double threshold,
                                  struct tr_graph_plan *plan, trellis_error *error)
{
    plan->threshold = threshold;
    plan->pruned = threshold > 0;
    if (!plan->pruned) {
        return TRELLIS_OK;
    }
    if (model->segments) {
        return tr_fail(error, TRELLIS_MODEL, "--prune does not work with a model of segments");
    }
    if (!model->kind.prunable) {
        return tr_fail(error, TRELLIS_MODEL, "--prune is for models of type crf, not '%s'",
                       model->kind.type);
    }
    return plan->order > 0 && plan->count_cap <= 1
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_MODEL,
                         "--prune is for models of order 1 and more, without counted states");
}

/* The graph for --constrain, which forbids more transitions than the model, and for --prune. */
static trellis_status make_graph(trellis_tagger *tagger, const trellis_options *options,
                                 trellis_error *error)
{
    const trellis_model *model = tagger->model;
    struct tr_graph_plan plan = model->plan;
    uint16_t(*forbidden)[2] = NULL;
    bool constrained = !tr_option_is(options, "constrain", "none");
    bool pruned = trellis_options_given(options, "prune");
    trellis_status status = TRELLIS_OK;
    if (constrained) {
        status = list_forbidden(model, options, &forbidden, &plan.forbidden_count, error);
        plan.forbidden = (const uint16_t(*)[2])forbidden;
    }
    if (!status && pruned) {
        status = set_pruning(model, tr_option_real(options, "prune"), &plan, error);
    }
    if (!status && (constrained || pruned)) {
        status = tr_graph_create(&plan, &tagger->decoder.graph, error);
        if (!status) {
            status = tr_model_steps(model, tagger->decoder.graph, &tagger->decoder.own_steps,
                                    error);
        }
        tagger->decoder.steps = tagger->decoder.own_steps;
    }
    free(forbidden);
    return status;
}

bool tr_tagger_number_labels(trellis_tagger *tagger)
{
    const trellis_model *model = tagger->model;
    bool ok = true;
    for (uint32_t i = (uint32_t)tr_intern_count(&tagger->output.label_numbers);
         ok && i < model->label_count; i++) {
        ok = tr_intern_add(&tagger->output.label_numbers, model->labels[i]) != TR_NONE;
    }
    return ok;
}

static trellis_status read_costs(trellis_tagger *tagger, const trellis_options *options,
                                 trellis_error *error)
{
    uint32_t labels = tagger->model->label_count;
    tagger->decoder.risk = tr_alloc(labels, sizeof *tagger->decoder.risk);
    return tagger->decoder.risk && tr_tagger_number_labels(tagger)
               ? tr_loss_create(options, &tagger->output.label_numbers, labels,
                                &tagger->decoder.loss, error)
               : tr_fail_memory(error);
}

/* Has the templates of recurring contexts added up once. */
static trellis_status use_contexts(trellis_tagger *tagger, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    return tr_extractor_use_contexts(tagger->input.extractor)
               ? tr_context_cache_create(&model->node, model->integrity, &tagger->scoring.contexts,
                                         error)
               : tr_fail_memory(error);
}

trellis_status trellis_tagger_create(const trellis_model *model, const trellis_options *options,
                                     trellis_tagger **ret_tagger, trellis_error *error)
{
    if (!TR_CLEAR(ret_tagger) || !model) {
        return tr_fail_null(error, __func__);
    }
    trellis_tagger *tagger = tr_alloc(1, sizeof *tagger);
    if (!tagger) {
        return tr_fail_memory(error);
    }
    tagger->model = model;
    tagger->scoring.kernels = tr_kernels();
    tagger->scoring.table_kernels = tr_table_kernels();
    tagger->decoder.decoding = tr_option_is(options, "decode", "posterior") ? POSTERIOR
                               : tr_option_is(options, "decode", "risk")    ? RISK
                               : tr_option_is(options, "decode", "beam")    ? BEAM
                                                                            : VITERBI;
    tagger->decoder.beam_width = (size_t)tr_option_integer(options, "beam");
    tagger->filter.threshold = tr_option_real(options, "threshold");
    tagger->decoder.steps = model->steps;
    const char *forced = tr_option_text(options, "forced");
    if (*forced && !(tagger->allowed.option = tr_copy_text(forced, strlen(forced)))) {
        trellis_tagger_destroy(tagger);
        return tr_fail_memory(error);
    }
    tagger->input.real_columns = tr_alloc(model->gaussian.columns,
                                          sizeof *tagger->input.real_columns);
    trellis_status status = tagger->input.real_columns
                                ? tr_extractor_create(model->features, false,
                                                      &tagger->input.extractor, error)
                                : tr_fail_memory(error);
    if (!status && model->segments && tagger->decoder.decoding == BEAM) {
        status = tr_fail(error, TRELLIS_OPTION,
                         "--decode beam does not work with a model of segments; its exact search "
                         "is fast");
    }
    if (!status && model->segments) {
        tr_extractor_set_segments(tagger->input.extractor, model->segments->max_length);
    }
    if (!status && !model->step_residuals && model->graph->width <= TR_MAX_CONTEXT_WIDTH) {
        status = use_contexts(tagger, error);
    }
    struct tr_limits limits = {0};
    if (!status) {
        status = tr_limits_resolve(options, &limits, error);
    }
    if (!status) {
        tr_extractor_limit(tagger->input.extractor, limits.matches);
        tagger->result.max_length = limits.length;
        tagger->result.max_labels = limits.labellings;
        status = make_graph(tagger, options, error);
    }
    if (!status) {
        status = tr_lattice_create(tagger->decoder.graph ? tagger->decoder.graph : model->graph,
                                   &tagger->decoder.lattice, error);
    }
    if (!status && tagger->decoder.decoding == RISK) {
        status = read_costs(tagger, options, error);
    }
    if (status) {
        trellis_tagger_destroy(tagger);
        return status;
    }
    tagger->decoder.shared = (struct tr_decoder){
        .lattice = tagger->decoder.lattice,
        .graph = tagger->decoder.graph ? tagger->decoder.graph : model->graph,
        .steps = tagger->decoder.steps,
        .step_weights = model->step_weights,
        .local = model->local,
        .generative = model->kind.hmm};
    *ret_tagger = tagger;
    return TRELLIS_OK;
}

void trellis_tagger_destroy(trellis_tagger *tagger)
{
    if (!tagger) {
        return;
    }
    tr_extractor_destroy(tagger->input.extractor);
    tr_lattice_destroy(tagger->decoder.lattice);
    tr_lattice_destroy(tagger->decoder.by_cost);
    tr_steps_destroy(tagger->decoder.no_steps);
    tr_steps_destroy(tagger->decoder.own_steps);
    tr_graph_destroy(tagger->decoder.graph);
    trellis_scheme_storage_destroy(tagger->output.scheme_storage);
    tr_loss_destroy(tagger->decoder.loss);
    free(tagger->decoder.risk);
    free(tagger->result.paths.at);
    free(tagger->result.scores.at);
    free(tagger->result.marginals.at);
    free(tagger->result.pairs.at);
    free(tagger->result.numbers.at);
    tr_span_rules_destroy(tagger->filter.rules);
    free(tagger->filter.improbable.at);
    free(tagger->output.labels.at);
    free(tagger->scoring.homes.at);
    free(tagger->scoring.rows.at);
    free(tagger->scoring.dense.at);
    free(tagger->scoring.sparse.at);
    free(tagger->scoring.ends.at);
    free(tagger->scoring.exact.at);
    tr_context_cache_destroy(tagger->scoring.contexts);
    tr_decoder_free(&tagger->decoder.shared);
    free(tagger->allowed.option);
    free(tagger->input.real_columns);
    free(tagger->input.reals.at);
    tr_intern_free(&tagger->output.label_numbers);
    free(tagger->output.queried.at);
    free(tagger->allowed.positions.at);
    free(tagger->allowed.labels.at);
    free(tagger->input.known.at);
    free(tagger->allowed.covered.at);
    free(tagger);
}

/* The column of --forced: its name, its number from 1, or 'last'. */
static trellis_status bind_forced(trellis_tagger *tagger, const trellis_reader *reader,
                                  trellis_error *error)
{
    tagger->allowed.column = SIZE_MAX;
    if (!tagger->allowed.option || strcmp(tagger->allowed.option, "last") == 0) {
        return TRELLIS_OK;
    }
    tagger->allowed.column = tr_reader_column(reader, tr_text(tagger->allowed.option));
    if (tagger->allowed.column != SIZE_MAX) {
        return TRELLIS_OK;
    }
    return tr_fail(error, TRELLIS_OPTION,
                   "--forced: no column is named '%s'; a number from 1 is accepted as well",
                   tagger->allowed.option);
}

trellis_status trellis_tagger_bind(trellis_tagger *tagger, const trellis_reader *reader,
                                   trellis_error *error)
{
    if (!tagger) {
        return tr_fail_null(error, __func__);
    }
    trellis_status status = tr_extractor_bind(tagger->input.extractor, reader, SIZE_MAX, error);
    tagger->input.word_column = tr_reader_word_column(reader, SIZE_MAX);
    if (!status) {
        status = bind_forced(tagger, reader, error);
    }
    if (!status && tagger->model->gaussian.columns) {
        status = tr_gaussian_bind(tagger->model->gaussian.names, reader, SIZE_MAX,
                                  tagger->input.real_columns, error);
    }
    tagger->input.binding = status ? MISBOUND : BOUND;
    return status;
}

static trellis_status no_sequence(void *user, const trellis_sequence **ret_sequence,
                                  trellis_error *error)
{
    (void)user, (void)error;
    *ret_sequence = NULL;
    return TRELLIS_END;
}

/* By a reader that has these names and no sequences. */
trellis_status trellis_tagger_bind_columns(trellis_tagger *tagger, const char *const *names,
                                           size_t count, trellis_error *error)
{
    if (!tagger || (!names && count > 0)) {
        return tr_fail_null(error, __func__);
    }
    trellis_source source = {.struct_size = sizeof source,
                             .next = no_sequence,
                             .column_names = names,
                             .column_count = count};
    trellis_reader *reader;
    trellis_status status = trellis_reader_open_source(&source, NULL, &reader, error);
    if (!status) {
        status = trellis_tagger_bind(tagger, reader, error);
    }
    trellis_reader_close(reader);
    return status;
}

/* ---- decoding -------------------------------------------------------------------------------- */

/* One sequence, as the callbacks of the decoder see it. */
struct tagged_sequence {
    trellis_tagger *tagger;
    const trellis_sequence *sequence;
    const struct tr_observation *observation;
};

/* With segments the labels must make segments: the segmentation of the least expected cost. */
static trellis_status decode_segments(trellis_tagger *tagger, uint16_t *labels,
                                      trellis_error *error)
{
    struct tr_tagger_decoder *decoder = &tagger->decoder;
    const float *marginals = tr_lattice_node_marginals(decoder->lattice);
    size_t n = tagger->result.length, width = tagger->model->graph->width;
    double score;
    trellis_status status = TRELLIS_OK;
    if (!decoder->by_cost) {
        status = tr_lattice_create(decoder->shared.graph, &decoder->by_cost, error);
    }
    if (!status && !decoder->no_steps) {
        status = tr_steps_create(decoder->shared.graph, NULL, &decoder->no_steps, error);
    }
    if (!status) {
        status = tr_lattice_begin(decoder->by_cost, n, error);
    }
    for (size_t i = 0; !status && i < n; i++) {
        float *scores = tr_lattice_nodes(decoder->by_cost) + i * width;
        if (decoder->decoding == RISK) {
            tr_loss_least_risk(decoder->loss, marginals + i * width, decoder->risk);
        }
        for (uint32_t c = 0; c < tagger->model->label_count; c++) {
            float p = marginals[i * width + c];
            scores[c] = p <= 0                      ? -1e6f // not what was ruled out
                        : decoder->decoding == RISK ? -(float)decoder->risk[c]
                                                    : p;
        }
    }
    return status ? status
                  : tr_lattice_viterbi(decoder->by_cost, decoder->no_steps, labels, &score, error);
}

/* The labels of --decode posterior or risk, from the marginals. */
static void decode_marginals(trellis_tagger *tagger, uint16_t *labels)
{
    const float *marginals = tr_lattice_node_marginals(tagger->decoder.lattice);
    size_t width = tagger->model->graph->width;
    if (tagger->decoder.decoding == POSTERIOR) {
        tr_lattice_posterior(tagger->decoder.lattice, labels);
        return;
    }
    for (size_t i = 0; i < tagger->result.length; i++) {
        labels[i] = tr_loss_least_risk(tagger->decoder.loss, marginals + i * width,
                                       tagger->decoder.risk);
    }
}

/* The search that --decode asks for, or the n best. */
static trellis_status search(void *user, struct tr_lattice *lattice, const struct tr_steps *steps,
                             trellis_error *error)
{
    trellis_tagger *tagger = ((const struct tagged_sequence *)user)->tagger;
    uint16_t *paths = tagger->result.paths.at;
    double *scores = tagger->result.scores.at;
    trellis_status status = TRELLIS_OK;
    if (tagger->result.ranks) {
        status = tr_lattice_nbest(lattice, steps, tagger->result.ranks, paths, scores,
                                  &tagger->result.count, error);
        for (size_t k = 0; !status && tagger->model->step_residuals && k < tagger->result.count;
             k++) {
            scores[k] = tr_lattice_path_score(lattice, steps, paths + k * tagger->result.length);
        }
        return status;
    }
    if (tagger->decoder.decoding == BEAM) {
        status = tr_lattice_beam(lattice, steps, tagger->decoder.beam_width, paths, scores, error);
    } else if (tagger->decoder.decoding == VITERBI) {
        status = tr_lattice_viterbi(lattice, steps, paths, scores, error);
    } else {
        status = tr_lattice_forward_backward(lattice, steps, &tagger->result.log_z, error);
        if (!status && tagger->model->segments) {
            status = decode_segments(tagger, paths, error);
        } else if (!status) {
            decode_marginals(tagger, paths);
        }
        if (!status) {
            scores[0] = tr_lattice_path_score(lattice, steps, paths);
        }
    }
    tagger->result.count = status == TRELLIS_OK;
    return status;
}

static trellis_status fill(void *user, struct tr_lattice *lattice, trellis_error *error)
{
    (void)lattice; // the tagger's
    const struct tagged_sequence *s = user;
    return tr_tagger_fill_scores(s->tagger, s->sequence, s->observation, error);
}

static trellis_status restrict_words(void *user, struct tr_lattice *lattice, trellis_error *error)
{
    (void)lattice;
    const struct tagged_sequence *s = user;
    return tr_tagger_restrict_words(s->tagger, s->sequence, error);
}

static trellis_status restrict_given(void *user, struct tr_lattice *lattice, trellis_error *error)
{
    (void)lattice;
    const struct tagged_sequence *s = user;
    return tr_tagger_restrict_allowed(s->tagger, error);
}

/* Extracts the attributes, the real-valued columns and the labels of --forced. */
static trellis_status read_input(trellis_tagger *tagger, const trellis_sequence *sequence,
                                 const struct tr_observation **ret_observation,
                                 trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (tagger->input.binding == UNBOUND) {
        status = trellis_tagger_bind(tagger, NULL, error);
    } else if (tagger->input.binding == MISBOUND) {
        status = tr_fail(error, TRELLIS_TEMPLATE, "the input lacks a column of the templates");
    }
    const trellis_model *model = tagger->model;
    if (!status && sequence->columns && !sequence->attribute_begin && sequence->length &&
        model->node.record_count && tr_features_is_none(model->features)) {
        status = tr_fail_token(error, TRELLIS_DATA, sequence, 0,
                               "the input has columns, but the model was trained on ready-made "
                               "attributes");
    }
    if (!status) {
        status = tr_extractor_run(tagger->input.extractor, sequence, ret_observation, error);
    }
    size_t reals = tagger->model->gaussian.columns;
    if (!status && reals) {
        status = tr_reserve(&tagger->input.reals, sequence->length * reals)
                     ? tr_gaussian_take(sequence, NULL, tagger->input.real_columns, reals,
                                        tagger->input.reals.at, error)
                     : tr_fail_memory(error);
    }
    return status ? status : tr_tagger_read_forced(tagger, sequence, error);
}

/* As many of the `ranks` labellings as there are, at most: labels^length. */
static size_t existing_ranks(const trellis_model *model, size_t length, size_t ranks)
{
    size_t count = 1;
    for (size_t i = 0; i < length && count < ranks; i++) {
        if (__builtin_mul_overflow(count, (size_t)model->label_count, &count)) {
            return ranks;
        }
    }
    return count < ranks ? count : ranks;
}

/* Clears the last result and makes room for the next. */
static trellis_status begin_result(trellis_tagger *tagger, size_t length, size_t ranks,
                                   trellis_error *error)
{
    ranks = existing_ranks(tagger->model, length, ranks);
    size_t max = ranks ? ranks : 1, labels;
    tagger->result.count = 0;
    tagger->result.impossible = false;
    tagger->result.length = length;
    tagger->result.ranks = ranks;
    if (length > tagger->result.max_length) {
        return tr_fail(error, TRELLIS_LIMIT, "a sequence of more than %llu tokens (--max-length)",
                       (unsigned long long)tagger->result.max_length);
    }
    if (ranks > 1 &&
        (__builtin_mul_overflow(max, length, &labels) || labels > tagger->result.max_labels)) {
        return tr_fail(error, TRELLIS_LIMIT,
                       "%zu labellings of %zu tokens are more than %llu labels (--max-labellings)",
                       ranks, length, (unsigned long long)tagger->result.max_labels);
    }
    return tr_reserve(&tagger->result.paths, max * length) &&
                   tr_reserve(&tagger->result.scores, max) &&
                   tr_reserve(&tagger->output.labels, length)
               ? TRELLIS_OK
               : tr_fail_memory(error);
}

/* The best labelling, or the `ranks` best. */
static trellis_status tag(trellis_tagger *tagger, const trellis_sequence *given, size_t ranks,
                          trellis_error *error)
{
    bool by_dictionary = tagger->model->tag_dictionary.words > 0;
    trellis_sequence sequence;
    struct tagged_sequence tagged = {.tagger = tagger, .sequence = &sequence};
    struct tr_decode_calls calls = {.fill = fill,
                                    .restrict_words = by_dictionary ? restrict_words : NULL,
                                    .restrict_given = restrict_given,
                                    .search = search};
    trellis_status status = tr_sequence_take(given, &sequence, error);
    trellis_status begun = begin_result(tagger, status ? 0 : sequence.length, ranks,
                                        status ? NULL : error);
    status = status ? status : begun;
    if (!status) {
        status = read_input(tagger, &sequence, &tagged.observation, error);
    }
    if (!status) {
        status = tr_decode(&tagger->decoder.shared, sequence.length, &calls, &tagged,
                           &tagger->result.impossible, error);
    }
    tr_tagger_clear_allowed(tagger);
    return status;
}

/* Marks the tokens below --threshold. */
static trellis_status apply_threshold(trellis_tagger *tagger, trellis_error *error)
{
    if (!tr_reserve(&tagger->filter.improbable, tagger->result.length + 1)) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_tagger_compute_marginals(tagger, 0, error);
    if (!status) {
        status = tr_tagger_make_rules(tagger, error);
    }
    if (!status) {
        struct tr_tagging_result result = tr_tagger_result(tagger);
        status = tr_mark_improbable(tagger->filter.rules, &result, tagger->filter.threshold,
                                    tagger->filter.improbable.at, error);
    }
    if (status) {
        tagger->result.count = 0;
    }
    return status;
}

/* The labels of a path, in the scheme of the input. */
static trellis_status write_labels(trellis_tagger *tagger, const uint16_t *path,
                                   const trellis_text **ret_labels, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    for (size_t i = 0; i < tagger->result.length; i++) {
        tagger->output.labels.at[i] = model->labels[path[i]];
    }
    if (tagger->filter.threshold > 0 && !tagger->result.ranks) {
        trellis_text none = tr_span_rules_apply(tagger->filter.rules) ? TR_TEXT("O") : TR_TEXT("_");
        for (size_t i = 0; i < tagger->result.length; i++) {
            tagger->output.labels.at[i] = tagger->filter.improbable.at[i]
                                              ? none
                                              : tagger->output.labels.at[i];
        }
    }
    *ret_labels = tagger->output.labels.at;
    if (model->inside == TRELLIS_NO_SCHEME || model->outside == TRELLIS_NO_SCHEME) {
        return TRELLIS_OK;
    }
    return trellis_scheme_convert(model->inside, model->outside, tagger->output.labels.at,
                                  tagger->result.length, &tagger->output.scheme_storage, ret_labels,
                                  error);
}

trellis_status trellis_tagger_tag(trellis_tagger *tagger, const trellis_sequence *sequence,
                                  const trellis_text **ret_labels, trellis_error *error)
{
    if (!TR_CLEAR(ret_labels) || !tagger || !sequence) {
        return tr_fail_null(error, __func__);
    }
    trellis_status status = tag(tagger, sequence, 0, error);
    if (!status && tagger->filter.threshold > 0) {
        status = apply_threshold(tagger, error);
    }
    if (!status) {
        status = write_labels(tagger, tagger->result.paths.at, ret_labels, error);
    }
    if (status) {
        *ret_labels = NULL;
    }
    return status;
}

double trellis_tagger_score(const trellis_tagger *tagger)
{
    if (!tagger) {
        return NAN;
    }
    return trellis_tagger_nth_score(tagger, 0);
}

/* ---- n best labellings ----------------------------------------------------------------------- */

trellis_status trellis_tagger_nbest(trellis_tagger *tagger, const trellis_sequence *sequence,
                                    size_t n, size_t *ret_count, trellis_error *error)
{
    if (!tagger || !sequence || !ret_count) {
        return tr_fail_null(error, __func__);
    }
    *ret_count = 0;
    if (n == 0) {
        return tr_fail(error, TRELLIS_OPTION, "the number of labellings must be at least 1");
    }
    trellis_status status = tag(tagger, sequence, n, error);
    *ret_count = tagger->result.count;
    return status;
}

const trellis_text *trellis_tagger_nth_labels(trellis_tagger *tagger, size_t rank)
{
    if (!tagger) {
        return NULL;
    }
    const trellis_text *labels;
    if (rank >= tagger->result.count ||
        write_labels(tagger, tagger->result.paths.at + rank * tagger->result.length, &labels,
                     NULL)) {
        return NULL;
    }
    return labels;
}

const int32_t *trellis_tagger_nth_numbers(trellis_tagger *tagger, size_t rank)
{
    if (!tagger) {
        return NULL;
    }
    size_t length = tagger->result.length;
    if (rank >= tagger->result.count || !tr_reserve(&tagger->result.numbers, length + 1)) {
        return NULL;
    }
    for (size_t i = 0; i < length; i++) {
        tagger->result.numbers.at[i] = tagger->result.paths.at[rank * length + i];
    }
    return tagger->result.numbers.at;
}

double trellis_tagger_nth_score(const trellis_tagger *tagger, size_t rank)
{
    if (!tagger) {
        return NAN;
    }
    return rank >= tagger->result.count ? NAN
           : tagger->result.impossible  ? -INFINITY
                                        : tagger->result.scores.at[rank];
}

/* ---- words ----------------------------------------------------------------------------------- */

trellis_status trellis_tagger_known(trellis_tagger *tagger, const trellis_words *words,
                                    const trellis_sequence *given, const bool **ret_known,
                                    trellis_error *error)
{
    if (!TR_CLEAR(ret_known) || !tagger || !given) {
        return tr_fail_null(error, __func__);
    }
    const trellis_model *model = tagger->model;
    size_t column = tagger->input.word_column;
    trellis_sequence sequence;
    trellis_status status = tr_sequence_take(given, &sequence, error);
    if (status || (!words && !model->word_count) || column >= sequence.columns) {
        return status;
    }
    if (!tr_reserve(&tagger->input.known, sequence.length + 1)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < sequence.length; i++) {
        trellis_text word = sequence.cells[i * sequence.columns + column];
        tagger->input.known.at[i] = words ? tr_words_has(words, word)
                                          : tr_words_find(model->words, model->word_count, word);
    }
    *ret_known = tagger->input.known.at;
    return TRELLIS_OK;
}

/* ---- for the other files of this folder ------------------------------------------------------ */

struct tr_tagging_result tr_tagger_result(trellis_tagger *tagger)
{
    return (struct tr_tagging_result){tagger->model,
                                      tagger->decoder.lattice,
                                      tr_tagger_steps(tagger),
                                      tagger->decoder.graph ? tagger->decoder.graph
                                                            : tagger->model->graph,
                                      tagger->result.count ? tagger->result.paths.at : NULL,
                                      tagger->result.length,
                                      tagger->result.log_z,
                                      tagger->input.reals.at};
}
