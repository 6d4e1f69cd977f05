/* message.h - messages on standard error, each line prefixed with "trellis: ". */
#ifndef TRELLIS_CLI_MESSAGE_H
#define TRELLIS_CLI_MESSAGE_H

#include <stdio.h>

#include "command.h"

void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes data that may hold control characters, each as \xNN except for those in `keep`; false if a
 * write failed. */
bool print_visibly(const char *data, size_t size, const char *keep, FILE *out);

/* Prints an error about the arguments and where to find help; returns EXIT_USAGE. `command` may be
 * NULL. */
int usage_error(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints an error of the library; `error` may be NULL. Returns the exit status: EXIT_USAGE for
 * TRELLIS_OPTION, otherwise EXIT_FAILURE. */
int failure(trellis_status status, const trellis_error *error);

/* Fills in an error like the library does, for failures of the command itself. */
trellis_status set_error(trellis_error *error, trellis_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "" for 1, otherwise "s". */
const char *plural(uint64_t count);

#endif
