/* help.c - `trellis help`, and the files of the project that are written from the same tables:
 *
 *     trellis help --man train       docs/man/trellis-train.1
 *     trellis help --markdown        docs/cli.md
 *     trellis help --completion      completions/trellis.bash
 */
#include "help.h"

#include "arguments.h"
#include "message.h"
#include "output_file.h"

static void write_markdown(FILE *out)
{
    fputs("<!-- Written by 'trellis help --markdown'; do not edit. -->\n# The trellis command\n",
          out);
    page_write(out, &style_markdown, NULL);
    for (size_t i = 0; commands[i]; i++) {
        page_write(out, &style_markdown, commands[i]);
    }
}

int help_show(const struct command *command)
{
    struct output output;
    int result = output_open(&output, NULL);
    if (result == EXIT_SUCCESS) {
        page_write(output.file, &style_plain, command);
        result = output_end(&output, TRELLIS_OK, NULL);
    }
    return result;
}

static int run(const struct arguments *arguments)
{
    const struct command *command = NULL;
    if (arguments->path_count > 1) {
        return usage_error(arguments->command, "it takes one subcommand");
    }
    if (arguments->path_count == 1) {
        command = command_find(arguments->paths[0]);
        if (!command) {
            return usage_error(NULL, "there is no subcommand '%s'", arguments->paths[0]);
        }
    }
    struct output output;
    int result = output_open(&output, NULL);
    if (result != EXIT_SUCCESS) {
        return result;
    }
    if (argument_flag(arguments, "completion")) {
        completion_write(output.file);
    } else if (argument_flag(arguments, "markdown")) {
        write_markdown(output.file);
    } else if (argument_flag(arguments, "man")) {
        page_write(output.file, &style_manual, command);
    } else {
        page_write(output.file, &style_plain, command);
    }
    return output_end(&output, TRELLIS_OK, NULL);
}

static const struct own_option own[] = {
    {"man", 0, NULL, NULL},
    {"markdown", 0, NULL, NULL},
    {"completion", 0, NULL, NULL},
    {0},
};

const struct command command_help = {
    .name = "help",
    .summary = "show what there is, or the help of a subcommand",
    .synopsis = "[SUBCOMMAND]",
    .description =
        "Shows the help of a subcommand, as 'trellis SUBCOMMAND --help' does, or the list "
        "of subcommands.",
    .own = own,
    .examples = "trellis help train\n",
    .run = run,
};
