/* columns_from.c - the arguments of --columns-from: how the first model is trained. */
#include "columns_from.h"

#include <stdlib.h>
#include <string.h>

#include "experiment.h"
#include "file_arguments.h"
#include "message.h"
#include "model_file.h"
#include "ranks.h"

enum { DEFAULT_FOLDS = 5, MAX_WORDS = 200 };

/* The arguments of the first model, as those of a `trellis train`. */
struct first_arguments {
    char *text;                 // of --columns-from, cut into
    char *words[MAX_WORDS + 2]; // with -m and its path
    struct arguments parsed;
};

static void first_free(struct first_arguments *first)
{
    arguments_free(&first->parsed);
    free(first->text);
}

/* A preset stands for its -f. */
static int parse_first(const struct arguments *arguments, struct first_arguments *first)
{
    int count = 0;
    *first = (struct first_arguments){.text = strdup(argument(arguments, "columns-from"))};
    if (!first->text) {
        return failure(TRELLIS_MEMORY, NULL);
    }
    static char features[] = "-f", model[] = "-m";
    char *rest = NULL;
    char *word = strtok_r(first->text, " \t\n", &rest);
    if (word && trellis_preset_text(word)) {
        first->words[count++] = features;
    }
    for (; word && count < MAX_WORDS; word = strtok_r(NULL, " \t\n", &rest)) {
        first->words[count++] = word;
    }
    first->words[count++] = model;
    first->words[count++] = (char *)argument(arguments, "first-model");
    return arguments_parse(arguments->command, count, first->words, &first->parsed);
}

/* What the first model cannot have of its own: the data is that of the second. */
static const char *forbidden_option(const struct first_arguments *first)
{
    static const char *const files[] = {"checkpoint", "resume", "log", "unlabelled"};
    static const char *const own[] = {"columns-from", "first-model", "folds", "quiet"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (argument(&first->parsed, own[i])) {
            return own[i];
        }
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (trellis_options_given(first->parsed.options, files[i])) {
            return files[i];
        }
    }
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        bool reads = option->groups & (TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS);
        if (reads && !is_listed("label context", option->name) &&
            trellis_options_given(first->parsed.options, option->name)) {
            return option->name;
        }
    }
    return NULL;
}

static int check_first(const struct first_arguments *first)
{
    const struct arguments *parsed = &first->parsed;
    const char *forbidden = forbidden_option(first);
    if (parsed->help || parsed->path_count > 0) {
        return usage_error(parsed->command,
                           "--columns-from takes a preset and options of a training, such as "
                           "'pos --label 2', not '%s'",
                           parsed->help ? "--help" : parsed->paths[0]);
    }
    if (forbidden) {
        return usage_error(parsed->command,
                           "--columns-from cannot have --%s: both models are trained on the same "
                           "data",
                           forbidden);
    }
    return check_files_named(parsed);
}

/* What belongs to --columns-from, alone and together. */
static int check_own(const struct arguments *arguments)
{
    const struct command *command = arguments->command;
    const char *path = argument(arguments, "first-model");
    bool wanted = argument(arguments, "columns-from");
    const char *alone = path ? "first-model" : argument(arguments, "folds") ? "folds" : NULL;
    if (!wanted) {
        return alone ? usage_error(command, "--%s needs --columns-from", alone) : EXIT_SUCCESS;
    }
    if (!path) {
        return usage_error(command,
                           "--first-model is missing: the file for the model of --columns-from");
    }
    if (argument_nth(arguments, "columns-from", 1)) {
        return usage_error(command, "--columns-from can be given once only");
    }
    if (ranks_given()) {
        return usage_error(command, "--columns-from is not supported on several ranks");
    }
    if (trellis_options_given(arguments->options, "unlabelled")) {
        return usage_error(command, "--columns-from cannot be combined with --unlabelled");
    }
    size_t folds;
    int result = parse_folds(arguments, DEFAULT_FOLDS, &folds);
    if (result == EXIT_SUCCESS) {
        result = check_files(arguments, (const char *const *)arguments->paths,
                             arguments->path_count);
    }
    return result == EXIT_SUCCESS ? check_model_target(command, path) : result;
}

int columns_from_check(const struct arguments *arguments)
{
    int result = check_own(arguments);
    if (result == EXIT_SUCCESS && argument(arguments, "columns-from")) {
        struct first_arguments first;
        result = parse_first(arguments, &first);
        if (result == EXIT_SUCCESS) {
            result = check_first(&first);
        }
        first_free(&first);
    }
    return result;
}

/* Reading, limits and running are as for the second model, unless given; context is for templates,
 * which are its own. */
static trellis_status inherit(trellis_options *options, const trellis_options *from,
                              trellis_error *error)
{
    const unsigned groups = TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS | TRELLIS_GROUP_RUN;
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        if (option->groups & groups && trellis_options_given(from, option->name) &&
            !trellis_options_given(options, option->name) && strcmp(option->name, "context") != 0) {
            status = trellis_options_set(options, option->name,
                                         trellis_options_get(from, option->name), error);
        }
    }
    return status;
}

trellis_status columns_from_options(const struct arguments *arguments,
                                    trellis_options **ret_options, size_t *ret_folds,
                                    trellis_error *error)
{
    struct first_arguments first;
    bool failed = parse_first(arguments, &first) ||
                  parse_folds(arguments, DEFAULT_FOLDS, ret_folds);
    trellis_status status = failed // they were checked before
                                ? set_error(error, TRELLIS_MEMORY, "out of memory")
                                : trellis_options_copy(first.parsed.options, ret_options, error);
    if (!status) {
        status = inherit(*ret_options, arguments->options, error);
    }
    first_free(&first);
    return status;
}
