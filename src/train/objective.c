/* objective.c - what a CRF or MEMM minimises: the likelihood of the data plus a penalty.
 *
 *     dF/dw_k = df/dw_k + 2 l2 w_k
 *
 * The gradient begins with the penalty, and the sum over the data is added to it.
 */
#include "train/objective.h"

/* w as weights for scoring; with a gradient also the penalty
 *
 *     gradient = 2 l2 w     and     l2 |w|^2
 */
struct spreading {
    const struct tr_rows *rows;
    const double *w;
    float *weights;
    double *gradient; // or NULL
    double l2;
};

static double penalise(const double *w, double l2, double *gradient, size_t begin, size_t end)
{
    double sum = 0;
    for (size_t k = begin; k < end; k++) {
        sum += w[k] * w[k];
        gradient[k] = 2 * l2 * w[k];
    }
    return l2 * sum;
}

static double spread_piece(void *user, size_t begin, size_t end)
{
    enum { STEP = 64 }; // attributes whose weights are still in the cache for the penalty
    const struct spreading *x = user;
    double sum = 0;
    for (size_t a = begin; a < end; a += STEP) {
        size_t last = a + STEP < end ? a + STEP : end;
        tr_rows_spread(x->rows, x->w, (uint32_t)a, (uint32_t)last, x->weights);
        if (x->gradient) {
            sum += penalise(x->w, x->l2, x->gradient, x->rows->begin[a], x->rows->begin[last]);
        }
    }
    return sum;
}

/* The weights, and with a gradient the penalty as well. */
static double spread(const struct tr_likelihood *l, const double *w, float *weights, double l2,
                     double *gradient)
{
    const struct tr_training *t = l->training;
    size_t steps = l->node + l->edge;
    struct spreading node = {t->data.vocabulary.node.rows, w, weights, gradient, l2};
    struct spreading edge = {t->data.vocabulary.edge.rows, w + l->node,
                             weights + t->layout.node_size, gradient ? gradient + l->node : NULL,
                             l2};
    double sum = tr_pool_sum(t->pool, node.rows->attributes, spread_piece, &node) +
                 tr_pool_sum(t->pool, edge.rows->attributes, spread_piece, &edge);
    for (size_t j = 0; j < t->layout.step_size; j++) {
        weights[t->layout.step_begin + j] = (float)w[steps + j];
    }
    return gradient ? sum + penalise(w, l2, gradient, steps, l->size) : 0;
}

void tr_features_to_weights(const struct tr_likelihood *l, const double *w, float *weights)
{
    spread(l, w, weights, 0, NULL);
}

void tr_weights_to_features(const struct tr_likelihood *l, const float *weights, double *w)
{
    const struct tr_training *t = l->training;
    tr_rows_gather(t->data.vocabulary.node.rows, weights, w);
    tr_rows_gather(t->data.vocabulary.edge.rows, weights + t->layout.node_size, w + l->node);
    for (size_t j = 0; j < t->layout.step_size; j++) {
        w[l->node + l->edge + j] += (double)weights[t->layout.step_begin + j];
    }
}

trellis_status tr_crf_evaluate(void *user, const double *w, double *gradient, double *ret_value,
                               trellis_error *error)
{
    struct tr_crf_objective *objective = user;
    struct tr_likelihood *likelihood = objective->likelihood;
    double penalty = spread(likelihood, w, likelihood->at.weights, objective->l2, gradient),
           sum = 0;
    trellis_status status = tr_likelihood_sum(likelihood, gradient, &sum, error);
    *ret_value = sum + penalty;
    return status;
}
