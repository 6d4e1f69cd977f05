/* check.c - `trellis check`: looks for mistakes in data, before it is trained on. */
#include <string.h>

#include "arguments.h"
#include "message.h"
#include "output_file.h"

static trellis_status check_file(trellis_lint *lint, const struct arguments *arguments,
                                 const char *path, trellis_data_role role, trellis_error *error)
{
    const trellis_source source = {.struct_size = sizeof source, .path = path};
    return trellis_lint_read(lint, &source, arguments->options, role, error);
}

/* Bytes that are not UTF-8 are a finding, not an error. */
static trellis_status check_all(trellis_lint *lint, const struct arguments *arguments,
                                trellis_error *error)
{
    size_t count;
    const char *const *paths = argument_inputs(arguments, &count);
    const char *dev = trellis_options_get(arguments->options, "dev");
    trellis_status status = trellis_options_set(arguments->options, "invalid-utf8", "keep", error);
    for (size_t i = 0; !status && i < count; i++) {
        status = check_file(lint, arguments, paths[i], TRELLIS_TRAIN_DATA, error);
    }
    if (!status && *dev) {
        status = check_file(lint, arguments, dev, TRELLIS_DEV_DATA, error);
    }
    return status ? status : trellis_lint_finish(lint, error);
}

static void write_summary(FILE *out, const trellis_lint *lint, trellis_data_role role,
                          const char *heading)
{
    trellis_lint_summary summary = {.struct_size = sizeof summary};
    if (!trellis_lint_describe(lint, role, &summary)) {
        return;
    }
    fprintf(out, "%s%s, %zu column%s: %llu sequence%s, %llu token%s, longest sequence %llu, ",
            heading, summary.format, summary.columns, plural(summary.columns),
            (unsigned long long)summary.sequences, plural(summary.sequences),
            (unsigned long long)summary.tokens, plural(summary.tokens),
            (unsigned long long)summary.longest);
    fprintf(out, "%zu label%s", summary.labels, plural(summary.labels));
    if (strcmp(summary.scheme, "none") != 0) {
        fprintf(out, " (scheme %s)", summary.scheme);
    }
    fputc('\n', out);
}

/* Returns how many there are. */
static size_t write_findings(FILE *out, const trellis_lint *lint)
{
    trellis_finding finding = {.struct_size = sizeof finding};
    size_t count = 0;
    for (; trellis_lint_finding(lint, count, &finding); count++) {
        fprintf(out, "%s:", finding.name);
        if (finding.line) {
            fprintf(out, "%llu:", (unsigned long long)finding.line);
        }
        fprintf(out, " %s [%s]\n", finding.message, finding.kind);
    }
    return count;
}

static int run(const struct arguments *arguments)
{
    trellis_lint *lint = NULL;
    trellis_error error = {0};
    struct output output;
    int result = output_open(&output, argument(arguments, "output"));
    if (result != EXIT_SUCCESS) {
        return result;
    }
    size_t found = 0;
    trellis_status status = trellis_lint_create(&lint, &error);
    if (!status) {
        status = check_all(lint, arguments, &error);
    }
    if (!status) {
        bool dev = trellis_options_given(arguments->options, "dev");
        write_summary(output.file, lint, TRELLIS_TRAIN_DATA, dev ? "training data: " : "");
        write_summary(output.file, lint, TRELLIS_DEV_DATA, "dev data: ");
        found = write_findings(output.file, lint);
        if (found == 0) {
            fputs("nothing suspicious found\n", output.file);
        }
    }
    trellis_lint_destroy(lint);
    result = output_end(&output, status, &error);
    return result == EXIT_SUCCESS && found ? EXIT_FAILURE : result;
}

static const struct own_option own[] = {OWN_OUTPUT, {0}};

const struct command command_check = {
    .name = "check",
    .summary = "look for mistakes in data before training",
    .synopsis = "[OPTION...] [FILE...]",
    .description =
        "Reads data as 'trellis train' does and reports what is usually a mistake: labels that "
        "break their scheme, -DOCSTART- lines, missing blank lines between sequences, a single "
        "label or one for every token, empty columns, mixed encodings and, with --dev, sequences "
        "that are in both files. The exit status is 1 if there is anything to report. Training "
        "prints the same as warnings.",
    .own = own,
    .groups = TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS,
    .with = "dev seed",
    .without = "scheme invalid-utf8",
    .common = "dev label format columns separator",
    .examples = "trellis check train.txt\n"
                "trellis check --label UPOS --dev dev.conllu train.conllu\n",
    .run = run,
};
