/* share.h - attributes that always occur together share a row. */
#ifndef TRELLIS_DATASET_SHARE_H
#define TRELLIS_DATASET_SHARE_H

#include "dataset/dataset.h"

/* For each attribute the first one that occurs just as often at the same tokens, itself where there is none
 * before it. NULL on allocation failure. */
uint32_t *tr_share_find(const struct tr_occurrences *occurrences, size_t tokens,
                        uint32_t attributes);

/* Leaves only the first of those in the corpus. */
void tr_share_drop(struct tr_occurrences *occurrences, size_t tokens, const uint32_t *first);

#endif
