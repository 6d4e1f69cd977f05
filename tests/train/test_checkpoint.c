/* test_checkpoint.c - a training that was interrupted and resumed gives the model of one that was
 * not, to the byte, for every learner; and a checkpoint is as hostile as any other file. */
#include "model/test_hostile.h"
#include "train/naive.h"
#include "train/ways.h"

static size_t interrupted, damaged; // trainings, and checkpoints

/* Stops a training after some iterations. */
struct stopper {
    const char *phase;
    uint64_t after;
    bool stopped;
};

static bool listen(void *user, const trellis_progress *progress)
{
    struct stopper *stopper = user;
    bool complete = progress->phase == TRELLIS_PHASE_TRAINING && progress->fraction >= 1 &&
                    progress->iteration > 0;
    stopper->stopped = stopper->stopped || (complete && progress->iteration >= stopper->after);
    return !stopper->stopped;
}

/* Trains; the bytes of the model, which the caller frees, or NULL where the training was
 * refused. */
static char *train_bytes(const char *path, const char *settings, uint64_t stop_after,
                         size_t *ret_size, trellis_error *error)
{
    trellis_options *options = make_options(settings);
    trellis_model *model = NULL;
    struct stopper stopper = {.after = stop_after};
    trellis_status status = trellis_train_files(options, &path, 1, stop_after ? listen : NULL,
                                                &stopper, &model, error);
    char *bytes = NULL;
    if (!status || status == TRELLIS_INTERRUPTED) {
        *ret_size = model->image.size;
        bytes = memcpy(malloc(model->image.size), model->image.data, model->image.size);
    }
    trellis_model_close(model);
    trellis_options_destroy(options);
    return bytes;
}

static void assert_same_bytes(const char *one, size_t one_size, const char *other,
                              size_t other_size, const char *what)
{
    if (!one || !other || one_size != other_size || memcmp(one, other, one_size) != 0) {
        fail_msg("another model: %s", what);
    }
}

/* A path in the folder of the test that stays; path_of() has room for eight. */
struct path {
    char text[600];
};

static struct path path_to(const char *name)
{
    struct path path;
    snprintf(path.text, sizeof path.text, "%s", path_of(name));
    return path;
}

/* The same training: without interruption; and interrupted after each of some iterations and
 * resumed, several times over. True where there was something to interrupt. */
static bool check_resumed(const char *path, const char *settings, const uint64_t *stops,
                          size_t count)
{
    trellis_error error = {0};
    size_t whole_size, resumed_size;
    char with[2200];
    struct path file = path_to("checkpoint");
    snprintf(with, sizeof with, "%s checkpoint=%s resume=yes", settings, file.text);
    char *whole = train_bytes(path, settings, 0, &whole_size, &error);
    if (!whole) {
        fail_msg("%s: %s", settings, error.message);
    }
    unlink(file.text);
    bool written = false;
    for (size_t i = 0; i < count; i++) {
        free(train_bytes(path, with, stops[i], &resumed_size, &error));
        written = written || access(file.text, F_OK) == 0;
        interrupted++;
    }
    char *resumed = train_bytes(path, with, 0, &resumed_size, &error);
    assert_same_bytes(whole, whole_size, resumed, resumed_size, settings);
    free(resumed);
    free(whole);
    return written;
}

static struct path write_corpus(const char *name, uint64_t seed, bool weighted)
{
    struct naive naive;
    struct tr_buffer corpus = {0};
    make_corpus(&naive, seed, weighted, &corpus);
    put_text(name, corpus.data);
    tr_buffer_free(&corpus);
    return path_to(name);
}

static const uint64_t once[] = {3}, twice[] = {2, 4};

static void test_every_learner(void **state)
{
    (void)state;
    char way[100], settings[300];
    struct tr_buffer corpus = {0};
    ways_corpus(3, 20, &corpus);
    put_text("train.txt", corpus.data);
    tr_buffer_free(&corpus);
    struct path path = path_to("train.txt");
    for (size_t i = 0; way_at(i, way); i++) {
        snprintf(settings, sizeof settings, "epochs=6 gap=0 threads=2 %s", way);
        check_resumed(path.text, settings, once, 1);
        bool written = check_resumed(path.text, settings, twice, 2);
        assert_true(written || strstr(way, "counts")); // which has no iterations
    }
}

static void test_variants(void **state)
{
    (void)state;
    static const char *const variants[] = {
        "type=crf l1=0.3",
        "type=crf l1=0.3 l2=0.2 order=2",
        "type=crf select-l1=0.2",
        "type=crf select-l1=0.2 algorithm=sgd batch=4",
        "type=crf history=2 warm-up=0",
        "type=crf algorithm=sgd average=no rate=0.1",
        "type=crf algorithm=sgd dropout=0.4 batch=2",
        "type=crf algorithm=sgd order=2 prune=0.05",
        "type=perceptron order=2",
        "type=perceptron partial=yes",
        "type=ssvm order=2",
        "type=mira mbest=2",
        "type=crf dev=DEV patience=3",
        "type=perceptron dev=DEV patience=2",
        "type=crf from=MODEL",
        "type=ssvm from=MODEL",
        "type=ssvm algorithm=subgradient from=MODEL",
    };
    struct path path = write_corpus("train.txt", 5, true), dev = write_corpus("dev.txt", 6, false);
    struct path model = path_to("from.model");
    size_t size;
    trellis_error error = {0};
    char *bytes = train_bytes(path.text, "format=crfsuite epochs=2", 0, &size, &error);
    put_file("from.model", bytes, size);
    free(bytes);
    for (size_t i = 0; i < TR_COUNT(variants); i++) {
        char settings[1400] = "format=crfsuite epochs=6 gap=0 ";
        const char *at = variants[i], *name;
        if ((name = strstr(at, "DEV")) || (name = strstr(at, "MODEL"))) {
            size_t end = strlen(settings), before = (size_t)(name - at);
            bool is_dev = *name == 'D';
            snprintf(settings + end, sizeof settings - end, "%.*s%s%s", (int)before, at,
                     is_dev ? dev.text : model.text, name + (is_dev ? 3 : 5));
        } else {
            strcat(settings, at);
        }
        check_resumed(path.text, settings, once, 1);
        assert_true(check_resumed(path.text, settings, twice, 2));
    }
}

/* ---- without labels -------------------------------------------------------------------------- */

static struct path write_words(const char *name, uint64_t seed)
{
    struct tr_buffer corpus = {0};
    ways_corpus(seed, 25, &corpus);
    put_text(name, corpus.data);
    tr_buffer_free(&corpus);
    return path_to(name);
}

static struct path write_numbers(const char *name)
{
    struct tr_buffer corpus = {0};
    struct tr_random random;
    tr_random_seed(&random, 4);
    for (size_t i = 0; i < 200; i++) {
        double centre = (double)tr_random_below(&random, 3);
        tr_buffer_format(&corpus, "%.6f %.6f\n%s", centre + tr_random_real(&random),
                         2 * centre - tr_random_real(&random), i % 20 == 19 ? "\n" : "");
    }
    tr_buffer_char(&corpus, 0);
    put_text(name, corpus.data);
    tr_buffer_free(&corpus);
    return path_to(name);
}

/* Within the first start and within later ones; with weights of minus infinity, where alpha is
 * 0. */
/* With --segments: every learner that has them, names that are learned, and a filter. */
static void test_segments(void **state)
{
    (void)state;
    static const char *const variants[] = {
        "type=crf",  "type=crf algorithm=sgd filter=0.2", "type=crf l1=0.1", "type=perceptron",
        "type=mira", "type=perceptron algorithm=pa1",     "type=ssvm",
    };
    static const char templates[] =
        "columns word\nnode word[-1..1]\nsegment text(word)\nsegment size & before(word)\n"
        "segment any(word,1..2)\nsegment learned(word) & size\nstep start end\n";
    struct tr_buffer corpus = {0};
    for (int i = 0; i < 60; i++) { // names of one to three words
        static const char *const text[] = {"a O\nRio B-X\nb O\n\n", "New B-X\nYork I-X\nb O\n\n",
                                           "b O\nRio B-Y\nof I-Y\nYork I-Y\n\n",
                                           "a B-Y\nb O\nNew B-X\n\n", "York B-Y\na O\n\n"};
        tr_buffer_string(&corpus, text[i * i % 7 % 5]);
    }
    tr_buffer_add(&corpus, "", 1);
    put_text("spans.txt", corpus.data);
    put_text("spans.tpl", templates);
    tr_buffer_free(&corpus);
    struct path path = path_to("spans.txt"), features = path_to("spans.tpl");
    for (size_t i = 0; i < TR_COUNT(variants); i++) {
        char settings[1400];
        snprintf(settings, sizeof settings, "epochs=6 gap=0 segments=yes features=%s %s",
                 features.text, variants[i]);
        check_resumed(path.text, settings, once, 1);
        assert_true(check_resumed(path.text, settings, twice, 2));
    }
}

static void test_without_labels(void **state)
{
    (void)state;
    static const char *const variants[] = {
        "algorithm=em states=3",
        "algorithm=em states=3 alpha=0.1 restarts=3",
        "algorithm=em states=4 restarts=3 period=2 delta=1e-3",
        "algorithm=viterbi states=3 restarts=3",
        "algorithm=em states=3 alpha=0.1 restarts=3 patience=1 dev=",
        "algorithm=viterbi states=3 alpha=0.1 restarts=2 dev-score=one-to-one patience=2 dev=",
        "algorithm=em alpha=0.1 unlabelled-weight=0.5 unlabelled=",
        "algorithm=viterbi alpha=0.1 unlabelled=",
        "algorithm=em states=3 order=2 restarts=2",
    };
    static const uint64_t stops[] = {2, 5, 9, 14};
    struct path path = write_words("train.txt", 3), more = write_words("more.txt", 8);
    struct path numbers = write_numbers("numbers.txt");
    char settings[1400];
    for (size_t i = 0; i < TR_COUNT(variants); i++) {
        bool names_file = variants[i][strlen(variants[i]) - 1] == '=';
        snprintf(settings, sizeof settings, "type=hmm epochs=7 %s%s", variants[i],
                 names_file ? more.text : "");
        assert_true(check_resumed(path.text, settings, stops, TR_COUNT(stops)));
        strcat(settings, " every=3");
        assert_true(check_resumed(path.text, settings, stops, TR_COUNT(stops)));
    }
    for (size_t i = 0; i < 2; i++) {
        snprintf(settings, sizeof settings,
                 "type=hmm algorithm=%s states=3 epochs=6 restarts=3 gaussian=1,2 label=none",
                 i ? "viterbi" : "em");
        assert_true(check_resumed(numbers.text, settings, stops, TR_COUNT(stops)));
    }
}

/* The second phase of --select-l1 is resumed, too: stop where the first has ended. */
static bool stop_in_second(void *user, const trellis_progress *progress)
{
    struct stopper *stopper = user;
    if (progress->phase == TRELLIS_PHASE_MESSAGE && strstr(progress->message, "selected")) {
        stopper->after = 4;
    }
    return !(stopper->after && progress->phase == TRELLIS_PHASE_TRAINING &&
             progress->iteration >= stopper->after);
}

static void test_second_phase(void **state)
{
    (void)state;
    struct path path_kept = write_corpus("train.txt", 7, false), file = path_to("phases");
    const char *path = path_kept.text;
    char settings[900];
    size_t whole_size, size;
    trellis_error error = {0};
    snprintf(settings, sizeof settings, "format=crfsuite type=crf select-l1=0.2 epochs=12");
    char *whole = train_bytes(path, settings, 0, &whole_size, &error);
    snprintf(settings + strlen(settings), sizeof settings - strlen(settings),
             " checkpoint=%s resume=yes", file.text);
    trellis_options *options = make_options(settings);
    trellis_model *model = NULL;
    struct stopper stopper = {0};
    assert_int_equal(
        trellis_train_files(options, &path, 1, stop_in_second, &stopper, &model, &error),
        TRELLIS_INTERRUPTED);
    trellis_model_close(model);
    trellis_options_destroy(options);
    size_t bytes_size;
    char *bytes = get_file(file.text, &bytes_size);
    assert_non_null(memmem(bytes, bytes_size, "SLCT", 4));
    char *resumed = train_bytes(path, settings, 0, &size, &error);
    assert_same_bytes(whole, whole_size, resumed, size, "after the selection");
    free(bytes);
    free(resumed);
    free(whole);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void assert_refused(const char *path, const char *settings, const char *sentence)
{
    trellis_error error = {0};
    size_t size;
    assert_null(train_bytes(path, settings, 0, &size, &error));
    if (!strstr(error.message, sentence)) {
        fail_msg("'%s' instead of '%s'", error.message, sentence);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    struct path path = write_corpus("train.txt", 9, false), file = path_to("refused");
    char settings[1300], other[1400];
    trellis_error error = {0};
    size_t size;
    snprintf(settings, sizeof settings, "format=crfsuite epochs=4 checkpoint=%s resume=yes",
             file.text);
    free(train_bytes(path.text, settings, 0, &size, &error));
    assert_refused(write_corpus("other.txt", 10, false).text, settings, "of another training");
    assert_refused(write_corpus("train.txt", 9, true).text, settings, "of another training");
    path = write_corpus("train.txt", 9, false);
    snprintf(other, sizeof other, "%s seed=2", settings);
    assert_refused(path.text, other, "of another training");
    snprintf(other, sizeof other, "%s algorithm=arow", settings);
    assert_refused(path.text, other, "of another training");
    snprintf(other, sizeof other, "%s epochs=6 threads=3", settings); // those may change
    char *bytes = train_bytes(path.text, other, 0, &size, &error);
    assert_non_null(bytes);
    put_file("refused", bytes, size);
    assert_refused(path.text, settings, "is a model, not the checkpoint");
    free(bytes);
    assert_refused(path.text, "format=crfsuite resume=yes", "--resume needs --checkpoint");
    put_text("refused", "");
    assert_refused(path.text, settings, "is not a checkpoint: it is empty");
    put_text("refused", "some text that is long enough");
    assert_refused(path.text, settings, "is not a Trellis checkpoint");
    snprintf(settings, sizeof settings, "format=crfsuite epochs=4 checkpoint=%s/no/such",
             file.text);
    bytes = train_bytes(path.text, settings, 0, &size, &error); // a warning, no more
    assert_non_null(bytes);
    free(bytes);
}

static void test_checkpoint_is_no_model(void **state)
{
    (void)state;
    char settings[700];
    struct path path = write_corpus("train.txt", 9, false), file = path_to("no-model");
    trellis_error error = {0};
    trellis_model *model;
    size_t size;
    snprintf(settings, sizeof settings, "format=crfsuite epochs=4 checkpoint=%s", file.text);
    free(train_bytes(path.text, settings, 0, &size, &error));
    assert_int_equal(trellis_model_open(file.text, &model, &error), TRELLIS_MODEL);
    assert_non_null(strstr(error.message, "checkpoint of a training, not a model"));
}

/* ---- hostile files --------------------------------------------------------------------------- */

/* Every 4 bytes set to extremes with valid checksums: an error, or a training that ends. */
static void test_hostile(void **state)
{
    (void)state;
    static const char *const ways[] = {"type=perceptron algorithm=arow",
                                       "type=crf warm-up=0",
                                       "type=crf algorithm=cg",
                                       "type=crf algorithm=sgd",
                                       "type=ssvm",
                                       "type=mira",
                                       "type=hmm algorithm=em states=2",
                                       "type=hmm algorithm=viterbi states=2 restarts=2 alpha=1"};
    static const uint32_t extremes[] = {0, 1, UINT32_MAX, 0x7FFFFFFF, 0x7FC00000};
    put_text("tiny.txt", "A\tx\ty\nB\tx\n\nB\ty\nA\tx\n\n");
    put_text("words.txt", "A\tx\nB\ty\n\nB\ty\nA\tx\n\n"); // one at a token, for an HMM
    struct path file = path_to("hostile");
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        struct path path = path_to(strstr(ways[i], "hmm") ? "words.txt" : "tiny.txt");
        char settings[700];
        trellis_error error = {0};
        size_t size, model_size, refused = 0, tried = 0;
        snprintf(settings, sizeof settings, "format=crfsuite epochs=3 threads=1 gap=0 %s", ways[i]);
        snprintf(settings + strlen(settings), sizeof settings - strlen(settings), " checkpoint=%s",
                 file.text);
        free(train_bytes(path.text, settings, 0, &model_size, &error));
        strcat(settings, " resume=yes every=1000");
        char *bytes = get_file(file.text, &size);
        for (size_t at = 0; at + 4 <= size; at += 4) {
            uint32_t extreme = extremes[at / 4 % TR_COUNT(extremes)];
            unsigned char *changed = malloc(size);
            memcpy(changed, bytes, size);
            memcpy(changed + at, &extreme, sizeof extreme);
            repair_checksums(changed, size);
            put_file("hostile", changed, size);
            char *model = train_bytes(path.text, settings, 0, &model_size, &error);
            refused += !model;
            tried++;
            damaged++;
            free(model);
            free(changed);
        }
        assert_true(refused > 20 && refused < tried);
        for (size_t n = 0; n < size; n += 1 + size / 100) { // cut off
            put_file("hostile", bytes, n);
            damaged++;
            assert_null(train_bytes(path.text, settings, 0, &model_size, &error));
        }
        free(bytes);
    }
}

int main(void)
{
    if (access("/dev/shm", W_OK) ==
        0) { // hundreds of checkpoints, each synced to the disk otherwise
        setenv("TRELLIS_TMP", "/dev/shm", 1);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_learner),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_without_labels),
        cmocka_unit_test(test_second_phase),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_checkpoint_is_no_model),
        cmocka_unit_test(test_hostile),
    };
    int status = cmocka_run_group_tests(tests, group_setup, group_teardown);
    printf("%zu trainings interrupted, %zu damaged checkpoints\n", interrupted, damaged);
    return status;
}
