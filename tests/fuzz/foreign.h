/* foreign.h - models of other tools for fuzzers: bytes as they are, behind a sound beginning, and as
 * changes to a valid file. What opens is used in every way. */
#ifndef TRELLIS_TESTS_FUZZ_FOREIGN_H
#define TRELLIS_TESTS_FUZZ_FOREIGN_H

#include "model/test_hostile.h"

/* Whether the bytes begin as a file of the tool does; each fuzzer has its own. */
static bool is_of_the_tool(const void *bytes, size_t size);

static inline void try_bytes(const void *bytes, size_t size)
{
    trellis_model *model;
    if (is_of_the_tool(bytes, size) &&
        !trellis_model_open_bytes(bytes, size, TRELLIS_COPY, &model, NULL)) {
        exercise(model);
        trellis_model_close(model);
    }
}

static inline void try_behind(const char *begin, size_t length, const uint8_t *data, size_t size)
{
    char *bytes = malloc(length + size);
    memcpy(bytes, begin, length);
    memcpy(bytes + length, data, size);
    try_bytes(bytes, length + size);
    free(bytes);
}

/* Each three bytes are a change to the valid file: where (2), what. */
static inline void try_changes(const char *valid, size_t length, const uint8_t *data, size_t size)
{
    char *bytes = malloc(length);
    memcpy(bytes, valid, length);
    for (size_t i = 0; i + 3 <= size; i += 3) {
        bytes[((size_t)data[i] | (size_t)data[i + 1] << 8) % length] = (char)data[i + 2];
    }
    try_bytes(bytes, length);
    free(bytes);
}

#endif
