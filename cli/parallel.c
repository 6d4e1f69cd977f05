/* parallel.c - labels the sequences of some files in several threads, in the order of the input.
 *
 *     the caller:  read -> copy into a batch -> | ring | -> wait for the oldest batch -> hand it on
 *     a worker:                     take the next batch of the ring, label it, mark it as done
 *
 * The ring has a few batches per worker and bounds the memory. Batches are numbered as they are filled;
 * batch n is in slot n modulo the size of the ring, and
 *
 *     handed_on <= taken <= filled <= handed_on + ring_size
 *
 * A batch belongs to the caller before it is filled and after it is done, to one worker in between.
 */
#include "parallel.h"

#include <pthread.h>
#include <stdlib.h>

#include "batch.h"
#include "message.h"

enum { BATCH_TOKENS = 4096, BATCHES_PER_WORKER = 3 };

struct worker {
    struct crew *crew;
    trellis_tagger *tagger;
    pthread_t thread;
};

struct crew {
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

    size_t handed_on; // the caller's own
};

/* ---- workers -------------------------------------------------------------------------------- */

static void label_batch(const struct worker *worker, struct batch *batch)
{
    while (!batch->status && batch->labelled < batch->count) {
        struct batch_item *item = &batch->items[batch->labelled];
        batch->status = find_labels(worker->crew->tagging, worker->tagger, &item->sequence, batch,
                                    &item->finding, &batch->error);
        batch->labelled += batch->status == TRELLIS_OK;
    }
}

static void *work(void *user)
{
    struct worker *worker = user;
    struct crew *crew = worker->crew;
    pthread_mutex_lock(&crew->mutex);
    for (;;) {
        while (crew->taken == crew->filled && !crew->stop) {
            pthread_cond_wait(&crew->more, &crew->mutex);
        }
        if (crew->stop) {
            break;
        }
        struct batch *batch = &crew->ring[crew->taken++ % crew->ring_size];
        pthread_mutex_unlock(&crew->mutex);
        label_batch(worker, batch);
        pthread_mutex_lock(&crew->mutex);
        batch->done = true;
        pthread_cond_signal(&crew->done);
    }
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

/* ---- the caller ----------------------------------------------------------------------------- */

static void submit(struct crew *crew)
{
    pthread_mutex_lock(&crew->mutex);
    crew->filled++;
    pthread_cond_signal(&crew->more);
    pthread_mutex_unlock(&crew->mutex);
}

/* Waits for the oldest batch and hands its sequences on. */
static trellis_status hand_on(struct crew *crew, const struct tagging *tagging,
                              trellis_error *error)
{
    struct batch *batch = &crew->ring[crew->handed_on % crew->ring_size];
    pthread_mutex_lock(&crew->mutex);
    while (!batch->done) {
        pthread_cond_wait(&crew->done, &crew->mutex);
    }
    pthread_mutex_unlock(&crew->mutex);
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < batch->labelled; i++) {
        status = tagging->tagged(tagging->user, &batch->items[i].sequence, &batch->items[i].finding,
                                 error);
    }
    if (!status && batch->status) {
        status = batch->status;
        *error = batch->error;
    }
    batch_reset(batch);
    crew->handed_on++;
    return status;
}

static trellis_status hand_on_all(struct crew *crew, const struct tagging *tagging,
                                  trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    while (!status && crew->handed_on < crew->filled) {
        status = hand_on(crew, tagging, error);
    }
    return status;
}

/* Fills a batch; TRELLIS_END where the file ended, with or without sequences in the batch. */
static trellis_status fill(struct batch *batch, trellis_reader *reader, trellis_error *error)
{
    const trellis_sequence *sequence;
    trellis_status status = TRELLIS_OK;
    while (!status && batch->tokens < BATCH_TOKENS) {
        status = trellis_reader_next(reader, &sequence, error);
        if (!status && !batch_add(batch, sequence)) {
            status = set_error(error, TRELLIS_MEMORY, "out of memory");
        }
    }
    return status;
}

/* What was read before a mistake in the input is handed on before the mistake is reported. */
static trellis_status tag_file(struct crew *crew, const struct tagging *tagging, const char *path,
                               trellis_error *error)
{
    trellis_reader *reader = NULL;
    trellis_error reading_error = {0};
    trellis_status reading = TRELLIS_OK;
    trellis_status status = trellis_reader_open(path, tagging->options, &reader, error);
    for (size_t i = 0; !status && i < crew->worker_count; i++) {
        status = trellis_tagger_bind(crew->workers[i].tagger, reader, error);
    }
    while (!status && !reading) {
        if (crew->filled - crew->handed_on == crew->ring_size) {
            status = hand_on(crew, tagging, error);
        }
        if (!status) {
            reading = fill(&crew->ring[crew->filled % crew->ring_size], reader, &reading_error);
            submit(crew);
        }
    }
    if (!status) {
        status = hand_on_all(crew, tagging, error);
    }
    if (!status && reading != TRELLIS_END && reading != TRELLIS_OK) {
        status = reading;
        *error = reading_error;
    }
    trellis_reader_close(reader);
    return status;
}

/* ---- the crew ------------------------------------------------------------------------------- */

static trellis_status crew_start(struct crew *crew, const struct tagging *tagging, unsigned threads,
                                 trellis_error *error)
{
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->more, NULL);
    pthread_cond_init(&crew->done, NULL);
    crew->ring_size = (size_t)threads * BATCHES_PER_WORKER;
    crew->workers = calloc(threads, sizeof *crew->workers);
    crew->ring = calloc(crew->ring_size, sizeof *crew->ring);
    if (!crew->workers || !crew->ring) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    for (unsigned i = 0; i < threads; i++) {
        struct worker *worker = &crew->workers[crew->worker_count++];
        worker->crew = crew;
        trellis_status status = trellis_tagger_create(tagging->model, tagging->options,
                                                      &worker->tagger, error);
        if (status) {
            return status;
        }
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            return set_error(error, TRELLIS_MEMORY, "cannot start a thread; try --threads 1");
        }
        crew->started++;
    }
    return TRELLIS_OK;
}

static void crew_dismiss(struct crew *crew)
{
    pthread_mutex_lock(&crew->mutex);
    crew->stop = true;
    pthread_cond_broadcast(&crew->more);
    pthread_mutex_unlock(&crew->mutex);
    for (size_t i = 0; i < crew->worker_count; i++) {
        if (i < crew->started) {
            pthread_join(crew->workers[i].thread, NULL);
        }
        trellis_tagger_destroy(crew->workers[i].tagger);
    }
    for (size_t i = 0; crew->ring && i < crew->ring_size; i++) {
        batch_free(&crew->ring[i]);
    }
    free(crew->workers);
    free(crew->ring);
    pthread_cond_destroy(&crew->more);
    pthread_cond_destroy(&crew->done);
    pthread_mutex_destroy(&crew->mutex);
}

trellis_status parallel_run(const struct tagging *tagging, unsigned threads, trellis_error *error)
{
    struct crew crew = {.tagging = tagging};
    trellis_status status = crew_start(&crew, tagging, threads, error);
    for (size_t i = 0; !status && i < tagging->path_count; i++) {
        status = tag_file(&crew, tagging, tagging->paths[i], error);
    }
    crew_dismiss(&crew);
    return status;
}
