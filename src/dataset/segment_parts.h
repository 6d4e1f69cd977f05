/* segment_parts.h - attributes of segments that belong to where they begin or end, listed once.
 *
 * An attribute such as before(word,1)=the is one of all segments that begin at a token, and the
 * score that it adds to them is the same. So it is listed with the token, once instead of for up to
 * L segments. With those of the segments that begin at s, end at e, and what is left:
 *
 *     score(s .. e) = start(s) + end(e) + rest(s .. e)
 *
 * What is common is found in the data, as bundles are (bundles.h).
 */
#ifndef TRELLIS_DATASET_SEGMENT_PARTS_H
#define TRELLIS_DATASET_SEGMENT_PARTS_H

#include "dataset/dataset.h"

/* The attributes of the tokens of a corpus and of its segments, one after the other: [tokens] of the
 * tokens, [tokens] of all segments that begin at a token, [tokens] of all that end at one, and
 * [tokens][max_segment] of the segments themselves without these. False on allocation failure. */
bool tr_segment_parts(const struct tr_dataset *dataset, struct tr_occurrences *ret_parts);

/* Where the second, third and last of these begin for a token. */
static inline size_t tr_segment_starts(const struct tr_dataset *dataset, size_t token)
{
    return dataset->tokens + token;
}
static inline size_t tr_segment_ends(const struct tr_dataset *dataset, size_t token)
{
    return 2 * dataset->tokens + token;
}
static inline size_t tr_segment_rest(const struct tr_dataset *dataset, size_t token)
{
    return 3 * dataset->tokens + token * dataset->max_segment;
}

#endif
