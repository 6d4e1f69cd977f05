/* em_train.c - the learner: EM from one start after the other, until there is a reason to stop.
 *
 * A checkpoint is written between an E-step and its M-step, and holds the counts: weights would do
 * as well, but some may be minus infinity, and the M-step is the cheaper half.
 */
#include <float.h>
#include <math.h>

#include "model/model.h"
#include "train/em.h"
#include "train/hmm.h"
#include "train/hmm_gaussian.h"
#include "train/unsupervised.h"

/* log P of the dev data by token; minus infinity where some of it cannot be. */
static trellis_status dev_likelihood(struct tr_em *em, double *ret_value, trellis_error *error)
{
    const struct tr_dataset *dev = &em->training->data.dev;
    trellis_error failure;
    bool hard = em->hard;
    em->hard = false;
    trellis_status status = tr_em_pass(em, dev, false, ret_value, &failure);
    em->hard = hard;
    *ret_value = status ? -INFINITY : *ret_value / tr_tokens_by_weight(dev);
    return status && status != TRELLIS_DATA ? tr_fail(error, status, "%s", failure.message)
                                            : TRELLIS_OK;
}

/* Why a start ended. */
enum reason { GOES_ON, INTERRUPTED, DEV_FALLS, CONVERGED, MAX_ITERATIONS };
static const char *const reasons[] = {"still running", "interrupted", "no better dev score",
                                      "converged: relative change of the likelihood below --delta",
                                      "maximum number of iterations reached"};

struct em_run {
    struct tr_em *em;
    struct tr_training *training;
    uint64_t starts, max_iterations; // of a start
    double seconds;                  // when the last iteration ended

    uint64_t start, before, iterations; // starts done, the iterations of those and of this one
    double *values;                     // [period + 1] F, a ring
    size_t period;

    struct tr_iterate kept; // the best of the starts so far
    uint64_t kept_reason;
};

/* ---- one start ------------------------------------------------------------------------------- */

/* Whether F rose by less than --delta of itself over --period iterations. */
static bool has_converged(const struct em_run *c)
{
    double delta = c->training->settings.delta;
    if (delta == 0 || c->iterations <= c->period) {
        return false;
    }
    double now = c->values[(c->iterations - 1) % (c->period + 1)];
    double before = c->values[c->iterations % (c->period + 1)];
    return now - before < delta * fabs(now);
}

/* After an E-step: reports, and finds out whether there is a reason to stop. */
static trellis_status end_iteration(struct em_run *c, double value, double likelihood,
                                    enum reason *ret_reason, trellis_error *error)
{
    struct tr_em *em = c->em;
    struct tr_training *t = c->training;
    trellis_progress figures = tr_training_figures(t);
    double now = tr_training_seconds(t);
    bool stop = false;
    c->values[c->iterations++ % (c->period + 1)] = value;
    figures.iteration = c->before + c->iterations;
    figures.max_iterations = c->before + c->max_iterations;
    figures.fraction = 1;
    figures.objective = -value;
    figures.likelihood = likelihood / em->weighted_tokens;
    figures.tokens_per_second = (double)t->data.train.tokens / (now - c->seconds + 1e-9);
    c->seconds = now;
    trellis_status status = TRELLIS_OK;
    if (t->data.dev.sequences && tr_unsupervised_dev_likelihood(t)) {
        status = dev_likelihood(em, &figures.dev_likelihood, error);
    }
    if (!status) {
        em->now.figures = figures;
        status = tr_training_iteration(t, &em->now, &stop, error);
    }
    *ret_reason = stop && t->report.interrupted        ? INTERRUPTED
                  : stop                               ? DEV_FALLS
                  : has_converged(c)                   ? CONVERGED
                  : c->iterations >= c->max_iterations ? MAX_ITERATIONS
                                                       : GOES_ON;
    return status;
}

/* EM from one start, or resumed from the counts of a checkpoint, until there is a reason to
 * stop. */
static trellis_status run_start(struct em_run *c, bool resumed, enum reason *ret_reason,
                                trellis_error *error)
{
    double likelihood, value;
    trellis_status status = resumed ? tr_em_maximise(c->em, error) : tr_em_begin(c->em, error);
    if (!resumed) {
        c->training->best.known = false;
        c->training->since_best = 0;
    }
    while (!status) {
        status = tr_em_expect(c->em, &likelihood, &value, error);
        if (!status) {
            status = end_iteration(c, value, likelihood, ret_reason, error);
        }
        if (status || *ret_reason != GOES_ON) {
            break;
        }
        status = tr_registry_save(c->training->registry, error);
        if (!status) {
            status = tr_em_maximise(c->em, error);
        }
    }
    return status;
}

/* ---- one after the other --------------------------------------------------------------------- */

/* Keeps the best iterate of this start where it is better than those of the starts before. */
static void keep(struct em_run *c, enum reason reason)
{
    struct tr_training *t = c->training;
    if (!t->data.dev.sequences) {
        t->best.score = -t->best.figures.objective;
    }
    if (!c->kept.known || t->best.score > c->kept.score) {
        tr_iterate_copy(&c->kept, &t->best, t->pool);
        c->kept_reason = reason;
    }
}

static trellis_status run_restarts(struct em_run *c, bool resumed, trellis_error *error)
{
    struct tr_training *t = c->training;
    enum reason reason = GOES_ON;
    trellis_status status = TRELLIS_OK;
    while (!status && !t->report.interrupted && c->start < c->starts) {
        status = run_start(c, resumed, &reason, error);
        if (!status) {
            tr_training_note(t,
                             "start %llu of %llu: %.6f nats a token after %llu iterations; "
                             "stopped: %s",
                             (unsigned long long)c->start + 1, (unsigned long long)c->starts,
                             t->best.figures.likelihood, (unsigned long long)c->iterations,
                             reasons[reason]);
            keep(c, reason);
        }
        resumed = false;
        c->start++;
        c->before += c->iterations;
        c->iterations = 0;
    }
    return status;
}

/* The model is the iterate that was kept. */
static void finish(struct em_run *c)
{
    struct tr_training *t = c->training;
    tr_iterate_swap(&t->best, &c->kept);
    tr_note_text(&t->notes, "stopped-because", reasons[c->kept_reason]);
    tr_note_format(&t->notes, "log-likelihood", "%.10g", t->best.figures.likelihood);
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* Of the iterate that was kept: its figures, and why its start ended. */
struct kept_figures {
    uint64_t known, reason, iteration;
    double score, objective, likelihood, dev_accuracy, dev_f1;
};

static void write_figures(const void *at, struct tr_buffer *buffer)
{
    const struct em_run *c = at;
    const trellis_progress *f = &c->kept.figures;
    struct kept_figures figures = {.known = c->kept.known,
                                   .reason = c->kept_reason,
                                   .iteration = f->iteration,
                                   .score = c->kept.score,
                                   .objective = f->objective,
                                   .likelihood = f->likelihood,
                                   .dev_accuracy = f->dev_accuracy,
                                   .dev_f1 = f->dev_f1};
    tr_buffer_add(buffer, (const char *)&figures, sizeof figures);
}

/* Figures that a training does not have are NaN. */
static trellis_status read_figures(void *at, trellis_text content, trellis_error *error)
{
    struct em_run *c = at;
    struct kept_figures figures = {0};
    if (content.size == sizeof figures) {
        memcpy(&figures, content.data, sizeof figures);
    }
    if (content.size != sizeof figures || figures.reason >= TR_COUNT(reasons) ||
        figures.known > 1) {
        return tr_fail(error, TRELLIS_MODEL, "the checkpoint's figures of EM do not fit");
    }
    c->kept.known = figures.known;
    c->kept.score = figures.score;
    c->kept_reason = figures.reason;
    c->kept.figures.iteration = figures.iteration;
    c->kept.figures.objective = figures.objective;
    c->kept.figures.likelihood = figures.likelihood;
    c->kept.figures.dev_accuracy = figures.dev_accuracy;
    c->kept.figures.dev_f1 = figures.dev_f1;
    return TRELLIS_OK;
}

/* The weights of the best iterate are the pipeline's; here is what only an HMM has of it. */
static void name_state(struct em_run *c)
{
    static const struct tr_kept_form form = {write_figures, read_figures};
    const double max_count = 1e100;
    const uint64_t max_iterations = UINT64_C(1) << 52;
    struct tr_em *em = c->em;
    struct tr_training *t = c->training;
    struct tr_state_registry *registry = t->registry;
    tr_keep_whole(registry, "STRT", &c->start, 1, c->starts - 1);
    tr_keep_whole(registry, "BFOR", &c->before, 1, max_iterations);
    tr_keep_whole(registry, "ITER", &c->iterations, 1, max_iterations);
    tr_keep_doubles(registry, "VALU", c->values, c->period + 1);
    tr_keep_between(registry, "CNTS", em->counts, em->now.size, 0, max_count);
    tr_iterate_name(&t->best, registry, 'B');
    if (c->starts > 1) {
        tr_keep_form(registry, "KFIG", c, &form);
        tr_keep_logs(registry, "KEPT", c->kept.weights, c->kept.size);
        tr_iterate_name(&c->kept, registry, 'K');
    }
    if (t->gaussian) {
        tr_keep_doubles(registry, "MMNT", em->moments, em->moment_count);
        tr_iterate_name(&em->now, registry, 'N');
    }
}

/* ---- the learner ----------------------------------------------------------------------------- */

static trellis_status prepare(struct em_run *c, struct tr_training *t, bool hard,
                              trellis_error *error)
{
    *c = (struct em_run){.training = t,
                         .starts = t->settings.restarts,
                         .max_iterations = t->settings.epochs,
                         .seconds = tr_training_seconds(t),
                         .period = t->settings.period};
    trellis_status status = tr_em_create(t, hard, &c->em, error);
    if (!status && c->starts > 1 && !tr_em_starts_at_random(c->em)) {
        status = tr_fail(error, TRELLIS_OPTION,
                         "--restarts is for random starts, but this training begins with %s",
                         t->sources.from ? "the model of --from" : "the labels that are known");
    }
    if (!status) {
        status = tr_iterate_create(t, &c->kept, error);
    }
    if (!status && !(c->values = tr_alloc(c->period + 1, sizeof *c->values))) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        name_state(c);
    }
    return status;
}

static trellis_status train(struct tr_training *t, bool hard, trellis_error *error)
{
    struct em_run c = {0};
    bool resumed = false;
    trellis_status status = tr_hmm_check(t, error);
    if (!status) {
        status = prepare(&c, t, hard, error);
    }
    if (!status) {
        status = tr_registry_load(t->registry, &resumed, error);
    }
    if (!status) {
        status = run_restarts(&c, resumed, error);
    }
    tr_registry_clear(t->registry);
    if (!status) {
        finish(&c);
    }
    tr_em_destroy(c.em);
    tr_iterate_free(&c.kept);
    free(c.values);
    return status;
}

trellis_status tr_train_em(struct tr_training *training, trellis_error *error)
{
    return train(training, false, error);
}

trellis_status tr_train_hard_em(struct tr_training *training, trellis_error *error)
{
    return train(training, true, error);
}
