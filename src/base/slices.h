/* slices.h - a long vector that ranks share: each of them owns a slice.
 *
 * The vector is cut into blocks of TR_SLICE_BLOCK numbers, and a slice has whole blocks. A sum over
 * the vector is that of its blocks in their order, so that it is the same to the bit for any number
 * of ranks and threads. Without ranks there is one slice, the whole vector, which one process owns.
 *
 * A rank that adds to a few of the numbers touches them, and which ones stays the same from one sum
 * to the next. So the ranks tell each other once, as bits, and from then on send no others.
 */
#ifndef TRELLIS_BASE_SLICES_H
#define TRELLIS_BASE_SLICES_H

#include "base/pool.h"
#include "base/ranks.h"

enum { TR_SLICE_BLOCK = 4096 };

struct tr_slices {
    struct tr_ranks *ranks;    // NULL: this process owns all of it
    size_t size, blocks;       // of the vector
    size_t first_block, share; // of this rank's slice: its blocks,
    size_t first, held;        // and its numbers
    double *sums;              // [blocks]
    size_t *block;             // [ranks + 1] the first block of each slice
    size_t *begin;             // [ranks + 1] room
};

/* Slices of about the same size. `ranks` may be NULL. */
trellis_status tr_slices_create(struct tr_slices *slices, struct tr_ranks *ranks, size_t size,
                                trellis_error *error);
void tr_slices_free(struct tr_slices *slices);

/* Cuts again, by what every block costs, as all ranks know: half of the weight of a block is its cost,
 * and half its size, so that the largest slice has at most about twice as many numbers as the mean. */
void tr_slices_balance(struct tr_slices *slices, const uint64_t *cost);

/* Where the slice of a rank begins; that of rank `count` is the end. */
size_t tr_slices_begin(const struct tr_slices *slices, unsigned rank);

/* Gives all ranks an array with `width` bytes for each number, or for each block, of which each rank
 * has those of its slice. No rank may have failed since they last agreed. */
trellis_status tr_slices_gather(struct tr_slices *slices, void *array, size_t width,
                                trellis_error *error);
trellis_status tr_slices_gather_blocks(struct tr_slices *slices, void *array, size_t width,
                                       trellis_error *error);

/* The sum of piece(user, begin, end) over the blocks of all ranks; places are counted from the
 * beginning of the slice. The pool may be NULL. No rank may have failed since they last agreed. */
trellis_status tr_slices_sum(struct tr_slices *slices, struct tr_pool *pool, tr_pool_piece piece,
                             void *user, double *ret_sum, trellis_error *error);

/* Which numbers of a vector that is cut into a part for each rank the ranks touch. */
struct tr_touched {
    struct tr_ranks *ranks;
    size_t *begin;       // [count + 1] the parts
    size_t *word;        // [count + 1] where the bits of each begin in `mine`, in words of 64
    size_t *theirs_word; // [count + 1] the same of `theirs`
    uint64_t *mine;      // bits: what this rank touches of each part
    uint64_t *theirs;    // what each rank touches of the part of this one
    char *room;          // [2][count] pieces
};

/* `marks` are bits, one for each number. All ranks are told. */
trellis_status tr_touched_create(struct tr_touched *touched, struct tr_ranks *ranks,
                                 const size_t *begin, const uint64_t *marks, trellis_error *error);
void tr_touched_free(struct tr_touched *touched);

/* Adds what others have touched to the part of this rank; numbers of other parts are of no use
 * afterwards. No rank may have failed since they last agreed; the same holds below. */
trellis_status tr_touched_sum(struct tr_touched *touched, double *numbers, trellis_error *error);
/* Gets the numbers that this rank touches from their owners. */
trellis_status tr_touched_pull(struct tr_touched *touched, float *numbers, trellis_error *error);

#endif
