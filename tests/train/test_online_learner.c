/* test_online_learner.c - learning online, with labels and attributes that appear half way, against
 * a second implementation that tries all labellings; its state to the byte; and bad input. */
#include <math.h>

#include "base/random.h"
#include "model/test_hostile.h"
#include "model/test_model.h"

/* ---- sentences ------------------------------------------------------------------------------- */

enum {
    LABELS = 10, // so that rows of 8 labels do not suffice
    WORDS = 20,
    LONGEST = 3,
    SENTENCES = 60,
    FIRST_EDGE = WORDS * LABELS,
    FIRST_STEP = FIRST_EDGE + WORDS * LABELS * LABELS,
    FIRST_START = FIRST_STEP + LABELS * LABELS,
    FIRST_END = FIRST_START + LABELS,
    SIZE = FIRST_END + LABELS // of the weights
};

/* Words as ready-made attributes with values, or in a column with templates for edges. */
enum form { ATTRIBUTES, COLUMNS };

struct sentence {
    size_t n;
    int words[LONGEST][2]; // the second is -1 in a column
    double values[LONGEST][2];
    int labels[LONGEST];
    double weight;
    /* The same for the library. */
    char word_texts[LONGEST][2][16], label_texts[LONGEST][16];
    char value_texts[LONGEST][20];
    trellis_text label[LONGEST], cells[LONGEST][2];
    trellis_attribute attributes[2 * LONGEST];
    size_t begin[LONGEST + 1];
};

static struct sentence sentences[SENTENCES];
static trellis_sequence sequences[SENTENCES];

static void put_word(struct sentence *s, size_t i, size_t k, int word, double value)
{
    s->words[i][k] = word;
    s->values[i][k] = value;
    snprintf(s->word_texts[i][k], sizeof s->word_texts[i][k], "w%d", word);
    s->attributes[2 * i + k] = (trellis_attribute){tr_text(s->word_texts[i][k]), value};
}

/* More labels and words as it goes on; values are 1 where they are whole. */
static void make_sentences_with(uint64_t seed, enum form form, bool weighted, bool whole)
{
    struct tr_random random;
    tr_random_seed(&random, seed);
    memset(sentences, 0, sizeof sentences);
    for (size_t k = 0; k < SENTENCES; k++) {
        struct sentence *s = &sentences[k];
        uint64_t labels = k < 12 ? 2 + k / 6 : k < 50 ? 4 + k / 10 : LABELS;
        uint64_t words = 4 + k / 4 < WORDS ? 4 + k / 4 : WORDS;
        s->n = 1 + tr_random_below(&random, LONGEST);
        s->weight = weighted ? (double)(1 + tr_random_below(&random, 8)) / 4 : 1;
        for (size_t i = 0; i < s->n; i++) {
            int word = (int)tr_random_below(&random, words);
            bool usual = tr_random_real(&random) < 0.7;
            s->labels[i] = usual ? word % (int)labels : (int)tr_random_below(&random, labels);
            s->labels[i] = k >= 50 && i == 0 ? (int)k - 50
                                             : s->labels[i]; // all of them, in the end
            put_word(s, i, 0, word, whole ? 1 : (double)(float)(0.25 + tr_random_real(&random)));
            put_word(s, i, 1, (word + 1) % (int)words,
                     (double)(float)(0.25 + tr_random_real(&random)));
            if (form == COLUMNS) {
                s->words[i][1] = -1;
            }
            s->cells[i][0] = tr_text(s->word_texts[i][0]);
            snprintf(s->value_texts[i], sizeof s->value_texts[i], "%.9g", s->values[i][0]);
            s->cells[i][1] = tr_text(s->value_texts[i]);
            snprintf(s->label_texts[i], sizeof s->label_texts[i], "L%d", s->labels[i]);
            s->label[i] = tr_text(s->label_texts[i]);
            s->begin[i + 1] = 2 * i + 2;
        }
        sequences[k] = (trellis_sequence){.struct_size = sizeof(trellis_sequence),
                                          .length = s->n,
                                          .labels = s->label,
                                          .weight = s->weight};
        if (form == COLUMNS) {
            sequences[k].columns = 2;
            sequences[k].cells = s->cells[0];
        } else {
            sequences[k].attributes = s->attributes;
            sequences[k].attribute_begin = s->begin;
        }
    }
}

static void make_sentences(uint64_t seed, enum form form, bool weighted)
{
    make_sentences_with(seed, form, weighted, false);
}

/* ---- a second implementation ----------------------------------------------------------------- */

struct naive {
    enum form form;
    int number[LABELS]; // of each label, by first appearance; -1: not seen yet
    int label[LABELS];  // of each number
    int known;          // labels
    double w[SIZE], average[SIZE], variance[SIZE];
    double steps;
};

/* A labelling by number: of equal ones the first is the lowest read from its end, which is the one
 * that Viterbi finds. False after the last. */
static bool labelling(const struct naive *naive, const struct sentence *s, size_t number,
                      int *labels)
{
    for (size_t i = 0; i < s->n; i++, number /= (size_t)naive->known) {
        labels[i] = naive->label[number % (size_t)naive->known];
    }
    return number == 0;
}

/* phi += amount * Phi(X, Z), or the sum of w over it. */
static double walk(const struct naive *naive, const struct sentence *s, const int *labels,
                   double amount, double *phi)
{
    double score = 0;
#define FIRE(at, value)                                                                            \
    do {                                                                                           \
        size_t at_ = (size_t)(at);                                                                 \
        score += naive->w[at_] * (value);                                                          \
        if (phi) {                                                                                 \
            phi[at_] += amount * (value);                                                          \
        }                                                                                          \
    } while (0)
    for (size_t i = 0; i < s->n; i++) {
        for (size_t k = 0; k < 2; k++) {
            if (s->words[i][k] >= 0) {
                FIRE(s->words[i][k] * LABELS + labels[i], s->values[i][k]);
            }
        }
        if (i > 0) {
            FIRE(FIRST_STEP + labels[i - 1] * LABELS + labels[i], 1);
        }
        if (i > 0 && naive->form == COLUMNS) {
            FIRE(FIRST_EDGE + (s->words[i][0] * LABELS + labels[i - 1]) * LABELS + labels[i],
                 s->values[i][0]);
        }
    }
    if (naive->form == COLUMNS) {
        FIRE(FIRST_START + labels[0], 1);
        FIRE(FIRST_END + labels[s->n - 1], 1);
    }
    return score;
}

static double wrong_labels(const struct sentence *s, const int *labels)
{
    double wrong = 0;
    for (size_t i = 0; i < s->n; i++) {
        wrong += labels[i] != s->labels[i];
    }
    return wrong;
}

/* d = Phi(gold) - Phi(Z*) for the best Z* with a margin; by how much the margin is missed. */
static double violation(const struct naive *naive, const struct sentence *s, double margin,
                        double *d)
{
    int labels[LONGEST], best[LONGEST] = {0};
    double highest = -INFINITY;
    for (size_t k = 0; labelling(naive, s, k, labels); k++) {
        double score = walk(naive, s, labels, 0, NULL) + margin * wrong_labels(s, labels);
        if (score > highest + 1e-6) {
            highest = score;
            memcpy(best, labels, sizeof labels);
        }
    }
    memset(d, 0, SIZE * sizeof *d);
    double gold = walk(naive, s, s->labels, 1, d), found = walk(naive, s, best, -1, d);
    return wrong_labels(s, best) - gold + found;
}

/* w += tau d and the even average. */
static void move(struct naive *naive, const double *d, double tau)
{
    naive->steps++;
    for (size_t j = 0; j < SIZE; j++) {
        naive->w[j] += tau * d[j];
        naive->average[j] += (naive->w[j] - naive->average[j]) / naive->steps;
    }
}

static double square(const double *d)
{
    double sum = 0;
    for (size_t j = 0; j < SIZE; j++) {
        sum += d[j] * d[j];
    }
    return sum;
}

static void perceptron(struct naive *naive, const struct sentence *s)
{
    double d[SIZE];
    violation(naive, s, 0, d);
    move(naive, d, s->weight);
}

static void plain_perceptron(struct naive *naive, const struct sentence *s)
{
    perceptron(naive, s);
    memcpy(naive->average, naive->w, sizeof naive->w);
}

static void passive_aggressive(struct naive *naive, const struct sentence *s, double cap,
                               double softness)
{
    double d[SIZE], loss = violation(naive, s, 1, d), norm = square(d);
    bool moves = loss > 0 && norm > 0;
    move(naive, d, moves ? fmin(s->weight * cap, loss / (norm + softness / s->weight)) : 0);
}

static void pa(struct naive *naive, const struct sentence *s)
{
    passive_aggressive(naive, s, INFINITY, 0);
}

static void pa1(struct naive *naive, const struct sentence *s)
{
    passive_aggressive(naive, s, 0.25, 0);
}

static void pa2(struct naive *naive, const struct sentence *s)
{
    passive_aggressive(naive, s, INFINITY, 2);
}

static void arow(struct naive *naive, const struct sentence *s)
{
    double d[SIZE], loss = violation(naive, s, 1, d), confidence = 0;
    for (size_t j = 0; j < SIZE; j++) {
        confidence += naive->variance[j] * d[j] * d[j];
    }
    double beta = 1 / (confidence + 1 / s->weight);
    for (size_t j = 0; j < SIZE; j++) {
        double along = naive->variance[j] * d[j];
        d[j] = along;
        naive->variance[j] -= loss > 0 ? beta * along * along : 0;
    }
    move(naive, d, loss > 0 ? loss * beta : 0);
}

/* The gradient of -log P(gold), times the weight. */
static void add_gradient(const struct naive *naive, const struct sentence *s, double *gradient)
{
    int labels[LONGEST];
    double z = 0;
    for (size_t k = 0; labelling(naive, s, k, labels); k++) {
        z += exp(walk(naive, s, labels, 0, NULL));
    }
    for (size_t k = 0; labelling(naive, s, k, labels); k++) {
        double p = exp(walk(naive, s, labels, 0, NULL)) / z;
        walk(naive, s, labels, s->weight * p, gradient);
    }
    walk(naive, s, s->labels, -s->weight, gradient);
}

static const struct {
    const char *options;
    void (*learn)(struct naive *naive, const struct sentence *s);
    size_t batch; // of stochastic steps; 0: none are taken
    double l2, rate;
} learners[] = {
    {"type=perceptron", perceptron, 0, 0, 0},
    {"type=perceptron algorithm=plain", plain_perceptron, 0, 0, 0},
    {"type=perceptron algorithm=pa", pa, 0, 0, 0},
    {"type=perceptron algorithm=pa1 aggressiveness=0.25", pa1, 0, 0, 0},
    {"type=perceptron algorithm=pa2 aggressiveness=0.25", pa2, 0, 0, 0},
    {"type=perceptron algorithm=arow variance=0.5", arow, 0, 0, 0},
    {"type=mira mbest=1 aggressiveness=0.25", pa1, 0, 0, 0},
    {"type=crf algorithm=sgd l2=0.5", NULL, 1, 0.5, 0.1},
    {"type=crf algorithm=sgd l2=3 rate=0.5 batch=4 threads=2", NULL, 4, 3, 0.5},
    {"type=crf algorithm=sgd average=no rate=0.3", NULL, 1, 1, 0.3},
};

/* A step of -a sgd on `count` sentences from `first` on. */
static void step(struct naive *naive, size_t learner, size_t first, size_t count)
{
    double g[SIZE] = {0}, l2 = learners[learner].l2, rate = learners[learner].rate;
    double lambda = 2 * l2 / fmax((double)(first + count), 4 * l2 * rate);
    double eta = rate / pow(1 + (double)first / 10000, 0.75) * (double)count /
                 (double)learners[learner].batch;
    for (size_t k = first; k < first + count; k++) {
        add_gradient(naive, &sentences[k], g);
    }
    double mu = 4 / (++naive->steps + 3);
    mu = strstr(learners[learner].options, "average=no") ? 1 : mu;
    for (size_t j = 0; j < SIZE; j++) {
        naive->w[j] = (1 - eta * lambda) * naive->w[j] - eta * g[j] / (double)count;
        naive->average[j] += mu * (naive->w[j] - naive->average[j]);
    }
}

static void begin_naive(struct naive *naive, enum form form, double variance)
{
    *naive = (struct naive){.form = form};
    for (int i = 0; i < LABELS; i++) {
        naive->number[i] = -1;
    }
    for (size_t j = 0; j < SIZE; j++) {
        naive->variance[j] = variance;
    }
}

/* Sentences first .. first + count - 1 in one call. */
static void learn_naive(struct naive *naive, size_t learner, size_t first, size_t count)
{
    for (size_t k = first; k < first + count; k++) {
        for (size_t i = 0; i < sentences[k].n; i++) {
            int label = sentences[k].labels[i];
            if (naive->number[label] < 0) {
                naive->label[naive->known] = label;
                naive->number[label] = naive->known++;
            }
        }
    }
    size_t batch = learners[learner].batch;
    for (size_t k = first; k < first + count; k += batch ? batch : 1) {
        if (batch) {
            step(naive, learner, k, first + count - k < batch ? first + count - k : batch);
        } else {
            learners[learner].learn(naive, &sentences[k]);
        }
    }
}

/* ---- the library ----------------------------------------------------------------------------- */

static const char templates[] = "columns word x\n"
                                "node real(x)&word\n"
                                "edge real(x)&word\n"
                                "step start end\n";

static trellis_online *create(const char *text, enum form form)
{
    char all[200];
    trellis_error error = {0};
    trellis_online *online;
    trellis_features *features = NULL;
    snprintf(all, sizeof all, "%s%s", text, form == ATTRIBUTES ? " format=crfsuite" : "");
    trellis_options *options = make_options(all);
    if (form == COLUMNS) {
        assert_ok(trellis_features_parse(tr_text(templates), "test", NULL, 0, &features, &error),
                  error);
    }
    assert_ok(trellis_online_create(options, NULL, features, &online, &error), error);
    trellis_features_destroy(features);
    trellis_options_destroy(options);
    return online;
}

static void learn(trellis_online *online, size_t first, size_t count)
{
    trellis_error error = {0};
    assert_ok(trellis_online_learn(online, sequences + first, count, &error), error);
    assert_int_equal(trellis_online_sequences(online), first + count);
}

static trellis_model *model_of(const trellis_online *online)
{
    trellis_error error = {0};
    trellis_model *model;
    assert_ok(trellis_online_model(online, &model, &error), error);
    return model;
}

static int number_in(trellis_text text)
{
    const char *at = text.data + text.size;
    while (at > text.data && at[-1] >= '0' && at[-1] <= '9') {
        at--;
    }
    int number = 0;
    for (; at < text.data + text.size; at++) {
        number = 10 * number + (*at - '0');
    }
    return number;
}

static size_t place_of_weight(const trellis_weight *weight, size_t label_count)
{
    int label[2] = {0};
    for (size_t i = 0; i < weight->label_count; i++) {
        label[i] = (size_t)weight->numbers[i] < label_count ? number_in(weight->labels[i]) : -1;
    }
    if (weight->kind == TRELLIS_NODE_WEIGHT) {
        return (size_t)(number_in(weight->attribute) * LABELS + label[0]);
    }
    if (weight->kind == TRELLIS_EDGE_WEIGHT) {
        return (size_t)(FIRST_EDGE + (number_in(weight->attribute) * LABELS + label[0]) * LABELS +
                        label[1]);
    }
    return (size_t)(label[0] < 0   ? FIRST_START + label[1]
                    : label[1] < 0 ? FIRST_END + label[0]
                                   : FIRST_STEP + label[0] * LABELS + label[1]);
}

static void compare(const trellis_online *online, const double *expected, const char *about)
{
    trellis_model *model = model_of(online);
    trellis_weight_iterator *iterator;
    trellis_error error = {0};
    const trellis_weight *weight;
    double found[SIZE] = {0};
    size_t others = 0;
    assert_ok(trellis_weight_iterator_create(model, &iterator, &error), error);
    while ((weight = trellis_weight_iterator_next(iterator))) {
        assert_true(weight->weight != 0);
        found[place_of_weight(weight, trellis_model_label_count(model))] = weight->weight;
    }
    for (size_t j = 0; j < SIZE; j++) {
        if (!(fabs(found[j] - expected[j]) <= 2e-5 * (1 + fabs(expected[j])))) {
            fail_msg("%s: weight %zu is %.9g, not %.9g", about, j, found[j], expected[j]);
        }
        others += found[j] != 0;
    }
    assert_true(others > 20);
    trellis_weight_iterator_destroy(iterator);
    trellis_model_close(model);
}

static void check_learner(size_t learner, enum form form, uint64_t seed, size_t at_once)
{
    struct naive naive;
    make_sentences(seed, form, seed % 2);
    begin_naive(&naive, form, 0.5);
    trellis_online *online = create(learners[learner].options, form);
    for (size_t k = 0; k < SENTENCES; k += at_once) {
        learn(online, k, at_once);
        learn_naive(&naive, learner, k, at_once);
        if (k == SENTENCES / 2) {
            compare(online, naive.average, learners[learner].options);
        }
    }
    assert_int_equal(naive.known, LABELS);
    compare(online, naive.average, learners[learner].options);
    trellis_online_destroy(online);
}

static void test_learners(void **state)
{
    (void)state;
    for (size_t i = 0; i < TR_COUNT(learners); i++) {
        for (uint64_t seed = 1; seed <= 4; seed++) {
            check_learner(i, ATTRIBUTES, seed, 1);
            check_learner(i, ATTRIBUTES, seed + 10, 6);
            check_learner(i, COLUMNS, seed + 20, 1);
            check_learner(i, COLUMNS, seed + 30, SENTENCES);
        }
    }
}

/* ---- one epoch of a training ----------------------------------------------------------------- */

/* The weights by name, each with all digits, in an order of their own. */
static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sorted_weights(const trellis_model *model)
{
    trellis_weight_iterator *iterator;
    trellis_error error = {0};
    const trellis_weight *weight;
    TR_ARRAY(char *) lines = {0};
    struct tr_buffer all = {0};
    assert_ok(trellis_weight_iterator_create(model, &iterator, &error), error);
    while ((weight = trellis_weight_iterator_next(iterator))) {
        struct tr_buffer line = {0};
        for (size_t i = 0; i < weight->label_count; i++) {
            tr_buffer_text(&line, weight->labels[i]);
            tr_buffer_char(&line, ' ');
        }
        tr_buffer_text(&line, weight->attribute);
        tr_buffer_format(&line, " %.9g\n", weight->weight);
        tr_buffer_char(&line, 0);
        if (weight->weight == 0) {
            tr_buffer_free(&line);
        } else {
            assert_true(tr_push(&lines, line.data));
        }
    }
    qsort(lines.at, lines.size, sizeof *lines.at, by_line);
    for (size_t i = 0; i < lines.size; i++) {
        tr_buffer_string(&all, lines.at[i]);
        free(lines.at[i]);
    }
    tr_buffer_char(&all, 0);
    free(lines.at);
    trellis_weight_iterator_destroy(iterator);
    return all.data;
}

/* In the order that the training will take; in both orders, labels are first seen in the same
 * one. */
static void test_epoch(void **state)
{
    (void)state;
    static const char *const types[] = {"type=perceptron", "type=perceptron algorithm=plain"};
    uint32_t order[SENTENCES];
    for (int seed = 1; seed <= 6; seed++) {
        struct tr_random random;
        struct tr_buffer corpus = {0};
        make_sentences_with((uint64_t)seed, COLUMNS, false, true);
        tr_random_seed(&random, (uint64_t)seed);
        for (uint32_t i = 0; i < SENTENCES; i++) {
            order[i] = i;
        }
        tr_random_shuffle(&random, order, SENTENCES);
        trellis_sequence all[SENTENCES];
        trellis_text labels[LABELS], cells[LABELS][2];
        char texts[LABELS][16];
        for (int i = 0; i < LABELS; i++) {
            snprintf(texts[i], sizeof texts[i], "L%d", i);
            labels[i] = tr_text(texts[i]);
            cells[i][0] = tr_text("w1");
            cells[i][1] = tr_text("1");
        }
        for (size_t k = 0; k < SENTENCES; k++) {
            if (k == 0 || k == order[0]) {
                sequences[k].length = LABELS;
                sequences[k].labels = labels;
                sequences[k].cells = cells[0];
            }
            for (size_t i = 0; i < sequences[k].length; i++) {
                tr_buffer_text(&corpus, sequences[k].cells[2 * i]);
                tr_buffer_string(&corpus, "\t1\t");
                tr_buffer_text(&corpus, sequences[k].labels[i]);
                tr_buffer_char(&corpus, '\n');
            }
            tr_buffer_char(&corpus, '\n');
        }
        tr_buffer_char(&corpus, 0);
        for (size_t k = 0; k < SENTENCES; k++) {
            all[k] = sequences[order[k]];
        }
        for (size_t i = 0; i < TR_COUNT(types); i++) {
            char options[400];
            trellis_error error = {0};
            snprintf(options, sizeof options, "%s epochs=1 seed=%d all-features=yes features=%s",
                     types[i], seed, put_text("templates", templates));
            trellis_model *batch = train_on(corpus.data, options);
            trellis_online *online = create(types[i], COLUMNS);
            assert_ok(trellis_online_learn(online, all, SENTENCES, &error), error);
            trellis_model *model = model_of(online);
            char *expected = sorted_weights(batch), *found = sorted_weights(model);
            assert_string_equal(found, expected);
            assert_true(strlen(found) > 500);
            free(expected);
            free(found);
            trellis_model_close(model);
            trellis_model_close(batch);
            trellis_online_destroy(online);
        }
        tr_buffer_free(&corpus);
    }
}

/* ---- state ----------------------------------------------------------------------------------- */

static struct tr_buffer state_of(const trellis_online *online)
{
    struct tr_buffer bytes = {0};
    trellis_error error = {0};
    assert_ok(trellis_online_save(online, to_buffer, &bytes, &error), error);
    return bytes;
}

static trellis_online *restore(const struct tr_buffer *bytes)
{
    trellis_error error = {0};
    trellis_online *online;
    assert_ok(trellis_online_restore(bytes->data, bytes->size, &online, &error), error);
    return online;
}

static void assert_same_bytes(const struct tr_buffer *a, const struct tr_buffer *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static void assert_same_state(const trellis_online *a, const trellis_online *b)
{
    struct tr_buffer x = state_of(a), y = state_of(b);
    assert_same_bytes(&x, &y);
    tr_buffer_free(&x);
    tr_buffer_free(&y);
}

static void assert_same_model(const trellis_online *a, const trellis_online *b)
{
    trellis_model *models[2] = {model_of(a), model_of(b)};
    struct tr_buffer bytes[2] = {{0}, {0}};
    trellis_error error = {0};
    for (int i = 0; i < 2; i++) {
        assert_ok(trellis_model_write(models[i], to_buffer, &bytes[i], &error), error);
        trellis_model_close(models[i]);
    }
    assert_same_bytes(&bytes[0], &bytes[1]);
    tr_buffer_free(&bytes[0]);
    tr_buffer_free(&bytes[1]);
}

static const char *const kinds[] = {
    "type=perceptron",
    "type=perceptron algorithm=plain beam=2 update=early",
    "type=perceptron algorithm=pa loss=root",
    "type=perceptron algorithm=arow",
    "type=mira mbest=3",
    "type=crf algorithm=sgd batch=3",
    "type=crf algorithm=sgd average=no loss=hamming",
    "type=maxent algorithm=sgd",
    "type=memm algorithm=sgd",
};

/* One is interrupted again and again, and asked for models; the other is not. */
static void test_restore(void **state)
{
    (void)state;
    for (size_t i = 0; i < TR_COUNT(kinds); i++) {
        for (enum form form = ATTRIBUTES; form <= COLUMNS; form++) {
            make_sentences(i + 1, form, true);
            trellis_online *a = create(kinds[i], form), *b = create(kinds[i], form);
            for (size_t k = 0; k < SENTENCES; k += 4) {
                if (k % 12 == 0) {
                    struct tr_buffer bytes = state_of(b);
                    trellis_online_destroy(b);
                    b = restore(&bytes);
                    tr_buffer_free(&bytes);
                }
                if (k) {
                    trellis_model_close(model_of(b));
                }
                learn(a, k, 4);
                learn(b, k, 4);
            }
            assert_same_state(a, b);
            assert_same_model(a, b);
            trellis_online_destroy(a);
            trellis_online_destroy(b);
        }
    }
}

/* A state at an odd address, one byte missing or changed, and bytes of something else. */
static void test_damage(void **state)
{
    (void)state;
    trellis_error error = {0};
    make_sentences(3, COLUMNS, false);
    trellis_online *online = create("type=perceptron", COLUMNS), *other;
    learn(online, 0, 8);
    struct tr_buffer bytes = state_of(online);
    char *moved = malloc(bytes.size + 1);
    memcpy(moved + 1, bytes.data, bytes.size);
    assert_ok(trellis_online_restore(moved + 1, bytes.size, &other, &error), error);
    assert_same_state(online, other);
    trellis_online_destroy(other);
    for (size_t i = 0; i < bytes.size; i += 1 + i / 40) {
        char kept = bytes.data[i];
        bytes.data[i] ^= 0x55;
        trellis_status status = trellis_online_restore(bytes.data, bytes.size, &other, &error);
        bytes.data[i] = kept;
        if (status == TRELLIS_OK) { // a gap between two sections
            trellis_online_destroy(other);
        } else {
            assert_int_equal(status, TRELLIS_MODEL);
            assert_null(other);
        }
        assert_int_equal(trellis_online_restore(bytes.data, i, &other, NULL), TRELLIS_MODEL);
    }
    trellis_model *model = model_of(online);
    struct tr_buffer of_model = {0};
    assert_ok(trellis_model_write(model, to_buffer, &of_model, &error), error);
    assert_int_equal(trellis_online_restore(of_model.data, of_model.size, &other, &error),
                     TRELLIS_MODEL);
    trellis_model *no_model;
    assert_int_equal(
        trellis_model_open_bytes(bytes.data, bytes.size, TRELLIS_COPY, &no_model, NULL),
        TRELLIS_MODEL);
    tr_buffer_free(&of_model);
    trellis_model_close(model);
    tr_buffer_free(&bytes);
    free(moved);
    trellis_online_destroy(online);
}

/* Bytes that someone changed, with checksums that agree: an error, or a learner that can be
 * used. */
static void test_hostile(void **state)
{
    (void)state;
    struct tr_random random;
    size_t usable = 0;
    tr_random_seed(&random, 7);
    for (size_t i = 0; i < TR_COUNT(kinds); i++) {
        make_sentences(i + 5, COLUMNS, false);
        trellis_online *online = create(kinds[i], COLUMNS), *other;
        learn(online, 0, 6);
        struct tr_buffer bytes = state_of(online);
        unsigned char *changed = malloc(bytes.size);
        for (int round = 0; round < 400; round++) {
            memcpy(changed, bytes.data, bytes.size);
            for (uint64_t k = tr_random_below(&random, 3) + 1; k > 0; k--) {
                size_t at = 32 + tr_random_below(&random, bytes.size - 32);
                bool number = tr_random_below(&random, 2) && at + 8 < bytes.size;
                uint64_t big = tr_random_below(&random, 2)
                                   ? UINT64_MAX >> tr_random_below(&random, 64)
                                   : 0;
                if (number) {
                    memcpy(changed + at / 4 * 4, &big, round % 2 ? 4 : 8);
                } else {
                    changed[at] = (unsigned char)tr_random_below(&random, 256);
                }
            }
            repair_checksums(changed, bytes.size);
            if (trellis_online_restore(changed, bytes.size, &other, NULL)) {
                continue;
            }
            trellis_model *model;
            usable++;
            trellis_online_learn(other, sequences + 6, 20, NULL);
            if (!trellis_online_model(other, &model, NULL)) {
                trellis_model_close(model);
            }
            trellis_online_destroy(other);
        }
        free(changed);
        tr_buffer_free(&bytes);
        trellis_online_destroy(online);
    }
    assert_true(usable > 100);
}

/* ---- from a model ---------------------------------------------------------------------------- */

static const char corpus[] = "the\t1\tDT\ndog\t1\tNN\nbarks\t1\tVB\n\n"
                             "a\t1\tDT\ncat\t1\tNN\n\nbarks\t1\tVB\n\n";

static void test_from_model(void **state)
{
    (void)state;
    char text[300];
    trellis_error error = {0};
    static const char *const types[] = {"type=perceptron", "type=crf algorithm=sgd"};
    put_text("templates", templates);
    snprintf(text, sizeof text, "type=crf epochs=5 features=%s", path_of("templates"));
    trellis_model *model = train_on(corpus, text);
    char *expected = sorted_weights(model);
    make_sentences(4, COLUMNS, false);
    for (size_t i = 0; i < TR_COUNT(types); i++) {
        trellis_options *options = make_options(types[i]);
        trellis_online *online;
        assert_ok(trellis_online_create(options, model, NULL, &online, &error), error);
        trellis_model *same = model_of(online);
        char *found = sorted_weights(same), *labels = tag_by(same, "a|1 dog|1 barks|1", NULL);
        assert_string_equal(found, expected);
        assert_string_equal(labels, "DT NN VB");
        learn(online, 0, 1);
        learn(online, 1, SENTENCES - 1);
        trellis_model *more = model_of(online);
        assert_int_equal(trellis_model_label_count(more), 3 + LABELS);
        trellis_model_close(more);
        trellis_model_close(same);
        free(found);
        free(labels);
        trellis_online_destroy(online);
        trellis_options_destroy(options);
    }
    free(expected);
    trellis_model_close(model);
}

static void test_unfit_models(void **state)
{
    (void)state;
    static const char *const unfit[] = {"type=hmm", "type=perceptron order=2",
                                        "type=perceptron dictionary=learn dictionary-count=1"};
    for (size_t i = 0; i < TR_COUNT(unfit); i++) {
        trellis_error error = {0};
        trellis_online *online;
        trellis_model *model = train_on(corpus, unfit[i]);
        trellis_status status = trellis_online_create(NULL, model, NULL, &online, &error);
        if (i == 0) { // the default type is no perceptron
            assert_true(status != TRELLIS_OK);
        }
        trellis_options *options = make_options("type=perceptron");
        status = trellis_online_create(options, model, NULL, &online, &error);
        assert_int_equal(status, TRELLIS_MODEL);
        assert_null(online);
        trellis_options_destroy(options);
        trellis_model_close(model);
    }
}

/* ---- mistakes of the caller ------------------------------------------------------------------ */

static void test_refused_options(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "type=crf",
        "type=ssvm",
        "type=hmm",
        "type=perceptron order=2",
        "type=perceptron counted=3",
        "type=perceptron dictionary=learn",
        "type=perceptron min-count=2",
        "type=perceptron from=model",
        "type=perceptron train-scheme=iobes",
        "type=perceptron algorithm=pa cost=file",
        "type=perceptron constrain=file",
        "type=crf algorithm=sgd prune=0.01",
        "type=crf algorithm=sgd select-l1=1",
        "type=crf algorithm=sgd partial=yes loss=hamming",
    };
    for (size_t i = 0; i < TR_COUNT(refused); i++) {
        trellis_error error = {0};
        trellis_online *online;
        trellis_options *options = make_options(refused[i]);
        if (trellis_online_create(options, NULL, NULL, &online, &error) != TRELLIS_OPTION ||
            online || !error.message[0]) {
            fail_msg("%s: '%s'", refused[i], error.message);
        }
        trellis_options_destroy(options);
    }
    trellis_features *features;
    trellis_online *online;
    trellis_error error = {0};
    trellis_options *options = make_options("type=perceptron");
    static const char *const all_data[] = {"columns word\nnode rare(word, 3)\nstep\n",
                                           "columns word\nnode learned(word, first)\nstep\n"};
    for (size_t i = 0; i < TR_COUNT(all_data); i++) {
        assert_ok(trellis_features_parse(tr_text(all_data[i]), "test", NULL, 0, &features, &error),
                  error);
        assert_int_equal(trellis_online_create(options, NULL, features, &online, &error),
                         TRELLIS_OPTION);
        trellis_features_destroy(features);
    }
    trellis_options_destroy(options);
}

static void refuse(trellis_online *online, const trellis_sequence *bad, trellis_status expected,
                   const char *message)
{
    struct tr_buffer before = state_of(online), after;
    trellis_error error = {0};
    trellis_sequence two[2] = {sequences[SENTENCES - 1],
                               *bad}; // the first has new labels and words
    trellis_status status = trellis_online_learn(online, two, 2, &error);
    if (status != expected || !strstr(error.message, message)) {
        fail_msg("status %s: '%s' does not say '%s'", trellis_status_name(status), error.message,
                 message);
    }
    after = state_of(online);
    assert_same_bytes(&before, &after);
    tr_buffer_free(&before);
    tr_buffer_free(&after);
}

static void test_bad_sequences(void **state)
{
    (void)state;
    static const char *const types[] = {"type=perceptron", "type=crf algorithm=sgd"};
    for (size_t i = 0; i < TR_COUNT(types); i++) {
        make_sentences(2, ATTRIBUTES, false);
        trellis_online *online = create(types[i], ATTRIBUTES);
        trellis_model *model;
        trellis_error error = {0};
        assert_int_equal(trellis_online_model(online, &model, &error), TRELLIS_DATA);
        assert_ok(trellis_online_learn(online, NULL, 0, &error), error);
        learn(online, 0, 5);
        trellis_sequence bad = sequences[6];
        bad.length = 0;
        refuse(online, &bad, TRELLIS_DATA, "sequence 2 has no tokens");
        bad = sequences[6];
        bad.labels = NULL;
        refuse(online, &bad, TRELLIS_DATA, "sequence 2 has no labels");
        bad = sequences[6];
        bad.struct_size = 0;
        refuse(online, &bad, TRELLIS_OPTION, "sequence 2: struct_size");
        bad = sequences[6];
        bad.weight = NAN;
        refuse(online, &bad, TRELLIS_DATA, "weight");
        bad.weight = -1;
        refuse(online, &bad, TRELLIS_DATA, "weight");
        bad = sequences[6];
        bad.attribute_begin = NULL;
        bad.attributes = NULL;
        refuse(online, &bad, TRELLIS_DATA, "neither columns nor attributes");
        sentences[7].attributes[0].value = NAN;
        refuse(online, &sequences[7], TRELLIS_DATA, "finite");
        trellis_sequence unset = {0};
        assert_int_equal(trellis_online_learn(online, &unset, 1, &error), TRELLIS_OPTION);
        trellis_online_destroy(online);

        make_sentences(2, COLUMNS, false);
        online = create(types[i], COLUMNS);
        learn(online, 0, 5);
        make_sentences(2, ATTRIBUTES, false);
        bad = sequences[6];
        refuse(online, &bad, TRELLIS_FORMAT, "the templates need column");
        trellis_online_destroy(online);
    }
}

/* A gold path that the constraint forbids is refused; so is a partial one that no path agrees
 * with. */
static void test_constraints(void **state)
{
    (void)state;
    trellis_text cells[] = {TR_TEXT("a"), TR_TEXT("1"), TR_TEXT("b"), TR_TEXT("1")};
    trellis_text labels[] = {TR_TEXT("B-X"), TR_TEXT("I-X")},
                 wrong[] = {TR_TEXT("O"), TR_TEXT("I-X")};
    trellis_text open[] = {TR_TEXT("_"), TR_TEXT("I-X|O")};
    trellis_sequence s = {.struct_size = sizeof s,
                          .length = 2,
                          .columns = 2,
                          .cells = cells,
                          .labels = labels,
                          .weight = 1};
    trellis_online *online = create("type=perceptron constrain=iob partial=yes", COLUMNS);
    trellis_error error = {0};
    assert_ok(trellis_online_learn(online, &s, 1, &error), error);
    struct tr_buffer before = state_of(online);
    s.labels = wrong;
    assert_int_equal(trellis_online_learn(online, &s, 1, &error), TRELLIS_DATA);
    struct tr_buffer after = state_of(online);
    assert_same_bytes(&before, &after);
    s.labels = open;
    assert_ok(trellis_online_learn(online, &s, 1, &error), error);
    trellis_model *model = model_of(online);
    assert_int_equal(trellis_model_label_count(model), 3);
    trellis_model_close(model);
    tr_buffer_free(&before);
    tr_buffer_free(&after);
    trellis_online_destroy(online);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learners),      cmocka_unit_test(test_epoch),
        cmocka_unit_test(test_restore),       cmocka_unit_test(test_damage),
        cmocka_unit_test(test_hostile),       cmocka_unit_test(test_from_model),
        cmocka_unit_test(test_unfit_models),  cmocka_unit_test(test_refused_options),
        cmocka_unit_test(test_bad_sequences), cmocka_unit_test(test_constraints),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
