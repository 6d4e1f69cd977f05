/* dataset.h - a corpus as numbers: gold labels and attributes of all tokens.
 *
 *     sequences -> tokens -> (gold label, occurrences of attributes)
 *
 * Reading turns labels and attributes into numbers; arranging decides which (attribute, outcome)
 * pairs become features, renumbers the attributes for the layout of rows.h, and rewrites the
 * occurrences. A second corpus (--dev) is read with the vocabulary of the first; attributes that
 * are not in it are left out, as they are in tagging.
 */
#ifndef TRELLIS_DATASET_DATASET_H
#define TRELLIS_DATASET_DATASET_H

#include "base/intern.h"
#include "dataset/attribute_index.h"
#include "dataset/gaussian.h"
#include "dataset/tag_dictionary.h"
#include "dataset/rows.h"
#include "dataset/words.h"
#include "corpus/corpus.h"
#include "features/features.h"
#include "graph/graph.h"

struct tr_ranks;

/* The attributes of all tokens: those of token t are attribute[begin[t]] ..
 * attribute[begin[t+1]-1]. */
struct tr_occurrences {
    TR_ARRAY(uint32_t) begin; // [tokens + 1]
    TR_ARRAY(uint32_t) attribute;
    TR_ARRAY(float) value; // empty where all values are 1
    bool valued;           // those of another rank have values other than 1
};

/* Whether values other than 1 are to be reckoned with, here or on another rank. */
static inline bool tr_occurrences_have_values(const struct tr_occurrences *occurrences)
{
    return occurrences->value.size > 0 || occurrences->valued;
}

/* A gold label that is unknown or one of several: --partial. */
#define TR_UNKNOWN UINT16_MAX

struct tr_dataset {
    struct tr_intern labels; // of a dev corpus: those of the training corpus first, then its own
    uint32_t label_count;    // of the training corpus: labels beyond are never predicted
    size_t sequences, tokens;
    /* Where ranks share the data: the number of the first of these sequences among those of all
     * ranks, and what of others' was read and not kept. */
    size_t first, passed_sequences, passed_tokens, passed_open;
    double passed_weight;        // tokens, each times the weight of its sequence
    TR_ARRAY(uint32_t) sequence; // [sequences + 1] the first token of each
    TR_ARRAY(uint16_t) gold;     // [tokens], TR_UNKNOWN if it is open
    TR_ARRAY(float) weight;      // [sequences], empty where all are 1
    /* [tokens] in the tag dictionary, TR_NONE: any label; empty without a dictionary */
    TR_ARRAY(uint32_t) entry;
    /* The labels that an open one may be; none listed: any. Both are empty if all labels are
     * known. */
    TR_ARRAY(uint32_t) open_begin; // [tokens + 1] into `open`
    TR_ARRAY(uint16_t) open;
    struct tr_occurrences node, edge;
    /* With --segments: the attributes of all segments, which are node attributes by their numbers;
     * [tokens][max_segment] segments in the place of tokens (features.h). */
    struct tr_occurrences segment;
    size_t max_segment;    // 0: there are none
    size_t reals;          // real-valued columns: --gaussian
    TR_ARRAY(double) real; // [tokens][reals]
    uint64_t fingerprint;  // of labels, weights and attributes as read: a sum over the sequences
    /* Where ranks share the data: the part of it that is of labels, which all of them have read, and
     * one of all cells. */
    uint64_t label_fingerprint, cell_fingerprint;
    struct tr_input_shape shape; // of the first source
    char used[400];              // its columns that templates use, from 1, separated by commas
};

struct tr_attributes {
    struct tr_attribute_index index;
    struct tr_rows *rows; // after arranging
};

/* The attributes of node and edge features. */
struct tr_vocabulary {
    struct tr_attributes node, edge;
};

/* A part of a file (corpus.h): its bytes begin .. end-1, behind `line` lines. */
struct tr_range {
    uint64_t begin, end, line;
};

/* How a corpus is read. Labels that are missing or ignored are open. */
enum tr_label_use { TR_LABELS_NEEDED, TR_LABELS_IF_ANY, TR_LABELS_IGNORED };
struct tr_dataset_settings {
    const trellis_options *options;
    trellis_features *features;
    trellis_scheme from, to; // label conversion, TRELLIS_NO_SCHEME for none
    bool legal;              // convert where both are the same too: illegal labels become legal
    /* For the entries of a tag dictionary: they are numbers of `words`, which grows, or entries of
     * `tag_dictionary`. Both NULL: there are no entries. */
    struct tr_intern *words;
    const struct tr_tag_dictionary *tag_dictionary;
    struct trellis_words *seen; // collects the words; may be NULL
    enum tr_label_use label_use;
    const char *reals;  // the columns of --gaussian; NULL or empty: none
    trellis_lint *lint; // looks for mistakes; may be NULL
    bool partial;       // labels may be '_' (unknown) or 'A|B' (one of these)
    /* With segments: of up to so many tokens, 0 for none; and the attributes that gold segments have,
     * as hashes, beyond which none are read from the training corpus. */
    size_t max_segment;
    const struct trellis_words *segment_keys;
    /* Where `shared` says so, the sequences first .. end-1 alone are kept, and of others the labels
     * and words are numbered; then tr_dataset_number_together() numbers the attributes. */
    bool shared;
    size_t first, end;
    const struct tr_range *range; // where these are, and others are not read; NULL: all are
    uint64_t memory;              // maximum of bytes for the data; 0: none
    /* Called from time to time with the number of tokens so far; false interrupts. May be NULL. */
    bool (*progress)(void *user, uint64_t tokens);
    void *user;
};

/* The labels that a token may have: its gold label, those listed, or 0 labels if any is
 * possible. */
static inline size_t tr_dataset_open(const struct tr_dataset *dataset, size_t token,
                                     const uint16_t **ret_labels)
{
    if (dataset->gold.at[token] != TR_UNKNOWN) {
        *ret_labels = &dataset->gold.at[token];
        return 1;
    }
    size_t begin = dataset->open_begin.at[token], count = dataset->open_begin.at[token + 1] - begin;
    *ret_labels = count ? &dataset->open.at[begin] : NULL;
    return count;
}

/* Of all ranks, where they share the data. */
static inline size_t tr_dataset_all_sequences(const struct tr_dataset *dataset)
{
    return dataset->sequences + dataset->passed_sequences;
}

static inline size_t tr_dataset_all_tokens(const struct tr_dataset *dataset)
{
    return dataset->tokens + dataset->passed_tokens;
}

/* Whether some label of a sequence is open. */
static inline bool tr_dataset_is_partial(const struct tr_dataset *dataset, size_t sequence)
{
    size_t t = dataset->sequence.at[sequence], end = dataset->sequence.at[sequence + 1];
    while (dataset->open_begin.size && t < end && dataset->gold.at[t] != TR_UNKNOWN) {
        t++;
    }
    return dataset->open_begin.size && t < end;
}

/* Adds the sequences of a source. With `training` NULL new attributes are added to the vocabulary;
 * else they are only looked up, and `training` gives the label numbers. */
trellis_status tr_dataset_read(struct tr_dataset *dataset, struct tr_vocabulary *vocabulary,
                               const struct tr_dataset *training,
                               const struct tr_dataset_settings *settings,
                               const trellis_source *source, trellis_error *error);

/* Adds a sequence of a caller's through an extractor that is bound, with new labels and attributes.
 * On failure the dataset is of no use until it is cleared. */
trellis_status tr_dataset_add(struct tr_dataset *dataset, struct tr_vocabulary *vocabulary,
                              const struct tr_dataset_settings *settings,
                              struct tr_extractor *extractor, const trellis_sequence *sequence,
                              trellis_error *error);
/* Forgets all sequences, but keeps most of the memory for the next; labels and fingerprint stay. */
void tr_dataset_clear(struct tr_dataset *dataset);

/* Where each rank has read the attributes of its share of the sequences: numbers those of all ranks as
 * one process does that reads all of them (shared_index.c). */
trellis_status tr_dataset_number_together(struct tr_dataset *dataset,
                                          struct tr_vocabulary *vocabulary, struct tr_ranks *ranks,
                                          trellis_error *error);
/* Before that, where each rank has read its share of the sequences and no others: numbers the labels
 * as one process does, gives all ranks the words seen, and sums what is summed (shared_labels.c).
 * `lengths` is of the sequences of all ranks. */
trellis_status tr_dataset_unite_labels(struct tr_dataset *dataset, struct trellis_words *seen,
                                       const struct tr_dataset *lengths, struct tr_ranks *ranks,
                                       trellis_error *error);
/* Gives rank 0 the texts of all attributes. */
trellis_status tr_vocabulary_gather_texts(struct tr_vocabulary *vocabulary, struct tr_ranks *ranks,
                                          trellis_error *error);

/* Sorts the attributes of the tokens first .. end-1, as the row kernels need them: a corpus that is
 * read with the vocabulary of another is sorted after reading, the training corpus when it is
 * arranged. */
void tr_occurrences_sort(struct tr_occurrences *occurrences, size_t first, size_t end);

/* Chooses the features and their layout: for the training corpus, before others are read. */
struct tr_arrangement {
    uint32_t min_count;
    double min_feature_count; // least sum of the values of an attribute with an outcome
    bool all_features;
    const bool *whole; // [node attributes] those paired with every label; NULL: none
    bool share;        // attributes that always occur together have one row (share.h)
    const struct tr_segments *segments; // NULL: none
    struct tr_pool *pool;               // may be NULL
    struct tr_ranks *ranks;             // each has some of the occurrences; NULL: all are here
};
trellis_status tr_dataset_arrange(struct tr_dataset *dataset, struct tr_vocabulary *vocabulary,
                                  const struct tr_arrangement *arrangement, trellis_error *error);

/* Drops the features whose weight is 0 and the attributes that have none left, and lays out the
 * rest again, after which weights in the old layout are of no use. `dev` may be NULL. */
trellis_status tr_dataset_prune(struct tr_dataset *dataset, struct tr_dataset *dev, bool edge,
                                struct tr_attributes *attributes, const float *weights,
                                trellis_error *error);

/* The label n-grams of a corpus, of which each of `ranks` has a share unless they are NULL, up to the
 * length that the plan's order or cap allows, with those
 * at the start and the end where chosen; each label alone, with its chosen steps from the start and
 * to the end; and all possible ones of up to `all_up_to` labels. In a fixed order: by length, then
 * by labels. */
trellis_status tr_dataset_grams(const struct tr_dataset *dataset, const struct tr_graph_plan *plan,
                                struct tr_step_choice choice, uint32_t all_up_to,
                                struct tr_ranks *ranks, struct tr_gram **ret_grams,
                                size_t *ret_count, trellis_error *error);
/* Keeps those that occur at least `minimum` times, and labels alone. All labels must be known. */
trellis_status tr_dataset_frequent_grams(const struct tr_dataset *dataset, double minimum,
                                         struct tr_gram *grams, size_t *count,
                                         trellis_error *error);
/* The index of a gram among those, SIZE_MAX if it is not there. */
size_t tr_gram_find(const struct tr_gram *grams, size_t count, const struct tr_gram *gram);

/* Frees all data of tokens and sequences; the labels and the counts stay. */
void tr_dataset_drop_tokens(struct tr_dataset *dataset);
void tr_dataset_free(struct tr_dataset *dataset);
/* After the last corpus has been read: frees what only lookups need. */
void tr_vocabulary_close(struct tr_vocabulary *vocabulary);
/* While only the numbers of attributes are needed: keys and texts compressed where they are large,
 * and back. */
void tr_vocabulary_pack(struct tr_vocabulary *vocabulary);
trellis_status tr_vocabulary_unpack(struct tr_vocabulary *vocabulary, trellis_error *error);
void tr_vocabulary_free(struct tr_vocabulary *vocabulary);

/* Bytes of memory in use. */
size_t tr_dataset_bytes(const struct tr_dataset *dataset);
size_t tr_vocabulary_bytes(const struct tr_vocabulary *vocabulary);
/* What tr_dataset_arrange() will take beside, about. */
size_t tr_vocabulary_arrange_bytes(const struct tr_vocabulary *vocabulary);

#endif
