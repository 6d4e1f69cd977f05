/* failure.h - fills in a trellis_error as the library does, for failures of the service itself. */
#ifndef TRELLIS_SERVE_FAILURE_H
#define TRELLIS_SERVE_FAILURE_H

#include "trellis.h"

/* Returns `status`; `error` may be NULL. */
trellis_status fail(trellis_error *error, trellis_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
