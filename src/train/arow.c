/* arow.c - adaptive regularisation of weights (Crammer, Kulesza, Dredze 2009) for sequences.
 *
 * Each weight has a variance, its uncertainty: the covariance is diagonal. A weight that was
 * updated often has a small variance, and is updated less.
 *
 *     for each epoch, for each sequence (X, Z) in random order:
 *         Z*   = argmax_Z' w . Phi(X, Z') + L(Z, Z')
 *         d    = Phi(X, Z) - Phi(X, Z*)
 *         l    = L(Z, Z*) - w . d
 *         if l > 0:
 *             beta       = 1 / (sum_j variance_j d_j^2 + r)
 *             w_j        += l beta variance_j d_j
 *             variance_j -= beta (variance_j d_j)^2
 *     result: the average of all w after each sequence
 *
 * The weight of a sequence divides its r, as 1 / r is what a loss counts. Only the ratio of the
 * first variance to r matters, so r = 1 and the first variance is the option. Other margins are those
 * of tr_online_margin().
 */
#include "train/online.h"

static void update(struct tr_online *online, double loss, double weight)
{
    const struct tr_sparse *d = &online->change;
    double confidence = 0;
    for (size_t i = 0; i < d->entries.size; i++) {
        const struct tr_sparse_entry *e = &d->entries.at[i];
        confidence += (double)online->variance[e->at] * e->value * e->value;
    }
    double beta = 1 / (confidence + 1 / weight);
    for (size_t i = 0; i < d->entries.size; i++) {
        const struct tr_sparse_entry *e = &d->entries.at[i];
        double along = (double)online->variance[e->at] * e->value; // variance_j d_j
        tr_online_move(online, e->at, loss * beta * along);
        online->variance[e->at] -= (float)(beta * along * along);
    }
}

static trellis_status learn_sequence(struct tr_online *online, void *user, size_t s,
                                     trellis_error *error)
{
    (void)user;
    trellis_status status = tr_online_decode(online, s, tr_online_augmentation(online), error);
    if (status || online->wrong == 0) {
        return status;
    }
    status = tr_online_difference(online, s, online->predicted.at, &online->change, error);
    if (!status) {
        double loss = tr_online_margin(online, s, online->predicted.at) -
                      tr_sparse_dot(&online->change, online->now.weights);
        double weight = tr_sequence_weight(&online->training->data.train, s);
        if (loss > 0 && weight > 0) {
            online->missed += weight * loss;
            update(online, loss, weight);
        }
    }
    return status;
}

const struct tr_online_method tr_arow = {
    .averaging = TR_EVEN_AVERAGE, .variances = true, .learn = learn_sequence};
