/* initial_weights.c - initial weights from an earlier model.
 *
 * The new data determines the labels, attributes and features; a feature that the earlier model has
 * as well starts with its weight. Attributes are matched by key, labels by text.
 */
#include "model/model.h"
#include "train/train.h"

struct transfer {
    const struct tr_training *training;
    const trellis_model *model;
    uint32_t *label;            // [model labels + 2] the new number, TR_NONE where it is gone
    const struct tr_rows *rows; // the part being filled
    float *weights;
    uint32_t attribute;
    bool edge;
    size_t matched;
};

static void take_weight(void *user, uint32_t outcome, float weight)
{
    struct transfer *transfer = user;
    uint32_t width = transfer->model->graph->width;
    uint32_t from = transfer->edge ? transfer->label[outcome / width] : 0;
    uint32_t to = transfer->label[transfer->edge ? outcome % width : outcome];
    if (from == TR_NONE || to == TR_NONE) {
        return;
    }
    uint32_t here = transfer->edge ? from * transfer->training->layout.graph->width + to : to;
    size_t at = tr_rows_find(transfer->rows, transfer->attribute, here);
    if (at != SIZE_MAX) {
        transfer->weights[at] = weight;
        transfer->matched++;
    }
}

static void take_attributes(struct transfer *transfer, const struct tr_table *table,
                            const struct tr_attributes *attributes, float *weights)
{
    transfer->rows = attributes->rows;
    transfer->weights = weights;
    for (uint32_t a = 0; a < attributes->rows->attributes; a++) {
        struct tr_text_record record = {
            .row = tr_table_find(table, attributes->index.entries.at[a].key)};
        transfer->attribute = a;
        if (record.row != TR_NONE) {
            tr_table_each(table, &record, take_weight, transfer);
        }
    }
}

static void take_steps(struct transfer *transfer, float *weights)
{
    const struct tr_training *training = transfer->training;
    const trellis_model *model = transfer->model;
    for (size_t i = 0; i < model->plan.gram_count; i++) {
        struct tr_gram gram = model->grams[i];
        bool known = true;
        for (int k = 0; k < gram.length; k++) {
            uint32_t label = transfer->label[gram.label[k]];
            known = known && label != TR_NONE;
            gram.label[k] = (uint16_t)label;
        }
        size_t here = tr_gram_find(training->layout.grams, training->layout.plan.gram_count, &gram);
        if (known && here != SIZE_MAX) {
            weights[here] = model->step_weights[i];
            transfer->matched++;
        }
    }
}

trellis_status tr_training_initial_weights(struct tr_training *training, float *weights,
                                           trellis_error *error)
{
    const trellis_model *model = training->sources.from;
    if (!model) {
        return TRELLIS_OK;
    }
    trellis_status status = tr_integrity_all(model->integrity, error);
    if (status) {
        return status;
    }
    uint32_t count = model->label_count, labels = training->data.train.label_count;
    struct transfer transfer = {.training = training, .model = model};
    transfer.label = tr_alloc((size_t)count + 2, sizeof *transfer.label);
    if (!transfer.label) {
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t here = tr_intern_find(&training->data.train.labels, model->labels[i]);
        transfer.label[i] = here < labels ? here : TR_NONE;
    }
    transfer.label[count] = labels;
    transfer.label[count + 1] = labels + 1;
    take_attributes(&transfer, &model->node, &training->data.vocabulary.node, weights);
    transfer.edge = true;
    take_attributes(&transfer, &model->edge, &training->data.vocabulary.edge,
                    weights + training->layout.node_size);
    take_steps(&transfer, weights + training->layout.step_begin);
    tr_training_note(training, "%zu weights taken from %s", transfer.matched,
                     training->sources.from_name);
    free(transfer.label);
    return TRELLIS_OK;
}
