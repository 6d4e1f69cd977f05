/* model_output.h - shared by `trellis info`, `export` and `inspect`: writes something about a
 * model. */
#ifndef TRELLIS_CLI_MODEL_OUTPUT_H
#define TRELLIS_CLI_MODEL_OUTPUT_H

#include "arguments.h"

typedef trellis_status (*model_writer)(const trellis_model *model,
                                       const struct arguments *arguments, trellis_sink sink,
                                       void *user, trellis_error *error);

/* Opens the model named by the arguments, and the output, and calls `write`; returns the exit
 * status. */
int write_model_output(const struct arguments *arguments, model_writer write);

#endif
