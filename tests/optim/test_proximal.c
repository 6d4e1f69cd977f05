/* test_proximal.c - the bottom of a quadratic model with l1, by its optimality conditions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "optim/proximal.h"

enum { WEIGHTS = 30, RANK = 6 };

/* A random model whose B is positive definite, as sigma is above the norm of Q N Q^T. */
static void make_model(struct tr_proximal *p, struct tr_random *random)
{
    *p = (struct tr_proximal){.rank = RANK};
    assert_true(tr_reserve(&p->n, 2 * RANK * RANK + 2 * RANK));
    assert_true(tr_reserve(&p->q, WEIGHTS * RANK));
    double norm = 0, square = 0;
    for (size_t i = 0; i < RANK; i++) {
        for (size_t k = 0; k <= i; k++) {
            double x = 2 * tr_random_real(random) - 1;
            p->n.at[i * RANK + k] = p->n.at[k * RANK + i] = x;
            norm += 2 * x * x;
        }
    }
    for (size_t j = 0; j < WEIGHTS; j++) {
        struct tr_free_weight weight = {
            .at = j,
            .g = 6 * tr_random_real(random) - 3,
            .x = tr_random_below(random, 2) ? 2 * tr_random_real(random) - 1 : 0,
            .l1 = tr_random_below(random, 5) ? tr_random_real(random) : 0};
        assert_true(tr_push(&p->weights, weight));
        for (size_t k = 0; k < RANK; k++) {
            p->q.at[j * RANK + k] = (float)(tr_random_real(random) - 0.5);
            square += (double)p->q.at[j * RANK + k] * (double)p->q.at[j * RANK + k];
        }
    }
    p->sigma = 0.1 + square * sqrt(norm);
}

/* (B d)_j, the long way. */
static double curved(const struct tr_proximal *p, size_t j)
{
    double sum = p->sigma * p->weights.at[j].d;
    for (size_t i = 0; i < WEIGHTS; i++) {
        for (size_t a = 0; a < RANK; a++) {
            for (size_t b = 0; b < RANK; b++) {
                sum -= (double)p->q.at[j * RANK + a] * p->n.at[a * RANK + b] *
                       (double)p->q.at[i * RANK + b] * p->weights.at[i].d;
            }
        }
    }
    return sum;
}

/* Where a weight is 0 its slope is at most l1, elsewhere it is l1 against its sign. */
static void the_bottom_is_found(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 4);
    size_t zeros = 0, others = 0;
    for (int trial = 0; trial < 50; trial++) {
        struct tr_proximal p;
        make_model(&p, &random);
        for (int k = 0; k < 2; k++) { // what the first leaves behind must not be seen
            tr_proximal_solve(&p, 1000);
        }
        for (size_t j = 0; j < WEIGHTS; j++) {
            const struct tr_free_weight *w = &p.weights.at[j];
            double slope = w->g + curved(&p, j), now = w->x + w->d;
            double missing = now == 0 ? fabs(slope) - w->l1 : fabs(slope + copysign(w->l1, now));
            assert_true(missing < 0.02 * (1 + fabs(w->g)));
            zeros += now == 0;
            others += now != 0;
        }
        tr_proximal_free(&p);
    }
    assert_true(zeros > 50 && others > 50);
}

/* Two weights with slopes 1 and 0, and B = ((1 - c, -c), (-c, 1 - c)): with r = c^2 / (1 - c)^2,
 * each round moves them r times as much as the one before, so that d_1 is 1 - r^k of what it ends
 * as after k rounds. The last is the first that moves them a hundredth as much as the first did. */
static void rounds_end_at_a_hundredth(void **state)
{
    (void)state;
    static const struct {
        double ratio;
        int rounds;
    } cases[] = {{0.009, 2}, {0.011, 3}, {0.09, 3}, {0.11, 4}, {0.31, 5}, {0.5, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double root = sqrt(cases[i].ratio), c = root / (1 + root);
        struct tr_proximal p = {.rank = 1, .sigma = 1};
        assert_true(tr_reserve(&p.n, 4) && tr_reserve(&p.q, 2));
        assert_true(tr_push(&p.weights, ((struct tr_free_weight){.g = 1})));
        assert_true(tr_push(&p.weights, ((struct tr_free_weight){.at = 1})));
        p.n.at[0] = c;
        p.q.at[0] = p.q.at[1] = 1;
        tr_proximal_solve(&p, 100);
        double end = -(1 - c) / ((1 - c) * (1 - c) - c * c);
        double wanted = end * (1 - pow(cases[i].ratio, cases[i].rounds));
        assert_true(fabs(p.weights.at[0].d - wanted) < 1e-9);
        tr_proximal_free(&p);
    }
}

static void an_inverse_is_one(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 5);
    for (int trial = 0; trial < 50; trial++) {
        struct tr_proximal p;
        double before[RANK * RANK];
        make_model(&p, &random);
        p.n.at[0] = trial % 2 ? p.n.at[0] : 0; // a pivot has to be looked for
        memcpy(before, p.n.at, sizeof before);
        assert_true(tr_proximal_invert(&p));
        for (size_t i = 0; i < RANK; i++) {
            for (size_t k = 0; k < RANK; k++) {
                double sum = 0;
                for (size_t c = 0; c < RANK; c++) {
                    sum += before[i * RANK + c] * p.n.at[c * RANK + k];
                }
                assert_true(fabs(sum - (i == k)) < 1e-6);
            }
        }
        memset(p.n.at, 0, sizeof before);
        assert_false(tr_proximal_invert(&p));
        tr_proximal_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bottom_is_found),
        cmocka_unit_test(rounds_end_at_a_hundredth),
        cmocka_unit_test(an_inverse_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
