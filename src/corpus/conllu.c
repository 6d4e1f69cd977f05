/* conllu.c - the treebanks of Universal Dependencies.
 *
 *     # text = l'ami du roi
 *     1     l'    le   DET   ...
 *     2     ami   ami  NOUN  ...
 *     3-4   du    _    _     ...      one word of the text, two of the syntax
 *     3     de    de   ADP   ...
 *     4     le    le   DET   ...
 *
 * Ten columns, separated by one tab. Comments, multi-word tokens (3-4) and empty nodes (8.1) are
 * rows without a token: a writer keeps them in place, a learner does not see them. Reference:
 * https://universaldependencies.org/format.html
 */
#include "corpus/reader.h"

#include "corpus/conllu.h"

enum { COMMENT = '#' };

static const char *const names[TR_CONLLU_COLUMNS] = {"ID",    "FORM", "LEMMA",  "UPOS", "XPOS",
                                                     "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};

static size_t skip_digits(trellis_text text, size_t at)
{
    while (at < text.size && text.data[at] >= '0' && text.data[at] <= '9') {
        at++;
    }
    return at;
}

enum row_kind { TOKEN, OTHER, MALFORMED };

/* What a row is, by its identifier: N, N-M or N.M. */
static enum row_kind kind_of(trellis_text id)
{
    size_t first = skip_digits(id, 0);
    if (first == 0) {
        return MALFORMED;
    }
    if (first == id.size) {
        return TOKEN;
    }
    bool joined = id.data[first] == '-' || id.data[first] == '.';
    size_t second = skip_digits(id, first + 1);
    return joined && second > first + 1 && second == id.size ? OTHER : MALFORMED;
}

/* Splits a row and tells whether it is a token. */
static trellis_status split_row(trellis_reader *reader, size_t index, trellis_text *cells,
                                bool *is_token, trellis_error *error)
{
    trellis_text row = tr_line(reader, index);
    *is_token = false;
    if (tr_is_blank_line(row) || row.data[0] == COMMENT) {
        return TRELLIS_OK;
    }
    size_t found = tr_split_at_tabs(row, cells, TR_CONLLU_COLUMNS);
    if (found != TR_CONLLU_COLUMNS) {
        return tr_fail_at(error, TRELLIS_FORMAT, tr_line_place(reader, index),
                          "expected the %d columns of CoNLL-U, separated by tabs, found %zu",
                          TR_CONLLU_COLUMNS, found);
    }
    enum row_kind kind = kind_of(cells[0]);
    if (kind == MALFORMED) {
        return tr_fail_at(error, TRELLIS_FORMAT, tr_line_place(reader, index),
                          "'%.*s' is not a CoNLL-U ID such as 1, 1-2 or 1.1", TR_SHOW(cells[0]));
    }
    *is_token = kind == TOKEN;
    return TRELLIS_OK;
}

static trellis_status split_rows(trellis_reader *reader, size_t *ret_length, trellis_error *error)
{
    size_t length = 0;
    reader->cells.size = 0;
    for (size_t i = 0; i < reader->lines.size; i++) {
        if (!tr_reserve(&reader->cells, reader->cells.size + TR_CONLLU_COLUMNS)) {
            return tr_fail_memory(error);
        }
        bool is_token;
        trellis_status status = split_row(reader, i, reader->cells.at + reader->cells.size,
                                          &is_token, error);
        if (status) {
            return status;
        }
        reader->row_token.at[i] = is_token ? length++ : SIZE_MAX;
        reader->cells.size += is_token ? TR_CONLLU_COLUMNS : 0;
    }
    *ret_length = length;
    return TRELLIS_OK;
}

static trellis_status read_conllu(trellis_reader *reader, trellis_error *error)
{
    trellis_status status = tr_take_block(reader, COMMENT, error);
    if (!status) {
        status = tr_fix_lines(reader, error);
    }
    if (!status && reader->columns == 0) {
        reader->columns = TR_CONLLU_COLUMNS;
        status = tr_find_label(reader, TR_CONLLU_UPOS, tr_line_place(reader, 0), error);
    }
    if (!status && !tr_fill_rows(reader)) {
        status = tr_fail_memory(error);
    }
    size_t length = 0;
    if (!status) {
        status = split_rows(reader, &length, error);
    }
    if (!status && !tr_fill_labels(reader, length)) {
        status = tr_fail_memory(error);
    }
    if (status) {
        return status;
    }
    trellis_sequence *sequence = &reader->sequence;
    sequence->length = length;
    sequence->columns = TR_CONLLU_COLUMNS;
    sequence->cells = reader->cells.at;
    sequence->line = reader->first_line;
    return TRELLIS_OK;
}

const struct tr_format tr_format_conllu = {
    .name = "conllu",
    .read = read_conllu,
    .names = names,
    .name_count = TR_CONLLU_COLUMNS,
    .by_blank_lines = true,
    .comment = COMMENT,
};
