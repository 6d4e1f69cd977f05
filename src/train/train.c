/* train.c - the pipeline: read, lay out, learn, keep.
 *
 *     files -> dataset -> features -> graph -> learner -> best weights -> model
 */
#include "train/train.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "corpus/corpus.h"
#include "graph/constraint.h"
#include "model/model.h"
#include "train/checkpoint.h"
#include "train/hmm.h"
#include "train/normals.h"
#include "train/states.h"

double tr_training_seconds(const struct tr_training *training)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - training->began.tv_sec) +
           1e-9 * (double)(now.tv_nsec - training->began.tv_nsec);
}

void tr_training_note(struct tr_training *training, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    trellis_progress figures = {.phase = "note", .text = text};
    tr_training_tick(training, &figures);
}

static bool reading_progress(void *user, uint64_t tokens)
{
    struct tr_training *training = user;
    double seconds = tr_training_seconds(training);
    trellis_progress figures = {.phase = "reading",
                                .tokens_per_second = (double)tokens / (seconds + 1e-9)};
    return tr_training_tick(training, &figures);
}

/* Bytes from "500M", "8G", "1000000". */
static bool parse_size(const char *text, double *bytes)
{
    trellis_text number = tr_text(text);
    double unit = 1;
    if (number.size > 0) {
        const char *units = "kKmMgGtT", *at = strchr(units, number.data[number.size - 1]);
        if (at && *at) {
            unit = (double)((uint64_t)1 << (10 * ((at - units) / 2 + 1)));
            number.size--;
        }
    }
    bool fine = tr_text_real(number, bytes) && *bytes >= 0;
    *bytes *= unit;
    return fine;
}

static trellis_status choose_learner(struct tr_training *training, trellis_error *error)
{
    const char *type = tr_option_text(training->options, "type");
    char known[400] = "";
    for (size_t i = 0; tr_learner_at(i); i++) {
        const struct tr_learner *learner = tr_learner_at(i);
        if (strcmp(learner->name, type) == 0) {
            training->learner = learner;
        }
        snprintf(known + strlen(known), sizeof known - strlen(known), " %s", learner->name);
    }
    if (!training->learner) {
        return tr_fail(error, TRELLIS_OPTION, "there is no type '%s'; there are:%s", type, known);
    }
    training->local = training->learner->local;
    const char *algorithms = training->learner->algorithms;
    training->algorithm = tr_option_text(training->options, "algorithm");
    size_t wanted = strlen(training->algorithm);
    for (const char *at = algorithms; *at;) {
        size_t n = strcspn(at, " ");
        if (n == wanted && strncmp(at, training->algorithm, n) == 0) {
            return TRELLIS_OK;
        }
        at += n + (at[n] == ' ');
    }
    if (strcmp(training->algorithm, "default") != 0) {
        return tr_fail(error, TRELLIS_OPTION, "the type '%s' has no algorithm '%s'; it has: %s",
                       type, training->algorithm, algorithms);
    }
    return TRELLIS_OK;
}

/* What is pruned changes with the weights, so the objective is one that only stochastic steps follow. */
static trellis_status check_pruning(const struct tr_training *training, trellis_error *error)
{
    const trellis_options *options = training->options;
    if (strcmp(training->learner->name, "crf") != 0 || strcmp(training->algorithm, "sgd") != 0) {
        return tr_fail(error, TRELLIS_OPTION, "--prune is for training with -t crf -a sgd");
    }
    if (tr_option_flag(options, "partial") || tr_option_real(options, "select-l1") > 0) {
        return tr_fail(error, TRELLIS_OPTION, "--prune does not go with --partial or --select-l1");
    }
    return TRELLIS_OK;
}

/* Options that only some learners listen to, and that change too much to be passed over in silence. */
static trellis_status check_options(const struct tr_training *training, trellis_error *error)
{
    static const char *const of_beams[] = {"beam", "update"};
    bool perceptron = training->learner->train == tr_train_perceptron;
    for (size_t i = 0; i < TR_COUNT(of_beams); i++) {
        if (!perceptron && trellis_options_given(training->options, of_beams[i])) {
            return tr_fail(error, TRELLIS_OPTION,
                           "--%s is for training with -t perceptron; the type '%s' searches "
                           "exactly",
                           of_beams[i], training->learner->name);
        }
    }
    return tr_option_real(training->options, "prune") > 0 ? check_pruning(training, error)
                                                          : TRELLIS_OK;
}

/* The templates: as asked for, or what suits the input. */
static trellis_status choose_features(struct tr_training *training, trellis_error *error)
{
    const char *wanted = tr_option_text(training->options, "features");
    bool ready_made = tr_option_is(training->options, "format", "crfsuite");
    if (strcmp(wanted, "auto") == 0 && ready_made) {
        return tr_features_none(&training->features, error);
    }
    if (strcmp(wanted, "auto") == 0 && *tr_option_text(training->options, "gaussian")) {
        return tr_features_parse(TR_TEXT("step start end\n"), "gaussian", &training->features,
                                 error);
    }
    const char *usual = !training->learner->generative ? "general"
                        : tr_training_is_em(training)  ? "id"
                                                       : "hmm";
    return trellis_features_open(strcmp(wanted, "auto") == 0 ? usual : wanted, &training->features,
                                 error);
}

/* A pass over the data for templates that want to know how often words occur. */
static trellis_status count_file(struct tr_training *training, const char *path,
                                 trellis_error *error)
{
    trellis_reader *reader = NULL;
    struct tr_extractor *extractor = NULL;
    const trellis_sequence *sequence;
    bool bound = false;
    trellis_status status = trellis_reader_open(path, training->options, &reader, error);
    if (!status) {
        status = tr_extractor_create(training->features, true, &extractor, error);
    }
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        if (!bound) {
            status = tr_extractor_bind(extractor, reader, tr_reader_label_column(reader), error);
            bound = true;
        }
        if (!status) {
            status = tr_features_count(training->features, extractor, sequence, error);
        }
    }
    tr_extractor_destroy(extractor);
    trellis_reader_close(reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

static trellis_status count_words(struct tr_training *training, const char *const *paths,
                                  size_t path_count, trellis_error *error)
{
    if (!tr_features_needs_counts(training->features)) {
        return TRELLIS_OK;
    }
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < path_count; i++) {
        if (strcmp(paths[i], "-") == 0) {
            return tr_fail(error, TRELLIS_OPTION,
                           "these templates ask for rare words, so the data is read twice: "
                           "give it as a file, not on standard input");
        }
        status = count_file(training, paths[i], error);
    }
    return status ? status : tr_features_end_count(training->features, error);
}

/* The scheme of the labels in the files, judged from the first ones of the training data. */
static trellis_status choose_schemes(struct tr_training *training, const char *path,
                                     trellis_error *error)
{
    training->inside = trellis_scheme_from_name(tr_option_text(training->options, "train-scheme"));
    training->outside = trellis_scheme_from_name(tr_option_text(training->options, "scheme"));
    if (training->inside == TRELLIS_NO_SCHEME || training->outside != TRELLIS_NO_SCHEME) {
        return TRELLIS_OK;
    }
    if (strcmp(path, "-") == 0) {
        return tr_fail(
            error, TRELLIS_OPTION,
            "--train-scheme with standard input needs --scheme, the scheme of the input");
    }
    trellis_reader *reader = NULL;
    struct tr_intern labels = {0};
    const trellis_sequence *sequence;
    trellis_status status = trellis_reader_open(path, training->options, &reader, error);
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        for (size_t i = 0; sequence->labels && i < sequence->length; i++) {
            if (tr_intern_add(&labels, sequence->labels[i]) == TR_NONE) {
                status = tr_fail_memory(error);
                break;
            }
        }
    }
    trellis_reader_close(reader);
    size_t count = tr_intern_count(&labels);
    trellis_text *texts = tr_alloc(count, sizeof *texts);
    if (status == TRELLIS_END) {
        status = texts ? TRELLIS_OK : tr_fail_memory(error);
    }
    for (uint32_t i = 0; !status && i < count; i++) {
        texts[i] = tr_intern_text(&labels, i);
    }
    training->outside = status ? TRELLIS_NO_SCHEME : tr_scheme_guess(texts, count);
    if (!status && training->outside == TRELLIS_NO_SCHEME) {
        status = tr_fail(error, TRELLIS_DATA,
                         "%s: --train-scheme needs span labels (B-X, I-X, O), and these are not",
                         path);
    }
    free(texts);
    tr_intern_free(&labels);
    return status;
}

/* Words of a generative model keep to the labels they were seen with, unless the user would have all of
 * them smoothed; and which words are unknown, the dictionary says. */
static bool needs_dictionary(const struct tr_training *training)
{
    const trellis_options *options = training->options;
    return training->learner->generative && !tr_training_is_em(training) &&
           !*tr_option_text(options, "gaussian") && !*tr_option_text(options, "dictionary") &&
           (!trellis_options_given(options, "alpha") ||
            tr_features_has_unknown(training->features));
}

static bool wants_dictionary(const struct tr_training *training)
{
    return *tr_option_text(training->options, "dictionary") || needs_dictionary(training);
}

/* The tag dictionary: learned from the data, or as the user has it. */
static trellis_status make_dictionary(struct tr_training *training, const struct tr_intern *words,
                                      trellis_error *error)
{
    const trellis_options *options = training->options;
    struct tr_dataset *data = &training->data;
    struct tr_lexicon_draft draft = {0};
    bool needed = needs_dictionary(training);
    bool learn = needed || tr_option_is(options, "dictionary", "learn");
    uint64_t least = needed ? 1 : (uint64_t)tr_option_integer(options, "dictionary-count");
    trellis_status status = learn ? tr_lexicon_learn(&draft, data, words, least, error)
                                  : tr_lexicon_load(&draft, tr_option_text(options, "dictionary"),
                                                    &data->labels, data->label_count, error);
    if (!status && needed) {
        status = tr_hmm_allow(training, words, &draft, error);
    }
    if (!status) {
        status = tr_lexicon_write(&draft, &training->lexicon_block, error);
    }
    if (!status && !tr_lexicon_read(training->lexicon_block.data, training->lexicon_block.size,
                                    data->label_count, &training->lexicon)) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        status = tr_lexicon_apply(&training->lexicon, data, words, error);
    }
    if (!status) {
        tr_training_note(training, "the tag dictionary has %u words, with %.1f labels each",
                         training->lexicon.words,
                         (double)draft.pairs.size / fmax(1, training->lexicon.words));
    }
    tr_lexicon_draft_free(&draft);
    return status;
}

/* Lays out the features. With a count of 0 in it, an HMM that is not smoothed needs a weight of minus
 * infinity; so every pair is a feature there. */
static trellis_status arrange(struct tr_training *training, trellis_error *error)
{
    const trellis_options *options = training->options;
    bool *whole = NULL;
    bool generative = training->learner->generative;
    trellis_status status = generative ? tr_hmm_whole(training, &whole, error) : TRELLIS_OK;
    struct tr_arrangement arrangement = {
        .min_count = (uint32_t)tr_option_integer(options, "min-count"),
        .all_features = tr_option_flag(options, "all-features") || tr_training_is_em(training) ||
                        (generative && tr_hmm_alpha(training) == 0),
        .whole = whole,
        .pool = training->pool};
    if (!status) {
        status = tr_dataset_arrange(&training->data, &training->vocabulary, &arrangement, error);
    }
    if (!status && generative) {
        status = tr_hmm_widen(training, error);
    }
    free(whole);
    return status;
}

static trellis_status read_data(struct tr_training *training, const char *const *paths,
                                size_t path_count, trellis_error *error)
{
    const char *dev = tr_option_text(training->options, "dev");
    struct tr_intern words = {0};
    struct tr_dataset_source source = {.options = training->options,
                                       .features = training->features,
                                       .from = training->outside,
                                       .to = training->inside,
                                       .words = wants_dictionary(training) ? &words : NULL,
                                       .reals = tr_option_text(training->options, "gaussian"),
                                       .label_use = tr_states_label_use(training),
                                       .seen = &training->seen,
                                       .partial = tr_option_flag(training->options, "partial"),
                                       .progress = reading_progress,
                                       .user = training};
    if (training->inside == TRELLIS_NO_SCHEME) {
        source.from = source.to = TRELLIS_NO_SCHEME;
    }
    trellis_status status = TRELLIS_OK;
    if (source.partial && source.from != source.to) {
        status = tr_fail(error, TRELLIS_OPTION,
                         "--partial does not go with --train-scheme: labels that are not known "
                         "cannot be put into another scheme");
    }
    for (size_t i = 0; !status && i < path_count; i++) {
        status = tr_dataset_read(&training->data, &training->vocabulary, NULL, &source, paths[i],
                                 error);
    }
    if (!status) {
        status = tr_states_read_more(training, &source, error);
    }
    if (!status && training->data.tokens == 0) {
        status = tr_fail(error, TRELLIS_DATA, "there is nothing to learn from: no tokens in %s%s",
                         path_count ? paths[0] : "no files",
                         path_count > 1 ? " and the other files" : "");
    }
    if (!status) {
        status = tr_states_name(training, error);
    }
    if (!status && training->data.label_count == 0) {
        status = tr_fail(error, TRELLIS_DATA, "there is nothing to learn from: no label is known");
    }
    if (!status) {
        status = arrange(training, error);
    }
    if (!status && source.words) {
        status = make_dictionary(training, &words, error);
        source.lexicon = &training->lexicon;
    }
    source.words = NULL;
    source.seen = NULL;
    tr_intern_free(&words);
    if (!status) {
        status = tr_features_end_training(training->features, error);
    }
    source.label_use = tr_states_dev_likelihood(training) ? TR_LABELS_IGNORED : TR_LABELS_NEEDED;
    if (!status && *dev) {
        status = tr_dataset_read(&training->dev, &training->vocabulary, &training->data, &source,
                                 dev, error);
        if (!status && training->dev.tokens == 0) {
            status = tr_fail(error, TRELLIS_DATA, "%s: there are no tokens to test on", dev);
        }
    }
    tr_vocabulary_close(&training->vocabulary);
    return status;
}

/* A gold path must not use a forbidden step, or its probability is 0 and nothing can be learned. */
static trellis_status check_gold(const struct tr_training *training, trellis_error *error)
{
    const struct tr_dataset *data = &training->data;
    const struct tr_graph *graph = training->graph;
    for (size_t s = 0; training->plan.forbidden_count && s < data->sequences; s++) {
        uint32_t state = TR_NO_STATE;
        size_t begin = data->sequence.at[s], end = data->sequence.at[s + 1];
        bool partial = tr_dataset_is_partial(data, s); // checked elsewhere
        for (size_t i = begin; i < end && !partial; i++) {
            state = tr_graph_next(graph, state, data->gold.at[i]);
            if (state == TR_NO_STATE || (i + 1 == end && graph->end_forbidden[state])) {
                return tr_fail(error, TRELLIS_DATA,
                               "sequence %zu of the training data takes a step that --constrain "
                               "forbids, at its token %zu with the label '%.*s'",
                               s + 1, i - begin + 1,
                               TR_SHOW(tr_intern_text(&data->labels, data->gold.at[i])));
            }
        }
    }
    return TRELLIS_OK;
}

static trellis_status read_constraint(struct tr_training *training, trellis_error *error)
{
    uint32_t count = training->data.label_count;
    trellis_text *labels = tr_alloc(count, sizeof *labels);
    if (!labels) {
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        labels[i] = tr_intern_text(&training->data.labels, i);
    }
    trellis_status status = tr_constraint_steps(tr_option_text(training->options, "constrain"),
                                                labels, count, &training->forbidden,
                                                &training->plan.forbidden_count, error);
    training->plan.forbidden = (const uint16_t(*)[2])training->forbidden;
    free(labels);
    return status;
}

static trellis_status make_plan(struct tr_training *training, trellis_error *error)
{
    const trellis_options *options = training->options;
    struct tr_graph_plan *plan = &training->plan;
    plan->labels = training->data.label_count;
    plan->order = training->learner->no_steps ? 0 : (uint32_t)tr_option_integer(options, "order");
    plan->count_cap = (uint32_t)tr_option_integer(options, "counted");
    plan->threshold = tr_option_real(options, "prune");
    plan->pruned = plan->threshold > 0;
    bool generative = training->learner->generative;
    plan->observed_states = plan->order > 1 && !tr_training_is_em(training) &&
                            (generative || tr_option_flag(options, "observed-states"));
    if (plan->count_cap && plan->order != 1) {
        return tr_fail(error, TRELLIS_OPTION, "--counted goes with --order 1");
    }
    if (plan->pruned && (plan->count_cap || plan->order < 1)) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--prune is for --order 1 and more, without --counted");
    }
    trellis_status status = generative ? tr_hmm_check_plan(training, error) : TRELLIS_OK;
    if (status) {
        return status;
    }
    /* With few labels every step gets a weight, as CRFsuite has it; with many, the steps seen do. */
    bool all = generative ? !tr_hmm_interpolates(training)
                          : tr_option_flag(options, "all-features") || plan->labels <= 64;
    struct tr_step_choice choice = generative ? (struct tr_step_choice){true, true, true, true}
                                              : tr_features_steps(training->features);
    uint32_t all_up_to = !all ? 0 : generative ? plan->order + 1 : 2;
    status = tr_dataset_grams(&training->data, plan, choice, all_up_to, &training->grams,
                              &plan->gram_count, error);
    plan->grams = training->grams;
    return status ? status : read_constraint(training, error);
}

/* Where the parts of w are. */
static void measure(struct tr_training *training)
{
    training->kernels = tr_row_kernels();
    training->node_size = (training->vocabulary.node.rows->size + 15) / 16 * 16;
    training->edge_size = (training->vocabulary.edge.rows->size + 15) / 16 * 16;
    training->step_size = training->plan.gram_count;
    training->size = training->node_size + training->edge_size + training->step_size;
}

static trellis_status make_graph(struct tr_training *training, trellis_error *error)
{
    trellis_status status = make_plan(training, error);
    if (!status) {
        status = tr_graph_create(&training->plan, &training->graph, error);
    }
    if (!status) {
        status = check_gold(training, error);
    }
    if (!status && training->data.open_begin.size) {
        bool can = (training->learner->train == tr_train_crf && !training->local) ||
                   training->learner->train == tr_train_perceptron || tr_training_is_em(training);
        status = can ? tr_training_check_open(training, error)
                     : tr_fail(error, TRELLIS_OPTION,
                               "the type '%s' does not learn from labels that are not known; "
                               "perceptron, crf and maxent do, and hmm with -a em",
                               training->learner->name);
    }
    if (!status) {
        measure(training);
    }
    return status;
}

trellis_status tr_training_select(struct tr_training *training, trellis_error *error)
{
    struct tr_dataset *dev = training->dev.sequences ? &training->dev : NULL;
    struct tr_vocabulary *v = &training->vocabulary;
    const float *w = training->best, *steps = w + training->node_size + training->edge_size;
    size_t kept = 0;
    trellis_status status = tr_checkpoint_selection(training->checkpoint, error);
    if (status) {
        return status;
    }
    for (size_t i = 0; i < training->plan.gram_count; i++) {
        if (steps[i] != 0) {
            training->grams[kept++] = training->grams[i];
        }
    }
    training->plan.gram_count = kept;
    status = tr_dataset_prune(&training->data, dev, false, &v->node, w, error);
    if (!status) {
        status = tr_dataset_prune(&training->data, dev, true, &v->edge, w + training->node_size,
                                  error);
    }
    tr_graph_destroy(training->graph);
    training->graph = NULL;
    if (!status) {
        status = tr_graph_create(&training->plan, &training->graph, error);
    }
    if (!status) {
        measure(training);
        training->has_best = false;
        training->since_best = training->done = 0;
        tr_training_note(training, "selected %zu features of %u attributes",
                         tr_rows_pairs(v->node.rows) + tr_rows_pairs(v->edge.rows) + kept,
                         v->node.rows->attributes + v->edge.rows->attributes);
    }
    return status;
}

/* Says how large it all is, and refuses where it is larger than the user wants. */
static trellis_status weigh(struct tr_training *training, trellis_error *error)
{
    const struct tr_vocabulary *v = &training->vocabulary;
    size_t held = tr_dataset_bytes(&training->data) + tr_dataset_bytes(&training->dev) +
                  tr_vocabulary_bytes(v);
    const struct tr_learner *learner = training->learner;
    double needed = (double)held + 4.0 * (double)training->size * (learner->floats_per_weight + 2) +
                    learner->bytes_per_token * (double)training->data.tokens;
    double most;
    tr_training_note(training, "%zu sequences, %zu tokens, %u labels, %u attributes, %zu features",
                     training->data.sequences, training->data.tokens, training->data.label_count,
                     v->node.rows->attributes + v->edge.rows->attributes,
                     tr_rows_pairs(v->node.rows) + tr_rows_pairs(v->edge.rows) +
                         training->step_size);
    tr_training_note(training, "about %.0f MB of memory: %.0f for the data, the rest for learning",
                     needed / 1048576 + 1, (double)held / 1048576 + 1);
    if (!parse_size(tr_option_text(training->options, "memory"), &most)) {
        return tr_fail(error, TRELLIS_OPTION, "--memory takes a size such as 500M or 8G, not '%s'",
                       tr_option_text(training->options, "memory"));
    }
    size_t file_size =
        4 * training->size; // the weights alone; a file that is opened must justify its graph
    if (training->graph->step_count > tr_model_most_steps(file_size)) {
        return tr_fail(
            error, TRELLIS_LIMIT,
            "%u label steps are too many for so few features; use --observed-states or a "
            "lower --order",
            training->graph->step_count);
    }
    if (most > 0 && needed > most) {
        return tr_fail(error, TRELLIS_LIMIT,
                       "this training needs about %.0f MB, more than the %.0f MB of --memory; "
                       "a higher --min-count or fewer templates make it smaller",
                       needed / 1048576 + 1, most / 1048576);
    }
    return TRELLIS_OK;
}

static trellis_status start_threads(struct tr_training *training, trellis_error *error)
{
    int64_t threads = tr_option_integer(training->options, "threads");
    if (threads == 0) {
        threads = sysconf(_SC_NPROCESSORS_ONLN);
    }
    return tr_pool_create((unsigned)(threads < 1 ? 1 : threads), &training->pool, error);
}

/* Tokens whose label is not known. */
static size_t count_open(const struct tr_dataset *data)
{
    size_t count = 0;
    for (size_t t = 0; t < data->tokens; t++) {
        count += data->gold.at[t] == TR_UNKNOWN;
    }
    return count;
}

bool tr_training_is_aside(const char *option)
{
    static const char *const names[] = {"bits", "dev", "log", "checkpoint", "every", "resume"};
    bool aside = false;
    for (size_t i = 0; !aside && i < TR_COUNT(names); i++) {
        aside = strcmp(option, names[i]) == 0;
    }
    return aside;
}

static void write_notes(struct tr_training *training)
{
    struct tr_buffer *notes = &training->notes;
    const struct tr_vocabulary *v = &training->vocabulary;
    const trellis_progress *figures = &training->figures;
    tr_note_text(notes, "program", "trellis");
    tr_note_text(notes, "version", trellis_version());
    tr_note_text(notes, "type", training->learner->name);
    tr_note_text(notes, "algorithm", training->algorithm);
    tr_note_text(notes, "features", tr_features_name(training->features));
    if (training->local) {
        tr_note_text(notes, TR_NOTE_NORMALISED, TR_LOCALLY);
    }
    if (training->plan.pruned) {
        tr_note_format(notes, TR_NOTE_PRUNED, "%.17g", training->plan.threshold);
    }
    tr_note_format(notes, "order", "%u", training->plan.order);
    tr_note_format(notes, "sequences", "%zu", training->data.sequences);
    tr_note_format(notes, "tokens", "%zu", training->data.tokens);
    if (training->data.open_begin.size) {
        tr_note_format(notes, "open-labels", "%zu", count_open(&training->data));
    }
    tr_note_format(notes, "training-features", "%zu",
                   tr_rows_pairs(v->node.rows) + tr_rows_pairs(v->edge.rows) + training->step_size);
    tr_note_format(notes, "data-fingerprint", "%016llx",
                   (unsigned long long)training->data.fingerprint);
    tr_note_format(notes, "iterations", "%llu", (unsigned long long)figures->iteration);
    if (figures->objective != 0 && isfinite(figures->objective)) {
        tr_note_format(notes, "objective", "%.10g", figures->objective);
    }
    if (training->dev.sequences) {
        tr_note_format(notes, "dev-accuracy", "%.6f", figures->dev_accuracy);
        if (isfinite(figures->dev_f1)) {
            tr_note_format(notes, "dev-f1", "%.6f", figures->dev_f1);
        }
    }
    if (training->inside != TRELLIS_NO_SCHEME && training->inside != training->outside) {
        tr_note_text(notes, "scheme-inside", tr_scheme_name(training->inside));
        tr_note_text(notes, "scheme-outside", tr_scheme_name(training->outside));
    }
    /* Options that change the model; those of reading and running are not part of it. */
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        char key[80];
        if (option->groups & TRELLIS_GROUP_TRAIN &&
            trellis_options_given(training->options, option->name) &&
            !tr_training_is_aside(option->name) && strcmp(option->name, "partial") != 0) {
            snprintf(key, sizeof key, "option-%s", option->name);
            tr_note_text(notes, key, trellis_options_get(training->options, option->name));
        }
    }
    tr_note_text(notes, "option-seed", tr_option_text(training->options, "seed"));
}

static trellis_status make_model(struct tr_training *training, trellis_model **ret_model,
                                 trellis_error *error)
{
    const float *w = training->best, *low = training->low;
    write_notes(training);
    tr_dataset_drop_tokens(&training->data); // the model takes their place in memory
    tr_dataset_drop_tokens(&training->dev);
    if (training->notes.failed) {
        return tr_fail_memory(error);
    }
    struct tr_vocabulary *v = &training->vocabulary;
    struct tr_gaussian gaussian = {0};
    if (training->normals) {
        gaussian = tr_normals_best(training->normals);
    }
    struct tr_model_parts parts = {
        .labels = &training->data.labels,
        .plan = &training->plan,
        .step_weights = w + training->node_size + training->edge_size,
        .step_low = low ? low + training->node_size + training->edge_size : NULL,
        .unknown = training->unknown,
        .features = training->features,
        .node = {&v->node.dictionary, v->node.rows, w, low},
        .edge = {&v->edge.dictionary, v->edge.rows, w + training->node_size, NULL},
        .gaussian = training->normals ? &gaussian : NULL,
        .notes = &training->notes,
        .lexicon = &training->lexicon_block,
        .words = &training->seen};
    return tr_model_build(&parts, ret_model, error);
}

/* The model with its weights in as many bits as --bits says. */
static trellis_status make_small_model(struct tr_training *training, trellis_model **ret_model,
                                       trellis_error *error)
{
    trellis_model *model = NULL;
    trellis_status status = make_model(training, &model, error);
    if (status || tr_option_is(training->options, "bits", "32")) {
        *ret_model = model;
        return status;
    }
    status = trellis_model_repack(model, 16, ret_model, error);
    trellis_model_close(model);
    return status;
}

static void training_free(struct tr_training *training)
{
    tr_checkpoint_destroy(training->checkpoint);
    tr_pool_destroy(training->pool);
    tr_loss_destroy(training->loss);
    tr_graph_destroy(training->graph);
    tr_normals_destroy(training->normals);
    free(training->grams);
    free(training->forbidden);
    free(training->best);
    free(training->low);
    free(training->unknown);
    tr_buffer_free(&training->notes);
    tr_buffer_free(&training->lexicon_block);
    tr_words_free(&training->seen);
    tr_dataset_free(&training->data);
    tr_dataset_free(&training->dev);
    tr_vocabulary_free(&training->vocabulary);
    trellis_features_destroy(training->features);
}

/* Everything up to the learner. */
static trellis_status prepare(struct tr_training *training, const char *const *paths,
                              size_t path_count, trellis_error *error)
{
    trellis_status status = choose_learner(training, error);
    if (!status) {
        status = check_options(training, error);
    }
    if (!status && path_count == 0) {
        status = tr_fail(error, TRELLIS_DATA, "there is no training data");
    }
    if (!status) {
        status = tr_states_check_options(training, error);
    }
    if (!status) {
        status = choose_features(training, error);
    }
    if (!status) {
        status = choose_schemes(training, paths[0], error);
    }
    if (!status) {
        status = start_threads(training, error);
    }
    if (!status) {
        status = count_words(training, paths, path_count, error);
    }
    if (!status) {
        status = read_data(training, paths, path_count, error);
    }
    if (!status) {
        status = make_graph(training, error);
    }
    if (!status) {
        status = tr_normals_create(training, &training->normals, error);
    }
    if (!status) {
        status = weigh(training, error);
    }
    return status;
}

trellis_status trellis_train(const trellis_options *options, const char *const *paths,
                             size_t path_count, trellis_progress_function progress, void *user,
                             trellis_model **ret_model, trellis_error *error)
{
    *ret_model = NULL;
    struct tr_training training = {.options = options, .progress = progress, .user = user};
    clock_gettime(CLOCK_MONOTONIC, &training.began);
    tr_random_seed(&training.random, (uint64_t)tr_option_integer(options, "seed"));
    trellis_status status = prepare(&training, paths, path_count, error);
    if (!status && strcmp(training.algorithm, "default") == 0) {
        training.algorithm = training.learner->algorithms; // cut to its first word below
    }
    char algorithm[64] = "";
    if (!status) {
        size_t n = strcspn(training.algorithm, " ");
        snprintf(algorithm, sizeof algorithm, "%.*s", (int)n, training.algorithm);
        training.algorithm = algorithm;
        training.best = tr_alloc_aligned(training.size, sizeof *training.best);
        status = training.best ? tr_checkpoint_open(&training, error) : tr_fail_memory(error);
    }
    if (!status) {
        status = training.learner->train(&training, error);
    }
    if (!status && !training.has_best) {
        status = tr_fail(error, training.stopped ? TRELLIS_STOPPED : TRELLIS_DATA,
                         "the training ended before its first iteration");
    } else if (!status) {
        status = make_small_model(&training, ret_model, error);
        if (!status && training.stopped) {
            status = tr_fail(error, TRELLIS_STOPPED, "stopped after %llu iterations",
                             (unsigned long long)training.figures.iteration);
        }
    }
    training_free(&training);
    return status;
}
