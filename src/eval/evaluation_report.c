/* evaluation_report.c - the report of an evaluation in the format of conlleval.
 *
 * The lines are those that conlleval prints, figure for figure. Labels that are not parts of spans
 * get the same table by label. Tables and JSON have files of their own.
 */
#include "eval/evaluation_report.h"

#include "eval/clusters.h"

static int compare_confusions(const void *a, const void *b)
{
    const struct tr_confusion *x = a, *y = b;
    if (x->count != y->count) {
        return x->count < y->count ? 1 : -1;
    }
    int order = tr_text_compare(x->gold, y->gold);
    return order ? order : tr_text_compare(x->predicted, y->predicted);
}

struct tr_confusion *tr_sorted_confusions(const trellis_evaluation *evaluation)
{
    size_t count = evaluation->confusion_counts.size;
    struct tr_confusion *list = tr_alloc(count, sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        uint32_t pair[2];
        memcpy(pair, tr_intern_text(&evaluation->confusions, (uint32_t)i).data, sizeof pair);
        list[i] = (struct tr_confusion){tr_intern_text(&evaluation->labels.names, pair[0]),
                                        tr_intern_text(&evaluation->labels.names, pair[1]),
                                        evaluation->confusion_counts.at[i]};
    }
    if (list) {
        qsort(list, count, sizeof *list, compare_confusions);
    }
    return list;
}

bool tr_breakdown_applies(const trellis_evaluation *evaluation, trellis_breakdown breakdown)
{
    trellis_row row;
    bool of_spans = breakdown == TRELLIS_BY_TYPE || breakdown == TRELLIS_SPANS_BY_LENGTH ||
                    breakdown == TRELLIS_SPANS_BY_OUTCOME;
    return tr_evaluation_row(evaluation, breakdown, 0, &row) &&
           (!of_spans || tr_evaluation_scores(evaluation).has_spans);
}

/* ---- conlleval's lines ----------------------------------------------------------------------- */

/* Per cent, multiplied and divided in conlleval's order, so that ties are rounded to the same
 * side. */
static struct tr_rates percents(uint64_t gold, uint64_t predicted, uint64_t correct)
{
    struct tr_rates rates = {predicted ? 100.0 * (double)correct / (double)predicted : 0,
                             gold ? 100.0 * (double)correct / (double)gold : 0, 0};
    double sum = rates.precision + rates.recall;
    rates.f1 = sum > 0 ? 2 * rates.precision * rates.recall / sum : 0;
    return rates;
}

static void rate_lines(struct tr_buffer *out, const trellis_evaluation *evaluation,
                       trellis_breakdown breakdown)
{
    bool spans = breakdown == TRELLIS_BY_TYPE;
    trellis_row row;
    for (size_t i = 0; tr_evaluation_row(evaluation, breakdown, i, &row); i++) {
        struct tr_rates rates = percents(row.gold, row.predicted, row.correct);
        tr_buffer_format(out, "%17.*s: precision: %6.2f%%; recall: %6.2f%%; %s: %6.2f  %llu\n",
                         TR_SHOW(row.name), rates.precision, rates.recall, spans ? "FB1" : "F1",
                         rates.f1, (unsigned long long)(spans ? row.predicted : row.gold));
    }
}

static void span_lines(struct tr_buffer *out, const trellis_evaluation *evaluation)
{
    struct tr_tally tokens = evaluation->tokens, spans = evaluation->spans;
    tr_buffer_format(out, "processed %llu tokens with %llu phrases; ",
                     (unsigned long long)tokens.gold, (unsigned long long)spans.gold);
    tr_buffer_format(out, "found: %llu phrases; correct: %llu.\n",
                     (unsigned long long)spans.predicted, (unsigned long long)spans.correct);
    struct tr_rates rates = percents(spans.gold, spans.predicted, spans.correct);
    tr_buffer_format(out, "accuracy: %6.2f%%; precision: %6.2f%%; recall: %6.2f%%; FB1: %6.2f\n",
                     percents(tokens.gold, tokens.gold, tokens.correct).precision, rates.precision,
                     rates.recall, rates.f1);
    rate_lines(out, evaluation, TRELLIS_BY_TYPE);
}

static void label_lines(struct tr_buffer *out, const trellis_evaluation *evaluation)
{
    struct tr_tally tokens = evaluation->tokens, sequences = evaluation->sequences;
    tr_buffer_format(out, "processed %llu token%s in %llu sequence%s; ", TR_COUNTED(tokens.gold),
                     TR_COUNTED(sequences.gold));
    tr_buffer_format(out, "correct: %llu token%s, %llu sequence%s.\n", TR_COUNTED(tokens.correct),
                     TR_COUNTED(sequences.correct));
    tr_buffer_format(out, "accuracy: %6.2f%%; sequence accuracy: %6.2f%%\n",
                     percents(tokens.gold, tokens.gold, tokens.correct).precision,
                     percents(sequences.gold, sequences.gold, sequences.correct).precision);
    rate_lines(out, evaluation, TRELLIS_BY_LABEL);
}

static void interval_line(struct tr_buffer *out, const trellis_evaluation *evaluation,
                          const trellis_interval *intervals)
{
    bool spans = tr_evaluation_scores(evaluation).has_spans;
    tr_buffer_format(out,
                     "95%% intervals of %llu samples:", (unsigned long long)evaluation->bootstrap);
    for (int m = 0; m < (spans ? TR_MEASURES : TRELLIS_PRECISION); m++) {
        tr_buffer_format(out, "%s %s %.2f to %.2f", m ? ";" : "",
                         trellis_measure_name((trellis_measure)m), 100 * intervals[m].low,
                         100 * intervals[m].high);
    }
    tr_buffer_char(out, '\n');
}

trellis_status trellis_evaluation_report(const trellis_evaluation *evaluation,
                                         trellis_report_form form, trellis_sink sink, void *user,
                                         trellis_error *error)
{
    if (!evaluation || !sink) {
        return tr_fail_null(error, __func__);
    }
    trellis_interval intervals[TR_MEASURES];
    bool has_intervals = evaluation->bootstrap && evaluation->outcomes.size;
    struct tr_buffer out = {0};
    trellis_status status = trellis_evaluation_intervals(evaluation, intervals, TR_MEASURES, error);
    if (status) {
        return status;
    }
    if (evaluation->clusters) {
        status = tr_clusters_report(evaluation, form == TRELLIS_JSON, &out, error);
    } else if (form == TRELLIS_JSON) {
        tr_report_json(&out, evaluation, has_intervals ? intervals : NULL);
    } else {
        if (form == TRELLIS_DETAILS) {
            tr_report_details(&out, evaluation);
        }
        if (has_intervals) {
            interval_line(&out, evaluation, intervals);
        }
        if (tr_evaluation_scores(evaluation).has_spans) {
            span_lines(&out, evaluation);
        } else {
            label_lines(&out, evaluation);
        }
    }
    if (!status) {
        status = tr_buffer_flush(&out, sink, user, error);
    }
    tr_buffer_free(&out);
    return status;
}
