/* http.h - the service over HTTP: libmicrohttpd reads requests and sends answers. */
#ifndef TRELLIS_SERVE_HTTP_H
#define TRELLIS_SERVE_HTTP_H

#include "access.h"
#include "access_log.h"
#include "connections.h"
#include "queue.h"

struct MHD_Daemon;

struct http {
    struct service service;
    struct queue queue;
    struct access access;
    struct access_log log;
    struct connections connections;
    void (*print)(const char *line); // for the person who runs the service
    double client_seconds;           // that a client has for each stage of a request
    atomic_size_t exchanges;         // requests that are being read, worked on or answered
    atomic_uint_fast64_t all;        // requests so far
    struct MHD_Daemon *daemon;
};

/* Serves connections to a listening socket. */
trellis_status http_start(struct http *http, int socket, unsigned max_connections,
                          trellis_error *error);
/* Sends the answer of a request; called by the worker that has given it. */
void http_resume(struct request *request);
/* No longer accepts connections; those that are open go on. */
void http_quiesce(struct http *http);
/* Closes all connections. The queue must have been stopped, or be empty. */
void http_stop(struct http *http);

#endif
