/* iteration.c - what happens after each pass: score the dev data, keep the best, report, stop. */
#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "train/hmm_gaussian.h"
#include "train/unsupervised.h"

uint64_t tr_training_epochs(const struct tr_training *training)
{
    int64_t wanted = tr_option_integer(training->options, "epochs");
    return wanted > 0 ? (uint64_t)wanted : training->learner->epochs;
}

trellis_status tr_training_l2(const struct tr_training *training, double usual, double *ret_l2,
                              trellis_error *error)
{
    const trellis_options *options = training->options;
    bool l2 = trellis_options_given(options, "l2");
    bool sigma = trellis_options_given(options, "sigma");
    bool lambda = trellis_options_given(options, "lambda");
    if (l2 + sigma + lambda > 1) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--l2, --sigma and --lambda are three ways to say the same: give one");
    }
    double s = tr_option_real(options, "sigma");
    if (sigma && s <= 0) {
        return tr_fail(error, TRELLIS_OPTION, "--sigma must be above 0");
    }
    *ret_l2 = sigma    ? 1 / (2 * s * s)
              : lambda ? tr_option_real(options, "lambda") / 2
              : l2     ? tr_option_real(options, "l2")
                       : usual;
    return TRELLIS_OK;
}

const char *trellis_phase_name(trellis_phase phase)
{
    static const char *const names[] = {
        [TRELLIS_PHASE_MESSAGE] = "message",
        [TRELLIS_PHASE_READING] = "reading",
        [TRELLIS_PHASE_CALIBRATING] = "calibrating the learning rate",
        [TRELLIS_PHASE_WARM_UP] = "warm-up",
        [TRELLIS_PHASE_TRAINING] = "training",
        [TRELLIS_PHASE_CLUSTERING] = "clustering"};
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
                              .tokens_per_second = NAN};
}

trellis_progress tr_training_figures(const struct tr_training *training)
{
    trellis_progress figures = tr_figures_unknown(TRELLIS_PHASE_TRAINING);
    figures.iteration = training->done;
    figures.max_iterations = tr_training_epochs(training);
    return figures;
}

bool tr_training_tick(struct tr_training *training, const trellis_progress *figures)
{
    if (training->progress) {
        trellis_progress shown = *figures;
        shown.seconds = tr_training_seconds(training);
        if (!training->progress(training->user, &shown)) {
            training->stopped = true;
        }
    }
    return !training->stopped;
}

struct tr_tokens tr_training_tokens(const struct tr_dataset *dataset, bool edge, size_t sequence)
{
    const struct tr_occurrences *occurrences = edge ? &dataset->edge : &dataset->node;
    size_t first = dataset->sequence.at[sequence];
    return (struct tr_tokens){.begin = occurrences->begin.at + first,
                              .attribute = occurrences->attribute.at,
                              .value = occurrences->value.size ? occurrences->value.at : NULL,
                              .n = dataset->sequence.at[sequence + 1] - first};
}

static trellis_status fill_scores(const struct tr_training *training,
                                  const struct tr_dataset *dataset, size_t sequence, const float *w,
                                  struct tr_lattice *lattice, trellis_error *error)
{
    size_t width = training->graph->width;
    struct tr_tokens tokens = tr_training_tokens(dataset, false, sequence);
    trellis_status status = tr_lattice_begin(lattice, tokens.n, error);
    if (status) {
        return status;
    }
    const struct tr_row_kernels *kernels = training->kernels;
    kernels->score(training->vocabulary.node.rows, w, &tokens, tr_lattice_nodes(lattice), width);
    if (training->emissions) {
        struct tr_gaussian gaussian = tr_hmm_gaussian_now(training->emissions);
        tr_gaussian_score(&gaussian,
                          dataset->real.at + dataset->sequence.at[sequence] * dataset->reals,
                          tokens.n, tr_lattice_nodes(lattice), NULL, width);
    }
    if (dataset->edge.attribute.size == 0) {
        return TRELLIS_OK;
    }
    if (!tr_lattice_make_edges(lattice)) {
        return tr_fail_memory(error);
    }
    tokens = tr_training_tokens(dataset, true, sequence);
    kernels->score(training->vocabulary.edge.rows, w + training->node_size, &tokens,
                   tr_lattice_edges(lattice), training->graph->labels * width);
    return TRELLIS_OK;
}

/* Words of the tag dictionary have their labels only. */
static trellis_status restrict_words(const struct tr_training *training,
                                     const struct tr_dataset *dataset, size_t sequence,
                                     struct tr_lattice *lattice, trellis_error *error)
{
    size_t first = dataset->sequence.at[sequence], n = dataset->sequence.at[sequence + 1] - first;
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && dataset->entry.size && i < n; i++) {
        uint32_t entry = dataset->entry.at[first + i];
        if (entry != TR_NONE) {
            const uint16_t *labels;
            size_t count = tr_tag_dictionary_labels(&training->tag_dictionary, entry, &labels);
            status = tr_lattice_restrict(lattice, i, labels, count, error);
        }
    }
    return status;
}

trellis_status tr_training_scores(const struct tr_training *training,
                                  const struct tr_dataset *dataset, size_t sequence, const float *w,
                                  struct tr_lattice *lattice, trellis_error *error)
{
    trellis_status status = fill_scores(training, dataset, sequence, w, lattice, error);
    return status ? status : restrict_words(training, dataset, sequence, lattice, error);
}

void tr_training_add_loss(const struct tr_training *training, size_t sequence,
                          struct tr_lattice *lattice)
{
    const struct tr_dataset *data = &training->data;
    size_t first = data->sequence.at[sequence], n = data->sequence.at[sequence + 1] - first;
    if (training->loss) {
        tr_loss_augment(training->loss, data->gold.at + first, n, 1, tr_lattice_nodes(lattice),
                        training->graph->width);
    }
}

trellis_status tr_constrain_to_partial(const struct tr_dataset *dataset, size_t sequence,
                                       struct tr_lattice *lattice, trellis_error *error)
{
    size_t first = dataset->sequence.at[sequence], n = dataset->sequence.at[sequence + 1] - first;
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < n; i++) {
        const uint16_t *labels;
        size_t count = tr_dataset_open(dataset, first + i, &labels);
        if (count) {
            status = tr_lattice_restrict(lattice, i, labels, count, error);
        }
    }
    return status;
}

trellis_status tr_training_check_open(const struct tr_training *training, trellis_error *error)
{
    const struct tr_dataset *data = &training->data;
    struct tr_steps *steps = NULL;
    struct tr_lattice *lattice = NULL;
    TR_ARRAY(uint16_t) path = {0};
    if (!training->plan.forbidden_count && !data->entry.size) {
        return TRELLIS_OK; // nothing forbids anything
    }
    trellis_status status = tr_steps_create(training->graph, &steps, error);
    if (!status) {
        status = tr_lattice_create(training->graph, &lattice, error);
    }
    for (size_t s = 0; !status && s < data->sequences; s++) {
        size_t n = data->sequence.at[s + 1] - data->sequence.at[s];
        double score;
        if (!tr_dataset_is_partial(data, s)) {
            continue;
        }
        status = tr_reserve(&path, n) ? tr_lattice_begin(lattice, n, error) : tr_fail_memory(error);
        if (!status) {
            status = restrict_words(training, data, s, lattice, error);
        }
        if (!status) {
            status = tr_constrain_to_partial(data, s, lattice, error);
        }
        if (!status &&
            (status = tr_lattice_viterbi(lattice, steps, path.at, &score, error)) == TRELLIS_DATA) {
            status = tr_fail(
                error, TRELLIS_DATA,
                "sequence %zu of the training data can have no labels: what is known of "
                "them goes with no step that --constrain, and no label that the tag "
                "dictionary, allows",
                s + 1);
        }
    }
    free(path.at);
    tr_lattice_destroy(lattice);
    tr_steps_destroy(steps);
    return status;
}

/* The workspace of one scoring of the dev data. */
struct testing {
    struct tr_steps *steps;
    struct tr_lattice *lattice;
    trellis_evaluation *evaluation;
    trellis_scheme_storage *gold_storage, *predicted_storage;
    TR_ARRAY(uint16_t) path;
    TR_ARRAY(trellis_text) gold, found;
};

static void testing_free(struct testing *testing)
{
    tr_lattice_destroy(testing->lattice);
    tr_steps_destroy(testing->steps);
    trellis_evaluation_destroy(testing->evaluation);
    trellis_scheme_storage_destroy(testing->gold_storage);
    trellis_scheme_storage_destroy(testing->predicted_storage);
    free(testing->path.at);
    free(testing->gold.at);
    free(testing->found.at);
}

/* A label of the dev data; one that is not known counts as right where the label found may be it. */
static uint16_t gold_at(const struct tr_dataset *dev, size_t token, uint16_t found)
{
    const uint16_t *labels;
    size_t count = tr_dataset_open(dev, token, &labels);
    bool may_be = count == 0;
    for (size_t i = 0; i < count; i++) {
        may_be = may_be || labels[i] == found;
    }
    return may_be ? found : labels[0];
}

/* The best path of a dev sequence whose scores are in the lattice. */
static trellis_status find_path(const struct tr_training *training, struct testing *testing,
                                trellis_error *error)
{
    double score;
    trellis_status status = TRELLIS_OK;
    if (training->local) {
        status = tr_lattice_normalise(testing->lattice, testing->steps, error);
    }
    return status ? status
                  : tr_lattice_viterbi(testing->lattice, testing->steps, testing->path.at, &score,
                                       error);
}

static trellis_status test_sequence(struct tr_training *training, struct testing *testing, size_t s,
                                    const float *w, trellis_error *error)
{
    const struct tr_dataset *dev = &training->dev;
    size_t first = dev->sequence.at[s], n = dev->sequence.at[s + 1] - first;
    if (!tr_reserve(&testing->path, n) || !tr_reserve(&testing->gold, n) ||
        !tr_reserve(&testing->found, n)) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_training_scores(training, dev, s, w, testing->lattice, error);
    if (!status) {
        status = find_path(training, testing, error);
    }
    if (status == TRELLIS_DATA &&
        dev->entry.size) { // no path: without the dictionary, as in tagging
        status = fill_scores(training, dev, s, w, testing->lattice, error);
        if (!status) {
            status = find_path(training, testing, error);
        }
    }
    if (status) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        testing->gold.at[i] = tr_intern_text(&dev->labels,
                                             gold_at(dev, first + i, testing->path.at[i]));
        testing->found.at[i] = tr_intern_text(&dev->labels, testing->path.at[i]);
    }
    const trellis_text *gold = testing->gold.at, *found = testing->found.at;
    if (training->inside != TRELLIS_NO_SCHEME && training->inside != training->outside) {
        status = trellis_scheme_convert(training->inside, training->outside, gold, n,
                                        &testing->gold_storage, &gold, error);
        if (!status) {
            status = trellis_scheme_convert(training->inside, training->outside, found, n,
                                            &testing->predicted_storage, &found, error);
        }
    }
    return status ? status : trellis_evaluation_add(testing->evaluation, gold, found, n, error);
}

static trellis_status score(const struct tr_training *training,
                            const trellis_evaluation *evaluation, trellis_progress *figures,
                            trellis_error *error)
{
    trellis_scores scores = trellis_evaluation_scores(evaluation);
    trellis_cluster_scores clusters;
    trellis_status status = TRELLIS_OK;
    if (!tr_unsupervised_dev_clusters(training)) {
        figures->dev_accuracy = scores.accuracy;
        figures->dev_f1 = scores.has_spans ? scores.f1 : NAN;
    } else if (!(status = trellis_evaluation_clusters(evaluation, &clusters, error))) {
        bool one = tr_option_is(training->options, "dev-score", "one-to-one");
        figures->dev_accuracy = one ? clusters.one_to_one : clusters.many_to_one;
    }
    return status;
}

static trellis_status test(struct tr_training *training, const float *w, trellis_progress *figures,
                           trellis_error *error)
{
    struct testing testing = {0};
    trellis_status status = tr_steps_create(training->graph, &testing.steps, error);
    if (!status) {
        tr_steps_set(testing.steps, w + training->node_size + training->edge_size);
        status = tr_lattice_create(training->graph, &testing.lattice, error);
    }
    if (!status) {
        status = trellis_evaluation_create(NULL, &testing.evaluation, error);
    }
    for (size_t s = 0; !status && s < training->dev.sequences; s++) {
        status = test_sequence(training, &testing, s, w, error);
    }
    if (!status) {
        status = score(training, testing.evaluation, figures, error);
    }
    testing_free(&testing);
    return status;
}

/* What the floats of the best iterate leave over of its exact weights. */
static bool keep_low(struct tr_training *training)
{
    if (!training->low && !(training->low = tr_alloc(training->size, sizeof *training->low))) {
        return false;
    }
    for (size_t j = 0; j < training->size; j++) {
        double rest = training->exact[j] - (double)training->best[j];
        training->low[j] = isfinite(rest) ? (float)rest : 0;
    }
    return true;
}

/* The course of the training, for reports: the model keeps the figures that do not depend on the machine, with
 * a dash for those that are not known. */
static void note_iteration(struct tr_training *training, const trellis_progress *figures)
{
    enum { MAX_NOTED = 1000 };
    const double known[] = {figures->objective, figures->error_rate, figures->dev_accuracy,
                            figures->dev_f1};
    char text[120];
    int used = snprintf(text, sizeof text, "%llu", (unsigned long long)figures->iteration);
    for (size_t k = 0; k < TR_COUNT(known); k++) {
        used += isfinite(known[k])
                    ? snprintf(text + used, sizeof text - (size_t)used, " %.7g", known[k])
                    : snprintf(text + used, sizeof text - (size_t)used, " -");
    }
    if (figures->iteration <= MAX_NOTED) {
        tr_note_text(&training->notes, TR_CURVE, text);
    }
}

/* How many weights are not 0. */
struct counting {
    const struct tr_rows *rows;
    const float *w;
};

static double active_piece(void *user, size_t begin, size_t end)
{
    const struct counting *x = user;
    return (double)tr_rows_active(x->rows, x->w, (uint32_t)begin, (uint32_t)end);
}

static uint64_t count_active(const struct tr_training *t, const float *w)
{
    struct counting node = {t->vocabulary.node.rows, w};
    struct counting edge = {t->vocabulary.edge.rows, w + t->node_size};
    double active = tr_pool_sum(t->pool, node.rows->attributes, active_piece, &node) +
                    tr_pool_sum(t->pool, edge.rows->attributes, active_piece, &edge);
    for (size_t j = t->node_size + t->edge_size; j < t->size; j++) {
        active += w[j] != 0;
    }
    return (uint64_t)active;
}

/* How many are no finite numbers. */
static double count_nonfinite(void *user, size_t begin, size_t end)
{
    const float *w = user;
    uint32_t strange = 0;
    for (size_t j = begin; j < end; j++) {
        uint32_t bits;
        memcpy(&bits, &w[j], sizeof bits);
        strange += (bits & 0x7F800000) == 0x7F800000;
    }
    return strange;
}

struct copying {
    float *to;
    const float *from;
};

static double copy_piece(void *user, size_t begin, size_t end)
{
    const struct copying *x = user;
    memcpy(x->to + begin, x->from + begin, (end - begin) * sizeof *x->to);
    return 0;
}

trellis_status tr_training_iteration(struct tr_training *training, trellis_progress *figures,
                                     const float *w, bool *ret_stop, trellis_error *error)
{
    training->done = figures->iteration;
    figures->dev_accuracy = figures->dev_f1 = NAN;
    struct tr_pool *pool = training->pool;
    figures->active_features = count_active(training, w);
    if (!training->learner->generative && // there log 0 is a weight
        tr_pool_sum(pool, training->size, count_nonfinite, (float *)w) > 0) {
        return tr_fail(error, TRELLIS_DATA,
                       "a weight is no finite number any more: the values of the attributes are "
                       "too large");
    }
    double score = 0;
    if (training->dev.sequences && !isnan(figures->dev_likelihood)) {
        score = figures->dev_likelihood;
    } else if (training->dev.sequences) {
        trellis_status status = test(training, w, figures, error);
        if (status) {
            return status;
        }
        score = isfinite(figures->dev_f1) ? figures->dev_f1 : figures->dev_accuracy;
    }
    bool better = !training->has_best || !training->dev.sequences || score > training->best_score;
    if (better) {
        struct copying copying = {training->best, w};
        tr_pool_sum(pool, training->size, copy_piece, &copying);
        if (training->emissions) {
            tr_hmm_gaussian_keep(training->emissions);
        }
        if (training->unknown) {
            memcpy(training->best_unknown, training->unknown,
                   (1 + (size_t)training->plan.labels) * sizeof *training->unknown);
        }
        if (training->exact && !keep_low(training)) {
            return tr_fail_memory(error);
        }
        training->has_best = true;
        training->best_score = score;
        training->figures = *figures;
        training->since_best = 0;
    } else {
        training->since_best++;
    }
    note_iteration(training, figures);
    tr_training_tick(training, figures);
    uint64_t patience = (uint64_t)tr_option_integer(training->options, "patience");
    *ret_stop = training->stopped ||
                (training->dev.sequences && patience && training->since_best >= patience);
    return TRELLIS_OK;
}
