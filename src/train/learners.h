/* learners.h - the one table that lists the learners, what each can do and what it listens to.
 *
 * Nothing else asks which learner it is: the pipeline asks for an ability, or calls a hook.
 */
#ifndef TRELLIS_TRAIN_LEARNERS_H
#define TRELLIS_TRAIN_LEARNERS_H

#include "dataset/dataset.h"

struct tr_training;
struct tr_online_method;

enum tr_ability {
    TR_PARTIAL_LABELS = 1 << 0, // learns from labels that are not known, or only in part
    TR_HIDDEN_LABELS = 1 << 1,  // needs none at all: the states are learned
    TR_SHARED_ROWS = 1 << 2,    // treats attributes alike that always occur together
    TR_PENALISED = 1 << 3,      // minimises an objective with an l2 penalty
    TR_ONE_PASS = 1 << 4,       // counts: there is nothing to resume
    TR_SHARED_DATA = 1 << 9,    // reads attributes of the training data in passes alone
    TR_STOCHASTIC = 1 << 8,     // takes a step for a batch of sequences, so that data may grow
    /* Of the model that is learned. */
    TR_NO_TRANSITIONS = 1 << 5, // order 0, whatever the options say
    TR_LOCAL = 1 << 6,          // locally normalised: a probability for each label given the last
    /* log P(X, Z): every transition has a weight, those from the start and to the end as well, and
     * so has every label; words keep to the labels they were seen with; minus infinity is a
     * weight. */
    TR_GENERATIVE = 1 << 7,
};

/* What is minimised, or how. */
struct tr_algorithm {
    const char *name;
    /* Calls tr_training_iteration() after each pass and returns when that says so, or when it is
     * done by its own rules. */
    trellis_status (*train)(struct tr_training *training, trellis_error *error);
    uint64_t epochs;      // at most, unless the user says otherwise; 0: no limit
    unsigned abilities;   // beside those of its learner
    const char *options;  // that it listens to, beside those of its learner, separated by blanks
    const char *features; // templates by default; NULL: those of its learner
    const struct tr_online_method *online; // of tr_train_online(); NULL: it is another algorithm
    double floats_per_weight;              // instead of its learner's; 0: as many
};

/* Which grams of labels get a weight. */
struct tr_gram_choice {
    struct tr_step_choice steps;
    uint32_t
        all_up_to; // all that are possible of up to so many labels; others where they were seen
};

/* What a learner has to say while the pipeline prepares a training; each may be NULL. */
struct tr_learner_hooks {
    /* Checks and completes the plan of the graph. */
    trellis_status (*plan)(const struct tr_training *training, struct tr_graph_plan *plan,
                           struct tr_gram_choice *choice, trellis_error *error);
    /* Lays out the features, in the place of tr_dataset_arrange(). */
    trellis_status (*arrange)(struct tr_training *training, struct tr_arrangement *arrangement,
                              trellis_error *error);
    /* Whether it needs a tag dictionary where the user asks for none, ... */
    bool (*needs_dictionary)(const struct tr_training *training);
    /* ... and what it adds to that. Entries of the training data are numbers of `words`. */
    trellis_status (*allow_words)(const struct tr_training *training, const struct tr_intern *words,
                                  struct tr_tag_dictionary_builder *draft, trellis_error *error);
    /* The last thing before learning: data and layout are there. */
    trellis_status (*prepare)(struct tr_training *training, trellis_error *error);
};

struct tr_learner {
    const char *name, *help;
    const char *about;                     // paragraphs: when to use it, its algorithms, references
    const struct tr_algorithm *algorithms; // the default first; one without a name ends them
    unsigned abilities;
    const char *options;  // that all its algorithms listen to
    const char *features; // templates by default
    double l2;            // by default, with TR_PENALISED
    const struct tr_learner_hooks *hooks;
    /* Floats that it needs for each weight and bytes for each token, for the estimate of memory. */
    double floats_per_weight, bytes_per_token;
};

/* All learners; NULL behind the last. */
const struct tr_learner *tr_learner_at(size_t index);
/* Whether a learner listens to an option with this algorithm, beside those that are for all. */
bool tr_learner_listens(const struct tr_learner *learner, const struct tr_algorithm *algorithm,
                        const char *option);
/* Whether the selection of features by --select-l1, which is by L-BFGS, listens to an option. */
bool tr_selection_listens(const char *option);
/* The learners and algorithms that listen to an option, as one would type them: "-t mira", "-t crf
 * -a sgd, -t memm -a sgd". Empty if the option is for all. */
void tr_learners_listening(const char *option, char *text, size_t room);

/* The algorithms. */
trellis_status tr_train_online(struct tr_training *training, trellis_error *error);
trellis_status tr_train_bcfw(struct tr_training *training, trellis_error *error);
trellis_status tr_train_subgradient(struct tr_training *training, trellis_error *error);
trellis_status tr_train_lbfgs(struct tr_training *training, trellis_error *error);
trellis_status tr_train_sgd(struct tr_training *training, trellis_error *error);
trellis_status tr_train_cg(struct tr_training *training, trellis_error *error);
trellis_status tr_train_gd(struct tr_training *training, trellis_error *error);
trellis_status tr_train_hmm_counts(struct tr_training *training, trellis_error *error);
trellis_status tr_train_em(struct tr_training *training, trellis_error *error);
trellis_status tr_train_hard_em(struct tr_training *training, trellis_error *error);

extern const struct tr_learner_hooks tr_crf_hooks, tr_hmm_hooks;

#endif
