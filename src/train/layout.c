/* layout.c - the graph of a training, and where the weights of its features are. */
#include "graph/constraint.h"
#include "train/checkpoint.h"
#include "train/dev_score.h"
#include "train/train.h"

static trellis_status read_constraint(struct tr_training *training, trellis_error *error)
{
    uint32_t count = training->data.train.label_count;
    trellis_text *labels = tr_alloc(count, sizeof *labels);
    if (!labels) {
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        labels[i] = tr_intern_text(&training->data.train.labels, i);
    }
    const struct tr_segments *segments = training->data.segments;
    const char *rule = tr_option_text(training->settings.options, "constrain");
    trellis_status status = tr_constraint_steps(
        segments && segments->types ? "iob" : rule, training->settings.options, labels, count,
        &training->layout.forbidden, &training->layout.plan.forbidden_count, error);
    training->layout.plan.forbidden = (const uint16_t(*)[2])training->layout.forbidden;
    free(labels);
    return status;
}

/* Unless told otherwise, every transition gets a weight with few labels; with many, those seen
 * do. */
static struct tr_gram_choice choose_grams(const struct tr_training *training)
{
    enum { FEW_LABELS = 64 };
    const struct tr_settings *settings = &training->settings;
    bool many = !settings->all_features && !training->data.segments &&
                training->layout.plan.labels > FEW_LABELS;
    bool all = settings->transitions == TR_TRANSITIONS_ALL ||
               (settings->transitions == TR_TRANSITIONS_AUTO && !many);
    return (struct tr_gram_choice){tr_features_steps(training->data.features), all ? 2 : 0};
}

static trellis_status make_plan(struct tr_training *training, trellis_error *error)
{
    const struct tr_settings *settings = &training->settings;
    const struct tr_learner_hooks *hooks = settings->learner->hooks;
    struct tr_layout *layout = &training->layout;
    struct tr_graph_plan *plan = &layout->plan;
    *plan = (struct tr_graph_plan){.labels = training->data.train.label_count,
                                   .order = settings->order,
                                   .count_cap = settings->counted,
                                   .threshold = settings->prune,
                                   .pruned = settings->prune > 0,
                                   .segments = training->data.segments,
                                   .observed_states = settings->order > 1 &&
                                                      settings->observed_states};
    if (plan->count_cap && plan->order != 1) {
        return tr_fail(error, TRELLIS_OPTION, "--counted needs --order 1");
    }
    if (plan->segments && (plan->count_cap || plan->order != 1 || plan->pruned)) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--segments needs --order 1, without --counted and --prune");
    }
    if (plan->pruned && (plan->count_cap || plan->order < 1)) {
        return tr_fail(error, TRELLIS_OPTION, "--prune needs --order 1 or more, without --counted");
    }
    struct tr_gram_choice choice = choose_grams(training);
    trellis_status status = hooks && hooks->plan ? hooks->plan(training, plan, &choice, error)
                                                 : TRELLIS_OK;
    if (!status) {
        status = tr_dataset_grams(&training->data.train, plan, choice.steps, choice.all_up_to,
                                  training->data.shared ? &training->ranks : NULL, &layout->grams,
                                  &plan->gram_count, error);
        plan->grams = layout->grams;
    }
    if (!status && settings->min_feature_count > 0) {
        status = tr_dataset_frequent_grams(&training->data.train, settings->min_feature_count,
                                           layout->grams, &plan->gram_count, error);
    }
    return status ? status : read_constraint(training, error);
}

/* Where the parts of w are. */
static void set_layout(struct tr_training *training)
{
    const struct tr_vocabulary *vocabulary = &training->data.vocabulary;
    struct tr_layout *layout = &training->layout;
    layout->kernels = tr_row_kernels();
    layout->node_size = (vocabulary->node.rows->size + 15) / 16 * 16;
    layout->edge_size = (vocabulary->edge.rows->size + 15) / 16 * 16;
    layout->step_size = layout->plan.gram_count;
    layout->step_begin = layout->node_size + layout->edge_size;
    layout->size = layout->step_begin + layout->step_size;
}

/* A gold path must not take a forbidden transition, or its probability is 0 and nothing can be
 * learned. */
static trellis_status check_gold(const struct tr_training *training, trellis_error *error)
{
    const struct tr_dataset *data = &training->data.train;
    const struct tr_graph *graph = training->layout.graph;
    for (size_t s = 0; training->layout.plan.forbidden_count && s < data->sequences; s++) {
        uint32_t state = TR_NO_STATE;
        size_t begin = data->sequence.at[s], end = data->sequence.at[s + 1];
        bool partial = tr_dataset_is_partial(data, s); // checked elsewhere
        for (size_t i = begin; i < end && !partial; i++) {
            state = tr_graph_next(graph, state, data->gold.at[i]);
            if (state == TR_NO_STATE || (i + 1 == end && graph->end_forbidden[state])) {
                return tr_fail(
                    error, TRELLIS_DATA,
                    "sequence %zu of the training data takes a transition that %s "
                    "forbids, at its token %zu with the label '%.*s'",
                    data->first + s + 1, training->data.segments ? "--segments" : "--constrain",
                    i - begin + 1, TR_SHOW(tr_intern_text(&data->labels, data->gold.at[i])));
            }
        }
    }
    return TRELLIS_OK;
}

static trellis_status check_partial(const struct tr_training *training, trellis_error *error)
{
    if (!training->data.train.open_begin.size) {
        return TRELLIS_OK;
    }
    return tr_training_can(training, TR_PARTIAL_LABELS)
               ? tr_training_check_partial(training, error)
               : tr_fail(error, TRELLIS_OPTION,
                         "the type '%s' does not learn from unknown labels; perceptron, crf and "
                         "maxent do, and hmm with -a em",
                         training->settings.learner->name);
}

trellis_status tr_training_check_labels(const struct tr_training *training, trellis_error *error)
{
    trellis_status status = check_gold(training, error);
    return status ? status : check_partial(training, error);
}

void tr_layout_free(struct tr_layout *layout)
{
    tr_graph_destroy(layout->graph);
    free(layout->grams);
    free(layout->forbidden);
    *layout = (struct tr_layout){0};
}

/* Within --memory. */
static trellis_status make_graph(struct tr_training *training, trellis_error *error)
{
    struct tr_layout *layout = &training->layout;
    const struct tr_interruption interruption = tr_training_interruption(training);
    uint64_t memory = training->settings.limits.memory;
    layout->plan.interruption = &interruption;
    layout->plan.max_steps = memory ? memory / TR_BYTES_PER_STEP + 1 : 0;
    trellis_status status = tr_graph_create(&layout->plan, &layout->graph, error);
    bool by_memory = layout->plan.max_steps && layout->plan.max_steps < TR_MAX_STEPS;
    layout->plan.interruption = NULL;
    layout->plan.max_steps = 0;
    return status == TRELLIS_INTERRUPTED
               ? tr_fail(error, status, "the training ended before its first iteration")
           : status == TRELLIS_LIMIT && by_memory
               ? tr_fail(error, status,
                         "the graph would need more than the %.0f MB of --memory; use "
                         "--observed-states or a lower --order",
                         (double)memory / 1048576)
               : status;
}

trellis_status tr_training_make_layout(struct tr_training *training, trellis_error *error)
{
    trellis_status status = make_plan(training, error);
    if (!status) {
        status = make_graph(training, error);
    }
    if (!status) {
        status = tr_training_check_labels(training, error);
    }
    if (!status) {
        set_layout(training);
    }
    return status;
}

trellis_status tr_training_select(struct tr_training *training, trellis_error *error)
{
    struct tr_dataset *dev = training->data.dev.sequences ? &training->data.dev : NULL;
    struct tr_vocabulary *v = &training->data.vocabulary;
    const float *w = training->best.weights, *steps = w + training->layout.step_begin;
    size_t kept = 0;
    trellis_status status = tr_checkpoint_selection(training->checkpoint, error);
    if (status) {
        return status;
    }
    for (size_t i = 0; i < training->layout.plan.gram_count; i++) {
        if (steps[i] != 0) {
            training->layout.grams[kept++] = training->layout.grams[i];
        }
    }
    training->layout.plan.gram_count = kept;
    status = tr_dataset_prune(&training->data.train, dev, false, &v->node, w, error);
    if (!status) {
        status = tr_dataset_prune(&training->data.train, dev, true, &v->edge,
                                  w + training->layout.node_size, error);
    }
    tr_graph_destroy(training->layout.graph);
    training->layout.graph = NULL;
    if (!status) {
        status = make_graph(training, error);
    }
    if (!status) {
        set_layout(training);
        training->best.size = training->layout.size;
        training->best.known = false;
        tr_dev_scorer_destroy(training->dev_scorer); // it is for the old graph
        training->dev_scorer = NULL;
        training->since_best = training->done = 0;
        tr_training_note(training, "selected %zu features of %u attributes",
                         tr_rows_pairs(v->node.rows) + tr_rows_pairs(v->edge.rows) + kept,
                         v->node.rows->attributes + v->edge.rows->attributes);
    }
    return status;
}
