/* command.h - what a subcommand is: one table entry from which its arguments are parsed and its help,
 * manual page and completion are written. */
#ifndef TRELLIS_CLI_COMMAND_H
#define TRELLIS_CLI_COMMAND_H

#include <stdlib.h>

#include "trellis.h"

/* Exit statuses: EXIT_SUCCESS, EXIT_FAILURE, and 2 for a command line that cannot be understood. */
enum { EXIT_USAGE = 2 };

/* An option of one subcommand, beside those of the library's table. */
struct own_option {
    const char *name;        // NULL ends a list
    char letter;             // or 0
    const char *placeholder; // NULL for a flag
    const char *help;        // NULL hides it
};

struct arguments;

struct command {
    const char *name;
    const char *summary;          // a few words
    const char *synopsis;         // lines, each behind "trellis NAME"
    const char *description;      // paragraphs, separated by empty lines
    const struct own_option *own; // or NULL
    unsigned groups;              // TRELLIS_GROUP_*: these options of the library,
    const char *with;             // and these, separated by blanks, or NULL,
    const char *without;          // but not these, or NULL
    const char *examples;         // lines: "# why" and the command under it
    int (*run)(const struct arguments *arguments);
};

/* In the order of the help; NULL behind the last. */
extern const struct command *const commands[];

extern const struct command command_train, command_tag, command_eval, command_compare, command_cv,
    command_tune, command_convert, command_features, command_info, command_inspect, command_explain,
    command_show, command_report, command_export, command_import, command_sample, command_help,
    command_version;

/* NULL where there is none of that name. */
const struct command *command_find(const char *name);
/* Whether an option of the library is one of this subcommand. */
bool command_takes(const struct command *command, const trellis_option *option);

#endif
