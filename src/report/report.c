/* report.c - evaluation, errors and weights of a model as one HTML page.
 *
 * The page is page.html with its style, its script and the data put in; the script draws what is in
 * the data, which is JSON:
 *
 *     {"model": trellis_model_info(), "evaluation": trellis_evaluation_report(),
 *      "inspection": trellis_inspection_report(), "errors": [...], ...}
 *
 * A sequence among the errors is [line, words, gold labels, predicted labels, probabilities in
 * percent], with labels as indices into "error_labels". Where two models are compared, the labels
 * that the other one predicted follow, and "against" has its name, its evaluation and the
 * comparison.
 */
#include "base/intern.h"
#include "base/options.h"
#include "base/structs.h"
#include "corpus/corpus.h"
#include "report/markup.h"
#include "report_files.h"

/* Limits for a page: bytes of errors, and features of all labels together. */
#define MAX_ERROR_BYTES 1200000
#define MAX_FEATURES 2000

/* What another model predicted, on the same data. */
struct other {
    char *name; // NULL: there is none
    trellis_evaluation *evaluation;
    TR_ARRAY(uint32_t) labels;  // [tokens] of all sequences
    TR_ARRAY(uint32_t) lengths; // [sequences]
    size_t sequence, token;     // the next ones to be compared
};

struct trellis_report {
    const trellis_model *model;
    trellis_options *options;
    char *title;
    trellis_evaluation *evaluation;
    size_t top, max_errors;
    struct tr_intern labels;
    struct tr_buffer errors; // members of an array
    uint64_t wrong,
        shown; // sequences with a wrong label (of either model); those of them on the page
    struct other other;
};

trellis_status trellis_report_create(const trellis_model *model, const trellis_options *options,
                                     const char *title, trellis_report **ret_report,
                                     trellis_error *error)
{
    if (!TR_CLEAR(ret_report) || !model || !title) {
        return tr_fail_null(error, __func__);
    }
    trellis_report *report = tr_alloc(1, sizeof *report);
    if (!report) {
        return tr_fail_memory(error);
    }
    size_t labels = trellis_model_label_count(model);
    report->model = model;
    report->top = (size_t)tr_option_integer(options, "top");
    report->max_errors = (size_t)tr_option_integer(options, "errors");
    if (report->top * labels > MAX_FEATURES) {
        report->top = MAX_FEATURES / labels + 1;
    }
    report->title = tr_copy_text(title, strlen(title));
    trellis_status status = report->title ? trellis_options_copy(options, &report->options, error)
                                          : tr_fail_memory(error);
    if (!status) {
        status = trellis_evaluation_create(report->options, &report->evaluation, error);
    }
    if (status) {
        trellis_report_destroy(report);
        return status;
    }
    *ret_report = report;
    return TRELLIS_OK;
}

void trellis_report_destroy(trellis_report *report)
{
    if (!report) {
        return;
    }
    trellis_evaluation_destroy(report->evaluation);
    trellis_evaluation_destroy(report->other.evaluation);
    trellis_options_destroy(report->options);
    free(report->other.name);
    free(report->other.labels.at);
    free(report->other.lengths.at);
    tr_intern_free(&report->labels);
    tr_buffer_free(&report->errors);
    free(report->title);
    free(report);
}

/* ---- another model --------------------------------------------------------------------------- */

trellis_status trellis_report_add_other(trellis_report *report, const char *name,
                                        const trellis_labelled *given_labels, trellis_error *error)
{
    if (!report || !name || !given_labels) {
        return tr_fail_null(error, __func__);
    }
    struct other *other = &report->other;
    trellis_labelled labelled;
    trellis_status status = TRELLIS_OK;
    if (!tr_struct_take(&labelled, sizeof labelled, given_labels)) {
        return tr_fail(error, TRELLIS_OPTION, "struct_size is not set");
    }
    if (!other->name) {
        other->name = tr_copy_text(name, strlen(name));
        status = other->name ? trellis_evaluation_create(report->options, &other->evaluation, error)
                             : tr_fail_memory(error);
    }
    if (!status) {
        status = trellis_evaluation_add_labelled(other->evaluation, &labelled, error);
    }
    for (size_t i = 0; !status && i < labelled.length; i++) {
        uint32_t number = tr_intern_add(&report->labels, labelled.predicted[i]);
        status = number != TR_NONE && tr_push(&other->labels, number) ? TRELLIS_OK
                                                                      : tr_fail_memory(error);
    }
    if (!status && !tr_push(&other->lengths, (uint32_t)labelled.length)) {
        status = tr_fail_memory(error);
    }
    return status;
}

/* The labels that the other model predicted for the next sequence; NULL without one. */
static trellis_status next_of_other(struct other *other, size_t length, const uint32_t **ret_labels,
                                    trellis_error *error)
{
    *ret_labels = NULL;
    if (!other->name) {
        return TRELLIS_OK;
    }
    if (other->sequence >= other->lengths.size || other->lengths.at[other->sequence] != length) {
        return tr_fail(error, TRELLIS_DATA, "the two models were given different sequences");
    }
    *ret_labels = other->labels.at + other->token;
    other->token += length;
    other->sequence++;
    return TRELLIS_OK;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static bool put_labels(trellis_report *report, const trellis_text *labels, size_t length)
{
    tr_buffer_string(&report->errors, ",[");
    for (size_t i = 0; i < length; i++) {
        uint32_t number = tr_intern_add(&report->labels, labels[i]);
        if (number == TR_NONE) {
            return false;
        }
        tr_buffer_format(&report->errors, i ? ",%u" : "%u", number);
    }
    tr_buffer_char(&report->errors, ']');
    return true;
}

static void put_numbers(struct tr_buffer *out, const uint32_t *numbers, size_t count)
{
    tr_buffer_string(out, ",[");
    for (size_t i = 0; i < count; i++) {
        tr_buffer_format(out, i ? ",%u" : "%u", numbers[i]);
    }
    tr_buffer_char(out, ']');
}

static bool put_error(trellis_report *report, const trellis_sequence *sequence,
                      const trellis_labelled *labelled, const uint32_t *other)
{
    struct tr_buffer *out = &report->errors;
    size_t n = sequence->length;
    tr_buffer_format(out, "%s[%llu,[", report->shown ? ",\n" : "\n",
                     (unsigned long long)sequence->line);
    for (size_t i = 0; i < n; i++) {
        tr_buffer_string(out, i ? "," : "");
        tr_buffer_json(out, sequence->columns ? sequence->cells[i * sequence->columns]
                                              : TR_TEXT("\xC2\xB7"));
    }
    tr_buffer_char(out, ']');
    bool ok = put_labels(report, labelled->gold, n) && put_labels(report, labelled->predicted, n);
    tr_buffer_string(out, ",[");
    for (size_t i = 0; labelled->marginals && i < n; i++) {
        tr_buffer_format(out, i ? ",%.0f" : "%.0f", 100 * (double)labelled->marginals[i]);
    }
    tr_buffer_char(out, ']');
    if (other) {
        put_numbers(out, other, n);
    }
    tr_buffer_char(out, ']');
    report->shown++;
    return ok && !out->failed;
}

trellis_status trellis_report_add(trellis_report *report, const trellis_sequence *given,
                                  const trellis_labelled *given_labels, trellis_error *error)
{
    if (!report || !given || !given_labels) {
        return tr_fail_null(error, __func__);
    }
    bool wrong = false;
    const uint32_t *other = NULL;
    trellis_sequence sequence;
    trellis_labelled labelled;
    tr_struct_take(&labelled, sizeof labelled, given_labels);
    trellis_status status = tr_sequence_take(given, &sequence, error);
    if (!status) {
        status = trellis_evaluation_add_labelled(report->evaluation, &labelled, error);
    }
    if (!status) {
        status = next_of_other(&report->other, labelled.length, &other, error);
    }
    for (size_t i = 0; !status && i < labelled.length; i++) {
        wrong = wrong || !tr_text_equal(labelled.gold[i], labelled.predicted[i]) ||
                (other &&
                 !tr_text_equal(labelled.gold[i], tr_intern_text(&report->labels, other[i])));
    }
    report->wrong += wrong;
    if (!status && wrong && report->shown < report->max_errors &&
        report->errors.size < MAX_ERROR_BYTES && !put_error(report, &sequence, &labelled, other)) {
        status = tr_fail_memory(error);
    }
    return status;
}

/* ---- the page -------------------------------------------------------------------------------- */

static trellis_status to_buffer(void *user, const char *data, size_t size)
{
    struct tr_buffer *buffer = user;
    tr_buffer_add(buffer, data, size);
    return buffer->failed ? TRELLIS_MEMORY : TRELLIS_OK;
}

static trellis_status put_parts(const trellis_report *report, struct tr_buffer *out,
                                trellis_error *error)
{
    trellis_inspection *inspection = NULL;
    tr_buffer_string(out, ",\n\"model\":");
    trellis_status status = trellis_model_info(report->model, true, to_buffer, out, error);
    if (!status) {
        tr_buffer_string(out, ",\n\"evaluation\":");
        status = trellis_evaluation_report(report->evaluation, true, to_buffer, out, error);
    }
    if (!status) {
        status = trellis_inspection_create(report->model, report->top, &inspection, error);
    }
    if (!status) {
        tr_buffer_string(out, ",\n\"inspection\":");
        status = trellis_inspection_report(inspection, NULL, true, to_buffer, out, error);
    }
    trellis_inspection_destroy(inspection);
    return status;
}

/* "against": the other model's name and evaluation, and the comparison. */
static trellis_status put_against(const trellis_report *report, struct tr_buffer *out,
                                  trellis_error *error)
{
    const struct other *other = &report->other;
    trellis_comparison *comparison = NULL;
    if (!other->name) {
        return TRELLIS_OK;
    }
    if (other->sequence != other->lengths.size) {
        return tr_fail(error, TRELLIS_DATA, "the two models were given different sequences");
    }
    tr_buffer_string(out, ",\n\"against\":{\"name\":");
    tr_buffer_json(out, tr_text(other->name));
    tr_buffer_string(out, ",\n\"evaluation\":");
    trellis_status status = trellis_evaluation_report(other->evaluation, TRELLIS_JSON, to_buffer,
                                                      out, error);
    if (!status) {
        status = trellis_evaluation_compare(report->evaluation, other->evaluation, &comparison,
                                            error);
    }
    if (!status) {
        tr_buffer_string(out, ",\n\"comparison\":");
        status = trellis_comparison_report(comparison, TRELLIS_JSON, to_buffer, out, error);
    }
    tr_buffer_char(out, '}');
    trellis_comparison_destroy(comparison);
    return status;
}

static trellis_status make_data(const trellis_report *report, struct tr_buffer *out,
                                trellis_error *error)
{
    tr_buffer_string(out, "{\"title\":");
    tr_buffer_json(out, tr_text(report->title));
    tr_buffer_format(out, ",\n\"wrong\":%llu,\"shown\":%llu", (unsigned long long)report->wrong,
                     (unsigned long long)report->shown);
    trellis_status status = put_parts(report, out, error);
    if (!status) {
        status = put_against(report, out, error);
    }
    tr_buffer_string(out, ",\n\"error_labels\":[");
    for (uint32_t i = 0; i < tr_intern_count(&report->labels); i++) {
        tr_buffer_string(out, i ? "," : "");
        tr_buffer_json(out, tr_intern_text(&report->labels, i));
    }
    tr_buffer_string(out, "],\n\"errors\":[");
    tr_buffer_add(out, report->errors.data, report->errors.size);
    tr_buffer_string(out, "]}\n");
    return status;
}

/* Fills in the marks {{NAME}} of the page. */
static void fill_in(const trellis_report *report, trellis_text data, struct tr_buffer *out)
{
    const char *at = (const char *)tr_page_html, *mark;
    while ((mark = strstr(at, "{{"))) {
        tr_buffer_add(out, at, (size_t)(mark - at));
        trellis_text name = {mark, strcspn(mark, "}") + 2};
        if (tr_text_is(name, "{{TITLE}}")) {
            tr_markup_text(out, tr_text(report->title));
        } else if (tr_text_is(name, "{{STYLE}}")) {
            tr_buffer_string(out, (const char *)tr_page_css);
        } else if (tr_text_is(name, "{{TOOLS}}")) {
            tr_buffer_string(out, (const char *)tr_page_tools_js);
        } else if (tr_text_is(name, "{{ERRORS}}")) {
            tr_buffer_string(out, (const char *)tr_page_errors_js);
        } else if (tr_text_is(name, "{{SCRIPT}}")) {
            tr_buffer_string(out, (const char *)tr_page_js);
        } else if (tr_text_is(name, "{{DATA}}")) {
            tr_markup_json(out, data);
        }
        at = mark + name.size;
    }
    tr_buffer_string(out, at);
}

trellis_status trellis_report_write(const trellis_report *report, trellis_sink sink, void *user,
                                    trellis_error *error)
{
    if (!report || !sink) {
        return tr_fail_null(error, __func__);
    }
    struct tr_buffer data = {0}, out = {0};
    trellis_status status = make_data(report, &data, error);
    if (!status && data.failed) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        fill_in(report, (trellis_text){data.data, data.size}, &out);
        status = tr_buffer_flush(&out, sink, user, error);
    }
    tr_buffer_free(&data);
    tr_buffer_free(&out);
    return status;
}
