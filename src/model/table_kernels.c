/* table_kernels.c - the rows of many keys at once, for every processor; and which set to use. */
#include "model/table_kernels.h"

void tr_table_end_homes(uint64_t *home, const struct tr_table *table, size_t count)
{
    memset(home + count, 0, TR_HOMES_AHEAD * sizeof *home);
    for (size_t i = 0; i < TR_HOMES_AHEAD; i++) {
        __builtin_prefetch((const char *)table->buckets + home[i]);
    }
}

static void homes(uint64_t *home, const struct tr_table *table, const uint64_t *key, size_t count)
{
    const struct tr_table here = *table; // so that nothing is loaded again after a store
    for (size_t i = 0; i < count; i++) {
        home[i] = tr_table_home(&here, key[i]) * sizeof(struct tr_bucket);
    }
    tr_table_end_homes(home, table, count);
}

/* Which kind of row it is, or none, cannot be predicted, so there is no branch for it. */
static void find(const struct tr_found_rows *found, const struct tr_table *table,
                 const uint64_t *key, const uint64_t *home, const size_t *begin, size_t tokens)
{
    const struct tr_table here = *table;
    uint32_t *dense = found->dense, *sparse = found->sparse, dense_count = 0, sparse_count = 0;
    for (size_t token = 0; token < tokens; token++) {
        for (size_t i = begin[token]; i < begin[token + 1]; i++) {
            uint32_t row = tr_table_find(&here, key[i]);
            bool known = row < here.word_count;
            dense[dense_count] = sparse[sparse_count] = row;
            dense_count += row + (uint64_t)here.width <= here.dense_words;
            sparse_count += known && row >= here.dense_words;
            __builtin_prefetch(tr_table_place(&here, known ? row : 0));
            __builtin_prefetch((const char *)here.buckets + home[i + TR_HOMES_AHEAD]);
        }
        found->ends[token] = (struct tr_row_ends){dense_count, sparse_count};
    }
}

void tr_table_add_found(const struct tr_kernels *kernels, float *scores, size_t stride,
                        const struct tr_table *table, const struct tr_found_rows *found,
                        size_t tokens)
{
    struct tr_row_ends from = {0, 0};
    for (size_t i = 0; i < tokens; i++) {
        struct tr_row_ends to = found->ends[i];
        const uint32_t *dense = found->dense + from.dense;
        float *sums = scores + i * stride;
        if (table->shorts) {
            kernels->add_listed_shorts(sums, (const int16_t *)table->shorts, dense,
                                       to.dense - from.dense, table->unit, table->width);
        } else {
            kernels->add_listed(sums, (const float *)table->words, dense, to.dense - from.dense,
                                table->width);
        }
        for (size_t k = from.sparse; k < to.sparse; k++) {
            tr_table_add(table, found->sparse[k], 1, sums);
        }
        from = to;
    }
}

static void add(float *scores, size_t stride, const struct tr_table *table,
                const struct tr_found_rows *found, size_t tokens)
{
    tr_table_add_found(tr_kernels(), scores, stride, table, found, tokens);
}

const struct tr_table_kernels tr_table_kernels_baseline = {
    .name = "baseline", .homes = homes, .find = find, .add = add};

const struct tr_table_kernels *tr_table_kernels_like(const struct tr_kernels *kernels)
{
#if defined(__x86_64__)
    if (kernels == &tr_kernels_avx512) {
        return &tr_table_kernels_avx512;
    }
#else
    (void)kernels;
#endif
    return &tr_table_kernels_baseline;
}

const struct tr_table_kernels *tr_table_kernels(void)
{
    return tr_table_kernels_like(tr_kernels());
}
