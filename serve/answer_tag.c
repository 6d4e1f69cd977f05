/* answer_tag.c - labels, spans, marginals and the n best labellings of sequences, as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "input.h"
#include "service.h"

/* A request while it is worked on. */
struct tagging {
    struct service *service;
    struct request *request;
    struct worker_model *slot;
    struct input input;
    trellis_span *spans; // [span_room] of the labelling being written
    size_t span_room;
    struct text types; // of the spans
    trellis_tagger *tagger;
};

/* ---- parts of an answer ---------------------------------------------------------------------- */

static void write_texts(struct text *out, const char *name, const trellis_text *texts,
                        size_t length, size_t stride)
{
    text_member(out, name);
    text_add(out, "[", 1);
    for (size_t i = 0; i < length; i++) {
        if (i > 0) {
            text_add(out, ",", 1);
        }
        text_json(out, texts[i * stride].data, texts[i * stride].size);
    }
    text_add(out, "]", 1);
}

static void write_tokens(struct tagging *tagging)
{
    struct text *out = &tagging->request->answer;
    const trellis_sequence *sequence = &tagging->input.sequence;
    const size_t *offsets = tagging->input.offsets;
    if (sequence->columns) {
        size_t word = word_column(tagging->slot->snapshot);
        word = word < sequence->columns ? word : 0;
        write_texts(out, "tokens", sequence->cells + word, sequence->length, sequence->columns);
    }
    if (offsets) {
        text_member(out, "offsets");
        text_add(out, "[", 1);
        for (size_t i = 0; i < sequence->length; i++) {
            text_format(out, "%s[%zu,%zu]", i ? "," : "", offsets[2 * i], offsets[2 * i + 1]);
        }
        text_add(out, "]", 1);
    }
}

/* Marginals of the labels of a labelling. */
static trellis_status write_marginals(struct tagging *tagging, size_t rank, trellis_error *error)
{
    struct text *out = &tagging->request->answer;
    const float *marginals;
    trellis_status status = trellis_tagger_nth_marginals(tagging->tagger, rank, &marginals, error);
    if (status) {
        return status;
    }
    text_member(out, "marginals");
    text_add(out, "[", 1);
    for (size_t i = 0; i < tagging->input.sequence.length; i++) {
        text_comma(out);
        text_real(out, (double)marginals[i], 6);
    }
    text_add(out, "]", 1);
    return TRELLIS_OK;
}

/* An object for each token, with the probability of each label of the model. */
static trellis_status write_all_marginals(struct tagging *tagging, trellis_error *error)
{
    struct text *out = &tagging->request->answer;
    const trellis_model *model = tagging->slot->snapshot->model;
    const float *marginals;
    size_t labels = trellis_model_label_count(model);
    trellis_status status = trellis_tagger_marginals(tagging->tagger, &marginals, error);
    if (status) {
        return status;
    }
    text_member(out, "all_marginals");
    text_add(out, "[", 1);
    for (size_t i = 0; i < tagging->input.sequence.length; i++) {
        text_comma(out);
        text_add(out, "{", 1);
        for (size_t k = 0; k < labels; k++) {
            trellis_text label = trellis_model_label(model, k);
            text_comma(out);
            text_json(out, label.data, label.size);
            text_add(out, ":", 1);
            text_real(out, (double)*marginals++, 6);
        }
        text_add(out, "}", 1);
    }
    text_add(out, "]", 1);
    return TRELLIS_OK;
}

static trellis_status write_span(struct tagging *tagging, size_t rank, const trellis_span *span,
                                 trellis_error *error)
{
    struct text *out = &tagging->request->answer;
    const size_t *offsets = tagging->input.offsets;
    double probability;
    text_comma(out);
    text_string(out, "{\"type\":");
    text_json(out, span->type.data, span->type.size);
    text_format(out, ",\"start\":%zu,\"end\":%zu", span->begin, span->end);
    if (offsets) {
        text_format(out, ",\"start_char\":%zu,\"end_char\":%zu", offsets[2 * span->begin],
                    offsets[2 * span->end - 1]);
    }
    trellis_status status = TRELLIS_OK;
    if (tagging->input.settings.marginals) {
        status = trellis_tagger_nth_span_probability(tagging->tagger, rank, span->begin, span->end,
                                                     &probability, error);
        text_member(out, "probability");
        text_real(out, status ? NAN : probability, 6);
    }
    text_add(out, "}", 1);
    return status;
}

/* The spans of labels. Their types are copied, since labels do not outlive the next call. */
static trellis_status find_spans(struct tagging *tagging, const trellis_text *labels, size_t length,
                                 size_t *ret_count, trellis_error *error)
{
    if (length > tagging->span_room) {
        free(tagging->spans);
        tagging->spans = calloc(length, sizeof *tagging->spans);
        tagging->span_room = tagging->spans ? length : 0;
    }
    size_t count = length <= tagging->span_room ? trellis_spans_find(labels, length, tagging->spans)
                                                : 0;
    tagging->types.size = 0;
    for (size_t i = 0; i < count; i++) {
        text_add(&tagging->types, tagging->spans[i].type.data, tagging->spans[i].type.size);
    }
    const char *type = tagging->types.data;
    for (size_t i = 0; i < count && !tagging->types.failed; i++) {
        tagging->spans[i].type.data = type;
        type += tagging->spans[i].type.size;
    }
    *ret_count = count;
    return length > tagging->span_room || tagging->types.failed
               ? fail(error, TRELLIS_MEMORY, "out of memory")
               : TRELLIS_OK;
}

/* Labels and spans of a labelling. */
static trellis_status write_labels(struct tagging *tagging, size_t rank, trellis_error *error)
{
    struct text *out = &tagging->request->answer;
    size_t length = tagging->input.sequence.length, count = 0;
    const trellis_text *labels = trellis_tagger_nth_labels(tagging->tagger, rank);
    if (!labels && length > 0) {
        return fail(error, TRELLIS_MEMORY, "out of memory");
    }
    write_texts(out, "labels", labels, length, 1);
    if (!trellis_model_has_spans(tagging->slot->snapshot->model)) {
        return TRELLIS_OK;
    }
    trellis_status status = find_spans(tagging, labels, length, &count, error);
    text_member(out, "spans");
    text_add(out, "[", 1);
    for (size_t i = 0; !status && i < count; i++) {
        status = write_span(tagging, rank, &tagging->spans[i], error);
    }
    text_add(out, "]", 1);
    return status;
}

static trellis_status write_ranked(struct tagging *tagging, size_t rank, trellis_error *error)
{
    struct text *out = &tagging->request->answer;
    text_comma(out);
    text_add(out, "{", 1);
    trellis_status status = write_labels(tagging, rank, error);
    text_member(out, "score");
    text_real(out, trellis_tagger_nth_score(tagging->tagger, rank), 9);
    if (trellis_model_has_probabilities(tagging->slot->snapshot->model)) {
        text_member(out, "probability");
        text_real(out, trellis_tagger_nth_probability(tagging->tagger, rank), 6);
    }
    text_add(out, "}", 1);
    return status;
}

/* ---- one sequence ---------------------------------------------------------------------------- */

static trellis_status decode(struct tagging *tagging, size_t *ret_count, trellis_error *error)
{
    const struct settings *settings = &tagging->input.settings;
    const trellis_sequence *sequence = &tagging->input.sequence;
    const trellis_text *labels;
    trellis_status status = worker_tagger(tagging->slot, &settings->decoding,
                                          &tagging->input.columns, &tagging->tagger, error);
    *ret_count = 1;
    if (status) {
        return status;
    }
    return settings->nbest > 1
               ? trellis_tagger_nbest(tagging->tagger, sequence, settings->nbest, ret_count, error)
               : trellis_tagger_tag(tagging->tagger, sequence, &labels, error);
}

static trellis_status tag_sequence(struct tagging *tagging, trellis_error *error)
{
    struct text *out = &tagging->request->answer;
    const struct settings *settings = &tagging->input.settings;
    size_t count;
    trellis_status status = decode(tagging, &count, error);
    if (status) {
        return status;
    }
    text_comma(out);
    text_add(out, "{", 1);
    write_tokens(tagging);
    status = write_labels(tagging, 0, error);
    if (!status && settings->marginals) {
        status = write_marginals(tagging, 0, error);
    }
    if (!status && settings->all_marginals) {
        status = write_all_marginals(tagging, error);
    }
    if (!status && settings->nbest > 1) {
        text_member(out, "nbest");
        text_add(out, "[", 1);
        for (size_t k = 0; !status && k < count; k++) {
            status = write_ranked(tagging, k, error);
        }
        text_add(out, "]", 1);
    }
    text_add(out, "}", 1);
    tagging->request->sequences++;
    tagging->request->tokens += tagging->input.sequence.length;
    return !status && out->failed ? fail(error, TRELLIS_MEMORY, "out of memory") : status;
}

/* n-best lists and marginals of all labels are far larger than the request. */
static trellis_status check_size(const struct tagging *tagging, trellis_error *error)
{
    enum { MAX_FIGURES = 5000000 };
    const struct settings *settings = &tagging->input.settings;
    size_t labels = trellis_model_label_count(tagging->slot->snapshot->model);
    size_t figures = settings->all_marginals ? labels + settings->nbest : settings->nbest;
    return tagging->input.tokens <= MAX_FIGURES / figures
               ? TRELLIS_OK
               : fail(error, TRELLIS_LIMIT,
                      "the answer would have more than %d figures; send fewer tokens", MAX_FIGURES);
}

/* ---- the request ----------------------------------------------------------------------------- */

static trellis_status tag_all(struct tagging *tagging, trellis_error *error)
{
    struct text *out = &tagging->request->answer;
    trellis_status status;
    text_string(out, "{\"model\":");
    text_json(out, tagging->slot->snapshot->name, strlen(tagging->slot->snapshot->name));
    text_member(out, "sequences");
    text_add(out, "[", 1);
    while ((status = input_next(&tagging->input, error)) == TRELLIS_OK) {
        status = check_size(tagging, error);
        status = status ? status : check_time(tagging->request, error);
        status = status ? status : tag_sequence(tagging, error);
        if (status) {
            return status;
        }
    }
    text_string(out, "]}\n");
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

static void tag_json(struct service *service, struct worker *worker, struct request *request)
{
    struct tagging tagging = {.service = service, .request = request};
    trellis_error error = {0};
    trellis_status status = input_open(&tagging.input, &request->body,
                                       SETTING_DECODE | SETTING_THRESHOLD | SETTING_MARGINALS |
                                           SETTING_ALL_MARGINALS | SETTING_NBEST,
                                       service->limits.tokens, &error);
    if (status) {
        answer_failure(request, status, &error);
    } else if ((tagging.slot = choose_model(worker, request, tagging.input.settings.model))) {
        tagging.input.snapshot = tagging.slot->snapshot;
        status = tag_all(&tagging, &error);
        if (status) {
            answer_failure(request, status, &error);
        }
    }
    free(tagging.spans);
    text_free(&tagging.types);
    input_close(&tagging.input);
}

void answer_tag(struct service *service, struct worker *worker, struct request *request)
{
    if (has_json_body(request)) {
        tag_json(service, worker, request);
    } else {
        answer_tag_text(service, worker, request);
    }
}
