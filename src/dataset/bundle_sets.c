/* bundle_sets.c - divides tokens into sets of attributes that occur together (bundle_finder.c).
 *
 * Attribute a implies b if b occurs at all tokens that have a: the candidates are what the first
 * token has that a occurs at, and every other token with a strikes out those that it lacks.
 *
 * A token is divided greedily. Its attributes are taken in the order of how many others they imply,
 * the most first; each takes what it implies and no other has taken before. That gives few different
 * sets, because it depends on few attributes what is left for one.
 */
#include "dataset/bundle_finder.h"

#include "base/hash.h"

/* A token's attributes beyond these imply nothing, and are implied by none that it has first. */
enum { CANDIDATES = 64, HEADS = 64 };

/* ---- what implies what ----------------------------------------------------------------------- */

static void strike_out(struct tr_bundle_finder *x, uint32_t attribute, uint32_t stamp)
{
    const uint32_t *candidate = tr_bundle_candidates(x, attribute);
    for (uint64_t left = x->mask[attribute]; left; left &= left - 1) {
        if (x->stamp[candidate[__builtin_ctzll(left)]] != stamp) {
            x->mask[attribute] &= ~(left & -left);
        }
    }
}

/* All that a token has, other than the attribute itself. */
static uint64_t candidates(const uint32_t *attribute, uint32_t size, uint32_t self)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < size && i < CANDIDATES; i++) {
        mask |= (uint64_t)(attribute[i] != self) << i;
    }
    return mask;
}

/* Begins with the candidates of an attribute, those of the token begin .. end-1. */
static bool meet(struct tr_bundle_finder *x, uint32_t attribute, uint32_t begin, uint32_t end)
{
    const uint32_t *candidate = x->occurrences->attribute.at + begin;
    x->count[attribute] |= TR_BUNDLE;
    x->first[attribute] = x->ranks ? (uint32_t)x->candidates.size : begin;
    x->mask[attribute] = candidates(candidate, end - begin, attribute);
    bool ok = x->candidates.size < TR_BUNDLE;
    for (uint32_t i = 0; ok && x->ranks && i < end - begin && i < CANDIDATES; i++) {
        ok = tr_push(&x->candidates, candidate[i]);
    }
    return ok;
}

bool tr_bundle_imply(struct tr_bundle_finder *x, size_t part)
{
    const struct tr_occurrences *o = x->occurrences;
    bool ok = true;
    for (uint32_t t = (uint32_t)x->part[part]; ok && t < x->part[part + 1]; t++) {
        uint32_t begin = o->begin.at[t], end = o->begin.at[t + 1];
        for (uint32_t k = begin; k < end; k++) {
            x->stamp[o->attribute.at[k]] = t + 1;
        }
        for (uint32_t k = begin; ok && k < end; k++) {
            uint32_t a = o->attribute.at[k];
            if (x->count[a] < TR_BUNDLE_LEAST_COUNT) {
                continue;
            }
            if (!(x->count[a] & TR_BUNDLE)) { // not seen before
                ok = meet(x, a, begin, end);
            } else if (x->mask[a]) {
                strike_out(x, a, t + 1);
            }
        }
    }
    return ok;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static bool is_set(const struct tr_bundle_finder *x, const struct tr_bundle_set *set,
                   const uint32_t *members, uint32_t size)
{
    return set->size == size &&
           memcmp(x->members.at + set->begin, members, size * sizeof *members) == 0;
}

static bool enlarge_slots(struct tr_bundle_finder *x)
{
    size_t size = x->slots.size * 2;
    if (!tr_reserve(&x->slots, size)) {
        return false;
    }
    memset(x->slots.at, 0, size * sizeof *x->slots.at);
    x->slots.size = size;
    for (uint32_t s = 0; s < x->sets.size; s++) {
        size_t at = x->sets.at[s].hash & (size - 1);
        while (x->slots.at[at]) {
            at = (at + 1) & (size - 1);
        }
        x->slots.at[at] = s + 1;
    }
    return true;
}

bool tr_bundle_count(struct tr_bundle_finder *x, uint32_t begin, uint32_t *ret_set)
{
    uint32_t *members = x->members.at + begin, size = (uint32_t)x->members.size - begin;
    uint64_t hash = tr_hash64(members, size * sizeof *members);
    size_t at = hash & (x->slots.size - 1);
    for (; x->slots.at[at]; at = (at + 1) & (x->slots.size - 1)) {
        struct tr_bundle_set *set = &x->sets.at[x->slots.at[at] - 1];
        if (set->hash == hash && is_set(x, set, members, size)) {
            set->count++;
            x->members.size = begin;
            *ret_set = x->slots.at[at] - 1;
            return true;
        }
    }
    *ret_set = (uint32_t)x->sets.size;
    x->slots.at[at] = *ret_set + 1;
    struct tr_bundle_set set = {begin, size, 1, TR_NONE, hash};
    return tr_push(&x->sets, set) && (x->sets.size * 2 < x->slots.size || enlarge_slots(x));
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* The attributes of a token that imply others, those that imply the most first. */
static size_t list_heads(const struct tr_bundle_finder *x, const uint32_t *attribute, uint32_t size,
                         uint32_t *heads)
{
    size_t count = 0;
    int implied[HEADS];
    for (uint32_t k = 0; k < size && count < HEADS; k++) {
        int many = x->many[attribute[k]];
        if (many == 0) {
            continue;
        }
        size_t i = count++;
        for (; i > 0 && implied[i - 1] < many; i--) {
            implied[i] = implied[i - 1];
            heads[i] = heads[i - 1];
        }
        implied[i] = many;
        heads[i] = attribute[k];
    }
    return count;
}

/* What a head takes: itself and what it implies, as far as nobody has taken it. */
static bool take_set(struct tr_bundle_finder *x, uint32_t head, uint32_t stamp)
{
    uint32_t begin = (uint32_t)x->members.size, set;
    const uint32_t *implied = tr_bundle_candidates(x, head);
    x->stamp[head] = 0;
    if (!tr_push(&x->members, head)) {
        return false;
    }
    for (uint64_t left = x->mask[head]; left; left &= left - 1) {
        uint32_t b = implied[__builtin_ctzll(left)];
        if (x->stamp[b] == stamp) {
            x->stamp[b] = 0;
            if (!tr_push(&x->members, b)) {
                return false;
            }
        }
    }
    if (x->members.size == begin + 1) {
        x->members.size = begin;
        return tr_push(&x->symbol, head);
    }
    return tr_bundle_count(x, begin, &set) && tr_push(&x->symbol, TR_BUNDLE | set);
}

static bool divide_token(struct tr_bundle_finder *x, uint32_t token)
{
    const struct tr_occurrences *o = x->occurrences;
    const uint32_t *attribute = o->attribute.at + o->begin.at[token];
    uint32_t size = o->begin.at[token + 1] - o->begin.at[token], stamp = token + 1, heads[HEADS];
    bool ok = true;
    for (uint32_t k = 0; ok && k < size; k++) {
        bool again = x->stamp[attribute[k]] == stamp; // twice at one token
        x->stamp[attribute[k]] = stamp;
        ok = !again || tr_push(&x->symbol, attribute[k]);
    }
    size_t count = list_heads(x, attribute, size, heads);
    for (size_t i = 0; ok && i < count; i++) {
        ok = x->stamp[heads[i]] != stamp || take_set(x, heads[i], stamp);
    }
    for (uint32_t k = 0; ok && k < size; k++) {
        bool taken = x->stamp[attribute[k]] != stamp;
        x->stamp[attribute[k]] = 0;
        ok = taken || tr_push(&x->symbol, attribute[k]);
    }
    x->symbol_begin[token + 1] = (uint32_t)x->symbol.size;
    return ok;
}

bool tr_bundle_divide(struct tr_bundle_finder *x, size_t part)
{
    memset(x->stamp, 0, x->rows->attributes * sizeof *x->stamp);
    bool ok = true;
    for (uint32_t t = (uint32_t)x->part[part]; ok && t < x->part[part + 1]; t++) {
        ok = divide_token(x, t) && x->members.size < TR_BUNDLE;
    }
    return ok;
}
