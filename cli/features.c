/* features.c - `trellis features`: shows the attributes that feature templates extract. */
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "message.h"
#include "output_file.h"
#include "for_each_sequence.h"

struct listing {
    trellis_features *features;
    struct output output;
};

static trellis_status show_sequence(void *user, const struct source *source,
                                    const trellis_sequence *sequence, trellis_error *error)
{
    struct listing *listing = user;
    return trellis_features_print(listing->features, source->reader, sequence, output_sink,
                                  &listing->output, error);
}

static trellis_status show_corpus(struct listing *listing, const struct arguments *arguments,
                                  trellis_error *error)
{
    const char *templates = trellis_options_get(arguments->options, "features");
    if (strcmp(templates, "auto") == 0) {
        templates = "general";
    }
    trellis_status status = trellis_features_open(templates, &listing->features, error);
    size_t window = trellis_features_context(listing->features);
    if (!status && window && !trellis_options_given(arguments->options, "context")) {
        char number[24];
        snprintf(number, sizeof number, "%zu", window);
        status = trellis_options_set(arguments->options, "context", number, error);
    }
    if (!status) {
        status = for_each_sequence(arguments, show_sequence, listing, error);
    }
    trellis_features_destroy(listing->features);
    return status;
}

static int run(const struct arguments *arguments)
{
    struct listing listing = {0};
    trellis_error error = {0};
    trellis_status status = TRELLIS_OK;
    int result = output_open(&listing.output, argument(arguments, "output"));
    if (result != EXIT_SUCCESS) {
        return result;
    }
    if (argument_flag(arguments, "functions")) {
        fputs(trellis_features_help(), listing.output.file);
    } else {
        status = show_corpus(&listing, arguments, &error);
    }
    return output_end(&listing.output, status, &error);
}

static const struct own_option own[] = {
    {"functions", 0, NULL, "List the functions of the template language."},
    OWN_OUTPUT,
    {0},
};

const struct command command_features = {
    .name = "features",
    .summary = "show the attributes that feature templates extract",
    .synopsis = "[-f PRESET|FILE] [OPTION...] [FILE...]\n"
                "--functions",
    .description =
        "Writes the attributes that templates extract from a corpus, one token per line in "
        "the format of CRFsuite: the input of the learner.",
    .own = own,
    .groups = TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS,
    .with = "features",
    .without = "scheme",
    .common = "features format columns label",
    .examples = "trellis features -f chunk train.txt | head\n"
                "# your own templates, which may begin as a preset\n"
                "trellis presets --show ner > mine.tpl\n"
                "trellis features -f mine.tpl train.txt | less\n",
    .run = run,
};
