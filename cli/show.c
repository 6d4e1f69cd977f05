/* show.c - `trellis show`: the trellis of a sequence as a picture. */
#include <stdlib.h>

#include "message.h"
#include "output_file.h"
#include "input_selection.h"

struct showing {
    trellis_tagger *tagger;
    struct output output;
    size_t top;
};

static trellis_status show_sequence(void *user, const struct source *source,
                                    const trellis_sequence *sequence, trellis_error *error)
{
    struct showing *showing = user;
    trellis_status status = source->reader
                                ? trellis_tagger_bind(showing->tagger, source->reader, error)
                                : TRELLIS_OK;
    if (!status) {
        status = trellis_draw(showing->tagger, sequence, showing->top, output_sink,
                              &showing->output, error);
    }
    return status;
}

static int run(const struct arguments *arguments)
{
    const char *path = argument(arguments, "model");
    struct showing showing = {
        .top = strtoull(trellis_options_get(arguments->options, "top"), NULL, 10),
    };
    trellis_model *model = NULL;
    trellis_error error = {0};
    if (!path) {
        return usage_error(arguments->command, "-m is missing: the model to label with");
    }
    trellis_status status = trellis_model_open(path, &model, &error);
    if (!status) {
        status = trellis_tagger_create(model, arguments->options, &showing.tagger, &error);
    }
    int result = status ? failure(status, &error)
                        : output_open(&showing.output, argument(arguments, "output"));
    if (result == EXIT_SUCCESS) {
        status = visit_sentences(arguments, true, show_sequence, &showing, &error);
        result = output_end(&showing.output, status, &error);
    }
    trellis_tagger_destroy(showing.tagger);
    trellis_model_close(model);
    return result;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "The model."},
    OWN_WORDS,
    {"output", 'o', "FILE", "Write to FILE, which appears when all is done. [-]"},
    {0},
};

const struct command command_show = {
    .name = "show",
    .summary = "draw the trellis of a sequence",
    .synopsis = "-m MODEL [OPTION...] [FILE...] > FILE.svg\n"
                "-m MODEL --words TEXT [OPTION...] > FILE.svg",
    .description =
        "Labels one short sequence and draws its trellis as SVG, which every browser shows: a "
        "column for each token, a row for each label that is on the best path or among the "
        "--top most probable ones. States are shaded by their probability, steps are as wide "
        "as theirs, and the best path lies on top with the scores of its steps. Point at a "
        "state or a step to see its figures.\n\n"
        "For a model without probabilities those of exp(score) / Z are drawn.",
    .own = own,
    .groups = TRELLIS_GROUP_INSPECT | TRELLIS_GROUP_READ,
    .with = "constrain decode beam",
    .examples = "trellis show -m pos.model --words 'The old man the boats .' > boats.svg\n"
                "trellis show -m chunk.model --sequence 3 -o third.svg test.txt\n",
    .run = run,
};
