/* tag_dictionary.h - a tag dictionary: the labels S(word) that a word may have.
 *
 *     S(word) = the labels listed for the word, or all labels where the word is not listed
 *
 * A dictionary is one block of bytes that is used where it lies, in memory or in a model file:
 *
 *     u32 words, u32 labels, u32 bytes of text, u32 zero
 *     u64 hash [words], ascending      u32 first label [words + 1]      u32 first byte [words + 1]
 *     u16 label [labels], ascending within a word                       the words' texts
 *
 * A word is found by its hash and then compared, so that words with the same hash do no harm.
 */
#ifndef TRELLIS_DATASET_TAG_DICTIONARY_H
#define TRELLIS_DATASET_TAG_DICTIONARY_H

#include "base/intern.h"

/* A view of a block; all zero: no word is listed. */
struct tr_tag_dictionary {
    uint32_t words;
    const uint64_t *hash;        // [words]
    const uint32_t *label_begin; // [words + 1]
    const uint32_t *text_begin;  // [words + 1]
    const uint16_t *labels;      // [label_begin[words]]
    const char *texts;           // [text_begin[words]]
};

/* The entry of a word; TR_NONE if it is not listed and may have any label. */
uint32_t tr_tag_dictionary_find(const struct tr_tag_dictionary *dictionary, trellis_text word);
trellis_text tr_tag_dictionary_text(const struct tr_tag_dictionary *dictionary, uint32_t entry);
/* The labels of an entry; returns how many there are, at least 1. */
size_t tr_tag_dictionary_labels(const struct tr_tag_dictionary *dictionary, uint32_t entry,
                                const uint16_t **ret_labels);
bool tr_tag_dictionary_allows(const struct tr_tag_dictionary *dictionary, uint32_t entry,
                              uint16_t label);

/* Makes a view of a block, which must be aligned to 8 bytes and outlive the view; nothing in it is
 * trusted. False if it is not a dictionary over `label_count` labels. */
bool tr_tag_dictionary_read(const void *data, size_t size, uint32_t label_count,
                            struct tr_tag_dictionary *ret_dictionary);

/* Collects pairs of a word and a label, in any order, repeated or not, for a new dictionary. */
struct tr_word_label {
    uint32_t word;
    uint16_t label;
};
struct tr_tag_dictionary_builder {
    struct tr_intern words;
    TR_ARRAY(struct tr_word_label) pairs;
};
/* False on allocation failure. */
bool tr_tag_dictionary_add(struct tr_tag_dictionary_builder *builder, trellis_text word,
                           uint16_t label);
void tr_tag_dictionary_builder_free(struct tr_tag_dictionary_builder *builder);
/* Appends the block to the bytes. Words without a label are left out. */
trellis_status tr_tag_dictionary_write(struct tr_tag_dictionary_builder *builder,
                                       struct tr_buffer *block, trellis_error *error);

/* Reads a file `word<tab>label label ...`; the labels are among the first `label_count` of
 * `labels`. */
trellis_status tr_tag_dictionary_load(struct tr_tag_dictionary_builder *builder, const char *path,
                                      const trellis_options *options,
                                      const struct tr_intern *labels, uint32_t label_count,
                                      trellis_error *error);

/* Adds the labels that such a file uses to `labels`. */
trellis_status tr_tag_dictionary_read_labels(const char *path, const trellis_options *options,
                                             struct tr_intern *labels, trellis_error *error);

/* Adds the labels that each word of a corpus was seen with, for words seen at least `min_count`
 * times. The entries of the corpus are numbers of `words`. Each of `ranks` has a share of the corpus,
 * unless they are NULL. */
struct tr_dataset;
struct tr_ranks;
trellis_status tr_tag_dictionary_learn(struct tr_tag_dictionary_builder *builder,
                                       const struct tr_dataset *dataset,
                                       const struct tr_intern *words, uint64_t min_count,
                                       struct tr_ranks *ranks, trellis_error *error);
/* Changes the entries of a corpus from numbers of `words` to entries of the dictionary.
 * TRELLIS_DATA if the dictionary does not allow a gold label. */
trellis_status tr_tag_dictionary_apply(const struct tr_tag_dictionary *dictionary,
                                       struct tr_dataset *dataset, const struct tr_intern *words,
                                       trellis_error *error);

#endif
