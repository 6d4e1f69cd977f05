/* test_json.c - bad JSON is told from a lack of memory, whichever allocation fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing.h"

#include "corpus/json.h"

static void bad_syntax_is_no_lack_of_memory(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "x", "\"", "{\"tokens\": [\"a\", \"b}", "\"\\ud800\""};
    for (size_t i = 0; i < TR_COUNT(bad); i++) {
        json_error_t wrong;
        bool memory = false;
        failing_from(0, false);
        assert_null(tr_json_load(tr_text(bad[i]), 0, &wrong, &memory));
        assert_true(memory);
        /* Room for all of the text and the zero behind it was to be had before it was refused. */
        assert_true(largest >= strlen(bad[i]) + 1);
    }
}

/* A text that is sound is read or memory is lacking; it is never called bad. */
static void a_lack_of_memory_is_no_bad_syntax(void **state)
{
    (void)state;
    trellis_text text = tr_text("{\"tokens\": [\"a long word of more than a few bytes\", \"b\"]}");
    for (long n = 1;; n++) {
        json_error_t wrong;
        bool memory = false;
        failing_from(n, true);
        json_t *json = tr_json_load(text, 0, &wrong, &memory);
        bool enough = !failed;
        failing_from(0, false);
        assert_int_equal(memory, json != NULL);
        assert_true(json || !enough);
        json_decref(json);
        if (enough) {
            break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_syntax_is_no_lack_of_memory),
        cmocka_unit_test(a_lack_of_memory_is_no_bad_syntax),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
