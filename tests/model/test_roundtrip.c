/* test_roundtrip.c - a model is the same model after it was saved and opened, exported and
 * imported. */
#include "test_model.h"

#include <jansson.h>

static const char tagged[] = "the DT\ncat NN\nsleeps VB\n\n"
                             "a DT\ndog NN\nbarks VB\nloudly RB\n\n"
                             "dogs NN\nchase VB\nthe DT\ncats NN\n\n"
                             "Cats NN\nsleep VB\n\n"
                             "the DT\ndog NN\nsees VB\na DT\nC-3 NN\nquickly RB\n";

static const char *const sentences[] = {"the dog sleeps", "a cat barks quickly", "Dogs chase cats",
                                        "zebra", "the the the a-1 barks barks the X9"};

static const char edge_templates[] = "columns word\n"
                                     "node word\n"
                                     "node suffix(word,1..2)\n"
                                     "edge word\n"
                                     "edge suffix(word,1)\n"
                                     "step start end\n";

/* CRF++'s dialect, comments and all. */
static const char crfpp_templates[] =
    "# Unigram\nU00:%x[-1,0]\nU01:%x[0,0]\nU02:%x[0,0]/%x[1,0]\n\nB\n";

/* Same labels, same notes, and the same tags and scores on everything. */
static void assert_same_model(const trellis_model *a, const trellis_model *b)
{
    assert_int_equal(trellis_model_label_count(a), trellis_model_label_count(b));
    for (size_t i = 0; i < trellis_model_label_count(a); i++) {
        assert_true(tr_text_equal(trellis_model_label(a, i), trellis_model_label(b, i)));
    }
    static const char *const notes[] = {"type", "algorithm", "sequences", "tokens", "version"};
    for (size_t i = 0; i < TR_COUNT(notes); i++) {
        assert_string_equal(trellis_model_note(a, notes[i]), trellis_model_note(b, notes[i]));
    }
    for (size_t i = 0; i < TR_COUNT(sentences); i++) {
        double score_a, score_b;
        char *tags_a = tag_by(a, sentences[i], &score_a),
             *tags_b = tag_by(b, sentences[i], &score_b);
        assert_string_equal(tags_a, tags_b);
        assert_true(score_a == score_b);
        assert_true(tags_a[0] != '!');
        free(tags_a);
        free(tags_b);
    }
}

static void check_saving(const trellis_model *model)
{
    trellis_error error = {0};
    assert_ok(trellis_model_save(model, path_of("saved.model"), &error), error);
    trellis_model *opened = open_model(path_of("saved.model"));
    assert_same_model(model, opened);
    for (enum what what = INFO; what <= EXPORT_JSON; what++) {
        char *before = say(model, what), *after = say(opened, what);
        assert_string_equal(before, after);
        free(before);
        free(after);
    }
    trellis_model_close(opened);
}

static void check_text_form(const trellis_model *model)
{
    char *text = say(model, EXPORT);
    const char *path = put_text("model.txt", text);
    trellis_model *imported = import_model(path);
    assert_same_model(model, imported);
    char *again = say(imported, EXPORT);
    assert_string_equal(text, again);
    free(again);
    check_saving(imported);
    /* The text form can be opened like any model, too. */
    trellis_model *opened = open_model(path);
    assert_same_model(model, opened);
    trellis_model_close(opened);
    trellis_model_close(imported);
    free(text);
}

static void check_json(const trellis_model *model)
{
    for (enum what what = INFO_JSON; what <= EXPORT_JSON; what += EXPORT_JSON - INFO_JSON) {
        char *text = say(model, what);
        json_error_t error;
        json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
        if (!json) {
            fail_msg("line %d: %s", error.line, error.text);
        }
        json_t *labels = json_object_get(json, "labels");
        assert_int_equal(json_array_size(labels), trellis_model_label_count(model));
        for (size_t i = 0; i < json_array_size(labels); i++) {
            assert_true(tr_text_is(trellis_model_label(model, i),
                                   json_string_value(json_array_get(labels, i))));
        }
        json_decref(json);
        free(text);
    }
}

static void check_all(trellis_model *model)
{
    check_saving(model);
    check_text_form(model);
    check_json(model);
    trellis_model_close(model);
}

static void test_presets(void **state)
{
    (void)state;
    check_all(train_on(tagged, "epochs=5"));
    check_all(train_on(tagged, "epochs=5 algorithm=plain"));
    check_all(train_on(tagged, "epochs=3 features=ner all-features=yes"));
    check_all(train_on(tagged, "epochs=5 features=id order=0"));
    check_all(train_on(tagged, "epochs=5 features=id order=3"));
}

static void test_counted_words(void **state)
{
    (void)state;
    trellis_model *model = train_on(tagged, "epochs=3 features=pos");
    char *text = say(model, EXPORT);
    assert_non_null(
        strstr(text, "\nblock\t")); // rare() needs its counts, so the text is not enough
    assert_null(strstr(text, "\ntemplate\t"));
    free(text);
    check_all(model);
}

static void test_edge_templates(void **state)
{
    (void)state;
    char options[700];
    snprintf(options, sizeof options, "epochs=6 features=%s", put_text("edge.tpl", edge_templates));
    trellis_model *model = train_on(tagged, options);
    char *text = say(model, EXPORT);
    assert_non_null(strstr(text, "\nedge\t"));
    free(text);
    check_all(model);
}

static void test_word_lists(void **state)
{
    (void)state;
    char options[700], templates[900];
    snprintf(templates, sizeof templates,
             "columns word\nnode word\nnode inlist(word,\"%s\")\nstep\n",
             put_text("words.txt", "cat\ndog\n"));
    snprintf(options, sizeof options, "epochs=6 features=%s", put_text("list.tpl", templates));
    trellis_model *model = train_on(tagged, options);
    char *text = say(model, EXPORT);
    assert_non_null(strstr(text, "\nblock\t"));
    free(text);
    unlink(path_of("words.txt")); // the model has it inside
    check_all(model);
}

static void test_crfpp_templates(void **state)
{
    (void)state;
    char options[700];
    snprintf(options, sizeof options, "epochs=6 features=%s",
             put_text("crfpp.tpl", crfpp_templates));
    check_all(train_on(tagged, options));
}

/* Ready-made attributes with values, names that need escapes, and labels that do. */
static void test_ready_made(void **state)
{
    (void)state;
    trellis_model *model = train_on("a\\b\tx\\:y:0.5\tz\\\\q:2\n\\start\tx\\:y\n# c\tw:-1.25\n\n"
                                    "\\start\tx\\:y:3\n# c\tw\n",
                                    "format=crfsuite epochs=4");
    assert_int_equal(trellis_model_label_count(model), 3);
    char *text = say(model, EXPORT);
    const char *path = put_text("model.txt", text);
    trellis_model *imported = import_model(path);
    char *again = say(imported, EXPORT);
    assert_string_equal(text, again);
    assert_non_null(strstr(text, "\nlabel\ta\\\\b\n"));
    assert_non_null(strstr(text, "\nlabel\t\\\\start\n"));
    check_json(model);
    trellis_attribute attributes[] = {{TR_TEXT("x:y"), 1}, {TR_TEXT("w"), 0.5}};
    size_t begin[] = {0, 1, 2};
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = 2,
                                 .attributes = attributes,
                                 .attribute_begin = begin,
                                 .weight = 1};
    double scores[2];
    trellis_model *models[] = {model, imported};
    for (int m = 0; m < 2; m++) {
        trellis_tagger *tagger;
        trellis_error error = {0};
        const trellis_text *labels;
        assert_ok(trellis_tagger_create(models[m], NULL, &tagger, &error), error);
        assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
        assert_true(tr_text_is(labels[0], "\\start"));
        assert_true(tr_text_is(labels[1], "# c"));
        scores[m] = trellis_tagger_score(tagger);
        trellis_tagger_destroy(tagger);
    }
    assert_true(scores[0] == scores[1]);
    assert_true(scores[0] > 0);
    free(text);
    free(again);
    trellis_model_close(imported);
    trellis_model_close(model);
}

/* With an internal scheme the output has the scheme of the training data. */
static void test_schemes(void **state)
{
    (void)state;
    const char corpus[] =
        "John B-PER\nSmith I-PER\nsaw O\nOslo B-LOC\n\nJohn B-PER\nsaw O\nOslo B-LOC\n";
    trellis_model *model = train_on(corpus, "train-scheme=iobes epochs=8 features=id");
    char *text = say(model, EXPORT);
    assert_non_null(strstr(text, "\nlabel\tE-PER\n"));
    trellis_model *imported = import_model(put_text("model.txt", text));
    assert_tags(model, "John Smith saw Oslo", "B-PER I-PER O B-LOC");
    assert_tags(imported, "John Smith saw Oslo", "B-PER I-PER O B-LOC");
    free(text);
    trellis_model_close(imported);
    trellis_model_close(model);
}

/* Queries beyond the end. */
static void test_queries_out_of_range(void **state)
{
    (void)state;
    trellis_model *model = train_on(tagged, "type=perceptron epochs=1");
    assert_int_equal(trellis_model_label(model, 99).size, 0);
    assert_non_null(trellis_model_label(model, 99).data);
    assert_null(trellis_model_note(model, "no such note"));
    assert_string_equal(trellis_model_note(model, "type"), "perceptron");
    trellis_model_close(model);
    trellis_model_close(NULL);
}

static trellis_status full_sink(void *user, const char *data, size_t size)
{
    (void)data;
    size_t *room = user;
    *room = *room > size ? *room - size : 0;
    return *room ? TRELLIS_OK : TRELLIS_IO;
}

/* A sink's refusal stops the writing and is passed on. */
static void test_full_sink(void **state)
{
    (void)state;
    trellis_model *model = train_on(tagged, "epochs=2 features=ner");
    for (size_t room = 1; room < 100000; room *= 10) {
        size_t left = room;
        assert_int_equal(trellis_model_export(model, false, full_sink, &left, NULL), TRELLIS_IO);
        left = room;
        assert_int_equal(trellis_model_export(model, true, full_sink, &left, NULL), TRELLIS_IO);
    }
    size_t left = 1;
    assert_int_equal(trellis_model_info(model, true, full_sink, &left, NULL), TRELLIS_IO);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),         cmocka_unit_test(test_counted_words),
        cmocka_unit_test(test_edge_templates),  cmocka_unit_test(test_word_lists),
        cmocka_unit_test(test_crfpp_templates), cmocka_unit_test(test_ready_made),
        cmocka_unit_test(test_schemes),         cmocka_unit_test(test_queries_out_of_range),
        cmocka_unit_test(test_full_sink),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
