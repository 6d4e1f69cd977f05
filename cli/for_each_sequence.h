/* for_each_sequence.h - visits the sequences of some files. */
#ifndef TRELLIS_CLI_FOR_EACH_SEQUENCE_H
#define TRELLIS_CLI_FOR_EACH_SEQUENCE_H

#include "arguments.h"

/* Where a sequence comes from. */
struct source {
    const char *path;
    const trellis_reader *reader;
};

/* Anything but TRELLIS_OK stops. */
typedef trellis_status (*sequence_visitor)(void *user, const struct source *source,
                                           const trellis_sequence *sequence, trellis_error *error);

/* Visits the sequences of a file. */
trellis_status visit_file(const char *path, const trellis_options *options, sequence_visitor visit,
                          void *user, trellis_error *error);

/* Visits the sequences of the files among the arguments, or of standard input. */
trellis_status visit_sequences(const struct arguments *arguments, sequence_visitor visit,
                               void *user, trellis_error *error);

/* Decides what --format auto stands for by the name of the first file, before a writer is made: it
 * sees no names, and 'same' means that format. */
trellis_status settle_format(const struct arguments *arguments, trellis_error *error);

#endif
