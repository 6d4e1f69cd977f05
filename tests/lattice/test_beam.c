/* test_beam.c - beam search against a naive beam search, and against all paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lattice/trial.h"

#define MAX_STATES 512

/* ---- the naive beam -------------------------------------------------------------------------- */

/* A state, and the labels that lead to it. */
struct prefix {
    uint32_t state;
    double score;
    uint16_t labels[BRUTE_LENGTH];
};

static int by_score_then_state(const void *a, const void *b)
{
    const struct prefix *x = a, *y = b;
    if (x->score != y->score) {
        return x->score < y->score ? 1 : -1;
    }
    return (x->state > y->state) - (x->state < y->state);
}

/* The score of a prefix with its label at i, with the end's score at the last position. */
static double next_score(const struct trial *trial, const struct prefix *prefix, size_t i)
{
    const struct brute_chain *chain = &trial->chain;
    double end = i + 1 == chain->length && !chain->local
                     ? (double)trial->steps->score.end[prefix->state]
                     : 0;
    return (i ? prefix->score : 0) + brute_gain(chain, prefix->labels, i) + end;
}

/* The gold labels as the naive beam search meets them. */
struct trace {
    const uint16_t *gold;
    double ahead[BRUTE_LENGTH]; // score of the best state kept minus that of gold
    size_t left;                // first position where the state of gold is not kept, or the length
};

static void follow_gold(const struct trial *trial, const struct prefix *kept, size_t kept_count,
                        size_t i, struct prefix *gold, struct trace *trace)
{
    uint16_t c = trace->gold[i];
    uint32_t state = tr_graph_next(trial->graph, i ? gold->state : TR_NO_STATE, c);
    gold->state = state;
    gold->labels[i] = c;
    gold->score = next_score(trial, gold, i);
    double best = -INFINITY;
    bool here = false;
    for (size_t k = 0; k < kept_count; k++) {
        best = fmax(best, kept[k].score);
        here = here || kept[k].state == state;
    }
    trace->ahead[i] = best - gold->score;
    trace->left = !here && trace->left > i ? i : trace->left;
}

/* The best score of a beam of this width, minus infinity where no complete path survives. `trace`
 * may be NULL. */
static double naive_beam(const struct trial *trial, size_t width, struct trace *trace)
{
    static struct prefix kept[MAX_STATES], found[MAX_STATES * BRUTE_LABELS];
    struct prefix gold = {.state = TR_NO_STATE};
    size_t kept_count = 1;
    for (size_t i = 0; i < trial->chain.length; i++) {
        size_t count = 0;
        for (size_t k = 0; k < kept_count; k++) {
            for (uint16_t c = 0; c < trial->plan.labels; c++) {
                uint32_t state = tr_graph_next(trial->graph, i ? kept[k].state : TR_NO_STATE, c);
                if (state == TR_NO_STATE) {
                    continue;
                }
                struct prefix next = kept[k];
                next.state = state;
                next.labels[i] = c;
                next.score = next_score(trial, &next, i);
                if (next.score > -INFINITY) {
                    found[count++] = next;
                }
            }
        }
        qsort(found, count, sizeof *found, by_score_then_state);
        kept_count = 0;
        for (size_t k = 0; k < count && kept_count < width; k++) {
            bool is_new = true;
            for (size_t j = 0; j < kept_count; j++) {
                is_new = is_new && kept[j].state != found[k].state;
            }
            if (is_new) {
                kept[kept_count++] = found[k];
            }
        }
        if (trace) {
            follow_gold(trial, kept, kept_count, i, &gold, trace);
        }
    }
    return kept_count ? kept[0].score : -INFINITY;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* Counts how often the beam had to be widened; the test checks that this happened. */
static size_t check_beam(struct trial *trial, size_t width)
{
    uint16_t labels[BRUTE_LENGTH] = {0};
    double score, right = -INFINITY;
    size_t states = trial->graph->states, widened = 0, tried = width < states ? width : states;
    trellis_status status = tr_lattice_beam(trial->lattice, trial->steps, width, labels, &score,
                                            NULL);
    if (trial->chain.length == 0) {
        expect(trial, status == TRELLIS_OK && score == 0, "an empty sequence");
        return 0;
    }
    while (tried < states && (right = naive_beam(trial, tried, NULL)) == -INFINITY) {
        tried = 2 * tried < states ? 2 * tried : states;
        widened++;
    }
    right = tried < states ? right : trial->answer.best;
    if (trial->answer.best == -INFINITY) {
        expect(trial, status == TRELLIS_DATA, "width %zu: a path where there is none", width);
        return 0;
    }
    double tolerance = slack(trial, right);
    bool ties = trial->chain.local && (trial->seed % 7 == 0 || tolerance > 1e-3); // or nearly so
    expect(trial, status == TRELLIS_OK, "width %zu: status %d", width, status);
    expect(trial, ties || fabs(score - right) <= tolerance, "width %zu: score %.9g, not %.9g",
           width, score, right);
    expect(trial, fabs(score - brute_score(&trial->chain, labels)) <= tolerance,
           "width %zu: not the score of the path", width);
    if (tried == states) {
        /* the same path: scores are exact in single precision, and ties are broken in the same
         * way */
        uint16_t best[BRUTE_LENGTH];
        expect(trial, fabs(score - trial->answer.best) <= tolerance, "not the best of all: %.9g",
               score);
        tr_lattice_viterbi(trial->lattice, trial->steps, best, &score, NULL);
        expect(trial, ties || memcmp(labels, best, trial->chain.length * sizeof *best) == 0,
               "not the path of Viterbi");
    }
    return widened;
}

/* Random labels that are allowed; false where none were found. */
static bool draw_gold(const struct trial *trial, uint16_t *gold)
{
    struct tr_random random;
    tr_random_seed(&random, trial->seed + 1000);
    for (int tries = 0; tries < 200; tries++) {
        for (size_t i = 0; i < trial->chain.length; i++) {
            gold[i] = (uint16_t)tr_random_below(&random, trial->plan.labels);
        }
        if (isfinite(brute_score(&trial->chain, gold))) {
            return trial->chain.length > 0;
        }
    }
    return false;
}

/* By how much the first `prefix` of the labels score more than those of gold. */
static double ahead_of(const struct trial *trial, const uint16_t *labels, const uint16_t *gold,
                       size_t prefix)
{
    const uint16_t *both[] = {labels, gold};
    double score[2];
    for (int k = 0; k < 2; k++) {
        struct prefix way = {.state = TR_NO_STATE};
        for (size_t i = 0; i < prefix; i++) {
            way.state = tr_graph_next(trial->graph, i ? way.state : TR_NO_STATE, both[k][i]);
            way.labels[i] = both[k][i];
            way.score = next_score(trial, &way, i);
        }
        score[k] = way.score;
    }
    return score[0] - score[1];
}

/* A violation never scores less than gold, and is at the position that the rule asks for. Counts
 * prefixes shorter than the sequence. */
static size_t check_violation(struct trial *trial, size_t width, bool early)
{
    uint16_t gold[BRUTE_LENGTH], labels[BRUTE_LENGTH];
    size_t n = trial->chain.length, prefix;
    if (trial->chain.local || !draw_gold(trial, gold)) { // such learners do not normalise
        return 0;
    }
    struct trace trace = {.gold = gold, .left = n};
    naive_beam(trial, width, &trace);
    trellis_status status = tr_lattice_beam_violation(trial->lattice, trial->steps, width, early,
                                                      gold, labels, &prefix, NULL);
    expect(trial, status == TRELLIS_OK && prefix >= 1 && prefix <= n, "prefix %zu", prefix);
    expect(trial, memcmp(labels + prefix, gold + prefix, (n - prefix) * sizeof *gold) == 0,
           "not gold after");
    if (memcmp(labels, gold, n * sizeof *gold) == 0) {
        expect(trial, prefix == n && (early ? trace.left == n : true) && trace.ahead[n - 1] == 0,
               "gold was not found");
        return 0;
    }
    double ahead = ahead_of(trial, labels, gold, prefix), max = -INFINITY;
    expect(trial, ahead >= 0, "no violation: %g", ahead);
    expect(trial, fabs(ahead - trace.ahead[prefix - 1]) < 1e-6, "%g, not %g", ahead,
           trace.ahead[prefix - 1]);
    for (size_t i = 0; i < n; i++) {
        max = isfinite(trace.ahead[i]) ? fmax(max, trace.ahead[i]) : max;
    }
    if (early) {
        expect(trial, prefix == (trace.left < n ? trace.left + 1 : n), "early at %zu, not %zu",
               prefix, trace.left);
    } else {
        expect(trial, fabs(ahead - max) < 1e-6, "%g is not the maximum, %g", ahead, max);
    }
    return prefix < n;
}

static void check_kind(enum kind kind)
{
    static struct trial trial;
    size_t widened = 0, inexact = 0, parts = 0;
    for (unsigned seed = 1; seed <= 300; seed++) {
        make_trial(&trial, kind, seed);
        tr_steps_set(trial.steps, trial.weights);
        assert_in_range(trial.graph->states, 1, MAX_STATES);
        for (int restricted = 0; restricted < 2; restricted++) {
            fill_lattice(&trial, restricted);
            if (seed % 3 == 0) {
                normalise(&trial);
            }
            brute_solve(&trial.chain, &trial.answer);
            for (size_t width = 1; width <= 3; width++) {
                widened += check_beam(&trial, width);
                parts += check_violation(&trial, width, width % 2);
                parts += check_violation(&trial, width, width % 2 == 0);
            }
            inexact += trial.chain.length && naive_beam(&trial, 1, NULL) < trial.answer.best;
            check_beam(&trial, trial.graph->states);
            check_beam(&trial, SIZE_MAX);
        }
        free_trial(&trial);
    }
    assert_true(kind == ORDER_0 || inexact > 0);
    assert_true(kind == ORDER_0 || widened > 0);
    assert_true(parts > 20);
}

TEST_EVERY_KIND(check_kind)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TESTS_OF_EVERY_KIND,
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
