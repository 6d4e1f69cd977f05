/* tokenize_unicode.c - the tokenisers that know no language: words by UAX #29, and blanks.
 *
 * Word boundaries are those of the Unicode Standard Annex #29, found by libunistring for a whole
 * passage at once. A token is what stands between two of them and is not blank. Bytes that are not
 * UTF-8 are tokens of their own. With --tokenizer whitespace a token is what stands between blanks,
 * and a line is a sentence.
 */
#include <uniwbrk.h>

#include "corpus/tokenize_internal.h"

void tr_unicode_breaks(trellis_text text, char *breaks)
{
    for (size_t at = 0; at < text.size;) {
        trellis_text rest = slice(text, at, text.size);
        size_t valid = tr_utf8_invalid(rest);
        if (valid) {
            u8_wordbreaks((const uint8_t *)rest.data, valid, breaks + at);
        }
        breaks[at] = 1;
        at += valid;
        if (at < text.size) {
            breaks[at++] = 1;
        }
        if (at < text.size) {
            breaks[at] = 1;
        }
    }
}

/* What ends a sentence: marks that a blank follows, and those of scripts without blanks. */
static enum tr_ending ending_of(int32_t code)
{
    static const int32_t ends[] = {'.', '!', '?', 0x2026, 0x61F, 0x6D4, 0x964, 0x203D, 0};
    static const int32_t anywhere[] = {0x3002, 0xFF01, 0xFF1F, 0xFF61, 0};
    return is_one_of(code, anywhere) ? TR_ENDS_ANYWHERE
           : is_one_of(code, ends)   ? TR_ENDS
                                     : TR_RUNS_ON;
}

bool tr_next_unicode(const struct tr_prose *prose, size_t *at, struct tr_token *token)
{
    trellis_text text = prose->text;
    size_t begin = skip_blanks(text, *at), end = begin + 1;
    if (begin == text.size) {
        return false;
    }
    while (end < text.size && !prose->breaks[end]) {
        end++;
    }
    *token = (struct tr_token){.text = slice(text, begin, end),
                               .spaced = begin > *at || begin == 0,
                               .ending = ending_of(code_at(text, begin))};
    *at = end;
    return true;
}

bool tr_next_whitespace(const struct tr_prose *prose, size_t *at, struct tr_token *token)
{
    trellis_text text = prose->text;
    size_t begin = skip_blanks(text, *at), end = begin;
    if (begin == text.size) {
        return false;
    }
    for (size_t next = end; next < text.size; end = next) {
        if (is_blank(tr_utf8_next(text, &next))) {
            break;
        }
    }
    *token = (struct tr_token){.text = slice(text, begin, end), .spaced = true};
    *at = end;
    return true;
}
