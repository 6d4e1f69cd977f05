/* tagger.c - what is asked: the best labels of a sequence, under a model.
 *
 *     cells -> keys -> rows of weights -> node scores -> best path -> labels
 */
#include <math.h>

#include "base/options.h"
#include "corpus/corpus.h"
#include "lattice/loss.h"
#include "graph/constraint.h"
#include "tagger/tagger_internal.h"

/* In the place of minus infinity, where something impossible has to be taken. */
#define NEARLY_IMPOSSIBLE (-1000.0f)

/* All steps that are forbidden: by the model, and by a rule; to be freed. */
static trellis_status list_forbidden(const trellis_model *model, const char *rule,
                                     uint16_t (**ret_all)[2], size_t *ret_count,
                                     trellis_error *error)
{
    uint16_t(*more)[2] = NULL, (*all)[2] = NULL;
    size_t count = 0, had = model->plan.forbidden_count;
    trellis_status status = tr_constraint_steps(rule, model->labels, model->label_count, &more,
                                                &count, error);
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

/* How a search is to be pruned. */
static trellis_status set_pruning(const trellis_model *model, double threshold,
                                  struct tr_graph_plan *plan, trellis_error *error)
{
    const char *type = trellis_model_note(model, "type");
    plan->threshold = threshold;
    plan->pruned = threshold > 0;
    if (!plan->pruned) {
        return TRELLIS_OK;
    }
    if (!type || strcmp(type, "crf") != 0) {
        return tr_fail(error, TRELLIS_MODEL, "--prune is for models of type crf, not '%s'",
                       type ? type : "unknown");
    }
    return plan->order > 0 && plan->count_cap <= 1
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_MODEL,
                         "--prune is for models of order 1 and more, without counted states");
}

/* A graph of the tagger's own: with more steps forbidden than the model's has, or pruned in another way. */
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
        status = list_forbidden(model, tr_option_text(options, "constrain"), &forbidden,
                                &plan.forbidden_count, error);
        plan.forbidden = (const uint16_t(*)[2])forbidden;
    }
    if (!status && pruned) {
        status = set_pruning(model, tr_option_real(options, "prune"), &plan, error);
    }
    if (!status && (constrained || pruned)) {
        status = tr_graph_create(&plan, &tagger->graph, error);
        if (!status) {
            status = tr_model_steps(model, tagger->graph, &tagger->own_steps, error);
        }
        tagger->steps = tagger->own_steps;
    }
    free(forbidden);
    return status;
}

/* The labels of the model by number. */
bool tr_tagger_list_names(trellis_tagger *tagger)
{
    const trellis_model *model = tagger->model;
    bool fine = true;
    for (uint32_t i = (uint32_t)tr_intern_count(&tagger->names); fine && i < model->label_count;
         i++) {
        fine = tr_intern_add(&tagger->names, model->labels[i]) != TR_NONE;
    }
    return fine;
}

static trellis_status read_costs(trellis_tagger *tagger, const trellis_options *options,
                                 trellis_error *error)
{
    uint32_t labels = tagger->model->label_count;
    tagger->risk = tr_alloc(labels, sizeof *tagger->risk);
    return tagger->risk && tr_tagger_list_names(tagger)
               ? tr_loss_create(options, &tagger->names, labels, &tagger->loss, error)
               : tr_fail_memory(error);
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
    tagger->kernels = tr_kernels();
    tagger->decoding = tr_option_is(options, "decode", "posterior") ? POSTERIOR
                       : tr_option_is(options, "decode", "risk")    ? RISK
                       : tr_option_is(options, "decode", "beam")    ? BEAM
                                                                    : VITERBI;
    tagger->beam_width = (size_t)tr_option_integer(options, "beam");
    tagger->threshold = tr_option_real(options, "threshold");
    tagger->steps = model->steps;
    const char *forced = tr_option_text(options, "forced");
    if (*forced && !(tagger->forced = tr_copy_text(forced, strlen(forced)))) {
        trellis_tagger_destroy(tagger);
        return tr_fail_memory(error);
    }
    tagger->real_columns = tr_alloc(model->gaussian.columns, sizeof *tagger->real_columns);
    trellis_status status = tagger->real_columns ? tr_extractor_create(model->features, false,
                                                                       &tagger->extractor, error)
                                                 : tr_fail_memory(error);
    if (!status) {
        status = make_graph(tagger, options, error);
    }
    if (!status) {
        status = tr_lattice_create(tagger->graph ? tagger->graph : model->graph, &tagger->lattice,
                                   error);
    }
    if (!status && tagger->decoding == RISK) {
        status = read_costs(tagger, options, error);
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
    tr_loss_destroy(tagger->loss);
    free(tagger->risk);
    free(tagger->paths.at);
    free(tagger->scores.at);
    free(tagger->marginals.at);
    tr_span_rules_destroy(tagger->rules);
    free(tagger->improbable.at);
    free(tagger->labels.at);
    free(tagger->rows.at);
    free(tagger->sparse.at);
    free(tagger->exact.at);
    tr_steps_destroy(tagger->relaxed);
    free(tagger->forced);
    free(tagger->real_columns);
    free(tagger->reals.at);
    tr_intern_free(&tagger->names);
    free(tagger->asked.at);
    free(tagger->given.at);
    free(tagger->given_labels.at);
    free(tagger->known.at);
    free(tagger->is_given.at);
    free(tagger);
}

/* The column of --forced: its name, its number from 1, or 'last'. */
static trellis_status bind_forced(trellis_tagger *tagger, const trellis_reader *reader,
                                  trellis_error *error)
{
    tagger->forced_column = SIZE_MAX;
    if (!tagger->forced || strcmp(tagger->forced, "last") == 0) {
        return TRELLIS_OK;
    }
    tagger->forced_column = tr_reader_column(reader, tr_text(tagger->forced));
    if (tagger->forced_column != SIZE_MAX) {
        return TRELLIS_OK;
    }
    return tr_fail(error, TRELLIS_OPTION,
                   "--forced: no column has the name '%s'; it takes a number from 1 as well",
                   tagger->forced);
}

trellis_status trellis_tagger_bind(trellis_tagger *tagger, const trellis_reader *reader,
                                   trellis_error *error)
{
    trellis_status status = tr_extractor_bind(tagger->extractor, reader, SIZE_MAX, error);
    tagger->word_column = tr_reader_word_column(reader, SIZE_MAX);
    if (!status) {
        status = bind_forced(tagger, reader, error);
    }
    if (!status && tagger->model->gaussian.columns) {
        status = tr_gaussian_bind(tagger->model->gaussian.names, reader, SIZE_MAX,
                                  tagger->real_columns, error);
    }
    tagger->binding = status ? MISBOUND : BOUND;
    return status;
}

/* ---- decoding ------------------------------------------------------------------------------------ */

/* Labels by what each position shows alone, once the marginals are known. */
static void choose_labels(trellis_tagger *tagger, uint16_t *labels)
{
    const float *marginals = tr_lattice_node_marginals(tagger->lattice);
    size_t width = tagger->model->graph->width;
    if (tagger->decoding == POSTERIOR) {
        tr_lattice_posterior(tagger->lattice, labels);
        return;
    }
    for (size_t i = 0; i < tagger->length; i++) {
        labels[i] = tr_loss_least_risk(tagger->loss, marginals + i * width, tagger->risk);
    }
}

static trellis_status decode(trellis_tagger *tagger, trellis_error *error)
{
    struct tr_lattice *lattice = tagger->lattice;
    const struct tr_steps *steps = tr_tagger_steps(tagger);
    uint16_t *paths = tagger->paths.at;
    double *scores = tagger->scores.at;
    trellis_status status = TRELLIS_OK;
    if (tagger->ranks) {
        status = tr_lattice_nbest(lattice, steps, tagger->ranks, paths, scores, &tagger->found,
                                  error);
        for (size_t k = 0; !status && tagger->model->step_low && k < tagger->found; k++) {
            scores[k] = tr_lattice_path_score(lattice, steps, paths + k * tagger->length);
        }
        return status;
    }
    if (tagger->decoding == BEAM) {
        status = tr_lattice_beam(lattice, steps, tagger->beam_width, paths, scores, error);
    } else if (tagger->decoding == VITERBI) {
        status = tr_lattice_viterbi(lattice, steps, paths, scores, error);
    } else {
        status = tr_lattice_forward_backward(lattice, steps, &tagger->log_z, error);
        if (!status) {
            choose_labels(tagger, paths);
            scores[0] = tr_lattice_path_score(lattice, steps, paths);
        }
    }
    tagger->found = status == TRELLIS_OK;
    return status;
}

static trellis_status score_and_decode(trellis_tagger *tagger, const trellis_sequence *sequence,
                                       const struct tr_observation *observation, bool by_dictionary,
                                       trellis_error *error)
{
    trellis_status status = tr_tagger_fill_scores(tagger, sequence, observation, error);
    if (!status && by_dictionary) {
        status = tr_tagger_restrict_words(tagger, sequence, error);
    }
    if (!status && tagger->model->local) {
        status = tr_lattice_normalise(tagger->lattice, tagger->steps, error);
    }
    if (!status) { // behind the decisions, of which it is news
        status = tr_tagger_restrict_given(tagger, error);
    }
    return status ? status : decode(tagger, error);
}

/* Steps that are impossible made merely very improbable. */
static trellis_status relax_steps(trellis_tagger *tagger, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    size_t count = model->plan.gram_count;
    float *weights = tr_alloc(count, sizeof *weights);
    trellis_status status = weights ? TRELLIS_OK : tr_fail_memory(error);
    if (!status && !tagger->relaxed) {
        status = tr_steps_create(tagger->graph ? tagger->graph : model->graph, &tagger->relaxed,
                                 error);
    }
    for (size_t i = 0; !status && i < count; i++) {
        weights[i] = fmaxf(model->step_weights[i], NEARLY_IMPOSSIBLE);
    }
    if (!status) {
        tr_steps_set(tagger->relaxed, weights);
    }
    free(weights);
    return status;
}

/* Under an HMM all labellings of a sequence may have probability 0, because of a word or of a step. The
 * answer is the one that takes the fewest impossible things, and the most probable of those. */
static trellis_status decode_impossible(trellis_tagger *tagger, const trellis_sequence *sequence,
                                        const struct tr_observation *observation,
                                        trellis_error *error)
{
    trellis_status status = relax_steps(tagger, error);
    if (!status) {
        status = tr_tagger_fill_scores(tagger, sequence, observation, error);
    }
    size_t width = tagger->model->graph->width;
    float *scores = tr_lattice_nodes(tagger->lattice);
    for (size_t k = 0; !status && k < sequence->length * width; k++) {
        scores[k] = fmaxf(scores[k], NEARLY_IMPOSSIBLE);
    }
    if (!status) {
        status = tr_tagger_restrict_given(tagger, error);
    }
    tagger->impossible = !status;
    return status ? status : decode(tagger, error);
}

/* What is seen in a sequence, and the labels that are given in it. */
static trellis_status observe(trellis_tagger *tagger, const trellis_sequence *sequence,
                              const struct tr_observation **ret_observation, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (tagger->binding == UNBOUND) {
        status = trellis_tagger_bind(tagger, NULL, error);
    } else if (tagger->binding == MISBOUND) {
        status = tr_fail(error, TRELLIS_TEMPLATE, "the input lacks a column of the templates");
    }
    if (!status) {
        status = tr_extractor_run(tagger->extractor, sequence, ret_observation, error);
    }
    size_t reals = tagger->model->gaussian.columns;
    if (!status && reals) {
        status = tr_reserve(&tagger->reals, sequence->length * reals)
                     ? tr_gaussian_take(sequence, NULL, tagger->real_columns, reals,
                                        tagger->reals.at, error)
                     : tr_fail_memory(error);
    }
    return status ? status : tr_tagger_give_column(tagger, sequence, error);
}

/* Room for what may be found. */
static bool make_room(trellis_tagger *tagger, size_t length, size_t ranks)
{
    size_t most = ranks ? ranks : 1, labels;
    tagger->found = 0;
    tagger->impossible = false;
    tagger->length = length;
    tagger->ranks = ranks;
    return !__builtin_mul_overflow(most, length, &labels) && tr_reserve(&tagger->paths, labels) &&
           tr_reserve(&tagger->scores, most) && tr_reserve(&tagger->labels, length);
}

static bool is_hmm(const trellis_model *model)
{
    const char *type = trellis_model_note(model, "type");
    return type && strcmp(type, "hmm") == 0;
}

/* Finds the best labels, or as many of the best as `ranks` says. */
static trellis_status find(trellis_tagger *tagger, const trellis_sequence *sequence, size_t ranks,
                           trellis_error *error)
{
    const struct tr_observation *observation = NULL;
    bool by_dictionary = tagger->model->tag_dictionary.words > 0;
    trellis_status status = make_room(tagger, sequence->length, ranks)
                                ? observe(tagger, sequence, &observation, error)
                                : tr_fail_memory(error);
    if (!status) {
        status = score_and_decode(tagger, sequence, observation, by_dictionary, error);
        if (status == TRELLIS_DATA && by_dictionary) { // no path: as if there were no dictionary
            status = score_and_decode(tagger, sequence, observation, false, error);
        }
        if (status == TRELLIS_DATA && is_hmm(tagger->model)) {
            status = decode_impossible(tagger, sequence, observation, error);
        }
    }
    tr_tagger_forget_given(tagger);
    return status;
}

/* Marks what --threshold leaves out. */
static trellis_status leave_out(trellis_tagger *tagger, trellis_error *error)
{
    if (!tr_reserve(&tagger->improbable, tagger->length + 1)) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_tagger_sum_up(tagger, 0, error);
    if (!status) {
        status = tr_tagger_make_rules(tagger, error);
    }
    if (!status) {
        struct tr_found found = tr_tagger_found(tagger);
        status = tr_mark_improbable(tagger->rules, &found, tagger->threshold, tagger->improbable.at,
                                    error);
    }
    if (status) {
        tagger->found = 0;
    }
    return status;
}

/* The labels of a path, in the scheme of the input. */
static trellis_status write_labels(trellis_tagger *tagger, const uint16_t *path,
                                   const trellis_text **ret_labels, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    for (size_t i = 0; i < tagger->length; i++) {
        tagger->labels.at[i] = model->labels[path[i]];
    }
    if (tagger->threshold > 0 && !tagger->ranks) {
        trellis_text none = tr_span_rules_apply(tagger->rules) ? TR_TEXT("O") : TR_TEXT("_");
        for (size_t i = 0; i < tagger->length; i++) {
            tagger->labels.at[i] = tagger->improbable.at[i] ? none : tagger->labels.at[i];
        }
    }
    *ret_labels = tagger->labels.at;
    if (model->inside == TRELLIS_NO_SCHEME || model->outside == TRELLIS_NO_SCHEME) {
        return TRELLIS_OK;
    }
    return trellis_scheme_convert(model->inside, model->outside, tagger->labels.at, tagger->length,
                                  &tagger->storage, ret_labels, error);
}

trellis_status trellis_tagger_tag(trellis_tagger *tagger, const trellis_sequence *sequence,
                                  const trellis_text **ret_labels, trellis_error *error)
{
    *ret_labels = NULL;
    trellis_status status = find(tagger, sequence, 0, error);
    if (!status && tagger->threshold > 0) {
        status = leave_out(tagger, error);
    }
    if (!status) {
        status = write_labels(tagger, tagger->paths.at, ret_labels, error);
    }
    if (status) {
        *ret_labels = NULL;
    }
    return status;
}

double trellis_tagger_score(const trellis_tagger *tagger)
{
    return trellis_tagger_nth_score(tagger, 0);
}

/* ---- the best few -------------------------------------------------------------------------------- */

trellis_status trellis_tagger_nbest(trellis_tagger *tagger, const trellis_sequence *sequence,
                                    size_t n, size_t *ret_count, trellis_error *error)
{
    *ret_count = 0;
    if (n == 0) {
        return tr_fail(error, TRELLIS_OPTION, "at least one labelling must be asked for");
    }
    trellis_status status = find(tagger, sequence, n, error);
    *ret_count = tagger->found;
    return status;
}

const trellis_text *trellis_tagger_nth_labels(trellis_tagger *tagger, size_t rank)
{
    const trellis_text *labels;
    if (rank >= tagger->found ||
        write_labels(tagger, tagger->paths.at + rank * tagger->length, &labels, NULL)) {
        return NULL;
    }
    return labels;
}

double trellis_tagger_nth_score(const trellis_tagger *tagger, size_t rank)
{
    return rank >= tagger->found ? NAN : tagger->impossible ? -INFINITY : tagger->scores.at[rank];
}

/* ---- words --------------------------------------------------------------------------------------- */

trellis_status trellis_tagger_known(trellis_tagger *tagger, const trellis_words *words,
                                    const trellis_sequence *sequence, const bool **ret_known,
                                    trellis_error *error)
{
    const trellis_model *model = tagger->model;
    size_t column = tagger->word_column;
    *ret_known = NULL;
    if ((!words && !model->word_count) || column >= sequence->columns) {
        return TRELLIS_OK;
    }
    if (!tr_reserve(&tagger->known, sequence->length + 1)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_text word = sequence->cells[i * sequence->columns + column];
        tagger->known.at[i] = words ? tr_words_has(words, word)
                                    : tr_words_find(model->words, model->word_count, word);
    }
    *ret_known = tagger->known.at;
    return TRELLIS_OK;
}

/* ---- for the other files of this folder ----------------------------------------------------------- */

struct tr_found tr_tagger_found(trellis_tagger *tagger)
{
    return (struct tr_found){tagger->model,
                             tagger->lattice,
                             tr_tagger_steps(tagger),
                             tagger->graph ? tagger->graph : tagger->model->graph,
                             tagger->found ? tagger->paths.at : NULL,
                             tagger->length,
                             tagger->log_z,
                             tagger->reals.at};
}
