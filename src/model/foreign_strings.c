/* foreign_strings.c - builds a model from templates and the weights of strings.
 *
 * An edge template that sees nothing makes one string, whose weights become those of the
 * transitions. All other strings become attributes with the keys of base/hash.h, which the
 * extractor computes from the same pieces that the other program would put together.
 */
#include "model/foreign_strings.h"

#include <math.h>

trellis_status tr_string_damaged(const struct tr_string_model *model, const char *what)
{
    return tr_foreign_damaged(model->format, model->path, what, model->error);
}

trellis_status tr_string_add_label(struct tr_string_model *model, trellis_text label)
{
    size_t count = tr_intern_count(&model->labels);
    if (count >= TR_MAX_LABELS) {
        return tr_fail(model->error, TRELLIS_MODEL, "%s: the %s model has more than %d labels",
                       model->path ? model->path : "model", model->format->program, TR_MAX_LABELS);
    }
    if (label.size == 0 || memchr(label.data, 0, label.size)) {
        return tr_string_damaged(model, "a label is empty or has a zero byte");
    }
    uint32_t number = tr_intern_add(&model->labels, label);
    return number == TR_NONE ? tr_fail_memory(model->error)
           : number < count  ? tr_string_damaged(model, "two labels have the same name")
                             : TRELLIS_OK;
}

trellis_status tr_string_add_template(struct tr_string_model *model, trellis_text text)
{
    if (text.size == 0 || memchr(text.data, '\n', text.size) || memchr(text.data, 0, text.size)) {
        return tr_string_damaged(model, "a template is not one line");
    }
    tr_buffer_text(&model->source, text);
    tr_buffer_char(&model->source, '\n');
    char first = text.data[0];
    const char *macro = memchr(text.data, '%', text.size);
    bool ok = !model->source.failed;
    if (ok && (first == 'B' || first == 'b' || first == '*')) {
        trellis_text beginning = {text.data, macro ? (size_t)(macro - text.data) : text.size};
        ok = macro ? tr_push(&model->beginnings, beginning) : tr_push(&model->plain, beginning);
    }
    return ok ? TRELLIS_OK : tr_fail_memory(model->error);
}

/* Whether an edge template that sees something may make the string, and how often those do that see
 * nothing. */
static void find_makers(struct tr_string_model *model, trellis_text text)
{
    model->times = 0;
    model->kept = model->cells;
    for (size_t i = 0; i < model->plain.size; i++) {
        model->times += tr_text_equal(model->plain.at[i], text);
    }
    for (size_t i = 0; i < model->beginnings.size && !model->kept; i++) {
        trellis_text beginning = model->beginnings.at[i];
        model->kept = beginning.size <= text.size &&
                      memcmp(beginning.data, text.data, beginning.size) == 0;
    }
}

trellis_status tr_string_begin(struct tr_string_model *model, bool edge, trellis_text text)
{
    if (edge) {
        find_makers(model, text);
        if (!model->kept) {
            return TRELLIS_OK;
        }
    }
    struct tr_string_part *part = edge ? &model->edge : &model->node;
    bool is_new, clash = false;
    uint32_t number = tr_attribute_index_add(&part->index, tr_string_key(text).hash, &is_new,
                                             &clash);
    if (number != TR_NONE && !is_new) {
        return tr_string_damaged(model,
                                 clash ? "two strings have the same key" : "a string occurs twice");
    }
    return number != TR_NONE && tr_attribute_index_name(&part->index, number, text) &&
                   tr_push(&part->begin, part->outcome.size)
               ? TRELLIS_OK
               : tr_fail_memory(model->error);
}

trellis_status tr_string_weight(struct tr_string_model *model, bool edge, uint64_t number,
                                double weight)
{
    struct tr_string_part *part = edge ? &model->edge : &model->node;
    uint32_t labels = (uint32_t)tr_intern_count(&model->labels);
    float rounded = (float)weight;
    bool ok = true;
    if (!isfinite(rounded)) {
        return tr_string_damaged(model, "a weight is not a finite number");
    }
    if (edge && model->times) {
        struct tr_string_step step = {(uint32_t)number, (float)model->times * rounded};
        ok = tr_push(&model->steps, step);
    }
    if (!edge || model->kept) {
        uint64_t from = number / labels, to = number % labels;
        uint64_t outcome = edge ? from * tr_row_width(labels) + to : number;
        ok = ok && tr_push(&part->outcome, (uint32_t)outcome) && tr_push(&part->weights, rounded);
    }
    return ok ? TRELLIS_OK : tr_fail_memory(model->error);
}

/* ---- the model ------------------------------------------------------------------------------- */

static int by_pair(const void *a, const void *b)
{
    const struct tr_string_step *x = a, *y = b;
    return (x->pair > y->pair) - (x->pair < y->pair);
}

/* Transitions as grams; several templates that see nothing add up. */
static trellis_status make_grams(struct tr_string_model *model, struct tr_gram **ret_grams,
                                 float **ret_weights, size_t *ret_count)
{
    size_t count = model->steps.size;
    uint32_t labels = (uint32_t)tr_intern_count(&model->labels);
    struct tr_gram *grams = *ret_grams = tr_alloc(count, sizeof *grams);
    float *weights = *ret_weights = tr_alloc(count, sizeof *weights);
    *ret_count = 0;
    if (!grams || !weights) {
        return tr_fail_memory(model->error);
    }
    if (count) {
        qsort(model->steps.at, count, sizeof *model->steps.at, by_pair);
    }
    for (size_t i = 0; i < count; i++) {
        struct tr_string_step step = model->steps.at[i];
        if (i == 0 || model->steps.at[i - 1].pair != step.pair) {
            grams[(*ret_count)++] = (struct tr_gram){
                2, {(uint16_t)(step.pair / labels), (uint16_t)(step.pair % labels)}};
        }
        weights[*ret_count - 1] += step.weight;
    }
    return TRELLIS_OK;
}

static trellis_status make_rows(struct tr_string_model *model, struct tr_string_part *part,
                                uint32_t outcomes, struct tr_rows **ret_rows)
{
    if (!tr_push(&part->begin, part->outcome.size)) {
        return tr_fail_memory(model->error);
    }
    tr_attribute_index_close(&part->index);
    uint64_t *begin = part->begin.at;
    uint32_t *outcome = part->outcome.at;
    part->begin.at = NULL; // both are taken over
    part->outcome.at = NULL;
    return tr_rows_create(outcomes, (uint32_t)part->index.entries.size, 0, begin, outcome, ret_rows,
                          model->error);
}

static trellis_status make_features(struct tr_string_model *model, trellis_features **ret_features)
{
    trellis_error cause = {0};
    trellis_text source = {model->source.data, model->source.size};
    trellis_status status = tr_features_parse(source, "templates", ret_features, &cause);
    if (status && status != TRELLIS_MEMORY) {
        return tr_string_damaged(model, cause.message);
    }
    return status ? tr_fail_memory(model->error) : TRELLIS_OK;
}

/* Without weights for pairs of labels a first-order model decides each label by itself. */
static void put_notes(const struct tr_string_model *model, uint32_t order, struct tr_buffer *notes)
{
    tr_note_text(notes, "program", model->format->program);
    tr_note_text(notes, "type", model->local ? "memm" : order ? "crf" : "maxent");
    tr_note_text(notes, "features", "templates");
    if (model->local) {
        tr_note_text(notes, TR_NOTE_NORMALISED, TR_LOCALLY);
    }
    tr_note_format(notes, "order", "%u", order);
}

trellis_status tr_string_build(struct tr_string_model *model, trellis_model **ret_model)
{
    uint32_t labels = (uint32_t)tr_intern_count(&model->labels);
    if (labels == 0) {
        return tr_string_damaged(model, "it has no labels");
    }
    bool pairs = model->local || model->steps.size || model->edge.outcome.size;
    struct tr_graph_plan plan = {.labels = labels, .order = pairs};
    struct tr_gram *grams = NULL;
    float *step_weights = NULL;
    struct tr_rows *nodes = NULL, *edges = NULL;
    trellis_features *features = NULL;
    struct tr_buffer notes = {0};
    put_notes(model, plan.order, &notes);
    trellis_status status = notes.failed ? tr_fail_memory(model->error)
                                         : make_features(model, &features);
    if (!status) {
        status = make_grams(model, &grams, &step_weights, &plan.gram_count);
        plan.grams = grams;
    }
    if (!status) {
        status = make_rows(model, &model->node, labels, &nodes);
    }
    if (!status) {
        uint32_t outcomes = (labels - 1) * tr_row_width(labels) + labels;
        status = make_rows(model, &model->edge, outcomes, &edges);
    }
    if (!status) {
        struct tr_model_parts parts = {
            .labels = &model->labels,
            .plan = &plan,
            .step_weights = step_weights,
            .features = features,
            .node = {&model->node.index, nodes, model->node.weights.at, NULL},
            .edge = {&model->edge.index, edges, model->edge.weights.at, NULL},
            .notes = &notes};
        status = tr_model_build(&parts, ret_model, model->error);
    }
    free(grams);
    free(step_weights);
    tr_rows_destroy(nodes);
    tr_rows_destroy(edges);
    trellis_features_destroy(features);
    tr_buffer_free(&notes);
    return status;
}

static void free_part(struct tr_string_part *part)
{
    tr_attribute_index_free(&part->index);
    free(part->begin.at);
    free(part->outcome.at);
    free(part->weights.at);
}

void tr_string_free(struct tr_string_model *model)
{
    free_part(&model->node);
    free_part(&model->edge);
    tr_intern_free(&model->labels);
    tr_buffer_free(&model->source);
    free(model->plain.at);
    free(model->beginnings.at);
    free(model->steps.at);
}
