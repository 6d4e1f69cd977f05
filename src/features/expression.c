/* expression.c - the parser of expressions: columns, their offsets, and functions of them. */
#include "features/expression.h"

#include <stdio.h>

#include "features/embedding.h"
#include "features/gazetteer.h"

void tr_choices_free(struct tr_choices *choices)
{
    free(choices->terms.at);
    free(choices->ends.at);
    *choices = (struct tr_choices){0};
}

size_t tr_choice_begin(const struct tr_choices *choices, size_t i)
{
    return i ? choices->ends.at[i - 1] : 0;
}

trellis_status tr_add_term(struct tr_parser *parser, struct tr_choices *choices,
                           struct tr_expression_term term, bool end)
{
    if (choices->terms.size >= TR_MAX_TEMPLATES) {
        return tr_parse_fail(parser, parser->at, "this expands to more than %d templates",
                             TR_MAX_TEMPLATES);
    }
    if (!tr_push(&choices->terms, term) || (end && !tr_push(&choices->ends, choices->terms.size))) {
        return tr_fail_memory(parser->error);
    }
    return TRELLIS_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

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

uint32_t tr_find_column(const trellis_features *features, trellis_text name)
{
    for (uint32_t i = 0; i < features->columns.size; i++) {
        if (tr_text_is(name, features->columns.at[i].name) && !features->columns.at[i].elsewhere) {
            return i;
        }
    }
    return TR_NONE;
}

trellis_status tr_push_column(struct tr_parser *parser, trellis_text name, size_t position,
                              bool optional)
{
    trellis_features *features = parser->features;
    if (features->columns.size >= TR_MAX_COLUMNS) {
        return tr_parse_fail(parser, parser->at, "more than %d columns", TR_MAX_COLUMNS);
    }
    char *copy = tr_copy_text(name.data, name.size);
    if (!copy ||
        !tr_push(&features->columns, (struct tr_column){copy, position, optional, false})) {
        free(copy);
        return tr_fail_memory(parser->error);
    }
    return TRELLIS_OK;
}

/* A name that no `columns` line defines must be a column of the input. */
static trellis_status named_column(struct tr_parser *parser, trellis_text name, size_t at,
                                   uint32_t *ret_column)
{
    trellis_features *features = parser->features;
    *ret_column = tr_find_column(features, name);
    if (*ret_column != TR_NONE) {
        return TRELLIS_OK;
    }
    for (size_t i = 0; i < features->columns.size; i++) {
        if (features->columns.at[i].name[0] && features->columns.at[i].position != SIZE_MAX) {
            return unknown_column(parser, at, name);
        }
    }
    *ret_column = (uint32_t)features->columns.size;
    return tr_push_column(parser, name, SIZE_MAX, false);
}

static trellis_status column_view(struct tr_parser *parser, uint32_t *ret_view)
{
    size_t begin = parser->at;
    struct tr_view view = {TR_OP_COLUMN, TR_NONE, 0, 0, TR_NONE, TR_NONE, 0};
    trellis_status status;
    if (tr_scan_take(parser, '$')) {
        int64_t number;
        if (!tr_parse_integer(parser, 1, TR_MAX_COLUMNS, &number)) {
            return tr_parse_fail(parser, parser->at,
                                 "expected the number of a column, from 1 to %d", TR_MAX_COLUMNS);
        }
        status = tr_compile_column(parser, (size_t)number - 1, &view.column);
    } else {
        trellis_text name = tr_scan_word(parser);
        parser->at += name.size;
        status = named_column(parser, name, begin, &view.column);
    }
    return status ? status : tr_compile_view(parser, view, ret_view);
}

/* [offset] or [from..to], and its position in the text. */
static trellis_status parse_offsets(struct tr_parser *parser, uint32_t view,
                                    struct tr_choices *choices)
{
    int64_t from = 0, to = 0;
    choices->plain = tr_scan_peek(parser) != '[';
    if (!choices->plain) {
        parser->at++;
        trellis_status status = tr_scan_range(parser, -TR_MAX_OFFSET, TR_MAX_OFFSET, &from, &to);
        status = status ? status : tr_scan_expect(parser, ']', "after the offset");
        if (status) {
            return status;
        }
    }
    for (; from <= to; from++) {
        trellis_status status = tr_add_term(
            parser, choices, (struct tr_expression_term){.view = view, .offset = (int32_t)from},
            true);
        if (status) {
            return status;
        }
    }
    return TRELLIS_OK;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* The arguments of a function after the first. */
struct arguments {
    struct tr_numbers numbers; // one choice each; a single 0 where the function takes none
    uint32_t dimensions;       // of an embedding: their numbers, from 1, take the place of these
    uint32_t regex, resource;
    int64_t from, to; // ngram's window
};

/* A gazetteer stands for one choice for each of its types, numbered from 1. */
static trellis_status list_types(struct tr_parser *parser, size_t at, struct arguments *arguments)
{
    struct tr_gazetteer gazetteer;
    const struct tr_resource *resource = &parser->features->resources.at[arguments->resource];
    if (!tr_gazetteer_open(resource->data, &gazetteer)) {
        return tr_parse_fail(parser, at, "the gazetteer is corrupt");
    }
    arguments->numbers.count = gazetteer.types;
    for (uint32_t i = 0; i < gazetteer.types; i++) {
        arguments->numbers.at[i] = i + 1;
    }
    return TRELLIS_OK;
}

/* And an embedding for one for each of its dimensions. */
static trellis_status count_dimensions(struct tr_parser *parser, size_t at,
                                       struct arguments *arguments)
{
    struct tr_embedding embedding;
    const struct tr_resource *resource = &parser->features->resources.at[arguments->resource];
    if (!tr_embedding_open(resource->data, &embedding)) {
        return tr_parse_fail(parser, at, "the embedding is corrupt");
    }
    arguments->dimensions = embedding.dimensions;
    return TRELLIS_OK;
}

static trellis_status parse_file(struct tr_parser *parser, enum tr_operation operation,
                                 struct arguments *arguments)
{
    tr_parse_blank(parser);
    size_t at = parser->at;
    trellis_text file;
    trellis_status status = tr_scan_quoted(parser, '"', "around the name of a file", &file);
    if (status) {
        return status;
    }
    if (memchr(file.data, '\0', file.size)) {
        return tr_parse_fail(parser, at, "the file name contains a zero byte");
    }
    bool gazetteer = operation == TR_OP_GAZETTEER, embedding = operation == TR_OP_EMBEDDING;
    enum tr_resource_kind kind = operation == TR_OP_CLUSTER ? TR_CLUSTERS
                                 : gazetteer                ? TR_GAZETTEER
                                 : embedding                ? TR_EMBEDDING
                                                            : TR_WORDS;
    if (!embedding && tr_scan_take(parser, ',')) {
        if (operation == TR_OP_CLUSTER) {
            status = tr_scan_numbers(parser, 1000, &arguments->numbers);
        } else if (tr_scan_take_word(parser, "lower")) {
            kind = gazetteer ? TR_LOWER_GAZETTEER : TR_LOWER_WORDS;
        } else {
            status = tr_parse_fail(parser, parser->at, "expected 'lower'");
        }
    }
    status = status ? status : tr_compile_resource(parser, kind, file, at, &arguments->resource);
    return status      ? status
           : gazetteer ? list_types(parser, at, arguments)
           : embedding ? count_dimensions(parser, at, arguments)
                       : TRELLIS_OK;
}

static trellis_status parse_regex(struct tr_parser *parser, struct arguments *arguments)
{
    trellis_text pattern = {0};
    trellis_status status = tr_scan_quoted(parser, '/', "around a regular expression", &pattern);
    if (status) {
        return status;
    }
    size_t at = (size_t)(pattern.data - parser->line.data);
    return tr_compile_regex(parser, pattern, at, &arguments->regex);
}

static trellis_status parse_window(struct tr_parser *parser, struct arguments *arguments)
{
    trellis_status status = tr_scan_range(parser, -TR_MAX_OFFSET, TR_MAX_OFFSET, &arguments->from,
                                          &arguments->to);
    status = status ? status : tr_scan_expect(parser, ',', "and the n of the n-grams");
    return status ? status : tr_scan_numbers(parser, TR_MAX_PARTS, &arguments->numbers);
}

/* inside first last, or some of them */
static trellis_status parse_roles(struct tr_parser *parser, struct arguments *arguments)
{
    struct tr_numbers *roles = &arguments->numbers;
    roles->count = 0;
    for (tr_parse_blank(parser); roles->count < TR_COUNT(roles->at); tr_parse_blank(parser)) {
        trellis_text word = tr_scan_word(parser);
        enum tr_learned_role role = tr_learned_role_find(word);
        if (role == TR_LEARNED_ROLES) {
            break;
        }
        parser->at += word.size;
        roles->at[roles->count++] = role;
    }
    return roles->count ? TRELLIS_OK
                        : tr_parse_fail(parser, parser->at, "expected 'inside', 'first' or 'last'");
}

static trellis_status parse_arguments(struct tr_parser *parser, enum tr_operation operation,
                                      struct arguments *arguments)
{
    *arguments = (struct arguments){.numbers = {.count = 1}, .regex = TR_NONE, .resource = TR_NONE};
    enum tr_signature signature = tr_function_signature(operation);
    if (signature == TR_TAKES_TEXT || signature == TR_TAKES_COLUMN) {
        return TRELLIS_OK;
    }
    trellis_status status = tr_scan_expect(parser, ',', "and the next argument");
    if (status) {
        return status;
    }
    switch (signature) {
    case TR_TAKES_LENGTHS:
        return tr_scan_numbers(parser, 1000, &arguments->numbers);
    case TR_TAKES_COUNT:
        return tr_scan_numbers(parser, 1000000000, &arguments->numbers);
    case TR_TAKES_REGEX:
        return parse_regex(parser, arguments);
    case TR_TAKES_WINDOW:
        return parse_window(parser, arguments);
    case TR_TAKES_ROLES:
        return parse_roles(parser, arguments);
    default:
        return parse_file(parser, operation, arguments);
    }
}

/* Applies the function to every choice of `inner`, once for each number. */
static trellis_status apply(struct tr_parser *parser, enum tr_operation operation,
                            const struct arguments *arguments, const struct tr_choices *inner,
                            struct tr_choices *choices)
{
    uint32_t dimensions = arguments->dimensions;
    size_t count = dimensions ? dimensions : arguments->numbers.count;
    for (size_t i = 0; i < inner->terms.size; i++) {
        for (size_t k = 0; k < count; k++) {
            struct tr_expression_term term = inner->terms.at[i];
            struct tr_view view = {.operation = operation,
                                   .argument = term.view,
                                   .number = dimensions ? (uint32_t)k + 1
                                                        : arguments->numbers.at[k],
                                   .resource = arguments->resource,
                                   .regex = arguments->regex};
            trellis_status status = TRELLIS_OK;
            if (tr_function_signature(operation) == TR_TAKES_COUNT) {
                enum tr_resource_kind kind = operation == TR_OP_UNKNOWN ? TR_KNOWN : TR_COUNTED;
                status = tr_compile_counted(parser, kind, term.view, view.number, &view.resource);
            } else if (operation == TR_OP_LEARNED) {
                status = tr_compile_learned(parser, term.view, (enum tr_learned_role)view.number,
                                            &view.resource);
            }
            status = status ? status : tr_compile_view(parser, view, &term.view);
            status = status ? status : tr_add_term(parser, choices, term, true);
            if (status) {
                return status;
            }
        }
    }
    return TRELLIS_OK;
}

/* The context of a column is a column of its own. */
static trellis_status context_column(struct tr_parser *parser, uint32_t of, uint32_t *ret_column)
{
    trellis_features *features = parser->features;
    struct tr_column column = features->columns.at[of];
    for (uint32_t i = 0; i < features->columns.size; i++) {
        const struct tr_column *known = &features->columns.at[i];
        if (known->elsewhere && known->position == column.position &&
            strcmp(known->name, column.name) == 0) {
            *ret_column = i;
            return TRELLIS_OK;
        }
    }
    trellis_status status = tr_push_column(parser, tr_text(column.name), column.position,
                                           column.optional);
    if (!status) {
        *ret_column = (uint32_t)features->columns.size - 1;
        features->columns.at[*ret_column].elsewhere = true;
    }
    return status;
}

static trellis_status see_elsewhere(struct tr_parser *parser, const struct tr_choices *inner,
                                    struct tr_choices *choices)
{
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < inner->terms.size; i++) {
        struct tr_expression_term term = inner->terms.at[i];
        struct tr_view view = {TR_OP_ELSEWHERE, TR_NONE, 0, 0, TR_NONE, TR_NONE, 0};
        status = context_column(parser, parser->features->views.at[term.view].column, &view.column);
        status = status ? status : tr_compile_view(parser, view, &term.view);
        status = status ? status : tr_add_term(parser, choices, term, true);
    }
    return status;
}

/* For every choice x of `inner` and every n: x[k] & ... & x[k+n-1] for all k within the window. */
static trellis_status make_ngrams(struct tr_parser *parser, const struct arguments *arguments,
                                  const struct tr_choices *inner, struct tr_choices *choices)
{
    for (size_t i = 0; i < inner->terms.size; i++) {
        for (size_t k = 0; k < arguments->numbers.count; k++) {
            int64_t n = arguments->numbers.at[k];
            for (int64_t first = arguments->from; first + n - 1 <= arguments->to; first++) {
                for (int64_t offset = first; offset < first + n; offset++) {
                    struct tr_expression_term term = {.view = inner->terms.at[i].view,
                                                      .offset = (int32_t)offset};
                    trellis_status status = tr_add_term(parser, choices, term,
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

/* Whether a function can be applied to what a column has elsewhere. */
static bool takes_context(enum tr_operation operation)
{
    return operation != TR_OP_REAL && operation != TR_OP_GAZETTEER &&
           operation != TR_OP_EMBEDDING && operation != TR_OP_LEARNED &&
           tr_function_signature(operation) != TR_TAKES_COUNT;
}

/* The argument of a function must be a single text. */
static trellis_status check_inner(struct tr_parser *parser, size_t at, enum tr_operation operation,
                                  const struct tr_choices *inner)
{
    const char *name = tr_function_name(operation);
    if (inner->terms.size != inner->ends.size) {
        return tr_parse_fail(parser, at, "%s() cannot be applied to n-grams", name);
    }
    if (operation == TR_OP_NGRAM && !inner->plain) {
        return tr_parse_fail(parser, at, "the argument of ngram() takes no offset");
    }
    for (size_t i = 0; i < inner->terms.size; i++) {
        const struct tr_view *view = &parser->features->views.at[inner->terms.at[i].view];
        if (tr_function_result(view->operation) != TR_GIVES_TEXT) {
            return tr_parse_fail(parser, at, "%s() takes a text, but %s does not give one", name,
                                 tr_function_name(view->operation));
        }
        if (operation == TR_OP_ELSEWHERE && view->operation != TR_OP_COLUMN) {
            return tr_parse_fail(parser, at, "elsewhere() takes a column");
        }
        bool context = view->column != TR_NONE &&
                       parser->features->columns.at[view->column].elsewhere;
        if (context && !takes_context(operation)) {
            return tr_parse_fail(parser, at, "%s() cannot be applied to elsewhere()", name);
        }
        if (view->operation == TR_OP_GAZETTEER && operation != TR_OP_NGRAM) {
            return tr_parse_fail(parser, at, "%s() cannot be applied to gazetteer()", name);
        }
        if (view->column == TR_NONE && operation != TR_OP_NGRAM) {
            return tr_parse_fail(parser, at, "%s() takes a column", name);
        }
    }
    return TRELLIS_OK;
}

static trellis_status parse_call(struct tr_parser *parser, unsigned depth,
                                 enum tr_operation operation, struct tr_choices *choices)
{
    struct tr_choices inner = {0};
    struct arguments arguments;
    tr_parse_blank(parser);
    size_t at = parser->at;
    trellis_status status = tr_parse_expression(parser, depth + 1, &inner);
    status = status ? status : check_inner(parser, at, operation, &inner);
    status = status ? status : parse_arguments(parser, operation, &arguments);
    status = status ? status : tr_scan_expect(parser, ')', "after the arguments");
    if (!status) {
        status = operation == TR_OP_NGRAM ? make_ngrams(parser, &arguments, &inner, choices)
                 : operation == TR_OP_ELSEWHERE
                     ? see_elsewhere(parser, &inner, choices)
                     : apply(parser, operation, &arguments, &inner, choices);
        choices->plain = inner.plain && operation != TR_OP_NGRAM;
    }
    if (!status && choices->ends.size == 0) {
        status = tr_parse_fail(parser, at, "the window is too small for these n-grams");
    }
    tr_choices_free(&inner);
    return status;
}

/* A word by itself, such as `first`, with or without an offset. */
static trellis_status parse_place(struct tr_parser *parser, enum tr_operation operation,
                                  struct tr_choices *choices)
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

trellis_status tr_parse_expression(struct tr_parser *parser, unsigned depth,
                                   struct tr_choices *choices)
{
    trellis_text word = tr_scan_word(parser);
    size_t at = parser->at;
    if (depth > TR_MAX_DEPTH) {
        return tr_parse_fail(parser, at, "functions nested more than %d deep", TR_MAX_DEPTH);
    }
    if (word.size == 0 && tr_scan_peek(parser) != '$') {
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
        return tr_parse_fail(parser, at + word.size, "expected '(' after %s",
                             tr_function_name(operation));
    }
    uint32_t view = 0;
    trellis_status status = column_view(parser, &view);
    return status ? status : parse_offsets(parser, view, choices);
}
