/* dev_score.h - how well an iterate labels the dev data. */
#ifndef TRELLIS_TRAIN_DEV_SCORE_H
#define TRELLIS_TRAIN_DEV_SCORE_H

#include "train/train.h"

/* Labels the dev data in all threads, as the tagger would (lattice/decode.h), and fills in
 * dev_accuracy and dev_f1. Workspaces are kept in training->dev_scorer. */
trellis_status tr_dev_score(struct tr_training *training, const struct tr_iterate *iterate,
                            trellis_progress *figures, trellis_error *error);
void tr_dev_scorer_destroy(struct tr_dev_scorer *scorer);

#endif
