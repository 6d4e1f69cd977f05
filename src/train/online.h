/* online.h - what learners share that update after each sequence.
 *
 * An online learner decodes a sequence and moves w along differences of feature vectors,
 *
 *     w += tau (Phi(X, Z) - Phi(X, Z*))
 *
 * and its file holds the rule for tau (struct tr_online_method). Here are the passes over the data
 * in random order, the decoding, the differences, which are sparse, and the average of all w. A
 * rule sees a sequence of training->data.train, the layout and the weights, and does not ask
 * whether that data is a whole corpus or the latest part of one that grows (growing.h).
 */
#ifndef TRELLIS_TRAIN_ONLINE_H
#define TRELLIS_TRAIN_ONLINE_H

#include "train/pass.h"

/* ---- sparse vectors over the weights --------------------------------------------------------- */

struct tr_sparse_entry {
    size_t at;
    double value;
};

/* Each index is there once: what is added to it adds up. */
struct tr_sparse {
    TR_ARRAY(struct tr_sparse_entry) entries; // in the order of their first appearance
    uint32_t *slots;                          // [slot_count] number + 1, or 0; open addressing
    size_t slot_count;                        // a power of 2, or 0
    bool failed;                              // memory ran out since it was cleared
};

void tr_sparse_clear(struct tr_sparse *sparse);
void tr_sparse_free(struct tr_sparse *sparse);
/* x[at] += value. */
void tr_sparse_add(struct tr_sparse *sparse, size_t at, double value);
/* x . x, x . w and x . y */
double tr_sparse_square(const struct tr_sparse *sparse);
double tr_sparse_dot(const struct tr_sparse *sparse, const float *w);
double tr_sparse_product(const struct tr_sparse *x, const struct tr_sparse *y);

/* ---- differences of two labellings ----------------------------------------------------------- */

/* `amount` times what the attributes of one place fire with an outcome, or one step feature. All
 * that Phi(X, Z) - Phi(X, Z*) is made of, before it is spread over the attributes. */
struct tr_update_term {
    /* 2 i: node attributes of position i, 2 i + 1: its edge attributes; TR_SEGMENT + c: attributes of
     * the segment c of the sequence; or TR_STEP */
    uint32_t place;
    uint32_t outcome; // label, label pair or step feature
    float amount;
};
#define TR_STEP UINT32_MAX
#define TR_SEGMENT (UINT32_C(1) << 31)

struct tr_update_terms {
    TR_ARRAY(struct tr_update_term) list;
};

/* ---- the learner ----------------------------------------------------------------------------- */

/* How the iterates w_1, w_2, ... are averaged: not at all, each as much as any other, or the k-th
 * with weight k. */
enum tr_averaging { TR_NO_AVERAGE, TR_EVEN_AVERAGE, TR_RISING_AVERAGE };

struct tr_online {
    struct tr_training *training;
    struct tr_loss *loss;
    enum tr_averaging averaging;
    struct tr_iterate now;     // its weights are w
    double *u;                 // [size] see tr_online_move(); NULL where there is no average
    float *variance;           // [size] of each weight; NULL where the method has none
    bool mixing;               // ranks share the sequences of an epoch (mixing.c)
    struct tr_bundles *listed; // rows and pairs of the training data; NULL: its attributes are read
    double seen;               // sequences so far, in the average
    double before;             // total weight of the iterates so far
    struct tr_iterate
        result; // what is reported and kept: the average, or w; not of a growing corpus
    struct tr_steps *steps;
    struct tr_lattice *lattice;
    uint32_t *order; // [sequences]; NULL with a growing corpus

    /* Of the current sequence. */
    TR_ARRAY(uint16_t) predicted; // the best path
    size_t prefix;                // what is compared of it: all, but for --update
    TR_ARRAY(uint16_t) given;     // the best path that agrees with what is known of gold
    uint64_t wrong, wrong_in_all; // labels in it that are not gold; and in this epoch
    double missed; // the loss of this epoch, to which rules add that of each sequence
    struct tr_update_terms terms;
    struct tr_sparse change; // Phi(X, Z) - Phi(X, Z*)
};

trellis_status tr_online_create(struct tr_training *training, enum tr_averaging averaging,
                                struct tr_online **ret_online, trellis_error *error);
/* Without weights and without anything that depends on the layout: the caller sees to those. */
trellis_status tr_online_create_empty(struct tr_training *training, enum tr_averaging averaging,
                                      struct tr_online **ret_online, trellis_error *error);
void tr_online_destroy(struct tr_online *online);

/* What a learner does with a sequence. */
typedef trellis_status (*tr_online_rule)(struct tr_online *online, void *user, size_t sequence,
                                         trellis_error *error);
/* A learner that is no more than a rule. */
struct tr_online_method {
    enum tr_averaging averaging;
    bool variances; // each weight has one, at first that of the settings
    tr_online_rule learn;
    /* What the rule is given as `user`; both may be NULL. */
    trellis_status (*begin)(const struct tr_settings *settings, void **ret_user,
                            trellis_error *error);
    void (*end)(void *user);
};
extern const struct tr_online_method tr_averaged_perceptron, tr_plain_perceptron, tr_pa, tr_pa1,
    tr_pa2, tr_arow, tr_mira;

/* Names the state that all have to training->registry, and resumes from a checkpoint where there is
 * one. What a learner adds to that state it has named before. */
trellis_status tr_online_resume(struct tr_online *online, bool *ret_resumed, trellis_error *error);
/* How a method averages: as it says, unless --no-average. */
enum tr_averaging tr_online_averaging(const struct tr_online_method *method,
                                      const struct tr_settings *settings);
/* One epoch: all sequences in random order. */
trellis_status tr_online_pass(struct tr_online *online, tr_online_rule rule, void *user,
                              trellis_progress *figures, trellis_error *error);
/* At the end of an epoch that the ranks have shared: the mean of their weights and averages. *tokens
 * and what was counted in the epoch become sums over the ranks. */
trellis_status tr_online_mix(struct tr_online *online, size_t *tokens, trellis_error *error);
/* All epochs, with the average reported after each. */
trellis_status tr_online_run(struct tr_online *online, tr_online_rule rule, void *user,
                             trellis_error *error);
/* The average of the iterates so far of a weight, or w; ... */
float tr_online_average(const struct tr_online *online, size_t at);
/* ... result = those of all weights. */
void tr_online_take_result(struct tr_online *online);
/* After a rule: counts its iterate into the average. */
void tr_online_end_sequence(struct tr_online *online);
/* Leaves all iterates so far out of the average. */
void tr_online_begin_average(struct tr_online *online);

/* Makes room for the sequences of the training data; to be called when they have changed. */
trellis_status tr_online_make_room(struct tr_online *online, trellis_error *error);
/* The labels of a sequence of the training data. Where some are not known, they are those that
 * tr_online_decode() takes for gold, and are not there before. */
const uint16_t *tr_online_gold(const struct tr_online *online, size_t sequence, size_t *ret_length);

/* Fills in the lattice: w . Phi(X, Z') + margin * L(Z, Z') for all Z'. */
trellis_status tr_online_scores(struct tr_online *online, size_t sequence, double margin,
                                trellis_error *error);
/* Counts the wrong labels of a predicted labelling. */
void tr_online_count(struct tr_online *online, size_t sequence, const uint16_t *predicted);
/* predicted = argmax_Z' w . Phi(X, Z') + margin * L(Z, Z'), and how many labels are wrong in it.
 * With --beam it is what beam search finds instead; with --update it is the prefix of a path that
 * violates the margin (tr_lattice_beam_violation), `prefix` labels long, followed by gold
 * labels. */
trellis_status tr_online_decode(struct tr_online *online, size_t sequence, double margin,
                                trellis_error *error);
/* What a labelling must score less than gold by, by the option --loss; and how much of it is in the
 * lattice while decoding, as the `margin` of tr_online_decode(). */
double tr_online_margin(const struct tr_online *online, size_t sequence, const uint16_t *labels);
double tr_online_augmentation(const struct tr_online *online);
/* terms = Phi(X, Z) - Phi(X, Z*) for the gold labels Z and the labels `predicted`, up to
 * `prefix` */
trellis_status tr_online_compare(struct tr_online *online, size_t sequence,
                                 const uint16_t *predicted, struct tr_update_terms *terms,
                                 trellis_error *error);
/* sparse += scale * terms, spread over the attributes of the sequence */
void tr_online_spread(const struct tr_online *online, size_t sequence,
                      const struct tr_update_term *terms, size_t count, double scale,
                      struct tr_sparse *sparse);
/* sparse = Phi(X, Z) - Phi(X, Z*): the two together. */
trellis_status tr_online_difference(struct tr_online *online, size_t sequence,
                                    const uint16_t *predicted, struct tr_sparse *sparse,
                                    trellis_error *error);

/* w[at] += amount, and the average learns of it. */
void tr_online_move(struct tr_online *online, size_t at, double amount);
/* w += tau * change */
void tr_online_change(struct tr_online *online, const struct tr_sparse *change, double tau);

#endif
