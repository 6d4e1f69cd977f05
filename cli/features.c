/* features.c - `trellis features`: shows what feature templates see. */
#include <string.h>

#include "arguments.h"
#include "message.h"
#include "output_file.h"
#include "for_each_sequence.h"

struct showing {
    trellis_features *features;
    struct output output;
};

static trellis_status show_sequence(void *user, const struct source *source,
                                    const trellis_sequence *sequence, trellis_error *error)
{
    struct showing *showing = user;
    return trellis_features_print(showing->features, source->reader, sequence, output_sink,
                                  &showing->output, error);
}

static trellis_status show_corpus(struct showing *showing, const struct arguments *arguments,
                                  trellis_error *error)
{
    const char *templates = trellis_options_get(arguments->options, "features");
    if (strcmp(templates, "auto") == 0) {
        templates = "general";
    }
    trellis_status status = trellis_features_open(templates, &showing->features, error);
    if (!status) {
        status = visit_sequences(arguments, show_sequence, showing, error);
    }
    trellis_features_destroy(showing->features);
    return status;
}

static trellis_status show_preset(struct showing *showing, const char *name, trellis_error *error)
{
    const char *text = trellis_preset_text(name);
    if (!text) {
        return set_error(error, TRELLIS_OPTION,
                         "there is no preset '%s'; 'trellis features --list' lists them", name);
    }
    return output_sink(&showing->output, text, strlen(text));
}

static int run(const struct arguments *arguments)
{
    struct showing showing = {0};
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    const char *preset = argument(arguments, "show");
    int result = output_open(&showing.output, argument(arguments, "output"));
    if (result != EXIT_SUCCESS) {
        return result;
    }
    if (argument_flag(arguments, "list")) {
        for (size_t i = 0; trellis_preset_name(i); i++) {
            fprintf(showing.output.file, "%s\n", trellis_preset_name(i));
        }
    } else if (argument_flag(arguments, "functions")) {
        fputs(trellis_features_help(), showing.output.file);
    } else if (preset) {
        status = show_preset(&showing, preset, &error);
    } else {
        status = show_corpus(&showing, arguments, &error);
    }
    return output_end(&showing.output, status, &error);
}

static const struct own_option own[] = {
    {"list", 0, NULL, "List the presets."},
    {"show", 0, "PRESET", "Show the templates of a preset, to copy and change."},
    {"functions", 0, NULL, "Show the functions of the template language."},
    {"output", 'o', "FILE", "Write to FILE, which appears when all is done. [-]"},
    {0},
};

const struct command command_features = {
    .name = "features",
    .summary = "show what feature templates see",
    .synopsis = "[-f PRESET|FILE] [OPTION...] [FILE...]\n"
                "--list\n"
                "--show PRESET\n"
                "--functions",
    .description = "Writes the attributes that templates draw from a corpus, one token a line in "
                   "the format of CRFsuite: what a learner would see.",
    .own = own,
    .groups = TRELLIS_GROUP_READ,
    .with = "features",
    .without = "scheme",
    .examples = "trellis features -f chunk train.txt | head\n"
                "# begin templates of your own with those of a preset\n"
                "trellis features --show ner > mine.tpl\n"
                "trellis features -f mine.tpl train.txt | less\n",
    .run = run,
};
