/* tokenize.h - tokens and sentences of running prose, cut as the Penn Treebank cuts them.
 *
 * The rules are those of docs/formats.md, "text", in its words and its order. Tokens are slices of the
 * text: nothing is changed, added or left out but blanks. Any bytes will do; those that are no UTF-8
 * count as letters. Time is linear in the text, memory constant.
 */
#ifndef TRELLIS_CORPUS_TOKENIZE_H
#define TRELLIS_CORPUS_TOKENIZE_H

#include "trellis.h"

/* Whether a sentence ends behind a token. */
enum tr_ending {
    TR_RUNS_ON,
    TR_MAY_END, // an abbreviation that stands at the end of sentences too: in front of "The" it ends
    TR_ENDS     // . ! ? and the like: in front of a capital, digit, quote or bracket it ends
};

struct tr_token {
    trellis_text text;
    bool spaced; // it begins the text, or a blank is in front of it
    bool last;   // of its sentence
    enum tr_ending ending;
};

/* Where a walk over a text is; begins as {.text = ...}. */
struct tr_prose {
    trellis_text text;
    size_t at;             // the end of the token handed out last
    enum tr_ending ending; // of the sentence so far
    bool quoted;           // the sentence so far has an odd number of straight quotes
};

/* The next token; false, and *token untouched, at the end of the text. That is the end of a sentence
 * as well. */
bool tr_prose_next(struct tr_prose *prose, struct tr_token *token);

/* Whether the end of this line is the end of a sentence, whatever comes behind it. */
bool tr_prose_ends_line(trellis_text line);

#endif
