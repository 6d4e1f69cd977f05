/* tag.c - `trellis tag`: labels sequences with a model. */
#include <unistd.h>

#include "arguments.h"
#include "message.h"
#include "output.h"
#include "reading.h"
#include "tagging.h"

struct labelling {
    struct output output;
    trellis_writer *writer;
    bool at_once; // somebody waits for each sequence
};

static trellis_status write_labelled(void *user, const trellis_sequence *sequence,
                                     const trellis_text *labels, trellis_error *error)
{
    struct labelling *labelling = user;
    trellis_status status = trellis_writer_put(labelling->writer, sequence, labels, error);
    if (!status && labelling->at_once) {
        status = trellis_writer_finish(labelling->writer, error);
        output_flush(&labelling->output);
    }
    return status;
}

static trellis_status tag(struct labelling *labelling, const struct arguments *arguments,
                          trellis_model *model, trellis_error *error)
{
    struct tagging tagging = {
        .model = model,
        .options = arguments->options,
        .tagged = write_labelled,
        .user = labelling,
    };
    tagging.paths = argument_inputs(arguments, &tagging.path_count);
    trellis_status status = settle_format(arguments, error);
    if (!status) {
        status = trellis_writer_create(arguments->options, output_sink, &labelling->output,
                                       &labelling->writer, error);
    }
    if (!status) {
        status = tagging_run(&tagging, labelling->at_once ? 1 : argument_threads(arguments), error);
    }
    /* What was labelled before a mistake in the input is written in any case. */
    trellis_error late = {0};
    if (labelling->writer && trellis_writer_finish(labelling->writer, &late) && !status) {
        status = late.status;
        *error = late;
    }
    trellis_writer_destroy(labelling->writer);
    return status;
}

static int run(const struct arguments *arguments)
{
    const char *path = argument(arguments, "model");
    if (!path) {
        return usage_error(arguments->command, "-m is missing: the model to label with");
    }
    struct labelling labelling = {0};
    trellis_model *model = NULL;
    trellis_error error = {0};
    trellis_status status = trellis_model_open(path, &model, &error);
    if (status) {
        return failure(status, &error);
    }
    int result = output_open(&labelling.output, argument(arguments, "output"));
    if (result == EXIT_RIGHT) {
        labelling.at_once = argument_flag(arguments, "at-once") ||
                            isatty(fileno(labelling.output.file));
        status = tag(&labelling, arguments, model, &error);
        result = output_end(&labelling.output, status, &error);
    }
    trellis_model_close(model);
    return result;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "The model. Required."},
    {"output", 'o', "FILE", "Write to FILE, which appears when all is done. [-]"},
    {"at-once", 0, NULL,
     "Write each sequence as soon as it is labelled, in one thread; so it is on a terminal."},
    {0},
};

const struct command command_tag = {
    .name = "tag",
    .summary = "label sequences with a model",
    .synopsis = "-m MODEL [OPTION...] [FILE...]",
    .description =
        "Writes the sequences of the files, or of standard input, with the labels that the model "
        "finds as a last column. Columns are expected as in the training data; the column of the "
        "label may be there or not.",
    .own = own,
    .groups = TRELLIS_GROUP_READ | TRELLIS_GROUP_WRITE | TRELLIS_GROUP_TAG | TRELLIS_GROUP_RUN,
    .without = "scheme to-scheme seed memory",
    .examples = "trellis tag -m pos.model test.txt > labelled.txt\n"
                "# running text\n"
                "echo 'The dog barks .' | trellis tag -m pos.model --format text\n"
                "# from a compressed treebank to words with tags\n"
                "trellis tag -m pos.model --output-format wordtag -o out.txt test.conllu.gz\n",
    .run = run,
};
