/* hmm_gaussian.h - learning the normal distributions that labels emit real-valued columns by.
 *
 * From the moments of what a label emits, counted or expected,
 *
 *     n_c = sum r_i(c),   mean = sum r_i(c) x_i / n_c,   variance = sum r_i(c) (x_i - mean)^2 / n_c
 *
 * where r_i(c) is 1 for the label of a token, or its probability. No variance is smaller than a
 * share of that of the whole column (--variance-floor), so that the distribution of a label that
 * emits one point only does not collapse.
 */
#ifndef TRELLIS_TRAIN_HMM_GAUSSIAN_H
#define TRELLIS_TRAIN_HMM_GAUSSIAN_H

#include <float.h>

#include "dataset/gaussian.h"
#include "train/train.h"

/* Bounds of a variance, such that its logarithm and inverse are finite. */
#define TR_MIN_VARIANCE 1e-300
#define TR_MAX_VARIANCE (DBL_MAX / 4)

/* What is known of the columns before learning. The distributions themselves are the `emissions` of
 * an iterate (iterate.h), [2][labels][columns]: means, then variances. */
struct tr_hmm_gaussian {
    uint32_t labels, columns;
    const char *names;       // of the columns
    double *centre, *spread; // [columns] mean and variance of all data
    double *floor;           // [columns] the least variance
    size_t moment_count;     // labels * (1 + 2 * columns)
};

/* For the data of the training; *ret_gaussian is NULL where --gaussian names no column. */
trellis_status tr_hmm_gaussian_create(const struct tr_training *training,
                                      struct tr_hmm_gaussian **ret_gaussian, trellis_error *error);
void tr_hmm_gaussian_destroy(struct tr_hmm_gaussian *gaussian);

/* Doubles of the emissions of an iterate. */
size_t tr_hmm_gaussian_size(const struct tr_hmm_gaussian *gaussian);
/* All labels with the mean and variance of the whole. */
void tr_hmm_gaussian_begin(const struct tr_hmm_gaussian *gaussian, double *emissions);
/* Emissions as the model has them. */
struct tr_gaussian tr_hmm_gaussian_view(const struct tr_hmm_gaussian *gaussian,
                                        const double *emissions);

/* moments [moment_count] += those of x [n][columns]: each token with probabilities p [n][width], or
 * with its label, times a weight. */
void tr_hmm_gaussian_expect(const struct tr_hmm_gaussian *gaussian, const double *x, size_t n,
                            const float *p, size_t width, double weight, double *moments);
void tr_hmm_gaussian_count(const struct tr_hmm_gaussian *gaussian, const double *x, size_t n,
                           const uint16_t *labels, double weight, double *moments);
/* From moments to distributions; a label that emits nothing keeps what it has. */
void tr_hmm_gaussian_estimate(const struct tr_hmm_gaussian *gaussian, const double *moments,
                              double *emissions);

/* Those of the sequences whose labels are all known. */
trellis_status tr_hmm_gaussian_learn(const struct tr_hmm_gaussian *gaussian,
                                     const struct tr_dataset *data, double *emissions,
                                     trellis_error *error);
/* Those of the model of --from, for the labels that it has too. */
trellis_status tr_hmm_gaussian_from(const struct tr_hmm_gaussian *gaussian,
                                    const struct tr_training *training, double *emissions,
                                    trellis_error *error);

/* Labels [tokens] by k-means from a random start: the nearest of as many centres, in units of the
 * columns' deviations. */
trellis_status tr_hmm_gaussian_cluster(const struct tr_hmm_gaussian *gaussian,
                                       const struct tr_dataset *data, struct tr_random *random,
                                       uint16_t *labels, trellis_error *error);

#endif
