/* write_rows.c - writes the formats with a token per line and a blank line after each sequence:
 * columns, CoNLL-U, CRFsuite's, and labels alone.
 *
 * Rows that were read are copied. In columns the new label is added as the last column; in CoNLL-U
 * and CRFsuite's format, which have one place for a label, it replaces the old one.
 */
#include "corpus/conllu.h"
#include "corpus/crfsuite.h"
#include "corpus/writer.h"

#define LINE_ENDS "\r\n"

/* ---- columns --------------------------------------------------------------------------------- */

/* The separator of a row: a tab if it has tabs and no blanks. */
static char separator_of(const trellis_writer *writer, trellis_text row)
{
    bool tab = row.size && memchr(row.data, '\t', row.size);
    return writer->by_tab || (tab && !memchr(row.data, ' ', row.size)) ? '\t' : ' ';
}

static trellis_status append_label(trellis_writer *writer, const trellis_sequence *sequence,
                                   trellis_text row, trellis_text label, trellis_error *error)
{
    char separator = separator_of(writer, row);
    if (label.size == 0 && !writer->by_tab) {
        return tr_cannot_hold(writer, sequence, label, error);
    }
    if (writer->by_tab || row.size == 0 || !tr_is_blank(row.data[row.size - 1])) {
        tr_buffer_char(&writer->buffer, separator);
    }
    return tr_put_text(writer, sequence, label, writer->by_tab ? "\t" LINE_ENDS : " \t" LINE_ENDS,
                       error);
}

/* In columns each row is a token; in other formats this need not be so. */
static bool rows_are_tokens(const trellis_sequence *sequence)
{
    bool matched = sequence->row_count == sequence->length;
    for (size_t i = 0; matched && i < sequence->row_count; i++) {
        matched = sequence->row_token[i] == i;
    }
    return matched;
}

static trellis_status extend_rows(trellis_writer *writer, const trellis_sequence *sequence,
                                  const trellis_text *labels, trellis_error *error)
{
    for (size_t i = 0; i < sequence->row_count; i++) {
        tr_buffer_text(&writer->buffer, sequence->rows[i]);
        trellis_status status = labels ? append_label(writer, sequence, sequence->rows[i],
                                                      labels[i], error)
                                       : TRELLIS_OK;
        if (status) {
            return status;
        }
        tr_buffer_char(&writer->buffer, '\n');
    }
    return TRELLIS_OK;
}

/* Adds a cell to a row; the first one may be empty, so the row cannot tell whether it is that. */
static trellis_status add_cell(trellis_writer *writer, const trellis_sequence *sequence, bool first,
                               trellis_text cell, trellis_error *error)
{
    if (!first) {
        tr_buffer_char(&writer->buffer, '\t');
    }
    return tr_put_text(writer, sequence, cell, "\t" LINE_ENDS, error);
}

/* Ends the row of token i, which begins at `begin`; it must not look like the end of a sequence. */
static trellis_status end_row(trellis_writer *writer, const trellis_sequence *sequence, size_t i,
                              size_t begin, trellis_error *error)
{
    trellis_text row = {writer->buffer.data + begin, writer->buffer.size - begin};
    if (row.size == 0 || tr_is_blank_line(row)) {
        return tr_fail(error, TRELLIS_DATA,
                       "token %zu of the sequence at line %llu would be an empty row", i + 1,
                       (unsigned long long)sequence->line);
    }
    tr_buffer_char(&writer->buffer, '\n');
    return TRELLIS_OK;
}

/* A row of all cells, the label that was read where it is not one of them, and the new one; always
 * with tabs, so that cells may have blanks. */
static trellis_status build_row(trellis_writer *writer, const trellis_sequence *sequence, size_t i,
                                bool with_gold, const trellis_text *labels, trellis_error *error)
{
    size_t begin = writer->buffer.size;
    trellis_status status = TRELLIS_OK;
    for (size_t c = 0; !status && c < sequence->columns; c++) {
        status = add_cell(writer, sequence, c == 0, tr_cell(sequence, i, c), error);
    }
    if (!status && with_gold) {
        status = add_cell(writer, sequence, sequence->columns == 0, sequence->labels[i], error);
    }
    if (!status && labels) {
        status = add_cell(writer, sequence, sequence->columns == 0 && !with_gold, labels[i], error);
    }
    if (status || writer->buffer.failed) {
        return status;
    }
    return end_row(writer, sequence, i, begin, error);
}

trellis_status tr_put_columns(trellis_writer *writer, const trellis_sequence *sequence,
                              const trellis_text *labels, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (tr_has_rows(writer, sequence) && rows_are_tokens(sequence)) {
        status = extend_rows(writer, sequence, labels, error);
    } else {
        bool with_gold = sequence->labels && tr_gold_column(sequence) == TR_NO_COLUMN;
        for (size_t i = 0; !status && i < sequence->length; i++) {
            status = build_row(writer, sequence, i, with_gold, labels, error);
        }
    }
    tr_buffer_char(&writer->buffer, '\n');
    return status;
}

/* ---- CoNLL-U --------------------------------------------------------------------------------- */

/* Writes the row of a token with another label. */
typedef trellis_status replacer(trellis_writer *writer, const trellis_sequence *sequence,
                                trellis_text row, trellis_text label, trellis_error *error);

/* All rows as they were read, comments and blanks too; those of tokens with their labels, if
 * any. */
static trellis_status copy_rows(trellis_writer *writer, const trellis_sequence *sequence,
                                const trellis_text *labels, replacer *replace, trellis_error *error)
{
    for (size_t i = 0; i < sequence->row_count; i++) {
        size_t token = sequence->row_token[i];
        trellis_text row = sequence->rows[i];
        if (labels && token < sequence->length) {
            trellis_status status = replace(writer, sequence, row, labels[token], error);
            if (status) {
                return status;
            }
        } else {
            tr_buffer_text(&writer->buffer, row);
        }
        tr_buffer_char(&writer->buffer, '\n');
    }
    return TRELLIS_OK;
}

static trellis_status replace_cell(trellis_writer *writer, const trellis_sequence *sequence,
                                   trellis_text row, trellis_text label, trellis_error *error)
{
    trellis_text cells[TR_CONLLU_COLUMNS];
    if (tr_split_at_tabs(row, cells, TR_CONLLU_COLUMNS) != TR_CONLLU_COLUMNS) {
        return tr_cannot_hold(writer, sequence, row, error);
    }
    trellis_text old = cells[writer->label_column];
    const char *behind = old.data + old.size;
    tr_buffer_add(&writer->buffer, row.data, (size_t)(old.data - row.data));
    trellis_status status = tr_put_text(writer, sequence, label.size ? label : TR_TEXT("_"),
                                        "\t" LINE_ENDS, error);
    tr_buffer_add(&writer->buffer, behind, (size_t)(row.data + row.size - behind));
    return status;
}

/* Where each column of CoNLL-U comes from: the column of that name, TR_NO_COLUMN for none. */
static trellis_status map_columns(const trellis_writer *writer, const trellis_sequence *sequence,
                                  size_t *source, trellis_error *error)
{
    for (size_t c = 0; c < TR_CONLLU_COLUMNS; c++) {
        trellis_text name = tr_text(tr_format_conllu.names[c]);
        size_t found = tr_names_find(&writer->names, writer->input, name);
        source[c] = c > 0 && found < sequence->columns ? found : TR_NO_COLUMN;
    }
    return tr_word_column(writer, sequence, &source[TR_CONLLU_FORM], error);
}

static trellis_status build_conllu_row(trellis_writer *writer, const trellis_sequence *sequence,
                                       size_t i, const size_t *source, const trellis_text *labels,
                                       trellis_error *error)
{
    tr_buffer_format(&writer->buffer, "%zu", i + 1);
    for (size_t c = 1; c < TR_CONLLU_COLUMNS; c++) {
        trellis_text cell = {NULL, 0};
        if (labels && c == writer->label_column) {
            cell = labels[i];
        } else if (source[c] != TR_NO_COLUMN) {
            cell = tr_cell(sequence, i, source[c]);
        }
        tr_buffer_char(&writer->buffer, '\t');
        trellis_status status = tr_put_text(writer, sequence, cell.size ? cell : TR_TEXT("_"),
                                            "\t" LINE_ENDS, error);
        if (status) {
            return status;
        }
    }
    tr_buffer_char(&writer->buffer, '\n');
    return TRELLIS_OK;
}

static trellis_status build_conllu(trellis_writer *writer, const trellis_sequence *sequence,
                                   const trellis_text *labels, trellis_error *error)
{
    size_t source[TR_CONLLU_COLUMNS];
    trellis_status status = map_columns(writer, sequence, source, error);
    for (size_t i = 0; !status && i < sequence->length; i++) {
        status = build_conllu_row(writer, sequence, i, source, labels, error);
    }
    return status;
}

trellis_status tr_put_conllu(trellis_writer *writer, const trellis_sequence *sequence,
                             const trellis_text *labels, trellis_error *error)
{
    trellis_status status = tr_has_rows(writer, sequence)
                                ? copy_rows(writer, sequence, labels, replace_cell, error)
                                : build_conllu(writer, sequence, labels ? labels : sequence->labels,
                                               error);
    tr_buffer_char(&writer->buffer, '\n');
    return status;
}

/* ---- CRFsuite -------------------------------------------------------------------------------- */

static trellis_status put_name(trellis_writer *writer, const trellis_sequence *sequence,
                               trellis_text name, trellis_error *error)
{
    return tr_put_escaped(writer, sequence, name, "\t" LINE_ENDS, ":\\", error);
}

static trellis_status replace_label(trellis_writer *writer, const trellis_sequence *sequence,
                                    trellis_text row, trellis_text label, trellis_error *error)
{
    trellis_text old = tr_crfsuite_label(row);
    if (!old.data || label.size == 0) {
        return tr_cannot_hold(writer, sequence, old.data ? label : row, error);
    }
    const char *behind = old.data + old.size;
    tr_buffer_add(&writer->buffer, row.data, (size_t)(old.data - row.data));
    trellis_status status = put_name(writer, sequence, label, error);
    tr_buffer_add(&writer->buffer, behind, (size_t)(row.data + row.size - behind));
    return status;
}

static trellis_status put_attribute(trellis_writer *writer, const trellis_sequence *sequence,
                                    const trellis_attribute *attribute, trellis_error *error)
{
    tr_buffer_char(&writer->buffer, '\t');
    if (attribute->name.size == 0) { // an empty field is no attribute
        return tr_cannot_hold(writer, sequence, attribute->name, error);
    }
    trellis_status status = put_name(writer, sequence, attribute->name, error);
    if (attribute->value != 1) {
        tr_buffer_char(&writer->buffer, ':');
        tr_buffer_real(&writer->buffer, attribute->value);
    }
    return status;
}

/* A cell as an attribute: NAME=text, or columnN=text. */
static trellis_status put_cell(trellis_writer *writer, const trellis_sequence *sequence,
                               size_t token, size_t column, trellis_error *error)
{
    const char *name = tr_names_at(&writer->names, writer->input, column);
    tr_buffer_char(&writer->buffer, '\t');
    trellis_status status = TRELLIS_OK;
    if (name) {
        status = put_name(writer, sequence, tr_text(name), error);
    } else {
        tr_buffer_format(&writer->buffer, "column%zu", column + 1);
    }
    tr_buffer_char(&writer->buffer, '=');
    return status ? status : put_name(writer, sequence, tr_cell(sequence, token, column), error);
}

static trellis_status build_crfsuite_row(trellis_writer *writer, const trellis_sequence *sequence,
                                         size_t i, trellis_text label, trellis_error *error)
{
    /* A line has to begin with a label; without one the field is "_", as in CoNLL. */
    size_t begin = writer->buffer.size;
    trellis_status status = put_name(writer, sequence, label.size ? label : TR_TEXT("_"), error);
    if (sequence->attribute_begin) {
        size_t end = sequence->attribute_begin[i + 1];
        for (size_t a = sequence->attribute_begin[i]; !status && a < end; a++) {
            status = put_attribute(writer, sequence, &sequence->attributes[a], error);
        }
    } else {
        size_t gold = tr_gold_column(sequence);
        for (size_t c = 0; !status && c < sequence->columns; c++) {
            status = c == gold ? TRELLIS_OK : put_cell(writer, sequence, i, c, error);
        }
    }
    return status || writer->buffer.failed ? status : end_row(writer, sequence, i, begin, error);
}

static trellis_status build_crfsuite(trellis_writer *writer, const trellis_sequence *sequence,
                                     const trellis_text *labels, trellis_error *error)
{
    if (sequence->weight != 1) {
        tr_buffer_string(&writer->buffer, "@weight:");
        tr_buffer_real(&writer->buffer, sequence->weight);
        tr_buffer_char(&writer->buffer, '\n');
    }
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < sequence->length; i++) {
        trellis_text label = labels ? labels[i] : (trellis_text){NULL, 0};
        status = build_crfsuite_row(writer, sequence, i, label, error);
    }
    return status;
}

trellis_status tr_put_crfsuite(trellis_writer *writer, const trellis_sequence *sequence,
                               const trellis_text *labels, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (!tr_has_rows(writer, sequence)) {
        status = build_crfsuite(writer, sequence, labels ? labels : sequence->labels, error);
    } else {
        status = copy_rows(writer, sequence, labels, replace_label, error);
    }
    tr_buffer_char(&writer->buffer, '\n');
    return status;
}

/* ---- labels ---------------------------------------------------------------------------------- */

trellis_status tr_put_labels(trellis_writer *writer, const trellis_sequence *sequence,
                             const trellis_text *labels, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    labels = labels ? labels : sequence->labels;
    for (size_t i = 0; !status && i < sequence->length; i++) {
        trellis_text label = labels ? labels[i] : (trellis_text){NULL, 0};
        status = tr_is_blank_line(label) ? tr_cannot_hold(writer, sequence, label, error)
                                         : tr_put_text(writer, sequence, label, LINE_ENDS, error);
        tr_buffer_char(&writer->buffer, '\n');
    }
    tr_buffer_char(&writer->buffer, '\n');
    return status;
}
