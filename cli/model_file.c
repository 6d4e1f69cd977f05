/* model_file.c - models named on the command line, where '-' is standard input or output. */
#include "model_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* All bytes of standard input, to be freed; NULL on failure, with errno. */
static char *read_standard_input(size_t *ret_size)
{
    size_t capacity = 1 << 16, size = 0;
    char *bytes = malloc(capacity);
    if (!bytes) {
        return NULL;
    }
    for (size_t got = 1; got > 0; size += got) {
        if (size == capacity) {
            char *wider = capacity <= SIZE_MAX / 2 ? realloc(bytes, 2 * capacity) : NULL;
            if (!wider) {
                break;
            }
            bytes = wider;
            capacity *= 2;
        }
        got = fread(bytes + size, 1, capacity - size, stdin);
    }
    if (!feof(stdin)) {
        errno = ferror(stdin) && errno ? errno : ENOMEM;
        free(bytes);
        return NULL;
    }
    *ret_size = size;
    return bytes;
}

static bool reads_standard_input(const struct arguments *arguments)
{
    size_t count;
    const char *const *paths = argument_inputs(arguments, &count);
    bool reads = false;
    for (size_t i = 0; i < count; i++) {
        reads |= is_standard(paths[i]);
    }
    return reads;
}

trellis_status open_model(const char *path, const struct arguments *arguments,
                          trellis_model **ret_model, trellis_error *error)
{
    if (!is_standard(path)) {
        return trellis_model_open(path, ret_model, error);
    }
    *ret_model = NULL;
    if (arguments && reads_standard_input(arguments)) {
        return set_error(error, TRELLIS_OPTION,
                         "standard input cannot be both the model and the corpus; name a file for "
                         "one of them");
    }
    size_t size;
    char *bytes = read_standard_input(&size);
    if (!bytes) {
        return set_error(error, TRELLIS_IO, "cannot read standard input: %s", strerror(errno));
    }
    trellis_status status = trellis_model_open_bytes(bytes, size, TRELLIS_COPY, ret_model, error);
    free(bytes);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int cannot_write(const char *path, const char *reason)
{
    message("cannot write the model to %s: %s", path, reason);
    return EXIT_FAILURE;
}

/* The directory of a file must be writable, since the file is replaced. */
static int check_directory(const char *path, const char *target)
{
    char directory[4096] = ".";
    const char *slash = strrchr(target, '/');
    if (slash) {
        size_t size = slash == target ? 1 : (size_t)(slash - target);
        if (size >= sizeof directory) {
            return cannot_write(path, strerror(ENAMETOOLONG));
        }
        memcpy(directory, target, size);
        directory[size] = '\0';
    }
    struct stat status;
    bool is_file = stat(directory, &status) == 0 && !S_ISDIR(status.st_mode);
    if (is_file || access(directory, W_OK | X_OK) != 0) {
        message("cannot write the model to %s: %s: %s", path, directory,
                strerror(is_file ? ENOTDIR : errno));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

int check_model_target(const struct command *command, const char *path)
{
    struct stat status, link;
    if (is_standard(path)) {
        return isatty(STDOUT_FILENO)
                   ? usage_error(command, "a model is binary and cannot be written to a terminal; "
                                          "redirect standard output, or name a file")
                   : EXIT_SUCCESS;
    }
    bool exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
        return cannot_write(path, "it is a directory");
    }
    if (exists && !S_ISREG(status.st_mode)) { // a device or a pipe is written to directly
        return EXIT_SUCCESS;
    }
    if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode)) {
        return check_directory(path, path);
    }
    char *target = realpath(path, NULL);
    int result = target ? check_directory(path, target)
                        : cannot_write(path, "it is a dangling symbolic link");
    free(target);
    return result;
}

static trellis_status to_standard_output(void *user, const char *data, size_t size)
{
    (void)user;
    return fwrite(data, 1, size, stdout) == size ? TRELLIS_OK : TRELLIS_IO;
}

trellis_status save_model(const trellis_model *model, const char *path, trellis_error *error)
{
    if (!is_standard(path)) {
        return trellis_model_save(model, path, error);
    }
    trellis_status status = trellis_model_write(model, to_standard_output, NULL, error);
    if ((status == TRELLIS_OK || status == TRELLIS_IO) && (status || fflush(stdout) != 0)) {
        status = set_error(error, TRELLIS_IO, "cannot write standard output: %s", strerror(errno));
    }
    return status;
}
