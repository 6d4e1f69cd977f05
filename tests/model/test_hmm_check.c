/* test_hmm_check.c - HMMs as linear models: Example 1 of Wu (2013), and models that are not
 * HMMs. */
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
    /* The can can can the can: D N V V D N and D N N V D N have 0.8 * 1 * 0.6 * 0.2 * 0.8 * 1 each,
     * and D N N N D N has 0.8 * 1 * 0.2 * 0.2 * 0.2 * 1. */
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

/* The entries of w and Phi in the order of the paper: starts, steps from D, N and V, then words of
 * D, N and V. */
enum { ENTRIES = 3 + 9 + 6 };

static int state_of(const char *name)
{
    return name[0] == 'D' ? 0 : name[0] == 'N' ? 1 : 2;
}

static int word_of(const char *name)
{
    return strcmp(name, "can") == 0 ? 0 : 1;
}

/* w from the exported text. A missing entry has weight 0. */
static void read_weights(const trellis_model *model, double w[ENTRIES])
{
    char *text = say(model, EXPORT), *rest = text, *line;
    memset(w, 0, ENTRIES * sizeof *w);
    while ((line = strsep(&rest, "\n"))) {
        char weight[32], from[16], to[16], word[16];
        if (sscanf(line, "step\t%31s\t%15s\t%15s", weight, from, to) == 3) {
            int row = from[0] == '\\' ? 0 : 1 + state_of(from);
            w[3 * row + state_of(to)] = strtod(weight, NULL);
        } else if (sscanf(line, "node\t%31s\t%15s\t%*s\tword[0]=%15s", weight, to, word) == 3) {
            w[12 + 2 * state_of(to) + word_of(word)] = strtod(weight, NULL);
        }
    }
    free(text);
}

/* The score of the best labelling of the example under given weights. */
static double score_under(const double w[ENTRIES])
{
    static const char *const names[] = {"\\start", "D", "N", "V"}, *const words[] = {"can", "the"};
    struct tr_buffer text = {0};
    double score;
    tr_buffer_string(&text, "trellis-text\t1\ntemplate\tcolumns word\ntemplate\tnode word\n"
                            "template\tstep start\nlabel\tD\nlabel\tN\nlabel\tV\norder\t1\n");
    for (int k = 0; k < 12; k++) {
        tr_buffer_format(&text, "step\t%.9g\t%s\t%s\n", w[k], names[k / 3], names[1 + k % 3]);
    }
    for (int k = 0; k < 6; k++) {
        tr_buffer_format(&text, "word\t%.9g\t%s\t%s\n", w[12 + k], names[1 + k / 2], words[k % 2]);
    }
    trellis_model *model = import_model(put_file("weights.txt", text.data, text.size));
    char *labels = tag_by(model, "the can can can the can", &score);
    assert_string_equal(labels, "D N V V D N");
    free(labels);
    trellis_model_close(model);
    tr_buffer_free(&text);
    return score;
}

/* Equation 12, with the two digits of the paper and its minus infinities. Equation 15 is what the
 * score gains as a weight grows, once that of N N has fallen, so that no other labelling is as
 * good. */
static void test_entries(void **state)
{
    (void)state;
    const double inf = INFINITY, step = 0.25;
    const double equation_12[ENTRIES] = {-0.22, -inf, -1.61, -inf, 0, -inf, -1.61, -1.61, -0.51,
                                         -0.22, -inf, -1.61, -inf, 0, 0,    -inf,  0,     -inf};
    static const int equation_15[ENTRIES] = {1, 0, 0, 0, 2, 0, 0, 0, 1, 1, 0, 1, 0, 2, 2, 0, 2, 0};
    trellis_model *hmm = open_model("data/hmm/pidgin.txt"); // as `trellis convert --linear` does
    trellis_error error = {0};
    double w[ENTRIES];
    assert_ok(trellis_model_check_hmm(hmm, &error), error);
    assert_ok(trellis_model_save(hmm, path_of("linear.model"), &error), error);
    trellis_model *linear = open_model(path_of("linear.model"));
    read_weights(linear, w);
    trellis_model_close(linear);
    trellis_model_close(hmm);
    for (int k = 0; k < ENTRIES; k++) {
        if (isinf(equation_12[k]) ? w[k] != equation_12[k]
                                  : !(fabs(w[k] - equation_12[k]) <= 0.005)) {
            fail_msg("entry %d of w is %g, not %g", k + 1, w[k], equation_12[k]);
        }
        w[k] = isinf(w[k]) ? -50 : w[k];
    }
    w[3 + 3 + 1] -= 1;
    double score = score_under(w);
    assert_true(fabs(score - log(0.0768)) < 1e-5); // floats in the text
    for (int k = 0; k < ENTRIES; k++) {
        w[k] += step;
        double phi = (score_under(w) - score) / step;
        w[k] -= step;
        if (!(fabs(phi - equation_15[k]) < 1e-4)) {
            fail_msg("entry %d of Phi is %g, not %d", k + 1, phi, equation_15[k]);
        }
    }
}

static void refuse(const char *lines, const char *expected)
{
    struct tr_buffer text = {0};
    trellis_error error = {0};
    tr_buffer_format(
        &text,
        "trellis-text\t1\nnote\ttype\t%s\ntemplate\tcolumns word\ntemplate\tnode word\n"
        "label\tA\nlabel\tB\norder\t1\n%s",
        strstr(expected, "not an HMM") ? "crf" : "hmm", lines);
    trellis_model *model = import_model(put_file("hmm.txt", text.data, text.size));
    assert_int_equal(trellis_model_check_hmm(model, &error), TRELLIS_DATA);
    if (!strstr(error.message, expected)) {
        fail_msg("'%s' does not say '%s'", error.message, expected);
    }
    trellis_model_close(model);
    tr_buffer_free(&text);
}

static void test_not_an_hmm(void **state)
{
    (void)state;
    const char *steps = "step\tlog(1)\t\\start\tA\nstep\tlog(0.5)\tA\tA\nstep\tlog(0.5)\tA\tB\n"
                        "step\tlog(1)\tB\tA\n";
    char lines[400];
    refuse("", "is not an HMM");
    refuse("step\tlog(0.5)\t\\start\tA\n", "transitions from '<start>' sum to 0.5");
    refuse("step\tlog(1)\t\\start\tA\nstep\tlog(0.5)\tA\tB\n", "transitions from 'A' sum to 0.5");
    snprintf(lines, sizeof lines, "%sword\tlog(0.25)\tA\tx\nword\tlog(1)\tB\tx\n", steps);
    refuse(lines, "words of 'A' sum to 0.25");
}

/* A word with probability 1 in all states has only weights of 0, and is kept nevertheless. */
static void test_certain_word(void **state)
{
    (void)state;
    static const char text[] =
        "trellis-text\t1\nnote\ttype\thmm\ntemplate\tcolumns word\ntemplate\tnode word\n"
        "label\tA\nlabel\tB\norder\t1\nstep\tlog(1)\t\\start\tA\nstep\tlog(1)\tA\tB\n"
        "step\tlog(0.25)\tB\tA\nstep\tlog(0.75)\tB\t\\end\n"
        "step\t-inf\t\\start\tB\nstep\t-inf\tA\tA\nstep\t-inf\tB\tB\nstep\t-inf\tA\t\\end\n"
        "word\tlog(1)\tA\tx\nword\tlog(1)\tB\tx\n";
    trellis_error error = {0};
    trellis_model *model = import_model(put_file("one.txt", text, strlen(text)));
    assert_ok(trellis_model_check_hmm(model, &error), error);
    char *again = say(model, EXPORT);
    trellis_model_close(model);
    model = import_model(put_file("again.txt", again, strlen(again)));
    assert_ok(trellis_model_check_hmm(model, &error), error);
    double score;
    char *labels = tag_by(model, "x x", &score);
    assert_string_equal(labels, "A B");
    assert_true(fabs(score - log(0.75)) < 1e-9);
    free(labels);
    free(again);
    trellis_model_close(model);
}

/* Score and log Z of a sentence; those of two models are the same. */
static void compare_scores(const trellis_model *one, const trellis_model *other, const char *text)
{
    const trellis_model *models[] = {one, other};
    double scores[2], log_z[2];
    trellis_error error = {0};
    for (int i = 0; i < 2; i++) {
        trellis_tagger *tagger = make_tagger(models[i], "");
        free(tag_with(tagger, text, &scores[i]));
        assert_ok(trellis_tagger_log_z(tagger, &log_z[i], &error), error);
        trellis_tagger_destroy(tagger);
    }
    assert_true(isfinite(scores[0]) && scores[0] < log_z[0]);
    if (!(fabs(scores[0] - scores[1]) <= 1e-12 && fabs(log_z[0] - log_z[1]) <= 1e-12)) {
        fail_msg("%s: score %.17g and %.17g, log Z %.17g and %.17g", text, scores[0], scores[1],
                 log_z[0], log_z[1]);
    }
}

/* The text of an HMM has all digits, and the unknown-word model. */
static void test_round_trip(void **state)
{
    (void)state;
    static const char *const settings[] = {"type=hmm label=2", "type=hmm label=2 order=2",
                                           "type=hmm label=2 alpha=0.5 features=id"};
    for (size_t i = 0; i < TR_COUNT(settings); i++) {
        trellis_model *model = train_file("data/english/train.conll", settings[i]);
        char *text = say(model, EXPORT);
        trellis_model *again = import_model(put_text("again.txt", text));
        compare_scores(model, again, "The old schoolmaster began to mend .");
        compare_scores(model, again, "Unheard-of Words were whimsically blorking in 1999 .");
        char *second = say(again, EXPORT);
        assert_string_equal(text, second);
        free(text);
        free(second);
        trellis_model_close(model);
        trellis_model_close(again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),    cmocka_unit_test(test_entries),
        cmocka_unit_test(test_not_an_hmm), cmocka_unit_test(test_certain_word),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
