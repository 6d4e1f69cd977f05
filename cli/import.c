/* import.c - `trellis import`: reads a model from text. */
#include "arguments.h"
#include "message.h"
#include "model_file.h"

static int run(const struct arguments *arguments)
{
    const char *path = argument(arguments, "model");
    if (!path) {
        return usage_error(arguments->command, "-m is missing: the model file to write");
    }
    if (arguments->path_count > 1) {
        return usage_error(arguments->command, "expected one file");
    }
    int result = check_model_target(arguments->command, path);
    if (result != EXIT_SUCCESS) {
        return result;
    }
    size_t count;
    trellis_model *model = NULL;
    trellis_error error = {0};
    trellis_status status = trellis_model_import(argument_inputs(arguments, &count)[0], &model,
                                                 &error);
    if (!status) {
        status = save_model(model, path, &error);
    }
    trellis_model_close(model);
    return status ? failure(status, &error) : EXIT_SUCCESS;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "Write the model to FILE. Required."},
    {0},
};

const struct command command_import = {
    .name = "import",
    .summary = "read a model from text",
    .synopsis = "-m MODEL [FILE]",
    .description =
        "Reads the text written by 'trellis export', which may have been edited, and writes "
        "a model.",
    .own = own,
    .writes = "model",
    .examples = "trellis export pos.model > pos.txt\n"
                "trellis import -m changed.model pos.txt\n",
    .run = run,
};
