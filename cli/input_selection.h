/* input_selection.h - the sequences that `trellis explain` and `trellis show` are asked about: those of some files,
 * or one that is given on the command line. */
#ifndef TRELLIS_CLI_INPUT_SELECTION_H
#define TRELLIS_CLI_INPUT_SELECTION_H

#include "for_each_sequence.h"

#define OWN_WORDS                                                                                  \
    {                                                                                              \
        "words", 'w', "TEXT",                                                                      \
            "Take these words, separated by blanks, instead of a file; further columns of a word " \
            "follow it behind a bar: 'The|DT cat|NN'."                                             \
    }

/* Visits the sequence of --words, or those of the files that --sequence picks; the reader of the source is
 * NULL for --words. A sequence that there is not is TRELLIS_DATA. `just_one` takes the first where
 * --sequence does not say which. */
trellis_status visit_sentences(const struct arguments *arguments, bool just_one,
                               sequence_visitor visit, void *user, trellis_error *error);

#endif
