/* resample.c - confidence intervals by the bootstrap (Efron and Tibshirani, 1993).
 *
 * Sequences are drawn with replacement, as many as there are; the figures of many such samples are
 * put in order, and the interval is what remains without the lowest and the highest 2.5 %.
 */
#include "eval/resample.h"

#include <math.h>

#include "base/random.h"

static const char *const names[TR_MEASURES] = {
    [TRELLIS_ACCURACY] = "accuracy",
    [TRELLIS_SEQUENCE_ACCURACY] = "sequence_accuracy",
    [TRELLIS_PRECISION] = "precision",
    [TRELLIS_RECALL] = "recall",
    [TRELLIS_F1] = "f1",
};

const char *trellis_measure_name(trellis_measure measure)
{
    return measure < TR_MEASURES ? names[measure] : NULL;
}

void tr_totals_add(struct tr_totals *totals, const struct tr_outcome *outcome)
{
    totals->sequences++;
    totals->sequences_correct += outcome->tokens_correct == outcome->tokens;
    totals->tokens += outcome->tokens;
    totals->tokens_correct += outcome->tokens_correct;
    totals->spans.gold += outcome->spans_gold;
    totals->spans.predicted += outcome->spans_predicted;
    totals->spans.correct += outcome->spans_correct;
}

double tr_totals_measure(const struct tr_totals *totals, trellis_measure measure)
{
    switch (measure) {
    case TRELLIS_ACCURACY:
        return tr_ratio(totals->tokens_correct, totals->tokens);
    case TRELLIS_SEQUENCE_ACCURACY:
        return tr_ratio(totals->sequences_correct, totals->sequences);
    case TRELLIS_PRECISION:
        return tr_rates(totals->spans).precision;
    case TRELLIS_RECALL:
        return tr_rates(totals->spans).recall;
    case TRELLIS_F1:
        return tr_rates(totals->spans).f1;
    }
    return NAN;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between two values the percentile is interpolated. */
static double percentile(const double *values, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    double rest = place - (double)below;
    return below + 1 < count ? values[below] + rest * (values[below + 1] - values[below])
                             : values[count - 1];
}

/* What lies between the 2.5th and the 97.5th percentile of the values, which are put in order. */
static trellis_interval interval(double *values, size_t count)
{
    if (count == 0) {
        return (trellis_interval){NAN, NAN};
    }
    qsort(values, count, sizeof *values, by_value);
    return (trellis_interval){percentile(values, count, 0.025), percentile(values, count, 0.975)};
}

/* The measures of one sample, or their differences, at values[0], values[step], ... */
static void draw(const trellis_evaluation *first, const trellis_evaluation *second,
                 struct tr_random *random, double *values, size_t step)
{
    struct tr_totals a = {0}, b = {0};
    size_t sequences = first->outcomes.size;
    for (size_t i = 0; i < sequences; i++) {
        size_t drawn = tr_random_below(random, sequences);
        tr_totals_add(&a, &first->outcomes.at[drawn]);
        if (second) {
            tr_totals_add(&b, &second->outcomes.at[drawn]);
        }
    }
    for (int m = 0; m < TR_MEASURES; m++) {
        double measure = tr_totals_measure(&a, (trellis_measure)m);
        values[(size_t)m * step] = second ? tr_totals_measure(&b, (trellis_measure)m) - measure
                                          : measure;
    }
}

trellis_status tr_bootstrap(const trellis_evaluation *first, const trellis_evaluation *second,
                            size_t samples, trellis_interval ret_intervals[TR_MEASURES],
                            trellis_error *error)
{
    samples = first->outcomes.size ? samples : 0;
    double *values = tr_alloc(samples, TR_MEASURES * sizeof *values); // [measure][sample]
    if (!values) {
        return tr_fail_memory(error);
    }
    struct tr_random random;
    tr_random_seed(&random, first->seed);
    for (size_t k = 0; k < samples; k++) {
        draw(first, second, &random, values + k, samples);
    }
    for (int m = 0; m < TR_MEASURES; m++) {
        ret_intervals[m] = interval(values + (size_t)m * samples, samples);
    }
    free(values);
    return TRELLIS_OK;
}

trellis_status trellis_evaluation_intervals(const trellis_evaluation *evaluation,
                                            trellis_interval *ret_intervals, size_t count,
                                            trellis_error *error)
{
    if (!evaluation || (!ret_intervals && count > 0)) {
        return tr_fail_null(error, __func__);
    }
    trellis_interval intervals[TR_MEASURES];
    trellis_status status = tr_bootstrap(evaluation, NULL, evaluation->bootstrap, intervals, error);
    for (size_t m = 0; !status && m < count; m++) {
        ret_intervals[m] = m < TR_MEASURES ? intervals[m] : (trellis_interval){NAN, NAN};
    }
    return status;
}
