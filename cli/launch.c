/* launch.c - `trellis serve` in the command itself: runs the program trellis-serve.
 *
 * The HTTP library brings a dozen libraries with it, TLS among them, whose loading would cost every
 * other subcommand some milliseconds. So the service is a program of its own, beside this one: the
 * same command with the HTTP library linked in.
 */
#include "launch.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "message.h"

/* The path of trellis-serve, in the folder of this program; false if it is not known. */
static bool find_program(char *path, size_t room)
{
    static const char name[] = "trellis-serve";
    ssize_t size = readlink("/proc/self/exe", path, room - sizeof name);
    if (size <= 0) {
        return false;
    }
    path[size] = '\0';
    char *slash = strrchr(path, '/');
    memcpy(slash ? slash + 1 : path, name, sizeof name);
    return true;
}

int launch_service(const struct arguments *arguments)
{
    char path[PATH_MAX] = "";
    char **words = calloc((size_t)arguments->word_count + 3, sizeof *words);
    char command[] = "serve";
    if (!words || !find_program(path, sizeof path)) {
        free(words);
        message("cannot find the program trellis-serve");
        return EXIT_FAILURE;
    }
    words[0] = path;
    words[1] = command;
    if (arguments->word_count > 0) {
        memcpy(words + 2, arguments->words, (size_t)arguments->word_count * sizeof *words);
    }
    execv(path, words);
    message("%s: %s", path, strerror(errno));
    free(words);
    return EXIT_FAILURE;
}
