/* group.h - sequences of about the same length side by side: log Z, marginals and expected counts.
 *
 * The same sums as those of tr_lattice_forward_backward() and tr_lattice_collect_steps(), in another
 * order, so they differ in their last bits. With few labels they take half the time
 * (group_kernels.h), with many of whose transitions few are listed a fifth (group_lists.h).
 */
#ifndef TRELLIS_LATTICE_GROUP_H
#define TRELLIS_LATTICE_GROUP_H

#include "lattice/lattice.h"

/* The most sequences of a group, and the longest. */
enum { TR_GROUP_MAX = 16, TR_GROUP_LONGEST = 128 };

struct tr_group_member {
    float *row; // [length][width] node scores, which the marginals replace; 32-byte aligned
    size_t length;
    const uint16_t *gold; // [length]
    double loss;          // -log P(gold): log Z less their score
};

/* Whether sequences of this graph that have node scores only can be grouped: it is of the dense kind
 * and its labels are few, or of the sparse kind (group_lists.h). */
bool tr_lattice_can_group(const struct tr_graph *graph);
/* Whether so many sequences take less time in a group than one by one: not where half of the lanes
 * would be empty most of the time, of the sparse kind three quarters. */
bool tr_lattice_group_pays(const struct tr_graph *graph, const struct tr_group_member *member,
                           size_t count);
/* For sequences of at most TR_GROUP_LONGEST positions and at least one, longest first: sets their
 * losses and marginals and collects their expected counts in the lattice, which holds no sequence
 * afterwards. *ret_done is false where single precision is not enough: nothing is collected then, and
 * the rows hold anything. */
trellis_status tr_lattice_group(struct tr_lattice *lattice, const struct tr_steps *steps,
                                struct tr_group_member *member, size_t count, bool *ret_done,
                                trellis_error *error);

#endif
