/* dropout.h - attributes left out at random, so that no weight can rely on another. */
#ifndef TRELLIS_TRAIN_DROPOUT_H
#define TRELLIS_TRAIN_DROPOUT_H

#include "base/memory.h"
#include "base/random.h"
#include "dataset/row_kernels.h"

/* Room for what is left of the attributes of a sequence. */
struct tr_dropout {
    TR_ARRAY(uint32_t) begin;
    TR_ARRAY(uint32_t) attribute;
    TR_ARRAY(float) value;
};

/* Leaves out each attribute with probability p < 1. `ret_kept` points into `dropout` until the next
 * call; false on allocation failure. */
bool tr_dropout_thin(struct tr_dropout *dropout, const struct tr_tokens *all, double p,
                     struct tr_random *random, struct tr_tokens *ret_kept);
void tr_dropout_free(struct tr_dropout *dropout);

#endif
