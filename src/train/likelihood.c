/* likelihood.c - the likelihood of a CRF and its gradient (Wu 2013, equations 36 and 42), and of an
 * MEMM.
 *
 *     df/dw_k = sum_s weight_s (E[Phi_k | X_s] - Phi_k(X_s, Z_s))
 *
 * The expectation is over all label sequences for a CRF. For an MEMM it is a sum over positions,
 * each an expectation over the labels that may follow the gold ones: the same code adds up either.
 *
 * Where labels are known in part only (--partial), the probability of all label sequences C_s that
 * are consistent with them takes the place of that of Z_s (Tsuboi et al. 2008):
 *
 *     f(w)    = sum_s weight_s (log Z(X_s) - log Z(X_s, C_s))
 *     df/dw_k = sum_s weight_s (E[Phi_k | X_s] - E[Phi_k | X_s, C_s])
 *
 * which is the same where C_s has but one member.
 *
 * With a pruned graph P is that of the level of the model that Z_s survives to
 * (src/lattice/pruned.c).
 *
 * With a loss (softmax-margin; Gimpel and Smith 2010) log Z and E[] are taken with L(Z_s, Z) added
 * to the score of every Z, which is 0 for Z_s.
 */
#include "train/likelihood.h"

#include <math.h>

#include "graph/path.h"

/* A sequence with partial labels: the lattice holds log Z(X), and is then restricted to log Z(X,
 * C). */
static trellis_status add_partial(struct tr_likelihood *l, struct tr_pass_worker *worker, size_t s,
                                  double weight, double log_z, double *ret_value,
                                  trellis_error *error)
{
    double log_z_known;
    trellis_status status = tr_pass_collect(l->pass, worker, &l->training->data.train, s, weight,
                                            NULL, error);
    if (!status) {
        status = tr_constrain_to_partial(&l->training->data.train, s, worker->lattice, error);
    }
    if (!status) {
        status = tr_lattice_forward_backward(worker->lattice, l->steps, &log_z_known, error);
    }
    if (status) {
        return status;
    }
    *ret_value = log_z - log_z_known;
    return tr_pass_collect(l->pass, worker, &l->training->data.train, s, -weight, NULL, error);
}

trellis_status tr_likelihood_of(const struct tr_training *training, size_t sequence,
                                const struct tr_steps *steps, struct tr_lattice *lattice,
                                double *ret_loss, trellis_error *error)
{
    const struct tr_dataset *data = &training->data.train;
    const uint16_t *gold = data->gold.at + data->sequence.at[sequence];
    tr_training_add_loss(training, sequence, lattice);
    if (training->layout.graph->pruned) {
        return tr_lattice_pruned_likelihood(lattice, steps, gold, ret_loss, error);
    }
    if (tr_training_can(training, TR_LOCAL)) {
        return tr_lattice_local_likelihood(lattice, steps, gold, ret_loss, error);
    }
    trellis_status status = tr_lattice_forward_backward(lattice, steps, ret_loss, error);
    if (!status && !tr_dataset_is_partial(data, sequence)) {
        *ret_loss -= tr_lattice_path_score(lattice, steps, gold);
    }
    return status;
}

trellis_status tr_likelihood_add_sequence(void *user, struct tr_pass_worker *worker, size_t s,
                                          double weight, double *ret_value, trellis_error *error)
{
    struct tr_likelihood *l = user;
    struct tr_training *t = l->training;
    size_t first = t->data.train.sequence.at[s];
    double loss;
    trellis_status status = tr_training_scores(t, &t->data.train, s, &l->at, worker->lattice,
                                               error);
    if (!status) {
        status = tr_likelihood_of(t, s, l->steps, worker->lattice, &loss, error);
    }
    if (status) {
        return status;
    }
    if (tr_dataset_is_partial(&t->data.train, s)) {
        return add_partial(l, worker, s, weight, loss, ret_value, error);
    }
    *ret_value = loss;
    return tr_pass_collect(l->pass, worker, &t->data.train, s, weight,
                           t->data.train.gold.at + first, error);
}

static void gather_block(void *user, const struct tr_pass_worker *worker)
{
    struct tr_likelihood *l = user;
    const struct tr_training *t = l->training;
    const struct tr_block_sums *sums = &l->sums_of[worker->thread];
    float *steps = worker->floats + t->layout.step_begin;
    if (l->bundles) {
        tr_bundles_take_marked(l->bundles, worker->bundle_marks, worker->bundles, t->grid,
                               sums->bundles);
    }
    tr_rows_take_marked(t->data.vocabulary.node.rows, worker->node_marks, worker->floats, t->grid,
                        sums->features);
    tr_rows_take_marked(t->data.vocabulary.edge.rows, worker->edge_marks,
                        worker->floats + t->layout.node_size, t->grid, sums->features + l->node);
    for (size_t j = 0; j < t->layout.step_size; j++) {
        sums->features[l->node + l->edge + j] += tr_on_grid((double)steps[j], t->grid);
        steps[j] = 0;
    }
}

/* Adds what the other threads have added up to the sums of the first, which is exact in any order, and
 * zeroes theirs. */
static double merge_features(void *user, size_t begin, size_t end)
{
    const struct tr_likelihood *l = user;
    for (unsigned i = 1; i < tr_pool_threads(l->training->pool); i++) {
        for (size_t j = begin; j < end; j++) {
            l->sums_of[0].features[j] += l->sums_of[i].features[j];
            l->sums_of[i].features[j] = 0;
        }
    }
    return 0;
}

static double merge_bundles(void *user, size_t begin, size_t end)
{
    const struct tr_likelihood *l = user;
    for (unsigned i = 1; i < tr_pool_threads(l->training->pool); i++) {
        for (size_t j = begin; j < end; j++) {
            l->sums_of[0].bundles[j] += l->sums_of[i].bundles[j];
            l->sums_of[i].bundles[j] = 0;
        }
    }
    return 0;
}

static size_t bundle_size(const struct tr_likelihood *l)
{
    return l->bundles ? (size_t)l->bundles->count * l->bundles->rows->width : 0;
}

static void merge_sums(void *user)
{
    struct tr_likelihood *l = user;
    if (tr_pool_threads(l->training->pool) > 1) {
        tr_pool_sum(l->training->pool, l->size, merge_features, l);
        tr_pool_sum(l->training->pool, bundle_size(l), merge_bundles, l);
    }
}

/* The gradient of the blocks to that of w, or of this rank's slice of it. */
static trellis_status end_sum(struct tr_likelihood *l, double *sums, double *gradient,
                              trellis_error *error)
{
    struct tr_training *t = l->training;
    bool owns = l->touched.ranks != NULL;
    size_t first = owns ? l->slices.first : 0, end = owns ? first + l->slices.held : l->size;
    trellis_status status = owns ? tr_likelihood_add_ranks(l, sums, error) : TRELLIS_OK;
    if (l->bundles) {
        tr_bundles_inherit(l->bundles, first, end, sums, t->pool);
    }
    for (size_t j = l->node + l->edge > first ? l->node + l->edge : first; j < end; j++) {
        sums[j] -= l->observed_steps[j - l->node - l->edge];
    }
    if (l->split && l->slices.held) {
        memcpy(gradient, sums + first, l->slices.held * sizeof *gradient);
    }
    return status || l->split ? status : tr_slices_gather(&l->slices, sums, sizeof *sums, error);
}

trellis_status tr_likelihood_sum(struct tr_likelihood *l, double *gradient, double *ret_value,
                                 trellis_error *error)
{
    struct tr_training *t = l->training;
    double *sums = l->split ? l->sums : gradient;
    tr_steps_set(l->steps, l->at.weights + t->layout.step_begin);
    l->sums_of[0].features = sums;
    if (l->bundles) {
        tr_bundles_add_up(l->bundles, t->layout.kernels, l->at.weights, t->pool);
    }
    memset(sums, 0, l->size * sizeof *sums);
    struct tr_pass_plan plan = {.visit = tr_likelihood_add_sequence,
                                .visit_run = l->runs ? tr_likelihood_add_run : NULL,
                                .gather = gather_block,
                                .merge = merge_sums,
                                .user = l,
                                .sums = sums,
                                .sum_count = l->touched.ranks ? 0 : l->size,
                                .clears = true,
                                .at_once = l->split, // the weights have just been pulled
                                .count = l->split ? &l->active : NULL};
    trellis_error failure;
    trellis_status status = tr_pass_run(l->pass, &t->data.train, &plan, ret_value, &failure);
    if (l->bundles) { // also after a failure, so that nothing is left behind
        tr_bundles_hand_down(l->bundles, t->pool);
    }
    if (status == TRELLIS_DATA) { // scores beyond all numbers: w went too far
        *ret_value = INFINITY;
        return TRELLIS_OK;
    }
    if (status) {
        return tr_fail(error, status, "%s", failure.message);
    }
    return end_sum(l, sums, gradient, error);
}

/* How often each transition feature is fired by the gold labels, where they are known. In a pruned
 * graph that depends on the level that they survive to, so there it is counted with what is
 * expected. */
static trellis_status count_steps(struct tr_likelihood *l, trellis_error *error)
{
    struct tr_training *t = l->training;
    const struct tr_dataset *data = &t->data.train;
    for (size_t s = 0; !t->layout.graph->pruned && s < data->sequences; s++) {
        size_t n = tr_dataset_is_partial(data, s) ? 0 : tr_sequence_length(data, s);
        struct tr_path_walk walk = tr_path_walk(t->layout.graph,
                                                data->gold.at + data->sequence.at[s], n);
        while (tr_path_next(&walk)) {
            for (size_t k = 0; k < walk.count; k++) {
                l->observed_steps[walk.feature[k]] += tr_on_grid(tr_sequence_weight(data, s),
                                                                 t->grid);
            }
        }
    }
    return t->data.shared ? tr_ranks_sum(&t->ranks, l->observed_steps, t->layout.step_size, error)
                          : TRELLIS_OK;
}

/* Room for what the threads add up. */
static bool make_sums(struct tr_likelihood *l)
{
    unsigned threads = tr_pool_threads(l->training->pool);
    size_t width = l->training->layout.graph->width;
    l->sums_of = tr_alloc(threads, sizeof *l->sums_of);
    bool ok = l->sums_of;
    l->runs = tr_likelihood_can_run(l);
    for (unsigned i = 0; ok && l->runs && i < threads; i++) {
        l->sums_of[i].rows = tr_alloc_aligned(TR_RUN_TOKENS * width, sizeof(float));
        ok = l->sums_of[i].rows;
    }
    for (unsigned i = 1; ok && i < threads; i++) {
        l->sums_of[i].features = tr_alloc_aligned(l->size, sizeof(double));
        ok = l->sums_of[i].features;
    }
    return ok;
}

/* The same for bundles. */
static bool make_bundle_sums(struct tr_likelihood *l)
{
    bool ok = true;
    l->sums_of[0].bundles = l->bundles->gradient;
    for (unsigned i = 1; ok && i < tr_pool_threads(l->training->pool); i++) {
        l->sums_of[i].bundles = tr_alloc_aligned(bundle_size(l), sizeof(double));
        ok = l->sums_of[i].bundles;
    }
    return ok;
}

trellis_status tr_likelihood_create(struct tr_training *t, struct tr_likelihood **ret_likelihood,
                                    trellis_error *error)
{
    struct tr_likelihood *l = tr_alloc(1, sizeof *l);
    *ret_likelihood = l;
    if (!l) {
        return tr_fail_memory(error);
    }
    l->training = t;
    l->node = tr_rows_pairs(t->data.vocabulary.node.rows);
    l->edge = tr_rows_pairs(t->data.vocabulary.edge.rows);
    l->size = l->node + l->edge + t->layout.step_size;
    l->observed_steps = tr_alloc(t->layout.step_size, sizeof *l->observed_steps);
    trellis_status status = l->observed_steps && make_sums(l) ? tr_iterate_create(t, &l->at, error)
                                                              : tr_fail_memory(error);
    if (!status) {
        status = tr_slices_create(&l->slices, &t->ranks, l->size, error);
    }
    if (!status) {
        status = tr_slices_create(&l->whole, NULL, l->size, error);
    }
    if (!status) {
        struct tr_pass_room room = {.lattice = true, .floats = t->layout.size};
        status = tr_pass_create(t, room, &l->pass, error);
    }
    if (!status) {
        l->steps = tr_pass_steps(l->pass);
        status = count_steps(l, error);
    }
    if (status) {
        tr_likelihood_destroy(l);
        *ret_likelihood = NULL;
        return status;
    }
    return TRELLIS_OK;
}

/* Frees attributes that are not read again, and where those of each token begin. */
static void forget(struct tr_occurrences *occurrences)
{
    free(occurrences->attribute.at);
    free(occurrences->begin.at);
    occurrences->attribute.at = occurrences->begin.at = NULL;
    occurrences->attribute.size = occurrences->attribute.capacity = 0;
    occurrences->begin.size = occurrences->begin.capacity = 0;
}

struct bundle_search {
    const struct tr_training *training;
    struct tr_ranks *ranks; // NULL: this one has all data
    trellis_status (*beside)(void *user, trellis_error *error);
    void *user;
    struct tr_bundle_finder *found;
    trellis_status status, beside_status;
    trellis_error error, beside_error;
};

/* The two blocks of a search. */
static void search_or_beside(void *user, size_t block, unsigned thread)
{
    (void)thread;
    struct bundle_search *x = user;
    if (block == 1) {
        const struct tr_training_data *data = &x->training->data;
        x->status = tr_bundles_search(&data->train, data->vocabulary.node.rows, x->ranks, &x->found,
                                      &x->error);
    } else if (x->beside) {
        x->beside_status = x->beside(x->user, &x->beside_error);
    }
}

/* Messages between ranks must have the same order on all of them, so these do one after the other, and
 * one that has failed says nothing more. */
static trellis_status search(struct bundle_search *x, trellis_error *error)
{
    if (!tr_ranks_alone(&x->training->ranks)) {
        search_or_beside(x, 0, 0);
        if (!x->beside_status) {
            search_or_beside(x, 1, 0);
        }
    } else {
        tr_pool_run(x->training->pool, 2, search_or_beside, x);
    }
    if (error && (x->beside_status || x->status)) {
        *error = x->beside_status ? x->beside_error : x->error;
    }
    return x->beside_status ? x->beside_status : x->status;
}

trellis_status tr_likelihood_bundle(struct tr_likelihood *l, bool stay,
                                    trellis_status (*beside)(void *user, trellis_error *error),
                                    void *user, trellis_error *error)
{
    struct tr_training *t = l->training;
    struct tr_dataset *data = &t->data.train;
    struct bundle_search x = {
        .training = t, .ranks = t->data.shared ? &t->ranks : NULL, .beside = beside, .user = user};
    trellis_status status = search(&x, error);
    if (!status) {
        status = tr_bundles_of_search(x.found, t->pool, &l->bundles, error);
    }
    tr_bundle_finder_destroy(x.found);
    l->at.bundles = l->bundles;
    if (!status && l->bundles && !make_bundle_sums(l)) {
        status = tr_fail_memory(error);
    }
    if (!status && !tr_ranks_alone(&t->ranks)) {
        status = tr_likelihood_touch(l, error);
    }
    if (l->bundles && !stay) {
        forget(&data->node);
        if (tr_bundles_have_segments(l->bundles, data)) {
            forget(&data->segment);
        }
    }
    return status || !l->bundles ? status : tr_pass_bundle(l->pass, l->bundles, error);
}

void tr_likelihood_destroy(struct tr_likelihood *l)
{
    if (!l) {
        return;
    }
    tr_pass_destroy(l->pass);
    tr_iterate_free(&l->at);
    tr_bundles_destroy(l->bundles);
    tr_slices_free(&l->whole);
    tr_slices_free(&l->slices);
    tr_touched_free(&l->touched);
    tr_touched_free(&l->inherited);
    for (unsigned i = 0; l->sums_of && i < tr_pool_threads(l->training->pool); i++) {
        free(i > 0 ? l->sums_of[i].features : NULL);
        free(i > 0 ? l->sums_of[i].bundles : NULL);
        free(l->sums_of[i].rows);
    }
    free(l->sums_of);
    free(l->sums);
    free(l->values);
    free(l->observed_steps);
    free(l);
}

/* ---- curvature ------------------------------------------------------------------------------- */

/* Where a pair stands among the features of its rows, SIZE_MAX where it is none. */
static size_t feature_of(const struct tr_rows *rows, uint32_t attribute, uint32_t outcome)
{
    for (uint64_t i = rows->begin[attribute]; i < rows->begin[attribute + 1]; i++) {
        if (rows->outcome[i] == outcome) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* The square of the value of an occurrence. */
static double square_at(const struct tr_training *t, const struct tr_occurrences *occurrences,
                        size_t k)
{
    double value = occurrences->value.size ? (double)occurrences->value.at[k] : 1;
    return tr_on_grid(value * value, t->square_grid);
}

/* Adds what the segments have: all of them to `seen`, the gold ones to `curvature`. */
static void add_segments(const struct tr_training *t, const struct tr_rows *rows, double *seen,
                         double *curvature)
{
    const struct tr_dataset *data = &t->data.train;
    const struct tr_occurrences *occurrences = &data->segment;
    for (size_t k = 0; k < occurrences->attribute.size; k++) {
        seen[occurrences->attribute.at[k]] += square_at(t, occurrences, k);
    }
    for (size_t s = 0; data->max_segment && s < data->sequences; s++) {
        size_t first = data->sequence.at[s], n = data->sequence.at[s + 1] - first;
        for (size_t at = 0; at < n;) {
            struct tr_segment found = tr_segment_at(t->data.segments, data->gold.at + first, n, at);
            size_t d = found.end - found.begin;
            bool counts = found.type != TR_NO_LABEL && d <= data->max_segment;
            size_t row = counts ? (first + found.end - 1) * data->max_segment + d - 1 : 0;
            for (uint32_t k = occurrences->begin.at[row];
                 counts && k < occurrences->begin.at[row + 1]; k++) {
                size_t i = feature_of(rows, occurrences->attribute.at[k],
                                      t->data.segments->type[found.type].head);
                if (i != SIZE_MAX) {
                    curvature[i] += square_at(t, occurrences, k);
                }
            }
            at = found.end;
        }
    }
}

/* An attribute that is seen with weight n, a share p of it with the outcome, is taken to have the
 * variance n p (1 - p) there. The square root of that, half-way between all alike and the estimate
 * itself, took the fewest iterations in practice (docs/results.md). */
static trellis_status curvature_of(struct tr_training *training, bool edge,
                                   const struct tr_rows *rows, size_t width, double *curvature,
                                   trellis_error *error)
{
    const struct tr_dataset *data = &training->data.train;
    const struct tr_occurrences *occurrences = edge ? &data->edge : &data->node;
    double *seen = tr_alloc(rows->attributes, sizeof *seen);
    if (!seen) {
        return tr_fail_memory(error);
    }
    for (size_t t = 0; t < data->tokens; t++) {
        for (uint32_t k = occurrences->begin.at[t]; k < occurrences->begin.at[t + 1]; k++) {
            double square = square_at(training, occurrences, k);
            uint32_t a = occurrences->attribute.at[k], gold = data->gold.at[t];
            size_t i = feature_of(rows, a,
                                  edge ? data->gold.at[t - 1] * (uint32_t)width + gold : gold);
            seen[a] += square;
            if (i != SIZE_MAX) {
                curvature[i] += square;
            }
        }
    }
    if (!edge) {
        add_segments(training, rows, seen, curvature);
    }
    trellis_status status = TRELLIS_OK;
    if (training->data.shared) { // on the grid, these sums are exact
        status = tr_ranks_sum(&training->ranks, seen, rows->attributes, error);
        status = status ? status
                        : tr_ranks_sum(&training->ranks, curvature, tr_rows_pairs(rows), error);
    }
    for (uint32_t a = 0; !status && a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            double share = (curvature[i] + 0.5) / (seen[a] + 1);
            curvature[i] = sqrt(seen[a] * share * (1 - share) + 2);
        }
    }
    free(seen);
    return status;
}

trellis_status tr_likelihood_curvature(const struct tr_likelihood *l, double *curvature,
                                       trellis_error *error)
{
    struct tr_training *t = l->training;
    trellis_status status = curvature_of(t, false, t->data.vocabulary.node.rows,
                                         t->layout.graph->width, curvature, error);
    if (!status) {
        status = curvature_of(t, true, t->data.vocabulary.edge.rows, t->layout.graph->width,
                              curvature + l->node, error);
    }
    double tokens = (double)tr_dataset_all_tokens(&t->data.train);
    double step = sqrt(2 * tokens / ((double)t->layout.step_size + 1) + 2); // all alike
    for (size_t j = 0; j < t->layout.step_size; j++) {
        curvature[l->node + l->edge + j] = step;
    }
    return status;
}
