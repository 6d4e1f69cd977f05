/* test_bytes.c - models and templates from bytes, also where no file can be opened. */
#include "test_model.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "model/image.h"

static const char corpus[] = "the DT\ncat NN\nsleeps VB\n\na DT\ndog NN\nbarks VB\n";

static struct tr_buffer written(const trellis_model *model)
{
    struct tr_buffer bytes = {0};
    trellis_error error = {0};
    assert_ok(trellis_model_write(model, to_buffer, &bytes, &error), error);
    assert_false(bytes.failed);
    assert_int_equal(bytes.size, trellis_model_size(model));
    return bytes;
}

static trellis_model *open_bytes(const void *data, size_t size, trellis_bytes_use use)
{
    trellis_error error = {0};
    trellis_model *model;
    assert_ok(trellis_model_open_bytes(data, size, use, &model, &error), error);
    return model;
}

/* Who gave a buffer away may use it again, or free it. */
static void test_adopted(void **state)
{
    (void)state;
    struct tr_buffer buffer = {0};
    struct tr_image image;
    tr_buffer_string(&buffer, "the bytes");
    tr_image_adopt(&image, &buffer);
    assert_null(buffer.data);
    assert_true(buffer.size == 0 && buffer.capacity == 0 && !buffer.failed);
    assert_int_equal(image.size, strlen("the bytes"));
    assert_memory_equal(image.data, "the bytes", image.size);
    tr_image_close(&image);
    assert_null(image.data);
}

/* ---- the same as files ----------------------------------------------------------------------- */

static void test_same_as_file(void **state)
{
    (void)state;
    static const char *const learners[] = {"type=crf order=2", "type=perceptron epochs=3",
                                           "type=hmm", "type=memm"};
    for (size_t i = 0; i < TR_COUNT(learners); i++) {
        trellis_error error = {0};
        trellis_model *model = train_on(corpus, learners[i]);
        size_t size;
        const char *path = path_of("a.model");
        assert_ok(trellis_model_save(model, path, &error), error);
        char *file = get_file(path, &size);
        struct tr_buffer bytes = written(model);
        assert_int_equal(bytes.size, size);
        assert_memory_equal(bytes.data, file, size);

        char *aside = malloc(size + 1);
        assert_non_null(aside);
        memcpy(aside + 1, file, size); // not aligned
        trellis_model *models[] = {open_bytes(file, size, TRELLIS_BORROW),
                                   open_bytes(bytes.data, size, TRELLIS_COPY),
                                   open_bytes(aside + 1, size, TRELLIS_BORROW)};
        memset(bytes.data, 0, size);
        memset(aside, 0, size + 1);
        for (size_t m = 0; m < TR_COUNT(models); m++) {
            double score, expected;
            free(tag_by(model, "the dog sleeps", &expected));
            free(tag_by(models[m], "the dog sleeps", &score));
            assert_true(score == expected);
            struct tr_buffer again = written(models[m]);
            assert_int_equal(again.size, size);
            assert_memory_equal(again.data, file, size);
            assert_ok(trellis_model_verify(models[m], &error), error);
            tr_buffer_free(&again);
            trellis_model_close(models[m]);
        }
        trellis_model_close(model);
        tr_buffer_free(&bytes);
        free(aside);
        free(file);
    }
}

static void test_text(void **state)
{
    (void)state;
    trellis_error error = {0};
    trellis_model *model = train_on(corpus, "type=crf"), *imported;
    char *text = say(model, EXPORT);
    struct tr_buffer bytes = written(model);
    assert_ok(trellis_model_import_bytes(text, strlen(text), NULL, &imported, &error), error);
    struct tr_buffer from_text = written(imported);
    trellis_model_close(imported);
    imported = open_bytes(text, strlen(text), TRELLIS_BORROW);
    struct tr_buffer opened = written(imported);
    trellis_model_close(imported);
    imported = import_model(put_text("model.txt", text));
    struct tr_buffer from_file = written(imported);
    trellis_model_close(imported);
    assert_int_equal(from_file.size, from_text.size);
    assert_memory_equal(from_file.data, from_text.data, from_text.size);
    assert_int_equal(opened.size, from_text.size);
    assert_memory_equal(opened.data, from_text.data, from_text.size);
    tr_buffer_free(&bytes);
    tr_buffer_free(&from_text);
    tr_buffer_free(&from_file);
    tr_buffer_free(&opened);
    free(text);
    trellis_model_close(model);
}

/* ---- bad input ------------------------------------------------------------------------------- */

static void test_bad_bytes(void **state)
{
    (void)state;
    trellis_error error = {0};
    trellis_model *bad;
    assert_int_equal(trellis_model_open_bytes(NULL, 0, TRELLIS_COPY, &bad, &error), TRELLIS_MODEL);
    assert_string_equal(error.message, "this is not a model: it is empty");
    assert_int_equal(trellis_model_open_bytes("hello", 5, TRELLIS_BORROW, &bad, &error),
                     TRELLIS_MODEL);
    assert_null(bad);
    assert_int_equal(trellis_model_import_bytes("hello\n", 6, NULL, &bad, &error), TRELLIS_FORMAT);
    assert_null(bad);
    assert_memory_equal(error.message, "memory:1: ", 10);
    assert_int_equal(trellis_model_import_bytes(NULL, 0, "nothing", &bad, &error), TRELLIS_FORMAT);
    trellis_model *model = train_on(corpus, "type=crf");
    struct tr_buffer bytes = written(model);
    for (size_t size = 0; size < bytes.size; size += 1 + size / 7) {
        assert_int_equal(trellis_model_open_bytes(bytes.data, size, TRELLIS_BORROW, &bad, NULL),
                         TRELLIS_MODEL);
        assert_null(bad);
    }
    tr_buffer_free(&bytes);
    trellis_model_close(model);
}

static trellis_status full(void *user, const char *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return TRELLIS_IO;
}

static void test_full_sink(void **state)
{
    (void)state;
    trellis_error error = {0};
    trellis_model *model = train_on(corpus, "type=crf");
    assert_int_equal(trellis_model_write(model, full, NULL, &error), TRELLIS_IO);
    assert_string_equal(error.message, "cannot write the model");
    trellis_model_close(model);
}

/* ---- without files --------------------------------------------------------------------------- */

/* Everything that is done with bytes, in a process that cannot open a file. */
static bool works_without_files(const struct tr_buffer *bytes, const char *text)
{
    static const char templates[] = "node word[0]\nnode inlist(word,\"list.txt\")\nstep\n";
    trellis_resource list = {"list.txt", "Rome\nParis\n", 11};
    trellis_model *model, *imported, *small;
    trellis_features *features;
    trellis_error error = {0};
    struct tr_buffer again = {0};
    if (open("/dev/null", O_RDONLY) >= 0 ||
        trellis_model_open_bytes(bytes->data, bytes->size, TRELLIS_COPY, &model, &error) ||
        trellis_model_import_bytes(text, strlen(text), NULL, &imported, &error) ||
        trellis_features_parse(tr_text(templates), NULL, &list, 1, &features, &error) ||
        trellis_model_repack(model, 16, &small, &error) ||
        trellis_model_write(model, to_buffer, &again, &error)) {
        print_error("%s\n", error.message);
        return false;
    }
    char *labels = tag_by(model, "the dog sleeps", NULL),
         *same = tag_by(imported, "the dog sleeps", NULL);
    bool works = strcmp(labels, "DT NN VB") == 0 && strcmp(same, labels) == 0 &&
                 again.size == bytes->size && memcmp(again.data, bytes->data, again.size) == 0;
    free(labels);
    free(same);
    tr_buffer_free(&again);
    trellis_features_destroy(features);
    trellis_model_close(small);
    trellis_model_close(imported);
    trellis_model_close(model);
    return works;
}

static void test_without_files(void **state)
{
    (void)state;
    trellis_model *model = train_on(corpus, "type=crf");
    struct tr_buffer bytes = written(model);
    char *text = say(model, EXPORT);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};
        _exit(setrlimit(RLIMIT_NOFILE, &none) == 0 && works_without_files(&bytes, text) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    free(text);
    tr_buffer_free(&bytes);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adopted),   cmocka_unit_test(test_same_as_file),
        cmocka_unit_test(test_text),      cmocka_unit_test(test_bad_bytes),
        cmocka_unit_test(test_full_sink), cmocka_unit_test(test_without_files),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
