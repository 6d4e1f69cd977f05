/* native.c - the parser of the template language (docs/features.md has its grammar).
 *
 * An expression with windows and ranges stands for several: `prefix(word[-1..0],1..2)` for four. So
 * reading one gives a list of *choices*, each a list of terms (a view at an offset; only ngram() gives
 * more than one). The choices of the expressions of a conjunction are then combined, each with each.
 */
#include "features/compiled.h"

#include <stdio.h>

struct term {
    uint32_t view;
    int32_t offset;
};

struct choices {
    TR_ARRAY(struct term) terms;
    TR_ARRAY(size_t) ends; // behind the last term of each choice
    bool plain;            // no offset was written
};

static void free_choices(struct choices *choices)
{
    free(choices->terms.at);
    free(choices->ends.at);
    *choices = (struct choices){0};
}

static size_t choice_begin(const struct choices *choices, size_t i)
{
    return i ? choices->ends.at[i - 1] : 0;
}

/* Adds a term and, with `end`, closes the choice it belongs to. */
static trellis_status add_term(struct tr_parser *parser, struct choices *choices, struct term term,
                               bool end)
{
    if (choices->terms.size >= TR_MOST_TEMPLATES) {
        return tr_parse_fail(parser, parser->at, "this stands for more than %d templates",
                             TR_MOST_TEMPLATES);
    }
    if (!tr_push(&choices->terms, term) || (end && !tr_push(&choices->ends, choices->terms.size))) {
        return tr_fail_memory(parser->error);
    }
    return TRELLIS_OK;
}

/* ---- words and numbers -------------------------------------------------------------------------- */

static char peek(const struct tr_parser *parser)
{
    return parser->at < parser->line.size ? parser->line.data[parser->at] : '\0';
}

/* Skips blanks and takes `c` if it is next. */
static bool take(struct tr_parser *parser, char c)
{
    tr_parse_blank(parser);
    if (peek(parser) != c || parser->at >= parser->line.size) {
        return false;
    }
    parser->at++;
    return true;
}

static trellis_status expect(struct tr_parser *parser, char c, const char *what)
{
    return take(parser, c) ? TRELLIS_OK
                           : tr_parse_fail(parser, parser->at, "expected '%c' %s", c, what);
}

/* At the end of the line, or at a comment. */
static bool at_end(struct tr_parser *parser)
{
    return tr_parse_blank(parser) || peek(parser) == '#';
}

static bool is_word_byte(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte >= 0x80 || byte == '_' || (byte >= '0' && byte <= '9') ||
           ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

/* The word that stands next; empty where there is none. Does not move. */
static trellis_text next_word(struct tr_parser *parser)
{
    tr_parse_blank(parser);
    size_t end = parser->at;
    while (end < parser->line.size && is_word_byte(parser->line.data[end])) {
        end++;
    }
    return (trellis_text){parser->line.data + parser->at, end - parser->at};
}

static bool take_word(struct tr_parser *parser, const char *word)
{
    if (!tr_text_is(next_word(parser), word)) {
        return false;
    }
    parser->at += strlen(word);
    return true;
}

/* from[..to] */
static trellis_status parse_range(struct tr_parser *parser, int64_t least, int64_t most,
                                  int64_t *from, int64_t *to)
{
    tr_parse_blank(parser);
    size_t begin = parser->at;
    if (!tr_parse_integer(parser, least, most, from)) {
        return tr_parse_fail(parser, begin, "expected a whole number from %d to %d", (int)least,
                             (int)most);
    }
    *to = *from;
    if (parser->at + 1 >= parser->line.size || peek(parser) != '.' ||
        parser->line.data[parser->at + 1] != '.') {
        return TRELLIS_OK;
    }
    parser->at += 2;
    size_t end = parser->at;
    if (!tr_parse_integer(parser, least, most, to) || *to < *from) {
        return tr_parse_fail(parser, end, "expected a whole number from %d to %d behind '..'",
                             (int)*from, (int)most);
    }
    return TRELLIS_OK;
}

/* Lengths or counts: ranges separated by blanks. */
struct numbers {
    uint32_t at[64];
    size_t count;
};

static trellis_status parse_numbers(struct tr_parser *parser, int64_t most, struct numbers *numbers)
{
    numbers->count = 0;
    do {
        size_t begin = parser->at;
        int64_t from = 0, to = 0;
        trellis_status status = parse_range(parser, 1, most, &from, &to);
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
    } while (peek(parser) >= '0' && peek(parser) <= '9');
    return TRELLIS_OK;
}

/* What stands between two `quote`s; a regular expression may have its quote behind a backslash. */
static trellis_status parse_quoted(struct tr_parser *parser, char quote, const char *what,
                                   trellis_text *ret_text)
{
    trellis_status status = expect(parser, quote, what);
    if (status) {
        return status;
    }
    size_t begin = parser->at;
    while (parser->at < parser->line.size && peek(parser) != quote) {
        bool escape = quote == '/' && peek(parser) == '\\' && parser->at + 1 < parser->line.size;
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

/* ---- columns ------------------------------------------------------------------------------------ */

static trellis_status unknown_column(struct tr_parser *parser, size_t at, trellis_text name)
{
    trellis_features *features = parser->features;
    char known[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < features->columns.size; i++) {
        const char *column = features->columns.at[i].name;
        if (column[0] && used + strlen(column) + 2 < sizeof known) {
            used += (size_t)snprintf(known + used, sizeof known - used, " %s", column);
        }
    }
    return tr_parse_fail(parser, at,
                         "there is no column '%.*s'; the columns are%s, and the functions%s",
                         TR_SHOW(name), known, tr_function_names);
}

static uint32_t find_column(const trellis_features *features, trellis_text name)
{
    for (uint32_t i = 0; i < features->columns.size; i++) {
        if (tr_text_is(name, features->columns.at[i].name)) {
            return i;
        }
    }
    return TR_NONE;
}

static trellis_status push_column(struct tr_parser *parser, trellis_text name, size_t position,
                                  bool optional)
{
    trellis_features *features = parser->features;
    if (features->columns.size >= TR_MOST_COLUMNS) {
        return tr_parse_fail(parser, parser->at, "more than %d columns", TR_MOST_COLUMNS);
    }
    char *copy = tr_copy_text(name.data, name.size);
    if (!copy || !tr_push(&features->columns, (struct tr_column){copy, position, optional})) {
        free(copy);
        return tr_fail_memory(parser->error);
    }
    return TRELLIS_OK;
}

/* A name that no `columns` line explains must be one of the input's. */
static trellis_status named_column(struct tr_parser *parser, trellis_text name, size_t at,
                                   uint32_t *ret_column)
{
    trellis_features *features = parser->features;
    *ret_column = find_column(features, name);
    if (*ret_column != TR_NONE) {
        return TRELLIS_OK;
    }
    for (size_t i = 0; i < features->columns.size; i++) {
        if (features->columns.at[i].name[0] && features->columns.at[i].position != SIZE_MAX) {
            return unknown_column(parser, at, name);
        }
    }
    *ret_column = (uint32_t)features->columns.size;
    return push_column(parser, name, SIZE_MAX, false);
}

static trellis_status column_view(struct tr_parser *parser, uint32_t *ret_view)
{
    size_t begin = parser->at;
    struct tr_view view = {TR_OP_COLUMN, TR_NONE, 0, 0, TR_NONE, TR_NONE, 0};
    trellis_status status;
    if (take(parser, '$')) {
        int64_t number;
        if (!tr_parse_integer(parser, 1, TR_MOST_COLUMNS, &number)) {
            return tr_parse_fail(parser, parser->at,
                                 "expected the number of a column, from 1 to %d", TR_MOST_COLUMNS);
        }
        status = tr_compile_column(parser, (size_t)number - 1, &view.column);
    } else {
        trellis_text name = next_word(parser);
        parser->at += name.size;
        status = named_column(parser, name, begin, &view.column);
    }
    return status ? status : tr_compile_view(parser, view, ret_view);
}

/* [offset] or [from..to], where it stands. */
static trellis_status parse_offsets(struct tr_parser *parser, uint32_t view,
                                    struct choices *choices)
{
    int64_t from = 0, to = 0;
    choices->plain = peek(parser) != '[';
    if (!choices->plain) {
        parser->at++;
        trellis_status status = parse_range(parser, -TR_MOST_OFFSET, TR_MOST_OFFSET, &from, &to);
        status = status ? status : expect(parser, ']', "behind the offset");
        if (status) {
            return status;
        }
    }
    for (; from <= to; from++) {
        trellis_status status = add_term(parser, choices, (struct term){view, (int32_t)from}, true);
        if (status) {
            return status;
        }
    }
    return TRELLIS_OK;
}

/* ---- functions ---------------------------------------------------------------------------------- */

static trellis_status parse_expression(struct tr_parser *parser, unsigned depth,
                                       struct choices *choices);

/* What stands behind the first argument of a function. */
struct arguments {
    struct numbers numbers; // one choice each; a single 0 where the function takes none
    uint32_t regex, resource;
    int64_t from, to; // ngram's window
};

static trellis_status parse_file(struct tr_parser *parser, enum tr_operation operation,
                                 struct arguments *arguments)
{
    tr_parse_blank(parser);
    size_t at = parser->at;
    trellis_text file;
    trellis_status status = parse_quoted(parser, '"', "around the name of a file", &file);
    if (status) {
        return status;
    }
    if (memchr(file.data, '\0', file.size)) {
        return tr_parse_fail(parser, at, "the name of the file holds a zero byte");
    }
    enum tr_resource_kind kind = operation == TR_OP_CLUSTER ? TR_CLUSTERS : TR_WORDS;
    if (take(parser, ',')) {
        if (operation == TR_OP_CLUSTER) {
            status = parse_numbers(parser, 1000, &arguments->numbers);
        } else if (take_word(parser, "lower")) {
            kind = TR_LOWER_WORDS;
        } else {
            status = tr_parse_fail(parser, parser->at, "expected 'lower'");
        }
    }
    return status ? status : tr_compile_resource(parser, kind, file, at, &arguments->resource);
}

static trellis_status parse_regex(struct tr_parser *parser, struct arguments *arguments)
{
    trellis_text pattern = {0};
    trellis_status status = parse_quoted(parser, '/', "around a regular expression", &pattern);
    if (status) {
        return status;
    }
    size_t at = (size_t)(pattern.data - parser->line.data);
    return tr_compile_regex(parser, pattern, at, &arguments->regex);
}

static trellis_status parse_window(struct tr_parser *parser, struct arguments *arguments)
{
    trellis_status status = parse_range(parser, -TR_MOST_OFFSET, TR_MOST_OFFSET, &arguments->from,
                                        &arguments->to);
    status = status ? status : expect(parser, ',', "and the n of the n-grams");
    return status ? status : parse_numbers(parser, TR_MOST_PARTS, &arguments->numbers);
}

static trellis_status parse_arguments(struct tr_parser *parser, enum tr_operation operation,
                                      struct arguments *arguments)
{
    *arguments = (struct arguments){.numbers = {.count = 1}, .regex = TR_NONE, .resource = TR_NONE};
    enum tr_signature signature = tr_function_signature(operation);
    if (signature == TR_TAKES_TEXT) {
        return TRELLIS_OK;
    }
    trellis_status status = expect(parser, ',', "and the next argument");
    if (status) {
        return status;
    }
    switch (signature) {
    case TR_TAKES_LENGTHS:
        return parse_numbers(parser, 1000, &arguments->numbers);
    case TR_TAKES_COUNT:
        return parse_numbers(parser, 1000000000, &arguments->numbers);
    case TR_TAKES_REGEX:
        return parse_regex(parser, arguments);
    case TR_TAKES_WINDOW:
        return parse_window(parser, arguments);
    default:
        return parse_file(parser, operation, arguments);
    }
}

/* Puts the function around every choice of `inner`, once for each number. */
static trellis_status apply(struct tr_parser *parser, enum tr_operation operation,
                            const struct arguments *arguments, const struct choices *inner,
                            struct choices *choices)
{
    for (size_t i = 0; i < inner->terms.size; i++) {
        for (size_t k = 0; k < arguments->numbers.count; k++) {
            struct term term = inner->terms.at[i];
            struct tr_view view = {
                operation,           term.view,        0, arguments->numbers.at[k],
                arguments->resource, arguments->regex, 0};
            trellis_status status = TRELLIS_OK;
            if (tr_function_signature(operation) == TR_TAKES_COUNT) {
                status = tr_compile_counted(parser, term.view, view.number, &view.resource);
            }
            status = status ? status : tr_compile_view(parser, view, &term.view);
            status = status ? status : add_term(parser, choices, term, true);
            if (status) {
                return status;
            }
        }
    }
    return TRELLIS_OK;
}

/* For every choice x of `inner` and every n: x[k] & ... & x[k+n-1] for all k within the window. */
static trellis_status make_ngrams(struct tr_parser *parser, const struct arguments *arguments,
                                  const struct choices *inner, struct choices *choices)
{
    for (size_t i = 0; i < inner->terms.size; i++) {
        for (size_t k = 0; k < arguments->numbers.count; k++) {
            int64_t n = arguments->numbers.at[k];
            for (int64_t first = arguments->from; first + n - 1 <= arguments->to; first++) {
                for (int64_t offset = first; offset < first + n; offset++) {
                    struct term term = {inner->terms.at[i].view, (int32_t)offset};
                    trellis_status status = add_term(parser, choices, term,
                                                     offset == first + n - 1);
                    if (status) {
                        return status;
                    }
                }
            }
        }
    }
    return TRELLIS_OK;
}

/* What a function is applied to must be one text. */
static trellis_status check_inner(struct tr_parser *parser, size_t at, enum tr_operation operation,
                                  const struct choices *inner)
{
    const char *name = tr_function_name(operation);
    if (inner->terms.size != inner->ends.size) {
        return tr_parse_fail(parser, at, "%s() cannot be applied to n-grams", name);
    }
    if (operation == TR_OP_NGRAM && !inner->plain) {
        return tr_parse_fail(parser, at, "what ngram() is applied to has no offset of its own");
    }
    for (size_t i = 0; i < inner->terms.size; i++) {
        const struct tr_view *view = &parser->features->views.at[inner->terms.at[i].view];
        if (tr_function_result(view->operation) != TR_GIVES_TEXT) {
            return tr_parse_fail(parser, at, "%s() takes a text, and %s gives none", name,
                                 tr_function_name(view->operation));
        }
        if (view->column == TR_NONE && operation != TR_OP_NGRAM) {
            return tr_parse_fail(parser, at, "%s() takes a column", name);
        }
    }
    return TRELLIS_OK;
}

static trellis_status parse_call(struct tr_parser *parser, unsigned depth,
                                 enum tr_operation operation, struct choices *choices)
{
    struct choices inner = {0};
    struct arguments arguments;
    tr_parse_blank(parser);
    size_t at = parser->at;
    trellis_status status = parse_expression(parser, depth + 1, &inner);
    status = status ? status : check_inner(parser, at, operation, &inner);
    status = status ? status : parse_arguments(parser, operation, &arguments);
    status = status ? status : expect(parser, ')', "behind the arguments");
    if (!status) {
        status = operation == TR_OP_NGRAM ? make_ngrams(parser, &arguments, &inner, choices)
                                          : apply(parser, operation, &arguments, &inner, choices);
        choices->plain = inner.plain && operation != TR_OP_NGRAM;
    }
    if (!status && choices->ends.size == 0) {
        status = tr_parse_fail(parser, at, "the window is too small for these n-grams");
    }
    free_choices(&inner);
    return status;
}

/* A word by itself, such as `first`, with or without an offset. */
static trellis_status parse_place(struct tr_parser *parser, enum tr_operation operation,
                                  struct choices *choices)
{
    struct tr_view view = {operation, TR_NONE, TR_NONE, 0, TR_NONE, TR_NONE, 0};
    uint32_t number;
    trellis_status status = tr_compile_view(parser, view, &number);
    return status ? status : parse_offsets(parser, number, choices);
}

static trellis_status unknown_function(struct tr_parser *parser, size_t at, trellis_text name)
{
    return tr_parse_fail(parser, at, "there is no function '%.*s'; the functions are%s",
                         TR_SHOW(name), tr_function_names);
}

static trellis_status parse_expression(struct tr_parser *parser, unsigned depth,
                                       struct choices *choices)
{
    trellis_text word = next_word(parser);
    size_t at = parser->at;
    if (depth > TR_MOST_DEPTH) {
        return tr_parse_fail(parser, at, "more than %d functions within one another",
                             TR_MOST_DEPTH);
    }
    if (word.size == 0 && peek(parser) != '$') {
        return tr_parse_fail(parser, at, "expected a column or a function; the functions are%s",
                             tr_function_names);
    }
    enum tr_operation operation = tr_function_find(word);
    bool call = at + word.size < parser->line.size && parser->line.data[at + word.size] == '(';
    bool known = operation != TR_OP_COUNT;
    if (known && tr_function_signature(operation) == TR_TAKES_NOTHING && !call) {
        parser->at += word.size;
        return parse_place(parser, operation, choices);
    }
    if (call) {
        if (!known || tr_function_signature(operation) == TR_TAKES_NOTHING) {
            return unknown_function(parser, at, word);
        }
        parser->at += word.size + 1;
        return parse_call(parser, depth, operation, choices);
    }
    if (known) {
        return tr_parse_fail(parser, at + word.size, "expected '(' behind %s",
                             tr_function_name(operation));
    }
    uint32_t view = 0;
    trellis_status status = column_view(parser, &view);
    return status ? status : parse_offsets(parser, view, choices);
}

/* ---- templates ---------------------------------------------------------------------------------- */

enum { MOST_EXPRESSIONS = 16 };

struct condition {
    struct term term;
    bool negated;
};

struct conjunction {
    struct choices expressions[MOST_EXPRESSIONS];
    size_t expression_count;
    struct condition conditions[MOST_EXPRESSIONS];
    size_t condition_count;
};

static trellis_status parse_condition(struct tr_parser *parser, struct condition *condition)
{
    struct choices choices = {0};
    condition->negated = take_word(parser, "not");
    tr_parse_blank(parser);
    size_t at = parser->at;
    trellis_status status = parse_expression(parser, 0, &choices);
    if (!status && choices.terms.size != 1) {
        status = tr_parse_fail(parser, at, "a condition takes one offset and one number");
    }
    if (!status) {
        condition->term = choices.terms.at[0];
        enum tr_operation operation = parser->features->views.at[condition->term.view].operation;
        if (tr_function_result(operation) != TR_GIVES_TEST) {
            status = tr_parse_fail(parser, at, "expected a test, such as isupper(x) or rare(x, 3)");
        }
    }
    free_choices(&choices);
    return status;
}

static trellis_status parse_conjunction(struct tr_parser *parser, struct conjunction *conjunction)
{
    trellis_status status;
    do {
        if (conjunction->expression_count == MOST_EXPRESSIONS) {
            return tr_parse_fail(parser, parser->at, "more than %d expressions", MOST_EXPRESSIONS);
        }
        status = parse_expression(parser, 0,
                                  &conjunction->expressions[conjunction->expression_count++]);
    } while (!status && take(parser, '&'));
    if (!status && take_word(parser, "if")) {
        do {
            if (conjunction->condition_count == MOST_EXPRESSIONS) {
                return tr_parse_fail(parser, parser->at, "more than %d conditions",
                                     MOST_EXPRESSIONS);
            }
            status = parse_condition(parser,
                                     &conjunction->conditions[conjunction->condition_count++]);
        } while (!status && take(parser, '&'));
    }
    if (!status && !at_end(parser)) {
        status = tr_parse_fail(parser, parser->at, "expected '&', 'if' or the end of the line");
    }
    return status;
}

/* Sorts a term into the parts that are mixed, must be there, or multiply. */
static bool add_part(const trellis_features *features, struct tr_draft *draft, struct term term)
{
    struct tr_part part = {.view = term.view, .literal = TR_NONE, .offset = term.offset};
    struct tr_part *parts = draft->mixed;
    uint32_t *count = &draft->mixed_count;
    enum tr_result result = tr_function_result(features->views.at[term.view].operation);
    if (result == TR_GIVES_TEST) {
        parts = draft->conditions;
        count = &draft->condition_count;
    } else if (result == TR_GIVES_REAL) {
        parts = draft->factors;
        count = &draft->factor_count;
    }
    if (*count == TR_MOST_PARTS) {
        return false;
    }
    parts[(*count)++] = part;
    return true;
}

static bool add_choice(const trellis_features *features, struct tr_draft *draft,
                       const struct choices *choices, size_t choice, struct tr_buffer *text)
{
    for (size_t i = choice_begin(choices, choice); i < choices->ends.at[choice]; i++) {
        if (text->size) {
            tr_buffer_char(text, '&');
        }
        tr_view_name(features, choices->terms.at[i].view, choices->terms.at[i].offset, text);
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
        tr_view_name(features, condition->term.view, condition->term.offset, text);
        if (!add_part(features, draft, condition->term)) {
            return false;
        }
        draft->conditions[draft->condition_count - 1].negated = condition->negated;
    }
    return true;
}

/* One template: the choice numbered picked[k] of each expression k. */
static trellis_status emit(struct tr_parser *parser, const struct conjunction *conjunction,
                           const size_t *picked, struct tr_draft *draft, struct tr_buffer *text)
{
    draft->mixed_count = draft->condition_count = draft->factor_count = 0;
    text->size = 0;
    bool room = true;
    for (size_t k = 0; room && k < conjunction->expression_count; k++) {
        room = add_choice(parser->features, draft, &conjunction->expressions[k], picked[k], text);
    }
    if (!room || !add_conditions(parser->features, draft, conjunction, text)) {
        return tr_parse_fail(parser, 0, "more than %d parts in one template", TR_MOST_PARTS);
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
    size_t picked[MOST_EXPRESSIONS] = {0}, total = 1, n = conjunction->expression_count;
    for (size_t k = 0; k < n; k++) {
        total *= conjunction->expressions[k].ends.size;
        if (total > TR_MOST_TEMPLATES) {
            return tr_parse_fail(parser, 0, "this line stands for more than %d templates",
                                 TR_MOST_TEMPLATES);
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

static trellis_status parse_template(struct tr_parser *parser, bool edge)
{
    struct conjunction conjunction = {0};
    struct tr_buffer text = {0};
    struct tr_draft *draft = tr_alloc(1, sizeof *draft);
    trellis_status status = draft ? parse_conjunction(parser, &conjunction)
                                  : tr_fail_memory(parser->error);
    if (!status) {
        draft->edge = edge;
        status = emit_all(parser, &conjunction, draft, &text);
    }
    for (size_t k = 0; k < conjunction.expression_count; k++) {
        free_choices(&conjunction.expressions[k]);
    }
    tr_buffer_free(&text);
    free(draft);
    return status;
}

/* ---- the other lines ---------------------------------------------------------------------------- */

static trellis_status parse_step(struct tr_parser *parser)
{
    struct tr_step_choice *steps = &parser->features->steps;
    steps->between = true;
    while (!at_end(parser)) {
        if (take_word(parser, "start")) {
            steps->start = true;
        } else if (take_word(parser, "end")) {
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
        return tr_parse_fail(parser, 0, "'columns' must stand once, before the templates");
    }
    for (size_t position = 0; !at_end(parser) || position == 0; position++) {
        trellis_text name = next_word(parser);
        if (name.size == 0 || (name.data[0] >= '0' && name.data[0] <= '9')) {
            return tr_parse_fail(parser, parser->at, "expected the name of a column");
        }
        if (is_reserved(name) || find_column(features, name) != TR_NONE) {
            return tr_parse_fail(parser, parser->at, "the name '%.*s' is taken", TR_SHOW(name));
        }
        parser->at += name.size;
        bool optional = peek(parser) == '?';
        parser->at += optional;
        trellis_status status = push_column(parser, name, position, optional);
        if (status) {
            return status;
        }
    }
    return TRELLIS_OK;
}

static trellis_status parse_pad(struct tr_parser *parser)
{
    parser->features->pad = true;
    return at_end(parser) ? TRELLIS_OK
                          : tr_parse_fail(parser, parser->at, "expected the end of the line");
}

bool tr_native_begins(trellis_text line)
{
    static const char *const words[] = {"node", "edge", "step", "columns", "pad"};
    struct tr_parser parser = {.line = line};
    trellis_text word = next_word(&parser);
    for (size_t i = 0; i < TR_COUNT(words); i++) {
        if (tr_text_is(word, words[i])) {
            return true;
        }
    }
    return false;
}

trellis_status tr_native_line(struct tr_parser *parser)
{
    if (take_word(parser, "node")) {
        return parse_template(parser, false);
    }
    if (take_word(parser, "edge")) {
        return parse_template(parser, true);
    }
    if (take_word(parser, "step")) {
        return parse_step(parser);
    }
    if (take_word(parser, "columns")) {
        return parse_columns(parser);
    }
    if (take_word(parser, "pad")) {
        return parse_pad(parser);
    }
    return tr_parse_fail(parser, parser->at,
                         "expected node, edge, step, columns or pad (or, in a file for CRF++ or "
                         "Wapiti, U or B)");
}
