/* train.c - the pipeline: resolve the options, read, lay out, learn, build the model.
 *
 *     sources -> dataset -> features -> graph -> learner -> best iterate -> model
 */
#include "train/train.h"

#include <math.h>

#include "base/hash.h"
#include "base/structs.h"
#include "model/model.h"
#include "train/checkpoint.h"
#include "train/dev_score.h"
#include "train/hmm_gaussian.h"
#include "train/recipe.h"
#include "train/seeds.h"

/* Reports the size of the training, and refuses it where --memory does not suffice. */
static trellis_status estimate_memory(struct tr_training *training, trellis_error *error)
{
    const struct tr_vocabulary *v = &training->data.vocabulary;
    size_t held = tr_dataset_bytes(&training->data.train) + tr_dataset_bytes(&training->data.dev) +
                  tr_vocabulary_bytes(v);
    const struct tr_learner *learner = training->settings.learner;
    double copies = (double)training->settings.seeds; // as many as run side by side
    if (copies > tr_pool_threads(training->pool)) {
        copies = tr_pool_threads(training->pool);
    }
    double floats = training->settings.algorithm->floats_per_weight;
    floats = copies * (floats > 0 ? floats : learner->floats_per_weight);
    double needed = (double)held + 4.0 * (double)training->layout.size * (floats + 4) +
                    learner->bytes_per_token * (double)training->data.train.tokens +
                    (double)TR_BYTES_PER_STEP * (double)training->layout.graph->step_count;
    needed = fmax(needed, (double)training->data.arrange_bytes);
    double limit = (double)training->settings.limits.memory;
    size_t attributes = tr_rows_attributes(v->node.rows) + tr_rows_attributes(v->edge.rows);
    size_t features = tr_rows_features(v->node.rows) + tr_rows_features(v->edge.rows) +
                      training->layout.step_size;
    tr_training_note(training,
                     "%llu sequence%s, %llu token%s, %llu label%s, %llu attribute%s, "
                     "%llu feature%s",
                     TR_COUNTED(tr_dataset_all_sequences(&training->data.train)),
                     TR_COUNTED(tr_dataset_all_tokens(&training->data.train)),
                     TR_COUNTED(training->data.train.label_count), TR_COUNTED(attributes),
                     TR_COUNTED(features));
    tr_training_note(training, "about %.0f MB of memory: %.0f for the data, the rest for learning",
                     needed / 1048576 + 1, (double)held / 1048576 + 1);
    size_t file_size = 4 *
                       training->layout.size; // the weights alone: a file must justify its graph
    if (training->layout.graph->step_count > tr_model_max_steps(file_size)) {
        return tr_fail(
            error, TRELLIS_LIMIT,
            "%u transitions are too many for so few features; use --observed-states or a "
            "lower --order",
            training->layout.graph->step_count);
    }
    if (limit > 0 && needed > limit) {
        return tr_fail(error, TRELLIS_LIMIT,
                       "this training needs about %.0f MB, more than the %.0f MB of --memory; "
                       "a higher --min-count%s fewer templates make it smaller",
                       needed / 1048576 + 1, limit / 1048576,
                       copies > 1 ? ", fewer --threads or" : " or");
    }
    return TRELLIS_OK;
}

static void training_free(struct tr_training *training)
{
    struct tr_training_data *data = &training->data;
    tr_checkpoint_destroy(training->checkpoint);
    tr_dev_scorer_destroy(training->dev_scorer);
    tr_pool_destroy(training->pool);
    tr_loss_destroy(training->loss);
    tr_hmm_gaussian_destroy(training->gaussian);
    tr_iterate_free(&training->best);
    tr_buffer_free(&training->notes);
    tr_layout_free(&training->layout);
    tr_buffer_free(&data->tag_dictionary_block);
    tr_words_free(&data->seen);
    tr_words_free(&data->segment_keys);
    tr_segments_destroy(data->segments);
    tr_intern_free(&data->type_names);
    free(data->type_lengths.at);
    tr_dataset_free(&data->train);
    tr_dataset_free(&data->lengths);
    free(data->ranges);
    tr_dataset_free(&data->dev);
    tr_vocabulary_free(&data->vocabulary);
    trellis_features_destroy(data->features);
    tr_training_free_sources(&training->sources);
    trellis_options_destroy(training->options);
    tr_ranks_close(&training->ranks);
}

trellis_status tr_training_same(struct tr_training *training, uint64_t number, const char *differs,
                                trellis_error *error)
{
    unsigned other;
    trellis_status status = tr_ranks_compare(&training->ranks, number, &other, error);
    return !status && other < training->ranks.count
               ? tr_fail(error, TRELLIS_OPTION, "rank %u %s rank 0", other, differs)
               : status;
}

/* Whether all ranks do the same: a checkpoint, too, is made by all of them. */
static trellis_status compare_options(struct tr_training *training, const trellis_options *options,
                                      trellis_error *error)
{
    uint64_t all = tr_hash64(trellis_version(), strlen(trellis_version()));
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const char *value = tr_option_text(options, trellis_option_at(i)->name);
        all = tr_fold(all ^ tr_hash64(value, strlen(value)), 0x9E3779B97F4A7C15u) + i;
    }
    return tr_training_same(training, all, "has other options or another version than", error);
}

/* Everything up to the learner. */
static trellis_status prepare(struct tr_training *training, const trellis_options *options,
                              const trellis_training *given, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (given->train_count == 0) {
        status = tr_fail(error, TRELLIS_DATA, "there is no training data");
    }
    if (!status) {
        status = compare_options(training, options, error);
    }
    if (!status) {
        status = tr_training_take_sources(training, options, given, error);
    }
    if (!status) {
        status = tr_recipe_complete(training, options, error);
    }
    if (!status) {
        status = tr_settings_resolve(training->options, &training->settings, error);
    }
    if (!status) {
        status = tr_pool_create_for(options, &training->pool, error);
    }
    if (!status) {
        status = tr_training_read(training, error);
    }
    if (!status) {
        status = tr_training_same(training, training->data.dev.fingerprint,
                                  "has read other dev data than", error);
    }
    if (!status) {
        status = tr_training_make_layout(training, error);
    }
    const struct tr_learner_hooks *hooks = status ? NULL : training->settings.learner->hooks;
    if (hooks && hooks->prepare) {
        status = hooks->prepare(training, error);
    }
    if (!status) {
        status = estimate_memory(training, error);
    }
    if (!status) {
        status = tr_iterate_create(training, &training->best, error);
    }
    return status ? status : tr_checkpoint_open(training, error);
}

trellis_status trellis_train_files(const trellis_options *options, const char *const *paths,
                                   size_t path_count, trellis_progress_function progress,
                                   void *user, trellis_model **ret_model, trellis_error *error)
{
    if (!TR_CLEAR(ret_model) || (!paths && path_count > 0)) {
        return tr_fail_null(error, __func__);
    }
    trellis_source *files = tr_alloc(path_count, sizeof *files);
    if (!files) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < path_count; i++) {
        files[i] = (trellis_source){.struct_size = sizeof *files, .path = paths[i]};
    }
    trellis_training training = {.struct_size = sizeof training,
                                 .train = files,
                                 .train_count = path_count,
                                 .progress = progress,
                                 .user = user};
    trellis_status status = trellis_train(options, &training, ret_model, error);
    free(files);
    return status;
}

trellis_status trellis_train(const trellis_options *options, const trellis_training *given_training,
                             trellis_model **ret_model, trellis_error *error)
{
    if (!TR_CLEAR(ret_model) || !given_training) {
        return tr_fail_null(error, __func__);
    }
    trellis_training given;
    if (!tr_struct_take(&given, sizeof given, given_training)) {
        return tr_fail(error, TRELLIS_OPTION, "struct_size is not set");
    }
    struct tr_training training = {.report = {.progress = given.progress,
                                              .user = given.user,
                                              .cancellation = given.cancellation}};
    clock_gettime(CLOCK_MONOTONIC, &training.report.began);
    tr_random_seed(&training.random, (uint64_t)tr_option_integer(options, "seed"));
    trellis_status status = tr_ranks_open(&training.ranks, given.ranks, error);
    if (status) {
        return status;
    }
    status = prepare(&training, options, &given, error);
    if (!status) {
        status = tr_train_seeds(&training, error);
        if (status == TRELLIS_INTERRUPTED && training.report.interrupted) {
            status = TRELLIS_OK; // within a pass; the best iterate so far is the result
        }
    }
    status = tr_ranks_agree(&training.ranks, status, error);
    bool interrupted = training.report.interrupted;
    uint64_t iteration = training.best.figures.iteration;
    if (!status && !training.best.known) {
        status = tr_fail(error, interrupted ? TRELLIS_INTERRUPTED : TRELLIS_DATA,
                         "the training ended before its first iteration");
    } else if (!status) {
        status = tr_training_result(&training, true, ret_model, error);
        if (!status && interrupted) {
            status = tr_fail(error, TRELLIS_INTERRUPTED, "interrupted after %llu iteration%s",
                             TR_COUNTED(iteration));
        }
    }
    training_free(&training);
    return status;
}
