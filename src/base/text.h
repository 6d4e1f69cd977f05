/* text.h - slices of text, and a growing buffer to write text into. */
#ifndef TRELLIS_BASE_TEXT_H
#define TRELLIS_BASE_TEXT_H

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define TR_TEXT(literal) ((trellis_text){(literal), sizeof(literal) - 1})
/* For printf's "%.*s"; long texts are cut to what a message can hold. */
#define TR_SHOW(text) (int)((text).size < 200 ? (text).size : 200), (text).data ? (text).data : ""
/* For printf's "%llu token%s": a count, and the plural. */
#define TR_COUNTED(count) (unsigned long long)(count), (count) == 1 ? "" : "s"

static inline trellis_text tr_text(const char *string)
{
    return (trellis_text){string, string ? strlen(string) : 0};
}

static inline bool tr_text_equal(trellis_text a, trellis_text b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool tr_text_is(trellis_text a, const char *string)
{
    return tr_text_equal(a, tr_text(string));
}

static inline bool tr_text_begins(trellis_text a, const char *prefix)
{
    size_t n = strlen(prefix);
    return a.size >= n && memcmp(a.data, prefix, n) == 0;
}

/* Compares bytes, as memcmp() does. */
static inline int tr_text_compare(trellis_text a, trellis_text b)
{
    size_t shorter = a.size < b.size ? a.size : b.size;
    int order = shorter ? memcmp(a.data, b.data, shorter) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* Reads an integer or a real number that is the whole text; no locale, no surrounding blanks. */
bool tr_text_integer(trellis_text text, int64_t *value);
bool tr_text_real(trellis_text text, double *value);

/* A growing buffer. On allocation failure it stays as it was and `failed` is set, so that a series
 * of writes needs one check at its end. */
struct tr_buffer {
    char *data;
    size_t size, capacity;
    bool failed;
};

void tr_buffer_add(struct tr_buffer *buffer, const char *data, size_t size);
/* `size` more bytes, to be written by the caller; NULL if the buffer has failed. */
char *tr_buffer_extend(struct tr_buffer *buffer, size_t size);
void tr_buffer_text(struct tr_buffer *buffer, trellis_text text);
void tr_buffer_string(struct tr_buffer *buffer, const char *string);
static inline void tr_buffer_char(struct tr_buffer *buffer, char c)
{
    if (buffer->size < buffer->capacity && !buffer->failed) {
        buffer->data[buffer->size++] = c;
    } else {
        tr_buffer_add(buffer, &c, 1);
    }
}
void tr_buffer_format(struct tr_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The shortest decimal that reads back to the same double; "NaN" and "Infinity" never appear in our
 * files, so they are written as JSON's null. */
void tr_buffer_real(struct tr_buffer *buffer, double value);
/* Adds a text to one line for people: control characters as \xNN or \n, so that data cannot end the
 * line or steer a terminal. */
void tr_buffer_shown(struct tr_buffer *buffer, trellis_text text);
/* As a JSON string with quotes; bytes that are not UTF-8 become U+FFFD. */
void tr_buffer_json(struct tr_buffer *buffer, trellis_text text);
void tr_buffer_free(struct tr_buffer *buffer);

/* Writes the contents to a sink and empties the buffer. */
trellis_status tr_buffer_flush(struct tr_buffer *buffer, trellis_sink sink, void *user,
                               trellis_error *error);

/* The edit distance of two names, by letters inserted, deleted, replaced or swapped with their
 * neighbour (Damerau 1964); max + 1 if it is larger than `max` or a name is too long. */
unsigned tr_edit_distance(const char *a, const char *b, unsigned max);

/* Removes the next word from a line, skipping blanks and tabs before it; an empty word at its
 * end. */
trellis_text tr_text_word(trellis_text *line);

#endif
