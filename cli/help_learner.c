/* help_learner.c - the page of a learner: `trellis help crf`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

/* How many of its algorithms take an option; *ret_first is the first of them. */
static size_t count_takers(size_t learner, const char *option, size_t *ret_first,
                           size_t *ret_algorithms)
{
    size_t taking = 0, a = 0;
    for (; trellis_learner_algorithm(learner, a); a++) {
        if (trellis_learner_takes(learner, a, option) && taking++ == 0) {
            *ret_first = a;
        }
    }
    *ret_algorithms = a;
    return taking;
}

/* Whether every learner takes an option, so that it need not be explained here. */
static bool is_for_all(const char *option)
{
    bool all = true;
    size_t first, algorithms;
    for (size_t i = 0; all && trellis_learner_name(i); i++) {
        all = count_takers(i, option, &first, &algorithms) == algorithms;
    }
    return all || strcmp(option, "order") == 0;
}

static void write_option(FILE *out, const struct help_format *format, size_t learner,
                         size_t algorithm, const trellis_option *option)
{
    char text[40];
    double value = trellis_learner_default(learner, algorithm, option->name);
    snprintf(text, sizeof text, "%g", value);
    help_option_write(out, format, option, isnan(value) ? NULL : text);
}

static void write_algorithms(FILE *out, const struct help_format *format, size_t learner)
{
    format->heading(out, "Algorithms");
    for (size_t a = 0; trellis_learner_algorithm(learner, a); a++) {
        char term[60], text[160];
        double epochs = trellis_learner_default(learner, a, "epochs");
        snprintf(term, sizeof term, "-a %s", trellis_learner_algorithm(learner, a));
        if (epochs == 0) {
            snprintf(text, sizeof text, "%sIterates until it converges.", a ? "" : "The default. ");
        } else if (epochs == 1) {
            snprintf(text, sizeof text, "%sOne pass over the data.", a ? "" : "The default. ");
        } else {
            snprintf(text, sizeof text, "%sAt most %.0f epochs unless --epochs says otherwise.",
                     a ? "" : "The default. ", epochs);
        }
        format->item(out, term, text);
    }
}

/* Options that this algorithm takes and not all of them; or, for SIZE_MAX, that all take. */
static void write_options(FILE *out, const struct help_format *format, size_t learner, size_t only)
{
    bool headed = false;
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        size_t first = 0, algorithms = 0;
        if (!(option->groups & TRELLIS_GROUP_TRAIN) || is_for_all(option->name)) {
            continue;
        }
        size_t taking = count_takers(learner, option->name, &first, &algorithms);
        bool wanted = only == SIZE_MAX ? taking == algorithms
                                       : taking < algorithms &&
                                             trellis_learner_takes(learner, only, option->name);
        if (wanted && !headed) {
            char heading[100] = "Options";
            if (only != SIZE_MAX) {
                snprintf(heading, sizeof heading, "Options of -a %s",
                         trellis_learner_algorithm(learner, only));
            }
            format->heading(out, heading);
            headed = true;
        }
        if (wanted) {
            write_option(out, format, learner, first, option);
        }
    }
}

/* The names of the options that every learner takes. */
static void write_common(FILE *out, const struct help_format *format, size_t learner)
{
    char *text = NULL;
    size_t size = 0, first, algorithms;
    FILE *names = open_memstream(&text, &size);
    if (!names) {
        return;
    }
    fputs("Options of every type ('trellis train --help-all' explains them):", names);
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        if ((option->groups & TRELLIS_GROUP_TRAIN) && is_for_all(option->name) &&
            count_takers(learner, option->name, &first, &algorithms)) {
            fprintf(names, " --%s", option->name);
        }
    }
    fclose(names);
    fputc('\n', out);
    format->paragraphs(out, text ? text : "");
    free(text);
}

void help_page_write_learner(FILE *out, const struct help_format *format, size_t learner)
{
    char name[64], example[200];
    const char *type = trellis_learner_name(learner);
    snprintf(name, sizeof name, "trellis train -t %s", type);
    format->title(out, name, trellis_learner_help(learner));
    format->heading(out, "Description");
    format->paragraphs(out, trellis_learner_about(learner));
    write_algorithms(out, format, learner);
    write_options(out, format, learner, SIZE_MAX);
    for (size_t a = 0; trellis_learner_algorithm(learner, a); a++) {
        write_options(out, format, learner, a);
    }
    write_common(out, format, learner);
    snprintf(example, sizeof example, "trellis train -t %s -m my.model train.txt\n", type);
    format->heading(out, "Example");
    format->verbatim(out, example);
}
