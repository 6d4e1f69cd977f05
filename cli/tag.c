/* tag.c - `trellis tag`: labels sequences with a model. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "message.h"
#include "output_file.h"
#include "for_each_sequence.h"
#include "tagging.h"

struct labelling {
    struct output output;
    trellis_writer *writer;
    bool at_once;           // somebody waits for each sequence
    bool ranked;            // with a line in front of each labelling
    const float *marginals; // [length] of the labels on their way to the output, or NULL
    const float *all;       // [length][labels] of all labels of the model, or NULL
    const trellis_model *model;
    uint64_t sequences, exact;
};

/* ---- what is written ------------------------------------------------------------------------ */

/* A cell with the probability of a label, and its name in front where all of them are written. */
static trellis_status append_cell(struct labelling *labelling, char separator, trellis_text name,
                                  float marginal)
{
    char number[32];
    int width = snprintf(number, sizeof number, "%s%.4f", name.data ? ":" : "", (double)marginal);
    trellis_status status = output_sink(&labelling->output, &separator, 1);
    if (!status && name.data) {
        status = output_sink(&labelling->output, name.data, name.size);
    }
    return status ? status : output_sink(&labelling->output, number, (size_t)width);
}

/* The cells behind the line of one token. */
static trellis_status append_cells(struct labelling *labelling, char separator)
{
    trellis_status status = TRELLIS_OK;
    size_t labels = labelling->all ? trellis_model_label_count(labelling->model) : 0;
    if (labelling->marginals) {
        status = append_cell(labelling, separator, (trellis_text){0}, *labelling->marginals++);
    }
    for (size_t k = 0; !status && k < labels; k++) {
        status = append_cell(labelling, separator, trellis_model_label(labelling->model, k),
                             *labelling->all++);
    }
    return status ? status : output_sink(&labelling->output, "\n", 1);
}

/* Between the writer and the output: puts probabilities behind each line of a token. The writer hands over
 * one sequence at a time, in columns. */
static trellis_status append_marginals(void *user, const char *data, size_t size)
{
    struct labelling *labelling = user;
    trellis_status status = TRELLIS_OK;
    for (size_t line; !status && size > 0; data += line, size -= line) {
        const char *end = memchr(data, '\n', size);
        line = end ? (size_t)(end - data) + 1 : size;
        if (line > 1) {
            bool by_tab = memchr(data, '\t', line) && !memchr(data, ' ', line);
            status = output_sink(&labelling->output, data, line - 1);
            status = status ? status : append_cells(labelling, by_tab ? '\t' : ' ');
        } else {
            status = output_sink(&labelling->output, data, line);
        }
    }
    return status;
}

/* # RANK SCORE PROBABILITY */
static trellis_status write_rank(struct labelling *labelling, const struct finding *finding,
                                 size_t rank, trellis_error *error)
{
    char line[512]; // the largest double has 309 digits
    int size = snprintf(line, sizeof line, "# %zu %.6f", rank + 1, finding->scores[rank]);
    if (finding->probabilities) {
        size += snprintf(line + size, sizeof line - (size_t)size, " %.6f",
                         finding->probabilities[rank]);
    }
    line[size++] = '\n';
    trellis_status status = trellis_writer_finish(labelling->writer, error);
    return status ? status : output_sink(&labelling->output, line, (size_t)size);
}

static trellis_status write_labelled(void *user, const trellis_sequence *sequence,
                                     const struct finding *finding, trellis_error *error)
{
    struct labelling *labelling = user;
    trellis_status status = TRELLIS_OK;
    labelling->sequences++;
    labelling->exact += finding->exact;
    for (size_t k = 0; !status && k < finding->count; k++) {
        size_t begin = k * sequence->length;
        if (labelling->ranked) {
            status = write_rank(labelling, finding, k, error);
        }
        if (!status) {
            labelling->marginals = finding->marginals ? finding->marginals + begin : NULL;
            labelling->all = finding->all_marginals;
            status = trellis_writer_put(labelling->writer, sequence, finding->labels + begin,
                                        error);
        }
        if (!status && (labelling->at_once || finding->marginals || finding->all_marginals)) {
            status = trellis_writer_finish(labelling->writer, error);
        }
    }
    if (!status && labelling->at_once) {
        output_flush(&labelling->output);
    }
    return status;
}

/* ---- what is asked for ---------------------------------------------------------------------- */

/* The format that 'same' and 'text' come down to. */
static const char *output_format(const struct arguments *arguments)
{
    const char *format = trellis_options_get(arguments->options, "output-format");
    if (strcmp(format, "same") == 0) {
        format = trellis_options_get(arguments->options, "format");
    }
    return strcmp(format, "text") == 0 ? "columns" : format;
}

/* What an output format has no room for. */
static trellis_status check_format(const struct arguments *arguments, const struct tagging *tagging,
                                   trellis_error *error)
{
    const char *format = output_format(arguments);
    bool adds_columns = tagging->marginals || tagging->all_marginals;
    if (adds_columns && strcmp(format, "columns") != 0) {
        return set_error(error, TRELLIS_OPTION,
                         "--marginals adds a column, which the format '%s' has no room for; add "
                         "--output-format columns",
                         format);
    }
    if (tagging->nbest > 1 && strcmp(format, "jsonl") == 0) {
        return set_error(error, TRELLIS_OPTION,
                         "--nbest writes comments, which the format 'jsonl' has no room for; add "
                         "--output-format columns");
    }
    return TRELLIS_OK;
}

static size_t labellings_wanted(const struct arguments *arguments)
{
    return strtoul(trellis_options_get(arguments->options, "nbest"), NULL, 10);
}

/* Options that do not go together. */
static int check_options(const struct arguments *arguments)
{
    const char *decode = trellis_options_get(arguments->options, "decode");
    if (strcmp(decode, "viterbi") != 0 && labellings_wanted(arguments) > 1) {
        return usage_error(arguments->command, "--nbest goes with --decode viterbi, not %s",
                           decode);
    }
    if (labellings_wanted(arguments) > 1 && argument_flag(arguments, "all-marginals")) {
        return usage_error(arguments->command, "--nbest does not go with --all-marginals");
    }
    if (labellings_wanted(arguments) > 1 &&
        strtod(trellis_options_get(arguments->options, "threshold"), NULL) > 0) {
        return usage_error(arguments->command, "--nbest does not go with --threshold");
    }
    if (strcmp(decode, "beam") != 0 && argument_flag(arguments, "check")) {
        return usage_error(arguments->command, "--check goes with --decode beam, not %s", decode);
    }
    return check_cost(arguments);
}

static trellis_status tag(struct labelling *labelling, const struct arguments *arguments,
                          trellis_model *model, trellis_error *error)
{
    struct tagging tagging = {
        .model = model,
        .options = arguments->options,
        .tagged = write_labelled,
        .user = labelling,
        .nbest = labellings_wanted(arguments),
        .marginals = argument_flag(arguments, "marginals"),
        .all_marginals = argument_flag(arguments, "all-marginals"),
        .check = argument_flag(arguments, "check"),
    };
    bool adds_columns = tagging.marginals || tagging.all_marginals;
    labelling->ranked = tagging.nbest > 1;
    labelling->model = model;
    tagging.paths = argument_inputs(arguments, &tagging.path_count);
    trellis_status status = settle_format(arguments, error);
    if (!status) {
        status = check_format(arguments, &tagging, error);
    }
    if (!status) {
        status = trellis_writer_create(
            arguments->options, adds_columns ? append_marginals : output_sink,
            adds_columns ? (void *)labelling : &labelling->output, &labelling->writer, error);
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
    if (!status && tagging.check && labelling->sequences > 0) {
        message("%.2f %% of %" PRIu64 " sequences are labelled as by an exact search",
                100 * (double)labelling->exact / (double)labelling->sequences,
                labelling->sequences);
    }
    return status;
}

static int run(const struct arguments *arguments)
{
    const char *path = argument(arguments, "model");
    if (!path) {
        return usage_error(arguments->command, "-m is missing: the model to label with");
    }
    int result = check_options(arguments);
    if (result != EXIT_SUCCESS) {
        return result;
    }
    struct labelling labelling = {0};
    trellis_model *model = NULL;
    trellis_error error = {0};
    trellis_status status = trellis_model_open(path, &model, &error);
    if (status) {
        return failure(status, &error);
    }
    result = output_open(&labelling.output, argument(arguments, "output"));
    if (result == EXIT_SUCCESS) {
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
    {"marginals", 0, NULL,
     "Append a column with the probability of each label by itself. For crf, maxent, hmm and memm "
     "models."},
    {"all-marginals", 0, NULL,
     "Append a column LABEL:PROBABILITY for every label of the model, in its own label scheme."},
    {"check", 0, NULL,
     "With --decode beam, say on standard error how many sequences are labelled as by an exact "
     "search."},
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
                "# the five best labellings of each sentence, with their probabilities\n"
                "trellis tag -m pos.model --nbest 5 test.txt\n"
                "# only entities that the model is sure of\n"
                "trellis tag -m ner.model --threshold 0.9 test.txt\n"
                "# from a compressed treebank to words with tags\n"
                "trellis tag -m pos.model --output-format wordtag -o out.txt test.conllu.gz\n",
    .run = run,
};
