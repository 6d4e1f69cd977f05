/* online_learner.c - an online learner as an object: learns from sequences as they come.
 *
 *     sequences -> growing training -> rule or stochastic step, one after another -> model at any time
 *
 * The rules are those of the learners that make several passes over a corpus. What differs for -a
 * sgd is that the number N of sequences is not known: with n of them learned so far, the objective
 * is
 *
 *     sum of their losses + l2 |w|^2,     so lambda = 2 l2 / n
 *
 * and the rate falls as r / (1 + n / 10000)^(3/4). The first steps, of which the penalty would
 * leave nothing, count as if there had been as many sequences as it takes to halve the weights.
 */
#include "train/online_learner.h"

#include <math.h>

#include "base/structs.h"
#include "corpus/corpus.h"
#include "model/model.h"

static const double default_rate = 0.1, sequences_at_full_rate = 10000;

/* ---- arrays that follow the layout ----------------------------------------------------------- */

/* What a rule has for a layout. */
struct rule_arrays {
    float *w, *variance;
    double *u;
    struct tr_loss *loss;
    struct tr_steps *steps;
    struct tr_lattice *lattice;
};

static void free_rule_arrays(struct rule_arrays *arrays)
{
    free(arrays->w);
    free(arrays->variance);
    free(arrays->u);
    tr_loss_destroy(arrays->loss);
    tr_steps_destroy(arrays->steps);
    tr_lattice_destroy(arrays->lattice);
}

static trellis_status make_rule_arrays(const trellis_online *online, const struct tr_training *to,
                                       struct rule_arrays *arrays, trellis_error *error)
{
    size_t size = to->layout.size;
    bool averages = tr_online_averaging(online->method, &to->settings) != TR_NO_AVERAGE;
    arrays->w = tr_alloc_aligned(size, sizeof *arrays->w);
    arrays->u = averages ? tr_alloc(size, sizeof *arrays->u) : NULL;
    arrays->variance = online->method->variances ? tr_alloc(size, sizeof *arrays->variance) : NULL;
    if (!arrays->w || (averages && !arrays->u) ||
        (online->method->variances && !arrays->variance)) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_loss_create(to->settings.options, &to->data.train.labels,
                                           to->data.train.label_count, &arrays->loss, error);
    if (!status) {
        status = tr_steps_create(to->layout.graph, NULL, &arrays->steps, error);
    }
    if (!status) {
        status = tr_steps_index(arrays->steps, error);
    }
    return status ? status : tr_lattice_create(to->layout.graph, &arrays->lattice, error);
}

static trellis_status relayout_rule(trellis_online *online, const struct tr_relayout *relayout,
                                    trellis_error *error)
{
    struct tr_online *rule = online->online;
    struct rule_arrays now = {0}, old = {rule->now.weights, rule->variance, rule->u,
                                         rule->loss,        rule->steps,    rule->lattice};
    trellis_status status = make_rule_arrays(online, relayout->to, &now, error);
    if (status) {
        free_rule_arrays(&now);
        return status;
    }
    for (size_t j = 0; now.variance && j < relayout->to->layout.size; j++) {
        now.variance[j] = (float)relayout->to->settings.variance;
    }
    tr_relayout_copy(relayout, old.w, now.w, sizeof *now.w);
    if (now.u) {
        tr_relayout_copy(relayout, old.u, now.u, sizeof *now.u);
    }
    if (now.variance) {
        tr_relayout_copy(relayout, old.variance, now.variance, sizeof *now.variance);
    }
    rule->now = (struct tr_iterate){.size = relayout->to->layout.size, .weights = now.w};
    rule->variance = now.variance;
    rule->u = now.u;
    rule->loss = now.loss;
    rule->steps = now.steps;
    rule->lattice = now.lattice;
    tr_steps_set(rule->steps, now.w + relayout->to->layout.step_begin);
    free_rule_arrays(&old);
    return TRELLIS_OK;
}

static trellis_status relayout_sgd(struct tr_sgd *sgd, size_t slots,
                                   const struct tr_relayout *relayout, trellis_error *error)
{
    size_t size = relayout->to->layout.size;
    float *v = tr_alloc_aligned(size, sizeof *v), *a = tr_alloc_aligned(size, sizeof *a);
    trellis_status status = v && a ? tr_sgd_make_slots(sgd, relayout->to, slots, error)
                                   : tr_fail_memory(error);
    if (status) {
        free(v);
        free(a);
        return status;
    }
    tr_relayout_copy(relayout, sgd->v.weights, v, sizeof *v);
    tr_relayout_copy(relayout, sgd->a, a, sizeof *a);
    tr_iterate_free(&sgd->v);
    free(sgd->a);
    sgd->v = (struct tr_iterate){.size = size, .weights = v};
    sgd->a = a;
    return TRELLIS_OK;
}

trellis_status tr_online_learner_relayout(void *user, const struct tr_relayout *relayout,
                                          trellis_error *error)
{
    trellis_online *online = user;
    return online->sgd ? relayout_sgd(online->sgd, online->slots, relayout, error)
                       : relayout_rule(online, relayout, error);
}

void tr_online_learner_set_steps(trellis_online *online)
{
    struct tr_online *rule = online->online;
    if (rule) {
        tr_steps_set(rule->steps, rule->now.weights + rule->training->layout.step_begin);
    }
}

/* ---- from a model ---------------------------------------------------------------------------- */

static trellis_status check_model(const trellis_online *online, const trellis_model *model,
                                  trellis_error *error)
{
    const char *wrong = model->kind.hmm || model->gaussian.columns ? "of type hmm"
                        : model->plan.order > online->growing.training.settings.order
                            ? "of a higher order than --order"
                        : model->plan.count_cap || model->plan.pruned ? "with --counted or --prune"
                        : model->segments                             ? "of segments"
                        : model->tag_dictionary.words                 ? "with a tag dictionary"
                                                                      : NULL;
    return wrong ? tr_fail(error, TRELLIS_MODEL, "learning online cannot start with a model %s",
                           wrong)
                 : TRELLIS_OK;
}

static bool adopt_attributes(const struct tr_table *table, struct tr_attribute_index *index)
{
    bool ok = true;
    for (uint64_t i = 0; ok && i < table->record_count; i++) {
        const struct tr_text_record *record = &table->records[i];
        ok = tr_attribute_index_find(index, record->key) != TR_NONE || // in a damaged model
             tr_attribute_index_adopt(index, record->key, tr_table_text(table, record));
    }
    return ok;
}

static trellis_status take_model(trellis_online *online, const trellis_model *model,
                                 trellis_error *error)
{
    struct tr_training *t = &online->growing.training;
    trellis_status status = tr_integrity_all(model->integrity, error);
    if (status) {
        return status;
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < model->label_count; i++) {
        ok = tr_intern_add(&t->data.train.labels, model->labels[i]) != TR_NONE;
    }
    for (size_t i = 0; ok && i < model->word_count; i++) {
        ok = model->words[i] == 0 || tr_words_add_hash(&t->data.seen, model->words[i]);
    }
    ok = ok && adopt_attributes(&model->node, &t->data.vocabulary.node.index) &&
         adopt_attributes(&model->edge, &t->data.vocabulary.edge.index);
    if (!ok) {
        return tr_fail_memory(error);
    }
    t->data.train.label_count = (uint32_t)tr_intern_count(&t->data.train.labels);
    t->data.inside = model->inside == model->outside ? TRELLIS_NO_SCHEME : model->inside;
    t->data.outside = model->outside;
    status = tr_growing_fit(&online->growing, tr_online_learner_relayout, online, error);
    if (!status) {
        float *weights = online->sgd ? online->sgd->v.weights : online->online->now.weights;
        t->sources.from = model;
        t->sources.from_name = "";
        status = tr_training_initial_weights(t, weights, error);
        t->sources.from = NULL;
    }
    if (!status) {
        tr_online_learner_set_steps(online);
    }
    return status;
}

/* ---- creation -------------------------------------------------------------------------------- */

/* One share of all attributes: a step moves the weights of few, so they are not worth dividing. */
static trellis_status begin_sgd(trellis_online *online, trellis_error *error)
{
    const struct tr_settings *settings = &online->growing.training.settings;
    struct tr_sgd *sgd = online->sgd = tr_alloc(1, sizeof *sgd);
    if (!sgd) {
        return tr_fail_memory(error);
    }
    *sgd = (struct tr_sgd){.training = &online->growing.training,
                           .eta0 = settings->rate > 0 ? settings->rate : default_rate,
                           .scale = 1,
                           .divisor = 1,
                           .averaging = settings->average,
                           .batch = settings->batch,
                           .shares = 1};
    sgd->node_cuts = tr_alloc(2, sizeof *sgd->node_cuts);
    sgd->edge_cuts = tr_alloc(2, sizeof *sgd->edge_cuts);
    sgd->order = tr_alloc(sgd->batch, sizeof *sgd->order);
    if (!sgd->node_cuts || !sgd->edge_cuts || !sgd->order) {
        return tr_fail_memory(error);
    }
    sgd->node_cuts[1] = sgd->edge_cuts[1] = UINT32_MAX;
    return TRELLIS_OK;
}

trellis_status tr_online_learner_begin(trellis_online *online, trellis_error *error)
{
    struct tr_training *t = &online->growing.training;
    online->method = t->settings.algorithm->online;
    if (!online->method) {
        return begin_sgd(online, error);
    }
    enum tr_averaging averaging = tr_online_averaging(online->method, &t->settings);
    trellis_status status = tr_online_create_empty(t, averaging, &online->online, error);
    if (!status && online->method->begin) {
        status = online->method->begin(&t->settings, &online->method_user, error);
    }
    return status;
}

trellis_status trellis_online_create(const trellis_options *options, const trellis_model *from,
                                     const trellis_features *features, trellis_online **ret_online,
                                     trellis_error *error)
{
    if (!TR_CLEAR(ret_online)) {
        return tr_fail_null(error, __func__);
    }
    trellis_online *online = tr_alloc(1, sizeof *online);
    if (!online) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_growing_create(&online->growing, options,
                                              features ? features
                                              : from   ? from->features
                                                       : NULL,
                                              error);
    if (!status) {
        status = tr_online_learner_begin(online, error);
    }
    if (!status && from) {
        status = check_model(online, from, error);
        if (!status) {
            status = take_model(online, from, error);
        }
    }
    if (status) {
        trellis_online_destroy(online);
    } else {
        *ret_online = online;
    }
    return status;
}

void trellis_online_destroy(trellis_online *online)
{
    if (!online) {
        return;
    }
    if (online->method_user) {
        online->method->end(online->method_user);
    }
    tr_online_destroy(online->online);
    if (online->sgd) {
        tr_sgd_free(online->sgd);
    }
    free(online->sgd);
    tr_growing_free(&online->growing);
    free(online);
}

trellis_status trellis_online_bind(trellis_online *online, const trellis_reader *reader,
                                   trellis_error *error)
{
    if (!online || !reader) {
        return tr_fail_null(error, __func__);
    }
    size_t label_column = trellis_reader_label_column(reader);
    online->growing.word_column = tr_reader_word_column(reader, label_column);
    return tr_extractor_bind(online->growing.extractor, reader, label_column, error);
}

/* ---- learning -------------------------------------------------------------------------------- */

/* The sequences of a call, of the size that the caller knows. */
struct caller_batch {
    const char *at;
    size_t stride, count;
};

static trellis_status take_sequence(const struct caller_batch *batch, size_t i,
                                    trellis_sequence *sequence, trellis_error *error)
{
    const char *at = batch->at + i * batch->stride;
    if (!tr_struct_take(sequence, sizeof *sequence, at) || sequence->struct_size != batch->stride) {
        return tr_fail(error, TRELLIS_OPTION, "sequence %zu: struct_size is not set", i + 1);
    }
    if (sequence->length == 0 || !sequence->labels) {
        return tr_fail(error, TRELLIS_DATA, "sequence %zu has no %s", i + 1,
                       sequence->length ? "labels" : "tokens");
    }
    return tr_sequence_check(sequence, i + 1, error);
}

/* Reads all sequences; *ret_words is how many words they have at most. */
static trellis_status read_batch(trellis_online *online, const struct caller_batch *batch,
                                 size_t *ret_words, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    *ret_words = 0;
    for (size_t i = 0; !status && i < batch->count; i++) {
        trellis_sequence sequence;
        status = take_sequence(batch, i, &sequence, error);
        if (!status) {
            status = tr_growing_read(&online->growing, &sequence, error);
            *ret_words += sequence.length;
        }
    }
    return status;
}

/* Room was made for them. */
static void add_words(trellis_online *online, const struct caller_batch *batch)
{
    size_t column = online->growing.word_column;
    for (size_t i = 0; i < batch->count; i++) {
        trellis_sequence sequence;
        tr_struct_take(&sequence, sizeof sequence, batch->at + i * batch->stride);
        for (size_t k = 0; column < sequence.columns && k < sequence.length; k++) {
            tr_words_add(&online->growing.training.data.seen,
                         sequence.cells[k * sequence.columns + column]);
        }
    }
}

static void count_learned(trellis_online *online, size_t first, size_t count)
{
    const struct tr_dataset *data = &online->growing.training.data.train;
    online->growing.sequences += count;
    online->growing.tokens += data->sequence.at[first + count] - data->sequence.at[first];
}

static trellis_status learn_by_rule(trellis_online *online, trellis_error *error)
{
    size_t count = online->growing.training.data.train.sequences;
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < count; i++) {
        status = online->method->learn(online->online, online->method_user, i, error);
        if (!status) {
            tr_online_end_sequence(online->online);
            count_learned(online, i, 1);
        }
    }
    return status;
}

static trellis_status learn_by_steps(trellis_online *online, trellis_error *error)
{
    struct tr_sgd *sgd = online->sgd;
    size_t count = online->growing.training.data.train.sequences;
    double l2 = online->growing.training.settings.l2;
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < count; i += sgd->batch) {
        size_t size = count - i < sgd->batch ? count - i : sgd->batch;
        double before = (double)online->growing.sequences;
        for (size_t k = 0; k < size; k++) {
            sgd->order[k] = (uint32_t)(i + k);
        }
        sgd->lambda = 2 * l2 / fmax(before + (double)size, 4 * l2 * sgd->eta0);
        double eta = sgd->eta0 / pow(1 + before / sequences_at_full_rate, 0.75);
        status = tr_sgd_step(sgd, sgd->order, size, eta, error);
        if (!status) {
            count_learned(online, i, size);
        }
    }
    return status;
}

/* For the sequences at hand. */
static trellis_status make_room(trellis_online *online, trellis_error *error)
{
    struct tr_sgd *sgd = online->sgd;
    if (!sgd) {
        return tr_online_make_room(online->online, error);
    }
    size_t count = online->growing.training.data.train.sequences;
    count = count < sgd->batch ? count : sgd->batch;
    online->slots = count > online->slots ? count : online->slots;
    return !online->growing.has_layout || online->slots <= sgd->slot_count
               ? TRELLIS_OK
               : tr_sgd_make_slots(sgd, sgd->training, online->slots, error);
}

trellis_status trellis_online_learn(trellis_online *online, const trellis_sequence *sequences,
                                    size_t count, trellis_error *error)
{
    if (!online || (!sequences && count > 0)) {
        return tr_fail_null(error, __func__);
    }
    struct tr_growing *growing = &online->growing;
    if (count == 0) {
        return TRELLIS_OK;
    }
    struct caller_batch batch = {(const char *)sequences, sequences->struct_size, count};
    struct tr_growing_mark mark = tr_growing_mark(growing);
    size_t words;
    tr_dataset_clear(&growing->training.data.train);
    trellis_status status = read_batch(online, &batch, &words, error);
    if (!status && !tr_words_reserve(&growing->training.data.seen, words)) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        status = make_room(online, error);
    }
    if (!status) {
        status = tr_growing_fit(growing, tr_online_learner_relayout, online, error);
    }
    if (status) {
        tr_growing_roll_back(growing, mark);
        return status;
    }
    add_words(online, &batch);
    return online->sgd ? learn_by_steps(online, error) : learn_by_rule(online, error);
}

/* ---- results --------------------------------------------------------------------------------- */

uint64_t trellis_online_sequences(const trellis_online *online)
{
    if (!online) {
        return 0;
    }
    return online->growing.sequences;
}

static float weight_at(const void *user, size_t at)
{
    const trellis_online *online = user;
    return online->sgd ? tr_sgd_average(online->sgd, at) : tr_online_average(online->online, at);
}

trellis_status trellis_online_model(const trellis_online *online, trellis_model **ret_model,
                                    trellis_error *error)
{
    if (!TR_CLEAR(ret_model) || !online) {
        return tr_fail_null(error, __func__);
    }
    return tr_growing_model(&online->growing, weight_at, online, ret_model, error);
}
