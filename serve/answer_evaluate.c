/* answer_evaluate.c - scores of a model on an uploaded file with gold labels. */
#include <stdlib.h>
#include <string.h>

#include "body_text.h"
#include "failure.h"

struct scoring {
    struct body_text text;
    trellis_evaluation *evaluation;
    float *marginals; // [room] of the predicted labels
    size_t room;
    bool known; // the model has one of the gold labels
};

/* Copies the marginals, which would not outlive the next call. */
static trellis_status take_marginals(struct scoring *scoring, size_t length, trellis_error *error)
{
    const float *marginals;
    if (length > scoring->room) {
        free(scoring->marginals);
        scoring->marginals = calloc(length, sizeof *scoring->marginals);
        scoring->room = scoring->marginals ? length : 0;
    }
    if (length > scoring->room) {
        return fail(error, TRELLIS_MEMORY, "out of memory");
    }
    trellis_status status = trellis_tagger_nth_marginals(scoring->text.tagger, 0, &marginals,
                                                         error);
    if (!status && length > 0) {
        memcpy(scoring->marginals, marginals, length * sizeof *marginals);
    }
    return status;
}

static void look_for_known(struct scoring *scoring, const trellis_sequence *sequence)
{
    const trellis_model *model = scoring->text.snapshot->model;
    bool converts = trellis_model_note(model, "scheme-inside");
    for (size_t i = 0; !scoring->known && i < sequence->length; i++) {
        scoring->known = converts ||
                         trellis_model_find_label(model, sequence->labels[i]) != SIZE_MAX;
    }
}

static trellis_status score(struct scoring *scoring, const trellis_sequence *sequence,
                            trellis_error *error)
{
    trellis_tagger *tagger = scoring->text.tagger;
    const trellis_text *labels;
    bool probable = trellis_model_has_probabilities(scoring->text.snapshot->model);
    if (!sequence->labels) {
        return fail(error, TRELLIS_DATA, "line %llu: no gold labels to score against; see label",
                    (unsigned long long)sequence->line);
    }
    look_for_known(scoring, sequence);
    trellis_status status = trellis_tagger_tag(tagger, sequence, &labels, error);
    if (!status && probable) {
        status = take_marginals(scoring, sequence->length, error);
    }
    if (status) {
        return status;
    }
    trellis_labelled labelled = {.struct_size = sizeof labelled,
                                 .length = sequence->length,
                                 .gold = sequence->labels,
                                 .predicted = trellis_tagger_nth_labels(tagger, 0),
                                 .marginals = probable ? scoring->marginals : NULL};
    if (!labelled.predicted && sequence->length > 0) {
        return fail(error, TRELLIS_MEMORY, "out of memory");
    }
    return trellis_evaluation_add_labelled(scoring->evaluation, &labelled, error);
}

static trellis_status score_all(struct scoring *scoring, struct request *request,
                                trellis_error *error)
{
    const trellis_sequence *sequence;
    trellis_status status;
    while ((status = body_text_next(&scoring->text, &sequence, error)) == TRELLIS_OK) {
        status = score(scoring, sequence, error);
        if (status) {
            return status;
        }
        request->sequences++;
        request->tokens += sequence->length;
    }
    if (status != TRELLIS_END) {
        return status;
    }
    if (!scoring->known) {
        return fail(error, TRELLIS_DATA,
                    request->tokens ? "the model knows none of the gold labels; label says which "
                                      "column has the labels"
                                    : "there is nothing to score: the body has no tokens");
    }
    return trellis_evaluation_report(scoring->evaluation, TRELLIS_JSON, text_sink, &request->answer,
                                     error);
}

void answer_evaluate(struct service *service, struct worker *worker, struct request *request)
{
    const char *name = request_parameter(request, "model");
    struct scoring scoring = {0};
    trellis_error error = {0};
    struct worker_model *slot;
    if (has_json_body(request)) {
        answer_problem(request, HTTP_UNSUPPORTED_TYPE,
                       "send a file with gold labels as text/plain, or JSON lines as "
                       "application/x-ndjson");
        return;
    }
    slot = choose_model(worker, request, (trellis_text){name, name ? strlen(name) : 0});
    if (!slot) {
        return;
    }
    trellis_status status = body_text_open(&scoring.text, service, request, slot->snapshot, true,
                                           &error);
    if (!status) {
        status = trellis_evaluation_create(scoring.text.options, &scoring.evaluation, &error);
    }
    if (!status) {
        status = score_all(&scoring, request, &error);
    }
    if (status) {
        answer_failure(request, status, &error);
    }
    trellis_evaluation_destroy(scoring.evaluation);
    free(scoring.marginals);
    body_text_close(&scoring.text);
}
