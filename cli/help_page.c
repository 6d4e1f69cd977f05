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

static const char about_status[] =
    "0 on success, 1 on failure or bad input, 2 on wrong usage, 130 after an interrupt (Ctrl-C).";

static const char main_examples[] =
    "# train a part-of-speech tagger, with early stopping on held-out data\n"
    "trellis train -f pos --dev dev.txt -m pos.model train.txt\n"
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
    {TRELLIS_GROUP_RUN, "General options"},     {TRELLIS_GROUP_LIMITS, "Limits"},
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
static void write_explanation(FILE *out, const trellis_option *option, const char *default_value)
{
    fputs(option->help, out);
    if (option->type == TRELLIS_CHOICE) {
        fputs(" One of ", out);
        for (const char *at = option->choices; *at; at++) {
            fputs(*at == ' ' ? ", " : (char[]){*at, '\0'}, out);
        }
        fputs(".", out);
    }
    bool is_off = option->type == TRELLIS_FLAG && strcmp(default_value, "yes") != 0;
    if (default_value[0] && !is_off) {
        fprintf(out, " [%s]", default_value);
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

/* The term of an option, to be freed; NULL on allocation failure. */
static char *make_term(char letter, const char *name, const char *placeholder)
{
    struct text_stream term;
    if (!stream_open(&term)) {
        return NULL;
    }
    write_term(term.file, letter, name, placeholder);
    stream_text(&term);
    return term.text;
}

void help_option_write(FILE *out, const struct help_format *format, const trellis_option *option,
                       const char *default_value)
{
    struct text_stream text;
    char *term = make_term(option->letter, option->name, option->placeholder);
    if (term && stream_open(&text)) {
        write_explanation(text.file, option, default_value ? default_value : option->default_value);
        format->item(out, term, stream_text(&text));
        free(text.text);
    }
    free(term);
}

/* Only the first sentence. */
static void write_briefly(FILE *out, const struct help_format *format, char letter,
                          const char *name, const char *placeholder, const char *help)
{
    const char *stop = strstr(help, ". ");
    size_t size = stop ? (size_t)(stop - help) + 1 : strlen(help);
    char *term = make_term(letter, name, placeholder), *sentence = strndup(help, size);
    if (term && sentence) {
        format->item(out, term, sentence);
    }
    free(sentence);
    free(term);
}

static void own_option_write(FILE *out, const struct help_format *format,
                             const struct own_option *own)
{
    char *term = make_term(own->letter, own->name, own->placeholder);
    if (term) {
        format->item(out, term, own->help);
    }
    free(term);
}

static void write_own_options(FILE *out, const struct help_format *format,
                              const struct command *command)
{
    static const struct own_option help = {
        "help", 'h', NULL, "Show the options that most people need; --help-all shows all of them."};
    static const struct own_option only_help = {"help", 'h', NULL, "Show this help."};
    format->heading(out, "Options");
    for (const struct own_option *own = command->own; own && own->name; own++) {
        if (own->help) {
            own_option_write(out, format, own);
        }
    }
    own_option_write(out, format, command->common ? &help : &only_help);
}

/* ---- options of some learners ---------------------------------------------------------------- */

/* Appends the ways to train that take an option: " -t crf", or " -t crf -a sgd". Returns whether
 * all algorithms of the learner are among them. */
static bool list_takers(FILE *out, size_t learner, const char *option, bool *some)
{
    size_t taking = 0, count = 0;
    for (; trellis_learner_algorithm(learner, count); count++) {
        taking += trellis_learner_takes(learner, count, option);
    }
    for (size_t a = 0; a < count; a++) {
        if (trellis_learner_takes(learner, a, option) && (taking < count || a == 0)) {
            fprintf(out, "%s-t %s", *some ? ", " : "", trellis_learner_name(learner));
            if (taking < count) {
                fprintf(out, " -a %s", trellis_learner_algorithm(learner, a));
            }
            *some = true;
        }
    }
    return taking == count;
}

/* The ways to train that take an option of training, to be freed; "" if it is for all of them, or
 * all but one type. */
static char *takers_of(const trellis_option *option)
{
    struct text_stream text;
    bool some = false;
    size_t complete = 0, learners = 0;
    if (!stream_open(&text)) {
        return NULL;
    }
    for (; trellis_learner_name(learners); learners++) {
        complete += list_takers(text.file, learners, option->name, &some);
    }
    stream_text(&text);
    if (text.text && complete + 1 >= learners) {
        text.text[0] = '\0';
    }
    return text.text;
}

/* Whether an option is listed with the options of training. */
static bool is_training_option(const struct command *command, const trellis_option *option)
{
    return command_takes(command, option) && home_group(command, option) == TRELLIS_GROUP_TRAIN;
}

/* The options of training that the same learners take, under one heading each. */
static void write_training_options(FILE *out, const struct help_format *format,
                                   const struct command *command)
{
    size_t count = trellis_option_count();
    char **takers = calloc(count, sizeof *takers);
    for (size_t i = 0; takers && i < count; i++) {
        const trellis_option *option = trellis_option_at(i);
        takers[i] = is_training_option(command, option) ? takers_of(option) : NULL;
    }
    for (size_t i = 0; takers && i < count; i++) {
        bool is_new = takers[i] && takers[i][0];
        for (size_t k = 0; is_new && k < i; k++) {
            is_new = !takers[k] || strcmp(takers[k], takers[i]) != 0;
        }
        if (is_new) {
            char heading[600];
            snprintf(heading, sizeof heading, "Options of %s", takers[i]);
            format->subheading(out, heading);
        }
        for (size_t k = i; is_new && k < count; k++) {
            if (takers[k] && strcmp(takers[k], takers[i]) == 0) {
                help_option_write(out, format, trellis_option_at(k), NULL);
            }
        }
    }
    for (size_t i = 0; takers && i < count; i++) {
        free(takers[i]);
    }
    free(takers);
}

static bool is_for_all(const trellis_option *option)
{
    char *takers = takers_of(option);
    bool all = !takers || !takers[0];
    free(takers);
    return all;
}

static void write_shared_options(FILE *out, const struct help_format *format,
                                 const struct command *command)
{
    for (size_t g = 0; g < GROUP_COUNT; g++) {
        bool headed = false;
        for (size_t i = 0; i < trellis_option_count(); i++) {
            const trellis_option *option = trellis_option_at(i);
            bool training = groups[g].group == TRELLIS_GROUP_TRAIN;
            if (!command_takes(command, option) || home_group(command, option) != groups[g].group ||
                (training && !is_for_all(option))) {
                continue;
            }
            if (!headed) {
                format->heading(out, groups[g].heading);
                headed = true;
            }
            help_option_write(out, format, option, NULL);
        }
        if (groups[g].group == TRELLIS_GROUP_TRAIN && (command->groups & TRELLIS_GROUP_TRAIN)) {
            write_training_options(out, format, command);
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

static void write_title(FILE *out, const struct help_format *format, const struct command *command)
{
    char name[64];
    snprintf(name, sizeof name, "trellis %s", command->name);
    format->title(out, name, command->summary);
    format->heading(out, "Usage");
    write_synopsis(out, format, command);
}

static void write_command_page(FILE *out, const struct help_format *format,
                               const struct command *command)
{
    write_title(out, format, command);
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

/* ---- the short page -------------------------------------------------------------------------- */

/* The first example, without what follows. */
static void write_first_example(FILE *out, const struct help_format *format,
                                const struct command *command)
{
    const char *line = command->examples;
    line += line[0] == '#' ? strcspn(line, "\n") + 1 : 0;
    char *example = strndup(line, strcspn(line, "\n") + 1);
    if (example) {
        format->heading(out, "Example");
        format->verbatim(out, example);
    }
    free(example);
}

static void write_where_the_rest_is(FILE *out, const struct help_format *format,
                                    const struct command *command)
{
    bool trains = command->groups & TRELLIS_GROUP_TRAIN;
    size_t others = 0;
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        others += command_takes(command, option) && !is_listed(command->common, option->name);
    }
    for (const struct own_option *own = command->own; own && own->name; own++) {
        others += own->help && is_listed(command->rare, own->name);
    }
    char text[200];
    snprintf(text, sizeof text, "'trellis %s --help-all' shows %zu more options%s.", command->name,
             others, trains ? "; 'trellis help crf' explains a type" : "");
    fputc('\n', out);
    format->paragraphs(out, text);
}

void help_page_write_short(FILE *out, const struct help_format *format,
                           const struct command *command)
{
    if (!command || !command->common) {
        help_page_write(out, format, command);
        return;
    }
    write_title(out, format, command);
    format->heading(out, "Options");
    for (const struct own_option *own = command->own; own && own->name; own++) {
        if (own->help && !is_listed(command->rare, own->name)) {
            write_briefly(out, format, own->letter, own->name, own->placeholder, own->help);
        }
    }
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        if (is_listed(command->common, option->name)) {
            write_briefly(out, format, option->letter, option->name, option->placeholder,
                          option->help);
        }
    }
    write_first_example(out, format, command);
    write_where_the_rest_is(out, format, command);
}
