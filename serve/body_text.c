/* body_text.c - a body in one of the formats of `trellis tag`: CoNLL columns, CoNLL-U, ... */
#include "body_text.h"

#include <string.h>

#include "failure.h"
#include "input.h"

/* ---- options --------------------------------------------------------------------------------- */

static const char *const parameters[] = {"format", "output-format", "columns",
                                         "label",  "scheme",        "separator",
                                         "decode", "threshold",     "model"};
enum { PARAMETER_COUNT = sizeof parameters / sizeof *parameters };

static trellis_status check_parameters(const struct request *request, trellis_error *error)
{
    for (const char *at = request->query; at && *at; at += strlen(at) + 1) {
        size_t i = 0, size = strcspn(at, "=");
        while (i < PARAMETER_COUNT &&
               (strncmp(at, parameters[i], size) != 0 || parameters[i][size] != '\0')) {
            i++;
        }
        if (i == PARAMETER_COUNT) {
            return fail(error, TRELLIS_OPTION,
                        "'%.*s' is not a parameter of text; those are model, format, "
                        "output-format, columns, label, scheme, separator, decode, threshold",
                        size < 100 ? (int)size : 100, at);
        }
    }
    return TRELLIS_OK;
}

static trellis_status set_option(trellis_options *options, const char *name, const char *value,
                                 trellis_error *error)
{
    return value ? trellis_options_set(options, name, value, error) : TRELLIS_OK;
}

/* A parameter, or if it is not given a note of the model. */
static trellis_status set_from(const struct body_text *text, const char *name, const char *note,
                               trellis_error *error)
{
    const char *value = request_parameter(text->request, name);
    return set_option(text->options, name,
                      value || !note ? value : trellis_model_note(text->snapshot->model, note),
                      error);
}

static bool is_lines_of_json(const struct request *request)
{
    return strncmp(request->content_type, "application/x-ndjson", 20) == 0 ||
           strncmp(request->content_type, "application/jsonl", 17) == 0;
}

static const char *choose_format(const struct body_text *text)
{
    const char *format = request_parameter(text->request, "format");
    const char *trained = trellis_model_note(text->snapshot->model, "input-format");
    if (format) {
        return format;
    }
    return is_lines_of_json(text->request) ? "jsonl" : trained ? trained : "columns";
}

static trellis_status set_options(struct body_text *text, bool gold, trellis_error *error)
{
    const char *format = choose_format(text);
    const char *trained = trellis_model_note(text->snapshot->model, "input-format");
    bool same = trained && strcmp(format, trained) == 0;
    trellis_status status = set_option(text->options, "format", format, error);
    status = status ? status : set_from(text, "output-format", NULL, error);
    status = status ? status : set_from(text, "columns", same ? "input-names" : NULL, error);
    status = status ? status : set_from(text, "separator", same ? "input-separator" : NULL, error);
    bool labelled = same && (gold || strcmp(format, "conllu") == 0);
    status = status ? status : set_from(text, "label", labelled ? "input-label" : NULL, error);
    status = status ? status : set_from(text, "scheme", gold ? "input-scheme" : NULL, error);
    status = status ? status
                    : set_option(text->options, "context",
                                 trellis_model_note(text->snapshot->model, "input-context"), error);
    status = status ? status : set_from(text, "decode", NULL, error);
    return status ? status : set_from(text, "threshold", NULL, error);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* A few bytes may stand for gigabytes. */
static bool is_compressed(const struct text *body)
{
    return body->size >= 4 && (memcmp(body->data, "\x1F\x8B", 2) == 0 ||
                               memcmp(body->data, "\x28\xB5\x2F\xFD", 4) == 0);
}

static trellis_status open_reader(struct body_text *text, trellis_error *error)
{
    const struct text *body = &text->request->body;
    trellis_source source = {.struct_size = sizeof source,
                             .data = body->size ? body->data : "",
                             .data_size = body->size,
                             .name = "body"};
    if (is_compressed(body)) {
        return fail(error, TRELLIS_FORMAT, "the body is compressed; send it as plain text");
    }
    return trellis_reader_open_source(&source, text->options, &text->reader, error);
}

trellis_status body_text_open(struct body_text *text, const struct service *service,
                              const struct request *request, const struct snapshot *snapshot,
                              bool gold, trellis_error *error)
{
    *text = (struct body_text){
        .request = request, .snapshot = snapshot, .max_tokens = service->limits.tokens};
    trellis_status status = check_parameters(request, error);
    status = status ? status : trellis_options_copy(snapshot->limits, &text->options, error);
    status = status ? status : set_options(text, gold, error);
    status = status ? status : open_reader(text, error);
    status = status ? status
                    : trellis_tagger_create(snapshot->model, text->options, &text->tagger, error);
    return status ? status : trellis_tagger_bind(text->tagger, text->reader, error);
}

void body_text_close(struct body_text *text)
{
    trellis_tagger_destroy(text->tagger);
    trellis_reader_close(text->reader);
    trellis_options_destroy(text->options);
    *text = (struct body_text){0};
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Compares the first sequence with what the model was trained on. Other formats name their
 * columns, which the library then finds by name. */
static trellis_status check_shape(const struct body_text *text, const trellis_sequence *sequence,
                                  trellis_error *error)
{
    const struct snapshot *snapshot = text->snapshot;
    const char *format = trellis_options_get(text->options, "format");
    size_t columns = sequence->columns;
    if (snapshot->attributes && !sequence->attributes) {
        return fail(error, TRELLIS_DATA,
                    "the model '%s' was trained on ready-made attributes: use format=crfsuite",
                    snapshot->name);
    }
    if (strcmp(format, "columns") != 0 && strcmp(format, "text") != 0) {
        return TRELLIS_OK;
    }
    if (sequence->length == 1 && snapshot->columns > 0 && columns > snapshot->columns + 1) {
        return fail(error, TRELLIS_DATA,
                    "a line of %zu words, where the model '%s' expects one token per line in %zu "
                    "columns; for running text use format=text",
                    columns, snapshot->name, snapshot->columns);
    }
    return check_columns(snapshot, columns >= 64 ? ~0ULL : (1ULL << columns) - 1, error);
}

trellis_status body_text_next(struct body_text *text, const trellis_sequence **ret_sequence,
                              trellis_error *error)
{
    trellis_status status = check_time(text->request, error);
    status = status ? status : trellis_reader_next(text->reader, ret_sequence, error);
    if (!status && !text->checked) {
        text->checked = true;
        status = check_shape(text, *ret_sequence, error);
    }
    if (!status) {
        text->tokens += (*ret_sequence)->length;
        status = text->tokens <= text->max_tokens
                     ? TRELLIS_OK
                     : fail(error, TRELLIS_LIMIT, "more than %zu tokens in one request",
                            text->max_tokens);
    }
    return status;
}
