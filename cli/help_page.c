/* help_page.c - the pages of help, made of the tables of subcommands and options and set in any style. */
#include <stdlib.h>
#include <string.h>

#include "help.h"

static const char about[] =
    "Learns to label sequences, such as words with their parts of speech, and labels them: hidden "
    "Markov models, maximum-entropy models, perceptrons and conditional random fields over one "
    "language of features.\n\n"
    "Corpora are read from files, compressed with gzip or zstd or not, or from standard input for "
    "'-'. Results go to standard output; all else that is said goes to standard error.";

static const char about_status[] =
    "0 when all went well, 1 for bad input or a failure, 2 for wrong arguments.";

static const char main_examples[] =
    "# learn a part-of-speech tagger, with held-out data to stop in time\n"
    "trellis train -t crf -f pos --dev dev.txt -m pos.model train.txt\n"
    "# label a file, and see how good the labels are\n"
    "trellis tag -m pos.model test.txt > labelled.txt\n"
    "trellis eval labelled.txt\n";

/* Where the options of the library's table are shown, in the order of the help. */
static const struct {
    unsigned group;
    const char *heading;
} groups[] = {
    {TRELLIS_GROUP_TUNE, "Searching"}, {TRELLIS_GROUP_TRAIN, "Learning"},
    {TRELLIS_GROUP_TAG, "Labelling"},  {TRELLIS_GROUP_EVAL, "Scoring"},
    {TRELLIS_GROUP_SAMPLE, "Drawing"}, {TRELLIS_GROUP_INSPECT, "Showing"},
    {TRELLIS_GROUP_READ, "Input"},     {TRELLIS_GROUP_WRITE, "Output"},
    {TRELLIS_GROUP_RUN, "Running"},
};
enum { GROUP_COUNT = sizeof groups / sizeof *groups };

/* The heading that an option stands under: the first of its groups that the subcommand has, or the
 * first of all for an option that it has by name. */
static unsigned home_group(const struct command *command, const trellis_option *option)
{
    unsigned shared = option->groups & command->groups;
    unsigned among = shared ? shared : option->groups;
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        if (among & groups[i].group) {
            return groups[i].group;
        }
    }
    return 0;
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

/* Its help, the choices it has and the value it begins with. */
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

/* Collects what is printed into a text, to be freed. NULL on allocation failure. */
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

static void option_item(FILE *out, const struct page_style *style, const struct own_option *own,
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
        style->item(out, stream_text(&term), explanation);
        free(text.text);
    } else {
        fclose(term.file);
    }
    free(term.text);
}

static void write_own_options(FILE *out, const struct page_style *style,
                              const struct command *command)
{
    static const struct own_option help = {"help", 'h', NULL, "Show this help."};
    style->heading(out, "Options");
    for (const struct own_option *own = command->own; own && own->name; own++) {
        if (own->help) {
            option_item(out, style, own, NULL);
        }
    }
    option_item(out, style, &help, NULL);
}

static void write_shared_options(FILE *out, const struct page_style *style,
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
                style->heading(out, groups[g].heading);
                headed = true;
            }
            option_item(out, style, NULL, option);
        }
    }
}

static void write_learners(FILE *out, const struct page_style *style)
{
    style->heading(out, "Types");
    for (size_t i = 0; trellis_learner_name(i); i++) {
        style->item(out, trellis_learner_name(i), trellis_learner_help(i));
    }
}

/* "trellis NAME" in front of each line of the synopsis. */
static void write_synopsis(FILE *out, const struct page_style *style, const struct command *command)
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
    style->verbatim(out, stream_text(&text));
    free(text.text);
}

static void write_command_page(FILE *out, const struct page_style *style,
                               const struct command *command)
{
    char name[64];
    snprintf(name, sizeof name, "trellis %s", command->name);
    style->title(out, name, command->summary);
    style->heading(out, "Usage");
    write_synopsis(out, style, command);
    style->heading(out, "Description");
    style->paragraphs(out, command->description);
    write_own_options(out, style, command);
    write_shared_options(out, style, command);
    if (command->groups & TRELLIS_GROUP_TRAIN) {
        write_learners(out, style);
    }
    style->heading(out, "Examples");
    style->verbatim(out, command->examples);
}

static void write_main_page(FILE *out, const struct page_style *style)
{
    style->title(out, "trellis", "learn to label sequences, and label them");
    style->heading(out, "Usage");
    style->verbatim(out, "trellis SUBCOMMAND [OPTION...] [FILE...]\n"
                         "trellis SUBCOMMAND --help\n"
                         "trellis --version\n");
    style->heading(out, "Description");
    style->paragraphs(out, about);
    style->heading(out, "Subcommands");
    for (size_t i = 0; commands[i]; i++) {
        style->item(out, commands[i]->name, commands[i]->summary);
    }
    style->heading(out, "Exit status");
    style->paragraphs(out, about_status);
    style->heading(out, "Examples");
    style->verbatim(out, main_examples);
}

void page_write(FILE *out, const struct page_style *style, const struct command *command)
{
    if (command) {
        write_command_page(out, style, command);
    } else {
        write_main_page(out, style);
    }
}
