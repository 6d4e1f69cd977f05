/* train.h - trains a model and writes it, for `trellis train` and for the winner of `trellis tune`. */
#ifndef TRELLIS_CLI_TRAIN_H
#define TRELLIS_CLI_TRAIN_H

#include "arguments.h"

/* Prints an error and returns EXIT_FAILURE if a model cannot be written to `path`. To be checked
 * before training, which may take hours. */
int check_model_path(const char *path);

/* Trains on the files among the arguments, with these options, and saves the model; shows progress
 * unless --quiet is given. The exit status of the command. */
int train_model(const struct arguments *arguments, const trellis_options *options,
                const char *path);

#endif
