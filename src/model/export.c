/* export.c - a whole model as text or JSON. */
#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "model/textform.h"

void tr_textform_escape(struct tr_buffer *buffer, trellis_text field)
{
    for (size_t i = 0; i < field.size; i++) {
        switch (field.data[i]) {
        case '\\':
            tr_buffer_string(buffer, "\\\\");
            break;
        case '\t':
            tr_buffer_string(buffer, "\\t");
            break;
        case '\n':
            tr_buffer_string(buffer, "\\n");
            break;
        case '\r':
            tr_buffer_string(buffer, "\\r");
            break;
        default:
            tr_buffer_char(buffer, field.data[i]);
        }
    }
}

struct export
{
    const trellis_model *model;
    bool json;
    trellis_sink sink;
    void *user;
    trellis_error *error;
    struct tr_buffer out;
    trellis_status status;
};

/* Flushes the buffer, so that a model of any size is written in little memory. */
static void flush_some(struct export *e)
{
    if (!e->status && (e->out.size > 65536 || e->out.failed)) {
        e->status = tr_buffer_flush(&e->out, e->sink, e->user, e->error);
    }
}

/* The shortest text that reads back to the same float, or where the model has all digits of its
 * weights, to the same double. JSON has no infinity: a transition or a label forbidden by minus
 * infinity is null there. */
static void put_weight(struct export *e, double weight)
{
    if (!isfinite(weight)) {
        const char *name = isnan(weight) ? "nan" : weight < 0 ? "-inf" : "inf";
        tr_buffer_string(&e->out, e->json ? "null" : name);
        return;
    }
    char text[40];
    bool exact = e->model->step_residuals, same = false;
    for (int digits = 1; digits <= 17 && !same; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, weight);
        same = exact ? strtod(text, NULL) == weight : strtof(text, NULL) == (float)weight;
    }
    tr_buffer_string(&e->out, text);
}

/* A weight to be written, and the record it belongs to. */
struct outgoing {
    struct export *e;
    const struct tr_table *table;
    const struct tr_text_record *record;
};

static void put_outgoing(const struct outgoing *outgoing, uint32_t outcome, float weight)
{
    const struct tr_table *table = outgoing->table;
    put_weight(outgoing->e, table->residuals ? tr_table_exact(table, outgoing->record->row, outcome)
                                             : (double)weight);
}

static bool is_edge(const struct export *e, const struct tr_table *table)
{
    return table == &e->model->edge;
}

static void put_weight_line(void *user, uint32_t outcome, float weight)
{
    const struct outgoing *outgoing = user;
    struct export *e = outgoing->e;
    const struct tr_table *table = outgoing->table;
    struct tr_buffer *out = &e->out;
    uint32_t width = e->model->graph->width, to = outcome;
    tr_buffer_string(out, is_edge(e, table) ? "edge\t" : "node\t");
    put_outgoing(outgoing, outcome, weight);
    tr_buffer_char(out, '\t');
    if (is_edge(e, table)) {
        tr_textform_escape(out, trellis_model_label(e->model, outcome / width));
        tr_buffer_char(out, '\t');
        to = outcome % width;
    }
    tr_textform_escape(out, trellis_model_label(e->model, to));
    tr_buffer_format(out, "\t%016llx\t", (unsigned long long)outgoing->record->key);
    tr_textform_escape(out, tr_table_text(table, outgoing->record));
    tr_buffer_char(out, '\n');
}

static void put_gram_label(struct export *e, uint16_t label)
{
    if (label >= e->model->label_count) {
        tr_buffer_string(&e->out, label == e->model->label_count ? "\\start" : "\\end");
    } else {
        tr_textform_escape(&e->out, e->model->labels[label]);
    }
}

static void put_templates(struct export *e)
{
    struct tr_buffer *out = &e->out;
    if (tr_features_has_resources(e->model->features)) {
        struct tr_buffer block = {0};
        trellis_status status = tr_features_write(e->model->features, &block, e->error);
        for (size_t i = 0; !status && i < block.size; i++) {
            if (i % 64 == 0) {
                tr_buffer_string(out, i ? "\nblock\t" : "block\t");
            }
            tr_buffer_format(out, "%02x", (unsigned char)block.data[i]);
        }
        tr_buffer_char(out, '\n');
        tr_buffer_free(&block);
        e->status = e->status ? e->status : status;
        return;
    }
    trellis_text source = tr_features_source(e->model->features);
    while (source.size) {
        const char *end = memchr(source.data, '\n', source.size);
        size_t n = end ? (size_t)(end - source.data) : source.size;
        tr_buffer_string(out, "template\t");
        tr_textform_escape(out, (trellis_text){source.data, n});
        tr_buffer_char(out, '\n');
        n += end ? 1 : 0;
        source = (trellis_text){source.data + n, source.size - n};
    }
}

static void put_text_head(struct export *e)
{
    const trellis_model *model = e->model;
    struct tr_buffer *out = &e->out;
    tr_buffer_format(out, "%s\t%d\n", TR_TEXT_FORM, TR_TEXT_VERSION);
    for (size_t i = 0; i < model->notes.size; i++) {
        tr_buffer_string(out, "note\t");
        tr_textform_escape(out, tr_text(model->notes.at[i].key));
        tr_buffer_char(out, '\t');
        tr_textform_escape(out, tr_text(model->notes.at[i].value));
        tr_buffer_char(out, '\n');
    }
    put_templates(e);
    for (uint32_t i = 0; i < model->label_count; i++) {
        tr_buffer_string(out, "label\t");
        tr_textform_escape(out, model->labels[i]);
        tr_buffer_char(out, '\n');
    }
    tr_buffer_format(out, "order\t%u\n", model->plan.order);
    if (model->plan.count_cap) {
        tr_buffer_format(out, "count-cap\t%u\n", model->plan.count_cap);
    }
    tr_buffer_string(out, model->plan.observed_states ? "observed-states\n" : "");
    tr_buffer_string(out, model->segments ? "segments\n" : "");
    for (uint32_t t = 0; model->segments && t < model->segments->types; t++) {
        const struct tr_segment_type *type = &model->segments->type[t];
        if (type->head != TR_NO_LABEL) {
            tr_buffer_string(out, "segments\t");
            tr_textform_escape(out, model->labels[type->head]);
            tr_buffer_format(out, "\t%u\n", type->max_length);
        }
    }
    for (size_t i = 0; i < model->plan.forbidden_count; i++) {
        tr_buffer_string(out, "forbid\t");
        put_gram_label(e, model->forbidden[i][0]);
        tr_buffer_char(out, '\t');
        put_gram_label(e, model->forbidden[i][1]);
        tr_buffer_char(out, '\n');
    }
}

enum { LABELS_IN_LINE = 8 };

/* The tag dictionary; a word with many labels takes several lines. */
static void put_text_dictionary(struct export *e)
{
    const struct tr_tag_dictionary *tag_dictionary = &e->model->tag_dictionary;
    for (uint32_t entry = 0; entry < tag_dictionary->words && !e->status; entry++) {
        const uint16_t *labels;
        size_t count = tr_tag_dictionary_labels(tag_dictionary, entry, &labels);
        for (size_t i = 0; i < count; i++) {
            if (i % LABELS_IN_LINE == 0) {
                tr_buffer_string(&e->out, i ? "\nallow\t" : "allow\t");
                tr_textform_escape(&e->out, tr_tag_dictionary_text(tag_dictionary, entry));
            }
            tr_buffer_char(&e->out, '\t');
            tr_textform_escape(&e->out, e->model->labels[labels[i]]);
        }
        tr_buffer_char(&e->out, '\n');
        flush_some(e);
    }
}

/* The names of --gaussian, one after the other. */
static trellis_text next_column(const char **names)
{
    trellis_text name = {*names, strcspn(*names, ",")};
    *names += name.size + ((*names)[name.size] == ',');
    return name;
}

static void put_text_gaussian(struct export *e)
{
    const struct tr_gaussian *gaussian = &e->model->gaussian;
    for (uint32_t c = 0; c < gaussian->labels && !e->status; c++) {
        const char *names = gaussian->names;
        for (size_t d = 0, at = (size_t)c * gaussian->columns; d < gaussian->columns; d++, at++) {
            tr_buffer_string(&e->out, "gaussian\t");
            tr_textform_escape(&e->out, e->model->labels[c]);
            tr_buffer_char(&e->out, '\t');
            tr_textform_escape(&e->out, next_column(&names));
            tr_buffer_char(&e->out, '\t');
            tr_buffer_real(&e->out, gaussian->mean[at]);
            tr_buffer_char(&e->out, '\t');
            tr_buffer_real(&e->out, gaussian->variance[at]);
            tr_buffer_char(&e->out, '\n');
        }
        flush_some(e);
    }
}

/* What an HMM has to know of unknown words (UNKN). */
static void put_text_unknown(struct export *e)
{
    const double *unknown = e->model->unknown;
    for (uint32_t i = 0; unknown && i <= e->model->label_count; i++) {
        tr_buffer_string(&e->out, "unknown\t");
        put_weight(e, unknown[i]);
        tr_buffer_string(&e->out, i ? "\t" : "");
        tr_textform_escape(&e->out, i ? e->model->labels[i - 1] : tr_text(""));
        tr_buffer_char(&e->out, '\n');
    }
}

/* An HMM may emit a word with probability 1 under every label: it is kept although all its weights
 * are 0. */
static void put_text_record(struct export *e, const struct tr_table *table,
                            const struct tr_text_record *record)
{
    struct outgoing outgoing = {e, table, record};
    size_t before = e->out.size;
    tr_table_each(table, record, put_weight_line, &outgoing);
    if (e->out.size == before && table->residuals) {
        put_weight_line(&outgoing, 0, 0);
    }
    flush_some(e);
}

static void put_text(struct export *e)
{
    const trellis_model *model = e->model;
    put_text_head(e);
    for (size_t i = 0; i < model->plan.gram_count && !e->status; i++) {
        tr_buffer_string(&e->out, "step\t");
        put_weight(e, tr_model_exact_step(model, i));
        for (int k = 0; k < model->grams[i].length; k++) {
            tr_buffer_char(&e->out, '\t');
            put_gram_label(e, model->grams[i].label[k]);
        }
        tr_buffer_char(&e->out, '\n');
        flush_some(e);
    }
    const struct tr_table *tables[] = {&model->node, &model->edge};
    for (size_t t = 0; t < TR_COUNT(tables); t++) {
        for (uint64_t i = 0; i < tables[t]->record_count && !e->status; i++) {
            put_text_record(e, tables[t], &tables[t]->records[i]);
        }
    }
    put_text_unknown(e);
    put_text_gaussian(e);
    put_text_dictionary(e);
}

static void put_weight_member(void *user, uint32_t outcome, float weight)
{
    const struct outgoing *outgoing = user;
    struct export *e = outgoing->e;
    struct tr_buffer *out = &e->out;
    uint32_t width = e->model->graph->width, to = outcome;
    bool first = out->size && out->data[out->size - 1] == '[';
    tr_buffer_string(out, first ? "[" : ",[");
    if (is_edge(e, outgoing->table)) {
        tr_buffer_json(out, trellis_model_label(e->model, outcome / width));
        tr_buffer_char(out, ',');
        to = outcome % width;
    }
    tr_buffer_json(out, trellis_model_label(e->model, to));
    tr_buffer_char(out, ',');
    put_outgoing(outgoing, outcome, weight);
    tr_buffer_char(out, ']');
}

static void put_json_table(struct export *e, const char *name, const struct tr_table *table)
{
    struct tr_buffer *out = &e->out;
    tr_buffer_format(out, ",\n\"%s\":[", name);
    for (uint64_t i = 0; i < table->record_count && !e->status; i++) {
        tr_buffer_string(out, i ? ",\n{\"attribute\":" : "\n{\"attribute\":");
        struct outgoing outgoing = {e, table, &table->records[i]};
        tr_buffer_json(out, tr_table_text(table, outgoing.record));
        tr_buffer_string(out, ",\"weights\":[");
        tr_table_each(table, outgoing.record, put_weight_member, &outgoing);
        tr_buffer_string(out, "]}");
        flush_some(e);
    }
    tr_buffer_char(out, ']');
}

static void put_json_dictionary(struct export *e)
{
    const struct tr_tag_dictionary *tag_dictionary = &e->model->tag_dictionary;
    struct tr_buffer *out = &e->out;
    tr_buffer_string(out, tag_dictionary->words ? ",\n\"dictionary\":[" : "");
    for (uint32_t entry = 0; entry < tag_dictionary->words && !e->status; entry++) {
        const uint16_t *labels;
        size_t count = tr_tag_dictionary_labels(tag_dictionary, entry, &labels);
        tr_buffer_string(out, entry ? ",\n{\"word\":" : "\n{\"word\":");
        tr_buffer_json(out, tr_tag_dictionary_text(tag_dictionary, entry));
        tr_buffer_string(out, ",\"labels\":[");
        for (size_t i = 0; i < count; i++) {
            tr_buffer_string(out, i ? "," : "");
            tr_buffer_json(out, e->model->labels[labels[i]]);
        }
        tr_buffer_string(out, "]}");
        flush_some(e);
    }
    tr_buffer_string(out, tag_dictionary->words ? "]" : "");
}

static void put_json_gaussian(struct export *e)
{
    const struct tr_gaussian *gaussian = &e->model->gaussian;
    struct tr_buffer *out = &e->out;
    tr_buffer_string(out, gaussian->columns ? ",\n\"gaussian\":[" : "");
    for (uint32_t c = 0; c < gaussian->labels && !e->status; c++) {
        const char *names = gaussian->names;
        for (size_t d = 0, at = (size_t)c * gaussian->columns; d < gaussian->columns; d++, at++) {
            tr_buffer_string(out, at ? ",\n{\"label\":" : "\n{\"label\":");
            tr_buffer_json(out, e->model->labels[c]);
            tr_buffer_string(out, ",\"column\":");
            tr_buffer_json(out, next_column(&names));
            tr_buffer_string(out, ",\"mean\":");
            tr_buffer_real(out, gaussian->mean[at]);
            tr_buffer_string(out, ",\"variance\":");
            tr_buffer_real(out, gaussian->variance[at]);
            tr_buffer_char(out, '}');
        }
        flush_some(e);
    }
    tr_buffer_string(out, gaussian->columns ? "]" : "");
}

static void put_json_unknown(struct export *e)
{
    const double *unknown = e->model->unknown;
    for (uint32_t i = 0; unknown && i <= e->model->label_count; i++) {
        tr_buffer_string(&e->out, i ? "," : ",\n\"unknown\":[");
        put_weight(e, unknown[i]);
    }
    tr_buffer_string(&e->out, unknown ? "]" : "");
}

/* The longest segment of each type, by the label that begins it. */
static void put_json_segments(struct export *e)
{
    const struct tr_segments *segments = e->model->segments;
    tr_buffer_string(&e->out, segments ? ",\n\"segments\":{" : "");
    for (uint32_t t = 0, count = 0; segments && t < segments->types; t++) {
        if (segments->type[t].head != TR_NO_LABEL) {
            tr_buffer_string(&e->out, count++ ? "," : "");
            tr_buffer_json(&e->out, e->model->labels[segments->type[t].head]);
            tr_buffer_format(&e->out, ":%u", segments->type[t].max_length);
        }
    }
    tr_buffer_string(&e->out, segments ? "}" : "");
}

static void put_json(struct export *e)
{
    const trellis_model *model = e->model;
    struct tr_buffer *out = &e->out;
    tr_buffer_string(out, "{\"notes\":{");
    tr_model_notes_json(model, out);
    tr_buffer_string(out, "},\n\"templates\":");
    tr_buffer_json(out, tr_features_source(model->features));
    tr_buffer_string(out, ",\n\"labels\":[");
    for (uint32_t i = 0; i < model->label_count; i++) {
        tr_buffer_string(out, i ? "," : "");
        tr_buffer_json(out, model->labels[i]);
    }
    tr_buffer_format(out, "],\n\"order\":%u", model->plan.order);
    put_json_segments(e);
    tr_buffer_string(out, ",\n\"steps\":[");
    for (size_t i = 0; i < model->plan.gram_count && !e->status; i++) {
        tr_buffer_string(out, i ? ",\n{\"labels\":[" : "\n{\"labels\":[");
        for (int k = 0; k < model->grams[i].length; k++) {
            tr_buffer_string(out, k ? "," : "");
            tr_buffer_json(out, tr_model_gram_label(model, model->grams[i].label[k]));
        }
        tr_buffer_string(out, "],\"weight\":");
        put_weight(e, tr_model_exact_step(model, i));
        tr_buffer_char(out, '}');
        flush_some(e);
    }
    tr_buffer_char(out, ']');
    put_json_table(e, "node", &model->node);
    put_json_table(e, "edge", &model->edge);
    put_json_unknown(e);
    put_json_gaussian(e);
    put_json_dictionary(e);
    tr_buffer_string(out, "}\n");
}

trellis_status trellis_model_export(const trellis_model *model, bool json, trellis_sink sink,
                                    void *user, trellis_error *error)
{
    if (!model || !sink) {
        return tr_fail_null(error, __func__);
    }
    struct export e = {.model = model, .json = json, .sink = sink, .user = user, .error = error};
    e.status = tr_integrity_all(model->integrity, error);
    if (!e.status && json) {
        put_json(&e);
    } else if (!e.status) {
        put_text(&e);
    }
    if (!e.status) {
        e.status = tr_buffer_flush(&e.out, sink, user, error);
    }
    tr_buffer_free(&e.out);
    return e.status;
}
