/* report.c - the report of an evaluation, in the lines of conlleval or as JSON.
 *
 * The lines are those that conlleval prints, figure for figure, but the one with the overall figures
 * comes last, where a person looks first. Labels that are not about spans get the same table by label.
 */
#include "eval/clusters.h"

/* ---- in which order ------------------------------------------------------------------------- */

static int compare_texts(trellis_text a, trellis_text b)
{
    size_t shorter = a.size < b.size ? a.size : b.size;
    int order = shorter ? memcmp(a.data, b.data, shorter) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_numbers(const void *a, const void *b, void *intern)
{
    return compare_texts(tr_intern_text(intern, *(const uint32_t *)a),
                         tr_intern_text(intern, *(const uint32_t *)b));
}

/* The numbers of an intern in the order of their texts, to be freed; NULL where memory is out. */
static uint32_t *sorted_numbers(const struct tr_intern *intern)
{
    size_t count = tr_intern_count(intern);
    uint32_t *order = tr_alloc(count, sizeof *order);
    for (size_t i = 0; order && i < count; i++) {
        order[i] = (uint32_t)i;
    }
    if (order) {
        qsort_r(order, count, sizeof *order, compare_numbers, (void *)intern);
    }
    return order;
}

struct mistake {
    trellis_text gold, found;
    uint64_t count;
};

static int compare_mistakes(const void *a, const void *b)
{
    const struct mistake *x = a, *y = b;
    if (x->count != y->count) {
        return x->count < y->count ? 1 : -1;
    }
    int order = compare_texts(x->gold, y->gold);
    return order ? order : compare_texts(x->found, y->found);
}

/* All kinds of mistakes, the most frequent first, to be freed; NULL where memory is out. */
static struct mistake *sorted_mistakes(const trellis_evaluation *evaluation)
{
    size_t count = evaluation->mistake_counts.size;
    struct mistake *list = tr_alloc(count, sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        uint32_t pair[2];
        memcpy(pair, tr_intern_text(&evaluation->mistakes, (uint32_t)i).data, sizeof pair);
        list[i] = (struct mistake){tr_intern_text(&evaluation->labels, pair[0]),
                                   tr_intern_text(&evaluation->labels, pair[1]),
                                   evaluation->mistake_counts.at[i]};
    }
    if (list) {
        qsort(list, count, sizeof *list, compare_mistakes);
    }
    return list;
}

static bool is_empty(struct tr_tally tally)
{
    return tally.gold == 0 && tally.found == 0;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void span_lines(struct tr_buffer *out, const trellis_evaluation *evaluation,
                       const uint32_t *order)
{
    tr_buffer_format(out, "processed %llu tokens with %llu phrases; ",
                     (unsigned long long)evaluation->tokens.gold,
                     (unsigned long long)evaluation->spans.gold);
    tr_buffer_format(out, "found: %llu phrases; correct: %llu.\n",
                     (unsigned long long)evaluation->spans.found,
                     (unsigned long long)evaluation->spans.right);
    for (size_t i = 0; i < evaluation->by_type.size; i++) {
        struct tr_tally tally = evaluation->by_type.at[order[i]];
        struct tr_rates rates = tr_rates(tally);
        if (!is_empty(tally)) {
            trellis_text type = tr_intern_text(&evaluation->types, order[i]);
            tr_buffer_format(out, "%17.*s: precision: %6.2f%%; recall: %6.2f%%; FB1: %6.2f  %llu\n",
                             TR_SHOW(type), 100 * rates.precision, 100 * rates.recall,
                             100 * rates.f1, (unsigned long long)tally.found);
        }
    }
    trellis_scores scores = trellis_evaluation_scores(evaluation);
    tr_buffer_format(out, "accuracy: %6.2f%%; precision: %6.2f%%; recall: %6.2f%%; FB1: %6.2f\n",
                     100 * scores.accuracy, 100 * scores.precision, 100 * scores.recall,
                     100 * scores.f1);
}

static void label_lines(struct tr_buffer *out, const trellis_evaluation *evaluation,
                        const uint32_t *order)
{
    struct tr_tally tokens = evaluation->tokens, sequences = evaluation->sequences;
    tr_buffer_format(out, "processed %llu tokens in %llu sequences; ",
                     (unsigned long long)tokens.gold, (unsigned long long)sequences.gold);
    tr_buffer_format(out, "correct: %llu tokens, %llu sequences.\n",
                     (unsigned long long)tokens.right, (unsigned long long)sequences.right);
    for (size_t i = 0; i < evaluation->by_label.size; i++) {
        struct tr_tally tally = evaluation->by_label.at[order[i]];
        struct tr_rates rates = tr_rates(tally);
        trellis_text label = tr_intern_text(&evaluation->labels, order[i]);
        tr_buffer_format(out, "%17.*s: precision: %6.2f%%; recall: %6.2f%%; F1: %6.2f  %llu\n",
                         TR_SHOW(label), 100 * rates.precision, 100 * rates.recall, 100 * rates.f1,
                         (unsigned long long)tally.gold);
    }
    tr_buffer_format(out, "accuracy: %6.2f%%; sequences: %6.2f%% right\n",
                     100 * tr_ratio(tokens.right, tokens.gold),
                     100 * tr_ratio(sequences.right, sequences.gold));
}

/* ---- JSON ----------------------------------------------------------------------------------- */

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

static void json_totals(struct tr_buffer *out, const trellis_evaluation *evaluation)
{
    trellis_scores scores = trellis_evaluation_scores(evaluation);
    json_count(out, "sequences", scores.sequences);
    json_count(out, "sequences_right", scores.sequences_right);
    json_share(out, "sequence_accuracy", tr_ratio(scores.sequences_right, scores.sequences));
    json_count(out, "tokens", scores.tokens);
    json_count(out, "tokens_right", scores.tokens_right);
    json_share(out, "accuracy", scores.accuracy);
    json_count(out, "labels", tr_intern_count(&evaluation->labels));
    tr_buffer_format(out, "  \"has_spans\": %s,\n", scores.has_spans ? "true" : "false");
    if (scores.has_spans) {
        json_count(out, "spans_gold", scores.spans_gold);
        json_count(out, "spans_found", scores.spans_found);
        json_count(out, "spans_right", scores.spans_right);
        json_share(out, "precision", scores.precision);
        json_share(out, "recall", scores.recall);
        json_share(out, "f1", scores.f1);
    }
}

/* "KEY": [ one object for each text that was seen ], */
static void json_tallies(struct tr_buffer *out, const char *key, const char *name,
                         const struct tr_intern *intern, const struct tr_tally *tallies,
                         const uint32_t *order)
{
    const char *separator = "\n";
    tr_buffer_format(out, "  \"%s\": [", key);
    for (size_t i = 0; i < tr_intern_count(intern); i++) {
        struct tr_tally tally = tallies[order[i]];
        struct tr_rates rates = tr_rates(tally);
        if (is_empty(tally)) {
            continue;
        }
        tr_buffer_format(out, "%s    {\"%s\": ", separator, name);
        tr_buffer_json(out, tr_intern_text(intern, order[i]));
        tr_buffer_format(out, ", \"gold\": %llu, \"found\": %llu, \"right\": %llu, \"precision\": ",
                         (unsigned long long)tally.gold, (unsigned long long)tally.found,
                         (unsigned long long)tally.right);
        tr_buffer_real(out, rates.precision);
        tr_buffer_string(out, ", \"recall\": ");
        tr_buffer_real(out, rates.recall);
        tr_buffer_string(out, ", \"f1\": ");
        tr_buffer_real(out, rates.f1);
        tr_buffer_char(out, '}');
        separator = ",\n";
    }
    tr_buffer_string(out, "\n  ],\n");
}

static void json_confusion(struct tr_buffer *out, const struct mistake *mistakes, size_t count)
{
    tr_buffer_string(out, "  \"confusion\": [");
    for (size_t i = 0; i < count; i++) {
        tr_buffer_string(out, i ? ",\n    {\"gold\": " : "\n    {\"gold\": ");
        tr_buffer_json(out, mistakes[i].gold);
        tr_buffer_string(out, ", \"found\": ");
        tr_buffer_json(out, mistakes[i].found);
        tr_buffer_format(out, ", \"count\": %llu}", (unsigned long long)mistakes[i].count);
    }
    tr_buffer_string(out, "\n  ]\n");
}

static void json_report(struct tr_buffer *out, const trellis_evaluation *evaluation,
                        const uint32_t *labels, const uint32_t *types)
{
    struct mistake *mistakes = sorted_mistakes(evaluation);
    if (!mistakes) {
        out->failed = true;
        return;
    }
    tr_buffer_string(out, "{\n");
    json_totals(out, evaluation);
    if (trellis_evaluation_scores(evaluation).has_spans) {
        json_tallies(out, "types", "type", &evaluation->types, evaluation->by_type.at, types);
    }
    json_tallies(out, "by_label", "label", &evaluation->labels, evaluation->by_label.at, labels);
    json_confusion(out, mistakes, evaluation->mistake_counts.size);
    tr_buffer_string(out, "}\n");
    free(mistakes);
}

trellis_status trellis_evaluation_report(const trellis_evaluation *evaluation, bool json,
                                         trellis_sink sink, void *user, trellis_error *error)
{
    struct tr_buffer out = {0};
    trellis_status status = TRELLIS_OK;
    uint32_t *labels = sorted_numbers(&evaluation->labels);
    uint32_t *types = sorted_numbers(&evaluation->types);
    if (!labels || !types) {
        status = tr_fail_memory(error);
        goto cleanup;
    }
    if (evaluation->clusters) {
        status = tr_clusters_report(evaluation, json, &out, error);
    } else if (json) {
        json_report(&out, evaluation, labels, types);
    } else if (trellis_evaluation_scores(evaluation).has_spans) {
        span_lines(&out, evaluation, types);
    } else {
        label_lines(&out, evaluation, labels);
    }
    if (!status) {
        status = tr_buffer_flush(&out, sink, user, error);
    }

cleanup:
    tr_buffer_free(&out);
    free(labels);
    free(types);
    return status;
}
