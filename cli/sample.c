/* sample.c - `trellis sample`: samples a labelled corpus from a hidden Markov model. */
#include "arguments.h"
#include "message.h"
#include "model_file.h"
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
        return usage_error(arguments->command, "expected no files; to give a model use -m");
    }
    trellis_model *model = NULL;
    trellis_error error = {0};
    trellis_status status = path ? open_model(path, NULL, &model, &error) : TRELLIS_OK;
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
    {"model", 'm', "FILE", "Sample from this HMM instead of a random one."},
    OWN_OUTPUT,
    {0},
};

const struct command command_sample = {
    .name = "sample",
    .summary = "sample a labelled corpus from a hidden Markov model",
    .synopsis = "[OPTION...]",
    .description =
        "Samples sequences of words and labels from a hidden Markov model: a trained one, "
        "of any order and smoothing, or a random one of the given size. Words are sampled "
        "from those the model knows for the label; the probability of unknown words is "
        "spread over them. Numeric columns are sampled from the normal distributions of "
        "the label.",
    .own = own,
    .groups = TRELLIS_GROUP_SAMPLE | TRELLIS_GROUP_WRITE | TRELLIS_GROUP_RUN,
    .without = "to-scheme threads memory",
    .examples = "# a corpus for speed measurements\n"
                "trellis sample --labels 45 --vocabulary 50000 -n 1000000 --seed 7 > big.txt\n"
                "# sequences typical of a trained model\n"
                "trellis sample -m hmm.model -n 200\n",
    .run = run,
};
