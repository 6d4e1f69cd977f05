/* iterate.c - one point that a learner has reached: made, copied, swapped, named for a
 * checkpoint. */
#include "train/iterate.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "train/hmm_gaussian.h"
#include "train/train.h"

trellis_status tr_iterate_create(const struct tr_training *training, struct tr_iterate *ret_iterate,
                                 trellis_error *error)
{
    struct tr_iterate *it = ret_iterate;
    bool generative = tr_training_can(training, TR_GENERATIVE);
    *it = (struct tr_iterate){.size = training->layout.size,
                              .figures = tr_training_figures(training)};
    if (generative && tr_features_has_unknown(training->data.features)) {
        it->unknown_count = 1 + (size_t)training->layout.plan.labels;
    }
    if (training->gaussian) {
        it->emission_count = tr_hmm_gaussian_size(training->gaussian);
    }
    it->weights = tr_alloc_aligned(it->size, sizeof *it->weights);
    it->residual = generative ? tr_alloc(it->size, sizeof *it->residual) : NULL;
    it->unknown = it->unknown_count ? tr_alloc(it->unknown_count, sizeof *it->unknown) : NULL;
    it->emissions = it->emission_count ? tr_alloc(it->emission_count, sizeof *it->emissions) : NULL;
    if (!it->weights || (generative && !it->residual) || (it->unknown_count && !it->unknown) ||
        (it->emission_count && !it->emissions)) {
        tr_iterate_free(it);
        return tr_fail_memory(error);
    }
    if (training->gaussian) {
        tr_hmm_gaussian_begin(training->gaussian, it->emissions);
    }
    return TRELLIS_OK;
}

void tr_iterate_free(struct tr_iterate *iterate)
{
    free(iterate->weights);
    free(iterate->residual);
    free(iterate->unknown);
    free(iterate->emissions);
    *iterate = (struct tr_iterate){0};
}

struct copying {
    float *to;
    const float *from;
};

static double copy_piece(void *user, size_t begin, size_t end)
{
    const struct copying *x = user;
    memcpy(x->to + begin, x->from + begin, (end - begin) * sizeof *x->to);
    return 0;
}

void tr_iterate_copy(struct tr_iterate *to, const struct tr_iterate *from, struct tr_pool *pool)
{
    struct copying weights = {to->weights, from->weights};
    tr_pool_sum(pool, from->size, copy_piece, &weights);
    if (from->residual) {
        memcpy(to->residual, from->residual, from->size * sizeof *to->residual);
    }
    if (from->unknown) {
        memcpy(to->unknown, from->unknown, from->unknown_count * sizeof *to->unknown);
    }
    if (from->emissions) {
        memcpy(to->emissions, from->emissions, from->emission_count * sizeof *to->emissions);
    }
    to->score = from->score;
    to->figures = from->figures;
    to->known = true;
}

void tr_iterate_swap(struct tr_iterate *a, struct tr_iterate *b)
{
    struct tr_iterate kept = *a;
    *a = *b;
    *b = kept;
}

void tr_iterate_set(struct tr_iterate *iterate, const double *w)
{
    for (size_t j = 0; j < iterate->size; j++) {
        iterate->weights[j] = (float)w[j];
    }
    for (size_t j = 0; iterate->residual && j < iterate->size; j++) {
        double rest = w[j] - (double)iterate->weights[j];
        iterate->residual[j] = isfinite(rest) ? (float)rest : 0;
    }
}

void tr_iterate_name(const struct tr_iterate *iterate, struct tr_state_registry *registry,
                     char letter)
{
    char name[5];
    if (iterate->residual) {
        snprintf(name, sizeof name, "%cRES", letter);
        tr_keep_floats(registry, name, iterate->residual, iterate->size);
    }
    if (iterate->unknown) {
        snprintf(name, sizeof name, "%cUNK", letter);
        tr_keep_between(registry, name, iterate->unknown, iterate->unknown_count, -INFINITY,
                        DBL_MAX);
    }
    if (iterate->emissions) {
        size_t half = iterate->emission_count / 2;
        snprintf(name, sizeof name, "%cMEA", letter);
        tr_keep_doubles(registry, name, iterate->emissions, half);
        snprintf(name, sizeof name, "%cVAR", letter);
        tr_keep_between(registry, name, iterate->emissions + half, half, TR_MIN_VARIANCE,
                        TR_MAX_VARIANCE);
    }
}
