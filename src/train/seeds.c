/* seeds.c - several trainings that differ in their seed, averaged into one model (--seeds).
 *
 * Where data is shuffled or attributes are left out at random, every seed ends at other weights, as
 * good as any. Scores are linear in the weights, so the mean of the weights scores a labelling by
 * the mean of what the models say: an ensemble that costs no more than one model when tagging. The
 * models must begin alike for that, and they do: their features are the same, and so are their
 * initial weights.
 *
 * The trainings share the data and run side by side, one thread each; their weights are summed in
 * the order of the seeds, so that the mean does not depend on the number of threads. Whoever waits
 * is told about those that run in the thread of the caller. Several ranks take the seeds one after
 * the other, all of them the same one at a time.
 */
#include "train/seeds.h"

#include <math.h>
#include <stdatomic.h>

#include "train/dev_score.h"

struct seeds {
    struct tr_training *training;
    double *sum;              // [layout.size]
    struct tr_pool *pool;     // that runs them
    uint64_t known;           // trainings that have come to a result
    atomic_bool asked;        // somebody wants to stop, ...
    atomic_bool interrupted;  // ... and a training has ended for that
    struct tr_buffer notes;   // of the first: its learning curve
    trellis_progress figures; // of the first
    trellis_status status;    // of the first that failed
    trellis_error *error;
};

/* One of the trainings; its number and its thread. */
struct seeded {
    struct seeds *seeds;
    size_t number;
    unsigned thread;
};

/* Passes on what the training in the caller's thread has to say, and to all others when to stop. */
static bool pass_on(void *user, const trellis_progress *figures)
{
    const struct seeded *seeded = user;
    struct seeds *seeds = seeded->seeds;
    const struct tr_report *report = &seeds->training->report;
    if (seeded->thread == 0 && report->progress && !report->progress(report->user, figures)) {
        atomic_store(&seeds->asked, true);
    }
    return !atomic_load(&seeds->asked);
}

/* A training of its own on the same data: what is learned and what is told is not shared. */
static trellis_status begin(struct seeded *seeded, struct tr_training *ret_training,
                            trellis_error *error)
{
    struct tr_training *t = ret_training;
    *t = *seeded->seeds->training;
    t->settings.seed += seeded->number;
    tr_random_seed(&t->random, t->settings.seed);
    t->pool = NULL;
    t->notes = (struct tr_buffer){0};
    t->report.progress = pass_on;
    t->report.user = seeded;
    t->best = (struct tr_iterate){0};
    t->dev_scorer = NULL;
    trellis_status status = tr_pool_create(1, &t->pool, error);
    if (!status) {
        status = tr_iterate_create(t, &t->best, error);
    }
    return tr_ranks_agree(&t->ranks, status, error);
}

static void end(struct tr_training *training)
{
    tr_dev_scorer_destroy(training->dev_scorer);
    tr_iterate_free(&training->best);
    tr_pool_destroy(training->pool);
    tr_buffer_free(&training->notes);
}

/* Adds a result to the sum. */
static void add(struct seeds *seeds, struct tr_training *one, size_t number)
{
    for (size_t j = 0; j < one->layout.size; j++) {
        seeds->sum[j] += (double)one->best.weights[j];
    }
    if (number == 0) {
        seeds->notes = one->notes;
        one->notes = (struct tr_buffer){0};
        seeds->figures = one->best.figures;
    }
    seeds->known++;
}

static void run_seed(void *user, size_t number, unsigned thread)
{
    struct seeds *seeds = user;
    struct seeded seeded = {seeds, number, thread};
    struct tr_training one;
    trellis_error error = {0};
    trellis_status status = begin(&seeded, &one, &error);
    if (!status && !atomic_load(&seeds->interrupted)) {
        tr_training_note(&one, "seed %zu of %llu", number + 1,
                         (unsigned long long)one.settings.seeds);
        status = one.settings.algorithm->train(&one, &error);
        status = status == TRELLIS_INTERRUPTED && one.report.interrupted ? TRELLIS_OK : status;
    }
    if (one.report.interrupted) {
        atomic_store(&seeds->interrupted, true);
    }
    tr_pool_turn(seeds->pool, number);
    if (status && !seeds->status) {
        seeds->status = status;
        *seeds->error = error;
    } else if (!status && one.best.known) {
        add(seeds, &one, number);
    }
    tr_pool_turn_done(seeds->pool, number);
    end(&one);
}

/* The mean becomes the result, with its own dev score. */
static trellis_status take_mean(struct seeds *seeds, trellis_error *error)
{
    struct tr_training *t = seeds->training;
    struct tr_iterate *mean = &t->best;
    for (size_t j = 0; j < t->layout.size; j++) {
        mean->weights[j] = (float)(seeds->sum[j] / (double)seeds->known);
    }
    mean->known = true;
    mean->figures = seeds->figures;
    mean->figures.objective = NAN;
    tr_buffer_free(&t->notes);
    t->notes = seeds->notes;
    seeds->notes = (struct tr_buffer){0};
    mean->figures.dev = NULL;
    if (!t->data.dev.sequences || t->report.interrupted) {
        return TRELLIS_OK;
    }
    trellis_status status = tr_dev_score(t, mean, &mean->figures, error);
    mean->figures.dev = NULL;
    return status;
}

trellis_status tr_train_seeds(struct tr_training *training, trellis_error *error)
{
    size_t count = (size_t)training->settings.seeds;
    if (count <= 1) {
        return training->settings.algorithm->train(training, error);
    }
    struct seeds seeds = {.training = training, .pool = training->pool, .error = error};
    struct tr_pool *alone = NULL;
    trellis_status status = TRELLIS_OK;
    if (!tr_ranks_alone(&training->ranks)) {
        status = tr_pool_create(1, &alone, error);
        seeds.pool = alone;
    }
    seeds.sum = tr_alloc(training->layout.size, sizeof *seeds.sum);
    if (!status && !seeds.sum) {
        status = tr_fail_memory(error);
    }
    status = tr_ranks_agree(&training->ranks, status, error);
    if (!status) {
        tr_pool_run(seeds.pool, count, run_seed, &seeds);
        training->report.interrupted = atomic_load(&seeds.interrupted);
        status = seeds.status;
    }
    if (!status && seeds.known > 0) {
        status = take_mean(&seeds, error);
    }
    tr_pool_destroy(alone);
    tr_buffer_free(&seeds.notes);
    free(seeds.sum);
    return status;
}
