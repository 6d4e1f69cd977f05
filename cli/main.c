/* main.c - the trellis command: finds the subcommand, parses its arguments and runs it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#ifdef __GLIBC__ // defined by its headers above
#include <malloc.h>
#endif

#include "arguments.h"
#include "file_arguments.h"
#include "help.h"
#include "message.h"
#include "ranks.h"

const struct command *const commands[] = {
    &command_check,
    &command_train,
    &command_tag,
    &command_eval,
    &command_compare,
    &command_cv,
    &command_tune,
    &command_cluster,
    &command_convert,
    &command_features,
    &command_presets,
    &command_info,
    &command_inspect,
    &command_explain,
    &command_show,
    &command_report,
    &command_export,
    &command_import,
    &command_sample,
    &command_serve,
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

/* What other tools call a subcommand, and what to type here. */
static const char *synonym(const char *name)
{
    static const struct {
        const char *theirs, *ours;
    } synonyms[] = {
        {"learn", "train -m MODEL FILE"},   {"fit", "train -m MODEL FILE"},
        {"label", "tag -m MODEL FILE"},     {"predict", "tag -m MODEL FILE"},
        {"decode", "tag -m MODEL FILE"},    {"annotate", "tag -m MODEL FILE"},
        {"evaluate", "eval -m MODEL FILE"}, {"test", "eval -m MODEL FILE"},
        {"score", "eval -m MODEL FILE"},    {"dump", "export MODEL"},
        {"conlleval", "eval FILE"},         {"crossvalidate", "cv FILE"},
        {"cross-validate", "cv FILE"},      {"lint", "check FILE"},
        {"validate", "check FILE"},         {"recipes", "presets"},
    };
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        if (strcmp(synonyms[i].theirs, name) == 0) {
            return synonyms[i].ours;
        }
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *ours = synonym(name);
    if (ours) {
        return usage_error(NULL, "unknown subcommand '%s'; did you mean 'trellis %s'?", name, ours);
    }
    trellis_suggestion suggestion = {.struct_size = sizeof suggestion, .asked = name};
    for (size_t i = 0; commands[i]; i++) {
        trellis_suggest(&suggestion, commands[i]->name);
    }
    if (suggestion.nearest) {
        return usage_error(NULL, "unknown subcommand '%s'; did you mean '%s'?", name,
                           suggestion.nearest);
    }
    return usage_error(NULL, "unknown subcommand '%s'", name);
}

/* What several ranks do together; other work each of them would do all over. */
static bool runs_on_ranks(const struct command *command)
{
    const trellis_ranks *ranks = ranks_given();
    return !ranks || ranks->count == 1 || command == &command_train || command == &command_help ||
           command == &command_version;
}

static int run_command(const struct command *command, int count, char **words)
{
    struct arguments arguments;
    int result = arguments_parse(command, count, words, &arguments);
    if (result == EXIT_SUCCESS && arguments.help) {
        result = help_show(command, arguments.help_all);
    } else if (result == EXIT_SUCCESS && !runs_on_ranks(command)) {
        result = usage_error(command, "only 'train' runs on several ranks; use 'trellis %s'",
                             command->name);
    } else if (result == EXIT_SUCCESS) {
        result = check_files_named(&arguments);
        result = result ? result : command->run(&arguments);
    }
    arguments_free(&arguments);
    return result;
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* Arrays above 128 KiB are returned to the system as soon as they are freed, and grow without being
 * copied. By default glibc raises that threshold as large arrays are freed, and keeps their
 * memory. */
static void fix_mmap_threshold(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 17);
#endif
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        if (ranks_first()) {
            fputs("usage: trellis SUBCOMMAND [OPTION...] [FILE...]\n", stderr);
        }
        return usage_error(NULL, "no subcommand given");
    }
    const char *word = argv[1];
    if (is_one_of(word, "-h", "--help") || strcmp(word, "--help-all") == 0) {
        return help_show(NULL, false);
    }
    if (is_one_of(word, "-V", "--version")) {
        return run_command(&command_version, 0, NULL);
    }
    if (word[0] == '-') {
        return usage_error(NULL, "unknown option '%s'; options follow the subcommand", word);
    }
    const struct command *command = command_find(word);
    return command ? run_command(command, argc - 2, argv + 2) : unknown_command(word);
}

int main(int argc, char **argv)
{
    fix_mmap_threshold();
    signal(SIGPIPE, SIG_IGN); // a closed pipe becomes an error of write(), see output_file.c
    signal(SIGXFSZ, SIG_IGN); // and so does a file that exceeds its limit (ulimit -f)
    ranks_begin(&argc, &argv);
    return ranks_end(run(argc, argv));
}
