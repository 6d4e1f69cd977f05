/* test_crf.c - conditional random fields from a corpus to a model, judged by what they should be.
 *
 * The judge reads the corpus and the exported weights, enumerates the label sequences of the short
 * sentences, and works out the objective and its gradient from their definitions:
 *
 *     F(w) = sum_s -log P(Z_s | X_s; w) + l2 |w|^2 + l1 |w|_1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "base/text.h"
#include "support/settings.h"

enum { LABELS = 3, LONGEST = 4, SENTENCES = 60, ATTRIBUTES = 3, WORDS = 4 };

/* ---- files ----------------------------------------------------------------------------------- */

/* The path of a file that does not exist yet; drop() removes it. */
static char *temporary(const char *name)
{
    const char *folder = getenv("TRELLIS_TMP");
    char *path = NULL;
    assert_true(asprintf(&path, "%s/crf-%d-%s", folder ? folder : "/tmp", (int)getpid(), name) > 0);
    return path;
}

static void drop(char *path)
{
    unlink(path);
    free(path);
}

static char *write_file(const char *name, const char *text)
{
    char *path = temporary(name);
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

static trellis_status keep_text(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

/* ---- training -------------------------------------------------------------------------------- */

/* A training and what it said on its way. */
struct run {
    trellis_status status;
    trellis_error error;
    trellis_model *model;
    char said[4000];     // its notes, one a line
    uint64_t iterations; // that were reported
    double dev[1000];    // their accuracy on --dev
    double objective;    // of the last
    uint64_t stop_after; // 0: never
};

static bool listen(void *user, const trellis_progress *progress)
{
    struct run *run = user;
    size_t size = strlen(run->said);
    if (progress->message) {
        snprintf(run->said + size, sizeof run->said - size, "%s\n", progress->message);
    }
    if (progress->phase == TRELLIS_PHASE_TRAINING && progress->fraction >= 1) {
        run->dev[run->iterations++ % TR_COUNT(run->dev)] = progress->dev_accuracy;
        run->objective = progress->objective;
    }
    return !run->stop_after || run->iterations < run->stop_after;
}

static void train(struct run *run, const char *path, const char *settings)
{
    trellis_options *options = make_options(settings);
    run->status = trellis_train_files(options, &path, 1, listen, run, &run->model, &run->error);
    trellis_options_destroy(options);
}

/* A training that must come to its end. */
static struct run *trained(const char *path, const char *settings)
{
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    train(run, path, settings);
    if (run->status) {
        fail_msg("%s: %s", settings, run->error.message);
    }
    return run;
}

static void run_free(struct run *run)
{
    trellis_model_close(run->model);
    free(run);
}

/* The share of tokens that the model labels as the file does; `settings` say how to read it. */
static double accuracy(const trellis_model *model, const char *path, const char *settings)
{
    trellis_options *options = make_options(settings);
    trellis_reader *reader;
    trellis_tagger *tagger;
    trellis_evaluation *evaluation;
    const trellis_sequence *sequence;
    const trellis_text *labels;
    assert_int_equal(trellis_reader_open(path, options, &reader, NULL), TRELLIS_OK);
    assert_int_equal(trellis_tagger_create(model, options, &tagger, NULL), TRELLIS_OK);
    assert_int_equal(trellis_tagger_bind(tagger, reader, NULL), TRELLIS_OK);
    assert_int_equal(trellis_evaluation_create(options, &evaluation, NULL), TRELLIS_OK);
    while (trellis_reader_next(reader, &sequence, NULL) == TRELLIS_OK) {
        assert_int_equal(trellis_tagger_tag(tagger, sequence, &labels, NULL), TRELLIS_OK);
        assert_int_equal(
            trellis_evaluation_add(evaluation, sequence->labels, labels, sequence->length, NULL),
            TRELLIS_OK);
    }
    trellis_scores scores = {.struct_size = sizeof scores};
    trellis_evaluation_scores(evaluation, &scores);
    double share = scores.accuracy;
    trellis_evaluation_destroy(evaluation);
    trellis_tagger_destroy(tagger);
    trellis_reader_close(reader);
    trellis_options_destroy(options);
    return share;
}

/* ---- a corpus that cannot be separated ------------------------------------------------------- */

struct token {
    unsigned label;
    unsigned attributes[ATTRIBUTES]; // numbers of names below
    double values[ATTRIBUTES];
};

struct corpus {
    size_t lengths[SENTENCES];
    struct token tokens[SENTENCES][LONGEST];
};

static const char *const label_names[LABELS] = {"A", "B", "C"};
/* The four words, a real value, and one that is always there. */
static const char *const attribute_names[] = {"w=0", "w=1", "w=2", "w=3", "x", "bias"};
enum { NAMES = TR_COUNT(attribute_names) };

/* A label follows its word or the label before it, or neither; x leans towards the label. */
static void draw_corpus(struct corpus *corpus, unsigned seed)
{
    struct tr_random random;
    tr_random_seed(&random, seed);
    for (size_t s = 0; s < SENTENCES; s++) {
        corpus->lengths[s] = 2 + tr_random_below(&random, LONGEST - 1);
        for (size_t i = 0; i < corpus->lengths[s]; i++) {
            struct token *token = &corpus->tokens[s][i];
            unsigned word = (unsigned)tr_random_below(&random, WORDS);
            double what = tr_random_real(&random);
            token->label = what < 0.4        ? word % LABELS
                           : what < 0.6 && i ? (token[-1].label + 1) % LABELS
                                             : (unsigned)tr_random_below(&random, LABELS);
            double x = 0.5 * token->label + (double)tr_random_below(&random, 5) / 4 - 1;
            *token = (struct token){token->label, {word, WORDS, WORDS + 1}, {1, x, 1}};
        }
    }
}

static char *write_corpus(const struct corpus *corpus, const char *name)
{
    char *path = temporary(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t s = 0; s < SENTENCES; s++) {
        for (size_t i = 0; i < corpus->lengths[s]; i++) {
            const struct token *token = &corpus->tokens[s][i];
            fputs(label_names[token->label], file);
            for (size_t k = 0; k < ATTRIBUTES; k++) {
                fprintf(file, "\t%s:%g", attribute_names[token->attributes[k]], token->values[k]);
            }
            fputc('\n', file);
        }
        fputc('\n', file);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

/* ---- the judge ------------------------------------------------------------------------------- */

/* One number for each feature: (attribute, label) and (label, label). */
struct features {
    double node[NAMES][LABELS];
    double step[LABELS][LABELS];
};
enum { FEATURES = sizeof(struct features) / sizeof(double) };

static unsigned number_of(const char *text, const char *const *names, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(names[i], text) == 0) {
            return i;
        }
    }
    fail_msg("the model speaks of '%s'", text);
    return 0;
}

/* The weights of a model, from its text, and how many node features it lists. */
static void read_weights(const trellis_model *model, struct features *w, size_t *ret_node_lines)
{
    struct tr_buffer text = {0};
    assert_int_equal(trellis_model_export(model, false, keep_text, &text, NULL), TRELLIS_OK);
    tr_buffer_char(&text, '\0');
    *w = (struct features){0};
    *ret_node_lines = 0;
    char *rest = text.data, *line;
    while ((line = strsep(&rest, "\n"))) {
        char *fields[6] = {0}, *field;
        for (size_t i = 0; i < TR_COUNT(fields) && (field = strsep(&line, "\t")); i++) {
            fields[i] = field;
        }
        if (strcmp(fields[0], "node") == 0) {
            unsigned label = number_of(fields[2], label_names, LABELS);
            w->node[number_of(fields[4], attribute_names, NAMES)][label] = strtod(fields[1], NULL);
            ++*ret_node_lines;
        } else if (strcmp(fields[0], "step") == 0) {
            assert_null(fields[4]);
            w->step[number_of(fields[2], label_names, LABELS)]
                   [number_of(fields[3], label_names, LABELS)] = strtod(fields[1], NULL);
        }
    }
    tr_buffer_free(&text);
}

/* phi += amount * Phi(X, Z) */
static void add_features(const struct token *tokens, size_t n, const unsigned *labels,
                         double amount, struct features *phi)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < ATTRIBUTES; k++) {
            phi->node[tokens[i].attributes[k]][labels[i]] += amount * tokens[i].values[k];
        }
        if (i > 0) {
            phi->step[labels[i - 1]][labels[i]] += amount;
        }
    }
}

static double score(const struct token *tokens, size_t n, const unsigned *labels,
                    const struct features *w)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < ATTRIBUTES; k++) {
            sum += tokens[i].values[k] * w->node[tokens[i].attributes[k]][labels[i]];
        }
        sum += i > 0 ? w->step[labels[i - 1]][labels[i]] : 0;
    }
    return sum;
}

static bool next_labels(unsigned *labels, size_t n)
{
    for (size_t i = n; i-- > 0; labels[i] = 0) {
        if (++labels[i] < LABELS) {
            return true;
        }
    }
    return false;
}

struct verdict {
    double value; // the loss and the l2 penalty
    struct features observed, expected;
};

static void judge(const struct corpus *corpus, const struct features *w, double l2,
                  struct verdict *verdict)
{
    const double *weights = (const double *)w;
    *verdict = (struct verdict){0};
    for (size_t j = 0; j < FEATURES; j++) {
        verdict->value += l2 * weights[j] * weights[j];
    }
    for (size_t s = 0; s < SENTENCES; s++) {
        const struct token *tokens = corpus->tokens[s];
        size_t n = corpus->lengths[s];
        unsigned labels[LONGEST] = {0}, gold[LONGEST];
        double z = 0;
        do {
            z += exp(score(tokens, n, labels, w));
        } while (next_labels(labels, n));
        do {
            add_features(tokens, n, labels, exp(score(tokens, n, labels, w)) / z,
                         &verdict->expected);
        } while (next_labels(labels, n));
        for (size_t i = 0; i < n; i++) {
            gold[i] = tokens[i].label;
        }
        add_features(tokens, n, gold, 1, &verdict->observed);
        verdict->value += log(z) - score(tokens, n, gold, w);
    }
}

static double judged_objective(const struct corpus *corpus, const trellis_model *model, double l2)
{
    struct features w;
    struct verdict verdict;
    size_t lines;
    read_weights(model, &w, &lines);
    judge(corpus, &w, l2, &verdict);
    return verdict.value;
}

/* ---- optima ---------------------------------------------------------------------------------- */

/* Expected and observed counts agree at the optimum (Wu 2013, below equation 42). */
static void test_expected_is_observed(void **state)
{
    (void)state;
    struct corpus corpus;
    struct features w;
    struct verdict verdict;
    size_t lines;
    draw_corpus(&corpus, 1);
    char *path = write_corpus(&corpus, "counts");
    struct run *run = trained(path,
                              "format=crfsuite type=crf l2=0 epsilon=1e-7 delta=0 epochs=2000");
    read_weights(run->model, &w, &lines);
    judge(&corpus, &w, 0, &verdict);
    const double *observed = (const double *)&verdict.observed;
    const double *expected = (const double *)&verdict.expected;
    for (size_t j = 0; j < FEATURES; j++) {
        assert_true(observed[j] != 0); // or the optimum would be at infinity
        if (!(fabs(expected[j] - observed[j]) <= 1e-3 * fabs(observed[j]))) {
            fail_msg("feature %zu: expected %g, observed %g", j, expected[j], observed[j]);
        }
    }
    assert_true(fabs(verdict.value - run->objective) < 1e-4 * verdict.value);
    run_free(run);
    drop(path);
}

static void test_optimisers_agree(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "algorithm=lbfgs epsilon=1e-6 delta=0",
        "algorithm=lbfgs history=20",
        "algorithm=cg",
        "algorithm=gd",
        "algorithm=sgd epochs=300",
        "algorithm=sgd epochs=300 batch=4",
        "algorithm=sgd epochs=600 average=no",
    };
    struct corpus corpus;
    draw_corpus(&corpus, 2);
    char *path = write_corpus(&corpus, "optimisers");
    double first = 0;
    for (size_t i = 0; i < TR_COUNT(settings); i++) {
        char text[200];
        snprintf(text, sizeof text, "format=crfsuite type=crf l2=0.5 %s", settings[i]);
        struct run *run = trained(path, text);
        double value = judged_objective(&corpus, run->model, 0.5);
        first = i ? first : value;
        if (!(fabs(value - first) <= 1e-3 * first)) {
            fail_msg("%s: the objective is %.6g, not %.6g", settings[i], value, first);
        }
        run_free(run);
    }
    drop(path);
}

/* The conditions of Karush, Kuhn and Tucker: the smooth part's gradient is -l1 sign(w_j) where w_j
 * is not 0, and within [-l1, l1] where it is. Returns how many weights are 0. */
static size_t check_kkt(const char *path, const struct corpus *corpus, double l1, double l2,
                        bool l2_given)
{
    char text[200];
    snprintf(text, sizeof text,
             "format=crfsuite type=crf l1=%g%s%.6g epsilon=1e-6 delta=0 epochs=3000", l1,
             l2_given ? " l2=" : " history=", l2_given ? l2 : 6.0);
    struct run *run = trained(path, text);
    struct features w;
    struct verdict verdict;
    size_t lines, zeros = 0, node_zeros = 0;
    read_weights(run->model, &w, &lines);
    judge(corpus, &w, l2, &verdict);
    const double *weights = (const double *)&w, *observed = (const double *)&verdict.observed;
    const double *expected = (const double *)&verdict.expected;
    for (size_t j = 0; j < FEATURES; j++) {
        double g = expected[j] - observed[j] + 2 * l2 * weights[j];
        double wrong = weights[j] != 0 ? fabs(g + copysign(l1, weights[j])) : fabs(g) - l1;
        if (!(wrong <= 2e-3 * (1 + l1))) {
            fail_msg("l1 %g, l2 %g: feature %zu has weight %g and gradient %g", l1, l2, j,
                     weights[j], g);
        }
        zeros += weights[j] == 0;
        node_zeros += j < NAMES * LABELS && weights[j] == 0;
    }
    assert_int_equal(lines, NAMES * LABELS - node_zeros); // what is 0 has left the model
    run_free(run);
    return zeros;
}

static void test_l1(void **state)
{
    (void)state;
    struct corpus corpus;
    draw_corpus(&corpus, 3);
    char *path = write_corpus(&corpus, "l1");
    size_t few = check_kkt(path, &corpus, 0.5, 0, false);
    size_t many = check_kkt(path, &corpus, 5, 0, false);
    assert_true(0 < few && few < many && many < FEATURES);
    assert_true(check_kkt(path, &corpus, 2, 0.7, true) > 0);
    assert_int_equal(check_kkt(path, &corpus, 1e4, 0, false), FEATURES); // nothing is worth it
    drop(path);
}

/* The model's text without its notes. */
static char *weights_text(const trellis_model *model)
{
    struct tr_buffer text = {0};
    assert_int_equal(trellis_model_export(model, false, keep_text, &text, NULL), TRELLIS_OK);
    tr_buffer_char(&text, '\0');
    char *lines = strdup(text.data), *out = lines, *rest = text.data, *line;
    while ((line = strsep(&rest, "\n"))) {
        if (strncmp(line, "note\t", 5) != 0) {
            out += sprintf(out, "%s\n", line);
        }
        if (!rest || !*rest) {
            break;
        }
    }
    *out = '\0';
    tr_buffer_free(&text);
    return lines;
}

static void assert_same_weights(const char *path, const char *one, const char *other)
{
    struct run *first = trained(path, one), *second = trained(path, other);
    char *a = weights_text(first->model), *b = weights_text(second->model);
    assert_string_equal(a, b);
    free(a);
    free(b);
    run_free(first);
    run_free(second);
}

static void test_dialects(void **state)
{
    (void)state;
    struct corpus corpus;
    draw_corpus(&corpus, 4);
    char *path = write_corpus(&corpus, "dialects");
    assert_same_weights(path, "format=crfsuite type=crf l2=0.5",
                        "format=crfsuite type=crf sigma=1");
    assert_same_weights(path, "format=crfsuite type=crf l2=0.5",
                        "format=crfsuite type=crf lambda=1");
    assert_same_weights(path, "format=crfsuite type=crf l2=2",
                        "format=crfsuite type=crf sigma=0.5");
    assert_same_weights(path, "format=crfsuite type=crf", "format=crfsuite type=crf l2=1");
    static const char *const two[] = {"l2=1 sigma=1", "lambda=1 sigma=1", "l2=1 lambda=1"};
    for (size_t i = 0; i < TR_COUNT(two); i++) {
        char text[100];
        struct run run = {0};
        snprintf(text, sizeof text, "format=crfsuite type=crf %s", two[i]);
        train(&run, path, text);
        assert_int_equal(run.status, TRELLIS_OPTION);
        assert_non_null(strstr(run.error.message, "give one"));
        assert_null(run.model);
    }
    drop(path);
}

/* ---- stopping -------------------------------------------------------------------------------- */

static void test_stop_reasons(void **state)
{
    (void)state;
    static const char *const stops[][2] = {
        {"epsilon=0.5 delta=0", "converged: gradient norm below --epsilon"},
        {"epsilon=0 delta=0.5 period=2", "converged: relative change below --delta"},
        {"epochs=2", "maximum number of iterations reached"},
        {"algorithm=gd epsilon=0 delta=0 epochs=1", "maximum number of iterations reached"},
        {"algorithm=cg epsilon=1 delta=0", "converged: gradient norm below --epsilon"},
    };
    struct corpus corpus;
    draw_corpus(&corpus, 5);
    char *path = write_corpus(&corpus, "stops");
    for (size_t i = 0; i < TR_COUNT(stops); i++) {
        char text[200];
        snprintf(text, sizeof text, "format=crfsuite type=crf %s", stops[i][0]);
        struct run *run = trained(path, text);
        if (!strstr(run->said, stops[i][1])) {
            fail_msg("%s: it said %s", stops[i][0], run->said);
        }
        assert_int_equal(atoi(trellis_model_note(run->model, "iterations")), run->iterations);
        run_free(run);
    }
    drop(path);
}

/* Whoever stops a training gets the model of that moment. */
static void test_stopped_by_caller(void **state)
{
    (void)state;
    struct corpus corpus;
    draw_corpus(&corpus, 5);
    char *path = write_corpus(&corpus, "caller");
    static const char *const algorithms[] = {"lbfgs", "cg", "gd", "sgd"};
    for (size_t i = 0; i < TR_COUNT(algorithms); i++) {
        char text[200];
        struct run run = {.stop_after = 3};
        snprintf(text, sizeof text, "format=crfsuite type=crf epsilon=0 delta=0 algorithm=%s",
                 algorithms[i]);
        train(&run, path, text);
        assert_int_equal(run.status, TRELLIS_INTERRUPTED);
        assert_non_null(run.model);
        assert_int_equal(run.iterations, 3);
        assert_string_equal(trellis_model_note(run.model, "iterations"), "3");
        trellis_model_close(run.model);
    }
    drop(path);
}

/* Values at which stochastic gradient descent diverges, as a warm-up does, too: training goes on
 * without one. */
static void test_warm_up_that_diverges(void **state)
{
    (void)state;
    char *path = write_file("huge", "A\tx:3e38\ty\nB\tx:-3e38\tz\n\nA\tx:3e38\nB\tz\n\n");
    struct run sgd = {0};
    train(&sgd, path, "format=crfsuite type=crf algorithm=sgd");
    assert_int_equal(sgd.status, TRELLIS_DATA);
    assert_null(sgd.model);
    assert_same_weights(path, "format=crfsuite type=crf warm-up=0",
                        "format=crfsuite type=crf warm-up=5");
    drop(path);
}

/* The score that the model notes is that of the iterate it keeps (test_early_stopping.c has the
 * rule). */
static void test_dev_keeps_the_best(void **state)
{
    (void)state;
    struct corpus corpus;
    draw_corpus(&corpus, 6);
    char *path = write_corpus(&corpus, "train");
    draw_corpus(&corpus, 7);
    char *dev = write_corpus(&corpus, "dev");
    static const char *const algorithms[] = {"lbfgs", "sgd", "gd"};
    for (size_t i = 0; i < TR_COUNT(algorithms); i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "format=crfsuite type=crf l2=0 epochs=30 patience=4 dev=%s algorithm=%s", dev,
                 algorithms[i]);
        struct run *run = trained(path, text);
        size_t best = (size_t)atoi(trellis_model_note(run->model, "iterations")) - 1;
        assert_true(best < run->iterations);
        assert_true(fabs(atof(trellis_model_note(run->model, "dev-accuracy")) - run->dev[best]) <
                    1e-6);
        assert_true(fabs(accuracy(run->model, dev, "format=crfsuite") - run->dev[best]) < 1e-12);
        run_free(run);
    }
    drop(path);
    drop(dev);
}

/* ---- what a model can learn ------------------------------------------------------------------ */

/* The first two labels can be seen, each later one is that of two before: a task for order 2. */
static char *write_echo(const char *name)
{
    char *path = temporary(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (unsigned s = 0; s < 40; s++) {
        for (unsigned i = 0; i < 8; i++) {
            unsigned label = s >> (i % 2) & 1;
            fprintf(file, "%s %c\n", i > 1 ? "x" : label ? "b" : "a", label ? 'B' : 'A');
        }
        fputc('\n', file);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

static void test_order_2(void **state)
{
    (void)state;
    char *path = write_echo("echo");
    char *templates = write_file("echo-templates", "columns word\nnode word\nstep\n");
    static const char *const settings[] = {"order=1", "order=2", "order=2 observed-states=yes",
                                           "order=3"};
    for (size_t i = 0; i < TR_COUNT(settings); i++) {
        char text[1000];
        snprintf(text, sizeof text, "type=crf l2=0.01 features=%s %s", templates, settings[i]);
        struct run *run = trained(path, text);
        double correct = accuracy(run->model, path, "threads=1");
        if (i == 0 ? correct > 0.9 : correct < 1) {
            fail_msg("%s: %g are correct", settings[i], correct);
        }
        run_free(run);
    }
    drop(path);
    drop(templates);
}

static void test_maxent_is_order_0(void **state)
{
    (void)state;
    struct corpus corpus;
    draw_corpus(&corpus, 8);
    char *path = write_corpus(&corpus, "maxent");
    assert_same_weights(path, "format=crfsuite type=maxent", "format=crfsuite type=crf order=0");
    assert_same_weights(path, "format=crfsuite type=maxent order=0",
                        "format=crfsuite type=crf order=0");
    assert_same_weights(path, "format=crfsuite type=maxent algorithm=sgd epochs=5",
                        "format=crfsuite type=crf order=0 algorithm=sgd epochs=5");
    drop(path);
}

/* The word says whether the label changes: no sum of a weight for the word and one for the step
 * tells. */
static char *write_xor(const char *name, unsigned sentences)
{
    char *path = temporary(name);
    struct tr_random random;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    tr_random_seed(&random, 11);
    for (unsigned s = 0; s < sentences; s++) {
        unsigned label = 0;
        for (unsigned i = 0; i < 6; i++) {
            unsigned word = (unsigned)tr_random_below(&random, 2);
            label ^= word;
            fprintf(file, "%s%u %c\n", i ? "w" : "first", word, label ? 'Y' : 'N');
        }
        fputc('\n', file);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

static void test_edge_features(void **state)
{
    (void)state;
    char *path = write_xor("xor", 60);
    char *node = write_file("node-templates", "columns word\nnode word\nstep start end\n");
    char *edge = write_file("edge-templates", "columns word\nnode word\nedge word\nstep\n");
    static const char *const algorithms[] = {"lbfgs", "cg", "gd", "sgd", "sgd batch=3"};
    for (size_t i = 0; i < TR_COUNT(algorithms); i++) {
        char text[1000];
        snprintf(text, sizeof text, "type=crf l2=0.01 features=%s algorithm=%s", edge,
                 algorithms[i]);
        struct run *run = trained(path, text);
        double correct = accuracy(run->model, path, "threads=1");
        if (correct < 1) {
            fail_msg("%s: %g are correct", algorithms[i], correct);
        }
        run_free(run);
    }
    char text[1000];
    snprintf(text, sizeof text, "type=crf l2=0.01 features=%s", node);
    struct run *run = trained(path, text);
    assert_true(accuracy(run->model, path, "threads=1") < 0.9);
    run_free(run);
    drop(path);
    drop(node);
    drop(edge);
}

/* ---- threads --------------------------------------------------------------------------------- */

static char *saved_bytes(const trellis_model *model, size_t *ret_size)
{
    char *path = temporary("model");
    assert_int_equal(trellis_model_save(model, path, NULL), TRELLIS_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *ret_size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*ret_size);
    assert_true(bytes && fread(bytes, 1, *ret_size, file) == *ret_size);
    fclose(file);
    drop(path);
    return bytes;
}

/* The same bytes by any number of threads, and each time. */
static void test_same_bytes(void **state)
{
    (void)state;
    char *path = write_xor("threads", 150);
    char *edge = write_file("thread-templates",
                            "columns word\nnode word[-1..1]\nedge word\nstep start end\n");
    static const char *const settings[] = {"order=1", "order=2", "order=1 l1=0.5",
                                           "order=0 algorithm=cg", "order=1 counted=3"};
    static const unsigned threads[] = {1, 1, 2, 3, 8};
    for (size_t i = 0; i < TR_COUNT(settings); i++) {
        char *first = NULL;
        size_t first_size = 0;
        for (size_t k = 0; k < TR_COUNT(threads); k++) {
            char text[1000];
            snprintf(text, sizeof text, "type=crf epochs=12 features=%s %s threads=%u", edge,
                     settings[i], threads[k]);
            struct run *run = trained(path, text);
            size_t size;
            char *bytes = saved_bytes(run->model, &size);
            if (first) {
                assert_int_equal(size, first_size);
                assert_memory_equal(bytes, first, size);
                free(bytes);
            } else {
                first = bytes;
                first_size = size;
            }
            run_free(run);
        }
        free(first);
    }
    drop(path);
    drop(edge);
}

/* ---- the example ----------------------------------------------------------------------------- */

static void test_vowels(void **state)
{
    (void)state;
    static const char *const settings[] = {"type=maxent", "type=perceptron order=0",
                                           "type=crf order=0"};
    for (size_t i = 0; i < TR_COUNT(settings); i++) {
        char text[300];
        snprintf(text, sizeof text, "%s features=examples/vowels/template.txt", settings[i]);
        struct run *run = trained("examples/vowels/vowels.txt", text);
        double correct = accuracy(run->model, "examples/vowels/vowels.txt", "threads=1");
        if (!(correct >= 0.9)) {
            fail_msg("%s: %g are correct", settings[i], correct);
        }
        run_free(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expected_is_observed),
        cmocka_unit_test(test_optimisers_agree),
        cmocka_unit_test(test_l1),
        cmocka_unit_test(test_dialects),
        cmocka_unit_test(test_stop_reasons),
        cmocka_unit_test(test_stopped_by_caller),
        cmocka_unit_test(test_warm_up_that_diverges),
        cmocka_unit_test(test_dev_keeps_the_best),
        cmocka_unit_test(test_order_2),
        cmocka_unit_test(test_maxent_is_order_0),
        cmocka_unit_test(test_edge_features),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_vowels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
