/* test_segment_parts.c - attributes of segments by their starts and ends against the plain lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "dataset/segment_parts.h"

enum { KINDS = 40, ROOM = 64 };

static int ascending(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void add_list(struct tr_occurrences *o, uint32_t *attribute, size_t count)
{
    qsort(attribute, count, sizeof *attribute, ascending);
    for (size_t k = 0; k < count; k++) {
        assert_true(tr_push(&o->attribute, attribute[k]));
    }
    assert_true(tr_push(&o->begin, (uint32_t)o->attribute.size));
}

/* Segments have what their first and last tokens give to all of them, their length, and some that
 * only they have; now and then an attribute twice. A token gives 100 + kind, 200 + kind. */
static void draw_segments(struct tr_random *random, struct tr_dataset *d, size_t begin, size_t end)
{
    uint32_t start[ROOM], last[ROOM], list[ROOM];
    for (size_t t = begin; t < end; t++) {
        start[t - begin] = 100 + (uint32_t)tr_random_below(random, KINDS);
        last[t - begin] = 200 + (uint32_t)tr_random_below(random, KINDS);
    }
    for (size_t e = begin; e < end; e++) {
        for (size_t length = 1; length <= d->max_segment; length++) {
            size_t count = 0;
            if (begin + length <= e + 1 && tr_random_below(random, 30)) { // some are left out
                list[count++] = start[e + 1 - length - begin];
                list[count++] = last[e - begin];
                list[count++] = 300 + (uint32_t)length;
                for (uint64_t k = tr_random_below(random, 3); k > 0; k--) {
                    list[count++] = (uint32_t)tr_random_below(random, KINDS);
                }
                if (tr_random_below(random, 4) == 0) {
                    list[count] = list[tr_random_below(random, count)];
                    count++;
                }
            }
            add_list(&d->segment, list, count);
        }
    }
}

static void draw(struct tr_random *random, struct tr_dataset *d, size_t max_segment)
{
    *d = (struct tr_dataset){.max_segment = max_segment};
    assert_true(tr_push(&d->sequence, 0) && tr_push(&d->node.begin, 0) &&
                tr_push(&d->segment.begin, 0));
    for (size_t s = 0; s < 20; s++) {
        size_t n = tr_random_below(random, 15);
        for (size_t t = 0; t < n; t++) {
            uint32_t list[] = {(uint32_t)tr_random_below(random, KINDS), 400};
            add_list(&d->node, list, 1 + t % 2);
        }
        draw_segments(random, d, d->tokens, d->tokens + n);
        d->tokens += n;
        d->sequences++;
        assert_true(tr_push(&d->sequence, (uint32_t)d->tokens));
    }
}

static void count(int *counts, const struct tr_occurrences *o, size_t token, int by)
{
    for (uint32_t k = o->begin.at[token]; k < o->begin.at[token + 1]; k++) {
        counts[o->attribute.at[k]] += by;
        assert_true(k == o->begin.at[token] || o->attribute.at[k - 1] <= o->attribute.at[k]);
    }
}

static void check_even(const int *counts)
{
    for (size_t a = 0; a < 512; a++) {
        assert_int_equal(counts[a], 0);
    }
}

/* What the parts of a segment list, together, is what it has. */
static void check_segments(const struct tr_dataset *d, const struct tr_occurrences *parts)
{
    for (size_t s = 0; s < d->sequences; s++) {
        size_t begin = d->sequence.at[s], end = d->sequence.at[s + 1];
        for (size_t e = begin; e < end; e++) {
            int token[512] = {0};
            count(token, &d->node, e, 1);
            count(token, parts, e, -1);
            check_even(token);
            for (size_t length = 1; length <= d->max_segment; length++) {
                int counts[512] = {0};
                count(counts, &d->segment, e * d->max_segment + length - 1, 1);
                count(counts, parts, tr_segment_rest(d, e) + length - 1, -1);
                if (begin + length <= e + 1) {
                    count(counts, parts, tr_segment_starts(d, e + 1 - length), -1);
                    count(counts, parts, tr_segment_ends(d, e), -1);
                }
                check_even(counts);
            }
        }
    }
}

static void parts_add_up(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 3);
    for (size_t i = 0; i < 40; i++) {
        struct tr_dataset d;
        struct tr_occurrences parts;
        draw(&random, &d, 1 + i % 9);
        assert_true(tr_segment_parts(&d, &parts));
        assert_int_equal(parts.begin.size, tr_segment_rest(&d, d.tokens) + 1);
        check_segments(&d, &parts);
        size_t starts = parts.begin.at[tr_segment_ends(&d, 0)] - parts.begin.at[d.tokens];
        assert_true(starts > 0);
        assert_true(d.max_segment < 3 ||
                    parts.attribute.size < d.node.attribute.size + d.segment.attribute.size);
        free(parts.begin.at);
        free(parts.attribute.at);
        tr_dataset_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
