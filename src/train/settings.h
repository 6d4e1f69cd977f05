/* settings.h - the options of a training, resolved to values before anything reads them. */
#ifndef TRELLIS_TRAIN_SETTINGS_H
#define TRELLIS_TRAIN_SETTINGS_H

#include "base/limits.h"

struct tr_learner;
struct tr_algorithm;

/* What a perceptron with a beam learns from: see tr_online_decode(). */
enum tr_update { TR_STANDARD, TR_EARLY, TR_MAX_VIOLATION };

/* Which transitions get a weight. */
enum tr_transitions { TR_TRANSITIONS_AUTO, TR_TRANSITIONS_OBSERVED, TR_TRANSITIONS_ALL };

/* What a labelling must score less than gold by: its loss, with loss-augmented decoding; or with
 * plain decoding its loss, the square root of that, or 1. */
enum tr_margin { TR_MARGIN_AUGMENTED, TR_MARGIN_LOSS, TR_MARGIN_ROOT, TR_MARGIN_ONE };

/* By what the best iterate on the dev data is chosen. */
enum tr_dev_score { TR_DEV_AUTO, TR_DEV_ACCURACY, TR_DEV_ONE, TR_DEV_MANY, TR_DEV_LIKELIHOOD };

struct tr_settings {
    const trellis_options *options; // as given: for what reads files, and for notes
    const struct tr_learner *learner;
    const struct tr_algorithm *algorithm;
    unsigned abilities; // of both
    struct tr_limits limits;

    /* The model. */
    uint32_t order, counted;
    double prune;
    bool observed_states, all_features;
    enum tr_transitions transitions;
    size_t max_segment; // with --segments; otherwise 0
    double filter;      // of segments; 0: none
    uint32_t min_count;
    double min_feature_count;
    const char *from, *gaussian, *dictionary; // "" where not given

    /* When to stop. */
    uint64_t epochs;        // at most; 0: no limit
    uint64_t select_epochs; // of the selection by --select-l1
    uint64_t patience;      // iterations without a better dev score; 0: no limit
    bool keep_last;         // dev data is scored, but decides nothing
    double epsilon, delta;  // of batch methods
    unsigned period;        // of delta
    double gap;             // of ssvm

    /* The objective. */
    double l1, l2, select_l1;
    bool margin; // a loss was asked for by name
    enum tr_margin margin_kind;

    /* How it is minimised. */
    unsigned history;
    uint64_t warm_up; // epochs
    size_t batch;
    double rate; // 0: calibrated
    double dropout;
    uint64_t seed, seeds; // the first, and how many trainings are averaged
    bool average;
    double aggressiveness, variance;
    size_t mbest;
    size_t beam; // 0: exact search
    enum tr_update update;

    /* Of an HMM. */
    double alpha, theta, variance_floor;
    bool alpha_given, interpolate;
    size_t states; // 0: as many as have names
    uint64_t restarts;
    enum tr_dev_score dev_score;
};

/* Finds learner and algorithm, resolves the options that they listen to, and refuses some that they
 * do not. */
trellis_status tr_settings_resolve(const trellis_options *options, struct tr_settings *ret_settings,
                                   trellis_error *error);
/* Whether an option says how to run, how long, or where to write, and not what is learned. */
bool tr_is_run_option(const char *option);

#endif
