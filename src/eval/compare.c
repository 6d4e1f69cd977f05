/* compare.c - significance tests for the difference between two systems.
 *
 * If the two are equally good, it does not matter which of them labelled a sequence. The
 * randomisation test (Noreen 1989; Yeh 2000 for F1) exchanges their labellings of each sequence
 * with probability 1/2 and counts how often the figures then differ at least as much as observed:
 *
 *     p = (1 + number of exchanges that differ as much) / (1 + exchanges)
 *
 * Where few sequences were labelled differently all 2^n exchanges are tried instead, and p is
 * exact. Tokens are compared by McNemar's test as well: of the tokens that only one of the two
 * labels correctly, each should have half.
 */
#include <math.h>

#include "base/random.h"
#include "base/structs.h"
#include "eval/resample.h"

enum { DEFAULT_SAMPLES = 1000 };

/* Allows for rounding when an exchange differs as much as what was observed. */
#define TOLERANCE 1e-12

static trellis_status check_gold(const trellis_evaluation *first, const trellis_evaluation *second,
                                 trellis_error *error)
{
    size_t a = first->outcomes.size, b = second->outcomes.size;
    for (size_t i = 0; i < a && i < b; i++) {
        if (first->outcomes.at[i].gold_key != second->outcomes.at[i].gold_key) {
            return tr_fail(error, TRELLIS_DATA,
                           "the two cannot be compared: sequence %zu has different gold labels "
                           "in the two",
                           i + 1);
        }
    }
    return a == b ? TRELLIS_OK
                  : tr_fail(error, TRELLIS_DATA,
                            "the two cannot be compared: one has %llu sequence%s, the other %zu",
                            TR_COUNTED(a), b);
}

/* ---- the randomisation test ------------------------------------------------------------------ */

/* The difference of each measure, second minus first. */
static void differences(const struct tr_totals *first, const struct tr_totals *second,
                        double ret[TR_MEASURES])
{
    for (int m = 0; m < TR_MEASURES; m++) {
        ret[m] = tr_totals_measure(second, (trellis_measure)m) -
                 tr_totals_measure(first, (trellis_measure)m);
    }
}

/* The sequences that the two did not label equally well, and the counts of all others. */
struct duel {
    struct tr_totals others;
    size_t count;
    const struct tr_outcome **first, **second; // [count]
    const double *observed;                    // differences [TR_MEASURES]
};

static bool same_outcome(const struct tr_outcome *a, const struct tr_outcome *b)
{
    return a->tokens_correct == b->tokens_correct && a->spans_predicted == b->spans_predicted &&
           a->spans_correct == b->spans_correct;
}

static bool duel_create(struct duel *duel, const trellis_evaluation *first,
                        const trellis_evaluation *second)
{
    size_t sequences = first->outcomes.size;
    duel->first = tr_alloc(sequences, sizeof(const struct tr_outcome *));
    duel->second = tr_alloc(sequences, sizeof(const struct tr_outcome *));
    for (size_t i = 0; duel->first && duel->second && i < sequences; i++) {
        const struct tr_outcome *a = &first->outcomes.at[i], *b = &second->outcomes.at[i];
        if (same_outcome(a, b)) {
            tr_totals_add(&duel->others, a);
        } else {
            duel->first[duel->count] = a;
            duel->second[duel->count++] = b;
        }
    }
    return duel->first && duel->second;
}

/* Exchanges the labellings whose bit is set, and counts the measures that differ as much. */
static void exchange(const struct duel *duel, const uint64_t *bits, uint64_t count[TR_MEASURES])
{
    struct tr_totals a = duel->others, b = duel->others;
    double exchanged[TR_MEASURES];
    for (size_t i = 0; i < duel->count; i++) {
        bool swap = bits[i / 64] >> i % 64 & 1;
        tr_totals_add(swap ? &b : &a, duel->first[i]);
        tr_totals_add(swap ? &a : &b, duel->second[i]);
    }
    differences(&a, &b, exchanged);
    for (int m = 0; m < TR_MEASURES; m++) {
        count[m] += fabs(exchanged[m]) >= fabs(duel->observed[m]) - TOLERANCE;
    }
}

static trellis_status randomise(const trellis_evaluation *first, const trellis_evaluation *second,
                                const double *observed, trellis_comparison *comparison,
                                trellis_error *error)
{
    uint64_t count[TR_MEASURES] = {0};
    struct duel duel = {.observed = observed};
    size_t words = first->outcomes.size / 64 + 1;
    uint64_t *bits = tr_alloc(words, sizeof *bits);
    trellis_status status = bits && duel_create(&duel, first, second) ? TRELLIS_OK
                                                                      : tr_fail_memory(error);
    struct tr_random random;
    tr_random_seed(&random, first->seed);
    comparison->info.exact = duel.count < 63 && (uint64_t)1 << duel.count <= first->shuffles;
    comparison->info.exchanges = comparison->info.exact ? (uint64_t)1 << duel.count
                                                        : first->shuffles;
    for (uint64_t k = 0; !status && k < comparison->info.exchanges; k++) {
        bits[0] = k;
        for (size_t w = 0; !comparison->info.exact && w <= duel.count / 64; w++) {
            bits[w] = tr_random_bits(&random);
        }
        exchange(&duel, bits, count);
    }
    uint64_t itself = comparison->info.exact ? 0 : 1; // all exchanges have it among them
    for (int m = 0; m < TR_MEASURES; m++) {
        comparison->measures[m].p = tr_ratio(count[m] + itself,
                                             comparison->info.exchanges + itself);
    }
    free(bits);
    free(duel.first);
    free(duel.second);
    return status;
}

/* ---- McNemar's test -------------------------------------------------------------------------- */

/* How often n tosses of a coin are at least as uneven: 2 sum_{k <= min(a,b)} (n over k) / 2^n. */
static double binomial_p(uint64_t a, uint64_t b)
{
    double n = (double)(a + b), sum = 0;
    uint64_t fewer = a < b ? a : b;
    double share = a + b < 1000 ? ldexp(1, -(int)(a + b)) : 0; // (n over k) / 2^n
    double log_share = -n * log(2);                            // the same where that is too small
    for (uint64_t k = 0; k <= fewer; k++) {
        double step = (n - (double)k) / ((double)k + 1);
        sum += a + b < 1000 ? share : exp(log_share);
        share *= step;
        log_share += log(step);
    }
    return fmin(1, 2 * sum);
}

static void count_discordant(const trellis_evaluation *first, const trellis_evaluation *second,
                             trellis_comparison_info *info)
{
    for (uint64_t i = 0; i < (first->tokens.gold + 7) / 8; i++) {
        unsigned a = first->correct_bits.at[i], b = second->correct_bits.at[i];
        info->only_first += (unsigned)__builtin_popcount(a & ~b);
        info->only_second += (unsigned)__builtin_popcount(b & ~a);
    }
    info->mcnemar = binomial_p(info->only_first, info->only_second);
}

static trellis_status compare(const trellis_evaluation *first, const trellis_evaluation *second,
                              trellis_comparison *comparison, trellis_error *error)
{
    double observed[TR_MEASURES];
    trellis_interval intervals[TR_MEASURES];
    struct tr_totals a = {0}, b = {0};
    for (size_t i = 0; i < first->outcomes.size; i++) {
        tr_totals_add(&a, &first->outcomes.at[i]);
        tr_totals_add(&b, &second->outcomes.at[i]);
    }
    comparison->has_spans = tr_evaluation_scores(first).has_spans;
    count_discordant(first, second, &comparison->info);
    differences(&a, &b, observed);
    trellis_status status = randomise(first, second, observed, comparison, error);
    if (!status) {
        size_t samples = first->bootstrap ? first->bootstrap : DEFAULT_SAMPLES;
        status = tr_bootstrap(first, second, samples, intervals, error);
    }
    for (int m = 0; !status && m < TR_MEASURES; m++) {
        comparison->measures[m].first = tr_totals_measure(&a, (trellis_measure)m);
        comparison->measures[m].second = tr_totals_measure(&b, (trellis_measure)m);
        comparison->measures[m].difference = intervals[m];
    }
    return status;
}

/* ---- the public functions -------------------------------------------------------------------- */

trellis_status trellis_evaluation_compare(const trellis_evaluation *first,
                                          const trellis_evaluation *second,
                                          trellis_comparison **ret_comparison, trellis_error *error)
{
    if (!TR_CLEAR(ret_comparison) || !first || !second) {
        return tr_fail_null(error, __func__);
    }
    trellis_status status = check_gold(first, second, error);
    trellis_comparison *comparison = status ? NULL : tr_alloc(1, sizeof *comparison);
    if (!status) {
        status = comparison ? compare(first, second, comparison, error) : tr_fail_memory(error);
    }
    if (status) {
        trellis_comparison_destroy(comparison);
        return status;
    }
    *ret_comparison = comparison;
    return TRELLIS_OK;
}

void trellis_comparison_destroy(trellis_comparison *comparison)
{
    free(comparison);
}

bool trellis_comparison_measure(const trellis_comparison *comparison, trellis_measure measure,
                                trellis_contrast *ret_contrast)
{
    if (!comparison || !ret_contrast) {
        return false;
    }
    unsigned measures = comparison->has_spans ? TR_MEASURES : TRELLIS_PRECISION;
    return measure < measures && tr_struct_give(&comparison->measures[measure],
                                                sizeof comparison->measures[measure], ret_contrast);
}

void trellis_comparison_describe(const trellis_comparison *comparison,
                                 trellis_comparison_info *ret_info)
{
    if (!comparison || !ret_info) {
        return;
    }
    tr_struct_give(&comparison->info, sizeof comparison->info, ret_info);
}
