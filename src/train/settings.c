/* settings.c - the options of a training, resolved to values before anything reads them. */
#include "train/settings.h"

#include <stdio.h>

#include "train/learners.h"

/* ---- learner and algorithm ------------------------------------------------------------------- */

static trellis_status find_learner(struct tr_settings *settings, trellis_error *error)
{
    bool open = tr_option_is(settings->options, "type", "auto");
    const char *type = open ? "perceptron" : tr_option_text(settings->options, "type");
    char known[400] = "";
    for (size_t i = 0; tr_learner_at(i); i++) {
        const struct tr_learner *learner = tr_learner_at(i);
        if (strcmp(learner->name, type) == 0) {
            settings->learner = learner;
        }
        snprintf(known + strlen(known), sizeof known - strlen(known), " %s", learner->name);
    }
    return settings->learner
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_OPTION, "there is no type '%s'; there are:%s", type, known);
}

static trellis_status find_algorithm(struct tr_settings *settings, trellis_error *error)
{
    const char *name = tr_option_text(settings->options, "algorithm");
    char known[200] = "";
    if (strcmp(name, "default") == 0) {
        settings->algorithm = settings->learner->algorithms;
    }
    for (const struct tr_algorithm *a = settings->learner->algorithms; a->name; a++) {
        if (strcmp(a->name, name) == 0) {
            settings->algorithm = a;
        }
        snprintf(known + strlen(known), sizeof known - strlen(known), " %s", a->name);
    }
    if (!settings->algorithm) {
        return tr_fail(error, TRELLIS_OPTION, "the type '%s' has no algorithm '%s'; it has:%s",
                       settings->learner->name, name, known);
    }
    settings->abilities = settings->learner->abilities | settings->algorithm->abilities;
    return TRELLIS_OK;
}

/* ---- options that only some learners listen to ----------------------------------------------- */

/* What is pruned changes with the weights, so the objective is one that only stochastic steps
 * follow. */
static trellis_status check_pruning(const struct tr_settings *settings, trellis_error *error)
{
    const trellis_options *options = settings->options;
    if (tr_option_real(options, "prune") > 0 &&
        (tr_option_flag(options, "partial") || tr_option_real(options, "select-l1") > 0)) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--prune cannot be combined with --partial or --select-l1");
    }
    return TRELLIS_OK;
}

/* Options of tagging that a program may hold in the same set, as cross-validation does. */
static bool is_for_tagging(const trellis_options *options, const char *name)
{
    return (strcmp(name, "beam") == 0 && tr_option_is(options, "decode", "beam")) ||
           (strcmp(name, "cost") == 0 && tr_option_is(options, "decode", "risk"));
}

/* Whether an option was set to something: 0 turns a penalty or a rule off, which a learner without
 * it does as well. */
static bool asks(const trellis_options *options, const trellis_option *option)
{
    bool number = option->type == TRELLIS_INTEGER || option->type == TRELLIS_REAL;
    return trellis_options_given(options, option->name) &&
           !(number && tr_option_real(options, option->name) == 0) &&
           !(option->type == TRELLIS_FLAG && !tr_option_flag(options, option->name));
}

static trellis_status refuse(const struct tr_settings *settings, const char *name,
                             const char *takers, trellis_error *error)
{
    const struct tr_learner *learner = settings->learner;
    bool one = !learner->algorithms[1].name; // then nobody writes -a
    return tr_fail(error, TRELLIS_OPTION, "--%s does not apply to -t %s%s%s; it is for %s", name,
                   learner->name, one ? "" : " -a ", one ? "" : settings->algorithm->name, takers);
}

static trellis_status check_given(const struct tr_settings *settings, trellis_error *error)
{
    static const char *const of_transitions[] = {"order", "counted", "observed-states"};
    const trellis_options *options = settings->options;
    bool selects = tr_option_real(options, "select-l1") > 0;
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const char *name = trellis_option_at(i)->name;
        char takers[400];
        if (!asks(options, trellis_option_at(i)) ||
            tr_learner_listens(settings->learner, settings->algorithm, name) ||
            (selects && tr_selection_listens(name)) || is_for_tagging(options, name)) {
            continue;
        }
        tr_learners_listening(name, takers, sizeof takers);
        if (*takers) {
            return refuse(settings, name, takers, error);
        }
    }
    for (size_t i = 0; settings->abilities & TR_NO_TRANSITIONS && i < TR_COUNT(of_transitions);
         i++) {
        if (asks(options, trellis_option_find(of_transitions[i]))) {
            return tr_fail(error, TRELLIS_OPTION,
                           "--%s does not apply to -t %s, which predicts each label "
                           "independently; it is for all other types",
                           of_transitions[i], settings->learner->name);
        }
    }
    return check_pruning(settings, error);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The l2 penalty in whichever of its three forms it is given. Where only l1 is given, there is
 * none. */
static trellis_status resolve_l2(struct tr_settings *settings, trellis_error *error)
{
    const trellis_options *options = settings->options;
    bool l2 = trellis_options_given(options, "l2");
    bool sigma = trellis_options_given(options, "sigma");
    bool lambda = trellis_options_given(options, "lambda");
    bool selects = tr_learner_listens(settings->learner, settings->algorithm, "select-l1");
    double by_default = selects && settings->l1 > 0 ? 0 : settings->learner->l2;
    if (l2 + sigma + lambda > 1) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--l2, --sigma and --lambda set the same penalty: give one of them");
    }
    double s = tr_option_real(options, "sigma");
    if (sigma && s <= 0) {
        return tr_fail(error, TRELLIS_OPTION, "--sigma must be above 0");
    }
    settings->l2 = sigma    ? 1 / (2 * s * s)
                   : lambda ? tr_option_real(options, "lambda") / 2
                   : l2     ? tr_option_real(options, "l2")
                            : by_default;
    return TRELLIS_OK;
}

static void resolve_model(struct tr_settings *settings)
{
    const trellis_options *options = settings->options;
    bool transitions = !(settings->abilities & TR_NO_TRANSITIONS);
    settings->order = transitions ? (uint32_t)tr_option_integer(options, "order") : 0;
    settings->counted = (uint32_t)tr_option_integer(options, "counted");
    settings->prune = tr_option_real(options, "prune");
    settings->observed_states = tr_option_flag(options, "observed-states");
    settings->all_features = tr_option_flag(options, "all-features");
    settings->transitions = tr_option_is(options, "transitions", "observed")
                                ? TR_TRANSITIONS_OBSERVED
                            : tr_option_is(options, "transitions", "all") ? TR_TRANSITIONS_ALL
                                                                          : TR_TRANSITIONS_AUTO;
    settings->min_feature_count = tr_option_real(options, "min-feature-count");
    settings->max_segment = tr_option_flag(options, "segments")
                                ? (size_t)tr_option_integer(options, "max-segment")
                                : 0;
    settings->filter = tr_option_real(options, "filter");
    settings->min_count = (uint32_t)tr_option_integer(options, "min-count");
    settings->from = tr_option_text(options, "from");
    settings->gaussian = tr_option_text(options, "gaussian");
    settings->dictionary = tr_option_text(options, "dictionary");
}

static void resolve_stopping(struct tr_settings *settings)
{
    const trellis_options *options = settings->options;
    settings->select_epochs = (uint64_t)tr_option_integer(options, "epochs");
    settings->epochs = settings->select_epochs ? settings->select_epochs
                                               : settings->algorithm->epochs;
    settings->patience = (uint64_t)tr_option_integer(options, "patience");
    settings->keep_last = tr_option_is(options, "keep", "last");
    settings->epsilon = tr_option_real(options, "epsilon");
    settings->delta = tr_option_real(options, "delta");
    settings->period = (unsigned)tr_option_integer(options, "period");
    settings->gap = tr_option_real(options, "gap");
}

/* A beam is followed where the user asks for one, by its width or by an update that needs it. */
static void resolve_search(struct tr_settings *settings)
{
    const trellis_options *options = settings->options;
    settings->update = tr_option_is(options, "update", "early")           ? TR_EARLY
                       : tr_option_is(options, "update", "max-violation") ? TR_MAX_VIOLATION
                                                                          : TR_STANDARD;
    bool by_beam = settings->update != TR_STANDARD || trellis_options_given(options, "beam");
    settings->beam = by_beam ? (size_t)tr_option_integer(options, "beam") : 0;
}

static void resolve_method(struct tr_settings *settings)
{
    const trellis_options *options = settings->options;
    settings->l1 = tr_option_real(options, "l1");
    settings->select_l1 = tr_option_real(options, "select-l1");
    settings->margin = trellis_options_given(options, "loss") ||
                       trellis_options_given(options, "cost") ||
                       trellis_options_given(options, "span-loss");
    settings->margin_kind = tr_option_is(options, "loss", "count")  ? TR_MARGIN_LOSS
                            : tr_option_is(options, "loss", "root") ? TR_MARGIN_ROOT
                            : tr_option_is(options, "loss", "one")  ? TR_MARGIN_ONE
                                                                    : TR_MARGIN_AUGMENTED;
    settings->history = (unsigned)tr_option_integer(options, "history");
    settings->warm_up = (uint64_t)tr_option_integer(options, "warm-up");
    settings->batch = (size_t)tr_option_integer(options, "batch");
    settings->rate = tr_option_real(options, "rate");
    settings->dropout = tr_option_real(options, "dropout");
    settings->seed = (uint64_t)tr_option_integer(options, "seed");
    settings->seeds = (uint64_t)tr_option_integer(options, "seeds");
    settings->average = tr_option_flag(options, "average");
    settings->aggressiveness = tr_option_real(options, "aggressiveness");
    settings->variance = tr_option_real(options, "variance");
    settings->mbest = (size_t)tr_option_integer(options, "mbest");
}

/* Labelled data is hardly smoothed unless asked for, so that a word has a label it was never seen
 * with only where the tag dictionary allows no other. */
static void resolve_hmm(struct tr_settings *settings)
{
    static const char *const dev_scores[] = {[TR_DEV_ACCURACY] = "accuracy",
                                             [TR_DEV_ONE] = "one-to-one",
                                             [TR_DEV_MANY] = "many-to-one",
                                             [TR_DEV_LIKELIHOOD] = "likelihood"};
    const trellis_options *options = settings->options;
    bool hidden = settings->abilities & TR_HIDDEN_LABELS;
    settings->alpha_given = trellis_options_given(options, "alpha");
    settings->alpha = settings->alpha_given || hidden ? tr_option_real(options, "alpha") : 1e-9;
    settings->theta = tr_option_real(options, "theta");
    settings->variance_floor = tr_option_real(options, "variance-floor");
    settings->interpolate = !hidden && (tr_option_is(options, "smoothing", "auto")
                                            ? settings->order > 1 || !settings->alpha_given
                                            : tr_option_is(options, "smoothing", "interpolated"));
    settings->states = (size_t)tr_option_integer(options, "states");
    settings->restarts = (uint64_t)tr_option_integer(options, "restarts");
    for (enum tr_dev_score i = TR_DEV_ACCURACY; i <= TR_DEV_LIKELIHOOD; i++) {
        if (tr_option_is(options, "dev-score", dev_scores[i])) {
            settings->dev_score = i;
        }
    }
}

static trellis_status check_segments(const struct tr_settings *settings, trellis_error *error)
{
    const trellis_options *options = settings->options;
    const char *constrain = tr_option_text(options, "constrain");
    if (!settings->max_segment) {
        bool filter = trellis_options_given(options, "filter");
        return filter || trellis_options_given(options, "max-segment")
                   ? tr_fail(error, TRELLIS_OPTION, "--%s needs --segments",
                             filter ? "filter" : "max-segment")
                   : TRELLIS_OK;
    }
    if (settings->beam) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--segments needs exact search, without --beam and --update");
    }
    if (strcmp(constrain, "none") != 0 && strcmp(constrain, "iob") != 0) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--segments implies --constrain iob, and takes no list of transitions");
    }
    return TRELLIS_OK;
}

/* Trainings that run side by side have one set of features, and no file of their own. */
static trellis_status check_seeds(const struct tr_settings *settings, trellis_error *error)
{
    static const char *const others[] = {"select-l1", "checkpoint", "resume"};
    for (size_t i = 0; settings->seeds > 1 && i < TR_COUNT(others); i++) {
        if (asks(settings->options, trellis_option_find(others[i]))) {
            return tr_fail(error, TRELLIS_OPTION, "--seeds cannot be combined with --%s",
                           others[i]);
        }
    }
    return TRELLIS_OK;
}

/* Values that do not go together. */
static trellis_status check_values(const struct tr_settings *settings, trellis_error *error)
{
    const char *type = settings->learner->name;
    bool penalised = settings->abilities & TR_PENALISED;
    bool selects = tr_learner_listens(settings->learner, settings->algorithm, "select-l1");
    if (penalised && !selects && settings->l2 <= 0) {
        return tr_fail(error, TRELLIS_OPTION,
                       "-t %s needs a penalty: --l2, --sigma or --lambda above 0", type);
    }
    if (settings->min_feature_count > 0 && settings->all_features) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--min-feature-count cannot be combined with --all-features, which includes "
                       "features that do not occur");
    }
    if (settings->min_feature_count > 0 && tr_option_flag(settings->options, "partial")) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--min-feature-count cannot be combined with --partial: features of unknown "
                       "labels cannot be counted");
    }
    if (penalised && settings->margin_kind != TR_MARGIN_AUGMENTED) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--loss %s does not decompose over positions, as -t %s needs it; use "
                       "hamming",
                       tr_option_text(settings->options, "loss"), type);
    }
    trellis_status status = check_seeds(settings, error);
    return status ? status : check_segments(settings, error);
}

trellis_status tr_settings_resolve(const trellis_options *options, struct tr_settings *ret_settings,
                                   trellis_error *error)
{
    struct tr_settings *settings = ret_settings;
    *settings = (struct tr_settings){.options = options};
    trellis_status status = tr_limits_resolve(options, &settings->limits, error);
    if (!status) {
        status = find_learner(settings, error);
    }
    if (!status) {
        status = find_algorithm(settings, error);
    }
    if (!status) {
        status = check_given(settings, error);
    }
    if (status) {
        return status;
    }
    resolve_model(settings);
    resolve_stopping(settings);
    resolve_method(settings);
    resolve_search(settings);
    resolve_hmm(settings);
    if (settings->abilities & TR_PENALISED) {
        status = resolve_l2(settings, error);
    }
    return status ? status : check_values(settings, error);
}

/* ---- options of a run ------------------------------------------------------------------------ */

bool tr_is_run_option(const char *option)
{
    static const char *const names[] = {"bits", "dev", "log", "checkpoint", "every", "resume"};
    for (size_t i = 0; i < TR_COUNT(names); i++) {
        if (strcmp(option, names[i]) == 0) {
            return true;
        }
    }
    return false;
}
