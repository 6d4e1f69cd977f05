/* perceptron.c - the structured perceptron (Collins 2002), plain and averaged.
 *
 *     w = 0
 *     for each epoch, for each sequence (X, Z) in random order:
 *         Z* = argmax_Z' w . Phi(X, Z')
 *         if Z* != Z:  w += Phi(X, Z) - Phi(X, Z*)    (times the weight of the sequence)
 *     result: w, or the average of all w after each sequence
 *
 * Phi differs only where labels differ, so only those positions are touched. The average is kept
 * lazily: with u += c (Phi(X, Z) - Phi(X, Z*)) at the c-th sequence, the sum of all iterates after
 * c - 1 sequences is c w - u, and an epoch costs what its updates touch.
 */
#include "train/train.h"

struct perceptron {
    struct tr_training *training;
    bool averaged;
    float *w;   // [size]
    double *u;  // [size], NULL where plain
    double c;   // sequences so far, from 1
    float *result; // [size] what is reported and kept: the average, or w
    struct tr_steps *steps;
    struct tr_lattice *lattice;
    TR_ARRAY(uint16_t) found; // the best path
    uint32_t *order;          // [sequences]
    float amount;             // of an update: the weight of the sequence
    uint64_t wrong;           // tokens in this epoch
};

static void change(struct perceptron *p, size_t at, float amount)
{
    p->w[at] += amount;
    if (p->u) {
        p->u[at] += p->c * (double)amount;
    }
}

/* w[attribute, right] += value and w[attribute, wrong] -= value, where they are features. */
static void change_attributes(struct perceptron *p, const struct tr_rows *rows, size_t base,
                              const struct tr_occurrences *occurrences, size_t token,
                              uint32_t right, uint32_t wrong)
{
    for (uint32_t k = occurrences->begin.at[token]; k < occurrences->begin.at[token + 1]; k++) {
        uint32_t a = occurrences->attribute.at[k];
        float value = p->amount * (occurrences->value.size ? occurrences->value.at[k] : 1.0f);
        size_t plus = tr_rows_find(rows, a, right), minus = tr_rows_find(rows, a, wrong);
        if (plus != SIZE_MAX) {
            change(p, base + plus, value);
        }
        if (minus != SIZE_MAX) {
            change(p, base + minus, -value);
        }
    }
}

static void change_step(struct perceptron *p, uint32_t from, uint32_t to, float amount)
{
    const struct tr_training *t = p->training;
    const uint32_t *features;
    size_t count = tr_steps_features(p->steps, from, to, &features);
    for (size_t i = 0; i < count; i++) {
        size_t at = t->node_size + t->edge_size + features[i];
        change(p, at, amount);
        tr_steps_change(p->steps, features[i], p->w[at]);
    }
}

/* w += Phi(X, Z) - Phi(X, Z*) for the sequence whose first token is `first`. */
static void update(struct perceptron *p, size_t first, const uint16_t *gold, const uint16_t *found,
                   size_t n)
{
    const struct tr_training *t = p->training;
    const struct tr_vocabulary *v = &t->vocabulary;
    uint32_t width = t->graph->width;
    uint32_t gold_state = TR_NO_STATE, found_state = TR_NO_STATE;
    for (size_t i = 0; i < n; i++) {
        if (gold[i] != found[i]) {
            change_attributes(p, v->node.rows, 0, &t->data.node, first + i, gold[i], found[i]);
        }
        if (i > 0 && (gold[i] != found[i] || gold[i - 1] != found[i - 1])) {
            change_attributes(p, v->edge.rows, t->node_size, &t->data.edge, first + i,
                              gold[i - 1] * width + gold[i], found[i - 1] * width + found[i]);
        }
        uint32_t gold_next = tr_graph_next(t->graph, gold_state, gold[i]);
        uint32_t found_next = tr_graph_next(t->graph, found_state, found[i]);
        if (gold_next != found_next || gold_state != found_state) {
            change_step(p, gold_state, gold_next, p->amount);
            change_step(p, found_state, found_next, -p->amount);
        }
        gold_state = gold_next;
        found_state = found_next;
    }
    if (gold_state != found_state) {
        change_step(p, gold_state, TR_NO_STATE, p->amount);
        change_step(p, found_state, TR_NO_STATE, -p->amount);
    }
}

static trellis_status learn_sequence(struct perceptron *p, size_t s, trellis_error *error)
{
    struct tr_training *t = p->training;
    size_t first = t->data.sequence.at[s], n = t->data.sequence.at[s + 1] - first;
    const uint16_t *gold = t->data.gold.at + first;
    double score;
    if (!tr_reserve(&p->found, n)) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_training_scores(t, &t->data, s, p->w, p->lattice, error);
    if (!status) {
        status = tr_lattice_viterbi(p->lattice, p->steps, p->found.at, &score, error);
    }
    if (status) {
        return status;
    }
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        wrong += gold[i] != p->found.at[i];
    }
    p->amount = t->data.weight.size ? t->data.weight.at[s] : 1.0f;
    if (wrong) {
        update(p, first, gold, p->found.at, n);
    }
    p->wrong += wrong;
    p->c++;
    return TRELLIS_OK;
}

/* result = w, or the average (c w - u) / (c - 1) of the c - 1 iterates so far. */
static void take_result(struct perceptron *p)
{
    for (size_t j = 0; j < p->training->size; j++) {
        p->result[j] = p->u ? (float)((p->c * p->w[j] - p->u[j]) / (p->c - 1)) : p->w[j];
    }
}

static trellis_status epoch(struct perceptron *p, trellis_progress *figures, bool *ret_stop,
                            trellis_error *error)
{
    struct tr_training *t = p->training;
    double began = tr_training_seconds(t);
    size_t done = 0, n = t->data.sequences;
    p->wrong = 0;
    tr_random_shuffle(&t->random, p->order, n);
    for (size_t i = 0; i < n; i++) {
        trellis_status status = learn_sequence(p, p->order[i], error);
        if (status) {
            return status;
        }
        done += t->data.sequence.at[p->order[i] + 1] - t->data.sequence.at[p->order[i]];
        if (i % 64 == 63) {
            figures->fraction = (double)(i + 1) / (double)n;
            figures->error_rate = (double)p->wrong / (double)(done ? done : 1);
            figures->tokens_per_second = (double)done / (tr_training_seconds(t) - began + 1e-9);
            if (!tr_training_tick(t, figures)) {
                break;
            }
        }
    }
    figures->iteration++;
    figures->fraction = 1;
    figures->error_rate = done ? (double)p->wrong / (double)done : 0;
    figures->tokens_per_second = (double)done / (tr_training_seconds(t) - began + 1e-9);
    take_result(p);
    return tr_training_iteration(t, figures, p->result, ret_stop, error);
}

static trellis_status prepare(struct perceptron *p, trellis_error *error)
{
    struct tr_training *t = p->training;
    p->averaged = strcmp(t->algorithm, "averaged") == 0;
    p->c = 1;
    p->w = tr_alloc_aligned(t->size, sizeof *p->w);
    p->result = tr_alloc_aligned(t->size, sizeof *p->result);
    p->u = p->averaged ? tr_alloc(t->size, sizeof *p->u) : NULL;
    p->order = tr_alloc(t->data.sequences, sizeof *p->order);
    if (!p->w || !p->result || !p->order || (p->averaged && !p->u)) {
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < t->data.sequences; i++) {
        p->order[i] = i;
    }
    trellis_status status = tr_training_warm(t, p->w, error);
    if (!status) {
        status = tr_steps_create(t->graph, &p->steps, error);
    }
    if (!status) {
        status = tr_lattice_create(t->graph, &p->lattice, error);
    }
    if (status) {
        return status;
    }
    tr_steps_set(p->steps, p->w + t->node_size + t->edge_size);
    for (size_t j = 0; p->u && j < t->size; j++) {
        p->u[j] = (double)p->w[j]; // weights of --from are part of every iterate
    }
    return TRELLIS_OK;
}

trellis_status tr_train_perceptron(struct tr_training *training, trellis_error *error)
{
    struct perceptron p = {.training = training};
    trellis_status status = prepare(&p, error);
    trellis_progress figures = tr_training_figures(training);
    bool stop = false;
    while (!status && !stop && figures.iteration < figures.iterations) {
        status = epoch(&p, &figures, &stop, error);
    }
    tr_lattice_destroy(p.lattice);
    tr_steps_destroy(p.steps);
    free(p.found.at);
    free(p.order);
    free(p.result);
    free(p.u);
    free(p.w);
    return status;
}
