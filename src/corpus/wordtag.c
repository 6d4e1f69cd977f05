/* wordtag.c - tagged running text, a sequence per line.
 *
 *     The/DT cat/NN ate/VBD 1\/2/CD fish/NN ./.
 *
 * The last slash that is not escaped separates word and tag. A backslash escapes a slash, a blank,
 * a tab or a backslash, and stands for itself before anything else. With --label none there are no
 * tags and the whole token is the word.
 */
#include "corpus/reader.h"

#define ESCAPED "/\\ \t"

static const char *const names[] = {"word"};

/* The end of the token at `at`, and its last slash that is not escaped, or SIZE_MAX. */
static size_t token_end(trellis_text line, size_t at, size_t *slash)
{
    *slash = SIZE_MAX;
    for (; at < line.size && !tr_is_blank(line.data[at]); at++) {
        if (line.data[at] == '\\' && at + 1 < line.size && strchr(ESCAPED, line.data[at + 1])) {
            at++;
        } else if (line.data[at] == '/') {
            *slash = at;
        }
    }
    return at;
}

static trellis_status bad_token(const trellis_reader *reader, trellis_text token, size_t slash,
                                trellis_error *error)
{
    struct tr_place place = tr_byte_place(reader, 0, token.data);
    if (slash == SIZE_MAX) {
        return tr_fail_at(error, TRELLIS_FORMAT, place,
                          "'%.*s' has no tag: expected word/TAG, or --label none for plain words",
                          TR_SHOW(token));
    }
    return tr_fail_at(error, TRELLIS_FORMAT, place, "the %s of '%.*s' is missing",
                      slash == 0 ? "word" : "tag", TR_SHOW(token));
}

static trellis_status add_tagged(trellis_reader *reader, trellis_text token, size_t slash,
                                 trellis_error *error)
{
    if (slash == SIZE_MAX || slash == 0 || slash + 1 == token.size) {
        return bad_token(reader, token, slash, error);
    }
    trellis_text word = {token.data, slash};
    trellis_text tag = {token.data + slash + 1, token.size - slash - 1};
    return tr_push(&reader->cells, tr_unescape(reader, word, ESCAPED)) &&
                   tr_push(&reader->labels, tr_unescape(reader, tag, ESCAPED))
               ? TRELLIS_OK
               : tr_fail_memory(error);
}

static trellis_status add_token(trellis_reader *reader, trellis_text token, size_t slash,
                                trellis_error *error)
{
    if (!tr_without_label(reader)) {
        return add_tagged(reader, token, slash, error);
    }
    return tr_push(&reader->cells, tr_unescape(reader, token, ESCAPED)) ? TRELLIS_OK
                                                                        : tr_fail_memory(error);
}

static trellis_status read_tokens(trellis_reader *reader, trellis_error *error)
{
    reader->cells.size = reader->labels.size = 0;
    if (!tr_unescape_room(reader) || !tr_fill_rows(reader)) {
        return tr_fail_memory(error);
    }
    reader->row_token.at[0] = SIZE_MAX;
    trellis_text line = tr_line(reader, 0);
    for (size_t at = 0; at < line.size;) {
        if (tr_is_blank(line.data[at])) {
            at++;
            continue;
        }
        size_t slash, end = token_end(line, at, &slash);
        trellis_text token = {line.data + at, end - at};
        trellis_status status = add_token(reader, token, slash == SIZE_MAX ? slash : slash - at,
                                          error);
        if (status) {
            return status;
        }
        at = end;
    }
    return TRELLIS_OK;
}

static trellis_status read_wordtag(trellis_reader *reader, trellis_error *error)
{
    trellis_status status = tr_take_line(reader, error);
    if (!status) {
        status = tr_fix_lines(reader, error);
    }
    if (!status) {
        status = read_tokens(reader, error);
    }
    if (status) {
        return status;
    }
    trellis_sequence *sequence = &reader->sequence;
    sequence->length = reader->cells.size;
    sequence->columns = reader->columns = TR_COUNT(names);
    sequence->cells = reader->cells.at;
    sequence->labels = tr_without_label(reader) ? NULL : reader->labels.at;
    sequence->line = reader->first_line;
    return TRELLIS_OK;
}

const struct tr_format tr_format_wordtag = {
    .name = "wordtag", .read = read_wordtag, .names = names, .name_count = TR_COUNT(names)};
