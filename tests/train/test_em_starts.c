/* test_em_starts.c - hidden Markov models without labels: where EM begins, which start is kept,
 * when it stops, and what it refuses. */
#include "train/hidden.h"

#include <math.h>

/* ---- starts ---------------------------------------------------------------------------------- */

static void test_restarts_keep_the_best(void **state)
{
    (void)state;
    trellis_error error = {0};
    struct course course;
    trellis_model *model;
    const char *path = put_plain("plain.jsonl", 6, 0, SENTENCES);
    assert_ok(learn(path,
                    SETTINGS("algorithm=em", "states=4", "epochs=10", "restarts=5", "delta=0",
                             "alpha=0.01"),
                    &course, &model, &error),
              error);
    assert_int_equal(course.iterations, 50);
    double best = INFINITY, worst = -INFINITY;
    for (size_t i = 0; i < 5; i++) {
        best = fmin(best, course.objective[10 * i + 9]);
        worst = fmax(worst, course.objective[10 * i + 9]);
    }
    assert_true(worst > best);
    assert_true(fabs(strtod(trellis_model_note(model, "objective"), NULL) - best) <
                1e-8 * fabs(best));
    trellis_model_close(model);
}

/* A model that has settled is where it was when EM begins with it; so is one of order 1 at order
 * 2. */
static void test_begins_with_a_model(void **state)
{
    (void)state;
    trellis_error error = {0};
    struct course first, second;
    trellis_model *model;
    const char *path = put_plain("plain.jsonl", 8, 0, SENTENCES);
    const char *alphas[] = {"alpha=0", "alpha=0.2"};
    const char *orders[][2] = {
        {"order=1", "order=1"}, {"order=2", "order=2"}, {"order=1", "order=2"}};
    for (size_t k = 0; k < 6; k++) {
        size_t i = k % 2;
        assert_ok(
            learn(path,
                  SETTINGS("algorithm=em", "states=3", "epochs=50", alphas[i], orders[k / 2][0]),
                  &first, &model, &error),
            error);
        const char *saved = path_of("first.model");
        assert_ok(trellis_model_save(model, saved, &error), error);
        trellis_model_close(model);
        assert_ok(learn(path,
                        SETTINGS("algorithm=em", setting("from", saved), "alpha=0", "epochs=1",
                                 orders[k / 2][1]),
                        &second, &model, &error),
                  error);
        /* What was kept for unknown words is shared out among those that are known. */
        assert_true(fabs(second.likelihood[0] - first.likelihood[first.iterations - 1]) <
                    (i ? 2e-2 : 1e-5));
        assert_int_equal(trellis_model_label_count(model), 3);
        trellis_model_close(model);
    }
}

static void test_dictionary_names_and_limits(void **state)
{
    (void)state;
    trellis_error error = {0};
    struct course course;
    trellis_model *model;
    trellis_tagger *tagger;
    const char *path = put_plain("plain.jsonl", 4, 0, SENTENCES);
    const char *dictionary = put_text("dictionary", "w0\tX\nw1\tX Y\nw2\tY\n");
    assert_ok(
        learn(path,
              SETTINGS("algorithm=em", setting("dictionary", dictionary), "states=4", "epochs=10"),
              &course, &model, &error),
        error);
    assert_int_equal(trellis_model_label_count(model), 4);
    const char *names[] = {"X", "Y", "s1", "s2"};
    for (size_t i = 0; i < 4; i++) {
        assert_true(tr_text_is(trellis_model_label(model, i), names[i]));
    }
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    trellis_text words[] = {tr_text("w0"), tr_text("w2"), tr_text("w1"), tr_text("never")};
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = 4,
                                 .columns = 1,
                                 .cells = words,
                                 .weight = 1};
    const trellis_text *labels;
    assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
    assert_true(tr_text_is(labels[0], "X"));
    assert_true(tr_text_is(labels[1], "Y"));
    assert_true(tr_text_is(labels[2], "X") || tr_text_is(labels[2], "Y"));
    assert_true(isfinite(trellis_tagger_score(tagger)));
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

static void test_dev_likelihood_decides(void **state)
{
    (void)state;
    trellis_error error = {0};
    struct course course;
    trellis_model *model;
    const char *path = put_plain("plain.jsonl", 3, 0, 30);
    const char *dev = put_plain("dev.jsonl", 3, 30, SENTENCES);
    assert_ok(learn(path,
                    SETTINGS("algorithm=em", "states=5", "delta=0", "epochs=55", "alpha=0.001",
                             setting("dev", dev)),
                    &course, &model, &error),
              error);
    size_t best = 0;
    for (size_t k = 0; k < course.iterations; k++) {
        best = course.dev[k] > course.dev[best] ? k : best;
    }
    assert_true(course.iterations < 55); // it overfits so small a corpus
    assert_int_equal(course.iterations, best + 6);
    assert_int_equal(strtoul(trellis_model_note(model, "iterations"), NULL, 10), best + 1);
    trellis_model_close(model);
}

/* States stand for labels: the score of --dev is that of `eval --clusters`, and the best iterate is
 * kept. */
static void check_dev_clusters(const char *score)
{
    struct sentence corpus[SENTENCES];
    struct tr_random random;
    trellis_error error = {0};
    struct course course;
    trellis_model *model;
    trellis_cluster_scores scores = {.struct_size = sizeof scores};
    tr_random_seed(&random, 12);
    make_corpus(corpus, &random, false, 1);
    const char *path = put_corpus("plain.jsonl", corpus, 0, SENTENCES, false);
    const char *dev = put_corpus("dev.jsonl", corpus, 0, SENTENCES / 2, true);
    assert_ok(learn(path,
                    SETTINGS("algorithm=em", "states=4", "alpha=0.01", "restarts=4", "epochs=12",
                             setting("dev", dev), setting("dev-score", score)),
                    &course, &model, &error),
              error);
    trellis_evaluation *evaluation = evaluate_by(model, dev, "");
    assert_ok(trellis_evaluation_clusters(evaluation, &scores, &error), error);
    bool one = strcmp(score, "one-to-one") == 0;
    double found = strtod(trellis_model_note(model, "dev-accuracy"), NULL);
    assert_true(fabs(found - (one ? scores.one_to_one : scores.many_to_one)) < 1e-6);
    for (size_t k = 0; k < course.iterations; k++) {
        assert_true(course.accuracy[k] <= found + 1e-6);
    }
    trellis_evaluation_destroy(evaluation);
    trellis_model_close(model);
}

static void test_dev_clusters(void **state)
{
    (void)state;
    check_dev_clusters("one-to-one");
    check_dev_clusters("many-to-one");
}

/* ---- what cannot be -------------------------------------------------------------------------- */

struct refusal {
    const char *text; // of the corpus
    const char *settings[5];
    trellis_status status;
    const char *says;
};

static void test_refusals(void **state)
{
    (void)state;
    const char *dictionary = put_text("tags", "a\tX Y Z\n");
    const char *unlisted = put_text("strange", "a\tX\n");
    const char *torn = put_text("torn", "no tab here\n");
    const struct refusal refusals[] = {
        {"a\nb\n", {"algorithm=em"}, TRELLIS_DATA, "--states"},
        {"a\nb\n", {"algorithm=em", "states=0"}, TRELLIS_DATA, "--states says how many"},
        {"a\nb\n", {"algorithm=em", "states=-3"}, TRELLIS_OPTION, "--states must be between 0"},
        {"a\nb\n",
         {"algorithm=em", "states=3"},
         TRELLIS_DATA,
         "3 states cannot be learned from 2 tokens"},
        {"", {"algorithm=em", "states=2"}, TRELLIS_DATA, "no tokens"},
        {"\n\n\n", {"algorithm=viterbi", "states=2"}, TRELLIS_DATA, "no tokens"},
        {"a X\nb Y\n",
         {"states=2"},
         TRELLIS_OPTION,
         "--states does not apply to -t hmm -a counts; it is for -t hmm -a em, -t hmm -a viterbi"},
        {"a X\nb Y\n", {"algorithm=em", "restarts=2"}, TRELLIS_OPTION, "random starts"},
        {"a X\nb Y\n", {"algorithm=em", "order=3"}, TRELLIS_OPTION, "--order 1 or 2"},
        {"a X\nb Y\n", {"algorithm=em", "alpha=-1"}, TRELLIS_OPTION, "--alpha must be between 0"},
        {"a X\nb Y\n",
         {"algorithm=em", setting("dictionary", unlisted), "unlabelled=/no/file"},
         TRELLIS_IO,
         "/no/file"},
        {"a X\nb Y\n",
         {"algorithm=em", setting("dictionary", dictionary)},
         TRELLIS_DATA,
         "the label 'Z' of the word 'a' does not occur"},
        {"a\nb\nc\n",
         {"algorithm=em", "states=2", setting("dictionary", dictionary)},
         TRELLIS_DATA,
         "names 3 labels, more than the 2"},
        {"a\nb\nc\n",
         {"algorithm=em", "states=2", setting("dictionary", torn)},
         TRELLIS_FORMAT,
         "expected a word, a tab and the labels of the word"},
        {"a\nb\nc\n",
         {"algorithm=em", "states=2", "features=extended"},
         TRELLIS_TEMPLATE,
         "one thing at each token"},
        {"a\nb\nc\n", {"algorithm=em", "states=2", "from=/no/model"}, TRELLIS_IO, "/no/model"},
    };
    for (size_t i = 0; i < TR_COUNT(refusals); i++) {
        struct course course;
        trellis_model *model;
        trellis_error error = {0};
        const char *path = put_text("refused", refusals[i].text);
        trellis_status status = learn(path, refusals[i].settings, &course, &model, &error);
        if (status != refusals[i].status || !strstr(error.message, refusals[i].says)) {
            fail_msg("case %zu: %s: %s", i, trellis_status_name(status), error.message);
        }
        assert_null(model);
    }
}

/* As many states as tokens, one state, one token: defined, and finite. */
static void test_small(void **state)
{
    (void)state;
    const char *corpora[] = {"a\n", "a\na\na\n", "a\nb\nc\n\nd\n"};
    const char *states[] = {"states=1", "states=3", "states=4"};
    const char *algorithms[] = {"algorithm=em", "algorithm=viterbi"};
    const char *alphas[] = {"alpha=0", "alpha=1"};
    for (size_t i = 0; i < 12; i++) {
        struct course course;
        trellis_model *model;
        trellis_error error = {0};
        const char *path = put_text("small", corpora[i % 3]);
        assert_ok(learn(path, SETTINGS(states[i % 3], algorithms[i / 3 % 2], alphas[i / 6]),
                        &course, &model, &error),
                  error);
        assert_true(course.iterations > 0);
        for (size_t k = 0; k < course.iterations; k++) {
            assert_true(isfinite(course.objective[k]) && course.likelihood[k] <= 1e-5);
        }
        trellis_model_close(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restarts_keep_the_best),
        cmocka_unit_test(test_begins_with_a_model),
        cmocka_unit_test(test_dictionary_names_and_limits),
        cmocka_unit_test(test_dev_likelihood_decides),
        cmocka_unit_test(test_dev_clusters),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_small),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
