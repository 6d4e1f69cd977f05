/* hmm_gaussian.c - learning the normal distributions that labels emit real-valued columns by.
 *
 * Moments are taken about the mean of the whole column, in double precision: of a column such as the time
 * since 1970 the squares themselves would not fit.
 */
#include "train/hmm_gaussian.h"

#include <float.h>
#include <math.h>

#include "model/model.h"
#include "train/pass.h"

static const double least_variance = 1e-300, most_variance = DBL_MAX / 4;

/* ---- the data as a whole ------------------------------------------------------------------------- */

/* Mean and variance of each column, each token alike. */
static void measure(struct tr_hmm_gaussian *emissions, const struct tr_dataset *data)
{
    size_t columns = emissions->columns;
    double tokens = (double)data->tokens;
    for (size_t t = 0; t < data->tokens; t++) {
        for (size_t d = 0; d < columns; d++) {
            emissions->centre[d] += data->real.at[t * columns + d] / tokens;
        }
    }
    for (size_t t = 0; t < data->tokens; t++) {
        for (size_t d = 0; d < columns; d++) {
            double distance = data->real.at[t * columns + d] - emissions->centre[d];
            emissions->spread[d] += fmin(distance * distance / tokens, DBL_MAX / 8 / tokens);
        }
    }
}

/* All labels alike. The floor is a share of the variance, and above 0 for a constant column too. */
static void begin(struct tr_hmm_gaussian *emissions, double share)
{
    for (size_t d = 0; d < emissions->columns; d++) {
        double centre = emissions->centre[d];
        double least = fmax(fmin(1e-20 * centre * centre, DBL_MAX / 8), least_variance);
        emissions->floor[d] = fmax(share * emissions->spread[d], least);
        emissions->spread[d] = fmax(emissions->spread[d], emissions->floor[d]);
        for (size_t c = 0; c < emissions->labels; c++) {
            emissions->mean[c * emissions->columns + d] = centre;
            emissions->variance[c * emissions->columns + d] = emissions->spread[d];
        }
    }
}

trellis_status tr_hmm_gaussian_create(const struct tr_training *training,
                                      struct tr_hmm_gaussian **ret_normals, trellis_error *error)
{
    const struct tr_dataset *data = &training->data;
    *ret_normals = NULL;
    if (data->reals == 0) {
        return TRELLIS_OK;
    }
    struct tr_hmm_gaussian *emissions = tr_alloc(1, sizeof *emissions);
    if (!emissions) {
        return tr_fail_memory(error);
    }
    size_t cells = (size_t)data->label_count * data->reals;
    emissions->labels = data->label_count;
    emissions->columns = (uint32_t)data->reals;
    emissions->names = tr_option_text(training->options, "gaussian");
    emissions->moment_count = data->label_count + 2 * cells;
    emissions->mean = tr_alloc(2 * cells, sizeof *emissions->mean);
    emissions->best = tr_alloc(2 * cells, sizeof *emissions->best);
    emissions->centre = tr_alloc(data->reals, sizeof *emissions->centre);
    emissions->floor = tr_alloc(data->reals, sizeof *emissions->floor);
    emissions->spread = tr_alloc(data->reals, sizeof *emissions->spread);
    if (!emissions->mean || !emissions->best || !emissions->centre || !emissions->floor ||
        !emissions->spread) {
        tr_hmm_gaussian_destroy(emissions);
        return tr_fail_memory(error);
    }
    emissions->variance = emissions->mean + cells;
    measure(emissions, data);
    begin(emissions, tr_option_real(training->options, "variance-floor"));
    *ret_normals = emissions;
    return TRELLIS_OK;
}

void tr_hmm_gaussian_destroy(struct tr_hmm_gaussian *emissions)
{
    if (emissions) {
        free(emissions->mean);
        free(emissions->best);
        free(emissions->centre);
        free(emissions->floor);
        free(emissions->spread);
        free(emissions);
    }
}

static struct tr_gaussian view(const struct tr_hmm_gaussian *emissions, const double *both)
{
    size_t cells = (size_t)emissions->labels * emissions->columns;
    return (struct tr_gaussian){emissions->labels, emissions->columns, both, both + cells,
                                emissions->names};
}

struct tr_gaussian tr_hmm_gaussian_now(const struct tr_hmm_gaussian *emissions)
{
    return view(emissions, emissions->mean);
}

struct tr_gaussian tr_hmm_gaussian_best(const struct tr_hmm_gaussian *emissions)
{
    return view(emissions, emissions->best);
}

void tr_hmm_gaussian_keep(struct tr_hmm_gaussian *emissions)
{
    size_t cells = (size_t)emissions->labels * emissions->columns;
    memcpy(emissions->best, emissions->mean, 2 * cells * sizeof *emissions->best);
}

void tr_hmm_gaussian_name(const struct tr_hmm_gaussian *emissions, double *both,
                          struct tr_state_registry *registry, const char *mean,
                          const char *variance)
{
    size_t cells = (size_t)emissions->labels * emissions->columns;
    tr_keep_doubles(registry, mean, both, cells);
    tr_keep_between(registry, variance, both + cells, cells, least_variance, most_variance);
}

/* ---- moments ------------------------------------------------------------------------------------- */

/* n, then sum (x - centre) and sum (x - centre)^2 for each column. */
static void add(const struct tr_hmm_gaussian *emissions, const double *x, size_t label,
                double amount, double *moments)
{
    double *at = moments + label * (1 + 2 * (size_t)emissions->columns);
    at[0] += amount;
    for (size_t d = 0; d < emissions->columns; d++) {
        double distance = x[d] - emissions->centre[d];
        at[1 + 2 * d] += amount * distance;
        at[2 + 2 * d] += amount * distance * distance;
    }
}

void tr_hmm_gaussian_expect(const struct tr_hmm_gaussian *emissions, const double *x, size_t n,
                            const float *p, size_t width, double weight, double *moments)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < emissions->labels; c++) {
            double amount = weight * (double)p[i * width + c];
            if (amount > 0) {
                add(emissions, x + i * emissions->columns, c, amount, moments);
            }
        }
    }
}

void tr_hmm_gaussian_count(const struct tr_hmm_gaussian *emissions, const double *x, size_t n,
                           const uint16_t *labels, double weight, double *moments)
{
    for (size_t i = 0; i < n; i++) {
        add(emissions, x + i * emissions->columns, labels[i], weight, moments);
    }
}

void tr_hmm_gaussian_estimate(struct tr_hmm_gaussian *emissions, const double *moments)
{
    const double next_to_nothing = 1e-9; // tokens
    for (size_t c = 0; c < emissions->labels; c++) {
        const double *at = moments + c * (1 + 2 * (size_t)emissions->columns);
        for (size_t d = 0; at[0] > next_to_nothing && d < emissions->columns; d++) {
            size_t cell = c * emissions->columns + d;
            double first = at[1 + 2 * d] / at[0], second = at[2 + 2 * d] / at[0];
            double mean = emissions->centre[d] + first, variance = second - first * first;
            if (isfinite(mean)) {
                emissions->mean[cell] = mean;
                emissions->variance[cell] = fmin(fmax(variance, emissions->floor[d]),
                                                 most_variance);
            }
        }
    }
}

trellis_status tr_hmm_gaussian_learn(struct tr_hmm_gaussian *emissions,
                                     const struct tr_dataset *data, trellis_error *error)
{
    double *moments = tr_alloc(emissions->moment_count, sizeof *moments);
    if (!moments) {
        return tr_fail_memory(error);
    }
    for (size_t s = 0; s < data->sequences; s++) {
        size_t first = data->sequence.at[s], n = data->sequence.at[s + 1] - first;
        if (n > 0 && !tr_dataset_is_partial(data, s)) {
            tr_hmm_gaussian_count(emissions, data->real.at + first * data->reals, n,
                                  data->gold.at + first, tr_sequence_weight(data, s), moments);
        }
    }
    tr_hmm_gaussian_estimate(emissions, moments);
    free(moments);
    return TRELLIS_OK;
}

trellis_status tr_hmm_gaussian_from(struct tr_hmm_gaussian *emissions,
                                    const struct tr_training *training, trellis_error *error)
{
    const char *path = tr_option_text(training->options, "from");
    trellis_model *model;
    trellis_status status = trellis_model_open(path, &model, error);
    if (status) {
        return status;
    }
    size_t columns = emissions->columns;
    if (model->gaussian.columns != columns) {
        status = tr_fail(error, TRELLIS_MODEL,
                         "%s has normal distributions for %u columns, and --gaussian names %zu",
                         path, model->gaussian.columns, columns);
    }
    for (uint32_t i = 0; !status && i < model->label_count; i++) {
        uint32_t here = tr_intern_find(&training->data.labels, model->labels[i]);
        for (size_t d = 0; here < emissions->labels && d < columns; d++) {
            emissions->mean[here * columns + d] = model->gaussian.mean[i * columns + d];
            emissions->variance[here * columns + d] = fmax(
                model->gaussian.variance[i * columns + d], emissions->floor[d]);
        }
    }
    trellis_model_close(model);
    return status;
}

/* ---- k-means ------------------------------------------------------------------------------------- */

enum { ROUNDS = 10 };

struct k_means {
    const struct tr_hmm_gaussian *emissions;
    const struct tr_dataset *data;
    double *centre;  // [labels][columns]
    double *unit;    // [columns] 1 / variance of the column
    double *nearest; // [tokens] squared distance to the nearest centre so far
    double *sum;     // [labels][1 + columns]
};

static double distance(const struct k_means *k, size_t token, size_t label)
{
    size_t columns = k->emissions->columns;
    const double *x = k->data->real.at + token * columns, *centre = k->centre + label * columns;
    double sum = 0;
    for (size_t d = 0; d < columns; d++) {
        sum += (x[d] - centre[d]) * (x[d] - centre[d]) * k->unit[d];
    }
    return fmin(sum, 1e100);
}

/* Centres are tokens, each drawn with a probability that grows with the squared distance from those drawn
 * before (Arthur and Vassilvitskii 2007); uniformly where all tokens are covered. */
static void draw_centres(struct k_means *k, struct tr_random *random)
{
    size_t columns = k->emissions->columns, tokens = k->data->tokens;
    for (size_t c = 0; c < k->emissions->labels; c++) {
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
static void settle(struct k_means *k, uint16_t *labels)
{
    size_t columns = k->emissions->columns, count = k->emissions->labels;
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

trellis_status tr_hmm_gaussian_cluster(const struct tr_hmm_gaussian *emissions,
                                       const struct tr_dataset *data, struct tr_random *random,
                                       uint16_t *labels, trellis_error *error)
{
    size_t columns = emissions->columns, count = emissions->labels;
    struct k_means k = {.emissions = emissions,
                        .data = data,
                        .centre = tr_alloc(count * columns, sizeof *k.centre),
                        .unit = tr_alloc(columns, sizeof *k.unit),
                        .nearest = tr_alloc(data->tokens, sizeof *k.nearest),
                        .sum = tr_alloc(count * (1 + columns), sizeof *k.sum)};
    bool fine = k.centre && k.unit && k.nearest && k.sum;
    for (size_t d = 0; fine && d < columns; d++) {
        k.unit[d] = 1 / emissions->spread[d];
    }
    if (fine) {
        draw_centres(&k, random);
    }
    for (int round = 0; fine && round < ROUNDS; round++) {
        settle(&k, labels);
    }
    free(k.centre);
    free(k.unit);
    free(k.nearest);
    free(k.sum);
    return fine ? TRELLIS_OK : tr_fail_memory(error);
}
