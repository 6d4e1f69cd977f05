/* train.c - `trellis train`: trains a model on labelled sequences.
 *
 * Ctrl-C interrupts the training; the best model so far is then saved. A second Ctrl-C ends the
 * process at once.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "columns_from.h"
#include "iteration_log.h"
#include "message.h"
#include "model_file.h"
#include "predicted_columns.h"
#include "progress.h"
#include "ranks.h"
#include "train.h"

static volatile sig_atomic_t interrupted; // the number of the signal, or 0
static trellis_cancellation *cancellation;

static void interrupt(int signal_number)
{
    interrupted = signal_number;
    trellis_cancel(cancellation);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

struct training {
    const char *model_path;
    struct progress_view view;
    FILE *log;             // or NULL
    uint64_t logged;       // the last iteration in it
    trellis_progress last; // of the last complete iteration
};

static bool on_progress(void *user, const trellis_progress *progress)
{
    struct training *training = user;
    progress_show(&training->view, progress);
    bool complete = progress->fraction >= 1 && progress->iteration > 0 &&
                    progress->phase != TRELLIS_PHASE_MESSAGE;
    if (complete) {
        training->last = *progress;
    }
    if (progress->phase == TRELLIS_PHASE_SEEDS) { // of the mean, at last
        training->last.seconds = progress->seconds;
        training->last.active_features = progress->active_features;
    }
    if (complete && training->log && progress->iteration != training->logged) {
        iteration_log_write(training->log, progress);
        training->logged = progress->iteration;
    }
    return !interrupted;
}

static int open_log(struct training *training, const char *path)
{
    if (path[0] && ranks_first()) {
        training->log = fopen(path, "w");
        if (!training->log) {
            message("cannot write %s: %s", path, strerror(errno));
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}

static int close_log(struct training *training, const char *path)
{
    if (!training->log) {
        return EXIT_SUCCESS;
    }
    bool failed = ferror(training->log) != 0;
    failed |= fclose(training->log) != 0;
    if (failed) {
        message("cannot write %s", path);
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The score of the iterate that was kept, or of the mean of several seeds. */
static void report_dev_score(const trellis_model *model)
{
    char of[100];
    const char *seeds = trellis_model_note(model, "option-seeds");
    const char *f1 = trellis_model_note(model, "dev-f1");
    const char *accuracy = trellis_model_note(model, "dev-accuracy");
    const char *kept = trellis_model_note(model, "iterations");
    if (seeds && strcmp(seeds, "1") != 0) {
        snprintf(of, sizeof of, "mean of %s seeds", seeds);
    } else {
        snprintf(of, sizeof of, "iteration %s", kept);
    }
    if (f1) {
        message("F1 on the dev data: %.2f (%s)", 100 * strtod(f1, NULL), of);
    } else if (accuracy) {
        message("accuracy on the dev data: %.2f%% (%s)", 100 * strtod(accuracy, NULL), of);
    }
}

static void summarise(const struct training *training, const trellis_model *model)
{
    const trellis_progress *last = &training->last;
    char duration[32];
    if (last->iteration) {
        if (last->seconds < 60) {
            snprintf(duration, sizeof duration, "%.1f s", last->seconds);
        } else {
            format_duration(duration, sizeof duration, last->seconds);
        }
        message("%llu iteration%s in %s, %llu non-zero feature%s",
                (unsigned long long)last->iteration, plural(last->iteration), duration,
                (unsigned long long)last->active_features, plural(last->active_features));
    }
    report_dev_score(model);
}

static const char *shown_path(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

/* Of several ranks another one may have had the signal. */
static int interrupted_result(void)
{
    return EXIT_SIGNAL + (interrupted ? interrupted : SIGINT);
}

/* `status` is OK, or INTERRUPTED with or without a model. */
static int save(struct training *training, trellis_status status, const trellis_model *model)
{
    trellis_error error = {0};
    if (!model) {
        message("interrupted before the first iteration; no model written");
        return interrupted_result();
    }
    trellis_status saved = ranks_first() ? save_model(model, training->model_path, &error)
                                         : TRELLIS_OK;
    if (saved) {
        return failure(saved, &error);
    }
    if (!training->view.quiet && ranks_first()) {
        summarise(training, model);
    }
    if (status == TRELLIS_INTERRUPTED) {
        message("interrupted; best model so far written to %s", shown_path(training->model_path));
        return interrupted_result();
    }
    if (!training->view.quiet) {
        message("model written to %s (%.1f MB)", shown_path(training->model_path),
                (double)trellis_model_size(model) / 1e6);
    }
    return EXIT_SUCCESS;
}

static trellis_status train_on(struct training *training, const trellis_options *options,
                               const trellis_source *train, size_t train_count,
                               const trellis_source *dev, trellis_model **ret_model,
                               trellis_error *error)
{
    const trellis_training given = {.struct_size = sizeof given,
                                    .train = train,
                                    .train_count = train_count,
                                    .dev = dev,
                                    .dev_count = dev ? 1 : 0,
                                    .progress = on_progress,
                                    .user = training,
                                    .cancellation = cancellation,
                                    .ranks = ranks_given()};
    return trellis_train(options, &given, ret_model, error);
}

static trellis_status train_on_files(struct training *training, const trellis_options *options,
                                     const struct arguments *arguments, trellis_model **ret_model,
                                     trellis_error *error)
{
    trellis_source *files = calloc(arguments->path_count, sizeof *files);
    if (!files) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < arguments->path_count; i++) {
        files[i] = (trellis_source){.struct_size = sizeof *files, .path = arguments->paths[i]};
    }
    trellis_status status = train_on(training, options, files, arguments->path_count, NULL,
                                     ret_model, error);
    free(files);
    return status;
}

/* --columns-from: after the model that predicts a column, which is saved first. */
static trellis_status train_second(struct training *training, const struct arguments *arguments,
                                   trellis_model **ret_model, trellis_error *error)
{
    struct predicted_columns columns;
    const char *first = argument(arguments, "first-model");
    trellis_status status = predicted_columns_make(&columns, arguments, cancellation, error);
    const trellis_source train = {
        .struct_size = sizeof train, .corpus = columns.train, .name = arguments->paths[0]};
    const trellis_source dev = {.struct_size = sizeof dev,
                                .corpus = columns.dev,
                                .name = trellis_options_get(arguments->options, "dev")};
    if (!status) {
        status = save_model(columns.first, first, error);
    }
    if (!status && !training->view.quiet) {
        message("first model written to %s (%.1f MB); both tag by 'trellis tag -m %s -m %s'", first,
                (double)trellis_model_size(columns.first) / 1e6, first, training->model_path);
    }
    if (!status) {
        status = train_on(training, columns.options, &train, 1, columns.dev ? &dev : NULL,
                          ret_model, error);
    }
    predicted_columns_free(&columns);
    return status;
}

static int train(struct training *training, const trellis_options *options,
                 const struct arguments *arguments)
{
    trellis_model *model = NULL;
    trellis_error error = {0};
    if (trellis_cancellation_create(&cancellation, &error)) {
        return failure(TRELLIS_MEMORY, &error);
    }
    catch_signals();
    progress_begin(&training->view, argument_flag(arguments, "quiet") || !ranks_first());
    trellis_status status = argument(arguments, "columns-from")
                                ? train_second(training, arguments, &model, &error)
                                : train_on_files(training, options, arguments, &model, &error);
    progress_end(&training->view);
    int result = status == TRELLIS_OK || status == TRELLIS_INTERRUPTED
                     ? save(training, status, model)
                     : failure(status, &error);
    trellis_model_close(model);
    trellis_cancellation *ended = cancellation;
    cancellation = NULL; // a late signal finds none
    trellis_cancellation_destroy(ended);
    return result;
}

int train_model(const struct arguments *arguments, const trellis_options *options, const char *path)
{
    struct training training = {.model_path = path};
    const char *log_path = trellis_options_get(options, "log");
    int result = open_log(&training, log_path);
    if (result == EXIT_SUCCESS) {
        result = train(&training, options, arguments);
    }
    int logged = close_log(&training, log_path);
    return result ? result : logged;
}

static int run(const struct arguments *arguments)
{
    const char *path = argument(arguments, "model");
    if (!path) {
        return usage_error(arguments->command, "-m is missing: the model file to write");
    }
    if (arguments->path_count == 0) {
        return usage_error(arguments->command, "no training file given");
    }
    int result = check_model_target(arguments->command, path);
    if (result == EXIT_SUCCESS) {
        result = columns_from_check(arguments);
    }
    return result ? result : train_model(arguments, arguments->options, path);
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "Write the model to FILE. Required."},
    {"quiet", 'q', NULL, "Print errors only."},
    {"columns-from", 0, "OPTIONS",
     "Train another model first, with these options of a training or a preset, and use its labels "
     "instead of gold ones: 'pos --label 2' replaces column 2. Without --label they are one more "
     "column, 'first_pass', for a second model. Each fold of the training data is labelled by a "
     "model of the others."},
    {"first-model", 0, "FILE", "Write the model of --columns-from to FILE."},
    {"folds", 0, "N", "With --columns-from, the number of contiguous folds. [5]"},
    {0},
};

const struct command command_train = {
    .name = "train",
    .summary = "train a model on labelled sequences",
    .synopsis = "-m MODEL [OPTION...] FILE...",
    .description =
        "Trains a sequence labelling model on labelled data and writes it to a file. Without -f "
        "and -t the data decides which preset suits it, and a line says which; a preset for a task "
        "comes with the learner and the options that did best with it ('trellis presets').\n\n"
        "With --dev, held-out data is scored after each iteration, training stops when the score "
        "no longer improves, and the best model is kept. Ctrl-C stops training and keeps the best "
        "model so far, with exit status 130; a second Ctrl-C quits at once.",
    .own = own,
    .groups = TRELLIS_GROUP_TRAIN | TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS | TRELLIS_GROUP_RUN,
    .without = "scheme",
    .rare = "columns-from first-model folds",
    .writes = "model first-model",
    .common = "fast best type features dev label format",
    .examples = "# labels in the last column; the data decides what is learned, and how\n"
                "trellis train -m my.model train.txt\n"
                "# a part-of-speech tagger from a treebank\n"
                "trellis train -f pos --label UPOS -m pos.model en-train.conllu.gz\n"
                "# CRF++ templates, and a log of each iteration\n"
                "trellis train -t crf -f template --log curve.jsonl -m ner.model train.txt\n"
                "# a chunker for text without part-of-speech tags, and the tagger it needs\n"
                "trellis train -f chunk --columns-from 'pos --label 2' --first-model pos.model "
                "-m chunk.model train.txt\n"
                "trellis tag -m pos.model -m chunk.model words.txt\n",
    .run = run,
};
