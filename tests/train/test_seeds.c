/* test_seeds.c - --seeds N gives the mean of N models that were trained one by one, for every learner
 * that takes it, on any number of threads; what is told meanwhile; and what it is refused with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "support/settings.h"
#include "train/ways.h"

enum { SEEDS = 3 };

struct corpora {
    struct tr_buffer train, dev;
};

static trellis_source text_source(const struct tr_buffer *text)
{
    return (trellis_source){
        .struct_size = sizeof(trellis_source), .data = text->data, .data_size = strlen(text->data)};
}

static trellis_status train(const struct corpora *corpora, const char *settings, bool dev,
                            trellis_progress_function progress, void *user,
                            trellis_model **ret_model, trellis_error *error)
{
    trellis_source files[] = {text_source(&corpora->train), text_source(&corpora->dev)};
    trellis_options *options = make_options(settings);
    trellis_training training = {.struct_size = sizeof training,
                                 .train = &files[0],
                                 .train_count = 1,
                                 .dev = &files[1],
                                 .dev_count = dev,
                                 .progress = progress,
                                 .user = user};
    trellis_status status = trellis_train(options, &training, ret_model, error);
    trellis_options_destroy(options);
    return status;
}

static trellis_model *trained(const struct corpora *corpora, const char *settings, bool dev)
{
    trellis_model *model;
    trellis_error error = {0};
    if (train(corpora, settings, dev, NULL, NULL, &model, &error)) {
        fail_msg("%s: %s", settings, error.message);
    }
    return model;
}

static struct corpora make_corpora(void)
{
    struct corpora corpora = {0};
    ways_corpus(1, 60, &corpora.train);
    ways_corpus(2, 30, &corpora.dev);
    return corpora;
}

static void free_corpora(struct corpora *corpora)
{
    tr_buffer_free(&corpora->train);
    tr_buffer_free(&corpora->dev);
}

/* The weight of the same feature in another model. */
static double weight_in(const trellis_model *model, const trellis_weight *weight)
{
    size_t attribute = SIZE_MAX;
    if (weight->kind != TRELLIS_TRANSITION_WEIGHT) {
        attribute = trellis_model_find_attribute(model, weight->kind == TRELLIS_EDGE_WEIGHT,
                                                 weight->attribute);
        if (attribute == SIZE_MAX) {
            return 0; // all its weights are 0
        }
    }
    return trellis_model_weight(model, attribute, weight->numbers, weight->label_count);
}

/* All weights of one model and those that others have for the same features: how many there are,
 * how far they are from the mean of the others at most, and how far the others are apart. */
struct distance {
    size_t weights;
    double from_mean, apart;
};

static struct distance compare(const trellis_model *mean, trellis_model *const *singles,
                               const trellis_model *features_of)
{
    struct distance distance = {0};
    trellis_weight_iterator *iterator;
    const trellis_weight *weight;
    assert_int_equal(trellis_weight_iterator_create(features_of, &iterator, NULL), TRELLIS_OK);
    while ((weight = trellis_weight_iterator_next(iterator))) {
        double sum = 0, lowest = INFINITY, highest = -INFINITY;
        for (size_t i = 0; i < SEEDS; i++) {
            double single = weight_in(singles[i], weight);
            sum += single;
            lowest = fmin(lowest, single);
            highest = fmax(highest, single);
        }
        if (isfinite(sum)) {
            double off = fabs(weight_in(mean, weight) - sum / SEEDS);
            distance.from_mean = fmax(distance.from_mean, off);
            distance.apart = fmax(distance.apart, highest - lowest);
            distance.weights++;
        }
    }
    trellis_weight_iterator_destroy(iterator);
    return distance;
}

static void check_mean(const struct corpora *corpora, const char *way, bool dev)
{
    char settings[300];
    trellis_model *singles[SEEDS];
    snprintf(settings, sizeof settings, "%s epochs=3 features=extended seed=7 seeds=%d threads=1",
             way, SEEDS);
    trellis_model *mean = trained(corpora, settings, dev);
    for (size_t i = 0; i < SEEDS; i++) {
        snprintf(settings, sizeof settings, "%s epochs=3 features=extended seed=%zu", way, 7 + i);
        singles[i] = trained(corpora, settings, dev);
    }
    double apart = 0;
    size_t weights = 0;
    for (size_t i = 0; i <= SEEDS; i++) { // a weight may be 0, and missing, in some of them
        struct distance d = compare(mean, singles, i < SEEDS ? singles[i] : mean);
        if (d.from_mean > 1e-6) {
            fail_msg("%s: a weight is %g off the mean", way, d.from_mean);
        }
        apart = fmax(apart, d.apart);
        weights += d.weights;
    }
    assert_true(weights > 100);
    if (apart < 1e-3) {
        fail_msg("%s: the models of all seeds are the same", way);
    }
    for (size_t i = 0; i < SEEDS; i++) {
        trellis_model_close(singles[i]);
    }
    trellis_model_close(mean);
}

/* Whether a way takes --seeds, by the table of learners. */
static bool takes_seeds(const char *way)
{
    for (size_t i = 0; trellis_learner_name(i); i++) {
        for (size_t k = 0; trellis_learner_algorithm(i, k); k++) {
            char name[100];
            snprintf(name, sizeof name, "type=%s algorithm=%s", trellis_learner_name(i),
                     trellis_learner_algorithm(i, k));
            if (strcmp(name, way) == 0) {
                return trellis_learner_takes(i, k, "seeds");
            }
        }
    }
    return false;
}

static void test_is_the_mean(void **state)
{
    (void)state;
    struct corpora corpora = make_corpora();
    char way[100];
    size_t taking = 0;
    for (size_t i = 0; way_at(i, way); i++) {
        if (takes_seeds(way)) {
            check_mean(&corpora, way, false);
            taking++;
        }
    }
    assert_true(taking >= 10);
    check_mean(&corpora, "type=crf algorithm=sgd dropout=0.5", false);
    check_mean(&corpora, "type=crf algorithm=sgd order=2 observed-states=yes", true);
    check_mean(&corpora, "type=crf algorithm=sgd train-scheme=iobes segments=yes", true);
    check_mean(&corpora, "type=perceptron algorithm=averaged", true);
    free_corpora(&corpora);
}

static trellis_status keep_text(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

/* The text of the model, notes included; to be freed. */
static char *text_of(const struct corpora *corpora, const char *settings, bool dev)
{
    struct tr_buffer text = {0};
    trellis_model *model = trained(corpora, settings, dev);
    assert_int_equal(trellis_model_export(model, false, keep_text, &text, NULL), TRELLIS_OK);
    tr_buffer_char(&text, '\0');
    trellis_model_close(model);
    return text.data;
}

static void test_threads(void **state)
{
    (void)state;
    static const char *const ways[] = {"type=crf algorithm=sgd dropout=0.4 loss=hamming",
                                       "type=perceptron algorithm=pa1", "type=ssvm algorithm=bcfw",
                                       "type=crf algorithm=sgd order=2 prune=0.01"};
    struct corpora corpora = make_corpora();
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        for (int dev = 0; dev < 2; dev++) {
            char *texts[2];
            for (size_t k = 0; k < TR_COUNT(texts); k++) {
                char settings[300];
                snprintf(settings, sizeof settings, "%s epochs=4 seeds=5 threads=%zu", ways[i],
                         1 + 2 * k);
                texts[k] = text_of(&corpora, settings, dev);
            }
            assert_string_equal(texts[0], texts[1]);
            for (size_t k = 0; k < TR_COUNT(texts); k++) {
                free(texts[k]);
            }
        }
    }
    free_corpora(&corpora);
}

/* With dev data the model notes the score of the mean, which is what tagging the dev data has. */
static void test_dev_score(void **state)
{
    (void)state;
    struct corpora corpora = make_corpora();
    trellis_model *model = trained(&corpora, "type=perceptron epochs=3 seeds=4", true);
    trellis_scores scores = {.struct_size = sizeof scores};
    trellis_source dev = text_source(&corpora.dev);
    trellis_evaluation *evaluation;
    trellis_reader *reader;
    trellis_tagger *tagger;
    const trellis_sequence *sequence;
    const trellis_text *labels;
    assert_int_equal(trellis_evaluation_create(NULL, &evaluation, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_open_source(&dev, NULL, &reader, NULL), TRELLIS_OK);
    assert_int_equal(trellis_tagger_create(model, NULL, &tagger, NULL), TRELLIS_OK);
    while (!trellis_reader_next(reader, &sequence, NULL)) {
        assert_int_equal(trellis_tagger_tag(tagger, sequence, &labels, NULL), TRELLIS_OK);
        trellis_evaluation_add(evaluation, sequence->labels, labels, sequence->length, NULL);
    }
    trellis_evaluation_scores(evaluation, &scores);
    char noted[100];
    snprintf(noted, sizeof noted, "%.6f", scores.f1);
    assert_string_equal(trellis_model_note(model, "dev-f1"), noted);
    trellis_evaluation_destroy(evaluation);
    trellis_tagger_destroy(tagger);
    trellis_reader_close(reader);
    trellis_model_close(model);
    free_corpora(&corpora);
}

/* Counts calls, and ends the training at the one after which none is left. */
static bool stop_after(void *user, const trellis_progress *progress)
{
    int *left = user;
    return progress->phase != TRELLIS_PHASE_TRAINING || --*left > 0;
}

/* Of what was done so far there is a model, or there is none. */
static void test_interruption(void **state)
{
    (void)state;
    struct corpora corpora = make_corpora();
    size_t models = 0;
    for (int calls = 1; calls < 30; calls += 4) {
        int left = calls;
        trellis_model *model = NULL;
        trellis_error error = {0};
        trellis_status status = train(&corpora, "type=perceptron epochs=4 seeds=4 threads=2", false,
                                      stop_after, &left, &model, &error);
        assert_true(status == TRELLIS_OK || status == TRELLIS_INTERRUPTED);
        assert_true(model || status == TRELLIS_INTERRUPTED);
        models += model != NULL;
        trellis_model_close(model);
    }
    assert_true(models > 0);
    free_corpora(&corpora);
}

/* What a training tells, but for times and what is within an iteration. */
struct told {
    struct tr_buffer text;
    pthread_t caller;
    uint64_t seeds;  // of the last report about seeds
    double f1;       // and the dev score that it had
    bool half;       // one of the seeds was said to be half done
    bool asks_later; // with the first report about seeds, answer: stop
};

static bool write_down(void *user, const trellis_progress *p)
{
    struct told *told = user;
    assert_true(pthread_equal(told->caller, pthread_self()));
    if (p->phase == TRELLIS_PHASE_MESSAGE && !strstr(p->message, "of memory")) {
        tr_buffer_format(&told->text, "%s\n", p->message);
    } else if (p->phase == TRELLIS_PHASE_TRAINING && p->fraction >= 1) {
        tr_buffer_format(&told->text, "iteration %d/%d %.17g %.17g %.17g %.17g %d %d\n",
                         (int)p->iteration, (int)p->max_iterations, p->objective, p->error_rate,
                         p->dev_f1, p->loss, (int)p->active_features, p->dev != NULL);
    } else if (p->phase == TRELLIS_PHASE_SEEDS) {
        assert_true(p->fraction < 1 || isnan(p->fraction));
        assert_in_range(p->iteration, told->seeds, p->max_iterations);
        told->seeds = p->iteration;
        told->half = told->half || p->fraction == 0.5;
        told->f1 = p->dev_f1;
    }
    return !told->asks_later || p->phase != TRELLIS_PHASE_SEEDS;
}

static size_t count_lines(const char *text, const char *beginning)
{
    size_t count = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        count += strncmp(line, beginning, strlen(beginning)) == 0;
    }
    return count;
}

/* Trains five seeds; returns what was told, to be freed. */
static char *told_by(const struct corpora *corpora, const char *way, int threads)
{
    char settings[300], noted[100];
    struct told told = {.caller = pthread_self()};
    trellis_model *model;
    trellis_error error = {0};
    snprintf(settings, sizeof settings, "%s epochs=4 patience=0 seeds=5 threads=%d", way, threads);
    if (train(corpora, settings, true, write_down, &told, &model, &error)) {
        fail_msg("%s: %s", settings, error.message);
    }
    tr_buffer_char(&told.text, '\0');
    assert_int_equal(told.seeds, 5);
    assert_true(told.half || threads > 1); // after two of four iterations
    snprintf(noted, sizeof noted, "%.6f", told.f1);
    assert_string_equal(trellis_model_note(model, "dev-f1"), noted);
    trellis_model_close(model);
    return told.text.data;
}

/* What is said of a seed is what it reaches alone. */
static void check_score(const struct corpora *corpora, const char *way, int seed, const char *said)
{
    char settings[300];
    snprintf(settings, sizeof settings, "%s epochs=4 patience=0 seed=%d", way, seed);
    trellis_model *model = trained(corpora, settings, true);
    double f1 = strtod(trellis_model_note(model, "dev-f1"), NULL);
    assert_true(fabs(strtod(said, NULL) - 100 * f1) < 0.00501);
    trellis_model_close(model);
}

/* The iterations of the first seed, and how each has ended, in their order. */
static void test_reports(void **state)
{
    (void)state;
    static const char *const ways[] = {"type=crf algorithm=sgd dropout=0.4",
                                       "type=perceptron algorithm=averaged",
                                       "type=ssvm algorithm=bcfw"};
    static const int threads[] = {1, 2, 8};
    struct corpora corpora = make_corpora();
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        char *texts[TR_COUNT(threads)];
        for (size_t k = 0; k < TR_COUNT(threads); k++) {
            texts[k] = told_by(&corpora, ways[i], threads[k]);
            assert_string_equal(texts[k], texts[0]);
        }
        assert_int_equal(count_lines(texts[0], "iteration "), 4);
        assert_int_equal(count_lines(texts[0], "seed "), 5);
        const char *line = texts[0];
        for (int number = 1; number <= 5; number++) {
            char beginning[100];
            snprintf(beginning, sizeof beginning, "\nseed %d of 5: 4 iterations, dev F1 ", number);
            assert_non_null(line = strstr(line, beginning));
            check_score(&corpora, ways[i], number, line + strlen(beginning));
        }
        for (size_t k = 0; k < TR_COUNT(threads); k++) {
            free(texts[k]);
        }
    }
    free_corpora(&corpora);
}

/* Who waits for other seeds is asked as well. The first has ended, so there is a model; it has no
 * dev score, since none of the mean was computed. */
static void test_interruption_of_others(void **state)
{
    (void)state;
    struct corpora corpora = make_corpora();
    for (int threads = 1; threads <= 8; threads *= 2) {
        char settings[100];
        struct told told = {.caller = pthread_self(), .asks_later = true};
        trellis_model *model;
        trellis_error error = {0};
        snprintf(settings, sizeof settings, "type=perceptron epochs=4 seeds=9 threads=%d", threads);
        assert_int_equal(train(&corpora, settings, true, write_down, &told, &model, &error),
                         TRELLIS_INTERRUPTED);
        assert_non_null(model);
        assert_string_equal(error.message, "interrupted after 4 iterations");
        assert_null(trellis_model_note(model, "dev-f1"));
        tr_buffer_char(&told.text, '\0');
        assert_int_equal(count_lines(told.text.data, "seed 1 of 9: 4 iterations"), 1);
        trellis_model_close(model);
        tr_buffer_free(&told.text);
    }
    free_corpora(&corpora);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *message;
    } cases[] = {
        {"type=crf seeds=2", "--seeds does not apply to -t crf -a lbfgs"},
        {"type=hmm seeds=2", "--seeds does not apply to -t hmm -a counts"},
        {"type=crf algorithm=sgd select-l1=0.5 seeds=2",
         "--seeds cannot be combined with --select-l1"},
        {"type=perceptron checkpoint=x seeds=2", "--seeds cannot be combined with --checkpoint"},
        {"type=perceptron resume=yes seeds=2", "--seeds cannot be combined with --resume"},
    };
    struct corpora corpora = make_corpora();
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        trellis_model *model;
        trellis_error error = {0};
        assert_int_equal(train(&corpora, cases[i].settings, false, NULL, NULL, &model, &error),
                         TRELLIS_OPTION);
        if (!strstr(error.message, cases[i].message)) {
            fail_msg("%s: %s", cases[i].settings, error.message);
        }
    }
    free_corpora(&corpora);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_the_mean), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_dev_score),   cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_reports),     cmocka_unit_test(test_interruption_of_others),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
