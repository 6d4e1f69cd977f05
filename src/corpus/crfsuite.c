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

/* The next field from *at on; false if the row has no more. */
static bool next_field(trellis_text row, size_t *at, trellis_text *field)
{
    if (*at > row.size) {
        return false;
    }
    const char *begin = row.data + *at;
    size_t left = row.size - *at;
    const char *tab = left ? memchr(begin, '\t', left) : NULL;
    *field = (trellis_text){begin, tab ? (size_t)(tab - begin) : left};
    *at += field->size + 1;
    return true;
}

trellis_text tr_crfsuite_label(trellis_text row)
{
    trellis_text field = {row.data, 0};
    for (size_t at = 0; next_field(row, &at, &field);) {
        if (!tr_text_begins(field, WEIGHT)) {
            return field;
        }
    }
    return (trellis_text){NULL, 0};
}

/* Where the name of an attribute ends: at the first colon that is not escaped. */
static size_t name_size(trellis_text field)
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

static trellis_status add_attribute(trellis_reader *reader, size_t index, trellis_text field,
                                    trellis_error *error)
{
    trellis_attribute attribute = {field, 1};
    attribute.name.size = name_size(field);
    size_t behind = attribute.name.size + 1;
    if (behind < field.size) {
        trellis_text value = {field.data + behind, field.size - behind};
        if (!finite_number(value, &attribute.value)) {
            return bad_value(reader, index, field, value, error);
        }
    }
    attribute.name = tr_unescape(reader, attribute.name, ":\\");
    return tr_push(&reader->attributes, attribute) ? TRELLIS_OK : tr_fail_memory(error);
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
static trellis_status read_row(trellis_reader *reader, size_t index, trellis_error *error)
{
    trellis_text row = tr_line(reader, index), field;
    bool labelled = false;
    trellis_status status = TRELLIS_OK;
    for (size_t at = 0; !status && next_field(row, &at, &field);) {
        if (labelled) {
            status = field.size ? add_attribute(reader, index, field, error) : TRELLIS_OK;
        } else if (tr_text_begins(field, WEIGHT)) {
            status = add_weight(reader, index, field, error);
        } else {
            labelled = true;
            status = add_label(reader, index, field, error);
        }
    }
    reader->row_token.at[index] = labelled ? reader->labels.size - 1 : SIZE_MAX;
    return status;
}

static trellis_status read_rows(trellis_reader *reader, trellis_error *error)
{
    reader->labels.size = reader->attributes.size = reader->attribute_begin.size = 0;
    if (!tr_fill_rows(reader) || !tr_unescape_room(reader)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < reader->lines.size; i++) {
        trellis_status status = read_row(reader, i, error);
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

const struct tr_format tr_format_crfsuite = {.name = "crfsuite", .read = read_crfsuite};
