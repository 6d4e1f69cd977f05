/* breakdown.c - counts by label, type, vocabulary, length, position and confidence, and their
 * averages.
 *
 * Lengths and positions are counted in ranges that double in size, for sentences and short words
 * alike; probabilities in ten bins of equal width.
 */
#include <math.h>

#include "base/structs.h"
#include "eval/evaluation.h"

static const char *const ranges[TR_RANGES] = {
    "1",         "2",         "3-4",        "5-8",         "9-16",     "17-32",
    "33-64",     "65-128",    "129-256",    "257-512",     "513-1024", "1025-2048",
    "2049-4096", "4097-8192", "8193-16384", "16385-32768", "32769-",
};
static const char *const confidences[TR_CONFIDENCES] = {
    "0.0-0.1", "0.1-0.2", "0.2-0.3", "0.3-0.4", "0.4-0.5",
    "0.5-0.6", "0.6-0.7", "0.7-0.8", "0.8-0.9", "0.9-1.0",
};
static const char *const outcomes[TR_SPAN_OUTCOMES] = {
    [TR_SPAN_CORRECT] = "correct",
    [TR_SPAN_TYPE] = "wrong type",
    [TR_SPAN_BOUNDARIES] = "wrong boundaries",
    [TR_SPAN_BOTH] = "wrong type and boundaries",
    [TR_SPAN_MISSED] = "missed",
    [TR_SPAN_SPURIOUS] = "spurious",
};
static const char *const thresholds[TR_THRESHOLDS] = {
    "0", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "0.98", "0.99", "0.999",
};
static const char *const words[2] = {"in vocabulary", "OOV"};

static const struct {
    const char *key, *title;
} titles[TR_BREAKDOWNS] = {
    [TRELLIS_BY_LABEL] = {"by_label", "tokens by label"},
    [TRELLIS_BY_TYPE] = {"types", "spans by type"},
    [TRELLIS_BY_WORD] = {"by_vocabulary", "tokens in and out of vocabulary (OOV)"},
    [TRELLIS_BY_LENGTH] = {"by_length", "tokens by sequence length"},
    [TRELLIS_BY_POSITION] = {"by_position", "tokens by position"},
    [TRELLIS_SEQUENCES_BY_LENGTH] = {"sequences_by_length", "sequences by length"},
    [TRELLIS_SPANS_BY_LENGTH] = {"spans_by_length", "spans by length"},
    [TRELLIS_BY_CONFIDENCE] = {"by_confidence", "tokens by probability of the predicted label"},
    [TRELLIS_SPANS_BY_OUTCOME] = {"spans_by_outcome", "spans by outcome"},
    [TRELLIS_BY_THRESHOLD] = {"by_threshold", "predictions by threshold of their probability"},
};

const char *trellis_breakdown_key(trellis_breakdown breakdown)
{
    return breakdown < TR_BREAKDOWNS ? titles[breakdown].key : NULL;
}

const char *trellis_breakdown_title(trellis_breakdown breakdown)
{
    return breakdown < TR_BREAKDOWNS ? titles[breakdown].title : NULL;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* 1 is in range 0, 2 in 1, 3 and 4 in 2, 5 to 8 in 3, ...: the bits of n - 1. */
static size_t range_of(size_t n)
{
    size_t range = n < 2 ? 0 : (size_t)(64 - __builtin_clzll((unsigned long long)(n - 1)));
    return range < TR_RANGES ? range : TR_RANGES - 1;
}

static void count(struct tr_tally *tally, bool correct)
{
    tally->gold++;
    tally->predicted++;
    tally->correct += correct;
}

static void count_confidence(trellis_evaluation *evaluation, float probability, bool correct)
{
    float p = probability >= 0 ? fminf(probability, 1) : 0; // NaN counts as 0
    size_t bin = (size_t)(p * TR_CONFIDENCES); // in float: 0.9 is in the bin that begins there
    bin = bin < TR_CONFIDENCES ? bin : TR_CONFIDENCES - 1;
    count(&evaluation->by_confidence[bin], correct);
    evaluation->confidence[bin] += (double)p;
}

void tr_breakdown_add(trellis_evaluation *evaluation, const trellis_labelled *sequence,
                      bool all_correct)
{
    size_t length_range = range_of(sequence->length);
    count(&evaluation->sequences_by_length[length_range], all_correct);
    for (size_t i = 0; i < sequence->length; i++) {
        bool correct = evaluation->gold.at[i] == evaluation->predicted.at[i];
        count(&evaluation->by_length[length_range], correct);
        count(&evaluation->by_position[range_of(i + 1)], correct);
        if (sequence->known) {
            count(&evaluation->by_word[sequence->known[i] ? 0 : 1], correct);
        }
        if (sequence->marginals) {
            count_confidence(evaluation, sequence->marginals[i], correct);
        }
    }
}

void tr_breakdown_add_span(trellis_evaluation *evaluation, struct tr_span span,
                           struct tr_tally count)
{
    struct tr_tally *tally = &evaluation->spans_by_length[range_of(span.end - span.begin)];
    tally->gold += count.gold;
    tally->predicted += count.predicted;
    tally->correct += count.correct;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The parts of one breakdown: names and tallies, in the order in which they are shown. */
struct parts {
    size_t count;
    const struct tr_names_tally *named; // NULL: the following
    const char *const *names;
    const struct tr_tally *tallies;
    const double *confidence; // sums, or NULL
};

static struct parts parts_of(const trellis_evaluation *evaluation, trellis_breakdown breakdown)
{
    switch (breakdown) {
    case TRELLIS_BY_LABEL:
        return (struct parts){evaluation->labels.order.size, .named = &evaluation->labels};
    case TRELLIS_BY_TYPE:
        return (struct parts){evaluation->types.order.size, .named = &evaluation->types};
    case TRELLIS_BY_WORD:
        return (struct parts){2, NULL, words, evaluation->by_word, NULL};
    case TRELLIS_BY_LENGTH:
        return (struct parts){TR_RANGES, NULL, ranges, evaluation->by_length, NULL};
    case TRELLIS_BY_POSITION:
        return (struct parts){TR_RANGES, NULL, ranges, evaluation->by_position, NULL};
    case TRELLIS_SEQUENCES_BY_LENGTH:
        return (struct parts){TR_RANGES, NULL, ranges, evaluation->sequences_by_length, NULL};
    case TRELLIS_SPANS_BY_LENGTH:
        return (struct parts){TR_RANGES, NULL, ranges, evaluation->spans_by_length, NULL};
    case TRELLIS_BY_CONFIDENCE:
        return (struct parts){TR_CONFIDENCES, NULL, confidences, evaluation->by_confidence,
                              evaluation->confidence};
    case TRELLIS_SPANS_BY_OUTCOME:
        return (struct parts){TR_SPAN_OUTCOMES, NULL, outcomes, evaluation->spans_by_outcome, NULL};
    case TRELLIS_BY_THRESHOLD: {
        const struct tr_tally *all = &evaluation->spans_by_threshold[0];
        bool spans = evaluation->has_spans && all->gold + all->predicted > 0;
        return (struct parts){
            TR_THRESHOLDS, NULL, thresholds,
            spans ? evaluation->spans_by_threshold : evaluation->tokens_by_threshold, NULL};
    }
    }
    return (struct parts){0};
}

static trellis_row row_of(trellis_text name, struct tr_tally tally, double confidence)
{
    struct tr_rates rates = tr_rates(tally);
    return (trellis_row){.name = name,
                         .gold = tally.gold,
                         .predicted = tally.predicted,
                         .correct = tally.correct,
                         .precision = rates.precision,
                         .recall = rates.recall,
                         .f1 = rates.f1,
                         .confidence = confidence};
}

static trellis_row row_at(const struct parts *parts, size_t i)
{
    if (parts->named) {
        uint32_t number = parts->named->order.at[i];
        return row_of(tr_intern_text(&parts->named->names, number),
                      parts->named->tallies.at[number], NAN);
    }
    struct tr_tally tally = parts->tallies[i];
    return row_of(tr_text(parts->names[i]), tally,
                  parts->confidence && tally.gold ? parts->confidence[i] / (double)tally.gold
                                                  : NAN);
}

bool tr_evaluation_row(const trellis_evaluation *evaluation, trellis_breakdown breakdown,
                       size_t index, trellis_row *ret_row)
{
    struct parts parts = parts_of(evaluation, breakdown);
    size_t first = 0;
    if (breakdown == TRELLIS_BY_LABEL) { // each was seen
        first = index < parts.count ? index : parts.count;
        index = 0;
    }
    for (size_t i = first; i < parts.count; i++) {
        trellis_row row = row_at(&parts, i);
        if ((row.gold || row.predicted) && index-- == 0) {
            *ret_row = row;
            return true;
        }
    }
    return false;
}

bool trellis_evaluation_row(const trellis_evaluation *evaluation, trellis_breakdown breakdown,
                            size_t index, trellis_row *ret_row)
{
    if (!evaluation || !ret_row) {
        return false;
    }
    trellis_row row;
    return tr_evaluation_row(evaluation, breakdown, index, &row) &&
           tr_struct_give(&row, sizeof row, ret_row);
}

trellis_row tr_evaluation_average(const trellis_evaluation *evaluation, trellis_breakdown breakdown,
                                  trellis_average average)
{
    struct parts parts = parts_of(evaluation, breakdown);
    struct tr_tally all = {0};
    struct tr_rates sums = {0};
    double weights = 0;
    for (size_t i = 0; i < parts.count; i++) {
        trellis_row row = row_at(&parts, i);
        double weight = average == TRELLIS_WEIGHTED ? (double)row.gold
                        : row.gold || row.predicted ? 1
                                                    : 0;
        sums.precision += weight * row.precision;
        sums.recall += weight * row.recall;
        sums.f1 += weight * row.f1;
        weights += weight;
        all.gold += row.gold;
        all.predicted += row.predicted;
        all.correct += row.correct;
    }
    trellis_row row = row_of((trellis_text){"", 0}, all, NAN);
    if (average != TRELLIS_MICRO) {
        row.precision = weights > 0 ? sums.precision / weights : 0;
        row.recall = weights > 0 ? sums.recall / weights : 0;
        row.f1 = weights > 0 ? sums.f1 / weights : 0;
    }
    return row;
}

void trellis_evaluation_average(const trellis_evaluation *evaluation, trellis_breakdown breakdown,
                                trellis_average average, trellis_row *ret_row)
{
    if (!evaluation || !ret_row) {
        return;
    }
    const trellis_row row = tr_evaluation_average(evaluation, breakdown, average);
    tr_struct_give(&row, sizeof row, ret_row);
}
