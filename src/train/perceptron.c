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
    status = tr_online_difference(online, s, online->found.at, &online->change, error);
    if (!status) {
        tr_online_change(online, &online->change, tr_online_weight(online, s));
    }
    return status;
}

static trellis_status train_plain_or_averaged(struct tr_training *training, trellis_error *error)
{
    bool averaged = strcmp(training->algorithm, "averaged") == 0;
    struct tr_online *online;
    trellis_status status = tr_online_create(training, averaged ? TR_EVEN_AVERAGE : TR_NO_AVERAGE,
                                             &online, error);
    if (!status) {
        status = tr_online_run(online, learn_sequence, NULL, error);
        tr_online_destroy(online);
    }
    return status;
}

/* The perceptron and those that came after it. */
trellis_status tr_train_perceptron(struct tr_training *training, trellis_error *error)
{
    if (strncmp(training->algorithm, "pa", 2) == 0) {
        return tr_train_passive_aggressive(training, error);
    }
    if (strcmp(training->algorithm, "arow") == 0) {
        return tr_train_arow(training, error);
    }
    return train_plain_or_averaged(training, error);
}
