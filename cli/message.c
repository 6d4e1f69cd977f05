/* message.c - what the command says on standard error. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>

static void say(const char *format, va_list arguments)
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
    say(format, arguments);
    va_end(arguments);
}

int usage_error(const struct command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    if (command) {
        message("'trellis %s --help' shows what it takes", command->name);
    } else {
        message("'trellis --help' shows what there is");
    }
    return EXIT_USAGE;
}

int failure(trellis_status status, const trellis_error *error)
{
    bool told = error && error->message[0];
    message("%s", told ? error->message : trellis_status_meaning(status));
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
