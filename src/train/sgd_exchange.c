/* sgd_exchange.c - the gradients of a batch, computed by the ranks that have its sequences.
 *
 * The gradient of a sequence is a sum over its tokens of products: the attributes of the token times
 * the marginals of its labels, less 1 at the gold one. The ranks send each other these factors, which
 * are a twentieth of the rows they touch (sufficient factor broadcasting; Xie et al. 2016, Lighter
 * communication distributed machine learning via sufficient factor broadcasting, UAI). Every rank
 * then moves its weights by all sequences of the batch in their order, as one process does, so that
 * the weights are the same to the bit on any number of ranks.
 *
 * A step is two exchanges: how many bytes each rank has to tell, and these bytes. What fails for a
 * sequence, such as scores beyond all numbers while rates are tried, is told in the place of its
 * gradient. Whoever runs out of memory announces that, and then all of them agree to fail.
 */
#include "train/pass.h"
#include "train/sgd.h"

/* What a rank has to tell. */
struct tr_sgd_announcement {
    uint64_t size;  // in bytes; or FAILED
    uint64_t fired; // of a pruned graph, the most in any of its slots
};
#define FAILED UINT64_MAX

/* Ranks beyond so many do not all have something to do in a step, but still need not keep the data
 * of others. */
enum { ENOUGH = 16 };

bool tr_sgd_is_shared(const struct tr_ranks *ranks, size_t batch)
{
    return !tr_ranks_alone(ranks) && batch >= (ranks->count < ENOUGH ? ranks->count : ENOUGH);
}

void tr_sgd_exchange_destroy(struct tr_sgd_exchange *exchange)
{
    if (exchange) {
        free(exchange->first);
        free(exchange->begin);
        free(exchange->bytes.at);
        free(exchange->announced);
        free(exchange->announced_begin);
        free(exchange);
    }
}

trellis_status tr_sgd_share_batches(struct tr_sgd *sgd, trellis_error *error)
{
    const struct tr_training *t = sgd->training;
    unsigned count = t->ranks.count;
    struct tr_sgd_exchange *x = sgd->exchange = tr_alloc(1, sizeof *x);
    if (!x) {
        return tr_fail_memory(error);
    }
    x->first = tr_alloc((size_t)count + 1, sizeof *x->first);
    x->begin = tr_alloc((size_t)count + 1, sizeof *x->begin);
    x->announced = tr_alloc(count, sizeof *x->announced);
    x->announced_begin = tr_alloc((size_t)count + 1, sizeof *x->announced_begin);
    if (!x->first || !x->begin || !x->announced || !x->announced_begin) {
        return tr_fail_memory(error);
    }
    for (unsigned r = 0; r < count; r++) {
        tr_pass_share(t, &t->data.train, r, &x->first[r], &x->first[r + 1]);
        x->announced_begin[r + 1] = (r + 1) * sizeof *x->announced;
    }
    return TRELLIS_OK;
}

static bool is_of_rank(const struct tr_sgd *sgd, size_t slot, unsigned rank)
{
    const size_t *first = sgd->exchange->first;
    size_t s = sgd->slots[slot].sequence;
    return s >= first[rank] && s < first[rank + 1];
}

void tr_sgd_divide_batch(struct tr_sgd *sgd)
{
    size_t behind = sgd->count;
    sgd->mine_count = 0;
    for (size_t i = 0; i < sgd->count; i++) {
        if (!sgd->exchange || is_of_rank(sgd, i, sgd->training->ranks.rank)) {
            sgd->mine[sgd->mine_count++] = i;
        } else {
            sgd->mine[--behind] = i;
        }
    }
}

/* ---- what is told of a sequence -------------------------------------------------------------- */

/* The head of it. */
struct gradient_record {
    double loss, weight;
    uint64_t status;
    struct {
        uint64_t tokens, attributes, values, changes; // numbers that follow
    } kind[TR_ATTRIBUTE_KINDS];
    uint64_t steps; // that are not zero
};

/* How many floats of change there are for a token. */
static size_t change_width(const struct tr_sgd *sgd, int kind)
{
    const struct tr_graph *graph = sgd->training->layout.graph;
    return kind == TR_EDGE_ATTRIBUTE ? (size_t)graph->labels * graph->width : graph->width;
}

static const float **change_of(struct tr_sgd_slot *slot, int kind)
{
    return kind == TR_EDGE_ATTRIBUTE      ? &slot->edge_change
           : kind == TR_SEGMENT_ATTRIBUTE ? &slot->segment_change
                                          : &slot->node_change;
}

/* The steps of a slot that are not zero, in order: how many, or with `at` and `amount` what. */
static size_t list_steps(const struct tr_sgd *sgd, const struct tr_sgd_slot *slot, uint32_t *at,
                         float *amount)
{
    const struct tr_layout *layout = &sgd->training->layout;
    bool pruned = layout->graph->pruned;
    size_t size = pruned ? slot->fired.size : layout->step_size, count = 0;
    for (size_t k = 0; k < size; k++) {
        size_t j = pruned ? slot->fired.at[k] : k;
        if (pruned || slot->steps[j] != 0) {
            if (at) {
                at[count] = (uint32_t)j;
                amount[count] = slot->steps[j];
            }
            count++;
        }
    }
    return count;
}

static struct gradient_record head_of(const struct tr_sgd *sgd, struct tr_sgd_slot *slot)
{
    struct gradient_record record = {
        .loss = slot->loss, .weight = slot->weight, .status = slot->status};
    for (int kind = 0; !slot->status && kind < TR_ATTRIBUTE_KINDS; kind++) {
        const struct tr_tokens *tokens = &slot->tokens[kind];
        if (tokens->n && *change_of(slot, kind)) {
            record.kind[kind].tokens = tokens->n;
            record.kind[kind].attributes = tokens->begin[tokens->n] - tokens->begin[0];
            record.kind[kind].values = tokens->value ? record.kind[kind].attributes : 0;
            record.kind[kind].changes = tokens->n * change_width(sgd, kind);
        }
    }
    record.steps = slot->status ? 0 : list_steps(sgd, slot, NULL, NULL);
    return record;
}

/* Whole multiples of 8, so that every record is aligned. */
static size_t size_of(const struct gradient_record *record)
{
    size_t numbers = 2 * record->steps;
    for (int kind = 0; kind < TR_ATTRIBUTE_KINDS; kind++) {
        numbers += record->kind[kind].tokens + 1 + record->kind[kind].attributes +
                   record->kind[kind].values + record->kind[kind].changes;
    }
    size_t message = record->status ? sizeof((trellis_error *)0)->message : 0;
    return sizeof *record + (numbers + 1) / 2 * 8 + message;
}

/* Copies `count` numbers of four bytes, and returns where the next go. */
static char *put(char *to, const void *from, size_t count)
{
    if (count) {
        memcpy(to, from, 4 * count);
    }
    return to + 4 * count;
}

static void pack(const struct tr_sgd *sgd, struct tr_sgd_slot *slot, char **at)
{
    struct gradient_record record = head_of(sgd, slot);
    char *to = *at + sizeof record;
    memcpy(*at, &record, sizeof record);
    *at += size_of(&record);
    if (record.status) {
        memcpy(to, slot->error.message, sizeof slot->error.message);
        return;
    }
    for (int kind = 0; kind < TR_ATTRIBUTE_KINDS; kind++) {
        const struct tr_tokens *tokens = &slot->tokens[kind];
        uint32_t *begin = (uint32_t *)to, first = record.kind[kind].tokens ? tokens->begin[0] : 0;
        for (size_t i = 0; i <= record.kind[kind].tokens; i++) {
            begin[i] = record.kind[kind].tokens ? tokens->begin[i] - first : 0;
        }
        to += 4 * (record.kind[kind].tokens + 1);
        to = put(to, tokens->attribute ? tokens->attribute + first : NULL,
                 record.kind[kind].attributes);
        to = put(to, tokens->value ? tokens->value + first : NULL, record.kind[kind].values);
        to = put(to, *change_of(slot, kind), record.kind[kind].changes);
    }
    list_steps(sgd, slot, (uint32_t *)to, (float *)to + record.steps);
}

/* Takes the next `count` numbers of four bytes. */
static const void *take(const char **from, size_t count)
{
    const void *at = *from;
    *from += 4 * count;
    return at;
}

/* The slot of another rank, whose arrays stay in the bytes that were received. */
static void unpack(const struct tr_sgd *sgd, struct tr_sgd_slot *slot, const char **at)
{
    struct gradient_record record;
    memcpy(&record, *at, sizeof record);
    const char *from = *at + sizeof record;
    *at += size_of(&record);
    slot->loss = record.loss;
    slot->weight = record.weight;
    slot->status = (trellis_status)record.status;
    if (record.status) {
        memcpy(slot->error.message, from, sizeof slot->error.message);
        return;
    }
    for (int kind = 0; kind < TR_ATTRIBUTE_KINDS; kind++) {
        struct tr_tokens *tokens = &slot->tokens[kind];
        tokens->n = record.kind[kind].tokens;
        tokens->begin = take(&from, record.kind[kind].tokens + 1);
        tokens->attribute = take(&from, record.kind[kind].attributes);
        tokens->value = take(&from, record.kind[kind].values);
        tokens->value = record.kind[kind].values ? tokens->value : NULL;
        const float *change = take(&from, record.kind[kind].changes);
        *change_of(slot, kind) = record.kind[kind].changes ? change : NULL;
    }
    const uint32_t *step = take(&from, record.steps);
    const float *amount = take(&from, record.steps);
    bool pruned = sgd->training->layout.graph->pruned;
    slot->fired.size = pruned ? record.steps : 0;
    for (size_t k = 0; k < record.steps; k++) {
        slot->steps[step[k]] = amount[k];
        if (pruned) {
            slot->fired.at[k] = step[k];
        }
    }
}

/* ---- an exchange ----------------------------------------------------------------------------- */

/* Makes room in the slots of others for what is known of them beforehand. */
static bool make_room(struct tr_sgd *sgd)
{
    const struct tr_dataset *data = tr_training_lengths(sgd->training);
    bool ok = true;
    for (size_t i = sgd->mine_count; ok && i < sgd->count; i++) {
        struct tr_sgd_slot *slot = &sgd->slots[sgd->mine[i]];
        size_t room = tr_sequence_length(data, slot->sequence) * (sgd->shares + 1);
        ok = tr_reserve(&slot->node_cuts, room) && tr_reserve(&slot->edge_cuts, room) &&
             tr_reserve(&slot->segment_cuts, room * sgd->training->data.train.max_segment);
    }
    return ok;
}

/* Tells the others how much this rank has to tell, and hears the same of them. */
static trellis_status announce(struct tr_sgd *sgd, trellis_error *error)
{
    struct tr_sgd_exchange *x = sgd->exchange;
    struct tr_ranks *ranks = &sgd->training->ranks;
    struct tr_sgd_announcement *mine = &x->announced[ranks->rank];
    bool ok = make_room(sgd), all = true;
    *mine = (struct tr_sgd_announcement){0};
    for (size_t i = 0; i < sgd->mine_count; i++) {
        struct tr_sgd_slot *slot = &sgd->slots[sgd->mine[i]];
        struct gradient_record record = head_of(sgd, slot);
        mine->size += size_of(&record);
        mine->fired = slot->fired.size > mine->fired ? slot->fired.size : mine->fired;
    }
    mine->size = ok ? mine->size : FAILED;
    trellis_status status = tr_ranks_gather_at_once(ranks, x->announced, x->announced_begin, error);
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        all = all && x->announced[r].size != FAILED;
    }
    return status || all ? status
                         : tr_ranks_agree(ranks, ok ? TRELLIS_OK : tr_fail_memory(error), error);
}

/* Makes room for what was announced. All ranks need more at the same step, so they agree on it only
 * then. */
static trellis_status prepare(struct tr_sgd *sgd, trellis_error *error)
{
    struct tr_sgd_exchange *x = sgd->exchange;
    struct tr_ranks *ranks = &sgd->training->ranks;
    size_t fired = x->fired;
    for (unsigned r = 0; r < ranks->count; r++) {
        x->begin[r + 1] = x->begin[r] + x->announced[r].size;
        fired = x->announced[r].fired > fired ? x->announced[r].fired : fired;
    }
    size_t size = x->begin[ranks->count];
    if (size <= x->bytes.capacity && fired <= x->fired) {
        return TRELLIS_OK;
    }
    bool ok = tr_reserve(&x->bytes, size);
    for (size_t i = 0; ok && i < sgd->slot_count; i++) {
        ok = tr_reserve(&sgd->slots[i].fired, fired);
    }
    x->fired = fired;
    return tr_ranks_agree(ranks, ok ? TRELLIS_OK : tr_fail_memory(error), error);
}

trellis_status tr_sgd_exchange(struct tr_sgd *sgd, trellis_error *error)
{
    struct tr_sgd_exchange *x = sgd->exchange;
    struct tr_ranks *ranks = &sgd->training->ranks;
    trellis_status status = announce(sgd, error);
    if (!status) {
        status = prepare(sgd, error);
    }
    if (status) {
        return status;
    }
    char *to = x->bytes.at + x->begin[ranks->rank];
    for (size_t i = 0; i < sgd->mine_count; i++) {
        pack(sgd, &sgd->slots[sgd->mine[i]], &to);
    }
    status = tr_ranks_gather_at_once(ranks, x->bytes.at, x->begin, error);
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        const char *from = x->bytes.at + x->begin[r];
        for (size_t i = 0; r != ranks->rank && i < sgd->count; i++) {
            if (is_of_rank(sgd, i, r)) {
                unpack(sgd, &sgd->slots[i], &from);
            }
        }
    }
    return status;
}
