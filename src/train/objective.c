/* objective.c - what a CRF or MEMM minimises: the likelihood of the data plus a penalty.
 *
 *     dF/dw_k = df/dw_k + 2 l2 w_k
 *
 * The penalty is added to the sum over the data, which is exact up to then (pass.h). Its own sum is
 * made in blocks that ranks may share (base/slices.h).
 */
#include "train/objective.h"

/* w as weights for scoring. */
struct spreading {
    const struct tr_rows *rows;
    const double *w;
    float *weights;
};

static double spread_piece(void *user, size_t begin, size_t end)
{
    const struct spreading *x = user;
    tr_rows_spread(x->rows, x->w, (uint32_t)begin, (uint32_t)end, x->weights);
    return 0;
}

void tr_features_to_weights(const struct tr_likelihood *l, const double *w, float *weights)
{
    const struct tr_training *t = l->training;
    size_t steps = l->node + l->edge;
    struct spreading node = {t->data.vocabulary.node.rows, w, weights};
    struct spreading edge = {t->data.vocabulary.edge.rows, w + l->node,
                             weights + t->layout.node_size};
    tr_pool_sum(t->pool, node.rows->attributes, spread_piece, &node);
    tr_pool_sum(t->pool, edge.rows->attributes, spread_piece, &edge);
    for (size_t j = 0; j < t->layout.step_size; j++) {
        weights[t->layout.step_begin + j] = (float)w[steps + j];
    }
}

/* gradient += 2 l2 w, and l2 |w|^2. */
struct penalty {
    const double *w;
    double *gradient;
    double l2;
};

static double penalise_piece(void *user, size_t begin, size_t end)
{
    const struct penalty *x = user;
    double sum = 0;
    for (size_t k = begin; k < end; k++) {
        sum += x->w[k] * x->w[k];
        x->gradient[k] += 2 * x->l2 * x->w[k];
    }
    return x->l2 * sum;
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
    struct tr_training *training = likelihood->training;
    struct penalty penalty = {w, gradient, objective->l2};
    double sum = 0, added = 0;
    trellis_status status = TRELLIS_OK;
    if (likelihood->split) {
        bool all = training->data.dev.sequences > 0; // which has attributes of other ranks
        status = tr_likelihood_pull(likelihood, w, all, error);
    } else {
        tr_features_to_weights(likelihood, w, likelihood->at.weights);
    }
    if (!status) {
        status = tr_likelihood_sum(likelihood, gradient, &sum, error);
    }
    if (!status) {
        status = tr_slices_sum(likelihood->split ? &likelihood->slices : &likelihood->whole,
                               training->pool, penalise_piece, &penalty, &added, error);
    }
    *ret_value = sum + added;
    return status;
}
