/* template_keys.h - the inner loops that make keys of templates; for extract.c and contexts.c. */
#ifndef TRELLIS_FEATURES_TEMPLATE_KEYS_H
#define TRELLIS_FEATURES_TEMPLATE_KEYS_H

#include "features/extractor.h"

/* Where the value at token i is. The token may lie outside the sequence, so that i is negative, if
 * the cell does not. */
static inline ptrdiff_t tr_source_at(const struct tr_source *source, size_t i)
{
    return (ptrdiff_t)(i & source->mask);
}

/* A value of a source at token i, joined to the key so far. The flags are constants where this is
 * called. */
static inline __attribute__((always_inline)) struct tr_key tr_join(struct tr_key key,
                                                                   const struct tr_source *source,
                                                                   size_t i, bool whole)
{
    ptrdiff_t at = tr_source_at(source, i);
    struct tr_string_key value = {{source->low[at], 0}, {source->low_span[at] & ~TR_STRING_END, 0}};
    if (whole) {
        value.hash.high = source->high[at];
        value.span.high = source->high_span[at];
    }
    return tr_string_join(key, value);
}

/* The keys of all templates of a set keyed by strings, as below. */
static inline __attribute__((always_inline)) size_t tr_see_strings(const struct tr_plan *plan,
                                                                   const struct tr_source *sources,
                                                                   size_t i, bool whole,
                                                                   struct tr_seen *seen, size_t at)
{
    for (size_t t = 0; t < plan->count; t++, at++) {
        const struct tr_planned *planned = &plan->at[t];
        struct tr_key key = planned->key;
        bool ended = false;
        for (uint32_t k = 0; k < planned->mixed && !ended; k++) {
            const struct tr_source *source = sources + planned->source + k;
            key = tr_join(key, source, i, whole);
            ended = source->low_span[tr_source_at(source, i)] & TR_STRING_END;
        }
        seen->low[at] = key.low;
        if (seen->value) {
            seen->value[at] = 1;
        }
        if (whole) {
            seen->high[at] = key.high;
            seen->template[at] = planned->number;
        }
    }
    return at;
}

/* The keys of all templates of a plan at token i, written from `at` on; returns where they end. The
 * two flags are constants where this is called, so the parts they guard fall away. */
static inline __attribute__((always_inline)) size_t tr_see_token(const struct tr_plan *plan,
                                                                 const struct tr_source *sources,
                                                                 size_t i, bool whole, bool valued,
                                                                 struct tr_seen *seen, size_t at)
{
    for (size_t t = 0; t < plan->count; t++) {
        const struct tr_planned *planned = &plan->at[t];
        const struct tr_source *source = sources + planned->source;
        const struct tr_source *end = source + planned->mixed;
        struct tr_key key = planned->key;
        bool there = true;
        for (; source < end; source++) {
            struct tr_key value = {source->low[tr_source_at(source, i)], 0};
            if (whole) {
                value.high = source->high[tr_source_at(source, i)];
            }
            there &= value.low != 0;
            key = tr_mix(key, value);
        }
        for (end += planned->conditions; source < end; source++) {
            there &= (source->low[tr_source_at(source, i)] != 0) != source->negated;
        }
        if (valued) {
            float product = 1;
            for (end += planned->factors; source < end; source++) {
                there &= source->low[tr_source_at(source, i)] != 0;
                product *= source->real[tr_source_at(source, i)];
            }
            seen->value[at] = product;
        }
        seen->low[at] = key.low;
        if (whole) {
            seen->high[at] = key.high;
            seen->template[at] = planned->number;
        }
        at += there;
    }
    return at;
}

/* The keys of one template at n tokens from `from` on. The number of sources is a constant at each call, so that
 * they stay in registers. */
static inline __attribute__((always_inline)) void tr_mix_sources(uint64_t first,
                                                                 const struct tr_source *sources,
                                                                 uint32_t mixed, bool strings,
                                                                 size_t from, size_t n,
                                                                 uint64_t *keys, size_t stride)
{
    for (size_t i = 0; i < n; i++) {
        struct tr_key key = {first, 0};
        for (uint32_t k = 0; k < mixed; k++) {
            struct tr_key value = {sources[k].low[tr_source_at(&sources[k], from + i)], 0};
            key = strings ? tr_join(key, &sources[k], from + i, false) : tr_mix(key, value);
        }
        keys[i * stride] = key.low;
    }
}

/* The keys of a plan that is even at n tokens from `from` on, template by template: tokens need not
 * wait for each other. Those of a token are `stride` behind those of the one before. */
static inline __attribute__((always_inline)) void tr_see_evenly(const struct tr_plan *plan,
                                                                const struct tr_source *sources,
                                                                bool strings, size_t from, size_t n,
                                                                uint64_t *keys, size_t stride)
{
    for (size_t t = 0; t < plan->count; t++, keys++) {
        const struct tr_planned *planned = &plan->at[t];
        const struct tr_source *source = sources + planned->source;
        uint64_t first = planned->key.low;
        switch (planned->mixed) {
        case 1:
            tr_mix_sources(first, source, 1, strings, from, n, keys, stride);
            break;
        case 2:
            tr_mix_sources(first, source, 2, strings, from, n, keys, stride);
            break;
        case 3:
            tr_mix_sources(first, source, 3, strings, from, n, keys, stride);
            break;
        default:
            tr_mix_sources(first, source, planned->mixed, strings, from, n, keys, stride);
            break;
        }
    }
}

#endif
