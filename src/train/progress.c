/* progress.c - reports to the person who waits. */
#include "train/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "train/train.h"

const char *trellis_phase_name(trellis_phase phase)
{
    static const char *const names[] = {
        [TRELLIS_PHASE_MESSAGE] = "message",
        [TRELLIS_PHASE_READING] = "reading",
        [TRELLIS_PHASE_CALIBRATING] = "calibrating the learning rate",
        [TRELLIS_PHASE_WARM_UP] = "warm-up",
        [TRELLIS_PHASE_TRAINING] = "training",
        [TRELLIS_PHASE_CLUSTERING] = "clustering",
        [TRELLIS_PHASE_SEEDS] = "more seeds"};
    return (unsigned)phase < TR_COUNT(names) ? names[phase] : "unknown";
}

trellis_progress tr_figures_unknown(trellis_phase phase)
{
    return (trellis_progress){.phase = phase,
                              .objective = NAN,
                              .gradient_norm = NAN,
                              .error_rate = NAN,
                              .dev_accuracy = NAN,
                              .dev_f1 = NAN,
                              .likelihood = NAN,
                              .dev_likelihood = NAN,
                              .seconds = NAN,
                              .tokens_per_second = NAN,
                              .feature_norm = NAN,
                              .line_search_step = NAN,
                              .loss = NAN};
}

trellis_progress tr_training_figures(const struct tr_training *training)
{
    trellis_progress figures = tr_figures_unknown(TRELLIS_PHASE_TRAINING);
    figures.iteration = training->done;
    figures.max_iterations = training->settings.epochs;
    if (training->data.vocabulary.node.rows) {
        figures.features = tr_rows_features(training->data.vocabulary.node.rows) +
                           tr_rows_features(training->data.vocabulary.edge.rows) +
                           training->layout.step_size;
    }
    return figures;
}

double tr_training_seconds(const struct tr_training *training)
{
    const struct timespec *began = &training->report.began;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - began->tv_sec) + 1e-9 * (double)(now.tv_nsec - began->tv_nsec);
}

struct trellis_cancellation {
    atomic_bool cancelled;
};

trellis_status trellis_cancellation_create(trellis_cancellation **ret_cancellation,
                                           trellis_error *error)
{
    if (!TR_CLEAR(ret_cancellation)) {
        return tr_fail_null(error, __func__);
    }
    *ret_cancellation = tr_alloc(1, sizeof **ret_cancellation);
    return *ret_cancellation ? TRELLIS_OK : tr_fail_memory(error);
}

void trellis_cancellation_destroy(trellis_cancellation *cancellation)
{
    free(cancellation);
}

void trellis_cancel(trellis_cancellation *cancellation)
{
    if (!cancellation) {
        return;
    }
    atomic_store(&cancellation->cancelled, true);
}

static bool is_cancelled(const trellis_cancellation *cancellation)
{
    return cancellation && atomic_load_explicit(&cancellation->cancelled, memory_order_relaxed);
}

static bool is_either_cancelled(const struct tr_report *report)
{
    return is_cancelled(report->cancellation) || is_cancelled(report->siblings);
}

bool tr_training_cancelled(const struct tr_training *training)
{
    return tr_ranks_alone(&training->ranks) && is_either_cancelled(&training->report);
}

static bool asked(const void *user)
{
    return tr_training_cancelled(user);
}

struct tr_interruption tr_training_interruption(const struct tr_training *training)
{
    return (struct tr_interruption){asked, training};
}

bool tr_training_tick(struct tr_training *training, const trellis_progress *figures)
{
    struct tr_report *report = &training->report;
    if (report->progress) {
        trellis_progress shown = *figures;
        shown.seconds = tr_training_seconds(training);
        if (!report->progress(report->user, &shown)) {
            report->asked = true;
        }
    }
    if (is_either_cancelled(report)) {
        report->asked = true;
    }
    bool alone = tr_ranks_alone(&training->ranks);
    report->interrupted = report->interrupted || (report->asked && alone);
    return !report->interrupted && !(report->asked && figures->phase == TRELLIS_PHASE_READING);
}

/* Several ranks stop at the end of the same iteration. */
trellis_status tr_training_agree_to_stop(struct tr_training *training, trellis_status status,
                                         bool at_once, trellis_error *error)
{
    struct tr_ranks *ranks = &training->ranks;
    double told[] = {status != TRELLIS_OK, training->report.asked}; // summed over the ranks
    if (tr_ranks_alone(ranks)) {
        return status;
    }
    trellis_status agreed = at_once ? TRELLIS_OK : tr_ranks_agree(ranks, status, error);
    if (!agreed) {
        agreed = tr_ranks_sum_few(ranks, told, TR_COUNT(told), error);
    }
    if (!agreed && told[0] > 0) {
        agreed = tr_ranks_agree(ranks, status, error);
    }
    training->report.interrupted = training->report.interrupted || (!agreed && told[1] > 0);
    return agreed;
}

void tr_training_note(struct tr_training *training, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    trellis_progress figures = tr_figures_unknown(TRELLIS_PHASE_MESSAGE);
    figures.message = text;
    tr_training_tick(training, &figures);
}
