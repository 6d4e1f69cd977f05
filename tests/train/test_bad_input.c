/* test_bad_input.c - data and options that nothing can be learned from, or just so: every case ends
 * in a sentence that says what is wrong, or in a model that is well defined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "support/settings.h"
#include "trellis.h"

/* ---- helpers --------------------------------------------------------------------------------- */

static char *write_file(const char *name, const char *text)
{
    const char *folder = getenv("TRELLIS_TMP");
    char *path = NULL;
    assert_true(asprintf(&path, "%s/bad-%d-%s", folder ? folder : "/tmp", (int)getpid(), name) > 0);
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

static void drop(char *path)
{
    unlink(path);
    free(path);
}

static trellis_status train_file(const char *path, const char *settings, trellis_model **ret_model,
                                 trellis_error *error)
{
    trellis_options *options;
    *ret_model = NULL;
    assert_int_equal(trellis_options_create(&options, error), TRELLIS_OK);
    trellis_status status = apply_settings(options, settings, error);
    if (!status) {
        status = trellis_train_files(options, &path, path ? 1 : 0, NULL, NULL, ret_model, error);
    }
    trellis_options_destroy(options);
    return status;
}

/* A training that must fail in this way, with this in its message. */
static void assert_refused(const char *text, const char *settings, trellis_status wanted,
                           const char *part)
{
    trellis_model *model;
    trellis_error error = {0};
    char *path = write_file("corpus", text);
    trellis_status status = train_file(path, settings, &model, &error);
    if (status != wanted || !strstr(error.message, part) || model) {
        fail_msg("%s: %s '%s', not %s '%s'", settings, trellis_status_name(status), error.message,
                 trellis_status_name(wanted), part);
    }
    drop(path);
}

/* A training that must end well; the model belongs to the caller. */
static trellis_model *assert_learned(const char *text, const char *settings)
{
    trellis_model *model;
    trellis_error error = {0};
    char *path = write_file("corpus", text);
    trellis_status status = train_file(path, settings, &model, &error);
    if (status) {
        fail_msg("%s: %s", settings, error.message);
    }
    drop(path);
    return model;
}

static trellis_status check_finite(void *user, const char *data, size_t size)
{
    (void)user;
    for (size_t i = 0; i + 2 < size; i++) {
        if (strncmp(data + i, "nan", 3) == 0 || strncmp(data + i, "inf", 3) == 0) {
            return TRELLIS_DATA;
        }
    }
    return TRELLIS_OK;
}

static void assert_finite(const trellis_model *model)
{
    assert_int_equal(trellis_model_export(model, false, check_finite, NULL, NULL), TRELLIS_OK);
}

/* Every way to learn. */
static const char *const ways[] = {
    "type=crf algorithm=lbfgs",
    "type=crf algorithm=cg",
    "type=crf algorithm=gd",
    "type=crf algorithm=sgd",
    "type=crf l1=1",
    "type=crf order=2",
    "type=crf algorithm=sgd batch=2",
    "type=crf algorithm=sgd prune=0.1",
    "type=crf algorithm=sgd prune=0.01 order=3",
    "type=maxent",
    "type=maxent algorithm=sgd",
    "type=perceptron",
    "type=perceptron algorithm=plain",
    "type=perceptron algorithm=pa",
    "type=perceptron algorithm=pa1",
    "type=perceptron algorithm=pa2",
    "type=perceptron algorithm=arow",
    "type=perceptron beam=2",
    "type=perceptron beam=1 update=early",
    "type=perceptron beam=1 update=max-violation",
    "type=mira",
    "type=mira mbest=1",
    "type=ssvm",
    "type=ssvm algorithm=subgradient",
    "type=crf loss=hamming",
    "type=crf algorithm=sgd loss=hamming",
};

/* One of the ways, and more settings behind it. */
static const char *way(size_t i, const char *more)
{
    static char text[600];
    snprintf(text, sizeof text, "%s %s", ways[i], more);
    return text;
}

#define PLAIN "the D\ncat N\n\na D\ndog N\nruns V\n\n"

/* ---- values ---------------------------------------------------------------------------------- */

static void test_values_that_are_no_numbers(void **state)
{
    (void)state;
    static const char *const values[] = {"nan",   "NaN", "inf",   "-inf",
                                         "1e999", "x",   "1e308", "-1e39"};
    char *templates = write_file("templates", "columns x\nnode real(x)\nstep\n");
    for (size_t i = 0; i < TR_COUNT(values); i++) {
        char crfsuite[100], columns[100], settings[500];
        snprintf(crfsuite, sizeof crfsuite, "A\tf:1\n\nB\tf:2\nA\tf:%s\n\n", values[i]);
        assert_refused(crfsuite, "format=crfsuite type=crf", TRELLIS_FORMAT, "a finite number");
        snprintf(columns, sizeof columns, "1 A\n\n2 B\n%s A\n\n", values[i]);
        snprintf(settings, sizeof settings, "type=crf features=%s", templates);
        assert_refused(columns, settings, TRELLIS_FORMAT, "line 4");
    }
    drop(templates);
}

/* Numbers near the end of single precision: a sentence, or finite weights. */
static void test_huge_values(void **state)
{
    (void)state;
    enum { FIRST_TOO_LARGE = 3 };
    static const char *const values[] = {"1e-40", "1e4", "1e10", "1e20", "1e30", "1e37", "3e38"};
    for (size_t k = 0; k < TR_COUNT(values); k++) {
        for (size_t i = 0; i < TR_COUNT(ways); i++) {
            char text[300];
            trellis_model *model;
            trellis_error error = {0};
            snprintf(text, sizeof text, "A\tf:%s\tg\nB\tf:-%s\nA\tf:%s\n\nB\tf:%s\nB\tg\n\n",
                     values[k], values[k], values[k], values[k]);
            char *path = write_file("corpus", text);
            trellis_status status = train_file(path, way(i, "format=crfsuite"), &model, &error);
            if (status) {
                assert_true(k >= FIRST_TOO_LARGE);
                assert_int_equal(status, TRELLIS_DATA);
                assert_true(strstr(error.message, "finite") || strstr(error.message, "too large"));
            } else {
                assert_finite(model);
            }
            trellis_model_close(model);
            drop(path);
        }
    }
}

static void test_weights_of_sequences(void **state)
{
    (void)state;
    assert_refused("@weight:nan\nA\tf\n\n", "format=crfsuite type=crf", TRELLIS_FORMAT,
                   "expected a weight of at least 0");
    assert_refused("@weight:-1\nA\tf\n\n", "format=crfsuite type=crf", TRELLIS_FORMAT,
                   "expected a weight of at least 0");
    for (size_t i = 0; i < TR_COUNT(ways); i++) { // nothing counts
        trellis_model *model = assert_learned("@weight:0\nA\tf\nB\tg\n\n@weight:0\nB\tf\n\n",
                                              way(i, "format=crfsuite"));
        assert_finite(model);
        trellis_model_close(model);
    }
}

/* ---- too little data ------------------------------------------------------------------------- */

static void test_no_sequences(void **state)
{
    (void)state;
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        assert_refused("", ways[i], TRELLIS_DATA, "nothing to learn from");
        assert_refused("\n\n \n", ways[i], TRELLIS_DATA, "nothing to learn from");
    }
    trellis_model *model;
    trellis_error error = {0};
    assert_int_equal(train_file(NULL, "type=crf", &model, &error), TRELLIS_DATA);
    assert_non_null(strstr(error.message, "no training data"));
    assert_int_equal(train_file("/nowhere/to be found", "type=crf", &model, &error), TRELLIS_IO);
    assert_non_null(strstr(error.message, "/nowhere/to be found"));
}

/* There is nothing to tell apart, so there is nothing to learn; but a model it is. */
static void test_one_label(void **state)
{
    (void)state;
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        trellis_model *model = assert_learned("the X\ncat X\n\na X\n\n", ways[i]);
        assert_int_equal(trellis_model_label_count(model), 1);
        assert_finite(model);
        trellis_model_close(model);
    }
}

/* No attribute is frequent enough: only steps are left, and without steps nothing at all. */
static void test_no_features(void **state)
{
    (void)state;
    char *templates = write_file("templates", "columns word\nnode word\n");
    char settings[500];
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        trellis_model *model = assert_learned(PLAIN, way(i, "min-count=1000"));
        assert_finite(model);
        trellis_model_close(model);
        snprintf(settings, sizeof settings, "min-count=1000 features=%s", templates);
        model = assert_learned(PLAIN, way(i, settings));
        assert_int_equal(trellis_model_label_count(model), 3);
        trellis_model_close(model);
    }
    drop(templates);
}

/* ---- dev data -------------------------------------------------------------------------------- */

static const char *with_dev(size_t i, const char *dev)
{
    static char text[700];
    snprintf(text, sizeof text, "%s epochs=4 dev=%s", ways[i], dev);
    return text;
}

/* A label that training has never seen counts as wrong, whatever is found. */
static void test_unseen_label_in_dev(void **state)
{
    (void)state;
    char *dev = write_file("dev", "the D\ncat NEW\n\nunknown NEWER\na D\n\n");
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        trellis_model *model = assert_learned(PLAIN, with_dev(i, dev));
        double correct = atof(trellis_model_note(model, "dev-accuracy"));
        assert_true(correct >= 0 && correct <= 0.5);
        assert_int_equal(trellis_model_label_count(model), 3);
        trellis_model_close(model);
    }
    drop(dev);
}

static void test_bad_dev(void **state)
{
    (void)state;
    char *templates = write_file("templates", "columns word pos\nnode word\nnode pos\nstep\n");
    static const char *const devs[][2] = {
        {"the D\n\n", "column"},
        {"the\n\n", "column"},
        {"", "no tokens to test on"},
    };
    for (size_t i = 0; i < TR_COUNT(devs); i++) {
        char *dev = write_file("dev", devs[i][0]);
        char settings[1000];
        snprintf(settings, sizeof settings, "type=crf features=%s dev=%s", templates, dev);
        trellis_model *model;
        trellis_error error = {0};
        char *path = write_file("corpus", "the DT D\ncat NN N\n\n");
        trellis_status status = train_file(path, settings, &model, &error);
        if (status == TRELLIS_OK || !strstr(error.message, devs[i][1])) {
            fail_msg("dev '%s': %s '%s'", devs[i][0], trellis_status_name(status), error.message);
        }
        assert_null(model);
        drop(path);
        drop(dev);
    }
    assert_refused(PLAIN, "type=crf dev=/nowhere/dev", TRELLIS_IO, "/nowhere/dev");
    drop(templates);
}

/* ---- options --------------------------------------------------------------------------------- */

static void test_unknown_ways(void **state)
{
    (void)state;
    assert_refused(PLAIN, "type=svm", TRELLIS_OPTION, "there is no type 'svm'");
    assert_refused(PLAIN, "type=svm", TRELLIS_OPTION, "crf");
    assert_refused(PLAIN, "type=crf algorithm=averaged", TRELLIS_OPTION, "lbfgs sgd cg gd");
    assert_refused(PLAIN, "type=perceptron algorithm=lbfgs", TRELLIS_OPTION, "averaged");
    assert_refused(PLAIN, "type=crf algorithm=lb", TRELLIS_OPTION, "no algorithm 'lb'");
    assert_refused(PLAIN, "type=crf algorithm=sgd l1=1", TRELLIS_OPTION, "--l1");
    assert_refused(PLAIN, "type=crf algorithm=cg l1=1", TRELLIS_OPTION, "l1");
    assert_refused(PLAIN, "type=crf algorithm=gd l1=1", TRELLIS_OPTION, "l1");
    assert_refused(PLAIN, "type=crf sigma=0", TRELLIS_OPTION, "--sigma must be above 0");
    assert_refused(PLAIN, "type=crf l2=-1", TRELLIS_OPTION, "--l2");
    assert_refused(PLAIN, "type=crf l2=nan", TRELLIS_OPTION, "--l2");
    assert_refused(PLAIN, "type=crf features=/nowhere/templates", TRELLIS_IO, "/nowhere/templates");
}

/* Losses, beams and m-best lists. */
static void test_margins(void **state)
{
    (void)state;
    static const char *const with_costs[] = {"type=perceptron algorithm=pa", "type=mira",
                                             "type=ssvm", "type=crf", "type=maxent"};
    static const char *const bad[][2] = {
        {"D Q 1\n", "there is no label 'Q'"},      {"Q D 1\n", "there is no label 'Q'"},
        {"D N -1\n", "a cost is a number from 0"}, {"D N nan\n", "a cost is a number from 0"},
        {"D N\n", "expected a gold label"},        {"D D 1\n", "the cost of a correct label is 0"},
    };
    for (size_t i = 0; i < TR_COUNT(bad); i++) {
        char *costs = write_file("costs", bad[i][0]), settings[500];
        for (size_t k = 0; k < TR_COUNT(with_costs); k++) {
            snprintf(settings, sizeof settings, "%s cost=%s", with_costs[k], costs);
            assert_refused(PLAIN, settings, TRELLIS_FORMAT, bad[i][1]);
        }
        drop(costs);
    }
    assert_refused(PLAIN, "type=crf cost=/nowhere/costs", TRELLIS_IO, "/nowhere/costs");
    assert_refused(PLAIN, "type=crf span-loss=2", TRELLIS_DATA, "--span-loss needs span labels");
    assert_refused(PLAIN, "type=mira span-loss=-1", TRELLIS_OPTION, "--span-loss");
    assert_refused(PLAIN, "type=crf loss=root", TRELLIS_OPTION, "--loss root does not decompose");
    assert_refused(PLAIN, "type=ssvm loss=count", TRELLIS_OPTION,
                   "--loss count does not decompose");
    assert_refused(PLAIN, "type=crf min-feature-count=2 all-features=yes", TRELLIS_OPTION,
                   "--all-features");
    assert_refused(PLAIN, "type=crf min-feature-count=2 partial=yes", TRELLIS_OPTION, "--partial");
    assert_refused(PLAIN, "type=hmm transitions=all", TRELLIS_OPTION, "does not apply to -t hmm");
    assert_refused("the _\ncat N\n\na D\n\n", "type=crf loss=hamming partial=yes", TRELLIS_OPTION,
                   "--partial");
    assert_refused(PLAIN, "type=mira mbest=0", TRELLIS_OPTION, "between 1 and 100");
    assert_refused(PLAIN, "type=perceptron beam=0", TRELLIS_OPTION, "between 1 and 1000000");
    assert_refused(PLAIN, "type=perceptron update=late", TRELLIS_OPTION, "max-violation");
    assert_refused(PLAIN, "type=crf beam=4", TRELLIS_OPTION, "-t perceptron");
    assert_refused(PLAIN, "type=mira update=early", TRELLIS_OPTION, "-t perceptron");
    assert_refused(PLAIN, "type=crf algorithm=sgd prune=-1", TRELLIS_OPTION, "between 0 and 1");
    assert_refused(PLAIN, "type=crf algorithm=sgd prune=nan", TRELLIS_OPTION, "--prune");
    assert_refused(PLAIN, "type=perceptron l2=0.1", TRELLIS_OPTION,
                   "--l2 does not apply to -t perceptron -a averaged; it is for -t ssvm, -t crf, "
                   "-t maxent, -t memm");
    assert_refused(PLAIN, "type=crf mbest=3", TRELLIS_OPTION, "it is for -t mira");
    assert_refused(PLAIN, "type=crf prune=0.1", TRELLIS_OPTION, "-t crf -a sgd");
    assert_refused(PLAIN, "type=maxent algorithm=sgd prune=0.1", TRELLIS_OPTION, "-t crf -a sgd");
}

static void test_no_label_column(void **state)
{
    (void)state;
    assert_refused(PLAIN, "type=crf label=none", TRELLIS_DATA, "no label column");
    assert_refused(PLAIN, "type=crf label=7", TRELLIS_FORMAT, "column");
}

/* 60 labels and order 8 would be 60^9 steps. */
static void test_order_too_high(void **state)
{
    (void)state;
    char text[2000] = "";
    for (int i = 0; i < 60; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "w%d L%d\n", i % 7, i);
    }
    assert_refused(text, "type=crf order=8", TRELLIS_LIMIT, "a lower order");
    assert_refused(text, "type=perceptron order=5", TRELLIS_LIMIT, "a lower order");
    assert_refused(text, "type=crf order=9", TRELLIS_OPTION, "--order");
    trellis_model_close(assert_learned(text, "type=crf order=8 observed-states=yes epochs=2"));
    trellis_model_close(
        assert_learned("a X\nb Y\n\n", "type=crf order=8 epochs=2")); // longer than the data
}

static void test_memory_too_small(void **state)
{
    (void)state;
    assert_refused(PLAIN, "type=crf memory=1k", TRELLIS_LIMIT, "--memory");
    assert_refused(PLAIN, "type=crf memory=1", TRELLIS_LIMIT, "--memory");
    assert_refused(PLAIN, "type=crf memory=lots", TRELLIS_OPTION, "500M");
    assert_refused(PLAIN, "type=crf memory=-1", TRELLIS_OPTION, "500M");
    trellis_model_close(assert_learned(PLAIN, "type=crf memory=1G"));
    /* 8000 tokens: the labellings that the support vector machine keeps count. */
    struct tr_buffer many = {0};
    for (int i = 0; i < 8000; i++) {
        tr_buffer_string(&many, i % 2 ? "cat N\n\n" : "the D\n");
    }
    tr_buffer_char(&many, 0);
    trellis_model_close(
        assert_learned(many.data, "type=perceptron features=id memory=1M epochs=1"));
    assert_refused(many.data, "type=ssvm features=id memory=1M", TRELLIS_LIMIT, "--memory");
    tr_buffer_free(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_that_are_no_numbers),
        cmocka_unit_test(test_huge_values),
        cmocka_unit_test(test_weights_of_sequences),
        cmocka_unit_test(test_no_sequences),
        cmocka_unit_test(test_one_label),
        cmocka_unit_test(test_no_features),
        cmocka_unit_test(test_unseen_label_in_dev),
        cmocka_unit_test(test_bad_dev),
        cmocka_unit_test(test_unknown_ways),
        cmocka_unit_test(test_margins),
        cmocka_unit_test(test_no_label_column),
        cmocka_unit_test(test_order_too_high),
        cmocka_unit_test(test_memory_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
