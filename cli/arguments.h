/* arguments.h - the arguments of a subcommand, parsed against its option tables.
 *
 * Options are --name value, --name=value, -n value, -nvalue, --flag and --no-flag. "--" ends them;
 * "-" is a path (standard input). Options and paths may be mixed.
 */
#ifndef TRELLIS_CLI_ARGUMENTS_H
#define TRELLIS_CLI_ARGUMENTS_H

#include "command.h"

enum { MAX_OWN_OPTIONS = 16 };

struct arguments {
    const struct command *command;
    trellis_options *options;
    const char *own[MAX_OWN_OPTIONS]; // value, "yes" or "no"; NULL: not given
    const char **paths;               // [path_count], then NULL
    size_t path_count;
    const struct own_option **given_own; // [given_count] own options in the order given,
    const char **given_values;           // and their values
    size_t given_count;
    char **words; // [word_count] as they were given
    int word_count;
    bool help, help_all; // --help or --help-all was given; what follows was not parsed
};

/* Returns EXIT_SUCCESS, or prints an error and returns the exit status. Call arguments_free() in
 * either case. */
int arguments_parse(const struct command *command, int count, char **words,
                    struct arguments *ret_arguments);
void arguments_free(struct arguments *arguments);

/* The value of an own option, NULL if it was not given. */
const char *argument(const struct arguments *arguments, const char *name);
/* The nth value, from 0, of an own option that may be given several times; NULL past the last. */
const char *argument_nth(const struct arguments *arguments, const char *name, size_t n);
/* Whether an own flag was given. */
bool argument_flag(const struct arguments *arguments, const char *name);
/* The paths given, or "-" (standard input) if there are none. */
const char *const *argument_inputs(const struct arguments *arguments, size_t *ret_count);
/* --threads; 0 is replaced by the number of available processors. */
unsigned argument_threads(const struct arguments *arguments);

#endif
