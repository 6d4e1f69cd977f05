/* segment_template.c - the parser of functions of a whole segment, in `segment` lines. */
#include "features/expression.h"

enum takes {
    TAKES_NOTHING,
    TAKES_TEXT,
    TAKES_LENGTHS,
    TAKES_TEST,
    TAKES_LIST,
    TAKES_NAMES,
    TAKES_SIMILAR
};

static const struct {
    const char *name;
    enum takes takes;
    enum tr_value_type result;
} spans[] = {[TR_NO_SPAN] = {"", TAKES_NOTHING, TR_GIVES_TEXT},
#define SPAN_ENTRY(span, name, takes, result, usage, help)                                         \
    [TR_SPAN_##span] = {name, TAKES_##takes, TR_GIVES_##result},
             TR_SPAN_LIST(SPAN_ENTRY)
#undef SPAN_ENTRY
};

#define SPAN_WORD(span, name, takes, result, usage, help) " " name
static const char span_names[] = TR_SPAN_LIST(SPAN_WORD);
#undef SPAN_WORD

enum tr_value_type tr_span_result(enum tr_span_function span)
{
    return spans[span].result;
}

void tr_span_name(const trellis_features *features, const struct tr_expression_term *term,
                  struct tr_buffer *buffer)
{
    enum takes takes = spans[term->span].takes;
    const struct tr_resource *resource = term->resource == TR_NONE
                                             ? NULL
                                             : &features->resources.at[term->resource];
    tr_buffer_string(buffer, spans[term->span].name);
    if (takes == TAKES_NOTHING) {
        return;
    }
    tr_buffer_char(buffer, '(');
    tr_view_name(features, term->view, TR_NO_OFFSET, buffer);
    if (resource && takes != TAKES_TEXT) {
        tr_buffer_format(buffer, ",\"%s\"%s", resource->name,
                         resource->kind == TR_LOWER_WORDS ? ",lower" : "");
    }
    if (takes == TAKES_LENGTHS || takes == TAKES_SIMILAR) {
        tr_buffer_format(buffer, ",%u", term->number);
    }
    tr_buffer_char(buffer, ')');
}

/* "file"[, lower], or "file"[, numbers] */
static trellis_status parse_list(struct tr_parser *parser, enum takes takes,
                                 struct tr_numbers *numbers, uint32_t *ret_resource)
{
    enum tr_resource_kind kind = takes == TAKES_LIST ? TR_WORDS : TR_NAMES;
    trellis_text file;
    trellis_status status = tr_scan_expect(parser, ',', "and the name of a file");
    tr_parse_blank(parser);
    size_t at = parser->at;
    status = status ? status : tr_scan_quoted(parser, '"', "around the name of a file", &file);
    if (!status && memchr(file.data, '\0', file.size)) {
        status = tr_parse_fail(parser, at, "the file name contains a zero byte");
    }
    if (!status && takes == TAKES_LIST && tr_scan_take(parser, ',')) {
        kind = TR_LOWER_WORDS;
        status = tr_scan_take_word(parser, "lower")
                     ? TRELLIS_OK
                     : tr_parse_fail(parser, parser->at, "expected 'lower'");
    }
    if (!status && takes == TAKES_SIMILAR) {
        status = tr_scan_expect(parser, ',', "and the least similarity in per cent");
        status = status ? status : tr_scan_numbers(parser, 100, numbers);
    }
    return status ? status : tr_compile_resource(parser, kind, file, at, ret_resource);
}

/* The arguments after the first. */
static trellis_status parse_arguments(struct tr_parser *parser, enum takes takes,
                                      struct tr_numbers *numbers, uint32_t *ret_resource)
{
    *ret_resource = TR_NONE;
    *numbers = (struct tr_numbers){.at = {1}, .count = 1};
    if (takes == TAKES_LENGTHS && tr_scan_take(parser, ',')) {
        numbers->count = 0;
        return tr_scan_numbers(parser, TR_MAX_SPAN, numbers);
    }
    return takes == TAKES_LIST || takes == TAKES_NAMES || takes == TAKES_SIMILAR
               ? parse_list(parser, takes, numbers, ret_resource)
               : TRELLIS_OK;
}

/* The first argument: a text or a test of a token, without an offset. */
static trellis_status parse_inner(struct tr_parser *parser, enum tr_span_function span,
                                  struct tr_choices *inner)
{
    tr_parse_blank(parser);
    size_t at = parser->at;
    bool test = spans[span].takes == TAKES_TEST;
    trellis_status status = tr_parse_expression(parser, 1, inner);
    if (!status && (!inner->plain || inner->terms.size != inner->ends.size)) {
        status = tr_parse_fail(parser, at, "the argument of %s() takes no offset",
                               spans[span].name);
    }
    for (size_t i = 0; !status && i < inner->terms.size; i++) {
        const struct tr_view *view = &parser->features->views.at[inner->terms.at[i].view];
        if (view->column == TR_NONE ||
            tr_function_result(view->operation) != (test ? TR_GIVES_TEST : TR_GIVES_TEXT)) {
            status = tr_parse_fail(parser, at, "%s() takes a %s", spans[span].name,
                                   test ? "test, such as isupper(x)" : "text, such as a column");
        }
    }
    return status;
}

static trellis_status add_terms(struct tr_parser *parser, enum tr_span_function span,
                                const struct tr_choices *inner, const struct tr_numbers *numbers,
                                uint32_t resource, struct tr_choices *choices)
{
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; i < inner->terms.size; i++) {
        if (!status && span == TR_SPAN_LEARNED) {
            status = tr_compile_learned(parser, inner->terms.at[i].view, TR_LEARNED_SEGMENT,
                                        &resource);
        }
        for (size_t k = 0; !status && k < numbers->count; k++) {
            int32_t number = (int32_t)numbers->at[k];
            struct tr_expression_term term = {.view = inner->terms.at[i].view,
                                              .span = span,
                                              .number = numbers->at[k],
                                              .resource = resource,
                                              .offset = span == TR_SPAN_BEFORE  ? -number
                                                        : span == TR_SPAN_AFTER ? number
                                                                                : 0};
            status = number > 0 ? tr_add_term(parser, choices, term, true)
                                : tr_parse_fail(parser, parser->at, "expected a number above 0");
        }
    }
    return status;
}

trellis_status tr_parse_span(struct tr_parser *parser, struct tr_choices *choices)
{
    trellis_text word = tr_scan_word(parser);
    enum tr_span_function span = TR_NO_SPAN;
    for (int i = TR_NO_SPAN + 1; i < TR_SPAN_COUNT_OF; i++) {
        span = tr_text_is(word, spans[i].name) ? (enum tr_span_function)i : span;
    }
    if (span == TR_NO_SPAN) {
        return tr_parse_fail(parser, parser->at, "expected a function of a segment; they are%s",
                             span_names);
    }
    parser->at += word.size;
    if (spans[span].takes == TAKES_NOTHING) {
        struct tr_expression_term term = {.view = TR_NONE, .span = span, .resource = TR_NONE};
        return tr_add_term(parser, choices, term, true);
    }
    struct tr_choices inner = {0};
    struct tr_numbers numbers;
    uint32_t resource;
    trellis_status status = tr_scan_expect(parser, '(', "after the name of the function");
    status = status ? status : parse_inner(parser, span, &inner);
    status = status ? status : parse_arguments(parser, spans[span].takes, &numbers, &resource);
    status = status ? status : tr_scan_expect(parser, ')', "after the arguments");
    status = status ? status : add_terms(parser, span, &inner, &numbers, resource, choices);
    tr_choices_free(&inner);
    return status;
}
