/* columns.c - the format of CoNLL's shared tasks, CRF++ and Wapiti: a token per line, a blank line
 * after each sequence.
 *
 *     Confidence NN B-NP
 *     in         IN B-PP
 *
 * Columns are separated by any run of blanks and tabs or, with --separator tab, by exactly one tab,
 * and then a cell may be empty or contain blanks. All rows of a file have as many columns as its
 * first one. Large corpora come in this format, so cells are slices of the input and a row costs no
 * more than a few passes over its bytes.
 */
#include "corpus/reader.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { STEP = 16 };

/* The number of bytes before the first blank of sixteen; 16 if there is none. */
static inline size_t blank_in_step(const char *at)
{
#if defined(__SSE2__)
    __m128i bytes = _mm_loadu_si128((const __m128i *)at);
    __m128i blanks = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')),
                                  _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')));
    unsigned mask = (unsigned)_mm_movemask_epi8(blanks);
    return mask ? (size_t)__builtin_ctz(mask) : STEP;
#else
    size_t i = 0;
    while (i < STEP && !tr_is_blank(at[i])) {
        i++;
    }
    return i;
#endif
}

/* The first blank in [at, end), or end. Cells are short and their lengths vary: comparing sixteen
 * bytes at once avoids a mispredicted branch in nearly every cell. It may read beyond the row, but
 * not beyond `limit`. */
static inline const char *find_blank(const char *at, const char *end, const char *limit)
{
    while (at < end && limit - at >= STEP) {
        size_t step = blank_in_step(at);
        at += step;
        if (step < STEP) {
            return at < end ? at : end;
        }
    }
    while (at < end && !tr_is_blank(*at)) {
        at++;
    }
    return at < end ? at : end;
}

/* Splits a row at runs of blanks into at most `room` cells; returns how many there are in all.
 * Bytes up to `limit` can be read. */
static inline size_t split_at_blanks(trellis_text row, const char *limit, trellis_text *cells,
                                     size_t room)
{
    const char *at = row.data, *end = at + row.size;
    for (size_t count = 0;; count++) {
        while (at < end && tr_is_blank(*at)) {
            at++;
        }
        if (at == end) {
            return count;
        }
        const char *begin = at;
        at = find_blank(at, end, limit);
        if (count < room) {
            cells[count] = (trellis_text){begin, (size_t)(at - begin)};
        }
    }
}

size_t tr_split_at_tabs(trellis_text row, trellis_text *cells, size_t room)
{
    const char *at = row.data, *end = at + row.size;
    for (size_t count = 1;; count++) {
        const char *tab = at < end ? memchr(at, '\t', (size_t)(end - at)) : NULL;
        const char *cell_end = tab ? tab : end;
        if (count <= room) {
            cells[count - 1] = (trellis_text){at, (size_t)(cell_end - at)};
        }
        if (!tab) {
            return count;
        }
        at = tab + 1;
    }
}

static inline size_t split_row(const trellis_reader *reader, size_t index, const char *limit,
                               trellis_text *cells, size_t room)
{
    trellis_text row = tr_line(reader, index);
    return reader->by_tab ? tr_split_at_tabs(row, cells, room)
                          : split_at_blanks(row, limit, cells, room);
}

/* The end of the last line. */
static const char *block_end(const trellis_reader *reader)
{
    trellis_text last = tr_line(reader, reader->lines.size - 1);
    return last.data + last.size;
}

/* The first row of the file gives the number of columns, and so the place of the label. */
static trellis_status set_columns(trellis_reader *reader, trellis_error *error)
{
    struct tr_place place = tr_line_place(reader, 0);
    reader->columns = split_row(reader, 0, block_end(reader), NULL, 0);
    reader->columns_line = place.line;
    /* A single column holds the words: there is no label to find. */
    size_t last = reader->columns > 1 ? reader->columns - 1 : TR_NO_COLUMN;
    trellis_status status = tr_find_label(reader, last, place, error);
    if (status) {
        reader->columns = 0;
    }
    return status;
}

static trellis_status ragged(const trellis_reader *reader, size_t index, size_t found,
                             trellis_error *error)
{
    return tr_fail_at(error, TRELLIS_FORMAT, tr_line_place(reader, index),
                      "expected %zu column%s as in line %llu, found %zu", reader->columns,
                      reader->columns == 1 ? "" : "s", (unsigned long long)reader->columns_line,
                      found);
}

static trellis_status split_rows(trellis_reader *reader, trellis_error *error)
{
    size_t columns = reader->columns, length = reader->lines.size, need;
    if (__builtin_mul_overflow(columns, length, &need) || !tr_reserve(&reader->cells, need)) {
        return tr_fail_memory(error);
    }
    trellis_text *cells = reader->cells.at;
    const char *limit = block_end(reader);
    for (size_t i = 0; i < length; i++, cells += columns) {
        size_t found = split_row(reader, i, limit, cells, columns);
        if (found != columns) {
            return ragged(reader, i, found, error);
        }
        reader->row_token.at[i] = i;
    }
    return TRELLIS_OK;
}

static trellis_status read_columns(trellis_reader *reader, trellis_error *error)
{
    trellis_status status = tr_take_block(reader, 0, error);
    if (!status) {
        status = tr_fix_lines(reader, error);
    }
    if (!status && reader->columns == 0) {
        status = set_columns(reader, error);
    }
    if (!status && !tr_fill_rows(reader)) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        status = split_rows(reader, error);
    }
    if (!status && !tr_fill_labels(reader, reader->lines.size)) {
        status = tr_fail_memory(error);
    }
    if (status) {
        return status;
    }
    trellis_sequence *sequence = &reader->sequence;
    sequence->length = reader->lines.size;
    sequence->columns = reader->columns;
    sequence->cells = reader->cells.at;
    sequence->line = reader->first_line;
    return TRELLIS_OK;
}

const struct tr_format tr_format_columns = {
    .name = "columns", .read = read_columns, .by_blank_lines = true};
