/* connections.h - the open connections, and until when each must have made progress.
 *
 * A client that sends or reads a byte now and then keeps a connection busy for ever, whatever the
 * library's own timeout on silence says. So each stage has an end: the headers, the body, the
 * reading of the answer, the pause until the next request.
 */
#ifndef TRELLIS_SERVE_CONNECTIONS_H
#define TRELLIS_SERVE_CONNECTIONS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct connection {
    int socket;
    _Atomic double deadline; // in seconds of clock_now(); 0: it waits for us
    atomic_bool busy;        // in the middle of a request, rather than between two
    struct connection *previous, *next;
};

struct connections {
    pthread_mutex_t lock;
    struct connection *first;
    atomic_size_t *count; // of open connections, for the metrics
};

/* NULL on allocation failure. */
struct connection *connections_add(struct connections *connections, int socket, double deadline);
void connections_remove(struct connections *connections, struct connection *connection);
/* Shuts down connections whose time is up; returns how many were in the middle of a request. */
size_t connections_expire(struct connections *connections, double now);

#endif
