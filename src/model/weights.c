/* weights.c - the weights of a model: iteration and lookup. */
#include <math.h>

#include "model/model.h"

enum { MAX_LABELS = TR_MAX_ORDER + 1 };

struct trellis_weight_iterator {
    const trellis_model *model;
    trellis_weight weight;
    trellis_text labels[MAX_LABELS];
    int32_t numbers[MAX_LABELS];
    size_t gram; // the next one; behind the last, attributes are walked through:
    bool edge;
    uint64_t record, place; // place: in the row of the record
};

/* The number that callers see: that of both ends of a sequence is the number of labels. */
static int32_t public_number(const trellis_model *model, uint32_t label)
{
    return (int32_t)(label > model->label_count ? model->label_count : label);
}

trellis_status trellis_weight_iterator_create(const trellis_model *model,
                                              trellis_weight_iterator **ret_iterator,
                                              trellis_error *error)
{
    if (!TR_CLEAR(ret_iterator) || !model) {
        return tr_fail_null(error, __func__);
    }
    trellis_status status = tr_integrity_all(model->integrity, error);
    if (status) {
        return status;
    }
    trellis_weight_iterator *iterator = tr_alloc(1, sizeof *iterator);
    *ret_iterator = iterator;
    if (!iterator) {
        return tr_fail_memory(error);
    }
    iterator->model = model;
    iterator->weight.labels = iterator->labels;
    iterator->weight.numbers = iterator->numbers;
    return TRELLIS_OK;
}

void trellis_weight_iterator_destroy(trellis_weight_iterator *iterator)
{
    free(iterator);
}

static void set_label(trellis_weight_iterator *iterator, size_t i, uint32_t label)
{
    iterator->labels[i] = tr_model_gram_label(iterator->model, (uint16_t)label);
    iterator->numbers[i] = public_number(iterator->model, label);
}

static void set_transition(trellis_weight_iterator *iterator, size_t g)
{
    const trellis_model *model = iterator->model;
    trellis_weight *weight = &iterator->weight;
    weight->kind = TRELLIS_TRANSITION_WEIGHT;
    weight->attribute = (trellis_text){"", 0};
    weight->attribute_number = SIZE_MAX;
    weight->weight = tr_model_exact_step(model, g);
    weight->label_count = model->grams[g].length;
    for (size_t i = 0; i < weight->label_count; i++) {
        set_label(iterator, i, model->grams[g].label[i]);
    }
}

/* The next weight of the attributes of a table; false behind the last. */
static bool next_of_table(trellis_weight_iterator *iterator, const struct tr_table *table)
{
    const trellis_model *model = iterator->model;
    trellis_weight *weight = &iterator->weight;
    uint32_t width = model->graph->width, outcome = 0;
    float value = 0;
    for (; iterator->record < table->record_count; iterator->record++, iterator->place = 0) {
        const struct tr_text_record *record = &table->records[iterator->record];
        while (tr_table_next(table, record, &iterator->place, &outcome, &value)) {
            uint32_t to = iterator->edge ? outcome % width : outcome;
            if (to >= model->label_count) {
                continue; // padding, which tagging ignores
            }
            weight->kind = iterator->edge ? TRELLIS_EDGE_WEIGHT : TRELLIS_NODE_WEIGHT;
            weight->attribute = tr_table_text(table, record);
            weight->attribute_number = (size_t)iterator->record;
            weight->weight = table->residuals ? tr_table_exact(table, record->row, outcome)
                                              : (double)value;
            weight->label_count = iterator->edge ? 2 : 1;
            set_label(iterator, 0, iterator->edge ? outcome / width : to);
            set_label(iterator, weight->label_count - 1, to);
            return true;
        }
    }
    return false;
}

const trellis_weight *trellis_weight_iterator_next(trellis_weight_iterator *iterator)
{
    if (!iterator) {
        return NULL;
    }
    const trellis_model *model = iterator->model;
    if (iterator->gram < model->plan.gram_count) {
        set_transition(iterator, iterator->gram++);
        return &iterator->weight;
    }
    if (!iterator->edge && next_of_table(iterator, &model->node)) {
        return &iterator->weight;
    }
    if (!iterator->edge) {
        iterator->edge = true;
        iterator->record = iterator->place = 0;
    }
    return next_of_table(iterator, &model->edge) ? &iterator->weight : NULL;
}

/* ---- looking up ------------------------------------------------------------------------------ */

/* Whether the file is intact: the first lookup verifies all of it. */
static bool is_intact(const trellis_model *model)
{
    return tr_integrity_all(model->integrity, NULL) == TRELLIS_OK;
}

static const struct tr_table *table_of(const trellis_model *model, bool edge)
{
    return edge ? &model->edge : &model->node;
}

size_t trellis_model_attribute_count(const trellis_model *model, bool edge)
{
    if (!model) {
        return 0;
    }
    return (size_t)table_of(model, edge)->record_count;
}

trellis_text trellis_model_attribute(const trellis_model *model, bool edge, size_t index)
{
    if (!model) {
        return (trellis_text){"", 0};
    }
    const struct tr_table *table = table_of(model, edge);
    return index < table->record_count && is_intact(model)
               ? tr_table_text(table, &table->records[index])
               : (trellis_text){"", 0};
}

size_t trellis_model_find_attribute(const trellis_model *model, bool edge, trellis_text attribute)
{
    if (!model) {
        return SIZE_MAX;
    }
    const struct tr_table *table = table_of(model, edge);
    uint64_t count = is_intact(model) ? table->record_count : 0;
    for (uint64_t i = 0; i < count; i++) {
        if (table->records[i].text_size == attribute.size &&
            tr_text_equal(tr_table_text(table, &table->records[i]), attribute)) {
            return (size_t)i;
        }
    }
    return SIZE_MAX;
}

/* Turns the labels of a gram into those inside the model; false where a number is out of range. */
static bool read_gram(const trellis_model *model, const int32_t *labels, size_t count,
                      struct tr_gram *gram)
{
    int32_t label_count = (int32_t)model->label_count;
    bool valid = count >= 1 && count <= MAX_LABELS;
    for (size_t i = 0; valid && i < count; i++) {
        bool outer = count > 1 && (i == 0 || i + 1 == count);
        valid = labels[i] >= 0 && labels[i] < label_count + outer;
        gram->label[i] = (uint16_t)(labels[i] == label_count && i > 0 ? label_count + 1
                                                                      : labels[i]);
    }
    gram->length = valid ? (uint8_t)count : 0;
    return valid;
}

static double transition_weight(const trellis_model *model, const struct tr_gram *gram)
{
    for (size_t i = 0; gram->length == 2 && i < model->plan.forbidden_count; i++) {
        if (model->forbidden[i][0] == gram->label[0] && model->forbidden[i][1] == gram->label[1]) {
            return -INFINITY;
        }
    }
    for (size_t g = 0; g < model->plan.gram_count; g++) {
        if (model->grams[g].length == gram->length &&
            memcmp(model->grams[g].label, gram->label, gram->length * sizeof *gram->label) == 0) {
            return tr_model_exact_step(model, g);
        }
    }
    return 0;
}

double trellis_model_weight(const trellis_model *model, size_t attribute, const int32_t *labels,
                            size_t label_count)
{
    if (!model || !labels) {
        return NAN;
    }
    struct tr_gram gram = {0};
    bool valid = read_gram(model, labels, label_count, &gram);
    if (valid && attribute == SIZE_MAX) {
        return transition_weight(model, &gram);
    }
    const struct tr_table *table = table_of(model, label_count == 2);
    for (size_t i = 0; i < gram.length; i++) {
        valid = valid && gram.label[i] < model->label_count;
    }
    if (!valid || label_count > 2 || attribute >= table->record_count || !is_intact(model)) {
        return NAN;
    }
    uint32_t outcome = label_count == 1 ? gram.label[0]
                                        : gram.label[0] * model->graph->width + gram.label[1];
    return tr_table_exact(table, table->records[attribute].row, outcome);
}
