/* unsupervised.c - what the states are called that are learned without labels, and data that has
 * none.
 *
 * Where no label is known, the states take their names from the model of --from and the tag
 * dictionary, in this order, and the rest of --states are s1, s2, ...
 */
#include "train/unsupervised.h"

#include <math.h>
#include <stdio.h>

#include "model/model.h"

enum tr_label_use tr_unsupervised_label_use(const struct tr_training *training)
{
    return !tr_training_can(training, TR_HIDDEN_LABELS)                  ? TR_LABELS_NEEDED
           : trellis_options_given(training->settings.options, "states") ? TR_LABELS_IGNORED
                                                                         : TR_LABELS_IF_ANY;
}

bool tr_unsupervised_dev_likelihood(const struct tr_training *training)
{
    enum tr_dev_score score = training->settings.dev_score;
    bool automatic = score == TR_DEV_AUTO && !training->data.labels_known;
    return tr_training_can(training, TR_HIDDEN_LABELS) && (automatic || score == TR_DEV_LIKELIHOOD);
}

bool tr_unsupervised_dev_clusters(const struct tr_training *training)
{
    enum tr_dev_score score = training->settings.dev_score;
    return score == TR_DEV_ONE || score == TR_DEV_MANY;
}

/* ---- names ----------------------------------------------------------------------------------- */

static trellis_status name_by_model(struct tr_intern *labels, const trellis_model *model,
                                    trellis_error *error)
{
    for (uint32_t i = 0; i < model->label_count; i++) {
        if (tr_intern_add(labels, model->labels[i]) == TR_NONE) {
            return tr_fail_memory(error);
        }
    }
    return TRELLIS_OK;
}

static trellis_status name_by_number(struct tr_intern *labels, size_t states, trellis_error *error)
{
    for (size_t i = 1; tr_intern_count(labels) < states; i++) {
        char name[24];
        snprintf(name, sizeof name, "s%zu", i);
        if (tr_intern_add(labels, tr_text(name)) == TR_NONE) {
            return tr_fail_memory(error);
        }
    }
    return TRELLIS_OK;
}

trellis_status tr_unsupervised_name(struct tr_training *training, trellis_error *error)
{
    struct tr_dataset *data = &training->data.train;
    const char *dictionary = training->settings.dictionary;
    const trellis_model *from = training->sources.from;
    size_t states = training->settings.states;
    trellis_status status = TRELLIS_OK;
    training->data.labels_known = data->label_count > 0;
    if (!tr_training_can(training, TR_HIDDEN_LABELS) || training->data.labels_known) {
        return TRELLIS_OK;
    }
    if (states > data->tokens) {
        return tr_fail(error, TRELLIS_DATA, "%zu states cannot be learned from %zu tokens", states,
                       data->tokens);
    }
    if (from) {
        status = name_by_model(&data->labels, from, error);
    }
    if (!status && *dictionary && strcmp(dictionary, "learn") != 0) {
        status = tr_tag_dictionary_read_labels(dictionary, training->settings.options,
                                               &data->labels, error);
    }
    size_t named = tr_intern_count(&data->labels);
    if (!status && states && named > states) {
        status = tr_fail(error, TRELLIS_DATA, "%s names %zu labels, more than the %zu of --states",
                         from ? training->sources.from_name : dictionary, named, states);
    }
    if (!status) {
        status = name_by_number(&data->labels, states, error);
    }
    data->label_count = (uint32_t)tr_intern_count(&data->labels);
    if (!status && data->label_count == 0) {
        status = tr_fail(error, TRELLIS_DATA,
                         "no label is known: --states says how many states to learn, or "
                         "--dictionary and --from what they are called");
    }
    return status;
}

/* ---- more data ------------------------------------------------------------------------------- */

trellis_status tr_unsupervised_read_more(struct tr_training *training,
                                         const struct tr_dataset_settings *settings,
                                         trellis_error *error)
{
    const struct tr_training_sources *sources = &training->sources;
    double weight = tr_option_real(training->settings.options, "unlabelled-weight");
    struct tr_dataset *data = &training->data.train;
    size_t before = data->sequences;
    struct tr_dataset_settings without = *settings;
    without.label_use = TR_LABELS_IGNORED;
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < sources->unlabelled_count; i++) {
        status = tr_dataset_read(data, &training->data.vocabulary, NULL, &without,
                                 &sources->unlabelled[i], error);
    }
    if (status || weight == 1) {
        return status;
    }
    while (data->weight.size < data->sequences) {
        if (!tr_push(&data->weight, 1)) {
            return tr_fail_memory(error);
        }
    }
    for (size_t s = before; s < data->sequences; s++) {
        data->weight.at[s] *= (float)weight;
    }
    return TRELLIS_OK;
}
