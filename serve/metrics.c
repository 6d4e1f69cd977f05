/* metrics.c - counters and histograms, in the text format of Prometheus. */
#include "metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "routes.h"
#include "service.h"

static const double limits[METRIC_BUCKETS - 1] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5};

/* Statuses are counted by themselves where somebody would watch them, otherwise by their class. */
static const struct {
    int status;
    const char *name;
} statuses[METRIC_STATUSES] = {{200, "200"}, {401, "401"}, {403, "403"}, {413, "413"},
                               {503, "503"}, {400, "4xx"}, {500, "5xx"}, {300, "other"}};

static size_t status_index(int status)
{
    for (size_t i = 0; i < 5; i++) {
        if (statuses[i].status == status) {
            return i;
        }
    }
    return status / 100 == 4 ? 5 : status / 100 == 5 ? 6 : 7;
}

void histogram_add(struct histogram *histogram, double seconds)
{
    size_t bucket = 0;
    while (bucket + 1 < METRIC_BUCKETS && seconds > limits[bucket]) {
        bucket++;
    }
    atomic_fetch_add_explicit(&histogram->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->nanoseconds, (uint_fast64_t)(1e9 * seconds),
                              memory_order_relaxed);
}

void metrics_request(struct metrics *metrics, size_t route, int status, double seconds)
{
    atomic_fetch_add_explicit(&metrics->requests[route][status_index(status)], 1,
                              memory_order_relaxed);
    histogram_add(&metrics->latency[route], seconds);
}

/* ---- the text -------------------------------------------------------------------------------- */

static void write_head(struct text *out, const char *name, const char *type, const char *help)
{
    text_format(out, "# HELP trellis_%s %s\n# TYPE trellis_%s %s\n", name, help, name, type);
}

static void write_number(struct text *out, const char *name, const char *type, const char *help,
                         uint64_t value)
{
    write_head(out, name, type, help);
    text_format(out, "trellis_%s %" PRIu64 "\n", name, value);
}

/* `label` is empty, or NAME="VALUE". */
static void write_histogram(struct text *out, const char *name, const char *label,
                            struct histogram *histogram)
{
    uint64_t sum = 0;
    const char *comma = label[0] ? "," : "";
    for (size_t i = 0; i < METRIC_BUCKETS; i++) {
        sum += atomic_load(&histogram->buckets[i]);
        text_format(out, "trellis_%s_bucket{%s%sle=\"", name, label, comma);
        if (i + 1 < METRIC_BUCKETS) {
            text_format(out, "%g\"} %" PRIu64 "\n", limits[i], sum);
        } else {
            text_format(out, "+Inf\"} %" PRIu64 "\n", sum);
        }
    }
    text_format(out, "trellis_%s_sum{%s} %.9f\ntrellis_%s_count{%s} %" PRIu64 "\n", name, label,
                1e-9 * (double)atomic_load(&histogram->nanoseconds), name, label, sum);
}

static void write_requests(struct text *out, struct metrics *metrics)
{
    write_head(out, "requests_total", "counter", "Requests answered.");
    for (size_t i = 0; i < route_count(); i++) {
        for (size_t k = 0; k < METRIC_STATUSES; k++) {
            uint64_t count = atomic_load(&metrics->requests[i][k]);
            if (count > 0) {
                text_format(out,
                            "trellis_requests_total{endpoint=\"%s\",code=\"%s\"} %" PRIu64 "\n",
                            route_at(i)->name, statuses[k].name, count);
            }
        }
    }
}

static void write_latencies(struct text *out, struct metrics *metrics)
{
    write_head(out, "request_duration_seconds", "histogram",
               "Time from the headers of a request to its last byte sent.");
    for (size_t i = 0; i < route_count(); i++) {
        if (atomic_load(&metrics->latency[i].count) > 0) {
            char label[64];
            snprintf(label, sizeof label, "endpoint=\"%s\"", route_at(i)->name);
            write_histogram(out, "request_duration_seconds", label, &metrics->latency[i]);
        }
    }
    write_head(out, "queue_seconds", "histogram", "Time that requests waited for a worker.");
    write_histogram(out, "queue_seconds", "", &metrics->waiting);
}

static void write_rejections(struct text *out, struct metrics *metrics)
{
    static const char *const names[METRIC_REASONS] = {"queue_full", "timeout", "slow_client",
                                                      "connections"};
    write_head(out, "rejected_total", "counter", "Requests and connections turned away.");
    for (size_t i = 0; i < METRIC_REASONS; i++) {
        text_format(out, "trellis_rejected_total{reason=\"%s\"} %" PRIu64 "\n", names[i],
                    (uint64_t)atomic_load(&metrics->rejected[i]));
    }
}

static void write_models(struct text *out, struct models *models)
{
    write_number(out, "model_reloads_total", "counter", "Models replaced by a newer file.",
                 atomic_load(&models->reloads));
    write_number(out, "model_reload_failures_total", "counter",
                 "Files that could not be loaded; the older model stayed.",
                 atomic_load(&models->failures));
    write_head(out, "model_loaded_timestamp_seconds", "gauge", "When a model was loaded.");
    for (size_t i = 0; i < models->count; i++) {
        struct snapshot *snapshot = models_acquire(
            models, (trellis_text){models->entries[i].name, strlen(models->entries[i].name)});
        text_format(out, "trellis_model_loaded_timestamp_seconds{model=\"%s\"} %lld\n",
                    snapshot->name, (long long)snapshot->loaded);
        snapshot_release(snapshot);
    }
}

void answer_metrics(struct service *service, struct worker *worker, struct request *request)
{
    (void)worker;
    struct metrics *metrics = &service->metrics;
    struct text *out = &request->answer;
    request->answer_type = "text/plain; version=0.0.4; charset=utf-8";
    write_requests(out, metrics);
    write_latencies(out, metrics);
    write_rejections(out, metrics);
    write_number(out, "sequences_total", "counter", "Sequences tagged.",
                 atomic_load(&metrics->sequences));
    write_number(out, "tokens_total", "counter", "Tokens tagged.", atomic_load(&metrics->tokens));
    write_number(out, "received_bytes_total", "counter", "Bytes of request bodies.",
                 atomic_load(&metrics->received));
    write_number(out, "sent_bytes_total", "counter", "Bytes of answer bodies.",
                 atomic_load(&metrics->sent));
    write_number(out, "queue_length", "gauge", "Requests waiting for a worker.",
                 atomic_load(&metrics->queued));
    write_number(out, "queue_limit", "gauge", "Requests that may wait.", metrics->queue_limit);
    write_number(out, "workers", "gauge", "Worker threads.", metrics->workers);
    write_number(out, "workers_busy", "gauge", "Worker threads at work.",
                 atomic_load(&metrics->working));
    write_number(out, "connections", "gauge", "Open connections.",
                 atomic_load(&metrics->connections));
    write_models(out, &service->models);
    write_head(out, "start_time_seconds", "gauge", "When the service was started.");
    text_format(out, "trellis_start_time_seconds %.3f\n", metrics->started);
}
