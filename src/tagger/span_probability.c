/* span_probability.c - the probability of a span, and the spans below a threshold.
 *
 * The labels of a span depend on each other, so its probability is not a product of theirs. It is
 *
 *     P(span | x) = Z(labels of the span, a cut before it, a cut after it) / Z
 *
 * where a cut restricts the neighbouring token to the labels from which, or to which, the span does
 * not extend. For a threshold most spans need no such sum: with m_i the marginals of its labels and
 * of the cuts,
 *
 *     1 - sum_i (1 - m_i)  <=  P(span | x)  <=  min_i m_i
 */
#include <math.h>

#include "eval/spans.h"
#include "tagger/tagger.h"

/* The rounding error allowed for in a bound. */
#define BOUND_ERROR 1e-4

struct tr_span_rules {
    const trellis_model *model;
    struct tr_span_label *readings; // [labels]
    bool apply;
    TR_ARRAY(uint32_t) labels; // [length] of a path
    struct tr_spans spans;
    uint16_t *before, *after; // [labels] scratch: allowed beside a span
    size_t before_count, after_count;
    TR_ARRAY(struct tr_restriction) restrictions;
};

trellis_status tr_span_rules_create(const trellis_model *model, struct tr_span_rules **ret_rules,
                                    trellis_error *error)
{
    struct tr_intern types = {0};
    struct tr_span_rules *rules = tr_alloc(1, sizeof *rules);
    bool ok = rules != NULL;
    *ret_rules = NULL;
    if (ok) {
        rules->model = model;
        rules->apply = true;
        rules->readings = tr_alloc(model->label_count, sizeof *rules->readings);
        rules->before = tr_alloc(model->label_count, sizeof *rules->before);
        rules->after = tr_alloc(model->label_count, sizeof *rules->after);
        ok = rules->readings && rules->before && rules->after;
    }
    for (uint32_t i = 0; ok && i < model->label_count; i++) {
        struct tr_span_label *reading = &rules->readings[i];
        trellis_text type;
        reading->in_spans = tr_span_label_read(model->labels[i], &reading->letter, &type);
        reading->type = tr_intern_add(&types, type);
        rules->apply = rules->apply && reading->in_spans;
        ok = reading->type != TR_NONE;
    }
    tr_intern_free(&types);
    if (!ok) {
        tr_span_rules_destroy(rules);
        return tr_fail_memory(error);
    }
    *ret_rules = rules;
    return TRELLIS_OK;
}

void tr_span_rules_destroy(struct tr_span_rules *rules)
{
    if (!rules) {
        return;
    }
    free(rules->readings);
    free(rules->labels.at);
    free(rules->spans.list.at);
    free(rules->before);
    free(rules->after);
    free(rules->restrictions.at);
    free(rules);
}

bool tr_span_rules_apply(const struct tr_span_rules *rules)
{
    return rules->apply;
}

/* ---- one span -------------------------------------------------------------------------------- */

/* The labels allowed before and after. Labels that are not parts of spans allow any. */
static void find_neighbours(struct tr_span_rules *rules, uint16_t first, uint16_t last)
{
    const struct tr_span_label *readings = rules->readings;
    rules->before_count = rules->after_count = 0;
    for (uint32_t c = 0; c < rules->model->label_count; c++) {
        if (!rules->apply || tr_span_cut(readings[c], readings[first])) {
            rules->before[rules->before_count++] = (uint16_t)c;
        }
        if (!rules->apply || tr_span_cut(readings[last], readings[c])) {
            rules->after[rules->after_count++] = (uint16_t)c;
        }
    }
}

trellis_status tr_span_probability(struct tr_span_rules *rules,
                                   const struct tr_tagging_result *result, size_t begin, size_t end,
                                   double *ret_probability, trellis_error *error)
{
    const uint16_t *path = result->path;
    double log_z = 0;
    *ret_probability = 0;
    find_neighbours(rules, path[begin], path[end - 1]);
    rules->restrictions.size = 0;
    bool ok = tr_reserve(&rules->restrictions, end - begin + 2);
    for (size_t i = begin; ok && i < end; i++) {
        ok = tr_push(&rules->restrictions, (struct tr_restriction){i, &path[i], 1});
    }
    if (ok && begin > 0) {
        ok = tr_push(&rules->restrictions,
                     (struct tr_restriction){begin - 1, rules->before, rules->before_count});
    }
    if (ok && end < result->length) {
        ok = tr_push(&rules->restrictions,
                     (struct tr_restriction){end, rules->after, rules->after_count});
    }
    trellis_status status = ok ? tr_lattice_restricted_log_z(
                                     result->lattice, result->steps, rules->restrictions.at,
                                     rules->restrictions.size, &log_z, error)
                               : tr_fail_memory(error);
    if (!status) {
        *ret_probability = fmin(1, exp(log_z - result->log_z)); // both were rounded
    }
    return status;
}

/* ---- all spans of a path --------------------------------------------------------------------- */

static double sum_marginals(const float *row, const uint16_t *labels, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        sum += (double)row[labels[k]];
    }
    return sum;
}

/* Bounds of the probability of a span, from the marginals. */
static void bound_probability(struct tr_span_rules *rules, const struct tr_tagging_result *result,
                              const float *marginals, struct tr_span span, double *ret_low,
                              double *ret_high)
{
    const uint16_t *path = result->path;
    size_t width = result->graph->width;
    double low = 1, high = 1;
    find_neighbours(rules, path[span.begin], path[span.end - 1]);
    for (size_t i = span.begin; i < span.end; i++) {
        double m = (double)marginals[i * width + path[i]];
        low -= 1 - m;
        high = fmin(high, m);
    }
    if (span.begin > 0) {
        const float *row = marginals + (span.begin - 1) * width;
        double m = sum_marginals(row, rules->before, rules->before_count);
        low -= 1 - m;
        high = fmin(high, m);
    }
    if (span.end < result->length) {
        double m = sum_marginals(marginals + span.end * width, rules->after, rules->after_count);
        low -= 1 - m;
        high = fmin(high, m);
    }
    *ret_low = low;
    *ret_high = high;
}

/* Marks the spans whose upper bound is below the threshold, and keeps in the list those still
 * undecided. */
static void apply_bounds(struct tr_span_rules *rules, const struct tr_tagging_result *result,
                         double threshold, bool *marks)
{
    const float *marginals = tr_lattice_node_marginals(result->lattice);
    size_t undecided = 0;
    for (size_t k = 0; k < rules->spans.list.size; k++) {
        struct tr_span span = rules->spans.list.at[k];
        double low, high;
        bound_probability(rules, result, marginals, span, &low, &high);
        if (high < threshold - BOUND_ERROR) {
            memset(marks + span.begin, true, span.end - span.begin);
        } else if (!(low >= threshold + BOUND_ERROR)) {
            rules->spans.list.at[undecided++] = span;
        }
    }
    rules->spans.list.size = undecided;
}

static trellis_status mark_spans(struct tr_span_rules *rules,
                                 const struct tr_tagging_result *result, double threshold,
                                 bool *marks, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (!tr_reserve(&rules->labels, result->length)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < result->length; i++) {
        rules->labels.at[i] = result->path[i];
    }
    if (!tr_spans_find(&rules->spans, rules->labels.at, result->length, rules->readings,
                       TRELLIS_NO_SCHEME)) {
        return tr_fail_memory(error);
    }
    apply_bounds(rules, result, threshold, marks);
    for (size_t k = 0; !status && k < rules->spans.list.size; k++) {
        struct tr_span span = rules->spans.list.at[k];
        double probability;
        status = tr_span_probability(rules, result, span.begin, span.end, &probability, error);
        if (!status && probability < threshold) {
            memset(marks + span.begin, true, span.end - span.begin);
        }
    }
    return status;
}

trellis_status tr_mark_improbable(struct tr_span_rules *rules,
                                  const struct tr_tagging_result *result, double threshold,
                                  bool *marks, trellis_error *error)
{
    memset(marks, 0, result->length * sizeof *marks);
    if (rules->apply) {
        return mark_spans(rules, result, threshold, marks, error);
    }
    const float *marginals = tr_lattice_node_marginals(result->lattice);
    for (size_t i = 0; i < result->length; i++) {
        float m = marginals[i * result->graph->width + result->path[i]];
        marks[i] = (double)m < threshold;
    }
    return TRELLIS_OK;
}
