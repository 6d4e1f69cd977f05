/* help_format.c - how pages are set: as plain text for a terminal, as a manual page in roff, and as
 * Markdown for docs/cli.md. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "help.h"

/* ---- plain text ----------------------------------------------------------------------------- */

enum { WIDTH = 80, TERM_INDENT = 2, TEXT_INDENT = 28 };

/* Writes words and breaks lines before WIDTH; `column` is where the line stands. */
static void wrap(FILE *out, const char *text, size_t size, int column, int indent)
{
    const char *end = text + size;
    bool first = true;
    while (text < end) {
        size_t word = strcspn(text, " \n");
        word = word < (size_t)(end - text) ? word : (size_t)(end - text);
        if (!first && column + 1 + (int)word > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, word, out);
        column += (int)word;
        first = false;
        text += word;
        text += text < end;
    }
    fputc('\n', out);
}

static void plain_title(FILE *out, const char *name, const char *summary)
{
    fprintf(out, "%s - %s\n", name, summary);
}

static void plain_heading(FILE *out, const char *text)
{
    fprintf(out, "\n%s:\n", text);
}

static void plain_paragraphs(FILE *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t size = end ? (size_t)(end - text) : strlen(text);
        fprintf(out, "%*s", TERM_INDENT, "");
        wrap(out, text, size, TERM_INDENT, TERM_INDENT);
        text += size;
        if (end) {
            fputc('\n', out);
            text += 2;
        }
    }
}

static void plain_item(FILE *out, const char *term, const char *text)
{
    int column = fprintf(out, "%*s%s", TERM_INDENT, "", term);
    if (column + 2 > TEXT_INDENT) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", TEXT_INDENT - column, "");
    wrap(out, text, strlen(text), TEXT_INDENT, TEXT_INDENT);
}

static void plain_verbatim(FILE *out, const char *text)
{
    while (*text) {
        int size = (int)strcspn(text, "\n");
        fprintf(out, "%*s%.*s\n", TERM_INDENT, "", size, text);
        text += size;
        text += *text == '\n';
    }
}

const struct page_style style_plain = {plain_title, plain_heading, plain_paragraphs, plain_item,
                                       plain_verbatim};

/* ---- roff ----------------------------------------------------------------------------------- */

/* Text in which nothing is a request or an escape, and a dash is the dash of an option. */
static void roff_text(FILE *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if ((i == 0 || text[i - 1] == '\n') && (text[i] == '.' || text[i] == '\'')) {
            fputs("\\&", out);
        }
        if (text[i] == '\\') {
            fputs("\\e", out);
        } else if (text[i] == '-') {
            fputs("\\-", out);
        } else {
            fputc(text[i], out);
        }
    }
}

static void roff_upper(FILE *out, const char *text)
{
    for (; *text; text++) {
        fputc(*text == ' ' ? '-' : toupper((unsigned char)*text), out);
    }
}

static void roff_title(FILE *out, const char *name, const char *summary)
{
    fputs(".\\\" Written by 'trellis help --man'; do not edit.\n.TH ", out);
    roff_upper(out, name);
    fprintf(out, " 1 \"\" \"Trellis %s\" \"User Commands\"\n.SH NAME\n", trellis_version());
    const char *blank = strchr(name, ' ');
    int first = blank ? (int)(blank - name) : (int)strlen(name);
    fprintf(out, "%.*s%s%s \\- ", first, name, blank ? "\\-" : "", blank ? blank + 1 : "");
    roff_text(out, summary, strlen(summary));
    fputc('\n', out);
}

static void roff_heading(FILE *out, const char *text)
{
    fputs(".SH ", out);
    bool usage = strcmp(text, "Usage") == 0;
    for (text = usage ? "Synopsis" : text; *text; text++) {
        fputc(toupper((unsigned char)*text), out);
    }
    fputc('\n', out);
}

static void roff_paragraphs(FILE *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t size = end ? (size_t)(end - text) : strlen(text);
        roff_text(out, text, size);
        fputs(end ? "\n.PP\n" : "\n", out);
        text += size + (end ? 2 : 0);
    }
}

static void roff_item(FILE *out, const char *term, const char *text)
{
    term += strspn(term, " ");
    fputs(".TP\n\\fB", out);
    roff_text(out, term, strlen(term));
    fputs("\\fR\n", out);
    roff_text(out, text, strlen(text));
    fputc('\n', out);
}

static void roff_verbatim(FILE *out, const char *text)
{
    fputs(".nf\n", out);
    roff_text(out, text, strlen(text));
    fputs(".fi\n", out);
}

const struct page_style style_manual = {roff_title, roff_heading, roff_paragraphs, roff_item,
                                        roff_verbatim};

/* ---- Markdown ------------------------------------------------------------------------------- */

static void markdown_text(FILE *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (strchr("<>*_|[]`", text[i])) {
            fputc('\\', out);
        }
        fputc(text[i], out);
    }
}

static void markdown_title(FILE *out, const char *name, const char *summary)
{
    fprintf(out, "\n## %s\n\n", name);
    fputc(toupper((unsigned char)summary[0]), out);
    markdown_text(out, summary + 1, strlen(summary + 1));
    fputs(".\n", out);
}

static void markdown_heading(FILE *out, const char *text)
{
    fprintf(out, "\n**%s**\n\n", text);
}

static void markdown_paragraphs(FILE *out, const char *text)
{
    markdown_text(out, text, strlen(text));
    fputc('\n', out);
}

static void markdown_item(FILE *out, const char *term, const char *text)
{
    fprintf(out, "- `%s`: ", term + strspn(term, " "));
    markdown_text(out, text, strlen(text));
    fputc('\n', out);
}

static void markdown_verbatim(FILE *out, const char *text)
{
    fprintf(out, "```\n%s```\n", text);
}

const struct page_style style_markdown = {markdown_title, markdown_heading, markdown_paragraphs,
                                          markdown_item, markdown_verbatim};
