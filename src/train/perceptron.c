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
        const struct tr_dataset *data = &online->training->data.train;
        double weight = tr_sequence_weight(data, s);
        tr_online_change(online, &online->change, weight);
        online->missed += weight * (double)online->wrong / (double)tr_sequence_length(data, s);
    }
    return status;
}

const struct tr_online_method tr_averaged_perceptron = {.averaging = TR_EVEN_AVERAGE,
                                                        .learn = learn_sequence};
const struct tr_online_method tr_plain_perceptron = {.averaging = TR_NO_AVERAGE,
                                                     .learn = learn_sequence};
