/* test_spans.c - the spans of labels: by hand, and against the counts of an evaluation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/random.h"
#include "evaluate.h"

/* "TYPE begin-end ..." of the spans of labels that are separated by blanks. */
static void describe(const char *labels, char *text, size_t room)
{
    trellis_text list[MAX_LABELS];
    trellis_span spans[MAX_LABELS];
    size_t length, used = 0;
    next_sequence(labels, list, &length);
    size_t count = trellis_spans_find(list, length, spans);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, room - used, "%s%.*s %zu-%zu", i ? ", " : "",
                                 TR_SHOW(spans[i].type), spans[i].begin, spans[i].end);
    }
}

static void spans_are_found_in_every_scheme(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"O O", ""},
        {"B-X I-X O B-Y", "X 0-2, Y 3-4"},
        {"B-X B-X I-X", "X 0-1, X 1-3"},
        {"I-X I-X B-X", "X 0-2, X 2-3"},   // IOB1
        {"O I-X I-Y I-Y", "X 1-2, Y 2-4"}, // a change of the type
        {"S-X B-X E-X O S-Y", "X 0-1, X 1-3, Y 4-5"},
        {"U-X B-X I-X L-X U-Y", "X 0-1, X 1-4, Y 4-5"},
        {"E-X E-X", "X 0-1, X 1-2"}, // not legal in any
        {"B I O B", " 0-2,  3-4"},   // without a type
        {"NN B-X NN VB", "X 1-2"},   // not parts of spans
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        char text[200];
        describe(cases[i][0], text, sizeof text);
        assert_string_equal(text, cases[i][1]);
    }
}

/* Whatever the labels, an evaluation counts as many spans, and those of equal labels agree. */
static void an_evaluation_counts_as_many(void **state)
{
    (void)state;
    static const char *const labels[] = {"O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "B", "I"};
    struct tr_random random;
    tr_random_seed(&random, 7);
    for (int round = 0; round < 2000; round++) {
        trellis_text list[MAX_LABELS];
        trellis_span spans[MAX_LABELS];
        size_t length = tr_random_below(&random, MAX_LABELS), last = 0;
        for (size_t i = 0; i < length; i++) {
            list[i] = tr_text(labels[tr_random_below(&random, TR_COUNT(labels))]);
        }
        trellis_evaluation *evaluation;
        trellis_scores scores = {.struct_size = sizeof scores};
        assert_int_equal(trellis_evaluation_create(NULL, &evaluation, NULL), TRELLIS_OK);
        assert_int_equal(trellis_evaluation_add(evaluation, list, list, length, NULL), TRELLIS_OK);
        trellis_evaluation_scores(evaluation, &scores);
        size_t count = trellis_spans_find(list, length, spans);
        assert_int_equal(count, scores.spans_gold);
        for (size_t i = 0; i < count; i++) {
            assert_true(spans[i].begin >= last && spans[i].begin < spans[i].end);
            last = spans[i].end;
        }
        assert_true(last <= length);
        trellis_evaluation_destroy(evaluation);
    }
}

static bool has_spans(const char *labels)
{
    char text[400];
    trellis_model *model;
    trellis_error error = {0};
    trellis_text list[MAX_LABELS];
    size_t length;
    next_sequence(labels, list, &length);
    int size = snprintf(text, sizeof text, "trellis-text\t1\ntemplate\tnode word\n");
    for (size_t i = 0; i < length; i++) {
        size += snprintf(text + size, sizeof text - (size_t)size, "label\t%.*s\n",
                         TR_SHOW(list[i]));
    }
    if (trellis_model_import_bytes(text, (size_t)size, "text", &model, &error)) {
        fail_msg("%s", error.message);
    }
    bool spans = trellis_model_has_spans(model);
    trellis_model_close(model);
    return spans;
}

static void a_model_knows_whether_it_has_spans(void **state)
{
    (void)state;
    assert_true(has_spans("O B-X I-X"));
    assert_true(has_spans("B-X I-X"));
    assert_false(has_spans("O"));
    assert_false(has_spans("O B-X NN"));
    assert_false(has_spans("NN VB"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_found_in_every_scheme),
        cmocka_unit_test(an_evaluation_counts_as_many),
        cmocka_unit_test(a_model_knows_whether_it_has_spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
