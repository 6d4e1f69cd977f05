/* test_chain.c - a chain over given scores against all labellings of tiny random instances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "trellis.h"

enum { LABELS = 4, LENGTH = 5, MANY = 1024 };

/* A tiny instance with dense arrays in the plainest layout. */
struct instance {
    size_t n;
    float transitions[LABELS][LABELS], start[LABELS], end[LABELS];
    uint8_t allowed_transition[LABELS][LABELS];
    float nodes[LENGTH][LABELS], pairs[LENGTH][LABELS][LABELS];
    uint8_t allowed[LENGTH][LABELS];
    int32_t labels[LENGTH]; // -1: not known
    float costs[LABELS][LABELS];
    bool with_pairs, with_allowed;
};

/* Everything about it, by enumeration. */
struct truth {
    double log_z, log_agreeing; // of the labellings that agree with `labels`
    double best;
    double scores[MANY]; // of all possible labellings, highest first
    size_t count;
    double node[LENGTH][LABELS], pair[LENGTH][LABELS][LABELS];
    double agreeing_node[LENGTH][LABELS], agreeing_pair[LENGTH][LABELS][LABELS];
    double transition[LABELS][LABELS], start[LABELS], end[LABELS]; // gradient of the loss
};

static double score_of(const struct instance *x, const int32_t *z)
{
    double score = 0;
    for (size_t i = 0; i < x->n; i++) {
        if (x->with_allowed && !x->allowed[i][z[i]]) {
            return -INFINITY;
        }
        score += (double)x->nodes[i][z[i]];
        if (i == 0) {
            score += (double)x->start[z[i]];
            continue;
        }
        if (!x->allowed_transition[z[i - 1]][z[i]]) {
            return -INFINITY;
        }
        score += (double)x->transitions[z[i - 1]][z[i]];
        score += x->with_pairs ? (double)x->pairs[i][z[i - 1]][z[i]] : 0;
    }
    return x->n ? score + (double)x->end[z[x->n - 1]] : 0;
}

static bool next_labelling(int32_t *z, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (++z[i] < LABELS) {
            return true;
        }
        z[i] = 0;
    }
    return false;
}

static bool agrees(const struct instance *x, const int32_t *z)
{
    bool all = true;
    for (size_t i = 0; i < x->n; i++) {
        all = all && (x->labels[i] < 0 || x->labels[i] == z[i]);
    }
    return all;
}

static int by_falling_score(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void add_counts(const struct instance *x, const int32_t *z, double p,
                       double node[LENGTH][LABELS], double pair[LENGTH][LABELS][LABELS])
{
    for (size_t i = 0; i < x->n; i++) {
        node[i][z[i]] += p;
        if (i > 0) {
            pair[i][z[i - 1]][z[i]] += p;
        }
    }
}

static void solve(const struct instance *x, struct truth *t)
{
    int32_t z[LENGTH] = {0};
    double sum = 0, agreeing = 0;
    memset(t, 0, sizeof *t);
    t->best = -INFINITY;
    do {
        double score = score_of(x, z);
        if (score > -INFINITY) {
            t->scores[t->count++] = score;
            t->best = fmax(t->best, score);
            sum += exp(score);
            agreeing += agrees(x, z) ? exp(score) : 0;
        }
    } while (next_labelling(z, x->n));
    t->log_z = log(sum);
    t->log_agreeing = log(agreeing);
    qsort(t->scores, t->count, sizeof *t->scores, by_falling_score);
    do {
        double score = score_of(x, z);
        add_counts(x, z, exp(score - t->log_z), t->node, t->pair);
        if (agreeing > 0 && agrees(x, z)) {
            add_counts(x, z, exp(score - t->log_agreeing), t->agreeing_node, t->agreeing_pair);
        }
    } while (next_labelling(z, x->n));
    for (size_t a = 0; x->n && a < LABELS; a++) {
        t->start[a] = t->node[0][a] - t->agreeing_node[0][a];
        t->end[a] = t->node[x->n - 1][a] - t->agreeing_node[x->n - 1][a];
        for (size_t b = 0; b < LABELS; b++) {
            for (size_t i = 1; i < x->n; i++) {
                t->transition[a][b] += t->pair[i][a][b] - t->agreeing_pair[i][a][b];
            }
        }
    }
}

static float draw(struct tr_random *random)
{
    return (float)(4 * tr_random_real(random) - 2);
}

static struct instance make_instance(uint64_t seed)
{
    struct instance x = {0};
    struct tr_random random;
    tr_random_seed(&random, seed);
    x.n = tr_random_below(&random, LENGTH + 1);
    x.with_pairs = tr_random_below(&random, 2);
    x.with_allowed = tr_random_below(&random, 2);
    bool forbids = tr_random_below(&random, 2);
    for (size_t a = 0; a < LABELS; a++) {
        x.start[a] = draw(&random);
        x.end[a] = draw(&random);
        for (size_t b = 0; b < LABELS; b++) {
            x.transitions[a][b] = draw(&random);
            x.allowed_transition[a][b] = !forbids || tr_random_below(&random, 5) > 0;
            x.costs[a][b] = a == b ? 0 : (float)(1 + tr_random_below(&random, 5));
        }
    }
    bool partial = tr_random_below(&random, 2);
    for (size_t i = 0; i < LENGTH; i++) {
        x.labels[i] = partial && tr_random_below(&random, 2)
                          ? -1
                          : (int32_t)tr_random_below(&random, LABELS);
        for (size_t a = 0; a < LABELS; a++) {
            x.nodes[i][a] = draw(&random);
            x.allowed[i][a] = tr_random_below(&random, 5) > 0;
            for (size_t b = 0; b < LABELS; b++) {
                x.pairs[i][a][b] = draw(&random);
            }
        }
    }
    return x;
}

static trellis_chain *make_chain(const struct instance *x)
{
    trellis_chain *chain;
    assert_int_equal(trellis_chain_create(LABELS, NULL, &chain, NULL), TRELLIS_OK);
    trellis_chain_scores scores = {.struct_size = sizeof scores,
                                   .transitions = {(float *)x->transitions, {0}},
                                   .start = {(float *)x->start, {0}},
                                   .end = {(float *)x->end, {0}},
                                   .allowed = &x->allowed_transition[0][0],
                                   .costs = {(float *)x->costs, {0}}};
    assert_int_equal(trellis_chain_set(chain, &scores, NULL), TRELLIS_OK);
    return chain;
}

static trellis_chain_sequence make_sequence(const struct instance *x)
{
    return (trellis_chain_sequence){.struct_size = sizeof(trellis_chain_sequence),
                                    .length = x->n,
                                    .nodes = {(float *)x->nodes, {0}},
                                    .pairs = {x->with_pairs ? (float *)x->pairs : NULL, {0}},
                                    .allowed = x->with_allowed ? &x->allowed[0][0] : NULL,
                                    .labels = x->labels,
                                    .weight = 1};
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 2e-5 * fmax(1, fabs(b)))) {
        print_error("%.9g is not %.9g\n", a, b);
        fail();
    }
}

static void best_paths_are_best(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct instance x = make_instance(seed);
        struct truth t;
        solve(&x, &t);
        trellis_chain *chain = make_chain(&x);
        trellis_chain_sequence s = make_sequence(&x);
        int32_t best[LENGTH], many[7 * LENGTH];
        double scores[7];
        s.best = best;
        s.nbest = 7;
        s.nbest_labels = many;
        s.nbest_scores = scores;
        unsigned questions = TRELLIS_CHAIN_BEST | TRELLIS_CHAIN_NBEST;
        trellis_status status = trellis_chain_run(chain, questions, &s, 1, NULL, NULL);
        assert_int_equal(status, t.count ? TRELLIS_OK : TRELLIS_DATA);
        if (!status) {
            assert_near(s.best_score, t.best);
            assert_near(score_of(&x, best), t.best);
            assert_int_equal(s.nbest_count, t.count < 7 ? t.count : 7);
            for (size_t k = 0; k < s.nbest_count; k++) {
                assert_near(scores[k], t.scores[k]);
                assert_near(score_of(&x, many + k * x.n), t.scores[k]);
            }
        }
        trellis_chain_destroy(chain);
    }
}

static void sums_are_those_of_all_labellings(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct instance x = make_instance(seed);
        struct truth t;
        solve(&x, &t);
        trellis_chain *chain = make_chain(&x);
        trellis_chain_sequence s = make_sequence(&x);
        /* Marginals of labels by column, pairs from the last position to the first. */
        float node[LABELS][LENGTH], pair[LENGTH][LABELS][LABELS];
        int32_t risk[LENGTH];
        s.node_marginals = (trellis_floats){&node[0][0], {1, LENGTH}};
        s.pair_marginals = (trellis_floats){&pair[LENGTH - 1][0][0], {-LABELS * LABELS, LABELS, 1}};
        s.min_risk = risk;
        unsigned questions = TRELLIS_CHAIN_LOG_Z | TRELLIS_CHAIN_NODE_MARGINALS |
                             TRELLIS_CHAIN_PAIR_MARGINALS | TRELLIS_CHAIN_MIN_RISK;
        trellis_status status = trellis_chain_run(chain, questions, &s, 1, NULL, NULL);
        assert_int_equal(status, t.count ? TRELLIS_OK : TRELLIS_DATA);
        for (size_t i = 0; !status && i < x.n; i++) {
            double least = INFINITY;
            assert_near(s.log_z, t.log_z);
            for (size_t a = 0; a < LABELS; a++) {
                double cost = t.node[i][a] > 0 ? 0 : INFINITY;
                assert_near((double)node[a][i], t.node[i][a]);
                for (size_t b = 0; b < LABELS; b++) {
                    assert_near((double)pair[LENGTH - 1 - i][a][b], t.pair[i][a][b]);
                    cost += t.node[i][b] * (double)x.costs[b][a];
                }
                least = fmin(least, cost);
            }
            double chosen = 0;
            for (size_t b = 0; b < LABELS; b++) {
                chosen += t.node[i][b] * (double)x.costs[b][risk[i]];
            }
            assert_near(chosen, least);
        }
        trellis_chain_destroy(chain);
    }
}

static void gradients_are_those_of_all_labellings(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct instance x = make_instance(seed);
        struct truth t;
        solve(&x, &t);
        trellis_chain *chain = make_chain(&x);
        trellis_chain_sequence s = make_sequence(&x);
        float node[LENGTH][LABELS], pair[LENGTH][LABELS][LABELS];
        float transitions[LABELS][LABELS] = {{1}}, start[LABELS] = {0}, end[LABELS] = {0};
        s.node_gradient.at = &node[0][0];
        s.pair_gradient.at = &pair[0][0][0];
        s.weight = 2;
        trellis_chain_gradient gradient = {.struct_size = sizeof gradient,
                                           .transitions = {&transitions[0][0], {0}},
                                           .start = {start, {0}},
                                           .end = {end, {0}}};
        unsigned questions = TRELLIS_CHAIN_LOSS | TRELLIS_CHAIN_GRADIENT;
        trellis_status status = trellis_chain_run(chain, questions, &s, 1, &gradient, NULL);
        assert_int_equal(status, t.log_agreeing > -INFINITY ? TRELLIS_OK : TRELLIS_DATA);
        assert_true(transitions[0][0] == 1 || !status);
        if (!status) {
            assert_near(s.loss, t.log_z - t.log_agreeing);
        }
        for (size_t a = 0; !status && x.n && a < LABELS; a++) {
            assert_near((double)start[a], 2 * t.start[a]);
            assert_near((double)end[a], 2 * t.end[a]);
            for (size_t b = 0; b < LABELS; b++) {
                assert_near((double)transitions[a][b], 2 * t.transition[a][b] + (!a && !b));
            }
            for (size_t i = 0; i < x.n; i++) {
                assert_near((double)node[i][a], 2 * (t.node[i][a] - t.agreeing_node[i][a]));
                for (size_t b = 0; b < LABELS; b++) {
                    assert_near((double)pair[i][a][b],
                                2 * (t.pair[i][a][b] - t.agreeing_pair[i][a][b]));
                }
            }
        }
        trellis_chain_destroy(chain);
    }
}

static double loss_of(const struct instance *x)
{
    trellis_chain *chain = make_chain(x);
    trellis_chain_sequence s = make_sequence(x);
    assert_int_equal(trellis_chain_run(chain, TRELLIS_CHAIN_LOSS, &s, 1, NULL, NULL), TRELLIS_OK);
    trellis_chain_destroy(chain);
    return s.loss;
}

/* (loss(x + h) - loss(x - h)) / 2h for a score of an instance. */
static double slope(struct instance *x, float *score)
{
    float was = *score, h = 0x1p-6f;
    *score = was + h;
    double above = loss_of(x);
    *score = was - h;
    double below = loss_of(x);
    *score = was;
    return (above - below) / (2 * (double)h);
}

static void gradients_agree_with_finite_differences(void **state)
{
    (void)state;
    struct instance x = make_instance(3);
    x.n = LENGTH;
    x.with_pairs = true;
    x.with_allowed = false;
    memset(x.allowed_transition, 1, sizeof x.allowed_transition);
    x.labels[2] = -1;
    trellis_chain *chain = make_chain(&x);
    trellis_chain_sequence s = make_sequence(&x);
    float node[LENGTH][LABELS], pair[LENGTH][LABELS][LABELS], transitions[LABELS][LABELS] = {{0}};
    s.node_gradient.at = &node[0][0];
    s.pair_gradient.at = &pair[0][0][0];
    trellis_chain_gradient gradient = {.struct_size = sizeof gradient,
                                       .transitions = {&transitions[0][0], {0}}};
    assert_int_equal(trellis_chain_run(chain, TRELLIS_CHAIN_GRADIENT, &s, 1, &gradient, NULL),
                     TRELLIS_OK);
    for (size_t i = 0; i < LENGTH; i++) {
        for (size_t a = 0; a < LABELS; a++) {
            assert_true(fabs(slope(&x, &x.nodes[i][a]) - (double)node[i][a]) < 1e-3);
            for (size_t b = 0; b < LABELS; b++) {
                double by_pair = i ? slope(&x, &x.pairs[i][a][b]) : 0;
                assert_true(fabs(by_pair - (double)pair[i][a][b]) < 1e-3);
                double by_transition = slope(&x, &x.transitions[a][b]);
                assert_true(fabs(by_transition - (double)transitions[a][b]) < 1e-3);
            }
        }
    }
    trellis_chain_destroy(chain);
}

static void samples_follow_the_distribution(void **state)
{
    (void)state;
    enum { SAMPLES = 40000 };
    struct instance x = make_instance(11);
    x.n = 3;
    struct truth t;
    solve(&x, &t);
    trellis_chain *chain = make_chain(&x);
    trellis_chain_sequence s = make_sequence(&x);
    s.samples = SAMPLES;
    s.seed = 7;
    s.sampled = malloc(SAMPLES * x.n * sizeof *s.sampled);
    assert_int_equal(trellis_chain_run(chain, TRELLIS_CHAIN_SAMPLE, &s, 1, NULL, NULL), TRELLIS_OK);
    double pair[LENGTH][LABELS][LABELS] = {{{0}}}, node[LENGTH][LABELS] = {{0}};
    for (size_t k = 0; k < SAMPLES; k++) {
        assert_true(score_of(&x, s.sampled + k * x.n) > -INFINITY);
        add_counts(&x, s.sampled + k * x.n, 1.0 / SAMPLES, node, pair);
    }
    for (size_t i = 0; i < x.n; i++) {
        for (size_t a = 0; a < LABELS; a++) {
            assert_true(fabs(node[i][a] - t.node[i][a]) < 0.01);
            for (size_t b = 0; b < LABELS; b++) {
                assert_true(fabs(pair[i][a][b] - t.pair[i][a][b]) < 0.01);
            }
        }
    }
    free(s.sampled);
    trellis_chain_destroy(chain);
}

/* The gradient of many sequences, in a struct that is larger than the library's own. */
static void gradient_with_threads(const char *threads, float gradient[LABELS][LABELS])
{
    enum { COUNT = 100 };
    struct {
        trellis_chain_sequence sequence;
        double newer; // a member of a later version
    } batch[COUNT];
    static struct instance x[COUNT];
    trellis_options *options;
    trellis_chain *chain;
    assert_int_equal(trellis_options_create(&options, NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "threads", threads, NULL), TRELLIS_OK);
    assert_int_equal(trellis_chain_create(LABELS, options, &chain, NULL), TRELLIS_OK);
    for (size_t k = 0; k < COUNT; k++) {
        x[k] = make_instance(1000 + k);
        x[k].with_allowed = false;
        batch[k].sequence = make_sequence(&x[k]);
        batch[k].sequence.struct_size = sizeof batch[k];
        batch[k].newer = 42;
    }
    memset(gradient, 0, LABELS * sizeof *gradient);
    trellis_chain_gradient wanted = {.struct_size = sizeof wanted,
                                     .transitions = {&gradient[0][0], {0}}};
    assert_int_equal(trellis_chain_run(chain, TRELLIS_CHAIN_LOSS | TRELLIS_CHAIN_GRADIENT,
                                       &batch[0].sequence, COUNT, &wanted, NULL),
                     TRELLIS_OK);
    for (size_t k = 0; k < COUNT; k++) {
        assert_true(isfinite(batch[k].sequence.loss) && batch[k].newer == 42);
    }
    trellis_chain_destroy(chain);
    trellis_options_destroy(options);
}

static void answers_do_not_depend_on_threads(void **state)
{
    (void)state;
    float one[LABELS][LABELS], four[LABELS][LABELS];
    gradient_with_threads("1", one);
    gradient_with_threads("4", four);
    assert_memory_equal(one, four, sizeof one);
}

static void expect_refusal(trellis_chain *chain, unsigned questions, trellis_chain_sequence *s,
                           trellis_status expected, const char *words)
{
    trellis_error error = {0};
    assert_int_equal(trellis_chain_run(chain, questions, s, 1, NULL, &error), expected);
    if (!strstr(error.message, words)) {
        print_error("'%s' does not say '%s'\n", error.message, words);
        fail();
    }
}

/* Labellings by rank and by chance need a number and a place to go, each of them. */
static void missing_arrays_are_refused(void **state)
{
    (void)state;
    struct instance x = make_instance(5);
    x.n = 3;
    x.with_allowed = false;
    trellis_chain *chain = make_chain(&x);
    int32_t labels[3];
    double score;
    for (int left_out = 0; left_out < 3; left_out++) {
        trellis_chain_sequence s = make_sequence(&x);
        s.nbest = left_out != 0;
        s.nbest_labels = left_out != 1 ? labels : NULL;
        s.nbest_scores = left_out != 2 ? &score : NULL;
        expect_refusal(chain, TRELLIS_CHAIN_NBEST, &s, TRELLIS_OPTION, "'nbest' is missing");
    }
    for (int left_out = 0; left_out < 2; left_out++) {
        trellis_chain_sequence s = make_sequence(&x);
        s.samples = left_out != 0;
        s.sampled = left_out != 1 ? labels : NULL;
        expect_refusal(chain, TRELLIS_CHAIN_SAMPLE, &s, TRELLIS_OPTION, "'sampled' is missing");
    }
    trellis_chain_destroy(chain);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    trellis_chain *chain;
    trellis_error error = {0};
    assert_int_equal(trellis_chain_create(0, NULL, &chain, &error), TRELLIS_LIMIT);
    assert_null(chain);
    assert_int_equal(trellis_chain_create(100000, NULL, &chain, &error), TRELLIS_LIMIT);
    struct instance x = make_instance(5);
    x.n = 3;
    x.with_allowed = false;
    chain = make_chain(&x);

    trellis_chain_scores scores = {.transitions = {(float *)x.transitions, {0}}};
    assert_int_equal(trellis_chain_set(chain, &scores, &error), TRELLIS_OPTION); // no struct_size
    scores.struct_size = sizeof scores;
    x.transitions[1][2] = NAN;
    assert_int_equal(trellis_chain_set(chain, &scores, &error), TRELLIS_DATA);
    assert_non_null(strstr(error.message, "[1][2]"));

    trellis_chain_sequence s = make_sequence(&x);
    expect_refusal(chain, TRELLIS_CHAIN_BEST, &s, TRELLIS_OPTION, "'best' is missing");
    x.labels[1] = LABELS;
    expect_refusal(chain, TRELLIS_CHAIN_LOSS, &s, TRELLIS_DATA, "there is no label 4");
    x.labels[1] = -2;
    expect_refusal(chain, TRELLIS_CHAIN_LOSS, &s, TRELLIS_DATA, "there is no label -2");
    x.labels[1] = -1;
    expect_refusal(chain, TRELLIS_CHAIN_SCORE, &s, TRELLIS_DATA, "all known");
    x.nodes[2][1] = INFINITY;
    expect_refusal(chain, TRELLIS_CHAIN_LOG_Z, &s, TRELLIS_DATA, "label 1 at position 2 is inf");
    x.nodes[2][1] = NAN;
    expect_refusal(chain, TRELLIS_CHAIN_LOG_Z, &s, TRELLIS_DATA, "label 1 at position 2");
    s.nodes.at = NULL;
    expect_refusal(chain, TRELLIS_CHAIN_LOG_Z, &s, TRELLIS_OPTION, "'nodes' is missing");
    s.struct_size = 0;
    expect_refusal(chain, TRELLIS_CHAIN_LOG_Z, &s, TRELLIS_OPTION, "struct_size");
    trellis_chain_destroy(chain);
    trellis_chain_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_paths_are_best),
        cmocka_unit_test(sums_are_those_of_all_labellings),
        cmocka_unit_test(gradients_are_those_of_all_labellings),
        cmocka_unit_test(gradients_agree_with_finite_differences),
        cmocka_unit_test(samples_follow_the_distribution),
        cmocka_unit_test(answers_do_not_depend_on_threads),
        cmocka_unit_test(missing_arrays_are_refused),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
