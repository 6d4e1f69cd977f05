/* tokenize_romance.c - French, Italian and Catalan: elision, clitics behind a verb, numbers.
 *
 *     Qu'a-t-il dit aujourd'hui ? L'an dernier, 1 500 personnes... Dell'Italia.
 *     Qu' a -t-il dit aujourd'hui ?  |  L' an dernier , 1 500 personnes ...  |  Dell' Italia .
 *
 * A word that lost its last vowel keeps the apostrophe and is a token (l', qu', dell'); only words
 * of a list are split, so that aujourd'hui and O'Brien stay whole. A pronoun that follows its verb
 * after a hyphen is a token with the hyphen, as in the French treebanks of Universal Dependencies.
 * Blanks between groups of three digits are part of the number.
 */
#include "corpus/tokenize_internal.h"

/* What stands before the apostrophe of an elision, in any case: French, then Italian and Catalan. */
static const char *const elided[] = {
    "c",      "d",      "j",      "l",    "m",      "n",    "qu",    "s",      "t",     "jusqu",
    "lorsqu", "puisqu", "quoiqu", "all",  "anch",   "bell", "coll",  "com",    "dall",  "degl",
    "dell",   "dov",    "gl",     "mezz", "neanch", "nell", "nient", "nessun", "quand", "quell",
    "quest",  "sant",   "senz",   "sull", "tutt",   "un",   "v",     NULL};

/* Words that look like an elision but are whole. */
static const char *const whole[] = {"c'est-à-dire", "l'on", NULL};

/* Pronouns that follow a verb after a hyphen. */
static const char *const clitics[] = {
    "-je", "-tu",   "-il",     "-elle", "-on",    "-nous",    "-vous", "-ils", "-elles",
    "-ce", "-moi",  "-toi",    "-lui",  "-leur",  "-le",      "-la",   "-les", "-en",
    "-y",  "-t-il", "-t-elle", "-t-on", "-t-ils", "-t-elles", NULL};
/* Words that end like one. */
static const char *const not_clitics[] = {"rendez-vous", "chez-moi",  "chez-toi",     "chez-lui",
                                          "chez-nous",   "chez-vous", "garde-à-vous", NULL};

/* Abbreviations that never end a sentence, that stand before a number, and others. */
static const char *const never_last[] = {"M",   "MM",  "Mme", "Mmes", "Mlle", "Mlles", "Me",  "Mgr",
                                         "Dr",  "Drs", "Pr",  "Prof", "St",   "Ste",   "Sr",  "Sra",
                                         "Sig", "cf",  "av",  "bd",   "ex",   "dott",  "ing", NULL};
static const char *const before_numbers[] = {"art", "Art", "Vol",  "p",   "pp",  "vol", "n", "N",
                                             "no",  "No",  "chap", "fig", "Fig", "tél", NULL};
static const char *const may_be_last[] = {"etc", "ecc", "c-à-d", "apr", "env", "hab", NULL};

static bool equals_in_lower_case(trellis_text word, const char *lower)
{
    size_t at = 0, i = 0;
    trellis_text other = tr_text(lower);
    while (at < word.size && i < other.size) {
        int32_t a = tr_utf8_lower(tr_utf8_next(word, &at)), b = tr_utf8_next(other, &i);
        if (a != b && !(is_apostrophe(a) && b == '\'')) {
            return false;
        }
    }
    return at == word.size && i == other.size;
}

static bool is_in(trellis_text word, const char *const *list)
{
    while (*list && !equals_in_lower_case(word, *list)) {
        list++;
    }
    return *list != NULL;
}

/* The text up to a few characters behind `begin`, where a listed word that begins there ends. Only
 * so much is read before a piece is split off a word, so that a long one takes linear time. */
static trellis_text nearby(trellis_text text, size_t begin)
{
    enum { LONGEST = 64 };
    size_t end = begin + LONGEST;
    return slice(text, 0, end < text.size ? end : text.size);
}

/* The end of the elided word at the beginning of a word, apostrophe included, whatever follows it;
 * else `begin`. */
static size_t elision_end(trellis_text text, size_t begin)
{
    enum { LONGEST = 8 };
    for (size_t at = begin; at < text.size && at - begin < LONGEST;) {
        size_t next = at;
        int32_t code = tr_utf8_next(text, &next);
        if (is_apostrophe(code)) {
            return at > begin && is_in(slice(text, begin, at), elided) ? next : begin;
        }
        at = next;
    }
    return begin;
}

/* The beginning of the clitic at the end of a word; else its end. */
static size_t clitic_begin(trellis_text text, size_t begin, size_t end)
{
    if (is_in(slice(text, begin, end), not_clitics)) {
        return end;
    }
    size_t found = end;
    for (size_t at = begin + 1; found == end && at + 1 < end; at++) {
        if (text.data[at] == '-' && is_in(slice(text, at, end), clitics)) {
            found = at;
        }
    }
    return found;
}

/* The end of a number whose groups of three digits have blanks between them: 10 000. */
static size_t number_end(trellis_text text, size_t begin)
{
    size_t end = begin;
    while (end < text.size && end - begin < 3 && is_ascii_digit(text.data[end])) {
        end++;
    }
    for (size_t groups = 0; end > begin; groups++) {
        size_t next = end;
        int32_t blank = next < text.size ? tr_utf8_next(text, &next) : END_OF_TEXT;
        bool three = (blank == ' ' || blank == 0xA0 || blank == 0x202F) &&
                     is_ascii_digit(code_at(text, next)) &&
                     is_ascii_digit(code_at(text, next + 1)) &&
                     is_ascii_digit(code_at(text, next + 2)) &&
                     !is_ascii_digit(code_at(text, next + 3));
        if (!three) {
            return groups ? end : begin;
        }
        end = next + 3;
    }
    return begin;
}

/* J.-P: initials with a hyphen. */
static bool has_initial(trellis_text word)
{
    return word.size >= 4 && memcmp(word.data + word.size - 3, ".-", 2) == 0 &&
           tr_is_capital(slice(word, word.size - 1, word.size));
}

/* Whether the period behind a word belongs to it, and what it ends. */
static bool is_abbreviation(trellis_text text, size_t begin, size_t period,
                            enum tr_ending *ret_ending)
{
    trellis_text word = slice(text, begin, period);
    size_t next = skip_blanks(text, period + 1);
    *ret_ending = TR_RUNS_ON;
    if (tr_is_capital(word) || is_listed(word, never_last)) {
        return next < text.size;
    }
    if (is_listed(word, before_numbers)) {
        return is_ascii_digit(code_at(text, next));
    }
    if (has_initial(word)) {
        return true;
    }
    *ret_ending = TR_MAY_END;
    return is_listed(word, may_be_last) || tr_is_acronym(word);
}

/* The end of the digits before the h of a time of day, 10h30 or 15h; else `begin`. */
static size_t hour_end(trellis_text text, size_t begin)
{
    size_t end = begin;
    while (end - begin < 2 && is_ascii_digit(code_at(text, end))) {
        end++;
    }
    bool hour = end > begin && code_at(text, end) == 'h' && !is_letter(code_at(text, end + 1));
    return hour ? end : begin;
}

/* The end of a word. A slash joins digits only (12/05/2019, but mg / kg); a degree sign belongs to
 * what it stands with (n°); so does an ending in brackets, as in traité(e)s. */
static size_t word_end(trellis_text text, size_t begin)
{
    static const char *const endings[] = {"(s)", "(S)", "(e)", "(E)", "(es)", "(ES)", "(x)", NULL};
    if (text.data[begin] == 'h' && is_ascii_digit(code_at(text, begin + 1))) {
        return begin + 1; // of 10h30, whose digits are a token before
    }
    size_t end = tr_word_end(text, begin, TR_SLASH_OF_DIGITS);
    if (code_at(text, end) == 0xB0 && end == begin + 1 && (text.data[begin] | 0x20) == 'n') {
        return end + 2;
    }
    for (size_t i = 0; endings[i]; i++) {
        size_t size = strlen(endings[i]);
        if (text.size - end >= size && memcmp(text.data + end, endings[i], size) == 0) {
            return end + size;
        }
    }
    return end;
}

static size_t word_token(trellis_text text, size_t begin, enum tr_ending *ret_ending)
{
    size_t end = tr_url_end(text, begin);
    end = end > begin ? end : tr_mail_end(text, begin);
    end = end > begin ? end : number_end(text, begin);
    end = end > begin ? end : hour_end(text, begin);
    if (end > begin) {
        return end;
    }
    end = elision_end(text, begin);
    if (end > begin) {
        size_t last = word_end(nearby(text, begin), begin);
        return is_in(slice(text, begin, last), whole) ? last : end;
    }
    size_t last = word_end(text, begin);
    end = clitic_begin(text, begin, last);
    if (end < last || code_at(text, end) != '.' || code_at(text, end + 1) == '.') {
        return end;
    }
    enum tr_ending ending;
    if (is_abbreviation(text, begin, end, &ending)) {
        *ret_ending = ending;
        end++;
    }
    return end;
}

/* The clitic that begins with this hyphen, right behind a word; else `begin`. */
static size_t clitic_end(trellis_text text, size_t begin)
{
    text = nearby(text, begin);
    size_t end = begin + 1 < text.size ? tr_word_end(text, begin + 1, TR_SLASH_OF_ALL) : begin;
    return end > begin + 1 && is_in(slice(text, begin, end), clitics) ? end : begin;
}

bool tr_next_romance(const struct tr_prose *prose, size_t *at, struct tr_token *token)
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
        end = tr_word_end(text, begin + 1, TR_SLASH_OF_ALL);
    } else {
        end = code == '-' && !token->spaced ? clitic_end(text, begin) : begin;
        if (code == 0xB0 && (code_at(text, begin + 2) == 'C' || code_at(text, begin + 2) == 'F') &&
            !is_word(code_at(text, begin + 3))) {
            end = begin + 3; // degrees
        }
        end = end > begin ? end : tr_mark_end(text, begin, code, &token->ending);
    }
    token->text = slice(text, begin, end);
    *at = end;
    return true;
}
