/* test_differential.c - the fast kernels against the reference, over graphs, weights, scores,
 * lengths and restrictions drawn at random.
 *
 * DIFFERENTIAL_CASES says how many chains (`make reliability`: a million); each is decoded and
 * summed by the reference and by every set of kernels that the processor has. A failure names the
 * seed of its chain, and DIFFERENTIAL_SEED tries that one alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "lattice/setting.h"

/* What one chain is like. */
struct chain {
    uint32_t labels, order;
    size_t pairs, length;
    double weights, scores; // their sizes
    enum tr_listing listing;
    bool edges, restricted;
};

/* Mostly small ones, so that many can be tried, with a few wide or long ones. */
static struct chain draw(void)
{
    static const double sizes[] = {0, 0.1, 1, 3, 10, 30};
    struct chain chain = {.order = (uint32_t)tr_random_below(&dice, 4),
                          .listing = (enum tr_listing)tr_random_below(&dice, 3),
                          .weights = sizes[tr_random_below(&dice, 5)],
                          .scores = sizes[tr_random_below(&dice, TR_COUNT(sizes))],
                          .edges = tr_random_below(&dice, 4) == 0,
                          .restricted = tr_random_below(&dice, 4) == 0};
    uint64_t wide = tr_random_below(&dice, 40);
    uint32_t max = wide == 0 ? 100 : wide < 8 ? 24 : 9;
    chain.labels = 1 + (uint32_t)tr_random_below(&dice, chain.order >= 2 && max > 24 ? 24 : max);
    size_t all = (size_t)chain.labels * chain.labels;
    chain.pairs = chain.order == 0            ? 0
                  : tr_random_below(&dice, 2) ? all
                                              : tr_random_below(&dice, all + 1);
    chain.length = 1 + tr_random_below(&dice, tr_random_below(&dice, 30) == 0 ? 300 : 12);
    return chain;
}

static void fill(struct setting *setting, const struct chain *chain)
{
    uint32_t labels = chain->labels, width = setting->graph->width;
    begin(setting, chain->length, chain->scores);
    if (chain->edges) {
        assert_true(tr_lattice_make_edges(setting->lattice));
        float *edge = tr_lattice_edges(setting->lattice);
        for (size_t j = 0; j < chain->length * labels * width; j++) {
            edge[j] = uniform(1);
        }
    }
    for (size_t i = 0; chain->restricted && i < chain->length; i += 1 + tr_random_below(&dice, 4)) {
        uint16_t kept[100];
        size_t count = 0;
        for (uint16_t c = 0; c < labels; c++) {
            if (tr_random_below(&dice, 3)) {
                kept[count++] = c;
            }
        }
        kept[0] = count ? kept[0] : (uint16_t)tr_random_below(&dice, labels);
        count = count ? count : 1;
        assert_int_equal(tr_lattice_restrict(setting->lattice, i, kept, count, NULL), TRELLIS_OK);
    }
}

static unsigned long number(const char *variable, unsigned long otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? strtoul(value, NULL, 10) : otherwise;
}

static void kernels_agree_with_the_reference(void **state)
{
    (void)state;
    unsigned long cases = number("DIFFERENTIAL_CASES", 4000), fast = 0;
    unsigned long first = number("DIFFERENTIAL_SEED", 1);
    cases = getenv("DIFFERENTIAL_SEED") ? 1 : cases;
    for (unsigned long seed = first; seed < first + cases; seed++) {
        struct setting setting;
        tr_random_seed(&dice, seed);
        struct chain chain = draw();
        make(&setting, chain.labels, chain.order, chain.pairs, chain.weights, chain.listing);
        fill(&setting, &chain);
        about = seed;
        if (cases == 1) {
            printf("labels %u, order %u, %zu pairs, length %zu, weights %g, scores %g, listing %d, "
                   "edges %d, restricted %d\n",
                   chain.labels, chain.order, chain.pairs, chain.length, chain.weights,
                   chain.scores, (int)chain.listing, chain.edges, chain.restricted);
        }
        fast += compare(&setting);
        clear(&setting);
    }
    printf("%lu chains compared with the reference, %lu of them by fast kernels\n", cases, fast);
    assert_true(cases == 1 || fast > cases / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_agree_with_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
