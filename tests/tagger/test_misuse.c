/* test_misuse.c - sequences that a caller built wrongly, and numbers out of range, are a status at
 * once, and messages about sequences in memory do not speak of lines. */
#include "../model/test_model.h"

#include <math.h>
#include <sys/stat.h>

static trellis_model *columns_model, *attributes_model;

static int make_models(void **state)
{
    if (group_setup(state)) {
        return -1;
    }
    columns_model = train_on("x A\ny B\n\ny B\nx A\n", "epochs=3");
    attributes_model = train_on("A\tw=x\nB\tw=y:2\n\n", "epochs=3 format=crfsuite");
    return 0;
}

static int end(void **state)
{
    trellis_model_close(columns_model);
    trellis_model_close(attributes_model);
    return group_teardown(state);
}

static trellis_status tag_one(const trellis_model *model, const trellis_sequence *sequence,
                              trellis_error *error)
{
    trellis_tagger *tagger;
    const trellis_text *labels = &(trellis_text){"", 0};
    assert_ok(trellis_tagger_create(model, NULL, &tagger, error), *error);
    trellis_status status = trellis_tagger_tag(tagger, sequence, &labels, error);
    assert_true(status == TRELLIS_OK || labels == NULL);
    trellis_tagger_destroy(tagger);
    return status;
}

static void assert_refused(const trellis_model *model, const trellis_sequence *sequence,
                           const char *message)
{
    trellis_error error = {0};
    trellis_status status = tag_one(model, sequence, &error);
    if (status != TRELLIS_DATA && status != TRELLIS_FORMAT) {
        fail_msg("%s: status %s", message, trellis_status_name(status));
    }
    if (!strstr(error.message, message) || strstr(error.message, "line ")) {
        fail_msg("'%s' instead of '%s'", error.message, message);
    }
}

static void test_sequences(void **state)
{
    (void)state;
    trellis_text cells[] = {TR_TEXT("x"), TR_TEXT("y")};
    trellis_attribute attributes[] = {{TR_TEXT("w=x"), 1}, {TR_TEXT("w=y"), 1}};
    size_t descending[] = {2, 1, 0};
    trellis_sequence sequence = {.struct_size = sizeof sequence, .length = 2, .weight = 1};
    sequence.columns = 1;
    assert_refused(columns_model, &sequence, "the sequence has columns but no cells");
    sequence.columns = 0;
    sequence.attributes = attributes;
    assert_refused(attributes_model, &sequence, "only one of attributes and attribute_begin");
    sequence.attribute_begin = descending;
    assert_refused(attributes_model, &sequence, "descending attribute_begin");
    sequence.attributes = NULL;
    sequence.attribute_begin = (size_t[]){0, 1, 2};
    assert_refused(attributes_model, &sequence, "only one of attributes and attribute_begin");
    sequence.attributes = attributes;
    attributes[1].value = (double)INFINITY;
    assert_refused(attributes_model, &sequence,
                   "token 2: the value of 'w=y' is not a finite number");
    sequence.attributes = NULL;
    sequence.attribute_begin = NULL;
    assert_refused(columns_model, &sequence, "column");
    sequence.columns = 1;
    sequence.cells = cells;
    assert_refused(attributes_model, &sequence,
                   "the input has columns, but the model was trained on");
}

static void test_numbers(void **state)
{
    (void)state;
    trellis_error error = {0};
    trellis_tagger *tagger;
    trellis_text cells[] = {TR_TEXT("x"), TR_TEXT("y")};
    trellis_sequence sequence = {
        .struct_size = sizeof sequence, .length = 2, .columns = 1, .cells = cells, .weight = 1};
    const trellis_text *labels;
    double probability;
    assert_ok(trellis_tagger_create(columns_model, NULL, &tagger, &error), error);
    assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
    const int32_t wrong[] = {0, 2}, negative[] = {-1, 0};
    assert_true(trellis_tagger_score_numbers(tagger, wrong) !=
                trellis_tagger_score_numbers(tagger, wrong));
    assert_true(trellis_tagger_score_numbers(tagger, negative) !=
                trellis_tagger_score_numbers(tagger, negative));
    assert_true(trellis_model_weight(columns_model, 0, wrong + 1, 1) !=
                trellis_model_weight(columns_model, 0, wrong + 1, 1));
    assert_int_not_equal(trellis_tagger_nth_span_probability(tagger, 0, 1, 9, &probability, &error),
                         TRELLIS_OK);
    assert_int_not_equal(trellis_tagger_nth_span_probability(tagger, 0, 2, 1, &probability, &error),
                         TRELLIS_OK);
    trellis_text label = TR_TEXT("A");
    assert_ok(trellis_tagger_allow(tagger, 1000, &label, 1, &error), error);
    assert_int_equal(trellis_tagger_tag(tagger, &sequence, &labels, &error), TRELLIS_DATA);
    assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
    trellis_tagger_destroy(tagger);
}

static void test_directory(void **state)
{
    (void)state;
    trellis_error error = {0};
    trellis_model *model;
    assert_int_equal(mkdir(path_of("folder"), 0755), 0);
    assert_int_equal(trellis_model_open(path_of("folder"), &model, &error), TRELLIS_IO);
    assert_non_null(strstr(error.message, "it is a directory"));
    assert_null(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_directory),
    };
    return cmocka_run_group_tests(tests, make_models, end);
}
