/* serve.c - the service from its start to its end.
 *
 * The thread that called serve() waits for signals: SIGHUP reloads models, tokens and log, SIGTERM
 * and SIGINT end the service. Four times a second it looks for clients whose time is up, and with
 * --watch once a second for changed models.
 */
#include "serve.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "failure.h"
#include "http.h"
#include "listen.h"

enum { LOOKS_PER_SECOND = 4 };

/* A line for the person who runs the service. */
__attribute__((format(printf, 2, 3))) static void say(print_line *print, const char *format, ...)
{
    char line[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    print(line);
}

/* ---- reloading ------------------------------------------------------------------------------- */

static void reload_model(struct http *http, size_t index)
{
    struct models *models = &http->service.models;
    const char *name = models->entries[index].name;
    trellis_error error = {0};
    if (models_reload(models, index, &error)) {
        say(http->print, "model '%s' stays as it was: %s", name, error.message);
    } else {
        say(http->print, "model '%s' reloaded", name);
    }
    queue_wake(&http->queue);
}

static void reload_all(struct http *http)
{
    trellis_error error = {0};
    for (size_t i = 0; i < http->service.models.count; i++) {
        reload_model(http, i);
    }
    if (access_read_tokens(&http->access, &error)) {
        say(http->print, "the tokens stay as they were: %s", error.message);
    }
    if (access_log_open(&http->log, &error)) {
        say(http->print, "the access log stays where it was: %s", error.message);
    }
}

static void reload_changed(struct http *http)
{
    for (size_t i = 0; i < http->service.models.count; i++) {
        if (models_changed(&http->service.models, i)) {
            reload_model(http, i);
        }
    }
}

/* ---- starting -------------------------------------------------------------------------------- */

/* Signals are taken by sigtimedwait() in this thread; those started later inherit the mask. */
static sigset_t block_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signals;
}

/* Connections, models, logs and libraries all need files. */
static trellis_status raise_file_limit(unsigned connections, trellis_error *error)
{
    struct rlimit limit;
    rlim_t needed = (rlim_t)connections + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) {
        return TRELLIS_OK;
    }
    limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur >= needed
               ? TRELLIS_OK
               : fail(error, TRELLIS_OPTION,
                      "--max-connections %u needs %llu open files, but the limit is %llu (ulimit "
                      "-n)",
                      connections, (unsigned long long)needed, (unsigned long long)limit.rlim_cur);
}

static void set_up(struct http *http, const struct serve_settings *settings)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    http->service.limits = (struct limits){.body = settings->max_body,
                                           .tokens = settings->max_tokens,
                                           .seconds = settings->request_seconds};
    http->service.metrics.started = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    http->service.metrics.queue_limit = settings->queue;
    http->service.metrics.workers = settings->workers;
    http->access.hosts = settings->hosts;
    http->access.host_count = settings->host_count;
    http->access.origins = settings->origins;
    http->access.origin_count = settings->origin_count;
    http->access.token_file = settings->token_file;
    http->log.path = settings->access_log;
    http->log.file = -1;
    http->print = settings->print;
    http->client_seconds = settings->client_seconds;
    http->connections.count = &http->service.metrics.connections;
    pthread_rwlock_init(&http->access.lock, NULL);
    pthread_mutex_init(&http->log.lock, NULL);
    pthread_mutex_init(&http->connections.lock, NULL);
}

static trellis_status start(struct http *http, const struct serve_settings *settings,
                            struct listener *listener, trellis_error *error)
{
    trellis_status status = raise_file_limit(settings->max_connections, error);
    status = status ? status : access_read_tokens(&http->access, error);
    status = status ? status : access_log_open(&http->log, error);
    status = status ? status
                    : models_create(&http->service.models, settings->models, settings->model_count,
                                    settings->limits, error);
    status = status ? status : listen_on(settings->listen, listener, error);
    status = status ? status
                    : queue_start(&http->queue, &http->service, settings->workers, settings->queue,
                                  http_resume, error);
    return status ? status : http_start(http, listener->socket, settings->max_connections, error);
}

static void tell(const struct listener *listener, const struct serve_settings *settings)
{
    say(settings->print, "listening on %s with %u worker%s", listener->address, settings->workers,
        settings->workers == 1 ? "" : "s");
    if (!listener->loopback && !settings->token_file) {
        say(settings->print,
            "warning: other machines can connect, and need no token; see --token-file");
    }
}

/* ---- running and ending ---------------------------------------------------------------------- */

static void run(struct http *http, const struct serve_settings *settings, const sigset_t *signals)
{
    const struct timespec pause = {.tv_nsec = 1000000000 / LOOKS_PER_SECOND};
    unsigned looks = 0;
    for (int number = 0; number != SIGTERM && number != SIGINT;) {
        number = sigtimedwait(signals, NULL, &pause);
        if (number == SIGHUP) {
            reload_all(http);
        }
        size_t slow = connections_expire(&http->connections, clock_now());
        atomic_fetch_add(&http->service.metrics.rejected[REJECT_SLOW], slow);
        if (settings->watch && ++looks % LOOKS_PER_SECOND == 0) {
            reload_changed(http);
        }
    }
}

/* Lets requests finish. A client may have sent one that we have not yet seen, so it ends when none
 * has come for a moment. */
static void drain(struct http *http, int socket, double seconds)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    double end = clock_now() + seconds;
    uint_fast64_t before;
    atomic_store(&http->service.draining, true);
    http_quiesce(http);
    close(socket);
    do {
        before = atomic_load(&http->all);
        nanosleep(&moment, NULL);
        connections_expire(&http->connections, clock_now());
    } while ((atomic_load(&http->exchanges) > 0 || atomic_load(&http->all) != before) &&
             clock_now() < end);
    size_t left = atomic_load(&http->exchanges);
    if (left > 0) {
        say(http->print, "%zu request%s not answered within %g s", left,
            left == 1 ? " was" : "s were", seconds);
    }
}

static void clean_up(struct http *http)
{
    models_destroy(&http->service.models);
    access_log_close(&http->log);
    pthread_rwlock_destroy(&http->access.lock);
    pthread_mutex_destroy(&http->log.lock);
    pthread_mutex_destroy(&http->connections.lock);
    free(http);
}

int serve(const struct serve_settings *settings)
{
    struct http *http = calloc(1, sizeof *http);
    struct listener listener = {.socket = -1};
    trellis_error error = {0};
    if (!http) {
        say(settings->print, "out of memory");
        return EXIT_FAILURE;
    }
    sigset_t signals = block_signals();
    set_up(http, settings);
    trellis_status status = start(http, settings, &listener, &error);
    if (status) {
        say(http->print, "%s", error.message);
    } else {
        tell(&listener, settings);
        run(http, settings, &signals);
        drain(http, listener.socket, settings->grace_seconds);
    }
    if (http->queue.threads) {
        queue_stop(&http->queue);
    }
    if (http->daemon) {
        http_stop(http);
        say(http->print, "ended after %llu requests", (unsigned long long)atomic_load(&http->all));
    }
    clean_up(http);
    return status == TRELLIS_OPTION ? 2 : status ? EXIT_FAILURE : EXIT_SUCCESS;
}
