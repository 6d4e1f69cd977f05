/* output_file.h - the output: standard output, or a file that is written atomically. */
#ifndef TRELLIS_CLI_OUTPUT_FILE_H
#define TRELLIS_CLI_OUTPUT_FILE_H

#include <stdio.h>

#include "command.h"

struct output {
    FILE *file;
    const char *path; // NULL: standard output
    char *target;     // the path with symbolic links resolved, or NULL
    char *temporary;  // its name until it is complete, or NULL
    char *buffer;     // of the file, or NULL
    int problem;      // errno of the first write that failed, or 0
    bool terminal;    // control characters are escaped
};

/* "-" and NULL are standard output. Prints an error and returns EXIT_FAILURE if it cannot be
 * opened; do not call output_end() then. */
int output_open(struct output *output, const char *path);

/* A trellis_sink; `user` is the struct output. */
trellis_status output_sink(void *user, const char *data, size_t size);

/* Flushes the buffer; output_end() reports a failure. */
void output_flush(struct output *output);

/* Completes the output if `status` is TRELLIS_OK; otherwise removes it and prints the error.
 * Returns the exit status. A closed pipe gets no message. */
int output_end(struct output *output, trellis_status status, const trellis_error *error);

#endif
