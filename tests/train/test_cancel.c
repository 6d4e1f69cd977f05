/* test_cancel.c - a cancellation is answered between two sequences: of a pass, of a batch, and in
 * every learner; and within a sequence of a CRF of higher order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "base/memory.h"
#include "support/settings.h"
#include "train/pass.h"
#include "ways.h"

enum { SEQUENCES = 400, THREADS = 4 };

/* ---- one pass -------------------------------------------------------------------------------- */

/* A training of SEQUENCES sequences of one token, as far as a pass needs it. */
struct fixture {
    struct tr_training training;
    trellis_cancellation *cancellation;
    struct tr_pass *pass;
    size_t cancel_at; // the visit that cancels, from 1; 0: none
    atomic_size_t visits;
    atomic_bool cancelled;
};

static void set_up(struct fixture *f, unsigned threads, size_t cancel_at)
{
    struct tr_dataset *data = &f->training.data.train;
    *f = (struct fixture){.cancel_at = cancel_at, .training = {.ranks = {.count = 1}}};
    assert_int_equal(trellis_cancellation_create(&f->cancellation, NULL), TRELLIS_OK);
    assert_int_equal(tr_pool_create(threads, &f->training.pool, NULL), TRELLIS_OK);
    f->training.report.cancellation = f->cancellation;
    data->sequences = data->tokens = SEQUENCES;
    data->sequence.at = tr_alloc(SEQUENCES + 1, sizeof *data->sequence.at);
    assert_non_null(data->sequence.at);
    for (uint32_t s = 0; s <= SEQUENCES; s++) {
        data->sequence.at[s] = s;
    }
    assert_int_equal(tr_pass_create(&f->training, (struct tr_pass_room){0}, &f->pass, NULL),
                     TRELLIS_OK);
}

static void tear_down(struct fixture *f)
{
    tr_pass_destroy(f->pass);
    tr_pool_destroy(f->training.pool);
    trellis_cancellation_destroy(f->cancellation);
    free(f->training.data.train.sequence.at);
}

static trellis_status count_visit(void *user, struct tr_pass_worker *worker, size_t sequence,
                                  double weight, double *ret_value, trellis_error *error)
{
    (void)worker, (void)sequence, (void)weight, (void)error;
    struct fixture *f = user;
    size_t visit = atomic_fetch_add(&f->visits, 1) + 1;
    if (visit == f->cancel_at) {
        trellis_cancel(f->cancellation);
        atomic_store(&f->cancelled, true);
    }
    while (f->cancel_at && visit > f->cancel_at && !atomic_load(&f->cancelled)) {
        sched_yield(); // in another thread: takes until then
    }
    *ret_value = 1;
    return TRELLIS_OK;
}

static trellis_status run(struct fixture *f, const struct tr_dataset *data)
{
    struct tr_pass_plan plan = {.visit = count_visit, .user = f};
    double value;
    trellis_error error = {0};
    trellis_status status = tr_pass_run(f->pass, data, &plan, &value, &error);
    assert_true(status || value == SEQUENCES);
    assert_true(!status || error.message[0]);
    return status;
}

static void a_pass_ends_at_the_sequence_that_is_cancelled(void **state)
{
    (void)state;
    struct fixture f;
    static const size_t at[] = {1, 2, 24, 25, 26, 399, SEQUENCES}; // a block has 25
    for (size_t i = 0; i < TR_COUNT(at); i++) {
        set_up(&f, 1, at[i]);
        assert_int_equal(run(&f, &f.training.data.train), TRELLIS_INTERRUPTED);
        assert_int_equal(f.visits, at[i]);
        assert_true(f.training.report.interrupted);
        tear_down(&f);
    }
    set_up(&f, 1, 0);
    assert_int_equal(run(&f, &f.training.data.train), TRELLIS_OK);
    assert_int_equal(f.visits, SEQUENCES);
    assert_false(f.training.report.interrupted);
    trellis_cancel(f.cancellation); // before a pass: none of its sequences
    assert_int_equal(run(&f, &f.training.data.train), TRELLIS_INTERRUPTED);
    assert_int_equal(f.visits, SEQUENCES);
    tear_down(&f);
}

/* Each of the others may be within one sequence. */
static void all_threads_of_a_pass_end(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, THREADS, SEQUENCES / 2);
    assert_int_equal(run(&f, &f.training.data.train), TRELLIS_INTERRUPTED);
    assert_in_range(f.visits, SEQUENCES / 2, SEQUENCES / 2 + THREADS - 1);
    tear_down(&f);
}

static void a_pass_over_dev_data_is_completed(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 1, 10);
    struct tr_dataset dev = f.training.data.train;
    assert_int_equal(run(&f, &dev), TRELLIS_OK);
    assert_int_equal(f.visits, SEQUENCES);
    tear_down(&f);
}

/* ---- every learner --------------------------------------------------------------------------- */

struct watch {
    trellis_cancellation *cancellation;
    trellis_phase phase; // whose first report cancels
    bool cancelled;
    uint64_t iterations;   // completed when it was cancelled
    uint64_t more;         // completed after that
    size_t reports;        // that followed
    sem_t begun, answered; // for another thread
};

static bool cancel_at_once(void *user, const trellis_progress *progress)
{
    struct watch *watch = user;
    if (progress->phase == TRELLIS_PHASE_MESSAGE) {
        return true;
    }
    if (watch->cancelled) {
        watch->reports++;
        watch->more = progress->iteration - watch->iterations;
    } else if (progress->phase >= watch->phase) {
        watch->cancelled = true;
        watch->iterations = progress->iteration;
        sem_post(&watch->begun);
        sem_wait(&watch->answered);
    }
    return true;
}

static void *cancel_when_it_has_begun(void *user)
{
    struct watch *watch = user;
    sem_wait(&watch->begun);
    trellis_cancel(watch->cancellation);
    sem_post(&watch->answered);
    return NULL;
}

/* Trains, and cancels from another thread at the first report of the phase. */
static trellis_status train_cancelled(const char *way, const char *corpus, struct watch *watch,
                                      trellis_model **ret_model)
{
    char settings[200];
    pthread_t other;
    trellis_error error = {0};
    trellis_source bytes = {
        .struct_size = sizeof bytes, .data = corpus, .data_size = strlen(corpus)};
    trellis_training training = {.struct_size = sizeof training,
                                 .train = &bytes,
                                 .train_count = 1,
                                 .progress = cancel_at_once,
                                 .user = watch,
                                 .cancellation = watch->cancellation};
    snprintf(settings, sizeof settings, "%s threads=2", way);
    trellis_options *options = make_options(settings);
    sem_init(&watch->begun, 0, 0);
    sem_init(&watch->answered, 0, 0);
    assert_int_equal(pthread_create(&other, NULL, cancel_when_it_has_begun, watch), 0);
    trellis_status status = trellis_train(options, &training, ret_model, &error);
    sem_post(&watch->begun); // where it was never reached
    pthread_join(other, NULL);
    sem_destroy(&watch->begun);
    sem_destroy(&watch->answered);
    trellis_options_destroy(options);
    return status;
}

/* Online learners report the part of a pass that they have learned from. */
static void every_learner_ends(void **state)
{
    (void)state;
    char way[100];
    struct tr_buffer corpus = {0};
    ways_corpus(3, 200, &corpus);
    for (size_t i = 0; way_at(i, way); i++) {
        for (trellis_phase phase = TRELLIS_PHASE_READING; phase <= TRELLIS_PHASE_TRAINING;
             phase++) {
            struct watch watch = {.phase = phase};
            trellis_model *model;
            assert_int_equal(trellis_cancellation_create(&watch.cancellation, NULL), TRELLIS_OK);
            trellis_status status = train_cancelled(way, corpus.data, &watch, &model);
            if (!watch.cancelled || status != TRELLIS_INTERRUPTED || watch.more > 1 ||
                watch.reports > 1) {
                fail_msg("%s, phase %d: status %d, cancelled %d, %d more iterations, %d reports",
                         way, (int)phase, (int)status, watch.cancelled, (int)watch.more,
                         (int)watch.reports);
            }
            trellis_model_close(model);
            trellis_cancellation_destroy(watch.cancellation);
        }
    }
    tr_buffer_free(&corpus);
}

/* ---- within a batch ---------------------------------------------------------------------------- */

/* Processor seconds of this process. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct alarm {
    trellis_cancellation *cancellation;
    double at; // of seconds()
};

static void *cancel_in_time(void *user)
{
    const struct alarm *alarm = user;
    const struct timespec moment = {0, 1000000};
    while (seconds() < alarm->at) {
        nanosleep(&moment, NULL);
    }
    trellis_cancel(alarm->cancellation);
    return NULL;
}

/* The processor time of an epoch at order 3. */
static double train_an_epoch(const char *algorithm, const char *corpus,
                             trellis_cancellation *cancellation, trellis_status wanted)
{
    char settings[200];
    snprintf(settings, sizeof settings,
             "type=crf order=3 transitions=all epochs=1 features=id threads=1 %s", algorithm);
    trellis_error error = {0};
    trellis_model *model;
    trellis_source bytes = {
        .struct_size = sizeof bytes, .data = corpus, .data_size = strlen(corpus)};
    trellis_training training = {.struct_size = sizeof training,
                                 .train = &bytes,
                                 .train_count = 1,
                                 .cancellation = cancellation};
    trellis_options *options = make_options(settings);
    double began = seconds();
    assert_int_equal(trellis_train(options, &training, &model, &error), wanted);
    double took = seconds() - began;
    trellis_model_close(model);
    trellis_options_destroy(options);
    return took;
}

/* Cancels half-way through what has no end of a sequence, or of a batch, there. */
static void assert_ends_half_way(const char *algorithm, int tokens, int length)
{
    struct tr_buffer corpus = {0};
    for (int i = 0; i < tokens; i++) {
        tr_buffer_format(&corpus, "w%d L%d%s", i % 50, i % 12,
                         i % length == length - 1 ? "\n\n" : "\n");
    }
    tr_buffer_char(&corpus, 0);
    struct alarm alarm;
    pthread_t other;
    assert_int_equal(trellis_cancellation_create(&alarm.cancellation, NULL), TRELLIS_OK);
    double whole = train_an_epoch(algorithm, corpus.data, alarm.cancellation, TRELLIS_OK);
    alarm.at = seconds() + whole / 2;
    assert_int_equal(pthread_create(&other, NULL, cancel_in_time, &alarm), 0);
    double part = train_an_epoch(algorithm, corpus.data, alarm.cancellation, TRELLIS_INTERRUPTED);
    pthread_join(other, NULL);
    if (part > 0.8 * whole) {
        fail_msg("%s: %.3f s instead of about half of %.3f s", algorithm, part, whole);
    }
    trellis_cancellation_destroy(alarm.cancellation);
    tr_buffer_free(&corpus);
}

/* At order 3 a batch may take seconds. */
static void a_batch_ends_at_a_sequence(void **state)
{
    (void)state;
    assert_ends_half_way("algorithm=sgd rate=0.1 batch=100000", 8000, 10);
}

/* And so may a sequence. */
static void a_sequence_ends_at_a_position(void **state)
{
    (void)state;
    assert_ends_half_way("algorithm=sgd rate=0.1", 3000, 3000);
    assert_ends_half_way("algorithm=lbfgs", 1500, 1500);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_ends_at_the_sequence_that_is_cancelled),
        cmocka_unit_test(all_threads_of_a_pass_end),
        cmocka_unit_test(a_pass_over_dev_data_is_completed),
        cmocka_unit_test(every_learner_ends),
        cmocka_unit_test(a_batch_ends_at_a_sequence),
        cmocka_unit_test(a_sequence_ends_at_a_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
