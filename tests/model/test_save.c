/* test_save.c - saving is atomic and leaves no other files. */
#include "test_model.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const char corpus[] = "the DT\ncat NN\nsleeps VB\n\na DT\ndog NN\nbarks VB\n";
static const char other[] = "x A\ny B\n\ny B\nx A\n";

/* The names in the test's folder, without the corpus. */
static size_t count_files(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        count += entry->d_name[0] != '.' && strcmp(entry->d_name, "corpus.txt") != 0;
    }
    closedir(directory);
    return count;
}

static void assert_file(const char *path, const char *bytes, size_t size)
{
    size_t found_size;
    char *found = get_file(path, &found_size);
    assert_int_equal(found_size, size);
    assert_memory_equal(found, bytes, size);
    free(found);
}

/* A new folder with a model in it; returns the bytes of that model. */
static char *prepare(const char *name, char folder[600], size_t *ret_size)
{
    trellis_error error = {0};
    char path[700];
    snprintf(folder, 600, "%s", path_of(name));
    snprintf(path, sizeof path, "%s/a.model", folder);
    assert_int_equal(mkdir(folder, 0755), 0);
    trellis_model *model = train_on(other, "epochs=3");
    assert_ok(trellis_model_save(model, path, &error), error);
    trellis_model_close(model);
    assert_int_equal(count_files(folder), 1);
    return get_file(path, ret_size);
}

static void test_replaces(void **state)
{
    (void)state;
    char folder[600], path[700];
    size_t size, new_size;
    trellis_error error = {0};
    char *bytes = prepare("replaces", folder, &size);
    snprintf(path, sizeof path, "%s/a.model", folder);
    trellis_model *old = open_model(path), *model = train_on(corpus, "epochs=3");
    assert_ok(trellis_model_save(model, path, &error), error);
    assert_int_equal(count_files(folder), 1);
    char *new_bytes = get_file(path, &new_size);
    assert_true(new_size != size || memcmp(bytes, new_bytes, size) != 0);
    assert_tags(old, "x y", "A B"); // whoever had the old one open keeps it
    /* A model may be saved onto the file it was opened from. */
    trellis_model *opened = open_model(path);
    assert_ok(trellis_model_save(opened, path, &error), error);
    assert_file(path, new_bytes, new_size);
    assert_tags(opened, "the cat barks", "DT NN VB");
    trellis_model_close(opened);
    trellis_model_close(model);
    trellis_model_close(old);
    free(bytes);
    free(new_bytes);
}

static void test_permissions(void **state)
{
    (void)state;
    char folder[600], path[700];
    size_t size;
    struct stat about;
    trellis_error error = {0};
    free(prepare("rights", folder, &size));
    snprintf(path, sizeof path, "%s/a.model", folder);
    assert_int_equal(chmod(path, 0640), 0);
    trellis_model *model = open_model(path);
    assert_ok(trellis_model_save(model, path, &error), error);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640); // as they were
    trellis_model_close(model);
}

/* A disk that is full after any number of bytes. */
static void test_full_disk(void **state)
{
    (void)state;
    char folder[600], path[700], fresh[700];
    size_t size;
    char *bytes = prepare("full", folder, &size);
    snprintf(path, sizeof path, "%s/a.model", folder);
    snprintf(fresh, sizeof fresh, "%s/new.model", folder);
    trellis_model *model = train_on(corpus, "epochs=3");
    trellis_error error = {0};
    struct rlimit before, limit;
    struct stat about;
    assert_ok(trellis_model_save(model, path_of("size.model"), &error), error);
    assert_int_equal(stat(path_of("size.model"), &about), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlim_t rooms[] = {0, 1, 100, (rlim_t)about.st_size - 1};
    for (size_t i = 0; i < TR_COUNT(rooms); i++) {
        limit = (struct rlimit){rooms[i], before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        trellis_status status = trellis_model_save(model, path, &error);
        trellis_status second = trellis_model_save(model, fresh, NULL);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, TRELLIS_IO);
        assert_int_equal(second, TRELLIS_IO);
        assert_non_null(strstr(error.message, path));
        assert_file(path, bytes, size);
        assert_int_equal(count_files(folder), 1); // no temporary file, no new.model
    }
    trellis_model_close(model);
    free(bytes);
}

/* A folder that cannot be written to; root can write anywhere, so the test is nobody for a
 * while. */
static void test_read_only_folder(void **state)
{
    (void)state;
    char folder[600], path[700];
    size_t size;
    trellis_error error = {0};
    char *bytes = prepare("readonly", folder, &size);
    snprintf(path, sizeof path, "%s/a.model", folder);
    trellis_model *model = train_on(corpus, "epochs=3");
    bool root = geteuid() == 0;
    assert_int_equal(chmod(test_folder, 0755), 0); // nobody has to get at it
    assert_int_equal(chmod(folder, 0555), 0);
    if (root && seteuid(65534) != 0) {
        skip();
    }
    trellis_status status = trellis_model_save(model, path, &error);
    if (root) {
        assert_int_equal(seteuid(0), 0);
    }
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(status, TRELLIS_IO);
    assert_file(path, bytes, size);
    assert_int_equal(count_files(folder), 1);
    trellis_model_close(model);
    free(bytes);
}

static void test_bad_paths(void **state)
{
    (void)state;
    trellis_model *model = train_on(other, "epochs=1");
    trellis_error error = {0};
    assert_int_equal(trellis_model_save(model, path_of("no/such/folder"), &error), TRELLIS_IO);
    assert_int_equal(trellis_model_save(model, "", NULL), TRELLIS_IO);
    assert_int_equal(mkdir(path_of("folder"), 0755), 0);
    size_t before = count_files(test_folder);
    assert_int_equal(trellis_model_save(model, path_of("folder"), &error), TRELLIS_IO);
    assert_int_equal(count_files(test_folder), before); // the temporary file is gone
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replaces),  cmocka_unit_test(test_permissions),
        cmocka_unit_test(test_full_disk), cmocka_unit_test(test_read_only_folder),
        cmocka_unit_test(test_bad_paths),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
