/* crfsuite.c - ready-made attributes, as CRFsuite reads them.
 *
 *     @weight:2.0
 *     B-NP <tab> w[0]=the <tab> w[1]=cat <tab> length:3 <tab> time=12\:30
 *
 * A line is a token: its label, then its attributes with an optional real value (default 1). A
 * blank line ends a sequence. In names `\:` is a colon and `\\` a backslash; empty fields are
 * skipped, as in CRFsuite. `@weight` before a label, or on a line of its own, is the weight of the
 * sequence; any other field that begins with '@' is a label.
 */
#include "corpus/crfsuite.h"

#include <math.h>

#define WEIGHT "@weight:"

trellis_text tr_crfsuite_label(trellis_text row)
{
    trellis_text rest = row;
    while (rest.size) {
        const char *tab = memchr(rest.data, '\t', rest.size);
        trellis_text field = {rest.data, tab ? (size_t)(tab - rest.data) : rest.size};
        if (!tr_text_begins(field, WEIGHT)) {
            return field;
        }
        if (!tab) {
            return (trellis_text){NULL, 0};
        }
        rest = (trellis_text){tab + 1, rest.size - field.size - 1};
    }
    return rest;
}

/* What is left of a row, whose marks are those of the whole block. */
struct row {
    const char *block;
    size_t at, end; // offsets into the block; at > end: there is nothing left
    struct tr_mark_walk walk;
};

struct field {
    trellis_text text;
    size_t colon; // the offset of the first one; the size of the text if it has none
    bool escaped; // it has a backslash
};

/* The next field of a row; false if the row has no more. */
static inline bool next_field(struct row *row, struct field *field)
{
    if (row->at > row->end) {
        return false;
    }
    size_t begin = row->at, colon = SIZE_MAX, mark;
    bool escaped = false;
    while ((mark = tr_mark(&row->walk)) < row->end) {
        tr_mark_pass(&row->walk);
        if (row->block[mark] == '\t') {
            break;
        }
        escaped |= row->block[mark] == '\\';
        colon = colon == SIZE_MAX && row->block[mark] == ':' ? mark : colon;
    }
    size_t end = mark < row->end ? mark : row->end;
    field->text = (trellis_text){row->block + begin, end - begin};
    field->colon = colon < end ? colon - begin : end - begin;
    field->escaped = escaped;
    row->at = end + 1;
    return true;
}

/* Where the name of an attribute with a backslash ends: at the first colon that is not escaped. */
static size_t escaped_name_size(trellis_text field)
{
    for (size_t i = 0; i < field.size; i++) {
        if (field.data[i] == '\\' && i + 1 < field.size) {
            i++;
        } else if (field.data[i] == ':') {
            return i;
        }
    }
    return field.size;
}

static trellis_status bad_value(const trellis_reader *reader, size_t index, trellis_text field,
                                trellis_text value, trellis_error *error)
{
    return tr_fail_at(
        error, TRELLIS_FORMAT, tr_byte_place(reader, index, value.data),
        "expected a finite number, not '%.*s', in '%.*s'; a colon in a name is written '\\:'",
        TR_SHOW(value), TR_SHOW(field));
}

static bool finite_number(trellis_text text, double *value)
{
    return tr_text_real(text, value) && isfinite(*value);
}

static trellis_status add_attribute(trellis_reader *reader, size_t index, const struct field *field,
                                    trellis_error *error)
{
    if (!tr_reserve(&reader->attributes, reader->attributes.size + 1)) {
        return tr_fail_memory(error);
    }
    trellis_text text = field->text;
    size_t size = field->escaped ? escaped_name_size(text) : field->colon;
    /* Filled in its place: a copy would wait for its parts to be stored. */
    trellis_attribute *attribute = &reader->attributes.at[reader->attributes.size++];
    attribute->name.data = text.data;
    attribute->name.size = size;
    attribute->value = 1;
    if (size + 1 < text.size) {
        trellis_text value = {text.data + size + 1, text.size - size - 1};
        if (!finite_number(value, &attribute->value)) {
            return bad_value(reader, index, text, value, error);
        }
    }
    if (field->escaped) {
        attribute->name = tr_unescape(reader, attribute->name, ":\\");
    }
    return TRELLIS_OK;
}

/* Adds the fields of a row up to the first with a colon or a backslash, or the last one: names
 * alone, which are by far the most. Everything that the loop needs is in registers. */
static bool add_plain(trellis_reader *reader, struct row *row)
{
    struct tr_mark_walk walk = row->walk;
    const char *block = row->block;
    size_t at = row->at, end = row->end;
    for (bool more = true; more;) {
        if (!tr_reserve(&reader->attributes, reader->attributes.size + TR_MARK_BITS)) {
            return false;
        }
        trellis_attribute *attributes = reader->attributes.at + reader->attributes.size;
        size_t count = 0;
        while (count < TR_MARK_BITS) {
            size_t mark = tr_mark(&walk);
            more = mark < end && block[mark] == '\t';
            if (!more) {
                break;
            }
            tr_mark_pass(&walk);
            attributes[count].name.data = block + at;
            attributes[count].name.size = mark - at;
            attributes[count].value = 1;
            count += mark > at;
            at = mark + 1;
        }
        reader->attributes.size += count;
    }
    row->at = at;
    row->walk = walk;
    return true;
}

static trellis_status add_weight(trellis_reader *reader, size_t index, trellis_text field,
                                 trellis_error *error)
{
    size_t n = strlen(WEIGHT);
    trellis_text value = {field.data + n, field.size - n};
    double weight;
    if (!finite_number(value, &weight) || weight < 0) {
        return tr_fail_at(error, TRELLIS_FORMAT, tr_byte_place(reader, index, value.data),
                          "expected a weight of at least 0, not '%.*s'", TR_SHOW(value));
    }
    reader->sequence.weight = weight;
    return TRELLIS_OK;
}

static trellis_status add_label(trellis_reader *reader, size_t index, trellis_text field,
                                trellis_error *error)
{
    if (field.size == 0 && !tr_without_label(reader)) {
        return tr_fail_at(error, TRELLIS_FORMAT, tr_line_place(reader, index),
                          "the label is missing: it must be the first field");
    }
    trellis_text label = tr_unescape(reader, field, ":\\");
    return tr_push(&reader->labels, label) &&
                   tr_push(&reader->attribute_begin, reader->attributes.size)
               ? TRELLIS_OK
               : tr_fail_memory(error);
}

/* Weights, then the label, then attributes. */
static trellis_status read_row(trellis_reader *reader, size_t index, struct row *row,
                               trellis_error *error)
{
    struct field field;
    bool labelled = false;
    trellis_status status = TRELLIS_OK;
    while (!status && next_field(row, &field)) {
        if (labelled) {
            status = field.text.size ? add_attribute(reader, index, &field, error) : TRELLIS_OK;
        } else if (tr_text_begins(field.text, WEIGHT)) {
            status = add_weight(reader, index, field.text, error);
        } else {
            labelled = true;
            status = add_label(reader, index, field.text, error);
        }
        if (!status && labelled && !add_plain(reader, row)) {
            status = tr_fail_memory(error);
        }
    }
    reader->row_token.at[index] = labelled ? reader->labels.size - 1 : SIZE_MAX;
    return status;
}

static trellis_status read_rows(trellis_reader *reader, trellis_error *error)
{
    reader->labels.size = reader->attributes.size = reader->attribute_begin.size = 0;
    trellis_text block = tr_block(reader);
    if (!tr_fill_rows(reader) || !tr_unescape_room(reader) ||
        !tr_marks_set(&reader->marks, block)) {
        return tr_fail_memory(error);
    }
    struct row row = {.block = block.data, .walk = tr_marks_walk(&reader->marks)};
    for (size_t i = 0; i < reader->lines.size; i++) {
        trellis_text line = tr_line(reader, i);
        row.at = (size_t)(line.data - block.data);
        row.end = row.at + line.size;
        trellis_status status = read_row(reader, i, &row, error);
        if (status) {
            return status;
        }
    }
    return tr_push(&reader->attribute_begin, reader->attributes.size) ? TRELLIS_OK
                                                                      : tr_fail_memory(error);
}

static trellis_status read_crfsuite(trellis_reader *reader, trellis_error *error)
{
    trellis_status status = tr_take_block(reader, 0, error);
    if (!status) {
        status = tr_fix_lines(reader, error);
    }
    if (!status) {
        status = read_rows(reader, error);
    }
    if (status) {
        return status;
    }
    trellis_sequence *sequence = &reader->sequence;
    sequence->length = reader->labels.size;
    sequence->labels = tr_without_label(reader) ? NULL : reader->labels.at;
    /* Not NULL even if no token has an attribute: it says that the sequence has attributes. */
    if (!tr_reserve(&reader->attributes, 1)) {
        return tr_fail_memory(error);
    }
    sequence->attributes = reader->attributes.at;
    sequence->attribute_begin = reader->attribute_begin.at;
    sequence->line = reader->first_line;
    return TRELLIS_OK;
}

const struct tr_format tr_format_crfsuite = {
    .name = "crfsuite", .read = read_crfsuite, .by_blank_lines = true};
