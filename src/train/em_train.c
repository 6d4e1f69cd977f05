/* em_train.c - the learner: EM from one start after the other, until there is a reason to stop.
 *
 * A checkpoint is written between an E-step and its M-step, and holds the counts: weights would do as well, but
 * some may be minus infinity, and the M-step is the cheaper half.
 */
#include <float.h>
#include <math.h>

#include "model/model.h"
#include "train/em.h"
#include "train/hmm.h"
#include "train/hmm_gaussian.h"
#include "train/unsupervised.h"

enum { EPOCHS = 100 }; // unless the user says otherwise

/* log P of the dev data by token; minus infinity where some of it cannot be. */
static trellis_status dev_likelihood(struct tr_em *em, double *ret_value, trellis_error *error)
{
    const struct tr_dataset *dev = &em->training->dev;
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
enum reason { GOES_ON, INTERRUPTED, DEV_FALLS, SETTLED, LONG_ENOUGH };
static const char *const reasons[] = {
    "it goes on", "it was interrupted", "the score on --dev does not rise",
    "the likelihood hardly rises", "the number of iterations is reached"};

/* Figures of the best iterate of the starts so far. */
struct figures {
    uint64_t iteration, reason;
    double score, objective, likelihood, dev_accuracy, dev_f1;
};

struct em_run {
    struct tr_em *em;
    struct tr_training *training;
    uint64_t starts, most; // iterations of a start
    double seconds;        // when the last one ended

    uint64_t start, before, iterations; // starts done, the iterations of those and of this one
    double *values;                     // [period + 1] F, a ring
    size_t period;

    /* The best iterate of the starts so far. */
    float *kept;          // [training->size]
    float *kept_low;      // [training->size]
    double *kept_normals; // [normals_size] laid out like emissions->best
    size_t normals_size;
    double *kept_unknown; // [unknown_size] laid out like training->best_unknown
    size_t unknown_size;
    struct figures kept_figures;
};

/* ---- one start ----------------------------------------------------------------------------------- */

/* Whether F rose by less than --delta of itself over --period iterations. */
static bool has_settled(const struct em_run *c)
{
    double delta = tr_option_real(c->training->options, "delta");
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
    figures.max_iterations = c->before + c->most;
    figures.fraction = 1;
    figures.objective = -value;
    figures.likelihood = likelihood / em->weighted_tokens;
    figures.tokens_per_second = (double)t->data.tokens / (now - c->seconds + 1e-9);
    c->seconds = now;
    trellis_status status = TRELLIS_OK;
    if (t->dev.sequences && tr_unsupervised_dev_likelihood(t)) {
        status = dev_likelihood(em, &figures.dev_likelihood, error);
    }
    if (!status) {
        t->exact = em->w;
        status = tr_training_iteration(t, &figures, em->weights, &stop, error);
        t->exact = NULL;
    }
    *ret_reason = stop && t->stopped         ? INTERRUPTED
                  : stop                     ? DEV_FALLS
                  : has_settled(c)           ? SETTLED
                  : c->iterations >= c->most ? LONG_ENOUGH
                                             : GOES_ON;
    return status;
}

/* EM from one start, or on from the counts of a checkpoint, until there is a reason to stop. */
static trellis_status climb(struct em_run *c, bool goes_on, enum reason *ret_reason,
                            trellis_error *error)
{
    double likelihood, value;
    trellis_status status = goes_on ? tr_em_maximise(c->em, error) : tr_em_begin(c->em, error);
    if (!goes_on) {
        c->training->has_best = false;
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

/* ---- one after the other ------------------------------------------------------------------------- */

/* Keeps the best iterate of this start where it is better than those of the starts before. */
static void keep(struct em_run *c, enum reason reason)
{
    struct tr_training *t = c->training;
    double score = t->dev.sequences ? t->best_score : -t->figures.objective;
    if (c->start == 0 || score > c->kept_figures.score) {
        memcpy(c->kept, t->best, t->size * sizeof *c->kept);
        memcpy(c->kept_low, t->low, t->size * sizeof *c->kept_low);
        if (t->emissions) {
            memcpy(c->kept_normals, t->emissions->best, c->normals_size * sizeof *c->kept_normals);
        }
        if (t->unknown) {
            memcpy(c->kept_unknown, t->best_unknown, c->unknown_size * sizeof *c->kept_unknown);
        }
        c->kept_figures = (struct figures){.iteration = t->figures.iteration,
                                           .reason = reason,
                                           .score = score,
                                           .objective = t->figures.objective,
                                           .likelihood = t->figures.likelihood,
                                           .dev_accuracy = t->figures.dev_accuracy,
                                           .dev_f1 = t->figures.dev_f1};
    }
}

static trellis_status run_restarts(struct em_run *c, bool goes_on, trellis_error *error)
{
    struct tr_training *t = c->training;
    enum reason reason = GOES_ON;
    trellis_status status = TRELLIS_OK;
    while (!status && !t->stopped && c->start < c->starts) {
        status = climb(c, goes_on, &reason, error);
        if (!status) {
            tr_training_note(t,
                             "start %llu of %llu: %.6f nats a token after %llu iterations; "
                             "stopped because %s",
                             (unsigned long long)c->start + 1, (unsigned long long)c->starts,
                             t->figures.likelihood, (unsigned long long)c->iterations,
                             reasons[reason]);
            keep(c, reason);
        }
        goes_on = false;
        c->start++;
        c->before += c->iterations;
        c->iterations = 0;
    }
    return status;
}

/* The model is the iterate that was kept. */
static void finish(const struct em_run *c)
{
    struct tr_training *t = c->training;
    memcpy(t->best, c->kept, t->size * sizeof *t->best);
    memcpy(t->low, c->kept_low, t->size * sizeof *t->low);
    if (t->emissions) {
        memcpy(t->emissions->best, c->kept_normals, c->normals_size * sizeof *c->kept_normals);
    }
    if (t->unknown) {
        memcpy(t->best_unknown, c->kept_unknown, c->unknown_size * sizeof *c->kept_unknown);
    }
    t->has_best = true;
    t->figures.iteration = c->kept_figures.iteration;
    t->figures.objective = c->kept_figures.objective;
    t->figures.likelihood = c->kept_figures.likelihood;
    t->figures.dev_accuracy = c->kept_figures.dev_accuracy;
    t->figures.dev_f1 = c->kept_figures.dev_f1;
    tr_note_text(&t->notes, "stopped-because", reasons[c->kept_figures.reason]);
    tr_note_format(&t->notes, "log-likelihood", "%.10g", t->figures.likelihood);
}

/* ---- checkpoints --------------------------------------------------------------------------------- */

static void write_figures(const void *at, struct tr_buffer *buffer)
{
    tr_buffer_add(buffer, at, sizeof(struct figures));
}

/* Figures that a training does not have are NaN. */
static trellis_status read_figures(void *at, trellis_text content, trellis_error *error)
{
    struct figures *figures = at;
    if (content.size == sizeof *figures) {
        memcpy(figures, content.data, sizeof *figures);
    }
    return content.size == sizeof *figures && figures->reason < TR_COUNT(reasons)
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_MODEL, "the checkpoint's figures of EM do not fit");
}

/* The best iterate is the pipeline's, but for what only an HMM has of it. */
static void name_state(struct em_run *c)
{
    static const struct tr_kept_form form = {write_figures, read_figures};
    const double most_count = 1e100;
    struct tr_training *t = c->training;
    struct tr_state_registry *registry = t->registry;
    const uint64_t most = UINT64_C(1) << 52;
    tr_keep_whole(registry, "STRT", &c->start, 1, c->starts - 1);
    tr_keep_whole(registry, "BFOR", &c->before, 1, most);
    tr_keep_whole(registry, "ITER", &c->iterations, 1, most);
    tr_keep_doubles(registry, "VALU", c->values, c->period + 1);
    tr_keep_between(registry, "CNTS", c->em->counts, t->size, 0, most_count);
    tr_keep_floats(registry, "BLOW", t->low, t->size);
    if (c->starts > 1) {
        tr_keep_form(registry, "KFIG", &c->kept_figures, &form);
        tr_keep_logs(registry, "KEPT", c->kept, t->size);
        tr_keep_floats(registry, "KLOW", c->kept_low, t->size);
    }
    if (t->unknown) {
        tr_keep_between(registry, "BUNK", t->best_unknown, c->unknown_size, -INFINITY, DBL_MAX);
    }
    if (t->unknown && c->starts > 1) {
        tr_keep_between(registry, "KUNK", c->kept_unknown, c->unknown_size, -INFINITY, DBL_MAX);
    }
    if (t->emissions && c->starts > 1) {
        tr_hmm_gaussian_name(t->emissions, c->kept_normals, registry, "KMEA", "KVAR");
    }
    if (t->emissions) {
        tr_keep_doubles(registry, "MMNT", c->em->moments, c->em->moment_count);
        tr_hmm_gaussian_name(t->emissions, t->emissions->mean, registry, "MEAN", "VARI");
        tr_hmm_gaussian_name(t->emissions, t->emissions->best, registry, "BMEA", "BVAR");
    }
}

/* ---- the learner --------------------------------------------------------------------------------- */

static trellis_status prepare(struct em_run *c, struct tr_training *t, trellis_error *error)
{
    uint64_t most = (uint64_t)tr_option_integer(t->options, "epochs");
    *c = (struct em_run){.training = t,
                         .starts = (uint64_t)tr_option_integer(t->options, "restarts"),
                         .most = most ? most : EPOCHS,
                         .seconds = tr_training_seconds(t),
                         .period = (size_t)tr_option_integer(t->options, "period")};
    trellis_status status = tr_em_create(t, &c->em, error);
    if (!status) {
        status = tr_hmm_make_unknown(t, error);
    }
    if (status) {
        return status;
    }
    if (c->starts > 1 && !tr_em_begins_by_chance(c->em)) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--restarts is for random starts, but this training begins with %s",
                       *tr_option_text(t->options, "from") ? "the model of --from"
                                                           : "the labels that are known");
    }
    c->normals_size = t->emissions ? 2 * (size_t)t->emissions->labels * t->emissions->columns : 0;
    c->values = tr_alloc(c->period + 1, sizeof *c->values);
    c->kept = tr_alloc_aligned(t->size, sizeof *c->kept);
    c->kept_low = tr_alloc(t->size, sizeof *c->kept_low);
    c->kept_normals = tr_alloc(c->normals_size, sizeof *c->kept_normals);
    c->unknown_size = t->unknown ? 1 + (size_t)t->plan.labels : 0;
    c->kept_unknown = tr_alloc(c->unknown_size, sizeof *c->kept_unknown);
    t->low = tr_alloc(t->size, sizeof *t->low);
    if (!c->values || !c->kept || !c->kept_low || !c->kept_normals || !c->kept_unknown || !t->low) {
        return tr_fail_memory(error);
    }
    if (t->emissions) { // so that there are variances in a checkpoint of the first start
        memcpy(c->kept_normals, t->emissions->mean, c->normals_size * sizeof *c->kept_normals);
    }
    name_state(c);
    return TRELLIS_OK;
}

trellis_status tr_train_em(struct tr_training *t, trellis_error *error)
{
    struct em_run c = {0};
    bool goes_on = false;
    trellis_status status = tr_hmm_check(t, error);
    if (!status) {
        status = prepare(&c, t, error);
    }
    if (!status) {
        status = tr_registry_load(t->registry, &goes_on, error);
    }
    if (!status) {
        status = run_restarts(&c, goes_on, error);
    }
    if (!status) {
        finish(&c);
    }
    tr_registry_clear(t->registry);
    tr_em_destroy(c.em);
    free(c.values);
    free(c.kept);
    free(c.kept_low);
    free(c.kept_normals);
    free(c.kept_unknown);
    return status;
}
