/* slices.c - a long vector that ranks share: each of them owns a slice. */
#include "base/slices.h"

#include <stdlib.h>

#include "base/memory.h"

/* Where a block begins, in numbers. */
static size_t block_begin(const struct tr_slices *slices, size_t block)
{
    return block * TR_SLICE_BLOCK < slices->size ? block * TR_SLICE_BLOCK : slices->size;
}

size_t tr_slices_begin(const struct tr_slices *slices, unsigned rank)
{
    return block_begin(slices, slices->block[rank]);
}

static unsigned rank_count(const struct tr_slices *slices)
{
    return slices->ranks ? slices->ranks->count : 1;
}

/* What this rank has, by the table of blocks. */
static void take_slice(struct tr_slices *slices)
{
    unsigned rank = slices->ranks ? slices->ranks->rank : 0;
    slices->first_block = slices->block[rank];
    slices->share = slices->block[rank + 1] - slices->first_block;
    slices->first = tr_slices_begin(slices, rank);
    slices->held = tr_slices_begin(slices, rank + 1) - slices->first;
}

trellis_status tr_slices_create(struct tr_slices *slices, struct tr_ranks *ranks, size_t size,
                                trellis_error *error)
{
    *slices = (struct tr_slices){.ranks = ranks && !tr_ranks_alone(ranks) ? ranks : NULL,
                                 .size = size,
                                 .blocks = (size + TR_SLICE_BLOCK - 1) / TR_SLICE_BLOCK};
    size_t places = (size_t)rank_count(slices) + 1;
    slices->sums = tr_alloc(slices->blocks, sizeof *slices->sums);
    slices->begin = tr_alloc(2 * places, sizeof *slices->begin);
    if (!slices->sums || !slices->begin) {
        return tr_fail_memory(error);
    }
    slices->block = slices->begin + places;
    for (unsigned r = 0; r < places; r++) {
        slices->block[r] = slices->ranks ? tr_ranks_share(ranks, slices->blocks, r)
                           : r           ? slices->blocks
                                         : 0;
    }
    take_slice(slices);
    return TRELLIS_OK;
}

void tr_slices_balance(struct tr_slices *slices, const uint64_t *cost)
{
    unsigned count = rank_count(slices), rank = 1;
    uint64_t total = 0, before = 0;
    for (size_t b = 0; b < slices->blocks; b++) {
        total += cost[b];
    }
    for (size_t b = 0; total && b < slices->blocks; b++) {
        before += cost[b] * slices->blocks + total; // 2 total blocks, in the end
        for (; rank < count && before >= 2 * total / count * slices->blocks * rank; rank++) {
            slices->block[rank] = b + 1;
        }
    }
    take_slice(slices);
}

void tr_slices_free(struct tr_slices *slices)
{
    free(slices->sums);
    free(slices->begin);
    *slices = (struct tr_slices){0};
}

trellis_status tr_slices_gather(struct tr_slices *slices, void *array, size_t width,
                                trellis_error *error)
{
    for (unsigned r = 0; slices->ranks && r <= slices->ranks->count; r++) {
        slices->begin[r] = tr_slices_begin(slices, r) * width;
    }
    return slices->ranks ? tr_ranks_gather_at_once(slices->ranks, array, slices->begin, error)
                         : TRELLIS_OK;
}

trellis_status tr_slices_gather_blocks(struct tr_slices *slices, void *array, size_t width,
                                       trellis_error *error)
{
    for (unsigned r = 0; slices->ranks && r <= slices->ranks->count; r++) {
        slices->begin[r] = slices->block[r] * width;
    }
    return slices->ranks ? tr_ranks_gather_at_once(slices->ranks, array, slices->begin, error)
                         : TRELLIS_OK;
}

/* ---- sums ------------------------------------------------------------------------------------ */

struct slice_sum {
    struct tr_slices *slices;
    tr_pool_piece piece;
    void *user;
};

static void add_block(void *user, size_t number, unsigned thread)
{
    (void)thread;
    const struct slice_sum *x = user;
    size_t begin = number * TR_SLICE_BLOCK, end = begin + TR_SLICE_BLOCK, held = x->slices->held;
    x->slices->sums[x->slices->first_block + number] = x->piece(x->user, begin,
                                                                end < held ? end : held);
}

trellis_status tr_slices_sum(struct tr_slices *slices, struct tr_pool *pool, tr_pool_piece piece,
                             void *user, double *ret_sum, trellis_error *error)
{
    struct slice_sum x = {slices, piece, user};
    if (pool) {
        tr_pool_run(pool, slices->share, add_block, &x);
    }
    for (size_t number = 0; !pool && number < slices->share; number++) {
        add_block(&x, number, 0);
    }
    trellis_status status = tr_slices_gather_blocks(slices, slices->sums, sizeof *slices->sums,
                                                    error);
    *ret_sum = 0;
    for (size_t block = 0; block < slices->blocks; block++) {
        *ret_sum += slices->sums[block];
    }
    return status;
}
