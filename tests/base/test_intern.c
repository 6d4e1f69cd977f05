/* test_intern.c - texts and their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/intern.h"

static void numbers_texts_in_order(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    struct tr_intern intern = {0};
    char text[40];
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "text %x", i * 2654435761u);
        assert_int_equal(tr_intern_find(&intern, tr_text(text)), TR_NONE);
        assert_int_equal(tr_intern_add(&intern, tr_text(text)), i);
        assert_int_equal(tr_intern_count(&intern), i + 1);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "text %x", i * 2654435761u);
        assert_int_equal(tr_intern_find(&intern, tr_text(text)), i);
        assert_int_equal(tr_intern_add(&intern, tr_text(text)), i);
        assert_true(tr_text_is(tr_intern_text(&intern, i), text));
        assert_string_equal(tr_intern_text(&intern, i).data, text); // ended by a zero byte
    }
    assert_int_equal(tr_intern_count(&intern), MANY);
    assert_int_equal(tr_intern_find(&intern, TR_TEXT("text")), TR_NONE);
    assert_int_equal(tr_intern_find(&intern, TR_TEXT("")), TR_NONE);
    tr_intern_free(&intern);
}

static void the_empty_text_is_a_text(void **state)
{
    (void)state;
    struct tr_intern intern = {0};
    assert_int_equal(tr_intern_add(&intern, TR_TEXT("a")), 0);
    assert_int_equal(tr_intern_add(&intern, TR_TEXT("")), 1);
    assert_int_equal(tr_intern_add(&intern, (trellis_text){NULL, 0}), 1);
    assert_int_equal(tr_intern_find(&intern, (trellis_text){NULL, 0}), 1);
    assert_int_equal(tr_intern_text(&intern, 1).size, 0);
    assert_int_equal(tr_intern_count(&intern), 2);
    tr_intern_free(&intern);
}

static void zero_bytes_are_bytes(void **state)
{
    (void)state;
    static const trellis_text texts[] = {{"a", 1},  {"a\0", 2},  {"a\0b", 3}, {"a\0c", 3},
                                         {"\0", 1}, {"\0\0", 2}, {"", 0},     {"a\0b\0", 4}};
    struct tr_intern intern = {0};
    for (int again = 0; again < 2; again++) {
        for (uint32_t i = 0; i < TR_COUNT(texts); i++) {
            assert_int_equal(tr_intern_add(&intern, texts[i]), i);
        }
    }
    for (uint32_t i = 0; i < TR_COUNT(texts); i++) {
        assert_true(tr_text_equal(tr_intern_text(&intern, i), texts[i]));
    }
    tr_intern_free(&intern);
}

static void long_texts_fit(void **state)
{
    (void)state;
    enum { LONG = 1 << 20 };
    struct tr_intern intern = {0};
    char *text = tr_alloc(LONG, 1);
    memset(text, 'x', LONG);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(tr_intern_add(&intern, (trellis_text){text, LONG - i}), i);
    }
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(tr_intern_find(&intern, (trellis_text){text, LONG - i}), i);
    }
    free(text);
    tr_intern_free(&intern);
}

static void can_be_reused_after_free(void **state)
{
    (void)state;
    struct tr_intern intern = {0};
    assert_int_equal(tr_intern_find(&intern, TR_TEXT("a")), TR_NONE);
    assert_int_equal(tr_intern_count(&intern), 0);
    tr_intern_free(&intern); // nothing to free yet
    assert_int_equal(tr_intern_add(&intern, TR_TEXT("a")), 0);
    tr_intern_free(&intern);
    assert_int_equal(tr_intern_find(&intern, TR_TEXT("a")), TR_NONE);
    assert_int_equal(tr_intern_add(&intern, TR_TEXT("b")), 0);
    tr_intern_free(&intern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_texts_in_order),   cmocka_unit_test(the_empty_text_is_a_text),
        cmocka_unit_test(zero_bytes_are_bytes),     cmocka_unit_test(long_texts_fit),
        cmocka_unit_test(can_be_reused_after_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
