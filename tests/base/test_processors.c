/* test_processors.c - how many processors this process may use. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/processors.h"

static void test_quota(void **state)
{
    (void)state;
    assert_int_equal(tr_quota_processors("max 100000\n"), 0);
    assert_int_equal(tr_quota_processors("200000 100000\n"), 2);
    assert_int_equal(tr_quota_processors("150000 100000\n"), 2);
    assert_int_equal(tr_quota_processors("140000 100000\n"), 1);
    assert_int_equal(tr_quota_processors("1000 100000\n"), 1);
    assert_int_equal(tr_quota_processors("-1 100000\n"), 0); // version 1
    assert_int_equal(tr_quota_processors("100000"), 0);
    assert_int_equal(tr_quota_processors(""), 0);
    assert_int_equal(tr_quota_processors("1e300 1\n"), 0);
}

/* With an affinity of one processor there is one, however many the machine has. */
static void test_affinity(void **state)
{
    (void)state;
    cpu_set_t all, one;
    assert_true(trellis_processor_count() >= 1);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_true(trellis_processor_count() <= (unsigned)CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &one);
        }
    }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(trellis_processor_count(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quota),
                                       cmocka_unit_test(test_affinity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
