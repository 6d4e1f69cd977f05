/* test_linear.c - HMMs as linear models: Example 1 of Wu (2013), and HMMs that are none. */
#include <math.h>

#include "model/test_model.h"

static void test_example(void **state)
{
    (void)state;
    trellis_model *model = import_model("data/hmm/pidgin.txt");
    trellis_error error = {0};
    trellis_tagger *tagger;
    double score, log_z;
    assert_ok(trellis_model_check_hmm(model, &error), error);
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    /* The can can can the can: D N V V D N and D N N V D N have 0.8 * 1 * 0.6 * 0.2 * 0.8 * 1 each, and
     * D N N N D N has 0.8 * 1 * 0.2 * 0.2 * 0.2 * 1. */
    char *labels = tag_with(tagger, "the can can can the can", &score);
    assert_true(strcmp(labels, "D N V V D N") == 0 || strcmp(labels, "D N N V D N") == 0);
    assert_true(fabs(score - log(0.0768)) < 1e-9);
    assert_ok(trellis_tagger_log_z(tagger, &log_z, &error), error);
    assert_true(fabs(log_z - log(2 * 0.0768 + 0.0064)) < 1e-9);
    free(labels);
    /* No sentence of it has two articles in a row: minus infinity, and yet an answer. */
    labels = tag_with(tagger, "the the", &score);
    assert_string_equal(labels, "D D");
    assert_true(score == -INFINITY);
    assert_ok(trellis_tagger_log_z(tagger, &log_z, &error), error);
    assert_true(log_z == -INFINITY);
    free(labels);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

static void refuse(const char *lines, const char *expected)
{
    struct tr_buffer text = {0};
    trellis_error error = {0};
    tr_buffer_format(
        &text,
        "trellis-text\t1\nnote\ttype\t%s\ntemplate\tcolumns word\ntemplate\tnode word\n"
        "label\tA\nlabel\tB\norder\t1\n%s",
        strstr(expected, "no HMM") ? "crf" : "hmm", lines);
    trellis_model *model = import_model(put_file("hmm.txt", text.data, text.size));
    assert_int_equal(trellis_model_check_hmm(model, &error), TRELLIS_DATA);
    if (!strstr(error.message, expected)) {
        fail_msg("'%s' does not say '%s'", error.message, expected);
    }
    trellis_model_close(model);
    tr_buffer_free(&text);
}

static void test_no_hmm(void **state)
{
    (void)state;
    const char *steps = "step\tlog(1)\t\\start\tA\nstep\tlog(0.5)\tA\tA\nstep\tlog(0.5)\tA\tB\n"
                        "step\tlog(1)\tB\tA\n";
    char lines[400];
    refuse("", "is no HMM");
    refuse("step\tlog(0.5)\t\\start\tA\n", "steps from '<start>' sum to 0.5");
    refuse("step\tlog(1)\t\\start\tA\nstep\tlog(0.5)\tA\tB\n", "steps from 'A' sum to 0.5");
    snprintf(lines, sizeof lines, "%sword\tlog(0.25)\tA\tx\nword\tlog(1)\tB\tx\n", steps);
    refuse(lines, "words of 'A' sum to 0.25");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_no_hmm),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
