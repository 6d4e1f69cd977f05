/* pool.h - a thread pool for work that is cut into blocks.
 *
 * The blocks do not depend on the number of threads. Results that are summed are added in block order
 * (tr_pool_turn) or are such that their order does not matter (tr_on_grid), so that sums are the same
 * to the last bit for one thread or many (docs/design.md, decision 6).
 *
 * POSIX threads rather than OpenMP: failing to start a thread is an error we can report, and the
 * thread sanitizer understands every lock.
 */
#ifndef TRELLIS_BASE_POOL_H
#define TRELLIS_BASE_POOL_H

#include "base/error.h"

struct tr_pool;

/* Starts `threads` - 1 threads; the caller of tr_pool_run() is one more. */
trellis_status tr_pool_create(unsigned threads, struct tr_pool **ret_pool, trellis_error *error);
/* The value of the option `threads`: one per processor where that is 0. */
trellis_status tr_pool_create_for(const trellis_options *options, struct tr_pool **ret_pool,
                                  trellis_error *error);
void tr_pool_destroy(struct tr_pool *pool);
unsigned tr_pool_threads(const struct tr_pool *pool);

/* Calls work(user, block, thread) for every block in 0 .. blocks-1; `thread` is below
 * tr_pool_threads(), 0 is the caller, and no two calls with the same thread number run at once. Of as
 * many blocks as in the last run a thread gets about the same: what it has in its caches. */
typedef void (*tr_pool_work)(void *user, size_t block, unsigned thread);
void tr_pool_run(struct tr_pool *pool, size_t blocks, tr_pool_work work, void *user);
/* The same in block order: a free thread takes the next block. */
void tr_pool_run_in_turns(struct tr_pool *pool, size_t blocks, tr_pool_work work, void *user);

/* Within the `work` of such a run: waits until all lower blocks have called tr_pool_turn_done().
 * Either every block calls both or none does. */
void tr_pool_turn(struct tr_pool *pool, size_t block);
void tr_pool_turn_done(struct tr_pool *pool, size_t block);

/* Cuts 0 .. size-1 into pieces that do not depend on the number of threads, calls
 * piece(user, begin, end) for each in the threads of the pool, and sums the results in the order of
 * the pieces. Without a pool (NULL) the caller does all of it. */
typedef double (*tr_pool_piece)(void *user, size_t begin, size_t end);
double tr_pool_sum(struct tr_pool *pool, size_t size, tr_pool_piece piece, void *user);
/* The same for rows of `width` numbers, so that few of them are enough to be cut. */
double tr_pool_sum_rows(struct tr_pool *pool, size_t size, size_t width, tr_pool_piece piece,
                        void *user);

#endif
