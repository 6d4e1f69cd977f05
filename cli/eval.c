/* eval.c - `trellis eval`: compares labels with the right ones.
 *
 * Without a model the two last columns of the input are compared: the right label, then the one found.
 * With a model the input is labelled first and compared with its own labels.
 */
#include <stdlib.h>

#include "arguments.h"
#include "message.h"
#include "output.h"
#include "reading.h"
#include "tagging.h"

struct comparison {
    trellis_evaluation *evaluation;
    bool labels_are_gold; // --label names the right ones; else they are the second to last column
    trellis_text *gold, *found; // [capacity], one behind the other
    size_t capacity;
};

/* What was there before is not kept. */
static bool make_room(struct comparison *comparison, size_t length)
{
    if (length > comparison->capacity) {
        free(comparison->gold);
        comparison->gold = calloc(2 * length, sizeof *comparison->gold);
        comparison->found = comparison->gold ? comparison->gold + length : NULL;
        comparison->capacity = comparison->gold ? length : 0;
    }
    return length == 0 || comparison->gold;
}

static trellis_status compare_columns(void *user, const struct source *source,
                                      const trellis_sequence *sequence, trellis_error *error)
{
    struct comparison *comparison = user;
    size_t columns = sequence->columns;
    if (columns < 2) {
        return set_error(error, TRELLIS_DATA,
                         "%s:%llu: two columns are needed, the right labels and those found, but "
                         "there is only one; with -m MODEL they are found first",
                         source->path, (unsigned long long)sequence->line);
    }
    if (!make_room(comparison, sequence->length)) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    bool by_name = comparison->labels_are_gold && sequence->labels;
    for (size_t i = 0; i < sequence->length; i++) {
        const trellis_text *cells = sequence->cells + i * columns;
        comparison->gold[i] = by_name ? sequence->labels[i] : cells[columns - 2];
        comparison->found[i] = cells[columns - 1];
    }
    return trellis_evaluation_add(comparison->evaluation, comparison->gold, comparison->found,
                                  sequence->length, error);
}

static trellis_status compare_tagged(void *user, const trellis_sequence *sequence,
                                     const struct finding *finding, trellis_error *error)
{
    struct comparison *comparison = user;
    if (!sequence->labels) {
        return set_error(error, TRELLIS_DATA,
                         "line %llu: there are no labels to compare with; see --label",
                         (unsigned long long)sequence->line);
    }
    return trellis_evaluation_add(comparison->evaluation, sequence->labels, finding->labels,
                                  sequence->length, error);
}

static trellis_status tag_and_compare(struct comparison *comparison, const char *path,
                                      const struct arguments *arguments, trellis_error *error)
{
    trellis_model *model = NULL;
    trellis_status status = trellis_model_open(path, &model, error);
    if (!status) {
        struct tagging tagging = {
            .model = model,
            .options = arguments->options,
            .tagged = compare_tagged,
            .user = comparison,
        };
        tagging.paths = argument_inputs(arguments, &tagging.path_count);
        status = tagging_run(&tagging, argument_threads(arguments), error);
    }
    trellis_model_close(model);
    return status;
}

static trellis_status compare(struct comparison *comparison, const struct arguments *arguments,
                              trellis_error *error)
{
    const char *model = argument(arguments, "model");
    trellis_status status = trellis_evaluation_create(arguments->options, &comparison->evaluation,
                                                      error);
    if (!status) {
        status = model ? tag_and_compare(comparison, model, arguments, error)
                       : visit_sequences(arguments, compare_columns, comparison, error);
    }
    return status;
}

static int run(const struct arguments *arguments)
{
    struct comparison comparison = {
        .labels_are_gold = trellis_options_given(arguments->options, "label"),
    };
    trellis_error error = {0};
    struct output output;
    int result = output_open(&output, argument(arguments, "output"));
    if (result == EXIT_RIGHT) {
        trellis_status status = compare(&comparison, arguments, &error);
        if (!status) {
            status = trellis_evaluation_report(comparison.evaluation,
                                               argument_flag(arguments, "json"), output_sink,
                                               &output, &error);
        }
        result = output_end(&output, status, &error);
    }
    trellis_evaluation_destroy(comparison.evaluation);
    free(comparison.gold);
    return result;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "Label the input with this model first."},
    {"json", 0, NULL, "Report in JSON, with every label and every kind of mistake."},
    {"output", 'o', "FILE", "Write to FILE, which appears when all is done. [-]"},
    {0},
};

const struct command command_eval = {
    .name = "eval",
    .summary = "compare labels with the right ones",
    .synopsis = "[OPTION...] [FILE...]\n"
                "-m MODEL [OPTION...] [FILE...]",
    .description =
        "Without a model, compares the two last columns: the right label and the one found. With "
        "a model, labels the input and compares with its own labels.\n\n"
        "Labels such as B-NP and O are scored by span, as the conlleval program of the CoNLL "
        "shared tasks does and in its layout; the line with the overall figures comes last. All "
        "other labels are scored one by one.",
    .own = own,
    .groups = TRELLIS_GROUP_EVAL | TRELLIS_GROUP_TAG | TRELLIS_GROUP_READ | TRELLIS_GROUP_RUN,
    .without = "nbest seed memory",
    .examples = "# label and score in one go\n"
                "trellis eval -m chunk.model test.txt\n"
                "# the output of any tagger that appends its label as a last column\n"
                "trellis eval labelled.txt\n"
                "# only spans that are well-formed\n"
                "trellis eval --strict --scheme iob2 labelled.txt\n",
    .run = run,
};
