/* reader.h - what the formats share: a reader, the lines it holds and the arrays it fills.
 *
 * A format first takes the lines of one sequence and then splits them. While lines are taken the
 * input's buffer may move, so they are kept as offsets; once the sequence is complete nothing moves
 * any more, and every cell, label and row is a slice of that buffer:
 *
 *     tr_take_block() or tr_take_line()  ->  tr_fix_lines()  ->  the format fills the arrays
 */
#ifndef TRELLIS_CORPUS_READER_H
#define TRELLIS_CORPUS_READER_H

#include "base/input.h"
#include "base/memory.h"
#include "base/text.h"
#include "corpus/context.h"
#include "corpus/corpus.h"
#include "corpus/marks.h"
#include "corpus/memory_corpus.h"
#include "corpus/part.h"
#include "corpus/tokenize.h"

#define TR_NO_COLUMN SIZE_MAX

struct json_t;

/* A format that can be read. `read` fills the arrays of the reader; the caller skips sequences
 * without tokens. */
struct tr_format {
    const char *name;
    trellis_status (*read)(trellis_reader *reader, trellis_error *error);
    const char *const *names; // [name_count] of its columns, or NULL
    size_t name_count;
    bool by_blank_lines; // they end sequences, and what is behind one does not depend on it
    char comment;        // but not behind lines that begin with this; 0: none do
};

extern const struct tr_format tr_format_columns, tr_format_conllu, tr_format_crfsuite,
    tr_format_wordtag, tr_format_jsonl, tr_format_text;
/* Sequences that are not read from bytes: of a corpus, and of a function. */
extern const struct tr_format tr_format_corpus, tr_format_function;

/* Finds a format by the option's value and, for "auto", by the file name, which may be NULL. */
const struct tr_format *tr_format_find(const char *name, const char *path);

/* The names of columns: those of --columns, else of the format, else of the file itself. */
struct tr_names {
    char *text;                   // of --columns
    TR_ARRAY(const char *) given; // into text
    TR_ARRAY(char *) found;       // in the file; owned
};

bool tr_names_parse(struct tr_names *names, const char *option);
void tr_names_free(struct tr_names *names);
/* The column of a name, ignoring case; TR_NO_COLUMN if there is none. */
size_t tr_names_find(const struct tr_names *names, const struct tr_format *format,
                     trellis_text name);
/* The name of a column, NULL if it has none. */
const char *tr_names_at(const struct tr_names *names, const struct tr_format *format,
                        size_t column);

/* The first column named word, form, token or tokens, other than `except`; TR_NO_COLUMN if none
 * is. */
size_t tr_names_word(const struct tr_names *names, const struct tr_format *format, size_t except);

static inline bool tr_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline bool tr_is_blank_line(trellis_text line)
{
    size_t i = 0;
    while (i < line.size && tr_is_blank(line.data[i])) {
        i++;
    }
    return i == line.size;
}

/* A line within the held part of the input. */
struct tr_slice {
    size_t begin, size;
};

struct trellis_reader {
    trellis_source source;
    const struct tr_format *format;
    struct tr_input *input;     // NULL: no bytes are read
    size_t taken;               // sequences read so far from a corpus or a function
    struct tr_corpus_view view; // of a corpus
    struct tr_names names;
    char *label;                  // --label
    bool by_tab;                  // --separator tab
    bool keep_invalid;            // --invalid-utf8 keep
    struct tr_corpus_parts parts; // --part
    struct tr_limits limits;
    bool started;          // the first line, with its byte-order mark, has been read
    size_t columns;        // of the first row; 0: not known yet
    uint64_t columns_line; // where that row is
    size_t label_column;   // TR_NO_COLUMN: none, or not a column

    TR_ARRAY(struct tr_slice) lines; // of the sequence being read
    uint64_t first_line;             // the number of lines.at[0]
    const char *base;                // what the slices are offsets into, once fixed

    TR_ARRAY(trellis_text) cells;  // [tokens][columns]
    TR_ARRAY(trellis_text) labels; // [tokens]
    TR_ARRAY(trellis_text) rows;   // [lines]
    TR_ARRAY(size_t) row_token;    // [lines]
    TR_ARRAY(trellis_attribute) attributes;
    TR_ARRAY(size_t) attribute_begin; // [tokens + 1]
    struct tr_marks marks;            // of the block
    struct tr_buffer unescaped;       // never grows while slices of it are in use
    enum tr_tokenizer tokenizer;      // --tokenizer
    TR_ARRAY(char) breaks;            // [bytes of the passage] see tr_prose
    struct json_t *json;              // the object that owns the texts of JSON lines
    bool ahead;                       // a sequence has been read in advance,
    trellis_status ahead_status;      // with this result
    trellis_error ahead_error;
    struct tr_word_context *context; // --context; NULL: none
    trellis_sequence sequence;
};

/* The names of the columns of a corpus or of a function, and the label among them. */
bool tr_take_column_names(trellis_reader *reader);

/* Takes the next line. */
trellis_status tr_take_line(trellis_reader *reader, trellis_error *error);
/* Takes lines up to a blank one. Lines that begin with `comment` (0: none do) are not a block by
 * themselves: blank lines after them are taken as well. */
trellis_status tr_take_block(trellis_reader *reader, char comment, trellis_error *error);
/* Fixes the lines in place; zero bytes are an error and so is invalid UTF-8, unless it is to be
 * kept. */
trellis_status tr_fix_lines(trellis_reader *reader, trellis_error *error);

/* A line of the sequence, once fixed. */
static inline trellis_text tr_line(const trellis_reader *reader, size_t index)
{
    struct tr_slice slice = reader->lines.at[index];
    return (trellis_text){reader->base + slice.begin, slice.size};
}

/* All lines of the sequence, once fixed, and what is between them. */
static inline trellis_text tr_block(const trellis_reader *reader)
{
    struct tr_slice first = reader->lines.at[0], last = reader->lines.at[reader->lines.size - 1];
    return (trellis_text){reader->base + first.begin, last.begin + last.size - first.begin};
}

/* The place of a line of the sequence, or of a byte in it. */
struct tr_place tr_line_place(const trellis_reader *reader, size_t index);
struct tr_place tr_byte_place(const trellis_reader *reader, size_t index, const char *at);

/* Makes all lines rows of the sequence; `row_token` is left to the format. */
bool tr_fill_rows(trellis_reader *reader);

/* Splits a row at each tab into at most `room` cells; returns how many there are in all. */
size_t tr_split_at_tabs(trellis_text row, trellis_text *cells, size_t room);

/* Finds the label column by --label, once the number of columns is known. `last` is what 'last'
 * means in the format. */
trellis_status tr_find_label(trellis_reader *reader, size_t last, struct tr_place place,
                             trellis_error *error);
/* Copies the cells of the label column to the labels. */
bool tr_fill_labels(trellis_reader *reader, size_t length);

/* Whether --label is 'none'. */
bool tr_without_label(const trellis_reader *reader);

/* Makes room for all texts of the sequence with escapes removed. */
bool tr_unescape_room(trellis_reader *reader);
/* The text without the backslashes before the characters of `escaped`: the text itself if there are
 * none, else a copy in that room. */
trellis_text tr_unescape(trellis_reader *reader, trellis_text text, const char *escaped);

#endif
