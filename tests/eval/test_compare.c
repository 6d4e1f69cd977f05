/* test_compare.c - intervals and significance: against all exchanges and all samples, enumerated,
 * and against known binomial sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "evaluate.h"
#include "support/near.h"

static trellis_options *options_with(const char *name, const char *value)
{
    trellis_options *options;
    assert_int_equal(trellis_options_create(&options, NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, name, value, NULL), TRELLIS_OK);
    return options;
}

enum { MEASURES = TRELLIS_F1 + 1 };

static trellis_comparison *compare_texts(const char *gold, const char *first, const char *second,
                                         const char *shuffles)
{
    trellis_options *options = options_with("shuffles", shuffles);
    trellis_evaluation *a = evaluate_with(options, gold, first);
    trellis_evaluation *b = evaluate_with(options, gold, second);
    trellis_comparison *comparison;
    assert_int_equal(trellis_evaluation_compare(a, b, &comparison, NULL), TRELLIS_OK);
    trellis_evaluation_destroy(a);
    trellis_evaluation_destroy(b);
    trellis_options_destroy(options);
    return comparison;
}

/* All that a comparison tells. */
struct compared {
    bool has_spans;
    trellis_contrast measures[MEASURES];
    trellis_comparison_info info;
};

static struct compared compare(const char *gold, const char *first, const char *second,
                               const char *shuffles)
{
    struct compared all = {.info = {.struct_size = sizeof all.info}};
    trellis_comparison *comparison = compare_texts(gold, first, second, shuffles);
    for (int m = 0; m < MEASURES; m++) {
        all.measures[m].struct_size = sizeof all.measures[m];
        all.has_spans = trellis_comparison_measure(comparison, (trellis_measure)m,
                                                   &all.measures[m]);
        assert_true(all.has_spans || m >= TRELLIS_PRECISION);
    }
    assert_null(trellis_measure_name((trellis_measure)MEASURES));
    assert_false(
        trellis_comparison_measure(comparison, (trellis_measure)MEASURES, &all.measures[0]));
    trellis_comparison_describe(comparison, &all.info);
    trellis_comparison_destroy(comparison);
    return all;
}

/* Cuts "a|b|c" into its parts. */
static size_t cut(const char *text, char parts[][64])
{
    size_t count = 0;
    for (const char *at = text; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        size_t n = strcspn(at, "|");
        memcpy(parts[count], at, n);
        parts[count++][n] = '\0';
    }
    return count;
}

static double measure(const char *gold, const char *predicted, trellis_measure measure)
{
    trellis_evaluation *e = evaluate(gold, predicted);
    trellis_scores scores = {.struct_size = sizeof scores};
    trellis_evaluation_scores(e, &scores);
    trellis_evaluation_destroy(e);
    switch (measure) {
    case TRELLIS_ACCURACY:
        return scores.accuracy;
    case TRELLIS_SEQUENCE_ACCURACY:
        return (double)scores.sequences_correct / (double)scores.sequences;
    case TRELLIS_PRECISION:
        return scores.precision;
    case TRELLIS_RECALL:
        return scores.recall;
    default:
        return scores.f1;
    }
}

/* Evaluates each of the 2^n exchanges anew, from their texts. */
static double brute_p(const char *gold, const char *first, const char *second, trellis_measure m)
{
    char a[16][64], b[16][64];
    size_t n = cut(first, a), as_large = 0;
    assert_int_equal(cut(second, b), n);
    double observed = fabs(measure(gold, second, m) - measure(gold, first, m));
    for (size_t mask = 0; mask < (size_t)1 << n; mask++) {
        char one[1024] = "", other[1024] = "";
        for (size_t i = 0; i < n; i++) {
            bool swap = mask >> i & 1;
            strcat(strcat(one, i ? "|" : ""), swap ? b[i] : a[i]);
            strcat(strcat(other, i ? "|" : ""), swap ? a[i] : b[i]);
        }
        as_large += fabs(measure(gold, other, m) - measure(gold, one, m)) >= observed - 1e-12;
    }
    return (double)as_large / (double)((size_t)1 << n);
}

/* Seven sequences, on one of which both do the same. */
static const char *const gold = "B-A I-A O|B-B O|O B-A|B-A B-B|O O O|B-B I-B I-B|B-A O";
static const char *const poor = "B-A O O|B-A O|O O|B-A B-B|O B-A O|B-B O B-B|O O";
static const char *const good = "B-A I-A O|B-B O|O B-B|B-A B-B|O O O|B-B I-B O|B-A O";

static void all_exchanges_are_tried_where_there_are_few(void **state)
{
    (void)state;
    struct compared comparison = compare(gold, poor, good, "10000");
    assert_true(comparison.info.exact);
    assert_true(comparison.has_spans);
    assert_int_equal(comparison.info.exchanges,
                     64); // the sequence in which both agree is not exchanged
    for (int m = 0; m < MEASURES; m++) {
        const trellis_contrast *contrast = &comparison.measures[m];
        assert_near(contrast->first, measure(gold, poor, (trellis_measure)m), 1e-12);
        assert_near(contrast->second, measure(gold, good, (trellis_measure)m), 1e-12);
        assert_near(contrast->p, brute_p(gold, poor, good, (trellis_measure)m), 1e-12);
        assert_true(contrast->difference.low <= contrast->second - contrast->first);
        assert_true(contrast->difference.high >= contrast->second - contrast->first);
    }
}

/* With fewer shuffles than there are exchanges they are drawn: near the exact p. */
static void sampled_exchanges_approximate(void **state)
{
    (void)state;
    trellis_options *options = options_with("shuffles", "60");
    struct compared few = compare(gold, poor, good, "60");
    assert_false(few.info.exact);
    assert_int_equal(few.info.exchanges, 60);
    trellis_options_destroy(options);
    /* The same seven sequences three times: 2^18 exchanges, of which 100000 are drawn. */
    char long_gold[1024], long_poor[1024], long_good[1024];
    snprintf(long_gold, sizeof long_gold, "%s|%s|%s", gold, gold, gold);
    snprintf(long_poor, sizeof long_poor, "%s|%s|%s", poor, poor, poor);
    snprintf(long_good, sizeof long_good, "%s|%s|%s", good, good, good);
    struct compared drawn = compare(long_gold, long_poor, long_good, "100000");
    struct compared exact = compare(long_gold, long_poor, long_good, "1000000");
    assert_false(drawn.info.exact);
    assert_true(exact.info.exact);
    for (int m = 0; m < MEASURES; m++) {
        double p = exact.measures[m].p, spread = sqrt(p * (1 - p) / 100000);
        assert_true(fabs(drawn.measures[m].p - p) < 5 * spread + 2e-5);
    }
}

/* Tokens: the second has 5 correct that the first has not, and 0 the other way: p = 2 / 2^5. Then 3
 * and 1: p = 2 (1 + 4) / 2^4. */
static void mcnemar_counts_tokens(void **state)
{
    (void)state;
    struct compared c = compare("A A A A A A A A A A", "A A A A A B B B B B", "A A A A A A A A A A",
                                "10");
    assert_int_equal(c.info.only_first, 0);
    assert_int_equal(c.info.only_second, 5);
    assert_false(c.has_spans);
    assert_near(c.info.mcnemar, 2.0 / 32, 1e-12);
    c = compare("A A A A|A A", "B B B A|A B", "A A A B|A B", "10");
    assert_int_equal(c.info.only_first, 1);
    assert_int_equal(c.info.only_second, 3);
    assert_near(c.info.mcnemar, 2 * (1 + 4) / 16.0, 1e-12);
    c = compare("A", "A", "A", "10");
    assert_near(c.info.mcnemar, 1, 0);
    assert_near(c.measures[TRELLIS_ACCURACY].p, 1, 0);
}

static void other_gold_labels_are_refused(void **state)
{
    (void)state;
    trellis_evaluation *a = evaluate("A B|A", "A B|A"), *b = evaluate("A B|B", "A B|A");
    trellis_evaluation *c = evaluate("A B", "A B");
    trellis_comparison *comparison;
    trellis_error error = {0};
    assert_int_equal(trellis_evaluation_compare(a, b, &comparison, &error), TRELLIS_DATA);
    assert_null(comparison);
    assert_string_equal(error.message, "the two cannot be compared: sequence 2 has different gold "
                                       "labels in the two");
    assert_int_equal(trellis_evaluation_compare(a, c, &comparison, &error), TRELLIS_DATA);
    assert_null(comparison);
    assert_string_equal(error.message,
                        "the two cannot be compared: one has 2 sequences, the other 1");
    trellis_evaluation_destroy(a);
    trellis_evaluation_destroy(b);
    trellis_evaluation_destroy(c);
}

/* One token a sequence, 30 of 40 correct: the number correct in a sample is binomial with n = 40, p
 * = 3/4. Its 2.5th and 97.5th percentiles are the smallest k with P(X <= k) of at least that. */
static void intervals_are_those_of_the_binomial(void **state)
{
    (void)state;
    char correct[200] = "", predicted[200] = "";
    for (int i = 0; i < 40; i++) {
        strcat(correct, i ? "|A" : "A");
        strcat(predicted, i == 0 ? "A" : i < 30 ? "|A" : "|B");
    }
    trellis_options *options = options_with("bootstrap", "20000");
    trellis_evaluation *e = evaluate_with(options, correct, predicted);
    trellis_interval intervals[MEASURES];
    assert_int_equal(trellis_evaluation_intervals(e, intervals, MEASURES, NULL), TRELLIS_OK);
    double sum = 0, choose = pow(0.25, 40);
    int low = -1, high = -1;
    for (int k = 0; k <= 40; k++) {
        sum += choose;
        choose *= 3.0 * (40 - k) / (k + 1);
        low = low < 0 && sum >= 0.025 ? k : low;
        high = high < 0 && sum >= 0.975 ? k : high;
    }
    assert_near(intervals[TRELLIS_ACCURACY].low, low / 40.0, 1e-9);
    assert_near(intervals[TRELLIS_ACCURACY].high, high / 40.0, 1e-9);
    trellis_interval again[MEASURES + 1];
    assert_int_equal(trellis_evaluation_intervals(e, again, MEASURES + 1, NULL), TRELLIS_OK);
    assert_memory_equal(intervals, again, sizeof intervals); // the seed decides
    assert_true(isnan(again[MEASURES].low) && isnan(again[MEASURES].high));
    again[1] = (trellis_interval){-1, -1};
    assert_int_equal(trellis_evaluation_intervals(e, again, 1, NULL), TRELLIS_OK);
    assert_near(again[1].low, -1, 0); // only as many as asked for
    trellis_evaluation_destroy(e);
    trellis_options_destroy(options);
    e = evaluate("A", "A");
    assert_int_equal(trellis_evaluation_intervals(e, intervals, MEASURES, NULL), TRELLIS_OK);
    assert_true(isnan(intervals[0].low));
    assert_int_equal(trellis_evaluation_intervals(e, NULL, 0, NULL), TRELLIS_OK);
    assert_int_equal(trellis_evaluation_intervals(e, NULL, 1, NULL), TRELLIS_OPTION);
    trellis_evaluation_destroy(e);
}

/* Of one sample both ends are its value. Of two they lie a fortieth of the way from one to the
 * other; with four sequences of a token both values are multiples of a quarter. */
static void percentiles_are_interpolated(void **state)
{
    (void)state;
    trellis_interval intervals[MEASURES];
    trellis_options *options = options_with("bootstrap", "1");
    trellis_evaluation *e = evaluate_with(options, "B-X|O|B-X", "B-X|B-X|O");
    assert_int_equal(trellis_evaluation_intervals(e, intervals, MEASURES, NULL), TRELLIS_OK);
    for (int m = 0; m < MEASURES; m++) {
        assert_near(intervals[m].low, intervals[m].high, 0);
    }
    trellis_evaluation_destroy(e);
    int apart = 0;
    for (char seed[] = "0"; seed[0] <= '9'; seed[0]++) {
        assert_int_equal(trellis_options_set(options, "bootstrap", "2", NULL), TRELLIS_OK);
        assert_int_equal(trellis_options_set(options, "seed", seed, NULL), TRELLIS_OK);
        e = evaluate_with(options, "A|A|A|A", "A|B|A|B");
        assert_int_equal(trellis_evaluation_intervals(e, intervals, MEASURES, NULL), TRELLIS_OK);
        double low = intervals[TRELLIS_ACCURACY].low, high = intervals[TRELLIS_ACCURACY].high;
        double width = (high - low) / 0.95, first = low - 0.025 * width;
        assert_true(fabs(4 * width - round(4 * width)) < 1e-9);
        assert_true(fabs(4 * first - round(4 * first)) < 1e-9);
        apart += width > 0.1;
        trellis_evaluation_destroy(e);
    }
    assert_true(apart > 0);
    trellis_options_destroy(options);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The definition: on the polygon through (0, smallest), (1, next), ..., (n - 1, largest) the height
 * at share * (n - 1), as a mean of all corners with weights that are 0 from a distance of 1 on. */
static double percentile_of(const double *sorted, int n, double share)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += fmax(0, 1 - fabs(i - share * (n - 1))) * sorted[i];
    }
    return sum;
}

/* Samples of seven sequences, each evaluated from its text; 1, 2, 10 and 31 of them. */
static void intervals_are_percentiles_of_resampled_texts(void **state)
{
    (void)state;
    enum { MAX_SAMPLES = 31 };
    static const int counts[] = {1, 2, 10, MAX_SAMPLES};
    char correct[16][64], predicted[16][64], number[8];
    size_t n = cut(gold, correct);
    assert_int_equal(cut(poor, predicted), n);
    for (size_t c = 0; c < TR_COUNT(counts); c++) {
        double values[MEASURES][MAX_SAMPLES];
        struct tr_random random;
        tr_random_seed(&random, 5);
        for (int k = 0; k < counts[c]; k++) {
            char one[1024] = "", other[1024] = "";
            for (size_t i = 0; i < n; i++) {
                size_t drawn = tr_random_below(&random, n);
                strcat(strcat(one, i ? "|" : ""), correct[drawn]);
                strcat(strcat(other, i ? "|" : ""), predicted[drawn]);
            }
            for (int m = 0; m < MEASURES; m++) {
                values[m][k] = measure(one, other, (trellis_measure)m);
            }
        }
        trellis_interval intervals[MEASURES];
        snprintf(number, sizeof number, "%d", counts[c]);
        trellis_options *options = options_with("bootstrap", number);
        assert_int_equal(trellis_options_set(options, "seed", "5", NULL), TRELLIS_OK);
        trellis_evaluation *e = evaluate_with(options, gold, poor);
        assert_int_equal(trellis_evaluation_intervals(e, intervals, MEASURES, NULL), TRELLIS_OK);
        for (int m = 0; m < MEASURES; m++) {
            qsort(values[m], (size_t)counts[c], sizeof values[m][0], by_size);
            assert_near(intervals[m].low, percentile_of(values[m], counts[c], 0.025), 1e-9);
            assert_near(intervals[m].high, percentile_of(values[m], counts[c], 0.975), 1e-9);
        }
        trellis_evaluation_destroy(e);
        trellis_options_destroy(options);
    }
}

static void reports_contain_the_comparison(void **state)
{
    (void)state;
    struct tr_buffer out = {0};
    trellis_comparison *comparison = compare_texts(gold, poor, good, "10000");
    assert_int_equal(
        trellis_comparison_report(comparison, TRELLIS_CONLLEVAL, into_buffer, &out, NULL),
        TRELLIS_OK);
    tr_buffer_char(&out, '\0');
    assert_non_null(strstr(out.data, "p by all 64 exchanges of labellings; "));
    out.size = 0;
    assert_int_equal(trellis_comparison_report(comparison, TRELLIS_JSON, into_buffer, &out, NULL),
                     TRELLIS_OK);
    tr_buffer_char(&out, '\0');
    assert_non_null(strstr(out.data, "\"exchanges\": 64,\n  \"exact\": true,\n"));
    tr_buffer_free(&out);
    trellis_comparison_destroy(comparison);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_are_interpolated),
        cmocka_unit_test(intervals_are_percentiles_of_resampled_texts),
        cmocka_unit_test(all_exchanges_are_tried_where_there_are_few),
        cmocka_unit_test(sampled_exchanges_approximate),
        cmocka_unit_test(mcnemar_counts_tokens),
        cmocka_unit_test(other_gold_labels_are_refused),
        cmocka_unit_test(intervals_are_those_of_the_binomial),
        cmocka_unit_test(reports_contain_the_comparison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
