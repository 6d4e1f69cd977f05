/* help.h - what is generated from the tables: help, manual pages, docs/cli.md, completion. */
#ifndef TRELLIS_CLI_HELP_H
#define TRELLIS_CLI_HELP_H

#include <stdio.h>

#include "command.h"

/* How the parts of a page are written. Texts are plain; a format adds its own markup. */
struct help_format {
    void (*title)(FILE *out, const char *name, const char *summary);
    void (*heading)(FILE *out, const char *text);
    void (*subheading)(FILE *out, const char *text);
    void (*paragraphs)(FILE *out, const char *text); // separated by empty lines
    void (*item)(FILE *out, const char *term, const char *text);
    void (*verbatim)(FILE *out, const char *text); // lines
};

extern const struct help_format help_plain, help_man, help_markdown;

/* The page of a subcommand with all its options; NULL is the main page. */
void help_page_write(FILE *out, const struct help_format *format, const struct command *command);
/* The page that fits a screen: the options most people need, and where the rest is. */
void help_page_write_short(FILE *out, const struct help_format *format,
                           const struct command *command);
/* The page of a learner, by its number. */
void help_page_write_learner(FILE *out, const struct help_format *format, size_t learner);

/* The page of trellis-mpi. */
void help_page_write_mpi(FILE *out, const struct help_format *format);

/* An option of the library with its explanation and its default, NULL for that of the table. */
void help_option_write(FILE *out, const struct help_format *format, const trellis_option *option,
                       const char *default_value);

/* The shells that there are completion scripts for; NULL beyond the last. */
const char *completion_shell(size_t index);
/* Writes the completion script for a shell; false if it is not one of them. */
bool completion_write(FILE *out, const char *shell);

/* Writes the page of --help or --help-all to standard output; returns the exit status. Without a
 * command it is the main page, or in trellis-mpi its own. */
int help_show(const struct command *command, bool all);

#endif
