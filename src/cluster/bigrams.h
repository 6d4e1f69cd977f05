/* bigrams.h - the words of a text by decreasing frequency, and their bigrams.
 *
 * The text is one stream, as in Brown et al. (1992): the last word of a sequence and the first word
 * of the next one are a bigram. A word that is left out (see tr_bigrams_read()) is in no bigram.
 */
#ifndef TRELLIS_CLUSTER_BIGRAMS_H
#define TRELLIS_CLUSTER_BIGRAMS_H

#include "base/intern.h"

/* A word next to another one, and how often. */
struct tr_neighbour {
    uint32_t word, count;
};

struct tr_neighbours {
    size_t *begin;           // [words + 1] into at
    struct tr_neighbour *at; // of each word, by increasing number
};

struct tr_bigrams {
    struct tr_intern texts; // all words, in the order of the text
    uint64_t tokens;        // of the text, including words left out
    uint32_t words;         // types kept; 0 is the most frequent
    uint32_t *text;         // [words] number in texts
    uint32_t *count;        // [words] occurrences
    struct tr_neighbours right, left;
};

/* Reads the words of corpora by the options of TRELLIS_GROUP_READ. Left out are words seen fewer
 * than `min-count` times, and words that do not fit in a line of the output: empty ones, and those
 * that contain a tab or a line break. `watch` is called from time to time; if it returns false, the
 * status is TRELLIS_INTERRUPTED. tr_bigrams_free() is required whatever the status. */
trellis_status tr_bigrams_read(struct tr_bigrams *bigrams, const trellis_options *options,
                               const char *const *paths, size_t path_count,
                               bool (*watch)(void *user), void *user, trellis_error *error);
void tr_bigrams_free(struct tr_bigrams *bigrams);

#endif
