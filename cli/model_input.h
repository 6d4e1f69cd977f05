/* model_input.h - the input of a model: read as its training data was, and checked against that. */
#ifndef TRELLIS_CLI_MODEL_INPUT_H
#define TRELLIS_CLI_MODEL_INPUT_H

#include "arguments.h"

/* Sets the options of reading that were not given to those that the model was trained with. `gold`:
 * the labels of the input are needed. */
trellis_status take_input_defaults(const trellis_model *model, const struct arguments *arguments,
                                   bool gold, trellis_error *error);

/* Checks the first sequence of a file against what the model was trained on. */
trellis_status check_input(const trellis_model *model, const trellis_options *options,
                           const char *path, const trellis_sequence *sequence,
                           trellis_error *error);

/* Whether the labels of the input are labels of the model at all. Start with the model alone. */
struct gold_check {
    const trellis_model *model;
    bool some;        // there is a label,
    bool known;       // and one that the model has
    char example[80]; // a label that it has not
    /* What tells the scheme: labels that are not spans; E- or S-, L- or U-; spans that begin with B-
     * or with I-. */
    bool no_spans, ends, lasts, b_begins, i_begins;
};
/* Adds a sequence, which must have labels; see --label. */
trellis_status gold_check_add(struct gold_check *check, const trellis_sequence *sequence,
                              trellis_error *error);
trellis_status gold_check_end(const struct gold_check *check, trellis_error *error);

#endif
