/* export.c - `trellis export`: writes a model as text. */
#include "model_output.h"

static trellis_status write(const trellis_model *model, const struct arguments *arguments,
                            trellis_sink sink, void *user, trellis_error *error)
{
    return trellis_model_export(model, argument_flag(arguments, "json"), sink, user, error);
}

static int run(const struct arguments *arguments)
{
    return write_model_output(arguments, write);
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "The model; -m may be omitted."},
    {"json", 0, NULL, "Write JSON, for other programs; 'trellis import' does not read it."},
    OWN_OUTPUT,
    {0},
};

const struct command command_export = {
    .name = "export",
    .summary = "write a model as text",
    .synopsis = "[OPTION...] MODEL",
    .description =
        "Writes all weights of a model as text, from which 'trellis import' restores the "
        "same model, or as JSON.",
    .own = own,
    .examples = "trellis export pos.model > pos.txt\n"
                "trellis export --json -o pos.json pos.model\n",
    .run = run,
};
