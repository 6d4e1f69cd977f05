/* test_evaluation.c - scores of hand-made label sequences against figures worked out by hand from
 * the published rules of conlleval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

#include "evaluate.h"

/* One sequence or several, separated by "|"; labels are separated by blanks. */
struct score_case {
    const char *name, *gold, *predicted;
    const char *strict; // scheme of a strict reading, or NULL
    unsigned tokens_correct, sequences_correct;
    unsigned spans_gold, spans_predicted, spans_correct;
    bool has_spans;
};

/* clang-format off */
static const struct score_case cases[] = {
    {"nothing at all", "", "", NULL, 0, 0, 0, 0, 0, false},
    {"all correct", "B-A I-A O B-B", "B-A I-A O B-B", NULL, 4, 1, 2, 2, 2, true},
    {"all wrong", "B-A O", "O B-A", NULL, 0, 0, 1, 1, 0, true},
    {"O only", "O O O", "O O O", NULL, 3, 1, 0, 0, 0, true},
    {"I after O begins a span", "B-A I-A O", "I-A I-A O", NULL, 2, 0, 1, 1, 1, true},
    {"I at the start of a sequence", "I-A O I-A", "B-A O B-A", NULL, 1, 0, 2, 2, 2, true},
    {"a change of type without B", "B-A B-B", "I-A I-B", NULL, 0, 0, 2, 2, 2, true},
    {"one change of type too many", "B-A I-A", "B-A I-B", NULL, 1, 0, 1, 2, 0, true},
    {"B after I of the same type", "B-A I-A B-A I-A", "B-A I-A I-A I-A", NULL, 3, 0, 2, 1, 0, true},
    {"correct begin and type, wrong end", "B-A I-A O", "B-A O O", NULL, 2, 0, 1, 1, 0, true},
    {"correct place, wrong type", "B-A I-A O", "B-B I-B O", NULL, 1, 0, 1, 1, 0, true},
    {"spans end with their sequence", "B-A|I-A", "B-A|I-A", NULL, 2, 2, 2, 2, 2, true},
    {"IOBES", "S-A B-B I-B E-B O", "S-A B-B I-B E-B O", NULL, 5, 1, 2, 2, 2, true},
    {"IOBES: S after S, E ends", "S-A S-A B-A E-A I-A", "S-A S-A B-A E-A E-A", NULL, 4, 0, 4, 4, 4, true},
    {"BILOU", "U-A B-B L-B", "U-A B-B I-B", NULL, 2, 0, 2, 2, 2, true},
    {"bare letters are spans without a type", "B I O B", "B I O O", NULL, 3, 0, 2, 1, 1, true},
    {"parts of speech", "DT NN VB|NN", "DT NN NN|NN", NULL, 3, 1, 4, 4, 3, false},
    {"a strange label predicted keeps the spans", "B-A O", "B-A X", NULL, 1, 0, 1, 2, 1, true},

    {"strict IOB2: I after O is nothing", "B-A I-A O", "I-A I-A O", "iob2", 2, 0, 1, 0, 0, true},
    {"strict IOB2: the rest of a sequence counts", "B-A O B-B I-B", "I-A O B-B I-B", "iob2", 3, 0, 2, 1, 1, true},
    {"strict IOB2: B-A I-B is a span of one", "B-A O", "B-A I-B", "iob2", 1, 0, 1, 1, 1, true},
    {"strict IOB2: no E", "B-A I-A", "B-A E-A", "iob2", 1, 0, 1, 0, 0, true},
    {"strict IOB1: B only between neighbours", "I-A B-A O I-A", "I-A B-A O B-A", "iob1", 3, 0, 3, 2, 2, true},
    {"strict IOBES", "B-A E-A O S-A", "B-A I-A O B-A", "iobes", 2, 0, 2, 0, 0, true},
    {"strict IOBES: what is after an E", "B-A I-A E-A O", "B-A I-A E-A I-A", "iobes", 3, 0, 1, 1, 1, true},
    {"strict BILOU", "B-A L-A U-A", "B-A L-A B-A", "bilou", 2, 0, 2, 1, 1, true},
};
/* clang-format on */

static void counts_follow_the_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        const struct score_case *c = &cases[i];
        trellis_evaluation *evaluation = evaluate_strictly(c->gold, c->predicted, c->strict);
        trellis_scores scores = {.struct_size = sizeof scores};
        trellis_evaluation_scores(evaluation, &scores);
        if (scores.tokens_correct != c->tokens_correct ||
            scores.sequences_correct != c->sequences_correct ||
            scores.spans_gold != c->spans_gold || scores.spans_predicted != c->spans_predicted ||
            scores.spans_correct != c->spans_correct || scores.has_spans != c->has_spans) {
            fail_msg("%s: %d tokens, %d sequences, spans %d %d %d, has_spans %d", c->name,
                     (int)scores.tokens_correct, (int)scores.sequences_correct,
                     (int)scores.spans_gold, (int)scores.spans_predicted, (int)scores.spans_correct,
                     scores.has_spans);
        }
        trellis_evaluation_destroy(evaluation);
    }
}

static void check_report(const char *gold, const char *predicted, bool json, const char *expected)
{
    struct tr_buffer out = {0};
    trellis_evaluation *evaluation = evaluate(gold, predicted);
    assert_int_equal(trellis_evaluation_report(evaluation, json, into_buffer, &out, NULL),
                     TRELLIS_OK);
    tr_buffer_char(&out, '\0');
    assert_string_equal(out.data, expected);
    tr_buffer_free(&out);
    trellis_evaluation_destroy(evaluation);
}

/* Gold has A at 0-1, B at 3, A at 4-5; predicted has A at 0-1, A at 3, A at 4-5 and B at 6: of type
 * A 2 of 3 are correct and all are there, of type B none. Tokens: 5 of 7. */
static void spans_are_reported_as_conlleval_does(void **state)
{
    (void)state;
    check_report("B-A I-A O B-B B-A I-A O", "B-A I-A O I-A B-A I-A B-B", false,
                 "processed 7 tokens with 3 phrases; found: 4 phrases; correct: 2.\n"
                 "accuracy:  71.43%; precision:  50.00%; recall:  66.67%; FB1:  57.14\n"
                 "                A: precision:  66.67%; recall: 100.00%; FB1:  80.00  3\n"
                 "                B: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n");
}

static void labels_are_reported_by_label(void **state)
{
    (void)state;
    check_report("DT NN VB|NN", "DT NN NN|NN", false,
                 "processed 4 tokens in 2 sequences; correct: 3 tokens, 1 sequence.\n"
                 "accuracy:  75.00%; sequence accuracy:  50.00%\n"
                 "               DT: precision: 100.00%; recall: 100.00%; F1: 100.00  1\n"
                 "               NN: precision:  66.67%; recall: 100.00%; F1:  80.00  2\n"
                 "               VB: precision:   0.00%; recall:   0.00%; F1:   0.00  1\n");
}

static void an_empty_evaluation_is_reported(void **state)
{
    (void)state;
    check_report("", "", false,
                 "processed 0 tokens in 0 sequences; correct: 0 tokens, 0 sequences.\n"
                 "accuracy:   0.00%; sequence accuracy:   0.00%\n");
}

static void json_has_everything(void **state)
{
    (void)state;
    check_report(
        "B-A O", "B-A B-\"", true,
        "{\n"
        "  \"sequences\": 1,\n"
        "  \"sequences_correct\": 0,\n"
        "  \"sequence_accuracy\": 0,\n"
        "  \"tokens\": 2,\n"
        "  \"tokens_correct\": 1,\n"
        "  \"accuracy\": 0.5,\n"
        "  \"labels\": 3,\n"
        "  \"has_spans\": true,\n"
        "  \"spans_gold\": 1,\n"
        "  \"spans_predicted\": 2,\n"
        "  \"spans_correct\": 1,\n"
        "  \"precision\": 0.5,\n"
        "  \"recall\": 1,\n"
        "  \"f1\": 0.6666666666666666,\n"
        "  \"micro\": {\"precision\": 0.5, \"recall\": 1, \"f1\": 0.6666666666666666},\n"
        "  \"macro\": {\"precision\": 0.5, \"recall\": 0.5, \"f1\": 0.5},\n"
        "  \"weighted\": {\"precision\": 1, \"recall\": 1, \"f1\": 1},\n"
        "  \"by_label\": [\n"
        "    {\"label\": \"B-\\\"\", \"gold\": 0, \"predicted\": 1, \"correct\": 0, \"precision\": 0, "
        "\"recall\": 0, \"f1\": 0},\n"
        "    {\"label\": \"B-A\", \"gold\": 1, \"predicted\": 1, \"correct\": 1, \"precision\": 1, "
        "\"recall\": 1, \"f1\": 1},\n"
        "    {\"label\": \"O\", \"gold\": 1, \"predicted\": 0, \"correct\": 0, \"precision\": 0, "
        "\"recall\": 0, \"f1\": 0}\n"
        "  ],\n"
        "  \"types\": [\n"
        "    {\"type\": \"\\\"\", \"gold\": 0, \"predicted\": 1, \"correct\": 0, \"precision\": 0, "
        "\"recall\": 0, \"f1\": 0},\n"
        "    {\"type\": \"A\", \"gold\": 1, \"predicted\": 1, \"correct\": 1, \"precision\": 1, "
        "\"recall\": 1, \"f1\": 1}\n"
        "  ],\n"
        "  \"by_length\": [\n"
        "    {\"range\": \"2\", \"gold\": 2, \"predicted\": 2, \"correct\": 1, \"precision\": 0.5, "
        "\"recall\": 0.5, \"f1\": 0.5}\n"
        "  ],\n"
        "  \"by_position\": [\n"
        "    {\"range\": \"1\", \"gold\": 1, \"predicted\": 1, \"correct\": 1, \"precision\": 1, "
        "\"recall\": 1, \"f1\": 1},\n"
        "    {\"range\": \"2\", \"gold\": 1, \"predicted\": 1, \"correct\": 0, \"precision\": 0, "
        "\"recall\": 0, \"f1\": 0}\n"
        "  ],\n"
        "  \"sequences_by_length\": [\n"
        "    {\"range\": \"2\", \"gold\": 1, \"predicted\": 1, \"correct\": 0, \"precision\": 0, "
        "\"recall\": 0, \"f1\": 0}\n"
        "  ],\n"
        "  \"spans_by_length\": [\n"
        "    {\"range\": \"1\", \"gold\": 1, \"predicted\": 2, \"correct\": 1, \"precision\": 0.5, "
        "\"recall\": 1, \"f1\": 0.6666666666666666}\n"
        "  ],\n"
        "  \"spans_by_outcome\": [\n"
        "    {\"outcome\": \"correct\", \"gold\": 1, \"predicted\": 1, \"correct\": 1, "
        "\"precision\": 1, \"recall\": 1, \"f1\": 1},\n"
        "    {\"outcome\": \"spurious\", \"gold\": 0, \"predicted\": 1, \"correct\": 0, "
        "\"precision\": 0, \"recall\": 0, \"f1\": 0}\n"
        "  ],\n"
        "  \"confusion\": [\n"
        "    {\"gold\": \"O\", \"predicted\": \"B-\\\"\", \"count\": 1}\n"
        "  ]\n"
        "}\n");
}

static void strict_needs_a_scheme(void **state)
{
    (void)state;
    trellis_options *options;
    trellis_evaluation *evaluation;
    trellis_error error = {0};
    assert_int_equal(trellis_options_create(&options, NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "strict", "yes", NULL), TRELLIS_OK);
    assert_int_equal(trellis_evaluation_create(options, &evaluation, &error), TRELLIS_OPTION);
    assert_null(evaluation);
    assert_string_equal(error.message, "--strict needs --scheme, to know which spans are legal");
    trellis_options_destroy(options);
}

static trellis_status full_disk(void *user, const char *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return TRELLIS_IO;
}

static void a_failing_sink_is_passed_on(void **state)
{
    (void)state;
    trellis_evaluation *evaluation = evaluate("B-A", "B-A");
    assert_int_equal(trellis_evaluation_report(evaluation, false, full_disk, NULL, NULL),
                     TRELLIS_IO);
    trellis_evaluation_destroy(evaluation);
    trellis_evaluation_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_follow_the_rules),
        cmocka_unit_test(spans_are_reported_as_conlleval_does),
        cmocka_unit_test(labels_are_reported_by_label),
        cmocka_unit_test(an_empty_evaluation_is_reported),
        cmocka_unit_test(json_has_everything),
        cmocka_unit_test(strict_needs_a_scheme),
        cmocka_unit_test(a_failing_sink_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
