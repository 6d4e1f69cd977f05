/* command.h - the description of a subcommand: its arguments are parsed from it, and its help,
 * manual page and completion are generated from it. */
#ifndef TRELLIS_CLI_COMMAND_H
#define TRELLIS_CLI_COMMAND_H

#include <stdlib.h>

#include "trellis.h"

/* Exit statuses: EXIT_SUCCESS, EXIT_FAILURE, 2 for usage errors, and as shells have it 128 plus the
 * number of the signal that ended the command (130 for Ctrl-C). */
enum { EXIT_USAGE = 2, EXIT_SIGNAL = 128 };

/* An option of one subcommand, not in the library's option table. */
struct own_option {
    const char *name;        // NULL ends the list
    char letter;             // or 0
    const char *placeholder; // NULL for a flag
    const char *help;        // NULL hides it
};

#define OWN_OUTPUT                                                                                 \
    {                                                                                              \
        "output", 'o', "FILE", "Write to FILE, atomically. [-]"                                    \
    }

struct arguments;

struct command {
    const char *name;
    const char *summary;          // a few words
    const char *synopsis;         // lines, each to be preceded by "trellis NAME"
    const char *description;      // paragraphs, separated by empty lines
    const struct own_option *own; // or NULL
    unsigned groups;              // TRELLIS_GROUP_*: takes these options of the library,
    const char *with;             // also these, separated by blanks, or NULL,
    const char *without;          // but not these, or NULL
    const char *common;   // options of the library for the short help; NULL: there is one page
    const char *rare;     // own options that the short help leaves out, or NULL
    const char *writes;   // own options beside --output that name a file to write, or NULL
    const char *examples; // lines: "# comment", then the command
    int (*run)(const struct arguments *arguments);
};

/* In the order of the help, then NULL. */
extern const struct command *const commands[];

extern const struct command command_train, command_tag, command_eval, command_compare, command_cv,
    command_tune, command_cluster, command_check, command_convert, command_features,
    command_presets, command_info, command_inspect, command_explain, command_show, command_report,
    command_export, command_import, command_sample, command_serve, command_help, command_version;

/* NULL if there is none of that name. */
const struct command *command_find(const char *name);
/* Whether a list of words, separated by blanks, has this one; the list may be NULL. */
bool is_listed(const char *list, const char *word);
/* Whether a subcommand takes an option of the library. */
bool command_takes(const struct command *command, const trellis_option *option);

#endif
