/* file_arguments.c - checks the files that the arguments name, before any of them is opened.
 *
 * Two names are the same file if they have the same device and inode, so links are seen through.
 * Devices and pipes are no concern: nothing in them is lost.
 */
#include "file_arguments.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

/* A file that an argument names. */
struct named_file {
    const char *path;
    char option[40]; // "-m", "--log"; "" if it is not the value of an option
    bool exists;     // as a regular file
    dev_t device;
    ino_t inode;
};

struct named_files {
    struct named_file *inputs, *outputs; // [count] with room for every argument
    size_t input_count, output_count;
};

/* `standard` is what '-' stands for. */
static void describe(struct named_file *file, const char *path, int standard)
{
    struct stat status;
    bool dash = strcmp(path, "-") == 0;
    bool found = (dash ? fstat(standard, &status) : stat(path, &status)) == 0;
    file->path = path;
    file->exists = found && S_ISREG(status.st_mode);
    if (file->exists) {
        file->device = status.st_dev;
        file->inode = status.st_ino;
    }
}

static bool is_same(const struct named_file *a, const struct named_file *b)
{
    return a->exists && b->exists && a->device == b->device && a->inode == b->inode;
}

/* An option is shown by its letter, if it has one. */
static void add_file(struct named_files *files, const char *path, const char *option, char letter,
                     bool written)
{
    struct named_file *file = written ? &files->outputs[files->output_count++]
                                      : &files->inputs[files->input_count++];
    if (letter) {
        snprintf(file->option, sizeof file->option, "-%c", letter);
    } else if (option) {
        snprintf(file->option, sizeof file->option, "--%s", option);
    }
    describe(file, path, written ? STDOUT_FILENO : STDIN_FILENO);
}

/* Whether the value of an option is the name of a file, not one of the words that it also takes:
 * --features pos, --dictionary learn, --constrain iob. */
static bool is_file(const char *placeholder, const char *value)
{
    bool file = placeholder && (strstr(placeholder, "FILE") || strstr(placeholder, "MODEL") ||
                                strstr(placeholder, "HMM"));
    const char *bar = file ? strchr(placeholder, '|') : NULL;
    size_t size = strlen(value);
    bool word = bar &&
                (trellis_preset_text(value) || strcmp(value, "auto") == 0 ||
                 strcmp(value, "none") == 0 ||
                 (size == (size_t)(bar - placeholder) && strncmp(value, placeholder, size) == 0));
    return file && size && !word;
}

/* Options of the library that are written to. */
static bool is_written(const char *option)
{
    return strcmp(option, "checkpoint") == 0 || strcmp(option, "log") == 0;
}

static void list_files(const struct arguments *arguments, struct named_files *files)
{
    for (size_t i = 0; i < arguments->path_count; i++) {
        add_file(files, arguments->paths[i], NULL, 0, false);
    }
    for (size_t i = 0; i < arguments->given_count; i++) {
        const struct own_option *own = arguments->given_own[i];
        if (is_file(own->placeholder, arguments->given_values[i])) {
            bool written = strcmp(own->name, "output") == 0 ||
                           is_listed(arguments->command->writes, own->name);
            add_file(files, arguments->given_values[i], own->name, own->letter, written);
        }
    }
    for (size_t i = 0; i < trellis_option_count(); i++) {
        const trellis_option *option = trellis_option_at(i);
        const char *value = trellis_options_get(arguments->options, option->name);
        if (trellis_options_given(arguments->options, option->name) &&
            is_file(option->placeholder, value)) {
            add_file(files, value, option->name, option->letter, is_written(option->name));
        }
    }
    /* Commands that read standard input without being told to, and where output goes unless told
     * otherwise. */
    if (arguments->path_count == 0) {
        add_file(files, "-", NULL, 0, false);
    }
    add_file(files, "-", NULL, 0, true);
}

/* '-' where the library opens a file by itself, other than a corpus. */
static int check_dashes(const struct arguments *arguments)
{
    static const char *const files[] = {"from", "checkpoint", "log", "dictionary", "cost"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *value = trellis_options_get(arguments->options, files[i]);
        if (value && strcmp(value, "-") == 0) {
            return usage_error(arguments->command, "--%s must be a file; '-' is not supported here",
                               files[i]);
        }
    }
    return EXIT_SUCCESS;
}

static int check_output(const struct arguments *arguments, const struct named_files *files,
                        size_t index)
{
    const struct named_file *output = &files->outputs[index];
    for (size_t i = 0; i < files->input_count; i++) {
        const struct named_file *input = &files->inputs[i];
        if (is_same(output, input)) {
            return usage_error(arguments->command,
                               "refusing to overwrite '%s', which is also an input; write to "
                               "another file",
                               strcmp(input->path, "-") == 0 ? output->path : input->path);
        }
    }
    for (size_t i = 0; output->option[0] && i < index; i++) {
        const struct named_file *other = &files->outputs[i];
        if (is_same(output, other) || strcmp(output->path, other->path) == 0) {
            return usage_error(arguments->command, "%s and %s would both write to '%s'",
                               other->option, output->option, output->path);
        }
    }
    return EXIT_SUCCESS;
}

int check_files_named(const struct arguments *arguments)
{
    size_t room = arguments->path_count + arguments->given_count + trellis_option_count() + 2;
    struct named_files files = {
        .inputs = calloc(room, sizeof *files.inputs),
        .outputs = calloc(room, sizeof *files.outputs),
    };
    int result = check_dashes(arguments);
    if (!files.inputs || !files.outputs) {
        result = failure(TRELLIS_MEMORY, NULL);
    }
    if (result == EXIT_SUCCESS) {
        list_files(arguments, &files);
    }
    for (size_t i = 0; result == EXIT_SUCCESS && i < files.output_count; i++) {
        result = check_output(arguments, &files, i);
    }
    free(files.inputs);
    free(files.outputs);
    return result;
}
