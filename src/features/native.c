/* native.c - the parser of the template language (docs/features.md has its grammar), line by
 * line. */
#include "features/expression.h"

/* ---- templates ------------------------------------------------------------------------------- */

enum { MAX_EXPRESSIONS = 16 };

struct condition {
    struct tr_expression_term term;
    bool negated;
};

struct conjunction {
    struct tr_choices expressions[MAX_EXPRESSIONS];
    size_t expression_count;
    struct condition conditions[MAX_EXPRESSIONS];
    size_t condition_count;
};

/* Whether a term is a test, a number or a text. */
static enum tr_value_type result_of(const trellis_features *features,
                                    const struct tr_expression_term *term)
{
    return term->span ? tr_span_result(term->span)
                      : tr_function_result(features->views.at[term->view].operation);
}

static trellis_status parse_condition(struct tr_parser *parser, bool segment,
                                      struct condition *condition)
{
    struct tr_choices choices = {0};
    condition->negated = tr_scan_take_word(parser, "not");
    tr_parse_blank(parser);
    size_t at = parser->at;
    trellis_status status = segment ? tr_parse_span(parser, &choices)
                                    : tr_parse_expression(parser, 0, &choices);
    if (!status && choices.terms.size != 1) {
        status = tr_parse_fail(parser, at, "a condition takes one offset and one number");
    }
    if (!status) {
        condition->term = choices.terms.at[0];
        if (result_of(parser->features, &condition->term) != TR_GIVES_TEST) {
            status = tr_parse_fail(parser, at, "expected a test, such as %s",
                                   segment ? "all(isupper(x)) or listed(x, \"file\")"
                                           : "isupper(x) or rare(x, 3)");
        }
    }
    tr_choices_free(&choices);
    return status;
}

static trellis_status parse_conjunction(struct tr_parser *parser, bool segment,
                                        struct conjunction *conjunction)
{
    trellis_status status;
    do {
        if (conjunction->expression_count == MAX_EXPRESSIONS) {
            return tr_parse_fail(parser, parser->at, "more than %d expressions", MAX_EXPRESSIONS);
        }
        struct tr_choices *choices = &conjunction->expressions[conjunction->expression_count++];
        status = segment ? tr_parse_span(parser, choices) : tr_parse_expression(parser, 0, choices);
    } while (!status && tr_scan_take(parser, '&'));
    if (!status && tr_scan_take_word(parser, "if")) {
        do {
            if (conjunction->condition_count == MAX_EXPRESSIONS) {
                return tr_parse_fail(parser, parser->at, "more than %d conditions",
                                     MAX_EXPRESSIONS);
            }
            status = parse_condition(parser, segment,
                                     &conjunction->conditions[conjunction->condition_count++]);
        } while (!status && tr_scan_take(parser, '&'));
    }
    if (!status && !tr_scan_end(parser)) {
        status = tr_parse_fail(parser, parser->at, "expected '&', 'if' or the end of the line");
    }
    return status;
}

/* Adds a term to the parts that are hashed, that are conditions, or that are real values. */
static bool add_part(const trellis_features *features, struct tr_draft *draft,
                     struct tr_expression_term term)
{
    struct tr_template_part part = {.view = term.view,
                                    .literal = TR_NONE,
                                    .offset = term.offset,
                                    .span = term.span,
                                    .number = term.number,
                                    .resource = term.resource};
    struct tr_template_part *parts = draft->mixed;
    uint32_t *count = &draft->mixed_count;
    enum tr_value_type result = result_of(features, &term);
    if (result == TR_GIVES_TEST) {
        parts = draft->conditions;
        count = &draft->condition_count;
    } else if (result == TR_GIVES_REAL) {
        parts = draft->factors;
        count = &draft->factor_count;
    }
    if (*count == TR_MAX_PARTS) {
        return false;
    }
    parts[(*count)++] = part;
    return true;
}

static void add_name(const trellis_features *features, const struct tr_expression_term *term,
                     struct tr_buffer *text)
{
    if (term->span) {
        tr_span_name(features, term, text);
    } else {
        tr_view_name(features, term->view, term->offset, text);
    }
}

static bool add_choice(const trellis_features *features, struct tr_draft *draft,
                       const struct tr_choices *choices, size_t choice, struct tr_buffer *text)
{
    for (size_t i = tr_choice_begin(choices, choice); i < choices->ends.at[choice]; i++) {
        if (text->size > draft->prefix) {
            tr_buffer_char(text, '&');
        }
        add_name(features, &choices->terms.at[i], text);
        if (!add_part(features, draft, choices->terms.at[i])) {
            return false;
        }
    }
    return true;
}

static bool add_conditions(const trellis_features *features, struct tr_draft *draft,
                           const struct conjunction *conjunction, struct tr_buffer *text)
{
    for (size_t i = 0; i < conjunction->condition_count; i++) {
        const struct condition *condition = &conjunction->conditions[i];
        tr_buffer_string(text, i ? "&" : " if ");
        tr_buffer_string(text, condition->negated ? "not " : "");
        add_name(features, &condition->term, text);
        if (!add_part(features, draft, condition->term)) {
            return false;
        }
        draft->conditions[draft->condition_count - 1].negated = condition->negated;
    }
    return true;
}

static size_t count_any(const struct tr_draft *draft)
{
    size_t count = 0;
    for (uint32_t k = 0; k < draft->mixed_count; k++) {
        count += draft->mixed[k].span == TR_SPAN_ANY;
    }
    return count;
}

/* One template: the choice numbered picked[k] of each expression k. */
static trellis_status emit(struct tr_parser *parser, const struct conjunction *conjunction,
                           const size_t *picked, struct tr_draft *draft, struct tr_buffer *text)
{
    draft->mixed_count = draft->condition_count = draft->factor_count = 0;
    text->size = 0;
    tr_buffer_string(text, draft->segment ? TR_SEGMENT_PREFIX : "");
    draft->prefix = text->size;
    bool room = true;
    for (size_t k = 0; room && k < conjunction->expression_count; k++) {
        room = add_choice(parser->features, draft, &conjunction->expressions[k], picked[k], text);
    }
    if (!room || !add_conditions(parser->features, draft, conjunction, text)) {
        return tr_parse_fail(parser, 0, "more than %d parts in one template", TR_MAX_PARTS);
    }
    if (draft->segment && count_any(draft) > 1) {
        return tr_parse_fail(parser, 0, "a template takes any() once");
    }
    size_t named = text->size;
    if (draft->mixed_count) {
        tr_buffer_char(text, '=');
    }
    if (text->failed) {
        return tr_fail_memory(parser->error);
    }
    draft->text = (trellis_text){text->data, named};
    draft->beginning = (trellis_text){text->data, text->size};
    return tr_compile_template(parser, draft);
}

/* All combinations, the last expression's choices changing fastest. */
static trellis_status emit_all(struct tr_parser *parser, const struct conjunction *conjunction,
                               struct tr_draft *draft, struct tr_buffer *text)
{
    size_t picked[MAX_EXPRESSIONS] = {0}, total = 1, n = conjunction->expression_count;
    for (size_t k = 0; k < n; k++) {
        total *= conjunction->expressions[k].ends.size;
        if (total > TR_MAX_TEMPLATES) {
            return tr_parse_fail(parser, 0, "this line expands to more than %d templates",
                                 TR_MAX_TEMPLATES);
        }
    }
    for (size_t i = 0; i < total; i++) {
        trellis_status status = emit(parser, conjunction, picked, draft, text);
        if (status) {
            return status;
        }
        for (size_t k = n; k-- > 0;) {
            if (++picked[k] < conjunction->expressions[k].ends.size) {
                break;
            }
            picked[k] = 0;
        }
    }
    return TRELLIS_OK;
}

static trellis_status parse_template(struct tr_parser *parser, bool edge, bool segment)
{
    struct conjunction conjunction = {0};
    struct tr_buffer text = {0};
    struct tr_draft *draft = tr_alloc(1, sizeof *draft);
    trellis_status status = draft ? parse_conjunction(parser, segment, &conjunction)
                                  : tr_fail_memory(parser->error);
    if (!status) {
        draft->edge = edge;
        draft->segment = segment;
        status = emit_all(parser, &conjunction, draft, &text);
    }
    for (size_t k = 0; k < conjunction.expression_count; k++) {
        tr_choices_free(&conjunction.expressions[k]);
    }
    tr_buffer_free(&text);
    free(draft);
    return status;
}

/* ---- the other lines ------------------------------------------------------------------------- */

static trellis_status parse_step(struct tr_parser *parser)
{
    struct tr_step_choice *steps = &parser->features->steps;
    steps->between = true;
    while (!tr_scan_end(parser)) {
        if (tr_scan_take_word(parser, "start")) {
            steps->start = true;
        } else if (tr_scan_take_word(parser, "end")) {
            steps->end = true;
        } else {
            return tr_parse_fail(parser, parser->at,
                                 "expected 'start', 'end' or the end of the line");
        }
    }
    return TRELLIS_OK;
}

static bool is_reserved(trellis_text name)
{
    enum tr_operation operation = tr_function_find(name);
    return tr_text_is(name, "if") || tr_text_is(name, "not") ||
           (operation != TR_OP_COUNT && tr_function_signature(operation) == TR_TAKES_NOTHING);
}

static trellis_status parse_columns(struct tr_parser *parser)
{
    trellis_features *features = parser->features;
    if (features->columns.size) {
        return tr_parse_fail(parser, 0, "'columns' must occur once, before the templates");
    }
    for (size_t position = 0; !tr_scan_end(parser) || position == 0; position++) {
        trellis_text name = tr_scan_word(parser);
        if (name.size == 0 || (name.data[0] >= '0' && name.data[0] <= '9')) {
            return tr_parse_fail(parser, parser->at, "expected the name of a column");
        }
        if (is_reserved(name) || tr_find_column(features, name) != TR_NONE) {
            return tr_parse_fail(parser, parser->at, "the name '%.*s' is already in use",
                                 TR_SHOW(name));
        }
        parser->at += name.size;
        bool optional = tr_scan_peek(parser) == '?';
        parser->at += optional;
        trellis_status status = tr_push_column(parser, name, position, optional);
        if (status) {
            return status;
        }
    }
    return TRELLIS_OK;
}

static trellis_status parse_pad(struct tr_parser *parser)
{
    parser->features->pad = true;
    return tr_scan_end(parser) ? TRELLIS_OK
                               : tr_parse_fail(parser, parser->at, "expected the end of the line");
}

bool tr_native_begins(trellis_text line)
{
    static const char *const words[] = {"node", "edge", "segment", "step", "columns", "pad"};
    struct tr_parser parser = {.line = line};
    trellis_text word = tr_scan_word(&parser);
    for (size_t i = 0; i < TR_COUNT(words); i++) {
        if (tr_text_is(word, words[i])) {
            return true;
        }
    }
    return false;
}

trellis_status tr_native_line(struct tr_parser *parser)
{
    if (tr_scan_take_word(parser, "node")) {
        return parse_template(parser, false, false);
    }
    if (tr_scan_take_word(parser, "edge")) {
        return parse_template(parser, true, false);
    }
    if (tr_scan_take_word(parser, "segment")) {
        return parse_template(parser, false, true);
    }
    if (tr_scan_take_word(parser, "step")) {
        return parse_step(parser);
    }
    if (tr_scan_take_word(parser, "columns")) {
        return parse_columns(parser);
    }
    if (tr_scan_take_word(parser, "pad")) {
        return parse_pad(parser);
    }
    return tr_parse_fail(
        parser, parser->at,
        "expected node, edge, segment, step, columns or pad (or, in a file for CRF++ or "
        "Wapiti, U or B)");
}
