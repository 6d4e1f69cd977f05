/* seeds.h - several trainings that differ in their seed, averaged into one model; see seeds.c. */
#ifndef TRELLIS_TRAIN_SEEDS_H
#define TRELLIS_TRAIN_SEEDS_H

#include "train/train.h"

/* Runs the algorithm of a training, as often as --seeds says. */
trellis_status tr_train_seeds(struct tr_training *training, trellis_error *error);

#endif
