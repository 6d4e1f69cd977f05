/* info.c - `trellis info`: describes a model. */
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
    return write_model_output(arguments, write);
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "The model; -m may be omitted."},
    {"json", 0, NULL, "Write JSON."},
    OWN_OUTPUT,
    {0},
};

const struct command command_info = {
    .name = "info",
    .summary = "describe a model",
    .synopsis = "[OPTION...] MODEL",
    .description =
        "Shows how a model was trained, its labels, sizes and templates, after verifying "
        "the checksums of the file.",
    .own = own,
    .examples = "trellis info pos.model\n"
                "trellis info --json pos.model\n",
    .run = run,
};
