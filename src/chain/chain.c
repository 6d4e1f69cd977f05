/* chain.c - a linear chain over given scores: its parameters, and sequences shared among threads.
 *
 * The chain is a first-order graph with a feature for each transition, start and end, so that a
 * score is a weight and the gradient of a score is an expected count. Sequences are cut into blocks
 * that do not depend on the number of threads, and the sums of the blocks are added in their order.
 */
#include "chain/chain.h"

#include <math.h>

#include "base/options.h"
#include "base/structs.h"

enum { MAX_CHAIN_LABELS = 8000, MAX_BLOCKS = 16 };

trellis_floats tr_strided(trellis_floats array, size_t dimensions, size_t inner, size_t outer)
{
    if (!array.stride[0] && !array.stride[1] && !array.stride[2]) {
        array.stride[dimensions - 1] = 1;
        if (dimensions > 1) {
            array.stride[dimensions - 2] = (ptrdiff_t)inner;
        }
        if (dimensions > 2) {
            array.stride[0] = (ptrdiff_t)(inner * outer);
        }
    }
    return array;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static trellis_status make_graph(trellis_chain *chain, trellis_error *error)
{
    uint16_t labels = (uint16_t)chain->labels;
    struct tr_gram *grams = tr_alloc(chain->features, sizeof *grams), *next = grams;
    if (!grams) {
        return tr_fail_memory(error);
    }
    for (uint16_t from = 0; from < labels; from++) {
        for (uint16_t to = 0; to < labels; to++) {
            *next++ = (struct tr_gram){2, {from, to}};
        }
    }
    for (uint16_t to = 0; to < labels; to++) {
        *next++ = (struct tr_gram){2, {labels, to}};
    }
    for (uint16_t from = 0; from < labels; from++) {
        *next++ = (struct tr_gram){2, {from, (uint16_t)(labels + 1)}};
    }
    struct tr_graph_plan plan = {
        .labels = labels, .order = 1, .grams = grams, .gram_count = chain->features};
    trellis_status status = tr_graph_create(&plan, &chain->graph, error);
    free(grams);
    return status ? status : tr_steps_create(chain->graph, NULL, &chain->steps, error);
}

static trellis_status make_workers(trellis_chain *chain, trellis_error *error)
{
    unsigned threads = tr_pool_threads(chain->pool);
    chain->workers = tr_alloc(threads, sizeof *chain->workers);
    trellis_status status = chain->workers ? TRELLIS_OK : tr_fail_memory(error);
    for (unsigned i = 0; !status && i < threads; i++) {
        struct tr_chain_worker *worker = &chain->workers[i];
        worker->expected = tr_alloc(chain->features, sizeof *worker->expected);
        status = worker->expected ? tr_lattice_create(chain->graph, &worker->lattice, error)
                                  : tr_fail_memory(error);
    }
    return status;
}

trellis_status trellis_chain_create(size_t labels, const trellis_options *options,
                                    trellis_chain **ret_chain, trellis_error *error)
{
    if (!TR_CLEAR(ret_chain)) {
        return tr_fail_null(error, __func__);
    }
    if (labels < 1 || labels > MAX_CHAIN_LABELS) {
        return tr_fail(error, TRELLIS_LIMIT, "a chain has 1 to %d labels, not %zu",
                       MAX_CHAIN_LABELS, labels);
    }
    trellis_chain *chain = tr_alloc(1, sizeof *chain);
    if (!chain) {
        return tr_fail_memory(error);
    }
    chain->labels = (uint32_t)labels;
    chain->features = labels * labels + 2 * labels;
    chain->weights = tr_alloc(chain->features, sizeof *chain->weights);
    trellis_status status = chain->weights ? make_graph(chain, error) : tr_fail_memory(error);
    if (!status) {
        status = tr_pool_create_for(options, &chain->pool, error);
    }
    if (!status) {
        status = make_workers(chain, error);
    }
    if (status) {
        trellis_chain_destroy(chain);
        return status;
    }
    *ret_chain = chain;
    return TRELLIS_OK;
}

void trellis_chain_destroy(trellis_chain *chain)
{
    if (!chain) {
        return;
    }
    for (unsigned i = 0; chain->workers && i < tr_pool_threads(chain->pool); i++) {
        tr_lattice_destroy(chain->workers[i].lattice);
        free(chain->workers[i].expected);
        free(chain->workers[i].path.at);
        free(chain->workers[i].scores.at);
    }
    free(chain->workers);
    tr_pool_destroy(chain->pool);
    tr_steps_destroy(chain->steps);
    tr_graph_destroy(chain->graph);
    free(chain->weights);
    free(chain->costs);
    free(chain);
}

/* to[i][j] = array[i][j], `what` for messages; minus infinity is allowed where it rules something
 * out. */
static trellis_status take_matrix(trellis_floats array, size_t rows, size_t columns,
                                  bool may_forbid, const char *what, float *to,
                                  trellis_error *error)
{
    array = tr_strided(array, 2, columns, rows);
    for (size_t i = 0; array.at && i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            float x = array.at[(ptrdiff_t)i * array.stride[0] + (ptrdiff_t)j * array.stride[1]];
            if (isnan(x) || x == INFINITY || (x == -INFINITY && !may_forbid)) {
                return tr_fail(error, TRELLIS_DATA, "the %s [%zu][%zu] is %g", what, i, j,
                               (double)x);
            }
            to[i * columns + j] = x;
        }
    }
    return TRELLIS_OK;
}

/* The same for an array of one dimension. */
static trellis_status take_row(trellis_floats array, size_t size, const char *what, float *to,
                               trellis_error *error)
{
    array = tr_strided(array, 1, size, 1);
    trellis_floats row = {array.at, {0, array.stride[0], 0}};
    return take_matrix(row, 1, size, true, what, to, error);
}

static trellis_status take_costs(const trellis_chain *chain, trellis_floats costs,
                                 float **ret_costs, trellis_error *error)
{
    size_t labels = chain->labels;
    if (!costs.at) {
        return TRELLIS_OK;
    }
    *ret_costs = tr_alloc(labels * labels, sizeof **ret_costs);
    return *ret_costs ? take_matrix(costs, labels, labels, false, "cost", *ret_costs, error)
                      : tr_fail_memory(error);
}

trellis_status trellis_chain_set(trellis_chain *chain, const trellis_chain_scores *scores,
                                 trellis_error *error)
{
    if (!chain || !scores) {
        return tr_fail_null(error, __func__);
    }
    trellis_chain_scores given;
    size_t labels = chain->labels;
    if (!tr_struct_take(&given, sizeof given, scores)) {
        return tr_fail(error, TRELLIS_OPTION, "struct_size is not set");
    }
    float *costs = NULL, *weights = tr_alloc(chain->features, sizeof *weights);
    trellis_status status = weights ? take_matrix(given.transitions, labels, labels, true,
                                                  "transition score", weights, error)
                                    : tr_fail_memory(error);
    if (!status) {
        status = take_row(given.start, labels, "start score", weights + tr_chain_start(chain),
                          error);
    }
    if (!status) {
        status = take_row(given.end, labels, "end score", weights + tr_chain_end(chain), error);
    }
    if (!status) {
        status = take_costs(chain, given.costs, &costs, error);
    }
    if (status) {
        free(weights);
        free(costs);
        return status;
    }
    for (size_t i = 0; given.allowed && i < labels * labels; i++) {
        weights[i] = given.allowed[i] ? weights[i] : -INFINITY;
    }
    free(chain->weights);
    free(chain->costs);
    chain->weights = weights;
    chain->costs = costs;
    tr_steps_set(chain->steps, chain->weights);
    return TRELLIS_OK;
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* One call of trellis_chain_run(). */
struct run {
    trellis_chain *chain;
    unsigned questions;
    char *sequences; // [count] structs of `size` bytes
    size_t size, count, blocks;
    double *sums; // [features] the gradient; NULL: not wanted
    trellis_status status[MAX_BLOCKS];
    trellis_error errors[MAX_BLOCKS];
};

/* Subtracts weight * the transitions of gold labels that are all known. */
static void subtract_gold(const trellis_chain *chain, const trellis_chain_sequence *sequence,
                          double *sums)
{
    size_t n = sequence->length, labels = chain->labels;
    for (size_t i = 0; i < n; i++) {
        if (sequence->labels[i] < 0) {
            return; // expected counts took their place
        }
    }
    for (size_t i = 0; i < n; i++) {
        size_t to = (size_t)sequence->labels[i];
        size_t at = i ? (size_t)sequence->labels[i - 1] * labels + to : tr_chain_start(chain) + to;
        sums[at] -= sequence->weight;
    }
    if (n) {
        sums[tr_chain_end(chain) + (size_t)sequence->labels[n - 1]] -= sequence->weight;
    }
}

/* Adds the expected counts of a block, then takes those of its gold labels away. */
static void add_gradient(struct run *run, struct tr_chain_worker *worker, size_t first, size_t end)
{
    const trellis_chain *chain = run->chain;
    for (size_t k = 0; k < chain->features; k++) {
        run->sums[k] += (double)worker->expected[k];
    }
    for (size_t s = first; s < end; s++) {
        trellis_chain_sequence sequence;
        tr_struct_take(&sequence, sizeof sequence, run->sequences + s * run->size);
        subtract_gold(chain, &sequence, run->sums);
    }
}

static void run_block(void *user, size_t block, unsigned thread)
{
    struct run *run = user;
    trellis_chain *chain = run->chain;
    struct tr_chain_worker *worker = &chain->workers[thread];
    size_t first = run->count * block / run->blocks, end = run->count * (block + 1) / run->blocks;
    trellis_status status = TRELLIS_OK;
    for (size_t s = first; !status && s < end; s++) {
        trellis_chain_sequence sequence;
        char *theirs = run->sequences + s * run->size;
        trellis_error *error = &run->errors[block];
        status = tr_struct_take(&sequence, sizeof sequence, theirs)
                     ? tr_chain_answer(chain, worker, run->questions, run->sums, &sequence, error)
                     : tr_fail(error, TRELLIS_OPTION, "struct_size is not set");
        tr_struct_give(&sequence, sizeof sequence, theirs);
        if (status) {
            trellis_error found = *error;
            tr_fail(error, status, "sequence %zu: %s", s, found.message);
        }
    }
    run->status[block] = status;
    if (run->sums) {
        memset(worker->expected, 0, chain->features * sizeof *worker->expected);
        tr_lattice_flush_transition_counts(worker->lattice, chain->steps, worker->expected);
        tr_pool_turn(chain->pool, block);
        if (!status) {
            add_gradient(run, worker, first, end);
        }
        tr_pool_turn_done(chain->pool, block);
    }
}

/* array[i][j] += sums[i * columns + j] */
static void give_matrix(trellis_floats array, size_t rows, size_t columns, const double *sums)
{
    array = tr_strided(array, 2, columns, rows);
    for (size_t i = 0; array.at && i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            float *x = &array.at[(ptrdiff_t)i * array.stride[0] + (ptrdiff_t)j * array.stride[1]];
            *x = (float)((double)*x + sums[i * columns + j]);
        }
    }
}

static void give_row(trellis_floats array, size_t size, const double *sums)
{
    array = tr_strided(array, 1, size, 1);
    give_matrix((trellis_floats){array.at, {0, array.stride[0], 0}}, 1, size, sums);
}

trellis_status trellis_chain_run(trellis_chain *chain, unsigned questions,
                                 trellis_chain_sequence *sequences, size_t count,
                                 const trellis_chain_gradient *gradient, trellis_error *error)
{
    if (!chain || (!sequences && count > 0)) {
        return tr_fail_null(error, __func__);
    }
    trellis_chain_gradient wanted = {0};
    if (gradient && !tr_struct_take(&wanted, sizeof wanted, gradient)) {
        return tr_fail(error, TRELLIS_OPTION, "struct_size is not set");
    }
    if (count == 0) {
        return TRELLIS_OK;
    }
    struct run *run = tr_alloc(1, sizeof *run);
    bool sums = gradient && (questions & TRELLIS_CHAIN_GRADIENT);
    double *total = sums ? tr_alloc(chain->features, sizeof *total) : NULL;
    if (!run || (sums && !total)) {
        free(run);
        free(total);
        return tr_fail_memory(error);
    }
    *run = (struct run){.chain = chain,
                        .questions = questions,
                        .sequences = (char *)sequences,
                        .size = sequences->struct_size,
                        .count = count,
                        .blocks = count < MAX_BLOCKS ? count : MAX_BLOCKS,
                        .sums = total};
    tr_pool_run_in_turns(chain->pool, run->blocks, run_block, run);
    trellis_status status = TRELLIS_OK;
    for (size_t b = 0; !status && b < run->blocks; b++) {
        status = run->status[b];
        if (status) {
            tr_fail(error, status, "%s", run->errors[b].message);
        }
    }
    if (!status && sums) {
        give_matrix(wanted.transitions, chain->labels, chain->labels, total);
        give_row(wanted.start, chain->labels, total + tr_chain_start(chain));
        give_row(wanted.end, chain->labels, total + tr_chain_end(chain));
    }
    free(run);
    free(total);
    return status;
}
