/* evaluation.h - the counts of an evaluation, for counting and reports. */
#ifndef TRELLIS_EVAL_EVALUATION_H
#define TRELLIS_EVAL_EVALUATION_H

#include "base/intern.h"
#include "eval/spans.h"

enum { TR_RANGES = 17, TR_CONFIDENCES = 10, TR_THRESHOLDS = 10 };
/* How many there are of trellis_measure and of trellis_breakdown. */
#define TR_MEASURES (TRELLIS_F1 + 1)
#define TR_BREAKDOWNS (TRELLIS_BY_THRESHOLD + 1)

/* What became of a span; see trellis_breakdown. */
enum tr_span_outcome {
    TR_SPAN_CORRECT,
    TR_SPAN_TYPE,
    TR_SPAN_BOUNDARIES,
    TR_SPAN_BOTH,
    TR_SPAN_MISSED,
    TR_SPAN_SPURIOUS,
    TR_SPAN_OUTCOMES
};

/* In the gold labels, in the labels predicted, and in both at the same place. */
struct tr_tally {
    uint64_t gold, predicted, correct;
};

/* Texts with a tally each. */
struct tr_names_tally {
    struct tr_intern names;
    TR_ARRAY(struct tr_tally) tallies; // [names]
    TR_ARRAY(uint32_t) order;          // [names] numbers in the order of their texts
};

/* How one sequence was labelled. */
struct tr_outcome {
    uint64_t gold_key; // of its gold labels
    uint32_t tokens, tokens_correct, spans_gold, spans_predicted, spans_correct;
};

struct trellis_evaluation {
    trellis_scheme strict; // spans must be legal in it; TRELLIS_NO_SCHEME: conlleval's reading
    bool clusters;         // --clusters: predicted labels are states learned without labels
    bool has_spans;        // every gold label so far is part of a scheme of spans
    struct tr_tally sequences, tokens, spans;

    struct tr_names_tally labels;            // of tokens
    TR_ARRAY(struct tr_span_label) readings; // [labels] how each is read
    struct tr_names_tally types;             // of spans
    struct tr_intern confusions;         // (gold, predicted) of tokens that are wrong, 4 bytes each
    TR_ARRAY(uint64_t) confusion_counts; // [confusions]

    /* Breakdowns into fixed parts; see breakdown.c. */
    struct tr_tally by_word[2]; // in vocabulary, out of vocabulary
    struct tr_tally by_length[TR_RANGES], by_position[TR_RANGES];
    struct tr_tally sequences_by_length[TR_RANGES], spans_by_length[TR_RANGES];
    struct tr_tally by_confidence[TR_CONFIDENCES];
    double confidence[TR_CONFIDENCES]; // the sum of the probabilities
    struct tr_tally spans_by_outcome[TR_SPAN_OUTCOMES];
    /* Predictions with a probability, and the gold ones in their sequences. */
    struct tr_tally tokens_by_threshold[TR_THRESHOLDS], spans_by_threshold[TR_THRESHOLDS];

    uint64_t likely, impossible; // sequences with a likelihood, and those for which it is 0
    double log_likelihood;       // of the likely ones
    double log_probability;      // of the sequences that can be, under an HMM
    uint64_t probable_tokens;    // in those

    /* For samples of the sequences and for comparisons. */
    TR_ARRAY(struct tr_outcome) outcomes; // [sequences]
    TR_ARRAY(uint8_t) correct_bits;       // [tokens / 8] whether each token is correct
    uint64_t bootstrap, shuffles, seed;   // the options

    /* Of the current sequence. */
    TR_ARRAY(uint32_t) gold, predicted; // [length] numbers of labels
    struct tr_spans gold_spans, predicted_spans;
};

/* Ratios from 0 to 1; 0 where the denominator is 0. */
struct tr_rates {
    double precision, recall, f1;
};
double tr_ratio(uint64_t part, uint64_t whole);
struct tr_rates tr_rates(struct tr_tally tally);

/* The number of a name, which is added with a tally of its own; TR_NONE on allocation failure. */
uint32_t tr_names_tally_add(struct tr_names_tally *list, trellis_text name);
void tr_names_tally_free(struct tr_names_tally *list);

/* The public functions of the same names, in the size of the library. */
trellis_scores tr_evaluation_scores(const trellis_evaluation *evaluation);
bool tr_evaluation_row(const trellis_evaluation *evaluation, trellis_breakdown breakdown,
                       size_t index, trellis_row *ret_row);
trellis_row tr_evaluation_average(const trellis_evaluation *evaluation, trellis_breakdown breakdown,
                                  trellis_average average);

/* The comparison of two evaluations (compare.c). */
struct trellis_comparison {
    bool has_spans; // otherwise precision, recall and F1 are meaningless
    trellis_contrast measures[TR_MEASURES];
    trellis_comparison_info info;
};

/* Counts the current sequence in all breakdowns (breakdown.c). */
void tr_breakdown_add(trellis_evaluation *evaluation, const trellis_labelled *sequence,
                      bool all_correct);
/* Counts spans by their length. */
void tr_breakdown_add_span(trellis_evaluation *evaluation, struct tr_span span,
                           struct tr_tally count);

/* Counts the current sequence by what became of its spans, and by threshold
 * (span_outcome.c). */
void tr_span_outcomes_add(trellis_evaluation *evaluation);
void tr_thresholds_add(trellis_evaluation *evaluation, const trellis_labelled *sequence);

#endif
