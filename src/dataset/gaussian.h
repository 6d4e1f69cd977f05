/* gaussian.h - real-valued columns that a label emits by normal distributions.
 *
 *     log N(x; mean, variance) = -1/2 sum_d ( log(2 pi variance_d) + (x_d - mean_d)^2 / variance_d )
 *
 * Each label has a mean and a variance for each column, and columns are independent given the label (a
 * diagonal covariance). The score is linear in x^2, x and 1, and so it is one more part of w . Phi(X, Z); but
 * it is computed from means and variances, in double precision, because the three terms cancel.
 *
 * The distributions of a model are one block of bytes that is used where it lies:
 *
 *     u32 labels, u32 columns, u32 bytes of the names, u32 zero
 *     f64 mean [labels][columns], f64 variance [labels][columns]
 *     the names of the columns, separated by commas, ended by a zero byte
 */
#ifndef TRELLIS_DATASET_GAUSSIAN_H
#define TRELLIS_DATASET_GAUSSIAN_H

#include "base/text.h"

#define TR_MAX_REALS 4096 // columns

/* All zero: there are none. */
struct tr_gaussian {
    uint32_t labels, columns;
    const double *mean, *variance; // [labels][columns]
    const char *names;             // "x,y" or "2,3"
};

/* Looks into a block aligned to 8 bytes, which must stay; nothing in it is trusted. False where it is not
 * for so many labels, or some number is not finite or no variance. */
bool tr_gaussian_read(const void *data, size_t size, uint32_t label_count,
                      struct tr_gaussian *ret_gaussian);
/* Appends the block. */
void tr_gaussian_write(const struct tr_gaussian *gaussian, struct tr_buffer *block);

/* scores[i][c] += log N(x_i) under label c; x [n][columns], scores [n][stride]. Never NaN, and never so low
 * that a path through it is lost. `low`, which may be NULL, is what the floats leave over. */
void tr_gaussian_score(const struct tr_gaussian *gaussian, const double *x, size_t n, float *scores,
                       float *low, size_t stride);

/* log N(x) of one column under a label, as it is part of the score. */
double tr_gaussian_log(const struct tr_gaussian *gaussian, size_t label, size_t column, double x);
/* The name of a column. */
trellis_text tr_gaussian_name(const struct tr_gaussian *gaussian, size_t column);

/* How many columns are named in a list: 0 for an empty one. */
size_t tr_gaussian_count(const char *names);
/* Which columns of an input they are, by name or by number from 1, into columns [tr_gaussian_count()].
 * None may be the label. `reader` may be NULL. */
trellis_status tr_gaussian_bind(const char *names, const trellis_reader *reader,
                                size_t label_column, size_t *columns, trellis_error *error);
/* The numbers of a sequence, into x [length][count]. `file` is for messages and may be NULL. */
trellis_status tr_gaussian_take(const trellis_sequence *sequence, const char *file,
                                const size_t *columns, size_t count, double *x,
                                trellis_error *error);

#endif
