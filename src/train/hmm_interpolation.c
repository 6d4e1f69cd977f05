/* hmm_interpolation.c - steps of an HMM, interpolated with shorter histories (Jelinek and Mercer
 * 1980).
 *
 *     q1(z)       = n(z) / n                                               n: counts, raised by alpha
 *     q2(z | y)   = (n(y z) + k2 d(y) q1(z)) / (n(y) + k2 d(y))            d(y): kinds of labels behind y
 *     q3(z | x y) = (n(x y z) + k3 d(x y) q2(z | y)) / (n(x y) + k3 d(x y))
 *
 * so that a history that was seen often, with few labels behind it, gets a large weight (Witten and
 * Bell 1991 have k = 1), and one that was never seen falls back to the next shorter one. k2 and k3
 * make the steps of the corpus most likely, when each step is held out of the counts that predict
 * it. Order 1 is q2 alone.
 *
 * The weights of a step add up over the grams that it fires: z, y z and x y z, as far as they are
 * listed, which are those that were seen. What a history costs its steps that are not listed is the
 * same for all of them,
 *
 *     q2(z | y) = q1(z) k2 d(y) / (n(y) + k2 d(y))        q3(z | x y) = q2(z | y) k3 d(x y) / (n(x y) + k3 d(x y))
 *
 * and a path that enters a history leaves it just once. So this constant is paid on entering, as
 * part of the weight of the gram y, or x y, and a listed step has what it lacks. The steps from the
 * start and to the end of a sequence are all listed. In every state the probabilities of what may
 * follow sum to 1.
 */
#include <math.h>

#include "train/hmm.h"

/* What was seen behind a history. */
struct history {
    double times, kinds;
};

struct counted {
    const struct tr_training *training;
    const double *grams;    // [gram_count]
    struct history *behind; // [gram_count + 1] of each gram as a history, the start last
    uint16_t start, end;
    double sequences; // transitions from the start
    double steps;     // all steps, those to the end included
    double alpha;
    double k2, k3;
};

static size_t find(const struct counted *c, struct tr_gram gram)
{
    return tr_gram_find(c->training->layout.grams, c->training->layout.plan.gram_count, &gram);
}

static double count_of(const struct counted *c, struct tr_gram gram)
{
    size_t at = find(c, gram);
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

/* The history that a gram of two or three labels has. */
static struct history *history_of(const struct counted *c, const struct tr_gram *gram)
{
    struct tr_gram shorter = {(uint8_t)(gram->length - 1), {gram->label[0], gram->label[1]}};
    bool at_start = shorter.length == 1 && gram->label[0] == c->start;
    shorter.label[1] = shorter.length == 1 ? 0 : shorter.label[1];
    size_t at = at_start ? c->training->layout.plan.gram_count : find(c, shorter);
    return at == SIZE_MAX ? NULL : &c->behind[at];
}

static void sum_up(struct counted *c)
{
    const struct tr_gram *grams = c->training->layout.grams;
    for (size_t i = 0; i < c->training->layout.plan.gram_count; i++) {
        struct history *history = grams[i].length > 1 ? history_of(c, &grams[i]) : NULL;
        if (history) {
            history->times += c->grams[i];
            history->kinds += c->grams[i] > 0;
        }
        if (grams[i].length == 2 && grams[i].label[0] == c->start) {
            c->sequences += c->grams[i];
        }
        if (grams[i].length == 1) {
            c->steps += c->grams[i];
        }
    }
    c->steps += c->sequences;
}

/* ---- k2 and k3 ------------------------------------------------------------------------------- */

/* The share of one event among those behind a history, with that event left out of the counts. */
static double held_out(double count, struct history history, double k, double shorter)
{
    double given = k * (history.kinds - (count <= 1)), rest = fmax(history.times - 1, 0);
    return rest + given > 0 ? (fmax(count - 1, 0) + given * shorter) / (rest + given) : shorter;
}

static double held_out_single(const struct counted *c, uint16_t z)
{
    double labels = c->training->layout.plan.labels;
    return (fmax(single(c, z) - 1, 0) + c->alpha) /
           (fmax(c->steps - 1, 1) + c->alpha * (labels + 1));
}

static double held_out_pair(const struct counted *c, uint16_t y, uint16_t z)
{
    struct tr_gram gram = {2, {y, z}};
    const struct history *history = history_of(c, &gram);
    double shorter = held_out_single(c, z);
    return history ? held_out(pair(c, y, z), *history, c->k2, shorter) : shorter;
}

/* One gram, as far as k depends on it. */
struct event {
    double count, shorter;
    struct history history;
};

static double likelihood(const struct event *events, size_t count, double k)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double p = held_out(events[i].count, events[i].history, k, events[i].shorter);
        sum += p > 0 ? events[i].count * log(p) : 0;
    }
    return sum;
}

/* The best of 1/16 to 64, in steps of the square root of 2, for grams of this length; `events` has
 * room for all grams. */
static double choose_k(const struct counted *c, uint32_t length, struct event *events)
{
    const struct tr_gram *grams = c->training->layout.grams;
    size_t count = 0;
    for (size_t i = 0; i < c->training->layout.plan.gram_count; i++) {
        const struct history *history = grams[i].length == length ? history_of(c, &grams[i]) : NULL;
        if (history && c->grams[i] > 0) {
            uint16_t y = grams[i].label[length - 2], z = grams[i].label[length - 1];
            double shorter = length == 2 ? held_out_single(c, z) : held_out_pair(c, y, z);
            events[count++] = (struct event){c->grams[i], shorter, *history};
        }
    }
    double best = 1, highest = -INFINITY;
    for (int step = -8; step <= 12; step++) {
        double k = exp2(step / 2.0), sum = likelihood(events, count, k);
        if (sum > highest) {
            highest = sum;
            best = k;
        }
    }
    return best;
}

/* ---- the weights ----------------------------------------------------------------------------- */

static double q1(const struct counted *c, uint16_t z)
{
    double labels = c->training->layout.plan.labels;
    return (single(c, z) + c->alpha) / (c->steps + c->alpha * (labels + 1));
}

static bool was_seen(const struct history *history)
{
    return history && history->times > 0;
}

/* The share of the next shorter history, where a history was seen. */
static double backoff_share(const struct history *history, double k)
{
    return k * history->kinds / (history->times + k * history->kinds);
}

static double q2(const struct counted *c, uint16_t y, uint16_t z)
{
    struct tr_gram gram = {2, {y, z}};
    const struct history *history = history_of(c, &gram);
    if (!was_seen(history)) {
        return q1(c, z);
    }
    double to_shorter = backoff_share(history, c->k2);
    return to_shorter * q1(c, z) + (1 - to_shorter) * pair(c, y, z) / history->times;
}

/* What is paid on entering the history y. */
static double entering(const struct counted *c, uint16_t y)
{
    struct tr_gram gram = {2, {y, 0}};
    const struct history *history = history_of(c, &gram);
    return y != c->start && was_seen(history) ? log(backoff_share(history, c->k2)) : 0;
}

static double weight_of_pair(const struct counted *c, size_t gram)
{
    uint16_t y = c->training->layout.grams[gram].label[0],
             z = c->training->layout.grams[gram].label[1];
    double shorter = z == c->end ? 0 : log(q1(c, z));
    bool is_history = c->training->layout.plan.order == 2 && was_seen(&c->behind[gram]);
    return log(q2(c, y, z)) - shorter - entering(c, y) +
           (is_history ? log(backoff_share(&c->behind[gram], c->k3)) : 0);
}

static double weight_of_triple(const struct counted *c, struct tr_gram gram, double times)
{
    const struct history *history = history_of(c, &gram);
    if (!was_seen(history)) {
        return 0;
    }
    double shorter = c->k3 * history->kinds * q2(c, gram.label[1], gram.label[2]);
    return log1p(times / shorter);
}

static void set_weights(const struct counted *c, double *w)
{
    for (size_t i = 0; i < c->training->layout.plan.gram_count; i++) {
        struct tr_gram gram = c->training->layout.grams[i];
        uint16_t last = gram.label[gram.length - 1];
        if (last != c->end && q1(c, last) == 0) {
            w[i] = gram.length == 1 ? -INFINITY : 0; // a label never seen
        } else if (gram.length == 1) {
            w[i] = log(q1(c, last)) + entering(c, last);
        } else if (gram.length == 2) {
            w[i] = weight_of_pair(c, i);
        } else {
            w[i] = weight_of_triple(c, gram, c->grams[i]);
        }
    }
}

trellis_status tr_hmm_interpolate(const struct tr_training *training, const double *counts,
                                  double alpha, double *w, trellis_error *error)
{
    uint32_t labels = training->layout.plan.labels;
    size_t grams = training->layout.plan.gram_count;
    struct counted c = {.training = training,
                        .grams = counts,
                        .behind = tr_alloc(grams + 1, sizeof *c.behind),
                        .start = (uint16_t)labels,
                        .end = (uint16_t)(labels + 1),
                        .alpha = alpha};
    struct event *events = tr_alloc(grams, sizeof *events);
    bool ok = c.behind && events;
    if (ok) {
        sum_up(&c);
        c.k2 = choose_k(&c, 2, events);
        c.k3 = training->layout.plan.order == 2 ? choose_k(&c, 3, events) : 0;
        set_weights(&c, w);
    }
    free(c.behind);
    free(events);
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}
