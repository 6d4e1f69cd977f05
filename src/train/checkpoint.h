/* checkpoint.h - a training that can be resumed after an interruption.
 *
 * The state of a training is what its learner names to training->registry, and what the pipeline
 * has beside it: the random numbers, the best iterate, the notes. Both are written to a file as
 * sections of an image (model/image.h), which replaces the one before it by renaming, at the head
 * of an iteration; so a process that is killed at any moment leaves a complete checkpoint, and the
 * one that resumes from it takes the same steps as if nothing had happened. A checkpoint is for the
 * same data and options: it holds a fingerprint of both.
 */
#ifndef TRELLIS_TRAIN_CHECKPOINT_H
#define TRELLIS_TRAIN_CHECKPOINT_H

#include "train/train.h"

/* Where --checkpoint asks for one: sets training->checkpoint and training->registry, and with
 * --resume reads the file, if there is one. All functions take NULL, too. */
trellis_status tr_checkpoint_open(struct tr_training *training, trellis_error *error);
void tr_checkpoint_destroy(struct tr_checkpoint *checkpoint);

/* Whether there is a state to resume from that the learner has not loaded yet. */
bool tr_checkpoint_is_pending(const struct tr_checkpoint *checkpoint);

/* For a training in two phases (--select-l1). The weights of the first choose the features of the
 * second phase: to be kept before they are forgotten, ... */
trellis_status tr_checkpoint_selection(struct tr_checkpoint *checkpoint, trellis_error *error);
/* ... and filled in as the best iterate where the file was written in the second phase. */
trellis_status tr_checkpoint_selected(struct tr_checkpoint *checkpoint, bool *ret_selected,
                                      trellis_error *error);

#endif
