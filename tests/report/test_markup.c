/* test_markup.c - escaping of untrusted text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "report/markup.h"

static void check(void (*write)(struct tr_buffer *, trellis_text), const char *text, size_t size,
                  const char *expected)
{
    struct tr_buffer out = {0};
    write(&out, (trellis_text){text, size});
    tr_buffer_char(&out, 0);
    assert_string_equal(out.data, expected);
    tr_buffer_free(&out);
}

static void test_text(void **state)
{
    (void)state;
    check(tr_markup_text, "a<b> & \"c\" 'd'", 14, "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
    check(tr_markup_text, "\xC3\xA9\xE2\x82\xAC", 5, "\xC3\xA9\xE2\x82\xAC");
    check(tr_markup_text, "\xC3", 1, "\xEF\xBF\xBD"); // cut off
    check(tr_markup_text, "a\0\x1B\x7F", 4, "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    check(tr_markup_text, "\xEF\xBF\xBF", 3, "\xEF\xBF\xBD"); // U+FFFF
    check(tr_markup_text, "", 0, "");
}

static void test_json(void **state)
{
    (void)state;
    check(tr_markup_json, "[\"</script><!-- &amp;\"]", 23,
          "[\"\\u003c/script\\u003e\\u003c!-- \\u0026amp;\"]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
