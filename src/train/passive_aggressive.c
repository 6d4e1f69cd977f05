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
 * The weight of a sequence multiplies C, which is what its slack costs. Multiplying tau instead
 * would go beyond the w that keeps the margin. So with pa a weight changes nothing, unless it is 0.
 *
 * Other margins are those of tr_online_margin().
 */
#include <math.h>

#include "train/online.h"

struct rule {
    double cap, softness; // of a sequence of weight 1: C of pa1 or infinity; 1 / (2 C) of pa2 or 0
};

static trellis_status learn_sequence(struct tr_online *online, void *user, size_t s,
                                     trellis_error *error)
{
    const struct rule *rule = user;
    trellis_status status = tr_online_decode(online, s, tr_online_augmentation(online), error);
    if (status || online->wrong == 0) {
        return status;
    }
    const struct tr_sparse *d = &online->change;
    status = tr_online_difference(online, s, online->predicted.at, &online->change, error);
    if (status) {
        return status;
    }
    double loss = tr_online_margin(online, s, online->predicted.at) -
                  tr_sparse_dot(d, online->now.weights);
    double square = tr_sparse_square(d),
           weight = tr_sequence_weight(&online->training->data.train, s);
    if (loss > 0 && square > 0 && weight > 0) {
        double tau = loss / (square + rule->softness / weight);
        online->missed += weight * loss;
        tr_online_change(online, d, fmin(weight * rule->cap, tau));
    }
    return TRELLIS_OK;
}

static trellis_status begin(struct rule rule, void **ret_rule, trellis_error *error)
{
    struct rule *own = *ret_rule = tr_alloc(1, sizeof *own);
    if (!own) {
        return tr_fail_memory(error);
    }
    *own = rule;
    return TRELLIS_OK;
}

static trellis_status begin_pa(const struct tr_settings *settings, void **ret_rule,
                               trellis_error *error)
{
    (void)settings;
    return begin((struct rule){.cap = INFINITY}, ret_rule, error);
}

static trellis_status begin_pa1(const struct tr_settings *settings, void **ret_rule,
                                trellis_error *error)
{
    return begin((struct rule){.cap = settings->aggressiveness}, ret_rule, error);
}

/* The softness is infinite for C = 0: nothing moves. */
static trellis_status begin_pa2(const struct tr_settings *settings, void **ret_rule,
                                trellis_error *error)
{
    struct rule rule = {.cap = INFINITY, .softness = 1 / (2 * settings->aggressiveness)};
    return begin(rule, ret_rule, error);
}

const struct tr_online_method tr_pa = {TR_EVEN_AVERAGE, false, learn_sequence, begin_pa, free};
const struct tr_online_method tr_pa1 = {TR_EVEN_AVERAGE, false, learn_sequence, begin_pa1, free};
const struct tr_online_method tr_pa2 = {TR_EVEN_AVERAGE, false, learn_sequence, begin_pa2, free};
