/* test_error.c - statuses, their names, and error messages. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static void names_every_status(void **state)
{
    (void)state;
    assert_string_equal(trellis_status_name(TRELLIS_OK), "OK");
    assert_string_equal(trellis_status_name(TRELLIS_DATA), "DATA");
    assert_string_equal(trellis_status_meaning(TRELLIS_OK), "success");
    assert_string_equal(trellis_status_meaning(TRELLIS_FORMAT), "malformed input");
    for (int i = 0; i <= TRELLIS_DATA; i++) {
        assert_true(trellis_status_name((trellis_status)i)[0] != '\0');
        assert_true(trellis_status_meaning((trellis_status)i)[0] != '\0');
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(trellis_status_name((trellis_status)i),
                                    trellis_status_name((trellis_status)j));
        }
    }
    assert_string_equal(trellis_status_name((trellis_status)(TRELLIS_DATA + 1)), "UNKNOWN");
    assert_non_null(trellis_status_meaning((trellis_status)(TRELLIS_DATA + 1)));
}

static void gives_the_version(void **state)
{
    (void)state;
    char expected[40];
    snprintf(expected, sizeof expected, "%d.%d.%d", TRELLIS_VERSION_MAJOR, TRELLIS_VERSION_MINOR,
             TRELLIS_VERSION_PATCH);
    assert_string_equal(trellis_version(), expected);
}

static void describes_a_failure(void **state)
{
    (void)state;
    trellis_error error = {.line = 7, .column = 8};
    assert_int_equal(tr_fail(&error, TRELLIS_LIMIT, "%d is more than %s", 3, "two"), TRELLIS_LIMIT);
    assert_int_equal(error.status, TRELLIS_LIMIT);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_string_equal(error.message, "3 is more than two");
    assert_int_equal(tr_fail(NULL, TRELLIS_DATA, "%s", "nobody listens"), TRELLIS_DATA);
}

static void puts_the_place_in_front(void **state)
{
    (void)state;
    static const struct {
        struct tr_place place;
        const char *message;
    } cases[] = {
        {{"a.txt", 12, 5}, "a.txt:12:5: bad x"},
        {{"a.txt", 12, 0}, "a.txt:12: bad x"},
        {{"a.txt", 0, 0}, "a.txt: bad x"},
        {{"a.txt", 0, 5}, "a.txt: bad x"},
        {{NULL, 12, 5}, "bad x"},
        {{"100%s", 1, 0}, "100%s:1: bad x"},
        {{"a", UINT64_MAX, UINT32_MAX}, "a:18446744073709551615:4294967295: bad x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trellis_error error = {0};
        assert_int_equal(tr_fail_at(&error, TRELLIS_FORMAT, cases[i].place, "bad %c", 'x'),
                         TRELLIS_FORMAT);
        assert_string_equal(error.message, cases[i].message);
        assert_true(error.line == cases[i].place.line);
        assert_int_equal(error.column, cases[i].place.column);
    }
    assert_int_equal(tr_fail_at(NULL, TRELLIS_FORMAT, (struct tr_place){"a", 1, 1}, "x"),
                     TRELLIS_FORMAT);
}

/* Long messages and long file names are cut at the end. */
static void cuts_long_messages(void **state)
{
    (void)state;
    char many[3000];
    memset(many, 'm', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    trellis_error error = {0};
    tr_fail(&error, TRELLIS_DATA, "%s", many);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    tr_fail_at(&error, TRELLIS_DATA, (struct tr_place){many, 1, 1}, "unseen");
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_int_equal(error.message[sizeof error.message - 2], 'm');
}

static void includes_the_system_error(void **state)
{
    (void)state;
    trellis_error error = {0};
    errno = ENOENT;
    assert_int_equal(tr_fail_system(&error, "read", "here.txt"), TRELLIS_IO);
    assert_string_equal(error.message, "cannot read here.txt: No such file or directory");
    errno = ENOMEM;
    assert_int_equal(tr_fail_system(&error, "map", "x"), TRELLIS_MEMORY);
    assert_int_equal(error.status, TRELLIS_MEMORY);
    assert_int_equal(tr_fail_memory(&error), TRELLIS_MEMORY);
    assert_string_equal(error.message, "out of memory");
    assert_int_equal(tr_fail_memory(NULL), TRELLIS_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_every_status),  cmocka_unit_test(gives_the_version),
        cmocka_unit_test(describes_a_failure), cmocka_unit_test(puts_the_place_in_front),
        cmocka_unit_test(cuts_long_messages),  cmocka_unit_test(includes_the_system_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
