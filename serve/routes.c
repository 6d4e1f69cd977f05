/* routes.c - the endpoints: which path and method is answered by what. */
#include "routes.h"

#include <string.h>

static void answer_nothing(struct service *service, struct worker *worker, struct request *request)
{
    (void)service, (void)worker;
    answer_problem(request, HTTP_NOT_FOUND, "there is nothing here; see /openapi.json");
}

/* The last one is for requests that have no other. */
static const struct route routes[] = {
    {"tag", "POST", "/v1/tag", answer_tag, true, false},
    {"explain", "POST", "/v1/explain", answer_explain, true, false},
    {"trellis", "POST", "/v1/trellis", answer_trellis, true, false},
    {"evaluate", "POST", "/v1/evaluate", answer_evaluate, true, false},
    {"models", "GET", "/v1/models", answer_models, false, false},
    {"model", "GET", "/v1/models/", answer_model, true, false},
    {"health", "GET", "/health", answer_health, false, true},
    {"ready", "GET", "/ready", answer_ready, false, true},
    {"metrics", "GET", "/metrics", answer_metrics, false, false},
    {"page", "GET", "/", answer_page, false, true},
    {"none", "", "", answer_nothing, false, true},
};
enum { ROUTE_COUNT = sizeof routes / sizeof *routes };
_Static_assert((int)ROUTE_COUNT <= (int)METRIC_ROUTES, "each route has its metrics");

size_t route_count(void)
{
    return ROUTE_COUNT;
}

const struct route *route_at(size_t index)
{
    return &routes[index];
}

size_t route_index(const struct route *route)
{
    return (size_t)(route - routes);
}

static bool matches(const struct route *route, const char *path, const char **ret_rest)
{
    size_t size = strlen(route->path);
    bool prefix = size > 0 && route->path[size - 1] == '/';
    *ret_rest = path;
    if (prefix ? strncmp(path, route->path, size) != 0 : strcmp(path, route->path) != 0) {
        return false;
    }
    *ret_rest = path + size;
    return true;
}

static bool takes_method(const struct route *route, const char *method)
{
    return strcmp(route->method, method) == 0 ||
           (strcmp(route->method, "GET") == 0 && strcmp(method, "HEAD") == 0);
}

const struct route *route_find(const char *method, const char *path, const char **ret_rest,
                               int *ret_status, const char **ret_allowed)
{
    for (size_t i = 0; i + 1 < ROUTE_COUNT; i++) {
        if (matches(&routes[i], path, ret_rest)) {
            bool taken = takes_method(&routes[i], method);
            *ret_status = taken ? HTTP_OK : HTTP_METHOD_NOT_ALLOWED;
            *ret_allowed = routes[i].method[0] == 'G' ? "GET, HEAD" : "POST";
            return taken ? &routes[i] : NULL;
        }
    }
    *ret_status = HTTP_NOT_FOUND;
    *ret_allowed = NULL;
    return NULL;
}
