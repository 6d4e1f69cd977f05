/* test_inspect.c - inspections against the lines of an export. */
#include <math.h>

#include "test_model.h"

static const char corpus[] = "the DT\ncat NN\nsleeps VB\n\na DT\ndog NN\nbarks VB\nloudly RB\n\n"
                             "dogs NN\nchase VB\nthe DT\ncats NN\n\nCats NN\nsleep VB\n";

/* The weights that the lines of one kind have for a label, in an export. */
struct exported {
    double weights[4000];
    size_t count;
};

static struct exported *weights_of(const char *text, const char *kind, const char *label)
{
    static struct exported exported;
    char *copy = strdup(text), *rest = copy, *line;
    exported.count = 0;
    while ((line = strsep(&rest, "\n"))) {
        char *fields[12], *field;
        size_t count = 0;
        while (count < TR_COUNT(fields) && (field = strsep(&line, "\t"))) {
            fields[count++] = field;
        }
        bool step = strcmp(kind, "step") == 0;
        if (count > 2 && strcmp(fields[0], kind) == 0 &&
            strcmp(step ? fields[count - 1] : fields[2], label) == 0) {
            assert_true(exported.count < TR_COUNT(exported.weights));
            exported.weights[exported.count++] = strtod(fields[1], NULL);
        }
    }
    free(copy);
    return &exported;
}

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void check_list(const trellis_model *model, const trellis_inspection *inspection,
                       size_t label, trellis_ranking ranking, size_t top,
                       const struct exported *exported)
{
    size_t count, expected = 0;
    const trellis_weighted *list = trellis_inspection_top(inspection, label, ranking, &count);
    bool against = ranking == TRELLIS_FEATURES_LOWEST || ranking == TRELLIS_TRANSITIONS_LOWEST;
    for (size_t i = 0; i < exported->count; i++) {
        expected += against ? exported->weights[i] < 0 : exported->weights[i] > 0;
    }
    assert_int_equal(count, expected < top ? expected : top);
    for (size_t i = 0; i < count; i++) {
        double weight = exported->weights[against ? exported->count - 1 - i : i];
        assert_true(fabs(list[i].weight - weight) < 1e-6);
        trellis_text last = list[i].labels[list[i].label_count - 1];
        assert_true(tr_text_equal(last, trellis_model_label(model, label)));
    }
}

static void check_model(const char *options, size_t top)
{
    trellis_model *model = train_on(corpus, options);
    char *text = say(model, EXPORT);
    trellis_inspection *inspection;
    trellis_error error = {0};
    size_t lines = 0, weights = 0, count;
    assert_ok(trellis_inspection_create(model, top, &inspection, &error), error);
    for (size_t label = 0; label < trellis_model_label_count(model); label++) {
        char name[40];
        snprintf(name, sizeof name, "%.*s", TR_SHOW(trellis_model_label(model, label)));
        struct exported *node = weights_of(text, "node", name);
        lines += node->count;
        qsort(node->weights, node->count, sizeof *node->weights, falling);
        check_list(model, inspection, label, TRELLIS_FEATURES_HIGHEST, top, node);
        check_list(model, inspection, label, TRELLIS_FEATURES_LOWEST, top, node);
        struct exported *step = weights_of(text, "step", name);
        qsort(step->weights, step->count, sizeof *step->weights, falling);
        check_list(model, inspection, label, TRELLIS_TRANSITIONS_HIGHEST, top, step);
        check_list(model, inspection, label, TRELLIS_TRANSITIONS_LOWEST, top, step);
    }
    const trellis_template_usage *uses = trellis_inspection_templates(inspection, &count);
    for (size_t i = 0; i < count; i++) {
        assert_true(uses[i].text.size > 0);
        weights += uses[i].weights;
    }
    assert_int_equal(weights, lines);
    trellis_inspection_destroy(inspection);
    free(text);
    trellis_model_close(model);
}

static void test_top(void **state)
{
    (void)state;
    check_model("type=crf label=2", 3);
    check_model("type=crf label=2", 100000);
    check_model("type=crf label=2 order=2", 5);
    check_model("type=perceptron label=2", 0);
}

/* Transitions by their labels, the start, the end, and forbidden ones. */
static void test_transitions(void **state)
{
    static const char text[] =
        "trellis-text\t1\nnote\ttype\tcrf\ntemplate\tcolumns word\ntemplate\tnode word\n"
        "template\tstep\nlabel\tA\nlabel\tB\norder\t1\n"
        "forbid\tB\tA\n"
        "step\t0.5\tA\tA\nstep\t-0.25\tA\tB\nstep\t3\tB\tA\n"
        "step\t7\t\\start\tB\nstep\t9\tA\t\\end\n"
        "word\t2\tA\tx\n";
    trellis_model *model = import_model(put_text("model.txt", text));
    trellis_inspection *inspection;
    struct tr_buffer out = {0};
    trellis_error error = {0};
    size_t count;
    (void)state;
    assert_ok(trellis_inspection_create(model, 5, &inspection, &error), error);
    assert_true(trellis_inspection_transition(inspection, 0, 0) == 0.5);
    assert_true(trellis_inspection_transition(inspection, 0, 1) == -0.25);
    assert_true(trellis_inspection_transition(inspection, 1, 0) == -INFINITY);
    assert_true(trellis_inspection_transition(inspection, 2, 1) == 7);
    assert_true(trellis_inspection_transition(inspection, 0, 2) == 9);
    assert_true(trellis_inspection_transition(inspection, 1, 1) == 0);
    assert_true(trellis_inspection_transition(inspection, 3, 9) == 0);
    assert_int_equal(
        trellis_inspection_top(inspection, 2, TRELLIS_TRANSITIONS_HIGHEST, &count)->label_count, 2);
    assert_int_equal(count, 1);
    assert_null(trellis_inspection_top(inspection, 3, TRELLIS_TRANSITIONS_HIGHEST, &count));
    assert_ok(trellis_inspection_report(inspection, NULL, false, to_buffer, &out, &error), error);
    assert_non_null(memmem(out.data, out.size, "never", 5));
    out.size = 0;
    assert_ok(trellis_inspection_report(inspection, "B", true, to_buffer, &out, &error), error);
    tr_buffer_char(&out, '\0');
    assert_string_equal(
        out.data, "{\"labels\":[\n{\"label\":\"B\",\"positive\":[],\"negative\":[],"
                  "\"transitions_highest\":[{\"labels\":[\"<start>\",\"B\"],\"weight\":7}],"
                  "\"transitions_lowest\":[{\"labels\":[\"A\",\"B\"],\"weight\":-0.25}]}]}\n");
    out.size = 0;
    assert_int_equal(trellis_inspection_report(inspection, "C", false, to_buffer, &out, &error),
                     TRELLIS_DATA);
    tr_buffer_free(&out);
    trellis_inspection_destroy(inspection);
    trellis_inspection_destroy(NULL);
    trellis_model_close(model);
}

static void test_without_transitions(void **state)
{
    static const char text[] = "trellis-text\t1\nnote\ttype\tcrf\ntemplate\tcolumns word\n"
                               "template\tnode word\nlabel\tA\nlabel\tB\norder\t0\nword\t2\tA\tx\n";
    trellis_model *model = import_model(put_text("model.txt", text));
    trellis_inspection *inspection;
    struct tr_buffer out = {0};
    trellis_error error = {0};
    (void)state;
    assert_ok(trellis_inspection_create(model, 5, &inspection, &error), error);
    assert_ok(trellis_inspection_report(inspection, NULL, false, to_buffer, &out, &error), error);
    tr_buffer_char(&out, '\0');
    assert_non_null(strstr(out.data, "The model has no transition weights.\n"));
    tr_buffer_free(&out);
    trellis_inspection_destroy(inspection);
    trellis_model_close(model);
}

/* Templates of all dialects are told apart by what their attributes look like. */
static void test_templates(void **state)
{
    static const char *const templates[] = {
        "columns word\nnode word\nnode word & word[1]\nnode lower(word)\nstep\n",
        "U00:%x[0,0]\nU01:%x[0,0]/%x[1,0]\nU0:%x[-1,0]\nB\n",
    };
    (void)state;
    for (size_t t = 0; t < TR_COUNT(templates); t++) {
        char options[300];
        snprintf(options, sizeof options, "type=crf label=2 features=%s",
                 put_text("templates.txt", templates[t]));
        trellis_model *model = train_on(corpus, options);
        trellis_inspection *inspection;
        trellis_error error = {0};
        size_t count;
        assert_ok(trellis_inspection_create(model, 1, &inspection, &error), error);
        const trellis_template_usage *uses = trellis_inspection_templates(inspection, &count);
        assert_int_equal(count, 3);
        assert_int_equal(uses[0].attributes, 12);              // words
        assert_int_equal(uses[1].attributes, t == 0 ? 9 : 13); // pairs, with the ends in CRF++
        assert_int_equal(uses[2].attributes, t == 0 ? 11 : 9);
        trellis_inspection_destroy(inspection);
        trellis_model_close(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_top),
        cmocka_unit_test(test_transitions),
        cmocka_unit_test(test_without_transitions),
        cmocka_unit_test(test_templates),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
