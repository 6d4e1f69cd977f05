/* fuzz_serve.c - requests to the endpoints of the service: any path, type, query and body.
 *
 * The first byte chooses the endpoint and the type of the body; the query, as NAME=VALUE&NAME=VALUE,
 * ends at the first line end, and the rest is the body. What is said to be JSON must be JSON, and
 * nothing may be answered with 500.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/files.h"
#include "routes.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    const char *name, *format, *columns, *data;
} corpora[] = {
    {"words", "columns", "", "The B-NP\ndog I-NP\nbarks O\n\nIt B-NP\nslept O\n"},
    {"tagged", "columns", "word,pos,chunk", "The DT B-NP\ndog NN I-NP\n\nbarks VB O\n"},
    {"attributes", "crfsuite", "", "A\tx=1\ty:2\nB\tx=2\n\nA\tz\n"},
};
enum { MODEL_COUNT = sizeof corpora / sizeof *corpora };

static struct service service;
static struct worker worker;

/* Trains a small model and gives NAME=FILE. */
static char *make_model(size_t i)
{
    trellis_options *options;
    trellis_model *model;
    struct text image = {0};
    char *specification = calloc(1, 100);
    trellis_source source = {.struct_size = sizeof source,
                             .data = corpora[i].data,
                             .data_size = strlen(corpora[i].data)};
    trellis_training training = {
        .struct_size = sizeof training, .train = &source, .train_count = 1};
    if (!specification || trellis_options_create(&options, NULL) ||
        trellis_options_set(options, "type", "crf", NULL) ||
        trellis_options_set(options, "epochs", "5", NULL) ||
        trellis_options_set(options, "format", corpora[i].format, NULL) ||
        (corpora[i].columns[0] &&
         trellis_options_set(options, "columns", corpora[i].columns, NULL)) ||
        trellis_train(options, &training, &model, NULL) ||
        trellis_model_write(model, text_sink, &image, NULL)) {
        abort();
    }
    struct memory_file file = memory_file(image.data, image.size);
    snprintf(specification, 100, "%s=%s", corpora[i].name, file.path);
    trellis_model_close(model);
    trellis_options_destroy(options);
    text_free(&image);
    return specification;
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    char *specifications[MODEL_COUNT];
    (void)count;
    (void)arguments;
    for (size_t i = 0; i < MODEL_COUNT; i++) {
        specifications[i] = make_model(i);
    }
    if (models_create(&service.models, (const char *const *)specifications, MODEL_COUNT, NULL,
                      NULL) ||
        !worker_create(&worker, &service.models)) {
        abort();
    }
    service.limits = (struct limits){.body = 1 << 20, .tokens = 2000, .seconds = 60};
    service.metrics.queue_limit = 1;
    for (size_t i = 0; i < MODEL_COUNT; i++) {
        free(specifications[i]);
    }
    return 0;
}

/* The first line, as parameters that end in zero bytes; returns how many bytes it had. */
static size_t take_query(struct text *query, const char *data, size_t size)
{
    const char *end = memchr(data, '\n', size);
    size_t length = end ? (size_t)(end - data) : 0;
    text_add(query, data, length);
    for (size_t i = 0; i < query->size; i++) {
        query->data[i] = query->data[i] == '&' ? '\0' : query->data[i];
    }
    text_add(query, "\0\0", 2);
    return end ? length + 1 : 0;
}

static void check(const struct request *request)
{
    json_error_t wrong;
    if (request->status >= HTTP_SERVER_ERROR && request->status != HTTP_UNAVAILABLE) {
        abort();
    }
    if (strcmp(request->answer_type, "application/json") == 0 ||
        strcmp(request->answer_type, "application/problem+json") == 0) {
        json_t *value = json_loadb(request->answer.data, request->answer.size, 0, &wrong);
        if (!value) {
            abort();
        }
        json_decref(value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"application/json", "text/plain", "application/x-ndjson",
                                        ""};
    struct text query = {0};
    if (size < 1) {
        return 0;
    }
    struct request request = {.route = route_at(data[0] / 4 % route_count()),
                              .content_type = types[data[0] % 4],
                              .status = HTTP_OK,
                              .answer_type = "application/json"};
    size_t used = 1 + take_query(&query, (const char *)data + 1, size - 1);
    request.query = query.data;
    request.rest = query.data;
    request.deadline = clock_now() + service.limits.seconds;
    text_add(&request.body, (const char *)data + used, size - used);
    request.route->answer(&service, &worker, &request);
    check(&request);
    text_free(&request.answer);
    text_free(&request.body);
    text_free(&query);
    return 0;
}
