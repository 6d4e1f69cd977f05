/* tag_result.c - asks a tagger for all that is wanted of a sequence, and keeps it. */
#include "tag_result.h"

#include <math.h>
#include <string.h>

#include "batch.h"
#include "message.h"
#include "tagging.h"

/* Labels [count][length] and scores of what the tagger found; false on allocation failure. */
static bool keep_labels(struct finding *finding, trellis_tagger *tagger, size_t length,
                        struct batch *memory)
{
    trellis_text *kept = batch_take(memory, finding->count * length * sizeof *kept);
    double *scores = batch_take(memory, finding->count * sizeof *scores);
    if (!kept || !scores) {
        return false;
    }
    for (size_t k = 0; k < finding->count; k++) {
        const trellis_text *labels = trellis_tagger_nth_labels(tagger, k);
        if (!labels && length > 0) {
            return false;
        }
        for (size_t i = 0; i < length; i++) {
            trellis_text *label = &kept[k * length + i];
            *label = labels[i];
            if (!batch_copy(memory, label)) {
                return false;
            }
        }
        scores[k] = trellis_tagger_nth_score(tagger, k);
    }
    finding->labels = kept;
    finding->scores = scores;
    return true;
}

static bool keep_probabilities(struct finding *finding, trellis_tagger *tagger,
                               struct batch *memory)
{
    double *kept = batch_take(memory, finding->count * sizeof *kept);
    for (size_t k = 0; kept && k < finding->count; k++) {
        kept[k] = trellis_tagger_nth_probability(tagger, k);
        if (isnan(kept[k])) {
            return true;
        }
    }
    finding->probabilities = kept;
    return kept;
}

static trellis_status keep_marginals(struct finding *finding, trellis_tagger *tagger, size_t length,
                                     struct batch *memory, trellis_error *error)
{
    float *kept = batch_take(memory, finding->count * length * sizeof *kept);
    if (!kept) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    for (size_t k = 0; k < finding->count; k++) {
        const float *marginals;
        trellis_status status = trellis_tagger_nth_marginals(tagger, k, &marginals, error);
        if (status) {
            return status;
        }
        memcpy(kept + k * length, marginals, length * sizeof *kept);
    }
    finding->marginals = kept;
    return TRELLIS_OK;
}

static trellis_status keep_all_marginals(struct finding *finding, const struct tagging *tagging,
                                         trellis_tagger *tagger, size_t length,
                                         struct batch *memory, trellis_error *error)
{
    const float *marginals;
    size_t size = length * trellis_model_label_count(tagging->model) * sizeof *marginals;
    trellis_status status = trellis_tagger_marginals(tagger, &marginals, error);
    float *kept = status ? NULL : batch_take(memory, size);
    if (!status && !kept) {
        status = set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    if (!status) {
        memcpy(kept, marginals, size);
    }
    finding->all_marginals = kept;
    return status;
}

static trellis_status keep_known(struct finding *finding, const struct tagging *tagging,
                                 trellis_tagger *tagger, const trellis_sequence *sequence,
                                 struct batch *memory, trellis_error *error)
{
    const bool *known;
    trellis_status status = trellis_tagger_known(tagger, tagging->words, sequence, &known, error);
    if (status || !known) {
        return status;
    }
    bool *kept = batch_take(memory, sequence->length * sizeof *kept);
    if (!kept) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    memcpy(kept, known, sequence->length * sizeof *kept);
    finding->known = kept;
    return TRELLIS_OK;
}

static trellis_status keep_likelihood(struct finding *finding, trellis_tagger *tagger,
                                      const trellis_sequence *sequence, struct batch *memory,
                                      trellis_error *error)
{
    double *kept = batch_take(memory, sizeof *kept);
    if (!kept) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    finding->likelihood = kept;
    return trellis_tagger_log_probability(tagger, sequence->labels, kept, error);
}

static trellis_status keep_log_z(struct finding *finding, trellis_tagger *tagger,
                                 struct batch *memory, trellis_error *error)
{
    double *kept = batch_take(memory, sizeof *kept);
    finding->log_z = kept;
    return kept ? trellis_tagger_log_z(tagger, kept, error)
                : set_error(error, TRELLIS_MEMORY, "out of memory");
}

trellis_status find_labels(const struct tagging *tagging, trellis_tagger *tagger,
                           const trellis_sequence *sequence, struct batch *memory,
                           struct finding *ret_finding, trellis_error *error)
{
    struct finding finding = {.count = 1};
    const trellis_text *labels;
    double best = 0;
    trellis_status status = TRELLIS_OK;
    if (tagging->check) {
        status = trellis_tagger_nbest(tagger, sequence, 1, &finding.count, error);
        best = trellis_tagger_score(tagger);
    }
    if (!status) {
        status = tagging->nbest > 1
                     ? trellis_tagger_nbest(tagger, sequence, tagging->nbest, &finding.count, error)
                     : trellis_tagger_tag(tagger, sequence, &labels, error);
    }
    if (status) {
        return status;
    }
    finding.exact = tagging->check && trellis_tagger_score(tagger) >= best;
    if (!keep_labels(&finding, tagger, sequence->length, memory) ||
        (tagging->nbest > 1 && !keep_probabilities(&finding, tagger, memory))) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    if (tagging->marginals) {
        status = keep_marginals(&finding, tagger, sequence->length, memory, error);
    }
    if (!status && tagging->all_marginals) {
        status = keep_all_marginals(&finding, tagging, tagger, sequence->length, memory, error);
    }
    if (!status && tagging->likelihood && sequence->labels) {
        status = keep_likelihood(&finding, tagger, sequence, memory, error);
    }
    if (!status && tagging->log_z) {
        status = keep_log_z(&finding, tagger, memory, error);
    }
    if (!status && tagging->known) {
        status = keep_known(&finding, tagging, tagger, sequence, memory, error);
    }
    *ret_finding = finding;
    return status;
}

trellis_status compare_finding(const trellis_sequence *sequence, const struct finding *finding,
                               trellis_labelled *ret_labelled, trellis_error *error)
{
    if (!sequence->labels) {
        return set_error(error, TRELLIS_DATA,
                         "line %llu: there are no labels to compare with; see --label",
                         (unsigned long long)sequence->line);
    }
    *ret_labelled = (trellis_labelled){sequence->length, sequence->labels,   finding->labels,
                                       finding->known,   finding->marginals, finding->likelihood,
                                       finding->log_z};
    return TRELLIS_OK;
}
