/* main.c - the trellis command: finds the subcommand, parses its arguments and runs it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#ifdef __GLIBC__ // which any header of it has told by now
#include <malloc.h>
#endif

#include "arguments.h"
#include "help.h"
#include "message.h"
#include "suggest.h"

const struct command *const commands[] = {
    &command_train,
    &command_tag,
    &command_eval,
    &command_compare,
    &command_cv,
    &command_tune,
    &command_convert,
    &command_features,
    &command_info,
    &command_inspect,
    &command_explain,
    &command_show,
    &command_report,
    &command_export,
    &command_import,
    &command_sample,
    &command_help,
    &command_version,
    NULL,
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    struct suggestion suggestion = {.asked = name};
    for (size_t i = 0; commands[i]; i++) {
        suggestion_offer(&suggestion, commands[i]->name);
    }
    if (suggestion.nearest) {
        return usage_error(NULL, "there is no subcommand '%s'; did you mean '%s'?", name,
                           suggestion.nearest);
    }
    return usage_error(NULL, "there is no subcommand '%s'", name);
}

static int run_command(const struct command *command, int count, char **words)
{
    struct arguments arguments;
    int result = arguments_parse(command, count, words, &arguments);
    if (result == EXIT_SUCCESS) {
        result = arguments.help ? help_show(command) : command->run(&arguments);
    }
    arguments_free(&arguments);
    return result;
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* Arrays above a MiB go back to the system as soon as they are freed, and grow without being copied. Left to
 * itself, glibc raises that size as it sees large ones come and go, and keeps what they leave over. */
static void give_memory_back(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int main(int argc, char **argv)
{
    give_memory_back();
    signal(SIGPIPE, SIG_IGN); // a reader that goes away is an error of write(), see output.c
    signal(SIGXFSZ, SIG_IGN); // and so is a file that grows beyond its limit (ulimit -f)
    if (argc < 2) {
        fputs("usage: trellis SUBCOMMAND [OPTION...] [FILE...]\n", stderr);
        return usage_error(NULL, "a subcommand is missing");
    }
    const char *word = argv[1];
    if (is_one_of(word, "-h", "--help")) {
        return help_show(NULL);
    }
    if (is_one_of(word, "-V", "--version")) {
        return run_command(&command_version, 0, NULL);
    }
    if (word[0] == '-') {
        return usage_error(NULL, "there is no option '%s' before a subcommand", word);
    }
    const struct command *command = command_find(word);
    return command ? run_command(command, argc - 2, argv + 2) : unknown_command(word);
}
