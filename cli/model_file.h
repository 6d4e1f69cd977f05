/* model_file.h - models named on the command line, where '-' is standard input or output. */
#ifndef TRELLIS_CLI_MODEL_FILE_H
#define TRELLIS_CLI_MODEL_FILE_H

#include "arguments.h"

/* Opens a model. If it is standard input, that must not be an input of `arguments` as well, which
 * may be NULL if no other input is read. */
trellis_status open_model(const char *path, const struct arguments *arguments,
                          trellis_model **ret_model, trellis_error *error);

/* Whether a model can be written there: checked before training, which may take hours. Prints an
 * error and returns the exit status. */
int check_model_target(const struct command *command, const char *path);
/* Writes a model: atomically, or to standard output. */
trellis_status save_model(const trellis_model *model, const char *path, trellis_error *error);

#endif
