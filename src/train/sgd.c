/* sgd.c - the conditional random field by stochastic gradient descent, averaged.
 *
 * With N sequences and lambda = 2 l2 / N the objective is N times the mean over sequences of
 *
 *     loss_s(w) + (lambda / 2) |w|^2
 *
 * and a step on a batch of sequences is  w <- (1 - eta lambda) w - eta g,  g the mean gradient of their
 * losses. The decay is a factor for all weights, so w is kept as scale * v and a step touches only what
 * the batch has seen (Bottou 2010). The rate falls as eta_t = eta_0 / (1 + lambda eta_0 t)^(3/4), and
 * from the second epoch on the iterates are averaged (Xu 2011): the average is kept, again lazily, as
 *
 *     average = (a + fraction * v) / divisor
 *
 * so that a change d of v costs one more addition: a -= fraction * d. Once an epoch, or more often where
 * the scale falls fast, both products are made plain numbers (settle).
 */
#include <math.h>

#include "train/objective.h"

/* One sequence of the batch: its marginals, minus 1 at the gold labels. Where labels are not known, minus
 * the marginals of what agrees with those that are (objective.c). */
struct slot {
    struct tr_lattice *lattice;
    size_t sequence;
    double loss;
    float *steps;          // [step_size] expected counts, zero between batches
    bool partial;          // then the difference is here:
    TR_ARRAY(float) nodes; // [n][width]
    TR_ARRAY(float) edges; // [n][labels][width]
    trellis_status status;
    trellis_error error;
};

struct sgd {
    struct tr_training *training;
    double lambda, eta0;
    double t;     // sequences seen, in units of N
    float *v;     // [size]
    float *first; // [size] where it begins: 0, or the weights of --from
    float *a;     // [size] see above
    double scale, fraction, divisor;
    bool averaging;
    double averaged; // iterates in the average
    float *weights;  // [size] what is scored with in the lattice: steps; and what is reported
    struct tr_steps *steps;
    struct slot *slots; // [batch]
    size_t batch;
    uint32_t *order; // [sequences]
    double loss;     // of this epoch
};

/* ---- a batch ------------------------------------------------------------------------------------ */

static void scale_scores(float *scores, size_t count, float scale)
{
    for (size_t i = 0; i < count; i++) {
        scores[i] *= scale;
    }
}

/* Where the edge scores of a sequence of n will be. Asking for them empties them, so it is done before
 * they are filled in; they stay where they are while n does. */
static trellis_status room_for_edges(struct slot *slot, size_t n, float **ret_edges)
{
    trellis_status status = tr_lattice_begin(slot->lattice, n, &slot->error);
    *ret_edges = status ? NULL : tr_lattice_edges(slot->lattice);
    return status ? status : *ret_edges ? TRELLIS_OK : tr_fail_memory(&slot->error);
}

/* difference = p, or difference -= p */
static void take_marginals(float *difference, const float *p, size_t count, bool first)
{
    for (size_t j = 0; j < count; j++) {
        difference[j] = first ? p[j] : difference[j] - p[j];
    }
}

/* With open labels: E[Phi | X] first, then minus E[Phi | X, what is known]. */
static trellis_status take_partial(struct sgd *sgd, struct slot *slot, size_t n, bool first)
{
    const struct tr_training *t = sgd->training;
    size_t nodes = n * t->graph->width, edges = nodes * t->graph->labels;
    bool has_edges = t->data.edge.attribute.size > 0;
    const float *p = has_edges ? tr_lattice_edge_marginals(slot->lattice, sgd->steps) : NULL;
    if (!tr_reserve(&slot->nodes, nodes) || (has_edges && !tr_reserve(&slot->edges, edges)) ||
        (has_edges && !p) ||
        !tr_lattice_expect_steps(slot->lattice, sgd->steps, first ? 1 : -1, slot->steps)) {
        return tr_fail_memory(&slot->error);
    }
    if (has_edges) {
        take_marginals(slot->edges.at, p, edges, first);
    }
    take_marginals(slot->nodes.at, tr_lattice_node_marginals(slot->lattice), nodes, first);
    return TRELLIS_OK;
}

static trellis_status look_partial(struct sgd *sgd, struct slot *slot, size_t n, double log_z)
{
    double log_z_known;
    trellis_status status = take_partial(sgd, slot, n, true);
    if (!status) {
        status = tr_training_reveal(&sgd->training->data, slot->sequence, slot->lattice,
                                    &slot->error);
    }
    if (!status) {
        status = tr_lattice_forward_backward(slot->lattice, sgd->steps, &log_z_known, &slot->error);
    }
    if (!status) {
        slot->loss = log_z - log_z_known;
        status = take_partial(sgd, slot, n, false);
    }
    return status;
}

/* Marginals, loss and step expectations of one sequence under the present weights. */
static void look(void *user, size_t index, unsigned thread)
{
    (void)thread;
    struct sgd *sgd = user;
    struct tr_training *t = sgd->training;
    struct slot *slot = &sgd->slots[index];
    size_t first = t->data.sequence.at[slot->sequence];
    size_t n = t->data.sequence.at[slot->sequence + 1] - first, width = t->graph->width;
    slot->loss = 0;
    slot->partial = tr_dataset_is_partial(&t->data, slot->sequence);
    float *edges = NULL;
    slot->status = n && t->data.edge.attribute.size ? room_for_edges(slot, n, &edges) : TRELLIS_OK;
    if (!slot->status) {
        slot->status = tr_training_scores(t, &t->data, slot->sequence, sgd->v, slot->lattice,
                                          &slot->error);
    }
    if (slot->status || n == 0) {
        return;
    }
    scale_scores(tr_lattice_nodes(slot->lattice), n * width, (float)sgd->scale);
    if (edges) {
        scale_scores(edges, n * t->graph->labels * width, (float)sgd->scale);
    }
    double log_z;
    slot->status = tr_lattice_forward_backward(slot->lattice, sgd->steps, &log_z, &slot->error);
    if (!slot->status && slot->partial) {
        slot->status = look_partial(sgd, slot, n, log_z);
    } else if (!slot->status) {
        slot->loss = log_z -
                     tr_lattice_path_score(slot->lattice, sgd->steps, t->data.gold.at + first);
        if (!tr_lattice_expect_steps(slot->lattice, sgd->steps, 1, slot->steps)) {
            slot->status = tr_fail_memory(&slot->error);
        }
    }
}

static inline void change(struct sgd *sgd, size_t at, float amount)
{
    sgd->v[at] += amount;
    if (sgd->averaging) {
        sgd->a[at] -= (float)sgd->fraction * amount;
    }
}

/* v[attribute, outcome] += rate * value * amounts[outcome] for all features of one token. */
static void change_attributes(struct sgd *sgd, const struct tr_rows *rows, size_t base,
                              const struct tr_occurrences *occurrences, size_t token,
                              const float *amounts, float rate)
{
    for (uint32_t k = occurrences->begin.at[token]; k < occurrences->begin.at[token + 1]; k++) {
        uint32_t attribute = occurrences->attribute.at[k];
        float r = occurrences->value.size ? rate * occurrences->value.at[k] : rate;
        const uint32_t *outcome = rows->outcome + rows->begin[attribute];
        size_t count = rows->begin[attribute + 1] - rows->begin[attribute];
        size_t at = base + tr_rows_at(rows, attribute);
        if (attribute < rows->dense) {
            for (size_t j = 0; j < count; j++) {
                change(sgd, at + outcome[j], r * amounts[outcome[j]]);
            }
        } else {
            for (size_t j = 0; j < count; j++) {
                change(sgd, at + j, r * amounts[outcome[j]]);
            }
        }
    }
}

/* The step features of the gold labels count down, the expected ones were counted up. */
static void count_gold_steps(struct sgd *sgd, struct slot *slot)
{
    struct tr_training *t = sgd->training;
    uint32_t state = TR_NO_STATE;
    size_t begin = t->data.sequence.at[slot->sequence];
    size_t end = t->data.sequence.at[slot->sequence + 1];
    for (size_t i = begin; i <= end && begin < end; i++) {
        uint32_t next = i < end ? tr_graph_next(t->graph, state, t->data.gold.at[i]) : TR_NO_STATE;
        const uint32_t *features;
        size_t count = tr_steps_features(sgd->steps, state, next, &features);
        for (size_t k = 0; k < count; k++) {
            slot->steps[features[k]] -= 1;
        }
        state = next;
    }
}

/* Moves the step weights, and empties the counts. */
static void move_steps(struct sgd *sgd, struct slot *slot, float rate)
{
    const struct tr_training *t = sgd->training;
    for (size_t j = 0; j < t->step_size; j++) {
        if (slot->steps[j] != 0) {
            change(sgd, t->node_size + t->edge_size + j, rate * slot->steps[j]);
            slot->steps[j] = 0;
        }
    }
}

/* Moves v against the gradient of one sequence with open labels. */
static void move_partial(struct sgd *sgd, struct slot *slot, float rate)
{
    const struct tr_training *t = sgd->training;
    const struct tr_dataset *data = &t->data;
    size_t first = data->sequence.at[slot->sequence], width = t->graph->width;
    size_t n = data->sequence.at[slot->sequence + 1] - first, area = t->graph->labels * width;
    for (size_t i = 0; i < n; i++) {
        change_attributes(sgd, t->vocabulary.node.rows, 0, &data->node, first + i,
                          slot->nodes.at + i * width, rate);
    }
    for (size_t i = 1; data->edge.attribute.size && i < n; i++) {
        change_attributes(sgd, t->vocabulary.edge.rows, t->node_size, &data->edge, first + i,
                          slot->edges.at + i * area, rate);
    }
    move_steps(sgd, slot, rate);
}

/* Moves v against the gradient of one sequence. */
static trellis_status move(struct sgd *sgd, struct slot *slot, float rate, trellis_error *error)
{
    struct tr_training *t = sgd->training;
    const struct tr_dataset *data = &t->data;
    size_t first = data->sequence.at[slot->sequence];
    size_t n = data->sequence.at[slot->sequence + 1] - first, width = t->graph->width;
    if (n == 0) {
        return TRELLIS_OK;
    }
    if (slot->partial) {
        move_partial(sgd, slot, rate);
        return TRELLIS_OK;
    }
    /* The marginals belong to the lattice, and it is ours: turn them into the gradient in place. */
    float *p = (float *)tr_lattice_node_marginals(slot->lattice);
    for (size_t i = 0; i < n; i++) {
        p[i * width + data->gold.at[first + i]] -= 1;
        change_attributes(sgd, t->vocabulary.node.rows, 0, &data->node, first + i, p + i * width,
                          rate);
        p[i * width + data->gold.at[first + i]] += 1;
    }
    if (data->edge.attribute.size) {
        size_t area = t->graph->labels * width;
        p = (float *)tr_lattice_edge_marginals(slot->lattice, sgd->steps);
        if (!p) {
            return tr_fail_memory(error);
        }
        for (size_t i = 1; i < n; i++) {
            size_t gold = data->gold.at[first + i - 1] * width + data->gold.at[first + i];
            p[i * area + gold] -= 1;
            change_attributes(sgd, t->vocabulary.edge.rows, t->node_size, &data->edge, first + i,
                              p + i * area, rate);
            p[i * area + gold] += 1;
        }
    }
    count_gold_steps(sgd, slot);
    move_steps(sgd, slot, rate);
    return TRELLIS_OK;
}

/* Makes plain numbers of both products: v = w and a = the average. While they stand, v grows as 1 / scale,
 * and a and fraction * v with it, until their difference is nothing but rounding; so they must not stand
 * for long. */
static void settle(struct sgd *sgd)
{
    size_t size = sgd->training->size;
    for (size_t j = 0; j < size; j++) {
        double v = (double)sgd->v[j];
        sgd->a[j] = (float)(((double)sgd->a[j] + sgd->fraction * v) / sgd->divisor);
        sgd->v[j] = (float)(sgd->scale * v);
    }
    sgd->scale = sgd->divisor = 1;
    sgd->fraction = 0;
}

static void set_steps(struct sgd *sgd)
{
    const struct tr_training *t = sgd->training;
    size_t base = t->node_size + t->edge_size;
    for (size_t j = 0; j < t->step_size; j++) {
        sgd->weights[base + j] = (float)(sgd->scale * (double)sgd->v[base + j]);
    }
    tr_steps_set(sgd->steps, sgd->weights + base);
}

/* The average moves a share mu towards the present w = scale * v. */
static void average(struct sgd *sgd)
{
    double mu = 1 / ++sgd->averaged;
    if (mu >= 1) { // the first: the average is w
        memset(sgd->a, 0, sgd->training->size * sizeof *sgd->a);
        sgd->divisor = 1;
        sgd->fraction = sgd->scale;
        return;
    }
    sgd->divisor /= 1 - mu;
    sgd->fraction += mu * sgd->divisor * sgd->scale;
}

/* After a failure, the expected counts of the sequences that were not moved by. */
static void forget_counts(struct sgd *sgd, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        memset(sgd->slots[i].steps, 0, sgd->training->step_size * sizeof *sgd->slots[i].steps);
    }
}

static trellis_status step(struct sgd *sgd, const uint32_t *sequences, size_t count, double eta,
                           trellis_error *error)
{
    struct tr_training *t = sgd->training;
    for (size_t i = 0; i < count; i++) {
        sgd->slots[i].sequence = sequences[i];
    }
    set_steps(sgd);
    if (count > 1) {
        tr_pool_run(t->pool, count, look, sgd);
    } else {
        look(sgd, 0, 0);
    }
    sgd->scale *= 1 - eta * sgd->lambda;
    for (size_t i = 0; i < count; i++) {
        struct slot *slot = &sgd->slots[i];
        if (slot->status) {
            forget_counts(sgd, i, count);
            return tr_fail(error, slot->status, "%s", slot->error.message);
        }
        double weight = t->data.weight.size ? (double)t->data.weight.at[slot->sequence] : 1;
        double rate = -eta * weight / ((double)count * sgd->scale);
        trellis_status status = move(sgd, slot, (float)rate, error);
        if (status) {
            return status;
        }
        sgd->loss += weight * slot->loss;
    }
    if (sgd->averaging) {
        average(sgd);
    }
    if (sgd->scale < 0.01 || sgd->divisor > 1e5) {
        settle(sgd);
    }
    return TRELLIS_OK;
}

/* ---- epochs ------------------------------------------------------------------------------------- */

/* The weights to report: the average, or the present ones. */
static void take_weights(struct sgd *sgd)
{
    settle(sgd);
    memcpy(sgd->weights, sgd->averaged > 0 ? sgd->a : sgd->v,
           sgd->training->size * sizeof *sgd->weights);
}

static double squared_norm(const float *weights, size_t size)
{
    double sum = 0;
    for (size_t j = 0; j < size; j++) {
        sum += (double)weights[j] * (double)weights[j];
    }
    return sum;
}

/* A pass over the first `count` sequences of the order. */
static trellis_status pass(struct sgd *sgd, size_t count, trellis_progress *figures,
                           trellis_error *error)
{
    struct tr_training *t = sgd->training;
    size_t n = t->data.sequences, tokens = 0;
    double began = tr_training_seconds(t);
    sgd->loss = 0;
    for (size_t i = 0; i < count; i += sgd->batch) {
        size_t size = count - i < sgd->batch ? count - i : sgd->batch;
        double eta = sgd->eta0 / pow(1 + sgd->lambda * sgd->eta0 * sgd->t * (double)n, 0.75);
        trellis_status status = step(sgd, sgd->order + i, size, eta, error);
        if (status) {
            return status;
        }
        sgd->t += (double)size / (double)n;
        for (size_t k = i; k < i + size; k++) {
            tokens += t->data.sequence.at[sgd->order[k] + 1] - t->data.sequence.at[sgd->order[k]];
        }
        if (figures && i / 64 != (i + size) / 64) {
            figures->fraction = (double)(i + size) / (double)n;
            figures->tokens_per_second = (double)tokens / (tr_training_seconds(t) - began + 1e-9);
            if (!tr_training_tick(t, figures)) {
                break;
            }
        }
    }
    return TRELLIS_OK;
}

/* Back to the first weights. */
static void restart(struct sgd *sgd)
{
    memcpy(sgd->v, sgd->first, sgd->training->size * sizeof *sgd->v);
    sgd->scale = sgd->divisor = 1;
    sgd->fraction = 0;
    sgd->t = 0;
}

/* How far two passes over a sample get with a rate: the objective there, infinite where they get
 * nowhere. The loss of a second pass tells more than that of the first. */
static trellis_status try_rate(struct sgd *sgd, double rate, size_t sample, double *ret_objective,
                               trellis_error *error)
{
    *ret_objective = INFINITY;
    if (rate * sgd->lambda >= 1) {
        return TRELLIS_OK;
    }
    restart(sgd);
    sgd->eta0 = rate;
    trellis_status status = pass(sgd, sample, NULL, error);
    if (!status) {
        status = pass(sgd, sample, NULL, error);
    }
    take_weights(sgd);
    double norm = squared_norm(sgd->weights, sgd->training->size);
    double objective = sgd->loss + (double)sample * sgd->lambda / 2 * norm;
    if (!status && isfinite(objective)) {
        *ret_objective = objective;
    }
    return status == TRELLIS_MEMORY ? status : TRELLIS_OK;
}

/* Tries rates on a sample and takes the one with the lowest objective (Bottou): twice as high ones until
 * two in a row are worse, and then lower ones where none of those was an improvement. */
static trellis_status calibrate(struct sgd *sgd, trellis_error *error)
{
    const double first = 0.0125, lowest = 1e-30, highest = 100;
    size_t n = sgd->training->data.sequences, sample = n < 1000 ? n : 1000;
    double best = INFINITY, best_rate = 0, objective;
    trellis_error ignored;
    for (int direction = 1; direction >= -1; direction -= 2) {
        double rate = direction > 0 ? first : first / 2;
        int worse = 0;
        while (rate < highest && rate > lowest && (worse < 2 || best == INFINITY)) {
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
    if (best == INFINITY) {
        return tr_fail(
            error, TRELLIS_DATA,
            "no learning rate leads anywhere: the values of the attributes are too large, "
            "or the l2 penalty is");
    }
    sgd->eta0 = best_rate;
    tr_training_note(sgd->training, "learning rate %g, by trial on %zu sequences", best_rate,
                     sample);
    return TRELLIS_OK;
}

static trellis_status prepare(struct sgd *sgd, double l2, trellis_error *error)
{
    struct tr_training *t = sgd->training;
    size_t n = t->data.sequences;
    sgd->batch = (size_t)tr_option_integer(t->options, "batch");
    sgd->batch = sgd->batch < n ? sgd->batch : n;
    sgd->lambda = 2 * l2 / (double)n;
    sgd->v = tr_alloc_aligned(t->size, sizeof *sgd->v);
    sgd->first = tr_alloc_aligned(t->size, sizeof *sgd->first);
    sgd->a = tr_alloc_aligned(t->size, sizeof *sgd->a);
    sgd->weights = tr_alloc_aligned(t->size, sizeof *sgd->weights);
    sgd->order = tr_alloc(n, sizeof *sgd->order);
    sgd->slots = tr_alloc(sgd->batch, sizeof *sgd->slots);
    if (!sgd->v || !sgd->first || !sgd->a || !sgd->weights || !sgd->order || !sgd->slots) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_steps_create(t->graph, &sgd->steps, error);
    for (size_t i = 0; !status && i < sgd->batch; i++) {
        sgd->slots[i].steps = tr_alloc(t->step_size, sizeof(float));
        status = sgd->slots[i].steps ? tr_lattice_create(t->graph, &sgd->slots[i].lattice, error)
                                     : tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < n; i++) {
        sgd->order[i] = i;
    }
    tr_random_shuffle(&t->random, sgd->order, n);
    if (!status) {
        status = tr_training_warm(t, sgd->first, error);
    }
    restart(sgd);
    return status;
}

static void sgd_free(struct sgd *sgd)
{
    for (size_t i = 0; sgd->slots && i < sgd->batch; i++) {
        tr_lattice_destroy(sgd->slots[i].lattice);
        free(sgd->slots[i].steps);
        free(sgd->slots[i].nodes.at);
        free(sgd->slots[i].edges.at);
    }
    tr_steps_destroy(sgd->steps);
    free(sgd->slots);
    free(sgd->order);
    free(sgd->v);
    free(sgd->first);
    free(sgd->a);
    free(sgd->weights);
}

trellis_status tr_sgd_warm_up(struct tr_training *training, double l2, uint64_t epochs,
                              float *weights, trellis_error *error)
{
    struct sgd sgd = {.training = training};
    trellis_progress figures = tr_training_figures(training);
    figures.phase = "warming up";
    figures.iterations = epochs;
    trellis_status status = prepare(&sgd, l2, error);
    if (!status) {
        status = calibrate(&sgd, error);
    }
    for (; !status && !training->stopped && figures.iteration < epochs; figures.iteration++) {
        sgd.averaging = figures.iteration > 0;
        tr_random_shuffle(&training->random, sgd.order, training->data.sequences);
        status = pass(&sgd, training->data.sequences, &figures, error);
    }
    if (!status) {
        take_weights(&sgd);
        memcpy(weights, sgd.weights, training->size * sizeof *weights);
    }
    sgd_free(&sgd);
    return status;
}

/* At the head of an epoch all products are plain numbers (settle). */
static trellis_status resume(struct sgd *sgd, bool *ret_resumed, trellis_error *error)
{
    struct tr_training *t = sgd->training;
    struct tr_keeper *keeper = t->keeper;
    tr_keep_floats(keeper, "WGHT", sgd->v, t->size);
    tr_keep_floats(keeper, "AVER", sgd->a, t->size);
    tr_keep_doubles(keeper, "AVED", &sgd->averaged, 1);
    tr_keep_doubles(keeper, "TIME", &sgd->t, 1);
    tr_keep_doubles(keeper, "RATE", &sgd->eta0, 1);
    tr_keep_order(keeper, "ORDE", sgd->order, t->data.sequences);
    return tr_keeper_load(keeper, ret_resumed, error);
}

trellis_status tr_train_crf_sgd(struct tr_training *training, double l2, trellis_error *error)
{
    struct sgd sgd = {.training = training};
    bool stop = false, resumed = false;
    trellis_status status = prepare(&sgd, l2, error);
    if (!status) {
        status = resume(&sgd, &resumed, error);
    }
    trellis_progress figures = tr_training_figures(training);
    figures.iterations = figures.iterations ? figures.iterations : 20;
    double rate = resumed ? sgd.eta0 : 0;
    sgd.eta0 = tr_option_real(training->options, "rate");
    if (!status && sgd.eta0 * sgd.lambda >= 1) {
        status = tr_fail(error, TRELLIS_OPTION,
                         "--rate %g is too high for this l2 penalty: it must be below %g", sgd.eta0,
                         1 / sgd.lambda);
    }
    if (!status && sgd.eta0 == 0) {
        sgd.eta0 = rate;
        status = resumed ? TRELLIS_OK : calibrate(&sgd, error);
    }
    while (!status && !stop && figures.iteration < figures.iterations) {
        status = tr_keeper_save(training->keeper, error);
        if (status) {
            break;
        }
        sgd.averaging = figures.iteration > 0 && tr_option_flag(training->options, "average");
        tr_random_shuffle(&training->random, sgd.order, training->data.sequences);
        status = pass(&sgd, training->data.sequences, &figures, error);
        if (!status) {
            take_weights(&sgd);
            figures.iteration++;
            figures.fraction = 1;
            figures.objective = sgd.loss + l2 * squared_norm(sgd.weights, training->size);
            status = tr_training_iteration(training, &figures, sgd.weights, &stop, error);
        }
    }
    sgd_free(&sgd);
    return status;
}
