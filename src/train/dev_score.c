/* dev_score.c - how well an iterate labels the dev data.
 *
 * Sequences are decoded in all threads by the pass of pass.h, the labels counted in their order.
 */
#include "train/dev_score.h"

#include <math.h>

#include "lattice/decode.h"
#include "train/pass.h"
#include "train/unsupervised.h"

struct tr_dev_scorer {
    const struct tr_training *training;
    struct tr_pass *pass;
    struct tr_decoder *decoders; // [threads]
    uint16_t *predicted;         // [tokens of dev]
    trellis_scheme_storage *gold_storage, *predicted_storage;
    TR_ARRAY(trellis_text) gold_text, predicted_text; // of one sequence
    const struct tr_iterate *iterate;                 // being scored
    trellis_evaluation *evaluation;                   // of the last one
};

/* One sequence, as the callbacks of a decoder see it. */
struct dev_sequence {
    const struct tr_dev_scorer *scorer;
    size_t number;
};

static trellis_status fill(void *user, struct tr_lattice *lattice, trellis_error *error)
{
    const struct dev_sequence *s = user;
    const struct tr_training *t = s->scorer->training;
    return tr_training_fill_scores(t, &t->data.dev, s->number, s->scorer->iterate, lattice, error);
}

static trellis_status restrict_words(void *user, struct tr_lattice *lattice, trellis_error *error)
{
    const struct dev_sequence *s = user;
    const struct tr_training *t = s->scorer->training;
    return tr_training_restrict_words(t, &t->data.dev, s->number, lattice, error);
}

static trellis_status search(void *user, struct tr_lattice *lattice, const struct tr_steps *steps,
                             trellis_error *error)
{
    const struct dev_sequence *s = user;
    double score;
    uint16_t *path = s->scorer->predicted + s->scorer->training->data.dev.sequence.at[s->number];
    return tr_lattice_viterbi(lattice, steps, path, &score, error);
}

static trellis_status visit(void *user, struct tr_pass_worker *worker, size_t sequence,
                            double weight, double *value, trellis_error *error)
{
    (void)weight, (void)value;
    struct tr_dev_scorer *scorer = user;
    const struct tr_dataset *dev = &scorer->training->data.dev;
    struct dev_sequence here = {scorer, sequence};
    struct tr_decode_calls calls = {
        .fill = fill, .restrict_words = dev->entry.size ? restrict_words : NULL, .search = search};
    bool impossible;
    struct tr_decoder *decoder = &scorer->decoders[worker->thread];
    decoder->lattice = worker->lattice;
    return tr_decode(decoder, dev->sequence.at[sequence + 1] - dev->sequence.at[sequence], &calls,
                     &here, &impossible, error);
}

void tr_dev_scorer_destroy(struct tr_dev_scorer *scorer)
{
    if (!scorer) {
        return;
    }
    for (unsigned i = 0; scorer->decoders && i < tr_pool_threads(scorer->training->pool); i++) {
        tr_decoder_free(&scorer->decoders[i]);
    }
    tr_pass_destroy(scorer->pass);
    trellis_evaluation_destroy(scorer->evaluation);
    trellis_scheme_storage_destroy(scorer->gold_storage);
    trellis_scheme_storage_destroy(scorer->predicted_storage);
    free(scorer->decoders);
    free(scorer->predicted);
    free(scorer->gold_text.at);
    free(scorer->predicted_text.at);
    free(scorer);
}

static trellis_status create(struct tr_training *training, trellis_error *error)
{
    struct tr_dev_scorer *scorer = tr_alloc(1, sizeof *scorer);
    unsigned threads = tr_pool_threads(training->pool);
    if (!scorer) {
        return tr_fail_memory(error);
    }
    training->dev_scorer = scorer;
    scorer->training = training;
    scorer->decoders = tr_alloc(threads, sizeof *scorer->decoders);
    scorer->predicted = tr_alloc(training->data.dev.tokens, sizeof *scorer->predicted);
    if (!scorer->decoders || !scorer->predicted) {
        return tr_fail_memory(error);
    }
    return tr_pass_create(training, (struct tr_pass_room){.lattice = true}, &scorer->pass, error);
}

/* The gold label of a token. One that is not known counts as correct where it may be the predicted
 * one. */
static uint16_t gold_at(const struct tr_dataset *dev, size_t token, uint16_t predicted)
{
    const uint16_t *labels;
    size_t count = tr_dataset_open(dev, token, &labels);
    bool may_be = count == 0;
    for (size_t i = 0; i < count; i++) {
        may_be = may_be || labels[i] == predicted;
    }
    return may_be ? predicted : labels[0];
}

/* Counts the labels of one sequence, in the scheme of the files. */
static trellis_status count_sequence(struct tr_dev_scorer *scorer, size_t s,
                                     trellis_evaluation *evaluation, trellis_error *error)
{
    const struct tr_training_data *data = &scorer->training->data;
    const struct tr_dataset *dev = &data->dev;
    size_t first = dev->sequence.at[s], n = dev->sequence.at[s + 1] - first;
    if (!tr_reserve(&scorer->gold_text, n) || !tr_reserve(&scorer->predicted_text, n)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < n; i++) {
        uint16_t label = scorer->predicted[first + i];
        scorer->gold_text.at[i] = tr_intern_text(&dev->labels, gold_at(dev, first + i, label));
        scorer->predicted_text.at[i] = tr_intern_text(&dev->labels, label);
    }
    const trellis_text *gold = scorer->gold_text.at, *predicted = scorer->predicted_text.at;
    trellis_status status = TRELLIS_OK;
    if (data->inside != TRELLIS_NO_SCHEME && data->inside != data->outside) {
        status = trellis_scheme_convert(data->inside, data->outside, gold, n, &scorer->gold_storage,
                                        &gold, error);
        if (!status) {
            status = trellis_scheme_convert(data->inside, data->outside, predicted, n,
                                            &scorer->predicted_storage, &predicted, error);
        }
    }
    return status ? status : trellis_evaluation_add(evaluation, gold, predicted, n, error);
}

/* Of states that are learned without labels, the best assignment of states to labels is scored. */
static trellis_status take_figures(const struct tr_training *training,
                                   const trellis_evaluation *evaluation, trellis_progress *figures,
                                   trellis_error *error)
{
    trellis_scores scores = {.struct_size = sizeof scores};
    trellis_cluster_scores clusters = {.struct_size = sizeof clusters};
    trellis_status status = TRELLIS_OK;
    if (!tr_unsupervised_dev_clusters(training)) {
        trellis_evaluation_scores(evaluation, &scores);
        figures->dev_accuracy = scores.accuracy;
        figures->dev_f1 = scores.has_spans ? scores.f1 : NAN;
    } else if (!(status = trellis_evaluation_clusters(evaluation, &clusters, error))) {
        bool one = training->settings.dev_score == TR_DEV_ONE;
        figures->dev_accuracy = one ? clusters.one_to_one : clusters.many_to_one;
    }
    return status;
}

/* Gives all ranks the labels that each has predicted. */
static trellis_status share_labels(struct tr_dev_scorer *scorer, struct tr_ranks *ranks,
                                   trellis_error *error)
{
    const struct tr_dataset *dev = &scorer->training->data.dev;
    size_t first = 0, end = 0, *begin = tr_alloc((size_t)ranks->count + 2, sizeof *begin);
    if (!begin) {
        return tr_ranks_agree(ranks, tr_fail_memory(error), error);
    }
    for (unsigned r = 0; r < ranks->count; r++) {
        tr_pass_share(scorer->training, dev, r, &first, &end);
        begin[r + 1] = dev->sequence.at[end] * sizeof *scorer->predicted;
    }
    trellis_status status = tr_ranks_gather(ranks, scorer->predicted, begin, error);
    free(begin);
    return status;
}

trellis_status tr_dev_score(struct tr_training *training, const struct tr_iterate *iterate,
                            trellis_progress *figures, trellis_error *error)
{
    const struct tr_layout *layout = &training->layout;
    const float *step_weights = iterate->weights + layout->step_begin;
    double ignored;
    trellis_status status = training->dev_scorer ? TRELLIS_OK : create(training, error);
    struct tr_dev_scorer *scorer = training->dev_scorer;
    if (!status) {
        trellis_evaluation_destroy(scorer->evaluation);
        status = trellis_evaluation_create(NULL, &scorer->evaluation, error);
    }
    if (!status) {
        struct tr_steps *steps = tr_pass_steps(scorer->pass);
        struct tr_pass_plan plan = {.visit = visit, .user = scorer, .unweighted = true};
        tr_steps_set(steps, step_weights);
        for (unsigned i = 0; i < tr_pool_threads(training->pool); i++) {
            scorer->decoders[i].graph = layout->graph;
            scorer->decoders[i].steps = steps;
            scorer->decoders[i].step_weights = step_weights;
            scorer->decoders[i].local = tr_training_can(training, TR_LOCAL);
            scorer->decoders[i].generative = tr_training_can(training, TR_GENERATIVE);
        }
        scorer->iterate = iterate;
        status = tr_pass_run(scorer->pass, &training->data.dev, &plan, &ignored, error);
    }
    if (!status) {
        status = share_labels(scorer, &training->ranks, error);
    }
    for (size_t s = 0; !status && s < training->data.dev.sequences; s++) {
        status = count_sequence(scorer, s, scorer->evaluation, error);
    }
    if (!status) {
        status = take_figures(training, scorer->evaluation, figures, error);
        figures->dev = scorer->evaluation;
    }
    return status;
}
