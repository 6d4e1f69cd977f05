/* model.c - opening a model: every size and every number is checked before it is used. */
#include "model/model.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/output.h"
#include "corpus/corpus.h"
#include "model/foreign.h"
#include "model/textform.h"

#define START_NAME "<start>"
#define END_NAME "<end>"

static trellis_status damaged(const char *path, const char *what, trellis_error *error)
{
    return tr_fail(error, TRELLIS_MODEL, "%s: the model is damaged: %s", path ? path : "model",
                   what);
}

/* The one place that knows what each type of model can do. */
static struct tr_model_kind kind_of(const char *type)
{
    static const struct tr_model_kind kinds[] = {
        {"crf", .probabilistic = true, .prunable = true},
        {"maxent", .probabilistic = true},
        {"memm", .probabilistic = true},
        {"hmm", .hmm = true, .probabilistic = true},
    };
    for (size_t i = 0; type && i < TR_COUNT(kinds); i++) {
        if (strcmp(type, kinds[i].type) == 0) {
            return kinds[i];
        }
    }
    return (struct tr_model_kind){.type = type ? type : "unknown"};
}

static trellis_status read_notes(trellis_model *model, const char *path, trellis_error *error)
{
    trellis_text section;
    if (tr_image_find(&model->image, TR_CHECKPOINT_SECTION, &section)) {
        return tr_fail(error, TRELLIS_MODEL,
                       "%s is the checkpoint of a training, not a model: resume it with --resume",
                       path ? path : "this");
    }
    if (!tr_image_find(&model->image, "META", &section)) {
        return damaged(path, "it has no notes", error);
    }
    struct tr_cursor cursor = tr_cursor(section);
    while (cursor.at < cursor.end) {
        struct tr_note note = {tr_cursor_string(&cursor), NULL};
        note.value = tr_cursor_string(&cursor);
        if (cursor.failed) {
            return damaged(path, "its notes are truncated", error);
        }
        if (!tr_push(&model->notes, note)) {
            return tr_fail_memory(error);
        }
    }
    model->kind = kind_of(trellis_model_note(model, "type"));
    const char *inside = trellis_model_note(model, "scheme-inside");
    const char *outside = trellis_model_note(model, "scheme-outside");
    model->inside = trellis_scheme_from_name(inside);
    model->outside = trellis_scheme_from_name(outside);
    const char *normalised = trellis_model_note(model, TR_NOTE_NORMALISED);
    model->local = normalised && strcmp(normalised, TR_LOCALLY) == 0;
    return normalised && !model->local
               ? damaged(path, "its note 'normalised' is not 'locally'", error)
               : TRELLIS_OK;
}

/* Whether the graph is pruned, and the threshold. */
static trellis_status read_pruning(trellis_model *model, const char *path, trellis_error *error)
{
    const char *threshold = trellis_model_note(model, TR_NOTE_PRUNED);
    struct tr_graph_plan *plan = &model->plan;
    plan->pruned = threshold;
    if (!threshold || (tr_text_real(tr_text(threshold), &plan->threshold) && plan->threshold >= 0 &&
                       plan->threshold <= 1 && model->kind.prunable && !model->local &&
                       plan->order > 0 && plan->count_cap <= 1 && !model->step_residuals)) {
        return TRELLIS_OK;
    }
    return damaged(path, "its note 'pruned' is invalid", error);
}

static trellis_status read_labels(trellis_model *model, const char *path, trellis_error *error)
{
    trellis_text section;
    if (!tr_image_find(&model->image, "LABL", &section)) {
        return damaged(path, "it has no labels", error);
    }
    struct tr_cursor cursor = tr_cursor(section);
    TR_ARRAY(trellis_text) labels = {0};
    while (cursor.at < cursor.end) {
        const char *label = tr_cursor_string(&cursor);
        if (cursor.failed || labels.size >= TR_MAX_LABELS) {
            free(labels.at);
            return damaged(path, "its labels are invalid", error);
        }
        if (!tr_push(&labels, tr_text(label))) {
            free(labels.at);
            return tr_fail_memory(error);
        }
    }
    model->labels = labels.at;
    model->label_count = (uint32_t)labels.size;
    return labels.size ? TRELLIS_OK : damaged(path, "it has no labels", error);
}

static bool read_gram(struct tr_cursor *cursor, const struct tr_graph_plan *plan,
                      struct tr_gram *gram)
{
    uint32_t labels = plan->labels;
    uint16_t length = tr_cursor_u16(cursor);
    if (cursor->failed || length < 1 || length > tr_graph_longest(plan)) {
        return false;
    }
    gram->length = (uint8_t)length;
    for (uint16_t i = 0; i < length; i++) {
        gram->label[i] = tr_cursor_u16(cursor);
        uint32_t max = i + 1 == length && length > 1 ? labels + 1
                       : i == 0 && length > 1        ? labels
                                                     : labels - 1;
        if (gram->label[i] > max || (i + 1 == length && gram->label[i] == labels)) {
            return false;
        }
    }
    return !cursor->failed;
}

/* The label grams and the forbidden transitions, as many as the plan says. */
static trellis_status read_grams(trellis_model *model, struct tr_cursor *cursor, const char *path,
                                 trellis_error *error)
{
    struct tr_graph_plan *plan = &model->plan;
    model->grams = tr_alloc(plan->gram_count, sizeof *model->grams);
    model->forbidden = tr_alloc(plan->forbidden_count, sizeof *model->forbidden);
    if (!model->grams || !model->forbidden) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < plan->gram_count; i++) {
        if (!read_gram(cursor, plan, &model->grams[i])) {
            return damaged(path, "a label gram is invalid", error);
        }
    }
    for (size_t i = 0; i < plan->forbidden_count; i++) {
        uint16_t *pair = model->forbidden[i];
        pair[0] = tr_cursor_u16(cursor);
        pair[1] = tr_cursor_u16(cursor);
        if (cursor->failed || pair[0] > plan->labels || pair[1] > plan->labels + 1 ||
            pair[1] == plan->labels) {
            return damaged(path, "a forbidden transition is invalid", error);
        }
    }
    plan->grams = model->grams;
    plan->forbidden = (const uint16_t(*)[2])model->forbidden;
    return TRELLIS_OK;
}

/* The weights of the grams, and their residuals where the model has some. */
static trellis_status read_step_weights(trellis_model *model, trellis_text section,
                                        const char *path, trellis_error *error)
{
    size_t grams = model->plan.gram_count;
    trellis_text residuals;
    model->step_weights = (const float *)section.data;
    for (size_t i = 0; i < grams; i++) {
        if (!(model->step_weights[i] < INFINITY)) {
            return damaged(path, "a transition weight is not a number", error);
        }
    }
    if (!tr_image_find(&model->image, "SLOW", &residuals)) {
        return TRELLIS_OK;
    }
    bool fits = residuals.size == section.size;
    model->step_residuals = (const float *)residuals.data;
    for (size_t i = 0; fits && i < grams; i++) {
        fits = isfinite(model->step_residuals[i]);
    }
    return fits ? TRELLIS_OK : damaged(path, "the residuals of its transitions are invalid", error);
}

static trellis_status read_segments(trellis_model *model, const char *path, trellis_error *error)
{
    trellis_text section;
    if (!tr_image_find(&model->image, "SEGM", &section)) {
        return TRELLIS_OK;
    }
    if (model->local || model->kind.hmm || model->plan.pruned || model->plan.order != 1 ||
        model->plan.count_cap > 1) {
        return damaged(path, "its type cannot have segments", error);
    }
    trellis_status status = tr_segments_create(model->labels, model->label_count, &model->segments,
                                               error);
    uint32_t *lengths = tr_alloc(model->label_count, sizeof *lengths);
    if (!status && !lengths) {
        status = tr_fail_memory(error);
    }
    struct tr_cursor cursor = tr_cursor(section);
    for (uint32_t t = 0; !status && t < model->segments->types; t++) {
        lengths[t] = tr_cursor_u32(&cursor);
    }
    if (!status && (cursor.failed || cursor.at != cursor.end ||
                    !tr_segments_set_lengths(model->segments, lengths))) {
        status = damaged(path, "its lengths of segments are invalid", error);
    }
    free(lengths);
    model->plan.segments = model->segments;
    return status;
}

/* A graph that was made from the same plan is taken over. */
static trellis_status make_graph(trellis_model *model, struct tr_graph **graph,
                                 trellis_error *error)
{
    if (!graph || !*graph) {
        return tr_graph_create(&model->plan, &model->graph, error);
    }
    model->graph = *graph;
    model->graph->segments = model->segments;
    *graph = NULL;
    return TRELLIS_OK;
}

static trellis_status read_graph(trellis_model *model, const char *path, struct tr_graph **graph,
                                 trellis_error *error)
{
    trellis_text section, steps;
    if (!tr_image_find(&model->image, "GRPH", &section) ||
        !tr_image_find(&model->image, "STEP", &steps)) {
        return damaged(path, "it has no graph", error);
    }
    struct tr_graph_plan *plan = &model->plan;
    struct tr_cursor cursor = tr_cursor(section);
    plan->labels = model->label_count;
    plan->max_steps = tr_model_max_steps(model->image.size);
    plan->order = tr_cursor_u32(&cursor);
    plan->count_cap = tr_cursor_u32(&cursor);
    plan->observed_states = tr_cursor_u32(&cursor) & 1;
    plan->gram_count = tr_cursor_u32(&cursor);
    plan->forbidden_count = tr_cursor_u32(&cursor);
    if (cursor.failed || plan->order > TR_MAX_ORDER || plan->count_cap > TR_MAX_ORDER ||
        (plan->count_cap > 1 && plan->order != 1) || plan->gram_count > section.size / 4 ||
        plan->forbidden_count > section.size / 4 ||
        steps.size != plan->gram_count * sizeof(float)) {
        return damaged(path, "its graph is invalid", error);
    }
    trellis_status status = read_grams(model, &cursor, path, error);
    if (!status) {
        status = read_step_weights(model, steps, path, error);
    }
    if (!status) {
        status = read_pruning(model, path, error);
    }
    if (!status) {
        status = read_segments(model, path, error);
    }
    if (!status) {
        status = make_graph(model, graph, error);
    }
    return status ? status : tr_model_steps(model, model->graph, &model->steps, error);
}

trellis_status tr_model_steps(const trellis_model *model, const struct tr_graph *graph,
                              struct tr_steps **ret_steps, trellis_error *error)
{
    trellis_status status = tr_steps_create(graph, model->step_weights, ret_steps, error);
    return status || !model->step_residuals
               ? status
               : tr_steps_set_residuals(*ret_steps, model->step_residuals, error);
}

static trellis_status read_features(trellis_model *model, const char *path, trellis_error *error)
{
    trellis_text section;
    if (!tr_image_find(&model->image, "FEAT", &section)) {
        return damaged(path, "it has no templates", error);
    }
    trellis_status status = tr_features_read(section.data, section.size, &model->features, error);
    return !status && tr_features_has_segments(model->features) && !model->segments
               ? damaged(path, "its templates have segments, and it has none", error)
               : status;
}

/* Of an HMM with templates for unknown words; others have no such section. */
static trellis_status read_unknown(trellis_model *model, const char *path, trellis_error *error)
{
    trellis_text section;
    if (!tr_image_find(&model->image, "UNKN", &section)) {
        return TRELLIS_OK;
    }
    size_t count = 1 + (size_t)model->label_count;
    const double *unknown = (const double *)section.data;
    bool fits = section.size == count * sizeof *unknown && isfinite(unknown[0]);
    for (size_t i = 0; fits && i < count; i++) {
        fits = unknown[i] < INFINITY; // not NaN either
    }
    model->unknown = fits ? unknown : NULL;
    return fits ? TRELLIS_OK : damaged(path, "its probability of unknown words is invalid", error);
}

/* Models without a tag dictionary have no such section. */
static trellis_status read_tag_dictionary(trellis_model *model, const char *path,
                                          trellis_error *error)
{
    trellis_text section;
    return !tr_image_find(&model->image, "DICT", &section) ||
                   tr_tag_dictionary_read(section.data, section.size, model->label_count,
                                          &model->tag_dictionary)
               ? TRELLIS_OK
               : damaged(path, "its tag dictionary is invalid", error);
}

/* Models whose training saw no words, or that were written by hand, have no such section. */
static trellis_status read_words(trellis_model *model, const char *path, trellis_error *error)
{
    trellis_text section;
    if (!tr_image_find(&model->image, "WORD", &section)) {
        return TRELLIS_OK;
    }
    if (section.size % sizeof *model->words != 0) {
        return damaged(path, "its list of words is truncated", error);
    }
    model->words = (const uint64_t *)(const void *)section.data;
    model->word_count = section.size / sizeof *model->words;
    return TRELLIS_OK;
}

static trellis_status read_gaussian(trellis_model *model, const char *path, trellis_error *error)
{
    trellis_text section;
    return !tr_image_find(&model->image, "GAUS", &section) ||
                   tr_gaussian_read(section.data, section.size, model->label_count,
                                    &model->gaussian)
               ? TRELLIS_OK
               : damaged(path, "its normal distributions are invalid", error);
}

/* Whether a section belongs to the tables of attributes, which are verified where they are read. */
static bool is_of_table(const char name[4])
{
    static const char parts[][4] = {"ROW", "FIX", "KEY", "TXT", "LOW"};
    bool found = false;
    for (size_t i = 0; i < TR_COUNT(parts); i++) {
        found = found || memcmp(name + 1, parts[i], 3) == 0;
    }
    return found && (name[0] == 'N' || name[0] == 'E');
}

/* Opening reads all of the other sections: also the large ones must be intact. */
static trellis_status verify_read_at_once(const struct tr_image *image, const char *path,
                                          trellis_error *error)
{
    char name[4];
    trellis_text content;
    for (uint32_t i = 0; tr_image_at(image, i, name, &content); i++) {
        if (content.size >= TR_IMAGE_AT_ONCE && !is_of_table(name) &&
            !tr_image_section_intact(image, i)) {
            return damaged(path, "a section has a wrong checksum", error);
        }
    }
    return TRELLIS_OK;
}

trellis_status tr_model_read(struct tr_image *image, const char *path, bool trusted,
                             struct tr_graph **graph, trellis_model **ret_model,
                             trellis_error *error)
{
    *ret_model = NULL;
    trellis_model *model = tr_alloc(1, sizeof *model);
    if (!model) {
        tr_image_close(image);
        return tr_fail_memory(error);
    }
    model->image = *image;
    *image = (struct tr_image){0};
    trellis_status status = tr_image_check(&model->image, path, "model", error);
    if (!status && !trusted) {
        status = verify_read_at_once(&model->image, path, error);
    }
    if (!status) {
        status = tr_integrity_create(&model->image, path, trusted, &model->integrity, error);
    }
    if (!status) {
        status = read_notes(model, path, error);
    }
    if (!status) {
        status = read_labels(model, path, error);
    }
    if (!status) {
        status = read_graph(model, path, graph, error);
    }
    if (!status) {
        status = read_features(model, path, error);
    }
    uint32_t labels = model->label_count;
    if (!status) {
        status = tr_table_read(&model->image, 'N', labels, &model->node, error);
    }
    if (!status) {
        uint32_t pairs = labels ? (labels - 1) * model->graph->width + labels : 0;
        status = tr_table_read(&model->image, 'E', pairs, &model->edge, error);
    }
    if (!status) {
        status = read_tag_dictionary(model, path, error);
    }
    if (!status) {
        status = read_unknown(model, path, error);
    }
    if (!status) {
        status = read_words(model, path, error);
    }
    if (!status) {
        status = read_gaussian(model, path, error);
    }
    if (status) {
        trellis_model_close(model);
        return status;
    }
    *ret_model = model;
    return TRELLIS_OK;
}

/* Whether a file is the text form of a model. */
static bool is_text(const struct tr_image *image)
{
    static const char begin[] = TR_TEXT_FORM;
    size_t n = sizeof begin - 1;
    return image->size > n && memcmp(image->data, begin, n) == 0 &&
           (image->data[n] == ' ' || image->data[n] == '\t');
}

/* Takes over an image, the text form of a model, or the file of another program. */
static trellis_status open_image(struct tr_image *image, const char *path,
                                 trellis_model **ret_model, trellis_error *error)
{
    trellis_text bytes = {(const char *)image->data, image->size};
    const struct tr_foreign_format *foreign = tr_foreign_find(bytes);
    if (!foreign && !is_text(image)) {
        return tr_model_read(image, path, false, NULL, ret_model, error);
    }
    trellis_status status = foreign ? foreign->read(bytes, path, ret_model, error)
                                    : trellis_model_import_bytes(bytes.data, bytes.size, path,
                                                                 ret_model, error);
    tr_image_close(image);
    return status;
}

trellis_status trellis_model_open(const char *path, trellis_model **ret_model, trellis_error *error)
{
    if (!TR_CLEAR(ret_model) || !path) {
        return tr_fail_null(error, __func__);
    }
    struct tr_image image;
    trellis_status status = tr_image_open(path, "model", &image, error);
    return status ? status : open_image(&image, path, ret_model, error);
}

trellis_status trellis_model_open_bytes(const void *data, size_t size, trellis_bytes_use use,
                                        trellis_model **ret_model, trellis_error *error)
{
    if (!TR_CLEAR(ret_model) || (!data && size > 0)) {
        return tr_fail_null(error, __func__);
    }
    struct tr_image image;
    trellis_status status = tr_image_bytes(data, size, use, "model", &image, error);
    return status ? status : open_image(&image, NULL, ret_model, error);
}

trellis_status trellis_model_save(const trellis_model *model, const char *path,
                                  trellis_error *error)
{
    if (!model || !path) {
        return tr_fail_null(error, __func__);
    }
    trellis_status status = tr_integrity_all(model->integrity, error);
    return status ? status : tr_output_replace(path, model->image.data, model->image.size, error);
}

size_t trellis_model_size(const trellis_model *model)
{
    if (!model) {
        return 0;
    }
    return model->image.size;
}

trellis_status trellis_model_write(const trellis_model *model, trellis_sink sink, void *user,
                                   trellis_error *error)
{
    if (!model || !sink) {
        return tr_fail_null(error, __func__);
    }
    trellis_status status = tr_integrity_all(model->integrity, error);
    if (status) {
        return status;
    }
    status = sink(user, (const char *)model->image.data, model->image.size);
    return status ? tr_fail(error, status, "cannot write the model") : TRELLIS_OK;
}

void trellis_model_close(trellis_model *model)
{
    if (!model) {
        return;
    }
    trellis_features_destroy(model->features);
    tr_steps_destroy(model->steps);
    tr_graph_destroy(model->graph);
    tr_segments_destroy(model->segments);
    free(model->grams);
    free(model->forbidden);
    free(model->labels);
    free(model->notes.at);
    tr_integrity_destroy(model->integrity);
    tr_image_close(&model->image);
    free(model);
}

size_t trellis_model_label_count(const trellis_model *model)
{
    if (!model) {
        return 0;
    }
    return model->label_count;
}

trellis_text trellis_model_label(const trellis_model *model, size_t index)
{
    if (!model) {
        return (trellis_text){"", 0};
    }
    return index < model->label_count ? model->labels[index] : (trellis_text){"", 0};
}

size_t trellis_model_find_label(const trellis_model *model, trellis_text label)
{
    if (!model) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < model->label_count; i++) {
        if (tr_text_equal(model->labels[i], label)) {
            return i;
        }
    }
    return SIZE_MAX;
}

bool trellis_model_has_probabilities(const trellis_model *model)
{
    if (!model) {
        return false;
    }
    return model->kind.probabilistic;
}

const char *trellis_model_note(const trellis_model *model, const char *key)
{
    if (!model || !key) {
        return NULL;
    }
    for (size_t i = 0; i < model->notes.size; i++) {
        if (strcmp(model->notes.at[i].key, key) == 0) {
            return model->notes.at[i].value;
        }
    }
    return NULL;
}

size_t trellis_model_note_count(const trellis_model *model)
{
    if (!model) {
        return 0;
    }
    return model->notes.size;
}

bool trellis_model_note_at(const trellis_model *model, size_t index, const char **ret_key,
                           const char **ret_value)
{
    if (!TR_CLEAR(ret_key) || !TR_CLEAR(ret_value) || !model) {
        return false;
    }
    bool exists = index < model->notes.size;
    *ret_key = exists ? model->notes.at[index].key : NULL;
    *ret_value = exists ? model->notes.at[index].value : NULL;
    return exists;
}

trellis_text tr_model_gram_label(const trellis_model *model, uint16_t label)
{
    return label == model->label_count       ? TR_TEXT(START_NAME)
           : label == model->label_count + 1 ? TR_TEXT(END_NAME)
                                             : trellis_model_label(model, label);
}

void tr_note_text(struct tr_buffer *notes, const char *key, const char *value)
{
    tr_buffer_add(notes, key, strlen(key) + 1);
    tr_buffer_add(notes, value, strlen(value) + 1);
}

void tr_note_format(struct tr_buffer *notes, const char *key, const char *format, ...)
{
    char value[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    tr_note_text(notes, key, value);
}

trellis_status trellis_model_verify(const trellis_model *model, trellis_error *error)
{
    if (!model) {
        return tr_fail_null(error, __func__);
    }
    return tr_integrity_all(model->integrity, error);
}
