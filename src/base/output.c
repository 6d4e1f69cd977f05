/* output.c - writes a file atomically. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

struct tr_output {
    char *path;
    char *temporary; // NULL if the target is a device or a pipe, which is written to directly
    bool unnamed;    // the file gets its temporary name when it is committed
    int file;
};

static void drop_temporary(const struct tr_output *output)
{
    if (output->temporary && !output->unnamed) {
        unlink(output->temporary);
    }
}

static void output_free(struct tr_output *output)
{
    if (output->file >= 0) {
        close(output->file);
    }
    free(output->path);
    free(output->temporary);
    free(output);
}

/* The directory of a path; NULL on allocation failure. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? tr_copy_text(path, (size_t)(slash - path) + 1) : tr_copy_text(".", 1);
}

/* The path of an open file under /proc, which linkat() needs to give it a name. */
struct descriptor_path {
    char text[40];
};

static struct descriptor_path descriptor_path(int file)
{
    struct descriptor_path path;
    snprintf(path.text, sizeof path.text, "/proc/self/fd/%d", file);
    return path;
}

/* Opens an unnamed file, of which nothing is left if the process is killed; -1 if the file system
 * does not support them, or there is no /proc to name it through later. */
static int open_unnamed(const char *path)
{
    int file = -1;
#ifdef O_TMPFILE
    char *directory = directory_of(path);
    file = directory ? open(directory, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666) : -1;
    free(directory);
    if (file >= 0 && access(descriptor_path(file).text, F_OK) != 0) {
        close(file);
        file = -1;
    }
    if (file >= 0) { // without locks, stale files are not removed either
        (void)!flock(file, LOCK_EX | LOCK_NB);
    }
#else
    (void)path;
#endif
    return file;
}

static bool is_file_at(const char *path, int file)
{
    struct stat named, open;
    return lstat(path, &named) == 0 && fstat(file, &open) == 0 && named.st_dev == open.st_dev &&
           named.st_ino == open.st_ino;
}

/* Removes a temporary file that a killed process left behind. A process that is still writing holds
 * the lock for as long as the file has that name; with the lock held, nobody else can remove the
 * name. */
static bool remove_stale(const char *path)
{
    int file = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    bool removed = flock(file, LOCK_EX | LOCK_NB) == 0 && is_file_at(path, file) &&
                   unlink(path) == 0;
    close(file);
    return removed;
}

/* Opens a new file and locks it. In between, another process may take it for a stale one and remove
 * it. */
static int open_locked(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) {
        return -1;
    }
    while (flock(file, LOCK_EX) != 0 && errno == EINTR) {}
    if (!is_file_at(path, file)) {
        close(file);
        errno = EEXIST;
        return -1;
    }
    return file;
}

/* Takes the first free temporary name beside the target, so that concurrent writers get different
 * ones: for a new file, whose descriptor it returns, or for `unnamed`. -1 on failure. */
static int take_name(struct tr_output *output, int unnamed)
{
    size_t size = strlen(output->path) + 40;
    int file = -1;
    for (unsigned i = 0; i < 10000; i++) {
        snprintf(output->temporary, size, "%s.unfinished-%u", output->path, i);
        do {
            if (unnamed < 0) {
                file = open_locked(output->temporary);
            } else if (linkat(AT_FDCWD, descriptor_path(unnamed).text, AT_FDCWD, output->temporary,
                              AT_SYMLINK_FOLLOW) == 0) {
                file = unnamed;
            }
            if (file >= 0 || errno != EEXIST) {
                return file;
            }
        } while (remove_stale(output->temporary));
    }
    errno = EEXIST;
    return -1;
}

/* Opens a new file with the permissions of a plain open(), by the umask, which mkostemp()
 * ignores. */
static int open_temporary(struct tr_output *output)
{
    output->temporary = tr_alloc(strlen(output->path) + 40, 1);
    if (!output->temporary) {
        errno = ENOMEM;
        return -1;
    }
    int file = open_unnamed(output->path);
    output->unnamed = file >= 0;
    return output->unnamed ? file : take_name(output, -1);
}

/* The path with symbolic links resolved, so that the target of a link is replaced, not the link. */
static trellis_status resolve_links(const char *path, char **ret_path, trellis_error *error)
{
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode)) {
        *ret_path = realpath(path, NULL);
        return *ret_path ? TRELLIS_OK : tr_fail_system(error, "write", path);
    }
    *ret_path = tr_copy_text(path, strlen(path));
    return *ret_path ? TRELLIS_OK : tr_fail_memory(error);
}

trellis_status tr_output_open(const char *path, struct tr_output **ret_output, trellis_error *error)
{
    *ret_output = NULL;
    char *copy;
    trellis_status status = resolve_links(path, &copy, error);
    if (status) {
        return status;
    }
    struct tr_output *output = tr_alloc(1, sizeof *output);
    if (!output) {
        free(copy);
        return tr_fail_memory(error);
    }
    output->path = copy;
    struct stat old;
    bool exists = stat(path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode)) {
        output->file = open(path, O_WRONLY | O_CLOEXEC); // never rename over /dev/null
    } else {
        output->file = open_temporary(output);
    }
    if (output->file < 0) {
        status = tr_fail_system(error, "write", path);
        output_free(output);
        return status;
    }
    if (exists && output->temporary) {
        (void)!fchmod(output->file, old.st_mode & 0777);
    }
    *ret_output = output;
    return TRELLIS_OK;
}

trellis_status tr_output_write(struct tr_output *output, const void *data, size_t size,
                               trellis_error *error)
{
    const char *at = data;
    while (size) {
        ssize_t n = write(output->file, at, size < (1u << 30) ? size : (1u << 30));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return tr_fail_system(error, "write", output->path);
        }
        at += n;
        size -= (size_t)n;
    }
    return TRELLIS_OK;
}

/* Makes the rename itself durable; it is no error if the file system cannot sync a directory. */
static void sync_directory(const char *path)
{
    char *directory = directory_of(path);
    if (directory) {
        int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (file >= 0) {
            (void)!fsync(file);
            close(file);
        }
    }
    free(directory);
}

trellis_status tr_output_commit(struct tr_output *output, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (fsync(output->file) != 0 && errno != EINVAL && errno != EROFS) {
        status = tr_fail_system(error, "write", output->path);
    }
    if (!status && output->unnamed) {
        output->unnamed = take_name(output, output->file) < 0;
        status = output->unnamed ? tr_fail_system(error, "write", output->path) : TRELLIS_OK;
    }
    if (!status && output->temporary && rename(output->temporary, output->path) != 0) {
        status = tr_fail_system(error, "write", output->path);
    }
    if (status) {
        drop_temporary(output);
    } else if (output->temporary) {
        sync_directory(output->path);
    }
    bool synced = output->temporary; // then close() cannot report anything new
    if (close(output->file) != 0 && !status && !synced) {
        status = tr_fail_system(error, "write", output->path);
    }
    output->file = -1;
    output_free(output);
    return status;
}

trellis_status tr_output_replace(const char *path, const void *data, size_t size,
                                 trellis_error *error)
{
    struct tr_output *output;
    trellis_status status = tr_output_open(path, &output, error);
    if (status) {
        return status;
    }
    status = tr_output_write(output, data, size, error);
    if (status) {
        tr_output_discard(output);
        return status;
    }
    return tr_output_commit(output, error);
}

void tr_output_discard(struct tr_output *output)
{
    if (output) {
        drop_temporary(output);
        output_free(output);
    }
}
