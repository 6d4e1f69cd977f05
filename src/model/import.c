/* import.c - a model from its text form, which a person may have written. */
#include <math.h>

#include "model/import.h"

static trellis_status take_note(struct tr_import *import)
{
    for (size_t i = 1; i <= 2; i++) {
        trellis_text text = {0};
        trellis_status status = tr_import_text(import, i, &text);
        if (status) {
            return status;
        }
        tr_buffer_add(&import->notes, text.data, text.size + 1);
    }
    return TRELLIS_OK;
}

static trellis_status take_label(struct tr_import *import)
{
    trellis_text text = {0};
    trellis_status status = tr_import_text(import, 1, &text);
    if (status) {
        return status;
    }
    if (import->grams.size || import->node.weights.size || import->edge.weights.size ||
        import->forbidden.size || import->unknown.size || import->tag_dictionary.pairs.size ||
        import->emissions.lines.size) {
        return TR_REFUSE(import, "labels must come before all weights");
    }
    if (tr_intern_find(&import->labels, text) != TR_NONE) {
        return TR_REFUSE(import, "the label '%.*s' occurs twice", TR_SHOW(text));
    }
    if (tr_intern_count(&import->labels) >= TR_MAX_LABELS) {
        return TR_REFUSE(import, "more than %d labels", TR_MAX_LABELS);
    }
    return tr_intern_add(&import->labels, text) == TR_NONE ? tr_fail_memory(import->error)
                                                           : TRELLIS_OK;
}

static trellis_status take_forbidden(struct tr_import *import)
{
    for (size_t i = 1; i <= 2; i++) {
        uint16_t label = 0;
        trellis_status status = tr_import_label(import, i, true, &label);
        if (status) {
            return status;
        }
        if (label == tr_intern_count(&import->labels) + (i == 1)) {
            return TR_REFUSE(import,
                             i == 1 ? "the end has no successor" : "the start has no predecessor");
        }
        if (!tr_push(&import->forbidden, label)) {
            return tr_fail_memory(import->error);
        }
    }
    return TRELLIS_OK;
}

/* Labels that a word may have. */
static trellis_status take_allowed(struct tr_import *import)
{
    for (size_t i = 2; i < import->count; i++) {
        uint16_t label = 0;
        trellis_text word = {0};
        trellis_status status = tr_import_label(import, i, false, &label);
        if (!status) {
            status = tr_import_text(import, 1, &word);
        }
        if (status) {
            return status;
        }
        if (!tr_tag_dictionary_add(&import->tag_dictionary, word, label)) {
            return tr_fail_memory(import->error);
        }
    }
    return TRELLIS_OK;
}

/* A real-valued column of a label. */
static trellis_status take_gaussian(struct tr_import *import)
{
    struct tr_normal_line line = {0};
    uint16_t label = 0;
    trellis_text column = {0};
    trellis_status status = tr_import_label(import, 1, false, &label);
    if (!status) {
        status = tr_import_text(import, 2, &column);
    }
    if (!status && (column.size == 0 || memchr(column.data, ',', column.size))) {
        status = TR_REFUSE(import, "a column name must not be empty or contain a comma");
    }
    if (!status && (!tr_text_real(import->fields[3], &line.mean) || !isfinite(line.mean) ||
                    !tr_text_real(import->fields[4], &line.variance) || !isfinite(line.variance) ||
                    !(line.variance > 0))) {
        status = TR_REFUSE(import,
                           "expected a finite mean and a variance above 0, not '%.*s' and "
                           "'%.*s'",
                           TR_SHOW(import->fields[3]), TR_SHOW(import->fields[4]));
    }
    if (status) {
        return status;
    }
    line.label = label;
    line.column = tr_intern_add(&import->emissions.columns, column);
    if (line.column >= TR_MAX_REALS && line.column != TR_NONE) {
        return TR_REFUSE(import, "more than %d columns", TR_MAX_REALS);
    }
    return line.column != TR_NONE && tr_push(&import->emissions.lines, line)
               ? TRELLIS_OK
               : tr_fail_memory(import->error);
}

/* Unknown words: their probability, or the offset of a label. */
static trellis_status take_unknown(struct tr_import *import)
{
    uint32_t labels = (uint32_t)tr_intern_count(&import->labels);
    double weight = 0;
    uint16_t label = 0;
    bool of_label = import->count == 3;
    trellis_status status = tr_import_weight(import, 1, &weight);
    if (!status && of_label) {
        status = tr_import_label(import, 2, false, &label);
    }
    if (!status && !of_label && !(weight <= 0 && isfinite(weight))) {
        status = TR_REFUSE(import, "expected a log probability, not '%.*s'",
                           TR_SHOW(import->fields[1]));
    }
    size_t at = of_label ? 1 + (size_t)label : 0;
    if (!status && !tr_reserve(&import->unknown, 1 + (size_t)labels)) {
        status = tr_fail_memory(import->error);
    }
    if (status) {
        return status;
    }
    for (; import->unknown.size <= labels; import->unknown.size++) {
        import->unknown.at[import->unknown.size] = NAN;
    }
    if (!isnan(import->unknown.at[at])) {
        return TR_REFUSE(import, "this 'unknown' line is a duplicate");
    }
    import->unknown.at[at] = weight;
    return TRELLIS_OK;
}

/* Both determine which transitions exist. */
static trellis_status check_shape(struct tr_import *import)
{
    return import->grams.size ? TR_REFUSE(import, "this must come before all 'step' lines")
           : import->count_cap > 1 && import->order != 1
               ? TR_REFUSE(import, "'count-cap' needs order 1, not %u", import->order)
               : TRELLIS_OK;
}

static trellis_status take_order(struct tr_import *import)
{
    trellis_status status = tr_import_integer(import, 1, TR_MAX_ORDER, &import->order);
    return status ? status : check_shape(import);
}

static trellis_status take_count_cap(struct tr_import *import)
{
    trellis_status status = tr_import_integer(import, 1, TR_MAX_ORDER, &import->count_cap);
    return status ? status : check_shape(import);
}

static trellis_status take_observed_states(struct tr_import *import)
{
    import->observed_states = true;
    return TRELLIS_OK;
}

/* The longest segment of a type; after all labels. */
static trellis_status take_segments(struct tr_import *import)
{
    uint16_t label = 0;
    uint32_t length = 0;
    import->has_segments = true;
    if (import->count == 1) {
        return TRELLIS_OK;
    }
    if (import->count != 3) {
        return TR_REFUSE(import, "expected a label and a length");
    }
    trellis_status status = tr_import_label(import, 1, false, &label);
    if (!status) {
        status = tr_import_integer(import, 2, TR_MAX_SEGMENT, &length);
    }
    if (!status && length < 1) {
        status = TR_REFUSE(import, "a length must be at least 1");
    }
    while (!status && import->segment_lengths.size <= label) {
        status = tr_push(&import->segment_lengths, 0) ? TRELLIS_OK : tr_fail_memory(import->error);
    }
    if (!status) {
        import->segment_lengths.at[label] = length;
    }
    return status;
}

/* Which labels make segments, once all labels are known. */
static trellis_status make_segments(struct tr_import *import, struct tr_graph_plan *plan)
{
    trellis_text *labels = tr_alloc(plan->labels, sizeof *labels);
    uint32_t *lengths = tr_alloc(plan->labels, sizeof *lengths);
    trellis_status status = labels && lengths ? TRELLIS_OK : tr_fail_memory(import->error);
    for (uint32_t i = 0; !status && i < plan->labels; i++) {
        labels[i] = tr_intern_text(&import->labels, i);
    }
    if (!status) {
        status = tr_segments_create(labels, plan->labels, &import->segments, import->error);
    }
    for (uint32_t t = 0; !status && t < import->segments->types; t++) {
        uint16_t head = import->segments->type[t].head;
        bool given = head < import->segment_lengths.size && import->segment_lengths.at[head];
        lengths[t] = given ? import->segment_lengths.at[head] : 1;
    }
    if (!status) {
        tr_segments_set_lengths(import->segments, lengths);
        plan->segments = import->segments;
    }
    free(labels);
    free(lengths);
    return status;
}

static const struct {
    const char *name;
    size_t min, max; // fields, including the name
    trellis_status (*take)(struct tr_import *import);
} items[] = {
    {"note", 3, 3, take_note},
    {"template", 2, 2, tr_import_template},
    {"block", 2, 2, tr_import_block},
    {"label", 2, 2, take_label},
    {"order", 2, 2, take_order},
    {"count-cap", 2, 2, take_count_cap},
    {"observed-states", 1, 1, take_observed_states},
    {"segments", 1, 3, take_segments},
    {"forbid", 3, 3, take_forbidden},
    {"step", 3, TR_MAX_FIELDS - 1, tr_import_step},
    {"node", 5, 5, tr_import_attribute},
    {"edge", 6, 6, tr_import_attribute},
    {"word", 4, 4, tr_import_word},
    {"unknown", 2, 3, take_unknown},
    {"gaussian", 5, 5, take_gaussian},
    {"allow", 3, TR_MAX_FIELDS - 1, take_allowed},
};

static void split(struct tr_import *import, trellis_text line)
{
    import->count = 0;
    for (;;) {
        const char *tab = line.size ? memchr(line.data, '\t', line.size) : NULL;
        size_t n = tab ? (size_t)(tab - line.data) : line.size;
        if (import->count < TR_MAX_FIELDS) {
            import->fields[import->count++] = (trellis_text){line.data, n};
        }
        if (!tab) {
            return;
        }
        line = (trellis_text){line.data + n + 1, line.size - n - 1};
    }
}

static trellis_status take_line(struct tr_import *import, trellis_text line)
{
    if (line.size == 0 || line.data[0] == '#') {
        return TRELLIS_OK;
    }
    split(import, line);
    for (size_t i = 0; i < TR_COUNT(items); i++) {
        if (tr_text_is(import->fields[0], items[i].name)) {
            if (import->count < items[i].min || import->count > items[i].max) {
                return TR_REFUSE(import, "'%s' has %zu fields, not %zu", items[i].name,
                                 items[i].min, import->count);
            }
            return items[i].take(import);
        }
    }
    return TR_REFUSE(import, "unknown item '%.*s' in the text form of a model",
                     TR_SHOW(import->fields[0]));
}

static trellis_status take_lines(struct tr_import *import)
{
    trellis_text line;
    trellis_status status = tr_input_line(import->input, &line, import->error);
    if (status == TRELLIS_END || (!status && !tr_text_is(line, TR_TEXT_FORM "\t1") &&
                                  !tr_text_is(line, TR_TEXT_FORM " 1"))) {
        return TR_REFUSE(import, "a model in text form begins with '%s %d'", TR_TEXT_FORM,
                         TR_TEXT_VERSION);
    }
    while (!status && !(status = tr_input_line(import->input, &line, import->error))) {
        status = take_line(import, line);
    }
    return status == TRELLIS_END ? tr_import_features(import) : status;
}

/* Those of an HMM are logarithms of probabilities, whose every digit counts. */
static bool has_exact_weights(const struct tr_import *import)
{
    static const char note[] = "type\0hmm";
    const struct tr_buffer *notes = &import->notes;
    return import->step_residuals.size && notes->size &&
           memmem(notes->data, notes->size, note, sizeof note);
}

/* The 'unknown' lines must be complete, or absent. */
static trellis_status check_unknown(struct tr_import *import)
{
    size_t missing = 0;
    for (size_t i = 0; i < import->unknown.size; i++) {
        missing += isnan(import->unknown.at[i]);
    }
    if (missing) {
        return TR_REFUSE(import,
                         "expected 'unknown' lines for the share and for every label; %zu "
                         "are missing",
                         missing);
    }
    return import->unknown.size && !has_exact_weights(import)
               ? TR_REFUSE(import, "'unknown' lines are for an HMM: 'note', 'type', 'hmm'")
               : TRELLIS_OK;
}

static trellis_status build(struct tr_import *import, trellis_model **ret_model)
{
    uint32_t labels = (uint32_t)tr_intern_count(&import->labels);
    if (labels == 0) {
        return tr_fail_at(import->error, TRELLIS_FORMAT, tr_input_place(import->input),
                          "the model has no labels");
    }
    struct tr_graph_plan plan = {.labels = labels,
                                 .order = import->order,
                                 .count_cap = import->count_cap,
                                 .observed_states = import->observed_states,
                                 .grams = import->grams.at,
                                 .gram_count = import->grams.size,
                                 .forbidden = (const uint16_t(*)[2])import->forbidden.at,
                                 .forbidden_count = import->forbidden.size / 2};
    trellis_status status = import->has_segments ? make_segments(import, &plan) : TRELLIS_OK;
    if (!status) {
        status = tr_import_settle(import, &import->node, labels);
    }
    if (!status) {
        status = tr_import_settle(import, &import->edge,
                                  (labels - 1) * tr_row_width(labels) + labels);
    }
    struct tr_gaussian gaussian = {0};
    trellis_error cause;
    if (!status &&
        (status = tr_normal_lines_make(&import->emissions, &import->labels, &gaussian, &cause))) {
        status = tr_fail_at(import->error, status, tr_input_place(import->input), "%s",
                            cause.message);
    }
    if (!status) {
        status = check_unknown(import);
    }
    if (!status && import->tag_dictionary.pairs.size) {
        status = tr_tag_dictionary_write(&import->tag_dictionary, &import->tag_dictionary_block,
                                         import->error);
    }
    if (status || import->notes.failed) {
        return status ? status : tr_fail_memory(import->error);
    }
    struct tr_model_parts parts = {
        .labels = &import->labels,
        .plan = &plan,
        .step_weights = import->step_weights.at,
        .step_residuals = has_exact_weights(import) ? import->step_residuals.at : NULL,
        .unknown = import->unknown.at,
        .features = import->features,
        .node = {&import->node.index, import->node.rows, import->node.values,
                 import->node.residuals},
        .edge = {&import->edge.index, import->edge.rows, import->edge.values, NULL},
        .gaussian = &gaussian,
        .notes = &import->notes,
        .tag_dictionary = &import->tag_dictionary_block};
    return tr_model_build(&parts, ret_model, import->error);
}

/* Reads a model and closes the input, which is NULL where it could not be opened. */
static trellis_status read_model(trellis_status opened, struct tr_input *input,
                                 trellis_model **ret_model, trellis_error *error)
{
    struct tr_import import = {.input = input, .error = error, .order = 1};
    trellis_status status = opened ? opened : take_lines(&import);
    if (!status) {
        status = build(&import, ret_model);
    }
    tr_extractor_destroy(import.extractor);
    trellis_features_destroy(import.features);
    tr_buffer_free(&import.scratch);
    tr_buffer_free(&import.notes);
    tr_buffer_free(&import.source);
    tr_buffer_free(&import.block);
    tr_intern_free(&import.labels);
    tr_intern_free(&import.gram_texts);
    free(import.template_lines.at);
    free(import.grams.at);
    free(import.step_weights.at);
    free(import.step_residuals.at);
    free(import.forbidden.at);
    free(import.segment_lengths.at);
    tr_segments_destroy(import.segments);
    free(import.unknown.at);
    tr_normal_lines_free(&import.emissions);
    tr_tag_dictionary_builder_free(&import.tag_dictionary);
    tr_buffer_free(&import.tag_dictionary_block);
    tr_import_part_free(&import.node);
    tr_import_part_free(&import.edge);
    tr_input_close(import.input);
    return status;
}

trellis_status trellis_model_import(const char *path, trellis_model **ret_model,
                                    trellis_error *error)
{
    if (!TR_CLEAR(ret_model) || !path) {
        return tr_fail_null(error, __func__);
    }
    struct tr_input *input;
    trellis_status status = tr_input_open(path, &input, error);
    return read_model(status, input, ret_model, error);
}

trellis_status trellis_model_import_bytes(const void *data, size_t size, const char *name,
                                          trellis_model **ret_model, trellis_error *error)
{
    if (!TR_CLEAR(ret_model) || (!data && size > 0)) {
        return tr_fail_null(error, __func__);
    }
    struct tr_input *input;
    trellis_status status = tr_input_open_bytes(data, size, name ? name : "memory", &input, error);
    return read_model(status, input, ret_model, error);
}
