/* test_utf8.c - code points against a validator written from the standard's table, classes,
 * case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "base/utf8.h"

static bool within(unsigned char c, unsigned low, unsigned high)
{
    return c >= low && c <= high;
}

/* The well-formed byte sequences, row by row of table 3-7 of the Unicode standard. */
static size_t naive_step(const unsigned char *s, size_t left)
{
    static const struct {
        unsigned char low, high, second_low, second_high;
        size_t size;
    } rows[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t i = 0; left && i < TR_COUNT(rows); i++) {
        if (within(s[0], rows[i].low, rows[i].high)) {
            bool ok = left >= rows[i].size &&
                      (rows[i].size < 2 || within(s[1], rows[i].second_low, rows[i].second_high));
            for (size_t k = 2; ok && k < rows[i].size; k++) {
                ok = within(s[k], 0x80, 0xBF);
            }
            return ok ? rows[i].size : 0;
        }
    }
    return 0;
}

static void accepts_the_ends_of_every_range(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        int32_t code;
    } cases[] = {
        {"\x01", 1},
        {"\x7F", 0x7F},
        {"\xC2\x80", 0x80},
        {"\xDF\xBF", 0x7FF},
        {"\xE0\xA0\x80", 0x800},
        {"\xED\x9F\xBF", 0xD7FF},
        {"\xEE\x80\x80", 0xE000},
        {"\xEF\xBF\xBF", 0xFFFF},
        {"\xF0\x90\x80\x80", 0x10000},
        {"\xF4\x8F\xBF\xBF", 0x10FFFF},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        trellis_text text = tr_text(cases[i].bytes);
        size_t at = 0;
        assert_int_equal(tr_utf8_step(text, 0), text.size);
        assert_int_equal(tr_utf8_invalid(text), text.size);
        assert_int_equal(tr_utf8_next(text, &at), cases[i].code);
        assert_int_equal(at, text.size);
    }
    size_t at = 0;
    assert_int_equal(tr_utf8_step(TR_TEXT("\0"), 0), 1);
    assert_int_equal(tr_utf8_next(TR_TEXT("\0"), &at), 0);
    assert_int_equal(tr_utf8_step(TR_TEXT("a"), 1), 0);
    assert_int_equal(tr_utf8_step((trellis_text){NULL, 0}, 0), 0);
    assert_int_equal(tr_utf8_invalid((trellis_text){NULL, 0}), 0);
}

static void refuses_malformed_bytes(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "\x80",
        "\xBF",
        "\xFE",
        "\xFF",
        "\xC3",
        "\xE2\x82",
        "\xF0\x9F\x98",
        "\xC3(",
        "\xE2\x28\xA1",
        "\xE2\x82(",
        "\xF0\x9F\x98(", // truncated
        "\xC0\x80",
        "\xC1\xBF",
        "\xE0\x80\x80",
        "\xE0\x9F\xBF",
        "\xF0\x80\x80\x80",
        "\xF0\x8F\xBF\xBF", // overlong
        "\xED\xA0\x80",
        "\xED\xBF\xBF", // surrogates
        "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80",
        "\xF8\x88\x80\x80\x80", // beyond the last
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        trellis_text text = tr_text(cases[i]);
        size_t at = 0;
        assert_int_equal(tr_utf8_step(text, 0), 0);
        assert_int_equal(tr_utf8_invalid(text), 0);
        assert_int_equal(tr_utf8_next(text, &at), 0xDC00 + (unsigned char)cases[i][0]);
        assert_int_equal(at, 1);
    }
}

/* The fast path for ASCII must not skip an invalid byte within its eight bytes. */
static void finds_the_first_invalid_byte_anywhere(void **state)
{
    (void)state;
    for (size_t size = 1; size < 40; size++) {
        for (size_t bad = 0; bad < size; bad++) {
            char bytes[40];
            memset(bytes, 'a', size);
            bytes[bad] = '\x80';
            assert_int_equal(tr_utf8_invalid((trellis_text){bytes, size}), bad);
            if (bad + 1 < size) {
                bytes[bad] = '\xC3';
                bytes[bad + 1] = '\xA9';
                assert_int_equal(tr_utf8_invalid((trellis_text){bytes, size}), size);
            }
        }
    }
}

/* Every byte that is not plain, at every place of texts around the 128 bytes that are compared at
 * once. */
static void knows_plain_text(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 127, 128, 129, 200, 256, 257, 400};
    char bytes[400];
    assert_true(tr_utf8_is_plain((trellis_text){NULL, 0}));
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(1 + i % 127);
    }
    for (size_t k = 0; k < TR_COUNT(sizes); k++) {
        trellis_text text = {bytes, sizes[k]};
        assert_true(tr_utf8_is_plain(text));
        for (size_t at = 0; at < text.size; at++) {
            char before = bytes[at];
            for (int byte = 0x80; byte <= 0x100; byte++) {
                bytes[at] = (char)byte;
                assert_false(tr_utf8_is_plain(text));
            }
            bytes[at] = before;
        }
    }
}

static void reads_back_every_code_point(void **state)
{
    (void)state;
    for (int32_t code = 0; code <= 0x10FFFF; code++) {
        if (code >= 0xD800 && code <= 0xDFFF) {
            continue;
        }
        char bytes[4];
        size_t size = tr_utf8_write(code, bytes), at = 0;
        assert_true(size == (code < 0x80 ? 1u : code < 0x800 ? 2u : code < 0x10000 ? 3u : 4u));
        assert_true(tr_utf8_next((trellis_text){bytes, size}, &at) == code && at == size);
    }
}

/* Random bytes, mostly parts of valid sequences, against a naive split into code points. */
static void matches_the_standard(void **state)
{
    (void)state;
    static const unsigned char likely[] = {'a',  'b',  0x80, 0xA9, 0xBF, 0x9F, 0x90,
                                           0xC3, 0xC0, 0xE0, 0xE2, 0x82, 0xAC, 0xED,
                                           0xF0, 0x98, 0xF4, 0x8F, 0xFF};
    struct tr_random random;
    tr_random_seed(&random, 11);
    for (size_t round = 0; round < 100000; round++) {
        unsigned char bytes[24];
        size_t size = tr_random_below(&random, sizeof bytes + 1);
        for (size_t i = 0; i < size; i++) {
            bytes[i] = likely[tr_random_below(&random, sizeof likely)];
        }
        trellis_text text = {(const char *)bytes, size};
        size_t begin[sizeof bytes + 1], count = 0, invalid = size;
        for (size_t at = 0; at < size;) {
            size_t step = naive_step(bytes + at, size - at);
            assert_int_equal(tr_utf8_step(text, at), step);
            if (step == 0 && invalid == size) {
                invalid = at;
            }
            begin[count++] = at;
            at += step ? step : 1;
        }
        begin[count] = size;
        assert_int_equal(tr_utf8_invalid(text), invalid);
        assert_int_equal(tr_utf8_length(text), count);
        for (size_t n = 0; n <= count; n++) {
            trellis_text prefix, suffix;
            assert_true(tr_utf8_prefix(text, n, &prefix));
            assert_true(tr_utf8_suffix(text, n, &suffix));
            assert_ptr_equal(prefix.data, text.data);
            assert_int_equal(prefix.size, begin[n]);
            assert_int_equal(suffix.size, size - begin[count - n]);
            assert_ptr_equal(suffix.data + suffix.size, text.data + size);
        }
        trellis_text part;
        assert_false(tr_utf8_prefix(text, count + 1, &part));
        assert_false(tr_utf8_suffix(text, count + 1, &part));

        char back[4];
        for (size_t at = 0; at < size;) {
            size_t from = at, written = tr_utf8_write(tr_utf8_next(text, &at), back);
            assert_int_equal(written, at - from);
            assert_memory_equal(back, bytes + from, written);
        }
    }
}

static void cuts_prefixes_and_suffixes(void **state)
{
    (void)state;
    trellis_text part, text = TR_TEXT("n\xC3\xA4"
                                      "ch\xE2\x82\xAC\xFF");
    assert_int_equal(tr_utf8_length(text), 6);
    assert_true(tr_utf8_prefix(text, 2, &part) && tr_text_is(part, "n\xC3\xA4"));
    assert_true(tr_utf8_suffix(text, 1, &part) && tr_text_is(part, "\xFF"));
    assert_true(tr_utf8_suffix(text, 2, &part) && tr_text_is(part, "\xE2\x82\xAC\xFF"));
    assert_true(tr_utf8_suffix(text, 6, &part) && tr_text_equal(part, text));
    assert_true(tr_utf8_suffix(text, 0, &part) && part.size == 0);
    assert_true(tr_utf8_prefix(TR_TEXT(""), 0, &part) && part.size == 0);
    assert_false(tr_utf8_prefix(TR_TEXT(""), 1, &part));
    assert_false(tr_utf8_suffix(text, 7, &part));
    assert_true(tr_utf8_suffix(TR_TEXT("\x80\x80\x80\x80\x80"), 5, &part) && part.size == 5);
}

static void knows_classes(void **state)
{
    (void)state;
    static const struct {
        int32_t codes[10];
        enum tr_class class;
    } cases[] = {
        {{'A', 'Z', 0xC9, 0x416, 0x1C5}, TR_UPPER},      // A Z É Ж, title case Dž
        {{'a', 'z', 0xE9, 0xDF, 0x436}, TR_LOWER},       // é ß ж
        {{0x4E2D, 0x5D0, 0xAA, 0x2B0}, TR_OTHER_LETTER}, // 中 א ª, modifier h
        {{'0', '9', 0x663, 0xBD, 0x2167}, TR_DIGIT},     // Arabic 3, ½, Ⅷ
        {{'.', '!', '_', '-', '(', ')', 0xBB, 0x201C, '"', '@'}, TR_PUNCTUATION},
        {{'+', '$', '^', '`', '|', '~', 0xA9, 0x20AC, 0x1F600}, TR_SYMBOL},
        {{' ', 0xA0, 0x3000, 0x2028, 0x2029}, TR_SPACE},
        {{'\t', '\n', 0x7F, 0x301, 0x200B, 0xE000, 0x378, 0xDC80, 0xDCFF, 1}, TR_OTHER},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        for (size_t k = 0; k < 10 && cases[i].codes[k]; k++) {
            if (tr_utf8_class(cases[i].codes[k]) != cases[i].class) {
                fail_msg("U+%04X is of another class", (unsigned)cases[i].codes[k]);
            }
        }
    }
    assert_int_equal(tr_utf8_class(0), TR_OTHER);
}

static void changes_case(void **state)
{
    (void)state;
    static const int32_t pairs[][2] = {
        {'A', 'a'}, {'Z', 'z'}, {0xC9, 0xE9}, {0x416, 0x436}, {0x3A3, 0x3C3}, {0x10400, 0x10428},
    };
    for (size_t i = 0; i < TR_COUNT(pairs); i++) {
        assert_int_equal(tr_utf8_lower(pairs[i][0]), pairs[i][1]);
        assert_int_equal(tr_utf8_lower(pairs[i][1]), pairs[i][1]);
        assert_int_equal(tr_utf8_upper(pairs[i][1]), pairs[i][0]);
        assert_int_equal(tr_utf8_upper(pairs[i][0]), pairs[i][0]);
    }
    static const int32_t others[] = {'@', '[',    '`',    '{',    '5',   ' ',
                                     0,   0x4E2D, 0x20AC, 0xDC80, 0xDCFF};
    for (size_t i = 0; i < TR_COUNT(others); i++) {
        assert_int_equal(tr_utf8_lower(others[i]), others[i]);
        assert_int_equal(tr_utf8_upper(others[i]), others[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_the_ends_of_every_range),
        cmocka_unit_test(refuses_malformed_bytes),
        cmocka_unit_test(finds_the_first_invalid_byte_anywhere),
        cmocka_unit_test(knows_plain_text),
        cmocka_unit_test(reads_back_every_code_point),
        cmocka_unit_test(matches_the_standard),
        cmocka_unit_test(cuts_prefixes_and_suffixes),
        cmocka_unit_test(knows_classes),
        cmocka_unit_test(changes_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
