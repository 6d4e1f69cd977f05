/* regex.c - regular expressions by PCRE2, and Wapiti's small dialect put into its terms.
 *
 * Wapiti's dialect knows  .  \a \d \l \p \s \u \w  and their negations in capitals, \ before a
 *                                                  plain
 * character, * and ? after one, ^ at the beginning and $ at the end. Its * takes as little as it
 * can. Its classes are those of ASCII; its characters were bytes and are code points here.
 */
#include "features/compiled.h"

void tr_regex_compile(trellis_text pattern, pcre2_code **ret_code, char *reason, size_t room,
                      size_t *at)
{
    int code = 0;
    PCRE2_SIZE offset = 0;
    const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF |
                             PCRE2_NEVER_BACKSLASH_C;
    *ret_code = pcre2_compile((PCRE2_SPTR)(pattern.size ? pattern.data : ""), pattern.size, options,
                              &code, &offset, NULL);
    if (*ret_code) {
        pcre2_jit_compile(*ret_code, PCRE2_JIT_COMPLETE); // without it matching is slower, no more
        return;
    }
    *at = offset < pattern.size ? offset : pattern.size;
    if (code == PCRE2_ERROR_HEAP_FAILED) {
        reason[0] = '\0';
    } else if (pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, room) < 0 && room) {
        reason[0] = '\0';
    }
}

/* The inside of a PCRE2 class for one of Wapiti's letters, NULL for any other letter. */
static const char *wapiti_class(char letter)
{
    switch (letter | 0x20) {
    case 'a':
        return "a-zA-Z";
    case 'd':
        return "0-9";
    case 'l':
        return "a-z";
    case 'p':
        return "!-/:-@\\[-`{-~";
    case 's':
        return "\\x09-\\x0d\\x20";
    case 'u':
        return "A-Z";
    case 'w':
        return "a-zA-Z0-9";
    default:
        return NULL;
    }
}

static bool is_letter_or_digit(unsigned char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static void add_escaped(struct tr_buffer *buffer, unsigned char c)
{
    if (c >= 0x80 || is_letter_or_digit(c)) {
        tr_buffer_char(buffer, (char)c);
    } else {
        tr_buffer_format(buffer, "\\x%02x", c);
    }
}

static void add_class(struct tr_buffer *buffer, char letter)
{
    bool negated = letter >= 'A' && letter <= 'Z';
    tr_buffer_format(buffer, "[%s%s]", negated ? "^" : "", wapiti_class(letter));
}

bool tr_regex_from_wapiti(trellis_text pattern, struct tr_buffer *buffer, size_t *at)
{
    tr_buffer_string(buffer, "(?s)");
    size_t i = 0;
    bool may_repeat = false; // there is a character that * or ? could refer to
    if (pattern.size && pattern.data[0] == '^') {
        tr_buffer_string(buffer, "\\A");
        i++;
    }
    for (; i < pattern.size; i++) {
        char c = pattern.data[i];
        *at = i;
        if (c == '*' || c == '?') {
            if (!may_repeat) {
                return false;
            }
            tr_buffer_string(buffer, c == '*' ? "*?" : "?");
            may_repeat = false;
            continue;
        }
        may_repeat = true;
        if (c == '$' && i + 1 == pattern.size) {
            tr_buffer_string(buffer, "\\z");
        } else if (c == '.') {
            tr_buffer_char(buffer, '.');
        } else if (c == '\\' && i + 1 == pattern.size) {
            return false;
        } else if (c == '\\' && is_letter_or_digit((unsigned char)pattern.data[i + 1]) &&
                   wapiti_class(pattern.data[i + 1])) {
            add_class(buffer, pattern.data[++i]);
        } else {
            i += c == '\\';
            add_escaped(buffer, (unsigned char)pattern.data[i]);
        }
    }
    return true;
}
