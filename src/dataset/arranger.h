/* arranger.h - the renumbering of attributes while their features are chosen; for arrange.c and the
 * files it calls. */
#ifndef TRELLIS_DATASET_ARRANGER_H
#define TRELLIS_DATASET_ARRANGER_H

#include "dataset/dataset.h"

struct tr_pool;
struct tr_ranks;

/* The renumbering of the attributes of one kind, from the order of reading to the final one. */
struct tr_arranger {
    struct tr_dataset *dataset;
    struct tr_dataset *dev; // may be NULL
    bool edge;              // edge attributes instead of node attributes
    struct tr_attributes *attributes;
    uint32_t min_count;
    double min_feature_count;           // 0: every pair that was seen becomes a feature
    const bool *whole;                  // [count] those paired with every label; NULL: none
    const struct tr_segments *segments; // of node attributes; NULL: none
    bool *of_segment;                   // [count] attributes of segments; NULL without them
    struct tr_pool *pool;               // may be NULL
    struct tr_ranks *ranks;             // each has some of the occurrences; NULL: all are here
    uint32_t count;                     // of the attributes as read
    uint32_t width;                     // of a row of labels
    uint32_t outcomes;                  // the highest outcome + 1

    uint64_t *offset;           // [count + 1] occurrences of each attribute, as a running sum
    uint64_t *begin;            // [count + 1] the pairs of each attribute in `outcome`
    TR_ARRAY(uint32_t) outcome; // sorted within an attribute
    uint32_t *first;            // [count] the owner of the row it uses (share.h); NULL: its own
    uint32_t *order;            // [kept] the old number of each attribute that has a row
    uint32_t *number;           // [count] the new number, TR_NONE if dropped
    uint32_t *shared_with;      // [shared] see struct tr_rows
    uint32_t kept, dense, shared;
};

static inline struct tr_occurrences *tr_occurrences_of(struct tr_dataset *dataset, bool edge)
{
    return edge ? &dataset->edge : &dataset->node;
}

/* ---- feature_pairs.c ------------------------------------------------------------------------- */

/* How often each attribute was seen with an outcome, and how often it occurs, both as a running sum
 * [count + 1]; NULL on allocation failure. The counts of the index may be capped. */
uint64_t *tr_count_outcomes(const struct tr_arranger *x);
uint64_t *tr_count_occurrences(const struct tr_arranger *x);

/* Fill `begin` and `outcome`; false on allocation failure. */
bool tr_find_seen_pairs(struct tr_arranger *x);
bool tr_make_all_pairs(struct tr_arranger *x);                            // every one possible
bool tr_find_weighted_pairs(struct tr_arranger *x, const float *weights); // weights other than 0

/* Gives an attribute that has no pair left no occurrence, so that the minimum count of 1 drops it. */
void tr_drop_empty(struct tr_arranger *x);

/* ---- shared_pairs.c ------------------------------------------------------------------------- */

/* Where each rank has some of the occurrences: what they come to together. False on failure. */
bool tr_sum_counts(const struct tr_arranger *x, uint64_t *offset);
bool tr_unite_marks(const struct tr_arranger *x, bool *marks); // [count]
bool tr_unite_pairs(struct tr_arranger *x);

/* ---- occurrences.c --------------------------------------------------------------------------- */

/* Rewrites the occurrences of both corpora with the new numbers, without the dropped ones, sorted
 * within a token. */
void tr_renumber_occurrences(const struct tr_arranger *x);

#endif
