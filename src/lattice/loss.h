/* loss.h - the loss of a labelling, as a sum over positions.
 *
 *     L(Z, Z') = sum_i cost_i(z_i, z'_i),          cost_i(c, c) = 0
 *
 *     Hamming       cost_i(c, d) = 1
 *     --cost        cost_i(c, d) as listed in a file, 1 where it is not
 *     --span-loss   times X where it breaks a span: i lies beside a boundary of a gold span, or d
 *                   begins
 *                   a span of its own
 *
 * Because it is a sum over positions, the labelling with the largest score + loss is found by
 * Viterbi with the costs added to the node scores (loss-augmented decoding).
 */
#ifndef TRELLIS_LATTICE_LOSS_H
#define TRELLIS_LATTICE_LOSS_H

#include "base/intern.h"
#include "base/options.h"

struct tr_loss;

/* As --cost and --span-loss say, for the first `count` of the labels. */
trellis_status tr_loss_create(const trellis_options *options, const struct tr_intern *labels,
                              uint32_t count, struct tr_loss **ret_loss, trellis_error *error);
void tr_loss_destroy(struct tr_loss *loss);

/* cost_i(gold[i], predicted) for a sequence of n labels. */
double tr_loss_at(const struct tr_loss *loss, const uint16_t *gold, size_t n, size_t i,
                  uint16_t predicted);
/* L(gold, predicted). */
double tr_loss_of(const struct tr_loss *loss, const uint16_t *gold, const uint16_t *predicted,
                  size_t n);
/* scores[i * stride + d] += scale * cost_i(gold[i], d) for all positions and labels. */
void tr_loss_augment(const struct tr_loss *loss, const uint16_t *gold, size_t n, double scale,
                     float *scores, size_t stride);
/* The label d with the lowest risk[d] = sum_c p[c] cost(c, d), the first of equal ones, among those
 * with p[d] > 0 (others are not allowed). `p` is a distribution over the labels; `risk` [labels] is
 * filled in. The span loss is left out, as the gold spans are not known. */
uint16_t tr_loss_least_risk(const struct tr_loss *loss, const float *p, double *risk);

#endif
