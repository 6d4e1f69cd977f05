/* access_log.h - a line of JSON for each request. */
#ifndef TRELLIS_SERVE_ACCESS_LOG_H
#define TRELLIS_SERVE_ACCESS_LOG_H

#include <pthread.h>
#include <stdatomic.h>

#include "request.h"

struct access_log {
    const char *path; // "-" is standard output; NULL: there is none
    atomic_int file;  // -1 if there is none
    pthread_mutex_t lock;
};

/* What is known of a request besides itself. */
struct access_line {
    const char *client, *method, *path;
    size_t received, sent; // bytes of the bodies
    double seconds, queued, worked;
    bool complete; // the whole answer was sent
};

/* Opens the file, or opens it again after it was renamed. On failure the old one stays. */
trellis_status access_log_open(struct access_log *log, trellis_error *error);
void access_log_write(struct access_log *log, const struct request *request,
                      const struct access_line *line);
void access_log_close(struct access_log *log);

#endif
