/* online_learner.h - an online learner as an object: a growing training, and what learns from
 * it. */
#ifndef TRELLIS_TRAIN_ONLINE_LEARNER_H
#define TRELLIS_TRAIN_ONLINE_LEARNER_H

#include "train/growing.h"
#include "train/online.h"
#include "train/sgd.h"

struct trellis_online {
    struct tr_growing growing;
    /* One of these two: by a rule, ... */
    const struct tr_online_method *method;
    void *method_user;
    struct tr_online *online;
    /* ... or by stochastic steps. */
    struct tr_sgd *sgd;
    size_t slots; // that its steps need
};

/* What learns, once `growing` was created: without weights, as there is no layout yet. */
trellis_status tr_online_learner_begin(trellis_online *online, trellis_error *error);
/* For tr_growing_fit(); `user` is a trellis_online. */
trellis_status tr_online_learner_relayout(void *user, const struct tr_relayout *relayout,
                                          trellis_error *error);
/* After the weights were set from outside. */
void tr_online_learner_set_steps(trellis_online *online);

#endif
