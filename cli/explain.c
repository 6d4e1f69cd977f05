/* explain.c - `trellis explain`: why tokens got their labels. */
#include <stdlib.h>

#include "message.h"
#include "output_file.h"
#include "input_selection.h"

struct explaining {
    trellis_explainer *explainer;
    const char *bound; // the file that the columns were taken from last
    struct output output;
    size_t top;
    bool json;
};

static trellis_status explain_sequence(void *user, const struct source *source,
                                       const trellis_sequence *sequence, trellis_error *error)
{
    struct explaining *explaining = user;
    const trellis_explanation *reasons;
    trellis_status status = TRELLIS_OK;
    if (source->reader && source->path != explaining->bound) {
        status = trellis_explainer_bind(explaining->explainer, source->reader, error);
        explaining->bound = source->path;
    }
    if (!status) {
        status = trellis_explainer_run(explaining->explainer, sequence, &reasons, error);
    }
    if (!status) {
        status = trellis_explainer_report(explaining->explainer, sequence, explaining->top,
                                          explaining->json, output_sink, &explaining->output,
                                          error);
    }
    return status;
}

static int run(const struct arguments *arguments)
{
    const char *path = argument(arguments, "model");
    struct explaining explaining = {
        .top = strtoull(trellis_options_get(arguments->options, "top"), NULL, 10),
        .json = argument_flag(arguments, "json"),
    };
    trellis_model *model = NULL;
    trellis_error error = {0};
    if (!path) {
        return usage_error(arguments->command, "-m is missing: the model to explain with");
    }
    trellis_status status = trellis_model_open(path, &model, &error);
    if (!status) {
        status = trellis_explainer_create(model, arguments->options, &explaining.explainer, &error);
    }
    int result = status ? failure(status, &error)
                        : output_open(&explaining.output, argument(arguments, "output"));
    if (result == EXIT_SUCCESS) {
        status = visit_sentences(arguments, false, explain_sequence, &explaining, &error);
        result = output_end(&explaining.output, status, &error);
    }
    trellis_explainer_destroy(explaining.explainer);
    trellis_model_close(model);
    return result;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "The model."},
    OWN_WORDS,
    {"json", 0, NULL, "Write a line of JSON for each sequence."},
    {"output", 'o', "FILE", "Write to FILE, which appears when all is done. [-]"},
    {0},
};

const struct command command_explain = {
    .name = "explain",
    .summary = "show why tokens got their labels",
    .synopsis = "-m MODEL [OPTION...] [FILE...]\n"
                "-m MODEL --words TEXT [OPTION...]",
    .description =
        "Shows for each token its label and its rival: the best of all other labels, taken with "
        "the best labels that it leaves for the rest of the sequence. A score is a sum of "
        "weights, so the margin between the two is a sum as well: each line has what a feature "
        "or a label step adds to the labels found, what it adds to those with the rival, and the "
        "difference. The differences add up to the margin exactly; a rival that changes other "
        "tokens as well brings their lines along. In an memm the score is the logarithm of a "
        "probability: the line 'normaliser' has what all labels of a token weigh behind the "
        "labels before it.\n\n"
        "Where the model gives probabilities, those of the two labels stand behind them.",
    .own = own,
    .groups = TRELLIS_GROUP_INSPECT | TRELLIS_GROUP_READ,
    .with = "constrain",
    .examples = "trellis explain -m pos.model --words 'The old man the boats .'\n"
                "# the third sequence of a file, with all that counts\n"
                "trellis explain -m chunk.model --sequence 3 --top 1000 test.txt\n",
    .run = run,
};
