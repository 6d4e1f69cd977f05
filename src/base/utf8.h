/* utf8.h - code points, their classes and their case, by utf8proc. */
#ifndef TRELLIS_BASE_UTF8_H
#define TRELLIS_BASE_UTF8_H

#include "trellis.h"

/* The bytes of the code point at `at`, 0 where there is no valid one (overlong forms, surrogates
 * and cut-off ends included). */
size_t tr_utf8_step(trellis_text text, size_t at);

/* Whether all bytes are ASCII, and none is zero. */
bool tr_utf8_is_plain(trellis_text text);

/* The offset of the first byte that is not part of valid UTF-8, or text.size. */
size_t tr_utf8_invalid(trellis_text text);

/* Reads the code point at *at and moves on; a byte that is no UTF-8 counts as a code point of its
 * own with the value 0xDC00 + byte, so that no input is refused and none is confused with
 * another. */
int32_t tr_utf8_next(trellis_text text, size_t *at);

/* The code points in a text. */
size_t tr_utf8_length(trellis_text text);
/* The first or the last n code points; false where the text has fewer. */
bool tr_utf8_prefix(trellis_text text, size_t n, trellis_text *prefix);
bool tr_utf8_suffix(trellis_text text, size_t n, trellis_text *suffix);

enum tr_class {
    TR_UPPER,
    TR_LOWER,
    TR_OTHER_LETTER,
    TR_DIGIT,
    TR_PUNCTUATION,
    TR_SYMBOL,
    TR_SPACE,
    TR_OTHER
};
enum tr_class tr_utf8_class(int32_t code);
int32_t tr_utf8_lower(int32_t code);
int32_t tr_utf8_upper(int32_t code);

/* Writes a code point as the bytes it was read from; at most 4; returns how many. */
size_t tr_utf8_write(int32_t code, char *bytes);

/* Appends a text in lower case. */
struct tr_buffer;
void tr_lower_text(trellis_text text, struct tr_buffer *buffer);

#endif
