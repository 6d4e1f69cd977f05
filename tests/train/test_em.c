/* test_em.c - hidden Markov models without labels.
 *
 * The judge is a second implementation: probabilities in plain arrays, an E-step that goes through all label
 * sequences of every short sentence that agree with what is known, and an M-step by the book. Both begin with
 * the same labelled sentences, and must have the same likelihood after every iteration.
 */
#include "train/following.h"

#include <math.h>

#include "base/random.h"

enum { LABELS = 3, WORDS = 6, LONGEST = 5, SENTENCES = 40, LABELLED = 8 };

/* ---- a corpus ------------------------------------------------------------------------------------ */

struct sentence {
    size_t n;
    int word[LONGEST];
    unsigned open[LONGEST]; // the labels that it may have, a bit each
    double weight, share;   // share: of --unlabelled-weight
};

/* The first sentences have known labels; the rest are half known, or not at all. */
static void make_corpus(struct sentence *corpus, struct tr_random *random, bool partial,
                        double weight)
{
    for (size_t s = 0; s < SENTENCES; s++) {
        corpus[s].n = s == 0 ? LONGEST : 1 + tr_random_below(random, LONGEST);
        corpus[s].weight = (double)(float)(0.5 + tr_random_real(random)); // so there are no ties
        corpus[s].share = s < SENTENCES / 2 ? 1 : weight;
        for (size_t i = 0; i < corpus[s].n; i++) {
            unsigned label = (unsigned)(s == 0 ? i % LABELS : tr_random_below(random, LABELS));
            uint64_t how = s < LABELLED || !partial ? 0 : tr_random_below(random, 3);
            corpus[s].word[i] = (int)((label * 2 + tr_random_below(random, 3)) % WORDS);
            corpus[s].open[i] = s >= SENTENCES / 2 || how == 1 ? (1u << LABELS) - 1
                                : how == 2 ? 1u << label | 1u << (label + 1) % LABELS
                                           : 1u << label;
        }
    }
}

static void put_label(struct tr_buffer *text, unsigned open)
{
    const char *bar = "";
    if (open == (1u << LABELS) - 1) {
        tr_buffer_char(text, '_');
        return;
    }
    for (unsigned c = 0; c < LABELS; c++) {
        if (open >> c & 1) {
            tr_buffer_format(text, "%s%c", bar, 'A' + (int)c);
            bar = "|";
        }
    }
}

static const char *put_corpus(const char *name, const struct sentence *corpus, size_t begin,
                              size_t end, bool labels)
{
    struct tr_buffer text = {0};
    for (size_t s = begin; s < end; s++) {
        tr_buffer_format(&text, "{\"weight\":%.17g,\"tokens\":[", corpus[s].weight);
        for (size_t i = 0; i < corpus[s].n; i++) {
            tr_buffer_format(&text, "%s\"w%d\"", i ? "," : "", corpus[s].word[i]);
        }
        for (size_t i = 0; labels && i < corpus[s].n; i++) {
            tr_buffer_string(&text, i ? "\",\"" : "],\"labels\":[\"");
            put_label(&text, corpus[s].open[i]);
        }
        tr_buffer_string(&text, labels ? "\"]}\n" : "]}\n");
    }
    const char *path = put_file(name, text.data, text.size);
    tr_buffer_free(&text);
    return path;
}

/* ---- the judge ----------------------------------------------------------------------------------- */

/* Rows LABELS and columns LABELS are the start and the end; word WORDS is unknown. */
struct naive {
    double step[LABELS + 1][LABELS + 1], word[LABELS][WORDS + 1];
};

static void estimate(const struct naive *counts, double alpha, struct naive *theta)
{
    for (int from = 0; from <= LABELS; from++) {
        int ways = from == LABELS ? LABELS : LABELS + 1; // no empty sentences
        double all = 0;
        for (int to = 0; to < ways; to++) {
            all += counts->step[from][to] + alpha;
        }
        for (int to = 0; to < ways; to++) {
            theta->step[from][to] = (counts->step[from][to] + alpha) / all;
        }
    }
    for (int c = 0; c < LABELS; c++) {
        double all = 0;
        for (int x = 0; x <= WORDS; x++) {
            all += counts->word[c][x] + alpha;
        }
        for (int x = 0; x <= WORDS; x++) {
            theta->word[c][x] = (counts->word[c][x] + alpha) / all;
        }
    }
}

static double probability(const struct naive *theta, const struct sentence *sentence,
                          const int *labels)
{
    double p = 1;
    int before = LABELS;
    for (size_t i = 0; i < sentence->n; i++) {
        bool open = sentence->open[i] >> labels[i] & 1;
        p *= open ? theta->step[before][labels[i]] * theta->word[labels[i]][sentence->word[i]] : 0;
        before = labels[i];
    }
    return p * theta->step[before][LABELS];
}

static void count(struct naive *counts, const struct sentence *sentence, const int *labels,
                  double amount)
{
    int before = LABELS;
    for (size_t i = 0; i < sentence->n; i++) {
        counts->step[before][labels[i]] += amount;
        counts->word[labels[i]][sentence->word[i]] += amount;
        before = labels[i];
    }
    counts->step[before][LABELS] += amount;
}

static bool next_labels(int *labels, size_t n)
{
    for (size_t i = n; i-- > 0; labels[i] = 0) {
        if (++labels[i] < LABELS) {
            return true;
        }
    }
    return false;
}

/* Adds the expected counts, or those of the best labels; returns log P of all of them, or of the best. */
static double expect(const struct naive *theta, const struct sentence *sentence, bool hard,
                     struct naive *counts)
{
    double sum = 0, most = 0;
    int labels[LONGEST] = {0}, best[LONGEST] = {0};
    do {
        double p = probability(theta, sentence, labels);
        sum += p;
        if (p > most) {
            most = p;
            memcpy(best, labels, sizeof best);
        }
    } while (next_labels(labels, sentence->n));
    if (hard) {
        count(counts, sentence, best, sentence->weight * sentence->share);
        return log(most);
    }
    do {
        double p = probability(theta, sentence, labels);
        count(counts, sentence, labels, sentence->weight * sentence->share * p / sum);
    } while (next_labels(labels, sentence->n));
    return log(sum);
}

/* log P of all data by token, before each of the M-steps. */
static void judge(const struct sentence *corpus, double alpha, bool hard, double *likelihood,
                  size_t iterations)
{
    struct naive counts = {0}, theta;
    double tokens = 0;
    for (size_t s = 0; s < SENTENCES; s++) {
        int labels[LONGEST];
        bool known = true;
        for (size_t i = 0; i < corpus[s].n; i++) {
            labels[i] = __builtin_ctz(corpus[s].open[i]);
            known = known && corpus[s].open[i] == 1u << labels[i];
        }
        if (known) {
            count(&counts, &corpus[s], labels, corpus[s].weight);
        }
        tokens += corpus[s].weight * corpus[s].share * (double)corpus[s].n;
    }
    estimate(&counts, fmax(alpha, 0.1), &theta);
    for (size_t k = 0; k < iterations; k++) {
        counts = (struct naive){0};
        likelihood[k] = 0;
        for (size_t s = 0; s < SENTENCES; s++) {
            likelihood[k] += corpus[s].weight * corpus[s].share *
                             expect(&theta, &corpus[s], hard, &counts) / tokens;
        }
        estimate(&counts, alpha, &theta);
    }
}

static void check_course(const char *algorithm, bool partial, double alpha, double weight,
                         uint64_t seed)
{
    struct sentence corpus[SENTENCES];
    struct tr_random random;
    struct course course;
    trellis_model *model;
    trellis_error error = {0};
    double wanted[8];
    char number[2][40];
    bool hard = strcmp(algorithm, "viterbi") == 0;
    tr_random_seed(&random, seed);
    make_corpus(corpus, &random, partial, weight);
    judge(corpus, alpha, hard, wanted, 8);
    const char *known = put_corpus("known.jsonl", corpus, 0, SENTENCES / 2, true);
    const char *more = put_corpus("more.jsonl", corpus, SENTENCES / 2, SENTENCES, false);
    snprintf(number[0], sizeof number[0], "%g", alpha);
    snprintf(number[1], sizeof number[1], "%g", weight);
    assert_ok(learn(known,
                    SETTINGS(setting("algorithm", algorithm), setting("unlabelled", more),
                             "partial=yes", "epochs=8", "delta=0", setting("alpha", number[0]),
                             setting("unlabelled-weight", number[1])),
                    &course, &model, &error),
              error);
    assert_int_equal(course.iterations, 8);
    for (size_t k = 0; k < 8; k++) {
        if (!(fabs(course.likelihood[k] - wanted[k]) < 2e-6 * fabs(wanted[k]))) {
            fail_msg("%s, alpha %g: log P is %.9g and should be %.9g at iteration %zu", algorithm,
                     alpha, course.likelihood[k], wanted[k], k + 1);
        }
    }
    trellis_model_close(model);
}

static void test_as_the_judge(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        check_course("em", false, 0.25, 1, seed);
        check_course("em", true, 0.5, 0.25, seed);
        check_course("em", true, 0, 1, seed);
        check_course("em", false, 0, 3, seed);
        check_course("viterbi", true, 0.25, 1, seed);
        check_course("viterbi", false, 0.125, 0.5, seed);
    }
}

/* ---- what EM promises ---------------------------------------------------------------------------- */

static void check_never_falls(const char *path, const char *algorithm, const char *alpha,
                              const char *seed, const char *more)
{
    struct course course;
    trellis_model *model;
    trellis_error error = {0};
    assert_ok(learn(path,
                    SETTINGS(setting("algorithm", algorithm), setting("alpha", alpha),
                             setting("seed", seed), "delta=0", "epochs=40", more),
                    &course, &model, &error),
              error);
    assert_int_equal(course.iterations, 40);
    for (size_t k = 1; k < course.iterations; k++) {
        if (!(course.objective[k] <= course.objective[k - 1] + 1e-6 * fabs(course.objective[k]))) {
            fail_msg("%s, alpha %s, seed %s: the objective rises from %.12g to %.12g", algorithm,
                     alpha, seed, course.objective[k - 1], course.objective[k]);
        }
        if (strcmp(alpha, "0") == 0) {
            assert_true(course.likelihood[k] >=
                        course.likelihood[k - 1] - 1e-6 * fabs(course.likelihood[k]));
        }
    }
    assert_true(course.objective[39] < course.objective[0]);
    trellis_model_close(model);
}

static void test_never_falls(void **state)
{
    (void)state;
    struct sentence corpus[SENTENCES];
    struct tr_random random;
    tr_random_seed(&random, 9);
    make_corpus(corpus, &random, false, 1);
    const char *path = put_corpus("plain.jsonl", corpus, 0, SENTENCES, false);
    const char *alphas[] = {"0", "0.01", "0.5"}, *seeds[] = {"1", "2", "3"};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            check_never_falls(path, "em", alphas[i], seeds[k], "states=4");
        }
        check_never_falls(path, "viterbi", alphas[i], seeds[i], "states=3");
    }
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    struct sentence corpus[SENTENCES];
    struct tr_random random;
    trellis_error error = {0};
    struct course course;
    trellis_model *one, *many;
    tr_random_seed(&random, 5);
    make_corpus(corpus, &random, false, 1);
    const char *path = put_corpus("plain.jsonl", corpus, 0, SENTENCES, false);
    const char *algorithms[] = {"em", "viterbi"};
    for (size_t i = 0; i < 2; i++) {
        const char *a = setting("algorithm", algorithms[i]);
        assert_ok(learn(path, SETTINGS(a, "states=5", "epochs=9", "restarts=2", "threads=1"),
                        &course, &one, &error),
                  error);
        assert_ok(learn(path, SETTINGS(a, "states=5", "epochs=9", "restarts=2", "threads=3"),
                        &course, &many, &error),
                  error);
        size_t size, other;
        char *first = model_bytes(one, &size), *second = model_bytes(many, &other);
        assert_int_equal(size, other);
        assert_memory_equal(first, second, size);
        free(first);
        free(second);
    }
}

/* ---- starts -------------------------------------------------------------------------------------- */

static void test_restarts_keep_the_best(void **state)
{
    (void)state;
    struct sentence corpus[SENTENCES];
    struct tr_random random;
    trellis_error error = {0};
    struct course course;
    trellis_model *model;
    tr_random_seed(&random, 6);
    make_corpus(corpus, &random, false, 1);
    const char *path = put_corpus("plain.jsonl", corpus, 0, SENTENCES, false);
    assert_ok(learn(path,
                    SETTINGS("algorithm=em", "states=4", "epochs=10", "restarts=5", "delta=0",
                             "alpha=0.01"),
                    &course, &model, &error),
              error);
    assert_int_equal(course.iterations, 50);
    double best = INFINITY, worst = -INFINITY;
    for (size_t i = 0; i < 5; i++) {
        best = fmin(best, course.objective[10 * i + 9]);
        worst = fmax(worst, course.objective[10 * i + 9]);
    }
    assert_true(worst > best);
    assert_true(fabs(strtod(trellis_model_note(model, "objective"), NULL) - best) <
                1e-8 * fabs(best));
    trellis_model_close(model);
}

/* A model that has settled is where it was when EM begins with it. */
static void test_begins_with_a_model(void **state)
{
    (void)state;
    struct sentence corpus[SENTENCES];
    struct tr_random random;
    trellis_error error = {0};
    struct course first, second;
    trellis_model *model;
    tr_random_seed(&random, 8);
    make_corpus(corpus, &random, false, 1);
    const char *path = put_corpus("plain.jsonl", corpus, 0, SENTENCES, false);
    const char *alphas[] = {"alpha=0", "alpha=0.2"};
    for (size_t i = 0; i < 2; i++) {
        assert_ok(learn(path, SETTINGS("algorithm=em", "states=3", "epochs=50", alphas[i]), &first,
                        &model, &error),
                  error);
        const char *saved = path_of("first.model");
        assert_ok(trellis_model_save(model, saved, &error), error);
        trellis_model_close(model);
        assert_ok(learn(path,
                        SETTINGS("algorithm=em", setting("from", saved), "alpha=0", "epochs=1"),
                        &second, &model, &error),
                  error);
        /* What was kept for unknown words is shared out among those that are known. */
        assert_true(fabs(second.likelihood[0] - first.likelihood[first.iterations - 1]) <
                    (i ? 2e-2 : 1e-5));
        assert_int_equal(trellis_model_label_count(model), 3);
        trellis_model_close(model);
    }
}

static void test_dictionary_names_and_limits(void **state)
{
    (void)state;
    trellis_error error = {0};
    struct course course;
    trellis_model *model;
    trellis_tagger *tagger;
    struct sentence corpus[SENTENCES];
    struct tr_random random;
    tr_random_seed(&random, 4);
    make_corpus(corpus, &random, false, 1);
    const char *path = put_corpus("plain.jsonl", corpus, 0, SENTENCES, false);
    const char *dictionary = put_text("dictionary", "w0\tX\nw1\tX Y\nw2\tY\n");
    assert_ok(
        learn(path,
              SETTINGS("algorithm=em", setting("dictionary", dictionary), "states=4", "epochs=10"),
              &course, &model, &error),
        error);
    assert_int_equal(trellis_model_label_count(model), 4);
    const char *names[] = {"X", "Y", "s1", "s2"};
    for (size_t i = 0; i < 4; i++) {
        assert_true(tr_text_is(trellis_model_label(model, i), names[i]));
    }
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    trellis_text words[] = {tr_text("w0"), tr_text("w2"), tr_text("w1"), tr_text("never")};
    trellis_sequence sequence = {.length = 4, .columns = 1, .cells = words, .weight = 1};
    const trellis_text *labels;
    assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
    assert_true(tr_text_is(labels[0], "X"));
    assert_true(tr_text_is(labels[1], "Y"));
    assert_true(tr_text_is(labels[2], "X") || tr_text_is(labels[2], "Y"));
    assert_true(isfinite(trellis_tagger_score(tagger)));
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

static void test_dev_likelihood_decides(void **state)
{
    (void)state;
    struct sentence corpus[SENTENCES];
    struct tr_random random;
    trellis_error error = {0};
    struct course course;
    trellis_model *model;
    tr_random_seed(&random, 3);
    make_corpus(corpus, &random, false, 1);
    const char *path = put_corpus("plain.jsonl", corpus, 0, 30, false);
    const char *dev = put_corpus("dev.jsonl", corpus, 30, SENTENCES, true);
    assert_ok(learn(path,
                    SETTINGS("algorithm=em", "states=5", "delta=0", "epochs=55", "alpha=0.001",
                             setting("dev", dev)),
                    &course, &model, &error),
              error);
    size_t best = 0;
    for (size_t k = 0; k < course.iterations; k++) {
        best = course.dev[k] > course.dev[best] ? k : best;
    }
    assert_true(course.iterations < 55); // it overfits so small a corpus
    assert_int_equal(course.iterations, best + 6);
    assert_int_equal(strtoul(trellis_model_note(model, "iterations"), NULL, 10), best + 1);
    trellis_model_close(model);
}

/* ---- what cannot be -------------------------------------------------------------------------------- */

struct refusal {
    const char *text; // of the corpus
    const char *settings[5];
    trellis_status status;
    const char *says;
};

static void test_refusals(void **state)
{
    (void)state;
    const char *dictionary = put_text("tags", "a\tX Y Z\n");
    const char *strange = put_text("strange", "a\tX\n");
    const char *torn = put_text("torn", "no tab here\n");
    const struct refusal refusals[] = {
        {"a\nb\n", {"algorithm=em"}, TRELLIS_DATA, "--states"},
        {"a\nb\n", {"algorithm=em", "states=0"}, TRELLIS_DATA, "--states says how many"},
        {"a\nb\n", {"algorithm=em", "states=-3"}, TRELLIS_OPTION, "--states takes a number from 0"},
        {"a\nb\n",
         {"algorithm=em", "states=3"},
         TRELLIS_DATA,
         "3 states cannot be learned from 2 tokens"},
        {"", {"algorithm=em", "states=2"}, TRELLIS_DATA, "no tokens"},
        {"\n\n\n", {"algorithm=viterbi", "states=2"}, TRELLIS_DATA, "no tokens"},
        {"a X\nb Y\n", {"states=2"}, TRELLIS_OPTION, "--states is for learning without labels"},
        {"a X\nb Y\n", {"algorithm=em", "restarts=2"}, TRELLIS_OPTION, "random starts"},
        {"a X\nb Y\n", {"algorithm=em", "order=2"}, TRELLIS_OPTION, "--order 1"},
        {"a X\nb Y\n",
         {"algorithm=em", setting("checkpoint", path_of("ckpt"))},
         TRELLIS_OPTION,
         "write no checkpoints"},
        {"a X\nb Y\n",
         {"algorithm=em", "alpha=-1"},
         TRELLIS_OPTION,
         "--alpha takes a number from 0"},
        {"a X\nb Y\n",
         {"algorithm=em", setting("dictionary", strange), "unlabelled=/no/file"},
         TRELLIS_IO,
         "/no/file"},
        {"a X\nb Y\n",
         {"algorithm=em", setting("dictionary", dictionary)},
         TRELLIS_DATA,
         "no label 'Z'"},
        {"a\nb\nc\n",
         {"algorithm=em", "states=2", setting("dictionary", dictionary)},
         TRELLIS_DATA,
         "names 3 labels, more than the 2"},
        {"a\nb\nc\n",
         {"algorithm=em", "states=2", setting("dictionary", torn)},
         TRELLIS_FORMAT,
         "a word, a tab and its labels"},
        {"a\nb\nc\n",
         {"algorithm=em", "states=2", "features=extended"},
         TRELLIS_TEMPLATE,
         "one thing at each token"},
        {"a\nb\nc\n", {"algorithm=em", "states=2", "from=/no/model"}, TRELLIS_IO, "/no/model"},
    };
    for (size_t i = 0; i < TR_COUNT(refusals); i++) {
        struct course course;
        trellis_model *model;
        trellis_error error = {0};
        const char *path = put_text("refused", refusals[i].text);
        trellis_status status = learn(path, refusals[i].settings, &course, &model, &error);
        if (status != refusals[i].status || !strstr(error.message, refusals[i].says)) {
            fail_msg("case %zu: %s: %s", i, trellis_status_name(status), error.message);
        }
        assert_null(model);
    }
}

/* As many states as tokens, one state, one token: defined, and finite. */
static void test_small(void **state)
{
    (void)state;
    const char *corpora[] = {"a\n", "a\na\na\n", "a\nb\nc\n\nd\n"};
    const char *states[] = {"states=1", "states=3", "states=4"};
    const char *algorithms[] = {"algorithm=em", "algorithm=viterbi"};
    const char *alphas[] = {"alpha=0", "alpha=1"};
    for (size_t i = 0; i < 12; i++) {
        struct course course;
        trellis_model *model;
        trellis_error error = {0};
        const char *path = put_text("small", corpora[i % 3]);
        assert_ok(learn(path, SETTINGS(states[i % 3], algorithms[i / 3 % 2], alphas[i / 6]),
                        &course, &model, &error),
                  error);
        assert_true(course.iterations > 0);
        for (size_t k = 0; k < course.iterations; k++) {
            assert_true(isfinite(course.objective[k]) && course.likelihood[k] <= 1e-5);
        }
        trellis_model_close(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_the_judge),
        cmocka_unit_test(test_never_falls),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_restarts_keep_the_best),
        cmocka_unit_test(test_begins_with_a_model),
        cmocka_unit_test(test_dictionary_names_and_limits),
        cmocka_unit_test(test_dev_likelihood_decides),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_small),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
