/* hmm_unknown_words.c - the emission of unknown words, guessed by their endings (Samuelsson
 * 1993; Brants 2000, "TnT").
 *
 * Templates with unknown(x, n) are applied to rare words in training. Those of one word form a
 * chain s_0, s_1, s_2, ... in the order of the templates, from the least specific (its case) to the
 * most specific (its last ten letters). Each is interpolated with the one before:
 *
 *     P(z | s_k) = (share of z in s_k + theta P(z | s_k-1)) / (1 + theta)        P(z | s_-1) = P(z)
 *
 * and an unknown word has the probability, by Bayes' rule and with u for the share of unknown
 * words,
 *
 *     P(x | z) = u P(z | s_m) / P(z)       s_m: the last of its chain that training has seen
 *
 * This is a sum of weights over s_0 .. s_m: log P(z | s_k) - log P(z | s_k-1) each, and log u - log
 * P(z) for the first. A label that s_k was never seen with has log(theta / (1 + theta)) there,
 * whatever the label; with that taken from all, such labels need no weight, and probabilities are
 * correct up to a factor that is the same for all labels, which the tagger divides out.
 */
#include <math.h>

#include "train/hmm.h"

/* Finds the chains: those of a token in the order of their templates. The last one is that of its
 * word. */
static void link_chains(struct tr_guesses *g)
{
    const struct tr_occurrences *node = &g->training->data.train.node;
    const uint32_t *rank = g->rank;
    for (size_t t = 0; t < g->training->data.train.tokens; t++) {
        for (uint32_t k = node->begin.at[t]; k < node->begin.at[t + 1]; k++) {
            uint32_t a = node->attribute.at[k], last = TR_NONE;
            if (g->before[a] != TR_NONE) {
                continue;
            }
            for (uint32_t j = node->begin.at[t]; j < node->begin.at[t + 1]; j++) {
                uint32_t b = node->attribute.at[j];
                if (rank[b] < rank[a] && (last == TR_NONE || rank[b] > rank[last])) {
                    last = b;
                }
            }
            g->before[a] = last;
        }
    }
}

static void count_times(struct tr_guesses *g)
{
    const struct tr_rows *rows = g->training->data.vocabulary.node.rows;
    for (uint32_t a = 0; a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            g->times[a] += g->counts[tr_rows_find(rows, a, rows->outcome[i])];
        }
    }
}

trellis_status tr_guesses_create(const struct tr_training *training, const uint32_t *rank,
                                 const double *counts, const double *share,
                                 struct tr_guesses *ret_guesses, trellis_error *error)
{
    struct tr_guesses *g = ret_guesses;
    uint32_t attributes = training->data.vocabulary.node.rows->attributes;
    *g = (struct tr_guesses){.training = training,
                             .rank = rank,
                             .counts = counts,
                             .share = share,
                             .theta = training->settings.theta,
                             .before = tr_alloc(attributes, sizeof *g->before),
                             .times = tr_alloc(attributes, sizeof *g->times)};
    if (!g->before || !g->times) {
        return tr_fail_memory(error);
    }
    for (uint32_t a = 0; a < attributes; a++) {
        g->before[a] = TR_NONE;
    }
    link_chains(g);
    count_times(g);
    return TRELLIS_OK;
}

void tr_guesses_free(struct tr_guesses *g)
{
    free(g->before);
    free(g->times);
}

/* From P(z | s_k-1) to P(z | s_k) */
static void refine(const struct tr_guesses *g, uint32_t a, double *p)
{
    const struct tr_rows *rows = g->training->data.vocabulary.node.rows;
    for (uint32_t z = 0; z < g->training->data.train.label_count; z++) {
        p[z] *= g->theta / (1 + g->theta);
    }
    for (uint64_t i = rows->begin[a]; g->times[a] > 0 && i < rows->begin[a + 1]; i++) {
        double count = g->counts[tr_rows_find(rows, a, rows->outcome[i])];
        p[rows->outcome[i]] += count / g->times[a] / (1 + g->theta);
    }
}

void tr_guess(const struct tr_guesses *g, uint32_t a, double *p)
{
    if (a == TR_NONE) {
        memcpy(p, g->share, g->training->data.train.label_count * sizeof *p);
        return;
    }
    tr_guess(g, g->before[a], p);
    refine(g, a, p);
}

static void set_weights(const struct tr_guesses *g, uint32_t a, const struct tr_hmm_words *words,
                        double *shorter, double *now, double *w)
{
    const struct tr_rows *rows = g->training->data.vocabulary.node.rows;
    bool first = g->before[a] == TR_NONE;
    double unseen = log(g->theta / (1 + g->theta));
    tr_guess(g, g->before[a], shorter);
    memcpy(now, shorter, g->training->data.train.label_count * sizeof *now);
    refine(g, a, now);
    for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
        uint32_t z = rows->outcome[i];
        double prior = first ? log(words->unknown) - words->alone[z] : 0;
        w[tr_rows_find(rows, a, z)] = shorter[z] > 0 ? log(now[z] / shorter[z]) - unseen + prior
                                                     : -INFINITY; // a label never seen
    }
}

trellis_status tr_hmm_guess(const struct tr_guesses *g, const struct tr_hmm_words *words, double *w,
                            trellis_error *error)
{
    uint32_t labels = g->training->data.train.label_count;
    double *room = tr_alloc(2 * (size_t)labels, sizeof *room);
    uint32_t attributes = g->training->data.vocabulary.node.rows->attributes;
    for (uint32_t a = 0; room && a < attributes; a++) {
        if (g->rank[a] != TR_NONE) {
            set_weights(g, a, words, room, room + labels, w);
        }
    }
    free(room);
    return room ? TRELLIS_OK : tr_fail_memory(error);
}
