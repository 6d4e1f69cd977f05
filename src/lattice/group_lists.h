/* group_lists.h - the transitions of a sparse graph, laid out for groups of sequences.
 *
 * With M(a,b) = 1 for a transition that is not listed,
 *
 *   sum_a row(a) M(a,b) = sum_a row(a) + sum over listed a of row(a) (M(a,b) - 1)
 *
 * so that a listed transition takes one multiplication for all lanes (group_lists_body.h). The sum
 * cancels where nearly all of the row has small factors: mostly where that is a frequent label. Labels
 * with many listed transitions are therefore numbered first, in `place`, and transitions among them
 * are a matrix whose products are added up as they are; its size is the one that also takes the
 * fewest multiplications. Where sums cancel all the same they are added up again term by term.
 */
#ifndef TRELLIS_LATTICE_GROUP_LISTS_H
#define TRELLIS_LATTICE_GROUP_LISTS_H

#include "graph/graph.h"

/* The most labels of such a graph, and of those in the matrix; the lanes of a group. */
enum { TR_GROUP_LABELS = 1024, TR_GROUP_MATRIX = 128, TR_LANES_OF_GROUP = 16 };

/* Sums over one end of the transitions: `into` is the place that is summed into, `other` the place at
 * the other end. */
struct tr_group_sums {
    uint32_t *order; // [labels] the places into: those of the matrix first, then by length of list
    uint32_t *begin; // [labels + 1] into `other`: the list of order[k], a multiple of four
    uint32_t *other; // [begin[labels]] TR_LANES_OF_GROUP times it, ascending in a list, then 0s
    float *factor;   // [begin[labels]] M, 1 where padded
    float *less;     // [begin[labels]] M - 1
    float *matrix;   // [dense][dense] M by (other, into)
    uint32_t *at;    // [step_count] the transition in the matrix or, dense^2 higher, in the list
};

struct tr_group_lists {
    uint32_t labels, dense; // dense: a multiple of eight
    uint32_t *place;        // [width] of each label; what follows the labels stays there
    struct tr_group_sums into, out_of;
};

/* False on allocation failure. Of more than TR_GROUP_LABELS labels there are no lists: labels is 0. */
bool tr_group_lists_make(struct tr_group_lists *lists, const struct tr_graph *graph);
void tr_group_lists_free(struct tr_group_lists *lists);
/* Sets the factor of a listed transition that is not from the start. */
void tr_group_lists_set(struct tr_group_lists *lists, uint32_t step, float factor);

#endif
