/* marks.c - where a text has tabs, colons and backslashes: a bit for each byte. */
#include "corpus/marks.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

enum { STEP = 16 };

/* The marks of sixteen bytes. */
static inline uint64_t mark_step(const char *at)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)at);
    __m128i found = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')),
                                              _mm_cmpeq_epi8(bytes, _mm_set1_epi8(':'))),
                                 _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    return (uint64_t)(unsigned)_mm_movemask_epi8(found);
}

#else

enum { STEP = 1 };

static inline uint64_t mark_step(const char *at)
{
    return *at == '\t' || *at == ':' || *at == '\\';
}

#endif

static inline uint64_t mark_word(const char *at)
{
    uint64_t word = 0;
    for (int i = 0; i < TR_MARK_BITS; i += STEP) {
        word |= mark_step(at + i) << i;
    }
    return word;
}

bool tr_marks_set(struct tr_marks *marks, trellis_text text)
{
    size_t whole = text.size / TR_MARK_BITS, rest = text.size % TR_MARK_BITS;
    if (!tr_reserve(&marks->words, whole + 2)) {
        return false;
    }
    uint64_t *words = marks->words.at;
    for (size_t i = 0; i < whole; i++) {
        words[i] = mark_word(text.data + i * TR_MARK_BITS);
    }
    char last[TR_MARK_BITS] = {0}; // so that nothing is read behind the text
    if (rest) {
        memcpy(last, text.data + whole * TR_MARK_BITS, rest);
    }
    words[whole] = mark_word(last);
    words[whole + 1] = UINT64_MAX;
    marks->words.size = whole + 2;
    return true;
}
