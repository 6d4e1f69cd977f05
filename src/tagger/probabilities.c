/* probabilities.c - probabilities of labels, spans and labellings of the last sequence. */
#include <math.h>

#include "tagger/tagger_internal.h"

trellis_status tr_tagger_compute_marginals(trellis_tagger *tagger, size_t rank,
                                           trellis_error *error)
{
    if (!trellis_model_has_probabilities(tagger->model)) {
        return tr_fail(error, TRELLIS_MODEL,
                       "a model of type '%s' has no probabilities; "
                       "those of type crf, maxent, hmm and memm do",
                       tagger->model->kind.type);
    }
    if (rank >= tagger->result.count) {
        return tr_fail(error, TRELLIS_DATA, "there is no labelling %zu", rank + 1);
    }
    if (tagger->result.length == 0) {
        tagger->result.log_z = 0;
        return TRELLIS_OK;
    }
    return tr_lattice_node_marginals(tagger->decoder.lattice)
               ? TRELLIS_OK
               : tr_lattice_forward_backward(tagger->decoder.lattice, tr_tagger_steps(tagger),
                                             &tagger->result.log_z, error);
}

trellis_status tr_tagger_make_rules(trellis_tagger *tagger, trellis_error *error)
{
    return tagger->filter.rules ? TRELLIS_OK
                                : tr_span_rules_create(tagger->model, &tagger->filter.rules, error);
}

trellis_status trellis_tagger_log_z(trellis_tagger *tagger, double *ret_log_z, trellis_error *error)
{
    if (!tagger || !ret_log_z) {
        return tr_fail_null(error, __func__);
    }
    trellis_status status = tr_tagger_compute_marginals(tagger, 0, error);
    *ret_log_z = status ? NAN : tagger->result.impossible ? -INFINITY : tagger->result.log_z;
    return status;
}

double trellis_tagger_nth_probability(trellis_tagger *tagger, size_t rank)
{
    if (!tagger) {
        return NAN;
    }
    if (tr_tagger_compute_marginals(tagger, rank, NULL)) {
        return NAN;
    }
    double probability = exp(tagger->result.scores.at[rank] - tagger->result.log_z);
    return probability < 1 ? probability : 1; // log Z was rounded
}

trellis_status trellis_tagger_nth_marginals(trellis_tagger *tagger, size_t rank,
                                            const float **ret_marginals, trellis_error *error)
{
    if (!TR_CLEAR(ret_marginals) || !tagger) {
        return tr_fail_null(error, __func__);
    }
    trellis_status status = tr_tagger_compute_marginals(tagger, rank, error);
    if (status) {
        return status;
    }
    if (!tr_reserve(&tagger->result.marginals, tagger->result.length + 1)) {
        return tr_fail_memory(error);
    }
    const float *node = tr_lattice_node_marginals(tagger->decoder.lattice);
    const uint16_t *path = tagger->result.paths.at + rank * tagger->result.length;
    for (size_t i = 0; i < tagger->result.length; i++) {
        tagger->result.marginals.at[i] = node[i * tagger->model->graph->width + path[i]];
    }
    *ret_marginals = tagger->result.marginals.at;
    return TRELLIS_OK;
}

trellis_status trellis_tagger_marginals(trellis_tagger *tagger, const float **ret_marginals,
                                        trellis_error *error)
{
    if (!TR_CLEAR(ret_marginals) || !tagger) {
        return tr_fail_null(error, __func__);
    }
    size_t labels = tagger->model->label_count, size;
    trellis_status status = tr_tagger_compute_marginals(tagger, 0, error);
    if (status) {
        return status;
    }
    if (__builtin_mul_overflow(tagger->result.length, labels, &size) ||
        !tr_reserve(&tagger->result.marginals, size + 1)) {
        return tr_fail_memory(error);
    }
    const float *node = tr_lattice_node_marginals(tagger->decoder.lattice);
    for (size_t i = 0; i < tagger->result.length; i++) {
        memcpy(tagger->result.marginals.at + i * labels, node + i * tagger->model->graph->width,
               labels * sizeof *node);
    }
    *ret_marginals = tagger->result.marginals.at;
    return TRELLIS_OK;
}

trellis_status trellis_tagger_nth_span_probability(trellis_tagger *tagger, size_t rank,
                                                   size_t begin, size_t end,
                                                   double *ret_probability, trellis_error *error)
{
    if (!tagger || !ret_probability) {
        return tr_fail_null(error, __func__);
    }
    *ret_probability = NAN;
    trellis_status status = tr_tagger_compute_marginals(tagger, rank, error);
    if (!status && (begin >= end || end > tagger->result.length)) {
        status = tr_fail(error, TRELLIS_DATA, "there are no tokens %zu to %zu in a sequence of %zu",
                         begin + 1, end, tagger->result.length);
    }
    if (!status) {
        status = tr_tagger_make_rules(tagger, error);
    }
    if (!status) {
        struct tr_tagging_result result = tr_tagger_result(tagger);
        result.path = tagger->result.paths.at + rank * result.length;
        status = tr_span_probability(tagger->filter.rules, &result, begin, end, ret_probability,
                                     error);
    }
    return status;
}

static double score_of_queried(const trellis_tagger *tagger)
{
    return tr_lattice_path_score(tagger->decoder.lattice, tr_tagger_steps(tagger),
                                 tagger->output.queried.at);
}

static double log_probability_of_queried(const trellis_tagger *tagger)
{
    return fmin(0, score_of_queried(tagger) - tagger->result.log_z);
}

trellis_status trellis_tagger_log_probability(trellis_tagger *tagger, const trellis_text *labels,
                                              double *ret_log_probability, trellis_error *error)
{
    if (!tagger || !labels || !ret_log_probability) {
        return tr_fail_null(error, __func__);
    }
    const trellis_model *model = tagger->model;
    *ret_log_probability = NAN;
    trellis_status status = tr_tagger_compute_marginals(tagger, 0, error);
    if (!status && model->inside != TRELLIS_NO_SCHEME && model->outside != TRELLIS_NO_SCHEME) {
        status = trellis_scheme_convert(model->outside, model->inside, labels,
                                        tagger->result.length, &tagger->output.scheme_storage,
                                        &labels, error);
    }
    if (!status && (!tr_tagger_number_labels(tagger) ||
                    !tr_reserve(&tagger->output.queried, tagger->result.length + 1))) {
        status = tr_fail_memory(error);
    }
    if (status) {
        return status;
    }
    for (size_t i = 0; i < tagger->result.length; i++) {
        uint32_t label = tr_intern_find(&tagger->output.label_numbers, labels[i]);
        if (label >= model->label_count) {
            *ret_log_probability = -INFINITY;
            return TRELLIS_OK;
        }
        tagger->output.queried.at[i] = (uint16_t)label;
    }
    *ret_log_probability = log_probability_of_queried(tagger);
    return TRELLIS_OK;
}

/* Reads the caller's label numbers [length] into output.queried. */
static trellis_status query_numbers(trellis_tagger *tagger, const int32_t *labels,
                                    trellis_error *error)
{
    if (!tr_reserve(&tagger->output.queried, tagger->result.length + 1)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < tagger->result.length; i++) {
        if (labels[i] < 0 || (uint32_t)labels[i] >= tagger->model->label_count) {
            return tr_fail(error, TRELLIS_DATA, "token %zu: there is no label number %ld", i + 1,
                           (long)labels[i]);
        }
        tagger->output.queried.at[i] = (uint16_t)labels[i];
    }
    return TRELLIS_OK;
}

trellis_status trellis_tagger_log_probability_numbers(trellis_tagger *tagger, const int32_t *labels,
                                                      double *ret_log_probability,
                                                      trellis_error *error)
{
    if (!tagger || !labels || !ret_log_probability) {
        return tr_fail_null(error, __func__);
    }
    *ret_log_probability = NAN;
    trellis_status status = tr_tagger_compute_marginals(tagger, 0, error);
    if (!status) {
        status = query_numbers(tagger, labels, error);
    }
    if (!status) {
        *ret_log_probability = log_probability_of_queried(tagger);
    }
    return status;
}

double trellis_tagger_score_numbers(trellis_tagger *tagger, const int32_t *labels)
{
    if (!tagger || !labels) {
        return NAN;
    }
    if (tagger->result.count == 0 || query_numbers(tagger, labels, NULL)) {
        return NAN;
    }
    return tagger->result.impossible ? -INFINITY : score_of_queried(tagger);
}
