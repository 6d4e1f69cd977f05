/* test_explain.c - explanations against an enumeration of all labellings. */
#include <math.h>

#include "model/test_model.h"

static const char corpus[] = "the DT\ncat NN\nsleeps VB\n\na DT\ndog NN\nbarks VB\nloudly RB\n\n"
                             "dogs NN\nchase VB\nthe DT\ncats NN\n\nCats NN\nsleep VB\n"
                             "\nloudly RB\nbarks VB\na DT\ndog NN\n";

/* For segments; one of them is longer than --max-segment 2. */
static const char spans[] = "the B-X\ncat I-X\nsleeps O\n\na O\ndog B-Y\nbarks B-X\nloudly I-X\n\n"
                            "dogs B-Y\nchase I-Y\nthe I-Y\ncats O\n\nCats B-X\nsleep O\n"
                            "\nloudly O\nbarks O\na B-Y\ndog I-Y\n";

static const trellis_text words[] = {{"the", 3}, {"dog", 3}, {"sleeps", 6}, {"loudly", 6}};

enum { LENGTH = 4, MAX_LABELLINGS = 1000 };

static bool same(trellis_text a, trellis_text b)
{
    return tr_text_equal(a, b);
}

/* The best labelling with another label at the token is found among all of them. */
static void check_runner_up(trellis_tagger *tagger, size_t count, const trellis_explanation *reason,
                            size_t token)
{
    double best = trellis_tagger_nth_score(tagger, 0);
    for (size_t rank = 1; rank < count; rank++) {
        const trellis_text *labels = trellis_tagger_nth_labels(tagger, rank);
        if (!same(labels[token], reason->predicted)) {
            double margin = best - trellis_tagger_nth_score(tagger, rank);
            assert_true(fabs(margin - reason->margin) < 1e-4);
            assert_true(same(labels[token], reason->runner_up));
            for (size_t i = 0; i < LENGTH; i++) {
                assert_true(same(labels[i], reason->runner_up_labels[i]));
            }
            return;
        }
    }
    fail_msg("there is no runner_up of token %zu", token);
}

static void check_sum(const trellis_explanation *reason, size_t token)
{
    double sum = 0;
    bool here = false;
    for (size_t k = 0; k < reason->contribution_count; k++) {
        const trellis_contribution *c = &reason->contributions[k];
        sum += c->predicted - c->runner_up;
        here = here || c->position == token;
        assert_true(c->position <= LENGTH);
        assert_true((c->label_count > 0) == (c->attribute.size == 0));
        if (k) {
            const trellis_contribution *before = c - 1;
            assert_true(fabs(before->predicted - before->runner_up) >=
                        fabs(c->predicted - c->runner_up));
        }
    }
    assert_true(here);
    assert_true(fabs(sum - reason->margin) < 1e-12);
}

static void check_model_of(const char *text, size_t labellings, const char *settings,
                           const char *templates)
{
    char all[300];
    snprintf(all, sizeof all, "%s label=2 features=%s", settings,
             templates ? put_text("templates.txt", templates) : "extended");
    trellis_model *model = train_on(text, all);
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = LENGTH,
                                 .columns = 1,
                                 .cells = words,
                                 .weight = 1};
    trellis_tagger *tagger;
    trellis_explainer *explainer;
    const trellis_explanation *reasons;
    trellis_error error = {0};
    size_t count;
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    assert_ok(trellis_tagger_nbest(tagger, &sequence, MAX_LABELLINGS, &count, &error), error);
    assert_int_equal(count, labellings);
    assert_ok(trellis_explainer_create(model, NULL, &explainer, &error), error);
    for (int again = 0; again < 2; again++) {
        assert_ok(trellis_explainer_run(explainer, &sequence, &reasons, &error), error);
        for (size_t i = 0; i < LENGTH; i++) {
            check_runner_up(tagger, count, &reasons[i], i);
            check_sum(&reasons[i], i);
        }
    }
    trellis_explainer_destroy(explainer);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

static void check_model(const char *settings, const char *templates)
{
    check_model_of(corpus, 256, settings, templates);
}

static void test_margins(void **state)
{
    (void)state;
    check_model("type=crf", NULL);
    check_model("type=crf order=2", NULL);
    check_model("type=crf order=2 observed-states=yes", NULL);
    check_model("type=crf counted=3", NULL);
    check_model("type=crf order=0", NULL);
    check_model("type=crf", "columns word\nnode word\nedge word\nedge word[-1]\nstep start end\n");
    check_model("type=perceptron", NULL);
    check_model("type=memm", NULL);
    check_model("type=memm order=2", "columns word\nnode word\nedge word\nstep start end\n");
}

/* Labels O, B-X, I-X, B-Y, I-Y: with a_n labellings of n tokens, x_n of which end within a given type,
 * a_n = a_{n-1} + 2 x_n, x_n = a_{n-1} + x_{n-1}: 3, 11, 41, 153. */
static void test_segments(void **state)
{
    static const char templates[] =
        "columns word\nnode word[-1..1]\nsegment text(lower(word))\nsegment size & before(word)\n"
        "segment any(shortshape(word),1..2)\nsegment learned(word)\nstep start end\n";
    (void)state;
    check_model_of(spans, 153, "type=crf segments=yes", templates);
    check_model_of(spans, 153, "type=crf segments=yes max-segment=2", templates);
    check_model_of(spans, 153, "type=crf segments=yes filter=0.5", templates);
    check_model_of(spans, 153, "type=mira segments=yes epochs=3", templates);
}

/* Weights that one can add up by hand. */
static void test_by_hand(void **state)
{
    static const char text[] =
        "trellis-text\t1\nnote\ttype\tperceptron\ntemplate\tcolumns word\ntemplate\tnode word\n"
        "template\tstep\nlabel\tA\nlabel\tB\norder\t1\n"
        "step\t0.5\tA\tA\nstep\t-0.25\tA\tB\n"
        "word\t2\tA\tx\nword\t1.5\tB\tx\n"
        "word\t1\tB\ty\n";
    trellis_model *model = import_model(put_text("model.txt", text));
    static const trellis_text cells[] = {{"x", 1}, {"y", 1}};
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = 2,
                                 .columns = 1,
                                 .cells = cells,
                                 .weight = 1};
    trellis_explainer *explainer;
    const trellis_explanation *reasons;
    trellis_error error = {0};
    (void)state;
    assert_ok(trellis_explainer_create(model, NULL, &explainer, &error), error);
    assert_ok(trellis_explainer_run(explainer, &sequence, &reasons, &error), error);
    /* A B: 2 - 0.25 + 1 = 2.75; B B: 1.5 + 1 = 2.5; A A: 2 + 0.5 = 2.5 */
    assert_true(same(reasons[0].predicted, tr_text("A")) &&
                same(reasons[1].predicted, tr_text("B")));
    assert_true(reasons[0].margin == 0.25 && reasons[1].margin == 0.25);
    assert_true(isnan(reasons[0].predicted_probability));
    assert_int_equal(reasons[0].contribution_count, 2);
    assert_true(same(reasons[0].contributions[0].attribute, tr_text("word[0]=x")));
    assert_true(reasons[0].contributions[0].predicted == 2);
    assert_true(reasons[0].contributions[0].runner_up == 1.5);
    assert_int_equal(reasons[0].contributions[1].label_count, 2);
    assert_int_equal(reasons[0].contributions[1].position, 1);
    assert_true(reasons[0].contributions[1].predicted == -0.25);
    assert_int_equal(reasons[1].contribution_count, 3);
    struct tr_buffer report = {0};
    assert_ok(trellis_explainer_report(explainer, &sequence, 9, false, to_buffer, &report, &error),
              error);
    assert_non_null(memmem(report.data, report.size, "  transition A B\n", 17));
    assert_ok(trellis_explainer_report(explainer, &sequence, 9, true, to_buffer, &report, &error),
              error);
    assert_non_null(memmem(report.data, report.size, "\"transition\":[\"A\",\"B\"]", 22));
    tr_buffer_free(&report);
    trellis_explainer_destroy(explainer);
    trellis_model_close(model);
}

static void test_unusual_requests(void **state)
{
    trellis_model *model = train_on("a X\nb X\n", "type=crf label=2");
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = 2,
                                 .columns = 1,
                                 .cells = words,
                                 .weight = 1};
    trellis_sequence empty = {
        .struct_size = sizeof(trellis_sequence), .columns = 1, .cells = words, .weight = 1};
    trellis_explainer *explainer;
    const trellis_explanation *reasons;
    struct tr_buffer text = {0};
    trellis_error error = {0};
    (void)state;
    assert_ok(trellis_explainer_create(model, NULL, &explainer, &error), error);
    assert_ok(trellis_explainer_run(explainer, &empty, &reasons, &error), error);
    assert_ok(trellis_explainer_run(explainer, &sequence, &reasons, &error), error);
    assert_true(isinf(reasons[0].margin) && !reasons[0].runner_up_labels &&
                !reasons[0].runner_up.size);
    assert_int_equal(
        trellis_explainer_report(explainer, &empty, 3, false, to_buffer, &text, &error),
        TRELLIS_DATA);
    assert_ok(trellis_explainer_report(explainer, &sequence, 3, false, to_buffer, &text, &error),
              error);
    assert_non_null(memmem(text.data, text.size, "no other label", 14));
    assert_ok(trellis_explainer_run(explainer, &empty, &reasons, &error), error);
    sequence.length = 1001;
    assert_int_equal(trellis_explainer_run(explainer, &sequence, &reasons, &error), TRELLIS_LIMIT);
    assert_null(reasons);
    tr_buffer_free(&text);
    trellis_explainer_destroy(explainer);
    trellis_explainer_destroy(NULL);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_margins),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_unusual_requests),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
