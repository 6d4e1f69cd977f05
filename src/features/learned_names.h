/* learned_names.h - the names and words of the training data and their types, for learned(); see
 * learned_names.c. */
#ifndef TRELLIS_FEATURES_LEARNED_NAMES_H
#define TRELLIS_FEATURES_LEARNED_NAMES_H

#include "base/hash.h"
#include "base/intern.h"
#include "base/memory.h"
#include "features/resources.h"

/* What a text is looked at as: a whole segment, or one word inside a span, the first, the last. */
enum tr_learned_role {
    TR_LEARNED_SEGMENT,
    TR_LEARNED_INSIDE,
    TR_LEARNED_FIRST,
    TR_LEARNED_LAST,
    TR_LEARNED_ROLES
};

/* Where a text occurs: in which sequence, and in its role in a span of which type; TR_NONE: anyhow. */
struct tr_sighting {
    uint64_t key;
    uint32_t sequence, type;
};

/* What is known of the texts of a view in a role while training. */
struct tr_learned_names {
    uint32_t view, resource;
    enum tr_learned_role role;
    struct tr_intern types;
    TR_ARRAY(struct tr_sighting) sightings;
    TR_ARRAY(uint64_t) names;             // keys of all texts that have the role, sorted
    TR_ARRAY(struct tr_table_text) final; // what is kept when training ends
    struct tr_intern answers;
};
void tr_learned_names_free(struct tr_learned_names *learned);
/* What they hold; *ret_working is about what making their table takes besides. */
size_t tr_learned_names_bytes(const struct tr_learned_names *learned, size_t *ret_working);

#endif
