/* test_em.c - hidden Markov models without labels: each iteration.
 *
 * The judge is a second implementation: probabilities in plain arrays, an E-step that goes through
 * all label sequences of every short sentence that agree with what is known, and an M-step by the
 * book. Both begin with the same labelled sentences, and must have the same likelihood after every
 * iteration.
 */
#include "train/hidden.h"

#include <math.h>

#include "model/model.h"

/* ---- the judge ------------------------------------------------------------------------------- */

/* Histories and steps of LABELS are the start and the end, word WORDS is unknown. At order 1 the
 * label before the last counts as 0. */
enum { HISTORIES = (LABELS + 1) * (LABELS + 1) };

struct naive {
    int order;
    double step[HISTORIES][LABELS + 1], word[LABELS][WORDS + 1];
};

/* The number of a history. */
static size_t history(int order, int earlier, int before)
{
    return (size_t)((order < 2 ? 0 : earlier * (LABELS + 1)) + before);
}

/* The history of position i. */
static size_t history_of(const struct naive *naive, const int *labels, size_t i)
{
    return history(naive->order, i > 1 ? labels[i - 2] : LABELS, i > 0 ? labels[i - 1] : LABELS);
}

static void share_out(const double *counts, int ways, double alpha, double *theta)
{
    double all = 0;
    for (int i = 0; i < ways; i++) {
        all += counts[i] + alpha;
    }
    for (int i = 0; i < ways; i++) {
        theta[i] = all > 0 ? (counts[i] + alpha) / all : 1.0 / ways;
    }
}

static void estimate(const struct naive *counts, double alpha, struct naive *theta)
{
    theta->order = counts->order;
    for (int h = 0; h < HISTORIES; h++) {
        bool start = h % (LABELS + 1) == LABELS;
        share_out(counts->step[h], start ? LABELS : LABELS + 1, alpha, theta->step[h]);
    }
    for (int c = 0; c < LABELS; c++) {
        share_out(counts->word[c], WORDS + 1, alpha, theta->word[c]);
    }
}

static double probability(const struct naive *theta, const struct sentence *sentence,
                          const int *labels)
{
    double p = 1;
    for (size_t i = 0; i < sentence->n; i++) {
        bool open = sentence->open[i] >> labels[i] & 1;
        p *= open ? theta->step[history_of(theta, labels, i)][labels[i]] *
                        theta->word[labels[i]][sentence->word[i]]
                  : 0;
    }
    return p * theta->step[history_of(theta, labels, sentence->n)][LABELS];
}

static void count(struct naive *counts, const struct sentence *sentence, const int *labels,
                  double amount)
{
    for (size_t i = 0; i < sentence->n; i++) {
        counts->step[history_of(counts, labels, i)][labels[i]] += amount;
        counts->word[labels[i]][sentence->word[i]] += amount;
    }
    counts->step[history_of(counts, labels, sentence->n)][LABELS] += amount;
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

/* Adds the expected counts, or those of the best labels; returns log P of all of them, or of the
 * best. */
static double expect(const struct naive *theta, const struct sentence *sentence, bool hard,
                     struct naive *counts)
{
    double sum = 0, largest = 0;
    int labels[LONGEST] = {0}, best[LONGEST] = {0};
    do {
        double p = probability(theta, sentence, labels);
        sum += p;
        if (p > largest) {
            largest = p;
            memcpy(best, labels, sizeof best);
        }
    } while (next_labels(labels, sentence->n));
    if (hard) {
        count(counts, sentence, best, sentence->weight * sentence->share);
        return log(largest);
    }
    do {
        double p = probability(theta, sentence, labels);
        count(counts, sentence, labels, sentence->weight * sentence->share * p / sum);
    } while (next_labels(labels, sentence->n));
    return log(sum);
}

/* log P of all data by token, before each of the M-steps. */
static void judge(const struct sentence *corpus, int order, double alpha, bool hard,
                  double *likelihood, size_t iterations)
{
    struct naive counts = {.order = order}, theta;
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
        counts = (struct naive){.order = order};
        likelihood[k] = 0;
        for (size_t s = 0; s < SENTENCES; s++) {
            likelihood[k] += corpus[s].weight * corpus[s].share *
                             expect(&theta, &corpus[s], hard, &counts) / tokens;
        }
        estimate(&counts, alpha, &theta);
    }
}

static void check_course(const char *algorithm, const char *order, bool partial, double alpha,
                         double weight, uint64_t seed)
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
    judge(corpus, atoi(order), alpha, hard, wanted, 8);
    const char *known = put_corpus("known.jsonl", corpus, 0, SENTENCES / 2, true);
    const char *more = put_corpus("more.jsonl", corpus, SENTENCES / 2, SENTENCES, false);
    snprintf(number[0], sizeof number[0], "%g", alpha);
    snprintf(number[1], sizeof number[1], "%g", weight);
    assert_ok(learn(known,
                    SETTINGS(setting("algorithm", algorithm), setting("unlabelled", more),
                             "partial=yes", "epochs=8", "delta=0", setting("alpha", number[0]),
                             setting("unlabelled-weight", number[1]), setting("order", order)),
                    &course, &model, &error),
              error);
    assert_int_equal(course.iterations, 8);
    for (size_t k = 0; k < 8; k++) {
        if (!(fabs(course.likelihood[k] - wanted[k]) < 2e-6 * fabs(wanted[k]))) {
            fail_msg("%s, order %s, alpha %g: log P is %.9g and should be %.9g at iteration %zu",
                     algorithm, order, alpha, course.likelihood[k], wanted[k], k + 1);
        }
    }
    trellis_model_close(model);
}

static void test_as_the_judge(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        for (size_t i = 0; i < 2; i++) {
            const char *order = i ? "2" : "1";
            check_course("em", order, false, 0.25, 1, seed);
            check_course("em", order, true, 0.5, 0.25, seed);
            check_course("em", order, true, 0, 1, seed);
            check_course("em", order, false, 0, 3, seed);
            check_course("viterbi", order, true, 0.25, 1, seed);
            check_course("viterbi", order, false, 0.125, 0.5, seed);
        }
    }
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* The probabilities of a model, each from its own weight; with alpha above 0. */
static void read_theta(const trellis_model *model, struct naive *theta)
{
    double alone[LABELS];
    for (size_t i = 0; i < model->plan.gram_count; i++) {
        const struct tr_gram *gram = &model->grams[i];
        int last = gram->label[gram->length - 1],
            before = gram->label[gram->length > 1 ? gram->length - 2 : 0];
        double weight = tr_model_exact_step(model, i);
        if (gram->length == 1) {
            alone[last] = weight;
        } else if (gram->length == theta->order + 1 || before == LABELS) {
            theta->step[history(theta->order, gram->label[0], before)]
                       [last > LABELS ? LABELS : last] = exp(weight);
        }
    }
    for (int c = 0; c < LABELS; c++) {
        theta->word[c][WORDS] = exp(alone[c]);
        for (size_t i = 0; i < model->node.record_count; i++) {
            const struct tr_text_record *record = &model->node.records[i];
            trellis_text text = tr_table_text(&model->node, record);
            int word = text.data[text.size - 1] - '0';
            theta->word[c][word] = exp(alone[c] +
                                       tr_table_exact(&model->node, record->row, (uint32_t)c));
        }
    }
}

static void check_sums(const struct naive *theta)
{
    for (size_t h = 0; h < HISTORIES; h++) {
        double sum = 0;
        for (size_t z = 0; z <= LABELS; z++) {
            sum += theta->step[h][z];
        }
        assert_true(sum == 0 || fabs(sum - 1) < 1e-12); // 0: no such history
    }
    for (size_t c = 0; c < LABELS; c++) {
        double sum = 0;
        for (size_t x = 0; x <= WORDS; x++) {
            sum += theta->word[c][x];
        }
        assert_true(fabs(sum - 1) < 1e-12);
    }
}

/* The probabilities sum to 1, the score of the best labels is log P(X, Z) and log Z is log P(X),
 * with all digits. */
static void test_all_digits(void **state)
{
    (void)state;
    const char *path = put_plain("plain.jsonl", 7, 0, SENTENCES);
    for (size_t i = 0; i < 4; i++) {
        trellis_error error = {0};
        struct course course;
        trellis_model *model;
        trellis_tagger *tagger;
        struct naive theta = {.order = 1 + (int)i / 2}, counts = {.order = theta.order};
        assert_ok(
            learn(path,
                  SETTINGS(i % 2 ? "algorithm=viterbi" : "algorithm=em", "states=3",
                           i / 2 ? "order=2" : "order=1", "epochs=7", "alpha=0.3", "restarts=2"),
                  &course, &model, &error),
            error);
        read_theta(model, &theta);
        check_sums(&theta);
        assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
        struct sentence sentence = {4, {0, 3, WORDS, 5}, {7, 7, 7, 7}, 1, 1};
        double score, log_z;
        free(tag_with(tagger, "w0 w3 never w5", &score));
        assert_true(fabs(score - expect(&theta, &sentence, true, &counts)) < 1e-9);
        assert_ok(trellis_tagger_log_z(tagger, &log_z, &error), error);
        assert_true(fabs(log_z - expect(&theta, &sentence, false, &counts)) < 1e-9);
        trellis_tagger_destroy(tagger);
        trellis_model_close(model);
    }
}

/* ---- what EM promises ------------------------------------------------------------------------ */

static void check_never_falls(const char *path, const char *algorithm, const char *alpha,
                              const char *seed, const char *states, const char *order)
{
    struct course course;
    trellis_model *model;
    trellis_error error = {0};
    assert_ok(learn(path,
                    SETTINGS(setting("algorithm", algorithm), setting("alpha", alpha),
                             setting("seed", seed), "delta=0", "epochs=40", states, order),
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
    const char *path = put_plain("plain.jsonl", 9, 0, SENTENCES);
    const char *alphas[] = {"0", "0.01", "0.5"}, *seeds[] = {"1", "2", "3"};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            check_never_falls(path, "em", alphas[i], seeds[k], "states=4", "order=1");
            check_never_falls(path, "em", alphas[i], seeds[k], "states=3", "order=2");
        }
        check_never_falls(path, "viterbi", alphas[i], seeds[i], "states=3", "order=1");
        check_never_falls(path, "viterbi", alphas[i], seeds[i], "states=3", "order=2");
    }
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    trellis_error error = {0};
    struct course course;
    trellis_model *one, *many;
    const char *path = put_plain("plain.jsonl", 5, 0, SENTENCES);
    const char *algorithms[] = {"algorithm=em", "algorithm=viterbi"};
    for (size_t i = 0; i < 4; i++) {
        const char *a = algorithms[i % 2], *o = i / 2 ? "order=2" : "order=1";
        assert_ok(learn(path, SETTINGS(a, o, "states=5", "epochs=9", "restarts=2", "threads=1"),
                        &course, &one, &error),
                  error);
        assert_ok(learn(path, SETTINGS(a, o, "states=5", "epochs=9", "restarts=2", "threads=3"),
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_the_judge),
        cmocka_unit_test(test_all_digits),
        cmocka_unit_test(test_never_falls),
        cmocka_unit_test(test_threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
