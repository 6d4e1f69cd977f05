/* test_sources.c - the same model to the byte, from whatever source its sequences come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"
#include "support/settings.h"
#include "support/temporary.h"

static const char train_text[] = "the DT B-NP\ndog NN I-NP\nbarks VBZ O\n. . O\n\n"
                                 "a DT B-NP\ncat NN I-NP\nsleeps VBZ O\n\n"
                                 "dogs NNS B-NP\nsleep VBP O\nat IN O\nhome NN B-NP\n. . O\n\n"
                                 "the DT B-NP\ncat NN I-NP\nsaw VBD O\na DT B-NP\ndog NN I-NP\n\n";
static const char dev_text[] =
    "a DT B-NP\ndog NN I-NP\nsleeps VBZ O\n\nthe DT B-NP\nmouse NN I-NP\n";
static const char attributes_text[] =
    "B\tw=the\tp:2\nI\tw=dog\tp:0.5\n\nB\tw=a\nI\tw=cat\nO\tw=sat\n\n";
static const char numbers_text[] = "1.5 A\n2.5 B\n0.1 A\n\n2.2 B\n1.1 A\n\n3.3 B\n";

/* Every learner with every algorithm, and what changes how data is read. */
static const struct {
    const char *settings, *train;
} kinds[] = {
    {"type=perceptron", train_text},
    {"type=perceptron algorithm=plain", train_text},
    {"type=perceptron algorithm=pa", train_text},
    {"type=perceptron algorithm=pa1", train_text},
    {"type=perceptron algorithm=pa2", train_text},
    {"type=perceptron algorithm=arow", train_text},
    {"type=mira", train_text},
    {"type=ssvm epochs=5", train_text},
    {"type=ssvm algorithm=subgradient epochs=5", train_text},
    {"type=crf epochs=5", train_text},
    {"type=crf algorithm=sgd epochs=3", train_text},
    {"type=crf algorithm=cg epochs=3", train_text},
    {"type=crf algorithm=gd epochs=3", train_text},
    {"type=maxent epochs=5", train_text},
    {"type=memm epochs=5", train_text},
    {"type=hmm", train_text},
    {"type=hmm algorithm=em states=3 epochs=3", train_text},
    {"type=hmm algorithm=viterbi states=3 epochs=3", train_text},
    {"type=crf epochs=3 train-scheme=iobes", train_text},
    {"type=crf epochs=3 features=pos columns=word,pos,chunk", train_text},
    {"type=crf epochs=3 label=2", train_text},
    {"type=crf epochs=3 dictionary=learn dictionary-count=1", train_text},
    {"type=crf epochs=3 format=crfsuite", attributes_text},
    {"type=perceptron format=crfsuite", attributes_text},
    {"type=hmm gaussian=1", numbers_text},
};

static trellis_model *train(const trellis_options *options, const trellis_source *source,
                            const trellis_source *dev)
{
    trellis_model *model;
    trellis_error error = {0};
    trellis_training training = {.struct_size = sizeof training,
                                 .train = source,
                                 .train_count = 1,
                                 .dev = dev,
                                 .dev_count = dev ? 1 : 0};
    if (trellis_train(options, &training, &model, &error)) {
        fail_msg("%s", error.message);
    }
    return model;
}

static void assert_same(const trellis_model *a, const trellis_model *b, const char *what)
{
    if (a->image.size != b->image.size ||
        memcmp(a->image.data, b->image.data, a->image.size) != 0) {
        fail_msg("%s: the models differ", what);
    }
}

/* A function over a reader that can be opened again. */
struct replay {
    trellis_source source;
    const trellis_options *options;
    trellis_reader *reader;
    size_t rewinds;
};

static trellis_status rewind_replay(void *user, trellis_error *error)
{
    struct replay *replay = user;
    trellis_reader_close(replay->reader);
    replay->rewinds++;
    return trellis_reader_open_source(&replay->source, replay->options, &replay->reader, error);
}

static trellis_status next_of_replay(void *user, const trellis_sequence **ret_sequence,
                                     trellis_error *error)
{
    struct replay *replay = user;
    return trellis_reader_next(replay->reader, ret_sequence, error);
}

/* The column of the label, as the reader of the text finds it, and how many columns there are. */
static void describe(struct replay *replay, trellis_source *function)
{
    const trellis_sequence *first;
    assert_int_equal(rewind_replay(replay, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_next(replay->reader, &first, NULL), TRELLIS_OK);
    function->column_count = first->columns;
    const char *label = trellis_options_get(replay->options, "label");
    function->label_column = first->columns == 0 ? 0 : label[0] == '2' ? 2 : first->columns;
}

static void every_source_gives_the_same_model(void **state)
{
    (void)state;
    for (size_t k = 0; k < TR_COUNT(kinds); k++) {
        const char *text = kinds[k].train;
        trellis_options *options = make_options(kinds[k].settings);
        char *path = temporary_file(text);
        trellis_source file = {.struct_size = sizeof file, .path = path};
        trellis_source bytes = {
            .struct_size = sizeof bytes, .data = text, .data_size = strlen(text)};
        trellis_corpus *corpus;
        assert_int_equal(trellis_corpus_create(&corpus, NULL), TRELLIS_OK);
        assert_int_equal(trellis_corpus_read(corpus, &bytes, options, NULL), TRELLIS_OK);
        trellis_source memory = {.struct_size = sizeof memory, .corpus = corpus};
        struct replay replay = {.source = bytes, .options = options};
        trellis_source function = {.struct_size = sizeof function,
                                   .next = next_of_replay,
                                   .rewind = rewind_replay,
                                   .user = &replay};
        describe(&replay, &function);

        trellis_model *expected = train(options, &file, NULL);
        const trellis_source *const others[] = {&bytes, &memory, &function};
        for (size_t i = 0; i < TR_COUNT(others); i++) {
            trellis_model *model = train(options, others[i], NULL);
            assert_same(model, expected, kinds[k].settings);
            trellis_model_close(model);
        }
        assert_true(replay.rewinds >= 2);
        trellis_model_close(expected);
        trellis_reader_close(replay.reader);
        trellis_corpus_destroy(corpus);
        trellis_options_destroy(options);
        temporary_drop(path);
    }
}

/* The dev data, the unlabelled data, the earlier model and the templates. */
static void all_that_files_give_can_be_given(void **state)
{
    (void)state;
    char *dev_path = temporary_file(dev_text);
    trellis_source bytes = {
        .struct_size = sizeof bytes, .data = train_text, .data_size = strlen(train_text)};
    trellis_source dev = {
        .struct_size = sizeof dev, .data = dev_text, .data_size = strlen(dev_text)};
    trellis_options *options = make_options("type=crf epochs=6");
    trellis_options *with_dev = make_options("type=crf epochs=6");
    assert_int_equal(trellis_options_set(with_dev, "dev", dev_path, NULL), TRELLIS_OK);
    trellis_model *expected = train(with_dev, &bytes, NULL), *model = train(options, &bytes, &dev);
    assert_same(model, expected, "dev");

    trellis_training training = {.struct_size = sizeof training,
                                 .train = &dev,
                                 .train_count = 1,
                                 .from = model,
                                 .templates = "columns word\nnode word\nstep\n"};
    trellis_model *from = NULL;
    assert_int_equal(trellis_train(options, &training, &from, NULL), TRELLIS_OK);
    assert_int_equal(tr_features_template_count(from->features), 1);
    trellis_model_close(from);
    trellis_model_close(model);
    trellis_model_close(expected);
    trellis_options_destroy(with_dev);
    trellis_options_destroy(options);
    temporary_drop(dev_path);
}

static void groups_hold_data_out(void **state)
{
    (void)state;
    trellis_corpus *both;
    trellis_options *options = make_options("type=crf epochs=4");
    trellis_source train_bytes = {
        .struct_size = sizeof train_bytes, .data = train_text, .data_size = strlen(train_text)};
    trellis_source dev_bytes = {
        .struct_size = sizeof dev_bytes, .data = dev_text, .data_size = strlen(dev_text)};
    const trellis_source *const parts[] = {&train_bytes, &dev_bytes};
    assert_int_equal(trellis_corpus_create(&both, NULL), TRELLIS_OK);
    for (uint32_t group = 0; group < 2; group++) {
        trellis_reader *reader;
        const trellis_sequence *sequence;
        assert_int_equal(trellis_reader_open_source(parts[group], NULL, &reader, NULL), TRELLIS_OK);
        while (trellis_reader_next(reader, &sequence, NULL) == TRELLIS_OK) {
            trellis_sequence copy = *sequence;
            copy.group = group;
            assert_int_equal(trellis_corpus_add(both, &copy, NULL), TRELLIS_OK);
        }
        trellis_reader_close(reader);
    }
    trellis_source train_group = {.struct_size = sizeof train_group,
                                  .corpus = both,
                                  .groups = TRELLIS_EXCEPT_GROUP,
                                  .group = 1};
    trellis_source dev_group = train_group;
    dev_group.groups = TRELLIS_ONLY_GROUP;
    /* The label stands among the cells here and is not said to; templates must not see it. */
    trellis_model *model = train(options, &train_group, &dev_group);
    assert_non_null(trellis_model_note(model, "iterations"));
    assert_string_equal(trellis_model_note(model, "sequences"), "4");
    trellis_model_close(model);
    trellis_corpus_destroy(both);
    trellis_options_destroy(options);
}

struct watch {
    trellis_cancellation *cancellation;
    uint64_t iterations;
    bool has_rows, has_line_search;
};

static bool cancel_at_the_third(void *user, const trellis_progress *progress)
{
    struct watch *watch = user;
    if (progress->phase == TRELLIS_PHASE_TRAINING && progress->fraction >= 1) {
        trellis_row row = {.struct_size = sizeof row};
        watch->iterations = progress->iteration;
        watch->has_rows = progress->dev &&
                          trellis_evaluation_row(progress->dev, TRELLIS_BY_LABEL, 0, &row);
        watch->has_line_search = progress->line_search_trials > 0 &&
                                 isfinite(progress->line_search_step) && progress->feature_norm > 0;
        if (progress->iteration == 3) {
            trellis_cancel(watch->cancellation);
        }
    }
    return true;
}

static void a_cancelled_training_keeps_the_best_model(void **state)
{
    (void)state;
    struct watch watch = {0};
    trellis_model *model;
    trellis_error error = {0};
    trellis_options *options = make_options("type=crf delta=0 epsilon=0");
    trellis_source bytes = {
        .struct_size = sizeof bytes, .data = train_text, .data_size = strlen(train_text)};
    assert_int_equal(trellis_cancellation_create(&watch.cancellation, NULL), TRELLIS_OK);
    trellis_training training = {.struct_size = sizeof training,
                                 .train = &bytes,
                                 .train_count = 1,
                                 .dev = &bytes,
                                 .dev_count = 1,
                                 .progress = cancel_at_the_third,
                                 .user = &watch,
                                 .cancellation = watch.cancellation};
    assert_int_equal(trellis_train(options, &training, &model, &error), TRELLIS_INTERRUPTED);
    assert_non_null(model);
    assert_int_equal(watch.iterations, 3);
    assert_true(watch.has_rows && watch.has_line_search);
    trellis_model_close(model);
    trellis_cancellation_destroy(watch.cancellation);
    trellis_cancellation_destroy(NULL);
    trellis_options_destroy(options);
}

static trellis_status fails_at_once(void *user, const trellis_sequence **ret_sequence,
                                    trellis_error *error)
{
    (void)user, (void)ret_sequence;
    error->status = TRELLIS_IO;
    snprintf(error->message, sizeof error->message, "the disk is on fire");
    return TRELLIS_IO;
}

static void expect_refused(const trellis_options *options, const trellis_training *training,
                           trellis_status expected, const char *words)
{
    trellis_model *model = NULL;
    trellis_error error = {0};
    assert_int_equal(trellis_train(options, training, &model, &error), expected);
    assert_null(model);
    if (!strstr(error.message, words)) {
        fail_msg("'%s' does not say '%s'", error.message, words);
    }
}

static void bad_sources_are_refused(void **state)
{
    (void)state;
    trellis_options *options = make_options("type=crf epochs=2");
    trellis_options *scheme = make_options("type=crf epochs=2 train-scheme=iobes");
    trellis_source source = {
        .struct_size = sizeof source, .next = fails_at_once, .column_count = 2};
    trellis_training training = {.train = &source, .train_count = 1};
    expect_refused(options, &training, TRELLIS_OPTION, "struct_size");
    training.struct_size = sizeof training;
    expect_refused(options, &training, TRELLIS_IO, "memory: sequence 1: the disk is on fire");
    expect_refused(scheme, &training, TRELLIS_OPTION, "--train-scheme with memory needs --scheme");
    training.train_count = 0;
    expect_refused(options, &training, TRELLIS_DATA, "there is no training data");

    trellis_corpus *corpus;
    assert_int_equal(trellis_corpus_create(&corpus, NULL), TRELLIS_OK);
    trellis_source memory = {.struct_size = sizeof memory, .corpus = corpus};
    training.train = &memory;
    training.train_count = 1;
    expect_refused(options, &training, TRELLIS_DATA, "no tokens in memory");
    static const trellis_text words[] = {{"a", 1}, {"b", 1}};
    trellis_sequence unlabelled = {
        .struct_size = sizeof unlabelled, .length = 2, .columns = 1, .cells = words, .weight = 1};
    assert_int_equal(trellis_corpus_add(corpus, &unlabelled, NULL), TRELLIS_OK);
    expect_refused(options, &training, TRELLIS_DATA, "memory: sequence 1: ");
    trellis_corpus_destroy(corpus);
    trellis_options_destroy(scheme);
    trellis_options_destroy(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_source_gives_the_same_model),
        cmocka_unit_test(all_that_files_give_can_be_given),
        cmocka_unit_test(groups_hold_data_out),
        cmocka_unit_test(a_cancelled_training_keeps_the_best_model),
        cmocka_unit_test(bad_sources_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
