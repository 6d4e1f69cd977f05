/* message.c - messages on standard error. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>

static void print(const char *format, va_list arguments)
{
    fflush(stdout);
    fputs("trellis: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void message(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}

int usage_error(const struct command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    if (command) {
        message("for usage see 'trellis %s --help'", command->name);
    } else {
        message("'trellis --help' lists the subcommands");
    }
    return EXIT_USAGE;
}

int failure(trellis_status status, const trellis_error *error)
{
    bool has_message = error && error->message[0];
    message("%s", has_message ? error->message : trellis_status_meaning(status));
    return status == TRELLIS_OPTION ? EXIT_USAGE : EXIT_FAILURE;
}

trellis_status set_error(trellis_error *error, trellis_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->status = status;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}
