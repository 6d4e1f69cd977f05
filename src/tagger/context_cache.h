/* context_cache.h - what the templates of recurring contexts add to the scores.
 *
 * The scores of a token are sums of rows of weights, one for each template. Templates that look at
 * the same cells (features/contexts.h) are added up by themselves, and their sums kept by the key
 * of the context:
 *
 *     score[i] = sum over contexts and slots of record(anchor i + offset)[slot]  +  loose rows
 *
 * A record is always made in the same way, from zero and in the order of the templates, so scores
 * do not depend on what was kept: not on earlier sequences, nor on which thread tagged them.
 */
#ifndef TRELLIS_TAGGER_CONTEXT_CACHE_H
#define TRELLIS_TAGGER_CONTEXT_CACHE_H

#include "base/kernels.h"
#include "features/contexts.h"
#include "model/table.h"

/* Rows of more floats than this are better added one by one. */
enum { TR_MAX_CONTEXT_WIDTH = 64 };

struct tr_context_cache;

trellis_status tr_context_cache_create(const struct tr_table *table, struct tr_integrity *integrity,
                                       struct tr_context_cache **ret_cache, trellis_error *error);
void tr_context_cache_destroy(struct tr_context_cache *cache);

/* Adds the records of the contexts in the extractor's last sequence to scores [n][width]. */
trellis_status tr_context_cache_add(struct tr_context_cache *cache,
                                    const struct tr_extractor *extractor, size_t n, float *scores,
                                    trellis_error *error);

#endif
