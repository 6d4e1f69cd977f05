/* markup.c - escapes untrusted text for HTML, SVG and JSON in scripts. */
#include "report/markup.h"

#include "base/utf8.h"

static const char *escape_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Control characters and noncharacters are not part of XML. */
static bool is_allowed(int32_t code)
{
    return (code >= 0x20 && code != 0x7F && !(code >= 0xD800 && code <= 0xDFFF) && code != 0xFFFE &&
            code != 0xFFFF) ||
           code == '\t' || code == '\n';
}

void tr_markup_text(struct tr_buffer *out, trellis_text text)
{
    for (size_t at = 0; at < text.size;) {
        size_t begin = at;
        const char *escape = escape_of(text.data[begin]);
        bool allowed = is_allowed(tr_utf8_next(text, &at));
        if (escape || !allowed) {
            tr_buffer_string(out, escape ? escape : "\xEF\xBF\xBD");
        } else {
            tr_buffer_add(out, text.data + begin, at - begin);
        }
    }
}

/* In JSON these can only occur inside strings, where they may be written as numeric escapes. */
void tr_markup_json(struct tr_buffer *out, trellis_text json)
{
    for (size_t i = 0; i < json.size; i++) {
        char c = json.data[i];
        if (c == '<' || c == '>' || c == '&') {
            tr_buffer_format(out, "\\u%04x", (unsigned)c);
        } else {
            tr_buffer_char(out, c);
        }
    }
}
