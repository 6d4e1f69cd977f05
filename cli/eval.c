/* eval.c - `trellis eval`: compares labels with the right ones.
 *
 * Without a model the two last columns of the input are compared: the right label, then the one found.
 * With a model the input is labelled first and compared with its own labels.
 */
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "message.h"
#include "output_file.h"
#include "for_each_sequence.h"
#include "tagging.h"

struct comparison {
    trellis_evaluation *evaluation;
    bool labels_are_gold; // --label names the right ones; else they are the second to last column
    trellis_words *words; // of --train, or NULL
    bool *is_known;       // [capacity]
    trellis_text *gold, *predicted; // [capacity], one behind the other
    size_t capacity;
};

/* What was there before is not kept. */
static bool make_room(struct comparison *comparison, size_t length)
{
    if (length > comparison->capacity) {
        free(comparison->gold);
        comparison->gold = calloc(2 * length, sizeof *comparison->gold);
        comparison->predicted = comparison->gold ? comparison->gold + length : NULL;
        free(comparison->is_known);
        comparison->is_known = calloc(length, sizeof *comparison->is_known);
        comparison->capacity = comparison->gold && comparison->is_known ? length : 0;
    }
    return length <= comparison->capacity;
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
        comparison->predicted[i] = cells[columns - 1];
    }
    bool known = comparison->words && trellis_words_known(comparison->words, source->reader,
                                                          sequence, comparison->is_known);
    trellis_labelled labelled = {.length = sequence->length,
                                 .gold = comparison->gold,
                                 .predicted = comparison->predicted,
                                 .known = known ? comparison->is_known : NULL};
    return trellis_evaluation_add_labelled(comparison->evaluation, &labelled, error);
}

static trellis_status compare_tagged(void *user, const trellis_sequence *sequence,
                                     const struct finding *finding, trellis_error *error)
{
    struct comparison *comparison = user;
    trellis_labelled labelled;
    trellis_status status = compare_finding(sequence, finding, &labelled, error);
    return status ? status
                  : trellis_evaluation_add_labelled(comparison->evaluation, &labelled, error);
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
            .known = true,
            .words = comparison->words,
        };
        bool all = strcmp(trellis_options_get(arguments->options, "clusters"), "yes") != 0 &&
                   (argument_flag(arguments, "json") || argument_flag(arguments, "details"));
        tagging.marginals = tagging.likelihood = all && trellis_model_has_probabilities(model);
        const char *type = trellis_model_note(model, "type");
        tagging.log_z = all && type && strcmp(type, "hmm") == 0;
        tagging.paths = argument_inputs(arguments, &tagging.path_count);
        status = tagging_run(&tagging, argument_threads(arguments), error);
    }
    trellis_model_close(model);
    return status;
}

/* Scores one system: a model on the input, or the last column of some files. */
static trellis_status score(struct comparison *comparison, const struct arguments *arguments,
                            const char *model, const char *const *paths, size_t path_count,
                            trellis_evaluation **ret_evaluation, trellis_error *error)
{
    trellis_status status = trellis_evaluation_create(arguments->options, ret_evaluation, error);
    comparison->evaluation = *ret_evaluation;
    if (!status && model) {
        status = tag_and_compare(comparison, model, arguments, error);
    }
    for (size_t i = 0; !status && !model && i < path_count; i++) {
        status = visit_file(paths[i], arguments->options, compare_columns, comparison, error);
    }
    return status;
}

/* The systems that are asked about: one, or a second one to compare with. */
static trellis_status score_all(struct comparison *comparison, const struct arguments *arguments,
                                trellis_evaluation *evaluations[2], trellis_error *error)
{
    const char *model = argument(arguments, "model"), *against = argument(arguments, "against");
    size_t count;
    const char *const *paths = argument_inputs(arguments, &count);
    const char *train = argument(arguments, "train");
    trellis_status status = train ? trellis_words_read(train, arguments->options,
                                                       &comparison->words, error)
                                  : TRELLIS_OK;
    if (!status) {
        status = score(comparison, arguments, model, paths, count, &evaluations[0], error);
    }
    if (!status && against) {
        status = score(comparison, arguments, model ? against : NULL, &against, 1, &evaluations[1],
                       error);
    }
    return status;
}

/* ---- reports --------------------------------------------------------------------------------- */

static trellis_status put(struct output *output, const char *text)
{
    return output_sink(output, text, strlen(text));
}

/* In JSON the three parts are one object; for a person the comparison stands behind the first report. */
static trellis_status report_both(trellis_evaluation *const evaluations[2],
                                  trellis_report_form form, struct output *output,
                                  trellis_error *error)
{
    static const char *const before[] = {
        "{\n\"first\": ", ",\n\"second\": ", ",\n\"comparison\": ", "}\n"};
    bool json = form == TRELLIS_JSON;
    trellis_comparison comparison;
    trellis_status status = trellis_evaluation_compare(evaluations[0], evaluations[1], &comparison,
                                                       error);
    for (int i = 0; !status && i < 2; i++) {
        status = json ? put(output, before[i])
                      : put(output, i ? "\nthe second:\n" : "the first:\n");
        if (!status) {
            status = trellis_evaluation_report(evaluations[i], form, output_sink, output, error);
        }
    }
    if (!status) {
        status = put(output, json ? before[2] : "\n");
    }
    if (!status) {
        status = trellis_comparison_report(&comparison, form, output_sink, output, error);
    }
    return status || !json ? status : put(output, before[3]);
}

static trellis_report_form form_of(const struct arguments *arguments)
{
    return argument_flag(arguments, "json")      ? TRELLIS_JSON
           : argument_flag(arguments, "details") ? TRELLIS_DETAILS
                                                 : TRELLIS_CONLLEVAL;
}

static int run(const struct arguments *arguments)
{
    struct comparison comparison = {
        .labels_are_gold = trellis_options_given(arguments->options, "label"),
    };
    trellis_evaluation *evaluations[2] = {NULL, NULL};
    trellis_error error = {0};
    struct output output;
    int result = check_cost(arguments);
    if (result == EXIT_SUCCESS) {
        result = output_open(&output, argument(arguments, "output"));
    }
    if (result == EXIT_SUCCESS) {
        trellis_report_form form = form_of(arguments);
        trellis_status status = score_all(&comparison, arguments, evaluations, &error);
        if (!status) {
            status = evaluations[1] ? report_both(evaluations, form, &output, &error)
                                    : trellis_evaluation_report(evaluations[0], form, output_sink,
                                                                &output, &error);
        }
        result = output_end(&output, status, &error);
    }
    trellis_evaluation_destroy(evaluations[0]);
    trellis_evaluation_destroy(evaluations[1]);
    trellis_words_destroy(comparison.words);
    free(comparison.is_known);
    free(comparison.gold);
    return result;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "Label the input with this model first."},
    {"against", 0, "FILE",
     "Compare with another system: a second file of labels found, or with -m a second model. Says how "
     "likely chance alone makes a difference as large."},
    {"train", 0, "FILE",
     "Training data, to tell known words from unknown ones in the report. A model knows its own."},
    {"details", 0, NULL,
     "Report every label and type, averages, known words, lengths, positions and mistakes before the "
     "usual lines; with a model that has probabilities, likelihood and calibration as well."},
    {"json", 0, NULL, "Report all of that in JSON."},
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
        "shared tasks does and in its layout. All other labels are scored one by one.",
    .own = own,
    .groups = TRELLIS_GROUP_EVAL | TRELLIS_GROUP_TAG | TRELLIS_GROUP_READ | TRELLIS_GROUP_RUN,
    .without = "nbest memory",
    .examples = "# label and score in one go\n"
                "trellis eval -m chunk.model test.txt\n"
                "# the output of any tagger that appends its label as a last column\n"
                "trellis eval labelled.txt\n"
                "# is the second better than the first, or only luckier?\n"
                "trellis eval first.txt --against second.txt\n"
                "# only spans that are well-formed\n"
                "trellis eval --strict --scheme iob2 labelled.txt\n",
    .run = run,
};
