/* files.h - files in memory that have a path, for fuzzers. */
#ifndef TRELLIS_TESTS_FUZZ_FILES_H
#define TRELLIS_TESTS_FUZZ_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct memory_file {
    int number;
    char path[40];
};

static inline struct memory_file memory_file(const void *data, size_t size)
{
    struct memory_file file = {.number = memfd_create("fuzz", MFD_CLOEXEC)};
    if (file.number < 0 || (size && (size_t)write(file.number, data, size) != size)) {
        abort();
    }
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.number);
    return file;
}

#endif
