/* online.c - what learners share that update after each sequence.
 *
 * The average is kept lazily. Let the k-th iterate have weight 1 (even) or k (rising), and let
 * B_k be the total weight of the first k iterates: k, or k (k + 1) / 2. A change d made at the j-th
 * sequence is part of the iterates j .. k, whose weight is B_k - B_{j-1}. So with
 *
 *     u += B_{j-1} d
 *
 * the weighted sum of the iterates is B_k w - u, their average is w - u / B_k, and an epoch costs
 * what its changes touch.
 */
#include "train/online.h"

#include <math.h>

#include "dataset/bundles.h"
#include "graph/path.h"

/* ---- sparse vectors over the weights --------------------------------------------------------- */

static size_t slot_of(const struct tr_sparse *sparse, size_t at)
{
    uint64_t hash = (uint64_t)at * 0x9E3779B97F4A7C15u;
    size_t slot = (size_t)(hash >> 32) & (sparse->slot_count - 1);
    while (sparse->slots[slot] && sparse->entries.at[sparse->slots[slot] - 1].at != at) {
        slot = (slot + 1) & (sparse->slot_count - 1);
    }
    return slot;
}

void tr_sparse_clear(struct tr_sparse *sparse)
{
    for (size_t i = sparse->entries.size; i-- > 0;) {
        sparse->slots[slot_of(sparse, sparse->entries.at[i].at)] = 0; // the last added goes first
    }
    sparse->entries.size = 0;
    sparse->failed = false;
}

void tr_sparse_free(struct tr_sparse *sparse)
{
    free(sparse->entries.at);
    free(sparse->slots);
    *sparse = (struct tr_sparse){0};
}

/* Keeps at least half of the slots empty. */
static bool make_room(struct tr_sparse *sparse)
{
    if (2 * (sparse->entries.size + 1) <= sparse->slot_count) {
        return true;
    }
    size_t count = sparse->slot_count ? 2 * sparse->slot_count : 1024;
    uint32_t *slots = tr_alloc(count, sizeof *slots);
    if (!slots) {
        return false;
    }
    free(sparse->slots);
    sparse->slots = slots;
    sparse->slot_count = count;
    for (size_t i = 0; i < sparse->entries.size; i++) {
        slots[slot_of(sparse, sparse->entries.at[i].at)] = (uint32_t)i + 1;
    }
    return true;
}

void tr_sparse_add(struct tr_sparse *sparse, size_t at, double value)
{
    if (!make_room(sparse)) {
        sparse->failed = true;
        return;
    }
    size_t slot = slot_of(sparse, at);
    if (sparse->slots[slot]) {
        sparse->entries.at[sparse->slots[slot] - 1].value += value;
    } else if (tr_push(&sparse->entries, (struct tr_sparse_entry){at, value})) {
        sparse->slots[slot] = (uint32_t)sparse->entries.size;
    } else {
        sparse->failed = true;
    }
}

double tr_sparse_square(const struct tr_sparse *sparse)
{
    double sum = 0;
    for (size_t i = 0; i < sparse->entries.size; i++) {
        sum += sparse->entries.at[i].value * sparse->entries.at[i].value;
    }
    return sum;
}

double tr_sparse_dot(const struct tr_sparse *sparse, const float *w)
{
    double sum = 0;
    for (size_t i = 0; i < sparse->entries.size; i++) {
        sum += sparse->entries.at[i].value * (double)w[sparse->entries.at[i].at];
    }
    return sum;
}

double tr_sparse_product(const struct tr_sparse *x, const struct tr_sparse *y)
{
    double sum = 0;
    for (size_t i = 0; y->slot_count && i < x->entries.size; i++) {
        uint32_t number = y->slots[slot_of(y, x->entries.at[i].at)];
        sum += number ? x->entries.at[i].value * y->entries.at[number - 1].value : 0;
    }
    return sum;
}

/* ---- differences of two labellings ----------------------------------------------------------- */

static bool add_step(const struct tr_online *online, struct tr_update_terms *terms, uint32_t from,
                     uint32_t to, float amount)
{
    uint32_t features[TR_MAX_ORDER + 1];
    size_t count = tr_path_features(online->training->layout.graph, from, to, features);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        ok = tr_push(&terms->list, (struct tr_update_term){TR_STEP, features[i], amount});
    }
    return ok;
}

/* The step features of both labellings, where they are in different states; with the end behind all
 * n. */
static bool compare_steps(const struct tr_online *online, const uint16_t *gold,
                          const uint16_t *predicted, size_t n, struct tr_update_terms *terms)
{
    const struct tr_graph *graph = online->training->layout.graph;
    uint32_t gold_state = TR_NO_STATE, predicted_state = TR_NO_STATE;
    size_t steps = online->prefix < n ? online->prefix : n + 1;
    bool ok = true;
    for (size_t i = 0; ok && i < steps; i++) {
        uint32_t gold_next = i < n ? tr_graph_next(graph, gold_state, gold[i]) : TR_NO_STATE;
        uint32_t predicted_next = i < n ? tr_graph_next(graph, predicted_state, predicted[i])
                                        : TR_NO_STATE;
        if (gold_next != predicted_next || gold_state != predicted_state) {
            ok = add_step(online, terms, gold_state, gold_next, 1) &&
                 add_step(online, terms, predicted_state, predicted_next, -1);
        }
        gold_state = gold_next;
        predicted_state = predicted_next;
    }
    return ok;
}

/* The segments of a labelling that have attributes. */
static bool add_segments(const struct tr_online *online, const uint16_t *labels, size_t n,
                         float amount, struct tr_update_terms *terms)
{
    const struct tr_segments *segments = online->training->data.segments;
    bool ok = true;
    for (size_t at = 0; ok && at < n;) {
        struct tr_segment found = tr_segment_at(segments, labels, n, at);
        size_t d = found.end - found.begin;
        if (found.type != TR_NO_LABEL && d <= segments->type[found.type].max_length) {
            size_t number = (found.end - 1) * segments->max_length + d - 1;
            ok = tr_push(&terms->list,
                         (struct tr_update_term){TR_SEGMENT + (uint32_t)number,
                                                 segments->type[found.type].head, amount});
        }
        at = found.end;
    }
    return ok;
}

static bool add_pair(struct tr_update_terms *terms, size_t place, uint32_t gold, uint32_t predicted)
{
    return tr_push(&terms->list, (struct tr_update_term){(uint32_t)place, gold, 1}) &&
           tr_push(&terms->list, (struct tr_update_term){(uint32_t)place, predicted, -1});
}

trellis_status tr_online_compare(struct tr_online *online, size_t sequence,
                                 const uint16_t *predicted, struct tr_update_terms *terms,
                                 trellis_error *error)
{
    const struct tr_training *t = online->training;
    size_t n;
    const uint16_t *gold = tr_online_gold(online, sequence, &n);
    uint32_t width = t->layout.graph->width;
    bool edges = t->data.train.edge.attribute.size > 0, ok = true;
    terms->list.size = 0;
    for (size_t i = 0; ok && i < online->prefix; i++) {
        if (gold[i] != predicted[i]) {
            ok = add_pair(terms, 2 * i, gold[i], predicted[i]);
        }
        if (ok && edges && i > 0 && (gold[i] != predicted[i] || gold[i - 1] != predicted[i - 1])) {
            ok = add_pair(terms, 2 * i + 1, gold[i - 1] * width + gold[i],
                          predicted[i - 1] * width + predicted[i]);
        }
    }
    if (ok && t->data.train.max_segment && memcmp(gold, predicted, n * sizeof *gold) != 0) {
        ok = add_segments(online, gold, n, 1, terms) &&
             add_segments(online, predicted, n, -1, terms);
    }
    ok = ok && compare_steps(online, gold, predicted, n, terms);
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}

/* sparse[attribute, outcome] += amount * value for all attributes of a token, where they are
 * features. */
static void spread_token(const struct tr_rows *rows, size_t base,
                         const struct tr_occurrences *occurrences, size_t token, uint32_t outcome,
                         double amount, struct tr_sparse *sparse)
{
    for (uint32_t k = occurrences->begin.at[token]; k < occurrences->begin.at[token + 1]; k++) {
        size_t at = tr_rows_find(rows, occurrences->attribute.at[k], outcome);
        if (at != SIZE_MAX) {
            double value = occurrences->value.size ? (double)occurrences->value.at[k] : 1;
            tr_sparse_add(sparse, base + at, amount * value);
        }
    }
}

void tr_online_spread(const struct tr_online *online, size_t sequence,
                      const struct tr_update_term *terms, size_t count, double scale,
                      struct tr_sparse *sparse)
{
    const struct tr_training *t = online->training;
    size_t first = t->data.train.sequence.at[sequence];
    for (size_t k = 0; k < count; k++) {
        const struct tr_update_term *term = &terms[k];
        double amount = scale * (double)term->amount;
        size_t token = first + term->place / 2;
        if (term->place == TR_STEP) {
            tr_sparse_add(sparse, t->layout.step_begin + term->outcome, amount);
        } else if (term->place >= TR_SEGMENT) {
            size_t number = first * t->data.train.max_segment + (term->place - TR_SEGMENT);
            spread_token(t->data.vocabulary.node.rows, 0, &t->data.train.segment, number,
                         term->outcome, amount, sparse);
        } else if (term->place % 2) {
            spread_token(t->data.vocabulary.edge.rows, t->layout.node_size, &t->data.train.edge,
                         token, term->outcome, amount, sparse);
        } else {
            spread_token(t->data.vocabulary.node.rows, 0, &t->data.train.node, token, term->outcome,
                         amount, sparse);
        }
    }
}

trellis_status tr_online_difference(struct tr_online *online, size_t sequence,
                                    const uint16_t *predicted, struct tr_sparse *sparse,
                                    trellis_error *error)
{
    trellis_status status = tr_online_compare(online, sequence, predicted, &online->terms, error);
    tr_sparse_clear(sparse);
    if (!status) {
        tr_online_spread(online, sequence, online->terms.list.at, online->terms.list.size, 1,
                         sparse);
    }
    return !status && sparse->failed ? tr_fail_memory(error) : status;
}

/* ---- weights and their average --------------------------------------------------------------- */

void tr_online_move(struct tr_online *online, size_t at, double amount)
{
    const struct tr_training *t = online->training;
    float was = online->now.weights[at];
    online->now.weights[at] = (float)((double)was + amount);
    if (online->u) {
        online->u[at] += online->before * ((double)online->now.weights[at] - (double)was);
    }
    if (at >= t->layout.step_begin) {
        tr_steps_change(online->steps, (uint32_t)(at - t->layout.node_size - t->layout.edge_size),
                        online->now.weights[at]);
    }
}

void tr_online_change(struct tr_online *online, const struct tr_sparse *change, double tau)
{
    for (size_t i = 0; i < change->entries.size; i++) {
        if (change->entries.at[i].value != 0) {
            tr_online_move(online, change->entries.at[i].at, tau * change->entries.at[i].value);
        }
    }
}

/* w - u / B_k */
float tr_online_average(const struct tr_online *online, size_t at)
{
    double total = online->before > 0 ? online->before : 1;
    double w = (double)online->now.weights[at];
    return online->u ? (float)(w - online->u[at] / total) : online->now.weights[at];
}

void tr_online_take_result(struct tr_online *online)
{
    for (size_t j = 0; j < online->training->layout.size; j++) {
        online->result.weights[j] = tr_online_average(online, j);
    }
}

void tr_online_end_sequence(struct tr_online *online)
{
    online->seen++;
    online->before += online->averaging == TR_RISING_AVERAGE ? online->seen : 1;
}

void tr_online_begin_average(struct tr_online *online)
{
    online->seen = online->before = 0;
    memset(online->u, 0, online->training->layout.size * sizeof *online->u);
}

/* ---- sequences ------------------------------------------------------------------------------- */

const uint16_t *tr_online_gold(const struct tr_online *online, size_t sequence, size_t *ret_length)
{
    const struct tr_dataset *data = &online->training->data.train;
    size_t first = data->sequence.at[sequence];
    *ret_length = data->sequence.at[sequence + 1] - first;
    return tr_dataset_is_partial(data, sequence) ? online->given.at : data->gold.at + first;
}

/* Where labels are not known, the best ones that agree with those that are stand for gold. */
static trellis_status take_given(struct tr_online *online, size_t sequence, trellis_error *error)
{
    struct tr_training *t = online->training;
    double score;
    if (!tr_dataset_is_partial(&t->data.train, sequence)) {
        return TRELLIS_OK;
    }
    trellis_status status = tr_training_scores(t, &t->data.train, sequence, &online->now,
                                               online->lattice, error);
    if (!status) {
        status = tr_constrain_to_partial(&t->data.train, sequence, online->lattice, error);
    }
    return status ? status
                  : tr_lattice_viterbi(online->lattice, online->steps, online->given.at, &score,
                                       error);
}

trellis_status tr_online_scores(struct tr_online *online, size_t sequence, double margin,
                                trellis_error *error)
{
    struct tr_training *t = online->training;
    size_t n;
    const uint16_t *gold = tr_online_gold(online, sequence, &n);
    online->prefix = n;
    trellis_status status = take_given(online, sequence, error);
    if (!status) {
        status = tr_training_scores(t, &t->data.train, sequence, &online->now, online->lattice,
                                    error);
    }
    if (!status && margin > 0) {
        tr_loss_augment(online->loss, gold, n, margin, tr_lattice_nodes(online->lattice),
                        t->layout.graph->width);
    }
    return status;
}

void tr_online_count(struct tr_online *online, size_t sequence, const uint16_t *predicted)
{
    size_t n;
    const uint16_t *gold = tr_online_gold(online, sequence, &n);
    online->wrong = 0;
    for (size_t i = 0; i < n; i++) {
        online->wrong += gold[i] != predicted[i];
    }
    online->wrong_in_all += online->wrong;
}

static trellis_status search(struct tr_online *online, const uint16_t *gold, trellis_error *error)
{
    struct tr_lattice *lattice = online->lattice;
    const struct tr_settings *settings = &online->training->settings;
    uint16_t *predicted = online->predicted.at;
    double score;
    if (settings->update != TR_STANDARD) {
        return tr_lattice_beam_violation(lattice, online->steps, settings->beam,
                                         settings->update == TR_EARLY, gold, predicted,
                                         &online->prefix, error);
    }
    return settings->beam
               ? tr_lattice_beam(lattice, online->steps, settings->beam, predicted, &score, error)
               : tr_lattice_viterbi(lattice, online->steps, predicted, &score, error);
}

trellis_status tr_online_decode(struct tr_online *online, size_t sequence, double margin,
                                trellis_error *error)
{
    size_t n;
    const uint16_t *gold = tr_online_gold(online, sequence, &n);
    if (!tr_reserve(&online->predicted, n)) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_online_scores(online, sequence, margin, error);
    if (!status) {
        status = search(online, gold, error);
    }
    if (!status) {
        tr_online_count(online, sequence, online->predicted.at);
    }
    return status;
}

double tr_online_augmentation(const struct tr_online *online)
{
    return online->training->settings.margin_kind == TR_MARGIN_AUGMENTED ? 1 : 0;
}

double tr_online_margin(const struct tr_online *online, size_t sequence, const uint16_t *labels)
{
    enum tr_margin kind = online->training->settings.margin_kind;
    size_t n;
    const uint16_t *gold = tr_online_gold(online, sequence, &n);
    double loss = tr_loss_of(online->loss, gold, labels, n);
    return kind == TR_MARGIN_ROOT ? sqrt(loss) : kind == TR_MARGIN_ONE ? 1 : loss;
}

/* ---- epochs ---------------------------------------------------------------------------------- */

trellis_status tr_online_pass(struct tr_online *online, tr_online_rule rule, void *user,
                              trellis_progress *figures, trellis_error *error)
{
    struct tr_training *t = online->training;
    double began = tr_training_seconds(t);
    size_t done = 0, n = t->data.train.sequences;
    online->wrong_in_all = 0;
    online->missed = 0;
    tr_random_shuffle(&t->random, online->order, n);
    size_t first = online->mixing ? tr_ranks_share(&t->ranks, n, t->ranks.rank) : 0;
    size_t end = online->mixing ? tr_ranks_share(&t->ranks, n, t->ranks.rank + 1) : n;
    for (size_t i = first; i < end; i++) {
        uint32_t s = online->order[i];
        tr_training_prefetch(&t->data.train, online->listed, online->order + i, end - i, 1);
        trellis_status status = rule(online, user, s, error);
        if (status) {
            return status;
        }
        tr_online_end_sequence(online);
        done += t->data.train.sequence.at[s + 1] - t->data.train.sequence.at[s];
        if (i % 64 == 63 || tr_training_cancelled(t)) {
            figures->fraction = (double)(i + 1 - first) / (double)(end - first);
            figures->error_rate = (double)online->wrong_in_all / (double)(done ? done : 1);
            figures->tokens_per_second = (double)done / (tr_training_seconds(t) - began + 1e-9);
            if (!tr_training_tick(t, figures)) {
                break;
            }
        }
    }
    trellis_status status = online->mixing ? tr_online_mix(online, &done, error) : TRELLIS_OK;
    figures->iteration++;
    figures->fraction = 1;
    figures->loss = online->missed;
    figures->error_rate = done ? (double)online->wrong_in_all / (double)done : 0;
    figures->tokens_per_second = (double)done / (tr_training_seconds(t) - began + 1e-9);
    return status;
}

trellis_status tr_online_resume(struct tr_online *online, bool *ret_resumed, trellis_error *error)
{
    struct tr_training *t = online->training;
    struct tr_state_registry *registry = t->registry;
    tr_keep_floats(registry, "WGHT", online->now.weights, t->layout.size);
    tr_keep_order(registry, "ORDE", online->order, t->data.train.sequences);
    tr_keep_doubles(registry, "SEEN", &online->seen, 1);
    tr_keep_doubles(registry, "BEFO", &online->before, 1);
    if (online->u) {
        tr_keep_doubles(registry, "AVER", online->u, t->layout.size);
    }
    trellis_status status = tr_registry_load(registry, ret_resumed, error);
    if (!status && *ret_resumed) {
        tr_steps_set(online->steps, online->now.weights + t->layout.step_begin);
    }
    return status;
}

static double result_norm(const struct tr_online *online)
{
    double sum = 0;
    for (size_t j = 0; j < online->training->layout.size; j++) {
        sum += (double)online->result.weights[j] * (double)online->result.weights[j];
    }
    return sqrt(sum);
}

trellis_status tr_online_run(struct tr_online *online, tr_online_rule rule, void *user,
                             trellis_error *error)
{
    bool stop = false, resumed;
    trellis_status status = tr_online_resume(online, &resumed, error);
    trellis_progress figures = tr_training_figures(online->training);
    while (!status && !stop && figures.iteration < figures.max_iterations) {
        status = tr_registry_save(online->training->registry, error);
        if (!status) {
            status = tr_online_pass(online, rule, user, &figures, error);
        }
        if (!status) {
            tr_online_take_result(online);
            figures.feature_norm = result_norm(online);
            online->result.figures = figures;
            status = tr_training_iteration(online->training, &online->result, &stop, error);
        }
    }
    return status;
}

static size_t longest_sequence(const struct tr_dataset *data)
{
    size_t longest = 0;
    for (size_t s = 0; s < data->sequences; s++) {
        size_t n = tr_sequence_length(data, s);
        longest = n > longest ? n : longest;
    }
    return longest;
}

trellis_status tr_online_make_room(struct tr_online *online, trellis_error *error)
{
    const struct tr_dataset *data = &online->training->data.train;
    return !data->open_begin.size || tr_reserve(&online->given, longest_sequence(data))
               ? TRELLIS_OK
               : tr_fail_memory(error);
}

static trellis_status prepare(struct tr_online *online, trellis_error *error)
{
    struct tr_training *t = online->training;
    trellis_status status = tr_online_make_room(online, error);
    if (status) {
        return status;
    }
    online->u = online->averaging ? tr_alloc(t->layout.size, sizeof *online->u) : NULL;
    online->order = tr_alloc(t->data.train.sequences, sizeof *online->order);
    if (!online->order || (online->averaging && !online->u)) {
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < t->data.train.sequences; i++) {
        online->order[i] = i;
    }
    status = tr_iterate_create(t, &online->now, error);
    if (!status) {
        status = tr_iterate_create(t, &online->result, error);
    }
    if (!status) {
        status = tr_bundles_list(&t->data.train.node, t->data.train.tokens,
                                 t->data.vocabulary.node.rows, t->pool, &online->listed, error);
        online->now.bundles = online->listed;
    }
    if (!status) {
        status = tr_training_initial_weights(t, online->now.weights, error);
    }
    if (!status) {
        status = tr_loss_create(t->settings.options, &t->data.train.labels,
                                t->data.train.label_count, &online->loss, error);
    }
    if (!status) {
        const float *weights = online->now.weights + t->layout.step_begin;
        status = tr_steps_create(t->layout.graph, weights, &online->steps, error);
    }
    if (!status) {
        status = tr_steps_index(online->steps, error);
    }
    if (!status) {
        status = tr_lattice_create(t->layout.graph, &online->lattice, error);
    }
    return status;
}

trellis_status tr_online_create_empty(struct tr_training *training, enum tr_averaging averaging,
                                      struct tr_online **ret_online, trellis_error *error)
{
    struct tr_online *online = *ret_online = tr_alloc(1, sizeof *online);
    if (!online) {
        return tr_fail_memory(error);
    }
    online->training = training;
    online->averaging = averaging;
    return TRELLIS_OK;
}

trellis_status tr_online_create(struct tr_training *training, enum tr_averaging averaging,
                                struct tr_online **ret_online, trellis_error *error)
{
    trellis_status status = tr_online_create_empty(training, averaging, ret_online, error);
    if (!status) {
        status = prepare(*ret_online, error);
    }
    if (status) {
        tr_online_destroy(*ret_online);
        *ret_online = NULL;
    }
    return status;
}

void tr_online_destroy(struct tr_online *online)
{
    if (!online) {
        return;
    }
    tr_lattice_destroy(online->lattice);
    tr_steps_destroy(online->steps);
    tr_loss_destroy(online->loss);
    tr_sparse_free(&online->change);
    free(online->terms.list.at);
    free(online->predicted.at);
    free(online->given.at);
    free(online->order);
    tr_bundles_destroy(online->listed);
    tr_iterate_free(&online->now);
    tr_iterate_free(&online->result);
    free(online->u);
    free(online->variance);
    free(online);
}

/* ---- learners that are a rule ---------------------------------------------------------------- */

static trellis_status make_variances(struct tr_online *online, trellis_error *error)
{
    const struct tr_training *t = online->training;
    online->variance = tr_alloc(t->layout.size, sizeof *online->variance);
    if (!online->variance) {
        return tr_fail_memory(error);
    }
    for (size_t j = 0; j < t->layout.size; j++) {
        online->variance[j] = (float)t->settings.variance;
    }
    tr_keep_floats(t->registry, "VARI", online->variance, t->layout.size);
    return TRELLIS_OK;
}

enum tr_averaging tr_online_averaging(const struct tr_online_method *method,
                                      const struct tr_settings *settings)
{
    return settings->average ? method->averaging : TR_NO_AVERAGE;
}

trellis_status tr_train_online(struct tr_training *training, trellis_error *error)
{
    const struct tr_online_method *method = training->settings.algorithm->online;
    struct tr_online *online;
    void *user = NULL;
    trellis_status status = tr_online_create(
        training, tr_online_averaging(method, &training->settings), &online, error);
    if (status) {
        return status;
    }
    online->mixing = !tr_ranks_alone(&training->ranks);
    if (method->variances) {
        status = make_variances(online, error);
    }
    if (!status && method->begin) {
        status = method->begin(&training->settings, &user, error);
    }
    if (!status) {
        status = tr_online_run(online, method->learn, user, error);
    }
    if (user) {
        method->end(user);
    }
    tr_online_destroy(online);
    return status;
}
