/* test_graph.c - states, steps and fired features of every kind of graph, against their
 * definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "graph/graph.h"
#include "support/patience.h"

#include <string.h>

#define GRAM(...)                                                                                  \
    {                                                                                              \
        .length = sizeof((uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t), .label = { __VA_ARGS__ }   \
    }

static struct tr_graph *make(const struct tr_graph_plan *plan)
{
    struct tr_graph *graph;
    trellis_error error;
    if (tr_graph_create(plan, &graph, &error) != TRELLIS_OK) {
        print_error("%s\n", error.message);
        fail();
    }
    return graph;
}

static bool lists(const uint32_t *features, uint32_t begin, uint32_t end, uint32_t wanted)
{
    for (uint32_t i = begin; i < end; i++) {
        if (features[i] == wanted) {
            return true;
        }
    }
    return false;
}

/* Whether a gram is a suffix of the labels read. */
static bool is_suffix(const struct tr_gram *gram, const uint16_t *read, size_t length)
{
    return gram->length <= length &&
           memcmp(read + length - gram->length, gram->label, gram->length * sizeof *read) == 0;
}

/* Walks random label sequences and compares the features fired with the definition: at each step
 * exactly the grams that are suffixes of the labels read, with the start before and the end after
 * them. */
static void check_walks(const struct tr_graph_plan *plan, const struct tr_graph *graph)
{
    struct tr_random random;
    tr_random_seed(&random, 7);
    for (int walk = 0; walk < 200; walk++) {
        uint16_t read[12] = {(uint16_t)plan->labels};
        uint32_t state = TR_NO_STATE;
        size_t n = 1 + tr_random_below(&random, 10);
        for (size_t i = 1; i <= n; i++) {
            read[i] = (uint16_t)tr_random_below(&random, plan->labels);
            uint32_t next = tr_graph_next(graph, state, read[i]);
            assert_true(next < graph->states);
            assert_int_equal(graph->label[next], read[i]);
            uint32_t step = tr_graph_step(graph, state, next);
            for (uint32_t g = 0; g < plan->gram_count; g++) {
                bool fired = step == TR_NO_STEP
                                 ? lists(graph->free_feature, graph->free_begin[next],
                                         graph->free_begin[next + 1], g)
                                 : lists(graph->feature, graph->feature_begin[step],
                                         graph->feature_begin[step + 1], g);
                assert_int_equal(fired, is_suffix(&plan->grams[g], read, i + 1));
            }
            if (step != TR_NO_STEP) {
                assert_int_equal(graph->from[step], state);
                assert_int_equal(graph->to[step], next);
            }
            state = next;
        }
        read[n + 1] = (uint16_t)(plan->labels + 1);
        for (uint32_t g = 0; g < plan->gram_count; g++) {
            assert_int_equal(
                lists(graph->end_feature, graph->end_begin[state], graph->end_begin[state + 1], g),
                is_suffix(&plan->grams[g], read, n + 2));
        }
    }
}

/* The steps into a state in the order of the states that they come from, the start last; every step
 * listed once; of the grams fired the longest first; states with one label from which the same
 * steps lead, next to each other. */
static void check_order(const struct tr_graph_plan *plan, const struct tr_graph *graph)
{
    size_t found = 0;
    assert_int_equal(graph->in_begin[graph->states], graph->step_count);
    for (uint32_t a = 0; a < graph->step_count; a++) {
        uint32_t to = graph->to[a];
        assert_in_range(a, graph->in_begin[to], graph->in_begin[to + 1] - 1);
        assert_true(a == graph->in_begin[to] || graph->from[a - 1] < graph->from[a]);
        for (uint32_t i = graph->feature_begin[a] + 1; i < graph->feature_begin[a + 1]; i++) {
            assert_true(plan->grams[graph->feature[i - 1]].length >
                        plan->grams[graph->feature[i]].length);
        }
    }
    for (uint32_t row = 0; row <= graph->states; row++) {
        for (uint32_t c = 0; c < graph->labels; c++) {
            uint32_t a = graph->step_at[(size_t)row * graph->labels + c];
            if (a != TR_NO_STEP) {
                assert_int_equal(graph->from[a], row == graph->states ? TR_NO_STATE : row);
                assert_int_equal(graph->label[graph->to[a]], c);
                found++;
            }
        }
    }
    assert_int_equal(found, graph->step_count);
    assert_int_equal(graph->fan_begin[0], 0);
    assert_int_equal(graph->fan_begin[graph->fan_count], graph->states);
    for (uint32_t f = 0; f < graph->fan_count; f++) {
        uint32_t first = graph->fan_begin[f];
        assert_true(first < graph->fan_begin[f + 1]);
        for (uint32_t z = first; z < graph->fan_begin[f + 1]; z++) {
            assert_int_equal(graph->label[z], graph->label[first]);
            for (uint16_t c = 0; c < graph->labels; c++) {
                assert_int_equal(tr_graph_next(graph, z, c), tr_graph_next(graph, first, c));
            }
        }
    }
}

/* ---- first order ----------------------------------------------------------------------------- */

static const struct tr_gram some_pairs[] = {GRAM(0, 1), GRAM(1, 0), GRAM(2, 2), GRAM(3, 0),
                                            GRAM(1),    GRAM(1, 4), GRAM(2, 4), GRAM(4)};

static void first_order(void **state)
{
    (void)state;
    const uint16_t forbidden[][2] = {{0, 2}, {3, 1}, {1, 4}, {0, 1}};
    struct tr_graph_plan plan = {.labels = 3, .order = 1, .grams = some_pairs, .gram_count = 8};
    for (int listing = TR_LIST_FREE; listing <= TR_LIST_ALL; listing++) {
        struct tr_graph *graph;
        plan.forbidden_count = 0;
        assert_int_equal(tr_graph_create_listing(&plan, listing, &graph, NULL), TRELLIS_OK);
        assert_true(graph->first_order);
        assert_int_equal(graph->free_steps, listing == TR_LIST_FREE);
        assert_int_equal(graph->states, 3);
        assert_int_equal(graph->width, 8);
        assert_int_equal(graph->step_count, listing == TR_LIST_FREE ? 4 : 12);
        check_walks(&plan, graph);
        tr_graph_destroy(graph);

        plan.forbidden = forbidden;
        plan.forbidden_count = 4;
        assert_int_equal(tr_graph_create_listing(&plan, listing, &graph, NULL), TRELLIS_OK);
        assert_int_equal(tr_graph_next(graph, 0, 2), TR_NO_STATE);
        assert_int_equal(tr_graph_next(graph, 0, 1), TR_NO_STATE);
        assert_int_equal(tr_graph_next(graph, TR_NO_STATE, 1), TR_NO_STATE);
        assert_int_equal(tr_graph_next(graph, 1, 2), 2);
        assert_true(graph->end_forbidden[1] && !graph->end_forbidden[0]);
        uint32_t step = tr_graph_step(graph, 0, 1); // a forbidden step fires nothing
        assert_int_equal(graph->feature_begin[step], graph->feature_begin[step + 1]);
        tr_graph_destroy(graph);
    }
}

static void order_0(void **state)
{
    (void)state;
    static const struct tr_gram priors[] = {GRAM(0), GRAM(2)};
    struct tr_graph_plan plan = {.labels = 40000, .order = 0, .grams = priors, .gram_count = 2};
    struct tr_graph *graph = make(&plan);
    assert_true(graph->first_order && graph->free_steps);
    assert_int_equal(graph->step_count, 0);
    check_walks(&plan, graph);
    tr_graph_destroy(graph);
}

/* 472 labels and 7,763 pairs leave the other steps free; many pairs or few labels do not. */
static void which_steps_are_listed(void **state)
{
    (void)state;
    static struct tr_gram grams[90000];
    size_t count = 0;
    for (uint16_t a = 0; a < 300; a++) {
        for (uint16_t b = 0; b < 300; b++) {
            grams[count++] = (struct tr_gram){2, {a, b}};
        }
    }
    struct tr_graph_plan plan = {.labels = 472, .order = 1, .grams = grams, .gram_count = 7763};
    struct tr_graph *graph = make(&plan);
    assert_true(graph->free_steps);
    assert_int_equal(graph->step_count, 7763);
    tr_graph_destroy(graph);

    plan.gram_count = count;
    graph = make(&plan);
    assert_false(graph->free_steps);
    assert_int_equal(graph->step_count, 472 * 473);
    tr_graph_destroy(graph);

    plan.labels = 32;
    plan.gram_count = 5;
    graph = make(&plan);
    assert_false(graph->free_steps);
    tr_graph_destroy(graph);
}

/* ---- higher orders --------------------------------------------------------------------------- */

static const struct tr_gram some_grams[] = {
    GRAM(0, 1, 2), GRAM(3, 1, 0), GRAM(2), GRAM(1, 1),    GRAM(3, 0, 0, 1), GRAM(2, 1, 0, 2),
    GRAM(3, 2),    GRAM(2, 1, 4), GRAM(4), GRAM(3, 0, 4), GRAM(0, 4),       GRAM(1, 0, 2, 4)};

static void order_k(void **state)
{
    (void)state;
    struct tr_graph_plan plan = {.labels = 3, .order = 3, .grams = some_grams, .gram_count = 12};
    struct tr_graph *graph = make(&plan);
    assert_false(graph->first_order);
    assert_int_equal(graph->states, 27 + 3 + 9); // three labels, and one or two after the start
    assert_int_equal(graph->step_count, 40 * 3);
    check_walks(&plan, graph);
    check_order(&plan, graph);
    tr_graph_destroy(graph);

    plan = (struct tr_graph_plan){.labels = 1, .order = 8};
    graph = make(&plan);
    assert_int_equal(graph->states, 8);
    check_walks(&plan, graph);
    tr_graph_destroy(graph);
}

static void observed(void **state)
{
    (void)state;
    struct tr_graph_plan plan = {
        .labels = 3, .order = 3, .observed_states = true, .grams = some_grams, .gram_count = 12};
    struct tr_graph *graph = make(&plan);
    /* 0, 1, 2; 01, 31, 30, 21, 10 and 300, 210, 102 */
    assert_int_equal(graph->states, 3 + 5 + 3);
    assert_int_equal(graph->step_count, 12 * 3);
    check_walks(&plan, graph);
    tr_graph_destroy(graph);

    plan.gram_count = 0;
    graph = make(&plan);
    assert_int_equal(graph->states, 3);
    check_walks(&plan, graph);
    tr_graph_destroy(graph);
}

static void counted(void **state)
{
    (void)state;
    static const struct tr_gram grams[] = {GRAM(0, 0, 1), GRAM(0, 0, 0, 0), GRAM(1, 2),
                                           GRAM(3, 2),    GRAM(0, 0, 4),    GRAM(1)};
    struct tr_graph_plan plan = {
        .labels = 3, .order = 1, .count_cap = 3, .grams = grams, .gram_count = 6};
    struct tr_graph *graph = make(&plan);
    assert_int_equal(graph->states, 9);
    check_walks(&plan, graph);
    uint32_t z = TR_NO_STATE, seen[5];
    for (int i = 0; i < 5; i++) {
        seen[i] = z = tr_graph_next(graph, z, 0);
    }
    assert_true(seen[0] != seen[1] && seen[1] != seen[2] && seen[2] == seen[3] &&
                seen[3] == seen[4]);
    assert_int_equal(tr_graph_next(graph, tr_graph_next(graph, z, 1), 0), seen[0]);
    tr_graph_destroy(graph);
}

/* Grams of random labels, no two the same. */
static size_t random_grams(struct tr_random *random, const struct tr_graph_plan *plan,
                           struct tr_gram grams[60])
{
    size_t count = 0;
    uint32_t labels = plan->labels;
    for (int i = 0; i < 60; i++) {
        struct tr_gram gram = {
            .length = (uint8_t)(1 + tr_random_below(random, tr_graph_longest(plan)))};
        uint16_t one = (uint16_t)tr_random_below(random, labels);
        for (int k = 0; k < gram.length; k++) {
            gram.label[k] = plan->count_cap > 1 && k + 1 < gram.length
                                ? one
                                : (uint16_t)tr_random_below(random, labels);
        }
        if (gram.length > 1 && plan->count_cap <= 1 && tr_random_below(random, 5) == 0) {
            gram.label[0] = (uint16_t)labels;
        }
        if (gram.length > 1 && tr_random_below(random, 5) == 0) {
            gram.label[gram.length - 1] = (uint16_t)(labels + 1);
        }
        bool known = false;
        for (size_t j = 0; j < count; j++) {
            known |= memcmp(&grams[j], &gram, sizeof gram) == 0;
        }
        if (!known) {
            grams[count++] = gram;
        }
    }
    return count;
}

static void random_plans(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 23);
    for (int trial = 0; trial < 300; trial++) {
        struct tr_gram grams[60];
        struct tr_graph_plan plan = {.labels = 1 + (uint32_t)tr_random_below(&random, 5),
                                     .order = 2 + (uint32_t)tr_random_below(&random, 3),
                                     .observed_states = trial % 3 == 1,
                                     .grams = grams};
        if (trial % 3 == 2) {
            plan.order = 1;
            plan.count_cap = 2 + (uint32_t)tr_random_below(&random, 4);
        }
        plan.gram_count = random_grams(&random, &plan, grams);
        struct tr_graph *graph = make(&plan);
        check_walks(&plan, graph);
        check_order(&plan, graph);
        tr_graph_destroy(graph);

        uint16_t forbidden[][2] = {
            {(uint16_t)tr_random_below(&random, plan.labels + 1),
             (uint16_t)tr_random_below(&random, plan.labels)},
            {(uint16_t)tr_random_below(&random, plan.labels), (uint16_t)(plan.labels + 1)}};
        plan.forbidden = (const uint16_t(*)[2])forbidden;
        plan.forbidden_count = 2;
        graph = make(&plan);
        check_order(&plan, graph);
        for (uint32_t z = 0; z < graph->states; z++) {
            for (uint16_t c = 0; c < plan.labels; c++) {
                assert_int_equal(tr_graph_next(graph, z, c) == TR_NO_STATE,
                                 graph->label[z] == forbidden[0][0] && c == forbidden[0][1]);
            }
        }
        tr_graph_destroy(graph);
    }
}

static void forbidden_in_higher_orders(void **state)
{
    (void)state;
    const uint16_t forbidden[][2] = {{0, 2}, {3, 1}, {2, 4}};
    struct tr_graph_plan plan = {.labels = 3,
                                 .order = 2,
                                 .grams = some_grams,
                                 .gram_count = 4,
                                 .forbidden = forbidden,
                                 .forbidden_count = 3};
    struct tr_graph *graph = make(&plan);
    assert_int_equal(tr_graph_next(graph, TR_NO_STATE, 1), TR_NO_STATE);
    for (uint32_t z = 0; z < graph->states; z++) {
        assert_int_equal(tr_graph_next(graph, z, 2) == TR_NO_STATE, graph->label[z] == 0);
        assert_int_equal(graph->end_forbidden[z], graph->label[z] == 2);
    }
    for (uint32_t a = 0; a < graph->step_count; a++) {
        assert_false(graph->forbidden[a]);
    }
    tr_graph_destroy(graph);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static trellis_status status_of(const struct tr_graph_plan *plan)
{
    struct tr_graph *graph;
    trellis_error error = {0};
    trellis_status status = tr_graph_create(plan, &graph, &error);
    assert_null(graph);
    assert_int_equal(error.status, status);
    assert_true(error.message[0] != 0);
    return status;
}

static void too_large(void **state)
{
    (void)state;
    assert_int_equal(status_of(&(struct tr_graph_plan){.labels = 60001}), TRELLIS_LIMIT);
    assert_int_equal(status_of(&(struct tr_graph_plan){.labels = 2, .order = 9}), TRELLIS_LIMIT);
    assert_int_equal(status_of(&(struct tr_graph_plan){.labels = 22, .order = 6}), TRELLIS_LIMIT);
    assert_int_equal(status_of(&(struct tr_graph_plan){.labels = 60000, .order = 8}),
                     TRELLIS_LIMIT);
    assert_int_equal(status_of(&(struct tr_graph_plan){.labels = 472, .order = 2}), TRELLIS_LIMIT);
    assert_int_equal(
        status_of(&(struct tr_graph_plan){.labels = 60000, .order = 2, .observed_states = true}),
        TRELLIS_LIMIT);
    assert_int_equal(
        status_of(&(struct tr_graph_plan){.labels = 60000, .order = 1, .count_cap = 8}),
        TRELLIS_LIMIT);
    assert_int_equal(status_of(&(struct tr_graph_plan){.labels = 3, .order = 1, .count_cap = 9}),
                     TRELLIS_LIMIT);
}

/* The limit on steps holds to the step: L of each history of one or two of L labels, with and
 * without the start before them, and of the start. */
static void limits_to_the_step(void **state)
{
    (void)state;
    for (size_t labels = 4; labels <= 8; labels++) {
        size_t steps = labels * (labels * labels + labels + 1);
        struct tr_graph_plan plan = {.labels = (uint32_t)labels, .order = 2, .max_steps = steps};
        struct tr_graph *graph = make(&plan);
        assert_int_equal(graph->step_count, steps);
        tr_graph_destroy(graph);
        plan.max_steps--;
        assert_int_equal(status_of(&plan), TRELLIS_LIMIT);
    }
}

static void contradictory_plans(void **state)
{
    (void)state;
    assert_int_equal(status_of(&(struct tr_graph_plan){.labels = 0}), TRELLIS_DATA);
    assert_int_equal(status_of(&(struct tr_graph_plan){.labels = 3, .order = 2, .count_cap = 2}),
                     TRELLIS_OPTION);
    static const struct tr_gram bad[] = {{0, {0}},   GRAM(0, 1, 2), GRAM(3),    GRAM(0, 3),
                                         GRAM(5, 0), GRAM(4, 0),    GRAM(0, 5), {200, {0}}};
    for (size_t i = 0; i < TR_COUNT(bad); i++) {
        struct tr_graph_plan plan = {.labels = 3, .order = 1, .grams = &bad[i], .gram_count = 1};
        assert_int_equal(status_of(&plan), TRELLIS_MODEL);
    }
    static const struct tr_gram mixed[] = {GRAM(0, 1, 2)};
    assert_int_equal(status_of(&(struct tr_graph_plan){
                         .labels = 3, .order = 1, .count_cap = 2, .grams = mixed, .gram_count = 1}),
                     TRELLIS_MODEL);
    static const uint16_t wrong[][2] = {{4, 0}, {0, 3}, {0, 5}};
    for (size_t i = 0; i < TR_COUNT(wrong); i++) {
        struct tr_graph_plan plan = {
            .labels = 3, .order = 1, .forbidden = &wrong[i], .forbidden_count = 1};
        assert_int_equal(status_of(&plan), TRELLIS_MODEL);
    }
    tr_graph_destroy(NULL);
}

/* Wherever the building is interrupted there is no graph; afterwards it is the same as ever. */
static void building_can_be_interrupted(void **state)
{
    (void)state;
    static const struct tr_gram grams[] = {GRAM(0), GRAM(1, 2), GRAM(0, 1, 2), GRAM(3, 0),
                                           GRAM(2, 4)};
    struct tr_graph_plan plan = {
        .labels = 3, .order = 3, .grams = grams, .gram_count = TR_COUNT(grams)};
    struct tr_graph *whole = make(&plan), *graph = NULL;
    struct patience patience = {0};
    trellis_status status = TRELLIS_INTERRUPTED;
    for (; status; patience = (struct patience){.most = patience.most + 1}) {
        trellis_error error = {0};
        plan.interruption = &(struct tr_interruption){is_over, &patience};
        status = tr_graph_create(&plan, &graph, &error);
        assert_int_equal(status, graph ? TRELLIS_OK : TRELLIS_INTERRUPTED);
        assert_string_equal(error.message, graph ? "" : "interrupted");
    }
    assert_true(patience.most > 3 * 9); // once for each state in each of three loops, at least
    assert_int_equal(graph->step_count, whole->step_count);
    assert_memory_equal(graph->feature_begin, whole->feature_begin,
                        (whole->step_count + 1) * sizeof *whole->feature_begin);
    check_walks(&plan, graph);
    tr_graph_destroy(graph);
    tr_graph_destroy(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_order),
        cmocka_unit_test(order_0),
        cmocka_unit_test(which_steps_are_listed),
        cmocka_unit_test(order_k),
        cmocka_unit_test(observed),
        cmocka_unit_test(counted),
        cmocka_unit_test(random_plans),
        cmocka_unit_test(forbidden_in_higher_orders),
        cmocka_unit_test(too_large),
        cmocka_unit_test(limits_to_the_step),
        cmocka_unit_test(contradictory_plans),
        cmocka_unit_test(building_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
