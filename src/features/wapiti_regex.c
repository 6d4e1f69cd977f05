/* wapiti_regex.c - Wapiti's regular expressions, byte by byte as Wapiti matches them.
 *
 * For sets keyed by strings, which must give the same bytes as Wapiti. The dialect is that of
 * regex.c: x* takes as few characters as it can, x? one if it can, and there is no other
 * repetition. A match is searched from left to right. Its length is counted on the way, and a quirk
 * of Wapiti's is part of the answer: where x? took a character and what follows then failed after k
 * more, those k stay counted. The match then looks longer than it is, and may reach beyond the end
 * of the text.
 */
#include "features/compiled.h"

struct matcher {
    trellis_text text;
    uint64_t steps; // left; Wapiti itself would try for ever
};

static bool is_lower(unsigned char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(unsigned char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(unsigned char c)
{
    return is_lower(c) || is_upper(c) || is_digit(c);
}

/* Whether a character is in the class of a letter behind a backslash; any other letter is
 * itself. */
static bool in_class(char letter, unsigned char c)
{
    switch (letter) {
    case 'a':
        return is_lower(c) || is_upper(c);
    case 'd':
        return is_digit(c);
    case 'l':
        return is_lower(c);
    case 'p':
        return c > ' ' && c < 0x7F && !is_word(c);
    case 's':
        return c == ' ' || (c >= '\t' && c <= '\r');
    case 'u':
        return is_upper(c);
    case 'w':
        return is_word(c);
    case 'A':
    case 'D':
    case 'L':
    case 'P':
    case 'S':
    case 'U':
    case 'W':
        return !in_class((char)(letter | 0x20), c);
    default:
        return (unsigned char)letter == c;
    }
}

/* Whether the first character of an expression matches the one at a place of the text. */
static bool matches_one(const struct matcher *matcher, trellis_text regex, size_t at)
{
    if (at >= matcher->text.size) {
        return false;
    }
    unsigned char c = (unsigned char)matcher->text.data[at];
    return regex.data[0] == '.' ||
           (regex.data[0] == '\\' ? in_class(regex.data[1], c) : (unsigned char)regex.data[0] == c);
}

static trellis_text skip(trellis_text text, size_t count)
{
    return (trellis_text){text.data + count, text.size - count};
}

/* Whether the expression matches at a place; adds to *length. */
static bool matches_here(struct matcher *matcher, trellis_text regex, size_t at, size_t *length)
{
    while (regex.size > 0) {
        if (matcher->steps == 0) {
            return false;
        }
        matcher->steps--;
        if (regex.size == 1 && regex.data[0] == '$') {
            return at >= matcher->text.size;
        }
        trellis_text next = skip(regex, regex.data[0] == '\\' ? 2 : 1);
        if (next.size && next.data[0] == '*') {
            next = skip(next, 1);
            for (bool more = true; more && matcher->steps > 0; at++) {
                size_t before = *length;
                if (matches_here(matcher, next, at, length)) {
                    return true;
                }
                *length = before + 1;
                more = matches_one(matcher, regex, at);
            }
            return false;
        }
        if (next.size && next.data[0] == '?') {
            next = skip(next, 1);
            if (matches_one(matcher, regex, at)) {
                ++*length;
                if (matches_here(matcher, next, at + 1, length)) {
                    return true;
                }
                --*length;
            }
            regex = next;
            continue;
        }
        ++*length;
        if (!matches_one(matcher, regex, at)) {
            return false;
        }
        regex = next;
        at++;
    }
    return true;
}

bool tr_wapiti_regex_check(trellis_text regex, size_t *at)
{
    bool may_repeat = false;
    *at = 0;
    if (regex.size > TR_MAX_WAPITI_REGEX) {
        return false;
    }
    for (size_t i = regex.size && regex.data[0] == '^'; i < regex.size; i++) {
        *at = i;
        bool repeats = regex.data[i] == '*' || regex.data[i] == '?';
        if ((repeats && !may_repeat) || (regex.data[i] == '\\' && ++i == regex.size)) {
            return false;
        }
        may_repeat = !repeats;
    }
    return true;
}

bool tr_wapiti_regex_find(trellis_text regex, trellis_text text, trellis_text *ret_match,
                          bool *ret_overrun, uint64_t *steps)
{
    struct matcher matcher = {.text = text, .steps = *steps};
    bool found = false;
    bool anchored = regex.size && regex.data[0] == '^';
    regex = skip(regex, anchored);
    for (size_t at = 0; !found && at <= (anchored ? 0 : text.size) && matcher.steps > 0; at++) {
        size_t length = 0;
        found = matches_here(&matcher, regex, at, &length);
        if (found) {
            *ret_overrun = length > text.size - at;
            *ret_match = (trellis_text){text.data + at, *ret_overrun ? text.size - at : length};
        }
    }
    *steps = matcher.steps;
    return found;
}
