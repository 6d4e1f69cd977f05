/* service.h - the service as the endpoints see it: models, limits, counters. */
#ifndef TRELLIS_SERVE_SERVICE_H
#define TRELLIS_SERVE_SERVICE_H

#include <stdatomic.h>

#include "metrics.h"
#include "models.h"
#include "request.h"
#include "worker.h"

struct limits {
    size_t body;    // bytes of a request
    size_t tokens;  // of a request
    double seconds; // from the moment a request has arrived to its answer
};

struct service {
    struct models models;
    struct limits limits;
    struct metrics metrics;
    atomic_bool draining; // it is about to end: no longer ready
};

/* The endpoints. Those without a worker are answered at once, by the thread that reads requests. */
void answer_tag(struct service *service, struct worker *worker, struct request *request);
void answer_explain(struct service *service, struct worker *worker, struct request *request);
void answer_trellis(struct service *service, struct worker *worker, struct request *request);
void answer_evaluate(struct service *service, struct worker *worker, struct request *request);
void answer_model(struct service *service, struct worker *worker, struct request *request);
void answer_models(struct service *service, struct worker *worker, struct request *request);
void answer_health(struct service *service, struct worker *worker, struct request *request);
void answer_ready(struct service *service, struct worker *worker, struct request *request);
void answer_metrics(struct service *service, struct worker *worker, struct request *request);
void answer_page(struct service *service, struct worker *worker, struct request *request);

/* `trellis tag` for a body of CoNLL text and the like. */
void answer_tag_text(struct service *service, struct worker *worker, struct request *request);

/* Whether the body is JSON, by its type. */
bool has_json_body(const struct request *request);

/* The model that a request names, or the first one; NULL, with the answer, if there is none. */
struct worker_model *choose_model(struct worker *worker, struct request *request,
                                  trellis_text name);
/* TRELLIS_INTERRUPTED if the time of the request is up. */
trellis_status check_time(const struct request *request, trellis_error *error);

#endif
