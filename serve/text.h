/* text.h - a growing text, and JSON written into it. */
#ifndef TRELLIS_SERVE_TEXT_H
#define TRELLIS_SERVE_TEXT_H

#include "trellis.h"

/* Starts as {0}. After an allocation failure it stays as it is and `failed` is set. */
struct text {
    char *data; // [size] not terminated
    size_t size, room;
    bool failed;
};

void text_add(struct text *text, const char *data, size_t size);
void text_string(struct text *text, const char *string);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);

/* A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void text_json(struct text *text, const char *data, size_t size);
/* "name": after a comma if something stands before it in its object or array. */
void text_member(struct text *text, const char *name);
/* A number with `digits` significant digits; null if it is not finite. */
void text_real(struct text *text, double value, int digits);
/* A comma, unless an object or array has just been opened. */
void text_comma(struct text *text);

/* A trellis_sink; `user` is the struct text. */
trellis_status text_sink(void *user, const char *data, size_t size);

#endif
