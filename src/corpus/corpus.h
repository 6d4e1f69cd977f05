/* corpus.h - what the rest of the library needs of readers and label schemes, beside the public
 * header. */
#ifndef TRELLIS_CORPUS_CORPUS_H
#define TRELLIS_CORPUS_CORPUS_H

#include "base/error.h"

/* The column that an option means: by name, ignoring case, or by number from 1; SIZE_MAX if there
 * is none. `reader` may be NULL: then there are no names. */
size_t tr_reader_column(const trellis_reader *reader, trellis_text name);
/* The column of the words: the one named word, form, token or tokens, else the first one. `reader`
 * may be NULL. SIZE_MAX if that is the label column. */
size_t tr_reader_word_column(const trellis_reader *reader, size_t label_column);

/* How the first sequence of a source was read: what a model has to know to read more of the
 * same. */
struct tr_input_shape {
    const char
        *format; // NULL: nothing was read. Sequences in memory are called what their file would be
    size_t columns;
    size_t label;         // from 1; 0: not a column
    char label_name[100]; // where the format names its columns; else empty
    char names
        [600]; // of the columns, separated by commas, if the format does not fix them; else empty
    bool by_tab;
};
void tr_reader_describe(const trellis_reader *reader, const trellis_sequence *sequence,
                        struct tr_input_shape *ret_shape);

/* Sequences of a part of a file (reader_range.c). The size of a file that can be read like that, else
 * 0; ... */
uint64_t tr_reader_size(const trellis_reader *reader);
/* ... where a sequence begins, `from` or behind it; ... */
trellis_status tr_reader_find_start(trellis_reader *reader, uint64_t from, uint64_t *ret_begin,
                                    trellis_error *error);
/* ... goes on with the bytes begin .. end-1, each of which is such a place, behind `line` lines, once
 * the first sequence of the file has been read; ... */
trellis_status tr_reader_take_range(trellis_reader *reader, uint64_t begin, uint64_t end,
                                    uint64_t line, trellis_error *error);
/* ... and the bytes and lines of the file before the next sequence. */
uint64_t tr_reader_offset(const trellis_reader *reader, uint64_t *ret_lines);

/* Whether two names are the same, ignoring the case of ASCII letters. */
bool tr_same_name(trellis_text a, const char *b);

/* The line of a token in the input: that of its row, or of the sequence if no row is the token
 * alone. A sequence without rows is taken to have a token per line. */
uint64_t tr_token_line(const trellis_sequence *sequence, size_t token);

/* What a source is called in messages. */
const char *tr_source_name(const trellis_source *source);
/* Whether it can be read a second time. */
bool tr_source_is_rereadable(const trellis_source *source);
/* Whether its sequences have ready-made attributes and no columns that templates could use. */
bool tr_source_is_ready_made(const trellis_source *source, const trellis_options *options);

/* Fails with the line of a token in front, or with its number, from 1, where there are no lines. */
trellis_status tr_fail_token(trellis_error *error, trellis_status status,
                             const trellis_sequence *sequence, size_t token, const char *format,
                             ...) __attribute__((format(printf, 5, 6)));

/* A caller's sequence in the size of the library; TRELLIS_OPTION if its struct_size is not set,
 * TRELLIS_DATA if an array is missing or offsets descend. */
trellis_status tr_sequence_take(const trellis_sequence *theirs, trellis_sequence *ret_sequence,
                                trellis_error *error);
/* Whether a sequence that a caller built can be read: arrays that belong together are there,
 * offsets ascend, numbers are finite. `number`, from 1, is for the message. */
trellis_status tr_sequence_check(const trellis_sequence *sequence, size_t number,
                                 trellis_error *error);

/* Reads all sequences from here on, ignoring --part. */
void tr_reader_take_all(trellis_reader *reader);

/* The name of a scheme; "none" for TRELLIS_NO_SCHEME. */
const char *tr_scheme_name(trellis_scheme scheme);

/* The scheme of a label set: IOBES or BILOU if their letters occur, IOB2 if there is B-, IOB1 if
 * there is only I-; TRELLIS_NO_SCHEME if some label is neither O nor X-TYPE. */
trellis_scheme tr_scheme_guess(const trellis_text *labels, size_t count);

/* Splits a label into its letter (B, I, E, S, O) and type. BILOU's L and U become E and S. "O" is
 * the letter 'O'; any other label without a letter and a dash gives 'B', the whole label as type,
 * and false. */
bool tr_label_split(trellis_text label, char *letter, trellis_text *type);

/* Whether a label is known in part only, with --partial: '_' is any label, A|B one of these. */
bool tr_label_is_open(trellis_text label);

/* The rules of conlleval: whether a span ends between two labels, or begins at the second one. */
bool tr_span_ends(char letter_before, trellis_text type_before, char letter, trellis_text type);
bool tr_span_begins(char letter_before, trellis_text type_before, char letter, trellis_text type);

#endif
