/* dataset.c - reads a corpus through the templates: labels and attributes become numbers. */
#include "dataset/dataset.h"

#include <math.h>
#include <stdio.h>

#include "base/limits.h"
#include "corpus/corpus.h"
#include "dataset/lint.h"

struct reading {
    struct tr_dataset *dataset;
    struct tr_vocabulary *vocabulary;
    const struct tr_dataset *training;
    const struct tr_dataset_settings *settings;
    const trellis_source *source;
    size_t before;  // sequences before it, others' too
    char name[200]; // of the source, or of a sequence in it that has no line
    trellis_reader *reader;
    struct tr_extractor *extractor;
    trellis_scheme_storage *storage;
    struct tr_buffer text; // of an attribute
    size_t word_column;
    uint64_t labels, attributes; // fingerprints of the sequence at hand
    const char *reals;           // the columns of --gaussian
    size_t *real_columns;        // [dataset->reals]
};

/* Where a sequence stands; one in memory is named by its number. */
static struct tr_place place_of(struct reading *reading, const trellis_sequence *sequence)
{
    const char *name = tr_source_name(reading->source);
    if (sequence->line) {
        return (struct tr_place){.file = name, .line = sequence->line};
    }
    snprintf(reading->name, sizeof reading->name, "%s: sequence %zu", name,
             tr_dataset_all_sequences(reading->dataset) - reading->before + 1);
    return (struct tr_place){.file = reading->name};
}

/* Adds an occurrence; there is no array of values before the first value other than 1. */
static bool add_occurrence(struct tr_occurrences *occurrences, uint32_t attribute, float value)
{
    if (value != 1.0f && occurrences->value.size == 0) {
        for (size_t i = 0; i < occurrences->attribute.size; i++) {
            if (!tr_push(&occurrences->value, 1.0f)) {
                return false;
            }
        }
        if (!tr_reserve(&occurrences->value, 1)) {
            return false;
        }
    }
    if (occurrences->value.capacity && !tr_push(&occurrences->value, value)) {
        return false;
    }
    return tr_push(&occurrences->attribute, attribute);
}

/* A lookup costs two cache misses, so those of the next tokens are prefetched. */
static void prefetch_tokens(const struct reading *reading, const struct tr_seen *seen, size_t token,
                            size_t length)
{
    const struct tr_attribute_index *index = &reading->vocabulary->node.index;
    const size_t *begin = seen->begin;
    if (token + 3 < length) {
        tr_attribute_index_prefetch(index, seen->low + begin[token + 3],
                                    begin[token + 4] - begin[token + 3]);
    }
    if (token + 1 < length) {
        tr_attribute_index_prefetch_entries(index, seen->low + begin[token + 1],
                                            begin[token + 2] - begin[token + 1]);
    }
}

/* Attribute k of a token: where it occurs, and what the error messages and its text need. */
struct seen_attribute {
    const trellis_sequence *sequence;
    enum tr_attribute_kind kind;
    size_t token, k;
    struct tr_key key;
};

/* The number of an attribute of the training corpus, which is given a text if it is new. */
static trellis_status number_attribute(struct reading *reading, const struct seen_attribute *seen,
                                       uint32_t *ret_number, trellis_error *error)
{
    struct tr_attribute_index *index = seen->kind == TR_EDGE_ATTRIBUTE
                                           ? &reading->vocabulary->edge.index
                                           : &reading->vocabulary->node.index;
    bool is_new, clash = false;
    uint32_t number = *ret_number = tr_attribute_index_add(index, seen->key, &is_new, &clash);
    if (number == TR_NONE) {
        return tr_fail_memory(error);
    }
    if (!is_new && !clash) {
        return TRELLIS_OK;
    }
    reading->text.size = 0;
    tr_extractor_text(reading->extractor, seen->sequence, seen->kind, seen->token, seen->k,
                      &reading->text);
    trellis_text text = {reading->text.data, reading->text.size};
    if (clash) {
        return tr_fail_at(error, TRELLIS_DATA, place_of(reading, seen->sequence),
                          "the attributes '%.*s' and '%.*s' have the same 64-bit key",
                          TR_SHOW(text), TR_SHOW(tr_attribute_index_text(index, number)));
    }
    return !reading->text.failed && tr_attribute_index_name(index, number, text)
               ? TRELLIS_OK
               : tr_fail_memory(error);
}

/* Whether an attribute of a segment is left out: no gold segment has it. */
static bool is_left_out(const struct reading *reading, enum tr_attribute_kind kind, uint64_t key)
{
    return kind == TR_SEGMENT_ATTRIBUTE && !reading->training &&
           !tr_words_has_hash(reading->settings->segment_keys, key);
}

/* Whether the sequence at hand belongs to the share of this rank. */
static bool is_kept(const struct reading *reading)
{
    const struct tr_dataset_settings *settings = reading->settings;
    size_t s = tr_dataset_all_sequences(reading->dataset);
    return reading->training || !settings->shared || (s >= settings->first && s < settings->end);
}

/* For the fingerprint: 0 for 1. */
static uint64_t print_of_value(float value)
{
    const float one = 1;
    uint32_t bits, ones;
    memcpy(&bits, &value, sizeof bits);
    memcpy(&ones, &one, sizeof ones);
    return (uint64_t)(bits ^ ones) << 32;
}

/* Adds the attributes of one token or segment, numbering new attributes of the training corpus. */
static trellis_status add_seen(struct reading *reading, const trellis_sequence *sequence,
                               enum tr_attribute_kind kind, const struct tr_seen *seen,
                               size_t token, trellis_error *error)
{
    struct tr_dataset *dataset = reading->dataset;
    struct tr_occurrences *occurrences = kind == TR_NODE_ATTRIBUTE   ? &dataset->node
                                         : kind == TR_EDGE_ATTRIBUTE ? &dataset->edge
                                                                     : &dataset->segment;
    const struct tr_attributes *attributes = kind == TR_EDGE_ATTRIBUTE ? &reading->vocabulary->edge
                                                                       : &reading->vocabulary->node;
    for (size_t k = seen->begin[token]; k < seen->begin[token + 1]; k++) {
        float value = seen->value ? seen->value[k] : 1.0f;
        struct tr_key key = {seen->low[k], seen->high[k]};
        uint32_t number;
        if (is_left_out(reading, kind, key.low)) {
            continue;
        }
        if (reading->training) {
            number = tr_attribute_index_find(&attributes->index, key.low);
            if (number == TR_NONE) {
                continue;
            }
            number = tr_rows_owner(attributes->rows, number);
            value /= tr_rows_multiplicity(attributes->rows, number); // a row holds a sum (rows.h)
        } else {
            struct seen_attribute attribute = {sequence, kind, token, k, key};
            trellis_status status = number_attribute(reading, &attribute, &number, error);
            if (status) {
                return status;
            }
        }
        reading->attributes = tr_fold(reading->attributes ^ key.low, 0x9E3779B97F4A7C15u) +
                              (key.high ^ print_of_value(value));
        if (!add_occurrence(occurrences, number, value)) {
            return tr_fail_memory(error);
        }
    }
    if (occurrences->attribute.size >= UINT32_MAX) {
        return tr_fail(error, TRELLIS_LIMIT, "more than 4 billion occurrences of attributes");
    }
    return tr_push(&occurrences->begin, (uint32_t)occurrences->attribute.size)
               ? TRELLIS_OK
               : tr_fail_memory(error);
}

static trellis_status number_label(struct reading *reading, const trellis_sequence *sequence,
                                   trellis_text label, uint16_t *ret_number, trellis_error *error)
{
    uint32_t number = tr_intern_add(&reading->dataset->labels, label);
    *ret_number = (uint16_t)number;
    return number == TR_NONE ? tr_fail_memory(error)
           : number >= TR_MAX_LABELS
               ? tr_fail_at(error, TRELLIS_LIMIT, place_of(reading, sequence),
                            "more than %d different labels; is this the label column?",
                            TR_MAX_LABELS)
               : TRELLIS_OK;
}

/* Adds a gold label; there are no lists of possible labels before the first open one. */
static bool add_gold(struct tr_dataset *dataset, uint16_t label)
{
    size_t before = dataset->gold.size;
    if (label == TR_UNKNOWN && dataset->open_begin.size == 0) {
        if (!tr_reserve(&dataset->open_begin, before + 1)) {
            return false;
        }
        dataset->open_begin.size = before + 1; // all 0
    }
    return tr_push(&dataset->gold, label) &&
           (dataset->open_begin.size == 0 ||
            tr_push(&dataset->open_begin, (uint32_t)dataset->open.size));
}

/* The labels of 'A|B'; if all are the same, *ret_label is that one. */
static trellis_status add_choice(struct reading *reading, const trellis_sequence *sequence,
                                 trellis_text cell, uint16_t *ret_label, trellis_error *error)
{
    struct tr_dataset *dataset = reading->dataset;
    size_t begin = dataset->open.size;
    *ret_label = TR_UNKNOWN;
    for (size_t at = 0, n; at <= cell.size; at += n + 1) {
        const char *bar = at < cell.size ? memchr(cell.data + at, '|', cell.size - at) : NULL;
        n = bar ? (size_t)(bar - cell.data) - at : cell.size - at;
        uint16_t label;
        trellis_status status = number_label(reading, sequence, (trellis_text){cell.data + at, n},
                                             &label, error);
        bool is_new = true;
        for (size_t i = begin; !status && i < dataset->open.size; i++) {
            is_new = is_new && dataset->open.at[i] != label;
        }
        if (!status && is_new && !tr_push(&dataset->open, label)) {
            status = tr_fail_memory(error);
        }
        if (status) {
            return status;
        }
    }
    if (dataset->open.size == begin + 1) {
        *ret_label = dataset->open.at[--dataset->open.size];
    }
    return TRELLIS_OK;
}

static trellis_status add_label(struct reading *reading, const trellis_sequence *sequence,
                                trellis_text cell, trellis_error *error)
{
    bool partial = reading->settings->partial;
    uint16_t label = TR_UNKNOWN;
    trellis_status status = TRELLIS_OK;
    if (partial && cell.size && memchr(cell.data, '|', cell.size)) {
        status = add_choice(reading, sequence, cell, &label, error);
    } else if (!partial || !tr_text_is(cell, "_")) {
        status = number_label(reading, sequence, cell, &label, error);
    }
    return status ? status : add_gold(reading->dataset, label) ? TRELLIS_OK : tr_fail_memory(error);
}

static bool add_open(struct tr_dataset *dataset, size_t count)
{
    while (count > 0 && add_gold(dataset, TR_UNKNOWN)) {
        count--;
    }
    return count == 0;
}

static trellis_status add_labels(struct reading *reading, const trellis_sequence *sequence,
                                 trellis_error *error)
{
    struct tr_dataset *dataset = reading->dataset;
    const struct tr_dataset_settings *settings = reading->settings;
    const trellis_text *labels = sequence->labels;
    if (settings->label_use == TR_LABELS_IGNORED ||
        (settings->label_use == TR_LABELS_IF_ANY && !labels)) {
        return add_open(dataset, sequence->length) ? TRELLIS_OK : tr_fail_memory(error);
    }
    if (!labels) {
        return tr_fail_at(error, TRELLIS_DATA, place_of(reading, sequence),
                          "there is no label column to train on");
    }
    if (settings->from != TRELLIS_NO_SCHEME &&
        (settings->to != settings->from || settings->legal)) {
        trellis_status status = trellis_scheme_convert(settings->from, settings->to, labels,
                                                       sequence->length, &reading->storage, &labels,
                                                       error);
        if (status) {
            return status;
        }
    }
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_status status = add_label(reading, sequence, labels[i], error);
        if (status) {
            return status;
        }
        uint64_t h = tr_hash64(labels[i].data, labels[i].size);
        reading->labels = tr_fold(reading->labels ^ h, 0xD6E8FEB86659FD93u) + i;
    }
    return TRELLIS_OK;
}

/* Numbers the words, or looks them up, for the tag dictionary, and adds them to the words seen.
 * Only a tag dictionary needs a column of words. */
static trellis_status add_words(struct reading *reading, const trellis_sequence *sequence,
                                trellis_error *error)
{
    const struct tr_dataset_settings *settings = reading->settings;
    bool entries = settings->words || settings->tag_dictionary;
    bool has_words = reading->word_column < sequence->columns;
    if (entries && !has_words) {
        return tr_fail_at(error, TRELLIS_DATA, place_of(reading, sequence),
                          "a tag dictionary needs a column of words, and there is none%s",
                          sequence->columns ? "; --columns can name one" : "");
    }
    bool ok = true;
    for (size_t i = 0; (entries || settings->seen) && has_words && ok && i < sequence->length;
         i++) {
        trellis_text word = sequence->cells[i * sequence->columns + reading->word_column];
        if (entries) {
            uint32_t entry = settings->words
                                 ? tr_intern_add(settings->words, word)
                                 : tr_tag_dictionary_find(settings->tag_dictionary, word);
            ok = !(settings->words && entry == TR_NONE) && tr_push(&reading->dataset->entry, entry);
        }
        ok = ok && (!settings->seen || tr_words_add(settings->seen, word));
    }
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}

/* The numbers of real-valued columns. */
static trellis_status add_reals(struct reading *reading, const trellis_sequence *sequence,
                                trellis_error *error)
{
    struct tr_dataset *dataset = reading->dataset;
    size_t before = dataset->real.size, count = sequence->length * dataset->reals;
    if (count == 0) {
        return TRELLIS_OK;
    }
    if (!tr_reserve(&dataset->real, before + count)) {
        return tr_fail_memory(error);
    }
    double *x = dataset->real.at + before;
    trellis_status status = tr_gaussian_take(sequence, tr_source_name(reading->source),
                                             reading->real_columns, dataset->reals, x, error);
    dataset->real.size += status ? 0 : count;
    for (size_t i = 0; !status && i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        reading->attributes = tr_fold(reading->attributes ^ bits, 0x9E3779B97F4A7C15u) + i;
    }
    return status;
}

static bool add_weight(struct tr_dataset *dataset, double weight)
{
    if (weight == 1 && dataset->weight.size == 0) {
        return true;
    }
    while (dataset->weight.size < dataset->sequences) {
        if (!tr_push(&dataset->weight, 1.0f)) {
            return false;
        }
    }
    return tr_push(&dataset->weight, (float)weight);
}

/* The attributes of a sequence. */
static trellis_status add_attributes(struct reading *reading, const trellis_sequence *sequence,
                                     trellis_error *error)
{
    const struct tr_observation *observation;
    if (!reading->training) {
        tr_extractor_set_sequence(reading->extractor, tr_dataset_all_sequences(reading->dataset));
    }
    trellis_status status = tr_extractor_run(reading->extractor, sequence, &observation, error);
    for (size_t i = 0; !status && i < sequence->length; i++) {
        prefetch_tokens(reading, &observation->node, i, sequence->length);
        status = add_seen(reading, sequence, TR_NODE_ATTRIBUTE, &observation->node, i, error);
        if (!status) {
            status = add_seen(reading, sequence, TR_EDGE_ATTRIBUTE, &observation->edge, i, error);
        }
    }
    for (size_t c = 0; !status && c < sequence->length * observation->max_segment; c++) {
        status = add_seen(reading, sequence, TR_SEGMENT_ATTRIBUTE, &observation->segment, c, error);
    }
    return status;
}

/* A sequence of another rank: its labels and words are numbered, and nothing of it is kept. */
static void pass_over(struct tr_dataset *dataset, const trellis_sequence *sequence)
{
    size_t tokens = dataset->tokens;
    for (size_t t = tokens; t < dataset->gold.size; t++) {
        dataset->passed_open += dataset->gold.at[t] == TR_UNKNOWN;
    }
    dataset->gold.size = tokens;
    if (dataset->open_begin.size) {
        dataset->open_begin.size = tokens + 1;
        dataset->open.size = dataset->open_begin.at[tokens];
    }
    if (dataset->entry.size) {
        dataset->entry.size = tokens;
    }
    dataset->passed_sequences++;
    dataset->passed_tokens += sequence->length;
    dataset->passed_weight += (double)(float)sequence->weight * (double)sequence->length;
}

static void add_cell_print(struct tr_dataset *dataset, trellis_text cell, uint64_t number)
{
    uint64_t h = tr_hash64(cell.data, cell.size);
    dataset->cell_fingerprint = tr_fold(dataset->cell_fingerprint ^ h, 0xD6E8FEB86659FD93u) +
                                number;
}

/* A sum over sequences can be made by several ranks. */
static void add_fingerprints(struct reading *reading, const trellis_sequence *sequence)
{
    struct tr_dataset *dataset = reading->dataset;
    const uint64_t last = 0xA0761D6478BD642Fu;
    size_t number = tr_dataset_all_sequences(dataset);
    float weight = (float)sequence->weight - 1;
    uint32_t bits;
    memcpy(&bits, &weight, sizeof bits);
    uint64_t labels = tr_fold((reading->labels + bits) ^ last, number ^ ~last);
    uint64_t attributes = tr_fold(reading->attributes ^ last, number ^ last);
    bool compared = reading->settings->shared && !reading->settings->range;
    size_t cells = compared ? sequence->length * sequence->columns : 0;
    dataset->fingerprint += labels + (is_kept(reading) ? attributes : 0);
    dataset->label_fingerprint += labels;
    for (size_t i = 0; i < cells; i++) {
        add_cell_print(dataset, sequence->cells[i], i);
    }
    bool ready_made = compared && sequence->attributes;
    const size_t *begin = sequence->attribute_begin;
    for (size_t k = ready_made ? begin[0] : 0; ready_made && k < begin[sequence->length]; k++) {
        const trellis_attribute *attribute = &sequence->attributes[k];
        add_cell_print(dataset, attribute->name, print_of_value((float)attribute->value));
    }
}

static trellis_status add_sequence(struct reading *reading, const trellis_sequence *sequence,
                                   trellis_error *error)
{
    struct tr_dataset *dataset = reading->dataset;
    if (!isfinite((float)sequence->weight) || sequence->weight < 0) {
        return tr_fail_at(error, TRELLIS_DATA, place_of(reading, sequence),
                          "the weight of a sequence must be a finite number of at least 0");
    }
    reading->labels = reading->attributes = 0;
    trellis_status status = add_labels(reading, sequence, error);
    if (!status) {
        status = add_words(reading, sequence, error);
    }
    if (!status) {
        status = add_reals(reading, sequence, error);
    }
    if (!status && is_kept(reading)) {
        status = add_attributes(reading, sequence, error);
    }
    if (!status && tr_dataset_all_tokens(dataset) + sequence->length >= UINT32_MAX) {
        status = tr_fail(error, TRELLIS_LIMIT, "more than 4 billion tokens");
    }
    if (status) {
        return status;
    }
    add_fingerprints(reading, sequence);
    if (!is_kept(reading)) {
        pass_over(dataset, sequence);
        return TRELLIS_OK;
    }
    dataset->tokens += sequence->length;
    if (!add_weight(dataset, sequence->weight) ||
        !tr_push(&dataset->sequence, (uint32_t)dataset->tokens)) {
        return tr_fail_memory(error);
    }
    dataset->sequences++;
    return TRELLIS_OK;
}

/* Starts the arrays that begin with a 0, and takes over the labels of the training corpus. */
static trellis_status begin_dataset(struct tr_dataset *dataset, const struct tr_dataset *training,
                                    trellis_error *error)
{
    if (dataset->sequence.size) {
        return TRELLIS_OK;
    }
    if (!tr_push(&dataset->sequence, 0) || !tr_push(&dataset->node.begin, 0) ||
        !tr_push(&dataset->edge.begin, 0) || !tr_push(&dataset->segment.begin, 0)) {
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; training && i < training->label_count; i++) {
        if (tr_intern_add(&dataset->labels, tr_intern_text(&training->labels, i)) == TR_NONE) {
            return tr_fail_memory(error);
        }
    }
    dataset->label_count = training ? training->label_count : 0;
    return TRELLIS_OK;
}

static trellis_status begin_reading(struct reading *reading, trellis_error *error)
{
    const struct tr_dataset_settings *settings = reading->settings;
    reading->reals = settings->reals ? settings->reals : "";
    reading->dataset->reals = tr_gaussian_count(reading->reals);
    if (reading->dataset->reals > TR_MAX_REALS) {
        return tr_fail(error, TRELLIS_LIMIT, "--gaussian: more than %d columns", TR_MAX_REALS);
    }
    reading->real_columns = tr_alloc(reading->dataset->reals, sizeof *reading->real_columns);
    trellis_status status = reading->real_columns
                                ? begin_dataset(reading->dataset, reading->training, error)
                                : tr_fail_memory(error);
    if (!status) {
        status = trellis_reader_open_source(reading->source, settings->options, &reading->reader,
                                            error);
    }
    if (!status && reading->training) { // --part is about the training data
        tr_reader_take_all(reading->reader);
    }
    struct tr_limits limits = {0};
    if (!status) {
        status = tr_limits_resolve(settings->options, &limits, error);
    }
    if (!status) {
        status = tr_extractor_create(settings->features, true, &reading->extractor, error);
    }
    if (!status) {
        tr_extractor_set_segments(reading->extractor, settings->max_segment);
        reading->dataset->max_segment = settings->max_segment;
        tr_extractor_limit(reading->extractor, limits.matches);
    }
    return status;
}

/* Finds the columns; for the first sequence, before which the label column is not known. */
static trellis_status bind_columns(struct reading *reading, trellis_error *error)
{
    size_t label_column = trellis_reader_label_column(reading->reader);
    bool ignored = reading->settings->label_use == TR_LABELS_IGNORED;
    reading->word_column = tr_reader_word_column(reading->reader, label_column);
    trellis_status status = tr_extractor_bind(reading->extractor, reading->reader, label_column,
                                              error);
    return status
               ? status
               : tr_gaussian_bind(reading->reals, reading->reader,
                                  ignored ? SIZE_MAX : label_column, reading->real_columns, error);
}

/* Notes how the first source is read, and which of its columns are used. */
static void describe_input(struct reading *reading, const trellis_sequence *sequence)
{
    struct tr_dataset *dataset = reading->dataset;
    if (dataset->shape.format) {
        return;
    }
    tr_reader_describe(reading->reader, sequence, &dataset->shape);
    if (reading->settings->label_use == TR_LABELS_IGNORED) {
        dataset->shape.label = 0;
    }
    for (size_t i = 0; i < sequence->columns; i++) {
        bool used = tr_extractor_uses(reading->extractor, i);
        for (size_t k = 0; k < dataset->reals; k++) {
            used = used || reading->real_columns[k] == i;
        }
        size_t size = strlen(dataset->used);
        if (used && size + 24 < sizeof dataset->used) {
            snprintf(dataset->used + size, sizeof dataset->used - size, "%s%zu", size ? "," : "",
                     i + 1);
        }
    }
}

/* Whether what was read so far fits into --memory, and can be laid out there. */
static trellis_status check_memory(struct reading *reading, trellis_error *error)
{
    uint64_t max = reading->settings->memory;
    if (max == 0) {
        return TRELLIS_OK;
    }
    size_t held = tr_dataset_bytes(reading->dataset) + tr_vocabulary_bytes(reading->vocabulary) +
                  tr_vocabulary_arrange_bytes(reading->vocabulary) +
                  tr_features_bytes(reading->settings->features) +
                  (reading->training ? tr_dataset_bytes(reading->training) : 0);
    return held <= max
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_LIMIT,
                         "%s: the first %zu tokens alone need more than the %.0f MB of --memory; a "
                         "higher --memory, fewer templates or a smaller file would do",
                         tr_source_name(reading->source), tr_dataset_all_tokens(reading->dataset),
                         (double)max / 1048576);
}

static trellis_status read_sequences(struct reading *reading, trellis_error *error)
{
    const struct tr_dataset_settings *settings = reading->settings;
    const struct tr_dataset *dataset = reading->dataset;
    const struct tr_range *range = reading->training ? NULL : settings->range;
    const trellis_sequence *sequence;
    trellis_status status = TRELLIS_OK;
    for (bool first = true;
         !status && !(status = trellis_reader_next(reading->reader, &sequence, error));
         first = false) {
        status = first ? bind_columns(reading, error) : TRELLIS_OK;
        if (first && !status) {
            describe_input(reading, sequence);
        }
        if (first && !status && range) { // the first sequence tells how the others are read
            status = tr_reader_take_range(reading->reader, range->begin, range->end, range->line,
                                          error);
            continue;
        }
        if (!status && settings->lint) {
            status = tr_lint_add(settings->lint, reading->reader, tr_source_name(reading->source),
                                 sequence,
                                 reading->training ? TRELLIS_DEV_DATA : TRELLIS_TRAIN_DATA, error);
        }
        if (!status) {
            status = add_sequence(reading, sequence, error);
        }
        if (!status) {
            status = check_memory(reading, error);
        }
        if (!status && settings->progress && tr_dataset_all_sequences(dataset) % 256 == 0 &&
            !settings->progress(settings->user, tr_dataset_all_tokens(dataset))) {
            status = tr_fail(error, TRELLIS_INTERRUPTED, "interrupted while reading %s",
                             tr_source_name(reading->source));
        }
    }
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

static void free_texts(struct reading *reading)
{
    tr_buffer_free(&reading->text);
    trellis_scheme_storage_destroy(reading->storage);
}

static void end_reading(struct reading *reading)
{
    free(reading->real_columns);
    free_texts(reading);
    tr_extractor_destroy(reading->extractor);
    trellis_reader_close(reading->reader);
}

trellis_status tr_dataset_read(struct tr_dataset *dataset, struct tr_vocabulary *vocabulary,
                               const struct tr_dataset *training,
                               const struct tr_dataset_settings *settings,
                               const trellis_source *source, trellis_error *error)
{
    size_t tokens_before = dataset->tokens;
    struct reading reading = {.dataset = dataset,
                              .vocabulary = vocabulary,
                              .training = training,
                              .settings = settings,
                              .source = source,
                              .before = tr_dataset_all_sequences(dataset)};
    if (settings->shared && !training) {
        dataset->first = settings->first;
        dataset->passed_sequences = settings->range ? settings->first : dataset->passed_sequences;
    }
    trellis_status status = begin_reading(&reading, error);
    if (!status) {
        status = read_sequences(&reading, error);
    }
    if (training) {
        tr_occurrences_sort(&dataset->node, tokens_before, dataset->tokens);
        tr_occurrences_sort(&dataset->edge, tokens_before, dataset->tokens);
        tr_occurrences_sort(&dataset->segment, tokens_before * dataset->max_segment,
                            dataset->tokens * dataset->max_segment);
    } else {
        dataset->label_count = (uint32_t)tr_intern_count(&dataset->labels);
    }
    end_reading(&reading);
    return status;
}

trellis_status tr_dataset_add(struct tr_dataset *dataset, struct tr_vocabulary *vocabulary,
                              const struct tr_dataset_settings *settings,
                              struct tr_extractor *extractor, const trellis_sequence *sequence,
                              trellis_error *error)
{
    const trellis_source memory = {.struct_size = sizeof memory};
    struct reading reading = {.dataset = dataset,
                              .vocabulary = vocabulary,
                              .settings = settings,
                              .source = &memory,
                              .extractor = extractor,
                              .word_column = SIZE_MAX};
    trellis_status status = begin_dataset(dataset, NULL, error);
    if (!status) {
        status = add_sequence(&reading, sequence, error);
    }
    dataset->label_count = (uint32_t)tr_intern_count(&dataset->labels);
    free_texts(&reading);
    return status;
}
