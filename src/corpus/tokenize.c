/* tokenize.c - splits running text into tokens and sentences: English, by the rules of the Penn Treebank.
 *
 *     "Mr. O'Brien can't pay $3,000.50," he said. "So?"
 *     " Mr. O'Brien ca n't pay $ 3,000.50 , " he said .  |  " So ? "
 *
 * A token is found from its first character, with lookahead where needed: a walk has no other state
 * and may start anywhere. The lookahead is bounded, so that time stays linear: the name in an
 * e-mail address has at most 64 bytes, and a word at most two contractions.
 */
#include <utf8proc.h>

#include "corpus/tokenize_internal.h"

/* ---- lists of words -------------------------------------------------------------------------- */

/* Abbreviations that never end a sentence. */
static const char *const never_last[] = {
    "Adm", "Capt", "Cmdr", "Col",    "Dr",   "Drs", "Fr",  "Ft",   "Gen", "Gov",
    "Hon", "Lt",   "Maj",  "Messrs", "Mlle", "Mme", "Mr",  "Mrs",  "Ms",  "Msgr",
    "Mt",  "Pres", "Prof", "Rep",    "Reps", "Rev", "Sen", "Sens", "Sgt", "St",
    "Ste", "Supt", "ca",   "cf",     "e.g",  "i.e", "v",   "viz",  "vs",  NULL};

/* Abbreviations only before a number: "No. 5", but "No. I won't." */
static const char *const before_numbers[] = {"Ch",  "Fig", "Figs", "No", "Nos", "Sec", "Vol", "ch",
                                             "fig", "no",  "nos",  "p",  "pp",  "vol", NULL};

/* Abbreviations that may be the last word of a sentence. */
static const char *const may_be_last[] = {
    "Apr",  "Ariz", "Assn", "Aug", "Ave",    "Blvd", "Bros", "Calif", "Co",  "Colo", "Conn", "Corp",
    "Cos",  "Dec",  "Dept", "Esq", "Feb",    "Fla",  "Inc",  "Jan",   "Jr",  "Jul",  "Jun",  "Ltd",
    "Mar",  "Mich", "Minn", "Nov", "Oct",    "Okla", "Ph.D", "Rd",    "Sep", "Sept", "Sr",   "Tenn",
    "Univ", "Va",   "Wis",  "al",  "approx", "dept", "est",  "etc",   NULL};

/* Words that begin sentences and are rarely part of a name. */
static const char *const beginners[] = {
    "A",     "After", "All",     "Although", "An",    "And",  "As",   "At",    "Because",
    "But",   "By",    "Did",     "Do",       "Even",  "For",  "From", "He",    "Her",
    "His",   "How",   "However", "I",        "If",    "In",   "Is",   "It",    "Its",
    "Many",  "Most",  "My",      "No",       "Not",   "Now",  "On",   "One",   "Our",
    "She",   "Since", "So",      "Some",     "Still", "That", "The",  "Their", "Then",
    "There", "These", "They",    "This",     "Those", "To",   "Was",  "We",    "What",
    "When",  "Where", "Who",     "Why",      "With",  "Yet",  "You",  "Your",  NULL};

/* Words that begin with an apostrophe, in any case. */
static const char *const apostrophe_words[] = {"bout", "cause", "em",   "n",     "round",
                                               "til",  "tis",   "twas", "twere", NULL};

/* Contractions after the apostrophe, in any case; n't is one more. */
static const char *const contractions[] = {"s", "m", "d", "ll", "re", "ve", NULL};

/* ---- addresses ------------------------------------------------------------------------------- */

static bool is_mail_name(int32_t code)
{
    return is_ascii_letter(code) || is_ascii_digit(code) || code == '.' || code == '_' ||
           code == '%' || code == '+' || code == '-';
}

static bool is_host(int32_t code)
{
    return is_ascii_letter(code) || is_ascii_digit(code) || code == '.' || code == '-';
}

/* The end of the e-mail address that begins here, or `begin`. */
size_t tr_mail_end(trellis_text text, size_t begin)
{
    enum { NAME = 64, HOST = 255 };
    size_t at = begin;
    while (at - begin <= NAME && is_mail_name(code_at(text, at))) {
        at++;
    }
    if (code_at(text, at) != '@') {
        return begin;
    }
    size_t host = ++at, end = begin;
    for (bool dot = false; at - host <= HOST && is_host(code_at(text, at)); at++) {
        bool letter = text.data[at] != '.' && text.data[at] != '-';
        dot |= text.data[at] == '.' && at > host;
        end = dot && letter ? at + 1 : end;
    }
    return end;
}

/* The end of "www." or of a scheme and "://"; `begin` if there is neither. */
static size_t scheme_end(trellis_text text, size_t begin)
{
    enum { LONGEST = 16 };
    static const char *const www[] = {"www.", NULL};
    if (text.size - begin >= 4 && is_listed_in_any_case(slice(text, begin, begin + 4), www)) {
        return begin + 4;
    }
    size_t at = begin;
    while (at - begin < LONGEST && is_ascii_letter(code_at(text, at))) {
        at++;
    }
    return at > begin && tr_text_begins(slice(text, at, text.size), "://") ? at + 3 : begin;
}

/* The end of the URL that begins here, or `begin`. Punctuation at its end is not part of it, but
 * for a bracket that was opened within. */
size_t tr_url_end(trellis_text text, size_t begin)
{
    size_t least = scheme_end(text, begin), end = least;
    if (least == begin) {
        return begin;
    }
    size_t opened = 0, closed = 0;
    for (size_t next = end; next < text.size; end = next) {
        int32_t code = tr_utf8_next(text, &next);
        if (is_blank(code) || code == '<' || code == '>' || (is_quote(code) && code != '\'')) {
            break;
        }
        opened += code == '(';
        closed += code == ')';
    }
    for (; end > least && strchr(".,;:!?')]}", text.data[end - 1]); end--) {
        if (text.data[end - 1] == ')' && closed-- <= opened) {
            break;
        }
    }
    return end > least ? end : begin;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* The number of bytes of punctuation at `at` that join the characters around them to one word, or
 * 0. */
static size_t joint(trellis_text text, int32_t before, size_t at, enum tr_slash slash)
{
    static const int32_t joints[] = {'.', '\'', '-', '/', '&', 0x2019, 0x2010, 0x2011, 0xB7, 0};
    size_t next = at;
    int32_t code = tr_utf8_next(text, &next), after = code_at(text, next);
    if (code == '.' && after == '-' && is_word(code_at(text, next + 1))) {
        return 2; // U.S.-based
    }
    bool digits_only = code == ',' || code == ':' || (code == '/' && slash == TR_SLASH_OF_DIGITS);
    bool joins = digits_only ? is_ascii_digit(before) && is_ascii_digit(after)
                             : is_one_of(code, joints) && is_word(after);
    return joins ? next - at : 0;
}

/* The end of the word that begins here, contractions included. */
size_t tr_word_end(trellis_text text, size_t begin, enum tr_slash slash)
{
    size_t end = begin;
    for (int32_t before = 0; end < text.size;) {
        size_t next = end;
        int32_t code = tr_utf8_next(text, &next);
        size_t joined = is_word(code) ? next - end : before ? joint(text, before, end, slash) : 0;
        if (joined == 0) {
            break;
        }
        before = code;
        end += joined;
    }
    return end;
}

/* The beginning of the contraction at the end of a word, n't or after an apostrophe; else its
 * end. */
static size_t contraction(trellis_text text, size_t begin, size_t end)
{
    size_t at = end;
    while (at > begin && end - at < 2 && is_ascii_letter((unsigned char)text.data[at - 1])) {
        at--;
    }
    trellis_text letters = slice(text, at, end), mark;
    for (; letters.size > 0; letters.data++, letters.size--, at++) {
        trellis_text before = slice(text, begin, at);
        if (!tr_utf8_suffix(before, 1, &mark) || !is_apostrophe(code_at(mark, 0))) {
            continue;
        }
        size_t apostrophe = at - mark.size;
        if (is_listed_in_any_case(letters, contractions)) {
            return apostrophe;
        }
        bool n = apostrophe > begin && (text.data[apostrophe - 1] | 0x20) == 'n';
        return n && letters.size == 1 && (letters.data[0] | 0x20) == 't' ? apostrophe - 1 : end;
    }
    return end;
}

/* The end of a word's first token: the word without its contractions. */
static size_t stem_end(trellis_text text, size_t begin, size_t end)
{
    static const char *const cannot[] = {"cannot", NULL};
    for (int i = 0; i < 2; i++) {
        size_t cut = contraction(text, begin, end);
        end = cut > begin ? cut : end;
    }
    return is_listed_in_any_case(slice(text, begin, end), cannot) ? begin + 3 : end;
}

/* ---- abbreviations --------------------------------------------------------------------------- */

/* Whether a word that begins sentences is at `at`, possibly after opening quotes and brackets. An
 * initial is not such a word: "A. I. Smith". */
static bool is_beginner(trellis_text text, size_t at)
{
    size_t next = at;
    while (at < text.size) {
        int32_t code = tr_utf8_next(text, &next);
        if (!is_quote(code) && !is_opening_bracket(code)) {
            break;
        }
        at = next;
    }
    size_t end = tr_word_end(text, at, TR_SLASH_OF_ALL);
    return code_at(text, end) != '.' &&
           is_listed(slice(text, at, stem_end(text, at, end)), beginners);
}

/* U.S, a.m: letters with periods between them. */
bool tr_is_acronym(trellis_text word)
{
    size_t letters = 0;
    for (size_t at = 0; at < word.size; letters++) {
        if (letters > 0 && word.data[at++] != '.') {
            return false;
        }
        if (at == word.size || !is_letter(tr_utf8_next(word, &at))) {
            return false;
        }
    }
    return letters > 1;
}

bool tr_is_capital(trellis_text word)
{
    return tr_utf8_class(code_at(word, 0)) == TR_UPPER && tr_utf8_step(word, 0) == word.size;
}

/* A capital and a period are an initial unless the sentence ends there: "plan B. The". */
static bool is_initial(trellis_text text, size_t behind)
{
    int32_t code = code_at(text, behind);
    if (is_closing_quote(code) || is_closing_bracket(code)) {
        return false;
    }
    size_t next = skip_blanks(text, behind);
    return next < text.size && !(next > behind && is_beginner(text, next));
}

/* Whether the period at `period` belongs to the word from `begin`, and what it ends. */
static bool is_abbreviation(trellis_text text, size_t begin, size_t period,
                            enum tr_ending *ret_ending)
{
    trellis_text word = slice(text, begin, period);
    size_t behind = period + 1;
    *ret_ending = TR_RUNS_ON;
    if (tr_is_capital(word)) {
        return is_initial(text, behind);
    }
    const char *hyphen = memrchr(word.data, '-', word.size); // non-U.S., mid-Jan.
    if (hyphen) {
        word = slice(text, (size_t)(hyphen + 1 - text.data), period);
    }
    if (is_listed(word, never_last)) {
        return true;
    }
    if (is_listed(word, before_numbers)) {
        return is_ascii_digit(code_at(text, skip_blanks(text, behind)));
    }
    *ret_ending = TR_MAY_END;
    return is_listed(word, may_be_last) || tr_is_acronym(word);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* The end of the token that begins with a letter, digit or the like. */
static size_t word_token(trellis_text text, size_t begin, enum tr_ending *ret_ending)
{
    size_t end = tr_url_end(text, begin);
    if (end == begin) {
        end = tr_mail_end(text, begin);
    }
    if (end > begin) {
        return end;
    }
    size_t whole = tr_word_end(text, begin, TR_SLASH_OF_ALL);
    end = stem_end(text, begin, whole);
    if (end < whole || code_at(text, end) != '.' || code_at(text, end + 1) == '.') {
        return end;
    }
    enum tr_ending ending;
    if (is_abbreviation(text, begin, end, &ending)) {
        *ret_ending = ending;
        end++;
    }
    return end;
}

/* The end of 's, 'em or '90s; `begin` if the apostrophe is a quote. */
static size_t apostrophe_token(trellis_text text, size_t begin)
{
    size_t word = begin;
    tr_utf8_next(text, &word);
    size_t end = stem_end(text, begin, tr_word_end(text, word, TR_SLASH_OF_ALL));
    if (end == word) {
        return begin;
    }
    trellis_text rest = slice(text, word, end);
    bool decade = rest.size >= 2 && is_ascii_digit(rest.data[0]) && is_ascii_digit(rest.data[1]) &&
                  (rest.size == 2 || (rest.size == 3 && rest.data[2] == 's'));
    bool whole = decade || is_listed_in_any_case(rest, contractions) ||
                 is_listed_in_any_case(rest, apostrophe_words);
    return whole ? end : begin;
}

/* The end of a punctuation mark or symbol with what modifies it: a skin colour, the second half of
 * a flag. */
static size_t cluster_end(trellis_text text, size_t begin)
{
    size_t end = begin;
    int32_t code = tr_utf8_next(text, &end);
    utf8proc_int32_t state = 0;
    while (end < text.size && (unsigned char)text.data[end] >= 0x80) {
        size_t next = end;
        int32_t after = tr_utf8_next(text, &next);
        if (utf8proc_grapheme_break_stateful(code, after, &state)) {
            break;
        }
        code = after;
        end = next;
    }
    return end;
}

/* The end of a run of one character. */
static size_t run_end(trellis_text text, size_t begin)
{
    size_t end = begin, next = begin;
    int32_t code = tr_utf8_next(text, &next);
    do {
        end = next;
    } while (next < text.size && tr_utf8_next(text, &next) == code);
    return end;
}

size_t tr_mark_end(trellis_text text, size_t begin, int32_t code, enum tr_ending *ret_ending)
{
    size_t end;
    if (code == '.' || is_dash(code)) {
        end = run_end(text, begin);
    } else if ((code == '\'' || code == '`') && code_at(text, begin + 1) == code) {
        end = begin + 2;
    } else {
        end = cluster_end(text, begin);
    }
    bool ends = code == '.' || code == '!' || code == '?' || code == 0x2026;
    *ret_ending = ends ? TR_ENDS : TR_RUNS_ON;
    return end;
}

/* The same, with the words that begin with an apostrophe in English. */
static size_t mark_token(trellis_text text, size_t begin, int32_t code, enum tr_ending *ret_ending)
{
    size_t end = is_apostrophe(code) || code == 0x2018 ? apostrophe_token(text, begin) : begin;
    return end > begin ? end : tr_mark_end(text, begin, code, ret_ending);
}

bool tr_next_english(const struct tr_prose *prose, size_t *at, struct tr_token *token)
{
    trellis_text text = prose->text;
    size_t begin = skip_blanks(text, *at), end;
    if (begin == text.size) {
        return false;
    }
    *token = (struct tr_token){.spaced = begin > *at || begin == 0};
    int32_t code = code_at(text, begin);
    bool sign = token->spaced && (code == '-' || code == '+' || code == '.');
    if (is_word(code)) {
        end = word_token(text, begin, &token->ending);
    } else if (sign && is_ascii_digit(code_at(text, begin + 1))) {
        end = tr_word_end(text, begin + 1, TR_SLASH_OF_ALL); // -5, .50
    } else {
        end = mark_token(text, begin, code, &token->ending);
    }
    token->text = slice(text, begin, end);
    *at = end;
    return true;
}

/* ---- sentences ------------------------------------------------------------------------------- */

/* The code point that a token consists of, '' as a curly quote; else 0. */
static int32_t sole_code(trellis_text text)
{
    if (tr_text_is(text, "''")) {
        return 0x201D;
    }
    size_t at = 0;
    int32_t code = tr_utf8_next(text, &at);
    return at == text.size ? code : 0;
}

/* Whether a token after the end of a sentence still belongs to it: a closing bracket; a quote
 * without a blank before it; a closing quote between blanks, the straight one if a quote is
 * open. */
static bool is_closing(const struct tr_prose *prose, const struct tr_token *token, size_t behind)
{
    int32_t code = sole_code(token->text), next = code_at(prose->text, behind);
    if (is_closing_bracket(code)) {
        return true;
    }
    if (!token->spaced) {
        return is_quote(code);
    }
    bool at_end = skip_blanks(prose->text, behind) == prose->text.size;
    return is_closing_quote(code) && (at_end || (is_blank(next) && (code != '"' || prose->quoted)));
}

/* Whether a token can begin a sentence after . ! ? */
static bool can_begin(const struct tr_token *token)
{
    static const int32_t others[] = {'$', 0xA1, 0xA3, 0xA5, 0xBF, 0x20AC, 0};
    int32_t code = code_at(token->text, 0);
    enum tr_class class = tr_utf8_class(code);
    return class == TR_UPPER || class == TR_OTHER_LETTER || class == TR_DIGIT || is_quote(code) ||
           is_opening_bracket(code) || is_one_of(code, others);
}

static bool next_token(const struct tr_prose *prose, size_t *at, struct tr_token *token)
{
    switch (prose->tokenizer) {
    case TR_TOKENIZE_ROMANCE:
        return tr_next_romance(prose, at, token);
    case TR_TOKENIZE_WHITESPACE:
        return tr_next_whitespace(prose, at, token);
    case TR_TOKENIZE_UNICODE:
        return tr_next_unicode(prose, at, token);
    case TR_TOKENIZE_ENGLISH:
        break;
    }
    return tr_next_english(prose, at, token);
}

/* Whether the last token, after which the sentence may end, is the last one of its sentence. */
static bool ends_here(const struct tr_prose *prose)
{
    struct tr_token next;
    size_t behind = prose->at;
    if (!next_token(prose, &behind, &next)) {
        return true;
    }
    bool closing = is_closing(prose, &next, behind);
    if (prose->ending == TR_ENDS_ANYWHERE && !closing) {
        return true;
    }
    if (prose->ending == TR_RUNS_ON || !next.spaced || closing) {
        return false;
    }
    return prose->ending >= TR_ENDS ? can_begin(&next)
                                    : is_beginner(prose->text, behind - next.text.size);
}

bool tr_prose_next(struct tr_prose *prose, struct tr_token *token)
{
    size_t end = prose->at;
    if (!next_token(prose, &end, token)) {
        return false;
    }
    bool closing = prose->ending && is_closing(prose, token, end);
    prose->ending = token->ending ? token->ending : closing ? prose->ending : TR_RUNS_ON;
    prose->quoted ^= tr_text_is(token->text, "\"");
    prose->at = end;
    token->last = prose->ending ? ends_here(prose)
                                : skip_blanks(prose->text, end) == prose->text.size;
    if (token->last) {
        prose->ending = TR_RUNS_ON;
        prose->quoted = false;
    }
    return true;
}

enum tr_tokenizer tr_tokenizer_find(const char *name)
{
    static const char *const names[] = {[TR_TOKENIZE_ENGLISH] = "english",
                                        [TR_TOKENIZE_ROMANCE] = "romance",
                                        [TR_TOKENIZE_WHITESPACE] = "whitespace",
                                        [TR_TOKENIZE_UNICODE] = "unicode"};
    size_t found = TR_TOKENIZE_ENGLISH;
    for (size_t i = 0; i < TR_COUNT(names); i++) {
        found = strcmp(names[i], name) == 0 ? i : found;
    }
    return (enum tr_tokenizer)found;
}

bool tr_prose_ends_line(enum tr_tokenizer tokenizer, trellis_text line)
{
    if (tokenizer == TR_TOKENIZE_WHITESPACE) {
        return true;
    }
    trellis_text last;
    int32_t code = END_OF_TEXT;
    while (tr_utf8_suffix(line, 1, &last)) {
        code = code_at(last, 0);
        if (!is_blank(code) && !is_closing_quote(code) && !is_closing_bracket(code)) {
            break;
        }
        line.size -= last.size;
    }
    if (line.size == 0 || code != '.') {
        return line.size > 0 && (code == '!' || code == '?' || code == 0x2026);
    }
    enum { LONGEST = 8 }; // of never_last
    size_t end = line.size - 1, begin = end;
    while (begin > 0 && end - begin < LONGEST &&
           (is_ascii_letter((unsigned char)line.data[begin - 1]) || line.data[begin - 1] == '.')) {
        begin--;
    }
    return !is_listed(slice(line, begin, end), never_last);
}
