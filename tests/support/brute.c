/* brute.c - all label sequences of a tiny chain, one by one. */
#include "support/brute.h"

#include <math.h>
#include <string.h>

/* The sequence with the start (L) before and the end (L + 1) after it: [length + 2] */
static void write_out(const struct brute_chain *chain, const uint16_t *labels, uint16_t *written)
{
    written[0] = (uint16_t)chain->plan->labels;
    memcpy(written + 1, labels, chain->length * sizeof *labels);
    written[chain->length + 1] = (uint16_t)(chain->plan->labels + 1);
}

/* How often a gram occurs in the sequence. */
static unsigned count_gram(const struct brute_chain *chain, const struct tr_gram *gram,
                           const uint16_t *written)
{
    unsigned count = 0;
    for (size_t begin = 0; begin + gram->length <= chain->length + 2; begin++) {
        count += memcmp(written + begin, gram->label, gram->length * sizeof *written) == 0;
    }
    return count;
}

/* The gain of the label at a position: the grams that end there, minus infinity where the
 * transition is forbidden. */
static double gain_of_step(const struct brute_chain *chain, const uint16_t *written, size_t place)
{
    const struct tr_graph_plan *plan = chain->plan;
    double gain = 0;
    for (size_t g = 0; g < plan->gram_count; g++) {
        const struct tr_gram *gram = &plan->grams[g];
        if (gram->length <= place + 1 && memcmp(written + place + 1 - gram->length, gram->label,
                                                gram->length * sizeof *written) == 0) {
            gain += (double)chain->weights[g];
        }
    }
    for (size_t f = 0; f < plan->forbidden_count; f++) {
        if (plan->forbidden[f][0] == written[place - 1] &&
            plan->forbidden[f][1] == written[place]) {
            return -INFINITY;
        }
    }
    return gain;
}

static double gain_of_label(const struct brute_chain *chain, const uint16_t *labels, size_t i)
{
    uint16_t written[BRUTE_LENGTH + 2];
    write_out(chain, labels, written);
    return gain_of_step(chain, written, i + 1) + (double)chain->node[i][labels[i]] +
           (i > 0 ? (double)chain->edge[i][labels[i - 1]][labels[i]] : 0);
}

static double gain_of_end(const struct brute_chain *chain, const uint16_t *labels)
{
    uint16_t written[BRUTE_LENGTH + 2];
    write_out(chain, labels, written);
    return gain_of_step(chain, written, chain->length + 1);
}

/* The gain of a label, with that of the end where it is the last. */
static double gain_of_decision(const struct brute_chain *chain, const uint16_t *labels, size_t i)
{
    return gain_of_label(chain, labels, i) +
           (i + 1 == chain->length ? gain_of_end(chain, labels) : 0);
}

double brute_gain(const struct brute_chain *chain, const uint16_t *labels, size_t i)
{
    uint16_t other[BRUTE_LENGTH] = {0};
    double gain[BRUTE_LABELS], max = -INFINITY, sum = 0;
    if (!chain->local) {
        return gain_of_label(chain, labels, i);
    }
    memcpy(other, labels, chain->length * sizeof *labels);
    for (uint16_t c = 0; c < chain->plan->labels; c++) {
        other[i] = c;
        gain[c] = gain_of_decision(chain, other, i);
        max = gain[c] > max ? gain[c] : max;
    }
    for (size_t c = 0; c < chain->plan->labels; c++) {
        sum += max > -INFINITY ? exp(gain[c] - max) : 0;
    }
    return gain[labels[i]] > -INFINITY ? gain[labels[i]] - max - log(sum) : -INFINITY;
}

double brute_score(const struct brute_chain *chain, const uint16_t *labels)
{
    double score = 0; // of the empty path, whatever the plan says
    for (size_t i = 0; i < chain->length; i++) {
        score += brute_gain(chain, labels, i);
    }
    return chain->length && !chain->local ? score + gain_of_end(chain, labels) : score;
}

/* The next sequence in the order of numbers; false after the last. */
static bool next_sequence(const struct brute_chain *chain, uint16_t *labels)
{
    for (size_t i = chain->length; i-- > 0;) {
        if (++labels[i] < chain->plan->labels) {
            return true;
        }
        labels[i] = 0;
    }
    return false;
}

static void find_best(const struct brute_chain *chain, struct brute_answer *answer)
{
    uint16_t labels[BRUTE_LENGTH] = {0};
    answer->best = answer->second = -INFINITY;
    do {
        double score = brute_score(chain, labels);
        if (score > answer->best) {
            answer->second = answer->best;
            answer->best = score;
            memcpy(answer->labels, labels, sizeof labels);
        } else if (score > answer->second) {
            answer->second = score;
        }
    } while (next_sequence(chain, labels));
}

static void add_up(const struct brute_chain *chain, struct brute_answer *answer)
{
    uint16_t labels[BRUTE_LENGTH] = {0}, written[BRUTE_LENGTH + 2];
    do {
        double p = exp(brute_score(chain, labels) - answer->log_z);
        write_out(chain, labels, written);
        for (size_t i = 0; i < chain->length; i++) {
            answer->node[i][labels[i]] += p;
            answer->edge[i][labels[i ? i - 1 : 0]][labels[i]] += i ? p : 0;
        }
        for (size_t g = 0; g < chain->plan->gram_count; g++) {
            answer->expected[g] += p * count_gram(chain, &chain->plan->grams[g], written);
        }
    } while (next_sequence(chain, labels));
}

void brute_solve(const struct brute_chain *chain, struct brute_answer *answer)
{
    uint16_t labels[BRUTE_LENGTH] = {0};
    double sum = 0;
    memset(answer, 0, sizeof *answer);
    find_best(chain, answer);
    answer->log_z = -INFINITY;
    if (answer->best == -INFINITY) {
        return;
    }
    do {
        sum += exp(brute_score(chain, labels) - answer->best);
    } while (next_sequence(chain, labels));
    answer->log_z = answer->best + log(sum);
    add_up(chain, answer);
}
