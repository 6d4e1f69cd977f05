/* message.c - messages on standard error. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ranks.h"

/* Whether a byte is a control character of ASCII, or begins one of the C1 set in UTF-8. */
static bool is_control(const unsigned char *data, size_t size)
{
    return data[0] < 0x20 || data[0] == 0x7F ||
           (data[0] == 0xC2 && size > 1 && data[1] >= 0x80 && data[1] < 0xA0);
}

bool print_visibly(const char *data, size_t size, const char *keep, FILE *out)
{
    const unsigned char *bytes = (const unsigned char *)data;
    size_t begin = 0;
    bool ok = true;
    for (size_t i = 0; i < size; i++) {
        if (!is_control(bytes + i, size - i) || (bytes[i] && strchr(keep, bytes[i]))) {
            continue;
        }
        size_t last = bytes[i] == 0xC2 ? i + 1 : i;
        ok = ok && fwrite(data + begin, 1, i - begin, out) == i - begin;
        for (; i <= last; i++) {
            ok = ok && fprintf(out, "\\x%02x", bytes[i]) > 0;
        }
        i = last;
        begin = last + 1;
    }
    return ok && fwrite(data + begin, 1, size - begin, out) == size - begin;
}

/* A message may quote data: it stays one line, and does not steer the terminal. */
static void print(const char *format, va_list arguments)
{
    char text[2000];
    vsnprintf(text, sizeof text, format, arguments);
    if (!ranks_print(text)) {
        return;
    }
    fflush(stdout);
    fputs("trellis: ", stderr);
    print_visibly(text, strlen(text), "", stderr);
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
