/* result.c - what a training leaves behind: a model, with notes on where it comes from. */
#include "train/train.h"

#include <math.h>
#include <stdio.h>

#include "corpus/corpus.h"
#include "model/model.h"
#include "train/hmm_gaussian.h"

/* Tokens whose label is not known. */
static size_t count_open(const struct tr_dataset *data)
{
    size_t count = 0;
    for (size_t t = 0; t < data->tokens; t++) {
        count += data->gold.at[t] == TR_UNKNOWN;
    }
    return count;
}

bool tr_is_run_option(const char *option)
{
    static const char *const names[] = {"bits", "dev", "log", "checkpoint", "every", "resume"};
    bool aside = false;
    for (size_t i = 0; !aside && i < TR_COUNT(names); i++) {
        aside = strcmp(option, names[i]) == 0;
    }
    return aside;
}

static void write_notes(struct tr_training *training)
{
    struct tr_buffer *notes = &training->notes;
    const struct tr_vocabulary *v = &training->vocabulary;
    const trellis_progress *figures = &training->figures;
    tr_note_text(notes, "program", "trellis");
    tr_note_text(notes, "version", trellis_version());
    tr_note_text(notes, "type", training->learner->name);
    tr_note_text(notes, "algorithm", training->algorithm);
    tr_note_text(notes, "features", tr_features_name(training->features));
    if (training->local) {
        tr_note_text(notes, TR_NOTE_NORMALISED, TR_LOCALLY);
    }
    if (training->plan.pruned) {
        tr_note_format(notes, TR_NOTE_PRUNED, "%.17g", training->plan.threshold);
    }
    tr_note_format(notes, "order", "%u", training->plan.order);
    tr_note_format(notes, "sequences", "%zu", training->data.sequences);
    tr_note_format(notes, "tokens", "%zu", training->data.tokens);
    if (training->data.open_begin.size) {
        tr_note_format(notes, "open-labels", "%zu", count_open(&training->data));
    }
    tr_note_format(notes, "training-features", "%zu",
                   tr_rows_features(v->node.rows) + tr_rows_features(v->edge.rows) +
                       training->step_size);
    tr_note_format(notes, "data-fingerprint", "%016llx",
                   (unsigned long long)training->data.fingerprint);
    tr_note_format(notes, "iterations", "%llu", (unsigned long long)figures->iteration);
    if (figures->objective != 0 && isfinite(figures->objective)) {
        tr_note_format(notes, "objective", "%.10g", figures->objective);
    }
    if (training->dev.sequences) {
        tr_note_format(notes, "dev-accuracy", "%.6f", figures->dev_accuracy);
        if (isfinite(figures->dev_f1)) {
            tr_note_format(notes, "dev-f1", "%.6f", figures->dev_f1);
        }
    }
    if (training->inside != TRELLIS_NO_SCHEME && training->inside != training->outside) {
        tr_note_text(notes, "scheme-inside", tr_scheme_name(training->inside));
        tr_note_text(notes, "scheme-outside", tr_scheme_name(training->outside));
    }
    /* Options that change the model; those of reading and running are not part of it. */
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        char key[80];
        if (option->groups & TRELLIS_GROUP_TRAIN &&
            trellis_options_given(training->options, option->name) &&
            !tr_is_run_option(option->name) && strcmp(option->name, "partial") != 0) {
            snprintf(key, sizeof key, "option-%s", option->name);
            tr_note_text(notes, key, trellis_options_get(training->options, option->name));
        }
    }
    tr_note_text(notes, "option-seed", tr_option_text(training->options, "seed"));
}

static trellis_status make_model(struct tr_training *training, trellis_model **ret_model,
                                 trellis_error *error)
{
    const float *w = training->best, *low = training->low;
    tr_rows_divide_shared(training->vocabulary.node.rows, training->best);
    tr_rows_divide_shared(training->vocabulary.edge.rows, training->best + training->node_size);
    write_notes(training);
    tr_dataset_drop_tokens(&training->data); // the model takes their place in memory
    tr_dataset_drop_tokens(&training->dev);
    if (training->notes.failed) {
        return tr_fail_memory(error);
    }
    struct tr_vocabulary *v = &training->vocabulary;
    struct tr_gaussian gaussian = {0};
    if (training->emissions) {
        gaussian = tr_hmm_gaussian_best(training->emissions);
    }
    struct tr_model_parts parts = {
        .labels = &training->data.labels,
        .plan = &training->plan,
        .step_weights = w + training->node_size + training->edge_size,
        .step_residuals = low ? low + training->node_size + training->edge_size : NULL,
        .unknown = training->best_unknown,
        .features = training->features,
        .node = {&v->node.index, v->node.rows, w, low},
        .edge = {&v->edge.index, v->edge.rows, w + training->node_size, NULL},
        .gaussian = training->emissions ? &gaussian : NULL,
        .notes = &training->notes,
        .tag_dictionary = &training->tag_dictionary_block,
        .words = &training->seen};
    return tr_model_build(&parts, ret_model, error);
}

trellis_status tr_training_result(struct tr_training *training, trellis_model **ret_model,
                                  trellis_error *error)
{
    trellis_model *model = NULL;
    trellis_status status = make_model(training, &model, error);
    if (status || tr_option_is(training->options, "bits", "32")) {
        *ret_model = model;
        return status;
    }
    status = trellis_model_repack(model, 16, ret_model, error);
    trellis_model_close(model);
    return status;
}
