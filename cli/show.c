/* show.c - `trellis show`: draws the trellis of a sequence. */
#include <stdlib.h>

#include "message.h"
#include "model_file.h"
#include "model_input.h"
#include "output_file.h"
#include "input_selection.h"

struct drawing {
    const trellis_model *model;
    const trellis_options *options;
    trellis_tagger *tagger;
    struct output output;
    size_t top;
};

static trellis_status draw_sequence(void *user, const struct source *source,
                                    const trellis_sequence *sequence, trellis_error *error)
{
    struct drawing *drawing = user;
    trellis_status status = source->reader
                                ? trellis_tagger_bind(drawing->tagger, source->reader, error)
                                : TRELLIS_OK;
    if (!status && source->reader) {
        status = check_input(drawing->model, drawing->options, source->path, sequence, error);
    }
    if (!status) {
        status = trellis_draw(drawing->tagger, sequence, drawing->top, output_sink,
                              &drawing->output, error);
    }
    return status;
}

static int run(const struct arguments *arguments)
{
    const char *path = argument(arguments, "model");
    struct drawing drawing = {
        .top = strtoull(trellis_options_get(arguments->options, "top"), NULL, 10),
    };
    trellis_model *model = NULL;
    trellis_error error = {0};
    if (!path) {
        return usage_error(arguments->command, "-m is missing: the model to tag with");
    }
    trellis_status status = open_model(path, argument(arguments, "words") ? NULL : arguments,
                                       &model, &error);
    if (!status) {
        drawing.model = model;
        drawing.options = arguments->options;
        status = take_input_defaults(model, arguments, false, &error);
    }
    if (!status) {
        status = trellis_tagger_create(model, arguments->options, &drawing.tagger, &error);
    }
    int result = status ? failure(status, &error)
                        : output_open(&drawing.output, argument(arguments, "output"));
    if (result == EXIT_SUCCESS) {
        status = for_each_selected(arguments, true, draw_sequence, &drawing, &error);
        result = output_end(&drawing.output, status, &error);
    }
    trellis_tagger_destroy(drawing.tagger);
    trellis_model_close(model);
    return result;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "The model."},
    OWN_WORDS,
    OWN_OUTPUT,
    {0},
};

const struct command command_show = {
    .name = "show",
    .summary = "draw the trellis of a sequence",
    .synopsis = "-m MODEL [OPTION...] [FILE...] > FILE.svg\n"
                "-m MODEL --words TEXT [OPTION...] > FILE.svg",
    .description =
        "Tags one short sequence and draws its trellis as SVG: a column for each token, a row for "
        "each label that is on the best path or among the --top most probable ones. States are "
        "shaded and transitions drawn by their probability; the best path is highlighted and "
        "annotated with the scores of its transitions. Hover over a state or a transition to see "
        "its figures.\n\n"
        "For models without probabilities, exp(score) / Z is drawn instead.",
    .own = own,
    .groups = TRELLIS_GROUP_INSPECT | TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS,
    .with = "constrain decode beam",
    .common = "top sequence label format",
    .examples = "trellis show -m pos.model --words 'The old man the boats .' > boats.svg\n"
                "trellis show -m chunk.model --sequence 3 -o third.svg test.txt\n",
    .run = run,
};
