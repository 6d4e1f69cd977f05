/* name_list.h - a list of names of several words, searched by the words they have.
 *
 * The similarity of a segment A to a name B, both as sets of words in lower case, is Dice's
 * coefficient, 2 |A and B| / (|A| + |B|): 1 where they have the same words. Words that more than
 * TR_MAX_NAMES_OF_WORD names have tell nothing and are left out of both.
 *
 * A table is one run of bytes that may come straight from a model, unaligned and hostile; every
 * index in it is checked where it is used:
 *
 *     u64 words, u64 names, u64 postings; sorted u64 hash [words]; u32 first posting [words];
 *     u32 name [postings]; u32 number of words [names]
 */
#ifndef TRELLIS_FEATURES_NAME_LIST_H
#define TRELLIS_FEATURES_NAME_LIST_H

#include "features/resources.h"

#define TR_MAX_NAMES_OF_WORD 1000

struct tr_input;

/* Makes the table of a resource from the lines of a file. */
trellis_status tr_name_list_load(struct tr_resource *resource, struct tr_input *input,
                                 trellis_error *error);

struct tr_name_list {
    size_t words, names, postings;
    const char *hash, *first, *name, *size;
};
/* A view of a table; all zero where it is not one. */
struct tr_name_list tr_name_list_view(trellis_text table);
/* The number of a word by its hash, SIZE_MAX where no name has it. */
size_t tr_name_list_find(const struct tr_name_list *names, uint64_t hash);
/* The k-th name that has a word, SIZE_MAX behind the last. */
size_t tr_name_list_of_word(const struct tr_name_list *names, size_t word, size_t k);
/* The number of words of a name, at least 1. */
size_t tr_name_list_size(const struct tr_name_list *names, size_t name);

#endif
