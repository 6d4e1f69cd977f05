/* parallel.c - tags the sequences of some files in several threads, in the order of the input.
 *
 *     read some sequences -> split and tag them, make text of the results -> write
 *     one at a time          all threads                                     one at a time
 *
 * Each thread does all three, the caller's among them: it fills the next batch, works on it, and
 * writes what is ready, its own batch and others, unless another thread is writing. Where the input
 * allows it, a batch is filled with lines that are not split yet (trellis_reader_take_batch()), so
 * that reading and writing take a few per cent of the time; else with copies of sequences.
 *
 * Batches are numbered as they are filled; batch n is in slot n modulo the size of the ring, which
 * has a few per thread and bounds the memory:
 *
 *     delivered <= filled <= delivered + ring_size
 */
#include "parallel.h"

#include <pthread.h>
#include <stdlib.h>

#include "batch.h"
#include "message.h"
#include "model_input.h"

enum { BATCH_TOKENS = 4096, BATCH_BYTES = 1 << 16, BATCHES_PER_WORKER = 2 };
/* How often a thread tries to get the file before it sleeps. */
enum { MIN_TRIES = 16, MAX_TRIES = 1024 };

struct worker {
    struct pool *pool;
    trellis_tagger *tagger;
    trellis_reader *reader; // of sequences that are not split yet; NULL: none
    void *context;          // of the formatter
    int tries;              // between MIN_TRIES and MAX_TRIES
    pthread_t thread;
};

/* A file that is being read. */
struct file {
    const char *path;
    trellis_reader *reader;
    bool checked; // its first sequence
    bool copied;  // its sequences are copied
    bool ended;
};

struct pool {
    const struct tagging *tagging;
    struct worker *workers; // the first one is the caller
    size_t worker_count;    // with a tagger
    size_t started;         // with a thread
    struct batch *ring;
    size_t ring_size;

    pthread_mutex_t reading; // held while a batch is filled; guards the file
    struct file file;

    pthread_mutex_t mutex;    // guards what follows, and `done` of the batches
    pthread_cond_t delivery;  // a batch was delivered
    pthread_cond_t next_file; // there is one, or no more
    pthread_cond_t idle;      // a thread has left the file
    size_t filled, delivered;
    bool delivering; // by some thread
    size_t files;    // opened so far
    bool open;       // the last of them still is
    size_t active;   // threads that work on it, without the caller's
    bool stop;
    trellis_status status; // the first failure in the order of the input
    trellis_error error;
};

/* ---- reading --------------------------------------------------------------------------------- */

static trellis_status next_sequence(struct pool *pool, const trellis_sequence **ret_sequence,
                                    trellis_error *error)
{
    struct file *file = &pool->file;
    trellis_status status = trellis_reader_next(file->reader, ret_sequence, error);
    if (!status && !file->checked) {
        status = check_first(pool->tagging, file->path, *ret_sequence, error);
        file->checked = true;
    }
    return status;
}

static trellis_status fill_with_copies(struct pool *pool, struct batch *batch, size_t tokens,
                                       trellis_error *error)
{
    const trellis_sequence *sequence;
    trellis_status status = TRELLIS_OK;
    while (!status && batch->tokens < tokens) {
        status = next_sequence(pool, &sequence, error);
        if (!status && !batch_add(batch, sequence)) {
            status = set_error(error, TRELLIS_MEMORY, "out of memory");
        }
    }
    return status;
}

static trellis_status fill_with_lines(struct worker *worker, struct batch *batch,
                                      trellis_error *error)
{
    struct pool *pool = worker->pool;
    trellis_status status = TRELLIS_OK;
    if (!worker->reader) {
        status = trellis_reader_open_batch(pool->file.reader, &worker->reader, error);
        pool->file.copied = status == TRELLIS_OPTION;
    }
    if (!status) {
        status = trellis_reader_take_batch(pool->file.reader, BATCH_BYTES, worker->reader, error);
        batch->unread = !status;
    }
    return pool->file.copied ? fill_with_copies(pool, batch, BATCH_TOKENS, error) : status;
}

/* Fills a batch; TRELLIS_END at the end of the file, with or without sequences in the batch. The
 * first has a single sequence, which says what the columns are. */
static void fill(struct worker *worker, struct batch *batch)
{
    struct pool *pool = worker->pool;
    trellis_error *error = &batch->reading_error;
    trellis_status status;
    if (!pool->file.checked) {
        status = fill_with_copies(pool, batch, 1, error);
    } else if (pool->file.copied) {
        status = fill_with_copies(pool, batch, BATCH_TOKENS, error);
    } else {
        status = fill_with_lines(worker, batch, error);
    }
    pool->file.ended = status;
    batch->reading = status == TRELLIS_END ? TRELLIS_OK : status;
}

/* Tells the processor that this is a spin loop. */
static void pause_spin(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* A batch is filled within some microseconds, and sleeping and waking takes longer: a thread tries
 * for a while first, less where that was in vain. */
static void lock_reading(struct worker *worker)
{
    struct pool *pool = worker->pool;
    for (int i = 0; i < worker->tries; i++) {
        if (pthread_mutex_trylock(&pool->reading) == 0) {
            if (i > 0) {
                worker->tries = worker->tries < MAX_TRIES / 2 ? worker->tries * 2 : MAX_TRIES;
            }
            return;
        }
        pause_spin();
    }
    worker->tries = worker->tries > 2 * MIN_TRIES ? worker->tries / 2 : MIN_TRIES;
    pthread_mutex_lock(&pool->reading);
}

/* The next batch, filled; NULL if there is none. */
static struct batch *next_batch(struct worker *worker)
{
    struct pool *pool = worker->pool;
    struct batch *batch = NULL;
    lock_reading(worker);
    pthread_mutex_lock(&pool->mutex);
    while (!pool->stop && pool->filled - pool->delivered == pool->ring_size) {
        pthread_cond_wait(&pool->delivery, &pool->mutex);
    }
    if (!pool->stop && !pool->file.ended) {
        batch = &pool->ring[pool->filled++ % pool->ring_size];
    }
    pthread_mutex_unlock(&pool->mutex);
    if (batch) {
        fill(worker, batch);
    }
    pthread_mutex_unlock(&pool->reading);
    return batch;
}

/* ---- tagging --------------------------------------------------------------------------------- */

static trellis_status tag_item(const struct worker *worker, struct batch *batch)
{
    const struct tagging *tagging = worker->pool->tagging;
    struct batch_item *item = &batch->items[batch->tagged];
    trellis_status status = tag_sequence(tagging, worker->tagger, &item->sequence, batch,
                                         &item->result, &batch->error);
    if (!status && tagging->formatter) {
        status = tagging->formatter->format(worker->context, batch, &item->sequence, &item->result,
                                            &batch->error);
    }
    batch->tagged += status == TRELLIS_OK;
    return status;
}

/* Sequences that become text need not outlive the reader's next call. */
static trellis_status tag_unread(const struct worker *worker, struct batch *batch)
{
    const struct tagging *tagging = worker->pool->tagging;
    const trellis_sequence *sequence;
    struct tag_result result;
    trellis_status status = trellis_reader_next(worker->reader, &sequence, &batch->error);
    if (status) {
        return status;
    }
    if (tagging->formatter) {
        batch_forget(batch);
        status = tag_sequence(tagging, worker->tagger, sequence, batch, &result, &batch->error);
        return status ? status
                      : tagging->formatter->format(worker->context, batch, sequence, &result,
                                                   &batch->error);
    }
    return batch_add(batch, sequence) ? tag_item(worker, batch)
                                      : set_error(&batch->error, TRELLIS_MEMORY, "out of memory");
}

static void tag_batch(const struct worker *worker, struct batch *batch)
{
    const struct formatter *formatter = worker->pool->tagging->formatter;
    trellis_status status = TRELLIS_OK;
    while (!status && batch->tagged < batch->count) {
        status = tag_item(worker, batch);
    }
    while (!status && batch->unread) {
        status = tag_unread(worker, batch);
        batch->unread = status != TRELLIS_END;
        status = status == TRELLIS_END ? TRELLIS_OK : status;
    }
    if (!status && batch->reading) {
        status = batch->reading;
        batch->error = batch->reading_error;
    }
    trellis_error late = {0};
    if (formatter && formatter->finish(worker->context, batch, &late) && !status) {
        status = late.status;
        batch->error = late;
    }
    batch->status = status;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Hands on the results of a batch, then its failure if it has one. */
static trellis_status deliver(const struct tagging *tagging, struct batch *batch,
                              trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (tagging->formatter) {
        status = tagging->formatter->write(tagging->user, batch->text, batch->text_size);
    }
    for (size_t i = 0; !tagging->formatter && !status && i < batch->tagged; i++) {
        status = tagging->tagged(tagging->user, &batch->items[i].sequence, &batch->items[i].result,
                                 error);
    }
    if (!status && batch->status) {
        status = batch->status;
        *error = batch->error;
    }
    batch_reset(batch);
    return status;
}

/* Delivers all batches that are done up to the first that is not. */
static void deliver_ready(struct pool *pool)
{
    pool->delivering = true;
    while (!pool->stop && pool->delivered < pool->filled) {
        struct batch *batch = &pool->ring[pool->delivered % pool->ring_size];
        if (!batch->done) {
            break;
        }
        pthread_mutex_unlock(&pool->mutex);
        trellis_error error = {0};
        trellis_status status = deliver(pool->tagging, batch, &error);
        pthread_mutex_lock(&pool->mutex);
        pool->delivered++;
        pool->stop = status;
        pool->status = status;
        pool->error = error;
        pthread_cond_broadcast(&pool->delivery);
    }
    pool->delivering = false;
}

static void hand_in(struct pool *pool, struct batch *batch)
{
    pthread_mutex_lock(&pool->mutex);
    batch->done = true;
    if (!pool->delivering) {
        deliver_ready(pool);
    }
    pthread_mutex_unlock(&pool->mutex);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void work_on_file(struct worker *worker)
{
    struct batch *batch;
    while ((batch = next_batch(worker))) {
        tag_batch(worker, batch);
        hand_in(worker->pool, batch);
    }
}

static void *work(void *user)
{
    struct worker *worker = user;
    struct pool *pool = worker->pool;
    size_t seen = 0; // files
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->stop && !(pool->open && pool->files > seen)) {
            pthread_cond_wait(&pool->next_file, &pool->mutex);
        }
        if (pool->stop) {
            break;
        }
        seen = pool->files;
        pool->active++;
        pthread_mutex_unlock(&pool->mutex);
        work_on_file(worker);
        pthread_mutex_lock(&pool->mutex);
        pool->active--;
        pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* All threads work on the file until it is delivered, or something has failed. */
static void share_file(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->files++;
    pool->open = true;
    pthread_cond_broadcast(&pool->next_file);
    pthread_mutex_unlock(&pool->mutex);
    work_on_file(&pool->workers[0]);
    pthread_mutex_lock(&pool->mutex);
    pool->open = false;
    while (pool->active > 0) {
        pthread_cond_wait(&pool->idle, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

/* Sequences before an error in the input are delivered before the error is reported. */
static trellis_status tag_file(struct pool *pool, const char *path, trellis_error *error)
{
    pool->file = (struct file){.path = path};
    trellis_status status = open_input(pool->tagging, path, &pool->file.reader, error);
    for (size_t i = 0; !status && i < pool->worker_count; i++) {
        status = trellis_tagger_bind(pool->workers[i].tagger, pool->file.reader, error);
    }
    if (!status) {
        share_file(pool);
        status = pool->status;
        *error = status ? pool->error : *error;
    }
    for (size_t i = 0; i < pool->worker_count; i++) {
        trellis_reader_close(pool->workers[i].reader);
        pool->workers[i].reader = NULL;
    }
    close_input(pool->tagging, pool->file.reader);
    return status;
}

static trellis_status add_worker(struct pool *pool, trellis_error *error)
{
    const struct tagging *tagging = pool->tagging;
    struct worker *worker = &pool->workers[pool->worker_count];
    worker->pool = pool;
    worker->tries = MAX_TRIES;
    trellis_status status = trellis_tagger_create(tagging->model, tagging->options, &worker->tagger,
                                                  error);
    if (status) {
        return status;
    }
    bool is_caller = pool->worker_count++ == 0;
    if (tagging->formatter) {
        status = tagging->formatter->create(tagging->user, &worker->context, error);
    }
    if (status || is_caller) {
        return status;
    }
    if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
        return set_error(error, TRELLIS_MEMORY, "cannot start a thread; try --threads 1");
    }
    pool->started++;
    return TRELLIS_OK;
}

static trellis_status pool_start(struct pool *pool, unsigned threads, trellis_error *error)
{
    pthread_mutex_init(&pool->reading, NULL);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->delivery, NULL);
    pthread_cond_init(&pool->next_file, NULL);
    pthread_cond_init(&pool->idle, NULL);
    pool->ring_size = (size_t)threads * BATCHES_PER_WORKER;
    pool->workers = calloc(threads, sizeof *pool->workers);
    pool->ring = calloc(pool->ring_size, sizeof *pool->ring);
    if (!pool->workers || !pool->ring) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    trellis_status status = TRELLIS_OK;
    for (unsigned i = 0; !status && i < threads; i++) {
        status = add_worker(pool, error);
    }
    return status;
}

static void pool_stop(struct pool *pool)
{
    const struct formatter *formatter = pool->tagging->formatter;
    pthread_mutex_lock(&pool->mutex);
    pool->stop = true;
    pthread_cond_broadcast(&pool->next_file);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->started; i++) {
        pthread_join(pool->workers[i + 1].thread, NULL);
    }
    for (size_t i = 0; i < pool->worker_count; i++) {
        trellis_tagger_destroy(pool->workers[i].tagger);
        if (formatter) {
            formatter->destroy(pool->tagging->user, pool->workers[i].context);
        }
    }
    for (size_t i = 0; pool->ring && i < pool->ring_size; i++) {
        batch_free(&pool->ring[i]);
    }
    free(pool->workers);
    free(pool->ring);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->next_file);
    pthread_cond_destroy(&pool->delivery);
    pthread_mutex_destroy(&pool->mutex);
    pthread_mutex_destroy(&pool->reading);
}

trellis_status parallel_run(const struct tagging *tagging, unsigned threads, trellis_error *error)
{
    struct pool pool = {.tagging = tagging};
    trellis_status status = pool_start(&pool, threads, error);
    for (size_t i = 0; !status && i < tagging->path_count; i++) {
        status = tag_file(&pool, tagging->paths[i], error);
    }
    pool_stop(&pool);
    return status;
}
