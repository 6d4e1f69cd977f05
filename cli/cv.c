/* cv.c - `trellis cv`: cross-validation. Each fold is tagged by a model trained on all other
 * folds. */
#include <math.h>
#include <stdlib.h>

#include "experiment.h"
#include "message.h"
#include "output_file.h"

enum { DEFAULT_FOLDS = 10 };

/* ---- output ---------------------------------------------------------------------------------- */

/* A measure of one fold. */
static double measure(const struct figures *figures, trellis_measure which)
{
    const trellis_scores *scores = &figures->scores;
    switch (which) {
    case TRELLIS_ACCURACY:
        return scores->accuracy;
    case TRELLIS_SEQUENCE_ACCURACY:
        return scores->sequences ? (double)scores->sequences_correct / (double)scores->sequences
                                 : 0;
    case TRELLIS_PRECISION:
        return scores->precision;
    case TRELLIS_RECALL:
        return scores->recall;
    case TRELLIS_F1:
        return scores->f1;
    }
    return NAN;
}

/* The mean over the folds, and the standard deviation with count - 1 in its denominator. */
static void summarise(const struct figures *folds, size_t count, trellis_measure which,
                      double *ret_mean, double *ret_deviation)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += measure(&folds[i], which);
    }
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        double difference = measure(&folds[i], which) - mean;
        squares += difference * difference;
    }
    *ret_mean = mean;
    *ret_deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
}

static int last_measure(const struct figures *pooled)
{
    return pooled->scores.has_spans ? TRELLIS_F1 : TRELLIS_SEQUENCE_ACCURACY;
}

static void write_row(FILE *out, const char *name, const struct figures *figures, int last)
{
    fprintf(out, "%9s %9llu %9.2f %9.2f", name, (unsigned long long)figures->scores.sequences,
            figures->train_seconds, figures->tag_seconds);
    for (int m = 0; m <= last; m++) {
        fprintf(out, " %9.2f", 100 * measure(figures, (trellis_measure)m));
    }
    fputc('\n', out);
}

static void write_summary(FILE *out, const struct figures *folds, size_t count, int last)
{
    double mean[TRELLIS_F1 + 1], deviation[TRELLIS_F1 + 1];
    for (int m = 0; m <= last; m++) {
        summarise(folds, count, (trellis_measure)m, &mean[m], &deviation[m]);
    }
    for (int row = 0; row < 2; row++) {
        fprintf(out, "%9s %9s %9s %9s", row ? "stddev" : "mean", "", "", "");
        for (int m = 0; m <= last; m++) {
            fprintf(out, " %9.2f", 100 * (row ? deviation[m] : mean[m]));
        }
        fputc('\n', out);
    }
}

static void write_table(FILE *out, const struct figures *folds, size_t count,
                        const struct figures *pooled)
{
    static const char *const headings[] = {"accuracy", "sequences", "precision", "recall", "FB1"};
    int last = last_measure(pooled);
    fprintf(out, "%9s %9s %9s %9s", "fold", "held out", "train s", "tag s");
    for (int m = 0; m <= last; m++) {
        fprintf(out, " %9s", headings[m]);
    }
    fputc('\n', out);
    for (size_t i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", i + 1);
        write_row(out, name, &folds[i], last);
    }
    write_summary(out, folds, count, last);
    write_row(out, "pooled", pooled, last);
}

static void write_json_row(FILE *out, const struct figures *figures, int last)
{
    fprintf(out, "{\"sequences\": %llu, \"train_seconds\": %.3f, \"tag_seconds\": %.3f",
            (unsigned long long)figures->scores.sequences, figures->train_seconds,
            figures->tag_seconds);
    for (int m = 0; m <= last; m++) {
        fprintf(out, ", \"%s\": %.17g", trellis_measure_name((trellis_measure)m),
                measure(figures, (trellis_measure)m));
    }
    fputc('}', out);
}

static void write_json(FILE *out, const struct figures *folds, size_t count,
                       const struct figures *pooled)
{
    int last = last_measure(pooled);
    fputs("{\n  \"folds\": [\n", out);
    for (size_t i = 0; i < count; i++) {
        fputs("    ", out);
        write_json_row(out, &folds[i], last);
        fputs(i + 1 < count ? ",\n" : "\n", out);
    }
    fputs("  ],\n", out);
    for (int row = 0; row < 2; row++) {
        fputs(row ? "  \"deviation\": {" : "  \"mean\": {", out);
        for (int m = 0; m <= last; m++) {
            double mean, deviation;
            summarise(folds, count, (trellis_measure)m, &mean, &deviation);
            fprintf(out, "%s\"%s\": %.17g", m ? ", " : "", trellis_measure_name((trellis_measure)m),
                    row ? deviation : mean);
        }
        fputs("},\n", out);
    }
    fputs("  \"pooled\": ", out);
    write_json_row(out, pooled, last);
    fputs("\n}\n", out);
}

/* ---- validation ------------------------------------------------------------------------------ */

static trellis_status validate(const struct arguments *arguments, size_t count,
                               struct figures *folds, struct figures *pooled, trellis_error *error)
{
    trellis_evaluation *evaluation = NULL;
    trellis_status status = trellis_evaluation_create(arguments->options, &evaluation, error);
    bool quiet = argument_flag(arguments, "quiet");
    for (size_t i = 0; !status && i < count; i++) {
        char train[48], test[48];
        snprintf(train, sizeof train, "!%zu/%zu", i + 1, count);
        snprintf(test, sizeof test, "%zu/%zu", i + 1, count);
        struct experiment experiment = {
            .options = arguments->options,
            .train = arguments->paths,
            .train_count = arguments->path_count,
            .train_part = train,
            .test = arguments->paths,
            .test_count = arguments->path_count,
            .test_part = test,
            .threads = argument_threads(arguments),
        };
        status = experiment_run(&experiment, evaluation, &folds[i], error);
        pooled->train_seconds += folds[i].train_seconds;
        pooled->tag_seconds += folds[i].tag_seconds;
        if (!status && !quiet) {
            message("fold %zu of %zu: %.2f after %.1f s", i + 1, count,
                    100 * figures_score(&folds[i]), folds[i].train_seconds);
        }
    }
    if (!status) {
        pooled->scores.struct_size = sizeof pooled->scores;
        trellis_evaluation_scores(evaluation, &pooled->scores);
    }
    trellis_evaluation_destroy(evaluation);
    return status;
}

static int run(const struct arguments *arguments)
{
    size_t count;
    if (arguments->path_count == 0) {
        return usage_error(arguments->command, "no training file given");
    }
    int result = parse_folds(arguments, DEFAULT_FOLDS, &count);
    struct output output;
    if (result == EXIT_SUCCESS) {
        result = check_files(arguments, arguments->paths, arguments->path_count);
    }
    if (result == EXIT_SUCCESS) {
        result = output_open(&output, argument(arguments, "output"));
    }
    if (result != EXIT_SUCCESS) {
        return result;
    }
    trellis_error error = {0};
    struct figures pooled = {0}, *folds = calloc(count, sizeof *folds);
    trellis_status status = folds ? validate(arguments, count, folds, &pooled, &error)
                                  : set_error(&error, TRELLIS_MEMORY, "out of memory");
    if (!status) {
        (argument_flag(arguments, "json") ? write_json : write_table)(output.file, folds, count,
                                                                      &pooled);
    }
    free(folds);
    return output_end(&output, status, &error);
}

static const struct own_option own[] = {
    {"folds", 'k', "N", "Number of folds. [10]"},
    {"json", 0, NULL, "Write JSON."},
    OWN_OUTPUT,
    {"quiet", 'q', NULL, "Print no progress messages."},
    {0},
};

const struct command command_cv = {
    .name = "cv",
    .summary = "cross-validate a model",
    .synopsis = "[OPTION...] FILE...",
    .description =
        "Splits the sequences of the files at random (--seed) into N folds, and tags each fold "
        "with a model trained on all others. Reports the scores of each fold, their mean and "
        "standard deviation, and the scores over all folds together (pooled).",
    .own = own,
    .groups = TRELLIS_GROUP_TRAIN | TRELLIS_GROUP_TAG | TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS |
              TRELLIS_GROUP_RUN,
    .with = "strict",
    .without = "part nbest log threshold checkpoint every resume",
    .common = "type features epochs label threads",
    .examples = "trellis cv -t crf -f chunk -k 5 train.txt\n"
                "# first order against second order\n"
                "trellis cv -t perceptron --order 1 train.txt\n"
                "trellis cv -t perceptron --order 2 train.txt\n",
    .run = run,
};
