/* window.c - the clusters considered for the next merge, and the loss of merging each pair. */
#include "cluster/window.h"

#include <math.h>
#include <string.h>

enum {
    LANES = 8,
    MAX_TABLE = 1 << 20,     // of f
    PARALLEL_WORK = 1 << 16, // terms; below it one thread is faster than several
};

/* ---- f --------------------------------------------------------------------------------------- */

static double rounded(uint64_t n, double unit)
{
    double x = (double)n;
    return n ? nearbyint(x * log(x) / unit) * unit : 0;
}

static inline double f(const struct tr_window *window, uint64_t n)
{
    return n < window->f_size ? window->f[n] : rounded(n, window->unit);
}

/* The unit of f: sums of up to eight times the largest value are exact. */
static double unit_for(uint64_t tokens)
{
    double n = 2 * (double)tokens + 2, largest = 8 * n * log(n);
    return exp2(ceil(log2(largest)) - 53);
}

/* ---- creation -------------------------------------------------------------------------------- */

trellis_status tr_window_create(struct tr_window *window, size_t limit, uint64_t tokens,
                                struct tr_pool *pool, trellis_error *error)
{
    size_t stride = (limit + LANES - 1) / LANES * LANES;
    *window = (struct tr_window){.limit = limit, .stride = stride, .pool = pool};
    window->unit = unit_for(tokens);
    window->f_size = tokens < MAX_TABLE ? tokens + 1 : MAX_TABLE;
    window->right = tr_alloc_aligned(limit, stride * sizeof *window->right);
    window->left = tr_alloc_aligned(limit, stride * sizeof *window->left);
    window->shared = tr_alloc_aligned(limit, stride * sizeof *window->shared);
    window->log_sum = tr_alloc_aligned(limit, stride * sizeof *window->log_sum);
    window->adjacent = tr_alloc_aligned(stride, sizeof *window->adjacent);
    window->log_count = tr_alloc_aligned(stride, sizeof *window->log_count);
    window->count = tr_alloc_aligned(stride, sizeof *window->count);
    window->best_loss = tr_alloc(limit, sizeof *window->best_loss);
    window->best = tr_alloc(limit, sizeof *window->best);
    window->stale = tr_alloc(limit, sizeof *window->stale);
    window->list = tr_alloc(limit, sizeof *window->list);
    window->scratch = tr_alloc_aligned(tr_pool_threads(pool), stride * sizeof *window->scratch);
    window->f = tr_alloc(window->f_size, sizeof *window->f);
    if (!window->right || !window->left || !window->shared || !window->log_sum ||
        !window->adjacent || !window->log_count || !window->count || !window->best_loss ||
        !window->best || !window->stale || !window->list || !window->scratch || !window->f) {
        return tr_fail_memory(error);
    }
    for (uint64_t n = 0; n < window->f_size; n++) {
        window->f[n] = rounded(n, window->unit);
    }
    return TRELLIS_OK;
}

void tr_window_free(struct tr_window *window)
{
    free(window->right);
    free(window->left);
    free(window->shared);
    free(window->log_sum);
    free(window->adjacent);
    free(window->log_count);
    free(window->count);
    free(window->best_loss);
    free(window->best);
    free(window->stale);
    free(window->list);
    free(window->scratch);
    free(window->f);
}

/* Runs work for blocks 0 .. blocks-1, on all threads if there are enough terms. */
static void run(struct tr_window *window, size_t blocks, size_t terms, tr_pool_work work,
                void *user)
{
    if (terms >= PARALLEL_WORK && tr_pool_threads(window->pool) > 1) {
        tr_pool_run(window->pool, blocks, work, user);
        return;
    }
    for (size_t i = 0; i < blocks; i++) {
        work(user, i, 0);
    }
}

/* ---- sums of h ------------------------------------------------------------------------------- */

/* into[w] += h(a, b[w]) */
static void add_joint(const struct tr_window *window, double *restrict into, uint64_t a,
                      const uint32_t *restrict b, size_t n)
{
    double fa = f(window, a);
    for (size_t w = 0; w < n; w++) {
        into[w] += fa + f(window, b[w]) - f(window, a + b[w]);
    }
}

/* into[w] += h(new, b[w]) - h(old, b[w]) */
static void replace_joint(const struct tr_window *window, double *restrict into, uint64_t new,
                          uint64_t old, const uint32_t *restrict b, size_t n)
{
    double difference = f(window, new) - f(window, old);
    for (size_t w = 0; w < n; w++) {
        into[w] += difference - f(window, new + b[w]) + f(window, old + b[w]);
    }
}

/* h(a + b, x + y) - h(a, x) - h(b, y) */
static inline double united(const struct tr_window *window, uint64_t a, uint64_t b, uint64_t x,
                            uint64_t y)
{
    return (f(window, a + b) - f(window, a) - f(window, b)) +
           (f(window, x + y) - f(window, x) - f(window, y)) -
           (f(window, a + b + x + y) - f(window, a + x) - f(window, b + y));
}

/* The part of G(v,w) that depends on the counts of v and w alone. */
static double between(const struct tr_window *window, size_t v, size_t w)
{
    const uint32_t *row_v = window->right + v * window->stride,
                   *row_w = window->right + w * window->stride;
    uint64_t vv = row_v[v], vw = row_v[w], wv = row_w[v], ww = row_w[w];
    return f(window, vv) + f(window, vw) + f(window, wv) + f(window, ww) -
           f(window, vv + vw + wv + ww);
}

/* ---- adding a cluster ------------------------------------------------------------------------ */

/* An update of the rows of some slots. */
struct job {
    struct tr_window *window;
    size_t slot, other;
    const uint32_t *list; // neighbours of slot, without slot and other
    size_t count;
};

/* The neighbours of a slot on either side, except itself and `other`; marks them as stale. */
static struct job neighbours_of(struct tr_window *window, size_t slot, size_t other)
{
    const uint32_t *right = window->right + slot * window->stride,
                   *left = window->left + slot * window->stride;
    struct job job = {window, slot, other, window->list, 0};
    for (size_t v = 0; v < window->used; v++) {
        if ((right[v] || left[v]) && v != slot && v != other) {
            window->list[job.count++] = (uint32_t)v;
            window->stale[v] = true;
        }
    }
    return job;
}

static void add_to_neighbour(void *user, size_t block, unsigned thread)
{
    (void)thread;
    const struct job *job = user;
    const struct tr_window *window = job->window;
    size_t v = job->list[block];
    const uint32_t *right = window->right + job->slot * window->stride,
                   *left = window->left + job->slot * window->stride;
    double *shared = window->shared + v * window->stride;
    if (right[v]) {
        add_joint(window, shared, right[v], right, window->used);
    }
    if (left[v]) {
        add_joint(window, shared, left[v], left, window->used);
    }
}

/* G(slot, w) from scratch, as a sum over the neighbours x; the sum excludes x = w. */
static void sum_shared(const struct job *job)
{
    const struct tr_window *window = job->window;
    size_t used = window->used, stride = window->stride;
    const uint32_t *right = window->right + job->slot * stride,
                   *left = window->left + job->slot * stride;
    double *shared = window->shared + job->slot * stride;
    memset(shared, 0, used * sizeof *shared);
    for (size_t k = 0; k < job->count; k++) {
        size_t x = job->list[k];
        double kept = shared[x];
        if (right[x]) {
            add_joint(window, shared, right[x], window->left + x * stride, used);
        }
        if (left[x]) {
            add_joint(window, shared, left[x], window->right + x * stride, used);
        }
        shared[x] = kept;
    }
    for (size_t w = 0; w < used; w++) {
        shared[w] += between(window, job->slot, w);
    }
}

/* G(w, slot) = G(slot, w) */
static void mirror(struct tr_window *window, size_t slot)
{
    for (size_t w = 0; w < window->used; w++) {
        window->shared[w * window->stride + slot] = window->shared[slot * window->stride + w];
    }
}

static void set_count(struct tr_window *window, size_t slot, double count)
{
    window->count[slot] = count;
    window->log_count[slot] = log(count);
    for (size_t w = 0; w < window->used; w++) {
        double log_sum = log(count + window->count[w]);
        window->log_sum[slot * window->stride + w] = log_sum;
        window->log_sum[w * window->stride + slot] = log_sum;
    }
}

void tr_window_add(struct tr_window *window, size_t slot, uint32_t count, const uint32_t *right,
                   const uint32_t *left)
{
    size_t stride = window->stride;
    window->used += slot == window->used;
    double adjacent = 0;
    for (size_t v = 0; v < window->used; v++) {
        window->right[slot * stride + v] = window->left[v * stride + slot] = right[v];
        window->left[slot * stride + v] = window->right[v * stride + slot] = left[v];
        window->adjacent[v] += v == slot ? 0 : (double)right[v] + left[v];
        adjacent += (double)right[v] + left[v];
    }
    window->adjacent[slot] = adjacent;
    set_count(window, slot, count);
    struct job job = neighbours_of(window, slot, slot);
    run(window, job.count, job.count * window->used, add_to_neighbour, &job);
    sum_shared(&job);
    mirror(window, slot);
    window->stale[slot] = true;
}

/* ---- merging -------------------------------------------------------------------- */

static size_t neighbour_count(const struct tr_window *window, size_t slot)
{
    const uint32_t *right = window->right + slot * window->stride,
                   *left = window->left + slot * window->stride;
    size_t count = 0;
    for (size_t v = 0; v < window->used; v++) {
        count += right[v] || left[v];
    }
    return count;
}

/* G(v,w) += h(s[v] + t[v], s[w] + t[w]) - h(s[v], s[w]) - h(t[v], t[w]) for all w, where s and t
 * are the rows of the merged clusters. The sum is 0 if s[v] and s[w] are. */
static void unite_joint(const struct job *job, size_t v, const uint32_t *restrict table)
{
    const struct tr_window *window = job->window;
    const uint32_t *s = table + job->slot * window->stride,
                   *t = table + job->other * window->stride;
    double *into = window->shared + v * window->stride;
    for (size_t w = 0; s[v] && w < window->used; w++) {
        into[w] += united(window, s[v], t[v], s[w], t[w]);
    }
    for (size_t k = 0; !s[v] && k < job->count; k++) {
        size_t w = job->list[k];
        into[w] += united(window, 0, t[v], s[w], t[w]);
    }
}

/* G(v,w) for a neighbour v of the smaller cluster and any w. */
static void unite_for_neighbour(void *user, size_t block, unsigned thread)
{
    (void)thread;
    const struct job *job = user;
    unite_joint(job, job->list[block], job->window->right);
    unite_joint(job, job->list[block], job->window->left);
}

/* G(large, w) of the merged cluster, without between(). */
static void unite_shared(const struct job *job)
{
    const struct tr_window *window = job->window;
    size_t used = window->used, stride = window->stride;
    size_t small = job->slot, large = job->other;
    const uint32_t *right = window->right, *left = window->left;
    double *shared = window->shared + large * stride;
    for (size_t w = 0; w < used; w++) {
        shared[w] -= between(window, large, w);
    }
    for (size_t k = 0; k < job->count; k++) {
        size_t x = job->list[k];
        double kept = shared[x];
        uint64_t before = right[large * stride + x], more = right[small * stride + x];
        if (more) {
            replace_joint(window, shared, before + more, before, left + x * stride, used);
        }
        before = left[large * stride + x], more = left[small * stride + x];
        if (more) {
            replace_joint(window, shared, before + more, before, right + x * stride, used);
        }
        shared[x] = kept;
    }
    // the smaller cluster is no longer a neighbour: h(0, b) = 0
    replace_joint(window, shared, 0, right[large * stride + small], left + small * stride, used);
    replace_joint(window, shared, 0, left[large * stride + small], right + small * stride, used);
}

/* Adds the counts of the smaller cluster to those of the larger one. */
static void unite_counts(struct tr_window *window, size_t small, size_t large)
{
    size_t stride = window->stride;
    uint32_t *tables[] = {window->right, window->left};
    for (int k = 0; k < 2; k++) {
        uint32_t *row = tables[k] + large * stride, *from = tables[k] + small * stride;
        uint32_t *other = tables[1 - k];
        row[large] += row[small] + from[large] + from[small];
        for (size_t x = 0; x < window->used; x++) {
            if (x != large && x != small) {
                row[x] += from[x];
                other[x * stride + large] = row[x];
            }
        }
    }
    window->adjacent[large] += window->adjacent[small];
}

size_t tr_window_merge(struct tr_window *window, size_t first, size_t second)
{
    bool smaller = neighbour_count(window, first) < neighbour_count(window, second);
    size_t small = smaller ? first : second, large = smaller ? second : first;
    struct job job = neighbours_of(window, small, large);
    run(window, job.count, 2 * job.count * window->used, unite_for_neighbour, &job);
    unite_shared(&job);
    unite_counts(window, small, large);
    for (size_t w = 0; w < window->used; w++) {
        window->shared[large * window->stride + w] += between(window, large, w);
    }
    for (size_t k = 0; k < job.count; k++) {
        size_t v = job.list[k];
        double kept = window->shared[large * window->stride + v];
        mirror(window, v);
        window->shared[large * window->stride + v] = kept;
    }
    mirror(window, large);
    set_count(window, large, window->count[large] + window->count[small]);
    window->stale[large] = window->stale[small] = true;
    return large;
}

static void move_row(struct tr_window *window, size_t to, size_t from)
{
    size_t used = window->used, row = window->stride;
    memcpy(window->right + to * row, window->right + from * row, used * sizeof *window->right);
    memcpy(window->left + to * row, window->left + from * row, used * sizeof *window->left);
    memcpy(window->shared + to * row, window->shared + from * row, used * sizeof *window->shared);
    memcpy(window->log_sum + to * row, window->log_sum + from * row,
           used * sizeof *window->log_sum);
    window->adjacent[to] = window->adjacent[from];
    window->log_count[to] = window->log_count[from];
    window->count[to] = window->count[from];
    window->best_loss[to] = window->best_loss[from];
    window->best[to] = window->best[from];
    window->stale[to] = window->stale[from];
}

void tr_window_close(struct tr_window *window, size_t slot)
{
    size_t last = window->used - 1, row = window->stride;
    if (slot != last) {
        move_row(window, slot, last);
        for (size_t v = 0; v < last; v++) {
            window->right[v * row + slot] = window->right[v * row + last];
            window->left[v * row + slot] = window->left[v * row + last];
            window->shared[v * row + slot] = window->shared[v * row + last];
            window->log_sum[v * row + slot] = window->log_sum[v * row + last];
        }
    }
    for (size_t v = 0; v < last; v++) {
        if (window->best[v] == last || window->best[v] == slot) {
            window->stale[v] = true; // its partner has moved or is gone
        }
    }
    window->stale[slot] = true;
    window->used--;
}

/* ---- the best pair --------------------------------------------------------------------------- */

double tr_window_loss(const struct tr_window *window, size_t v, size_t w)
{
    double log_sum = window->log_sum[v * window->stride + w];
    return window->shared[v * window->stride + w] +
           (window->adjacent[v] * (log_sum - window->log_count[v]) +
            window->adjacent[w] * (log_sum - window->log_count[w]));
}

/* Whether the pair belongs to v: to its rarer cluster; if equal, to the later slot. New words are
 * rare and cheap to merge with almost anything. As they own their pairs, merging them rarely
 * changes the best partners of others. */
static inline bool owns(const struct tr_window *window, size_t v, size_t w)
{
    bool equal = window->count[w] == window->count[v];
    return equal ? w < v : window->count[w] > window->count[v];
}

/* The least of n numbers; infinite if n is 0. */
static double least_of(const double *loss, size_t n)
{
    double least[LANES];
    for (size_t k = 0; k < LANES; k++) {
        least[k] = INFINITY;
    }
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            least[k] = loss[i + k] < least[k] ? loss[i + k] : least[k];
        }
    }
    for (; i < n; i++) {
        least[0] = loss[i] < least[0] ? loss[i] : least[0];
    }
    for (size_t k = 1; k < LANES; k++) {
        least[0] = least[k] < least[0] ? least[k] : least[0];
    }
    return least[0];
}

/* Finds the best partner of v among its pairs. */
static void search_row(struct tr_window *window, size_t v, double *restrict loss)
{
    size_t used = window->used;
    const double *shared = window->shared + v * window->stride,
                 *log_sum = window->log_sum + v * window->stride, *adjacent = window->adjacent,
                 *log_count = window->log_count, *count = window->count;
    double adjacent_v = adjacent[v], log_count_v = log_count[v], count_v = count[v];
    for (size_t w = 0; w < used; w++) {
        double x = shared[w] + (adjacent_v * (log_sum[w] - log_count_v) +
                                adjacent[w] * (log_sum[w] - log_count[w]));
        loss[w] = count[w] >= count_v ? x : INFINITY;
    }
    for (size_t w = v; w < used; w++) {
        loss[w] = count[w] > count_v ? loss[w] : INFINITY;
    }
    double least = least_of(loss, used);
    size_t best = v;
    if (least < INFINITY) {
        for (best = 0; loss[best] != least; best++) {}
    }
    window->best_loss[v] = least;
    window->best[v] = (uint32_t)best;
}

/* If neither v nor its best partner is stale, only stale clusters can be better. */
static void refresh_row(void *user, size_t block, unsigned thread)
{
    const struct job *job = user;
    struct tr_window *window = job->window;
    size_t v = block;
    if (window->stale[v] || window->stale[window->best[v]]) {
        search_row(window, v, window->scratch + thread * window->stride);
        return;
    }
    for (size_t k = 0; k < job->count; k++) {
        size_t w = job->list[k];
        double loss = owns(window, v, w) ? tr_window_loss(window, v, w) : INFINITY;
        if (loss < window->best_loss[v] || (loss <= window->best_loss[v] && w < window->best[v])) {
            window->best_loss[v] = loss;
            window->best[v] = (uint32_t)w;
        }
    }
}

double tr_window_best(struct tr_window *window, size_t *ret_first, size_t *ret_second)
{
    struct job job = {.window = window, .list = window->list};
    for (size_t v = 0; v < window->used; v++) {
        if (window->stale[v]) {
            window->list[job.count++] = (uint32_t)v;
        }
    }
    run(window, window->used, job.count * window->used, refresh_row, &job);
    size_t best = 0;
    for (size_t v = 0; v < window->used; v++) {
        window->stale[v] = false;
        best = window->best_loss[v] < window->best_loss[best] ? v : best;
    }
    size_t partner = window->best[best];
    *ret_first = best < partner ? best : partner;
    *ret_second = best < partner ? partner : best;
    return window->best_loss[best];
}
