/* parallel.c - tags the sequences of some files in several threads, in the order of the input.
 *
 *     the caller:  read -> copy into a batch -> | ring | -> wait for the oldest batch -> deliver it
 *     a worker:                     take the next batch of the ring, tag it, mark it as done
 *
 * The ring has a few batches per worker and bounds the memory. Batches are numbered as they are
 * filled; batch n is in slot n modulo the size of the ring, and
 *
 *     delivered <= taken <= filled <= delivered + ring_size
 *
 * A batch belongs to the caller before it is filled and after it is done, to one worker in between.
 */
#include "parallel.h"

#include <pthread.h>
#include <stdlib.h>

#include "batch.h"
#include "message.h"
#include "model_input.h"

enum { BATCH_TOKENS = 4096, BATCHES_PER_WORKER = 3 };

struct worker {
    struct pool *pool;
    trellis_tagger *tagger;
    pthread_t thread;
};

struct pool {
    const struct tagging *tagging;
    struct worker *workers;
    size_t worker_count; // with a tagger
    size_t started;      // with a thread
    struct batch *ring;
    size_t ring_size;

    pthread_mutex_t mutex; // guards what follows, and `done` of the batches
    pthread_cond_t more, done;
    size_t filled, taken;
    bool stop;

    size_t delivered; // used by the caller only
};

/* ---- workers --------------------------------------------------------------------------------- */

static void tag_batch(const struct worker *worker, struct batch *batch)
{
    while (!batch->status && batch->tagged < batch->count) {
        struct batch_item *item = &batch->items[batch->tagged];
        batch->status = tag_sequence(worker->pool->tagging, worker->tagger, &item->sequence, batch,
                                     &item->result, &batch->error);
        batch->tagged += batch->status == TRELLIS_OK;
    }
}

static void *work(void *user)
{
    struct worker *worker = user;
    struct pool *pool = worker->pool;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (pool->taken == pool->filled && !pool->stop) {
            pthread_cond_wait(&pool->more, &pool->mutex);
        }
        if (pool->stop) {
            break;
        }
        struct batch *batch = &pool->ring[pool->taken++ % pool->ring_size];
        pthread_mutex_unlock(&pool->mutex);
        tag_batch(worker, batch);
        pthread_mutex_lock(&pool->mutex);
        batch->done = true;
        pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* ---- the caller ------------------------------------------------------------------------------ */

static void submit(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->filled++;
    pthread_cond_signal(&pool->more);
    pthread_mutex_unlock(&pool->mutex);
}

/* Waits for the oldest batch and passes its results to the callback. */
static trellis_status deliver(struct pool *pool, const struct tagging *tagging,
                              trellis_error *error)
{
    struct batch *batch = &pool->ring[pool->delivered % pool->ring_size];
    pthread_mutex_lock(&pool->mutex);
    while (!batch->done) {
        pthread_cond_wait(&pool->done, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < batch->tagged; i++) {
        status = tagging->tagged(tagging->user, &batch->items[i].sequence, &batch->items[i].result,
                                 error);
    }
    if (!status && batch->status) {
        status = batch->status;
        *error = batch->error;
    }
    batch_reset(batch);
    pool->delivered++;
    return status;
}

static trellis_status deliver_all(struct pool *pool, const struct tagging *tagging,
                                  trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    while (!status && pool->delivered < pool->filled) {
        status = deliver(pool, tagging, error);
    }
    return status;
}

/* A file that is being read. */
struct file {
    const char *path;
    trellis_reader *reader;
    bool checked; // its first sequence
};

/* Fills a batch; TRELLIS_END at the end of the file, with or without sequences in the batch. */
static trellis_status fill(struct batch *batch, struct file *file, const struct tagging *tagging,
                           trellis_error *error)
{
    const trellis_sequence *sequence;
    trellis_status status = TRELLIS_OK;
    while (!status && batch->tokens < BATCH_TOKENS) {
        status = trellis_reader_next(file->reader, &sequence, error);
        if (!status && !file->checked) {
            status = check_first(tagging, file->path, sequence, error);
            file->checked = true;
        }
        if (!status && !batch_add(batch, sequence)) {
            status = set_error(error, TRELLIS_MEMORY, "out of memory");
        }
    }
    return status;
}

/* Sequences before an error in the input are delivered before the error is reported. */
static trellis_status tag_file(struct pool *pool, const struct tagging *tagging, const char *path,
                               trellis_error *error)
{
    struct file file = {.path = path};
    trellis_error reading_error = {0};
    trellis_status reading = TRELLIS_OK;
    trellis_status status = open_input(tagging, path, &file.reader, error);
    for (size_t i = 0; !status && i < pool->worker_count; i++) {
        status = trellis_tagger_bind(pool->workers[i].tagger, file.reader, error);
    }
    while (!status && !reading) {
        if (pool->filled - pool->delivered == pool->ring_size) {
            status = deliver(pool, tagging, error);
        }
        if (!status) {
            reading = fill(&pool->ring[pool->filled % pool->ring_size], &file, tagging,
                           &reading_error);
            submit(pool);
        }
    }
    if (!status) {
        status = deliver_all(pool, tagging, error);
    }
    if (!status && reading != TRELLIS_END && reading != TRELLIS_OK) {
        status = reading;
        *error = reading_error;
    }
    close_input(tagging, file.reader);
    return status;
}

/* ---- the pool -------------------------------------------------------------------------------- */

static trellis_status pool_start(struct pool *pool, const struct tagging *tagging, unsigned threads,
                                 trellis_error *error)
{
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->more, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->ring_size = (size_t)threads * BATCHES_PER_WORKER;
    pool->workers = calloc(threads, sizeof *pool->workers);
    pool->ring = calloc(pool->ring_size, sizeof *pool->ring);
    if (!pool->workers || !pool->ring) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    for (unsigned i = 0; i < threads; i++) {
        struct worker *worker = &pool->workers[pool->worker_count++];
        worker->pool = pool;
        trellis_status status = trellis_tagger_create(tagging->model, tagging->options,
                                                      &worker->tagger, error);
        if (status) {
            return status;
        }
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            return set_error(error, TRELLIS_MEMORY, "cannot start a thread; try --threads 1");
        }
        pool->started++;
    }
    return TRELLIS_OK;
}

static void pool_stop(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->stop = true;
    pthread_cond_broadcast(&pool->more);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->worker_count; i++) {
        if (i < pool->started) {
            pthread_join(pool->workers[i].thread, NULL);
        }
        trellis_tagger_destroy(pool->workers[i].tagger);
    }
    for (size_t i = 0; pool->ring && i < pool->ring_size; i++) {
        batch_free(&pool->ring[i]);
    }
    free(pool->workers);
    free(pool->ring);
    pthread_cond_destroy(&pool->more);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->mutex);
}

trellis_status parallel_run(const struct tagging *tagging, unsigned threads, trellis_error *error)
{
    struct pool pool = {.tagging = tagging};
    trellis_status status = pool_start(&pool, tagging, threads, error);
    for (size_t i = 0; !status && i < tagging->path_count; i++) {
        status = tag_file(&pool, tagging, tagging->paths[i], error);
    }
    pool_stop(&pool);
    return status;
}
