/* answer_explain.c - why labels were predicted: contributions of weights, and the trellis drawn. */
#include <string.h>

#include "failure.h"
#include "input.h"
#include "service.h"

enum { DEFAULT_CONTRIBUTIONS = 10, DEFAULT_LABELS = 5 };

static trellis_status explain_sequence(struct worker_model *slot, struct input *input,
                                       struct text *out, trellis_error *error)
{
    const trellis_explanation *explanations;
    trellis_explainer *explainer;
    size_t top = input->settings.top ? input->settings.top : DEFAULT_CONTRIBUTIONS;
    trellis_status status = worker_explainer(slot, &input->columns, &explainer, error);
    if (!status) {
        status = trellis_explainer_run(explainer, &input->sequence, &explanations, error);
    }
    text_comma(out);
    if (!status) {
        status = trellis_explainer_report(explainer, &input->sequence, top, true, text_sink, out,
                                          error);
    }
    while (out->size > 0 && out->data[out->size - 1] == '\n') {
        out->size--;
    }
    return status;
}

static trellis_status explain_all(struct worker_model *slot, struct input *input,
                                  struct request *request, trellis_error *error)
{
    struct text *out = &request->answer;
    trellis_status status;
    text_string(out, "{\"model\":");
    text_json(out, slot->snapshot->name, strlen(slot->snapshot->name));
    text_member(out, "sequences");
    text_add(out, "[", 1);
    while ((status = input_next(input, error)) == TRELLIS_OK) {
        status = check_time(request, error);
        status = status ? status : explain_sequence(slot, input, out, error);
        if (status) {
            return status;
        }
        request->sequences++;
        request->tokens += input->sequence.length;
    }
    text_string(out, "]}\n");
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

static trellis_status draw(struct worker_model *slot, struct input *input, struct request *request,
                           trellis_error *error)
{
    trellis_tagger *tagger;
    size_t top = input->settings.top ? input->settings.top : DEFAULT_LABELS;
    trellis_status status = input_next(input, error);
    if (status == TRELLIS_END) {
        return fail(error, TRELLIS_DATA, "there is no sequence to draw");
    }
    status = status
                 ? status
                 : worker_tagger(slot, &input->settings.decoding, &input->columns, &tagger, error);
    request->answer_type = "image/svg+xml";
    request->sequences = 1;
    request->tokens = input->sequence.length;
    return status ? status
                  : trellis_draw(tagger, &input->sequence, top, text_sink, &request->answer, error);
}

/* What both have in common: reads the request and calls one of the functions above. */
static void answer_with(trellis_status (*function)(struct worker_model *slot, struct input *input,
                                                   struct request *request, trellis_error *error),
                        unsigned accepted, struct service *service, struct worker *worker,
                        struct request *request)
{
    struct input input;
    trellis_error error = {0};
    struct worker_model *slot;
    if (!has_json_body(request)) {
        answer_problem(request, HTTP_UNSUPPORTED_TYPE, "send JSON as application/json");
        return;
    }
    trellis_status status = input_open(&input, &request->body, accepted, service->limits.tokens,
                                       &error);
    if (status) {
        answer_failure(request, status, &error);
    } else if ((slot = choose_model(worker, request, input.settings.model))) {
        input.snapshot = slot->snapshot;
        status = function(slot, &input, request, &error);
        if (status) {
            answer_failure(request, status, &error);
        }
    }
    input_close(&input);
}

void answer_explain(struct service *service, struct worker *worker, struct request *request)
{
    answer_with(explain_all, SETTING_TOP, service, worker, request);
}

void answer_trellis(struct service *service, struct worker *worker, struct request *request)
{
    answer_with(draw, SETTING_TOP | SETTING_DECODE, service, worker, request);
}
