/* test_options.c - the table of options, and sets of values for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/options.h"

static trellis_options *make_options(void)
{
    trellis_options *options;
    trellis_error error = {0};
    assert_int_equal(trellis_options_create(&options, &error), TRELLIS_OK);
    return options;
}

static void set(trellis_options *options, const char *name, const char *value)
{
    trellis_error error = {0};
    if (trellis_options_set(options, name, value, &error)) {
        fail_msg("%s", error.message);
    }
    assert_string_equal(trellis_options_get(options, name), value);
}

/* An error whose message contains `part`; the old value is kept. */
static void refuse(trellis_options *options, const char *name, const char *value, const char *part)
{
    trellis_error error = {0};
    const char *kept = trellis_options_get(options, name);
    if (trellis_options_set(options, name, value, &error) != TRELLIS_OPTION) {
        fail_msg("--%s took '%s'", name, value);
    }
    assert_int_equal(error.status, TRELLIS_OPTION);
    if (!strstr(error.message, part)) {
        fail_msg("'%s' does not say '%s'", error.message, part);
    }
    assert_ptr_equal(trellis_options_get(options, name), kept);
    assert_int_equal(trellis_options_set(options, name, value, NULL), TRELLIS_OPTION);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void the_table_is_in_order(void **state)
{
    (void)state;
    size_t count = trellis_option_count();
    assert_true(count > 20);
    assert_null(trellis_option_at(count));
    assert_null(trellis_option_find("no-such-option"));
    assert_null(trellis_option_find(""));
    assert_null(trellis_option_find(NULL));
    for (size_t i = 0; i < count; i++) {
        const trellis_option *a = trellis_option_at(i);
        assert_ptr_equal(trellis_option_find(a->name), a);
        assert_int_equal(strspn(a->name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(a->name));
        assert_true(!a->letter ||
                    strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", a->letter));
        assert_true(a->groups != 0 && a->groups < 1 << 16);
        assert_true(a->help && a->help[0] && a->help[strlen(a->help) - 1] == '.');
        assert_true((a->type == TRELLIS_FLAG) == (a->placeholder == NULL));
        assert_true((a->type == TRELLIS_CHOICE) == (a->choices != NULL));
        bool number = a->type == TRELLIS_INTEGER || a->type == TRELLIS_REAL;
        assert_true(number ? a->minimum < a->maximum : a->minimum == 0 && a->maximum == 0);
        for (size_t j = 0; j < i; j++) {
            const trellis_option *b = trellis_option_at(j);
            assert_string_not_equal(a->name, b->name);
            assert_true(!a->letter || a->letter != b->letter);
        }
    }
}

/* --no-X turns a flag off, so no option may have such a name. */
static void no_name_looks_like_a_negated_flag(void **state)
{
    (void)state;
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        if (option->type == TRELLIS_FLAG) {
            char name[80];
            snprintf(name, sizeof name, "no-%s", option->name);
            assert_null(trellis_option_find(name));
        }
    }
}

static void defaults_are_valid(void **state)
{
    (void)state;
    trellis_options *options = make_options();
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        assert_non_null(option->default_value);
        assert_false(trellis_options_given(options, option->name));
        assert_string_equal(trellis_options_get(options, option->name), option->default_value);
        assert_string_equal(trellis_options_get(NULL, option->name), option->default_value);
        set(options, option->name, option->default_value);
        assert_true(trellis_options_given(options, option->name));
    }
    trellis_options_destroy(options);
}

/* What is in range does not change unless somebody means it to. */
static void ranges_are_these(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double minimum, maximum;
    } ranges[] = {{"context", 0, 1000},
                  {"epochs", 0, 1e6},
                  {"patience", 0, 1e6},
                  {"min-count", 1, 1e9},
                  {"min-feature-count", 0, 1e9},
                  {"order", 0, 8},
                  {"prune", 0, 1},
                  {"max-segment", 1, 64},
                  {"filter", 0, 1},
                  {"counted", 0, 8},
                  {"l2", 0, 1e12},
                  {"sigma", 0, 1e12},
                  {"lambda", 0, 1e12},
                  {"l1", 0, 1e12},
                  {"select-l1", 0, 1e12},
                  {"epsilon", 0, 1},
                  {"delta", 0, 1},
                  {"period", 1, 1e6},
                  {"history", 1, 100},
                  {"warm-up", 0, 1000},
                  {"batch", 1, 1e6},
                  {"rate", 0, 1e6},
                  {"dropout", 0, 0.95},
                  {"seeds", 1, 1000},
                  {"dictionary-count", 1, 1e9},
                  {"span-loss", 0, 1e6},
                  {"aggressiveness", 0, 1e12},
                  {"variance", 0, 1e12},
                  {"mbest", 1, 100},
                  {"gap", 0, 1},
                  {"alpha", 0, 1e12},
                  {"theta", 1e-6, 1e6},
                  {"every", 1, 1e6},
                  {"states", 0, 60000},
                  {"restarts", 1, 1e6},
                  {"unlabelled-weight", 0, 1e6},
                  {"variance-floor", 0, 1},
                  {"beam", 1, 1e6},
                  {"nbest", 1, 1e6},
                  {"threshold", 0, 1},
                  {"bootstrap", 0, 1e6},
                  {"shuffles", 1, 1e9},
                  {"trials", 0, 100000},
                  {"halving", 0, 100},
                  {"labels", 1, 60000},
                  {"vocabulary", 1, 1e9},
                  {"tokens", 0, 1e15},
                  {"mean-length", 1, 1e9},
                  {"top", 0, 1e6},
                  {"sequence", 0, 1e15},
                  {"errors", 0, 1e6},
                  {"threads", 0, 1024},
                  {"seed", 0, 1e15},
                  {"max-length", 1, 4e9},
                  {"max-ratio", 1, 1e9},
                  {"max-matches", 1, 1e15},
                  {"max-labellings", 1, 1e15}};
    size_t numbers = 0;
    for (size_t i = 0; i < trellis_option_count(); i++) {
        trellis_option_type type = trellis_option_at(i)->type;
        numbers += type == TRELLIS_INTEGER || type == TRELLIS_REAL;
    }
    assert_int_equal(numbers, TR_COUNT(ranges));
    for (size_t i = 0; i < TR_COUNT(ranges); i++) {
        const trellis_option *option = trellis_option_find(ranges[i].name);
        assert_non_null(option);
        if (option->minimum != ranges[i].minimum || option->maximum != ranges[i].maximum) {
            fail_msg("--%s: %g to %g", option->name, option->minimum, option->maximum);
        }
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static void ranges_are_checked(void **state)
{
    (void)state;
    trellis_options *options = make_options();
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        if (option->type != TRELLIS_INTEGER && option->type != TRELLIS_REAL) {
            continue;
        }
        char text[40];
        double outside[] = {option->minimum - 1, option->maximum + 1};
        double inside[] = {option->minimum, option->maximum};
        for (size_t k = 0; k < 2; k++) {
            snprintf(text, sizeof text, "%.17g", inside[k]);
            set(options, option->name, text);
            snprintf(text, sizeof text, "%.0f", outside[k]);
            refuse(options, option->name, text, option->name);
        }
        static const char *const never[] = {"",    "x",    "1x",  " 1", "nan",
                                            "inf", "-inf", "0x1", "1,5"};
        for (size_t k = 0; k < TR_COUNT(never); k++) {
            refuse(options, option->name, never[k], option->name);
        }
        if (option->type == TRELLIS_INTEGER) {
            refuse(options, option->name, "1.5", "an integer");
            refuse(options, option->name, "1e3", "an integer");
            refuse(options, option->name, "99999999999999999999", "an integer");
        }
    }
    refuse(options, "order", "9", "between 0 and 8, not 9");
    trellis_options_destroy(options);
}

static void choices_are_checked(void **state)
{
    (void)state;
    trellis_options *options = make_options();
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        if (option->type != TRELLIS_CHOICE) {
            continue;
        }
        size_t taken = 0;
        char *copy = tr_copy_text(option->choices, strlen(option->choices)), *rest = copy, *word;
        while ((word = strsep(&rest, " "))) {
            assert_true(*word); // no two blanks in a row
            set(options, option->name, word);
            taken++;
            char other[80];
            snprintf(other, sizeof other, "%sx", word);
            refuse(options, option->name, other, option->choices);
            snprintf(other, sizeof other, "x%s", word);
            refuse(options, option->name, other, option->choices);
            snprintf(other, sizeof other, "%.*s", (int)strlen(word) - 1, word);
            refuse(options, option->name, other, option->choices);
            snprintf(other, sizeof other, "%s ", word);
            refuse(options, option->name, other, option->choices);
        }
        assert_true(taken >= 2);
        refuse(options, option->name, option->choices, option->choices); // all of them at once
        refuse(options, option->name, " ", option->choices);
        free(copy);
    }
    trellis_options_destroy(options);
}

static void flags_are_yes_or_no(void **state)
{
    (void)state;
    trellis_options *options = make_options();
    assert_false(tr_option_flag(options, "all-features"));
    set(options, "all-features", "yes");
    assert_true(tr_option_flag(options, "all-features"));
    static const char *const never[] = {"", "true", "1", "Yes", "yes ", "y"};
    for (size_t i = 0; i < TR_COUNT(never); i++) {
        refuse(options, "all-features", never[i], "'yes' or 'no'");
    }
    set(options, "all-features", "no");
    assert_false(tr_option_flag(options, "all-features"));
    trellis_options_destroy(options);
}

static void values_have_types(void **state)
{
    (void)state;
    trellis_options *options = make_options();
    set(options, "epochs", "17");
    set(options, "epsilon", "0.25");
    set(options, "columns", "word,pos");
    set(options, "log", "");
    assert_true(tr_option_integer(options, "epochs") == 17);
    assert_true(tr_option_integer(options, "seed") == 1);
    assert_true(tr_option_integer(NULL, "order") == 1);
    assert_true(tr_option_real(options, "epsilon") == 0.25);
    assert_true(tr_option_real(NULL, "epsilon") == 1e-5);
    assert_string_equal(tr_option_text(options, "columns"), "word,pos");
    assert_string_equal(tr_option_text(NULL, "columns"), "");
    assert_true(tr_option_is(options, "format", "auto"));
    assert_false(tr_option_is(options, "format", "aut"));
    assert_true(trellis_options_given(options, "log")); // set to the empty string
    assert_false(trellis_options_given(options, "seed"));
    assert_false(trellis_options_given(NULL, "epochs"));

    assert_true(tr_option_integer(options, "no-such-option") == 0);
    assert_true(tr_option_real(options, "no-such-option") == 0);
    assert_false(tr_option_flag(options, "no-such-option"));
    assert_string_equal(tr_option_text(options, "no-such-option"), "");
    assert_null(trellis_options_get(options, "no-such-option"));
    assert_false(trellis_options_given(options, "no-such-option"));
    trellis_options_destroy(options);
    trellis_options_destroy(NULL);
}

static void values_are_copied(void **state)
{
    (void)state;
    char value[] = "first";
    trellis_options *options = make_options();
    set(options, "columns", value);
    value[0] = 'X';
    assert_string_equal(trellis_options_get(options, "columns"), "first");
    trellis_options_destroy(options);
}

static void unknown_names_get_a_suggestion(void **state)
{
    (void)state;
    trellis_options *options = make_options();
    refuse(options, "epcohs", "1", "unknown option 'epcohs'; did you mean 'epochs'?");
    refuse(options, "min_count", "1", "did you mean 'min-count'?");
    refuse(options, "Order", "1", "did you mean 'order'?");
    /* The words of other tools. */
    refuse(options, "c1", "1", "unknown option 'c1'; did you mean 'l1'?");
    refuse(options, "c2", "1", "did you mean 'l2'?");
    refuse(options, "max_iterations", "1", "did you mean 'epochs'?");
    refuse(options, "max-iter", "1", "did you mean 'epochs'?");
    refuse(options, "learning-rate", "1", "did you mean 'rate'?");
    refuse(options, "devel", "x", "did you mean 'dev'?");
    refuse(options, "n_jobs", "1", "did you mean 'threads'?");
    trellis_error error = {0};
    assert_int_equal(trellis_options_set(options, "quite-another-thing", "1", &error),
                     TRELLIS_OPTION);
    assert_string_equal(error.message, "unknown option 'quite-another-thing'");
    assert_int_equal(trellis_options_set(options, "", "1", &error), TRELLIS_OPTION);
    assert_int_equal(trellis_options_set(options, NULL, "1", &error), TRELLIS_OPTION);
    assert_int_equal(trellis_options_set(options, "epochs", NULL, &error), TRELLIS_OPTION);
    char name[5000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(trellis_options_set(options, name, "1", &error), TRELLIS_OPTION);
    trellis_options_destroy(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_in_order),
        cmocka_unit_test(no_name_looks_like_a_negated_flag),
        cmocka_unit_test(defaults_are_valid),
        cmocka_unit_test(ranges_are_these),
        cmocka_unit_test(ranges_are_checked),
        cmocka_unit_test(choices_are_checked),
        cmocka_unit_test(flags_are_yes_or_no),
        cmocka_unit_test(values_have_types),
        cmocka_unit_test(values_are_copied),
        cmocka_unit_test(unknown_names_get_a_suggestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
