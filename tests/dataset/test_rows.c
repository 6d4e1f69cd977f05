/* test_rows.c - the layout of weights against a plain table [attribute][outcome].
 *
 * All numbers are small multiples of 1/2, so that sums are exact in any order and can be compared
 * with ==.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "dataset/row_kernels.h"

enum { MAX_ATTRIBUTES = 40, MAX_OUTCOMES = 200, TOKENS = 30 };

struct naive {
    uint32_t attributes, outcomes, width;
    bool there[MAX_ATTRIBUTES][MAX_OUTCOMES];
    double weight[MAX_ATTRIBUTES][MAX_OUTCOMES];
};

static double half_number(struct tr_random *random)
{
    return (double)tr_random_below(random, 41) / 2 - 10;
}

/* Random pairs: the first `dense` attributes have most outcomes, the others few or none at all. */
static struct tr_rows *draw(struct tr_random *random, uint32_t outcomes, uint32_t attributes,
                            uint32_t dense, struct naive *naive)
{
    memset(naive, 0, sizeof *naive);
    naive->attributes = attributes;
    naive->outcomes = outcomes;
    naive->width = tr_row_width(outcomes);
    uint64_t *begin = tr_alloc((size_t)attributes + 1, sizeof *begin);
    uint32_t *outcome = tr_alloc((size_t)attributes * outcomes, sizeof *outcome);
    for (uint32_t a = 0; a < attributes; a++) {
        begin[a + 1] = begin[a];
        for (uint32_t o = 0; o < outcomes; o++) {
            if (tr_random_below(random, 8) < (a < dense ? 6 : 1)) {
                naive->there[a][o] = true;
                outcome[begin[a + 1]++] = o;
            }
        }
    }
    struct tr_rows *rows;
    trellis_error error = {0};
    assert_int_equal(tr_rows_create(outcomes, attributes, dense, begin, outcome, &rows, &error),
                     TRELLIS_OK);
    return rows;
}

static size_t naive_pairs(const struct naive *naive, uint32_t from)
{
    size_t count = 0;
    for (uint32_t a = from; a < naive->attributes; a++) {
        for (uint32_t o = 0; o < naive->outcomes; o++) {
            count += naive->there[a][o];
        }
    }
    return count;
}

/* Every pair has its own index; nothing else has one. */
static void check_places(const struct tr_rows *rows, const struct naive *naive)
{
    assert_int_equal(tr_rows_pairs(rows), naive_pairs(naive, 0));
    assert_int_equal(rows->size,
                     (size_t)rows->dense * naive->width + naive_pairs(naive, rows->dense));
    char *taken = tr_alloc(rows->size, 1);
    for (uint32_t a = 0; a < naive->attributes; a++) {
        for (uint32_t o = 0; o < naive->outcomes; o++) {
            size_t at = tr_rows_find(rows, a, o);
            assert_true((at != SIZE_MAX) == naive->there[a][o]);
            if (at != SIZE_MAX) {
                assert_true(at < rows->size);
                assert_int_equal(taken[at]++, 0);
            }
        }
        const uint32_t beyond[] = {naive->outcomes, naive->width, naive->width + 64, UINT32_MAX};
        for (size_t i = 0; i < TR_COUNT(beyond); i++) {
            assert_true(tr_rows_find(rows, a, beyond[i]) == SIZE_MAX);
        }
    }
    free(taken);
}

/* Spreading in two steps gives the same, and counts: the features come in slices that cut rows. */
static void check_round(const struct tr_rows *rows, const double *features, const float *weights)
{
    size_t size = tr_rows_pairs(rows), middle = size / 3, active;
    float *values = tr_alloc(size, sizeof *values);
    float *placed = tr_alloc_aligned(rows->size, sizeof *placed);
    active = tr_rows_round(rows, features, 0, middle, values);
    active += tr_rows_round(rows, features + middle, middle, size, values + middle);
    tr_rows_place(rows, values, 0, rows->attributes / 2, placed);
    tr_rows_place(rows, values, rows->attributes / 2, rows->attributes, placed);
    assert_true(rows->size == 0 || memcmp(placed, weights, rows->size * sizeof *placed) == 0);
    assert_int_equal(active, tr_rows_active(rows, weights, 0, rows->attributes));
    free(values);
    free(placed);
}

/* Spreads random features; the table gets the same ones. */
static float *spread(struct tr_random *random, const struct tr_rows *rows, struct naive *naive)
{
    double *features = tr_alloc(tr_rows_pairs(rows), sizeof *features);
    float *weights = tr_alloc_aligned(rows->size, sizeof *weights);
    size_t i = 0;
    for (uint32_t a = 0; a < naive->attributes; a++) {
        for (uint32_t o = 0; o < naive->outcomes; o++) {
            if (naive->there[a][o]) {
                naive->weight[a][o] = features[i++] = half_number(random);
            }
        }
    }
    for (uint32_t a = 0; a < rows->attributes; a++) {
        tr_rows_spread(rows, features, a, a + 1, weights);
    }
    check_round(rows, features, weights);
    free(features);
    return weights;
}

static void check_weights(const struct tr_rows *rows, const struct naive *naive,
                          const float *weights)
{
    double sum = 0, expected = 0;
    for (uint32_t a = 0; a < naive->attributes; a++) {
        for (uint32_t o = 0; o < naive->outcomes; o++) {
            if (naive->there[a][o]) {
                assert_true((double)weights[tr_rows_find(rows, a, o)] == naive->weight[a][o]);
                expected += naive->weight[a][o] * naive->weight[a][o];
            }
        }
    }
    for (size_t i = 0; i < rows->size; i++) {
        sum += (double)weights[i] * (double)weights[i];
    }
    assert_true(sum == expected); // so all else is 0
}

/* The weights of some attributes are taken; marks may cover others, whose weights are then taken
 * too. */
static void check_marks(struct tr_random *random, const struct tr_rows *rows, const float *weights)
{
    size_t words = tr_rows_mark_words(rows), pairs = tr_rows_pairs(rows);
    uint64_t *marks = tr_alloc(words, sizeof *marks);
    float *left = tr_alloc_aligned(rows->size, sizeof *left);
    double *taken = tr_alloc(pairs, sizeof *taken), *all = tr_alloc(pairs, sizeof *all);
    memcpy(left, weights, rows->size * sizeof *left);
    tr_rows_gather(rows, weights, all);
    for (uint32_t k = 0; rows->attributes && k < 3; k++) {
        uint32_t a = (uint32_t)tr_random_below(random, rows->attributes);
        tr_rows_mark(rows, &a, 1, marks);
        tr_rows_take_marked(rows, marks, left, 0, taken);
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            assert_true(taken[i] == all[i]);
            assert_true(left[tr_rows_find(rows, a, rows->outcome[i])] == 0);
        }
    }
    tr_rows_gather(rows, left, taken); // what was not taken is still there
    assert_memory_equal(taken, all, pairs * sizeof *all);
    free(marks);
    free(left);
    free(taken);
    free(all);
}

/* The attributes of a token, with repeats. */
struct token {
    uint32_t attribute[10];
    float value[10];
    size_t count;
};

static struct token draw_token(struct tr_random *random, const struct naive *naive)
{
    struct token token = {.count = tr_random_below(random, 11)};
    for (size_t k = 0; k < token.count; k++) {
        token.attribute[k] = (uint32_t)tr_random_below(random, naive->attributes);
        token.value[k] = (float)half_number(random);
    }
    for (size_t i = 1; i < token.count; i++) { // dense attributes come first
        for (size_t k = i; k > 0 && token.attribute[k] < token.attribute[k - 1]; k--) {
            uint32_t attribute = token.attribute[k];
            token.attribute[k] = token.attribute[k - 1];
            token.attribute[k - 1] = attribute;
        }
    }
    return token;
}

/* Kernels that this processor can run, any of them. */
static const struct tr_row_kernels *draw_kernels(struct tr_random *random)
{
    size_t count = 0;
    while (tr_kernels_at(count)) {
        count++;
    }
    return tr_row_kernels_like(tr_kernels_at(tr_random_below(random, count)));
}

/* A token after one without attributes; last, or before another without attributes, as the kernels
 * look ahead. */
static struct tr_tokens tokens_of(const struct token *token, bool valued, bool last,
                                  uint32_t begin[4])
{
    begin[0] = begin[1] = 0;
    begin[2] = begin[3] = (uint32_t)token->count;
    return (struct tr_tokens){begin, token->attribute, valued ? token->value : NULL, last ? 2 : 3};
}

static void check_score(struct tr_random *random, const struct tr_rows *rows,
                        const struct naive *naive, const float *weights)
{
    struct token token = draw_token(random, naive);
    bool valued = tr_random_below(random, 2);
    float *all_scores = tr_alloc_aligned(3 * naive->width, sizeof *all_scores);
    float *scores = all_scores + naive->width;
    double expected[MAX_OUTCOMES];
    for (uint32_t o = 0; o < naive->outcomes; o++) {
        scores[o] = (float)o; // scores are added to
        expected[o] = o;
        for (size_t k = 0; k < token.count; k++) {
            expected[o] += naive->weight[token.attribute[k]][o] *
                           (valued ? (double)token.value[k] : 1);
        }
    }
    uint32_t begin[4];
    struct tr_tokens tokens = tokens_of(&token, valued, tr_random_below(random, 2), begin);
    draw_kernels(random)->score(rows, weights, &tokens, all_scores, naive->width);
    for (uint32_t o = 0; o < naive->outcomes; o++) {
        assert_true((double)scores[o] == expected[o]);
    }
    for (uint32_t o = naive->outcomes; o < naive->width; o++) {
        assert_true(scores[o] == 0);
    }
    for (uint32_t o = 0; o < naive->width; o++) {
        assert_true(all_scores[o] == 0 && all_scores[2 * naive->width + o] == 0);
    }
    free(all_scores);
}

/* Collects into the weights and into the table; amounts beyond the outcomes must not matter. */
static void collect(struct tr_random *random, const struct tr_rows *rows, struct naive *naive,
                    float *weights)
{
    struct token token = draw_token(random, naive);
    bool valued = tr_random_below(random, 2);
    float *all_amounts = tr_alloc_aligned(3 * naive->width, sizeof *all_amounts);
    float *amounts = all_amounts + naive->width;
    for (uint32_t o = 0; o < 3 * naive->width; o++) {
        all_amounts[o] = (float)half_number(random);
    }
    uint32_t begin[4];
    struct tr_tokens tokens = tokens_of(&token, valued, tr_random_below(random, 2), begin);
    draw_kernels(random)->collect(rows, weights, &tokens, all_amounts, naive->width);
    for (size_t k = 0; k < token.count; k++) {
        uint32_t a = token.attribute[k];
        for (uint32_t o = 0; o < naive->outcomes; o++) {
            if (naive->there[a][o]) {
                naive->weight[a][o] += (valued ? (double)token.value[k] : 1) * (double)amounts[o];
            }
        }
    }
    free(all_amounts);
}

/* Moves the weights of some attributes and of the table; entries that are not pairs must stay 0. */
static void move(struct tr_random *random, const struct tr_rows *rows, struct naive *naive,
                 float *weights)
{
    struct token token = draw_token(random, naive);
    bool valued = tr_random_below(random, 2), averaged = tr_random_below(random, 2);
    float *room = tr_alloc(3 * (size_t)naive->width + 1, sizeof *room);
    float *all_amounts = room + 1; // not aligned
    float *average = tr_alloc_aligned(rows->size, sizeof *average);
    for (uint32_t o = 0; o < 3 * naive->width; o++) {
        all_amounts[o] = (float)half_number(random);
    }
    uint32_t begin[4];
    struct tr_tokens tokens = tokens_of(&token, valued, tr_random_below(random, 2), begin);
    uint32_t from = (uint32_t)tr_random_below(random, naive->attributes + 1);
    uint32_t end = from + (uint32_t)tr_random_below(random, naive->attributes - from + 1);
    uint32_t ranges[3][2];
    for (size_t i = 0; i < tokens.n; i++) {
        for (size_t k = 0; k < 2; k++) {
            ranges[i][k] = begin[i];
            while (ranges[i][k] < begin[i + 1] &&
                   tokens.attribute[ranges[i][k]] < (k ? end : from)) {
                ranges[i][k]++;
            }
        }
    }
    struct tr_move move = {.weights = weights,
                           .average = averaged ? average : NULL,
                           .rate = 0.5f,
                           .fraction = 2,
                           .from = ranges[0],
                           .end = ranges[0] + 1,
                           .stride = 2};
    draw_kernels(random)->move(rows, &move, &tokens, all_amounts, naive->width);
    for (size_t k = 0; k < token.count; k++) {
        uint32_t a = token.attribute[k];
        for (uint32_t o = 0; o < naive->outcomes && a >= from && a < end; o++) {
            double d = 0.5 * (valued ? (double)token.value[k] : 1) *
                       (double)all_amounts[naive->width + o];
            if (naive->there[a][o]) {
                naive->weight[a][o] += d;
                average[tr_rows_find(rows, a, o)] += averaged ? (float)(2 * d) : 0;
            }
        }
    }
    for (size_t i = 0; i < rows->size; i++) {
        assert_true(average[i] == 0);
    }
    free(room);
    free(average);
}

enum { BUNDLES = 5, PER_TOKEN = 9 };

/* Three tokens, the first and perhaps the last without anything, of bundles, dense rows and pairs. */
struct bundled {
    uint32_t begin[4], row[PER_TOKEN], outcome[PER_TOKEN];
    uint32_t listed[PER_TOKEN + TR_ROWS_AHEAD], pair[PER_TOKEN + TR_PAIRS_AHEAD];
    uint16_t listed_outcome[PER_TOKEN];
    struct tr_bundled_tokens tokens;
};

static void draw_bundled(struct tr_random *random, const struct tr_rows *rows, struct bundled *x)
{
    memset(x, 0, sizeof *x);
    size_t first = TR_LISTED_TOKENS - 3 + tr_random_below(random, 4);
    x->begin[2] = (uint32_t)tr_random_below(random, PER_TOKEN + 1);
    x->begin[3] = (uint32_t)(tr_random_below(random, 2) ? PER_TOKEN : x->begin[2]);
    for (size_t k = 0; k < PER_TOKEN; k++) {
        size_t token = first + (k < x->begin[2] ? 1 : 2);
        x->row[k] = (uint32_t)tr_random_below(random, BUNDLES + rows->dense);
        x->pair[k] = (uint32_t)tr_random_below(random, rows->size);
        x->outcome[k] = (uint32_t)tr_random_below(random, rows->outcomes);
        x->listed[k] = tr_listed_row(token, x->row[k]);
        x->listed_outcome[k] = tr_listed_outcome(token, x->outcome[k]);
    }
    x->tokens = (struct tr_bundled_tokens){.row_begin = x->begin,
                                           .row = x->listed,
                                           .pair_begin = x->begin,
                                           .pair = x->pair,
                                           .outcome = x->listed_outcome,
                                           .n = tr_random_below(random, 4),
                                           .first = first,
                                           .bundles = BUNDLES,
                                           .width = rows->width};
}

static float *draw_floats(struct tr_random *random, size_t count)
{
    float *numbers = tr_alloc_aligned(count, sizeof *numbers);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = (float)half_number(random);
    }
    return numbers;
}

static void check_score_bundled(struct tr_random *random, const struct tr_rows *rows,
                                const float *weights)
{
    struct bundled x;
    draw_bundled(random, rows, &x);
    size_t width = rows->width;
    float *sums = draw_floats(random, BUNDLES * width), *scores = draw_floats(random, 3 * width);
    float *wanted = tr_alloc(3 * width, sizeof *wanted);
    memcpy(wanted, scores, 3 * width * sizeof *wanted);
    for (size_t i = 0; i < x.tokens.n; i++) {
        for (uint32_t k = x.begin[i]; k < x.begin[i + 1]; k++) {
            const float *row = x.row[k] < BUNDLES ? sums + x.row[k] * width
                                                  : weights + (x.row[k] - BUNDLES) * width;
            for (size_t j = 0; j < width; j++) {
                wanted[i * width + j] += row[j];
            }
            wanted[i * width + x.outcome[k]] += weights[x.pair[k]];
        }
    }
    draw_kernels(random)->score_bundled(&x.tokens, sums, weights, scores, width);
    assert_memory_equal(scores, wanted, 3 * width * sizeof *scores);
    free(sums);
    free(scores);
    free(wanted);
}

static void check_collect_bundled(struct tr_random *random, const struct tr_rows *rows)
{
    struct bundled x;
    draw_bundled(random, rows, &x);
    size_t width = rows->width, size = BUNDLES * width;
    float *sums = draw_floats(random, size), *weights = draw_floats(random, rows->size);
    float *amounts = draw_floats(random, 3 * width);
    float *wanted = tr_alloc(size + rows->size, sizeof *wanted);
    memcpy(wanted, sums, size * sizeof *wanted);
    memcpy(wanted + size, weights, rows->size * sizeof *wanted);
    for (size_t i = 0; i < x.tokens.n; i++) {
        for (uint32_t k = x.begin[i]; k < x.begin[i + 1]; k++) {
            for (size_t j = 0; j < width; j++) {
                wanted[x.row[k] * width + j] += amounts[i * width + j];
            }
            wanted[size + x.pair[k]] += amounts[i * width + x.outcome[k]];
        }
    }
    draw_kernels(random)->collect_bundled(&x.tokens, sums, weights, amounts, width);
    assert_memory_equal(sums, wanted, size * sizeof *wanted);
    assert_memory_equal(weights, wanted + size, rows->size * sizeof *wanted);
    free(sums);
    free(weights);
    free(amounts);
    free(wanted);
}

static void check_gather(const struct tr_rows *rows, const struct naive *naive,
                         const float *weights)
{
    double *features = tr_alloc(tr_rows_pairs(rows), sizeof *features);
    for (size_t i = 0; i < tr_rows_pairs(rows); i++) {
        features[i] = 1000; // gathering adds
    }
    tr_rows_gather(rows, weights, features);
    size_t i = 0;
    for (uint32_t a = 0; a < naive->attributes; a++) {
        for (uint32_t o = 0; o < naive->outcomes; o++) {
            if (naive->there[a][o]) {
                assert_true(features[i++] == 1000 + naive->weight[a][o]);
            }
        }
    }
    assert_int_equal(i, tr_rows_pairs(rows));
    free(features);
}

/* Collecting fills the entries of dense rows that are no features; nothing reads them. */
static void empty_gaps(const struct tr_rows *rows, const struct naive *naive, float *weights)
{
    for (uint32_t a = 0; a < rows->dense; a++) {
        for (uint32_t o = 0; o < rows->width; o++) {
            if (o >= naive->outcomes || !naive->there[a][o]) {
                weights[(size_t)a * rows->width + o] = 0;
            }
        }
    }
}

static void check_all(struct tr_random *random, uint32_t outcomes, uint32_t attributes,
                      uint32_t dense)
{
    static struct naive naive;
    struct tr_rows *rows = draw(random, outcomes, attributes, dense, &naive);
    check_places(rows, &naive);
    float *weights = spread(random, rows, &naive);
    check_weights(rows, &naive, weights);
    check_marks(random, rows, weights);
    for (size_t i = 0; attributes && i < TOKENS; i++) {
        check_score(random, rows, &naive, weights);
    }
    for (size_t i = 0; attributes && i < TOKENS; i++) {
        collect(random, rows, &naive, weights);
    }
    check_gather(rows, &naive, weights); // also with the gaps filled
    for (size_t i = 0; rows->size && i < TOKENS; i++) {
        check_score_bundled(random, rows, weights);
        check_collect_bundled(random, rows);
    }
    empty_gaps(rows, &naive, weights);
    for (int times = 0; times < 20; times++) {
        move(random, rows, &naive, weights);
    }
    check_weights(rows, &naive, weights);
    free(weights);
    tr_rows_destroy(rows);
}

static void matches_a_plain_table(void **state)
{
    (void)state;
    static const uint32_t outcomes[] = {1, 2, 5, 8, 9, 22, 31, 63, 64, 65, 128, 129, MAX_OUTCOMES};
    struct tr_random random;
    tr_random_seed(&random, 13);
    for (size_t i = 0; i < TR_COUNT(outcomes); i++) {
        for (uint32_t attributes = 0; attributes <= MAX_ATTRIBUTES; attributes += 8) {
            check_all(&random, outcomes[i], attributes, 0);
            check_all(&random, outcomes[i], attributes, attributes / 3);
            check_all(&random, outcomes[i], attributes, attributes);
        }
    }
}

static void rounds_rows_up(void **state)
{
    (void)state;
    assert_int_equal(tr_row_width(0), 0);
    assert_int_equal(tr_row_width(1), 8);
    assert_int_equal(tr_row_width(8), 8);
    assert_int_equal(tr_row_width(9), 16);
    assert_int_equal(tr_row_width(60000), 60000);
    assert_int_equal(tr_row_width(60001), 60008);
}

/* Dense pays from as many pairs as a row has vectors, and never for fewer than four. */
static void knows_when_dense_pays(void **state)
{
    (void)state;
    assert_false(tr_rows_worth_dense(5, 3));
    assert_true(tr_rows_worth_dense(5, 4));
    assert_true(tr_rows_worth_dense(5, 5));
    assert_false(tr_rows_worth_dense(2, 2));
    assert_false(tr_rows_worth_dense(1000, 100));
    assert_true(tr_rows_worth_dense(1000, 200));
    for (uint32_t outcomes = 1; outcomes < 3000; outcomes += 17) {
        bool before = false;
        for (size_t pairs = 0; pairs <= outcomes; pairs++) {
            bool now = tr_rows_worth_dense(outcomes, pairs);
            assert_true(now || !before);
            before = now;
        }
        assert_true(before || outcomes < 4); // all outcomes
    }
}

static void destroys_null(void **state)
{
    (void)state;
    tr_rows_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_a_plain_table),
        cmocka_unit_test(rounds_rows_up),
        cmocka_unit_test(knows_when_dense_pays),
        cmocka_unit_test(destroys_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
