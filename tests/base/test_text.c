/* test_text.c - numbers in and out, the buffer, JSON strings, edit distances. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/random.h"
#include "base/text.h"
#include "base/utf8.h"
#include "support/temporary.h"

/* ---- numbers in ------------------------------------------------------------------------------ */

static void reads_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {"-7", -7},
        {"0007", 7},
        {"1000000000000000000", 1000000000000000000},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775807", -INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        int64_t value = 99;
        assert_true(tr_text_integer(tr_text(cases[i].text), &value));
        assert_true(value == cases[i].value);
    }
}

static void refuses_other_text_as_integer(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "-",
        "+",
        " 1",
        "1 ",
        "\t1",
        "1\n",
        "1.0",
        "1e3",
        "0x10",
        "--1",
        "+-1",
        "1-",
        "12a",
        "a12",
        "1,000",
        "nan",
        "inf",
        "1_0",
        "/",
        ":",
        "\xD9\xA3",
        "9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616",
        "92233720368547758070",
        "99999999999999999999999999999",
    };
    int64_t value = 99;
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        if (tr_text_integer(tr_text(cases[i]), &value)) {
            fail_msg("'%s' was read", cases[i]);
        }
    }
    assert_false(tr_text_integer((trellis_text){NULL, 0}, &value));
    assert_false(tr_text_integer(TR_TEXT("1\0"), &value));
    assert_true(value == 99);
}

static void reads_no_further_than_the_text(void **state)
{
    (void)state;
    int64_t whole;
    double real;
    assert_true(tr_text_integer((trellis_text){"12345", 2}, &whole));
    assert_true(whole == 12);
    assert_true(tr_text_real((trellis_text){"1.2345", 3}, &real));
    assert_true(real == 1.2);
}

static void reads_reals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},
        {"1", 1},
        {"-1.5", -1.5},
        {"+2", 2},
        {".5", .5},
        {"5.", 5},
        {"1e3", 1000},
        {"1E-3", .001},
        {"1e+3", 1000},
        {"00.10", .1},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"4.9e-324", 4.9e-324},
        {"1e-999", 0},
        {"1e999", INFINITY},
        {"inf", INFINITY},
        {"-inf", -INFINITY},
        {"+Infinity", INFINITY},
        {"0.10000000000000000555111512312578270211815834045410156250000", .1},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        double value = 99;
        assert_true(tr_text_real(tr_text(cases[i].text), &value));
        assert_true(value == cases[i].value);
    }
    double value = 0;
    assert_true(tr_text_real(TR_TEXT("nan"), &value) && isnan(value));
    assert_true(tr_text_real(TR_TEXT("NaN"), &value) && isnan(value));
    assert_true(tr_text_real(TR_TEXT("-0"), &value) && value == 0 && signbit(value));
}

static void refuses_other_text_as_real(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        ".",
        "-",
        "+",
        "e5",
        "1e",
        "1e+",
        "1,5",
        " 1",
        "1 ",
        "\t1",
        "1\n",
        "0x10",
        "0x1f",
        "0x1b",
        "0X1p3",
        "1.5.2",
        "--1",
        "1-",
        "1_000",
        "1d5",
        "1f",
        "infinit",
        "inff",
        "nan(1)",
        "nano",
        "i",
        "abc",
        "1e5e5",
        "1.5 2",
        "\xC2\xBD",
        "null",
        "true",
        "0000000000000000000000000000000000000000000000000000000000000001", // 64 characters
    };
    double value = 99;
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        if (tr_text_real(tr_text(cases[i]), &value)) {
            fail_msg("'%s' was read", cases[i]);
        }
    }
    assert_false(tr_text_real((trellis_text){NULL, 0}, &value));
    assert_false(tr_text_real(TR_TEXT("1\0"), &value));
    assert_false(tr_text_real(TR_TEXT("1\0"
                                      "5"),
                              &value));
    assert_true(value == 99);
}

static void compares_texts(void **state)
{
    (void)state;
    assert_true(tr_text_equal(TR_TEXT(""), (trellis_text){NULL, 0}));
    assert_true(tr_text_equal(TR_TEXT("a\0b"), TR_TEXT("a\0b")));
    assert_false(tr_text_equal(TR_TEXT("a\0b"), TR_TEXT("a\0c")));
    assert_false(tr_text_equal(TR_TEXT("ab"), TR_TEXT("abc")));
    assert_true(tr_text_is(TR_TEXT("ab"), "ab"));
    assert_false(tr_text_is(TR_TEXT("ab\0"), "ab"));
    assert_true(tr_text_begins(TR_TEXT("abc"), "ab"));
    assert_true(tr_text_begins(TR_TEXT("abc"), ""));
    assert_false(tr_text_begins(TR_TEXT("a"), "ab"));
    assert_int_equal(tr_text(NULL).size, 0);
}

/* What follows a text in memory has no say. */
static void orders_texts(void **state)
{
    (void)state;
    const trellis_text ab = {"abz", 2}, abc = {"abc", 3}, none = {NULL, 0};
    assert_true(tr_text_compare(ab, abc) < 0);
    assert_true(tr_text_compare(abc, ab) > 0);
    assert_true(tr_text_compare(ab, (trellis_text){"aba", 2}) == 0);
    assert_true(tr_text_compare(none, ab) < 0);
    assert_true(tr_text_compare(ab, none) > 0);
    assert_true(tr_text_compare(none, TR_TEXT("")) == 0);
    assert_true(tr_text_compare(TR_TEXT("b"), abc) > 0);
    assert_true(tr_text_compare(TR_TEXT("\xC3"), TR_TEXT("z")) > 0);
}

/* ---- the buffer ------------------------------------------------------------------------------ */

static void expect_buffer(struct tr_buffer *buffer, const char *expected)
{
    assert_false(buffer->failed);
    assert_int_equal(buffer->size, strlen(expected));
    assert_memory_equal(buffer->size ? buffer->data : "", expected, buffer->size);
    buffer->size = 0;
}

static void grows_as_needed(void **state)
{
    (void)state;
    struct tr_buffer buffer = {0};
    for (size_t i = 0; i < 100000; i++) {
        tr_buffer_char(&buffer, (char)('a' + i % 26));
    }
    for (size_t i = 0; i < 1000; i++) {
        tr_buffer_add(&buffer, "0123456789", i % 11);
    }
    assert_false(buffer.failed);
    size_t at = 100000;
    for (size_t i = 0; i < at; i++) {
        assert_int_equal(buffer.data[i], 'a' + i % 26);
    }
    for (size_t i = 0; i < 1000; i++) {
        assert_memory_equal(buffer.data + at, "0123456789", i % 11);
        at += i % 11;
    }
    assert_int_equal(buffer.size, at);
    tr_buffer_free(&buffer);
    assert_null(buffer.data);
    assert_int_equal(buffer.size + buffer.capacity, 0);
}

static void writes_pieces(void **state)
{
    (void)state;
    struct tr_buffer buffer = {0};
    tr_buffer_add(&buffer, NULL, 0);
    tr_buffer_text(&buffer, (trellis_text){NULL, 0});
    expect_buffer(&buffer, "");
    tr_buffer_string(&buffer, "one");
    tr_buffer_char(&buffer, ' ');
    tr_buffer_text(&buffer, TR_TEXT("two"));
    tr_buffer_format(&buffer, " %d %s", 3, "four");
    tr_buffer_format(&buffer, "%s", "");
    expect_buffer(&buffer, "one two 3 four");
    for (int width = 0; width < 300; width++) {
        struct tr_buffer fresh = {0};
        tr_buffer_format(&fresh, "%*d|", width, 7);
        assert_int_equal(fresh.size, (width ? width : 1) + 1);
        assert_int_equal(fresh.data[fresh.size - 1], '|');
        assert_int_equal(fresh.data[fresh.size - 2], '7');
        tr_buffer_free(&fresh);
    }
    tr_buffer_free(&buffer);
}

static trellis_status keep(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

static trellis_status refuse(void *user, const char *data, size_t size)
{
    (void)data, (void)size;
    ++*(int *)user;
    return TRELLIS_INTERRUPTED;
}

static void flushes_to_a_sink(void **state)
{
    (void)state;
    struct tr_buffer buffer = {0}, kept = {0};
    trellis_error error = {0};
    int calls = 0;
    assert_int_equal(tr_buffer_flush(&buffer, refuse, &calls, &error), TRELLIS_OK);
    assert_int_equal(calls, 0); // nothing to hand over
    tr_buffer_string(&buffer, "some");
    assert_int_equal(tr_buffer_flush(&buffer, keep, &kept, &error), TRELLIS_OK);
    assert_int_equal(buffer.size, 0);
    tr_buffer_string(&buffer, "thing");
    assert_int_equal(tr_buffer_flush(&buffer, keep, &kept, NULL), TRELLIS_OK);
    expect_buffer(&kept, "something");
    tr_buffer_string(&buffer, "more");
    assert_int_equal(tr_buffer_flush(&buffer, refuse, &calls, &error), TRELLIS_INTERRUPTED);
    assert_int_equal(calls, 1);
    assert_int_equal(error.status, TRELLIS_INTERRUPTED);
    tr_buffer_free(&buffer);
    tr_buffer_free(&kept);
}

/* A failed write leaves the buffer unchanged, and so do all later writes. */
static void remembers_a_failure(void **state)
{
    (void)state;
    volatile size_t impossible = SIZE_MAX / 2;
    struct tr_buffer buffer = {0}, kept = {0};
    tr_buffer_string(&buffer, "before");
    assert_true(buffer.capacity > buffer.size);
    tr_buffer_add(&buffer, "x", impossible);
    assert_true(buffer.failed);
    tr_buffer_string(&buffer, "after");
    tr_buffer_char(&buffer, 'c');
    tr_buffer_format(&buffer, "%d", 1);
    tr_buffer_real(&buffer, .5);
    tr_buffer_json(&buffer, TR_TEXT("j"));
    assert_int_equal(buffer.size, 6);
    assert_memory_equal(buffer.data, "before", 6);
    trellis_error error = {0};
    assert_int_equal(tr_buffer_flush(&buffer, keep, &kept, &error), TRELLIS_MEMORY);
    assert_int_equal(kept.size, 0);
    tr_buffer_free(&buffer);
    assert_false(buffer.failed);
}

/* ---- reals out ------------------------------------------------------------------------------- */

static void writes_the_shortest_real(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-17, "-17"},
        {1000, "1000"},
        {999999999999999, "999999999999999"},
        {1e15, "1e+15"},
        {1e22, "1e+22"},
        {.1, "0.1"},
        {.1 + .2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {1e-5, "1e-05"},
        {1.5, "1.5"},
        {1234.5678, "1234.5678"},
        {123456789012345680, "1.2345678901234568e+17"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {4.9406564584124654e-324, "5e-324"},
        {INFINITY, "null"},
        {-INFINITY, "null"},
        {NAN, "null"},
    };
    struct tr_buffer buffer = {0};
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        tr_buffer_real(&buffer, cases[i].value);
        expect_buffer(&buffer, cases[i].text);
    }
    tr_buffer_free(&buffer);
}

static void reads_back_what_it_writes(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 3);
    struct tr_buffer buffer = {0};
    for (size_t i = 0; i < 50000; i++) {
        uint64_t bits = tr_random_bits(&random);
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (i % 3 == 1) {
            value = (double)(float)tr_random_real(&random);
        } else if (i % 3 == 2) {
            value = floor(tr_random_real(&random) * 1e6) / 1000; // at most three places
        }
        if (!isfinite(value)) {
            continue;
        }
        buffer.size = 0;
        tr_buffer_real(&buffer, value);
        trellis_text text = {buffer.data, buffer.size};
        assert_true(tr_text_real(text, &back));
        assert_true(back == value && signbit(back) == signbit(value));
        assert_true(i % 3 != 2 || text.size <= 7);
    }
    tr_buffer_free(&buffer);
}

/* A locale with German numbers, built for the test where the machine has none. */
static bool set_german(void)
{
    if (setlocale(LC_ALL, "de_DE.UTF-8")) {
        return true;
    }
    char *folder = temporary_folder(), command[500];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
             folder);
    setenv("LOCPATH", folder, 1);
    bool ok = system(command) == 0 && setlocale(LC_ALL, "de_DE.UTF-8");
    temporary_drop(folder); // it is in memory by now
    return ok;
}

/* A program may have set a locale with a decimal comma; our files do not change. */
static void ignores_the_locale(void **state)
{
    (void)state;
    if (!set_german()) {
        skip();
    }
    char comma[10];
    snprintf(comma, sizeof comma, "%.1f", 1.5);
    assert_string_equal(comma, "1,5");
    double value;
    struct tr_buffer buffer = {0};
    assert_true(tr_text_real(TR_TEXT("1.5"), &value) && value == 1.5);
    assert_false(tr_text_real(TR_TEXT("1,5"), &value));
    tr_buffer_real(&buffer, .25);
    tr_buffer_format(&buffer, " %g", 1.5);
    expect_buffer(&buffer, "0.25 1.5");
    snprintf(comma, sizeof comma, "%.1f", 1.5);
    assert_string_equal(comma, "1,5"); // and the program's is not changed
    setlocale(LC_ALL, "C");
    tr_buffer_free(&buffer);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void escapes_json(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *json;
    } cases[] = {
        {"", 0, "\"\""},
        {"plain", 5, "\"plain\""},
        {"a\"b\\c/", 6, "\"a\\\"b\\\\c/\""},
        {"\n\t\r\b\f", 5, "\"\\u000a\\u0009\\u000d\\u0008\\u000c\""},
        {"\0\x1F\x20\x7F", 4, "\"\\u0000\\u001f \\u007f\""},
        {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 9, "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""},
        {"\xFF", 1, "\"\xEF\xBF\xBD\""},
        {"a\x80z", 3, "\"a\xEF\xBF\xBDz\""},
        {"\xE2\x82", 2, "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"\xC0\x80", 2, "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"\xED\xA0\x80", 3, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"\xC3\"", 2, "\"\xEF\xBF\xBD\\\"\""},
    };
    struct tr_buffer buffer = {0};
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        tr_buffer_json(&buffer, (trellis_text){cases[i].text, cases[i].size});
        expect_buffer(&buffer, cases[i].json);
    }
    tr_buffer_free(&buffer);
}

/* Any bytes give a JSON string, from which a parser reads the same bytes. */
static void a_parser_reads_json_back(void **state)
{
    (void)state;
    static const char bytes[] =
        "\"\\/ab \n\x01\x7F\x80\xBF\xC3\xA9\xE2\x82\xAC\xED\xA0\xF0\x9F\x98\xFF";
    struct tr_random random;
    tr_random_seed(&random, 5);
    struct tr_buffer json = {0}, expected = {0};
    for (size_t i = 0; i < 20000; i++) {
        char text[12];
        size_t size = tr_random_below(&random, sizeof text + 1);
        for (size_t k = 0; k < size; k++) {
            text[k] = bytes[tr_random_below(&random, sizeof bytes)]; // its last zero as well
        }
        trellis_text slice = {text, size};
        json.size = expected.size = 0;
        tr_buffer_json(&json, slice);
        for (size_t at = 0; at < size;) {
            size_t step = tr_utf8_step(slice, at);
            tr_buffer_add(&expected, step ? text + at : "\xEF\xBF\xBD", step ? step : 3);
            at += step ? step : 1;
        }
        json_t *value = json_loadb(json.data, json.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        assert_non_null(value);
        assert_int_equal(json_string_length(value), expected.size);
        assert_memory_equal(json_string_value(value), expected.data ? expected.data : "",
                            expected.size);
        json_decref(value);
    }
    tr_buffer_free(&json);
    tr_buffer_free(&expected);
}

/* ---- edit distance --------------------------------------------------------------------------- */

static void splits_into_words(void **state)
{
    (void)state;
    trellis_text line = tr_text(" \tone two\t"), none = {NULL, 0};
    assert_true(tr_text_equal(tr_text_word(&line), TR_TEXT("one")));
    assert_true(tr_text_equal(tr_text_word(&line), TR_TEXT("two")));
    assert_int_equal(tr_text_word(&line).size, 0);
    assert_int_equal(line.size, 0);
    assert_int_equal(tr_text_word(&none).size, 0); // the sanitizer knows that NULL has no offset
}

static void computes_edit_distances(void **state)
{
    (void)state;
    assert_int_equal(tr_edit_distance("", "", 5), 0);
    assert_int_equal(tr_edit_distance("", "abc", 5), 3);
    assert_int_equal(tr_edit_distance("abc", "", 5), 3);
    assert_int_equal(tr_edit_distance("same", "same", 0), 0);
    assert_int_equal(tr_edit_distance("kitten", "sitting", 10), 3);
    assert_int_equal(tr_edit_distance("epcohs", "epochs", 10), 1);
    assert_int_equal(tr_edit_distance("kitten", "sitting", 3), 3);
    assert_int_equal(tr_edit_distance("kitten", "sitting", 2), 3); // max + 1
    assert_int_equal(tr_edit_distance("abcdef", "uvwxyz", 2), 3);
    assert_int_equal(tr_edit_distance("a", "b", 0), 1);
    char longest[64], longer[65];
    memset(longest, 'a', 63);
    longest[63] = '\0';
    memset(longer, 'a', 64);
    longer[64] = '\0';
    assert_int_equal(tr_edit_distance(longest, longest, 2), 0);
    assert_int_equal(tr_edit_distance(longest, "a", 100), 62);
    assert_int_equal(tr_edit_distance(longer, longer, 2), 3); // too long
}

/* By definition: the best of the four possible first edits. */
static unsigned naive_distance(const char *a, const char *b)
{
    if (!*a || !*b) {
        return (unsigned)(strlen(a) + strlen(b));
    }
    unsigned kept = naive_distance(a + 1, b + 1) + (*a != *b);
    unsigned dropped = naive_distance(a + 1, b) + 1, added = naive_distance(a, b + 1) + 1;
    unsigned best = dropped < added ? dropped : added;
    if (a[1] && a[0] == b[1] && a[1] == b[0]) {
        unsigned swapped = naive_distance(a + 2, b + 2) + 1;
        best = swapped < best ? swapped : best;
    }
    return kept < best ? kept : best;
}

static void matches_the_definition_of_edit_distance(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 9);
    for (size_t i = 0; i < 2000; i++) {
        char words[2][7];
        for (size_t w = 0; w < 2; w++) {
            size_t n = tr_random_below(&random, 7);
            for (size_t k = 0; k < n; k++) {
                words[w][k] = (char)('a' + tr_random_below(&random, 3));
            }
            words[w][n] = '\0';
        }
        unsigned expected = naive_distance(words[0], words[1]);
        assert_int_equal(tr_edit_distance(words[0], words[1], 20), expected);
        assert_int_equal(tr_edit_distance(words[1], words[0], 2), expected < 3 ? expected : 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_integers),
        cmocka_unit_test(refuses_other_text_as_integer),
        cmocka_unit_test(reads_no_further_than_the_text),
        cmocka_unit_test(reads_reals),
        cmocka_unit_test(refuses_other_text_as_real),
        cmocka_unit_test(compares_texts),
        cmocka_unit_test(orders_texts),
        cmocka_unit_test(grows_as_needed),
        cmocka_unit_test(writes_pieces),
        cmocka_unit_test(flushes_to_a_sink),
        cmocka_unit_test(remembers_a_failure),
        cmocka_unit_test(writes_the_shortest_real),
        cmocka_unit_test(reads_back_what_it_writes),
        cmocka_unit_test(ignores_the_locale),
        cmocka_unit_test(escapes_json),
        cmocka_unit_test(a_parser_reads_json_back),
        cmocka_unit_test(splits_into_words),
        cmocka_unit_test(computes_edit_distances),
        cmocka_unit_test(matches_the_definition_of_edit_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
