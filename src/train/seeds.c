/* seeds.c - several trainings that differ in their seed, averaged into one model (--seeds).
 *
 * Where data is shuffled or attributes are left out at random, every seed ends at other weights, as
 * good as any. Scores are linear in the weights, so the mean of the weights scores a labelling by
 * the mean of what the models say: an ensemble that costs no more than one model when tagging. The
 * models must begin alike for that, and they do: their features are the same, and so are their
 * initial weights.
 *
 * The trainings share the data and run side by side, one thread each; their weights are summed in
 * the order of the seeds, so that the mean does not depend on the number of threads. Ranks that would
 * all do the same train seeds apart: each takes every Nth of them, as if it were alone, and then all
 * add up the weights in the order of the seeds. From time to time they tell each other that they
 * still train, so that none waits long. Where ranks share the data, or mix weights, they take the
 * seeds one after the other, all of them the same one at a time.
 *
 * Whoever waits is told about the iterations of the first seed, which the thread of the caller
 * trains, and then about each seed that has ended, in their order: what is told does not depend on
 * the number of threads either. Only that thread calls back. It trains other seeds after the first,
 * and waits for those that other threads train, but goes on asking whether to stop.
 */
#include "train/seeds.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "train/dev_score.h"

enum { PAUSE = 50 * 1000 * 1000 }; // nanoseconds between two questions while the caller waits
enum { PULSE = 1 };                // seconds from one word of the ranks to the next
enum { LINE = 200 };               // bytes of what is told of a seed

/* What a training apart has come to. */
struct kept {
    char line[LINE];
    float *weights; // [layout.size]; NULL: no result
};

struct seeds {
    struct tr_training *training; // what becomes of it, in the thread of the caller
    struct tr_training given;     // as it was
    size_t count;                 // of the trainings of this process, and of all
    size_t all;
    bool apart;                 // each rank has seeds of its own
    struct kept *kept;          // [count] where it is apart
    double last_pulse;          // when the ranks have told each other last
    double *sum;                // [layout.size]
    trellis_cancellation *stop; // ends all of them
    atomic_size_t next;         // that no thread has taken; the first is the caller's
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock: */
    bool begun;             // the first
    size_t ended;           // in their order
    bool interrupted;       // a training has ended before its end
    struct tr_buffer texts; // of those that have ended and were not told yet, each with its '\0'
    /* Of the thread whose turn it is: */
    uint64_t known;           // trainings that have come to a result
    struct tr_buffer notes;   // of the first of these: its learning curve
    trellis_progress figures; // of the same
    trellis_status status;    // of the first that failed
    trellis_error *error;
};

/* ---- what the caller is told ----------------------------------------------------------------- */

/* Which seeds have ended, and how far the next one is; asks whether to stop. */
static void tell(struct seeds *seeds, double fraction)
{
    struct tr_training *t = seeds->training;
    trellis_progress figures = tr_figures_unknown(TRELLIS_PHASE_SEEDS);
    figures.max_iterations = seeds->count;
    figures.fraction = fraction;
    pthread_mutex_lock(&seeds->lock);
    figures.iteration = seeds->ended;
    struct tr_buffer texts = seeds->texts;
    seeds->texts = (struct tr_buffer){0};
    pthread_mutex_unlock(&seeds->lock);
    for (size_t at = 0; at < texts.size; at += strlen(texts.data + at) + 1) {
        tr_training_note(t, "%s", texts.data + at);
    }
    tr_buffer_free(&texts);
    tr_training_tick(t, &figures);
    if (t->report.asked) {
        trellis_cancel(seeds->stop);
    }
}

static bool is_interrupted(struct seeds *seeds)
{
    pthread_mutex_lock(&seeds->lock);
    bool interrupted = seeds->interrupted;
    pthread_mutex_unlock(&seeds->lock);
    return interrupted;
}

/* The ranks tell each other whether they still train, and whether to stop; whether any does. */
static bool pulse(struct seeds *seeds, bool busy)
{
    struct tr_training *t = seeds->training;
    double told[] = {busy, is_interrupted(seeds) || t->report.asked};
    bool lost = tr_ranks_sum_few(&t->ranks, told, TR_COUNT(told), NULL) != TRELLIS_OK;
    if (lost || told[1] > 0) {
        trellis_cancel(seeds->stop);
        pthread_mutex_lock(&seeds->lock);
        seeds->interrupted = true;
        pthread_mutex_unlock(&seeds->lock);
    }
    seeds->last_pulse = tr_training_seconds(t);
    return !lost && told[0] > 0;
}

/* While the thread of the caller trains, or waits for other threads. */
static void pulse_in_time(struct seeds *seeds)
{
    if (seeds->apart && tr_training_seconds(seeds->training) - seeds->last_pulse > PULSE) {
        pulse(seeds, true);
    }
}

/* Reports of the first seed are passed on. */
static bool report_first(void *user, const trellis_progress *figures)
{
    struct seeds *seeds = user;
    const struct tr_report *report = &seeds->training->report;
    bool more = !report->progress || report->progress(report->user, figures);
    if (!more) {
        trellis_cancel(seeds->stop);
    }
    pulse_in_time(seeds);
    return more;
}

/* Those of another seed in the thread of the caller say how far it is. */
static bool report_other(void *user, const trellis_progress *figures)
{
    double fraction = 0;
    if (figures->phase == TRELLIS_PHASE_TRAINING && figures->max_iterations) {
        double within = figures->fraction < 1 ? figures->fraction : 0;
        fraction = ((double)figures->iteration + within) / (double)figures->max_iterations;
    }
    tell(user, fraction < 1 ? fraction : 0.99); // it has not ended
    pulse_in_time(user);
    return true;
}

/* A line about a training that has ended. */
static void describe(const struct tr_training *one, size_t number, char text[static LINE])
{
    const trellis_progress *best = &one->best.figures;
    bool spans = isfinite(best->dev_f1);
    double score = spans ? best->dev_f1 : best->dev_accuracy;
    int used = snprintf(text, LINE, "seed %zu of %llu: %llu iteration%s", number + 1,
                        (unsigned long long)one->settings.seeds, TR_COUNTED(one->done));
    if (isfinite(score)) {
        snprintf(text + used, LINE - (size_t)used, ", dev %s %.2f%s (iteration %llu)",
                 spans ? "F1" : "accuracy", 100 * score, spans ? "" : "%",
                 (unsigned long long)best->iteration);
    }
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Waits until the seeds before this one have ended; the caller goes on asking. */
static void await_turn(struct seeds *seeds, size_t turn, bool is_caller)
{
    pthread_mutex_lock(&seeds->lock);
    while (seeds->ended < turn) {
        if (!is_caller) {
            pthread_cond_wait(&seeds->changed, &seeds->lock);
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += PAUSE;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&seeds->changed, &seeds->lock, &until);
        pthread_mutex_unlock(&seeds->lock);
        tell(seeds, 0);
        pulse_in_time(seeds);
        pthread_mutex_lock(&seeds->lock);
    }
    pthread_mutex_unlock(&seeds->lock);
}

static void add_weights(struct seeds *seeds, const float *weights)
{
    for (size_t j = 0; j < seeds->given.layout.size; j++) {
        seeds->sum[j] += (double)weights[j];
    }
}

/* Adds a result to the sum, or keeps it until the ranks do so. */
static void add(struct seeds *seeds, struct tr_training *one, size_t turn)
{
    if (seeds->apart) {
        seeds->kept[turn].weights = one->best.weights;
        one->best.weights = NULL;
    } else {
        add_weights(seeds, one->best.weights);
    }
    if (seeds->known == 0) {
        seeds->notes = one->notes;
        one->notes = (struct tr_buffer){0};
        seeds->figures = one->best.figures;
    }
    seeds->known++;
}

/* The number of the seed that this process trains in a turn. */
static size_t seed_of(const struct seeds *seeds, size_t turn)
{
    const struct tr_ranks *ranks = &seeds->training->ranks;
    return seeds->apart ? ranks->rank + turn * ranks->count : turn;
}

static void end_turn(struct seeds *seeds, const struct tr_training *one, size_t turn)
{
    char text[LINE];
    describe(one, seed_of(seeds, turn), text);
    pthread_mutex_lock(&seeds->lock);
    if (seeds->apart) {
        memcpy(seeds->kept[turn].line, text, sizeof text);
    } else if (one->best.known) {
        tr_buffer_add(&seeds->texts, text, strlen(text) + 1);
    }
    seeds->interrupted = seeds->interrupted || one->report.interrupted;
    seeds->ended++;
    pthread_cond_broadcast(&seeds->changed);
    pthread_mutex_unlock(&seeds->lock);
}

/* ---- trainings ------------------------------------------------------------------------------- */

/* A training of its own on the same data: what is learned and what is told is not shared. */
static trellis_status begin(struct seeds *seeds, size_t turn, bool is_caller,
                            struct tr_training *ret_training, trellis_error *error)
{
    struct tr_training *t = ret_training;
    *t = seeds->given;
    if (seeds->apart) {
        t->ranks = (struct tr_ranks){.count = 1};
    }
    t->settings.seed += seed_of(seeds, turn);
    tr_random_seed(&t->random, t->settings.seed);
    t->pool = NULL;
    t->notes = (struct tr_buffer){0};
    t->report.progress = turn == 0 ? report_first : is_caller ? report_other : NULL;
    t->report.user = seeds;
    t->report.siblings = seeds->stop;
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

static void run_seed(struct seeds *seeds, size_t turn, bool is_caller)
{
    struct tr_training one;
    trellis_error error = {0};
    trellis_status status = begin(seeds, turn, is_caller, &one, &error);
    if (!status && !is_interrupted(seeds)) {
        status = one.settings.algorithm->train(&one, &error);
        status = status == TRELLIS_INTERRUPTED && one.report.interrupted ? TRELLIS_OK : status;
    }
    await_turn(seeds, turn, is_caller);
    if (status && !seeds->status) {
        seeds->status = status;
        *seeds->error = error;
    } else if (!status && one.best.known) {
        add(seeds, &one, turn);
    }
    end_turn(seeds, &one, turn);
    end(&one);
}

/* The first seed begins in the thread of the caller, and other threads wait for that; so none of
 * them takes a second block before the caller has one. */
static void begin_first(struct seeds *seeds, bool is_caller)
{
    pthread_mutex_lock(&seeds->lock);
    bool is_first = is_caller && !seeds->begun;
    if (is_first) {
        seeds->begun = true;
        pthread_cond_broadcast(&seeds->changed);
    }
    while (!seeds->begun) {
        pthread_cond_wait(&seeds->changed, &seeds->lock);
    }
    pthread_mutex_unlock(&seeds->lock);
    if (is_first && seeds->count > 0) {
        run_seed(seeds, 0, true);
    }
}

/* What one thread does; there are as many blocks as threads. */
static void run_seeds(void *user, size_t block, unsigned thread)
{
    (void)block;
    struct seeds *seeds = user;
    bool is_caller = thread == 0;
    size_t turn;
    begin_first(seeds, is_caller);
    while ((turn = atomic_fetch_add(&seeds->next, 1)) < seeds->count) {
        run_seed(seeds, turn, is_caller);
    }
    if (is_caller) {
        await_turn(seeds, seeds->count, true);
    }
}

/* ---- ranks apart ------------------------------------------------------------------------------ */

/* Whether the ranks would all do the same. */
static bool trains_apart(const struct tr_training *training)
{
    return !tr_ranks_alone(&training->ranks) && !training->data.shared &&
           tr_training_can(training, TR_STOCHASTIC);
}

/* What another rank must know of a seed before its weights. */
struct told {
    char line[LINE];
    bool known;
};

/* Adds the weights of a seed, which one of the ranks has; `room` is for those of others. */
static trellis_status add_seed(struct seeds *seeds, size_t number, float *room,
                               trellis_error *error)
{
    struct tr_ranks *ranks = &seeds->training->ranks;
    unsigned owner = (unsigned)(number % ranks->count);
    const struct kept *kept = owner == ranks->rank ? &seeds->kept[number / ranks->count] : NULL;
    float *weights = kept ? kept->weights : room;
    struct told told = {.known = kept && kept->weights};
    if (kept) {
        memcpy(told.line, kept->line, sizeof told.line);
    }
    trellis_status status = tr_ranks_broadcast(ranks, owner, &told, sizeof told, error);
    if (!status && told.known) {
        tr_buffer_add(&seeds->texts, told.line, strlen(told.line) + 1);
        status = tr_ranks_broadcast(ranks, owner, weights,
                                    seeds->given.layout.size * sizeof *weights, error);
    }
    if (!status && told.known) {
        add_weights(seeds, weights);
        seeds->known++;
    }
    return status;
}

/* Once this rank has trained its seeds: waits for the others, and adds up the weights of all. */
static trellis_status add_together(struct seeds *seeds, trellis_error *error)
{
    struct tr_ranks *ranks = &seeds->training->ranks;
    while (pulse(seeds, false)) {
        tell(seeds, 0);
    }
    float *room = tr_alloc(seeds->given.layout.size, sizeof *room);
    trellis_status status = seeds->status ? seeds->status
                            : room        ? TRELLIS_OK
                                          : tr_fail_memory(error);
    status = tr_ranks_agree(ranks, status, error);
    seeds->known = 0;
    for (size_t number = 0; !status && number < seeds->all; number++) {
        status = add_seed(seeds, number, room, error);
    }
    free(room);
    return status;
}

/* ---- the mean -------------------------------------------------------------------------------- */

/* The mean becomes the result, with its own dev score unless the training was interrupted. */
static trellis_status take_mean(struct seeds *seeds, trellis_error *error)
{
    struct tr_training *t = seeds->training;
    struct tr_iterate *mean = &t->best;
    for (size_t j = 0; j < t->layout.size; j++) {
        mean->weights[j] = (float)(seeds->sum[j] / (double)seeds->known);
    }
    mean->known = true;
    mean->figures = seeds->figures;
    mean->figures.objective = mean->figures.dev_accuracy = mean->figures.dev_f1 = NAN;
    mean->figures.active_features = tr_training_active(t, mean->weights);
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

/* The last report is about the mean. */
static void tell_mean(struct seeds *seeds)
{
    const trellis_progress *mean = &seeds->training->best.figures;
    trellis_progress figures = tr_figures_unknown(TRELLIS_PHASE_SEEDS);
    figures.iteration = figures.max_iterations = seeds->all;
    figures.active_features = mean->active_features;
    figures.dev_accuracy = mean->dev_accuracy;
    figures.dev_f1 = mean->dev_f1;
    tr_training_tick(seeds->training, &figures);
}

static trellis_status run_all(struct seeds *seeds, struct tr_pool *pool, trellis_error *error)
{
    struct tr_training *t = seeds->training;
    tr_training_note(t, "%zu seeds, of which the first reports its iterations", seeds->all);
    seeds->given = *t;
    seeds->last_pulse = tr_training_seconds(t);
    tr_pool_run(pool, tr_pool_threads(pool), run_seeds, seeds);
    trellis_status status = seeds->apart ? add_together(seeds, error) : seeds->status;
    tell(seeds, 0);
    t->report.interrupted = t->report.interrupted || seeds->interrupted;
    if (!status && seeds->known > 0) {
        status = take_mean(seeds, error);
    }
    if (!status && seeds->known > 0) {
        tell_mean(seeds);
    }
    return status;
}

/* The caller's waits have a time limit by the clock that nobody sets. */
static void create_locks(struct seeds *seeds)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&seeds->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&seeds->lock, NULL);
}

static void seeds_free(struct seeds *seeds)
{
    pthread_cond_destroy(&seeds->changed);
    pthread_mutex_destroy(&seeds->lock);
    trellis_cancellation_destroy(seeds->stop);
    tr_buffer_free(&seeds->texts);
    tr_buffer_free(&seeds->notes);
    for (size_t i = 0; seeds->apart && seeds->kept && i < seeds->count; i++) {
        free(seeds->kept[i].weights);
    }
    free(seeds->kept);
    free(seeds->sum);
}

trellis_status tr_train_seeds(struct tr_training *training, trellis_error *error)
{
    size_t count = (size_t)training->settings.seeds;
    if (count <= 1) {
        return training->settings.algorithm->train(training, error);
    }
    const struct tr_ranks *ranks = &training->ranks;
    struct seeds seeds = {.training = training,
                          .count = count,
                          .all = count,
                          .apart = trains_apart(training),
                          .next = 1,
                          .error = error};
    if (seeds.apart) { // rank, rank + ranks, ...
        seeds.count = (count + ranks->count - 1 - ranks->rank) / ranks->count;
    }
    struct tr_pool *alone = NULL;
    create_locks(&seeds);
    trellis_status status = trellis_cancellation_create(&seeds.stop, error);
    if (!status && !seeds.apart && !tr_ranks_alone(ranks)) {
        status = tr_pool_create(1, &alone, error);
    }
    seeds.sum = tr_alloc(training->layout.size, sizeof *seeds.sum);
    seeds.kept = tr_alloc(seeds.apart ? seeds.count : 0, sizeof *seeds.kept);
    if (!status && (!seeds.sum || !seeds.kept)) {
        status = tr_fail_memory(error);
    }
    status = tr_ranks_agree(&training->ranks, status, error);
    if (!status) {
        status = run_all(&seeds, alone ? alone : training->pool, error);
    }
    tr_pool_destroy(alone);
    seeds_free(&seeds);
    return status;
}
