/* access_log.c - a line of JSON for each request. What people send is not in it. */
#include "access_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "failure.h"
#include "routes.h"

trellis_status access_log_open(struct access_log *log, trellis_error *error)
{
    if (!log->path || strcmp(log->path, "-") == 0) {
        log->file = log->path ? STDOUT_FILENO : -1;
        return TRELLIS_OK;
    }
    int file = open(log->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (file < 0) {
        return fail(error, TRELLIS_IO, "%s: %s", log->path, strerror(errno));
    }
    pthread_mutex_lock(&log->lock);
    int old = log->file;
    log->file = file;
    pthread_mutex_unlock(&log->lock);
    if (old >= 0) {
        close(old);
    }
    return TRELLIS_OK;
}

void access_log_close(struct access_log *log)
{
    if (log->file > STDOUT_FILENO) {
        close(log->file);
    }
    log->file = -1;
}

static void write_time(struct text *out)
{
    struct timespec now;
    struct tm parts;
    char stamp[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &parts);
    text_format(out, "{\"time\":\"%s.%03ldZ\"", stamp, now.tv_nsec / 1000000);
}

static void write_string(struct text *out, const char *name, const char *value)
{
    size_t size = strlen(value);
    text_member(out, name);
    text_json(out, value, size < 200 ? size : 200);
}

void access_log_write(struct access_log *log, const struct request *request,
                      const struct access_line *line)
{
    struct text out = {0};
    if (log->file < 0) {
        return;
    }
    write_time(&out);
    write_string(&out, "client", line->client);
    write_string(&out, "method", line->method);
    write_string(&out, "path", line->path);
    text_format(&out, ",\"status\":%d", request->status);
    if (request->model[0]) {
        write_string(&out, "model", request->model);
        text_format(&out, ",\"sequences\":%zu,\"tokens\":%zu", (size_t)request->sequences,
                    (size_t)request->tokens);
    }
    text_format(&out, ",\"received\":%zu,\"sent\":%zu,\"seconds\":%.6f", line->received, line->sent,
                line->seconds);
    if (request->route && request->route->queued) {
        text_format(&out, ",\"queued\":%.6f,\"worked\":%.6f", line->queued, line->worked);
    }
    text_format(&out, ",\"complete\":%s}\n", line->complete ? "true" : "false");
    if (!out.failed) {
        pthread_mutex_lock(&log->lock);
        ssize_t written = write(log->file, out.data, out.size); // a full disk loses lines only
        (void)written;
        pthread_mutex_unlock(&log->lock);
    }
    text_free(&out);
}
