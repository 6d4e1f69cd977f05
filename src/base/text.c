/* text.c - slices of text, and a growing buffer to write text into. */
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

bool tr_text_integer(trellis_text text, int64_t *value)
{
    size_t i = 0;
    bool negative = false;
    if (i < text.size && (text.data[i] == '-' || text.data[i] == '+')) {
        negative = text.data[i++] == '-';
    }
    if (i == text.size) {
        return false;
    }
    int64_t sum = 0;
    for (; i < text.size; i++) {
        int digit = text.data[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_sub_overflow(sum, digit, &sum)) {
            return false; // summed as a negative number, whose range is larger by one
        }
    }
    if (!negative && sum == INT64_MIN) {
        return false;
    }
    *value = negative ? sum : -sum;
    return true;
}

/* The C library reads and writes numbers with the decimal point of the process's locale; ours have
 * a point in any. Returns the thread's locale, for uselocale() to put back. */
static locale_t plain_numbers(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); // a constant, not to be freed
}

bool tr_text_real(trellis_text text, double *value)
{
    /* Only the characters of a plain number are allowed: no leading blanks, no hexadecimal
     * digits. */
    char copy[64];
    if (text.size == 0 || text.size >= sizeof copy) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (!strchr("0123456789+-.eEinfatyINFATY", text.data[i]) || !text.data[i]) {
            return false;
        }
    }
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    char *end;
    locale_t kept = plain_numbers();
    double read = strtod(copy, &end);
    uselocale(kept);
    if (end != copy + text.size) {
        return false;
    }
    *value = read;
    return true;
}

char *tr_buffer_extend(struct tr_buffer *buffer, size_t size)
{
    if (buffer->failed || size > SIZE_MAX / 2 - buffer->size ||
        !tr_make_room(buffer->data, buffer->capacity, buffer->size + size)) {
        buffer->failed = true;
        return NULL;
    }
    buffer->size += size;
    return buffer->data + buffer->size - size;
}

void tr_buffer_add(struct tr_buffer *buffer, const char *data, size_t size)
{
    char *added = size ? tr_buffer_extend(buffer, size) : NULL;
    if (added) {
        memcpy(added, data, size);
    }
}

void tr_buffer_text(struct tr_buffer *buffer, trellis_text text)
{
    tr_buffer_add(buffer, text.data, text.size);
}

void tr_buffer_string(struct tr_buffer *buffer, const char *string)
{
    tr_buffer_add(buffer, string, strlen(string));
}

void tr_buffer_format(struct tr_buffer *buffer, const char *format, ...)
{
    locale_t kept = plain_numbers();
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int n = vsnprintf(NULL, 0, format, arguments);
    if (n < 0 || buffer->failed ||
        !tr_make_room(buffer->data, buffer->capacity, buffer->size + (size_t)n + 1)) {
        buffer->failed = true;
    } else {
        vsnprintf(buffer->data + buffer->size, (size_t)n + 1, format, again);
        buffer->size += (size_t)n;
    }
    va_end(again);
    va_end(arguments);
    uselocale(kept);
}

void tr_buffer_real(struct tr_buffer *buffer, double value)
{
    if (!isfinite(value)) {
        tr_buffer_string(buffer, "null");
        return;
    }
    char text[40];
    if (value == trunc(value) && fabs(value) < 1e15) {
        snprintf(text, sizeof text, "%.0f", value); // 1000, not 1e+03
        tr_buffer_string(buffer, text);
        return;
    }
    locale_t kept = plain_numbers();
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    uselocale(kept);
    tr_buffer_string(buffer, text);
}

/* Bytes of a control character: C0, DEL, or C1 as UTF-8 writes it; 0 for anything else. */
static size_t control_size(trellis_text text, size_t at)
{
    unsigned char c = (unsigned char)text.data[at];
    bool c1 = c == 0xC2 && at + 1 < text.size && (unsigned char)text.data[at + 1] < 0xA0;
    return c < 0x20 || c == 0x7F ? 1 : c1 ? 2 : 0;
}

void tr_buffer_shown(struct tr_buffer *buffer, trellis_text text)
{
    for (size_t i = 0; i < text.size;) {
        size_t size = control_size(text, i);
        if (size == 0) {
            tr_buffer_char(buffer, text.data[i++]);
        }
        for (; size > 0; size--, i++) {
            unsigned char c = (unsigned char)text.data[i];
            const char *name = c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : NULL;
            if (name) {
                tr_buffer_string(buffer, name);
            } else {
                tr_buffer_format(buffer, "\\x%02x", c);
            }
        }
    }
}

void tr_buffer_json(struct tr_buffer *buffer, trellis_text text)
{
    tr_buffer_char(buffer, '"');
    for (size_t i = 0; i < text.size;) {
        unsigned char c = (unsigned char)text.data[i];
        size_t step = tr_utf8_step(text, i);
        if (step == 0) {
            tr_buffer_string(buffer, "\xEF\xBF\xBD");
            step = 1;
        } else if (c == '"' || c == '\\') {
            tr_buffer_char(buffer, '\\');
            tr_buffer_char(buffer, (char)c);
        } else if (c < 0x20 || c == 0x7F) {
            tr_buffer_format(buffer, "\\u%04x", c);
        } else {
            tr_buffer_add(buffer, text.data + i, step);
        }
        i += step;
    }
    tr_buffer_char(buffer, '"');
}

void tr_buffer_free(struct tr_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct tr_buffer){0};
}

trellis_status tr_buffer_flush(struct tr_buffer *buffer, trellis_sink sink, void *user,
                               trellis_error *error)
{
    if (buffer->failed) {
        return tr_fail_memory(error);
    }
    trellis_status status = TRELLIS_OK;
    if (buffer->size) {
        status = sink(user, buffer->data, buffer->size);
        if (status) {
            tr_fail(error, status, "cannot write the output");
        }
    }
    buffer->size = 0;
    return status;
}

/* d[i][j] = the distance of the first i letters of a and the first j of b */
unsigned tr_edit_distance(const char *a, const char *b, unsigned max)
{
    unsigned char d[64][64];
    size_t n = strlen(a), m = strlen(b);
    if (n >= TR_COUNT(d) || m >= TR_COUNT(d)) {
        return max + 1;
    }
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            unsigned best = (unsigned)(i + j);
            if (i > 0 && j > 0) {
                best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
                best = d[i - 1][j] + 1u < best ? d[i - 1][j] + 1u : best;
                best = d[i][j - 1] + 1u < best ? d[i][j - 1] + 1u : best;
            }
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                best = d[i - 2][j - 2] + 1u < best ? d[i - 2][j - 2] + 1u : best;
            }
            d[i][j] = (unsigned char)best;
        }
    }
    return d[n][m] <= max ? d[n][m] : max + 1;
}

trellis_text tr_text_word(trellis_text *line)
{
    size_t begin = 0;
    while (begin < line->size && (line->data[begin] == ' ' || line->data[begin] == '\t')) {
        begin++;
    }
    size_t end = begin;
    while (end < line->size && line->data[end] != ' ' && line->data[end] != '\t') {
        end++;
    }
    if (end == 0) { // perhaps NULL
        return (trellis_text){line->data, 0};
    }
    trellis_text word = {line->data + begin, end - begin};
    *line = (trellis_text){line->data + end, line->size - end};
    return word;
}
