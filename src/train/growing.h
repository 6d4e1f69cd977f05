/* growing.h - a training whose data comes bit by bit: labels and attributes may appear at any time.
 *
 * It is a struct tr_training of which data.train holds only the sequences at hand, while labels and
 * vocabulary hold all that was ever seen. Every attribute has a dense row with a weight for every
 * label, as with --all-features, so that whether a pair is a feature does not depend on what comes
 * later. There is room for more attributes than there are; when they or the labels outgrow it, a
 * new layout is made, and the learner copies its arrays [layout.size] to it.
 */
#ifndef TRELLIS_TRAIN_GROWING_H
#define TRELLIS_TRAIN_GROWING_H

#include "train/train.h"

struct tr_growing {
    struct tr_training training;
    trellis_options *options;
    struct tr_buffer templates; // the block that the features are read from
    struct tr_extractor *extractor;
    size_t word_column;            // SIZE_MAX: there is none
    uint32_t node_room, edge_room; // attributes that there is room for
    uint64_t sequences, tokens;    // learned from so far
    bool has_layout;
};

/* From one layout to a larger one. */
struct tr_relayout {
    const struct tr_training *from; // NULL: there was none
    const struct tr_training *to;
    uint32_t *gram; // [grams of `from`] their numbers in `to`
};

/* What a growing training can go back to. */
struct tr_growing_mark {
    size_t labels, nodes, edges;
    uint64_t fingerprint;
};

/* By options, which are copied, and templates: those given, or NULL for those of the options.
 * Refuses what needs to know all of the data. */
trellis_status tr_growing_create(struct tr_growing *growing, const trellis_options *options,
                                 const trellis_features *features, trellis_error *error);
/* The same with a block of tr_features_write(), which is not trusted. */
trellis_status tr_growing_create_from_block(struct tr_growing *growing,
                                            const trellis_options *options, trellis_text block,
                                            trellis_error *error);
void tr_growing_free(struct tr_growing *growing);

struct tr_growing_mark tr_growing_mark(const struct tr_growing *growing);
/* Forgets the sequences at hand, and the labels and attributes that came after the mark. */
void tr_growing_roll_back(struct tr_growing *growing, struct tr_growing_mark mark);
/* Reads a sequence that a caller built, beside those at hand. */
trellis_status tr_growing_read(struct tr_growing *growing, const trellis_sequence *sequence,
                               trellis_error *error);
/* Makes a layout for all labels and attributes, where the present one has no room for them, and
 * lets the learner follow: `relayout` copies its arrays, and either succeeds or changes nothing.
 * Also checks the labels at hand. */
typedef trellis_status (*tr_relayout_function)(void *user, const struct tr_relayout *relayout,
                                               trellis_error *error);
trellis_status tr_growing_fit(struct tr_growing *growing, tr_relayout_function relayout, void *user,
                              trellis_error *error);

/* Copies an array with an element for each weight from the old layout to the new one. */
void tr_relayout_copy(const struct tr_relayout *relayout, const void *from, void *to,
                      size_t element);

/* The model of all features whose weight, as `weight` says, is not 0. */
typedef float (*tr_weight_at)(const void *user, size_t at);
trellis_status tr_growing_model(const struct tr_growing *growing, tr_weight_at weight,
                                const void *user, trellis_model **ret_model, trellis_error *error);

#endif
