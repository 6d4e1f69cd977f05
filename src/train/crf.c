/* crf.c - the conditional random field by batch optimisation (Lafferty, McCallum, Pereira 2001).
 *
 *     minimise  sum_s -log P(Z_s | X_s; w)  +  l2 |w|^2  +  l1 |w|_1
 *
 * With --loss, --cost or --span-loss what is wrong weighs more (softmax-margin): P is then taken with the
 * loss of each label sequence added to its score, so that the right one must win by a margin.
 *
 * The objective and its gradient are in objective.c, the optimisers in src/optim; this file joins
 * them and reports. The maximum-entropy classifier is the same with order 0: every position by itself. The
 * maximum-entropy Markov model is the same with another P: every label by itself, given those before it.
 */
#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "train/checkpoint.h"
#include "train/objective.h"

struct crf {
    struct tr_training *training;
    struct tr_likelihood *likelihood;
    double *w;         // [features]
    double *curvature; // [features]
    float *weights;    // [training->size] w, spread for scoring; the likelihood's own
    double seconds;    // when the iteration began
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
    figures.fraction = 1;
    figures.objective = step->value;
    figures.gradient_norm = step->gradient_norm / fmax(1, step->weight_norm);
    figures.tokens_per_second = (double)t->data.tokens / (now - crf->seconds + 1e-9);
    bool stop = false;
    crf->seconds = now;
    (void)w; // which the likelihood has spread to evaluate it
    crf->status = tr_training_iteration(t, &figures, crf->weights, &stop, crf->error);
    return !stop && !crf->status;
}

/* Where the weights that it begins with cannot be bettered (a single label, an overwhelming l1), they are
 * the result. */
static trellis_status keep_start(struct crf *crf)
{
    trellis_progress figures = tr_training_figures(crf->training);
    figures.fraction = 1;
    bool stop;
    tr_likelihood_spread(crf->likelihood, crf->w, crf->weights);
    return tr_training_iteration(crf->training, &figures, crf->weights, &stop, crf->error);
}

/* Why it ended: for the person who waits, and for the model. */
static void note_stop(struct tr_training *training, enum tr_stop stop)
{
    char reason[160];
    if (stop == TR_STOP_CALLER && !training->stopped) {
        snprintf(reason, sizeof reason, "the score on --dev has not risen for %llu iterations",
                 (unsigned long long)training->since_best);
    } else {
        snprintf(reason, sizeof reason, "%s", tr_stop_meaning(stop));
    }
    tr_training_note(training, "stopped because %s", reason);
    tr_note_text(&training->notes, "stopped-because", reason);
}

static enum tr_method method_of(const char *algorithm)
{
    return strcmp(algorithm, "cg") == 0   ? TR_CONJUGATE_GRADIENT
           : strcmp(algorithm, "gd") == 0 ? TR_GRADIENT_DESCENT
                                          : TR_LBFGS;
}

/* Where to begin: with the weights of --from, after a few stochastic epochs, or at 0. */
static trellis_status find_start(struct crf *crf, enum tr_method method, double l1, double l2)
{
    struct tr_training *training = crf->training;
    uint64_t epochs = (uint64_t)tr_option_integer(training->options, "warm-up");
    if (*tr_option_text(training->options, "from") || method != TR_LBFGS || epochs == 0) {
        return tr_training_initial_weights(training, crf->weights, crf->error);
    }
    trellis_status status = tr_sgd_warm_up(training, l2 > 0 ? l2 : l1, epochs, crf->weights,
                                           crf->error);
    bool finite = !status;
    for (size_t j = 0; finite && j < training->size; j++) {
        finite = isfinite(crf->weights[j]);
    }
    if (!finite) { // values that stochastic steps cannot cope with; the batch method may
        memset(crf->weights, 0, training->size * sizeof *crf->weights);
    }
    return status == TRELLIS_MEMORY ? status : TRELLIS_OK;
}

/* Minimises the objective by a batch method. */
static trellis_status minimise(struct tr_training *training, enum tr_method method, double l1,
                               double l2, trellis_error *error)
{
    struct crf crf = {.training = training, .error = error};
    const trellis_options *options = training->options;
    trellis_status status = tr_likelihood_create(training, l2, &crf.likelihood, error);
    if (status) {
        return status;
    }
    size_t size = tr_likelihood_size(crf.likelihood);
    crf.w = tr_alloc(size, sizeof *crf.w);
    crf.curvature = tr_alloc(size, sizeof *crf.curvature);
    crf.weights = tr_likelihood_weights(crf.likelihood);
    enum tr_stop stop = TR_STOP_NONE;
    status = !crf.w || !crf.curvature                    ? tr_fail_memory(error)
             : tr_checkpoint_waits(training->checkpoint) ? TRELLIS_OK // it has the weights
                                                         : find_start(&crf, method, l1, l2);
    if (!status) {
        tr_likelihood_gather(crf.likelihood, crf.weights, crf.w);
        status = tr_likelihood_curvature(crf.likelihood, crf.curvature, error);
    }
    if (!status && !training->stopped) {
        struct tr_objective objective = {size, tr_likelihood_evaluate, crf.likelihood};
        struct tr_optim_settings settings = {
            .method = method,
            .l1 = l1,
            .l1_size = size,
            .history = (unsigned)tr_option_integer(options, "history"),
            .curvature = crf.curvature,
            .pool = training->pool,
            .registry = training->registry,
            .most_iterations = tr_training_epochs(training),
            .epsilon = tr_option_real(options, "epsilon"),
            .delta = tr_option_real(options, "delta"),
            .period = (unsigned)tr_option_integer(options, "period"),
            .noise = 1e-6, // log Z is summed in single precision
            .report = report,
            .user = &crf};
        crf.seconds = tr_training_seconds(training);
        status = tr_optimise(&objective, &settings, crf.w, &stop, error);
        status = status ? status : crf.status;
    }
    if (!status && !training->has_best) {
        status = keep_start(&crf);
    }
    if (!status && stop != TR_STOP_NONE) {
        note_stop(training, stop);
    }
    free(crf.w);
    free(crf.curvature);
    tr_likelihood_destroy(crf.likelihood);
    return status;
}

/* The loss of softmax-margin, where one is asked for. */
static trellis_status choose_loss(struct tr_training *training, trellis_error *error)
{
    const trellis_options *options = training->options;
    if (!trellis_options_given(options, "loss") && !trellis_options_given(options, "cost") &&
        !trellis_options_given(options, "span-loss")) {
        return TRELLIS_OK;
    }
    if (tr_option_is(options, "loss", "root")) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--loss root is no sum over positions, as -t %s needs it; use hamming",
                       training->learner->name);
    }
    if (training->data.open_begin.size) {
        return tr_fail(error, TRELLIS_OPTION,
                       "a loss needs to know the right labels; with --partial leave out --loss, "
                       "--cost and --span-loss");
    }
    return tr_loss_create(options, &training->data.labels, training->data.label_count,
                          &training->loss, error);
}

trellis_status tr_train_crf(struct tr_training *training, trellis_error *error)
{
    const trellis_options *options = training->options;
    double l1 = tr_option_real(options, "l1"), select = tr_option_real(options, "select-l1"),
           l2 = 0;
    bool stochastic = strcmp(training->algorithm, "sgd") == 0;
    /* Where only l1 is given, there is no l2. */
    double usual = l1 > 0 ? 0 : tr_option_real(options, "l2");
    trellis_status status = tr_training_l2(training, usual, &l2, error);
    if (!status && stochastic && l1 > 0) {
        status = tr_fail(error, TRELLIS_OPTION, "-a sgd has no --l1; use -a lbfgs or --select-l1");
    }
    if (!status) {
        status = choose_loss(training, error);
    }
    if (!status && select > 0) {
        bool selected;
        status = tr_checkpoint_selected(training->checkpoint, &selected, error);
        if (!status && !selected) {
            status = minimise(training, TR_LBFGS, select, 0, error);
        }
        if (!status && !training->stopped && training->has_best) {
            status = tr_training_select(training, error);
        }
    }
    if (status || training->stopped) {
        return status;
    }
    return stochastic ? tr_train_crf_sgd(training, l2, error)
                      : minimise(training, method_of(training->algorithm), l1, l2, error);
}
