/* compile.c - from the text of the templates to a compiled set: views, parts and templates, each
 * kept once. The parsers of the dialects are native.c and patterns.c; this is what they share.
 */
#include "features/compiled.h"

#include <stdarg.h>
#include <stdio.h>

#include "features/gazetteer.h"

/* ---- parsing --------------------------------------------------------------------------------- */

trellis_status tr_parse_fail(struct tr_parser *parser, size_t at, const char *format, ...)
{
    char message[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    struct tr_place place = {parser->features->name, parser->number,
                             at < UINT32_MAX - 1 ? (uint32_t)at + 1 : UINT32_MAX};
    return tr_fail_at(parser->error, TRELLIS_TEMPLATE, place, "%s", message);
}

bool tr_parse_blank(struct tr_parser *parser)
{
    while (parser->at < parser->line.size &&
           (parser->line.data[parser->at] == ' ' || parser->line.data[parser->at] == '\t')) {
        parser->at++;
    }
    return parser->at == parser->line.size;
}

bool tr_parse_integer(struct tr_parser *parser, int64_t min, int64_t max, int64_t *value)
{
    size_t end = parser->at;
    if (end < parser->line.size &&
        (parser->line.data[end] == '-' || parser->line.data[end] == '+')) {
        end++;
    }
    while (end < parser->line.size && parser->line.data[end] >= '0' &&
           parser->line.data[end] <= '9') {
        end++;
    }
    trellis_text digits = {parser->line.data + parser->at, end - parser->at};
    if (!tr_text_integer(digits, value) || *value < min || *value > max) {
        return false;
    }
    parser->at = end;
    return true;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

trellis_status tr_compile_column(struct tr_parser *parser, size_t position, uint32_t *ret_column)
{
    trellis_features *features = parser->features;
    for (uint32_t i = 0; i < features->columns.size; i++) {
        const struct tr_column *column = &features->columns.at[i];
        if (column->position == position && !column->name[0] && !column->elsewhere) {
            *ret_column = i;
            return TRELLIS_OK;
        }
    }
    if (features->columns.size >= TR_MAX_COLUMNS) {
        return tr_parse_fail(parser, parser->at, "more than %d columns", TR_MAX_COLUMNS);
    }
    char *name = tr_copy_text("", 0);
    if (!name || !tr_push(&features->columns, (struct tr_column){name, position, false, false})) {
        free(name);
        return tr_fail_memory(parser->error);
    }
    *ret_column = (uint32_t)features->columns.size - 1;
    return TRELLIS_OK;
}

static bool same_view(const struct tr_view *a, const struct tr_view *b)
{
    return a->operation == b->operation && a->argument == b->argument && a->column == b->column &&
           a->number == b->number && a->resource == b->resource && a->regex == b->regex;
}

trellis_status tr_compile_view(struct tr_parser *parser, struct tr_view view, uint32_t *ret_view)
{
    trellis_features *features = parser->features;
    view.depth = 0;
    if (view.argument != TR_NONE) {
        view.column = features->views.at[view.argument].column;
        view.depth = features->views.at[view.argument].depth + 1;
    }
    if (view.depth > TR_MAX_DEPTH) {
        return tr_parse_fail(parser, parser->at, "functions nested more than %d deep",
                             TR_MAX_DEPTH);
    }
    for (uint32_t i = 0; i < features->views.size; i++) {
        if (same_view(&features->views.at[i], &view)) {
            *ret_view = i;
            return TRELLIS_OK;
        }
    }
    if (features->views.size >= TR_MAX_VIEWS) {
        return tr_parse_fail(parser, parser->at, "more than %d different functions of columns",
                             TR_MAX_VIEWS);
    }
    if (!tr_push(&features->views, view)) {
        return tr_fail_memory(parser->error);
    }
    *ret_view = (uint32_t)features->views.size - 1;
    return TRELLIS_OK;
}

trellis_status tr_compile_regex(struct tr_parser *parser, trellis_text pattern, size_t at,
                                uint32_t *ret_regex)
{
    trellis_features *features = parser->features;
    *ret_regex = tr_intern_find(&features->regex_texts, pattern);
    if (*ret_regex != TR_NONE) {
        return TRELLIS_OK;
    }
    char reason[200] = "";
    size_t where = 0;
    pcre2_code *code = NULL; // Wapiti's own expressions are matched as they are
    if (!features->strings) {
        tr_regex_compile(pattern, &code, reason, sizeof reason, &where);
    }
    if (!code && !*reason && !features->strings) {
        return tr_fail_memory(parser->error);
    }
    if (!code && !features->strings) {
        /* Wapiti's expressions are translated, so positions within them are not reported. */
        return tr_parse_fail(parser, features->dialect == TR_NATIVE ? at + where : at,
                             "invalid regular expression: %s", reason);
    }
    if (!tr_push(&features->regexes, code)) {
        pcre2_code_free(code);
        return tr_fail_memory(parser->error);
    }
    *ret_regex = tr_intern_add(&features->regex_texts, pattern);
    return *ret_regex == TR_NONE ? tr_fail_memory(parser->error) : TRELLIS_OK;
}

trellis_status tr_compile_literal(struct tr_parser *parser, trellis_text text,
                                  uint32_t *ret_literal)
{
    trellis_features *features = parser->features;
    *ret_literal = tr_intern_add(&features->literals, text);
    if (*ret_literal == TR_NONE) {
        return tr_fail_memory(parser->error);
    }
    if (*ret_literal < features->literal_keys.size) {
        return TRELLIS_OK;
    }
    struct tr_string_key key = tr_features_key(features, text);
    return tr_push(&features->literal_keys, key.hash) && tr_push(&features->literal_spans, key.span)
               ? TRELLIS_OK
               : tr_fail_memory(parser->error);
}

/* ---- resources ------------------------------------------------------------------------------- */

static uint32_t find_resource(const struct tr_resource *resources, size_t count,
                              const struct tr_resource *wanted)
{
    for (uint32_t i = 0; i < count; i++) {
        if (resources[i].kind == wanted->kind && resources[i].limit == wanted->limit &&
            strcmp(resources[i].name, wanted->name) == 0) {
            return i;
        }
    }
    return TR_NONE;
}

/* Fills the table from the model's block. */
static trellis_status take_stored(struct tr_parser *parser, struct tr_resource *resource)
{
    const struct tr_stored *stored = parser->supply->stored;
    uint32_t i = find_resource(stored->at, stored->count, resource);
    if (i == TR_NONE) {
        return tr_fail(parser->error, TRELLIS_MODEL, "the table '%s' is missing from the model",
                       resource->name);
    }
    resource->data = stored->at[i].data;
    return TRELLIS_OK;
}

/* Reads the table from a file or from the caller's bytes. */
static trellis_status load_resource(struct tr_parser *parser, struct tr_resource *resource,
                                    size_t at)
{
    const struct tr_resource_supply *supply = parser->supply;
    trellis_error reason = {0};
    size_t i = 0;
    while (i < supply->given_count && strcmp(supply->given[i].name, resource->name) != 0) {
        i++;
    }
    if (supply->from == TR_NO_RESOURCES) {
        return tr_parse_fail(parser, at,
                             "templates in a model cannot open files such as '%s'; 'trellis "
                             "export' writes their contents as blocks",
                             resource->name);
    }
    if (supply->from == TR_GIVEN && i == supply->given_count) {
        return tr_parse_fail(parser, at, "'%s' is not among the resources given", resource->name);
    }
    trellis_status status = supply->from == TR_GIVEN
                                ? tr_resource_load_bytes(resource, &supply->given[i], &reason)
                                : tr_resource_load(resource, supply->folder, supply->options,
                                                   &reason);
    if (status) {
        status = status == TRELLIS_MEMORY ? tr_fail_memory(parser->error)
                                          : tr_parse_fail(parser, at, "%s", reason.message);
    }
    return status;
}

/* Takes over the name. */
static trellis_status add_resource(struct tr_parser *parser, struct tr_resource resource, size_t at,
                                   uint32_t *ret_resource)
{
    trellis_features *features = parser->features;
    *ret_resource = find_resource(features->resources.at, features->resources.size, &resource);
    bool known = *ret_resource != TR_NONE;
    trellis_status status = TRELLIS_OK;
    if (!known && parser->supply->from == TR_STORED) {
        status = take_stored(parser, &resource);
    } else if (!known && resource.kind != TR_COUNTED && resource.kind != TR_KNOWN &&
               resource.kind != TR_LEARNED) {
        status = load_resource(parser, &resource, at); // the others are filled in by the training
    }
    if (!status && !known) {
        *ret_resource = (uint32_t)features->resources.size;
        status = tr_push(&features->resources, resource) ? TRELLIS_OK
                                                         : tr_fail_memory(parser->error);
    }
    if (status || known) {
        tr_resource_free(&resource);
    }
    return status;
}

trellis_status tr_compile_resource(struct tr_parser *parser, enum tr_resource_kind kind,
                                   trellis_text file, size_t at, uint32_t *ret_resource)
{
    struct tr_resource resource = {.kind = kind, .name = tr_copy_text(file.data, file.size)};
    if (!resource.name) {
        return tr_fail_memory(parser->error);
    }
    return add_resource(parser, resource, at, ret_resource);
}

static uint32_t find_counter(trellis_features *features, uint32_t view)
{
    for (uint32_t i = 0; i < features->counters.size; i++) {
        if (features->counters.at[i].view == view) {
            return i;
        }
    }
    return tr_push(&features->counters, (struct tr_counter){.view = view})
               ? (uint32_t)features->counters.size - 1
               : TR_NONE;
}

trellis_status tr_compile_counted(struct tr_parser *parser, enum tr_resource_kind kind,
                                  uint32_t view, uint32_t count, uint32_t *ret_resource)
{
    struct tr_buffer name = {0};
    tr_view_name(parser->features, view, 0, &name);
    uint32_t counter = find_counter(parser->features, view);
    struct tr_resource resource = {.kind = kind, .counter = counter, .limit = count};
    if (!name.failed) {
        resource.name = tr_copy_text(name.data, name.size);
    }
    tr_buffer_free(&name);
    if (!resource.name || counter == TR_NONE) {
        free(resource.name);
        return tr_fail_memory(parser->error);
    }
    parser->features->counting = parser->supply->from != TR_STORED;
    return add_resource(parser, resource, parser->at, ret_resource);
}

trellis_status tr_compile_learned(struct tr_parser *parser, uint32_t view,
                                  enum tr_learned_role role, uint32_t *ret_resource)
{
    trellis_features *features = parser->features;
    struct tr_buffer name = {0};
    tr_view_name(features, view, TR_NO_OFFSET, &name);
    struct tr_resource resource = {.kind = TR_LEARNED, .limit = role};
    if (!name.failed) {
        resource.name = tr_copy_text(name.data, name.size);
    }
    tr_buffer_free(&name);
    if (!resource.name) {
        return tr_fail_memory(parser->error);
    }
    size_t before = features->resources.size;
    trellis_status status = add_resource(parser, resource, parser->at, ret_resource);
    if (!status && features->resources.size > before && parser->supply->from != TR_STORED) {
        features->learning = true;
        features->learns_words |= role != TR_LEARNED_SEGMENT;
        struct tr_learned_names learned = {.view = view, .resource = *ret_resource, .role = role};
        status = tr_push(&features->learned, learned) ? TRELLIS_OK : tr_fail_memory(parser->error);
    }
    return status;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void add_entries_arguments(const struct tr_resource *resource, uint32_t number,
                                  struct tr_buffer *buffer)
{
    struct tr_gazetteer gazetteer;
    tr_buffer_format(buffer, ",\"%s\"%s", resource->name,
                     resource->kind == TR_LOWER_GAZETTEER ? ",lower" : "");
    if (tr_gazetteer_open(resource->data, &gazetteer) && number - 1 < gazetteer.types) {
        trellis_text type = tr_gazetteer_type(&gazetteer, number - 1);
        tr_buffer_string(buffer, type.size ? "," : "");
        tr_buffer_text(buffer, type);
    }
}

static void add_arguments(const trellis_features *features, const struct tr_view *view,
                          struct tr_buffer *buffer)
{
    const struct tr_resource *resource = view->resource == TR_NONE
                                             ? NULL
                                             : &features->resources.at[view->resource];
    switch (tr_function_signature(view->operation)) {
    case TR_TAKES_LENGTHS:
    case TR_TAKES_COUNT:
        tr_buffer_format(buffer, ",%u", view->number);
        break;
    case TR_TAKES_REGEX:
        tr_buffer_string(buffer, ",/");
        tr_buffer_text(buffer, tr_intern_text(&features->regex_texts, view->regex));
        tr_buffer_char(buffer, '/');
        break;
    case TR_TAKES_LIST:
        tr_buffer_format(buffer, ",\"%s\"%s", resource->name,
                         resource->kind == TR_LOWER_WORDS ? ",lower" : "");
        break;
    case TR_TAKES_ENTRIES:
        add_entries_arguments(resource, view->number, buffer);
        break;
    case TR_TAKES_ROLES:
        tr_buffer_format(buffer, ",%s", tr_learned_role_name((enum tr_learned_role)view->number));
        break;
    case TR_TAKES_PATHS:
    case TR_TAKES_VECTORS:
        tr_buffer_format(buffer, ",\"%s\"", resource->name);
        if (view->number) {
            tr_buffer_format(buffer, ",%u", view->number);
        }
        break;
    default:
        break;
    }
}

static void add_column(const struct tr_column *column, int32_t offset, struct tr_buffer *buffer)
{
    if (offset == TR_NO_OFFSET && column->name[0]) {
        tr_buffer_string(buffer, column->name);
    } else if (offset == TR_NO_OFFSET) {
        tr_buffer_format(buffer, "$%zu", column->position + 1);
    } else if (column->name[0]) {
        tr_buffer_format(buffer, "%s[%d]", column->name, offset);
    } else {
        tr_buffer_format(buffer, "$%zu[%d]", column->position + 1, offset);
    }
}

void tr_view_name(const trellis_features *features, uint32_t number, int32_t offset,
                  struct tr_buffer *buffer)
{
    const struct tr_view *view = &features->views.at[number];
    if (view->operation == TR_OP_ELSEWHERE) {
        tr_buffer_string(buffer, "elsewhere(");
        add_column(&features->columns.at[view->column], offset, buffer);
        tr_buffer_char(buffer, ')');
        return;
    }
    if (view->operation == TR_OP_COLUMN) {
        add_column(&features->columns.at[view->column], offset, buffer);
        return;
    }
    tr_buffer_string(buffer, tr_function_name(view->operation));
    if (view->argument == TR_NONE) {
        if (offset && offset != TR_NO_OFFSET) {
            tr_buffer_format(buffer, "[%d]", offset);
        }
        return;
    }
    tr_buffer_char(buffer, '(');
    tr_view_name(features, view->argument, offset, buffer);
    add_arguments(features, view, buffer);
    tr_buffer_char(buffer, ')');
}

/* ---- templates ------------------------------------------------------------------------------- */

static bool push_parts(trellis_features *features, const struct tr_template_part *parts,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t distance = (uint32_t)(parts[i].offset < 0 ? -parts[i].offset : parts[i].offset);
        if (!parts[i].absolute && distance > features->reach) {
            features->reach = distance;
        }
        if (!tr_push(&features->parts, parts[i])) {
            return false;
        }
    }
    return true;
}

/* The text with its kind in front, since the same text may be a node and an edge. */
static trellis_status number_text(struct tr_parser *parser, const struct tr_draft *draft,
                                  uint32_t *ret_number)
{
    struct tr_buffer text = {0};
    tr_buffer_char(&text, draft->edge ? 'e' : draft->segment ? 's' : 'n');
    tr_buffer_text(&text, draft->text);
    *ret_number = text.failed ? TR_NONE
                              : tr_intern_add(&parser->features->texts,
                                              (trellis_text){text.data, text.size});
    tr_buffer_free(&text);
    return *ret_number == TR_NONE ? tr_fail_memory(parser->error) : TRELLIS_OK;
}

trellis_status tr_compile_template(struct tr_parser *parser, const struct tr_draft *draft)
{
    trellis_features *features = parser->features;
    struct tr_template template = {.key = tr_features_key(features, draft->beginning).hash,
                                   .parts = (uint32_t)features->parts.size,
                                   .mixed = draft->mixed_count,
                                   .conditions = draft->condition_count,
                                   .factors = draft->factor_count,
                                   .edge = draft->edge,
                                   .segment = draft->segment};
    trellis_status status = number_text(parser, draft, &template.text);
    if (status || (!features->strings && template.text < features->templates.size)) {
        return status; // the same text is the same template; as strings it counts twice
    }
    if (features->templates.size >= TR_MAX_TEMPLATES) {
        return tr_parse_fail(parser, 0, "more than %d templates", TR_MAX_TEMPLATES);
    }
    if (!push_parts(features, draft->mixed, draft->mixed_count) ||
        !push_parts(features, draft->conditions, draft->condition_count) ||
        !push_parts(features, draft->factors, draft->factor_count) ||
        !tr_push(&features->templates, template)) {
        return tr_fail_memory(parser->error);
    }
    features->has_segments = features->has_segments || draft->segment;
    return TRELLIS_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The next line of the source without its end; false after the last. */
static bool next_line(const trellis_features *features, size_t *at, trellis_text *line)
{
    if (*at >= features->source_size) {
        return false;
    }
    const char *begin = features->source + *at;
    const char *end = memchr(begin, '\n', features->source_size - *at);
    size_t size = end ? (size_t)(end - begin) : features->source_size - *at;
    *at += size + 1;
    *line = (trellis_text){begin, size};
    while (line->size && strchr(" \t\r", line->data[line->size - 1]) &&
           line->data[line->size - 1]) {
        line->size--;
    }
    return true;
}

/* Blank, or a comment. */
static bool says_nothing(trellis_text line)
{
    size_t i = 0;
    while (i < line.size && (line.data[i] == ' ' || line.data[i] == '\t')) {
        i++;
    }
    return i == line.size || line.data[i] == '#';
}

/* Whether a line of patterns has what only Wapiti knows. */
static bool only_wapiti(trellis_text line)
{
    if (strchr("ub*", line.data[0])) {
        return true;
    }
    for (size_t i = 0; i + 1 < line.size; i++) {
        if (line.data[i] == '%' && line.data[i + 1] && strchr("XtTmM", line.data[i + 1])) {
            return true;
        }
        if (line.data[i] == '[' && line.data[i + 1] == '@') {
            return true;
        }
    }
    return false;
}

/* One line of the native language makes the file native; else one that only Wapiti knows makes it
 * Wapiti's; else it is CRF++'s. */
static enum tr_dialect detect_dialect(const trellis_features *features, size_t at)
{
    enum tr_dialect dialect = TR_CRFPP;
    bool patterns = false;
    trellis_text line;
    while (next_line(features, &at, &line)) {
        if (says_nothing(line)) {
            continue;
        }
        if (tr_native_begins(line)) {
            return TR_NATIVE;
        }
        if (line.data[0] && strchr("UBub*", line.data[0])) {
            patterns = true;
            dialect = only_wapiti(line) ? TR_WAPITI : dialect;
        }
    }
    return patterns ? dialect : TR_NATIVE;
}

/* The lines of a set keyed by strings are as the program stores them, with all their blanks. */
static trellis_status compile_strings(struct tr_parser *parser)
{
    trellis_features *features = parser->features;
    trellis_status status = TRELLIS_OK;
    const char *end = features->source + features->source_size;
    const char *line = memchr(features->source, '\n', features->source_size);
    line = line ? line + 1 : end;
    for (parser->number = 2; !status && line < end; parser->number++) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next : end;
        parser->line = (trellis_text){line, (size_t)(next - line)};
        parser->at = 0;
        status = tr_pattern_line(parser);
        line = next + (next < end);
    }
    return status;
}

/* Whether the first line says that keys are those of strings. */
static bool is_keyed_by_strings(trellis_features *features)
{
    size_t at = 0;
    trellis_text line;
    bool any = next_line(features, &at, &line);
    bool crfpp = any && tr_text_is(line, TR_STRINGS_CRFPP);
    bool wapiti = any && tr_text_is(line, TR_STRINGS_WAPITI);
    features->strings = crfpp || wapiti;
    features->dialect = crfpp ? TR_CRFPP : wapiti ? TR_WAPITI : TR_NATIVE;
    return features->strings;
}

static trellis_status compile_lines(struct tr_parser *parser)
{
    trellis_features *features = parser->features;
    if (is_keyed_by_strings(features)) {
        return compile_strings(parser);
    }
    size_t at = features->source_size >= 3 && memcmp(features->source, "\xEF\xBB\xBF", 3) == 0 ? 3
                                                                                               : 0;
    features->dialect = detect_dialect(features, at);
    while (next_line(features, &at, &parser->line)) {
        parser->number++;
        parser->at = 0;
        if (says_nothing(parser->line)) {
            continue;
        }
        trellis_status status = features->dialect == TR_NATIVE ? tr_native_line(parser)
                                                               : tr_pattern_line(parser);
        if (status) {
            return status;
        }
    }
    struct tr_step_choice steps = features->steps;
    if (features->templates.size == 0 && !steps.between && !steps.start && !steps.end) {
        return tr_fail_at(parser->error, TRELLIS_TEMPLATE,
                          (struct tr_place){.file = features->name}, "the file has no templates");
    }
    return TRELLIS_OK;
}

trellis_status tr_features_compile(const char *name, char *source, size_t size,
                                   const struct tr_resource_supply *supply,
                                   trellis_features **ret_features, trellis_error *error)
{
    *ret_features = NULL;
    trellis_features *features = tr_alloc(1, sizeof *features);
    if (!features) {
        free(source);
        return tr_fail_memory(error);
    }
    features->source = source;
    features->source_size = size;
    features->name = tr_copy_text(name, strlen(name));
    struct tr_parser parser = {.features = features, .supply = supply, .error = error};
    trellis_status status = features->name ? compile_lines(&parser) : tr_fail_memory(error);
    if (!status && features->dialect == TR_WAPITI && features->reach < TR_WAPITI_PADS) {
        features->reach = TR_WAPITI_PADS; // absolute positions are cut off where _x-# begins
    }
    if (status) {
        trellis_features_destroy(features);
        return status;
    }
    *ret_features = features;
    return TRELLIS_OK;
}
