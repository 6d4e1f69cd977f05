/* train.h - trains a model and writes it, for `trellis train` and for the winner of `trellis tune`. */
#ifndef TRELLIS_CLI_TRAIN_H
#define TRELLIS_CLI_TRAIN_H

#include "arguments.h"

/* Trains on the files among the arguments, with these options, and saves the model; shows progress
 * unless --quiet is given. The exit status of the command. */
int train_model(const struct arguments *arguments, const trellis_options *options,
                const char *path);

#endif
