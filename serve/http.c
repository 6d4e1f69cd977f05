/* http.c - the service over HTTP: libmicrohttpd reads requests and sends answers.
 *
 * One thread of the library reads all requests and sends all answers, by epoll. A request that
 * needs a model is put into the queue and its connection suspended; the worker that has answered it
 * resumes the connection. Everything else is answered at once, also when the queue is full.
 *
 *     exchange_begin -> exchange_receive (body) -> exchange_finish -> [queue -> worker] -> send
 */
#include "http.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "failure.h"
#include "routes.h"

/* A request on its way through the library; the first member, so that one pointer is both. */
struct exchange {
    struct request request;
    struct http *http;
    struct MHD_Connection *carrier;
    struct connection *connection;
    char *url;
    struct text query;
    double begun, finished; // in seconds of clock_now()
    const char *allowed;    // methods, with status 405
    const char *origin;     // that may read the answer, or NULL
    size_t received, sent;
    bool unframed;     // where the body ends is not clear: the connection is closed
    bool refused;      // by its headers: the body is not kept
    bool large;        // the body is too large: it is not kept either
    bool preflight;    // a question of CORS
    bool answered;     // there is an answer
    atomic_bool ready; // that a worker has given
};

static const char *header(const struct exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->carrier, MHD_HEADER_KIND, name);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
    (void)MHD_add_response_header(response, name, value); // fails without memory only
}

/* A page may load and run what we serve, and nothing else. */
static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static void add_security(const struct exchange *exchange, struct MHD_Response *response)
{
    bool page = exchange->request.answer_type &&
                strncmp(exchange->request.answer_type, "text/html", 9) == 0;
    add_header(response, "X-Content-Type-Options", "nosniff");
    if (page) {
        add_header(response, "Content-Security-Policy", page_policy);
        add_header(response, "Referrer-Policy", "no-referrer");
        add_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    }
    if (!exchange->origin) {
        add_header(response, "Cross-Origin-Resource-Policy", "same-origin");
        return;
    }
    add_header(response, "Access-Control-Allow-Origin", exchange->origin);
    add_header(response, "Vary", "Origin");
    if (exchange->preflight) {
        add_header(response, "Access-Control-Allow-Methods", "GET, POST");
        add_header(response, "Access-Control-Allow-Headers", "Content-Type, Authorization");
        add_header(response, "Access-Control-Max-Age", "600");
    }
}

static void add_headers(const struct exchange *exchange, struct MHD_Response *response)
{
    const struct request *request = &exchange->request;
    if (request->answer_type) {
        add_header(response, "Content-Type", request->answer_type);
    }
    add_header(response, "Cache-Control",
               request->route && request->route->answer == answer_page ? "no-cache" : "no-store");
    if (exchange->allowed) {
        add_header(response, "Allow", exchange->allowed);
    }
    if (request->retry_after) {
        add_header(response, "Retry-After", request->retry_after);
    }
    if (request->status == HTTP_UNAUTHORIZED) {
        add_header(response, "WWW-Authenticate", "Bearer");
    }
    if (exchange->unframed || atomic_load(&exchange->http->service.draining)) {
        add_header(response, "Connection", "close");
    }
    add_security(exchange, response);
}

static double stage_end(const struct http *http)
{
    return clock_now() + http->client_seconds;
}

/* Hands the answer to the library, which frees it. */
static enum MHD_Result send_answer(struct exchange *exchange)
{
    struct request *request = &exchange->request;
    if (request->answer.failed) {
        answer_problem(request, HTTP_UNAVAILABLE, "out of memory");
    }
    exchange->sent = request->answer.size;
    exchange->answered = true;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        request->answer.size, request->answer.data, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        return MHD_NO;
    }
    request->answer = (struct text){0};
    add_headers(exchange, response);
    enum MHD_Result result = MHD_queue_response(exchange->carrier, (unsigned)request->status,
                                                response);
    MHD_destroy_response(response);
    if (exchange->connection) {
        atomic_store(&exchange->connection->deadline, stage_end(exchange->http));
    }
    return result;
}

/* ---- the headers ----------------------------------------------------------------------------- */

static void refuse_by_access(struct exchange *exchange)
{
    struct access *access = &exchange->http->access;
    struct request *request = &exchange->request;
    const char *host = header(exchange, "Host"), *origin = header(exchange, "Origin");
    const char *site = header(exchange, "Sec-Fetch-Site");
    if (!access_host_allowed(access, host)) {
        answer_problem(request, HTTP_MISDIRECTED,
                       "this service does not know itself as '%.200s'; see --allow-host", host);
    } else if (!access_origin_allowed(access, origin, host)) {
        answer_problem(request, HTTP_FORBIDDEN,
                       "a page of '%.200s' may not use this service; see --allow-origin", origin);
    } else if (!origin && site && strcmp(site, "cross-site") == 0 && !request->route->open) {
        answer_problem(request, HTTP_FORBIDDEN, "a page elsewhere may not use this service");
    } else if (!exchange->preflight && !request->route->open &&
               !access_token_allowed(access, header(exchange, "Authorization"))) {
        answer_problem(request, HTTP_UNAUTHORIZED, "expected 'Authorization: Bearer TOKEN'");
    }
    exchange->origin = access_origin_listed(access, origin) ? origin : NULL;
}

static uint64_t content_length(const struct exchange *exchange)
{
    const char *length = header(exchange, "Content-Length");
    return length ? strtoull(length, NULL, 10) : 0;
}

/* How often each header that tells the length of the body occurs. */
struct framing {
    unsigned lengths, encodings;
    bool chunked;
};

static enum MHD_Result count_framing(void *user, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
    struct framing *framing = user;
    (void)kind;
    framing->lengths += strcasecmp(name, "Content-Length") == 0;
    if (strcasecmp(name, "Transfer-Encoding") == 0) {
        framing->encodings++;
        framing->chunked = value && strcasecmp(value, "chunked") == 0;
    }
    return MHD_YES;
}

/* Whether the length of the body is told once and clearly. Otherwise a server in front of this one
 * may believe that it ends elsewhere, and take a part of it for a request of somebody else. */
static bool is_framed(const struct exchange *exchange)
{
    struct framing framing = {0};
    MHD_get_connection_values(exchange->carrier, MHD_HEADER_KIND, count_framing, &framing);
    return framing.lengths + framing.encodings <= 1 && (!framing.encodings || framing.chunked);
}

static void refuse_by_content(struct exchange *exchange)
{
    const char *encoding = header(exchange, "Content-Encoding");
    struct request *request = &exchange->request;
    if (content_length(exchange) > exchange->http->service.limits.body) {
        answer_problem(request, HTTP_TOO_LARGE, "a request has at most %zu bytes",
                       exchange->http->service.limits.body);
    } else if (encoding && strcasecmp(encoding, "identity") != 0) {
        answer_problem(request, HTTP_UNSUPPORTED_TYPE, "send the body without Content-Encoding");
    }
}

static void find_route(struct exchange *exchange, const char *method)
{
    struct request *request = &exchange->request;
    int status;
    request->route = route_find(method, exchange->url, &request->rest, &status, &exchange->allowed);
    if (request->route) {
        exchange->allowed = NULL;
        return;
    }
    request->route = route_at(route_count() - 1);
    if (exchange->preflight && status == HTTP_METHOD_NOT_ALLOWED) {
        exchange->allowed = NULL;
    } else if (status == HTTP_METHOD_NOT_ALLOWED) {
        answer_problem(request, status, "%.200s takes %s", exchange->url, exchange->allowed);
    } else {
        answer_problem(request, status, "there is no %.200s; see /openapi.json", exchange->url);
    }
}

static enum MHD_Result add_parameter(void *user, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
    (void)kind;
    struct text *query = user;
    text_string(query, name);
    text_add(query, "=", 1);
    text_add(query, value ? value : "", strlen(value ? value : "") + 1);
    return MHD_YES;
}

static void look_at_headers(struct exchange *exchange, const char *method)
{
    struct request *request = &exchange->request;
    const char *type = header(exchange, "Content-Type");
    request->content_type = type ? type : "";
    exchange->preflight = strcmp(method, "OPTIONS") == 0 && header(exchange, "Origin");
    find_route(exchange, method);
    exchange->unframed = !is_framed(exchange);
    if (exchange->unframed) {
        answer_problem(request, HTTP_BAD_REQUEST, "the length of the body is not clear");
    }
    if (request->status == HTTP_OK) {
        refuse_by_access(exchange);
    }
    if (request->status == HTTP_OK) {
        refuse_by_content(exchange);
    }
    exchange->refused = request->status != HTTP_OK;
}

static struct exchange *exchange_create(struct http *http, struct MHD_Connection *carrier,
                                        const char *url)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        carrier, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange || !(exchange->url = strdup(url))) {
        free(exchange);
        return NULL;
    }
    exchange->http = http;
    exchange->carrier = carrier;
    exchange->connection = info ? info->socket_context : NULL;
    exchange->begun = clock_now();
    exchange->request.status = HTTP_OK;
    exchange->request.answer_type = "application/json";
    atomic_fetch_add(&http->exchanges, 1);
    atomic_fetch_add(&http->all, 1);
    return exchange;
}

/* The headers have arrived. A request that they refuse is answered at once if its body is large;
 * a small one is read first, so that the client is there to see the answer. */
static enum MHD_Result exchange_begin(struct http *http, struct MHD_Connection *carrier,
                                      const char *url, const char *method, void **context)
{
    enum { SMALL_BODY = 1 << 16 };
    struct exchange *exchange = exchange_create(http, carrier, url);
    if (!exchange) {
        return MHD_NO;
    }
    *context = exchange;
    if (exchange->connection) {
        atomic_store(&exchange->connection->deadline, stage_end(http));
        atomic_store(&exchange->connection->busy, true);
    }
    look_at_headers(exchange, method);
    if (exchange->unframed || (exchange->refused && content_length(exchange) > SMALL_BODY)) {
        return send_answer(exchange);
    }
    return MHD_YES;
}

/* ---- the body -------------------------------------------------------------------------------- */

static void exchange_receive(struct exchange *exchange, const char *data, size_t size)
{
    struct text *body = &exchange->request.body;
    exchange->received += size;
    if (exchange->refused || exchange->large) {
        return;
    }
    exchange->large = exchange->received > exchange->http->service.limits.body;
    text_add(body, data, size);
    if (exchange->large) {
        text_free(body);
    }
}

static void put_into_queue(struct exchange *exchange)
{
    struct http *http = exchange->http;
    struct request *request = &exchange->request;
    request->arrived = clock_now();
    request->deadline = request->arrived + http->service.limits.seconds;
    if (exchange->connection) {
        atomic_store(&exchange->connection->deadline, 0);
    }
    MHD_suspend_connection(exchange->carrier);
    if (!queue_put(&http->queue, request)) {
        atomic_fetch_add(&http->service.metrics.rejected[REJECT_QUEUE], 1);
        answer_problem(request, HTTP_UNAVAILABLE, "too many requests are waiting; try again");
        exchange->finished = request->arrived;
        atomic_store(&exchange->ready, true);
        MHD_resume_connection(exchange->carrier);
    }
}

void http_resume(struct request *request)
{
    struct exchange *exchange = (struct exchange *)request;
    exchange->finished = clock_now();
    atomic_store(&exchange->ready, true);
    MHD_resume_connection(exchange->carrier);
}

/* The whole request is there. */
static enum MHD_Result exchange_finish(struct exchange *exchange)
{
    struct request *request = &exchange->request;
    if (atomic_load(&exchange->ready) || exchange->refused) {
        return send_answer(exchange);
    }
    if (exchange->large) {
        answer_problem(request, HTTP_TOO_LARGE, "a request has at most %zu bytes",
                       exchange->http->service.limits.body);
        return send_answer(exchange);
    }
    if (exchange->preflight) {
        request->status = HTTP_NO_CONTENT;
        request->answer_type = NULL;
        return send_answer(exchange);
    }
    MHD_get_connection_values(exchange->carrier, MHD_GET_ARGUMENT_KIND, add_parameter,
                              &exchange->query);
    text_add(&exchange->query, "", 1);
    if (exchange->query.failed || request->body.failed) {
        answer_problem(request, HTTP_UNAVAILABLE, "out of memory");
        return send_answer(exchange);
    }
    request->query = exchange->query.data;
    if (request->route->queued) {
        put_into_queue(exchange);
        return MHD_YES;
    }
    request->route->answer(&exchange->http->service, NULL, request);
    return send_answer(exchange);
}

static enum MHD_Result handle(void *user, struct MHD_Connection *carrier, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **context)
{
    (void)version;
    struct exchange *exchange = *context;
    if (!exchange) {
        return exchange_begin(user, carrier, url, method, context);
    }
    if (*size > 0) {
        exchange_receive(exchange, data, *size);
        *size = 0;
        return MHD_YES;
    }
    return exchange_finish(exchange);
}

/* ---- the end --------------------------------------------------------------------------------- */

static const char *client_name(struct MHD_Connection *carrier, char *name, size_t room)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        carrier, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    const void *bytes = NULL;
    if (address && address->sa_family == AF_INET) {
        bytes = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
    } else if (address && address->sa_family == AF_INET6) {
        bytes = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    }
    return bytes && inet_ntop(address->sa_family, bytes, name, (socklen_t)room) ? name : "local";
}

static const char *method_name(struct exchange *exchange)
{
    const struct route *route = exchange->request.route;
    return exchange->preflight ? "OPTIONS" : route && route->method[0] ? route->method : "-";
}

static void note_exchange(struct exchange *exchange, enum MHD_RequestTerminationCode how)
{
    struct http *http = exchange->http;
    struct metrics *metrics = &http->service.metrics;
    const struct request *request = &exchange->request;
    char client[INET6_ADDRSTRLEN];
    double now = clock_now();
    struct access_line line = {
        .client = client_name(exchange->carrier, client, sizeof client),
        .method = method_name(exchange),
        .path = exchange->url,
        .received = exchange->received,
        .sent = exchange->sent,
        .seconds = now - exchange->begun,
        .queued = request->started > 0 ? request->started - request->arrived : 0,
        .worked = request->started > 0 ? exchange->finished - request->started : 0,
        .complete = exchange->answered && how == MHD_REQUEST_TERMINATED_COMPLETED_OK,
    };
    atomic_fetch_add(&metrics->received, exchange->received);
    atomic_fetch_add(&metrics->sent, exchange->sent);
    atomic_fetch_add(&metrics->sequences, request->sequences);
    atomic_fetch_add(&metrics->tokens, request->tokens);
    metrics_request(metrics, route_index(request->route), request->status, line.seconds);
    access_log_write(&http->log, request, &line);
}

static void completed(void *user, struct MHD_Connection *carrier, void **context,
                      enum MHD_RequestTerminationCode how)
{
    struct http *http = user;
    struct exchange *exchange = *context;
    (void)carrier;
    if (!exchange) {
        return;
    }
    note_exchange(exchange, how);
    if (exchange->connection) {
        atomic_store(&exchange->connection->deadline, stage_end(http));
        atomic_store(&exchange->connection->busy, false);
    }
    text_free(&exchange->request.body);
    text_free(&exchange->request.answer);
    text_free(&exchange->query);
    free(exchange->url);
    free(exchange);
    *context = NULL;
    atomic_fetch_sub(&http->exchanges, 1);
}

static void connected(void *user, struct MHD_Connection *carrier, void **context,
                      enum MHD_ConnectionNotificationCode what)
{
    struct http *http = user;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(
            carrier, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context = info ? connections_add(&http->connections, info->connect_fd, stage_end(http))
                        : NULL;
    } else {
        connections_remove(&http->connections, *context);
        *context = NULL;
    }
}

/* ---- starting and stopping ------------------------------------------------------------------- */

trellis_status http_start(struct http *http, int socket, unsigned max_connections,
                          trellis_error *error)
{
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO, 0, NULL, NULL,
        handle, http, MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_NOTIFY_COMPLETED, completed,
        http, MHD_OPTION_NOTIFY_CONNECTION, connected, http, MHD_OPTION_CONNECTION_LIMIT,
        max_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(32 << 10),
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_CONNECTION_TIMEOUT, 0U, MHD_OPTION_END);
    return http->daemon ? TRELLIS_OK : fail(error, TRELLIS_IO, "cannot start the HTTP server");
}

void http_quiesce(struct http *http)
{
    (void)MHD_quiesce_daemon(http->daemon);
}

void http_stop(struct http *http)
{
    MHD_stop_daemon(http->daemon);
    http->daemon = NULL;
}
