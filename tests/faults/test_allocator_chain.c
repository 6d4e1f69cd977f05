/* test_allocator_chain.c - a chain over given scores, with a failing allocator. */
#include "faults/allocator.h"

enum { LABELS = 3, LENGTH = 4 };

static trellis_status ask(trellis_chain *chain, struct outcome *outcome)
{
    static float nodes[LENGTH][LABELS] = {{1, 2}, {0, 0, 3}, {1}, {0, 1, 2}};
    static float pairs[LENGTH][LABELS][LABELS] = {{{0}}, {{1, 2, 3}}};
    static const int32_t labels[LENGTH] = {0, -1, 2, 1};
    float node[LENGTH][LABELS], pair[LENGTH][LABELS][LABELS], gradient[LABELS][LABELS] = {{0}};
    int32_t best[LENGTH], many[5][LENGTH], drawn[2][LENGTH];
    double scores[5];
    trellis_chain_sequence s = {.struct_size = sizeof s,
                                .length = LENGTH,
                                .nodes.at = &nodes[0][0],
                                .pairs.at = &pairs[0][0][0],
                                .labels = labels,
                                .weight = 1,
                                .nbest = 5,
                                .samples = 2,
                                .best = best,
                                .nbest_labels = &many[0][0],
                                .nbest_scores = scores,
                                .pair_marginals.at = &pair[0][0][0],
                                .node_gradient.at = &node[0][0],
                                .sampled = &drawn[0][0]};
    trellis_chain_gradient wanted = {.struct_size = sizeof wanted,
                                     .transitions.at = &gradient[0][0]};
    trellis_status status = trellis_chain_run(
        chain,
        TRELLIS_CHAIN_BEST | TRELLIS_CHAIN_NBEST | TRELLIS_CHAIN_PAIR_MARGINALS |
            TRELLIS_CHAIN_SAMPLE | TRELLIS_CHAIN_LOSS | TRELLIS_CHAIN_GRADIENT,
        &s, 1, &wanted, &outcome->error);
    if (!status) {
        see(&outcome->seen, (const char *)best, sizeof best);
        see(&outcome->seen, (const char *)many, sizeof many);
        see(&outcome->seen, (const char *)gradient, sizeof gradient);
    }
    return status;
}

static trellis_status run_chain(const char *about, struct outcome *outcome)
{
    static float costs[LABELS][LABELS] = {{0, 1, 2}, {1, 0, 1}, {2, 1, 0}};
    trellis_options *options = NULL;
    trellis_chain *chain = NULL;
    trellis_chain_scores scores = {.struct_size = sizeof scores, .costs.at = &costs[0][0]};
    trellis_status status = options_of(about, &options, outcome);
    if (!status) {
        status = trellis_chain_create(LABELS, options, &chain, &outcome->error);
    }
    if (!status) {
        status = trellis_chain_set(chain, &scores, &outcome->error);
    }
    if (!status) {
        status = ask(chain, outcome);
    }
    trellis_chain_destroy(chain);
    trellis_options_destroy(options);
    return status;
}

static void test_chain(void **state)
{
    (void)state;
    try_all(run_chain, "threads=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
    };
    return RUN_WITH_FILES(tests);
}
