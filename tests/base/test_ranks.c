/* test_ranks.c - sums, gathers and agreements of ranks, which are threads here. */
#include "support/rank_threads.h"

#include <stdlib.h>

#include "base/memory.h"

/* A number that differs with the rank, with a fraction. */
static double number(unsigned rank, size_t j)
{
    return (double)((j * 2654435761u + rank * 40503u) % 100003) / 7 - 5000;
}

static void sum_and_compare(struct tr_ranks *ranks, size_t size, double grid)
{
    double *numbers = tr_alloc(size, sizeof *numbers);
    size_t wrong = 0;
    for (size_t j = 0; j < size; j++) {
        numbers[j] = tr_on_grid(number(ranks->rank, j), grid);
    }
    expect(tr_ranks_sum(ranks, numbers, size, NULL) == TRELLIS_OK);
    for (size_t j = 0; j < size; j++) {
        double sum = 0;
        for (unsigned r = ranks->count; r-- > 0;) { // in another order
            sum += tr_on_grid(number(r, j), grid);
        }
        wrong += numbers[j] != sum;
    }
    expect(wrong == 0);
    free(numbers);
}

static void sums(struct tr_ranks *ranks)
{
    const double grid = 1.5 * 1048576;
    sum_and_compare(ranks, 0, grid);
    sum_and_compare(ranks, 1, grid);
    sum_and_compare(ranks, 7, grid);
    sum_and_compare(ranks, 2500000, grid); // more than travels at once
}

static void test_sums_are_exact_in_any_order(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= MOST; count += 2) {
        on_ranks(count, sums);
    }
}

/* A few numbers, which need no grid: all ranks add them in the same order. */
static void few(struct tr_ranks *ranks)
{
    for (size_t size = 0; size <= TR_FEW; size++) {
        double numbers[TR_FEW] = {0};
        for (size_t j = 0; j < size; j++) {
            numbers[j] = number(ranks->rank, j) / 3;
        }
        expect(tr_ranks_sum_few(ranks, numbers, size, NULL) == TRELLIS_OK);
        for (size_t j = 0; j < TR_FEW; j++) {
            double sum = 0;
            for (unsigned r = 0; r < ranks->count; r++) {
                sum += j < size ? number(r, j) / 3 : 0;
            }
            expect(numbers[j] == sum);
        }
    }
}

static void test_sums_of_a_few_are_the_same_on_all(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= MOST; count++) {
        on_ranks(count, few);
    }
}

/* With carries from the lower half into the upper one, and out of that. */
static uint64_t integer(unsigned rank, size_t j)
{
    return UINT64_MAX / 3 * (rank + 1) + j * 0xFFFFFFFFu;
}

static void integers(struct tr_ranks *ranks)
{
    enum { SIZE = (1 << 21) + 3 }; // more than travels at once
    uint64_t *numbers = tr_alloc(SIZE, sizeof *numbers);
    size_t wrong = 0;
    for (size_t j = 0; j < SIZE; j++) {
        numbers[j] = integer(ranks->rank, j);
    }
    expect(tr_ranks_sum_integers(ranks, numbers, SIZE, NULL) == TRELLIS_OK);
    for (size_t j = 0; j < SIZE; j++) {
        uint64_t sum = 0;
        for (unsigned r = 0; r < ranks->count; r++) {
            sum += integer(r, j);
        }
        wrong += numbers[j] != sum;
    }
    expect(wrong == 0);
    free(numbers);
}

/* Every rank in turn gives an array, of another size than those of the others. */
static void gives(struct tr_ranks *ranks)
{
    for (unsigned from = 0; from < ranks->count; from++) {
        size_t size = ranks->rank * 3; // the first has none
        uint32_t *numbers = tr_alloc(size, sizeof *numbers);
        for (size_t i = 0; i < size; i++) {
            numbers[i] = 100 * ranks->rank + (uint32_t)i;
        }
        expect(tr_ranks_give(ranks, from, &numbers, &size, NULL) == TRELLIS_OK);
        expect(size == (size_t)from * 3);
        for (size_t i = 0; i < size; i++) {
            expect(numbers[i] == 100 * from + i);
        }
        free(numbers);
    }
}

static void test_sums_of_integers_and_arrays_of_one(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= MOST; count++) {
        on_ranks(count, gives);
    }
    on_ranks(1, integers);
    on_ranks(3, integers);
}

static void gathers(struct tr_ranks *ranks)
{
    size_t begin[MOST + 1] = {0};
    char bytes[64] = {0};
    for (unsigned r = 0; r < ranks->count; r++) {
        begin[r + 1] = begin[r] + 3 * r; // the first has none
    }
    memset(bytes + begin[ranks->rank], 'a' + (int)ranks->rank,
           begin[ranks->rank + 1] - begin[ranks->rank]);
    expect(tr_ranks_gather(ranks, bytes, begin, NULL) == TRELLIS_OK);
    for (unsigned r = 0; r < ranks->count; r++) {
        for (size_t i = begin[r]; i < begin[r + 1]; i++) {
            expect(bytes[i] == ('a' + (int)r));
        }
    }
    unsigned last = ranks->count - 1, other;
    uint64_t word = ranks->rank == last ? 77 : 0;
    expect(tr_ranks_broadcast(ranks, last, &word, sizeof word, NULL) == TRELLIS_OK);
    expect(word == 77);
    expect(tr_ranks_compare(ranks, 5, &other, NULL) == TRELLIS_OK);
    expect(other == ranks->count);
    expect(tr_ranks_compare(ranks, ranks->rank >= 2, &other, NULL) == TRELLIS_OK);
    expect(other == (ranks->count > 2 ? 2 : ranks->count));
}

static void test_gather_broadcast_compare(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= MOST; count++) {
        on_ranks(count, gathers);
    }
}

/* Ranks 1 and 2 fail; all learn what happened to rank 1, and stay failed. */
static void fails(struct tr_ranks *ranks)
{
    trellis_error error = {0};
    double one = 1;
    trellis_status status = TRELLIS_OK;
    if (ranks->rank == 1 || ranks->rank == 2) {
        status = tr_fail(&error, TRELLIS_DATA, "rank %u is ill", ranks->rank);
        status = tr_ranks_agree(ranks, status, &error);
    } else {
        status = tr_ranks_sum(ranks, &one, 1, &error);
    }
    expect(status == TRELLIS_DATA);
    expect(strcmp(error.message, "rank 1 is ill") == 0);
    error = (trellis_error){0};
    expect(tr_ranks_sum(ranks, &one, 1, &error) == TRELLIS_DATA);
    expect(strcmp(error.message, "rank 1 is ill") == 0);
}

static void test_all_fail_with_the_first(void **state)
{
    (void)state;
    on_ranks(4, fails);
}

static void test_misuse_is_an_error(void **state)
{
    (void)state;
    struct tr_ranks ranks;
    trellis_ranks given = {
        .rank = 0, .count = 2, .agree = agree_with_threads, .exchange = exchange_with_threads};
    assert_int_equal(tr_ranks_open(&ranks, NULL, NULL), TRELLIS_OK);
    assert_true(tr_ranks_alone(&ranks));
    assert_int_equal(tr_ranks_open(&ranks, &given, NULL), TRELLIS_OPTION); // no struct_size
    given.struct_size = sizeof given;
    assert_int_equal(tr_ranks_open(&ranks, &given, NULL), TRELLIS_OK);
    tr_ranks_close(&ranks);
    given.rank = 2;
    assert_int_equal(tr_ranks_open(&ranks, &given, NULL), TRELLIS_OPTION);
    given.rank = 1;
    given.exchange = NULL;
    assert_int_equal(tr_ranks_open(&ranks, &given, NULL), TRELLIS_OPTION);
}

static void fail_without_a_message(struct tr_ranks *ranks)
{
    trellis_error error = {0};
    bool fails = ranks->rank == 1;
    trellis_status status = tr_ranks_agree(ranks, fails ? TRELLIS_MEMORY : TRELLIS_OK,
                                           fails ? NULL : &error);
    expect(status == TRELLIS_MEMORY);
    expect(fails || (error.status == TRELLIS_MEMORY && *error.message));
}

static void test_a_failure_always_has_a_message(void **state)
{
    (void)state;
    on_ranks(3, fail_without_a_message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_exact_in_any_order),
        cmocka_unit_test(test_sums_of_a_few_are_the_same_on_all),
        cmocka_unit_test(test_gather_broadcast_compare),
        cmocka_unit_test(test_sums_of_integers_and_arrays_of_one),
        cmocka_unit_test(test_all_fail_with_the_first),
        cmocka_unit_test(test_a_failure_always_has_a_message),
        cmocka_unit_test(test_misuse_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
