/* evaluation_details.c - all counts of an evaluation as tables of text. */
#include <math.h>

#include "eval/evaluation_report.h"

enum { MAX_IN_MATRIX = 12, MAX_ERRORS = 20, NAME_WIDTH = 17, OUTCOME_WIDTH = 25 };

/* Precision, recall and F1 apply where gold and predicted counts may differ; elsewhere all equal
 * accuracy. */
static bool has_rates(trellis_breakdown breakdown)
{
    return breakdown == TRELLIS_BY_LABEL || breakdown == TRELLIS_BY_TYPE ||
           breakdown == TRELLIS_SPANS_BY_LENGTH || breakdown == TRELLIS_BY_THRESHOLD;
}

/* Averages make sense over labels and types only. */
static bool has_averages(trellis_breakdown breakdown)
{
    return breakdown == TRELLIS_BY_LABEL || breakdown == TRELLIS_BY_TYPE;
}

static void rate_row(struct tr_buffer *out, const trellis_row *row, const char *name)
{
    trellis_text shown = name ? tr_text(name) : row->name;
    tr_buffer_format(out, "%*.*s %9llu %9llu %9llu", NAME_WIDTH, TR_SHOW(shown),
                     (unsigned long long)row->gold, (unsigned long long)row->predicted,
                     (unsigned long long)row->correct);
    tr_buffer_format(out, "  %8.2f%% %8.2f%% %8.2f\n", 100 * row->precision, 100 * row->recall,
                     100 * row->f1);
}

static void rate_table(struct tr_buffer *out, const trellis_evaluation *evaluation,
                       trellis_breakdown breakdown)
{
    trellis_row row;
    tr_buffer_format(out, "%*s %9s %9s %9s  %9s %9s %8s\n", NAME_WIDTH, "", "gold", "predicted",
                     "correct", "precision", "recall", "F1");
    for (size_t i = 0; tr_evaluation_row(evaluation, breakdown, i, &row); i++) {
        rate_row(out, &row, NULL);
    }
    static const char *const names[] = {"micro", "macro", "weighted"};
    for (int i = TRELLIS_MICRO; has_averages(breakdown) && i <= TRELLIS_WEIGHTED; i++) {
        row = tr_evaluation_average(evaluation, breakdown, (trellis_average)i);
        rate_row(out, &row, names[i]);
    }
}

static void accuracy_table(struct tr_buffer *out, const trellis_evaluation *evaluation,
                           trellis_breakdown breakdown)
{
    bool confidence = breakdown == TRELLIS_BY_CONFIDENCE;
    trellis_row row;
    tr_buffer_format(out, "%*s %9s %9s  %9s%s\n", NAME_WIDTH, "", "total", "correct", "accuracy",
                     confidence ? " confidence" : "");
    for (size_t i = 0; tr_evaluation_row(evaluation, breakdown, i, &row); i++) {
        tr_buffer_format(out, "%*.*s %9llu %9llu  %8.2f%%", NAME_WIDTH, TR_SHOW(row.name),
                         (unsigned long long)row.gold, (unsigned long long)row.correct,
                         100 * row.recall);
        if (confidence) {
            tr_buffer_format(out, " %9.2f%%", 100 * row.confidence);
        }
        tr_buffer_char(out, '\n');
    }
}

/* Counts only. */
static void outcome_table(struct tr_buffer *out, const trellis_evaluation *evaluation)
{
    trellis_row row;
    tr_buffer_format(out, "%*s %9s %9s\n", OUTCOME_WIDTH, "", "gold", "predicted");
    for (size_t i = 0; tr_evaluation_row(evaluation, TRELLIS_SPANS_BY_OUTCOME, i, &row); i++) {
        tr_buffer_format(out, "%*.*s %9llu %9llu\n", OUTCOME_WIDTH, TR_SHOW(row.name),
                         (unsigned long long)row.gold, (unsigned long long)row.predicted);
    }
}

static void matrix(struct tr_buffer *out, const trellis_evaluation *evaluation)
{
    trellis_row gold, predicted;
    tr_buffer_format(out, "confusion matrix: rows are gold labels, columns predicted labels\n%*s",
                     NAME_WIDTH, "");
    for (size_t j = 0; tr_evaluation_row(evaluation, TRELLIS_BY_LABEL, j, &predicted); j++) {
        tr_buffer_format(out, " %9.*s", TR_SHOW(predicted.name));
    }
    tr_buffer_char(out, '\n');
    for (size_t i = 0; tr_evaluation_row(evaluation, TRELLIS_BY_LABEL, i, &gold); i++) {
        tr_buffer_format(out, "%*.*s", NAME_WIDTH, TR_SHOW(gold.name));
        for (size_t j = 0; tr_evaluation_row(evaluation, TRELLIS_BY_LABEL, j, &predicted); j++) {
            tr_buffer_format(out, " %9llu",
                             (unsigned long long)trellis_evaluation_confusion(evaluation, gold.name,
                                                                              predicted.name));
        }
        tr_buffer_char(out, '\n');
    }
    tr_buffer_char(out, '\n');
}

static void list_confusions(struct tr_buffer *out, const trellis_evaluation *evaluation)
{
    struct tr_confusion *list = tr_sorted_confusions(evaluation);
    size_t count = evaluation->confusion_counts.size;
    out->failed = out->failed || !list;
    if (count) {
        tr_buffer_format(out, "most frequent errors\n%*s %9s %9s\n", NAME_WIDTH, "gold",
                         "predicted", "tokens");
    }
    for (size_t i = 0; list && i < count && i < MAX_ERRORS; i++) {
        tr_buffer_format(out, "%*.*s %9.*s %9llu\n", NAME_WIDTH, TR_SHOW(list[i].gold),
                         TR_SHOW(list[i].predicted), (unsigned long long)list[i].count);
    }
    tr_buffer_string(out, count ? "\n" : "");
    free(list);
}

static void likelihood(struct tr_buffer *out, const trellis_evaluation *evaluation)
{
    trellis_scores scores = tr_evaluation_scores(evaluation);
    if (!isnan(scores.perplexity)) {
        tr_buffer_format(out, "log-probability of the sequences: %.2f, perplexity %.3f per token\n",
                         scores.log_probability, scores.perplexity);
    }
    if (evaluation->likely || evaluation->impossible) {
        tr_buffer_format(out, "log-likelihood of the gold labels: %.2f, %.4f per sequence",
                         scores.log_likelihood, scores.log_likelihood / (double)evaluation->likely);
        if (scores.impossible) {
            tr_buffer_format(out, "; excludes %llu sequence%s with probability 0",
                             TR_COUNTED(scores.impossible));
        }
        tr_buffer_char(out, '\n');
    }
    if (!isnan(scores.calibration_error)) {
        tr_buffer_format(out, "expected calibration error: %.4f\n", scores.calibration_error);
    }
}

void tr_report_details(struct tr_buffer *out, const trellis_evaluation *evaluation)
{
    for (int i = 0; i < TR_BREAKDOWNS; i++) {
        trellis_breakdown breakdown = (trellis_breakdown)i;
        if (tr_breakdown_applies(evaluation, breakdown)) {
            tr_buffer_format(out, "%s\n", trellis_breakdown_title(breakdown));
            if (breakdown == TRELLIS_SPANS_BY_OUTCOME) {
                outcome_table(out, evaluation);
            } else if (has_rates(breakdown)) {
                rate_table(out, evaluation, breakdown);
            } else {
                accuracy_table(out, evaluation, breakdown);
            }
            tr_buffer_char(out, '\n');
        }
    }
    if (evaluation->labels.order.size <= MAX_IN_MATRIX) {
        matrix(out, evaluation);
    } else {
        list_confusions(out, evaluation);
    }
    trellis_scores scores = tr_evaluation_scores(evaluation);
    tr_buffer_format(out, "sequence accuracy: %.2f%% (%llu of %llu)\n",
                     100 * tr_ratio(scores.sequences_correct, scores.sequences),
                     (unsigned long long)scores.sequences_correct,
                     (unsigned long long)scores.sequences);
    likelihood(out, evaluation);
}
