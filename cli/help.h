/* help.h - everything that is written from the tables: help, manual pages, completion. */
#ifndef TRELLIS_CLI_HELP_H
#define TRELLIS_CLI_HELP_H

#include <stdio.h>

#include "command.h"

/* How the parts of a page are set. Texts are plain; a style marks them up as it needs. */
struct page_style {
    void (*title)(FILE *out, const char *name, const char *summary);
    void (*heading)(FILE *out, const char *text);
    void (*paragraphs)(FILE *out, const char *text); // separated by empty lines
    void (*item)(FILE *out, const char *term, const char *text);
    void (*verbatim)(FILE *out, const char *text); // lines that are kept as they are
};

extern const struct page_style style_plain, style_manual, style_markdown;

/* The page of a subcommand, or of the whole command for NULL. */
void page_write(FILE *out, const struct page_style *style, const struct command *command);

/* A script for bash. */
void completion_write(FILE *out);

/* Writes the plain page to standard output and returns the exit status. */
int help_show(const struct command *command);

#endif
