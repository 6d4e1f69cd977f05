/* explain.c - `trellis explain`: which weights decided for the predicted labels. */
#include <stdlib.h>

#include "message.h"
#include "model_file.h"
#include "model_input.h"
#include "output_file.h"
#include "input_selection.h"

struct explanation {
    const trellis_model *model;
    const trellis_options *options;
    trellis_explainer *explainer;
    const char *bound; // the file whose columns the explainer is bound to
    struct output output;
    size_t top;
    bool json;
};

static trellis_status explain_sequence(void *user, const struct source *source,
                                       const trellis_sequence *sequence, trellis_error *error)
{
    struct explanation *explanation = user;
    const trellis_explanation *reasons;
    trellis_status status = TRELLIS_OK;
    if (source->reader && source->path != explanation->bound) {
        status = trellis_explainer_bind(explanation->explainer, source->reader, error);
        explanation->bound = source->path;
        if (!status) {
            status = check_input(explanation->model, explanation->options, source->path, sequence,
                                 error);
        }
    }
    if (!status) {
        status = trellis_explainer_run(explanation->explainer, sequence, &reasons, error);
    }
    if (!status) {
        status = trellis_explainer_report(explanation->explainer, sequence, explanation->top,
                                          explanation->json, output_sink, &explanation->output,
                                          error);
    }
    return status;
}

static int run(const struct arguments *arguments)
{
    const char *path = argument(arguments, "model");
    struct explanation explanation = {
        .top = strtoull(trellis_options_get(arguments->options, "top"), NULL, 10),
        .json = argument_flag(arguments, "json"),
    };
    trellis_model *model = NULL;
    trellis_error error = {0};
    if (!path) {
        return usage_error(arguments->command, "-m is missing: the model to explain with");
    }
    trellis_status status = open_model(path, argument(arguments, "words") ? NULL : arguments,
                                       &model, &error);
    if (!status) {
        explanation.model = model;
        explanation.options = arguments->options;
        status = take_input_defaults(model, arguments, false, &error);
    }
    if (!status) {
        status = trellis_explainer_create(model, arguments->options, &explanation.explainer,
                                          &error);
    }
    int result = status ? failure(status, &error)
                        : output_open(&explanation.output, argument(arguments, "output"));
    if (result == EXIT_SUCCESS) {
        status = for_each_selected(arguments, false, explain_sequence, &explanation, &error);
        result = output_end(&explanation.output, status, &error);
    }
    trellis_explainer_destroy(explanation.explainer);
    trellis_model_close(model);
    return result;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "The model."},
    OWN_WORDS,
    {"json", 0, NULL, "Write one line of JSON per sequence."},
    OWN_OUTPUT,
    {0},
};

const struct command command_explain = {
    .name = "explain",
    .summary = "explain predictions by their weights",
    .synopsis = "-m MODEL [OPTION...] [FILE...]\n"
                "-m MODEL --words TEXT [OPTION...]",
    .description =
        "Shows for each token the predicted label and the runner-up: the best other label, with "
        "the best labelling of the rest of the sequence given that label. Scores are sums of "
        "weights, and so is the margin between the two: each line shows what a feature or a "
        "transition contributes to the predicted labelling and to the runner-up, and the "
        "difference. The differences add up exactly to the margin; if the runner-up changes the "
        "labels of other tokens, their lines are shown too. In an MEMM the score is a "
        "log-probability: the line 'normaliser' is the log-normaliser of a token, given the "
        "labels before it.\n\n"
        "Models with probabilities also show those of the two labels.",
    .own = own,
    .groups = TRELLIS_GROUP_INSPECT | TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS,
    .with = "constrain",
    .common = "top sequence label format",
    .examples = "trellis explain -m pos.model --words 'The old man the boats .'\n"
                "# the third sequence of a file, with all features\n"
                "trellis explain -m chunk.model --sequence 3 --top 1000 test.txt\n",
    .run = run,
};
