/* cluster.h - the merges behind a clustering, for tests. */
#ifndef TRELLIS_CLUSTER_CLUSTER_H
#define TRELLIS_CLUSTER_CLUSTER_H

#include "cluster/bigrams.h"

/* Two nodes of the tree. Nodes below the number of words are words; that number + k is what merge k
 * made. */
struct tr_merge {
    uint32_t first, second;
};

/* [words - 1], in the order in which they were made. */
const struct tr_merge *tr_clusters_merges(const trellis_clusters *clusters);
const struct tr_bigrams *tr_clusters_bigrams(const trellis_clusters *clusters);

#endif
