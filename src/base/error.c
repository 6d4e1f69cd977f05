/* error.c - statuses and error messages. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *trellis_status_name(trellis_status status)
{
    switch (status) {
#define STATUS_NAME(name, number, meaning)                                                         \
    case TRELLIS_##name:                                                                           \
        return #name;
        TRELLIS_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    }
    return "UNKNOWN";
}

const char *trellis_status_meaning(trellis_status status)
{
    switch (status) {
#define STATUS_MEANING(name, number, meaning)                                                      \
    case TRELLIS_##name:                                                                           \
        return meaning;
        TRELLIS_STATUS_LIST(STATUS_MEANING)
#undef STATUS_MEANING
    }
    return "unknown status";
}

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *trellis_version(void)
{
    return VERSION_TEXT(TRELLIS_VERSION_MAJOR, TRELLIS_VERSION_MINOR, TRELLIS_VERSION_PATCH);
}

static trellis_status describe(trellis_error *error, trellis_status status, struct tr_place place,
                               const char *format, va_list arguments)
{
    if (!error) {
        return status;
    }
    error->status = status;
    error->line = place.line;
    error->column = place.column;
    size_t room = sizeof error->message, used = 0;
    int n = 0;
    if (place.file && place.line && place.column) {
        n = snprintf(error->message, room, "%s:%llu:%u: ", place.file,
                     (unsigned long long)place.line, place.column);
    } else if (place.file && place.line) {
        n = snprintf(error->message, room, "%s:%llu: ", place.file, (unsigned long long)place.line);
    } else if (place.file) {
        n = snprintf(error->message, room, "%s: ", place.file);
    }
    used = n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
    vsnprintf(error->message + used, room - used, format, arguments);
    return status;
}

trellis_status tr_fail(trellis_error *error, trellis_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    describe(error, status, (struct tr_place){0}, format, arguments);
    va_end(arguments);
    return status;
}

trellis_status tr_fail_at(trellis_error *error, trellis_status status, struct tr_place place,
                          const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    describe(error, status, place, format, arguments);
    va_end(arguments);
    return status;
}

trellis_status tr_fail_memory(trellis_error *error)
{
    return tr_fail(error, TRELLIS_MEMORY, "out of memory");
}

trellis_status tr_fail_null(trellis_error *error, const char *function)
{
    return tr_fail(error, TRELLIS_OPTION, "%s: NULL for an argument that must be there", function);
}

trellis_status tr_fail_system(trellis_error *error, const char *doing, const char *path)
{
    int code = errno;
    char reason[128] = "";
    /* The GNU form returns the text, which may or may not be in the buffer. */
    const char *text = strerror_r(code, reason, sizeof reason);
    return tr_fail(error, code == ENOMEM ? TRELLIS_MEMORY : TRELLIS_IO, "cannot %s %s: %s", doing,
                   path, text);
}
