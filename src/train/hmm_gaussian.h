/* hmm_gaussian.h - learning the normal distributions that labels emit real-valued columns by.
 *
 * From the moments of what a label emits, counted or expected,
 *
 *     n_c = sum r_i(c),   mean = sum r_i(c) x_i / n_c,   variance = sum r_i(c) (x_i - mean)^2 / n_c
 *
 * where r_i(c) is 1 for the label of a token, or its probability. No variance is smaller than a share of
 * that of the whole column (--variance-floor), so that a label that emits one point only does not become
 * infinitely sure of it.
 */
#ifndef TRELLIS_TRAIN_HMM_GAUSSIAN_H
#define TRELLIS_TRAIN_HMM_GAUSSIAN_H

#include "dataset/gaussian.h"
#include "train/train.h"

struct tr_hmm_gaussian {
    uint32_t labels, columns;
    const char *names;       // of the columns
    double *mean, *variance; // [labels][columns] at present
    double *best; // [2][labels][columns] those of the best iterate: means, then variances
    double *centre, *spread; // [columns] mean and variance of all data
    double *floor;           // [columns] the least variance
    size_t moment_count;     // labels * (1 + 2 * columns)
};

/* For the data of the training; *ret_normals is NULL where --gaussian names no column. All labels begin with
 * the mean and variance of the whole. */
trellis_status tr_hmm_gaussian_create(const struct tr_training *training,
                                      struct tr_hmm_gaussian **ret_normals, trellis_error *error);
void tr_hmm_gaussian_destroy(struct tr_hmm_gaussian *emissions);

/* The distributions at present, and those of the best iterate, which are the present ones when kept. */
struct tr_gaussian tr_hmm_gaussian_now(const struct tr_hmm_gaussian *emissions);
struct tr_gaussian tr_hmm_gaussian_best(const struct tr_hmm_gaussian *emissions);
void tr_hmm_gaussian_keep(struct tr_hmm_gaussian *emissions);
/* Names distributions, laid out like `best`, to a registry: their means and variances. */
void tr_hmm_gaussian_name(const struct tr_hmm_gaussian *emissions, double *both,
                          struct tr_state_registry *registry, const char *mean,
                          const char *variance);

/* moments [moment_count] += those of x [n][columns]: each token with probabilities p [n][width], or with its
 * label, times a weight. */
void tr_hmm_gaussian_expect(const struct tr_hmm_gaussian *emissions, const double *x, size_t n,
                            const float *p, size_t width, double weight, double *moments);
void tr_hmm_gaussian_count(const struct tr_hmm_gaussian *emissions, const double *x, size_t n,
                           const uint16_t *labels, double weight, double *moments);
/* From moments to distributions; a label that emits nothing keeps what it has. */
void tr_hmm_gaussian_estimate(struct tr_hmm_gaussian *emissions, const double *moments);

/* Those of the sequences whose labels are all known. */
trellis_status tr_hmm_gaussian_learn(struct tr_hmm_gaussian *emissions,
                                     const struct tr_dataset *data, trellis_error *error);
/* Those of a model, for the labels that it has too. */
trellis_status tr_hmm_gaussian_from(struct tr_hmm_gaussian *emissions,
                                    const struct tr_training *training, trellis_error *error);

/* Labels [tokens] by k-means from a random start: the nearest of as many centres, in units of the columns'
 * deviations. */
trellis_status tr_hmm_gaussian_cluster(const struct tr_hmm_gaussian *emissions,
                                       const struct tr_dataset *data, struct tr_random *random,
                                       uint16_t *labels, trellis_error *error);

#endif
