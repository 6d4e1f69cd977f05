/* unsupervised.c - what the states are called that are learned without labels, and data that has none.
 *
 * Where no label is known, the states take their names from the model of --from and the tag dictionary, in
 * this order, and the rest of --states are s1, s2, ...
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

/* ---- names --------------------------------------------------------------------------------------- */

static trellis_status name_by_model(struct tr_intern *labels, const char *path,
                                    trellis_error *error)
{
    trellis_model *model;
    trellis_status status = trellis_model_open(path, &model, error);
    for (uint32_t i = 0; !status && i < model->label_count; i++) {
        if (tr_intern_add(labels, model->labels[i]) == TR_NONE) {
            status = tr_fail_memory(error);
        }
    }
    trellis_model_close(model);
    return status;
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
    const char *from = training->settings.from, *dictionary = training->settings.dictionary;
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
    if (*from) {
        status = name_by_model(&data->labels, from, error);
    }
    if (!status && *dictionary && strcmp(dictionary, "learn") != 0) {
        status = tr_tag_dictionary_read_labels(dictionary, &data->labels, error);
    }
    size_t named = tr_intern_count(&data->labels);
    if (!status && states && named > states) {
        status = tr_fail(error, TRELLIS_DATA, "%s names %zu labels, more than the %zu of --states",
                         *from ? from : dictionary, named, states);
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

/* ---- more data ----------------------------------------------------------------------------------- */

trellis_status tr_unsupervised_read_more(struct tr_training *training,
                                         const struct tr_dataset_source *source,
                                         trellis_error *error)
{
    const char *path = tr_option_text(training->settings.options, "unlabelled");
    double weight = tr_option_real(training->settings.options, "unlabelled-weight");
    struct tr_dataset *data = &training->data.train;
    size_t before = data->sequences;
    struct tr_dataset_source without = *source;
    if (!*path) {
        return TRELLIS_OK;
    }
    without.label_use = TR_LABELS_IGNORED;
    trellis_status status = tr_dataset_read(data, &training->data.vocabulary, NULL, &without, path,
                                            error);
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
