/* output_file.h - where results go: standard output, or a file that appears whole or not at all. */
#ifndef TRELLIS_CLI_OUTPUT_FILE_H
#define TRELLIS_CLI_OUTPUT_FILE_H

#include <stdio.h>

#include "command.h"

struct output {
    FILE *file;
    const char *path; // NULL: standard output
    char *temporary;  // the name it has until it is complete, or NULL
    int problem;      // errno of the first write that failed, or 0
};

/* "-" and NULL are standard output. Says what is wrong and returns EXIT_FAILURE where it cannot be
 * opened; output_end() is not due then. */
int output_open(struct output *output, const char *path);

/* A trellis_sink; `user` is the struct output. */
trellis_status output_sink(void *user, const char *data, size_t size);

/* Hands on what is in the buffer; a failure is told by output_end(). */
void output_flush(struct output *output);

/* Ends the output with the status that the work ended with: completes it, or removes it and says
 * why. Returns the exit status. A reader that has gone away is no news and gets no message. */
int output_end(struct output *output, trellis_status status, const trellis_error *error);

#endif
