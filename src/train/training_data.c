/* training_data.c - from sources to a dataset: templates, schemes of labels, counts of words, tag
 * dictionary, features. */
#include "train/train.h"

#include <math.h>
#include <stdio.h>

#include "corpus/corpus.h"
#include "train/pass.h"
#include "train/sgd.h"
#include "train/unsupervised.h"

static bool reading_progress(void *user, uint64_t tokens)
{
    struct tr_training *training = user;
    double seconds = tr_training_seconds(training);
    trellis_progress figures = tr_figures_unknown(TRELLIS_PHASE_READING);
    figures.tokens_per_second = (double)tokens / (seconds + 1e-9);
    return tr_training_tick(training, &figures);
}

static trellis_status open_features(struct tr_training *training, trellis_error *error)
{
    const struct tr_settings *settings = &training->settings;
    const char *wanted = tr_option_text(settings->options, "features");
    trellis_features **features = &training->data.features;
    if (training->sources.templates) {
        return tr_features_parse(tr_text(training->sources.templates), "templates", features,
                                 error);
    }
    if (strcmp(wanted, "auto") != 0) {
        return tr_features_open(wanted, settings->options, features, error);
    }
    if (tr_source_is_ready_made(training->sources.train, settings->options)) {
        return tr_features_none(features, error);
    }
    if (*settings->gaussian) {
        return tr_features_parse(TR_TEXT("step start end\n"), "gaussian", features, error);
    }
    const char *by_default = settings->algorithm->features ? settings->algorithm->features
                                                           : settings->learner->features;
    return trellis_features_open(by_default, features, error);
}

trellis_status tr_training_choose_features(struct tr_training *training, trellis_error *error)
{
    trellis_status status = open_features(training, error);
    size_t window = status ? 0 : trellis_features_context(training->data.features);
    if (window && !trellis_options_given(training->options, "context")) {
        char number[24];
        snprintf(number, sizeof number, "%zu", window);
        status = trellis_options_set(training->options, "context", number, error);
    }
    return status;
}

/* ---- what must be known of the data before it is read ---------------------------------------- */

/* Some templates ask how often words occur, --train-scheme for the scheme of the labels, and a rank
 * for the lengths of the sequences, which decide on its share. */
struct survey {
    bool counts, labels, lengths;
    struct tr_intern seen; // labels
};

/* Whether the learner reads the attributes of the training data in passes and stochastic steps alone,
 * and sums over ranks of what these count are exact: then no rank needs those of others. */
static bool can_share(const struct tr_training *training)
{
    const struct tr_settings *settings = &training->settings;
    const struct tr_training_sources *sources = &training->sources;
    bool rereadable = true;
    for (size_t i = 0; i < sources->train_count; i++) {
        rereadable = rereadable && tr_source_is_rereadable(&sources->train[i]);
    }
    return !tr_ranks_alone(&training->ranks) && tr_training_can(training, TR_SHARED_DATA) &&
           rereadable && settings->select_l1 == 0 && settings->min_feature_count == 0;
}

/* Whether the stochastic steps on so many sequences are shared, where there are any. */
static bool shares_steps(const struct tr_training *training, size_t sequences)
{
    const struct tr_settings *settings = &training->settings;
    bool warms_up = settings->warm_up > 0 && !training->sources.from &&
                    tr_learner_listens(settings->learner, settings->algorithm, "warm-up");
    if (!warms_up && !tr_training_can(training, TR_STOCHASTIC)) {
        return true;
    }
    size_t batch = warms_up ? tr_sgd_warm_up_batch(sequences) : settings->batch;
    return tr_sgd_is_shared(&training->ranks, batch < sequences ? batch : sequences);
}

static bool add_length(struct tr_dataset *data, const trellis_sequence *sequence)
{
    if (data->sequence.size == 0 && !tr_push(&data->sequence, 0)) {
        return false;
    }
    data->tokens += sequence->length;
    data->sequences++;
    return tr_push(&data->sequence, (uint32_t)data->tokens);
}

static trellis_status survey_sequence(struct tr_training *training, struct survey *survey,
                                      struct tr_extractor *extractor,
                                      const trellis_sequence *sequence, trellis_error *error)
{
    for (size_t i = 0; survey->labels && sequence->labels && i < sequence->length; i++) {
        if (tr_intern_add(&survey->seen, sequence->labels[i]) == TR_NONE) {
            return tr_fail_memory(error);
        }
    }
    if (survey->lengths && !add_length(&training->data.lengths, sequence)) {
        return tr_fail_memory(error);
    }
    return survey->counts ? tr_features_count(training->data.features, extractor, sequence, error)
                          : TRELLIS_OK;
}

trellis_status tr_training_check_survey(const struct tr_training *training,
                                        const trellis_source *source, trellis_error *error)
{
    uint64_t max = training->settings.limits.memory;
    return max == 0 || tr_features_bytes(training->data.features) <= max
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_LIMIT,
                         "%s: the words that the templates ask for need more than the %.0f MB of "
                         "--memory; a higher --memory, other templates or a smaller file would do",
                         tr_source_name(source), (double)max / 1048576);
}

static trellis_status survey_source(struct tr_training *training, struct survey *survey,
                                    const trellis_source *source, trellis_error *error)
{
    trellis_reader *reader = NULL;
    struct tr_extractor *extractor = NULL;
    const trellis_sequence *sequence;
    bool bound = false;
    trellis_status status = trellis_reader_open_source(source, training->settings.options, &reader,
                                                       error);
    if (!status && survey->counts) {
        status = tr_extractor_create(training->data.features, true, &extractor, error);
    }
    while (!status && !(status = tr_training_check_survey(training, source, error)) &&
           !(status = trellis_reader_next(reader, &sequence, error))) {
        if (survey->counts && !bound) {
            status = tr_extractor_bind(extractor, reader, trellis_reader_label_column(reader),
                                       error);
            bound = true;
        }
        if (!status) {
            status = survey_sequence(training, survey, extractor, sequence, error);
        }
    }
    tr_extractor_destroy(extractor);
    trellis_reader_close(reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

/* The scheme of the labels of the first source, judged from all of them. */
static trellis_status guess_scheme(struct tr_training *training, const struct tr_intern *labels,
                                   const trellis_source *source, trellis_error *error)
{
    size_t count = tr_intern_count(labels);
    trellis_text *texts = tr_alloc(count, sizeof *texts);
    if (!texts) {
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        texts[i] = tr_intern_text(labels, i);
    }
    training->data.outside = tr_scheme_guess(texts, count);
    free(texts);
    return training->data.outside != TRELLIS_NO_SCHEME
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_DATA,
                         "%s: --train-scheme needs span labels (B-X, I-X, O), and these are not",
                         tr_source_name(source));
}

static trellis_status check_rereadable(const struct survey *survey, const trellis_source *source,
                                       trellis_error *error)
{
    const char *name = tr_source_name(source);
    if (tr_source_is_rereadable(source)) { // as it is where lengths are asked for
        return TRELLIS_OK;
    }
    return survey->labels
               ? tr_fail(error, TRELLIS_OPTION,
                         "--train-scheme with %s needs --scheme, the scheme of the input", name)
               : tr_fail(error, TRELLIS_OPTION,
                         "these templates ask for rare words, so the data is read twice: "
                         "give it as a file, not as %s",
                         name);
}

bool tr_training_shares(const struct tr_training *training)
{
    const struct tr_dataset *lengths = &training->data.lengths;
    return lengths->tokens > 0 && lengths->tokens < UINT32_MAX &&
           shares_steps(training, lengths->sequences);
}

/* Once all sequences are known: the share of this rank. */
static void end_lengths(struct tr_training *training, bool may_share)
{
    struct tr_training_data *data = &training->data;
    data->shared = may_share && tr_training_shares(training);
    if (data->shared) {
        tr_pass_share(training, &data->lengths, training->ranks.rank, &data->first, &data->end);
        tr_training_note(training, "each rank %skeeps its share of the sequences",
                         data->ranges ? "reads and " : "");
    } else {
        tr_dataset_free(&data->lengths);
    }
}

/* Whether the learner has to have a tag dictionary, though the user asks for none. */
static bool needs_dictionary(const struct tr_training *training)
{
    const struct tr_learner_hooks *hooks = training->settings.learner->hooks;
    return hooks && hooks->needs_dictionary && hooks->needs_dictionary(training);
}

static bool has_dictionary(const struct tr_training *training)
{
    return *training->settings.dictionary || needs_dictionary(training);
}

/* Reads the sources once for all of these, where any is needed. */
static trellis_status survey_sources(struct tr_training *training, trellis_error *error)
{
    const struct tr_training_sources *sources = &training->sources;
    const trellis_options *options = training->settings.options;
    struct tr_training_data *data = &training->data;
    data->inside = trellis_scheme_from_name(tr_option_text(options, "train-scheme"));
    data->outside = trellis_scheme_from_name(tr_option_text(options, "scheme"));
    struct survey survey = {.counts = tr_features_needs_counts(data->features),
                            .labels = data->inside != TRELLIS_NO_SCHEME &&
                                      data->outside == TRELLIS_NO_SCHEME};
    bool may_share = can_share(training);
    trellis_status status = TRELLIS_OK;
    if (may_share && !survey.counts && !survey.labels && !has_dictionary(training) &&
        !tr_features_learns(data->features)) {
        status = tr_training_survey_ranges(training, error);
    }
    survey.lengths = may_share && !data->ranges;
    for (size_t i = 0;
         !status && (survey.counts || survey.labels || survey.lengths) && i < sources->train_count;
         i++) {
        const trellis_source *source = &sources->train[i];
        status = check_rereadable(&survey, source, error);
        if (!status) {
            status = survey_source(training, &survey, source, error);
        }
        if (!status && survey.labels) {
            status = guess_scheme(training, &survey.seen, source, error);
            survey.labels = false; // the other sources have the same
        }
    }
    tr_intern_free(&survey.seen);
    end_lengths(training, may_share);
    return status || !survey.counts ? status : tr_features_end_count(data->features, error);
}

/* ---- the tag dictionary ---------------------------------------------------------------------- */

/* The words with their labels: learned from the data, or as the user has them. */
static trellis_status draft_dictionary(struct tr_training *training, const struct tr_intern *words,
                                       struct tr_tag_dictionary_builder *draft,
                                       trellis_error *error)
{
    const trellis_options *options = training->settings.options;
    const struct tr_learner_hooks *hooks = training->settings.learner->hooks;
    struct tr_dataset *data = &training->data.train;
    bool needed = needs_dictionary(training);
    uint64_t least = needed ? 1 : (uint64_t)tr_option_integer(options, "dictionary-count");
    trellis_status status = needed || tr_option_is(options, "dictionary", "learn")
                                ? tr_tag_dictionary_learn(
                                      draft, data, words, least,
                                      training->data.shared ? &training->ranks : NULL, error)
                                : tr_tag_dictionary_load(draft, training->settings.dictionary,
                                                         options, &data->labels, data->label_count,
                                                         error);
    return !status && needed && hooks->allow_words
               ? hooks->allow_words(training, words, draft, error)
               : status;
}

static trellis_status make_dictionary(struct tr_training *training, const struct tr_intern *words,
                                      trellis_error *error)
{
    struct tr_training_data *data = &training->data;
    struct tr_tag_dictionary_builder draft = {0};
    trellis_status status = draft_dictionary(training, words, &draft, error);
    if (!status) {
        status = tr_tag_dictionary_write(&draft, &data->tag_dictionary_block, error);
    }
    if (!status &&
        !tr_tag_dictionary_read(data->tag_dictionary_block.data, data->tag_dictionary_block.size,
                                data->train.label_count, &data->tag_dictionary)) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        status = tr_tag_dictionary_apply(&data->tag_dictionary, &data->train, words, error);
    }
    if (!status) {
        tr_training_note(training, "the tag dictionary has %u words, with %.1f labels each",
                         data->tag_dictionary.words,
                         (double)draft.pairs.size / fmax(1, data->tag_dictionary.words));
    }
    tr_tag_dictionary_builder_free(&draft);
    return status;
}

/* ---- features -------------------------------------------------------------------------------- */

/* Lays out the features. Attributes that always occur together share a row where the learner treats
 * them alike, and they begin alike. */
static trellis_status arrange(struct tr_training *training, trellis_error *error)
{
    const struct tr_settings *settings = &training->settings;
    const struct tr_learner_hooks *hooks = settings->learner->hooks;
    struct tr_arrangement arrangement = {.min_count = settings->min_count,
                                         .min_feature_count = settings->min_feature_count,
                                         .all_features = settings->all_features,
                                         .share = tr_training_can(training, TR_SHARED_ROWS) &&
                                                  settings->l1 == 0 && settings->select_l1 == 0 &&
                                                  !training->sources.from,
                                         .segments = training->data.segments,
                                         .pool = training->pool,
                                         .ranks = training->data.shared ? &training->ranks : NULL};
    training->data.arrange_bytes = tr_dataset_bytes(&training->data.train) +
                                   tr_vocabulary_bytes(&training->data.vocabulary) +
                                   tr_vocabulary_arrange_bytes(&training->data.vocabulary);
    return hooks && hooks->arrange
               ? hooks->arrange(training, &arrangement, error)
               : tr_dataset_arrange(&training->data.train, &training->data.vocabulary, &arrangement,
                                    error);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Once every rank has read its share. */
static trellis_status end_ranges(struct tr_training *training, trellis_status status,
                                 trellis_error *error)
{
    struct tr_training_data *data = &training->data;
    const uint32_t *begin = data->lengths.sequence.at;
    if (!status && data->train.tokens != begin[data->end] - begin[data->first]) {
        status = tr_fail(error, TRELLIS_DATA, "%s changed while it was read",
                         tr_source_name(training->sources.train));
    }
    status = tr_ranks_agree(&training->ranks, status, error);
    return status ? status
                  : tr_dataset_unite_labels(&data->train, &data->seen, &data->lengths,
                                            &training->ranks, error);
}

/* The training data as it was read: labels are numbers, and attributes are not laid out yet. */
static trellis_status read_train(struct tr_training *training,
                                 const struct tr_dataset_settings *settings, trellis_error *error)
{
    const struct tr_training_sources *sources = &training->sources;
    struct tr_training_data *data = &training->data;
    trellis_status status = TRELLIS_OK;
    if (settings->partial && settings->from != settings->to) {
        status = tr_fail(error, TRELLIS_OPTION,
                         "--partial cannot be combined with --train-scheme: unknown labels cannot "
                         "be converted");
    }
    for (size_t i = 0; !status && i < sources->train_count; i++) {
        struct tr_dataset_settings now = *settings;
        now.range = data->ranges ? &data->ranges[i] : NULL;
        status = tr_dataset_read(&data->train, &data->vocabulary, NULL, &now, &sources->train[i],
                                 error);
    }
    if (data->ranges) {
        status = end_ranges(training, status, error);
    }
    if (!status) {
        status = tr_unsupervised_read_more(training, settings, error);
    }
    if (!status && tr_dataset_all_tokens(&data->train) == 0) {
        status = tr_fail(error, TRELLIS_DATA, "there is nothing to learn from: no tokens in %s%s",
                         tr_source_name(sources->train),
                         sources->train_count > 1 ? " and the other files" : "");
    }
    if (!status && data->shared && tr_dataset_all_tokens(&data->train) != data->lengths.tokens) {
        status = tr_fail(error, TRELLIS_DATA, "%s changed while it was read",
                         tr_source_name(sources->train));
    }
    if (!status) {
        status = tr_unsupervised_name(training, error);
    }
    if (!status && data->train.label_count == 0) {
        status = tr_fail(error, TRELLIS_DATA, "there is nothing to learn from: no label is known");
    }
    uint64_t read = data->shared ? data->train.label_fingerprint ^ data->train.cell_fingerprint
                                 : data->train.fingerprint;
    if (!status) {
        status = tr_training_same(training, read + data->shared,
                                  "has read other training data than", error);
    }
    return status || !data->shared ? status
                                   : tr_dataset_number_together(&data->train, &data->vocabulary,
                                                                &training->ranks, error);
}

/* The dev data, through the vocabulary of the training data. */
static trellis_status read_dev(struct tr_training *training, struct tr_dataset_settings settings,
                               trellis_error *error)
{
    struct tr_training_data *data = &training->data;
    const struct tr_training_sources *sources = &training->sources;
    settings.words = NULL;
    settings.seen = NULL;
    settings.tag_dictionary = data->tag_dictionary_block.size ? &data->tag_dictionary : NULL;
    settings.label_use = tr_unsupervised_dev_likelihood(training) ? TR_LABELS_IGNORED
                                                                  : TR_LABELS_NEEDED;
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < sources->dev_count; i++) {
        status = tr_dataset_read(&data->dev, &data->vocabulary, &data->train, &settings,
                                 &sources->dev[i], error);
    }
    return !status && sources->dev_count && data->dev.tokens == 0
               ? tr_fail(error, TRELLIS_DATA, "%s: there are no tokens to test on",
                         tr_source_name(sources->dev))
               : status;
}

/* Nothing is looked for where nobody is told, in labels that are not used, and where a rank reads but
 * a part. */
static trellis_status begin_lint(const struct tr_training *training,
                                 struct tr_dataset_settings *settings, trellis_error *error)
{
    bool wanted = training->report.progress && settings->label_use != TR_LABELS_IGNORED &&
                  !training->data.ranges;
    return wanted ? trellis_lint_create(&settings->lint, error) : TRELLIS_OK;
}

/* Tells what is suspicious in the data. */
static trellis_status end_lint(struct tr_training *training, trellis_lint *lint,
                               trellis_error *error)
{
    trellis_finding found = {.struct_size = sizeof found};
    trellis_status status = lint ? trellis_lint_finish(lint, error) : TRELLIS_OK;
    for (size_t i = 0; lint && !status && trellis_lint_finding(lint, i, &found); i++) {
        if (found.line) {
            tr_training_note(training, "warning: %s:%llu: %s", found.name,
                             (unsigned long long)found.line, found.message);
        } else {
            tr_training_note(training, "warning: %s: %s", found.name, found.message);
        }
    }
    return status;
}

static trellis_status read_data(struct tr_training *training, trellis_error *error)
{
    const struct tr_settings *settings = &training->settings;
    struct tr_training_data *data = &training->data;
    struct tr_intern words = {0};
    bool convert = data->inside != TRELLIS_NO_SCHEME;
    size_t max_segment = 0;
    for (size_t i = 0; tr_features_has_segments(data->features) && i < data->type_lengths.size;
         i++) {
        max_segment = data->type_lengths.at[i] > max_segment ? data->type_lengths.at[i]
                                                             : max_segment;
    }
    bool has_words = has_dictionary(training);
    struct tr_dataset_settings reading = {.options = settings->options,
                                          .features = data->features,
                                          .from = convert ? data->outside : TRELLIS_NO_SCHEME,
                                          .to = data->inside,
                                          .legal = settings->max_segment > 0,
                                          .words = has_words ? &words : NULL,
                                          .reals = settings->gaussian,
                                          .label_use = tr_unsupervised_label_use(training),
                                          .seen = &data->seen,
                                          .partial = tr_option_flag(settings->options, "partial"),
                                          .max_segment = max_segment,
                                          .segment_keys = &data->segment_keys,
                                          .shared = data->shared,
                                          .first = data->first,
                                          .end = data->end,
                                          .memory = settings->limits.memory,
                                          .progress = reading_progress,
                                          .user = training};
    trellis_status status = begin_lint(training, &reading, error);
    if (!status) {
        status = read_train(training, &reading, error);
    }
    if (!status) {
        status = tr_pass_set_grids(training, error);
    }
    tr_words_free(&data->segment_keys);
    if (!status && settings->max_segment) {
        status = tr_training_make_segments(training, error);
    }
    if (!status) {
        status = arrange(training, error);
    }
    if (!status && has_words) {
        status = make_dictionary(training, &words, error);
    }
    if (!status) {
        status = tr_features_end_training(data->features, error);
    }
    tr_intern_free(&words);
    if (!status) {
        status = read_dev(training, reading, error);
    }
    if (!status) {
        status = end_lint(training, reading.lint, error);
    }
    trellis_lint_destroy(reading.lint);
    tr_vocabulary_close(&data->vocabulary);
    return status;
}

trellis_status tr_training_read(struct tr_training *training, trellis_error *error)
{
    trellis_status status = tr_training_choose_features(training, error);
    if (!status) {
        status = survey_sources(training, error);
    }
    if (!status) {
        status = tr_training_survey_segments(training, error);
    }
    return status ? status : read_data(training, error);
}
