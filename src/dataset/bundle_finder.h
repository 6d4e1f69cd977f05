/* bundle_finder.h - the search for the bundles of a corpus; for bundle_finder.c and the files it
 * calls. */
#ifndef TRELLIS_DATASET_BUNDLE_FINDER_H
#define TRELLIS_DATASET_BUNDLE_FINDER_H

#include "base/ranks.h"
#include "dataset/bundles.h"

/* Bundles, and attributes that imply others, occur at least this often. */
enum { TR_BUNDLE_LEAST_COUNT = 16 };

#define TR_BUNDLE ((uint32_t)1 << 31) // of a symbol: a set of attributes, not a single one

struct tr_bundle_set {
    uint32_t begin, size; // in `members`
    uint32_t count;       // tokens that have it
    uint32_t bundle;      // its number, TR_NONE where it is none
    uint64_t hash;
};

struct tr_bundle_finder {
    const struct tr_occurrences *occurrences;
    const struct tr_rows *rows;
    size_t tokens;
    const size_t *part; // [parts + 1] the first token of each part (bundle_turns.c)
    size_t parts;
    struct tr_ranks *ranks; // each has some of the tokens; NULL: all are here
    uint32_t *count;        // [attributes] tokens that have it
    uint32_t *first;        // [attributes] where the candidates of it begin (tr_bundle_candidates)
    uint64_t *mask;         // [attributes] which of these it implies
    uint8_t *many;          // [attributes] how many these are
    uint32_t *stamp;        // [attributes] token + 1 while a token's attribute is not taken
    TR_ARRAY(struct tr_bundle_set) sets;
    TR_ARRAY(uint32_t) members;
    TR_ARRAY(uint32_t) slots; // set + 1, or 0; a power of two
    /* The tokens in symbols: an attribute, or TR_BUNDLE + a set. */
    TR_ARRAY(uint32_t) symbol;
    uint32_t *symbol_begin; // [tokens + 1]
    uint32_t kept, kept_members;
    TR_ARRAY(uint32_t) candidates; // with ranks: copies, as the first token may be another's
    struct tr_occurrences parts_of_segments; // its own `occurrences`, where there are segments
};

/* The attributes of the first token that has an attribute. */
static inline const uint32_t *tr_bundle_candidates(const struct tr_bundle_finder *x,
                                                   uint32_t attribute)
{
    return (x->ranks ? x->candidates.at : x->occurrences->attribute.at) + x->first[attribute];
}

/* ---- bundle_sets.c -------------------------------------------------------------------------- */

/* What implies what, by the tokens of a part that are here; false on allocation failure. */
bool tr_bundle_imply(struct tr_bundle_finder *x, size_t part);
/* Divides the tokens of a part that are here; false on allocation failure. */
bool tr_bundle_divide(struct tr_bundle_finder *x, size_t part);
/* Counts the set whose members are the last of `members`, from `begin` on: where it is known they
 * are removed again. False on allocation failure. */
bool tr_bundle_count(struct tr_bundle_finder *x, uint32_t begin, uint32_t *ret_set);

/* ---- bundle_turns.c ------------------------------------------------------------------------- */

/* The same by the tokens of all ranks; false on failure. */
bool tr_bundle_imply_all(struct tr_bundle_finder *x);
bool tr_bundle_divide_all(struct tr_bundle_finder *x);

#endif
