/* recipe.h - the settings of a training that the user left open, from a preset's recipe. */
#ifndef TRELLIS_TRAIN_RECIPE_H
#define TRELLIS_TRAIN_RECIPE_H

#include "base/options.h"

struct tr_training;

/* Completes the options by the recipe of the preset that --features names, or of the preset that
 * suits the training data if it is 'auto'. Fills in training->options, which is to be used instead,
 * and says which recipe it is. The sources must have been taken. */
trellis_status tr_recipe_complete(struct tr_training *training, const trellis_options *options,
                                  trellis_error *error);

#endif
