/* columns_from.h - the arguments of --columns-from: how the first model is trained. */
#ifndef TRELLIS_CLI_COLUMNS_FROM_H
#define TRELLIS_CLI_COLUMNS_FROM_H

#include "arguments.h"

/* Rejects arguments that cannot work, and without --columns-from those that belong to it. */
int columns_from_check(const struct arguments *arguments);

/* The options of the first model, to be destroyed, and the number of folds; the arguments must have
 * been checked. */
trellis_status columns_from_options(const struct arguments *arguments,
                                    trellis_options **ret_options, size_t *ret_folds,
                                    trellis_error *error);

#endif
