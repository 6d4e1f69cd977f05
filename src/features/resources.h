/* resources.h - word lists, clusters, gazetteers, embeddings and counted words, as tables that are
 * searched in place.
 *
 * A table is one run of bytes that may come straight from a mapped model, unaligned and hostile: it
 * is read with memcpy, and every index in it is checked when it is used.
 *
 *     word list, counted words   sorted u64 hashes
 *     clusters                   u64 words, u64 paths; sorted u64 hash [words]; u32 path [words];
 *                                u32 end [paths]; the paths, one after the other
 *     gazetteers, embeddings     see gazetteer.h, embedding.h
 *     learned names, filters     as clusters: texts by hash (learned_names.c, segment_filter.c)
 */
#ifndef TRELLIS_FEATURES_RESOURCES_H
#define TRELLIS_FEATURES_RESOURCES_H

#include "base/text.h"

/* The most words of a name or an entry: a file of one endless line is not read to its end, and a
 * search for the longest match stays linear in the length of the sequence. */
enum { TR_MAX_ENTRY_WORDS = 1000 };

enum tr_resource_kind {
    TR_WORDS,
    TR_LOWER_WORDS,
    TR_CLUSTERS,
    TR_COUNTED, // words seen more often than a limit
    TR_KNOWN,   // the same while training, all words seen afterwards
    TR_NAMES,   // of several words (name_list.h)
    TR_GAZETTEER,
    TR_LOWER_GAZETTEER,
    TR_LEARNED, // names of the training data (learned_names.c)
    TR_FILTER,  // roles of words in segments (segment_filter.c)
    TR_EMBEDDING,
    TR_RESOURCE_KINDS
};

struct tr_input;

struct tr_resource {
    enum tr_resource_kind kind;
    char *name;        // of the file, or of the view that was counted
    uint32_t counter;  // TR_COUNTED, TR_KNOWN: where it is counted, and
    uint32_t limit;    // the count that a word must pass
    trellis_text data; // the table
    char *owned;       // what to free; NULL where the table lies in a model
};

/* The resources in a model's block. */
struct tr_stored {
    struct tr_resource *at; // [count]
    size_t count;
};

/* Reads the file of `resource` into its table. `folder` is that of the templates. */
trellis_status tr_resource_load(struct tr_resource *resource, const char *folder,
                                const trellis_options *options, trellis_error *error);
/* The same from the bytes of such a file. */
trellis_status tr_resource_load_bytes(struct tr_resource *resource, const trellis_resource *given,
                                      trellis_error *error);
/* Sorts hashes, removes duplicates and makes them the table. */
trellis_status tr_resource_set(struct tr_resource *resource, uint64_t *hashes, size_t count,
                               trellis_error *error);
/* The error of an entry with too many words. */
trellis_status tr_entry_too_long(const struct tr_input *input, trellis_error *error);
/* A text in a table of texts by hash: its hash, its number, and which of equal hashes is first. */
struct tr_table_text {
    uint64_t hash;
    uint32_t text, order;
};
struct tr_intern;
/* Sorts entries, keeps the first of equal hashes and makes them the table. */
trellis_status tr_resource_set_texts(struct tr_resource *resource, struct tr_table_text *entries,
                                     size_t count, const struct tr_intern *texts,
                                     trellis_error *error);
void tr_resource_free(struct tr_resource *resource);

bool tr_table_has(trellis_text table, uint64_t hash);
/* The text of a hash in a table of texts: the path of a word's cluster. */
bool tr_table_path(trellis_text table, uint64_t hash, trellis_text *ret_path);

#endif
