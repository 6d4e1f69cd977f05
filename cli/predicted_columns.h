/* predicted_columns.h - training data in which another model predicts a column (--columns-from). */
#ifndef TRELLIS_CLI_PREDICTED_COLUMNS_H
#define TRELLIS_CLI_PREDICTED_COLUMNS_H

#include "arguments.h"

/* The data of the second model, and the first model. */
struct predicted_columns {
    trellis_corpus *train, *dev; // dev: NULL without --dev
    trellis_options *options;    // of the second training
    trellis_model *first;
};

/* Trains the first model on all data, and on all folds but one for each fold. TRELLIS_INTERRUPTED
 * after a cancellation. Call predicted_columns_free() in any case. */
trellis_status predicted_columns_make(struct predicted_columns *columns,
                                      const struct arguments *arguments,
                                      const trellis_cancellation *cancellation,
                                      trellis_error *error);
void predicted_columns_free(struct predicted_columns *columns);

#endif
