/* unknown.c - what an HMM makes of words that training did not know: guesses by their endings (Samuelsson
 * 1993; Brants 2000, "TnT").
 *
 * Templates that ask for unknown(x, n) see, while training, the rare words instead. Those of one word form a
 * chain s_0, s_1, s_2, ... in the order of the templates, from what says little (its case) to what says much
 * (its last ten letters). Each is interpolated with the one before:
 *
 *     P(z | s_k) = (share of z in s_k + theta P(z | s_k-1)) / (1 + theta)        P(z | s_-1) = P(z)
 *
 * and an unknown word has the probability, by Bayes' rule and with u for the share of unknown words,
 *
 *     P(x | z) = u P(z | s_m) / P(z)       s_m: the last of its chain that training has seen
 *
 * This is a sum of weights over s_0 .. s_m: log P(z | s_k) - log P(z | s_k-1) each, and log u - log P(z) for
 * the first. A label that s_k was never seen with has log(theta / (1 + theta)) there, whatever the label; with
 * that taken from all, such labels need no weight, and probabilities are right but for a factor that is the
 * same for all labels, which the tagger divides out.
 */
#include <math.h>

#include "train/hmm.h"

struct guesses {
    const struct tr_training *training;
    const double *counts;
    const struct tr_hmm_words *words;
    double theta;
    uint32_t *before; // [attributes] the one before it in the chain, TR_NONE for the first
    double *times;    // [attributes] it was seen
};

/* Finds the chains: those of a token in the order of their templates. */
static void link_chains(struct guesses *g)
{
    const struct tr_occurrences *node = &g->training->data.node;
    const uint32_t *rank = g->words->rank;
    for (size_t t = 0; t < g->training->data.tokens; t++) {
        for (uint32_t k = node->begin.at[t]; k < node->begin.at[t + 1]; k++) {
            uint32_t a = node->attribute.at[k], last = TR_NONE;
            if (rank[a] == TR_NONE || g->before[a] != TR_NONE) {
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

static void count_times(struct guesses *g)
{
    const struct tr_rows *rows = g->training->vocabulary.node.rows;
    for (uint32_t a = 0; a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            g->times[a] += g->counts[tr_rows_find(rows, a, rows->outcome[i])];
        }
    }
}

/* P(z | s) */
static double guess(const struct guesses *g, uint32_t a, uint32_t label)
{
    if (a == TR_NONE) {
        return g->words->count[label] / g->words->tokens;
    }
    size_t at = tr_rows_find(g->training->vocabulary.node.rows, a, label);
    double share = at == SIZE_MAX || g->times[a] <= 0 ? 0 : g->counts[at] / g->times[a];
    return (share + g->theta * guess(g, g->before[a], label)) / (1 + g->theta);
}

static void weigh(const struct guesses *g, uint32_t a, double *w)
{
    const struct tr_rows *rows = g->training->vocabulary.node.rows;
    bool first = g->before[a] == TR_NONE;
    double unseen = log(g->theta / (1 + g->theta));
    for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
        uint32_t label = rows->outcome[i];
        double now = guess(g, a, label), shorter = guess(g, g->before[a], label);
        w[tr_rows_find(rows, a, label)] = shorter > 0 ? log(now / shorter) - unseen +
                                                            (first ? log(g->words->unknown) -
                                                                         g->words->alone[label]
                                                                   : 0)
                                                      : -INFINITY; // a label never seen
    }
}

trellis_status tr_hmm_guess(const struct tr_training *training, const double *counts,
                            const struct tr_hmm_words *words, double *w, trellis_error *error)
{
    uint32_t attributes = training->vocabulary.node.rows->attributes;
    struct guesses g = {.training = training,
                        .counts = counts,
                        .words = words,
                        .theta = tr_option_real(training->options, "theta"),
                        .before = tr_alloc(attributes, sizeof *g.before),
                        .times = tr_alloc(attributes, sizeof *g.times)};
    bool fine = g.before && g.times;
    for (uint32_t a = 0; fine && a < attributes; a++) {
        g.before[a] = TR_NONE;
    }
    if (fine) {
        link_chains(&g);
        count_times(&g);
    }
    for (uint32_t a = 0; fine && a < attributes; a++) {
        if (words->rank[a] != TR_NONE) {
            weigh(&g, a, w);
        }
    }
    free(g.before);
    free(g.times);
    return fine ? TRELLIS_OK : tr_fail_memory(error);
}
