/* test_mira.c - the quadratic problem of MIRA by its optimality conditions, m = 1 against the
 * closed form, and m = all labellings against a problem solved by brute force. */
#include "train/mira.h"
#include "train/naive.h"

/* ---- the quadratic problem ------------------------------------------------------------------- */

/* Karush, Kuhn, Tucker: with g_k = b_k - sum_j A_jk tau_j, what constraint k misses after the
 * change,
 *
 *     tau_k = 0:  g_k <= 0        0 < tau_k < C:  g_k = 0        tau_k = C:  g_k >= 0
 */
static void assert_optimal(const double *a, const double *b, size_t m, double c, const double *tau)
{
    for (size_t k = 0; k < m; k++) {
        double g = b[k];
        for (size_t j = 0; j < m; j++) {
            g -= a[k * m + j] * tau[j];
        }
        assert_true(tau[k] >= 0 && tau[k] <= c);
        if (a[k * m + k] > 0) {
            assert_true(tau[k] == c || g < 1e-6);
            assert_true(tau[k] == 0 || g > -1e-6);
        }
    }
}

static void test_conditions(void **state)
{
    (void)state;
    enum { MOST = 20, DIMENSIONS = 12 };
    struct tr_random random;
    tr_random_seed(&random, 11);
    for (int trial = 0; trial < 300; trial++) {
        size_t m = 1 + tr_random_below(&random, MOST);
        double d[MOST][DIMENSIONS], a[MOST * MOST], b[MOST], tau[MOST];
        double c = trial % 3 == 0 ? INFINITY : trial % 3 == 1 ? 0.05 : 1;
        for (size_t k = 0; k < m; k++) {
            /* Sparse counts. Now and then one constraint twice; never more constraints than
             * dimensions without a cap, or nothing may satisfy them all. */
            for (size_t i = 0; i < DIMENSIONS; i++) {
                d[k][i] = (double)tr_random_below(&random, 4) - 1.5;
                d[k][i] = c == INFINITY && k > 0 && k < DIMENSIONS && i == k ? 8 : d[k][i];
            }
            if (c != INFINITY && k > 0 && tr_random_below(&random, 4) == 0) {
                memcpy(d[k], d[k - 1], sizeof d[k]);
            }
            b[k] = 4 * tr_random_real(&random) - 1;
        }
        m = c == INFINITY && m > 5 ? 5 : m;
        for (size_t j = 0; j < m; j++) {
            for (size_t k = 0; k < m; k++) {
                a[j * m + k] = 0;
                for (size_t i = 0; i < DIMENSIONS; i++) {
                    a[j * m + k] += d[j][i] * d[k][i];
                }
            }
        }
        tr_mira_solve(a, b, m, c, tau);
        assert_optimal(a, b, m, c, tau);
        if (m == 1) {
            assert_true(fabs(tau[0] - fmin(c, fmax(0, b[0] / a[0]))) < 1e-12);
        }
    }
    double zero = 0, one = 1, tau = 7;
    tr_mira_solve(&zero, &one, 1, 1,
                  &tau); // a labelling with the same features cannot be told apart
    assert_true(tau == 0);
    tr_mira_solve(NULL, NULL, 0, 1, &tau);
}

/* ---- the learner ----------------------------------------------------------------------------- */

struct rule {
    double c;
};

/* All labellings are constraints; the dual by plain projected ascent. */
static void dense_mira(struct naive *naive, const struct sentence *s, void *user)
{
    enum { MOST = 243 };
    static double d[MOST][SIZE];
    double c = s->weight * ((const struct rule *)user)->c, b[MOST], tau[MOST] = {0},
           change[SIZE] = {0};
    size_t m = 0;
    int labels[LONGEST];
    for (size_t k = 0; labelling(s, k, labels); k++) {
        if (loss_of(naive, s, labels) > 0) {
            difference(naive, s, labels, d[m]);
            b[m] = loss_of(naive, s, labels) - dot(naive->w, d[m]);
            m++;
        }
    }
    double largest = 1;
    for (int round = 0; round < 20000 && largest > 1e-9; round++) {
        largest = 0;
        for (size_t k = m; k-- > 0;) { // the other way round than the library
            double square = dot(d[k], d[k]);
            double best = square > 0
                              ? fmin(c, fmax(0, tau[k] + (b[k] - dot(d[k], change)) / square))
                              : 0;
            for (size_t j = 0; best != tau[k] && j < SIZE; j++) {
                change[j] += (best - tau[k]) * d[k][j];
            }
            largest = fmax(largest, fabs(best - tau[k]));
            tau[k] = best;
        }
    }
    for (size_t j = 0; j < SIZE; j++) {
        naive->w[j] += change[j];
    }
}

static void test_all_labellings(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct naive naive;
        struct tr_buffer corpus = {0};
        struct rule rule = {seed % 2 ? 0.02 : 0.3};
        char options[200];
        double found[SIZE];
        make_corpus(&naive, seed + 30, seed > 2, &corpus);
        /* Sentences of up to 4 labels, so that 81 labellings are all there are. */
        char *at = corpus.data;
        for (size_t k = 0; k < SENTENCES; k++) {
            struct sentence *s = &naive.sentences[k];
            char *end = strstr(at, "\n\n");
            if (s->n > 4) {
                char *line = end;
                while (line[-1] != '\n') {
                    line--;
                }
                s->n = 4;
                memmove(line, end + 1, strlen(end + 1) + 1);
                end = line - 1;
            }
            at = end + 2;
        }
        memset(naive.seen, 0, sizeof naive.seen);
        for (size_t k = 0; k < SENTENCES; k++) {
            const struct sentence *s = &naive.sentences[k];
            for (size_t i = 0; i < s->n; i++) {
                for (int x = 0; x < WORDS; x++) {
                    naive.seen[x * LABELS + s->labels[i]] |= s->value[i][x] != 0;
                }
            }
        }
        learn(&naive, 1, seed, dense_mira, &rule);
        snprintf(options, sizeof options,
                 "format=crfsuite type=mira mbest=81 epochs=1 seed=%d aggressiveness=%g", (int)seed,
                 rule.c);
        trellis_model *model = train_on(corpus.data, options);
        read_weights(model, found);
        assert_close(found, naive.sum, 1 / naive.iterates, 1e-3);
        trellis_model_close(model);
        tr_buffer_free(&corpus);
    }
}

/* m = 1 is the closed form min(C, loss / |d|^2): the same weights as pa1, to the last bit. */
static void test_one_is_pa1(void **state)
{
    (void)state;
    static const char *const settings[] = {"aggressiveness=0.05", "aggressiveness=100",
                                           "aggressiveness=0.2 loss=root"};
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct naive naive;
        struct tr_buffer corpus = {0};
        char mira[200], pa1[200];
        double one[SIZE], two[SIZE];
        make_corpus(&naive, seed + 50, seed % 2, &corpus);
        snprintf(mira, sizeof mira, "format=crfsuite epochs=4 seed=3 %s type=mira mbest=1",
                 settings[seed % 3]);
        snprintf(pa1, sizeof pa1,
                 "format=crfsuite epochs=4 seed=3 %s type=perceptron algorithm=pa1",
                 settings[seed % 3]);
        trellis_model *first = train_on(corpus.data, mira), *second = train_on(corpus.data, pa1);
        read_weights(first, one);
        read_weights(second, two);
        assert_close(one, two, 1, 0);
        trellis_model_close(first);
        trellis_model_close(second);
        tr_buffer_free(&corpus);
    }
}

static void test_range(void **state)
{
    (void)state;
    trellis_options *options = make_options("type=mira");
    trellis_error error = {0};
    assert_int_equal(trellis_options_set(options, "mbest", "0", &error), TRELLIS_OPTION);
    assert_non_null(strstr(error.message, "between 1 and 100"));
    assert_int_equal(trellis_options_set(options, "mbest", "101", &error), TRELLIS_OPTION);
    assert_int_equal(trellis_options_set(options, "aggressiveness", "-1", &error), TRELLIS_OPTION);
    trellis_options_destroy(options);
    /* More labellings than there are, and nothing that may move. */
    trellis_model *model = train_on("a X\nb Y\n\na X\n",
                                    "type=mira mbest=100 features=id epochs=3");
    assert_tags(model, "a b", "X Y");
    trellis_model_close(model);
    model = train_on("a X\nb Y\n\na X\n", "type=mira aggressiveness=0 features=id epochs=1");
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_all_labellings),
        cmocka_unit_test(test_one_is_pa1),
        cmocka_unit_test(test_range),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
