/* test_memory.c - zeroed memory, sizes that overflow, arrays that grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

/* Under the sanitizers an impossible size must give NULL, as elsewhere. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* Sizes that the compiler must not see through. */
static volatile size_t half = SIZE_MAX / 2;

static void expect_zeros(const void *memory, size_t size)
{
    const char *bytes = memory;
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(bytes[i], 0);
    }
}

static void gives_zeroed_memory(void **state)
{
    (void)state;
    for (size_t n = 0; n < 5000; n = n * 2 + 1) {
        char *memory = tr_alloc(n, 3);
        assert_non_null(memory);
        expect_zeros(memory, n * 3);
        memset(memory, 'x', n * 3); // freed memory may be reused by the next allocation
        free(memory);
    }
    free(tr_alloc(5, 0));
}

static void gives_aligned_memory(void **state)
{
    (void)state;
    for (size_t n = 0; n < 5000; n = n * 2 + 1) {
        float *memory = tr_alloc_aligned(n, sizeof *memory);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 64, 0);
        expect_zeros(memory, n * sizeof *memory);
        memset(memory, 'x', n * sizeof *memory);
        free(memory);
    }
}

static void refuses_sizes_that_overflow(void **state)
{
    (void)state;
    assert_null(tr_alloc(half, 4));
    assert_null(tr_alloc_aligned(half, 4));
    assert_null(tr_alloc_aligned(half + 1, 2)); // wraps round to 0
    assert_null(tr_alloc_aligned(half * 2 + 1, 1));
    assert_null(tr_copy_text("", half * 2 + 1));
}

static void copies_text(void **state)
{
    (void)state;
    char *copy = tr_copy_text("ab\0cdef", 5);
    assert_memory_equal(copy, "ab\0cd\0", 6);
    free(copy);
    copy = tr_copy_text(NULL, 0);
    assert_string_equal(copy, "");
    free(copy);
}

static void grows_arrays(void **state)
{
    (void)state;
    TR_ARRAY(uint64_t) numbers = {0};
    size_t moves = 0, capacity = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        assert_true(tr_push(&numbers, i * i));
        moves += numbers.capacity != capacity;
        capacity = numbers.capacity;
        assert_true(numbers.size <= numbers.capacity);
    }
    assert_true(moves < 40); // by a share of what there is, not by a constant
    for (uint64_t i = 0; i < 100000; i++) {
        assert_true(numbers.at[i] == i * i);
    }
    expect_zeros(numbers.at + numbers.size, (numbers.capacity - numbers.size) * sizeof(uint64_t));
    free(numbers.at);
}

static void reserves_zeroed_room(void **state)
{
    (void)state;
    TR_ARRAY(uint32_t) numbers = {0};
    assert_true(tr_push(&numbers, 7));
    assert_true(tr_reserve(&numbers, 5000));
    assert_true(numbers.capacity >= 5000);
    assert_int_equal(numbers.size, 1);
    assert_int_equal(numbers.at[0], 7);
    expect_zeros(numbers.at + 1, (numbers.capacity - 1) * sizeof *numbers.at);
    uint32_t *at = numbers.at;
    assert_true(tr_reserve(&numbers, 4000));
    assert_ptr_equal(numbers.at, at);
    free(numbers.at);
}

static void is_unchanged_when_it_cannot_grow(void **state)
{
    (void)state;
    TR_ARRAY(uint64_t) numbers = {0};
    assert_true(tr_push(&numbers, 5));
    uint64_t *at = numbers.at;
    size_t capacity = numbers.capacity;
    assert_false(tr_reserve(&numbers, half / 4 + 2)); // the product wraps round to 8
    assert_false(tr_reserve(&numbers, half / 8 - 1)); // more than there is
    assert_ptr_equal(numbers.at, at);
    assert_int_equal(numbers.capacity, capacity);
    assert_int_equal(numbers.size, 1);
    assert_int_equal(numbers.at[0], 5);
    free(numbers.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_zeroed_memory),
        cmocka_unit_test(gives_aligned_memory),
        cmocka_unit_test(refuses_sizes_that_overflow),
        cmocka_unit_test(copies_text),
        cmocka_unit_test(grows_arrays),
        cmocka_unit_test(reserves_zeroed_room),
        cmocka_unit_test(is_unchanged_when_it_cannot_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
