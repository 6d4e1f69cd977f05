/* bundle_turns.c - finds bundles where each rank has a share of the tokens.
 *
 * The ranks work one after the other: each goes on with what those before it have found, and gives
 * all the others what there is then. So the bundles are those that one process would find, and all
 * ranks have the same. Where there are several parts of tokens, as with segments (segment_parts.h),
 * one process visits one part after the other, and so do the ranks.
 */
#include "dataset/bundle_finder.h"

/* ---- what implies what ----------------------------------------------------------------------- */

/* As it travels: each attribute that was seen, how many others it implies, and these. */
static bool pack_implied(struct tr_bundle_finder *x, uint32_t **ret_numbers, size_t *ret_size)
{
    TR_ARRAY(uint32_t) numbers = {0};
    bool ok = tr_reserve(&numbers, 1);
    for (uint32_t a = 0; ok && a < x->rows->attributes; a++) {
        if (!(x->count[a] & TR_BUNDLE)) {
            continue;
        }
        ok = tr_push(&numbers, a) && tr_push(&numbers, (uint32_t)__builtin_popcountll(x->mask[a]));
        for (uint64_t left = x->mask[a]; ok && left; left &= left - 1) {
            ok = tr_push(&numbers, tr_bundle_candidates(x, a)[__builtin_ctzll(left)]);
        }
    }
    *ret_numbers = numbers.at;
    *ret_size = numbers.size;
    return ok;
}

/* What the others have found so far, which becomes the array of candidates. */
static void unpack_implied(struct tr_bundle_finder *x, uint32_t *numbers, size_t size)
{
    free(x->candidates.at);
    x->candidates.at = numbers;
    x->candidates.size = x->candidates.capacity = size;
    for (size_t i = 0; i < size; i += 2 + numbers[i + 1]) {
        uint32_t a = numbers[i], many = numbers[i + 1];
        x->count[a] |= TR_BUNDLE;
        x->first[a] = (uint32_t)i + 2;
        x->mask[a] = many < 64 ? ((uint64_t)1 << many) - 1 : UINT64_MAX;
    }
}

/* One rank after the other. */
static bool find_implied_in_turn(struct tr_bundle_finder *x, size_t part)
{
    bool ok = true;
    for (unsigned r = 0; ok && r < x->ranks->count; r++) {
        uint32_t *numbers = NULL;
        size_t size = 0;
        bool mine = r == x->ranks->rank;
        ok = !mine || (tr_bundle_imply(x, part) && pack_implied(x, &numbers, &size));
        ok = ok && !tr_ranks_give(x->ranks, r, &numbers, &size, NULL);
        if (ok) {
            unpack_implied(x, numbers, size);
        } else {
            free(numbers);
        }
    }
    return ok;
}

/* How many tokens of all ranks have an attribute. */
static bool count_attributes(struct tr_bundle_finder *x)
{
    const struct tr_occurrences *o = x->occurrences;
    uint32_t attributes = x->rows->attributes;
    for (size_t k = 0; k < o->attribute.size; k++) {
        x->count[o->attribute.at[k]]++;
    }
    double *sum = x->ranks ? tr_alloc(attributes, sizeof *sum) : NULL;
    for (uint32_t a = 0; sum && a < attributes; a++) {
        sum[a] = x->count[a];
    }
    bool ok = !x->ranks || (sum && !tr_ranks_sum(x->ranks, sum, attributes, NULL));
    for (uint32_t a = 0; ok && sum && a < attributes; a++) {
        x->count[a] = (uint32_t)sum[a];
    }
    free(sum);
    return ok;
}

bool tr_bundle_imply_all(struct tr_bundle_finder *x)
{
    bool ok = count_attributes(x);
    for (size_t p = 0; ok && p < x->parts; p++) {
        ok = x->ranks ? find_implied_in_turn(x, p) : tr_bundle_imply(x, p);
    }
    for (uint32_t a = 0; ok && a < x->rows->attributes; a++) {
        x->many[a] = (uint8_t)__builtin_popcountll(x->mask[a]);
    }
    return ok;
}

/* ---- sets ------------------------------------------------------------------------------------ */

/* As it travels: each set, its count, its size and its members. */
static bool pack_sets(const struct tr_bundle_finder *x, uint32_t **ret_numbers, size_t *ret_size)
{
    size_t size = 0, all = 2 * x->sets.size + x->members.size;
    uint32_t *numbers = tr_alloc(all, sizeof *numbers);
    for (size_t s = 0; numbers && s < x->sets.size; s++) {
        const struct tr_bundle_set *set = &x->sets.at[s];
        numbers[size++] = set->count;
        numbers[size++] = set->size;
        memcpy(numbers + size, x->members.at + set->begin, set->size * sizeof *numbers);
        size += set->size;
    }
    *ret_numbers = numbers;
    *ret_size = size;
    return numbers;
}

/* Replaces the sets by those that the ranks have so far; false on allocation failure. */
static bool unpack_sets(struct tr_bundle_finder *x, const uint32_t *numbers, size_t size)
{
    bool ok = true;
    x->sets.size = x->members.size = 0;
    memset(x->slots.at, 0, x->slots.size * sizeof *x->slots.at);
    for (size_t i = 0; ok && i < size; i += 2 + numbers[i + 1]) {
        uint32_t begin = (uint32_t)x->members.size, set;
        for (uint32_t k = 0; ok && k < numbers[i + 1]; k++) {
            ok = tr_push(&x->members, numbers[i + 2 + k]);
        }
        ok = ok && tr_bundle_count(x, begin, &set);
        if (ok) {
            x->sets.at[set].count = numbers[i];
        }
    }
    return ok;
}

/* One rank after the other. A set keeps its number, because new ones go behind it. */
static bool divide_tokens_in_turn(struct tr_bundle_finder *x, size_t part)
{
    bool ok = true;
    for (unsigned r = 0; ok && r < x->ranks->count; r++) {
        uint32_t *numbers = NULL;
        size_t size = 0;
        bool mine = r == x->ranks->rank;
        ok = !mine || (tr_bundle_divide(x, part) && pack_sets(x, &numbers, &size));
        ok = ok && !tr_ranks_give(x->ranks, r, &numbers, &size, NULL) &&
             (mine || unpack_sets(x, numbers, size));
        free(numbers);
    }
    return ok;
}

bool tr_bundle_divide_all(struct tr_bundle_finder *x)
{
    bool ok = true;
    for (size_t p = 0; ok && p < x->parts; p++) {
        ok = x->ranks ? divide_tokens_in_turn(x, p) : tr_bundle_divide(x, p);
    }
    return ok;
}
