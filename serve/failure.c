/* failure.c - fills in a trellis_error as the library does, for failures of the service itself. */
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

trellis_status fail(trellis_error *error, trellis_status status, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        *error = (trellis_error){.status = status};
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}
