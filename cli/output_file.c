/* output_file.c - the output: standard output, or a file that is written atomically.
 *
 * A file is written under a temporary name in the same directory and renamed on success. A signal
 * that ends the process removes the temporary file. A symbolic link stays one: its target is
 * replaced.
 */
#include "output_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

enum { FILE_BUFFER = 1 << 18 };

static const char *volatile temporary_to_remove; // read by a signal handler

static void remove_and_reraise(int signal_number)
{
    const char *path = temporary_to_remove;
    if (path) {
        unlink(path);
    }
    raise(signal_number); // the handler was reset when it was entered
}

static void remove_on_signal(const char *temporary)
{
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    action.sa_handler = temporary ? remove_and_reraise : SIG_DFL;
    sigemptyset(&action.sa_mask);
    temporary_to_remove = temporary;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &action, NULL);
    }
}

/* The permissions of the file that is replaced, or those of a new file. */
static mode_t output_mode(const char *path)
{
    struct stat old;
    if (stat(path, &old) == 0) {
        return old.st_mode & 0777;
    }
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* A device or a pipe is written to directly: a rename would replace it. */
static bool is_special(const char *path)
{
    struct stat old;
    return stat(path, &old) == 0 && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode);
}

/* The path with symbolic links resolved; NULL if they lead nowhere. */
static char *resolve_links(const char *path)
{
    struct stat status;
    bool is_link = lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
    return is_link ? realpath(path, NULL) : strdup(path);
}

static FILE *open_temporary(struct output *output)
{
    struct stat old;
    if (stat(output->path, &old) == 0 && S_ISDIR(old.st_mode)) {
        errno = EISDIR;
        return NULL;
    }
    output->target = resolve_links(output->path);
    size_t size = output->target ? strlen(output->target) + sizeof ".XXXXXX" : 0;
    output->temporary = output->target ? malloc(size) : NULL;
    if (!output->temporary) {
        return NULL;
    }
    snprintf(output->temporary, size, "%s.XXXXXX", output->target);
    int descriptor = mkstemp(output->temporary);
    if (descriptor < 0) {
        return NULL;
    }
    remove_on_signal(output->temporary);
    (void)!fchmod(descriptor, output_mode(output->path));
    return fdopen(descriptor, "w");
}

static void free_memory(struct output *output)
{
    free(output->temporary);
    free(output->target);
    free(output->buffer);
    output->temporary = output->target = output->buffer = NULL;
}

/* Large writes to a file are faster: 256 KiB at once take half the time of 4 KiB. A pipe gets what
 * there is earlier. */
static void enlarge_buffer(struct output *output)
{
    static char of_standard_output[FILE_BUFFER];
    struct stat about;
    if (fstat(fileno(output->file), &about) != 0 || !S_ISREG(about.st_mode)) {
        return;
    }
    output->buffer = output->path ? malloc(FILE_BUFFER) : NULL;
    char *buffer = output->path ? output->buffer : of_standard_output;
    if (buffer) {
        setvbuf(output->file, buffer, _IOFBF, FILE_BUFFER);
    }
}

int output_open(struct output *output, const char *path)
{
    *output = (struct output){.path = path && strcmp(path, "-") != 0 ? path : NULL};
    if (!output->path) {
        output->file = stdout;
    } else if (is_special(output->path)) {
        output->file = fopen(output->path, "w");
    } else {
        output->file = open_temporary(output);
    }
    if (output->file) {
        output->terminal = isatty(fileno(output->file));
        enlarge_buffer(output);
        return EXIT_SUCCESS;
    }
    message("cannot write %s: %s", path, strerror(errno));
    free_memory(output);
    return EXIT_FAILURE;
}

trellis_status output_sink(void *user, const char *data, size_t size)
{
    struct output *output = user;
    if (output->problem || size == 0) {
        return output->problem ? TRELLIS_IO : TRELLIS_OK;
    }
    bool ok = output->terminal ? print_visibly(data, size, "\n\t", output->file)
                               : fwrite(data, 1, size, output->file) == size;
    if (!ok) {
        output->problem = errno ? errno : EIO;
    }
    return output->problem ? TRELLIS_IO : TRELLIS_OK;
}

void output_flush(struct output *output)
{
    if (!output->problem && fflush(output->file) != 0) {
        output->problem = errno;
    }
}

/* Closes the file, and renames or removes it. */
static void close_output(struct output *output, bool keep)
{
    if (output->temporary && keep && !output->problem && fsync(fileno(output->file)) != 0) {
        output->problem = errno;
    }
    if (output->path && fclose(output->file) != 0 && !output->problem) {
        output->problem = errno;
    }
    if (output->temporary) {
        if (!keep || output->problem) {
            unlink(output->temporary);
        } else if (rename(output->temporary, output->target) != 0) {
            output->problem = errno;
            unlink(output->temporary);
        }
        remove_on_signal(NULL);
    }
    free_memory(output);
}

int output_end(struct output *output, trellis_status status, const trellis_error *error)
{
    bool work_failed = status != TRELLIS_OK && !output->problem;
    output_flush(output);
    close_output(output, status == TRELLIS_OK);
    if (work_failed) {
        return failure(status, error);
    }
    if (output->problem == 0) {
        return EXIT_SUCCESS;
    }
    if (output->problem != EPIPE) {
        message("cannot write %s: %s", output->path ? output->path : "standard output",
                strerror(output->problem));
    }
    return EXIT_FAILURE;
}
