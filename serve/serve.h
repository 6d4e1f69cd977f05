/* serve.h - the service from its start to its end. */
#ifndef TRELLIS_SERVE_SERVE_H
#define TRELLIS_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>

#include "trellis.h"

/* Prints a line that may quote data. */
typedef void print_line(const char *line);

struct serve_settings {
    print_line *print;
    const char *const *models; // [model_count] FILE or NAME=FILE
    size_t model_count;
    const char *listen; // ADDRESS:PORT or unix:PATH
    unsigned workers;
    size_t queue; // requests that may wait
    size_t max_body, max_tokens;
    unsigned max_connections;
    const trellis_options *limits; // on the input of requests
    double request_seconds;        // from the arrival of a request to its answer
    double client_seconds;         // that a client has for each stage of a request
    double grace_seconds;          // for requests that are being answered when the service ends
    bool watch;
    const char *access_log, *token_file;       // or NULL
    const char *const *hosts, *const *origins; // [host_count], [origin_count]
    size_t host_count, origin_count;
};

/* Serves until a signal (SIGTERM, SIGINT) ends it, and prints what is wrong. Returns the exit
 * status. */
int serve(const struct serve_settings *settings);

#endif
