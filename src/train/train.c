/* train.c - the pipeline: read, lay out, learn, keep.
 *
 *     files -> dataset -> features -> graph -> learner -> best weights -> model
 */
#include "train/train.h"

#include <stdarg.h>
#include <stdio.h>

#include "graph/constraint.h"
#include "model/model.h"
#include "train/checkpoint.h"
#include "train/hmm.h"
#include "train/hmm_gaussian.h"
#include "train/unsupervised.h"

double tr_training_seconds(const struct tr_training *training)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - training->began.tv_sec) +
           1e-9 * (double)(now.tv_nsec - training->began.tv_nsec);
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

/* Bytes from "500M", "8G", "1000000". */
static bool parse_size(const char *text, double *bytes)
{
    trellis_text number = tr_text(text);
    double unit = 1;
    if (number.size > 0) {
        const char *units = "kKmMgGtT", *at = strchr(units, number.data[number.size - 1]);
        if (at && *at) {
            unit = (double)((uint64_t)1 << (10 * ((at - units) / 2 + 1)));
            number.size--;
        }
    }
    bool fine = tr_text_real(number, bytes) && *bytes >= 0;
    *bytes *= unit;
    return fine;
}

static trellis_status choose_learner(struct tr_training *training, trellis_error *error)
{
    const char *type = tr_option_text(training->options, "type");
    char known[400] = "";
    for (size_t i = 0; tr_learner_at(i); i++) {
        const struct tr_learner *learner = tr_learner_at(i);
        if (strcmp(learner->name, type) == 0) {
            training->learner = learner;
        }
        snprintf(known + strlen(known), sizeof known - strlen(known), " %s", learner->name);
    }
    if (!training->learner) {
        return tr_fail(error, TRELLIS_OPTION, "there is no type '%s'; there are:%s", type, known);
    }
    training->local = training->learner->local;
    const char *algorithms = training->learner->algorithms;
    training->algorithm = tr_option_text(training->options, "algorithm");
    size_t wanted = strlen(training->algorithm);
    for (const char *at = algorithms; *at;) {
        size_t n = strcspn(at, " ");
        if (n == wanted && strncmp(at, training->algorithm, n) == 0) {
            return TRELLIS_OK;
        }
        at += n + (at[n] == ' ');
    }
    if (strcmp(training->algorithm, "default") != 0) {
        return tr_fail(error, TRELLIS_OPTION, "the type '%s' has no algorithm '%s'; it has: %s",
                       type, training->algorithm, algorithms);
    }
    return TRELLIS_OK;
}

/* What is pruned changes with the weights, so the objective is one that only stochastic steps follow. */
static trellis_status check_pruning(const struct tr_training *training, trellis_error *error)
{
    const trellis_options *options = training->options;
    if (strcmp(training->learner->name, "crf") != 0 || strcmp(training->algorithm, "sgd") != 0) {
        return tr_fail(error, TRELLIS_OPTION, "--prune is for training with -t crf -a sgd");
    }
    if (tr_option_flag(options, "partial") || tr_option_real(options, "select-l1") > 0) {
        return tr_fail(error, TRELLIS_OPTION, "--prune does not go with --partial or --select-l1");
    }
    return TRELLIS_OK;
}

/* Options that only some learners listen to, and that change too much to be passed over in silence. */
static trellis_status check_options(const struct tr_training *training, trellis_error *error)
{
    static const char *const of_beams[] = {"beam", "update"};
    bool perceptron = training->learner->train == tr_train_perceptron;
    for (size_t i = 0; i < TR_COUNT(of_beams); i++) {
        if (!perceptron && trellis_options_given(training->options, of_beams[i])) {
            return tr_fail(error, TRELLIS_OPTION,
                           "--%s is for training with -t perceptron; the type '%s' searches "
                           "exactly",
                           of_beams[i], training->learner->name);
        }
    }
    return tr_option_real(training->options, "prune") > 0 ? check_pruning(training, error)
                                                          : TRELLIS_OK;
}

/* A gold path must not use a forbidden step, or its probability is 0 and nothing can be learned. */
static trellis_status check_gold(const struct tr_training *training, trellis_error *error)
{
    const struct tr_dataset *data = &training->data;
    const struct tr_graph *graph = training->graph;
    for (size_t s = 0; training->plan.forbidden_count && s < data->sequences; s++) {
        uint32_t state = TR_NO_STATE;
        size_t begin = data->sequence.at[s], end = data->sequence.at[s + 1];
        bool partial = tr_dataset_is_partial(data, s); // checked elsewhere
        for (size_t i = begin; i < end && !partial; i++) {
            state = tr_graph_next(graph, state, data->gold.at[i]);
            if (state == TR_NO_STATE || (i + 1 == end && graph->end_forbidden[state])) {
                return tr_fail(error, TRELLIS_DATA,
                               "sequence %zu of the training data takes a step that --constrain "
                               "forbids, at its token %zu with the label '%.*s'",
                               s + 1, i - begin + 1,
                               TR_SHOW(tr_intern_text(&data->labels, data->gold.at[i])));
            }
        }
    }
    return TRELLIS_OK;
}

static trellis_status read_constraint(struct tr_training *training, trellis_error *error)
{
    uint32_t count = training->data.label_count;
    trellis_text *labels = tr_alloc(count, sizeof *labels);
    if (!labels) {
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        labels[i] = tr_intern_text(&training->data.labels, i);
    }
    trellis_status status = tr_constraint_steps(tr_option_text(training->options, "constrain"),
                                                labels, count, &training->forbidden,
                                                &training->plan.forbidden_count, error);
    training->plan.forbidden = (const uint16_t(*)[2])training->forbidden;
    free(labels);
    return status;
}

static trellis_status make_plan(struct tr_training *training, trellis_error *error)
{
    const trellis_options *options = training->options;
    struct tr_graph_plan *plan = &training->plan;
    plan->labels = training->data.label_count;
    plan->order = training->learner->no_steps ? 0 : (uint32_t)tr_option_integer(options, "order");
    plan->count_cap = (uint32_t)tr_option_integer(options, "counted");
    plan->threshold = tr_option_real(options, "prune");
    plan->pruned = plan->threshold > 0;
    bool generative = training->learner->generative;
    plan->observed_states = plan->order > 1 && !tr_training_is_em(training) &&
                            (generative || tr_option_flag(options, "observed-states"));
    if (plan->count_cap && plan->order != 1) {
        return tr_fail(error, TRELLIS_OPTION, "--counted goes with --order 1");
    }
    if (plan->pruned && (plan->count_cap || plan->order < 1)) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--prune is for --order 1 and more, without --counted");
    }
    trellis_status status = generative ? tr_hmm_check_plan(training, error) : TRELLIS_OK;
    if (status) {
        return status;
    }
    /* With few labels every step gets a weight, as CRFsuite has it; with many, the steps seen do. */
    bool all = generative ? !tr_hmm_interpolates(training)
                          : tr_option_flag(options, "all-features") || plan->labels <= 64;
    struct tr_step_choice choice = generative ? (struct tr_step_choice){true, true, true, true}
                                              : tr_features_steps(training->features);
    uint32_t all_up_to = !all ? 0 : generative ? plan->order + 1 : 2;
    status = tr_dataset_grams(&training->data, plan, choice, all_up_to, &training->grams,
                              &plan->gram_count, error);
    plan->grams = training->grams;
    return status ? status : read_constraint(training, error);
}

/* Where the parts of w are. */
static void measure(struct tr_training *training)
{
    training->kernels = tr_row_kernels();
    training->node_size = (training->vocabulary.node.rows->size + 15) / 16 * 16;
    training->edge_size = (training->vocabulary.edge.rows->size + 15) / 16 * 16;
    training->step_size = training->plan.gram_count;
    training->size = training->node_size + training->edge_size + training->step_size;
}

static trellis_status make_graph(struct tr_training *training, trellis_error *error)
{
    trellis_status status = make_plan(training, error);
    if (!status) {
        status = tr_graph_create(&training->plan, &training->graph, error);
    }
    if (!status) {
        status = check_gold(training, error);
    }
    if (!status && training->data.open_begin.size) {
        bool can = (training->learner->train == tr_train_crf && !training->local) ||
                   training->learner->train == tr_train_perceptron || tr_training_is_em(training);
        status = can ? tr_training_check_open(training, error)
                     : tr_fail(error, TRELLIS_OPTION,
                               "the type '%s' does not learn from labels that are not known; "
                               "perceptron, crf and maxent do, and hmm with -a em",
                               training->learner->name);
    }
    if (!status) {
        measure(training);
    }
    return status;
}

trellis_status tr_training_select(struct tr_training *training, trellis_error *error)
{
    struct tr_dataset *dev = training->dev.sequences ? &training->dev : NULL;
    struct tr_vocabulary *v = &training->vocabulary;
    const float *w = training->best, *steps = w + training->node_size + training->edge_size;
    size_t kept = 0;
    trellis_status status = tr_checkpoint_selection(training->checkpoint, error);
    if (status) {
        return status;
    }
    for (size_t i = 0; i < training->plan.gram_count; i++) {
        if (steps[i] != 0) {
            training->grams[kept++] = training->grams[i];
        }
    }
    training->plan.gram_count = kept;
    status = tr_dataset_prune(&training->data, dev, false, &v->node, w, error);
    if (!status) {
        status = tr_dataset_prune(&training->data, dev, true, &v->edge, w + training->node_size,
                                  error);
    }
    tr_graph_destroy(training->graph);
    training->graph = NULL;
    if (!status) {
        status = tr_graph_create(&training->plan, &training->graph, error);
    }
    if (!status) {
        measure(training);
        training->has_best = false;
        training->since_best = training->done = 0;
        tr_training_note(training, "selected %zu features of %u attributes",
                         tr_rows_pairs(v->node.rows) + tr_rows_pairs(v->edge.rows) + kept,
                         v->node.rows->attributes + v->edge.rows->attributes);
    }
    return status;
}

/* Says how large it all is, and refuses where it is larger than the user wants. */
static trellis_status weigh(struct tr_training *training, trellis_error *error)
{
    const struct tr_vocabulary *v = &training->vocabulary;
    size_t held = tr_dataset_bytes(&training->data) + tr_dataset_bytes(&training->dev) +
                  tr_vocabulary_bytes(v);
    const struct tr_learner *learner = training->learner;
    double needed = (double)held + 4.0 * (double)training->size * (learner->floats_per_weight + 2) +
                    learner->bytes_per_token * (double)training->data.tokens;
    double most;
    tr_training_note(training, "%zu sequences, %zu tokens, %u labels, %u attributes, %zu features",
                     training->data.sequences, training->data.tokens, training->data.label_count,
                     tr_rows_attributes(v->node.rows) + tr_rows_attributes(v->edge.rows),
                     tr_rows_features(v->node.rows) + tr_rows_features(v->edge.rows) +
                         training->step_size);
    tr_training_note(training, "about %.0f MB of memory: %.0f for the data, the rest for learning",
                     needed / 1048576 + 1, (double)held / 1048576 + 1);
    if (!parse_size(tr_option_text(training->options, "memory"), &most)) {
        return tr_fail(error, TRELLIS_OPTION, "--memory takes a size such as 500M or 8G, not '%s'",
                       tr_option_text(training->options, "memory"));
    }
    size_t file_size =
        4 * training->size; // the weights alone; a file that is opened must justify its graph
    if (training->graph->step_count > tr_model_max_steps(file_size)) {
        return tr_fail(
            error, TRELLIS_LIMIT,
            "%u label steps are too many for so few features; use --observed-states or a "
            "lower --order",
            training->graph->step_count);
    }
    if (most > 0 && needed > most) {
        return tr_fail(error, TRELLIS_LIMIT,
                       "this training needs about %.0f MB, more than the %.0f MB of --memory; "
                       "a higher --min-count or fewer templates make it smaller",
                       needed / 1048576 + 1, most / 1048576);
    }
    return TRELLIS_OK;
}

static void training_free(struct tr_training *training)
{
    tr_checkpoint_destroy(training->checkpoint);
    tr_pool_destroy(training->pool);
    tr_loss_destroy(training->loss);
    tr_graph_destroy(training->graph);
    tr_hmm_gaussian_destroy(training->emissions);
    free(training->grams);
    free(training->forbidden);
    free(training->best);
    free(training->low);
    free(training->unknown);
    tr_buffer_free(&training->notes);
    tr_buffer_free(&training->tag_dictionary_block);
    tr_words_free(&training->seen);
    tr_dataset_free(&training->data);
    tr_dataset_free(&training->dev);
    tr_vocabulary_free(&training->vocabulary);
    trellis_features_destroy(training->features);
}

/* Everything up to the learner. */
static trellis_status prepare(struct tr_training *training, const char *const *paths,
                              size_t path_count, trellis_error *error)
{
    trellis_status status = choose_learner(training, error);
    if (!status) {
        status = check_options(training, error);
    }
    if (!status && path_count == 0) {
        status = tr_fail(error, TRELLIS_DATA, "there is no training data");
    }
    if (!status) {
        status = tr_unsupervised_check_options(training, error);
    }
    if (!status) {
        status = tr_pool_create_for(training->options, &training->pool, error);
    }
    if (!status) {
        status = tr_training_read(training, paths, path_count, error);
    }
    if (!status) {
        status = make_graph(training, error);
    }
    if (!status) {
        status = tr_hmm_gaussian_create(training, &training->emissions, error);
    }
    if (!status) {
        status = weigh(training, error);
    }
    return status;
}

trellis_status trellis_train(const trellis_options *options, const char *const *paths,
                             size_t path_count, trellis_progress_function progress, void *user,
                             trellis_model **ret_model, trellis_error *error)
{
    *ret_model = NULL;
    struct tr_training training = {.options = options, .progress = progress, .user = user};
    clock_gettime(CLOCK_MONOTONIC, &training.began);
    tr_random_seed(&training.random, (uint64_t)tr_option_integer(options, "seed"));
    trellis_status status = prepare(&training, paths, path_count, error);
    if (!status && strcmp(training.algorithm, "default") == 0) {
        training.algorithm = training.learner->algorithms; // cut to its first word below
    }
    char algorithm[64] = "";
    if (!status) {
        size_t n = strcspn(training.algorithm, " ");
        snprintf(algorithm, sizeof algorithm, "%.*s", (int)n, training.algorithm);
        training.algorithm = algorithm;
        training.best = tr_alloc_aligned(training.size, sizeof *training.best);
        status = training.best ? tr_checkpoint_open(&training, error) : tr_fail_memory(error);
    }
    if (!status) {
        status = training.learner->train(&training, error);
    }
    if (!status && !training.has_best) {
        status = tr_fail(error, training.stopped ? TRELLIS_INTERRUPTED : TRELLIS_DATA,
                         "the training ended before its first iteration");
    } else if (!status) {
        status = tr_training_result(&training, ret_model, error);
        if (!status && training.stopped) {
            status = tr_fail(error, TRELLIS_INTERRUPTED, "stopped after %llu iterations",
                             (unsigned long long)training.figures.iteration);
        }
    }
    training_free(&training);
    return status;
}
