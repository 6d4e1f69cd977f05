/* tag_dictionary.h - a tag dictionary: the labels S(word) that a word may have.
 *
 *     S(word) = the labels listed for the word, or all labels where the word is not listed
 *
 * A tag_dictionary is one block of bytes that is used where it lies, in memory or in a model file:
 *
 *     u32 words, u32 labels, u32 bytes of text, u32 zero
 *     u64 hash [words], ascending      u32 first label [words + 1]      u32 first byte [words + 1]
 *     u16 label [labels], ascending within a word                       the words' texts
 *
 * A word is searched for by its hash and then compared, so that words that share a hash are no mistake.
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

/* The entry of a word, TR_NONE where it is not listed and may have any label. */
uint32_t tr_tag_dictionary_find(const struct tr_tag_dictionary *tag_dictionary, trellis_text word);
trellis_text tr_tag_dictionary_text(const struct tr_tag_dictionary *tag_dictionary, uint32_t entry);
/* The labels of an entry: how many, at least 1, in *ret_labels. */
size_t tr_tag_dictionary_labels(const struct tr_tag_dictionary *tag_dictionary, uint32_t entry,
                                const uint16_t **ret_labels);
bool tr_tag_dictionary_allows(const struct tr_tag_dictionary *tag_dictionary, uint32_t entry,
                              uint16_t label);

/* Looks into a block aligned to 8 bytes, which must stay; nothing in it is trusted. False where it is
 * no tag_dictionary over so many labels. */
bool tr_tag_dictionary_read(const void *data, size_t size, uint32_t label_count,
                            struct tr_tag_dictionary *ret_lexicon);

/* A tag_dictionary in the making: words with labels, in any order, repeated or not. */
struct tr_word_label {
    uint32_t word;
    uint16_t label;
};
struct tr_tag_dictionary_draft {
    struct tr_intern words;
    TR_ARRAY(struct tr_word_label) pairs;
};
/* False on allocation failure. */
bool tr_tag_dictionary_add(struct tr_tag_dictionary_draft *draft, trellis_text word,
                           uint16_t label);
void tr_tag_dictionary_draft_free(struct tr_tag_dictionary_draft *draft);
/* Appends the block to the bytes. Words without a label are left out. */
trellis_status tr_tag_dictionary_write(struct tr_tag_dictionary_draft *draft,
                                       struct tr_buffer *block, trellis_error *error);

/* Reads a file `word<tab>label label ...`; the labels are among the first `label_count` of `labels`. */
trellis_status tr_tag_dictionary_load(struct tr_tag_dictionary_draft *draft, const char *path,
                                      const struct tr_intern *labels, uint32_t label_count,
                                      trellis_error *error);

/* Adds the labels of such a file to `labels`. */
trellis_status tr_tag_dictionary_name(const char *path, struct tr_intern *labels,
                                      trellis_error *error);

/* What a corpus says: the labels that each word was seen with, of words seen at least `least` times. The
 * entries of the corpus are numbers of `words`. */
struct tr_dataset;
trellis_status tr_tag_dictionary_learn(struct tr_tag_dictionary_draft *draft,
                                       const struct tr_dataset *dataset,
                                       const struct tr_intern *words, uint64_t least,
                                       trellis_error *error);
/* Turns the entries of a corpus from numbers of `words` into entries of the tag_dictionary. A gold label that
 * the tag_dictionary does not allow: TRELLIS_DATA. */
trellis_status tr_tag_dictionary_apply(const struct tr_tag_dictionary *tag_dictionary,
                                       struct tr_dataset *dataset, const struct tr_intern *words,
                                       trellis_error *error);

/* The column of the words: the one named word, form, token or tokens, else the first one.
 * `reader` may be NULL. SIZE_MAX where that is the column of the label. */
size_t tr_tag_dictionary_column(const trellis_reader *reader, size_t label_column);

#endif
