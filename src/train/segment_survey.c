/* segment_survey.c - what must be known of gold segments before the data is read.
 *
 * Where templates have learned(), two passes learn the names and words of the data
 * (features/learned_names.c). The rest is for --segments: the longest segment of each type says how
 * many segments each token has to be the end of. And only attributes that some gold segment has can
 * become features, so that the many others, of all the segments that are none, are not kept at all.
 * With --filter one pass counts what words can be in segments (features/segment_filter.c).
 */
#include "corpus/corpus.h"
#include "train/train.h"

/* What is counted along the way. */
struct segment_survey {
    struct tr_training *training;
    struct tr_extractor *extractor;
    size_t cap;           // --max-segment, 0 without --segments
    bool partial;         // labels may be open
    size_t found, longer; // gold segments, and those that features do not see
    size_t lost;          // those that the filter takes away beside
    enum { LEARN_SEGMENTS, LEARN_PLACES, NOTE } stage;
    size_t sequences; // read at this stage
};

/* ---- schemes --------------------------------------------------------------------------------- */

static trellis_status guess_scheme(struct tr_training *training, trellis_error *error)
{
    struct tr_intern labels = {0};
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    trellis_status status = trellis_reader_open_source(training->sources.train,
                                                       training->settings.options, &reader, error);
    bool ok = true;
    while (!status && ok && !(status = trellis_reader_next(reader, &sequence, error))) {
        for (size_t i = 0; ok && sequence->labels && i < sequence->length; i++) {
            ok = tr_intern_add(&labels, sequence->labels[i]) != TR_NONE;
        }
    }
    trellis_reader_close(reader);
    trellis_text *texts = tr_alloc(tr_intern_count(&labels), sizeof *texts);
    for (uint32_t i = 0; texts && i < tr_intern_count(&labels); i++) {
        texts[i] = tr_intern_text(&labels, i);
    }
    if (texts && status == TRELLIS_END) {
        training->data.outside = tr_scheme_guess(texts, tr_intern_count(&labels));
        status = TRELLIS_OK;
    } else if (!ok || !texts) {
        status = tr_fail_memory(error);
    }
    free(texts);
    tr_intern_free(&labels);
    return status;
}

/* A segment must show where it begins: IOB1 becomes IOB2, and what is illegal in a scheme becomes
 * legal, as conlleval reads it. Open labels cannot be converted. */
static trellis_status choose_scheme(struct tr_training *training, trellis_error *error)
{
    struct tr_training_data *data = &training->data;
    if (data->inside == TRELLIS_IOB1) {
        return tr_fail(
            error, TRELLIS_OPTION,
            "--segments cannot learn with --train-scheme iob1, which does not mark where "
            "every segment begins; use iob2 or iobes");
    }
    if (data->inside != TRELLIS_NO_SCHEME) {
        return TRELLIS_OK;
    }
    trellis_scheme asked = data->outside;
    trellis_status status = asked == TRELLIS_NO_SCHEME ? guess_scheme(training, error) : TRELLIS_OK;
    bool partial = tr_option_flag(training->settings.options, "partial");
    if (!status && data->outside == TRELLIS_IOB1) {
        data->inside = TRELLIS_IOB2;
    } else if (!status && data->outside != TRELLIS_NO_SCHEME && !partial) {
        data->inside = data->outside; // I-X where no segment has begun is read as B-X
    } else {
        data->outside = asked;
    }
    return status;
}

/* ---- gold segments --------------------------------------------------------------------------- */

static bool note_length(struct segment_survey *survey, trellis_text type, size_t length)
{
    struct tr_training_data *data = &survey->training->data;
    uint32_t number = tr_intern_add(&data->type_names, type);
    uint32_t seen = (uint32_t)(length < survey->cap ? length : survey->cap);
    if (number == TR_NONE ||
        (number == data->type_lengths.size && !tr_push(&data->type_lengths, 1))) {
        return false;
    }
    if (seen > data->type_lengths.at[number]) {
        data->type_lengths.at[number] = seen;
    }
    survey->found++;
    survey->longer += length > survey->cap;
    return true;
}

static bool note_keys(struct segment_survey *survey, const struct tr_observation *observation,
                      size_t s, size_t e)
{
    const struct tr_seen *seen = &observation->segment;
    size_t number = e * observation->max_segment + (e - s);
    bool ok = true;
    for (size_t k = seen->begin[number]; ok && k < seen->begin[number + 1]; k++) {
        uint64_t key = seen->low[k];
        ok = key == 0 || tr_words_add_hash(&survey->training->data.segment_keys, key);
    }
    return ok;
}

/* A gold segment of tokens s .. e. */
static trellis_status survey_segment(struct segment_survey *survey,
                                     const trellis_sequence *sequence,
                                     const struct tr_observation *observation, size_t s, size_t e,
                                     trellis_text type, trellis_error *error)
{
    bool seen = observation->max_segment && e - s < survey->cap;
    if (survey->stage == LEARN_SEGMENTS) {
        trellis_features *features = survey->training->data.features;
        trellis_status status = tr_features_filter_segment(features, survey->extractor, sequence, s,
                                                           e, error);
        return status ? status
                      : tr_features_learn_segment(features, survey->extractor, sequence, s, e, type,
                                                  error);
    }
    survey->lost += seen && !tr_extractor_describes(survey->extractor, s, e);
    bool ok = note_length(survey, type, e + 1 - s) &&
              (!seen || note_keys(survey, observation, s, e));
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}

/* Where labels are no spans, the label of a token is learned as a span of its own. */
static trellis_status survey_label(struct segment_survey *survey, const trellis_sequence *sequence,
                                   size_t i, trellis_error *error)
{
    bool open = survey->partial && tr_label_is_open(sequence->labels[i]);
    return survey->cap || open || survey->stage != LEARN_SEGMENTS
               ? TRELLIS_OK
               : tr_features_learn_segment(survey->training->data.features, survey->extractor,
                                           sequence, i, i, sequence->labels[i], error);
}

/* The segments of a sequence, by the rules of conlleval, which are the same before and after a
 * conversion to the scheme inside the model. */
static trellis_status survey_labels(struct segment_survey *survey, const trellis_sequence *sequence,
                                    const struct tr_observation *observation, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    char letter = 'O', before;
    trellis_text type = {"", 0}, type_before;
    size_t s = 0;
    size_t n = sequence->length;
    bool open = false;
    for (size_t i = 0; !status && i <= n; i++) {
        before = letter, type_before = type;
        letter = 'O', type = (trellis_text){"", 0};
        bool span = i < n && tr_label_split(sequence->labels[i], &letter, &type);
        if (!span) {
            letter = 'O';
            status = i < n ? survey_label(survey, sequence, i, error) : TRELLIS_OK;
        }
        if (!status && open && tr_span_ends(before, type_before, letter, type)) {
            status = survey_segment(survey, sequence, observation, s, i - 1, type_before, error);
            open = false;
        }
        if (tr_span_begins(before, type_before, letter, type)) {
            s = i;
            open = true;
        }
    }
    return status;
}

static trellis_status survey_sequence(struct segment_survey *survey,
                                      const trellis_sequence *sequence, trellis_error *error)
{
    const struct tr_observation *observation;
    tr_extractor_set_sequence(survey->extractor, survey->sequences++);
    trellis_status status = tr_extractor_run(survey->extractor, sequence, &observation, error);
    if (!status && survey->stage == LEARN_SEGMENTS) {
        status = tr_features_filter_sequence(survey->training->data.features, survey->extractor,
                                             sequence, error);
    }
    if (!status && survey->stage == LEARN_PLACES) {
        return tr_features_learn_places(survey->training->data.features, survey->extractor,
                                        sequence, survey->partial, error);
    }
    return status || !sequence->labels ? status
                                       : survey_labels(survey, sequence, observation, error);
}

static trellis_status survey_source(struct segment_survey *survey, const trellis_source *source,
                                    trellis_error *error)
{
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    bool bound = false;
    if (!tr_source_is_rereadable(source)) {
        return tr_fail(error, TRELLIS_OPTION, "%s the data twice: give it as a file, not as %s",
                       survey->cap ? "--segments reads" : "templates with learned() read",
                       tr_source_name(source));
    }
    trellis_status status = trellis_reader_open_source(source, survey->training->settings.options,
                                                       &reader, error);
    if (!status) {
        status = tr_extractor_create(survey->training->data.features, true, &survey->extractor,
                                     error);
    }
    if (!status) {
        tr_extractor_set_segments(survey->extractor, survey->cap);
    }
    while (!status && !(status = tr_training_check_survey(survey->training, source, error)) &&
           !(status = trellis_reader_next(reader, &sequence, error))) {
        if (!bound) {
            status = tr_extractor_bind(survey->extractor, reader,
                                       trellis_reader_label_column(reader), error);
            bound = true;
        }
        if (!status) {
            status = survey_sequence(survey, sequence, error);
        }
    }
    tr_extractor_destroy(survey->extractor);
    survey->extractor = NULL;
    trellis_reader_close(reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

static trellis_status survey_sources(struct segment_survey *survey, trellis_error *error)
{
    const struct tr_training_sources *sources = &survey->training->sources;
    trellis_status status = TRELLIS_OK;
    survey->sequences = 0;
    for (size_t i = 0; !status && i < sources->train_count; i++) {
        status = survey_source(survey, &sources->train[i], error);
    }
    return status;
}

/* What templates and the filter must know of all gold segments. */
static trellis_status learn(struct segment_survey *survey, double filter, trellis_error *error)
{
    trellis_features *features = survey->training->data.features;
    bool names = tr_features_learns(features);
    trellis_status status = filter > 0 ? tr_features_begin_filter(features, error) : TRELLIS_OK;
    survey->stage = LEARN_SEGMENTS;
    if (!status && (names || filter > 0)) {
        status = survey_sources(survey, error);
    }
    if (!status && filter > 0) {
        status = tr_features_end_filter(features, filter, error);
    }
    if (!status && names) {
        tr_features_end_segments(features, survey->sequences);
        survey->stage = LEARN_PLACES;
        status = survey_sources(survey, error);
        status = status ? status : tr_features_end_places(features, error);
    }
    survey->stage = NOTE;
    return status;
}

trellis_status tr_training_survey_segments(struct tr_training *training, trellis_error *error)
{
    struct segment_survey survey = {
        .training = training, .cap = training->settings.max_segment, .stage = NOTE};
    bool templates = tr_features_has_segments(training->data.features);
    survey.partial = tr_option_flag(training->settings.options, "partial");
    if (!survey.cap) {
        return templates ? tr_fail(error, TRELLIS_OPTION,
                                   "these templates have 'segment' lines, which need --segments")
                         : learn(&survey, 0, error);
    }
    trellis_status status = training->sources.train_count ? choose_scheme(training, error)
                                                          : TRELLIS_OK;
    if (!status) {
        status = learn(&survey, training->settings.filter, error);
    }
    if (!status) {
        status = survey_sources(&survey, error);
    }
    if (!status) {
        tr_training_note(training,
                         "%zu segments of %zu types; %zu are longer than %zu tokens and "
                         "have no attributes of their own",
                         survey.found, tr_intern_count(&training->data.type_names), survey.longer,
                         survey.cap);
        if (training->settings.filter > 0) {
            tr_training_note(training, "the filter loses %zu of %zu segments", survey.lost,
                             survey.found);
        }
    }
    return status;
}

/* ---- types ----------------------------------------------------------------------------------- */

trellis_status tr_training_make_segments(struct tr_training *training, trellis_error *error)
{
    struct tr_training_data *data = &training->data;
    uint32_t count = data->train.label_count;
    trellis_text *labels = tr_alloc(count, sizeof *labels);
    uint32_t *lengths = tr_alloc(count, sizeof *lengths);
    if (!labels || !lengths) {
        free(labels);
        free(lengths);
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        labels[i] = tr_intern_text(&data->train.labels, i);
    }
    trellis_status status = tr_segments_create(labels, count, &data->segments, error);
    for (uint32_t t = 0; !status && t < data->segments->types; t++) {
        char letter;
        trellis_text name;
        uint16_t head = data->segments->type[t].head;
        lengths[t] = 1;
        if (head != TR_NO_LABEL) {
            tr_label_split(labels[head], &letter, &name);
            uint32_t number = tr_intern_find(&data->type_names, name);
            lengths[t] = number == TR_NONE ? 1 : data->type_lengths.at[number];
        }
    }
    if (!status) {
        tr_segments_set_lengths(data->segments, lengths);
    }
    if (!status && data->train.max_segment) {
        data->segments->max_length = (uint32_t)data->train.max_segment; // as the data was read
    }
    free(labels);
    free(lengths);
    return status;
}
