/* inspect.c - `trellis inspect`: shows the highest and lowest weights of a model. */
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
    return write_model_output(arguments, write);
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "The model; -m may be omitted."},
    {"label", 'l', "LABEL",
     "Show only this label, without the tables of templates and transitions."},
    {"json", 0, NULL, "Write JSON."},
    OWN_OUTPUT,
    {0},
};

const struct command command_inspect = {
    .name = "inspect",
    .summary = "show the highest and lowest weights of a model",
    .synopsis = "[OPTION...] MODEL",
    .description =
        "Shows the features and transitions with the highest and lowest weights for each label, "
        "the number of weights of each template, and a table of all transition weights.\n\n"
        "The weights of an HMM are log-probabilities: the highest ones are the most probable "
        "words and transitions.",
    .own = own,
    .with = "top",
    .examples = "trellis inspect chunk.model\n"
                "# the features of adverbs\n"
                "trellis inspect --label ADV --top 20 pos.model\n",
    .run = run,
};
