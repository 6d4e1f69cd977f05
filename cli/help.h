/* help.h - what is generated from the tables: help, manual pages, docs/cli.md, completion. */
#ifndef TRELLIS_CLI_HELP_H
#define TRELLIS_CLI_HELP_H

#include <stdio.h>

#include "command.h"

/* How the parts of a page are written. Texts are plain; a format adds its own markup. */
struct help_format {
    void (*title)(FILE *out, const char *name, const char *summary);
    void (*heading)(FILE *out, const char *text);
    void (*paragraphs)(FILE *out, const char *text); // separated by empty lines
    void (*item)(FILE *out, const char *term, const char *text);
    void (*verbatim)(FILE *out, const char *text); // lines
};

extern const struct help_format help_plain, help_man, help_markdown;

/* The page of a subcommand; NULL is the main page. */
void help_page_write(FILE *out, const struct help_format *format, const struct command *command);

/* A completion script for bash. */
void completion_write(FILE *out);

/* Writes the page as plain text to standard output; returns the exit status. */
int help_show(const struct command *command);

#endif
