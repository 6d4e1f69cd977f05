/* rank_threads.h - several ranks in one process, each a thread. */
#ifndef TRELLIS_TESTS_SUPPORT_RANK_THREADS_H
#define TRELLIS_TESTS_SUPPORT_RANK_THREADS_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/ranks.h"

enum { MOST = 5 };

static atomic_uint errors; // seen in threads, where assertions must not be made

static inline void expect(bool holds)
{
    errors += !holds;
}

/* The ranks see each other's arguments. */
struct world {
    unsigned count;
    pthread_barrier_t barrier;
    const void *const *send[MOST];
    trellis_status status[MOST];
    trellis_error error[MOST];
};

struct member {
    struct world *world;
    unsigned rank;
    void (*body)(struct tr_ranks *ranks);
    bool ok;
};

static inline trellis_status agree_with_threads(void *user, trellis_status status,
                                                trellis_error *error)
{
    struct member *me = user;
    struct world *world = me->world;
    world->status[me->rank] = status;
    world->error[me->rank] = *error;
    pthread_barrier_wait(&world->barrier);
    unsigned first = 0;
    while (first < world->count && !world->status[first]) {
        first++;
    }
    trellis_status verdict = first < world->count ? world->status[first] : TRELLIS_OK;
    if (verdict) {
        *error = world->error[first];
    }
    pthread_barrier_wait(&world->barrier);
    return verdict;
}

static inline trellis_status exchange_with_threads(void *user, const void *const *send,
                                                   const size_t *send_size, void *const *receive,
                                                   const size_t *receive_size, trellis_error *error)
{
    (void)send_size, (void)error;
    struct member *me = user;
    struct world *world = me->world;
    world->send[me->rank] = send;
    pthread_barrier_wait(&world->barrier);
    for (unsigned r = 0; r < world->count; r++) {
        if (receive_size[r]) {
            memcpy(receive[r], world->send[r][me->rank], receive_size[r]);
        }
    }
    pthread_barrier_wait(&world->barrier);
    return TRELLIS_OK;
}

static inline void *run_member(void *user)
{
    struct member *me = user;
    trellis_ranks given = {.struct_size = sizeof given,
                           .rank = me->rank,
                           .count = me->world->count,
                           .user = me,
                           .agree = agree_with_threads,
                           .exchange = exchange_with_threads};
    struct tr_ranks ranks;
    me->ok = tr_ranks_open(&ranks, &given, NULL) == TRELLIS_OK;
    me->body(&ranks);
    tr_ranks_close(&ranks);
    return NULL;
}

/* What one of the ranks trains a model with, and what came of it. */
struct rank_training {
    struct member member;
    const trellis_options *options;
    const trellis_source *sources;
    size_t source_count;
    const char *templates;
    trellis_status status;
    trellis_error error;
    trellis_model *model;
};

static inline void *train_on_rank(void *user)
{
    struct rank_training *rank = user;
    trellis_ranks ranks = {.struct_size = sizeof ranks,
                           .rank = rank->member.rank,
                           .count = rank->member.world->count,
                           .user = &rank->member,
                           .agree = agree_with_threads,
                           .exchange = exchange_with_threads};
    trellis_training training = {.struct_size = sizeof training,
                                 .train = rank->sources,
                                 .train_count = rank->source_count,
                                 .templates = rank->templates,
                                 .ranks = &ranks};
    rank->status = trellis_train(rank->options, &training, &rank->model, &rank->error);
    return NULL;
}

/* Runs a body on so many ranks at once; expect() counts what does not hold. */
static inline void on_ranks(unsigned count, void (*body)(struct tr_ranks *ranks))
{
    struct world world = {.count = count};
    struct member members[MOST];
    pthread_t threads[MOST];
    pthread_barrier_init(&world.barrier, NULL, count);
    for (unsigned r = 0; r < count; r++) {
        members[r] = (struct member){&world, r, body, false};
        assert_int_equal(pthread_create(&threads[r], NULL, run_member, &members[r]), 0);
    }
    for (unsigned r = 0; r < count; r++) {
        pthread_join(threads[r], NULL);
        assert_true(members[r].ok);
    }
    pthread_barrier_destroy(&world.barrier);
    assert_int_equal(errors, 0);
}

#endif
