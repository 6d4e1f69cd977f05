/* sgd.c - the objective of a CRF or MEMM by stochastic gradient descent, averaged.
 *
 * With N sequences and lambda = 2 l2 / N the objective is N times the mean over sequences of
 *
 *     loss_s(w) + (lambda / 2) |w|^2
 *
 * and a step on a batch of sequences is  w <- (1 - eta lambda) w - eta g,  g the mean gradient of their
 * losses. The decay is a factor for all weights, so w is kept as scale * v and a step touches only
 * what the batch has seen (Bottou 2010). The rate of step t is eta_t = eta_0 / (1 + lambda eta_0
 * t)^(3/4), and from the second epoch on the iterates are averaged (Xu 2011): the average is kept,
 * again lazily, as
 *
 *     average = (a + fraction * v) / divisor
 *
 * so that a change d of v costs one more addition: a -= fraction * d. Once an epoch, or more often
 * where the scale falls fast, the factors are multiplied out (tr_sgd_normalise).
 */
#include <math.h>

#include "train/objective.h"
#include "train/sgd.h"

/* ---- epochs ---------------------------------------------------------------------------------- */

/* The weights to report: the average, or the present ones. */
static void take_weights(struct tr_sgd *sgd)
{
    tr_sgd_normalise(sgd);
    memcpy(sgd->result.weights, sgd->averaged > 0 ? sgd->a : sgd->v.weights,
           sgd->training->layout.size * sizeof *sgd->result.weights);
}

static double squared_norm(const struct tr_training *t, const float *weights)
{
    double sum = tr_rows_norm(t->data.vocabulary.node.rows, weights) +
                 tr_rows_norm(t->data.vocabulary.edge.rows, weights + t->layout.node_size);
    for (size_t j = t->layout.step_begin; j < t->layout.size; j++) {
        sum += (double)weights[j] * (double)weights[j];
    }
    return sum;
}

/* A pass over the first `count` sequences of the order. */
static trellis_status pass(struct tr_sgd *sgd, size_t count, trellis_progress *figures,
                           trellis_error *error)
{
    struct tr_training *t = sgd->training;
    const struct tr_dataset *lengths = tr_training_lengths(t);
    size_t n = lengths->sequences, tokens = 0;
    double began = tr_training_seconds(t);
    sgd->loss = 0;
    for (size_t i = 0; i < count; i += sgd->batch) {
        size_t size = count - i < sgd->batch ? count - i : sgd->batch;
        for (size_t k = i; !t->data.shared && k < i + size; k++) {
            tr_training_prefetch(&t->data.train, NULL, sgd->order + k, count - k, sgd->batch);
        }
        double steps = sgd->t * (double)n / (double)sgd->batch;
        double eta = sgd->eta0 / pow(1 + sgd->lambda * sgd->eta0 * steps, 0.75);
        trellis_status status = tr_sgd_step(sgd, sgd->order + i, size, eta, error);
        if (status) {
            return status;
        }
        sgd->t += (double)size / (double)n;
        for (size_t k = i; k < i + size; k++) {
            tokens += lengths->sequence.at[sgd->order[k] + 1] - lengths->sequence.at[sgd->order[k]];
        }
        if (i / 64 != (i + size) / 64 || tr_training_cancelled(t)) {
            figures->fraction = (double)(i + size) / (double)count;
            figures->tokens_per_second = (double)tokens / (tr_training_seconds(t) - began + 1e-9);
            if (!tr_training_tick(t, figures)) {
                break;
            }
        }
    }
    return TRELLIS_OK;
}

/* Back to the initial weights. */
static void restart(struct tr_sgd *sgd)
{
    memcpy(sgd->v.weights, sgd->first, sgd->training->layout.size * sizeof *sgd->v.weights);
    sgd->scale = sgd->divisor = 1;
    sgd->fraction = 0;
    sgd->t = 0;
}

/* The objective that two passes over a sample reach with a rate, infinite where they diverge. The
 * loss of the second pass says more than that of the first. */
static trellis_status try_rate(struct tr_sgd *sgd, double rate, size_t sample,
                               double *ret_objective, trellis_error *error)
{
    *ret_objective = INFINITY;
    if (rate * sgd->lambda >= 1) {
        return TRELLIS_OK;
    }
    restart(sgd);
    sgd->eta0 = rate;
    trellis_progress figures = tr_training_figures(sgd->training);
    figures.phase = TRELLIS_PHASE_CALIBRATING;
    trellis_status status = TRELLIS_OK;
    for (int i = 0; !status && !sgd->training->report.interrupted && i < 2; i++) {
        status = pass(sgd, sample, &figures, error);
    }
    take_weights(sgd);
    double norm = squared_norm(sgd->training, sgd->result.weights);
    double objective = sgd->loss + (double)sample * sgd->lambda / 2 * norm;
    if (!status && isfinite(objective)) {
        *ret_objective = objective;
    }
    return status == TRELLIS_MEMORY ? status : TRELLIS_OK;
}

/* Where to begin: most corpora want a rate near it, or twice as high. The mean gradient of a batch
 * varies less than that of a sequence, and stands a higher rate. */
static double first_rate(const struct tr_sgd *sgd)
{
    double rate = 0.1;
    for (size_t batch = sgd->batch; batch >= 4; batch /= 4) {
        rate *= 2;
    }
    return rate;
}

/* Tries rates on a sample and takes the one with the lowest objective (Bottou): twice as high ones
 * until two in a row are worse, and then lower ones where none of those was an improvement. */
static trellis_status calibrate(struct tr_sgd *sgd, trellis_error *error)
{
    const double first = first_rate(sgd), lowest = 1e-30, highest = 100;
    size_t n = tr_training_lengths(sgd->training)->sequences, sample = n < 1000 ? n : 1000;
    double best = INFINITY, best_rate = 0, objective;
    trellis_error ignored;
    for (int direction = 1; direction >= -1; direction -= 2) {
        double rate = direction > 0 ? first : first / 2;
        int worse = 0;
        while (rate < highest && rate > lowest && (worse < 2 || best == INFINITY) &&
               !sgd->training->report.interrupted) {
            if (try_rate(sgd, rate, sample, &objective, &ignored)) {
                return tr_fail_memory(error);
            }
            worse = objective < best ? 0 : worse + 1;
            if (objective < best) {
                best = objective;
                best_rate = rate;
            }
            rate *= direction > 0 ? 2 : 0.5;
        }
        if (best_rate > first) {
            break;
        }
    }
    restart(sgd);
    if (sgd->training->report.interrupted) {
        sgd->eta0 = first;
        return TRELLIS_OK;
    }
    if (best == INFINITY) {
        return tr_fail(
            error, TRELLIS_DATA,
            "SGD diverged at every learning rate tried: the values of the attributes or the "
            "l2 penalty are too large");
    }
    sgd->eta0 = best_rate;
    tr_training_note(sgd->training, "learning rate %g (calibrated on %llu sequence%s)", best_rate,
                     TR_COUNTED(sample));
    return TRELLIS_OK;
}

static trellis_status prepare(struct tr_sgd *sgd, double l2, size_t batch, trellis_error *error)
{
    struct tr_training *t = sgd->training;
    size_t n = tr_training_lengths(t)->sequences;
    sgd->batch = batch < n ? batch : n;
    sgd->lambda = 2 * l2 / (double)n;
    sgd->first = tr_alloc_aligned(t->layout.size, sizeof *sgd->first);
    sgd->a = tr_alloc_aligned(t->layout.size, sizeof *sgd->a);
    sgd->order = tr_alloc(n, sizeof *sgd->order);
    if (!sgd->first || !sgd->a || !sgd->order) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_iterate_create(t, &sgd->v, error);
    if (!status) {
        status = tr_iterate_create(t, &sgd->result, error);
    }
    if (status) {
        return status;
    }
    status = tr_sgd_cut_shares(sgd, error);
    if (!status) {
        status = tr_sgd_make_slots(sgd, t, sgd->batch, error);
    }
    if (!status && tr_sgd_is_shared(&t->ranks, sgd->batch)) {
        status = tr_sgd_share_batches(sgd, error);
    }
    for (uint32_t i = 0; i < n; i++) {
        sgd->order[i] = i;
    }
    tr_random_shuffle(&t->random, sgd->order, n);
    if (!status) {
        status = tr_training_initial_weights(t, sgd->first, error);
    }
    restart(sgd);
    return status;
}

/* Batches give all threads something to do, and set the steps once for all their sequences. 16 of
 * 9,000 sequences led to about the same objective as single ones (docs/performance.md); few
 * sequences are best taken one by one. */
size_t tr_sgd_warm_up_batch(size_t sequences)
{
    size_t batch = sequences / 512;
    return batch < 1 ? 1 : batch < 16 ? batch : 16;
}

trellis_status tr_sgd_warm_up(struct tr_training *training, double l2, uint64_t epochs,
                              float *weights, trellis_error *error)
{
    struct tr_sgd sgd = {.training = training};
    trellis_progress figures = tr_training_figures(training);
    figures.phase = TRELLIS_PHASE_WARM_UP;
    figures.max_iterations = epochs;
    size_t batch = tr_sgd_warm_up_batch(tr_training_lengths(training)->sequences);
    trellis_status status = prepare(&sgd, l2, batch, error);
    if (!status) {
        status = calibrate(&sgd, error);
    }
    for (; !status && !training->report.interrupted && figures.iteration < epochs;
         figures.iteration++) {
        sgd.averaging = 2 * figures.iteration >= epochs; // the later ones are nearer
        tr_random_shuffle(&training->random, sgd.order, tr_training_lengths(training)->sequences);
        status = pass(&sgd, tr_training_lengths(training)->sequences, &figures, error);
    }
    if (!status) {
        take_weights(&sgd);
        memcpy(weights, sgd.result.weights, training->layout.size * sizeof *weights);
    }
    tr_sgd_free(&sgd);
    return status;
}

/* At the head of an epoch all factors are 1. */
static trellis_status resume(struct tr_sgd *sgd, bool *ret_resumed, trellis_error *error)
{
    struct tr_training *t = sgd->training;
    struct tr_state_registry *registry = t->registry;
    tr_keep_floats(registry, "WGHT", sgd->v.weights, t->layout.size);
    tr_keep_floats(registry, "AVER", sgd->a, t->layout.size);
    tr_keep_doubles(registry, "AVED", &sgd->averaged, 1);
    tr_keep_doubles(registry, "TIME", &sgd->t, 1);
    tr_keep_doubles(registry, "RATE", &sgd->eta0, 1);
    tr_keep_order(registry, "ORDE", sgd->order, tr_training_lengths(t)->sequences);
    return tr_registry_load(registry, ret_resumed, error);
}

/* While it runs, losses are those of weights on the move. What is kept has an objective of its own,
 * which is that of the other optimisers. */
static trellis_status find_objective(struct tr_training *training, double l2, trellis_error *error)
{
    struct tr_likelihood *likelihood;
    trellis_status status = tr_likelihood_create(training, &likelihood, error);
    if (status) {
        return status;
    }
    struct tr_crf_objective objective = {likelihood, l2};
    size_t size = likelihood->size;
    double *w = tr_alloc(size, sizeof *w), *gradient = tr_alloc(size, sizeof *gradient), value;
    status = w && gradient ? TRELLIS_OK : tr_fail_memory(error);
    if (!status) {
        tr_weights_to_features(likelihood, training->best.weights, w);
        status = tr_crf_evaluate(&objective, w, gradient, &value, error);
    }
    if (!status) {
        training->best.figures.objective = value;
        tr_training_note(training, "objective of the best weights: %.6f", value);
    }
    free(w);
    free(gradient);
    tr_likelihood_destroy(likelihood);
    return status;
}

trellis_status tr_sgd_minimise(struct tr_training *training, double l2, trellis_error *error)
{
    struct tr_sgd sgd = {.training = training};
    bool stop = false, resumed = false;
    trellis_status status = prepare(&sgd, l2, training->settings.batch, error);
    if (!status) {
        status = resume(&sgd, &resumed, error);
    }
    status = tr_ranks_agree(&training->ranks, status, error); // steps do not ask
    trellis_progress figures = tr_training_figures(training);
    double rate = resumed ? sgd.eta0 : 0;
    sgd.eta0 = training->settings.rate;
    if (!status && sgd.eta0 * sgd.lambda >= 1) {
        status = tr_fail(error, TRELLIS_OPTION,
                         "--rate %g is too high for this l2 penalty: it must be below %g", sgd.eta0,
                         1 / sgd.lambda);
    }
    if (!status && sgd.eta0 == 0) {
        sgd.eta0 = rate;
        status = resumed ? TRELLIS_OK : calibrate(&sgd, error);
    }
    while (!status && !stop && !training->report.interrupted &&
           figures.iteration < figures.max_iterations) {
        status = tr_ranks_agree(&training->ranks, tr_registry_save(training->registry, error),
                                error);
        if (status) {
            break;
        }
        sgd.averaging = figures.iteration > 0 && training->settings.average;
        tr_random_shuffle(&training->random, sgd.order, tr_training_lengths(training)->sequences);
        status = pass(&sgd, tr_training_lengths(training)->sequences, &figures, error);
        if (!status) {
            take_weights(&sgd);
            figures.iteration++;
            figures.fraction = 1;
            figures.objective = sgd.loss + l2 * squared_norm(training, sgd.result.weights);
            sgd.result.figures = figures;
            status = tr_training_iteration(training, &sgd.result, &stop, error);
        }
    }
    tr_sgd_free(&sgd);
    return status || training->report.interrupted || !training->best.known
               ? status
               : find_objective(training, l2, error);
}
