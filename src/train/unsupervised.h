/* unsupervised.h - learning without labels: what the states are called, and how data without labels
 * is read. */
#ifndef TRELLIS_TRAIN_UNSUPERVISED_H
#define TRELLIS_TRAIN_UNSUPERVISED_H

#include "train/train.h"

/* How the labels of the training data are used. */
enum tr_label_use tr_unsupervised_label_use(const struct tr_training *training);
/* Whether states stand for the labels of --dev, by the best assignment, rather than being
 * labels. */
bool tr_unsupervised_dev_clusters(const struct tr_training *training);
/* Whether iterates are compared by the likelihood of --dev, not its accuracy. After
 * tr_unsupervised_name(). */
bool tr_unsupervised_dev_likelihood(const struct tr_training *training);

/* Notes whether labels are known and gives names to the states where none is. After reading the
 * data. */
trellis_status tr_unsupervised_name(struct tr_training *training, trellis_error *error);
/* Adds the sequences of --unlabelled to the training data, with their weight. */
trellis_status tr_unsupervised_read_more(struct tr_training *training,
                                         const struct tr_dataset_settings *settings,
                                         trellis_error *error);

#endif
