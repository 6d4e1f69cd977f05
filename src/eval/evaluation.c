/* evaluation.c - counts correct tokens, sequences and spans.
 *
 * A span is correct where gold and predicted have one with the same begin, end and type; with
 *
 *     precision P = correct / predicted,   recall R = correct / gold,   F1 = 2 P R / (P + R)
 *
 * as in the conlleval program of the CoNLL shared tasks (Tjong Kim Sang and Buchholz, 2000). The
 * same three figures are kept for every label, over tokens.
 */
#include "eval/evaluation.h"

#include <math.h>

#include "base/hash.h"
#include "base/options.h"
#include "base/structs.h"

double tr_ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

struct tr_rates tr_rates(struct tr_tally tally)
{
    struct tr_rates rates = {tr_ratio(tally.correct, tally.predicted),
                             tr_ratio(tally.correct, tally.gold), 0};
    double sum = rates.precision + rates.recall;
    rates.f1 = sum > 0 ? 2 * rates.precision * rates.recall / sum : 0;
    return rates;
}

trellis_status trellis_evaluation_create(const trellis_options *options,
                                         trellis_evaluation **ret_evaluation, trellis_error *error)
{
    if (!TR_CLEAR(ret_evaluation)) {
        return tr_fail_null(error, __func__);
    }
    trellis_scheme strict = TRELLIS_NO_SCHEME;
    if (tr_option_flag(options, "strict")) {
        strict = trellis_scheme_from_name(tr_option_text(options, "scheme"));
        if (strict == TRELLIS_NO_SCHEME) {
            return tr_fail(error, TRELLIS_OPTION,
                           "--strict needs --scheme, to know which spans are legal");
        }
    }
    trellis_evaluation *evaluation = tr_alloc(1, sizeof *evaluation);
    if (!evaluation) {
        return tr_fail_memory(error);
    }
    evaluation->strict = strict;
    evaluation->clusters = tr_option_flag(options, "clusters");
    evaluation->has_spans = true;
    evaluation->bootstrap = (uint64_t)tr_option_integer(options, "bootstrap");
    evaluation->shuffles = (uint64_t)tr_option_integer(options, "shuffles");
    evaluation->seed = (uint64_t)tr_option_integer(options, "seed");
    *ret_evaluation = evaluation;
    return TRELLIS_OK;
}

void trellis_evaluation_destroy(trellis_evaluation *evaluation)
{
    if (!evaluation) {
        return;
    }
    tr_names_tally_free(&evaluation->labels);
    tr_names_tally_free(&evaluation->types);
    tr_intern_free(&evaluation->confusions);
    free(evaluation->readings.at);
    free(evaluation->confusion_counts.at);
    free(evaluation->outcomes.at);
    free(evaluation->correct_bits.at);
    free(evaluation->gold.at);
    free(evaluation->predicted.at);
    free(evaluation->gold_spans.list.at);
    free(evaluation->predicted_spans.list.at);
    free(evaluation);
}

/* ---- labels as numbers ----------------------------------------------------------------------- */

/* The position of a name in the sorted order. */
static size_t place_of(const struct tr_names_tally *list, trellis_text name)
{
    size_t low = 0, high = list->order.size;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        trellis_text there = tr_intern_text(&list->names, list->order.at[middle]);
        if (tr_text_compare(there, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t tr_names_tally_add(struct tr_names_tally *list, trellis_text name)
{
    uint32_t number = tr_intern_add(&list->names, name);
    size_t had = list->order.size;
    if (number < had || number == TR_NONE) {
        return number;
    }
    if (!tr_reserve(&list->tallies, had + 1) || !tr_reserve(&list->order, had + 1)) {
        return TR_NONE;
    }
    size_t place = place_of(list, name);
    uint32_t *at = list->order.at + place;
    memmove(at + 1, at, (had - place) * sizeof *at);
    *at = (uint32_t)had;
    list->tallies.size = list->order.size = had + 1;
    return number;
}

void tr_names_tally_free(struct tr_names_tally *list)
{
    tr_intern_free(&list->names);
    free(list->tallies.at);
    free(list->order.at);
}

/* Reads the next new label as a part of spans. */
static bool read_label(trellis_evaluation *evaluation)
{
    struct tr_span_label reading = {0};
    trellis_text type,
        label = tr_intern_text(&evaluation->labels.names, (uint32_t)evaluation->readings.size);
    reading.in_spans = tr_span_label_read(label, &reading.letter, &type);
    reading.type = tr_names_tally_add(&evaluation->types, type);
    return reading.type != TR_NONE && tr_push(&evaluation->readings, reading);
}

static bool number_label(trellis_evaluation *evaluation, trellis_text label, uint32_t *ret_number)
{
    *ret_number = tr_names_tally_add(&evaluation->labels, label);
    if (*ret_number == TR_NONE) {
        return false;
    }
    while (evaluation->readings.size <= *ret_number) {
        if (!read_label(evaluation)) {
            return false;
        }
    }
    return true;
}

static bool number_labels(trellis_evaluation *evaluation, const trellis_labelled *sequence)
{
    size_t length = sequence->length;
    if (!tr_reserve(&evaluation->gold, length) || !tr_reserve(&evaluation->predicted, length)) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (!number_label(evaluation, sequence->gold[i], &evaluation->gold.at[i]) ||
            !number_label(evaluation, sequence->predicted[i], &evaluation->predicted.at[i])) {
            return false;
        }
    }
    return true;
}

/* ---- counting -------------------------------------------------------------------------------- */

static bool count_confusion(trellis_evaluation *evaluation, uint32_t gold, uint32_t predicted)
{
    uint32_t pair[2] = {gold, predicted};
    uint32_t number = tr_intern_add(&evaluation->confusions,
                                    (trellis_text){(const char *)pair, sizeof pair});
    if (number == TR_NONE || !tr_reserve(&evaluation->confusion_counts, (size_t)number + 1)) {
        return false;
    }
    evaluation->confusion_counts.size = tr_intern_count(&evaluation->confusions);
    evaluation->confusion_counts.at[number]++;
    return true;
}

static bool count_tokens(trellis_evaluation *evaluation, size_t length, uint32_t *ret_correct)
{
    struct tr_tally *by_label = evaluation->labels.tallies.at;
    uint64_t before = evaluation->tokens.gold;
    if (!tr_reserve(&evaluation->correct_bits, (before + length + 7) / 8)) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        uint32_t gold = evaluation->gold.at[i], predicted = evaluation->predicted.at[i];
        by_label[gold].gold++;
        by_label[predicted].predicted++;
        evaluation->has_spans &= evaluation->readings.at[gold].in_spans;
        if (gold == predicted) {
            by_label[gold].correct++;
            (*ret_correct)++;
            evaluation->correct_bits.at[(before + i) / 8] |= (uint8_t)(1u << (before + i) % 8);
        } else if (!count_confusion(evaluation, gold, predicted)) {
            return false;
        }
    }
    evaluation->tokens.gold += length;
    evaluation->tokens.correct += *ret_correct;
    evaluation->sequences.gold++;
    evaluation->sequences.correct += *ret_correct == length;
    return true;
}

static bool same_span(struct tr_span a, struct tr_span b)
{
    return a.begin == b.begin && a.end == b.end && a.type == b.type;
}

static void count_span(trellis_evaluation *evaluation, struct tr_span span, struct tr_tally count)
{
    struct tr_tally *tally = &evaluation->types.tallies.at[span.type];
    tally->gold += count.gold;
    tally->predicted += count.predicted;
    tally->correct += count.correct;
    tr_breakdown_add_span(evaluation, span, count);
}

/* Both lists are in the order of their beginnings, and no two spans of a list begin together. */
static void count_spans(trellis_evaluation *evaluation, struct tr_outcome *outcome)
{
    const struct tr_spans *gold = &evaluation->gold_spans,
                          *predicted = &evaluation->predicted_spans;
    size_t g = 0;
    for (size_t f = 0; f < predicted->list.size; f++) {
        struct tr_span span = predicted->list.at[f];
        while (g < gold->list.size && gold->list.at[g].begin < span.begin) {
            g++;
        }
        bool correct = g < gold->list.size && same_span(gold->list.at[g], span);
        count_span(evaluation, span, (struct tr_tally){.predicted = 1, .correct = correct});
        outcome->spans_correct += correct;
    }
    for (g = 0; g < gold->list.size; g++) {
        count_span(evaluation, gold->list.at[g], (struct tr_tally){.gold = 1});
    }
    outcome->spans_gold = (uint32_t)gold->list.size;
    outcome->spans_predicted = (uint32_t)predicted->list.size;
    evaluation->spans.correct += outcome->spans_correct;
    evaluation->spans.gold += gold->list.size;
    evaluation->spans.predicted += predicted->list.size;
}

static uint64_t key_of(const trellis_text *labels, size_t length)
{
    uint64_t key = length;
    for (size_t i = 0; i < length; i++) {
        key = tr_fold(key ^ tr_hash64(labels[i].data, labels[i].size), 0x9E3779B97F4A7C15u) + i;
    }
    return key;
}

static void count_likelihood(trellis_evaluation *evaluation, const double *log_likelihood)
{
    if (log_likelihood && isfinite(*log_likelihood)) {
        evaluation->likely++;
        evaluation->log_likelihood += *log_likelihood;
    } else if (log_likelihood) {
        evaluation->impossible++;
    }
}

static trellis_status add(trellis_evaluation *evaluation, const trellis_labelled *sequence,
                          trellis_error *error)
{
    size_t length = sequence->length;
    if (length >= UINT32_MAX) {
        return tr_fail(error, TRELLIS_LIMIT, "a sequence of more than 4 billion tokens");
    }
    struct tr_outcome outcome = {.tokens = (uint32_t)length};
    if (!number_labels(evaluation, sequence) ||
        !tr_reserve(&evaluation->outcomes, evaluation->outcomes.size + 1) ||
        !tr_spans_find(&evaluation->gold_spans, evaluation->gold.at, length,
                       evaluation->readings.at, evaluation->strict) ||
        !tr_spans_find(&evaluation->predicted_spans, evaluation->predicted.at, length,
                       evaluation->readings.at, evaluation->strict) ||
        !count_tokens(evaluation, length, &outcome.tokens_correct)) {
        return tr_fail_memory(error);
    }
    count_spans(evaluation, &outcome);
    tr_span_outcomes_add(evaluation);
    tr_thresholds_add(evaluation, sequence);
    count_likelihood(evaluation, sequence->log_likelihood);
    if (sequence->log_probability && isfinite(*sequence->log_probability)) {
        evaluation->log_probability += *sequence->log_probability;
        evaluation->probable_tokens += sequence->length;
    }
    tr_breakdown_add(evaluation, sequence, outcome.tokens_correct == length);
    outcome.gold_key = key_of(sequence->gold, length);
    evaluation->outcomes.at[evaluation->outcomes.size++] = outcome;
    return TRELLIS_OK;
}

trellis_status trellis_evaluation_add_labelled(trellis_evaluation *evaluation,
                                               const trellis_labelled *sequence,
                                               trellis_error *error)
{
    if (!evaluation || !sequence) {
        return tr_fail_null(error, __func__);
    }
    trellis_labelled given;
    if (!tr_struct_take(&given, sizeof given, sequence)) {
        return tr_fail(error, TRELLIS_OPTION, "struct_size is not set");
    }
    return given.length && (!given.gold || !given.predicted)
               ? tr_fail(error, TRELLIS_DATA, "a sequence without gold or without predicted labels")
               : add(evaluation, &given, error);
}

trellis_status trellis_evaluation_add(trellis_evaluation *evaluation, const trellis_text *gold,
                                      const trellis_text *predicted, size_t length,
                                      trellis_error *error)
{
    if (!evaluation || (!gold && length > 0) || (!predicted && length > 0)) {
        return tr_fail_null(error, __func__);
    }
    trellis_labelled sequence = {.length = length, .gold = gold, .predicted = predicted};
    return add(evaluation, &sequence, error);
}

/* sum over bins of |correct - sum of probabilities| / tokens, which is the mean of |accuracy -
 * confidence| weighted by how many tokens a bin has (Naeini, Cooper and Hauskrecht, 2015). */
static double calibration_error(const trellis_evaluation *evaluation)
{
    double sum = 0;
    uint64_t tokens = 0;
    for (int i = 0; i < TR_CONFIDENCES; i++) {
        sum += fabs((double)evaluation->by_confidence[i].correct - evaluation->confidence[i]);
        tokens += evaluation->by_confidence[i].gold;
    }
    return tokens ? sum / (double)tokens : NAN;
}

trellis_scores tr_evaluation_scores(const trellis_evaluation *evaluation)
{
    struct tr_rates rates = tr_rates(evaluation->spans);
    return (trellis_scores){
        .sequences = evaluation->sequences.gold,
        .sequences_correct = evaluation->sequences.correct,
        .tokens = evaluation->tokens.gold,
        .tokens_correct = evaluation->tokens.correct,
        .spans_gold = evaluation->spans.gold,
        .spans_predicted = evaluation->spans.predicted,
        .spans_correct = evaluation->spans.correct,
        .accuracy = tr_ratio(evaluation->tokens.correct, evaluation->tokens.gold),
        .precision = rates.precision,
        .recall = rates.recall,
        .f1 = rates.f1,
        .has_spans = evaluation->has_spans && evaluation->tokens.gold > 0,
        .log_likelihood = evaluation->likely ? evaluation->log_likelihood : NAN,
        .log_probability = evaluation->probable_tokens ? evaluation->log_probability : NAN,
        .perplexity = evaluation->probable_tokens
                          ? exp(-evaluation->log_probability / (double)evaluation->probable_tokens)
                          : NAN,
        .impossible = evaluation->impossible,
        .calibration_error = calibration_error(evaluation),
    };
}

void trellis_evaluation_scores(const trellis_evaluation *evaluation, trellis_scores *ret_scores)
{
    if (!evaluation || !ret_scores) {
        return;
    }
    const trellis_scores scores = tr_evaluation_scores(evaluation);
    tr_struct_give(&scores, sizeof scores, ret_scores);
}

uint64_t trellis_evaluation_confusion(const trellis_evaluation *evaluation, trellis_text gold,
                                      trellis_text predicted)
{
    if (!evaluation) {
        return 0;
    }
    uint32_t pair[2] = {tr_intern_find(&evaluation->labels.names, gold),
                        tr_intern_find(&evaluation->labels.names, predicted)};
    if (pair[0] == TR_NONE || pair[1] == TR_NONE) {
        return 0;
    }
    if (pair[0] == pair[1]) {
        return evaluation->labels.tallies.at[pair[0]].correct;
    }
    uint32_t number = tr_intern_find(&evaluation->confusions,
                                     (trellis_text){(const char *)pair, sizeof pair});
    return number == TR_NONE ? 0 : evaluation->confusion_counts.at[number];
}
