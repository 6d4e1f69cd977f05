/* naive.h - a tiny corpus with real-valued attributes, dense weights for it, and all labellings
 * tried one by one: what the tests of online learners compare with. */
#ifndef TRELLIS_TESTS_TRAIN_NAIVE_H
#define TRELLIS_TESTS_TRAIN_NAIVE_H

#include <math.h>

#include "base/random.h"
#include "model/test_model.h"

enum {
    LABELS = 3,
    WORDS = 6,
    LONGEST = 5,
    SENTENCES = 16,
    NODES = WORDS * LABELS,
    SIZE = NODES + LABELS * LABELS // of the weights: nodes, then steps
};

struct sentence {
    size_t n;
    double value[LONGEST][WORDS]; // 0: the attribute is not there
    int labels[LONGEST];
    double weight;
};

struct naive {
    struct sentence sentences[SENTENCES];
    bool seen[NODES]; // the others have no weight
    double w[SIZE], sum[SIZE];
    double iterates;
    double cost[LABELS][LABELS];
};

/* Random sentences that no weights can label without a mistake, in the format of CRFsuite. The
 * first one shows the labels in the order of their numbers. */
static inline void make_corpus(struct naive *naive, uint64_t seed, bool weighted,
                               struct tr_buffer *corpus)
{
    struct tr_random random;
    tr_random_seed(&random, seed);
    *naive = (struct naive){0};
    for (size_t k = 0; k < SENTENCES; k++) {
        struct sentence *s = &naive->sentences[k];
        s->n = k ? 1 + tr_random_below(&random, LONGEST) : LABELS;
        s->weight = weighted ? (double)(1 + tr_random_below(&random, 8)) / 4 : 1;
        if (weighted) {
            tr_buffer_format(corpus, "@weight:%.17g\n", s->weight);
        }
        for (size_t i = 0; i < s->n; i++) {
            int first = (int)tr_random_below(&random, WORDS);
            s->labels[i] = k == 0                          ? (int)i
                           : tr_random_real(&random) < 0.6 ? first % LABELS
                                                           : (int)tr_random_below(&random, LABELS);
            tr_buffer_format(corpus, "L%d", s->labels[i]);
            for (int a = 0; a < 3; a++) {
                int x = a ? (int)tr_random_below(&random, WORDS) : first;
                double value = (double)(float)(0.25 + tr_random_real(&random));
                if (s->value[i][x] == 0) {
                    s->value[i][x] = value;
                    naive->seen[x * LABELS + s->labels[i]] = true;
                    tr_buffer_format(corpus, "\tw%d:%.9g", x, value);
                }
            }
            tr_buffer_char(corpus, '\n');
        }
        tr_buffer_char(corpus, '\n');
    }
    tr_buffer_char(corpus, 0);
    for (int a = 0; a < LABELS; a++) {
        for (int b = 0; b < LABELS; b++) {
            naive->cost[a][b] = a != b;
        }
    }
}

/* phi += amount * Phi(X, Z), as far as those are features */
static inline void add_features(const struct naive *naive, const struct sentence *s,
                                const int *labels, double amount, double *phi)
{
    for (size_t i = 0; i < s->n; i++) {
        for (int x = 0; x < WORDS; x++) {
            int at = x * LABELS + labels[i];
            phi[at] += naive->seen[at] ? amount * s->value[i][x] : 0;
        }
        if (i > 0) {
            phi[NODES + labels[i - 1] * LABELS + labels[i]] += amount;
        }
    }
}

/* d = Phi(X, gold) - Phi(X, labels) */
static inline void difference(const struct naive *naive, const struct sentence *s,
                              const int *labels, double *d)
{
    memset(d, 0, SIZE * sizeof *d);
    add_features(naive, s, s->labels, 1, d);
    add_features(naive, s, labels, -1, d);
}

static inline double dot(const double *x, const double *y)
{
    double sum = 0;
    for (size_t j = 0; j < SIZE; j++) {
        sum += x[j] * y[j];
    }
    return sum;
}

static inline double loss_of(const struct naive *naive, const struct sentence *s, const int *labels)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        sum += naive->cost[s->labels[i]][labels[i]];
    }
    return sum;
}

/* The labellings of a sentence by number, so that of equal ones the first is the lowest read from
 * its end, which is the one that Viterbi finds. False behind the last. */
static inline bool labelling(const struct sentence *s, size_t number, int *labels)
{
    for (size_t i = 0; i < s->n; i++, number /= LABELS) {
        labels[i] = (int)(number % LABELS);
    }
    return number == 0;
}

/* argmax of w . Phi + margin * loss. Scores that differ by rounding alone are equal. */
static inline void best_labels(const struct naive *naive, const struct sentence *s, double margin,
                               int *best)
{
    double highest = -INFINITY;
    int labels[LONGEST];
    for (size_t k = 0; labelling(s, k, labels); k++) {
        double phi[SIZE] = {0};
        add_features(naive, s, labels, 1, phi);
        double score = dot(naive->w, phi) + margin * loss_of(naive, s, labels);
        if (score > highest + 1e-6) {
            highest = score;
            memcpy(best, labels, sizeof labels);
        }
    }
}

/* What a learner does with a sentence. */
typedef void (*naive_rule)(struct naive *naive, const struct sentence *s, void *user);

static inline void learn(struct naive *naive, int epochs, uint64_t seed, naive_rule rule,
                         void *user)
{
    uint32_t order[SENTENCES];
    struct tr_random random;
    tr_random_seed(&random, seed);
    for (uint32_t i = 0; i < SENTENCES; i++) {
        order[i] = i;
    }
    for (int epoch = 0; epoch < epochs; epoch++) {
        tr_random_shuffle(&random, order, SENTENCES);
        for (size_t i = 0; i < SENTENCES; i++) {
            rule(naive, &naive->sentences[order[i]], user);
            for (size_t j = 0; j < SIZE; j++) {
                naive->sum[j] += naive->w[j];
            }
            naive->iterates++;
        }
    }
}

/* The weights of a model. */
static inline void read_weights(const trellis_model *model, double *w)
{
    char *text = say(model, EXPORT), *rest = text, *line;
    memset(w, 0, SIZE * sizeof *w);
    while ((line = strsep(&rest, "\n"))) {
        char *fields[8] = {0}, *left = line;
        for (size_t i = 0; i < 8 && left; i++) {
            fields[i] = strsep(&left, "\t");
        }
        if (strcmp(fields[0], "node") == 0) {
            w[atoi(fields[4] + 1) * LABELS + atoi(fields[2] + 1)] = atof(fields[1]);
        } else if (strcmp(fields[0], "step") == 0) {
            w[NODES + atoi(fields[2] + 1) * LABELS + atoi(fields[3] + 1)] = atof(fields[1]);
        }
    }
    free(text);
}

static inline void assert_close(const double *found, const double *expected, double scale,
                                double tolerance)
{
    size_t other_than_0 = 0;
    for (size_t j = 0; j < SIZE; j++) {
        if (!(fabs(found[j] - scale * expected[j]) <= tolerance)) {
            fail_msg("weight %zu is %.9g, not %.9g", j, found[j], scale * expected[j]);
        }
        other_than_0 += expected[j] != 0;
    }
    assert_true(other_than_0 > 5);
}

#endif
