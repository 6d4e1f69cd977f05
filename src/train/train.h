/* train.h - what a learner is given: the parts of a training, each with one meaning.
 *
 *     settings   the options, resolved to values                     fixed before learning
 *     sources    where the data is read from                         fixed
 *     data       what is learned from                                fixed
 *     layout     the graph, and where its weights are                fixed
 *     best       the best iterate so far
 *     report     to the person who waits
 *
 * The pipeline (train.c) fills in the first three, calls the learner and makes a model of the best
 * iterate. A learner (learners.h) moves a weight vector
 *
 *     w = [ node weights | edge weights | transition weights ]
 *
 * and calls tr_training_iteration() after each pass: that scores the dev data, keeps the best
 * iterate and says when to stop. A learner also names its state to training->registry
 * (base/state_registry.h), so that the pipeline can write checkpoints and resume from them.
 */
#ifndef TRELLIS_TRAIN_TRAIN_H
#define TRELLIS_TRAIN_TRAIN_H

#include "base/pool.h"
#include "base/random.h"
#include "base/ranks.h"
#include "base/state_registry.h"
#include "dataset/dataset.h"
#include "dataset/row_kernels.h"
#include "lattice/lattice.h"
#include "lattice/loss.h"
#include "train/iterate.h"
#include "train/learners.h"
#include "train/progress.h"
#include "train/settings.h"

struct tr_hmm_gaussian;
struct tr_dev_scorer;
struct tr_checkpoint;

/* Where it is read from. */
struct tr_training_sources {
    trellis_source *train, *dev, *unlabelled; // [.. count]
    size_t train_count, dev_count, unlabelled_count;
    const trellis_model *from; // initial weights; NULL: none
    trellis_model *opened;     // the same, where it was opened here
    const char *from_name;     // in messages
    const char *templates;     // their text; NULL: --features
};

/* What is learned from. --select-l1 drops features from it once. */
struct tr_training_data {
    struct tr_dataset train, dev; // dev without sequences: there is none
    struct tr_vocabulary vocabulary;
    struct tr_tag_dictionary tag_dictionary; // of --dictionary; a view of its block
    struct tr_buffer tag_dictionary_block;
    struct trellis_words seen; // in the training data
    trellis_features *features;
    trellis_scheme outside, inside;    // of the labels in the files, and as they are learned
    struct tr_segments *segments;      // with --segments; otherwise NULL
    struct trellis_words segment_keys; // the attributes of gold segments, while data is read
    struct tr_intern type_names;       // the types of gold segments, and
    TR_ARRAY(uint32_t) type_lengths;   // [type_names] the longest of each that features see
    bool labels_known;                 // of the training data, at least one
    size_t arrange_bytes;              // held while the features were laid out, about
    /* Where each rank has its share of the sequences alone (pass.h): */
    bool shared;
    size_t first, end;         // that share
    struct tr_dataset lengths; // of all sequences, without content
    struct tr_range *ranges;   // [files] the bytes it reads, once more; NULL: every rank reads all
};

/* The graph, and where the weights of its features are. The parts of w begin at whole vectors. */
struct tr_layout {
    struct tr_graph_plan plan;
    struct tr_gram *grams;
    uint16_t (*forbidden)[2];
    struct tr_graph *graph;
    const struct tr_row_kernels *kernels;
    size_t node_size, edge_size, step_size; // of the parts of w
    size_t step_begin, size;                // where transition weights begin, and all of w
};

struct tr_training {
    trellis_options *options; // as given, completed by a recipe
    struct tr_settings settings;
    struct tr_training_sources sources;
    struct tr_training_data data;
    struct tr_layout layout;
    struct tr_hmm_gaussian *gaussian; // of --gaussian, NULL where there is none
    struct tr_loss *loss; // that a CRF adds to scores (softmax-margin); NULL where it does not

    struct tr_pool *pool;
    struct tr_ranks ranks; // the processes that train together
    double grid;           // of sums over data (pass.h)
    double square_grid;    // of sums of squared values
    struct tr_random random;
    struct tr_buffer notes; // for the model
    struct tr_report report;

    struct tr_iterate best;           // by the dev score, or the last where there is no dev data
    uint64_t done, since_best;        // iterations
    double smoothed, highest;         // dev scores, see iteration.c
    struct tr_dev_scorer *dev_scorer; // its workspaces, once they are needed

    struct tr_checkpoint *checkpoint;   // NULL where there is none
    struct tr_state_registry *registry; // its registry, where a learner names its state; or NULL
};

/* Whether the learner with its algorithm has one of these abilities. */
static inline bool tr_training_can(const struct tr_training *training, unsigned abilities)
{
    return training->settings.abilities & abilities;
}

/* Ends an iteration: scores the dev data, keeps the iterate where it is the best so far, reports.
 * now->figures holds what the learner knows. *ret_stop says whether to end. */
trellis_status tr_training_iteration(struct tr_training *training, struct tr_iterate *now,
                                     bool *ret_stop, trellis_error *error);
/* Figures of which no more is known than the number of iterations. */
trellis_progress tr_training_figures(const struct tr_training *training);
/* How many weights of features are not 0. */
uint64_t tr_training_active(const struct tr_training *training, const float *weights);
/* Reports from within an iteration; false where the caller wants to stop. */
bool tr_training_tick(struct tr_training *training, const trellis_progress *figures);
/* Whether somebody has cancelled a training of one rank; any thread may ask, often. */
bool tr_training_cancelled(const struct tr_training *training);
/* The same, for a graph or a lattice to ask. */
struct tr_interruption tr_training_interruption(const struct tr_training *training);
/* At the end of an iteration that went as `status` says on this rank: where one has failed, all fail,
 * and where one wants to stop, all are interrupted. `at_once`: nothing else can have failed since they
 * last agreed, so that one message will do. */
trellis_status tr_training_agree_to_stop(struct tr_training *training, trellis_status status,
                                         bool at_once, trellis_error *error);
/* A sentence for the person who waits. */
void tr_training_note(struct tr_training *training, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Since the training began. */
double tr_training_seconds(const struct tr_training *training);

/* Fails where some rank has another number: "rank 2 DIFFERS rank 0". */
trellis_status tr_training_same(struct tr_training *training, uint64_t number, const char *differs,
                                trellis_error *error);

/* Takes the sources that the caller gave, or else the files that the options name. */
trellis_status tr_training_take_sources(struct tr_training *training,
                                        const trellis_options *options,
                                        const trellis_training *given, trellis_error *error);
void tr_training_free_sources(struct tr_training_sources *sources);

/* The templates: as asked for, or the default for the input and the learner. */
trellis_status tr_training_choose_features(struct tr_training *training, trellis_error *error);
/* Chooses templates and schemes, reads the training data and the dev data, and lays out the
 * features. */
trellis_status tr_training_read(struct tr_training *training, trellis_error *error);
/* Whether what the templates have learned of the data before it is read fits into --memory. */
trellis_status tr_training_check_survey(const struct tr_training *training,
                                        const trellis_source *source, trellis_error *error);
/* Whether the ranks share the training data, by the lengths of its sequences. */
bool tr_training_shares(const struct tr_training *training);
/* Before the data is read, where the ranks may share it: finds the lengths of all sequences and the
 * bytes that this rank reads, each rank from a part of the files (ranges.c). Nothing, if they cannot be
 * read in parts, or are not shared. */
trellis_status tr_training_survey_ranges(struct tr_training *training, trellis_error *error);
/* With --segments, before the data is read: chooses the scheme of the labels, and finds the longest
 * segments and the attributes that gold segments have (segment_survey.c). */
trellis_status tr_training_survey_segments(struct tr_training *training, trellis_error *error);
/* And after: which labels make segments. */
trellis_status tr_training_make_segments(struct tr_training *training, trellis_error *error);
/* About what a transition takes of memory, in the graph and with weights applied. */
enum { TR_BYTES_PER_STEP = 40 };
/* Makes the graph and the layout of w, once the data was read. */
trellis_status tr_training_make_layout(struct tr_training *training, trellis_error *error);
/* Whether the labels of the training data can be learned from with that graph. */
trellis_status tr_training_check_labels(const struct tr_training *training, trellis_error *error);
void tr_layout_free(struct tr_layout *layout);
/* Drops every feature whose weight in the best iterate is 0, and forgets that iterate: the next
 * learner starts with what is left (Wu 2013, section 6.2). */
trellis_status tr_training_select(struct tr_training *training, trellis_error *error);
/* The model of the best iterate, with its weights in as many bits as --bits says. The last result of
 * a training takes its graph. */
trellis_status tr_training_result(struct tr_training *training, bool last,
                                  trellis_model **ret_model, trellis_error *error);
/* Fills in initial weights from an earlier model (--from), where there is one: those of features
 * that both have, matched by attribute and label. */
trellis_status tr_training_initial_weights(struct tr_training *training, float *weights,
                                           trellis_error *error);

/* The sequences of the training data, and the first token of each: of all ranks, where they share the
 * data. */
static inline const struct tr_dataset *tr_training_lengths(const struct tr_training *training)
{
    return training->data.shared ? &training->data.lengths : &training->data.train;
}

/* Whether a dataset has edge attributes; where ranks share the data, on any of them. */
bool tr_training_has_edges(const struct tr_training *training, const struct tr_dataset *dataset);
/* The attributes at the tokens of a sequence, or of its segments. */
struct tr_tokens tr_training_tokens(const struct tr_dataset *dataset, enum tr_attribute_kind kind,
                                    size_t sequence);
/* Before sequence order[0] of `count` is read: prefetches the gold labels and node attributes, those
 * in bundles where these are given, of the sequences `ahead` and twice as many later, which may lie
 * anywhere. */
void tr_training_prefetch(const struct tr_dataset *dataset, const struct tr_bundles *bundles,
                          const uint32_t *order, size_t count, size_t ahead);
/* Subtracts 1 from the probabilities [n][max_segment][width] of the gold segments. */
void tr_training_subtract_gold(const struct tr_training *training, const uint16_t *gold, size_t n,
                               float *probabilities);
/* scores[i][label] += the weights of the node attributes of the tokens first, first + 1, ... */
void tr_training_score_nodes(const struct tr_training *training, const struct tr_dataset *dataset,
                             size_t first, const struct tr_tokens *tokens,
                             const struct tr_iterate *iterate, float *scores);
/* Begins the lattice for a sequence of a dataset and fills in its scores under an iterate, from
 * these attributes of its tokens and segments, [TR_ATTRIBUTE_KINDS]; ... */
trellis_status tr_training_score_tokens(const struct tr_training *training,
                                        const struct tr_dataset *dataset, size_t sequence,
                                        const struct tr_tokens *tokens,
                                        const struct tr_iterate *iterate,
                                        struct tr_lattice *lattice, trellis_error *error);
/* ... from all it has; ... */
trellis_status tr_training_fill_scores(const struct tr_training *training,
                                       const struct tr_dataset *dataset, size_t sequence,
                                       const struct tr_iterate *iterate, struct tr_lattice *lattice,
                                       trellis_error *error);
/* ... restricts words of the tag dictionary to their labels; ... */
trellis_status tr_training_restrict_words(const struct tr_training *training,
                                          const struct tr_dataset *dataset, size_t sequence,
                                          struct tr_lattice *lattice, trellis_error *error);
/* ... both. */
trellis_status tr_training_scores(const struct tr_training *training,
                                  const struct tr_dataset *dataset, size_t sequence,
                                  const struct tr_iterate *iterate, struct tr_lattice *lattice,
                                  trellis_error *error);
/* Adds L(gold, Z') to the score of every Z', where the training has a loss. */
void tr_training_add_loss(const struct tr_training *training, size_t sequence,
                          struct tr_lattice *lattice);

/* Restricts the lattice to the labellings consistent with a sequence's partial labels. */
trellis_status tr_constrain_to_partial(const struct tr_dataset *dataset, size_t sequence,
                                       struct tr_lattice *lattice, trellis_error *error);
/* Fails where no labelling of some sequence satisfies its partial labels, the constraints and the
 * tag dictionary. */
trellis_status tr_training_check_partial(const struct tr_training *training, trellis_error *error);

#endif
