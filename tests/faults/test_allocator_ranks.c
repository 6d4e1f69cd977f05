/* test_allocator_ranks.c - training on two ranks, which are threads here, with a failing allocator:
 * both must end, whichever of them has no memory. */
#include <unistd.h>

#include "faults/allocator.h"
#include "support/rank_threads.h"

enum { RANKS = 2, MAX_SECONDS = 300 };

/* Ranks start together, or not at all where a thread cannot be made. */
enum { WAIT, START, LEAVE };

struct starting {
    struct rank_training training;
    atomic_int *signal;
};

static void *wait_and_train(void *user)
{
    struct starting *rank = user;
    while (*rank->signal == WAIT) {
        usleep(10);
    }
    return *rank->signal == START ? train_on_rank(&rank->training) : NULL;
}

static trellis_status run_ranks(const char *about, struct outcome *outcome)
{
    struct world world = {.count = RANKS};
    struct starting ranks[RANKS];
    pthread_t threads[RANKS];
    atomic_int signal = WAIT;
    trellis_options *options = NULL;
    trellis_source source = {.struct_size = sizeof source, .path = paths[CRFSUITE]};
    trellis_status status = options_of(about, &options, outcome);
    unsigned started = 0;
    pthread_barrier_init(&world.barrier, NULL, RANKS);
    for (unsigned r = 0; !status && r < RANKS; r++) {
        ranks[r] = (struct starting){{.member = {.world = &world, .rank = r},
                                      .options = options,
                                      .sources = &source,
                                      .source_count = 1},
                                     &signal};
        if (pthread_create(&threads[r], NULL, wait_and_train, &ranks[r])) {
            status = tr_fail_memory(&outcome->error);
        } else {
            started++;
        }
    }
    signal = status ? LEAVE : START;
    for (unsigned r = 0; r < started; r++) {
        pthread_join(threads[r], NULL);
        if (ranks[r].training.status && !status) {
            outcome->error = ranks[r].training.error;
            status = ranks[r].training.status;
        }
    }
    if (!status) {
        status = trellis_model_export(ranks[0].training.model, false, see, &outcome->seen,
                                      &outcome->error);
    }
    for (unsigned r = 0; r < started; r++) {
        trellis_model_close(ranks[r].training.model);
    }
    pthread_barrier_destroy(&world.barrier);
    trellis_options_destroy(options);
    return status;
}

static void both_ranks_end(void **state)
{
    (void)state;
    alarm(MAX_SECONDS); // a rank that leaves without a word lets the other wait
    try_all(run_ranks,
            "format=crfsuite type=crf algorithm=sgd batch=2 rate=0.1 epochs=1 threads=1");
    try_all(run_ranks, "format=crfsuite type=crf warm-up=0 epochs=1 threads=1");
    try_all(run_ranks, "format=crfsuite type=perceptron epochs=1 threads=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ranks_end),
    };
    return RUN_WITH_FILES(tests);
}
