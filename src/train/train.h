/* train.h - what a learner sees, and the one table that lists the learners.
 *
 * The pipeline (train.c) reads the data, lays out the features, calls the learner and makes the model.
 * A learner is handed a tr_training, moves a weight vector
 *
 *     w = [ node weights | edge weights | step weights ]
 *
 * and reports after each iteration; the pipeline scores the dev data, keeps the best iterate and says
 * when to stop. A learner also names its state to training->registry (base/state_registry.h), so that the pipeline
 * can write checkpoints and go on from them.
 */
#ifndef TRELLIS_TRAIN_TRAIN_H
#define TRELLIS_TRAIN_TRAIN_H

#include <time.h>

#include "base/state_registry.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/random.h"
#include "dataset/dataset.h"
#include "dataset/row_kernels.h"
#include "lattice/loss.h"
#include "lattice/lattice.h"

struct tr_learner;
struct tr_hmm_gaussian;

struct tr_training {
    const trellis_options *options;
    const struct tr_learner *learner;
    const char *algorithm;
    bool local;                  // the learner's: a locally normalised model
    struct tr_dataset data, dev; // dev without sequences: there is none
    struct tr_vocabulary vocabulary;
    struct tr_tag_dictionary tag_dictionary; // of --dictionary; a view of its block
    struct tr_buffer tag_dictionary_block;
    struct trellis_words seen; // in the training data
    trellis_features *features;
    struct tr_graph_plan plan;
    struct tr_gram *grams;
    uint16_t (*forbidden)[2];
    struct tr_graph *graph;
    size_t node_size, edge_size, step_size, size; // of w; the parts begin at whole vectors
    const struct tr_row_kernels *kernels;
    struct tr_loss *loss; // that a CRF adds to scores (softmax-margin); NULL where it does not
    struct tr_pool *pool;
    struct tr_random random;
    struct tr_buffer notes;
    struct tr_hmm_gaussian *emissions; // of --gaussian, NULL where there are none
    bool labels_known;                 // of the training data, at least one
    trellis_scheme outside, inside;    // of the labels as given and as learned

    /* Reporting. */
    trellis_progress_function progress;
    void *user;
    struct timespec began;
    bool stopped; // by the caller

    /* Going on after an interruption; see checkpoint.h. */
    struct tr_checkpoint *checkpoint;   // NULL where there is none
    struct tr_state_registry *registry; // its registry, where a learner names its state; or NULL
    uint64_t done;                      // iterations

    /* Of an HMM: w with all digits, and what tells of unknown words; others leave them NULL. */
    const double *exact; // [size] w of the iteration that ends
    double *unknown;     // [1 + labels] of the model's section UNKN, and of the best iterate:
    double *best_unknown;
    float *low; // [size] what the floats of the best iterate leave over

    /* The best iterate so far: by the dev score, or the last where there is no dev. */
    float *best; // [size]
    bool has_best;
    double best_score;
    uint64_t since_best;
    trellis_progress figures; // of the best iterate
};

/* A learner. `train` calls tr_training_iteration() after each pass and returns when that says so, or
 * when it is done by its own rules. */
struct tr_learner {
    const char *name, *help;
    const char *algorithms; // separated by blanks, the default first
    uint64_t epochs;        // unless the user says otherwise; 0: no limit
    trellis_status (*train)(struct tr_training *training, trellis_error *error);
    /* Floats that it needs for each weight and bytes for each token, for the estimate before training. */
    double floats_per_weight, bytes_per_token;
    bool no_steps; // order 0, whatever the options say
    /* Every step has a weight, those from the start and to the end as well, and so has every label; words
     * keep to the labels they were seen with. */
    bool generative;
    bool local; // a probability for each decision rather than for the whole sequence
};

/* All learners; NULL behind the last. */
const struct tr_learner *tr_learner_at(size_t index);

/* The most passes: what the user said, or the learner's own. */
uint64_t tr_training_epochs(const struct tr_training *training);

/* The l2 penalty in the dialect that the user speaks, `usual` where none is given. */
trellis_status tr_training_l2(const struct tr_training *training, double usual, double *ret_l2,
                              trellis_error *error);

/* Ends an iteration with weights w: scores the dev data, keeps the best, reports. `figures` holds what
 * the learner knows. *ret_stop says whether to end. */
trellis_status tr_training_iteration(struct tr_training *training, trellis_progress *figures,
                                     const float *w, bool *ret_stop, trellis_error *error);
/* Figures none of which is known. */
trellis_progress tr_figures_unknown(trellis_phase phase);
/* The same, with what is known of the iterations. */
trellis_progress tr_training_figures(const struct tr_training *training);
/* Reports from within an iteration; false where the caller wants to stop. */
bool tr_training_tick(struct tr_training *training, const trellis_progress *figures);
/* A sentence for the person who waits. */
void tr_training_note(struct tr_training *training, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
double tr_training_seconds(const struct tr_training *training);

/* Chooses templates and schemes, and reads the training data and what is held out; features are laid out. */
trellis_status tr_training_read(struct tr_training *training, const char *const *paths,
                                size_t path_count, trellis_error *error);
/* The model of the best iterate, with its weights in as many bits as --bits says. */
trellis_status tr_training_result(struct tr_training *training, trellis_model **ret_model,
                                  trellis_error *error);
/* Drops every feature whose weight in the best iterate is 0, and forgets that iterate: the next learner
 * starts with what is left (Wu 2013, section 6.2). */
trellis_status tr_training_select(struct tr_training *training, trellis_error *error);
/* Whether an option says how to run, how long, or where to write, and not what is learned. */
bool tr_is_run_option(const char *option);
/* Fills in first weights from the model of --from, where there is one: those of features that both have,
 * matched by attribute and label. */
trellis_status tr_training_initial_weights(struct tr_training *training, float *weights,
                                           trellis_error *error);

/* What is seen at the tokens of a sequence. */
struct tr_tokens tr_training_tokens(const struct tr_dataset *dataset, bool edge, size_t sequence);

/* Begins the lattice for a sequence of a dataset and fills in its scores under w; words of the tag
 * dictionary are restricted to their labels. */
trellis_status tr_training_scores(const struct tr_training *training,
                                  const struct tr_dataset *dataset, size_t sequence, const float *w,
                                  struct tr_lattice *lattice, trellis_error *error);

/* Adds L(gold, Z') to the score of every Z', where the training has a loss. */
void tr_training_add_loss(const struct tr_training *training, size_t sequence,
                          struct tr_lattice *lattice);

/* Narrows the lattice to what is known of the gold labels of a sequence (--partial). */
trellis_status tr_constrain_to_partial(const struct tr_dataset *dataset, size_t sequence,
                                       struct tr_lattice *lattice, trellis_error *error);
/* Whether some labels that agree with what is known, the dictionary and the constraints are left for
 * every sequence. */
trellis_status tr_training_check_open(const struct tr_training *training, trellis_error *error);

/* The learners. */
trellis_status tr_train_perceptron(struct tr_training *training, trellis_error *error);
trellis_status tr_train_passive_aggressive(struct tr_training *training, trellis_error *error);
trellis_status tr_train_arow(struct tr_training *training, trellis_error *error);
trellis_status tr_train_mira(struct tr_training *training, trellis_error *error);
trellis_status tr_train_ssvm(struct tr_training *training, trellis_error *error);
trellis_status tr_train_crf(struct tr_training *training, trellis_error *error);
trellis_status tr_train_hmm(struct tr_training *training, trellis_error *error);

#endif
