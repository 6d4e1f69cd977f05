/* group_kernels.h - forward and backward for a group of sequences side by side, one in each lane.
 *
 * With few labels a row of the trellis fills its vectors badly, and each position waits for the sums of
 * the one before. Sequences of about the same length that take a lane each fill all of them, sums over
 * labels need no sums across a vector, and rows of matrices are read once for the whole group. It is
 * forward_backward.c, whose letters these are, with lanes k:
 *
 *   alpha_i(b)[k] = psi_i(b)[k] / s_{i-1}[k] * sum_a alpha_{i-1}(a)[k] M(a,b)      and so on
 *
 * Written once, in group_kernels_body.h, and compiled for the same instruction sets as base/kernels.h,
 * for AVX-512 with whole registers. Those for AVX2 and AVX-512 agree to the last bit.
 */
#ifndef TRELLIS_LATTICE_GROUP_KERNELS_H
#define TRELLIS_LATTICE_GROUP_KERNELS_H

#include "base/kernels.h"
#include "lattice/group_lists.h"

enum { TR_WIDEST_OF_GROUP = 32 };

/* The sequences of a group, longest first. A lane without one has the length 0. Labels are in the order
 * of their places, where there are lists. */
struct tr_group_lanes {
    size_t positions; // of the longest
    size_t length[TR_LANES_OF_GROUP];
    float *row[TR_LANES_OF_GROUP];      // [length][width] node scores, by label
    size_t labels, width;               // width = tr_padded(labels)
    const float *start, *end;           // [labels] scores
    const float *offset;                // [labels] scores from the second position on; NULL: 0
    const float *factor;                // [labels][width] M by (from, to)
    const float *factor_by_to;          // [labels][width] M by (to, from)
    const struct tr_group_lists *lists; // instead of factor and factor_by_to; otherwise NULL
    float *alpha;                       // [positions][labels][TR_LANES_OF_GROUP]
    float *to;                          // [positions][labels][TR_LANES_OF_GROUP] first psi
    float *inverse;                     // [positions][TR_LANES_OF_GROUP] 1 / s, 0 behind the end
    float *scratch;                     // [2][width][TR_LANES_OF_GROUP]
    float *no_row;                      // [width] zeros; written to by backward()
    float *counted; // [into.begin[labels]][4] zeros; backward() adds sums over every fourth lane of
                    // alpha_{i-1}(from) to_i(to) for each transition in a list
};

struct tr_group_kernels {
    /* Sets alpha, to and inverse; sums[k] = the sum of the m_i of sequence k. */
    void (*forward)(const struct tr_group_lanes *group, double *sums);
    /* After that: marginals in the place of node scores, with 0 after the labels, and `to`. Returns the
     * largest sum of a beta, NaN where one is. */
    float (*backward)(const struct tr_group_lanes *group);
    /* After that: sum[to][from] += sum_i,k alpha_{i-1}(from)[k] to_i(to)[k] for the first `labels`
     * labels; sum [labels][width] */
    void (*count)(const struct tr_group_lanes *group, size_t labels, double *sum, size_t width);
};

/* Those for the same instruction set as other kernels. */
const struct tr_group_kernels *tr_group_kernels_like(const struct tr_kernels *kernels);

extern const struct tr_group_kernels tr_group_kernels_baseline;
#if defined(__x86_64__)
extern const struct tr_group_kernels tr_group_kernels_avx2;
extern const struct tr_group_kernels tr_group_kernels_avx512;
#endif

#endif
