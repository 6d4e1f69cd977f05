/* version.c - `trellis version`: prints the version. */
#include "arguments.h"
#include "message.h"
#include "output_file.h"

static int run(const struct arguments *arguments)
{
    if (arguments->path_count) {
        return usage_error(arguments->command, "expected no arguments");
    }
    struct output output;
    int result = output_open(&output, NULL);
    if (result == EXIT_SUCCESS) {
        fprintf(output.file, "trellis %s\n", trellis_version());
        result = output_end(&output, TRELLIS_OK, NULL);
    }
    return result;
}

const struct command command_version = {
    .name = "version",
    .summary = "show the version",
    .synopsis = "",
    .description = "Shows the version of the command and the library.",
    .examples = "trellis version\n",
    .run = run,
};
