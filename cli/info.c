/* info.c - `trellis info`: what is in a model. */
#include "model_output.h"

static trellis_status write(const trellis_model *model, const struct arguments *arguments,
                            trellis_sink sink, void *user, trellis_error *error)
{
    trellis_status status = trellis_model_verify(model, error);
    return status ? status
                  : trellis_model_info(model, argument_flag(arguments, "json"), sink, user, error);
}

static int run(const struct arguments *arguments)
{
    return show_model(arguments, write);
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "The model; it may also be given without -m."},
    {"json", 0, NULL, "Write JSON."},
    {"output", 'o', "FILE", "Write to FILE, which appears when all is done. [-]"},
    {0},
};

const struct command command_info = {
    .name = "info",
    .summary = "show what is in a model",
    .synopsis = "[OPTION...] MODEL",
    .description = "Shows how a model was learned, its labels, its sizes and its templates,\n"
                   "after checking that no byte of the file has changed since it was written.",
    .own = own,
    .examples = "trellis info pos.model\n"
                "trellis info --json pos.model\n",
    .run = run,
};
