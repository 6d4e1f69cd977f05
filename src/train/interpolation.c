/* interpolation.c - steps of an HMM, interpolated with shorter histories (Jelinek and Mercer 1980; the
 * lambdas as in Brants 2000, "TnT").
 *
 *     q1(z)       = P(z)                                          P: shares of what was counted
 *     q2(z | y)   = (l1 P(z) + l2 P(z | y)) / (l1 + l2)           q1(z) where y was never seen
 *     q3(z | x y) = l1 P(z) + l2 P(z | y) + l3 P(z | x y)         q2(z | y) where x y was never seen
 *
 * Order 1 is q2 alone. The weights of a step add up over the grams that it fires: z, y z and x y z, as far
 * as they are listed, which are those that were seen. What a history costs its steps that are not listed is
 * the same for all of them,
 *
 *     q2(z | y) = q1(z) l1 / (l1 + l2)        q3(z | x y) = q2(z | y) (l1 + l2)
 *
 * and a path that enters a history leaves it just once. So this constant is paid on entering, as part of
 * the weight of the gram y, or x y, and a listed step has what it lacks. The steps from the start and to the
 * end of a sequence are all listed. In every state the probabilities of what may follow sum to 1.
 */
#include <math.h>

#include "train/hmm.h"

struct counted {
    const struct tr_training *training;
    const double *grams; // [gram_count]
    uint16_t start, end;
    double sequences; // times the start was left
    double steps;     // all steps, those to the end included
    double alpha;
    double lambda[3];
};

static double count_of(const struct counted *c, struct tr_gram gram)
{
    const struct tr_training *training = c->training;
    size_t at = tr_gram_find(training->grams, training->plan.gram_count, &gram);
    return at == SIZE_MAX ? 0 : c->grams[at];
}

static double single(const struct counted *c, uint16_t label)
{
    return label == c->start || label == c->end ? c->sequences
                                                : count_of(c, (struct tr_gram){1, {label}});
}

static double pair(const struct counted *c, uint16_t from, uint16_t to)
{
    return count_of(c, (struct tr_gram){2, {from, to}});
}

static void sum_up(struct counted *c)
{
    const struct tr_gram *grams = c->training->grams;
    for (size_t i = 0; i < c->training->plan.gram_count; i++) {
        if (grams[i].length == 2 && grams[i].label[0] == c->start) {
            c->sequences += c->grams[i];
        }
        if (grams[i].length == 1) {
            c->steps += c->grams[i];
        }
    }
    c->steps += c->sequences;
}

/* ---- the lambdas --------------------------------------------------------------------------------- */

/* A share with one event left out of both counts. */
static double held_out(double count, double total)
{
    return total > 1 ? (count - 1) / (total - 1) : 0;
}

/* Every longest gram votes, as often as it was seen, for the history that predicts it best when it is left
 * out of the counts. One vote each to begin with keeps all lambdas above 0. */
static void choose_lambdas(struct counted *c)
{
    const struct tr_training *training = c->training;
    uint32_t longest = training->plan.order + 1;
    double votes[3] = {1, 1, longest == 3}, all = 2 + (longest == 3);
    for (size_t i = 0; i < training->plan.gram_count; i++) {
        struct tr_gram gram = training->grams[i];
        if (gram.length != longest || c->grams[i] <= 0) {
            continue;
        }
        uint16_t z = gram.label[longest - 1], y = gram.label[longest - 2];
        double shares[3] = {held_out(single(c, z), c->steps), held_out(pair(c, y, z), single(c, y)),
                            -1};
        if (longest == 3) {
            shares[2] = held_out(c->grams[i], pair(c, gram.label[0], y));
        }
        int best = shares[2] >= shares[1] && shares[2] >= shares[0] ? 2
                   : shares[1] >= shares[0]                         ? 1
                                                                    : 0;
        votes[best] += c->grams[i];
        all += c->grams[i];
    }
    for (int k = 0; k < 3; k++) {
        c->lambda[k] = votes[k] / all;
    }
}

/* ---- the weights --------------------------------------------------------------------------------- */

static double q1(const struct counted *c, uint16_t z)
{
    double labels = c->training->plan.labels;
    return (single(c, z) + c->alpha) / (c->steps + c->alpha * (labels + 1));
}

static double q2(const struct counted *c, uint16_t y, uint16_t z)
{
    double l1 = c->lambda[0], l2 = c->lambda[1], times = single(c, y);
    return times > 0 ? (l1 * q1(c, z) + l2 * pair(c, y, z) / times) / (l1 + l2) : q1(c, z);
}

/* What is paid on entering the history y. */
static double entering(const struct counted *c, uint16_t y)
{
    double l1 = c->lambda[0], l2 = c->lambda[1];
    return y != c->start && single(c, y) > 0 ? log(l1 / (l1 + l2)) : 0;
}

static double weight_of_pair(const struct counted *c, uint16_t y, uint16_t z)
{
    double shorter = z == c->end ? 0 : log(q1(c, z));
    bool is_history = c->training->plan.order == 2 && z != c->end && pair(c, y, z) > 0;
    return log(q2(c, y, z)) - shorter - entering(c, y) +
           (is_history ? log(c->lambda[0] + c->lambda[1]) : 0);
}

static double weight_of_triple(const struct counted *c, struct tr_gram gram, double times)
{
    uint16_t x = gram.label[0], y = gram.label[1], z = gram.label[2];
    double shorter = (c->lambda[0] + c->lambda[1]) * q2(c, y, z), history = pair(c, x, y);
    return history > 0 ? log1p(c->lambda[2] * times / history / shorter) : 0;
}

void tr_hmm_interpolate(const struct tr_training *training, const double *counts, double alpha,
                        double *w)
{
    uint32_t labels = training->plan.labels;
    struct counted c = {.training = training,
                        .grams = counts,
                        .start = (uint16_t)labels,
                        .end = (uint16_t)(labels + 1),
                        .alpha = alpha};
    sum_up(&c);
    choose_lambdas(&c);
    for (size_t i = 0; i < training->plan.gram_count; i++) {
        struct tr_gram gram = training->grams[i];
        uint16_t last = gram.label[gram.length - 1];
        if (last != c.end && q1(&c, last) == 0) {
            w[i] = gram.length == 1 ? -INFINITY : 0; // a label never seen
        } else if (gram.length == 1) {
            w[i] = log(q1(&c, last)) + entering(&c, last);
        } else if (gram.length == 2) {
            w[i] = weight_of_pair(&c, gram.label[0], last);
        } else {
            w[i] = weight_of_triple(&c, gram, counts[i]);
        }
    }
}
