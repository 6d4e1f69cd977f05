/* result.c - the model of a training, with notes on how it was made. */
#include "train/train.h"

#include <math.h>
#include <stdio.h>

#include "corpus/corpus.h"
#include "model/model.h"
#include "train/dev_score.h"
#include "train/hmm_gaussian.h"

/* Tokens whose label is not known. */
static size_t count_open(const struct tr_dataset *data)
{
    size_t count = data->passed_open;
    for (size_t t = 0; t < data->tokens; t++) {
        count += data->gold.at[t] == TR_UNKNOWN;
    }
    return count;
}

/* The scheme of the labels as the input has them. An allocation failure is noted in `notes`. */
static trellis_scheme input_scheme(const struct tr_training_data *data, struct tr_buffer *notes)
{
    size_t count = data->train.label_count;
    if (data->outside != TRELLIS_NO_SCHEME || data->inside != TRELLIS_NO_SCHEME) {
        return data->outside;
    }
    trellis_text *labels = tr_alloc(count, sizeof *labels);
    if (!labels) {
        notes->failed = true;
        return TRELLIS_NO_SCHEME;
    }
    for (uint32_t i = 0; i < count; i++) {
        labels[i] = tr_intern_text(&data->train.labels, i);
    }
    trellis_scheme scheme = tr_scheme_guess(labels, count);
    free(labels);
    return scheme;
}

/* How the data was read, for those who read more of it with the model. */
static void write_input_notes(struct tr_training *training)
{
    struct tr_buffer *notes = &training->notes;
    const struct tr_dataset *data = &training->data.train;
    const struct tr_input_shape *shape = &data->shape;
    if (!shape->format) {
        return;
    }
    tr_note_text(notes, "input-format", shape->format);
    if (shape->columns) {
        tr_note_format(notes, "input-columns", "%zu", shape->columns);
    }
    if (shape->names[0]) {
        tr_note_text(notes, "input-names", shape->names);
    }
    if (shape->label && shape->label_name[0]) {
        tr_note_text(notes, "input-label", shape->label_name);
    } else if (shape->label) {
        tr_note_format(notes, "input-label", "%zu", shape->label);
    }
    if (data->used[0]) {
        tr_note_text(notes, "input-used", data->used);
    }
    if (shape->by_tab) {
        tr_note_text(notes, "input-separator", "tab");
    }
    if (trellis_options_given(training->settings.options, "tokenizer")) {
        tr_note_text(notes, "input-tokenizer",
                     tr_option_text(training->settings.options, "tokenizer"));
    }
    if (tr_option_integer(training->settings.options, "context") > 0) {
        tr_note_text(notes, "input-context", tr_option_text(training->settings.options, "context"));
    }
    trellis_scheme scheme = input_scheme(&training->data, notes);
    if (scheme != TRELLIS_NO_SCHEME) {
        tr_note_text(notes, "input-scheme", tr_scheme_name(scheme));
    }
}

static void write_notes(struct tr_training *training)
{
    struct tr_buffer *notes = &training->notes;
    const struct tr_vocabulary *v = &training->data.vocabulary;
    const trellis_progress *figures = &training->best.figures;
    tr_note_text(notes, "program", "trellis");
    tr_note_text(notes, "version", trellis_version());
    tr_note_text(notes, "type", training->settings.learner->name);
    tr_note_text(notes, "algorithm", training->settings.algorithm->name);
    tr_note_text(notes, "features", tr_features_name(training->data.features));
    if (tr_training_can(training, TR_LOCAL)) {
        tr_note_text(notes, TR_NOTE_NORMALISED, TR_LOCALLY);
    }
    if (training->data.segments) {
        tr_note_format(notes, "segments", "%u", training->data.segments->max_length);
    }
    if (training->layout.plan.pruned) {
        tr_note_format(notes, TR_NOTE_PRUNED, "%.17g", training->layout.plan.threshold);
    }
    tr_note_format(notes, "order", "%u", training->layout.plan.order);
    tr_note_format(notes, "sequences", "%zu", tr_dataset_all_sequences(&training->data.train));
    tr_note_format(notes, "tokens", "%zu", tr_dataset_all_tokens(&training->data.train));
    if (training->data.train.open_begin.size) {
        tr_note_format(notes, "open-labels", "%zu", count_open(&training->data.train));
    }
    tr_note_format(notes, "training-features", "%zu",
                   tr_rows_features(v->node.rows) + tr_rows_features(v->edge.rows) +
                       training->layout.step_size);
    tr_note_format(notes, "data-fingerprint", "%016llx",
                   (unsigned long long)training->data.train.fingerprint);
    tr_note_format(notes, "iterations", "%llu", (unsigned long long)figures->iteration);
    if (figures->objective != 0 && isfinite(figures->objective)) {
        tr_note_format(notes, "objective", "%.10g", figures->objective);
    }
    if (training->data.dev.sequences) {
        tr_note_format(notes, "dev-accuracy", "%.6f", figures->dev_accuracy);
        if (isfinite(figures->dev_f1)) {
            tr_note_format(notes, "dev-f1", "%.6f", figures->dev_f1);
        }
    }
    if (training->data.inside != TRELLIS_NO_SCHEME &&
        training->data.inside != training->data.outside) {
        tr_note_text(notes, "scheme-inside", tr_scheme_name(training->data.inside));
        tr_note_text(notes, "scheme-outside", tr_scheme_name(training->data.outside));
    }
    write_input_notes(training);
    /* Options that change the model; those of reading and running are not part of it. */
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        char key[80];
        if (option->groups & TRELLIS_GROUP_TRAIN &&
            trellis_options_given(training->settings.options, option->name) &&
            !tr_is_run_option(option->name) && strcmp(option->name, "partial") != 0) {
            snprintf(key, sizeof key, "option-%s", option->name);
            tr_note_text(notes, key, trellis_options_get(training->settings.options, option->name));
        }
    }
    tr_note_text(notes, "option-seed", tr_option_text(training->settings.options, "seed"));
}

static trellis_status make_model(struct tr_training *training, bool last, trellis_model **ret_model,
                                 trellis_error *error)
{
    const float *w = training->best.weights, *residual = training->best.residual;
    tr_rows_divide_shared(training->data.vocabulary.node.rows, training->best.weights);
    tr_rows_divide_shared(training->data.vocabulary.edge.rows,
                          training->best.weights + training->layout.node_size);
    write_notes(training);
    tr_dataset_drop_tokens(&training->data.train); // the model takes their place in memory
    tr_dataset_drop_tokens(&training->data.dev);
    if (training->notes.failed) {
        return tr_fail_memory(error);
    }
    struct tr_vocabulary *v = &training->data.vocabulary;
    struct tr_gaussian gaussian = {0};
    if (training->gaussian) {
        gaussian = tr_hmm_gaussian_view(training->gaussian, training->best.emissions);
    }
    struct tr_model_parts parts = {
        .labels = &training->data.train.labels,
        .plan = &training->layout.plan,
        .step_weights = w + training->layout.step_begin,
        .step_residuals = residual ? residual + training->layout.step_begin : NULL,
        .unknown = training->best.unknown,
        .features = training->data.features,
        .node = {&v->node.index, v->node.rows, w, residual},
        .edge = {&v->edge.index, v->edge.rows, w + training->layout.node_size, NULL},
        .gaussian = training->gaussian ? &gaussian : NULL,
        .notes = &training->notes,
        .tag_dictionary = &training->data.tag_dictionary_block,
        .words = &training->data.seen,
        .graph = last ? &training->layout.graph : NULL};
    return tr_model_build(&parts, ret_model, error);
}

trellis_status tr_training_result(struct tr_training *training, bool last,
                                  trellis_model **ret_model, trellis_error *error)
{
    trellis_model *model = NULL;
    if (last) {
        tr_dev_scorer_destroy(training->dev_scorer); // it is for the graph
        training->dev_scorer = NULL;
    }
    trellis_status status = training->data.shared
                                ? tr_vocabulary_gather_texts(&training->data.vocabulary,
                                                             &training->ranks, error)
                                : TRELLIS_OK;
    status = status ? status : make_model(training, last, &model, error);
    if (status || tr_option_is(training->settings.options, "bits", "32")) {
        *ret_model = model;
        return status;
    }
    status = trellis_model_repack(model, 16, ret_model, error);
    trellis_model_close(model);
    return status;
}
