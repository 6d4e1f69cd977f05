/* report.c - `trellis report`: an HTML report on a model and its errors on labelled data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "message.h"
#include "model_file.h"
#include "model_input.h"
#include "output_file.h"
#include "tagging.h"

struct reporting {
    trellis_report *report;
    struct gold_check gold;
    const char *other; // the name of the model of --against, while its predictions are added
};

static trellis_status add_sequence(void *user, const trellis_sequence *sequence,
                                   const struct tag_result *result, trellis_error *error)
{
    struct reporting *reporting = user;
    trellis_status status = gold_check_add(&reporting->gold, sequence, error);
    if (status) {
        return status;
    }
    return reporting->other
               ? trellis_report_add_other(reporting->report, reporting->other, &result->labelled,
                                          error)
               : trellis_report_add(reporting->report, sequence, &result->labelled, error);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Adds the predictions of a model: of the one reported on, or of --against if it has a name. */
static trellis_status fill(trellis_report *report, const trellis_model *model, const char *other,
                           const struct arguments *arguments, trellis_error *error)
{
    struct reporting reporting = {.report = report, .gold = {.model = model}, .other = other};
    struct tagging tagging = {
        .model = model,
        .options = arguments->options,
        .marginals = trellis_model_has_probabilities(model),
        .likelihood = trellis_model_has_probabilities(model),
        .spans = trellis_model_has_probabilities(model) && trellis_model_has_spans(model),
        .known = true,
        .tagged = add_sequence,
        .user = &reporting,
    };
    tagging.paths = argument_inputs(arguments, &tagging.path_count);
    trellis_status status = tagging_run(&tagging, argument_threads(arguments), error);
    return status ? status : gold_check_end(&reporting.gold, error);
}

static trellis_status fill_other(trellis_report *report, const struct arguments *arguments,
                                 const char *path, trellis_error *error)
{
    trellis_model *model = NULL;
    trellis_status status = open_model(path, arguments, &model, error);
    if (!status) {
        status = take_input_defaults(model, arguments, true, error);
    }
    if (!status) {
        status = fill(report, model, last_part(path), arguments, error);
    }
    trellis_model_close(model);
    return status;
}

/* Intervals are cheap and belong on the page: 1000 resamples unless --bootstrap says otherwise. */
static trellis_status set_bootstrap(const struct arguments *arguments, trellis_error *error)
{
    return trellis_options_given(arguments->options, "bootstrap")
               ? TRELLIS_OK
               : trellis_options_set(arguments->options, "bootstrap", "1000", error);
}

static trellis_status make(const struct arguments *arguments, const char *path,
                           trellis_model **ret_model, trellis_report **ret_report,
                           trellis_error *error)
{
    char title[1000];
    const char *against = argument(arguments, "against");
    size_t count;
    const char *const *inputs = argument_inputs(arguments, &count);
    snprintf(title, sizeof title, "%s%s%s on %s%s", last_part(path), against ? " and " : "",
             against ? last_part(against) : "", last_part(inputs[0]),
             count > 1 ? " and others" : "");
    trellis_status status = set_bootstrap(arguments, error);
    if (!status) {
        status = open_model(path, arguments, ret_model, error);
    }
    if (!status) {
        status = take_input_defaults(*ret_model, arguments, true, error);
    }
    if (!status) {
        status = trellis_report_create(*ret_model, arguments->options, title, ret_report, error);
    }
    if (!status && against) {
        status = fill_other(*ret_report, arguments, against, error);
    }
    return status ? status : fill(*ret_report, *ret_model, NULL, arguments, error);
}

static int run(const struct arguments *arguments)
{
    const char *path = argument(arguments, "model");
    trellis_model *model = NULL;
    trellis_report *report = NULL;
    trellis_error error = {0};
    struct output output;
    if (!path) {
        return usage_error(arguments->command, "-m is missing: the model to report on");
    }
    int result = output_open(&output, argument(arguments, "output"));
    if (result == EXIT_SUCCESS) {
        trellis_status status = make(arguments, path, &model, &report, &error);
        if (!status) {
            status = trellis_report_write(report, output_sink, &output, &error);
        }
        result = output_end(&output, status, &error);
    }
    trellis_report_destroy(report);
    trellis_model_close(model);
    return result;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "The model."},
    {"against", 0, "MODEL", "Compare with a second model, side by side."},
    OWN_OUTPUT,
    {0},
};

const struct command command_report = {
    .name = "report",
    .summary = "write an HTML report on a model and its errors",
    .synopsis = "-m MODEL [OPTION...] [FILE...] -o FILE.html",
    .description =
        "Tags labelled data and writes one HTML page: scores with confidence intervals, training "
        "curves, errors of spans, confusion matrix, calibration, precision and recall by "
        "threshold, the highest and lowest weights, and the sequences with errors. With --against, "
        "two models are compared side by side. The page is self-contained and works offline, in "
        "light and dark mode, on a phone and in print.",
    .own = own,
    .groups = TRELLIS_GROUP_INSPECT | TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS | TRELLIS_GROUP_RUN,
    .with = "constrain decode beam strict bootstrap",
    .without = "sequence seed memory",
    .common = "errors top label",
    .examples = "# from training data to a report\n"
                "trellis train -t crf -f chunk -m chunk.model train.txt\n"
                "trellis report -m chunk.model test.txt -o report.html\n"
                "# two models side by side\n"
                "trellis report -m new.model --against old.model test.txt -o report.html\n",
    .run = run,
};
