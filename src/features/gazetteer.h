/* gazetteer.h - lists of names of one or more words, with a type each, searched in place.
 *
 * A table is one run of bytes, unaligned and hostile like those of resources.h:
 *
 *     u64 types, u64 longest; u32 end [types]; the names of the types, one after the other;
 *     sorted u64 hashes
 *
 * The words w_1 .. w_m of an entry, as hashes, are chained to h_k = mix(h_{k-1}, w_k), h_0 = 0. The
 * hashes hold h_1 .. h_{m-1}, so that a search knows where to go on, and mix(h_m, 1 + t), the end
 * of an entry of type t.
 */
#ifndef TRELLIS_FEATURES_GAZETTEER_H
#define TRELLIS_FEATURES_GAZETTEER_H

#include "base/hash.h"
#include "base/input.h"
#include "features/resources.h"

/* The most types that a template can be expanded to. */
enum { TR_MAX_TYPES = 64 };

struct tr_gazetteer {
    uint32_t types;
    uint64_t longest; // words of an entry
    const char *ends; // u32 [types]
    trellis_text names, hashes;
};

/* Reads lines "type TAB entry", or "entry" with no type; words are separated by blanks. */
trellis_status tr_gazetteer_load(struct tr_resource *resource, struct tr_input *input,
                                 trellis_error *error);
/* The hash of a word, never 0. */
static inline uint64_t tr_gazetteer_word(trellis_text word)
{
    uint64_t hash = tr_hash(word).low;
    return hash + (hash == 0);
}

/* False if the table is none. */
bool tr_gazetteer_open(trellis_text table, struct tr_gazetteer *ret_gazetteer);
trellis_text tr_gazetteer_type(const struct tr_gazetteer *gazetteer, uint32_t type);
/* Where the words are in entries of a type: from left to right the longest match, then on behind
 * it. `words` are hashes, 0 where there is no word; each place becomes B, I, E, S or 0. */
void tr_gazetteer_match(const struct tr_gazetteer *gazetteer, uint32_t type, const uint64_t *words,
                        size_t count, char *places);

#endif
