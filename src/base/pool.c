/* pool.c - a fixed number of blocks of work, done by some threads. */
#include "base/pool.h"

#include <pthread.h>

#include "base/memory.h"

struct worker {
    struct tr_pool *pool;
    unsigned number;
    pthread_t thread;
};

struct tr_pool {
    unsigned threads;       // the caller included
    struct worker *workers; // [threads - 1]
    unsigned started;
    pthread_mutex_t lock;
    pthread_cond_t wake, idle, turn;
    bool ending;
    uint64_t round; // counts the runs, so that a worker knows a new one
    unsigned busy;  // workers in the present run
    tr_pool_work work;
    void *user;
    size_t blocks, next, turns;
};

/* Takes blocks until there are no more. Called and left with the lock held. */
static void drain(struct tr_pool *pool, unsigned thread)
{
    while (pool->next < pool->blocks) {
        size_t block = pool->next++;
        pthread_mutex_unlock(&pool->lock);
        pool->work(pool->user, block, thread);
        pthread_mutex_lock(&pool->lock);
    }
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct tr_pool *pool = worker->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->ending && pool->round == seen) {
            pthread_cond_wait(&pool->wake, &pool->lock);
        }
        if (pool->ending) {
            break;
        }
        seen = pool->round;
        drain(pool, worker->number);
        if (--pool->busy == 0) {
            pthread_cond_signal(&pool->idle);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

trellis_status tr_pool_create(unsigned threads, struct tr_pool **ret_pool, trellis_error *error)
{
    *ret_pool = NULL;
    threads = threads ? threads : 1;
    struct tr_pool *pool = tr_alloc(1, sizeof *pool);
    struct worker *workers = tr_alloc(threads, sizeof *workers);
    if (!pool || !workers) {
        free(pool);
        free(workers);
        return tr_fail_memory(error);
    }
    pool->threads = threads;
    pool->workers = workers;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->idle, NULL);
    pthread_cond_init(&pool->turn, NULL);
    for (unsigned i = 0; i + 1 < threads; i++) {
        workers[i] = (struct worker){.pool = pool, .number = i + 1};
        if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0) {
            tr_pool_destroy(pool);
            return tr_fail(error, TRELLIS_MEMORY, "cannot start thread %u of %u", i + 2, threads);
        }
        pool->started++;
    }
    *ret_pool = pool;
    return TRELLIS_OK;
}

void tr_pool_destroy(struct tr_pool *pool)
{
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++) {
        pthread_join(pool->workers[i].thread, NULL);
    }
    pthread_cond_destroy(&pool->turn);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
}

unsigned tr_pool_threads(const struct tr_pool *pool)
{
    return pool->threads;
}

void tr_pool_run(struct tr_pool *pool, size_t blocks, tr_pool_work work, void *user)
{
    pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->user = user;
    pool->blocks = blocks;
    pool->next = 0;
    pool->turns = 0;
    pool->busy = pool->started;
    pool->round++;
    pthread_cond_broadcast(&pool->wake);
    drain(pool, 0);
    while (pool->busy > 0) {
        pthread_cond_wait(&pool->idle, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

void tr_pool_turn(struct tr_pool *pool, size_t block)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->turns < block) {
        pthread_cond_wait(&pool->turn, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

void tr_pool_turn_done(struct tr_pool *pool, size_t block)
{
    pthread_mutex_lock(&pool->lock);
    pool->turns = block + 1;
    pthread_cond_broadcast(&pool->turn);
    pthread_mutex_unlock(&pool->lock);
}
