/* normals.c - learning the normal distributions that labels emit real-valued columns by.
 *
 * Moments are taken about the mean of the whole column, in double precision: of a column such as the time
 * since 1970 the squares themselves would not fit.
 */
#include "train/normals.h"

#include <float.h>
#include <math.h>

#include "model/model.h"
#include "train/pass.h"

static const double least_variance = 1e-300, most_variance = DBL_MAX / 4;

/* ---- the data as a whole ------------------------------------------------------------------------- */

/* Mean and variance of each column, each token alike. */
static void measure(struct tr_normals *normals, const struct tr_dataset *data)
{
    size_t columns = normals->columns;
    double tokens = (double)data->tokens;
    for (size_t t = 0; t < data->tokens; t++) {
        for (size_t d = 0; d < columns; d++) {
            normals->centre[d] += data->real.at[t * columns + d] / tokens;
        }
    }
    for (size_t t = 0; t < data->tokens; t++) {
        for (size_t d = 0; d < columns; d++) {
            double distance = data->real.at[t * columns + d] - normals->centre[d];
            normals->spread[d] += fmin(distance * distance / tokens, DBL_MAX / 8 / tokens);
        }
    }
}

/* All labels alike. The floor is a share of the variance, and above 0 for a constant column too. */
static void begin(struct tr_normals *normals, double share)
{
    for (size_t d = 0; d < normals->columns; d++) {
        double centre = normals->centre[d];
        double least = fmax(fmin(1e-20 * centre * centre, DBL_MAX / 8), least_variance);
        normals->floor[d] = fmax(share * normals->spread[d], least);
        normals->spread[d] = fmax(normals->spread[d], normals->floor[d]);
        for (size_t c = 0; c < normals->labels; c++) {
            normals->mean[c * normals->columns + d] = centre;
            normals->variance[c * normals->columns + d] = normals->spread[d];
        }
    }
}

trellis_status tr_normals_create(const struct tr_training *training,
                                 struct tr_normals **ret_normals, trellis_error *error)
{
    const struct tr_dataset *data = &training->data;
    *ret_normals = NULL;
    if (data->reals == 0) {
        return TRELLIS_OK;
    }
    struct tr_normals *normals = tr_alloc(1, sizeof *normals);
    if (!normals) {
        return tr_fail_memory(error);
    }
    size_t cells = (size_t)data->label_count * data->reals;
    normals->labels = data->label_count;
    normals->columns = (uint32_t)data->reals;
    normals->names = tr_option_text(training->options, "gaussian");
    normals->moment_count = data->label_count + 2 * cells;
    normals->mean = tr_alloc(2 * cells, sizeof *normals->mean);
    normals->best = tr_alloc(2 * cells, sizeof *normals->best);
    normals->centre = tr_alloc(data->reals, sizeof *normals->centre);
    normals->floor = tr_alloc(data->reals, sizeof *normals->floor);
    normals->spread = tr_alloc(data->reals, sizeof *normals->spread);
    if (!normals->mean || !normals->best || !normals->centre || !normals->floor ||
        !normals->spread) {
        tr_normals_destroy(normals);
        return tr_fail_memory(error);
    }
    normals->variance = normals->mean + cells;
    measure(normals, data);
    begin(normals, tr_option_real(training->options, "variance-floor"));
    *ret_normals = normals;
    return TRELLIS_OK;
}

void tr_normals_destroy(struct tr_normals *normals)
{
    if (normals) {
        free(normals->mean);
        free(normals->best);
        free(normals->centre);
        free(normals->floor);
        free(normals->spread);
        free(normals);
    }
}

static struct tr_gaussian view(const struct tr_normals *normals, const double *both)
{
    size_t cells = (size_t)normals->labels * normals->columns;
    return (struct tr_gaussian){normals->labels, normals->columns, both, both + cells,
                                normals->names};
}

struct tr_gaussian tr_normals_now(const struct tr_normals *normals)
{
    return view(normals, normals->mean);
}

struct tr_gaussian tr_normals_best(const struct tr_normals *normals)
{
    return view(normals, normals->best);
}

void tr_normals_keep(struct tr_normals *normals)
{
    size_t cells = (size_t)normals->labels * normals->columns;
    memcpy(normals->best, normals->mean, 2 * cells * sizeof *normals->best);
}

void tr_normals_name(const struct tr_normals *normals, double *both, struct tr_keeper *keeper,
                     const char *mean, const char *variance)
{
    size_t cells = (size_t)normals->labels * normals->columns;
    tr_keep_doubles(keeper, mean, both, cells);
    tr_keep_between(keeper, variance, both + cells, cells, least_variance, most_variance);
}

/* ---- moments ------------------------------------------------------------------------------------- */

/* n, then sum (x - centre) and sum (x - centre)^2 for each column. */
static void add(const struct tr_normals *normals, const double *x, size_t label, double amount,
                double *moments)
{
    double *at = moments + label * (1 + 2 * (size_t)normals->columns);
    at[0] += amount;
    for (size_t d = 0; d < normals->columns; d++) {
        double distance = x[d] - normals->centre[d];
        at[1 + 2 * d] += amount * distance;
        at[2 + 2 * d] += amount * distance * distance;
    }
}

void tr_normals_expect(const struct tr_normals *normals, const double *x, size_t n, const float *p,
                       size_t width, double weight, double *moments)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < normals->labels; c++) {
            double amount = weight * (double)p[i * width + c];
            if (amount > 0) {
                add(normals, x + i * normals->columns, c, amount, moments);
            }
        }
    }
}

void tr_normals_count(const struct tr_normals *normals, const double *x, size_t n,
                      const uint16_t *labels, double weight, double *moments)
{
    for (size_t i = 0; i < n; i++) {
        add(normals, x + i * normals->columns, labels[i], weight, moments);
    }
}

void tr_normals_estimate(struct tr_normals *normals, const double *moments)
{
    const double next_to_nothing = 1e-9; // tokens
    for (size_t c = 0; c < normals->labels; c++) {
        const double *at = moments + c * (1 + 2 * (size_t)normals->columns);
        for (size_t d = 0; at[0] > next_to_nothing && d < normals->columns; d++) {
            size_t cell = c * normals->columns + d;
            double first = at[1 + 2 * d] / at[0], second = at[2 + 2 * d] / at[0];
            double mean = normals->centre[d] + first, variance = second - first * first;
            if (isfinite(mean)) {
                normals->mean[cell] = mean;
                normals->variance[cell] = fmin(fmax(variance, normals->floor[d]), most_variance);
            }
        }
    }
}

trellis_status tr_normals_learn(struct tr_normals *normals, const struct tr_dataset *data,
                                trellis_error *error)
{
    double *moments = tr_alloc(normals->moment_count, sizeof *moments);
    if (!moments) {
        return tr_fail_memory(error);
    }
    for (size_t s = 0; s < data->sequences; s++) {
        size_t first = data->sequence.at[s], n = data->sequence.at[s + 1] - first;
        if (n > 0 && !tr_dataset_is_partial(data, s)) {
            tr_normals_count(normals, data->real.at + first * data->reals, n, data->gold.at + first,
                             tr_sequence_weight(data, s), moments);
        }
    }
    tr_normals_estimate(normals, moments);
    free(moments);
    return TRELLIS_OK;
}

trellis_status tr_normals_from(struct tr_normals *normals, const struct tr_training *training,
                               trellis_error *error)
{
    const char *path = tr_option_text(training->options, "from");
    trellis_model *model;
    trellis_status status = trellis_model_open(path, &model, error);
    if (status) {
        return status;
    }
    size_t columns = normals->columns;
    if (model->gaussian.columns != columns) {
        status = tr_fail(error, TRELLIS_MODEL,
                         "%s has normal distributions for %u columns, and --gaussian names %zu",
                         path, model->gaussian.columns, columns);
    }
    for (uint32_t i = 0; !status && i < model->label_count; i++) {
        uint32_t here = tr_intern_find(&training->data.labels, model->labels[i]);
        for (size_t d = 0; here < normals->labels && d < columns; d++) {
            normals->mean[here * columns + d] = model->gaussian.mean[i * columns + d];
            normals->variance[here * columns + d] = fmax(model->gaussian.variance[i * columns + d],
                                                         normals->floor[d]);
        }
    }
    trellis_model_close(model);
    return status;
}

/* ---- k-means ------------------------------------------------------------------------------------- */

enum { ROUNDS = 10 };

struct clustering {
    const struct tr_normals *normals;
    const struct tr_dataset *data;
    double *centre;  // [labels][columns]
    double *unit;    // [columns] 1 / variance of the column
    double *nearest; // [tokens] squared distance to the nearest centre so far
    double *sum;     // [labels][1 + columns]
};

static double distance(const struct clustering *k, size_t token, size_t label)
{
    size_t columns = k->normals->columns;
    const double *x = k->data->real.at + token * columns, *centre = k->centre + label * columns;
    double sum = 0;
    for (size_t d = 0; d < columns; d++) {
        sum += (x[d] - centre[d]) * (x[d] - centre[d]) * k->unit[d];
    }
    return fmin(sum, 1e100);
}

/* Centres are tokens, each drawn with a probability that grows with the squared distance from those drawn
 * before (Arthur and Vassilvitskii 2007); uniformly where all tokens are covered. */
static void draw_centres(struct clustering *k, struct tr_random *random)
{
    size_t columns = k->normals->columns, tokens = k->data->tokens;
    for (size_t c = 0; c < k->normals->labels; c++) {
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
static void settle(struct clustering *k, uint16_t *labels)
{
    size_t columns = k->normals->columns, count = k->normals->labels;
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

trellis_status tr_normals_cluster(const struct tr_normals *normals, const struct tr_dataset *data,
                                  struct tr_random *random, uint16_t *labels, trellis_error *error)
{
    size_t columns = normals->columns, count = normals->labels;
    struct clustering k = {.normals = normals,
                           .data = data,
                           .centre = tr_alloc(count * columns, sizeof *k.centre),
                           .unit = tr_alloc(columns, sizeof *k.unit),
                           .nearest = tr_alloc(data->tokens, sizeof *k.nearest),
                           .sum = tr_alloc(count * (1 + columns), sizeof *k.sum)};
    bool fine = k.centre && k.unit && k.nearest && k.sum;
    for (size_t d = 0; fine && d < columns; d++) {
        k.unit[d] = 1 / normals->spread[d];
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
