/* share.h - attributes that always occur together share a row. */
#ifndef TRELLIS_DATASET_SHARE_H
#define TRELLIS_DATASET_SHARE_H

#include "dataset/dataset.h"

/* For each attribute the first one that occurs at the same tokens, as often at each; often the
 * attribute itself. Where ranks are given each has the occurrences of some of the tokens. NULL on
 * failure. */
uint32_t *tr_share_find(const struct tr_occurrences *occurrences, size_t tokens,
                        uint32_t attributes, struct tr_ranks *ranks);

/* Removes all but the first of each group from the corpus. */
void tr_share_drop(struct tr_occurrences *occurrences, size_t tokens, const uint32_t *first);

#endif
