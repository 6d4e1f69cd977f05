/* export.c - `trellis export`: a model as text. */
#include "model_output.h"

static trellis_status write(const trellis_model *model, const struct arguments *arguments,
                            trellis_sink sink, void *user, trellis_error *error)
{
    return trellis_model_export(model, argument_flag(arguments, "json"), sink, user, error);
}

static int run(const struct arguments *arguments)
{
    return show_model(arguments, write);
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "The model; it may also be given without -m."},
    {"json", 0, NULL, "Write JSON, which other programs read but 'trellis import' does not."},
    {"output", 'o', "FILE", "Write to FILE, which appears when all is done. [-]"},
    {0},
};

const struct command command_export = {
    .name = "export",
    .summary = "write a model as text",
    .synopsis = "[OPTION...] MODEL",
    .description = "Writes every weight of a model as text that 'trellis import' reads back to the "
                   "same model, or as JSON.",
    .own = own,
    .examples = "trellis export pos.model > pos.txt\n"
                "trellis export --json -o pos.json pos.model\n",
    .run = run,
};
