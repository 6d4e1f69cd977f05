/* evaluation.c - counts what was right: tokens, sequences and spans.
 *
 * A span is right where gold and found have one with the same begin, end and type; with
 *
 *     precision P = right / found,   recall R = right / gold,   F1 = 2 P R / (P + R)
 *
 * as in the conlleval program of the CoNLL shared tasks (Tjong Kim Sang and Buchholz, 2000). The same
 * three figures are kept for every label, over tokens.
 */
#include "eval/evaluation.h"

#include "base/options.h"

double tr_ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

struct tr_rates tr_rates(struct tr_tally tally)
{
    struct tr_rates rates = {tr_ratio(tally.right, tally.found), tr_ratio(tally.right, tally.gold),
                             0};
    double sum = rates.precision + rates.recall;
    rates.f1 = sum > 0 ? 2 * rates.precision * rates.recall / sum : 0;
    return rates;
}

trellis_status trellis_evaluation_create(const trellis_options *options,
                                         trellis_evaluation **ret_evaluation, trellis_error *error)
{
    *ret_evaluation = NULL;
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
    *ret_evaluation = evaluation;
    return TRELLIS_OK;
}

void trellis_evaluation_destroy(trellis_evaluation *evaluation)
{
    if (!evaluation) {
        return;
    }
    tr_intern_free(&evaluation->labels);
    tr_intern_free(&evaluation->types);
    tr_intern_free(&evaluation->mistakes);
    free(evaluation->readings.at);
    free(evaluation->by_label.at);
    free(evaluation->by_type.at);
    free(evaluation->mistake_counts.at);
    free(evaluation->gold.at);
    free(evaluation->found.at);
    free(evaluation->gold_spans.list.at);
    free(evaluation->found_spans.list.at);
    free(evaluation);
}

/* The next label that is new: how it is read, and room for its counts. */
static bool learn_label(trellis_evaluation *evaluation)
{
    struct tr_span_label reading = {0};
    trellis_text type,
        label = tr_intern_text(&evaluation->labels, (uint32_t)evaluation->by_label.size);
    reading.in_spans = tr_span_label_read(label, &reading.letter, &type);
    reading.type = tr_intern_add(&evaluation->types, type);
    if (reading.type == TR_NONE ||
        !tr_reserve(&evaluation->by_type, tr_intern_count(&evaluation->types)) ||
        !tr_reserve(&evaluation->readings, evaluation->readings.size + 1) ||
        !tr_reserve(&evaluation->by_label, evaluation->by_label.size + 1)) {
        return false;
    }
    evaluation->by_type.size = tr_intern_count(&evaluation->types);
    evaluation->readings.at[evaluation->readings.size++] = reading;
    evaluation->by_label.size++;
    return true;
}

static bool number_label(trellis_evaluation *evaluation, trellis_text label, uint32_t *ret_number)
{
    *ret_number = tr_intern_add(&evaluation->labels, label);
    if (*ret_number == TR_NONE) {
        return false;
    }
    while (evaluation->by_label.size <= *ret_number) {
        if (!learn_label(evaluation)) {
            return false;
        }
    }
    return true;
}

static bool number_labels(trellis_evaluation *evaluation, const trellis_text *gold,
                          const trellis_text *found, size_t length)
{
    if (!tr_reserve(&evaluation->gold, length) || !tr_reserve(&evaluation->found, length)) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (!number_label(evaluation, gold[i], &evaluation->gold.at[i]) ||
            !number_label(evaluation, found[i], &evaluation->found.at[i])) {
            return false;
        }
    }
    return true;
}

static bool count_mistake(trellis_evaluation *evaluation, uint32_t gold, uint32_t found)
{
    uint32_t pair[2] = {gold, found};
    uint32_t number = tr_intern_add(&evaluation->mistakes,
                                    (trellis_text){(const char *)pair, sizeof pair});
    if (number == TR_NONE || !tr_reserve(&evaluation->mistake_counts, (size_t)number + 1)) {
        return false;
    }
    evaluation->mistake_counts.size = tr_intern_count(&evaluation->mistakes);
    evaluation->mistake_counts.at[number]++;
    return true;
}

static bool count_tokens(trellis_evaluation *evaluation, size_t length)
{
    size_t right = 0;
    for (size_t i = 0; i < length; i++) {
        uint32_t gold = evaluation->gold.at[i], found = evaluation->found.at[i];
        evaluation->by_label.at[gold].gold++;
        evaluation->by_label.at[found].found++;
        evaluation->has_spans &= evaluation->readings.at[gold].in_spans;
        if (gold == found) {
            evaluation->by_label.at[gold].right++;
            right++;
        } else if (!count_mistake(evaluation, gold, found)) {
            return false;
        }
    }
    evaluation->tokens.gold += length;
    evaluation->tokens.right += right;
    evaluation->sequences.gold++;
    evaluation->sequences.right += right == length;
    return true;
}

static bool same_span(struct tr_span a, struct tr_span b)
{
    return a.begin == b.begin && a.end == b.end && a.type == b.type;
}

/* Both lists are in the order of their beginnings, and no two spans of a list begin together. */
static void count_spans(trellis_evaluation *evaluation)
{
    const struct tr_spans *gold = &evaluation->gold_spans, *found = &evaluation->found_spans;
    size_t g = 0;
    for (size_t f = 0; f < found->list.size; f++) {
        struct tr_span span = found->list.at[f];
        evaluation->by_type.at[span.type].found++;
        while (g < gold->list.size && gold->list.at[g].begin < span.begin) {
            g++;
        }
        if (g < gold->list.size && same_span(gold->list.at[g], span)) {
            evaluation->by_type.at[span.type].right++;
            evaluation->spans.right++;
        }
    }
    for (g = 0; g < gold->list.size; g++) {
        evaluation->by_type.at[gold->list.at[g].type].gold++;
    }
    evaluation->spans.gold += gold->list.size;
    evaluation->spans.found += found->list.size;
}

trellis_status trellis_evaluation_add(trellis_evaluation *evaluation, const trellis_text *gold,
                                      const trellis_text *found, size_t length,
                                      trellis_error *error)
{
    if (!number_labels(evaluation, gold, found, length) ||
        !tr_spans_find(&evaluation->gold_spans, evaluation->gold.at, length,
                       evaluation->readings.at, evaluation->strict) ||
        !tr_spans_find(&evaluation->found_spans, evaluation->found.at, length,
                       evaluation->readings.at, evaluation->strict) ||
        !count_tokens(evaluation, length)) {
        return tr_fail_memory(error);
    }
    count_spans(evaluation);
    return TRELLIS_OK;
}

trellis_scores trellis_evaluation_scores(const trellis_evaluation *evaluation)
{
    struct tr_rates rates = tr_rates(evaluation->spans);
    return (trellis_scores){
        .sequences = evaluation->sequences.gold,
        .sequences_right = evaluation->sequences.right,
        .tokens = evaluation->tokens.gold,
        .tokens_right = evaluation->tokens.right,
        .spans_gold = evaluation->spans.gold,
        .spans_found = evaluation->spans.found,
        .spans_right = evaluation->spans.right,
        .accuracy = tr_ratio(evaluation->tokens.right, evaluation->tokens.gold),
        .precision = rates.precision,
        .recall = rates.recall,
        .f1 = rates.f1,
        .has_spans = evaluation->has_spans && evaluation->tokens.gold > 0,
    };
}
