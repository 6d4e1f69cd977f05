/* hmm_gaussian.c - learning the normal distributions that labels emit real-valued columns by.
 *
 * Moments are taken about the mean of the whole column, in double precision: of a column such as
 * the time since 1970 the squares themselves would not fit.
 */
#include "train/hmm_gaussian.h"

#include <float.h>
#include <math.h>

#include "model/model.h"
#include "train/pass.h"

/* ---- the data as a whole --------------------------------------------------------------------- */

/* Mean and variance of each column, each token alike. */
static void compute_spread(struct tr_hmm_gaussian *gaussian, const struct tr_dataset *data)
{
    size_t columns = gaussian->columns;
    double tokens = (double)data->tokens;
    for (size_t t = 0; t < data->tokens; t++) {
        for (size_t d = 0; d < columns; d++) {
            gaussian->centre[d] += data->real.at[t * columns + d] / tokens;
        }
    }
    for (size_t t = 0; t < data->tokens; t++) {
        for (size_t d = 0; d < columns; d++) {
            double distance = data->real.at[t * columns + d] - gaussian->centre[d];
            gaussian->spread[d] += fmin(distance * distance / tokens, DBL_MAX / 8 / tokens);
        }
    }
}

/* The floor is a share of the variance, and above 0 for a constant column too. */
static void set_floors(struct tr_hmm_gaussian *gaussian, double share)
{
    for (size_t d = 0; d < gaussian->columns; d++) {
        double centre = gaussian->centre[d];
        double least = fmax(fmin(1e-20 * centre * centre, DBL_MAX / 8), TR_MIN_VARIANCE);
        gaussian->floor[d] = fmax(share * gaussian->spread[d], least);
        gaussian->spread[d] = fmax(gaussian->spread[d], gaussian->floor[d]);
    }
}

trellis_status tr_hmm_gaussian_create(const struct tr_training *training,
                                      struct tr_hmm_gaussian **ret_gaussian, trellis_error *error)
{
    const struct tr_dataset *data = &training->data.train;
    *ret_gaussian = NULL;
    if (data->reals == 0) {
        return TRELLIS_OK;
    }
    struct tr_hmm_gaussian *gaussian = tr_alloc(1, sizeof *gaussian);
    if (!gaussian) {
        return tr_fail_memory(error);
    }
    gaussian->labels = data->label_count;
    gaussian->columns = (uint32_t)data->reals;
    gaussian->names = training->settings.gaussian;
    gaussian->moment_count = data->label_count + tr_hmm_gaussian_size(gaussian);
    gaussian->centre = tr_alloc(data->reals, sizeof *gaussian->centre);
    gaussian->floor = tr_alloc(data->reals, sizeof *gaussian->floor);
    gaussian->spread = tr_alloc(data->reals, sizeof *gaussian->spread);
    if (!gaussian->centre || !gaussian->floor || !gaussian->spread) {
        tr_hmm_gaussian_destroy(gaussian);
        return tr_fail_memory(error);
    }
    compute_spread(gaussian, data);
    set_floors(gaussian, training->settings.variance_floor);
    *ret_gaussian = gaussian;
    return TRELLIS_OK;
}

void tr_hmm_gaussian_destroy(struct tr_hmm_gaussian *gaussian)
{
    if (gaussian) {
        free(gaussian->centre);
        free(gaussian->floor);
        free(gaussian->spread);
        free(gaussian);
    }
}

size_t tr_hmm_gaussian_size(const struct tr_hmm_gaussian *gaussian)
{
    return 2 * (size_t)gaussian->labels * gaussian->columns;
}

void tr_hmm_gaussian_begin(const struct tr_hmm_gaussian *gaussian, double *emissions)
{
    size_t columns = gaussian->columns;
    double *variance = emissions + gaussian->labels * columns;
    for (size_t c = 0; c < gaussian->labels; c++) {
        memcpy(emissions + c * columns, gaussian->centre, columns * sizeof *emissions);
        memcpy(variance + c * columns, gaussian->spread, columns * sizeof *variance);
    }
}

struct tr_gaussian tr_hmm_gaussian_view(const struct tr_hmm_gaussian *gaussian,
                                        const double *emissions)
{
    return (struct tr_gaussian){gaussian->labels, gaussian->columns, emissions,
                                emissions + (size_t)gaussian->labels * gaussian->columns,
                                gaussian->names};
}

/* ---- moments --------------------------------------------------------------------------------- */

/* n, then sum (x - centre) and sum (x - centre)^2 for each column. */
static void add(const struct tr_hmm_gaussian *gaussian, const double *x, size_t label,
                double amount, double *moments)
{
    double *at = moments + label * (1 + 2 * (size_t)gaussian->columns);
    at[0] += amount;
    for (size_t d = 0; d < gaussian->columns; d++) {
        double distance = x[d] - gaussian->centre[d];
        at[1 + 2 * d] += amount * distance;
        at[2 + 2 * d] += amount * distance * distance;
    }
}

void tr_hmm_gaussian_expect(const struct tr_hmm_gaussian *gaussian, const double *x, size_t n,
                            const float *p, size_t width, double weight, double *moments)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < gaussian->labels; c++) {
            double amount = weight * (double)p[i * width + c];
            if (amount > 0) {
                add(gaussian, x + i * gaussian->columns, c, amount, moments);
            }
        }
    }
}

void tr_hmm_gaussian_count(const struct tr_hmm_gaussian *gaussian, const double *x, size_t n,
                           const uint16_t *labels, double weight, double *moments)
{
    for (size_t i = 0; i < n; i++) {
        add(gaussian, x + i * gaussian->columns, labels[i], weight, moments);
    }
}

void tr_hmm_gaussian_estimate(const struct tr_hmm_gaussian *gaussian, const double *moments,
                              double *emissions)
{
    double *variances = emissions + (size_t)gaussian->labels * gaussian->columns;
    const double next_to_nothing = 1e-9; // tokens
    for (size_t c = 0; c < gaussian->labels; c++) {
        const double *at = moments + c * (1 + 2 * (size_t)gaussian->columns);
        for (size_t d = 0; at[0] > next_to_nothing && d < gaussian->columns; d++) {
            size_t cell = c * gaussian->columns + d;
            double first = at[1 + 2 * d] / at[0], second = at[2 + 2 * d] / at[0];
            double mean = gaussian->centre[d] + first, variance = second - first * first;
            if (isfinite(mean)) {
                emissions[cell] = mean;
                variances[cell] = fmin(fmax(variance, gaussian->floor[d]), TR_MAX_VARIANCE);
            }
        }
    }
}

trellis_status tr_hmm_gaussian_learn(const struct tr_hmm_gaussian *gaussian,
                                     const struct tr_dataset *data, double *emissions,
                                     trellis_error *error)
{
    double *moments = tr_alloc(gaussian->moment_count, sizeof *moments);
    if (!moments) {
        return tr_fail_memory(error);
    }
    for (size_t s = 0; s < data->sequences; s++) {
        size_t first = data->sequence.at[s], n = data->sequence.at[s + 1] - first;
        if (n > 0 && !tr_dataset_is_partial(data, s)) {
            tr_hmm_gaussian_count(gaussian, data->real.at + first * data->reals, n,
                                  data->gold.at + first, tr_sequence_weight(data, s), moments);
        }
    }
    tr_hmm_gaussian_estimate(gaussian, moments, emissions);
    free(moments);
    return TRELLIS_OK;
}

trellis_status tr_hmm_gaussian_from(const struct tr_hmm_gaussian *gaussian,
                                    const struct tr_training *training, double *emissions,
                                    trellis_error *error)
{
    const trellis_model *model = training->sources.from;
    double *variances = emissions + (size_t)gaussian->labels * gaussian->columns;
    size_t columns = gaussian->columns;
    if (model->gaussian.columns != columns) {
        return tr_fail(error, TRELLIS_MODEL,
                       "%s has normal distributions for %u columns, and --gaussian names %zu",
                       training->sources.from_name, model->gaussian.columns, columns);
    }
    for (uint32_t i = 0; i < model->label_count; i++) {
        uint32_t here = tr_intern_find(&training->data.train.labels, model->labels[i]);
        for (size_t d = 0; here < gaussian->labels && d < columns; d++) {
            emissions[here * columns + d] = model->gaussian.mean[i * columns + d];
            variances[here * columns + d] = fmax(model->gaussian.variance[i * columns + d],
                                                 gaussian->floor[d]);
        }
    }
    return TRELLIS_OK;
}

/* ---- k-means --------------------------------------------------------------------------------- */

enum { ROUNDS = 10 };

struct k_means {
    const struct tr_hmm_gaussian *gaussian;
    const struct tr_dataset *data;
    double *centre;  // [labels][columns]
    double *unit;    // [columns] 1 / variance of the column
    double *nearest; // [tokens] squared distance to the nearest centre so far
    double *sum;     // [labels][1 + columns]
};

static double distance(const struct k_means *k, size_t token, size_t label)
{
    size_t columns = k->gaussian->columns;
    const double *x = k->data->real.at + token * columns, *centre = k->centre + label * columns;
    double sum = 0;
    for (size_t d = 0; d < columns; d++) {
        sum += (x[d] - centre[d]) * (x[d] - centre[d]) * k->unit[d];
    }
    return fmin(sum, 1e100);
}

/* Centres are tokens, each drawn with a probability that grows with the squared distance from those
 * drawn before (Arthur and Vassilvitskii 2007); uniformly where all tokens are covered. */
static void draw_centres(struct k_means *k, struct tr_random *random)
{
    size_t columns = k->gaussian->columns, tokens = k->data->tokens;
    for (size_t c = 0; c < k->gaussian->labels; c++) {
        double all = 0, passed = 0;
        for (size_t t = 0; t < tokens; t++) {
            k->nearest[t] = c == 0   ? 1
                            : c == 1 ? distance(k, t, 0)
                                     : fmin(k->nearest[t], distance(k, t, c - 1));
            all += k->nearest[t];
        }
        double wanted = tr_random_real(random) * all;
        size_t chosen = tr_random_below(random, tokens);
        for (size_t t = 0; all > 0 && t < tokens; t++) {
            passed += k->nearest[t];
            if (k->nearest[t] > 0 && passed > wanted) {
                chosen = t;
                break;
            }
        }
        memcpy(k->centre + c * columns, k->data->real.at + chosen * columns,
               columns * sizeof *k->centre);
    }
}

/* Labels by the nearest centre; centres are then the means of what they got. */
static void assign_tokens(struct k_means *k, uint16_t *labels)
{
    size_t columns = k->gaussian->columns, count = k->gaussian->labels;
    memset(k->sum, 0, count * (1 + columns) * sizeof *k->sum);
    for (size_t t = 0; t < k->data->tokens; t++) {
        double least = distance(k, t, 0);
        labels[t] = 0;
        for (size_t c = 1; c < count; c++) {
            double here = distance(k, t, c);
            if (here < least) {
                least = here;
                labels[t] = (uint16_t)c;
            }
        }
        double *sum = k->sum + labels[t] * (1 + columns);
        sum[0]++;
        for (size_t d = 0; d < columns; d++) {
            sum[1 + d] += (k->data->real.at[t * columns + d] - sum[1 + d]) / sum[0];
        }
    }
    for (size_t c = 0; c < count; c++) {
        const double *sum = k->sum + c * (1 + columns);
        for (size_t d = 0; sum[0] > 0 && d < columns; d++) {
            k->centre[c * columns + d] = sum[1 + d];
        }
    }
}

trellis_status tr_hmm_gaussian_cluster(const struct tr_hmm_gaussian *gaussian,
                                       const struct tr_dataset *data, struct tr_random *random,
                                       uint16_t *labels, trellis_error *error)
{
    size_t columns = gaussian->columns, count = gaussian->labels;
    struct k_means k = {.gaussian = gaussian,
                        .data = data,
                        .centre = tr_alloc(count * columns, sizeof *k.centre),
                        .unit = tr_alloc(columns, sizeof *k.unit),
                        .nearest = tr_alloc(data->tokens, sizeof *k.nearest),
                        .sum = tr_alloc(count * (1 + columns), sizeof *k.sum)};
    bool ok = k.centre && k.unit && k.nearest && k.sum;
    for (size_t d = 0; ok && d < columns; d++) {
        k.unit[d] = 1 / gaussian->spread[d];
    }
    if (ok) {
        draw_centres(&k, random);
    }
    for (int round = 0; ok && round < ROUNDS; round++) {
        assign_tokens(&k, labels);
    }
    free(k.centre);
    free(k.unit);
    free(k.nearest);
    free(k.sum);
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}
