/* span_outcome.c - how spans are wrong, and what a threshold would leave of the predictions.
 *
 * A span is compared with those of the other list that overlap it. Spans of a list do not overlap
 * and are in the order of their tokens, so that both lists are walked once.
 */
#include "eval/evaluation.h"

/* ---- outcomes -------------------------------------------------------------------------------- */

/* Of two spans that overlap. */
static enum tr_span_outcome compare(struct tr_span a, struct tr_span b)
{
    bool type = a.type == b.type, boundaries = a.begin == b.begin && a.end == b.end;
    return type && boundaries ? TR_SPAN_CORRECT
           : boundaries       ? TR_SPAN_TYPE
           : type             ? TR_SPAN_BOUNDARIES
                              : TR_SPAN_BOTH;
}

/* The best outcome of a span; *from is the first of the others that does not end before it. */
static enum tr_span_outcome outcome_of(struct tr_span span, const struct tr_spans *others,
                                       size_t *from, enum tr_span_outcome alone)
{
    enum tr_span_outcome best = alone;
    while (*from < others->list.size && others->list.at[*from].end <= span.begin) {
        (*from)++;
    }
    for (size_t i = *from; i < others->list.size && others->list.at[i].begin < span.end; i++) {
        enum tr_span_outcome outcome = compare(span, others->list.at[i]);
        best = outcome < best ? outcome : best;
    }
    return best;
}

void tr_span_outcomes_add(trellis_evaluation *evaluation)
{
    const struct tr_spans *gold = &evaluation->gold_spans,
                          *predicted = &evaluation->predicted_spans;
    struct tr_tally *tallies = evaluation->spans_by_outcome;
    for (size_t i = 0, from = 0; i < gold->list.size; i++) {
        enum tr_span_outcome outcome = outcome_of(gold->list.at[i], predicted, &from,
                                                  TR_SPAN_MISSED);
        tallies[outcome].gold++;
        tallies[outcome].correct += outcome == TR_SPAN_CORRECT;
    }
    for (size_t i = 0, from = 0; i < predicted->list.size; i++) {
        tallies[outcome_of(predicted->list.at[i], gold, &from, TR_SPAN_SPURIOUS)].predicted++;
    }
}

/* ---- thresholds ------------------------------------------------------------------------------ */

/* The names are in breakdown.c. */
static const float thresholds[TR_THRESHOLDS] = {0,    0.5F,  0.6F,  0.7F,  0.8F,
                                                0.9F, 0.95F, 0.98F, 0.99F, 0.999F};

static void count_prediction(struct tr_tally *tallies, float probability, bool correct)
{
    for (size_t i = 0; i < TR_THRESHOLDS && (i == 0 || probability >= thresholds[i]); i++) {
        tallies[i].predicted++;
        tallies[i].correct += correct;
    }
}

static void count_gold(struct tr_tally *tallies, size_t count)
{
    for (size_t i = 0; i < TR_THRESHOLDS; i++) {
        tallies[i].gold += count;
    }
}

static void add_spans(trellis_evaluation *evaluation, const float *probabilities)
{
    const struct tr_spans *gold = &evaluation->gold_spans,
                          *predicted = &evaluation->predicted_spans;
    for (size_t i = 0, from = 0; i < predicted->list.size; i++) {
        struct tr_span span = predicted->list.at[i];
        bool correct = outcome_of(span, gold, &from, TR_SPAN_SPURIOUS) == TR_SPAN_CORRECT;
        count_prediction(evaluation->spans_by_threshold, probabilities[span.begin], correct);
    }
    count_gold(evaluation->spans_by_threshold, gold->list.size);
}

void tr_thresholds_add(trellis_evaluation *evaluation, const trellis_labelled *sequence)
{
    if (sequence->span_probabilities) {
        add_spans(evaluation, sequence->span_probabilities);
    }
    for (size_t i = 0; sequence->marginals && i < sequence->length; i++) {
        count_prediction(evaluation->tokens_by_threshold, sequence->marginals[i],
                         evaluation->gold.at[i] == evaluation->predicted.at[i]);
    }
    count_gold(evaluation->tokens_by_threshold, sequence->marginals ? sequence->length : 0);
}
