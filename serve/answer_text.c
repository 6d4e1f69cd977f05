/* answer_text.c - `trellis tag` for a body of CoNLL text: answers with the same text, labelled. */
#include <string.h>

#include "body_text.h"
#include "failure.h"

static trellis_status tag_sequences(struct body_text *text, struct request *request,
                                    trellis_writer *writer, trellis_error *error)
{
    const trellis_sequence *sequence;
    const trellis_text *labels;
    trellis_status status;
    while ((status = body_text_next(text, &sequence, error)) == TRELLIS_OK) {
        status = trellis_tagger_tag(text->tagger, sequence, &labels, error);
        if (!status) {
            status = trellis_writer_put(writer, sequence, labels, error);
        }
        if (status) {
            return status;
        }
        request->sequences++;
        request->tokens += sequence->length;
    }
    return status == TRELLIS_END ? trellis_writer_finish(writer, error) : status;
}

static const char *type_of(const trellis_options *options)
{
    const char *format = trellis_options_get(options, "output-format");
    format = strcmp(format, "same") == 0 ? trellis_options_get(options, "format") : format;
    return strcmp(format, "jsonl") == 0 ? "application/x-ndjson" : "text/plain; charset=utf-8";
}

void answer_tag_text(struct service *service, struct worker *worker, struct request *request)
{
    const char *name = request_parameter(request, "model");
    struct worker_model *slot = choose_model(worker, request,
                                             (trellis_text){name, name ? strlen(name) : 0});
    struct body_text text;
    trellis_writer *writer = NULL;
    trellis_error error = {0};
    if (!slot) {
        return;
    }
    trellis_status status = body_text_open(&text, service, request, slot->snapshot, false, &error);
    if (!status) {
        request->answer_type = type_of(text.options);
        status = trellis_writer_create(text.options, text_sink, &request->answer, &writer, &error);
    }
    if (!status) {
        status = tag_sequences(&text, request, writer, &error);
    }
    if (status) {
        answer_failure(request, status, &error);
    }
    trellis_writer_destroy(writer);
    body_text_close(&text);
}
