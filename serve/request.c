/* request.c - a request and its answer, independent of the library that carries them. */
#include "request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const char *request_parameter(const struct request *request, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = request->query; at && *at; at += strlen(at) + 1) {
        if (strncmp(at, name, size) == 0 && at[size] == '=') {
            return at + size + 1;
        }
    }
    return NULL;
}

double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *status_phrase(int status)
{
    switch (status) {
    case HTTP_OK:
        return "OK";
    case HTTP_BAD_REQUEST:
        return "Bad Request";
    case HTTP_UNAUTHORIZED:
        return "Unauthorized";
    case HTTP_FORBIDDEN:
        return "Forbidden";
    case HTTP_NOT_FOUND:
        return "Not Found";
    case HTTP_METHOD_NOT_ALLOWED:
        return "Method Not Allowed";
    case HTTP_TOO_LARGE:
        return "Content Too Large";
    case HTTP_UNSUPPORTED_TYPE:
        return "Unsupported Media Type";
    case HTTP_MISDIRECTED:
        return "Misdirected Request";
    case HTTP_UNPROCESSABLE:
        return "Unprocessable Content";
    case HTTP_UNAVAILABLE:
        return "Service Unavailable";
    default:
        return "Internal Server Error";
    }
}

void answer_problem(struct request *request, int status, const char *format, ...)
{
    char detail[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    struct text *out = &request->answer;
    out->size = 0;
    out->failed = false;
    request->status = status;
    request->answer_type = "application/problem+json";
    request->retry_after = status == HTTP_UNAVAILABLE ? "1" : NULL;
    text_string(out, "{\"type\":\"about:blank\"");
    text_member(out, "title");
    text_json(out, status_phrase(status), strlen(status_phrase(status)));
    text_member(out, "status");
    text_format(out, "%d", status);
    text_member(out, "detail");
    text_json(out, detail, strlen(detail));
    text_string(out, "}\n");
}

static int http_status(trellis_status status)
{
    switch (status) {
    case TRELLIS_FORMAT:
    case TRELLIS_OPTION:
        return HTTP_BAD_REQUEST;
    case TRELLIS_DATA:
    case TRELLIS_MODEL:
    case TRELLIS_TEMPLATE:
        return HTTP_UNPROCESSABLE;
    case TRELLIS_LIMIT:
        return HTTP_TOO_LARGE;
    case TRELLIS_MEMORY:
    case TRELLIS_INTERRUPTED:
        return HTTP_UNAVAILABLE;
    default:
        return HTTP_SERVER_ERROR;
    }
}

void answer_failure(struct request *request, trellis_status status, const trellis_error *error)
{
    answer_problem(request, http_status(status), "%s",
                   error->message[0] ? error->message : trellis_status_meaning(status));
}
