/* tune.c - `trellis tune`: hyperparameter search. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment.h"
#include "message.h"
#include "model_file.h"
#include "output_file.h"
#include "train.h"

enum { DEFAULT_FOLDS = 3, MAX_TASK = 8192, MAX_SHOWN = 30 };

struct tuning {
    const struct arguments *arguments;
    trellis_search *search;
    size_t folds; // 0: scored on --dev
    bool by_epochs;
};

/* ---- one trial ------------------------------------------------------------------------------- */

/* The options given, with the settings of a trial. */
static trellis_status apply_settings(const struct tuning *tuning, const trellis_trial *trial,
                                     trellis_options **ret_options, trellis_error *error)
{
    trellis_status status = trellis_options_copy(tuning->arguments->options, ret_options, error);
    for (size_t i = 0; !status && i < trial->setting_count; i++) {
        status = trellis_options_set(*ret_options, trial->names[i], trial->values[i], error);
    }
    return status;
}

/* The options of a trial; with --budget epochs its share of the budget is a share of --epochs. */
static trellis_status make_options(const struct tuning *tuning, const trellis_trial *trial,
                                   trellis_options **ret_options, trellis_error *error)
{
    trellis_status status = apply_settings(tuning, trial, ret_options, error);
    if (!status && tuning->by_epochs) {
        double epochs = strtod(trellis_options_get(*ret_options, "epochs"), NULL);
        char text[32];
        snprintf(text, sizeof text, "%.0f", fmax(1, round(epochs * trial->share)));
        status = trellis_options_set(*ret_options, "epochs", text, error);
    }
    return status;
}

/* The --part to train on: what is not held out, then the share of the budget. */
static void write_part(const struct tuning *tuning, const trellis_trial *trial, const char *without,
                       char *text, size_t room)
{
    double parts = tuning->by_epochs ? 1 : round(1 / trial->share);
    if (parts > 1) {
        snprintf(text, room, "%s%s1/%.0f", without, without[0] ? "," : "", parts);
    } else {
        snprintf(text, room, "%s", without);
    }
}

static trellis_status score_fold(const struct tuning *tuning, const trellis_trial *trial,
                                 const trellis_options *options, size_t fold,
                                 trellis_evaluation *evaluation, double *seconds,
                                 trellis_error *error)
{
    const struct arguments *arguments = tuning->arguments;
    const char *dev = trellis_options_get(options, "dev");
    char without[64] = "", test[64] = "", train[160];
    if (tuning->folds) {
        snprintf(without, sizeof without, "!%zu/%zu", fold + 1, tuning->folds);
        snprintf(test, sizeof test, "%zu/%zu", fold + 1, tuning->folds);
    }
    write_part(tuning, trial, without, train, sizeof train);
    struct experiment experiment = {
        .options = options,
        .train = arguments->paths,
        .train_count = arguments->path_count,
        .train_part = train,
        .test = tuning->folds ? arguments->paths : &dev,
        .test_count = tuning->folds ? arguments->path_count : 1,
        .test_part = test,
        .threads = argument_threads(arguments),
    };
    struct figures figures;
    trellis_status status = experiment_run(&experiment, evaluation, &figures, error);
    *seconds += figures.train_seconds;
    return status;
}

/* A setting that cannot be trained has no score; files that cannot be read end the search. */
static trellis_status score_trial(const struct tuning *tuning, const trellis_trial *trial,
                                  double *ret_score, double *ret_seconds, trellis_error *error)
{
    trellis_options *options = NULL;
    trellis_evaluation *evaluation = NULL;
    *ret_score = NAN;
    *ret_seconds = 0;
    trellis_status status = make_options(tuning, trial, &options, error);
    if (!status) {
        status = trellis_evaluation_create(options, &evaluation, error);
    }
    size_t folds = tuning->folds ? tuning->folds : 1;
    for (size_t i = 0; !status && i < folds; i++) {
        status = score_fold(tuning, trial, options, i, evaluation, ret_seconds, error);
    }
    if (!status) {
        trellis_scores scores = {.struct_size = sizeof scores};
        trellis_evaluation_scores(evaluation, &scores);
        *ret_score = scores.has_spans ? scores.f1 : scores.accuracy;
    } else if (status == TRELLIS_OPTION || status == TRELLIS_TEMPLATE || status == TRELLIS_DATA ||
               status == TRELLIS_LIMIT) {
        message("%s", error->message);
        status = TRELLIS_OK;
    }
    trellis_evaluation_destroy(evaluation);
    trellis_options_destroy(options);
    return status;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void write_settings(FILE *out, const trellis_trial *trial)
{
    for (size_t i = 0; i < trial->setting_count; i++) {
        fprintf(out, "%s--%s %s", i ? " " : "", trial->names[i], trial->values[i]);
    }
}

static void report_trial(const trellis_trial *trial, double score, double seconds)
{
    char settings[1000] = "";
    for (size_t i = 0, used = 0; i < trial->setting_count && used < sizeof settings; i++) {
        used += (size_t)snprintf(settings + used, sizeof settings - used, "%s--%s %s", i ? " " : "",
                                 trial->names[i], trial->values[i]);
    }
    if (isnan(score)) {
        message("%s: no score", settings);
    } else {
        message("%s: %.2f with %.3g of the budget in %.1f s", settings, 100 * score, trial->share,
                seconds);
    }
}

static void write_table(FILE *out, const trellis_search *search)
{
    trellis_trial trial = {.struct_size = sizeof trial};
    fprintf(out, "%9s %9s %9s  settings, best first\n", "score", "budget", "seconds");
    for (size_t i = 0;
         i < MAX_SHOWN && trellis_search_ranked(search, i, &trial) == TRELLIS_OK && trial.scored;
         i++) {
        if (isnan(trial.score)) {
            fprintf(out, "%9s", "none");
        } else {
            fprintf(out, "%9.2f", 100 * trial.score);
        }
        fprintf(out, " %9.3g %9.1f  ", trial.share, trial.seconds);
        write_settings(out, &trial);
        fputc('\n', out);
    }
}

/* The values were checked against the table of options; a quote in one becomes '?'. */
static void write_json(FILE *out, const trellis_search *search)
{
    trellis_trial trial = {.struct_size = sizeof trial};
    fputs("[\n", out);
    for (size_t i = 0; trellis_search_ranked(search, i, &trial) == TRELLIS_OK && trial.scored;
         i++) {
        fprintf(out, "%s  {\"settings\": {", i ? ",\n" : "");
        for (size_t k = 0; k < trial.setting_count; k++) {
            fprintf(out, "%s\"%s\": \"", k ? ", " : "", trial.names[k]);
            for (const char *at = trial.values[k]; *at; at++) {
                fputc(*at == '"' || *at == '\\' || (unsigned char)*at < ' ' ? '?' : *at, out);
            }
            fputc('"', out);
        }
        fprintf(out, "}, \"share\": %.6g, \"seconds\": %.3f, \"score\": ", trial.share,
                trial.seconds);
        if (isnan(trial.score)) {
            fputs("null}", out);
        } else {
            fprintf(out, "%.17g}", trial.score);
        }
    }
    fputs("\n]\n", out);
}

/* ---- the winner ------------------------------------------------------------------------------ */

/* A word as a shell reads it: quoted unless all its characters are harmless. */
static void write_word(FILE *out, const char *word)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "%+,-./:=@_";
    if (*word && !word[strspn(word, harmless)]) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++) {
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    }
    fputc('\'', out);
}

static void write_option(FILE *out, const trellis_option *option, const char *value)
{
    bool off = option->type == TRELLIS_FLAG && strcmp(value, "no") == 0;
    fprintf(out, " --%s%s", off ? "no-" : "", option->name);
    if (option->type != TRELLIS_FLAG) {
        fputc(' ', out);
        write_word(out, value);
    }
}

/* The `trellis train` that makes a model with these options: what was given, less what only a
 * search takes. */
static void write_command(FILE *out, const struct arguments *arguments,
                          const trellis_options *options)
{
    const char *model = argument(arguments, "model");
    fputs("trellis train", out);
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        if (trellis_options_given(options, option->name) &&
            !(option->groups & TRELLIS_GROUP_TUNE)) {
            write_option(out, option, trellis_options_get(options, option->name));
        }
    }
    fputs(" -m ", out);
    write_word(out, model ? model : "MODEL");
    for (size_t i = 0; i < arguments->path_count; i++) {
        fputc(' ', out);
        write_word(out, arguments->paths[i]);
    }
    fputc('\n', out);
}

/* The options of the best setting. */
static trellis_status find_winner(const struct tuning *tuning, trellis_options **ret_options,
                                  trellis_error *error)
{
    trellis_trial trial = {.struct_size = sizeof trial};
    if (trellis_search_ranked(tuning->search, 0, &trial) || isnan(trial.score)) {
        return set_error(error, TRELLIS_DATA, "no setting could be trained");
    }
    return apply_settings(tuning, &trial, ret_options, error);
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Identifies the search in a results file: all options given that are not searched over. */
static void write_task(const struct tuning *tuning, char *task)
{
    const struct arguments *arguments = tuning->arguments;
    size_t used = (size_t)snprintf(task, MAX_TASK, "%zu folds,", tuning->folds);
    for (size_t i = 0; i < trellis_option_count() && used < MAX_TASK; i++) {
        const trellis_option *option = trellis_option_at(i);
        if (trellis_options_given(arguments->options, option->name) &&
            strcmp(option->name, "threads") != 0 && strcmp(option->name, "trials") != 0) {
            used += (size_t)snprintf(task + used, MAX_TASK - used, " --%s %s", option->name,
                                     trellis_options_get(arguments->options, option->name));
        }
    }
    for (size_t i = 0; i < arguments->path_count && used < MAX_TASK; i++) {
        used += (size_t)snprintf(task + used, MAX_TASK - used, " %s", arguments->paths[i]);
    }
}

static trellis_status search_all(const struct tuning *tuning, trellis_error *error)
{
    trellis_trial trial = {.struct_size = sizeof trial};
    trellis_status status = TRELLIS_OK;
    bool quiet = argument_flag(tuning->arguments, "quiet");
    while (!status && trellis_search_next(tuning->search, &trial) == TRELLIS_OK) {
        double score, seconds;
        status = score_trial(tuning, &trial, &score, &seconds, error);
        if (!status && !quiet) {
            report_trial(&trial, score, seconds);
        }
        if (!status) {
            status = trellis_search_tell(tuning->search, score, seconds, error);
        }
    }
    return status;
}

static int plot(const struct tuning *tuning, const char *path)
{
    struct output output;
    trellis_error error = {0};
    int result = output_open(&output, path);
    if (result == EXIT_SUCCESS) {
        trellis_status status = trellis_search_plot(tuning->search, output_sink, &output, &error);
        result = output_end(&output, status, &error);
    }
    return result;
}

static trellis_status search(struct tuning *tuning, trellis_error *error)
{
    const struct arguments *arguments = tuning->arguments;
    const char *tries[64], *results = argument(arguments, "results");
    size_t count = 0;
    while (count < sizeof tries / sizeof *tries &&
           (tries[count] = argument_nth(arguments, "try", count))) {
        count++;
    }
    trellis_status status = trellis_search_create(arguments->options, tries, count, &tuning->search,
                                                  error);
    if (!status && results) {
        char task[MAX_TASK];
        write_task(tuning, task);
        status = trellis_search_keep(tuning->search, results, task, error);
    }
    return status ? status : search_all(tuning, error);
}

/* Checks the arguments. */
static int check(struct tuning *tuning)
{
    const struct arguments *arguments = tuning->arguments;
    bool has_dev = trellis_options_get(arguments->options, "dev")[0] != '\0';
    size_t folds;
    if (!argument_nth(arguments, "try", 0)) {
        return usage_error(arguments->command, "--try is missing: an option and the values to try");
    }
    if (arguments->path_count == 0) {
        return usage_error(arguments->command, "no training file given");
    }
    int result = parse_folds(arguments, DEFAULT_FOLDS, &folds);
    if (result != EXIT_SUCCESS) {
        return result;
    }
    if (argument(arguments, "folds") && has_dev) {
        return usage_error(arguments->command, "--folds cannot be combined with --dev");
    }
    tuning->folds = has_dev ? 0 : folds;
    tuning->by_epochs = strcmp(trellis_options_get(arguments->options, "budget"), "epochs") == 0;
    if (tuning->by_epochs && strcmp(trellis_options_get(arguments->options, "epochs"), "0") == 0) {
        return usage_error(arguments->command,
                           "--budget epochs needs --epochs: the full budget of a setting");
    }
    return check_files(arguments, arguments->paths, arguments->path_count);
}

/* Searches and writes the results. */
static int tune(struct tuning *tuning, trellis_options **ret_winner)
{
    const struct arguments *arguments = tuning->arguments;
    struct output output;
    trellis_error error = {0};
    int result = output_open(&output, argument(arguments, "output"));
    if (result != EXIT_SUCCESS) {
        return result;
    }
    trellis_status status = search(tuning, &error);
    if (!status) {
        status = find_winner(tuning, ret_winner, &error);
    }
    if (!status && argument_flag(arguments, "json")) {
        write_json(output.file, tuning->search);
    } else if (!status) {
        write_table(output.file, tuning->search);
        fputs("\nThe best setting:\n", output.file);
        write_command(output.file, arguments, *ret_winner);
    }
    return output_end(&output, status, &error);
}

static int run(const struct arguments *arguments)
{
    struct tuning tuning = {.arguments = arguments};
    trellis_options *winner = NULL;
    const char *plot_path = argument(arguments, "plot"), *model = argument(arguments, "model");
    int result = check(&tuning);
    if (result == EXIT_SUCCESS && model) {
        result = check_model_target(arguments->command, model);
    }
    if (result == EXIT_SUCCESS) {
        result = tune(&tuning, &winner);
    }
    if (result == EXIT_SUCCESS && plot_path) {
        result = plot(&tuning, plot_path);
    }
    if (result == EXIT_SUCCESS && model) {
        result = train_model(arguments, winner, model);
    }
    trellis_options_destroy(winner);
    trellis_search_destroy(tuning.search);
    return result;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE", "Train the best setting on all data and write the model to FILE."},
    {"try", 0, "NAME=VALUES",
     "A training option and the values to try: a list (l2=0.1,0.5,1 or type=crf,perceptron) or a "
     "range (l2=0.01..10, order=1..3; l2=0.01..10/7 is a grid of 7 points). May be given several "
     "times."},
    {"folds", 'k', "N", "Without --dev: score by cross-validation with N folds. [3]"},
    {"results", 'r', "FILE",
     "Write every score to FILE, one JSON object per line. Running the same command again "
     "resumes an interrupted search."},
    {"plot", 0, "FILE", "Plot the scores of all settings to FILE, as SVG."},
    {"json", 0, NULL, "Write JSON."},
    OWN_OUTPUT,
    {"quiet", 'q', NULL, "Print no progress messages."},
    {0},
};

const struct command command_tune = {
    .name = "tune",
    .summary = "search for the best hyperparameters",
    .synopsis = "--try NAME=VALUES... [OPTION...] FILE...",
    .description =
        "Trains with every combination of the values to try (grid search), or with --trials N "
        "random ones (random search), and ranks them by F1, or by accuracy if the labels are not "
        "span labels: on --dev, which training uses as well, like 'trellis train' does, or by "
        "cross-validation.\n\n"
        "With --halving F (successive halving), all settings are first trained on a small share "
        "of the data (or of the epochs, see --budget), the best 1/F of them on F times as much, "
        "and so on; only the last few get the full budget.\n\n"
        "The table ends with the 'trellis train' command of the best setting; with -m it is "
        "trained, too.",
    .own = own,
    .groups = TRELLIS_GROUP_TUNE | TRELLIS_GROUP_TRAIN | TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS |
              TRELLIS_GROUP_RUN,
    .with = "strict",
    .without = "part log checkpoint every resume",
    .writes = "model results plot",
    .common = "type algorithm dev epochs label trials halving threads",
    .examples = "trellis tune --try l2=0.1,0.5,1 --try order=1,2 -t crf -a sgd -e 5 --dev dev.txt "
                "-m best.model train.txt\n"
                "# 27 random settings, most of them trained on a small part of the data only\n"
                "trellis tune --try l2=0.01..10 --try min-count=1..5 --trials 27 --halving 3 "
                "-t crf -a sgd -e 5 -r results.jsonl --plot tried.svg train.txt\n",
    .run = run,
};
