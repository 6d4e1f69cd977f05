/* experiment.c - trains on some data, tags other data and scores the predictions. */
#include "experiment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "message.h"
#include "tagging.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double figures_score(const struct figures *figures)
{
    return figures->scores.has_spans ? figures->scores.f1 : figures->scores.accuracy;
}

int parse_folds(const struct arguments *arguments, size_t default_folds, size_t *ret_folds)
{
    enum { MAX_FOLDS = 1000 };
    const char *text = argument(arguments, "folds");
    char *end = NULL;
    long folds = text ? strtol(text, &end, 10) : (long)default_folds;
    if ((end && *end) || folds < 2 || folds > MAX_FOLDS) {
        return usage_error(arguments->command, "--folds must be between 2 and %d, not '%s'",
                           MAX_FOLDS, text);
    }
    *ret_folds = (size_t)folds;
    return EXIT_SUCCESS;
}

int check_files(const struct arguments *arguments, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(paths[i], "-") == 0) {
            return usage_error(
                arguments->command,
                "the data is read several times and cannot come from standard input");
        }
    }
    return EXIT_SUCCESS;
}

/* ---- tagging --------------------------------------------------------------------------------- */

struct scoring {
    trellis_evaluation *own, *shared; // shared may be NULL
};

static trellis_status add_result(void *user, const trellis_sequence *sequence,
                                 const struct tag_result *result, trellis_error *error)
{
    struct scoring *scoring = user;
    trellis_status status = require_gold(sequence, error);
    if (!status) {
        status = trellis_evaluation_add_labelled(scoring->own, &result->labelled, error);
    }
    if (!status && scoring->shared) {
        status = trellis_evaluation_add_labelled(scoring->shared, &result->labelled, error);
    }
    return status;
}

static double oov_accuracy(const trellis_evaluation *evaluation)
{
    trellis_row row = {.struct_size = sizeof row};
    for (size_t i = 0; trellis_evaluation_row(evaluation, TRELLIS_BY_WORD, i, &row); i++) {
        if (row.name.size == strlen("OOV") && memcmp(row.name.data, "OOV", row.name.size) == 0) {
            return row.recall;
        }
    }
    return NAN;
}

static trellis_status tag(const struct experiment *experiment, const trellis_model *model,
                          trellis_options *options, trellis_evaluation *evaluation,
                          struct figures *figures, trellis_error *error)
{
    struct scoring scoring = {.shared = evaluation};
    struct tagging tagging = {.model = model,
                              .options = options,
                              .paths = experiment->test,
                              .path_count = experiment->test_count,
                              .known = true,
                              .tagged = add_result,
                              .user = &scoring};
    trellis_status status = trellis_options_set(options, "part", experiment->test_part, error);
    const char *context = trellis_model_note(model, "input-context");
    if (!status && context) {
        status = trellis_options_set(options, "context", context, error);
    }
    if (!status) {
        status = trellis_evaluation_create(options, &scoring.own, error);
    }
    double began = now();
    if (!status) {
        status = tagging_run(&tagging, experiment->threads, error);
    }
    figures->tag_seconds = now() - began;
    if (!status) {
        figures->scores.struct_size = sizeof figures->scores;
        trellis_evaluation_scores(scoring.own, &figures->scores);
        figures->oov_accuracy = oov_accuracy(scoring.own);
    }
    trellis_evaluation_destroy(scoring.own);
    return status;
}

/* ---- training -------------------------------------------------------------------------------- */

static bool note_features(void *user, const trellis_progress *progress)
{
    struct figures *figures = user;
    if (progress->active_features) {
        figures->features = progress->active_features;
    }
    return true;
}

static void copy_note(const trellis_model *model, const char *name, char *text, size_t room)
{
    const char *note = trellis_model_note(model, name);
    snprintf(text, room, "%s", note ? note : "");
}

trellis_status experiment_run(const struct experiment *experiment, trellis_evaluation *evaluation,
                              struct figures *ret_figures, trellis_error *error)
{
    struct figures figures = {.oov_accuracy = NAN};
    trellis_options *options = NULL;
    trellis_model *model = NULL;
    trellis_status status = trellis_options_copy(experiment->options, &options, error);
    if (!status) {
        status = trellis_options_set(options, "part", experiment->train_part, error);
    }
    double began = now();
    if (!status) {
        status = trellis_train_files(options, experiment->train, experiment->train_count,
                                     note_features, &figures, &model, error);
    }
    figures.train_seconds = now() - began;
    if (!status) {
        copy_note(model, "type", figures.type, sizeof figures.type);
        copy_note(model, "algorithm", figures.algorithm, sizeof figures.algorithm);
        copy_note(model, "features", figures.templates, sizeof figures.templates);
        status = tag(experiment, model, options, evaluation, &figures, error);
    }
    trellis_model_close(model);
    trellis_options_destroy(options);
    *ret_figures = figures;
    return status;
}
