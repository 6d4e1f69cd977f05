/* test_span_probability.c - the probability of a span, of any labels and of all labels, against
 * sums over all labellings there are; and what a threshold leaves out. */
#include <math.h>

#include "model/test_model.h"

static const char corpus[] =
    "sleep O\n\nthe B-A\ncat I-A\nsleeps O\n\na B-A\ndog I-A\ncats B-B\nloudly O\n\n"
    "dogs B-A\nchase O\nthe B-B\ncats I-B\n\nCats B-A\nsleep O\na B-B\n";
static const trellis_text words[] = {{"the", 3}, {"dog", 3}, {"chase", 5}, {"a", 1}, {"bird", 4}};

enum { LENGTH = 5, MAX_LABELLINGS = 4000 };

static const char *const models[] = {
    "type=crf label=2 epochs=15",
    "type=crf label=2 epochs=15 order=2",
    "type=crf label=2 epochs=15 constrain=iob",
    "type=crf label=2 epochs=15 scheme=iob2 train-scheme=iobes",
    "type=maxent label=2 epochs=15",
};

static char letter(trellis_text label)
{
    return label.data[0];
}

static bool same_type(trellis_text a, trellis_text b)
{
    return a.size == b.size && memcmp(a.data + 1, b.data + 1, a.size - 1) == 0;
}

/* Whether the second label continues the span of the first. */
static bool goes_on(trellis_text before, trellis_text after)
{
    bool open = letter(before) == 'B' || letter(before) == 'I';
    bool inside = letter(after) == 'I' || letter(after) == 'E';
    return open && inside && same_type(before, after);
}

/* All labellings of the sequence, in the model's internal scheme, with their probabilities. */
struct labellings {
    size_t count;
    double p[MAX_LABELLINGS];
    uint16_t label[MAX_LABELLINGS][LENGTH]; // numbers in the model
};

static void list_labellings(trellis_tagger *tagger, const trellis_model *model,
                            const trellis_sequence *sequence, struct labellings *all)
{
    trellis_error error = {0};
    double sum = 0;
    assert_ok(trellis_tagger_nbest(tagger, sequence, MAX_LABELLINGS, &all->count, &error), error);
    assert_true(all->count < MAX_LABELLINGS);
    for (size_t k = 0; k < all->count; k++) {
        const trellis_text *labels = trellis_tagger_nth_labels(tagger, k);
        all->p[k] = trellis_tagger_nth_probability(tagger, k);
        sum += all->p[k];
        for (size_t i = 0; i < LENGTH; i++) {
            size_t c = 0;
            while (c < trellis_model_label_count(model) &&
                   (trellis_model_label(model, c).size != labels[i].size ||
                    memcmp(trellis_model_label(model, c).data, labels[i].data, labels[i].size))) {
                c++;
            }
            all->label[k][i] = (uint16_t)c;
        }
    }
    assert_true(fabs(sum - 1) < 1e-4);
}

/* The sum over the labellings that have the labels of one of them in begin .. end-1, cut off
 * there. */
static double brute(const struct labellings *all, const trellis_model *model, const uint16_t *path,
                    size_t begin, size_t end)
{
    double sum = 0;
    for (size_t k = 0; k < all->count; k++) {
        const uint16_t *other = all->label[k];
        bool agrees = memcmp(other + begin, path + begin, (end - begin) * sizeof *path) == 0;
        agrees = agrees && (begin == 0 || !goes_on(trellis_model_label(model, other[begin - 1]),
                                                   trellis_model_label(model, other[begin])));
        agrees = agrees && (end == LENGTH || !goes_on(trellis_model_label(model, other[end - 1]),
                                                      trellis_model_label(model, other[end])));
        sum += agrees ? all->p[k] : 0;
    }
    return sum;
}

static void span_probability_is_the_sum_over_labellings(void **state)
{
    (void)state;
    static struct labellings all;
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = LENGTH,
                                 .columns = 1,
                                 .cells = words,
                                 .weight = 1};
    trellis_error error = {0};
    for (size_t m = 0; m < TR_COUNT(models); m++) {
        if (strstr(models[m], "train-scheme")) { // labellings are written in another scheme
            continue;
        }
        trellis_model *model = train_on(corpus, models[m]);
        trellis_tagger *tagger = make_tagger(model, "");
        list_labellings(tagger, model, &sequence, &all);
        size_t step = all.count / 40 + 1, checked = 0;
        for (size_t k = 0; k < all.count; k += step) {
            for (size_t begin = 0; begin < LENGTH; begin++) {
                for (size_t end = begin + 1; end <= LENGTH; end++) {
                    double p, wanted = brute(&all, model, all.label[k], begin, end);
                    trellis_text first = trellis_model_label(model, all.label[k][begin]);
                    if (letter(first) == 'O') {
                        continue; // a cut beside it is no cut in a span
                    }
                    assert_ok(
                        trellis_tagger_nth_span_probability(tagger, k, begin, end, &p, &error),
                        error);
                    trellis_text last = trellis_model_label(model, all.label[k][end - 1]);
                    if (letter(last) != 'O' && !(fabs(p - wanted) <= 1e-5)) {
                        fail_msg("%s: labelling %zu, tokens %zu to %zu: %g instead of %g",
                                 models[m], k, begin, end, p, wanted);
                    }
                    checked++;
                }
            }
        }
        assert_true(checked > 100);
        trellis_tagger_destroy(tagger);
        trellis_model_close(model);
    }
}

static void any_labels_and_all_labels_have_a_probability(void **state)
{
    (void)state;
    static struct labellings all;
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = LENGTH,
                                 .columns = 1,
                                 .cells = words,
                                 .weight = 1};
    trellis_error error = {0};
    trellis_model *model = train_on(corpus, models[0]);
    trellis_tagger *tagger = make_tagger(model, "");
    size_t labels = trellis_model_label_count(model);
    list_labellings(tagger, model, &sequence, &all);
    const float *marginals;
    assert_ok(trellis_tagger_marginals(tagger, &marginals, &error), error);
    for (size_t i = 0; i < LENGTH; i++) {
        for (size_t c = 0; c < labels; c++) {
            double sum = 0;
            for (size_t k = 0; k < all.count; k++) {
                sum += all.label[k][i] == c ? all.p[k] : 0;
            }
            assert_true(fabs(sum - (double)marginals[i * labels + c]) < 1e-5);
        }
    }
    for (size_t k = 0; k < all.count; k += 97) {
        trellis_text asked[LENGTH];
        double log_p;
        for (size_t i = 0; i < LENGTH; i++) {
            asked[i] = trellis_model_label(model, all.label[k][i]);
        }
        assert_ok(trellis_tagger_log_probability(tagger, asked, &log_p, &error), error);
        assert_true(fabs(exp(log_p) - all.p[k]) < 1e-6);
    }
    trellis_text unknown[LENGTH] = {{"X", 1}, {"O", 1}, {"O", 1}, {"O", 1}, {"O", 1}};
    double log_p;
    assert_ok(trellis_tagger_log_probability(tagger, unknown, &log_p, &error), error);
    assert_true(isinf(log_p) && log_p < 0);
    double p;
    assert_int_equal(trellis_tagger_nth_span_probability(tagger, 0, 2, 2, &p, &error),
                     TRELLIS_DATA);
    assert_int_equal(trellis_tagger_nth_span_probability(tagger, 0, 2, 9, &p, &error),
                     TRELLIS_DATA);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

/* For many thresholds: a span is output exactly if its probability, computed by itself, is high
 * enough; the bounds that save work must make no difference. */
static void a_threshold_drops_improbable_spans(void **state)
{
    (void)state;
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = LENGTH,
                                 .columns = 1,
                                 .cells = words,
                                 .weight = 1};
    trellis_error error = {0};
    for (size_t m = 0; m < TR_COUNT(models); m++) {
        trellis_model *model = train_on(corpus, models[m]);
        trellis_tagger *free_tagger = make_tagger(model, "");
        const trellis_text *labels;
        size_t left_out = 0, kept = 0;
        for (int percent = 1; percent < 100; percent += 2) {
            char setting[32];
            trellis_text whole[LENGTH];
            snprintf(setting, sizeof setting, "threshold=0.%02d", percent);
            trellis_tagger *tagger = make_tagger(model, setting);
            assert_ok(trellis_tagger_tag(free_tagger, &sequence, &labels, &error), error);
            memcpy(whole, labels, sizeof whole);
            assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
            for (size_t begin = 0, end; begin < LENGTH; begin = end) {
                for (end = begin + 1; end < LENGTH && goes_on(whole[end - 1], whole[end]); end++) {}
                double p;
                assert_ok(
                    trellis_tagger_nth_span_probability(free_tagger, 0, begin, end, &p, &error),
                    error);
                bool out = letter(whole[begin]) != 'O' && p < percent / 100.0;
                for (size_t i = begin; i < end; i++) {
                    assert_int_equal(letter(labels[i]) == 'O', out || letter(whole[i]) == 'O');
                }
                left_out += out;
                kept += !out && letter(whole[begin]) != 'O';
            }
            trellis_tagger_destroy(tagger);
        }
        assert_true(left_out > 0 && kept > 0);
        trellis_tagger_destroy(free_tagger);
        trellis_model_close(model);
    }
}

static void other_labels_are_dropped_one_by_one(void **state)
{
    (void)state;
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = LENGTH,
                                 .columns = 1,
                                 .cells = words,
                                 .weight = 1};
    trellis_error error = {0};
    trellis_model *model = train_on("the DT\ncat NN\n\na DT\ndog NN\nsleeps VB\n\nbird VB\n",
                                    "type=crf label=2");
    trellis_tagger *tagger = make_tagger(model, "threshold=0.6");
    const trellis_text *labels;
    const float *marginals;
    size_t left_out = 0;
    assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
    bool is_out[LENGTH];
    for (size_t i = 0; i < LENGTH; i++) {
        is_out[i] = letter(labels[i]) == '_';
    }
    assert_ok(trellis_tagger_nth_marginals(tagger, 0, &marginals, &error), error);
    for (size_t i = 0; i < LENGTH; i++) {
        assert_int_equal(is_out[i], marginals[i] < 0.6f);
        left_out += is_out[i];
    }
    assert_true(left_out > 0 && left_out < LENGTH);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
    model = train_on(corpus, "type=perceptron label=2");
    tagger = make_tagger(model, "threshold=0.6");
    assert_int_equal(trellis_tagger_tag(tagger, &sequence, &labels, &error), TRELLIS_MODEL);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

static void a_model_knows_its_words(void **state)
{
    (void)state;
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = LENGTH,
                                 .columns = 1,
                                 .cells = words,
                                 .weight = 1};
    trellis_error error = {0};
    trellis_model *model = train_on(corpus, models[0]);
    trellis_tagger *tagger = make_tagger(model, "");
    const bool *known;
    const bool wanted[LENGTH] = {true, true, true, true, false};
    assert_ok(trellis_tagger_known(tagger, NULL, &sequence, &known, &error), error);
    assert_non_null(known);
    assert_memory_equal(known, wanted, sizeof wanted);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(span_probability_is_the_sum_over_labellings),
        cmocka_unit_test(any_labels_and_all_labels_have_a_probability),
        cmocka_unit_test(a_threshold_drops_improbable_spans),
        cmocka_unit_test(other_labels_are_dropped_one_by_one),
        cmocka_unit_test(a_model_knows_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
