/* pass.c - one pass over a corpus in fixed blocks of sequences, summed in block order. */
#include "train/pass.h"

enum { BLOCKS = 16 };

struct tr_pass {
    struct tr_training *training;
    struct tr_steps *steps;
    struct tr_pass_worker *workers; // [threads]
    struct tr_pass_room room;
    uint64_t *marks; // [BLOCKS][node_words + edge_words], once they are needed
    size_t node_words, edge_words;

    /* Of the current pass. */
    const struct tr_pass_plan *plan;
    const struct tr_dataset *data;
    size_t begin[BLOCKS + 1];
    double value[BLOCKS];
    trellis_status status[BLOCKS];
    trellis_error errors[BLOCKS];
};

struct tr_steps *tr_pass_steps(struct tr_pass *pass)
{
    return pass->steps;
}

/* Cuts the corpus so that every block has about as many tokens. */
static void cut_blocks(struct tr_pass *pass, const struct tr_dataset *data)
{
    size_t s = 0;
    for (size_t b = 0; b < BLOCKS; b++) {
        pass->begin[b] = s;
        while (s < data->sequences &&
               (double)data->sequence.at[s] < (double)data->tokens * (double)(b + 1) / BLOCKS) {
            s++;
        }
    }
    pass->begin[BLOCKS] = data->sequences;
}

static void mark_tokens(const struct tr_rows *rows, const struct tr_occurrences *occurrences,
                        size_t first, size_t end, uint64_t *marks)
{
    uint32_t from = occurrences->begin.at[first], to = occurrences->begin.at[end];
    if (from < to) {
        tr_rows_mark(rows, occurrences->attribute.at + from, to - from, marks);
    }
}

/* Which weights one block has to do with. */
static void mark_block(void *user, size_t block, unsigned thread)
{
    (void)thread;
    struct tr_pass *pass = user;
    const struct tr_vocabulary *vocabulary = &pass->training->data.vocabulary;
    const struct tr_dataset *data = &pass->training->data.train;
    uint64_t *marks = pass->marks + block * (pass->node_words + pass->edge_words);
    size_t first = data->sequence.at[pass->begin[block]];
    size_t end = data->sequence.at[pass->begin[block + 1]];
    mark_tokens(vocabulary->node.rows, &data->node, first, end, marks);
    mark_tokens(vocabulary->node.rows, &data->segment, first * data->max_segment,
                end * data->max_segment, marks);
    mark_tokens(vocabulary->edge.rows, &data->edge, first, end, marks + pass->node_words);
}

static trellis_status visit_sequence(const struct tr_pass *pass, struct tr_pass_worker *worker,
                                     size_t s, double *sum, trellis_error *error)
{
    const struct tr_pass_plan *plan = pass->plan;
    double weight = plan->unweighted ? 1 : tr_sequence_weight(pass->data, s), value = 0;
    if (weight == 0 || tr_sequence_length(pass->data, s) == 0) {
        return TRELLIS_OK;
    }
    trellis_status status = plan->visit(plan->user, worker, s, weight, &value, error);
    if (!status) {
        *sum += weight * value;
    }
    return status;
}

/* One block: its own sum, then in its turn into the whole. */
static void add_block(void *user, size_t block, unsigned thread)
{
    struct tr_pass *pass = user;
    const struct tr_layout *layout = &pass->training->layout;
    const struct tr_pass_plan *plan = pass->plan;
    struct tr_pass_worker *worker = &pass->workers[thread];
    trellis_status status = TRELLIS_OK;
    if (plan->clears) {
        worker->node_marks = pass->marks + block * (pass->node_words + pass->edge_words);
        worker->edge_marks = worker->node_marks + pass->node_words;
    } else {
        memset(worker->floats, 0, pass->room.floats * sizeof *worker->floats);
    }
    memset(worker->doubles, 0, pass->room.doubles * sizeof *worker->doubles);
    pass->value[block] = 0;
    for (size_t s = pass->begin[block]; !status && s < pass->begin[block + 1]; s++) {
        status = visit_sequence(pass, worker, s, &pass->value[block], &pass->errors[block]);
    }
    if (pass->room.lattice && pass->room.floats) {
        tr_lattice_flush_transition_counts(worker->lattice, pass->steps,
                                           worker->floats + layout->step_begin);
    }
    pass->status[block] = status;
    if (plan->gather) {
        tr_pool_turn(pass->training->pool, block);
        plan->gather(plan->user, worker);
        tr_pool_turn_done(pass->training->pool, block);
    }
}

/* Which weights each block touches, once for all passes over the training data. */
static trellis_status mark_blocks(struct tr_pass *pass, trellis_error *error)
{
    const struct tr_vocabulary *vocabulary = &pass->training->data.vocabulary;
    pass->node_words = tr_rows_mark_words(vocabulary->node.rows);
    pass->edge_words = tr_rows_mark_words(vocabulary->edge.rows);
    pass->marks = tr_alloc((pass->node_words + pass->edge_words) * BLOCKS, sizeof *pass->marks);
    if (!pass->marks) {
        return tr_fail_memory(error);
    }
    tr_pool_run(pass->training->pool, BLOCKS, mark_block, pass);
    return TRELLIS_OK;
}

trellis_status tr_pass_run(struct tr_pass *pass, const struct tr_dataset *data,
                           const struct tr_pass_plan *plan, double *ret_value, trellis_error *error)
{
    pass->plan = plan;
    pass->data = data;
    cut_blocks(pass, data);
    trellis_status status = plan->clears && !pass->marks ? mark_blocks(pass, error) : TRELLIS_OK;
    if (!status) {
        tr_pool_run(pass->training->pool, BLOCKS, add_block, pass);
    }
    *ret_value = 0;
    for (size_t b = 0; !status && b < BLOCKS; b++) {
        status = pass->status[b];
        if (status) {
            tr_fail(error, status, "%s", pass->errors[b].message);
        }
        *ret_value += pass->value[b];
    }
    return status;
}

/* Adds (P(label | X) - [label is gold]) to the rows of every node attribute. The marginals are the
 * lattice's, and nobody reads them after this, so they are turned into the difference in place. */
static void collect_nodes(const struct tr_training *t, struct tr_pass_worker *worker,
                          const struct tr_tokens *tokens, float weight, const uint16_t *gold)
{
    size_t width = t->layout.graph->width;
    float *p = tr_lattice_take_node_marginals(worker->lattice);
    for (size_t i = 0; gold && i < tokens->n; i++) {
        p[i * width + gold[i]] -= 1;
    }
    for (size_t j = 0; weight != 1 && j < tokens->n * width; j++) {
        p[j] *= weight;
    }
    t->layout.kernels->collect(t->data.vocabulary.node.rows, worker->floats, tokens, p, width);
}

/* The same for label pairs and edge attributes. */
static bool collect_edges(const struct tr_pass *pass, struct tr_pass_worker *worker,
                          const struct tr_tokens *tokens, float weight, const uint16_t *gold)
{
    const struct tr_training *t = pass->training;
    size_t width = t->layout.graph->width, area = t->layout.graph->labels * width;
    float *p = tr_lattice_edge_marginals(worker->lattice, pass->steps);
    if (!p) {
        return false;
    }
    for (size_t i = 1; gold && i < tokens->n; i++) {
        p[i * area + gold[i - 1] * width + gold[i]] -= 1;
    }
    for (size_t j = 0; weight != 1 && j < tokens->n * area; j++) {
        p[j] *= weight;
    }
    t->layout.kernels->collect(t->data.vocabulary.edge.rows, worker->floats + t->layout.node_size,
                               tokens, p, area);
    return true;
}

/* The same for segments and their types. */
static void collect_segments(const struct tr_training *t, struct tr_pass_worker *worker,
                             const struct tr_dataset *data, size_t s, float weight,
                             const uint16_t *gold)
{
    struct tr_tokens segments = tr_training_tokens(data, TR_SEGMENT_ATTRIBUTE, s);
    size_t width = t->layout.graph->width;
    float *p = tr_lattice_segment_marginals(worker->lattice);
    if (gold) {
        tr_training_subtract_gold(t, gold, tr_sequence_length(data, s), p);
    }
    for (size_t j = 0; weight != 1 && j < segments.n * width; j++) {
        p[j] *= weight;
    }
    t->layout.kernels->collect(t->data.vocabulary.node.rows, worker->floats, &segments, p, width);
}

trellis_status tr_pass_collect(struct tr_pass *pass, struct tr_pass_worker *worker,
                               const struct tr_dataset *data, size_t s, double weight,
                               const uint16_t *gold, trellis_error *error)
{
    struct tr_tokens nodes = tr_training_tokens(data, TR_NODE_ATTRIBUTE, s);
    struct tr_tokens edges = tr_training_tokens(data, TR_EDGE_ATTRIBUTE, s);
    bool pruned = pass->training->layout.graph->pruned;
    bool has_edges = data->edge.attribute.size &&
                     !(pruned && tr_lattice_level(worker->lattice) == 0);
    if (!tr_lattice_collect_steps(worker->lattice, pass->steps, weight) ||
        (pruned && gold && !tr_lattice_collect_path(worker->lattice, gold, -weight)) ||
        (has_edges && !collect_edges(pass, worker, &edges, (float)weight, gold))) {
        return tr_fail_memory(error);
    }
    if (data->max_segment) {
        collect_segments(pass->training, worker, data, s, (float)weight, gold);
    }
    collect_nodes(pass->training, worker, &nodes, (float)weight, gold);
    return TRELLIS_OK;
}

static trellis_status create_worker(struct tr_pass *pass, unsigned thread, trellis_error *error)
{
    struct tr_pass_worker *worker = &pass->workers[thread];
    worker->thread = thread;
    worker->floats = tr_alloc_aligned(pass->room.floats, sizeof *worker->floats);
    worker->doubles = tr_alloc(pass->room.doubles, sizeof *worker->doubles);
    if (!worker->floats || !worker->doubles) {
        return tr_fail_memory(error);
    }
    return pass->room.lattice
               ? tr_lattice_create(pass->training->layout.graph, &worker->lattice, error)
               : TRELLIS_OK;
}

trellis_status tr_pass_create(struct tr_training *training, struct tr_pass_room room,
                              struct tr_pass **ret_pass, trellis_error *error)
{
    struct tr_pass *pass = tr_alloc(1, sizeof *pass);
    *ret_pass = pass;
    if (!pass) {
        return tr_fail_memory(error);
    }
    unsigned threads = tr_pool_threads(training->pool);
    pass->training = training;
    pass->room = room;
    pass->workers = tr_alloc(threads, sizeof *pass->workers);
    trellis_status status = pass->workers ? TRELLIS_OK : tr_fail_memory(error);
    if (!status && room.lattice) {
        status = tr_steps_create(training->layout.graph, &pass->steps, error);
    }
    for (unsigned i = 0; !status && i < threads; i++) {
        status = create_worker(pass, i, error);
    }
    if (status) {
        tr_pass_destroy(pass);
        *ret_pass = NULL;
    }
    return status;
}

void tr_pass_destroy(struct tr_pass *pass)
{
    if (!pass) {
        return;
    }
    for (unsigned i = 0; pass->workers && i < tr_pool_threads(pass->training->pool); i++) {
        tr_lattice_destroy(pass->workers[i].lattice);
        free(pass->workers[i].floats);
        free(pass->workers[i].doubles);
        free(pass->workers[i].path.at);
    }
    tr_steps_destroy(pass->steps);
    free(pass->workers);
    free(pass->marks);
    free(pass);
}
