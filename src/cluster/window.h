/* window.h - the clusters considered for the next merge, and the loss of merging each pair.
 *
 * With n(v,w) how often cluster v is followed by w, c(v) how often v occurs, and sums over the
 * clusters of the window, the loss of average mutual information by merging v and w (times the
 * number of bigrams, in nats) is
 *
 *     L(v,w) = G(v,w) + A(v) ln(c(vw) / c(v)) + A(w) ln(c(vw) / c(w))
 *
 *     A(v)   = sum over x of n(v,x) + n(x,v)
 *     G(v,w) = sum over x other than v, w of h(n(v,x), n(w,x)) + h(n(x,v), n(x,w))
 *              + f(n(v,v)) + f(n(v,w)) + f(n(w,v)) + f(n(w,w)) - f(n(v,v) + n(v,w) + n(w,v) + n(w,w))
 *     h(a,b) = f(a) + f(b) - f(a + b),   f(n) = n ln n,   c(vw) = c(v) + c(w)
 *
 * since the terms with c(x) cancel. h(a,b) is 0 if a or b is 0. So adding a cluster to the window,
 * or merging it into another one, changes G only for its neighbours: O(d C) for a word with d
 * neighbours rather than O(C^2), and half of all words occur once.
 *
 * f is rounded to a multiple of a power of 2, chosen such that all sums of it are exact in double
 * precision. G does not depend on the order of summation: it does not drift over a million merges,
 * nor vary with the number of threads.
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
    bool *stale;          // [limit] L(v,w) has changed since then for some w
    uint32_t *list;       // [limit] slots being updated
    double *scratch;      // [threads][stride]
    double *f;            // [f_size] f(n)
    uint64_t f_size;
    double unit; // f is a multiple of it
    struct tr_pool *pool;
};

/* For at most `limit` clusters of a text of `tokens` words. The pool must outlive it.
 * tr_window_free() is required whatever the status. */
trellis_status tr_window_create(struct tr_window *window, size_t limit, uint64_t tokens,
                                struct tr_pool *pool, trellis_error *error);
void tr_window_free(struct tr_window *window);

/* Adds a cluster of `count` tokens in a slot: number `used`, or the one that a merge has emptied.
 * right[v] is how often the cluster in slot v follows it, left[v] how often it precedes it, [limit]
 * each, including its own slot. */
void tr_window_add(struct tr_window *window, size_t slot, uint32_t count, const uint32_t *right,
                   const uint32_t *left);

/* The pair with the smallest loss, first < second; returns the loss. At least two clusters are
 * required, and no empty slot. */
double tr_window_best(struct tr_window *window, size_t *ret_first, size_t *ret_second);

/* Merges two clusters and returns the slot of the result. The other slot is then empty: the next
 * call must be tr_window_add() with that slot or tr_window_close(). */
size_t tr_window_merge(struct tr_window *window, size_t first, size_t second);
/* Removes an empty slot: the last one takes its place. */
void tr_window_close(struct tr_window *window, size_t slot);

/* L(v,w) */
double tr_window_loss(const struct tr_window *window, size_t v, size_t w);

#endif
