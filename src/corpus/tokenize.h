/* tokenize.h - splits running text into tokens and sentences, by the rules of several languages.
 *
 * The rules are those of docs/formats.md, "text", in the same order. Tokens are slices of the text:
 * nothing is changed or added, and only blanks are left out. Any bytes are accepted; those that are
 * not UTF-8 count as letters. Time is linear in the text, memory constant.
 */
#ifndef TRELLIS_CORPUS_TOKENIZE_H
#define TRELLIS_CORPUS_TOKENIZE_H

#include "trellis.h"

/* Whether a sentence ends after a token. */
enum tr_ending {
    TR_RUNS_ON,
    TR_MAY_END,      // an abbreviation that can also end a sentence: it does before "The"
    TR_ENDS,         // . ! ? and the like: ends before a capital, digit, quote or bracket
    TR_ENDS_ANYWHERE // the full stop of Chinese and Japanese: no blank follows
};

/* The values of --tokenizer. */
enum tr_tokenizer {
    TR_TOKENIZE_ENGLISH,
    TR_TOKENIZE_ROMANCE,
    TR_TOKENIZE_WHITESPACE,
    TR_TOKENIZE_UNICODE
};
enum tr_tokenizer tr_tokenizer_find(const char *name);

struct tr_token {
    trellis_text text;
    bool spaced; // it begins the text or follows a blank
    bool last;   // of its sentence
    enum tr_ending ending;
};

/* The state of a walk over a text; start with {.text = ...}. */
struct tr_prose {
    enum tr_tokenizer tokenizer;
    const char *breaks; // [text.size] of TR_TOKENIZE_UNICODE: whether a word begins or ends before
    trellis_text text;
    size_t at;             // the end of the last token
    enum tr_ending ending; // of the sentence so far
    bool quoted;           // the sentence so far has an odd number of straight quotes
};

/* The next token; false, with *token unchanged, at the end of the text, which also ends a
 * sentence. */
bool tr_prose_next(struct tr_prose *prose, struct tr_token *token);

/* Whether the end of this line ends a sentence, no matter what follows. */
bool tr_prose_ends_line(enum tr_tokenizer tokenizer, trellis_text line);

/* Fills in breaks [text.size] for TR_TOKENIZE_UNICODE. */
void tr_unicode_breaks(trellis_text text, char *breaks);

#endif
