/* test_scheme.c - spans and label schemes, against cases worked out by hand. */
#include "corpus/corpus_test.h"

#define MAX_LABELS 16

/* The words of a text, separated by blanks. */
static size_t words(const char *text, trellis_text *to)
{
    size_t count = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        assert_true(count < MAX_LABELS);
        to[count++] = (trellis_text){text, n};
        text += n + (text[n] == ' ');
    }
    return count;
}

static void check_convert(trellis_scheme from, trellis_scheme to, const char *labels,
                          const char *expected)
{
    static trellis_scheme_storage *storage;
    trellis_text read[MAX_LABELS], wanted[MAX_LABELS];
    size_t length = words(labels, read);
    assert_int_equal(words(expected, wanted), length);
    const trellis_text *made;
    trellis_error error = {0};
    if (trellis_scheme_convert(from, to, read, length, &storage, &made, &error)) {
        fail_msg("%s", error.message);
    }
    for (size_t i = 0; i < length; i++) {
        if (!tr_text_equal(made[i], wanted[i])) {
            fail_msg("%s -> %s: '%s' gave '%.*s' at %zu instead of '%s'", tr_scheme_name(from),
                     tr_scheme_name(to), labels, TR_SHOW(made[i]), i, expected);
        }
    }
    trellis_scheme_storage_destroy(storage);
    storage = NULL;
}

/* The same spans in the four schemes, in the order of the enumeration. */
static const char *const legal[][4] = {
    {"O", "O", "O", "O"},
    {"", "", "", ""},
    {"I-A", "B-A", "S-A", "U-A"},
    {"I-A I-A", "B-A I-A", "B-A E-A", "B-A L-A"},
    {"I-A I-A I-A", "B-A I-A I-A", "B-A I-A E-A", "B-A I-A L-A"},
    {"I-A B-A", "B-A B-A", "S-A S-A", "U-A U-A"},
    {"I-A I-B", "B-A B-B", "S-A S-B", "U-A U-B"},
    {"I-A B-A I-A O I-A", "B-A B-A I-A O B-A", "S-A B-A E-A O S-A", "U-A B-A L-A O U-A"},
    {"I-A I-A B-A I-A I-B I-B", "B-A I-A B-A I-A B-B I-B", "B-A E-A B-A E-A B-B E-B",
     "B-A L-A B-A L-A B-B L-B"},
    {"O I-x-y I-x-y O", "O B-x-y I-x-y O", "O B-x-y E-x-y O", "O B-x-y L-x-y O"},
    {"I- B-", "B- B-", "S- S-", "U- U-"},
};

static void converts_both_ways(void **state)
{
    (void)state;
    for (size_t k = 0; k < TR_COUNT(legal); k++) {
        for (int from = 0; from < 4; from++) {
            for (int to = 0; to < 4; to++) {
                check_convert((trellis_scheme)from, (trellis_scheme)to, legal[k][from],
                              legal[k][to]);
            }
        }
    }
}

static void reads_illegal_labels_as_conlleval(void **state)
{
    (void)state;
    check_convert(TRELLIS_IOB2, TRELLIS_IOB2, "I-A I-A", "B-A I-A");
    check_convert(TRELLIS_IOB2, TRELLIS_IOB2, "B-A I-B I-B", "B-A B-B I-B");
    check_convert(TRELLIS_IOBES, TRELLIS_IOB2, "B-A O", "B-A O");
    check_convert(TRELLIS_IOBES, TRELLIS_IOB2, "E-A E-A", "B-A B-A");
    check_convert(TRELLIS_IOBES, TRELLIS_IOB2, "S-A E-A", "B-A B-A");
    check_convert(TRELLIS_IOBES, TRELLIS_IOB2, "S-A I-A", "B-A B-A");
    check_convert(TRELLIS_IOBES, TRELLIS_IOB2, "E-A I-A E-A", "B-A B-A I-A");
    check_convert(TRELLIS_IOBES, TRELLIS_IOB2, "I-A S-A", "B-A B-A");
    check_convert(TRELLIS_IOBES, TRELLIS_IOBES, "O I-A I-A O", "O B-A E-A O");
    check_convert(TRELLIS_IOBES, TRELLIS_IOBES, "B-A B-A E-B", "S-A S-A S-B");
    check_convert(TRELLIS_BILOU, TRELLIS_IOBES, "B-A I-A U-A L-A", "B-A E-A S-A S-A");
}

static void refuses_labels_without_spans(void **state)
{
    (void)state;
    trellis_text labels[] = {TR_TEXT("O"), TR_TEXT("NN")};
    trellis_scheme_storage *storage = NULL;
    const trellis_text *made = labels;
    trellis_error error = {0};
    assert_int_equal(
        trellis_scheme_convert(TRELLIS_IOB2, TRELLIS_IOBES, labels, 2, &storage, &made, &error),
        TRELLIS_DATA);
    assert_null(made);
    assert_non_null(strstr(error.message, "'NN'"));
    assert_int_equal(trellis_scheme_convert(TRELLIS_NO_SCHEME, TRELLIS_NO_SCHEME, labels, 2,
                                            &storage, &made, &error),
                     TRELLIS_OK);
    assert_true(tr_text_is(made[1], "NN"));
    trellis_scheme_storage_destroy(storage);
    trellis_scheme_storage_destroy(NULL);
}

/* Whether a span ends between two labels, begins at the second. */
/* clang-format off */
static const struct {
    const char *pair;
    bool ends, begins;
} steps[] = {
    {"O O", false, false},    {"O B-A", false, true},  {"O I-A", false, true},
    {"O E-A", false, true},   {"O S-A", false, true},  {"B-A O", true, false},
    {"B-A B-A", true, true},  {"B-A I-A", false, false}, {"B-A E-A", false, false},
    {"B-A S-A", true, true},  {"B-A I-B", true, true}, {"I-A O", true, false},
    {"I-A B-A", true, true},  {"I-A I-A", false, false}, {"I-A E-A", false, false},
    {"I-A S-A", true, true},  {"I-A E-B", true, true}, {"E-A O", true, false},
    {"E-A B-A", true, true},  {"E-A I-A", true, true}, {"E-A E-A", true, true},
    {"E-A S-A", true, true},  {"S-A O", true, false},  {"S-A B-A", true, true},
    {"S-A I-A", true, true},  {"S-A E-A", true, true}, {"S-A S-A", true, true},
    {"L-A I-A", true, true},  {"U-A L-A", true, true},
};
/* clang-format on */

static void spans_end_and_begin_as_in_conlleval(void **state)
{
    (void)state;
    for (size_t k = 0; k < TR_COUNT(steps); k++) {
        trellis_text labels[MAX_LABELS], before_type, type;
        char before, letter;
        words(steps[k].pair, labels);
        assert_true(tr_label_split(labels[0], &before, &before_type));
        assert_true(tr_label_split(labels[1], &letter, &type));
        if (tr_span_ends(before, before_type, letter, type) != steps[k].ends ||
            tr_span_begins(before, before_type, letter, type) != steps[k].begins) {
            fail_msg("%s", steps[k].pair);
        }
    }
}

static void splits_labels(void **state)
{
    (void)state;
    char letter;
    trellis_text type;
    assert_true(tr_label_split(TR_TEXT("L-PER"), &letter, &type));
    assert_int_equal(letter, 'E');
    assert_true(tr_text_is(type, "PER"));
    assert_true(tr_label_split(TR_TEXT("U-"), &letter, &type));
    assert_int_equal(letter, 'S');
    assert_int_equal(type.size, 0);
    const char *none[] = {"", "B", "NN", "O-X", "b-x", "BB-X", "-X", "X-Y"};
    for (size_t i = 0; i < TR_COUNT(none); i++) {
        assert_false(tr_label_split(tr_text(none[i]), &letter, &type));
        assert_int_equal(letter, 'B');
        assert_true(tr_text_is(type, none[i]));
    }
}

static trellis_scheme guess(const char *text)
{
    trellis_text labels[MAX_LABELS];
    return tr_scheme_guess(labels, words(text, labels));
}

static void guesses_schemes(void **state)
{
    (void)state;
    assert_int_equal(guess("O I-A I-B"), TRELLIS_IOB1);
    assert_int_equal(guess("O I-A B-A"), TRELLIS_IOB2);
    assert_int_equal(guess("B-A"), TRELLIS_IOB2);
    assert_int_equal(guess("B-A I-A E-A O"), TRELLIS_IOBES);
    assert_int_equal(guess("S-A"), TRELLIS_IOBES);
    assert_int_equal(guess("B-A L-A"), TRELLIS_BILOU);
    assert_int_equal(guess("U-A O"), TRELLIS_BILOU);
    assert_int_equal(guess("B-A NN"), TRELLIS_NO_SCHEME);
    assert_int_equal(guess("O"), TRELLIS_NO_SCHEME);
    assert_int_equal(guess(""), TRELLIS_NO_SCHEME);
}

static void schemes_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < TRELLIS_NO_SCHEME; i++) {
        assert_int_equal(trellis_scheme_from_name(tr_scheme_name((trellis_scheme)i)), i);
    }
    assert_int_equal(trellis_scheme_from_name("none"), TRELLIS_NO_SCHEME);
    assert_int_equal(trellis_scheme_from_name("IOB2"), TRELLIS_NO_SCHEME);
    assert_int_equal(trellis_scheme_from_name(NULL), TRELLIS_NO_SCHEME);
    assert_string_equal(tr_scheme_name(TRELLIS_NO_SCHEME), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converts_both_ways),
        cmocka_unit_test(reads_illegal_labels_as_conlleval),
        cmocka_unit_test(refuses_labels_without_spans),
        cmocka_unit_test(spans_end_and_begin_as_in_conlleval),
        cmocka_unit_test(splits_labels),
        cmocka_unit_test(guesses_schemes),
        cmocka_unit_test(schemes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
