/* help_page.c - help pages, generated from the tables of subcommands and options in any format. */
#include <stdlib.h>
#include <string.h>

#include "help.h"

static const char about[] =
    "Trains and applies sequence labelling models, for tasks such as part-of-speech tagging, "
    "chunking and named-entity recognition: conditional random fields, structured perceptrons and "
    "support vector machines, hidden Markov models and maximum-entropy models, all with the same "
    "feature templates.\n\n"
    "Corpora are read from files, which may be compressed with gzip or zstd; '-' is standard "
    "input. Results go to standard output, messages to standard error.";

static const char about_status[] = "0 on success, 1 on failure or bad input, 2 on wrong usage.";

static const char main_examples[] =
    "# train a part-of-speech tagger, with early stopping on held-out data\n"
    "trellis train -t crf -f pos --dev dev.txt -m pos.model train.txt\n"
    "# tag a file and score the predictions\n"
    "trellis tag -m pos.model test.txt > tagged.txt\n"
    "trellis eval tagged.txt\n";

/* The headings of the library's options, in the order of the help. */
static const struct {
    unsigned group;
    const char *heading;
} groups[] = {
    {TRELLIS_GROUP_TUNE, "Search options"},     {TRELLIS_GROUP_TRAIN, "Training options"},
    {TRELLIS_GROUP_TAG, "Tagging options"},     {TRELLIS_GROUP_EVAL, "Evaluation options"},
    {TRELLIS_GROUP_SAMPLE, "Sampling options"}, {TRELLIS_GROUP_INSPECT, "Display options"},
    {TRELLIS_GROUP_READ, "Input options"},      {TRELLIS_GROUP_WRITE, "Output options"},
    {TRELLIS_GROUP_RUN, "General options"},
};
enum { GROUP_COUNT = sizeof groups / sizeof *groups };

/* The group under which an option is listed: the first of its groups that the subcommand takes, or
 * its last group if the subcommand takes it by name. */
static unsigned home_group(const struct command *command, const trellis_option *option)
{
    unsigned shared = option->groups & command->groups;
    unsigned among = shared ? shared : option->groups;
    unsigned home = 0;
    for (size_t i = 0; i < GROUP_COUNT && !(home && shared); i++) {
        if (among & groups[i].group) {
            home = groups[i].group;
        }
    }
    return home;
}

static void write_term(FILE *out, char letter, const char *name, const char *placeholder)
{
    if (letter) {
        fprintf(out, "-%c, ", letter);
    } else {
        fputs("    ", out);
    }
    fprintf(out, "--%s", name);
    if (placeholder) {
        fprintf(out, " %s", placeholder);
    }
}

/* The help text, the choices and the default. */
static void write_explanation(FILE *out, const trellis_option *option)
{
    fputs(option->help, out);
    if (option->type == TRELLIS_CHOICE) {
        fputs(" One of ", out);
        for (const char *at = option->choices; *at; at++) {
            fputs(*at == ' ' ? ", " : (char[]){*at, '\0'}, out);
        }
        fputs(".", out);
    }
    bool is_off = option->type == TRELLIS_FLAG && strcmp(option->default_value, "yes") != 0;
    if (option->default_value[0] && !is_off) {
        fprintf(out, " [%s]", option->default_value);
    }
}

/* A stream into memory. */
struct text_stream {
    FILE *file;
    char *text;
    size_t size;
};

static bool stream_open(struct text_stream *stream)
{
    *stream = (struct text_stream){0};
    stream->file = open_memstream(&stream->text, &stream->size);
    return stream->file;
}

static const char *stream_text(struct text_stream *stream)
{
    fclose(stream->file);
    return stream->text ? stream->text : "";
}

static void option_item(FILE *out, const struct help_format *format, const struct own_option *own,
                        const trellis_option *option)
{
    struct text_stream term, text;
    if (!stream_open(&term)) {
        return;
    }
    if (stream_open(&text)) {
        if (own) {
            write_term(term.file, own->letter, own->name, own->placeholder);
            fputs(own->help, text.file);
        } else {
            write_term(term.file, option->letter, option->name, option->placeholder);
            write_explanation(text.file, option);
        }
        const char *explanation = stream_text(&text);
        format->item(out, stream_text(&term), explanation);
        free(text.text);
    } else {
        fclose(term.file);
    }
    free(term.text);
}

static void write_own_options(FILE *out, const struct help_format *format,
                              const struct command *command)
{
    static const struct own_option help = {"help", 'h', NULL, "Show this help."};
    format->heading(out, "Options");
    for (const struct own_option *own = command->own; own && own->name; own++) {
        if (own->help) {
            option_item(out, format, own, NULL);
        }
    }
    option_item(out, format, &help, NULL);
}

static void write_shared_options(FILE *out, const struct help_format *format,
                                 const struct command *command)
{
    for (size_t g = 0; g < GROUP_COUNT; g++) {
        bool headed = false;
        for (size_t i = 0; i < trellis_option_count(); i++) {
            const trellis_option *option = trellis_option_at(i);
            if (!command_takes(command, option) || home_group(command, option) != groups[g].group) {
                continue;
            }
            if (!headed) {
                format->heading(out, groups[g].heading);
                headed = true;
            }
            option_item(out, format, NULL, option);
        }
    }
}

static void write_learners(FILE *out, const struct help_format *format)
{
    format->heading(out, "Types");
    for (size_t i = 0; trellis_learner_name(i); i++) {
        format->item(out, trellis_learner_name(i), trellis_learner_help(i));
    }
}

/* Puts "trellis NAME" before each line of the synopsis. */
static void write_synopsis(FILE *out, const struct help_format *format,
                           const struct command *command)
{
    struct text_stream text;
    if (!stream_open(&text)) {
        return;
    }
    const char *line = command->synopsis;
    do {
        size_t size = strcspn(line, "\n");
        fprintf(text.file, "trellis %s%s%.*s\n", command->name, size ? " " : "", (int)size, line);
        line += size;
        line += *line == '\n';
    } while (*line);
    format->verbatim(out, stream_text(&text));
    free(text.text);
}

static void write_command_page(FILE *out, const struct help_format *format,
                               const struct command *command)
{
    char name[64];
    snprintf(name, sizeof name, "trellis %s", command->name);
    format->title(out, name, command->summary);
    format->heading(out, "Usage");
    write_synopsis(out, format, command);
    format->heading(out, "Description");
    format->paragraphs(out, command->description);
    write_own_options(out, format, command);
    write_shared_options(out, format, command);
    if (command->groups & TRELLIS_GROUP_TRAIN) {
        write_learners(out, format);
    }
    format->heading(out, "Examples");
    format->verbatim(out, command->examples);
}

static void write_main_page(FILE *out, const struct help_format *format)
{
    format->title(out, "trellis", "sequence labelling: train models, tag, evaluate");
    format->heading(out, "Usage");
    format->verbatim(out, "trellis SUBCOMMAND [OPTION...] [FILE...]\n"
                          "trellis SUBCOMMAND --help\n"
                          "trellis --version\n");
    format->heading(out, "Description");
    format->paragraphs(out, about);
    format->heading(out, "Subcommands");
    for (size_t i = 0; commands[i]; i++) {
        format->item(out, commands[i]->name, commands[i]->summary);
    }
    format->heading(out, "Exit status");
    format->paragraphs(out, about_status);
    format->heading(out, "Examples");
    format->verbatim(out, main_examples);
}

void help_page_write(FILE *out, const struct help_format *format, const struct command *command)
{
    if (command) {
        write_command_page(out, format, command);
    } else {
        write_main_page(out, format);
    }
}
