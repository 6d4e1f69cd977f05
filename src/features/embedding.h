/* embedding.h - vectors of words, searched in place.
 *
 * A table is one run of bytes, unaligned and hostile like those of resources.h:
 *
 *     u64 words, u64 dimensions; sorted u64 hash [words]; f32 component [words][dimensions]
 *
 * The components are those of the file, divided by the root mean square length of its vectors
 * (Turian, Ratinov and Bengio 2010 scale them too, to a standard deviation of 0.1): the attributes
 * of a word together weigh as much as one attribute of value 1, whatever the file's units and
 * number of dimensions, so that one penalty suits both.
 */
#ifndef TRELLIS_FEATURES_EMBEDDING_H
#define TRELLIS_FEATURES_EMBEDDING_H

#include "base/input.h"
#include "features/resources.h"

/* Each is a template of its own. */
enum { TR_MAX_DIMENSIONS = 1024 };

struct tr_embedding {
    uint64_t words;
    uint32_t dimensions;
    const char *hashes, *components;
};

/* Reads lines "word component component ...", after an optional line "words dimensions", as
 * word2vec writes them. */
trellis_status tr_embedding_load(struct tr_resource *resource, struct tr_input *input,
                                 trellis_error *error);

/* False if the table is none. */
bool tr_embedding_open(trellis_text table, struct tr_embedding *ret_embedding);
/* The row of a word's vector; false if it has none. */
bool tr_embedding_find(const struct tr_embedding *embedding, trellis_text word, uint64_t *ret_row);
/* A component, from 0; 0 where the table has no finite number. */
float tr_embedding_component(const struct tr_embedding *embedding, uint64_t row, uint32_t number);

#endif
