/* context_cache.c - what the templates of recurring contexts add to the scores.
 *
 * Tokens are scored in blocks. For each block the keys of all its contexts are made and looked up;
 * the records of those that are not kept are made together, so that the cache misses of looking up
 * their attributes overlap; the records are added to the scores of the tokens; and last, the new
 * records are kept, in place of the oldest of their sets.
 *
 *     records of context 0 | of context 1 | ... | new ones of context 0 | of context 1 | ...
 *
 * All records are in one array, so that a row of any of them is a number.
 */
#include "tagger/context_cache.h"

#include <string.h>

enum {
    BLOCK = 64, // tokens
    MAX_ANCHORS = BLOCK + 2 * TR_MAX_CONTEXT_OFFSET,
    MIN_SETS = 32,
    MAX_SETS = 2048,
    SET_RECORDS = 5,
    MAX_FLOATS = 5 << 18, // of the records of a context: 5 MiB
    LINE = 16,            // floats of a cache line
    TRIAL = 4096,         // anchors looked up before it is decided whether to go on
    PAUSE = 16 * TRIAL,
    MAX_ROWS = TR_MAX_CONTEXTS * TR_MAX_SLOTS
};

/* One cache line; a key of 0 is none. */
struct set {
    uint64_t key[SET_RECORDS];
    uint32_t record[SET_RECORDS];
    uint32_t oldest;
};

/* The records of one context. */
struct keep {
    struct set *sets; // [set_count], a power of two
    size_t set_count;
    size_t record_size; // floats
    size_t begin;       // of its records,
    size_t fresh;       // and of those made in this block
    uint32_t used;      // records
    /* Contexts that hardly recur are not worth keeping: for so many more anchors they are not. */
    size_t pause;
    size_t sought, found; // since it was last decided
};

struct tr_context_cache {
    const struct tr_table *table;
    struct tr_integrity *integrity;
    const struct tr_kernels *kernels;
    uint64_t signature; // of the contexts that the records are of
    bool ready;
    size_t max_sets; // of a context; grows with the records
    size_t count;
    struct keep keeps[TR_MAX_CONTEXTS]; // [count]
    float *records;
    TR_ARRAY(uint64_t) attributes; // keys of the attributes in new records
    TR_ARRAY(uint32_t) rows;       // where these are in the table
    /* Of the block: */
    uint64_t keys[TR_MAX_CONTEXTS][MAX_ANCHORS];
    uint32_t place[TR_MAX_CONTEXTS][MAX_ANCHORS];   // where the records begin
    uint32_t missing[TR_MAX_CONTEXTS][MAX_ANCHORS]; // anchors whose records are new
    size_t missing_count[TR_MAX_CONTEXTS];
    uint32_t slot_begin[MAX_ANCHORS * TR_MAX_SLOTS + 1]; // of the attributes in new records
};

trellis_status tr_context_cache_create(const struct tr_table *table, struct tr_integrity *integrity,
                                       struct tr_context_cache **ret_cache, trellis_error *error)
{
    struct tr_context_cache *cache = tr_alloc(1, sizeof *cache);
    *ret_cache = cache;
    if (!cache) {
        return tr_fail_memory(error);
    }
    cache->table = table;
    cache->integrity = integrity;
    cache->kernels = tr_kernels();
    cache->max_sets = MIN_SETS;
    return TRELLIS_OK;
}

static void free_records(struct tr_context_cache *cache)
{
    for (size_t c = 0; c < cache->count; c++) {
        free(cache->keeps[c].sets);
    }
    free(cache->records);
    cache->records = NULL;
    cache->count = 0;
    cache->ready = false;
}

void tr_context_cache_destroy(struct tr_context_cache *cache)
{
    if (cache) {
        free_records(cache);
        free(cache->attributes.at);
        free(cache->rows.at);
        free(cache);
    }
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* The least and the greatest offset of the slots; none where there are no slots. */
struct span {
    ptrdiff_t first, last;
};

static struct span slot_span(const struct tr_context *context)
{
    struct span span = {0, 0};
    for (size_t s = 0; s < context->slot_count; s++) {
        ptrdiff_t offset = context->slots[s].offset;
        span.first = s == 0 || offset < span.first ? offset : span.first;
        span.last = s == 0 || offset > span.last ? offset : span.last;
    }
    return span;
}

/* Forgets all records where they are not of these contexts, and makes room for theirs. The array is
 * zeroed by the system where it is first touched, so that few records take little memory. */
static bool prepare(struct tr_context_cache *cache, const struct tr_contexts *contexts)
{
    if (cache->ready && cache->signature == contexts->signature) {
        return true;
    }
    free_records(cache);
    size_t floats = 0, attributes = 0;
    bool ok = true;
    cache->count = contexts->count;
    for (size_t c = 0; c < contexts->count; c++) {
        struct keep *keep = &cache->keeps[c];
        size_t size = contexts->at[c].slot_count * cache->table->width;
        *keep = (struct keep){.record_size = size, .set_count = cache->max_sets, .begin = floats};
        while (keep->set_count > 1 && keep->set_count * SET_RECORDS * size > MAX_FLOATS) {
            keep->set_count /= 2;
        }
        keep->sets = tr_alloc_aligned(keep->set_count, sizeof *keep->sets);
        ok = ok && keep->sets;
        floats += keep->set_count * SET_RECORDS * size;
        size_t most = MAX_ANCHORS * contexts->at[c].template_count;
        attributes = most > attributes ? most : attributes;
    }
    for (size_t c = 0; c < contexts->count; c++) {
        cache->keeps[c].fresh = floats;
        floats += MAX_ANCHORS * cache->keeps[c].record_size;
    }
    cache->records = tr_alloc(floats, sizeof *cache->records);
    cache->signature = contexts->signature;
    cache->ready = ok && cache->records && tr_reserve(&cache->attributes, attributes) &&
                   tr_reserve(&cache->rows, attributes);
    return cache->ready;
}

/* Where a context has filled its sets, makes more of them, without their records: few sequences need
 * little memory, and what was kept is soon made again. */
static void widen(struct tr_context_cache *cache)
{
    for (size_t c = 0; c < cache->count; c++) {
        const struct keep *keep = &cache->keeps[c];
        if (cache->max_sets < MAX_SETS && keep->set_count == cache->max_sets &&
            4 * (size_t)keep->used > 3 * keep->set_count * SET_RECORDS) {
            cache->max_sets *= 4;
            cache->ready = false;
        }
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static struct set *home_set(const struct keep *keep, uint64_t key)
{
    return &keep->sets[(key ^ key >> 32) & (keep->set_count - 1)];
}

/* Makes the keys of the contexts at some anchors, and fetches their sets. */
static void find_keys(struct tr_context_cache *cache, const struct tr_context *context, size_t c,
                      size_t n, ptrdiff_t first, size_t count)
{
    tr_context_keys(context, n, first, count, cache->keys[c]);
    for (size_t k = 0; k < count; k++) {
        __builtin_prefetch(home_set(&cache->keeps[c], cache->keys[c][k]));
    }
}

/* Finds the records that are kept, and lists the others. */
static void find_records(struct tr_context_cache *cache, size_t c, size_t count)
{
    const struct keep *keep = &cache->keeps[c];
    size_t missing = 0;
    for (size_t k = 0; k < count; k++) {
        uint64_t key = cache->keys[c][k];
        const struct set *set = home_set(keep, key);
        unsigned way = SET_RECORDS;
        for (unsigned i = SET_RECORDS; i-- > 0;) {
            way = set->key[i] == key ? i : way;
        }
        cache->missing[c][missing] = (uint32_t)k;
        size_t place = way < SET_RECORDS ? keep->begin + set->record[way] * keep->record_size
                                         : keep->fresh + missing * keep->record_size;
        missing += way == SET_RECORDS;
        cache->place[c][k] = (uint32_t)place;
        for (size_t at = 0; at < keep->record_size; at += LINE) {
            __builtin_prefetch(cache->records + place + at);
        }
    }
    cache->missing_count[c] = missing;
}

/* Lists all records as new, without looking for them. */
static void find_none(struct tr_context_cache *cache, size_t c, size_t count)
{
    const struct keep *keep = &cache->keeps[c];
    for (size_t k = 0; k < count; k++) {
        cache->missing[c][k] = (uint32_t)k;
        cache->place[c][k] = (uint32_t)(keep->fresh + k * keep->record_size);
    }
    cache->missing_count[c] = count;
}

/* Decides, after a trial or a pause, whether records are looked for next: if half of them are
 * found. */
static void judge(struct keep *keep, size_t count, size_t missing)
{
    if (keep->pause) {
        keep->pause -= count < keep->pause ? count : keep->pause;
        return;
    }
    keep->sought += count;
    keep->found += count - missing;
    if (keep->sought >= TRIAL) {
        keep->pause = 2 * keep->found < keep->sought ? PAUSE : 0;
        keep->sought = keep->found = 0;
    }
}

static void fetch_buckets(const struct tr_context_cache *cache, size_t begin, size_t end)
{
    for (size_t k = begin; k < end; k++) {
        uint64_t home = tr_table_home(cache->table, cache->attributes.at[k]);
        __builtin_prefetch(&cache->table->buckets[home]);
    }
}

/* Lists the attributes of all records of a run of anchors, a few anchors at a time, so that the
 * buckets of some are fetched while the keys of others are made. */
static size_t list_run(struct tr_context_cache *cache, const struct tr_extractor *extractor,
                       const struct tr_context *context, size_t c, ptrdiff_t first)
{
    enum { FEW = 4 };
    uint32_t *begin = cache->slot_begin, at = 0;
    for (size_t m = 0, end = cache->missing_count[c]; m < end; m += FEW) {
        size_t count = end - m < FEW ? end - m : FEW, listed = at;
        tr_context_run(extractor, context, first + (ptrdiff_t)m, count, cache->attributes.at + at);
        for (size_t k = 0; k < count; k++) {
            for (size_t s = 0; s < context->slot_count; s++) {
                *begin++ = at;
                at += (uint32_t)context->slots[s].plan.count;
            }
        }
        fetch_buckets(cache, listed, at);
    }
    *begin = at;
    return at;
}

/* Lists the attributes of the records that are missing, slot by slot, and fetches their buckets. */
static size_t list_attributes(struct tr_context_cache *cache, const struct tr_extractor *extractor,
                              const struct tr_context *context, size_t c, ptrdiff_t first)
{
    size_t count = 0;
    uint32_t *begin = cache->slot_begin;
    if (cache->keeps[c].pause && context->even) {
        return list_run(cache, extractor, context, c, first);
    }
    for (size_t m = 0; m < cache->missing_count[c]; m++) {
        ptrdiff_t anchor = first + (ptrdiff_t)cache->missing[c][m];
        for (size_t s = 0; s < context->slot_count; s++) {
            *begin++ = (uint32_t)count;
            count += tr_context_attributes(extractor, &context->slots[s], anchor,
                                           cache->attributes.at + count);
        }
        fetch_buckets(cache, begin[-(ptrdiff_t)context->slot_count], count);
    }
    *begin = (uint32_t)count;
    return count;
}

/* Makes the records that are missing: the sum of the rows of each slot. */
static trellis_status make_records(struct tr_context_cache *cache,
                                   const struct tr_extractor *extractor,
                                   const struct tr_context *context, size_t c, ptrdiff_t first,
                                   trellis_error *error)
{
    const struct tr_table *table = cache->table;
    const struct keep *keep = &cache->keeps[c];
    size_t count = list_attributes(cache, extractor, context, c, first);
    size_t records = cache->missing_count[c];
    trellis_status status = tr_integrity_done(cache->integrity)
                                ? TRELLIS_OK
                                : tr_table_verify(table, cache->integrity, cache->attributes.at,
                                                  count, error);
    if (status) {
        return status;
    }
    for (size_t k = 0; k < count; k++) {
        uint32_t row = tr_table_find(table, cache->attributes.at[k]);
        cache->rows.at[k] = row;
        __builtin_prefetch(tr_table_place(table, row < table->word_count ? row : 0));
    }
    float *sums = cache->records + keep->fresh;
    memset(sums, 0, records * keep->record_size * sizeof *sums);
    for (size_t k = 0; k < records * context->slot_count; k++, sums += table->width) {
        for (uint32_t i = cache->slot_begin[k]; i < cache->slot_begin[k + 1]; i++) {
            tr_table_add(table, cache->rows.at[i], 1, sums);
        }
    }
    return TRELLIS_OK;
}

/* Keeps the new records. */
static void keep_records(struct tr_context_cache *cache, size_t c)
{
    struct keep *keep = &cache->keeps[c];
    for (size_t m = 0; m < cache->missing_count[c]; m++) {
        uint64_t key = cache->keys[c][cache->missing[c][m]];
        struct set *set = home_set(keep, key);
        uint32_t way = set->oldest;
        set->oldest = way + 1 < SET_RECORDS ? way + 1 : 0;
        if (!set->key[way]) {
            set->record[way] = keep->used++;
        }
        set->key[way] = key;
        memcpy(cache->records + keep->begin + set->record[way] * keep->record_size,
               cache->records + keep->fresh + m * keep->record_size,
               keep->record_size * sizeof *cache->records);
    }
}

/* ---- scores ---------------------------------------------------------------------------------- */

static trellis_status add_block(struct tr_context_cache *cache,
                                const struct tr_extractor *extractor, size_t n, size_t begin,
                                size_t end, float *scores, trellis_error *error)
{
    const struct tr_contexts *contexts = tr_extractor_contexts(extractor);
    size_t width = cache->table->width;
    ptrdiff_t first[TR_MAX_CONTEXTS];
    size_t count[TR_MAX_CONTEXTS];
    for (size_t c = 0; c < contexts->count; c++) {
        struct span span = slot_span(&contexts->at[c]);
        first[c] = (ptrdiff_t)begin + span.first;
        count[c] = end - begin + (size_t)(span.last - span.first);
        if (!cache->keeps[c].pause) {
            find_keys(cache, &contexts->at[c], c, n, first[c], count[c]);
        }
    }
    trellis_status status = TRELLIS_OK;
    for (size_t c = 0; !status && c < contexts->count; c++) {
        (cache->keeps[c].pause ? find_none : find_records)(cache, c, count[c]);
        status = make_records(cache, extractor, &contexts->at[c], c, first[c], error);
    }
    if (status) {
        return status;
    }
    for (size_t i = begin; i < end; i++) {
        uint32_t rows[MAX_ROWS];
        size_t row_count = 0;
        for (size_t c = 0; c < contexts->count; c++) {
            const struct tr_context *context = &contexts->at[c];
            const uint32_t *place = cache->place[c] + ((ptrdiff_t)i - first[c]);
            for (size_t s = 0; s < context->slot_count; s++) {
                rows[row_count++] = place[context->slots[s].offset] + (uint32_t)(s * width);
            }
        }
        cache->kernels->add_listed(scores + i * width, cache->records, rows, row_count, width);
    }
    for (size_t c = 0; c < contexts->count; c++) {
        struct keep *keep = &cache->keeps[c];
        if (!keep->pause) {
            keep_records(cache, c);
        }
        judge(keep, count[c], cache->missing_count[c]);
    }
    return TRELLIS_OK;
}

trellis_status tr_context_cache_add(struct tr_context_cache *cache,
                                    const struct tr_extractor *extractor, size_t n, float *scores,
                                    trellis_error *error)
{
    const struct tr_contexts *contexts = tr_extractor_contexts(extractor);
    if (contexts->count == 0) {
        return TRELLIS_OK;
    }
    widen(cache);
    if (!prepare(cache, contexts)) {
        return tr_fail_memory(error);
    }
    trellis_status status = TRELLIS_OK;
    for (size_t begin = 0; !status && begin < n; begin += BLOCK) {
        size_t end = n - begin < BLOCK ? n : begin + BLOCK;
        status = add_block(cache, extractor, n, begin, end, scores, error);
    }
    return status;
}
