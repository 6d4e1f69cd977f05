/* compare.c - `trellis compare`: learners and feature sets in one table.
 *
 * The first row is what `trellis train` does by itself, and the other learners get its templates,
 * so that a recommendation is never worse than typing nothing. The best row is the one with the
 * highest score; rows that a randomisation test cannot tell from it are marked, too.
 */
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

#define PLAIN "default" // the learner of the first row: whatever `trellis train` chooses

struct row {
    char learner[64], features[256];
    struct figures figures;
    trellis_evaluation *evaluation;
    double p;          // of the difference from the best row; NaN for that row
    char problem[400]; // "" if there is none
};

static bool is_plain(const struct row *row)
{
    return strcmp(row->learner, PLAIN) == 0;
}

struct table {
    struct row *rows;
    size_t count;
};

/* ---- output ---------------------------------------------------------------------------------- */

enum { NONE = -1 };

/* The row with the highest score, or NONE. */
static int best_row(const struct table *table)
{
    int best = NONE;
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        if (!row->problem[0] && (best == NONE || figures_score(&row->figures) >
                                                     figures_score(&table->rows[best].figures))) {
            best = (int)i;
        }
    }
    return best;
}

/* Tests each row against the best one. */
static trellis_status test_differences(struct table *table, trellis_error *error)
{
    int best = best_row(table);
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < table->count; i++) {
        struct row *row = &table->rows[i];
        trellis_comparison *comparison = NULL;
        trellis_contrast contrast = {.struct_size = sizeof contrast, .p = NAN};
        if (row->problem[0] || (int)i == best) {
            continue;
        }
        status = trellis_evaluation_compare(table->rows[best].evaluation, row->evaluation,
                                            &comparison, error);
        if (!status) {
            trellis_comparison_measure(
                comparison, row->figures.scores.has_spans ? TRELLIS_F1 : TRELLIS_ACCURACY,
                &contrast);
            row->p = contrast.p;
        }
        trellis_comparison_destroy(comparison);
    }
    return status;
}

static bool has_spans(const struct table *table)
{
    bool spans = false;
    for (size_t i = 0; i < table->count; i++) {
        spans = spans || table->rows[i].figures.scores.has_spans;
    }
    return spans;
}

#define SIGNIFICANT 0.05

static void write_table(FILE *out, const struct table *table)
{
    bool spans = has_spans(table), close = false;
    int best = best_row(table);
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
        fputs((int)i == best ? " *\n" : row->p >= SIGNIFICANT ? " ~\n" : "\n", out);
        close = close || row->p >= SIGNIFICANT;
    }
    if (best != NONE) {
        fprintf(out, "\n* best%s\n", close ? "; ~ not significantly worse (p >= 0.05)" : "");
        fprintf(out, "TEST chose it, so its score is optimistic: report one on other data.\n");
    }
    if (best != NONE && is_plain(&table->rows[0]) && !table->rows[0].problem[0]) {
        fprintf(out, "default: -t %s -a %s -f %s\n", table->rows[0].figures.type,
                table->rows[0].figures.algorithm, table->rows[0].figures.templates);
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
        if (!row->problem[0] && is_plain(row)) {
            fputs(", \"type\": ", out);
            write_json_text(out, row->figures.type);
            fputs(", \"algorithm\": ", out);
            write_json_text(out, row->figures.algorithm);
        }
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
            fprintf(out, ", \"best\": %s", (int)i == best_row(table) ? "true" : "false");
            if (!isnan(row->p)) {
                fprintf(out, ", \"p\": %.6g", row->p);
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

/* TYPE or TYPE:ALGORITHM; the plain row leaves all to `train`. */
static trellis_status choose(trellis_options *options, const struct row *row, trellis_error *error)
{
    char type[64];
    const char *algorithm = strchr(row->learner, ':');
    if (is_plain(row)) {
        return TRELLIS_OK;
    }
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
        status = trellis_evaluation_create(options, &row->evaluation, error);
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
        status = experiment_run(&experiment, row->evaluation, &row->figures, error);
    }
    trellis_options_destroy(options);
    if (status == TRELLIS_OPTION || status == TRELLIS_TEMPLATE || status == TRELLIS_DATA ||
        status == TRELLIS_LIMIT) {
        snprintf(row->problem, sizeof row->problem, "%.399s", error->message);
        status = TRELLIS_OK;
    }
    return status;
}

/* Adds a row, and tries it. */
static trellis_status add_row(const struct arguments *arguments, struct table *table,
                              const char *learner, const char *features, trellis_error *error)
{
    struct row *rows = realloc(table->rows, (table->count + 1) * sizeof *rows);
    if (!rows) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    table->rows = rows;
    struct row *row = &rows[table->count++];
    *row = (struct row){.figures = {.oov_accuracy = NAN}, .p = NAN};
    snprintf(row->learner, sizeof row->learner, "%s", learner);
    snprintf(row->features, sizeof row->features, "%s", features);
    trellis_status status = try_row(arguments, row, error);
    if (!status && is_plain(row) && !row->problem[0]) {
        snprintf(row->features, sizeof row->features, "%s", row->figures.templates);
    }
    if (!status && !row->problem[0] && !argument_flag(arguments, "quiet")) {
        message("%s with %s features: %.2f after %.1f s", row->learner, row->features,
                100 * figures_score(&row->figures), row->figures.train_seconds);
    }
    return status;
}

/* An HMM emits one thing at each token: of the usual templates only `hmm` suits it. */
static const char *sets_for(const char *learner, const char *chosen)
{
    return strncmp(learner, "hmm", 3) == 0 ? "hmm" : chosen;
}

static trellis_status fill(const struct arguments *arguments, struct table *table,
                           const char *learners, const char *sets, trellis_error *error)
{
    char learner[64], features[256], chosen[256] = "general";
    trellis_status status = TRELLIS_OK;
    if (!sets) {
        status = add_row(arguments, table, PLAIN, chosen, error);
        snprintf(chosen, sizeof chosen, "%s", status ? "" : table->rows[0].features);
    }
    for (const char *l = learners; !status && next_word(&l, learner, sizeof learner);) {
        const char *s = sets ? sets : sets_for(learner, chosen);
        while (!status && next_word(&s, features, sizeof features)) {
            status = add_row(arguments, table, learner, features, error);
        }
    }
    return status ? status : test_differences(table, error);
}

static void free_table(struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        trellis_evaluation_destroy(table->rows[i].evaluation);
    }
    free(table->rows);
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
    trellis_status status = fill(arguments, &table, learners ? learners : all, sets, &error);
    if (!status) {
        (argument_flag(arguments, "json") ? write_json : write_table)(output.file, &table);
    }
    free_table(&table);
    return output_end(&output, status, &error);
}

static const struct own_option own[] = {
    {"types", 0, "LIST",
     "Learners to compare, separated by commas: TYPE or TYPE:ALGORITHM. [all types]"},
    {"sets", 0, "LIST",
     "Feature sets to compare, separated by commas: presets or files. [what 'trellis train' chooses "
     "for this data]"},
    {"json", 0, NULL, "Write JSON."},
    OWN_OUTPUT,
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
        "labels. The first row is what 'trellis train' does by itself; the other learners get its "
        "templates unless --sets is given. The best row is marked with *, and rows that are not "
        "significantly worse with ~. All other options apply to every row; if a learner does not "
        "support one, its row says so.",
    .own = own,
    .groups = TRELLIS_GROUP_TRAIN | TRELLIS_GROUP_TAG | TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS |
              TRELLIS_GROUP_RUN,
    .with = "strict",
    .without = "part type algorithm features nbest log threshold checkpoint every resume",
    .common = "type features dev epochs label threads",
    .examples = "# what 'trellis train' does by itself, and each learner\n"
                "trellis compare train.txt test.txt\n"
                "trellis compare --types perceptron,perceptron:arow,crf:sgd --sets chunk -e 5 "
                "train.txt test.txt\n",
    .run = run,
};
