/* pool.c - a thread pool for work that is cut into blocks.
 *
 * In training, threads wait for each other some thousand times a second, usually for a few
 * microseconds, and sleeping and waking takes longer than that. So a thread that waits spins first,
 * and sleeps only if that was not enough. Where spinning rarely helps, as on a busy machine, the
 * number of spins falls.
 *
 * A thread always waits for a counter to reach a value. Counters change under the lock, so that no
 * thread falls asleep between a check and the change.
 *
 * The blocks are divided into parts, one for each thread, which takes those of its own part first and
 * then helps with the others'. So where one run after the other works on the same data, what a thread
 * has read or written stays in the caches of its processor.
 *
 * A run is over when all its blocks are done; it does not wait for workers that are still asleep.
 * Such a worker finds no block left, or those of the next run. A thread reads the description of a
 * run only after it has taken a block, and the description is written only while there are no
 * blocks to take.
 */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/options.h"

enum {
    MAX_SPINS = 4000,
    MIN_SPINS = 500,
    PIECES = 64,  // of a vector
    SMALL = 16384 // vectors below this size are one piece
};

/* The blocks of a run that a thread takes first, in a cache line of their own. */
struct pool_part {
    _Alignas(64) atomic_llong left; // not taken yet; below 0 after threads have found none
    size_t end;
};

struct pool_worker {
    struct tr_pool *pool;
    unsigned number;
    pthread_t thread;
};

struct tr_pool {
    unsigned threads;            // the caller included
    struct pool_worker *workers; // [threads - 1]
    unsigned started;
    atomic_int spins; // before a sleep
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_bool ending;
    atomic_size_t runs; // started so far
    tr_pool_work work;
    void *user;
    struct pool_part *parts; // [threads]
    atomic_size_t done, turns;
};

/* Tells the processor that this is a spin loop. */
static void pause_spin(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void set(struct tr_pool *pool, atomic_size_t *number, size_t value)
{
    pthread_mutex_lock(&pool->lock);
    atomic_store(number, value);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

static void sleep_until(struct tr_pool *pool, atomic_size_t *number, size_t value)
{
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(number) < value) {
        pthread_cond_wait(&pool->changed, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Waits until a counter has reached a value. */
static void await(struct tr_pool *pool, atomic_size_t *number, size_t value)
{
    int spins = atomic_load(&pool->spins);
    if (atomic_load(number) >= value) {
        return;
    }
    for (int i = 0; i < spins; i++) {
        pause_spin();
        if (atomic_load(number) >= value) {
            atomic_store(&pool->spins, spins < MAX_SPINS / 2 ? spins * 2 : MAX_SPINS);
            return;
        }
    }
    atomic_store(&pool->spins, spins > MIN_SPINS ? spins - spins / 8 : MIN_SPINS);
    sleep_until(pool, number, value);
}

/* Where a part of the blocks begins. */
static size_t part_begin(size_t blocks, unsigned part, unsigned parts)
{
    return blocks / parts * part + blocks % parts * part / parts;
}

/* Takes blocks until none are left, those of its own part first. */
static void drain(struct tr_pool *pool, unsigned thread)
{
    size_t done = 0;
    for (unsigned i = 0; i < pool->threads; i++) {
        struct pool_part *part = &pool->parts[(thread + i) % pool->threads];
        long long left = atomic_load(&part->left);
        while (left > 0 && (left = atomic_fetch_sub(&part->left, 1)) > 0) {
            pool->work(pool->user, part->end - (size_t)left, thread);
            done++;
        }
    }
    if (done) {
        pthread_mutex_lock(&pool->lock);
        atomic_fetch_add(&pool->done, done);
        pthread_cond_broadcast(&pool->changed);
        pthread_mutex_unlock(&pool->lock);
    }
}

static void *worker_main(void *argument)
{
    struct pool_worker *worker = argument;
    struct tr_pool *pool = worker->pool;
    size_t seen = 0;
    for (;;) {
        await(pool, &pool->runs, seen + 1);
        seen = atomic_load(&pool->runs);
        if (atomic_load(&pool->ending)) {
            return NULL;
        }
        drain(pool, worker->number);
    }
}

trellis_status tr_pool_create(unsigned threads, struct tr_pool **ret_pool, trellis_error *error)
{
    *ret_pool = NULL;
    threads = threads ? threads : 1;
    struct tr_pool *pool = tr_alloc(1, sizeof *pool);
    struct pool_worker *workers = tr_alloc(threads, sizeof *workers);
    struct pool_part *parts = tr_alloc_aligned(threads, sizeof *parts);
    if (!pool || !workers || !parts) {
        free(pool);
        free(workers);
        free(parts);
        return tr_fail_memory(error);
    }
    pool->threads = threads;
    pool->workers = workers;
    pool->parts = parts;
    atomic_store(&pool->spins, MAX_SPINS);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    for (unsigned i = 0; i + 1 < threads; i++) {
        workers[i] = (struct pool_worker){.pool = pool, .number = i + 1};
        if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0) {
            tr_pool_destroy(pool);
            return tr_fail(error, TRELLIS_MEMORY, "cannot start thread %u of %u", i + 2, threads);
        }
        pool->started++;
    }
    *ret_pool = pool;
    return TRELLIS_OK;
}

trellis_status tr_pool_create_for(const trellis_options *options, struct tr_pool **ret_pool,
                                  trellis_error *error)
{
    int64_t threads = tr_option_integer(options, "threads");
    return tr_pool_create(threads > 0 ? (unsigned)threads : trellis_processor_count(), ret_pool,
                          error);
}

void tr_pool_destroy(struct tr_pool *pool)
{
    if (!pool) {
        return;
    }
    atomic_store(&pool->ending, true);
    set(pool, &pool->runs, atomic_load(&pool->runs) + 1);
    for (unsigned i = 0; i < pool->started; i++) {
        pthread_join(pool->workers[i].thread, NULL);
    }
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool->parts);
    free(pool);
}

unsigned tr_pool_threads(const struct tr_pool *pool)
{
    return pool->threads;
}

/* Starts a run of blocks in so many parts and takes part in it. */
static void run_parts(struct tr_pool *pool, size_t blocks, unsigned parts, tr_pool_work work,
                      void *user)
{
    pool->work = work;
    pool->user = user;
    atomic_store(&pool->done, 0);
    atomic_store(&pool->turns, 0);
    for (unsigned i = 0; i < parts; i++) {
        pool->parts[i].end = part_begin(blocks, i + 1, parts);
    }
    for (unsigned i = 0; i < parts; i++) { // from here on blocks are taken
        size_t begin = part_begin(blocks, i, parts);
        atomic_store(&pool->parts[i].left, (long long)(part_begin(blocks, i + 1, parts) - begin));
    }
    set(pool, &pool->runs, atomic_load(&pool->runs) + 1);
    drain(pool, 0);
    await(pool, &pool->done, blocks);
}

void tr_pool_run(struct tr_pool *pool, size_t blocks, tr_pool_work work, void *user)
{
    run_parts(pool, blocks, pool->threads, work, user);
}

void tr_pool_run_in_turns(struct tr_pool *pool, size_t blocks, tr_pool_work work, void *user)
{
    run_parts(pool, blocks, 1, work, user);
}

void tr_pool_turn(struct tr_pool *pool, size_t block)
{
    await(pool, &pool->turns, block);
}

void tr_pool_turn_done(struct tr_pool *pool, size_t block)
{
    set(pool, &pool->turns, block + 1);
}

/* ---- pieces of a vector ---------------------------------------------------------------------- */

struct pieces {
    tr_pool_piece piece;
    void *user;
    size_t size;
    double sum[PIECES];
};

static void add_piece(void *user, size_t block, unsigned thread)
{
    (void)thread;
    struct pieces *pieces = user;
    size_t length = (pieces->size / PIECES + 15) / 8 * 8; // in whole cache lines of doubles
    size_t begin = block * length, end = begin + length;
    begin = begin < pieces->size ? begin : pieces->size;
    end = end < pieces->size ? end : pieces->size;
    pieces->sum[block] = pieces->piece(pieces->user, begin, end);
}

double tr_pool_sum_rows(struct tr_pool *pool, size_t size, size_t width, tr_pool_piece piece,
                        void *user)
{
    if (size * width < SMALL) {
        return piece(user, 0, size);
    }
    struct pieces pieces = {.piece = piece, .user = user, .size = size};
    double sum = 0;
    if (pool) {
        tr_pool_run(pool, PIECES, add_piece, &pieces);
    }
    for (size_t i = 0; i < PIECES; i++) {
        if (!pool) {
            add_piece(&pieces, i, 0);
        }
        sum += pieces.sum[i];
    }
    return sum;
}

double tr_pool_sum(struct tr_pool *pool, size_t size, tr_pool_piece piece, void *user)
{
    return tr_pool_sum_rows(pool, size, 1, piece, user);
}
