/* ranks.h - several processes that train one model: what they agree on, sum and gather.
 *
 * Everything here is built from the two functions that the caller gives (trellis_ranks), and does
 * nothing where a process trains alone. All ranks call the same functions in the same order. A rank
 * that fails in between says so by tr_ranks_agree(); the others learn of it in their next call, and
 * all of them fail with the same message.
 *
 * Sums are exact where every number lies on one grid (tr_on_grid): then no order of additions
 * matters, and a sum is the same to the bit for any number of ranks (Demmel and Nguyen 2013).
 */
#ifndef TRELLIS_BASE_RANKS_H
#define TRELLIS_BASE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What travels in one exchange: [count] each. */
struct tr_parcels {
    const void **send;
    size_t *send_size;
    void **receive;
    size_t *receive_size;
};

enum { TR_FEW = 4 };

struct tr_ranks {
    unsigned rank, count;  // 0 and at most 1 where the process is alone
    trellis_error failure; // of the first rank that has failed, which all ranks know
    trellis_ranks given;
    struct tr_parcels parcels;
    double *few; // [count][TR_FEW]
};

/* `given` may be NULL. */
trellis_status tr_ranks_open(struct tr_ranks *ranks, const trellis_ranks *given,
                             trellis_error *error);
void tr_ranks_close(struct tr_ranks *ranks);

/* All ranks fail with the message of the first that does. `error` may be NULL, here and below, where
 * nothing but memory can run out. */
trellis_status tr_ranks_agree(struct tr_ranks *ranks, trellis_status status, trellis_error *error);

/* Replaces numbers by their sums over all ranks. */
trellis_status tr_ranks_sum(struct tr_ranks *ranks, double *numbers, size_t count,
                            trellis_error *error);

/* The same of up to TR_FEW numbers in one message, without asking first whether all are well: no rank
 * may have failed since they last agreed. */
trellis_status tr_ranks_sum_few(struct tr_ranks *ranks, double *numbers, size_t count,
                                trellis_error *error);

/* The same as tr_ranks_sum of integers, modulo 2^64. */
trellis_status tr_ranks_sum_integers(struct tr_ranks *ranks, uint64_t *numbers, size_t count,
                                     trellis_error *error);

/* Replaces a number by the largest that any rank has. */
trellis_status tr_ranks_largest(struct tr_ranks *ranks, double *number, trellis_error *error);

/* Every rank r has the bytes begin[r] .. begin[r + 1] - 1, and gets those of the others. */
trellis_status tr_ranks_gather(struct tr_ranks *ranks, void *bytes, const size_t *begin,
                               trellis_error *error);

/* The same without asking first whether all are well, for what is done very often: no rank may have
 * failed since they last agreed. */
trellis_status tr_ranks_gather_at_once(struct tr_ranks *ranks, void *bytes, const size_t *begin,
                                       trellis_error *error);

/* Sends each rank r the bytes begin[r] .. begin[r + 1] - 1. What comes for this rank, its own part
 * too, is *ret_bytes, which the caller frees; ret_begin [count + 1] says where that of each rank
 * begins. */
trellis_status tr_ranks_scatter(struct tr_ranks *ranks, const void *bytes, const size_t *begin,
                                void **ret_bytes, size_t *ret_begin, trellis_error *error);

/* Gives the bytes of one rank to all. */
trellis_status tr_ranks_broadcast(struct tr_ranks *ranks, unsigned from, void *bytes, size_t size,
                                  trellis_error *error);

/* Gives an array of one rank to all, whose own is freed and replaced. */
trellis_status tr_ranks_give(struct tr_ranks *ranks, unsigned from, uint32_t **numbers,
                             size_t *count, trellis_error *error);

/* Whether a number is the same on all ranks; *ret_other is the first that has another than rank 0,
 * or the number of ranks. */
trellis_status tr_ranks_compare(struct tr_ranks *ranks, uint64_t number, unsigned *ret_other,
                                trellis_error *error);

static inline bool tr_ranks_alone(const struct tr_ranks *ranks)
{
    return ranks->count <= 1;
}

/* Where the share of a rank begins among `size` things; that of rank `count` is the end. */
static inline size_t tr_ranks_share(const struct tr_ranks *ranks, size_t size, unsigned rank)
{
    if (tr_ranks_alone(ranks)) {
        return rank ? size : 0;
    }
    return size / ranks->count * rank + size % ranks->count * rank / ranks->count;
}

/* The nearest multiple of a power of 2: the last place of numbers as large as `grid`, which is 1.5
 * times a power of 2; 0 is no grid. */
static inline double tr_on_grid(double number, double grid)
{
    return (number + grid) - grid;
}

#endif
