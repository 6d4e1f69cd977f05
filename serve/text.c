/* text.c - a growing text, and JSON written into it. */
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes; false on allocation failure. */
static bool make_room(struct text *text, size_t more)
{
    if (text->failed || more > SIZE_MAX / 4 - text->size) {
        text->failed = true;
        return false;
    }
    if (text->size + more <= text->room) {
        return true;
    }
    size_t room = text->room ? text->room : 512;
    while (room < text->size + more) {
        room *= 2;
    }
    char *data = realloc(text->data, room);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room = room;
    return true;
}

void text_add(struct text *text, const char *data, size_t size)
{
    if (size > 0 && make_room(text, size)) {
        memcpy(text->data + text->size, data, size);
        text->size += size;
    }
}

void text_string(struct text *text, const char *string)
{
    text_add(text, string, strlen(string));
}

void text_format(struct text *text, const char *format, ...)
{
    char line[1400]; // a message of the library has 1000 bytes
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_add(text, line, size < (int)sizeof line ? (size_t)size : sizeof line - 1);
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Bytes of the UTF-8 character at `at`; 0 if there is none. */
static size_t character_size(const unsigned char *at, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = *at < 0xC2 ? 0 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : *at < 0xF5 ? 4 : 0;
    if (size == 0 || size > left) {
        return 0;
    }
    uint32_t code = *at & (0x7FU >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
        code = code << 6 | (at[i] & 0x3FU);
    }
    bool surrogate = code >= 0xD800 && code < 0xE000;
    return code < least[size] || code > 0x10FFFF || surrogate ? 0 : size;
}

/* Writes the character at `at`, which is not a plain one; returns its size. */
static size_t add_special(struct text *text, const unsigned char *at, size_t left)
{
    if (*at == '"' || *at == '\\') {
        char escaped[] = {'\\', (char)*at};
        text_add(text, escaped, sizeof escaped);
        return 1;
    }
    if (*at < 0x20 || *at == 0x7F) {
        text_format(text, "\\u%04x", *at);
        return 1;
    }
    size_t size = character_size(at, left);
    if (size == 0) {
        text_string(text, "\xEF\xBF\xBD");
        return 1;
    }
    text_add(text, (const char *)at, size);
    return size;
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

void text_json(struct text *text, const char *data, size_t size)
{
    const unsigned char *at = (const unsigned char *)data;
    text_add(text, "\"", 1);
    for (size_t begin = 0, end = 0; begin < size; begin = end) {
        while (end < size && is_plain(at[end])) {
            end++;
        }
        text_add(text, data + begin, end - begin);
        if (end < size) {
            end += add_special(text, at + end, size - end);
        }
    }
    text_add(text, "\"", 1);
}

void text_comma(struct text *text)
{
    char last = text->size ? text->data[text->size - 1] : '{';
    if (last != '{' && last != '[') {
        text_add(text, ",", 1);
    }
}

void text_member(struct text *text, const char *name)
{
    text_comma(text);
    text_add(text, "\"", 1);
    text_string(text, name);
    text_add(text, "\":", 2);
}

void text_real(struct text *text, double value, int digits)
{
    if (isfinite(value)) {
        text_format(text, "%.*g", digits, value);
    } else {
        text_string(text, "null");
    }
}

trellis_status text_sink(void *user, const char *data, size_t size)
{
    struct text *text = user;
    text_add(text, data, size);
    return text->failed ? TRELLIS_MEMORY : TRELLIS_OK;
}
