/* quasi_newton.c - L-BFGS: the history, the direction and the loop.
 *
 * With s_i = w_{i+1} - w_i and y_i = g_{i+1} - g_i of the last m iterations, the direction is -H g,
 * where H is the inverse Hessian that BFGS would have built from them, begun at H_0 = gamma D^{-1}:
 *
 *     for i = newest .. oldest:  a_i = s_i·q / s_i·y_i,  q -= a_i y_i          (q = g at first)
 *     r = H_0 q
 *     for i = oldest .. newest:  b_i = y_i·r / s_i·y_i,  r += (a_i - b_i) s_i
 *
 * (Nocedal and Wright 2006, algorithm 7.4.) D is a diagonal that tells how curved the objective is
 * along each weight, where the caller has an idea; s, y and g are kept scaled by D^{1/2} and
 * D^{-1/2}, which turns H_0 into gamma times the identity.
 *
 * The recursion only ever needs dot products of s, y and g, so those are kept in a small table, and
 * q and r are never formed: one pass over the history gives its products with g, and one more the
 * sum
 *
 *     d = sum_i (c_i s_i + e_i y_i) - gamma g
 *
 * The history is kept in single precision, which halves its room. Passes are cut into fixed blocks
 * that the threads share; sums are added in block order, so they do not depend on the number of
 * threads.
 *
 * Ranks share the blocks (slices.h): each keeps its slice of all vectors, sums its blocks, and gets the
 * sums of the others. With l1 or a checkpoint every rank does all of it.
 *
 * Where weights are penalised by l1, the steps are those of l1.c.
 */
#include "optim/methods.h"

#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "optim/quasi_newton.h"
#include "optim/vector.h"

enum { BLOCK = TR_SLICE_BLOCK };

/* What is summed over the blocks for a pair s_i, y_i, with the newest pair s, y and the slope g. */
enum { SY, YY, YS, SS, SG, YG, SUMS };

/* Where a block stands in the vectors of this process. */
static void block_range(const struct tr_quasi_newton_run *q, size_t block, size_t *begin,
                        size_t *end)
{
    *begin = (block - q->slices->first_block) * BLOCK;
    *end = *begin + BLOCK < q->size ? *begin + BLOCK : q->size;
}

static void run_block(void *user, size_t number, unsigned thread)
{
    (void)thread;
    struct tr_quasi_newton_run *q = user;
    q->work(q, q->slices->first_block + number);
}

/* How many sums of a block are in `partial`. */
static size_t partial_width(const struct tr_quasi_newton_run *q)
{
    return q->capacity * SUMS + 2;
}

/* Works on all blocks of this process, and gets the sums [width] of the others. */
static trellis_status run_blocks(struct tr_quasi_newton_run *q,
                                 void (*work)(struct tr_quasi_newton_run *q, size_t block),
                                 double *sums, size_t width)
{
    struct tr_pool *pool = q->monitor->settings->pool;
    q->work = work;
    if (pool) {
        tr_pool_run(pool, q->slices->share, run_block, q);
    }
    for (size_t number = 0; !pool && number < q->slices->share; number++) {
        run_block(q, number, 0);
    }
    return tr_slices_gather_blocks(q->slices, sums, width * sizeof *sums, q->monitor->error);
}

/* The part of a vector of a pair from weight `begin` on. */
static float *part_of(const struct tr_quasi_newton_run *q, float *vectors, uint64_t pair,
                      size_t begin)
{
    return vectors + pair * q->size + begin;
}

/* One of the sums [width] of all blocks, added in their order. */
static double add_blocks(const struct tr_quasi_newton_run *q, const double *sums, size_t width,
                         size_t which)
{
    double sum = 0;
    for (size_t block = 0; block < q->slices->blocks; block++) {
        sum += sums[block * width + which];
    }
    return sum;
}

/* Where the sums of a pair begin in those of a block. */
static double *pair_sums(const struct tr_quasi_newton_run *q, size_t block, uint64_t pair)
{
    return q->partial + block * partial_width(q) + pair * SUMS;
}

static double sum_of(const struct tr_quasi_newton_run *q, uint64_t pair, unsigned which)
{
    return add_blocks(q, q->partial, partial_width(q), pair * SUMS + which);
}

/* ---- the history ----------------------------------------------------------------------------- */

/* The products of all pairs with a slope, one block of each. */
static void multiply_slope(struct tr_quasi_newton_run *q, const double *slope, size_t block)
{
    size_t begin, end;
    block_range(q, block, &begin, &end);
    float scaled[BLOCK];
    for (size_t j = begin; j < end; j++) {
        scaled[j - begin] = (float)(slope[j] * tr_unit(q, j));
    }
    for (uint64_t age = 0; age < q->count; age++) {
        uint64_t i = tr_pair_at(q, age);
        double *sums = pair_sums(q, block, i);
        sums[SG] = q->kernels->dot(part_of(q, q->s, i, begin), scaled, end - begin);
        sums[YG] = q->kernels->dot(part_of(q, q->y, i, begin), scaled, end - begin);
    }
}

/* Moves one block of w and its gradient to the new point: the newest pair, and its products with
 * all pairs that are held. In the same pass, also those with the slope that the next direction
 * begins with. */
static void add_block(struct tr_quasi_newton_run *q, size_t block)
{
    const struct tr_line *line = &q->line;
    size_t begin, end;
    block_range(q, block, &begin, &end);
    float *s = part_of(q, q->s, q->newest, begin), *y = part_of(q, q->y, q->newest, begin);
    for (size_t j = begin; j < end; j++) {
        double unit = tr_unit(q, j);
        s[j - begin] = (float)((line->next_w[j] - line->w[j]) / unit);
        y[j - begin] = (float)((line->next_gradient[j] - line->gradient[j]) * unit);
        line->w[j] = line->next_w[j];
        line->gradient[j] = line->next_gradient[j];
    }
    double *squares = pair_sums(q, block, q->capacity); // behind the last pair
    squares[0] = tr_dot(NULL, line->gradient + begin, line->gradient + begin, end - begin);
    squares[1] = tr_dot(NULL, line->w + begin, line->w + begin, end - begin);
    bool penalised = tr_monitor_penalised(q->monitor);
    for (uint64_t age = 0; age < q->count; age++) {
        uint64_t i = tr_pair_at(q, age);
        double *sums = pair_sums(q, block, i);
        const float *other_s = part_of(q, q->s, i, begin), *other_y = part_of(q, q->y, i, begin);
        sums[SY] = q->kernels->dot(other_s, y, end - begin);
        sums[YY] = q->kernels->dot(other_y, y, end - begin);
        sums[YS] = q->kernels->dot(other_y, s, end - begin);
        sums[SS] = penalised ? q->kernels->dot(other_s, s, end - begin) : 0;
    }
    if (!penalised) {
        multiply_slope(q, line->gradient, block);
    }
}

/* Moves from w to next_w and takes the step into the history; forgets it again where the curvature
 * along it is not positive, as rounding can have it. */
static trellis_status advance(struct tr_quasi_newton_run *q, struct tr_point found)
{
    uint64_t before = q->newest, held = q->count;
    q->newest = (q->newest + 1) % q->capacity;
    q->count += q->count < q->capacity;
    trellis_status status = run_blocks(q, add_block, q->partial, partial_width(q));
    if (status) {
        return status;
    }
    for (uint64_t age = 0; age < q->count; age++) {
        uint64_t i = tr_pair_at(q, age), n = q->newest;
        q->sy[i * q->capacity + n] = sum_of(q, i, SY);
        q->sy[n * q->capacity + i] = sum_of(q, i, i == n ? SY : YS);
        q->yy[i * q->capacity + n] = q->yy[n * q->capacity + i] = sum_of(q, i, YY);
        q->ss[i * q->capacity + n] = q->ss[n * q->capacity + i] = sum_of(q, i, SS);
    }
    q->has_products = !tr_monitor_penalised(q->monitor);
    uint64_t n = q->newest;
    double sy = q->sy[n * q->capacity + n], yy = q->yy[n * q->capacity + n];
    if (sy > 1e-12 * yy && yy > 0) {
        q->gamma = sy / yy;
    } else {
        q->newest = before; // what was overwritten is the oldest
        q->count = held < q->capacity ? held : q->capacity - 1;
    }
    const struct tr_line *line = &q->line;
    double gradient_norm = tr_monitor_penalised(q->monitor)
                               ? tr_monitor_slope(q->monitor, line->w, line->gradient)
                               : sqrt(sum_of(q, q->capacity, 0));
    q->w_norm = sqrt(sum_of(q, q->capacity, 1));
    tr_line_report(&q->line, found, gradient_norm, q->w_norm);
    return TRELLIS_OK;
}

/* ---- the direction --------------------------------------------------------------------------- */

static void multiply_block(struct tr_quasi_newton_run *q, size_t block)
{
    multiply_slope(q, q->slope, block);
}

/* The two loops on the table instead of on vectors: with q = g - sum_j a_j y_j and
 * r = gamma q + sum_j (a_j - b_j) s_j, every product is a sum of products that are known. */
static void find_coefficients(struct tr_quasi_newton_run *q)
{
    for (uint64_t age = 0; age < q->count; age++) { // newest to oldest: a_i
        uint64_t i = tr_pair_at(q, age);
        double product = q->sg[i];
        for (uint64_t newer = 0; newer < age; newer++) {
            uint64_t j = tr_pair_at(q, newer);
            product -= q->for_y[j] * q->sy[i * q->capacity + j];
        }
        q->for_y[i] = product / q->sy[i * q->capacity + i];
    }
    for (uint64_t age = q->count; age-- > 0;) { // oldest to newest: a_i - b_i
        uint64_t i = tr_pair_at(q, age);
        double product = q->yg[i];
        for (uint64_t other = 0; other < q->count; other++) {
            uint64_t j = tr_pair_at(q, other);
            product -= q->for_y[j] * q->yy[i * q->capacity + j];
        }
        product *= q->gamma;
        for (uint64_t older = q->count; older-- > age + 1;) {
            uint64_t j = tr_pair_at(q, older);
            product += q->for_s[j] * q->sy[j * q->capacity + i];
        }
        q->for_s[i] = q->for_y[i] - product / q->sy[i * q->capacity + i];
    }
}

/* d = -D^{-1/2} (gamma (D^{-1/2} g - sum_j a_j y_j) + sum_j (a_j - b_j) s_j), one block. */
static void combine_block(struct tr_quasi_newton_run *q, size_t block)
{
    size_t begin, end;
    block_range(q, block, &begin, &end);
    double *d = q->line.direction;
    for (size_t j = begin; j < end; j++) {
        d[j] = -q->gamma * q->slope[j] * tr_unit(q, j);
    }
    for (uint64_t age = 0; age < q->count; age++) {
        uint64_t i = tr_pair_at(q, age);
        q->kernels->add_two(d + begin, part_of(q, q->s, i, begin), -q->for_s[i],
                            part_of(q, q->y, i, begin), q->gamma * q->for_y[i], end - begin);
    }
    for (size_t j = begin; j < end; j++) {
        d[j] *= tr_unit(q, j);
    }
    q->sums[2 * block] = tr_dot(NULL, d + begin, q->slope + begin, end - begin);
    q->sums[2 * block + 1] = tr_dot(NULL, d + begin, d + begin, end - begin);
}

static trellis_status find_direction(struct tr_quasi_newton_run *q)
{
    trellis_status status = TRELLIS_OK;
    if (q->count) {
        if (!q->has_products) {
            status = run_blocks(q, multiply_block, q->partial, partial_width(q));
        }
        for (uint64_t age = 0; age < q->count; age++) {
            uint64_t i = tr_pair_at(q, age);
            q->sg[i] = sum_of(q, i, SG);
            q->yg[i] = sum_of(q, i, YG);
        }
        find_coefficients(q);
    }
    return status ? status : run_blocks(q, combine_block, q->sums, 2);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* One search along the direction; a found step of 0 where there is none. */
static trellis_status search(struct tr_quasi_newton_run *q, struct tr_point *ret_found)
{
    struct tr_pool *pool = tr_line_pool(&q->line);
    bool penalised = tr_monitor_penalised(q->monitor);
    double slope = add_blocks(q, q->sums, 2, 0), length = sqrt(add_blocks(q, q->sums, 2, 1));
    if (penalised) {
        tr_l1_align(q);
        slope = tr_dot(pool, q->line.direction, q->slope, q->size);
        length = q->count ? 0 : tr_norm(pool, q->line.direction, q->size);
    }
    q->line.finite = penalised ? 0 : (sqrt(DBL_MAX) - q->w_norm) / length;
    double trial = q->count ? 1 : 1 / fmax(length, 1e-300);
    if (!(slope < 0)) {
        *ret_found = (struct tr_point){.value = q->monitor->value};
        return TRELLIS_OK;
    }
    if (penalised) {
        return tr_l1_search_orthant(q, trial, ret_found);
    }
    struct tr_point start = {.value = q->monitor->value, .slope = slope};
    return tr_search_strong_wolfe(&q->line, start, 0.9, trial, ret_found);
}

/* What has to be known from one iteration to the next. */
static void name_state(struct tr_quasi_newton_run *q)
{
    struct tr_state_registry *registry = q->monitor->settings->registry;
    size_t pairs = q->capacity * q->capacity;
    tr_keep_floats(registry, "PAIS", q->s, q->capacity * q->size);
    tr_keep_floats(registry, "PAIY", q->y, q->capacity * q->size);
    tr_keep_doubles(registry, "PROD", q->sy, 3 * pairs); // q->yy and q->ss are behind it
    tr_keep_doubles(registry, "GAMM", &q->gamma, 1);
    tr_keep_whole(registry, "HELD", &q->count, 1, q->capacity);
    tr_keep_whole(registry, "NEWE", &q->newest, 1, q->capacity - 1);
}

static trellis_status run(struct tr_quasi_newton_run *q)
{
    struct tr_monitor *monitor = q->monitor;
    struct tr_state_registry *registry = monitor->settings->registry;
    name_state(q);
    trellis_status status = tr_monitor_begin(monitor, q->line.w, q->line.gradient);
    while (!status && monitor->stop == TR_STOP_NONE) {
        struct tr_point found;
        status = tr_registry_save(registry, monitor->error);
        if (status) {
            return status;
        }
        tr_l1_slope(q);
        bool by_model = false;
        if (q->count && tr_monitor_penalised(monitor)) {
            status = tr_l1_model(q, &by_model);
        }
        if (!status && !by_model) {
            status = find_direction(q);
        }
        if (!status) {
            status = by_model ? tr_l1_search_model(q, &found) : search(q, &found);
        }
        if (status) {
            return status;
        }
        if (found.step > 0) {
            status = advance(q, found);
        } else if (q->count) { // the history misleads: clear it
            q->count = 0;
            q->gamma = 1;
        } else {
            monitor->stop = TR_STOP_PRECISION;
        }
    }
    return status;
}

static trellis_status prepare(struct tr_quasi_newton_run *q, struct tr_monitor *monitor, double *w,
                              double *gradient)
{
    const struct tr_optim_settings *settings = monitor->settings;
    unsigned capacity = settings->history ? settings->history : 6;
    size_t size = monitor->objective->size;
    *q = (struct tr_quasi_newton_run){.monitor = monitor,
                                      .size = size,
                                      .slices = monitor->slices,
                                      .capacity = capacity,
                                      .kernels = tr_kernels(),
                                      .gamma = 1,
                                      .w_norm = INFINITY};
    bool penalised = tr_monitor_penalised(monitor);
    if (capacity > 100000) {
        return tr_fail(monitor->error, TRELLIS_LIMIT, "a history of %u steps is too long",
                       capacity);
    }
    trellis_status status = tr_line_open(&q->line, monitor, w, gradient);
    size_t pairs = (size_t)capacity * capacity;
    q->s = tr_alloc_aligned((size_t)capacity * size, sizeof *q->s);
    q->y = tr_alloc_aligned((size_t)capacity * size, sizeof *q->y);
    q->sy = tr_alloc(3 * pairs, sizeof *q->sy);
    q->sg = tr_alloc(4 * (size_t)capacity, sizeof *q->sg);
    q->partial = tr_alloc(q->slices->blocks, partial_width(q) * sizeof *q->partial);
    q->sums = tr_alloc(q->slices->blocks, 2 * sizeof *q->sums);
    q->slope = penalised ? tr_alloc_aligned(size, sizeof *q->slope) : gradient;
    q->unit = settings->unit;
    if (!status && (!q->s || !q->y || !q->sy || !q->sg || !q->partial || !q->sums || !q->slope)) {
        status = tr_fail_memory(monitor->error);
    }
    if (!status) {
        q->yy = q->sy + pairs;
        q->ss = q->yy + pairs;
        q->yg = q->sg + capacity;
        q->for_s = q->yg + capacity;
        q->for_y = q->for_s + capacity;
    }
    return status;
}

trellis_status tr_quasi_newton(struct tr_monitor *monitor, double *w, double *gradient)
{
    struct tr_quasi_newton_run q;
    trellis_status status = prepare(&q, monitor, w, gradient);
    if (q.slices->ranks) {
        status = tr_ranks_agree(q.slices->ranks, status, monitor->error);
    }
    if (!status) {
        status = run(&q);
    }
    if (q.slope != gradient) {
        free(q.slope);
    }
    free(q.s);
    free(q.y);
    free(q.sy);
    free(q.sg);
    free(q.partial);
    free(q.sums);
    tr_proximal_free(&q.proximal);
    tr_line_close(&q.line);
    return status;
}
