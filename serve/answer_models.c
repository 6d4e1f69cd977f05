/* answer_models.c - the models and their metadata; whether the service is alive and ready. */
#include <string.h>
#include <strings.h>

#include "failure.h"
#include "service.h"

/* ---- shared by the endpoints ----------------------------------------------------------------- */

bool has_json_body(const struct request *request)
{
    /* The second is what curl -d sends if it is not told otherwise. */
    static const char *const types[] = {"application/json", "application/x-www-form-urlencoded"};
    size_t size = strcspn(request->content_type, "; \t");
    bool json = size == 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        json = json || (strlen(types[i]) == size &&
                        strncasecmp(request->content_type, types[i], size) == 0);
    }
    return json;
}

struct worker_model *choose_model(struct worker *worker, struct request *request, trellis_text name)
{
    struct worker_model *slot = worker_model(worker, name);
    if (!slot) {
        answer_problem(request, HTTP_NOT_FOUND, "there is no model named '%.*s'; see /v1/models",
                       name.size < 100 ? (int)name.size : 100, name.data);
        return NULL;
    }
    memcpy(request->model, slot->snapshot->name, strlen(slot->snapshot->name) + 1);
    return slot;
}

trellis_status check_time(const struct request *request, trellis_error *error)
{
    return clock_now() <= request->deadline
               ? TRELLIS_OK
               : fail(error, TRELLIS_INTERRUPTED, "the request took too long; send fewer tokens");
}

/* ---- models ---------------------------------------------------------------------------------- */

static void write_columns(struct text *out, const struct snapshot *snapshot)
{
    text_member(out, "columns");
    text_add(out, "[", 1);
    for (size_t i = 0; i < snapshot->columns; i++) {
        const char *name = snapshot_column_name(snapshot, i);
        text_comma(out);
        text_string(out, "{\"name\":");
        if (name) {
            text_json(out, name, strlen(name));
        } else {
            text_string(out, "null");
        }
        text_format(out, ",\"used\":%s}", snapshot->used >> i & 1 ? "true" : "false");
    }
    text_add(out, "]", 1);
}

static void write_time(struct text *out, const char *name, time_t when)
{
    char stamp[32];
    struct tm parts;
    gmtime_r(&when, &parts);
    size_t size = strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &parts);
    text_member(out, name);
    text_json(out, stamp, size);
}

static void write_string(struct text *out, const char *name, const char *value)
{
    text_member(out, name);
    if (value) {
        text_json(out, value, strlen(value));
    } else {
        text_string(out, "null");
    }
}

static void write_model(struct text *out, const struct snapshot *snapshot, const char *problem)
{
    const trellis_model *model = snapshot->model;
    text_comma(out);
    text_add(out, "{", 1);
    write_string(out, "name", snapshot->name);
    write_string(out, "type", trellis_model_note(model, "type"));
    text_member(out, "labels");
    text_add(out, "[", 1);
    for (size_t i = 0; i < trellis_model_label_count(model); i++) {
        trellis_text label = trellis_model_label(model, i);
        text_comma(out);
        text_json(out, label.data, label.size);
    }
    text_add(out, "]", 1);
    write_columns(out, snapshot);
    text_format(out, ",\"attributes\":%s,\"spans\":%s,\"probabilities\":%s,\"bytes\":%zu",
                snapshot->attributes ? "true" : "false",
                trellis_model_has_spans(model) ? "true" : "false",
                trellis_model_has_probabilities(model) ? "true" : "false", snapshot->size);
    write_time(out, "loaded", snapshot->loaded);
    write_string(out, "problem", problem[0] ? problem : NULL);
    text_add(out, "}", 1);
}

void answer_models(struct service *service, struct worker *worker, struct request *request)
{
    (void)worker;
    struct models *models = &service->models;
    text_string(&request->answer, "{\"models\":[");
    pthread_mutex_lock(&models->lock);
    for (size_t i = 0; i < models->count; i++) {
        write_model(&request->answer, models->entries[i].current, models->entries[i].problem);
    }
    pthread_mutex_unlock(&models->lock);
    text_string(&request->answer, "]}\n");
}

void answer_model(struct service *service, struct worker *worker, struct request *request)
{
    (void)service;
    trellis_error error = {0};
    if (!request->rest[0]) {
        answer_problem(request, HTTP_NOT_FOUND, "/v1/models/ is followed by the name of a model");
        return;
    }
    struct worker_model *slot = choose_model(worker, request,
                                             (trellis_text){request->rest, strlen(request->rest)});
    trellis_status status = slot ? trellis_model_info(slot->snapshot->model, true, text_sink,
                                                      &request->answer, &error)
                                 : TRELLIS_OK;
    if (status) {
        answer_failure(request, status, &error);
    }
}

/* ---- alive and ready ------------------------------------------------------------------------- */

void answer_health(struct service *service, struct worker *worker, struct request *request)
{
    (void)service, (void)worker;
    text_format(&request->answer, "{\"status\":\"ok\",\"version\":\"%s\"}\n", trellis_version());
}

void answer_ready(struct service *service, struct worker *worker, struct request *request)
{
    (void)worker;
    struct metrics *metrics = &service->metrics;
    if (atomic_load(&service->draining)) {
        answer_problem(request, HTTP_UNAVAILABLE, "the service is about to end");
    } else if (atomic_load(&metrics->queued) >= metrics->queue_limit) {
        answer_problem(request, HTTP_UNAVAILABLE, "the queue is full");
    } else {
        text_string(&request->answer, "{\"status\":\"ready\"}\n");
    }
}
