/* test_path.c - walks along labelled paths, against the definition of fired features. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "graph/path.h"

#include <string.h>

#define GRAM(...)                                                                                  \
    {                                                                                              \
        .length = sizeof((uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t), .label = { __VA_ARGS__ }   \
    }

enum { LABELS = 3, START = LABELS, END = LABELS + 1, MAX_LENGTH = 9 };

static const struct tr_gram grams[] = {
    GRAM(0),      GRAM(2),      GRAM(0, 1),    GRAM(2, 2),        GRAM(START, 0),
    GRAM(1, END), GRAM(0, END), GRAM(0, 1, 2), GRAM(START, 1, 1), GRAM(1, 2, END)};
enum { PAIRS = 7 }; // of those, the first have at most two labels

static struct tr_graph *make(const struct tr_graph_plan *plan, enum tr_listing listing)
{
    struct tr_graph *graph;
    assert_int_equal(tr_graph_create_listing(plan, listing, &graph, NULL), TRELLIS_OK);
    return graph;
}

/* A gram is fired where it is a suffix of the labels read so far. */
static size_t expected_features(const struct tr_graph_plan *plan, const uint16_t *read,
                                size_t length, bool *fired)
{
    size_t count = 0;
    for (size_t g = 0; g < plan->gram_count; g++) {
        const struct tr_gram *gram = &plan->grams[g];
        fired[g] = gram->length <= length && memcmp(read + length - gram->length, gram->label,
                                                    gram->length * sizeof *read) == 0;
        count += fired[g];
    }
    return count;
}

static void check_path(const struct tr_graph_plan *plan, const struct tr_graph *graph,
                       const uint16_t *labels, size_t n)
{
    uint16_t read[MAX_LENGTH + 2] = {START};
    bool fired[TR_COUNT(grams)];
    uint32_t before = TR_NO_STATE;
    size_t taken = 0;
    struct tr_path_walk walk = tr_path_walk(graph, labels, n);
    for (; tr_path_next(&walk); taken++) {
        assert_int_equal(walk.position, taken);
        assert_int_equal(walk.from, before);
        assert_false(walk.forbidden);
        read[taken + 1] = taken < n ? labels[taken] : (uint16_t)END;
        assert_int_equal(walk.to == TR_NO_STATE, taken == n);
        assert_true(taken == n || graph->label[walk.to] == labels[taken]);
        assert_int_equal(walk.count, expected_features(plan, read, taken + 2, fired));
        for (size_t k = 0; k < walk.count; k++) {
            assert_true(fired[walk.feature[k]]);
        }
        before = walk.to;
    }
    assert_int_equal(taken, n ? n + 1 : 0);
}

static void fires_suffixes_of_the_labels_read(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 11);
    for (int kind = 0; kind < 5; kind++) { // dense, unlisted free, order 2, observed, pruned
        struct tr_graph_plan plan = {.labels = LABELS,
                                     .order = kind < 2 ? 1 : 2,
                                     .observed_states = kind == 3,
                                     .pruned = kind == 4,
                                     .grams = grams,
                                     .gram_count = kind < 2 ? PAIRS : TR_COUNT(grams)};
        struct tr_graph *graph = make(&plan, kind == 1 ? TR_LIST_FREE : TR_LIST_ALL);
        for (int trial = 0; trial < 300; trial++) {
            uint16_t labels[MAX_LENGTH];
            size_t n = tr_random_below(&random, MAX_LENGTH + 1);
            for (size_t i = 0; i < n; i++) {
                labels[i] = (uint16_t)tr_random_below(&random, LABELS);
            }
            check_path(&plan, graph, labels, n);
        }
        tr_graph_destroy(graph);
    }
}

/* The forbidden transition is the last, and fires nothing. */
static void ends_at_a_forbidden_transition(void **state)
{
    (void)state;
    static const uint16_t forbidden[][2] = {{0, 1}, {2, END}};
    for (int kind = 0; kind < 4; kind++) {
        struct tr_graph_plan plan = {.labels = LABELS,
                                     .order = kind < 2 ? 1 : 2,
                                     .pruned = kind == 3,
                                     .grams = grams,
                                     .gram_count = kind < 2 ? PAIRS : TR_COUNT(grams),
                                     .forbidden = forbidden,
                                     .forbidden_count = TR_COUNT(forbidden)};
        struct tr_graph *graph = make(&plan, kind == 1 ? TR_LIST_FREE : TR_LIST_ALL);
        static const uint16_t inside[] = {2, 0, 1, 0}, at_end[] = {0, 2};
        struct tr_path_walk walk = tr_path_walk(graph, inside, 4);
        for (int taken = 0; taken < 3; taken++) {
            assert_true(tr_path_next(&walk));
            assert_int_equal(walk.forbidden, taken == 2);
        }
        assert_int_equal(walk.count, 0);
        assert_int_equal(walk.to, TR_NO_STATE);
        assert_false(tr_path_next(&walk));
        walk = tr_path_walk(graph, at_end, 2);
        for (int taken = 0; taken < 3; taken++) {
            assert_true(tr_path_next(&walk));
            assert_int_equal(walk.forbidden, taken == 2);
        }
        assert_int_equal(walk.position, 2);
        assert_false(tr_path_next(&walk));
        tr_graph_destroy(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fires_suffixes_of_the_labels_read),
        cmocka_unit_test(ends_at_a_forbidden_transition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
