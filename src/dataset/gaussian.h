/* gaussian.h - real-valued columns that labels emit by normal distributions.
 *
 *     log N(x; mean, variance) = -1/2 sum_d ( log(2 pi variance_d) + (x_d - mean_d)^2 / variance_d )
 *
 * Each label has a mean and a variance for each column, and columns are independent given the label
 * (a diagonal covariance). The score is linear in x^2, x and 1, and so it is one more term of w .
 * Phi(X, Z); but it is computed from means and variances, in double precision, because the three
 * parts cancel.
 *
 * The distributions of a model are one block of bytes that is used in place:
 *
 *     u32 labels, u32 columns, u32 bytes of the names, u32 zero
 *     f64 mean [labels][columns], f64 variance [labels][columns]
 *     the names of the columns, separated by commas, with a terminating zero byte
 */
#ifndef TRELLIS_DATASET_GAUSSIAN_H
#define TRELLIS_DATASET_GAUSSIAN_H

#include "base/text.h"

#define TR_MAX_REALS 4096 // columns

/* All zero: no distributions. */
struct tr_gaussian {
    uint32_t labels, columns;
    const double *mean, *variance; // [labels][columns]
    const char *names;             // "x,y" or "2,3"
};

/* Makes a view of a block, which must be aligned to 8 bytes and outlive the view; nothing in it is
 * trusted. False if it is not for `label_count` labels, or a number is not valid. */
bool tr_gaussian_read(const void *data, size_t size, uint32_t label_count,
                      struct tr_gaussian *ret_gaussian);
/* Appends the block. */
void tr_gaussian_write(const struct tr_gaussian *gaussian, struct tr_buffer *block);

/* scores[i][c] += log N(x_i) under label c; x [n][columns], scores [n][stride]. Never NaN, and
 * never so low that a path through it is lost. `residual` [n][stride], which may be NULL, takes
 * what rounding to floats loses. */
void tr_gaussian_score(const struct tr_gaussian *gaussian, const double *x, size_t n, float *scores,
                       float *residual, size_t stride);

/* log N(x) of one column under a label, as it is part of the score. */
double tr_gaussian_log(const struct tr_gaussian *gaussian, size_t label, size_t column, double x);
/* The name of a column. */
trellis_text tr_gaussian_name(const struct tr_gaussian *gaussian, size_t column);

/* How many columns are named in a list: 0 for an empty one. */
size_t tr_gaussian_count(const char *names);
/* Which columns of an input they are, by name or by number from 1, into columns
 * [tr_gaussian_count()]. None may be the label. `reader` may be NULL. */
trellis_status tr_gaussian_bind(const char *names, const trellis_reader *reader,
                                size_t label_column, size_t *columns, trellis_error *error);
/* The numbers of a sequence, into x [length][count]. `file` is for messages and may be NULL. */
trellis_status tr_gaussian_take(const trellis_sequence *sequence, const char *file,
                                const size_t *columns, size_t count, double *x,
                                trellis_error *error);

#endif
