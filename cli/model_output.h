/* model_output.h - what `trellis info`, `export` and `inspect` share: a model, written to an output. */
#ifndef TRELLIS_CLI_MODEL_OUTPUT_H
#define TRELLIS_CLI_MODEL_OUTPUT_H

#include "arguments.h"

typedef trellis_status (*model_writer)(const trellis_model *model,
                                       const struct arguments *arguments, trellis_sink sink,
                                       void *user, trellis_error *error);

/* Opens the model that the arguments name and writes it with `write`; returns the exit status. */
int show_model(const struct arguments *arguments, model_writer write);

#endif
