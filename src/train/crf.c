/* crf.c - the conditional random field by batch optimisation (Lafferty, McCallum, Pereira 2001).
 *
 *     minimise  sum_s -log P(Z_s | X_s; w)  +  l2 |w|^2  +  l1 |w|_1
 *
 * With --loss, --cost or --span-loss (softmax-margin) P is taken with the loss of each label
 * sequence added to its score, so that the gold one must win by a margin.
 *
 * The objective is in objective.c and likelihood.c, the optimisers in src/optim; this file joins
 * them and reports. The maximum-entropy classifier is the same with order 0: every position by
 * itself. The maximum-entropy Markov model is the same with another P: every label by itself, given
 * those before it.
 */
#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "train/checkpoint.h"
#include "train/objective.h"

struct crf {
    struct tr_training *training;
    struct tr_likelihood *likelihood;
    double *w;              // [features], or this rank's slice of them
    float *unit;            // the same, from the curvature, for the optimiser
    struct tr_iterate *now; // w, spread for scoring; the likelihood's own
    uint64_t max_iterations;
    uint64_t evaluations; // before the iteration
    double seconds;       // when the iteration began
    trellis_status status;
    trellis_error *error;
};

static bool report(void *user, const struct tr_optim_report *step, const double *w)
{
    struct crf *crf = user;
    struct tr_training *t = crf->training;
    double now = tr_training_seconds(t);
    trellis_progress figures = tr_training_figures(t);
    figures.iteration = step->iteration;
    figures.max_iterations = crf->max_iterations;
    figures.fraction = 1;
    figures.objective = step->value;
    figures.gradient_norm = step->gradient_norm / fmax(1, step->weight_norm);
    figures.feature_norm = step->weight_norm;
    figures.line_search_trials = step->evaluations - crf->evaluations;
    figures.line_search_step = step->step;
    figures.tokens_per_second = (double)tr_dataset_all_tokens(&t->data.train) /
                                (now - crf->seconds + 1e-9);
    bool stop = false;
    crf->seconds = now;
    crf->evaluations = step->evaluations;
    (void)w; // which the likelihood has spread to evaluate it
    crf->now->figures = figures;
    crf->now->figures.active_features = (uint64_t)crf->likelihood->active; // where it is partial
    crf->status = tr_training_iteration(t, crf->now, &stop, crf->error);
    return !stop && !crf->status;
}

/* All weights at w, on every rank. */
static trellis_status get_weights(struct crf *crf)
{
    if (crf->likelihood->split) {
        return tr_likelihood_pull(crf->likelihood, crf->w, true, crf->error);
    }
    tr_features_to_weights(crf->likelihood, crf->w, crf->now->weights);
    return TRELLIS_OK;
}

/* Where the initial weights cannot be improved (a single label, an overwhelming l1), they are the
 * result. */
static trellis_status keep_start(struct crf *crf)
{
    trellis_progress figures = tr_training_figures(crf->training);
    figures.fraction = 1;
    bool stop;
    crf->now->figures = figures;
    trellis_status status = get_weights(crf);
    crf->now->partial = false;
    return status ? status : tr_training_iteration(crf->training, crf->now, &stop, crf->error);
}

/* While ranks share the weights, without dev data the best are those of the last iteration, of which
 * this rank has a part. */
static trellis_status complete_best(struct crf *crf)
{
    struct tr_iterate *best = &crf->training->best;
    if (!crf->now->partial) {
        return TRELLIS_OK;
    }
    trellis_status status = get_weights(crf);
    if (!status) {
        memcpy(best->weights, crf->now->weights, best->size * sizeof *best->weights);
    }
    return status;
}

/* Why it ended: for the person who waits, and for the model. */
static void note_stop(struct tr_training *training, enum tr_stop stop)
{
    char reason[160];
    if (stop == TR_STOP_CALLER && !training->report.interrupted) {
        snprintf(reason, sizeof reason, "no better dev score for %llu iteration%s",
                 TR_COUNTED(training->since_best));
    } else {
        snprintf(reason, sizeof reason, "%s", tr_stop_meaning(stop));
    }
    tr_training_note(training, "stopped: %s", reason);
    tr_note_text(&training->notes, "stopped-because", reason);
}

/* Where to begin: with the weights of --from, after a few stochastic epochs, or at 0. */
static trellis_status find_start(struct crf *crf, enum tr_method method, double l1, double l2)
{
    struct tr_training *training = crf->training;
    uint64_t epochs = training->settings.warm_up;
    if (training->sources.from || method != TR_LBFGS || epochs == 0) {
        return tr_training_initial_weights(training, crf->now->weights, crf->error);
    }
    trellis_status status = tr_sgd_warm_up(training, l2 > 0 ? l2 : l1, epochs, crf->now->weights,
                                           crf->error);
    bool finite = !status;
    for (size_t j = 0; finite && j < training->layout.size; j++) {
        finite = isfinite(crf->now->weights[j]);
    }
    if (!finite) { // values that stochastic steps cannot cope with; the batch method may
        memset(crf->now->weights, 0, training->layout.size * sizeof *crf->now->weights);
    }
    return status == TRELLIS_MEMORY ? status : TRELLIS_OK;
}

/* What a run of the optimiser is told. */
struct batch_run {
    enum tr_method method;
    double l1, l2;
    uint64_t max_iterations; // 0: no limit
    bool selects;            // features for another run
};

static trellis_status optimise(struct crf *crf, const struct batch_run *run, enum tr_stop *ret_stop)
{
    struct tr_training *training = crf->training;
    const struct tr_settings *options = &training->settings;
    struct tr_crf_objective penalised = {crf->likelihood, run->l2};
    const struct tr_likelihood *likelihood = crf->likelihood;
    struct tr_objective objective = {likelihood->split ? likelihood->slices.held : likelihood->size,
                                     tr_crf_evaluate, &penalised};
    struct tr_optim_settings settings = {.method = run->method,
                                         .l1 = run->l1,
                                         .l1_size = objective.size,
                                         .history = options->history,
                                         .unit = crf->unit,
                                         .pool = training->pool,
                                         .slices = crf->likelihood->split ? &crf->likelihood->slices
                                                                          : NULL,
                                         .registry = training->registry,
                                         .max_iterations = run->max_iterations,
                                         .epsilon = options->epsilon,
                                         .delta = options->delta,
                                         .period = options->period,
                                         .noise = 1e-6, // log Z is summed in single precision
                                         .report = report,
                                         .user = crf};
    crf->seconds = tr_training_seconds(training);
    trellis_status status = tr_optimise(&objective, &settings, crf->w, ret_stop, crf->error);
    return status ? status : crf->status;
}

/* The length of a step along each weight, from how curved the objective is along it. */
static trellis_status find_unit(struct crf *crf, trellis_error *error)
{
    size_t size = crf->likelihood->size;
    double *curvature = tr_alloc(size, sizeof *curvature);
    trellis_status status = curvature ? tr_likelihood_curvature(crf->likelihood, curvature, error)
                                      : tr_fail_memory(error);
    for (size_t j = 0; !status && j < size; j++) {
        crf->unit[j] = (float)(1 / sqrt(curvature[j]));
    }
    free(curvature);
    return status;
}

/* What needs neither the keys and texts of the attributes nor bundles. */
static trellis_status pack_and_find_unit(void *user, trellis_error *error)
{
    struct crf *crf = user;
    tr_vocabulary_pack(&crf->training->data.vocabulary); // from here on the numbers are enough
    return find_unit(crf, error);
}

/* Keeps this rank's slice of a vector. */
static void *keep_slice(const struct tr_slices *slices, void *vector, size_t element)
{
    char *slice = (char *)vector + slices->first * element;
    memmove(vector, slice, slices->held * element);
    void *shorter = realloc(vector, (slices->held ? slices->held : 1) * element);
    if (!shorter) {
        return vector;
    }
    return shorter;
}

/* L-BFGS shares its vectors among the ranks, where there is no l1 and no checkpoint. */
static trellis_status split(struct crf *crf, const struct batch_run *run)
{
    struct tr_likelihood *likelihood = crf->likelihood;
    if (tr_ranks_alone(&crf->training->ranks) || run->method != TR_LBFGS || run->l1 > 0 ||
        crf->training->registry) {
        return TRELLIS_OK;
    }
    crf->w = keep_slice(&likelihood->slices, crf->w, sizeof *crf->w);
    crf->unit = keep_slice(&likelihood->slices, crf->unit, sizeof *crf->unit);
    crf->now->partial = crf->training->data.dev.sequences == 0;
    return tr_likelihood_split(likelihood, crf->error);
}

/* Minimises the objective by a batch method. */
static trellis_status minimise(struct tr_training *training, struct batch_run run,
                               trellis_error *error)
{
    struct crf crf = {.training = training, .max_iterations = run.max_iterations, .error = error};
    enum tr_stop stop = TR_STOP_NONE;
    trellis_status status = tr_likelihood_create(training, &crf.likelihood, error);
    if (status) {
        return status;
    }
    crf.now = &crf.likelihood->at;
    crf.w = tr_alloc(crf.likelihood->size, sizeof *crf.w);
    crf.unit = tr_alloc(crf.likelihood->size, sizeof *crf.unit);
    status = !crf.w || !crf.unit ? tr_fail_memory(error)
             : tr_checkpoint_is_pending(training->checkpoint)
                 ? TRELLIS_OK // it has the weights
                 : find_start(&crf, run.method, run.l1, run.l2);
    if (!status) {
        tr_weights_to_features(crf.likelihood, crf.now->weights, crf.w);
    }
    if (!status && !training->report.interrupted) {
        status = tr_likelihood_bundle(crf.likelihood, run.selects, pack_and_find_unit, &crf, error);
    }
    if (!status && !training->report.interrupted) {
        status = split(&crf, &run);
    }
    if (!status && !training->report.interrupted) {
        status = optimise(&crf, &run, &stop);
    }
    if (!status) {
        status = training->best.known ? complete_best(&crf) : keep_start(&crf);
    }
    if (!status && stop != TR_STOP_NONE) {
        note_stop(training, stop);
    }
    free(crf.w);
    free(crf.unit);
    tr_likelihood_destroy(crf.likelihood);
    trellis_status unpacked = tr_vocabulary_unpack(&training->data.vocabulary, error);
    return unpacked ? unpacked : status;
}

/* Features by a first run with l1 (--select-l1), where asked for. */
static trellis_status select_features(struct tr_training *training, trellis_error *error)
{
    const struct tr_settings *settings = &training->settings;
    bool selected;
    if (settings->select_l1 == 0) {
        return TRELLIS_OK;
    }
    trellis_status status = tr_checkpoint_selected(training->checkpoint, &selected, error);
    if (!status && !selected) {
        struct batch_run run = {TR_LBFGS, settings->select_l1, 0, settings->select_epochs, true};
        status = minimise(training, run, error);
    }
    if (!status && !training->report.interrupted && training->best.known) {
        status = tr_training_select(training, error);
    }
    return status;
}

static trellis_status train_in_batch(struct tr_training *training, enum tr_method method,
                                     trellis_error *error)
{
    const struct tr_settings *settings = &training->settings;
    struct batch_run run = {method, settings->l1, settings->l2, settings->epochs, false};
    trellis_status status = select_features(training, error);
    return status || training->report.interrupted ? status : minimise(training, run, error);
}

trellis_status tr_train_lbfgs(struct tr_training *training, trellis_error *error)
{
    return train_in_batch(training, TR_LBFGS, error);
}

trellis_status tr_train_cg(struct tr_training *training, trellis_error *error)
{
    return train_in_batch(training, TR_CONJUGATE_GRADIENT, error);
}

trellis_status tr_train_gd(struct tr_training *training, trellis_error *error)
{
    return train_in_batch(training, TR_GRADIENT_DESCENT, error);
}

trellis_status tr_train_sgd(struct tr_training *training, trellis_error *error)
{
    trellis_status status = select_features(training, error);
    return status || training->report.interrupted
               ? status
               : tr_sgd_minimise(training, training->settings.l2, error);
}

/* ---- before learning ------------------------------------------------------------------------- */

/* The loss of softmax-margin, where one is asked for. */
static trellis_status prepare(struct tr_training *training, trellis_error *error)
{
    const struct tr_dataset *data = &training->data.train;
    if (!training->settings.margin) {
        return TRELLIS_OK;
    }
    if (data->open_begin.size) {
        return tr_fail(error, TRELLIS_OPTION,
                       "a loss needs all gold labels; with --partial leave out --loss, --cost and "
                       "--span-loss");
    }
    return tr_loss_create(training->settings.options, &data->labels, data->label_count,
                          &training->loss, error);
}

const struct tr_learner_hooks tr_crf_hooks = {.prepare = prepare};
