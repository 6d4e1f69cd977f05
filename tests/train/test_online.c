/* test_online.c - passive-aggressive and AROW against second ones with dense weights that try all
 * labellings; and the sparse vectors that they are made of. */
#include "train/naive.h"
#include "train/online.h"

/* ---- second implementations ------------------------------------------------------------------ */

enum margin { AUGMENTED, COUNT, ROOT, ONE };

struct rule {
    enum margin margin;
    double c, softness; // pa1 and pa2
    double variance[SIZE];
};

static double missing(const struct naive *naive, const struct sentence *s, const struct rule *rule,
                      double *d)
{
    int found[LONGEST] = {0};
    best_labels(naive, s, rule->margin == AUGMENTED ? 1 : 0, found);
    difference(naive, s, found, d);
    double loss = loss_of(naive, s, found);
    double margin = rule->margin == ROOT ? sqrt(loss) : rule->margin == ONE && loss > 0 ? 1 : loss;
    return margin - dot(naive->w, d);
}

static void passive_aggressive(struct naive *naive, const struct sentence *s, void *user)
{
    const struct rule *rule = user;
    double d[SIZE], loss = missing(naive, s, rule, d), square = dot(d, d);
    if (loss > 0 && square > 0) {
        double tau = fmin(s->weight * rule->c, loss / (square + rule->softness / s->weight));
        for (size_t j = 0; j < SIZE; j++) {
            naive->w[j] += tau * d[j];
        }
    }
}

static void arow(struct naive *naive, const struct sentence *s, void *user)
{
    struct rule *rule = user;
    double d[SIZE], loss = missing(naive, s, rule, d), confidence = 0;
    for (size_t j = 0; j < SIZE; j++) {
        confidence += rule->variance[j] * d[j] * d[j];
    }
    if (loss > 0) {
        double beta = 1 / (confidence + 1 / s->weight);
        for (size_t j = 0; j < SIZE; j++) {
            double along = rule->variance[j] * d[j];
            naive->w[j] += loss * beta * along;
            rule->variance[j] -= beta * along * along;
        }
    }
}

static void compare(naive_rule learner, const char *options, struct rule rule, uint64_t seed,
                    int epochs, bool weighted)
{
    struct naive naive;
    struct tr_buffer corpus = {0};
    char all[300];
    make_corpus(&naive, seed + 70, weighted, &corpus);
    if (strstr(options, "cost=")) {
        naive.cost[1][2] = 5;
        naive.cost[0][1] = 0.25;
        put_text("costs", "# right found cost\nL1 L2 5\n\nL0\tL1  0.25\n");
    }
    learn(&naive, epochs, seed, learner, &rule);
    snprintf(all, sizeof all, "format=crfsuite type=perceptron epochs=%d seed=%d %s", epochs,
             (int)seed, options);
    trellis_model *model = train_on(corpus.data, all);
    double found[SIZE];
    read_weights(model, found);
    if (strstr(options, "average=no")) {
        assert_close(found, naive.w, 1, 2e-5);
    } else {
        assert_close(found, naive.sum, 1 / naive.iterates, 2e-5);
    }
    trellis_model_close(model);
    tr_buffer_free(&corpus);
}

static struct rule with_variance(double variance, enum margin margin)
{
    struct rule rule = {.margin = margin};
    for (size_t j = 0; j < SIZE; j++) {
        rule.variance[j] = variance;
    }
    return rule;
}

static void test_passive_aggressive(void **state)
{
    (void)state;
    char cost[400];
    snprintf(cost, sizeof cost, "algorithm=pa cost=%s", path_of("costs"));
    for (uint64_t seed = 1; seed <= 5; seed++) {
        for (int weighted = 0; weighted < 2; weighted++) {
            struct rule pa = {.c = INFINITY}, root = {.c = INFINITY, .margin = ROOT};
            struct rule one = {.c = 0.2, .margin = ONE};
            compare(passive_aggressive, "algorithm=pa", pa, seed, 3, weighted);
            compare(passive_aggressive, "algorithm=pa loss=root", root, seed, 3, weighted);
            compare(passive_aggressive, "algorithm=pa loss=root average=no", root, seed, 3,
                    weighted);
            compare(passive_aggressive, "algorithm=pa1 aggressiveness=0.2 loss=one", one, seed, 3,
                    weighted);
            compare(passive_aggressive, cost, pa, seed, 3, weighted);
            pa.c = 0.07;
            compare(passive_aggressive, "algorithm=pa1 aggressiveness=0.07", pa, seed, 3, weighted);
            pa.c = INFINITY;
            pa.softness = 1 / (2 * 0.3);
            compare(passive_aggressive, "algorithm=pa2 aggressiveness=0.3", pa, seed, 3, weighted);
        }
    }
}

static void test_arow(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        for (int weighted = 0; weighted < 2; weighted++) {
            compare(arow, "algorithm=arow variance=0.5", with_variance(0.5, AUGMENTED), seed, 3,
                    weighted);
            compare(arow, "algorithm=arow variance=1 loss=count average=no",
                    with_variance(1, COUNT), seed, 3, weighted);
            compare(arow, "algorithm=arow variance=2 loss=root", with_variance(2, ROOT), seed, 3,
                    weighted);
        }
    }
}

/* After one update by pa the margin of the labelling that violated it is kept, exactly and no more,
 * whatever the sentence weighs; and by the others it is not passed. */
static void test_margin_kept(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct naive naive;
        struct tr_buffer corpus = {0};
        make_corpus(&naive, seed, false, &corpus);
        *strstr(corpus.data, "\n\n") = '\0'; // the first sentence alone
        memset(naive.seen, 0, sizeof naive.seen);
        const struct sentence *s = &naive.sentences[0];
        for (size_t i = 0; i < s->n; i++) {
            for (int x = 0; x < WORDS; x++) {
                naive.seen[x * LABELS + s->labels[i]] |= s->value[i][x] != 0;
            }
        }
        int found[LONGEST] = {0};
        double d[SIZE], w[SIZE];
        best_labels(&naive, s, 1, found);
        difference(&naive, s, found, d);
        static const char *const learners[] = {"algorithm=pa", "algorithm=pa1", "algorithm=pa2",
                                               "algorithm=arow", "type=mira mbest=1"};
        for (size_t k = 0; k < TR_COUNT(learners); k++) {
            struct tr_buffer heavy = {0};
            char options[100];
            tr_buffer_format(&heavy, "@weight:%d\n%s", k ? 50 : (int)seed, corpus.data);
            tr_buffer_char(&heavy, 0);
            snprintf(options, sizeof options, "format=crfsuite epochs=1 %s", learners[k]);
            trellis_model *model = train_on(heavy.data, options);
            read_weights(model, w);
            double over = dot(w, d) - loss_of(&naive, s, found);
            assert_true(over < 1e-5 && (k > 0 || over > -1e-5));
            trellis_model_close(model);
            tr_buffer_free(&heavy);
        }
        tr_buffer_free(&corpus);
    }
}

/* ---- sparse vectors -------------------------------------------------------------------------- */

static void test_sparse(void **state)
{
    (void)state;
    enum { N = 5000 };
    static double x[N], y[N];
    static float w[N];
    struct tr_sparse a = {0}, b = {0};
    struct tr_random random;
    tr_random_seed(&random, 3);
    for (int round = 0; round < 20; round++) {
        tr_sparse_clear(&a);
        tr_sparse_clear(&b);
        memset(x, 0, sizeof x);
        memset(y, 0, sizeof y);
        size_t adds = tr_random_below(&random, 4000);
        for (size_t k = 0; k < adds; k++) {
            size_t i = tr_random_below(&random, N), j = tr_random_below(&random, N);
            double value = tr_random_real(&random) - 0.5;
            x[i] += value;
            y[j] -= value;
            tr_sparse_add(&a, i, value);
            tr_sparse_add(&b, j, -value);
        }
        double square = 0, product = 0, along = 0;
        for (size_t i = 0; i < N; i++) {
            w[i] = (float)tr_random_real(&random);
            square += x[i] * x[i];
            product += x[i] * y[i];
            along += x[i] * (double)w[i];
        }
        assert_false(a.failed);
        assert_true(fabs(tr_sparse_square(&a) - square) < 1e-9);
        assert_true(fabs(tr_sparse_product(&a, &b) - product) < 1e-9);
        assert_true(fabs(tr_sparse_product(&b, &a) - product) < 1e-9);
        assert_true(fabs(tr_sparse_dot(&a, w) - along) < 1e-9);
    }
    tr_sparse_free(&a);
    tr_sparse_free(&b);
}

/* ---- all learners ---------------------------------------------------------------------------- */

static const char *const ways[] = {
    "type=perceptron algorithm=pa",
    "type=perceptron algorithm=pa1",
    "type=perceptron algorithm=pa2",
    "type=perceptron algorithm=arow",
    "type=mira mbest=1",
    "type=mira mbest=4",
    "type=ssvm",
    "type=ssvm algorithm=subgradient",
};

static char *model_bytes(const char *corpus, const char *way, const char *more, size_t *ret_size)
{
    char all[700];
    trellis_error error = {0};
    snprintf(all, sizeof all, "%s %s", way, more);
    trellis_model *model = train_on(corpus, all);
    assert_ok(trellis_model_save(model, path_of("one.model"), &error), error);
    trellis_model_close(model);
    return get_file(path_of("one.model"), ret_size);
}

static void test_same_seed_same_model(void **state)
{
    (void)state;
    struct naive naive;
    struct tr_buffer corpus = {0};
    make_corpus(&naive, 9, true, &corpus);
    for (size_t k = 0; k < TR_COUNT(ways); k++) {
        size_t sizes[2];
        const char *common = "format=crfsuite epochs=3 seed=5 order=2";
        char more[100];
        snprintf(more, sizeof more, "%s threads=3", common);
        char *one = model_bytes(corpus.data, ways[k], common, &sizes[0]);
        char *two = model_bytes(corpus.data, ways[k], more, &sizes[1]);
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(one, two, sizes[0]);
        free(one);
        free(two);
    }
    tr_buffer_free(&corpus);
}

/* What can be learned is, by all; also from weights that are there already. */
static void test_easy(void **state)
{
    (void)state;
    const char *easy = "a X\nb Y\nc X\n\nb Y\na X\n\nc X\nc X\nb Y\n";
    for (size_t k = 0; k < TR_COUNT(ways); k++) {
        char all[900];
        trellis_error error = {0};
        const char *penalty = strstr(ways[k], "ssvm") ? "l2=0.1" : "l2=0";
        snprintf(all, sizeof all, "%s epochs=8 features=id %s", ways[k], penalty);
        trellis_model *model = train_on(easy, all);
        assert_tags(model, "c b a", "X Y X");
        assert_ok(trellis_model_save(model, path_of("first.model"), &error), error);
        trellis_model_close(model);
        snprintf(all, sizeof all, "%s epochs=1 features=id %s from=%s", ways[k], penalty,
                 path_of("first.model"));
        model = train_on(easy, all);
        assert_tags(model, "c b a", "X Y X");
        trellis_model_close(model);
    }
}

/* One label, and sentences without a word that is known. */
static void test_one_label(void **state)
{
    (void)state;
    for (size_t k = 0; k < TR_COUNT(ways); k++) {
        char all[300];
        snprintf(all, sizeof all, "%s epochs=3 features=id", ways[k]);
        trellis_model *model = train_on("a X\nb X\n\nc X\n", all);
        assert_tags(model, "a z", "X X");
        trellis_model_close(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passive_aggressive),
        cmocka_unit_test(test_arow),
        cmocka_unit_test(test_margin_kept),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_same_seed_same_model),
        cmocka_unit_test(test_easy),
        cmocka_unit_test(test_one_label),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
