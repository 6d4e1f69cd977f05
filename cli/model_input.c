/* model_input.c - the input of a model: read as its training data was, and checked against that.
 *
 * A training leaves notes on its data in the model (input-format, input-columns, ...). Models that
 * were made otherwise, or by an older version, lack them; then nothing is checked.
 */
#include "model_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "tag_result.h"

static const char *note_or(const trellis_model *model, const char *key, const char *otherwise)
{
    const char *note = trellis_model_note(model, key);
    return note ? note : otherwise;
}

/* The format that a file is read in. */
static const char *format_of(const trellis_options *options, const char *path)
{
    const char *format = trellis_options_get(options, "format");
    return strcmp(format, "auto") == 0 ? trellis_format_by_name(path) : format;
}

/* ---- defaults -------------------------------------------------------------------------------- */

static trellis_status set_default(trellis_options *options, const char *option, const char *value,
                                  trellis_error *error)
{
    return !value || trellis_options_given(options, option)
               ? TRELLIS_OK
               : trellis_options_set(options, option, value, error);
}

/* Whether all inputs are read in a format. */
static bool all_are(const struct arguments *arguments, const char *format)
{
    size_t count;
    const char *const *paths = argument_inputs(arguments, &count);
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        all = all && strcmp(format_of(arguments->options, paths[i]), format) == 0;
    }
    return all;
}

trellis_status take_input_defaults(const trellis_model *model, const struct arguments *arguments,
                                   bool gold, trellis_error *error)
{
    trellis_options *options = arguments->options;
    const char *format = trellis_model_note(model, "input-format");
    trellis_status status = set_default(options, "tokenizer",
                                        trellis_model_note(model, "input-tokenizer"), error);
    if (!status) {
        status = set_default(options, "context", trellis_model_note(model, "input-context"), error);
    }
    if (status || !format) {
        return status;
    }
    /* 'columns' is what a file is taken for whose name says nothing. */
    if (all_are(arguments, "columns")) {
        status = set_default(options, "format", format, error);
    }
    if (status || !all_are(arguments, format)) {
        return status;
    }
    status = set_default(options, "columns", trellis_model_note(model, "input-names"), error);
    if (!status) {
        status = set_default(options, "separator", trellis_model_note(model, "input-separator"),
                             error);
    }
    /* Elsewhere the label column may be missing when there is nothing to score. */
    if (!status && (gold || strcmp(format, "conllu") == 0)) {
        status = set_default(options, "label", trellis_model_note(model, "input-label"), error);
    }
    if (!status && gold) {
        status = set_default(options, "scheme", trellis_model_note(model, "input-scheme"), error);
    }
    return status;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The first column that templates use and that the input lacks, from 1; 0 if there is none. */
static size_t missing_column(const trellis_model *model, size_t columns)
{
    const char *at = note_or(model, "input-used", "");
    size_t missing = 0;
    while (*at && !missing) {
        char *end;
        size_t column = strtoul(at, &end, 10);
        missing = column > columns ? column : 0;
        at = *end == ',' ? end + 1 : end + strlen(end);
    }
    return missing;
}

/* " (word,pos,chunk)", or nothing where the columns had no names. */
static void list_columns(const trellis_model *model, char *text, size_t room)
{
    const char *names = note_or(model, "input-names", "");
    snprintf(text, room, "%s%.200s%s", *names ? " (" : "", names, *names ? ")" : "");
}

static trellis_status fail_missing(const trellis_model *model, const char *path, size_t missing,
                                   size_t trained, size_t columns, trellis_error *error)
{
    char names[210];
    list_columns(model, names, sizeof names);
    return set_error(error, TRELLIS_DATA,
                     "%s: column %zu is missing: the model was trained on %zu columns%s and its "
                     "templates use column %zu, but here there %s %zu; add it, or name the columns "
                     "that there are with --columns",
                     path, missing, trained, names, missing, columns == 1 ? "is only" : "are only",
                     columns);
}

/* Whether a row is a line of text rather than a token. One column more than in training may be a
 * label that was predicted before. */
static bool looks_like_text(const trellis_model *model, const trellis_sequence *sequence,
                            size_t trained)
{
    size_t columns = sequence->columns;
    bool converts = trellis_model_note(model, "scheme-inside");
    return sequence->length == 1 && columns > trained &&
           (columns > trained + 1 ||
            (!converts &&
             trellis_model_find_label(model, sequence->cells[columns - 1]) == SIZE_MAX));
}

trellis_status check_input(const trellis_model *model, const trellis_options *options,
                           const char *path, const trellis_sequence *sequence, trellis_error *error)
{
    const char *format = format_of(options, path);
    size_t trained = strtoul(note_or(model, "input-columns", "0"), NULL, 10);
    size_t columns = sequence->columns;
    if (strcmp(note_or(model, "input-format", ""), "crfsuite") == 0 && columns > 0) {
        return set_error(error, TRELLIS_DATA,
                         "%s: the model was trained on ready-made attributes, and this is read as "
                         "%s; use --format crfsuite",
                         path, format);
    }
    /* Other formats name their columns, which are then found by name. */
    bool by_position = strcmp(note_or(model, "input-format", ""), "columns") == 0 &&
                       (strcmp(format, "columns") == 0 || strcmp(format, "text") == 0);
    if (!by_position || trained == 0) {
        return TRELLIS_OK;
    }
    if (looks_like_text(model, sequence, trained)) {
        return set_error(error, TRELLIS_DATA,
                         "%s:%llu: a line of %zu words, where the model expects one token per line "
                         "in %zu column%s; for running text use --format text",
                         path, (unsigned long long)sequence->line, columns, trained,
                         plural(trained));
    }
    size_t missing = missing_column(model, columns);
    const char *named = trellis_options_get(options, "columns");
    if (missing && strcmp(named, note_or(model, "input-names", "")) == 0) {
        return fail_missing(model, path, missing, trained, columns, error);
    }
    if (columns > trained + 1) {
        message("warning: %s has %zu columns, but the model was trained on %zu; columns are taken "
                "by their position",
                path, columns, trained);
    }
    return TRELLIS_OK;
}

/* ---- gold labels ----------------------------------------------------------------------------- */

/* Notes what a label says about the scheme, after the one before, which is empty at the start. */
static void see_label(struct gold_check *check, trellis_text before, trellis_text label)
{
    bool outside = label.size == 1 && label.data[0] == 'O';
    if (outside || label.size < 2 || label.data[1] != '-') {
        check->no_spans |= !outside;
        return;
    }
    bool same = before.size == label.size && before.data[1] == '-' &&
                memcmp(before.data + 2, label.data + 2, label.size - 2) == 0;
    char letter = label.data[0];
    check->ends |= letter == 'E' || letter == 'S';
    check->lasts |= letter == 'L' || letter == 'U';
    check->b_begins |= letter == 'B' && !same;
    check->i_begins |= letter == 'I' && !same;
}

/* The scheme of the labels seen; NULL if it cannot be told. */
static const char *scheme_seen(const struct gold_check *check)
{
    return check->no_spans                      ? NULL
           : check->ends                        ? "iobes"
           : check->lasts                       ? "bilou"
           : check->b_begins == check->i_begins ? NULL
           : check->b_begins                    ? "iob2"
                                                : "iob1";
}

/* Going on makes sense: spans are compared, whatever the scheme. */
static void compare_schemes(const struct gold_check *check)
{
    const char *seen = scheme_seen(check),
               *trained = trellis_model_note(check->model, "input-scheme");
    if (seen && trained && strcmp(seen, trained) != 0) {
        message("warning: the gold labels are in the scheme %s, and the model was trained on %s: "
                "spans are scored correctly, but labels differ; 'trellis convert --scheme %s "
                "--to-scheme %s' converts the file",
                seen, trained, seen, trained);
    }
}

trellis_status gold_check_add(struct gold_check *check, const trellis_sequence *sequence,
                              trellis_error *error)
{
    trellis_status status = require_gold(sequence, error);
    bool converts = trellis_model_note(check->model, "scheme-inside");
    for (size_t i = 0; !status && i < sequence->length; i++) {
        see_label(check, i ? sequence->labels[i - 1] : (trellis_text){0}, sequence->labels[i]);
    }
    for (size_t i = 0; !status && !check->known && i < sequence->length; i++) {
        trellis_text label = sequence->labels[i];
        check->known = converts || trellis_model_find_label(check->model, label) != SIZE_MAX;
        if (!check->some) {
            snprintf(check->example, sizeof check->example, "%.*s",
                     label.size < 70 ? (int)label.size : 70, label.data ? label.data : "");
        }
        check->some = true;
    }
    return status;
}

trellis_status gold_check_end(const struct gold_check *check, trellis_error *error)
{
    if (!check->some) {
        return set_error(error, TRELLIS_DATA, "there is nothing to score: the input has no tokens");
    }
    compare_schemes(check);
    return check->known
               ? TRELLIS_OK
               : set_error(error, TRELLIS_DATA,
                           "the model knows none of the gold labels, such as '%s'; --label says "
                           "which column has the labels%s",
                           check->example,
                           trellis_model_note(check->model, "option-states")
                               ? ", and eval --clusters scores states learned without labels"
                               : "");
}
