/* test_output.c - a file is written completely or not at all, and no other files are left. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/input.h"
#include "base/output.h"
#include "base/text.h"
#include "support/temporary.h"

/* Stands in for the C library's, so that everything is also tested as on a file system without
 * unnamed files. */
static bool without_nameless;

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (without_nameless && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return openat(AT_FDCWD, path, flags, mode);
}

/* A folder for each test, and a name in it. */
struct place {
    char *folder;
    char *path;
};

static struct place make_place(void)
{
    struct place place = {.folder = temporary_folder()};
    assert_true(asprintf(&place.path, "%s/model", place.folder) > 0);
    return place;
}

static void drop_place(struct place *place)
{
    free(place->path);
    temporary_drop(place->folder);
}

static size_t files_in(const char *folder)
{
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        count += entry->d_name[0] != '.';
    }
    closedir(directory);
    return count;
}

static void expect_contents(const char *path, const char *expected, size_t size)
{
    char *data;
    size_t found;
    trellis_error error = {0};
    if (tr_input_slurp(path, 1 << 30, &data, &found, &error)) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(found, size);
    assert_memory_equal(data, expected, size);
    free(data);
}

static unsigned rights_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

static struct tr_output *open_output(const char *path)
{
    struct tr_output *output;
    trellis_error error = {0};
    if (tr_output_open(path, &output, &error)) {
        fail_msg("%s", error.message);
    }
    return output;
}

static void put(struct tr_output *output, const char *text)
{
    trellis_error error = {0};
    assert_int_equal(tr_output_write(output, text, strlen(text), &error), TRELLIS_OK);
}

static void write_all(const char *path, const char *text)
{
    struct tr_output *output = open_output(path);
    put(output, text);
    trellis_error error = {0};
    assert_int_equal(tr_output_commit(output, &error), TRELLIS_OK);
}

static void appears_when_committed(void **state)
{
    (void)state;
    struct place place = make_place();
    struct tr_output *output = open_output(place.path);
    put(output, "one ");
    put(output, "");
    put(output, "two");
    assert_int_not_equal(access(place.path, F_OK), 0); // not yet
    assert_int_equal(tr_output_commit(output, NULL), TRELLIS_OK);
    expect_contents(place.path, "one two", 7);
    assert_int_equal(files_in(place.folder), 1);
    drop_place(&place);
}

static void replaces_only_when_committed(void **state)
{
    (void)state;
    struct place place = make_place();
    write_all(place.path, "the old one, which is longer");
    struct tr_output *output = open_output(place.path);
    put(output, "new");
    expect_contents(place.path, "the old one, which is longer", 28);
    tr_output_discard(output);
    expect_contents(place.path, "the old one, which is longer", 28);
    assert_int_equal(files_in(place.folder), 1);
    write_all(place.path, "new");
    expect_contents(place.path, "new", 3);
    assert_int_equal(files_in(place.folder), 1);
    drop_place(&place);
}

static void discards(void **state)
{
    (void)state;
    struct place place = make_place();
    struct tr_output *output = open_output(place.path);
    put(output, "never seen");
    tr_output_discard(output);
    tr_output_discard(NULL);
    assert_int_equal(files_in(place.folder), 0);
    drop_place(&place);
}

static void writes_empty_and_large_files(void **state)
{
    (void)state;
    struct place place = make_place();
    write_all(place.path, "");
    expect_contents(place.path, "", 0);
    enum { LARGE = 5000000 };
    char *data = tr_alloc(LARGE, 1);
    for (size_t i = 0; i < LARGE; i++) {
        data[i] = (char)(i * i >> 7);
    }
    struct tr_output *output = open_output(place.path);
    assert_int_equal(tr_output_write(output, data, LARGE, NULL), TRELLIS_OK);
    assert_int_equal(tr_output_commit(output, NULL), TRELLIS_OK);
    expect_contents(place.path, data, LARGE);
    free(data);
    drop_place(&place);
}

static void keeps_the_permissions_of_the_old_file(void **state)
{
    (void)state;
    static const mode_t rights[] = {0600, 0640, 0644, 0666, 0755};
    struct place place = make_place();
    for (size_t i = 0; i < TR_COUNT(rights); i++) {
        write_all(place.path, "old");
        assert_int_equal(chmod(place.path, rights[i]), 0);
        write_all(place.path, "new");
        assert_int_equal(rights_of(place.path), rights[i]);
    }
    drop_place(&place);
}

/* A new file gets the default permissions: a umask of 077 keeps a model private. */
static void respects_the_umask(void **state)
{
    (void)state;
    static const mode_t masks[] = {022, 077, 002, 027};
    struct place place = make_place();
    for (size_t i = 0; i < TR_COUNT(masks); i++) {
        mode_t kept = umask(masks[i]);
        write_all(place.path, "x");
        umask(kept);
        assert_int_equal(rights_of(place.path), 0666 & ~masks[i]);
        assert_int_equal(unlink(place.path), 0);
    }
    drop_place(&place);
}

static void two_writers_do_not_interfere(void **state)
{
    (void)state;
    struct place place = make_place();
    struct tr_output *a = open_output(place.path), *b = open_output(place.path);
    put(a, "from a");
    put(b, "from b");
    assert_int_equal(tr_output_commit(b, NULL), TRELLIS_OK);
    expect_contents(place.path, "from b", 6);
    assert_int_equal(tr_output_commit(a, NULL), TRELLIS_OK);
    expect_contents(place.path, "from a", 6);
    assert_int_equal(files_in(place.folder), 1);
    drop_place(&place);
}

static bool has_nameless(const char *folder)
{
    int file = open(folder, O_WRONLY | O_TMPFILE, 0600);
    return file >= 0 && close(file) == 0;
}

/* The old file stays, and where unnamed files are supported there is no other. */
static void leaves_no_files_when_killed(void **state)
{
    (void)state;
    struct place place = make_place();
    write_all(place.path, "old");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        put(open_output(place.path), "half of it");
        raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    expect_contents(place.path, "old", 3);
    assert_int_equal(files_in(place.folder), has_nameless(place.folder) ? 1 : 2);
    write_all(place.path, "new");
    assert_int_equal(files_in(place.folder), 1);
    drop_place(&place);
}

static int create(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    return file;
}

/* A temporary file whose writer is gone is removed; one still being written, or not a regular file,
 * stays. */
static void removes_files_of_killed_writers(void **state)
{
    (void)state;
    struct place place = make_place();
    char first[1000], second[1000], third[1000];
    snprintf(first, sizeof first, "%s.unfinished-0", place.path);
    snprintf(second, sizeof second, "%s.unfinished-1", place.path);
    snprintf(third, sizeof third, "%s.unfinished-2", place.path);
    int alive = create(first);
    assert_int_equal(flock(alive, LOCK_EX), 0);
    assert_int_equal(symlink("/dev/null", second), 0);
    close(create(third));
    write_all(place.path, "new");
    expect_contents(place.path, "new", 3);
    assert_int_equal(access(first, F_OK), 0);
    assert_int_equal(access(second, F_OK), 0);
    assert_int_not_equal(access(third, F_OK), 0);
    close(alive);
    write_all(place.path, "newer");
    expect_contents(place.path, "newer", 5);
    assert_int_not_equal(access(first, F_OK), 0);
    assert_int_equal(files_in(place.folder), 2); // and the link
    drop_place(&place);
}

/* Many processes write to one target and some are killed: every commit of the others succeeds, and
 * the file is always one complete version. */
static void concurrent_writers_all_succeed(void **state)
{
    (void)state;
    enum { WRITERS = 8, TIMES = 50, SIZE = 1000 };
    struct place place = make_place();
    pid_t children[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            char text[SIZE];
            memset(text, 'a' + i, SIZE);
            bool good = true;
            for (int k = 0; k < TIMES; k++) {
                good &= tr_output_replace(place.path, text, SIZE, NULL) == TRELLIS_OK;
            }
            _exit(good ? 0 : 1);
        }
    }
    kill(children[0], SIGKILL);
    for (int i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(i == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
    char *data;
    size_t size;
    assert_int_equal(tr_input_slurp(place.path, SIZE, &data, &size, NULL), TRELLIS_OK);
    assert_int_equal(size, SIZE);
    assert_memory_equal(data, data + 1, SIZE - 1);
    free(data);
    write_all(place.path, "");
    assert_int_equal(files_in(place.folder), 1);
    drop_place(&place);
}

static void expect_refused(const char *path)
{
    struct tr_output *output = (struct tr_output *)(uintptr_t)1;
    trellis_error error = {0};
    assert_int_equal(tr_output_open(path, &output, &error), TRELLIS_IO);
    assert_null(output);
    assert_int_equal(error.status, TRELLIS_IO);
    assert_non_null(strstr(error.message, path));
}

static void refuses_where_it_cannot_write(void **state)
{
    (void)state;
    struct place place = make_place();
    char path[1000];
    snprintf(path, sizeof path, "%s/missing/model", place.folder);
    expect_refused(path);
    write_all(place.path, "a file");
    snprintf(path, sizeof path, "%s/model", place.path); // within a file
    expect_refused(path);
    expect_refused(place.folder); // a folder
    if (geteuid() != 0) {         // nothing stops root
        assert_int_equal(chmod(place.folder, 0555), 0);
        snprintf(path, sizeof path, "%s/other", place.folder);
        expect_refused(path);
        expect_refused(place.path);
        assert_int_equal(chmod(place.folder, 0755), 0);
    }
    expect_contents(place.path, "a file", 6);
    assert_int_equal(files_in(place.folder), 1);
    drop_place(&place);
}

/* The target becomes a folder while it is written: the rename fails, and no file is left. */
static void cleans_up_when_the_commit_fails(void **state)
{
    (void)state;
    struct place place = make_place();
    struct tr_output *output = open_output(place.path);
    put(output, "lost");
    assert_int_equal(mkdir(place.path, 0755), 0);
    trellis_error error = {0};
    assert_int_equal(tr_output_commit(output, &error), TRELLIS_IO);
    assert_non_null(strstr(error.message, place.path));
    assert_int_equal(files_in(place.folder), 1);
    assert_int_equal(files_in(place.path), 0);
    drop_place(&place);
}

/* A pipe is written to; a rename over it (or, for root, over /dev/null) would replace it by a
 * file. */
static void leaves_devices_and_pipes_in_place(void **state)
{
    (void)state;
    struct place place = make_place();
    assert_int_equal(mkfifo(place.path, 0600), 0);
    int reader = open(place.path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    write_all(place.path, "through");
    char got[20];
    assert_int_equal(read(reader, got, sizeof got), 7);
    assert_memory_equal(got, "through", 7);
    close(reader);
    struct stat about;
    assert_int_equal(stat(place.path, &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
    assert_int_equal(files_in(place.folder), 1);

    write_all("/dev/null", "into the void");
    struct tr_output *output = open_output("/dev/null");
    tr_output_discard(output);
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
    drop_place(&place);
}

/* A full disk is detected by the commit at the latest. */
static void detects_a_full_disk(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        skip();
    }
    struct tr_output *output = open_output("/dev/full");
    trellis_error error = {0};
    assert_int_equal(tr_output_write(output, "x", 1, &error), TRELLIS_IO);
    assert_non_null(strstr(error.message, "/dev/full"));
    tr_output_discard(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appears_when_committed),
        cmocka_unit_test(replaces_only_when_committed),
        cmocka_unit_test(discards),
        cmocka_unit_test(writes_empty_and_large_files),
        cmocka_unit_test(keeps_the_permissions_of_the_old_file),
        cmocka_unit_test(respects_the_umask),
        cmocka_unit_test(two_writers_do_not_interfere),
        cmocka_unit_test(leaves_no_files_when_killed),
        cmocka_unit_test(removes_files_of_killed_writers),
        cmocka_unit_test(concurrent_writers_all_succeed),
        cmocka_unit_test(refuses_where_it_cannot_write),
        cmocka_unit_test(cleans_up_when_the_commit_fails),
        cmocka_unit_test(leaves_devices_and_pipes_in_place),
        cmocka_unit_test(detects_a_full_disk),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    without_nameless = true;
    return failures + cmocka_run_group_tests(tests, NULL, NULL);
}
