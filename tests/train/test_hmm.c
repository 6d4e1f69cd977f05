/* test_hmm.c - hidden Markov models by counting, against one that keeps every count in a table.
 *
 * The second one sums over all label sequences, so it also says what P(X) and P(Z | X) are; and it says
 * whether what may follow a history has probability 1 in all.
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
    double lambda[3];
    double emit[LABELS][WORDS + 1], label[LABELS];
};

/* ---- the second HMM ------------------------------------------------------------------------------ */

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

static double without_one(double count, double total)
{
    return total > 1 ? (count - 1) / (total - 1) : 0;
}

static void vote(struct naive *naive, double times, double one, double two, double three)
{
    naive->lambda[three >= two && three >= one ? 2 : two >= one ? 1 : 0] += times;
}

static void choose_lambdas(struct naive *naive)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        naive->lambda[k] = k <= naive->order;
    }
    for (int x = 0; x < SIDE; x++) {
        for (int y = 0; y < SIDE; y++) {
            for (int z = 0; z < SIDE; z++) {
                double times = naive->triple[x][y][z];
                if (naive->order == 2 && times > 0) {
                    vote(naive, times, without_one(naive->single[z], naive->steps),
                         without_one(naive->pair[y][z], naive->single[y]),
                         without_one(times, naive->pair[x][y]));
                }
            }
            if (naive->order == 1 && naive->pair[x][y] > 0) {
                vote(naive, naive->pair[x][y], without_one(naive->single[y], naive->steps),
                     without_one(naive->pair[x][y], naive->single[x]), -1);
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        sum += naive->lambda[k];
    }
    for (int k = 0; k < 3; k++) {
        naive->lambda[k] /= sum;
    }
}

/* P(z | x y), x = -1 where y is the start. */
static double step_of(const struct naive *naive, int x, int y, int z)
{
    double ways = y == START ? LABELS : LABELS + 1; // no sequence ends before it has begun
    if (naive->order == 0) {
        return (naive->pair[y][z] + naive->alpha) / (naive->single[y] + naive->alpha * ways);
    }
    double l1 = naive->lambda[0], l2 = naive->lambda[1], l3 = naive->lambda[2];
    double one = (naive->single[z] + naive->alpha) / (naive->steps + naive->alpha * (LABELS + 1));
    double two = (l1 * one + l2 * naive->pair[y][z] / naive->single[y]) / (l1 + l2);
    bool seen = naive->order == 2 && x >= 0 && naive->pair[x][y] > 0;
    return seen ? (l1 + l2) * two + l3 * naive->triple[x][y][z] / naive->pair[x][y] : two;
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
    choose_lambdas(&naive);
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

/* ---- unknown words ------------------------------------------------------------------------------- */

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
    /* P(A) -> lower case: 2 of 3 -> ending b: 3 of 4 -> ending cb: 1 of 2 */
    double a = (2.0 / 3 + theta * 5 / 8) / (1 + theta),
           ending = (3.0 / 4 + theta * a) / (1 + theta);
    double longer = (1.0 / 2 + theta * ending) / (1 + theta);
    /* All sequences have one label, so steps to A and B are as likely as the labels, which Bayes divides by:
     * what is left of the scores is P(A | s) / P(B | s). */
    double zb = score_of(tagger, "zb", "A") - score_of(tagger, "zb", "B");
    assert_true(fabs(zb - log(ending / (1 - ending))) < 1e-4);
    double ccb = score_of(tagger, "ccb", "A") - score_of(tagger, "ccb", "B");
    assert_true(fabs(ccb - log(longer / (1 - longer))) < 1e-4);
    double upper = (1 + theta * 5 / 8) / (1 + theta);
    double quest = score_of(tagger, "Q", "A") - score_of(tagger, "Q", "B");
    assert_true(fabs(quest - log(upper / (1 - upper))) < 1e-4);
    /* All of it is a probability: over the labels, P(label) P(word | label) is the share of unknown words,
     * of 8 tokens two, ab and Db, were seen once. */
    double share = (2 + 0.5) / (8 + 1), sum = 0;
    const char *const labels[] = {"A", "B"};
    for (int k = 0; k < 2; k++) {
        /* One token: the step to the label, the word, the step to the end. */
        double prior = k == 0 ? 5.0 / 8 : 3.0 / 8;
        double steps = score_of(tagger, "x", labels[k]) - log((1 - share) * 2 / (k == 0 ? 5 : 3));
        sum += prior * exp(score_of(tagger, "ccb", labels[k]) - steps);
    }
    assert_true(fabs(sum - share) < 1e-6);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
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
    assert_refused("type=hmm order=0", "--order 1 or 2");
    assert_refused("type=hmm order=2 smoothing=add", "goes with --order 1");
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
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
