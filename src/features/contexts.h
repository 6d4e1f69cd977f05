/* contexts.h - templates that look at the same few cells, taken together.
 *
 * What a template says of a token depends on a few cells near it. Words and tags recur, so what all
 * templates of a cell say can be worked out once and kept (tagger/context_cache.h). A context is a
 * cell of each of some columns, or three cells in a row of one column:
 *
 *     anchor j:   cells j .. j + span - 1      slot with offset o:  templates of token j - o
 *
 * Templates that look at one token only belong to the context of tokens, whose slots are their
 * offsets. Templates of up to three tokens in a row that look at one column as it is written belong
 * to the context of that column, if some template looks at just these three; somebody who writes
 * those expects them to be seen often. All others are loose: their keys are in the observation.
 *
 * Which template belongs where depends on the templates and the columns of the input alone.
 */
#ifndef TRELLIS_FEATURES_CONTEXTS_H
#define TRELLIS_FEATURES_CONTEXTS_H

#include "features/extractor.h"

/* Has the extractor leave the templates of contexts out of its observations; false on allocation
 * failure. */
bool tr_extractor_use_contexts(struct tr_extractor *extractor);
const struct tr_contexts *tr_extractor_contexts(const struct tr_extractor *extractor);

/* Keys of the contexts at `count` anchors from `first` on, in a sequence of n tokens: equal for
 * equal cells, and never 0. Anchors may lie outside the sequence as far as the slots' offsets. */
void tr_context_keys(const struct tr_context *context, size_t n, ptrdiff_t first, size_t count,
                     uint64_t *keys);

/* The keys of the templates of a slot at an anchor, at most slot->plan.count; returns how many. */
size_t tr_context_attributes(const struct tr_extractor *extractor,
                             const struct tr_context_slot *slot, ptrdiff_t anchor, uint64_t *keys);

/* The same at `count` anchors from `first` on, of a context that is even: keys [count][templates of
 * the context], slot by slot. */
void tr_context_run(const struct tr_extractor *extractor, const struct tr_context *context,
                    ptrdiff_t first, size_t count, uint64_t *keys);

/* For make_plan(): finds the contexts in sequences of so many columns. */
void tr_contexts_find(struct tr_extractor *extractor, size_t columns);
/* Whether a template belongs to a context. */
static inline bool tr_contexts_have(const struct tr_contexts *contexts, uint32_t template)
{
    return contexts->home && contexts->home[template].context < TR_MAX_CONTEXTS;
}

#endif
