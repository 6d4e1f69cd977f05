/* request.h - a request and its answer, independent of the library that carries them. */
#ifndef TRELLIS_SERVE_REQUEST_H
#define TRELLIS_SERVE_REQUEST_H

#include "text.h"

enum {
    HTTP_OK = 200,
    HTTP_NO_CONTENT = 204,
    HTTP_NOT_MODIFIED = 304,
    HTTP_BAD_REQUEST = 400,
    HTTP_UNAUTHORIZED = 401,
    HTTP_FORBIDDEN = 403,
    HTTP_NOT_FOUND = 404,
    HTTP_METHOD_NOT_ALLOWED = 405,
    HTTP_TOO_LARGE = 413,
    HTTP_UNSUPPORTED_TYPE = 415,
    HTTP_MISDIRECTED = 421,
    HTTP_UNPROCESSABLE = 422,
    HTTP_SERVER_ERROR = 500,
    HTTP_UNAVAILABLE = 503
};

struct route;

struct request {
    const struct route *route;
    const char *rest;         // of the path, after that of the route; terminated
    const char *content_type; // "" if there is none
    const char *query;        // the parameters as NAME=VALUE, zero-terminated, one after the other,
                              // decoded; then an empty one
    struct text body;
    double arrived, started; // when it was put into the queue and taken out of it,
    double deadline;         // and must be answered, in seconds of clock_now()

    /* the answer */
    int status;
    const char *answer_type; // a constant
    struct text answer;
    const char *retry_after; // or NULL

    /* for the log and the metrics */
    char model[65];
    uint64_t sequences, tokens;
};

/* The value of a parameter, NULL if it was not given. */
const char *request_parameter(const struct request *request, const char *name);

/* Seconds of a clock that only goes forward. */
double clock_now(void);

/* Turns the answer into a problem as in RFC 9457; what was written to it before is dropped. */
void answer_problem(struct request *request, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a failure of the library. */
void answer_failure(struct request *request, trellis_status status, const trellis_error *error);
/* The phrase of a status: "Not Found". */
const char *status_phrase(int status);

#endif
