/* utf8.c - code points, their classes and their case, by utf8proc, with a fast path for ASCII. */
#include "base/utf8.h"

#include <string.h>
#include <utf8proc.h>

#include "base/memory.h"
#include "base/text.h"

#define STRAY 0xDC00 // a byte that is no UTF-8 is read as STRAY + byte, a value no valid text has

size_t tr_utf8_step(trellis_text text, size_t at)
{
    if (at >= text.size) {
        return 0;
    }
    if ((unsigned char)text.data[at] < 0x80) {
        return 1;
    }
    size_t left = text.size - at;
    utf8proc_int32_t code;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text.data + at,
                                          (utf8proc_ssize_t)(left < 4 ? left : 4), &code);
    return n > 0 ? (size_t)n : 0;
}

enum { PLAIN_STEP = 128 }; // compared as vectors

static bool step_is_plain(const char *bytes)
{
    signed char plain = -1;
    for (size_t i = 0; i < PLAIN_STEP; i++) {
        plain &= (signed char)-((signed char)bytes[i] > 0);
    }
    return plain;
}

bool tr_utf8_is_plain(trellis_text text)
{
    bool plain = true;
    size_t at = 0;
    for (; plain && text.size - at > PLAIN_STEP; at += PLAIN_STEP) {
        plain = step_is_plain(text.data + at);
    }
    if (text.size >= PLAIN_STEP) { // again what is before the last bytes
        return plain && step_is_plain(text.data + text.size - PLAIN_STEP);
    }
    while (plain && at < text.size) {
        plain = (signed char)text.data[at++] > 0;
    }
    return plain;
}

/* Skips ASCII from `at`, 64 bytes and then eight at a time; the caller handles the rest. */
static size_t skip_ascii(trellis_text text, size_t at)
{
    uint64_t bytes, words[8];
    while (text.size - at >= sizeof words) {
        memcpy(words, text.data + at, sizeof words);
        if ((words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] |
             words[7]) &
            0x8080808080808080u) {
            break;
        }
        at += sizeof words;
    }
    while (text.size - at >= sizeof bytes) {
        memcpy(&bytes, text.data + at, sizeof bytes);
        if (bytes & 0x8080808080808080u) {
            break;
        }
        at += sizeof bytes;
    }
    return at;
}

size_t tr_utf8_invalid(trellis_text text)
{
    size_t at = 0;
    while ((at = skip_ascii(text, at)) < text.size) {
        size_t step = tr_utf8_step(text, at);
        if (step == 0) {
            return at;
        }
        at += step;
    }
    return at;
}

int32_t tr_utf8_next(trellis_text text, size_t *at)
{
    unsigned char c = (unsigned char)text.data[*at];
    if (c < 0x80) {
        ++*at;
        return c;
    }
    size_t left = text.size - *at;
    utf8proc_int32_t code;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text.data + *at,
                                          (utf8proc_ssize_t)(left < 4 ? left : 4), &code);
    if (n <= 0) {
        ++*at;
        return STRAY + c;
    }
    *at += (size_t)n;
    return code;
}

size_t tr_utf8_length(trellis_text text)
{
    size_t count = 0;
    for (size_t at = 0; at < text.size; count++) {
        tr_utf8_next(text, &at);
    }
    return count;
}

bool tr_utf8_prefix(trellis_text text, size_t n, trellis_text *prefix)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (at >= text.size) {
            return false;
        }
        tr_utf8_next(text, &at);
    }
    *prefix = (trellis_text){text.data, at};
    return true;
}

bool tr_utf8_suffix(trellis_text text, size_t n, trellis_text *suffix)
{
    /* Walks back over continuation bytes, but only as far as they belong to one valid code
     * point. */
    size_t at = text.size;
    for (size_t i = 0; i < n; i++) {
        if (at == 0) {
            return false;
        }
        size_t begin = at - 1;
        while (begin > 0 && at - begin < 4 && ((unsigned char)text.data[begin] & 0xC0) == 0x80) {
            begin--;
        }
        at = tr_utf8_step((trellis_text){text.data, at}, begin) == at - begin ? begin : at - 1;
    }
    *suffix = (trellis_text){text.data + at, text.size - at};
    return true;
}

enum tr_class tr_utf8_class(int32_t code)
{
    if (code < 0x80) {
        if (code >= 'a' && code <= 'z') {
            return TR_LOWER;
        }
        if (code >= 'A' && code <= 'Z') {
            return TR_UPPER;
        }
        if (code >= '0' && code <= '9') {
            return TR_DIGIT;
        }
    }
    switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
        return TR_UPPER;
    case UTF8PROC_CATEGORY_LL:
        return TR_LOWER;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return TR_OTHER_LETTER;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return TR_DIGIT;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
        return TR_PUNCTUATION;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
        return TR_SYMBOL;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return TR_SPACE;
    default:
        return TR_OTHER;
    }
}

int32_t tr_utf8_lower(int32_t code)
{
    if (code < 0x80) {
        return code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code;
    }
    return utf8proc_tolower(code);
}

int32_t tr_utf8_upper(int32_t code)
{
    if (code < 0x80) {
        return code >= 'a' && code <= 'z' ? code - ('a' - 'A') : code;
    }
    return utf8proc_toupper(code);
}

size_t tr_utf8_write(int32_t code, char *bytes)
{
    if (code >= STRAY + 0x80 && code <= STRAY + 0xFF) {
        bytes[0] = (char)(unsigned char)(code - STRAY);
        return 1;
    }
    utf8proc_ssize_t n = utf8proc_encode_char(code, (utf8proc_uint8_t *)bytes);
    return n > 0 ? (size_t)n : 0;
}

void tr_lower_text(trellis_text text, struct tr_buffer *buffer)
{
    for (size_t at = 0; at < text.size;) {
        char bytes[4];
        tr_buffer_add(buffer, bytes, tr_utf8_write(tr_utf8_lower(tr_utf8_next(text, &at)), bytes));
    }
}
