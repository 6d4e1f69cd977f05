/* arguments.h - the words behind a subcommand, parsed against its tables.
 *
 * Options are --name value, --name=value, -n value, -nvalue, --flag and --no-flag; "--" ends them, "-"
 * is a path (standard input), and paths may stand anywhere.
 */
#ifndef TRELLIS_CLI_ARGUMENTS_H
#define TRELLIS_CLI_ARGUMENTS_H

#include "command.h"

enum { MAX_OWN_OPTIONS = 16 };

struct arguments {
    const struct command *command;
    trellis_options *options;
    const char *own[MAX_OWN_OPTIONS]; // value, "yes" or "no"; NULL: not given
    const char **paths;               // [path_count], and NULL behind the last
    size_t path_count;
    const struct own_option **given_own; // [given_count] own options in the order of the words,
    const char **given_values;           // with the value of each
    size_t given_count;
    bool help; // --help was given; the words behind it have not been looked at
};

/* Returns EXIT_SUCCESS, or says what is wrong and returns the exit status. arguments_free() is due in
 * either case. */
int arguments_parse(const struct command *command, int count, char **words,
                    struct arguments *ret_arguments);
void arguments_free(struct arguments *arguments);

/* The value of an own option, NULL where it was not given. */
const char *argument(const struct arguments *arguments, const char *name);
/* The values of an own option that may be given several times, from 0; NULL behind the last. */
const char *argument_nth(const struct arguments *arguments, const char *name, size_t n);
/* Whether an own flag was given. */
bool argument_flag(const struct arguments *arguments, const char *name);
/* The paths given, or "-" for standard input where there are none. */
const char *const *argument_inputs(const struct arguments *arguments, size_t *ret_count);
/* --threads, with the number of processors in the place of 0. */
unsigned argument_threads(const struct arguments *arguments);

#endif
