/* jsonl.c - JSON lines: one object per line, one sequence per object.
 *
 *     {"tokens":["The","cat"],"pos":["DT","NN"],"labels":["B-NP","I-NP"],"weight":2,"id":17}
 *
 * "tokens" is the first column; the other arrays of strings in the first object, in their order,
 * are the next columns; "labels" has the labels. Numbers are taken as strings. "attributes" has the
 * ready-made attributes of each token: [["w=the",1],"cap"] or {"w=the":1,"cap":1}. Anything else
 * ("id") is ignored. Texts are slices of the parsed object, which the reader keeps until the next
 * sequence.
 */
#include "corpus/reader.h"

#include <math.h>
#include <stdio.h>

#include "corpus/json.h"

static const char *const names[] = {"word"};

__attribute__((format(printf, 3, 4))) static trellis_status malformed(const trellis_reader *reader,
                                                                      trellis_error *error,
                                                                      const char *format, ...)
{
    char message[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return tr_fail_at(error, TRELLIS_FORMAT, tr_line_place(reader, 0), "%s", message);
}

static trellis_status parse(trellis_reader *reader, trellis_error *error)
{
    json_decref(reader->json);
    trellis_text line = tr_line(reader, 0);
    json_error_t wrong;
    bool memory;
    reader->json = tr_json_load(line, JSON_REJECT_DUPLICATES, &wrong, &memory);
    if (!reader->json) {
        if (!memory) {
            return tr_fail_memory(error);
        }
        struct tr_place place = tr_line_place(reader, 0);
        place.column = wrong.column > 0 ? (uint32_t)wrong.column : 0;
        return tr_fail_at(error, TRELLIS_FORMAT, place, "bad JSON: %s", wrong.text);
    }
    if (!json_is_object(reader->json)) {
        return malformed(reader, error, "expected a JSON object");
    }
    return TRELLIS_OK;
}

/* Replaces a number in the array by its text, with a decimal point if it is a real number. */
static bool number_to_text(json_t *array, size_t index)
{
    json_t *number = json_array_get(array, index);
    char text[48];
    if (json_is_integer(number)) {
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(number));
        return json_array_set_new(array, index, json_string(text)) == 0;
    }
    struct tr_buffer buffer = {0};
    tr_buffer_real(&buffer, json_real_value(number));
    tr_buffer_char(&buffer, '\0');
    if (!buffer.failed && !strpbrk(buffer.data, ".e")) {
        buffer.size--;
        tr_buffer_add(&buffer, ".0", sizeof ".0");
    }
    bool done = !buffer.failed && json_array_set_new(array, index, json_string(buffer.data)) == 0;
    tr_buffer_free(&buffer);
    return done;
}

/* Copies the texts of an array to every `stride`-th element of `to`. */
static trellis_status take_texts(const trellis_reader *reader, const char *key, json_t *array,
                                 size_t length, trellis_text *to, size_t stride,
                                 trellis_error *error)
{
    if (!json_is_array(array)) {
        return malformed(reader, error, "\"%.100s\" is not an array", key);
    }
    if (json_array_size(array) != length) {
        return malformed(reader, error, "\"%.100s\" has %zu elements, but there are %zu tokens",
                         key, json_array_size(array), length);
    }
    for (size_t i = 0; i < length; i++, to += stride) {
        json_t *element = json_array_get(array, i);
        if (json_is_number(element)) {
            if (!number_to_text(array, i)) {
                return tr_fail_memory(error);
            }
            element = json_array_get(array, i);
        }
        if (!json_is_string(element)) {
            return malformed(reader, error,
                             "element %zu of \"%.100s\" is neither a string nor a number", i + 1,
                             key);
        }
        *to = (trellis_text){json_string_value(element), json_string_length(element)};
    }
    return TRELLIS_OK;
}

static bool is_column(const char *key, json_t *member)
{
    if (tr_json_is_reserved(key) || !json_is_array(member)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(member); i++) {
        json_t *element = json_array_get(member, i);
        if (!json_is_string(element) && !json_is_number(element)) {
            return false;
        }
    }
    return true;
}

static bool note_name(struct tr_names *found, const char *key)
{
    char *copy = tr_copy_text(key, strlen(key));
    if (copy && tr_push(&found->found, copy)) {
        return true;
    }
    free(copy);
    return false;
}

/* Takes the columns from the first object. */
static trellis_status learn_columns(trellis_reader *reader, trellis_error *error)
{
    bool noted = note_name(&reader->names, "tokens");
    const char *key;
    json_t *member;
    json_object_foreach(reader->json, key, member)
    {
        noted = noted && (!is_column(key, member) || note_name(&reader->names, key));
    }
    if (!noted) {
        return tr_fail_memory(error);
    }
    struct tr_place place = tr_line_place(reader, 0);
    reader->columns = reader->names.found.size;
    reader->columns_line = place.line;
    if (tr_same_name(tr_text(reader->label), "labels")) {
        return TRELLIS_OK;
    }
    return tr_find_label(reader, TR_NO_COLUMN, place, error);
}

static trellis_status take_cells(trellis_reader *reader, size_t length, trellis_error *error)
{
    size_t columns = reader->columns, need;
    if (__builtin_mul_overflow(columns, length, &need) || !tr_reserve(&reader->cells, need)) {
        return tr_fail_memory(error);
    }
    for (size_t c = 0; c < columns; c++) {
        const char *key = reader->names.found.at[c];
        json_t *array = json_object_get(reader->json, key);
        if (!array) {
            return malformed(reader, error, "\"%.100s\" is missing, which is a column in line %llu",
                             key, (unsigned long long)reader->columns_line);
        }
        trellis_status status = take_texts(reader, key, array, length, reader->cells.at + c,
                                           columns, error);
        if (status) {
            return status;
        }
    }
    reader->sequence.columns = columns;
    reader->sequence.cells = reader->cells.at;
    return TRELLIS_OK;
}

static trellis_status take_labels(trellis_reader *reader, size_t length, trellis_error *error)
{
    if (reader->label_column != TR_NO_COLUMN) {
        return tr_fill_labels(reader, length) ? TRELLIS_OK : tr_fail_memory(error);
    }
    json_t *labels = json_object_get(reader->json, "labels");
    if (tr_without_label(reader) || json_is_null(labels)) {
        return TRELLIS_OK;
    }
    if (!labels) {
        /* A file may be unlabelled, but either all objects have labels or none. */
        bool expected = reader->labels.at || strcmp(reader->label, "last") != 0;
        return expected ? malformed(reader, error, "\"labels\" is missing") : TRELLIS_OK;
    }
    if (!tr_reserve(&reader->labels, length)) {
        return tr_fail_memory(error);
    }
    reader->sequence.labels = reader->labels.at;
    return take_texts(reader, "labels", labels, length, reader->labels.at, 1, error);
}

static trellis_status add_attribute(trellis_reader *reader, const char *name, size_t size,
                                    json_t *value, trellis_error *error)
{
    double real = json_is_true(value) ? 1 : json_number_value(value);
    if (!json_is_number(value) && !json_is_boolean(value)) {
        return malformed(reader, error, "the value of the attribute \"%.100s\" is not a number",
                         name);
    }
    trellis_attribute attribute = {{name, size}, real};
    return tr_push(&reader->attributes, attribute) ? TRELLIS_OK : tr_fail_memory(error);
}

/* "name" or ["name", value] */
static trellis_status take_attribute(trellis_reader *reader, json_t *element, trellis_error *error)
{
    json_t *name = element, *value = NULL;
    if (json_is_array(element) && json_array_size(element) == 2) {
        name = json_array_get(element, 0);
        value = json_array_get(element, 1);
    }
    if (!json_is_string(name)) {
        return malformed(reader, error, "expected an attribute: \"name\" or [\"name\", value]");
    }
    return add_attribute(reader, json_string_value(name), json_string_length(name),
                         value ? value : json_true(), error);
}

/* [attribute, ...] or {"name": value, ...} */
static trellis_status take_token_attributes(trellis_reader *reader, json_t *token,
                                            trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (json_is_object(token)) {
        const char *key;
        json_t *value;
        json_object_foreach(token, key, value)
        {
            status = status ? status : add_attribute(reader, key, strlen(key), value, error);
        }
        return status;
    }
    if (!json_is_array(token)) {
        return malformed(reader, error,
                         "an element of \"attributes\" is neither an array nor an object");
    }
    for (size_t i = 0; !status && i < json_array_size(token); i++) {
        status = take_attribute(reader, json_array_get(token, i), error);
    }
    return status;
}

static trellis_status take_attributes(trellis_reader *reader, json_t *attributes, size_t length,
                                      trellis_error *error)
{
    if (!json_is_array(attributes) || json_array_size(attributes) != length) {
        return malformed(reader, error,
                         "\"attributes\" is not an array of %zu elements, one for each token",
                         length);
    }
    reader->attributes.size = 0;
    if (!tr_reserve(&reader->attributes, 1) || !tr_reserve(&reader->attribute_begin, length + 1)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < length; i++) {
        reader->attribute_begin.at[i] = reader->attributes.size;
        trellis_status status = take_token_attributes(reader, json_array_get(attributes, i), error);
        if (status) {
            return status;
        }
    }
    reader->attribute_begin.at[length] = reader->attributes.size;
    reader->sequence.attributes = reader->attributes.at;
    reader->sequence.attribute_begin = reader->attribute_begin.at;
    return TRELLIS_OK;
}

static trellis_status take_weight(trellis_reader *reader, trellis_error *error)
{
    json_t *weight = json_object_get(reader->json, "weight");
    if (!weight) {
        return TRELLIS_OK;
    }
    double value = json_number_value(weight);
    if (!json_is_number(weight) || !isfinite(value) || value < 0) {
        return malformed(reader, error, "\"weight\" is not a number of at least 0");
    }
    reader->sequence.weight = value;
    return TRELLIS_OK;
}

static trellis_status take_object(trellis_reader *reader, trellis_error *error)
{
    json_t *tokens = json_object_get(reader->json, "tokens");
    json_t *attributes = json_object_get(reader->json, "attributes");
    if (!tokens && !attributes) {
        return malformed(reader, error, "an object needs \"tokens\" or \"attributes\"");
    }
    if (tokens && !json_is_array(tokens)) {
        return malformed(reader, error, "\"tokens\" is not an array");
    }
    size_t length = json_array_size(tokens ? tokens : attributes);
    trellis_status status = TRELLIS_OK;
    if (tokens && length && reader->columns == 0) {
        status = learn_columns(reader, error);
    }
    if (!status && (tokens || reader->columns) && length) {
        status = take_cells(reader, length, error);
    }
    if (!status && attributes) {
        status = take_attributes(reader, attributes, length, error);
    }
    if (!status) {
        status = take_labels(reader, length, error);
    }
    if (!status) {
        status = take_weight(reader, error);
    }
    reader->sequence.length = status ? 0 : length;
    return status;
}

static trellis_status read_jsonl(trellis_reader *reader, trellis_error *error)
{
    trellis_status status = tr_take_line(reader, error);
    if (!status) {
        status = tr_fix_lines(reader, error);
    }
    if (status || tr_is_blank_line(tr_line(reader, 0))) {
        return status;
    }
    if (!tr_fill_rows(reader)) {
        return tr_fail_memory(error);
    }
    reader->row_token.at[0] = SIZE_MAX;
    reader->sequence.line = reader->first_line;
    status = parse(reader, error);
    return status ? status : take_object(reader, error);
}

const struct tr_format tr_format_jsonl = {
    .name = "jsonl", .read = read_jsonl, .names = names, .name_count = TR_COUNT(names)};
