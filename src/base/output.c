/* output.c - a file that appears whole or not at all. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

struct tr_output {
    char *path;
    char *temporary; // NULL where the target is a device or a pipe, which is written to as it is
    int file;
};

static void drop_temporary(const struct tr_output *output)
{
    if (output->temporary) {
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

/* Opens a new file beside the target, as a plain open would: the rights are up to the umask, which
 * mkostemp() passes over. Whoever else writes to the same target gets another name. */
static int open_temporary(struct tr_output *output)
{
    size_t size = strlen(output->path) + 40;
    output->temporary = tr_alloc(size, 1);
    if (!output->temporary) {
        errno = ENOMEM;
        return -1;
    }
    int file = -1;
    for (unsigned i = 0; i < 10000; i++) {
        snprintf(output->temporary, size, "%s.%ld-%u", output->path, (long)getpid(), i);
        file = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST) {
            break;
        }
    }
    return file;
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
    const char *slash = strrchr(path, '/');
    char *folder = slash ? tr_copy_text(path, (size_t)(slash - path) + 1) : tr_copy_text(".", 1);
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
    if (close(output->file) != 0 && !status) {
        status = tr_fail_system(error, "write", output->path);
    }
    output->file = -1;
    if (!status && output->temporary && rename(output->temporary, output->path) != 0) {
        status = tr_fail_system(error, "write", output->path);
    }
    if (status) {
        drop_temporary(output);
    } else if (output->temporary) {
        sync_directory(output->path);
    }
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
