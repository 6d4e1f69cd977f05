/* training_data.c - from files to a dataset: templates, schemes of labels, counts of words, tag dictionary, features. */
#include "train/train.h"

#include <math.h>

#include "corpus/corpus.h"
#include "train/hmm.h"
#include "train/unsupervised.h"

static bool reading_progress(void *user, uint64_t tokens)
{
    struct tr_training *training = user;
    double seconds = tr_training_seconds(training);
    trellis_progress figures = tr_figures_unknown(TRELLIS_PHASE_READING);
    figures.tokens_per_second = (double)tokens / (seconds + 1e-9);
    return tr_training_tick(training, &figures);
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
    struct tr_tag_dictionary_builder draft = {0};
    bool needed = needs_dictionary(training);
    bool learn = needed || tr_option_is(options, "dictionary", "learn");
    uint64_t least = needed ? 1 : (uint64_t)tr_option_integer(options, "dictionary-count");
    trellis_status status = learn ? tr_tag_dictionary_learn(&draft, data, words, least, error)
                                  : tr_tag_dictionary_load(&draft,
                                                           tr_option_text(options, "dictionary"),
                                                           &data->labels, data->label_count, error);
    if (!status && needed) {
        status = tr_hmm_allow(training, words, &draft, error);
    }
    if (!status) {
        status = tr_tag_dictionary_write(&draft, &training->tag_dictionary_block, error);
    }
    if (!status && !tr_tag_dictionary_read(training->tag_dictionary_block.data,
                                           training->tag_dictionary_block.size, data->label_count,
                                           &training->tag_dictionary)) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        status = tr_tag_dictionary_apply(&training->tag_dictionary, data, words, error);
    }
    if (!status) {
        tr_training_note(training, "the tag dictionary has %u words, with %.1f labels each",
                         training->tag_dictionary.words,
                         (double)draft.pairs.size / fmax(1, training->tag_dictionary.words));
    }
    tr_tag_dictionary_builder_free(&draft);
    return status;
}

/* Whether attributes that always occur together may share a row: where every learner's step would treat them
 * alike, and none begins with weights of its own. */
static bool may_share(const struct tr_training *training)
{
    const trellis_options *options = training->options;
    return training->learner->train == tr_train_crf && tr_option_real(options, "l1") == 0 &&
           tr_option_real(options, "select-l1") == 0 && !*tr_option_text(options, "from");
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
        .share = may_share(training),
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
                                       .label_use = tr_unsupervised_label_use(training),
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
        status = tr_unsupervised_read_more(training, &source, error);
    }
    if (!status && training->data.tokens == 0) {
        status = tr_fail(error, TRELLIS_DATA, "there is nothing to learn from: no tokens in %s%s",
                         path_count ? paths[0] : "no files",
                         path_count > 1 ? " and the other files" : "");
    }
    if (!status) {
        status = tr_unsupervised_name(training, error);
    }
    if (!status && training->data.label_count == 0) {
        status = tr_fail(error, TRELLIS_DATA, "there is nothing to learn from: no label is known");
    }
    if (!status) {
        status = arrange(training, error);
    }
    if (!status && source.words) {
        status = make_dictionary(training, &words, error);
        source.tag_dictionary = &training->tag_dictionary;
    }
    source.words = NULL;
    source.seen = NULL;
    tr_intern_free(&words);
    if (!status) {
        status = tr_features_end_training(training->features, error);
    }
    source.label_use = tr_unsupervised_dev_likelihood(training) ? TR_LABELS_IGNORED
                                                                : TR_LABELS_NEEDED;
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

trellis_status tr_training_read(struct tr_training *training, const char *const *paths,
                                size_t path_count, trellis_error *error)
{
    trellis_status status = choose_features(training, error);
    if (!status) {
        status = choose_schemes(training, paths[0], error);
    }
    if (!status) {
        status = count_words(training, paths, path_count, error);
    }
    return status ? status : read_data(training, paths, path_count, error);
}
