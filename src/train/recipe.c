/* recipe.c - the settings of a training that the user left open, from a preset's recipe.
 *
 * A preset (src/features/presets.c) comes with a learner, its options and a label scheme. What the
 * user gives wins: --type, or an option that the recipe's learner does not listen to, leaves only
 * the templates of the preset. If no features are named either, the data decides which preset it
 * is:
 *
 *     tokens are single characters              chars
 *     span labels, most tokens in a span, tags  chunk
 *     span labels                               ner
 *     other labels, no tags in another column   pos
 *     other labels                              general
 *
 * A recipe may name templates of its own for much data: -f ner is then ner-segments.
 */
#include "train/recipe.h"

#include <stdio.h>

#include "base/utf8.h"
#include "corpus/corpus.h"
#include "features/features.h"
#include "train/train.h"

/* ---- a look at the data ---------------------------------------------------------------------- */

struct look {
    size_t tokens, outside, characters; // labelled O; of a single character
    struct tr_intern labels;
    trellis_scheme scheme;
    bool tagged; // there are tags in another column
};

static bool is_character(trellis_text cell)
{
    trellis_text first;
    return tr_utf8_prefix(cell, 1, &first) && first.size == cell.size;
}

static trellis_status look_at_sequence(struct look *look, const trellis_sequence *sequence,
                                       size_t word_column, trellis_error *error)
{
    for (size_t i = 0; i < sequence->length; i++) {
        if (sequence->labels) {
            look->outside += tr_text_is(sequence->labels[i], "O");
            if (tr_intern_add(&look->labels, sequence->labels[i]) == TR_NONE) {
                return tr_fail_memory(error);
            }
        }
        look->characters += word_column < sequence->columns &&
                            is_character(sequence->cells[i * sequence->columns + word_column]);
    }
    look->tokens += sequence->length;
    return TRELLIS_OK;
}

/* Whether there are tags: a second column, by name or position, that is not the label. */
static trellis_status look_for_tags(const trellis_reader *reader, bool *ret_tagged,
                                    trellis_error *error)
{
    trellis_features *features = NULL;
    struct tr_extractor *extractor = NULL;
    trellis_error ignored = {0};
    trellis_status status = trellis_features_open("chunk", &features, error);
    if (!status) {
        status = tr_extractor_create(features, false, &extractor, error);
    }
    if (!status) {
        trellis_status bound = tr_extractor_bind(extractor, reader,
                                                 trellis_reader_label_column(reader), &ignored);
        *ret_tagged = bound == TRELLIS_OK;
        status = bound == TRELLIS_MEMORY ? tr_fail_memory(error) : TRELLIS_OK;
    }
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
    return status;
}

static trellis_status guess_scheme(struct look *look, trellis_error *error)
{
    size_t count = tr_intern_count(&look->labels);
    trellis_text *labels = tr_alloc(count, sizeof *labels);
    if (!labels) {
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        labels[i] = tr_intern_text(&look->labels, i);
    }
    look->scheme = tr_scheme_guess(labels, count);
    free(labels);
    return TRELLIS_OK;
}

static trellis_status look_at(const trellis_source *source, const trellis_options *options,
                              struct look *look, trellis_error *error)
{
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    size_t word_column = SIZE_MAX;
    trellis_status status = trellis_reader_open_source(source, options, &reader, error);
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        if (look->tokens == 0) {
            word_column = tr_reader_word_column(reader, trellis_reader_label_column(reader));
            status = look_for_tags(reader, &look->tagged, error);
        }
        if (!status) {
            status = look_at_sequence(look, sequence, word_column, error);
        }
    }
    trellis_reader_close(reader);
    return status == TRELLIS_END ? guess_scheme(look, error) : status;
}

/* ---- the choice ------------------------------------------------------------------------------ */

struct choice {
    const char *preset;
    const char *reason; // why the data has it; NULL: the user named it
};

static struct choice choose(const struct look *look)
{
    bool spans = look->scheme != TRELLIS_NO_SCHEME;
    if (look->tokens && look->characters == look->tokens) {
        return (struct choice){"chars", "every token is one character"};
    }
    if (spans && look->tagged && 2 * look->outside < look->tokens) {
        return (struct choice){"chunk", "span labels on most tokens, tags in another column"};
    }
    if (spans) {
        return (struct choice){"ner", "span labels"};
    }
    return look->tagged ? (struct choice){"general", "labels of words, from words and tags"}
                        : (struct choice){"pos", "labels of words"};
}

/* ---- options of a recipe --------------------------------------------------------------------- */

/* Exact search costs too much where there are more labels. With more tokens in spans, more labels
 * and whole segments tell more than they cost (docs/results.md). */
enum { MANY_LABELS = 65, MANY_SPAN_TOKENS = 15000 };

/* Labels are learned as they are if they have no scheme, or are named elsewhere: in files, or by
 * the labels of single tokens. */
static bool may_convert(const trellis_options *options, trellis_scheme scheme)
{
    const char *constrain = tr_option_text(options, "constrain");
    bool listed = strcmp(constrain, "none") != 0 && strcmp(constrain, "iob") != 0;
    const char *dictionary = tr_option_text(options, "dictionary");
    listed |= *dictionary && strcmp(dictionary, "learn") != 0;
    return scheme != TRELLIS_NO_SCHEME && !listed && !*tr_option_text(options, "cost") &&
           !tr_option_flag(options, "partial");
}

/* Whether spans are many, and nothing is given that models of whole segments do not have. */
static bool has_many_spans(const trellis_options *options, const struct look *look)
{
    static const char *const others[] = {"order",      "observed-states", "counted",     "prune",
                                         "dictionary", "transitions",     "train-scheme"};
    bool plain = look->tokens - look->outside >= MANY_SPAN_TOKENS &&
                 may_convert(options, look->scheme);
    for (size_t i = 0; i < TR_COUNT(others); i++) {
        plain = plain && !trellis_options_given(options, others[i]);
    }
    return plain;
}

static trellis_effort find_effort(const char *preset, const trellis_options *options,
                                  const struct look *look)
{
    bool many = tr_intern_count(&look->labels) >= MANY_LABELS;
    if (!many && !tr_option_flag(options, "fast") && has_many_spans(options, look) &&
        trellis_preset_options(preset, TRELLIS_EFFORT_MANY_SPANS)) {
        return TRELLIS_EFFORT_MANY_SPANS;
    }
    return tr_option_flag(options, "fast")   ? TRELLIS_EFFORT_FAST
           : many                            ? TRELLIS_EFFORT_MANY_LABELS
           : tr_option_flag(options, "best") ? TRELLIS_EFFORT_BEST
                                             : TRELLIS_EFFORT_DEFAULT;
}

struct setting {
    const trellis_option *option;
    char value[40];
};

static const trellis_option *find_letter(char letter)
{
    for (size_t i = 0; i < trellis_option_count(); i++) {
        if (trellis_option_at(i)->letter == letter) {
            return trellis_option_at(i);
        }
    }
    return NULL;
}

/* Copies the next word of a command line; false at its end. */
static bool next_word(const char **at, char *word, size_t room)
{
    *at += strspn(*at, " ");
    size_t size = strcspn(*at, " ");
    snprintf(word, room, "%.*s", (int)size, *at);
    *at += size;
    return size > 0;
}

/* The next setting of a recipe, which is part of a command line: -t crf --l2 0.1 --prune 0.01. */
static bool next_setting(const char **at, struct setting *ret_setting)
{
    char word[40];
    if (!next_word(at, word, sizeof word)) {
        return false;
    }
    ret_setting->option = word[1] == '-' ? trellis_option_find(word + 2) : find_letter(word[1]);
    if (ret_setting->option && ret_setting->option->type == TRELLIS_FLAG) {
        snprintf(ret_setting->value, sizeof ret_setting->value, "yes");
        return true;
    }
    return ret_setting->option && next_word(at, ret_setting->value, sizeof ret_setting->value);
}

static bool is_given(const trellis_options *options, const char *name)
{
    bool penalty = strcmp(name, "l2") == 0;
    return trellis_options_given(options, name) ||
           (penalty &&
            (trellis_options_given(options, "sigma") || trellis_options_given(options, "lambda")));
}

/* Some options are for span labels only, a loss is for labels that are all known, and several seeds
 * leave nothing behind to resume or to select. */
static bool has_use_for(const char *name, const trellis_options *options, trellis_scheme scheme)
{
    if (strcmp(name, "seeds") == 0) {
        return !*tr_option_text(options, "checkpoint") && !tr_option_flag(options, "resume") &&
               tr_option_real(options, "select-l1") == 0;
    }
    if (strcmp(name, "span-loss") == 0 || strcmp(name, "loss") == 0) {
        bool spans = strcmp(name, "span-loss") == 0;
        return (scheme != TRELLIS_NO_SCHEME || !spans) && !tr_option_flag(options, "partial");
    }
    bool converts = strcmp(name, "train-scheme") == 0 || strcmp(name, "segments") == 0;
    return !converts || may_convert(options, scheme);
}

/* Adds the settings that were left open; appends them to `taken` as they stand in the recipe. */
static trellis_status set_open(trellis_options *options, const char *recipe, trellis_scheme scheme,
                               struct tr_buffer *taken, trellis_error *error)
{
    struct setting setting;
    trellis_status status = TRELLIS_OK;
    for (const char *at = recipe; !status && next_setting(&recipe, &setting); at = recipe) {
        const char *name = setting.option->name;
        bool open = !is_given(options, name) || strcmp(name, "features") == 0;
        if (open && has_use_for(name, options, scheme)) {
            tr_buffer_format(taken, "%.*s", (int)(recipe - at), at);
            status = trellis_options_set(options, name, setting.value, error);
        }
    }
    return status;
}

/* Whether the learner of a recipe takes all that the user gives. Updates of a beam are meant for
 * the averaged perceptron: passive-aggressive steps on prefixes learn little. */
static bool suits(const char *recipe, const trellis_options *given)
{
    trellis_options *tried = NULL;
    struct tr_settings settings;
    struct tr_buffer taken = {0};
    trellis_error ignored = {0};
    bool named = trellis_options_given(given, "type") || trellis_options_given(given, "beam") ||
                 trellis_options_given(given, "update") ||
                 (trellis_options_given(given, "algorithm") &&
                  !strstr(recipe, tr_option_text(given, "algorithm")));
    bool suits = !named && !trellis_options_copy(given, &tried, &ignored) &&
                 !set_open(tried, recipe, TRELLIS_NO_SCHEME, &taken, &ignored) &&
                 !tr_settings_resolve(tried, &settings, &ignored);
    tr_buffer_free(&taken);
    trellis_options_destroy(tried);
    return suits;
}

static void announce(struct tr_training *training, const struct choice *choice,
                     trellis_effort effort, const struct tr_buffer *taken)
{
    const char *reason = choice->reason ? choice->reason : "";
    const char *many = effort == TRELLIS_EFFORT_MANY_LABELS  ? "many labels"
                       : effort == TRELLIS_EFFORT_MANY_SPANS ? "many tokens in spans"
                                                             : "";
    char why[120];
    snprintf(why, sizeof why, "%s%s%s", reason, *reason && *many ? ", " : "", many);
    tr_training_note(training, "recipe '%s'%s%s%s: %s%s", choice->preset, *why ? " (" : "", why,
                     *why ? ")" : "", taken->data + strspn(taken->data, " "),
                     *reason ? "; -f NAME takes another, see 'trellis presets'" : "");
}

static trellis_status apply(struct tr_training *training, const struct choice *choice,
                            const struct look *look, bool *ret_applied, trellis_error *error)
{
    trellis_options *options = training->options;
    trellis_effort effort = find_effort(choice->preset, options, look);
    const char *recipe = trellis_preset_options(choice->preset, effort);
    if (!recipe || !suits(recipe, options)) {
        return TRELLIS_OK;
    }
    *ret_applied = true;
    struct tr_buffer taken = {0};
    trellis_status status = trellis_options_set(options, "features", choice->preset, error);
    status = status ? status : set_open(options, recipe, look->scheme, &taken, error);
    tr_buffer_char(&taken, 0);
    if (!status && taken.failed) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        announce(training, choice, effort, &taken);
    }
    tr_buffer_free(&taken);
    return status;
}

static trellis_status check_effort(const trellis_options *options, bool applied,
                                   trellis_error *error)
{
    bool fast = tr_option_flag(options, "fast"), best = tr_option_flag(options, "best");
    if (fast && best) {
        return tr_fail(error, TRELLIS_OPTION, "--fast and --best exclude each other");
    }
    return applied || !(fast || best)
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_OPTION,
                         "--%s chooses a variant of a recipe, and none applies to this training; "
                         "it is for a preset that has one (see 'trellis presets'), or no -f, with "
                         "the learner left open",
                         fast ? "fast" : "best");
}

trellis_status tr_recipe_complete(struct tr_training *training, const trellis_options *options,
                                  trellis_error *error)
{
    const trellis_source *source = training->sources.train;
    const char *features = tr_option_text(options, "features");
    bool automatic = strcmp(features, "auto") == 0;
    bool open = !training->sources.templates && training->sources.train_count > 0 &&
                !trellis_options_given(options, "type") &&
                !tr_source_is_ready_made(source, options) &&
                (automatic || trellis_preset_options(features, TRELLIS_EFFORT_DEFAULT));
    struct look look = {0};
    bool applied = false;
    trellis_status status = trellis_options_copy(options, &training->options, error);
    if (!status && open && !tr_source_is_rereadable(source)) {
        tr_training_note(training, "no recipe, since the data can be read only once; give it as a "
                                   "file to have one");
    } else if (!status && open) {
        status = look_at(source, options, &look, error);
        struct choice choice = automatic ? choose(&look) : (struct choice){features, NULL};
        status = status ? status : apply(training, &choice, &look, &applied, error);
    }
    tr_intern_free(&look.labels);
    return status ? status : check_effort(options, applied, error);
}
