/* chain_answer.c - what is answered about one sequence of a chain over given scores.
 *
 *     loss = -log P(labels) = log Z - score(labels)
 *
 *     d loss / d nodes[i][c]       = P(z_i = c) - [labels_i = c]
 *     d loss / d pairs[i][a][b]    = P(z_{i-1} = a, z_i = b) - [labels_{i-1} = a, labels_i = b]
 *
 * Where labels are not known, the paths that agree with those that are take the place of the
 * labels: log Z of these paths for the score, and their marginals for the indicators in brackets.
 */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "chain/chain.h"

/* Questions that need log Z and marginals. */
#define BY_SUMS                                                                                    \
    (TRELLIS_CHAIN_LOG_Z | TRELLIS_CHAIN_NODE_MARGINALS | TRELLIS_CHAIN_PAIR_MARGINALS |           \
     TRELLIS_CHAIN_LOSS | TRELLIS_CHAIN_GRADIENT | TRELLIS_CHAIN_MIN_RISK)
#define BY_LABELS (TRELLIS_CHAIN_SCORE | TRELLIS_CHAIN_LOSS | TRELLIS_CHAIN_GRADIENT)

/* ---- what was given -------------------------------------------------------------------------- */

static trellis_status check_arrays(unsigned questions, const trellis_chain_sequence *s,
                                   trellis_error *error)
{
    const struct {
        unsigned question;
        bool there;
        const char *what;
    } needs[] = {
        {TRELLIS_CHAIN_BEST, s->best, "best"},
        {TRELLIS_CHAIN_NBEST, s->nbest && s->nbest_labels && s->nbest_scores, "nbest"},
        {TRELLIS_CHAIN_NODE_MARGINALS, s->node_marginals.at, "node_marginals"},
        {TRELLIS_CHAIN_PAIR_MARGINALS, s->pair_marginals.at, "pair_marginals"},
        {TRELLIS_CHAIN_SAMPLE, s->samples && s->sampled, "sampled"},
        {TRELLIS_CHAIN_MIN_RISK, s->min_risk, "min_risk"},
        {~0u, s->nodes.at, "nodes"},
        {BY_LABELS, s->labels, "labels"},
    };
    for (size_t i = 0; s->length && i < TR_COUNT(needs); i++) {
        if ((questions & needs[i].question) && !needs[i].there) {
            return tr_fail(error, TRELLIS_OPTION, "'%s' is missing", needs[i].what);
        }
    }
    return (questions & TRELLIS_CHAIN_GRADIENT) && !isfinite(s->weight)
               ? tr_fail(error, TRELLIS_DATA, "the weight is not a finite number")
               : TRELLIS_OK;
}

static trellis_status check_labels(const trellis_chain *chain, unsigned questions,
                                   const trellis_chain_sequence *s, bool *ret_partial,
                                   trellis_error *error)
{
    *ret_partial = false;
    for (size_t i = 0; (questions & BY_LABELS) && i < s->length; i++) {
        if (s->labels[i] < -1 || s->labels[i] >= (int32_t)chain->labels) {
            return tr_fail(error, TRELLIS_DATA, "position %zu: there is no label %ld", i,
                           (long)s->labels[i]);
        }
        *ret_partial = *ret_partial || s->labels[i] == -1;
    }
    return *ret_partial && (questions & TRELLIS_CHAIN_SCORE)
               ? tr_fail(error, TRELLIS_DATA, "only labels that are all known have a score")
               : TRELLIS_OK;
}

static trellis_status fill_nodes(const trellis_chain *chain, struct tr_lattice *lattice,
                                 const trellis_chain_sequence *s, trellis_error *error)
{
    size_t labels = chain->labels, width = chain->graph->width;
    trellis_floats nodes = tr_strided(s->nodes, 2, labels, s->length);
    float *to = tr_lattice_nodes(lattice);
    for (size_t i = 0; i < s->length; i++) {
        const float *from = nodes.at + (ptrdiff_t)i * nodes.stride[0];
        for (size_t c = 0; c < labels; c++) {
            float x = from[(ptrdiff_t)c * nodes.stride[1]];
            if (!(x < INFINITY)) {
                return tr_fail(error, TRELLIS_DATA, "the score of label %zu at position %zu is %g",
                               c, i, (double)x);
            }
            to[i * width + c] = s->allowed && !s->allowed[i * labels + c] ? -INFINITY : x;
        }
    }
    return TRELLIS_OK;
}

static trellis_status fill_pairs(const trellis_chain *chain, struct tr_lattice *lattice,
                                 const trellis_chain_sequence *s, trellis_error *error)
{
    size_t labels = chain->labels, width = chain->graph->width;
    trellis_floats pairs = tr_strided(s->pairs, 3, labels, labels);
    if (!pairs.at) {
        return TRELLIS_OK;
    }
    if (!tr_lattice_make_edges(lattice)) {
        return tr_fail_memory(error);
    }
    float *to = tr_lattice_edges(lattice);
    for (size_t i = 1; i < s->length; i++) {
        for (size_t a = 0; a < labels; a++) {
            const float *from = pairs.at + (ptrdiff_t)i * pairs.stride[0] +
                                (ptrdiff_t)a * pairs.stride[1];
            for (size_t b = 0; b < labels; b++) {
                float x = from[(ptrdiff_t)b * pairs.stride[2]];
                if (!(x < INFINITY)) {
                    return tr_fail(error, TRELLIS_DATA,
                                   "the score of labels %zu and %zu at position %zu is %g", a, b, i,
                                   (double)x);
                }
                to[(i * labels + a) * width + b] = x;
            }
        }
    }
    return TRELLIS_OK;
}

static void give_labels(const uint16_t *path, size_t count, int32_t *labels)
{
    for (size_t i = 0; i < count; i++) {
        labels[i] = path[i];
    }
}

/* The score of labels that are all known. */
static double score_labels(const trellis_chain *chain, struct tr_chain_worker *worker,
                           const trellis_chain_sequence *s)
{
    for (size_t i = 0; i < s->length; i++) {
        worker->path.at[i] = (uint16_t)s->labels[i];
    }
    return tr_lattice_path_score(worker->lattice, chain->steps, worker->path.at);
}

/* ---- best paths ------------------------------------------------------------------------------ */

static trellis_status find_best(trellis_chain *chain, struct tr_chain_worker *worker,
                                trellis_chain_sequence *s, trellis_error *error)
{
    trellis_status status = tr_lattice_viterbi(worker->lattice, chain->steps, worker->path.at,
                                               &s->best_score, error);
    if (!status) {
        give_labels(worker->path.at, s->length, s->best);
    }
    return status;
}

static trellis_status find_nbest(trellis_chain *chain, struct tr_chain_worker *worker,
                                 trellis_chain_sequence *s, trellis_error *error)
{
    size_t labels;
    if (__builtin_mul_overflow(s->nbest, s->length, &labels) ||
        !tr_reserve(&worker->path, labels + 1) || !tr_reserve(&worker->scores, s->nbest)) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_lattice_nbest(worker->lattice, chain->steps, s->nbest,
                                             worker->path.at, worker->scores.at, &s->nbest_count,
                                             error);
    if (!status) {
        give_labels(worker->path.at, s->nbest_count * s->length, s->nbest_labels);
        memcpy(s->nbest_scores, worker->scores.at, s->nbest_count * sizeof *s->nbest_scores);
    }
    return status;
}

/* ---- sums over paths ------------------------------------------------------------------------- */

/* to[i][c] = scale * p[i][c], or with `add` the same added. */
static void give_nodes(const trellis_chain *chain, const float *p, size_t length, float scale,
                       bool add, trellis_floats to)
{
    size_t labels = chain->labels, width = chain->graph->width;
    to = tr_strided(to, 2, labels, length);
    for (size_t i = 0; to.at && i < length; i++) {
        float *row = to.at + (ptrdiff_t)i * to.stride[0];
        for (size_t c = 0; c < labels; c++) {
            float *x = &row[(ptrdiff_t)c * to.stride[1]];
            *x = (add ? *x : 0) + scale * p[i * width + c];
        }
    }
}

/* The same for pairs; those into position 0 become 0. */
static void give_pairs(const trellis_chain *chain, const float *p, size_t length, float scale,
                       bool add, trellis_floats to)
{
    size_t labels = chain->labels, width = chain->graph->width;
    to = tr_strided(to, 3, labels, labels);
    for (size_t i = 0; to.at && i < length; i++) {
        for (size_t a = 0; a < labels; a++) {
            float *row = to.at + (ptrdiff_t)i * to.stride[0] + (ptrdiff_t)a * to.stride[1];
            for (size_t b = 0; b < labels; b++) {
                float *x = &row[(ptrdiff_t)b * to.stride[2]];
                float here = i ? scale * p[(i * labels + a) * width + b] : 0;
                *x = (add ? *x : 0) + here;
            }
        }
    }
}

/* The marginals that the lattice has now, as part of the gradient. */
static trellis_status give_expected(trellis_chain *chain, struct tr_chain_worker *worker,
                                    trellis_chain_sequence *s, double scale, bool add, bool counts,
                                    trellis_error *error)
{
    struct tr_lattice *lattice = worker->lattice;
    const float *pairs = NULL;
    if (s->pair_gradient.at && !(pairs = tr_lattice_edge_marginals(lattice, chain->steps))) {
        return tr_fail_memory(error);
    }
    give_nodes(chain, tr_lattice_node_marginals(lattice), s->length, (float)scale, add,
               s->node_gradient);
    give_pairs(chain, pairs, s->length, (float)scale, add, s->pair_gradient);
    return !counts || tr_lattice_collect_steps(lattice, chain->steps, scale)
               ? TRELLIS_OK
               : tr_fail_memory(error);
}

/* Takes weight * [labels] away from the gradient of nodes and pairs. */
static void subtract_labels(const trellis_chain *chain, trellis_chain_sequence *s)
{
    trellis_floats nodes = tr_strided(s->node_gradient, 2, chain->labels, s->length);
    trellis_floats pairs = tr_strided(s->pair_gradient, 3, chain->labels, chain->labels);
    for (size_t i = 0; i < s->length; i++) {
        ptrdiff_t at = (ptrdiff_t)i, to = s->labels[i];
        if (nodes.at) {
            nodes.at[at * nodes.stride[0] + to * nodes.stride[1]] -= (float)s->weight;
        }
        if (pairs.at && i > 0) {
            pairs.at[at * pairs.stride[0] + s->labels[i - 1] * pairs.stride[1] +
                     to * pairs.stride[2]] -= (float)s->weight;
        }
    }
}

/* Narrows the lattice to the paths that agree with the labels that are known; its sums become
 * theirs. */
static trellis_status restrict_to_labels(trellis_chain *chain, struct tr_chain_worker *worker,
                                         const trellis_chain_sequence *s, double *ret_log_z,
                                         trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < s->length; i++) {
        uint16_t label = (uint16_t)s->labels[i];
        if (s->labels[i] >= 0) {
            status = tr_lattice_restrict(worker->lattice, i, &label, 1, error);
        }
    }
    return status ? status
                  : tr_lattice_forward_backward(worker->lattice, chain->steps, ret_log_z, error);
}

static trellis_status compute_loss(trellis_chain *chain, struct tr_chain_worker *worker,
                                   trellis_chain_sequence *s, bool partial, bool gradient,
                                   bool counts, trellis_error *error)
{
    double log_z = s->log_z, agreeing = 0;
    trellis_status status = TRELLIS_OK;
    if (gradient) {
        status = give_expected(chain, worker, s, s->weight, false, counts, error);
    }
    if (!status && partial) {
        status = restrict_to_labels(chain, worker, s, &agreeing, error);
        if (!status && gradient) {
            status = give_expected(chain, worker, s, -s->weight, true, counts, error);
        }
    } else if (!status) {
        agreeing = score_labels(chain, worker, s);
        if (gradient) {
            subtract_labels(chain, s);
        }
    }
    s->loss = status ? NAN : log_z - agreeing;
    return !status && !isfinite(s->loss)
               ? tr_fail(error, TRELLIS_DATA, "the given labels are ruled out")
               : status;
}

static trellis_status sample(trellis_chain *chain, struct tr_chain_worker *worker,
                             trellis_chain_sequence *s, trellis_error *error)
{
    struct tr_random random;
    size_t labels;
    if (__builtin_mul_overflow(s->samples, s->length, &labels) ||
        !tr_reserve(&worker->path, labels + 1)) {
        return tr_fail_memory(error);
    }
    tr_random_seed(&random, s->seed);
    trellis_status status = tr_lattice_sample(worker->lattice, chain->steps, &random, s->samples,
                                              worker->path.at, error);
    if (!status) {
        give_labels(worker->path.at, labels, s->sampled);
    }
    return status;
}

/* argmin_d sum_c P(z_i = c) cost[c][d], of equal ones the lowest. */
static void minimise_risk(trellis_chain *chain, struct tr_chain_worker *worker,
                          trellis_chain_sequence *s)
{
    size_t labels = chain->labels, width = chain->graph->width;
    if (!chain->costs) {
        tr_lattice_posterior(worker->lattice, worker->path.at);
        give_labels(worker->path.at, s->length, s->min_risk);
        return;
    }
    const float *node = tr_lattice_node_marginals(worker->lattice);
    for (size_t i = 0; i < s->length; i++) {
        double least = INFINITY;
        for (size_t d = 0; d < labels; d++) {
            double risk = node[i * width + d] > 0 ? 0 : INFINITY; // ruled out
            for (size_t c = 0; c < labels; c++) {
                risk += (double)node[i * width + c] * (double)chain->costs[c * labels + d];
            }
            if (risk < least) {
                least = risk;
                s->min_risk[i] = (int32_t)d;
            }
        }
    }
}

static trellis_status answer_by_sums(trellis_chain *chain, struct tr_chain_worker *worker,
                                     unsigned questions, trellis_chain_sequence *s,
                                     trellis_error *error)
{
    struct tr_lattice *lattice = worker->lattice;
    trellis_status status = tr_lattice_forward_backward(lattice, chain->steps, &s->log_z, error);
    if (status || s->length == 0) {
        return status;
    }
    if (questions & TRELLIS_CHAIN_NODE_MARGINALS) {
        give_nodes(chain, tr_lattice_node_marginals(lattice), s->length, 1, false,
                   s->node_marginals);
    }
    if (questions & TRELLIS_CHAIN_PAIR_MARGINALS) {
        const float *pairs = tr_lattice_edge_marginals(lattice, chain->steps);
        if (!pairs) {
            return tr_fail_memory(error);
        }
        give_pairs(chain, pairs, s->length, 1, false, s->pair_marginals);
    }
    if (questions & TRELLIS_CHAIN_MIN_RISK) {
        minimise_risk(chain, worker, s);
    }
    return TRELLIS_OK;
}

trellis_status tr_chain_answer(trellis_chain *chain, struct tr_chain_worker *worker,
                               unsigned questions, bool counts, trellis_chain_sequence *s,
                               trellis_error *error)
{
    bool partial;
    bool gradient = questions & TRELLIS_CHAIN_GRADIENT;
    s->best_score = s->log_z = s->label_score = s->loss = NAN;
    s->nbest_count = 0;
    trellis_status status = check_arrays(questions, s, error);
    if (!status) {
        status = check_labels(chain, questions, s, &partial, error);
    }
    if (!status) {
        status = tr_reserve(&worker->path, s->length + 1)
                     ? tr_lattice_begin(worker->lattice, s->length, error)
                     : tr_fail_memory(error);
    }
    if (!status) {
        status = fill_nodes(chain, worker->lattice, s, error);
    }
    if (!status) {
        status = fill_pairs(chain, worker->lattice, s, error);
    }
    if (!status && (questions & TRELLIS_CHAIN_BEST)) {
        status = find_best(chain, worker, s, error);
    }
    if (!status && (questions & TRELLIS_CHAIN_NBEST)) {
        status = find_nbest(chain, worker, s, error);
    }
    if (!status && (questions & TRELLIS_CHAIN_SCORE)) {
        s->label_score = score_labels(chain, worker, s);
    }
    if (!status && (questions & TRELLIS_CHAIN_SAMPLE)) {
        status = sample(chain, worker, s, error);
    }
    if (!status && (questions & BY_SUMS)) {
        status = answer_by_sums(chain, worker, questions, s, error);
    }
    if (!status && (questions & (TRELLIS_CHAIN_LOSS | TRELLIS_CHAIN_GRADIENT))) {
        status = compute_loss(chain, worker, s, partial, gradient, counts, error);
    }
    return status;
}
