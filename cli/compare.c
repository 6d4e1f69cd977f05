/* compare.c - `trellis compare`: learners and feature sets in one table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment.h"
#include "message.h"
#include "output_file.h"

/* Takes the next word from a list separated by commas; false at its end. */
static bool next_word(const char **list, char *word, size_t room)
{
    size_t size = strcspn(*list, ",");
    if (**list == '\0') {
        return false;
    }
    snprintf(word, room, "%.*s", (int)size, *list);
    *list += size;
    *list += **list == ',';
    return true;
}

struct row {
    char learner[64], features[256];
    struct figures figures;
    char problem[400]; // "" if there is none
};

struct table {
    struct row *rows;
    size_t count;
};

/* ---- output ---------------------------------------------------------------------------------- */

static double best_score(const struct table *table)
{
    double best = -1;
    for (size_t i = 0; i < table->count; i++) {
        if (!table->rows[i].problem[0]) {
            best = fmax(best, figures_score(&table->rows[i].figures));
        }
    }
    return best;
}

static bool has_spans(const struct table *table)
{
    bool spans = false;
    for (size_t i = 0; i < table->count; i++) {
        spans = spans || table->rows[i].figures.scores.has_spans;
    }
    return spans;
}

static void write_table(FILE *out, const struct table *table)
{
    bool spans = has_spans(table);
    double best = best_score(table);
    fprintf(out, "%-18s %-14s %9s %9s %10s %9s %9s%s\n", "learner", "features", "train s", "tag s",
            "weights", "accuracy", "OOV", spans ? "       FB1" : "");
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        const struct figures *f = &row->figures;
        if (row->problem[0]) {
            fprintf(out, "%-18s %-14s %s\n", row->learner, row->features, row->problem);
            continue;
        }
        fprintf(out, "%-18s %-14s %9.2f %9.2f %10llu %9.2f", row->learner, row->features,
                f->train_seconds, f->tag_seconds, (unsigned long long)f->features,
                100 * f->scores.accuracy);
        if (isnan(f->oov_accuracy)) {
            fprintf(out, " %9s", "-");
        } else {
            fprintf(out, " %9.2f", 100 * f->oov_accuracy);
        }
        if (spans) {
            fprintf(out, " %9.2f", 100 * f->scores.f1);
        }
        fputs(figures_score(f) >= best ? " *\n" : "\n", out);
    }
}

/* Characters that JSON would have to escape become '?'. */
static void write_json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        bool plain = (unsigned char)*text >= ' ' && *text != '"' && *text != '\\';
        fputc(plain ? *text : '?', out);
    }
    fputc('"', out);
}

static void write_json(FILE *out, const struct table *table)
{
    fputs("[\n", out);
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        const struct figures *f = &row->figures;
        fputs("  {\"learner\": ", out);
        write_json_text(out, row->learner);
        fputs(", \"features\": ", out);
        write_json_text(out, row->features);
        if (row->problem[0]) {
            fputs(", \"problem\": ", out);
            write_json_text(out, row->problem);
        } else {
            fprintf(out,
                    ", \"train_seconds\": %.3f, \"tag_seconds\": %.3f, \"weights\": %llu, "
                    "\"accuracy\": %.17g",
                    f->train_seconds, f->tag_seconds, (unsigned long long)f->features,
                    f->scores.accuracy);
            if (!isnan(f->oov_accuracy)) {
                fprintf(out, ", \"oov_accuracy\": %.17g", f->oov_accuracy);
            }
            if (f->scores.has_spans) {
                fprintf(out, ", \"precision\": %.17g, \"recall\": %.17g, \"f1\": %.17g",
                        f->scores.precision, f->scores.recall, f->scores.f1);
            }
        }
        fputs(i + 1 < table->count ? "},\n" : "}\n", out);
    }
    fputs("]\n", out);
}

/* ---- experiments ----------------------------------------------------------------------------- */

/* TYPE or TYPE:ALGORITHM. */
static trellis_status choose(trellis_options *options, const struct row *row, trellis_error *error)
{
    char type[64];
    const char *algorithm = strchr(row->learner, ':');
    snprintf(type, sizeof type, "%.*s", (int)strcspn(row->learner, ":"), row->learner);
    trellis_status status = trellis_options_set(options, "type", type, error);
    if (!status && algorithm) {
        status = trellis_options_set(options, "algorithm", algorithm + 1, error);
    }
    return status ? status : trellis_options_set(options, "features", row->features, error);
}

/* A learner that cannot be run gets a row with the reason; a file that cannot be read ends it
 * all. */
static trellis_status try_row(const struct arguments *arguments, struct row *row,
                              trellis_error *error)
{
    trellis_options *options = NULL;
    trellis_status status = trellis_options_copy(arguments->options, &options, error);
    if (!status) {
        status = choose(options, row, error);
    }
    if (!status) {
        struct experiment experiment = {
            .options = options,
            .train = arguments->paths,
            .train_count = 1,
            .train_part = "",
            .test = arguments->paths + 1,
            .test_count = 1,
            .test_part = "",
            .threads = argument_threads(arguments),
        };
        status = experiment_run(&experiment, NULL, &row->figures, error);
    }
    trellis_options_destroy(options);
    if (status == TRELLIS_OPTION || status == TRELLIS_TEMPLATE || status == TRELLIS_DATA ||
        status == TRELLIS_LIMIT) {
        snprintf(row->problem, sizeof row->problem, "%.399s", error->message);
        status = TRELLIS_OK;
    }
    return status;
}

static trellis_status fill(const struct arguments *arguments, struct table *table,
                           const char *learners, const char *sets, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    struct row row = {0};
    for (const char *l = learners; !status && next_word(&l, row.learner, sizeof row.learner);) {
        for (const char *s = sets; !status && next_word(&s, row.features, sizeof row.features);) {
            struct row *rows = realloc(table->rows, (table->count + 1) * sizeof *rows);
            if (!rows) {
                return set_error(error, TRELLIS_MEMORY, "out of memory");
            }
            table->rows = rows;
            rows[table->count] = (struct row){.figures = {.oov_accuracy = NAN}};
            memcpy(rows[table->count].learner, row.learner, sizeof row.learner);
            memcpy(rows[table->count].features, row.features, sizeof row.features);
            status = try_row(arguments, &rows[table->count], error);
            const struct row *done = &rows[table->count++];
            if (!status && !done->problem[0] && !argument_flag(arguments, "quiet")) {
                message("%s with %s features: %.2f after %.1f s", done->learner, done->features,
                        100 * figures_score(&done->figures), done->figures.train_seconds);
            }
        }
    }
    return status;
}

/* All learners, separated by commas. */
static void list_learners(char *list, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; trellis_learner_name(i) && used < room; i++) {
        used += (size_t)snprintf(list + used, room - used, "%s%s", i ? "," : "",
                                 trellis_learner_name(i));
    }
}

static int run(const struct arguments *arguments)
{
    char all[1000] = "";
    const char *learners = argument(arguments, "types"), *sets = argument(arguments, "sets");
    list_learners(all, sizeof all);
    if (arguments->path_count != 2) {
        return usage_error(arguments->command, "expected two files: training data and test data");
    }
    int result = check_files(arguments, arguments->paths, 2);
    struct output output;
    if (result == EXIT_SUCCESS) {
        result = output_open(&output, argument(arguments, "output"));
    }
    if (result != EXIT_SUCCESS) {
        return result;
    }
    trellis_error error = {0};
    struct table table = {0};
    trellis_status status = fill(arguments, &table, learners ? learners : all,
                                 sets ? sets : "id,extended", &error);
    if (!status) {
        (argument_flag(arguments, "json") ? write_json : write_table)(output.file, &table);
    }
    free(table.rows);
    return output_end(&output, status, &error);
}

static const struct own_option own[] = {
    {"types", 0, "LIST",
     "Learners to compare, separated by commas: TYPE or TYPE:ALGORITHM. [all types]"},
    {"sets", 0, "LIST",
     "Feature sets to compare, separated by commas: presets or files. [id,extended]"},
    {"json", 0, NULL, "Write JSON."},
    {"output", 'o', "FILE", "Write to FILE, atomically. [-]"},
    {"quiet", 'q', NULL, "Print no progress messages."},
    {0},
};

const struct command command_compare = {
    .name = "compare",
    .summary = "compare learners and feature sets",
    .synopsis = "[OPTION...] TRAIN TEST",
    .description =
        "Trains on TRAIN with each combination of learner and feature set, tags TEST, and prints "
        "one table: training and tagging time in seconds, non-zero weights, accuracy, accuracy "
        "out of vocabulary (OOV: words that are not in TRAIN), and F1 if the labels are span "
        "labels. The best row is marked. All other options apply to every row; if a learner does "
        "not support one, its row says so.",
    .own = own,
    .groups = TRELLIS_GROUP_TRAIN | TRELLIS_GROUP_TAG | TRELLIS_GROUP_READ | TRELLIS_GROUP_RUN,
    .with = "strict",
    .without = "part type algorithm features nbest log threshold checkpoint every resume",
    .examples = "# each learner, with words only and with more features\n"
                "trellis compare train.txt test.txt\n"
                "trellis compare --types perceptron,perceptron:arow,crf:sgd --sets chunk -e 5 "
                "train.txt test.txt\n",
    .run = run,
};
