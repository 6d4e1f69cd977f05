/* evaluation_json.c - all counts of an evaluation as one JSON object. */
#include <math.h>

#include "eval/evaluation_report.h"

static void json_count(struct tr_buffer *out, const char *key, uint64_t value)
{
    tr_buffer_format(out, "  \"%s\": %llu,\n", key, (unsigned long long)value);
}

static void json_share(struct tr_buffer *out, const char *key, double value)
{
    tr_buffer_format(out, "  \"%s\": ", key);
    tr_buffer_real(out, value);
    tr_buffer_string(out, ",\n");
}

static void totals(struct tr_buffer *out, const trellis_evaluation *evaluation)
{
    trellis_scores scores = tr_evaluation_scores(evaluation);
    json_count(out, "sequences", scores.sequences);
    json_count(out, "sequences_correct", scores.sequences_correct);
    json_share(out, "sequence_accuracy", tr_ratio(scores.sequences_correct, scores.sequences));
    json_count(out, "tokens", scores.tokens);
    json_count(out, "tokens_correct", scores.tokens_correct);
    json_share(out, "accuracy", scores.accuracy);
    json_count(out, "labels", evaluation->labels.order.size);
    tr_buffer_format(out, "  \"has_spans\": %s,\n", scores.has_spans ? "true" : "false");
    if (scores.has_spans) {
        json_count(out, "spans_gold", scores.spans_gold);
        json_count(out, "spans_predicted", scores.spans_predicted);
        json_count(out, "spans_correct", scores.spans_correct);
        json_share(out, "precision", scores.precision);
        json_share(out, "recall", scores.recall);
        json_share(out, "f1", scores.f1);
    }
    if (evaluation->likely || evaluation->impossible) {
        json_share(out, "log_likelihood", scores.log_likelihood);
        json_count(out, "impossible", scores.impossible);
    }
    if (!isnan(scores.perplexity)) {
        json_share(out, "log_probability", scores.log_probability);
        json_share(out, "perplexity", scores.perplexity);
    }
    if (!isnan(scores.calibration_error)) {
        json_share(out, "calibration_error", scores.calibration_error);
    }
}

/* "precision": X, "recall": X, "f1": X */
static void rates(struct tr_buffer *out, const trellis_row *row)
{
    tr_buffer_string(out, "\"precision\": ");
    tr_buffer_real(out, row->precision);
    tr_buffer_string(out, ", \"recall\": ");
    tr_buffer_real(out, row->recall);
    tr_buffer_string(out, ", \"f1\": ");
    tr_buffer_real(out, row->f1);
}

static const char *name_key(trellis_breakdown breakdown)
{
    return breakdown == TRELLIS_BY_LABEL           ? "label"
           : breakdown == TRELLIS_BY_TYPE          ? "type"
           : breakdown == TRELLIS_BY_WORD          ? "words"
           : breakdown == TRELLIS_SPANS_BY_OUTCOME ? "outcome"
           : breakdown == TRELLIS_BY_THRESHOLD     ? "threshold"
                                                   : "range";
}

/* "KEY": [ one object for each row ], */
static void rows(struct tr_buffer *out, const trellis_evaluation *evaluation,
                 trellis_breakdown breakdown)
{
    trellis_row row;
    tr_buffer_format(out, "  \"%s\": [", trellis_breakdown_key(breakdown));
    for (size_t i = 0; tr_evaluation_row(evaluation, breakdown, i, &row); i++) {
        tr_buffer_format(out, "%s    {\"%s\": ", i ? ",\n" : "\n", name_key(breakdown));
        tr_buffer_json(out, row.name);
        tr_buffer_format(out, ", \"gold\": %llu, \"predicted\": %llu, \"correct\": %llu, ",
                         (unsigned long long)row.gold, (unsigned long long)row.predicted,
                         (unsigned long long)row.correct);
        rates(out, &row);
        if (!isnan(row.confidence)) {
            tr_buffer_string(out, ", \"confidence\": ");
            tr_buffer_real(out, row.confidence);
        }
        tr_buffer_char(out, '}');
    }
    tr_buffer_string(out, "\n  ],\n");
}

/* Averages over types, or over labels where these are not parts of spans. */
static void averages(struct tr_buffer *out, const trellis_evaluation *evaluation)
{
    static const char *const names[] = {"micro", "macro", "weighted"};
    trellis_breakdown breakdown = tr_breakdown_applies(evaluation, TRELLIS_BY_TYPE)
                                      ? TRELLIS_BY_TYPE
                                      : TRELLIS_BY_LABEL;
    for (int i = TRELLIS_MICRO; i <= TRELLIS_WEIGHTED; i++) {
        trellis_row row = tr_evaluation_average(evaluation, breakdown, (trellis_average)i);
        tr_buffer_format(out, "  \"%s\": {", names[i]);
        rates(out, &row);
        tr_buffer_string(out, "},\n");
    }
}

static void interval_list(struct tr_buffer *out, const trellis_evaluation *evaluation,
                          const trellis_interval *intervals)
{
    tr_buffer_format(out, "  \"bootstrap\": %llu,\n  \"intervals\": {",
                     (unsigned long long)evaluation->bootstrap);
    for (int m = 0; m < TR_MEASURES; m++) {
        tr_buffer_format(out, "%s\"%s\": [", m ? ", " : "",
                         trellis_measure_name((trellis_measure)m));
        tr_buffer_real(out, intervals[m].low);
        tr_buffer_string(out, ", ");
        tr_buffer_real(out, intervals[m].high);
        tr_buffer_char(out, ']');
    }
    tr_buffer_string(out, "},\n");
}

static void confusion(struct tr_buffer *out, const trellis_evaluation *evaluation)
{
    struct tr_confusion *confusions = tr_sorted_confusions(evaluation);
    out->failed = out->failed || !confusions;
    tr_buffer_string(out, "  \"confusion\": [");
    for (size_t i = 0; confusions && i < evaluation->confusion_counts.size; i++) {
        tr_buffer_string(out, i ? ",\n    {\"gold\": " : "\n    {\"gold\": ");
        tr_buffer_json(out, confusions[i].gold);
        tr_buffer_string(out, ", \"predicted\": ");
        tr_buffer_json(out, confusions[i].predicted);
        tr_buffer_format(out, ", \"count\": %llu}", (unsigned long long)confusions[i].count);
    }
    tr_buffer_string(out, "\n  ]\n");
    free(confusions);
}

void tr_report_json(struct tr_buffer *out, const trellis_evaluation *evaluation,
                    const trellis_interval *intervals)
{
    tr_buffer_string(out, "{\n");
    totals(out, evaluation);
    averages(out, evaluation);
    if (intervals) {
        interval_list(out, evaluation, intervals);
    }
    for (int i = 0; i < TR_BREAKDOWNS; i++) {
        if (tr_breakdown_applies(evaluation, (trellis_breakdown)i)) {
            rows(out, evaluation, (trellis_breakdown)i);
        }
    }
    confusion(out, evaluation);
    tr_buffer_string(out, "}\n");
}
