/* lattice.h - the trellis: a graph unrolled over the positions of a sequence.
 *
 * A path z_1 .. z_n scores
 *
 *     score = start(z_1) + sum_i node[i][label(z_i)] + sum_i step(z_{i-1}, z_i)
 *                        + sum_i edge[i][label(z_{i-1})][label(z_i)] + end(z_n)
 *
 * and log Z is the logarithm of the sum of exp(score) over all paths. The caller fills in node scores
 * (and edge scores where there are any), and asks for the best path, for log Z and marginals, or for
 * the expected counts of step features.
 *
 * A locally normalised model (a maximum-entropy Markov model) is made of decisions instead: the label at i
 * is chosen with a probability of its own among those that may follow the state before,
 *
 *     P(z_i | z_{i-1}, X) = exp(s_i(z_{i-1}, z_i)) / N_i(z_{i-1}),   N_i(z') = sum_z exp(s_i(z', z))
 *     s_i(z', z) = node[i][label(z)] + step(z', z) + edge[i][label(z')][label(z)], with end(z) where i = n
 *
 * All ways out of z' share N_i(z'), so subtracting its logarithm where z' is left makes a path score
 * log P(Z | X), and everything below works as it does for any other scores (tr_lattice_normalise).
 *
 * Two kernels compute the same: the fast one in single precision with scaling, vectorised and chosen
 * for the processor at run time, and the reference in double precision and log space, which is also
 * what the fast one falls back to where a scale under- or overflows.
 */
#ifndef TRELLIS_LATTICE_LATTICE_H
#define TRELLIS_LATTICE_LATTICE_H

#include "graph/graph.h"

/* The steps of a graph with weights applied; shared by threads while it is not being set. */
struct tr_steps;
trellis_status tr_steps_create(const struct tr_graph *graph, struct tr_steps **ret_steps,
                               trellis_error *error);
void tr_steps_destroy(struct tr_steps *steps);
/* weights [graph->features], NULL for all 0, as after creation; a weight of minus infinity forbids. */
void tr_steps_set(struct tr_steps *steps, const float *weights);
/* Residuals [graph->features]: what the floats of the weights lack of the exact ones. An HMM needs more
 * digits than a float has. Path scores and the reference add them; best paths are found without them. They
 * last until the next tr_steps_set(). */
trellis_status tr_steps_set_residuals(struct tr_steps *steps, const float *residual,
                                      trellis_error *error);
/* For pruned graphs: the weights are scale * weights [graph->features], which are not copied. */
void tr_steps_share(struct tr_steps *steps, const float *weights, double scale);
/* After a few weights changed (perceptron): costs what the steps that fire the feature cost. */
void tr_steps_change(struct tr_steps *steps, uint32_t feature, float weight);

/* A workspace, one per thread; it grows to the longest sequence it has seen. */
struct tr_lattice;
trellis_status tr_lattice_create(const struct tr_graph *graph, struct tr_lattice **ret_lattice,
                                 trellis_error *error);
void tr_lattice_destroy(struct tr_lattice *lattice);
/* Uses the double-precision log-space kernel for everything; for tests and for checking. */
void tr_lattice_use_reference(struct tr_lattice *lattice, bool reference);

/* Begins a sequence of `length` positions (0 is allowed): node scores are 0, there are no edge scores
 * and no restrictions. */
trellis_status tr_lattice_begin(struct tr_lattice *lattice, size_t length, trellis_error *error);
/* The node scores [length][width], to be filled in; entries beyond the labels are ignored. */
float *tr_lattice_nodes(struct tr_lattice *lattice);
/* Makes room for residuals of the node scores, all 0; false on allocation failure. Path scores and the
 * reference add them, and log Z is the reference's then. */
bool tr_lattice_make_residuals(struct tr_lattice *lattice);
/* The residuals [length][width], what the floats of the node scores lack of the exact ones; to be filled
 * in. NULL where no room was made. */
float *tr_lattice_residuals(struct tr_lattice *lattice);
/* Makes room for edge scores, all 0; false on allocation failure. */
bool tr_lattice_make_edges(struct tr_lattice *lattice);
/* The edge scores [length][labels][width], to be filled in; [i][a][b] is of the transition from label a at
 * i-1 to label b at i, and row 0 is ignored. NULL where no room was made. */
float *tr_lattice_edges(struct tr_lattice *lattice);
/* Those of a position [labels][width]. */
const float *tr_lattice_edges_of(const struct tr_lattice *lattice, size_t position);
/* Only these labels may stand at the position (forced labels, tag dictionaries, partial labels).
 * An empty set leaves no path. */
trellis_status tr_lattice_restrict(struct tr_lattice *lattice, size_t position,
                                   const uint16_t *labels, size_t count, trellis_error *error);

/* Makes a locally normalised model of the scores: labels that may not stand at a position so far, because
 * they are restricted, are no part of the decisions; restricting more later is to learn something about Z.
 * log Z is 0 then, or less where a restriction or prohibition leaves some state no way on. Once for a
 * sequence. */
trellis_status tr_lattice_normalise(struct tr_lattice *lattice, const struct tr_steps *steps,
                                    trellis_error *error);
/* What a path that is in a state at a position scores by going on: -log N of the position behind, 0 at the
 * last one and where the lattice is not normalised. */
double tr_lattice_normaliser_score(const struct tr_lattice *lattice, size_t position,
                                   uint32_t state);
/* For learning such a model: the probabilities of all labels at each position, with the labels before it as
 * they are given [length]; not to be normalised before. *ret_loss is -log P(labels | X). Marginals and
 * expected counts may be asked for afterwards, and are those of the decisions. TRELLIS_DATA where
 * the labels are forbidden or a score is NaN. */
trellis_status tr_lattice_local_likelihood(struct tr_lattice *lattice, const struct tr_steps *steps,
                                           const uint16_t *labels, double *ret_loss,
                                           trellis_error *error);

/* The best path as labels [length] and its score, in double. Of equally good ways to reach a state the
 * one from the lowest state is taken, whatever the kernel. Where there is no path at all (all
 * forbidden): TRELLIS_DATA. */
trellis_status tr_lattice_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  uint16_t *labels, double *ret_score, trellis_error *error);

/* The score of the path with these labels, minus infinity where it is forbidden. In double. */
double tr_lattice_path_score(const struct tr_lattice *lattice, const struct tr_steps *steps,
                             const uint16_t *labels);

/* log Z; needed before what follows, with no Viterbi in between. TRELLIS_DATA where there is no path or
 * a score is NaN. Where memory is too short for the reference that a difficult sequence needs:
 * TRELLIS_MEMORY. */
trellis_status tr_lattice_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                           double *ret_log_z, trellis_error *error);
/* log of the sum over the paths that have one of these labels at each of these positions, minus infinity
 * where there is none; the lattice is then as before, but log Z must be asked for again before anything
 * else is. */
struct tr_restriction {
    size_t position;
    const uint16_t *labels; // [count]
    size_t count;
};
trellis_status tr_lattice_restricted_log_z(struct tr_lattice *lattice, const struct tr_steps *steps,
                                           const struct tr_restriction *restrictions, size_t count,
                                           double *ret_log_z, trellis_error *error);
/* P(label at position), [length][width]; entries beyond the labels are 0. NULL where log Z was not asked
 * for. */
const float *tr_lattice_node_marginals(const struct tr_lattice *lattice);
/* The same for a caller that overwrites them: log Z must be asked for again before anything else is. */
float *tr_lattice_take_node_marginals(struct tr_lattice *lattice);
/* P(label a at i-1, label b at i), [length][labels][width], row 0 is 0. Computed at each call, so that the
 * caller may overwrite them. NULL where log Z was not asked for and on allocation failure. */
float *tr_lattice_edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps);
/* Expected counts of step features. Collecting adds scale * the expected counts of this sequence to sums
 * in double precision inside the lattice; handing over does expected[feature] += those sums and clears
 * them. Many sequences may be collected before they are handed over, with the same steps, unchanged;
 * which saves a pass over all step features for each. Collecting returns false on allocation failure. */
bool tr_lattice_collect_steps(struct tr_lattice *lattice, const struct tr_steps *steps,
                              double scale);
void tr_lattice_flush_transition_counts(struct tr_lattice *lattice, const struct tr_steps *steps,
                                        float *expected);
/* For learning with a pruned graph. Levels 0, 1, ... up to the order are searched one after the other, each
 * among what survived the one before; where the gold labels do not survive, the level that still has them
 * is the last. *ret_loss is -log P(gold) there, and marginals and expected counts may be asked for
 * afterwards, as of any forward and backward. */
trellis_status tr_lattice_pruned_likelihood(struct tr_lattice *lattice,
                                            const struct tr_steps *steps, const uint16_t *gold,
                                            double *ret_loss, trellis_error *error);
/* The level that was reached. At level 0 labels are independent: there are no edge marginals. */
uint32_t tr_lattice_level(const struct tr_lattice *lattice);
/* Collects scale * the counts of the gold labels at that level; false on allocation failure. */
bool tr_lattice_collect_path(struct tr_lattice *lattice, const uint16_t *gold, double scale);
/* The features that were collected and not handed over yet, *ret_count of them. */
const uint32_t *tr_lattice_collected(const struct tr_lattice *lattice, size_t *ret_count);
/* The one and then the other. */
bool tr_lattice_expect_steps(struct tr_lattice *lattice, const struct tr_steps *steps, double scale,
                             float *expected);
/* Posterior decoding: the most probable label at each position, of equal ones the lowest. */
void tr_lattice_posterior(struct tr_lattice *lattice, uint16_t *labels);

/* The m best paths in order of falling score: labels [m][length] and scores [m], which are exactly those
 * of tr_lattice_path_score(); *ret_count of them, fewer than m where there are fewer. The order of equally
 * good ones is the same on every run and with every kernel. TRELLIS_DATA where there is no path. */
trellis_status tr_lattice_nbest(struct tr_lattice *lattice, const struct tr_steps *steps, size_t m,
                                uint16_t *labels, double *scores, size_t *ret_count,
                                trellis_error *error);

/* The best path that is found while only the `width` best states of each position are followed (at least
 * 1), as labels [length] and its score. As many as there are states, and it is the best path of all. Where
 * no complete path survives the beam is doubled and the search repeated, so a path is found wherever
 * there is one; where there is none: TRELLIS_DATA. */
trellis_status tr_lattice_beam(struct tr_lattice *lattice, const struct tr_steps *steps,
                               size_t width, uint16_t *labels, double *ret_score,
                               trellis_error *error);
/* What to learn from when such a search is to find gold labels and does not (Huang, Fayong, Guo 2012): the
 * first *ret_prefix labels of a path of the beam, which score at least what those of gold score, with the
 * end where they are all. Early: at the first position where the state of gold is not kept, or at the end.
 * Otherwise the prefix with the largest violation, the longest of equal ones. Behind them labels [length]
 * are gold; and all of them are, with the length as the prefix, where the search finds gold. The beam is not
 * widened. */
trellis_status tr_lattice_beam_violation(struct tr_lattice *lattice, const struct tr_steps *steps,
                                         size_t width, bool early, const uint16_t *gold,
                                         uint16_t *labels, size_t *ret_prefix,
                                         trellis_error *error);

#endif
