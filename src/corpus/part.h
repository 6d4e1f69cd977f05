/* part.h - which sequences of a corpus are read: all, or those of a part. */
#ifndef TRELLIS_CORPUS_PART_H
#define TRELLIS_CORPUS_PART_H

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"

/* One of `of` parts, or all but that one. */
struct tr_corpus_part {
    uint32_t number, of; // number from 0
    bool without;
    uint64_t seed, seen; // sequences so far
    uint32_t *order;     // [of] the parts that the sequences of this block belong to
};

/* In sequence: each divides what the one before selects. */
struct tr_corpus_parts {
    TR_ARRAY(struct tr_corpus_part) list;
};

/* Parses K/N and !K/N, several separated by commas; else TRELLIS_OPTION. */
trellis_status tr_corpus_parts_parse(struct tr_corpus_parts *parts, const char *text, uint64_t seed,
                                     trellis_error *error);
void tr_corpus_parts_free(struct tr_corpus_parts *parts);
/* Whether the next sequence is selected. */
bool tr_corpus_parts_take(struct tr_corpus_parts *parts);

#endif
