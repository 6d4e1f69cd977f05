/* em_train.c - the learner: EM from one start after the other, until there is a reason to stop. */
#include <math.h>

#include "model/model.h"
#include "train/em.h"
#include "train/hmm.h"
#include "train/normals.h"
#include "train/states.h"

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

/* What a start has been through. */
struct course {
    uint64_t first, last; // iterations
    TR_ARRAY(double) value;
    const char *reason;
    double seconds;
};

/* Whether F rose by less than --delta of itself over --period iterations. */
static bool has_settled(const struct tr_em *em, const struct course *course)
{
    const trellis_options *options = em->training->options;
    size_t period = (size_t)tr_option_integer(options, "period"), count = course->value.size;
    double delta = tr_option_real(options, "delta");
    if (delta == 0 || count <= period) {
        return false;
    }
    double now = course->value.at[count - 1], before = course->value.at[count - 1 - period];
    return now - before < delta * fabs(now);
}

/* After an E-step: reports, and finds out whether there is a reason to stop. */
static trellis_status end_iteration(struct tr_em *em, struct course *course, double value,
                                    double likelihood, trellis_error *error)
{
    struct tr_training *t = em->training;
    trellis_progress figures = tr_training_figures(t);
    uint64_t most = (uint64_t)tr_option_integer(t->options, "epochs");
    double now = tr_training_seconds(t);
    bool stop = false;
    most = most ? most : EPOCHS;
    figures.iteration = course->first + course->value.size;
    figures.iterations = course->last;
    figures.fraction = 1;
    figures.objective = -value;
    figures.likelihood = likelihood / em->weighted_tokens;
    figures.tokens_per_second = (double)t->data.tokens / (now - course->seconds + 1e-9);
    course->seconds = now;
    if (!tr_push(&course->value, value)) {
        return tr_fail_memory(error);
    }
    trellis_status status = TRELLIS_OK;
    if (t->dev.sequences && tr_states_dev_likelihood(t)) {
        status = dev_likelihood(em, &figures.dev_likelihood, error);
    }
    if (!status) {
        t->exact = em->w;
        status = tr_training_iteration(t, &figures, em->weights, &stop, error);
        t->exact = NULL;
    }
    course->reason = stop && t->stopped           ? "it was interrupted"
                     : stop                       ? "the score on --dev does not rise"
                     : has_settled(em, course)    ? "the likelihood hardly rises"
                     : course->value.size >= most ? "the number of iterations is reached"
                                                  : NULL;
    return status;
}

/* EM from one start, until there is a reason to stop. */
static trellis_status climb(struct tr_em *em, struct course *course, trellis_error *error)
{
    double likelihood, value;
    trellis_status status = tr_em_begin(em, error);
    em->training->has_best = false;
    em->training->since_best = 0;
    while (!status) {
        status = tr_em_expect(em, &likelihood, &value, error);
        if (!status) {
            status = end_iteration(em, course, value, likelihood, error);
        }
        if (status || course->reason) {
            break;
        }
        status = tr_em_maximise(em, error);
    }
    return status;
}

/* Keeps the best iterate of this start where it is better than those of the starts before. */
static void keep(struct tr_em *em, const char *reason, bool first)
{
    struct tr_training *t = em->training;
    double score = t->dev.sequences ? t->best_score : -t->figures.objective;
    if (first || score > em->kept_score) {
        memcpy(em->kept, t->best, t->size * sizeof *em->kept);
        memcpy(em->kept_low, t->low, t->size * sizeof *em->kept_low);
        if (t->normals) {
            memcpy(em->kept_normals, t->normals->best, em->normals_size * sizeof *em->kept_normals);
        }
        em->kept_score = score;
        em->kept_figures = t->figures;
        em->kept_reason = reason;
    }
}

static trellis_status start_again_and_again(struct tr_em *em, uint64_t starts, trellis_error *error)
{
    struct tr_training *t = em->training;
    uint64_t most = (uint64_t)tr_option_integer(t->options, "epochs");
    struct course course = {.seconds = tr_training_seconds(t)};
    trellis_status status = TRELLIS_OK;
    for (uint64_t i = 0; !status && !t->stopped && i < starts; i++) {
        course.first += course.value.size + (i == 0);
        course.last = course.first - 1 + (most ? most : EPOCHS);
        course.value.size = 0;
        status = climb(em, &course, error);
        if (!status) {
            tr_training_note(t,
                             "start %llu of %llu: %.6f nats a token after %zu iterations; "
                             "stopped because %s",
                             (unsigned long long)i + 1, (unsigned long long)starts,
                             t->figures.likelihood, course.value.size, course.reason);
            keep(em, course.reason, i == 0);
        }
    }
    free(course.value.at);
    return status;
}

/* What EM cannot do. */
static trellis_status check(const struct tr_training *t, trellis_error *error)
{
    if (t->plan.order != 1 || t->plan.count_cap) {
        return tr_fail(error, TRELLIS_OPTION, "-a em and -a viterbi are for --order 1");
    }
    if (t->checkpoint) {
        return tr_fail(error, TRELLIS_OPTION,
                       "-a em and -a viterbi write no checkpoints; --from goes on from a model");
    }
    return tr_hmm_check(t, error);
}

trellis_status tr_train_em(struct tr_training *t, trellis_error *error)
{
    struct tr_em *em = NULL;
    uint64_t starts = (uint64_t)tr_option_integer(t->options, "restarts");
    trellis_status status = check(t, error);
    if (!status) {
        status = tr_em_create(t, &em, error);
    }
    if (!status) {
        em->normals_size = t->normals ? 2 * (size_t)t->normals->labels * t->normals->columns : 0;
        em->kept = tr_alloc_aligned(t->size, sizeof *em->kept);
        em->kept_low = tr_alloc(t->size, sizeof *em->kept_low);
        em->kept_normals = tr_alloc(em->normals_size, sizeof *em->kept_normals);
        status = em->kept && em->kept_low && em->kept_normals ? TRELLIS_OK : tr_fail_memory(error);
    }
    if (!status && starts > 1 && !tr_em_begins_by_chance(em)) {
        status = tr_fail(error, TRELLIS_OPTION,
                         "--restarts is for random starts, but this training begins with %s",
                         *tr_option_text(t->options, "from") ? "the model of --from"
                                                             : "the labels that are known");
    }
    if (!status) {
        status = start_again_and_again(em, starts, error);
    }
    if (!status) {
        memcpy(t->best, em->kept, t->size * sizeof *t->best);
        memcpy(t->low, em->kept_low, t->size * sizeof *t->low);
        if (t->normals) {
            memcpy(t->normals->best, em->kept_normals, em->normals_size * sizeof *em->kept_normals);
        }
        t->has_best = true;
        t->figures = em->kept_figures;
        tr_note_text(&t->notes, "stopped-because", em->kept_reason);
        tr_note_format(&t->notes, "log-likelihood", "%.10g", t->figures.likelihood);
    }
    tr_em_destroy(em);
    return status;
}
