/* test_loss.c - the loss of a labelling: by position, as a sum, and added to scores. */
#include <math.h>

#include "base/random.h"
#include "model/test_model.h"
#include "lattice/loss.h"

static struct tr_intern make_labels(const char *const *texts, size_t count)
{
    struct tr_intern labels = {0};
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(tr_intern_add(&labels, tr_text(texts[i])), i);
    }
    return labels;
}

enum { O, B_X, I_X, B_Y, I_Y, COUNT };
static const char *const span_labels[] = {"O", "B-X", "I-X", "B-Y", "I-Y"};

static struct tr_loss *make_loss(const char *settings, const struct tr_intern *labels)
{
    trellis_options *options = make_options(settings);
    trellis_error error = {0};
    struct tr_loss *loss;
    assert_ok(tr_loss_create(options, labels, COUNT, &loss, &error), error);
    trellis_options_destroy(options);
    return loss;
}

static void assert_costs(const struct tr_loss *loss, const uint16_t *gold, size_t n,
                         double expected[][COUNT])
{
    enum { STRIDE = 8 };
    float scores[4 * STRIDE];
    uint16_t found[4];
    for (size_t i = 0; i < n * STRIDE; i++) {
        scores[i] = (float)i;
    }
    tr_loss_augment(loss, gold, n, 3, scores, STRIDE);
    for (size_t i = 0; i < n; i++) {
        for (uint16_t c = 0; c < COUNT; c++) {
            assert_true(fabs(tr_loss_at(loss, gold, n, i, c) - expected[i][c]) < 1e-9);
            double added = (double)scores[i * STRIDE + c] - (double)(i * STRIDE + c);
            assert_true(fabs(added - 3 * expected[i][c]) < 1e-4);
        }
        assert_true(scores[i * STRIDE + COUNT] == (float)(i * STRIDE + COUNT)); // beyond the labels
    }
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        found[i] = (uint16_t)((gold[i] + i) % COUNT);
        sum += expected[i][found[i]];
    }
    assert_true(fabs(tr_loss_of(loss, gold, found, n) - sum) < 1e-9);
}

static const uint16_t gold[] = {B_X, I_X, O, O};

static void test_hamming(void **state)
{
    (void)state;
    struct tr_intern labels = make_labels(span_labels, COUNT);
    struct tr_loss *loss = make_loss("", &labels);
    double costs[4][COUNT] = {{1, 0, 1, 1, 1}, {1, 1, 0, 1, 1}, {0, 1, 1, 1, 1}, {0, 1, 1, 1, 1}};
    assert_costs(loss, gold, 4, costs);
    assert_true(tr_loss_of(loss, gold, gold, 0) == 0);
    tr_loss_destroy(loss);
    tr_loss_destroy(NULL);
    tr_intern_free(&labels);
}

static void test_cost_file(void **state)
{
    (void)state;
    struct tr_intern labels = make_labels(span_labels, COUNT);
    char settings[700];
    snprintf(
        settings, sizeof settings, "cost=%s",
        put_text("costs", "# right, found, cost\nO B-X 5\n\n  O\tB-Y 0\nB-X I-Y 0.5\nO O 0\n"));
    struct tr_loss *loss = make_loss(settings, &labels);
    double costs[4][COUNT] = {{1, 0, 1, 1, 0.5}, {1, 1, 0, 1, 1}, {0, 5, 1, 0, 1}, {0, 5, 1, 0, 1}};
    assert_costs(loss, gold, 4, costs);
    tr_loss_destroy(loss);

    /* Both together multiply. Position 3 is far from the span: only a label that begins a span
     * breaks it. */
    strcat(settings, " span-loss=2");
    loss = make_loss(settings, &labels);
    double both[4][COUNT] = {{2, 0, 2, 2, 1}, {2, 2, 0, 2, 2}, {0, 10, 2, 0, 2}, {0, 10, 1, 0, 1}};
    assert_costs(loss, gold, 4, both);
    tr_loss_destroy(loss);
    tr_intern_free(&labels);
}

static void test_span_loss(void **state)
{
    (void)state;
    struct tr_intern labels = make_labels(span_labels, COUNT);
    struct tr_loss *loss = make_loss("span-loss=4", &labels);
    /* A span of three: the middle position is not beside a boundary. */
    uint16_t long_span[] = {B_X, I_X, I_X};
    double costs[3][COUNT] = {{4, 0, 4, 4, 4}, {1, 4, 0, 4, 1}, {4, 4, 0, 4, 4}};
    assert_costs(loss, long_span, 3, costs);
    /* In iob1 a span may begin with I, and a change of type ends one. */
    uint16_t iob1[] = {I_X, I_X, I_Y, I_Y};
    double all[4][COUNT] = {{4, 4, 0, 4, 4}, {4, 4, 0, 4, 4}, {4, 4, 4, 4, 0}, {4, 4, 4, 4, 0}};
    assert_costs(loss, iob1, 4, all);
    tr_loss_destroy(loss);
    tr_intern_free(&labels);
}

static void assert_refused(const char *text, const char *more, trellis_status wanted,
                           const char *part)
{
    struct tr_intern labels = make_labels(span_labels, COUNT);
    char settings[700];
    struct tr_loss *loss;
    trellis_error error = {0};
    snprintf(settings, sizeof settings, "cost=%s %s", put_text("bad", text), more);
    trellis_options *options = make_options(settings);
    trellis_status status = tr_loss_create(options, &labels, COUNT, &loss, &error);
    if (status != wanted || !strstr(error.message, part)) {
        fail_msg("'%s': %s: %s", text, trellis_status_name(status), error.message);
    }
    assert_null(loss);
    trellis_options_destroy(options);
    tr_intern_free(&labels);
}

static void test_bad_files(void **state)
{
    (void)state;
    assert_refused("O B-X 1\nO Q 1\n", "", TRELLIS_FORMAT, "bad:2: there is no label 'Q'");
    assert_refused("Q O 1\n", "", TRELLIS_FORMAT, "bad:1: there is no label 'Q'");
    assert_refused("\nO B-X -1\n", "", TRELLIS_FORMAT, "bad:2: a cost is a number from 0");
    assert_refused("O B-X nan\n", "", TRELLIS_FORMAT, "a cost is a number");
    assert_refused("O B-X much\n", "", TRELLIS_FORMAT, "a cost is a number");
    assert_refused("O B-X 1e30\n", "", TRELLIS_FORMAT, "a cost is a number");
    assert_refused("O O 1\n", "", TRELLIS_FORMAT, "the cost of a correct label is 0");
    assert_refused("O B-X\n", "", TRELLIS_FORMAT,
                   "expected a gold label, a predicted label and a cost");
    assert_refused("O B-X 1 2\n", "", TRELLIS_FORMAT,
                   "expected a gold label, a predicted label and a cost");
    assert_refused("O B-X 1\nO I-X 1\nO B-X 2\n", "", TRELLIS_FORMAT, "given twice");
    struct tr_loss *loss;
    trellis_error error = {0};
    trellis_options *options = make_options("cost=/no/such/file");
    struct tr_intern labels = make_labels(span_labels, COUNT);
    assert_true(tr_loss_create(options, &labels, COUNT, &loss, &error) != TRELLIS_OK);
    trellis_options_destroy(options);
    tr_intern_free(&labels);

    /* Labels that are not spans, and costs in a training. */
    trellis_model *model;
    const char *corpus = put_text("nouns", "a NN\nb VB\n");
    options = make_options("algorithm=pa span-loss=2");
    assert_int_equal(trellis_train_files(options, &corpus, 1, NULL, NULL, &model, &error),
                     TRELLIS_DATA);
    assert_non_null(strstr(error.message, "needs span labels"));
    trellis_options_destroy(options);
    char settings[700];
    snprintf(settings, sizeof settings, "type=ssvm cost=%s", put_text("bad", "NN XX 2\n"));
    options = make_options(settings);
    assert_int_equal(trellis_train_files(options, &corpus, 1, NULL, NULL, &model, &error),
                     TRELLIS_FORMAT);
    trellis_options_destroy(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hamming),
        cmocka_unit_test(test_cost_file),
        cmocka_unit_test(test_span_loss),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
