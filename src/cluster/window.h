/* window.h - the clusters among which the next merge is sought, and what each merge would lose.
 *
 * With n(v,w) how often cluster v is followed by w, c(v) how often v occurs, and sums over the clusters of
 * the window, merging v and w loses average mutual information (times the number of bigrams, in nats)
 *
 *     L(v,w) = G(v,w) + A(v) ln(c(vw) / c(v)) + A(w) ln(c(vw) / c(w))
 *
 *     A(v)   = sum over x of n(v,x) + n(x,v)
 *     G(v,w) = sum over x other than v, w of h(n(v,x), n(w,x)) + h(n(x,v), n(x,w))
 *              + f(n(v,v)) + f(n(v,w)) + f(n(w,v)) + f(n(w,w)) - f(n(v,v) + n(v,w) + n(w,v) + n(w,w))
 *     h(a,b) = f(a) + f(b) - f(a + b),   f(n) = n ln n,   c(vw) = c(v) + c(w)
 *
 * since in a sum over x the terms with c(x) cancel. h(a,b) is 0 where a or b is 0. So a cluster that comes
 * into the window or is merged into another one changes G only where it has neighbours: a word with d
 * neighbours costs O(d C) rather than O(C^2), and half of all words occur once.
 *
 * f is rounded to a multiple of a power of 2 that is so large that sums of it are exact in double precision.
 * G is then the same in whatever order it was added up: it does not drift over a million merges, and does not
 * depend on the number of threads.
 */
#ifndef TRELLIS_CLUSTER_WINDOW_H
#define TRELLIS_CLUSTER_WINDOW_H

#include "base/memory.h"
#include "base/pool.h"

struct tr_window {
    size_t limit, stride; // slots, and the length of a row of a table
    size_t used;          // slots with a cluster in them are 0 .. used-1
    uint32_t *right;      // [limit][stride] n(v,w)
    uint32_t *left;       // [limit][stride] n(w,v)
    double *shared;       // [limit][stride] G(v,w)
    double *log_sum;      // [limit][stride] ln c(vw)
    double *adjacent;     // [stride] A(v)
    double *log_count;    // [stride] ln c(v)
    double *count;        // [stride] c(v)
    double *best_loss;    // [limit] the least L(v,w) over all w more frequent than v, and
    uint32_t *best;       // [limit] the first w that has it
    bool *stale;          // [limit] L(v,w) has changed since then for any w
    uint32_t *list;       // [limit] of the slots in work
    double *scratch;      // [threads][stride]
    double *f;            // [f_size] f(n)
    uint64_t f_size;
    double unit; // f is a multiple of it
    struct tr_pool *pool;
};

/* For at most `limit` clusters of a text of `tokens` words. The pool must outlive it. tr_window_free() is due
 * whatever the status. */
trellis_status tr_window_create(struct tr_window *window, size_t limit, uint64_t tokens,
                                struct tr_pool *pool, trellis_error *error);
void tr_window_free(struct tr_window *window);

/* Puts a cluster of `count` words into a slot: `used`, or one that a merge has left. right[v] is how often it is
 * followed by the cluster in slot v, left[v] how often it follows it, [limit] each; its own slot included. */
void tr_window_add(struct tr_window *window, size_t slot, uint32_t count, const uint32_t *right,
                   const uint32_t *left);

/* The pair of slots whose merge loses the least, first < second; returns the loss. There are at least two clusters,
 * and no slot is empty. Of equal losses the first one counts. */
double tr_window_best(struct tr_window *window, size_t *ret_first, size_t *ret_second);

/* Merges two clusters; returns the slot of the new one. The other slot is empty: the next call is tr_window_add()
 * into it or tr_window_close(). */
size_t tr_window_merge(struct tr_window *window, size_t first, size_t second);
/* Closes a slot: the last one takes its place. */
void tr_window_close(struct tr_window *window, size_t slot);

/* L(v,w) as it stands. */
double tr_window_loss(const struct tr_window *window, size_t v, size_t w);

#endif
