/* arguments.c - parses the arguments of a subcommand against its option tables. */
#include "arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

/* ---- the options of a subcommand ------------------------------------------------------------- */

bool is_listed(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; at && *at;) {
        size_t step = strcspn(at, " ");
        if (step == size && strncmp(at, word, size) == 0) {
            return true;
        }
        at += step;
        at += *at == ' ';
    }
    return false;
}

bool command_takes(const struct command *command, const trellis_option *option)
{
    return is_listed(command->with, option->name) ||
           ((option->groups & command->groups) && !is_listed(command->without, option->name));
}

/* One option, from either table. */
struct known {
    const struct own_option *own;
    const trellis_option *shared;
};

static bool is_known(struct known known)
{
    return known.own || known.shared;
}

static bool is_flag(struct known known)
{
    return known.own ? !known.own->placeholder : known.shared->type == TRELLIS_FLAG;
}

/* By name where `name` is not NULL, else by letter. */
static struct known find_option(const struct command *command, const char *name, size_t size,
                                char letter)
{
    for (const struct own_option *own = command->own; own && own->name; own++) {
        if (name ? strlen(own->name) == size && strncmp(own->name, name, size) == 0
                 : own->letter == letter) {
            return (struct known){.own = own};
        }
    }
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        bool same = name ? strlen(option->name) == size && strncmp(option->name, name, size) == 0
                         : option->letter == letter;
        if (same && command_takes(command, option)) {
            return (struct known){.shared = option};
        }
    }
    return (struct known){0};
}

/* The value that follows an option, to be repeated in a suggestion; "" if there is none. `next` is
 * the word behind, or NULL. */
static const char *value_behind(const struct command *command, const char *name, const char *word,
                                const char *next)
{
    struct known known = find_option(command, name, strlen(name), 0);
    const char *equals = strchr(word, '=');
    bool valued = is_known(known) && !is_flag(known);
    const char *value = equals ? equals + 1 : next && next[0] != '-' ? next : "";
    return valued ? value : "";
}

static int unknown_option(const struct command *command, const char *word, const char *next)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    trellis_suggestion suggestion = {.struct_size = sizeof suggestion, .asked = name};
    for (const struct own_option *own = command->own; own && own->name; own++) {
        if (own->help) {
            trellis_suggest(&suggestion, own->name);
        }
    }
    for (size_t i = 0; i < trellis_option_count(); i++) {
        if (command_takes(command, trellis_option_at(i))) {
            trellis_suggest(&suggestion, trellis_option_at(i)->name);
        }
    }
    if (suggestion.nearest) {
        const char *value = value_behind(command, suggestion.nearest, word, next);
        return usage_error(command, "unknown option '--%s'; did you mean '--%s%s%.200s'?", name,
                           suggestion.nearest, *value ? " " : "", value);
    }
    if (trellis_option_find(name)) {
        return usage_error(command, "option '--%s' does not apply to 'trellis %s'", name,
                           command->name);
    }
    return usage_error(command, "unknown option '--%s'", name);
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* The arguments not parsed yet. */
struct words {
    char **at, **end;
};

static int set_value(struct arguments *arguments, struct known known, const char *value)
{
    if (known.own) {
        arguments->own[known.own - arguments->command->own] = value;
        arguments->given_own[arguments->given_count] = known.own;
        arguments->given_values[arguments->given_count++] = value;
        return EXIT_SUCCESS;
    }
    trellis_error error = {0};
    if (trellis_options_set(arguments->options, known.shared->name, value, &error)) {
        return usage_error(arguments->command, "%s", error.message);
    }
    return EXIT_SUCCESS;
}

/* `value` is the text after '=' or after the letter, or NULL. */
static int set_option(struct arguments *arguments, struct known known, const char *shown,
                      const char *value, struct words *words)
{
    if (is_flag(known)) {
        return value ? usage_error(arguments->command, "option '%s' takes no value", shown)
                     : set_value(arguments, known, "yes");
    }
    if (!value) {
        if (words->at == words->end) {
            return usage_error(arguments->command, "option '%s' needs a value", shown);
        }
        value = *words->at++;
    }
    return set_value(arguments, known, value);
}

static int parse_long(struct arguments *arguments, const char *word, struct words *words)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t size = equals ? (size_t)(equals - name) : strlen(name);
    struct known known = find_option(arguments->command, name, size, 0);
    if (is_known(known)) {
        char shown[64];
        snprintf(shown, sizeof shown, "--%.*s", (int)size, name);
        return set_option(arguments, known, shown, equals ? equals + 1 : NULL, words);
    }
    if (!equals && strncmp(name, "no-", 3) == 0) {
        known = find_option(arguments->command, name + 3, size - 3, 0);
        if (is_known(known) && is_flag(known)) {
            return set_value(arguments, known, "no");
        }
    }
    return unknown_option(arguments->command, word, words->at < words->end ? *words->at : NULL);
}

/* -m FILE, -mFILE; flags may be joined, as in -qm FILE. */
static int parse_short(struct arguments *arguments, const char *word, struct words *words)
{
    int result = EXIT_SUCCESS;
    for (const char *letter = word + 1; *letter && result == EXIT_SUCCESS; letter++) {
        char shown[3] = {'-', *letter, '\0'};
        if (*letter == 'h') {
            arguments->help = true;
            return EXIT_SUCCESS;
        }
        struct known known = find_option(arguments->command, NULL, 0, *letter);
        if (!is_known(known)) {
            return usage_error(arguments->command, "unknown option '%s'", shown);
        }
        if (!is_flag(known)) {
            return set_option(arguments, known, shown, letter[1] ? letter + 1 : NULL, words);
        }
        result = set_option(arguments, known, shown, NULL, words);
    }
    return result;
}

static int parse_words(struct arguments *arguments, struct words words)
{
    bool options_ended = false;
    int result = EXIT_SUCCESS;
    while (words.at < words.end && result == EXIT_SUCCESS && !arguments->help) {
        const char *word = *words.at++;
        if (options_ended || word[0] != '-' || word[1] == '\0') {
            arguments->paths[arguments->path_count++] = word;
        } else if (strcmp(word, "--") == 0) {
            options_ended = true;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "--help-all") == 0) {
            arguments->help = true;
            arguments->help_all = word[strlen("--help")] != '\0';
        } else if (word[1] == '-') {
            result = parse_long(arguments, word, &words);
        } else {
            result = parse_short(arguments, word, &words);
        }
    }
    return result;
}

int arguments_parse(const struct command *command, int count, char **words,
                    struct arguments *ret_arguments)
{
    *ret_arguments = (struct arguments){.command = command, .words = words, .word_count = count};
    trellis_error error = {0};
    trellis_status status = trellis_options_create(&ret_arguments->options, &error);
    ret_arguments->paths = calloc((size_t)count + 1, sizeof *ret_arguments->paths);
    ret_arguments->given_own = calloc((size_t)count + 1, sizeof *ret_arguments->given_own);
    ret_arguments->given_values = calloc((size_t)count + 1, sizeof *ret_arguments->given_values);
    if (status || !ret_arguments->paths || !ret_arguments->given_own ||
        !ret_arguments->given_values) {
        return failure(TRELLIS_MEMORY, &error);
    }
    return parse_words(ret_arguments, (struct words){words, words + count});
}

void arguments_free(struct arguments *arguments)
{
    trellis_options_destroy(arguments->options);
    free(arguments->paths);
    free(arguments->given_own);
    free(arguments->given_values);
}

/* ---- queries --------------------------------------------------------------------------------- */

const char *argument(const struct arguments *arguments, const char *name)
{
    const struct own_option *own = arguments->command->own;
    for (size_t i = 0; own && own[i].name; i++) {
        if (strcmp(own[i].name, name) == 0) {
            return arguments->own[i];
        }
    }
    return NULL;
}

const char *argument_nth(const struct arguments *arguments, const char *name, size_t n)
{
    for (size_t i = 0; i < arguments->given_count; i++) {
        if (strcmp(arguments->given_own[i]->name, name) == 0 && n-- == 0) {
            return arguments->given_values[i];
        }
    }
    return NULL;
}

bool argument_flag(const struct arguments *arguments, const char *name)
{
    const char *value = argument(arguments, name);
    return value && strcmp(value, "yes") == 0;
}

const char *const *argument_inputs(const struct arguments *arguments, size_t *ret_count)
{
    static const char *const standard_input[] = {"-", NULL};
    *ret_count = arguments->path_count ? arguments->path_count : 1;
    return arguments->path_count ? (const char *const *)arguments->paths : standard_input;
}

unsigned argument_threads(const struct arguments *arguments)
{
    unsigned long threads = strtoul(trellis_options_get(arguments->options, "threads"), NULL, 10);
    return threads ? (unsigned)threads : trellis_processor_count();
}
