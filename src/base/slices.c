/* slices.c - a long vector that ranks share: each of them owns a slice. */
#include "base/slices.h"

#include <stdlib.h>

#include "base/memory.h"

/* Where a block begins, in numbers. */
static size_t block_begin(const struct tr_slices *slices, size_t block)
{
    return block * TR_SLICE_BLOCK < slices->size ? block * TR_SLICE_BLOCK : slices->size;
}

static size_t block_of(const struct tr_slices *slices, unsigned rank)
{
    if (!slices->ranks) {
        return rank ? slices->blocks : 0;
    }
    return tr_ranks_share(slices->ranks, slices->blocks, rank);
}

size_t tr_slices_begin(const struct tr_slices *slices, unsigned rank)
{
    return block_begin(slices, block_of(slices, rank));
}

trellis_status tr_slices_create(struct tr_slices *slices, struct tr_ranks *ranks, size_t size,
                                trellis_error *error)
{
    *slices = (struct tr_slices){.ranks = ranks && !tr_ranks_alone(ranks) ? ranks : NULL,
                                 .size = size,
                                 .blocks = (size + TR_SLICE_BLOCK - 1) / TR_SLICE_BLOCK};
    unsigned rank = slices->ranks ? ranks->rank : 0, count = slices->ranks ? ranks->count : 1;
    slices->first_block = block_of(slices, rank);
    slices->share = block_of(slices, rank + 1) - slices->first_block;
    slices->first = tr_slices_begin(slices, rank);
    slices->held = tr_slices_begin(slices, rank + 1) - slices->first;
    slices->sums = tr_alloc(slices->blocks, sizeof *slices->sums);
    slices->begin = tr_alloc((size_t)count + 1, sizeof *slices->begin);
    return slices->sums && slices->begin ? TRELLIS_OK : tr_fail_memory(error);
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
        slices->begin[r] = block_of(slices, r) * width;
    }
    return slices->ranks ? tr_ranks_gather_at_once(slices->ranks, array, slices->begin, error)
                         : TRELLIS_OK;
}

/* ---- sums ------------------------------------------------------------------------------------ */

struct adding {
    struct tr_slices *slices;
    tr_pool_piece piece;
    void *user;
};

static void add_block(void *user, size_t number, unsigned thread)
{
    (void)thread;
    const struct adding *x = user;
    size_t begin = number * TR_SLICE_BLOCK, end = begin + TR_SLICE_BLOCK, held = x->slices->held;
    x->slices->sums[x->slices->first_block + number] = x->piece(x->user, begin,
                                                                end < held ? end : held);
}

trellis_status tr_slices_sum(struct tr_slices *slices, struct tr_pool *pool, tr_pool_piece piece,
                             void *user, double *ret_sum, trellis_error *error)
{
    struct adding x = {slices, piece, user};
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
