/* error.h - statuses and error messages.
 *
 * Every function that can fail returns a status; the message goes into the trellis_error that the
 * caller passed, which may be NULL. The helpers return the status, so that failing takes one line:
 *
 *     return tr_fail(error, TRELLIS_OPTION, "there is no learner '%s'", name);
 */
#ifndef TRELLIS_BASE_ERROR_H
#define TRELLIS_BASE_ERROR_H

#include "trellis.h"

/* A place in an input; lines and columns count from 1, 0 is unknown. */
struct tr_place {
    const char *file;
    uint64_t line;
    uint32_t column;
};

trellis_status tr_fail(trellis_error *error, trellis_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with file:line:column in front. */
trellis_status tr_fail_at(trellis_error *error, trellis_status status, struct tr_place place,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

trellis_status tr_fail_memory(trellis_error *error);
/* For a NULL in place of an argument that must be there. */
trellis_status tr_fail_null(trellis_error *error, const char *function);
/* Clears what a `ret_` argument points to; false where that is NULL. */
#define TR_CLEAR(ret) ((ret) ? (*(ret) = NULL, true) : false)

/* After a failed system call: "cannot DOING PATH: " and the message of errno. */
trellis_status tr_fail_system(trellis_error *error, const char *doing, const char *path);

#endif
