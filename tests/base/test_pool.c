/* test_pool.c - every block once, turns in order, and sums that do not depend on the threads. */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/pool.h"

static const unsigned thread_counts[] = {1, 2, 3, 8};

static struct tr_pool *make_pool(unsigned threads)
{
    struct tr_pool *pool;
    trellis_error error = {0};
    assert_int_equal(tr_pool_create(threads, &pool, &error), TRELLIS_OK);
    assert_int_equal(tr_pool_threads(pool), threads ? threads : 1);
    return pool;
}

enum { MAX_BLOCKS = 1000, MAX_THREADS = 8 };

struct counts {
    unsigned threads;
    atomic_uint done[MAX_BLOCKS];
    atomic_uint within[MAX_THREADS]; // calls that run at present, by thread number
    atomic_uint errors;              // seen in threads, where assertions must not be made
};

static void count_block(void *user, size_t block, unsigned thread)
{
    struct counts *counts = user;
    if (thread >= counts->threads || block >= MAX_BLOCKS) {
        counts->errors++;
        return;
    }
    if (atomic_fetch_add(&counts->within[thread], 1) != 0) {
        counts->errors++;
    }
    counts->done[block]++;
    if (block % 7 == 0) {
        sched_yield();
    }
    counts->within[thread]--;
}

static void does_each_block_once(void **state)
{
    (void)state;
    static const size_t block_counts[] = {0, 1, 2, 3, 7, 8, 9, 100, MAX_BLOCKS, 0, 5};
    for (size_t t = 0; t < TR_COUNT(thread_counts); t++) {
        struct tr_pool *pool = make_pool(thread_counts[t]);
        for (size_t b = 0; b < TR_COUNT(block_counts); b++) {
            static struct counts counts;
            counts = (struct counts){.threads = thread_counts[t]};
            tr_pool_run(pool, block_counts[b], count_block, &counts);
            assert_int_equal(counts.errors, 0);
            for (size_t i = 0; i < MAX_BLOCKS; i++) {
                assert_int_equal(counts.done[i], i < block_counts[b]);
            }
        }
        tr_pool_destroy(pool);
    }
}

static void does_many_short_runs(void **state)
{
    (void)state;
    for (size_t t = 0; t < TR_COUNT(thread_counts); t++) {
        struct tr_pool *pool = make_pool(thread_counts[t]);
        static struct counts counts;
        counts = (struct counts){.threads = thread_counts[t]};
        size_t expected[5] = {0};
        for (size_t run = 0; run < 3000; run++) {
            tr_pool_run(pool, run % 6, count_block, &counts);
            for (size_t i = 0; i < run % 6; i++) {
                expected[i]++;
                assert_int_equal(counts.done[i], expected[i]); // done when the run returns
            }
        }
        assert_int_equal(counts.errors, 0);
        tr_pool_destroy(pool);
    }
}

struct turns {
    struct tr_pool *pool;
    size_t next;   // guarded by the turns themselves
    size_t errors; // so is this
    double sum;
    double *terms; // [blocks]
};

/* Takes longer for some blocks, so that later ones have to wait. */
static double slow_term(size_t block)
{
    volatile double x = sin((double)block) * exp((double)(block % 40) - 20);
    for (size_t i = 0; i < (block % 5 == 0 ? 20000 : 10); i++) {
        x = x * 1.0000001;
    }
    return x;
}

static void take_turn(void *user, size_t block, unsigned thread)
{
    (void)thread;
    struct turns *turns = user;
    double term = slow_term(block);
    tr_pool_turn(turns->pool, block);
    turns->errors += turns->next != block;
    turns->next = block + 1;
    turns->sum += term;
    turns->terms[block] = term;
    tr_pool_turn_done(turns->pool, block);
}

static void takes_turns_and_sums_in_order(void **state)
{
    (void)state;
    enum { BLOCKS = 200, RUNS = 5 };
    double terms[TR_COUNT(thread_counts)][BLOCKS];
    double first = 0;
    for (size_t t = 0; t < TR_COUNT(thread_counts); t++) {
        struct tr_pool *pool = make_pool(thread_counts[t]);
        for (size_t run = 0; run < RUNS; run++) {
            struct turns turns = {.pool = pool, .terms = terms[t]};
            tr_pool_run_in_turns(pool, BLOCKS, take_turn, &turns);
            assert_int_equal(turns.next, BLOCKS);
            assert_int_equal(turns.errors, 0);
            if (t == 0 && run == 0) {
                first = turns.sum;
            }
            assert_memory_equal(&turns.sum, &first, sizeof first); // to the last bit
        }
        assert_memory_equal(terms[t], terms[0], sizeof terms[0]);
        tr_pool_destroy(pool);
    }
}

/* The sum does depend on the order; otherwise the test above would prove nothing. */
static void the_sum_depends_on_the_order(void **state)
{
    (void)state;
    enum { BLOCKS = 200 };
    double forward = 0, backward = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        forward += slow_term(i);
        backward += slow_term(BLOCKS - 1 - i);
    }
    assert_true(forward != backward);
}

struct pieces {
    atomic_uchar *seen; // [size] how often each place was in a piece
};

static double add_pieces(void *user, size_t begin, size_t end)
{
    struct pieces *pieces = user;
    double sum = 0;
    for (size_t i = begin; i < end; i++) {
        pieces->seen[i]++;
        sum += slow_term(i * 5 + 1);
    }
    return sum;
}

static void sums_pieces_in_order(void **state)
{
    (void)state;
    static atomic_uchar seen[70001];
    const size_t sizes[] = {0, 1, 1000, 16383, 16384, 16385, 20011, 70001};
    for (size_t s = 0; s < TR_COUNT(sizes); s++) {
        struct pieces pieces = {seen};
        double alone = tr_pool_sum(NULL, sizes[s], add_pieces, &pieces);
        for (size_t t = 0; t < TR_COUNT(thread_counts); t++) {
            struct tr_pool *pool = make_pool(thread_counts[t]);
            double sum = tr_pool_sum(pool, sizes[s], add_pieces, &pieces);
            assert_memory_equal(&sum, &alone, sizeof sum);
            tr_pool_destroy(pool);
        }
        for (size_t i = 0; i < TR_COUNT(seen); i++) {
            assert_int_equal(seen[i], i < sizes[s] ? TR_COUNT(thread_counts) + 1 : 0);
            seen[i] = 0;
        }
    }
}

struct meeting {
    atomic_uint arrived;
    unsigned expected;
    bool met;
    atomic_uint strangers; // blocks of a part that another thread took
};

/* Waits, with a limit, until as many blocks run at once as there are threads. */
static void meet(void *user, size_t block, unsigned thread)
{
    struct meeting *meeting = user;
    meeting->arrived++;
    meeting->strangers += block != thread;
    for (size_t i = 0; i < 10000000 && meeting->arrived < meeting->expected; i++) {
        sched_yield();
    }
    if (block == 0) {
        meeting->met = meeting->arrived == meeting->expected;
    }
}

static void all_threads_work_at_once(void **state)
{
    (void)state;
    for (size_t t = 0; t < TR_COUNT(thread_counts); t++) {
        struct tr_pool *pool = make_pool(thread_counts[t]);
        struct meeting meeting = {.expected = thread_counts[t]};
        tr_pool_run(pool, thread_counts[t], meet, &meeting);
        assert_true(meeting.met);
        assert_int_equal(meeting.strangers, 0); // while all wait, nobody helps another
        tr_pool_destroy(pool);
    }
}

static void starts_and_ends(void **state)
{
    (void)state;
    tr_pool_destroy(NULL);
    for (size_t i = 0; i < 200; i++) {
        struct tr_pool *pool = make_pool((unsigned)i % 9); // 0 is taken as 1
        if (i % 2) {
            static struct counts counts;
            counts = (struct counts){.threads = tr_pool_threads(pool)};
            tr_pool_run(pool, 3, count_block, &counts);
            assert_int_equal(counts.done[2], 1);
        }
        tr_pool_destroy(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(does_each_block_once),
        cmocka_unit_test(does_many_short_runs),
        cmocka_unit_test(takes_turns_and_sums_in_order),
        cmocka_unit_test(the_sum_depends_on_the_order),
        cmocka_unit_test(sums_pieces_in_order),
        cmocka_unit_test(all_threads_work_at_once),
        cmocka_unit_test(starts_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
