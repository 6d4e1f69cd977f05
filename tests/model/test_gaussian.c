/* test_gaussian.c - sampling from and inspecting models with normal distributions. */
#include <math.h>

#include "model/model.h"
#include "model/test_model.h"

enum { LABELS = 2, COLUMNS = 2 };

static const double mean[LABELS][COLUMNS] = {{-3, 100}, {2, 101}};
static const double deviation[LABELS][COLUMNS] = {{0.5, 1}, {1.5, 0.25}};

/* Two labels in runs of about ten tokens. */
static const char by_hand[] = "trellis-text 1\n"
                              "note\ttype\thmm\n"
                              "label\tA\nlabel\tB\n"
                              "step\tlog(0.5)\t\\start\tA\n"
                              "step\tlog(0.5)\t\\start\tB\n"
                              "step\tlog(0.86)\tA\tA\n"
                              "step\tlog(0.09)\tA\tB\n"
                              "step\tlog(0.05)\tA\t\\end\n"
                              "step\tlog(0.86)\tB\tB\n"
                              "step\tlog(0.09)\tB\tA\n"
                              "step\tlog(0.05)\tB\t\\end\n";

static trellis_model *make_model(const char *first, const char *second)
{
    struct tr_buffer text = {0};
    trellis_error error = {0};
    trellis_model *model;
    tr_buffer_string(&text, by_hand);
    for (int c = 0; c < LABELS; c++) {
        for (int d = 0; d < COLUMNS; d++) {
            tr_buffer_format(&text, "gaussian\t%c\t%s\t%.17g\t%.17g\n", 'A' + c, d ? second : first,
                             mean[c][d], deviation[c][d] * deviation[c][d]);
        }
    }
    assert_ok(trellis_model_import(put_file("hand", text.data, text.size), &model, &error), error);
    tr_buffer_free(&text);
    return model;
}

static trellis_status append(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

static char *draw(const trellis_model *model, const char *settings)
{
    struct tr_buffer out = {0};
    trellis_error error = {0};
    trellis_writer *writer;
    trellis_options *options = make_options(settings);
    assert_ok(trellis_writer_create(options, append, &out, &writer, &error), error);
    assert_ok(trellis_sample(model, options, writer, &error), error);
    assert_ok(trellis_writer_finish(writer, &error), error);
    trellis_writer_destroy(writer);
    trellis_options_destroy(options);
    tr_buffer_char(&out, 0);
    return out.data;
}

/* ---- sampling -------------------------------------------------------------------------------- */

/* Sums of x, x^2, x^3 in units of the deviation from the mean, by label and column. */
struct moments {
    double n, sum[3];
};

static void count_numbers(const char *text, struct moments moments[LABELS][COLUMNS])
{
    char copy[200];
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        double x[COLUMNS];
        char label;
        snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
        if (sscanf(copy, "%lf %lf %c", &x[0], &x[1], &label) != 3) {
            assert_int_equal(*copy, 0); // the end of a sequence
            continue;
        }
        for (size_t d = 0; d < COLUMNS; d++) {
            struct moments *m = &moments[label - 'A'][d];
            double unit = (x[d] - mean[label - 'A'][d]) / deviation[label - 'A'][d];
            m->n++;
            m->sum[0] += unit;
            m->sum[1] += unit * unit;
            m->sum[2] += unit * unit * unit;
        }
    }
}

/* Of n standard normal numbers the sums of powers have variances n, 2n and 15n. */
static void test_moments(void **state)
{
    (void)state;
    trellis_model *model = make_model("1", "2");
    char *text = draw(model, "tokens=40000 seed=5");
    struct moments moments[LABELS][COLUMNS] = {0};
    count_numbers(text, moments);
    for (size_t i = 0; i < LABELS * COLUMNS; i++) {
        const struct moments *m = &moments[i / COLUMNS][i % COLUMNS];
        assert_true(m->n > 15000);
        assert_true(fabs(m->sum[0]) < 4.5 * sqrt(m->n));
        assert_true(fabs(m->sum[1] - m->n) < 4.5 * sqrt(2 * m->n));
        assert_true(fabs(m->sum[2]) < 4.5 * sqrt(15 * m->n));
    }
    char *again = draw(model, "tokens=40000 seed=5"), *other = draw(model, "tokens=400 seed=6");
    assert_string_equal(text, again);
    assert_int_not_equal(memcmp(text, other, 40), 0);
    free(text);
    free(again);
    free(other);
    trellis_model_close(model);
}

/* Sampled labels are recovered by tagging, and the model by training without labels. */
static void test_recovered(void **state)
{
    (void)state;
    trellis_model *model = make_model("1", "2"), *learned;
    trellis_error error = {0};
    char *text = draw(model, "tokens=6000 seed=2");
    const char *path = put_text("drawn", text);
    trellis_evaluation *evaluation = evaluate_by(model, path, "");
    trellis_scores scores = {.struct_size = sizeof scores};
    trellis_evaluation_scores(evaluation, &scores);
    assert_true(scores.accuracy > 0.99);
    trellis_evaluation_destroy(evaluation);
    trellis_options *options = make_options("type=hmm algorithm=em states=2 gaussian=1,2");
    assert_ok(trellis_train_files(options, &path, 1, NULL, NULL, &learned, &error), error);
    size_t a = learned->gaussian.mean[0] < 0 ? 0 : 1; // which of the states is A
    for (size_t c = 0; c < LABELS; c++) {
        for (size_t d = 0; d < COLUMNS; d++) {
            double found = learned->gaussian.mean[(a ^ c) * COLUMNS + d];
            assert_true(fabs(found - mean[c][d]) < 0.1 * deviation[c][d]);
        }
    }
    trellis_options_destroy(options);
    trellis_model_close(learned);
    trellis_model_close(model);
    free(text);
}

/* Numbers keep their column numbers, named columns their order; gaps are filled. */
static void test_columns(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"x", "y"}, {"2", "1"}, {"3", "1"}, {"99999999999", "1"}};
    static const int columns[] = {3, 3, 4, 3}, first[] = {0, 1, 2, 0};
    for (size_t i = 0; i < TR_COUNT(columns); i++) {
        trellis_model *model = make_model(names[i][0], names[i][1]);
        char *text = draw(model, "tokens=1 seed=3"), *rest = text, *cell;
        text[strcspn(text, "\n")] = 0;
        int count = 0;
        for (; (cell = strsep(&rest, " \t")); count++) {
            if (i == 2 && count == 1) {
                assert_string_equal(cell, "_");
            } else if (count == first[i]) {
                assert_true(fabs(strtod(cell, NULL)) < 20);
            } else if (count < columns[i] - 1) {
                assert_true(fabs(strtod(cell, NULL) - 100) < 20);
            }
        }
        assert_int_equal(count, columns[i]);
        free(text);
        trellis_model_close(model);
    }
}

/* Words and numbers together. */
static void test_words_and_numbers(void **state)
{
    (void)state;
    trellis_model *model = train_on("a 1 A\nb 9 B\na 2 A\n\nb 8 B\n",
                                    "type=hmm features=id gaussian=2");
    char *text = draw(model, "tokens=300 seed=3"), label;
    char word;
    double x;
    assert_int_equal(sscanf(text, "%c %lf %c", &word, &x, &label), 3);
    assert_true((word == 'a' && label == 'A' && x < 5) || (word == 'b' && label == 'B' && x > 5));
    free(text);
    trellis_model_close(model);
}

/* ---- inspecting ------------------------------------------------------------------------------ */

static void test_inspection(void **state)
{
    (void)state;
    trellis_model *model = make_model("x", "y");
    trellis_error error = {0};
    trellis_inspection *inspection;
    struct tr_buffer text = {0}, json = {0};
    assert_ok(trellis_inspection_create(model, 3, &inspection, &error), error);
    assert_ok(trellis_inspection_report(inspection, NULL, false, append, &text, &error), error);
    assert_ok(trellis_inspection_report(inspection, "B", true, append, &json, &error), error);
    tr_buffer_char(&text, 0);
    tr_buffer_char(&json, 0);
    assert_non_null(strstr(text.data, "        -3         0.5  x\n"));
    assert_non_null(strstr(text.data, "       101        0.25  y\n"));
    assert_non_null(strstr(json.data,
                           "\"gaussian\":[{\"column\":\"x\",\"mean\":2,\"deviation\":1.5},"
                           "{\"column\":\"y\",\"mean\":101,\"deviation\":0.25}]"));
    tr_buffer_free(&text);
    tr_buffer_free(&json);
    trellis_inspection_destroy(inspection);
    trellis_model_close(model);
}

static double log_normal(double x, int c, int d)
{
    double distance = (x - mean[c][d]) / deviation[c][d];
    return -0.5 * distance * distance - log(deviation[c][d] * sqrt(2 * M_PI));
}

/* Each column has its contribution, and together with the transitions they sum to the margin. */
static void test_explanation(void **state)
{
    (void)state;
    trellis_model *model = make_model("1", "2");
    trellis_error error = {0};
    trellis_explainer *explainer;
    const trellis_explanation *reasons;
    trellis_text cells[] = {tr_text("-1"), tr_text("100.5")};
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = 1,
                                 .columns = 2,
                                 .cells = cells,
                                 .weight = 1};
    assert_ok(trellis_explainer_create(model, NULL, &explainer, &error), error);
    assert_ok(trellis_explainer_run(explainer, &sequence, &reasons, &error), error);
    int chosen = reasons[0].predicted.data[0] - 'A';
    size_t found = 0;
    double margin = 0, wanted = 0;
    for (size_t k = 0; k < reasons[0].contribution_count; k++) {
        const trellis_contribution *c = &reasons[0].contributions[k];
        int d = tr_text_is(c->attribute, "1=-1") ? 0 : tr_text_is(c->attribute, "2=100.5") ? 1 : -1;
        if (d >= 0) {
            double x = d ? 100.5 : -1;
            assert_true(fabs(c->predicted - log_normal(x, chosen, d)) < 1e-9);
            assert_true(fabs(c->runner_up - log_normal(x, 1 - chosen, d)) < 1e-9);
            wanted += log_normal(x, chosen, d) - log_normal(x, 1 - chosen, d);
            found++;
        }
        margin += c->predicted - c->runner_up;
    }
    assert_int_equal(found, 2);
    assert_true(fabs(reasons[0].margin - margin) < 1e-9 && fabs(margin - wanted) < 1e-6);
    trellis_explainer_destroy(explainer);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),    cmocka_unit_test(test_recovered),
        cmocka_unit_test(test_columns),    cmocka_unit_test(test_words_and_numbers),
        cmocka_unit_test(test_inspection), cmocka_unit_test(test_explanation),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
