/* queue.h - a bounded queue of requests, and the worker threads that answer them. */
#ifndef TRELLIS_SERVE_QUEUE_H
#define TRELLIS_SERVE_QUEUE_H

#include <pthread.h>

#include "service.h"

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct request **waiting; // [limit] a ring
    size_t limit, first, count;
    bool closing;
    pthread_t *threads; // [thread_count]
    unsigned thread_count;
    struct service *service;
    void (*done)(struct request *request); // called by the worker when there is an answer
};

trellis_status queue_start(struct queue *queue, struct service *service, unsigned threads,
                           size_t limit, void (*done)(struct request *request),
                           trellis_error *error);
/* False if the queue is full. */
bool queue_put(struct queue *queue, struct request *request);
/* Wakes the workers, so that they let go of models that were replaced. */
void queue_wake(struct queue *queue);
/* Answers what is waiting and ends the threads. */
void queue_stop(struct queue *queue);

#endif
