/* message.h - what the command says on standard error, each line with its name in front. */
#ifndef TRELLIS_CLI_MESSAGE_H
#define TRELLIS_CLI_MESSAGE_H

#include "command.h"

void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says what is wrong with the arguments and where the help is; returns EXIT_USAGE. `command` may be
 * NULL. */
int usage_error(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says what a function of the library complained about; `error` may be NULL. Returns the exit status
 * for it: EXIT_USAGE where an option was at fault, else EXIT_FAILURE. */
int failure(trellis_status status, const trellis_error *error);

/* Fills in an error as the library does, for what goes wrong in the command itself. */
trellis_status set_error(trellis_error *error, trellis_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
