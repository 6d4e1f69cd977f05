/* sgd_step.c - a stochastic step on a batch of sequences.
 *
 * Gradients (marginals, losses, expected counts) are computed sequence by sequence, weights moved
 * attribute by attribute: the attributes are cut into shares, and whoever takes one goes through
 * all sequences of the batch in their order and moves its weights. No weight is moved by two
 * threads, and each is moved in the same order whatever their number.
 */
#include "base/hash.h"
#include "graph/path.h"
#include "train/objective.h"
#include "train/sgd.h"

/* ---- workspaces ------------------------------------------------------------------------------ */

static void free_slots(struct tr_sgd_slot *slots, size_t count)
{
    for (size_t i = 0; slots && i < count; i++) {
        tr_lattice_destroy(slots[i].lattice);
        free(slots[i].steps);
        free(slots[i].fired.at);
        free(slots[i].node_cuts.at);
        free(slots[i].edge_cuts.at);
        free(slots[i].segment_cuts.at);
        free(slots[i].segments.at);
        free(slots[i].nodes.at);
        free(slots[i].edges.at);
        for (int kind = 0; kind < TR_ATTRIBUTE_KINDS; kind++) {
            tr_dropout_free(&slots[i].dropout[kind]);
        }
    }
    free(slots);
}

trellis_status tr_sgd_make_slots(struct tr_sgd *sgd, const struct tr_training *training,
                                 size_t count, trellis_error *error)
{
    const struct tr_layout *layout = &training->layout;
    struct tr_sgd_slot *slots = tr_alloc(count, sizeof *slots);
    float *step_weights = tr_alloc(layout->step_size, sizeof *step_weights);
    size_t *mine = tr_alloc(count, sizeof *mine);
    struct tr_steps *steps = NULL;
    trellis_status status = slots && step_weights && mine
                                ? tr_steps_create(layout->graph, NULL, &steps, error)
                                : tr_fail_memory(error);
    for (size_t i = 0; !status && i < count; i++) {
        slots[i].steps = tr_alloc(layout->step_size, sizeof(float));
        status = slots[i].steps ? tr_lattice_create(layout->graph, &slots[i].lattice, error)
                                : tr_fail_memory(error);
    }
    if (status) {
        free_slots(slots, count);
        free(step_weights);
        free(mine);
        tr_steps_destroy(steps);
        return status;
    }
    free_slots(sgd->slots, sgd->slot_count);
    free(sgd->step_weights);
    tr_steps_destroy(sgd->steps);
    free(sgd->mine);
    sgd->slots = slots;
    sgd->slot_count = count;
    sgd->mine = mine;
    sgd->step_weights = step_weights;
    sgd->steps = steps;
    return TRELLIS_OK;
}

void tr_sgd_free(struct tr_sgd *sgd)
{
    free_slots(sgd->slots, sgd->slot_count);
    free(sgd->step_weights);
    tr_steps_destroy(sgd->steps);
    free(sgd->node_cuts);
    free(sgd->edge_cuts);
    free(sgd->order);
    free(sgd->mine);
    tr_sgd_exchange_destroy(sgd->exchange);
    tr_iterate_free(&sgd->v);
    tr_iterate_free(&sgd->result);
    free(sgd->first);
    free(sgd->a);
}

/* ---- gradients ------------------------------------------------------------------------------- */

static void scale_scores(float *scores, size_t count, float scale)
{
    for (size_t i = 0; i < count; i++) {
        scores[i] *= scale;
    }
}

static bool has_segments(const struct tr_sgd *sgd)
{
    return sgd->training->data.train.max_segment > 0;
}

/* difference = p, or difference -= p */
static void take_marginals(float *difference, const float *p, size_t count, bool first)
{
    for (size_t j = 0; j < count; j++) {
        difference[j] = first ? p[j] : difference[j] - p[j];
    }
}

/* With open labels: E[Phi | X] first, then minus E[Phi | X, what is known]. */
static trellis_status take_partial(struct tr_sgd *sgd, struct tr_sgd_slot *slot, size_t n,
                                   bool first)
{
    const struct tr_training *t = sgd->training;
    size_t nodes = n * t->layout.graph->width, edges = nodes * t->layout.graph->labels;
    bool has_edges = tr_training_has_edges(t, &t->data.train);
    size_t segments = nodes * t->data.train.max_segment;
    const float *p = has_edges ? tr_lattice_edge_marginals(slot->lattice, sgd->steps) : NULL;
    if (!tr_reserve(&slot->nodes, nodes) || !tr_reserve(&slot->segments, segments) ||
        (has_edges && !tr_reserve(&slot->edges, edges)) || (has_edges && !p) ||
        !tr_lattice_expect_steps(slot->lattice, sgd->steps, first ? 1 : -1, slot->steps)) {
        return tr_fail_memory(&slot->error);
    }
    if (has_edges) {
        take_marginals(slot->edges.at, p, edges, first);
    }
    if (segments) {
        take_marginals(slot->segments.at, tr_lattice_segment_marginals(slot->lattice), segments,
                       first);
    }
    take_marginals(slot->nodes.at, tr_lattice_node_marginals(slot->lattice), nodes, first);
    return TRELLIS_OK;
}

static trellis_status partial_gradient(struct tr_sgd *sgd, struct tr_sgd_slot *slot, size_t n,
                                       double log_z)
{
    double log_z_known;
    trellis_status status = take_partial(sgd, slot, n, true);
    if (!status) {
        status = tr_constrain_to_partial(&sgd->training->data.train, slot->at, slot->lattice,
                                         &slot->error);
    }
    if (!status) {
        status = tr_lattice_forward_backward(slot->lattice, sgd->steps, &log_z_known, &slot->error);
    }
    if (!status) {
        slot->loss = log_z - log_z_known;
        status = take_partial(sgd, slot, n, false);
        slot->segment_change = has_segments(sgd) ? slot->segments.at : NULL;
        slot->node_change = slot->nodes.at;
        slot->edge_change = slot->edges.at;
    }
    return status;
}

/* The step features of the gold labels count down, the expected ones were counted up. */
static void count_gold_steps(struct tr_sgd *sgd, struct tr_sgd_slot *slot)
{
    const struct tr_dataset *data = &sgd->training->data.train;
    struct tr_path_walk walk = tr_path_walk(sgd->training->layout.graph,
                                            data->gold.at + data->sequence.at[slot->at],
                                            tr_sequence_length(data, slot->at));
    while (tr_path_next(&walk)) {
        for (size_t k = 0; k < walk.count; k++) {
            slot->steps[walk.feature[k]] -= 1;
        }
    }
}

/* The same with a pruned graph, of the level that the gold labels survive to. A sequence fires few
 * features of many, so they are listed. */
static bool count_pruned_steps(struct tr_sgd *sgd, struct tr_sgd_slot *slot, const uint16_t *gold)
{
    size_t count = 0;
    bool ok = tr_lattice_collect_steps(slot->lattice, sgd->steps, 1) &&
              tr_lattice_collect_path(slot->lattice, gold, -1);
    const uint32_t *fired = tr_lattice_collected(slot->lattice, &count);
    ok = ok && tr_reserve(&slot->fired, count);
    slot->fired.size = ok ? count : 0;
    if (ok && count) {
        memcpy(slot->fired.at, fired, count * sizeof *fired);
    }
    tr_lattice_flush_transition_counts(slot->lattice, sgd->steps, slot->steps);
    return ok;
}

/* The marginals belong to the lattice, and it is ours: they are turned into the gradient in
 * place. */
static trellis_status take_known(struct tr_sgd *sgd, struct tr_sgd_slot *slot)
{
    const struct tr_training *t = sgd->training;
    size_t first = t->data.train.sequence.at[slot->at], width = t->layout.graph->width;
    size_t n = t->data.train.sequence.at[slot->at + 1] - first,
           area = t->layout.graph->labels * width;
    const uint16_t *gold = t->data.train.gold.at + first;
    float *edge = NULL;
    bool pruned = t->layout.graph->pruned;
    bool has_edges = tr_training_has_edges(t, &t->data.train) &&
                     !(pruned && tr_lattice_level(slot->lattice) == 0);
    if (!(pruned ? count_pruned_steps(sgd, slot, gold)
                 : tr_lattice_expect_steps(slot->lattice, sgd->steps, 1, slot->steps)) ||
        (has_edges && !(edge = tr_lattice_edge_marginals(slot->lattice, sgd->steps)))) {
        return tr_fail_memory(&slot->error);
    }
    float *segment = tr_lattice_segment_marginals(slot->lattice);
    if (segment) {
        tr_training_subtract_gold(t, gold, n, segment);
    }
    slot->segment_change = segment;
    float *node = tr_lattice_take_node_marginals(slot->lattice);
    for (size_t i = 0; i < n; i++) {
        node[i * width + gold[i]] -= 1;
        if (edge && i > 0) {
            edge[i * area + gold[i - 1] * width + gold[i]] -= 1;
        }
    }
    if (!pruned) {
        count_gold_steps(sgd, slot);
    }
    slot->node_change = node;
    slot->edge_change = edge;
    return TRELLIS_OK;
}

static const uint32_t *cuts_of(const struct tr_sgd_slot *slot, enum tr_attribute_kind kind)
{
    return kind == TR_EDGE_ATTRIBUTE      ? slot->edge_cuts.at
           : kind == TR_SEGMENT_ATTRIBUTE ? slot->segment_cuts.at
                                          : slot->node_cuts.at;
}

/* Where each share begins among the sorted attributes of every token, so that the thread that moves
 * it need not search. */
static bool cut_tokens(const struct tr_sgd *sgd, struct tr_sgd_slot *slot,
                       enum tr_attribute_kind kind)
{
    struct tr_tokens tokens = slot->tokens[kind];
    const uint32_t *cuts = kind == TR_EDGE_ATTRIBUTE ? sgd->edge_cuts : sgd->node_cuts;
    size_t room = tokens.n * (sgd->shares + 1);
    bool ok = kind == TR_EDGE_ATTRIBUTE      ? tr_reserve(&slot->edge_cuts, room)
              : kind == TR_SEGMENT_ATTRIBUTE ? tr_reserve(&slot->segment_cuts, room)
                                             : tr_reserve(&slot->node_cuts, room);
    uint32_t *to = (uint32_t *)cuts_of(slot, kind);
    for (size_t i = 0; ok && i < tokens.n; i++) {
        uint32_t k = tokens.begin[i];
        for (size_t share = 0; share <= sgd->shares; share++) {
            while (k < tokens.begin[i + 1] && tokens.attribute[k] < cuts[share]) {
                k++;
            }
            *to++ = k;
        }
    }
    return ok;
}

/* The attributes that this step sees. What is left out depends on the seed, the step and the
 * sequence alone, so that threads, trials of rates and interruptions change nothing. */
static bool take_tokens(const struct tr_sgd *sgd, struct tr_sgd_slot *slot)
{
    double p = sgd->training->settings.dropout;
    struct tr_random random;
    bool ok = true;
    struct {
        uint64_t seed;
        double step;
        uint64_t sequence;
    } key = {sgd->training->settings.seed, sgd->t, slot->sequence};
    tr_random_seed(&random, tr_hash64(&key, sizeof key));
    for (int kind = 0; ok && kind < TR_ATTRIBUTE_KINDS; kind++) {
        struct tr_tokens *tokens = &slot->tokens[kind];
        *tokens = tr_training_tokens(&sgd->training->data.train, (enum tr_attribute_kind)kind,
                                     slot->at);
        ok = p == 0 || tr_dropout_thin(&slot->dropout[kind], tokens, p, &random, tokens);
    }
    return ok;
}

static trellis_status score(const struct tr_sgd *sgd, struct tr_sgd_slot *slot)
{
    const struct tr_training *t = sgd->training;
    const struct tr_dataset *data = &t->data.train;
    if (!take_tokens(sgd, slot)) {
        return tr_fail_memory(&slot->error);
    }
    trellis_status status = tr_training_score_tokens(t, data, slot->at, slot->tokens, &sgd->v,
                                                     slot->lattice, &slot->error);
    return status ? status
                  : tr_training_restrict_words(t, data, slot->at, slot->lattice, &slot->error);
}

/* The same for all kinds, in a batch of several. */
static void cut_slot(const struct tr_sgd *sgd, struct tr_sgd_slot *slot, bool edges, bool segments)
{
    if (sgd->count > 1 && (!cut_tokens(sgd, slot, TR_NODE_ATTRIBUTE) ||
                           (edges && !cut_tokens(sgd, slot, TR_EDGE_ATTRIBUTE)) ||
                           (segments && !cut_tokens(sgd, slot, TR_SEGMENT_ATTRIBUTE)))) {
        slot->status = tr_fail_memory(&slot->error);
    }
}

/* Of a sequence whose gradient another rank has computed. */
static void cut_theirs(void *user, size_t index, unsigned thread)
{
    (void)thread;
    struct tr_sgd *sgd = user;
    struct tr_sgd_slot *slot = &sgd->slots[sgd->mine[sgd->mine_count + index]];
    if (!slot->status) {
        cut_slot(sgd, slot, slot->edge_change, slot->segment_change);
    }
}

/* Marginals, loss and step expectations of one sequence under the present weights. */
static void compute_gradient(void *user, size_t index, unsigned thread)
{
    (void)thread;
    struct tr_sgd *sgd = user;
    struct tr_training *t = sgd->training;
    struct tr_sgd_slot *slot = &sgd->slots[sgd->mine[index]];
    slot->at = slot->sequence - t->data.train.first;
    size_t n = tr_sequence_length(&t->data.train, slot->at);
    size_t width = t->layout.graph->width;
    slot->weight = tr_sequence_weight(&t->data.train, slot->at);
    slot->loss = 0;
    slot->fired.size = 0;
    slot->status = tr_training_cancelled(t) ? TRELLIS_OK : score(sgd, slot);
    if (slot->status || n == 0 || tr_training_cancelled(t)) {
        return;
    }
    float *edges = tr_lattice_edges(slot->lattice);
    float *segments = tr_lattice_segments(slot->lattice);
    cut_slot(sgd, slot, edges, segments);
    if (slot->status) {
        return;
    }
    scale_scores(tr_lattice_nodes(slot->lattice), n * width, (float)sgd->scale);
    if (edges) {
        scale_scores(edges, n * t->layout.graph->labels * width, (float)sgd->scale);
    }
    if (segments) {
        scale_scores(segments, n * t->data.train.max_segment * width, (float)sgd->scale);
    }
    const struct tr_interruption interruption = tr_training_interruption(t);
    tr_lattice_interrupt_by(slot->lattice, &interruption);
    slot->status = tr_likelihood_of(t, slot->at, sgd->steps, slot->lattice, &slot->loss,
                                    &slot->error);
    if (!slot->status) {
        slot->status = tr_dataset_is_partial(&t->data.train, slot->at)
                           ? partial_gradient(sgd, slot, n, slot->loss)
                           : take_known(sgd, slot);
    }
    if (slot->status == TRELLIS_INTERRUPTED) {
        slot->status = TRELLIS_OK; // no step is made by this batch
    }
    tr_lattice_interrupt_by(slot->lattice, NULL);
}

/* ---- moving ---------------------------------------------------------------------------------- */

static inline void change(struct tr_sgd *sgd, size_t at, float amount)
{
    sgd->v.weights[at] += amount;
    if (sgd->averaging) {
        sgd->a[at] -= (float)sgd->fraction * amount;
    }
}

/* Moves the weights of one kind of attributes by one sequence. */
static void move_tokens(struct tr_sgd *sgd, const struct tr_sgd_slot *slot,
                        enum tr_attribute_kind kind, size_t index)
{
    bool edge = kind == TR_EDGE_ATTRIBUTE;
    const struct tr_training *t = sgd->training;
    const struct tr_rows *rows = edge ? t->data.vocabulary.edge.rows : t->data.vocabulary.node.rows;
    const uint32_t *cuts = cuts_of(slot, kind);
    const float *change = edge                           ? slot->edge_change
                          : kind == TR_SEGMENT_ATTRIBUTE ? slot->segment_change
                                                         : slot->node_change;
    size_t base = edge ? t->layout.node_size : 0, width = t->layout.graph->width;
    struct tr_tokens tokens = slot->tokens[kind];
    if (tokens.n == 0) {
        return;
    }
    bool all = sgd->count == 1;
    struct tr_move move = {.weights = sgd->v.weights + base,
                           .average = sgd->averaging ? sgd->a + base : NULL,
                           .rate = slot->rate,
                           .fraction = (float)sgd->fraction,
                           .from = all ? tokens.begin : cuts + index,
                           .end = all ? tokens.begin + 1 : cuts + index + 1,
                           .stride = all ? 1 : sgd->shares + 1};
    t->layout.kernels->move(rows, &move, &tokens, change,
                            edge ? t->layout.graph->labels * width : width);
}

/* Moves the step weights from..end-1 by all sequences, and empties the counts. */
static void move_steps(struct tr_sgd *sgd, size_t from, size_t end)
{
    const struct tr_training *t = sgd->training;
    size_t base = t->layout.step_begin;
    for (size_t i = 0; i < sgd->count; i++) {
        struct tr_sgd_slot *slot = &sgd->slots[i];
        for (size_t k = 0; t->layout.graph->pruned && k < slot->fired.size; k++) {
            uint32_t j = slot->fired.at[k];
            if (j >= from && j < end) {
                change(sgd, base + j, slot->rate * slot->steps[j]);
                slot->steps[j] = 0;
            }
        }
        for (size_t j = from; !t->layout.graph->pruned && j < end; j++) {
            if (slot->steps[j] != 0) {
                change(sgd, base + j, slot->rate * slot->steps[j]);
                slot->steps[j] = 0;
            }
        }
    }
}

static void move_share(void *user, size_t index, unsigned thread)
{
    (void)thread;
    struct tr_sgd *sgd = user;
    const struct tr_training *t = sgd->training;
    size_t shares = sgd->count > 1 ? sgd->shares : 1;
    for (size_t i = 0; i < sgd->count; i++) {
        move_tokens(sgd, &sgd->slots[i], TR_NODE_ATTRIBUTE, index);
        if (sgd->slots[i].edge_change) {
            move_tokens(sgd, &sgd->slots[i], TR_EDGE_ATTRIBUTE, index);
        }
        if (sgd->slots[i].segment_change) {
            move_tokens(sgd, &sgd->slots[i], TR_SEGMENT_ATTRIBUTE, index);
        }
    }
    move_steps(sgd, t->layout.step_size * index / shares,
               t->layout.step_size * (index + 1) / shares);
}

/* Cuts the attributes so that every share takes about as long, by its occurrences in one token of
 * eight: the weights of the most frequent attributes stay in near caches. */
static bool cut(struct tr_sgd *sgd, const struct tr_occurrences *occurrences,
                const struct tr_rows *rows, uint32_t *cuts)
{
    enum { FREQUENT = 1000, FURTHER = 3 };
    uint32_t *cost = tr_alloc(rows->attributes, sizeof *cost);
    uint64_t all = 0, before = 0;
    size_t share = 0;
    for (size_t t = 0; cost && t < sgd->training->data.train.tokens; t += 8) {
        for (uint32_t k = occurrences->begin.at[t]; k < occurrences->begin.at[t + 1]; k++) {
            uint32_t a = occurrences->attribute.at[k], one = a < FREQUENT ? 1 : FURTHER;
            cost[a] += one;
            all += one;
        }
    }
    for (uint32_t a = 0; cost && a < rows->attributes; a++) {
        while (share < sgd->shares && before * sgd->shares >= all * share) {
            cuts[share++] = a;
        }
        before += cost[a];
    }
    while (share <= sgd->shares) {
        cuts[share++] = rows->attributes;
    }
    free(cost);
    return cost;
}

trellis_status tr_sgd_cut_shares(struct tr_sgd *sgd, trellis_error *error)
{
    const struct tr_training *t = sgd->training;
    sgd->shares = tr_pool_threads(t->pool);
    sgd->node_cuts = tr_alloc(sgd->shares + 1, sizeof *sgd->node_cuts);
    sgd->edge_cuts = tr_alloc(sgd->shares + 1, sizeof *sgd->edge_cuts);
    bool ok = sgd->node_cuts && sgd->edge_cuts &&
              cut(sgd, &t->data.train.node, t->data.vocabulary.node.rows, sgd->node_cuts) &&
              cut(sgd, &t->data.train.edge, t->data.vocabulary.edge.rows, sgd->edge_cuts);
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}

/* Between two calls v grows as 1 / scale, and a and fraction * v with it, until their difference is
 * lost in rounding; so they are multiplied out now and then. */
void tr_sgd_normalise(struct tr_sgd *sgd)
{
    size_t size = sgd->training->layout.size;
    for (size_t j = 0; j < size; j++) {
        double v = (double)sgd->v.weights[j];
        sgd->a[j] = (float)(((double)sgd->a[j] + sgd->fraction * v) / sgd->divisor);
        sgd->v.weights[j] = (float)(sgd->scale * v);
    }
    sgd->scale = sgd->divisor = 1;
    sgd->fraction = 0;
}

float tr_sgd_average(const struct tr_sgd *sgd, size_t at)
{
    double v = (double)sgd->v.weights[at];
    return sgd->averaged > 0 ? (float)(((double)sgd->a[at] + sgd->fraction * v) / sgd->divisor)
                             : (float)(sgd->scale * v);
}

static void set_steps(struct tr_sgd *sgd)
{
    const struct tr_training *t = sgd->training;
    size_t base = t->layout.step_begin;
    if (t->layout.graph->pruned) {
        tr_steps_share(sgd->steps, sgd->v.weights + base, sgd->scale);
        return;
    }
    for (size_t j = 0; j < t->layout.step_size; j++) {
        sgd->step_weights[j] = (float)(sgd->scale * (double)sgd->v.weights[base + j]);
    }
    tr_steps_set(sgd->steps, sgd->step_weights);
}

/* The average moves a share mu towards the present w = scale * v. The k-th iterate has a weight of
 * about k^3 (Shamir and Zhang 2013), so that early ones, which are far off, are soon forgotten. */
static void average(struct tr_sgd *sgd)
{
    enum { POWER = 3 };
    double mu = (1 + POWER) / (++sgd->averaged + POWER);
    if (mu >= 1) { // the first: the average is w
        memset(sgd->a, 0, sgd->training->layout.size * sizeof *sgd->a);
        sgd->divisor = 1;
        sgd->fraction = sgd->scale;
        return;
    }
    sgd->divisor /= 1 - mu;
    sgd->fraction += mu * sgd->divisor * sgd->scale;
}

/* After a failure or a cancellation, the expected counts of all sequences. */
static void forget_counts(struct tr_sgd *sgd)
{
    for (size_t i = 0; i < sgd->count; i++) {
        memset(sgd->slots[i].steps, 0,
               sgd->training->layout.step_size * sizeof *sgd->slots[i].steps);
    }
}

/* The work of one sequence is not worth waking anybody. */
static void share_work(struct tr_sgd *sgd, size_t blocks, tr_pool_work work)
{
    if (blocks > 1) {
        tr_pool_run(sgd->training->pool, blocks, work, sgd);
    } else if (blocks == 1) {
        work(sgd, 0, 0);
    }
}

/* The gradients of all sequences of the batch: those of this rank are computed, the others come from
 * theirs. */
static trellis_status compute_gradients(struct tr_sgd *sgd, trellis_error *error)
{
    set_steps(sgd);
    tr_sgd_divide_batch(sgd);
    share_work(sgd, sgd->mine_count, compute_gradient);
    if (!sgd->exchange) {
        return TRELLIS_OK;
    }
    trellis_status status = tr_sgd_exchange(sgd, error);
    if (!status) {
        share_work(sgd, sgd->count - sgd->mine_count, cut_theirs);
    }
    return status;
}

trellis_status tr_sgd_step(struct tr_sgd *sgd, const uint32_t *sequences, size_t count, double eta,
                           trellis_error *error)
{
    sgd->count = count;
    for (size_t i = 0; i < count; i++) {
        sgd->slots[i].sequence = sequences[i];
    }
    trellis_status status = compute_gradients(sgd, error);
    for (size_t i = 0; !status && i < count; i++) {
        const struct tr_sgd_slot *slot = &sgd->slots[i];
        if (slot->status) {
            status = tr_fail(error, slot->status, "%s", slot->error.message);
        }
    }
    if (status || tr_training_cancelled(sgd->training)) { // no step by a part of the batch
        forget_counts(sgd);
        return status;
    }
    eta *= (double)count / (double)sgd->batch; // the last batch of an epoch may be smaller
    sgd->scale *= 1 - eta * sgd->lambda;
    for (size_t i = 0; i < count; i++) {
        struct tr_sgd_slot *slot = &sgd->slots[i];
        slot->rate = (float)(-eta * slot->weight / ((double)count * sgd->scale));
        sgd->loss += slot->weight * slot->loss;
    }
    share_work(sgd, count > 1 ? sgd->shares : 1, move_share);
    if (sgd->averaging) {
        average(sgd);
    }
    if (sgd->scale < 0.01 || sgd->divisor > 1e5) {
        tr_sgd_normalise(sgd);
    }
    return TRELLIS_OK;
}
