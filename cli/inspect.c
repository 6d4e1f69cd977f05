/* inspect.c - `trellis inspect`: what a model has learned. */
#include <stdlib.h>

#include "model_output.h"

static trellis_status write(const trellis_model *model, const struct arguments *arguments,
                            trellis_sink sink, void *user, trellis_error *error)
{
    trellis_inspection *inspection = NULL;
    size_t top = strtoull(trellis_options_get(arguments->options, "top"), NULL, 10);
    trellis_status status = trellis_inspection_create(model, top, &inspection, error);
    if (!status) {
        status = trellis_inspection_report(inspection, argument(arguments, "label"),
                                           argument_flag(arguments, "json"), sink, user, error);
    }
    trellis_inspection_destroy(inspection);
    return status;
}

static int run(const struct arguments *arguments)
{
    return show_model(arguments, write);
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "The model; it may also be given without -m."},
    {"label", 'l', "LABEL", "Only this label, without the tables of templates and steps."},
    {"json", 0, NULL, "Write JSON."},
    {"output", 'o', "FILE", "Write to FILE, which appears when all is done. [-]"},
    {0},
};

const struct command command_inspect = {
    .name = "inspect",
    .summary = "show what a model has learned",
    .synopsis = "[OPTION...] MODEL",
    .description =
        "Shows for each label the features and the label steps with the highest and the lowest "
        "weights, how many weights each template has, and the weights of all steps between two "
        "labels as a table.\n\n"
        "The weights of an HMM are logarithms of probabilities: there the highest ones are the "
        "most probable words and steps.",
    .own = own,
    .with = "top",
    .examples = "trellis inspect chunk.model\n"
                "# why is something an adverb?\n"
                "trellis inspect --label ADV --top 20 pos.model\n",
    .run = run,
};
