/* patterns.c - the templates of CRF++ and the patterns of Wapiti, read as they are.
 *
 *     U05:%x[-1,0]/%x[0,0]          node attribute: the line with its macros replaced
 *     B05:%x[0,0]                   edge attribute; without macros: steps between labels
 *     *05:%m[0,0,"^.?.?"]           Wapiti: both
 *
 * %x[row,column] is a cell, both numbers from 0. Wapiti has in addition %t[row,column,"re"], which
 * gives "true" or "false", and %m[row,column,"re"], which gives the match; a capital letter
 * lower-cases the result; a row with @ in front counts from the first token (@1) or the last (@-1).
 */
#include "features/compiled.h"

static char peek(const struct tr_parser *parser)
{
    return parser->at < parser->line.size ? parser->line.data[parser->at] : '\0';
}

static trellis_status expect(struct tr_parser *parser, char c, const char *what)
{
    tr_parse_blank(parser);
    if (peek(parser) != c) {
        return tr_parse_fail(parser, parser->at, "expected '%c' %s", c, what);
    }
    parser->at++;
    tr_parse_blank(parser);
    return TRELLIS_OK;
}

/* A number as in C: 010 is 8 and 0x10 is 16. */
static bool parse_c_integer(struct tr_parser *parser, int64_t min, int64_t max, int64_t *value)
{
    char digits[24] = "";
    size_t size = 0;
    while (size + 1 < sizeof digits && parser->at + size < parser->line.size &&
           strchr("+-0123456789abcdefABCDEFxX", parser->line.data[parser->at + size])) {
        digits[size] = parser->line.data[parser->at + size];
        size++;
    }
    char *end;
    *value = strtoll(digits, &end, 0);
    parser->at += (size_t)(end - digits);
    return end > digits && *value >= min && *value <= max;
}

/* The row: an offset, or after @ the number of a token. */
static trellis_status parse_row(struct tr_parser *parser, struct tr_template_part *part)
{
    bool wapiti = parser->features->dialect == TR_WAPITI;
    if (wapiti && peek(parser) == '*') {
        return tr_parse_fail(parser, parser->at, "rows given by a column (*) are not supported");
    }
    if (wapiti && peek(parser) == '@') {
        part->absolute = true;
        parser->at++;
    }
    bool strings = parser->features->strings;
    int64_t max = part->absolute       ? TR_MAX_ABSOLUTE
                  : strings && !wapiti ? TR_CRFPP_PADS
                                       : TR_MAX_OFFSET;
    int64_t row;
    if (!(strings && wapiti ? parse_c_integer(parser, -max, max, &row)
                            : tr_parse_integer(parser, -max, max, &row)) ||
        (part->absolute && row == 0 && !strings)) {
        return tr_parse_fail(parser, parser->at, "expected a row from %d to %d%s", (int)-max,
                             (int)max, part->absolute && !strings ? ", without 0" : "");
    }
    part->offset = (int32_t)row;
    return TRELLIS_OK;
}

static trellis_status parse_column(struct tr_parser *parser, uint32_t *ret_view)
{
    int64_t column;
    if (!tr_parse_integer(parser, 0, TR_MAX_COLUMNS - 1, &column)) {
        return tr_parse_fail(parser, parser->at, "expected the number of a column, from 0 to %d",
                             TR_MAX_COLUMNS - 1);
    }
    struct tr_view view = {TR_OP_COLUMN, TR_NONE, 0, 0, TR_NONE, TR_NONE, 0};
    trellis_status status = tr_compile_column(parser, (size_t)column, &view.column);
    return status ? status : tr_compile_view(parser, view, ret_view);
}

/* ,"re" after the column. */
static trellis_status parse_regex(struct tr_parser *parser, uint32_t *ret_regex)
{
    trellis_status status = expect(parser, ',', "and a regular expression in quotes");
    if (!status && peek(parser) != '"') {
        status = tr_parse_fail(parser, parser->at, "expected a regular expression in quotes");
    }
    if (status) {
        return status;
    }
    size_t begin = ++parser->at;
    while (parser->at < parser->line.size && peek(parser) != '"') {
        parser->at += peek(parser) == '\\' && parser->at + 1 < parser->line.size ? 2 : 1;
    }
    if (parser->at >= parser->line.size) {
        return tr_parse_fail(parser, begin - 1, "the quote is not closed");
    }
    trellis_text pattern = {parser->line.data + begin, parser->at++ - begin};
    struct tr_buffer translated = {0};
    size_t where = 0;
    if (parser->features->strings) {
        return tr_wapiti_regex_check(pattern, &where)
                   ? tr_compile_regex(parser, pattern, begin, ret_regex)
                   : tr_parse_fail(parser, begin + where, "invalid regular expression");
    }
    if (!tr_regex_from_wapiti(pattern, &translated, &where)) {
        status = tr_parse_fail(parser, begin + where,
                               "expected a character before * or ?, and one "
                               "after \\");
    } else if (translated.failed) {
        status = tr_fail_memory(parser->error);
    } else {
        status = tr_compile_regex(parser, (trellis_text){translated.data, translated.size}, begin,
                                  ret_regex);
    }
    tr_buffer_free(&translated);
    return status;
}

/* Puts a function around a view. */
static trellis_status wrap(struct tr_parser *parser, enum tr_operation operation, uint32_t regex,
                           uint32_t *view)
{
    return tr_compile_view(parser, (struct tr_view){operation, *view, 0, 0, TR_NONE, regex, 0},
                           view);
}

/* A macro, from its letter on. */
static trellis_status parse_macro(struct tr_parser *parser, struct tr_template_part *part)
{
    bool wapiti = parser->features->dialect == TR_WAPITI;
    char letter = peek(parser), kind = (char)(letter | 0x20);
    if (letter != 'x' && !(wapiti && letter && strchr("XtTmM", letter))) {
        return tr_parse_fail(parser, parser->at, "expected %s after '%%'",
                             wapiti ? "x, X, t, T, m or M" : "x");
    }
    parser->at++;
    uint32_t regex = TR_NONE;
    trellis_status status = expect(parser, '[', "and a row");
    status = status ? status : parse_row(parser, part);
    status = status ? status : expect(parser, ',', "and a column");
    status = status ? status : parse_column(parser, &part->view);
    if (!status && kind != 'x') {
        status = parse_regex(parser, &regex);
        status = status ? status
                        : wrap(parser, kind == 't' ? TR_OP_WAPITI_TEST : TR_OP_WAPITI_MATCH, regex,
                               &part->view);
    }
    if (!status && letter != kind) {
        status = wrap(parser, TR_OP_LOWER, TR_NONE, &part->view);
    }
    tr_parse_blank(parser);
    if (!status && peek(parser) != ']') {
        status = tr_parse_fail(parser, parser->at, "expected ']'");
    }
    parser->at++; // blanks after it belong to the text
    return status;
}

/* The text from here to the next macro or the end; the key begins with the first one. */
static trellis_status parse_literal(struct tr_parser *parser, struct tr_draft *draft)
{
    size_t begin = parser->at;
    while (parser->at < parser->line.size && peek(parser) != '%') {
        parser->at++;
    }
    trellis_text text = {parser->line.data + begin, parser->at - begin};
    if (begin == 0) {
        draft->beginning = text;
        return TRELLIS_OK;
    }
    struct tr_template_part *part = &draft->mixed[draft->mixed_count++];
    *part = (struct tr_template_part){.view = TR_NONE};
    return tr_compile_literal(parser, text, &part->literal);
}

static trellis_status parse_pieces(struct tr_parser *parser, struct tr_draft *draft)
{
    trellis_status status = TRELLIS_OK;
    while (!status && parser->at < parser->line.size) {
        if (draft->mixed_count == TR_MAX_PARTS) {
            return tr_parse_fail(parser, parser->at, "more than %d pieces in one template",
                                 TR_MAX_PARTS);
        }
        if (peek(parser) != '%') {
            status = parse_literal(parser, draft);
        } else {
            parser->at++;
            struct tr_template_part *part = &draft->mixed[draft->mixed_count++];
            *part = (struct tr_template_part){.literal = TR_NONE};
            status = parse_macro(parser, part);
        }
    }
    return status;
}

/* Adds the template as node, edge or both. An edge template without observations is a
 * transition. */
static trellis_status add_template(struct tr_parser *parser, struct tr_draft *draft, char kind)
{
    trellis_status status = TRELLIS_OK;
    if (kind != 'b') {
        status = tr_compile_template(parser, draft);
    }
    if (status || kind == 'u') {
        return status;
    }
    if (draft->mixed_count == 0) {
        parser->features->steps.between = true;
        return TRELLIS_OK;
    }
    draft->edge = true;
    return tr_compile_template(parser, draft);
}

/* A template as it is, with its first letter. */
static trellis_status parse_line(struct tr_parser *parser, struct tr_draft *draft, char kind)
{
    draft->text = parser->line;
    trellis_status status = parse_pieces(parser, draft);
    return status ? status : add_template(parser, draft, kind);
}

/* Wapiti's lines end where a comment begins, and their first letter is read as a small one. */
static trellis_status parse_wapiti_line(struct tr_parser *parser, struct tr_draft *draft, char kind)
{
    const char *comment = memchr(parser->line.data, '#', parser->line.size);
    if (comment) {
        parser->line.size = (size_t)(comment - parser->line.data);
    }
    while (parser->line.size && strchr(" \t", parser->line.data[parser->line.size - 1])) {
        parser->line.size--;
    }
    char *copy = tr_copy_text(parser->line.data, parser->line.size);
    if (!copy) {
        return tr_fail_memory(parser->error);
    }
    copy[0] = kind;
    parser->line.data = copy;
    trellis_status status = parse_line(parser, draft, kind);
    free(copy);
    return status;
}

/* Models of Wapiti without patterns take the strings of the input. */
static trellis_status parse_cells(struct tr_parser *parser)
{
    bool nodes = tr_text_is(parser->line, TR_STRINGS_NODE_CELLS);
    if (!nodes && !tr_text_is(parser->line, TR_STRINGS_CELLS)) {
        return tr_parse_fail(parser, 0,
                             "expected '" TR_STRINGS_CELLS "' or '" TR_STRINGS_NODE_CELLS "'");
    }
    parser->features->cells = nodes ? TR_NODE_CELLS : TR_CELLS;
    return TRELLIS_OK;
}

trellis_status tr_pattern_line(struct tr_parser *parser)
{
    bool wapiti = parser->features->dialect == TR_WAPITI;
    char first = peek(parser);
    if (wapiti && parser->features->strings && first == 'c') {
        return parse_cells(parser);
    }
    const char *letters = !wapiti ? "UB" : parser->features->strings ? "ub*" : "UBub*";
    if (!first || !strchr(letters, first)) {
        return tr_parse_fail(parser, 0,
                             wapiti ? "expected a line that begins with u, b or *"
                                    : "expected a line that begins with U or B");
    }
    char kind = first == '*' ? '*' : (char)(first | 0x20);
    struct tr_draft *draft = tr_alloc(1, sizeof *draft);
    if (!draft) {
        return tr_fail_memory(parser->error);
    }
    trellis_status status = wapiti && !parser->features->strings
                                ? parse_wapiti_line(parser, draft, kind)
                                : parse_line(parser, draft, kind);
    free(draft);
    return status;
}
