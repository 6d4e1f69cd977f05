/* tag_result.c - tags a sequence and copies the results, which would not outlive the next call. */
#include "tag_result.h"

#include <math.h>
#include <string.h>

#include "batch.h"
#include "message.h"
#include "tagging.h"

/* Labels [count][length] and scores; false on allocation failure. */
static bool copy_labels(struct tag_result *result, trellis_tagger *tagger, size_t length,
                        struct batch *memory)
{
    trellis_text *copy = batch_alloc(memory, result->count * length * sizeof *copy);
    double *scores = batch_alloc(memory, result->count * sizeof *scores);
    if (!copy || !scores) {
        return false;
    }
    for (size_t k = 0; k < result->count; k++) {
        const trellis_text *labels = trellis_tagger_nth_labels(tagger, k);
        if (!labels && length > 0) {
            return false;
        }
        for (size_t i = 0; i < length; i++) {
            trellis_text *label = &copy[k * length + i];
            *label = labels[i];
            if (!batch_copy(memory, label)) {
                return false;
            }
        }
        scores[k] = trellis_tagger_nth_score(tagger, k);
    }
    result->labelled.predicted = copy;
    result->scores = scores;
    return true;
}

static bool copy_probabilities(struct tag_result *result, trellis_tagger *tagger,
                               struct batch *memory)
{
    double *copy = batch_alloc(memory, result->count * sizeof *copy);
    for (size_t k = 0; copy && k < result->count; k++) {
        copy[k] = trellis_tagger_nth_probability(tagger, k);
        if (isnan(copy[k])) {
            return true;
        }
    }
    result->probabilities = copy;
    return copy;
}

static trellis_status copy_marginals(struct tag_result *result, trellis_tagger *tagger,
                                     size_t length, struct batch *memory, trellis_error *error)
{
    float *copy = batch_alloc(memory, result->count * length * sizeof *copy);
    if (!copy) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    for (size_t k = 0; k < result->count; k++) {
        const float *marginals;
        trellis_status status = trellis_tagger_nth_marginals(tagger, k, &marginals, error);
        if (status) {
            return status;
        }
        memcpy(copy + k * length, marginals, length * sizeof *copy);
    }
    result->labelled.marginals = copy;
    return TRELLIS_OK;
}

static trellis_status copy_all_marginals(struct tag_result *result, const struct tagging *tagging,
                                         trellis_tagger *tagger, size_t length,
                                         struct batch *memory, trellis_error *error)
{
    const float *marginals;
    size_t size = length * trellis_model_label_count(tagging->model) * sizeof *marginals;
    trellis_status status = trellis_tagger_marginals(tagger, &marginals, error);
    float *copy = status ? NULL : batch_alloc(memory, size);
    if (!status && !copy) {
        status = set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    if (!status) {
        memcpy(copy, marginals, size);
    }
    result->all_marginals = copy;
    return status;
}

/* The spans of the best labelling. Their probabilities are also stored at their first tokens. */
static trellis_status copy_spans(struct tag_result *result, const struct tagging *tagging,
                                 trellis_tagger *tagger, size_t length, struct batch *memory,
                                 trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    trellis_span *spans = batch_alloc(memory, length * sizeof *spans);
    double *probabilities = batch_alloc(memory, length * sizeof *probabilities);
    float *at_tokens = batch_alloc(memory, length * sizeof *at_tokens);
    if (!spans || !probabilities || !at_tokens) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    result->spans = spans;
    result->span_count = trellis_spans_find(result->labelled.predicted, length, spans);
    if (!trellis_model_has_probabilities(tagging->model)) {
        return TRELLIS_OK;
    }
    for (size_t i = 0; !status && i < result->span_count; i++) {
        status = trellis_tagger_nth_span_probability(tagger, 0, spans[i].begin, spans[i].end,
                                                     &probabilities[i], error);
        at_tokens[spans[i].begin] = (float)probabilities[i];
    }
    result->span_probabilities = probabilities;
    result->labelled.span_probabilities = at_tokens;
    return status;
}

static trellis_status copy_known(struct tag_result *result, const struct tagging *tagging,
                                 trellis_tagger *tagger, const trellis_sequence *sequence,
                                 struct batch *memory, trellis_error *error)
{
    const bool *known;
    trellis_status status = trellis_tagger_known(tagger, tagging->words, sequence, &known, error);
    if (status || !known) {
        return status;
    }
    bool *copy = batch_alloc(memory, sequence->length * sizeof *copy);
    if (!copy) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    memcpy(copy, known, sequence->length * sizeof *copy);
    result->labelled.known = copy;
    return TRELLIS_OK;
}

static trellis_status copy_likelihood(struct tag_result *result, trellis_tagger *tagger,
                                      const trellis_sequence *sequence, struct batch *memory,
                                      trellis_error *error)
{
    double *copy = batch_alloc(memory, sizeof *copy);
    if (!copy) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    result->labelled.log_likelihood = copy;
    return trellis_tagger_log_probability(tagger, sequence->labels, copy, error);
}

static trellis_status copy_log_z(struct tag_result *result, trellis_tagger *tagger,
                                 struct batch *memory, trellis_error *error)
{
    double *copy = batch_alloc(memory, sizeof *copy);
    result->labelled.log_probability = copy;
    return copy ? trellis_tagger_log_z(tagger, copy, error)
                : set_error(error, TRELLIS_MEMORY, "out of memory");
}

trellis_status tag_sequence(const struct tagging *tagging, trellis_tagger *tagger,
                            const trellis_sequence *sequence, struct batch *memory,
                            struct tag_result *ret_result, trellis_error *error)
{
    struct tag_result result = {
        .count = 1,
        .labelled = {.struct_size = sizeof result.labelled,
                     .length = sequence->length,
                     .gold = sequence->labels},
    };
    const trellis_text *labels;
    double best = 0;
    trellis_status status = TRELLIS_OK;
    if (tagging->check) {
        status = trellis_tagger_nbest(tagger, sequence, 1, &result.count, error);
        best = trellis_tagger_score(tagger);
    }
    if (!status) {
        status = tagging->nbest > 1
                     ? trellis_tagger_nbest(tagger, sequence, tagging->nbest, &result.count, error)
                     : trellis_tagger_tag(tagger, sequence, &labels, error);
    }
    if (status) {
        return status;
    }
    result.exact = tagging->check && trellis_tagger_score(tagger) >= best;
    if (!copy_labels(&result, tagger, sequence->length, memory) ||
        (tagging->nbest > 1 && !copy_probabilities(&result, tagger, memory))) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    if (tagging->marginals) {
        status = copy_marginals(&result, tagger, sequence->length, memory, error);
    }
    if (!status && tagging->all_marginals) {
        status = copy_all_marginals(&result, tagging, tagger, sequence->length, memory, error);
    }
    if (!status && tagging->spans) {
        status = copy_spans(&result, tagging, tagger, sequence->length, memory, error);
    }
    if (!status && tagging->likelihood && sequence->labels) {
        status = copy_likelihood(&result, tagger, sequence, memory, error);
    }
    if (!status && tagging->log_z) {
        status = copy_log_z(&result, tagger, memory, error);
    }
    if (!status && tagging->known) {
        status = copy_known(&result, tagging, tagger, sequence, memory, error);
    }
    *ret_result = result;
    return status;
}

trellis_status require_gold(const trellis_sequence *sequence, trellis_error *error)
{
    return sequence->labels ? TRELLIS_OK
                            : set_error(error, TRELLIS_DATA,
                                        "line %llu: no gold labels to score against; see --label",
                                        (unsigned long long)sequence->line);
}
