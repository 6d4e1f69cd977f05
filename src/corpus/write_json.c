/* write_json.c - writes JSON lines.
 *
 * An object that was read keeps all its members, known to us or not; only "labels" is replaced, and
 * what write_annotation.c adds where a sequence was tagged.
 * Else the words are "tokens", each other column is an array under its name ("columnN" if it has
 * none), and the label column becomes "labels", or stays a column if there are new labels.
 */
#include <stdio.h>

#include "corpus/json.h"
#include "corpus/writer.h"

void tr_put_json_array(struct tr_buffer *buffer, const trellis_text *texts, size_t stride,
                       size_t length)
{
    tr_buffer_char(buffer, '[');
    for (size_t i = 0; i < length; i++) {
        if (i) {
            tr_buffer_char(buffer, ',');
        }
        tr_buffer_json(buffer, texts[i * stride]);
    }
    tr_buffer_char(buffer, ']');
}

/* The name of the next member of an object. */
static void put_key(struct tr_buffer *buffer, bool *first, trellis_text key)
{
    tr_buffer_char(buffer, *first ? '{' : ',');
    tr_buffer_json(buffer, key);
    tr_buffer_char(buffer, ':');
    *first = false;
}

/* ---- an object that was read ----------------------------------------------------------------- */

static void put_value(struct tr_buffer *buffer, json_t *value);

static void put_object(struct tr_buffer *buffer, json_t *object)
{
    bool first = true;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        put_key(buffer, &first, tr_text(key));
        put_value(buffer, value);
    }
    tr_buffer_string(buffer, first ? "{}" : "}");
}

static void put_elements(struct tr_buffer *buffer, json_t *array)
{
    tr_buffer_char(buffer, '[');
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i) {
            tr_buffer_char(buffer, ',');
        }
        put_value(buffer, json_array_get(array, i));
    }
    tr_buffer_char(buffer, ']');
}

/* The depth of the recursion is that of a parsed text, which jansson limits to 2048. */
static void put_value(struct tr_buffer *buffer, json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        put_object(buffer, value);
        break;
    case JSON_ARRAY:
        put_elements(buffer, value);
        break;
    case JSON_STRING:
        tr_buffer_json(buffer, (trellis_text){json_string_value(value), json_string_length(value)});
        break;
    case JSON_INTEGER:
        tr_buffer_format(buffer, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        tr_buffer_real(buffer, json_real_value(value));
        break;
    case JSON_TRUE:
        tr_buffer_string(buffer, "true");
        break;
    case JSON_FALSE:
        tr_buffer_string(buffer, "false");
        break;
    case JSON_NULL:
        tr_buffer_string(buffer, "null");
        break;
    }
}

/* Finds the words in the text of a sequence that was tagged. */
static trellis_status find_text(trellis_writer *writer, const trellis_sequence *sequence,
                                trellis_text own, trellis_error *error)
{
    size_t word;
    writer->aligned = false;
    if (!writer->annotated || sequence->columns == 0) {
        return TRELLIS_OK;
    }
    trellis_status status = tr_word_column(writer, sequence, &word, error);
    return status || tr_find_text(writer, sequence, word, own) ? status : tr_fail_memory(error);
}

/* Whether a member is about to be written anew. */
static bool is_replaced(const trellis_writer *writer, const char *key)
{
    return writer->annotated && (strcmp(key, "offsets") == 0 || strcmp(key, "spans") == 0 ||
                                 strcmp(key, "marginals") == 0 ||
                                 strcmp(key, "all_marginals") == 0 || strcmp(key, "nbest") == 0);
}

static void put_relabelled(trellis_writer *writer, const trellis_sequence *sequence,
                           const trellis_text *labels, json_t *object)
{
    struct tr_buffer *buffer = &writer->buffer;
    bool first = true, done = false;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (is_replaced(writer, key)) {
            continue;
        }
        put_key(buffer, &first, tr_text(key));
        if (strcmp(key, "labels") == 0) {
            tr_put_json_array(buffer, labels, 1, sequence->length);
            done = true;
        } else {
            put_value(buffer, value);
        }
    }
    if (!done) {
        put_key(buffer, &first, TR_TEXT("labels"));
        tr_put_json_array(buffer, labels, 1, sequence->length);
    }
}

/* Copies the object of a row with its labels replaced. */
static trellis_status relabel(trellis_writer *writer, const trellis_sequence *sequence,
                              const trellis_text *labels, trellis_error *error)
{
    trellis_text row = sequence->rows[0];
    json_error_t wrong;
    bool memory;
    json_t *object = tr_json_load(row, 0, &wrong, &memory);
    if (!json_is_object(object)) {
        json_decref(object);
        return memory ? tr_cannot_hold(writer, sequence, row, error) : tr_fail_memory(error);
    }
    json_t *text = json_object_get(object, "text");
    trellis_text own = {json_string_value(text), json_string_length(text)};
    trellis_status status = find_text(writer, sequence, own, error);
    if (!status) {
        put_relabelled(writer, sequence, labels, object);
        if (writer->annotated) {
            tr_put_annotation(writer, sequence, text != NULL);
        }
        tr_buffer_string(&writer->buffer, "}\n");
    }
    json_decref(object);
    return status;
}

/* ---- an object made from cells --------------------------------------------------------- */

static bool is_taken(const trellis_writer *writer, size_t column, const char *name)
{
    bool taken = tr_json_is_reserved(name) || (writer->annotated && strcmp(name, "text") == 0);
    for (size_t c = 0; !taken && c < column; c++) {
        const char *other = tr_names_at(&writer->names, writer->input, c);
        taken = other && strcmp(other, name) == 0;
    }
    return taken;
}

/* The name of a column, or its number if it has no name or the name is taken. */
static void put_column_key(trellis_writer *writer, bool *first, size_t column)
{
    const char *name = tr_names_at(&writer->names, writer->input, column);
    char number[40];
    if (!name || is_taken(writer, column, name)) {
        snprintf(number, sizeof number, "column%zu", column + 1);
        name = number;
    }
    put_key(&writer->buffer, first, tr_text(name));
}

static void put_columns(trellis_writer *writer, const trellis_sequence *sequence, bool *first,
                        size_t word, size_t left_out)
{
    put_key(&writer->buffer, first, TR_TEXT("tokens"));
    tr_put_json_array(&writer->buffer, sequence->cells + word, sequence->columns, sequence->length);
    for (size_t c = 0; c < sequence->columns; c++) {
        if (c != word && c != left_out) {
            put_column_key(writer, first, c);
            tr_put_json_array(&writer->buffer, sequence->cells + c, sequence->columns,
                              sequence->length);
        }
    }
}

/* ["name"] for a value of 1, else [["name",value]] */
static void put_token_attributes(struct tr_buffer *buffer, const trellis_attribute *attributes,
                                 size_t count)
{
    tr_buffer_char(buffer, '[');
    for (size_t i = 0; i < count; i++) {
        tr_buffer_string(buffer, i ? "," : "");
        if (attributes[i].value == 1) {
            tr_buffer_json(buffer, attributes[i].name);
            continue;
        }
        tr_buffer_char(buffer, '[');
        tr_buffer_json(buffer, attributes[i].name);
        tr_buffer_char(buffer, ',');
        tr_buffer_real(buffer, attributes[i].value);
        tr_buffer_char(buffer, ']');
    }
    tr_buffer_char(buffer, ']');
}

static void put_attributes(struct tr_buffer *buffer, const trellis_sequence *sequence, bool *first)
{
    put_key(buffer, first, TR_TEXT("attributes"));
    tr_buffer_char(buffer, '[');
    for (size_t i = 0; i < sequence->length; i++) {
        size_t begin = sequence->attribute_begin[i], end = sequence->attribute_begin[i + 1];
        tr_buffer_string(buffer, i ? "," : "");
        put_token_attributes(buffer, sequence->attributes + begin, end - begin);
    }
    tr_buffer_char(buffer, ']');
}

static trellis_status build(trellis_writer *writer, const trellis_sequence *sequence,
                            const trellis_text *labels, trellis_error *error)
{
    bool first = true;
    struct tr_buffer *buffer = &writer->buffer;
    if (sequence->columns) {
        size_t word;
        trellis_status status = tr_word_column(writer, sequence, &word, error);
        if (status) {
            return status;
        }
        put_columns(writer, sequence, &first, word,
                    labels ? TR_NO_COLUMN : tr_gold_column(sequence));
    }
    if (sequence->attribute_begin) {
        put_attributes(buffer, sequence, &first);
    }
    labels = labels ? labels : sequence->labels;
    if (labels) {
        put_key(buffer, &first, TR_TEXT("labels"));
        tr_put_json_array(buffer, labels, 1, sequence->length);
    }
    if (sequence->weight != 1) {
        put_key(buffer, &first, TR_TEXT("weight"));
        tr_buffer_real(buffer, sequence->weight);
    }
    trellis_status status = find_text(writer, sequence, (trellis_text){0}, error);
    if (!status && writer->annotated && !first) {
        tr_put_annotation(writer, sequence, false);
    }
    tr_buffer_string(buffer, first ? "{}\n" : "}\n");
    return status;
}

trellis_status tr_put_jsonl(trellis_writer *writer, const trellis_sequence *sequence,
                            const trellis_text *labels, trellis_error *error)
{
    bool has_object = tr_has_rows(writer, sequence) && sequence->row_count == 1 &&
                      sequence->row_token[0] == SIZE_MAX;
    if (has_object && labels) {
        return relabel(writer, sequence, labels, error);
    }
    if (has_object) {
        tr_put_rows(writer, sequence);
        return TRELLIS_OK;
    }
    return build(writer, sequence, labels, error);
}
