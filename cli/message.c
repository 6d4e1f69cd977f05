/* message.c - messages on standard error. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ranks.h"

/* The bytes of the control character that data begins with; 0 if it begins with none. Besides those
 * of ASCII there are the C1 set in UTF-8, or as a byte that is no UTF-8; U+2028 and U+2029, which
 * end lines; and U+202A to U+202E and U+2066 to U+2069, which show a line in another order. */
static size_t control_size(const unsigned char *data, size_t size)
{
    if (data[0] < 0x20 || (data[0] >= 0x7F && data[0] < 0xA0)) {
        return 1;
    }
    if (data[0] == 0xC2 && size > 1 && data[1] >= 0x80 && data[1] < 0xA0) {
        return 2;
    }
    return data[0] == 0xE2 && size > 2 &&
                   ((data[1] == 0x80 && data[2] >= 0xA8 && data[2] <= 0xAE) ||
                    (data[1] == 0x81 && data[2] >= 0xA6 && data[2] <= 0xA9))
               ? 3
               : 0;
}

/* The bytes of a character; 1 where they are no UTF-8. */
static size_t character_size(const unsigned char *data, size_t size)
{
    size_t length = data[0] < 0xC2 ? 1 : data[0] < 0xE0 ? 2 : data[0] < 0xF0 ? 3 : 4;
    for (size_t i = 1; i < length; i++) {
        if (i >= size || (data[i] & 0xC0) != 0x80) {
            return 1;
        }
    }
    return length;
}

bool print_visibly(const char *data, size_t size, const char *keep, FILE *out)
{
    const unsigned char *bytes = (const unsigned char *)data;
    size_t begin = 0, i = 0;
    bool ok = true;
    while (i < size) {
        size_t escaped = control_size(bytes + i, size - i);
        if (!escaped || (bytes[i] && strchr(keep, bytes[i]))) {
            i += character_size(bytes + i, size - i);
            continue;
        }
        ok = ok && fwrite(data + begin, 1, i - begin, out) == i - begin;
        for (begin = i + escaped; i < begin; i++) {
            ok = ok && fprintf(out, "\\x%02x", bytes[i]) > 0;
        }
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
    if (!ranks_first()) {
        return EXIT_USAGE; // others are told what is wrong, and no more
    }
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
