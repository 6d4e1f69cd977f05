/* learned_names.h - the names of the training data and their types, for learned(); see
 * learned_names.c. */
#ifndef TRELLIS_FEATURES_LEARNED_NAMES_H
#define TRELLIS_FEATURES_LEARNED_NAMES_H

#include "base/hash.h"
#include "base/intern.h"
#include "base/memory.h"
#include "features/resources.h"

/* Where a text occurs: in which sequence, and as a segment of which type; TR_NONE: anyhow. */
struct tr_sighting {
    uint64_t key;
    uint32_t sequence, type;
};

/* What is known of the segments of a view while training. */
struct tr_learned_names {
    uint32_t view, resource;
    struct tr_intern types;
    TR_ARRAY(struct tr_sighting) sightings;
    TR_ARRAY(uint64_t) names;             // keys of all gold segments, sorted
    TR_ARRAY(struct tr_table_text) final; // what is kept when training ends
    struct tr_intern answers;
};
void tr_learned_names_free(struct tr_learned_names *learned);

/* The key of a name as seen from a block of training sequences; block 0: from outside. */
static inline uint64_t tr_learned_key(uint64_t key, uint64_t block)
{
    return block ? tr_mix((struct tr_key){key, 0}, (struct tr_key){block, 0}).low : key;
}

#endif
