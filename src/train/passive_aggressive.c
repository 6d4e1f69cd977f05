/* passive_aggressive.c - passive-aggressive learning of sequences (Crammer et al. 2006, section 9).
 *
 *     for each epoch, for each sequence (X, Z) in random order:
 *         Z*  = argmax_Z' w . Phi(X, Z') + L(Z, Z')
 *         d   = Phi(X, Z) - Phi(X, Z*)
 *         l   = L(Z, Z*) - w . d                  by how much the margin is missed
 *         if l > 0:  w += tau d
 *
 *     pa    tau = l / |d|^2                       the nearest w that keeps the margin
 *     pa1   tau = min(C, l / |d|^2)
 *     pa2   tau = l / (|d|^2 + 1 / (2 C))
 *     result: the average of all w after each sequence
 *
 * The weight of a sequence multiplies C, which is what its slack costs. Multiplying tau instead would go
 * beyond the w that keeps the margin. So with pa a weight changes nothing, unless it is 0.
 *
 * With --loss root the margin is sqrt(L(Z, Z*)) and Z* = argmax_Z' w . Phi(X, Z').
 */
#include <math.h>

#include "train/online.h"

struct rule {
    bool root;
    double cap, softness; // of a sequence of weight 1: C of pa1 or infinity; 1 / (2 C) of pa2 or 0
};

static trellis_status learn_sequence(struct tr_online *online, void *user, size_t s,
                                     trellis_error *error)
{
    const struct rule *rule = user;
    size_t n;
    const uint16_t *gold = tr_online_gold(online, s, &n);
    trellis_status status = tr_online_decode(online, s, rule->root ? 0 : 1, error);
    if (status || online->wrong == 0) {
        return status;
    }
    const struct tr_sparse *d = &online->change;
    status = tr_online_difference(online, s, online->predicted.at, &online->change, error);
    if (status) {
        return status;
    }
    double cost = tr_loss_of(online->loss, gold, online->predicted.at, n);
    double loss = (rule->root ? sqrt(cost) : cost) - tr_sparse_dot(d, online->now.weights);
    double square = tr_sparse_square(d),
           weight = tr_sequence_weight(&online->training->data.train, s);
    if (loss > 0 && square > 0 && weight > 0) {
        double tau = loss / (square + rule->softness / weight);
        tr_online_change(online, d, fmin(weight * rule->cap, tau));
    }
    return TRELLIS_OK;
}

static trellis_status train(struct tr_training *training, struct rule rule, trellis_error *error)
{
    struct tr_online *online;
    rule.root = training->settings.root_loss;
    trellis_status status = tr_online_create(training, TR_EVEN_AVERAGE, &online, error);
    if (!status) {
        status = tr_online_run(online, learn_sequence, &rule, error);
        tr_online_destroy(online);
    }
    return status;
}

trellis_status tr_train_pa(struct tr_training *training, trellis_error *error)
{
    return train(training, (struct rule){.cap = INFINITY}, error);
}

trellis_status tr_train_pa1(struct tr_training *training, trellis_error *error)
{
    return train(training, (struct rule){.cap = training->settings.aggressiveness}, error);
}

/* The softness is infinite for C = 0: nothing moves. */
trellis_status tr_train_pa2(struct tr_training *training, trellis_error *error)
{
    double softness = 1 / (2 * training->settings.aggressiveness);
    return train(training, (struct rule){.cap = INFINITY, .softness = softness}, error);
}
