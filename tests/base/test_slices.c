/* test_slices.c - vectors that ranks share: sums to the bit, and sums and weights of what is touched. */
#include "support/rank_threads.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/slices.h"

/* A number that differs with the rank, on a grid, so that sums are exact. */
static double number(unsigned rank, size_t j)
{
    return (double)((j * 2654435761u + rank * 40503u) % 100003) / 16 - 3000;
}

/* Whether a rank touches a number: rarely, always, never or all but a few, by where it stands. */
static bool touches(unsigned rank, size_t j)
{
    switch (j / 200 % 4) {
    case 0:
        return (j * 7 + rank) % 5 == 0;
    case 1:
        return true;
    case 2:
        return false;
    default:
        return (j + rank) % 64 != 63;
    }
}

/* ---- sums over slices ------------------------------------------------------------------------ */

enum { LONG = 5 * TR_SLICE_BLOCK + 1234 };

/* A sum whose terms must be added in their order to come to the same bits. */
static double add_up(void *user, size_t begin, size_t end)
{
    const double *numbers = user;
    double sum = 0;
    for (size_t j = begin; j < end; j++) {
        sum += numbers[j] / 3;
    }
    return sum;
}

static double no_sum(void *user, size_t begin, size_t end)
{
    (void)user;
    return begin <= end ? 0 : 1;
}

static double sum_alone(size_t size)
{
    struct tr_slices slices;
    double *numbers = tr_alloc(size, sizeof *numbers), sum = 0;
    for (size_t j = 0; j < size; j++) {
        numbers[j] = number(0, j);
    }
    expect(tr_slices_create(&slices, NULL, size, NULL) == TRELLIS_OK);
    expect(slices.first == 0 && slices.held == size);
    expect(tr_slices_sum(&slices, NULL, add_up, numbers, &sum, NULL) == TRELLIS_OK);
    tr_slices_free(&slices);
    free(numbers);
    return sum;
}

static void sum_slices(struct tr_ranks *ranks, size_t size)
{
    struct tr_slices slices;
    double *numbers = tr_alloc(size, sizeof *numbers), sum = 0;
    expect(tr_slices_create(&slices, ranks, size, NULL) == TRELLIS_OK);
    expect(tr_slices_begin(&slices, 0) == 0 && tr_slices_begin(&slices, ranks->count) == size);
    for (size_t j = 0; j < slices.held; j++) {
        numbers[slices.first + j] = number(0, slices.first + j);
    }
    expect(tr_slices_sum(&slices, NULL, add_up, numbers + slices.first, &sum, NULL) == TRELLIS_OK);
    expect(sum == sum_alone(size));
    expect(tr_slices_gather(&slices, numbers, sizeof *numbers, NULL) == TRELLIS_OK);
    size_t wrong = 0;
    for (size_t j = 0; j < size; j++) {
        wrong += numbers[j] != number(0, j);
    }
    expect(wrong == 0);
    tr_slices_free(&slices);
    free(numbers);
}

/* One block costs as much as all others: nothing is lost, and no slice is more than twice the mean,
 * but for the blocks at its ends. */
static void balanced(struct tr_ranks *ranks)
{
    enum { BLOCKS = 64 };
    struct tr_slices slices;
    uint64_t cost[BLOCKS] = {0};
    double numbers[1] = {0}, sum = 1;
    expect(tr_slices_create(&slices, ranks, BLOCKS * TR_SLICE_BLOCK - 5, NULL) == TRELLIS_OK);
    tr_slices_balance(&slices, cost);
    expect(slices.share >= BLOCKS / ranks->count);
    for (size_t b = 0; b < BLOCKS; b++) {
        cost[b] = b == 0 ? BLOCKS - 1 : 1;
    }
    tr_slices_balance(&slices, cost);
    expect(tr_slices_begin(&slices, 0) == 0 &&
           tr_slices_begin(&slices, ranks->count) == slices.size);
    for (unsigned r = 0; r < ranks->count; r++) {
        size_t held = tr_slices_begin(&slices, r + 1) - tr_slices_begin(&slices, r);
        expect(held >= TR_SLICE_BLOCK);
        expect(held <= (2 * BLOCKS / ranks->count + 2) * TR_SLICE_BLOCK);
    }
    expect(ranks->count == 1 || tr_slices_begin(&slices, 1) <
                                    slices.size / ranks->count); // the dear one is in the first
    expect(tr_slices_sum(&slices, NULL, no_sum, numbers, &sum, NULL) == TRELLIS_OK && sum == 0);
    tr_slices_free(&slices);
}

static void slices_of_all_sizes(struct tr_ranks *ranks)
{
    balanced(ranks);
    sum_slices(ranks, 0);
    sum_slices(ranks, 1);
    sum_slices(ranks, TR_SLICE_BLOCK);
    sum_slices(ranks, LONG);
}

static void test_sums_over_slices_are_the_same_to_the_bit(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= MOST; count++) {
        on_ranks(count, slices_of_all_sizes);
    }
}

/* ---- what is touched ------------------------------------------------------------------------- */

static void sum_and_pull(struct tr_ranks *ranks, const size_t *begin)
{
    size_t size = begin[ranks->count], wrong = 0;
    uint64_t *marks = tr_alloc(size / 64 + 1, sizeof *marks);
    double *numbers = tr_alloc(size, sizeof *numbers);
    float *pulled = tr_alloc(size, sizeof *pulled);
    for (size_t j = 0; j < size; j++) {
        bool mine = touches(ranks->rank, j);
        marks[j / 64] |= (uint64_t)mine << (j % 64);
        numbers[j] = mine ? number(ranks->rank, j) : 0;
    }
    size_t first = begin[ranks->rank], end = begin[ranks->rank + 1];
    struct tr_touched touched;
    expect(tr_touched_create(&touched, ranks, begin, marks, NULL) == TRELLIS_OK);
    expect(tr_touched_sum(&touched, numbers, NULL) == TRELLIS_OK);
    for (size_t j = first; j < end; j++) {
        double sum = 0;
        for (unsigned r = 0; r < ranks->count; r++) {
            sum += touches(r, j) ? number(r, j) : 0;
        }
        wrong += numbers[j] != sum;
        pulled[j] = (float)sum;
    }
    expect(tr_touched_pull(&touched, pulled, NULL) == TRELLIS_OK);
    for (size_t j = 0; j < size; j++) {
        double sum = 0;
        for (unsigned r = 0; r < ranks->count; r++) {
            sum += touches(r, j) ? number(r, j) : 0;
        }
        bool known = touches(ranks->rank, j) || (j >= first && j < end);
        wrong += pulled[j] != (known ? (float)sum : 0);
    }
    expect(wrong == 0);
    tr_touched_free(&touched);
    free(marks);
    free(numbers);
    free(pulled);
}

/* Parts that are empty, or do not begin at a word of bits. */
static void uneven_parts(struct tr_ranks *ranks)
{
    size_t begin[MOST + 1] = {0};
    sum_and_pull(ranks, begin);
    for (unsigned r = 0; r < ranks->count; r++) {
        begin[r + 1] = begin[r] + (r == 1 ? 0 : 777 * (r + 1) + r);
    }
    sum_and_pull(ranks, begin);
}

/* More than travels at once. */
static void long_parts(struct tr_ranks *ranks)
{
    size_t begin[MOST + 1] = {0};
    for (unsigned r = 0; r < ranks->count; r++) {
        begin[r + 1] = begin[r] + 800000 + 13 * r;
    }
    sum_and_pull(ranks, begin);
}

static void test_what_is_touched_is_summed_and_pulled(void **state)
{
    (void)state;
    for (unsigned count = 2; count <= MOST; count++) {
        on_ranks(count, uneven_parts);
    }
    on_ranks(3, long_parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_over_slices_are_the_same_to_the_bit),
        cmocka_unit_test(test_what_is_touched_is_summed_and_pulled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
