/* test_hmm.c - hidden Markov models by counting, against one that keeps every count in a table.
 *
 * The second one sums over all label sequences, so it also says what P(X) and P(Z | X) are.
 */
#include <math.h>

#include "base/random.h"
#include "model/test_model.h"

enum { LABELS = 3, WORDS = 5, LONGEST = 5, SENTENCES = 24, START = LABELS, END = LABELS };

struct sentence {
    size_t n;
    int words[LONGEST], labels[LONGEST];
};

struct naive {
    double alpha;
    double step[LABELS + 1][LABELS + 1], from[LABELS + 1]; // rows end with the end of a sequence
    double emit[LABELS][WORDS + 1], label[LABELS];
};

/* ---- the second HMM ------------------------------------------------------------------------------ */

static void count(struct naive *naive, const struct sentence *s)
{
    int before = START;
    for (size_t i = 0; i <= s->n; i++) {
        int next = i < s->n ? s->labels[i] : END;
        naive->step[before][next]++;
        naive->from[before]++;
        if (i < s->n) {
            naive->emit[next][s->words[i]]++;
            naive->label[next]++;
        }
        before = next;
    }
}

static double step_of(const struct naive *naive, int from, int to)
{
    double ways = from == START ? LABELS : LABELS + 1; // no sequence ends before it has begun
    return (naive->step[from][to] + naive->alpha) / (naive->from[from] + naive->alpha * ways);
}

static double emission_of(const struct naive *naive, int label, int word)
{
    return (naive->emit[label][word] + naive->alpha) /
           (naive->label[label] + naive->alpha * (WORDS + 1));
}

/* P(X, Z) */
static double joint(const struct naive *naive, const struct sentence *s, const int *labels)
{
    double p = 1;
    for (size_t i = 0; i < s->n; i++) {
        p *= step_of(naive, i ? labels[i - 1] : START, labels[i]);
        p *= emission_of(naive, labels[i], s->words[i]);
    }
    return p * step_of(naive, labels[s->n - 1], END);
}

static size_t power(size_t base, size_t exponent)
{
    return exponent ? base * power(base, exponent - 1) : 1;
}

/* P(X), the sum over all label sequences; and the most probable one. */
static double total(const struct naive *naive, const struct sentence *s, int *best)
{
    double sum = 0, most = -1;
    for (size_t code = 0; code < power(LABELS, s->n); code++) {
        int labels[LONGEST];
        size_t rest = code;
        for (size_t i = 0; i < s->n; i++, rest /= LABELS) {
            labels[i] = (int)(rest % LABELS);
        }
        double p = joint(naive, s, labels);
        sum += p;
        if (p > most) {
            most = p;
            memcpy(best, labels, s->n * sizeof *best);
        }
    }
    return sum;
}

/* ---- the same corpus for both -------------------------------------------------------------------- */

static void make_corpus(struct naive *naive, struct sentence *sentences, uint64_t seed,
                        struct tr_buffer *corpus)
{
    struct tr_random random;
    tr_random_seed(&random, seed);
    for (size_t k = 0; k < SENTENCES; k++) {
        struct sentence *s = &sentences[k];
        s->n = k ? 1 + tr_random_below(&random, LONGEST) : LONGEST;
        for (size_t i = 0; i < s->n; i++) {
            s->words[i] = k ? (int)tr_random_below(&random, WORDS) : (int)i;
            s->labels[i] = k == 0                          ? (int)i % LABELS
                           : tr_random_real(&random) < 0.6 ? s->words[i] % LABELS
                                                           : (int)tr_random_below(&random, LABELS);
            tr_buffer_format(corpus, "w%d L%d\n", s->words[i], s->labels[i]);
        }
        tr_buffer_char(corpus, '\n');
        count(naive, s);
    }
    tr_buffer_char(corpus, 0);
}

static char *words_of(const struct sentence *s)
{
    struct tr_buffer words = {0};
    for (size_t i = 0; i < s->n; i++) {
        tr_buffer_format(&words, "w%d ", s->words[i]);
    }
    tr_buffer_char(&words, 0);
    return words.data;
}

static void allow(trellis_tagger *tagger, const int *labels, size_t n)
{
    static const char *const names[] = {"L0", "L1", "L2"};
    trellis_error error = {0};
    for (size_t i = 0; i < n; i++) {
        trellis_text name = tr_text(names[labels[i]]);
        assert_ok(trellis_tagger_allow(tagger, i, &name, 1, &error), error);
    }
}

/* The score of given labels is log P(X, Z); the best labels have the largest; log Z is log P(X). */
static void compare_sentence(trellis_tagger *tagger, const struct naive *naive,
                             const struct sentence *s)
{
    int best[LONGEST];
    double score, sum = total(naive, s, best);
    char *words = words_of(s);
    allow(tagger, s->labels, s->n);
    free(tag_with(tagger, words, &score));
    assert_true(fabs(score - log(joint(naive, s, s->labels))) < 1e-4);
    free(tag_with(tagger, words, &score));
    assert_true(fabs(score - log(joint(naive, s, best))) < 1e-4);
    double given_x = trellis_tagger_nth_probability(tagger, 0);
    assert_true(fabs(given_x - joint(naive, s, best) / sum) < 1e-4);
    free(words);
}

static void compare(uint64_t seed, double alpha)
{
    struct naive naive = {.alpha = alpha};
    struct sentence sentences[SENTENCES];
    struct tr_buffer corpus = {0};
    char options[100];
    trellis_tagger *tagger;
    trellis_error error = {0};
    make_corpus(&naive, sentences, seed, &corpus);
    snprintf(options, sizeof options, "type=hmm alpha=%g", alpha);
    trellis_model *model = train_on(corpus.data, options);
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    for (size_t k = 0; k < SENTENCES; k++) {
        compare_sentence(tagger, &naive, &sentences[k]);
    }
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
    tr_buffer_free(&corpus);
}

static void test_against_naive(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        compare(seed, 0);
        compare(seed, 0.25);
        compare(seed, 1);
    }
}

/* ---- what it does not take ----------------------------------------------------------------------- */

static void assert_refused(const char *options_text, const char *expected)
{
    trellis_options *options = make_options(options_text);
    trellis_error error = {0};
    trellis_model *model;
    const char *path = put_text("corpus.txt", "a A\nb B\n\n");
    assert_true(trellis_train(options, &path, 1, NULL, NULL, &model, &error));
    assert_null(model);
    if (!strstr(error.message, expected)) {
        fail_msg("'%s' does not say '%s'", error.message, expected);
    }
    trellis_options_destroy(options);
}

static void test_refused(void **state)
{
    (void)state;
    char options[800];
    assert_refused("type=hmm features=extended", "one thing at each token");
    assert_refused("type=hmm order=0", "--order 1");
    snprintf(options, sizeof options, "type=hmm features=%s",
             put_text("edge.tpl", "columns word\nnode word\nedge word\n"));
    assert_refused(options, "'edge' templates");
    trellis_options *negative = make_options("");
    trellis_error error = {0};
    assert_int_equal(trellis_options_set(negative, "alpha", "-1", &error), TRELLIS_OPTION);
    assert_non_null(strstr(error.message, "--alpha takes a number from 0"));
    trellis_options_destroy(negative);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
