/* scan.c - the words, numbers and quoted texts of a line of the template language. */
#include "features/scan.h"

char tr_scan_peek(const struct tr_parser *parser)
{
    return parser->at < parser->line.size ? parser->line.data[parser->at] : '\0';
}

bool tr_scan_take(struct tr_parser *parser, char c)
{
    tr_parse_blank(parser);
    if (tr_scan_peek(parser) != c || parser->at >= parser->line.size) {
        return false;
    }
    parser->at++;
    return true;
}

trellis_status tr_scan_expect(struct tr_parser *parser, char c, const char *what)
{
    return tr_scan_take(parser, c) ? TRELLIS_OK
                                   : tr_parse_fail(parser, parser->at, "expected '%c' %s", c, what);
}

bool tr_scan_end(struct tr_parser *parser)
{
    return tr_parse_blank(parser) || tr_scan_peek(parser) == '#';
}

static bool is_word_byte(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte >= 0x80 || byte == '_' || (byte >= '0' && byte <= '9') ||
           ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

trellis_text tr_scan_word(struct tr_parser *parser)
{
    tr_parse_blank(parser);
    size_t end = parser->at;
    while (end < parser->line.size && is_word_byte(parser->line.data[end])) {
        end++;
    }
    return (trellis_text){parser->line.data + parser->at, end - parser->at};
}

bool tr_scan_take_word(struct tr_parser *parser, const char *word)
{
    if (!tr_text_is(tr_scan_word(parser), word)) {
        return false;
    }
    parser->at += strlen(word);
    return true;
}

trellis_status tr_scan_range(struct tr_parser *parser, int64_t min, int64_t max, int64_t *from,
                             int64_t *to)
{
    tr_parse_blank(parser);
    size_t begin = parser->at;
    if (!tr_parse_integer(parser, min, max, from)) {
        return tr_parse_fail(parser, begin, "expected a whole number from %d to %d", (int)min,
                             (int)max);
    }
    *to = *from;
    if (parser->at + 1 >= parser->line.size || tr_scan_peek(parser) != '.' ||
        parser->line.data[parser->at + 1] != '.') {
        return TRELLIS_OK;
    }
    parser->at += 2;
    size_t end = parser->at;
    if (!tr_parse_integer(parser, min, max, to) || *to < *from) {
        return tr_parse_fail(parser, end, "expected a whole number from %d to %d after '..'",
                             (int)*from, (int)max);
    }
    return TRELLIS_OK;
}

trellis_status tr_scan_numbers(struct tr_parser *parser, int64_t max, struct tr_numbers *numbers)
{
    numbers->count = 0;
    do {
        size_t begin = parser->at;
        int64_t from = 0, to = 0;
        trellis_status status = tr_scan_range(parser, 1, max, &from, &to);
        if (status) {
            return status;
        }
        for (; from <= to; from++) {
            if (numbers->count == TR_COUNT(numbers->at)) {
                return tr_parse_fail(parser, begin, "more than %zu numbers", numbers->count);
            }
            numbers->at[numbers->count++] = (uint32_t)from;
        }
        tr_parse_blank(parser);
    } while (tr_scan_peek(parser) >= '0' && tr_scan_peek(parser) <= '9');
    return TRELLIS_OK;
}

trellis_status tr_scan_quoted(struct tr_parser *parser, char quote, const char *what,
                              trellis_text *ret_text)
{
    trellis_status status = tr_scan_expect(parser, quote, what);
    if (status) {
        return status;
    }
    size_t begin = parser->at;
    while (parser->at < parser->line.size && tr_scan_peek(parser) != quote) {
        bool escape = quote == '/' && tr_scan_peek(parser) == '\\' &&
                      parser->at + 1 < parser->line.size;
        parser->at += escape ? 2 : 1;
    }
    if (parser->at >= parser->line.size) {
        return tr_parse_fail(parser, begin - 1, "the %c is not closed", quote);
    }
    *ret_text = (trellis_text){parser->line.data + begin, parser->at++ - begin};
    if (ret_text->size == 0) {
        return tr_parse_fail(parser, begin, "expected something between the two %c", quote);
    }
    return TRELLIS_OK;
}
