/* sample.c - `trellis sample`: draws a labelled corpus from a hidden Markov model. */
#include "arguments.h"
#include "message.h"
#include "output_file.h"

static trellis_status sample(const trellis_model *model, const struct arguments *arguments,
                             struct output *output, trellis_error *error)
{
    trellis_writer *writer = NULL;
    trellis_status status = trellis_writer_create(arguments->options, output_sink, output, &writer,
                                                  error);
    if (!status) {
        status = trellis_sample(model, arguments->options, writer, error);
    }
    if (!status) {
        status = trellis_writer_finish(writer, error);
    }
    trellis_writer_destroy(writer);
    return status;
}

static int run(const struct arguments *arguments)
{
    const char *path = argument(arguments, "model");
    if (arguments->path_count) {
        return usage_error(arguments->command, "it takes no files; a model is given with -m");
    }
    trellis_model *model = NULL;
    trellis_error error = {0};
    trellis_status status = path ? trellis_model_open(path, &model, &error) : TRELLIS_OK;
    if (status) {
        return failure(status, &error);
    }
    struct output output;
    int result = output_open(&output, argument(arguments, "output"));
    if (result == EXIT_SUCCESS) {
        status = sample(model, arguments, &output, &error);
        result = output_end(&output, status, &error);
    }
    trellis_model_close(model);
    return result;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "Draw from this hidden Markov model instead of a random one."},
    {"output", 'o', "FILE", "Write to FILE, which appears when all is done. [-]"},
    {0},
};

const struct command command_sample = {
    .name = "sample",
    .summary = "draw a labelled corpus from a hidden Markov model",
    .synopsis = "[OPTION...]",
    .description = "Writes sequences of words and labels that a hidden Markov model draws: one "
                   "that was learned, of any order and smoothing, or a random one of the sizes "
                   "given. Labels follow the probabilities of the model; words are drawn from "
                   "those that the label has in it, with the probability of an unknown word "
                   "spread over them. Columns of numbers are drawn from the label's normal "
                   "distributions.",
    .own = own,
    .groups = TRELLIS_GROUP_SAMPLE | TRELLIS_GROUP_WRITE | TRELLIS_GROUP_RUN,
    .without = "to-scheme threads memory",
    .examples = "# a corpus to measure speed with\n"
                "trellis sample --labels 45 --vocabulary 50000 -n 1000000 --seed 7 > big.txt\n"
                "# what a learned model believes in\n"
                "trellis sample -m hmm.model -n 200\n",
    .run = run,
};
