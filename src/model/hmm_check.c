/* hmm_check.c - whether the weights of a linear model are those of an HMM (Wu 2013, section 2).
 *
 *     w . Phi(X, Z) = log P(X, Z)    where w holds log pi, log T and log O (equation 7)
 *
 * An HMM that was written by hand has one weight for each probability, so these must sum to 1: of
 * the transitions from the start and from each label, and of the words of each label. A trained one
 * also has weights of single labels, over which its probabilities are spread; they sum to 1 by
 * construction.
 */
#include <math.h>

#include "model/model.h"

/* Sums of probabilities by label, the start last. */
struct probability_sums {
    double *steps, *words; // [labels + 1]
    const struct tr_table *table;
    uint32_t row;
};

static const double max_deviation = 1e-6;

bool tr_model_is_by_hand(const trellis_model *model)
{
    bool by_hand = model->plan.order == 1;
    for (size_t i = 0; i < model->plan.gram_count; i++) {
        by_hand = by_hand && model->grams[i].length == 2;
    }
    return by_hand;
}

static void add_word(void *user, uint32_t label, float weight)
{
    struct probability_sums *sums = user;
    (void)weight;
    sums->words[label] += exp(tr_table_exact(sums->table, sums->row, label));
}

static void sum_up(const trellis_model *model, struct probability_sums *sums)
{
    for (size_t i = 0; i < model->plan.gram_count; i++) {
        sums->steps[model->grams[i].label[0]] += exp(tr_model_exact_step(model, i));
    }
    sums->table = &model->node;
    for (uint64_t i = 0; i < model->node.record_count; i++) {
        const struct tr_text_record *record = &model->node.records[i];
        sums->row = record->row;
        tr_table_each(&model->node, record, add_word, sums);
    }
    /* A weight of 0, which is a probability of 1, is not kept. */
    for (uint64_t i = 0; i < model->node.record_count; i++) {
        for (uint32_t z = 0; z < model->label_count; z++) {
            sums->words[z] += tr_table_weight(&model->node, model->node.records[i].row, z) == 0;
        }
    }
}

static trellis_status check_sum(const trellis_model *model, const char *what, size_t label,
                                double sum, trellis_error *error)
{
    return fabs(sum - 1) <= max_deviation
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_DATA,
                         "the probabilities of the %s '%.*s' sum to %.9g, not to 1", what,
                         TR_SHOW(tr_model_gram_label(model, (uint16_t)label)), sum);
}

trellis_status trellis_model_check_hmm(const trellis_model *model, trellis_error *error)
{
    if (!model) {
        return tr_fail_null(error, __func__);
    }
    uint32_t labels = model->label_count;
    if (!model->kind.hmm) {
        return tr_fail(
            error, TRELLIS_DATA,
            "a model of type '%s' is not an HMM; in text form the line 'note, type, hmm' "
            "makes it one",
            model->kind.type);
    }
    trellis_status status = tr_integrity_all(model->integrity, error);
    if (status || !tr_model_is_by_hand(model)) {
        return status;
    }
    double *room = tr_alloc(2 * ((size_t)labels + 1), sizeof *room);
    if (!room) {
        return tr_fail_memory(error);
    }
    struct probability_sums sums = {.steps = room, .words = room + labels + 1};
    sum_up(model, &sums);
    status = check_sum(model, "transitions from", labels, sums.steps[labels], error);
    for (uint32_t z = 0; !status && z < labels; z++) {
        status = check_sum(model, "transitions from", z, sums.steps[z], error);
        if (!status) {
            status = check_sum(model, "words of", z, sums.words[z], error);
        }
    }
    free(room);
    return status;
}
