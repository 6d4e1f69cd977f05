/* output.c - a file that appears whole or not at all. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

struct tr_output {
    char *path, *temporary;
    int file;
};

static void output_free(struct tr_output *output)
{
    if (output->file >= 0) {
        close(output->file);
    }
    free(output->path);
    free(output->temporary);
    free(output);
}

trellis_status tr_output_open(const char *path, struct tr_output **ret_output, trellis_error *error)
{
    *ret_output = NULL;
    struct tr_output *output = tr_alloc(1, sizeof *output);
    if (!output) {
        return tr_fail_memory(error);
    }
    output->file = -1;
    struct tr_buffer name = {0};
    tr_buffer_string(&name, path);
    tr_buffer_add(&name, ".XXXXXX", 8);
    output->path = tr_copy_text(path, strlen(path));
    if (name.failed || !output->path) {
        tr_buffer_free(&name);
        output_free(output);
        return tr_fail_memory(error);
    }
    output->temporary = name.data;
    output->file = mkostemp(output->temporary, O_CLOEXEC);
    if (output->file < 0) {
        trellis_status status = tr_fail_system(error, "write", path);
        output_free(output);
        return status;
    }
    /* mkostemp makes a private file; give it the rights that a plain open would have given. */
    struct stat old;
    if (stat(path, &old) == 0) {
        (void)!fchmod(output->file, old.st_mode & 0777);
    } else {
        (void)!fchmod(output->file, 0644);
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
    if (!status && rename(output->temporary, output->path) != 0) {
        status = tr_fail_system(error, "write", output->path);
    }
    if (status) {
        unlink(output->temporary);
    } else {
        sync_directory(output->path);
    }
    output_free(output);
    return status;
}

void tr_output_discard(struct tr_output *output)
{
    if (output) {
        unlink(output->temporary);
        output_free(output);
    }
}
