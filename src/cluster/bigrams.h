/* bigrams.h - the words of a text by falling frequency, and which words stand next to each other.
 *
 * The text is one stream, as in Brown et al. (1992): the last word of a sequence is followed by the first
 * word of the next one. Words that are left out (see tr_bigrams_read()) break it.
 */
#ifndef TRELLIS_CLUSTER_BIGRAMS_H
#define TRELLIS_CLUSTER_BIGRAMS_H

#include "base/intern.h"

/* A word and how often it stands on one side of another. */
struct tr_neighbour {
    uint32_t word, count;
};

struct tr_neighbours {
    size_t *begin;           // [words + 1] into at
    struct tr_neighbour *at; // of each word, by ascending number
};

struct tr_bigrams {
    struct tr_intern texts; // all words, in the order of the text
    uint64_t tokens;        // of the text, with those left out
    uint32_t words;         // that are kept: 0 is the most frequent one
    uint32_t *text;         // [words] their numbers in texts
    uint32_t *count;        // [words] how often each occurs
    struct tr_neighbours right, left;
};

/* Reads the words of corpora by the options of TRELLIS_GROUP_READ. Left out are words seen fewer than
 * `min-count` times, and those that a file of clusters cannot hold: empty ones, and those with a tab or a
 * line break in them. `watch` is called now and then; where it returns false, the status is
 * TRELLIS_INTERRUPTED. tr_bigrams_free() is due whatever the status. */
trellis_status tr_bigrams_read(struct tr_bigrams *bigrams, const trellis_options *options,
                               const char *const *paths, size_t path_count,
                               bool (*watch)(void *user), void *user, trellis_error *error);
void tr_bigrams_free(struct tr_bigrams *bigrams);

#endif
