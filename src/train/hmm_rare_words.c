/* hmm_rare_words.c - words that were seen a few times only: labels they were not seen with are not
 * impossible.
 *
 * The words that stand in for unknown ones (hmm_unknown_words.c) get some of what their endings
 * say, as if each had been seen once more, with all labels at once:
 *
 *     n'(z, x) = n(z, x) + P(z | s_m)          s_m: the last of the chain of x
 *
 * and O(z, x) = n'(z, x) / sum_x n'(z, x), which sums to 1. A pair that n' would give next to
 * nothing of its word gets no weight, and the tag dictionary does not list it.
 */
#include "train/hmm.h"

/* The least share of a word that makes a pair. */
static const double least_share = 0.001;

bool tr_hmm_smooths_words(const struct tr_training *training)
{
    return !tr_training_can(training, TR_HIDDEN_LABELS) &&
           tr_features_has_unknown(training->data.features) && training->settings.alpha > 0;
}

uint32_t tr_hmm_ending(const struct tr_guesses *g, uint32_t attribute)
{
    return g->rank[attribute] == TR_NONE ? g->before[attribute] : TR_NONE;
}

/* The pairs of all attributes, those of rare words with what their endings add. */
struct wider {
    uint64_t *begin; // [attributes + 1]
    TR_ARRAY(uint32_t) outcome;
    double *p; // [labels]
};

static bool add_pairs(const struct tr_guesses *g, uint32_t a, struct wider *wider)
{
    const struct tr_rows *rows = g->training->data.vocabulary.node.rows;
    uint32_t ending = tr_hmm_ending(g, a), labels = g->training->data.train.label_count;
    uint64_t i = rows->begin[a], end = rows->begin[a + 1];
    bool ok = true;
    if (ending == TR_NONE) {
        for (; ok && i < end; i++) {
            ok = tr_push(&wider->outcome, rows->outcome[i]);
        }
        return ok;
    }
    tr_guess(g, ending, wider->p);
    for (uint32_t z = 0; ok && z < labels; z++) {
        bool seen = i < end && rows->outcome[i] == z;
        i += seen;
        if (seen || wider->p[z] >= least_share * (g->times[a] + 1)) {
            ok = tr_push(&wider->outcome, z);
        }
    }
    return ok;
}

/* Replaces the rows by wider ones; numbers of attributes, and which of them are dense, stay. */
static trellis_status widen(struct tr_training *training, const struct tr_guesses *g,
                            trellis_error *error)
{
    struct tr_rows **rows = &training->data.vocabulary.node.rows, *old = *rows, *new = NULL;
    struct wider wider = {.begin = tr_alloc((size_t)old->attributes + 1, sizeof *wider.begin),
                          .p = tr_alloc(training->data.train.label_count, sizeof *wider.p)};
    bool ok = wider.begin && wider.p;
    for (uint32_t a = 0; ok && a < old->attributes; a++) {
        ok = add_pairs(g, a, &wider);
        wider.begin[a + 1] = wider.outcome.size;
    }
    free(wider.p);
    if (!ok) {
        free(wider.begin);
        free(wider.outcome.at);
        return tr_fail_memory(error);
    }
    trellis_status status = tr_rows_create(old->outcomes, old->attributes, old->dense, wider.begin,
                                           wider.outcome.at, &new, error);
    if (!status) {
        *rows = new;
        tr_rows_destroy(old);
    }
    return status;
}

trellis_status tr_hmm_widen(struct tr_training *training, trellis_error *error)
{
    if (!tr_hmm_smooths_words(training)) {
        return TRELLIS_OK;
    }
    double *counts = tr_alloc(training->data.vocabulary.node.rows->size, sizeof *counts);
    double *share = tr_alloc(training->data.train.label_count, sizeof *share);
    uint32_t *rank = NULL;
    struct tr_guesses g = {0};
    trellis_status status = counts && share ? tr_hmm_rank(training, &rank, error)
                                            : tr_fail_memory(error);
    if (!status) {
        status = tr_hmm_count_words(training, counts, error);
    }
    if (!status) {
        tr_hmm_share(training, rank, counts, share);
        status = tr_guesses_create(training, rank, counts, share, &g, error);
    }
    if (!status) {
        status = widen(training, &g, error);
    }
    tr_guesses_free(&g);
    free(rank);
    free(share);
    free(counts);
    return status;
}

trellis_status tr_hmm_allow(const struct tr_training *training, const struct tr_intern *words,
                            struct tr_tag_dictionary_builder *draft, trellis_error *error)
{
    const struct tr_dataset *data = &training->data.train;
    const struct tr_rows *rows = training->data.vocabulary.node.rows;
    bool *done = tr_alloc(tr_intern_count(words), sizeof *done), ok = done;
    uint32_t *rank = NULL;
    trellis_status status = tr_hmm_smooths_words(training) ? tr_hmm_rank(training, &rank, error)
                                                           : TRELLIS_OK;
    for (size_t t = 0; rank && ok && t < data->tokens; t++) {
        uint32_t word = data->entry.at[t];
        for (uint32_t k = data->node.begin.at[t]; !done[word] && k < data->node.begin.at[t + 1];
             k++) {
            uint32_t a = data->node.attribute.at[k];
            uint64_t end = rank[a] == TR_NONE ? rows->begin[a + 1] : rows->begin[a];
            for (uint64_t i = rows->begin[a]; ok && i < end; i++) {
                ok = tr_tag_dictionary_add(draft, tr_intern_text(words, word),
                                           (uint16_t)rows->outcome[i]);
            }
        }
        done[word] = true;
    }
    free(rank);
    free(done);
    return status || ok ? status : tr_fail_memory(error);
}
