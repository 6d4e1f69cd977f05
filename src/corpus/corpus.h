/* corpus.h - what the library itself wants to know of a reader, beside the public header. */
#ifndef TRELLIS_CORPUS_CORPUS_H
#define TRELLIS_CORPUS_CORPUS_H

#include "base/error.h"

/* The column of the label, SIZE_MAX where there is none or it is not known yet. It is known after the
 * first sequence has been read. */
size_t tr_reader_label_column(const trellis_reader *reader);

/* The column that a person means: by name, whatever the case, or by its number from 1; SIZE_MAX where there
 * is none. `reader` may be NULL: there are no names. */
size_t tr_reader_column(const trellis_reader *reader, trellis_text name);
/* The column of the words: the one named word, form, token or tokens, else the first one. `reader` may
 * be NULL. SIZE_MAX if that is the label column. */
size_t tr_reader_word_column(const trellis_reader *reader, size_t label_column);

/* Whether two names are the same, ignoring the case of ASCII letters. */
bool tr_same_name(trellis_text a, const char *b);

/* The line of a token in the input; that of its sequence if the rows of the sequence do not tell. */
uint64_t tr_token_line(const trellis_sequence *sequence, size_t token);

/* Whatever --part says, from here on all sequences are read. */
void tr_reader_take_all(trellis_reader *reader);

/* The name of a scheme; "none" for TRELLIS_NO_SCHEME. */
const char *tr_scheme_name(trellis_scheme scheme);

/* Which scheme a label set is written in, judged from all its labels: IOBES or BILOU where their
 * letters occur, IOB2 where there are B- and I- (or B- alone), IOB1 where there is only I-;
 * TRELLIS_NO_SCHEME where some label is neither O nor X-TYPE. */
trellis_scheme tr_scheme_guess(const trellis_text *labels, size_t count);

/* How a label is read: its letter (B, I, E, S, O) and type. BILOU's L and U become E and S. A label
 * without a letter and a dash is letter 'O' where it is "O", else 'B' with the whole label as type and
 * false is returned. */
bool tr_label_split(trellis_text label, char *letter, trellis_text *type);

/* The rules of conlleval: whether a span ends between two labels, or begins at the second one. */
bool tr_span_ends(char letter_before, trellis_text type_before, char letter, trellis_text type);
bool tr_span_begins(char letter_before, trellis_text type_before, char letter, trellis_text type);

#endif
