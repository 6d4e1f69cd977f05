/* marks.h - where a text has tabs, colons and backslashes: a bit for each byte.
 *
 * A row of ready-made attributes has a dozen fields of a dozen bytes. Looking for the end of each by
 * itself costs a call and a mispredicted branch; here 64 bytes are compared at once, and what
 * follows goes from one set bit to the next:
 *
 *     tr_marks_set()  ->  tr_mark(), tr_mark_pass(), tr_mark(), ...
 */
#ifndef TRELLIS_CORPUS_MARKS_H
#define TRELLIS_CORPUS_MARKS_H

#include "base/memory.h"
#include "trellis.h"

enum { TR_MARK_BITS = 64 };

struct tr_marks {
    TR_ARRAY(uint64_t) words; // the last one is a sentinel, with all bits set
};

/* Marks the bytes of the text; false if there is no memory. */
bool tr_marks_set(struct tr_marks *marks, trellis_text text);

/* A walk over the marks, in order. */
struct tr_mark_walk {
    const uint64_t *word;
    uint64_t bits; // of *word, those not passed
    size_t begin;  // the offset of its first bit
};

static inline struct tr_mark_walk tr_marks_walk(const struct tr_marks *marks)
{
    return (struct tr_mark_walk){marks->words.at, marks->words.at[0], 0};
}

/* The offset of the next mark; at least the size of the text if there are no more. */
static inline size_t tr_mark(struct tr_mark_walk *walk)
{
    while (walk->bits == 0) {
        walk->bits = *++walk->word;
        walk->begin += TR_MARK_BITS;
    }
    return walk->begin + (size_t)__builtin_ctzll(walk->bits);
}

/* Passes the mark that tr_mark() gave, which is one of the text. */
static inline void tr_mark_pass(struct tr_mark_walk *walk)
{
    walk->bits &= walk->bits - 1;
}

#endif
