/* perceptron.c - the structured perceptron (Collins 2002), plain and averaged.
 *
 *     w = 0
 *     for each epoch, for each sequence (X, Z) in random order:
 *         Z* = argmax_Z' w . Phi(X, Z')
 *         if Z* != Z:  w += Phi(X, Z) - Phi(X, Z*)    (times the weight of the sequence)
 *     result: w, or the average of all w after each sequence
 *
 * Phi differs only where labels differ, so only those positions are touched.
 */
#include "train/online.h"

static trellis_status learn_sequence(struct tr_online *online, void *user, size_t s,
                                     trellis_error *error)
{
    (void)user;
    trellis_status status = tr_online_decode(online, s, 0, error);
    if (status || online->wrong == 0) {
        return status;
    }
    status = tr_online_difference(online, s, online->predicted.at, &online->change, error);
    if (!status) {
        tr_online_change(online, &online->change,
                         tr_sequence_weight(&online->training->data.train, s));
    }
    return status;
}

static trellis_status train(struct tr_training *training, enum tr_averaging averaging,
                            trellis_error *error)
{
    struct tr_online *online;
    trellis_status status = tr_online_create(training, averaging, &online, error);
    if (!status) {
        status = tr_online_run(online, learn_sequence, NULL, error);
        tr_online_destroy(online);
    }
    return status;
}

trellis_status tr_train_averaged_perceptron(struct tr_training *training, trellis_error *error)
{
    return train(training, TR_EVEN_AVERAGE, error);
}

trellis_status tr_train_plain_perceptron(struct tr_training *training, trellis_error *error)
{
    return train(training, TR_NO_AVERAGE, error);
}
