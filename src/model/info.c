/* info.c - reports what a model contains, as text or JSON. */
#include "model/model.h"

#include <math.h>

static void count_weight(void *user, uint32_t outcome, float weight)
{
    (void)outcome;
    (void)weight;
    ++*(uint64_t *)user;
}

/* Attributes that share a row are counted with its weights each. */
static uint64_t count_weights(const struct tr_table *table)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < table->record_count; i++) {
        tr_table_each(table, &table->records[i], count_weight, &count);
    }
    return count;
}

static uint64_t count_transitions(const trellis_model *model)
{
    uint64_t count = 0;
    for (size_t i = 0; i < model->plan.gram_count; i++) {
        count += model->step_weights[i] != 0;
    }
    return count;
}

void tr_model_notes_json(const trellis_model *model, struct tr_buffer *out)
{
    bool first = true;
    for (size_t i = 0; i < model->notes.size; i++) {
        if (!tr_note_is_curve(&model->notes.at[i])) {
            tr_buffer_string(out, first ? "" : ",");
            tr_buffer_json(out, tr_text(model->notes.at[i].key));
            tr_buffer_char(out, ':');
            tr_buffer_json(out, tr_text(model->notes.at[i].value));
            first = false;
        }
    }
}

/* The figures of a note of the training curve; null for a dash. */
static void curve_row(const char *value, struct tr_buffer *out)
{
    tr_buffer_char(out, '[');
    for (size_t field = 0; *value; field++) {
        size_t size = strcspn(value, " ");
        double number;
        bool is_number = tr_text_real((trellis_text){value, size}, &number);
        tr_buffer_string(out, field ? "," : "");
        tr_buffer_real(out, is_number ? number : NAN);
        value += size + (value[size] == ' ');
    }
    tr_buffer_char(out, ']');
}

static void info_json(const trellis_model *model, struct tr_buffer *out)
{
    tr_buffer_format(out, "{\"labels\":[");
    for (uint32_t i = 0; i < model->label_count; i++) {
        tr_buffer_string(out, i ? "," : "");
        tr_buffer_json(out, model->labels[i]);
    }
    tr_buffer_format(
        out,
        "],\"order\":%u,\"templates\":%zu,\"attributes\":%llu,\"weights\":%llu,"
        "\"transition_weights\":%llu,\"bits\":%d,\"dictionary_words\":%u,\"bytes\":%zu,\"notes\":{",
        model->plan.order, tr_features_template_count(model->features),
        (unsigned long long)model->node.record_count + model->edge.record_count,
        (unsigned long long)count_weights(&model->node) + count_weights(&model->edge),
        (unsigned long long)count_transitions(model), trellis_model_bits(model),
        model->tag_dictionary.words, model->image.size);
    tr_model_notes_json(model, out);
    tr_buffer_string(out, "},\"curve\":[");
    for (size_t i = 0, rows = 0; i < model->notes.size; i++) {
        if (tr_note_is_curve(&model->notes.at[i])) {
            tr_buffer_string(out, rows++ ? "," : "");
            curve_row(model->notes.at[i].value, out);
        }
    }
    tr_buffer_string(out, "]}\n");
}

static void info_text(const trellis_model *model, struct tr_buffer *out)
{
    for (size_t i = 0; i < model->notes.size; i++) {
        if (!tr_note_is_curve(&model->notes.at[i])) {
            size_t begin = out->size;
            tr_buffer_shown(out, tr_text(model->notes.at[i].key));
            do {
                tr_buffer_char(out, ' ');
            } while (!out->failed && out->size < begin + 21);
            tr_buffer_shown(out, tr_text(model->notes.at[i].value));
            tr_buffer_char(out, '\n');
        }
    }
    tr_buffer_format(out, "%-20s %u:", "labels", model->label_count);
    for (uint32_t i = 0; i < model->label_count && i < 40; i++) {
        tr_buffer_char(out, ' ');
        tr_buffer_shown(out, model->labels[i]);
    }
    tr_buffer_string(out, model->label_count > 40 ? " ...\n" : "\n");
    tr_buffer_format(out, "%-20s %zu\n", "templates", tr_features_template_count(model->features));
    tr_buffer_format(out, "%-20s %llu node, %llu edge\n", "attributes",
                     (unsigned long long)model->node.record_count,
                     (unsigned long long)model->edge.record_count);
    tr_buffer_format(out, "%-20s %llu node, %llu edge, %llu transition\n", "weights",
                     (unsigned long long)count_weights(&model->node),
                     (unsigned long long)count_weights(&model->edge),
                     (unsigned long long)count_transitions(model));
    tr_buffer_format(out, "%-20s %d per weight", "bits", trellis_model_bits(model));
    if (model->node.shorts) {
        tr_buffer_format(out, ", resolution %g", (double)model->node.unit);
    }
    tr_buffer_char(out, '\n');
    if (model->tag_dictionary.words) {
        tr_buffer_format(out, "%-20s %u words\n", "tag dictionary", model->tag_dictionary.words);
    }
    if (model->gaussian.columns) {
        tr_buffer_format(out, "%-20s %u columns: %s\n", "normal distributions",
                         model->gaussian.columns, model->gaussian.names);
    }
    tr_buffer_format(out, "%-20s %zu bytes\n", "size", model->image.size);
}

trellis_status trellis_model_info(const trellis_model *model, bool json, trellis_sink sink,
                                  void *user, trellis_error *error)
{
    if (!model || !sink) {
        return tr_fail_null(error, __func__);
    }
    struct tr_buffer out = {0};
    trellis_status status = tr_integrity_all(model->integrity, error);
    if (status) {
        return status;
    }
    if (json) {
        info_json(model, &out);
    } else {
        info_text(model, &out);
    }
    status = tr_buffer_flush(&out, sink, user, error);
    tr_buffer_free(&out);
    return status;
}
