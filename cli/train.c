/* train.c - `trellis train`: learns a model from labelled sequences.
 *
 * Ctrl-C asks the training to stop; it then hands out the best model so far, which is saved. A second
 * Ctrl-C ends the process at once.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arguments.h"
#include "iteration_log.h"
#include "message.h"
#include "progress.h"

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
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
    FILE *log;                     // or NULL
    uint64_t logged;               // the last iteration in it
    trellis_progress last;         // of the last iteration that was complete
    double best_f1, best_accuracy; // on --dev; NaN where there is none
};

static bool on_progress(void *user, const trellis_progress *progress)
{
    struct training *training = user;
    progress_show(&training->view, progress);
    bool complete = progress->fraction >= 1 && progress->iteration > 0 &&
                    progress->phase != TRELLIS_PHASE_MESSAGE;
    if (complete) {
        training->last = *progress;
        training->best_f1 = fmax(training->best_f1, progress->dev_f1);
        training->best_accuracy = fmax(training->best_accuracy, progress->dev_accuracy);
    }
    if (complete && training->log && progress->iteration != training->logged) {
        iteration_log_write(training->log, progress);
        training->logged = progress->iteration;
    }
    return !interrupted;
}

/* Hours of training must not end with a path that cannot be written. */
static int check_model_path(const char *path)
{
    struct stat status;
    bool exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
        message("cannot write the model to %s: it is a folder", path);
        return EXIT_FAILURE;
    }
    if (exists && !S_ISREG(status.st_mode)) { // a device or a pipe is written to as it is
        return EXIT_SUCCESS;
    }
    char folder[4096] = ".";
    const char *slash = strrchr(path, '/');
    if (slash) {
        size_t size = slash == path ? 1 : (size_t)(slash - path);
        if (size >= sizeof folder) {
            message("cannot write the model to %s: %s", path, strerror(ENAMETOOLONG));
            return EXIT_FAILURE;
        }
        memcpy(folder, path, size);
        folder[size] = '\0';
    }
    if (access(folder, W_OK | X_OK) != 0) {
        message("cannot write the model to %s: %s: %s", path, folder, strerror(errno));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

static int open_log(struct training *training, const char *path)
{
    if (path[0]) {
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

static void summarise(const struct training *training)
{
    const trellis_progress *last = &training->last;
    char duration[32];
    if (last->iteration) {
        if (last->seconds < 60) {
            snprintf(duration, sizeof duration, "%.1f s", last->seconds);
        } else {
            format_duration(duration, sizeof duration, last->seconds);
        }
        message("%llu iterations in %s, %llu features with a weight",
                (unsigned long long)last->iteration, duration,
                (unsigned long long)last->active_features);
    }
    if (isfinite(training->best_f1)) {
        message("best F1 on the held-out data: %.2f", 100 * training->best_f1);
    } else if (isfinite(training->best_accuracy)) {
        message("best accuracy on the held-out data: %.2f%%", 100 * training->best_accuracy);
    }
}

static void tell_model(const char *path)
{
    struct stat file;
    if (stat(path, &file) == 0) {
        message("the model is in %s (%.1f MB)", path, (double)file.st_size / 1e6);
    }
}

/* `status` is OK, or STOPPED with a model or without one. */
static int save(struct training *training, trellis_status status, const trellis_model *model)
{
    trellis_error error = {0};
    if (!model) {
        message("interrupted: nothing had been learned yet");
        return EXIT_FAILURE;
    }
    trellis_status saved = trellis_model_save(model, training->model_path, &error);
    if (saved) {
        return failure(saved, &error);
    }
    if (!training->view.quiet) {
        summarise(training);
    }
    if (status == TRELLIS_INTERRUPTED) {
        message("interrupted: the best model so far is in %s", training->model_path);
        return EXIT_FAILURE;
    }
    if (!training->view.quiet) {
        tell_model(training->model_path);
    }
    return EXIT_SUCCESS;
}

static int train(struct training *training, const struct arguments *arguments)
{
    trellis_model *model = NULL;
    trellis_error error = {0};
    catch_signals();
    progress_begin(&training->view, argument_flag(arguments, "quiet"));
    trellis_status status = trellis_train(arguments->options, arguments->paths,
                                          arguments->path_count, on_progress, training, &model,
                                          &error);
    progress_end(&training->view);
    int result = status == TRELLIS_OK || status == TRELLIS_INTERRUPTED
                     ? save(training, status, model)
                     : failure(status, &error);
    trellis_model_close(model);
    return result;
}

static int run(const struct arguments *arguments)
{
    struct training training = {
        .model_path = argument(arguments, "model"),
        .best_f1 = NAN,
        .best_accuracy = NAN,
    };
    const char *log_path = trellis_options_get(arguments->options, "log");
    if (!training.model_path) {
        return usage_error(arguments->command, "-m is missing: where to write the model");
    }
    if (arguments->path_count == 0) {
        return usage_error(arguments->command, "a file to learn from is missing");
    }
    int result = check_model_path(training.model_path);
    if (result == EXIT_SUCCESS) {
        result = open_log(&training, log_path);
    }
    if (result == EXIT_SUCCESS) {
        result = train(&training, arguments);
    }
    int logged = close_log(&training, log_path);
    return result ? result : logged;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "Write the model to FILE. Required."},
    {"quiet", 'q', NULL, "Say nothing but what goes wrong."},
    {0},
};

const struct command command_train = {
    .name = "train",
    .summary = "learn a model from labelled sequences",
    .synopsis = "-m MODEL [OPTION...] FILE...",
    .description =
        "Learns to label sequences from files in which the labels are known, and writes a model.\n\n"
        "With --dev, held-out data is scored after each iteration, the training stops when the "
        "score no longer grows, and the best model is kept. Ctrl-C stops the training and keeps "
        "the best model so far; a second one ends it at once.",
    .own = own,
    .groups = TRELLIS_GROUP_TRAIN | TRELLIS_GROUP_READ | TRELLIS_GROUP_RUN,
    .without = "scheme",
    .examples = "# chunks, in the last of three columns\n"
                "trellis train -t crf -f chunk --dev dev.txt -m chunk.model train.txt\n"
                "# parts of speech of a treebank\n"
                "trellis train -f pos --label UPOS -m pos.model en-train.conllu.gz\n"
                "# with templates that were written for CRF++, and a log to draw curves from\n"
                "trellis train -t crf -f template --log curve.jsonl -m ner.model train.txt\n",
    .run = run,
};
