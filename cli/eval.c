/* eval.c - `trellis eval`: scores predictions against gold labels.
 *
 * Without a model, the last two columns of the input are the gold and the predicted label. With a
 * model, the input is tagged first and scored against its own labels.
 */
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "chain.h"
#include "message.h"
#include "model_file.h"
#include "model_input.h"
#include "output_file.h"
#include "for_each_sequence.h"
#include "tagging.h"

struct scoring {
    trellis_evaluation *evaluation;
    struct gold_check check; // with a model
    bool clusters;           // --clusters: predictions are not labels
    bool labels_are_gold;    // --label names the gold column; otherwise it is the second to last
    trellis_words *words;    // the vocabulary of --train, or NULL
    bool *is_known;          // [capacity]
    trellis_text *gold, *predicted; // [capacity], one after the other
    size_t capacity;
};

/* The old contents are not kept. */
static bool make_room(struct scoring *scoring, size_t length)
{
    if (length > scoring->capacity) {
        free(scoring->gold);
        scoring->gold = calloc(2 * length, sizeof *scoring->gold);
        scoring->predicted = scoring->gold ? scoring->gold + length : NULL;
        free(scoring->is_known);
        scoring->is_known = calloc(length, sizeof *scoring->is_known);
        scoring->capacity = scoring->gold && scoring->is_known ? length : 0;
    }
    return length <= scoring->capacity;
}

static trellis_status add_columns(void *user, const struct source *source,
                                  const trellis_sequence *sequence, trellis_error *error)
{
    struct scoring *scoring = user;
    size_t columns = sequence->columns;
    if (columns < 2) {
        return set_error(
            error, TRELLIS_DATA,
            "%s:%llu: expected two columns, the gold and the predicted label, but there is "
            "only one; to predict labels use -m MODEL",
            source->path, (unsigned long long)sequence->line);
    }
    if (!make_room(scoring, sequence->length)) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    bool by_name = scoring->labels_are_gold && sequence->labels;
    for (size_t i = 0; i < sequence->length; i++) {
        const trellis_text *cells = sequence->cells + i * columns;
        scoring->gold[i] = by_name ? sequence->labels[i] : cells[columns - 2];
        scoring->predicted[i] = cells[columns - 1];
    }
    bool known = scoring->words &&
                 trellis_words_known(scoring->words, source->reader, sequence, scoring->is_known);
    trellis_labelled labelled = {.struct_size = sizeof labelled,
                                 .length = sequence->length,
                                 .gold = scoring->gold,
                                 .predicted = scoring->predicted,
                                 .known = known ? scoring->is_known : NULL};
    return trellis_evaluation_add_labelled(scoring->evaluation, &labelled, error);
}

static trellis_status add_result(void *user, const trellis_sequence *sequence,
                                 const struct tag_result *result, trellis_error *error)
{
    struct scoring *scoring = user;
    trellis_status status = gold_check_add(&scoring->check, sequence, error);
    return status ? status
                  : trellis_evaluation_add_labelled(scoring->evaluation, &result->labelled, error);
}

static trellis_status score_model(struct scoring *scoring, struct chain *chain,
                                  const struct arguments *arguments, trellis_error *error)
{
    const trellis_model *model = chain->last;
    struct tagging tagging = {
        .model = model,
        .chain = chain,
        .options = arguments->options,
        .tagged = add_result,
        .user = scoring,
        .known = true,
        .words = scoring->words,
    };
    bool all = !scoring->clusters &&
               (argument_flag(arguments, "json") || argument_flag(arguments, "details"));
    tagging.marginals = tagging.likelihood = all && trellis_model_has_probabilities(model);
    tagging.spans = tagging.marginals && trellis_model_has_spans(model);
    const char *type = trellis_model_note(model, "type");
    tagging.log_z = all && type && strcmp(type, "hmm") == 0;
    tagging.paths = argument_inputs(arguments, &tagging.path_count);
    scoring->check = (struct gold_check){.model = model, .known = scoring->clusters};
    trellis_status status = tagging_run(&tagging, argument_threads(arguments), error);
    return status || scoring->clusters ? status : gold_check_end(&scoring->check, error);
}

static trellis_status require_tokens(const trellis_evaluation *evaluation, trellis_error *error)
{
    trellis_scores scores = {.struct_size = sizeof scores};
    trellis_evaluation_scores(evaluation, &scores);
    return scores.tokens ? TRELLIS_OK
                         : set_error(error, TRELLIS_DATA,
                                     "there is nothing to score: the input has no tokens");
}

/* Scores one system: models on the input, or without any the last column of some files. */
static trellis_status score(struct scoring *scoring, const struct arguments *arguments,
                            struct chain *chain, const char *const *paths, size_t path_count,
                            trellis_evaluation **ret_evaluation, trellis_error *error)
{
    bool model = chain->last;
    trellis_status status = model ? take_input_defaults(chain->last, arguments, true, error)
                                  : TRELLIS_OK;
    if (!status) {
        status = trellis_evaluation_create(arguments->options, ret_evaluation, error);
        scoring->evaluation = *ret_evaluation;
    }
    if (!status && model) {
        status = score_model(scoring, chain, arguments, error);
    }
    for (size_t i = 0; !status && !model && i < path_count; i++) {
        status = for_each_in_file(paths[i], arguments->options, add_columns, scoring, error);
    }
    return status || model ? status : require_tokens(*ret_evaluation, error);
}

/* Scores the system, and the one of --against if given. */
static trellis_status score_all(struct scoring *scoring, const struct arguments *arguments,
                                trellis_evaluation *evaluations[2], trellis_error *error)
{
    const char *against = argument(arguments, "against");
    struct chain chain = {.gold = true}, other = {.gold = true};
    size_t count;
    const char *const *paths = argument_inputs(arguments, &count);
    const char *train = argument(arguments, "train");
    trellis_status status = train ? trellis_words_read(train, arguments->options, &scoring->words,
                                                       error)
                                  : TRELLIS_OK;
    if (!status) {
        status = chain_open_models(&chain, arguments, error);
    }
    if (!status) {
        status = score(scoring, arguments, &chain, paths, count, &evaluations[0], error);
    }
    if (!status && against && chain.last) {
        status = open_model(against, arguments, &other.last, error);
    }
    if (!status && against) {
        status = score(scoring, arguments, &other, &against, 1, &evaluations[1], error);
    }
    chain_close_models(&chain);
    chain_close_models(&other);
    return status;
}

/* ---- output ---------------------------------------------------------------------------------- */

static trellis_status put(struct output *output, const char *text)
{
    return output_sink(output, text, strlen(text));
}

/* In JSON the three parts are one object; as text they follow each other. */
static trellis_status report_both(trellis_evaluation *const evaluations[2],
                                  trellis_report_form form, struct output *output,
                                  trellis_error *error)
{
    static const char *const before[] = {
        "{\n\"first\": ", ",\n\"second\": ", ",\n\"comparison\": ", "}\n"};
    bool json = form == TRELLIS_JSON;
    trellis_comparison *comparison = NULL;
    trellis_status status = trellis_evaluation_compare(evaluations[0], evaluations[1], &comparison,
                                                       error);
    for (int i = 0; !status && i < 2; i++) {
        status = json ? put(output, before[i]) : put(output, i ? "\nsecond:\n" : "first:\n");
        if (!status) {
            status = trellis_evaluation_report(evaluations[i], form, output_sink, output, error);
        }
    }
    if (!status) {
        status = put(output, json ? before[2] : "\n");
    }
    if (!status) {
        status = trellis_comparison_report(comparison, form, output_sink, output, error);
    }
    trellis_comparison_destroy(comparison);
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
    struct scoring scoring = {
        .labels_are_gold = trellis_options_given(arguments->options, "label"),
        .clusters = strcmp(trellis_options_get(arguments->options, "clusters"), "yes") == 0,
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
        trellis_status status = score_all(&scoring, arguments, evaluations, &error);
        if (!status) {
            status = evaluations[1] ? report_both(evaluations, form, &output, &error)
                                    : trellis_evaluation_report(evaluations[0], form, output_sink,
                                                                &output, &error);
        }
        result = output_end(&output, status, &error);
    }
    trellis_evaluation_destroy(evaluations[0]);
    trellis_evaluation_destroy(evaluations[1]);
    trellis_words_destroy(scoring.words);
    free(scoring.is_known);
    free(scoring.gold);
    return result;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE",
     "Tag the input with this model first. If several are given, each adds its labels as a column "
     "for the next, and the last one is scored."},
    {"against", 0, "FILE",
     "Compare with another system: a second file of predictions, or with -m a second model. "
     "Tests the differences for significance."},
    {"train", 0, "FILE",
     "Training data, to report in-vocabulary and out-of-vocabulary words separately. Not needed "
     "with -m: a model knows its vocabulary."},
    {"details", 0, NULL,
     "Also report scores by label, type, vocabulary, length and position, averages and the most "
     "frequent errors; for models with probabilities, likelihood and calibration as well."},
    {"json", 0, NULL, "Write all of that as JSON."},
    OWN_OUTPUT,
    {0},
};

const struct command command_eval = {
    .name = "eval",
    .summary = "score predictions against gold labels",
    .synopsis = "[OPTION...] [FILE...]\n"
                "-m MODEL [-m MODEL...] [OPTION...] [FILE...]",
    .description =
        "Without a model, scores the last column (predicted) against the second to last (gold). "
        "With a model, tags the input and scores the predictions against its labels.\n\n"
        "Span labels such as B-NP and O are scored by span, in the same way and layout as the "
        "conlleval script of the CoNLL shared tasks. All other labels are scored by token.",
    .own = own,
    .groups = TRELLIS_GROUP_EVAL | TRELLIS_GROUP_TAG | TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS |
              TRELLIS_GROUP_RUN,
    .without = "nbest memory",
    .common = "label scheme strict bootstrap format threads",
    .examples = "# tag and score in one step\n"
                "trellis eval -m chunk.model test.txt\n"
                "# the output of any tagger that appends the predicted label as last column\n"
                "trellis eval tagged.txt\n"
                "# is the difference between two taggers significant?\n"
                "trellis eval first.txt --against second.txt\n"
                "# only legal spans\n"
                "trellis eval --strict --scheme iob2 tagged.txt\n",
    .run = run,
};
