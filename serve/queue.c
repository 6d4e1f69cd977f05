/* queue.c - a bounded queue of requests, and the worker threads that answer them. */
#include "queue.h"

#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "routes.h"

/* The next request; NULL when the queue is closing and empty, or when somebody woke the workers. */
static struct request *take(struct queue *queue, bool *ret_closed)
{
    struct request *request = NULL;
    pthread_mutex_lock(&queue->lock);
    if (queue->count == 0 && !queue->closing) {
        pthread_cond_wait(&queue->wake, &queue->lock);
    }
    if (queue->count > 0) {
        request = queue->waiting[queue->first];
        queue->first = (queue->first + 1) % queue->limit;
        queue->count--;
        atomic_store(&queue->service->metrics.queued, queue->count);
    }
    *ret_closed = queue->closing && !request;
    pthread_mutex_unlock(&queue->lock);
    return request;
}

static void work(struct queue *queue, struct worker *worker, struct request *request)
{
    struct service *service = queue->service;
    request->started = clock_now();
    histogram_add(&service->metrics.waiting, request->started - request->arrived);
    atomic_fetch_add(&service->metrics.working, 1);
    if (request->started > request->deadline) {
        atomic_fetch_add(&service->metrics.rejected[REJECT_TIME], 1);
        answer_problem(request, HTTP_UNAVAILABLE, "the request waited too long");
    } else {
        request->route->answer(service, worker, request);
    }
    atomic_fetch_sub(&service->metrics.working, 1);
    queue->done(request);
}

static void *run(void *user)
{
    struct queue *queue = user;
    struct worker worker;
    bool closed = false, ready = worker_create(&worker, &queue->service->models);
    while (!closed) {
        struct request *request = take(queue, &closed);
        if (request && ready) {
            work(queue, &worker, request);
        } else if (request) {
            answer_problem(request, HTTP_UNAVAILABLE, "out of memory");
            queue->done(request);
        }
        if (ready) {
            worker_refresh(&worker);
        }
    }
    worker_destroy(&worker);
    return NULL;
}

trellis_status queue_start(struct queue *queue, struct service *service, unsigned threads,
                           size_t limit, void (*done)(struct request *request),
                           trellis_error *error)
{
    *queue = (struct queue){.limit = limit,
                            .service = service,
                            .done = done,
                            .waiting = calloc(limit, sizeof *queue->waiting),
                            .threads = calloc(threads, sizeof *queue->threads)};
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->wake, NULL);
    if (!queue->waiting || !queue->threads) {
        return fail(error, TRELLIS_MEMORY, "out of memory");
    }
    for (unsigned i = 0; i < threads; i++) {
        int problem = pthread_create(&queue->threads[i], NULL, run, queue);
        if (problem) {
            return fail(error, TRELLIS_MEMORY, "cannot start a thread: %s", strerror(problem));
        }
        queue->thread_count++;
    }
    return TRELLIS_OK;
}

bool queue_put(struct queue *queue, struct request *request)
{
    pthread_mutex_lock(&queue->lock);
    bool room = queue->count < queue->limit && !queue->closing;
    if (room) {
        queue->waiting[(queue->first + queue->count) % queue->limit] = request;
        queue->count++;
        atomic_store(&queue->service->metrics.queued, queue->count);
        pthread_cond_signal(&queue->wake);
    }
    pthread_mutex_unlock(&queue->lock);
    return room;
}

void queue_wake(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    pthread_cond_broadcast(&queue->wake);
    pthread_mutex_unlock(&queue->lock);
}

void queue_stop(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closing = true;
    pthread_cond_broadcast(&queue->wake);
    pthread_mutex_unlock(&queue->lock);
    for (unsigned i = 0; i < queue->thread_count; i++) {
        pthread_join(queue->threads[i], NULL);
    }
    free(queue->waiting);
    free(queue->threads);
    pthread_cond_destroy(&queue->wake);
    pthread_mutex_destroy(&queue->lock);
    *queue = (struct queue){0};
}
