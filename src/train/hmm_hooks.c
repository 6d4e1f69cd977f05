/* hmm_hooks.c - what an HMM has to say while a training is prepared: its graph, features and
 * dictionary. */
#include "train/hmm.h"
#include "train/hmm_gaussian.h"

/* Every transition has a probability, and so a weight; of interpolated ones those that were seen
 * do. */
static trellis_status plan_graph(const struct tr_training *training, struct tr_graph_plan *plan,
                                 struct tr_gram_choice *choice, trellis_error *error)
{
    bool hidden = tr_training_can(training, TR_HIDDEN_LABELS);
    bool interpolates = training->settings.interpolate;
    if (plan->order < 1 || plan->order > 2 || plan->count_cap) {
        return tr_fail(error, TRELLIS_OPTION, "an HMM is of --order 1 or 2, without --counted");
    }
    if (plan->order == 2 && !interpolates && !hidden) {
        return tr_fail(error, TRELLIS_OPTION, "--smoothing add needs --order 1");
    }
    if (training->data.train.edge.attribute.size) {
        return tr_fail(error, TRELLIS_TEMPLATE,
                       "an HMM has no weights for label pairs with an observation: leave out the "
                       "'edge' templates");
    }
    plan->observed_states = plan->order > 1 && !hidden;
    choice->steps = (struct tr_step_choice){true, true, true, true};
    choice->all_up_to = interpolates ? 0 : plan->order + 1;
    return TRELLIS_OK;
}

/* The attributes that need a weight for every label [node attributes, before they are arranged];
 * NULL where there are none. Those that describe an unknown word without a value, such as its case,
 * come first in their chains: every label has a share of them. */
static trellis_status list_whole(const struct tr_training *training, bool **ret_whole,
                                 trellis_error *error)
{
    const struct tr_attribute_index *dictionary = &training->data.vocabulary.node.index;
    size_t count = dictionary->entries.size;
    *ret_whole = NULL;
    if (!tr_features_has_unknown(training->data.features)) {
        return TRELLIS_OK;
    }
    bool *whole = tr_alloc(count, sizeof *whole);
    for (uint32_t a = 0; whole && a < count; a++) {
        trellis_text text = tr_attribute_index_text(dictionary, a);
        whole[a] = !memchr(text.data, '=', text.size) &&
                   tr_hmm_unknown_template(training, a) != TR_NONE;
    }
    *ret_whole = whole;
    return whole ? TRELLIS_OK : tr_fail_memory(error);
}

/* With a count of 0 in it, an HMM that is not smoothed needs a weight of minus infinity; so every
 * pair is a feature there. */
static trellis_status arrange(struct tr_training *training, struct tr_arrangement *arrangement,
                              trellis_error *error)
{
    bool *whole;
    trellis_status status = list_whole(training, &whole, error);
    arrangement->whole = whole;
    arrangement->all_features = arrangement->all_features ||
                                tr_training_can(training, TR_HIDDEN_LABELS) ||
                                training->settings.alpha == 0;
    if (!status) {
        status = tr_dataset_arrange(&training->data.train, &training->data.vocabulary, arrangement,
                                    error);
    }
    if (!status) {
        status = tr_hmm_widen(training, error);
    }
    free(whole);
    return status;
}

/* Words keep to the labels they were seen with, unless the user would have all of them smoothed;
 * and which words are unknown, the dictionary says. */
static bool needs_dictionary(const struct tr_training *training)
{
    const struct tr_settings *settings = &training->settings;
    return !tr_training_can(training, TR_HIDDEN_LABELS) && !*settings->gaussian &&
           !*settings->dictionary &&
           (!settings->alpha_given || tr_features_has_unknown(training->data.features));
}

static trellis_status prepare(struct tr_training *training, trellis_error *error)
{
    return tr_hmm_gaussian_create(training, &training->gaussian, error);
}

const struct tr_learner_hooks tr_hmm_hooks = {.plan = plan_graph,
                                              .arrange = arrange,
                                              .needs_dictionary = needs_dictionary,
                                              .allow_words = tr_hmm_allow,
                                              .prepare = prepare};
