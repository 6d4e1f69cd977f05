/* input_selection.h - the sequences that `trellis explain` and `trellis show` work on: those of
 * some files, or one given on the command line. */
#ifndef TRELLIS_CLI_INPUT_SELECTION_H
#define TRELLIS_CLI_INPUT_SELECTION_H

#include "for_each_sequence.h"

#define OWN_WORDS                                                                                  \
    {                                                                                              \
        "words", 'w', "TEXT",                                                                      \
            "Use these words, separated by blanks, instead of a file; more columns follow a word " \
            "after a bar: 'The|DT cat|NN'."                                                        \
    }

/* Visits the sequence of --words, for which the reader of the source is NULL, or the sequences of
 * the files that --sequence selects. If --sequence is not given, `just_one` selects the first. A
 * sequence that does not exist is TRELLIS_DATA. */
trellis_status for_each_selected(const struct arguments *arguments, bool just_one,
                                 sequence_visitor visit, void *user, trellis_error *error);

#endif
