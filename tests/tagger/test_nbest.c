/* test_nbest.c - several labellings of a sequence, their probabilities, and beams, through a
 * tagger. */
#include <math.h>

#include "model/test_model.h"
#include "tagger/tagger_internal.h"

static const char corpus[] = "the DT\ncat NN\nsleeps VB\n\na DT\ndog NN\nbarks VB\nloudly RB\n\n"
                             "dogs NN\nchase VB\nthe DT\ncats NN\n\nCats NN\nsleep VB\n";

static const trellis_text words[] = {{"the", 3}, {"dog", 3}, {"sleeps", 6}, {"loudly", 6}};

static trellis_sequence make_sequence(size_t length)
{
    return (trellis_sequence){.struct_size = sizeof(trellis_sequence),
                              .length = length,
                              .columns = 1,
                              .cells = words,
                              .weight = 1};
}

/* All labellings there are: their probabilities sum to 1, and so do those of the labels. */
static void test_all_labellings(void **state)
{
    enum { LENGTH = 4, LABELS = 4, ALL = 256 };
    trellis_model *model = train_on(corpus, "type=crf label=2");
    trellis_tagger *tagger = make_tagger(model, "");
    trellis_sequence sequence = make_sequence(LENGTH);
    trellis_error error = {0};
    size_t count;
    double sum = 0, of_label[LENGTH][LABELS] = {{0}};
    (void)state;
    assert_int_equal(trellis_model_label_count(model), LABELS);
    assert_ok(trellis_tagger_nbest(tagger, &sequence, 1000, &count, &error), error);
    assert_int_equal(count, ALL);
    for (size_t k = 0; k < count; k++) {
        double p = trellis_tagger_nth_probability(tagger, k);
        const trellis_text *labels = trellis_tagger_nth_labels(tagger, k);
        assert_non_null(labels);
        assert_true(k == 0 ||
                    trellis_tagger_nth_score(tagger, k) <= trellis_tagger_nth_score(tagger, k - 1));
        for (size_t i = 0; i < LENGTH; i++) {
            for (size_t c = 0; c < LABELS; c++) {
                trellis_text label = trellis_model_label(model, c);
                bool same = label.size == labels[i].size &&
                            memcmp(label.data, labels[i].data, label.size) == 0;
                of_label[i][c] += same ? p : 0;
            }
        }
        sum += p;
    }
    assert_true(fabs(sum - 1) < 1e-5);
    for (size_t k = 0; k < count; k += 17) {
        const float *marginals;
        const trellis_text *labels = trellis_tagger_nth_labels(tagger, k);
        assert_ok(trellis_tagger_nth_marginals(tagger, k, &marginals, &error), error);
        for (size_t i = 0; i < LENGTH; i++) {
            for (size_t c = 0; c < LABELS; c++) {
                trellis_text label = trellis_model_label(model, c);
                if (label.size == labels[i].size &&
                    memcmp(label.data, labels[i].data, label.size) == 0) {
                    assert_true(fabs(of_label[i][c] - (double)marginals[i]) < 1e-5);
                }
            }
        }
    }
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

/* After tagging there is one labelling, and the same functions apply to it. */
static void test_after_tagging(void **state)
{
    static const char *const settings[] = {"decode=viterbi", "decode=posterior",
                                           "decode=beam beam=2"};
    trellis_model *model = train_on(corpus, "type=crf label=2");
    trellis_error error = {0};
    (void)state;
    for (size_t s = 0; s < TR_COUNT(settings); s++) {
        trellis_tagger *tagger = make_tagger(model, settings[s]);
        const trellis_text *labels, *first;
        const float *marginals;
        size_t count;
        trellis_sequence sequence = make_sequence(4);
        assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
        first = trellis_tagger_nth_labels(tagger, 0);
        assert_memory_equal(labels, first, 4 * sizeof *labels);
        assert_null(trellis_tagger_nth_labels(tagger, 1));
        assert_true(isnan(trellis_tagger_nth_score(tagger, 1)));
        assert_true(isnan(trellis_tagger_nth_probability(tagger, 1)));
        assert_int_equal(trellis_tagger_nth_marginals(tagger, 1, &marginals, &error), TRELLIS_DATA);
        double p = trellis_tagger_nth_probability(tagger, 0), score = trellis_tagger_score(tagger);
        assert_true(p > 0 && p <= 1);
        assert_ok(trellis_tagger_nth_marginals(tagger, 0, &marginals, &error), error);
        for (size_t i = 0; i < 4; i++) {
            assert_true((double)marginals[i] >= p - 1e-5);
        }
        assert_ok(trellis_tagger_nbest(tagger, &sequence, 2, &count, &error), error);
        assert_int_equal(count, 2);
        assert_true(trellis_tagger_score(tagger) >= score);
        trellis_tagger_destroy(tagger);
    }
    trellis_model_close(model);
}

static void test_unusual_requests(void **state)
{
    trellis_model *model = train_on(corpus, "type=perceptron label=2");
    trellis_tagger *tagger = make_tagger(model, "");
    trellis_sequence sequence = make_sequence(2), empty = make_sequence(0);
    trellis_error error = {0};
    const float *marginals;
    size_t count = 7;
    (void)state;
    /* before anything was tagged */
    assert_null(trellis_tagger_nth_labels(tagger, 0));
    assert_true(isnan(trellis_tagger_score(tagger)));
    assert_int_equal(trellis_tagger_nbest(tagger, &sequence, 0, &count, &error), TRELLIS_OPTION);
    assert_int_equal(count, 0);
    /* not probabilistic */
    assert_ok(trellis_tagger_nbest(tagger, &sequence, 3, &count, &error), error);
    assert_int_equal(count, 3);
    assert_true(isnan(trellis_tagger_nth_probability(tagger, 0)));
    assert_int_equal(trellis_tagger_nth_marginals(tagger, 0, &marginals, &error), TRELLIS_MODEL);
    /* the empty sequence has one labelling */
    assert_ok(trellis_tagger_nbest(tagger, &empty, 3, &count, &error), error);
    assert_int_equal(count, 1);
    assert_true(trellis_tagger_nth_score(tagger, 0) == 0);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

/* However many are asked for, there is room for those that exist. */
static void test_more_than_there_are(void **state)
{
    (void)state;
    static const size_t wanted[] = {257, 1000000000, SIZE_MAX};
    trellis_model *model = train_on(corpus, "type=crf label=2");
    trellis_sequence sequence = make_sequence(4);
    trellis_error error = {0};
    size_t count;
    for (size_t i = 0; i < TR_COUNT(wanted); i++) {
        trellis_tagger *tagger = make_tagger(model, "");
        assert_ok(trellis_tagger_nbest(tagger, &sequence, wanted[i], &count, &error), error);
        assert_int_equal(count, 256);
        assert_true(tagger->result.paths.capacity <= 2 * 256 * 4);
        assert_true(tagger->result.scores.capacity <= 2 * 256);
        trellis_tagger_destroy(tagger);
    }
    trellis_model_close(model);
}

static void test_limits(void **state)
{
    (void)state;
    trellis_model *model = train_on(corpus, "type=crf label=2");
    trellis_tagger *tagger = make_tagger(model, "max-labellings=75 max-length=3");
    trellis_sequence sequence = make_sequence(3), longer = make_sequence(4);
    trellis_error error = {0};
    const trellis_text *labels;
    size_t count;
    assert_ok(trellis_tagger_nbest(tagger, &sequence, 25, &count, &error), error);
    assert_int_equal(count, 25);
    assert_int_equal(trellis_tagger_nbest(tagger, &sequence, 26, &count, &error), TRELLIS_LIMIT);
    assert_int_equal(count, 0);
    assert_non_null(strstr(error.message, "--max-labellings"));
    assert_int_equal(trellis_tagger_nbest(tagger, &sequence, SIZE_MAX, &count, &error),
                     TRELLIS_LIMIT);
    assert_int_equal(trellis_tagger_tag(tagger, &longer, &labels, &error), TRELLIS_LIMIT);
    assert_non_null(strstr(error.message, "--max-length"));
    assert_null(labels);
    assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_labellings),   cmocka_unit_test(test_after_tagging),
        cmocka_unit_test(test_unusual_requests), cmocka_unit_test(test_more_than_there_are),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
