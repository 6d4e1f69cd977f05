/* test_hmm.c - hidden Markov models by counting, against one that keeps every count in a table.
 *
 * The second one sums over all label sequences, so it also says what P(X) and P(Z | X) are; and it
 * says whether what may follow a history has probability 1 in all.
 */
#include <math.h>

#include "base/random.h"
#include "model/test_model.h"

enum {
    LABELS = 3,
    WORDS = 5,
    LONGEST = 5,
    SENTENCES = 24,
    START = LABELS,
    END = LABELS,
    SIDE = LABELS + 1
};

struct sentence {
    size_t n;
    int words[LONGEST], labels[LONGEST];
};

struct naive {
    int order; // 0: order 1 with alpha added, else interpolated
    double alpha;
    double single[SIDE], pair[SIDE][SIDE], triple[SIDE][SIDE][SIDE]; // END as the last, else START
    double steps;                                                    // all in all
    double k2, k3;
    double emit[LABELS][WORDS + 1], label[LABELS];
};

/* ---- the second HMM -------------------------------------------------------------------------- */

static void count(struct naive *naive, const struct sentence *s)
{
    int older = -1, before = START;
    for (size_t i = 0; i <= s->n; i++) {
        int next = i < s->n ? s->labels[i] : END;
        naive->steps++;
        naive->single[next]++; // as often as the sequences begin they end
        naive->pair[before][next]++;
        if (older >= 0) {
            naive->triple[older][before][next]++;
        }
        if (i < s->n) {
            naive->emit[next][s->words[i]]++;
            naive->label[next]++;
        }
        older = before;
        before = next;
    }
}

/* How many of the counts are not 0. */
static double kinds_of(const double counts[SIDE])
{
    double kinds = 0;
    for (int z = 0; z < SIDE; z++) {
        kinds += counts[z] > 0;
    }
    return kinds;
}

/* Counts and k for each kind, shared out. */
static double share(const double counts[SIDE], int z, double k, double shorter)
{
    double given = k * kinds_of(counts), times = 0;
    for (int other = 0; other < SIDE; other++) {
        times += counts[other];
    }
    return times + given > 0 ? (counts[z] + given * shorter) / (times + given) : shorter;
}

static double share_of_label(const struct naive *naive, int z)
{
    return (naive->single[z] + naive->alpha) / (naive->steps + naive->alpha * (LABELS + 1));
}

/* log P of all steps, each with itself left out of all counts. */
static double log_held_out(struct naive *naive, int longest)
{
    double sum = 0;
    for (int x = 0; x < SIDE; x++) {
        for (int y = 0; y < SIDE; y++) {
            for (int z = 0; z < SIDE; z++) {
                double *three = naive->triple[x][y], *two = naive->pair[y];
                double times = longest == 3 ? three[z] : x == 0 ? two[z] : 0;
                if (times == 0) {
                    continue;
                }
                naive->steps--, naive->single[z]--, two[z]--, three[z]--;
                double p = share(two, z, naive->k2, share_of_label(naive, z));
                sum += times * log(longest == 3 ? share(three, z, naive->k3, p) : p);
                naive->steps++, naive->single[z]++, two[z]++, three[z]++;
            }
        }
    }
    return sum;
}

static void choose_k(struct naive *naive, double *k, int longest)
{
    double best = 1, largest = -INFINITY;
    for (int step = -8; step <= 12; step++) {
        *k = pow(2, step / 2.0);
        double sum = log_held_out(naive, longest);
        if (sum > largest) {
            best = *k;
            largest = sum;
        }
    }
    *k = best;
}

/* P(z | x y), x = -1 where y is the start. */
static double step_of(const struct naive *naive, int x, int y, int z)
{
    double ways = y == START ? LABELS : LABELS + 1; // no sequence ends before it has begun
    if (naive->order == 0) {
        return (naive->pair[y][z] + naive->alpha) / (naive->single[y] + naive->alpha * ways);
    }
    double two = share(naive->pair[y], z, naive->k2, share_of_label(naive, z));
    return naive->order == 2 && x >= 0 ? share(naive->triple[x][y], z, naive->k3, two) : two;
}

/* In every history, what may follow it sums to 1. */
static void check_sums(const struct naive *naive)
{
    for (int x = -1; x < SIDE; x++) {
        for (int y = 0; y < SIDE; y++) {
            double sum = 0;
            for (int z = 0; z < SIDE; z++) {
                bool ends_at_once = y == START && z == END && naive->order == 0;
                sum += ends_at_once || (y == START && x >= 0) ? 0 : step_of(naive, x, y, z);
            }
            assert_true((y == START && x >= 0) || fabs(sum - 1) < 1e-12);
        }
    }
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
    int older = -1, before = START;
    for (size_t i = 0; i < s->n; i++) {
        p *= step_of(naive, older, before, labels[i]) * emission_of(naive, labels[i], s->words[i]);
        older = before;
        before = labels[i];
    }
    return p * step_of(naive, older, before, END);
}

static size_t power(size_t base, size_t exponent)
{
    return exponent ? base * power(base, exponent - 1) : 1;
}

/* P(X), the sum over all label sequences; and the most probable one. */
static double total(const struct naive *naive, const struct sentence *s, int *best)
{
    double sum = 0, largest = -1;
    for (size_t code = 0; code < power(LABELS, s->n); code++) {
        int labels[LONGEST];
        size_t rest = code;
        for (size_t i = 0; i < s->n; i++, rest /= LABELS) {
            labels[i] = (int)(rest % LABELS);
        }
        double p = joint(naive, s, labels);
        sum += p;
        if (p > largest) {
            largest = p;
            memcpy(best, labels, s->n * sizeof *best);
        }
    }
    return sum;
}

/* ---- the same corpus for both ---------------------------------------------------------------- */

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
    assert_true(fabs(score - log(joint(naive, s, s->labels))) < 1e-9);
    free(tag_with(tagger, words, &score));
    assert_true(fabs(score - log(joint(naive, s, best))) < 1e-9);
    double given_x = trellis_tagger_nth_probability(tagger, 0), log_z;
    assert_true(fabs(given_x - joint(naive, s, best) / sum) < 1e-9);
    assert_int_equal(trellis_tagger_log_z(tagger, &log_z, NULL), TRELLIS_OK);
    assert_true(fabs(log_z - log(sum)) < 1e-9);
    free(words);
}

/* The model against the second HMM, on every sentence of the corpus and on some that it has not. */
static void compare(uint64_t seed, int order, double alpha, const char *options)
{
    struct naive naive = {.order = order, .alpha = alpha};
    struct sentence sentences[SENTENCES], others[SENTENCES];
    struct tr_buffer corpus = {0}, unused = {0};
    trellis_tagger *tagger;
    trellis_error error = {0};
    make_corpus(&naive, sentences, seed, &corpus);
    choose_k(&naive, &naive.k2, 2);
    choose_k(&naive, &naive.k3, 3);
    check_sums(&naive);
    trellis_model *model = train_on(corpus.data, options);
    make_corpus(&(struct naive){0}, others, seed + 1000, &unused);
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    for (size_t k = 0; k < SENTENCES; k++) {
        compare_sentence(tagger, &naive, &sentences[k]);
        if (alpha > 0) {
            compare_sentence(tagger, &naive, &others[k]);
        }
    }
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
    tr_buffer_free(&corpus);
    tr_buffer_free(&unused);
}

static void test_against_naive(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        compare(seed, 0, 0, "type=hmm features=id order=1 alpha=0");
        compare(seed, 0, 0.25, "type=hmm features=id order=1 alpha=0.25");
        compare(seed, 0, 1, "type=hmm features=id order=1 alpha=1");
        compare(seed, 1, 0.25, "type=hmm features=id order=1 alpha=0.25 smoothing=interpolated");
        compare(seed, 2, 0.25, "type=hmm features=id order=2 alpha=0.25");
    }
}

/* ---- unknown words --------------------------------------------------------------------------- */

/* Words seen once or twice stand in for unknown ones, by their last two letters. */
static const char rare_words[] = "columns word\n"
                                 "node word\n"
                                 "node bias if unknown(word,2) & isupper(word)\n"
                                 "node bias if unknown(word,2) & not isupper(word)\n"
                                 "node suffix(word,1..2) if unknown(word,2)\n";

/* The score of one word with one label. */
static double score_of(trellis_tagger *tagger, const char *word, const char *label)
{
    trellis_error error = {0};
    trellis_text name = tr_text(label);
    double score;
    assert_ok(trellis_tagger_allow(tagger, 0, &name, 1, &error), error);
    free(tag_with(tagger, word, &score));
    return score;
}

static void test_endings(void **state)
{
    (void)state;
    char options[800];
    trellis_tagger *tagger;
    trellis_error error = {0};
    const double theta = 0.5;
    snprintf(options, sizeof options, "type=hmm order=1 theta=0.5 features=%s",
             put_text("rare.tpl", rare_words));
    /* Rare are ab A, cb A, cb B and Db A; of 8 tokens 5 are A. */
    trellis_model *model = train_on("ab A\n\ncb A\n\ncb B\n\nDb A\n\nx A\n\nx A\n\nx B\n\nx B\n\n",
                                    options);
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    /* P(A) -> lower case: 2 of 3 -> ending b: 3 of 4 -> endings ab and Db: 1 of 1, cb: 1 of 2 */
    double lower = (2.0 / 3 + theta * 5 / 8) / (1 + theta),
           ending = (3.0 / 4 + theta * lower) / (1 + theta);
    double longer = (1.0 / 2 + theta * ending) / (1 + theta),
           always = (1 + theta * ending) / (1 + theta);
    double upper = (1 + theta * 5 / 8) / (1 + theta);
    /* The rare words ab, cb and Db count once more, shared out by their endings. So x, seen twice
     * with A and twice with B, has this probability; of 8 tokens two, ab and Db, were seen once. */
    double share = (2 + 0.5) / (8 + 1), counts[] = {5 + 2 * always + longer, 0}, steps[2], x[2];
    counts[1] = 8 + 3 - counts[0];
    const char *const labels[] = {"A", "B"};
    for (int k = 0; k < 2; k++) {
        x[k] = log((1 - share) * 2 / counts[k]);
        steps[k] = score_of(tagger, "x", labels[k]) - x[k];
    }
    /* What they add is part of the counts of cb as well. */
    double cb = score_of(tagger, "cb", "A") - steps[0], db = score_of(tagger, "Db", "B") - steps[1];
    assert_true(fabs(cb - log((1 - share) * (1 + longer) / counts[0])) < 1e-6);
    assert_true(fabs(db - log((1 - share) * (1 - always) / counts[1])) < 1e-6);
    /* P(z | s) = P(z) P(x | z) / u */
    const struct {
        const char *word;
        double a;
    } unknown[] = {{"zb", ending}, {"ccb", longer}, {"Q", upper}};
    for (size_t i = 0; i < TR_COUNT(unknown); i++) {
        double a = score_of(tagger, unknown[i].word, "A") - steps[0] + log(5.0 / 8);
        double b = score_of(tagger, unknown[i].word, "B") - steps[1] + log(3.0 / 8);
        assert_true(fabs(a - log(share * unknown[i].a)) < 1e-6);
        assert_true(fabs(b - log(share * (1 - unknown[i].a))) < 1e-6);
    }
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

/* ---- what it does not take ------------------------------------------------------------------- */

static void assert_refused(const char *options_text, const char *expected)
{
    trellis_options *options = make_options(options_text);
    trellis_error error = {0};
    trellis_model *model;
    const char *path = put_text("corpus.txt", "a A\nb B\n\n");
    assert_true(trellis_train_files(options, &path, 1, NULL, NULL, &model, &error));
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
    assert_refused("type=hmm order=0", "--order 1 or 2");
    assert_refused("type=hmm order=2 smoothing=add", "needs --order 1");
    snprintf(options, sizeof options, "type=hmm features=%s",
             put_text("edge.tpl", "columns word\nnode word\nedge word\n"));
    assert_refused(options, "'edge' templates");
    trellis_options *negative = make_options("");
    trellis_error error = {0};
    assert_int_equal(trellis_options_set(negative, "alpha", "-1", &error), TRELLIS_OPTION);
    assert_non_null(strstr(error.message, "--alpha must be between 0"));
    trellis_options_destroy(negative);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive),
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
