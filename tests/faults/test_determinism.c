/* test_determinism.c - the same data, options and seed give the same model to the byte: twice, and
 * for 1, 2, 3 and 8 threads, for every learner and algorithm; and another seed gives another model
 * if the learner is randomised. */
#include "model/model.h"
#include "model/test_model.h"
#include "train/ways.h"

/* The bytes of a model learned from a file; the caller frees them. */
static char *learn(const char *path, const char *settings, size_t *ret_size)
{
    trellis_options *options = make_options(settings);
    trellis_error error = {0};
    trellis_model *model;
    assert_ok(trellis_train_files(options, &path, 1, NULL, NULL, &model, &error), error);
    *ret_size = model->image.size;
    char *bytes = memcpy(malloc(model->image.size), model->image.data, model->image.size);
    trellis_model_close(model);
    trellis_options_destroy(options);
    return bytes;
}

static void assert_one_model(const char *path, const char *way)
{
#ifdef __SANITIZE_THREAD__ // which is slow
    static const int threads[] = {8};
#else
    static const int threads[] = {1, 1, 2, 2, 3, 3, 8, 8};
#endif
    char settings[400];
    size_t first_size, size;
    snprintf(settings, sizeof settings, "epochs=3 threads=1 %s", way);
    char *first = learn(path, settings, &first_size);
    for (size_t i = 0; i < TR_COUNT(threads); i++) {
        snprintf(settings, sizeof settings, "epochs=3 threads=%d %s", threads[i], way);
        char *bytes = learn(path, settings, &size);
        if (size != first_size || memcmp(bytes, first, size) != 0) {
            fail_msg("%s: another model", settings);
        }
        free(bytes);
    }
    free(first);
}

static const char *write_corpus(char path[600])
{
    struct tr_buffer corpus = {0};
    ways_corpus(11, 150, &corpus); // more sequences than blocks
    snprintf(path, 600, "%s", put_text("train.txt", corpus.data));
    tr_buffer_free(&corpus);
    return path;
}

static void test_every_learner(void **state)
{
    (void)state;
    char path[600], way[100];
    size_t ways = 0;
    write_corpus(path);
    for (; way_at(ways, way); ways++) {
        assert_one_model(path, way);
    }
    assert_true(ways >= 15);
    print_message("%zu ways to learn, 9 times each\n", ways);
}

static void test_variants(void **state)
{
    (void)state;
    static const char *const variants[] = {"type=crf algorithm=sgd batch=8",
                                           "type=crf l1=0.1",
                                           "type=crf order=2",
                                           "type=crf select-l1=0.1",
                                           "type=perceptron order=2",
                                           "type=crf dictionary=learn",
                                           "type=perceptron train-scheme=iobes"};
    char path[600];
    write_corpus(path);
    for (size_t i = 0; i < TR_COUNT(variants); i++) {
        assert_one_model(path, variants[i]);
    }
}

/* The seed has an effect. */
static void test_seed_matters(void **state)
{
    (void)state;
    char path[600];
    size_t one_size, other_size;
    write_corpus(path);
    char *one = learn(path, "epochs=2 seed=1", &one_size);
    char *other = learn(path, "epochs=2 seed=2", &other_size);
    assert_true(one_size != other_size || memcmp(one, other, one_size) != 0);
    free(one);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_learner),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_seed_matters),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
