/* import_weights.c - weights of a model in text form: of transitions, attributes and words. */
#include <math.h>

#include "model/import.h"

/* The difference between a weight and its float. */
static float residual(double weight)
{
    double rest = weight - (double)(float)weight;
    return isfinite(rest) ? (float)rest : 0;
}

/* With counted states all labels but the last are the same, and the start goes with one other. */
static bool is_counted(const struct tr_gram *gram, uint32_t labels)
{
    for (size_t i = 1; i + 1 < gram->length; i++) {
        if (gram->label[i] != gram->label[0] || gram->label[i] == labels) {
            return false;
        }
    }
    return true;
}

trellis_status tr_import_step(struct tr_import *import)
{
    double weight = 0;
    struct tr_gram gram = {.length = (uint8_t)(import->count - 2)};
    uint32_t labels = (uint32_t)tr_intern_count(&import->labels);
    trellis_status status = tr_import_weight(import, 1, &weight);
    struct tr_graph_plan plan = {.order = import->order, .count_cap = import->count_cap};
    if (!status && gram.length > tr_graph_longest(&plan)) {
        status = TR_REFUSE(import, "a gram of %d labels in a model of order %u", gram.length,
                           import->order);
    }
    for (size_t i = 0; !status && i < gram.length; i++) {
        status = tr_import_label(import, i + 2, true, &gram.label[i]);
        bool start = gram.label[i] == labels, end = gram.label[i] == labels + 1;
        if (!status && ((start && i > 0) || (end && i + 1 < gram.length) ||
                        ((start || end) && gram.length < 2))) {
            status = TR_REFUSE(import, "the start must come first and the end last");
        }
    }
    if (!status && import->count_cap > 1 && !is_counted(&gram, labels)) {
        status = TR_REFUSE(import,
                           "with 'count-cap' all labels of a 'step' but the last must be equal");
    }
    if (status) {
        return status;
    }
    trellis_text bytes = {(const char *)gram.label, gram.length * sizeof *gram.label};
    if (tr_intern_find(&import->gram_texts, bytes) != TR_NONE) {
        return TR_REFUSE(import, "this 'step' line is a duplicate");
    }
    return tr_intern_add(&import->gram_texts, bytes) != TR_NONE && tr_push(&import->grams, gram) &&
                   tr_push(&import->step_weights, (float)weight) &&
                   tr_push(&import->step_residuals, residual(weight))
               ? TRELLIS_OK
               : tr_fail_memory(import->error);
}

static trellis_status add_weight(struct tr_import *import, struct tr_loose_part *part, uint64_t key,
                                 trellis_text text, uint32_t outcome, double weight)
{
    bool is_new, clash = false;
    uint32_t number = tr_attribute_index_add(&part->index, (struct tr_key){key, 0}, &is_new,
                                             &clash);
    if (number == TR_NONE || (is_new && !tr_attribute_index_name(&part->index, number, text)) ||
        !tr_push(&part->weights,
                 (struct tr_loose_weight){number, outcome, weight,
                                          (uint32_t)tr_input_place(import->input).line})) {
        return tr_fail_memory(import->error);
    }
    return TRELLIS_OK;
}

trellis_status tr_import_attribute(struct tr_import *import)
{
    bool edge = tr_text_is(import->fields[0], "edge");
    size_t i = edge ? 2 : 1;
    double weight = 0;
    uint16_t from = 0, to = 0;
    trellis_status status = tr_import_weight(import, 1, &weight);
    if (!status && edge) {
        status = tr_import_label(import, 2, false, &from);
    }
    if (!status) {
        status = tr_import_label(import, i + 1, false, &to);
    }
    uint64_t key = 0;
    trellis_text hex = import->fields[i + 2], text = {0};
    bool is_key = hex.size == 16;
    for (size_t k = 0; is_key && k < hex.size; k++) {
        int digit = tr_import_hex(hex.data[k]);
        is_key = digit >= 0;
        key = key * 16 + (uint64_t)digit;
    }
    if (!status && !is_key) {
        status = TR_REFUSE(import, "a key must have 16 hexadecimal digits, not '%.*s'",
                           TR_SHOW(hex));
    }
    if (!status) {
        status = tr_import_text(import, i + 3, &text);
    }
    if (status) {
        return status;
    }
    uint32_t width = tr_row_width((uint32_t)tr_intern_count(&import->labels));
    return add_weight(import, edge ? &import->edge : &import->node, key, text,
                      edge ? from * width + to : to, weight);
}

trellis_status tr_import_word(struct tr_import *import)
{
    double weight = 0;
    uint16_t label = 0;
    trellis_text word = {0};
    trellis_status status = tr_import_weight(import, 1, &weight);
    if (!status) {
        status = tr_import_label(import, 2, false, &label);
    }
    if (!status) {
        status = tr_import_features(import);
    }
    if (!status && !import->extractor) {
        status = tr_extractor_create(import->features, true, &import->extractor, import->error);
        trellis_error cause = {0};
        if (!status && tr_extractor_bind(import->extractor, NULL, SIZE_MAX, &cause)) {
            status = TR_REFUSE(import, "%s", cause.message);
        }
    }
    if (!status) {
        status = tr_import_text(import, 3, &word);
    }
    if (status) {
        return status;
    }
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = 1,
                                 .columns = 1,
                                 .cells = &word,
                                 .weight = 1};
    const struct tr_observation *seen;
    status = tr_extractor_run(import->extractor, &sequence, &seen, import->error);
    if (status == TRELLIS_MEMORY) {
        return status;
    }
    if (status || seen->node.begin[1] != 1) {
        return TR_REFUSE(import,
                         "'word' lines need templates that see one attribute in a lone word");
    }
    struct tr_buffer text = {0};
    tr_extractor_text(import->extractor, &sequence, TR_NODE_ATTRIBUTE, 0, 0, &text);
    status = text.failed ? tr_fail_memory(import->error)
                         : add_weight(import, &import->node, seen->node.low[0],
                                      (trellis_text){text.data, text.size}, label, weight);
    tr_buffer_free(&text);
    return status;
}

static int by_attribute(const void *a, const void *b)
{
    const struct tr_loose_weight *x = a, *y = b;
    return x->attribute != y->attribute
               ? (x->attribute > y->attribute) - (x->attribute < y->attribute)
               : (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

trellis_status tr_import_settle(struct tr_import *import, struct tr_loose_part *part,
                                uint32_t outcomes)
{
    size_t count = part->weights.size;
    uint32_t attributes = (uint32_t)part->index.entries.size;
    uint64_t *begin = tr_alloc((size_t)attributes + 1, sizeof *begin);
    uint32_t *outcome = tr_alloc(count, sizeof *outcome);
    if (!begin || !outcome) {
        free(begin);
        free(outcome);
        return tr_fail_memory(import->error);
    }
    struct tr_loose_weight *weights = part->weights.at;
    if (count) {
        qsort(weights, count, sizeof *weights, by_attribute);
    }
    uint64_t pairs = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && by_attribute(&weights[i - 1], &weights[i]) == 0) {
            trellis_text text = tr_attribute_index_text(&part->index, weights[i].attribute);
            struct tr_place place = tr_input_place(import->input);
            uint32_t line = weights[i].line, other = weights[i - 1].line;
            place.line = line > other ? line : other;
            free(begin);
            free(outcome);
            return tr_fail_at(import->error, TRELLIS_FORMAT, place,
                              "'%.*s' has two weights for one label", TR_SHOW(text));
        }
        outcome[pairs++] = weights[i].outcome;
        begin[weights[i].attribute + 1] = pairs;
    }
    trellis_status status = tr_rows_create(outcomes, attributes, 0, begin, outcome, &part->rows,
                                           import->error);
    if (status) {
        return status;
    }
    part->values = tr_alloc(part->rows->size, sizeof *part->values);
    part->residuals = tr_alloc(part->rows->size, sizeof *part->residuals);
    if (!part->values || !part->residuals) {
        return tr_fail_memory(import->error);
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = tr_rows_find(part->rows, weights[i].attribute, weights[i].outcome);
        part->values[at] = (float)weights[i].weight;
        part->residuals[at] = residual(weights[i].weight);
    }
    return TRELLIS_OK;
}

void tr_import_part_free(struct tr_loose_part *part)
{
    tr_attribute_index_free(&part->index);
    tr_rows_destroy(part->rows);
    free(part->weights.at);
    free(part->values);
    free(part->residuals);
}
