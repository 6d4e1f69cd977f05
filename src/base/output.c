/* output.c - a file that appears whole or not at all. */
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
    char *temporary; // NULL where the target is a device or a pipe, which is written to as it is
    bool nameless;   // the file gets its temporary name when it is committed
    int file;
};

static void drop_temporary(const struct tr_output *output)
{
    if (output->temporary && !output->nameless) {
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

/* The path of the folder that a path is in; NULL on allocation failure. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? tr_copy_text(path, (size_t)(slash - path) + 1) : tr_copy_text(".", 1);
}

/* The path of an open file under /proc, by which linkat() gives it a name. */
struct descriptor_path {
    char text[40];
};

static struct descriptor_path descriptor_path(int file)
{
    struct descriptor_path path;
    snprintf(path.text, sizeof path.text, "/proc/self/fd/%d", file);
    return path;
}

/* Opens a file without a name, of which nothing is left when the process is killed; -1 where the file system
 * has no such files, or the system no way to give them a name later. */
static int open_nameless(const char *path)
{
    int file = -1;
#ifdef O_TMPFILE
    char *folder = folder_of(path);
    file = folder ? open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666) : -1;
    free(folder);
    if (file >= 0 && access(descriptor_path(file).text, F_OK) != 0) {
        close(file);
        file = -1;
    }
    if (file >= 0) { // where there are no locks, nobody removes what is left over
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

/* Removes what a process that was killed has left under a temporary name. Whoever still writes holds the lock, from
 * before the file has the name until it has lost it; with the lock in hand nobody else can take the name away. */
static bool remove_unfinished(const char *path)
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

/* Opens a new file and locks it. Between the two somebody may take it for one that is left over, and remove it. */
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

/* Takes the first name beside the target that is free, so whoever else writes to the same target gets another:
 * for a new file, whose number it returns, or for `nameless`. -1 where that cannot be. */
static int take_name(struct tr_output *output, int nameless)
{
    size_t size = strlen(output->path) + 40;
    int file = -1;
    for (unsigned i = 0; i < 10000; i++) {
        snprintf(output->temporary, size, "%s.unfinished-%u", output->path, i);
        do {
            if (nameless < 0) {
                file = open_locked(output->temporary);
            } else if (linkat(AT_FDCWD, descriptor_path(nameless).text, AT_FDCWD, output->temporary,
                              AT_SYMLINK_FOLLOW) == 0) {
                file = nameless;
            }
            if (file >= 0 || errno != EEXIST) {
                return file;
            }
        } while (remove_unfinished(output->temporary));
    }
    errno = EEXIST;
    return -1;
}

/* Opens a new file, as a plain open would: the rights are up to the umask, which mkostemp() passes over. */
static int open_temporary(struct tr_output *output)
{
    output->temporary = tr_alloc(strlen(output->path) + 40, 1);
    if (!output->temporary) {
        errno = ENOMEM;
        return -1;
    }
    int file = open_nameless(output->path);
    output->nameless = file >= 0;
    return output->nameless ? file : take_name(output, -1);
}

trellis_status tr_output_open(const char *path, struct tr_output **ret_output, trellis_error *error)
{
    *ret_output = NULL;
    struct tr_output *output = tr_alloc(1, sizeof *output);
    char *copy = tr_copy_text(path, strlen(path));
    if (!output || !copy) {
        free(output);
        free(copy);
        return tr_fail_memory(error);
    }
    output->path = copy;
    struct stat old;
    bool exists = stat(path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode)) {
        output->file = open(path, O_WRONLY | O_CLOEXEC); // no rename over /dev/null
    } else {
        output->file = open_temporary(output);
    }
    if (output->file < 0) {
        trellis_status status = tr_fail_system(error, "write", path);
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

/* Makes the rename itself durable; a file system that cannot sync a directory is no error. */
static void sync_directory(const char *path)
{
    char *folder = folder_of(path);
    if (folder) {
        int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (file >= 0) {
            (void)!fsync(file);
            close(file);
        }
    }
    free(folder);
}

trellis_status tr_output_commit(struct tr_output *output, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (fsync(output->file) != 0 && errno != EINVAL && errno != EROFS) {
        status = tr_fail_system(error, "write", output->path);
    }
    if (!status && output->nameless) {
        output->nameless = take_name(output, output->file) < 0;
        status = output->nameless ? tr_fail_system(error, "write", output->path) : TRELLIS_OK;
    }
    if (!status && output->temporary && rename(output->temporary, output->path) != 0) {
        status = tr_fail_system(error, "write", output->path);
    }
    if (status) {
        drop_temporary(output);
    } else if (output->temporary) {
        sync_directory(output->path);
    }
    bool synced = output->temporary; // then closing it tells nothing new
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
