/* test_recipe.c - which recipe a training takes, and that what is given wins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "support/settings.h"

static const char chunks[] = "the DT B-NP\nblack JJ I-NP\ndog NN I-NP\nbarks VBZ O\n\n"
                             "a DT B-NP\ncat NN I-NP\nsleeps VBZ B-VP\n\n";
static const char entities[] = "Ann B-PER\nsaw O\nthe O\nblack O\ndog O\n\nit O\nbarks O\n\n";
static const char words[] = "the DT\ndog NN\nbarks VBZ\n\na DT\ncat NN\nsleeps VBZ\n\n";
static const char tagged[] = "the DT x\ndog NN y\nbarks VBZ x\n\na DT x\ncat NN y\n\n";
static const char characters[] = "a I\nc I\nc O\n\n\xC3\xA9 I\nb O\n\n";

struct heard {
    char recipe[600]; // the message about it
};

static bool hear(void *user, const trellis_progress *progress)
{
    struct heard *heard = user;
    if (progress->message && strncmp(progress->message, "recipe", 6) == 0) {
        snprintf(heard->recipe, sizeof heard->recipe, "%s", progress->message);
    }
    return true;
}

static trellis_status train(const char *text, const char *settings, struct heard *heard,
                            trellis_model **ret_model, trellis_error *error)
{
    trellis_options *options = make_options(settings);
    trellis_source source = {.struct_size = sizeof source, .data = text, .data_size = strlen(text)};
    trellis_training training = {.struct_size = sizeof training,
                                 .train = &source,
                                 .train_count = 1,
                                 .progress = hear,
                                 .user = heard};
    trellis_status status = trellis_train(options, &training, ret_model, error);
    trellis_options_destroy(options);
    return status;
}

static void check_note(const trellis_model *model, const char *settings, const char *key,
                       const char *value)
{
    const char *note = trellis_model_note(model, key);
    if (!value ? note != NULL : !note || strcmp(note, value) != 0) {
        fail_msg("'%s': %s is '%s', not '%s'", settings, key, note ? note : "-",
                 value ? value : "-");
    }
}

/* What a model says of its training: templates, learner, scheme inside, penalty, order. */
struct expected {
    const char *text, *settings;
    const char *features, *type, *scheme, *l2, *order;
    const char *recipe; // in the message; NULL: there is none
};

static void check(const struct expected *e)
{
    trellis_model *model = NULL;
    trellis_error error = {0};
    struct heard heard = {""};
    if (train(e->text, e->settings, &heard, &model, &error)) {
        fail_msg("'%s': %s", e->settings, error.message);
    }
    check_note(model, e->settings, "features", e->features);
    check_note(model, e->settings, "type", e->type);
    check_note(model, e->settings, "scheme-inside", e->scheme);
    check_note(model, e->settings, "option-l2", e->l2);
    check_note(model, e->settings, "order", e->order);
    char start[40] = "";
    if (e->recipe) {
        snprintf(start, sizeof start, "recipe '%s'", e->recipe);
    }
    if (e->recipe ? strncmp(heard.recipe, start, strlen(start)) != 0 : heard.recipe[0] != '\0') {
        fail_msg("'%s': said '%s'", e->settings, heard.recipe);
    }
    trellis_model_close(model);
}

/* The data decides if nothing is said. */
static void test_choice(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        {chunks, "", "chunk", "crf", "iobes", "0.02", "1", "chunk"},
        {entities, "", "ner", "crf", NULL, "0.1", "1", "ner"},
        {words, "", "pos", "crf", NULL, "0.05", "1", "pos"},
        {tagged, "", "general", "crf", NULL, "0.1", "1", "general"},
        {characters, "", "chars", "crf", NULL, "0.1", "1", "chars"},
        {chunks, "columns=word,lemma,chunk", "ner", "crf", NULL, "0.1", "1", "ner"},
        {chunks, "label=2", "pos", "crf", NULL, "0.05", "1", "pos"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        check(&cases[i]);
    }
}

static void check_message(const char *text, const char *settings, const char *part,
                          const char *no_part)
{
    trellis_model *model = NULL;
    trellis_error error = {0};
    struct heard heard = {""};
    if (train(text, settings, &heard, &model, &error)) {
        fail_msg("'%s': %s", settings, error.message);
    }
    if (!strstr(heard.recipe, part) || strstr(heard.recipe, no_part)) {
        fail_msg("'%s': said '%s'", settings, heard.recipe);
    }
    trellis_model_close(model);
}

/* The message lists what is taken from the recipe, and nothing else. */
static void test_message(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        // settings, a part of the message, no part of it
        {"l2=2", "-t crf", "--l2"},
        {"seeds=1", "--l2 0.02", "--seeds"},
        {"select-l1=1", "--l2 0.02", "--seeds"},
        {"features=chunk", "recipe 'chunk': -t crf", "  "},
        {"", "recipe 'chunk' (span labels on most tokens, tags in another column): -t", "many"},
        {"train-scheme=none", "--seeds 4", "iobes"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        check_message(chunks, cases[i][0], cases[i][1], cases[i][2]);
    }
}

/* A preset brings its recipe, but for what is given. */
static void test_given(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        {chunks, "features=chunk", "chunk", "crf", "iobes", "0.02", "1", "chunk"},
        {chunks, "l2=2", "chunk", "crf", "iobes", "2", "1", "chunk"},
        {chunks, "sigma=2", "chunk", "crf", "iobes", NULL, "1", "chunk"},
        {chunks, "train-scheme=none", "chunk", "crf", NULL, "0.02", "1", "chunk"},
        {chunks, "order=2", "chunk", "crf", "iobes", "0.02", "2", "chunk"},
        {chunks, "algorithm=sgd", "chunk", "crf", "iobes", "0.02", "1", "chunk"},
        {words, "features=ner", "ner", "crf", NULL, "0.1", "1", "ner"},
        {entities, "features=ner-segments", "ner-segments", "crf", "iobes", "0.03", "1",
         "ner-segments"},
        {entities, "features=ner-segments fast=yes", "ner-segments", "perceptron", NULL, NULL, "1",
         "ner-segments"},
        {entities, "partial=yes", "ner", "crf", NULL, "0.1", "1", "ner"},
        {chunks, "partial=yes", "chunk", "crf", NULL, "0.02", "1", "chunk"},
        {chunks, "fast=yes", "chunk", "perceptron", NULL, NULL, "1", "chunk"},
        {tagged, "best=yes", "general", "crf", NULL, "0.1", "2", "general"},
        {words, "best=yes", "pos", "crf", NULL, "0.05", "1", "pos"},
        {words, "partial=yes", "pos", "crf", NULL, "0.05", "1", "pos"},
        {words, "select-l1=0.5", "pos", "crf", NULL, "0.05", "1", "pos"},
        /* the learner was chosen, by name or by an option of its own */
        {chunks, "type=perceptron", "general", "perceptron", NULL, NULL, "1", NULL},
        {chunks, "type=crf features=chunk", "chunk", "crf", NULL, NULL, "1", NULL},
        {chunks, "beam=3", "general", "perceptron", NULL, NULL, "1", NULL},
        {chunks, "features=chunk aggressiveness=2 algorithm=pa1", "chunk", "perceptron", NULL, NULL,
         "1", NULL},
        {chunks, "features=extended", "extended", "perceptron", NULL, NULL, "1", NULL},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        check(&cases[i]);
    }
}

/* Several seeds, unless something is given that does not go with them. */
static void test_seeds(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "4"}, {"seeds=2", "2"}, {"best=yes", "8"}, {"select-l1=0.5", NULL}};
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        trellis_model *model = NULL;
        trellis_error error = {0};
        struct heard heard = {""};
        if (train(words, cases[i][0], &heard, &model, &error)) {
            fail_msg("'%s': %s", cases[i][0], error.message);
        }
        check_note(model, cases[i][0], "option-seeds", cases[i][1]);
        trellis_model_close(model);
    }
}

/* 70 words with a label each. */
static void test_many_labels(void **state)
{
    (void)state;
    struct tr_buffer text = {0};
    for (int i = 0; i < 70; i++) {
        tr_buffer_format(&text, "word%d L%d\n%s", i, i, i % 7 == 6 ? "\n" : "");
    }
    tr_buffer_char(&text, '\0');
    struct expected many = {text.data, "epochs=1", "pos", "crf", NULL, "0.3", "2", "pos"};
    check(&many);
    struct expected fast = {text.data, "fast=yes epochs=1", "pos", "perceptron", NULL, NULL, "1",
                            "pos"};
    check(&fast);
    check_message(text.data, "epochs=1", "recipe 'pos' (labels of words, many labels): -t", "  ");
    check_message(text.data, "epochs=1 fast=yes", "recipe 'pos' (labels of words): -t", "many");
    tr_buffer_free(&text);
}

/* Sentences with a name of two tokens each; to be freed. */
static char *make_names(int sentences)
{
    struct tr_buffer text = {0};
    for (int i = 0; i < sentences; i++) {
        tr_buffer_string(&text, "Ann B-PER\nLee I-PER\nsaw O\nher O\nand O\n\n");
    }
    tr_buffer_char(&text, '\0');
    return text.data;
}

/* Where 15,000 tokens are in spans, names are learned as segments, with templates of their own; but
 * not where something is given that such a model does not have. */
static void test_many_spans(void **state)
{
    (void)state;
    char *few = make_names(7499), *many = make_names(7500);
    const struct expected cases[] = {
        {few, "seeds=1 epochs=1", "ner", "crf", NULL, "0.1", "1", "ner"},
        {many, "seeds=1 epochs=1", "ner-segments", "crf", "iobes", "0.03", "1", "ner"},
        {many, "seeds=1 epochs=1 features=ner", "ner-segments", "crf", "iobes", "0.03", "1", "ner"},
        {many, "seeds=1 epochs=1 best=yes", "ner-segments", "crf", "iobes", "0.03", "1", "ner"},
        {many, "epochs=1 fast=yes", "ner", "perceptron", NULL, NULL, "1", "ner"},
        {many, "seeds=1 epochs=1 order=2", "ner", "crf", NULL, "0.1", "2", "ner"},
        {many, "seeds=1 epochs=1 partial=yes", "ner", "crf", NULL, "0.1", "1", "ner"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        check(&cases[i]);
    }
    check_message(many, "seeds=1 epochs=1 features=ner",
                  "recipe 'ner' (many tokens in spans): -f ner-segments", "  ");
    free(few);
    free(many);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"fast=yes best=yes", "--fast and --best exclude each other"},
        {"fast=yes type=crf", "--fast chooses a variant of a recipe"},
        {"best=yes features=extended", "--best chooses a variant of a recipe"},
        {"alpha=1", "--alpha does not apply to -t perceptron"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        trellis_model *model = NULL;
        trellis_error error = {0};
        struct heard heard = {""};
        assert_int_equal(train(chunks, cases[i][0], &heard, &model, &error), TRELLIS_OPTION);
        if (!strstr(error.message, cases[i][1])) {
            fail_msg("'%s': %s", cases[i][0], error.message);
        }
        assert_null(model);
    }
}

/* Every option of every recipe exists, and all apply to its learner. */
static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; trellis_preset_name(i); i++) {
        const char *name = trellis_preset_name(i);
        assert_non_null(trellis_preset_summary(name));
        bool has = trellis_preset_options(name, TRELLIS_EFFORT_DEFAULT);
        for (int effort = 0; effort <= TRELLIS_EFFORT_MANY_LABELS; effort++) {
            const char *options = trellis_preset_options(name, (trellis_effort)effort);
            assert_true(!options == !has);
            assert_true(!options || strncmp(options, "-t ", 3) == 0);
        }
        const char *options = trellis_preset_options(name, TRELLIS_EFFORT_MANY_SPANS);
        assert_true(!options || has);
    }
    size_t count = 0;
    while (trellis_preset_name(count) && strcmp(trellis_preset_name(count), "chars") != 0) {
        count++;
    }
    assert_non_null(trellis_preset_name(count)); // the last one
    assert_null(trellis_preset_name(count + 1));
    assert_null(trellis_preset_name(SIZE_MAX));
    assert_null(trellis_preset_text("none of these"));
    assert_null(trellis_preset_options("pos", (trellis_effort)(TRELLIS_EFFORT_MANY_SPANS + 1)));
    assert_null(trellis_preset_options("pos", (trellis_effort)99));
    assert_null(trellis_preset_options("none of these", TRELLIS_EFFORT_DEFAULT));
    assert_null(trellis_preset_summary(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),      cmocka_unit_test(test_message),
        cmocka_unit_test(test_given),       cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_many_labels), cmocka_unit_test(test_many_spans),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
