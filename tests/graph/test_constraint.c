/* test_constraint.c - lists of forbidden transitions: what they may have, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "graph/constraint.h"
#include "support/temporary.h"

#include <stdlib.h>
#include <string.h>

enum { A, B, I, LABELS, START = LABELS, END };
static const trellis_text labels[] = {TR_TEXT("A"), TR_TEXT("B-x"), TR_TEXT("I-x")};

struct list {
    trellis_status status;
    trellis_error error;
    uint16_t (*steps)[2];
    size_t count;
};

static struct list read_list(const char *text)
{
    struct list list = {0};
    trellis_options *options;
    assert_int_equal(trellis_options_create(&options, NULL), TRELLIS_OK);
    char *path = temporary_file(text);
    list.status = tr_constraint_steps(path, options, labels, LABELS, &list.steps, &list.count,
                                      &list.error);
    temporary_drop(path);
    trellis_options_destroy(options);
    return list;
}

static void pairs_blanks_and_comments(void **state)
{
    (void)state;
    struct list list = read_list("# transitions that nobody writes\n"
                                 "A I-x\n"
                                 "\n"
                                 "  <start>\tI-x  \n"
                                 "   # the end\n"
                                 "#B-x <end>\n"
                                 "I-x <end>");
    const uint16_t wanted[][2] = {{A, I}, {START, I}, {I, END}};
    assert_int_equal(list.status, TRELLIS_OK);
    assert_int_equal(list.count, TR_COUNT(wanted));
    assert_memory_equal(list.steps, wanted, sizeof wanted);
    free(list.steps);
    list = read_list("# nothing\n");
    assert_int_equal(list.status, TRELLIS_OK);
    assert_int_equal(list.count, 0);
    free(list.steps);
}

static void bad_lists(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t line;
        const char *sentence;
    } cases[] = {
        {"A\n", 1, "expected two labels"},
        {"A B-x\nA B-x I-x\n", 2, "expected two labels"},
        {"A B-x\n\nC A\n", 3, "there is no label 'C'"},
        {"# a\nA C\n", 2, "there is no label 'C'"},
        {"<end> A\n", 1, "there is no label '<end>'"},
        {"A <start>\n", 1, "there is no label '<start>'"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        struct list list = read_list(cases[i].text);
        assert_int_equal(list.status, TRELLIS_FORMAT);
        assert_int_equal(list.error.line, cases[i].line);
        assert_non_null(strstr(list.error.message, cases[i].sentence));
    }
}

/* What iob rules out of A, B-x and I-x: I-x after anything but a span of x. A is no span label. */
static void schemes(void **state)
{
    (void)state;
    static const trellis_text spans[] = {TR_TEXT("O"), TR_TEXT("B-x"), TR_TEXT("I-x")};
    const uint16_t wanted[][2] = {{A, I}, {START, I}};
    uint16_t(*steps)[2];
    size_t count;
    assert_int_equal(tr_constraint_steps("iob", NULL, spans, LABELS, &steps, &count, NULL),
                     TRELLIS_OK);
    assert_int_equal(count, TR_COUNT(wanted));
    assert_memory_equal(steps, wanted, sizeof wanted);
    free(steps);
    trellis_error error;
    assert_int_equal(tr_constraint_steps("iob", NULL, labels, LABELS, &steps, &count, &error),
                     TRELLIS_DATA);
    assert_int_equal(tr_constraint_steps("none", NULL, labels, LABELS, &steps, &count, NULL),
                     TRELLIS_OK);
    assert_int_equal(count, 0);
    free(steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_blanks_and_comments),
        cmocka_unit_test(bad_lists),
        cmocka_unit_test(schemes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
