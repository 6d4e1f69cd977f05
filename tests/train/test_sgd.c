/* test_sgd.c - stochastic gradient descent finds what L-BFGS finds, whatever the features, the
 * batches and the threads. With an l2 penalty there is one optimum, so weights can be compared one
 * by one. */
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
#include "train/dropout.h"

/* ---- helpers --------------------------------------------------------------------------------- */

static char *temporary(const char *name)
{
    const char *folder = getenv("TRELLIS_TMP");
    char *path = NULL;
    assert_true(asprintf(&path, "%s/sgd-%d-%s", folder ? folder : "/tmp", (int)getpid(), name) > 0);
    return path;
}

static char *write_file(const char *name, const char *text)
{
    char *path = temporary(name);
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

static void drop(char *path)
{
    unlink(path);
    free(path);
}

/* JSON lines with words, a real column and weights; x is in units of `unit`. */
static char *write_corpus(const char *name, double unit, unsigned sentences)
{
    struct tr_random random;
    char *path = temporary(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    tr_random_seed(&random, 5);
    for (unsigned s = 0; s < sentences; s++) {
        struct tr_buffer words = {0}, numbers = {0}, labels = {0};
        unsigned label = 0;
        for (unsigned i = 0, n = 1 + (unsigned)tr_random_below(&random, 6); i < n; i++) {
            unsigned word = (unsigned)tr_random_below(&random, 3);
            label = tr_random_real(&random) < 0.3 ? (unsigned)tr_random_below(&random, 3)
                                                  : (label + word) % 3;
            double x = 0.4 * label + tr_random_real(&random);
            tr_buffer_format(&words, "%s\"w%u\"", i ? "," : "", word);
            tr_buffer_format(&numbers, "%s\"%.3f\"", i ? "," : "", unit * x);
            tr_buffer_format(&labels, "%s\"%c\"", i ? "," : "", 'A' + label);
        }
        fprintf(file, "{\"weight\":%u,\"tokens\":[%.*s],\"x\":[%.*s],\"labels\":[%.*s]}\n", s % 3,
                (int)words.size, words.data, (int)numbers.size, numbers.data, (int)labels.size,
                labels.data);
        tr_buffer_free(&words);
        tr_buffer_free(&numbers);
        tr_buffer_free(&labels);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

/* Keeps what is said in a text [2000]. */
static bool listen(void *user, const trellis_progress *progress)
{
    char *said = user;
    if (progress->message) {
        snprintf(said + strlen(said), 2000 - strlen(said), "%s\n", progress->message);
    }
    return true;
}

/* Ends the training within the second epoch. */
static bool stop_in_the_middle(void *user, const trellis_progress *progress)
{
    (void)user;
    bool within = progress->fraction > 0 && progress->fraction < 1;
    return !(progress->phase == TRELLIS_PHASE_TRAINING && progress->iteration == 1 && within);
}

static bool stop_at_the_trials(void *user, const trellis_progress *progress)
{
    int *trials = user;
    bool trial = progress->phase == TRELLIS_PHASE_CALIBRATING;
    *trials += trial;
    return !trial;
}

static trellis_status train(const char *path, const char *settings,
                            trellis_progress_function progress, void *user,
                            trellis_model **ret_model, trellis_error *error)
{
    trellis_options *options = make_options(settings);
    trellis_status status = trellis_train_files(options, &path, 1, progress, user, ret_model,
                                                error);
    trellis_options_destroy(options);
    return status;
}

static trellis_status keep_text(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

/* The text of a model, which it closes; to be freed. */
static char *text_of(trellis_model *model)
{
    struct tr_buffer text = {0};
    assert_int_equal(trellis_model_export(model, false, keep_text, &text, NULL), TRELLIS_OK);
    tr_buffer_char(&text, '\0');
    trellis_model_close(model);
    return text.data;
}

/* The text of the model that a training gives. `said` [2000] gets the notes, or is NULL. */
static char *learned(const char *path, const char *settings, char *said)
{
    trellis_model *model;
    trellis_error error = {0};
    if (train(path, settings, said ? listen : NULL, said, &model, &error)) {
        fail_msg("%s: %s", settings, error.message);
    }
    return text_of(model);
}

/* The weight in a model's text of the feature of a line "kind <tab> weight <tab> what": 0 where
 * there is none. */
static double weight_in(const char *text, const char *kind, size_t kind_size, const char *what,
                        size_t what_size)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, kind, kind_size) == 0) {
            const char *there = strchr(line + kind_size, '\t') + 1;
            if (strncmp(there, what, what_size) == 0 && there[what_size] == '\n') {
                return strtod(line + kind_size, NULL);
            }
        }
    }
    return 0;
}

/* The largest difference of a weight of `one` to that in `other`, and the largest weight. */
static double difference(const char *one, const char *other, double *ret_max)
{
    double wrong = 0;
    size_t lines = 0;
    *ret_max = 0;
    for (const char *line = one; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "node\t", 5) == 0 || strncmp(line, "edge\t", 5) == 0 ||
            strncmp(line, "step\t", 5) == 0) {
            const char *what = strchr(line + 5, '\t') + 1;
            double weight = strtod(line + 5, NULL);
            double there = weight_in(other, line, 5, what, strcspn(what, "\n"));
            wrong = fmax(wrong, fabs(weight - there));
            *ret_max = fmax(*ret_max, fabs(weight));
            lines++;
        }
    }
    assert_true(lines > 3);
    return wrong;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const char *const templates[] = {
    "node word\nnode bias\nstep\n",
    "node word\nnode real(x)\nedge word\nedge real(x)\nstep start end\n",
};

static void test_finds_the_optimum(void **state)
{
    (void)state;
    static const char *const graphs[] = {"order=0", "order=1", "order=2", "order=1 counted=2",
                                         "order=1 loss=hamming"};
    static const char *const ways[] = {"rate=0.2 epochs=250", "batch=5 rate=1 epochs=400",
                                       "batch=13 rate=2 epochs=600 average=no",
                                       "rate=0.2 average=no epochs=400"};
    char *path = write_corpus("optimum.jsonl", 1, 40);
    for (size_t t = 0; t < TR_COUNT(templates); t++) {
        char *file = write_file("templates", templates[t]);
        for (size_t g = 0; g < TR_COUNT(graphs); g++) {
            char settings[1000];
            snprintf(settings, sizeof settings, "type=crf l2=1 epsilon=1e-6 delta=0 features=%s %s",
                     file, graphs[g]);
            char *wanted = learned(path, settings, NULL);
            /* All ways on the richest features, the plain one on all. */
            for (size_t k = 0; k < (t && g == 1 ? TR_COUNT(ways) : 1); k++) {
                snprintf(settings, sizeof settings, "type=crf algorithm=sgd l2=1 features=%s %s %s",
                         file, graphs[g], ways[k]);
                char *found = learned(path, settings, NULL);
                double largest, wrong = fmax(difference(found, wanted, &largest),
                                             difference(wanted, found, &largest));
                if (!(wrong < 0.05 * fmax(1, largest))) {
                    fail_msg("%s: a weight is off by %g, the largest is %g", settings, wrong,
                             largest);
                }
                free(found);
            }
            free(wanted);
        }
        drop(file);
    }
    drop(path);
}

/* The text without its notes. */
static char *without_notes(char *text)
{
    char *behind = text, *at = text;
    while ((at = strstr(at, "note\t"))) {
        behind = strchr(at, '\n') + 1;
        at = behind;
    }
    return behind;
}

/* Results depend on the batch, not on who looks at it; and the rate that was found by trial, given
 * by hand, leads to the same weights: trials leave nothing behind. */
static void test_deterministic(void **state)
{
    (void)state;
    char *path = write_corpus("threads.jsonl", 1, 40),
         *file = write_file("templates", templates[1]);
    static const unsigned batches[] = {1, 4, 7, 1000};
    for (size_t b = 0; b < TR_COUNT(batches); b++) {
        char settings[1000], said[2000] = "";
        snprintf(settings, sizeof settings,
                 "type=crf algorithm=sgd epochs=4 features=%s batch=%u threads=1", file,
                 batches[b]);
        char *first = learned(path, settings, said);
        for (unsigned threads = 1; threads <= 8; threads = 2 * threads + 1) {
            snprintf(settings, sizeof settings,
                     "type=crf algorithm=sgd epochs=4 features=%s batch=%u threads=%u", file,
                     batches[b], threads);
            char *again = learned(path, settings, NULL);
            assert_string_equal(first, again);
            free(again);
        }
        const char *rate = strstr(said, "learning rate ");
        assert_non_null(rate);
        snprintf(settings, sizeof settings,
                 "type=crf algorithm=sgd epochs=4 features=%s batch=%u rate=%.10g", file,
                 batches[b], strtod(rate + 14, NULL));
        char *by_hand = learned(path, settings, NULL);
        assert_string_equal(without_notes(first), without_notes(by_hand));
        free(first);
        free(by_hand);
    }
    drop(path);
    drop(file);
}

/* Each attribute is left out with probability p, whatever else is, and the others are scaled so that
 * sums keep their expectation. */
static void test_thins_attributes(void **state)
{
    (void)state;
    static const uint32_t begin[] = {7, 10, 10, 12}, attribute[12] = {[7] = 3, 5, 9, 2, 4};
    static const float value[12] = {[7] = 1, 2, 0.5F, -3, 4};
    struct tr_tokens all = {begin, attribute, value, 3}, kept;
    struct tr_dropout dropout = {0};
    struct tr_random random;
    double sum[10] = {0}, p = 0.3;
    unsigned seen[10] = {0}, both = 0, draws = 20000;
    tr_random_seed(&random, 3);
    for (unsigned d = 0; d < draws; d++) {
        all.value = d % 2 ? value : NULL;
        assert_true(tr_dropout_thin(&dropout, &all, p, &random, &kept));
        assert_int_equal(kept.n, 3);
        assert_int_equal(kept.begin[1], kept.begin[2]);
        bool first = false, second = false;
        for (uint32_t k = 0; k < kept.begin[3]; k++) {
            uint32_t a = kept.attribute[k];
            assert_true((a == 2 || a == 4) == (k >= kept.begin[2]));
            seen[a]++;
            sum[a] += (double)kept.value[k];
            first |= a == 3;
            second |= a == 5;
        }
        both += first && second;
    }
    for (size_t k = 7; k < 12; k++) {
        double expected = (1 + (double)value[k]) / 2;
        assert_true(fabs(seen[attribute[k]] / (double)draws - (1 - p)) < 0.015);
        assert_true(fabs(sum[attribute[k]] / draws - expected) < 0.05);
    }
    assert_true(fabs(both / (double)draws - (1 - p) * (1 - p)) < 0.015);
    tr_dropout_free(&dropout);
}

/* What is left out at random depends neither on threads nor on trials of rates, but on the seed. */
static void test_dropout_is_deterministic(void **state)
{
    (void)state;
    char *path = write_corpus("dropout.jsonl", 1, 40),
         *file = write_file("templates", templates[1]);
    char common[600], settings[1000], said[2000] = "";
    snprintf(common, sizeof common,
             "type=crf algorithm=sgd epochs=4 dropout=0.5 batch=4 features=%s", file);
    snprintf(settings, sizeof settings, "%s threads=1", common);
    char *one = learned(path, settings, said);
    snprintf(settings, sizeof settings, "%s threads=3", common);
    char *three = learned(path, settings, NULL);
    assert_string_equal(one, three);
    snprintf(settings, sizeof settings, "%s rate=%.10g", common,
             strtod(strstr(said, "learning rate ") + 14, NULL));
    char *by_hand = learned(path, settings, NULL);
    assert_string_equal(without_notes(one), without_notes(by_hand));
    snprintf(settings, sizeof settings, "%s seed=2", common);
    char *other = learned(path, settings, NULL);
    assert_string_not_equal(without_notes(one), without_notes(other));
    free(one);
    free(three);
    free(by_hand);
    free(other);
    drop(path);
    drop(file);
}

/* Two batches in an epoch, so that in the second epoch there are two iterates, the second of which
 * has the share (1 + 3) / (2 + 3) of their average. The first is what a training that is stopped in
 * the middle has. */
static void test_average(void **state)
{
    (void)state;
    char *path = write_corpus("average.jsonl", 1, 128),
         *file = write_file("templates", templates[1]);
    char settings[1000];
    trellis_model *model;
    trellis_error error = {0};
    snprintf(settings, sizeof settings,
             "type=crf algorithm=sgd batch=64 rate=5 epochs=2 average=no features=%s", file);
    assert_int_equal(train(path, settings, stop_in_the_middle, NULL, &model, &error),
                     TRELLIS_INTERRUPTED);
    char *first = text_of(model), *second = learned(path, settings, NULL);
    snprintf(settings, sizeof settings,
             "type=crf algorithm=sgd batch=64 rate=5 epochs=2 features=%s", file);
    char *average = learned(path, settings, NULL);
    double largest, apart = difference(first, second, &largest);
    assert_true(apart > 0.05);
    for (const char *line = average; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "node\t", 5) == 0 || strncmp(line, "edge\t", 5) == 0 ||
            strncmp(line, "step\t", 5) == 0) {
            const char *what = strchr(line + 5, '\t') + 1;
            size_t size = strcspn(what, "\n");
            double mean = 0.2 * weight_in(first, line, 5, what, size) +
                          0.8 * weight_in(second, line, 5, what, size);
            if (!(fabs(strtod(line + 5, NULL) - mean) < 1e-5)) {
                fail_msg("%.*s should have %g", (int)strcspn(line, "\n"), line, mean);
            }
        }
    }
    free(first);
    free(second);
    free(average);
    drop(path);
    drop(file);
}

struct trials {
    unsigned passes;
    double rate;
};

/* Counts the passes of trials; with 64 sequences each reports once. */
static bool count_trials(void *user, const trellis_progress *progress)
{
    struct trials *trials = user;
    trials->passes += progress->phase == TRELLIS_PHASE_CALIBRATING && !progress->message;
    const char *rate = progress->message ? strstr(progress->message, "learning rate ") : NULL;
    trials->rate = rate ? strtod(rate + 14, NULL) : trials->rate;
    return true;
}

/* From 0.1 on rates double until two in a row are worse. Only where none of those is better
 * than the first are half as high ones tried, again until two in a row are worse. A trial is two
 * passes. Batches stand higher rates than single sequences of large values. */
static void test_trials_end(void **state)
{
    (void)state;
    static const double units[] = {1, 8};
    char *file = write_file("templates", templates[1]);
    for (size_t k = 0; k < TR_COUNT(units); k++) {
        char *path = write_corpus("trials.jsonl", units[k], 64), settings[1000];
        struct trials trials = {0};
        trellis_model *model;
        trellis_error error = {0};
        snprintf(settings, sizeof settings, "type=crf algorithm=sgd epochs=1 batch=%d features=%s",
                 k == 0 ? 3 : 1, file);
        assert_int_equal(train(path, settings, count_trials, &trials, &model, &error), TRELLIS_OK);
        int doubled = (int)lround(log2(trials.rate / 0.1));
        assert_int_equal(doubled > 0, k == 0);
        assert_int_equal(trials.passes, 2 * (doubled > 0 ? doubled + 3 : 3 + -doubled + 2));
        trellis_model_close(model);
        drop(path);
    }
    drop(file);
}

/* Formants in Hz: the rate must be far below those that suit values about 1. */
static void test_rate_goes_down(void **state)
{
    (void)state;
    char *path = write_corpus("units.jsonl", 1000, 40),
         *file = write_file("templates", templates[1]);
    char settings[1000], said[2000] = "";
    snprintf(settings, sizeof settings, "type=crf algorithm=sgd epochs=20 features=%s", file);
    free(learned(path, settings, said));
    const char *rate = strstr(said, "learning rate ");
    assert_non_null(rate);
    assert_true(strtod(rate + 14, NULL) < 0.001);
    drop(path);
    drop(file);
}

static void test_rate_too_high(void **state)
{
    (void)state;
    char *path = write_corpus("rate.jsonl", 1, 40);
    trellis_model *model;
    trellis_error error = {0};
    assert_int_equal(
        train(path, "type=crf algorithm=sgd l2=1 rate=20 features=id", NULL, NULL, &model, &error),
        TRELLIS_OPTION);
    assert_non_null(strstr(error.message, "must be below 20"));
    assert_null(model);
    /* However strong the penalty, a rate is found by trial. */
    assert_int_equal(train(path, "type=crf algorithm=sgd l2=1e6 epochs=3 features=id", NULL, NULL,
                           &model, &error),
                     TRELLIS_OK);
    trellis_model_close(model);
    drop(path);
}

/* The trials of rates can take long, and someone may want to end them. */
static void test_stops_at_the_trials(void **state)
{
    (void)state;
    char *path = write_corpus("trials", 1, 200);
    int trials = 0;
    trellis_model *model = NULL;
    trellis_error error;
    assert_int_equal(train(path, "type=crf algorithm=sgd format=jsonl", stop_at_the_trials, &trials,
                           &model, &error),
                     TRELLIS_INTERRUPTED);
    assert_null(model);
    assert_int_equal(trials, 1);
    drop(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trials_end),
        cmocka_unit_test(test_finds_the_optimum),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_thins_attributes),
        cmocka_unit_test(test_dropout_is_deterministic),
        cmocka_unit_test(test_average),
        cmocka_unit_test(test_rate_goes_down),
        cmocka_unit_test(test_rate_too_high),
        cmocka_unit_test(test_stops_at_the_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
