/* metrics.h - counters and histograms, in the text format of Prometheus. */
#ifndef TRELLIS_SERVE_METRICS_H
#define TRELLIS_SERVE_METRICS_H

#include <stdatomic.h>

#include "text.h"

enum { METRIC_ROUTES = 16, METRIC_STATUSES = 8, METRIC_BUCKETS = 14, METRIC_REASONS = 4 };

/* Why a request was turned away before it was worked on. */
enum rejection { REJECT_QUEUE = 0, REJECT_TIME = 1, REJECT_SLOW = 2, REJECT_CONNECTIONS = 3 };

struct histogram {
    atomic_uint_fast64_t buckets[METRIC_BUCKETS]; // the last one has no upper limit
    atomic_uint_fast64_t count, nanoseconds;
};

struct metrics {
    double started; // seconds since 1970
    atomic_uint_fast64_t requests[METRIC_ROUTES][METRIC_STATUSES];
    struct histogram latency[METRIC_ROUTES];
    struct histogram waiting; // in the queue
    atomic_uint_fast64_t sequences, tokens;
    atomic_uint_fast64_t received, sent; // bytes of bodies
    atomic_uint_fast64_t rejected[METRIC_REASONS];
    atomic_size_t queued, working, connections;
    size_t queue_limit, workers;
};

void histogram_add(struct histogram *histogram, double seconds);
/* Counts an answer of the route with this number. */
void metrics_request(struct metrics *metrics, size_t route, int status, double seconds);

#endif
