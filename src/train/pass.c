/* pass.c - one pass over a corpus in fixed blocks of sequences, shared by threads and ranks. */
#include "train/pass.h"

#include <math.h>
#include <pthread.h>

#include "dataset/segment_parts.h"

/* 16 blocks, and more from two million tokens on, so that there is work for many ranks. */
enum { MIN_BLOCKS = 16, MAX_BLOCKS = 256, TOKENS_OF_A_BLOCK = 1 << 17 };

/* What ranks tell each other at the end of a pass: of each block what it sums to, and how it went.
 * Before its blocks every rank has an entry of its own, with its count (pass.h) and how it fares. */
struct outcome {
    double value, status;
};

struct tr_pass {
    struct tr_training *training;
    struct tr_steps *steps;
    struct tr_pass_worker *workers; // [threads]
    struct tr_pass_room room;
    const struct tr_bundles *bundles; // of the training data; NULL: none
    uint64_t *marks; // [blocks of the rank][mark_words] of nodes, edges, bundles, once needed
    size_t node_words, edge_words, mark_words;
    pthread_mutex_t gathering;

    /* Of the current pass. */
    const struct tr_pass_plan *plan;
    const struct tr_dataset *data;
    size_t blocks, first, end; // all, and those that this rank visits
    size_t begin[MAX_BLOCKS + 1];
    double value[MAX_BLOCKS], failed[MAX_BLOCKS]; // of each block: what it sums to, and its status
    trellis_error errors[MAX_BLOCKS];
    struct outcome *outcomes; // [ranks + blocks] of all, where there are several
    size_t *outcome_begin;    // [ranks + 1] those of each rank, in bytes
};

struct tr_steps *tr_pass_steps(struct tr_pass *pass)
{
    return pass->steps;
}

/* How many blocks a corpus is cut into: a power of 2. */
static size_t block_count(const struct tr_dataset *data)
{
    size_t blocks = MIN_BLOCKS;
    while (blocks < MAX_BLOCKS && blocks < data->tokens / TOKENS_OF_A_BLOCK) {
        blocks *= 2;
    }
    return blocks;
}

/* Cuts the corpus so that every block has about as many tokens. */
static void cut(const struct tr_dataset *data, size_t blocks, size_t *begin)
{
    size_t s = 0;
    for (size_t b = 0; b < blocks; b++) {
        begin[b] = s;
        while (s < data->sequences && (double)data->sequence.at[s] <
                                          (double)data->tokens * (double)(b + 1) / (double)blocks) {
            s++;
        }
    }
    begin[blocks] = data->sequences;
}

/* By what a corpus is cut: where ranks share the training data, by the sequences of all of them. */
static const struct tr_dataset *lengths_of(const struct tr_training *training,
                                           const struct tr_dataset *data)
{
    return data == &training->data.train ? tr_training_lengths(training) : data;
}

static void cut_blocks(struct tr_pass *pass, const struct tr_dataset *data, bool whole)
{
    const struct tr_ranks *ranks = &pass->training->ranks;
    const struct tr_dataset *lengths = lengths_of(pass->training, data);
    pass->blocks = block_count(lengths);
    pass->first = whole ? 0 : tr_ranks_share(ranks, pass->blocks, ranks->rank);
    pass->end = whole ? pass->blocks : tr_ranks_share(ranks, pass->blocks, ranks->rank + 1);
    cut(lengths, pass->blocks, pass->begin);
    for (size_t b = pass->first; b <= pass->end; b++) {
        pass->begin[b] -= data->first;
    }
}

void tr_pass_share(const struct tr_training *training, const struct tr_dataset *data, unsigned rank,
                   size_t *ret_first, size_t *ret_end)
{
    const struct tr_dataset *lengths = lengths_of(training, data);
    size_t begin[MAX_BLOCKS + 1], blocks = block_count(lengths);
    cut(lengths, blocks, begin);
    *ret_first = begin[tr_ranks_share(&training->ranks, blocks, rank)];
    *ret_end = begin[tr_ranks_share(&training->ranks, blocks, rank + 1)];
}

/* The largest value of an attribute. */
static double largest(const struct tr_occurrences *occurrences)
{
    double most = 1;
    for (size_t i = 0; i < occurrences->value.size; i++) {
        most = fmax(most, fabs((double)occurrences->value.at[i]));
    }
    return most;
}

/* The grid for sums up to a number. */
static double grid_for(double number)
{
    int exponent;
    frexp(fmax(number, 1e-200), &exponent);
    return ldexp(1.5, exponent);
}

trellis_status tr_pass_set_grids(struct tr_training *training, trellis_error *error)
{
    const struct tr_dataset *data = &training->data.train;
    double most = fmax(largest(&data->node), fmax(largest(&data->edge), largest(&data->segment)));
    double tokens = data->passed_weight, places = (double)tr_dataset_all_tokens(data);
    trellis_status status = training->data.shared ? tr_ranks_largest(&training->ranks, &most, error)
                                                  : TRELLIS_OK;
    for (size_t s = 0; s < data->sequences; s++) {
        tokens += tr_sequence_weight(data, s) * (double)tr_sequence_length(data, s);
    }
    training->grid = grid_for(tokens * most);
    training->square_grid = grid_for(places * (double)(1 + data->max_segment) * most * most);
    return status;
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
static void mark_block(void *user, size_t number, unsigned thread)
{
    (void)thread;
    struct tr_pass *pass = user;
    const struct tr_vocabulary *vocabulary = &pass->training->data.vocabulary;
    const struct tr_dataset *data = &pass->training->data.train;
    uint64_t *marks = pass->marks + number * pass->mark_words;
    size_t block = pass->first + number;
    size_t first = data->sequence.at[pass->begin[block]];
    size_t end = data->sequence.at[pass->begin[block + 1]];
    uint64_t *bundle_marks = marks + pass->node_words + pass->edge_words;
    if (pass->bundles) {
        tr_bundles_mark(pass->bundles, first, end, bundle_marks, marks);
    } else {
        mark_tokens(vocabulary->node.rows, &data->node, first, end, marks);
    }
    if (tr_bundles_have_segments(pass->bundles, data)) {
        tr_bundles_mark(pass->bundles, tr_segment_starts(data, first), tr_segment_starts(data, end),
                        bundle_marks, marks);
        tr_bundles_mark(pass->bundles, tr_segment_ends(data, first), tr_segment_ends(data, end),
                        bundle_marks, marks);
        tr_bundles_mark(pass->bundles, tr_segment_rest(data, first), tr_segment_rest(data, end),
                        bundle_marks, marks);
    } else {
        mark_tokens(vocabulary->node.rows, &data->segment, first * data->max_segment,
                    end * data->max_segment, marks);
    }
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

/* The end of the run that begins with a sequence of the block that ends at `end`. */
static size_t run_end(const struct tr_pass *pass, size_t first, size_t end)
{
    const uint32_t *sequence = pass->data->sequence.at;
    size_t s = first + 1;
    while (s < end && s < first + TR_RUN_SEQUENCES &&
           sequence[s + 1] - sequence[first] <= TR_RUN_TOKENS) {
        s++;
    }
    return s;
}

/* Visits one sequence, or a run of them; returns the next one. */
static size_t visit_next(const struct tr_pass *pass, struct tr_pass_worker *worker, size_t s,
                         size_t end, double *sum, trellis_status *status, trellis_error *error)
{
    const struct tr_pass_plan *plan = pass->plan;
    double value = 0;
    if (!plan->visit_run) {
        *status = visit_sequence(pass, worker, s, sum, error);
        return s + 1;
    }
    size_t next = run_end(pass, s, end);
    *status = plan->visit_run(plan->user, worker, s, next, &value, error);
    *sum += *status ? 0 : value;
    return next;
}

/* Passes over the training data are long; a score on the dev data belongs to an iterate that is
 * complete. */
static bool is_cancelled(const struct tr_pass *pass)
{
    return pass->data == &pass->training->data.train && tr_training_cancelled(pass->training);
}

/* Adds the sums of a block: by itself where each thread has sums of its own, else one at a time. */
static void gather_block(struct tr_pass *pass, const struct tr_pass_worker *worker, size_t number)
{
    const struct tr_pass_plan *plan = pass->plan;
    if (plan->in_turns) {
        tr_pool_turn(pass->training->pool, number);
        plan->gather(plan->user, worker);
        tr_pool_turn_done(pass->training->pool, number);
    } else if (plan->merge) {
        plan->gather(plan->user, worker);
    } else {
        pthread_mutex_lock(&pass->gathering);
        plan->gather(plan->user, worker);
        pthread_mutex_unlock(&pass->gathering);
    }
}

/* One block of this rank: its own sum, then into the whole. */
static void add_block(void *user, size_t number, unsigned thread)
{
    struct tr_pass *pass = user;
    size_t block = pass->first + number;
    const struct tr_layout *layout = &pass->training->layout;
    const struct tr_pass_plan *plan = pass->plan;
    struct tr_pass_worker *worker = &pass->workers[thread];
    trellis_status status = TRELLIS_OK;
    if (plan->clears) {
        worker->node_marks = pass->marks + number * pass->mark_words;
        worker->edge_marks = worker->node_marks + pass->node_words;
        worker->bundle_marks = worker->edge_marks + pass->edge_words;
    } else {
        memset(worker->floats, 0, pass->room.floats * sizeof *worker->floats);
    }
    memset(worker->doubles, 0, pass->room.doubles * sizeof *worker->doubles);
    pass->value[block] = 0;
    const struct tr_interruption interruption = tr_training_interruption(pass->training);
    if (worker->lattice && pass->data == &pass->training->data.train) {
        tr_lattice_interrupt_by(worker->lattice, &interruption);
    }
    size_t end = pass->begin[block + 1];
    for (size_t s = pass->begin[block]; !status && s < end && !is_cancelled(pass);) {
        s = visit_next(pass, worker, s, end, &pass->value[block], &status, &pass->errors[block]);
    }
    if (pass->room.lattice && pass->room.floats) {
        tr_lattice_flush_transition_counts(worker->lattice, pass->steps,
                                           worker->floats + layout->step_begin);
    }
    if (worker->lattice) {
        tr_lattice_interrupt_by(worker->lattice, NULL);
    }
    pass->failed[block] = status;
    if (plan->gather) {
        gather_block(pass, worker, number);
    }
}

/* Which weights each block touches, once for all passes over the training data. */
static trellis_status mark_blocks(struct tr_pass *pass, trellis_error *error)
{
    const struct tr_vocabulary *vocabulary = &pass->training->data.vocabulary;
    pass->node_words = tr_rows_mark_words(vocabulary->node.rows);
    pass->edge_words = tr_rows_mark_words(vocabulary->edge.rows);
    pass->mark_words = pass->node_words + pass->edge_words +
                       (pass->bundles ? tr_bundles_mark_words(pass->bundles) : 0);
    pass->marks = tr_alloc(pass->mark_words * (pass->end - pass->first), sizeof *pass->marks);
    if (!pass->marks) {
        return tr_fail_memory(error);
    }
    tr_pool_run(pass->training->pool, pass->end - pass->first, mark_block, pass);
    return TRELLIS_OK;
}

/* The rank that visits a block. */
static unsigned rank_of(const struct tr_pass *pass, size_t block)
{
    unsigned rank = 0;
    while (block >= tr_ranks_share(&pass->training->ranks, pass->blocks, rank + 1)) {
        rank++;
    }
    return rank;
}

/* What a rank tells: its own entry, and behind it those of its blocks. */
static struct outcome *outcomes_of(const struct tr_pass *pass, unsigned rank)
{
    return pass->outcomes + tr_ranks_share(&pass->training->ranks, pass->blocks, rank) + rank;
}

static trellis_status exchange_outcomes(struct tr_pass *pass, trellis_status mine,
                                        trellis_error *error)
{
    struct tr_ranks *ranks = &pass->training->ranks;
    struct outcome *own = outcomes_of(pass, ranks->rank);
    *own = (struct outcome){pass->plan->count ? *pass->plan->count : 0, mine};
    for (size_t b = pass->first; b < pass->end; b++) {
        *++own = (struct outcome){pass->value[b], pass->failed[b]};
    }
    for (unsigned r = 0; r <= ranks->count; r++) {
        pass->outcome_begin[r] = (size_t)((char *)outcomes_of(pass, r) - (char *)pass->outcomes);
    }
    return tr_ranks_gather_at_once(ranks, pass->outcomes, pass->outcome_begin, error);
}

/* Gives all ranks what each block has come to and the sum of their counts; where one is not well, as
 * `mine` says of this one, or a block has failed, the message of the first. */
static trellis_status share_outcomes(struct tr_pass *pass, trellis_status mine,
                                     trellis_error *error)
{
    struct tr_ranks *ranks = &pass->training->ranks;
    bool well = true;
    double count = 0;
    size_t b = 0;
    trellis_status status = exchange_outcomes(pass, mine, error);
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        const struct outcome *outcome = outcomes_of(pass, r);
        count += outcome->value;
        well = well && outcome->status == 0;
        for (; b < tr_ranks_share(ranks, pass->blocks, r + 1); b++) {
            outcome++;
            pass->value[b] = outcome->value;
            pass->failed[b] = outcome->status;
        }
    }
    if (status || !well) {
        return status ? status : tr_ranks_agree(ranks, mine, error);
    }
    if (pass->plan->count) {
        *pass->plan->count = count;
    }
    for (b = 0; b < pass->blocks && pass->failed[b] == 0; b++) {}
    return b == pass->blocks ? TRELLIS_OK
                             : tr_ranks_broadcast(ranks, rank_of(pass, b), pass->errors[b].message,
                                                  sizeof pass->errors[b].message, error);
}

/* What the blocks have come to: their values, and the first failure. */
static trellis_status end_pass(struct tr_pass *pass, double *ret_value, trellis_error *error)
{
    for (size_t b = 0; b < pass->blocks; b++) {
        if (pass->failed[b] != 0) {
            return tr_fail(error, (trellis_status)pass->failed[b], "%s", pass->errors[b].message);
        }
        *ret_value += pass->value[b];
    }
    return TRELLIS_OK;
}

trellis_status tr_pass_run(struct tr_pass *pass, const struct tr_dataset *data,
                           const struct tr_pass_plan *plan, double *ret_value, trellis_error *error)
{
    struct tr_training *training = pass->training;
    pass->plan = plan;
    pass->data = data;
    cut_blocks(pass, data, plan->whole);
    *ret_value = 0;
    trellis_status status = plan->clears && !pass->marks ? mark_blocks(pass, error) : TRELLIS_OK;
    if (!status) {
        (plan->in_turns ? tr_pool_run_in_turns
                        : tr_pool_run)(training->pool, pass->end - pass->first, add_block, pass);
    }
    if (!status && plan->merge) {
        plan->merge(plan->user);
    }
    if (!tr_ranks_alone(&training->ranks) && !plan->whole) {
        if (!plan->at_once) {
            status = tr_ranks_agree(&training->ranks, status, error);
        }
        if (!status || plan->at_once) {
            status = share_outcomes(pass, status, error);
        }
        if (!status && plan->sum_count) {
            status = tr_ranks_sum(&training->ranks, plan->sums, plan->sum_count, error);
        }
    }
    if (!status && is_cancelled(pass)) {
        training->report.interrupted = true;
        status = tr_fail(error, TRELLIS_INTERRUPTED, "interrupted");
    }
    return status ? status : end_pass(pass, ret_value, error);
}

void tr_pass_collect_nodes(const struct tr_pass *pass, struct tr_pass_worker *worker, size_t first,
                           const struct tr_tokens *tokens, const float *amounts)
{
    const struct tr_training *t = pass->training;
    size_t width = t->layout.graph->width;
    if (worker->bundles) {
        struct tr_bundled_tokens bundled = tr_bundles_tokens(pass->bundles, first,
                                                             first + tokens->n);
        t->layout.kernels->collect_bundled(&bundled, worker->bundles, worker->floats, amounts,
                                           width);
    } else {
        t->layout.kernels->collect(t->data.vocabulary.node.rows, worker->floats, tokens, amounts,
                                   width);
    }
}

/* Adds (P(label | X) - [label is gold]) to the rows of every node attribute. The marginals are the
 * lattice's, and nobody reads them after this, so they are turned into the difference in place. */
static void collect_nodes(const struct tr_pass *pass, struct tr_pass_worker *worker,
                          const struct tr_dataset *data, size_t s, float weight,
                          const uint16_t *gold)
{
    const struct tr_training *t = pass->training;
    size_t width = t->layout.graph->width, first = data->sequence.at[s],
           n = tr_sequence_length(data, s);
    float *p = tr_lattice_take_node_marginals(worker->lattice);
    for (size_t i = 0; gold && i < n; i++) {
        p[i * width + gold[i]] -= 1;
    }
    for (size_t j = 0; weight != 1 && j < n * width; j++) {
        p[j] *= weight;
    }
    struct tr_tokens tokens = tr_training_tokens(data, TR_NODE_ATTRIBUTE, s);
    tr_pass_collect_nodes(pass, worker, first, &tokens, p);
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

/* The same for the parts of segments (segment_parts.h), whose amounts are sums of theirs. */
static void collect_parts(const struct tr_pass *pass, struct tr_pass_worker *worker,
                          const struct tr_dataset *data, size_t s, const float *p)
{
    const struct tr_row_kernels *kernels = pass->training->layout.kernels;
    size_t width = pass->training->layout.graph->width;
    size_t first = data->sequence.at[s], end = data->sequence.at[s + 1], n = end - first;
    float *part = tr_lattice_segment_parts(worker->lattice);
    struct tr_bundled_tokens starts = tr_bundles_tokens(
        pass->bundles, tr_segment_starts(data, first), tr_segment_starts(data, end));
    struct tr_bundled_tokens ends = tr_bundles_tokens(pass->bundles, tr_segment_ends(data, first),
                                                      tr_segment_ends(data, end));
    struct tr_bundled_tokens rest = tr_bundles_tokens(pass->bundles, tr_segment_rest(data, first),
                                                      tr_segment_rest(data, end));
    kernels->gather(p, n, data->max_segment, width, part);
    kernels->collect_bundled(&starts, worker->bundles, worker->floats, part, width);
    kernels->collect_bundled(&ends, worker->bundles, worker->floats, part + n * width, width);
    kernels->collect_bundled(&rest, worker->bundles, worker->floats, p, width);
}

/* The same for segments and their types. */
static void collect_segments(const struct tr_pass *pass, struct tr_pass_worker *worker,
                             const struct tr_dataset *data, size_t s, float weight,
                             const uint16_t *gold)
{
    const struct tr_training *t = pass->training;
    struct tr_tokens segments = tr_training_tokens(data, TR_SEGMENT_ATTRIBUTE, s);
    size_t width = t->layout.graph->width;
    float *p = tr_lattice_segment_marginals(worker->lattice);
    if (gold) {
        tr_training_subtract_gold(t, gold, tr_sequence_length(data, s), p);
    }
    for (size_t j = 0; weight != 1 && j < segments.n * width; j++) {
        p[j] *= weight;
    }
    if (worker->bundles && tr_bundles_have_segments(pass->bundles, data)) {
        collect_parts(pass, worker, data, s, p);
    } else {
        t->layout.kernels->collect(t->data.vocabulary.node.rows, worker->floats, &segments, p,
                                   width);
    }
}

trellis_status tr_pass_collect(struct tr_pass *pass, struct tr_pass_worker *worker,
                               const struct tr_dataset *data, size_t s, double weight,
                               const uint16_t *gold, trellis_error *error)
{
    struct tr_tokens edges = tr_training_tokens(data, TR_EDGE_ATTRIBUTE, s);
    bool pruned = pass->training->layout.graph->pruned;
    bool has_edges = tr_training_has_edges(pass->training, data) &&
                     !(pruned && tr_lattice_level(worker->lattice) == 0);
    if (!tr_lattice_collect_steps(worker->lattice, pass->steps, weight) ||
        (pruned && gold && !tr_lattice_collect_path(worker->lattice, gold, -weight)) ||
        (has_edges && !collect_edges(pass, worker, &edges, (float)weight, gold))) {
        return tr_fail_memory(error);
    }
    if (data->max_segment) {
        collect_segments(pass, worker, data, s, (float)weight, gold);
    }
    collect_nodes(pass, worker, data, s, (float)weight, gold);
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

/* Room for what ranks tell each other. */
static bool create_outcomes(struct tr_pass *pass)
{
    size_t count = pass->training->ranks.count;
    if (!tr_ranks_alone(&pass->training->ranks)) {
        pass->outcomes = tr_alloc(MAX_BLOCKS + count, sizeof *pass->outcomes);
        pass->outcome_begin = tr_alloc(count + 1, sizeof *pass->outcome_begin);
        return pass->outcomes && pass->outcome_begin;
    }
    return true;
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
    pthread_mutex_init(&pass->gathering, NULL);
    pass->training = training;
    pass->room = room;
    pass->workers = tr_alloc(threads, sizeof *pass->workers);
    bool complete = pass->workers && create_outcomes(pass);
    trellis_status status = complete ? TRELLIS_OK : tr_fail_memory(error);
    if (!status && room.lattice) {
        status = tr_steps_create(training->layout.graph, NULL, &pass->steps, error);
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

trellis_status tr_pass_bundle(struct tr_pass *pass, const struct tr_bundles *bundles,
                              trellis_error *error)
{
    size_t size = (size_t)bundles->count * bundles->rows->width;
    free(pass->marks);
    pass->marks = NULL;
    pass->bundles = bundles;
    for (unsigned i = 0; i < tr_pool_threads(pass->training->pool); i++) {
        struct tr_pass_worker *worker = &pass->workers[i];
        worker->bundles = tr_alloc_aligned(size, sizeof *worker->bundles);
        if (!worker->bundles) {
            return tr_fail_memory(error);
        }
    }
    return TRELLIS_OK;
}

void tr_pass_destroy(struct tr_pass *pass)
{
    if (!pass) {
        return;
    }
    for (unsigned i = 0; pass->workers && i < tr_pool_threads(pass->training->pool); i++) {
        tr_lattice_destroy(pass->workers[i].lattice);
        free(pass->workers[i].floats);
        free(pass->workers[i].bundles);
        free(pass->workers[i].doubles);
        free(pass->workers[i].path.at);
    }
    tr_steps_destroy(pass->steps);
    pthread_mutex_destroy(&pass->gathering);
    free(pass->workers);
    free(pass->outcomes);
    free(pass->outcome_begin);
    free(pass->marks);
    free(pass);
}
