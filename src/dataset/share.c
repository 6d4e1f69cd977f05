/* share.c - attributes that always occur together share a row.
 *
 * A rare word makes a dozen attributes that occur once each, at the same token: nothing in the data
 * tells them apart. With k such attributes a score has the sum v = w_1 + ... + w_k; all of them get
 * the same gradient, and l2 makes them equal, w = v / k. In terms of
 *
 *     u = sqrt(k) w = v / sqrt(k)
 *
 * the penalty is l2 u^2 and the gradient sqrt(k) times that of v, so every step of a method that
 * treats all directions alike (gradient descent, L-BFGS) is the one it would have taken with k
 * weights. One row therefore serves all k: 29 % fewer rows with CRF++'s templates for chunking, 55
 * % fewer with the preset `chunk`. This does not hold for l1, whose penalty is not |u|.
 *
 * Two attributes are taken to be the same if 128-bit sums over the tokens they occur at are equal.
 */
#include "dataset/share.h"

#include "base/hash.h"
#include "base/ranks.h"

/* For each attribute the sum of the keys of its tokens, which are others on each rank. */
static void sum_token_keys(const struct tr_occurrences *occurrences, size_t tokens, unsigned rank,
                           struct tr_key *sums)
{
    struct tr_key key = {rank, 0};
    for (size_t t = 0; t < tokens; t++) {
        struct tr_key next = {t, ~(uint64_t)t};
        key = tr_mix(key, next);
        for (uint32_t k = occurrences->begin.at[t]; k < occurrences->begin.at[t + 1]; k++) {
            struct tr_key *sum = &sums[occurrences->attribute.at[k]];
            sum->low += key.low;
            sum->high += key.high;
        }
    }
}

uint32_t *tr_share_find(const struct tr_occurrences *occurrences, size_t tokens,
                        uint32_t attributes, struct tr_ranks *ranks)
{
    size_t slot_count = 16;
    while (slot_count < 2 * (size_t)attributes) {
        slot_count *= 2;
    }
    struct tr_key *sums = tr_alloc(attributes, sizeof *sums);
    uint32_t *first = tr_alloc(attributes, sizeof *first);
    uint32_t *slots = tr_alloc(slot_count, sizeof *slots); // number + 1, or 0
    bool ok = sums && first && slots;
    if (ok) {
        sum_token_keys(occurrences, tokens, ranks ? ranks->rank : 0, sums);
        ok = !ranks ||
             !tr_ranks_sum_integers(ranks, (uint64_t *)sums, 2 * (size_t)attributes, NULL);
    }
    if (!ok) {
        free(first);
        first = NULL;
    }
    for (uint32_t a = 0; first && a < attributes; a++) {
        size_t at = sums[a].low & (slot_count - 1);
        while (slots[at] && (sums[slots[at] - 1].low != sums[a].low ||
                             sums[slots[at] - 1].high != sums[a].high)) {
            at = (at + 1) & (slot_count - 1);
        }
        slots[at] = slots[at] ? slots[at] : a + 1;
        first[a] = slots[at] - 1;
    }
    free(sums);
    free(slots);
    return first;
}

void tr_share_drop(struct tr_occurrences *occurrences, size_t tokens, const uint32_t *first)
{
    uint32_t *attribute = occurrences->attribute.at, from = 0, out = 0;
    for (size_t t = 0; t < tokens; t++) {
        for (uint32_t end = occurrences->begin.at[t + 1]; from < end; from++) {
            attribute[out] = attribute[from];
            out += first[attribute[from]] == attribute[from];
        }
        occurrences->begin.at[t + 1] = out;
    }
    occurrences->attribute.size = out;
}
