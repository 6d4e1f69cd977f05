/* test_breakdown.c - the parts of an evaluation, their averages, calibration and likelihood,
 * against figures worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "evaluate.h"
#include "support/near.h"

/* The rows as "name gold/predicted/correct ..." */
static void check_rows(const trellis_evaluation *evaluation, trellis_breakdown breakdown,
                       const char *expected)
{
    char text[1000] = "";
    trellis_row row = {.struct_size = sizeof row};
    for (size_t i = 0; trellis_evaluation_row(evaluation, breakdown, i, &row); i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.*s %d/%d/%d", i ? ", " : "",
                 TR_SHOW(row.name), (int)row.gold, (int)row.predicted, (int)row.correct);
    }
    assert_string_equal(text, expected);
}

static void check_average(const trellis_evaluation *evaluation, trellis_breakdown breakdown,
                          trellis_average average, double precision, double recall, double f1)
{
    trellis_row row = {.struct_size = sizeof row};
    trellis_evaluation_average(evaluation, breakdown, average, &row);
    assert_near(row.precision, precision, 1e-12);
    assert_near(row.recall, recall, 1e-12);
    assert_near(row.f1, f1, 1e-12);
}

static void rows_have_correct_counts(void **state)
{
    (void)state;
    trellis_evaluation *e = evaluate("B-A I-A O B-B|O B-A O|O", "B-A I-A O O|B-A O O|O");
    check_rows(e, TRELLIS_BY_LABEL, "B-A 2/2/1, B-B 1/0/0, I-A 1/1/1, O 4/5/3");
    check_rows(e, TRELLIS_BY_TYPE, "A 2/2/1, B 1/0/0");
    check_rows(e, TRELLIS_BY_WORD, "");
    check_rows(e, TRELLIS_BY_CONFIDENCE, "");
    check_rows(e, TRELLIS_BY_LENGTH, "1 1/1/1, 3-4 7/7/4");
    check_rows(e, TRELLIS_BY_POSITION, "1 3/3/2, 2 2/2/1, 3-4 3/3/2");
    check_rows(e, TRELLIS_SEQUENCES_BY_LENGTH, "1 1/1/1, 3-4 2/2/0");
    check_rows(e, TRELLIS_SPANS_BY_LENGTH, "1 2/1/0, 2 1/1/1");
    assert_int_equal(trellis_evaluation_confusion(e, TR_TEXT("O"), TR_TEXT("B-A")), 1);
    assert_int_equal(trellis_evaluation_confusion(e, TR_TEXT("B-B"), TR_TEXT("O")), 1);
    assert_int_equal(trellis_evaluation_confusion(e, TR_TEXT("O"), TR_TEXT("O")), 3);
    assert_int_equal(trellis_evaluation_confusion(e, TR_TEXT("O"), TR_TEXT("B-B")), 0);
    assert_int_equal(trellis_evaluation_confusion(e, TR_TEXT("O"), TR_TEXT("nowhere")), 0);
    trellis_evaluation_destroy(e);
}

static void spans_have_outcomes(void **state)
{
    (void)state;
    // A correct; B has another type; C is too short; D is missed; E overlaps F; G is spurious.
    trellis_evaluation *e = evaluate("B-A O B-B O B-C I-C O B-D O B-E I-E O",
                                     "B-A O B-A O B-C O O O O B-F O B-G");
    check_rows(e, TRELLIS_SPANS_BY_OUTCOME,
               "correct 1/1/1, wrong type 1/1/0, wrong boundaries 1/1/0, "
               "wrong type and boundaries 1/1/0, missed 1/0/0, spurious 0/1/0");
    trellis_evaluation_destroy(e);
    // Of two that overlap, the one with the same type counts; each span is counted once.
    e = evaluate("B-A I-A I-A I-A|B-B B-A", "B-B B-A I-A O|B-A I-A");
    check_rows(e, TRELLIS_SPANS_BY_OUTCOME,
               "wrong boundaries 2/2/0, wrong type and boundaries 1/1/0");
    trellis_evaluation_destroy(e);
    e = evaluate("O O", "O O");
    check_rows(e, TRELLIS_SPANS_BY_OUTCOME, "");
    trellis_evaluation_destroy(e);
}

static void add_probable(trellis_evaluation *e, const char *gold, const char *predicted,
                         const float *marginals, const float *spans)
{
    trellis_text gold_labels[MAX_LABELS], predicted_labels[MAX_LABELS];
    size_t length;
    next_sequence(gold, gold_labels, &length);
    next_sequence(predicted, predicted_labels, &length);
    trellis_labelled labelled = {.struct_size = sizeof labelled,
                                 .length = length,
                                 .gold = gold_labels,
                                 .predicted = predicted_labels,
                                 .marginals = marginals,
                                 .span_probabilities = spans};
    assert_int_equal(trellis_evaluation_add_labelled(e, &labelled, NULL), TRELLIS_OK);
}

static void thresholds_leave_the_probable(void **state)
{
    (void)state;
    const float marginals[] = {0.999F, 0.5F, 0.97F, 0.3F}, spans[] = {0.92F, 0, 0.6F, 0.99F};
    trellis_evaluation *e;
    assert_int_equal(trellis_evaluation_create(NULL, &e, NULL), TRELLIS_OK);
    add_probable(e, "B-A I-A B-B O", "B-A I-A B-C B-D", marginals, NULL);
    check_rows(e, TRELLIS_BY_THRESHOLD,
               "0 4/4/2, 0.5 4/3/2, 0.6 4/2/1, 0.7 4/2/1, 0.8 4/2/1, 0.9 4/2/1, 0.95 4/2/1, "
               "0.98 4/1/1, 0.99 4/1/1, 0.999 4/1/1");
    trellis_evaluation_destroy(e);
    assert_int_equal(trellis_evaluation_create(NULL, &e, NULL), TRELLIS_OK);
    add_probable(e, "B-A I-A B-B O", "B-A I-A B-C B-D", marginals, spans);
    check_rows(e, TRELLIS_BY_THRESHOLD,
               "0 2/3/1, 0.5 2/3/1, 0.6 2/3/1, 0.7 2/2/1, 0.8 2/2/1, 0.9 2/2/1, 0.95 2/1/0, "
               "0.98 2/1/0, 0.99 2/1/0, 0.999 2/0/0");
    trellis_evaluation_destroy(e);
}

static void ranges_double(void **state)
{
    (void)state;
    char gold[64] = "";
    for (int i = 0; i < 17; i++) {
        strcat(gold, i ? " X" : "X");
    }
    trellis_evaluation *e = evaluate(gold, gold);
    check_rows(e, TRELLIS_BY_POSITION,
               "1 1/1/1, 2 1/1/1, 3-4 2/2/2, 5-8 4/4/4, 9-16 8/8/8, 17-32 1/1/1");
    check_rows(e, TRELLIS_BY_LENGTH, "17-32 17/17/17");
    trellis_evaluation_destroy(e);
}

/* A: gold 3, predicted 2, correct 2, so P 1, R 2/3, F1 4/5; B: gold 1, predicted 2, correct 1, so P
 * 1/2, R 1, F1 2/3. Micro: correct 3 of predicted 4 and gold 4. */
static void averages_are_those_of_the_textbook(void **state)
{
    (void)state;
    trellis_evaluation *e = evaluate("A A A B", "A A B B");
    check_average(e, TRELLIS_BY_LABEL, TRELLIS_MICRO, 0.75, 0.75, 0.75);
    check_average(e, TRELLIS_BY_LABEL, TRELLIS_MACRO, 0.75, 5.0 / 6, (0.8 + 2.0 / 3) / 2);
    check_average(e, TRELLIS_BY_LABEL, TRELLIS_WEIGHTED, 0.875, 0.75, (3 * 0.8 + 2.0 / 3) / 4);
    trellis_evaluation_destroy(e);
    e = evaluate("", "");
    check_average(e, TRELLIS_BY_TYPE, TRELLIS_WEIGHTED, 0, 0, 0);
    trellis_evaluation_destroy(e);
}

/* Bins: 0.55 (correct), 0.52 (wrong) -> 1 of 2 correct at a mean of 0.535; 0.9 and 1 (both correct)
 * -> 2 of 2 at 0.95; so the error is (2 * |0.5 - 0.535| + 2 * |1 - 0.95|) / 4. */
static void confidence_is_compared_with_accuracy(void **state)
{
    (void)state;
    trellis_text gold[] = {TR_TEXT("A"), TR_TEXT("A"), TR_TEXT("B"), TR_TEXT("B")};
    trellis_text predicted[] = {TR_TEXT("A"), TR_TEXT("B"), TR_TEXT("B"), TR_TEXT("B")};
    bool known[] = {true, false, true, true};
    float marginals[] = {0.55f, 0.52f, 0.9f, 1.0f};
    double likely = -1.5, unlikely = -INFINITY;
    const double probability = -4 * log(3); // of the sequence, 4 tokens
    trellis_labelled sequence = {.struct_size = sizeof sequence,
                                 .length = 4,
                                 .gold = gold,
                                 .predicted = predicted,
                                 .known = known,
                                 .marginals = marginals,
                                 .log_likelihood = &likely,
                                 .log_probability = &probability};
    trellis_evaluation *e;
    trellis_row row = {.struct_size = sizeof row};
    assert_int_equal(trellis_evaluation_create(NULL, &e, NULL), TRELLIS_OK);
    trellis_scores scores = {.struct_size = sizeof scores};
    trellis_evaluation_scores(e, &scores);
    assert_true(isnan(scores.log_likelihood));
    assert_true(isnan(scores.calibration_error));
    assert_int_equal(trellis_evaluation_add_labelled(e, &sequence, NULL), TRELLIS_OK);
    check_rows(e, TRELLIS_BY_WORD, "in vocabulary 3/3/3, OOV 1/1/0");
    check_rows(e, TRELLIS_BY_CONFIDENCE, "0.5-0.6 2/2/1, 0.9-1.0 2/2/2");
    assert_true(trellis_evaluation_row(e, TRELLIS_BY_CONFIDENCE, 0, &row));
    assert_near(row.confidence, 0.535, 1e-6);
    trellis_evaluation_scores(e, &scores);
    assert_near(scores.calibration_error, (2 * 0.035 + 2 * 0.05) / 4, 1e-6);
    assert_near(scores.log_likelihood, -1.5, 0);
    assert_near(scores.perplexity, 3, 1e-12);
    sequence.log_likelihood = &unlikely;
    assert_int_equal(trellis_evaluation_add_labelled(e, &sequence, NULL), TRELLIS_OK);
    trellis_evaluation_scores(e, &scores);
    assert_near(scores.log_likelihood, -1.5, 0);
    assert_int_equal(scores.impossible, 1);
    trellis_evaluation_destroy(e);
}

static void details_end_with_conlleval(void **state)
{
    (void)state;
    struct tr_buffer out = {0}, lines = {0};
    trellis_evaluation *e = evaluate("B-A I-A O B-B|O B-A O|O", "B-A I-A O O|B-A O O|O");
    assert_int_equal(trellis_evaluation_report(e, TRELLIS_DETAILS, into_buffer, &out, NULL),
                     TRELLIS_OK);
    assert_int_equal(trellis_evaluation_report(e, TRELLIS_CONLLEVAL, into_buffer, &lines, NULL),
                     TRELLIS_OK);
    assert_true(out.size > lines.size);
    assert_memory_equal(out.data + out.size - lines.size, lines.data, lines.size);
    tr_buffer_char(&out, '\0');
    const char *expected[] = {
        "spans by type\n"
        "                       gold predicted   correct  precision    recall       F1\n"
        "                A         2         2         1     50.00%    50.00%    50.00\n"
        "                B         1         0         0      0.00%     0.00%     0.00\n"
        "            micro         3         2         1     50.00%    33.33%    40.00\n"
        "            macro         3         2         1     25.00%    25.00%    25.00\n"
        "         weighted         3         2         1     33.33%    33.33%    33.33\n",
        "confusion matrix: rows are gold labels, columns predicted labels\n"
        "                        B-A       B-B       I-A         O\n"
        "              B-A         1         0         0         1\n"
        "              B-B         0         0         0         1\n"
        "              I-A         0         0         1         0\n"
        "                O         1         0         0         3\n",
        "sequence accuracy: 33.33% (1 of 3)\n",
    };
    for (size_t i = 0; i < TR_COUNT(expected); i++) {
        if (!strstr(out.data, expected[i])) {
            fail_msg("not in the report:\n%s\nwhich is:\n%s", expected[i], out.data);
        }
    }
    tr_buffer_free(&out);
    tr_buffer_free(&lines);
    trellis_evaluation_destroy(e);
}

/* Whether a report has all of these; the report is freed. */
static void check_report(const trellis_evaluation *e, trellis_report_form form,
                         const char *const *expected, size_t count)
{
    struct tr_buffer out = {0};
    assert_int_equal(trellis_evaluation_report(e, form, into_buffer, &out, NULL), TRELLIS_OK);
    tr_buffer_char(&out, '\0');
    for (size_t i = 0; i < count; i++) {
        if (!strstr(out.data, expected[i])) {
            fail_msg("not in the report:\n%s\nwhich is:\n%s", expected[i], out.data);
        }
    }
    tr_buffer_free(&out);
}

/* Thirteen labels are too many for a matrix. */
static void confusions_are_listed_by_frequency(void **state)
{
    (void)state;
    static const char *const expected[] = {"most frequent errors\n"
                                           "             gold predicted    tokens\n"
                                           "                B         A         2\n"
                                           "                C         D         1\n\n"};
    trellis_evaluation *e = evaluate("A B C D E F G H I J K L M B", "A A D D E F G H I J K L M A");
    check_report(e, TRELLIS_DETAILS, expected, TR_COUNT(expected));
    trellis_evaluation_destroy(e);
}

/* Four tokens with a probability of 1/81: a perplexity of 3. */
static void probabilities_are_in_the_reports(void **state)
{
    (void)state;
    trellis_text labels[] = {TR_TEXT("A"), TR_TEXT("A"), TR_TEXT("B"), TR_TEXT("B")};
    float marginals[] = {0.5f, 0.5f, 0.75f, 1.0f};
    double likely = -1.5, unlikely = -INFINITY;
    const double probability = -4 * log(3);
    trellis_labelled sequence = {.struct_size = sizeof sequence,
                                 .length = 4,
                                 .gold = labels,
                                 .predicted = labels,
                                 .marginals = marginals,
                                 .log_likelihood = &likely,
                                 .log_probability = &probability};
    static const char *const details[] = {
        "          0.5-0.6         4         4    100.00%     50.00%\n",
        "log-probability of the sequences: -8.79, perplexity 3.000 per token\n",
        ("log-likelihood of the gold labels: -1.50, -1.5000 per sequence; "
         "excludes 1 sequence with probability 0\n"),
        "expected calibration error: 0.3125\n"};
    static const char *const json[] = {"\"perplexity\": 3", "\"bootstrap\": 10,",
                                       "\"accuracy\": [1, 1]"};
    trellis_options *options;
    trellis_evaluation *e;
    assert_int_equal(trellis_options_create(&options, NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "bootstrap", "10", NULL), TRELLIS_OK);
    assert_int_equal(trellis_evaluation_create(options, &e, NULL), TRELLIS_OK);
    assert_int_equal(trellis_evaluation_add_labelled(e, &sequence, NULL), TRELLIS_OK);
    sequence.log_likelihood = &unlikely;
    assert_int_equal(trellis_evaluation_add_labelled(e, &sequence, NULL), TRELLIS_OK);
    check_report(e, TRELLIS_DETAILS, details, TR_COUNT(details));
    check_report(e, TRELLIS_JSON, json, TR_COUNT(json));
    trellis_evaluation_destroy(e);
    trellis_options_destroy(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_correct_counts),
        cmocka_unit_test(spans_have_outcomes),
        cmocka_unit_test(thresholds_leave_the_probable),
        cmocka_unit_test(ranges_double),
        cmocka_unit_test(averages_are_those_of_the_textbook),
        cmocka_unit_test(confidence_is_compared_with_accuracy),
        cmocka_unit_test(details_end_with_conlleval),
        cmocka_unit_test(confusions_are_listed_by_frequency),
        cmocka_unit_test(probabilities_are_in_the_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
