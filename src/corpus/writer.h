/* writer.h - what the formats share when sequences are written. */
#ifndef TRELLIS_CORPUS_WRITER_H
#define TRELLIS_CORPUS_WRITER_H

#include "corpus/reader.h"

typedef trellis_status (*tr_put_function)(trellis_writer *writer, const trellis_sequence *sequence,
                                          const trellis_text *labels, trellis_error *error);

struct trellis_writer {
    trellis_sink sink;
    void *user;
    struct tr_buffer buffer;
    const struct tr_format *input; // what the sequences were read from
    struct tr_names names;         // of their columns
    const char *format;            // what is written
    tr_put_function put;
    bool same;           // the rows of a sequence are in the format that is written
    bool by_tab;         // --separator tab
    size_t label_column; // of CoNLL-U
};

trellis_status tr_put_columns(trellis_writer *writer, const trellis_sequence *sequence,
                              const trellis_text *labels, trellis_error *error);
trellis_status tr_put_conllu(trellis_writer *writer, const trellis_sequence *sequence,
                             const trellis_text *labels, trellis_error *error);
trellis_status tr_put_crfsuite(trellis_writer *writer, const trellis_sequence *sequence,
                               const trellis_text *labels, trellis_error *error);
trellis_status tr_put_wordtag(trellis_writer *writer, const trellis_sequence *sequence,
                              const trellis_text *labels, trellis_error *error);
trellis_status tr_put_inline(trellis_writer *writer, const trellis_sequence *sequence,
                             const trellis_text *labels, trellis_error *error);
trellis_status tr_put_jsonl(trellis_writer *writer, const trellis_sequence *sequence,
                            const trellis_text *labels, trellis_error *error);

/* Writes a text that must not have any of the characters of `forbidden`, nor a zero byte. */
trellis_status tr_put_text(trellis_writer *writer, const trellis_sequence *sequence,
                           trellis_text text, const char *forbidden, trellis_error *error);
/* The same with a backslash in front of each character of `escaped`. */
trellis_status tr_put_escaped(trellis_writer *writer, const trellis_sequence *sequence,
                              trellis_text text, const char *forbidden, const char *escaped,
                              trellis_error *error);
/* All rows as they are. */
void tr_put_rows(trellis_writer *writer, const trellis_sequence *sequence);
/* A text that the format has no way to write. */
trellis_status tr_cannot_hold(const trellis_writer *writer, const trellis_sequence *sequence,
                              trellis_text text, trellis_error *error);

/* Whether the sequence still has the lines it was read from, in the format that is written. */
bool tr_has_rows(const trellis_writer *writer, const trellis_sequence *sequence);

/* The column of the words: the one named so, or the first; an error where there are no columns. */
trellis_status tr_word_column(const trellis_writer *writer, const trellis_sequence *sequence,
                              size_t *ret_column, trellis_error *error);
/* The column that the sequence's labels are in, TR_NO_COLUMN where they are not in its cells. */
size_t tr_gold_column(const trellis_sequence *sequence);

static inline trellis_text tr_cell(const trellis_sequence *sequence, size_t token, size_t column)
{
    return sequence->cells[token * sequence->columns + column];
}

#endif
