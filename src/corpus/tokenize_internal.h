/* tokenize_internal.h - what the tokenisers share: classes of characters, lists of words, and the
 * tokens that are the same in all languages. For the files tokenize*.c. */
#ifndef TRELLIS_CORPUS_TOKENIZE_INTERNAL_H
#define TRELLIS_CORPUS_TOKENIZE_INTERNAL_H

#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"
#include "corpus/tokenize.h"

enum { END_OF_TEXT = -1 };

/* The code point at an offset. */
static inline int32_t code_at(trellis_text text, size_t at)
{
    return at < text.size ? tr_utf8_next(text, &at) : END_OF_TEXT;
}

static inline bool is_one_of(int32_t code, const int32_t *set)
{
    while (*set && *set != code) {
        set++;
    }
    return *set != 0;
}

/* The ends of lines are blanks here. */
static inline bool is_blank(int32_t code)
{
    return code < 0x80 ? code == ' ' || (code >= '\t' && code <= '\r')
                       : tr_utf8_class(code) == TR_SPACE;
}

static inline bool is_ascii_letter(int32_t code)
{
    return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}

static inline bool is_ascii_digit(int32_t code)
{
    return code >= '0' && code <= '9';
}

static inline bool is_letter(int32_t code)
{
    return code >= 0 && tr_utf8_class(code) <= TR_OTHER_LETTER;
}

/* Word characters: all but blanks, punctuation marks and symbols. Combining accents belong here,
 * and so do bytes that are not UTF-8. */
static inline bool is_word(int32_t code)
{
    if (code >= 0x80) {
        enum tr_class class = tr_utf8_class(code);
        return class <= TR_DIGIT || class == TR_OTHER;
    }
    return is_ascii_letter(code) || is_ascii_digit(code) || code == '_' || code == 0x7F ||
           (code >= 0 && code < ' ' && !is_blank(code));
}

static inline bool is_apostrophe(int32_t code)
{
    return code == '\'' || code == 0x2019;
}

/* The hyphen, figure dash to horizontal bar, and the minus sign. */
static inline bool is_dash(int32_t code)
{
    return code == '-' || (code >= 0x2012 && code <= 0x2015) || code == 0x2212;
}

static inline bool is_closing_bracket(int32_t code)
{
    return code == ')' || code == ']' || code == '}';
}

static inline bool is_opening_bracket(int32_t code)
{
    return code == '(' || code == '[' || code == '{';
}

static inline bool is_quote(int32_t code)
{
    static const int32_t quotes[] = {'"',    '\'',   '`',    0xAB,   0xBB,   0x2018, 0x2019,
                                     0x201A, 0x201C, 0x201D, 0x201E, 0x2039, 0x203A, 0};
    return is_one_of(code, quotes);
}

/* Quotes that may close: not those that only open in English. */
static inline bool is_closing_quote(int32_t code)
{
    static const int32_t quotes[] = {'"', '\'', 0xBB, 0x2019, 0x201D, 0x203A, 0};
    return is_one_of(code, quotes);
}

static inline size_t skip_blanks(trellis_text text, size_t at)
{
    size_t next = at;
    while (at < text.size && is_blank(tr_utf8_next(text, &next))) {
        at = next;
    }
    return at;
}

static inline bool is_listed(trellis_text word, const char *const *list)
{
    while (*list && !tr_text_is(word, *list)) {
        list++;
    }
    return *list != NULL;
}

static inline bool is_listed_in_any_case(trellis_text word, const char *const *list)
{
    char lower[8]; // the longest has six letters
    if (word.size > sizeof lower) {
        return false;
    }
    for (size_t i = 0; i < word.size; i++) {
        bool capital = word.data[i] >= 'A' && word.data[i] <= 'Z';
        lower[i] = (char)(capital ? word.data[i] | 0x20 : word.data[i]);
    }
    return is_listed((trellis_text){lower, word.size}, list);
}

static inline trellis_text slice(trellis_text text, size_t begin, size_t end)
{
    return (trellis_text){text.data + begin, end - begin};
}

/* The end of the e-mail address or of the URL that begins here, or `begin`. */
size_t tr_mail_end(trellis_text text, size_t begin);
size_t tr_url_end(trellis_text text, size_t begin);
/* What a slash joins to one word: anything (and/or), or digits only (12/05/2019). */
enum tr_slash { TR_SLASH_OF_ALL, TR_SLASH_OF_DIGITS };
/* The end of the word that begins here: letters, digits, and marks that join them. */
size_t tr_word_end(trellis_text text, size_t begin, enum tr_slash slash);
/* The end of the token that begins with a punctuation mark or symbol, in any language. */
size_t tr_mark_end(trellis_text text, size_t begin, int32_t code, enum tr_ending *ret_ending);
/* U.S, a.m: letters with periods between them. */
bool tr_is_acronym(trellis_text word);
/* Whether a word is a single capital. */
bool tr_is_capital(trellis_text word);

/* The next token of each tokeniser; false at the end of the text. */
bool tr_next_english(const struct tr_prose *prose, size_t *at, struct tr_token *token);
bool tr_next_romance(const struct tr_prose *prose, size_t *at, struct tr_token *token);
bool tr_next_whitespace(const struct tr_prose *prose, size_t *at, struct tr_token *token);
bool tr_next_unicode(const struct tr_prose *prose, size_t *at, struct tr_token *token);

#endif
