/* lattice.h - the trellis: a graph unrolled over the positions of a sequence.
 *
 * A path z_1 .. z_n scores
 *
 *     score = start(z_1) + sum_i node[i][label(z_i)] + sum_i step(z_{i-1}, z_i)
 *                        + sum_i edge[i][label(z_{i-1})][label(z_i)] + end(z_n)
 *
 * and log Z is the logarithm of the sum of exp(score) over all paths. The caller fills in node
 * scores (and edge scores where there are any), and requests the best path, log Z and marginals, or
 * the expected counts of step features.
 *
 * A locally normalised model (a maximum-entropy Markov model) makes one decision per position
 * instead: the label at i is chosen, given the state before, with probability
 *
 *     P(z_i | z_{i-1}, X) = exp(s_i(z_{i-1}, z_i)) / N_i(z_{i-1}),   N_i(z') = sum_z exp(s_i(z', z))
 *     s_i(z', z) = node[i][label(z)] + step(z', z) + edge[i][label(z')][label(z)], with end(z) where i = n
 *
 * All transitions out of z' share N_i(z'), so subtracting its logarithm from each of them makes a
 * path score log P(Z | X), and everything below works as for any other scores
 * (tr_lattice_normalise).
 *
 * With segments a path is cut into segments, each of which has a score of its own (segment.h).
 *
 * Two kernels compute the same: the fast one in single precision with scaling, vectorised and
 * chosen for the processor at run time, and the reference in double precision and log space, which
 * is also what the fast one falls back to where a scale under- or overflows.
 */
#ifndef TRELLIS_LATTICE_LATTICE_H
#define TRELLIS_LATTICE_LATTICE_H

#include "graph/graph.h"

/* The steps of a graph with weights applied; shared by threads while it is not being set. */
struct tr_steps;
/* weights [graph->features], NULL for all 0; a weight of minus infinity forbids. */
trellis_status tr_steps_create(const struct tr_graph *graph, const float *weights,
                               struct tr_steps **ret_steps, trellis_error *error);
void tr_steps_destroy(struct tr_steps *steps);
void tr_steps_set(struct tr_steps *steps, const float *weights);
/* Residuals [graph->features]: the exact weights minus their floats. An HMM needs more digits than
 * a float has. Path scores and the reference add them; best paths are found without them. They last
 * until the next tr_steps_set(). */
trellis_status tr_steps_set_residuals(struct tr_steps *steps, const float *residual,
                                      trellis_error *error);
/* For pruned graphs: the weights are scale * weights [graph->features], which are not copied. */
void tr_steps_share(struct tr_steps *steps, const float *weights, double scale);
/* After a few weights changed (perceptron): updates only the steps that fire these features, which
 * tr_steps_index() has listed once, after creation. */
trellis_status tr_steps_index(struct tr_steps *steps, trellis_error *error);
void tr_steps_change(struct tr_steps *steps, uint32_t feature, float weight);

/* A workspace, one per thread; it grows to the longest sequence it has seen. */
struct tr_lattice;
trellis_status tr_lattice_create(const struct tr_graph *graph, struct tr_lattice **ret_lattice,
                                 trellis_error *error);
void tr_lattice_destroy(struct tr_lattice *lattice);
/* Ends log Z in a graph of higher order between two positions, with TRELLIS_INTERRUPTED. Stays until
 * another is given; NULL: nothing ends it. */
void tr_lattice_interrupt_by(struct tr_lattice *lattice,
                             const struct tr_interruption *interruption);
/* Uses the double-precision log-space kernel for everything; for tests. */
void tr_lattice_use_reference(struct tr_lattice *lattice, bool reference);

/* Begins a sequence of `length` positions (0 is allowed): node scores are 0, there are no edge
 * scores and no restrictions. */
trellis_status tr_lattice_begin(struct tr_lattice *lattice, size_t length, trellis_error *error);
/* The node scores [length][width], to be filled in; entries beyond the labels are ignored. */
float *tr_lattice_nodes(struct tr_lattice *lattice);
/* Makes room for residuals of the node scores, all 0; false on allocation failure. Path scores and
 * the reference add them, and log Z is the reference's then. */
bool tr_lattice_make_residuals(struct tr_lattice *lattice);
/* The residuals [length][width], the exact node scores minus their floats, to be filled in. NULL
 * where no room was made. */
float *tr_lattice_residuals(struct tr_lattice *lattice);
/* Makes room for edge scores, all 0; false on allocation failure. */
bool tr_lattice_make_edges(struct tr_lattice *lattice);
/* The edge scores [length][labels][width], to be filled in; [i][a][b] is of the transition from
 * label a at i-1 to label b at i, and row 0 is ignored. NULL where no room was made. */
float *tr_lattice_edges(struct tr_lattice *lattice);
/* Those of a position [labels][width]. */
const float *tr_lattice_edges_of(const struct tr_lattice *lattice, size_t position);
/* With a graph that has segments (graph/segments.h): makes room for their scores, all 0; false on
 * allocation failure. Without it only nodes and transitions have scores. */
bool tr_lattice_make_segments(struct tr_lattice *lattice);
/* The scores [length][max_length][width], to be filled in; [i][d - 1][c] is of the segment of d
 * tokens that ends at i, of the type whose head is c. Longer segments have no score of their own.
 * NULL where no room was made. */
float *tr_lattice_segments(struct tr_lattice *lattice);
/* Scratch for whoever fills them in [2][length][width]. */
float *tr_lattice_segment_parts(struct tr_lattice *lattice);
/* After log Z: the probabilities of those segments, in the same places; may be overwritten. NULL
 * where there are no scores. */
float *tr_lattice_segment_marginals(struct tr_lattice *lattice);
/* Only these labels may stand at the position (forced labels, tag dictionaries, partial labels).
 * An empty set leaves no path. */
trellis_status tr_lattice_restrict(struct tr_lattice *lattice, size_t position,
                                   const uint16_t *labels, size_t count, trellis_error *error);

/* Turns the scores into those of a locally normalised model. Labels ruled out before this call are
 * not part of the decisions; restrictions made later condition on Z. log Z is then 0, or less where
 * restrictions or forbidden transitions make some state a dead end. At most once per sequence. */
trellis_status tr_lattice_normalise(struct tr_lattice *lattice, const struct tr_steps *steps,
                                    trellis_error *error);
/* -log N of the next position for a path in a state at this position: 0 at the last position and
 * where the lattice is not normalised. */
double tr_lattice_normaliser_score(const struct tr_lattice *lattice, size_t position,
                                   uint32_t state);
/* For training such a model: the probabilities of all labels at each position, given the labels
 * [length] before it; the lattice must not be normalised. *ret_loss is -log P(labels | X).
 * Marginals and expected counts are then those of the decisions. TRELLIS_DATA where the labels are
 * forbidden or a score is NaN. */
trellis_status tr_lattice_local_likelihood(struct tr_lattice *lattice, const struct tr_steps *steps,
                                           const uint16_t *labels, double *ret_loss,
                                           trellis_error *error);

/* The best path as labels [length] and its score, in double. Ties between ways to reach a state go
 * to the lowest predecessor, whatever the kernel. Where there is no path at all (all forbidden):
 * TRELLIS_DATA. */
trellis_status tr_lattice_viterbi(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  uint16_t *labels, double *ret_score, trellis_error *error);

/* The score of the path with these labels, minus infinity where it is forbidden. In double. */
double tr_lattice_path_score(const struct tr_lattice *lattice, const struct tr_steps *steps,
                             const uint16_t *labels);

/* log Z; must be called before the functions below, with no Viterbi in between. TRELLIS_DATA where
 * there is no path or a score is NaN; TRELLIS_MEMORY where a sequence needs the reference and
 * memory is too short for it. */
trellis_status tr_lattice_forward_backward(struct tr_lattice *lattice, const struct tr_steps *steps,
                                           double *ret_log_z, trellis_error *error);
/* log of the sum over the paths that have one of these labels at each of these positions, minus
 * infinity where there is none. The scores are unchanged, but log Z must be computed again before
 * anything else. */
struct tr_restriction {
    size_t position;
    const uint16_t *labels; // [count]
    size_t count;
};
trellis_status tr_lattice_restricted_log_z(struct tr_lattice *lattice, const struct tr_steps *steps,
                                           const struct tr_restriction *restrictions, size_t count,
                                           double *ret_log_z, trellis_error *error);
/* P(label at position), [length][width]; entries beyond the labels are 0. NULL where log Z was not
 * computed. */
const float *tr_lattice_node_marginals(const struct tr_lattice *lattice);
/* The same, writable: log Z must be computed again before anything else. */
float *tr_lattice_take_node_marginals(struct tr_lattice *lattice);
/* P(label a at i-1, label b at i), [length][labels][width], row 0 is 0. Computed at each call, so
 * the caller may overwrite them. NULL where log Z was not computed and on allocation failure. */
float *tr_lattice_edge_marginals(struct tr_lattice *lattice, const struct tr_steps *steps);
/* Expected counts of step features. Collecting adds scale * the expected counts of this sequence to
 * sums in double precision inside the lattice; flushing does expected[feature] += those sums and
 * clears them. Many sequences may be collected before a flush, while the steps stay unchanged; this
 * saves a pass over all step features for each. Collecting returns false on allocation failure. */
bool tr_lattice_collect_steps(struct tr_lattice *lattice, const struct tr_steps *steps,
                              double scale);
void tr_lattice_flush_transition_counts(struct tr_lattice *lattice, const struct tr_steps *steps,
                                        float *expected);
/* For training with a pruned graph. Levels 0, 1, ... up to the order are searched in turn, each
 * among the survivors of the one before; if the gold labels do not survive, the last level that has
 * them is used. *ret_loss is -log P(gold) at that level, and so are the marginals and expected
 * counts afterwards. */
trellis_status tr_lattice_pruned_likelihood(struct tr_lattice *lattice,
                                            const struct tr_steps *steps, const uint16_t *gold,
                                            double *ret_loss, trellis_error *error);
/* The level that was reached. At level 0 labels are independent: there are no edge marginals. */
uint32_t tr_lattice_level(const struct tr_lattice *lattice);
/* Collects scale * the counts of the gold labels at that level; false on allocation failure. */
bool tr_lattice_collect_path(struct tr_lattice *lattice, const uint16_t *gold, double scale);
/* The features that were collected and not flushed yet, *ret_count of them. */
const uint32_t *tr_lattice_collected(const struct tr_lattice *lattice, size_t *ret_count);
/* Collects and flushes. */
bool tr_lattice_expect_steps(struct tr_lattice *lattice, const struct tr_steps *steps, double scale,
                             float *expected);
/* Posterior decoding: the most probable label at each position, of equal ones the lowest. */
void tr_lattice_posterior(struct tr_lattice *lattice, uint16_t *labels);

/* Paths drawn from P(Z | X): labels [count][length]; the same random numbers give the same paths.
 * Computed by a forward pass of its own, in double precision: nothing need be asked for before.
 * With a pruned graph, of what survives pruning. TRELLIS_DATA where there is no path or a score is
 * NaN. */
struct tr_random;
trellis_status tr_lattice_sample(struct tr_lattice *lattice, const struct tr_steps *steps,
                                 struct tr_random *random, size_t count, uint16_t *labels,
                                 trellis_error *error);
/* H(Z | X) = log Z - E[score], in nats; as for samples. */
trellis_status tr_lattice_entropy(struct tr_lattice *lattice, const struct tr_steps *steps,
                                  double *ret_entropy, trellis_error *error);

/* The m best paths in order of falling score: labels [m][length] and scores [m], which are exactly
 * those of tr_lattice_path_score(); *ret_count of them, fewer than m where there are fewer. The
 * order of equally good ones is the same on every run and with every kernel. TRELLIS_DATA where
 * there is no path. */
trellis_status tr_lattice_nbest(struct tr_lattice *lattice, const struct tr_steps *steps, size_t m,
                                uint16_t *labels, double *scores, size_t *ret_count,
                                trellis_error *error);

/* Beam search: the best path found while only the `width` best states of each position are followed
 * (at least 1), as labels [length] and its score. Exact if the width is the number of states. Where
 * no complete path survives, the width is doubled and the search repeated, so a path is found
 * wherever there is one; where there is none: TRELLIS_DATA. */
trellis_status tr_lattice_beam(struct tr_lattice *lattice, const struct tr_steps *steps,
                               size_t width, uint16_t *labels, double *ret_score,
                               trellis_error *error);
/* The violation to update on when beam search does not find the gold labels (Huang, Fayong, Guo
 * 2012): the first *ret_prefix labels of a path of the beam, which score at least as much as those
 * of gold (with the end's score for a full path). Early: at the first position where the state of
 * gold is not kept, or at the end. Otherwise the prefix with the largest violation, the longest of
 * equal ones. labels [length] are gold after the prefix; all are gold, with the length as the
 * prefix, where the search finds gold. The beam is not widened. */
trellis_status tr_lattice_beam_violation(struct tr_lattice *lattice, const struct tr_steps *steps,
                                         size_t width, bool early, const uint16_t *gold,
                                         uint16_t *labels, size_t *ret_prefix,
                                         trellis_error *error);

#endif
