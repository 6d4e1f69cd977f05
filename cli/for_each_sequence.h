/* for_each_sequence.h - calls a function for each sequence of some files. */
#ifndef TRELLIS_CLI_FOR_EACH_SEQUENCE_H
#define TRELLIS_CLI_FOR_EACH_SEQUENCE_H

#include "arguments.h"

/* Where a sequence comes from. */
struct source {
    const char *path;
    const trellis_reader *reader;
};

/* Any status other than TRELLIS_OK stops the loop and is returned, TRELLIS_END as TRELLIS_OK. */
typedef trellis_status (*sequence_visitor)(void *user, const struct source *source,
                                           const trellis_sequence *sequence, trellis_error *error);

trellis_status for_each_in_file(const char *path, const trellis_options *options,
                                sequence_visitor visit, void *user, trellis_error *error);

/* For the files among the arguments, or standard input. */
trellis_status for_each_sequence(const struct arguments *arguments, sequence_visitor visit,
                                 void *user, trellis_error *error);

/* Resolves --format auto by the name of the first file. To be called before a writer is created,
 * which does not see the name but needs the format for --output-format same. */
trellis_status resolve_format(const struct arguments *arguments, trellis_error *error);

#endif
