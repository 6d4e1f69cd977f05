/* routes.h - the endpoints: which path and method is answered by what. */
#ifndef TRELLIS_SERVE_ROUTES_H
#define TRELLIS_SERVE_ROUTES_H

#include "service.h"

struct route {
    const char *name;   // in metrics and log
    const char *method; // "GET", which includes HEAD, or "POST"
    const char *path;   // if it ends in '/', what follows is a parameter
    void (*answer)(struct service *service, struct worker *worker, struct request *request);
    bool queued; // by a worker; otherwise at once
    bool open;   // without a token
};

size_t route_count(void);
const struct route *route_at(size_t index);
size_t route_index(const struct route *route);

/* The route of a request; NULL, with the status (404 or 405) and the methods that there are, if
 * there is none. *ret_rest is what follows the path of the route. */
const struct route *route_find(const char *method, const char *path, const char **ret_rest,
                               int *ret_status, const char **ret_allowed);

#endif
