/* inspect_report.c - reports an inspection as text or JSON. */
#include "model/inspect.h"

#include <math.h>
#include <stdio.h>

/* The largest numbers of labels for which the transition table is written. */
enum { MAX_IN_TABLE = 24, MAX_IN_JSON = 300 };

static trellis_text name_of(const trellis_inspection *inspection, size_t label, bool from)
{
    uint32_t labels = inspection->model->label_count;
    return tr_model_gram_label(inspection->model,
                               (uint16_t)(label < labels || from ? label : labels + 1));
}

/* ---- for a person ---------------------------------------------------------------------------- */

static void put_padded(struct tr_buffer *out, trellis_text text, int width)
{
    tr_buffer_shown(out, text);
    for (int used = (int)text.size; used < width; used++) {
        tr_buffer_char(out, ' ');
    }
}

static void text_list(const trellis_inspection *inspection, struct tr_buffer *out, size_t label,
                      trellis_ranking ranking, const char *heading)
{
    size_t count;
    const trellis_weighted *list = trellis_inspection_top(inspection, label, ranking, &count);
    if (count) {
        tr_buffer_format(out, "  %s\n", heading);
    }
    for (size_t i = 0; i < count; i++) {
        const trellis_weighted *item = &list[i];
        tr_buffer_format(out, "  %10.4f  ", item->weight);
        tr_buffer_shown(out, item->attribute);
        size_t named = item->attribute.size ? item->label_count - 1 : item->label_count;
        if (item->attribute.size && named) {
            tr_buffer_string(out, "  after ");
        }
        for (size_t k = 0; k < named; k++) {
            tr_buffer_string(out, k ? " " : "");
            tr_buffer_shown(out, item->labels[k]);
        }
        tr_buffer_char(out, '\n');
    }
}

/* The real-valued columns that a label emits; the end of a sequence emits none. */
static uint32_t gaussian_columns(const trellis_inspection *inspection, size_t label)
{
    const trellis_model *model = inspection->model;
    return label < model->label_count ? model->gaussian.columns : 0;
}

static void text_gaussian(const trellis_inspection *inspection, struct tr_buffer *out, size_t label)
{
    const struct tr_gaussian *g = &inspection->model->gaussian;
    uint32_t columns = gaussian_columns(inspection, label);
    if (columns) {
        tr_buffer_format(out, "  normal distributions\n  %10s  %10s  column\n", "mean",
                         "deviation");
    }
    for (size_t d = 0; d < columns; d++) {
        size_t cell = label * columns + d;
        tr_buffer_format(out, "  %10.5g  %10.5g  ", g->mean[cell], sqrt(g->variance[cell]));
        tr_buffer_shown(out, tr_gaussian_name(g, d));
        tr_buffer_char(out, '\n');
    }
}

static void text_label(const trellis_inspection *inspection, struct tr_buffer *out, size_t label)
{
    static const char *const headings[TR_RANKINGS] = {
        [TRELLIS_FEATURES_HIGHEST] = "positive weights",
        [TRELLIS_FEATURES_LOWEST] = "negative weights",
        [TRELLIS_TRANSITIONS_HIGHEST] = "transitions with the highest weights",
        [TRELLIS_TRANSITIONS_LOWEST] = "transitions with the lowest weights",
    };
    size_t count = 0, all = gaussian_columns(inspection, label);
    for (int ranking = 0; ranking < TR_RANKINGS; ranking++) {
        trellis_inspection_top(inspection, label, (trellis_ranking)ranking, &count);
        all += count;
    }
    if (all == 0) {
        return;
    }
    tr_buffer_shown(out, name_of(inspection, label, false));
    tr_buffer_char(out, '\n');
    text_gaussian(inspection, out, label);
    for (int ranking = 0; ranking < TR_RANKINGS; ranking++) {
        text_list(inspection, out, label, (trellis_ranking)ranking, headings[ranking]);
    }
    tr_buffer_char(out, '\n');
}

static void text_templates(const trellis_inspection *inspection, struct tr_buffer *out)
{
    size_t count;
    const trellis_template_usage *uses = trellis_inspection_templates(inspection, &count);
    tr_buffer_format(out, "%10s %10s %10s  %s\n", "attributes", "weights", "mean |w|", "template");
    for (size_t i = 0; i < count; i++) {
        const trellis_template_usage *use = &uses[i];
        tr_buffer_format(out, "%10llu %10llu %10.4f  %s", (unsigned long long)use->attributes,
                         (unsigned long long)use->weights,
                         use->weights ? use->absolute / (double)use->weights : 0,
                         use->edge ? "edge " : "");
        tr_buffer_shown(out, use->text.size ? use->text : TR_TEXT("(given attributes)"));
        tr_buffer_char(out, '\n');
    }
    tr_buffer_char(out, '\n');
}

static void text_transitions(const trellis_inspection *inspection, struct tr_buffer *out)
{
    size_t labels = inspection->model->label_count;
    int width = 7;
    if (inspection->pairs.size == 0) {
        tr_buffer_string(out, "The model has no transition weights.\n");
        return;
    }
    if (labels > MAX_IN_TABLE) {
        tr_buffer_format(out, "The transition table of %zu labels is in the output of --json.\n",
                         labels);
        return;
    }
    for (size_t i = 0; i <= labels; i++) {
        int size = (int)name_of(inspection, i, true).size;
        width = size > width ? size : width;
    }
    put_padded(out, TR_TEXT("from \\ to"), width > 9 ? width : 9);
    for (size_t to = 0; to <= labels; to++) {
        trellis_text name = name_of(inspection, to, false);
        put_padded(out, TR_TEXT(""), 1 + width - (int)name.size);
        tr_buffer_shown(out, name);
    }
    tr_buffer_char(out, '\n');
    for (size_t from = 0; from <= labels; from++) {
        put_padded(out, name_of(inspection, from, true), width > 9 ? width : 9);
        for (size_t to = 0; to <= labels; to++) {
            double weight = trellis_inspection_transition(inspection, from, to);
            if (isinf(weight)) {
                tr_buffer_format(out, " %*s", width, "never");
            } else if (weight == 0) {
                tr_buffer_format(out, " %*s", width, ".");
            } else {
                tr_buffer_format(out, " %*.2f", width, weight);
            }
        }
        tr_buffer_char(out, '\n');
    }
}

/* ---- for a program --------------------------------------------------------------------------- */

static void json_list(const trellis_inspection *inspection, struct tr_buffer *out, size_t label,
                      trellis_ranking ranking, const char *key)
{
    size_t count;
    const trellis_weighted *list = trellis_inspection_top(inspection, label, ranking, &count);
    tr_buffer_format(out, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        tr_buffer_string(out, i ? ",{" : "{");
        if (list[i].attribute.size) {
            tr_buffer_string(out, "\"attribute\":");
            tr_buffer_json(out, list[i].attribute);
            tr_buffer_char(out, ',');
        }
        if (list[i].label_count > 1 || !list[i].attribute.size) {
            tr_buffer_string(out, "\"labels\":[");
            for (size_t k = 0; k < list[i].label_count; k++) {
                tr_buffer_string(out, k ? "," : "");
                tr_buffer_json(out, list[i].labels[k]);
            }
            tr_buffer_string(out, "],");
        }
        tr_buffer_string(out, "\"weight\":");
        tr_buffer_real(out, list[i].weight);
        tr_buffer_char(out, '}');
    }
    tr_buffer_char(out, ']');
}

static void json_gaussian(const trellis_inspection *inspection, struct tr_buffer *out, size_t label)
{
    const struct tr_gaussian *g = &inspection->model->gaussian;
    uint32_t columns = gaussian_columns(inspection, label);
    for (size_t d = 0; d < columns; d++) {
        size_t cell = label * columns + d;
        tr_buffer_string(out, d ? ",{\"column\":" : ",\"gaussian\":[{\"column\":");
        tr_buffer_json(out, tr_gaussian_name(g, d));
        tr_buffer_string(out, ",\"mean\":");
        tr_buffer_real(out, g->mean[cell]);
        tr_buffer_string(out, ",\"deviation\":");
        tr_buffer_real(out, sqrt(g->variance[cell]));
        tr_buffer_string(out, d + 1 < columns ? "}" : "}]");
    }
}

static void json_label(const trellis_inspection *inspection, struct tr_buffer *out, size_t label)
{
    tr_buffer_string(out, "\n{\"label\":");
    tr_buffer_json(out, name_of(inspection, label, false));
    json_gaussian(inspection, out, label);
    json_list(inspection, out, label, TRELLIS_FEATURES_HIGHEST, "positive");
    json_list(inspection, out, label, TRELLIS_FEATURES_LOWEST, "negative");
    json_list(inspection, out, label, TRELLIS_TRANSITIONS_HIGHEST, "transitions_highest");
    json_list(inspection, out, label, TRELLIS_TRANSITIONS_LOWEST, "transitions_lowest");
    tr_buffer_char(out, '}');
}

static void json_templates(const trellis_inspection *inspection, struct tr_buffer *out)
{
    size_t count;
    const trellis_template_usage *uses = trellis_inspection_templates(inspection, &count);
    tr_buffer_string(out, ",\n\"templates\":[");
    for (size_t i = 0; i < count; i++) {
        tr_buffer_string(out, i ? ",\n{\"template\":" : "\n{\"template\":");
        tr_buffer_json(out, uses[i].text);
        tr_buffer_format(out, ",\"edge\":%s,\"attributes\":%llu,\"weights\":%llu,\"absolute\":",
                         uses[i].edge ? "true" : "false", (unsigned long long)uses[i].attributes,
                         (unsigned long long)uses[i].weights);
        tr_buffer_real(out, uses[i].absolute);
        tr_buffer_char(out, '}');
    }
    tr_buffer_char(out, ']');
}

/* Rows are the labels that a transition comes from, the start last; columns those it goes to, the
 * end last. A forbidden transition is null. */
static void json_transitions(const trellis_inspection *inspection, struct tr_buffer *out)
{
    size_t labels = inspection->model->label_count;
    if (labels > MAX_IN_JSON) {
        return;
    }
    tr_buffer_string(out, ",\n\"transitions\":[");
    for (size_t from = 0; from <= labels; from++) {
        tr_buffer_string(out, from ? ",\n[" : "\n[");
        for (size_t to = 0; to <= labels; to++) {
            tr_buffer_string(out, to ? "," : "");
            tr_buffer_real(out, trellis_inspection_transition(inspection, from, to));
        }
        tr_buffer_char(out, ']');
    }
    tr_buffer_char(out, ']');
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void report_json(const trellis_inspection *inspection, size_t first, size_t last, bool all,
                        struct tr_buffer *out)
{
    tr_buffer_string(out, "{\"labels\":[");
    for (size_t label = first; label <= last; label++) {
        tr_buffer_string(out, label > first ? "," : "");
        json_label(inspection, out, label);
    }
    tr_buffer_char(out, ']');
    if (all) {
        json_templates(inspection, out);
        json_transitions(inspection, out);
    }
    tr_buffer_string(out, "}\n");
}

static void report_text(const trellis_inspection *inspection, size_t first, size_t last, bool all,
                        struct tr_buffer *out)
{
    for (size_t label = first; label <= last; label++) {
        text_label(inspection, out, label);
    }
    if (all) {
        text_templates(inspection, out);
        text_transitions(inspection, out);
    }
}

trellis_status trellis_inspection_report(const trellis_inspection *inspection, const char *label,
                                         bool json, trellis_sink sink, void *user,
                                         trellis_error *error)
{
    if (!inspection || !sink) {
        return tr_fail_null(error, __func__);
    }
    const trellis_model *model = inspection->model;
    size_t first = 0, last = model->label_count; // the end of a sequence comes last
    if (label) {
        while (first < last && !tr_text_is(model->labels[first], label)) {
            first++;
        }
        if (first == last) {
            return tr_fail(error, TRELLIS_DATA,
                           "the model has no label '%.200s'; 'trellis info' lists its labels",
                           label);
        }
        last = first;
    }
    struct tr_buffer out = {0};
    (json ? report_json : report_text)(inspection, first, last, !label, &out);
    trellis_status status = tr_buffer_flush(&out, sink, user, error);
    tr_buffer_free(&out);
    return status;
}
